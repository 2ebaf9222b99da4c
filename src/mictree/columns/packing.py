"""Kernels that turn columns of 0/1 data and of categories into bits: a run of words each.

Slot ``s`` of a literal is bit ``s % 64`` of word ``s // 64``. Rows of one class lie in adjacent
slots and every class starts a new word, so a count for each class is a plain population count of
its words. Eight bytes loaded as a word have the first one in the lowest bits (little endian, as on
every machine numba supports).
"""

import numpy as np

from mictree._support.jit import jit, load_word

NONE = -1  # the literal of a value that satisfies none, and the row of an empty slot


@jit
def pack_rows(flat, columns, codes, first_word, out_bits):
    """Pack a 0/1 matrix of bytes, given as one run of rows, in one pass.

    Each class collects its next 64 rows, which then become one word in every column.
    ``out_bits`` must be zero at the start. Returns whether all bytes are 0 or 1; if not, the output
    is worthless.
    """
    classes = len(first_word) - 1
    waiting = np.empty((classes, 64), dtype=np.int64)
    count = np.zeros(classes, dtype=np.int64)
    word = first_word[:-1].copy()
    block = np.empty(8, dtype=np.uint64)
    seen = np.uint64(0)
    for row in range(len(codes)):
        code = codes[row]
        ready = count[code]
        waiting[code, ready] = row * columns
        seen |= np.uint64(flat[row * columns])  # reading rows in order wakes the prefetcher
        count[code] = ready + 1
        if ready == 63:
            count[code] = 0
            if columns < 8:
                seen |= _pack_narrow(flat, columns, waiting[code], 64, word[code], out_bits)
            else:
                # eight columns at a time; the last eight may overlap those before
                column = 0
                while column < columns:
                    column = min(column, columns - 8)
                    seen |= _pack_block(flat, column, waiting[code], word[code], block, out_bits)
                    column += 8
            word[code] += 1
    for code in range(classes):
        seen |= _pack_narrow(flat, columns, waiting[code], count[code], word[code], out_bits)
    return seen & np.uint64(0xFEFEFEFEFEFEFEFE) == 0


@jit
def _pack_block(flat, column, starts, word, block, out_bits):
    """64 rows of eight columns, eight bytes at a time; return the bitwise or of all bytes."""
    seen = np.uint64(0)
    for group in range(8):
        bits = np.uint64(0)
        for k in range(8):
            cells = load_word(flat, starts[8 * group + k] + column)
            seen |= cells
            bits |= cells << np.uint64(k)
        block[group] = bits
    # byte c of block[group] holds rows 8 group, ... of column c; transpose the 8 by 8 bytes
    for stage in range(3):
        width = 4 >> stage
        shift = np.uint64(8 * width)
        if stage == 0:
            mask = np.uint64(0x00000000FFFFFFFF)
        elif stage == 1:
            mask = np.uint64(0x0000FFFF0000FFFF)
        else:
            mask = np.uint64(0x00FF00FF00FF00FF)
        for k in range(8):
            if not k & width:
                moved = ((block[k] >> shift) ^ block[k + width]) & mask
                block[k + width] ^= moved
                block[k] ^= moved << shift
    for k in range(8):
        out_bits[column + k, word] = block[k]
    return seen


@jit
def _pack_narrow(flat, columns, starts, count, word, out_bits):
    """As ``_pack_block``, for any number of rows and columns, one byte at a time."""
    seen = np.uint64(0)
    for k in range(count):
        for column in range(columns):
            cell = np.uint64(flat[starts[k] + column])
            seen |= cell
            out_bits[column, word] |= cell << np.uint64(k)
    return seen


def pack_bits(
    holds: np.typing.NDArray[np.bool_],
    slots: np.typing.NDArray[np.intp] | np.typing.NDArray[np.bool_],
    count: int,
) -> np.typing.NDArray[np.uint64]:
    """One literal as a row of words, from what it says of the rows in some of the slots.

    These are numbers, ascending, or a flag for each slot.
    """
    spread = np.zeros(count, dtype=bool)
    spread[slots] = holds
    return np.packbits(spread, bitorder="little").view(np.uint64)[None]


