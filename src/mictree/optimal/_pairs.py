"""Counting all pairs of literals among the rows of a sub-problem.

The rows are packed, class by class, into one run of bits per literal; a pair is an *and* and a
popcount. The counts give the least errors with 0, 1 and 2 splits, and those of every child with 0
and 1 split. ``data`` and ``frames`` are the search's ``Data`` and ``Frames``.
"""

import numpy as np

from mictree._jit import jit, popcount


@jit
def count_pairs(level, count, totals, error, depth, data, frames):
    """Fill a frame's arrays from the counts of all pairs of literals.

    Returns the least errors with one and with two splits, and a lower bound for any number.
    """
    rows = frames.rows[level, :count]
    starts = _pack(level, rows, data, frames)
    classes = len(totals)
    bits = frames.bits[level]
    literals = data.literals
    single = np.empty((classes, literals), dtype=data.weights.dtype)
    for label in range(classes):
        for literal in range(literals):
            _count_both(
                bits, literal, literal, literal + 1, label, starts, rows, data, single[label]
            )
    floor = _unavoidable(level, rows, data, frames)
    leaf, one = frames.leaf[level], frames.one[level]
    one_split = error
    for literal in range(literals):
        low_sum, high_sum = totals[0] - totals[0], totals[0] - totals[0]
        low_most, high_most = low_sum, high_sum
        for label in range(classes):
            high = single[label, literal]
            low = totals[label] - high
            low_sum += low
            high_sum += high
            low_most, high_most = max(low_most, low), max(high_most, high)
        leaf[0, literal], leaf[1, literal] = low_sum - low_most, high_sum - high_most
        if low_sum == 0 or high_sum == 0:
            leaf[0, literal] = -1
            continue
        one[0, literal], one[1, literal] = leaf[0, literal], leaf[1, literal]
        one_split = min(one_split, leaf[0, literal] + leaf[1, literal])
    if depth <= 1:
        return one_split, one_split, floor
    both = np.empty((classes, literals), dtype=data.weights.dtype)
    for literal in range(literals):
        if leaf[0, literal] < 0:
            continue
        for label in range(classes):
            _count_both(bits, literal, 0, literal, label, starts, rows, data, both[label])
        if classes == 2:
            _pair_errors_two(
                literal, totals, single[0], single[1], both[0], both[1], one[0], one[1]
            )
        else:
            _pair_errors(literal, totals, single, both, one)
    two_splits = one_split
    for literal in range(literals):
        if leaf[0, literal] >= 0:
            first = one[0, literal] + leaf[1, literal]
            second = leaf[0, literal] + one[1, literal]
            two_splits = min(two_splits, first, second)
    return one_split, two_splits, floor


@jit
def _pair_errors_two(literal, totals, zeros, ones, both_zeros, both_ones, low, high):
    """Lower the one-split errors of two literals' children by each other; two classes.

    ``zeros`` and ``ones`` are the weights of class 0 and 1 where a literal holds, ``both_zeros``
    and ``both_ones`` where the given one holds too; ``low`` and ``high`` are lowered in place.
    """
    a, b = zeros[literal], ones[literal]
    rest_a, rest_b = totals[0] - a, totals[1] - b
    low_best, high_best = low[literal], high[literal]
    for other in range(literal):
        a11, b11 = both_zeros[other], both_ones[other]
        a10, b10 = a - a11, b - b11
        a01, b01 = zeros[other] - a11, ones[other] - b11
        a00, b00 = rest_a - a01, rest_b - b01
        e11 = a11 if a11 < b11 else b11
        e10 = a10 if a10 < b10 else b10
        e01 = a01 if a01 < b01 else b01
        e00 = a00 if a00 < b00 else b00
        high_here, low_here = e11 + e10, e01 + e00
        high_best = high_here if high_here < high_best else high_best
        low_best = low_here if low_here < low_best else low_best
        high_there, low_there = e11 + e01, e10 + e00
        high[other] = high_there if high_there < high[other] else high[other]
        low[other] = low_there if low_there < low[other] else low[other]
    low[literal], high[literal] = low_best, high_best


