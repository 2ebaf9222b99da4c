"""Growing rules on every member of a family of formulas: gains, the loop, merged growth, sizes.

A leaf is the number of its restriction. The best split of a restriction does not depend on how a
tree came to it, so it is computed once for all members (``best_splits``) and looked up. Only where
splits of different kinds tie does the choice depend on which variables are free at the leaf. Then,
and only then, a member is grown again with the terms of every leaf tracked, the falsified ones too.

Most members need no loop. A tree grown on a restriction is its root split with a tree below each
branch, and the next leaf of the whole tree is the next one of either branch. So its splits, in the
order in which they are made, are those of both children merged. A child's order does not depend on
the other child: reach weighs all priorities of a branch alike, and leaves of a branch keep their
order of creation. ``MergedGrowth`` holds these orders; members that it cannot tell are left to the
loop, and the errors of all others are the same floats as the loop's.

Trees that may test only the best splits of a node are those of ``allowed_graph``. Which tests are
allowed depends on nothing but the restriction, so all members share them. ``greedy_sizes`` counts
the splits that greedy trees need until they make no error.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import inner_jit, jit, run
from mictree.excess import ROUNDING
from mictree.families.family import Family
from mictree.families.graph import FamilyGraph, unrank
from mictree.growers.choosing import (
    RuleFunctions,
    any_open,
    built_in_name,
    check_refused,
    choose_leaf,
    close_leaf,
    criterion_code,
    kernel_impurity,
    leaf_priority,
    least_of_best,
    new_frontier,
    open_leaf,
    pick,
    settle_ties,
)
from mictree.growers.rules import TIES, BestFirst, Grower, Lookahead, TopDown
from mictree.impurity import Criterion
from mictree.impurity.criteria import minority
from mictree.impurity.gains import MINORITY, OWN, gain_of_rates, own_gain
from mictree.optimal.allowed import count_literals
from mictree.optimal.lattice import Graph
from mictree.optimal.program import Program, row_starts
from mictree.optimal.solve import Top
from mictree.problems.base import NEAR_EVEN

AMBIGUOUS = -1
STEPS = 100  # inner steps that an edge or a split costs, see run


class BestSplits(NamedTuple):
    """The best split of every restriction by one criterion."""

    gain: np.typing.NDArray[np.float64]
    tied: np.typing.NDArray[np.bool_]  # for each edge: whether it is one of the best
    # what growth looks up side by side: the restrictions below the split and the literal's value,
    # AMBIGUOUS where splits of several kinds tie; and the gain beside the error of a lone leaf and
    # what the split adds to it
    split: np.typing.NDArray[np.int32]
    worth: np.typing.NDArray[np.float64]


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


class FamilyGrowth:
    """Everything about a family that growing its members needs."""

    def __init__(
        self, family: Family, built: FamilyGraph, program: Program, max_size: int, room: int
    ) -> None:
        """``room`` is in bytes, for rows of splits; see ``MergedGrowth``."""
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
        functions = RuleFunctions(rule)
        run(
            _compare, len(members), STEPS * len(members) * self.max_size,
            members.start, self.max_size, Rule.of(rule, functions), self.arrays, best,
            *self._merged.splits(rule, best), out,
        )  # fmt: skip
        functions.settle()
        return out


Rows = tuple[np.ndarray, np.ndarray]  # where each row begins, and all of them


def compare_errors(max_size: int, rows: Rows, optimal: Rows) -> np.ndarray:
    """MIC, largest excess error and its size of rows of errors; a row for each of them."""
    count = len(rows[0]) - 1
    out = np.empty((count, 3))
    run(compare_rows, count, max_size * count, max_size, *rows, *optimal, out)
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


class Edges(NamedTuple):
    """All tests of all restrictions; those of number n are from first[n] to first[n + 1]."""

    first: np.ndarray
    low: np.ndarray  # the restriction when the literal fails; 0 is a constant
    high: np.ndarray  # when it is satisfied
    value: np.ndarray  # of the literal, an index of biases
    term: np.ndarray  # that it is tested in
    failed: np.ndarray  # for each value: the probability that a literal fails
    satisfied: np.ndarray


class Moves(NamedTuple):
    """What is left of each distinct term once a literal is satisfied."""

    first: np.ndarray
    value: np.ndarray
    to: np.ndarray
    copies: np.ndarray  # the literals of that value in the term


class Ranks(NamedTuple):
    """What ``unrank`` needs to write a member's terms."""

    before: np.ndarray
    costs: np.ndarray
    most_terms: int


