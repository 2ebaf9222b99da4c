"""What the children of all relaxed tests of some rows cost, without a split and with one.

A row has one code per column. The left child of a test is the rows with a code up to ``ends``, the
right child those with a code above ``begins``; rows between are in neither. For every two columns
the rows are counted by both codes. Sums of these counts up to a code give what the four
grandchildren of every two tests cost. So least costs with one split of both children of *all* tests
follow from one look at the rows: counting takes rows times pairs of columns, the rest pairs of
codes.

Counts are weights by class, or sums of what ``costs`` says of a row. Sums of weights become sums of
costs, so a leaf costs the least of its sums; the squared error has forms of its own. Arrays are few
where functions are called often: counting references to them takes longer than the rest.

Invariant: a column of lanes without a test is 0, which is what a test costs that divides nothing.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import (
    LANES,
    KernelByType,
    add,
    inner_jit,
    least,
    load,
    spread,
    store,
    subtract,
)
from mictree.optimal.costs import squared_cost

# cells: costs of both children of each test without a split, with one; how much the rows that are
# not in a child can cost at most
LEAF, ONE, LACK = 0, 2, 4
CELLS = 6
HUGE = 1 << 62


class ClassBlocks(NamedTuple):
    """Rows with classes, and the relaxed tests of each column in the order of its cuts."""

    codes: np.ndarray  # (columns, rows) uint8
    first: np.ndarray  # (columns + 1,) of each column the first test
    sizes: np.ndarray  # (columns,) how many codes
    ends: np.ndarray  # (tests,) the largest code of the left child
    begins: np.ndarray  # (tests,) the code before the least of the right child
    slots: np.ndarray  # (rows,) the class
    values: np.ndarray  # (rows, 1) the weight
    keys: np.ndarray  # (rows, 2) random


class ActionBlocks(NamedTuple):
    """The same for rows with a cost for each action."""

    codes: np.ndarray
    first: np.ndarray
    sizes: np.ndarray
    ends: np.ndarray
    begins: np.ndarray
    slots: np.ndarray  # none
    values: np.ndarray  # (rows, actions)
    keys: np.ndarray


class NumberBlocks(NamedTuple):
    """The same for rows with numbers to predict."""

    codes: np.ndarray
    first: np.ndarray
    sizes: np.ndarray
    ends: np.ndarray
    begins: np.ndarray
    slots: np.ndarray  # none
    values: np.ndarray  # (rows, 4): see ``costs``
    keys: np.ndarray
    shift: np.ndarray  # (1,)


class Counts(NamedTuple):
    """The rows counted by their codes, and scratch."""

    tables: np.ndarray  # (pairs * sums * codes * codes,) by the codes of two columns
    singles: np.ndarray  # (columns, sums, codes) by the code of one
    places: np.ndarray  # (rows,) where the counts of a row begin
    starts: np.ndarray  # (columns, sums, codes) sums up to each code
    run: np.ndarray  # (codes,) sums of one line
    low: np.ndarray  # (sums * codes * lanes,) sums up to a code and to the end of each test
    high: np.ndarray  # the same, to the code before each right child
    across: np.ndarray  # (2 * tests * LANES,) costs with one split, before the last minimum
    along: np.ndarray  # (2 * columns * lanes,) the same, by lane
    wanted: np.ndarray  # (2, tests) of which children costs with one split are wanted


def make_counts(data: ClassBlocks | ActionBlocks | NumberBlocks, sums: int) -> Counts:
    """Scratch for some rows."""
    return Counts(**{name: np.zeros(*each) for name, each in _shapes(data, sums).items()})


def count_bytes(data: ClassBlocks | ActionBlocks | NumberBlocks, sums: int) -> int:
    """The memory of ``make_counts``."""
    shapes = _shapes(data, sums).values()
    return sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes)


def _shapes(data: ClassBlocks | ActionBlocks | NumberBlocks, sums: int) -> dict[str, tuple]:
    columns, rows = data.codes.shape
    codes, tests, kind = int(data.sizes.max()), len(data.ends), data.values.dtype
    lanes = -(-int(np.diff(data.first).max()) // LANES) * LANES
    pairs = columns * (columns - 1) // 2
    return {
        "tables": ((max(1, pairs) * sums * codes * codes,), kind),
        "singles": ((columns, sums, codes), kind),
        "places": ((rows,), np.int32),
        "starts": ((columns, sums, codes), kind),
        "run": ((codes,), kind),
        "low": ((sums * codes * lanes,), kind),
        "high": ((sums * codes * lanes,), kind),
        "across": ((2 * tests * LANES,), kind),
        "along": ((2 * columns * lanes,), kind),
        "wanted": ((2, tests), bool),
    }


# What depends on how leaves cost has a form for each kind of data. ``slots`` and ``values`` are
# those of the rows whose codes are given, ``counts`` a ``Counts``.

# (rows, codes, slots, values, data, counts): adds so many rows to ``singles``
count_codes = KernelByType(4)
# (rows, codes, slots, values, data, counts): adds so many rows to ``tables``
count_pairs = KernelByType(4)
# (cells, data, counts): fills LEAF from ``singles``; the least costs with 0 and 1 split
fill_leaves = KernelByType(1)
# (cells, none, data, counts): fills ONE where it is wanted, from both; given the cost of all rows
fill_splits = KernelByType(2)


@count_codes.form(ClassBlocks)
def _count_class_codes(rows, codes, slots, values, data, counts):
    """Add weights to the classes."""
    columns, sums, width = counts.singles.shape
    singles = counts.singles.reshape(-1)
    for column in range(columns):
        mine, base = codes[column], np.uint64(column * sums * width)
        for row in range(rows):
            place = np.uint64(slots[row]) * np.uint64(width) + np.uint64(mine[row])
            singles[base + place] += values[row, 0]


@count_pairs.form(ClassBlocks)
def _count_class_pairs(rows, codes, slots, values, data, counts):
    """Add weights to the classes."""
    columns, sums, width = counts.singles.shape
    tables, places = counts.tables, counts.places
    base, step = np.uint64(0), np.uint64(sums * width * width)
    for first in range(columns - 1):
        mine = codes[first]
        for row in range(rows):
            places[row] = (np.int64(slots[row]) * width + np.int64(mine[row])) * width
        for second in range(first + 1, columns):
            other = codes[second]
            for row in range(rows):
                tables[base + np.uint64(places[row]) + np.uint64(other[row])] += values[row, 0]
            base += step


@inner_jit
def _count_sum_codes(rows, codes, values, singles):
    """Add all values of the rows."""
    for column in range(len(codes)):
        mine = codes[column]
        for row in range(rows):
            for part in range(values.shape[1]):
                singles[column, part, np.uint64(mine[row])] += values[row, part]


@inner_jit
def _count_sum_pairs(rows, codes, values, width, tables):
    """Add all values of the rows."""
    base, step = np.int64(0), width * width
    for first in range(len(codes) - 1):
        mine = codes[first]
        for second in range(first + 1, len(codes)):
            other = codes[second]
            for row in range(rows):
                place = base + width * np.int64(mine[row]) + np.int64(other[row])
                for part in range(values.shape[1]):
                    tables[np.uint64(place + part * step)] += values[row, part]
            base += values.shape[1] * step


@count_codes.form(ActionBlocks)
def _count_action_codes(rows, codes, slots, values, data, counts):
    _count_sum_codes(rows, codes, values, counts.singles)


@count_codes.form(NumberBlocks)
def _count_number_codes(rows, codes, slots, values, data, counts):
    _count_sum_codes(rows, codes, values, counts.singles)


@count_pairs.form(ActionBlocks)
def _count_action_pairs(rows, codes, slots, values, data, counts):
    _count_sum_pairs(rows, codes, values, np.int64(counts.singles.shape[2]), counts.tables)


@count_pairs.form(NumberBlocks)
def _count_number_pairs(rows, codes, slots, values, data, counts):
    _count_sum_pairs(rows, codes, values, np.int64(counts.singles.shape[2]), counts.tables)


@inner_jit
def _sum_up(sizes, counts):
    """Fill ``starts``."""
    starts, singles = counts.starts, counts.singles
    for column in range(len(sizes)):
        for part in range(starts.shape[1]):
            total = singles[0, 0, 0] - singles[0, 0, 0]
            for code in range(sizes[column]):
                total += singles[column, part, code]
                starts[column, part, code] = total


@inner_jit
def _least_leaves(cells, shares, data, counts):
    """Fill LEAF, the least of the sums, and LACK: all of them, in so many shares."""
    starts, sums = counts.starts, counts.starts.shape[1]
    none, one = np.int64(HUGE), np.int64(HUGE)
    for column in range(len(data.sizes)):
        last = data.sizes[column] - 1
        none = np.int64(HUGE)
        for part in range(sums):
            none = min(none, np.int64(starts[column, part, last]))
        for test in range(data.first[column], data.first[column + 1]):
            end, begin = data.ends[test], data.begins[test]
            low, high = np.int64(HUGE), np.int64(HUGE)
            above, below = np.int64(0), np.int64(0)
            for part in range(sums):
                left, right = starts[column, part, end], starts[column, part, begin]
                whole = np.int64(starts[column, part, last])
                low, high = min(low, np.int64(left)), min(high, whole - right)
                above, below = above + whole - left, below + right
            cells[LEAF, test], cells[LEAF + 1, test] = low, high
            cells[LACK, test], cells[LACK + 1, test] = above // shares, below // shares
            one = min(one, low + high)
    return none, min(one, none)


@fill_leaves.form(ActionBlocks)
def _leaves_of_actions(cells, data, counts):
    _sum_up(data.sizes, counts)
    return _least_leaves(cells, np.int64(1), data, counts)  # a row costs at most its sum


@fill_leaves.form(ClassBlocks)
def _leaves_of_classes(cells, data, counts):
    """Weights become costs: of two classes, predicting one costs the other's weight."""
    _sum_up(data.sizes, counts)
    starts, sums = counts.starts, counts.starts.shape[1]
    for column in range(len(data.sizes) if sums != 2 else 0):
        for code in range(data.sizes[column]):
            every = starts[column, 0, code]
            for part in range(1, sums):
                every += starts[column, part, code]
            for part in range(sums):
                starts[column, part, code] = every - starts[column, part, code]
    return _least_leaves(cells, np.int64(max(1, sums - 1)), data, counts)


