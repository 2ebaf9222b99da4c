"""Sweeps for costs of several actions and for squared errors: what differs from ``sweep_scan``.

``data`` is an ``ActionData`` or a ``NumberData``; both stand where ``sweep_scan`` has an
``OrderedData``, and each kernel that depends on how leaves cost has a form for them here.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import LANES, inner_jit
from mictree.optimal.costs import squared_cost
from mictree.optimal.questions import ALLOWED, LONG, RUN, STATUS
from mictree.optimal.sweep_scan import (
    LEAF,
    MASS,
    ONE,
    PLACE,
    SHARE,
    SweepFrames,
    fill_tests,
    find_impurity,
    get_leaves,
    get_most,
    leaf_error,
    make_frames,
    mark,
    settle,
    sweep,
)


class ActionData(NamedTuple):
    """Distinct rows with whole costs by action."""

    order: np.ndarray  # as in ``OrderedData``
    weights: np.ndarray  # (rows, 2): the largest cost, and 0
    sums: np.ndarray  # (rows, actions): the costs, the least of each row 0
    keys: np.ndarray

    @property
    def signed(self) -> np.ndarray:
        """Numbers of the type of a sweep's sums."""
        return self.weights


class NumberData(NamedTuple):
    """Distinct rows with whole weights and labels; see ``costs``."""

    order: np.ndarray  # as in ``OrderedData``
    weights: np.ndarray  # (rows, 2): twice the cost of the row alone, as equal inputs may differ
    sums: np.ndarray  # (rows, 4): weight, weight times label, both parts of its square
    shift: np.ndarray  # (1,)
    keys: np.ndarray

    @property
    def signed(self) -> np.ndarray:
        """Numbers of the type of a sweep's sums."""
        return self.weights


def make_cost_frames(
    data: ActionData | NumberData, budgets: int, levels: int, root: np.ndarray, claims: np.ndarray
) -> SweepFrames:  # fmt: skip
    """Frames for one worker."""
    frames = make_frames(data, data.sums.shape[1], budgets, levels, root, claims)
    rows = data.order.shape[1]
    return frames._replace(most=np.zeros((levels, rows), dtype=np.int64))


@leaf_error.form(ActionData)
def _leaf_of_actions(level, data, frames):
    """The least of the sums."""
    at = frames.levels[level]
    totals = frames.totals[level]
    totals[:] = 0
    mass = np.int64(0)
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        for action in range(len(totals)):
            totals[action] += data.sums[row, action]
        mass += data.weights[row, 0]
    at.floor, at.mass = 0, mass
    return totals.min()


@leaf_error.form(NumberData)
def _leaf_of_numbers(level, data, frames):
    """The cost of the sums; fills what each row can raise it by, from the extremes of labels."""
    at = frames.levels[level]
    totals = frames.totals[level]
    totals[:] = 0
    floor, least, most = np.int64(0), np.inf, -np.inf
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        for part in range(4):
            totals[part] += data.sums[row, part]
        floor += data.weights[row, 1]
        mean = np.float64(data.sums[row, 1]) / np.float64(data.sums[row, 0])
        least, most = min(least, mean), max(most, mean)
    shift, mass = data.shift[0], np.int64(0)
    unit = 1.0 / np.float64(np.int64(1) << shift)
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        weight = np.float64(data.sums[row, 0])
        mean = np.float64(data.sums[row, 1]) / weight
        far = max(mean - least, most - mean)
        # rounded up
        raised = np.int64(weight * far * far * unit * (1 + 1e-12)) + 2 + data.weights[row, 1]
        frames.most[level, row] = raised
        mass += raised
    at.floor, at.mass = floor, mass
    return squared_cost(totals[0], totals[1], totals[2], totals[3], shift)


@get_most.form(ActionData)
def _get_largest(level, row, data, frames):
    """The largest cost of a row."""
    return data.weights[row, 0]


