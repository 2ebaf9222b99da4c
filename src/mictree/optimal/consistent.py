"""The smallest tree that fits a small sample exactly.

Finding it is NP-hard in general (Hancock, Jiang, Li and Tromp), and the paper reduces it to finding
optimal trees: it is the optimal tree of the least size whose error on the sample is 0. The search
is exact. It asks for ever larger sizes, and remembers for every set of rows what it found.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mictree._support.checks import TooLarge
from mictree.functions.read_once import binary_matrix, check_names
from mictree.tree import Tree

MAX_STATES = 1_000_000


def minimal_consistent_tree(
    X: np.typing.ArrayLike,
    y: np.typing.ArrayLike,
    variables: Sequence[str] | None = None,
    max_states: int = MAX_STATES,
) -> Tree:
    """A tree of the least size that gives every row its label.

    Parameters
    ----------
    X : 0/1 matrix, one row an example
    y : the labels, 0 or 1
    variables : the columns' names; by default ``x1`` to ``xn``
    max_states : how many sets of rows may be looked at before the search is given up

    Examples
    --------
    >>> tree = minimal_consistent_tree([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> tree.size
    3
    """
    columns = np.shape(X)[1] if np.ndim(X) == 2 else 0
    names = [f"x{number}" for number in range(1, columns + 1)] if variables is None else variables
    matrix = binary_matrix(X, check_names(names))
    labels = np.asarray(y)
    if labels.shape != (len(matrix),) or not np.all((labels == 0) | (labels == 1)):
        raise ValueError(f"y must hold one label, 0 or 1, for each of the {len(matrix)} rows")
    search = _Search(*_distinct(matrix, labels.astype(bool)), max_states)
    return Tree.build(names, search.smallest(list(names)))


def _distinct(matrix: np.ndarray, labels: np.ndarray) -> tuple[list[int], int, int]:
    """Columns and labels as sets of distinct rows (bit i: row i), and the number of rows."""
    label_of: dict[bytes, bool] = {}
    first: dict[bytes, int] = {}
    for number, (row, label) in enumerate(zip(matrix, labels, strict=True)):
        key = row.tobytes()
        if label_of.setdefault(key, label) != label:
            raise ValueError(
                "equal rows must have equal labels, or no tree fits; "
                f"rows {first[key]} and {number} differ only in their label"
            )
        first.setdefault(key, number)
    rows = list(first.values())
    columns = [_bits(matrix[rows, column]) for column in range(matrix.shape[1])]
    return columns, _bits(labels[rows]), len(rows)


def _bits(flags: np.ndarray) -> int:
    return sum(1 << position for position, flag in enumerate(flags) if flag)


class _Search:
    """Least sizes of trees for sets of rows, with what is known of each set."""

    def __init__(self, columns: list[int], positive: int, rows: int, max_states: int) -> None:
        self.columns = columns
        self.positive = positive
        self.everything = (1 << rows) - 1
        self.max_states = max_states
        self.least: dict[int, tuple[int, int]] = {}  # rows -> size, column of the root
        self.beyond: dict[int, int] = {}  # rows -> a size that is certainly too small

    def smallest(self, names: list[str]) -> Any:
        """The nested form of a smallest tree for all rows."""
        limit = 0
        while self._size(self.everything, limit) is None:
            limit += 1  # distinct rows can be told apart, so this ends
        return self._nested(self.everything, names)

    def _size(self, rows: int, limit: int) -> int | None:
        """The least size of a tree for these rows, or None when it is above the limit."""
        if self._is_pure(rows):
            return 0
        if rows in self.least:
            size = self.least[rows][0]
            return size if size <= limit else None
        if limit <= self.beyond.get(rows, 0):  # rows of both labels need at least one split
            return None
        if len(self.least) + len(self.beyond) >= self.max_states:
            raise TooLarge(
                f"the search must stay within max_states={self.max_states} sets of rows; "
                "fewer rows or columns would fit"
            )
        best = None
        for column, low in self._splits(rows):
            size = self._size_below(low, rows ^ low, limit - 1)
            if size is not None:
                best, limit = (size + 1, column), size  # from now on only smaller trees count
        if best is None:
            self.beyond[rows] = limit
            return None
        self.least[rows] = best
        return best[0]

    def _size_below(self, low: int, high: int, limit: int) -> int | None:
        """The least total size of two subtrees, or None when it is above the limit."""
        fewer, more = sorted((low, high), key=int.bit_count)
        reserve = 0 if self._is_pure(more) else 1
        one = self._size(fewer, limit - reserve)
        if one is None:
            return None
        other = self._size(more, limit - one)
        return None if other is None else one + other

    def _splits(self, rows: int) -> list[tuple[int, int]]:
        """Columns that part these rows, and the rows with 0; one of several alike, or opposite."""
        found: dict[int, tuple[int, int]] = {}
        for column, ones in enumerate(self.columns):
            high = rows & ones
            low = rows ^ high
            if low and high:
                found.setdefault(min(low, high), (column, low))
        return list(found.values())

    def _is_pure(self, rows: int) -> bool:
        return rows & self.positive in (0, rows)

    def _nested(self, rows: int, names: list[str]) -> Any:
        if self._is_pure(rows):
            return int(rows & self.positive != 0)
        column = self.least[rows][1]
        high = rows & self.columns[column]
        return (names[column], self._nested(rows ^ high, names), self._nested(high, names))
