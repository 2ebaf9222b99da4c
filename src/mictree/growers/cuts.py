"""Splits of ordered columns by thresholds; kernels of the growing loop.

For each column the rows lie in the order of their values, those of a leaf behind each other, and a
split shares them out stably among the children. A cut is a place between two rows of different
values; all thresholds between these two values are one test.

Gains are convex in the sums of the low child. So no cut within a block of rows gains more than the
corners of the box that the sums at both its ends span, and most blocks need no closer look.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit
from mictree.growers.counting import total_of
from mictree.growers.offers import SLACK, exact_gain, least_candidate, mass_of
from mictree.growers.ties import least_tied, pick
from mictree.impurity.gains import ENTROPY, GINI, OWN, ROOT

NEW = np.uint32(1 << 31)  # a flag of an entry: its value is larger than that of the one before
SLOT = np.uint32((1 << 31) - 1)
MOST_CORNERS = 16


class Sorted(NamedTuple):
    """The rows in the order of each ordered column, those of a leaf behind each other."""

    entries: np.ndarray  # (columns, rows): slots, and flags NEW
    start: np.ndarray  # by leaf: its first entry
    missing: np.ndarray  # by leaf and column: how many of its entries have no value; they are first
    before: np.ndarray  # by column: how many of the matrix's literals come before it
    scratch: np.ndarray  # an entry for each row
    side: np.ndarray  # a bit for each slot: its row is in the high child


class _Leaf(NamedTuple):
    """What the gains of a leaf's cuts depend on."""

    sums: np.ndarray  # by class
    rows: int
    mass: float
    before: float  # mass times impurity
    table: bool  # logarithms are looked up


class _Two(NamedTuple):
    """The same for two classes, in numbers alone: these are passed on faster than arrays."""

    first: float  # sums
    second: float
    first_weight: float
    second_weight: float
    rows: int
    mass: float
    before: float
    table: bool
    criterion: int


class _Room(NamedTuple):
    """Scratch arrays, one number for each class: sums of the low child, of a corner, masses."""

    left: np.ndarray
    corner: np.ndarray
    low: np.ndarray
    high: np.ndarray
    exact: np.ndarray  # five rows


@jit
def sort_entries(ranks, slots, count, out_entries):
    """Write the slots of all rows in the order of their ranks (a counting sort), and flags."""
    place = np.zeros(count + 1, dtype=np.int64)
    for value in ranks:
        place[np.int64(value) + 1] += 1
    for value in range(count):
        place[value + 1] += place[value]
    for row in range(len(ranks)):
        value = np.int64(ranks[row])
        out_entries[place[value]] = slots[row]
        place[value] += 1
    for value in range(count - 1):  # now each place is the end of its rank
        if place[value] < len(ranks):
            out_entries[place[value]] |= NEW


@inner_jit
def class_of(slot, first_word):
    """The class of the row in a slot."""
    word = slot >> np.uint32(6)
    code = 0
    for other in range(1, len(first_word) - 1):
        code += word >= first_word[other]
    return code


@inner_jit
def add_rows(entries, matrix, out_sums):
    """Add the weights of some rows to the sums of their classes."""
    first_word, weights = matrix.first_word, matrix.weights
    if len(out_sums) == 2 and len(weights) == 0:
        border = np.uint32(64 * first_word[1])
        ones = 0
        for entry in entries:
            ones += (entry & SLOT) >= border
        out_sums[0] += len(entries) - ones
        out_sums[1] += ones
        return
    for entry in entries:
        slot = entry & SLOT
        out_sums[class_of(slot, first_word)] += weights[slot] if len(weights) else 1.0


@inner_jit
def measure(sums, rows, task):
    """The leaf whose cuts are to be weighed."""
    weighing = task.weighing
    count = total_of(rows)
    table = weighing.plain and weighing.criterion == ENTROPY and count < len(weighing.logs)
    mass = mass_of(sums, weighing.class_weight)
    before = _mass_times_impurity(sums * weighing.class_weight, mass, weighing.criterion)
    return _Leaf(sums, count, mass, before, table)


