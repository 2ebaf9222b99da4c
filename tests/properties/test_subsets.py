"""Sets of categories as tests, against the enumeration of all sets in the reference."""

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.growers import loop
from mictree.growers.rules import RULES
from mictree.impurity import CRITERIA
from mictree.optimal import subsets as listed
from mictree.problems.sample import Limits
from tests.reference import PRIORITIES, subset_samples, task_samples
from tests.strategies import NUMBERS, WEIGHTS, TaskCase

SIZE = 4
TOWNS = [None, "A", "B", "C", "D", "E"]
TIES = ["last", "first", "heaviest", "lightest", "random"]
RULES_OF_ONE_SPLIT = ["bestfirst", "id3", "topdown"]
IMPLIED = {"matrix": "minority", "costs": "minority", "squared": "squared"}
CELLS = {
    "town": st.sampled_from(TOWNS[1:]),
    "gaps": st.sampled_from(TOWNS),
    "pair": st.sampled_from(["u", "v"]),
    "bit": st.integers(0, 1),
    "number": st.integers(0, 3),
}


@st.composite
def cases(draw, task: str | None = None, least_rows: int = 2, most_rows: int = 10):
    """Rows with at least one column of texts, and a task."""
    count = draw(st.integers(least_rows, most_rows))
    others = draw(st.lists(st.sampled_from(sorted(CELLS)), max_size=2))
    columns = draw(st.permutations([draw(st.sampled_from(["town", "gaps"])), *others]))
    rows = [[draw(CELLS[kind]) for kind in columns] for _ in range(count)]
    one = draw(st.sampled_from([None, *WEIGHTS]))
    weights = None if one is None else draw(st.lists(one, min_size=count, max_size=count))
    task = task or draw(st.sampled_from(["matrix", "costs", "squared"]))
    if task == "squared":
        number = draw(st.sampled_from(NUMBERS))
        return TaskCase(task, rows, draw(st.lists(number, min_size=count, max_size=count)), weights)
    if task == "costs":
        several = st.lists(st.integers(0, 6), min_size=2, max_size=4)
        first = draw(several)
        same = st.lists(st.integers(0, 6), min_size=len(first), max_size=len(first))
        rest = draw(st.lists(same, min_size=count - 1, max_size=count - 1))
        return TaskCase(task, rows, [first, *rest], weights)
    classes = draw(st.integers(2, 4))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
    labels = [sorted(set(labels)).index(label) for label in labels]
    several = max(2, len(set(labels)))
    matrix = [[int(one != other) for other in range(several)] for one in range(several)]
    return TaskCase(task, rows, (labels, matrix), weights)


def as_frame(rows):
    """Columns of texts as texts, even if all are missing."""
    columns = list(zip(*rows, strict=True))
    return pl.DataFrame({f"x{number}": column for number, column in enumerate(columns)})


def problem_of(case, **given):
    arguments = case.arguments | given
    if case.kind == "matrix":
        arguments = {key: value for key, value in arguments.items() if key != "cost_matrix"}
    return mt.SampleProblem(as_frame(case.rows), categories="subsets", **arguments)


def steps_of(growth):
    return [(step.leaf, step.variable, step.gain) for step in growth.steps]


def check(case, rule, criterion, ties="last", limits=None, **given):
    """Growth is the reference's, whatever ties choose; errors are those of its trees."""
    seed = 7 if ties == "random" else None
    problem = problem_of(case, limits=limits)
    grown = RULES[rule](criterion=criterion, ties=ties, seed=seed).grow(problem, SIZE)
    wrong = subset_samples.check_growth(
        case.rows, case.task, PRIORITIES[rule], criterion or IMPLIED[case.kind], steps_of(grown),
        SIZE, **given,
    )  # fmt: skip
    assert not wrong
    for size in range(SIZE + 1):
        assert grown.tree(size).error(problem) == pytest.approx(grown.errors[size], abs=1e-12)
    return grown


@given(cases("matrix"), st.sampled_from(RULES_OF_ONE_SPLIT), st.sampled_from(TIES),
       st.sampled_from(sorted(CRITERIA)))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_no_set_gains_more_for_classes(case, rule, ties, criterion):
    check(case, rule, criterion, ties)


@given(st.one_of(cases("costs"), cases("squared")), st.sampled_from(RULES_OF_ONE_SPLIT),
       st.sampled_from(TIES))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_no_set_gains_more_for_costs_and_numbers(case, rule, ties):
    check(case, rule, None, ties)


