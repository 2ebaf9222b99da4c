"""Sweeps for costs of several actions and for squared errors: what differs from ``sweep_scan``.

``data`` is an ``ActionData`` or a ``NumberData``; both stand where ``sweep_scan`` has an
``OrderedData``, and each kernel that depends on how leaves cost has a form for them here.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import (
    LANES,
    add,
    choose,
    divide,
    inner_jit,
    least,
    load,
    most,
    multiply,
    spread,
    store,
    subtract,
)
from mictree.optimal.costs import squared_cost
from mictree.optimal.questions import ALLOWED, LONG, RUN, STATUS
from mictree.optimal.sweep_scan import (
    LEAF,
    MASS,
    ONE,
    PLACE,
    SHARE,
    align,
    fill_shared,
    fill_tests,
    find_impurity,
    first_lane,
    get_found,
    get_leaves,
    leaf_error,
    make_frames,
    mark,
    settle,
    sweep,
    sweeps_exactly,
)

EPSILON = 2.0**-52
NEARLY = 2.0**12  # units of cost, times the root of the weight of the rows


class ActionData(NamedTuple):
    """Distinct rows with whole costs by action."""

    order: np.ndarray  # as in ``OrderedData``
    weights: np.ndarray  # (rows, 2): the largest cost, and 0
    sums: np.ndarray  # (rows, actions): the costs, the least of each row 0
    signed: np.ndarray  # (rows, actions) int32: the same, shifted down so that sums fit
    shift: np.ndarray  # (1,)
    keys: np.ndarray


class NumberData(NamedTuple):
    """Distinct rows with whole weights and labels; see ``costs``."""

    order: np.ndarray  # as in ``OrderedData``
    weights: np.ndarray  # (rows, 2): twice the cost of the row alone, as equal inputs may differ
    sums: np.ndarray  # (rows, 4): weight, weight times label, both parts of its square
    signed: np.ndarray  # (rows, 2) floats: weight, weight times label
    shift: np.ndarray  # (1,)
    keys: np.ndarray


class CostFrames(NamedTuple):
    """As ``SweepFrames``, with two more."""

    order: np.ndarray
    start: np.ndarray
    tests: np.ndarray
    cells: np.ndarray
    bounds: np.ndarray
    root: np.ndarray
    claims: np.ndarray
    member: np.ndarray
    shared: np.ndarray
    lanes: np.ndarray
    tails: np.ndarray
    picked: np.ndarray
    seen: np.ndarray
    known: np.ndarray
    keys: np.ndarray
    levels: np.ndarray
    work: np.ndarray
    totals: np.ndarray  # (levels, sums) of all rows
    found: np.ndarray  # (2 * LANES,) lower bounds of the tests swept
    most: np.ndarray  # (levels, rows) of numbers, by how much each row raises a cost at most


def make_cost_frames(
    data: ActionData | NumberData, budgets: int, levels: int, root: np.ndarray, claims: np.ndarray
) -> CostFrames:  # fmt: skip
    """Frames for one worker."""
    width, rows = data.sums.shape[1], data.order.shape[1]
    parts = make_frames(data, width, budgets, levels, root, claims)._asdict()
    parts["lanes"] = align((2 + 3 * width) * LANES, data.signed.dtype)
    parts["tails"] = parts["tails"][:0]
    found = np.zeros(2 * LANES, dtype=np.int64)
    return CostFrames(**parts, found=found, most=np.zeros((levels, rows), dtype=np.int64))


@inner_jit
def _cost_of(sums, shift):
    """``squared_cost`` of an array."""
    return squared_cost(sums[0], sums[1], sums[2], sums[3], shift)


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
    floor, lowest, highest = np.int64(0), np.inf, -np.inf
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        for part in range(4):
            totals[part] += data.sums[row, part]
        floor += data.weights[row, 1]
        mean = np.float64(data.sums[row, 1]) / np.float64(data.sums[row, 0])
        lowest, highest = min(lowest, mean), max(highest, mean)
    shift, mass = data.shift[0], np.int64(0)
    wrong = 4 * EPSILON * max(abs(lowest), abs(highest))  # of differences of means
    unit = 1.0 / np.float64(np.int64(1) << shift)
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        weight = np.float64(data.sums[row, 0])
        mean = np.float64(data.sums[row, 1]) / weight
        far = max(mean - lowest, highest - mean) + wrong
        # rounded up
        raised = np.int64(weight * far * far * unit * (1 + 1e-12)) + 2 + data.weights[row, 1]
        frames.most[level, row] = raised
        mass += raised
    at.floor, at.mass = floor, mass
    if at.rows:
        at.mean = np.float64(totals[1]) / np.float64(totals[0])
        at.spread = max(at.mean - lowest, highest - at.mean) + wrong
    return _cost_of(totals, shift)


@fill_shared.form(ActionData)
def _share_costs(level, side, data, frames):
    """The largest costs of the rows."""
    at = frames.levels[level]
    order, end = frames.order[level, at.column], frames.tests[level, PLACE, at.test]
    for place in range(at.rows):
        row, inside = order[place] >> 1, (place <= end) == (side == 0)
        frames.shared[row] = data.weights[row, 0] if inside else 0


@fill_shared.form(NumberData)
def _share_distances(level, side, data, frames):
    """As far as each row can be from the mean of a leaf."""
    at = frames.levels[level]
    order, end = frames.order[level, at.column], frames.tests[level, PLACE, at.test]
    for place in range(at.rows):
        row, inside = order[place] >> 1, (place <= end) == (side == 0)
        frames.shared[row] = frames.most[level, row] if inside else 0


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


@inner_jit
def _begin(level, count, frames, control):
    """Count the work, and mark the rows of the low children."""
    frames.work[0] += frames.levels[level].rows * frames.order.shape[1]
    if frames.work[0] > control[ALLOWED] and control[STATUS] == RUN:
        control[STATUS] = LONG
    mark(level, count, frames)


@sweep.form(ActionData)
def _sweep_actions(level, count, data, frames, control):
    """Sums of costs in coarse units, rounded down, give lower bounds."""
    _begin(level, count, frames, control)
    if data.sums.shape[1] == 3:
        _sweep_three_actions(level, data, frames)
    else:
        _sweep_some_actions(level, data, frames)
    cells, lanes = frames.cells[level], frames.lanes
    for lane in range(count):
        for side in range(2):
            line = LANES * side + lane
            known = cells[ONE + side, frames.picked[0, lane]]
            frames.found[line] = max(known, np.int64(lanes[line]) << data.shift[0])


@inner_jit
def _sweep_three_actions(level, data, frames):
    """Fill the first lines with the least coarse costs of both children, for three actions."""
    order, start = frames.order[level], frames.start[level]
    lanes, member, coarse = frames.lanes, frames.member, data.signed
    kind, rows = lanes.dtype.type, frames.levels[level].rows
    none = spread(kind(0))
    all_0 = all_1 = all_2 = none
    whole_0 = whole_1 = whole_2 = kind(0)
    for place in range(rows):
        row = order[0, place] >> 1
        bits = member[row]
        all_0 = add(all_0, choose(bits, coarse[row, 0]))
        all_1 = add(all_1, choose(bits, coarse[row, 1]))
        all_2 = add(all_2, choose(bits, coarse[row, 2]))
        whole_0 = kind(whole_0 + coarse[row, 0])
        whole_1 = kind(whole_1 + coarse[row, 1])
        whole_2 = kind(whole_2 + coarse[row, 2])
    rest_0, rest_1 = subtract(spread(whole_0), all_0), subtract(spread(whole_1), all_1)
    rest_2 = subtract(spread(whole_2), all_2)
    best_low = least(least(all_0, all_1), all_2)
    best_high = least(least(rest_0, rest_1), rest_2)
    for column in range(len(order)):
        if start[column] == start[column + 1]:
            continue
        low_0 = low_1 = low_2 = none
        seen_0 = seen_1 = seen_2 = kind(0)
        for place in range(rows):
            entry = order[column, place]
            row = entry >> 1
            bits = member[row]
            cost_0, cost_1, cost_2 = coarse[row, 0], coarse[row, 1], coarse[row, 2]
            low_0 = add(low_0, choose(bits, cost_0))
            low_1 = add(low_1, choose(bits, cost_1))
            low_2 = add(low_2, choose(bits, cost_2))
            seen_0, seen_1 = kind(seen_0 + cost_0), kind(seen_1 + cost_1)
            seen_2 = kind(seen_2 + cost_2)
            if entry & 1:
                below = least(least(low_0, low_1), low_2)
                above = least(subtract(all_0, low_0), subtract(all_1, low_1))
                above = least(above, subtract(all_2, low_2))
                best_low = least(best_low, add(below, above))
                high_0, high_1 = subtract(spread(seen_0), low_0), subtract(spread(seen_1), low_1)
                high_2 = subtract(spread(seen_2), low_2)
                below = least(least(high_0, high_1), high_2)
                above = least(subtract(rest_0, high_0), subtract(rest_1, high_1))
                above = least(above, subtract(rest_2, high_2))
                best_high = least(best_high, add(below, above))
    store(best_low, lanes, 0)
    store(best_high, lanes, LANES)


@inner_jit
def _sweep_some_actions(level, data, frames):
    """The same for any number of actions, whose sums go through memory."""
    order, start = frames.order[level], frames.start[level]
    lanes, member, coarse, seen = frames.lanes, frames.member, data.signed, frames.seen
    kind, rows, actions = lanes.dtype.type, frames.levels[level].rows, coarse.shape[1]
    low_from, all_from = 2 * LANES, (2 + actions) * LANES
    lanes[:] = 0
    seen[:] = 0
    for place in range(rows):
        row = order[0, place] >> 1
        for action in range(actions):
            line = all_from + LANES * action
            inside = choose(member[row], coarse[row, action])
            store(add(load(lanes, line), inside), lanes, line)
            seen[action] += coarse[row, action]
    best_low, best_high = load(lanes, all_from), spread(kind(seen[0]))
    best_high = subtract(best_high, best_low)
    for action in range(actions):
        every = load(lanes, all_from + LANES * action)
        rest = subtract(spread(kind(seen[action])), every)
        store(rest, lanes, all_from + LANES * (actions + action))
        best_low, best_high = least(best_low, every), least(best_high, rest)
    for column in range(len(order)):
        if start[column] == start[column + 1]:
            continue
        lanes[low_from:all_from] = 0
        seen[:] = 0
        for place in range(rows):
            entry = order[column, place]
            row = entry >> 1
            bits = member[row]
            for action in range(actions):
                line, cost = low_from + LANES * action, coarse[row, action]
                store(add(load(lanes, line), choose(bits, cost)), lanes, line)
                seen[action] += cost
            if entry & 1:
                below = load(lanes, low_from)
                above = subtract(load(lanes, all_from), below)
                high_below = subtract(spread(kind(seen[0])), below)
                high_above = subtract(load(lanes, all_from + LANES * actions), high_below)
                for action in range(1, actions):
                    low = load(lanes, low_from + LANES * action)
                    every = load(lanes, all_from + LANES * action)
                    rest = load(lanes, all_from + LANES * (actions + action))
                    high = subtract(spread(kind(seen[action])), low)
                    below, above = least(below, low), least(above, subtract(every, low))
                    high_below = least(high_below, high)
                    high_above = least(high_above, subtract(rest, high))
                best_low = least(best_low, add(below, above))
                best_high = least(best_high, add(high_below, high_above))
    store(best_low, lanes, 0)
    store(best_high, lanes, LANES)


@sweep.form(NumberData)
def _sweep_numbers(level, count, data, frames, control):
    """Floats find by how much one split can lower the cost; that is rounded up."""
    _begin(level, count, frames, control)
    _sweep_gains(level, data, frames)
    at, cells, lanes = frames.levels[level], frames.cells[level], frames.lanes
    unit = 1.0 / np.float64(np.int64(1) << data.shift[0])
    whole = np.float64(frames.totals[level, 0])
    # how wrong the sum of a child's labels may be, and hence the gain of a split; see the module
    wrong = (at.rows + 16) * EPSILON * whole * at.spread
    most = np.float64(_cost_of(frames.totals[level], data.shift[0])) + 4.0
    wrong = 3 * wrong * (np.sqrt(most * unit) + wrong * unit) + most * 1e-12 + 4
    for lane in range(count):
        test = frames.picked[0, lane]
        for side in range(2):
            line = LANES * side + lane
            bound = np.float64(cells[LEAF + side, test]) - lanes[line] * unit - wrong
            known = cells[ONE + side, test]
            frames.found[line] = max(known, np.int64(bound)) if bound > 0 else known


@inner_jit
def _sweep_gains(level, data, frames):
    """Fill the first lines with the largest drops of squared error by a split of both children.

    Labels are less the frame's mean. A split with weights v and w and a difference d of the sum of
    labels on one side from what the mean would have gains d * d * (v + w) / (v * w).
    """
    order, start = frames.order[level], frames.start[level]
    lanes, member, given = frames.lanes, frames.member, data.signed
    rows, mean = frames.levels[level].rows, frames.levels[level].mean
    none, one = spread(0.0), spread(1.0)
    low_weights = low_sums = none
    all_weight, all_sum = 0.0, 0.0
    for place in range(rows):
        row = order[0, place] >> 1
        weight, bits = given[row, 0], member[row]
        label = given[row, 1] - mean * weight
        low_weights = add(low_weights, choose(bits, weight))
        low_sums = add(low_sums, choose(bits, label))
        all_weight += weight
        all_sum += label
    high_weights = subtract(spread(all_weight), low_weights)
    low_means = divide(low_sums, most(low_weights, one))
    high_means = divide(subtract(spread(all_sum), low_sums), most(high_weights, one))
    best_low = best_high = none
    for column in range(len(order)):
        if start[column] == start[column + 1]:
            continue
        weights = sums = none
        seen_weight, seen_sum = 0.0, 0.0
        for place in range(rows):
            entry = order[column, place]
            row = entry >> 1
            weight, bits = given[row, 0], member[row]
            label = given[row, 1] - mean * weight
            weights = add(weights, choose(bits, weight))
            sums = add(sums, choose(bits, label))
            seen_weight += weight
            seen_sum += label
            if entry & 1:
                far = subtract(sums, multiply(weights, low_means))
                both = most(multiply(weights, subtract(low_weights, weights)), one)
                best_low = most(best_low, divide(multiply(far, far), both))
                others = subtract(spread(seen_weight), weights)
                far = subtract(spread(seen_sum), sums)
                far = subtract(far, multiply(others, high_means))
                both = most(multiply(others, subtract(high_weights, others)), one)
                best_high = most(best_high, divide(multiply(far, far), both))
    store(multiply(best_low, low_weights), lanes, 0)
    store(multiply(best_high, high_weights), lanes, LANES)


@get_found.form(ActionData)
def _get_found_of_actions(data, frames):
    """Apart from the lanes, which hold other numbers."""
    return frames.found


@get_found.form(NumberData)
def _get_found_of_numbers(data, frames):
    """Apart from the lanes, which hold other numbers."""
    return frames.found


@sweeps_exactly.form(ActionData)
def _bounds_actions(data):
    """Coarse."""
    return False


@sweeps_exactly.form(NumberData)
def _bounds_numbers(data):
    """By floats."""
    return False


@inner_jit
def _find_first(both, level, count, frames):
    """The lane whose lower bound is least, as one that is tried may close the others."""
    cells, first, best = frames.cells[level], 0, np.int64(1) << 62
    for lane in range(count):
        test = frames.picked[0, lane]
        low, high = frames.found[lane], frames.found[LANES + lane]
        bound = low + high
        if not both:
            bound = min(cells[LEAF, test] + high, low + cells[LEAF + 1, test])
        if bound < best:
            best, first = bound, lane
    return first


@first_lane.form(ActionData)
def _first_of_actions(both, level, count, data, frames):
    """See ``_find_first``."""
    return _find_first(both, level, count, frames)


@first_lane.form(NumberData)
def _first_of_numbers(both, level, count, data, frames):
    """See ``_find_first``."""
    return _find_first(both, level, count, frames)


@inner_jit
def _mark_child(level, lane, side, frames):
    """Make members of the rows of a child of a picked test."""
    order, member = frames.order[level], frames.member
    test, column = frames.picked[0, lane], frames.picked[1, lane]
    end = frames.tests[level, PLACE, test]
    for place in range(frames.levels[level].rows):
        inside = (place <= end) == (side == 0)
        member[order[column, place] >> 1] = np.uint32(1) if inside else np.uint32(0)


@settle.form(ActionData)
def _settle_actions(level, lane, side, data, frames):
    """The least cost with one split of a child of a test."""
    _mark_child(level, lane, side, frames)
    at, order, sums = frames.levels[level], frames.order[level], data.sums
    member, actions = frames.member, data.sums.shape[1]
    whole = np.zeros(actions, dtype=np.int64)
    for place in range(at.rows):
        row = order[0, place] >> 1
        if member[row]:
            for action in range(actions):
                whole[action] += sums[row, action]
    best = whole.min()
    seen = np.zeros(actions, dtype=np.int64)
    for column in range(order.shape[0]):
        seen[:] = 0
        for place in range(at.rows):
            entry = order[column, place]
            row = entry >> 1
            if member[row]:
                for action in range(actions):
                    seen[action] += sums[row, action]
            if entry & 1:
                low, high = seen[0], whole[0] - seen[0]
                for action in range(1, actions):
                    low = min(low, seen[action])
                    high = min(high, whole[action] - seen[action])
                best = min(best, low + high)
    return best


@settle.form(NumberData)
def _settle_numbers(level, lane, side, data, frames):
    """The least cost with one split of a child of a test.

    Costs are computed for splits whose gain in floats is nearly the largest so far.
    """
    _mark_child(level, lane, side, frames)
    at, order, sums, shift = frames.levels[level], frames.order[level], data.sums, data.shift[0]
    member, unit = frames.member, 1.0 / np.float64(np.int64(1) << data.shift[0])
    whole = np.zeros(4, dtype=np.int64)
    for place in range(at.rows):
        row = order[0, place] >> 1
        if member[row]:
            for part in range(4):
                whole[part] += sums[row, part]
    best = _cost_of(whole, shift)
    if best == 0:
        return best
    all_weight = np.float64(whole[0])
    mean = np.float64(whole[1]) / all_weight
    near = NEARLY * np.sqrt(all_weight) / unit
    largest = -np.inf
    for column in range(order.shape[0]):
        weight, total, high, low = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for place in range(at.rows):
            entry = order[column, place]
            row = entry >> 1
            if member[row]:
                weight += sums[row, 0]
                total += sums[row, 1]
                high += sums[row, 2]
                low += sums[row, 3]
            if entry & 1:
                here = np.float64(weight)
                far = np.float64(total) - here * mean
                gain = far * far * all_weight / max(here * (all_weight - here), 1.0)
                if gain > largest - near:
                    largest = max(largest, gain)
                    cost = squared_cost(weight, total, high, low, shift)
                    cost += squared_cost(
                        whole[0] - weight, whole[1] - total, whole[2] - high, whole[3] - low, shift
                    )
                    best = min(best, cost)
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
