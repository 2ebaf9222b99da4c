"""Dask collections as partitions of rows, each read once, and the plan by which all are packed.

A fit needs columns, classes and the unit of weights that are the same for all partitions, but no
worker sees all rows. So every worker first makes a ``Digest`` of its partition: rows in the order
of their slots, and each column as its distinct values with the position of every row's value among
them. Labels sort alike in every partition, so a partition's classes are in the order of those of
the whole collection, and the slots are final. A ``Summary`` of each digest travels; summaries merge
in any order, and from the merged one follow classes, kinds of columns and the scale of weights
(``Plan``). Thresholds need counts of values as well, which ``count_values`` makes from the digests.
Whatever the columns turn out to be, they are computed from each column's distinct values alone; a
column of at most two values is a row of bits, as growing needs it.

Predictions and accuracies of a collection need no plan: ``map_rows`` and ``share_of_rows`` work on
each partition where it lies. Importing this module does not import Dask.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import check_unmasked
from mictree._support.numbers import as_number, exact_sums
from mictree.columns.data import Data, infinite, unnamed
from mictree.columns.literals import (
    OUT,
    Column,
    Literals,
    as_levels,
    categorical_column,
    check_numbers,
    ordered_column,
)
from mictree.columns.ordered import TIMES, Counts, Edges, Placement, Ranges, rank
from mictree.columns.packing import pack_bits, valid_slots
from mictree.distributed.cluster import Cluster
from mictree.problems.sample import (
    MOST_WHOLE,
    NO_WEIGHT,
    Coded,
    LabelGrid,
    LabelRange,
    LabelScale,
    Scale,
    are_decimals,
    as_weights,
    binary_places,
    decimal_places,
    unpack,
)
from mictree.problems.tasks import read_numbers

MOST_THRESHOLDS = 255  # of a column, unless ``max_thresholds`` says otherwise
MOST_PLACES = 16  # decimal places of weights

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]
Words = np.typing.NDArray[np.uint64]


def is_collection(values: Any) -> bool:
    """Whether an object is a Dask collection; without Dask imported, none can be."""
    base = sys.modules.get("dask.base")
    return base is not None and bool(base.is_dask_collection(values))


def is_frame(values: Any) -> bool:
    """Whether a collection is a frame or a series."""
    return hasattr(values, "npartitions") and hasattr(values, "map_partitions")


@dataclass(frozen=True)
class Partitions:
    """The rows of a fit.

    Attributes
    ----------
    rows : for each partition X, y and sample_weight, the last one None if there are no weights:
        delayed objects, or one such object of all three
    weighted : whether there are weights
    names : of the columns; None for an array
    width : the number of columns
    kind : the type of an array's cells; None for a frame
    """

    rows: list[Any]
    weighted: bool
    names: tuple[str, ...] | None
    width: int
    kind: np.dtype[Any] | None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> Partitions:
        """Check that all arguments are collections with the same partitions."""
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        for name, values in given.items():
            if values is not None and not is_collection(values):
                raise TypeError(
                    f"X, y and sample_weight must all be Dask collections if one is; "
                    f"{name} is a {type(values).__name__}"
                )
        if len(X.shape if not is_frame(X) else (0, 0)) != 2:
            raise ValueError(f"X must have two dimensions; its shape is {X.shape}")
        y, sample_weight = (
            None if given[name] is None else _cut_alike(X, given[name], name)
            for name in ("y", "sample_weight")
        )
        names = tuple(str(name) for name in X.columns) if is_frame(X) else None
        return cls(
            _rows_of(X, y, sample_weight),
            sample_weight is not None,
            names,
            len(X.columns) if is_frame(X) else int(X.shape[1]),
            None if is_frame(X) else X.dtype,
        )


def _cut_alike(X: Any, values: Any, name: str) -> Any:
    """An array cut into the chunks of X, if their lengths are known."""
    if not is_frame(values) and values.ndim != 1:
        raise ValueError(f"{name} must have one dimension; its shape is {values.shape}")
    if is_frame(values) and hasattr(values, "columns") and len(values.shape) == 2:
        raise ValueError(f"{name} must have one dimension; it is a frame")
    if is_frame(values) or is_frame(X) or values.chunks[0] == X.chunks[0]:
        return values
    lengths = [*values.chunks[0], *X.chunks[0]]
    return values if any(np.isnan(lengths)) else values.rechunk((X.chunks[0],))


def _rows_of(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """The rows of each partition."""
    given = {"X": X, "y": y, "sample_weight": sample_weight}
    present = {name: values for name, values in given.items() if values is not None}
    if _have_one_source(*present.values()):
        # one expression, so that Dask reads only the columns that are used, and all of them once
        both = X.map_partitions(
            _together, y, sample_weight, meta=(None, "object"), enforce_metadata=False
        )
        return list(both.to_delayed())
    parts = {name: _delayed(values) for name, values in present.items()}
    count = len(parts["X"])
    for name, found in parts.items():
        if len(found) != count:
            raise ValueError(
                f"X and {name} must have as many partitions; they have {count} and "
                f"{len(found)}: repartition one of them"
            )
    nothing = [None] * count
    return list(zip(parts["X"], parts["y"], parts.get("sample_weight", nothing), strict=True))


def _have_one_source(*collections: Any) -> bool:
    """Whether frames and series are computed from one, partition by partition."""
    if not all(map(is_frame, collections)):
        return False
    from dask.dataframe.dask_expr._expr import are_co_aligned

    return are_co_aligned(*(each.expr for each in collections))


def _together(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    return X, y, sample_weight


def _delayed(values: Any) -> list[Any]:
    """One delayed object for each partition of rows."""
    if is_frame(values):
        # optimized, a frame of few columns may have fewer partitions than it says
        return list(values.to_delayed(optimize_graph=False))
    if values.ndim == 2:
        values = values.rechunk({1: -1})
    return list(values.to_delayed().ravel())


def _check_lengths(partition: tuple[Any, Any, Any], number: int) -> None:
    """Refuse a partition whose X, y and weights have different numbers of rows."""
    X, y, sample_weight = partition
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None and len(values) != len(X):
            raise ValueError(
                f"X and {name} must have as many rows in every partition; partition {number} has "
                f"{len(X)} and {len(values)}"
            )


def share_of_rows(
    function: Callable[[Any, Any], np.ndarray], X: Any, y: Any, sample_weight: Any = None
) -> float:
    """The share of the rows, by weight, for which a function of X and y holds: one pass.

    Every partition is counted where it lies; only two exact numbers of each travel, so the share
    depends on no order.
    """
    parts = Partitions.of(X, y, sample_weight).rows
    bundles = [[(rows, number)] for number, rows in enumerate(parts)]
    held, total = Cluster().reduce(_count_held, _add_pairs, bundles, function)
    if not total:
        raise ValueError(NO_WEIGHT if sample_weight is not None else "there must be a row; X has 0")
    return float(Fraction(held, total))


@dataclass(frozen=True)
class Spread:
    """Exact sums from which the variance of some numbers follows, in units of 2**-UNIT.

    Attributes
    ----------
    weight : of all rows
    first : of weighted distances from a centre
    second : of weighted squares of these distances
    least, most : of the numbers that weigh something
    """

    weight: int = 0
    first: int = 0
    second: int = 0
    least: float = math.inf
    most: float = -math.inf

    @classmethod
    def of(cls, numbers: FloatArray, weights: FloatArray | None, centre: float) -> Spread:
        """Of some rows; each product is rounded once, sums are exact."""
        if weights is not None:
            numbers, weights = numbers[weights > 0], weights[weights > 0]
        if not len(numbers):
            return cls()
        every, above = np.zeros(len(numbers), dtype=np.int64), numbers > centre
        mass = np.ones(len(numbers)) if weights is None else weights
        distances = np.abs(numbers - centre)
        low, high = exact_sums(mass * distances, above, 2)
        (weight,), (second,) = (exact_sums(each, every, 1) for each in (mass, mass * distances**2))
        return cls(weight, high - low, second, float(numbers.min()), float(numbers.max()))

    def __add__(self, other: Spread) -> Spread:
        """Of both sets of rows."""
        return Spread(
            self.weight + other.weight,
            self.first + other.first,
            self.second + other.second,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    @property
    def squares(self) -> Fraction:
        """The weighted sum of squared distances from the mean; 0 exactly if all numbers are one."""
        if not self.weight or self.least == self.most:
            return Fraction(0)
        first, second = as_number(self.first), as_number(self.second)
        return max(Fraction(0), second - first**2 / as_number(self.weight))

    def r_squared(self, wrong: Fraction) -> float:
        """1 less the weighted sum of squared errors over that around the mean.

        If all numbers are one, it is 1 without errors and else 0, as scikit-learn has it.
        """
        squares = self.squares
        return float(1 - wrong / squares) if squares else float(not wrong)


def r_squared_of_rows(
    predict: Callable[[Any], FloatArray], centre: float, X: Any, y: Any, sample_weight: Any = None
) -> float:
    """The share of the labels' variance that predictions explain: one pass, as ``share_of_rows``.

    ``centre`` is a number near the labels, such as their mean in training.
    """
    parts = Partitions.of(X, y, sample_weight).rows
    bundles = [[(rows, number)] for number, rows in enumerate(parts)]
    spread, wrong = Cluster().reduce(_square_errors, _add_errors, bundles, predict, centre)
    if not spread.weight:
        raise ValueError(NO_WEIGHT if sample_weight is not None else "there must be a row; X has 0")
    return spread.r_squared(as_number(wrong))


def _square_errors(
    part: tuple[Any, int], predict: Callable[[Any], FloatArray], centre: float
) -> tuple[Spread, int]:
    """The spread of a partition's labels, and the exact sum of their weighted squared errors."""
    (X, y, sample_weight), number = part
    _check_lengths((X, y, sample_weight), number)
    if not len(X):
        return Spread(), 0
    numbers = read_numbers(y, len(X))
    weights = None if sample_weight is None else as_weights(sample_weight, len(X))
    squares = (numbers - predict(X)) ** 2
    (wrong,) = exact_sums(
        squares if weights is None else weights * squares, np.zeros(len(X), dtype=np.int64), 1
    )
    return Spread.of(numbers, weights, centre), wrong


