"""The gains of all tests of all restrictions of a family, by one criterion."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit
from mictree.families.graph import FamilyGraph
from mictree.families.growth_kernel import Edges
from mictree.growers.functions import check_refused, criterion_code, kernel_impurity
from mictree.impurity import Criterion
from mictree.impurity.gains import MINORITY, OWN, gain_of_rates, own_gain
from mictree.optimal.dynamic.program import Program
from mictree.problems.base import NEAR_EVEN


class Rates(NamedTuple):
    """What a restriction's impurity and the gains of its tests come from."""

    criterion: int
    impurity: int  # the address of a function, for criterion OWN
    negative: np.ndarray
    positive: np.ndarray
    chance: np.ndarray  # that a term is satisfied
    leads: np.ndarray  # P[y = 1] - P[y = 0], for criterion MINORITY
    refused: np.ndarray  # as of own_gain


class FamilyGains:
    """A criterion's gains for kernels; call ``settle`` when a kernel is done."""

    def __init__(self, built: FamilyGraph, criterion: Criterion) -> None:
        self._criterion = criterion
        self._impurity = kernel_impurity(criterion)
        self.rates = Rates(
            criterion_code(criterion), self._impurity.address,
            built.negative_rate, built.positive_rate, built.term_chance,
            _leads(built) if criterion == "minority" else np.empty(0), np.zeros(3),
        )  # fmt: skip

    def settle(self) -> None:
        """Raise what a user's function raised, and refuse what is no impurity."""
        self._impurity.settle()
        check_refused(self._criterion, self.rates.refused)


def family_edges(built: FamilyGraph, program: Program) -> Edges:
    """A family's tests for kernels."""
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


@jit
def edge_gain(edge, state, edges, rates):
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
