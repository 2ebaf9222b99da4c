"""Branch and bound over row sets: the kernel behind optimal trees on data.

A sub-problem is a set of rows and a budget of splits. Counting all pairs of literals among its rows
gives, at once, its least errors with 0, 1 and 2 splits and those of every child with 0 and 1 split.
For more splits the search tries every literal as the first test and every way to share the rest of
the budget between both children. It asks a child only for an error small enough to help, and enters
every answer in a table.

Invariant: a frame's ``limit`` is the smallest error known of its rows, or the bound of its question
if that is smaller. So a way through a literal matters only if both children's errors add up to less
than the limit, and when no way is left the limit is the answer.

The recursion is a stack of frames: compiled functions that call each other cannot be kept on disk.
Levels are ``np.int64``: numba would compile every kernel a second time for the constant 0.
"""

import numpy as np

from mictree._support.jit import atomic_add, inner_jit, jit, lowest_bit
from mictree.optimal.search.children import compare, keep, look_up
from mictree.optimal.search.frames import ALL
from mictree.optimal.search.pair_errors import least_errors
from mictree.optimal.search.pairs import count
from mictree.optimal.search.table import (
    EXACT_BUDGETS,
    FOUND,
    GROW,
    LEAST,
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
    level = np.int64(0)
    start(data, frames)
    _ask(level, budget, bound, depth, frames)
    at = frames.levels[0]
    at.goal = bound - 1 if retrace else max(at.goal, control[LEAST])
    frames.levels[0].position = atomic_add(control, NEXT, 1)
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


@inner_jit
def start(data, frames):
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
        frames.totals[0, label] = total
    root = frames.levels[0]
    root.key_high, root.key_low, root.floor, root.counted = high, low, floor, -1


@inner_jit
def _ask(level, budget, bound, depth, frames):
    """Put a question to a frame whose rows are in place."""
    at = frames.levels[level]
    at.depth, at.bound, at.goal = depth, bound, at.floor
    at.budget = min(budget, (1 << depth) - 1) if depth < 62 else budget
    at.position, at.turn, at.looked_up = 0, 0, 0


@inner_jit
def _glance(level, frames, control):
    """Whether no split can help, or there is no time to look; and the error without a split."""
    error = leaf_error(level, frames)
    return frames.levels[level].budget == 0 or error == 0 or control[STATUS] != RUN, error


@inner_jit
def leaf_error(level, frames):
    """The weight of a frame's rows outside their heaviest class."""
    whole, most = 0, 0
    for label in range(frames.totals.shape[1]):
        whole += frames.totals[level, label]
        most = max(most, frames.totals[level, label])
    return np.int64(whole - most)


@inner_jit
def _judge(level, table, frames, control):
    """Whether the pair counts suffice for an answer; and the answer."""
    at = frames.levels[level]
    atomic_add(control, VISITED, 1)
    at.best = at.errors[min(at.budget, 3)]
    at.limit = min(at.bound, at.best)
    answered = at.budget <= 2 or at.best <= at.goal or at.depth <= 2
    if answered:
        if level > 0:
            _remember(level, at.best, answered, table, frames, control)
        return answered, at.best
    if at.useful < 0:
        sort_literals(level, frames.least[level, 1], frames)  # by one split in each child
    at.tried = 0
    return answered, at.best


@inner_jit
def sort_literals(level, scores, frames):
    """Order the literals that split the rows by the sum of their children's scores."""
    order = frames.order
    useful = 0
    for literal in range(scores.shape[1]):
        if frames.least[level, 0, 0, literal] < 0:
            continue
        score = scores[0, literal] + scores[1, literal]
        place = useful
        while place > 0:
            before = order[level, 0, place - 1]
            if scores[0, before] + scores[1, before] <= score:
                break
            order[level, 0, place] = before
            place -= 1
        order[level, 0, place] = literal
        useful += 1
    frames.levels[level].useful = useful


@inner_jit
def _close(level, table, frames, control):
    """The answer of a frame that has tried all literals."""
    at = frames.levels[level]
    if level > 0:  # at level 0 the limit holds for this worker's literals only
        exact = at.limit < at.bound or at.limit == at.best
        _remember(level, at.limit, exact, table, frames, control)
        if control[STORED] > control[ROOM]:
            control[STATUS] = GROW
    return at.limit


@inner_jit
def _remember(level, answer, exact, table, frames, control):
    """Enter a lower bound for a frame's budget, and what its pairs gave for smaller ones."""
    at = frames.levels[level]
    key = finish_key(at.key_high, at.key_low, at.depth)
    place = claim(key[0], key[1], at.floor, table, control)
    if place < 0:
        return
    known = min(4 if at.depth == 2 else 3, table.lower.shape[1])
    for size in range(known):
        table.lower[place, size] = at.errors[size]
    proved = (np.uint64(1) << np.uint64(known)) - np.uint64(1)
    for size in range(known, at.budget + 1):
        table.lower[place, size] = max(table.lower[place, size], answer)
    if exact:
        proved |= np.uint64(1) << np.uint64(at.budget)
    table.entries[place, EXACT_BUDGETS] |= proved
    release(place, table.entries)


@inner_jit
def _take(level, answer, frames):
    """Note a child's answer: a lower bound for its budget holds for all smaller ones."""
    at, bounds = frames.levels[level], frames.bounds
    budget = at.low_budget if at.side == 0 else at.budget - 1 - at.low_budget
    for size in range(budget + 1):
        bounds[level, 0, at.side, size] = max(bounds[level, 0, at.side, size], answer)
    if answer < frames.levels[level + 1].bound:
        frames.children[level, at.side].exact |= np.uint64(1) << np.uint64(budget)


@inner_jit
def _advance(level, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    at = frames.levels[level]
    while _next_share(level, frames, control):
        literal = frames.order[level, 0, at.position]
        if not at.looked_up:
            look_up(level, literal, data, table, frames)
            compare(level, literal, frames)
        if _needs_child(level, literal, frames, control):
            _descend(level, literal, data, frames)
            return True
        at.turn += 1
    return False


@inner_jit
def _next_share(level, frames, control):
    """Move on to a literal and a share of the budget that may beat the limit, if there is one.

    The shares of a literal are tried from balanced to lopsided. Workers take the literals of frame
    0 one by one.
    """
    at, least, bounds = frames.levels[level], frames.least, frames.bounds
    while at.position < at.useful and at.limit > at.goal:
        literal = frames.order[level, 0, at.position]
        if level == 0:
            at.limit = min(at.limit, control[FOUND])
        if at.turn == at.budget:
            if at.looked_up:
                keep(level, literal, frames)
            at.position = atomic_add(control, NEXT, 1) if level == 0 else at.position + 1
            at.turn, at.looked_up = 0, 0
            continue
        offset = (at.turn + 1) // 2
        at.low_budget = (at.budget - 1) // 2 + (offset if at.turn % 2 == 1 else -offset)
        low_budget, high_budget = at.low_budget, at.budget - 1 - at.low_budget
        if at.looked_up:
            low, high = bounds[level, 0, 0, low_budget], bounds[level, 0, 1, high_budget]
        else:
            low = least[level, min(low_budget, 2), 0, literal]
            high = least[level, min(high_budget, 2), 1, literal]
        if low + high < at.limit:
            return True
        at.turn += 1
    return False


@inner_jit
def _needs_child(level, literal, frames, control):
    """Whether a child must be asked at this share of the budget, and on which side.

    If both children's least errors are known, their sum becomes the limit. Otherwise the child with
    fewer splits is asked first, as it answers sooner; of two equal ones that with more errors.
    """
    at, least = frames.levels[level], frames.least
    low_budget, high_budget = at.low_budget, at.budget - 1 - at.low_budget
    low, high = frames.bounds[level, 0, 0, low_budget], frames.bounds[level, 0, 1, high_budget]
    if low + high >= at.limit:
        return False
    low_known = (frames.children[level, 0].exact >> np.uint64(low_budget)) & np.uint64(1)
    high_known = (frames.children[level, 1].exact >> np.uint64(high_budget)) & np.uint64(1)
    if low_known and high_known:
        at.limit = low + high
        if level == 0:
            control[FOUND] = min(control[FOUND], at.limit)
        return False
    if low_known or high_known:
        at.side = 1 if low_known else 0
    elif low_budget != high_budget:
        at.side = 0 if low_budget < high_budget else 1
    else:
        at.side = 0 if least[level, 1, 0, literal] >= least[level, 1, 1, literal] else 1
    return True


@inner_jit
def _descend(level, literal, data, frames):
    """Put the question to the next frame: for less than what the sibling's bound leaves."""
    descend(level, literal, data, frames)
    at, side = frames.levels[level], frames.levels[level].side
    budget = at.low_budget if side == 0 else at.budget - 1 - at.low_budget
    other = frames.bounds[level, 0, 1 - side, at.budget - 1 - budget]
    _ask(level + 1, budget, at.limit - other, at.depth - 1, frames)


@inner_jit
def descend(level, literal, data, frames):
    """Put the rows of one side of a literal into the next frame."""
    child, side = frames.levels[level + 1], frames.levels[level].side
    flip = np.uint64(0) if side == 1 else ALL
    for word in range(frames.mask.shape[1]):
        column = data.columns[literal, word] ^ flip
        frames.mask[level + 1, word] = frames.mask[level, word] & column
    for label in range(frames.totals.shape[1]):
        held = frames.held[level, label, literal]
        rest = frames.totals[level, label] - held
        frames.totals[level + 1, label] = held if side == 1 else rest
    child.key_high = frames.children[level, side].key_high
    child.key_low = frames.children[level, side].key_low
    child.floor = frames.least[level, 2, side, literal]
