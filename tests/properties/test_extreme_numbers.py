"""Ties are ties at every bias and weight: biases of 1e-6, weights of 1 to a million."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.families import graph as family_graph
from mictree.families.family import grid, up_to
from mictree.families.growth import best_splits
from mictree.growers.choosing import choose_leaf, gains_by, new_frontier, open_leaf
from mictree.growers.rules import RULES, TIES
from mictree.impurity import CRITERIA, GAINS
from mictree.impurity import gains as _gains
from mictree.optimal.program import Program
from mictree.problems.sample import SampleProblem, whole_weights
from tests import reference
from tests.properties.test_sample_growth import Generic, as_table, data_sets, reference_trees
from tests.reference import Table, learner
from tests.reference.splits import candidates
from tests.strategies import NAMES, FormulaCase, TableCase, formulas, nested

DECIDED = [ties for ties in TIES if ties != "random"]
TINY = Fraction(1, 10**6)
EXTREME = [TINY, 1 - TINY, Fraction(1, 2), Fraction(1, 1000), Fraction(999, 1000), Fraction(3, 10)]
SIZE = 6


@st.composite
def extreme_formulas(draw, max_variables: int = 5) -> FormulaCase:
    """Few distinct biases, so that gains tie often, and one irrelevant variable."""
    formula = draw(formulas(max_variables))
    names = [*(name for term in formula for name, _ in term), "z"]
    few = draw(st.lists(st.sampled_from(EXTREME), min_size=1, max_size=3))
    biases = draw(st.lists(st.sampled_from(few), min_size=len(names), max_size=len(names)))
    return FormulaCase(formula, dict(zip(names, biases, strict=True)))


@st.composite
def extreme_tables(draw, max_variables: int = 4) -> TableCase:
    """Row weights from 1 to a million, or such that no 64-bit integer holds their denominator."""
    count = draw(st.integers(1, max_variables))
    labels = draw(st.lists(st.integers(0, 1), min_size=2**count, max_size=2**count))
    shares = [1, 1, 1000, 10**6, 10**6 + 1, draw(st.sampled_from([0, 10**25]))]
    drawn = draw(st.lists(st.sampled_from(shares), min_size=2**count, max_size=2**count))
    drawn[0] += sum(drawn) == 0
    weights = tuple(Fraction(share, sum(drawn)) for share in drawn)
    return TableCase(Table(NAMES[:count], tuple(labels), weights))


CASES = st.one_of(extreme_formulas(), extreme_tables())


def grown(growth: mt.Growth) -> list:
    return [nested(growth.tree(size)) for size in range(growth.max_size + 1)]


def test_a_negated_literal_ties_like_its_complement():
    biases = [0.5, 0.001, 0.1, 0.2, 0.3]
    grower = mt.TopDown("gini", "first")
    one = grower.grow(mt.FormulaProblem("a & b & c & d & e & f", [0.001, *biases]), 6)
    other = grower.grow(mt.FormulaProblem("~a & b & c & d & e & f", [0.999, *biases]), 6)
    assert [step.variable for step in one.steps] == list("acdefb")
    floats = [[(step.variable, step.gain, step.reach) for step in g.steps] for g in (one, other)]
    assert floats[0] == floats[1]


def test_an_exact_tie_between_heavy_and_light_rows():
    weights = [1000000, 1, 1, 1000, 1, 1, 1000000, 1000000]
    table = Table(
        ("x1", "x2", "x3"),
        (1, 1, 0, 1, 0, 0, 0, 1),
        tuple(Fraction(weight, sum(weights)) for weight in weights),
    )
    drops = [reference.gain(table, (), name, "minority") for name in ("x1", "x3")]
    assert abs(drops[0] - drops[1]) < 1e-100
    growth = mt.ID3("minority", "first").grow(TableCase(table).problem, SIZE)
    assert growth.steps[0].variable == "x1"
    assert grown(growth) == reference.grow(
        table, reference.PRIORITIES["id3"], SIZE, "minority", "first"
    )


@pytest.mark.parametrize("rule", ["topdown", "bestfirst", "id3"])
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=12)
@given(case=CASES)
def test_trees_are_those_of_the_slow_loops(rule, criterion, case):
    for ties in DECIDED:
        expected = reference.grow(case.table, reference.PRIORITIES[rule], SIZE, criterion, ties)
        growth = RULES[rule](criterion=criterion, ties=ties).grow(case.problem, SIZE)
        assert grown(growth) == expected, ties


@settings(max_examples=60)
@given(CASES, st.sampled_from(list(CRITERIA)), st.data())
def test_gains_have_a_small_relative_error(case, criterion, data):
    path = {}
    leaf = case.problem.root()
    for name in data.draw(st.lists(st.sampled_from(case.table.names), unique=True, max_size=2)):
        if name in candidates(case.table, tuple(path.items())):
            path[name] = data.draw(st.integers(0, 1))
            leaf = case.problem.leaf(path)
    if leaf.pure:
        return
    splits = case.problem.splits(leaf)
    names = candidates(case.table, tuple(path.items()))
    assert [case.problem.variables[place] for place in splits.variables] == names
    expected = [float(reference.gain(case.table, tuple(path.items()), n, criterion)) for n in names]
    computed = gains_by(criterion)(case.problem, leaf, splits)
    np.testing.assert_allclose(computed, expected, rtol=1e-11, atol=0)
    rate = {
        value: [float(reference.positive_rate(case.table, {**path, name: value})) for name in names]
        for value in (0, 1)
    }
    np.testing.assert_allclose(splits.low_rates[:, 1], rate[0], rtol=1e-14)
    np.testing.assert_allclose(splits.high_rates[:, 1], rate[1], rtol=1e-14)


@settings(max_examples=40)
@given(
    extreme_formulas(),
    st.sampled_from(sorted(RULES)),
    st.sampled_from(list(CRITERIA)),
    st.sampled_from(TIES),
    st.data(),
)
def test_flipping_literals_with_their_biases_changes_no_float(case, rule, criterion, ties, data):
    flipped = {name for term in case.formula for name, _ in term if data.draw(st.booleans())}
    formula = tuple(
        tuple((name, positive != (name in flipped)) for name, positive in term)
        for term in case.formula
    )
    biases = {name: 1 - bias if name in flipped else bias for name, bias in case.biases.items()}
    other = FormulaCase(formula, biases)
    leaf, twin = case.problem.root(), other.problem.root()
    for each in CRITERIA:
        one = gains_by(each)(case.problem, leaf, case.problem.splits(leaf))
        assert (
            one.tolist() == gains_by(each)(other.problem, twin, other.problem.splits(twin)).tolist()
        )
    grower = RULES[rule](criterion=criterion, ties=ties, seed=3)
    # later leaves have other numbers: a flipped test exchanges its children
    assert grower.grow(case.problem, 1).steps == grower.grow(other.problem, 1).steps


@st.composite
def extreme_data(draw):
    rows, labels, _ = draw(data_sets(most_rows=14))
    kinds = [[1, 10**6], [1, 1000, 10**6, 10**6 + 1], ["0.1", "0.2", "0.3", "1000000"]]
    kind = [Fraction(weight) for weight in draw(st.sampled_from(kinds))]
    weights = draw(st.lists(st.sampled_from(kind), min_size=len(rows), max_size=len(rows)))
    return rows, labels, weights


@given(
    extreme_data(),
    st.sampled_from(sorted(RULES)),
    st.sampled_from(list(CRITERIA)),
    st.sampled_from(DECIDED),
)
@settings(max_examples=150)
def test_data_with_extreme_weights(case, rule, criterion, ties):
    rows, labels, weights = case
    expected = reference_trees(
        rows, labels, weights, reference.PRIORITIES[rule], criterion, ties, SIZE,
        ahead=reference.ahead(rule),
    )  # fmt: skip
    floats = [float(weight) for weight in weights]
    for kind in (SampleProblem, Generic):
        growth = RULES[rule](criterion=criterion, ties=ties).grow(
            kind(as_table(rows), labels, floats), SIZE
        )
        assert grown(growth) == expected, kind


@given(
    data_sets(most_rows=40),
    st.sampled_from(list(CRITERIA)),
    st.sampled_from([None, [1.0, 0.3, 1e-6, 1.7]]),
    st.booleans(),
)
@settings(max_examples=60)
def test_compiled_gains_are_the_generic_ones(case, criterion, class_weight, ugly):
    rows, labels, weights = case
    if ugly:
        weights = [(1 + number) / 7 * 10 ** (number % 6) for number in range(len(rows))]
    factors = class_weight and class_weight[: max(2, max(labels) + 1)]
    compiled, generic = (
        mt.TopDown(criterion).grow(kind(as_table(rows), labels, weights, class_weight=factors), 9)
        for kind in (SampleProblem, Generic)
    )
    assert grown(compiled) == grown(generic)
    np.testing.assert_allclose(
        [step.gain for step in compiled.steps],
        [step.gain for step in generic.steps],
        rtol=1e-12,
        atol=0,
    )


RULE_GRID = [
    rule(criterion=criterion, ties=ties, seed=7)
    for rule in RULES.values()
    for criterion in CRITERIA
    for ties in TIES
]


@pytest.mark.parametrize(
    ("family", "max_size", "step"),
    [
        (grid(2, 2, (1e-6, 0.5)), 6, 1),
        (grid(2, 2, (0.001, 0.999)), 6, 1),
        (up_to(5, (0.3, 0.7)), 10, 3),
    ],
    ids=repr,
)
def test_sweeps_grow_what_the_loop_grows(family, max_size, step):
    """Every member with every rule, or every third pair: families' kernels, the generic loop."""
    frame = mt.sweep(family, max_size, RULE_GRID)
    problems = [family.problem(number) for number in range(1, len(family) + 1)]
    optimal = [mt.optimal_errors(problem, max_size) for problem in problems]
    pairs = [(rule, place) for rule in RULE_GRID for place in range(len(family))][::step]
    expected = [
        np.maximum(rule.grow(problems[place], max_size).errors - optimal[place], 0)[1:].mean()
        for rule, place in pairs
    ]
    np.testing.assert_allclose(frame["mic"][::step], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("criterion", ["entropy", "gini", "root"])
@pytest.mark.parametrize(("apart", "tie"), [(1e-6, False), (1e-8, False), (1e-13, True)])
def test_the_tolerance(criterion, apart, tie):
    """The second literal gains more, by about ``apart``: only less than 1e-10 is a tie."""
    biases = [Fraction(3, 10) * (1 + Fraction(apart)), Fraction(3, 10)]
    expected = "a" if tie else "b"
    grower = mt.TopDown(criterion, "first")
    assert grower.grow(mt.FormulaProblem("a & b", biases), 1).steps[0].variable == expected
    million = 10**15 // 3
    rows = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
    shares = [7 * 7, 7 * 3, 3 * 7, 3 * 3]
    weights = [float(share * million // 100) for share in shares]
    weights[2] += weights[2] * apart  # the first column is a little more often 1 in vain
    for kind in (SampleProblem, Generic):
        problem = kind([row[:2] for row in rows], [0, 0, 0, 1], weights)
        assert grower.grow(problem, 1).steps[0].variable == ("x0" if tie else "x1")


def test_sweeps_have_the_same_tolerance():
    family = grid(1, 2, (0.3, 0.3 * (1 + 1e-6)))
    member = family.number([[family.biases[0], family.biases[1]]])
    for ties in ("first", "last"):
        frame = mt.sweep(family, 1, [mt.TopDown(ties=ties), mt.BestFirst(ties=ties)])
        assert frame["mic"].to_list()[member - 1] == pytest.approx(0, abs=1e-12)
    built = family_graph.build(family, 2**30)
    program = Program.of_floats(family.biases, 2, np.zeros(1), np.zeros(1))
    best = best_splits(built, program, "gini")
    assert best.split[member, 2] == 0  # no tie, the rarer literal


@pytest.mark.parametrize("ties", ["heaviest", "lightest"])
@pytest.mark.parametrize("noise", [-1e-13, 1e-13, -1e-6, 1e-6])
def test_reach_has_the_same_tolerance_in_sweeps(ties, noise):
    """Two leaves of one priority: the last of them unless their reaches differ for good."""
    reaches, priorities = np.array([0.25, 0.25 * (1 + noise)]), np.array([2.0, 2.0 - 1e-12])
    draws = np.zeros(1, dtype=np.uint64)
    first_wins = abs(noise) > 1e-10 and (noise < 0) == (ties == "heaviest")
    frontier = new_frontier(2)
    for leaf in range(2):
        open_leaf(frontier, leaf, reaches[leaf], priorities[leaf])
    chosen = choose_leaf(frontier, TIES.index(ties), draws)
    assert chosen == (0 if first_wins else 1)


@pytest.mark.parametrize(
    "biases",
    [
        # P[a & b] = 1/2 + tiny: Fractions say that b = 1 makes label 1 likelier by a hair
        {"a": Fraction(1, 2) + Fraction(1, 10**12), "b": Fraction(1, 2)},
        {"a": Fraction(1, 2) + Fraction(1, 10**12), "b": 1 - Fraction(1, 10**6)},
    ],
)
def test_labels_won_by_a_hair(biases):
    case = FormulaCase(((("a", True), ("b", True)),), biases)
    leaf = case.problem.root()
    computed = gains_by("minority")(case.problem, leaf, case.problem.splits(leaf))
    expected = [float(reference.gain(case.table, (), name, "minority")) for name in biases]
    np.testing.assert_allclose(computed, expected, rtol=1e-11, atol=0)
    assert max(expected) > 0
    family = grid(1, 2, tuple(biases.values()))
    built = family_graph.build(family, 2**30)
    program = Program.of_floats(family.biases, 2, np.zeros(1), np.zeros(1))
    best = best_splits(built, program, "minority")
    member = family.number([tuple(biases.values())])
    assert best.gain[member] == pytest.approx(max(expected), rel=1e-11, abs=0)


FLOATS = st.integers(0, 2**52).map(float)


@given(FLOATS, FLOATS, st.integers(-3, 3), st.integers(-3, 3))
def test_difference_of_products(one, two, first, second):
    three, four = max(one + first, 0.0), max(two + second, 0.0)
    exact = Fraction(one) * Fraction(two) - Fraction(three) * Fraction(four)
    assert _gains.difference_of_products(one, two, three, four) == pytest.approx(
        float(exact), rel=1e-15, abs=0
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@given(
    st.integers(2, 4).flatmap(
        lambda classes: st.tuples(
            *(st.lists(st.integers(0, 10**9), min_size=classes, max_size=classes) for _ in "lh")
        )
    ),
    st.integers(0, 1000),
)
def test_compiled_and_array_gains_of_counts(criterion, sums, factor):
    low, high = sums
    high = [factor * one + min(other, 2) for one, other in zip(low, high, strict=True)]
    if not sum(low) or not sum(high):
        return
    ones, work = np.ones(len(low)), np.empty((5, len(low)))
    code = _gains.CRITERION_CODES[criterion]
    low_sums, high_sums = np.array(low, float), np.array(high, float)
    computed = _gains.gain_of_sums(code, low_sums, high_sums, ones, True, work)
    expected = float(learner.gain(tuple(low), tuple(high), criterion))
    assert computed == pytest.approx(expected, rel=1e-12, abs=0)
    general = _gains.gain_of_sums(code, low_sums, high_sums, ones, False, work)
    assert general == pytest.approx(expected, rel=1e-12, abs=0)
    if criterion != "minority":
        total = sum(low) + sum(high)
        difference = np.empty(len(low))
        _gains.rate_differences(low_sums, high_sums, ones, True, difference)
        arrays = (low_sums / sum(low), high_sums / sum(high), difference)
        shares = np.array([[sum(low) / total], [sum(high) / total]])
        (found,) = GAINS[criterion](*shares, *(each[None] for each in arrays))
        assert found == pytest.approx(expected, rel=1e-12, abs=0)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.25, 1.0, 3.7, 1e6]), min_size=1))
