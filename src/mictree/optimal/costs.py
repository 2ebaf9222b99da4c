"""What the rows of a problem cost as leaves, in whole numbers, for every task but plain errors.

*Actions* (cost matrices, costs by row): a row has a whole cost for each action, its regret times
its weight in one unit, exact where all sums fit into 62 bits, otherwise rounded with a ``slack``. A
set of rows costs its least sum over actions. With two actions that is weighted classification: the
class is the cheaper action, the weight what the other one costs more.

*Numbers* (squared error): a row has a whole weight w and a whole label y: decimals and fractions of
few digits times a power of two, less a centre, otherwise rounded. A set costs::

    floor((Q - S * S / W) / 2**shift),  where W, S, Q are the sums of w, w * y, w * y * y

computed exactly: a float estimate is corrected by the remainder, which is small, so that wrapping
64-bit numbers have it right. Q is kept as its multiple of ``2**shift`` and the rest. Floors of
exact numbers keep what the search relies on: adding rows never lowers a cost, and disjoint sets
add up to at most their union. An error differs from that of the whole costs by what the floors and
the rounding lost, for which bounds allow.

Budget of bits, for weights of p bits in all: labels have b = 55 - p bits, W * range**2 < 2**(p + 2b
+ 2), and shift = 51 - p bits of that are dropped, so no sum of costs reaches 2**61. Then W *
2**shift < 2**51, and an estimate that is wrong by 2**10 leaves a remainder below 2**62.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from mictree._support.checks import as_fraction
from mictree._support.jit import inner_jit, jit
from mictree.problems.sample import SampleProblem, are_decimals
from mictree.problems.tasks import MatrixCosts

EXACT = Context(prec=20)  # all digits of a float as written, whatever the thread's context
WEIGHT_BITS = 33  # of all weights together, where they must be rounded beside labels
MOST_WEIGHT_BITS = 36  # up to which they are not
LABEL_BITS = 55  # less the bits of all weights
MOST_ACTIONS = 8  # of which all subsets are looked at for a bound
MOST_CLUSTERED = 2**20  # rows times clusters, which take a tenth of a second


class Scale(NamedTuple):
    """How whole costs become errors of the problem: offset + cost / total."""

    total: Fraction  # the cost that is an error of 1
    offset: Fraction = Fraction(0)  # the mean of what was left out of all costs


class Rounded(NamedTuple):
    """Costs as written, where those of the search are rounded."""

    costs: np.ndarray  # Python integers
    unit: int  # what is 1 in the search
    slack: int  # by how much the cost of any tree may be wrong, in units


class Actions(NamedTuple):
    """The whole costs of all rows of a problem, by action."""

    costs: np.ndarray  # (rows, actions) int64
    rounded: Rounded | None  # None where the costs are exact
    scale: Scale

    @classmethod
    def of(cls, problem: SampleProblem) -> Actions:
        """Regrets times weights, as written."""
        codes = np.arange(len(problem.class_rows)).repeat(problem.class_rows)
        task = problem.task
        regrets = task.matrix[codes] if isinstance(task, MatrixCosts) else problem.targets
        parts = [as_integers(problem.row_weights()), as_integers(problem.class_weight)]
        (weights, weight_unit), (factors, factor_unit) = parts
        numbers, unit = as_integers(regrets)
        if (written := problem.written_costs) is not None:
            numbers, unit = as_integers(written)
            numbers = numbers - numbers.min(axis=1, keepdims=True)
        unit *= weight_unit * factor_unit
        costs = multiply(weights, factors[codes], numbers)
        divisor = int(np.gcd.reduce(costs, axis=None)) or 1 if costs.size else 1
        costs = costs // divisor
        offset = problem.exact_offset
        total = problem.exact_total / (unit * divisor)
        digits = _sum(costs.max(axis=1, initial=0)).bit_length()
        if digits <= 62:
            return cls(costs.astype(np.int64), None, Scale(total, offset))
        coarse = 1 << digits - 61
        nearest = (costs + coarse // 2) // coarse
        nearest = np.where(costs > 0, np.maximum(nearest, 1), 0)
        wrong = np.abs(nearest * coarse - costs).max(axis=1, initial=0)
        rounded = Rounded(costs.astype(object), coarse, -(-_sum(wrong) // coarse))
        return cls(nearest.astype(np.int64), rounded, Scale(total / coarse, offset))

    def settled_leaf(self, rows: np.ndarray) -> tuple[int, Fraction]:
        """The best action for some rows by costs as written; its share of the error."""
        costs, unit = (self.costs, 1) if self.rounded is None else self.rounded[:2]
        sums = [_sum(column) for column in costs[rows].T]
        label = sums.index(min(sums))
        return label, Fraction(sums[label]) / (self.scale.total * unit)


class Classes(NamedTuple):
    """Rows as classes with weights, where all actions but the cheapest cost a row the same.

    That is so for two actions. Rows for which all cost the same are left out; of a problem without
    any other rows, one stays.
    """

    rows: np.ndarray  # of the problem, class by class
    codes: np.ndarray
    weights: np.ndarray
    rounded: Rounded | None
    scale: Scale

    @classmethod
    def of(cls, problem: SampleProblem) -> Classes:
        """The class of a row is its cheapest action, the weight what the others cost more."""
        costs, rounded, scale = Actions.of(problem)
        codes = costs.argmin(axis=1).astype(np.int32)
        weights = np.ptp(costs, axis=1)
        rows = np.argsort(codes, kind="stable")
        rows = rows[weights[rows] > 0] if weights.any() else rows[:1]
        if rounded is not None:
            exact = rounded.costs.max(axis=1) - rounded.costs.min(axis=1)
            rounded = rounded._replace(costs=exact[rows])
        return cls(rows, codes[rows], weights[rows], rounded, scale)


@dataclass(frozen=True)
class Numbers:
    """The whole weights and labels of all rows of a problem with squared error.

    Attributes
    ----------
    weights, labels : int64; the label less a centre, in ``unit``
    sums : (rows, 4) int64: weight, weight times label, and weight times the square of the label:
        its multiple of ``2**shift``, and the rest
    unit : what a label of 1 is among the labels as given
    shift : see the module
    rounding : by how much a label may be wrong, in its unit: 0, or a half
    slack : by how much rounded weights may change the cost of a tree, in squares of ``unit``
    scale : how costs become mean squared errors
    written : weights and labels as written, in multiples of two units
    """

    weights: np.ndarray
    labels: np.ndarray
    sums: np.ndarray
    unit: Fraction
    shift: int
    rounding: Fraction
    slack: Fraction
    scale: Scale
    written: Written

    @classmethod
    def of(cls, problem: SampleProblem) -> Numbers:
        """Read as written, with as many bits as there are."""
        written = Written.of(problem)
        weights, slack_weights = written.weights, Fraction(0)
        mass = Fraction(_sum(weights))
        if mass >= 1 << MOST_WEIGHT_BITS:
            coarse = 1 << int(mass).bit_length() - WEIGHT_BITS
            nearest = np.maximum((weights + coarse // 2) // coarse, 1)
            slack_weights = Fraction(_sum(np.abs(nearest * coarse - weights)), coarse)
            mass, weights = mass / coarse, nearest
        weights = weights.astype(np.int64)
        bits = LABEL_BITS - int(weights.sum()).bit_length()
        labels, rounding = written.labels, Fraction(0)
        unit, most = written.label_unit, int(np.abs(labels).max(initial=0))
        more = bits - most.bit_length()
        if more >= 0:
            labels = labels.astype(object) << more
        else:
            labels = (labels.astype(object) + (1 << -more - 1)) >> -more
            rounding = Fraction(1, 2)
        unit = unit / 2**more if more >= 0 else unit * 2**-more
        shift = max(0, int(weights.sum()).bit_length() + 2 * bits + 2 - 61)
        squares = weights.astype(object) * labels * labels
        labels = labels.astype(np.int64)
        sums = [weights, weights * labels, squares >> shift, squares & ((1 << shift) - 1)]
        spread = int(labels.max(initial=0)) - int(labels.min(initial=0))
        scale = Scale(mass / (unit * unit * 2**shift))
        return cls(
            weights, labels, np.stack(sums, axis=1).astype(np.int64), unit, shift, rounding,
            slack_weights * (spread + 1) ** 2, scale, written,
        )  # fmt: skip

    @property
    def is_rounded(self) -> bool:
        """Whether weights or labels are."""
        return bool(self.rounding or self.slack)

    def least_error(self, cost: int | Fraction) -> Fraction:
        """The least mean squared error of trees whose whole cost is at least this."""
        square = self.unit * self.unit
        mass = self.scale.total * square * 2**self.shift
        mean = max(Fraction(0), cost * 2**self.shift - self.slack) / mass
        if self.rounding:  # the root of the mean square changes by no more than that
            root = Fraction(math.isqrt(math.ceil(mean) << 40) + 1, 1 << 20)
            mean = mean - 2 * self.rounding * root + self.rounding**2
            mean = max(Fraction(0), mean) if root > self.rounding else Fraction(0)
        return mean * square

    def most_error(self, cost: int | Fraction, leaves: int) -> Fraction:
        """The largest mean squared error of trees with so many leaves and at most this whole cost.

        Each leaf's cost lost less than 1 to its floor.
        """
        square = self.unit * self.unit
        mass = self.scale.total * square * 2**self.shift
        mean = ((cost + leaves) * 2**self.shift + self.slack) / mass
        if self.rounding:
            root = Fraction(math.isqrt(math.ceil(mean) << 40) + 1, 1 << 20)
            mean = mean + 2 * self.rounding * root + self.rounding**2
        return mean * square

    def is_least(self, least: Fraction, error: Fraction, size: int) -> bool:
        """Whether no tree with up to ``size`` splits can have an error from ``least`` to below one.

        ``error`` is that of a tree. In squares of whole labels, both are fractions with the product
        of the leaves' weights below the line, so they differ by at least one over both products.
        """
        if self.is_rounded or error == least:
            return error == least
        whole = _sum(self.written.weights)
        square = self.written.label_unit**2
        below = (error * whole / square).denominator
        leaves = min(size + 1, whole)
        most = Fraction(whole, leaves) ** leaves  # the largest product of so many weights
        return (error - least) * whole / square * below * most < 1

    def settled_leaf(self, rows: np.ndarray) -> tuple[float, Fraction]:
        """The mean of some rows as written; their share of the mean squared error."""
        mean, squares = self.written.leaf(rows)
        return mean, squares * self.written.label_unit**2 / _sum(self.written.weights)


@dataclass(frozen=True)
class Written:
    """Weights and labels as written, as whole multiples of two units."""

    weights: np.ndarray  # int64, or Python integers
    labels: np.ndarray  # less a whole number near their mean
    label_unit: Fraction
    centre: Fraction  # what was subtracted from labels

    @classmethod
    def of(cls, problem: SampleProblem) -> Written:
        """As whole numbers without a common divisor."""
        weights = as_integers(problem.row_weights())[0]
        weights = weights // (int(np.gcd.reduce(weights)) or 1)
        if problem._written is None:
            labels, unit = as_integers(problem.targets)
        else:
            labels, unit = as_integers(problem._written)
        total = _sum(multiply(weights, labels))
        centre = (2 * total + _sum(weights)) // (2 * _sum(weights))
        labels = labels - centre
        divisor = int(np.gcd.reduce(labels)) or 1
        return cls(weights, labels // divisor, unit * divisor, centre * unit)

    def leaf(self, rows: np.ndarray) -> tuple[float, Fraction]:
        """The mean label of some rows, and the sum of squares of the distances from it.

        That is in squares of the label's unit.
        """
        mass, total, squares = (_sum_parts(parts[rows]) for parts in self._parts)
        mean = Fraction(total, mass or 1)
        return float(mean * self.label_unit + self.centre), squares - total * mean

    @cached_property
    def _parts(self) -> list[np.ndarray]:
        """Weights, weights times labels and times their squares, as parts of 32 bits."""
        totals = multiply(self.weights, self.labels)
        return [_split(each) for each in (self.weights, totals, multiply(totals, self.labels))]


def _split(integers: np.ndarray) -> np.ndarray:
    """Whole numbers as rows of parts of 32 bits, the lowest first and the highest with a sign.

    So numpy can add up any of them.
    """
    most = max((abs(number) for number in integers.tolist()), default=0)
    width = 4 * (most.bit_length() // 32 + 1)
    packed = b"".join(number.to_bytes(width, "little", signed=True) for number in integers.tolist())
    words = np.frombuffer(packed, dtype="<u4").reshape(len(integers), width // 4)
    parts = words.astype(np.int64)
    parts[:, -1] = words[:, -1].view(np.int32)
    return parts


def _sum_parts(parts: np.ndarray) -> int:
    """The exact sum of numbers that were split."""
    return sum(part << 32 * place for place, part in enumerate(parts.sum(axis=0).tolist()))


def as_integers(values: np.ndarray) -> tuple[np.ndarray, Fraction]:
    """Numbers as written, as whole multiples of one, floats of a power of ten: int64 if exact."""
    if values.dtype.kind != "f":
        numbers, unit = _as_multiples([as_fraction(number) for number in values.ravel().tolist()])
        return numbers.reshape(values.shape), unit
    some, most = values.ravel()[:64], float(np.abs(values).max(initial=0))
    for digits in range(16):
        factor = 10.0**digits
        if most * factor >= 2**52:
            break
        if are_decimals(some, digits) and are_decimals(values, digits):
            return np.round(values * factor).astype(np.int64), Fraction(1, 10**digits)
    distinct, which = np.unique(values, return_inverse=True)
    parsed = [_parse(repr(number)) for number in distinct.tolist()]
    least = min(power for _, power in parsed)
    scales = {power: 10 ** (power - least) for _, power in parsed}
    integers = [digits * scales[power] for digits, power in parsed]
    array = np.empty(len(integers), dtype=object)
    array[:] = integers
    return array[which].reshape(values.shape), Fraction(10) ** least


def _parse(text: str) -> tuple[int, int]:
    """A float as written, as a whole number and the power of ten that it is times."""
    digits, _, power = text.partition("e")
    whole, _, part = digits.partition(".")
    return int(whole + part), int(power or 0) - len(part)


def _as_multiples(fractions: list[Fraction]) -> tuple[np.ndarray, Fraction]:
    """Fractions as whole multiples of one."""
    below = math.lcm(*(number.denominator for number in fractions))
    array = np.empty(len(fractions), dtype=object)
    array[:] = [number.numerator * (below // number.denominator) for number in fractions]
    return array, Fraction(1, below)


def multiply(first: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Products of whole numbers by row, Python integers where sums of them may overflow."""
    most = float(max(1, len(first)))
    for part in (first, *others):
        most *= max(1.0, float(np.abs(part).max(initial=0)))
    kind = np.int64 if most < 2**62 else object
    product = first.astype(kind)
    for part in others:
        if part.ndim > product.ndim:
            product = product[:, None]
        product = product * part.astype(kind)
    return product


