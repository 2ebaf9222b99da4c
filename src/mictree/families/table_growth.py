"""Boolean functions of few variables that share a bias: least errors, growth and sizes.

A restriction is a subcube of the inputs. In base 3, digit i of its number is 0 or 1 where variable
i is fixed, 2 where it is free. So both halves of a subcube have smaller numbers than the subcube,
and a loop over numbers is a dynamic program.

Probabilities and errors are integers: with the bias k/d, a subcube of m free variables consists of
``d**m`` parts, and an input with w ones among them of ``k**w * (d - k)**(m - w)``. So nothing but
gains is rounded. Leaves of a growing tree are numbered in order of creation: split number s, from
1, makes the low child 2s - 1 and the high child 2s.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.checks import check_count
from mictree._support.jit import jit, run
from mictree.families.growth import note_excess
from mictree.growers.choosing import (
    any_open,
    check_refused,
    choose_leaf,
    choose_tied,
    close_leaf,
    criterion_code,
    kernel_impurity,
    leaf_priority,
    least_of_best,
    least_tied,
    new_frontier,
    open_leaf,
    settle_ties,
)
from mictree.impurity import Criterion, check_criterion
from mictree.impurity.gains import MINORITY, OWN, gain_of_rates, own_gain
from mictree.problems.base import read_bias

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
    """What the gains of splits, or of the subtrees below them, by one criterion come from."""

    depth: int  # of the subtrees; 1 for the split alone
    criterion: int
    impurity: int  # the address of a function, for criterion OWN
    refused: np.ndarray  # as of own_gain
    # by free variables and parts of label 1 in the low and in the high half, under the uniform
    # distribution; else empty
    known: np.ndarray


class CriterionGains:
    """A criterion's gains for kernels; call ``settle`` when a kernel is done."""

    def __init__(self, criterion: Criterion, cubes: Subcubes, depth: int = 1) -> None:
        self._criterion = criterion
        self._impurity = kernel_impurity(criterion)
        code, address = criterion_code(criterion), self._impurity.address
        self.arrays = Gains(depth, code, address, np.zeros(3), np.empty((0, 0, 0)))
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
def fill_drops(positives, cubes, gains, largest, out_drops):
    """Write what a rule compares: the largest drop by a subtree of a depth below each split.

    That of depth 1 is the split's gain. Where shallower subtrees settle a tie against a split, it
    is -1. ``largest``, rows 0 to the depth, is overwritten; row 0 is 0.
    """
    fill_gains(positives, cubes, gains, out_drops)
    depth = gains.depth
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


class BestOnly(NamedTuple):
    """Trees that test only the ``top`` best splits of each node, see ``least_of_best``."""

    gains: Gains
    top: int


@jit
def fill_optimal(begin, stop, tables, cubes, best_only, out_errors):
    """``out_errors[number, size]``: least errors of some functions; the last size stands for all.

    ``best_only`` is None where all splits may be tested. A subcube's row holds its least errors in
    its own parts, up to its perfect size. It never rises: below that size one of the halves can
    take one more split.
    """
    free, steps, parts = cubes.free, cubes.steps, cubes.parts
    low_weight, high_weight = cubes.low, cubes.high
    limit = out_errors.shape[1] - 1
    width = 1 << (len(parts) - 1)
    positives = np.empty(len(free), dtype=np.int64)
    rows = np.empty((len(free), width), dtype=np.int64)
    perfect = np.zeros(len(free), dtype=np.int64)
    weighted = np.empty(width, dtype=np.int64)
    tests = np.empty(steps.shape[1], dtype=np.int64)  # the steps to the halves, where allowed
    offered, places = np.empty(steps.shape), np.ones(steps.shape[1], dtype=np.int64)
    for number in range(begin, stop):
        count_positives(tables[number], cubes, positives)
        if best_only is not None:
            fill_gains(positives, cubes, best_only.gains, offered)
        for subcube in range(len(free)):
            splits = free[subcube]
            whole = parts[splits]
            alone = min(positives[subcube], whole - positives[subcube])
            rows[subcube, 0] = alone
            perfect[subcube] = 0
            if alone == 0:
                continue
            allowed, lowest = 0, -np.inf
            # independent variables never divide inputs alike, so each takes one place
            if best_only is not None and splits > best_only.top:
                lowest = least_of_best(offered[subcube, :splits], places[:splits], best_only.top)
            for split in range(splits):
                tests[allowed] = steps[subcube, split]
                if best_only is None or offered[subcube, split] >= lowest:
                    allowed += 1
            least = 1 << 40
            for step in tests[:allowed]:
                least = min(least, perfect[subcube - 2 * step] + perfect[subcube - step])
            perfect[subcube] = least + 1
            last = min(least + 1, limit)
            out = rows[subcube]
            for size in range(1, last + 1):
                out[size] = alone
            for step in tests[:allowed]:
                low, high = subcube - 2 * step, subcube - step
                above = min(perfect[high], last - 1)
                for j in range(above + 1):
                    weighted[j] = high_weight * rows[high, j]
                for i in range(min(perfect[low], last - 1) + 1):
                    error = low_weight * rows[low, i]
                    for j in range(min(above, last - 1 - i) + 1):
                        out[i + j + 1] = min(out[i + j + 1], error + weighted[j])
        root = len(free) - 1
        for size in range(limit + 1):
            out_errors[number, size] = rows[root, min(size, perfect[root])] / parts[-1]