@given(cases(), st.integers(1, 4), st.sampled_from([0.0, 0.213, 0.371]))
@settings(max_examples=150, deadline=None)
def test_limits_on_leaves_leave_the_best_set_that_they_allow(case, least, share):
    limits = Limits(min_samples_leaf=least, min_weight_fraction_leaf=share)
    criterion = "gini" if case.kind == "matrix" else None
    check(case, "topdown", criterion, limits=limits, least=least, lightest=share)


@given(cases(), st.sampled_from(TIES))
@settings(max_examples=80, deadline=None)
def test_the_loop_for_any_problem_grows_the_same(case, ties):
    criterion = "entropy" if case.kind == "matrix" else None
    rule = mt.TopDown(criterion=criterion, ties=ties, seed=3 if ties == "random" else None)
    one, other = rule.grow(problem_of(case), SIZE), loop.grow_any(rule, problem_of(case), SIZE)
    assert [step[:2] for step in steps_of(one)] == [step[:2] for step in steps_of(other)]
    assert one.tree(SIZE) == other.tree(SIZE)


def table_of(counts):
    """Rows with a text and a label from (rows, positives) of each text."""
    rows = [[chr(65 + place)] for place, (total, _) in enumerate(counts) for _ in range(total)]
    labels = [int(row < positive) for total, positive in counts for row in range(total)]
    return rows, labels


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_the_order_of_rates_has_a_best_set_of_two_classes(criterion):
    draws = np.random.default_rng(34)
    for _ in range(140):  # of each of four criteria; in a few, all labels are equal
        totals = draws.integers(1, 9, draws.integers(2, 7)).tolist()
        counts = [(total, int(draws.integers(0, total + 1))) for total in totals]
        rows, labels = table_of(counts)
        if len(set(labels)) < 2:
            continue
        problem = mt.SampleProblem(as_frame(rows), labels, categories="subsets")
        grown = mt.TopDown(criterion=criterion).grow(problem, 1)
        task = task_samples.zero_one(labels, [1] * len(labels))
        best = subset_samples.best_division(rows, task, 0, criterion)
        assert grown.steps[0].gain == pytest.approx(float(best), rel=1e-9, abs=1e-15)


def test_limits_may_forbid_all_cuts_in_order_but_not_all_sets():
    rows, labels = table_of([(2, 2), (1, 0), (2, 1), (5, 4)])
    problem = mt.SampleProblem(
        as_frame(rows), labels, categories="subsets", limits=Limits(min_samples_leaf=4)
    )
    grown = mt.TopDown().grow(problem, 1)
    task = task_samples.zero_one(labels, [1] * len(labels))
    best = subset_samples.best_division(rows, task, 0, "entropy", least=4)
    assert grown.steps[0].gain == pytest.approx(float(best))
    assert grown.steps[0].gain > 0


@pytest.mark.parametrize("kind", ["classes", "costs", "squared"])
def test_more_than_ten_categories_of_several_classes_are_a_heuristic_no_worse_than_each(kind):
    draws = np.random.default_rng(5)
    names = np.array([f"t{number:02d}" for number in range(14)])
    for _ in range(20):
        towns = np.concatenate([names, draws.choice(names, 60)])
        X, labels = pl.DataFrame({"town": towns}), draws.integers(0, 3, 74)
        arguments = {"y": labels} if kind == "classes" else {"y": labels * 1.5, "loss": "squared"}
        if kind == "costs":
            arguments = {"costs": draws.integers(0, 9, (74, 4))}
        sets = mt.TopDown().grow(mt.SampleProblem(X, categories="subsets", **arguments), 1)
        each = mt.TopDown().grow(mt.SampleProblem(X, **arguments), 1)
        assert sets.steps[0].gain >= each.steps[0].gain * (1 - 1e-12)


def own(rate):
    return rate * (1 - rate) * (1.5 + math.sin(25 * rate))  # far from concave


def test_the_order_of_differences_has_a_best_set_of_two_actions():
    draws = np.random.default_rng(9)
    for _ in range(40):
        towns = draws.integers(0, 5, 12)
        rows, costs = [[chr(65 + town)] for town in towns], draws.integers(0, 9, (12, 2)).tolist()
        task = task_samples.Actions(costs, [1] * 12)
        best = subset_samples.best_division(rows, task, 0, "minority")
        problem = mt.SampleProblem(as_frame(rows), costs=costs, categories="subsets")
        grown = mt.TopDown("minority").grow(problem, 1)
        assert grown.steps[0].gain == pytest.approx(float(best), abs=1e-12)


