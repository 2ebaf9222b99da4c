"""Exact bin edges of an ordered column whose rows come in parts: files, batches, partitions.

Every part is counted on its own, and counts are merged, in any order and grouping. They never hold
more than a fixed number of entries: when a column has more values than that, an entry stands for a
range of values. Where a bin's edge falls into such a range, one more pass over the rows counts the
values in these ranges only, until every edge lies between two known values. So the edges are those
that ``mictree.columns.ordered.rank`` finds for all rows at once, however they are cut into parts.

Values are compared as keys: the 64 bits of a float as an integer that has the order of the floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mictree.columns.ordered import choose_cuts

MOST_ENTRIES = 2**16  # counted for a column in one pass, by default: 24 bytes each
NEAR = 1  # neighbours of an open entry, on each side
ALL_BITS = 64  # of a key
ALL_KEYS = np.uint64(2**64 - 1)

FloatArray = np.typing.NDArray[np.float64]
BoolArray = np.typing.NDArray[np.bool_]
Keys = np.typing.NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)


class Edges(NamedTuple):
    """The neighbours of every threshold, as ``mictree.columns.ordered.Ranked`` has them."""

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
        least = 0 if most is None else 2 * most * (1 + 2 * NEAR) + 2
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
        near = np.convolve(self._open, np.ones(1 + 2 * NEAR))[NEAR:-NEAR] > 0
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
