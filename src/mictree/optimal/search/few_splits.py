"""Sub-problems with two splits, or three of which one is in each child, by sweeping few tests.

The low child of a test contains that of every smaller threshold of its column, and lacks little of
that of a slightly larger one: so the errors of one test bound those of its neighbours. Tests that
may still help are swept ``LANES`` at a time, evenly spaced, until none is left.
"""

import numpy as np

from mictree._support.jit import inner_jit
from mictree.optimal.search.sweep_frames import (
    LANES,
    LEAF,
    LIVE,
    MASS,
    ONE,
    PLACE,
)
from mictree.optimal.search.sweeps import sweep
from mictree.optimal.search.table import RUN, STATUS


@inner_jit
def few_splits(level, both, bound, trace, data, frames, control):
    """The least error with two splits, or with one in ``both`` children, if it is below a bound.

    Otherwise the bound. A test that attains it is noted; to ``trace`` it is to note the purest of
    all such tests. The frame's tests must be listed.
    """
    live, cells, picked = frames.tests[level, LIVE], frames.cells[level], frames.picked
    least, purest, spare, lives = bound, np.inf, 0, np.int64(0)
    for test in range(frames.start[level, -1]):
        live[lives] = test
        lives += _get_bound(both, test, cells) < least
    while lives > 0 and control[STATUS] == RUN:
        count = pick(level, lives, frames)
        sweep(level, count, data, frames, control)
        for lane in range(count):
            test, low_budget = picked[0, lane], 1
            low, high = np.int64(frames.lanes[lane]), np.int64(frames.lanes[LANES + lane])
            cells[ONE, test], cells[ONE + 1, test] = low, high
            if not both:
                if cells[LEAF, test] + high < low + cells[LEAF + 1, test]:
                    low, low_budget = np.int64(cells[LEAF, test]), 0
                else:
                    high = np.int64(cells[LEAF + 1, test])
            if low + high >= least + spare:
                continue
            if low + high < least:
                least, purest = low + high, np.inf
                if not trace:
                    note(level, test, picked[1, lane], low_budget, low, high, frames)
            if trace:
                spare = 1  # from now on, what is as good is of interest too
                impurity = find_impurity(level, test, picked[1, lane], data, frames)
                if impurity < purest:
                    purest = impurity
                    note(level, test, picked[1, lane], low_budget, low, high, frames)
        share_one(level, lives, frames)
        lives = _drop(both, lives, least + spare, count, picked, live, cells)
    return least


@inner_jit
def note(level, test, column, low_budget, low_error, high_error, frames):
    """Note the first test of a tree that is retraced."""
    at = frames.levels[level]
    at.first, at.first_column = test, column
    at.first_low = low_budget
    at.first_errors[0] = low_error
    at.first_errors[1] = high_error


@inner_jit
def pick(level, lives, frames):
    """Pick tests for a sweep, evenly spaced among those that may help; says how many."""
    live, picked, start = frames.tests[level, LIVE], frames.picked, frames.start[level]
    count = min(lives, LANES)
    column = 0
    for lane in range(count):
        test = live[lives * (2 * lane + 1) // (2 * count)]
        while start[column + 1] <= test:
            column += 1
        picked[0, lane], picked[1, lane] = test, column
    return count


@inner_jit
def share_one(level, lives, frames):
    """Bound the one-split errors of live tests' children by those of their neighbours."""
    live, cells, start = frames.tests[level, LIVE], frames.cells[level], frames.start[level]
    kind = cells.dtype.type
    end, low, high = 0, 0, 0
    column = -1
    for number in range(lives):
        test = live[number]
        if test >= end:
            while test >= end:
                column += 1
                end = start[column + 1]
            low, high = 0, 0
        mass = np.int64(cells[MASS, test])
        low = max(low, cells[ONE, test])
        high = max(high, cells[ONE + 1, test] + mass)
        cells[ONE, test], cells[ONE + 1, test] = kind(low), kind(high - mass)
    first = 1 << 60
    for number in range(lives - 1, -1, -1):
        test = live[number]
        if test < first:
            while test < start[column]:
                column -= 1
            first = start[column]
            low, high = -(1 << 62), 0  # no sum of weights is larger
        mass = np.int64(cells[MASS, test])
        low = max(low, cells[ONE, test] - mass)
        high = max(high, cells[ONE + 1, test])
        cells[ONE, test], cells[ONE + 1, test] = kind(low + mass), kind(high)


@inner_jit
def _drop(both, lives, limit, count, picked, live, cells):
    """Drop the tests that were swept and those that cannot help; says how many are left."""
    kept, lane = 0, 0
    for number in range(lives):
        test = live[number]
        if lane < count and test == picked[0, lane]:
            lane += 1
            continue
        live[kept] = test
        kept += _get_bound(both, test, cells) < limit
    return kept


@inner_jit
def _get_bound(both, test, cells):
    """A lower bound of the error with a test and one split below it, or in ``both`` children."""
    low, high = cells[ONE, test], cells[ONE + 1, test]
    if both:
        return np.int64(low + high)
    return np.int64(min(cells[LEAF, test] + high, low + cells[LEAF + 1, test]))


@inner_jit
def find_impurity(level, test, column, data, frames):
    """The Gini impurity of both children of a test, weighted."""
    totals, seen = frames.totals[level], count_low(level, test, column, data, frames)
    impurity = 0.0
    for side in range(2):
        mass, squares = 0.0, 0.0
        for label in range(len(totals)):
            weight = float(seen[label] if side == 0 else totals[label] - seen[label])
            mass += weight
            squares += weight * weight
        impurity += mass - squares / mass
    return impurity


@inner_jit
def count_low(level, test, column, data, frames):
    """The weight of each class in the low child of a test."""
    seen = np.zeros(frames.totals.shape[1], dtype=np.int64)
    for place in range(frames.tests[level, PLACE, test] + 1):
        row = frames.order[level, column, place] >> 1
        seen[data.codes[row]] += data.weights[row, 0]
    return seen


@inner_jit
def note_one(level, error, data, frames):
    """Note the purest of all tests that leave just this error without another split."""
    cells, purest, column = frames.cells[level], np.inf, 0
    for test in range(frames.start[level, -1]):
        while frames.start[level, column + 1] <= test:
            column += 1
        low, high = cells[LEAF, test], cells[LEAF + 1, test]
        if low + high == error:
            impurity = find_impurity(level, test, column, data, frames)
            if impurity < purest:
                purest = impurity
                note(level, test, column, 0, low, high, frames)