class FamilyArrays(NamedTuple):
    """A family with its restrictions and their optimal errors."""

    ranks: Ranks
    moves: Moves
    edges: Edges
    start: np.ndarray  # where its optimal errors begin
    optimal: np.ndarray


class Rule(NamedTuple):
    """Which leaf is split next."""

    priority: int  # the address of a function
    ties: int
    seed: np.uint64
    refused: np.ndarray  # True and the value where a priority is none

    @classmethod
    def of(cls, rule: Grower, functions: RuleFunctions) -> Rule:
        """For kernels; a random seed if ties are random and the rule has none."""
        seed = np.uint64(rule.with_seed().seed or 0)
        ties = TIES.index(rule.ties)
        return cls(functions.priority.address, ties, seed, functions.refused_priority)


@jit
def grow_member(member, rule, family, best, out_errors):
    """Grow a member, untracked where that suffices, and write its errors by size."""
    terms = np.empty((0, 0), dtype=np.int64)
    if not _grow(member, rule, family, best, terms, out_errors):
        row = np.zeros(family.ranks.most_terms + 1, dtype=np.int64)
        length = unrank(member, family.ranks.before, family.ranks.costs, row)
        # one row per leaf: its terms in declared order, the falsified ones negative
        terms = np.empty((2 * len(out_errors) - 1, length), dtype=np.int64)
        terms[0] = row[:length][::-1]
        _grow(member, rule, family, best, terms, out_errors)


@jit
def note_excess(errors, optimal, out):
    """Write MIC, the largest excess error and its size; turns errors into excess errors.

    The last optimal error stands for all larger sizes.
    """
    total, largest = 0.0, 0.0
    for size in range(len(errors)):
        excess = max(errors[size] - optimal[min(size, len(optimal) - 1)], 0.0)
        errors[size] = excess
        total += excess if size > 0 else 0.0
        largest = max(largest, excess)
    worst = 0
    while errors[worst] < largest - ROUNDING:
        worst += 1
    out[0], out[1], out[2] = total / (len(errors) - 1), largest, worst


@jit
def compare_rows(begin, stop, max_size, start, errors, optimal_start, optimal, out):
    """Compare rows of errors by size with optimal ones; the last size of a row stands for all."""
    excess = np.empty(max_size + 1)
    for place in range(begin, stop):
        row = errors[start[place] : start[place + 1]]
        for size in range(max_size + 1):
            excess[size] = row[min(size, len(row) - 1)]
        least = optimal[optimal_start[place] : optimal_start[place + 1]]
        note_excess(excess, least, out[place])


