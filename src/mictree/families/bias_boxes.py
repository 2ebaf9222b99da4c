"""A function's restrictions while biases vary within boxes: rates and least errors in intervals.

A box holds an interval of biases for each parameter: one parameter shared by all variables, or one
for each variable. The chance of an event is a polynomial in the parameters. Over a box it lies
between the least and the largest of a few numbers that are linear in the event: its Bernstein
coefficients on the interval (one parameter), or its values at the corners of the box (the chance is
then linear in each parameter). All floats here are sums and products of fewer than 10**4 numbers
from 0 to 1, so that widening an interval by ``SLACK`` makes up for their rounding. The same numbers
as integers, without rounding, are those of ``Vertices``.
"""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

SLACK = 1e-11
FloatArray = np.typing.NDArray[np.float64]


class Boxes(NamedTuple):
    """The ends of the intervals, shape (boxes, parameters)."""

    low: FloatArray
    high: FloatArray


class Cubes:
    """The restrictions of a Boolean function, called cubes, and their place in the function.

    Attributes
    ----------
    values : of each cube, each variable's value, or 2 where it is free
    children : of each cube and free variable, the cubes for its values 0 and 1
    positive : of each cube, the rows with label 1 by a tuple of the free variables' values
    labels : 0 or 1 where all rows of a cube have that label, else None
    """

    def __init__(self, table: np.ndarray) -> None:
        self.variables = len(table).bit_length() - 1
        # variable i is bit i of a row's number, so axis i counts from the end
        cube = np.asarray(table, dtype=bool).reshape((2,) * self.variables).T
        self.values = list(itertools.product((0, 1, 2), repeat=self.variables))
        number = {values: place for place, values in enumerate(self.values)}
        self.children: list[dict[int, tuple[int, int]]] = []
        self.positive: list[np.ndarray] = []
        self.labels: list[int | None] = []
        for values in self.values:
            free = [place for place, value in enumerate(values) if value == 2]
            picked = tuple(slice(None) if value == 2 else value for value in values)
            self.positive.append(cube[picked])
            self.labels.append(_common(cube[picked]))
            self.children.append(
                {
                    place: tuple(
                        number[(*values[:place], value, *values[place + 1 :])] for value in (0, 1)
                    )
                    for place in free
                }  # type: ignore[dict-item]
            )
        self.root = number[(2,) * self.variables]
        self.order = sorted(range(len(self.values)), key=lambda cube: len(self.children[cube]))


def _common(labels: np.ndarray) -> int | None:
    return int(labels.all()) if labels.all() or not labels.any() else None


class Chances:
    """Linear maps from events to the numbers between which their chances lie, for one box each.

    ``each`` says whether every variable has a parameter of its own.
    """

    def __init__(self, cubes: Cubes, boxes: Boxes, each: bool) -> None:
        self.cubes = cubes
        self.each = each
        self.ends = np.stack([boxes.low, boxes.high], axis=2)  # (boxes, parameters, 2)
        self._known: dict[int, FloatArray] = {}

    def of_rows(self, rows: np.ndarray, variables: tuple[int, ...]) -> FloatArray:
        """Of rows given as a boolean array, one axis for each variable: shape (boxes, numbers)."""
        if self.each:
            return self._at_corners(rows, variables)
        ones = _ones(len(variables))
        counts = np.bincount(ones.reshape(-1), rows.reshape(-1), minlength=len(variables) + 1)
        return self._bernstein(len(variables)) @ counts

    def _at_corners(self, rows: np.ndarray, variables: tuple[int, ...]) -> FloatArray:
        chances = np.broadcast_to(rows.astype(float), (len(self.ends), *rows.shape))
        for variable in variables:
            # the axis of the variable is the first behind the boxes; its corners go to the end
            high = self.ends[:, variable].reshape(-1, *(1,) * (chances.ndim - 2), 2)
            low, other = chances[:, 0, ..., None], chances[:, 1, ..., None]
            chances = low * (1 - high) + other * high
        return chances.reshape(len(self.ends), -1)

    def _bernstein(self, degree: int) -> FloatArray:
        """From counts of rows by ones to the coefficients on the interval."""
        if degree not in self._known:
            low, high = self.ends[:, 0, 0], self.ends[:, 0, 1]
            matrix = np.empty((len(low), degree + 1, degree + 1))
            for highs in range(degree + 1):
                spread = np.ones((len(low), 1))  # of the number of ones among so many biases
                for bias in (degree - highs) * [low] + highs * [high]:
                    spread = np.pad(spread * (1 - bias[:, None]), ((0, 0), (0, 1))) + np.pad(
                        spread * bias[:, None], ((0, 0), (1, 0))
                    )
                matrix[:, highs] = spread
            ways = [math.comb(degree, ones) for ones in range(degree + 1)]
            self._known[degree] = matrix / np.array(ways)
        return self._known[degree]


