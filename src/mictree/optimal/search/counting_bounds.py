"""Lower bounds on the least error that need no search: trees are too small for the classes.

A leaf predicts one class, so a tree with few leaves gives up all rows of the lightest classes. And
cutting off the lightest leaf of a tree costs little, so the least error of one size limits how low
that of the next can be. Both use only the weight of each class. For proofs see
``docs/optimal-trees.md``.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from mictree._support.jit import jit


class Counting:
    """What the weight of each class says of trees with few leaves, no deeper than ``depth``."""

    def __init__(self, masses: Sequence[int], depth: int) -> None:
        self.depth = depth
        self.masses = np.array(sorted(masses, reverse=True), dtype=np.int64)
        self.most_leaves = 1 << min(depth, 62)

    def by_classes(self, max_size: int) -> list[int]:
        """By size, the weight of all classes but the heaviest, one for each leaf."""
        masses = self.masses.tolist()
        given_up = [sum(masses) - kept for kept in accumulate(masses)][: max_size + 1]
        return given_up + [0] * (max_size + 1 - len(given_up))

    def lightest_leaf(self, size: int, before: int) -> int:
        """The most that the last of ``size`` splits can gain, if one fewer leaves this error.

        See the function of this name.
        """
        return lightest_leaf(self.masses, self.most_leaves, size, before)


@jit
def lightest_leaf(masses, most_leaves, size, before):
    """The most that the last of ``size`` splits can gain, if one fewer leaves this error.

    That is the weight that the lightest leaf labels right: every leaf labels as much of its class
    right, and all together no more than the whole less the error.
    """
    if size >= most_leaves:
        return 0
    enough, most = 0, (masses.sum() - before) // size
    while enough < most:
        middle = (enough + most + 1) // 2
        leaves = 0
        for mass in masses:
            leaves += mass // middle
        if leaves > size:
            enough = middle
        else:
            most = middle - 1
    return enough
