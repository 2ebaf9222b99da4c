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
from mictree._support.jit import inner_jit, jit
from mictree.growers.counting import (
    Counts,
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
from mictree.growers.offers import Limits, Weighing, mass_of, may_split, offer
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


class Task(NamedTuple):
    """How to grow: it stays the same for all leaves."""

    weighing: Weighing
    limits: Limits
    rule: Rule


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
    ready: np.ndarray  # whether its splits are to be looked at
    offered: np.ndarray  # the gains of the literals at the leaf looked at last


class _Matrices(NamedTuple):
    """All matrices by number."""

    each: list[Matrix]
    root: np.ndarray  # the leaf that it was made for
    users: np.ndarray  # how many leaves that may be split have their rows in it
    rent: np.ndarray  # the splits counted on it


@jit
def grow(matrix, task, out):
    """Split leaves until ``max_size`` splits are made or no leaf can be split; return how many."""
    max_size, ties = task.rule.max_size, task.rule.ties
    leaves, matrices = _start(matrix, max_size)
    frontier = new_frontier(2 * max_size + 1)
    counts = [count_root(matrix, out.rows[0], out.sums[0])]  # by leaf; empty where it is closed
    empty = Counts(counts[0].rows[:0].copy(), counts[0].sums[:0].copy())
    step = open_leaves = np.int64(0)  # kernels would be compiled once more for a literal 0
    if max_size > 0 and may_split(out.rows[0], step, task.limits):
        open_leaves += _consider(step, step, counts[0], leaves, frontier, task, out)
    while step < max_size and any_open(frontier):
        leaf = choose_leaf(frontier, ties, out.draws)
        if ties == RANDOM:  # drawn when the leaf is split, as in every loop
            _offer(leaf, counts[leaf], leaves, task, out)
            leaves.chosen[leaf] = choose_tied(leaves.offered, ties, out.draws)
        close_leaf(frontier, leaf)
        out.leaf[step], out.literal[step] = leaf, leaves.chosen[leaf]
        out.gain[step] = leaves.gain[leaf]
        step += 1
        _make_children(leaf, step, counts[leaf], leaves, task, out)
        # the splits to expect below the leaf: those to come, shared among the open leaves
        hope = (max_size - step) // open_leaves
        whole, counts[leaf] = counts[leaf], empty
        part = _count_smaller(leaf, step, hope, whole, leaves, matrices, out)
        light_is_low = total_of(out.rows[2 * step - 1]) <= total_of(out.rows[2 * step])
        counts.append(part if light_is_low else whole)
        counts.append(whole if light_is_low else part)
        open_leaves -= 1
        for child in (2 * step - 1, 2 * step):
            born = 2 * step + child % 2  # the low child, of odd number, counts as the younger one
            if leaves.ready[child] and _consider(
                child, born, counts[child], leaves, frontier, task, out
            ):
                open_leaves += 1
            else:
                counts[child] = empty
                _leave(leaves.matrix[child], matrices)
        if out.refused[0] or task.weighing.refused[0]:
            return step
    return step


@inner_jit
def _start(matrix, max_size):
    """Room for all leaves and matrices; the lone leaf has its rows in the given matrix."""
    capacity = 2 * max_size + 1
    leaves = _Leaves(
        np.zeros(capacity, dtype=np.int64),
        np.full(capacity, NONE),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.bool_),
        np.empty(len(matrix.bits)),
    )
    matrices = _Matrices(
        [matrix],
        np.zeros(max_size + 1, dtype=np.int64),
        np.ones(max_size + 1, dtype=np.int64),
        np.zeros(max_size + 1, dtype=np.int64),
    )
    return leaves, matrices


@inner_jit
def _offer(leaf, counts, leaves, task, out):
    """The gain of a leaf's best split, or -1 for none; writes the gains of all."""
    rows, sums = out.rows[leaf], out.sums[leaf]
    return offer(counts, rows, sums, task.weighing, task.limits, leaves.offered)


@inner_jit
def _consider(leaf, born, counts, leaves, frontier, task, out):
    """Open a leaf if it has a split to make; says whether."""
    gain = _offer(leaf, counts, leaves, task, out)
    if gain < 0:
        return False
    leaves.gain[leaf] = gain
    if task.rule.ties != RANDOM:
        leaves.chosen[leaf] = choose_tied(leaves.offered, task.rule.ties, out.draws)
    reach = mass_of(out.sums[leaf], task.weighing.class_weight)
    reach /= mass_of(out.sums[0], task.weighing.class_weight)
    priority = call_priority(task.rule.priority, reach, gain, born)
    if np.isnan(priority):
        out.refused[0], out.refused[1] = 1.0, priority
    open_leaf(frontier, leaf, reach, priority)
    return True


@inner_jit
def _make_children(leaf, step, counts, leaves, task, out):
    """Make both children of a split leaf, with their class rows from the counts of its literal."""
    low, high, literal = 2 * step - 1, 2 * step, leaves.chosen[leaf]
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
        if step < task.rule.max_size:
            leaves.ready[child] = may_split(out.rows[child], leaves.depth[child], task.limits)


@inner_jit
def _count_smaller(leaf, step, hope, counts, leaves, matrices, out):
    """The counts of the smaller child; turns those of the leaf into the larger child's.

    Moves both children to a compact matrix where that pays: when the splits to come or those
    already counted on the old matrix cost as much.
    """
    low, high, number = 2 * step - 1, 2 * step, leaves.matrix[leaf]
    matrices.users[number] += 1
    matrices.rent[number] += 1
    if not (leaves.ready[low] or leaves.ready[high]):
        return counts
    matrix, rows = matrices.each[number], out.rows[leaf]
    mask = leaf_mask(matrix, leaf, matrices.root[number], leaves.parent, leaves.chosen)
    if max(hope, matrices.rent[number]) >= COMPACTION and shrinks(matrix.bits, rows):
        matrices.rent[number] = 0
        matrix = compact(matrix, mask, rows)
        mask = matrix.valid
        _leave(number, matrices)
        _leave(number, matrices)
        number = len(matrices.each)
        matrices.each.append(matrix)
        matrices.root[number], matrices.users[number], matrices.rent[number] = leaf, 2, 1
        leaves.matrix[low] = leaves.matrix[high] = number
    light = low if total_of(out.rows[low]) <= total_of(out.rows[high]) else high
    inside = child_mask(mask, matrix.bits[leaves.chosen[leaf]], light == high)
    part = count_child(
        matrix, inside, counts.rows, total_of(rows), out.rows[light], out.sums[light]
    )
    subtract(counts.rows, counts.sums, part.rows, part.sums)
    return part


@inner_jit
def _leave(number, matrices):
    """One leaf less has its rows in a matrix; the last one frees it."""
    matrices.users[number] -= 1
    if matrices.users[number] == 0:
        old = matrices.each[number]
        bits = np.zeros((0, 0), dtype=np.uint64)
        matrices.each[number] = Matrix(bits, old.first_word, old.valid, old.weights)
