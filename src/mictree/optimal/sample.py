"""Optimal trees on data: the whole frontier of sizes in one search, with certified intervals.

Sizes are proved one after another over one table of sub-problems. When time runs out, every size
still has a lower bound, from what the table knows, and an upper bound, from a tree.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mictree._checks import check_size
from mictree.growers import TopDown
from mictree.optimal import _search as search
from mictree.optimal._rows import Rows
from mictree.optimal.base import CertifiedErrors, Choice, OptimalTrees
from mictree.problems.base import Leaf
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

MOST_BUDGETS = 60  # larger sizes get the bounds of this one
SMALLEST_TABLE = 1 << 14
PATIENCE = 0.05  # seconds between two looks at the clock


class Found(NamedTuple):
    """How far the search has come."""

    size: int  # being proved
    max_size: int
    sub_problems: int
    lower: float  # of the size being proved; at least the rows that contradict each other
    upper: float


@dataclass(frozen=True)
class SampleOptimalTrees(OptimalTrees):
    """Optimal trees on data, as far as they are proved.

    Attributes
    ----------
    errors : CertifiedErrors, with ``lower``, ``upper`` and ``proved`` for each size
    sub_problems : how many row sets were looked at
    """

    errors: CertifiedErrors
    sub_problems: int
    trees: tuple[Tree, ...] = field(repr=False)

    def tree(self, size: int) -> Tree:
        """A tree with at most ``size`` splits that attains ``errors[size]``."""
        wanted = check_size(size, "size")
        if wanted > self.max_size:
            raise ValueError(f"size must be at most max_size={self.max_size}; got {wanted}")
        return self.trees[wanted]

    def _start(self) -> Any:
        raise NotImplementedError  # trees are kept

    def _choose(self, leaf: Leaf, state: Any, size: int) -> Choice | None:
        raise NotImplementedError


def solve(
    problem: SampleProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    progress: Callable[[Found], None] | None = None,
    max_depth: int | None = None,
    time_limit: float | None = None,
) -> SampleOptimalTrees:
    """Prove sizes 1, 2, ... until ``max_size``, the time limit or an interrupt."""
    if max_depth is not None:
        check_size(max_depth, "max_depth")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds; got {time_limit!r}")
    return _Search(problem, max_size, memory_limit, progress, max_depth, time_limit).run(exact)


class _Search:
    """One frontier: the encoded rows, the table of sub-problems, the bounds so far."""

    def __init__(
        self,
        problem: SampleProblem,
        max_size: int,
        memory_limit: int,
        progress: Callable[[Found], None] | None,
        max_depth: int | None,
        time_limit: float | None,
    ) -> None:
        self.problem, self.max_size = problem, max_size
        self.progress = progress or (lambda found: None)
        self.time_limit, self.deadline = time_limit, None
        self.depth = search.UNLIMITED if max_depth is None else max_depth
        self.rows = Rows.of(problem)
        self.budgets = min(max_size, MOST_BUDGETS)
        count = len(self.rows.data.weights)
        self.frames = _make_frames(self.rows.data, self.budgets, min(self.budgets, self.depth) + 2)
        self.frames.rows[0] = np.arange(count)
        each = 24 + 8 * (self.budgets + 1)
        self.most_places = 1 << max(14, (memory_limit // each).bit_length() - 1)
        self.table = _make_table(SMALLEST_TABLE, self.budgets, self.rows.data.weights.dtype)
        self.counters = np.zeros(4, dtype=np.int64)
        self._set_room()
        self.stop = np.zeros(1, dtype=np.int64)
        growth = TopDown().grow(problem, max_size) if max_depth is None else None
        self.trees = [_leaf_tree(problem)]
        self.greedy = growth
        self.upper = [self.rows.wrong(self.trees[0])]

    def run(self, exact: bool) -> SampleOptimalTrees:
        proved = 0
        self._compile()
        if self.time_limit is not None:
            self.deadline = time.monotonic() + self.time_limit
        for size in range(1, self.max_size + 1):
            tree, upper = self._candidate(size)
            done = proved == size - 1 and size <= self.budgets and self._prove(size, tree, upper)
            if not done:
                self.trees.append(tree)
                self.upper.append(upper)
            proved += done
        return self._result(proved, exact)

    def _compile(self) -> None:
        """Ask what needs no search, so that compiling does not count as time."""
        none = self.rows.data.weights.dtype.type(0)
        known = (self.rows.data, self.table, self.frames)
        search.solve(0, 0, 0, none, self.depth, *known, self.stop, self.counters)
        search.choose(0, 0, none, self.rows.slack, self.depth, *known, self.stop, self.counters)
        search.root_bound(0, 0, self.depth, *known)

    def _candidate(self, size: int) -> tuple[Tree, Any]:
        """The better of the last tree and the greedy one of this size."""
        tree, upper = self.trees[-1], self.upper[-1]
        if self.greedy is not None:
            grown = self.greedy.tree(size)
            wrong = self.rows.wrong(grown)
            if wrong < upper:
                return grown, wrong
        return tree, upper

    def _prove(self, size: int, tree: Tree, upper: Any) -> bool:
        """Find the least error of a size and its tree; says whether there was time."""
        count = len(self.rows.data.weights)
        bound = self.rows.data.weights.dtype.type(upper)
        value = self._wait(
            lambda: search.solve(
                0, count, size, bound, self.depth,
                self.rows.data, self.table, self.frames, self.stop, self.counters,
            ),
            size, upper,
        )  # fmt: skip
        if value is None:
            return False
        if value >= upper - self.rows.slack:
            self.trees.append(tree)
            self.upper.append(upper)
            return True
        found = self._rebuild(size, value)
        if found is None:
            return False
        wrong = self.rows.wrong(found)
        if abs(wrong - value) > self.rows.slack:
            raise AssertionError(f"the tree of size {size} makes {wrong} errors, not {value}")
        self.trees.append(found)
        self.upper.append(wrong)
        return True

    def _wait(self, work: Callable[[], Any], size: int, upper: Any) -> Any:
        """Run a kernel in a thread until it is done; None when it had to be stopped."""
        while True:
            outcome: list[Any] = []
            self.stop[0] = search.RUN
            thread = threading.Thread(target=_collect, args=(work, outcome), daemon=True)
            thread.start()
            try:
                while thread.is_alive():
                    thread.join(PATIENCE if self.deadline is None else self._patience())
                    scale = float(self.rows.total)
                    stored = int(self.counters[search.STORED])
                    floor = float(self.rows.data.unavoidable.sum()) / scale
                    self.progress(Found(size, self.max_size, stored, floor, float(upper) / scale))
                    if self.deadline is not None and time.monotonic() > self.deadline:
                        self.stop[0] = search.STOP
            except KeyboardInterrupt:  # the same as a time limit: what is known is returned
                self.deadline = time.monotonic()
                self.stop[0] = search.STOP
                thread.join()
            if self.stop[0] == search.STOP:
                return None
            if self.stop[0] == search.RUN:
                return outcome[0]
            self._enlarge()

    def _patience(self) -> float:
        assert self.deadline is not None
        return max(0.001, min(PATIENCE, self.deadline - time.monotonic()))

    def _enlarge(self) -> None:
        larger = _make_table(2 * len(self.table.exact), self.budgets, self.table.lower.dtype)
        search.rehash(self.table, larger)
        self.table = larger
        self._set_room()

    def _set_room(self) -> None:
        places = len(self.table.exact)
        # the largest table overwrites instead of growing
        full = 2**62 if 2 * places > self.most_places else places // 2
        self.counters[search.ROOM] = full

    def _rebuild(self, size: int, value: Any) -> Tree | None:
        """A tree that attains a least error, test by test from the table."""
        names = self.problem.variables
        finished: list[Any] = []
        everything = self.frames.rows[0].copy()
        waiting: list[Any] = [(everything, size, value, self.depth)]
        while waiting:
            task = waiting.pop()
            if isinstance(task, str):
                high, low = finished.pop(), finished.pop()
                finished.append((task, low, high))
                continue
            rows, budget, least, depth = task
            self.frames.rows[0, : len(rows)] = rows
            question = (len(rows), budget, least, self.rows.slack, depth)
            chosen = self._wait(
                lambda asked=question: search.choose(
                    *asked, self.rows.data, self.table, self.frames, self.stop, self.counters
                ),
                size, value,
            )  # fmt: skip
            if chosen is None:
                self.frames.rows[0] = everything
                return None
            literal, low_budget, low, high = chosen
            if literal < 0:
                finished.append(self.rows.majority(rows))
                continue
            held = self.rows.holds(rows, literal)
            waiting += [
                names[self.rows.kept[literal]],
                (rows[held], budget - 1 - low_budget, high, depth - 1),
                (rows[~held], low_budget, low, depth - 1),
            ]
        self.frames.rows[0] = everything
        return Tree.build(names, finished[0])

    def _result(self, proved: int, exact: bool) -> SampleOptimalTrees:
        count = len(self.rows.data.weights)
        lower = list(self.upper)
        for size in range(proved + 1, self.max_size + 1):
            budget = min(size, self.budgets)
            known = search.root_bound(
                count, budget, self.depth, self.rows.data, self.table, self.frames
            )
            if size > self.budgets:
                known = min(known, self.rows.data.unavoidable.sum())
            lower[size] = min(known, self.upper[size])
        for size in reversed(range(self.max_size)):
            lower[size] = max(lower[size], lower[size + 1])
        convert = self._fraction if exact else self._share
        upper = np.array([convert(wrong) for wrong in self.upper], dtype=object if exact else float)
        bounds = np.array([convert(wrong) for wrong in lower], dtype=upper.dtype)
        errors = CertifiedErrors.between(bounds, upper)
        stored = int(self.counters[search.STORED])
        return SampleOptimalTrees(self.problem, self.max_size, errors, stored, tuple(self.trees))

    def _share(self, wrong: Any) -> float:
        return float(wrong) / float(self.rows.total)

    def _fraction(self, wrong: Any) -> Fraction:
        return Fraction(wrong if self.rows.whole else float(wrong)) / Fraction(self.rows.total)


def _collect(work: Callable[[], Any], outcome: list[Any]) -> None:
    outcome.append(work())


def _leaf_tree(problem: SampleProblem) -> Tree:
    return Tree.build(problem.variables, problem.root().label)


def _make_table(places: int, budgets: int, kind: np.dtype) -> search.Table:
    return search.Table(
        np.zeros((places, 2), dtype=np.uint64),
        np.zeros((places, budgets + 1), dtype=kind),
        np.zeros(places, dtype=np.uint64),
    )


def _make_frames(data: search.Data, budgets: int, levels: int) -> search.Frames:
    count, literals, kind = len(data.weights), data.literals, data.weights.dtype
    words = int(sum((rows + 63) // 64 for rows in np.diff(data.first_row)))
    return search.Frames(
        np.empty((levels, count), dtype=np.int64),
        np.empty((levels, literals, words), dtype=np.uint64),
        np.empty((levels, 2, literals), dtype=kind),
        np.empty((levels, 2, literals), dtype=kind),
        np.empty((levels, 2, literals), dtype=kind),
        np.empty((levels, literals), dtype=np.int64),
        np.empty((levels, 2, budgets + 1), dtype=kind),
        np.empty((levels, 2), dtype=np.uint64),
        np.empty((levels, 9), dtype=np.int64),
        np.empty((levels, 7), dtype=kind),
        np.empty((levels, 2), dtype=np.uint64),
    )
