"""Tables under squared loss: leaves predict P[y = 1], errors are the variance left."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.growers.rules import RULES, TIES
from tests import reference
from tests.properties.test_noise import noisy_cases
from tests.reference.squared_tables import least_squared_errors, put_means, squared_error
from tests.strategies import NAMES, TableCase, nested

DECIDED = tuple(ties for ties in TIES if ties != "random")
SIZE = 7


def squared_problem(case: TableCase) -> mt.TableProblem:
    table = case.table
    return mt.TableProblem(table.labels, table.weights, table.names, loss="squared")


def as_floats(tree):
    if isinstance(tree, tuple):
        return (tree[0], *map(as_floats, tree[1:]))
    return float(tree)


@given(noisy_cases(), st.data())
def test_leaves(case, data):
    names = data.draw(st.lists(st.sampled_from(case.table.names), unique=True, max_size=3))
    restriction = {name: data.draw(st.integers(0, 1)) for name in names}
    problem = squared_problem(case)
    leaf, exact = (problem.leaf(restriction, exact) for exact in (False, True))
    mass = reference.reach(case.table, restriction)
    assert leaf.pure == exact.pure == reference.is_pure(case.table, restriction)
    assert exact.reach == mass
    if mass == 0:
        assert (leaf.error, exact.error, leaf.label) == (0, 0, 0)
        return
    rate = reference.positive_rate(case.table, restriction)
    assert (exact.label, exact.error) == (rate, mass * rate * (1 - rate))
    assert leaf.label == float(rate)
    assert leaf.error == pytest.approx(float(exact.error), rel=1e-14)
    assert exact.misclassified(0.25) == mass * (rate * (1 - rate) + (rate - Fraction(1, 4)) ** 2)
    assert exact.misclassified(float(rate)) == exact.error


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=30)
@given(case=noisy_cases(), ties=st.sampled_from(DECIDED))
def test_trees_are_those_of_the_slow_loops(rule, ties, case):
    expected = reference.grow(
        case.table, reference.PRIORITIES[rule], SIZE, "squared", ties, reference.ahead(rule)
    )
    growth = RULES[rule](ties=ties).grow(squared_problem(case), SIZE)
    for size, structure in enumerate(expected):
        tree = put_means(case.table, structure)
        assert nested(growth.tree(size)) == as_floats(tree)
        assert growth.exact_errors[size] == squared_error(case.table, tree)
        assert growth.errors[size] == pytest.approx(float(growth.exact_errors[size]), abs=1e-14)


@settings(max_examples=60)
@given(case=noisy_cases(max_variables=3))
def test_optimal_trees(case):
    problem, expected = squared_problem(case), least_squared_errors(case.table, 4)
    exact = mt.optimal_trees(problem, 4, exact=True)
    assert exact.errors.tolist() == expected
    rounded = mt.optimal_trees(problem, 4)
    assert rounded.errors.tolist() == pytest.approx([float(e) for e in expected], abs=1e-15)
    for size in range(5):
        smallest = next(number for number in range(5) if expected[number] == expected[size])
        for solved in (exact, rounded):
            tree = solved.tree(size)
            assert tree.size == smallest  # no split that does not help
            assert tree.error(problem, exact=True) == expected[size]
            assert squared_error(case.table, nested(tree)) == pytest.approx(
                float(expected[size]), abs=1e-15
            )
            assert all(isinstance(tree.labels[leaf], float) for leaf in tree.leaves)


@settings(max_examples=30)
@given(case=noisy_cases(max_variables=3), rule=st.sampled_from(list(RULES)))
def test_mic_is_the_mean_excess(case, rule):
    problem, grower = squared_problem(case), RULES[rule]()
    result = mt.mic(grower, problem, max_size=4, exact=True)
    growth = grower.grow(problem, 4)
    excess = [
        greedy - least
        for greedy, least in zip(
            growth.exact_errors, least_squared_errors(case.table, 4), strict=True
        )
    ]
    assert result.mic == sum(excess[1:], Fraction(0)) / 4
    assert mt.mic(grower, problem, max_size=4).mic == pytest.approx(float(result.mic), abs=1e-14)


@settings(max_examples=50)
@given(case=noisy_cases())
def test_the_best_trees_are_those_of_gini(case):
    """On 0/1 labels squared error is half of Gini's impurity, noisy or not."""
    problem = squared_problem(case)
    growth = mt.TopDown().grow(problem, SIZE)
    gini = mt.TopDown(criterion="gini").grow(case.problem, SIZE)
    assert [step.variable for step in growth.steps] == [step.variable for step in gini.steps]
    impurity = [gini.tree(size).impurity(case.problem, "gini") / 2 for size in range(SIZE + 1)]
    assert growth.errors.tolist() == pytest.approx(impurity, abs=1e-14)
    squared, errors = (mt.optimal_errors(each, SIZE) for each in (problem, case.problem))
    assert (squared <= errors + 1e-15).all()  # q (1 - q) <= min(q, 1 - q)