@jit
def _grow(member, rule, family, best, terms, out_errors):
    """Grow one member and write its errors by size.

    With ``terms`` tracked the first row holds the member's terms; without (no rows) the growth
    gives up, returning False, where kinds tie.
    """
    # taken out of their tuples once: each access counts references
    split, worth = best.split, best.worth
    low, high = family.edges.low, family.edges.high
    failed, satisfied = family.edges.failed, family.edges.satisfied
    address, ties, refused = rule.priority, rule.ties, rule.refused
    tracked = len(terms) > 0
    capacity = 2 * len(out_errors) - 1
    frontier = new_frontier(capacity)
    reaches = frontier.reach
    states = np.zeros(capacity, dtype=np.int64)
    draws = np.array([rule.seed], dtype=np.uint64)
    states[0] = member
    open_leaf(frontier, 0, 1.0, leaf_priority(address, 1.0, worth[member, 0], 0, refused))
    error = worth[member, 1]
    out_errors[:] = error
    for step in range(1, len(out_errors)):
        if not any_open(frontier):
            out_errors[step:] = error
            break
        leaf = choose_leaf(frontier, ties, draws)
        state, reach = states[leaf], reaches[leaf]
        below, above, kind = np.int64(split[state, 0]), np.int64(split[state, 1]), split[state, 2]
        place, alive = 0, True
        if tracked:
            edge, place, kind = _choose_test(state, terms[leaf], ties, family, best, draws)
            alive = edge >= 0
            below = above = state  # a variable without effect changes nothing
            if alive:
                below, above = np.int64(low[edge]), np.int64(high[edge])
        elif kind == AMBIGUOUS:
            return False
        else:
            pick(np.int64(1), ties, draws)  # all tied variables are of one kind
        close_leaf(frontier, leaf)
        if alive:
            after = failed[kind] * worth[below, 1] + satisfied[kind] * worth[above, 1]
            error += reach * (after - worth[state, 1])
        out_errors[step] = error
        if tracked:
            _split_terms(terms, leaf, 2 * step - 1, place, kind, alive, family.moves)
        if below != 0:
            states[2 * step - 1] = below
            share = reach * failed[kind]
            first = leaf_priority(address, share, worth[below, 0], 2 * step + 1, refused)
            open_leaf(frontier, 2 * step - 1, share, first)
        if above != 0:
            states[2 * step] = above
            share = reach * satisfied[kind]
            second = leaf_priority(address, share, worth[above, 0], 2 * step, refused)
            open_leaf(frontier, 2 * step, share, second)
        if refused[0]:
            break
    return True


@jit
def _split_terms(terms, leaf, low, place, kind, alive, moves):
    """Write the terms of both children."""
    terms[low] = terms[leaf]
    terms[low + 1] = terms[leaf]
    term = abs(terms[leaf, place])
    shorter = 0
    for move in range(moves.first[term], moves.first[term + 1]):
        if moves.value[move] == kind:
            shorter = moves.to[move]
    terms[low, place] = -shorter
    terms[low + 1, place] = shorter if alive else -shorter


@jit
def _choose_test(state, terms, ties, family, best, draws):
    """The tied variable to test: its edge (AMBIGUOUS: it has no effect), term and value."""
    moves = family.moves
    room = 0
    for term in terms:
        room += moves.first[abs(term) + 1] - moves.first[abs(term)]
    tied = np.empty((room, 4), dtype=np.int64)
    found, count = 0, np.int64(0)
    for place in range(len(terms)):
        term = abs(terms[place])
        for move in range(moves.first[term], moves.first[term + 1]):
            edge = np.int64(AMBIGUOUS)
            is_best = best.gain[state] == 0  # a variable without effect gains nothing
            if terms[place] > 0:
                edge = _edge_of(state, term, moves.value[move], family.edges)
                is_best = best.tied[edge]
            if is_best:
                tied[found, 0], tied[found, 1], tied[found, 2] = edge, place, moves.value[move]
                tied[found, 3] = moves.copies[move]
                count += moves.copies[move]
                found += 1
    skip = pick(count, ties, draws)
    chosen = 0
    while skip >= tied[chosen, 3]:
        skip -= tied[chosen, 3]
        chosen += 1
    return tied[chosen, 0], tied[chosen, 1], tied[chosen, 2]


@jit
def _edge_of(state, term, value, edges):
    """The test of a literal of a value in a term."""
    edge = np.int64(edges.first[state])
    while edges.term[edge] != term or edges.value[edge] != value:
        edge += 1
    return edge


SAME, CLEAR = 1e-13, 1e-9  # relative to the larger of two priorities
MOST_LITERALS = 200  # so many times SAME is a fifth of TIE_TOLERANCE
PURE = -np.inf
TINY = 1e-290  # smaller priorities may have lost digits
BYTES_EACH = 12  # of an entry
ENTRY_STEPS = 50  # inner steps that an entry costs, see run
LOW, HIGH, TIED, UNCLEAR = 0, 1, -1, -2
WEIGHTED = (TopDown.priority.__qualname__, Lookahead.priority.__qualname__)
UNWEIGHTED = (BestFirst.priority.__qualname__,)


class Splits(NamedTuple):
    """Splits in the order of growth: one row, or all rows one after another."""

    priority: np.ndarray
    leaf: np.ndarray
    reach: np.ndarray  # empty where no tie looks at it


