"""The gain of a cut, from the sums of its low child; kernels of the growing loop.

Fast gains choose the cuts that may be best. Their exact gains, without cancellation, decide.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit
from mictree.growers.counting import total_of
from mictree.growers.offers import exact_gain, mass_of
from mictree.impurity.gains import ENTROPY, GINI, OWN, ROOT


class Leaf(NamedTuple):
    """What the gains of a leaf's cuts depend on."""

    sums: np.ndarray  # by class
    rows: int
    mass: float
    before: float  # mass times impurity
    table: bool  # logarithms are looked up


class Two(NamedTuple):
    """The same for two classes, in numbers alone: these are passed on faster than arrays."""

    first: float  # sums
    second: float
    first_weight: float
    second_weight: float
    rows: int
    mass: float
    before: float
    table: bool
    criterion: int


class Room(NamedTuple):
    """Scratch arrays, one number for each class: sums of the low child, of a corner, masses."""

    left: np.ndarray
    corner: np.ndarray
    low: np.ndarray
    high: np.ndarray
    exact: np.ndarray  # five rows


@inner_jit
def measure(sums, rows, task):
    """The leaf whose cuts are to be weighed."""
    weighing = task.weighing
    count = total_of(rows)
    table = weighing.plain and weighing.criterion == ENTROPY and count < len(weighing.logs)
    mass = mass_of(sums, weighing.class_weight)
    before = _mass_times_impurity(sums * weighing.class_weight, mass, weighing.criterion)
    return Leaf(sums, count, mass, before, table)


@inner_jit
def make_room(classes):
    return Room(
        np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes),
        np.empty((5, classes)),
    )  # fmt: skip


@inner_jit
def two_of(leaf, task):
    """A leaf with two classes."""
    weights = task.weighing.class_weight
    return Two(
        leaf.sums[0], leaf.sums[1], weights[0], weights[1], leaf.rows, leaf.mass, leaf.before,
        leaf.table, task.weighing.criterion,
    )  # fmt: skip


@inner_jit
def gain_of_two(left_first, left_second, two, logs):
    """The gain of a split with these sums in the low child."""
    if two.table:
        one, other = np.int64(left_first), np.int64(left_second)
        after = logs[one + other] + logs[two.rows - one - other] - logs[one] - logs[other]
        after -= logs[np.int64(two.first) - one] + logs[np.int64(two.second) - other]
        return (two.before - after) / two.mass
    one, other = left_first * two.first_weight, left_second * two.second_weight
    rest = (two.first - left_first) * two.first_weight
    other_rest = (two.second - left_second) * two.second_weight
    after = _two_masses(one, other, two.criterion) + _two_masses(rest, other_rest, two.criterion)
    return (two.before - after) / two.mass


@inner_jit
def _two_masses(one, other, criterion):
    """The mass of a leaf with two classes times its impurity."""
    if one <= 0 or other <= 0 or criterion == OWN:
        return 0.0
    total = one + other
    if criterion == ENTROPY:
        return total * np.log2(total) - one * np.log2(one) - other * np.log2(other)
    if criterion == GINI:
        return 2 * one * other / total
    if criterion == ROOT:
        return 2 * np.sqrt(one * other)
    return min(one, other)


@inner_jit
def exact_cut_gain(left, leaf, task, room):
    """The gain of a split with these sums in the low child, without cancellation."""
    for code in range(len(left)):
        room.low[code], room.high[code] = left[code], leaf.sums[code] - left[code]
    return exact_gain(room.low, room.high, task.weighing, room.exact)


@inner_jit
def fast_gain(left, leaf, task, room, least_mass):
    """The gain of a split with these sums in the low child; -inf if a child is too light."""
    weighing, sums = task.weighing, leaf.sums
    if leaf.table:
        logs = weighing.logs
        low_rows, after = 0, 0.0
        for code in range(len(sums)):
            inside = np.int64(left[code])
            low_rows += inside
            after -= logs[inside] + logs[np.int64(sums[code]) - inside]
        if min(low_rows, leaf.rows - low_rows) < least_mass:
            return -np.inf
        after += logs[low_rows] + logs[leaf.rows - low_rows]
        return (leaf.before - after) / leaf.mass
    low_mass, high_mass = 0.0, 0.0
    for code in range(len(sums)):
        room.low[code] = left[code] * weighing.class_weight[code]
        room.high[code] = (sums[code] - left[code]) * weighing.class_weight[code]
        low_mass += room.low[code]
        high_mass += room.high[code]
    if min(low_mass, high_mass) < least_mass:
        return -np.inf
    if weighing.criterion == OWN:
        return 0.0
    after = _mass_times_impurity(room.low, low_mass, weighing.criterion)
    after += _mass_times_impurity(room.high, high_mass, weighing.criterion)
    return (leaf.before - after) / leaf.mass


@inner_jit
def _mass_times_impurity(masses, total, criterion):
    """A leaf's mass times its impurity; entropy in bits."""
    result = 0.0
    if total <= 0 or criterion == OWN:
        return result
    if criterion == ENTROPY:
        for mass in masses:
            if mass > 0:
                result -= mass * np.log2(mass)
        return result + total * np.log2(total)
    if criterion == GINI:
        for mass in masses:
            result += mass * mass
        return total - result / total
    if criterion == ROOT:
        for code in range(len(masses)):
            rest = 0.0
            for other in range(len(masses)):
                if other != code:
                    rest += masses[other]
            result += np.sqrt(masses[code] * rest)
        return result
    for mass in masses:
        result = max(result, mass)
    return total - result