@fill_leaves.form(NumberBlocks)
def _leaves_of_numbers(cells, data, counts):
    """Leaves cost what ``squared_cost`` says."""
    _sum_up(data.sizes, counts)
    starts, shift = counts.starts, data.shift[0]
    none, one = np.int64(0), np.int64(HUGE)
    for column in range(len(data.sizes)):
        last = data.sizes[column] - 1
        none = _between(starts, column, -1, last, shift)
        for test in range(data.first[column], data.first[column + 1]):
            low = _between(starts, column, -1, data.ends[test], shift)
            high = _between(starts, column, data.begins[test], last, shift)
            cells[LEAF, test], cells[LEAF + 1, test] = low, high
            cells[LACK, test] = cells[LACK + 1, test] = HUGE // 4  # one row may cost a lot
            one = min(one, low + high)
    return none, min(one, none)


@inner_jit
def _between(starts, column, begin, end, shift):
    """What the rows cost with a code after one up to another."""
    weight, total = starts[column, 0, end], starts[column, 1, end]
    high, low = starts[column, 2, end], starts[column, 3, end]
    if begin >= 0:
        weight, total = weight - starts[column, 0, begin], total - starts[column, 1, begin]
        high, low = high - starts[column, 2, begin], low - starts[column, 3, begin]
    return squared_cost(weight, total, high, low, shift)


