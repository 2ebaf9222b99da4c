"""The inner step of the dynamic programs: a min-plus update of one row by two others.

A row holds least errors by size and never rises; its last value stands for all larger sizes.
"""

import numpy as np

from mictree._support.jit import jit

# numbers above every error; the sum of two integers of this kind still fits into 64 bits
NOTHING = {np.float64: np.inf, np.int64: 2**62}


@jit
def relax(low, high, low_weight, high_weight, nothing, drops, scratch, out):
    """Lower ``out[size]`` to the best of all trees with a given root split.

    Sizes i of the low and j of the high subtree add up to size - 1. ``nothing`` is a number above
    every error. Overwrites ``drops``, integers, at least ``len(out) + 4`` long, and ``scratch``, at
    least ``3 * len(out)`` long; lowers ``out`` in place.

    Only sizes at which a row drops can matter, so the loop runs over those of the row with fewer,
    four at a time: one pass over ``out`` then serves four of them, and compiles to vector code.
    """
    most = len(out)
    if most < 2:
        return
    if _find_drops(low, most, drops) > _find_drops(high, most, drops):
        low, high = high, low
        low_weight, high_weight = high_weight, low_weight
    count = _find_drops(low, most, drops)
    drops[count : count + 3] = drops[count - 1]  # repeated, so that there are always four
    width = min(len(high), most - 1)
    scratch[:most] = nothing
    for j in range(width):
        scratch[most + j] = high_weight * high[j]
    scratch[most + width : 2 * most + width] = nothing
    for number in range(0, count, 4):
        first = drops[number]
        shift_2, shift_3 = drops[number + 1] - first, drops[number + 2] - first
        shift_4 = drops[number + 3] - first
        length = min(width + shift_4, most - 1 - first)
        error_1, error_2 = low_weight * low[first], low_weight * low[first + shift_2]
        error_3, error_4 = low_weight * low[first + shift_3], low_weight * low[first + shift_4]
        row_1, row_2 = scratch[most:], scratch[most - shift_2 :]
        row_3, row_4 = scratch[most - shift_3 :], scratch[most - shift_4 :]
        target = out[first + 1 :]
        for j in range(length):
            best = target[j]
            error = error_1 + row_1[j]
            best = error if error < best else best
            error = error_2 + row_2[j]
            best = error if error < best else best
            error = error_3 + row_3[j]
            best = error if error < best else best
            error = error_4 + row_4[j]
            best = error if error < best else best
            target[j] = best


@jit
def _find_drops(row, most, out_drops):
    """The sizes at which a row is lower than before, 0 among them; returns how many."""
    out_drops[0] = 0
    count = 1
    for size in range(1, min(len(row), most - 1)):
        out_drops[count] = size
        count += row[size] < row[size - 1]
    return count


def relax_objects(low, high, low_weight, high_weight, out) -> None:
    """The same on arrays of Python integers."""
    weighted = high_weight * high[: len(out) - 1]
    for i, error in enumerate(low[: len(out) - 1]):
        length = min(len(weighted), len(out) - 1 - i)
        target = out[i + 1 : i + 1 + length]
        np.minimum(target, low_weight * error + weighted[:length], out=target)


@jit
def level_out(out):
    """Let no size be worse than a smaller one."""
    for size in range(1, len(out)):
        out[size] = min(out[size], out[size - 1])
