"""The inner step of the dynamic programs: a min-plus update of one row by two others.

A row holds least errors by size. Its last value stands for all larger sizes.
"""

import numpy as np

from mictree._jit import jit


@jit
def relax(low, high, low_weight, high_weight, scratch, out):
    """Lower ``out[size]`` to the best of all trees with a given root split.

    Sizes i of the low and j of the high subtree add up to size - 1. Overwrites ``scratch`` (as long
    as ``out``) and lowers ``out`` in place.
    """
    most = len(out)
    width = min(len(high), most - 1)
    for j in range(width):
        scratch[j] = high_weight * high[j]
    for i in range(min(len(low), most - 1)):
        first = low_weight * low[i]
        target = out[i + 1 :]
        for j in range(min(width, most - 1 - i)):
            target[j] = min(target[j], first + scratch[j])


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