@fill_splits.form(ActionBlocks)
def _splits_of_actions(cells, none, data, counts):
    _begin(none, counts.across, counts.along)
    _fill_pairs(False, data, counts)
    return _finish(cells, none, data, counts)


@fill_splits.form(ClassBlocks)
def _splits_of_classes(cells, none, data, counts):
    _begin(none, counts.across, counts.along)
    _fill_pairs(counts.starts.shape[1] != 2, data, counts)
    return _finish(cells, none, data, counts)


@fill_splits.form(NumberBlocks)
def _splits_of_numbers(cells, none, data, counts):
    _begin(none, counts.across, counts.along)
    starts, low, high, wanted = counts.starts, counts.low, counts.high, counts.wanted
    columns, first, sizes = len(data.sizes), data.first, data.sizes
    base, step = np.int64(0), counts.starts.shape[1] * counts.starts.shape[2] ** 2
    for one in range(columns):
        mine = _any_wanted(wanted, first[one], first[one + 1])
        if mine:
            _expand_one(first[one], first[one + 1], starts[one], data.ends, data.begins, low, high)
            _combine_numbers(one, one, data, counts)
        for other in range(one + 1, columns):
            if mine or _any_wanted(wanted, first[other], first[other + 1]):
                _expand(
                    base, first[other], first[other + 1], sizes[one], sizes[other], data, counts
                )
                _combine_numbers(one, other, data, counts)
            base += step
    return _finish(cells, none, data, counts)