def test_decimal_weights_become_whole_numbers(weights):
    if sum(weights) == 0:
        return
    whole, unit, rounded = whole_weights(np.array(weights))
    assert not rounded
    assert (whole == np.round(whole)).all()
    exact = [Fraction(repr(weight)) for weight in weights]
    assert [Fraction(number) / round(1 / unit) for number in whole] == exact


@pytest.mark.parametrize("scale", [1e-300, 1e-6, 1.0, 1e300])
def test_other_weights_are_rounded(scale):
    weights = scale * np.random.default_rng(1).random(1000)
    whole, unit, rounded = whole_weights(weights)
    assert rounded
    assert (whole >= 1).all()
    assert 2**50 < whole.sum() < 2**53
    np.testing.assert_allclose(whole * unit, weights, rtol=1e-10)
    assert whole_weights(np.array([1.0, 1e-30, 1 / 3])).weights.min() == 1


@pytest.mark.parametrize("exponent", [-1000, -1030, -1074])
@pytest.mark.parametrize("grower", [mt.TopDown(), mt.BestFirst("gini"), mt.ID3(), mt.Lookahead()])
def test_weights_may_be_as_small_as_floats_are(grower, exponent):
    """A unit of 52 binary digits of their sum would be 0."""
    draw = np.random.default_rng(0)
    X, y, weights = draw.random((30, 3)), draw.integers(0, 3, 30), draw.integers(1, 9, 30)
    tiny = np.ldexp(weights.astype(float), exponent)
    assert not whole_weights(tiny).rounded
    expected = grower.grow(mt.SampleProblem(X, y, weights), 3).errors
    np.testing.assert_array_equal(grower.grow(mt.SampleProblem(X, y, tiny), 3).errors, expected)