def _add_errors(parts: Sequence[tuple[Spread, int]]) -> tuple[Spread, int]:
    spread = Spread()
    for each, _ in parts:
        spread += each
    return spread, sum(wrong for _, wrong in parts)


def _count_held(part: tuple[Any, int], function: Callable[..., np.ndarray]) -> tuple[int, int]:
    """The weight of the rows of a partition for which a function holds, and of all, exactly."""
    (X, y, sample_weight), number = part
    _check_lengths((X, y, sample_weight), number)
    if not len(X):
        return 0, 0
    holds = np.asarray(function(X, y), dtype=np.int64)
    if sample_weight is None:
        return int(holds.sum()), len(holds)
    rest, held = exact_sums(as_weights(sample_weight, len(holds)), holds, 2)
    return held, rest + held


def _add_pairs(pairs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(held for held, _ in pairs), sum(total for _, total in pairs)


def map_rows(function: Callable[[Any], np.ndarray], X: Any, like: np.ndarray) -> Any:
    """A collection with what a function of rows gives for each partition.

    ``like`` is what it gives for no rows: an array of one or two dimensions. A frame of one
    dimension gives a series with the index of X, everything else an array.
    """
    import dask.array

    if is_frame(X) and like.ndim == 1:
        meta = _as_series(X._meta, function, like)
        return X.map_partitions(_as_series, function, like, meta=meta, token="mictree")
    if is_frame(X):
        _check_delayed(X)
        found = X.map_partitions(_not_empty, function, like, meta=like)
        lengths = _known_lengths(X)
        if lengths is not None:
            found._chunks = lengths, (like.shape[1],)  # as Dask's compute_chunk_sizes sets them
        return found
    whole = X.rechunk({1: -1})
    chunks = (whole.chunks[0],) if like.ndim == 1 else (whole.chunks[0], (like.shape[1],))
    return dask.array.map_blocks(
        _not_empty, whole, function, like, dtype=like.dtype, chunks=chunks,
        drop_axis=1 if like.ndim == 1 else None, meta=like,
    )  # fmt: skip


def _known_lengths(X: Any) -> tuple[int, ...] | None:
    """The rows of each partition of a frame, if Dask can tell without reading a file."""
    from dask.dataframe.dask_expr._expr import Lengths, Literal
    from dask.dataframe.dask_expr._expr import Partitions as ChosenPartitions
    from dask.dataframe.dask_expr.io.io import FromPandas

    for part in X.expr.walk():
        source = not part.dependencies()
        # of Parquet files Dask would read the end; and it mistakes the order of chosen partitions
        if isinstance(part, ChosenPartitions) or (source and not isinstance(part, FromPandas)):
            return None
        if isinstance(part, FromPandas) and part._filtered:
            return None
    found = Lengths(X.expr).simplify()
    lengths = found.operand("value") if isinstance(found, Literal) else ()
    return lengths if len(lengths) == X.npartitions else None


def _check_delayed(X: Any) -> None:
    """Refuse frames whose graph Dask cannot turn into an array's; ``X.values`` fails as well."""
    for part in X.expr.walk():
        if type(part).__name__ == "FromDelayed" and not part.operand("verify_meta"):
            raise ValueError(
                "Dask makes no array of a frame from dd.from_delayed(..., verify_meta=False); "
                "make it with verify_meta=True or by dd.from_map"
            )


def _not_empty(rows: Any, function: Callable[[Any], np.ndarray], like: np.ndarray) -> np.ndarray:
    return function(rows) if len(rows) else like


def _as_series(rows: Any, function: Callable[[Any], np.ndarray], like: np.ndarray) -> Any:
    return rows._constructor_sliced(_not_empty(rows, function, like), index=rows.index)


@dataclass(frozen=True)
class Digest:
    """A partition's rows of positive weight.

    Attributes
    ----------
    labels : the distinct labels of all rows; with targets a single one
    all_rows : how many rows have each of them, also those of weight 0
    slots : of the rows, those of each of the labels in turn; all that follows is in this order
    weights : of the rows; None without weights
    columns : each column
    targets : the numbers to predict; None if labels are classes
    """

    labels: np.ndarray
    all_rows: np.typing.NDArray[np.int64]
    slots: Slots
    weights: FloatArray | None
    columns: tuple[Distinct, ...]
    targets: FloatArray | None = None

    def __sizeof__(self) -> int:
        """Dask leaves large partitions where they are; it must see that they are."""
        weights = sum(each.nbytes for each in (self.weights, self.targets) if each is not None)
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
    targets: Targets | None = None  # None if labels are classes


class Targets(NamedTuple):
    """What the unit of numbers to predict is decided by."""

    decimals: tuple[bool, ...]  # whether all have at most so many decimal places
    least: float  # infinity if there are none
    most: float


class ColumnSummary(NamedTuple):
    """What is known of a column before its values are counted."""

    kinds: frozenset[str]
    levels: frozenset[tuple[Any, ...] | None]
    categories: frozenset[Any] | None  # None if they are numbers
    numbers: bool  # some value is a number
    missing: bool
    bits: frozenset[float] | None  # the numbers, if all are 0 or 1


def digest(partition: tuple[Any, Any, Any], number: int, numbers: bool = False) -> Digest:
    """Read the X, y and weights of a partition; errors name its number.

    The labels are classes, or ``numbers`` to predict.
    """
    X, y, sample_weight = partition
    rows = len(X)
    _check_lengths(partition, number)
    targets = None
    if numbers:
        targets = read_numbers(y, rows)
        labels, codes = np.zeros(1, dtype=np.int64), np.zeros(rows, dtype=np.int32)
    else:
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
    kept = targets if targets is None or weights is None else targets[placement.rows]
    return Digest(labels, all_rows, slots, given, columns, kept)


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
        None if part.targets is None else _summarize_targets(part.targets),
    )


