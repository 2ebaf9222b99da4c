"""Lookahead against every subtree by enumeration, and its fast paths against the generic one."""

import math
from itertools import islice, product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.growers import loop
from mictree.growers.choosing import settle_ties
from mictree.growers.data_gains import PackedLeaves
from mictree.growers.rules import TIES
from mictree.impurity import CRITERIA
from mictree.problems.sample import Limits, SampleProblem
from tests.properties.test_sample_growth import (
    FIXED_TIES,
    Generic,
    as_table,
    data_sets,
    reference_trees,
)
from tests.reference import PRIORITIES, is_pure
from tests.reference.functions import product_table
from tests.reference.lookahead import best_tests, lookahead_splits
from tests.strategies import formula_cases, nested, table_cases

SIZE = 6
CASES = st.one_of(
    table_cases(max_variables=3),
    formula_cases(max_variables=3, max_irrelevant=1, most_distinct=2),
)


def assert_same_splits(growth, expected):
    """Each split: the leaf's path, the variable and the drop."""
    paths = [()]
    for step, (path, name, drop) in zip(growth.steps, expected, strict=True):
        assert (paths[step.leaf], step.variable) == (path, name)
        assert step.gain == pytest.approx(float(drop), rel=1e-9, abs=1e-12)
        paths += [(*path, (name, 0)), (*path, (name, 1))]


@pytest.mark.parametrize("depth", [2, 3])
@settings(max_examples=25)
@given(case=CASES, criterion=st.sampled_from(list(CRITERIA)), ties=st.sampled_from(FIXED_TIES))
def test_splits_are_those_of_the_best_of_all_subtrees(depth, case, criterion, ties):
    growth = mt.Lookahead(depth, criterion, ties).grow(case.problem, SIZE)
    assert_same_splits(growth, islice(lookahead_splits(case.table, depth, criterion, ties), SIZE))


def test_all_functions_of_three_variables():
    """One of each 8 truth tables, under the uniform distribution, where most gains tie."""
    for number in range(1, 256, 8):
        problem = mt.TableProblem([number >> row & 1 for row in range(8)])
        table = reference_table(problem)
        growth = mt.Lookahead(2, "gini").grow(problem, SIZE)
        assert_same_splits(growth, islice(lookahead_splits(table, 2, "gini", "last"), SIZE))


def reference_table(problem):
    from tests.reference import Table

    return Table(problem.variables, tuple(problem.truth_table.tolist()), problem.probabilities)


@pytest.mark.parametrize("ties", TIES)
@settings(max_examples=15)
@given(case=CASES, criterion=st.sampled_from(list(CRITERIA)))
def test_depth_one_is_topdown(ties, case, criterion):
    topdown = mt.TopDown(criterion, ties, 5).grow(case.problem, SIZE)
    growth = mt.Lookahead(1, criterion, ties, 5).grow(case.problem, SIZE)
    assert growth.steps == topdown.steps
    assert growth.errors.tolist() == topdown.errors.tolist()


@settings(max_examples=30)
@given(data_sets(), st.sampled_from(sorted(CRITERIA)), st.sampled_from(TIES))
def test_depth_one_is_topdown_on_data(case, criterion, ties):
    problem = SampleProblem(as_table(case[0]), *case[1:])
    topdown = mt.TopDown(criterion, ties, 5).grow(problem, SIZE)
    assert mt.Lookahead(1, criterion, ties, 5).grow(problem, SIZE).steps == topdown.steps


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_parity_is_solved_at_once(ties, criterion):
    inputs = np.array(list(product([0, 1], repeat=4)))
    parity = mt.TableProblem.from_formula("b ^ c", 0.5, ["a", "b", "c", "d"])
    data = mt.SampleProblem(inputs, inputs[:, 1] ^ inputs[:, 2])
    for problem in (parity, data):
        growth = mt.Lookahead(2, criterion, ties, 1).grow(problem, 3)
        assert growth.errors[-1] == 0
        assert growth.steps[0].gain == pytest.approx(1 if criterion in ("entropy", "root") else 0.5)
    assert mt.Lookahead(3, criterion, ties, 1).grow(parity, 3).errors[-1] == 0


def test_a_useless_test_never_ties_with_the_one_that_brings_the_drop():
    """Below any test of z, the other variable would bring the same drop one split later."""
    problem = mt.TableProblem.from_formula("a", {"a": 0.5, "z": 0.5})
    for ties in TIES:
        assert mt.Lookahead(2, ties=ties, seed=1).grow(problem, 1).steps[0].variable == "a"


