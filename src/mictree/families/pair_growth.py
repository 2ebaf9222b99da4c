"""TopDown on two terms with one shared bias: every course over a box, and whether it is optimal.

A leaf is its state with the numbers of literals on its path that are 1 and that are 0. Leaves that
agree in these are interchangeable, and splits of terms of one length are, so the order of ties
makes no difference. Where the box does not decide which leaf or split comes next, all that may come
are followed.
"""

from functools import cache
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from flint import arb, arb_series

from mictree._support.precision import precision
from mictree.families.pair_errors import (
    PURE,
    IntArray,
    PairBox,
    Split,
    State,
    UndecidedBox,
    splits,
    times_reach,
)

PRECISION = 100  # bits
MARGIN = 1e-9  # above the growers' tolerance: a lead that they might count as a tie is not sure
MOST_COURSES = 200
ORDER = 3  # value, slope, bend
Outcome = Literal["optimal", "excess", "undecided"]


class Leaf(NamedTuple):
    """A leaf that is not pure."""

    state: State
    ones: int
    zeros: int


Course = tuple[Leaf, ...]  # sorted
Offer = tuple[Leaf, Split]


class Found(NamedTuple):
    """Whether TopDown's trees are optimal for all biases inside a box.

    ``size`` is the least size that has an excess for certain; where several courses are possible,
    it is that of the course on which it comes last.
    """

    outcome: Outcome
    size: int | None = None


def check_pair(low: float, high: float, shorter: int, longer: int) -> Found:
    """Whether TopDown's tree of every size has the least error for all biases inside a box.

    The rule is ``TopDown()`` with any order of ties, and the formula has two terms of so many
    literals.

    Examples
    --------
    >>> check_pair(0.25, 0.3125, 2, 3)
    Found(outcome='optimal', size=None)
    >>> check_pair(0.875, 0.890625, 2, 2)
    Found(outcome='excess', size=2)
    """
    try:
        with precision(PRECISION):
            box = PairBox(low, high, shorter + longer)
            return PairGrowth(box).check((shorter, longer))
    except UndecidedBox:
        return Found("undecided")


class PairGrowth:
    """TopDown over one box."""

    def __init__(self, box: PairBox) -> None:
        self.box = box
        low, high = arb(box.low), arb(box.high)
        ball, middle = low.union(high), (low + high) / 2
        self._distance = ball - middle
        self._points = [arb_series([bias, 1], ORDER) for bias in (middle, ball)]
        self._gain = cache(self._compute_gain)
        self._priority = cache(self._compute_priority)

    def check(self, root: State) -> Found:
        """Follow all courses to their ends."""
        waiting: dict[Course, bool] = {(Leaf(root, 0, 0),): True}  # whether surely optimal so far
        outcomes: set[Outcome] = set()
        last, size = None, 0
        while waiting:
            size += 1
            least = self.box.least_errors(root, size)
            after: dict[Course, bool] = {}
            for course, optimal in waiting.items():
                for grown in self._steps(course):
                    errors = self._errors(grown)
                    if self._exceed(errors, least):
                        outcomes.add("excess")
                        last = size
                        continue
                    same = optimal and _contains(errors, least)
                    after[grown] = same and after.get(grown, True)
            if () in after:  # without error, and so at all later sizes
                outcomes.add("optimal" if after.pop(()) else "undecided")
            if len(after) > MOST_COURSES:
                raise UndecidedBox
            waiting = after
        if len(outcomes) > 1:
            return Found("undecided")
        (outcome,) = outcomes
        return Found(outcome, last)

    def _steps(self, course: Course) -> set[Course]:
        """The courses that one more split may lead to."""
        offers = [(leaf, split) for leaf in dict.fromkeys(course) for split in splits(leaf.state)]
        best = max(offers, key=lambda offer: float(self._priority(0, *offer)[0].mid()))
        found = set()
        for offer in offers:
            if offer != best and self._leads(best, offer):
                continue
            leaf, (zero, one) = offer
            rest = list(course)
            rest.remove(leaf)
            children = Leaf(zero, leaf.ones, leaf.zeros + 1), Leaf(one, leaf.ones + 1, leaf.zeros)
            rest += [child for child in children if child.state != PURE]
            found.add(tuple(sorted(rest)))
        return found

    def _leads(self, first: Offer, second: Offer) -> bool:
        """Whether one priority is above another for all biases inside the box, by more than a tie.

        Both are divided by the reach that they have in common. If they only differ by their
        reaches, these decide, exactly. Otherwise the difference is a Taylor polynomial at the
        middle whose last coefficient is enclosed over the box.
        """
        (leaf, split), (other, other_split) = first, second
        ones, zeros = min(leaf.ones, other.ones), min(leaf.zeros, other.zeros)
        leaf = Leaf(leaf.state, leaf.ones - ones, leaf.zeros - zeros)
        other = Leaf(other.state, other.ones - ones, other.zeros - zeros)
        if (leaf.state, split) == (other.state, other_split):
            one = self.box.constant(1)
            return self.box.above(*(times_reach(one, *each[1:]) for each in (leaf, other)))
        middle, whole = (
            self._priority(point, leaf, split) - self._priority(point, other, other_split)
            for point in (0, 1)
        )
        difference = middle[0] + self._distance * (middle[1] + self._distance * whole[2])
        return bool(difference > MARGIN * self._priority(0, leaf, split)[0])

    def _compute_priority(self, point: int, leaf: Leaf, split: Split) -> Any:
        """Reach times gain, at the middle (0) or over the box (1), with slope and bend."""
        bias = self._points[point]
        return bias**leaf.ones * (1 - bias) ** leaf.zeros * self._gain(point, leaf.state, split)

    def _compute_gain(self, point: int, state: State, split: Split) -> Any:
        bias = self._points[point]
        zero, one = (_entropy(bias, each) for each in split)
        return _entropy(bias, state) - (1 - bias) * zero - bias * one

    def _errors(self, course: Course) -> IntArray:
        """The polynomials of which the error of a course's tree is the least.

        At each bias leaves of one state have the same label, so it is chosen once for all of them.
        """
        states = sorted({leaf.state for leaf in course})
        choices = [self.box.leaf_errors(state) for state in states]
        found = []
        for chosen in product(*choices):
            by_state = dict(zip(states, chosen, strict=True))
            error = self.box.constant(0)
            for leaf in course:
                error = error + times_reach(by_state[leaf.state], *leaf[1:])
            found.append(error)
        return self.box.lowest(np.array(found))

    def _exceed(self, errors: IntArray, least: IntArray) -> bool:
        """Whether a tree's error is surely above the least one inside the box."""
        return any(all(self.box.above(error, low) for error in errors) for low in least)


def _contains(errors: IntArray, least: IntArray) -> bool:
    """Whether every polynomial that may be the least is one of a tree's, whose error is then least.

    For no tree has an error below the least one.
    """
    return all((errors == low).all(axis=1).any() for low in least)


def _entropy(bias: Any, state: State) -> Any:
    """Of the rate of a state, in nats."""
    if state == PURE:
        return bias * 0
    negative = bias * 0 + 1
    for literals in state:
        negative *= 1 - bias**literals
    positive = 1 - negative
    return -(negative * negative.log() + positive * positive.log())
