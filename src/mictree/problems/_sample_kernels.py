"""The growing loop on bit-packed data, compiled as a whole.

It makes the same splits as the loop in ``growers``, which stays its twin in the tests. The rows of
a leaf are the ones of a mask over the words of a matrix of literals. A leaf's counts (literal,
class) are made when the leaf is born: the smaller child is counted, the larger one is what remains
of the parent. Once a leaf holds few of its matrix's rows, it gets a compact matrix of its own.

Weights of rows are whole, so that their sums are exact; the factors of classes come in later.
"""

from typing import NamedTuple

import numpy as np

from mictree._jit import jit
from mictree.problems._counting import (
    compact,
    count,
    count_child,
    count_class_rows,
    first_words,
    leaf_mask,
    shrinks,
    subtract,
    total_of,
    weigh,
    weigh_class_rows,
)
from mictree.problems._offers import below, mass_of, may_split, offer

RULE_CODES = {"topdown": 0, "bestfirst": 1, "id3": 2}
TIE_CODES = {"last": 0, "first": 1, "random": 2, "heaviest": 3, "lightest": 4}

CLOSED = -1.0  # priority of a leaf that is split, pure or without splits
COMPACTION = 20  # what making one costs, in splits counted on the old one


class Settings(NamedTuple):
    """How to grow; the codes are those of the dictionaries above."""

    rule: int
    criterion: int
    ties: int
    seed: int
    max_size: int
    min_samples_split: int
    min_samples_leaf: int
    max_depth: int
    min_gain: float
    min_leaf_mass: float
    tolerance: float
    plain: bool  # every row weighs 1
    alike: bool  # all classes have the same factor


@jit
def grow(bits, first_word, valid, weights, class_weight, logs, settings,
         out_leaf, out_literal, out_gain, out_rows, out_sums):  # fmt: skip
    """Split leaves until ``max_size`` splits are made or no leaf can be split; return how many.

    Parameters
    ----------
    bits, first_word, valid : the literals, each class's first word, and which slots hold a row
    weights : one for each slot, whole, with a sum below 2**53; of length 0 when all are 1
    class_weight : a factor for each class
    logs : ``COUNT_LOGS``
    out_leaf, out_literal, out_gain : for each split, in order
    out_rows, out_sums : for each leaf in order of creation and each class, its rows, weighted
    """
    classes = len(first_word) - 1
    capacity = 2 * settings.max_size + 1
    weighted = len(weights) > 0
    matrices, matrix_firsts, matrix_valids, matrix_weights = (
        [bits],
        [first_word],
        [valid],
        [weights],
    )
    matrix_users, matrix_rent, open_leaves = [1], [0], 0
    matrix_of = np.zeros(capacity, dtype=np.int64)
    matrix_root = [0]
    parent = np.zeros(capacity, dtype=np.int64)
    literal_of = np.zeros(capacity, dtype=np.int64)
    depth = np.zeros(capacity, dtype=np.int64)
    chosen = np.empty(capacity, dtype=np.int64)
    gain = np.zeros(capacity)
    reach = np.zeros(capacity)
    random = np.array([np.uint64(settings.seed)])
    size = 1
    while size < capacity:
        size *= 2
    tournament = np.empty(2 * size)
    for place in range(2 * size):
        tournament[place] = CLOSED
    scratch = (np.empty(len(bits)), np.empty(len(bits), dtype=np.int64), np.empty((5, classes)))

    counts = np.zeros((len(bits), classes), dtype=np.int64)
    sums = np.zeros((len(bits) if weighted else 0, classes))
    count_class_rows(valid, first_word, out_rows[0])
    every = np.arange(len(bits))
    count(bits, first_word, valid, every, counts)
    if weighted:
        weigh(bits, first_word, valid, weights, every, sums)
        weigh_class_rows(valid, first_word, weights, out_sums[0])
    else:
        for code in range(classes):
            out_sums[0, code] = out_rows[0, code]
    total = mass_of(out_sums[0], class_weight)
    reach[0] = 1.0
    counts_of, sums_of = [counts], [sums]
    chosen[0], gain[0] = offer(
        counts, sums, out_rows[0], out_sums[0], class_weight, depth[0], logs, settings,
        scratch, random,
    )  # fmt: skip
    if chosen[0] >= 0:
        open_leaves = 1
        _set_priority(tournament, size, 0, _priority(settings.rule, 1.0, gain[0], 0))
    no_counts = np.zeros((0, classes), dtype=np.int64)
    no_sums = np.zeros((0, classes))
    nothing = np.zeros((0, 0), dtype=np.uint64)

    step = 0
    while step < settings.max_size and tournament[1] >= 0:
        leaf = _choose(tournament, size, reach, settings.ties, settings.tolerance, random)
        literal = chosen[leaf]
        out_leaf[step], out_literal[step], out_gain[step] = leaf, literal, gain[leaf]
        _set_priority(tournament, size, leaf, CLOSED)
        counts, sums = counts_of[leaf], sums_of[leaf]
        counts_of[leaf], sums_of[leaf] = no_counts, no_sums
        low, high = 2 * step + 1, 2 * step + 2
        step += 1
        open_leaves -= 1
        _share(counts, sums, literal, out_rows, out_sums, leaf, low, high)
        for child in (low, high):
            parent[child], literal_of[child], depth[child] = leaf, literal, depth[leaf] + 1
            matrix_of[child] = matrix_of[leaf]
            reach[child] = mass_of(out_sums[child], class_weight) / total
            chosen[child] = -1
            counts_of.append(no_counts)
            sums_of.append(no_sums)
        ready_low = step < settings.max_size and may_split(out_rows[low], depth[low], settings)
        ready_high = step < settings.max_size and may_split(out_rows[high], depth[high], settings)
        number = matrix_of[leaf]
        matrix_users[number] += 1
        matrix_rent[number] += 1
        if ready_low or ready_high:
            mask = leaf_mask(
                matrices[number],
                matrix_valids[number],
                leaf,
                matrix_root[number],
                parent,
                literal_of,
            )
            # pay for a compact matrix when the splits to come, shared among the open leaves, or
            # those already counted on the old matrix cost as much
            hope = (settings.max_size - step) // (open_leaves + 1)
            if max(hope, matrix_rent[number]) >= COMPACTION and shrinks(
                matrices[number], out_rows[leaf]
            ):
                matrix_rent[number] = 0
                words = first_words(out_rows[leaf])
                small, mask, small_weights = compact(
                    matrices[number], matrix_firsts[number], matrix_weights[number], mask, words
                )
                matrix_users[number] -= 2
                if matrix_users[number] == 0:
                    matrices[number] = nothing
                number = len(matrices)
                matrices.append(small)
                matrix_firsts.append(words)
                matrix_valids.append(mask)
                matrix_weights.append(small_weights)
                matrix_root.append(leaf)
                matrix_users.append(2)
                matrix_rent.append(1)
                matrix_of[leaf] = matrix_of[low] = matrix_of[high] = number
            light, heavy = low, high
            if total_of(out_rows[low]) > total_of(out_rows[high]):
                light, heavy = high, low
            small_counts, small_sums = count_child(
                matrices[number], matrix_firsts[number], mask, matrix_weights[number], counts,
                sums, literal, light == high, out_rows[leaf], out_rows[light], out_sums[light],
            )  # fmt: skip
            subtract(counts, sums, small_counts, small_sums)
            counts_of[light], sums_of[light] = small_counts, small_sums
            counts_of[heavy], sums_of[heavy] = counts, sums
        for child, ready in ((low, ready_low), (high, ready_high)):
            if ready:
                chosen[child], gain[child] = offer(
                    counts_of[child], sums_of[child], out_rows[child], out_sums[child],
                    class_weight, depth[child], logs, settings, scratch, random,
                )  # fmt: skip
            if chosen[child] >= 0:
                born = 2 * step + (1 if child == low else 0)
                urgency = _priority(settings.rule, reach[child], gain[child], born)
                _set_priority(tournament, size, child, urgency)
                open_leaves += 1
            else:
                counts_of[child], sums_of[child] = no_counts, no_sums
                matrix_users[number] -= 1
                if matrix_users[number] == 0:
                    matrices[number] = nothing
    return step


