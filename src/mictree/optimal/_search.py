"""Branch and bound over row sets: the kernel behind optimal trees on data.

A sub-problem is a set of rows and a budget of splits. Counting all pairs of literals among its rows
gives, at once, its least errors with 0, 1 and 2 splits and those of every child with 0 and 1 split.
What is learned of a row set, a lower bound for every budget, is kept in one table under a 128-bit
hash of the set: two random 64-bit numbers per row, xor-ed. Two different sets share a key with
probability 2**-128; among n sets a collision has probability below n**2 / 2**129.
"""

from typing import Any, NamedTuple

import numpy as np

from mictree._jit import jit
from mictree.optimal._pairs import count_pairs

PROBES = 8  # places of the table that a key may have; the last is overwritten when all are taken
STORED, VISITED, OVERWRITTEN, ROOM = range(4)  # counters; ROOM: how many may be stored
RUN, STOP, GROW = range(3)  # what `stop` says: go on; give up; come back for a larger table
UNLIMITED = 1 << 20  # a depth that no budget reaches


class Data(NamedTuple):
    """The rows, sorted by class."""

    words: np.ndarray  # (rows, words): the literals' bits of each row
    weights: np.ndarray  # (rows,), int64 or float64; all arithmetic is in this type
    unit: bool  # all weights are 1
    smallest: Any  # a step that makes a bound of "at most" one of "below": 1 for whole weights
    unavoidable: np.ndarray  # (rows,) the weight that no tree can label right
    keys: np.ndarray  # (rows, 2) random
    first_row: np.ndarray  # (classes + 1,)
    literals: int


class Table(NamedTuple):
    """What is known of row sets: keys, lower bounds by budget, and which of them are exact."""

    keys: np.ndarray  # (places, 2); 0, 0 is free
    lower: np.ndarray  # (places, budgets)
    exact: np.ndarray  # (places,) bit b: lower[b] is the least error


class Frames(NamedTuple):
    """Scratch of one recursion level each: the rows of a sub-problem and what its pairs say."""

    rows: np.ndarray  # (levels, rows)
    bits: np.ndarray  # (levels, literals, words)
    leaf: np.ndarray  # (levels, 2, literals) least error of the low and high child without a split
    one: np.ndarray  # (levels, 2, literals) and with one
    least: np.ndarray  # (levels, 2, literals) lower bound with any number
    order: np.ndarray  # (levels, literals)
    bounds: np.ndarray  # (levels, 2, budgets) lower bounds of the literal's children by budget
    exact: np.ndarray  # (levels, 2) bit b: that child's bound for budget b is its least error
    state: np.ndarray  # (levels, 9) where the frame stands; see the names below
    value: np.ndarray  # (levels, 7) its bound, limit and errors; see the names below
    key: np.ndarray  # (levels, 2)


COUNT, BUDGET, DEPTH, POSITION, TURN, LOOKED, SIDE, LOW, LARGER = range(9)
BOUND, LIMIT, FLOOR, BEST, ERROR, ONE, TWO = range(7)


@jit
def solve(base, count, budget, bound, depth, data, table, frames, stop, counters):
    """The least error of the rows in ``frames.rows[base, :count]``, if it is below ``bound``.

    Otherwise some number that is at least ``bound`` and at most the least error. Rows are in order
    of their class. Once ``stop`` is set it returns at once, and the result means nothing. The
    recursion is a stack of frames, as compiled functions that call each other cannot be kept.
    """
    level = base
    _open(level, count, budget, bound, depth, frames)
    finished, result = _enter(level, data, table, frames, stop, counters)
    while True:
        if not finished:
            if _advance(level, data, table, frames):
                level += 1
                finished, result = _enter(level, data, table, frames, stop, counters)
                continue
            result = _close(level, table, frames, stop, counters)
        if level == base or stop[0] != RUN:
            return result
        level -= 1
        _take(level, result, frames)
        finished = False


@jit
def _open(level, count, budget, bound, depth, frames):
    """Put a question to a frame whose rows are in place."""
    state = frames.state[level]
    state[COUNT], state[DEPTH] = count, depth
    state[BUDGET] = min(budget, (1 << depth) - 1) if depth < 62 else budget
    state[POSITION], state[TURN], state[LOOKED] = 0, 0, 0
    frames.value[level, BOUND] = bound


