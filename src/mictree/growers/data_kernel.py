"""The growing loop on bit-packed data, compiled as a whole.

It makes the same splits as the loop in ``generic_loop``, its twin in the tests. The rows of a leaf
are the ones of a mask over the words of a matrix of literals. A leaf's counts (literal, class) are
made when the leaf is born: the smaller child is counted, the larger one is what remains of the
parent. Once a leaf holds few of its matrix's rows, it gets a compact matrix of its own.

Leaves are numbered in order of creation: the split number s, from 1, makes the low child 2s - 1 and
the high child 2s. Weights of rows are whole, so that their sums are exact; the factors of classes
come in later.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.calls import call_priority
from mictree._support.jit import jit
from mictree.growers.counting import (
    Matrix,
    child_mask,
    compact,
    count_child,
    count_root,
    leaf_mask,
    shrinks,
    subtract,
    total_of,
)
from mictree.growers.offers import Counts, mass_of, may_split, offer
from mictree.growers.ties import (
    RANDOM,
    any_open,
    choose_leaf,
    choose_tied,
    close_leaf,
    new_frontier,
    open_leaf,
)

NONE = -1
COMPACTION = 20  # what making a compact matrix costs, in splits counted on the old one


class Rule(NamedTuple):
    """Which leaf is split next."""

    priority: int  # the address of a function
    ties: int
    max_size: int


class Splits(NamedTuple):
    """What the loop writes: three numbers for each split, and two rows for each leaf."""

    leaf: np.ndarray
    literal: np.ndarray
    gain: np.ndarray
    rows: np.ndarray  # by class
    sums: np.ndarray  # the same, weighted
    draws: np.ndarray  # the state of the random generator
    refused: np.ndarray  # True and the value where a priority is none


class _Leaves(NamedTuple):
    """All leaves by number."""

    parent: np.ndarray
    chosen: np.ndarray  # the literal to test; NONE where no split is made
    depth: np.ndarray
    gain: np.ndarray
    matrix: np.ndarray  # the number of the matrix that holds its rows


class _Matrices(NamedTuple):
    """All matrices by number."""

    root: np.ndarray  # the leaf that it was made for
    users: np.ndarray  # how many leaves that may be split have their rows in it
    rent: np.ndarray  # the splits counted on it


@jit
def grow(matrix, weighing, limits, rule, out):
    """Split leaves until ``max_size`` splits are made or no leaf can be split; return how many."""
    capacity = 2 * rule.max_size + 1
    leaves = _Leaves(
        np.zeros(capacity, dtype=np.int64),
        np.full(capacity, NONE),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int64),
    )
    use = _Matrices(
        np.zeros(rule.max_size + 1, dtype=np.int64),
        np.ones(rule.max_size + 1, dtype=np.int64),
        np.zeros(rule.max_size + 1, dtype=np.int64),
    )
    matrices = [matrix]
    frontier = new_frontier(capacity)
    gains = np.empty(len(matrix.bits))
    rows, sums = count_root(matrix, out.rows[0], out.sums[0])
    counts = [Counts(rows, sums)]
    nothing = Counts(np.zeros((0, rows.shape[1]), dtype=np.int64), np.zeros((0, sums.shape[1])))
    open_leaves = 0
    if rule.max_size > 0 and may_split(out.rows[0], 0, limits):
        open_leaves += _consider(
            0, 0, counts[0], leaves, frontier, weighing, limits, rule, gains, out
        )
    step = 0
    while step < rule.max_size and any_open(frontier):
        leaf = choose_leaf(frontier, rule.ties, out.draws)
        if rule.ties == RANDOM:  # drawn when the leaf is split, as in every loop
            offer(counts[leaf], out.rows[leaf], out.sums[leaf], weighing, limits, gains)
            leaves.chosen[leaf] = choose_tied(gains, rule.ties, out.draws)
        close_leaf(frontier, leaf)
        out.leaf[step], out.literal[step], out.gain[step] = (
            leaf,
            leaves.chosen[leaf],
            leaves.gain[leaf],
        )
        step += 1
        whole, counts[leaf] = counts[leaf], nothing
        low, high = 2 * step - 1, 2 * step
        _share(whole, leaf, low, leaves, out)
        ready_low = step < rule.max_size and may_split(out.rows[low], leaves.depth[low], limits)
        ready_high = step < rule.max_size and may_split(out.rows[high], leaves.depth[high], limits)
        use.users[leaves.matrix[leaf]] += 1
        use.rent[leaves.matrix[leaf]] += 1
        if ready_low or ready_high:
            # pay for a compact matrix when the splits to come, shared among the open leaves, or
            # those already counted on the old matrix cost as much
            hope = (rule.max_size - step) // open_leaves
            part = _count_smaller(leaf, low, hope, whole, leaves, use, matrices, out)
            subtract(whole.rows, whole.sums, part.rows, part.sums)
            light_is_low = total_of(out.rows[low]) <= total_of(out.rows[high])
            counts.append(part if light_is_low else whole)
            counts.append(whole if light_is_low else part)
        else:
            counts.append(nothing)
            counts.append(nothing)
        open_leaves -= 1
        for child, ready in ((low, ready_low), (high, ready_high)):
            born = 2 * step + (1 if child == low else 0)
            if ready and _consider(
                child, born, counts[child], leaves, frontier, weighing, limits, rule, gains, out
            ):
                open_leaves += 1
            else:
                counts[child] = nothing
                _leave(leaves.matrix[child], use, matrices)
        if out.refused[0] or weighing.refused[0]:
            return step
    return step


@jit
def _consider(leaf, born, counts, leaves, frontier, weighing, limits, rule, gains, out):
    """Open a leaf if it has a split to make; says whether."""
    gain = offer(counts, out.rows[leaf], out.sums[leaf], weighing, limits, gains)
    if gain < 0:
        return False
    leaves.gain[leaf] = gain
    if rule.ties != RANDOM:
        leaves.chosen[leaf] = choose_tied(gains, rule.ties, out.draws)
    reach = mass_of(out.sums[leaf], weighing.class_weight)
    reach /= mass_of(out.sums[0], weighing.class_weight)
    priority = call_priority(rule.priority, reach, gain, born)
    if np.isnan(priority):
        out.refused[0], out.refused[1] = 1.0, priority
    open_leaf(frontier, leaf, reach, priority)
    return True


@jit
def _share(counts, leaf, low, leaves, out):
    """Make both children of a split leaf, with their class rows from the counts of its literal."""
    high, literal = low + 1, leaves.chosen[leaf]
    for code in range(counts.rows.shape[1]):
        inside = counts.rows[literal, code]
        out.rows[high, code] = inside
        out.rows[low, code] = out.rows[leaf, code] - inside
        out.sums[high, code] = counts.sums[literal, code] if len(counts.sums) else inside
        out.sums[low, code] = out.sums[leaf, code] - out.sums[high, code]
    for child in (low, high):
        leaves.parent[child] = leaf
        leaves.depth[child] = leaves.depth[leaf] + 1
        leaves.matrix[child] = leaves.matrix[leaf]


@jit
def _count_smaller(leaf, low, hope, counts, leaves, use, matrices, out):
    """The counts of the smaller child; moves both to a compact matrix where that pays."""
    high, number = low + 1, leaves.matrix[leaf]
    mask = leaf_mask(matrices[number], leaf, use.root[number], leaves.parent, leaves.chosen)
    rows = out.rows[leaf]
    if max(hope, use.rent[number]) >= COMPACTION and shrinks(matrices[number].bits, rows):
        use.rent[number] = 0
        small = compact(matrices[number], mask, rows)
        mask = small.valid
        _leave(number, use, matrices)
        _leave(number, use, matrices)
        number = len(matrices)
        matrices.append(small)
        use.root[number], use.users[number], use.rent[number] = leaf, 2, 1
        leaves.matrix[low] = leaves.matrix[high] = number
    light = low if total_of(out.rows[low]) <= total_of(out.rows[high]) else high
    matrix = matrices[number]
    inside = child_mask(mask, matrix.bits[leaves.chosen[leaf]], light == high)
    part = count_child(
        matrix, inside, counts.rows, total_of(rows), out.rows[light], out.sums[light]
    )
    return Counts(part[0], part[1])


@jit
def _leave(number, use, matrices):
    """One leaf less has its rows in a matrix; the last one frees it."""
    use.users[number] -= 1
    if use.users[number] == 0:
        old = matrices[number]
        bits = np.zeros((0, 0), dtype=np.uint64)
        matrices[number] = Matrix(bits, old.first_word, old.valid, old.weights)
