"""The restrictions of Boolean functions of few variables that share a bias, and their splits.

A restriction is a subcube of the inputs. In base 3, digit i of its number is 0 or 1 where variable
i is fixed, 2 where it is free; so both halves of a subcube have smaller numbers than the subcube.

Probabilities are integers: with the bias k/d, a subcube of m free variables consists of ``d**m``
parts, and an input with w ones among them of ``k**w * (d - k)**(m - w)``. So nothing but gains is
rounded.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit
from mictree.growers.functions import check_refused, criterion_code, kernel_impurity
from mictree.growers.ties import settle_ties
from mictree.impurity import Criterion
from mictree.impurity.gains import MINORITY, OWN, gain_of_rates, own_gain

MOST_VARIABLES = 6  # a truth table is an integer of 64 bits
MOST_PARTS = 2**62  # of the whole cube


class Subcubes(NamedTuple):
    """All subcubes by number, for kernels."""

    free: np.ndarray  # how many variables are free
    # to the halves along each free variable in declared order: they are at ``subcube - 2 * step``
    # and ``subcube - step``
    steps: np.ndarray
    row: np.ndarray  # of the truth table, where no variable is free
    weight: np.ndarray  # how many parts of the whole cube one part of the subcube is
    reach: np.ndarray  # the probability of the subcube
    parts: np.ndarray  # by number of free variables
    low: int  # parts of the whole that one part of its low half is, d - k
    high: int  # of its high half, k

    @classmethod
    def of(cls, variables: int, bias: Fraction) -> "Subcubes":
        """Of so many variables of one bias."""
        high, denominator = bias.as_integer_ratio()
        if denominator**variables >= MOST_PARTS:
            most = int((MOST_PARTS - 1) ** (1 / variables))
            raise ValueError(
                f"with {variables} variables the bias must be a fraction whose denominator is at "
                f"most {most:,}; got {bias}"
            )
        place = np.arange(variables)
        digits = np.arange(3**variables)[:, None] // 3**place % 3
        is_free = digits == 2
        order = np.argsort(~is_free, axis=1, kind="stable")  # the free variables first
        free, ones = is_free.sum(axis=1), (digits == 1).sum(axis=1)
        weight = high**ones * (denominator - high) ** (variables - free - ones)
        return cls(
            free,
            np.take_along_axis(np.where(is_free, 3**place, 0), order, axis=1),
            (digits % 2 * 2**place).sum(axis=1),
            weight,
            weight / float(denominator) ** (variables - free),
            denominator ** np.arange(variables + 1),
            denominator - high,
            high,
        )


class Gains(NamedTuple):
    """What the gains of splits by one criterion come from."""

    criterion: int
    impurity: int  # the address of a function, for criterion OWN
    refused: np.ndarray  # as of own_gain
    # by free variables and parts of label 1 in the low and in the high half, under the uniform
    # distribution; else empty
    known: np.ndarray


class CriterionGains:
    """A criterion's gains for kernels; call ``settle`` when a kernel is done."""

    def __init__(self, criterion: Criterion, cubes: Subcubes) -> None:
        self._criterion = criterion
        self._impurity = kernel_impurity(criterion)
        code, address = criterion_code(criterion), self._impurity.address
        self.arrays = Gains(code, address, np.zeros(3), np.empty((0, 0, 0)))
        if cubes.low == cubes.high:
            half = int(cubes.parts[-1]) // 2
            known = np.zeros((len(cubes.parts), half + 1, half + 1))
            _fill_known(cubes, self.arrays, known)
            self.arrays = self.arrays._replace(known=known)
        self.settle()

    def settle(self) -> None:
        """Raise what a user's function raised, and refuse what is no impurity."""
        self._impurity.settle()
        check_refused(self._criterion, self.arrays.refused)


# The loops below take arrays out of their tuples first: each access counts references, and two
# threads would wait for one another.


