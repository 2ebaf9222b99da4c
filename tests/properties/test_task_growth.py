"""Growth for costs, actions and numbers, against the plain learner of the reference."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.growers.rules import RULES
from mictree.impurity import CRITERIA
from mictree.problems.sample import Limits
from tests.reference import PRIORITIES, ahead, task_samples
from tests.reference.task_samples import as_written
from tests.strategies import TaskCase, nested, samples, task_cases

TIES = ["last", "first", "heaviest", "lightest"]
SIZE = 5
IMPLIED = {"matrix": "entropy", "costs": "minority", "squared": "squared"}


def as_floats(tree):
    """A tree of the reference with numbers as mictree has them."""
    if isinstance(tree, tuple):
        return (tree[0], *map(as_floats, tree[1:]))
    return tree if isinstance(tree, int) else float(tree)


def check_growth(case: TaskCase, rule, criterion, ties, limits=None, **settings):
    """mictree's trees are the reference's, and so are the errors, to the last digit if exact."""
    grower = RULES[rule](criterion=criterion, ties=ties)
    growth = grower.grow(case.problem(limits=limits), SIZE)
    expected = task_samples.grow(
        case.rows, case.task, PRIORITIES[rule], criterion or IMPLIED[case.kind], ties, SIZE,
        ahead=ahead(rule), **settings,
    )  # fmt: skip
    assert [step.leaf for step in growth.steps] == expected.leaves[:SIZE]
    assert growth.exact_errors == expected.errors
    assert growth.errors.tolist() == pytest.approx([float(e) for e in expected.errors], abs=1e-12)
    trees = [nested(growth.tree(size)) for size in range(SIZE + 1)]
    assert same(trees, [*map(as_floats, expected.trees)])
    for size in range(SIZE + 1):
        assert growth.tree(size).error(growth.problem, exact=True) == expected.errors[size]


def same(one, other):
    """Whether trees have the same tests, and labels that differ by rounding at most."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other if isinstance(one, int | str) else one == pytest.approx(other, abs=1e-12)


@given(task_cases(), st.sampled_from(sorted(RULES)), st.sampled_from(TIES))
@settings(max_examples=300)
def test_growth_is_the_plain_learners(case, rule, ties):
    check_growth(case, rule, None, ties)


@given(task_cases("matrix"), st.sampled_from(sorted(RULES)), st.sampled_from(TIES),
       st.sampled_from(sorted(CRITERIA)))  # fmt: skip
@settings(max_examples=200)
def test_growth_by_any_criterion_is_the_plain_learners(case, rule, ties, criterion):
    check_growth(case, rule, criterion, ties)


@given(task_cases(), st.sampled_from(sorted(RULES)), st.integers(2, 5), st.integers(1, 3),
       st.integers(0, 3), st.sampled_from([0, 0.01, 0.2]))  # fmt: skip
@settings(max_examples=100)
def test_limits_are_the_plain_learners(case, rule, split, least, depth, min_gain):
    criterion = "minority" if case.kind == "matrix" else None
    limits = Limits(split, least, depth, min_gain)
    check_growth(
        case, rule, criterion, "last", limits,
        split=split, least=least, depth=depth, min_gain=min_gain,
    )  # fmt: skip


def grown(case: TaskCase, rule="topdown", criterion=None, **given):
    return RULES[rule](criterion=criterion).grow(case.problem(**given), SIZE)


def splits_of(growth):
    return [(step.leaf, step.variable, step.threshold) for step in growth.steps]


@given(task_cases("costs"), st.sampled_from(sorted(RULES)), st.data())
def test_a_constant_for_a_row_changes_no_tree(case, rule, data):
    constants = [data.draw(st.integers(-40, 40)) / 10 for _ in case.rows]
    more = case.with_given(
        [
            [float(as_written(float(cost)) + as_written(more)) for cost in row]
            for row, more in zip(case.given, constants, strict=True)
        ]
    )
    one, other = grown(case, rule), grown(more, rule)
    assert [one.tree(size) for size in range(SIZE + 1)] == [
        other.tree(size) for size in range(SIZE + 1)
    ]
    weights = [as_written(float(weight)) for weight in case.weights or [1] * len(constants)]
    pairs = zip(map(as_written, constants), weights, strict=True)
    mean = sum(constant * weight for constant, weight in pairs) / sum(weights)
    assert other.exact_errors == [error + mean for error in one.exact_errors]
    assert other.errors == pytest.approx(one.errors + float(mean), abs=1e-12)


def times_three(numbers):
    return [[float(3 * as_written(float(number))) for number in row] for row in numbers]


@given(task_cases(), st.sampled_from(sorted(RULES)))
def test_three_times_the_costs_give_the_same_trees(case, rule):
    if case.kind == "squared":
        (three,) = times_three([case.given])
    elif case.kind == "costs":
        three = times_three(case.given)
    else:
        three = (case.given[0], times_three(case.given[1]))
    one, other = grown(case, rule), grown(case.with_given(three), rule)
    assert splits_of(one) == splits_of(other)
    times = 9 if case.kind == "squared" else 3
    assert [times * error for error in one.exact_errors] == other.exact_errors
    if case.kind != "squared":
        assert one.labels == other.labels