@pytest.mark.parametrize(("weight", "factor"), [(-531, -531), (-1000, -40), (0, -1063), (-7, -600)])
@pytest.mark.parametrize("grower", [mt.TopDown(), mt.BestFirst("gini"), mt.ID3(), mt.Lookahead()])
@pytest.mark.parametrize("long", [False, True])
def test_factors_of_classes_may_be_small_too(grower, weight, factor, long):
    """Of products below the least normal float few digits are left, and of theirs none."""
    draw = np.random.default_rng(0)
    X, y, weights = draw.random((30, 3)), draw.integers(0, 3, 30), draw.integers(1, 9, 30)
    weights = draw.random(30) if long else weights.astype(float)
    factors = np.array([1.0, 3.0, 5.0])
    problem = mt.SampleProblem(X, y, weights, class_weight=factors)
    tiny = mt.SampleProblem(X, y, np.ldexp(weights, weight), class_weight=np.ldexp(factors, factor))
    expected, found = grower.grow(problem, 3), grower.grow(tiny, 3)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=1e-14)
    assert grown(found) == grown(expected)
    for problem_of_both in (problem, tiny):
        np.testing.assert_allclose(
            found.tree(2).error(problem_of_both), expected.errors[2], rtol=1e-14
        )
    generic = Generic(X, y, np.ldexp(weights, weight), class_weight=np.ldexp(factors, factor))
    np.testing.assert_allclose(grower.grow(generic, 3).errors, expected.errors, rtol=1e-14)


def test_factors_that_are_far_apart_stay_as_they_are():
    """Scaled by the largest, the least would be 0, and its leaf would have no rates."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    for factors in ([1e300, 1e-300], [1e307, 5e-324]):
        problem = SampleProblem(X, y, class_weight=factors)
        _, high = problem.children(problem.root(), 0)
        assert high.class_rates == (0, 1)
        assert mt.TopDown().grow(problem, 1).errors.tolist() == [0, 0]
