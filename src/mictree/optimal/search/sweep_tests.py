"""The tests of a sub-problem of ordered columns, and bounds on them that need no sweep.

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
    """Fill a frame's tests and what is known of them without a sweep; the least error of one.

    Those of all rows are listed once: what is found out of their children with one split stays
    true, whatever the question.
    """
    at = frames.levels[level]
    if level > 0 or frames.start[0, -1] == 0:
        at.errors[1] = _list_tests(level, data, frames)
    return at.errors[1]


@inner_jit
def _list_tests(level, data, frames):
    """The same for any frame, each time anew."""
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
    surpluses, masses, shares = cells[LEAF], cells[MASS], cells[SHARE]
    count, floor, test = at.rows, at.floor, np.int64(0)
    for column in range(order.shape[0]):
        frames.start[level, column] = test
        surplus, mass, share = 0, 0, 0
        for place in range(count):
            entry = order[column, place]
            row = entry >> 1
            weight = np.int64(signed[row])
            surplus += weight
            mass += abs(weight)
            if floor > 0:
                share += data.weights[row, 1]
            places[test] = place
            surpluses[test], masses[test], shares[test] = kind(surplus), kind(mass), kind(share)
            test += entry & 1
    frames.start[level, order.shape[0]] = test
    return _judge_two(test, kind(totals[0]), kind(totals[1]), kind(floor), cells)


@inner_jit
def _judge_two(tests, all_zeros, all_ones, floor, cells):
    """Fill the rest of what is known of tests whose surplus is in the first line."""
    kind = cells.dtype.type
    low_leaf, high_leaf, low_one, high_one = cells[0], cells[1], cells[2], cells[3]
    masses, shares = cells[MASS], cells[SHARE]
    least = min(all_zeros, all_ones)
    for test in range(tests):
        ones = kind((masses[test] + low_leaf[test]) >> 1)
        zeros = kind(masses[test] - ones)
        low, high = min(zeros, ones), min(kind(all_zeros - zeros), kind(all_ones - ones))
        low_leaf[test], high_leaf[test] = low, high
        low_one[test], high_one[test] = shares[test], kind(floor - shares[test])
        least = min(least, kind(low + high))
    return np.int64(least)


@inner_jit
def _list_three(level, data, frames):
    """The same for three classes, whose weights are numbers instead of an array."""
    at = frames.levels[level]
    order, cells = frames.order[level], frames.cells[level]
    places, totals = frames.tests[level, PLACE], frames.totals[level]
    kind = cells.dtype.type
    firsts, seconds, masses, shares = cells[LEAF], cells[LEAF + 1], cells[MASS], cells[SHARE]
    count, floor, test = at.rows, at.floor, np.int64(0)
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
            places[test] = place
            firsts[test], seconds[test] = kind(zeros), kind(ones)
            masses[test], shares[test] = kind(mass), kind(share)
            test += entry & 1
    frames.start[level, order.shape[0]] = test
    every = kind(totals[0]), kind(totals[1]), kind(totals[2])
    return _judge_three(test, every, kind(floor), cells)


@inner_jit
def _judge_three(tests, every, floor, cells):
    """Fill the rest of what is known of tests whose first two classes are in the first lines."""
    kind = cells.dtype.type
    low_leaf, high_leaf, low_one, high_one = cells[0], cells[1], cells[2], cells[3]
    masses, shares = cells[MASS], cells[SHARE]
    least = kind(every[0] + every[1] + every[2] - max(every[0], every[1], every[2]))
    for test in range(tests):
        zeros, ones = low_leaf[test], high_leaf[test]
        twos = kind(masses[test] - zeros - ones)
        rest = kind(every[0] - zeros), kind(every[1] - ones), kind(every[2] - twos)
        low = kind(masses[test] - max(zeros, ones, twos))
        high = kind(rest[0] + rest[1] + rest[2] - max(rest[0], rest[1], rest[2]))
        low_leaf[test], high_leaf[test] = low, high
        # two leaves label two classes right at most
        low_one[test] = max(shares[test], min(zeros, ones, twos))
        high_one[test] = max(kind(floor - shares[test]), min(rest[0], rest[1], rest[2]))
        least = min(least, kind(low + high))
    return np.int64(least)
