"""Certified least errors from counts alone, for tables that fit no memory.

Every column is cut into bins by exact quantiles. One pass over the rows counts, for each pair of
columns, the rows of each class in each pair of bins; parts of a table are counted where they lie,
and their counts are added up. Pairs are enough for trees of up to 2 splits, and of 3 splits where
no path has more than 2 tests: whatever splits a child depends on two columns at a time.

The upper ends are the errors of the best such trees whose thresholds lie between bins. The lower
ends are from a relaxation: a threshold within a bin sends the rows below the bin to one side and
those above it to the other, and lets the rows in the bin go free. Free rows cost nothing in the
whole subtree, so whatever the threshold is, the relaxed tree costs no more. A bin of one value has
no threshold within it; if all bins are such, both ends meet.

Larger trees would need counts of three columns at a time. Their lower ends follow from that of 2
splits (``Counting.last_split``), or are what the classes alone say; their certificate is "search".

Invariant: counts are whole numbers below 2**53, so their sums are exact.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import TooLarge, check_count, check_size
from mictree._support.progress import Report, listener
from mictree.columns.literals import Column
from mictree.columns.parquet import ParquetSet
from mictree.distributed.collections import is_collection
from mictree.distributed.packed import Packed, Rows
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors
from mictree.optimal.certified import RELAXATION, SEARCH, History
from mictree.problems.sample import check_thresholds
from mictree.problems.streamed import ROUNDED_WEIGHTS, CodedRows, choose_columns, read_codes

IntArray = np.typing.NDArray[np.int64]
Counts = list[IntArray]  # of each pair of columns: (bins, bins, classes); of each column alone
PAIRED = 2  # splits for which pairs are enough
AT_ONCE = 2**18  # rows


def counted_errors(
    data: Any,
    target: Any,
    max_size: int = PAIRED,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    sample_weight: Any = None,
    max_depth: int | None = None,
    max_thresholds: int = 31,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
) -> CertifiedErrors:
    """Certified intervals of the least errors of small trees, for tables that fit no memory.

    The table is read in several passes, or counted where its parts lie; only counts of pairs of
    columns are kept. The intervals are of trees over all thresholds, like those of
    ``optimal_errors``.
    Sizes 0 to 2 have a lower end by relaxation, with ``max_depth=2`` all sizes; the lower end of
    others follows from the weight of each class, and their certificate is "search".

    Parameters
    ----------
    data : Parquet files as in ``SampleProblem.from_parquet``, or a Dask frame or array
    target : the name of the column of classes, or with Dask a collection of labels
    max_size : the largest number of splits
    columns, drop : as in ``SampleProblem.from_parquet``; for files only
    sample_weight : the name of a column of weights, or a Dask collection; weights must have few
        decimal places
    max_depth : the largest number of tests on a path
    max_thresholds : the number of thresholds between bins of a column; more make intervals narrower
    memory_limit : in bytes, for the counts; what needs more is refused before rows are counted
    progress : called now and then with a ``Progress``, by rows

    Examples
    --------
    >>> import os, tempfile, polars, mictree as mt
    >>> table = polars.DataFrame({"age": [20, 30, 45, 50], "rich": [0, 1, 0, 0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.write_parquet(os.path.join(folder, "people.parquet"))
    ...     errors = mt.counted_errors(folder, "rich", 2)
    >>> errors.tolist(), errors.certificate.tolist()
    ([0.25, 0.25, 0.0], ['proof', 'proof', 'proof'])
    """
    begin = time.monotonic()
    size = check_size(max_size)
    depth = None if max_depth is None else check_size(max_depth, "max_depth")
    most = check_thresholds(check_count(max_thresholds, "max_thresholds"))
    limit = check_count(memory_limit, "memory_limit")
    assert most is not None
    if is_collection(data):
        if columns is not None or drop is not None:
            raise ValueError("columns and drop are for Parquet files; choose columns of the frame")
        read = _of_collection(data, target, sample_weight, most, limit)
    else:
        files = ParquetSet(data)
        names = choose_columns(files, target, sample_weight, columns, drop)
        report = progress or listener()
        classes, found, rows = read_codes(files, target, names, sample_weight, most, report)
        check_room(found, classes, limit)
        read = found, count_batches(found, classes, rows)
    tests = [Tests.of(column) for column in read[0] if column.count]
    history = History()
    history.clock = lambda: time.monotonic() - begin
    return certify(solve(tests, read[1]), size, depth, history)


def _of_collection(
    X: Any, y: Any, sample_weight: Any, max_thresholds: int, memory_limit: int
) -> tuple[list[Column], Counts]:
    """The columns of a collection, and its counts, which are all that travels."""
    from mictree.distributed import fit

    rows = fit.Rows(X, y, sample_weight)
    classes = np.unique(rows.labels)
    plan, packed = rows.pack(classes, max_thresholds)
    if plan.scale is not None and plan.scale.decimal is None:
        raise ValueError(f"weights must have few decimal places to be counted; {ROUNDED_WEIGHTS}")
    columns = list(plan.literals.columns)
    check_room(columns, len(classes), memory_limit)
    shared = columns, len(classes)
    return columns, rows.cluster.reduce(count_packed, merge_counts, packed, *shared)


def bins_of(column: Column) -> int:
    """How many bins a column has; for categories also one of rows that satisfy no literal."""
    if column.categories is not None:
        return column.count + 1
    return column.thresholds + 1 + column.missing


def check_room(columns: Sequence[Column], classes: int, memory_limit: int) -> None:
    """Refuse counts of pairs that do not fit, and say which number of thresholds would."""
    offering = [column for column in columns if column.count]

    def needed(most: int) -> int:
        bins = [
            bins_of(c) if c.categories is not None else min(c.thresholds, most) + 1 + c.missing
            for c in offering
        ]
        total = sum(bins)
        pairs = (total**2 - sum(each**2 for each in bins)) // 2
        return 3 * 8 * classes * (pairs + total)  # two are added up, and one is made of a batch

    most = max((c.thresholds for c in offering), default=0)
    if needed(most) <= memory_limit:
        return
    fits = next((each for each in range(most, -1, -1) if needed(each) <= memory_limit), None)
    advice = "name fewer columns" if not fits else f"max_thresholds={fits} would fit"
    raise TooLarge(
        f"counts of all pairs of columns must fit into memory_limit, "
        f"{memory_limit / 2**30:.3g} GiB; they need {needed(most) / 2**30:.3g} GiB: {advice}"
    )


def count_batches(columns: Sequence[Column], classes: int, batches: Iterable[CodedRows]) -> Counts:
    """The counts of all rows, batch by batch."""
    bins = [bins_of(column) for column in columns if column.count]
    return reduce(_add, (count_pairs(rows, bins, classes) for rows in batches))


def count_pairs(rows: CodedRows, bins: Sequence[int], classes: int) -> Counts:
    """The weight of the rows of each class in each pair of bins of two columns.

    Then that in each bin of one column. A place of -1 is the last bin.
    """
    codes = [np.where(each < 0, bins[k] - 1, each) for k, each in enumerate(rows.codes)]
    labelled = [each * classes + rows.labels for each in codes]

    def count(places: IntArray, *shape: int) -> IntArray:
        length = int(np.prod(shape))
        return np.bincount(places, rows.weights, length).astype(np.int64).reshape(shape)

    pairs = [
        count(codes[a] * (bins[b] * classes) + labelled[b], bins[a], bins[b], classes)
        for a, b in combinations(range(len(bins)), 2)
    ]
    alone = [count(each, bins[k], classes) for k, each in enumerate(labelled)]
    return [*pairs, *alone, count(rows.labels, classes)]


def count_packed(part: Packed, columns: Sequence[Column], classes: int) -> Counts:
    """The counts of a packed partition, some rows at a time."""
    held = np.flatnonzero(np.unpackbits(part.rows.valid.view(np.uint8), bitorder="little"))
    chunks = np.array_split(held, 1 + len(held) // AT_ONCE)
    return count_batches(columns, classes, (_unpack(part.rows, each, columns) for each in chunks))


def _unpack(rows: Rows, slots: IntArray, columns: Sequence[Column]) -> CodedRows:
    """The rows in some slots."""
    labels = np.searchsorted(64 * rows.first_word[1:], slots, side="right")
    shift = (slots & 63).astype(np.uint64)
    bits = rows.bits[:, slots >> 6] >> shift & np.uint64(1)
    codes, stored, place = [], 0, 0
    for column in columns:
        if not column.count:
            continue
        if column.categories is not None:
            held = bits[stored : stored + column.count]
            codes.append(np.where(held.any(axis=0), held.argmax(axis=0), -1))
            stored += column.count
        else:
            code = np.full(len(slots), int(column.missing))
            if column.ranked:
                code, place = rows.ranks[place, slots].astype(np.int64), place + 1
            elif column.thresholds:
                code, stored = bits[stored].astype(np.int64) + column.missing, stored + 1
            if column.missing:
                code, stored = np.where(bits[stored] == 1, 0, code), stored + 1
            codes.append(code)
    weights = rows.weights[slots] if len(rows.weights) else None
    return CodedRows(codes, labels.astype(np.int64), weights)


def merge_counts(parts: Sequence[Counts]) -> Counts:
    """The counts of several parts."""
    return reduce(_add, parts)


def _add(first: Counts, second: Counts) -> Counts:
    return [one + other for one, other in zip(first, second, strict=True)]


class Tests(NamedTuple):
    """The tests of a column: which bins go to the low child, and which to the high one.

    The first ``exact`` tests send every bin somewhere; the others let one bin go free.
    """

    low: np.ndarray  # (tests, bins) of 0.0 and 1.0
    high: np.ndarray
    exact: int

    @classmethod
    def of(cls, column: Column) -> Tests:
        """Cuts between bins, then thresholds within bins of more than one value; or categories."""
        bins = bins_of(column)
        if column.categories is not None:
            high = np.eye(bins)[:-1]
            return cls(1 - high, high, len(high))
        cuts = np.tri(bins - 1, bins)  # the first k + 1 bins are low
        free = np.array(_bins_of_several(column) if column.binned else [], dtype=int)[:, None]
        places = np.arange(bins)
        low, high = np.vstack([cuts, places < free]), np.vstack([1 - cuts, places > free])
        return cls(low, high, len(cuts))


def _bins_of_several(column: Column) -> list[int]:
    """The bins that may hold more than one value; what the outer ones hold is not known."""
    first = int(column.missing)
    inner = [
        first + number
        for number in range(1, column.thresholds)
        if column.above[number - 1] != column.below[number]
    ]
    return [first, *inner, first + column.thresholds]


class Least(NamedTuple):
    """Least costs by splits: 0, 1, 2, and 3 where each child has one."""

    lower: list[int]  # of relaxed trees
    upper: list[int]  # of trees
    masses: list[int]  # the weight of each class


def solve(tests: Sequence[Tests], counts: Counts) -> Least:
    """The best trees that counts of pairs can tell."""
    number, masses = len(tests), counts[-1].astype(float)
    pairs = dict(zip(combinations(range(number), 2), counts, strict=False))
    alone = counts[len(pairs) : -1]
    leaf = float(masses.sum() - masses.max())
    least = {kind: [leaf] * 4 for kind in ("relaxed", "exact")}
    for root in range(number):
        sides = tests[root].low, tests[root].high
        zero = [_cost(side @ alone[root].astype(float)) for side in sides]
        one = [{kind: each.copy() for kind in least} for each in zero]
        for child in range(number):
            pair = _pair(root, child, pairs, alone)
            for side, found in zip(sides, one, strict=True):
                reached = np.tensordot(side, pair, axes=1).swapaxes(1, 2)  # tests, classes, bins
                costs = _cost((reached @ tests[child].low.T).swapaxes(1, 2))
                costs += _cost((reached @ tests[child].high.T).swapaxes(1, 2))
                for kind, best in found.items():
                    tried = costs if kind == "relaxed" else costs[:, : tests[child].exact]
                    np.minimum(best, tried.min(axis=1, initial=np.inf), out=best)
        for kind, best in least.items():
            taken = slice(None if kind == "relaxed" else tests[root].exact)
            low, high, under, over = (
                each[taken] for each in (*zero, one[0][kind], one[1][kind])
            )  # fmt: skip
            ways = [low + high, np.minimum(under + high, low + over), under + over]
            for splits, costs in enumerate(ways, 1):
                best[splits] = min(best[splits], float(costs.min(initial=np.inf)))
    rows = [np.minimum.accumulate(least[kind]).astype(int).tolist() for kind in least]
    return Least(rows[0], rows[1], counts[-1].tolist())


def _pair(
    root: int, child: int, pairs: dict[tuple[int, int], IntArray], alone: Sequence[IntArray]
) -> np.ndarray:
    """The weight of each class in each pair of bins of two columns, which may be the same."""
    if root == child:
        bins, classes = alone[root].shape
        return np.eye(bins)[:, :, None] * alone[root].astype(float).reshape(bins, 1, classes)
    if root < child:
        return pairs[root, child].astype(float)
    return pairs[child, root].swapaxes(0, 1).astype(float)


def _cost(masses: np.ndarray) -> np.ndarray:
    """What rows cost as a leaf, given the weight of each class on the last axis."""
    return masses.sum(axis=-1) - masses.max(axis=-1)


def certify(
    found: Least, max_size: int, max_depth: int | None, history: History
) -> CertifiedErrors:
    """The intervals of all sizes, from the least costs of those that pairs can tell."""
    from mictree.optimal.questions import UNLIMITED
    from mictree.optimal.rows import Counting

    known = 3 if max_depth is None else min(3, 2**max_depth - 1)
    shallow = max_depth is not None and max_depth <= 2  # no larger tree splits more
    counting = Counting(found.masses, UNLIMITED if max_depth is None else max_depth)
    lower, kinds = counting.by_size(max_size), [SEARCH] * (max_size + 1)
    for size in range(1, max_size + 1):
        if size <= PAIRED or shallow:
            bound = found.lower[min(size, known)]
            kinds[size] = RELAXATION if bound >= lower[size] else SEARCH
        else:
            bound = lower[size - 1] - counting.last_split(size, lower[size - 1])
        lower[size] = max(lower[size], bound)
    upper = [found.upper[min(size, known)] for size in range(max_size + 1)]
    total = sum(found.masses)
    kinds_of = np.array(kinds, dtype=object)
    errors = CertifiedErrors(np.array(lower) / total, np.array(upper) / total, kinds_of)
    return replace(errors, steps=history.as_errors(max, max, errors))  # there are no steps yet
