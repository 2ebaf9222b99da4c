"""Rates, impurities and gains at the middle of a box of biases, or as series over all of it."""

import functools
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, arb_series

if TYPE_CHECKING:
    from mictree.families.bias_gains import Numbers

ORDER = 3
ROUNDING = 1e-14  # of sums of at most 16 products of 4 numbers from 0 to 1


class Point:
    """Rates, impurities and gains in one kind of number: balls, or series in one parameter."""

    def __init__(self, numbers: "Numbers", biases: list[Any]) -> None:
        self.numbers = numbers
        self.cubes = numbers.cubes
        self.each = numbers.each
        self.biases = biases if self.each else biases * self.cubes.variables
        self.impurity = cache(self._impurity)

    def gain(self, cube: int, variable: int) -> Any:
        """The impurity that a split takes away."""
        return self.impurity(cube) - self.rest(cube, variable)

    def rest(self, cube: int, variable: int) -> Any:
        """The impurity that a split leaves."""
        zero, one = self.cubes.children[cube][variable]
        bias = self.biases[variable]
        return (1 - bias) * self.impurity(zero) + bias * self.impurity(one)

    def reach(self, cube: int) -> Any:
        """The chance of a restriction."""
        product = self.biases[0] * 0 + 1
        for bias, value in zip(self.biases, self.cubes.values[cube], strict=True):
            if value < 2:
                product *= bias if value else 1 - bias
        return product

    def _impurity(self, cube: int) -> Any:
        if self.cubes.labels[cube] is not None:
            return self.biases[0] * 0
        rows = self.cubes.positive[cube]
        rates = self._chance(cube, rows), self._chance(cube, ~rows)
        label = self.numbers.label(cube) if self.numbers.criterion == "minority" else 0
        if label:
            return rates[label > 0]
        return IMPURITIES[self.numbers.criterion](*rates)

    def _chance(self, cube: int, rows: np.ndarray) -> Any:
        """Of some of a cube's rows; a sum of products of positive numbers."""
        free = tuple(self.cubes.children[cube])
        if not self.each:
            return self._chance_by_ones(rows, len(free))
        chances = rows.reshape(-1).astype(int).tolist()  # lists, as numpy would unpack a series
        for variable in free:
            bias, half = self.biases[variable], len(chances) // 2
            pairs = zip(chances[:half], chances[half:], strict=True)
            chances = [low * (1 - bias) + high * bias for low, high in pairs]
        return chances[0]

    def _chance_by_ones(self, rows: np.ndarray, count: int) -> Any:
        bias = self.biases[0]
        total = bias * 0
        for many, rows_of in enumerate(counts_by_ones(rows)):
            if rows_of:
                total += rows_of * bias**many * (1 - bias) ** (count - many)
        return total


class Moved(Point):
    """Series in the bias of one variable of several, with values and slopes as narrow as can be.

    The chance of a label is linear in each bias, so it and its slope are extreme at corners of the
    box. Impurities are concave, so their slopes fall. Bends are left out: only boxes of a shared
    bias need them.
    """

    def __init__(self, numbers: "Numbers", balls: list[Any], place: int) -> None:
        series = [arb_series([ball, int(at == place)], ORDER) for at, ball in enumerate(balls)]
        super().__init__(numbers, series)
        self.place = place

    def _impurity(self, cube: int) -> Any:
        if self.cubes.labels[cube] is not None:
            return self.biases[0] * 0
        rows = self.cubes.positive[cube].astype(float)
        free = tuple(self.cubes.children[cube])
        least, most = self._extremes(rows, free)
        # sums of positive numbers have a small relative error, differences a small absolute one
        ends = arb(least * (1 - ROUNDING)), arb(most * (1 + ROUNDING))
        change = arb(0)
        if self.place in free:
            axis = free.index(self.place)
            difference = rows.take(1, axis) - rows.take(0, axis)
            least, most = self._extremes(difference, (*free[:axis], *free[axis + 1 :]))
            change = arb(least - ROUNDING).union(arb(most + ROUNDING))
        criterion = self.numbers.criterion
        inside = (arb(0.5),) if ends[0] < 0.5 < ends[1] else ()
        value = _hull([IMPURITIES[criterion](rate, 1 - rate) for rate in (*ends, *inside)])
        return arb_series(
            [value, _hull([_SLOPES[criterion](rate) for rate in ends]) * change], ORDER
        )

    def _extremes(self, rows: np.ndarray, variables: tuple[int, ...]) -> tuple[float, float]:
        """The least and the largest value at corners of a sum over rows."""
        for variable in variables:
            # the axis of the variable is the first; its corners go to the end
            bias = self.numbers.sides[variable]
            rows = rows[0][..., None] * (1 - bias) + rows[1][..., None] * bias
        return float(rows.min()), float(rows.max())


def counts_by_ones(rows: np.ndarray) -> list[int]:
    """The number of rows by their number of ones."""
    ones = np.indices(rows.shape).sum(axis=0).reshape(-1) if rows.ndim else np.zeros(1, int)
    return np.bincount(ones, rows.reshape(-1), rows.ndim + 1).astype(int).tolist()


def _hull(balls: list[Any]) -> Any:
    return functools.reduce(lambda one, other: one.union(other), balls)


def _entropy(rate: Any, other: Any) -> Any:
    return -(rate * rate.log() + other * other.log())


def _gini(rate: Any, other: Any) -> Any:
    return rate * other


def _root(rate: Any, other: Any) -> Any:
    return (rate * other).sqrt()


def _minority(rate: Any, other: Any) -> Any:
    """The smaller one; where either may be it, a series whose balls hold both."""
    if not isinstance(rate, arb_series):
        return min(rate, other) if isinstance(rate, Fraction) else rate.min(other)
    return arb_series([rate[place].union(other[place]) for place in range(ORDER)], ORDER)


# Factors do not matter: gains are only compared with each other.
IMPURITIES = {"entropy": _entropy, "gini": _gini, "root": _root, "minority": _minority}
# Their derivatives by the rate, which never rise.
_SLOPES = {
    "entropy": lambda rate: (1 - rate).log() - rate.log(),
    "gini": lambda rate: 1 - 2 * rate,
    "root": lambda rate: (1 - 2 * rate) / (2 * (rate * (1 - rate)).sqrt()),
    "minority": lambda rate: arb(1) if rate < 0.5 else arb(-1) if rate > 0.5 else arb(0, 1),
}
