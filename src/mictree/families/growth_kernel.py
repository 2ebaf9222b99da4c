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
    tied: np.typing.NDArray[np.bool_]  # for each edge: whether it is one of the best
    # what growth looks up side by side: the restrictions below the split and the literal's value,
    # AMBIGUOUS where splits of several kinds tie; and the gain beside the error of a lone leaf and
    # what the split adds to it
    split: np.typing.NDArray[np.int32]
    worth: np.typing.NDArray[np.float64]


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
    open_leaf(frontier, 0, 1.0, _priority(address, 1.0, worth[member, 0], 0, refused))
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
            first = _priority(address, share, worth[below, 0], 2 * step + 1, refused)
            open_leaf(frontier, 2 * step - 1, share, first)
        if above != 0:
            states[2 * step] = above
            share = reach * satisfied[kind]
            second = _priority(address, share, worth[above, 0], 2 * step, refused)
            open_leaf(frontier, 2 * step, share, second)
        if refused[0]:
            break
    return True


@jit
def _priority(address, reach, gain, born, refused):
    """Of a leaf; a value that is no number is noted."""
    priority = call_priority(address, reach, gain, born)
    if np.isnan(priority):
        refused[0], refused[1] = 1.0, priority
    return priority


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
