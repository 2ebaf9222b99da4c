"""The rows of a problem in the form that a search reads, whichever way it enumerates tests.

Rows that no test tells apart and that have one class are one row with the sum of their weights. A
test is the position of a literal among those of the problem.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
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
    ranks : of each row in the problem's ordered columns, one line each
    codes, weights : the class and the weight of each row
    written : the weights as written; None where none is rounded
    """

    problem: SampleProblem
    data: Any
    ranks: tuple[np.ndarray, ...]
    codes: np.ndarray
    weights: np.ndarray
    written: Written | None

    @abstractmethod
    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""

    @property
    def everything(self) -> np.ndarray:
        """All rows."""
        return np.arange(len(self.codes))

    def masses(self, rows: np.ndarray) -> np.ndarray:
        """The weight of each class among some rows."""
        return add_up(self.codes[rows], self.weights[rows], len(self.problem.classes))

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

    def wrong(self, tree: Tree) -> int:
        """The weight that a tree labels wrongly, counted anew."""
        labels = np.array(tree.labels)[self._leaves(tree)]
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

    def build(self, nested: Any) -> Tree:
        """A tree from nested tests and labels.

        Thresholds are set halfway between the neighbouring values of the rows that reach them.
        """
        leaves: list[int] = []
        tests: list[int] = []
        thresholds: list[float | None] = []
        labels = [LEAF]
        waiting = [(nested, 0, self.everything)]  # subtree, leaf by order of creation, its rows
        while waiting:
            subtree, leaf, rows = waiting.pop()
            if not isinstance(subtree, tuple):
                labels[leaf] = subtree
                continue
            test, low, high = subtree
            held = self.holds(rows, test)
            literal, threshold = self._halfway(test, rows[~held], rows[held])
            leaves.append(leaf)
            tests.append(literal)
            thresholds.append(threshold)
            waiting.append((high, len(labels) + 1, rows[held]))
            waiting.append((low, len(labels), rows[~held]))
            labels += [LEAF, LEAF]
        return self.problem.tree(leaves, tests, thresholds, labels)

    def _halfway(self, test: int, low: np.ndarray, high: np.ndarray) -> tuple[int, float | None]:
        """A test that separates two sets of rows in the middle; its threshold, if it has one."""
        literals = self.problem.literals
        number, position = literals.locate(test)
        column = literals.columns[number]
        if number not in literals.ordered or position == column.thresholds:
            return test, None
        ranks = self.ranks[literals.ordered.index(number)]
        below, above = int(ranks[low].max()), int(ranks[high].min())
        if below < column.missing:  # all that is not above is missing
            return test, column.threshold(position)
        position, threshold = column.between(below, above)
        return int(literals.starts[number]) + position, threshold


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
