"""Columns whose values have an order: ranks, thresholds between them, and how a threshold reads.

A column is stored as the rank of every row's value, in the smallest unsigned type, and as its
distinct values. Threshold number j lies halfway between two neighbouring values, and a row is above
it if its rank is more than j (one more if values are missing: those have rank 0). With fewer
thresholds than values, a rank counts the thresholds below a value. They are chosen one after
another, each in the middle of the heaviest part that the ones before have left, so those for k are
among those for k + 1.

``EdgeSearch`` finds exactly the thresholds of ``rank`` where rows come in parts: files, batches,
partitions. Every part is counted on its own, and counts are merged, in any order and grouping. They
never hold more than a fixed number of entries: with more values, an entry stands for a range of
values. Where a bin's edge falls into such a range, one more pass counts the values in these ranges
only, until every edge lies between two known values. Values are compared as keys: the 64 bits of a
float as an integer that has the order of the floats.

``Placement`` says in which slots rows lie, and sets bits there from columns of 0 and 1. Rows of a
class lie in adjacent slots, so each 64 rows of a column give one run of bits to every class: the
bits of its rows, moved together. Where they must be moved depends on the labels only, so it is
found once and used for all columns (Warren, Hacker's Delight, 7-4, "compress").
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit, load_word, popcount
from mictree._support.parallel import temporary_array
from mictree._support.words import show_digits
from mictree.columns.data import FINER, last_tick, read_tick
from mictree.columns.packing import add_flags

if TYPE_CHECKING:
    from mictree.columns.data import Data


FloatArray = np.typing.NDArray[np.float64]


class Scratch(NamedTuple):
    """Arrays for one column at a time, so that nothing of it lies between the arrays to keep."""

    keys: np.typing.NDArray[np.uint64]  # a word for each row, of the column and then of its keys
    values: FloatArray
    rows: np.typing.NDArray[np.uint32]

    @classmethod
    def of(cls, count: int) -> Scratch:
        """For so many rows."""
        return cls(
            temporary_array(count, np.uint64),
            temporary_array(count, np.float64),
            temporary_array(count, np.uint32),
        )

    def take(self, column: FloatArray, rows: np.typing.NDArray[Any]) -> FloatArray:
        """The values of some rows, until the next column is taken."""
        whole = self.keys.view(np.float64)
        whole[:] = column
        # nothing is clipped; looking for wrong rows would need one more array
        return whole.take(rows, out=self.values[: len(rows)], mode="clip")


Ranks = np.typing.NDArray[np.unsignedinteger]

UNSORTED = -1
FEW_VALUES = 400  # values; fewer are sorted faster by short digits
FLOAT32 = struct.Struct("f")  # a float of 32 bits
MOST_MOVES_PER_VALUE = 4  # for each value, until sorting by comparison is faster
TIMES = ("date", "datetime", "instant", "duration", "time")  # read as microseconds
MICROSECONDS = {"D": 86_400_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1}


class Ranked(NamedTuple):
    """The neighbours of every threshold, and the number of thresholds below each value."""

    below: FloatArray
    above: FloatArray
    ranks: Ranks
    binned: bool  # there are values with no threshold between them


def rank(
    values: FloatArray,
    weights: FloatArray | None,
    most: int | None,
    scratch: Scratch | None = None,
) -> Ranked:
    """Find the thresholds of finite values: all, or at most so many."""
    distinct, ranks = np.empty(len(values)), np.empty(len(values), dtype=np.uint32)
    keys, _, rows = scratch or Scratch.of(len(values))
    count = _rank(values, keys[: len(values)], rows[: len(values)], distinct, ranks)
    if count == UNSORTED:
        values = values + 0.0  # -0.0 is 0.0
        count = _rank_sorted(values, np.argsort(values), distinct, ranks)
    distinct = distinct[:count].copy() if count < len(values) else distinct
    if most is None or count - 1 <= most:
        ranks = ranks.astype(np.min_scalar_type(count), copy=False)  # missing: one rank more
        return Ranked(distinct[:-1], distinct[1:], ranks, False)
    masses = np.bincount(ranks, weights=weights, minlength=count).astype(float)
    cuts = np.empty(most, dtype=np.int64)
    choose_cuts(np.cumsum(masses), np.ones(count, dtype=bool), cuts, np.zeros(count, dtype=bool))
    cuts.sort()
    bins = np.zeros(count, dtype=np.min_scalar_type(most + 1))
    bins[cuts] = 1
    np.cumsum(bins, out=bins)
    return Ranked(distinct[cuts - 1], distinct[cuts], bins[ranks], True)


@jit
def are_finite(values):
    """Whether no value is infinite or NaN."""
    wrong = 0
    for value in values:
        wrong += not abs(value) < np.inf
    return wrong == 0


@jit
def _rank(values, keys, moved_rows, out_distinct, out_ranks):
    """Write the distinct values and the rank of each; returns how many there are.

    Keys are words that have the order of the floats. Passes sort them by their upper 33 bits,
    from the lowest digit on, and insertion by the others. That is fast unless many values are
    nearly equal: then returns UNSORTED. ``keys`` and ``moved_rows`` are scratch.
    """
    words, sign = values.view(np.uint64), np.uint64(1) << np.uint64(63)
    moved, rows = out_distinct.view(np.uint64), out_ranks  # scratch too, until the end
    for row in range(len(words)):
        word = np.uint64(0) if words[row] == sign else words[row]  # -0.0 is 0.0
        keys[row] = ~word if word & sign else word | sign
        rows[row] = row
    width = (
        7 if len(words) < FEW_VALUES else 11
    )  # five passes or three: the last must fill ``moved``
    for shift in range(31, 64, width):
        _sort_digit(keys, rows, np.uint64(shift), width, moved, moved_rows)
        keys, moved, rows, moved_rows = moved, keys, moved_rows, rows
    if not _insert(keys, rows):
        return UNSORTED
    found, before = 0, np.uint64(0)  # which is no key: that of NaN
    for place in range(len(words)):
        key = keys[place]
        if key != before:
            keys[found] = key ^ sign if key & sign else ~key
            found += 1
        before = key
        out_ranks[rows[place]] = found - 1
    return found


@inner_jit
def _sort_digit(keys, rows, shift, width, out_keys, out_rows):
    """Sort by some bits of the keys, stably."""
    values = 1 << width
    place, digit = np.zeros(values + 1, dtype=np.int64), np.uint64(values - 1)
    for key in keys:
        place[(key >> shift & digit) + np.uint64(1)] += 1
    for value in range(values):
        place[value + 1] += place[value]
    for number in range(len(keys)):
        value = keys[number] >> shift & digit
        target = np.uint64(place[value])  # unsigned: needs no look for a negative one
        place[value] += 1
        out_keys[target], out_rows[target] = keys[number], rows[number]


@inner_jit
def _insert(keys, rows):
    """Sort keys that are nearly sorted, in place; False if they are not."""
    moves = 0
    for number in range(1, len(keys)):
        key, row, place = keys[number], rows[number], number
        while place > 0 and keys[place - 1] > key:
            keys[place], rows[place] = keys[place - 1], rows[place - 1]
            place -= 1
        keys[place], rows[place] = key, row
        moves += number - place
        if moves > MOST_MOVES_PER_VALUE * len(keys):
            return False
    return True


@jit
def rank_columns(table, out_ranks, out_counts):
    """Replace each column by its distinct values, and write how many there are, and all ranks.

    The count is UNSORTED for a column that is not finite, or that ``_rank`` cannot sort.
    """
    columns, rows = table.shape
    values, keys = np.empty(rows), np.empty(rows, dtype=np.uint64)
    moved_rows = np.empty(rows, dtype=np.uint32)
    for column in range(columns):
        for row in range(rows):
            values[row] = table[column, row]
        out_counts[column] = UNSORTED
        if are_finite(values):
            count = _rank(values, keys, moved_rows, table[column], out_ranks[column])
            out_counts[column] = count


@jit
def _rank_sorted(values, order, out_distinct, out_ranks):
    """Write the distinct values and the rank of each; returns how many there are."""
    count = 0
    for row in order:
        value = values[row]
        if count == 0 or value > out_distinct[count - 1]:
            out_distinct[count] = value
            count += 1
        out_ranks[row] = count - 1
    return count


@jit
def choose_cuts(heights, single, out_cuts, out_open):
    """Cuts before so many of the values: always the middle of the heaviest part that has one.

    ``heights`` is the weight of all values up to each. A part is a run of values between two cuts.
    An entry that is not ``single`` stands for several values whose heights are not known. If the
    middle lies there, the entry becomes True in ``out_open``, which must be False at the start, and
    cuts from then on are guesses. ``out_cuts`` is then worthless, but the entries are those that
    the next attempt probably needs.
    """
    most = len(out_cuts)
    first, last = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1, dtype=np.int64)
    weight, unknown = np.zeros(most + 1), np.zeros(most + 1, dtype=np.bool_)
    last[0], weight[0] = len(heights) - 1, heights[-1]
    for chosen in range(most):
        part = -1
        for each in range(chosen + 1):
            if unknown[each] or (first[each] == last[each] and single[first[each]]):
                continue
            if part < 0 or weight[each] > weight[part]:
                part = each
        if part < 0:  # only after guesses
            return
        start, stop = first[part], last[part]
        if start == stop:  # several values of one entry: not even a guess
            out_open[start] = unknown[part] = unknown[chosen + 1] = True
            continue
        before = heights[start - 1] if start else 0.0
        middle = (before + heights[stop]) / 2
        place = start + np.searchsorted(heights[start:stop], middle)
        out_open[place] |= not single[place]
        cut = min(place + 1, stop)
        # heights[cut - 1] is the first at or above the middle: the one before may be nearer
        if cut - 1 > start and middle - heights[cut - 2] < heights[cut - 1] - middle:
            cut -= 1
        out_cuts[chosen] = cut
        first[chosen + 1], last[chosen + 1] = cut, stop
        last[part] = cut - 1
        weight[part] = heights[cut - 1] - before
        weight[chosen + 1] = heights[stop] - heights[cut - 1]


def check_kind(data: Data, number: int, style: str, name: str) -> None:
    """Refuse times where a column held numbers, and the other way round; dates may get a time.

    Times with a time zone are instants; no rule says which instant one without is.
    """
    held, was = (
        "datetime" if kind == "date" else kind if kind in TIMES else "number"
        for kind in (data.kind(number), style)
    )
    values = data.column(number) if held != was else []
    if isinstance(values, list) or np.isnan(values).all():  # texts are refused where they are read
        return
    raise changed(name, was, held)


def changed(name: str, was: str, now: str) -> ValueError:
    """The error about a column that held one kind of values at fit and now holds another."""
    return ValueError(f"a column must stay what it was at fit; {name} {apart(was, now)}")


def apart(was: str, now: str) -> str:
    """What a column held at fit, and what it holds now, in words."""
    named = {"category": "categories", "enum": "categories", "text": "texts"}
    if {was, now} == {"instant", "datetime"}:
        named = {"instant": "times with a time zone", "datetime": "times without a time zone"}
    one, other = (
        named.get(kind, f"{kind}s" if kind in TIMES else "numbers") for kind in (was, now)
    )
    return f"held {one}, now {other}"


def midpoint(below: float, above: float) -> float:
    """A number ``t`` with ``below <= t < above``, also once all are rounded to 32 bits.

    scikit-learn's trees read their input as 32-bit floats; an export must send the rows of the
    training data the same way wherever 32 bits tell the values apart.
    """
    middle = below / 2 + above / 2  # half of each: their sum may overflow
    low, high = _to_float32(below), _to_float32(above)
    if low < high and not low <= middle < high:
        coarse = low / 2 + high / 2
        if below <= coarse < above:
            middle = coarse
    return middle if below <= middle < above else below


def round_midpoint(below: float, above: float) -> float:
    """The midpoint without the rounding error of its sum: 100.2 between 100.1 and 100.3.

    A value of other leaves may lie there too; a threshold of 100.19999999999999 would stay below.
    So might a 32-bit float, the midpoint of two others, which has no rounding error.
    """
    exact = midpoint(below, above)
    rounded = float(f"{exact:.15g}")
    short = _to_float32(exact)
    same = short != exact and short == _to_float32(rounded)  # as ``midpoint`` says
    return rounded if same and below <= rounded < above else exact


def _to_float32(number: float) -> float:
    """A number rounded to 32 bits, perhaps to infinity."""
    try:
        return FLOAT32.unpack(FLOAT32.pack(number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def midpoints(below: FloatArray, above: FloatArray) -> FloatArray:
    """``midpoint`` for arrays."""
    middle = below / 2 + above / 2
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = (side.astype(np.float32).astype(float) for side in (below, above))
        coarse = low / 2 + high / 2
    off = (low < high) & ((middle < low) | (middle >= high)) & (below <= coarse) & (coarse < above)
    middle = np.where(off, coarse, middle)
    return np.where((below <= middle) & (middle < above), middle, below)


def show(
    threshold: float, below: float, above: float, style: str, levels: tuple[Any, ...] | None
) -> str:
    """A threshold with the fewest digits, from six on, that still lie between its neighbours.

    All digits before the point are shown.
    """
    if levels is not None:
        return str(levels[math.floor(threshold)])
    if style in TIMES:
        return _show_time(threshold, below, style)
    for digits in range(6, 18):
        text = show_digits(threshold, digits)
        if below <= float(text) < above:
            return text
    return repr(threshold)


def _show_time(threshold: float, below: float, style: str) -> str:
    """Cut off what is not needed to stay at or above the neighbour below."""
    for unit, length in MICROSECONDS.items():
        whole = math.floor(threshold / length) * length
        if whole >= below and (style != "time" or unit != "D"):
            return time_text(whole, unit, style)
    tick, parts = 0, 1
    for parts in FINER.values():
        tick = last_tick(threshold, parts)
        if read_tick(tick, parts) >= below:
            break
    whole, rest = divmod(tick, parts)
    return time_text(whole, "us", style, str(parts + rest)[1:])  # with its leading zeros


def time_text(whole: int, unit: str, style: str, finer: str = "") -> str:
    """Microseconds as a text that ends with a unit, or with more digits."""
    if style in ("date", "datetime", "instant"):
        text = str(np.datetime64(whole, "us").astype(f"M8[{unit}]")).replace("T", " ") + finer
        return f"{text} UTC" if style == "instant" else text
    days, rest = divmod(whole, MICROSECONDS["D"])
    clock = str(np.datetime64(rest, "us").astype(f"M8[{'m' if unit == 'D' else unit}]"))[11:]
    if style == "time":
        return clock + finer
    if unit == "D":
        return _days(days)
    return f"{_days(days)} {clock}{finer}" if days else clock + finer


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


MOST_ENTRIES = 2**16  # counted for a column in one pass, by default: 24 bytes each
NEIGHBOURS = 1  # neighbours of an open entry, on each side
ALL_BITS = 64  # of a key
ALL_KEYS = np.uint64(2**64 - 1)

BoolArray = np.typing.NDArray[np.bool_]
Keys = np.typing.NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)


class Edges(NamedTuple):
    """The neighbours of every threshold, as ``Ranked`` has them."""

    below: FloatArray
    above: FloatArray
    binned: bool  # there are values with no threshold between them
    missing: bool  # there are missing values, and others


@dataclass(frozen=True)
class Ranges:
    """The ranges of keys that one pass counts; small enough to send to every part of the rows.

    Attributes
    ----------
    starts, stops : the first and the last key of each, ascending and disjoint
    most_entries : the largest number of entries of the counts; None for no limit
    """

    starts: Keys
    stops: Keys
    most_entries: int | None

    def count(self, values: FloatArray, weights: FloatArray | None = None) -> Counts:
        """Count one part of the rows.

        Parameters
        ----------
        values : finite, or NaN where missing
        weights : whole numbers, so that their sums do not depend on the order; 1 each by default.
            Rows of weight 0 are left out
        """
        if weights is not None:
            values, weights = values[weights > 0], weights[weights > 0]
        absent = np.isnan(values)
        missing = bool(absent.any())
        if missing:
            values, weights = values[~absent], None if weights is None else weights[~absent]
        keys, masses = _tally(to_keys(values), weights)
        if len(self.starts) > 1 or self.starts[0] > 0 or self.stops[0] < ALL_KEYS:
            number = np.searchsorted(self.starts, keys, side="right") - 1
            inside = (number >= 0) & (keys <= self.stops[number])
            keys, masses = keys[inside], masses[inside]
        return _compress(Counts(self, ALL_BITS, keys, keys, masses, missing))


@dataclass(frozen=True)
class Counts:
    """The weight of the values in some ranges of keys: a value that merges with others.

    Attributes
    ----------
    ranges : where keys are counted
    bits : a range is cut into up to 2**bits stretches of equal length, with one entry each
    low, high : the least and the largest key of each entry, ascending
    masses : the weight of each entry
    missing : whether a value is missing
    """

    ranges: Ranges
    bits: int
    low: Keys
    high: Keys
    masses: FloatArray
    missing: bool

    def merge(self, other: Counts) -> Counts:
        """The counts of the rows of both."""
        low = np.concatenate([self.low, other.low])
        order = np.argsort(low, kind="stable")  # merges two sorted runs
        return _compress(
            Counts(
                self.ranges,
                min(self.bits, other.bits),
                low[order],
                np.concatenate([self.high, other.high])[order],
                np.concatenate([self.masses, other.masses])[order],
                self.missing or other.missing,
            )
        )


class EdgeSearch:
    """The search for a column's edges, pass by pass.

    ``ranges`` counts the rows of one pass; ``narrow`` takes the merged counts of all rows. When
    ``ranges`` is None, ``edges`` are found.

    Parameters
    ----------
    most : the largest number of thresholds; None for all
    most_entries : the largest number of entries to count in one pass

    Examples
    --------
    >>> import numpy as np
    >>> search = EdgeSearch(most=3, most_entries=10)
    >>> while search.ranges is not None:
    ...     parts = [np.arange(0.0, 50.0), np.arange(50.0, 100.0)]
    ...     one, other = [search.ranges.count(part) for part in parts]
    ...     search.narrow(one.merge(other))
    >>> search.edges.below, search.edges.above
    (array([24., 49., 74.]), array([25., 50., 75.]))
    """

    def __init__(self, most: int | None, most_entries: int = MOST_ENTRIES) -> None:
        self.most = most
        # an open range needs two entries, or a pass might learn nothing
        least = 0 if most is None else 2 * most * (1 + 2 * NEIGHBOURS) + 2
        self.most_entries = None if most is None else max(most_entries, least)
        everything = np.zeros(1, np.uint64), np.full(1, ALL_KEYS)
        self.ranges: Ranges | None = Ranges(*everything, self.most_entries)
        self.edges: Edges | None = None
        self._known: Counts | None = None
        self._open = np.empty(0, dtype=bool)  # the entries that this pass looks into

    def narrow(self, counts: Counts) -> None:
        """Go on with the counts of all rows in ``ranges``."""
        known = counts if self._known is None else self._replace(self._known, counts)
        single = known.low == known.high
        if self.most is None or (single.all() and len(single) <= self.most + 1):
            self._finish(known, np.arange(1, len(single)), False)
            return
        cuts = np.empty(self.most, dtype=np.int64)
        self._known, self._open = known, np.zeros(len(single), dtype=bool)
        choose_cuts(np.cumsum(known.masses), single, cuts, self._open)
        if not self._open.any():
            self._finish(known, np.sort(cuts), True)
            return
        # cuts after the first open entry are guesses; with its neighbours, fewer passes are needed
        near = np.convolve(self._open, np.ones(1 + 2 * NEIGHBOURS))[NEIGHBOURS:-NEIGHBOURS] > 0
        self._open = near & ~single
        self.ranges = Ranges(known.low[self._open], known.high[self._open], self.most_entries)

    def _replace(self, known: Counts, counts: Counts) -> Counts:
        """What is known, with finer entries in place of the open ones."""
        if counts.masses.sum() != known.masses[self._open].sum():
            raise ValueError("rows must stay the same while they are read; their number changed")
        kept = ~self._open
        low = np.concatenate([known.low[kept], counts.low])
        order = np.argsort(low, kind="stable")
        return replace(
            known,
            low=low[order],
            high=np.concatenate([known.high[kept], counts.high])[order],
            masses=np.concatenate([known.masses[kept], counts.masses])[order],
        )

    def _finish(self, known: Counts, cuts: np.typing.NDArray[np.int64], binned: bool) -> None:
        below, above = from_keys(known.high[cuts - 1]), from_keys(known.low[cuts])
        # a column of nothing but missing values, like any constant one, is no literal
        missing = known.missing and len(known.masses) > 0
        self.edges = Edges(below, above, binned, missing)
        self.ranges = self._known = None


def to_keys(values: FloatArray) -> Keys:
    """Integers that have the order of the values; -0.0 is 0.0."""
    words = (values + 0.0).view(np.uint64)
    return np.where(words & _SIGN, ~words, words | _SIGN)


def from_keys(keys: Keys) -> FloatArray:
    """The values of keys."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


