"""The rows of a leaf in the order of each ordered column; kernels of the growing loop.

For each column the rows lie in the order of their values, those of a leaf behind each other, and a
split shares them out stably among the children.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit

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
        columns.missing[low, column] = _partition(entries, missing, side, columns.scratch)
        columns.missing[low + 1, column] = missing - columns.missing[low, column]


@inner_jit
def _partition(entries, missing, side, scratch):
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