@settings(max_examples=30)
@given(case=noisy_cases(max_variables=3))
def test_top_splits_are_those_of_gini(case):
    problem = squared_problem(case)
    free = mt.optimal_errors(problem, 4, exact=True).tolist()
    every = mt.optimal_errors(problem, 4, exact=True, top=3, criterion="gini").tolist()
    assert every == free
    first = mt.optimal_errors(problem, 4, top=1, criterion="gini")
    greedy = mt.TopDown().grow(problem, 4).errors
    assert (first <= greedy + 1e-15).all()
    assert (first >= np.array(free, dtype=float) - 1e-15).all()
    best = mt.mic(mt.TopDown(), problem, max_size=4, top=1)
    assert best.optimal_errors.tolist() == first.tolist()
    assert mt.mic_over_tops(problem, 3, criterion="gini").mic[-1] == pytest.approx(0, abs=1e-14)


def test_denominators_beyond_64_bits():
    """Masses without a small common multiple are Fractions in the program."""
    random = np.random.default_rng(3)
    parts = random.integers(1, 10**6, 8).tolist()
    chances = [Fraction(part, sum(parts)) for part in parts]
    labels = [Fraction(int(number), 997) for number in random.integers(0, 998, 8)]
    table = reference.Table(NAMES[:3], tuple(labels), tuple(chances))
    problem = squared_problem(TableCase(table))
    expected = least_squared_errors(table, 4)
    assert mt.optimal_errors(problem, 4, exact=True).tolist() == expected
    assert mt.optimal_errors(problem, 4) == pytest.approx([float(e) for e in expected], rel=1e-12)
    assert mt.optimal_tree(problem, 4).error(problem, exact=True) == expected[4]


def test_expressions_and_functions():
    problem = mt.TableProblem.from_formula("a & b | c", bias=0.3, noise=0.1, loss="squared")
    noisy = lambda a, b, c: Fraction(9, 10) if a & b | c else Fraction(1, 10)  # noqa: E731
    same = mt.TableProblem.from_function(noisy, ["a", "b", "c"], bias=0.3, loss="squared")
    assert (
        mt.optimal_errors(problem, 3, exact=True).tolist()
        == mt.optimal_errors(same, 3, exact=True).tolist()
    )
    assert mt.optimal_errors(problem, 3, exact=True)[3] == Fraction(9, 100)  # 0.1 * 0.9 is left
    assert mt.TopDown().grow(problem, 7).errors[-1] == pytest.approx(0.09)
    assert repr(problem) == "TableProblem(8 rows, variables=['a', 'b', 'c'], loss='squared')"


def test_a_split_that_rounding_makes_better_is_not_made():
    """z and w are irrelevant: a test of them changes the float error by rounding alone."""
    bias = dict.fromkeys("abcd", 0.5) | {"z": 0.3, "w": 0.1}
    problem = mt.TableProblem.from_formula(
        "a & (b ^ c) | ~a & d", bias=bias, noise=0.3, loss="squared"
    )
    exact, rounded = (mt.optimal_trees(problem, 6, exact=each) for each in (True, False))
    for size in range(7):
        tree = rounded.tree(size)
        assert tree.size == exact.tree(size).size
        assert not {tree.variables[test] for test in tree.tests if test >= 0} & {"z", "w"}


def test_an_xor_needs_two_splits():
    problem = mt.TableProblem([0, 1, 1, 0], loss="squared")
    assert mt.optimal_errors(problem, 3).tolist() == [0.25, 0.25, 0.125, 0.0]
    assert mt.optimal_tree(problem, 1).size == 0
    assert mt.TopDown().grow(problem, 3).errors.tolist() == [0.25, 0.25, 0.125, 0.0]
    assert math.isclose(mt.mic(mt.TopDown(), problem, max_size=3).mic, 0.0)


def test_what_is_refused():
    for loss in ("absolute", True, ["squared"]):
        with pytest.raises(
            ValueError, match=re.escape(f'loss must be None or "squared"; got {loss!r}')
        ):
            mt.TableProblem([0, 1], loss=loss)  # type: ignore[arg-type]
    problem = mt.TableProblem.from_formula("a & b | c", loss="squared")
    with pytest.raises(ValueError, match="grown by the drop in squared error; leave the criterion"):
        mt.TopDown(criterion="entropy").grow(problem, 2)
    words = re.escape("those of criterion=\"gini\"; got top=1, criterion='entropy'")
    with pytest.raises(ValueError, match=words):
        mt.optimal_errors(problem, 2, top=1)
    with pytest.raises(ValueError, match="labels must be 0 or 1, or probabilities between them"):
        mt.TableProblem([0, 2.5], loss="squared")
    with pytest.raises(ValueError, match="forest_errors counts votes of classes"):
        mt.forest_errors(problem, mt.TopDown(), 3, 2, 1, 0)
    with pytest.raises(ValueError, match="a sweep goes through a family"):
        mt.sweep(problem, max_size=2)  # type: ignore[arg-type]
