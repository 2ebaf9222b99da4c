"""From the pair counts of a sub-problem to the least errors of all trees with up to 2 splits.

Two literals cut the rows into four quarters, and a leaf in a quarter errs on all but its heaviest
class. So one pass over all pairs gives the least error of every child with one split, and from
these the least errors of the sub-problem with 1 and 2 splits, and with one split in each child.

Invariant: after ``least_errors(level, ...)``, ``least[level, b, side, literal]`` is the least error
of a child with ``b`` = 0 or 1 splits, and for ``b`` = 2 a floor under it with any number.
"""

import numpy as np

from mictree._support.jit import inner_jit


@inner_jit
def least_errors(level, frames):
    """Fill what a frame's new pair counts say of its children, and of itself."""
    at, least = frames.levels[level], frames.least
    at.useful = -1  # the literals are not sorted yet
    if level + 1 < len(frames.levels):
        frames.levels[level + 1].counted = -1
    _without_split(level, frames)
    with_two, with_both = at.errors[1], at.errors[1]
    if at.depth > 1:
        if frames.totals.shape[1] == 2:
            _one_split_of_two(level, frames.pairs, least, frames.held, frames.totals)
        else:
            _one_split_of_many(level, frames.pairs, least, frames.held, frames.totals)
        for literal in range(least.shape[3]):
            low_leaf, high_leaf = least[level, 0, 0, literal], least[level, 0, 1, literal]
            if low_leaf >= 0:
                low, high = least[level, 1, 0, literal], least[level, 1, 1, literal]
                with_two = min(with_two, low + high_leaf, low_leaf + high)
                with_both = min(with_both, low + high)
    at.errors[2] = with_two
    at.errors[3] = min(with_two, with_both)


@inner_jit
def _without_split(level, frames):
    """Fill the errors of children that are leaves, and the own ones with 0 and 1 split."""
    at, least, held, totals = frames.levels[level], frames.least, frames.held, frames.totals
    classes = totals.shape[1]
    whole, most = 0, 0
    for label in range(classes):
        whole += totals[level, label]
        most = max(most, totals[level, label])
    with_one = whole - most
    at.errors[0] = with_one
    for literal in range(least.shape[3]):
        high, low_most, high_most = 0, 0, 0
        for label in range(classes):
            here = frames.pairs[level, label, literal, literal]
            held[level, label, literal] = here
            high += here
            low_most = max(low_most, totals[level, label] - here)
            high_most = max(high_most, here)
        held[level, classes, literal] = high
        low_error, high_error = whole - high - low_most, high - high_most
        least[level, 1, 0, literal], least[level, 1, 1, literal] = low_error, high_error
        least[level, 2, 0, literal] = at.floor - least[level, 2, 1, literal]
        if high == 0 or high == whole:
            low_error = -1  # the literal is constant
        else:
            with_one = min(with_one, low_error + high_error)
        least[level, 0, 0, literal], least[level, 0, 1, literal] = low_error, high_error
    at.errors[1] = with_one


@inner_jit
def _one_split_of_two(level, pairs, least, held, totals):
    """Lower the one-split errors of two literals' children by each other; two classes."""
    kind = pairs.dtype.type
    low, high = least[level, 1, 0], least[level, 1, 1]
    zeros, ones = held[level, 0], held[level, 1]
    for literal in range(len(low)):
        a, b = zeros[literal], ones[literal]
        rest_a = kind(totals[level, 0] - a)
        rest_b = kind(totals[level, 1] - b)
        low_best, high_best = low[literal], high[literal]
        for other in range(literal):
            a11, b11 = pairs[level, 0, literal, other], pairs[level, 1, literal, other]
            a10, b10 = kind(a - a11), kind(b - b11)
            a01, b01 = kind(zeros[other] - a11), kind(ones[other] - b11)
            a00, b00 = kind(rest_a - a01), kind(rest_b - b01)
            e11, e10 = min(a11, b11), min(a10, b10)
            e01, e00 = min(a01, b01), min(a00, b00)
            high_best = min(high_best, kind(e11 + e10))
            low_best = min(low_best, kind(e01 + e00))
            high[other] = min(high[other], kind(e11 + e01))
            low[other] = min(low[other], kind(e10 + e00))
        low[literal], high[literal] = low_best, high_best


@inner_jit
def _one_split_of_many(level, pairs, least, held, totals):
    """The same for any number of classes; a quarter's error is all but its heaviest class."""
    kind = pairs.dtype.type
    classes, literals = pairs.shape[1], pairs.shape[2]
    most = np.empty((4, literals), dtype=pairs.dtype)
    whole = 0
    for label in range(classes):
        whole += totals[level, label]
    for literal in range(literals):
        for other in range(literal):
            for quarter in range(4):
                most[quarter, other] = 0
        for label in range(classes):
            here = held[level, label, literal]
            rest = kind(totals[level, label] - here)
            for other in range(literal):
                n11 = pairs[level, label, literal, other]
                n01 = kind(held[level, label, other] - n11)
                most[0, other] = max(most[0, other], n11)
                most[1, other] = max(most[1, other], kind(here - n11))
                most[2, other] = max(most[2, other], n01)
                most[3, other] = max(most[3, other], kind(rest - n01))
        mass = held[level, classes, literal]
        for other in range(literal):
            m11, m10, m01, m00 = most[0, other], most[1, other], most[2, other], most[3, other]
            low, high = least[level, 1, 0, literal], least[level, 1, 1, literal]
            least[level, 1, 0, literal] = min(low, whole - mass - m01 - m00)
            least[level, 1, 1, literal] = min(high, mass - m11 - m10)
            other_mass = held[level, classes, other]
            low, high = least[level, 1, 0, other], least[level, 1, 1, other]
            least[level, 1, 0, other] = min(low, whole - other_mass - m10 - m00)
            least[level, 1, 1, other] = min(high, other_mass - m11 - m01)
