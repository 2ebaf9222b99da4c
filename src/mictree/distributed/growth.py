"""The growing loop on counts: rounds of counting, as few as speculation allows.

A leaf's best test follows from its counts alone: its rows by class for each literal and rank. So
the children of any counted leaf can be counted before the leaf is split. Every round counts the
children of all leaves that the rule may split next: as many as splits are left. No row is at two
leaves of one round, so a round counts every row at most once. A tree takes about as many rounds as
it is deep. Of two children only the smaller is counted; the counts of the other are the rest.

``Growing`` chooses leaves and breaks ties with the same functions as the loop on one machine
(``growers.choosing``), and ``Offers`` weighs tests with the same kernels, so both grow the same
tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mictree.columns.literals import Literals
from mictree.distributed.packed import Counted, Path, Test, offsets_of
from mictree.growers.choosing import (
    LAST,
    RANDOM,
    any_open,
    choose_leaf,
    choose_tied,
    close_leaf,
    new_frontier,
    open_leaf,
    stream,
)
from mictree.growers.data_gains import Limits, Weighing, may_split, offer_of_counts
from mictree.growers.data_loop import Rule
from mictree.growers.data_rows import Counts
from mictree.growers.data_sums import SumsTask, Tally, offer_of_sums
from mictree.growers.loop import ROOM, enlarged
from mictree.growers.rules import TIES, Grower, checked_priority
from mictree.impurity.gains import OWN
from mictree.problems.subsets import class_keys, cost_keys, list_sides
from mictree.problems.tasks import MatrixCosts

MOST_BYTES = 2**26  # of the counts of one round
NO_RULE = Rule(0, 0, 0)  # the loop here chooses leaves

Count = Callable[[Sequence[Path]], Counted]
FloatArray = np.typing.NDArray[np.float64]


class Growing:
    """A tree that grows by counts.

    Parameters
    ----------
    rule : with a seed if ties are random
    offers : weighs the tests of counted leaves
    count : counts the rows of all partitions at some leaves: one round
    factors : of the classes
    max_size : the largest number of splits

    Attributes
    ----------
    leaves : in order of creation
    splits : for each, the leaf, the literal, the exact threshold and the gain
    """

    def __init__(
        self, rule: Grower, offers: Offers, count: Count, factors: FloatArray, max_size: int
    ) -> None:
        self._rule, self._offers, self._count = rule, offers, count
        self._factors, self._max_size = factors.tolist(), max_size
        self._ties, self._draws = TIES.index(rule.ties), stream(rule.seed or 0)
        self._frontier = new_frontier(ROOM)
        self._open: dict[int, Leaf] = {}  # by number
        self.leaves: list[Leaf] = []
        self.splits: list[tuple[int, int, float, float]] = []

    def run(self, root: Counted) -> None:
        """Split leaves, from the lone one on, until the size is reached or none can be split."""
        self._add(self._offers.root(root), 0)
        while len(self.splits) < self._max_size and any_open(self._frontier):
            number = int(choose_leaf(self._frontier, self._ties, self._draws))
            leaf = self._open.pop(number)
            test = leaf.tests[int(choose_tied(leaf.gains, self._ties, self._draws))]
            close_leaf(self._frontier, number)
            self.splits.append((number, *self._offers.literal(leaf, test), leaf.gain))
            low, high = self._children(leaf, test)
            leaf.counts, leaf.children = None, {}
            self._add(low, 2 * len(self.splits) + 1)  # the low child counts as the younger one
            self._add(high, 2 * len(self.splits))

    def _add(self, leaf: Leaf, born: int) -> None:
        """Append a leaf, and open it if it has a split to make."""
        number = len(self.leaves)
        self.leaves.append(leaf)
        if leaf.gain < 0 or len(self.splits) == self._max_size:
            return
        self._open[number] = leaf
        reach = self._reach(leaf)
        if number >= len(self._frontier.reach):
            self._frontier = enlarged(self._frontier)
        priority = checked_priority(self._rule, reach, leaf.gain, born)
        open_leaf(self._frontier, number, reach, priority)

    def _reach(self, leaf: Leaf) -> float:
        return _mass(leaf.sums, self._factors) / _mass(self.leaves[0].sums, self._factors)

    def _children(self, leaf: Leaf, test: Test) -> tuple[Leaf, Leaf]:
        """Both children, counted now unless an earlier round did, or nobody will ask."""
        if test not in leaf.children:
            halves = self._offers.halves(leaf, test)
            if len(self.splits) == self._max_size or not any(map(self._offers.may_split, halves)):
                return halves
            self._expand(leaf, test)
        return leaf.children[test]

    def _expand(self, leaf: Leaf, test: Test) -> None:
        """Count the children of a leaf, and of those that may be split next: one round."""
        wanted = [(leaf, test), *self._candidates(leaf)]
        halves = [self._offers.halves(*each) for each in wanted]
        smaller = [int(high.rows.sum() < low.rows.sum()) for low, high in halves]
        counted = self._count([both[side].path for both, side in zip(halves, smaller, strict=True)])
        for number, ((parent, test), both, side) in enumerate(
            zip(wanted, halves, smaller, strict=True)
        ):
            counts = _counts_of(counted, number)
            rest = _rest_of(parent.counts, counts) if parent.counts is not None else counts
            for child, of_child in ((both[side], counts), (both[1 - side], rest)):
                child.same = _are_same(counted, number, int(child is not both[side]))
                if self._offers.may_split(child):
                    self._offers.consider(child, of_child)
            parent.children[test] = both

    def _candidates(self, chosen: Leaf) -> list[tuple[Leaf, Test]]:
        """The leaves, in the tree or below it, that may be split next, and their tests."""
        left = self._max_size - len(self.splits)
        nbytes = 2 * chosen.counts.rows.nbytes if chosen.counts is not None else 1
        found: list[tuple[float, int, Leaf, Test]] = []
        waiting = list(self._open.values())
        while waiting:
            leaf = waiting.pop()
            test = self._guess(leaf)
            if test in leaf.children:
                waiting += [child for child in leaf.children[test] if child.gain >= 0]
            elif any(map(self._offers.may_split, self._offers.halves(leaf, test))):
                found.append((self._reach(leaf) * leaf.gain, len(found), leaf, test))
        found.sort(reverse=True)
        return [each[2:] for each in found[: min(left, MOST_BYTES // nbytes)]]

    def _guess(self, leaf: Leaf) -> Test:
        """The test that a leaf will be split by; with random ties, one that it may be."""
        ties = LAST if self._ties == RANDOM else self._ties
        return leaf.tests[int(choose_tied(leaf.gains, ties, self._draws))]


def _mass(sums: FloatArray, factors: Sequence[float]) -> float:
    """The weight of all classes, added in their order as kernels do."""
    mass = 0.0
    for number, factor in zip(sums.tolist(), factors, strict=True):
        mass += number * factor
    return mass


IntArray = np.typing.NDArray[np.int64]


@dataclass(eq=False)
class Leaf:
    """A leaf of a tree that grows, or may grow.

    Attributes
    ----------
    path : how rows reach it
    rows, sums : its rows by class, and those weighted
    counts : the same by literal and rank; None if it must not be split, or once it is
    same : whether all its labels are one number
    gain : of its best test; -1 if it must not be split
    gains : of all its tests, in the order of literals
    tests : the same as steps of a path, to the high side
    children : by test, the low and the high one, as far as they are counted
    """

    path: Path
    rows: IntArray
    sums: FloatArray
    counts: Counts | None = None
    same: bool = False
    gain: float = -1.0
    gains: FloatArray = field(default_factory=lambda: np.empty(0))
    tests: list[Test] = field(default_factory=list)
    children: dict[Test, tuple[Leaf, Leaf]] = field(default_factory=dict)


class Gains(ABC):
    """What the tests of a leaf gain, as the growing loop on one machine has it."""

    @abstractmethod
    def may_split(self, leaf: Leaf) -> bool:
        """Whether a leaf's tests are worth counting."""

    @abstractmethod
    def sides(self, cells: Counts, missing: bool) -> np.typing.NDArray[np.uint8]:
        """The sets of a leaf's categories to look at, by the counts of its cells."""

    @abstractmethod
    def weigh(self, leaf: Leaf, offered: Counts, out_gains: FloatArray) -> float:
        """Write the gain of each test by the counts on its high side; returns the best, or -1."""