def _sum(integers: np.ndarray) -> int:
    """The exact sum of whole numbers."""
    if integers.dtype != object and float(np.abs(integers).sum(dtype=float)) < 2**62:
        return int(integers.sum())
    return sum(integers.tolist())


@inner_jit
def squared_cost(weight, total, high, low, shift):
    """What a set of rows costs, from the sums of its rows; see the module.

    ``high`` and ``low`` are the sums of both parts of the squares.
    """
    if weight == 0:
        return np.int64(0)
    unit, root = weight << shift, np.float64(total)
    per_unit = 1.0 / np.float64(unit)
    cost = high - np.int64(root * root * per_unit)
    # all of that wraps around, and the result is small
    rest = (((high - cost) << shift) + low) * weight - total * total
    steps = np.int64(np.floor(np.float64(rest) * per_unit))
    rest -= steps * unit
    cost += steps
    if rest < 0:
        cost -= 1
    elif rest >= unit:
        cost += 1
    return cost


@jit
def cost_of_sums(sums, shift):
    """The same, given these sums as an array."""
    return squared_cost(sums[0], sums[1], sums[2], sums[3], shift)


class CostCounting:
    """What costs alone say of trees with few leaves: a bound by size.

    ``masses`` and ``most_leaves`` are for the kernels that count errors, and say nothing here.
    """

    def __init__(self, leaf: int, bounds: Callable[[int], list[int]], depth: int) -> None:
        self.leaf, self.bounds, self.depth = leaf, bounds, depth
        self.masses, self.most_leaves = np.empty(0, dtype=np.int64), 1 << min(depth, 62)

    def by_size(self, max_size: int) -> list[int]:
        """By size, the cost of a lone leaf, and what no tree avoids."""
        bounds = [self.leaf, *self.bounds(max_size + 1)[1:]][: max_size + 1]
        return bounds + [0] * (max_size + 1 - len(bounds))

    def last_split(self, size: int, before: int) -> int:
        """The most that the last of ``size`` splits can gain."""
        return before