class SortedRows(NamedTuple):
    """The splits of restrictions; those that are no child of a best split have an empty row."""

    start: np.ndarray  # where the row of each restriction begins; empty: there are no rows
    splits: Splits


class Order(NamedTuple):
    """Which of two leaves is split first."""

    weighted: bool  # whether reach weighs priorities
    heavy: int  # 1 or -1: of tied leaves the heaviest or lightest; 0: as below
    first: bool  # whether the first of tied leaves is split, not the last


def order_of(rule: Grower) -> Order | None:
    """How a rule's growths are merged; None if they cannot be."""
    name = built_in_name(rule)
    if name not in WEIGHTED + UNWEIGHTED or rule.ties == "random":
        return None
    heavy = {"heaviest": 1, "lightest": -1}.get(rule.ties, 0)
    return Order(name in WEIGHTED, heavy, rule.ties == "first")


class MergedGrowth:
    """The splits of one rule at a time on all restrictions of a family that are children.

    A row holds the splits of one restriction in order: the priority of each split leaf, and its
    number. The root has 0, and split number s, from 1, makes the low child 2s and the high child
    2s + 1. Where a row ends early, a last entry says why: priority ``PURE`` where no leaf is left,
    and a number's complement, which is negative, where merging cannot tell how the leaf is split. A
    member whose growth comes to such a leaf is grown by ``grow_member`` instead.

    Leaves tie when they differ by at most ``TIE_TOLERANCE``, which is not transitive. Here two
    heads must differ by at most ``SAME`` or by more than ``CLEAR``; otherwise the row ends. Then
    the choice is the loop's. To see this, call the next leaf of a subtree of depth d its head. By
    induction over d, every open leaf of the subtree either differs from the head by at most d
    ``SAME``, or is smaller by more than ``CLEAR`` less d ``SAME``. Up to ``MOST_LITERALS`` the
    first is well below ``TIE_TOLERANCE`` and the second well above, rounding included. So the
    leaves that tie with the largest are exactly those of the first sort, and of these the head is
    the last (or first) created, because each merge chose so. The same holds for the reaches of tied
    leaves where the heaviest or lightest is split.
    """

    def __init__(self, graph: Graph, edges: Edges, max_size: int, room: int) -> None:
        """``room`` is in bytes."""
        self._graph, self._edges, self._max_size, self._room = graph, edges, max_size, room
        self._order: Order | None = None
        self._best: BestSplits | None = None
        self._rows = NO_ROWS

    def splits(self, rule: Grower, best: BestSplits) -> tuple[Order, SortedRows]:
        """For ``merged_errors``; no rows if they cannot be merged or need too much memory."""
        order = order_of(rule)
        if order is None:
            return Order(False, 0, False), NO_ROWS
        if self._best is not best or self._order != order:
            self._rows = self._room_for(best, order)
            self._order = None  # an interrupted call leaves rows of no rule
            if len(self._rows.start):
                self._fill(best, order)
            self._order, self._best = order, best
        return order, self._rows

    def _room_for(self, best: BestSplits, order: Order) -> SortedRows:
        """The rows of the rule before where they will do, as new memory takes time, or new ones."""
        before = self._order
        if before and self._best is best and bool(before.heavy) == bool(order.heavy):
            return self._rows
        self._rows = NO_ROWS  # not both at once
        start = self._starts(best)
        bytes_each = BYTES_EACH + (8 if order.heavy else 0)
        fits = bytes_each * int(start[-1]) <= self._room
        if not fits or self._graph.literals.max() > MOST_LITERALS:
            return NO_ROWS
        return SortedRows(start, _new_splits(start[-1], order.heavy))

    def _fill(self, best: BestSplits, order: Order) -> None:
        """Write all rows, those of restrictions with fewer literals first."""
        graph, start = self._graph, self._rows.start
        child = graph.order[np.diff(start)[graph.order] > 0]
        begin = 0
        for end in (np.flatnonzero(np.diff(graph.literals[child], append=-1)) + 1).tolist():
            some = child[begin:end]
            work = ENTRY_STEPS * float((start[some + 1] - start[some]).sum())
            run(_fill_rows, len(some), work, some, best, self._edges, order, self._rows)
            begin = end

    def _starts(self, best: BestSplits) -> np.ndarray:
        """Where each row begins."""
        graph = self._graph
        lengths = np.empty(len(graph), dtype=np.int64)
        _fill_lengths(graph.order, best.split, self._max_size, lengths)
        child = np.zeros(len(graph), dtype=bool)
        child[best.split[best.split[:, 2] != AMBIGUOUS, :2]] = True
        return row_starts(lengths * child)


