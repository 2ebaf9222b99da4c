"""The rows of leaves of packed data: counted, made compact, and kept sorted; kernels of the loop.

A matrix has a bit for each literal and row, the rows of a class behind each other from a whole word
on. Counting a literal at a leaf is counting the ones of its words under the leaf's mask.
``compact`` moves the rows of a mask into as few words as hold them.

For each ordered column the rows also lie in the order of their values, those of a leaf behind each
other. A split shares them out among the children stably, so they are sorted only once. The flag
``NEW`` marks a row whose value is larger than that of the row before it in the same leaf.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit, lowest_bit, popcount


class Matrix(NamedTuple):
    """The literals of some rows, packed: 64 slots a word, the rows of a class behind each other."""

    bits: np.ndarray  # a row of words for each literal
    first_word: np.ndarray  # of each class, and the end
    valid: np.ndarray  # the slots that hold a row
    weights: np.ndarray  # one for each slot, whole, their sum below 2**53; empty when all are 1
    origin: np.ndarray  # the slot of each row in the whole table; empty without ordered columns


class Counts(NamedTuple):
    """A leaf's rows that satisfy each literal, by class; ``sums`` is empty if all weigh 1."""

    rows: np.ndarray
    sums: np.ndarray


SHRINK = 4  # a compact matrix must have this many times fewer words


@inner_jit
def total_of(values):
    total = values[0]
    for position in range(1, len(values)):
        total += values[position]
    return total


@inner_jit
def leaf_mask(matrix, leaf, top, parent, chosen):
    """The rows of a leaf among the slots of its matrix, which was made for leaf ``top``."""
    mask = matrix.valid.copy()
    while leaf != top:
        row = matrix.bits[chosen[parent[leaf]]]
        if leaf % 2 == 0:  # high children have even numbers
            for word in range(len(mask)):
                mask[word] &= row[word]
        else:
            for word in range(len(mask)):
                mask[word] &= ~row[word]
        leaf = parent[leaf]
    return mask


@inner_jit
def child_mask(mask, row, is_high):
    """The rows of a leaf that satisfy a literal, or those that do not."""
    child = np.empty_like(mask)
    for word in range(len(mask)):
        child[word] = mask[word] & (row[word] if is_high else ~row[word])
    return child


@inner_jit
def count_root(matrix, out_rows, out_sums):
    """Counts and weights of all rows; writes those of the classes."""
    first_word, weights = matrix.first_word, matrix.weights
    literals, classes = len(matrix.bits), len(first_word) - 1
    rows = np.zeros((literals, classes), dtype=np.int64)
    sums = np.zeros((literals if len(weights) else 0, classes))
    every = np.arange(literals)
    count(matrix.bits, first_word, matrix.valid, every, rows)
    count_class_rows(matrix.valid, first_word, out_rows)
    if len(weights):
        weigh(matrix.bits, first_word, matrix.valid, weights, every, sums)
        weigh_class_rows(matrix.valid, first_word, weights, out_sums)
    else:
        for code in range(classes):
            out_sums[code] = out_rows[code]
    return Counts(rows, sums)


@inner_jit
def count_class_rows(mask, first_word, out):
    for code in range(len(out)):
        ones = np.uint64(0)
        for word in range(first_word[code], first_word[code + 1]):
            ones += popcount(mask[word])
        out[code] = ones


@inner_jit
def weigh_class_rows(mask, first_word, weights, out):
    for code in range(len(out)):
        out[code] = _weigh_words(mask, mask, weights, first_word[code], first_word[code + 1])


@inner_jit
def count(bits, first_word, mask, literals, out):
    """Rows of the mask that satisfy each of the given literals, by class."""
    for code in range(len(first_word) - 1):
        start, stop = first_word[code], first_word[code + 1]
        inside = mask[start:stop]
        for literal in literals:
            # loops over a whole slice become vector code; loops from start to stop do not
            row = bits[literal, start:stop]
            ones = np.uint64(0)
            for word in range(len(row)):
                ones += popcount(row[word] & inside[word])
            out[literal, code] = ones


