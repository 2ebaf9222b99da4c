"""Sweeping the columns of a row set in sorted order: its tests, and least errors with few splits.

A test is a column and a place in its order: the rows up to the place are the low child, the others
the high one. One pass over the sorted rows of each column lists its tests, with the errors of both
children as leaves. One sweep over all columns finds the least errors with one split of both
children of ``LANES`` tests at a time: the weights of the rows seen so far in the low children are a
vector, and the high children have the rest. Whatever labels one split has, two classes decide: its
error follows from the largest lead of one over the other at a test. For up to three classes, all
vectors stay in registers.

Two splits, or three of which one is in each child, need few sweeps. The low child of a test
contains that of every smaller threshold of its column, and lacks little of that of a slightly
larger one: so the errors of one test bound those of its neighbours. Tests that may still help are
swept ``LANES`` at a time, evenly spaced, until none is left.

Invariant: ``cells`` and ``bounds`` of a frame never exceed the least errors of its tests' children.
``data`` and ``frames`` are an ``OrderedData`` and ``SweepFrames``; arrays are few and large, as
compiling grows with their number.
"""

from typing import NamedTuple, Protocol

import numpy as np

from mictree._support.jit import (
    LANES,
    KernelByType,
    add,
    choose,
    inner_jit,
    least,
    load,
    most,
    spread,
    store,
    subtract,
)
from mictree.optimal.questions import ALLOWED, LONG, RUN, STATUS

CACHE_LINE = 64  # bytes
FEW_CLASSES = 5  # up to which comparing every two of them is faster

LEVEL = np.dtype(
    [
        # the question: the least error of these rows with this budget, if it is below the bound
        ("rows", np.int64),  # how many
        ("budget", np.int64),
        ("depth", np.int64),
        ("bound", np.int64),
        ("wanted", np.int64),  # of the tree; see ``questions``
        ("least", np.int64),  # an error that is known to be no larger than the answer
        ("key_high", np.uint64),  # the hash of the rows
        ("key_low", np.uint64),
        ("floor", np.int64),  # the error that no tree avoids
        ("spread", np.float64),  # how far a label is from their mean at most, if they are numbers
        ("mean", np.float64),
        ("mass", np.int64),  # the weight of all rows: by how much they raise an error at most
        # what is known of the answer
        ("errors", np.int64, (2,)),  # least errors with 0 and 1 split
        ("counted_sizes", np.int64),  # two
        ("best", np.int64),  # an error that some tree attains
        ("limit", np.int64),  # only trees with a smaller error are wanted: the bound or the best
        ("goal", np.int64),  # an error that is good enough to stop
        ("refuted", np.int64),  # no test that was tried leads to a smaller error
        # where the search stands
        ("lives", np.int64),  # how many tests may still help
        ("test", np.int64),  # the one being tried; -1 for none
        ("column", np.int64),  # its column
        ("chosen", np.int64),  # its place among those that may help
        ("reach", np.int64),  # the weight by which the tests of its run differ from it, at most
        ("turn", np.int64),  # the number of the share of the budget being tried
        ("low_budget", np.int64),  # that share: the splits of the low child
        ("side", np.int64),  # the child that was asked last
        # the first test of the tree that was retraced
        ("first", np.int64),  # -1 for none
        ("first_column", np.int64),
        ("first_low", np.int64),  # the budget of its low child
        ("first_errors", np.int64, (2,)),  # of both children
    ],
    align=True,
)
RECORD = np.dtype((np.record, LEVEL))  # fields are attributes


class OrderedData(NamedTuple):
    """Distinct rows, with integer weights, int32 or int64."""

    order: np.ndarray  # (columns, rows) int32: 2 * row, plus 1 where the next row has a larger rank
    weights: np.ndarray  # (rows, 2): the weight, and what of it no tree can label right
    signed: np.ndarray  # (rows,) the weight, negative in the first of two classes; int16 if its
    # sums allow, as sweeps then are twice as fast
    codes: np.ndarray  # (rows,) the class
    keys: np.ndarray  # (rows, 2) random