def _tally(keys: Keys, weights: FloatArray | None) -> tuple[Keys, FloatArray]:
    """The distinct keys, sorted, and the weight of each."""
    if weights is None:
        distinct, counts = np.unique(keys, return_counts=True)
        return distinct, counts.astype(float)
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    first = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
    return keys[first], np.add.reduceat(weights, first) if len(first) else weights


def _compress(counts: Counts) -> Counts:
    """Join the entries of one stretch, at the finest ``bits`` that need few enough entries."""
    low, ranges = counts.low, counts.ranges
    if not len(low):
        return counts
    number = np.searchsorted(ranges.starts, low, side="right") - 1
    offset = low - ranges.starts[number]
    width = _bit_lengths(ranges.stops - ranges.starts)[number[1:]]
    # neighbours in one range are in different stretches from so many bits on
    needed = 1 + width - _bit_lengths(offset[1:] ^ offset[:-1])
    needed[number[1:] != number[:-1]] = 0
    needed[low[1:] == low[:-1]] = ALL_BITS + 1
    entries = 1 + np.cumsum(np.bincount(needed, minlength=ALL_BITS + 2))[: counts.bits + 1]
    bits = counts.bits
    if ranges.most_entries is not None:
        bits = int(np.searchsorted(entries, ranges.most_entries, side="right")) - 1
    if entries[bits] == len(low):
        return replace(counts, bits=bits)
    first = np.concatenate([[0], 1 + np.flatnonzero(needed <= bits)])
    return replace(
        counts,
        bits=bits,
        low=low[first],
        high=np.maximum.reduceat(counts.high, first),
        masses=np.add.reduceat(counts.masses, first),
    )