@inner_jit
def weigh(bits, first_word, mask, weights, literals, out):
    """The same, weighted."""
    for literal in literals:
        for code in range(len(first_word) - 1):
            out[literal, code] = _weigh_words(
                bits[literal], mask, weights, first_word[code], first_word[code + 1]
            )


@inner_jit
def _weigh_words(row, mask, weights, start, stop):
    """A sum of weights, exact as they are whole and have a sum below 2**53."""
    total = 0.0
    for word in range(start, stop):
        ones = row[word] & mask[word]
        while ones:
            total += weights[64 * word + lowest_bit(ones)]
            ones &= ones - np.uint64(1)
    return total


@inner_jit
def count_child(matrix, child, parent_rows, total, rows, class_sums):
    """Counts and weights of one child; literals constant at the parent need no look at the rows.

    ``child`` is the mask of its rows; the parent had ``total`` rows, ``parent_rows`` by literal.
    """
    literals, classes = parent_rows.shape
    counts = np.zeros((literals, classes), dtype=np.int64)
    sums = np.zeros((literals if len(matrix.weights) else 0, classes))
    open_literals = np.empty(literals, dtype=np.int64)
    found = 0
    for each in range(literals):
        high = 0
        for code in range(classes):
            high += parent_rows[each, code]
        if high == total:
            for code in range(classes):
                counts[each, code] = rows[code]
                if len(sums):
                    sums[each, code] = class_sums[code]
        elif high > 0:
            open_literals[found] = each
            found += 1
    count(matrix.bits, matrix.first_word, child, open_literals[:found], counts)
    if len(sums):
        weigh(matrix.bits, matrix.first_word, child, matrix.weights, open_literals[:found], sums)
    return Counts(counts, sums)


@inner_jit
def subtract(counts, sums, small_counts, small_sums):
    """Turn the parent's counts into the larger child's, in place."""
    for literal in range(counts.shape[0]):
        for code in range(counts.shape[1]):
            counts[literal, code] -= small_counts[literal, code]
            if len(sums):
                sums[literal, code] -= small_sums[literal, code]


@inner_jit
def _first_words(rows):
    first = np.zeros(len(rows) + 1, dtype=np.int64)
    for code in range(len(rows)):
        first[code + 1] = first[code] + (rows[code] + 63) // 64
    return first


@inner_jit
def shrinks(bits, rows):
    """Whether a matrix of its own would be much smaller than the one a leaf has."""
    words = 0
    for count in rows:
        words += (count + 63) // 64
    return words * SHRINK <= bits.shape[1]


@inner_jit
def compact(matrix, mask, rows):
    """The mask's rows of every literal in as few words as hold them, by class ``rows`` of them."""
    bits, first_word, weights = matrix.bits, matrix.first_word, matrix.weights
    new_first = _first_words(rows)
    literals, words = bits.shape
    small = np.zeros((literals, new_first[-1]), dtype=np.uint64)
    valid = np.zeros(new_first[-1], dtype=np.uint64)
    small_weights = np.zeros(64 * new_first[-1] if len(weights) else 0)
    moves = np.empty((6, words), dtype=np.uint64)
    place = np.empty(words, dtype=np.int64)
    for code in range(len(first_word) - 1):
        slot = 64 * new_first[code]
        for word in range(first_word[code], first_word[code + 1]):
            _plan_moves(mask[word], word, moves)
            place[word] = slot
            slot += np.int64(popcount(mask[word]))
    packed = np.empty(words, dtype=np.uint64)
    for literal in range(literals):
        _squeeze(bits[literal], mask, moves, packed)
        _append(packed, mask, place, small[literal])
    _squeeze(mask, mask, moves, packed)
    _append(packed, mask, place, valid)
    if len(weights):
        for word in range(words):
            slot = place[word]
            for bit in range(64):
                if mask[word] >> np.uint64(bit) & np.uint64(1):
                    small_weights[slot] = weights[64 * word + bit]
                    slot += 1
    origin = np.empty(64 * new_first[-1] if len(matrix.origin) else 0, dtype=np.uint32)
    return Matrix(small, new_first, valid, small_weights, origin)


