"""The growing loop on the members of a family, with the best split of each restriction looked up.

A leaf is the number of its restriction. Where splits of different kinds tie, the variable that is
tested depends on which ones are free at the leaf: then the member is grown again with the terms of
every leaf tracked, the falsified ones too. Leaves are numbered in order of creation: the split
number s, from 1, makes the low child 2s - 1 and the high child 2s.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.calls import call_priority
from mictree._support.jit import jit
from mictree.excess import ROUNDING
from mictree.families.graph import unrank
from mictree.growers.ties import (
    any_open,
    choose_leaf,
    close_leaf,
    new_frontier,
    open_leaf,
    pick,
)

AMBIGUOUS = -1


class BestSplits(NamedTuple):
    """The best split of every restriction by one criterion."""

    gain: np.typing.NDArray[np.float64]
    edge: np.typing.NDArray[np.int64]  # AMBIGUOUS where splits of several kinds tie
    tied: np.typing.NDArray[np.bool_]  # for each edge: whether it is one of the best


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
    minority: np.ndarray  # of each restriction: the error of a lone leaf
    start: np.ndarray  # where its optimal errors begin
    optimal: np.ndarray


class Rule(NamedTuple):
    """Which leaf is split next."""

    priority: int  # the address of a function
    ties: int
    seed: np.uint64
    refused: np.ndarray  # True and the value where a priority is none


@jit
def compare(begin, stop, first_member, max_size, rule, family, best, out):
    """Grow some members, untracked where that suffices, and compare with their optimal errors."""
    errors = np.empty(max_size + 1)
    for number in range(begin, stop):
        member = first_member + number
        terms = np.empty((0, 0), dtype=np.int64)
        if not _grow(member, rule, family, best, terms, errors):
            row = np.zeros(family.ranks.most_terms + 1, dtype=np.int64)
            length = unrank(member, family.ranks.before, family.ranks.costs, row)
            # one row per leaf: its terms in declared order, the falsified ones negative
            terms = np.empty((2 * max_size + 1, length), dtype=np.int64)
            terms[0] = row[:length][::-1]
            _grow(member, rule, family, best, terms, errors)
        optimal = family.optimal[family.start[member] : family.start[member + 1]]
        for size in range(max_size + 1):  # errors becomes excess errors
            errors[size] = max(errors[size] - optimal[min(size, len(optimal) - 1)], 0.0)
        largest = errors.max()
        worst = 0
        while errors[worst] < largest - ROUNDING:
            worst += 1
        out[number, 0], out[number, 1], out[number, 2] = errors[1:].mean(), largest, worst


@jit
def _grow(member, rule, family, best, terms, out_errors):
    """Grow one member and write its errors by size.

    With ``terms`` tracked the first row holds the member's terms; without (no rows) the growth
    gives up, returning False, where kinds tie.
    """
    edges, minority = family.edges, family.minority
    tracked = len(terms) > 0
    capacity = 2 * len(out_errors) - 1
    frontier = new_frontier(capacity)
    states = np.zeros(capacity, dtype=np.int64)
    draws = np.array([rule.seed], dtype=np.uint64)
    _open(0, member, 1.0, 0, rule, best, states, frontier)
    error = minority[member]
    out_errors[:] = error
    for step in range(1, len(out_errors)):
        if not any_open(frontier):
            out_errors[step:] = error
            break
        leaf = choose_leaf(frontier, rule.ties, draws)
        state, reach = states[leaf], frontier.reach[leaf]
        edge, place, kind = best.edge[state], 0, 0
        if tracked:
            edge, place, kind = _choose_test(state, terms[leaf], rule.ties, family, best, draws)
        elif edge == AMBIGUOUS:
            return False
        else:
            pick(np.int64(1), rule.ties, draws)  # all tied variables are of one kind
            kind = np.int64(edges.value[edge])
        close_leaf(frontier, leaf)
        low, high = 2 * step - 1, 2 * step
        below = above = state  # a variable without effect changes nothing
        if edge >= 0:
            below, above = np.int64(edges.low[edge]), np.int64(edges.high[edge])
            after = edges.failed[kind] * minority[below] + edges.satisfied[kind] * minority[above]
            error += reach * (after - minority[state])
        out_errors[step] = error
        if tracked:
            _split_terms(terms, leaf, low, place, kind, edge >= 0, family.moves)
        if below != 0:
            _open(low, below, reach * edges.failed[kind], high + 1, rule, best, states, frontier)
        if above != 0:
            _open(high, above, reach * edges.satisfied[kind], high, rule, best, states, frontier)
        if rule.refused[0]:
            break
    return True


@jit
def _open(leaf, state, reach, born, rule, best, states, frontier):
    """Add an impure leaf."""
    states[leaf] = state
    priority = call_priority(rule.priority, reach, best.gain[state], born)
    if np.isnan(priority):
        rule.refused[0], rule.refused[1] = 1.0, priority
    open_leaf(frontier, leaf, reach, priority)


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
