"""Grows a rule on every member of a family, with the best split of each restriction looked up.

The best split of a restriction does not depend on how a tree came to it. Only when splits of
different kinds tie does the choice depend on which variables are free at the leaf; then, and only
then, the member is grown again with its terms tracked.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit, run
from mictree.families.family import Family
from mictree.families.graph import FamilyGraph
from mictree.families.growth_kernel import (
    AMBIGUOUS,
    BestSplits,
    Edges,
    FamilyArrays,
    Moves,
    Ranks,
    Rule,
    compare,
)
from mictree.growers.functions import (
    check_refused,
    criterion_code,
    kernel_impurity,
    kernel_priority,
)
from mictree.growers.rules import TIES, Grower
from mictree.growers.ties import settle_ties
from mictree.impurity import Criterion
from mictree.impurity.criteria import minority
from mictree.impurity.gains import MINORITY, OWN, gain_of_rates, own_gain
from mictree.optimal.dynamic.program import Program
from mictree.problems.base import NEAR_EVEN

STEPS = 100  # inner steps that an edge or a split costs, see run


class _Rates(NamedTuple):
    """What a restriction's impurity and the gains of its tests come from."""

    criterion: int
    impurity: int  # the address of a function, for criterion OWN
    negative: np.ndarray
    positive: np.ndarray
    chance: np.ndarray  # that a term is satisfied
    leads: np.ndarray  # P[y = 1] - P[y = 0], for criterion MINORITY
    refused: np.ndarray  # as of own_gain


def best_splits(
    built: FamilyGraph, program: Program, criterion: Criterion, depth: int = 1
) -> BestSplits:
    """Compare all edges of each restriction, by their gains or by those of subtrees of a depth."""
    graph = built.graph
    best = BestSplits(
        np.zeros(len(graph)),
        np.full(len(graph), AMBIGUOUS, dtype=np.int64),
        np.zeros(len(graph.low), dtype=bool),
    )
    leads = _leads(built) if criterion == "minority" else np.empty(0)
    refused = np.zeros(3)
    impurity = kernel_impurity(criterion)
    rates = _Rates(
        criterion_code(criterion), impurity.address,
        built.negative_rate, built.positive_rate, built.term_chance, leads, refused,
    )  # fmt: skip
    edges = _edges(built, program)
    # row d: the largest drop by a subtree of depth d
    largest = np.zeros((depth + 1, len(graph)))
    for level in range(1, depth + 1):
        run(_best_splits, len(graph), STEPS * len(graph.low), level, edges, rates, largest, best)
    impurity.settle()
    check_refused(criterion, refused)
    return best


def _edges(built: FamilyGraph, program: Program) -> Edges:
    graph = built.graph
    return Edges(
        graph.first, graph.low, graph.high, graph.value, built.edge_term,
        program.low_weight[:, 0].copy(), program.high_weight,
    )  # fmt: skip


def _leads(built: FamilyGraph) -> np.typing.NDArray[np.float64]:
    """P[y = 1] - P[y = 0] of every restriction, exactly where rounding matters."""
    family = built.family
    leads = built.positive_rate - built.negative_rate
    failures = [
        1 - math.prod((family.biases[value] for value in term), start=Fraction(1))
        for term in family.term_values
    ]
    for member in np.flatnonzero(np.abs(leads) < NEAR_EVEN).tolist():
        negative = math.prod(failures[term] for term in family.row(member))
        leads[member] = float(1 - 2 * negative)
    return leads


class FamilyGrowth:
    """Everything about a family that growing its members needs."""

    def __init__(self, family: Family, built: FamilyGraph, program: Program, max_size: int) -> None:
        self.max_size = max_size
        distinct = family.distinct_terms
        counts = [term.count(v) for term in family.term_values for v in sorted(set(term))]
        costs = np.array(family.costs, dtype=np.int64)
        self._arrays = FamilyArrays(
            Ranks(family.before, costs, family.capacity // int(costs[1:].min())),
            Moves(
                distinct.first_move,
                distinct.move_value,
                distinct.move_to,
                np.array(counts, dtype=np.int32),
            ),
            _edges(built, program),
            minority(built.positive_rate),
            program.start,
            program.errors,
        )

    def compare(self, rule: Grower, best: BestSplits, members: range) -> np.ndarray:
        """Grow a rule on some members; per member MIC, largest excess error and its size."""
        out = np.empty((len(members), 3))
        refused = np.zeros(2)
        seed = np.uint64(rule.with_seed().seed or 0)
        priority = kernel_priority(rule)
        kernel_rule = Rule(priority.address, TIES.index(rule.ties), seed, refused)
        run(
            compare, len(members), STEPS * len(members) * self.max_size,
            members.start, self.max_size, kernel_rule, self._arrays, best, out,
        )  # fmt: skip
        priority.settle()
        if refused[0]:
            value = float(refused[1])
            raise ValueError(f"a priority must be a number; {rule!r} gave {value!r}")
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
            gain = _gain(edge, state, edges, rates)
            for row in range(level):  # the deepest subtrees first
                below = edges.failed[kind] * largest[level - 1 - row, low]
                below += edges.satisfied[kind] * largest[level - 1 - row, high]
                drops[row, edge - begin] = gain + below
        best, tied = drops[0].max() if end > begin else 0.0, 0
        settled = settle_ties(drops)
        for edge in range(begin, end):
            out.tied[edge] = settled[edge - begin] >= 0
            if out.tied[edge]:
                tied += 1
                out.edge[state] = edge
        largest[level, state] = out.gain[state] = best
        if tied != 1 or best == 0.0:
            out.edge[state] = AMBIGUOUS


@jit
def _gain(edge, state, edges, rates):
    """The drop in impurity that a test brings, without cancellation unless by one's own."""
    low, high, kind = edges.low[edge], edges.high[edge], edges.value[edge]
    failed, satisfied = edges.failed[kind], edges.satisfied[kind]
    if rates.criterion == MINORITY:
        leads = rates.leads
        sign = -1.0 if leads[state] >= 0 else 1.0
        low_lead = max(0.0, sign * (leads[low] if low else -1.0))
        high_lead = max(0.0, sign * (leads[high] if high else 1.0))
        return failed * low_lead + satisfied * high_lead
    # number 0 is the constant: below a failed literal false, below a satisfied one true
    low_rates = (rates.negative[low], rates.positive[low]) if low else (1.0, 0.0)
    high_rates = (rates.negative[high], rates.positive[high]) if high else (0.0, 1.0)
    if rates.criterion == OWN:
        return own_gain(rates.impurity, failed, satisfied, low_rates, high_rates, rates.refused)
    gained = rates.chance[edges.term[edge]] / satisfied * low_rates[0]
    return gain_of_rates(
        rates.criterion, failed, satisfied, low_rates, high_rates, (-gained, gained)
    )