def test_ties_are_settled_by_ever_shallower_subtrees():
    tiny = 1e-12  # within the tolerance
    drops = np.array(
        [[1.0, 1 + tiny, 0.9, 1.0, 1.0], [0.5, 0.6, 0.9, 0.6, 0.6], [0, 0.3, 0, 0.3, 0]]
    )
    assert settle_ties(drops).tolist() == [-1, 1 + tiny, -1, 1 + tiny, -1]


@settings(max_examples=60)
@given(data_sets(most_rows=16), st.sampled_from(sorted(CRITERIA)), st.sampled_from(FIXED_TIES),
       st.integers(2, 5), st.integers(1, 3), st.integers(1, 4),
       st.sampled_from([0, 0.2]))  # fmt: skip
def test_limits_are_the_plain_learners(case, criterion, ties, split, least, depth, min_gain):
    rows, labels, weights = case
    limits = Limits(split, least, depth, min_gain)
    problem = SampleProblem(as_table(rows), labels, weights, limits=limits)
    growth = mt.Lookahead(2, criterion, ties).grow(problem, SIZE)
    expected = reference_trees(
        rows, labels, weights, PRIORITIES["lookahead"], criterion, ties, SIZE,
        split=split, least=least, depth=depth, min_gain=min_gain, ahead=2,
    )  # fmt: skip
    assert [nested(growth.tree(size)) for size in range(SIZE + 1)] == expected


@settings(max_examples=50)
@given(depth=st.sampled_from([2, 2, 2, 2, 3]), case=data_sets(most_rows=30),
       criterion=st.sampled_from(sorted(CRITERIA)),
       ties=st.sampled_from(TIES),
       class_weight=st.sampled_from([None, [1.0, 0.3, 2.0, 1.7]]))  # fmt: skip
def test_pair_counts_give_the_generic_drops(depth, case, criterion, ties, class_weight):
    rows, labels, weights = case
    factors = class_weight and class_weight[: max(2, max(labels) + 1)]
    grower = mt.Lookahead(depth, criterion, ties, 11)
    packed, generic = (
        grower.grow(kind(as_table(rows), labels, weights, class_weight=factors), 5)
        for kind in (SampleProblem, Generic)
    )
    tests = [[(step.leaf, step.variable) for step in each.steps] for each in (packed, generic)]
    assert tests[0] == tests[1]
    assert packed.labels == generic.labels
    np.testing.assert_allclose(packed.errors, generic.errors, atol=1e-12)
    gains = [[step.gain for step in each.steps] for each in (packed, generic)]
    np.testing.assert_allclose(gains[0], gains[1], rtol=1e-12, atol=0)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_and_literals(weighted):
    """Enough of both that all cores share the work and leaves are made compact."""
    random = np.random.default_rng(2)
    bits = random.integers(0, 2, (3000, 40))
    labels = (bits[:, 3] ^ bits[:, 7]) + (bits[:, 1] & bits[:, 2])
    weights = random.integers(1, 4, 3000) if weighted else None
    growth = mt.Lookahead().grow(SampleProblem(bits, labels, weights), 5)
    generic = mt.Lookahead().grow(Generic(bits, labels, weights), 2)
    assert {step.variable for step in growth.steps} == {"x1", "x2", "x3", "x7"}
    assert [s.variable for s in growth.steps[:2]] == [s.variable for s in generic.steps]


@settings(max_examples=30)
@given(
    ranks=st.lists(st.tuples(*[st.integers(0, 5)] * 2, st.booleans()), min_size=2, max_size=25),
    data=st.data(),
    ties=st.sampled_from(TIES),
)
def test_pair_counts_give_the_generic_drops_on_numbers(ranks, data, ties):
    """Thresholds, bits and missing values, by pair counts and by the generic loop."""
    table = [
        [float(one), math.nan if other == 5 else float(other), bit] for one, other, bit in ranks
    ]
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(ranks), max_size=len(ranks)))
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(ranks), max_size=len(ranks)))
    grower = mt.Lookahead(2, "gini", ties, 11)
    packed = grower.grow(SampleProblem(table, labels, weights), 5)
    with mock.patch.object(PackedLeaves, "hold", return_value=False):
        generic = grower.grow(SampleProblem(table, labels, weights), 5)
    tests = [[(s.leaf, s.variable, s.threshold) for s in each.steps] for each in (packed, generic)]
    assert tests[0] == tests[1]
    np.testing.assert_allclose(packed.errors, generic.errors, atol=1e-12)
    gains = [[step.gain for step in each.steps] for each in (packed, generic)]
    np.testing.assert_allclose(gains[0], gains[1], rtol=1e-12, atol=0)


