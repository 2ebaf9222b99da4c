"""Two terms with one shared bias: least errors over a box of biases, as sets of polynomials.

A restriction of two terms is a state: the sorted numbers of literals that its terms still have.
With one shared bias a state decides everything about the restriction. The error of a tree with
given labels is a polynomial in the bias with integer coefficients, so over a box the least error
is the least of a few polynomials, of which no other ones bound any from below throughout the box.
Polynomials are compared exactly, by their Bernstein coefficients on the box.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import fmpz_poly

State = tuple[int, ...]
Split = tuple[State, State]  # the states where the literal is 0 and where it is 1
PURE: State = ()
IntArray = np.typing.NDArray[np.int64]  # coefficients of powers of the bias, a row for each
# Bernstein coefficients as floats are sums of at most 11 products below 10**4.
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
