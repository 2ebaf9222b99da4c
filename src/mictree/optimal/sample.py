"""Optimal trees on data: the whole frontier of sizes in one search, with certified intervals.

Sizes are proved one after another over one table of sub-problems. When time runs out, every size
still has a lower bound, from what the table knows, and an upper bound, from a tree.
"""

import operator
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mictree._checks import check_size
from mictree.growers import TopDown
from mictree.optimal._asking import Asking
from mictree.optimal._frames import first_test
from mictree.optimal._rows import Rows
from mictree.optimal._table import STORED, UNLIMITED
from mictree.optimal.base import CertifiedErrors, Choice, OptimalTrees
from mictree.problems.base import Leaf
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

MOST_BUDGETS = 60  # larger sizes get the bounds of this one


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
    """One frontier: the encoded rows, the questions asked, the bounds so far."""

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
        self.time_limit = time_limit
        self.rows = Rows.of(problem)
        self.total, self.floor = self.rows.data.weights.sum(axis=0, dtype=int).tolist()
        self.budgets = min(max_size, MOST_BUDGETS)
        self.depth = UNLIMITED if max_depth is None or max_depth >= self.budgets else max_depth
        levels = min(self.budgets, self.depth) + 2
        self.asking = Asking(self.rows, self.budgets, levels, memory_limit)
        self.greedy = TopDown().grow(problem, max_size) if max_depth is None else None
        self.trees = [_leaf_tree(problem)]
        self.upper = [self.rows.wrong(self.trees[0])]

    def run(self, exact: bool) -> SampleOptimalTrees:
        self.asking.compile()
        if self.time_limit is not None:
            self.asking.deadline = time.monotonic() + self.time_limit
        proved = 0
        with self.asking.running():
            for size in range(1, self.max_size + 1):
                tree, upper = self._candidate(size)
                found = self._prove(size, tree, upper) if size <= self.budgets else None
                if found is not None:
                    tree, proved = found, size
                self.trees.append(tree)
                self.upper.append(self.rows.wrong(tree))
            return self._result(proved, exact)

    def _candidate(self, size: int) -> tuple[Tree, int]:
        """The better of the last tree and the greedy one of this size."""
        tree, upper = self.trees[-1], self.upper[-1]
        if self.greedy is not None:
            grown = self.greedy.tree(size)
            wrong = self.rows.wrong(grown)
            if wrong < upper:
                return grown, wrong
        return tree, upper

    def _prove(self, size: int, tree: Tree, upper: int) -> Tree | None:
        """A tree of the least error, this one if none is better; None if time was up."""

        def tell() -> None:
            stored = int(self.asking.control[STORED])
            floor, error = self.floor / self.total, upper / self.total
            self.progress(Found(size, self.max_size, stored, floor, error))

        self.asking.tell = tell
        if upper <= self.floor:
            return tree
        value = self.asking.ask(self.rows.mask(self.rows.everything), size, upper, self.depth)
        if value is None or value >= upper:
            return None if value is None else tree
        found = self._retrace(size, value)
        if found is not None and self.rows.wrong(found) != value:
            wrong = self.rows.wrong(found)
            raise AssertionError(f"the tree of size {size} makes {wrong} errors, not {value}")
        return found

    def _retrace(self, size: int, value: int) -> Tree | None:
        """A tree that attains a least error, test by test from the table."""
        names = self.problem.variables
        finished: list[Any] = []
        waiting: list[Any] = [(self.rows.everything, size, value, self.depth)]
        while waiting:
            task = waiting.pop()
            if isinstance(task, str):
                high, low = finished.pop(), finished.pop()
                finished.append((task, low, high))
                continue
            rows, budget, least, depth = task
            if self.rows.leaf_error(rows) <= least:
                finished.append(self.rows.majority(rows))
                continue
            if self.asking.ask(self.rows.mask(rows), budget, least + 1, depth, True) is None:
                return None
            literal, low_budget, low, high = first_test(self.asking.frames[0], budget, least)
            held = self.rows.holds(rows, literal)
            waiting += [
                names[self.rows.kept[literal]],
                (rows[held], budget - 1 - low_budget, high, depth - 1),
                (rows[~held], low_budget, low, depth - 1),
            ]
        return Tree.build(names, finished[0])

    def _result(self, proved: int, exact: bool) -> SampleOptimalTrees:
        lower = list(self.upper)
        for size in range(proved + 1, self.max_size + 1):
            known = self.floor
            if size <= self.budgets:
                known = self.asking.bound(self.rows.mask(self.rows.everything), size, self.depth)
            lower[size] = min(known, self.upper[size])
        for size in reversed(range(self.max_size)):
            lower[size] = max(lower[size], lower[size + 1])
        errors = self._shares(lower, exact)
        stored = int(self.asking.control[STORED])
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


def _leaf_tree(problem: SampleProblem) -> Tree:
    return Tree.build(problem.variables, problem.root().label)
