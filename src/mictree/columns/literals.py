"""Columns of data as literals: ``age > 37.5``, ``color is red``, ``income is missing``, ``flag``.

A binary column (0 and 1) is a literal as it is. A numeric column offers thresholds halfway between
neighbouring values, a categorical one its categories, and one with missing values that they are
missing; a missing value fails every threshold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mictree.columns.packing import MISSING, find_bins, find_midpoints, pack_bins
from mictree.columns.data import Data

MAX_CATEGORIES = 1024  # more are an identifier, not a category

FloatArray = np.typing.NDArray[np.float64]
BoolArray = np.typing.NDArray[np.bool_]


@dataclass(frozen=True)
class Column:
    """How one column becomes literals.

    Attributes
    ----------
    thresholds : of a numeric column, ascending; 0.5 for a binary one
    categories : of a categorical column, sorted; None for a numeric one
    missing : whether "is missing" is a literal too, the last one
    style : "binary" and "boolean" columns have a threshold but write it otherwise
    """

    name: str
    thresholds: FloatArray
    categories: tuple[Any, ...] | None = None
    missing: bool = False
    style: str = "number"

    @property
    def count(self) -> int:
        """The number of literals."""
        offered = len(self.thresholds) if self.categories is None else len(self.categories)
        return offered + self.missing

    @cached_property
    def texts(self) -> list[str]:
        """The literals as they are shown."""
        if self.categories is not None:
            texts = [f"{self.name} is {category}" for category in self.categories]
        elif self.style == "binary":
            texts = [self.name]
        elif self.style == "boolean":
            texts = [f"{self.name} is True"]
        else:
            texts = [f"{self.name} > {number}" for number in _short(self.thresholds)]
        return [*texts, f"{self.name} is missing"] if self.missing else texts

    @cached_property
    def negated_texts(self) -> list[str]:
        """What holds where a literal does not."""
        if self.categories is not None or self.style == "boolean":
            return [text.replace(f"{self.name} is ", f"{self.name} is not ") for text in self.texts]
        if self.style == "binary" or self.missing:  # a missing value is neither above nor below
            texts = [f"not {text}" for text in self.texts]
            return [*texts[:-1], f"{self.name} is not missing"] if self.missing else texts
        return [text.replace(f"{self.name} > ", f"{self.name} <= ") for text in self.texts]

    def bins(self, values: FloatArray | list[Any]) -> np.typing.NDArray[np.int32]:
        """The position of each value among thresholds or categories."""
        if self.categories is not None:
            position = {category: number for number, category in enumerate(self.categories)}
            if self.missing:
                position[None] = len(self.categories)
            categories = self._as_categories(values)
            return np.array([position.get(value, MISSING) for value in categories], dtype=np.int32)
        bins = np.empty(len(values), dtype=np.int32)
        find_bins(self._as_numbers(values), self.thresholds, bins)
        return bins

    def holds(self, position: int, values: FloatArray | list[Any]) -> BoolArray:
        """Whether each value satisfies one of the literals."""
        if self.categories is not None:
            wanted = self.categories[position] if position < len(self.categories) else None
            return np.array([value == wanted for value in self._as_categories(values)], dtype=bool)
        numbers = self._as_numbers(values)
        if position == len(self.thresholds):
            return np.isnan(numbers)
        return numbers > self.thresholds[position]

    def _as_numbers(self, values: FloatArray | list[Any]) -> FloatArray:
        if isinstance(values, list) and any(value is not None for value in values):
            raise ValueError(f"a column must stay what it was at fit; {self.name} held numbers")
        return np.asarray(values, dtype=float)

    def _as_categories(self, values: FloatArray | list[Any]) -> list[Any]:
        if isinstance(values, list):
            return values
        if not np.all(np.isnan(values)):
            raise ValueError(f"a column must stay what it was at fit; {self.name} held categories")
        return [None] * len(values)


def _short(thresholds: FloatArray) -> list[str]:
    """Numbers with few digits that still differ."""
    for digits in (6, 9, 12, 17):
        texts = [f"{threshold:.{digits}g}" for threshold in thresholds]
        if len(set(texts)) == len(texts):
            break
    return texts


def learn_column(
    data: Data, number: int, name: str, keep: BoolArray | None, weights: FloatArray | None,
    max_thresholds: int,
) -> Column:  # fmt: skip
    """Choose the literals of a column from the rows to keep."""
    values = data.column(number)
    if isinstance(values, list):
        present = (
            values if keep is None else [v for v, kept in zip(values, keep, strict=True) if kept]
        )
        return _learn_categories(name, present)
    if keep is not None and not keep.all():
        values, weights = values[keep], weights[keep] if weights is not None else None
    has_missing = False
    with np.errstate(over="ignore", invalid="ignore"):
        plain = np.isfinite(values.sum())  # one pass; the sum of huge numbers may overflow
    if not plain:
        missing = np.isnan(values)
        has_missing = bool(missing.any())
        values, weights = values[~missing], weights[~missing] if weights is not None else None
        if np.isinf(values).any():
            raise ValueError(f"X must not contain infinity; {name} does")
    thresholds = choose_thresholds(values, weights, max_thresholds)
    style = "number"
    if len(thresholds) == 1 and set(np.unique(values)) == {0.0, 1.0}:
        style = "boolean" if data.is_boolean(number) else "binary"
    # a column of nothing but missing values, like any constant one, is no literal
    return Column(name, thresholds, missing=has_missing and len(values) > 0, style=style)


def _learn_categories(name: str, values: list[Any]) -> Column:
    found = set(values)
    missing = None in found
    found.discard(None)
    if len(found) > MAX_CATEGORIES:
        raise ValueError(
            f"a categorical column may have at most {MAX_CATEGORIES} categories; "
            f"{name} has {len(found)}"
        )
    try:
        categories = tuple(sorted(found))
    except TypeError:  # such as texts and numbers in one pandas Categorical
        categories = tuple(sorted(found, key=lambda value: (type(value).__name__, str(value))))
    if len(categories) <= 2 and not missing:
        categories = categories[1:]  # the other one is its negation
    elif len(categories) == 1:
        categories = ()  # its negation is "is missing"
    return Column(name, np.empty(0), categories, missing=missing and bool(found))


def choose_thresholds(values: FloatArray, weights: FloatArray | None, most: int) -> FloatArray:
    """Midpoints between distinct values; if there are too many, those nearest to quantiles."""
    heights = None  # the weight of all values up to a position
    if weights is None:
        ordered = np.sort(values)
    else:
        order = np.argsort(values, kind="stable")
        ordered, heights = values[order], np.cumsum(weights[order])
    cuts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1  # a cut lies before this position
    if len(cuts) > most:
        if heights is None:
            below, total = cuts.astype(float), float(len(ordered))
        else:
            below, total = heights[cuts - 1], heights[-1]
        wanted = total * np.arange(1, most + 1) / (most + 1)
        after = np.minimum(np.maximum(np.searchsorted(below, wanted), 1), len(cuts) - 1)
        nearer = wanted - below[after - 1] < below[after] - wanted
        cuts = cuts[np.unique(np.where(nearer, after - 1, after))]
    thresholds = np.empty(len(cuts))
    find_midpoints(ordered, cuts, thresholds)
    return thresholds


class Literals:
    """All literals of a data set, in the order of its columns."""

    def __init__(self, columns: Sequence[Column] | None, binary: Sequence[str] = ()) -> None:
        self._columns = None if columns is None else tuple(columns)
        self._binary = tuple(binary)

    @classmethod
    def binary(cls, names: Sequence[str]) -> Literals:
        """Every column is a literal as it is."""
        return cls(None, names)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getstate__(self) -> dict[str, Any]:
        return {"_columns": self._columns, "_binary": self._binary}

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """How each column becomes literals."""
        if self._columns is not None:
            return self._columns
        half = np.array([0.5])
        return tuple(Column(name, half, style="binary") for name in self._binary)

    @cached_property
    def starts(self) -> np.typing.NDArray[np.intp]:
        """The first literal of each column, and behind the last one their number."""
        return np.concatenate(
            [[0], np.cumsum([column.count for column in self.columns], dtype=int)]
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The literals as they are shown, all different."""
        texts = [text for column in self.columns for text in column.texts]
        uses = Counter(texts)
        if len(uses) == len(texts):
            return tuple(texts)
        numbered = [
            f"{text} (column {number})" if uses[text] > 1 else text
            for number, column in enumerate(self.columns)
            for text in column.texts
        ]
        return tuple(numbered)

    def negated(self, literal: int) -> str:
        """What holds where a literal does not: ``age <= 37.5``, ``color is not red``."""
        column, position = self.locate(literal)
        return self.columns[column].negated_texts[position]

    def locate(self, literal: int) -> tuple[int, int]:
        """The number of a literal's column, and its position among the column's literals."""
        column = int(np.searchsorted(self.starts, literal, side="right")) - 1
        return column, literal - int(self.starts[column])

    def holds(
        self, data: Data, literal: int, rows: np.typing.NDArray[np.intp] | None = None
    ) -> BoolArray:
        """Whether the rows (by default all) satisfy a literal."""
        number, position = self.locate(literal)
        column = self.columns[number]
        matrix = data.matrix
        if (
            column.categories is None
            and isinstance(matrix, np.ndarray)
            and matrix.dtype.kind in "biuf"
        ):
            values = matrix[:, number] if rows is None else matrix[rows, number]
            if position == len(column.thresholds):
                return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
            return values > column.thresholds[position]
        values = data.column(number)
        if rows is not None:
            values = [values[row] for row in rows] if isinstance(values, list) else values[rows]
        return column.holds(position, values)

    def transform(self, X: Any) -> np.typing.NDArray[np.uint8]:
        """All literals of a data set as a 0/1 matrix, one column each."""
        data = Data(X)
        if data.width != len(self.columns):
            raise ValueError(f"X must have {len(self.columns)} columns; it has {data.width}")
        matrix = np.empty((data.rows, len(self)), dtype=np.uint8)
        for literal in range(len(self)):
            matrix[:, literal] = self.holds(data, literal)
        return matrix


def encode(
    data: Data,
    order: np.typing.NDArray[np.int64],
    keep: BoolArray | None = None,
    weights: FloatArray | None = None,
    max_thresholds: int = 64,
) -> tuple[Literals, np.typing.NDArray[np.uint64]]:
    """Choose the literals of a data set and pack them, one column after another.

    Parameters
    ----------
    order : the row in each slot, -1 where it is empty; a multiple of 64 slots
    keep, weights : the rows to learn thresholds from, and what they weigh
    """
    columns: list[Column] = []
    blocks = [np.empty((0, len(order) // 64), dtype=np.uint64)]
    for number, name in enumerate(data.names):
        column = learn_column(data, number, name, keep, weights, max_thresholds)
        columns.append(column)
        if column.count:
            block = np.empty((column.count, len(order) // 64), dtype=np.uint64)
            bins = column.bins(data.column(number))
            pack_bins(bins, order, column.categories is None, block)
            blocks.append(block)
    return Literals(columns), np.concatenate(blocks)
