"""Optimal trees for costs, actions and numbers against every tree, and their own finished runs."""

import math
import signal
import sys
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree._support.jit import one_core
from mictree._support.progress import TimeLimit
from mictree.optimal import frontier as certified
from mictree.optimal import questions, sweep_scan, sweep_search
from mictree.optimal.costs import Numbers, bounds_of_numbers, cost_of_sums
from mictree.optimal.frontier import Frontier, Strategy
from mictree.optimal.ordered_rows import CostRows
from mictree.optimal.sweep_scan import LANES, LIVE, ONE, PLACE
from mictree.optimal.sweep_search import SweepEngine
from mictree.problems import tasks
from tests.clock import looked_at
from tests.reference import task_samples
from tests.strategies import TaskCase, task_cases

SIZE = 4


def check_solved(case: TaskCase, max_depth=None, size=SIZE):
    """The errors are the reference's to the last digit, and so are those of the trees."""
    problem = case.problem()
    expected = task_samples.least_errors(case.rows, case.task, size, max_depth)
    solved = mt.optimal_trees(problem, size, exact=True, max_depth=max_depth)
    assert solved.errors.tolist() == expected
    assert solved.errors.proved.all()
    floats = mt.optimal_errors(problem, size, max_depth=max_depth)
    assert floats.proved.all()
    assert floats.tolist() == [float(error) for error in expected]
    for number in range(size + 1):
        tree = solved.tree(number)
        assert tree.size <= number
        assert max_depth is None or tree.depth <= max_depth
        assert tree.error(problem, exact=True) == expected[number]


@given(task_cases(), st.sampled_from([None, None, 0, 1, 2, 3]), st.sampled_from([0, 12]))
@settings(max_examples=200)
def test_every_tree_is_beaten_or_met(case, max_depth, few):
    """By sweeps and, where there are few thresholds, otherwise."""
    with mock.patch.object(certified, "FEW_THRESHOLDS", few):
        check_solved(case, max_depth)


@given(task_cases(most_rows=11, kinds=("number", "gaps")), st.sampled_from([None, 3, 4]))
@settings(max_examples=60)
def test_more_splits(case, max_depth):
    """Questions go several levels deep; they are short, or put to all workers."""
    check_solved(case, max_depth, 6)
    with mock.patch.object(SweepEngine, "patience", ()):
        check_solved(case, max_depth, 6)


def some_problem(kind, rows=60, columns=3, seed=0, **more):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns)).round(2)
    rule = np.where(X[:, 0] > 0.3, 3, 0) + np.where(X[:, 1] * X[:, -1] > 0, 2, 0)
    if kind == "squared":
        return mt.SampleProblem(X, (rule + random.normal(size=rows)).round(1), loss=kind, **more)
    actions = int(kind)
    costs = 3 * (rule[:, None] % actions != range(actions))
    costs += random.integers(0, 9, (rows, actions))
    return mt.SampleProblem(X, costs=costs, **more)


KINDS = ["squared", "2", "3", "4", "6"]