@given(samples(), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CRITERIA)))
def test_costs_of_zero_and_one_are_errors(case, rule, criterion):
    rows, labels, weights = case
    grower, X = RULES[rule](criterion=criterion), np.array(rows, float)
    plain = mt.SampleProblem(X, labels, weights)
    expected = grower.grow(plain, SIZE)
    ones = 1 - np.eye(len(plain.classes))
    costs = grower.grow(mt.SampleProblem(X, labels, weights, cost_matrix=ones), SIZE)
    assert costs.tree(SIZE) == expected.tree(SIZE)
    assert costs.exact_errors == expected.exact_errors
    assert costs.errors.tolist() == pytest.approx(expected.errors.tolist(), abs=1e-15)
    if criterion == "minority":
        by_row = ones[np.searchsorted(plain.classes, labels)]
        policy = grower.grow(mt.SampleProblem(X, costs=by_row, sample_weight=weights), SIZE)
        assert policy.tree(SIZE) == expected.tree(SIZE)
        assert policy.exact_errors == expected.exact_errors


@given(task_cases("matrix"), st.sampled_from(sorted(RULES)))
def test_a_matrix_is_costs_by_row(case, rule):
    labels, matrix = case.given
    costs = TaskCase("costs", case.rows, [matrix[label] for label in labels], case.weights)
    one, other = grown(case, rule, "minority"), grown(costs, rule)
    assert one.tree(SIZE) == other.tree(SIZE)
    assert one.exact_errors == other.exact_errors


@given(task_cases("squared"), st.sampled_from(["topdown", "bestfirst", "id3", "lookahead"]))
def test_two_numbers_are_grown_by_gini(case, rule):
    labels = [int(number > 0) for number in case.given]
    squared = grown(case.with_given(labels), rule)
    gini = RULES[rule](criterion="gini").grow(
        mt.SampleProblem(case.table, labels, case.weights), SIZE
    )
    assert splits_of(squared) == splits_of(gini)
    impurities = [gini.tree(size).impurity(gini.problem, "gini") for size in range(SIZE + 1)]
    assert 2 * squared.errors == pytest.approx(impurities, abs=1e-12)


@given(task_cases("matrix"), st.data())
def test_class_weights_multiply_the_weights_of_rows(case, data):
    labels, matrix = case.given
    factors = [data.draw(st.sampled_from([0.5, 1, 3])) for _ in matrix]
    for criterion in ("minority", "entropy"):
        one = grown(case, criterion=criterion, class_weight=factors)
        weights = [factors[label] for label in labels]
        weights = np.multiply(weights, case.weights or 1).tolist()
        weighted = TaskCase("matrix", case.rows, case.given, weights)
        other = grown(weighted, criterion=criterion)
        if case.weights is None or all(float(weight).is_integer() for weight in case.weights):
            assert one.tree(SIZE) == other.tree(SIZE)
            assert one.exact_errors == other.exact_errors


@given(task_cases("squared"))
def test_fractions_are_numbers_too(case):
    thirds = [Fraction(as_written(float(number))) / 3 for number in case.given]
    given_so = TaskCase("squared", case.rows, thirds, case.weights)
    check_growth(given_so, "topdown", None, "last")
    decimals = [Decimal(str(number)) for number in case.given]
    problem = case.problem(y=decimals)
    assert mt.TopDown().grow(problem, SIZE).exact_errors == grown(case).exact_errors


@given(task_cases(most_rows=6), st.sampled_from(["topdown", "id3"]))
def test_numbers_that_floats_round_change_little(case, rule):
    """Measured numbers: whatever is chosen, the errors are those of the trees."""
    scale = 0.123456789012345678
    if case.kind == "squared":
        case = case.with_given([scale * number for number in case.given])
    elif case.kind == "costs":
        case = case.with_given([[scale * cost for cost in row] for row in case.given])
    else:
        case = case.with_given((case.given[0], [[scale * c for c in row] for row in case.given[1]]))
    growth = grown(case, rule, "minority" if case.kind == "matrix" else None)
    for size in range(SIZE + 1):
        tree = growth.tree(size)
        assert tree.error(growth.problem, exact=True) == growth.exact_errors[size]
        assert float(growth.exact_errors[size]) == pytest.approx(growth.errors[size], abs=1e-14)
        assert tree.error(growth.problem) == pytest.approx(growth.errors[size], abs=1e-14)
        answers = growth.problem.literals.transform(case.table, tree)
        exact = task_samples.mean_cost(case.task, tree.predict(answers).tolist())
        assert float(exact) == pytest.approx(growth.errors[size], abs=1e-14)
