"""Sums over subcubes of a truth table: the rows that agree on some of the variables.

Bit i of a row number is the value of variable i, so fixing a variable halves an array. All
functions add in the same order, so that a subcube's sum is the same float whichever computes it.
"""

from typing import NamedTuple

import numpy as np


class Box(NamedTuple):
    """The masses of a subcube: integers over the problem's one denominator."""

    mass: int
    positive: int

    @property
    def rates(self) -> tuple[float, float]:
        """Of label 0 and label 1."""
        return (self.mass - self.positive) / self.mass, self.positive / self.mass

    @property
    def lead(self) -> float:
        """P[y = 1] - P[y = 0], rounded once."""
        return (2 * self.positive - self.mass) / self.mass


class Part(NamedTuple):
    """A subcube cut in two."""

    variable: int
    low: Box
    high: Box

    @property
    def mass(self) -> int:
        return self.low.mass + self.high.mass

    @property
    def difference(self) -> float:
        """The difference of the positive rates, rounded once."""
        cross = self.high.positive * self.low.mass - self.low.positive * self.high.mass
        return cross / (self.low.mass * self.high.mass)


def over_subcubes(rows: np.ndarray, combine: np.ufunc = np.add) -> np.ndarray:
    """A function's 2**n values, summed or otherwise combined over each of the 3**n subcubes."""
    count = len(rows).bit_length() - 1
    # axis 0 is the last variable, so that variable i has weight 3**i in the flat index
    cube = rows.reshape((2,) * count)
    for axis in range(count):
        both = combine(cube.take([0], axis), cube.take([1], axis))
        cube = np.concatenate([cube, both], axis)
    return cube.reshape(-1)


def total(rows: np.ndarray) -> np.ndarray:
    """The sum along the last axis; it adds in the order of ``over_subcubes``, for equal floats."""
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        rows = rows[..., :half] + rows[..., half:]
    return rows[..., 0]


def halves_of(rows: np.ndarray) -> np.ndarray:
    """For each variable the sums over its value 0 and over its value 1, in the same order.

    Of rows of shape (kinds, 2**k) the result has the shape (kinds, 2, k).
    """
    halves = rows[:, None, :][:, :0]
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        low, high = rows[:, None, :half], rows[:, None, half:]
        halves = np.concatenate([low, high, halves[..., :half] + halves[..., half:]], axis=1)
        rows = low[:, 0] + high[:, 0]
    return halves[..., 0].reshape(len(rows), -1, 2).transpose(0, 2, 1)
