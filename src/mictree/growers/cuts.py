"""Splits of ordered columns by thresholds; kernels of the growing loop.

A cut is a place between two rows of different values, in the order of a column; all thresholds
between these two values are one test.

Gains are convex in the sums of the low child. So no cut within a block of rows gains more than the
corners of the box that the sums at both its ends span, and most blocks need no closer look.
"""

import numpy as np

from mictree._support.jit import inner_jit
from mictree.growers.cut_gains import exact_cut_gain, fast_gain, gain_of_two, make_room, two_of
from mictree.growers.offers import SLACK, least_candidate
from mictree.growers.sorted_rows import NEW, SLOT, add_rows, class_of
from mictree.growers.ties import least_tied, pick
from mictree.impurity.gains import OWN

MOST_CORNERS = 16


@inner_jit
def empty_lists():
    """Gains, places and columns of cuts; numba learns the types from what is taken out again."""
    gains, places, of_column = [0.0], [0], [0]
    gains.pop()
    places.pop()
    of_column.pop()
    return gains, places, of_column


@inner_jit
def screen_cuts(number, columns, matrix, leaf, task, fast, out_fast):
    """The largest fast gain of a leaf's literals, ``fast``, and cuts; writes those of columns."""
    room = make_room(len(leaf.sums))
    gains, places, _ = empty_lists()
    start = columns.start[number]
    for column in range(len(columns.entries)):
        entries = columns.entries[column, start : start + leaf.rows]
        missing = columns.missing[number, column]
        least = least_candidate(fast, len(leaf.sums))
        out_fast[column] = _scan(
            entries, missing, matrix, leaf, task, room, least, False, gains, places
        )
        fast = max(fast, out_fast[column])
    return fast


@inner_jit
def weigh_cuts(number, columns, matrix, leaf, task, candidate, fast, gains, places, of_column):
    """Append the gains and places of the cuts that may be best, and their columns."""
    room = make_room(len(leaf.sums))
    start = columns.start[number]
    for column in range(len(columns.entries)):
        if fast[column] >= candidate and fast[column] > -np.inf:
            entries = columns.entries[column, start : start + leaf.rows]
            missing = columns.missing[number, column]
            _scan(entries, missing, matrix, leaf, task, room, candidate, True, gains, places)
        while len(of_column) < len(gains):
            of_column.append(column)


@inner_jit
def _scan(entries, missing, matrix, leaf, task, room, least, collect, gains, places):
    """The largest fast gain of a column's cuts, if it is at least ``least``.

    With ``collect``, appends exact gains and places of all cuts of such fast gains.
    """
    rows, classes = len(entries), len(leaf.sums)
    block = 32 if rows < 2048 else 64 if rows < 16384 else 256
    if rows <= 4 * block or 1 << classes > MOST_CORNERS or task.weighing.criterion == OWN:
        room.left[:] = 0
        first = np.int64(0)
        return _scan_block(
            entries, first, rows, missing, matrix, leaf, task, room, least, collect, gains, places
        )
    blocks = (rows + block - 1) // block
    ends, bounds = np.zeros((blocks + 1, classes)), np.empty(blocks)
    for number in range(blocks):
        ends[number + 1] = ends[number]
        add_rows(entries[block * number : block * (number + 1)], matrix, ends[number + 1])
    if classes == 2:
        _bound_two(ends, two_of(leaf, task), task.weighing.logs, bounds)
    else:
        _bound_blocks(ends, leaf, task, room, bounds)
    best, found = bounds.argmax(), -np.inf
    slack = 4 * SLACK * (classes + 16)
    for turn in range(-1, blocks):
        number = best if turn < 0 else turn  # the most promising one first
        if (
            bounds[number] < least - slack
            or (turn < 0 and collect)
            or (turn == best and not collect)
        ):
            continue
        room.left[:] = ends[number]
        here = _scan_block(
            entries, block * number, min(rows, block * (number + 1)), missing, matrix, leaf, task,
            room, least, collect, gains, places,
        )  # fmt: skip
        if here > found:
            found = here
            if not collect:
                least = max(least, least_candidate(here, classes))
    return found


