"""Costs and numbers on 0/1 columns: the search by sums against every tree, and against sweeps."""

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree._support.jit import jit, one_core
from mictree.optimal import bit_tasks, questions
from mictree.optimal import frontier as certified
from mictree.optimal.bit_tasks import CHUNK, SumEngine, SumRows
from mictree.optimal.costs import Numbers
from mictree.optimal.questions import ANY, PLAIN, UNLIMITED, Question, Workers
from tests.clock import looked_at
from tests.reference import task_samples
from tests.strategies import task_cases

SIZE = 4
_LITTLE = 3 * 10**5  # bytes


def bit_cases(**settings):
    return task_cases(**{"most_rows": 9, "most_columns": 4, "kinds": ("bit",)} | settings)


def random_problem(seed: int, rows: int, literals: int, task: str) -> mt.SampleProblem:
    """Rows of uneven bits that say something of a number, or of the costs of three actions."""
    random = np.random.default_rng(seed)
    X = (random.random((rows, literals)) < random.uniform(0.1, 0.9, literals)).astype(int)
    weights = random.integers(1, 2 if seed % 3 == 0 else 2000, rows)
    signal = X[:, 0] * 2.5 + X[:, -1] * X[:, literals // 2] - X[:, 1]
    if task == "squared":
        return mt.SampleProblem(X, (signal + random.normal(size=rows)).round(2), weights, loss=task)
    costs = random.integers(0, 9, (rows, 3 + seed % 2))
    costs[:, 1] += (2 * signal.round()).astype(int)
    return mt.SampleProblem(X, costs=costs, sample_weight=weights)


def checked(problem: mt.SampleProblem, size: int, max_depth=None) -> mt.OptimalTrees:
    """Solved by sums, with trees that have the errors that are proved."""
    strategy = certified.choose_strategy(problem, True, 2**30)
    assert isinstance(strategy.engine, SumEngine)
    solved = mt.optimal_trees(problem, size, exact=True, max_depth=max_depth)
    assert np.all((solved.errors.upper - solved.errors.lower).astype(float) <= 1e-11)
    for number in range(size + 1):
        tree = solved.tree(number)
        assert tree.size <= number
        assert max_depth is None or tree.depth <= max_depth
        assert tree.error(problem, exact=True) == solved.errors[number]
    return solved


@given(bit_cases(), st.sampled_from([None, None, 1, 2, 3]), st.booleans())
@settings(max_examples=150)
def test_no_tree_is_better(case, max_depth, patient):
    """At once, and question by question."""
    problem = case.problem()
    assume(not problem.weighs_classes)
    with mock.patch.object(bit_tasks, "PATIENCE", bit_tasks.PATIENCE if patient else 0):
        solved = checked(problem, SIZE, max_depth)
    least = task_samples.least_errors(case.rows, case.task, SIZE, max_depth)
    assert solved.errors.tolist() == least


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["squared", "costs"]),
    st.sampled_from([None, 2, 3]),
    st.booleans(),
)
@settings(max_examples=25)
def test_sweeps_find_the_same(seed, task, max_depth, patient):
    random = np.random.default_rng(seed)
    problem = random_problem(seed, int(random.integers(3, 150)), int(random.integers(2, 9)), task)
    with mock.patch.object(bit_tasks, "PATIENCE", bit_tasks.PATIENCE if patient else 0):
        solved = checked(problem, 5, max_depth)
    with mock.patch.object(certified.Strategy, "on_sums", on_numbers):
        swept = mt.optimal_trees(problem, 5, exact=True, max_depth=max_depth)
    assert solved.errors.tolist() == swept.errors.tolist()


def on_numbers(problem):
    return certified.Strategy.on_numbers(problem, True)


@pytest.mark.parametrize("task", ["squared", "costs"])
def test_full_trees_of_many_rows_and_literals(task):
    """More than a chunk of rows, more than a word of literals; all sizes of depth 3."""
    problem = random_problem(4, 3 * CHUNK, 70, task)
    solved = checked(problem, 7, 3)
    rows = SumRows.of(problem)
    members = np.arange(0, len(rows.weights), 2)
    pairs = count_pairs(SumEngine(rows), members)
    bits, numbers = rows.bits[rows.kept][:, members].astype(object), rows.data.numbers[:, members]
    for found, each in zip(pairs, numbers, strict=True):
        assert np.array_equal(np.tril(found), np.tril((bits * each.astype(object)) @ bits.T))
    with mock.patch.object(bit_tasks, "FEW_AMOUNTS", 0):  # nothing is counted by bits
        again = checked(problem, 7, 3)
    assert again.errors.tolist() == solved.errors.tolist()


