"""Branch and bound over row sets of ordered columns, whose tests are swept, not enumerated.

The questions, the table and the stack are those of ``kernel``. A sub-problem with one or two
splits, or of depth 2, is answered by sweeps. For a larger one, what is found out of a child of one
test bounds the children of all others: a row set that lacks some rows of another has at least the
other's least error less their weight. So a child is asked for more than its own test needs.
"""

import numpy as np

from mictree._support.jit import atomic_add, jit
from mictree.optimal.search.few_splits import few_splits, note, note_one, pick, share_one
from mictree.optimal.search.sweep_frames import (
    BEST,
    BOUND,
    BUDGET,
    CHOSEN,
    COLUMN,
    DEPTH,
    ERRORS,
    EXACT,
    FIRST,
    FLOOR,
    GOAL,
    LANES,
    LEAF,
    LIMIT,
    LIVE,
    LIVES,
    LOW,
    MASS,
    ONE,
    PLACE,
    REACH,
    ROWS,
    SHARE,
    SIDE,
    TEST,
    TURN,
)
from mictree.optimal.search.sweeps import leaf_error, list_tests, sweep
from mictree.optimal.search.table import (
    EXACT_BUDGETS,
    FOUND,
    GROW,
    ROOM,
    RUN,
    STATUS,
    STORED,
    VISITED,
    claim,
    find,
    finish_key,
    release,
    unchanged,
)


@jit
def solve(first, budget, bound, depth, retrace, data, table, frames, control):
    """The least error of the rows in frame ``first``, if it is below ``bound``.

    See ``kernel.solve``. Frame 0 is for all rows: what it learns of their tests stays for the next
    question, and workers share it. Questions about other rows are put to frame 1. Where sweeps
    suffice, ``retrace`` notes the first test of the best tree at once, whatever the bound.
    """
    _start(first, data, frames)
    frames.state[0, FIRST] = -1
    _ask(first, budget, bound, depth, frames.state, frames.value)
    level = first
    while True:
        finished, result = _open(level, retrace and level == first, data, table, frames, control)
        while True:
            if not finished:
                if _advance(level, retrace and level == first, data, table, frames, control):
                    level += 1
                    break
                result = _close(level, first, table, frames, control)
            if level == first or control[STATUS] != RUN:
                return result
            level -= 1
            _take(level, result, data, frames)
            finished = False


@jit
def _start(level, data, frames):
    """Set what the first frame says of its rows."""
    high, low = np.uint64(0), np.uint64(0)
    for place in range(frames.state[level, ROWS]):
        row = frames.order[level, 0, place] >> 1
        high ^= data.keys[row, 0]
        low ^= data.keys[row, 1]
    frames.keys[level, 0], frames.keys[level, 1] = high, low


@jit
def _ask(level, budget, bound, depth, state, value):
    """Put a question to a frame whose rows are in place."""
    state[level, DEPTH] = depth
    state[level, BUDGET] = min(budget, (1 << depth) - 1) if depth < 62 else budget
    state[level, TEST], state[level, FIRST] = -1, -1
    value[level, BOUND] = bound


@jit
def _open(level, retrace, data, table, frames, control):
    """Whether sweeps suffice for an answer; and the answer."""
    state, value = frames.state, frames.value
    budget, depth, bound = state[level, BUDGET], state[level, DEPTH], value[level, BOUND]
    best = leaf_error(level, data, frames)
    value[level, ERRORS] = best
    value[level, GOAL] = value[level, FLOOR]
    if budget == 0 or best == 0 or control[STATUS] != RUN:
        return True, best
    atomic_add(control, VISITED, 1)
    best = list_tests(level, data, frames)
    value[level, ERRORS + 1], value[level, BEST] = best, best
    limit = best
    if retrace and best < bound:
        note_one(level, best, data, frames)
    if budget > 1 and best > value[level, GOAL]:
        limit = min(bound, best)
        if budget <= 3 or retrace:
            limit = few_splits(level, budget > 2, limit, retrace, data, frames, control)
    value[level, LIMIT] = limit
    if budget > 2 and depth > 2 and limit > value[level, GOAL] and state[level, FIRST] < 0:
        _prepare(level, frames)
        return False, limit
    if level > 0 and not retrace and control[STATUS] == RUN:
        exact = limit < bound or limit == best
        _remember(level, limit, exact, table, frames, control)
    return True, limit