@inner_jit
def _plan_moves(mask, word, moves):
    """Which bits move right by 1, 2, 4, ... to close the gaps of a mask (Hacker's Delight, 7-4)."""
    one = np.uint64(1)
    gaps = ~mask << one
    for level in range(6):
        parity = gaps ^ (gaps << one)
        parity ^= parity << np.uint64(2)
        parity ^= parity << np.uint64(4)
        parity ^= parity << np.uint64(8)
        parity ^= parity << np.uint64(16)
        parity ^= parity << np.uint64(32)
        move = parity & mask
        moves[level, word] = move
        mask = (mask ^ move) | (move >> (one << np.uint64(level)))
        gaps &= ~parity


@inner_jit
def _squeeze(row, mask, moves, out):
    """Move the mask's bits of every word to its right end."""
    for word in range(len(row)):
        out[word] = row[word] & mask[word]
    for level in range(6):
        shift = np.uint64(1) << np.uint64(level)
        move = moves[level]
        for word in range(len(row)):
            moved = out[word] & move[word]
            out[word] = (out[word] ^ moved) | (moved >> shift)


@inner_jit
def _append(packed, mask, place, out):
    """Put the bits of all words behind each other, word ``w`` from slot ``place[w]`` on."""
    for word in range(len(packed)):
        if mask[word] == 0:
            continue
        target, offset = place[word] >> 6, np.uint64(place[word] & 63)
        out[target] |= packed[word] << offset
        if offset and packed[word] >> (np.uint64(64) - offset):
            out[target + 1] |= packed[word] >> (np.uint64(64) - offset)


NEW = np.uint32(1 << 31)  # a flag of an entry: its value is larger than that of the one before
SLOT = np.uint32((1 << 31) - 1)


class Sorted(NamedTuple):
    """The rows in the order of each ordered column, those of a leaf behind each other."""

    entries: np.ndarray  # (columns, rows): slots, and flags NEW
    start: np.ndarray  # by leaf: its first entry
    missing: np.ndarray  # by leaf and column: how many of its entries have no value; they are first
    before: np.ndarray  # by column: how many of the matrix's literals come before it
    scratch: np.ndarray  # an entry for each row
    side: np.ndarray  # a bit for each slot: its row is in the high child


@jit
def sort_entries(ranks, class_rows, first_word, count, out_entries):
    """Write the slots of all rows in the order of their ranks (a counting sort), and flags."""
    place = np.zeros(count + 1, dtype=np.uint32)
    for value in ranks:
        place[np.int64(value) + 1] += np.uint32(1)
    for value in range(count):
        place[value + 1] += place[value]
    begin = 0
    for code in range(len(class_rows)):
        gap, end = 64 * first_word[code] - begin, begin + class_rows[code]
        for row in range(begin, end):
            value = np.int64(ranks[row])
            out_entries[place[value]] = row + gap
            place[value] += np.uint32(1)
        begin = end
    for value in range(count - 1):  # now each place is the end of its rank
        if place[value] < len(ranks):
            out_entries[place[value]] |= NEW


@inner_jit
def class_of(slot, first_word):
    """The class of the row in a slot."""
    word = slot >> np.uint32(6)
    code = 0
    for other in range(1, len(first_word) - 1):
        code += word >= first_word[other]
    return code


