"""Which leaf is split next, and by which of its best splits: written once, for every loop.

A tournament holds the priorities of open leaves: node n of a binary tree in an array has the larger
of those at nodes 2n and 2n + 1, and leaf number l stands at node ``size + l``. So a leaf's priority
is changed, and the leaf of largest priority is found, in steps of the logarithm of the leaves.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.draws import below
from mictree._support.jit import inner_jit, jit
from mictree.growers.rules import TIE_TOLERANCE, TIES

LAST, FIRST, RANDOM, HEAVIEST, LIGHTEST = range(5)
assert TIES == ("last", "first", "random", "heaviest", "lightest")

CLOSED = -np.inf  # of a leaf that is split, pure or without splits
LARGEST = 1e308  # larger priorities, also infinite ones, count as this one


class Frontier(NamedTuple):
    """The open leaves by number, in order of creation."""

    tournament: np.ndarray
    reach: np.ndarray


@jit
def new_frontier(capacity):
    """Without an open leaf, and with room for so many."""
    size = 1
    while size < capacity:
        size *= 2
    return Frontier(np.full(2 * size, CLOSED), np.zeros(size))


@jit
def any_open(frontier):
    """Whether a leaf can be split."""
    return frontier.tournament[1] > CLOSED


@jit
def open_leaf(frontier, leaf, reach, priority):
    """Add a leaf."""
    frontier.reach[leaf] = reach
    _set_priority(frontier.tournament, leaf, min(max(priority, -LARGEST), LARGEST))


@jit
def close_leaf(frontier, leaf):
    """Take a leaf out."""
    _set_priority(frontier.tournament, leaf, CLOSED)


@inner_jit
def _set_priority(tournament, leaf, priority):
    node = len(tournament) // 2 + leaf
    tournament[node] = priority
    while node > 1:
        larger = max(tournament[node], tournament[node ^ 1])
        node //= 2
        if tournament[node] == larger:
            return
        tournament[node] = larger


@jit
def least_tied(largest):
    """The least number that ties with the largest one: docs/decisions/0003."""
    return largest - TIE_TOLERANCE * abs(largest)


@jit
def pick(count, ties, draws):
    """Which of several that tie, in order; a random choice moves ``draws`` on, even among one."""
    if ties == FIRST:
        return 0
    if ties == RANDOM:
        return below(draws, count)
    return count - 1


@jit
def choose_tied(values, ties, draws):
    """The place of the largest of several numbers."""
    least = least_tied(values.max())
    count = 0
    for value in values:
        count += value >= least
    skip = pick(count, ties, draws)
    place = -1
    while skip >= 0:
        place += 1
        skip -= values[place] >= least
    return place


@jit
def choose_leaf(frontier, ties, draws):
    """The open leaf to split next."""
    tournament = frontier.tournament
    size = len(tournament) // 2
    least = least_tied(tournament[1])
    if ties in (LAST, FIRST):
        node = 1
        while node < size:
            near = 2 * node + (ties == LAST)
            node = near if tournament[near] >= least else near ^ 1
        return node - size
    tied = _tied_leaves(tournament, least)
    if ties == RANDOM:
        return tied[pick(len(tied), ties, draws)]
    weights = np.empty(len(tied))
    for place in range(len(tied)):
        reach = frontier.reach[tied[place]]
        weights[place] = reach if ties == HEAVIEST else -reach
    return tied[choose_tied(weights, LAST, draws)]


@inner_jit
def _tied_leaves(tournament, least):
    """The leaves of at least this priority, in order of creation."""
    size = len(tournament) // 2
    found = [0]
    found.pop()
    waiting = [1]
    while len(waiting):
        node = waiting.pop()
        if tournament[node] < least:
            continue
        if node >= size:
            found.append(node - size)
        else:
            waiting.append(2 * node + 1)
            waiting.append(2 * node)
    return found