@inner_jit
def _begin(none, across, along):
    """No split is better than none."""
    kind = across.dtype.type
    for place in range(0, len(across), LANES):
        store(spread(kind(none)), across, place)
    for place in range(0, len(along), LANES):
        store(spread(kind(none)), along, place)


@inner_jit
def _any_wanted(wanted, start, stop):
    """Whether some child of a column's tests is wanted."""
    found = False
    for test in range(start, stop):
        found |= wanted[0, test] or wanted[1, test]
    return found


@inner_jit
def _fill_pairs(many, data, counts):
    """Lower ``across`` and ``along`` by all pairs of tests; ``many`` classes have weights."""
    starts, low, high, wanted = counts.starts, counts.low, counts.high, counts.wanted
    columns, first, sizes = len(data.sizes), data.first, data.sizes
    base, step = np.int64(0), starts.shape[1] * starts.shape[2] ** 2
    for one in range(columns):
        mine = _any_wanted(wanted, first[one], first[one + 1])
        if mine:
            _expand_one(first[one], first[one + 1], starts[one], data.ends, data.begins, low, high)
            _combine(one, one, True, data, counts)
        for other in range(one + 1, columns):
            every = _any_wanted(wanted, first[other], first[other + 1])
            if mine or every:
                _expand(
                    base, first[other], first[other + 1], sizes[one], sizes[other], data, counts
                )
                if many:
                    _complement(starts.shape[1], low, high)
                _combine(one, other, every, data, counts)
            base += step


@inner_jit
def _expand_one(begin, stop, starts, ends, begins, low, high):
    """Fill ``low`` and ``high`` for two tests of one column."""
    sums, width = starts.shape
    lanes = len(low) // (sums * width)
    for part in range(sums):
        for code in range(width):
            out = (part * width + code) * lanes
            for test in range(begin, stop):
                low[out + test - begin] = starts[part, min(code, ends[test])]
                high[out + test - begin] = starts[part, min(code, begins[test])]
            for lane in range(out + stop - begin, out + lanes):
                low[lane], high[lane] = 0, 0


@inner_jit
def _expand(base, begin, stop, size, other_size, data, counts):
    """Fill ``low`` and ``high`` for the tests of two columns: sum up along both codes."""
    tables, low, high, run = counts.tables, counts.low, counts.high, counts.run
    ends, begins = data.ends, data.begins
    sums, width = counts.starts.shape[1], counts.starts.shape[2]
    lanes = len(low) // (sums * width)
    for part in range(sums):
        for code in range(size):
            source = np.uint64(base + (part * width + code) * width)
            total = run[0] - run[0]
            for other in range(np.uint64(other_size)):
                total += tables[source + other]
                run[other] = total
            out = np.uint64((part * width + code) * lanes)
            shift = np.uint64(begin)
            for test in range(np.uint64(stop - begin)):
                low[out + test] = run[np.uint64(ends[shift + test])]
                high[out + test] = run[np.uint64(begins[shift + test])]
            for test in range(np.uint64(stop - begin), np.uint64(lanes)):
                low[out + test], high[out + test] = 0, 0
            for lane in range(0, lanes if code > 0 else 0, LANES):
                here = np.int64(out) + lane
                store(add(load(low, here), load(low, here - lanes)), low, here)
                store(add(load(high, here), load(high, here - lanes)), high, here)


@inner_jit
def _complement(sums, low, high):
    """Turn sums of weights into costs."""
    size = len(low) // sums
    for lane in range(0, size, LANES):
        every, above = load(low, lane), load(high, lane)
        for part in range(1, sums):
            every = add(every, load(low, part * size + lane))
            above = add(above, load(high, part * size + lane))
        for part in range(sums):
            here = part * size + lane
            store(subtract(every, load(low, here)), low, here)
            store(subtract(above, load(high, here)), high, here)