@jit
def _new_splits(entries, heavy):
    """Room for so many splits."""
    return Splits(
        np.empty(entries), np.empty(entries, dtype=np.int32), np.empty(entries if heavy else 0)
    )


NO_ROWS = SortedRows(
    np.empty(0, dtype=np.int64),
    Splits(np.empty(0), np.empty(0, dtype=np.int32), np.empty(0)),
)


@jit
def _fill_lengths(order, split, max_size, out_lengths):
    """The entries that each row may have: one for each split and one for the end."""
    for state in order:
        out_lengths[state] = 1
        if split[state, 2] != AMBIGUOUS:
            both = out_lengths[split[state, 0]] + out_lengths[split[state, 1]]
            out_lengths[state] = min(both, max_size)


@jit
def _fill_rows(begin, stop, states, best, edges, order, rows):
    """Write the rows of some restrictions; those of their children are complete."""
    born = np.empty((2, 1), dtype=np.int32)
    for place in range(begin, stop):
        out = _row(rows, states[place])
        if len(out.leaf) > born.shape[1]:
            born = np.empty((2, len(out.leaf)), dtype=np.int32)
        _merge(states[place], best, edges, order, rows, born, out)


@inner_jit
def _row(rows, state):
    """The splits of one restriction."""
    begin, stop = rows.start[state], rows.start[state + 1]
    splits = rows.splits
    return Splits(splits.priority[begin:stop], splits.leaf[begin:stop], splits.reach[begin:stop])


@inner_jit
def _merge(state, best, edges, order, rows, born, out):
    """Write a restriction's row, as many entries as there is room for.

    ``born`` is overwritten: for both children, by the number of a split in the child's row, the
    number of the low leaf that it makes here.
    """
    kind = best.split[state, 2]
    told = kind != AMBIGUOUS
    _write(out, 0, best.worth[state, 0] if state else PURE, 0 if told else ~0, 1.0)
    if not told:
        return
    priority, leaf, reach = rows.splits
    heavy, first = order.heavy, order.first
    failed, satisfied = edges.failed[kind], edges.satisfied[kind]
    low_weight, high_weight = (failed, satisfied) if order.weighted else (1.0, 1.0)
    low, high = rows.start[best.split[state, 0]], rows.start[best.split[state, 1]]
    low_head, high_head = low_weight * priority[low], high_weight * priority[high]
    lows = highs = 0  # how many splits of each child are made
    born[LOW, 0], born[HIGH, 0] = 2, 3
    for step in range(1, len(out.leaf)):
        if max(low_head, high_head) < TINY:
            _write(out, step, max(low_head, high_head), ~0, 1.0)
            return
        side = _larger(low_head, high_head)
        if side == TIED and heavy != 0:
            side = _larger(failed * reach[low], satisfied * reach[high])
            side = HIGH - side if heavy < 0 and side >= 0 else side
        if side == TIED:
            earlier = _number(born, LOW, leaf[low]) < _number(born, HIGH, leaf[high])
            side = LOW if earlier == first else HIGH
        if side == UNCLEAR:
            _write(out, step, np.inf, ~0, 1.0)
            return
        place, share = (low, failed) if side == LOW else (high, satisfied)
        number = _number(born, side, leaf[place])
        told = leaf[place] >= 0
        _write(
            out, step, low_head if side == LOW else high_head, number if told else ~number,
            share * reach[place] if heavy != 0 else 1.0,
        )  # fmt: skip
        if not told:
            return
        if side == LOW:
            low, lows = low + 1, lows + 1
            low_head = low_weight * priority[low]
            born[LOW, lows] = 2 * step + 2
        else:
            high, highs = high + 1, highs + 1
            high_head = high_weight * priority[high]
            born[HIGH, highs] = 2 * step + 2


