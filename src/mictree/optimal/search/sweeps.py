"""Sweeping the columns of a sub-problem in sorted order: its tests' children with one split.

One sweep over all columns finds the least errors with one split of both children of ``LANES`` tests
at a time: what the rows seen so far weigh, in each child, is a vector. For two classes the least
error follows from the least and the largest surplus of one class over the other along the sweep.
``data`` and ``frames`` are an ``OrderedData`` and ``SweepFrames``.
"""

import numpy as np

from mictree._support.jit import add_where, inner_jit, raise_to
from mictree.optimal.search.sweep_frames import FEW_CLASSES, LANES, MASS, PLACE
from mictree.optimal.search.table import ALLOWED, LONG, RUN, STATUS

# two classes: the surplus; the least and the largest one in the low child, in the high one
_LEAST_LOW, _MOST_LOW, _LEAST_HIGH, _MOST_HIGH = LANES, 2 * LANES, 3 * LANES, 4 * LANES
# many: the largest weight that one split labels right in both children; the weight of the heaviest
# class seen so far in both; the weight of each class seen so far in the low child
_RIGHT, _MOST, _SEEN = 2 * LANES, 5 * LANES, 7 * LANES
# few: as many for each class of what is seen so far in both children, and for every two classes
_BOTH = 2 * LANES


@inner_jit
def sweep(level, count, data, frames, control):
    """Fill the first two lines of ``lanes``: errors with one split of both children.

    They are those of the first ``count`` tests that are picked, ordered by column and place. Where
    more work is done than allowed, the status says so.
    """
    frames.work[0] += frames.levels[level].rows * frames.order.shape[1]
    if frames.work[0] > control[ALLOWED] and control[STATUS] == RUN:
        control[STATUS] = LONG
    _mark(level, count, frames)
    if frames.totals.shape[1] == 2:
        _sweep_two(level, data.signed, frames)
    elif frames.totals.shape[1] <= FEW_CLASSES:
        _sweep_few(level, data, frames)
    else:
        _sweep_many(level, data, frames)
    lanes, totals, whole = frames.lanes, frames.totals[level], frames.totals[level].sum()
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
            low, high = mass - lanes[lane], whole - mass - lanes[LANES + lane]
        lanes[lane], lanes[LANES + lane] = low, high


@inner_jit
def _mark(level, count, frames):
    """Set the bits of the rows in the picked tests' low children."""
    at = frames.levels[level]
    order, member, picked = frames.order[level], frames.member, frames.picked
    rows = at.rows
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


@inner_jit
def _sweep_two(level, signed, frames):
    """Fill the lanes for two classes."""
    at = frames.levels[level]
    order, member, lanes, start = frames.order, frames.member, frames.lanes, frames.start
    kind = lanes.dtype.type
    rows = at.rows
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
            is_test = kind(-(entry & 1))  # all ones; elsewhere 0, the surplus of no split at all
            for lane in range(LANES):
                inside = (bits >> np.uint32(lane)) & np.uint32(1)
                low = kind(lanes[lane] + (weight if inside else kind(0)))
                lanes[lane] = low
                high = kind(kind(whole - low) & is_test)
                low = kind(low & is_test)
                lanes[_LEAST_LOW + lane] = min(lanes[_LEAST_LOW + lane], low)
                lanes[_MOST_LOW + lane] = max(lanes[_MOST_LOW + lane], low)
                lanes[_LEAST_HIGH + lane] = min(lanes[_LEAST_HIGH + lane], high)
                lanes[_MOST_HIGH + lane] = max(lanes[_MOST_HIGH + lane], high)


@inner_jit
def _sweep_few(level, data, frames):
    """Fill the lanes for a few classes: whatever labels one split has, two classes decide.

    Of both children at once, the weight of each class seen so far is kept, and by how much each
    class was ahead of each other one at a test, at most. Only the class of a test's last row can
    have gained, unless that row has others of its value before it.
    """
    at = frames.levels[level]
    lanes, order, start = frames.lanes, frames.order, frames.start
    kind, classes, rows = lanes.dtype.type, frames.totals.shape[1], at.rows
    ahead = _BOTH * (1 + classes)
    lanes[:] = 0
    for column in range(order.shape[1]):
        if start[level, column] == start[level, column + 1]:
            continue
        lanes[_BOTH:ahead] = 0
        gained = 0  # bit j: class j has, since the test before
        for place in range(rows):
            entry = order[level, column, place]
            row = entry >> 1
            label, low = np.int64(data.codes[row]), np.uint64(frames.member[row])
            bits = low | (low ^ np.uint64(0xFFFFFFFF)) << np.uint64(LANES)
            add_where(lanes, _BOTH * (1 + label), bits, kind(data.weights[row, 0]))
            gained |= 1 << label
            if entry & 1 == 0:
                continue
            if gained != 1 << label:
                for each in range(classes):
                    if each != label and gained >> each & 1:
                        _raise_leads(each, classes, lanes)
            _raise_leads(label, classes, lanes)
            gained = 0
    for label in range(classes):
        for other in range(classes):
            best = ahead + _BOTH * (classes * label + other)
            for lane in range(_BOTH):
                right = kind(lanes[best + lane] + lanes[_BOTH * (1 + other) + lane])
                lanes[lane] = max(lanes[lane], right)