def plain(problem, size, max_depth=None):
    """The least errors by the recurrence, each one-split and leaf cost in floats, for more rows."""
    ranks, weights, targets = problem.ranks, problem.row_weights(), problem.targets
    squared = targets.ndim == 1
    known: dict = {}

    def leaf(inside):
        if squared:
            mean = np.average(targets[inside], weights=weights[inside])
            return float((weights[inside] * (targets[inside] - mean) ** 2).sum())
        return float((weights[inside, None] * targets[inside]).sum(axis=0).min())

    def best(inside, size, depth):
        key = inside.tobytes(), size, depth
        if key not in known:
            found = leaf(inside)
            for column in ranks if size and depth else ():
                for rank in np.unique(column[inside])[:-1]:
                    low = inside & (column <= rank)
                    for part in range(size):
                        below = best(low, part, depth - 1)
                        if below < found:
                            rest = best(inside & ~low, size - 1 - part, depth - 1)
                            found = min(found, below + rest)
            known[key] = found
        return known[key]

    everything = np.ones(len(weights), dtype=bool)
    depth = size if max_depth is None else max_depth
    return [
        best(everything, splits, depth) / weights.sum() + problem.offset
        for splits in range(size + 1)
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_more_tests_than_are_swept_at_once(kind, seed):
    random = np.random.default_rng(seed)
    weights = random.integers(1, 4, 26) / (2 if seed else 1)
    problem = some_problem(kind, 26, 2, seed, sample_weight=weights)
    found = mt.optimal_errors(problem, 3)
    assert found.proved.all()
    assert found.tolist() == pytest.approx(plain(problem, 3), rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_and_depths_agree(kind):
    """A larger limit of depth is none, and neither order nor copies of columns change errors."""
    problem = some_problem(kind, seed=5)
    errors = mt.optimal_errors(problem, 4)
    assert errors.proved.all()
    deep = mt.optimal_errors(problem, 4, max_depth=4)
    np.testing.assert_array_equal(errors, deep)
    shallow = mt.optimal_errors(problem, 4, max_depth=2)
    assert np.all(shallow >= errors.upper)
    with mock.patch.object(SweepEngine, "patience", (1, 1)), one_core():
        np.testing.assert_array_equal(mt.optimal_errors(problem, 4), errors)
    small = mock.patch.multiple(questions, usable_cores=lambda: 8, ALONE=0.0, SMALLEST_TABLE=64)
    with mock.patch.object(SweepEngine, "patience", (1, 1)), small:
        np.testing.assert_array_equal(mt.optimal_errors(problem, 4), errors)


@pytest.mark.parametrize("swept", [False, True])
def test_a_matrix_of_zeros_and_ones_is_classification(swept):
    random = np.random.default_rng(2)
    X, y = random.integers(0, 6, (80, 4)).astype(float), random.integers(0, 3, 80)
    plain_errors = mt.optimal_trees(mt.SampleProblem(X, y), 5, exact=True)
    with mock.patch.object(certified, "FEW_THRESHOLDS", 0 if swept else 99):
        for labels in (y, y % 2):
            classes = labels.max() + 1
            whole = mt.SampleProblem(X, labels)
            matrix = mt.SampleProblem(X, labels, cost_matrix=1 - np.eye(classes))
            costs = mt.SampleProblem(X, costs=(labels[:, None] != range(classes)).astype(float))
            expected = mt.optimal_trees(whole, 5, exact=True)
            for problem in (matrix, costs):
                found = mt.optimal_trees(problem, 5, exact=True)
                assert found.errors.tolist() == expected.errors.tolist()
                for size in range(6):
                    assert found.tree(size).error(whole, exact=True) == expected.errors[size]
    assert plain_errors.errors.proved.all()


@given(task_cases("costs"))
@settings(max_examples=40)
def test_costs_times_three_and_constants(case):
    """Errors are three times as large; a constant added to a row changes no tree."""
    costs = np.array(case.given, dtype=float).reshape(len(case.rows), -1)
    weights = case.weights or [1] * len(case.rows)
    more = np.arange(len(costs)) % 5 - 2
    given = mt.optimal_trees(case.problem(), SIZE, exact=True)
    threefold = [[3 * cost for cost in row] for row in case.given]
    larger = mt.optimal_trees(case.with_given(threefold).problem(), SIZE, exact=True)
    moved = (costs + more[:, None]).round(3).tolist()
    other = mt.optimal_trees(case.with_given(moved).problem(), SIZE, exact=True)
    exact = [task_samples.as_written(weight) for weight in weights]
    mean = sum(w * int(m) for w, m in zip(exact, more, strict=True)) / sum(exact)
    if (costs * 10 == (costs * 10).round()).all():  # times 3 as written
        written = [3 * task_samples.as_written(cost) for row in case.given for cost in row]
        if written == [task_samples.as_written(cost) for row in threefold for cost in row]:
            assert larger.errors.tolist() == [3 * error for error in given.errors]
            assert [larger.tree(size) for size in range(SIZE + 1)] == [
                given.tree(size) for size in range(SIZE + 1)
            ]
    assert other.errors.tolist() == [error + mean for error in given.errors]
    assert [other.tree(size) for size in range(SIZE + 1)] == [
        given.tree(size) for size in range(SIZE + 1)
    ]


def test_numbers_of_zero_and_one_are_half_the_gini_impurity():
    random = np.random.default_rng(3)
    X, y = random.integers(0, 5, (50, 3)).astype(float), random.integers(0, 2, 50)
    solved = mt.optimal_trees(mt.SampleProblem(X, y, loss="squared"), 3, exact=True)
    problem = mt.SampleProblem(X, y)
    for size in range(4):
        gini = solved.tree(size).impurity(problem, "gini")
        assert float(solved.errors[size]) == pytest.approx(gini / 2, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_what_the_finished_run_finds(kind):
    """Under limits of 0.05, 0.2 and 1 s by a clock that moves when it is looked at."""
    weights = np.random.default_rng(1).integers(1, 4, 150)
    problem = some_problem(kind, 150, 4, 7, sample_weight=weights)
    truth = mt.optimal_errors(problem, 4)
    assert truth.proved.all()
    open_sizes = []
    for limit in (0.05, 0.2, 1):
        with pytest.MonkeyPatch.context() as patch:
            clock = looked_at(patch)
            patch.setattr(SweepEngine, "patience", (20_000, 100_000))  # cells until the next look
            solved = mt.optimal_trees(problem, 4, time_limit=limit)
            assert not clock.asked or clock.keeps(limit)
        errors = solved.errors
        assert np.all(errors.lower <= truth.upper)
        assert np.all(truth.upper <= errors.upper)
        open_sizes.append(int((~errors.proved).sum()))
        for size in range(5):
            assert solved.tree(size).size <= size
            assert solved.tree(size).error(problem) == pytest.approx(errors[size], rel=1e-12)
    assert open_sizes[0] > 0


@pytest.mark.parametrize("kind", ["squared", "3"])
def test_costs_of_many_digits(kind):
    """They are rounded: the interval holds the truth, and is closed to ten digits."""
    random = np.random.default_rng(4)
    X = random.integers(0, 5, (9, 2)).astype(float)
    if kind == "squared":
        case = TaskCase("squared", X.tolist(), random.normal(size=9).tolist(), None)
    else:
        case = TaskCase("costs", X.tolist(), random.normal(size=(9, 3)).tolist(), None)
    weights = random.random(9).tolist()
    for each in (case, TaskCase(case.kind, case.rows, case.given, weights)):
        expected = task_samples.least_errors(each.rows, each.task, 3)
        errors = mt.optimal_errors(each.problem(), 3, exact=True)
        for low, true, high in zip(errors.lower, expected, errors.upper, strict=True):
            assert low <= true <= high
        floats = mt.optimal_errors(each.problem(), 3)
        if each.weights is None or kind == "3":
            assert floats.proved.all()
            assert floats.tolist() == pytest.approx(list(map(float, expected)), rel=1e-12)
        else:  # weights and labels share the digits
            assert np.all(floats.upper - floats.lower <= 1e-5 * floats.upper)


LONG_COSTS = {
    "fractions": [[Fraction(1, 3), Fraction(-1, 7), 0], [0.1, Fraction(2, 3), 1], [1, 0, 2]],
    "far apart": [[1e5, 1e-12, 3], [1e-12, 1e5, 3], [0.25, 3, 1e-12]],
    "decimals": [[Decimal("0.1234567890123456789"), 1, 2], [3, Decimal("0.5"), 1], [1, 2, 0]],
    "long integers": [[2**60 + 1, 2**60, 2**60 + 5], [2**60, 2**60 + 2, 2**60], [7, 5, 2**60]],
}


@pytest.mark.parametrize("given", LONG_COSTS.values(), ids=LONG_COSTS)
@pytest.mark.parametrize("weights", [None, [2, 1, 3, 1, 1, 0.5]])
def test_costs_that_no_float_holds(given, weights):
    """Costs are exact as given, also where what is left of them after subtracting is not."""
    X = [[0, 1], [1, 1], [2, 0], [0, 0], [1, 0], [2, 1]]
    by_row = TaskCase("costs", X, given + [row[::-1] for row in given], weights)
    by_class = TaskCase("matrix", X, ([0, 1, 2, 2, 1, 0], np.abs(given).tolist()), weights)
    for case in (by_row, by_class):
        problem = case.problem()
        expected = task_samples.least_errors(X, case.task, 3)
        solved = mt.optimal_trees(problem, 3, exact=True)
        for size in range(4):
            assert solved.errors.lower[size] <= expected[size] <= solved.errors.upper[size]
            assert solved.tree(size).error(problem, exact=True) == solved.errors.upper[size]
        assert problem.root(exact=True).error == expected[0] == solved.errors[0]


def test_differences_of_very_many_costs_are_exact_where_asked():
    """So many different pairs are subtracted as floats; exact errors read what was given."""
    costs = np.random.default_rng(0).random((40, 3)) + 0.3
    with mock.patch.object(tasks, "MOST_WRITTEN", 10):
        problem = mt.SampleProblem(np.arange(40)[:, None], costs=costs)
    case = TaskCase("costs", [[number] for number in range(40)], costs.tolist(), None)
    expected = task_samples.least_errors(case.rows, case.task, 1)
    assert problem.root(exact=True).error == expected[0]
    errors = mt.optimal_errors(problem, 1, exact=True)
    assert errors.lower[1] <= expected[1] <= errors.upper[1]


def test_labels_that_are_fractions():
    X, y = [[0], [1], [2], [3]], [Fraction(1, 3), Fraction(1, 7), Fraction(5, 3), Fraction(2, 7)]
    errors = mt.optimal_errors(mt.SampleProblem(X, y, loss="squared"), 2, exact=True)
    case = TaskCase("squared", X, y, None)
    assert errors.tolist() == task_samples.least_errors(X, case.task, 2)
    assert errors.proved.all()


@pytest.mark.parametrize("y", [[1e140, 1, 2, 3], [1e-130, 2e-130, 5e-130, 0], [5, 5, 5, 5], [7]])
def test_odd_labels(y):
    X = np.arange(len(y), dtype=float)[:, None]
    errors = mt.optimal_errors(mt.SampleProblem(X, y, loss="squared"), 3, exact=True)
    task = TaskCase("squared", X.tolist(), y, None).task
    expected = task_samples.least_errors(X.tolist(), task, 3)
    assert all(map(Fraction.__le__, map(Fraction, errors.lower), expected))
    assert all(map(Fraction.__le__, expected, map(Fraction, errors.upper)))
    if max(y) < 1e100:  # others differ by less than the digits of the search
        assert errors[3] == expected[3]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-50, 50)), min_size=1, max_size=12))
