"""Sweeping the columns of a sub-problem in sorted order: its tests' children with one split.

One sweep over all columns finds the least errors with one split of both children of ``LANES`` tests
at a time: the weights of the rows seen so far in the low children are a vector, and the high
children have the rest. Whatever labels one split has, two classes decide: its error follows from
the largest lead of one over the other at a test. For up to three classes, all vectors stay in
registers.
``data`` and ``frames`` are an ``OrderedData`` and ``SweepFrames``.
"""

import numpy as np

from mictree._support.jit import inner_jit
from mictree._support.vectors import LANES, add, choose, least, load, most, spread, store, subtract
from mictree.optimal.search.sweep_frames import FEW_CLASSES, MASS, PLACE
from mictree.optimal.search.table import ALLOWED, LONG, RUN, STATUS

_SEEN = 2 * LANES  # more than three classes: the weight of each, seen so far in the low children


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
    classes = frames.totals.shape[1]
    if classes == 2:
        _sweep_two(level, data, frames)
    elif classes == 3:
        _sweep_three(level, data, frames)
    elif classes <= FEW_CLASSES:
        _sweep_few(level, data, frames)
    else:
        _sweep_many(level, data, frames)
    lanes, whole = frames.lanes, frames.totals[level].sum()
    for lane in range(count):
        mass = np.int64(frames.cells[level, MASS, frames.picked[0, lane]])
        low, high = np.int64(lanes[lane]), np.int64(lanes[LANES + lane])
        if classes == 2:  # what is right less what is wrong
            low, high = (mass + low) // 2, (whole - mass + high) // 2
        lanes[lane], lanes[LANES + lane] = mass - low, whole - mass - high


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
def _sweep_two(level, data, frames):
    """Fill the lanes for two classes: what one split labels right, less what is wrong.

    That is the surplus of one class over the other before the split, less that after it.
    """
    order, start = frames.order[level], frames.start[level]
    kind, rows = frames.lanes.dtype.type, frames.levels[level].rows
    none, whole = spread(kind(0)), kind(0)
    surplus = least_low = most_low = least_high = most_high = none
    for column in range(len(order)):
        if start[column] == start[column + 1]:
            continue
        surplus, whole = none, kind(0)
        for place in range(rows):
            entry = order[column, place]
            weight = data.signed[entry >> 1]
            whole = kind(whole + weight)
            surplus = add(surplus, choose(frames.member[entry >> 1], weight))
            if entry & 1:
                rest = subtract(spread(whole), surplus)
                least_low, most_low = least(least_low, surplus), most(most_low, surplus)
                least_high, most_high = least(least_high, rest), most(most_high, rest)
    rest = subtract(spread(whole), surplus)
    store(_most_right(surplus, least_low, most_low), frames.lanes, 0)
    store(_most_right(rest, least_high, most_high), frames.lanes, LANES)


@inner_jit
def _most_right(every, least_part, most_part):
    """What the better of two ways to label both sides makes right, less what is wrong.

    Given the surplus of all rows, and the least and the largest one before a split.
    """
    first = subtract(add(most_part, most_part), every)
    return most(first, subtract(every, add(least_part, least_part)))


@inner_jit
def _sweep_three(level, data, frames):
    """Fill the lanes for three classes: the largest weight that one split labels right.

    A lead of one class over another is least where that of the other over the first is largest.
    """
    order, start = frames.order[level], frames.start[level]
    kind, rows = frames.lanes.dtype.type, frames.levels[level].rows
    none, all_zeros, all_ones, all_twos = spread(kind(0)), kind(0), kind(0), kind(0)
    zeros = ones = twos = none
    least_01 = most_01 = least_02 = most_02 = least_12 = most_12 = none
    rest_least_01 = rest_most_01 = rest_least_02 = rest_most_02 = none
    rest_least_12 = rest_most_12 = none
    for column in range(len(order)):
        if start[column] == start[column + 1]:
            continue
        zeros = ones = twos = none
        all_zeros, all_ones, all_twos = kind(0), kind(0), kind(0)
        for place in range(rows):
            entry = order[column, place]
            row = entry >> 1
            label, bits, weight = data.codes[row], frames.member[row], data.weights[row, 0]
            # no branch, which could not be predicted
            zero, one, two = (
                kind(weight * (label == 0)),
                kind(weight * (label == 1)),
                kind(weight * (label == 2)),
            )
            zeros = add(zeros, choose(bits, zero))
            ones = add(ones, choose(bits, one))
            twos = add(twos, choose(bits, two))
            all_zeros = kind(all_zeros + zero)
            all_ones = kind(all_ones + one)
            all_twos = kind(all_twos + two)
            if entry & 1:
                lead = subtract(zeros, ones)
                rest = subtract(spread(kind(all_zeros - all_ones)), lead)
                least_01, most_01 = least(least_01, lead), most(most_01, lead)
                rest_least_01, rest_most_01 = least(rest_least_01, rest), most(rest_most_01, rest)
                lead = subtract(zeros, twos)
                rest = subtract(spread(kind(all_zeros - all_twos)), lead)
                least_02, most_02 = least(least_02, lead), most(most_02, lead)
                rest_least_02, rest_most_02 = least(rest_least_02, rest), most(rest_most_02, rest)
                lead = subtract(ones, twos)
                rest = subtract(spread(kind(all_ones - all_twos)), lead)
                least_12, most_12 = least(least_12, lead), most(most_12, lead)
                rest_least_12, rest_most_12 = least(rest_least_12, rest), most(rest_most_12, rest)
    right = most(_right(zeros, ones, least_01, most_01), _right(zeros, twos, least_02, most_02))
    store(most(right, _right(ones, twos, least_12, most_12)), frames.lanes, 0)
    zeros = subtract(spread(all_zeros), zeros)
    ones = subtract(spread(all_ones), ones)
    twos = subtract(spread(all_twos), twos)
    right = most(
        _right(zeros, ones, rest_least_01, rest_most_01),
        _right(zeros, twos, rest_least_02, rest_most_02),
    )
    store(most(right, _right(ones, twos, rest_least_12, rest_most_12)), frames.lanes, LANES)


