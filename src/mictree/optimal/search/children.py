"""What is known of the children of a literal: lower bounds on their least errors, by budget.

They come from the pair counts, from the table, and from similar children that were tried before.
"""

import numpy as np

from mictree._support.jit import jit, lowest_bit
from mictree.optimal.search.frames import (
    ALL,
    BUDGET,
    DEPTH,
    DONE,
    EXACT,
    MASS,
    ONE,
    SMALLER,
    TOTALS,
)
from mictree.optimal.search.table import EXACT_BUDGETS, find, finish_key, unchanged


@jit
def look_up(level, literal, data, table, frames):
    """Fill both children's keys, and their lower bounds for every budget; note the smaller."""
    surplus = 0
    for label in range(frames.pairs.shape[1]):
        held = frames.pairs[level, label, literal, literal]
        surplus += frames.value[level, TOTALS + label] - 2 * held
    smaller = 1 if surplus >= 0 else 0
    flip = np.uint64(0) if smaller == 1 else ALL
    high, low = np.uint64(0), np.uint64(0)
    for word in range(frames.mask.shape[1]):
        left = frames.mask[level, word] & (data.columns[literal, word] ^ flip)
        while left:
            slot = 64 * word + lowest_bit(left)
            left &= left - np.uint64(1)
            high ^= data.keys[slot, 0]
            low ^= data.keys[slot, 1]
    keys = frames.keys
    keys[level, 2 + 2 * smaller], keys[level, 3 + 2 * smaller] = high, low
    keys[level, 4 - 2 * smaller] = keys[level, 0] ^ high
    keys[level, 5 - 2 * smaller] = keys[level, 1] ^ low
    frames.state[level, SMALLER] = smaller
    budget, depth = frames.state[level, BUDGET], frames.state[level, DEPTH] - 1
    for side in range(2):
        key = finish_key(keys[level, 2 + 2 * side], keys[level, 3 + 2 * side], depth)
        place, version = find(key[0], key[1], table.entries)
        while True:
            _known_bounds(level, literal, side, budget, depth, place, table, frames)
            if place < 0 or unchanged(place, version, table.entries):
                break
            place = -1


@jit
def _known_bounds(level, literal, side, budget, depth, place, table, frames):
    """Fill one child's lower bounds from its pair counts and from the table."""
    cells, bounds = frames.cells, frames.bounds
    deepest = (1 << depth) - 1 if depth < 62 else budget
    perfect = cells[level, ONE + side, literal] == 0
    proved = table.entries[place, EXACT_BUDGETS] if place >= 0 else np.uint64(0)
    exact = np.uint64(0)
    for size in range(budget):
        possible = min(size, deepest)
        bound = cells[level, 2 * min(possible, 2) + side, literal]
        known = possible <= 1 or perfect
        if place >= 0:
            bound = max(bound, table.lower[place, possible])
            known |= (proved >> np.uint64(possible)) & np.uint64(1) != 0
        bounds[level, 0, side, size] = bound
        if known:
            exact |= np.uint64(1) << np.uint64(size)
    frames.keys[level, EXACT + side] = exact


@jit
def compare(level, literal, budget, frames):
    """Raise the bounds of a literal's children by those of similar children.

    A row set that lacks some rows of another has at least the other's least error less their
    weight.
    """
    cells, bounds = frames.cells, frames.bounds
    mass = cells[level, MASS, literal]
    for number in range(frames.state[level, DONE]):
        other = frames.order[level, 1, number]
        both = 0
        for label in range(frames.pairs.shape[1]):
            both += frames.pairs[level, label, max(literal, other), min(literal, other)]
        lacked = mass - both  # by the low child
        for side in range(2):
            for size in range(2, budget):
                bound = bounds[level, 1 + number, side, size] - lacked
                bounds[level, 0, side, size] = max(bounds[level, 0, side, size], bound)
            lacked += cells[level, MASS, other] - mass


@jit
def keep(level, literal, budget, order, bounds, state):
    """Keep what was learned of a literal's children, for those to come."""
    number = state[level, DONE]
    order[level, 1, number] = literal
    for size in range(2, budget):
        bounds[level, 1 + number, 0, size] = bounds[level, 0, 0, size]
        bounds[level, 1 + number, 1, size] = bounds[level, 0, 1, size]
    state[level, DONE] = number + 1