def test_whole_costs_are_floors(pairs):
    """And what every cost is made of adds up."""
    weights, labels = map(list, zip(*pairs, strict=True))
    X = np.zeros((len(pairs), 1))
    numbers = Numbers.of(mt.SampleProblem(X, labels, weights, loss="squared"))
    sums = numbers.sums.sum(axis=0)
    mean = Fraction(sum(map(int.__mul__, weights, labels)), sum(weights))
    exact = sum(w * (y - mean) ** 2 for w, y in pairs) / sum(weights)
    cost = int(cost_of_sums(sums, numbers.shift))
    assert cost == math.floor(exact * numbers.scale.total)
    assert numbers.least_error(cost) <= exact


@pytest.mark.parametrize(("measured", "weighted"), [(True, False), (False, True), (True, True)])
def test_bounds_allow_for_rounded_labels_and_weights(measured, weighted):
    """A whole cost never stands for more than the error as written, nor for much less."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        y = random.normal(size=9) if measured else random.integers(0, 9, 9)
        weights = random.random(9) if weighted else None
        numbers = Numbers.of(mt.SampleProblem(np.zeros((9, 1)), y, weights, loss="squared"))
        assert (bool(numbers.rounding), bool(numbers.slack)) == (measured, weighted)
        error = numbers.settled_leaf(np.arange(9))[1]
        least = numbers.least_error(int(cost_of_sums(numbers.sums.sum(axis=0), numbers.shift)))
        assert least <= error
        assert float(least) == pytest.approx(float(error), rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_bound_trees(seed):
    """As tight as the best intervals of labels, by trying all."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 40, 9)
    X = np.arange(9)[:, None].astype(float)
    rows = CostRows.of(mt.SampleProblem(X, y, loss="squared"))
    bounds = bounds_of_numbers(rows.data.sums, int(rows.data.shift[0]), 4)
    order, total = np.sort(y), rows.total
    best = {(0, 0): 0.0}
    for leaves in range(1, 5):
        for end in range(1, 10):
            parts = [
                best[leaves - 1, begin] + ((order[begin:end] - order[begin:end].mean()) ** 2).sum()
                for begin in range(end)
                if (leaves - 1, begin) in best
            ]
            if parts:
                best[leaves, end] = min(parts)
        assert float(bounds[leaves - 1] / total) == pytest.approx(best[leaves, 9] / 9, abs=1e-9)
    errors = mt.optimal_errors(rows.problem, 3)
    assert np.all([float(bound / total) for bound in bounds] <= errors.upper + 1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["squared", "3", "5"])