def count_pairs(engine: SumEngine, members: np.ndarray) -> np.ndarray:
    """The sums of frame 0, of all numbers, for some rows."""
    workers = Workers(engine, 4, UNLIMITED, 2**28)
    frames, question = workers.frames[0], Question(4, 1 << 60, UNLIMITED, PLAIN)
    workers.control[questions.FOUND] = 1 << 60
    engine.ask(members, question, workers.table, frames, workers.control)
    return frames.sums[0][:, :, : frames.sums.shape[2]]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["squared", "costs"]), st.booleans())
@settings(max_examples=40)
def test_bounds_of_a_childs_children(seed, task, ask_children):
    """A child's costs with up to three splits are exact, those of its children not above."""
    random = np.random.default_rng(seed)
    problem = random_problem(seed, int(random.integers(4, 40)), 7, task)
    rows = SumRows.of(problem)
    engine, members = SumEngine(rows), rows.everything
    budget, depth = (4, UNLIMITED) if ask_children else (7, 3)
    workers = Workers(engine, budget, depth, 2**26)
    workers.ask(members, budget, rows.leaf(members).cost, depth)
    frames = workers.frames[0]
    at, known = frames.levels[1], frames.levels[1].counted
    assume(known >= 0 and at.counted_sizes == (3 if ask_children else 4))
    held = rows.holds(members, rows.kept[known // 2])
    members = members[held if known % 2 else ~held]
    with_two = with_three = rows.leaf(members).cost
    for literal, test in enumerate(rows.kept):
        held = rows.holds(members, test)
        if held.all() or not held.any():
            continue
        sides = members[~held], members[held]
        leaves = [rows.leaf(side).cost for side in sides]
        least = [one_split(rows, side) for side in sides]
        assert np.all(frames.least[1, 0, :, literal] == leaves)
        assert np.all(frames.least[1, 1, :, literal] <= least)
        assert np.all(frames.least[1, 1, :, literal] >= np.array(least) * (1 - 2.0**-40) - 8)
        with_two = min(with_two, least[0] + leaves[1], leaves[0] + least[1])
        with_three = min(with_three, sum(least))
    assert at.errors[0] == rows.leaf(members).cost
    assert at.errors[1] == one_split(rows, members)
    assert at.errors[2] == with_two
    assert at.errors[3] == min(with_two, with_three)


def one_split(rows: SumRows, members: np.ndarray) -> int:
    """The least cost of some rows with at most one split."""
    held = [rows.holds(members, test) for test in rows.kept]
    splits = [rows.leaf(members[~one]).cost + rows.leaf(members[one]).cost for one in held]
    return min([rows.leaf(members).cost, *splits])


@given(
    st.integers(-(2**55) + 1, 2**55 - 1),
    st.integers(1, 2**50),
    st.sampled_from([0, 1, 7, 2**20]),
)
@settings(max_examples=500)
def test_quotients_are_exact(total, weight, near):
    """Also those just beside a whole number; none is larger than what costs may be."""
    if near:  # a weight that nearly divides the square
        weight = max(1, weight >> 25)
        total = weight * (total >> 27) + near
    exact = -(-total * total // weight)
    assume(exact < 2**61)
    assert quotient(total, weight) == exact


@jit
def quotient(total, weight):
    return bit_tasks._quotient(total, weight)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["squared", "costs"]))
@settings(max_examples=20)
def test_frame_0_may_keep_its_sums(seed, task):
    """Questions of any depth about the same rows and others, against frames that know nothing."""
    random = np.random.default_rng(seed)
    problem = random_problem(seed, 40, 8, task)
    engine = SumEngine(SumRows.of(problem))
    one, other = (Workers(engine, 6, UNLIMITED, 2**26) for _ in range(2))
    sets = [np.flatnonzero(random.random(len(engine.rows.weights)) < 0.7) for _ in range(2)]
    for _ in range(12):
        members, depth = sets[random.integers(0, 2)], int(random.integers(1, 4))
        budget, wanted = int(random.integers(1, 7)), (PLAIN, ANY)[random.integers(0, 2)]
        least = []
        for workers in (one, other):
            if workers is other:
                workers.frames = [engine.make_frames()]
            bound = engine.rows.leaf(members).cost
            found = workers.ask(members, budget, bound, depth, wanted)
            assert found is not None
            least.append(found)
            if found < bound and wanted == ANY:
                test = engine.trace(workers.frames[0], budget, found)
                held = engine.rows.holds(members, test.test)
                parts = zip((members[~held], members[held]), test.budgets, strict=True)
                costs = [workers.ask(rows, splits, 1 << 60, depth - 1) for rows, splits in parts]
                assert sum(costs) == found
        assert least[0] == least[1]


@pytest.mark.parametrize("task", ["squared", "costs"])
@pytest.mark.parametrize("max_depth", [None, 3])
def test_workers_agree_with_one(task, max_depth):
    """Eight workers from the start, and a table that is too small, against one with room."""
    for seed in range(3):
        problem = random_problem(seed, 150, 16, task)
        with one_core():
            alone = mt.optimal_trees(problem, 5, exact=True, max_depth=max_depth)
        with (
            mock.patch.multiple(questions, usable_cores=lambda: 8, ALONE=0.0, SMALLEST_TABLE=32),
            mock.patch.object(SumEngine, "patience", ()),
        ):
            many = mt.optimal_trees(problem, 5, True, 10 * _LITTLE, max_depth=max_depth)
            few = mt.optimal_trees(problem, 5, True, _LITTLE, max_depth=max_depth)
        for found in (many, few):
            assert found.errors.tolist() == alone.errors.tolist()


@pytest.mark.parametrize("task", ["squared", "costs"])
def test_intervals_hold_the_truth(task, monkeypatch):
    """However early the search must stop."""
    problem = random_problem(8, 200, 14, task)
    least = mt.optimal_errors(problem, 6, exact=True)
    monkeypatch.setattr(bit_tasks, "PATIENCE", 0)
    looked_at(monkeypatch)
    open_sizes = 0
    for limit in (0.02, 0.05, 0.1, 0.3, 1.0):
        solved = mt.optimal_trees(problem, 6, exact=True, time_limit=limit)
        assert np.all(solved.errors.lower <= least.upper)
        assert np.all(least.upper <= solved.errors.upper)
        open_sizes += int((~solved.errors.proved).sum())
        for size in range(7):
            assert solved.tree(size).error(problem, exact=True) == solved.errors[size]
    assert open_sizes


@pytest.mark.parametrize(
    ("X", "y"),
    [([[0], [0]], [1, 2]), ([[0], [1]], [3, 3]), ([[1]], [7]), ([[0], [1], [1]], [0, 0.5, 1])],
)
def test_little_to_split(X, y):
    solved = mt.optimal_trees(mt.SampleProblem(X, y, loss="squared"), 3, exact=True)
    rows = [list(row) for row in X]
    task = task_samples.Squares(y, [1] * len(y))
    assert solved.errors.tolist() == task_samples.least_errors(rows, task, 3)


def test_labels_with_all_digits_are_proved():
    """The floors and the rounding of labels are far below the ten digits that prove an error."""
    random = np.random.default_rng(1)
    X = random.integers(0, 2, (400, 12))
    y = 1e6 + X[:, 0] * X[:, 3] + random.normal(size=400)
    errors = mt.optimal_errors(mt.SampleProblem(X, y, loss="squared"), 4)
    assert errors.proved.all()
    kept = y[np.all(X[:, [0, 3]] == 1, axis=1)]
    assert errors[1] < y.var() < errors[1] + kept.var() + 1


def test_equal_rows_cost_what_they_must():
    """The sums of equal inputs are one row, whose own cost no tree avoids."""
    X, y = [[0, 1], [0, 1], [1, 0], [1, 0], [1, 1]], [0, 4, 1, 2, 9]
    problem = mt.SampleProblem(X, y, loss="squared")
    rows = SumRows.of(problem)
    assert len(rows.weights) == 3
    unit = rows.least_error(rows.floor)
    assert unit <= Fraction(8 + Fraction(1, 2), 5) <= unit + Fraction(1, 10**6)
    assert mt.optimal_errors(problem, 2, exact=True).tolist()[-1] == Fraction(17, 10)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_whole_costs_less_what_is_left_out_are_exact(seed):
    """Squares are rounded up by row, and the same is left out of the cost of every tree."""
    random = np.random.default_rng(seed)
    X, y = random.integers(0, 2, (30, 3)), random.normal(size=30)  # many digits
    rows = SumRows.of(mt.SampleProblem(X, y, random.integers(1, 99, 30), loss="squared"))
    costs = rows.costs
    assert isinstance(costs, Numbers)
    squares = sum(
        w * s * s for w, s in zip(costs.weights.tolist(), costs.labels.tolist(), strict=True)
    )
    found = int(rows.data.alone[:, 0].sum()) + rows.left_out
    assert found == Fraction(squares, 2**costs.shift)
    assert np.all(rows.data.alone[:, 1] >= 0)