@inner_jit
def _bound_blocks(ends, leaf, task, room, out_bounds):
    """Write the largest gain of any sums between those at the ends of a block, for each one."""
    classes = len(leaf.sums)
    at_end = fast_gain(ends[0], leaf, task, room, -np.inf)
    for number in range(len(out_bounds)):
        bound = at_end
        at_end = fast_gain(ends[number + 1], leaf, task, room, -np.inf)
        bound = max(bound, at_end)
        for corner in range(1, (1 << classes) - 1):
            for code in range(classes):
                room.corner[code] = ends[number + (corner >> code & 1), code]
            bound = max(bound, fast_gain(room.corner, leaf, task, room, -np.inf))
        out_bounds[number] = bound


@inner_jit
def _bound_two(ends, two, logs, out_bounds):
    """The same for two classes."""
    at_end = gain_of_two(0.0, 0.0, two, logs)
    for number in range(len(out_bounds)):
        first, second = ends[number]
        last_first, last_second = ends[number + 1]
        bound = at_end
        at_end = gain_of_two(last_first, last_second, two, logs)
        bound = max(bound, at_end, gain_of_two(first, last_second, two, logs))
        out_bounds[number] = max(bound, gain_of_two(last_first, second, two, logs))


@inner_jit
def _scan_two(
    entries, first, last, missing, matrix, leaf, task, room, least, collect, gains, places
):
    """As ``_scan_block``, for two classes."""
    best, left_first, left_second = -np.inf, room.left[0], room.left[1]
    weights, logs, two = matrix.weights, task.weighing.logs, two_of(leaf, task)
    weighted, border = len(weights) > 0, np.uint32(64 * matrix.first_word[1])
    fewest, lightest = max(1, task.limits.min_samples_leaf), task.limits.min_leaf_mass
    begin, end = max(missing + 1, fewest), len(entries) - fewest
    for place in range(first, last):
        entry = entries[place]
        if entry & NEW and begin <= place <= end:
            low = left_first * two.first_weight + left_second * two.second_weight
            high = (two.first - left_first) * two.first_weight
            high += (two.second - left_second) * two.second_weight
            if low >= lightest and high >= lightest:
                fast = gain_of_two(left_first, left_second, two, logs)
                best = max(best, fast)
                if collect and fast >= least:
                    room.left[0], room.left[1] = left_first, left_second
                    gains.append(exact_cut_gain(room.left, leaf, task, room))
                    places.append(place)
        slot = entry & SLOT
        weight = weights[slot] if weighted else 1.0
        if slot >= border:
            left_second += weight
        else:
            left_first += weight
    return best


@inner_jit
def _scan_block(
    entries, first, last, missing, matrix, leaf, task, room, least, collect, gains, places
):
    """The same for some rows; ``room.left`` has the sums before the first, and is overwritten."""
    if len(leaf.sums) == 2:
        return _scan_two(
            entries, first, last, missing, matrix, leaf, task, room, least, collect, gains, places
        )
    best = -np.inf
    first_word, weights, left = matrix.first_word, matrix.weights, room.left
    fewest = max(1, task.limits.min_samples_leaf)
    for place in range(first, last):
        entry = entries[place]
        if entry & NEW and place > missing and place >= fewest and leaf.rows - place >= fewest:
            fast = fast_gain(left, leaf, task, room, task.limits.min_leaf_mass)
            if fast > best:
                best = fast
            if collect and fast >= least and fast > -np.inf:
                gains.append(exact_cut_gain(left, leaf, task, room))
                places.append(place)
        slot = entry & SLOT
        left[class_of(slot, first_word)] += weights[slot] if len(weights) else 1.0
    return best


@inner_jit
def choose_test(literal_gains, before, gains, places, of_column, ties, draws):
    """The column (-1 for a literal) and place of the best split, by position among all of them."""
    best = literal_gains.max() if len(literal_gains) else -1.0
    for gain in gains:
        best = max(best, gain)
    least = least_tied(best)
    count = 0
    for gain in literal_gains:
        count += gain >= least
    for gain in gains:
        count += gain >= least
    skip = pick(count, ties, draws)
    cut = 0
    for literal in range(len(literal_gains) + 1):
        while cut < len(gains) and before[of_column[cut]] <= literal:
            if gains[cut] >= least:
                if skip == 0:
                    return of_column[cut], places[cut]
                skip -= 1
            cut += 1
        if literal < len(literal_gains) and literal_gains[literal] >= least:
            if skip == 0:
                return np.int64(-1), np.int64(literal)
            skip -= 1
    return np.int64(-1), np.int64(-1)  # never reached
