"""The graph of a family with the tests of largest gain only, for trees that may use no others.

Every literal counts, so that several of one value take several places: independent variables never
divide inputs alike. Which tests of a restriction are
allowed depends on nothing but the restriction, so all members share them.
"""

from dataclasses import replace

import numpy as np

from mictree._support.jit import jit, run
from mictree.families.family_gains import FamilyGains, edge_gain
from mictree.families.graph import FamilyGraph, unrank
from mictree.families.growth_kernel import FamilyArrays
from mictree.growers.ties import least_tied
from mictree.optimal.dynamic.allowed import count_literals
from mictree.optimal.dynamic.lattice import Graph
from mictree.optimal.result import Top

STEPS = 100  # inner steps that an edge costs, see run


def allowed_graph(built: FamilyGraph, arrays: FamilyArrays, top: Top) -> Graph:
    """All restrictions, each with the edges that tie with or exceed its gain number ``top``."""
    graph, gains = built.graph, FamilyGains(built, top.criterion)
    allowed = np.zeros(len(graph.low), dtype=bool)
    run(
        _mark_allowed, len(graph), STEPS * len(graph.low),
        top.number, arrays.ranks, arrays.moves, arrays.edges, gains.rates, allowed,
    )  # fmt: skip
    gains.settle()
    first = np.concatenate([[0], np.cumsum(allowed)])[graph.first]
    kept = (each[allowed] for each in (graph.low, graph.high, graph.value))
    return replace(graph, first=first, **dict(zip(("low", "high", "value"), kept, strict=True)))


@jit
def _mark_allowed(start, stop, top, ranks, moves, edges, rates, out_allowed):
    """Mark the edges of some restrictions than which fewer than ``top`` literals gain more."""
    row = np.zeros(ranks.most_terms + 1, dtype=np.int64)
    for state in range(start, stop):
        begin, end = edges.first[state], edges.first[state + 1]
        length = unrank(state, ranks.before, ranks.costs, row)
        literals = count_literals(row[:length], moves.first, moves.copies, end - begin)
        gains = np.empty(end - begin)
        for edge in range(begin, end):
            gains[edge - begin] = edge_gain(edge, state, edges, rates)
        for place in range(end - begin):
            exceed = 0
            for other in range(end - begin):
                if least_tied(gains[other]) > gains[place]:
                    exceed += literals[other]
            out_allowed[begin + place] = exceed < top