class ClassGains(Gains):
    """Of rows with classes; a cost matrix may make leaves of several classes pure."""

    def __init__(
        self, weighing: Weighing, limits: Limits, costs: MatrixCosts | None = None
    ) -> None:
        self._weighing, self._limits, self._costs = weighing, limits, costs

    def may_split(self, leaf: Leaf) -> bool:
        """Whether it is impure, large and high enough."""
        if self._costs is not None and self._costs.is_pure(leaf.rows > 0):
            return False
        return bool(may_split(leaf.rows, len(leaf.path), self._limits))

    def sides(self, cells: Counts, missing: bool) -> np.typing.NDArray[np.uint8]:
        """By the shares of classes."""
        keys = class_keys(cells.sums if len(cells.sums) else cells.rows.astype(float))
        sure = _allow_all(self._limits) and self._weighing.criterion != OWN
        return list_sides(cells.rows.sum(axis=1), keys, missing, sure)

    def weigh(self, leaf: Leaf, offered: Counts, out_gains: FloatArray) -> float:
        """By the weights of classes on both sides."""
        weighing, limits = self._weighing, self._limits
        return float(offer_of_counts(offered, leaf.rows, leaf.sums, weighing, limits, out_gains))


class NumberGains(Gains):
    """Of rows with numbers to predict; ``unit`` is the label that is 1 in whole numbers."""

    def __init__(self, unit: float, limits: Limits) -> None:
        self._task = SumsTask(NO_RULE, limits, True, unit**2)

    def may_split(self, leaf: Leaf) -> bool:
        """Whether it is large and high enough, and not known to have one label only."""
        limits = self._task.limits
        large = leaf.rows[0] >= limits.min_samples_split
        return bool(large) and len(leaf.path) < limits.max_depth and not leaf.same

    def sides(self, cells: Counts, missing: bool) -> np.typing.NDArray[np.uint8]:
        """By the means of labels."""
        masses, sums = np.ascontiguousarray(cells.sums.T)
        rows, sure = cells.rows[:, 0].copy(), _allow_all(self._task.limits)
        return list_sides(rows, cost_keys(sums[:, None].copy(), masses), missing, sure)

    def weigh(self, leaf: Leaf, offered: Counts, out_gains: FloatArray) -> float:
        """By weights and sums of labels on both sides."""
        masses, sums = np.ascontiguousarray(offered.sums.T)
        tally = Tally(offered.rows[:, 0].copy(), masses, sums[:, None])
        mass, total = leaf.sums.tolist()
        parts = np.array([total]), mass, int(leaf.rows[0])
        return float(offer_of_sums(tally, *parts, self._task, out_gains))