@jit
def _prepare(level, frames):
    """List all tests as live; start their children's bounds from what no tree can label right."""
    cells, live = frames.cells[level], frames.tests[level, LIVE]
    tests = frames.start[level, -1]
    for test in range(tests):
        live[test] = test
    frames.state[level, LIVES] = tests
    bounds, floor = _get_bounds(level, frames), frames.value[level, FLOOR]
    for size in range(2, frames.state[level, BUDGET]):
        for test in range(tests):
            share = cells[SHARE, test]
            low, high = share, bounds.dtype.type(floor - share)
            if level == 0:
                low, high = max(low, bounds[0, size, test]), max(high, bounds[1, size, test])
            bounds[0, size, test], bounds[1, size, test] = low, high


@jit
def _get_bounds(level, frames):
    """Lower bounds of both children of a frame's tests, by budget; without a split, see LEAF."""
    return frames.root if level == 0 else frames.bounds[level]


@jit
def _close(level, first, table, frames, control):
    """The answer of a frame that has tried all tests."""
    limit = frames.value[level, LIMIT]
    if level == first or control[STATUS] != RUN:  # a worker has not tried all tests itself
        return limit
    exact = limit < frames.value[level, BOUND] or limit == frames.value[level, BEST]
    _remember(level, limit, exact, table, frames, control)
    if control[STORED] > control[ROOM]:
        control[STATUS] = GROW
    return limit


@jit
def _remember(level, answer, exact, table, frames, control):
    """Enter a lower bound for a frame's budget, and the errors with 0 and 1 split."""
    budget, depth = frames.state[level, BUDGET], frames.state[level, DEPTH]
    key = finish_key(frames.keys[level, 0], frames.keys[level, 1], depth)
    place = claim(key[0], key[1], frames.value[level, FLOOR], table, control)
    if place < 0:
        return
    known = min(2, table.lower.shape[1])
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
def _take(level, answer, data, frames):
    """Note a child's answer, and what it says of the children of other tests."""
    side, low, test = frames.state[level, SIDE], frames.state[level, LOW], frames.state[level, TEST]
    budget = low if side == 0 else frames.state[level, BUDGET] - 1 - low
    bounds = _get_bounds(level, frames)
    frames.cells[level, ONE + side, test] = max(frames.cells[level, ONE + side, test], answer)
    for size in range(2, budget + 1):
        bounds[side, size, test] = max(bounds[side, size, test], answer)
    if answer < frames.value[level + 1, BOUND]:
        frames.keys[level, EXACT + side] |= np.uint64(1) << np.uint64(budget)
    _share(level, side, data, frames)


@jit
def _share(level, side, data, frames):
    """Bound the children of all live tests by a child of the test being tried."""
    order, cells, start = frames.order[level], frames.cells[level], frames.start[level]
    live, lives = frames.tests[level, LIVE], frames.state[level, LIVES]
    places, member = frames.tests[level, PLACE], frames.member
    bounds, budget = _get_bounds(level, frames), frames.state[level, BUDGET]
    kind = bounds.dtype.type
    test, column = frames.state[level, TEST], frames.state[level, COLUMN]
    for place in range(frames.state[level, ROWS]):
        inside = (place <= places[test]) == (side == 0)
        member[order[column, place] >> 1] = np.uint32(0xFFFFFFFF) if inside else np.uint32(0)
    mass = np.int64(cells[MASS, test])
    if side == 1:
        mass = frames.totals[level].sum() - mass
    most = np.int64(cells[ONE + side, test])
    number = 0
    for other_column in range(order.shape[0]):
        if number == lives or live[number] >= start[other_column + 1]:
            continue
        place, inside = 0, 0
        while number < lives and live[number] < start[other_column + 1]:
            other = live[number]
            number += 1
            end = places[other] + 1
            while place < end:
                row = order[other_column, place] >> 1
                inside += data.weights[row, 0] if member[row] else 0
                place += 1
            if most > mass - inside:
                cells[ONE, other] = max(cells[ONE, other], kind(most - (mass - inside)))
                for size in range(2, budget):
                    bound = kind(bounds[side, size, test] - (mass - inside))
                    bounds[0, size, other] = max(bounds[0, size, other], bound)
            if most > inside:
                cells[ONE + 1, other] = max(cells[ONE + 1, other], kind(most - inside))
                for size in range(2, budget):
                    bound = kind(bounds[side, size, test] - inside)
                    bounds[1, size, other] = max(bounds[1, size, other], bound)


@jit
def _get_bound(side, size, test, cells, bounds):
    return np.int64(cells[2 * size + side, test] if size <= 1 else bounds[side, size, test])


@jit
def _get_shares(budget, depth):
    """The least and the largest budget of a low child."""
    most = (1 << (depth - 1)) - 1 if depth < 62 else budget - 1
    return max(0, budget - 1 - most), min(most, budget - 1)