@jit
def _enter(level, data, table, frames, stop, counters):
    """Answer a question at once if that is possible; says whether it was, and the answer."""
    state, value = frames.state[level], frames.value[level]
    count, budget = state[COUNT], state[BUDGET]
    rows = frames.rows[level, :count]
    totals = _class_masses(rows, data)
    error = totals.sum() - totals.max()
    if budget == 0 or error == 0 or stop[0] != RUN:
        return True, error
    key = frames.key[level]
    key[0], key[1] = _key(rows, state[DEPTH], data.keys)
    place = _find(key[0], key[1], table)
    if place >= 0:
        known = table.lower[place, budget]
        exact = (table.exact[place] >> np.uint64(budget)) & np.uint64(1)
        if known >= value[BOUND] or exact:
            return True, known
    counters[VISITED] += 1
    one, two, floor = count_pairs(level, count, totals, error, state[DEPTH], data, frames)
    value[ERROR], value[ONE], value[TWO], value[FLOOR] = error, one, two, floor
    best = one if budget == 1 else two
    value[BEST] = best
    value[LIMIT] = min(value[BOUND], best)
    if budget <= 2 or best <= floor:
        _remember(level, best, True, table, frames, counters)
        return True, best
    _sort_literals(level, data.literals, frames)
    return False, best


@jit
def _close(level, table, frames, stop, counters):
    """The answer of a frame that has tried all literals."""
    value = frames.value[level]
    limit = value[LIMIT]
    exact = limit < value[BOUND] or limit == value[BEST]
    _remember(level, limit, exact, table, frames, counters)
    if counters[STORED] > counters[ROOM]:
        stop[0] = GROW
    return limit


@jit
def _take(level, answer, frames):
    """Note a child's answer: a lower bound for its budget holds for all smaller ones."""
    state = frames.state[level]
    side = state[SIDE]
    budget = state[LOW] if side == 0 else state[BUDGET] - 1 - state[LOW]
    for size in range(budget + 1):
        frames.bounds[level, side, size] = max(frames.bounds[level, side, size], answer)
    if answer < frames.value[level + 1, BOUND]:
        frames.exact[level, side] |= np.uint64(1) << np.uint64(budget)


@jit
def _advance(level, data, table, frames):
    """Put the next question to a child's frame, or say False when there is none.

    For each literal, and each way to share the budget, from balanced to lopsided, the larger child
    is asked first, each for less than the other's lower bound leaves below the limit.
    """
    state, value, bounds = frames.state[level], frames.value[level], frames.bounds[level]
    budget = state[BUDGET]
    while state[POSITION] < data.literals and value[LIMIT] > value[FLOOR]:
        literal = frames.order[level, state[POSITION]]
        if literal < 0:
            return False
        if state[TURN] == budget:
            state[POSITION] += 1
            state[TURN], state[LOOKED] = 0, 0
            continue
        offset = (state[TURN] + 1) // 2
        low_budget = (budget - 1) // 2 + (offset if state[TURN] % 2 == 1 else -offset)
        high_budget = budget - 1 - low_budget
        low = _quick_bound(level, 0, literal, low_budget, frames)
        high = _quick_bound(level, 1, literal, high_budget, frames)
        if low + high < value[LIMIT] and not state[LOOKED]:
            state[LARGER] = _look_up(level, literal, data, table, frames)
            state[LOOKED] = 1
        if state[LOOKED]:
            low, high = bounds[0, low_budget], bounds[1, high_budget]
        if low + high >= value[LIMIT]:
            state[TURN] += 1
            continue
        low_known = (frames.exact[level, 0] >> np.uint64(low_budget)) & np.uint64(1)
        high_known = (frames.exact[level, 1] >> np.uint64(high_budget)) & np.uint64(1)
        if low_known and high_known:
            value[LIMIT] = low + high
            state[TURN] += 1
            continue
        side = state[LARGER]
        if (low_known and side == 0) or (high_known and side == 1):
            side = 1 - side
        state[SIDE], state[LOW] = side, low_budget
        count = _child_rows(level, state[COUNT], literal, side, data, frames)
        child_budget = low_budget if side == 0 else high_budget
        rest = value[LIMIT] - (high if side == 0 else low)
        _open(level + 1, count, child_budget, rest, state[DEPTH] - 1, frames)
        return True
    return False


