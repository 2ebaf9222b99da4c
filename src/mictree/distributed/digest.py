"""One partition as its worker keeps it until all columns are known: read once, then counted.

Every column becomes its distinct values and, for each row, the position among them. That is small,
and whatever the columns of the whole collection turn out to be, they are computed from the distinct
values alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import check_unmasked
from mictree._support.sums import exact_sums
from mictree.columns.column import as_levels
from mictree.columns.data import Data
from mictree.columns.encode import check_numbers
from mictree.columns.ordered import rank
from mictree.columns.quantiles import Counts, Ranges
from mictree.problems.labels import Coded, Scale, are_decimals, as_weights

FloatArray = np.typing.NDArray[np.float64]
MOST_PLACES = 16  # decimal places of weights


class Distinct(NamedTuple):
    """A column: its distinct values, and the position of every row's value among them.

    Numbers ascend, with NaN last if a value is missing; categories are a list with None.
    """

    values: FloatArray | list[Any]
    positions: np.typing.NDArray[np.unsignedinteger]  # or bits, if there are at most two values
    kind: str
    levels: tuple[Any, ...] | None

    def of_rows(self, rows: int) -> np.typing.NDArray[np.unsignedinteger]:
        """The positions, unpacked."""
        if len(self.values) > 2:
            return self.positions
        return np.unpackbits(self.positions, count=rows)


@dataclass(frozen=True)
class Digest:
    """A partition's rows of positive weight.

    Attributes
    ----------
    labels : the distinct labels of all rows
    all_rows : how many rows have each of them, also those of weight 0
    codes : the position of each row's label
    weights : of the rows; None without weights
    columns : each column
    """

    labels: np.ndarray
    all_rows: np.typing.NDArray[np.int64]
    codes: np.typing.NDArray[np.int32]
    weights: FloatArray | None
    columns: tuple[Distinct, ...]

    def __sizeof__(self) -> int:
        """Dask leaves large partitions where they are; it must see that they are."""
        weights = 0 if self.weights is None else self.weights.nbytes
        columns = sum(each.positions.nbytes + 8 * len(each.values) for each in self.columns)
        return self.codes.nbytes + weights + columns


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


def digest(X: Any, y: Any, sample_weight: Any, number: int) -> Digest:
    """Read a partition; errors name its number."""
    rows = len(X)
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None and len(values) != rows:
            raise ValueError(
                f"X and {name} must have as many rows in every partition; partition {number} has "
                f"{rows} and {len(values)}"
            )
    labels, codes = Coded.positions(np.asarray(check_unmasked(y, "y")))
    weights = None if sample_weight is None else as_weights(sample_weight, rows)
    keep = np.arange(rows) if weights is None else np.flatnonzero(weights > 0)
    columns: tuple[Distinct, ...] = ()
    if len(keep):
        data = Data(X)
        columns = tuple(_distinct(data, place, keep) for place in range(data.width))
    return Digest(
        labels,
        np.bincount(codes, minlength=len(labels)),
        codes[keep],
        None if weights is None else weights[keep],
        columns,
    )


def _distinct(data: Data, number: int, keep: np.ndarray) -> Distinct:
    """Dictionary-encode a column."""
    name, kind, levels = data.names[number], data.kind(number), data.levels(number)
    whole = data.integers(number)
    bits = None if whole is None else _as_bits(whole[keep] if len(keep) < len(whole) else whole)
    if bits is not None:
        return _packed(*bits, kind, levels)
    values = data.column(number)
    if isinstance(values, list) and levels is None:
        found: dict[Any, int] = {}
        positions = np.array([found.setdefault(values[row], len(found)) for row in keep.tolist()])
        return _packed(list(found), positions, kind, None)
    if isinstance(values, list):
        values = as_levels(values, levels or (), name)
    check_numbers(data, number, name)
    values = values[keep] if len(keep) < len(values) else values
    bits = _as_bits(values)
    if bits is not None:
        return _packed(*bits, kind, levels)
    absent = np.isnan(values)
    present = values[~absent]
    if not np.isfinite(present).all():
        raise ValueError(f"X must not contain infinity; {name} does")
    below, above, ranks, _ = rank(present, None, None)
    held = np.append(below, above[-1:]) if len(above) else present[:1] + 0.0
    if not absent.any():
        return _packed(held, ranks, kind, levels)
    positions = np.full(len(values), len(held), dtype=np.min_scalar_type(len(held)))
    positions[~absent] = ranks
    return _packed(np.append(held, np.nan), positions, kind, levels)


def _as_bits(values: np.ndarray) -> tuple[FloatArray, np.ndarray] | None:
    """The distinct values and positions of a column of 0 and 1, much faster than by ranking."""
    high = values == 1
    if not np.all(high | (values == 0)):
        return None
    if high.any() and not high.all():
        return np.array([0.0, 1.0]), high
    return values[:1].astype(float) + 0.0, np.zeros(len(values), dtype=bool)


def _packed(
    values: FloatArray | list[Any], positions: np.ndarray, kind: str, levels: tuple[Any, ...] | None
) -> Distinct:
    if len(values) <= 2:
        return Distinct(values, np.packbits(positions.astype(bool)), kind, levels)
    small = positions.astype(np.min_scalar_type(len(values) - 1), copy=False)
    return Distinct(values, small, kind, levels)


def summarize(part: Digest) -> Summary:
    """What a partition tells about columns and classes."""
    weights = part.weights
    ones = weights is None or (bool(np.all(weights == 1)) and part.all_rows.sum() == len(weights))
    return Summary(
        [part.labels],
        [part.all_rows],
        len(part.codes),
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
        positions = column.of_rows(len(part.codes))
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