class SortedData(Protocol):
    """What all kinds of data of the sweeps have."""

    @property
    def order(self) -> np.ndarray: ...
    @property
    def weights(self) -> np.ndarray: ...
    @property
    def signed(self) -> np.ndarray: ...


class SweepFrames(NamedTuple):
    """The rows of a sub-problem on each level, and what is known of its tests' children."""

    order: np.ndarray  # (levels, columns, rows) like the data's, of the sub-problem's rows
    start: np.ndarray  # (levels, columns + 1) the first test of each column
    tests: np.ndarray  # (levels, 2, cells) the place of each test; those that may still help
    cells: np.ndarray  # (levels, 6, cells); see the names below
    bounds: np.ndarray  # (levels, 2, budgets, cells) lower bounds of both children by budget
    # from 2 on, and SWEPT; level 0 is that of ``root``
    root: np.ndarray  # (2, budgets, cells) the same for all rows; all workers share it
    claims: np.ndarray  # (columns,) how many workers are at a column of all rows
    member: np.ndarray  # (rows,) bit j: the row is in the low child of the j-th test swept
    shared: np.ndarray  # (rows,) the weight of the rows of a child, else 0
    lanes: np.ndarray  # sums of the tests swept, in lines of LANES; see ``sweep``
    tails: np.ndarray  # (2 * LANES * rows,) the same at each test of a column; for many classes
    picked: np.ndarray  # (2, LANES) the tests swept, and their columns
    seen: np.ndarray  # (classes,) the weight of each class swept so far
    known: np.ndarray  # (levels, 2, budgets) least errors of both children of the test being tried,
    # by budget; -1 where they are not known
    keys: np.ndarray  # (levels, 4): the hashes of both children of the test being tried
    levels: np.ndarray  # (levels,) of LEVEL
    work: np.ndarray  # (NOTES,) cells swept for the question; then the first test of the tree that
    # was retraced: its column, the row before the cut, the budget of its low child, the errors of
    # both children, the heaviest class of both, and their errors without a split
    totals: np.ndarray  # (levels, classes) the weight of each class, or other sums of the rows


# cells: errors of both children without a split; lower bounds with one; the low child's weight, and
# what of it no tree can label right
LEAF, ONE, MASS, SHARE = 0, 2, 4, 5
PLACE, LIVE = 0, 1  # tests
NOTES = 10
SWEPT = 1  # bounds: one more than the least error with one split where a sweep found it, else 0;
# where it found a lower bound, minus that


def make_frames(
    data: SortedData, classes: int, budgets: int, levels: int, root: np.ndarray, claims: np.ndarray
) -> SweepFrames:
    """Frames for one worker."""
    columns, rows = data.order.shape
    cells, kind = columns * rows, data.weights.dtype
    order = np.empty((levels, columns, rows), dtype=np.int32)
    order[0] = data.order
    return SweepFrames(
        order=order,
        start=np.zeros((levels, columns + 1), dtype=np.int64),
        tests=np.empty((levels, 2, cells), dtype=np.int32),
        cells=np.empty((levels, 6, cells), dtype=kind),
        bounds=np.empty((levels, 2, budgets, cells), dtype=kind),
        root=root,
        claims=claims,
        member=np.zeros(rows, dtype=np.uint32),
        shared=np.zeros(rows, dtype=kind),
        lanes=align(_count_lines(classes) * LANES, data.signed.dtype),
        tails=np.empty(2 * LANES * rows if classes > FEW_CLASSES else 0, dtype=data.signed.dtype),
        seen=np.zeros(classes, dtype=np.int64),
        picked=np.zeros((2, LANES), dtype=np.int64),
        known=np.zeros((levels, 2, max(2, budgets)), dtype=np.int64),
        keys=np.zeros((levels, 4), dtype=np.uint64),
        levels=np.zeros(levels, dtype=RECORD),
        work=np.zeros(NOTES, dtype=np.int64),
        totals=np.zeros((levels, classes), dtype=np.int64),
    )