def test_too_many_tests_are_refused_with_a_number_that_fits():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(9000, 4)), np.arange(9000) % 2  # 142 words of rows
    said = r"at most 5,499 tests on 9,000 rows; the table has 35,996: set.*to 1,374 or fewer"
    with pytest.raises(ValueError, match=said):
        mt.LookaheadClassifier(1).fit(X, y)
    assert mt.LookaheadClassifier(1, depth=1).fit(X, y).tree_.size == 1
    columns = np.column_stack([np.arange(9) % 3, np.arange(9), np.arange(9) % 2])
    bits = random.integers(0, 2, (50, 20))
    with mock.patch.object(loop, "MOST_WORDS", 2 * 10**2):
        with pytest.raises(ValueError, match=r"at most 10 tests.*has 11: set.*to 4 or fewer"):
            mt.Lookahead().grow(SampleProblem(columns, np.arange(9) % 2), 1)
        fits = SampleProblem(columns, np.arange(9) % 2, max_thresholds=4)
        assert mt.Lookahead().grow(fits, 1).steps
        assert mt.Lookahead().grow(SampleProblem(bits, bits[:, 0]), 1).steps  # no numbers


def own_gini(rate):
    return 2 * rate * (1 - rate)


@settings(max_examples=20)
@given(case=CASES, ties=st.sampled_from(FIXED_TIES))
def test_own_criteria_on_formulas_and_tables(case, ties):
    own = mt.Lookahead(2, own_gini, ties).grow(case.problem, SIZE)
    known = mt.Lookahead(2, "gini", ties).grow(case.problem, SIZE)
    assert [step.variable for step in own.steps] == [step.variable for step in known.steps]


@settings(max_examples=20)
@given(data_sets(), st.sampled_from(FIXED_TIES))
def test_own_criteria_on_data(case, ties):
    problem = SampleProblem(as_table(case[0]), *case[1:])
    own, known = (mt.Lookahead(2, c, ties).grow(problem, 4) for c in (own_gini, "gini"))
    assert own.tree(4) == known.tree(4)


def test_what_an_own_criterion_raises_is_raised():
    def broken(rate):
        raise RuntimeError("no impurity today")

    data = mt.SampleProblem([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 1, 1, 0, 1, 1, 1, 0])
    with pytest.raises(RuntimeError, match="no impurity today"):
        mt.Lookahead(2, broken).grow(data, 3)
    with pytest.raises(ValueError, match="an impurity must be a finite number"):
        mt.Lookahead(2, lambda rate: -1.0).grow(data, 3)


def test_a_depth_beyond_all_variables_is_fine():
    problem = mt.FormulaProblem("a & b | c", 0.3)
    assert mt.Lookahead(9).grow(problem, 5).errors[-1] == 0


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "2"])
def test_bad_depths(depth):
    with pytest.raises((ValueError, TypeError), match="depth must be"):
        mt.Lookahead(depth)


def test_importances_come_from_the_splits_themselves():
    random = np.random.default_rng(1)
    X = random.integers(0, 2, (400, 5))
    y = X[:, 0] ^ X[:, 1]
    model = mt.LookaheadClassifier(3).fit(X, y)
    assert model.score(X, y) == 1
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[2:].tolist() == [0, 0, 0]
    assert model.feature_importances_.argmax() == model.tree_.tests[model.tree_.low[0]]
    topdown = mt.TopDownClassifier(6).fit(X, y)
    same = mt.LookaheadClassifier(6, depth=1).fit(X, y)
    assert same.tree_ == topdown.tree_
    np.testing.assert_allclose(same.feature_importances_, topdown.feature_importances_, atol=1e-12)


def lookahead_sizes(table, leaf, depth):
    """Splits of the smallest and of the largest tree by looking ahead that makes no error."""
    if is_pure(table, dict(leaf)):
        return 0, 0
    _, tests = best_tests(table, leaf, depth, "entropy")
    below = [
        [lookahead_sizes(table, (*leaf, (name, value)), depth) for value in (0, 1)]
        for name in tests
    ]
    return (
        1 + min(low[0] + high[0] for low, high in below),
        1 + max(low[1] + high[1] for low, high in below),
    )


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("biases", [(0.5,), (0.3, 0.7)], ids=str)
def test_greedy_sizes_of_sweeps(depth, biases):
    """For every formula of a family, against a recursion over its restrictions."""
    family = mt.families.up_to(4 if len(biases) == 1 and depth < 3 else 3, biases)
    frame = mt.sweep(family, 3, [mt.Lookahead(depth)])
    for row in frame.iter_rows(named=True):
        problem = family.problem(row["member"])
        rows = [[number >> place & 1 for place in range(len(problem.variables))]
                for number in range(2 ** len(problem.variables))]  # fmt: skip
        labels = tuple(problem.formula.evaluate(rows, problem.variables).astype(int).tolist())
        exact = tuple(problem.biases[name] for name in problem.variables)
        found = lookahead_sizes(product_table(labels, exact), (), depth)
        assert (row["greedy_size_best"], row["greedy_size_worst"]) == found, row