@inner_jit
def _write(out, place, priority, leaf, reach):
    """One entry of a row."""
    out.priority[place], out.leaf[place] = priority, leaf
    if len(out.reach) > 0:
        out.reach[place] = reach


@inner_jit
def _number(born, side, leaf):
    """The number of a child's leaf among the leaves of its parent."""
    leaf = max(leaf, ~leaf)  # as it is or its complement
    return born[side, leaf >> 1] + (leaf & 1)


@inner_jit
def _larger(low, high):
    """Which of two numbers is larger."""
    larger, smaller = max(low, high), min(low, high)
    if larger < TINY:
        return UNCLEAR
    if smaller > larger * (1 - CLEAR):
        return TIED if smaller >= larger * (1 - SAME) else UNCLEAR
    return LOW if low > high else HIGH


class Scratch(NamedTuple):
    """What ``merged_errors`` overwrites."""

    row: Splits
    born: np.ndarray
    states: np.ndarray
    reaches: np.ndarray


@jit
def new_scratch(max_size, heavy):
    """Room for the growth of one member."""
    return Scratch(
        _new_splits(max_size, heavy),
        np.empty((2, max_size), dtype=np.int32),
        np.empty(2 * max_size + 2, dtype=np.int32),
        np.empty(2 * max_size + 2),
    )


@jit
def merged_errors(member, best, edges, order, rows, scratch, out_errors):
    """Grow a member as its row says, and write its errors by size; False if the row ends before."""
    if len(rows.start) == 0:
        return False
    row = _row(rows, member)
    if len(row.leaf) == 0:
        row = scratch.row
        _merge(member, best, edges, order, rows, scratch.born, row)
    split, worth, states, reaches = best.split, best.worth, scratch.states, scratch.reaches
    failed, satisfied = edges.failed, edges.satisfied
    states[0], reaches[0] = member, 1.0
    error = worth[member, 1]
    out_errors[0] = error
    for size in range(1, len(out_errors)):
        if row.priority[size - 1] == PURE:
            out_errors[size:] = error
            break
        leaf = row.leaf[size - 1]
        if leaf < 0:
            return False
        state, reach = states[leaf], reaches[leaf]
        error += reach * worth[state, 2]
        out_errors[size] = error
        kind = split[state, 2]
        states[2 * size], states[2 * size + 1] = split[state, 0], split[state, 1]
        reaches[2 * size] = reach * failed[kind]
        reaches[2 * size + 1] = reach * satisfied[kind]
    return True


def allowed_graph(built: FamilyGraph, arrays: FamilyArrays, top: Top) -> Graph:
    """All restrictions, each with the edges that count among its ``top`` best.

    Every literal counts, so several of one value take several places: independent variables never
    divide inputs alike.
    """
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
    """Mark the edges of some restrictions that count among the ``top`` best."""
    row = np.zeros(ranks.most_terms + 1, dtype=np.int64)
    for state in range(start, stop):
        begin, end = edges.first[state], edges.first[state + 1]
        length = unrank(state, ranks.before, ranks.costs, row)
        literals = count_literals(row[:length], moves.first, moves.copies, end - begin)
        gains = np.empty(end - begin)
        for edge in range(begin, end):
            gains[edge - begin] = edge_gain(edge, state, edges, rates)
        least = least_of_best(gains, literals, top)
        for edge in range(begin, end):
            out_allowed[edge] = gains[edge - begin] >= least


EXACT = 2.0**53  # larger numbers of leaves are not all floats
UNKNOWN = -1  # a size beyond that


def greedy_sizes(graph: Graph, best: BestSplits, memory_limit: int) -> tuple[np.ndarray, ...]:
    """The best and the worst size of a greedy tree without error, for every restriction.

    A member's literals all matter. Below a failed literal the rest of its term no longer does; such
    idle variables are tested only where no split gains anything, and then they tie with all others.
    The best tree never tests one. In the worst tree a restriction without gain has twice the leaves
    for each idle variable, and where there is a gain the idle variables pass to both children.
    """
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