@get_most.form(NumberData)
def _get_farthest(level, row, data, frames):
    """As far as it can be from the mean of a leaf, in a frame."""
    return frames.most[level, row]


@fill_tests.form(ActionData)
def _list_action_tests(level, data, frames):
    """See ``sweep_scan.fill_tests``."""
    at = frames.levels[level]
    order, cells = frames.order[level], frames.cells[level]
    places, totals = frames.tests[level, PLACE], frames.totals[level]
    seen = np.zeros(len(totals), dtype=np.int64)
    test, best = 0, totals.min()
    for column in range(order.shape[0]):
        frames.start[level, column] = test
        seen[:] = 0
        mass = np.int64(0)
        for place in range(at.rows):
            entry = order[column, place]
            row = entry >> 1
            mass += data.weights[row, 0]
            for action in range(len(totals)):
                seen[action] += data.sums[row, action]
            if entry & 1:
                low, high = seen[0], totals[0] - seen[0]
                for action in range(1, len(totals)):
                    low = min(low, seen[action])
                    high = min(high, totals[action] - seen[action])
                places[test] = place
                cells[LEAF, test], cells[LEAF + 1, test] = low, high
                cells[ONE, test], cells[ONE + 1, test] = 0, 0
                cells[MASS, test], cells[SHARE, test] = mass, 0
                best = min(best, low + high)
                test += 1
    frames.start[level, order.shape[0]] = test
    return best


@fill_tests.form(NumberData)
def _list_number_tests(level, data, frames):
    """See ``sweep_scan.fill_tests``."""
    at = frames.levels[level]
    order, cells = frames.order[level], frames.cells[level]
    places, totals = frames.tests[level, PLACE], frames.totals[level]
    shift, floor = data.shift[0], at.floor
    best = squared_cost(totals[0], totals[1], totals[2], totals[3], shift)
    test = 0
    for column in range(order.shape[0]):
        frames.start[level, column] = test
        mass, share = np.int64(0), np.int64(0)
        weight, total, high_part, low_part = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for place in range(at.rows):
            entry = order[column, place]
            row = entry >> 1
            mass += frames.most[level, row]
            share += data.weights[row, 1]
            weight += data.sums[row, 0]
            total += data.sums[row, 1]
            high_part += data.sums[row, 2]
            low_part += data.sums[row, 3]
            if entry & 1:
                low = squared_cost(weight, total, high_part, low_part, shift)
                high = squared_cost(
                    totals[0] - weight, totals[1] - total, totals[2] - high_part,
                    totals[3] - low_part, shift,
                )  # fmt: skip
                places[test] = place
                cells[LEAF, test], cells[LEAF + 1, test] = low, high
                cells[ONE, test], cells[ONE + 1, test] = share, floor - share
                cells[MASS, test], cells[SHARE, test] = mass, share
                best = min(best, low + high)
                test += 1
    frames.start[level, order.shape[0]] = test
    return best


@sweep.form(ActionData)
def _sweep_actions(level, count, data, frames, control):
    """See ``sweep_scan.sweep``."""
    _begin(level, count, frames, control)
    for lane in range(count):
        for side in range(2):
            frames.lanes[LANES * side + lane] = _scan_actions(level, lane, side, data, frames)


@sweep.form(NumberData)
def _sweep_numbers(level, count, data, frames, control):
    """See ``sweep_scan.sweep``."""
    _begin(level, count, frames, control)
    for lane in range(count):
        for side in range(2):
            frames.lanes[LANES * side + lane] = _scan_numbers(level, lane, side, data, frames)


@inner_jit
def _begin(level, count, frames, control):
    """Count the work, and mark the rows of the low children."""
    frames.work[0] += frames.levels[level].rows * frames.order.shape[1]
    if frames.work[0] > control[ALLOWED] and control[STATUS] == RUN:
        control[STATUS] = LONG
    mark(level, count, frames)


