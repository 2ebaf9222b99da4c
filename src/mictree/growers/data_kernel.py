"""The growing loop on bit-packed data, compiled as a whole.

It makes the same splits as the loop in ``growers``, which stays its twin in the tests. The rows of
a leaf are the ones of a mask over the words of a matrix of literals. A leaf's counts (literal,
class) are made when the leaf is born: the smaller child is counted, the larger one is what remains
of the parent. Once a leaf holds few of its matrix's rows, it gets a compact matrix of its own.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit
from mictree.growers.counting import (
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

RULE_CODES = {"topdown": 0, "bestfirst": 1, "id3": 2}
CRITERION_CODES = {"entropy": 0, "gini": 1, "root": 2, "minority": 3}
TIE_CODES = {"last": 0, "first": 1, "random": 2, "heaviest": 3, "lightest": 4}

CLOSED = -1.0  # priority of a leaf that is split, pure or without splits
COMPACTION = 20  # what making one costs, in splits counted on the old one

# n log2 n, so that entropies of small counts need no logarithm
TABLE_SIZE = 4096
COUNT_LOGS = np.arange(TABLE_SIZE + 1) * np.log2(np.maximum(np.arange(TABLE_SIZE + 1), 1))


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


@jit
def grow(bits, first_word, valid, weights, class_weight, logs, settings,
         out_leaf, out_literal, out_gain, out_rows, out_masses):  # fmt: skip
    """Split leaves until ``max_size`` splits are made or no leaf can be split; return how many.

    Parameters
    ----------
    bits, first_word, valid : the literals, each class's first word, and which slots hold a row
    weights : one for each slot; of length 0 when all rows weigh the same
    class_weight : a factor for each class
    logs : ``COUNT_LOGS``
    out_leaf, out_literal, out_gain : for each split, in order
    out_rows, out_masses : for each leaf in order of creation and each class, its rows, weighted
    """
    classes = len(first_word) - 1
    capacity = 2 * settings.max_size + 1
    weighted = len(weights) > 0
    plain = not weighted and _all_ones(class_weight)
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
    scratch = np.empty(len(bits))

    counts = np.zeros((len(bits), classes), dtype=np.int64)
    masses = np.zeros((len(bits) if weighted else 0, classes))
    count_class_rows(valid, first_word, out_rows[0])
    every = np.arange(len(bits))
    count(bits, first_word, valid, every, counts)
    if weighted:
        weigh(bits, first_word, valid, weights, every, class_weight, masses)
        weigh_class_rows(valid, first_word, weights, class_weight, out_masses[0])
    else:
        for code in range(classes):
            out_masses[0, code] = out_rows[0, code] * class_weight[code]
    total = total_of(out_masses[0])
    reach[0] = 1.0
    counts_of, masses_of = [counts], [masses]
    chosen[0], gain[0] = _offer(
        counts, masses, out_rows[0], out_masses[0], class_weight, plain, depth[0], logs,
        settings, scratch, random,
    )  # fmt: skip
    if chosen[0] >= 0:
        open_leaves = 1
        _set_priority(tournament, size, 0, _priority(settings.rule, 1.0, gain[0], 0))
    no_counts = np.zeros((0, classes), dtype=np.int64)
    no_masses = np.zeros((0, classes))
    nothing = np.zeros((0, 0), dtype=np.uint64)

    step = 0
    while step < settings.max_size and tournament[1] >= 0:
        leaf = _choose(tournament, size, reach, settings.ties, settings.tolerance, random)
        literal = chosen[leaf]
        out_leaf[step], out_literal[step], out_gain[step] = leaf, literal, gain[leaf]
        _set_priority(tournament, size, leaf, CLOSED)
        counts, masses = counts_of[leaf], masses_of[leaf]
        counts_of[leaf], masses_of[leaf] = no_counts, no_masses
        low, high = 2 * step + 1, 2 * step + 2
        step += 1
        open_leaves -= 1
        _share(counts, masses, literal, class_weight, out_rows, out_masses, leaf, low, high)
        for child in (low, high):
            parent[child], literal_of[child], depth[child] = leaf, literal, depth[leaf] + 1
            matrix_of[child] = matrix_of[leaf]
            reach[child] = total_of(out_masses[child]) / total
            chosen[child] = -1
            counts_of.append(no_counts)
            masses_of.append(no_masses)
        ready_low = step < settings.max_size and _may_split(out_rows[low], depth[low], settings)
        ready_high = step < settings.max_size and _may_split(out_rows[high], depth[high], settings)
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
            small_counts, small_masses = count_child(
                matrices[number], matrix_firsts[number], mask, matrix_weights[number], counts,
                masses, class_weight, literal, light == high, out_rows[leaf], out_rows[light],
                out_masses[light],
            )  # fmt: skip
            subtract(counts, masses, small_counts, small_masses)
            counts_of[light], masses_of[light] = small_counts, small_masses
            counts_of[heavy], masses_of[heavy] = counts, masses
        for child, ready in ((low, ready_low), (high, ready_high)):
            if ready:
                chosen[child], gain[child] = _offer(
                    counts_of[child], masses_of[child], out_rows[child], out_masses[child],
                    class_weight, plain, depth[child], logs, settings, scratch, random,
                )  # fmt: skip
            if chosen[child] >= 0:
                born = 2 * step + (1 if child == low else 0)
                urgency = _priority(settings.rule, reach[child], gain[child], born)
                _set_priority(tournament, size, child, urgency)
                open_leaves += 1
            else:
                counts_of[child], masses_of[child] = no_counts, no_masses
                matrix_users[number] -= 1
                if matrix_users[number] == 0:
                    matrices[number] = nothing
    return step


@jit
def _may_split(rows, depth, settings):
    """Whether a leaf is impure, large and high enough to have its splits looked at."""
    total = total_of(rows)
    if depth >= settings.max_depth or total < settings.min_samples_split:
        return False
    impure = True
    for here in rows:
        impure &= here < total
    return impure


@jit
def _offer(counts, masses, rows, class_masses, class_weight, plain, depth, logs, settings,
           scratch, random):  # fmt: skip
    """The literal that a leaf would be split by, -1 for none, and its gain."""
    if not _may_split(rows, depth, settings):
        return -1, 0.0
    literals, classes = counts.shape
    weighted = len(masses) > 0
    total_rows, total = total_of(rows), total_of(class_masses)
    table = plain and settings.criterion == 0 and total_rows < len(logs)
    before = _impurity(class_masses, total, settings.criterion)
    low, high = np.empty(classes), np.empty(classes)
    best = -1.0
    for literal in range(literals):
        scratch[literal] = -1.0
        high_rows = 0
        for code in range(classes):
            high_rows += counts[literal, code]
        low_rows = total_rows - high_rows
        if min(low_rows, high_rows) < max(1, settings.min_samples_leaf):
            continue
        if table:
            if min(low_rows, high_rows) < settings.min_leaf_mass:
                continue
            after = logs[high_rows] + logs[low_rows]
            for code in range(classes):
                count = counts[literal, code]
                after -= logs[count] + logs[rows[code] - count]
            drop = before - after / total_rows
        else:
            low_mass, high_mass = 0.0, 0.0
            for code in range(classes):
                count = counts[literal, code]
                if weighted:
                    high[code] = masses[literal, code]
                    low[code] = class_masses[code] - high[code] if count < rows[code] else 0.0
                else:
                    high[code] = count * class_weight[code]
                    low[code] = (rows[code] - count) * class_weight[code]
                # sums of the parts, not differences: a pure child must be pure to the last bit
                low_mass += low[code]
                high_mass += high[code]
            if min(low_mass, high_mass) < settings.min_leaf_mass:
                continue
            drop = (
                before
                - low_mass / total * _impurity(low, low_mass, settings.criterion)
                - high_mass / total * _impurity(high, high_mass, settings.criterion)
            )
        scratch[literal] = drop if drop > settings.tolerance * before else 0.0
        best = max(best, scratch[literal])
    if best < 0 or best < settings.min_gain:
        return -1, 0.0
    least = best - settings.tolerance * best
    found, ties = -1, 0
    for literal in range(literals):
        if scratch[literal] >= least:
            ties += 1
            if settings.ties == 2:
                if _below(random, ties) == 0:  # each of the ties is kept with equal chance
                    found = literal
            elif settings.ties != 1 or found < 0:
                found = literal
    return found, best


@jit
def _impurity(masses, total, criterion):
    """The impurity of a leaf with these class masses."""
    if total <= 0:
        return 0.0
    result = 0.0
    if criterion == 0:
        for mass in masses:
            if 0 < mass < total:
                share = mass / total
                # log1p keeps full relative precision when the other classes are tiny
                logarithm = np.log(share) if share < 0.5 else np.log1p(-(total - mass) / total)
                result -= share * logarithm
        return result / np.log(2.0)
    if criterion == 1:
        for mass in masses:
            result += mass / total * ((total - mass) / total)
        return result
    if criterion == 2:
        for mass in masses:
            result += np.sqrt(max(0.0, mass / total * ((total - mass) / total)))
        return result
    for mass in masses:
        result = max(result, mass)
    return (total - result) / total


@jit
def _all_ones(values):
    result = True
    for value in values:
        result &= value == 1.0
    return result


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
            if _below(random, count) == 0:
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
def _below(random, bound):
    """A random integer from 0 to bound - 1 (SplitMix64); ``random[0]`` is the generator's state."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64((word >> np.uint64(11)) % np.uint64(bound))


@jit
def _share(counts, masses, literal, class_weight, out_rows, out_masses, leaf, low, high):
    """The class rows of both children, from the parent's counts of the literal."""
    weighted = len(masses) > 0
    for code in range(counts.shape[1]):
        out_rows[high, code] = counts[literal, code]
        out_rows[low, code] = out_rows[leaf, code] - counts[literal, code]
        if weighted:
            out_masses[high, code] = masses[literal, code]
            rest = out_masses[leaf, code] - masses[literal, code]
            out_masses[low, code] = rest if out_rows[low, code] else 0.0
        else:
            out_masses[high, code] = out_rows[high, code] * class_weight[code]
            out_masses[low, code] = out_rows[low, code] * class_weight[code]
