"""Counting all pairs of literals among the rows of a sub-problem.

For every class and every two literals, the count is the weight of the rows in which both hold; with
the totals this gives the weight of each class in all four quarters that two tests make of the rows.
Rows are counted 64 at a time, as bits of one word per literal, so a pair costs one popcount per 64
rows. Only the smaller of two siblings is counted: the larger one is the parent's counts less these.

Invariant: after ``count(level, ...)`` the counts of a frame are those of the rows in its mask, and
``counted`` says which child of the frame above these rows are.
"""

import numpy as np

from mictree._support.jit import inner_jit, lowest_bit, popcount
from mictree.columns.packing import transpose
from mictree.optimal.search.frames import ALL


@inner_jit
def count(level, data, frames):
    """Fill a frame's pair counts and its children's floors; says whether they are new."""
    at = frames.levels[level]
    if level == 0:
        _add_rows(level, level, np.int64(-1), data, frames)
        return True
    above = level - 1
    parent = frames.levels[above]
    literal = frames.order[above, 0, parent.position]
    smaller, wanted = 2 * literal + parent.smaller, 2 * literal + parent.side
    counted = at.counted
    if counted == wanted:
        return False
    if counted // 2 != literal:
        _add_rows(level, above, smaller, data, frames)
        counted = smaller
    if counted != wanted:
        _subtract(above, frames.pairs, frames.least)
    at.counted = wanted
    return True


@inner_jit
def _subtract(level, pairs, least):
    """Replace the next frame's counts, of one child, by those of the other."""
    kind = pairs.dtype.type
    for label in range(pairs.shape[1]):
        for literal in range(pairs.shape[2]):
            for other in range(literal + 1):
                rest = pairs[level, label, literal, other] - pairs[level + 1, label, literal, other]
                pairs[level + 1, label, literal, other] = kind(rest)
    for literal in range(pairs.shape[2]):
        rest = least[level, 2, 1, literal] - least[level + 1, 2, 1, literal]
        least[level + 1, 2, 1, literal] = kind(rest)


@inner_jit
def _add_rows(level, above, child, data, frames):
    """Count the rows of a child of a frame, all its rows for -1, in blocks of up to 64 of a class.

    Children are numbered by twice the literal, plus 1 where it holds.
    """
    flip = np.uint64(0) if child % 2 == 1 else ALL
    _clear(level, frames.pairs, frames.least)
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
                    _add_floor(level, slot, data, frames.least)
                used += 1
            if used == 0:
                break
            for column in range(columns):
                for row in range(used, 64):
                    block[64 * column + row] = 0
            _add_block(level, label, block, data.amounts, frames.pairs)


@inner_jit
def _clear(level, pairs, least):
    """Set a frame's counts and its high children's floors to 0."""
    for label in range(pairs.shape[1]):
        for literal in range(pairs.shape[2]):
            for other in range(literal + 1):
                pairs[level, label, literal, other] = 0
    for literal in range(pairs.shape[2]):
        least[level, 2, 1, literal] = 0


@inner_jit
def _add_floor(level, slot, data, least):
    """Add a row's unavoidable weight to the floors of its literals' high children."""
    for literal in range(len(data.columns)):
        if (data.words[slot, literal // 64] >> np.uint64(literal % 64)) & np.uint64(1):
            least[level, 2, 1, literal] += data.weights[slot, 1]


@inner_jit
def _add_block(level, label, block, amounts, pairs):
    """Add 64 rows: after the literals' bits come those that say which amounts a row has."""
    last = len(block) - 64
    for first in range(0, len(block), 64):
        transpose(block[first : first + 64])
    for digit in range(len(amounts)):
        chosen = ALL if len(amounts) == 1 else block[last + digit]
        if chosen:
            _add_amount(level, label, block, chosen, amounts[digit], pairs)


@inner_jit
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
