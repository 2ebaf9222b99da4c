"""The tests of a sub-problem of ordered columns, and what is known of them without a sweep.

One pass over the sorted rows of each column lists its tests: a place in the order, the errors of
both children as leaves, and lower bounds for one split. Two and three classes have loops of their
own, in which the weights of the classes are numbers instead of an array. ``data`` and ``frames``
are an ``OrderedData`` and ``SweepFrames``.
"""

import numpy as np

from mictree._support.jit import inner_jit
from mictree.optimal.search.sweep_frames import LEAF, MASS, ONE, PLACE, SHARE


@inner_jit
def leaf_error(level, data, frames):
    """The error of a frame's rows without a split.

    Fills the weight of each class, and the weight that no tree can label right.
    """
    at = frames.levels[level]
    totals = frames.totals[level]
    totals[:] = 0
    floor = 0
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        totals[data.codes[row]] += data.weights[row, 0]
        floor += data.weights[row, 1]
    at.floor = floor
    return totals.sum() - totals.max()


@inner_jit
def list_tests(level, data, frames):
    """Fill a frame's tests and what is known of them without a sweep; the least error of one."""
    if frames.totals.shape[1] == 2:
        return _list_two(level, data, frames)
    if frames.totals.shape[1] == 3:
        return _list_three(level, data, frames)
    at = frames.levels[level]
    order, cells = frames.order[level], frames.cells[level]
    places, totals = frames.tests[level, PLACE], frames.totals[level]
    kind = cells.dtype.type
    count, floor = at.rows, at.floor
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
                low, high, low_second, high_second = 0, 0, 0, 0
                for label in range(classes):
                    low_second = max(low_second, min(low, seen[label]))
                    low = max(low, seen[label])
                    rest = totals[label] - seen[label]
                    high_second = max(high_second, min(high, rest))
                    high = max(high, rest)
                places[test] = place
                cells[LEAF, test] = kind(mass - low)
                cells[LEAF + 1, test] = kind(whole - mass - high)
                # two leaves label two classes right at most
                cells[ONE, test] = kind(max(share, mass - low - low_second))
                rest = whole - mass - high - high_second
                cells[ONE + 1, test] = kind(max(floor - share, rest))
                cells[MASS, test], cells[SHARE, test] = kind(mass), kind(share)
                least = min(least, whole - low - high)
                test += 1
    frames.start[level, order.shape[0]] = test
    return least


@inner_jit
def _list_two(level, data, frames):
    """The same for two classes: one number tells a row's class and weight."""
    at = frames.levels[level]
    order, cells = frames.order[level], frames.cells[level]
    places, totals = frames.tests[level, PLACE], frames.totals[level]
    kind, signed = cells.dtype.type, data.signed
    count, floor = at.rows, at.floor
    all_zeros, all_ones = totals[0], totals[1]
    least = min(all_zeros, all_ones)
    test = 0
    for column in range(order.shape[0]):
        frames.start[level, column] = test
        zeros, ones, share = 0, 0, 0
        for place in range(count):
            entry = order[column, place]
            row = entry >> 1
            weight = np.int64(signed[row])
            zeros -= min(weight, 0)
            ones += max(weight, 0)
            if floor > 0:
                share += data.weights[row, 1]
            if entry & 1:
                low, high = min(zeros, ones), min(all_zeros - zeros, all_ones - ones)
                places[test] = place
                cells[LEAF, test], cells[LEAF + 1, test] = kind(low), kind(high)
                cells[ONE, test], cells[ONE + 1, test] = kind(share), kind(floor - share)
                cells[MASS, test], cells[SHARE, test] = kind(zeros + ones), kind(share)
                least = min(least, low + high)
                test += 1
    frames.start[level, order.shape[0]] = test
    return least


@inner_jit
def _list_three(level, data, frames):
    """The same for three classes, whose weights are numbers instead of an array."""
    at = frames.levels[level]
    order, cells = frames.order[level], frames.cells[level]
    places, totals = frames.tests[level, PLACE], frames.totals[level]
    kind = cells.dtype.type
    count, floor = at.rows, at.floor
    all_zeros, all_ones, all_twos = totals[0], totals[1], totals[2]
    whole = all_zeros + all_ones + all_twos
    least = whole - max(all_zeros, all_ones, all_twos)
    test = 0
    for column in range(order.shape[0]):
        frames.start[level, column] = test
        zeros, ones, mass, share = 0, 0, 0, 0
        for place in range(count):
            entry = order[column, place]
            row = entry >> 1
            weight, label = np.int64(data.weights[row, 0]), data.codes[row]
            mass += weight
            zeros += weight * (label == 0)
            ones += weight * (label == 1)
            if floor > 0:
                share += data.weights[row, 1]
            if entry & 1:
                twos = mass - zeros - ones
                other_zeros, other_ones = all_zeros - zeros, all_ones - ones
                other_twos = all_twos - twos
                low = mass - max(zeros, ones, twos)
                high = whole - mass - max(other_zeros, other_ones, other_twos)
                places[test] = place
                cells[LEAF, test], cells[LEAF + 1, test] = kind(low), kind(high)
                # two leaves label two classes right at most
                cells[ONE, test] = kind(max(share, min(zeros, ones, twos)))
                rest = min(other_zeros, other_ones, other_twos)
                cells[ONE + 1, test] = kind(max(floor - share, rest))
                cells[MASS, test], cells[SHARE, test] = kind(mass), kind(share)
                least = min(least, low + high)
                test += 1
    frames.start[level, order.shape[0]] = test
    return least
