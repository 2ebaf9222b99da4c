"""One partition as its worker keeps it until all columns are known: read once, then counted.

Rows are put in the order of their slots at once: labels sort alike in every partition, so a
partition's classes are in the order of those of the whole collection. Whatever the columns of the
collection turn out to be, they are computed from each column's distinct values alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import check_unmasked
from mictree._support.sums import exact_sums
from mictree.columns.data import Data
from mictree.columns.quantiles import Counts, Ranges
from mictree.distributed.collections import check_lengths
from mictree.distributed.distinct import Distinct, Slots, distinct
from mictree.problems.labels import Coded, Scale, are_decimals, as_weights

FloatArray = np.typing.NDArray[np.float64]
MOST_PLACES = 16  # decimal places of weights


@dataclass(frozen=True)
class Digest:
    """A partition's rows of positive weight.

    Attributes
    ----------
    labels : the distinct labels of all rows
    all_rows : how many rows have each of them, also those of weight 0
    slots : of the rows, those of each of the labels in turn; all that follows is in this order
    weights : of the rows; None without weights
    columns : each column
    """

    labels: np.ndarray
    all_rows: np.typing.NDArray[np.int64]
    slots: Slots
    weights: FloatArray | None
    columns: tuple[Distinct, ...]

    def __sizeof__(self) -> int:
        """Dask leaves large partitions where they are; it must see that they are."""
        weights = 0 if self.weights is None else self.weights.nbytes
        columns = sum(each.positions.nbytes + 8 * len(each.values) for each in self.columns)
        return self.slots.valid.nbytes + weights + columns


class Summary(NamedTuple):
    """What the columns and classes of a collection are decided by; it travels, and merges."""

    labels: list[np.ndarray]
    all_rows: list[np.typing.NDArray[np.int64]]
    rows: int  # of positive weight
    weight: int  # the exact sum, in units of 2**-UNIT
    decimals: tuple[bool, ...]  # whether all weights have at most so many decimal places
    ones: bool  # whether all weights are 1
    columns: tuple[ColumnSummary, ...] | None  # None if there are no rows


class ColumnSummary(NamedTuple):
    """What is known of a column before its values are counted."""

    kinds: frozenset[str]
    levels: frozenset[tuple[Any, ...] | None]
    categories: frozenset[Any] | None  # None if they are numbers
    numbers: bool  # some value is a number
    missing: bool
    bits: frozenset[float] | None  # the numbers, if all are 0 or 1


def digest(partition: tuple[Any, Any, Any], number: int) -> Digest:
    """Read the X, y and weights of a partition; errors name its number."""
    X, y, sample_weight = partition
    rows = len(X)
    check_lengths(partition, number)
    labels, codes = Coded.positions(np.asarray(check_unmasked(y, "y")))
    all_rows = class_rows = np.bincount(codes, minlength=len(labels))
    weights, keep = None, np.empty(0, dtype=bool)
    if sample_weight is not None:
        weights = as_weights(sample_weight, rows)
        keep = weights > 0
        class_rows = np.bincount(codes[keep], minlength=len(labels))
    slots = Slots.of(class_rows)
    placement = slots.place(codes, keep)
    columns: tuple[Distinct, ...] = ()
    if slots.rows:
        data = Data(X)
        columns = tuple(distinct(data, place, slots, placement) for place in range(data.width))
    given = None if weights is None else weights[placement.rows]
    return Digest(labels, all_rows, slots, given, columns)


def summarize(part: Digest) -> Summary:
    """What a partition tells about columns and classes."""
    weights = part.weights
    ones = weights is None or (bool(np.all(weights == 1)) and part.all_rows.sum() == len(weights))
    return Summary(
        [part.labels],
        [part.all_rows],
        part.slots.rows,
        0 if weights is None else exact_sums(weights, np.zeros(len(weights), np.int64), 1)[0],
        tuple(weights is None or are_decimals(weights, p) for p in range(MOST_PLACES)),
        ones,
        tuple(map(_summarize_column, part.columns)) if part.columns else None,
    )


def _summarize_column(column: Distinct) -> ColumnSummary:
    values = column.values
    missing = None in values if isinstance(values, list) else bool(np.isnan(values).any())
    bits = None if isinstance(values, list) else frozenset(values[: len(values) - missing].tolist())
    return ColumnSummary(
        frozenset([column.kind]),
        frozenset([column.levels]),
        frozenset(values) - {None} if isinstance(values, list) else None,
        not isinstance(values, list) and len(values) > missing,
        missing,
        bits if bits is not None and bits <= {0.0, 1.0} else None,
    )


def merge_summaries(summaries: Sequence[Summary]) -> Summary:
    """The summary of the rows of all."""
    known = [each.columns for each in summaries if each.columns is not None]
    return Summary(
        [labels for each in summaries for labels in each.labels],
        [rows for each in summaries for rows in each.all_rows],
        sum(each.rows for each in summaries),
        sum(each.weight for each in summaries),
        tuple(all(flags) for flags in zip(*(each.decimals for each in summaries), strict=True)),
        all(each.ones for each in summaries),
        tuple(map(_merge_columns, zip(*known, strict=True))) if known else None,
    )


def _merge_columns(parts: tuple[ColumnSummary, ...]) -> ColumnSummary:
    texts = [part.categories for part in parts if part.categories is not None]
    bits = [part.bits for part in parts if part.bits is not None]
    return ColumnSummary(
        frozenset().union(*(part.kinds for part in parts)),
        frozenset().union(*(part.levels for part in parts)),
        frozenset().union(*texts) if texts else None,
        any(part.numbers for part in parts),
        any(part.missing for part in parts),
        frozenset().union(*bits) if len(bits) == len(parts) else None,
    )


def count_values(
    part: Digest, searched: dict[int, Ranges], scale: Scale | None
) -> dict[int, Counts]:
    """The whole weights of the values of some columns, in ranges of values."""
    weights = None
    if part.weights is not None and scale is not None:
        weights = scale.whole(part.weights).weights
    counts = {}
    for number, ranges in searched.items():
        if not part.columns:
            counts[number] = ranges.count(np.empty(0))
            continue
        column = part.columns[number]
        positions = column.of_rows(part.slots)
        masses = np.bincount(positions, weights=weights, minlength=len(column.values))
        counts[number] = ranges.count(np.asarray(column.values, float), masses.astype(float))
    return counts


def merge_counts(parts: Sequence[dict[int, Counts]]) -> dict[int, Counts]:
    """The counts of the rows of all."""
    first, *others = parts
    merged = dict(first)
    for other in others:
        for number, counts in other.items():
            merged[number] = merged[number].merge(counts)
    return merged
