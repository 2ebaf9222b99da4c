"""Grows a rule on every member of a family, with the best split of each restriction looked up.

The best split of a restriction does not depend on how a tree came to it. Only when splits of
different kinds tie does the choice depend on which variables are free at the leaf; then, and only
then, the member is grown again with its terms tracked.
"""

import math
import secrets
from dataclasses import dataclass
from fractions import Fraction

import numba
import numpy as np

from mictree._draws import MULTIPLIERS, STEP
from mictree._gains import CRITERION_CODES, MINORITY, gain_of_rates
from mictree._jit import jit, parallel_jit
from mictree.families import Family
from mictree.family_graph import CHUNK, FamilyGraph, unrank
from mictree.growers import TIE_TOLERANCE, TIES, Grower, is_built_in
from mictree.impurity import CRITERIA, minority
from mictree.mic import ROUNDING
from mictree.optimal.graph import Program
from mictree.problems.base import NEAR_EVEN

AMBIGUOUS = -1
SLACK = 1e-13  # differences of impurities are wrong by less, relative to the parent's impurity
RULE_CODES = {"topdown": 0, "bestfirst": 1, "id3": 2}
LAST, FIRST, RANDOM, HEAVIEST, LIGHTEST = range(5)
assert TIES == ("last", "first", "random", "heaviest", "lightest")
_STEP, _FIRST_FACTOR, _SECOND_FACTOR = (np.uint64(n) for n in (STEP, *MULTIPLIERS))
_SHIFTS = tuple(np.uint64(shift) for shift in (30, 27, 31, 1))


@dataclass(frozen=True)
class BestSplits:
    """The best split of every restriction by one criterion."""

    gain: np.typing.NDArray[np.float64]
    edge: np.typing.NDArray[np.int64]  # AMBIGUOUS where splits of several kinds tie
    tied: np.typing.NDArray[np.bool_]  # for each edge: whether it is one of the best


def best_splits(built: FamilyGraph, program: Program, criterion: str) -> BestSplits:
    """Compare all edges of each restriction."""
    graph = built.graph
    best = BestSplits(
        np.zeros(len(graph)),
        np.full(len(graph), AMBIGUOUS, dtype=np.int64),
        np.zeros(len(graph.low), dtype=bool),
    )
    weights = (program.low_weight[:, 0].copy(), program.high_weight)
    leads = _leads(built) if criterion == "minority" else np.empty(0)
    rates = (built.negative_rate, built.positive_rate, built.term_chance, leads)
    edges = (graph.low, graph.high, graph.value, built.edge_term)
    # of the smaller rate, which has a small relative error; so has the impurity
    impurity = CRITERIA[criterion](np.minimum(built.negative_rate, built.positive_rate))
    _best_splits(
        CRITERION_CODES[criterion], graph.first, edges, weights, rates, impurity,
        best.gain, best.edge, best.tied,
    )  # fmt: skip
    return best


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


def with_seed(rule: Grower) -> Grower:
    """A rule whose random ties, if any, are decided by a fixed seed."""
    if rule.ties != "random" or rule.seed is not None:
        return rule
    return type(rule)(rule.criterion, rule.ties, secrets.randbits(31))


