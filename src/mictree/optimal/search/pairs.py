"""Counting all pairs of literals among the rows of a sub-problem.

The counts per class give the least errors with up to 2 splits, and those of every child with up to
1. Only the rows of the smaller of two siblings are counted, 64 at a time as bits of one word per
literal; what the parent's counts leave is the larger one. ``data`` and ``frames`` are the search's
``Data`` and ``Frames``.
"""

import numpy as np

from mictree._support.jit import jit, lowest_bit, popcount
from mictree.optimal.search.frames import (
    ALL,
    DEPTH,
    ERRORS,
    FLOOR,
    HELD,
    LEAF,
    LEAST,
    MASS,
    ONE,
    POSITION,
    SHARE,
    SIDE,
    SINGLE,
    SMALLER,
    TOTALS,
    USEFUL,
)


@jit
def count(level, data, frames):
    """Fill a frame's pair counts; says whether they are not the ones that were there."""
    if level == 0:
        _add_rows(0, 0, -1, data, frames)
        return True
    above = level - 1
    literal = frames.order[above, 0, frames.state[above, POSITION]]
    smaller = 2 * literal + frames.state[above, SMALLER]
    wanted = 2 * literal + frames.state[above, SIDE]
    held = frames.state[level, HELD]  # the child of the frame above whose counts are there
    if held == wanted:
        return False
    if held // 2 != literal:
        _add_rows(level, above, smaller, data, frames)
        held = smaller
    if held != wanted:
        _subtract(above, frames.pairs, frames.cells)
    frames.state[level, HELD] = wanted
    return True


@jit
def _subtract(level, pairs, cells):
    """Replace the next frame's counts, of one child, by those of the other."""
    kind = pairs.dtype.type
    for label in range(pairs.shape[1]):
        for literal in range(pairs.shape[2]):
            for other in range(literal + 1):
                rest = pairs[level, label, literal, other] - pairs[level + 1, label, literal, other]
                pairs[level + 1, label, literal, other] = kind(rest)
    for literal in range(pairs.shape[2]):
        rest = cells[level, SHARE, literal] - cells[level + 1, SHARE, literal]
        cells[level + 1, SHARE, literal] = rest