@jit
def count_positives(table, cubes, out_positives):
    """Write how many parts of each subcube have label 1."""
    free, steps, row, low, high = cubes.free, cubes.steps, cubes.row, cubes.low, cubes.high
    for subcube in range(len(free)):
        if free[subcube] == 0:
            out_positives[subcube] = np.int64(table >> np.uint64(row[subcube]) & np.uint64(1))
        else:
            step = steps[subcube, 0]
            below, above = out_positives[subcube - 2 * step], out_positives[subcube - step]
            out_positives[subcube] = low * below + high * above


@jit
def fill_gains(positives, cubes, gains, out_gains):
    """Write the gain of the split of each subcube along each of its free variables."""
    free, steps, parts, known = cubes.free, cubes.steps, cubes.parts, gains.known
    for subcube in range(len(free)):
        splits = free[subcube]
        if positives[subcube] == 0 or positives[subcube] == parts[splits]:
            continue
        for split in range(splits):
            step = steps[subcube, split]
            below, above = positives[subcube - 2 * step], positives[subcube - step]
            if len(known):
                out_gains[subcube, split] = known[splits, below, above]
            else:
                out_gains[subcube, split] = _gain(splits, below, above, cubes, gains)


@jit
def fill_drops(positives, cubes, gains, depth, largest, out_drops):
    """Write what a rule compares: the largest drop by a subtree of a depth below each split.

    That of depth 1 is the split's gain. Where shallower subtrees settle a tie against a split, it
    is -1. ``largest``, rows 0 to ``depth``, is overwritten; row 0 is 0.
    """
    fill_gains(positives, cubes, gains, out_drops)
    if depth == 1:
        return
    free, steps, parts = cubes.free, cubes.steps, cubes.parts
    low_share, high_share = cubes.low / parts[1], cubes.high / parts[1]
    drops = np.empty((depth, steps.shape[1]))
    for subcube in range(len(free)):  # the halves of a subcube come before it
        splits = free[subcube]
        largest[:, subcube] = 0.0
        if positives[subcube] == 0 or positives[subcube] == parts[splits]:
            continue
        for row in range(depth):  # the deepest subtrees first
            below = depth - 1 - row
            for split in range(splits):
                step = steps[subcube, split]
                low, high = largest[below, subcube - 2 * step], largest[below, subcube - step]
                # both sides are added first, so that a negated variable gives the same float
                under = low_share * low + high_share * high
                drops[row, split] = out_drops[subcube, split] + under
                largest[below + 1, subcube] = max(largest[below + 1, subcube], drops[row, split])
        out_drops[subcube, :splits] = settle_ties(drops[:, :splits])


@jit
def _gain(free, below, above, cubes, gains):
    """Of a split whose halves have so many parts of label 1."""
    whole, half = cubes.parts[free], cubes.parts[free - 1]
    if gains.criterion == MINORITY:
        positives = cubes.low * below + cubes.high * above
        after = cubes.low * min(below, half - below) + cubes.high * min(above, half - above)
        return (min(positives, whole - positives) - after) / whole
    low_share, high_share = cubes.low / cubes.parts[1], cubes.high / cubes.parts[1]
    low_rates = ((half - below) / half, below / half)
    high_rates = ((half - above) / half, above / half)
    if gains.criterion == OWN:
        return own_gain(gains.impurity, low_share, high_share, low_rates, high_rates, gains.refused)
    difference = (above - below) / half
    return gain_of_rates(
        gains.criterion, low_share, high_share, low_rates, high_rates, (-difference, difference)
    )


@jit
def _fill_known(cubes, gains, out_known):
    """The gains of all splits under the uniform distribution."""
    for free in range(1, len(cubes.parts)):
        for below in range(cubes.parts[free - 1] + 1):
            for above in range(cubes.parts[free - 1] + 1):
                out_known[free, below, above] = _gain(free, below, above, cubes, gains)
