"""Local search: steps beside those that try everything, and what holds of all trees it finds."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mictree as mt
from mictree._support.progress import TimeLimit
from mictree.optimal import frontier as frontier_module
from mictree.optimal import local_search
from mictree.optimal.frontier import Frontier, choose_strategy
from mictree.optimal.local_search import Late, LocalSearch, swaps, unlabelled
from mictree.optimal.ordered_rows import CostRows, OrderedRows
from mictree.optimal.questions import UNLIMITED, Workers
from mictree.optimal.rows import as_trees, count_splits
from tests.reference import local_steps
from tests.reference.ordered_samples import ordered_least_errors

KINDS = ("errors", "classes", "actions", "squared")


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    """The rest of the rounds only takes longer."""
    monkeypatch.setattr(local_search, "ROUNDS", ((4, (1,)),))


class Case:
    """A small table with ties, and what its rows cost by the reference."""

    def __init__(self, kind: str, rows: int, columns: int, seed: int, ranks: int = 6) -> None:
        random = np.random.default_rng(seed)
        X = random.integers(0, ranks, (rows, columns)).astype(float)
        weights = random.integers(1, 5, rows)
        self.columns: Any = X.astype(int).T.tolist()
        self.inside = tuple(range(rows))
        if kind == "actions":
            costs = random.integers(0, 9, (rows, 3))
            self.problem = mt.SampleProblem(X, costs=costs)
            self.cost = local_steps.least_action(costs.tolist())
        elif kind == "squared":
            y = X[:, 0] * (X[:, 1] > 2) + random.integers(0, 4, rows)
            self.problem = mt.SampleProblem(X, y, weights, loss="squared")
            numbers = [Fraction(int(label)) for label in y]
            self.cost = local_steps.squared(numbers, weights.tolist())
        else:
            flip = random.random(rows) < 0.15
            y = ((X[:, 0] > 2) ^ (X[:, 1] > 1) ^ flip).astype(int) + (kind == "classes") * (
                X[:, -1] > 3
            )
            self.problem = mt.SampleProblem(X, y, weights)
            self.cost = local_steps.errors(y.tolist(), weights.tolist())
            self.labels, self.weights = y.tolist(), weights.tolist()
        self.rows = (
            OrderedRows.of(self.problem, False)
            if self.problem.weighs_classes
            else CostRows.of(self.problem)
        )
        self.taken: list[Any] = []

    def search(self, most: int = 5, depth: int = UNLIMITED) -> LocalSearch:
        return LocalSearch(self.rows, most, depth, self.taken.append)

    def tree(self, nested: Any) -> Any:
        """A nested tree as the reference has it."""
        if not isinstance(nested, tuple):
            return None
        column, position = self.problem.literals.locate(nested[0])
        threshold = self.problem.literals.columns[column].threshold(position)
        return (column, int(threshold)), self.tree(nested[1]), self.tree(nested[2])

    def whole(self, cost: Fraction) -> float:
        """A cost of the reference in the unit of the search."""
        error = cost / sum(map(int, self.problem.row_weights()))
        return float((error - self.rows.offset) * self.rows.total)

    def random_tree(self, random: np.random.Generator, inside: Any, splits: int) -> Any:
        """A nested tree of random tests."""
        members = inside
        tests = [
            test
            for test in range(len(self.problem.literals))
            if 0 < self.rows.holds(members, test).sum() < len(members)
        ]
        if not splits or not tests:
            return None
        test = int(random.choice(tests))
        held, share = self.rows.holds(members, test), int(random.integers(splits))
        return (
            test,
            self.random_tree(random, members[~held], share),
            self.random_tree(random, members[held], splits - 1 - share),
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_glance_finds_the_best_trees_of_few_splits(kind, seed):
    """Each rank has a bin of its own."""
    case = Case(kind, 14, 3, seed)
    search = case.search()
    found = search.look(search.order).trees
    least = local_steps.few_splits(case.columns, case.inside, case.cost)
    assert [cost for cost, _ in found] == pytest.approx([case.whole(cost) for cost in least])
    for size, (cost, nested) in enumerate(found):
        assert count_splits(nested) <= size
        again = local_steps.tree_cost(case.columns, case.tree(nested), case.inside, case.cost)
        assert case.whole(again) == pytest.approx(cost)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_a_node_moves_to_its_best_test(kind, seed):
    """Beside all tests of all columns, with the subtrees on either side."""
    case, random = Case(kind, 16, 3, 10 + seed), np.random.default_rng(seed)
    search = case.search()
    for splits in (1, 2, 3, 5):
        nested = case.random_tree(random, case.rows.everything, splits)
        moved = search.best_test(nested, search.order)
        after = local_steps.tree_cost(case.columns, case.tree(moved), case.inside, case.cost)
        best = local_steps.best_move(case.columns, case.tree(nested), case.inside, case.cost)
        assert case.whole(after) == pytest.approx(case.whole(best))


@pytest.mark.parametrize("kind", KINDS)
def test_no_node_of_a_moved_tree_can_move(kind):
    case, random = Case(kind, 30, 3, 5), np.random.default_rng(1)
    search = case.search()
    for _ in range(4):
        nested = case.random_tree(random, case.rows.everything, 4)
        moved, cost = search.move(nested, search.order)
        again = local_steps.tree_cost(case.columns, case.tree(moved), case.inside, case.cost)
        assert case.whole(again) == pytest.approx(cost)
        best = local_steps.best_move(case.columns, case.tree(moved), case.inside, case.cost)
        assert case.whole(best) == pytest.approx(cost)


def true_error(case: Case, tree: mt.Tree) -> float:
    """The error of a tree; one that predicts numbers gets them now."""
    settled = case.rows.settle(tree)[0] if case.rows.must_settle else tree
    return float(settled.error(case.problem))


def found_by(case: Case, search: LocalSearch, trees: list[Any]) -> list[float]:
    """The least costs by size of all trees taken, after checks of each."""
    least = [float(case.rows.leaf().cost)] * (search.most + 1)
    search.run(trees)
    for nested in case.taken:
        cost = case.rows.wrong(nested)
        tree = as_trees(case.problem, [nested])[0]
        error = case.rows.offset + Fraction(cost) / case.rows.total
        assert true_error(case, tree) == pytest.approx(float(error), abs=1e-9)
        assert tree.size == count_splits(nested) <= search.most
        assert tree.depth <= search.depth
        for size in range(tree.size, search.most + 1):
            least[size] = min(least[size], cost)
    return least


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [2, 3, UNLIMITED])
def test_what_is_found_is_true_and_no_worse_than_greedy(kind, depth):
    case = Case(kind, 60, 3, 3, ranks=9)
    greedy = mt.TopDown().grow(case.problem, 5)
    trees = [tree for tree in map(greedy.tree, range(6)) if tree.depth <= depth]
    least = found_by(case, case.search(5, depth), trees)
    for tree in trees:
        assert least[tree.size] <= case.rows.wrong(tree)
    best = mt.optimal_errors(case.problem, 3, max_depth=min(depth, 3))
    for size, error in enumerate(best.upper):
        found = case.rows.offset + Fraction(int(least[size])) / case.rows.total
        assert float(found) >= error - 1e-9


def test_given_trees_are_moved(monkeypatch):
    """Also if nothing else is tried."""
    monkeypatch.setattr(local_search, "ROUNDS", ())
    case = Case("classes", 60, 3, 3, ranks=9)
    greedy = mt.TopDown().grow(case.problem, 5)
    least = found_by(case, case.search(), [greedy.tree(size) for size in range(6)])
    assert all(cost <= case.rows.wrong(greedy.tree(size)) for size, cost in enumerate(least))
    assert least[5] < least[1]


@pytest.mark.parametrize("seed", range(3))
def test_all_sizes_of_a_tiny_table_are_solved(seed, monkeypatch):
    """Beside the recurrence; all tests are tried there, so nothing is missed."""
    monkeypatch.setattr(local_search, "ROUNDS", ((64, (8, 4)),))
    case = Case("errors", 12, 2, seed)
    least = ordered_least_errors(case.columns, case.labels, case.weights, 4)
    assert found_by(case, case.search(4), []) == least


def test_the_same_trees_every_time():
    first, second = Case("classes", 80, 4, 2), Case("classes", 80, 4, 2)
    for case in (first, second):
        case.search().run([])
    assert first.taken == second.taken


def test_samples_come_before_all_rows(monkeypatch):
    """What is found on a sample is taken, with labels by all rows."""
    monkeypatch.setattr(local_search, "SAMPLE", 30)
    case = Case("errors", 300, 3, 7, ranks=40)
    search = case.search()
    sizes = [lists.shape[1] for lists in search._samples()]
    assert sizes == [30, 120, 300]
    assert search.stage.lists.shape == (3, 30)
    for column, entries in enumerate(search.stage.lists):
        ranks = case.rows.ranks[column][entries >> 1].astype(int)
        assert np.all(np.diff(ranks) >= 0)
        assert np.array_equal(np.diff(ranks) > 0, entries[:-1] & 1 == 1)
    least = found_by(case, search, [])
    assert search.stage.sees_all
    monkeypatch.setattr(local_search, "SAMPLE", 300)
    once = Case("errors", 300, 3, 7, ranks=40)
    assert least[-1] <= 1.05 * found_by(once, once.search(), [])[-1]


def test_trees_of_a_sample_are_taken_when_time_is_up(monkeypatch):
    monkeypatch.setattr(local_search, "SAMPLE", 30)
    case = Case("errors", 300, 3, 7, ranks=40)
    search = case.search()
    search.late = lambda: search.stage.lists.shape[1] > 30
    least = found_by(case, search, [])
    assert least[-1] < least[0]
    assert not search.stage.sees_all


def test_a_search_that_was_stopped_goes_on():
    """Whenever it stops, what it took holds; later calls find what one long call finds."""
    case, other = Case("errors", 60, 3, 4, ranks=9), Case("errors", 60, 3, 4, ranks=9)
    least = found_by(case, case.search(), [])
    search, looks, every = other.search(), 0, 5

    def late() -> bool:
        nonlocal looks
        looks += 1
        return looks % every == 0

    search.late = late
    while every < 1000:  # a call that is not stopped comes last
        looks, every = 0, every * 2
        search.run([])
    search.late = lambda: False
    assert found_by(other, search, []) == least


def test_stopped_at_once():
    case = Case("errors", 60, 3, 4)
    search = case.search()
    search.late = lambda: True
    search.run([mt.TopDown().grow(case.problem, 3).tree(3)])
    assert all(count_splits(nested) == 0 for nested in case.taken)
    with pytest.raises(Late):
        search.look(search.order)


def test_swaps():
    tree = (1, (2, None, (3, None, None)), (4, None, None))
    assert sorted(swaps(tree), key=str) == sorted(
        [
            (2, (1, None, (3, None, None)), (4, None, None)),
            (4, (2, None, (3, None, None)), (1, None, None)),
            (1, (3, None, (2, None, None)), (4, None, None)),
        ],
        key=str,
    )
    assert list(swaps(None)) == []


def test_many_columns_are_left_out(monkeypatch):
    """Those whose best test is the purest stay."""
    monkeypatch.setattr(local_search, "PAIRS", 60 * 4 // 2)
    monkeypatch.setattr(local_search, "FEWEST_COLUMNS", 2)
    case = Case("errors", 60, 5, 6)
    seen = (search := case.search()).look(search.order)
    assert len(seen.columns) == 2
    assert {0, 1} == {search.rows.origins[column] for column in seen.columns}


def blind(monkeypatch) -> None:
    """Let the search prove nothing beyond counting."""
    monkeypatch.setattr(Workers, "find", lambda *arguments, **options: None)
    monkeypatch.setattr(frontier_module.Frontier, "_answer_quickly", lambda self, sizes: 0)
    monkeypatch.setattr(frontier_module, "MEANWHILE", 10**12)
    monkeypatch.setattr(frontier_module.Frontier, "_polish", lambda self: None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_depth", [None, 2])
def test_the_frontier_takes_better_trees_than_greedy(kind, max_depth, monkeypatch):
    blind(monkeypatch)
    case = Case(kind, 90, 3, 8, ranks=30)
    frontier = Frontier(choose_strategy(case.problem, False, 2**30), 4, max_depth, 2**30)
    greedy = mt.TopDown().grow(case.problem, 4)
    with TimeLimit(None) as limit:
        frontier.run(limit, None if max_depth else lambda: greedy)
    upper = [frontier._error(cost) for cost in frontier.upper]
    assert all(np.diff(upper) <= 0)
    for size, tree in enumerate(frontier.trees):
        assert true_error(case, tree) == pytest.approx(upper[size], abs=1e-9)
        assert tree.size <= size
        assert tree.depth <= (max_depth or size)
    if max_depth is None:
        assert np.all(upper <= greedy.errors[:5] + 1e-12)
        assert np.any(upper < greedy.errors[:5] - 1e-9)


def test_little_memory_leaves_local_search_out():
    case = Case("errors", 90, 3, 8)
    strategy = choose_strategy(case.problem, False, 2**30)
    assert strategy.sort(2**30) is case.rows or strategy.sort(2**30) is not None
    assert strategy.sort(1000) is None


def test_a_single_column_whose_first_row_is_its_highest():
    """There is no cut above it, from which a search could begin."""
    problem = mt.SampleProblem([[3], [0], [1], [2], [0], [3]], [0, 0, 1, 1, 0, 0])
    rows, taken = OrderedRows.of(problem, False), []
    assert rows.literal(0, 0)[0] == len(problem.literals)  # of no column
    search = LocalSearch(rows, 2, UNLIMITED, taken.append)
    search.compile()
    search.run([])
    assert min(map(rows.wrong, taken)) == 0


def test_unlabelled():
    case = Case("errors", 60, 3, 4)
    tree = mt.TopDown().grow(case.problem, 3).tree(3)
    nested = unlabelled(case.rows, tree)
    assert count_splits(nested) == 3
    assert as_trees(case.problem, [case.search().label(nested, case.rows.everything)])[0] == tree
