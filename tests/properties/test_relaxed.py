"""Lower bounds by relaxation: relaxed trees as they are defined, and the least costs of trees."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree._support.progress import TimeLimit
from mictree.optimal import frontier as certified
from mictree.optimal.costs import cost_of_sums
from mictree.optimal.frontier import Frontier, Strategy
from mictree.optimal.ordered_rows import CostRows, OrderedRows
from mictree.optimal.questions import UNLIMITED, Workers
from mictree.optimal.relaxed import BLOCKS, Relaxation, RelaxedRows
from mictree.optimal.relaxed_search import RelaxedEngine
from tests.reference.relaxed import covered, relaxed_costs

MEMORY = 2**28
KINDS = ("classes", "many classes", "actions", "squared")


def some_problem(
    kind: str, seed: int, most_rows: int = 12, values: int = 8
) -> mt.SampleProblem | None:
    """A small table with ties, missing values and weights; None if nothing can be tested."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(3, most_rows + 1)), int(random.integers(1, 4))
    X = random.integers(0, random.integers(2, values + 1), (rows, columns)).astype(float)
    if random.random() < 0.4:
        X[random.random(X.shape) < 0.15] = np.nan
    more = {"sample_weight": random.integers(1, 5, rows)} if random.random() < 0.6 else {}
    if kind == "squared":
        return mt.SampleProblem(X, random.integers(0, 9, rows), loss="squared", **more)
    if kind == "actions":
        return mt.SampleProblem(X, costs=random.integers(0, 6, (rows, 3)), **more)
    y = random.integers(0, 2 if kind == "classes" else 4, rows)
    return mt.SampleProblem(X, y, **more) if len(set(y.tolist())) > 1 else None


def sorted_rows(problem: mt.SampleProblem | None) -> OrderedRows | CostRows | None:
    if problem is None or not problem.ranks:
        return None
    by_class = problem.weighs_classes
    rows = OrderedRows.of(problem, False) if by_class else CostRows.of(problem)
    return rows if len(rows.data.order) else None


def all_ranks(rows: OrderedRows | CostRows) -> list[list[int]]:
    """The rank of each row in each column, read off the sorted order."""
    columns = []
    for order in rows.data.order.tolist():
        ranks, rank = [0] * len(order), 0
        for entry in order:
            ranks[entry >> 1] = rank
            rank += entry & 1
        columns.append(ranks)
    return columns


def all_blocks(columns: list[list[int]], relaxed: RelaxedRows) -> list[list[tuple[int, ...]]]:
    """The cuts of each test: those that divide neither child."""
    data, blocks = relaxed.data, []
    for number, ranks in enumerate(columns):
        mine = []
        for test in range(data.first[number], data.first[number + 1]):
            codes = data.codes[number].tolist()
            left = [ranks[row] for row, code in enumerate(codes) if code <= data.ends[test]]
            right = [ranks[row] for row, code in enumerate(codes) if code > data.begins[test]]
            low, high = max(left, default=-1), min(right, default=max(ranks) + 1)
            mine.append(tuple(range(max(low, 0), high)))
        blocks.append(mine)
    return blocks


def leaf_cost(rows: OrderedRows | CostRows):
    """What some rows cost as a leaf, in whole numbers."""
    if isinstance(rows, OrderedRows):

        def cost(inside):
            sums: dict[int, int] = {}
            for row in inside:
                label = int(rows.codes[row])
                sums[label] = sums.get(label, 0) + int(rows.weights[row])
            return sum(sums.values()) - max(sums.values(), default=0)

        return cost
    sums = rows.data.sums
    if sums.shape[1] == 4 and hasattr(rows.data, "shift") and rows.data.signed.dtype == float:
        return lambda inside: int(cost_of_sums(sums[list(inside)].sum(axis=0), rows.data.shift[0]))
    return lambda inside: int(sums[list(inside)].sum(axis=0).min())


def answers(relaxed: RelaxedRows, sizes, depth: int, bound: int) -> dict[int, int]:
    """The least costs of relaxed trees, or the bound."""
    workers = Workers(RelaxedEngine(relaxed), max(sizes), depth, MEMORY)
    return {size: workers.ask(relaxed.everything, size, bound, depth) for size in sizes}