@jit
def choose(count, budget, value, slack, depth, data, table, frames, stop, counters):
    """The first test of a tree that attains a known least error of the rows in frame 0.

    Returns the literal, the budget of the low child, and both children's least errors; the literal
    is -1 where a leaf is as good. ``slack`` is what rounding may have cost.
    """
    none = (np.int64(-1), np.int64(0), value, value)
    totals = _class_masses(frames.rows[0, :count], data)
    error = totals.sum() - totals.max()
    if error <= value + slack or budget == 0:
        return none
    count_pairs(0, count, totals, error, depth, data, frames)
    _sort_literals(0, data.literals, frames)
    _open(0, count, budget, value, depth, frames)
    bounds = frames.bounds[0]
    for position in range(data.literals):
        literal = frames.order[0, position]
        if literal < 0:
            break
        _look_up(0, literal, data, table, frames)
        for low_budget in range(budget):
            high_budget = budget - 1 - low_budget
            limit = value + slack - bounds[1, high_budget]
            if bounds[0, low_budget] > limit:
                continue
            low = _solve_child(
                0, count, literal, low_budget, limit, depth, data, table, frames, stop, counters
            )
            if stop[0] != RUN:
                return none
            limit = value + slack - low
            if bounds[1, high_budget] > limit:
                continue
            high = _solve_child(
                1, count, literal, high_budget, limit, depth, data, table, frames, stop, counters
            )
            if stop[0] != RUN:
                return none
            if high <= limit:
                return np.int64(literal), np.int64(low_budget), low, high
    return none


@jit
def _solve_child(side, count, literal, budget, limit, depth, data, table, frames, stop, counters):
    """The least error of a child of frame 0 if it is at most ``limit``, else something above."""
    children = _child_rows(0, count, literal, side, data, frames)
    above = limit + data.smallest
    return solve(1, children, budget, above, depth - 1, data, table, frames, stop, counters)


@jit
def root_bound(count, budget, depth, data, table, frames):
    """A lower bound on the least error of frame 0's rows, from what is known of their children."""
    totals = _class_masses(frames.rows[0, :count], data)
    error = totals.sum() - totals.max()
    one, two, floor = count_pairs(0, count, totals, error, depth, data, frames)
    if budget == 0:
        return error
    if budget == 1:
        return one
    if budget == 2 or two <= floor:
        return two
    best = two
    _open(0, count, budget, best, depth, frames)
    bounds = frames.bounds[0]
    for literal in range(data.literals):
        if frames.leaf[0, 0, literal] < 0:
            continue
        _look_up(0, literal, data, table, frames)
        for low_budget in range(budget):
            best = min(best, bounds[0, low_budget] + bounds[1, budget - 1 - low_budget])
    return max(best, floor)


@jit
def rehash(old, new):
    """Move all entries into a larger table."""
    mask = np.uint64(len(new.exact) - 1)
    for number in range(len(old.exact)):
        if old.keys[number, 1] == 0:
            continue
        for probe in range(PROBES):
            place = np.int64((old.keys[number, 0] + np.uint64(probe)) & mask)
            if new.keys[place, 1] == 0:
                new.keys[place] = old.keys[number]
                new.lower[place] = old.lower[number]
                new.exact[place] = old.exact[number]
                break


@jit
def _quick_bound(level, side, literal, budget, frames):
    """What the pair counts say of a child: exact with 0 or 1 split."""
    if budget == 0:
        return frames.leaf[level, side, literal]
    if budget == 1:
        return frames.one[level, side, literal]
    return frames.least[level, side, literal]


@jit
def _look_up(level, literal, data, table, frames):
    """Fill lower bounds of both children for every budget; returns which child has more rows."""
    state = frames.state[level]
    count, depth = state[COUNT], state[DEPTH] - 1
    word, bit = literal // 64, np.uint64(literal % 64)
    whole_high, whole_low = np.uint64(0), np.uint64(0)
    high_high, high_low = np.uint64(0), np.uint64(0)
    held = 0
    for number in range(count):
        row = frames.rows[level, number]
        keep = -((data.words[row, word] >> bit) & np.uint64(1))  # all ones where the literal holds
        first, second = data.keys[row, 0], data.keys[row, 1]
        whole_high ^= first
        whole_low ^= second
        high_high ^= first & keep
        high_low ^= second & keep
        held += np.int64(keep & np.uint64(1))
    _known_bounds(level, literal, 1, _finish_key(high_high, high_low, depth), table, frames)
    rest = _finish_key(whole_high ^ high_high, whole_low ^ high_low, depth)
    _known_bounds(level, literal, 0, rest, table, frames)
    return 1 if 2 * held > count else 0