def test_the_bounds_of_all_tests_hold(kind, seed):
    """Whatever was learned of the children of all rows' tests is at most their least cost."""
    problem = some_problem(kind, 14, 2, seed)
    frontier = Frontier(Strategy.on_numbers(problem, True), 4, None, 2**30)
    with TimeLimit(None) as limit:
        frontier.run(limit)
    frames, root = frontier.workers.frames[0], frontier.workers.engine.root
    raised = 0
    for column, first in enumerate(frames.start[0, :-1]):
        for test in range(first, frames.start[0, column + 1]):
            order = frames.order[0, column] >> 1
            place = frames.tests[0, 0, test] + 1
            for side, child in enumerate((order[:place], order[place:])):
                for budget in (2, 3):
                    with frontier.workers.running():
                        least = frontier.workers.ask(np.sort(child), budget, 1 << 61, 1 << 20)
                    assert root[side, budget, test] <= least
                    raised += root[side, budget, test] > 0
    assert raised or kind == "3"


@numba.njit
def share_a_child(tested, answer, data, frames):
    """Bound the children of all tests by one child, a test's column, number and side."""
    column, test, side = tested
    level = sweep_search.start(len(data.keys), data, frames)
    sweep_scan.leaf_error(level, data, frames)
    sweep_scan.list_tests(level, data, frames)
    at, tests = frames.levels[level], frames.start[level, -1]
    for other in range(tests):
        frames.tests[level, LIVE, other] = other
    frames.cells[level, ONE : ONE + 2] = 0
    at.lives, at.budget, at.depth, at.column, at.test = tests, 4, 62, column, test
    frames.cells[level, ONE + side, test] = answer
    bounds = sweep_search.get_bounds(level, frames)
    for size in range(2, 4):
        bounds[side, size, test] = answer - size
    sweep_search.share(level, side, data, frames)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["squared", "3", "5"])
