"""A counted leaf: its tests, their gains, and the counts of its children."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mictree.columns.literals import Literals
from mictree.distributed.packed import Counted, Path, Test, offsets_of
from mictree.growers.counting import Counts
from mictree.growers.offers import Limits, Weighing, may_split, offer_of_counts

IntArray = np.typing.NDArray[np.int64]
FloatArray = np.typing.NDArray[np.float64]


@dataclass(eq=False)
class Leaf:
    """A leaf of a tree that grows, or may grow.

    Attributes
    ----------
    path : how rows reach it
    rows, sums : its rows by class, and those weighted
    counts : the same by literal and rank; None if it must not be split, or once it is
    gain : of its best test; -1 if it must not be split
    gains : of all its tests, in the order of literals
    tests : the same as steps of a path, to the high side
    children : by test, the low and the high one, as far as they are counted
    """

    path: Path
    rows: IntArray
    sums: FloatArray
    counts: Counts | None = None
    gain: float = -1.0
    gains: FloatArray = field(default_factory=lambda: np.empty(0))
    tests: list[Test] = field(default_factory=list)
    children: dict[Test, tuple[Leaf, Leaf]] = field(default_factory=dict)


class Offers:
    """Weighs the tests of counted leaves, as the growing loop on one machine does."""

    def __init__(self, literals: Literals, weighing: Weighing, limits: Limits) -> None:
        self._literals, self._weighing, self._limits = literals, weighing, limits
        self._offsets = offsets_of(literals)
        self._bits = len(literals.stored_bits)

    @cached_property
    def _before(self) -> IntArray:
        """For each ordered column, how many of the stored literals come before it."""
        starts = np.array(self._literals.starts)[list(self._literals.ordered)]
        return np.searchsorted(self._literals.stored_bits, starts)

    def halves(self, leaf: Leaf, test: Test) -> tuple[Leaf, Leaf]:
        """Both children of a leaf, not counted."""
        part = slice(test.place, test.place + 1)
        if test.rank:
            start, stop = self._ranks(test.place)
            part = slice(start + test.rank, stop)
        rows, sums = _parts(leaf).rows[part].sum(axis=0), _parts(leaf).sums[part].sum(axis=0)
        weighted = sums if len(_parts(leaf).sums) else rows.astype(float)
        low, high = ((*leaf.path, test._replace(high=side)) for side in (False, True))
        return Leaf(low, leaf.rows - rows, leaf.sums - weighted), Leaf(high, rows, weighted)

    def may_split(self, leaf: Leaf) -> bool:
        """Whether a leaf's tests are worth counting."""
        return bool(may_split(leaf.rows, len(leaf.path), self._limits))

    def root(self, counted: Counted) -> Leaf:
        """The lone leaf."""
        rows = counted.rows[0, -1].copy()
        sums = counted.sums[0, -1].copy() if len(counted.sums) else rows.astype(float)
        root = Leaf((), rows, sums)
        if self.may_split(root):
            self.consider(root, counts_of(counted, 0))
        return root

    def consider(self, leaf: Leaf, counts: Counts) -> None:
        """Weigh the tests of a leaf."""
        tests, offered = self._tests(counts)
        gains = np.empty(len(tests))
        best = offer_of_counts(offered, leaf.rows, leaf.sums, self._weighing, self._limits, gains)
        if best >= 0:
            leaf.counts, leaf.tests, leaf.gains, leaf.gain = counts, tests, gains, float(best)

    def _tests(self, counts: Counts) -> tuple[list[Test], Counts]:
        """All tests of a leaf in the order of literals, and the rows on their high sides."""
        tests: list[Test] = []
        parts: list[IntArray] = []  # rows of a table of literals, then of cuts
        rows, sums, cuts = self._cuts(counts)
        begin = 0
        for place, steps in enumerate(cuts):
            stop = int(self._before[place])
            tests += [Test(bit, 0, True) for bit in range(begin, stop)] + steps
            first = self._bits + sum(map(len, cuts[:place]))
            parts += [np.arange(begin, stop), np.arange(first, first + len(steps))]
            begin = stop
        tests += [Test(bit, 0, True) for bit in range(begin, self._bits)]
        parts.append(np.arange(begin, self._bits))
        order = np.concatenate(parts)
        weighted = sums[order] if len(sums) else sums
        return tests, Counts(rows[order], weighted)

    def _cuts(self, counts: Counts) -> tuple[IntArray, FloatArray, list[list[Test]]]:
        """The literals' rows and, behind them, those above each cut; the cuts of each column.

        A cut lies between two ranks that the leaf's rows have; missing values are below all.
        """
        tables = [counts.rows[: self._bits]]
        weighted = [counts.sums[: self._bits]]
        cuts: list[list[Test]] = []
        for place, number in enumerate(self._literals.ordered):
            part = slice(*self._ranks(place))
            missing = int(self._literals.columns[number].missing)
            present = np.flatnonzero(counts.rows[part].any(axis=1))
            above = present[present >= missing][1:]  # a cut is named by the rank above it
            cuts.append([Test(place, rank, True) for rank in above.tolist()])
            tables.append(_from_here_on(counts.rows[part])[above])
            if len(counts.sums):
                weighted.append(_from_here_on(counts.sums[part])[above])
        return np.concatenate(tables), np.concatenate(weighted), cuts

    def _ranks(self, place: int) -> tuple[int, int]:
        """The first of an ordered column's ranks among all counts, and the end."""
        start, stop = (self._bits + self._offsets[place : place + 2]).tolist()
        return start, stop

    def literal(self, leaf: Leaf, test: Test) -> tuple[int, float]:
        """The position of a test's literal, and its exact threshold; NaN if it has none."""
        literals = self._literals
        if not test.rank:
            literal = int(literals.stored_bits[test.place])
            return literal, literals.threshold(literal)
        number = literals.ordered[test.place]
        start, stop = self._ranks(test.place)
        present = np.flatnonzero(_parts(leaf).rows[start:stop].any(axis=1))
        below = int(present[present < test.rank][-1])
        position, threshold = literals.columns[number].between(below, test.rank)
        return literals.starts[number] + position, threshold


def counts_of(counted: Counted, number: int) -> Counts:
    """The counts of one leaf."""
    rows = counted.rows[number]
    return Counts(rows, counted.sums[number] if len(counted.sums) else rows[:0].astype(float))


def rest_of(whole: Counts, part: Counts) -> Counts:
    """The counts of the rows of a leaf that one child does not have."""
    return Counts(whole.rows - part.rows, whole.sums - part.sums)


def _parts(leaf: Leaf) -> Counts:
    if leaf.counts is None:
        raise RuntimeError("a leaf that is split must be counted")
    return leaf.counts


def _from_here_on(table: np.ndarray) -> np.ndarray:
    """The sums of each row and all that follow."""
    return table[::-1].cumsum(axis=0)[::-1]