def test_the_order_is_not_trusted_with_a_criterion_of_ones_own():
    draws = np.random.default_rng(12)
    for _ in range(30):
        totals = draws.integers(1, 6, 6).tolist()
        counts = [(total, int(draws.integers(0, total + 1))) for total in totals]
        rows, labels = table_of(counts)
        problem = mt.SampleProblem(as_frame(rows), labels, categories="subsets")
        gains, whole = [], np.bincount(labels, minlength=2).astype(float)
        for _, low, high in subset_samples.divisions(rows, tuple(range(len(rows))), 0):
            sides = [
                np.bincount([labels[row] for row in side], minlength=2) for side in (low, high)
            ]
            gains.append(
                impurity_of(whole) - sum(s.sum() / len(rows) * impurity_of(s) for s in sides)
            )
        grown = mt.TopDown(criterion=own).grow(problem, 1)
        if 0 < whole[1] < len(rows) and max(gains) > 0:
            assert grown.steps[0].gain == pytest.approx(max(gains), abs=1e-12)


@given(cases("matrix", most_rows=8))
@settings(max_examples=30, deadline=None)
def test_a_criterion_of_ones_own_is_enumerated(case):
    problem = problem_of(case)
    grown = mt.TopDown(criterion=own).grow(problem, 1)
    leaf = problem.root()
    gains = []
    for low, high in subset_samples.tests(case.rows, tuple(range(len(case.rows)))).values():
        parts = []
        for part in (low, high):
            shares = np.zeros(len(problem.classes))
            for row in part:
                shares[case.given[0][row]] += (case.weights or [1] * len(case.rows))[row]
            parts.append(shares)
        total = sum(parts)
        drop = impurity_of(total) - sum(
            part.sum() / total.sum() * impurity_of(part) for part in parts
        )
        gains.append(drop)
    if grown.steps:
        assert not leaf.pure
        assert grown.steps[0].gain == pytest.approx(max(0.0, *gains), abs=1e-12)


def impurity_of(masses):
    shares = masses / masses.sum()
    if len(shares) == 2:
        return own(float(shares[1]))
    return sum(own(float(share)) for share in shares) / 2


def test_a_criterion_of_ones_own_on_too_many_categories_is_refused():
    towns = [f"t{number}" for number in range(11)] * 2
    problem = mt.SampleProblem(pl.DataFrame({"town": towns}), [0, 1] * 11, categories="subsets")
    with pytest.raises(ValueError, match="at most 10 categories, missing values counted; town has"):
        mt.TopDown(criterion=own).grow(problem, 1)


@given(cases(most_rows=9), st.sampled_from([None, 1, 2]))
@settings(max_examples=80, deadline=None)
def test_optimal_trees_are_the_best_of_all_sets(case, depth):
    problem = problem_of(case)
    solved = mt.optimal_trees(problem, 3, exact=True, max_depth=depth)
    expected = subset_samples.least_errors(case.rows, case.task, 3, depth)
    assert solved.errors.tolist() == expected
    assert solved.errors.proved.all()
    for size in range(4):
        tree = solved.tree(size)
        assert tree.error(problem, exact=True) == expected[size]
        if depth is not None:
            assert tree.depth <= depth


@given(cases(most_rows=9), st.sampled_from([0, 2, 3]))
@settings(max_examples=60, deadline=None)
def test_intervals_of_large_columns_hold_the_least_error(case, most):
    problem = problem_of(case)
    grouped = problem.literals.grouped
    with mock.patch.object(listed, "MOST_CELLS", most):
        errors = mt.optimal_errors(problem, 4)
        large = [each for each in grouped if problem.literals.columns[each].cells > most]
        listing = listed.Listing.of(problem, 2**30)
    expected = [float(each) for each in subset_samples.least_errors(case.rows, case.task, 4)]
    slack = 1e-12 * max(1.0, *map(abs, expected))
    if large:
        bounds = listed.Relaxation(problem, listing, large).bounds(4, 60.0)
        assert np.all(bounds <= np.array(expected) + slack)
    assert np.all(errors.lower <= np.array(expected) + slack)
    assert np.all(errors.upper >= np.array(expected) - slack)
    assert np.all(errors.proved[:2])
    assert np.all(np.diff(errors.lower) <= slack)