def _ones(count: int) -> np.ndarray:
    """The number of ones of each row, one axis for each variable."""
    return np.indices((2,) * count).sum(axis=0) if count else np.zeros((), dtype=int)


class LeastErrors(NamedTuple):
    """What is known of OPT(size) over each box.

    At the biases of a box, the distribution of the inputs is a mixture of a few, one for each of
    the numbers of ``Chances``: the vertices. The error of a fixed tree is linear in the mixture, so
    what it lies above OPT is nowhere in the box more than at some vertex, summed over sizes too.
    """

    at_vertices: FloatArray  # shape (sizes, boxes, vertices)
    most: FloatArray  # upper ends over the box, shape (sizes, boxes)

    def of_box(self, box: int) -> "LeastErrors":
        """The part of one box, without its axis."""
        return LeastErrors(self.at_vertices[:, box], self.most[:, box])


def least_errors(chances: Chances, max_size: int) -> LeastErrors:
    """Solve all cubes, those of fewest free variables first."""
    cubes = chances.cubes
    most: list[FloatArray] = [np.zeros(0)] * len(cubes.values)
    for cube in cubes.order:
        most[cube] = _most_of(chances, cube, most, _sizes(cubes, cube, max_size))
    lone = [masses.min(axis=0) for masses in _masses(chances)]
    at_vertices = _least_at_vertices(cubes, lone, max_size)
    return LeastErrors(at_vertices, _lengthened(most[cubes.root], max_size))


def _least_at_vertices(cubes: Cubes, lone: list[np.ndarray], max_size: int) -> np.ndarray:
    """OPT of each size at the vertices, from the errors of all cubes as leaves there."""
    known: list[np.ndarray] = [np.zeros(0)] * len(cubes.values)
    for cube in cubes.order:
        sizes = _sizes(cubes, cube, max_size)
        known[cube] = _least_at(cubes, cube, lone[cube], known, sizes)
    return _lengthened(known[cubes.root], max_size)


def _sizes(cubes: Cubes, cube: int, max_size: int) -> int:
    """How many sizes below a cube matter; it is a split below the root for each fixed variable."""
    free = len(cubes.children[cube])
    return max(0, min(max_size - (cubes.variables - free), 2**free - 1)) + 1


def _lengthened(errors: FloatArray, max_size: int) -> FloatArray:
    """With the last error repeated for larger sizes."""
    return errors[np.minimum(np.arange(max_size + 1), len(errors) - 1)]


def _masses(chances: "Chances | Vertices") -> list[FloatArray]:
    """Of each cube, the chances of its rows of either label at the vertices."""
    cubes = chances.cubes
    everything = tuple(range(cubes.variables))
    labels = cubes.positive[cubes.root]
    masses: list[FloatArray] = [np.zeros(0)] * len(cubes.values)
    for cube in cubes.order:
        children = cubes.children[cube]
        if children:
            zero, one = next(iter(children.values()))
            masses[cube] = masses[zero] + masses[one]
            continue
        row = np.zeros(labels.shape, dtype=bool)
        row[cubes.values[cube]] = True
        chance = chances.of_rows(row, everything)
        masses[cube] = np.stack(
            [chance * (label == labels[cubes.values[cube]]) for label in (0, 1)]
        )
    return masses