@jit
def compare_tables(begin, stop, max_size, rule, tables, cubes, gains, optimal, out):
    """Grow some functions and compare with their optimal errors."""
    positives = np.empty(len(cubes.free), dtype=np.int64)
    offered = np.zeros(cubes.steps.shape)
    largest = np.zeros((gains.depth + 1, len(cubes.free)))
    errors = np.empty(max_size + 1)
    for number in range(begin, stop):
        count_positives(tables[number], cubes, positives)
        fill_drops(positives, cubes, gains, largest, offered)
        _grow(positives, offered, rule, cubes, errors)
        note_excess(errors, optimal[number], out[number])


@jit
def _grow(positives, offered, rule, cubes, out_errors):
    """Grow one function and write its errors by size."""
    free, steps, parts, weight = cubes.free, cubes.steps, cubes.parts, cubes.weight
    inputs = 1 << (len(parts) - 1)
    capacity = 2 * min(len(out_errors), inputs) - 1
    frontier = new_frontier(capacity)
    subcubes = np.empty(capacity, dtype=np.int64)
    draws = np.array([rule.seed], dtype=np.uint64)
    error = _open(
        np.int64(0), len(free) - 1, np.int64(0), positives, offered, rule, cubes, subcubes, frontier
    )
    out_errors[:] = error / parts[-1]
    for step in range(1, len(out_errors)):
        if not any_open(frontier):
            out_errors[step:] = error / parts[-1]
            break
        leaf = choose_leaf(frontier, rule.ties, draws)
        subcube = subcubes[leaf]
        split = choose_tied(offered[subcube, : free[subcube]], rule.ties, draws)
        close_leaf(frontier, leaf)
        ones, whole = positives[subcube], parts[free[subcube]]
        error -= weight[subcube] * min(ones, whole - ones)
        for side in range(2):  # the low child is 2 * step - 1, and the later born
            child = subcube - (2 - side) * steps[subcube, split]
            number, born = 2 * step - 1 + side, 2 * step + 1 - side
            error += _open(number, child, born, positives, offered, rule, cubes, subcubes, frontier)
        out_errors[step] = error / parts[-1]
        if rule.refused[0]:
            break


@jit
def _open(leaf, subcube, born, positives, offered, rule, cubes, subcubes, frontier):
    """Add a leaf, to be split unless it is pure; returns its error."""
    splits = cubes.free[subcube]
    wrong = min(positives[subcube], cubes.parts[splits] - positives[subcube])
    if wrong == 0:
        return 0
    subcubes[leaf] = subcube
    largest = 0.0
    for split in range(splits):
        largest = max(largest, offered[subcube, split])
    reach = cubes.reach[subcube]
    priority = leaf_priority(rule.priority, reach, largest, born, rule.refused)
    open_leaf(frontier, leaf, reach, priority)
    return cubes.weight[subcube] * wrong