@jit
def _known_bounds(level, literal, side, key, table, frames):
    """Fill one child's lower bounds from its pair counts and from the table."""
    state, bounds = frames.state[level], frames.bounds[level]
    budget, depth = state[BUDGET], state[DEPTH] - 1
    place = _find(key[0], key[1], table)
    deepest = (1 << depth) - 1 if depth < 62 else budget
    exact = np.uint64(0)
    for size in range(budget):
        possible = min(size, deepest)
        bounds[side, size] = _quick_bound(level, side, literal, possible, frames)
        known = possible <= 1 or (bounds[side, size] == 0 and frames.one[level, side, literal] == 0)
        if place >= 0:
            bounds[side, size] = max(bounds[side, size], table.lower[place, possible])
            known |= (table.exact[place] >> np.uint64(possible)) & np.uint64(1) == np.uint64(1)
        if known:
            exact |= np.uint64(1) << np.uint64(size)
    frames.exact[level, side] = exact


@jit
def _child_rows(level, count, literal, side, data, frames):
    """Write the rows of a child into the next level's frame; returns how many."""
    word, bit = literal // 64, np.uint64(literal % 64)
    found = 0
    for number in range(count):
        row = frames.rows[level, number]
        if (data.words[row, word] >> bit) & np.uint64(1) == np.uint64(side):
            frames.rows[level + 1, found] = row
            found += 1
    return found


@jit
def _class_masses(rows, data):
    """The weight of each class among some rows."""
    totals = np.zeros(len(data.first_row) - 1, dtype=data.weights.dtype)
    label = 0
    for row in rows:
        while row >= data.first_row[label + 1]:
            label += 1
        totals[label] += data.weights[row]
    return totals


@jit
def _key(rows, depth, keys):
    """The hash of a row set."""
    high, low = np.uint64(0), np.uint64(0)
    for row in rows:
        high ^= keys[row, 0]
        low ^= keys[row, 1]
    return _finish_key(high, low, depth)


@jit
def _finish_key(high, low, depth):
    """Where depth is limited, what is left of it belongs to the key; the second half is never 0."""
    if depth < 62:
        high += np.uint64(depth + 1) * np.uint64(0x9E3779B97F4A7C15)
    return high, low | np.uint64(1)


@jit
def _find(high_key, low_key, table):
    """The place of a key, or -1."""
    mask = np.uint64(len(table.exact) - 1)
    for probe in range(PROBES):
        place = np.int64((high_key + np.uint64(probe)) & mask)
        if table.keys[place, 0] == high_key and table.keys[place, 1] == low_key:
            return place
        if table.keys[place, 1] == 0:
            return -1
    return -1


@jit
def _remember(level, answer, exact, table, frames, counters):
    """Enter a lower bound for a frame's budget, and what its pairs gave for smaller ones."""
    high_key, low_key = frames.key[level]
    value, budget = frames.value[level], frames.state[level, BUDGET]
    mask = np.uint64(len(table.exact) - 1)
    place = np.int64(0)
    new = True
    for probe in range(PROBES):
        place = np.int64((high_key + np.uint64(probe)) & mask)
        if table.keys[place, 0] == high_key and table.keys[place, 1] == low_key:
            new = False
            break
        if table.keys[place, 1] == 0:
            break
    if new:
        if table.keys[place, 1] != 0:
            counters[OVERWRITTEN] += 1
        else:
            counters[STORED] += 1
        table.keys[place, 0], table.keys[place, 1] = high_key, low_key
        table.exact[place] = np.uint64(0)
        table.lower[place, :] = value[FLOOR]
    for size in range(min(3, table.lower.shape[1])):
        table.lower[place, size] = value[ERROR + size]
        table.exact[place] |= np.uint64(1) << np.uint64(size)
    for size in range(budget + 1):
        table.lower[place, size] = max(table.lower[place, size], answer)
    if exact:
        table.exact[place] |= np.uint64(1) << np.uint64(budget)


@jit
def _sort_literals(level, literals, frames):
    """Order the literals by what one split in each child would leave; -1 ends the useful ones."""
    order = frames.order[level]
    scores = np.empty(literals)
    useful = 0
    for literal in range(literals):
        if frames.leaf[level, 0, literal] >= 0:  # negative: constant among the rows
            scores[useful] = frames.one[level, 0, literal] + frames.one[level, 1, literal]
            order[useful] = literal
            useful += 1
    if useful < literals:
        order[useful] = -1
    ranking = np.argsort(scores[:useful], kind="mergesort")
    chosen = order[:useful].copy()
    for position in range(useful):
        order[position] = chosen[ranking[position]]
