"""Columns whose values have an order: ranks, thresholds between them, and how a threshold reads.

A column is stored as the rank of every row's value, in the smallest unsigned type, and as its
distinct values. Threshold number j lies halfway between two neighbouring values, and a row is above
it if its rank is more than j (one more if values are missing: those have rank 0).

With fewer thresholds than values, a rank counts the thresholds below a value. They are chosen one
after another, each in the middle of the heaviest part that the ones before have left, so those for
k are among those for k + 1.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit
from mictree._support.words import show_digits
from mictree.columns.scratch import Scratch
from mictree.columns.series import FINER, last_tick, read_tick

if TYPE_CHECKING:
    from mictree.columns.data import Data

FloatArray = np.typing.NDArray[np.float64]
Ranks = np.typing.NDArray[np.unsignedinteger]

UNSORTED = -1
FEW = 400  # values; fewer are sorted faster by short digits
SHORT = struct.Struct("f")  # a float of 32 bits
MOVES = 4  # for each value, until sorting by comparison is faster
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
    width = 7 if len(words) < FEW else 11  # five passes or three: the last must fill ``moved``
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
        if moves > MOVES * len(keys):
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
    low, high = _shorten(below), _shorten(above)
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
    short = _shorten(exact)
    same = short != exact and short == _shorten(rounded)  # as ``midpoint`` says
    return rounded if same and below <= rounded < above else exact


def _shorten(number: float) -> float:
    """A number rounded to 32 bits, perhaps to infinity."""
    try:
        return SHORT.unpack(SHORT.pack(number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def midpoints(below: FloatArray, above: FloatArray) -> FloatArray:
    """The same for arrays."""
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