class FamilyGrowth:
    """Everything about a family that growing its members needs."""

    def __init__(self, family: Family, built: FamilyGraph, program: Program, max_size: int) -> None:
        self.built, self.program, self.max_size = built, program, max_size
        distinct = family.distinct_terms
        counts = [term.count(v) for term in family.term_values for v in sorted(set(term))]
        costs = np.array(family.costs, dtype=np.int64)
        self._ranks = (family.before, costs, family.capacity // int(costs[1:].min()))
        copies = np.array(counts, dtype=np.int32)  # literals of a move's value in its term
        self._moves = (distinct.first_move, distinct.move_value, distinct.move_to, copies)
        graph = built.graph
        self._graph = (graph.first, graph.low, graph.high, graph.value, built.edge_term)
        self._weights = (program.low_weight[:, 0].copy(), program.high_weight)
        self._minority = minority(built.positive_rate)

    def compare(self, rule: Grower, best: BestSplits, members: range) -> np.ndarray:
        """Grow a rule on some members; per member MIC, largest excess error and its size."""
        out = np.empty((len(members), 3))
        seed = np.uint64(with_seed(rule).seed or 0)
        assert is_built_in(rule)  # sweep refuses others
        codes = (RULE_CODES[rule.name], TIES.index(rule.ties), seed)
        _compare(
            members.start, self.max_size, codes, self._ranks, self._moves, self._graph,
            self._weights, self._minority, best.gain, best.edge, best.tied,
            self.program.start, self.program.errors, out,
        )  # fmt: skip
        return out


@parallel_jit
def _best_splits(criterion, first, edges, weights, rates, impurity, out_gain, out_edge, out_tied):
    """Write each restriction's largest gain, its edge unless several tie or none gains, and all."""
    most = 0
    for state in range(len(out_gain)):
        most = max(most, first[state + 1] - first[state])
    for chunk in numba.prange((len(out_gain) + CHUNK - 1) // CHUNK):
        gains = np.empty(most)
        for state in range(chunk * CHUNK, min(len(out_gain), (chunk + 1) * CHUNK)):
            begin, end = first[state], first[state + 1]
            largest = _fill_gains(
                criterion, state, begin, end, edges, weights, rates, impurity, gains
            )
            out_gain[state] = largest
            tied = 0
            for edge in range(begin, end):
                if gains[edge - begin] >= largest - TIE_TOLERANCE * largest:
                    tied += 1
                    out_tied[edge] = True
                    out_edge[state] = edge
            if tied != 1 or largest == 0.0:
                out_edge[state] = AMBIGUOUS


@jit
def _fill_gains(criterion, state, begin, end, edges, weights, rates, impurity, out):
    """Write the gains of a restriction's edges, -1 where surely not the largest, which it returns.

    Differences of impurities, which are fast, say which may be the largest.
    """
    low, high, value, _ = edges
    failed, satisfied = weights
    fast, largest = 0.0, 0.0
    for edge in range(begin, end):
        kind = value[edge]
        after = failed[kind] * impurity[low[edge]] + satisfied[kind] * impurity[high[edge]]
        out[edge - begin] = impurity[state] - after
        fast = max(fast, out[edge - begin])
    candidate = fast - TIE_TOLERANCE * fast - SLACK * impurity[state]
    for edge in range(begin, end):
        if out[edge - begin] < candidate:
            out[edge - begin] = -1.0
            continue
        out[edge - begin] = _gain(criterion, edge, state, edges, weights, rates)
        largest = max(largest, out[edge - begin])
    return largest


@jit
def _gain(criterion, edge, state, edges, weights, rates):
    """The drop in impurity that a test brings, without cancellation."""
    lows, highs, values, terms = edges
    failed, satisfied = weights
    negative, positive, chance, leads = rates
    low, high, kind = lows[edge], highs[edge], values[edge]
    if criterion == MINORITY:
        sign = -1.0 if leads[state] >= 0 else 1.0
        low_lead = max(0.0, sign * (leads[low] if low else -1.0))
        high_lead = max(0.0, sign * (leads[high] if high else 1.0))
        return failed[kind] * low_lead + satisfied[kind] * high_lead
    # number 0 is the constant: below a failed literal false, below a satisfied one true
    low_rates = (negative[low], positive[low]) if low else (1.0, 0.0)
    high_rates = (negative[high], positive[high]) if high else (0.0, 1.0)
    gained = chance[terms[edge]] / satisfied[kind] * low_rates[0]
    return gain_of_rates(
        criterion, failed[kind], satisfied[kind], low_rates, high_rates, (-gained, gained)
    )


@parallel_jit
def _compare(
    first_member, max_size, codes, ranks, moves, graph, weights, minority, best_gain, best_edge,
    best_tied, start, optimal, out,
):  # fmt: skip
    """Grow each member, untracked where that suffices, and compare with its optimal errors."""
    before, costs, most_terms = ranks
    for number in numba.prange(len(out)):
        member = first_member + number
        errors = np.empty(max_size + 1)
        terms = np.empty((max_size + 3, 0), dtype=np.int64)
        while not _grow(
            member, codes, terms, moves, graph, weights, minority, best_gain, best_edge,
            best_tied, errors,
        ):  # fmt: skip
            row = np.zeros(most_terms + 1, dtype=np.int64)
            length = unrank(member, before, costs, row)
            # one row per open leaf: its terms in declared order, the falsified ones negative
            terms = np.empty((max_size + 3, length), dtype=np.int64)
            terms[0] = row[:length][::-1]
        best = optimal[start[member] : start[member + 1]]
        for size in range(max_size + 1):  # errors becomes excess errors
            errors[size] = max(errors[size] - best[min(size, len(best) - 1)], 0.0)
        largest = errors.max()
        worst = 0
        while errors[worst] < largest - ROUNDING:
            worst += 1
        out[number, 0], out[number, 1], out[number, 2] = errors[1:].mean(), largest, worst


@jit
def _grow(
    member, codes, terms, moves, graph, weights, minority, best_gain, best_edge, best_tied,
    out_errors,
):  # fmt: skip
    """Grow one member and write its errors by size.

    Open leaves are kept in order of creation. With ``terms`` tracked the first row holds the
    member's terms; without (no columns) the growth gives up, returning False, where kinds tie.
    """
    rule, ties, seed = codes
    _, low, high, value, _ = graph
    failed, satisfied = weights
    tracked = terms.shape[1] > 0
    most = len(terms)
    states = np.empty(most, dtype=np.int64)
    reaches, priorities = np.empty(most), np.empty(most)
    leaf_arrays = (states, reaches, priorities)
    draws = np.array([seed], dtype=np.uint64)
    states[0], reaches[0], priorities[0] = member, 1.0, 0.0
    leaves = 1
    error = minority[member]
    out_errors[:] = error
    for step in range(1, len(out_errors)):
        if leaves == 0:
            out_errors[step:] = error
            break
        leaf = _choose_leaf(ties, leaves, priorities, reaches, draws)
        state, reach = states[leaf], reaches[leaf]
        edge, place = best_edge[state], 0
        if tracked:
            edge, place, kind = _choose_test(
                ties, state, terms[leaf], moves, graph, best_tied, best_gain[state], draws
            )
        elif edge == AMBIGUOUS:
            return False
        else:
            if ties == RANDOM:
                _draw(draws)  # for the variable: all tied ones are of one kind
            kind = value[edge]
        below = low[edge] if edge >= 0 else state  # a variable without effect changes nothing
        above = high[edge] if edge >= 0 else state
        if edge >= 0:
            after = failed[kind] * minority[below] + satisfied[kind] * minority[above]
            error += reach * (after - minority[state])
        out_errors[step] = error
        if tracked:  # after the last leaf: room for both children
            _split_terms(terms, leaf, leaves, place, kind, edge >= 0, moves)
        _remove(leaf, leaves, states, reaches, priorities, terms)
        leaves -= 1
        if below != 0:
            weight = reach * failed[kind]
            _append(leaves, below, weight, 2 * step + 1, rule, best_gain, leaf_arrays)
            leaves += 1
        if above != 0:
            if tracked:
                terms[leaves] = terms[leaves + 1 if below == 0 else leaves]
            weight = reach * satisfied[kind]
            _append(leaves, above, weight, 2 * step, rule, best_gain, leaf_arrays)
            leaves += 1
    return True


@jit
def _append(leaves, state, reach, born, rule, best_gain, leaf_arrays):
    """Add an open leaf behind the others."""
    states, reaches, priorities = leaf_arrays
    states[leaves], reaches[leaves] = state, reach
    if rule == 0:
        priorities[leaves] = reach * best_gain[state]
    elif rule == 1:
        priorities[leaves] = best_gain[state]
    else:
        priorities[leaves] = born


@jit
def _remove(leaf, leaves, states, reaches, priorities, terms):
    """Close the gap of a split leaf; moves the two rows of terms behind the last leaf along."""
    for later in range(leaf, leaves - 1):
        states[later] = states[later + 1]
        reaches[later] = reaches[later + 1]
        priorities[later] = priorities[later + 1]
    if terms.shape[1] > 0:
        for later in range(leaf, leaves + 1):
            terms[later] = terms[later + 1]


@jit
def _split_terms(terms, leaf, leaves, place, kind, alive, moves):
    """Write the terms of both children behind the last leaf's."""
    first_move, move_value, move_to, _ = moves
    low, high = terms[leaves], terms[leaves + 1]
    low[:] = terms[leaf]
    high[:] = terms[leaf]
    term = abs(terms[leaf, place])
    shorter = 0
    for move in range(first_move[term], first_move[term + 1]):
        if move_value[move] == kind:
            shorter = move_to[move]
    low[place] = -shorter
    high[place] = shorter if alive else -shorter


@jit
def _choose_leaf(ties, leaves, priorities, reaches, draws):
    """The open leaf of largest priority; ``draws`` moves on when ties are random."""
    largest = priorities[0]
    for leaf in range(1, leaves):
        if priorities[leaf] > largest:
            largest = priorities[leaf]
    least = largest - TIE_TOLERANCE * largest
    if ties == LAST:
        leaf = leaves - 1
        while priorities[leaf] < least:
            leaf -= 1
        return leaf
    if ties == FIRST:
        leaf = 0
        while priorities[leaf] < least:
            leaf += 1
        return leaf
    if ties == RANDOM:
        tied = 0
        for leaf in range(leaves):
            tied += priorities[leaf] >= least
        skip = np.int64(_draw(draws) % np.uint64(tied))
        for leaf in range(leaves):
            if priorities[leaf] >= least:
                if skip == 0:
                    return leaf
                skip -= 1
    return _choose_by_reach(ties, leaves, priorities, reaches, least)


@jit
def _choose_by_reach(ties, leaves, priorities, reaches, least):
    """The last of the heaviest, or lightest, leaves of sufficient priority."""
    heaviest, lightest = 0.0, np.inf
    for leaf in range(leaves):
        if priorities[leaf] >= least:
            heaviest, lightest = max(heaviest, reaches[leaf]), min(lightest, reaches[leaf])
    from_, to = heaviest - TIE_TOLERANCE * heaviest, np.inf
    if ties == LIGHTEST:
        from_, to = 0.0, lightest * (1 + TIE_TOLERANCE)
    leaf = leaves - 1
    while priorities[leaf] < least or reaches[leaf] < from_ or reaches[leaf] > to:
        leaf -= 1
    return leaf


@jit
def _choose_test(ties, state, terms, moves, graph, best_tied, largest, draws):
    """The tied variable to test: its edge (AMBIGUOUS: it has no effect), term and value."""
    first_move, move_value, _, move_count = moves
    first, _, _, value, edge_term = graph
    skip = np.int64(-1)
    if ties == RANDOM:
        skip = np.int64(_draw(draws) >> np.uint64(0))
    chosen = (np.int64(AMBIGUOUS), 0, 0)
    tied = 0
    for again in range(2):
        seen = 0
        for place in range(len(terms)):
            term = abs(terms[place])
            for move in range(first_move[term], first_move[term + 1]):
                edge = np.int64(AMBIGUOUS)
                is_best = largest == 0  # a variable without effect gains nothing
                if terms[place] > 0:
                    for candidate in range(first[state], first[state + 1]):
                        if edge_term[candidate] == term and value[candidate] == move_value[move]:
                            edge = candidate
                    is_best = best_tied[edge]
                if not is_best:
                    continue
                chosen_now = (edge, place, np.int64(move_value[move]))
                if ties == FIRST:
                    return chosen_now
                if again == 1 and seen <= skip and skip < seen + move_count[move]:
                    return chosen_now
                seen += move_count[move]
                chosen = chosen_now
        if ties != RANDOM:
            return chosen
        tied = seen
        skip = skip % tied
    return chosen


@jit
def _draw(draws):
    """The next number of the stream that ``Draws`` defines."""
    draws[0] += _STEP
    mixed = draws[0]
    mixed = (mixed ^ (mixed >> _SHIFTS[0])) * _FIRST_FACTOR
    mixed = (mixed ^ (mixed >> _SHIFTS[1])) * _SECOND_FACTOR
    return (mixed ^ (mixed >> _SHIFTS[2])) >> _SHIFTS[3]
