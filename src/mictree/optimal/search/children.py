"""Lower bounds on the least errors of both children of a literal, for every budget.

Before a child is asked, the search collects free bounds: the pair counts give the child's
least errors without a split and with one, and a floor for more; the table of sub-problems may have
an answer or a bound; and a child that was tried before bounds a similar one. The sum of both
children's bounds often reaches the limit, and then neither is asked.

Invariant: ``bounds[level, 0, side, b]`` is at most the least error of that child with ``b`` splits,
and equal to it where bit ``b`` of ``children[level, side].exact`` is set.
"""

import numpy as np

from mictree._support.jit import inner_jit, inner_loop_jit, lowest_bit
from mictree.optimal.search.frames import ALL
from mictree.optimal.search.table import EXACT_BUDGETS, find, finish_key, unchanged


@inner_jit
def look_up(level, literal, data, table, frames):
    """Fill both children's keys, and their lower bounds for every budget; note the smaller."""
    at = frames.levels[level]
    hash_children(level, literal, data, frames)
    for side in range(2):
        child = frames.children[level, side]
        key = finish_key(child.key_high, child.key_low, at.depth - 1)
        place, version = find(key[0], key[1], table.entries)
        while True:
            _known_bounds(level, literal, side, place, table, frames)
            if place < 0 or unchanged(place, version, table.entries):
                break
            place = -1
    at.looked_up = 1


@inner_jit
def hash_children(level, literal, data, frames):
    """Fill both children's keys; note the smaller."""
    at = frames.levels[level]
    surplus = 0
    for label in range(frames.totals.shape[1]):
        surplus += frames.totals[level, label] - 2 * frames.held[level, label, literal]
    at.smaller = 1 if surplus >= 0 else 0
    flip = np.uint64(0) if at.smaller == 1 else ALL
    high, low = np.uint64(0), np.uint64(0)
    for word in range(frames.mask.shape[1]):
        left = frames.mask[level, word] & (data.columns[literal, word] ^ flip)
        while left:
            slot = 64 * word + lowest_bit(left)
            left &= left - np.uint64(1)
            high ^= data.keys[slot, 0]
            low ^= data.keys[slot, 1]
    for side in range(2):
        child = frames.children[level, side]
        child.key_high = high if side == at.smaller else high ^ at.key_high
        child.key_low = low if side == at.smaller else low ^ at.key_low


@inner_jit
def _known_bounds(level, literal, side, place, table, frames):
    """Fill one child's lower bounds from its pair counts and from a place of the table, or -1."""
    at, least, bounds = frames.levels[level], frames.least, frames.bounds
    many = frames.totals.shape[1] > 3
    if many:
        _class_bounds(level, literal, side, frames)
    deepest = (1 << (at.depth - 1)) - 1 if at.depth <= 62 else at.budget
    perfect = least[level, 1, side, literal] == 0
    proved = table.entries[place, EXACT_BUDGETS] if place >= 0 else np.uint64(0)
    exact = np.uint64(0)
    for size in range(at.budget):
        possible = min(size, deepest)
        bound = least[level, min(possible, 2), side, literal]
        if many and possible >= 2:
            bound = max(bound, bounds[level, 0, side, possible])
        known = possible <= 1 or perfect
        if place >= 0:
            bound = max(bound, table.lower[place, possible])
            known |= (proved >> np.uint64(possible)) & np.uint64(1) != 0
        bounds[level, 0, side, size] = bound
        if known:
            exact |= np.uint64(1) << np.uint64(size)
    frames.children[level, side].exact = exact


@inner_jit
def _class_bounds(level, literal, side, frames):
    """Fill one child's bounds with the weight of all but the heaviest classes, one per leaf."""
    classes = frames.totals.shape[1]
    masses = np.empty(classes, dtype=frames.totals.dtype)
    rest = 0
    for label in range(classes):
        held = frames.held[level, label, literal]
        masses[label] = held if side == 1 else frames.totals[level, label] - held
        rest += masses[label]
    for size in range(frames.levels[level].budget):
        heaviest = 0
        for label in range(classes):
            if masses[label] > masses[heaviest]:
                heaviest = label
        rest -= masses[heaviest]
        masses[heaviest] = 0
        frames.bounds[level, 0, side, size] = rest


@inner_jit
def common_weight(level, literal, other, frames):
    """The weight of the rows of a frame in which two literals hold."""
    both = 0
    for label in range(frames.totals.shape[1]):
        both += frames.pairs[level, label, max(literal, other), min(literal, other)]
    return both


@inner_loop_jit
def compare(level, literal, frames):
    """Raise the bounds of a literal's children by those of similar children.

    A row set that lacks some rows of another has at least the other's least error less their
    weight.
    """
    tried, budget = frames.levels[level].tried, frames.levels[level].budget
    bounds, held = frames.bounds[level], frames.held[level, frames.totals.shape[1]]
    for number in range(tried):
        other = frames.order[level, 1, number]
        lacked = held[literal] - common_weight(level, literal, other, frames)  # by the low child
        for side in range(2):
            for size in range(2, budget):
                bound = bounds[1 + number, side, size] - lacked
                bounds[0, side, size] = max(bounds[0, side, size], bound)
            lacked += held[other] - held[literal]


@inner_jit
def keep(level, literal, frames):
    """Keep the bounds of a literal's children, for the literals to come."""
    at, bounds = frames.levels[level], frames.bounds
    frames.order[level, 1, at.tried] = literal
    for side in range(2):
        for size in range(2, at.budget):
            bounds[level, 1 + at.tried, side, size] = bounds[level, 0, side, size]
    at.tried += 1