@settle.form(ActionData)
def _settle_actions(level, lane, side, data, frames):
    """What the sweep found."""
    return frames.lanes[LANES * side + lane]


@settle.form(NumberData)
def _settle_numbers(level, lane, side, data, frames):
    """What the sweep found."""
    return frames.lanes[LANES * side + lane]


@inner_jit
def _scan_actions(level, lane, side, data, frames):
    """The least cost with one split of a child of a test."""
    at, totals = frames.levels[level], frames.totals[level]
    actions, order = len(totals), frames.order[level]
    bit, wanted = np.uint32(1) << np.uint32(lane), side == 0
    whole = np.zeros(actions, dtype=np.int64)
    for place in range(at.rows):
        row = order[0, place] >> 1
        if (frames.member[row] & bit != 0) == wanted:
            for action in range(actions):
                whole[action] += data.sums[row, action]
    best = whole.min()
    seen = np.zeros(actions, dtype=np.int64)
    for column in range(order.shape[0]):
        seen[:] = 0
        for place in range(at.rows):
            entry = order[column, place]
            row = entry >> 1
            if (frames.member[row] & bit != 0) == wanted:
                for action in range(actions):
                    seen[action] += data.sums[row, action]
            if entry & 1:
                low, high = seen[0], whole[0] - seen[0]
                for action in range(1, actions):
                    low = min(low, seen[action])
                    high = min(high, whole[action] - seen[action])
                best = min(best, low + high)
    return best


@inner_jit
def _scan_numbers(level, lane, side, data, frames):
    """The least cost with one split of a child of a test."""
    at, order, shift = frames.levels[level], frames.order[level], data.shift[0]
    bit, wanted = np.uint32(1) << np.uint32(lane), side == 0
    whole = np.zeros(4, dtype=np.int64)
    for place in range(at.rows):
        row = order[0, place] >> 1
        if (frames.member[row] & bit != 0) == wanted:
            for part in range(4):
                whole[part] += data.sums[row, part]
    best = squared_cost(whole[0], whole[1], whole[2], whole[3], shift)
    seen = np.zeros(4, dtype=np.int64)
    for column in range(order.shape[0]):
        seen[:] = 0
        for place in range(at.rows):
            entry = order[column, place]
            row = entry >> 1
            if (frames.member[row] & bit != 0) == wanted:
                for part in range(4):
                    seen[part] += data.sums[row, part]
            if entry & 1:
                low = squared_cost(seen[0], seen[1], seen[2], seen[3], shift)
                rest = whole - seen
                best = min(best, low + squared_cost(rest[0], rest[1], rest[2], rest[3], shift))
    return best


@find_impurity.form(ActionData)
def _any_actions(level, test, column, data, frames):
    """No test is purer than another."""
    return 0.0


@find_impurity.form(NumberData)
def _any_numbers(level, test, column, data, frames):
    """No test is purer than another."""
    return 0.0


@inner_jit
def _sum_low(level, test, column, data, frames):
    """The sums of the rows in the low child of a test."""
    seen = np.zeros(frames.totals.shape[1], dtype=np.int64)
    for place in range(frames.tests[level, PLACE, test] + 1):
        seen += data.sums[frames.order[level, column, place] >> 1]
    return seen


@get_leaves.form(ActionData)
def _get_cheapest(level, test, column, data, frames):
    """The cheapest actions, the first of several, and what they cost."""
    seen = _sum_low(level, test, column, data, frames)
    rest = frames.totals[level] - seen
    return seen.argmin(), rest.argmin(), seen.min(), rest.min()


@get_leaves.form(NumberData)
def _get_means(level, test, column, data, frames):
    """Labels come later."""
    seen, shift = _sum_low(level, test, column, data, frames), data.shift[0]
    rest = frames.totals[level] - seen
    return (
        0,
        0,
        squared_cost(seen[0], seen[1], seen[2], seen[3], shift),
        squared_cost(rest[0], rest[1], rest[2], rest[3], shift),
    )