# What depends on how leaves cost has a form for each kind of data. Those for classes are here,
# those for other costs in ``sweep_costs``.

# (level, data, frames): the cost of a frame's rows without a split; fills the sums of its rows, its
# mass and its floor
leaf_error = KernelByType(1)
# (level, data, frames): fills the tests of a frame and what is known of their children: LEAF, lower
# bounds in ONE, MASS and SHARE; the least cost of one split
fill_tests = KernelByType(1)
# (level, count, data, frames, control): fills ``get_found`` for the tests that are picked
sweep = KernelByType(2)
# (data, frames): two lines with lower bounds of the least costs with one split of both children
get_found = KernelByType(0)
# (data): whether these bounds are the least costs themselves
sweeps_exactly = KernelByType(0)
# (both, level, count, data, frames): the lane to look at first
first_lane = KernelByType(3)
# (level, lane, side, data, frames): the least cost with one split of a child, after a sweep
settle = KernelByType(3)
# (level, side, data, frames): fills ``shared`` with how much each row of a child of the test being
# tried raises a cost at most, and 0 for other rows
fill_shared = KernelByType(2)
# (level, test, column, data, frames): what is least at the purest of several tests
find_impurity = KernelByType(3)
# (level, test, column, data, frames): the labels of both children of a test, and their costs
get_leaves = KernelByType(3)


def _count_lines(classes: int) -> int:
    """Of sums that a sweep needs."""
    return 2 + classes + (2 * classes**2 if classes <= FEW_CLASSES else 0)


def align(count: int, kind: np.dtype) -> np.ndarray:
    """Zeros from the start of a cache line on: a vector across two of them takes far longer."""
    line = CACHE_LINE // kind.itemsize
    room = np.zeros(count + line, dtype=kind)
    start = -room.__array_interface__["data"][0] % CACHE_LINE // kind.itemsize
    return room[start : start + count]


def frame_bytes(data: SortedData, budgets: int, levels: int) -> int:
    """The memory of one worker's frames, nearly; the root's bounds count as one more level."""
    cell = 12 + data.weights.itemsize * (6 + 2 * budgets)
    row = 8 + data.weights.itemsize + 2 * LANES * data.signed.itemsize
    level = cell * data.order.size + 8 * len(data.order) + 512
    return (levels + 1) * level + row * len(data.weights)


_SEEN = 2 * LANES  # more than three classes: the weight of each, seen so far in the low children


@sweep.form(OrderedData)
def _sweep_classes(level, count, data, frames, control):
    """Fill the first two lines of ``lanes``: errors with one split of both children.

    They are those of the first ``count`` tests that are picked, ordered by column and place. Where
    more work is done than allowed, the status says so.
    """
    frames.work[0] += frames.levels[level].rows * frames.order.shape[1]
    if frames.work[0] > control[ALLOWED] and control[STATUS] == RUN:
        control[STATUS] = LONG
    mark(level, count, frames)
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


@settle.form(OrderedData)
def _settle_classes(level, lane, side, data, frames):
    """The error with one split is what the sweep found."""
    return np.int64(frames.lanes[LANES * side + lane])


@get_found.form(OrderedData)
def _get_lanes(data, frames):
    """The first lines of lanes."""
    return frames.lanes


@sweeps_exactly.form(OrderedData)
def _finds_errors(data):
    """Whole numbers of lanes hold all errors."""
    return True


@first_lane.form(OrderedData)
def _first_of_all(both, level, count, data, frames):
    """All are known."""
    return 0


