"""Better trees for sizes that could not be proved, from a tree that is already good.

Every node of the tree may become the root of the best subtree with up to 3 splits that pair counts
or sweeps find for its rows; a dynamic program over the nodes shares the budget out among all of
them. The result is a new tree, to which the same can be done again.

Invariant: ``best[node][b]`` is attained by some tree with at most ``b`` splits on the rows of the
node, and is at most the error of the node's own subtree where ``b`` allows that many splits.
"""

import math
import time
from typing import Any

import numpy as np

from mictree.optimal.search.questions import Asking
from mictree.tree import Tree


class Polished:
    """The best errors by size that a tree's nodes allow, and the trees.

    Attributes
    ----------
    errors : wrong weight by size, 0 to ``most``
    """

    def __init__(
        self, asking: Asking, tree: Tree | Any, most: int, depth: int, until: float = math.inf
    ) -> None:
        self.asking, rows = asking, asking.rows
        self.tests, self.low, self.high = rows.nodes(tree)
        self.nodes: dict[int, tuple[np.ndarray, int]] = {}  # rows, and the depth that is left
        waiting = [(0, rows.everything, depth)]
        while waiting:
            node, members, left = waiting.pop()
            self.nodes[node] = members, left
            if self.tests[node] >= 0:
                held = rows.holds(members, self.tests[node])
                waiting.append((self.low[node], members[~held], left - 1))
                waiting.append((self.high[node], members[held], left - 1))
        self.few: dict[int, np.ndarray] = {}  # least errors with up to 3 splits
        self.best: dict[int, np.ndarray] = {}
        for node, (members, left) in reversed(self.nodes.items()):
            if time.monotonic() > until:
                left = 0  # what is not counted in time stays as it is, or a leaf
            few = self.few[node] = asking.errors(members, left)
            best = self.best[node] = few[np.minimum(np.arange(most + 1), 3)]
            if self.tests[node] >= 0:
                low, high = self.best[self.low[node]], self.best[self.high[node]]
                for size in np.flatnonzero(np.diff(low[:most], prepend=low[0] + 1)):
                    target = best[size + 1 :]
                    np.minimum(target, low[size] + high[: len(target)], out=target)
        self.errors = self.best[0]

    def nested(self, size: int) -> Any:
        """A nested tree with at most so many splits that attains its error."""
        return self._nested(0, size)

    def _nested(self, node: int, size: int) -> Any:
        error, (members, left) = self.best[node][size], self.nodes[node]
        if self.few[node][min(size, 3)] == error:
            return self.asking.trace(members, min(size, 3), error, left, known=True)
        low, high = self.low[node], self.high[node]
        sums = self.best[low][:size] + self.best[high][:size][::-1]
        split = int(sums.argmin())
        test = self.tests[node]
        return test, self._nested(low, split), self._nested(high, size - 1 - split)