def bounds_of_actions(costs: np.ndarray, leaves: int) -> list[int]:
    """What trees cost at least, by leaves, as these predict few actions: each row has its best."""
    actions = costs.shape[1]
    bounds = []
    for number in range(1, min(leaves, actions) + 1 if actions <= MOST_ACTIONS else 0):
        subsets = combinations(range(actions), number)
        bounds.append(min(int(costs[:, list(each)].min(axis=1).sum()) for each in subsets))
    return bounds


def bounds_of_numbers(sums: np.ndarray, shift: int, leaves: int) -> list[int]:
    """What trees cost at least, by leaves: as much as clusters of labels.

    The best clusters of numbers are intervals. ``sums`` are those of distinct rows, which no tree
    divides.
    """
    order = np.argsort(sums[:, 1] / sums[:, 0], kind="stable")
    starts = np.concatenate([np.zeros((1, 4), dtype=np.int64), np.cumsum(sums[order], axis=0)])
    most = min(leaves, len(sums), max(2, MOST_CLUSTERED // len(sums)))
    costs = np.zeros((most, len(starts)), dtype=np.int64)
    cluster(starts, shift, costs)
    # each cost has a floor, and so may prefer a cluster of other ends, at each of log2 steps
    lost = [number * (len(starts).bit_length() + 2) for number in range(1, most + 1)]
    return [max(0, cost - less) for cost, less in zip(costs[:, -1].tolist(), lost, strict=True)]


@jit
def cluster(starts, shift, out_costs):
    """The least costs of clusters, by number and by how many rows are in them.

    ``starts`` are sums of the rows before each, in the order of their means. The last cluster of
    more rows begins no earlier, so the middle one of some numbers of rows limits the others.
    """
    rows = len(starts) - 1
    for end in range(1, rows + 1):
        out_costs[0, end] = _cost_between(0, end, starts, shift)
    waiting = np.empty((2 * 64, 4), dtype=np.int64)
    for number in range(1, len(out_costs)):
        before, costs = out_costs[number - 1], out_costs[number]
        waiting[0] = 1, rows, 0, rows - 1
        count = 1
        while count:
            count -= 1
            first, last, low, high = waiting[count]
            end = (first + last) // 2
            best, chosen = np.int64(1) << 62, low
            for begin in range(low, min(high, end - 1) + 1):
                cost = before[begin] + _cost_between(begin, end, starts, shift)
                if cost < best:
                    best, chosen = cost, begin
            costs[end] = best
            if first < end:
                waiting[count] = first, end - 1, low, chosen
                count += 1
            if end < last:
                waiting[count] = end + 1, last, chosen, high
                count += 1


@inner_jit
def _cost_between(begin, end, starts, shift):
    """The cost of the rows from one to before another."""
    return squared_cost(
        starts[end, 0] - starts[begin, 0],
        starts[end, 1] - starts[begin, 1],
        starts[end, 2] - starts[begin, 2],
        starts[end, 3] - starts[begin, 3],
        shift,
    )
