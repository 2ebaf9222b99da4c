"""Branch and bound over row sets of ordered columns, whose tests are swept, not enumerated.

The questions, the table and the stack are those of ``kernel``. A sub-problem with one or two
splits, or of depth 2, is answered by sweeps. For a larger one, the bounds of a child of one test
bound the children of all others: a row set that lacks some rows of another has at least the
other's least error less their weight. So a child is asked for more than its own test needs.
"""

import numpy as np

from mictree._support.jit import atomic_add, inner_jit, jit
from mictree.optimal.search.engine import FIRST, KNOWN, PLAIN
from mictree.optimal.search.few_splits import count_low, few_splits, note, note_one
from mictree.optimal.search.sweep_children import (
    get_bound,
    get_bounds,
    get_shares,
    look_up,
    prepare,
    select,
    share,
    sweep_some,
)
from mictree.optimal.search.sweep_frames import LIVE, MASS, ONE, PLACE
from mictree.optimal.search.sweep_tests import leaf_error, list_tests
from mictree.optimal.search.table import (
    EXACT_BUDGETS,
    FOUND,
    GROW,
    LEAST,
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
def solve(rows, budget, bound, depth, wanted, data, table, frames, control):
    """The least error of so many rows that are in place, if it is below ``bound``.

    See ``kernel.solve``. Frame 0 is for all rows: what it learns of their tests stays for the next
    question, and workers share it. Questions about other rows are put to frame 1. What is
    ``wanted`` of the tree, see ``engine``, is in the frames' ``work``; only one worker may.
    """
    frames.work[0] = 0
    first = start(rows, data, frames)
    answer = search(first, budget, bound, depth, wanted, data, table, frames, control)
    if wanted:
        _tell(first, data, frames)
    return answer


@inner_jit
def search(first, budget, bound, depth, wanted, data, table, frames, control):
    """The same for the rows in frame ``first``."""
    _ask(first, budget, bound, depth, frames)
    level = first
    while True:
        here = wanted if level == first else PLAIN
        finished, result = _open(level, first, here, data, table, frames, control)
        while True:
            if not finished:
                here = wanted if level == first else PLAIN
                if _advance(level, here, data, table, frames, control):
                    level += 1
                    break
                result = _close(level, first, table, frames, control)
            if level == first or control[STATUS] != RUN:
                return result
            level -= 1
            _take(level, result, data, frames)
            finished = False


@inner_jit
def start(rows, data, frames):
    """Set the first frame's rows: all in frame 0, the members in frame 1; and their key.

    Says which frame.
    """
    level = np.int64(0 if rows == len(data.codes) else 1)
    at = frames.levels[level]
    at.rows, at.first = rows, -1
    if level == 1:
        _keep_members(data.order, data.order.shape[1], level, frames)
    high, low = np.uint64(0), np.uint64(0)
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        high ^= data.keys[row, 0]
        low ^= data.keys[row, 1]
    frames.keys[level, 0], frames.keys[level, 1] = high, low
    return level


@inner_jit
def _tell(level, data, frames):
    """Write what was noted of a frame's first test where Python reads it; see ``work``."""
    at = frames.levels[level]
    if at.first < 0:
        return
    work, column, totals = frames.work, at.first_column, frames.totals[level]
    place = frames.tests[level, PLACE, at.first]
    work[1], work[2], work[3] = column, frames.order[level, column, place] >> 1, at.first_low
    work[4], work[5] = at.first_errors[0], at.first_errors[1]
    seen = count_low(level, at.first, column, data, frames)
    rest = totals - seen
    work[6], work[7] = seen.argmax(), rest.argmax()  # the first of several
    work[8], work[9] = seen.sum() - seen.max(), rest.sum() - rest.max()


@inner_jit
def _ask(level, budget, bound, depth, frames):
    """Put a question to a frame whose rows are in place."""
    at = frames.levels[level]
    at.depth = depth
    at.budget = min(budget, (1 << depth) - 1) if depth < 62 else budget
    at.test, at.first = -1, -1
    at.bound = bound


@inner_jit
def _open(level, first, wanted, data, table, frames, control):
    """Whether sweeps suffice for an answer; and the answer."""
    at = frames.levels[level]
    budget, depth, bound = at.budget, at.depth, at.bound
    best = leaf_error(level, data, frames)
    at.errors[0] = best
    at.goal = at.floor
    if level == first:
        at.goal = bound - 1 if wanted == KNOWN else max(at.floor, control[LEAST])
    if budget == 0 or best == 0 or control[STATUS] != RUN:
        return True, best
    atomic_add(control, VISITED, 1)
    best = at.best = list_tests(level, data, frames)
    limit = best
    if wanted and best < bound:
        note_one(level, best, data, frames)
    if budget > 1 and best > at.goal:
        limit = min(bound, best)
        if budget <= 3 or wanted in (FIRST, KNOWN):
            limit = few_splits(level, budget > 2, limit, wanted > 0, data, frames, control)
    at.limit = limit
    found = at.first >= 0 and wanted == FIRST
    if budget > 2 and depth > 2 and limit > at.goal and not found:
        prepare(level, frames)
        return False, limit
    if level > 0 and not wanted and control[STATUS] == RUN:
        exact = limit < bound or limit == best
        _remember(level, limit, exact, table, frames, control)
    return True, limit


@inner_jit
def _close(level, first, table, frames, control):
    """The answer of a frame that has tried all tests."""
    at = frames.levels[level]
    limit = at.limit
    if level == first or control[STATUS] != RUN:  # a worker has not tried all tests itself
        return limit
    exact = limit < at.bound or limit == at.best
    _remember(level, limit, exact, table, frames, control)
    if control[STORED] > control[ROOM]:
        control[STATUS] = GROW
    return limit


@inner_jit
def _remember(level, answer, exact, table, frames, control):
    """Enter a lower bound for a frame's budget, and the errors with 0 and 1 split."""
    at = frames.levels[level]
    budget, depth = at.budget, at.depth
    key = finish_key(frames.keys[level, 0], frames.keys[level, 1], depth)
    place = claim(key[0], key[1], at.floor, table, control)
    if place < 0:
        return
    known = min(2, table.lower.shape[1])
    for size in range(known):
        table.lower[place, size] = at.errors[size]
    proved = (np.uint64(1) << np.uint64(known)) - np.uint64(1)
    for size in range(known, budget + 1):
        table.lower[place, size] = max(table.lower[place, size], answer)
    if exact:
        proved |= np.uint64(1) << np.uint64(budget)
    table.entries[place, EXACT_BUDGETS] |= proved
    release(place, table.entries)


@inner_jit
def _take(level, answer, data, frames):
    """Note a child's answer, and what it says of the children of other tests."""
    at = frames.levels[level]
    side, low, test = at.side, at.low_budget, at.test
    budget = low if side == 0 else at.budget - 1 - low
    bounds = get_bounds(level, frames)
    frames.cells[level, ONE + side, test] = max(frames.cells[level, ONE + side, test], answer)
    for size in range(2, budget + 1):
        bounds[side, size, test] = max(bounds[side, size, test], answer)
    if answer < frames.levels[level + 1].bound:
        frames.known[level, side, budget] = answer
    share(level, side, data, frames)


@inner_jit
def _advance(level, wanted, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    at = frames.levels[level]
    cells = frames.cells[level]
    known, bounds, budget = frames.known[level], get_bounds(level, frames), at.budget
    least_low, most_low = get_shares(budget, at.depth)
    while control[STATUS] == RUN and at.limit > at.goal:
        if level == 0 and not wanted:
            frames.levels[0].limit = min(frames.levels[0].limit, control[FOUND])
        test = at.test
        if test < 0 or at.turn == budget:
            if not select(level, wanted == FIRST, data, frames):
                return False
            look_up(level, data, table, frames)
            if budget > 3 and least_low <= 1:  # a child may get one split
                sweep_some(level, data, frames, control)
            continue
        turn = at.turn
        offset = (turn + 1) // 2
        low_budget = (budget - 1) // 2 + (offset if turn % 2 == 1 else -offset)
        heavier = 0 if 2 * cells[MASS, test] >= frames.totals[level].sum() else 1
        if heavier == 0:
            low_budget = budget - 1 - low_budget
        high_budget = budget - 1 - low_budget
        low, high = known[0, low_budget], known[1, high_budget]
        low_known, high_known = low >= 0, high >= 0
        if not low_known:
            low = get_bound(0, low_budget, test, cells, bounds)
        if not high_known:
            high = get_bound(1, high_budget, test, cells, bounds)
        if (
            low_budget < least_low
            or low_budget > most_low
            or low + high >= at.limit
            or (budget == 3 and low_budget == 1)
        ):
            at.turn += 1
            continue
        if low_known and high_known:
            if wanted:
                note(level, test, at.column, low_budget, low, high, frames)
            if wanted == FIRST:
                _forget_later(level, test, frames)
                at.turn = budget
                continue
            at.limit = low + high
            if level == 0:
                control[FOUND] = min(control[FOUND], low + high)
            continue
        side = heavier
        if (low_known and side == 0) or (high_known and side == 1):
            side = 1 - side
        at.side, at.low_budget = side, low_budget
        _descend(level, at.column, frames.tests[level, PLACE, test], side, frames)
        frames.keys[level + 1, 0] = frames.keys[level, 2 + 2 * side]
        frames.keys[level + 1, 1] = frames.keys[level, 3 + 2 * side]
        child_budget = low_budget if side == 0 else high_budget
        rest = at.limit - (high if side == 0 else low)
        _ask(level + 1, child_budget, rest + at.reach, at.depth - 1, frames)
        return True
    return False


@inner_jit
def _forget_later(level, test, frames):
    """Drop all tests from this one on."""
    at = frames.levels[level]
    live, kept = frames.tests[level, LIVE], 0
    while kept < at.lives and live[kept] < test:
        kept += 1
    at.lives = kept


@inner_jit
def _descend(level, column, place, side, frames):
    """Set the next frame's rows: the low or the high child of a test of this one."""
    at = frames.levels[level]
    order, member = frames.order[level], frames.member
    rows = at.rows
    for number in range(rows):
        inside = (number <= place) == (side == 0)
        member[order[column, number] >> 1] = np.uint32(1) if inside else np.uint32(0)
    _keep_members(order, rows, level + 1, frames)
    frames.levels[level + 1].rows = place + 1 if side == 0 else rows - place - 1


@inner_jit
def _keep_members(order, rows, level, frames):
    """Fill a frame's columns with the members among sorted rows."""
    below, member = frames.order[level], frames.member
    for column in range(len(order)):
        last, kept = np.int32(0), 0  # the last one kept, not yet written
        for place in range(rows):
            entry = order[column, place]
            inside = np.int64(member[entry >> 1])
            below[column, max(kept - 1, 0)] = last
            last = entry if inside else last | (entry & np.int32(1))
            kept += inside
        below[column, max(kept - 1, 0)] = last & np.int32(~1)


@jit
def count_few(rows, budget, depth, data, frames, control):
    """Errors of so many rows with up to ``budget`` splits, at most 3, that sweeps find trees for.

    The first test of the tree for the whole budget is in ``work``. Sweeps end where no more work is
    allowed.
    """
    frames.work[0] = 0
    level = start(rows, data, frames)
    errors = count_in_place(level, budget, depth, data, frames, control)
    _tell(level, data, frames)
    return errors


@inner_jit
def count_in_place(level, budget, depth, data, frames, control):
    """The same for the rows in a frame."""
    errors, trace = np.empty(4, dtype=np.int64), np.bool_(False)
    errors[:] = leaf_error(level, data, frames)
    if min(budget, depth) > 0 and errors[0] > 0:
        errors[1:] = list_tests(level, data, frames)
        if errors[1] < errors[0]:
            note_one(level, errors[1], data, frames)
        for splits in range(2, 1 + min(budget, 3) if depth > 1 else 0):
            bound = errors[splits - 1]
            errors[splits:] = few_splits(level, splits > 2, bound, trace, data, frames, control)
    return errors