@inner_jit
def add_rows(entries, matrix, out_sums):
    """Add the weights of some rows to the sums of their classes."""
    first_word, weights = matrix.first_word, matrix.weights
    if len(out_sums) == 2 and len(weights) == 0:
        border = np.uint32(64 * first_word[1])
        ones = 0
        for entry in entries:
            ones += (entry & SLOT) >= border
        out_sums[0] += len(entries) - ones
        out_sums[1] += ones
        return
    for entry in entries:
        slot = entry & SLOT
        out_sums[class_of(slot, first_word)] += weights[slot] if len(weights) else 1.0


@inner_jit
def mark_high(entries, place, out_side):
    """Set the bits of the rows from a place on, clear those of the others."""
    for number in range(len(entries)):
        slot = entries[number] & SLOT
        bit = np.uint64(1) << np.uint64(slot & np.uint32(63))
        if number < place:
            out_side[slot >> np.uint32(6)] &= ~bit
        else:
            out_side[slot >> np.uint32(6)] |= bit


@inner_jit
def share_rows(columns, side, leaf, low, low_rows, rows, chosen):
    """Share a leaf's rows out among its children, stably, in every column but the one tested."""
    start = columns.start[leaf]
    columns.start[low], columns.start[low + 1] = start, start + low_rows
    for column in range(len(columns.entries)):
        entries = columns.entries[column, start : start + rows]
        missing = columns.missing[leaf, column]
        if column == chosen:  # missing values are in the low child
            columns.missing[low, column], columns.missing[low + 1, column] = missing, 0
            continue
        columns.missing[low, column] = partition(entries, missing, side, columns.scratch)
        columns.missing[low + 1, column] = missing - columns.missing[low, column]


@inner_jit
def partition(entries, missing, side, scratch):
    """Move the rows of the high child behind the others; of the missing ones, how many stay.

    A flag of a row that goes to the other child passes to the next one of this child. There is no
    branch to predict: every row is written for both children, and overwritten in one.
    """
    stay = missing
    for number in range(missing):
        stay -= np.int64(_bit(side, entries[number]))
    low, high = np.uint64(0), np.uint64(0)  # unsigned places need no look for negative ones
    low_flag, high_flag = np.uint64(0), np.uint64(0)
    for number in range(len(entries)):
        entry = np.uint64(entries[number])
        is_high = _bit(side, entry)
        slot, flag = entry & np.uint64(SLOT), entry & np.uint64(NEW)
        low_flag |= flag
        high_flag |= flag
        entries[low] = slot | low_flag
        scratch[high] = slot | high_flag
        low += np.uint64(1) - is_high
        high += is_high
        low_flag &= np.uint64(0) - is_high
        high_flag &= is_high - np.uint64(1)
    entries[low:] = scratch[:high]
    return stay


@inner_jit
def _bit(bits, entry):
    slot = np.uint64(entry) & np.uint64(SLOT)
    return bits[slot >> np.uint64(6)] >> (slot & np.uint64(63)) & np.uint64(1)


@inner_jit
def mask_of(entries, words):
    """The bits of some rows' slots."""
    mask = np.zeros(words, dtype=np.uint64)
    for entry in entries:
        slot = entry & SLOT
        mask[slot >> np.uint32(6)] |= np.uint64(1) << np.uint64(slot & np.uint32(63))
    return mask


@inner_jit
def renumber(columns, leaf, rows, old, small, mask):
    """Turn the slots of a leaf's rows into those of a compact matrix."""
    new_slot = np.empty(64 * len(mask), dtype=np.uint32)
    for code in range(len(old.first_word) - 1):
        slot = 64 * small.first_word[code]
        for word in range(old.first_word[code], old.first_word[code + 1]):
            for bit in range(64):
                if mask[word] >> np.uint64(bit) & np.uint64(1):
                    new_slot[64 * word + bit] = slot
                    small.origin[slot] = old.origin[64 * word + bit]
                    slot += 1
    start = columns.start[leaf]
    for column in range(len(columns.entries)):
        for number in range(start, start + rows):
            entry = columns.entries[column, number]
            columns.entries[column, number] = new_slot[entry & SLOT] | entry & NEW