def _summarize_targets(targets: FloatArray) -> Targets:
    some = targets[:64]  # measured numbers are told from these
    decimals = (are_decimals(some, p) and are_decimals(targets, p) for p in range(MOST_PLACES))
    least, most = targets.min(initial=math.inf), targets.max(initial=-math.inf)
    return Targets(tuple(decimals), float(least), float(most))


def _merge_targets(parts: Sequence[Targets]) -> Targets:
    return Targets(
        tuple(map(all, zip(*(part.decimals for part in parts), strict=True))),
        min(part.least for part in parts),
        max(part.most for part in parts),
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
    targets = [each.targets for each in summaries if each.targets is not None]
    return Summary(
        [labels for each in summaries for labels in each.labels],
        [rows for each in summaries for rows in each.all_rows],
        sum(each.rows for each in summaries),
        sum(each.weight for each in summaries),
        tuple(all(flags) for flags in zip(*(each.decimals for each in summaries), strict=True)),
        all(each.ones for each in summaries),
        tuple(map(_merge_columns, zip(*known, strict=True))) if known else None,
        _merge_targets(targets) if targets else None,
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


@dataclass(frozen=True)
class Plan:
    """How a partition is packed.

    Attributes
    ----------
    labels : the classes
    literals : the tests that all columns offer
    scale : how weights become whole; None if every row weighs 1
    numbers : how numbers to predict become whole; None if labels are classes
    divisor : that all whole weights have; they are divided by it beside numbers to predict
    labels_range : of numbers to predict, which are measured from its center
    """

    labels: np.ndarray
    literals: Literals
    scale: Scale | None
    numbers: LabelScale | None = None
    divisor: int = 1
    labels_range: LabelRange | None = None


def scale_of(summary: Summary, weighted: bool) -> Scale | None:
    """How the weights of all rows become whole, as ``whole_weights`` has it; None if all are 1."""
    if not weighted or summary.ones:
        return None
    if not summary.rows:
        raise ValueError(NO_WEIGHT)
    total = as_number(summary.weight)
    for places in decimal_places(float(total)):
        if summary.decimals[places]:
            return Scale(places, None)
    return Scale(None, binary_places(total))


def range_of(targets: Targets) -> LabelRange:
    """What is known of numbers to predict, as ``LabelRange.of`` has it."""
    most = max(abs(targets.least), abs(targets.most))
    for digits, holds in enumerate(targets.decimals):
        if most * 10.0**digits >= MOST_WHOLE:
            break
        if holds:
            return LabelRange(digits, targets.least, targets.most)
    return LabelRange(None, targets.least, targets.most)


def weigh_rows(part: Digest, scale: Scale) -> tuple[int, int]:
    """The sum of whole weights, and what divides all of them."""
    weights = whole_of(part, scale, 1)
    assert weights is not None
    return int(weights.sum()), int(np.gcd.reduce(weights))


def merge_weights(parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The same of the rows of all."""
    return sum(mass for mass, _ in parts), math.gcd(*(divisor for _, divisor in parts))


def total_targets(part: Digest, scale: Scale | None, divisor: int, grid: LabelGrid) -> int:
    """The coarse sum of numbers to predict."""
    assert part.targets is not None
    return grid.total(part.targets, whole_of(part, scale, divisor))


def spread_targets(
    part: Digest, scale: Scale | None, divisor: int, grid: LabelGrid, centre: float
) -> int:
    """The coarse sum of their distances from a centre."""
    assert part.targets is not None
    return grid.spread(part.targets, whole_of(part, scale, divisor), centre)


def whole_of(part: Digest, scale: Scale | None, divisor: int) -> IntArray | None:
    """The whole weights of a partition; None if all are 1."""
    if scale is None or part.weights is None:
        return None
    return scale.whole(part.weights).weights.astype(np.int64) // divisor


def names_of(partitions: Partitions) -> tuple[str, ...]:
    """The columns' names; ``x0``, ``x1``, ... if they have none."""
    return unnamed(partitions.width) if partitions.names is None else partitions.names


def are_ordered(columns: tuple[ColumnSummary, ...], names: tuple[str, ...]) -> list[bool]:
    """Which columns hold numbers; refuses those that hold different things in different parts."""
    for name, column in zip(names, columns, strict=True):
        if column.categories is not None and column.numbers:
            raise ValueError(f"a column must hold numbers or texts, not both; {name} holds both")
        times = {kind if kind in TIMES else "number" for kind in column.kinds}
        if len(times) > 1 and column.numbers:
            both = " and ".join(sorted(times))
            raise ValueError(f"a column must have one type in all partitions; {name} has {both}")
        if len(column.levels) > 1:
            raise ValueError(
                f"ordered categories must be the same in all partitions; those of {name} are not"
            )
    return [column.categories is None for column in columns]


def literals_of(
    partitions: Partitions,
    columns: tuple[ColumnSummary, ...],
    edges: dict[int, Edges],
    weighted: bool,
    grouped: bool = False,
) -> Literals:
    """The literals of all columns, those of ordered ones from their edges."""
    names = names_of(partitions)
    all_bits = all(column.bits is not None and not column.missing for column in columns)
    if partitions.kind in (np.uint8, np.bool_) and all_bits and not weighted:
        return Literals.binary(names)
    return Literals(
        [
            _column(name, columns[number], edges.get(number), grouped)
            for number, name in enumerate(names)
        ]
    )


def _column(name: str, summary: ColumnSummary, edges: Edges | None, grouped: bool) -> Column:
    if edges is None:
        missing = {None} if summary.missing else set()
        return categorical_column(name, set(summary.categories or ()) | missing, grouped)
    (levels,) = summary.levels
    missing = summary.missing and summary.numbers
    return ordered_column(name, edges._replace(missing=missing), _kind(summary), levels)


def known_edges(summary: ColumnSummary) -> Edges | None:
    """The edges of a column of 0 and 1; None if its values must be counted first."""
    if summary.bits is None:
        return None
    both = len(summary.bits) == 2
    low, high = (np.array([float(value)] if both else []) for value in (0, 1))
    return Edges(low, high, False, summary.missing)


def _kind(summary: ColumnSummary) -> str:
    """The type by which a column reads; of several types of numbers, any."""
    return min(summary.kinds)


@dataclass(frozen=True)
class Slots:
    """Where rows lie: those of each class in adjacent slots, every class from a new word on.

    Attributes
    ----------
    class_rows : the number of rows of each class
    first_word : of each class, and the end
    valid : ones for the slots that hold a row
    """

    class_rows: IntArray
    first_word: IntArray
    valid: Words

    @classmethod
    def of(cls, class_rows: IntArray) -> Slots:
        """The slots of so many rows of each class."""
        first_word = np.zeros(len(class_rows) + 1, dtype=np.int64)
        np.cumsum((class_rows + 63) // 64, out=first_word[1:])
        valid = np.empty(first_word[-1], dtype=np.uint64)
        valid_slots(class_rows, first_word, valid)
        return cls(class_rows, first_word, valid)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.class_rows.sum())

    @property
    def numbers(self) -> IntArray:
        """The slot of each row."""
        return np.flatnonzero(unpack(self.valid))

    def place(
        self, codes: np.typing.NDArray[np.int32], keep: np.typing.NDArray[np.bool_]
    ) -> Placement:
        """Where rows of these classes lie; ``keep`` is empty if all of them have a slot."""
        small = codes.astype(np.min_scalar_type(max(0, len(self.class_rows) - 1)))
        places = np.cumsum(self.class_rows) - self.class_rows
        return Placement(small, keep, 64 * self.first_word[:-1], places)


class Distinct(NamedTuple):
    """A column: its distinct values, and the position of every row's value among them.

    Numbers ascend, with NaN last if a value is missing; categories are a list with None.
    """

    values: FloatArray | list[Any]
    positions: np.typing.NDArray[np.unsignedinteger]  # or words, if there are at most two values
    kind: str
    levels: tuple[Any, ...] | None

    def of_rows(self, slots: Slots) -> np.typing.NDArray[np.unsignedinteger]:
        """The position of each row."""
        if len(self.values) > 2:
            return self.positions
        return unpack(self.positions)[slots.numbers]

    def where(self, holds: np.typing.NDArray[np.bool_], slots: Slots) -> Words:
        """Ones for the rows whose value is one of those that hold a literal."""
        if len(self.values) > 2:
            return _as_words(holds[self.positions], slots)
        low, high = bool(holds[0]), bool(holds[-1])
        if low == high:
            return slots.valid if high else np.zeros_like(slots.valid)
        return self.positions if high else slots.valid & ~self.positions


def distinct(data: Data, number: int, slots: Slots, placement: Placement) -> Distinct:
    """Read a column."""
    name, kind, levels = data.names[number], data.kind(number), data.levels(number)
    whole = data.integers(number)
    found = None if whole is None else _two_values(whole, slots, placement)
    if found is not None:
        return Distinct(*found, kind, levels)
    values, rows = data.column(number), placement.rows
    if isinstance(values, list) and levels is None:
        seen: dict[Any, int] = {}
        positions = np.array([seen.setdefault(values[row], len(seen)) for row in rows.tolist()])
        return _stored(list(seen), positions, slots, kind, None)
    if isinstance(values, list):
        values = as_levels(values, levels or (), name)
    check_numbers(data, number, name)
    found = _two_values(values, slots, placement)
    if found is not None:
        return Distinct(*found, kind, levels)
    values = values[rows]
    absent = np.isnan(values)
    present = values[~absent]
    if not np.isfinite(present).all():
        raise infinite(name, advice=OUT)
    below, above, ranks, _ = rank(present, None, None)
    held = np.append(below, above[-1:]) if len(above) else present[:1] + 0.0
    if not absent.any():
        return _stored(held, ranks, slots, kind, levels)
    positions = np.full(len(values), len(held), dtype=np.min_scalar_type(len(held)))
    positions[~absent] = ranks
    return _stored(np.append(held, np.nan), positions, slots, kind, levels)


def _two_values(
    values: np.typing.NDArray[Any], slots: Slots, placement: Placement
) -> tuple[FloatArray, Words] | None:
    """The values and bits of a column of 0 and 1, much faster than by ranking; else None."""
    if values.dtype.itemsize > 1:
        zeros, ones = (values == 0).view(np.uint8), (values == 1).view(np.uint8)
        values = 2 - 2 * zeros - ones  # all others become 2
    words = np.zeros_like(slots.valid)
    if not placement.add(np.ascontiguousarray(values).view(np.uint8), words):
        return None
    if np.array_equal(words, slots.valid):
        return np.ones(1), np.zeros_like(words)
    return np.arange(2.0)[: 1 + bool(words.any())], words


def _stored(
    values: FloatArray | list[Any], positions: np.ndarray, slots: Slots, kind: str,
    levels: tuple[Any, ...] | None,
) -> Distinct:  # fmt: skip
    if len(values) <= 2:
        return Distinct(values, _as_words(positions.astype(bool), slots), kind, levels)
    small = positions.astype(np.min_scalar_type(len(values) - 1), copy=False)
    return Distinct(values, small, kind, levels)


def _as_words(flags: np.typing.NDArray[np.bool_], slots: Slots) -> Words:
    return pack_bits(flags, slots.numbers, 64 * len(slots.valid))[0]
