"""The rows of a problem in the form that a search reads, whichever way it enumerates tests.

Rows that no test tells apart and that have one class are one row with the sum of their weights. A
test is the position of a literal among those of the problem.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mictree.problems.sample import SampleProblem
from mictree.tree import LEAF, Tree


class Written(NamedTuple):
    """Weights exactly as written, where those of the search are rounded."""

    weights: np.ndarray  # Python integers
    unit: int  # what is 1 in the search
    slack: int  # by how much a sum of rounded weights may be wrong, in units


class SearchedRows(ABC):
    """Distinct rows with integer weights, and the tests on them.

    Attributes
    ----------
    data : what the kernel works on; its ``weights`` are (rows, 2): the weight, and what of it no
        tree can label right
    codes, weights : the class and the weight of each row
    written : the weights as written; None where none is rounded
    floor : the weight that no tree can label right
    """

    problem: SampleProblem
    data: Any
    codes: np.ndarray
    weights: np.ndarray
    written: Written | None
    floor: int

    @abstractmethod
    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""

    @property
    def everything(self) -> np.ndarray:
        """All rows."""
        return np.arange(len(self.codes))

    def masses(self, rows: np.ndarray | None = None) -> np.ndarray:
        """The weight of each class among some rows, by default all."""
        codes, weights, count = self.codes, self.weights, len(self.problem.classes)
        if rows is not None:
            codes, weights = codes[rows], weights[rows]
        if weights.dtype == np.int32 or self._adds_up:
            return np.bincount(codes, weights, count).astype(np.int64)
        return add_up(codes, weights, count)

    @cached_property
    def _adds_up(self) -> bool:
        """Whether sums of weights are exact in floating point."""
        return bool(self.weights.sum() < 2**53)

    def leaf_error(self, rows: np.ndarray) -> int:
        """The weight that a leaf labels wrongly."""
        masses = self.masses(rows)
        return int(masses.sum() - masses.max())

    def majority(self, rows: np.ndarray) -> int:
        """The heaviest class of some rows, the first of several."""
        return int(self.masses(rows).argmax())

    def tests(self, tree: Tree) -> list[int]:
        """The test of each node of a tree, -1 at a leaf."""
        positions = {LEAF: LEAF, **tree.positions(self.problem)}
        return [positions[test] for test in tree.tests]

    def nodes(self, tree: Tree | Any) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """The test and both children of each node of a tree, nested or not; tests of leaves: -1."""
        if isinstance(tree, Tree):
            return self.tests(tree), tree.low, tree.high
        subtrees, tests, low, high = [tree], [], [], []
        for subtree in subtrees:  # grows meanwhile
            inner = isinstance(subtree, tuple)
            tests.append(subtree[0] if inner else LEAF)
            low.append(len(subtrees) if inner else LEAF)
            high.append(len(subtrees) + 1 if inner else LEAF)
            subtrees += subtree[1:] if inner else ()
        return tests, low, high

    def wrong(self, tree: Tree | Any) -> int:
        """The weight that a tree, nested or not, labels wrongly, counted anew."""
        if isinstance(tree, Tree):
            labels = np.array(tree.labels)[self._leaves(tree)]
        else:
            labels, waiting = np.empty(len(self.codes), dtype=np.intp), [(tree, self.everything)]
            while waiting:
                nested, rows = waiting.pop()
                if isinstance(nested, tuple):
                    test, low, high = nested
                    held = self.holds(rows, test)
                    waiting += [(low, rows[~held]), (high, rows[held])]
                else:
                    labels[rows] = nested
        return int(self.weights[labels != self.codes].sum())

    def relabel(self, tree: Tree, weights: np.ndarray) -> tuple[Tree, int]:
        """A tree with the heaviest class at each leaf, by other weights; its wrong weight."""
        votes = np.zeros((len(tree.tests), len(self.problem.classes)), dtype=weights.dtype)
        np.add.at(votes, (self._leaves(tree), self.codes), weights)
        labels = [
            LEAF if test != LEAF else int(np.argmax(row))
            for test, row in zip(tree.tests, votes, strict=True)
        ]
        right = sum(row[label] for row, label in zip(votes, labels, strict=True) if label != LEAF)
        return replace(tree, labels=tuple(labels)), int(weights.sum() - right)

    def _leaves(self, tree: Tree) -> np.ndarray:
        """The leaf of a tree that each row reaches."""
        reached = np.zeros(len(self.codes), dtype=np.intp)
        tests, waiting = self.tests(tree), [(0, self.everything)]
        while waiting:
            node, rows = waiting.pop()
            if tests[node] == LEAF:
                reached[rows] = node
            else:
                held = self.holds(rows, tests[node])
                waiting += [(tree.low[node], rows[~held]), (tree.high[node], rows[held])]
        return reached


def add_up(groups: np.ndarray, integers: np.ndarray, count: int) -> np.ndarray:
    """The sum of each group's integers, exactly: ``np.bincount`` adds them up in floating point."""
    if integers.dtype != object and integers.sum() < 2**53:
        return np.bincount(groups, integers, count).astype(np.int64)
    sums = np.zeros(count, dtype=integers.dtype if integers.dtype == object else np.int64)
    np.add.at(sums, groups, integers)
    return sums


def row_slots(problem: SampleProblem) -> np.typing.NDArray[np.intp]:
    """The slot of each row of a problem, class by class."""
    starts = 64 * problem.first_word[:-1] - np.cumsum(problem.class_rows) + problem.class_rows
    return np.arange(problem.class_rows.sum()) + np.repeat(starts, problem.class_rows)
