"""Columns of data as literals: ``age > 37.5``, ``color is red``, ``income is missing``, ``flag``.

A binary column (0 and 1) is itself a literal. An ordered column (numbers, dates, times, durations,
ordered categories) offers thresholds halfway between neighbouring values, and a categorical column
its categories. A column with missing values also offers "is missing". A missing value fails every
threshold. Texts are made when asked for: a column of a million numbers offers a million literals.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from mictree.columns.column import Column, Texts
from mictree.columns.data import Data, unnamed
from mictree.columns.finite import check_finite
from mictree.columns.ordered import Ranks, check_kind
from mictree.columns.texts import may_clash, tell_apart
from mictree.tree import LEAF, Source, Tree

TRANSFORM_LIMIT = 2**32  # bytes of a 0/1 matrix of all literals

BoolArray = np.typing.NDArray[np.bool_]
IntArray = np.typing.NDArray[np.int64]


class Literals:
    """All literals of a data set, in the order of its columns."""

    def __init__(self, columns: Sequence[Column] | None, binary: Sequence[str] = ()) -> None:
        self._binary = tuple(binary)
        self.starts: Sequence[int]  # the first literal of each column, then the number of literals
        self.ordered: tuple[int, ...]  # the columns that are stored as ranks; bits hold all others
        if columns is None:
            self.starts, self.ordered = range(len(self._binary) + 1), ()
            return
        self.columns = tuple(columns)
        self.starts = list(accumulate((column.count for column in self.columns), initial=0))
        self.ordered = tuple(number for number, column in enumerate(self.columns) if column.ranked)

    @classmethod
    def binary(cls, names: Sequence[str]) -> Literals:
        """Every column is itself a literal."""
        return cls(None, names)

    def __len__(self) -> int:
        return self.starts[-1]

    def __reduce__(self) -> Any:
        return type(self), (None if self._binary else self.columns, self._binary)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """How each column becomes literals."""
        ends = np.array([0.0]), np.array([1.0])
        return tuple(Column(name, *ends, style="binary") for name in self._binary)

    @cached_property
    def stored_bits(self) -> np.typing.NDArray[np.intp]:
        """The literals that are stored as bits."""
        if not self.ordered:
            return np.arange(len(self))
        kept = [np.empty(0, dtype=np.intp)]  # not a flag for each literal: there may be millions
        for number, column in enumerate(self.columns):
            skipped = column.thresholds if column.ranked else 0
            if column.count > skipped:
                kept.append(np.arange(self.starts[number] + skipped, self.starts[number + 1]))
        return np.concatenate(kept)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The texts of the literals, all different."""
        return tuple(text for text, _ in self._texts)

    @cached_property
    def _texts(self) -> list[Texts]:
        return tell_apart(column.texts() for column in self.columns)

    @cached_property
    def _clashing(self) -> bool:
        """Whether a literal of one column may read like one of another."""
        return may_clash(self._names)

    @property
    def _names(self) -> Sequence[str]:
        """Those of the columns."""
        return self._binary or [each.name for each in self.columns]

    def texts(self, literal: int, threshold: float | None = None) -> Texts:
        """The text of a literal and its negation's, perhaps at another threshold."""
        if self._binary and not self._clashing:  # no need to make any column
            name = self._binary[literal]
            return name, f"not {name}"
        number, position = self.locate(literal)
        column = self.columns[number]
        if not self._clashing:
            return column.text(position, threshold)
        if threshold is None or column.threshold(position) == threshold:
            return self._texts[literal]
        above, below = column.text(position, threshold)
        return f"{above} (column {number})", f"{below} (column {number})"

    def negated(self, literal: int) -> str:
        """The negation of a literal: ``age <= 37.5``, ``color is not red``."""
        return self.texts(literal)[1]

    def locate(self, literal: int) -> tuple[int, int]:
        """The number of a literal's column, and its position among the column's literals."""
        column = bisect_right(self.starts, literal) - 1
        return column, literal - self.starts[column]

    def threshold(self, literal: int) -> float:
        """The threshold of a literal; NaN if it has none."""
        number, position = self.locate(literal)
        return self.columns[number].threshold(position)

    def thresholds(self, literals: IntArray) -> np.typing.NDArray[np.float64]:
        """Those of several literals."""
        if self._binary:
            return np.full(len(literals), 0.5)
        return np.array([self.threshold(each) for each in literals.tolist()])

    def source(self, literal: int, threshold: float = math.nan) -> Source:
        """What a test reads: its column, and the threshold or the position of another literal."""
        number, position = self.locate(literal)
        column = self.columns[number]
        if column.categories is not None or position == column.thresholds:
            return number, -1 if column.missing and position == column.count - 1 else position
        return number, column.threshold(position) if math.isnan(threshold) else threshold

    def find(self, source: Source) -> int:
        """The literal that separates the training rows as a test does; -1 if there is none."""
        number, what = source
        column, start = self.columns[number], self.starts[number]
        if isinstance(what, int):
            return start + what % column.count
        return start + column.cut(what) if column.cut(what) < column.thresholds else -1

    def tree(
        self,
        leaves: Sequence[int],
        literals: Sequence[int],
        thresholds: Sequence[float | None],
        labels: Sequence[int],
    ) -> Tree:
        """A tree from splits as ``Tree.from_splits`` has them; with numbers, of its tests only."""
        if not self.ordered:
            return Tree.from_splits(self.names, leaves, literals, labels)
        tests = [
            (literal, self.source(literal, math.nan if threshold is None else threshold))
            for literal, threshold in zip(literals, thresholds, strict=True)
        ]
        distinct = sorted(set(tests))
        place = {test: number for number, test in enumerate(distinct)}
        names = [self.texts(literal, _as_threshold(source))[0] for literal, source in distinct]
        uses = Counter(names) if len(set(names)) < len(names) else {}
        for number, (_, (column, what)) in enumerate(distinct if uses else ()):
            if uses[names[number]] > 1:  # thresholds between the same two values of the table
                exact = f"{self.columns[column].name} > {what!r}"
                names[number] = f"{exact} (column {column})" if self._clashing else exact
        sources = tuple(source for _, source in distinct)
        return Tree.from_splits(
            tuple(names), leaves, [place[test] for test in tests], labels, sources
        )

    def only(self, used: Sequence[int]) -> tuple[Literals, dict[int, int]]:
        """Without the thresholds of ordered columns that are not used; and the new positions."""
        if not self.ordered:
            return self, {literal: literal for literal in used}
        located = [self.locate(literal) for literal in used]
        columns = list(self.columns)
        for number in self.ordered:
            column = columns[number]
            kept = [p for n, p in located if n == number and p < column.thresholds]
            columns[number] = replace(
                column, below=column.below[kept], above=column.above[kept], binned=True
            )
        fewer, place = Literals(columns), {}
        for literal, (number, position) in zip(used, located, strict=True):
            new, old = columns[number], self.columns[number]
            if number in self.ordered:
                same = old.below[position] if position < old.thresholds else math.inf
                position = int(np.searchsorted(new.below, same))
            place[literal] = fewer.starts[number] + position
        return fewer, place

    def compact(self, tree: Tree) -> Tree:
        """A tree whose variables are all literals; with ordered columns, only those it tests."""
        if not self.ordered or tree.sources:
            return tree
        used = sorted({test for test in tree.tests if test >= 0})
        place = {test: number for number, test in enumerate(used)} | {LEAF: LEAF}
        return Tree(
            tuple(self.texts(test)[0] for test in used),
            tuple(place[test] for test in tree.tests),
            tree.low, tree.high, tree.labels,
            tuple(self.source(test) for test in used),
        )  # fmt: skip

    def holds(
        self, data: Data, literal: int, rows: IntArray | None = None, threshold: float | None = None
    ) -> BoolArray:
        """Whether the rows (by default all) satisfy a literal, perhaps at another threshold."""
        number, position = self.locate(literal)
        column = self.columns[number]
        matrix = data.matrix
        if column.categories is None:
            check_kind(data, number, column.style, column.name)
            check_finite(data, number, column.name)
        if (
            column.categories is None
            and isinstance(matrix, np.ndarray)
            and matrix.dtype.kind in "biuf"
            and matrix.dtype.itemsize <= 8  # longer floats are rounded first, as they were at fit
        ):
            values = matrix[:, number] if rows is None else matrix[rows, number]
            if position == column.thresholds:
                return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
            # a float of Python's would be rounded to the type of the matrix first
            return values > np.float64(
                column.threshold(position) if threshold is None else threshold
            )
        values = data.column(number)
        if rows is not None:
            values = [values[row] for row in rows] if isinstance(values, list) else values[rows]
        return column.holds(position, values, threshold)

    def transform(
        self, X: Any, tree: Tree | None = None, memory_limit: int = TRANSFORM_LIMIT
    ) -> np.typing.NDArray[np.uint8]:
        """All literals of a data set as a 0/1 matrix, one column each; or only those of a tree.

        A tree reads the result: ``tree.predict(literals.transform(X, tree))``. For a lone leaf that
        has no variables it is one column of zeros, because scikit-learn refuses a matrix without
        columns.
        """
        data = self._read(X)
        if tree is not None and not tree.variables:
            return np.zeros((data.rows, 1), dtype=np.uint8)
        if tree is not None and tree.sources:
            return self._evaluate(data, tree.sources)
        if data.rows * len(self) > memory_limit:
            raise ValueError(
                f"a 0/1 matrix must fit into {memory_limit:,} bytes; {data.rows:,} rows and "
                f"{len(self):,} literals need {data.rows * len(self):,}: set max_thresholds, or "
                "transform for one tree"
            )
        matrix = np.empty((data.rows, len(self)), dtype=np.uint8)
        for literal in range(len(self)):
            matrix[:, literal] = self.holds(data, literal)
        return matrix

    def ranks(self, X: Any) -> Ranks:
        """A data set as a matrix that offers the same tests: ordered columns as ranks, else bits.

        A missing value has rank 0.
        """
        data = self._read(X)
        width = len(self.ordered) + len(self.stored_bits)
        most = max((self.columns[number].thresholds + 1 for number in self.ordered), default=1)
        matrix = np.empty((data.rows, width), dtype=np.min_scalar_type(most))
        place = 0
        for number, column in enumerate(self.columns):
            start, stop = self.starts[number], self.starts[number + 1]
            if column.ranked:
                check_finite(data, number, column.name)
                matrix[:, place] = column.ranks(data.column(number))
                place, start = place + 1, start + column.thresholds
            for literal in range(start, stop):
                matrix[:, place] = self.holds(data, literal)
                place += 1
        return matrix

    def _read(self, X: Any) -> Data:
        """A data set with the columns that the literals were made from."""
        data = Data(X)
        if data.width != len(self.columns):
            raise ValueError(f"X must have {len(self.columns)} columns; it has {data.width}")
        known = tuple(column.name for column in self.columns)
        if unnamed(data.width) not in (known, data.names) and known != data.names:
            number = [a == b for a, b in zip(known, data.names, strict=True)].index(False)
            raise ValueError(
                "X must have the columns the literals were made from, in their order; "
                f"column {number} is {data.names[number]!r}, not {known[number]!r}"
            )
        return data

    def _evaluate(self, data: Data, sources: Sequence[Source]) -> np.typing.NDArray[np.uint8]:
        matrix = np.empty((data.rows, len(sources)), dtype=np.uint8)
        for place, (number, what) in enumerate(sources):
            column = self.columns[number]
            if isinstance(what, int):
                position, threshold = what % column.count, None
            else:
                position, threshold = 0, what
            matrix[:, place] = self.holds(data, self.starts[number] + position, None, threshold)
        return matrix


def _as_threshold(source: Source) -> float | None:
    return source[1] if isinstance(source[1], float) else None
