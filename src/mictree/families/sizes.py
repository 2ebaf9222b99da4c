"""How many splits a Boolean function needs, optimally and greedily, under the uniform distribution.

A dynamic program over the 3**n subcubes of each function. In base 3, digit i of a subcube's number
is 0 or 1 where variable i is fixed, 2 where it is free; so both halves of a subcube have smaller
numbers than the subcube.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit, run
from mictree.growers.rules import TIE_TOLERANCE
from mictree.impurity import CRITERIA, GAINS

STEPS = 20  # inner steps that a subcube costs, see run

Integers = np.typing.NDArray[np.int64]


class Sizes(NamedTuple):
    """Numbers of splits, one for each function.

    Greedy trees are grown until they make no error. Every rule then splits all impure leaves, so
    the order of growth does not matter, but the choice among tied splits of largest gain does.
    """

    perfect_size: Integers  # of the smallest tree without error
    greedy_size_best: Integers  # of the smallest greedy tree, over all choices
    greedy_size_worst: Integers  # of the largest


def exact_sizes(tables: np.typing.ArrayLike, variables: int, criterion: str = "entropy") -> Sizes:
    """The three sizes of every function.

    Parameters
    ----------
    tables : truth tables as integers; bit r is the value in row r
    variables : how many, at most 6; a function may ignore some of them
    criterion : of the greedy trees

    Examples
    --------
    >>> exact_sizes([0b0110, 0b1000], variables=2)
    Sizes(perfect_size=array([3, 2]), greedy_size_best=array([3, 2]),
          greedy_size_worst=array([3, 2]))
    """
    rows = np.asarray(tables, dtype=np.uint64)
    subcube, place = np.arange(3**variables), np.arange(variables)
    digits = subcube[:, None] // 3**place % 3
    free = (digits == 2).sum(axis=1)
    steps = np.where(digits == 2, 3**place, 0)
    steps = -np.sort(-steps, axis=1)  # the steps to the halves of a subcube come first
    row_of = (digits % 2 * 2**place).sum(axis=1)
    out = np.empty((3, len(rows)), dtype=np.int64)
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}; got {criterion!r}")
    gain = _gain_table(variables, criterion)
    run(
        _fill_sizes, len(rows), STEPS * len(rows) * len(free),
        rows, free, steps, row_of, gain, TIE_TOLERANCE, out,
    )  # fmt: skip
    return Sizes(*out)


def _gain_table(variables: int, criterion: str) -> np.typing.NDArray[np.float64]:
    """``gain[free, positives, low positives]`` of a split of a subcube; nan where impossible."""
    table = np.full((variables + 1, 2**variables + 1, 2**variables // 2 + 1), np.nan)
    for free in range(1, variables + 1):
        half = 2 ** (free - 1)
        for positives in range(2 * half + 1):
            low = np.arange(max(0, positives - half), min(positives, half) + 1)
            high = positives - low
            if criterion == "minority":
                before = min(positives, 2 * half - positives)
                after = np.minimum(low, half - low) + np.minimum(high, half - high)
                table[free, positives, low] = (before - after) / (2 * half)
                continue
            # quotients by powers of 2 are exact
            even = np.full(len(low), 0.5)
            low_rates, high_rates = (
                np.stack([half - ones, ones], axis=1) / half for ones in (low, high)
            )
            gains = GAINS[criterion](even, even, low_rates, high_rates, high_rates - low_rates)
            table[free, positives, low] = gains
    return table


@jit
def _fill_sizes(start, stop, tables, free, steps, row_of, gain, tolerance, out_sizes):
    """``out_sizes[:, number]``: perfect, best greedy and worst greedy size of some functions.

    The halves of a subcube are ``subcube - 2 * step`` and ``subcube - step`` for each of its first
    ``free[subcube]`` steps.
    """
    whole = len(free) - 1
    positives = np.empty(len(free), dtype=np.int64)
    perfect, best = np.zeros(len(free), dtype=np.int64), np.zeros(len(free), dtype=np.int64)
    worst = np.zeros(len(free), dtype=np.int64)
    for number in range(start, stop):
        for subcube in range(len(free)):
            splits = free[subcube]
            if splits == 0:
                row = np.uint64(row_of[subcube])
                positives[subcube] = np.int64(tables[number] >> row & np.uint64(1))
                continue
            step = steps[subcube, 0]
            ones = positives[subcube - 2 * step] + positives[subcube - step]
            positives[subcube] = ones
            if ones == 0 or ones == 1 << splits:
                perfect[subcube] = best[subcube] = worst[subcube] = 0
                continue
            largest = 0.0
            for split in range(splits):
                low = subcube - 2 * steps[subcube, split]
                largest = max(largest, gain[splits, ones, positives[low]])
            least, fewest, most = 1 << 40, 1 << 40, 0
            for split in range(splits):
                low, high = subcube - 2 * steps[subcube, split], subcube - steps[subcube, split]
                least = min(least, perfect[low] + perfect[high])
                if gain[splits, ones, positives[low]] >= largest - tolerance * largest:
                    fewest = min(fewest, best[low] + best[high])
                    most = max(most, worst[low] + worst[high])
            perfect[subcube], best[subcube] = least + 1, fewest + 1
            worst[subcube] = most + 1
        out_sizes[0, number], out_sizes[1, number] = perfect[whole], best[whole]
        out_sizes[2, number] = worst[whole]
