"""Which leaf is split next, and by which of its best splits: written once, for every loop.

A tournament holds the priorities of open leaves: node n of a tree in an array has the largest of
those at its 16 children, from node 16n + 1 on, and leaf number l stands at node ``first + l``. So a
leaf's priority is changed, and the leaf of largest priority is found, in steps of the logarithm of
the leaves. With 16 children instead of 2 there are few levels, whose outcome a processor cannot
guess, and searching one level needs no branches.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.draws import below
from mictree._support.jit import inner_jit, jit
from mictree.growers.rules import TIE_TOLERANCE, TIES

LAST, FIRST, RANDOM, HEAVIEST, LIGHTEST = range(5)
assert TIES == ("last", "first", "random", "heaviest", "lightest")

CLOSED = -np.inf  # of a leaf that is split, pure or without splits
WIDTH, SHIFT = 16, 4  # 2**SHIFT children of a node of the tournament
LARGEST = 1e308  # larger priorities, also infinite ones, count as this one


class Frontier(NamedTuple):
    """The open leaves by number, in order of creation."""

    tournament: np.ndarray
    first: int  # the node of leaf 0
    reach: np.ndarray


@jit
def new_frontier(capacity):
    """Without an open leaf, and with room for so many."""
    first, level = 0, 1
    while level < capacity:
        first += level
        level *= WIDTH
    # nodes above absent leaves stay closed, so the last level may end early, after whole groups
    leaves = -(-capacity // WIDTH) * WIDTH
    return Frontier(np.full(first + leaves, CLOSED), first, np.zeros(leaves))


@jit
def any_open(frontier):
    """Whether a leaf can be split."""
    return frontier.tournament[0] > CLOSED


@jit
def open_leaf(frontier, leaf, reach, priority):
    """Add a leaf."""
    frontier.reach[leaf] = reach
    tournament, node = frontier.tournament, frontier.first + leaf
    priority = min(max(priority, -LARGEST), LARGEST)
    tournament[node] = priority
    while node > 0:
        node = (node - 1) >> SHIFT
        if tournament[node] >= priority:
            return
        tournament[node] = priority


@jit
def close_leaf(frontier, leaf):
    """Take a leaf out."""
    tournament, node = frontier.tournament, frontier.first + leaf
    tournament[node] = CLOSED
    while node > 0:
        node = (node - 1) >> SHIFT
        largest = _largest_child(tournament, node)
        if tournament[node] == largest:
            return
        tournament[node] = largest


@inner_jit
def _largest_child(tournament, node):
    """In four chains of comparisons that need not wait for one another."""
    begin = WIDTH * node + 1
    one, two = tournament[begin], tournament[begin + 1]
    three, four = tournament[begin + 2], tournament[begin + 3]
    for child in range(begin + 4, begin + WIDTH, 4):
        one = tournament[child] if tournament[child] > one else one
        two = tournament[child + 1] if tournament[child + 1] > two else two
        three = tournament[child + 2] if tournament[child + 2] > three else three
        four = tournament[child + 3] if tournament[child + 3] > four else four
    return max(one, two, three, four)


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
    count = np.int64(0)  # a plain 0 would be a type of its own, and pick be compiled again
    for value in values:
        count += value >= least
    skip = pick(count, ties, draws)
    place = -1
    while skip >= 0:
        place += 1
        skip -= values[place] >= least
    return place


@jit
def settle_ties(drops):
    """The largest of the first row where it is tied with, and, among these, in each next row.

    -1 elsewhere. Row by row, the drops of a leaf's splits with ever shallower subtrees.
    """
    settled = np.full(drops.shape[1], -1.0)
    kept = np.ones(drops.shape[1], dtype=np.bool_)
    for row in drops:
        largest = -1.0
        for split in range(len(row)):
            if kept[split]:
                largest = max(largest, row[split])
        for split in range(len(row)):
            kept[split] &= row[split] >= least_tied(largest)
    for split in range(len(kept)):
        if kept[split]:
            settled[split] = drops[0].max()
    return settled


@jit
def choose_leaf(frontier, ties, draws):
    """The open leaf to split next."""
    tournament, first = frontier.tournament, frontier.first
    least = least_tied(tournament[0])
    if ties in (LAST, FIRST):
        node = 0
        while node < first:
            begin = WIDTH * node + 1
            if ties == LAST:
                for place in range(WIDTH):
                    node = begin + place if tournament[begin + place] >= least else node
            else:
                for place in range(WIDTH - 1, -1, -1):
                    node = begin + place if tournament[begin + place] >= least else node
        return node - first
    tied = _tied_leaves(tournament, first, least)
    if ties == RANDOM:
        return tied[pick(np.int64(len(tied)), ties, draws)]
    weights = np.empty(len(tied))
    for place in range(len(tied)):
        reach = frontier.reach[tied[place]]
        weights[place] = reach if ties == HEAVIEST else -reach
    return tied[choose_tied(weights, np.int64(LAST), draws)]


@inner_jit
def _tied_leaves(tournament, first, least):
    """The leaves of at least this priority, in order of creation."""
    found = [0]
    found.pop()
    waiting = [0]
    while len(waiting):
        node = waiting.pop()
        if node >= first:
            found.append(node - first)
            continue
        for child in range(WIDTH * node + WIDTH, WIDTH * node, -1):
            if tournament[child] >= least:
                waiting.append(child)
    return found
