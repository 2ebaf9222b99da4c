"""Branch and bound over row sets: the kernel behind optimal trees on data.

A sub-problem is a set of rows and a budget of splits. Counting all pairs of literals among its rows
gives, at once, its least errors with 0, 1 and 2 splits and those of every child with 0 and 1 split.
The rest is asked of the children, each only for less than what would help, and kept in a table.

The recursion is a stack of frames: compiled functions that call each other cannot be kept on disk.
"""

import numpy as np

from mictree._support.jit import atomic_add, jit, lowest_bit
from mictree.optimal.search.children import compare, keep, look_up
from mictree.optimal.search.frames import (
    ALL,
    BEST,
    BOUND,
    BUDGET,
    DEPTH,
    DONE,
    ERRORS,
    EXACT,
    FLOOR,
    GOAL,
    HELD,
    LEAF,
    LEAST,
    LIMIT,
    LOOKED,
    LOW,
    ONE,
    POSITION,
    SIDE,
    SMALLER,
    TOTALS,
    TURN,
    USEFUL,
)
from mictree.optimal.search.pairs import count, least_errors
from mictree.optimal.search.table import (
    EXACT_BUDGETS,
    FOUND,
    GROW,
    NEXT,
    ROOM,
    RUN,
    STATUS,
    STORED,
    VISITED,
    claim,
    finish_key,
    release,
)


@jit
def solve(budget, bound, depth, retrace, data, table, frames, control):
    """The least error of the rows in ``frames.mask[0]``, if it is below ``bound``.

    Otherwise some number that is at least ``bound`` and at most the least error. Once the status is
    not RUN it returns at once, and the result means nothing. To ``retrace`` is to find a tree whose
    error is known to be just below the bound: frame 0 then stands at its first test, unless what
    its pairs say suffices.

    Any number of workers may ask the same question at a time, each with its own frames: they share
    out the literals of frame 0, and the least of their answers is the answer.
    """
    _start(data, frames)
    _ask(0, budget, bound, depth, frames.state, frames.value)
    if retrace:
        frames.value[0, GOAL] = bound - 1
    frames.state[0, POSITION] = atomic_add(control, NEXT, 1)
    level = 0
    while True:
        finished, result = _glance(level, frames, control)
        if not finished:
            if count(level, data, frames):
                least_errors(level, frames)
            finished, result = _judge(level, table, frames, control)
        while True:
            if not finished:
                if _advance(level, data, table, frames, control):
                    level += 1
                    break
                result = _close(level, table, frames, control)
            if level == 0 or control[STATUS] != RUN:
                return result
            level -= 1
            _take(level, result, frames)
            finished = False


@jit
def _start(data, frames):
    """Set what the first frame says of its rows."""
    high, low = np.uint64(0), np.uint64(0)
    floor = 0
    for label in range(len(data.first_word) - 1):
        total = 0
        for word in range(data.first_word[label], data.first_word[label + 1]):
            left = frames.mask[0, word]
            while left:
                slot = 64 * word + lowest_bit(left)
                left &= left - np.uint64(1)
                high ^= data.keys[slot, 0]
                low ^= data.keys[slot, 1]
                total += data.weights[slot, 0]
                floor += data.weights[slot, 1]
        frames.value[0, TOTALS + label] = total
    frames.keys[0, 0], frames.keys[0, 1] = high, low
    frames.value[0, FLOOR] = floor
    frames.state[0, HELD] = -1


@jit
def _ask(level, budget, bound, depth, state, value):
    """Put a question to a frame whose rows are in place."""
    state[level, DEPTH] = depth
    state[level, BUDGET] = min(budget, (1 << depth) - 1) if depth < 62 else budget
    state[level, POSITION], state[level, TURN], state[level, LOOKED] = 0, 0, 0
    value[level, BOUND] = bound
    value[level, GOAL] = value[level, FLOOR]


@jit
def _glance(level, frames, control):
    """Whether no split can help, or there is no time to look; and the error without a split."""
    whole, most = 0, 0
    for label in range(TOTALS, frames.value.shape[1]):
        whole += frames.value[level, label]
        most = max(most, frames.value[level, label])
    error = np.int64(whole - most)
    return frames.state[level, BUDGET] == 0 or error == 0 or control[STATUS] != RUN, error


@jit
def _judge(level, table, frames, control):
    """Whether the pair counts suffice for an answer; and the answer."""
    state, value = frames.state, frames.value
    budget, depth = state[level, BUDGET], state[level, DEPTH]
    atomic_add(control, VISITED, 1)
    best = value[level, ERRORS + min(budget, 3)]
    value[level, BEST] = best
    value[level, LIMIT] = min(value[level, BOUND], best)
    if budget <= 2 or best <= value[level, GOAL] or depth <= 2:
        if level > 0:
            _remember(level, best, True, table, frames, control)
        return True, np.int64(best)
    if state[level, USEFUL] < 0:
        _sort_literals(level, frames.cells, frames.order, state)
    state[level, DONE] = 0
    return False, np.int64(best)


@jit
def _sort_literals(level, cells, order, state):
    """Order the literals that split the rows by what one split in each child would leave."""
    useful = 0
    for literal in range(cells.shape[2]):
        if cells[level, LEAF, literal] < 0:
            continue
        score = cells[level, ONE, literal] + cells[level, ONE + 1, literal]
        place = useful
        while place > 0:
            before = order[level, 0, place - 1]
            if cells[level, ONE, before] + cells[level, ONE + 1, before] <= score:
                break
            order[level, 0, place] = before
            place -= 1
        order[level, 0, place] = literal
        useful += 1
    state[level, USEFUL] = useful


