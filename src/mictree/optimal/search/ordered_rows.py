"""A table of ordered columns as the search for optimal trees wants it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mictree.optimal.search.rows import to_integers
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
    count: int  # of all rows, equal ones included
    exact: bool  # the integers are in the ratio of the weights, not rounded

    @classmethod
    def of(
        cls, ranks: np.ndarray, codes: np.ndarray, weights: np.ndarray, classes: int
    ) -> "OrderedRows":
        """From ranks (columns, rows), class codes, and positive weights."""
        count = len(codes)
        integers, exact = to_integers(weights)
        ranks, codes, weights, alike = _merge(ranks, codes, integers)
        weights = weights.astype(np.int32 if weights.sum() < 2**30 else np.int64)
        votes = np.zeros((alike.max() + 1, classes), dtype=weights.dtype)
        np.add.at(votes, (alike, codes), weights)
        unavoidable = np.where(codes == votes.argmax(axis=1)[alike], 0, weights)
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
        return cls(data, ranks, codes, weights, classes, count, exact)

    @property
    def everything(self) -> np.ndarray:
        """All rows."""
        return np.arange(len(self.codes))

    def holds(self, rows: np.ndarray, test: Test) -> np.ndarray:
        """In which of some rows a test holds."""
        column, rank = test
        return self.ranks[column, rows] > rank

    def name(self, test: Test) -> str:
        """The name of a test."""
        return f"{test[0]}>{test[1]}"

    def build(self, nested: Any) -> Tree:
        """A tree from nested names and labels; it has the tests that it uses."""
        names, waiting = set(), [nested]
        while waiting:
            if isinstance(subtree := waiting.pop(), tuple):
                names.add(subtree[0])
                waiting += subtree[1:]
        return Tree.build(sorted(names), nested)

    def split(self, tree: Tree, node: int, rows: np.ndarray) -> np.ndarray:
        """In which of some rows the test of a tree's node holds."""
        column, rank = tree.variables[tree.tests[node]].split(">")
        return self.holds(rows, (int(column), int(rank)))

    def leaf_error(self, rows: np.ndarray) -> int:
        """The weight that a leaf labels wrongly."""
        masses = np.bincount(self.codes[rows], self.weights[rows])
        return int(masses.sum() - masses.max())

    def majority(self, rows: np.ndarray) -> int:
        """The heaviest class of some rows, the first of several."""
        return int(np.bincount(self.codes[rows], self.weights[rows]).argmax())

    def wrong(self, tree: Tree) -> int:
        """The weight that a tree labels wrongly, counted anew."""
        wrong, waiting = 0, [(0, self.everything)]
        while waiting:
            node, rows = waiting.pop()
            if tree.tests[node] < 0:
                wrong += int(self.weights[rows[self.codes[rows] != tree.labels[node]]].sum())
            else:
                held = self.split(tree, node, rows)
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