def test_an_interval_of_a_column_of_twenty_towns():
    draws = np.random.default_rng(2)
    town, other = draws.integers(0, 20, 400), draws.integers(0, 2, (400, 3))
    y = np.where(np.isin(town, [2, 3, 5, 7, 11, 13, 17]), other[:, 0], other[:, 1])
    X = pl.DataFrame({"town": [f"t{each:02d}" for each in town]} | {
        f"bit{number}": other[:, number] for number in range(3)})  # fmt: skip
    model = mt.OptimalTreeClassifier(3, categories="subsets").fit(X, y ^ (draws.random(400) < 0.02))
    errors = model.frontier_
    assert np.all(errors.lower <= errors.upper)
    assert errors.proved[1]
    assert errors.proved[3]
    assert errors.certificate.tolist()[2] == "relaxation"
    assert errors.lower[2] > 0
    assert model.score(X, y) > 0.97
    with (
        mock.patch.object(listed.Listing, "of") as searched,
        pytest.raises(ValueError, match="exact errors need columns of at most 12 categories"),
    ):
        mt.optimal_errors(mt.SampleProblem(X, y, categories="subsets"), 2, exact=True)
    searched.assert_not_called()  # it would take long


@given(cases(most_rows=14))
@settings(max_examples=60, deadline=None)
def test_sets_never_make_optimal_trees_worse(case):
    sets = mt.optimal_errors(problem_of(case), 3, exact=True)
    arguments = {key: value for key, value in case.arguments.items() if key != "cost_matrix"}
    if case.kind != "matrix":
        arguments = case.arguments
    each = mt.optimal_errors(mt.SampleProblem(as_frame(case.rows), **arguments), 3, exact=True)
    assert sets.proved.all()
    assert each.proved.all()
    assert all(one <= other for one, other in zip(sets.tolist(), each.tolist(), strict=True))


@given(cases(most_rows=10))
@settings(max_examples=60, deadline=None)
def test_tests_of_optimal_trees_are_named_by_the_rows_of_their_nodes(case):
    tree = mt.optimal_tree(problem_of(case), 3)
    waiting = [(0, tuple(range(len(case.rows))))]
    while waiting:
        node, inside = waiting.pop()
        if tree.tests[node] >= 0:
            name = tree.variables[tree.tests[node]]
            low, high = subset_samples.tests(case.rows, inside)[name]
            waiting += [(tree.low[node], low), (tree.high[node], high)]


def errors_by_order(rows, labels, inside, depth):
    """The fewest errors of trees whose nodes cut each column in an order of its own rates."""
    wrong = sum(labels[row] for row in inside)
    best = min(wrong, len(inside) - wrong)
    for column in range(len(rows[0])) if depth else ():
        cells = sorted({rows[row][column] for row in inside})
        rate = {}
        for cell in cells:
            held = [labels[row] for row in inside if rows[row][column] == cell]
            rate[cell] = Fraction(sum(held), len(held))
        for size in range(1, len(cells)):
            for chosen in combinations(cells, size):
                others = [cell for cell in cells if cell not in chosen]
                if max(map(rate.get, chosen)) > min(map(rate.get, others)):
                    continue
                sides = [
                    [r for r in inside if (rows[r][column] in chosen) == side] for side in (0, 1)
                ]
                best = min(
                    best, sum(errors_by_order(rows, labels, side, depth - 1) for side in sides)
                )
    return best


def test_the_smallest_table_on_which_orders_of_rates_miss_the_best_tree():
    rows = [["A", "red"], ["A", "red"], ["A", "blue"], ["B", "red"], ["B", "green"], ["C", "blue"]]
    labels = [0, 0, 1, 1, 0, 0]
    tree = mt.optimal_tree(mt.SampleProblem(as_frame(rows), labels, categories="subsets"), 3)
    assert tree.depth == 2
    assert errors_by_order(rows, labels, range(6), 2) == 1
    assert tree.error(mt.SampleProblem(as_frame(rows), labels, categories="subsets")) == 0


def test_four_rows_of_two_columns_show_no_such_gap():
    types = [(*cells, label) for cells in product("ABC", "xyz") for label in (0, 1)]
    for table in combinations_with_replacement(types, 4):
        rows, labels = [list(each[:2]) for each in table], [each[2] for each in table]
        ordered = errors_by_order(rows, labels, range(4), 2)
        if ordered:
            task = task_samples.zero_one([*labels, 1], [1] * 5)
            task = task_samples.Matrix.of(labels, task.matrix, [1] * 4)
            assert subset_samples.least_errors(rows, task, 3, 2)[3] * 4 == ordered