@jit
def _select(level, retrace, data, frames):
    """Drop the tests that cannot help, and try the middle one of the column with most of them."""
    state, cells, live = frames.state, frames.cells[level], frames.tests[level, LIVE]
    bounds, start = _get_bounds(level, frames), frames.start[level]
    budget, limit = state[level, BUDGET], frames.value[level, LIMIT]
    least_low, most_low = _get_shares(budget, state[level, DEPTH])
    tried = state[level, TEST]
    if tried >= 0 and level == 0:
        atomic_add(frames.claims, state[level, COLUMN], -1)
    kept, number, lives = 0, 0, state[level, LIVES]
    most, chosen, first, chosen_column = 0, 0, 0, 0
    for column in range(len(start) - 1):
        before = kept
        while number < lives and live[number] < start[column + 1]:
            test = live[number]
            number += 1
            if test == tried:
                continue
            helps = False
            for low in range(least_low, most_low + 1):
                if budget == 3 and low == 1:
                    continue
                error = _get_bound(0, low, test, cells, bounds)
                error += _get_bound(1, budget - 1 - low, test, cells, bounds)
                helps |= error < limit
            live[kept] = test
            kept += helps
        here = kept - before
        if level == 0 and frames.claims[column] > 0:
            here = (here + 1) // 2
        if here > most and not (retrace and most > 0):
            most, first, chosen_column = here, before, column
            chosen = before + (kept - before) // 2
    state[level, LIVES] = kept
    state[level, TEST] = -1
    if kept == 0:
        return False
    test = live[chosen]
    state[level, CHOSEN] = chosen
    state[level, TEST], state[level, COLUMN], state[level, TURN] = test, chosen_column, 0
    if level == 0:
        atomic_add(frames.claims, chosen_column, 1)
    low, high = chosen, chosen
    while low > first and live[low - 1] == live[low] - 1:
        low -= 1
    while high + 1 < kept and live[high + 1] == live[high] + 1 and live[high + 1] < start[chosen_column + 1]:
        high += 1
    mass = np.int64(cells[MASS, test])
    frames.value[level, REACH] = max(
        mass - cells[MASS, live[low]], cells[MASS, live[high]] - mass
    )
    return True


@jit
def _look_up(level, data, table, frames):
    """Fill the keys of both children of the test being tried, and what the table has of them."""
    state, keys, cells = frames.state, frames.keys, frames.cells[level]
    test, column = state[level, TEST], state[level, COLUMN]
    bounds = _get_bounds(level, frames)
    high, low = np.uint64(0), np.uint64(0)
    for place in range(frames.tests[level, PLACE, test] + 1):
        row = frames.order[level, column, place] >> 1
        high ^= data.keys[row, 0]
        low ^= data.keys[row, 1]
    keys[level, 2], keys[level, 3] = high, low
    keys[level, 4], keys[level, 5] = keys[level, 0] ^ high, keys[level, 1] ^ low
    budget, depth = state[level, BUDGET], state[level, DEPTH] - 1
    for side in range(2):
        keys[level, EXACT + side] = np.uint64(1)
        if cells[LEAF + side, test] == 0:
            keys[level, EXACT + side] = np.uint64(0xFFFFFFFFFFFFFFFF)
            continue
        key = finish_key(keys[level, 2 + 2 * side], keys[level, 3 + 2 * side], depth)
        place, version = find(key[0], key[1], table.entries)
        if place < 0:
            continue
        found = table.lower[place].copy()
        proved = table.entries[place, EXACT_BUDGETS]
        if not unchanged(place, version, table.entries):
            continue
        new = found[1] > cells[ONE + side, test]
        cells[ONE + side, test] = max(found[1], cells[ONE + side, test])
        for size in range(2, budget):
            if found[size] > bounds[side, size, test]:
                bounds[side, size, test] = found[size]
                new = True
        keys[level, EXACT + side] |= proved
        if new:
            _share(level, side, data, frames)


@jit
def _sweep_some(level, data, frames):
    """Find the one-split errors of both children of the test being tried, and of some others."""
    keys, cells, picked, state = frames.keys, frames.cells[level], frames.picked, frames.state
    if keys[level, EXACT] & keys[level, EXACT + 1] & np.uint64(2):
        return
    lives = state[level, LIVES]
    count = pick(level, lives, frames)
    lane = state[level, CHOSEN] * count // lives
    picked[0, lane], picked[1, lane] = state[level, TEST], state[level, COLUMN]
    sweep(level, count, data, frames)
    for lane in range(count):
        cells[ONE, picked[0, lane]] = frames.lanes[lane]
        cells[ONE + 1, picked[0, lane]] = frames.lanes[LANES + lane]
    keys[level, EXACT] |= np.uint64(2)
    keys[level, EXACT + 1] |= np.uint64(2)
    share_one(level, lives, frames)


