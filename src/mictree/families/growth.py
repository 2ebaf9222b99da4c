"""Grows a rule on every member of a family, with the best split of each restriction looked up.

The best split of a restriction does not depend on how a tree came to it. Only when splits of
different kinds tie does the choice depend on which variables are free at the leaf; then, and only
then, the member is grown again with its terms tracked.
"""

import numpy as np

from mictree._support.jit import jit, run
from mictree.families.family import Family
from mictree.families.family_gains import FamilyGains, edge_gain, family_edges
from mictree.families.graph import FamilyGraph
from mictree.families.growth_kernel import (
    AMBIGUOUS,
    BestSplits,
    FamilyArrays,
    Moves,
    Ranks,
    Rule,
    compare_rows,
    grow_member,
    note_excess,
)
from mictree.families.merged_growth import MergedGrowth, merged_errors, new_scratch
from mictree.growers.functions import (
    kernel_priority,
)
from mictree.growers.rules import TIES, Grower
from mictree.growers.ties import settle_ties
from mictree.impurity import Criterion
from mictree.impurity.criteria import minority
from mictree.optimal.dynamic.program import Program

STEPS = 100  # inner steps that an edge or a split costs, see run


def best_splits(
    built: FamilyGraph, program: Program, criterion: Criterion, depth: int = 1
) -> BestSplits:
    """Compare all edges of each restriction, by their gains or by those of subtrees of a depth."""
    graph, edges = built.graph, family_edges(built, program)
    best = BestSplits(
        np.zeros(len(graph)),
        np.zeros(len(graph.low), dtype=bool),
        np.full((len(graph), 3), AMBIGUOUS, dtype=np.int32),
        np.zeros((len(graph), 3)),
    )
    best.worth[:, 1] = minority(built.positive_rate)
    gains = FamilyGains(built, criterion)
    # row d: the largest drop by a subtree of depth d
    largest = np.zeros((depth + 1, len(graph)))
    for level in range(1, depth + 1):
        run(
            _best_splits, len(graph), STEPS * len(graph.low),
            level, edges, gains.rates, largest, best,
        )  # fmt: skip
    gains.settle()
    return best


class FamilyGrowth:
    """Everything about a family that growing its members needs."""

    def __init__(
        self, family: Family, built: FamilyGraph, program: Program, max_size: int, room: int
    ) -> None:
        """``room`` is in bytes, for rows of splits; see ``merged_growth``."""
        self.max_size = max_size
        distinct = family.distinct_terms
        counts = [term.count(v) for term in family.term_values for v in sorted(set(term))]
        costs = np.array(family.costs, dtype=np.int64)
        self.arrays = FamilyArrays(
            Ranks(family.before, costs, family.capacity // int(costs[1:].min())),
            Moves(
                distinct.first_move,
                distinct.move_value,
                distinct.move_to,
                np.array(counts, dtype=np.int32),
            ),
            family_edges(built, program),
            program.start,
            program.errors,
        )
        self._merged = MergedGrowth(built.graph, self.arrays.edges, max_size, room)

    def compare(self, rule: Grower, best: BestSplits, members: range) -> np.ndarray:
        """Grow a rule on some members; per member MIC, largest excess error and its size."""
        out = np.empty((len(members), 3))
        refused = np.zeros(2)
        seed = np.uint64(rule.with_seed().seed or 0)
        priority = kernel_priority(rule)
        kernel_rule = Rule(priority.address, TIES.index(rule.ties), seed, refused)
        run(
            _compare, len(members), STEPS * len(members) * self.max_size,
            members.start, self.max_size, kernel_rule, self.arrays, best,
            *self._merged.splits(rule, best), out,
        )  # fmt: skip
        priority.settle()
        if refused[0]:
            value = float(refused[1])
            raise ValueError(f"a priority must be a number; {rule!r} gave {value!r}")
        return out


@jit
def _compare(begin, stop, first_member, max_size, rule, family, best, order, rows, out):
    """Grow some members, by merging where that suffices, and compare with their optimal errors."""
    errors = np.empty(max_size + 1)
    scratch = new_scratch(max_size, order.heavy)
    edges, start = family.edges, family.start
    for number in range(begin, stop):
        member = first_member + number
        if not merged_errors(member, best, edges, order, rows, scratch, errors):
            grow_member(member, rule, family, best, errors)
        note_excess(errors, family.optimal[start[member] : start[member + 1]], out[number])


Rows = tuple[np.ndarray, np.ndarray]  # where each row begins, and all of them


def compare_errors(max_size: int, rows: Rows, optimal: Rows) -> np.ndarray:
    """MIC, largest excess error and its size of rows of errors; a row for each of them."""
    count = len(rows[0]) - 1
    out = np.empty((count, 3))
    run(compare_rows, count, max_size * count, max_size, *rows, *optimal, out)
    return out


@jit
def _best_splits(start, stop, level, edges, rates, largest, out):
    """Write some restrictions' largest drop, its edge unless several tie or none gains, and all.

    Fills row ``level`` of ``largest`` from the rows above it. A variable without effect ties only
    where the largest drop is 0: elsewhere, a test that brings the same drop gains more by itself.
    """
    for state in range(start, stop):
        begin, end = edges.first[state], edges.first[state + 1]
        drops = np.empty((level, end - begin))
        for edge in range(begin, end):
            low, high, kind = edges.low[edge], edges.high[edge], edges.value[edge]
            gain = edge_gain(edge, state, edges, rates)
            for row in range(level):  # the deepest subtrees first
                below = edges.failed[kind] * largest[level - 1 - row, low]
                below += edges.satisfied[kind] * largest[level - 1 - row, high]
                drops[row, edge - begin] = gain + below
        best, tied, only = drops[0].max() if end > begin else 0.0, 0, 0
        settled = settle_ties(drops)
        for edge in range(begin, end):
            out.tied[edge] = settled[edge - begin] >= 0
            if out.tied[edge]:
                tied += 1
                only = edge
        largest[level, state] = out.gain[state] = out.worth[state, 0] = best
        out.split[state, 2] = AMBIGUOUS
        if tied == 1 and best > 0.0:
            low, high, kind = edges.low[only], edges.high[only], edges.value[only]
            out.split[state, 0], out.split[state, 1], out.split[state, 2] = low, high, kind
            after = (
                edges.failed[kind] * out.worth[low, 1] + edges.satisfied[kind] * out.worth[high, 1]
            )
            out.worth[state, 2] = after - out.worth[state, 1]
