"""Sweeping the columns of a sub-problem in sorted order: its tests, and children with one split.

One sweep over all columns finds the least errors with one split of both children of ``LANES`` tests
at a time: what the rows seen so far weigh, in each child, is a vector. For two classes the least
error follows from the least and the largest surplus of one class over the other along the sweep.
``data`` and ``frames`` are an ``OrderedData`` and ``SweepFrames``.
"""

import numpy as np

from mictree._support.jit import jit
from mictree.optimal.search.sweep_frames import FLOOR, LANES, LEAF, MASS, ONE, PLACE, ROWS, SHARE

# two classes: the surplus; the least and the largest one in the low child, in the high one
_LEAST_LOW, _MOST_LOW, _LEAST_HIGH, _MOST_HIGH = LANES, 2 * LANES, 3 * LANES, 4 * LANES
# more: the largest weight labelled right in both children; then scratch; then the weight of each
# class seen so far in the low child; then all of it
_HIGH, _A, _B, _C, _D, _SEEN = LANES, 2 * LANES, 3 * LANES, 4 * LANES, 5 * LANES, 6 * LANES


@jit
def leaf_error(level, data, frames):
    """Fill the weight of each class and what no tree can label right; the error of a frame's rows without a split."""
    totals = frames.totals[level]
    totals[:] = 0
    floor = 0
    for place in range(frames.state[level, ROWS]):
        row = frames.order[level, 0, place] >> 1
        totals[data.codes[row]] += data.weights[row, 0]
        floor += data.weights[row, 1]
    frames.value[level, FLOOR] = floor
    return totals.sum() - totals.max()


@jit
def list_tests(level, data, frames):
    """Fill a frame's tests and what is known of them without a sweep; the least error of one."""
    order, cells = frames.order[level], frames.cells[level]
    places, totals = frames.tests[level, PLACE], frames.totals[level]
    kind = cells.dtype.type
    count, floor = frames.state[level, ROWS], frames.value[level, FLOOR]
    classes = len(totals)
    whole = totals.sum()
    least = whole - totals.max()
    seen = np.zeros(classes, dtype=np.int64)
    test = 0
    for column in range(order.shape[0]):
        frames.start[level, column] = test
        seen[:] = 0
        mass, share = 0, 0
        for place in range(count):
            entry = order[column, place]
            row = entry >> 1
            weight = data.weights[row, 0]
            seen[data.codes[row]] += weight
            mass += weight
            share += data.weights[row, 1]
            if entry & 1:
                low, high = 0, 0
                for label in range(classes):
                    low = max(low, seen[label])
                    high = max(high, totals[label] - seen[label])
                places[test] = place
                cells[LEAF, test] = kind(mass - low)
                cells[LEAF + 1, test] = kind(whole - mass - high)
                cells[ONE, test], cells[ONE + 1, test] = kind(share), kind(floor - share)
                cells[MASS, test], cells[SHARE, test] = kind(mass), kind(share)
                least = min(least, whole - low - high)
                test += 1
    frames.start[level, order.shape[0]] = test
    return least


@jit
def sweep(level, count, data, frames):
    """Fill the first two lines of ``lanes``: errors with one split of both children.

    They are those of the first ``count`` tests that are picked, ordered by column and place.
    """
    _mark(level, count, frames)
    if frames.totals.shape[1] == 2:
        _sweep_two(level, data.signed, frames)
    else:
        _sweep_many(level, data, frames)
    lanes, totals, whole = frames.lanes, frames.totals[level], frames.totals[level].sum()
    kind = lanes.dtype.type
    for lane in range(count):
        mass = np.int64(frames.cells[level, MASS, frames.picked[0, lane]])
        if len(totals) == 2:
            ones = (mass + lanes[lane]) // 2  # of the second class, in the low child
            rest = totals[1] - ones
            low = min(ones - lanes[_MOST_LOW + lane], mass - ones + lanes[_LEAST_LOW + lane])
            high = min(
                rest - lanes[_MOST_HIGH + lane],
                whole - mass - rest + lanes[_LEAST_HIGH + lane],
            )
        else:
            low, high = mass - lanes[lane], whole - mass - lanes[_HIGH + lane]
        lanes[lane], lanes[LANES + lane] = kind(low), kind(high)


@jit
def _mark(level, count, frames):
    """Set the bits of the rows in the picked tests' low children."""
    order, member, picked = frames.order[level], frames.member, frames.picked
    rows = frames.state[level, ROWS]
    for place in range(rows):
        member[order[0, place] >> 1] = 0
    lane = 0
    while lane < count:
        column, place, bits = picked[1, lane], 0, np.uint32(0)
        after = lane
        while after < count and picked[1, after] == column:
            bits |= np.uint32(1) << np.uint32(after)
            after += 1
        while lane < after:
            end = frames.tests[level, PLACE, picked[0, lane]] + 1
            while place < end:
                member[order[column, place] >> 1] |= bits
                place += 1
            bits &= ~(np.uint32(1) << np.uint32(lane))
            lane += 1


