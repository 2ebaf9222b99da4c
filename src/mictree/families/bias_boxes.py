"""A function's restrictions while biases vary within boxes: rates, least errors and gains.

A box holds an interval of biases for each parameter: one parameter shared by all variables, or one
for each variable. The chance of an event is a polynomial in the parameters. Over a box it lies
between the least and the largest of a few numbers that are linear in the event: its Bernstein
coefficients on the interval (one parameter), or its values at the corners of the box (the chance is
then linear in each parameter). All floats here are sums and products of fewer than 10**4 numbers
from 0 to 1, so that widening an interval by ``SLACK`` makes up for their rounding. The same numbers
as integers, without rounding, are those of ``Vertices``.

``Point`` has rates, impurities and gains at the middle of a box, ``Moved`` as series over all of
it. ``ExactValues`` has gains and reaches at one shared bias exactly: a gain is kept as a sum of
impurities times factors, so that equal sums are equal numbers. Different sums of entropies or of
roots may be equal numbers too; then nothing follows.
"""

import functools
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import arb, arb_series

if TYPE_CHECKING:
    from mictree.families.bias_growth import Numbers


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


# rates of at most 1/2 and the factors of their impurities; empty for 0
Sum = tuple[tuple[Fraction, Fraction], ...]


class ExactValues:
    """The gains and reaches of a function's restrictions at single biases."""

    def __init__(self, cubes: Cubes) -> None:
        self.cubes = cubes
        self.rate = cache(self._rate)
        self.gain = cache(self._gain)

    def reach(self, cube: int, bias: Fraction) -> Fraction:
        """The chance of a restriction."""
        values = self.cubes.values[cube]
        return bias ** values.count(1) * (1 - bias) ** values.count(0)

    def _rate(self, cube: int, bias: Fraction) -> Fraction:
        counts = counts_by_ones(self.cubes.positive[cube])
        free = len(counts) - 1
        return sum(
            (count * bias**ones * (1 - bias) ** (free - ones) for ones, count in enumerate(counts)),
            Fraction(0),
        )

    def _gain(self, cube: int, variable: int, criterion: str, bias: Fraction) -> Sum:
        zero, one = self.cubes.children[cube][variable]
        factors: dict[Fraction, Fraction] = defaultdict(Fraction)
        for each, factor in ((cube, Fraction(1)), (zero, bias - 1), (one, -bias)):
            rate = self.rate(each, bias)
            if criterion in ("gini", "minority"):  # whose values are rational, too
                factors[Fraction(1)] += factor * IMPURITIES[criterion](rate, 1 - rate)
            elif 0 < rate < 1:
                factors[min(rate, 1 - rate)] += factor
        return tuple(sorted((rate, factor) for rate, factor in factors.items() if factor))


def scaled(gain: Sum, reach: Fraction) -> Sum:
    """A gain times a reach."""
    return tuple((rate, factor * reach) for rate, factor in gain)