def test_a_child_bounds_all_others_by_the_rows_they_lack(kind, seed):
    """Its least cost, less the most that the rows outside another child can cost there."""
    engine = SweepEngine(CostRows.of(some_problem(kind, 12, 2, seed)))
    engine.plan(5, 4, 2**28)
    frames, data = engine.make_frames(), engine.rows.data
    if kind == "squared":
        means = data.sums[:, 1] / data.sums[:, 0]
        far = np.maximum(means - means.min(), means.max() - means)
        most, more = data.sums[:, 0] * far**2 / 2.0 ** data.shift[0] + data.weights[:, 1], 4
    else:
        most, more = data.sums.max(axis=1).astype(float), 0
    answer, order = int(most.sum()), data.order >> 1
    ends = [
        (column, place) for column in range(2) for place in np.flatnonzero(data.order[column] & 1)
    ]
    for number, (column, place) in enumerate(ends):
        for side in range(2):
            engine.root[:] = 0
            child = set(
                (order[column, place + 1 :] if side else order[column, : place + 1]).tolist()
            )
            share_a_child((column, number, side), answer, data, frames)
            for other, (another, end) in enumerate(ends):
                for high in range(2):
                    inside = order[another, end + 1 :] if high else order[another, : end + 1]
                    lacking = [*child.difference(inside.tolist())]
                    least, spare = answer - most[lacking].sum(), 1 + more * len(lacking)
                    found = [frames.cells[0, ONE + high, other], *engine.root[high, 2:4, other]]
                    for size, bound in enumerate(found, start=1):
                        known = max(0, least - (size if size > 1 else 0))
                        slack = more * 1e-9 * answer  # of floats, as costs have more digits
                        assert known - spare - slack <= bound <= known + slack