def _least_at(
    cubes: Cubes, cube: int, lone: FloatArray, known: list[FloatArray], sizes: int
) -> FloatArray:
    """The least errors below one cube at the vertices, weighted by the cube's chance."""
    if cubes.labels[cube] is not None:
        return lone[None]
    least = np.repeat(lone[None], sizes, axis=0)
    for zero, one in cubes.children[cube].values():
        for size in range(1, sizes):
            low, high = _shares(known[zero], known[one], size - 1)
            np.minimum(least[size], (low + high).min(axis=0), out=least[size])
    return least


def _most_of(chances: Chances, cube: int, known: list[FloatArray], sizes: int) -> FloatArray:
    """Upper ends of the least errors below one cube, given that an input lies in it."""
    cubes = chances.cubes
    children = cubes.children[cube]
    if cubes.labels[cube] is not None:
        return np.zeros((1, len(chances.ends)))
    rate = chances.of_rows(cubes.positive[cube], tuple(children))
    least, most = rate.min(axis=1), rate.max(axis=1)
    lone = np.minimum(np.where(least > 0.5, 1 - least, 0.5), most)
    high = np.repeat(lone[None], sizes, axis=0)
    for variable, (zero, one) in children.items():
        ends = chances.ends[:, variable if chances.each else 0].T[:, None]
        for size in range(1, sizes):
            left, right = _shares(known[zero], known[one], size - 1)
            split = (1 - ends) * left + ends * right
            np.minimum(high[size], split.max(axis=0).min(axis=0), out=high[size])
    return high


def _shares(zero: FloatArray, one: FloatArray, total: int) -> tuple[FloatArray, FloatArray]:
    """The errors of both children, for all ways to share the splits between them."""
    left = np.arange(max(0, total - len(one) + 1), min(total, len(zero) - 1) + 1)
    if not len(left):  # both children have all the splits that they can use
        return zero[-1:], one[-1:]
    return zero[left], one[total - left]


class Vertices:
    """The vertices of one interval of a shared bias, and the least errors there, without rounding.

    Masses and errors are integers over one denominator, which does not matter to comparisons.
    """

    def __init__(self, cubes: Cubes, low: Fraction, high: Fraction, max_size: int) -> None:
        self.cubes = cubes
        count = cubes.variables
        chances = [
            [
                chance / math.comb(count, ones)
                for ones, chance in enumerate(spread_of_ones(count, highs, low, high))
            ]
            for highs in range(count + 1)
        ]
        scale = math.lcm(*(chance.denominator for row in chances for chance in row))
        self._of_ones = np.array([[int(each * scale) for each in row] for row in chances], object)
        self.masses = _masses(self)
        lone = [masses.min(axis=0) for masses in self.masses]
        self.least = _least_at_vertices(cubes, lone, max_size)  # (sizes, vertices)

    def of_rows(self, rows: np.ndarray, variables: tuple[int, ...]) -> np.ndarray:
        """As of ``Chances``, for rows of all variables."""
        counts = np.bincount(_ones(len(variables)).reshape(-1), rows.reshape(-1)).astype(int)
        return self._of_ones[:, : len(counts)] @ counts.astype(object)

    def attain(self, leaves: list[int], size: int) -> bool:
        """Whether a tree with these cubes as leaves has the least error of a size at all vertices.

        Its labels must not depend on the vertex. Then it has the least error at all biases of the
        interval: there, its error is the mean of its errors at the vertices by some weights, and
        the least error is at least the mean of the least errors by the same weights.
        """
        total = 0 * self.least[0]
        for cube in leaves:
            negative, positive = self.masses[cube]
            if not ((negative <= positive).all() or (positive <= negative).all()):
                return False
            total = total + np.minimum(negative, positive)
        return bool((total == self.least[size]).all())


def spread_of_ones(degree: int, highs: int, low: Fraction, high: Fraction) -> list[Fraction]:
    """The distribution of the number of ones among independent variables of two biases."""
    spread = [Fraction(1)]
    for bias in (degree - highs) * [low] + highs * [high]:
        spread = [
            (1 - bias) * a + bias * b
            for a, b in zip([*spread, Fraction(0)], [Fraction(0), *spread], strict=True)
        ]
    return spread
