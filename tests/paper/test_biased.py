"""Product distributions: boxes of biases, trees by influence, roots; against slow twins."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.statements import biased, later
from mictree.statements.checks import halves, least_height
from mictree.statements.inequalities import IMPURITIES, entropy_at
from tests import reference
from tests.reference import product_spaces as slow
from tests.reference.functions import all_functions, product_table
from tests.reference.lookahead import best_tests
from tests.reference.top import allowed

HALF = Fraction(1, 2)
BIASES = st.integers(1, 11).map(lambda part: Fraction(part, 12))
CRITERIA = st.sampled_from(sorted(IMPURITIES))


@st.composite
def functions_and_biases(draw, most=3):
    count = draw(st.integers(1, most))
    labels = draw(st.tuples(*[st.integers(0, 1)] * 2**count))
    return labels, draw(st.tuples(*[BIASES] * count))


@settings(max_examples=60)
@given(case=functions_and_biases(), criterion=CRITERIA, depth=st.integers(0, 3))
def test_points_agree_with_the_slow_twin(case, criterion, depth):
    labels, biases = case
    here = biased.point(biases)
    positive = slow.mass(labels, biases, (None,) * len(biases), 1)
    assert biased.rates(labels, here) == (positive, positive)
    found = slow.greedy_heights(labels, biases, criterion)
    assert biased.heights(labels, here, criterion) == (min(found), max(found))
    errors = slow.greedy_errors(labels, biases, depth, criterion)
    assert biased.least_greedy_error(labels, here, depth, criterion) == min(errors)


@pytest.mark.parametrize("criterion", sorted(IMPURITIES))
def test_heights_of_tied_splits_are_those_in_whole_numbers(criterion):
    found = {}
    for labels in all_functions(3):
        found[labels] = biased.heights(labels, biased.point([HALF] * 3), criterion)
        assert found[labels] == later.greedy_heights(labels)
    assert found[parity_with_idle()] == (2, 3)


def parity_with_idle():
    return (0, 1, 1, 0) * 2


@settings(max_examples=60)
@given(case=functions_and_biases(), data=st.data(), criterion=CRITERIA)
def test_what_holds_on_a_box_holds_at_its_points(case, data, criterion):
    labels, biases = case
    box = tuple(
        (bias * data.draw(BIASES), bias + (1 - bias) * data.draw(BIASES)) for bias in biases
    )
    low, high = biased.rates(labels, box)
    (rate, _) = biased.rates(labels, biased.point(biases))
    assert low <= rate <= high
    on_box = biased.heights(labels, box, criterion)
    at_point = biased.heights(labels, biased.point(biases), criterion)
    assert on_box[0] <= at_point[0] <= at_point[1] <= on_box[1]
    if len(set(labels)) > 1:
        inner = biased.contenders(labels, biased.point(biases), criterion)
        assert set(inner) <= set(biased.contenders(labels, box, criterion))


def test_impurities_on_intervals_have_their_peak():
    ends = (Fraction(1, 4), Fraction(7, 8))
    for criterion, impurity in IMPURITIES.items():
        ball = biased.impurity_within(criterion, ends)
        for rate in (*ends, HALF, Fraction(3, 4)):
            assert ball.contains(impurity(rate).mid())
        assert not biased.impurity_within(criterion, (Fraction(1, 8), Fraction(1, 4))).contains(1)
    narrow = biased.impurity_within("entropy", (ends[0], ends[0]))
    assert narrow.overlaps(entropy_at(ends[0]))


@settings(max_examples=40)
@given(case=functions_and_biases())
def test_polynomials_are_the_differences_of_rates(case):
    labels, biases = case
    for variable in range(len(biases)):
        others = biases[:variable] + biases[variable + 1 :]
        low, high = (
            biased.rates(half, biased.point(others))[0] for half in halves(labels, variable)
        )
        coefficients = biased.multilinear(biased.difference(labels, variable))
        value = sum(
            coefficient * math.prod(bias for i, bias in enumerate(others) if row >> i & 1)
            for row, coefficient in enumerate(coefficients)
        )
        assert value == high - low


def test_only_constant_functions_have_no_gain_anywhere():
    for labels in all_functions(3):
        assert biased.has_gain_almost_everywhere(labels) == (len(set(labels)) > 1)


def test_shares_of_boxes_by_hand():
    """A conjunction has no higher trees; where a variable chooses, the grid of points agrees."""
    unit = ((Fraction(1, 4), Fraction(3, 4)),)
    assert biased.share_of_higher((0, 0, 0, 1), unit * 2, "gini", 2) == (0, 0)
    corner = ((Fraction(1, 2), Fraction(9, 16)),) * 3
    for cuts in (0, 2):
        assert biased.share_of_higher(biased.MULTIPLEXER, corner, "gini", cuts) == (1, 0)
    assert biased.share_of_higher(biased.MULTIPLEXER, unit * 3, "gini", 0) == (0, 1)
    # x1 chooses where the two others surely differ
    apart = ((HALF, HALF), (Fraction(1, 16), Fraction(1, 8)), (Fraction(15, 16), Fraction(31, 32)))
    assert biased.share_of_higher(biased.MULTIPLEXER, apart, "gini", 0) == (0, 0)
    share = biased.share_of_higher(biased.MULTIPLEXER, unit * 3, "entropy", 2)
    finer = biased.share_of_higher(biased.MULTIPLEXER, unit * 3, "entropy", 3)
    assert share.higher <= finer.higher <= 1
    assert finer.higher + finer.undecided <= share.higher + share.undecided


def test_the_counterexample_to_the_conjecture_by_the_slow_twin():
    labels = tuple(0x1B >> row & 1 for row in range(8))
    assert labels == biased.MULTIPLEXER
    biases = (Fraction(1, 8), Fraction(1, 8), Fraction(1, 8))
    assert least_height(labels) == 2
    for criterion in IMPURITIES:
        assert slow.greedy_heights(labels, biases, criterion) == {3}
    assert slow.greedy_heights((0, 1, 0, 1), biases[:2], "entropy") == {1}


def test_complete_trees_by_the_slow_twin():
    assert biased.complete_tree(1) == (0, 1)
    # x0 chooses x1 where it is 0, and x2 where it is 1
    assert biased.complete_tree(2) == tuple(
        (row >> 2 if row & 1 else row >> 1) & 1 for row in range(8)
    )
    labels = biased.complete_tree(3)
    relevant = [low != high for low, high in (halves(labels, place) for place in range(7))]
    assert all(relevant)
    biases = tuple(low for low, _ in biased.around_half(3))
    assert biases == (Fraction(63, 128), Fraction(66, 128), Fraction(61, 128))
    for criterion in IMPURITIES:
        assert slow.greedy_heights(biased.complete_tree(2), biases, criterion) == {3}


def test_flips_by_the_slow_twin():
    for flip in biased.FLIPS:
        labels = biased.flipped(flip.junta, flip.row)
        assert sum(a != b for a, b in zip(labels, flip.junta, strict=True)) == 1
        relevant = [len(set(halves(flip.junta, v))) == 2 for v in range(len(flip.biases))]
        assert sum(relevant) == flip.depth
        own = slow.chance(flip.row, flip.biases)
        assert biased.mass(flip.row, biased.point(flip.biases)) == own
        for criterion in IMPURITIES:
            errors = slow.greedy_errors(labels, flip.biases, flip.depth, criterion)
            assert min(errors) > own


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sizes_agree_with_the_slow_twin(count):
    """All functions in whole numbers against some by Fractions, leaf by leaf."""
    rng = np.random.default_rng(count)
    highs = rng.integers(1, 8, count).tolist()
    biases = tuple(Fraction(high, 8) for high in highs)
    for tables, spaces in biased.half_of_all(count, highs, 8):
        least = biased.least_depths(spaces)
        curves = {
            redrawn: biased.influence_errors(
                spaces, [high * (8 - high) if redrawn else 1 for high in highs]
            )
            for redrawn in (False, True)
        }
        for column in rng.choice(len(tables), min(len(tables), 24), replace=False).tolist():
            labels = tuple(tables[column] >> row & 1 for row in range(2**count))
            trees = slow.depths(labels, biases)
            for depth in range(count + 1):
                averages = [average for height, average in trees if height <= depth]
                expected = min(averages) * 8**count if averages else biased.NEVER
                assert least[depth, column] == expected
            for redrawn, errors in curves.items():
                curve = slow.influence_curve(labels, biases, redrawn)
                curve += [Fraction(0)] * (2**count - len(curve))
                assert [Fraction(int(e), 8**count) for e in errors[:, column]] == curve


def test_the_largest_ratio_is_that_of_one_function():
    """Of two variables, from the slow twin's curves and trees."""
    biases, highs = (Fraction(1, 8), HALF), (1, 4)
    ratios = {1: 0.0, 2: 0.0}
    for labels in all_functions(2):
        trees = slow.depths(labels, biases)
        needed = min(depth * average for depth, average in trees)
        curve = slow.influence_curve(labels, biases, redrawn=False)
        for size, error in enumerate(curve[:-1], 1):
            ratio = np.log(size + 1) / (float(needed) * (1 - np.log(float(error))))
            depth = min(depth for depth, _ in trees)
            ratios[depth] = max(ratios[depth], ratio)
    ((_, spaces),) = biased.half_of_all(2, highs, 8)
    found = biased.most_needed(spaces, biased.least_depths(spaces), [1, 1])
    assert {depth: room.ratio for depth, room in found.items()} == pytest.approx(ratios)
    for room in found.values():
        assert abs(float(room.certified.mid()) - room.ratio) < 1e-12
    assert biased.constants({("one", 1): found[1]}).startswith("0.41 for depth 1")


