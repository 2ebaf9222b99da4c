"""The growing loop on counts: rounds of counting, as few as speculation allows.

A leaf's best test follows from its counts alone, so the children of any counted leaf can be counted
before the leaf is split. Every round counts the children of all leaves that the rule may split
next: as many as splits are left. No row is at two leaves of one round, so a round counts every row
at most once. A tree takes about as many rounds as it is deep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mictree._support.draws import stream
from mictree.distributed.leaves import Leaf, Offers, counts_of, rest_of
from mictree.distributed.packed import Counted, Path, Test
from mictree.growers.generic_loop import ROOM, enlarged
from mictree.growers.rules import TIES, Grower, checked_priority
from mictree.growers.ties import (
    LAST,
    RANDOM,
    any_open,
    choose_leaf,
    choose_tied,
    close_leaf,
    new_frontier,
    open_leaf,
)

MOST_BYTES = 2**26  # of the counts of one round

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
            counts = counts_of(counted, number)
            rest = rest_of(parent.counts, counts) if parent.counts is not None else counts
            for child, of_child in ((both[side], counts), (both[1 - side], rest)):
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
