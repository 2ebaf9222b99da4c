"""Lower bounds on the least errors of the children of ordered tests, by budget.

They come from the table, from sweeps, and from children of other tests: a row set that lacks some
rows of another has at least the other's least error less their weight.
"""

import numpy as np

from mictree._support.jit import atomic_add, inner_jit
from mictree.optimal.search.few_splits import share_one
from mictree.optimal.search.sweep_frames import (
    LANES,
    LEAF,
    LIVE,
    MASS,
    ONE,
    PLACE,
    SHARE,
    SWEPT,
)
from mictree.optimal.search.sweeps import sweep
from mictree.optimal.search.table import EXACT_BUDGETS, find, finish_key, unchanged


@inner_jit
def get_bounds(level, frames):
    """Lower bounds of both children of a frame's tests, by budget; without a split, see LEAF."""
    return frames.root if level == 0 else frames.bounds[level]


@inner_jit
def get_bound(side, size, test, cells, bounds):
    """A lower bound of a test's child."""
    return np.int64(cells[2 * size + side, test] if size <= 1 else bounds[side, size, test])


@inner_jit
def get_shares(budget, depth):
    """The least and the largest budget of a low child."""
    most = (1 << (depth - 1)) - 1 if depth < 62 else budget - 1
    return max(0, budget - 1 - most), min(most, budget - 1)


@inner_jit
def prepare(level, frames):
    """List all tests as live; start their children's bounds from what no tree can label right.

    With one split, the tests of all rows start from what was swept for the question before.
    """
    at = frames.levels[level]
    cells, live = frames.cells[level], frames.tests[level, LIVE]
    tests = frames.start[level, -1]
    for test in range(tests):
        live[test] = test
    at.lives = tests
    bounds, floor = get_bounds(level, frames), at.floor
    for side in range(2):
        swept = bounds[side, SWEPT]
        for test in range(tests):
            if level > 0:
                swept[test] = 0
            elif swept[test] > 0:
                cells[ONE + side, test] = swept[test] - 1
    for size in range(2, get_shares(at.budget, at.depth)[1] + 1):
        for test in range(tests):
            low = cells[SHARE, test]
            high = bounds.dtype.type(floor - low)
            if level == 0:
                low, high = max(low, bounds[0, size, test]), max(high, bounds[1, size, test])
            bounds[0, size, test], bounds[1, size, test] = low, high


@inner_jit
def share(level, side, data, frames):
    """Bound the children of all live tests by a child of the test being tried."""
    at = frames.levels[level]
    order, cells, start = frames.order[level], frames.cells[level], frames.start[level]
    live, lives = frames.tests[level, LIVE], at.lives
    places, shared = frames.tests[level, PLACE], frames.shared
    bounds, most_budget = get_bounds(level, frames), get_shares(at.budget, at.depth)[1]
    kind = bounds.dtype.type
    test, column = at.test, at.column
    for place in range(at.rows):
        row, inside = order[column, place] >> 1, (place <= places[test]) == (side == 0)
        shared[row] = data.weights[row, 0] if inside else 0
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
                inside += shared[order[other_column, place] >> 1]
                place += 1
            if most > mass - inside:
                cells[ONE, other] = max(cells[ONE, other], kind(most - (mass - inside)))
                for size in range(2, most_budget + 1):
                    bound = kind(bounds[side, size, test] - (mass - inside))
                    bounds[0, size, other] = max(bounds[0, size, other], bound)
            if most > inside:
                cells[ONE + 1, other] = max(cells[ONE + 1, other], kind(most - inside))
                for size in range(2, most_budget + 1):
                    bound = kind(bounds[side, size, test] - inside)
                    bounds[1, size, other] = max(bounds[1, size, other], bound)