@pytest.mark.parametrize("kind", KINDS)
@given(
    st.integers(0, 10**6), st.sampled_from([1, 2, 3, 5, 100]),
    st.sampled_from([UNLIMITED, 1, 2, 3, 4]), st.permutations(range(1, 6)),
)  # fmt: skip
@settings(max_examples=60)
def test_relaxed_trees_are_what_they_are_defined_to_be(kind, seed, blocks, depth, sizes):
    """Costs are those of all relaxed trees, whatever was asked before; every cut is in a block."""
    rows = sorted_rows(some_problem(kind, seed, 9))
    if rows is None:
        return
    relaxed, columns = RelaxedRows.of(rows, blocks), all_ranks(rows)
    tests = all_blocks(columns, relaxed)
    assert all(map(covered, columns, tests))
    expected = relaxed_costs(columns, tests, leaf_cost(rows), 5, min(depth, 5))
    found = answers(relaxed, sizes, depth, rows.leaf().cost + 1)
    assert found == {size: expected[size] for size in sizes}
    for part in (4, 2):  # lower bounds of what is not below the bound, learned for the next size
        engine = RelaxedEngine(relaxed)
        workers = Workers(engine, 5, depth, MEMORY)
        for size in sizes:
            bound = max(1, expected[size] // part)
            answer = workers.ask(relaxed.everything, size, bound, depth)
            assert min(bound, expected[size]) <= answer <= expected[size]
            engine.learn(size, answer)


@pytest.mark.parametrize("seed", range(4))
def test_four_splits_of_more_rows(seed):
    """Children are asked, and lack the free rows."""
    random = np.random.default_rng(seed)
    problem = mt.SampleProblem(random.random((36, 2)), random.integers(0, 5, 36))
    rows = OrderedRows.of(problem, False)
    relaxed, columns = RelaxedRows.of(rows, 6), all_ranks(rows)
    blocks = all_blocks(columns, relaxed)
    expected = relaxed_costs(columns, blocks, leaf_cost(rows), 4, 4)
    assert expected[4] > 0
    assert answers(relaxed, [4, 3], UNLIMITED, 36) == {size: expected[size] for size in (4, 3)}


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 10**6), st.sampled_from([None, 1, 2, 3, 4]))
@settings(max_examples=60)
def test_no_tree_costs_less_than_relaxed_ones(kind, seed, max_depth):
    """At every number of blocks; the same where all blocks are single cuts."""
    problem = some_problem(kind, seed)
    rows = sorted_rows(problem)
    if rows is None:
        return
    frontier = Frontier(Strategy.on_numbers(problem, False), 5, max_depth, MEMORY)
    frontier.strategy = frontier.strategy._replace(relax=None)
    frontier.run(TimeLimit(None))
    least, depth = frontier.upper, frontier.depth
    assert frontier.lower == least
    for blocks in (1, 2, 3, 6, 12):
        relaxed = RelaxedRows.of(rows, blocks)
        for size, cost in answers(relaxed, range(1, 6), depth, least[0] + 1).items():
            assert cost == least[size] if relaxed.exact else cost <= least[size]
    assert relaxed.exact


class Intervals:
    """Intervals whose steps are checked against the least costs."""

    def __init__(self, upper, least):
        self.upper, self.least, self.steps = upper, least, 0
        self.lower, self.interrupted = [0] * len(upper), False

    def raise_lower(self, size, cost, kind):
        assert cost <= self.least[size]
        assert kind == "relaxation"
        self.lower[size] = max(self.lower[size], cost)
        self.steps += 1

    def report(self, size):
        pass


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_rise_up_to_the_least_costs(kind, seed):
    """The last blocks are single cuts; upper ends may be above."""
    problem = some_problem(kind, seed + 40, 40, 200)
    rows = sorted_rows(problem)
    assert rows is not None
    solved = Frontier(Strategy.on_numbers(problem, False), 4, None, MEMORY)
    solved.run(TimeLimit(None))
    intervals = Intervals([cost + 1 for cost in solved.upper], solved.upper)
    Relaxation(rows, UNLIMITED).raise_bounds(intervals, range(1, 5), math.inf, MEMORY)
    assert intervals.lower[1:] == solved.upper[1:]
    assert intervals.steps >= 4


def test_blocks_with_an_empty_side_free_rows():
    """Values 1 to 4 in one block: the middle ones are free."""
    rows = OrderedRows.of(mt.SampleProblem([[1], [2], [3], [4]], [0, 1, 0, 1]), False)
    order = rows.data.order
    relaxed = RelaxedRows.of(rows, 1)
    assert order.shape == (1, 4)
    assert answers(relaxed, [1], UNLIMITED, 9) == {1: 0}


def test_bounds_where_proofs_do_not_finish():
    """Intervals name relaxed trees, and hold what a longer search proves."""
    random = np.random.default_rng(0)
    X = random.random((500, 4))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.4) ^ (random.random(500) < 0.2)
    problem = mt.SampleProblem(X, y)
    frontier = Frontier(Strategy.on_numbers(problem, False), 3, None, MEMORY)
    frontier.relaxation = Relaxation(frontier.rows, frontier.depth)
    frontier.relaxation.raise_bounds(frontier, range(1, 4), math.inf, MEMORY)
    least = mt.optimal_errors(problem, 2)
    assert least.proved.all()
    for size in range(1, 3):
        assert 0.8 * least[size] <= frontier.lower[size] / 500 <= least[size]
    assert set(frontier.kinds[1:]) == {"relaxation"}


def test_none_are_made_where_all_is_proved():
    """Their kernels are many; neither are there any of constant columns."""
    for X, y in (([[0], [2], [3]], [0, 0, 5]), ([[7], [7], [7]], [0, 1, 5])):
        strategy = Strategy.on_numbers(mt.SampleProblem(X, y, loss="squared"), False)
        frontier = Frontier(strategy, 1, None, MEMORY)
        frontier.run(TimeLimit(None))
        assert frontier.lower == frontier.upper
        assert frontier.relaxation is None


def test_an_interrupt_ends_it():
    rows = sorted_rows(some_problem("classes", 1, 12))
    assert rows is not None
    intervals = Intervals([9] * 4, [9] * 4)
    intervals.interrupted = True
    Relaxation(rows, UNLIMITED).raise_bounds(intervals, range(1, 4), math.inf, MEMORY)
    assert intervals.steps == 0


def test_a_memory_limit_that_blocks_do_not_fit():
    rows = sorted_rows(some_problem("classes", 1, 12))
    assert rows is not None
    relaxation = Relaxation(rows, UNLIMITED)
    intervals = Intervals([9] * 4, [9] * 4)
    relaxation.raise_bounds(intervals, range(1, 4), math.inf, 100)
    assert intervals.lower == [0] * 4
    assert max(BLOCKS) < 128


def test_no_relaxed_trees_where_counting_takes_long(monkeypatch):
    monkeypatch.setattr("mictree.optimal.relaxed.MOST_COUNTED", 1)
    rows = sorted_rows(some_problem("squared", 1, 12))
    assert rows is not None
    assert not Relaxation(rows, UNLIMITED).affordable
    assert certified.PROVING_BESIDE < certified.PROVING