@jit
def _priority(rule, reach, gain, born):
    if rule == 0:
        return reach * gain
    if rule == 1:
        return gain
    return float(born)


@jit
def _set_priority(tournament, size, leaf, priority):
    """Write a leaf's priority and the largest of each pair above it."""
    node = size + leaf
    tournament[node] = priority
    node //= 2
    while node:
        tournament[node] = max(tournament[2 * node], tournament[2 * node + 1])
        node //= 2


@jit
def _choose(tournament, size, reach, ties, tolerance, random):
    """The leaf to split next: among those that tie with the largest priority, as ``ties`` says."""
    largest = tournament[1]
    least = largest - tolerance * largest
    if ties < 2:
        node = 1
        while node < size:
            near = 2 * node + (1 if ties == 0 else 0)
            node = near if tournament[near] >= least else near ^ 1
        return node - size
    extreme = -1.0
    if ties > 2:
        for leaf in _tied_leaves(tournament, size, least):
            extreme = max(extreme, reach[leaf] if ties == 3 else 1 / reach[leaf])
        extreme -= tolerance * extreme
    found, count = -1, 0
    for leaf in _tied_leaves(tournament, size, least):
        if ties == 2:
            count += 1
            if below(random, count) == 0:
                found = leaf
        elif (reach[leaf] if ties == 3 else 1 / reach[leaf]) >= extreme:
            found = leaf
    return found


@jit
def _tied_leaves(tournament, size, least):
    """The leaves of at least this priority, in order of creation."""
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


@jit
def _share(counts, sums, literal, out_rows, out_sums, leaf, low, high):
    """The class rows of both children, from the parent's counts of the literal."""
    for code in range(counts.shape[1]):
        inside = counts[literal, code]
        out_rows[high, code] = inside
        out_rows[low, code] = out_rows[leaf, code] - inside
        out_sums[high, code] = sums[literal, code] if len(sums) else inside
        out_sums[low, code] = out_sums[leaf, code] - out_sums[high, code]