@jit
def _pair_errors(literal, totals, single, both, one):
    """The same for any number of classes."""
    cells, sums, most = np.empty((3, 4), dtype=one.dtype)
    for other in range(literal):
        sums[:], most[:] = 0, 0
        for label in range(len(totals)):
            n11 = both[label, other]
            n10 = single[label, literal] - n11
            n01 = single[label, other] - n11
            cells[0], cells[1], cells[2] = n11, n10, n01
            cells[3] = totals[label] - n11 - n10 - n01
            for cell in range(4):
                sums[cell] += cells[cell]
                most[cell] = max(most[cell], cells[cell])
        errors = sums - most
        one[1, literal] = min(one[1, literal], errors[0] + errors[1])
        one[0, literal] = min(one[0, literal], errors[2] + errors[3])
        one[1, other] = min(one[1, other], errors[0] + errors[2])
        one[0, other] = min(one[0, other], errors[1] + errors[3])


@jit
def _count_both(bits, literal, begin, end, label, starts, rows, data, out):
    """Write for some other literals the weight of the rows of a class in which both hold."""
    first, last = starts[label, 0], starts[label, 1]
    if data.unit:
        _count_ones(bits, literal, begin, end, first, last, out)
        return
    for other in range(begin, end):
        total = data.weights[0] - data.weights[0]
        for word in range(first, last):
            left = bits[literal, word] & bits[other, word]
            base = starts[label, 2] + 64 * (word - first)
            while left:
                place = popcount((left & (~left + np.uint64(1))) - np.uint64(1))
                total += data.weights[rows[base + np.int64(place)]]
                left &= left - np.uint64(1)
        out[other] = total


@jit
def _count_ones(bits, literal, begin, end, first, last, out):
    """The same where every row weighs 1."""
    row = bits[literal]
    for other in range(begin, end):
        ones = np.uint64(0)
        for word in range(first, last):
            ones += popcount(row[word] & bits[other, word])
        out[other] = ones


@jit
def _unavoidable(level, rows, data, frames):
    """Fill each child's share of unavoidable errors; returns the whole."""
    least = frames.least[level]
    least[:] = 0
    whole = data.weights[0] - data.weights[0]
    for row in rows:
        share = data.unavoidable[row]
        if share > 0:
            whole += share
            for literal in range(data.literals):
                bit = (data.words[row, literal // 64] >> np.uint64(literal % 64)) & np.uint64(1)
                least[np.int64(bit), literal] += share
    return whole


@jit
def _pack(level, rows, data, frames):
    """Fill ``frames.bits`` with the literals' bits of some rows, class by class.

    Returns for each class its first word, the end, and its first row's number among the rows.
    """
    classes = len(data.first_row) - 1
    starts = np.zeros((classes, 3), dtype=np.int64)
    bits = frames.bits[level]
    block = np.empty(64, dtype=np.uint64)
    begin, word = 0, 0
    for label in range(classes):
        end = begin
        while end < len(rows) and rows[end] < data.first_row[label + 1]:
            end += 1
        starts[label, 0], starts[label, 2] = word, begin
        for first in range(begin, end, 64):
            used = min(64, end - first)
            for column in range(data.words.shape[1]):
                for number in range(used):
                    block[number] = data.words[rows[first + number], column]
                block[used:] = 0
                _transpose(block)
                for bit in range(min(64, data.literals - 64 * column)):
                    bits[64 * column + bit, word] = block[bit]
            word += 1
        starts[label, 1] = word
        begin = end
    return starts


@jit
def _transpose(block):
    """Transpose a 64 x 64 matrix of bits in place (Warren, Hacker's Delight, 7-3)."""
    width = np.uint64(32)
    mask = np.uint64(0x00000000FFFFFFFF)
    while width > 0:
        row = np.uint64(0)
        while row < 64:
            lower, upper = np.int64(row), np.int64(row | width)
            swap = ((block[lower] >> width) ^ block[upper]) & mask
            block[lower] ^= swap << width
            block[upper] ^= swap
            row = ((row | width) + np.uint64(1)) & ~width
        width >>= np.uint64(1)
        mask ^= mask << width
