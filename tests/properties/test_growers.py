"""Growers grow, node for node, the trees of the slow loops in exact arithmetic."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.growers.rules import RULES, TIE_TOLERANCE, TIES
from tests import reference
from tests.reference.splits import candidates
from tests.strategies import formula_cases, nested, table_cases

CRITERIA = ("entropy", "gini", "root", "minority")
DECIDED = tuple(ties for ties in TIES if ties != "random")
PAPER = ("topdown", "bestfirst", "id3")  # test_lookahead.py has the other one
MAX_SIZE = 7
# biases from two values and small tables make ties common
CASES = st.one_of(
    formula_cases(max_variables=5, most_distinct=2),
    formula_cases(max_variables=4),
    table_cases(max_variables=4),
)


def grown(growth: mt.Growth) -> list:
    return [nested(growth.tree(size)) for size in range(growth.max_size + 1)]


@pytest.mark.parametrize("rule", PAPER)
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=12)
@given(case=CASES)
def test_trees_are_those_of_the_slow_loops(rule, criterion, case):
    for ties in DECIDED:
        expected = reference.grow(case.table, rule, MAX_SIZE, criterion, ties)
        growth = RULES[rule](criterion=criterion, ties=ties).grow(case.problem, MAX_SIZE)
        assert grown(growth) == expected, ties


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(
    case=formula_cases(max_variables=5, most_distinct=2),
    criterion=st.sampled_from(CRITERIA),
    ties=st.sampled_from(DECIDED),
)
def test_a_formula_and_its_table_grow_the_same_trees(rule, criterion, ties, case):
    grower = RULES[rule](criterion=criterion, ties=ties)
    reference_growth = grower.grow(case.table_problem, 12)
    computed = grower.grow(case.problem, 12)
    assert grown(computed) == grown(reference_growth)
    np.testing.assert_allclose(computed.errors, reference_growth.errors, rtol=0, atol=1e-14)


@settings(max_examples=25)
@given(CASES)
def test_the_papers_loops_line_by_line(case):
    for size in (1, 3, 5):
        topdown = mt.TopDown().grow(case.problem, size).tree(size)
        assert nested(topdown) == reference.paper_topdown(case.table, size)
        best_first = mt.BestFirst().grow(case.problem, size).tree(size)
        assert nested(best_first) == reference.paper_best_first(case.table, size)


@given(CASES, st.sampled_from(list(RULES)), st.sampled_from(CRITERIA), st.sampled_from(TIES))
def test_errors_are_those_of_the_trees(case, rule, criterion, ties):
    growth = RULES[rule](criterion=criterion, ties=ties, seed=1).grow(case.problem, MAX_SIZE)
    assert growth.errors.dtype == float
    assert len(growth.errors) == len(growth.exact_errors) == MAX_SIZE + 1
    for size in range(MAX_SIZE + 1):
        tree = growth.tree(size)
        expected = reference.tree_error(case.table, nested(tree))
        assert growth.exact_errors[size] == expected == tree.error(case.problem, exact=True)
        assert growth.errors[size] == tree.error(case.problem)
        assert growth.errors[size] == pytest.approx(float(expected), abs=1e-14)
        assert tree.size <= size


@given(CASES, st.sampled_from(PAPER), st.sampled_from(CRITERIA))
def test_steps_tell_gains_and_reaches(case, rule, criterion):
    growth = RULES[rule](criterion=criterion).grow(case.problem, MAX_SIZE)
    for size, step in enumerate(growth.steps):
        assert step.gain >= 0
        assert step.weighted_gain == step.reach * step.gain
        before = growth.tree(size).impurity(case.problem, criterion)
        after = growth.tree(size + 1).impurity(case.problem, criterion)
        assert before - after == pytest.approx(step.weighted_gain, abs=1e-12)
    assert all(after <= before + 1e-15 for before, after in pairwise(growth.errors))


@given(CASES, st.sampled_from(list(RULES)))
def test_growth_ends_only_when_every_leaf_is_pure(case, rule):
    growth = RULES[rule]().grow(case.problem, 100)
    assert len(growth.steps) < 100
    assert growth.errors[-1] == growth.exact_errors[-1] == 0
    tree = growth.tree(100)
    assert tree.size == len(growth.steps)
    assert (growth.errors[tree.size :] == growth.errors[-1]).all()


@given(CASES, st.sampled_from(list(RULES)), st.integers(0, 3))
def test_a_smaller_limit_grows_the_beginning(case, rule, size):
    whole = RULES[rule]().grow(case.problem, MAX_SIZE)
    part = RULES[rule]().grow(case.problem, size)
    assert part.steps == whole.steps[:size]
    assert part.errors.tolist() == whole.errors[: size + 1].tolist()
    assert part.tree(size) == whole.tree(size)


@given(CASES, st.sampled_from(PAPER), st.sampled_from(CRITERIA), st.integers(0, 99))
def test_random_ties_are_seeded_and_legal(case, rule, criterion, seed):
    grower = RULES[rule](criterion=criterion, ties="random", seed=seed)
    growth = grower.grow(case.problem, 5)
    assert growth.steps == grower.grow(case.problem, 5).steps
    leaves = [()]  # in order of creation
    closed = set()
    for step in growth.steps:
        open_leaves = [n for n in range(len(leaves)) if n not in closed]
        best = best_priority(case.table, rule, [leaves[n] for n in open_leaves], criterion)
        path = leaves[step.leaf]
        assert step.leaf in open_leaves
        assert step.variable in candidates(case.table, path)
        largest = best_gain(case.table, path, criterion)
        chosen = reference.gain(case.table, path, step.variable, criterion)
        assert float(largest - chosen) <= TIE_TOLERANCE
        if rule == "id3":
            assert path == deepest_open(case.table, [leaves[n] for n in open_leaves])
        else:
            weight = reference.reach(case.table, dict(path)) if rule == "topdown" else 1
            assert float(weight) * float(chosen) == pytest.approx(best, rel=1e-9, abs=1e-9)
        closed.add(step.leaf)
        leaves += [(*path, (step.variable, 0)), (*path, (step.variable, 1))]


def best_gain(table, path, criterion):
    return max(reference.gain(table, path, name, criterion) for name in candidates(table, path))


def best_priority(table, rule, leaves, criterion):
    return max(
        float(best_gain(table, path, criterion))
        * (float(reference.reach(table, dict(path))) if rule == "topdown" else 1.0)
        for path in leaves
        if candidates(table, path)
    )


def deepest_open(table, leaves):
    """Depth first, low child before high child: the longest path, leftmost among equals."""
    splittable = [path for path in leaves if candidates(table, path)]
    depth = max(map(len, splittable))
    return min(path for path in splittable if len(path) == depth)


def test_labels_of_leaves_that_are_exactly_even():
    """Both labels are equally likely, so the label is 1, whatever the floats round to."""
    problem = mt.FormulaProblem("~a & ~b", {"a": Fraction(1, 12), "b": Fraction(5, 11)})
    assert problem.positive_rate({}, exact=True) == Fraction(1, 2)
    assert problem.root(exact=True).label == 1
    assert nested(mt.TopDown().grow(problem, 0).tree(0)) == 1


@pytest.mark.parametrize("above", [False, True])
def test_exact_errors_of_leaves_that_are_almost_even(above):
    tiny = Fraction(1, 10**20) if above else -Fraction(1, 10**20)
    growth = mt.TopDown().grow(mt.FormulaProblem("a", Fraction(1, 2) + tiny), 1)
    for size in (0, 1):
        exact = growth.tree(size).error(growth.problem, exact=True)
        assert growth.exact_errors[size] == exact


def test_random_ties_reach_every_tied_choice():
    problem = mt.FormulaProblem("a & b & c")
    chosen = {
        mt.TopDown(ties="random", seed=seed).grow(problem, 1).steps[0].variable
        for seed in range(40)
    }
    assert chosen == {"a", "b", "c"}


def test_an_impure_leaf_is_split_at_zero_gain():
    growth = mt.TopDown(ties="first").grow(mt.TableProblem([0, 1, 1, 0]), 3)
    assert growth.steps[0].gain == 0
    assert growth.steps[0].variable == "x1"
    np.testing.assert_array_equal(growth.errors, [0.5, 0.5, 0.25, 0])


@pytest.mark.parametrize("table", [[0], [1], [0, 0], [1] * 8])
def test_a_constant_function_has_nothing_to_split(table):
    growth = mt.TopDown().grow(mt.TableProblem(table), 3)
    assert growth.steps == ()
    assert growth.tree(3).size == 0
    np.testing.assert_array_equal(growth.errors, np.zeros(4))
