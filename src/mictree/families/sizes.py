"""How many splits a Boolean function needs, optimally and greedily: a program over its subcubes."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.checks import check_count
from mictree._support.jit import jit, run
from mictree.families.subcubes import (
    MOST_VARIABLES,
    CriterionGains,
    Subcubes,
    count_positives,
    fill_drops,
)
from mictree.growers.ties import least_tied
from mictree.impurity import Criterion, check_criterion
from mictree.problems.biases import read_bias

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
    return sizes_of(rows, cubes, gains, 1)


def sizes_of(tables: np.ndarray, cubes: Subcubes, gains: CriterionGains, depth: int) -> Sizes:
    """The same from checked arguments, of trees grown by subtrees of a depth."""
    out = np.empty((3, len(tables)), dtype=np.int64)
    work = STEPS * len(tables) * len(cubes.free)
    run(_fill_sizes, len(tables), work, tables, cubes, gains.arrays, depth, out)
    gains.settle()
    return Sizes(*out)


@jit
def _fill_sizes(begin, stop, tables, cubes, gains, depth, out_sizes):
    """``out_sizes[:, number]``: perfect, best greedy and worst greedy size of some functions."""
    free, steps, parts = cubes.free, cubes.steps, cubes.parts
    last = len(free) - 1
    positives = np.empty(len(free), dtype=np.int64)
    offered = np.empty(steps.shape)
    by_depth = np.zeros((depth + 1, len(free)))
    perfect, best = np.zeros(len(free), dtype=np.int64), np.zeros(len(free), dtype=np.int64)
    worst = np.zeros(len(free), dtype=np.int64)
    for number in range(begin, stop):
        count_positives(tables[number], cubes, positives)
        fill_drops(positives, cubes, gains, depth, by_depth, offered)
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
