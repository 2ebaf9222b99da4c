"""A table of ordered columns as the search for optimal trees wants it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mictree.optimal.search.rows import add_up, find_unavoidable, to_integers
from mictree.optimal.search.sweep_frames import OrderedData
from mictree.tree import Tree

Test = tuple[int, int]  # a column and a rank: it holds where the column's rank is larger


@dataclass(frozen=True)
class OrderedRows:
    """Distinct rows of ordered columns, with integer weights.

    A column is its values' ranks; a bit, or the test for a category, is a column of two ranks. A
    missing value fails every threshold: its rank is below all others.
    """

    data: OrderedData
    ranks: np.ndarray  # (columns, rows), in the smallest unsigned type
    codes: np.ndarray  # the class of each row
    weights: np.ndarray
    classes: int
    slack: int  # by how much a sum of rounded weights may be wrong; 0 where none is rounded

    @classmethod
    def of(
        cls,
        ranks: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray,
        class_weight: np.ndarray,
        exact: bool,
    ) -> "OrderedRows":
        """From ranks (columns, rows), class codes, weights, and a factor for each class."""
        integers, slack = to_integers(weights, codes, class_weight, exact)
        ranks, codes, weights, alike = _merge(ranks, codes, integers)
        classes = len(class_weight)
        weights = weights.astype(np.int32 if weights.sum() < 2**30 else np.int64)
        unavoidable = find_unavoidable(alike, codes, weights, classes)
        order = np.argsort(ranks, axis=1, kind="stable").astype(np.int32)
        sorted_ranks = np.take_along_axis(ranks, order, axis=1)
        order *= 2
        order[:, :-1] += sorted_ranks[:, 1:] != sorted_ranks[:, :-1]
        keys = np.random.default_rng(0x6D696374).integers(
            0, 2**64, size=(len(codes), 2), dtype=np.uint64
        )
        data = OrderedData(
            order=order,
            weights=np.column_stack([weights, unavoidable]).astype(weights.dtype),
            signed=np.where(codes == 1, weights, -weights).astype(
                np.int16 if weights.sum() < 2**15 else weights.dtype
            ),
            codes=codes.astype(np.int32),
            keys=keys,
        )
        return cls(data, ranks, codes, weights, classes, slack)

    @property
    def everything(self) -> np.ndarray:
        """All rows."""
        return np.arange(len(self.codes))

    def holds(self, rows: np.ndarray, test: Test) -> np.ndarray:
        """In which of some rows a test holds."""
        column, rank = test
        return self.ranks[column, rows] > rank

    def test(self, tree: Tree, node: int) -> Test:
        """The test of a tree's node."""
        column, rank = tree.variables[tree.tests[node]].split(">")
        return int(column), int(rank)

    def build(self, nested: Any) -> Tree:
        """A tree from nested tests and labels; it has the tests that it uses."""
        tests, waiting = set(), [nested]
        while waiting:
            if isinstance(subtree := waiting.pop(), tuple):
                tests.add(subtree[0])
                waiting += subtree[1:]
        position = {test: number for number, test in enumerate(sorted(tests))}

        def number(subtree: Any) -> Any:
            if not isinstance(subtree, tuple):
                return subtree
            return position[subtree[0]], number(subtree[1]), number(subtree[2])

        return Tree.build([f"{column}>{rank}" for column, rank in position], number(nested))

    def masses(self, rows: np.ndarray) -> np.ndarray:
        """The weight of each class among some rows."""
        return add_up(self.codes[rows], self.weights[rows], self.classes)

    def leaf_error(self, rows: np.ndarray) -> int:
        """The weight that a leaf labels wrongly."""
        masses = self.masses(rows)
        return int(masses.sum() - masses.max())

    def majority(self, rows: np.ndarray) -> int:
        """The heaviest class of some rows, the first of several."""
        return int(self.masses(rows).argmax())

    def wrong(self, tree: Tree) -> int:
        """The weight that a tree labels wrongly, counted anew."""
        wrong, waiting = 0, [(0, self.everything)]
        while waiting:
            node, rows = waiting.pop()
            if tree.tests[node] < 0:
                wrong += int(self.weights[rows[self.codes[rows] != tree.labels[node]]].sum())
            else:
                held = self.holds(rows, self.test(tree, node))
                waiting += [(tree.low[node], rows[~held]), (tree.high[node], rows[held])]
        return wrong


def _merge(ranks: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[Any, ...]:
    """Merge equal rows of one class; number rows that are equal but for their class."""
    lines = np.ascontiguousarray(ranks.T)
    order = np.lexsort((codes, *ranks))
    new = np.any(lines[order[1:]] != lines[order[:-1]], axis=1)
    group = np.concatenate([[0], np.cumsum(new)])
    first = np.concatenate([[True], new | (codes[order[1:]] != codes[order[:-1]])])
    merged = np.add.reduceat(weights[order], np.flatnonzero(first))
    chosen = order[first]
    return np.ascontiguousarray(ranks[:, chosen]), codes[chosen], merged, group[first]