@inner_jit
def _combine(first, second, every, data, counts):
    """Costs are the least of the sums. Of the first column, ``every`` test or those wanted."""
    starts, low, high, wanted = counts.starts[first], counts.low, counts.high, counts.wanted
    across, along, kind = counts.across, counts.along, counts.starts.dtype.type
    sums, width = starts.shape
    lanes, half, tests = len(low) // (sums * width), len(along) // 2, wanted.shape[1]
    last, size = data.sizes[first] - 1, len(low) // sums
    for test in range(data.first[first], data.first[first + 1]):
        if not (every or wanted[0, test] or wanted[1, test]):
            continue
        end, begin = data.ends[test], data.begins[test]
        for lane in range(0, lanes, LANES):
            low_low = low_high = high_low = high_high = spread(kind(0))
            for part in range(sums):
                below = part * size + end * lanes + lane
                above = part * size + begin * lanes + lane
                whole = part * size + last * lanes + lane
                rest = kind(starts[part, last] - starts[part, begin])
                each_ll = load(low, below)
                each_lh = subtract(spread(starts[part, end]), load(high, below))
                each_hl = subtract(load(low, whole), load(low, above))
                each_hh = subtract(spread(rest), subtract(load(high, whole), load(high, above)))
                if part == 0:
                    low_low, low_high, high_low, high_high = each_ll, each_lh, each_hl, each_hh
                else:
                    low_low, low_high = least(low_low, each_ll), least(low_high, each_lh)
                    high_low, high_high = least(high_low, each_hl), least(high_high, each_hh)
            mine = test * LANES
            store(least(load(across, mine), add(low_low, low_high)), across, mine)
            mine += tests * LANES
            store(least(load(across, mine), add(high_low, high_high)), across, mine)
            mine = second * lanes + lane
            store(least(load(along, mine), add(low_low, high_low)), along, mine)
            mine += half
            store(least(load(along, mine), add(low_high, high_high)), along, mine)


@inner_jit
def _combine_numbers(first, second, data, counts):
    """Costs are those of sums of numbers."""
    starts, low, high, shift = counts.starts[first], counts.low, counts.high, data.shift[0]
    across, along = counts.across, counts.along
    lanes, half = len(low) // (4 * starts.shape[1]), len(along) // 2
    last, size = (data.sizes[first] - 1) * lanes, len(low) // 4
    others, top = data.first[second + 1] - data.first[second], data.sizes[first] - 1
    for test in range(data.first[first], data.first[first + 1]):
        end, begin = data.ends[test], data.begins[test]
        for lane in range(others):
            below, above, whole = end * lanes + lane, begin * lanes + lane, last + lane
            low_low = squared_cost(
                low[below], low[below + size], low[below + 2 * size], low[below + 3 * size], shift
            )
            low_high = squared_cost(
                starts[0, end] - high[below],
                starts[1, end] - high[below + size],
                starts[2, end] - high[below + 2 * size],
                starts[3, end] - high[below + 3 * size],
                shift,
            )
            high_low = squared_cost(
                low[whole] - low[above],
                low[whole + size] - low[above + size],
                low[whole + 2 * size] - low[above + 2 * size],
                low[whole + 3 * size] - low[above + 3 * size],
                shift,
            )
            high_high = squared_cost(
                starts[0, top] - starts[0, begin] - high[whole] + high[above],
                starts[1, top] - starts[1, begin] - high[whole + size] + high[above + size],
                starts[2, top] - starts[2, begin] - high[whole + 2 * size] + high[above + 2 * size],
                starts[3, top] - starts[3, begin] - high[whole + 3 * size] + high[above + 3 * size],
                shift,
            )
            mine = test * LANES
            across[mine] = min(across[mine], low_low + low_high)
            mine += len(across) // 2
            across[mine] = min(across[mine], high_low + high_high)
            mine = second * lanes + lane
            along[mine] = min(along[mine], low_low + high_low)
            along[half + mine] = min(along[half + mine], low_high + high_high)


@inner_jit
def _finish(cells, none, data, counts):
    """Fill ONE from ``across`` and ``along``; what is not wanted gets a huge cost.

    Returns the least costs with two splits of which one is a child's, and with one in each.
    """
    across, along, wanted = counts.across, counts.along, counts.wanted
    columns, tests = len(data.sizes), len(data.ends)
    lanes = len(along) // (2 * columns)
    two, three = np.int64(none), np.int64(none)
    for column in range(columns):
        start = data.first[column]
        for test in range(start, data.first[column + 1]):
            for side in range(2):
                if not wanted[side, test]:
                    cells[ONE + side, test] = HUGE // 4
                    continue
                best = np.int64(along[(side * columns + column) * lanes + test - start])
                place = np.uint64((side * tests + test) * LANES)
                least_lane = across[place]
                for lane in range(np.uint64(LANES)):
                    least_lane = min(least_lane, across[place + lane])
                cells[ONE + side, test] = min(best, np.int64(least_lane), cells[LEAF + side, test])
            two = min(two, cells[LEAF, test] + cells[ONE + 1, test])
            two = min(two, cells[ONE, test] + cells[LEAF + 1, test])
            three = min(three, cells[ONE, test] + cells[ONE + 1, test])
    return two, min(two, three)
