"""Counting trees: recurrences over the states of a space, with sums in place of minima.

The dynamic programs for optimal trees take the minimum over first tests and over shares of the
other splits. Counting replaces the minimum by a sum. A state's *spectrum* for a size is the number
of its trees by error, as far as a limit: it sums, over the tests and the shares, the products of
both children's spectra. A limit is passed on less what the sibling needs at least, so few trees
that are too bad are ever looked at. Errors are whole numbers, and equal ones add up.

Sampling goes the same way back: a test, a share and both children's errors are drawn by their part
of the count. Every draw is a whole number below a count, so all trees are equally likely.

Invariant: a remembered spectrum holds all trees up to the limit it was made with, and is used for
smaller limits only.
"""

from __future__ import annotations

import math
import random
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from mictree._support.progress import Progress, Report, ignore
from mictree.optimal.good_spaces import NOTHING, Barred, Branch, Space, State

NEVER = None  # the least error of a size that no tree has
Spectrum = dict[Any, int]  # how many trees have an error, a whole number or a Fraction
BYTES_EACH = 250  # of one entry of a spectrum, nearly
LOOKS = 256  # products of spectra between two looks at the clock


class Stopped(Exception):
    """Counting has to end."""


@dataclass
class Watch:
    """When counting has to end.

    Attributes
    ----------
    until : the time, by the monotonic clock
    entries : how many entries of spectra may still be made
    most : how many trees of the root are enough
    report : called now and then
    interrupted : whether Ctrl-C was pressed, where that raises no error
    """

    until: float = math.inf
    entries: int = 2**62
    most: int | None = None
    report: Report = ignore
    interrupted: Callable[[], bool] = bool
    what: str = "counting trees"
    looks: int = 0

    def look(self, made: int = 0) -> None:
        """Raise ``Stopped`` if time or room is over."""
        self.entries -= made
        self.looks += 1
        if self.entries < 0:
            raise Stopped("memory_limit")
        if self.looks % LOOKS == 0:
            if self.interrupted():
                raise Stopped("Ctrl-C")
            if time.monotonic() > self.until:
                raise Stopped("time_limit")
            self.report(Progress(self.what))

    def look_at(self, found: Spectrum) -> None:
        """Raise ``Stopped`` if enough trees are found."""
        if self.most is not None and sum(found.values()) > self.most:
            raise Stopped("max_count")


class Way(NamedTuple):
    """A first test, and the splits and the errors of both of its children."""

    branch: Branch
    low_size: int
    low_error: int
    high_error: int


class Share(NamedTuple):
    """A first test, the splits of its low child, and the spectra of both children."""

    branch: Branch
    low_size: int
    low: Spectrum
    high: Spectrum