@jit
def pack_categories(positions, order, out_bits):
    """One literal per row of ``out_bits``, from the one that each data row satisfies, or NONE.

    ``order[slot]`` is the row in each slot, NONE where it is empty.
    """
    out_bits[:] = 0
    for slot in range(len(order)):
        row = order[slot]
        if row != NONE and positions[row] != NONE:
            out_bits[positions[row], slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)


@jit
def add_flags(flags, rows, slots, out_words):
    """Set bits of a literal where a byte is 1 and not 0; the bits of these slots must be 0.

    Data row ``rows[k]`` has slot ``slots[k]``; runs of consecutive slots, as classes give them, are
    fast.
    """
    place = 0
    while place < len(rows):
        first = slots[place]
        bit = first & 63
        end = min(place + 64 - bit, len(rows))
        if slots[end - 1] - first != end - 1 - place:  # the run ends earlier
            end = place + 1
            while slots[end] - first == end - place:
                end += 1
        word, shift = np.uint64(0), np.uint64(bit)
        for row in rows[place:end]:
            word |= np.uint64(flags[np.uint64(row)]) << shift  # unsigned: no look for negatives
            shift += np.uint64(1)
        out_words[first >> 6] |= word
        place = end


@jit
def add_categories(positions, rows, slots, out_bits):
    """Set the bit of the literal that each data row satisfies; NONE satisfies none."""
    for place in range(len(rows)):
        position, slot = positions[rows[place]], slots[place]
        if position != NONE:
            out_bits[position, slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)


@jit
def transpose(block):
    """Transpose a 64 x 64 matrix of bits in place (Warren, Hacker's Delight, 7-3)."""
    _swap(block, np.int64(32), np.uint64(0x00000000FFFFFFFF))
    _swap(block, np.int64(16), np.uint64(0x0000FFFF0000FFFF))
    _swap(block, np.int64(8), np.uint64(0x00FF00FF00FF00FF))
    _swap(block, np.int64(4), np.uint64(0x0F0F0F0F0F0F0F0F))
    _swap(block, np.int64(2), np.uint64(0x3333333333333333))
    _swap(block, np.int64(1), np.uint64(0x5555555555555555))


@jit
def _swap(block, width, mask):
    """Exchange the off-diagonal squares of this width."""
    shift = np.uint64(width)
    for first in range(0, 64, 2 * width):
        for row in range(first, first + width):
            swap = ((block[row] >> shift) ^ block[row + width]) & mask
            block[row] ^= swap << shift
            block[row + width] ^= swap


@jit
def count_rows(codes, weights, out_rows):
    """The number of rows of each class, but for those of weight 0; no weights if all are 1.

    ``out_rows`` must be zero at the start.
    """
    for row in range(len(codes)):
        out_rows[codes[row]] += len(weights) == 0 or weights[row] > 0


@jit
def sort_rows(codes, weights, class_rows, out_order, out_rows):
    """Write the rows that ``count_rows`` has counted, class by class.

    ``out_order`` begins each class with a new word and has NONE where there is no row.
    """
    slot, place = np.zeros_like(class_rows), np.zeros_like(class_rows)
    for code in range(1, len(class_rows)):
        slot[code] = slot[code - 1] + (class_rows[code - 1] + 63) // 64 * 64
        place[code] = place[code - 1] + class_rows[code - 1]
    out_order[:] = NONE
    for row in range(len(codes)):
        if len(weights) == 0 or weights[row] > 0:
            code = codes[row]
            out_order[slot[code]] = out_rows[place[code]] = row
            slot[code] += 1
            place[code] += 1


@jit
def valid_slots(rows_of_class, first_word, out_mask):
    """Ones in the slots that hold a row."""
    out_mask[:] = 0
    for code in range(len(rows_of_class)):
        rows = rows_of_class[code]
        word = first_word[code]
        while rows >= 64:
            out_mask[word] = ~np.uint64(0)
            rows -= 64
            word += 1
        if rows:
            out_mask[word] = ~np.uint64(0) >> np.uint64(64 - rows)