def test_roots_of_many_functions_are_those_of_each():
    family = mt.families.monotone(3)
    tables = [tuple(family.table(member).tolist()) for member in family.members][1:-1]
    points = [(Fraction(1, 4), HALF, Fraction(1, 8)), (HALF, HALF, HALF)]
    for here in map(biased.point, points):
        found = biased.best_roots(tables, here)
        for number, labels in enumerate(tables):
            for criterion in IMPURITIES:
                places = biased.contenders(labels, here, criterion)
                assert found[criterion][number] == sum(1 << place for place in places)
                biases = tuple(low for low, _ in here)
                assert list(places) == slow.best_variables(labels, biases, criterion)


def test_close_gains_of_roots_are_left_to_balls(monkeypatch):
    """With a wide margin everything is, and the answers are the same."""
    tables, here = [biased.MULTIPLEXER, (0, 1, 1, 0, 1, 0, 0, 1)], biased.point(biased.APART[:3])
    narrow = biased.best_roots(tables, here)
    monkeypatch.setattr(biased, "CLOSE", 10.0)
    wide = biased.best_roots(tables, here)
    for criterion in IMPURITIES:
        assert narrow[criterion].tolist() == wide[criterion].tolist()


def test_equal_biases_are_not_enough_for_all_functions():
    """Exactly one of two variables while the third is 0: Gini ties, and the others do not."""
    labels, here = tuple(0x06 >> row & 1 for row in range(8)), biased.point([Fraction(1, 4)] * 3)
    assert biased.contenders(labels, here, "gini") == (0, 1, 2)
    assert biased.contenders(labels, here, "entropy") == (2,)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_staircases_of_all_functions(count):
    listed = all_functions(count)
    tables = np.array([sum(y << row for row, y in enumerate(each)) for each in listed])
    found = later.staircases(tables.astype(np.uint64), count)
    assert found.tolist() == [slow.is_merged_staircase(each) for each in listed]
    assert found.tolist() == [later.is_merged_staircase(each) for each in listed]