@inner_jit
def select(level, in_order, data, frames):
    """Drop the tests that cannot help, and try the middle one of the column with most of them."""
    at = frames.levels[level]
    cells, live = frames.cells[level], frames.tests[level, LIVE]
    bounds, start = get_bounds(level, frames), frames.start[level]
    budget, limit = at.budget, at.limit
    least_low, most_low = get_shares(budget, at.depth)
    tried = at.test
    if tried >= 0 and level == 0:
        atomic_add(frames.claims, at.column, -1)
    kept, number, lives = 0, 0, at.lives
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
                # not by ``get_bound``: counting references to its arrays takes longer than the rest
                high = budget - 1 - low
                error = np.int64(cells[2 * low, test] if low <= 1 else bounds[0, low, test])
                error += cells[2 * high + 1, test] if high <= 1 else bounds[1, high, test]
                helps |= error < limit
            live[kept] = test
            kept += helps
        here = kept - before
        if level == 0 and frames.claims[column] > 0:
            here = (here + 1) // 2
        if here > most and not (in_order and most > 0):
            most, first, chosen_column = here, before, column
            chosen = before + (kept - before) // 2
    at.lives = kept
    at.test = -1
    if kept == 0:
        return False
    test = live[chosen]
    at.chosen = chosen
    at.test, at.column, at.turn = test, chosen_column, 0
    if level == 0:
        atomic_add(frames.claims, chosen_column, 1)
    low, high = chosen, chosen
    while low > first and live[low - 1] == live[low] - 1:
        low -= 1
    while (
        high + 1 < kept
        and live[high + 1] == live[high] + 1
        and live[high + 1] < start[chosen_column + 1]
    ):
        high += 1
    mass = np.int64(cells[MASS, test])
    at.reach = max(mass - cells[MASS, live[low]], cells[MASS, live[high]] - mass)
    return True


@inner_jit
def look_up(level, data, table, frames):
    """Fill the keys of both children of the test being tried, and what the table has of them."""
    at = frames.levels[level]
    keys, cells = frames.keys, frames.cells[level]
    test, column = at.test, at.column
    bounds = get_bounds(level, frames)
    high, low = np.uint64(0), np.uint64(0)
    for place in range(frames.tests[level, PLACE, test] + 1):
        row = frames.order[level, column, place] >> 1
        high ^= data.keys[row, 0]
        low ^= data.keys[row, 1]
    keys[level, 2], keys[level, 3] = high, low
    keys[level, 4], keys[level, 5] = keys[level, 0] ^ high, keys[level, 1] ^ low
    budget, depth = at.budget, at.depth - 1
    for side in range(2):
        known = frames.known[level, side]
        known[:] = 0 if cells[LEAF + side, test] == 0 else -1
        known[0] = cells[LEAF + side, test]
        key = finish_key(keys[level, 2 + 2 * side], keys[level, 3 + 2 * side], depth)
        place, version = find(key[0], key[1], table.entries)
        if place < 0 or known[0] == 0:
            continue
        found = table.lower[place].copy()
        proved = table.entries[place, EXACT_BUDGETS]
        if not unchanged(place, version, table.entries):
            continue
        new = found[1] > cells[ONE + side, test]
        cells[ONE + side, test] = max(found[1], cells[ONE + side, test])
        for size in range(1, budget):
            if (proved >> np.uint64(size)) & np.uint64(1):
                known[size] = found[size]
            if size > 1 and found[size] > bounds[side, size, test]:
                bounds[side, size, test] = found[size]
                new = True
        if new:
            share(level, side, data, frames)


@inner_jit
def sweep_some(level, data, frames, control):
    """Find the one-split errors of both children of the test being tried, and of some others."""
    at = frames.levels[level]
    known, cells, picked = frames.known[level], frames.cells[level], frames.picked
    swept = get_bounds(level, frames)[:, SWEPT]
    for side in range(2):
        if swept[side, at.test] > 0:
            known[side, 1] = swept[side, at.test] - 1
    if known[0, 1] >= 0 and known[1, 1] >= 0:
        return
    count, lane = _pick_unswept(level, swept[1], frames)
    sweep(level, count, data, frames, control)
    for side in range(2):
        known[side, 1] = frames.lanes[LANES * side + lane]
        for each in range(count):
            error = frames.lanes[LANES * side + each]
            cells[ONE + side, picked[0, each]] = error
            swept[side, picked[0, each]] = swept.dtype.type(error) + 1
    share_one(level, at.lives, frames)


@inner_jit
def _pick_unswept(level, swept, frames):
    """Pick the test being tried and others not yet swept, evenly spaced among those that may help.

    Says how many, and which of them is being tried. Other workers may sweep some at the same time.
    """
    at = frames.levels[level]
    live, picked, start = frames.tests[level, LIVE], frames.picked, frames.start[level]
    tried, lives, waiting = at.test, at.lives, 0
    for number in range(lives):
        waiting += swept[live[number]] == 0
    step = waiting // LANES + 1
    column, lane, passed, mine = 0, 0, step // 2, -1
    for number in range(lives):
        test = live[number]
        while start[column + 1] <= test:
            column += 1
        if test != tried:
            if swept[test] != 0:
                continue
            passed += 1
            if passed % step != 0 or lane == (LANES if mine >= 0 else LANES - 1):
                continue
        else:
            mine = lane
        picked[0, lane], picked[1, lane] = test, column
        lane += 1
    return lane, mine