@inner_jit
def make_room(classes):
    return _Room(
        np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes),
        np.empty((5, classes)),
    )  # fmt: skip


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
        return _scan_block(
            entries, 0, rows, missing, matrix, leaf, task, room, least, collect, gains, places
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
    at_end = _fast_gain(ends[0], leaf, task, room, -np.inf)
    for number in range(len(out_bounds)):
        bound = at_end
        at_end = _fast_gain(ends[number + 1], leaf, task, room, -np.inf)
        bound = max(bound, at_end)
        for corner in range(1, (1 << classes) - 1):
            for code in range(classes):
                room.corner[code] = ends[number + (corner >> code & 1), code]
            bound = max(bound, _fast_gain(room.corner, leaf, task, room, -np.inf))
        out_bounds[number] = bound


@inner_jit
def _bound_two(ends, two, logs, out_bounds):
    """The same for two classes."""
    at_end = _gain_of_two(0.0, 0.0, two, logs)
    for number in range(len(out_bounds)):
        first, second = ends[number]
        last_first, last_second = ends[number + 1]
        bound = at_end
        at_end = _gain_of_two(last_first, last_second, two, logs)
        bound = max(bound, at_end, _gain_of_two(first, last_second, two, logs))
        out_bounds[number] = max(bound, _gain_of_two(last_first, second, two, logs))


@inner_jit
def two_of(leaf, task):
    """A leaf with two classes."""
    weights = task.weighing.class_weight
    return _Two(
        leaf.sums[0], leaf.sums[1], weights[0], weights[1], leaf.rows, leaf.mass, leaf.before,
        leaf.table, task.weighing.criterion,
    )  # fmt: skip


@inner_jit
def _gain_of_two(left_first, left_second, two, logs):
    """The gain of a split with these sums in the low child."""
    if two.table:
        one, other = np.int64(left_first), np.int64(left_second)
        after = logs[one + other] + logs[two.rows - one - other] - logs[one] - logs[other]
        after -= logs[np.int64(two.first) - one] + logs[np.int64(two.second) - other]
        return (two.before - after) / two.mass
    one, other = left_first * two.first_weight, left_second * two.second_weight
    rest = (two.first - left_first) * two.first_weight
    other_rest = (two.second - left_second) * two.second_weight
    after = _two_masses(one, other, two.criterion) + _two_masses(rest, other_rest, two.criterion)
    return (two.before - after) / two.mass


@inner_jit
def _two_masses(one, other, criterion):
    """The mass of a leaf with two classes times its impurity."""
    if one <= 0 or other <= 0 or criterion == OWN:
        return 0.0
    total = one + other
    if criterion == ENTROPY:
        return total * np.log2(total) - one * np.log2(one) - other * np.log2(other)
    if criterion == GINI:
        return 2 * one * other / total
    if criterion == ROOT:
        return 2 * np.sqrt(one * other)
    return min(one, other)


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
                fast = _gain_of_two(left_first, left_second, two, logs)
                best = max(best, fast)
                if collect and fast >= least:
                    room.left[0], room.left[1] = left_first, left_second
                    gains.append(_exact(room.left, leaf, task, room))
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
            fast = _fast_gain(left, leaf, task, room, task.limits.min_leaf_mass)
            if fast > best:
                best = fast
            if collect and fast >= least and fast > -np.inf:
                gains.append(_exact(left, leaf, task, room))
                places.append(place)
        slot = entry & SLOT
        left[class_of(slot, first_word)] += weights[slot] if len(weights) else 1.0
    return best


@inner_jit
def _exact(left, leaf, task, room):
    """The gain of a split with these sums in the low child, without cancellation."""
    for code in range(len(left)):
        room.low[code], room.high[code] = left[code], leaf.sums[code] - left[code]
    return exact_gain(room.low, room.high, task.weighing, room.exact)


@inner_jit
def _fast_gain(left, leaf, task, room, least_mass):
    """The gain of a split with these sums in the low child; -inf if a child is too light."""
    weighing, sums = task.weighing, leaf.sums
    if leaf.table:
        logs = weighing.logs
        low_rows, after = 0, 0.0
        for code in range(len(sums)):
            inside = np.int64(left[code])
            low_rows += inside
            after -= logs[inside] + logs[np.int64(sums[code]) - inside]
        if min(low_rows, leaf.rows - low_rows) < least_mass:
            return -np.inf
        after += logs[low_rows] + logs[leaf.rows - low_rows]
        return (leaf.before - after) / leaf.mass
    low_mass, high_mass = 0.0, 0.0
    for code in range(len(sums)):
        room.low[code] = left[code] * weighing.class_weight[code]
        room.high[code] = (sums[code] - left[code]) * weighing.class_weight[code]
        low_mass += room.low[code]
        high_mass += room.high[code]
    if min(low_mass, high_mass) < least_mass:
        return -np.inf
    if weighing.criterion == OWN:
        return 0.0
    after = _mass_times_impurity(room.low, low_mass, weighing.criterion)
    after += _mass_times_impurity(room.high, high_mass, weighing.criterion)
    return (leaf.before - after) / leaf.mass


@inner_jit
def _mass_times_impurity(masses, total, criterion):
    """A leaf's mass times its impurity; entropy in bits."""
    result = 0.0
    if total <= 0 or criterion == OWN:
        return result
    if criterion == ENTROPY:
        for mass in masses:
            if mass > 0:
                result -= mass * np.log2(mass)
        return result + total * np.log2(total)
    if criterion == GINI:
        for mass in masses:
            result += mass * mass
        return total - result / total
    if criterion == ROOT:
        for code in range(len(masses)):
            rest = 0.0
            for other in range(len(masses)):
                if other != code:
                    rest += masses[other]
            result += np.sqrt(masses[code] * rest)
        return result
    for mass in masses:
        result = max(result, mass)
    return total - result


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


@inner_jit
def mark_high(entries, place, out_side):
    """Set the bits of the rows from a place on, clear those of the others."""
    for number in range(len(entries)):
        slot = entries[number] & SLOT
        bit = np.uint64(1) << np.uint64(slot & np.uint32(63))
        if number < place:
            out_side[slot >> np.uint32(6)] &= ~bit
        else:
            out_side[slot >> np.uint32(6)] |= bit


@inner_jit
def share_rows(columns, side, leaf, low, low_rows, rows, chosen):
    """Share a leaf's rows out among its children, stably, in every column but the one tested."""
    start = columns.start[leaf]
    columns.start[low], columns.start[low + 1] = start, start + low_rows
    for column in range(len(columns.entries)):
        entries = columns.entries[column, start : start + rows]
        missing = columns.missing[leaf, column]
        if column == chosen:  # missing values are in the low child
            columns.missing[low, column], columns.missing[low + 1, column] = missing, 0
            continue
        columns.missing[low, column] = _partition(entries, missing, side, columns.scratch)
        columns.missing[low + 1, column] = missing - columns.missing[low, column]


@inner_jit
def _partition(entries, missing, side, scratch):
    """Move the rows of the high child behind the others; of the missing ones, how many stay.

    A flag of a row that goes to the other child passes to the next one of this child. There is no
    branch to predict: every row is written for both children, and overwritten in one.
    """
    stay = missing
    for number in range(missing):
        stay -= np.int64(_bit(side, entries[number]))
    low, high = np.uint64(0), np.uint64(0)  # unsigned places need no look for negative ones
    low_flag, high_flag = np.uint64(0), np.uint64(0)
    for number in range(len(entries)):
        entry = np.uint64(entries[number])
        is_high = _bit(side, entry)
        slot, flag = entry & np.uint64(SLOT), entry & np.uint64(NEW)
        low_flag |= flag
        high_flag |= flag
        entries[low] = slot | low_flag
        scratch[high] = slot | high_flag
        low += np.uint64(1) - is_high
        high += is_high
        low_flag &= np.uint64(0) - is_high
        high_flag &= is_high - np.uint64(1)
    entries[low:] = scratch[:high]
    return stay


@inner_jit
def _bit(bits, entry):
    slot = np.uint64(entry) & np.uint64(SLOT)
    return bits[slot >> np.uint64(6)] >> (slot & np.uint64(63)) & np.uint64(1)


@inner_jit
def mask_of(entries, words):
    """The bits of some rows' slots."""
    mask = np.zeros(words, dtype=np.uint64)
    for entry in entries:
        slot = entry & SLOT
        mask[slot >> np.uint32(6)] |= np.uint64(1) << np.uint64(slot & np.uint32(63))
    return mask


@inner_jit
def renumber(columns, leaf, rows, old, small, mask):
    """Turn the slots of a leaf's rows into those of a compact matrix."""
    new_slot = np.empty(64 * len(mask), dtype=np.uint32)
    for code in range(len(old.first_word) - 1):
        slot = 64 * small.first_word[code]
        for word in range(old.first_word[code], old.first_word[code + 1]):
            for bit in range(64):
                if mask[word] >> np.uint64(bit) & np.uint64(1):
                    new_slot[64 * word + bit] = slot
                    small.origin[slot] = old.origin[64 * word + bit]
                    slot += 1
    start = columns.start[leaf]
    for column in range(len(columns.entries)):
        for number in range(start, start + rows):
            entry = columns.entries[column, number]
            columns.entries[column, number] = new_slot[entry & SLOT] | entry & NEW
