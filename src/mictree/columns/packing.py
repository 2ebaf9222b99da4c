"""Kernels that turn columns of data into bits: one run of uint64 words for each literal.

Slot ``s`` of a literal is bit ``s % 64`` of word ``s // 64``. Rows of one class lie in adjacent
slots and every class starts a new word, so a count for each class is a plain population count of
its words.
Eight bytes loaded as a word have the first one in the lowest bits (little endian, as on every
machine numba supports).
"""

import numpy as np

from mictree._support.jit import jit, load_word

MISSING = -1  # the bin of a missing value, and the row of an empty slot


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
    """The same for any number of rows and columns, one byte at a time."""
    seen = np.uint64(0)
    for k in range(count):
        for column in range(columns):
            cell = np.uint64(flat[starts[k] + column])
            seen |= cell
            out_bits[column, word] |= cell << np.uint64(k)
    return seen


@jit
def find_midpoints(ordered, cuts, out):
    """Midpoints ``t`` with ``below <= t < above``, also once all are rounded to 32 bits.

    ``cuts`` are the positions in sorted values before which a threshold is wanted. scikit-learn's
    trees read their input as 32-bit floats; an export must send the rows of the training data the
    same way wherever 32 bits tell the values apart.
    """
    for number in range(len(cuts)):
        below, above = ordered[cuts[number] - 1], ordered[cuts[number]]
        middle = below / 2 + above / 2  # half of each: their sum may overflow
        low, high = np.float64(np.float32(below)), np.float64(np.float32(above))
        if low < high and not low <= middle < high:
            coarse = low / 2 + high / 2
            if below <= coarse < above:
                middle = coarse
        out[number] = middle if below <= middle < above else below


@jit
def find_bins(values, thresholds, out_bins):
    """The number of thresholds below each value; MISSING for NaN."""
    count = len(thresholds)
    for row in range(len(values)):
        value = values[row]
        if np.isnan(value):
            out_bins[row] = MISSING
            continue
        start, length = 0, count
        while length > 0:
            half = length // 2
            if thresholds[start + half] < value:
                start += half + 1
                length -= half + 1
            else:
                length = half
        out_bins[row] = start


@jit
def pack_bins(bins, order, ordered, out_bits):
    """One literal per row of ``out_bits``, from the bin of every data row.

    Ordered bins (of thresholds) satisfy the literals before them, a missing one the literal behind
    all thresholds, if there is one; bins of categories satisfy one literal each. ``order[slot]``
    is the row in each slot, MISSING where it is empty.
    """
    literals, words = out_bits.shape
    block = np.empty(64, dtype=np.uint64)
    last = np.uint64(63)
    for chunk in range(0, literals, 64):
        width = min(64, literals - chunk)
        for word in range(words):
            for k in range(64):
                row = order[64 * word + k]
                block[k] = 0
                if row == MISSING:
                    continue
                position = bins[row]
                if not ordered:
                    position -= chunk
                    if 0 <= position < 64:
                        block[k] = np.uint64(1) << np.uint64(position)
                elif position == MISSING:
                    if literals - 1 - chunk < 64:  # the literal of missing values is the last
                        block[k] = np.uint64(1) << np.uint64(literals - 1 - chunk)
                else:
                    position -= chunk
                    if position >= 64:
                        block[k] = ~np.uint64(0)
                    elif position > 0:
                        block[k] = ~np.uint64(0) >> (last + np.uint64(1) - np.uint64(position))
            _transpose(block)
            for k in range(width):
                out_bits[chunk + k, word] = block[k]


@jit
def _transpose(block):
    """Transpose a 64 by 64 bit matrix in place, halves within halves (Warren, Hacker's Delight)."""
    mask = np.uint64(0x00000000FFFFFFFF)
    width = 32
    while width:
        shift = np.uint64(width)
        base = 0
        while base < 64:
            for k in range(base, base + width):
                moved = ((block[k] >> shift) ^ block[k + width]) & mask
                block[k + width] ^= moved
                block[k] ^= moved << shift
            base += 2 * width
        width //= 2
        mask ^= mask << np.uint64(width)


@jit
def count_rows(codes, out_rows):
    """The number of rows of each class; ``out_rows`` must be zero at the start."""
    for code in codes:
        out_rows[code] += 1


@jit
def sort_rows(codes, keep, first_word, out_order):
    """Fill ``order``: the kept rows of each class in turn, each class from a new word on."""
    place = first_word[:-1] * 64
    out_order[:] = MISSING
    for row in range(len(codes)):
        if keep[row]:
            out_order[place[codes[row]]] = row
            place[codes[row]] += 1


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