@jit
def _add_rows(level, above, child, data, frames):
    """Count the rows of a child of a frame, all its rows for -1, in blocks of up to 64 of a class.

    Children are numbered by twice the literal, plus 1 where it holds.
    """
    flip = np.uint64(0) if child % 2 == 1 else ALL
    _clear(level, frames.pairs, frames.cells)
    columns = data.words.shape[1]
    block = np.empty(64 * columns, dtype=np.uint64)
    for label in range(len(data.first_word) - 1):
        word, end = data.first_word[label], data.first_word[label + 1]
        left = np.uint64(0)
        while True:
            used = 0
            while used < 64:
                while left == 0 and word < end:
                    left = frames.mask[above, word]
                    if child >= 0:
                        left &= data.columns[child // 2, word] ^ flip
                    word += 1
                if left == 0:
                    break
                slot = 64 * (word - 1) + lowest_bit(left)
                left &= left - np.uint64(1)
                for column in range(columns):
                    block[64 * column + used] = data.words[slot, column]
                if data.weights[slot, 1] > 0:
                    _add_share(level, slot, data, frames.cells)
                used += 1
            if used == 0:
                break
            for column in range(columns):
                for row in range(used, 64):
                    block[64 * column + row] = 0
            _add_block(level, label, block, data.amounts, frames.pairs)


@jit
def _clear(level, pairs, cells):
    """Set a frame's counts to 0."""
    for label in range(pairs.shape[1]):
        for literal in range(pairs.shape[2]):
            for other in range(literal + 1):
                pairs[level, label, literal, other] = 0
    for literal in range(pairs.shape[2]):
        cells[level, SHARE, literal] = 0


@jit
def _add_share(level, slot, data, cells):
    """Add a row's unavoidable weight to all its literals."""
    for literal in range(len(data.columns)):
        if (data.words[slot, literal // 64] >> np.uint64(literal % 64)) & np.uint64(1):
            cells[level, SHARE, literal] += data.weights[slot, 1]


@jit
def _add_block(level, label, block, amounts, pairs):
    """Add 64 rows: after the literals' bits come those that say which amounts a row has."""
    last = len(block) - 64
    for first in range(0, len(block), 64):
        _transpose(block[first : first + 64])
    for digit in range(len(amounts)):
        chosen = ALL if len(amounts) == 1 else block[last + digit]
        if chosen:
            _add_amount(level, label, block, chosen, amounts[digit], pairs)


@jit
def _add_amount(level, label, bits, chosen, amount, pairs):
    """Add an amount for each chosen row to all pairs of literals that hold in it."""
    kind = pairs.dtype.type
    for literal in range(pairs.shape[2]):
        here = bits[literal] & chosen
        if here == 0:
            continue
        if amount == 1:
            for other in range(literal + 1):
                pairs[level, label, literal, other] += kind(popcount(here & bits[other]))
        else:
            for other in range(literal + 1):
                both = kind(popcount(here & bits[other]))
                pairs[level, label, literal, other] += kind(amount * both)


@jit
def _transpose(block):
    """Transpose a 64 x 64 matrix of bits in place (Warren, Hacker's Delight, 7-3)."""
    _swap(block, 32, np.uint64(0x00000000FFFFFFFF))
    _swap(block, 16, np.uint64(0x0000FFFF0000FFFF))
    _swap(block, 8, np.uint64(0x00FF00FF00FF00FF))
    _swap(block, 4, np.uint64(0x0F0F0F0F0F0F0F0F))
    _swap(block, 2, np.uint64(0x3333333333333333))
    _swap(block, 1, np.uint64(0x5555555555555555))


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
def least_errors(level, frames):
    """Fill what a frame's new pair counts say of its children with 0 and 1 split, and of itself.

    Itself: the least errors without a split, with 1, with 2, and with one in each child.
    """
    cells, value, pairs = frames.cells, frames.value, frames.pairs
    classes = pairs.shape[1]
    frames.state[level, USEFUL] = -1  # literals are not sorted yet
    if level + 1 < len(frames.state):
        frames.state[level + 1, HELD] = -1
    whole, most = 0, 0
    for label in range(classes):
        whole += value[level, TOTALS + label]
        most = max(most, value[level, TOTALS + label])
    with_one = whole - most
    value[level, ERRORS] = with_one
    for literal in range(cells.shape[2]):
        low, high, low_most, high_most = 0, 0, 0, 0
        for label in range(classes):
            held = pairs[level, label, literal, literal]
            rest = value[level, TOTALS + label] - held
            cells[level, SINGLE + label, literal] = held
            low += rest
            high += held
            low_most, high_most = max(low_most, rest), max(high_most, held)
        cells[level, MASS, literal] = high
        low_error, high_error = low - low_most, high - high_most
        cells[level, ONE, literal], cells[level, ONE + 1, literal] = low_error, high_error
        share = cells[level, SHARE, literal]
        cells[level, LEAST, literal] = value[level, FLOOR] - share
        cells[level, LEAST + 1, literal] = share
        if low == 0 or high == 0:
            low_error = -1  # the literal is constant
        else:
            with_one = min(with_one, low_error + high_error)
        cells[level, LEAF, literal], cells[level, LEAF + 1, literal] = low_error, high_error
    with_two, with_both = with_one, with_one
    if frames.state[level, DEPTH] > 1:
        if classes == 2:
            _one_split_of_two(level, pairs, cells, value)
        else:
            _one_split_of_many(level, pairs, cells, value)
        for literal in range(cells.shape[2]):
            low_leaf, high_leaf = cells[level, LEAF, literal], cells[level, LEAF + 1, literal]
            if low_leaf >= 0:
                low, high = cells[level, ONE, literal], cells[level, ONE + 1, literal]
                with_two = min(with_two, low + high_leaf, low_leaf + high)
                with_both = min(with_both, low + high)
    value[level, ERRORS + 1] = with_one
    value[level, ERRORS + 2] = with_two
    value[level, ERRORS + 3] = min(with_two, with_both)


@jit
def _one_split_of_two(level, pairs, cells, value):
    """Lower the one-split errors of two literals' children by each other; two classes."""
    kind = pairs.dtype.type
    low, high = cells[level, ONE], cells[level, ONE + 1]
    zeros, ones = cells[level, SINGLE], cells[level, SINGLE + 1]
    for literal in range(len(low)):
        a, b = zeros[literal], ones[literal]
        rest_a = kind(value[level, TOTALS] - a)
        rest_b = kind(value[level, TOTALS + 1] - b)
        low_best, high_best = low[literal], high[literal]
        for other in range(literal):
            a11, b11 = pairs[level, 0, literal, other], pairs[level, 1, literal, other]
            a10, b10 = kind(a - a11), kind(b - b11)
            a01, b01 = kind(zeros[other] - a11), kind(ones[other] - b11)
            a00, b00 = kind(rest_a - a01), kind(rest_b - b01)
            e11, e10 = min(a11, b11), min(a10, b10)
            e01, e00 = min(a01, b01), min(a00, b00)
            high_best = min(high_best, kind(e11 + e10))
            low_best = min(low_best, kind(e01 + e00))
            high[other] = min(high[other], kind(e11 + e01))
            low[other] = min(low[other], kind(e10 + e00))
        low[literal], high[literal] = low_best, high_best


@jit
def _one_split_of_many(level, pairs, cells, value):
    """The same for any number of classes; a quarter's error is all but its heaviest class."""
    kind = pairs.dtype.type
    classes, literals = pairs.shape[1], pairs.shape[2]
    most = np.empty((4, literals), dtype=pairs.dtype)
    mass = np.zeros((2, literals), dtype=np.int64)  # of the low and the high child
    for label in range(classes):
        for literal in range(literals):
            held = cells[level, SINGLE + label, literal]
            mass[0, literal] += value[level, TOTALS + label] - held
            mass[1, literal] += held
    for literal in range(literals):
        for other in range(literal):
            for quarter in range(4):
                most[quarter, other] = 0
        for label in range(classes):
            here = cells[level, SINGLE + label, literal]
            rest = kind(value[level, TOTALS + label] - here)
            for other in range(literal):
                n11 = pairs[level, label, literal, other]
                n01 = kind(cells[level, SINGLE + label, other] - n11)
                most[0, other] = max(most[0, other], n11)
                most[1, other] = max(most[1, other], kind(here - n11))
                most[2, other] = max(most[2, other], n01)
                most[3, other] = max(most[3, other], kind(rest - n01))
        for other in range(literal):
            m11, m10, m01, m00 = most[0, other], most[1, other], most[2, other], most[3, other]
            low, high = cells[level, ONE, literal], cells[level, ONE + 1, literal]
            cells[level, ONE, literal] = min(low, mass[0, literal] - m01 - m00)
            cells[level, ONE + 1, literal] = min(high, mass[1, literal] - m11 - m10)
            low, high = cells[level, ONE, other], cells[level, ONE + 1, other]
            cells[level, ONE, other] = min(low, mass[0, other] - m10 - m00)
            cells[level, ONE + 1, other] = min(high, mass[1, other] - m11 - m01)