@jit
def _close(level, table, frames, control):
    """The answer of a frame that has tried all literals."""
    limit = frames.value[level, LIMIT]
    if level == 0:  # what is known is known of this worker's literals only
        return np.int64(limit)
    exact = limit < frames.value[level, BOUND] or limit == frames.value[level, BEST]
    _remember(level, limit, exact, table, frames, control)
    if control[STORED] > control[ROOM]:
        control[STATUS] = GROW
    return np.int64(limit)


@jit
def _remember(level, answer, exact, table, frames, control):
    """Enter a lower bound for a frame's budget, and what its pairs gave for smaller ones."""
    budget, depth = frames.state[level, BUDGET], frames.state[level, DEPTH]
    key = finish_key(frames.keys[level, 0], frames.keys[level, 1], depth)
    place = claim(key[0], key[1], frames.value[level, FLOOR], table, control)
    if place < 0:
        return
    known = min(4 if depth == 2 else 3, table.lower.shape[1])
    for size in range(known):
        table.lower[place, size] = frames.value[level, ERRORS + size]
    proved = (np.uint64(1) << np.uint64(known)) - np.uint64(1)
    for size in range(known, budget + 1):
        table.lower[place, size] = max(table.lower[place, size], answer)
    if exact:
        proved |= np.uint64(1) << np.uint64(budget)
    table.entries[place, EXACT_BUDGETS] |= proved
    release(place, table.entries)


@jit
def _take(level, answer, frames):
    """Note a child's answer: a lower bound for its budget holds for all smaller ones."""
    side, low = frames.state[level, SIDE], frames.state[level, LOW]
    budget = low if side == 0 else frames.state[level, BUDGET] - 1 - low
    for size in range(budget + 1):
        frames.bounds[level, 0, side, size] = max(frames.bounds[level, 0, side, size], answer)
    if answer < frames.value[level + 1, BOUND]:
        frames.keys[level, EXACT + side] |= np.uint64(1) << np.uint64(budget)


@jit
def _advance(level, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none.

    For each literal, and each way to share the budget, from balanced to lopsided, the larger child
    is asked first, each for less than the other's lower bound leaves below the limit.
    """
    state, value, bounds, cells = frames.state, frames.value, frames.bounds, frames.cells
    budget = state[level, BUDGET]
    while (
        state[level, POSITION] < state[level, USEFUL] and value[level, LIMIT] > value[level, GOAL]
    ):
        turn = state[level, TURN]
        literal = frames.order[level, 0, state[level, POSITION]]
        if level == 0:
            value[0, LIMIT] = min(value[0, LIMIT], control[FOUND])
        if turn == budget:
            if state[level, LOOKED]:
                keep(level, literal, budget, frames.order, bounds, state)
            following = state[level, POSITION] + 1
            state[level, POSITION] = atomic_add(control, NEXT, 1) if level == 0 else following
            state[level, TURN], state[level, LOOKED] = 0, 0
            continue
        offset = (turn + 1) // 2
        low_budget = (budget - 1) // 2 + (offset if turn % 2 == 1 else -offset)
        high_budget = budget - 1 - low_budget
        if not state[level, LOOKED]:
            low = cells[level, 2 * min(low_budget, 2), literal]
            high = cells[level, 2 * min(high_budget, 2) + 1, literal]
            if low + high >= value[level, LIMIT]:
                state[level, TURN] += 1
                continue
            look_up(level, literal, data, table, frames)
            compare(level, literal, budget, frames)
            state[level, LOOKED] = 1
        low, high = bounds[level, 0, 0, low_budget], bounds[level, 0, 1, high_budget]
        if low + high >= value[level, LIMIT]:
            state[level, TURN] += 1
            continue
        low_known = (frames.keys[level, EXACT] >> np.uint64(low_budget)) & np.uint64(1)
        high_known = (frames.keys[level, EXACT + 1] >> np.uint64(high_budget)) & np.uint64(1)
        if low_known and high_known:
            value[level, LIMIT] = low + high
            if level == 0:
                control[FOUND] = min(control[FOUND], low + high)
            if low + high <= value[level, GOAL]:
                state[level, LOW] = low_budget
                return False
            state[level, TURN] += 1
            continue
        side = 1 - state[level, SMALLER]
        if (low_known and side == 0) or (high_known and side == 1):
            side = 1 - side
        state[level, SIDE], state[level, LOW] = side, low_budget
        _descend(level, literal, side, data, frames)
        child_budget = low_budget if side == 0 else high_budget
        rest = value[level, LIMIT] - (high if side == 0 else low)
        _ask(level + 1, child_budget, rest, state[level, DEPTH] - 1, state, value)
        return True
    return False


@jit
def _descend(level, literal, side, data, frames):
    """Set what the next frame says of its rows: a child of this one's, whose keys are known."""
    flip = np.uint64(0) if side == 1 else ALL
    for word in range(frames.mask.shape[1]):
        column = data.columns[literal, word] ^ flip
        frames.mask[level + 1, word] = frames.mask[level, word] & column
    for label in range(frames.pairs.shape[1]):
        held = frames.pairs[level, label, literal, literal]
        rest = frames.value[level, TOTALS + label] - held
        frames.value[level + 1, TOTALS + label] = held if side == 1 else rest
    frames.keys[level + 1, 0] = frames.keys[level, 2 + 2 * side]
    frames.keys[level + 1, 1] = frames.keys[level, 3 + 2 * side]
    frames.value[level + 1, FLOOR] = frames.cells[level, LEAST + side, literal]