@settings(max_examples=30)
@given(labels=st.tuples(*[st.integers(0, 1)] * 32))
def test_staircases_of_five_variables(labels):
    table = np.array([sum(y << row for row, y in enumerate(labels))], dtype=np.uint64)
    assert later.staircases(table, 5).tolist() == [slow.is_merged_staircase(labels)]


def test_a_staircase_whose_sets_are_not_in_the_order_of_their_numbers():
    labels = tuple(0x639C0 >> row & 1 for row in range(32))
    assert slow.is_merged_staircase(labels)
    assert later.staircases(np.array([0x639C0], dtype=np.uint64), 5).tolist() == [True]


@functools.cache
def lookahead_sizes(labels, depth, bias=HALF, criterion="entropy"):
    """Of all trees by lookahead without error."""
    if len(set(labels)) == 1:
        return {0}
    count = len(labels).bit_length() - 1
    table = product_table(labels, (bias,) * count)
    _, names = best_tests(table, (), depth, criterion)
    sizes = set()
    for name in names:
        low, high = (
            lookahead_sizes(half, depth, bias, criterion)
            for half in halves(labels, table.names.index(name))
        )
        sizes |= {1 + one + other for one in low for other in high}
    return sizes


def test_lookahead_is_worse_by_the_slow_twin():
    labels = tuple(0x035F >> row & 1 for row in range(16))
    assert lookahead_sizes(labels, 1) == {5}
    assert lookahead_sizes(labels, 2) == {7}


@pytest.mark.parametrize(("bias", "criterion"), [(Fraction(1, 4), "gini"), (HALF, "entropy")])
def test_pathologies_of_all_functions_of_three_variables(bias, criterion):
    listed = all_functions(3)
    near, far = (
        [lookahead_sizes(labels, depth, bias, criterion) for labels in listed] for depth in (1, 2)
    )
    worse = [min(b) > max(a) for a, b in zip(near, far, strict=True)]
    better = [max(b) < min(a) for a, b in zip(near, far, strict=True)]
    found = later.pathologies(3, bias, criterion)
    assert found[:2] == (sum(worse), sum(better))
    if any(worse):
        labels = tuple(int(found.first, 16) >> row & 1 for row in range(8))
        assert worse[listed.index(labels)]


def least_error_of_top(table, leaf, size, candidates):
    """Of trees below a leaf that test only splits of the largest gains, by trying all sizes."""
    reach = reference.reach(table, dict(leaf))
    positive = reference.positive_rate(table, dict(leaf)) * reach if reach else 0
    errors = [min(positive, reach - positive)]
    if size > 0:
        for name in allowed(table, leaf, candidates, "entropy"):
            for low in range(size):
                sides = ((0, low), (1, size - 1 - low))
                errors.append(
                    sum(
                        least_error_of_top(table, (*leaf, (name, value)), part, candidates)
                        for value, part in sides
                    )
                )
    return min(errors)


@pytest.mark.parametrize("top", later.GAPS)
def test_another_candidate_helps_by_the_slow_twin(top):
    problem, size = later.GAPS[top]
    labels = tuple(Fraction(label) for label in problem.truth_table.tolist())
    table = reference.Table(tuple(problem.variables), labels, tuple(problem.probabilities))
    narrow, wide = (least_error_of_top(table, (), size, top + more) for more in (0, 1))
    assert narrow - wide >= Fraction(1, 20)
    assert wide == least_error_of_top(table, (), size, top + 2)