def _bit_lengths(numbers: Keys) -> np.typing.NDArray[np.int64]:
    """The number of binary digits of each number."""
    upper, lower = numbers >> np.uint64(32), numbers & np.uint64(2**32 - 1)
    digits = np.where(upper > 0, 32 + np.frexp(upper)[1], np.frexp(lower)[1])
    return digits.astype(np.int64)


MOST_MOVED = 4  # classes; with more, rows are faster one by one
STAGES = 6  # of a move: by 1, 2, 4, 8, 16 and 32 bits
GATHER = np.uint64(0x0102040810204080)  # a word of bytes 0 or 1 times this has them as top bits
OTHER_BITS = np.uint64(0xFEFEFEFEFEFEFEFE)  # of a word of bytes, 0 if they are 0 or 1

IntArray = np.typing.NDArray[np.int64]
Words = np.typing.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Placement:
    """Where some rows lie: those of each class in adjacent slots, from given ones on.

    Attributes
    ----------
    codes : the class of each row
    keep : whether a row has a slot; empty if all have
    first_slots : of each class, the slot of its first row here
    first_places : the same without the empty slots between classes
    """

    codes: np.typing.NDArray[np.unsignedinteger]
    keep: np.typing.NDArray[np.bool_]
    first_slots: IntArray
    first_places: IntArray

    @cached_property
    def rows(self) -> IntArray:
        """The rows that have a slot, class by class."""
        rows = np.argsort(self.codes, kind="stable")
        return rows[self.keep[rows]] if len(self.keep) else rows

    @cached_property
    def counts(self) -> IntArray:
        """The rows of each class."""
        codes = self.codes[self.keep] if len(self.keep) else self.codes
        return np.bincount(codes, minlength=len(self.first_slots))

    @cached_property
    def slots(self) -> IntArray:
        """The slots of ``rows``."""
        return self._numbers + np.repeat(self.first_slots, self.counts)

    @cached_property
    def places(self) -> IntArray:
        """The same without the empty slots between classes."""
        return self._numbers + np.repeat(self.first_places, self.counts)

    @cached_property
    def _numbers(self) -> IntArray:
        """The number of each of ``rows`` in its class."""
        before = np.cumsum(self.counts) - self.counts
        return np.arange(len(self.rows)) - np.repeat(before, self.counts)

    @cached_property
    def moves(self) -> Words | None:
        """How the bits of 64 rows are moved for each class; None if there are many classes."""
        if len(self.first_slots) > MOST_MOVED:
            return None
        blocks = -(-len(self.codes) // 64)
        moves = np.empty((blocks, len(self.first_slots), 1 + STAGES), dtype=np.uint64)
        _find_moves(self.codes, self.keep, moves)
        return moves

    def prepare(self, by_row: bool) -> None:
        """Find what columns share, before several threads would; ``by_row`` if some need rows."""
        if self.moves is None or by_row:
            assert len(self.slots) == len(self.places)

    def add(self, flags: np.typing.NDArray[np.uint8], out_words: Words) -> bool:
        """Set the bits of a literal from a byte for each row, 0 or 1, if all of them are."""
        flags = flags.view()
        flags.flags.writeable = False  # as cells of Arrow are: else numba would have two types
        if self.moves is not None:
            return add_moved(flags, self.moves, self.first_slots, out_words)
        if len(flags) and flags.max() > 1:
            return False
        add_flags(flags, self.rows, self.slots, out_words)
        return True


@jit
def _find_moves(codes, keep, out_moves):
    """For each 64 rows and class write its rows as a mask, and which bits each stage moves.

    Stage ``s`` moves bits by ``2**s`` places. ``keep`` is empty if all rows are kept.
    """
    masks = np.empty(out_moves.shape[1], dtype=np.uint64)
    for block in range(len(out_moves)):
        masks[:] = 0
        for row in range(64 * block, min(64 * block + 64, len(codes))):
            if len(keep) == 0 or keep[row]:
                masks[codes[row]] |= np.uint64(1) << np.uint64(row & 63)
        for code in range(len(masks)):
            mask = masks[code]
            out_moves[block, code, 0] = mask
            below = ~mask << np.uint64(1)  # ones above the rows of other classes
            for stage in range(STAGES):
                odd = below  # ones where an odd number of them lie at or below
                for step in range(STAGES):
                    odd ^= odd << np.uint64(1 << step)
                moved = odd & mask
                out_moves[block, code, 1 + stage] = moved
                mask = (mask ^ moved) | (moved >> np.uint64(1 << stage))
                below &= ~odd


@jit
def add_moved(flags, moves, first_slots, out_words):
    """Set the bits of a literal from a byte for each row; the bits of these slots must be 0.

    Returns whether all bytes are 0 or 1; if not, the output is worthless.
    """
    slots = first_slots.copy()
    seen = np.uint64(0)
    for block in range(len(moves)):
        start = 64 * block
        word = np.uint64(0)
        if start + 64 <= len(flags):
            for part in range(8):
                cells = load_word(flags, start + 8 * part)
                seen |= cells
                word |= ((cells * GATHER) >> np.uint64(56)) << np.uint64(8 * part)
        else:
            for row in range(start, len(flags)):
                cell = np.uint64(flags[row])
                seen |= cell
                word |= (cell & np.uint64(1)) << np.uint64(row - start)
        for code in range(len(slots)):
            mask = moves[block, code, 0]
            bits = word & mask
            for stage in range(STAGES):
                moved = bits & moves[block, code, 1 + stage]
                bits = (bits ^ moved) | (moved >> np.uint64(1 << stage))
            slot = slots[code]
            shift = np.uint64(slot & 63)
            slots[code] += np.int64(popcount(mask))
            if bits:
                out_words[slot >> 6] |= bits << shift
                rest = (bits >> np.uint64(1)) >> (np.uint64(63) - shift)  # by 64 - shift places
                if rest:
                    out_words[(slot >> 6) + 1] |= rest
    return seen & OTHER_BITS == 0