@numba.njit
def sweep_and_settle(rows, data, frames, control, out_bounds, out_costs):
    """Lower bounds of both children of the tests that a sweep takes, and their least costs."""
    level = sweep_search.start(rows, data, frames)
    sweep_scan.leaf_error(level, data, frames)
    sweep_scan.list_tests(level, data, frames)
    tests = frames.start[level, -1]
    for test in range(tests):
        frames.tests[level, LIVE, test] = test
    count = sweep_scan.pick(level, tests, frames)
    sweep_scan.sweep(level, count, data, frames, control)
    for side in range(2):
        for lane in range(count):
            out_bounds[side, lane] = sweep_scan.get_found(data, frames)[LANES * side + lane]
    for side in range(2):
        for lane in range(count):
            out_costs[side, lane] = sweep_scan.settle(level, lane, np.int64(side), data, frames)
    return count


@pytest.mark.parametrize("kind", ["squared", "3", "4", "6"])
@pytest.mark.parametrize("seed", range(4))
def test_sweeps_bound_what_they_settle(kind, seed):
    """And nearly reach it; the least costs are those of an exact search of each child."""
    weights = np.random.default_rng(seed).integers(1, 5, 70) if seed % 2 else None
    problem = some_problem(kind, 70, 3, seed, sample_weight=weights)
    engine = SweepEngine(CostRows.of(problem))
    engine.plan(3, 3, 2**28)
    frames, control = engine.make_frames(), np.zeros(16, dtype=np.int64)
    control[questions.ALLOWED] = 1 << 62
    bounds, costs = np.zeros((2, 2, LANES), dtype=np.int64)
    data = engine.rows.data
    count = sweep_and_settle(len(data.keys), data, frames, control, bounds, costs)
    assert count == LANES
    assert np.all(bounds <= costs)
    assert np.all(costs - bounds <= 1e-6 * costs.max())
    for lane in range(0, LANES, 5):
        test, column = frames.picked[:, lane]
        order = data.order[column] >> 1
        place = frames.tests[0, PLACE, test] + 1
        for side, child in enumerate((order[:place], order[place:])):
            assert costs[side, lane] == best_of_one_split(engine.rows, child)


def best_of_one_split(rows, child):
    """By all splits of some rows, from the leaves' costs."""
    best = rows.leaf(child).cost
    members = set(child.tolist())
    for origin, order in zip(rows.origins, rows.data.order.tolist(), strict=True):
        inside, ranks = [entry for entry in order if entry >> 1 in members], rows.ranks[origin]
        for place in range(1, len(inside)):
            low, high = (
                [entry >> 1 for entry in part] for part in (inside[:place], inside[place:])
            )
            if ranks[low[-1]] < ranks[high[0]]:
                best = min(best, rows.leaf(np.array(low)).cost + rows.leaf(np.array(high)).cost)
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_top_is_for_errors(kind):
    with pytest.raises(ValueError, match="top is for plain errors only"):
        mt.optimal_errors(some_problem(kind, 20), 2, top=2)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("kind", ["squared", "3"])
def test_ctrl_c_returns_what_is_certified(kind, monkeypatch):
    problem = some_problem(kind, 80, 4)
    truth = mt.optimal_errors(problem, 4)
    ask, calls = SweepEngine.ask, []

    def pressed(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return ask(*arguments)

    monkeypatch.setattr(SweepEngine, "ask", pressed)
    solved = mt.optimal_trees(problem, 4)
    assert solved.interrupted
    assert not solved.errors.proved.all()
    assert np.all((solved.errors.lower <= truth.upper) & (truth.upper <= solved.errors.upper))


@pytest.mark.parametrize("kind", KINDS)
def test_a_price_for_every_split(kind):
    """The cheapest tree is found, and sizes that cannot pay stay open or not."""
    problem = some_problem(kind, 60, 3, 1)
    errors = mt.optimal_errors(problem, 5)
    price = float(errors[0] - errors[3]) / 4
    solved = certified.solve(problem, 5, False, 2**30, price=Fraction(price))
    costs, best = (np.asarray(each) + price * np.arange(6) for each in (solved.errors, errors))
    assert costs.min() == pytest.approx(best.min(), rel=1e-12)
    assert np.all(solved.errors.lower <= errors.upper + 1e-12)