@inner_jit
def _right(first, second, least_lead, most_lead):
    """What one split between two classes labels right at most, given all of both.

    And the least and the largest lead of the first class over the second before a split.
    """
    return most(add(second, most_lead), subtract(first, least_lead))


@inner_jit
def _sweep_few(level, data, frames):
    """Fill the lanes for a few classes, as for three.

    Only the class of a test's last row can have taken a larger lead, unless that row has others of
    its value before it.
    """
    lanes, order, start = frames.lanes, frames.order[level], frames.start[level]
    seen, classes = frames.seen, len(frames.seen)
    kind, rows = lanes.dtype.type, frames.levels[level].rows
    ahead = _SEEN + LANES * classes  # of every two classes the largest lead, in both children
    lanes[:] = 0
    for column in range(len(order)):
        if start[column] == start[column + 1]:
            continue
        lanes[_SEEN:ahead] = 0
        seen[:] = 0
        gained = 0  # bit j: class j has, since the test before
        for place in range(rows):
            entry = order[column, place]
            label = _count(entry >> 1, data, frames)
            gained |= 1 << label
            if entry & 1 == 0:
                continue
            if gained != 1 << label:
                for each in range(classes):
                    if each != label and gained >> each & 1:
                        _raise_leads(each, ahead, frames)
            _raise_leads(label, ahead, frames)
            gained = 0
    low_right = high_right = spread(kind(0))
    for label in range(classes):
        for other in range(classes):
            target = ahead + 2 * LANES * (classes * label + other)
            low = load(lanes, _SEEN + LANES * other)
            high = subtract(spread(kind(seen[other])), low)
            low_right = most(low_right, add(load(lanes, target), low))
            high_right = most(high_right, add(load(lanes, target + LANES), high))
    store(low_right, lanes, 0)
    store(high_right, lanes, LANES)


@inner_jit
def _count(row, data, frames):
    """Add a row to its class, in the low children and in all; returns the class."""
    lanes, label, weight = frames.lanes, np.int64(data.codes[row]), data.weights[row, 0]
    mine = _SEEN + LANES * label
    inside = choose(frames.member[row], lanes.dtype.type(weight))
    store(add(load(lanes, mine), inside), lanes, mine)
    frames.seen[label] += weight
    return label


@inner_jit
def _raise_leads(label, ahead, frames):
    """Note by how much a class is ahead of each other one, if it is more than before."""
    lanes, seen, classes = frames.lanes, frames.seen, len(frames.seen)
    mine = load(lanes, _SEEN + LANES * label)
    for step in range(1, classes):
        other = label + step
        other -= classes * np.int64(other >= classes)  # no branch to predict
        target = ahead + 2 * LANES * (classes * label + other)
        lead = subtract(mine, load(lanes, _SEEN + LANES * other))
        rest = subtract(spread(lanes.dtype.type(seen[label] - seen[other])), lead)
        store(most(load(lanes, target), lead), lanes, target)
        store(most(load(lanes, target + LANES), rest), lanes, target + LANES)


@inner_jit
def _sweep_many(level, data, frames):
    """Fill the lanes for any number of classes, at a cost that does not depend on it.

    From the end of a column on, the weight of the heaviest class of the rows seen so far is noted
    at each test; then from its start on.
    """
    lanes, tails, seen = frames.lanes, frames.tails, frames.seen
    kind, rows = lanes.dtype.type, frames.levels[level].rows
    none = spread(kind(0))
    low_right = high_right = none
    for column in range(frames.order.shape[1]):
        tests = frames.start[level, column + 1] - frames.start[level, column]
        if tests == 0:
            continue
        order = frames.order[level, column]
        lanes[_SEEN:] = 0
        seen[:] = 0
        low_most = high_most = none
        for place in range(rows - 1, -1, -1):
            entry = order[place]
            if entry & 1:
                tests -= 1
                store(low_most, tails, 2 * LANES * tests)
                store(high_most, tails, 2 * LANES * tests + LANES)
            label = _count(entry >> 1, data, frames)
            low = load(lanes, _SEEN + LANES * label)
            low_most = most(low_most, low)
            high_most = most(high_most, subtract(spread(kind(seen[label])), low))
        low_right, high_right = most(low_right, low_most), most(high_right, high_most)  # no split
        lanes[_SEEN:] = 0
        seen[:] = 0
        low_most = high_most = none
        for place in range(rows):
            entry = order[place]
            label = _count(entry >> 1, data, frames)
            low = load(lanes, _SEEN + LANES * label)
            low_most = most(low_most, low)
            high_most = most(high_most, subtract(spread(kind(seen[label])), low))
            if entry & 1:
                tail = 2 * LANES * tests
                tests += 1
                low_right = most(low_right, add(low_most, load(tails, tail)))
                high_right = most(high_right, add(high_most, load(tails, tail + LANES)))
    store(low_right, lanes, 0)
    store(high_right, lanes, LANES)