@jit
def _sweep_two(level, signed, frames):
    """Fill the lanes for two classes."""
    order, member, lanes, start = frames.order, frames.member, frames.lanes, frames.start
    kind = lanes.dtype.type
    rows = frames.state[level, ROWS]
    for lane in range(5 * LANES):
        lanes[lane] = 0
    for column in range(order.shape[1]):
        if start[level, column] == start[level, column + 1]:
            continue
        for lane in range(LANES):
            lanes[lane] = 0
        whole = kind(0)
        for place in range(rows):
            entry = order[level, column, place]
            weight, bits = signed[entry >> 1], member[entry >> 1]
            whole = kind(whole + weight)
            if entry & 1:
                for lane in range(LANES):
                    inside = (bits >> np.uint32(lane)) & np.uint32(1)
                    low = kind(lanes[lane] + (weight if inside else kind(0)))
                    high = kind(whole - low)
                    lanes[lane] = low
                    lanes[_LEAST_LOW + lane] = min(lanes[_LEAST_LOW + lane], low)
                    lanes[_MOST_LOW + lane] = max(lanes[_MOST_LOW + lane], low)
                    lanes[_LEAST_HIGH + lane] = min(lanes[_LEAST_HIGH + lane], high)
                    lanes[_MOST_HIGH + lane] = max(lanes[_MOST_HIGH + lane], high)
            else:
                for lane in range(LANES):
                    inside = (bits >> np.uint32(lane)) & np.uint32(1)
                    lanes[lane] = kind(lanes[lane] + (weight if inside else kind(0)))


@jit
def _sweep_many(level, data, frames):
    """Fill the lanes for any number of classes."""
    order, member, lanes, start = frames.order, frames.member, frames.lanes, frames.start
    kind = lanes.dtype.type
    rows, classes = frames.state[level, ROWS], frames.totals.shape[1]
    whole = _SEEN + classes * LANES  # where the weight of each class in the low child is
    for lane in range(len(lanes)):
        lanes[lane] = 0
    for place in range(rows):
        row = order[level, 0, place] >> 1
        _add(whole + data.codes[row] * LANES, data.weights[row, 0], member[row], lanes)
    seen = np.zeros(classes, dtype=np.int64)
    _judge_many(level, whole, frames.totals, seen, lanes)
    for column in range(order.shape[1]):
        if start[level, column] == start[level, column + 1]:
            continue
        for lane in range(_SEEN, whole):
            lanes[lane] = 0
        seen[:] = 0
        for place in range(rows):
            entry = order[level, column, place]
            row = entry >> 1
            label, weight = data.codes[row], data.weights[row, 0]
            seen[label] += weight
            _add(_SEEN + label * LANES, weight, member[row], lanes)
            if entry & 1:
                _judge_many(level, whole, frames.totals, seen, lanes)


@jit
def _add(first, weight, bits, lanes):
    """Add a row's weight to the lanes in whose low child it is."""
    kind = lanes.dtype.type
    for lane in range(LANES):
        inside = (bits >> np.uint32(lane)) & np.uint32(1)
        lanes[first + lane] = kind(lanes[first + lane] + (weight if inside else kind(0)))


@jit
def _judge_many(level, whole, totals, seen, lanes):
    """Raise what one split labels right in both children, if it is here."""
    kind = lanes.dtype.type
    for lane in range(_A, _SEEN):
        lanes[lane] = 0
    for label in range(len(seen)):
        here, there = _SEEN + label * LANES, whole + label * LANES
        before, after = kind(seen[label]), kind(totals[level, label] - seen[label])
        for lane in range(LANES):
            low = lanes[here + lane]
            rest = kind(lanes[there + lane] - low)
            lanes[_A + lane] = max(lanes[_A + lane], low)
            lanes[_B + lane] = max(lanes[_B + lane], rest)
            lanes[_C + lane] = max(lanes[_C + lane], kind(before - low))
            lanes[_D + lane] = max(lanes[_D + lane], kind(after - rest))
    for lane in range(LANES):
        lanes[lane] = max(lanes[lane], kind(lanes[_A + lane] + lanes[_B + lane]))
        high = kind(lanes[_C + lane] + lanes[_D + lane])
        lanes[_HIGH + lane] = max(lanes[_HIGH + lane], high)