def _allow_all(limits: Limits) -> bool:
    """Whether leaves may be of any size."""
    return limits.min_samples_leaf <= 1 and limits.min_leaf_mass <= 0


class Offers:
    """Finds and weighs the tests of counted leaves, as the growing loop on one machine does."""

    def __init__(self, literals: Literals, gains: Gains) -> None:
        self._literals, self._gains = literals, gains
        self._offsets = offsets_of(literals)
        self._listed, self._bits = len(literals.stored_bits), literals.rows_of_bits

    @cached_property
    def _before(self) -> dict[int, int]:
        """For each ordered or grouped column, how many of the stored literals come before it."""
        numbers = sorted((*self._literals.ordered, *self._literals.grouped))
        starts = np.array(self._literals.starts)[numbers]
        before = np.searchsorted(self._literals.stored_bits, starts).tolist()
        return dict(zip(numbers, before, strict=True))

    def halves(self, leaf: Leaf, test: Test) -> tuple[Leaf, Leaf]:
        """Both children of a leaf, not counted."""
        part: slice | list[int] = slice(test.place, test.place + 1)
        if test.cells:
            part = list(test.cells)
        elif test.rank:
            start, stop = self._ranks(test.place)
            part = slice(start + test.rank, stop)
        whole = _parts(leaf)
        rows = whole.rows[part].sum(axis=0)
        weighted = whole.sums[part].sum(axis=0) if len(whole.sums) else rows.astype(float)
        low, high = ((*leaf.path, test._replace(high=side)) for side in (False, True))
        return Leaf(low, leaf.rows - rows, leaf.sums - weighted), Leaf(high, rows, weighted)

    def may_split(self, leaf: Leaf) -> bool:
        """Whether a leaf's tests are worth counting."""
        return self._gains.may_split(leaf)

    def root(self, counted: Counted) -> Leaf:
        """The lone leaf."""
        rows = counted.rows[0, -1].copy()
        sums = counted.sums[0, -1].copy() if len(counted.sums) else rows.astype(float)
        root = Leaf((), rows, sums, same=_are_same(counted, 0, 0))
        if self.may_split(root):
            self.consider(root, _counts_of(counted, 0))
        return root

    def consider(self, leaf: Leaf, counts: Counts) -> None:
        """Weigh the tests of a leaf."""
        tests, offered = self._tests(counts)
        gains = np.empty(len(tests))
        best = self._gains.weigh(leaf, offered, gains)
        if best >= 0:
            leaf.counts, leaf.tests, leaf.gains, leaf.gain = counts, tests, gains, best

    def _tests(self, counts: Counts) -> tuple[list[Test], Counts]:
        """All tests of a leaf in the order of literals, and the rows on their high sides."""
        literals, tests, places = self._literals, list[Test](), list[IntArray]()
        tables, weighted = [counts.rows[: self._listed]], [counts.sums[: self._listed]]
        begin, count = 0, self._listed
        for number, stop in self._before.items():
            found = self._sets if number in literals.grouped else self._cuts
            steps, rows, sums = found(counts, number)
            tests += [Test(bit, 0, True) for bit in range(begin, stop)] + steps
            places += [np.arange(begin, stop), np.arange(count, count + len(steps))]
            begin, count = stop, count + len(steps)
            tables.append(rows)
            weighted.append(sums)
        tests += [Test(bit, 0, True) for bit in range(begin, self._listed)]
        places.append(np.arange(begin, self._listed))
        order, sums = np.concatenate(places), np.concatenate(weighted)
        return tests, Counts(np.concatenate(tables)[order], sums[order] if len(sums) else sums)

    def _cuts(self, counts: Counts, number: int) -> tuple[list[Test], IntArray, FloatArray]:
        """The cuts of an ordered column, and the rows above each.

        A cut lies between two ranks that the leaf's rows have; missing values are below all.
        """
        place = self._literals.ordered.index(number)
        part = slice(*self._ranks(place))
        present = np.flatnonzero(counts.rows[part].any(axis=1))
        missing = int(self._literals.columns[number].missing)
        above = present[present >= missing][1:]
        sums = counts.sums
        if len(sums):
            sums = _from_here_on(counts.sums[part])[above]
        # a cut is named by the rank above it
        steps = [Test(place, rank, True) for rank in above.tolist()]
        return steps, _from_here_on(counts.rows[part])[above], sums

    def _sets(self, counts: Counts, number: int) -> tuple[list[Test], IntArray, FloatArray]:
        """The sets of a grouped column's categories to look at, and the rows in each."""
        part = self._literals.cells(number)
        cells = Counts(counts.rows[part].copy(), counts.sums[part].copy())
        sides = self._gains.sides(cells, self._literals.columns[number].missing)
        steps = [
            Test(number, 0, True, tuple((part.start + np.flatnonzero(side)).tolist()))
            for side in sides
        ]
        within, sums = sides.astype(np.int64), cells.sums
        if len(sums):
            sums = (within[:, :, None] * sums).sum(axis=1)
        return steps, within @ cells.rows, sums

    def _ranks(self, place: int) -> tuple[int, int]:
        """The first of an ordered column's ranks among all counts, and the end."""
        start, stop = (self._bits + self._offsets[place : place + 2]).tolist()
        return start, stop

    def literal(self, leaf: Leaf, test: Test) -> tuple[int, float]:
        """The position of a test's literal, and its exact threshold; NaN if it has none."""
        literals = self._literals
        if test.cells:
            first = literals.cells(test.place).start
            positions = tuple(cell - first for cell in test.cells)
            return literals.add_set(test.place, positions), math.nan
        if not test.rank:
            literal = int(literals.stored_bits[test.place])
            return literal, literals.threshold(literal)
        number = literals.ordered[test.place]
        start, stop = self._ranks(test.place)
        present = np.flatnonzero(_parts(leaf).rows[start:stop].any(axis=1))
        below = int(present[present < test.rank][-1])
        position, threshold = literals.columns[number].between(below, test.rank)
        return literals.starts[number] + position, threshold


def _counts_of(counted: Counted, number: int) -> Counts:
    """The counts of one leaf."""
    rows = counted.rows[number]
    return Counts(rows, counted.sums[number] if len(counted.sums) else rows[:0].astype(float))


def _rest_of(whole: Counts, part: Counts) -> Counts:
    """The counts of the rows of a leaf that one child does not have."""
    return Counts(whole.rows - part.rows, whole.sums - part.sums)


def _are_same(counted: Counted, number: int, sibling: int) -> bool:
    """Whether the numbers to predict at a leaf, or its sibling, are one; of classes, False."""
    if not len(counted.extremes):
        return False
    least, most = counted.extremes[number, sibling]
    return bool(least == most)


def _parts(leaf: Leaf) -> Counts:
    if leaf.counts is None:
        raise RuntimeError("a leaf that is split must be counted")
    return leaf.counts


def _from_here_on(table: np.ndarray) -> np.ndarray:
    """The sums of each row and all that follow."""
    return table[::-1].cumsum(axis=0)[::-1]
