"""Optimal trees on data: the whole frontier of sizes in one search, with certified intervals.

Sizes are proved one after another over one table of sub-problems. When time runs out, every size
still has a lower bound, from what the table knows, and an upper bound, from a tree.
"""

import operator
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
from mictree.optimal._frames import first_test, make_frames
from mictree.optimal._rows import Rows
from mictree.optimal._table import ROOM, RUN, STATUS, STOP, STORED, UNLIMITED, Table, rehash
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
        self.rows = Rows.of(problem)
        self.total, self.floor = self.rows.data.weights.sum(axis=0, dtype=int).tolist()
        self.budgets = min(max_size, MOST_BUDGETS)
        self.depth = UNLIMITED if max_depth is None else min(max_depth, UNLIMITED)
        if self.depth >= self.budgets:
            self.depth = UNLIMITED
        self.frames = make_frames(self.rows.data, self.budgets, min(self.budgets, self.depth) + 2)
        self._set_rows(np.arange(len(self.rows.codes)))
        each = 24 + self.rows.weights.itemsize * (self.budgets + 1)
        self.most_places = 1 << max(14, (memory_limit // each).bit_length() - 1)
        self.table = _make_table(SMALLEST_TABLE, self.budgets, self.rows.weights.dtype)
        self.control = np.zeros(5, dtype=np.int64)
        self._set_room()
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
        known = (self.rows.data, self.table, self.frames)
        search.solve(0, 0, self.depth, False, *known, self.control)
        search.root_bound(0, self.depth, *known)

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
        value = self._wait(
            lambda: search.solve(
                size, upper, self.depth, False,
                self.rows.data, self.table, self.frames, self.control,
            ),
            size, upper,
        )  # fmt: skip
        if value is None:
            return False
        if value >= upper:
            self.trees.append(tree)
            self.upper.append(upper)
            return True
        found = self._rebuild(size, value)
        if found is None:
            return False
        wrong = self.rows.wrong(found)
        if wrong != value:
            raise AssertionError(f"the tree of size {size} makes {wrong} errors, not {value}")
        self.trees.append(found)
        self.upper.append(wrong)
        return True

    def _wait(self, work: Callable[[], Any], size: int, upper: Any) -> Any:
        """Run a kernel in a thread until it is done; None when it had to be stopped."""
        while True:
            outcome: list[Any] = []
            self.control[STATUS] = RUN
            thread = threading.Thread(target=_collect, args=(work, outcome), daemon=True)
            thread.start()
            try:
                while thread.is_alive():
                    thread.join(PATIENCE if self.deadline is None else self._patience())
                    stored = int(self.control[STORED])
                    floor = self.floor / self.total
                    self.progress(Found(size, self.max_size, stored, floor, upper / self.total))
                    if self.deadline is not None and time.monotonic() > self.deadline:
                        self.control[STATUS] = STOP
            except KeyboardInterrupt:  # the same as a time limit: what is known is returned
                self.deadline = time.monotonic()
                self.control[STATUS] = STOP
                thread.join()
            if self.control[STATUS] == STOP:
                return None
            if self.control[STATUS] == RUN:
                return outcome[0]
            self._enlarge()

    def _patience(self) -> float:
        assert self.deadline is not None
        return max(0.001, min(PATIENCE, self.deadline - time.monotonic()))

    def _enlarge(self) -> None:
        larger = _make_table(2 * len(self.table.entries), self.budgets, self.table.lower.dtype)
        rehash(self.table, larger)
        self.table = larger
        self._set_room()

    def _set_room(self) -> None:
        places = len(self.table.entries)
        # the largest table overwrites instead of growing
        full = 2**62 if 2 * places > self.most_places else places // 2
        self.control[ROOM] = full

    def _set_rows(self, rows: np.ndarray) -> None:
        mask = np.zeros(64 * self.frames.mask.shape[1], dtype=bool)
        mask[self.rows.slots[rows]] = True
        self.frames.mask[0] = np.packbits(mask, bitorder="little").view(np.uint64)

    def _rebuild(self, size: int, value: Any) -> Tree | None:
        """A tree that attains a least error, test by test from the table."""
        names = self.problem.variables
        finished: list[Any] = []
        everything = np.arange(len(self.rows.codes))
        waiting: list[Any] = [(everything, size, value, self.depth)]
        while waiting:
            task = waiting.pop()
            if isinstance(task, str):
                high, low = finished.pop(), finished.pop()
                finished.append((task, low, high))
                continue
            rows, budget, least, depth = task
            if budget == 0 or self.rows.leaf_error(rows) <= least:
                finished.append(self.rows.majority(rows))
                continue
            self._set_rows(rows)
            question = (budget, least + 1, depth, True)
            answer = self._wait(
                lambda asked=question: search.solve(
                    *asked, self.rows.data, self.table, self.frames, self.control
                ),
                size, value,
            )  # fmt: skip
            if answer is None:
                self._set_rows(everything)
                return None
            literal, low_budget, low, high = first_test(self.frames, budget, least)
            held = self.rows.holds(rows, literal)
            waiting += [
                names[self.rows.kept[literal]],
                (rows[held], budget - 1 - low_budget, high, depth - 1),
                (rows[~held], low_budget, low, depth - 1),
            ]
        self._set_rows(everything)
        return Tree.build(names, finished[0])

    def _result(self, proved: int, exact: bool) -> SampleOptimalTrees:
        lower = list(self.upper)
        for size in range(proved + 1, self.max_size + 1):
            known = self.floor
            if size <= self.budgets:
                known = search.root_bound(size, self.depth, self.rows.data, self.table, self.frames)
            lower[size] = min(known, self.upper[size])
        for size in reversed(range(self.max_size)):
            lower[size] = max(lower[size], lower[size + 1])
        errors = self._shares(lower, exact)
        stored = int(self.control[STORED])
        return SampleOptimalTrees(self.problem, self.max_size, errors, stored, tuple(self.trees))

    def _shares(self, lower: list[int], exact: bool) -> CertifiedErrors:
        """Both bounds as shares of the whole weight."""
        share = Fraction if exact else operator.truediv
        if self.rows.whole:
            bounds = [[share(wrong, self.total) for wrong in side] for side in (lower, self.upper)]
        else:  # each weight was rounded by at most a half
            upper = [tree.error(self.problem, exact) for tree in self.trees]
            rounding = len(self.rows.codes)
            bounds = (
                [
                    error
                    if least == most
                    else min(share(max(0, least - rounding), self.total), error)
                    for least, most, error in zip(lower, self.upper, upper, strict=True)
                ],
                upper,
            )
        kind = object if exact else float
        return CertifiedErrors.between(*(np.array(side, dtype=kind) for side in bounds))


def _collect(work: Callable[[], Any], outcome: list[Any]) -> None:
    outcome.append(work())


def _leaf_tree(problem: SampleProblem) -> Tree:
    return Tree.build(problem.variables, problem.root().label)


def _make_table(places: int, budgets: int, kind: np.dtype) -> Table:
    return Table(
        np.zeros((places, 3), dtype=np.uint64), np.zeros((places, budgets + 1), dtype=kind)
    )
