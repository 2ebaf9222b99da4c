"""TopDown on two terms with one shared bias: whether it is optimal, over a box of biases.

A restriction of two terms is a state: the sorted numbers of literals that its terms still have.
With one shared bias a state decides everything about the restriction. The error of a tree with
given labels is a polynomial in the bias with integer coefficients. So over a box the least error is
the least of a few polynomials: those that no others bound from below throughout the box.
Polynomials are compared exactly, by their Bernstein coefficients on the box.

Growth follows every course that the box leaves open. A leaf is its state with the numbers of
literals on its path that are 1 and that are 0. Leaves that agree in these are interchangeable, and
splits of terms of one length are, so the order of ties makes no difference.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

import numpy as np
from flint import arb, arb_series, fmpz_poly

from mictree._support.numbers import precision

State = tuple[int, ...]
Split = tuple[State, State]  # the states where the literal is 0 and where it is 1
PURE: State = ()
IntArray = np.typing.NDArray[np.int64]  # coefficients of powers of the bias, a row for each
# Bernstein coefficients as floats are sums of few products below 10**4.
CERTAIN = 1e-8
MOST_POLYNOMIALS = 64


class UndecidedBox(Exception):
    """Too many polynomials or courses may matter in a box; halves of it may be simpler."""


def splits(state: State) -> list[Split]:
    """One for each length of term: a literal of it fails, or is satisfied."""
    found = []
    for place, literals in enumerate(state):
        if literals in state[:place]:
            continue
        others = (*state[:place], *state[place + 1 :])
        satisfied = tuple(sorted((literals - 1, *others))) if literals > 1 else PURE
        found.append((others, satisfied))
    return found


def perfect_size(state: State) -> int:
    """The least number of splits without error."""
    return state[0] * (1 + state[1]) if len(state) == 2 else sum(state)


class PairBox:
    """The states of two terms while the shared bias varies within ``[low, high]``.

    Parameters
    ----------
    low, high : the ends
    degree : the largest degree of a polynomial, the number of all literals
    """

    def __init__(self, low: float, high: float, degree: int) -> None:
        self.low, self.high = float(low), float(high)
        self.degree = degree
        self._bernstein = _bernstein(Fraction(low), Fraction(high), degree)
        scale = self._bernstein[0][0]  # what the constant 1 has
        self._floats = np.array([[entry / scale for entry in row] for row in self._bernstein])
        self._integers = np.array(self._bernstein, dtype=object)
        self._least: dict[tuple[State, int], IntArray] = {}
        self._leaf: dict[State, IntArray] = {PURE: self.constant(0)[None]}

    def at_least(self, upper: np.ndarray, lower: np.ndarray) -> bool:
        """Whether one polynomial is surely not below another in the box, exactly."""
        return self._not_negative(upper - lower)

    def above(self, upper: np.ndarray, lower: np.ndarray) -> bool:
        """Whether one is surely above another inside the box, if not at its ends."""
        return self.at_least(upper, lower) and bool((upper != lower).any())

    def lowest(self, polynomials: IntArray) -> IntArray:
        """Those of which the least one is the least of all, for every bias of the box."""
        values = polynomials @ self._floats.T
        best = values[values.sum(axis=1).argmin()]
        some = polynomials[~(values - best > CERTAIN).all(axis=1)]
        kept: list[np.ndarray] = []
        for each in {row.tobytes(): row for row in some}.values():
            if not any(self.at_least(each, other) for other in kept):
                kept = [other for other in kept if not self.at_least(other, each)] + [each]
        if len(kept) > MOST_POLYNOMIALS:
            raise UndecidedBox
        for each in kept if len(kept) > 2 else ():
            others = [other for other in kept if other is not each]
            if any(self._between(each, *ends) for ends in combinations(others, 2)):
                kept = others
        return np.array(kept)

    def _between(self, middle: np.ndarray, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether a polynomial surely lies between two others, which may cross in the box.

        Divided by their common factor, its differences to them have different signs.
        """
        differences = [fmpz_poly((middle - end).tolist()) for end in (one, other)]
        common = differences[0].gcd(differences[1])
        first, second = (
            np.array([*map(int, (each // common).coeffs())], dtype=object) for each in differences
        )
        first, second = (
            np.append(each, [0] * (self.degree + 1 - len(each))) for each in (first, second)
        )
        return (self._not_negative(first) and self._not_negative(-second)) or (
            self._not_negative(-first) and self._not_negative(second)
        )

    def _not_negative(self, polynomial: np.ndarray) -> bool:
        return bool((self._integers @ polynomial.astype(object) >= 0).all())

    def leaf_errors(self, state: State) -> IntArray:
        """The polynomials of which a leaf's error, given that it is reached, is the least."""
        if state not in self._leaf:
            no_term = self.constant(1)
            for literals in state:
                no_term = no_term - shift(no_term, literals)
            self._leaf[state] = self.lowest(np.array([no_term, self.constant(1) - no_term]))
        return self._leaf[state]

    def least_errors(self, state: State, size: int) -> IntArray:
        """The polynomials of which the least error of trees with ``size`` splits is the least."""
        if size >= perfect_size(state):
            return self._leaf[PURE]
        if (state, size) not in self._least:
            found = [self.leaf_errors(state)]
            for zero, one in splits(state) if size else ():
                for below in range(min(size - 1, perfect_size(zero)) + 1):
                    low = self.least_errors(zero, below)
                    high = self.least_errors(one, size - 1 - below)
                    both = (low - shift(low, 1))[:, None] + shift(high, 1)[None]
                    found.append(both.reshape(-1, self.degree + 1))
            self._least[state, size] = self.lowest(np.concatenate(found))
        return self._least[state, size]

    def constant(self, value: int) -> np.ndarray:
        """A polynomial without the bias."""
        return np.array([value, *[0] * self.degree])


def shift(polynomials: np.ndarray, power: int) -> np.ndarray:
    """Polynomials times a power of the bias; the degree must allow it."""
    moved = np.zeros_like(polynomials)
    moved[..., power:] = polynomials[..., : polynomials.shape[-1] - power]
    return moved


def times_reach(polynomial: np.ndarray, ones: int, zeros: int) -> np.ndarray:
    """A polynomial times the chance that so many literals are 1 and so many are 0."""
    product = shift(polynomial, ones)
    for _ in range(zeros):
        product = product - shift(product, 1)
    return product


def _bernstein(low: Fraction, high: Fraction, degree: int) -> list[list[int]]:
    """From coefficients of powers to Bernstein coefficients on an interval, times one number.

    All integers: entry (i, j) is that of the j-th power in the i-th coefficient.
    """
    unit = math.lcm(low.denominator, high.denominator)
    start, stop = int(low * unit), int(high * unit)
    ways = [math.comb(degree, power) for power in range(degree + 1)]
    common = math.lcm(*ways)
    return [
        [
            common // ways[power] * unit ** (degree - power) * sum(
                math.comb(degree - place, power - k) * math.comb(place, k)
                * start ** (power - k) * stop**k
                for k in range(power + 1)
            )
            for power in range(degree + 1)
        ]
        for place in range(degree + 1)
    ]  # fmt: skip


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