@jit
def _advance(level, retrace, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    state, value, cells = frames.state, frames.value, frames.cells[level]
    bounds, budget = _get_bounds(level, frames), state[level, BUDGET]
    least_low, most_low = _get_shares(budget, state[level, DEPTH])
    while control[STATUS] == RUN and value[level, LIMIT] > value[level, GOAL]:
        if level == 0 and not retrace:
            value[0, LIMIT] = min(value[0, LIMIT], control[FOUND])
        test = state[level, TEST]
        if test < 0 or state[level, TURN] == budget:
            if not _select(level, retrace, data, frames):
                return False
            _look_up(level, data, table, frames)
            if budget > 3:
                _sweep_some(level, data, frames)
            continue
        turn = state[level, TURN]
        offset = (turn + 1) // 2
        low_budget = (budget - 1) // 2 + (offset if turn % 2 == 1 else -offset)
        high_budget = budget - 1 - low_budget
        low = _get_bound(0, low_budget, test, cells, bounds)
        high = _get_bound(1, high_budget, test, cells, bounds)
        if (
            low_budget < least_low
            or low_budget > most_low
            or low + high >= value[level, LIMIT]
            or (budget == 3 and low_budget == 1)
        ):
            state[level, TURN] += 1
            continue
        low_known = (frames.keys[level, EXACT] >> np.uint64(low_budget)) & np.uint64(1)
        high_known = (frames.keys[level, EXACT + 1] >> np.uint64(high_budget)) & np.uint64(1)
        if low_known and high_known:
            if retrace:
                note(level, test, state[level, COLUMN], low_budget, low, high, frames)
                _forget_later(level, test, frames)
                state[level, TURN] = budget
                continue
            value[level, LIMIT] = low + high
            if level == 0:
                control[FOUND] = min(control[FOUND], low + high)
            continue
        side = 0 if 2 * cells[MASS, test] >= frames.totals[level].sum() else 1
        if (low_known and side == 0) or (high_known and side == 1):
            side = 1 - side
        state[level, SIDE], state[level, LOW] = side, low_budget
        descend(level, state[level, COLUMN], frames.tests[level, PLACE, test], side, frames)
        frames.keys[level + 1, 0] = frames.keys[level, 2 + 2 * side]
        frames.keys[level + 1, 1] = frames.keys[level, 3 + 2 * side]
        child_budget = low_budget if side == 0 else high_budget
        rest = value[level, LIMIT] - (high if side == 0 else low)
        _ask(level + 1, child_budget, rest + value[level, REACH], state[level, DEPTH] - 1, state, value)
        return True
    return False


@jit
def _forget_later(level, test, frames):
    """Drop all tests from this one on."""
    live, kept = frames.tests[level, LIVE], 0
    while kept < frames.state[level, LIVES] and live[kept] < test:
        kept += 1
    frames.state[level, LIVES] = kept


@jit
def descend(level, column, place, side, frames):
    """Set the next frame's rows: the low or the high child of a test of this one."""
    order, member = frames.order[level], frames.member
    rows = frames.state[level, ROWS]
    for number in range(rows):
        inside = (number <= place) == (side == 0)
        member[order[column, number] >> 1] = np.uint32(1) if inside else np.uint32(0)
    keep_members(order, rows, level + 1, frames)
    frames.state[level + 1, ROWS] = place + 1 if side == 0 else rows - place - 1


@jit
def keep_members(order, rows, level, frames):
    """Fill a frame's columns with the members among sorted rows."""
    below, member = frames.order[level], frames.member
    for column in range(len(order)):
        kept = 0
        for place in range(rows):
            entry = order[column, place]
            below[column, kept] = entry & ~1
            kept += member[entry >> 1]
            below[column, max(kept - 1, 0)] |= entry & 1
        below[column, max(kept - 1, 0)] &= ~1


@jit
def count_few(level, depth, data, frames, control):
    """Errors of a frame's rows with 0, 1, 2 and 3 splits that sweeps find trees for."""
    errors = np.empty(4, dtype=np.int64)
    errors[:] = leaf_error(level, data, frames)
    if depth > 0 and errors[0] > 0:
        errors[1:] = list_tests(level, data, frames)
        if depth > 1:
            errors[2:] = few_splits(level, False, errors[1], False, data, frames, control)
            errors[3] = few_splits(level, True, errors[2], False, data, frames, control)
    return errors