STEPS = 20  # inner steps that a subcube costs, see run

Integers = np.typing.NDArray[np.int64]


class Sizes(NamedTuple):
    """Numbers of splits, one for each function.

    Greedy trees are grown until they make no error. Every rule then splits all impure leaves, so
    the order of growth does not matter, but the choice among tied splits of largest gain does.

    Examples
    --------
    >>> import mictree as mt
    >>> mt.families.exact_sizes([0b0110, 0b1000], variables=2).perfect_size.tolist()
    [3, 2]
    """

    perfect_size: Integers  # of the smallest tree without error
    greedy_size_best: Integers  # of the smallest greedy tree, over all choices
    greedy_size_worst: Integers  # of the largest


def exact_sizes(
    tables: np.typing.ArrayLike,
    variables: int,
    criterion: Criterion = "entropy",
    bias: float | Fraction = 0.5,
) -> Sizes:
    """The three sizes of every function.

    Parameters
    ----------
    tables : truth tables as integers; bit r is the value in row r
    variables : how many, from 1 to 6; a function may ignore some of them
    criterion : of the greedy trees
    bias : P[x_i = 1] of every variable

    Examples
    --------
    >>> exact_sizes([0b0110, 0b1000], variables=2)
    Sizes(perfect_size=array([3, 2]), greedy_size_best=array([3, 2]),
          greedy_size_worst=array([3, 2]))
    """
    count = check_count(variables, "variables")
    if not 1 <= count <= MOST_VARIABLES:
        raise ValueError(f"variables must be from 1 to {MOST_VARIABLES}; got {count}")
    every = np.asarray(tables, dtype=object).ravel()
    for table in every.tolist():
        if not 0 <= table < 2 ** (2**count):
            raise ValueError(
                f"a truth table of {count} variables is below 2**{2**count}; got {table}"
            )
    rows = every.astype(np.uint64)
    cubes = Subcubes.of(count, read_bias("every variable", bias))
    gains = CriterionGains(check_criterion(criterion), cubes)
    return sizes_of(rows, cubes, gains)


def sizes_of(tables: np.ndarray, cubes: Subcubes, gains: CriterionGains) -> Sizes:
    """The same from checked arguments."""
    out = np.empty((3, len(tables)), dtype=np.int64)
    work = STEPS * len(tables) * len(cubes.free)
    run(_fill_sizes, len(tables), work, tables, cubes, gains.arrays, out)
    gains.settle()
    return Sizes(*out)


@jit
def _fill_sizes(begin, stop, tables, cubes, gains, out_sizes):
    """``out_sizes[:, number]``: perfect, best greedy and worst greedy size of some functions."""
    free, steps, parts = cubes.free, cubes.steps, cubes.parts
    last = len(free) - 1
    positives = np.empty(len(free), dtype=np.int64)
    offered = np.empty(steps.shape)
    by_depth = np.zeros((gains.depth + 1, len(free)))
    perfect, best = np.zeros(len(free), dtype=np.int64), np.zeros(len(free), dtype=np.int64)
    worst = np.zeros(len(free), dtype=np.int64)
    for number in range(begin, stop):
        count_positives(tables[number], cubes, positives)
        fill_drops(positives, cubes, gains, by_depth, offered)
        for subcube in range(len(free)):
            splits = free[subcube]
            if positives[subcube] == 0 or positives[subcube] == parts[splits]:
                perfect[subcube] = best[subcube] = worst[subcube] = 0
                continue
            largest = 0.0
            for split in range(splits):
                largest = max(largest, offered[subcube, split])
            tied = least_tied(largest)
            least, fewest, most = 1 << 40, 1 << 40, 0
            for split in range(splits):
                step = steps[subcube, split]
                low, high = subcube - 2 * step, subcube - step
                least = min(least, perfect[low] + perfect[high])
                if offered[subcube, split] >= tied:
                    fewest = min(fewest, best[low] + best[high])
                    most = max(most, worst[low] + worst[high])
            perfect[subcube], best[subcube] = least + 1, fewest + 1
            worst[subcube] = most + 1
        out_sizes[0, number], out_sizes[1, number] = perfect[last], best[last]
        out_sizes[2, number] = worst[last]
