"""How many splits greedy trees need on every member of a family of formulas.

A member's literals all matter. Below a failed literal the rest of its term no longer does; such
idle variables are tested only where no split gains anything, and then they tie with all others. The
best tree never tests one. In the worst tree a restriction without gain has twice the leaves for
each idle variable, and where there is a gain the idle variables pass to both children.
"""

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import jit
from mictree.families.growth_kernel import BestSplits
from mictree.optimal.dynamic.lattice import Graph
from mictree.optimal.dynamic.program import row_starts

EXACT = 2.0**53  # larger numbers of leaves are not all floats
UNKNOWN = -1  # a size beyond that


def greedy_sizes(graph: Graph, best: BestSplits, memory_limit: int) -> tuple[np.ndarray, ...]:
    """The best and the worst size of a greedy tree without error, for every restriction."""
    most = int(graph.literals.max())
    idle = np.zeros(len(graph), dtype=np.int64)
    if (best.gain[1:] == 0).any():
        idle = most - graph.literals.astype(np.int64)
    start = row_starts(idle + 1)
    if 8 * start[-1] > memory_limit:
        raise TooLarge.states(len(graph), memory_limit, "a smaller family", 8 * int(start[-1]))
    fewest, leaves = np.ones(len(graph)), np.ones(start[-1])
    edges = (graph.first, graph.low, graph.high, best.tied)
    _fill_leaves(graph.order, graph.literals, *edges, best.gain, start, fewest, leaves)
    found = fewest, leaves[start[:-1]]
    return tuple(np.where(each < EXACT, each - 1, UNKNOWN).astype(np.int64) for each in found)


@jit
def _fill_leaves(order, literals, first, low, high, tied, gain, start, out_fewest, out_leaves):
    """The fewest leaves of a greedy tree, and the most by the number of idle variables.

    The row of a restriction is from ``start`` on; both outputs hold a 1 for the constant.
    """
    for restriction in order:
        if restriction == 0:
            continue
        begin = start[restriction]
        room = start[restriction + 1] - begin
        fewest = np.inf
        out_leaves[begin : begin + room] = 0.0
        for edge in range(first[restriction], first[restriction + 1]):
            if not tied[edge]:
                continue
            below, above = low[edge], high[edge]
            fewest = min(fewest, out_fewest[below] + out_fewest[above])
            fallen = literals[restriction] - literals[below] - 1  # now idle
            below_last, above_last = start[below + 1] - 1, start[above + 1] - 1
            for idle in range(room):
                leaves = out_leaves[min(start[below] + idle + fallen, below_last)]
                leaves += out_leaves[min(start[above] + idle, above_last)]
                out_leaves[begin + idle] = max(out_leaves[begin + idle], leaves)
        out_fewest[restriction] = fewest
        if gain[restriction] == 0:
            for idle in range(1, room):
                out_leaves[begin + idle] = 2 * out_leaves[begin + idle - 1]