@fill_shared.form(OrderedData)
def _share_weights(level, side, data, frames):
    """The weights of the rows."""
    at = frames.levels[level]
    order, end = frames.order[level, at.column], frames.tests[level, PLACE, at.test]
    for place in range(at.rows):
        row, inside = order[place] >> 1, (place <= end) == (side == 0)
        frames.shared[row] = data.weights[row, 0] if inside else 0


@inner_jit
def mark(level, count, frames):
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


@leaf_error.form(OrderedData)
def _leaf_of_classes(level, data, frames):
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
    at.floor, at.mass = floor, totals.sum()
    return totals.sum() - totals.max()


@inner_jit
def list_tests(level, data, frames):
    """Fill a frame's tests and what is known of them without a sweep; the least error of one.

    Those of all rows are listed once: what is found out of their children with one split stays
    true, whatever the question.
    """
    at = frames.levels[level]
    if level > 0 or frames.start[0, -1] == 0:
        at.errors[1] = fill_tests(level, data, frames)
    return at.errors[1]


@fill_tests.form(OrderedData)
def _list_tests(level, data, frames):
    """As ``list_tests``, for any frame, each time anew."""
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
    """As ``_list_tests``, for two classes: one number tells a row's class and weight."""
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
    return _complete_two(test, kind(totals[0]), kind(totals[1]), kind(floor), cells)


@inner_jit
def _complete_two(tests, all_zeros, all_ones, floor, cells):
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
    """As ``_list_tests``, for three classes, whose weights are numbers instead of an array."""
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
    return _complete_three(test, every, kind(floor), cells)


@inner_jit
def _complete_three(tests, every, floor, cells):
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


@inner_jit
def few_splits(level, both, bound, trace, data, frames, control):
    """The least error with two splits, or with one in ``both`` children, if it is below a bound.

    Otherwise the bound. A test that attains it is noted; to ``trace`` it is to note the purest of
    all such tests. The frame's tests must be listed.
    """
    live, cells, picked = frames.tests[level, LIVE], frames.cells[level], frames.picked
    found, exact = get_found(data, frames), sweeps_exactly(data)
    least, purest, spare, lives = bound, np.inf, 0, np.int64(0)
    for test in range(frames.start[level, -1]):
        live[lives] = test
        lives += _get_bound(both, test, cells) < least
    while lives > 0 and control[STATUS] == RUN:
        count = pick(level, lives, frames)
        sweep(level, count, data, frames, control)
        first = first_lane(both, level, count, data, frames)
        for turn in range(count):
            lane = first + turn if first + turn < count else first + turn - count
            test, low_budget = picked[0, lane], 1
            low, high = np.int64(found[lane]), np.int64(found[LANES + lane])
            if not exact:
                end = least + spare
                if (low + high if both else low + cells[LEAF + 1, test]) < end:
                    low = settle(level, lane, np.int64(0), data, frames)
                if low + high < end if both else cells[LEAF, test] + high < end:
                    high = settle(level, lane, np.int64(1), data, frames)
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


@find_impurity.form(OrderedData)
def _find_gini(level, test, column, data, frames):
    """The Gini impurity of both children of a test, weighted."""
    totals, seen = frames.totals[level], _count_low(level, test, column, data, frames)
    impurity = 0.0
    for side in range(2):
        mass, squares = 0.0, 0.0
        for label in range(len(totals)):
            weight = float(seen[label] if side == 0 else totals[label] - seen[label])
            mass += weight
            squares += weight * weight
        impurity += mass - squares / mass
    return impurity


@get_leaves.form(OrderedData)
def _get_heaviest(level, test, column, data, frames):
    """The first of the heaviest classes of both children, and the weight of the others."""
    seen = _count_low(level, test, column, data, frames)
    rest = frames.totals[level] - seen
    return seen.argmax(), rest.argmax(), seen.sum() - seen.max(), rest.sum() - rest.max()


@inner_jit
def _count_low(level, test, column, data, frames):
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