class Counting:
    """Spectra of a space's states, remembered.

    Attributes
    ----------
    found : the trees of the root found so far, by error, while these are counted
    """

    def __init__(self, space: Space, barred: Barred = NOTHING, watch: Watch | None = None) -> None:
        self.space, self.watch = space, watch or Watch()
        self.root = space.root(barred)
        self.found: Spectrum = {}
        self._least: dict[tuple[State, int], int | None] = {}
        self._least_using: dict[tuple[State, int], int | None] = {}
        self._known: dict[tuple[State, int], tuple[int, Spectrum]] = {}
        self._branches: dict[State, Sequence[Branch]] = {}
        self._ways: dict[tuple[State, int, int], tuple[list[int], list[Way]]] = {}

    def branches(self, state: State) -> Sequence[Branch]:
        """The tests that divide a state; none if it is pure."""
        if state not in self._branches:
            pure = self.space.leaf(state)[1]
            self._branches[state] = () if pure else self.space.branches(state)
        return self._branches[state]

    def least(self, state: State, size: int) -> int | None:
        """The least error of a tree of exactly so many splits; None if there is none."""
        if size == 0:
            return self.space.leaf(state)[0]
        if (state, size) not in self._least:
            self.watch.look(1)
            best = NEVER
            for branch in self.branches(state):
                for low_size in range(size):
                    error = self._sum(branch, low_size, size - 1 - low_size)
                    if error is not None and (best is None or error < best):
                        best = error
            self._least[state, size] = best
        return self._least[state, size]

    def least_using(self, state: State, size: int) -> int | None:
        """The least error of a tree of exactly so many splits that tests the barred variable."""
        if size == 0 or self.space.leaf(state)[1]:
            return None
        if (state, size) not in self._least_using:
            self.watch.look(1)
            sums: list[int | None] = []
            tested = self.space.barred_branch(state)
            for low_size in range(size):
                sizes = low_size, size - 1 - low_size
                if tested is not None:
                    sums.append(self._sum(tested, *sizes))
                for branch in self.branches(state):
                    below = list(zip((branch.low, branch.high), sizes, strict=True))
                    low, high = (self._least_of_all(*child) for child in below)
                    low_using, high_using = (self.least_using(*child) for child in below)
                    sums += [_weighted(branch, low_using, high), _weighted(branch, low, high_using)]
            known = [error for error in sums if error is not None]
            self._least_using[state, size] = min(known, default=None)
        return self._least_using[state, size]

    def _least_of_all(self, state: State, size: int) -> int | None:
        """The least error of a tree that may test the barred variable."""
        known = self.least(state, size), self.least_using(state, size)
        return min((error for error in known if error is not None), default=None)

    def _sum(self, branch: Branch, low_size: int, high_size: int) -> int | None:
        """The least error with a first test and a share of the other splits."""
        low = self.least(branch.low, low_size)
        return _weighted(branch, low, None if low is None else self.least(branch.high, high_size))

    def spectrum(self, state: State, size: int, limit: Any) -> Spectrum:
        """The number of trees of a size by error, up to a limit at least."""
        if size == 0:
            error = self.space.leaf(state)[0]
            return {error: 1} if error <= limit else {}
        made, known = self._known.get((state, size), (-1, {}))
        if made < limit:
            known = self._count(state, size, limit)
            self._known[state, size] = limit, known
        return known

    def count(self, size: int, limit: int) -> tuple[Spectrum, str]:
        """The trees of the root by error; what ended counting before all were found, or ""."""
        self.found, ended = {}, ""
        try:
            spectrum = self.spectrum(self.root, size, limit)
        except Stopped as stopped:
            spectrum, ended = self.found, str(stopped)
        except KeyboardInterrupt:
            spectrum, ended = self.found, "Ctrl-C"
        return {error: number for error, number in spectrum.items() if error <= limit}, ended

    def _count(self, state: State, size: int, limit: int) -> Spectrum:
        found: Spectrum = {}
        if state == self.root:
            self.found = found
        for branch, _, low, high in self.shares(state, size, limit):
            before, times = len(found), branch.times
            low_weight, high_weight = branch.low_weight, branch.high_weight
            ordered = sorted(high.items())
            for low_error, low_count in low.items():
                left = limit - low_weight * low_error
                for high_error, high_count in ordered:
                    if high_weight * high_error > left:
                        break
                    error = low_weight * low_error + high_weight * high_error
                    found[error] = found.get(error, 0) + times * low_count * high_count
            self.watch.look(len(found) - before)
            if found is self.found:
                self.watch.look_at(found)
        return found

    def shares(self, state: State, size: int, limit: int) -> Iterator[Share]:
        """The first tests, and the spectra of both children for each share of the other splits."""
        for branch in self.branches(state):
            for low_size in range(size):
                high_size = size - 1 - low_size
                low_least = self.least(branch.low, low_size)
                high_least = self.least(branch.high, high_size)
                if low_least is None or high_least is None:
                    continue
                low_least, high_least = (
                    branch.low_weight * low_least, branch.high_weight * high_least,
                )  # fmt: skip
                if low_least + high_least <= limit:
                    rooms = (
                        _divide(limit - high_least, branch.low_weight),
                        _divide(limit - low_least, branch.high_weight),
                    )
                    low = self.spectrum(branch.low, low_size, rooms[0])
                    high = self.spectrum(branch.high, high_size, rooms[1])
                    yield Share(branch, low_size, low, high)

    def ways(self, state: State, size: int, error: int) -> tuple[list[int], list[Way]]:
        """How a tree of a size and an error can begin, and the running sum of the trees of each."""
        key = state, size, error
        if key not in self._ways:
            found, counts = [], []
            for branch, low_size, low, high in self.shares(state, size, error):
                for low_error, low_count in low.items():
                    high_error = error - branch.low_weight * low_error
                    if branch.high_weight != 1:
                        high_error, rest = divmod(high_error, branch.high_weight)
                        if rest:
                            continue
                    if high_error in high:
                        found.append(Way(branch, low_size, low_error, high_error))
                        counts.append(branch.times * low_count * high[high_error])
            self._ways[key] = list(accumulate(counts)), found
        return self._ways[key]

    def draw(self, place: Any, state: State, size: int, error: int, draws: random.Random) -> Any:
        """One of the trees of a size and an error, nested, each equally likely."""
        if size == 0:
            return self.space.label(place)
        sums, ways = self.ways(state, size, error)
        branch, low_size, *errors = ways[bisect_right(sums, draws.randrange(sums[-1]))]
        ends = self.space.ends(place, branch)
        end = ends[draws.randrange(len(ends))]
        places = (end.high, end.low) if end.swapped else (end.low, end.high)
        sizes = low_size, size - 1 - low_size
        nested = [
            self.draw(*below, draws)
            for below in zip(places, (branch.low, branch.high), sizes, errors, strict=True)
        ]
        return (end.test, *(nested[::-1] if end.swapped else nested))

    def each(self, place: Any, state: State, size: int, error: int) -> Iterator[Any]:
        """All trees of a size and an error, nested."""
        if size == 0:
            yield self.space.label(place)
            return
        for branch, low_size, low_error, high_error in self.ways(state, size, error)[1]:
            for end in self.space.ends(place, branch):
                low, high = (end.high, end.low) if end.swapped else (end.low, end.high)
                for one in self.each(low, branch.low, low_size, low_error):
                    rest = size - 1 - low_size
                    for other in self.each(high, branch.high, rest, high_error):
                        yield (end.test, other, one) if end.swapped else (end.test, one, other)


def _divide(error: Any, weight: int) -> Any:
    """An error in units of a child, rounded down; Fractions have no weights."""
    return error if weight == 1 else error // weight


def _weighted(branch: Branch, low: int | None, high: int | None) -> int | None:
    """The error of a state from those of a test's children; None if one of them has no tree."""
    if low is None or high is None:
        return None
    return branch.low_weight * low + branch.high_weight * high