@inner_jit
def _raise_leads(label, classes, lanes):
    """Note by how much a class is ahead of each other one, if it is more than before."""
    ahead = _BOTH * (1 + classes)
    for step in range(1, classes):
        other = label + step
        other -= classes * np.int64(other >= classes)  # no branch to predict
        target = ahead + _BOTH * (classes * label + other)
        raise_to(lanes, target, _BOTH * (1 + label), _BOTH * (1 + other))


@inner_jit
def _sweep_many(level, data, frames):
    """Fill the lanes for any number of classes, at a cost that does not depend on it.

    From the end of a column on, the weight of the heaviest class of the rows seen so far is noted
    at each test; then from its start on.
    """
    at = frames.levels[level]
    lanes, tails, seen = frames.lanes, frames.tails, frames.seen
    rows = at.rows
    for lane in range(2 * LANES):
        lanes[_RIGHT + lane] = 0
    for column in range(frames.order.shape[1]):
        tests = frames.start[level, column + 1] - frames.start[level, column]
        if tests == 0:
            continue
        order = frames.order[level, column]
        _clear(seen, lanes)
        for place in range(rows - 1, -1, -1):
            entry = order[place]
            if entry & 1:
                tests -= 1
                for lane in range(2 * LANES):
                    tails[2 * LANES * tests + lane] = lanes[_MOST + lane]
            _add(entry >> 1, data, frames)
        for lane in range(2 * LANES):  # without a split
            lanes[_RIGHT + lane] = max(lanes[_RIGHT + lane], lanes[_MOST + lane])
        _clear(seen, lanes)
        for place in range(rows):
            entry = order[place]
            _add(entry >> 1, data, frames)
            if entry & 1:
                tail = 2 * LANES * tests
                tests += 1
                for lane in range(2 * LANES):
                    right = lanes.dtype.type(lanes[_MOST + lane] + tails[tail + lane])
                    lanes[_RIGHT + lane] = max(lanes[_RIGHT + lane], right)
    for lane in range(2 * LANES):
        lanes[lane] = lanes[_RIGHT + lane]


@inner_jit
def _clear(seen, lanes):
    """Nothing is seen yet."""
    for label in range(len(seen)):
        seen[label] = 0
    for lane in range(_MOST, len(lanes)):
        lanes[lane] = 0


@inner_jit
def _count(row, data, frames):
    """Add a row to its class in the low children; returns the weights of that class.

    Loops whose two ends are variables are those that LLVM makes vectors of.
    """
    kind = frames.lanes.dtype.type
    bits, label, width = frames.member[row], data.codes[row], frames.picked.shape[1]
    weight = kind(data.weights[row, 0])
    mine = frames.lanes[_SEEN + width * label : _SEEN + width * label + width]
    for lane in range(width):
        inside = (bits >> np.uint32(lane)) & np.uint32(1)
        mine[lane] = kind(mine[lane] + (weight if inside else kind(0)))
    return mine


@inner_jit
def _add(row, data, frames):
    """Add a row to its class in both children, and raise the weight of their heaviest classes."""
    lanes = frames.lanes
    kind = lanes.dtype.type
    mine = _count(row, data, frames)
    frames.seen[data.codes[row]] += data.weights[row, 0]
    both = kind(frames.seen[data.codes[row]])
    for lane in range(frames.picked.shape[1]):
        lanes[lane] = mine[lane]
    for lane in range(LANES):
        low = lanes[lane]
        lanes[_MOST + lane] = max(lanes[_MOST + lane], low)
        lanes[_MOST + LANES + lane] = max(lanes[_MOST + LANES + lane], kind(both - low))
