"""The gains of all splits of a leaf of packed data; kernels of the growing loop.

A leaf has two kinds of splits. A literal splits by a bit, and its gain comes from counts. A cut
splits an ordered column between two neighbouring rows of different values; all thresholds between
these values are one test. The gain of a cut comes from the sums of its low child, which a scan of
the rows in the column's order adds up.

Gains are computed twice. A fast gain subtracts impurities, and is wrong by less than ``SLACK``
says. It selects the splits that may be best. Their exact gains, without cancellation, decide.

A scan need not look at every cut. Gains are convex in the sums of the low child, so no cut within a
block of rows gains more than the corners of the box that the sums at both ends of the block span.
Blocks whose bound is too small are skipped.

``PackedLeaves`` gives gains, and drops by subtrees of depth 2, to loops in Python. There every
threshold is a literal of its own, and a leaf offers one of those that split it alike, as the
problem does. For drops, a leaf's rows are made compact; then the rows on the smaller side of each
literal are counted by all others, and the larger side has the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit, run
from mictree.growers.choosing import RuleFunctions, choose_tied, criterion_code, least_tied
from mictree.growers.data_rows import (
    NEW,
    SLOT,
    Counts,
    Matrix,
    add_rows,
    child_mask,
    class_of,
    compact,
    count_child,
    count_class_rows,
    count_root,
    subtract,
    total_of,
)
from mictree.growers.rules import Grower
from mictree.impurity import Criterion
from mictree.impurity.gains import ENTROPY, GINI, OWN, ROOT, gain_of_sums, own_gain_of_sums
from mictree.problems import sample
from mictree.problems.base import FloatArray, Leaf
from mictree.problems.sample import SampleProblem

# Fast gains are wrong by less than this times the number of classes and 16 more: by a few units in
# the last place of an impurity, or of log2(4096) when logarithms are looked up.
SLACK = 1e-13

# n log2 n, so that entropies of small counts need no logarithm
TABLE_SIZE = 4096
COUNT_LOGS = np.arange(TABLE_SIZE + 1) * np.log2(np.maximum(np.arange(TABLE_SIZE + 1), 1))


class Limits(NamedTuple):
    """Which leaves and splits are not made."""

    min_samples_split: int
    min_samples_leaf: int
    max_depth: int
    min_gain: float
    min_leaf_mass: float


class Weighing(NamedTuple):
    """What a leaf's gains depend on besides its counts."""

    criterion: int
    impurity: int  # the address of a function, for criterion OWN
    class_weight: np.ndarray
    alike: bool  # all classes weigh the same
    plain: bool  # every row weighs 1
    logs: np.ndarray  # COUNT_LOGS
    refused: np.ndarray  # True, the rate and the value where an impurity is none


def weighing_of(
    factors: np.ndarray, weighted: bool, criterion: Criterion, functions: RuleFunctions
) -> Weighing:
    """What gains depend on, by the factors of classes and a rule's functions."""
    return Weighing(
        criterion_code(criterion),
        functions.impurity.address,
        factors,
        bool((factors == factors[0]).all()),
        not weighted and bool((factors == 1).all()),
        COUNT_LOGS,
        functions.refused_impurity,
    )


def limits_of(limits: sample.Limits, min_leaf_mass: float) -> Limits:
    """A problem's limits as plain numbers."""
    return Limits(
        limits.min_samples_split,
        limits.min_samples_leaf,
        2**62 if limits.max_depth is None else limits.max_depth,
        float(limits.min_gain),
        min_leaf_mass,
    )


@jit
def may_split(rows, depth, limits):
    """Whether a leaf is impure, large and high enough to have its splits looked at."""
    total = total_of(rows)
    if not is_large(total, depth, limits):
        return False
    impure = True
    for here in rows:
        impure &= here < total
    return impure


@inner_jit
def is_large(rows, depth, limits):
    """Whether a leaf is large and high enough to be split."""
    return depth < limits.max_depth and rows >= limits.min_samples_split


@inner_jit
def least_candidate(fast, classes):
    """The least fast gain of a split that may tie with the best one."""
    return least_tied(fast) - 2 * SLACK * (classes + 16)


@inner_jit
def offer(counts, rows, sums, weighing, limits, out_gain):
    """The gain of a leaf's best literal, or -1 for none; writes all gains, -1 for hopeless ones."""
    fast = screen(counts, rows, sums, weighing, limits, out_gain)
    if fast == -np.inf:
        return -1.0
    best = weigh_literals(counts, sums, weighing, least_candidate(fast, len(sums)), out_gain)
    return best if best >= limits.min_gain else -1.0


@jit
def offer_of_counts(counts, rows, sums, weighing, limits, out_gain):
    """The same for loops in Python."""
    return offer(counts, rows, sums, weighing, limits, out_gain)


@inner_jit
def weigh_literals(counts, sums, weighing, candidate, gains):
    """Replace the fast gains that may be the largest by exact ones, others by -1; the largest."""
    literals, classes = counts.rows.shape
    low, high, work = np.empty(classes), np.empty(classes), np.empty((5, classes))
    best = -1.0
    for literal in range(literals):
        if gains[literal] < candidate:
            gains[literal] = -1.0
            continue
        for code in range(classes):
            high[code] = (
                counts.sums[literal, code] if len(counts.sums) else counts.rows[literal, code]
            )
            low[code] = sums[code] - high[code]
        gains[literal] = exact_gain(low, high, weighing, work)
        best = max(best, gains[literal])
    return best


@inner_jit
def exact_gain(low_sums, high_sums, weighing, scratch):
    """The gain of a split from the sums of both sides, without cancellation unless by one's own.

    Overwrites ``scratch``, as ``gain_of_sums`` does.
    """
    if weighing.criterion == OWN:
        return own_gain_of_sums(
            weighing.impurity, low_sums, high_sums, weighing.class_weight, weighing.refused
        )
    return gain_of_sums(
        weighing.criterion, low_sums, high_sums, weighing.class_weight, weighing.alike, scratch
    )


@inner_jit
def screen(counts, rows, sums, weighing, limits, out_gain):
    """Write each literal's fast gain, -inf where it must not be tested; returns the largest.

    Gains by one's own criterion are not computed here: 0.
    """
    literals, classes = counts.rows.shape
    weighted = len(counts.sums) > 0
    class_weight, logs, criterion = weighing.class_weight, weighing.logs, weighing.criterion
    total_rows, total = total_of(rows), mass_of(sums, class_weight)
    table = weighing.plain and criterion == ENTROPY and total_rows < len(logs)
    low, high = np.empty(classes), np.empty(classes)
    for code in range(classes):
        low[code] = sums[code] * class_weight[code]
    before = _impurity(low, total, criterion)
    best = -np.inf
    for literal in range(literals):
        out_gain[literal] = -np.inf
        high_rows = 0
        for code in range(classes):
            high_rows += counts.rows[literal, code]
        low_rows = total_rows - high_rows
        if min(low_rows, high_rows) < max(1, limits.min_samples_leaf):
            continue
        if table:
            if min(low_rows, high_rows) < limits.min_leaf_mass:
                continue
            after = logs[high_rows] + logs[low_rows]
            for code in range(classes):
                count = counts.rows[literal, code]
                after -= logs[count] + logs[rows[code] - count]
            drop = before - after / total_rows
        else:
            low_mass, high_mass = 0.0, 0.0
            for code in range(classes):
                inside = counts.sums[literal, code] if weighted else counts.rows[literal, code]
                high[code] = inside * class_weight[code]
                low[code] = (sums[code] - inside) * class_weight[code]
                low_mass += low[code]
                high_mass += high[code]
            if min(low_mass, high_mass) < limits.min_leaf_mass:
                continue
            if criterion == OWN:
                drop = 0.0
            else:
                drop = (
                    before
                    - low_mass / total * _impurity(low, low_mass, criterion)
                    - high_mass / total * _impurity(high, high_mass, criterion)
                )
        out_gain[literal] = drop
        best = max(best, drop)
    return best


@inner_jit
def _impurity(masses, total, criterion):
    """The impurity of a leaf with these class masses."""
    result = 0.0
    if criterion == 3:
        for mass in masses:
            result = max(result, mass)
        return (total - result) / total
    for code in range(len(masses)):
        share = masses[code] / total
        if criterion == 0:
            if share > 0:
                result -= share * np.log(share)
        elif criterion == 1:
            result += share * (1 - share)
        else:
            rest = 1 - share
            if share > 0.5:  # a root would magnify what rounding left of the others
                rest = 0.0
                for other in range(len(masses)):
                    if other != code:
                        rest += masses[other]
                rest /= total
            result += np.sqrt(share * rest)
    return result / np.log(2.0) if criterion == 0 else result


@inner_jit
def mass_of(sums, class_weight):
    mass = 0.0
    for code in range(len(sums)):
        mass += sums[code] * class_weight[code]
    return mass


class CutLeaf(NamedTuple):
    """What the gains of a leaf's cuts depend on."""

    sums: np.ndarray  # by class
    rows: int
    mass: float
    before: float  # mass times impurity
    table: bool  # logarithms are looked up


class Two(NamedTuple):
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


class Room(NamedTuple):
    """Scratch arrays, one number for each class: sums of the low child, of a corner, masses."""

    left: np.ndarray
    corner: np.ndarray
    low: np.ndarray
    high: np.ndarray
    exact: np.ndarray  # five rows


@inner_jit
def measure(sums, rows, task):
    """The leaf whose cuts are to be weighed."""
    weighing = task.weighing
    count = total_of(rows)
    table = weighing.plain and weighing.criterion == ENTROPY and count < len(weighing.logs)
    mass = mass_of(sums, weighing.class_weight)
    before = _mass_times_impurity(sums * weighing.class_weight, mass, weighing.criterion)
    return CutLeaf(sums, count, mass, before, table)


@inner_jit
def make_room(classes):
    return Room(
        np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes),
        np.empty((5, classes)),
    )  # fmt: skip


@inner_jit
def two_of(leaf, task):
    """A leaf with two classes."""
    weights = task.weighing.class_weight
    return Two(
        leaf.sums[0], leaf.sums[1], weights[0], weights[1], leaf.rows, leaf.mass, leaf.before,
        leaf.table, task.weighing.criterion,
    )  # fmt: skip


@inner_jit
def gain_of_two(left_first, left_second, two, logs):
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
def exact_cut_gain(left, leaf, task, room):
    """The gain of a split with these sums in the low child, without cancellation."""
    for code in range(len(left)):
        room.low[code], room.high[code] = left[code], leaf.sums[code] - left[code]
    return exact_gain(room.low, room.high, task.weighing, room.exact)


@inner_jit
def fast_gain(left, leaf, task, room, least_mass):
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


MOST_CLASSES = 4  # whose 16 corners bound a block; not a shift, which would wrap around


class Cuts(NamedTuple):
    """The cuts that may be best, column by column."""

    gains: list[float]  # exact
    places: list[int]  # in the order of the column
    columns: list[int]


class _Scan(NamedTuple):
    """What a scan of a leaf's cuts needs of the leaf, and what it writes."""

    matrix: Matrix
    leaf: CutLeaf
    task: Any  # how to grow, with a weighing and limits
    room: Room  # overwritten
    cuts: Cuts  # appended to, if cuts are collected


class _Order(NamedTuple):
    """A leaf's rows in the order of one column."""

    entries: np.ndarray
    missing: int  # how many of the first ones have no value


@inner_jit
def new_scan(matrix, leaf, task):
    """For ``screen_cuts`` and then ``weigh_cuts`` of one leaf."""
    return _Scan(matrix, leaf, task, make_room(len(leaf.sums)), no_cuts())


@inner_jit
def no_cuts():
    """Empty lists."""
    # numba learns their types from what is taken out again
    cuts = Cuts([0.0], [0], [0])
    cuts.gains.pop()
    cuts.places.pop()
    cuts.columns.pop()
    return cuts


@inner_jit
def screen_cuts(number, columns, scan, fast, out_fast):
    """The largest fast gain of a leaf's literals, ``fast``, and cuts; writes those of columns."""
    for column in range(len(columns.entries)):
        least = least_candidate(fast, len(scan.leaf.sums))
        order = _order_of(number, column, columns, scan.leaf)
        out_fast[column] = _scan(order, scan, least, False)
        fast = max(fast, out_fast[column])
    return fast


@inner_jit
def weigh_cuts(number, columns, scan, candidate, fast):
    """The gains and places of the cuts that may be best, and their columns."""
    cuts = scan.cuts
    for column in range(len(columns.entries)):
        if fast[column] >= candidate and fast[column] > -np.inf:
            _scan(_order_of(number, column, columns, scan.leaf), scan, candidate, True)
        while len(cuts.columns) < len(cuts.gains):
            cuts.columns.append(column)
    return cuts


@inner_jit
def _order_of(number, column, columns, leaf):
    """The rows of leaf ``number`` in the order of a column."""
    start = columns.start[number]
    return _Order(
        columns.entries[column, start : start + leaf.rows], columns.missing[number, column]
    )


@inner_jit
def _scan(order, scan, least, collect):
    """The largest fast gain of a column's cuts, if it is at least ``least``.

    With ``collect``, appends exact gains and places of all cuts of such fast gains.
    """
    entries, matrix, leaf, task, room = (
        order.entries, scan.matrix, scan.leaf, scan.task, scan.room,
    )  # fmt: skip
    rows, classes = len(entries), len(leaf.sums)
    block = 32 if rows < 2048 else 64 if rows < 16384 else 256
    if rows <= 4 * block or classes > MOST_CLASSES or task.weighing.criterion == OWN:
        room.left[:] = 0
        first = np.int64(0)
        return _scan_block(order, first, rows, scan, least, collect)
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
        last = min(rows, block * (number + 1))
        here = _scan_block(order, block * number, last, scan, least, collect)
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
    """As ``_bound_blocks``, for two classes."""
    at_end = gain_of_two(0.0, 0.0, two, logs)
    for number in range(len(out_bounds)):
        first, second = ends[number]
        last_first, last_second = ends[number + 1]
        bound = at_end
        at_end = gain_of_two(last_first, last_second, two, logs)
        bound = max(bound, at_end, gain_of_two(first, last_second, two, logs))
        out_bounds[number] = max(bound, gain_of_two(last_first, second, two, logs))


@inner_jit
def _scan_two(order, first, last, scan, least, collect):
    """As ``_scan_block``, for two classes."""
    # taken out of their tuples once: each access counts references
    entries, missing = order
    matrix, leaf, task, room, cuts = scan
    gains, places = cuts.gains, cuts.places
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
def _scan_block(order, first, last, scan, least, collect):
    """The largest fast gain of the cuts before some rows; with ``collect``, as for a whole column.

    ``room.left`` has the sums before the first row, and is overwritten.
    """
    if len(scan.leaf.sums) == 2:
        return _scan_two(order, first, last, scan, least, collect)
    entries, missing = order
    matrix, leaf, task, room, cuts = scan
    gains, places = cuts.gains, cuts.places
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
def choose_test(literal_gains, before, cuts, ties, draws):
    """The column (-1 for a literal) and place of the best split, by position among all of them."""
    count = len(literal_gains) + len(cuts.gains)
    gains, tests = np.empty(count), np.empty((count, 2), dtype=np.int64)
    cut = 0
    for literal in range(len(literal_gains) + 1):
        while cut < len(cuts.gains) and before[cuts.columns[cut]] <= literal:
            gains[literal + cut] = cuts.gains[cut]
            tests[literal + cut] = cuts.columns[cut], cuts.places[cut]
            cut += 1
        if literal < len(literal_gains):
            gains[literal + cut] = literal_gains[literal]
            tests[literal + cut] = -1, literal
    chosen = choose_tied(gains, ties, draws)
    return tests[chosen, 0], tests[chosen, 1]


@inner_jit
def is_cut(column, columns):
    """Whether a test is a cut of an ordered column, by the number of its column."""
    return 0 <= column < len(columns.entries)


MOST_BYTES = 2**28  # of all literals as bits


class PackedLeaves:
    """The leaves of a problem, with every literal as bits."""

    def __init__(self, rule: Grower, problem: SampleProblem) -> None:
        self._problem = problem
        self.bits = problem.bits_of(np.arange(len(problem.literals)))
        self._matrix = Matrix(
            self.bits, problem.first_word, problem.valid, problem.whole_weights,
            np.empty(0, dtype=np.uint32),
        )  # fmt: skip
        self._functions = RuleFunctions(rule)
        self._weighing = weighing_of(
            problem.factors.values, len(problem.whole_weights) > 0, rule.criterion, self._functions
        )
        limits = replace(problem.limits, min_gain=0.0)  # a bound for the whole drop only
        self._limits = limits_of(limits, problem.min_leaf_mass)

    @staticmethod
    def hold(problem: SampleProblem) -> bool:
        """Whether the literals of a problem are few enough."""
        return not problem.ranks or len(problem.literals) * problem.valid.nbytes <= MOST_BYTES

    def gains(self, leaf: Leaf) -> tuple[np.typing.NDArray[np.intp], FloatArray]:
        """A leaf's tests and their gains."""
        rows, sums = self._by_class()
        gains = np.full(len(self._matrix.bits), -1.0)
        matrix = self._matrix._replace(valid=leaf.state.mask)
        _gains(matrix, len(leaf.state.path), self._weighing, self._limits, rows, sums, gains)
        self._functions.settle()
        offered = self._offered(leaf, gains)
        return offered, gains[offered]

    def drops(self, leaf: Leaf) -> tuple[np.typing.NDArray[np.intp], FloatArray]:
        """A leaf's tests, and by test its gain and the best drop of a subtree of depth 2."""
        rows, sums = self._by_class()
        matrix, counts = _count_compact(self._matrix, leaf.state.mask, rows, sums)
        drops = np.full((2, len(matrix.bits)), -1.0)
        if not leaf.pure:
            run(
                _pair_drops, len(matrix.bits), drops.shape[1] ** 2 * (matrix.bits.shape[1] + 20),
                matrix, counts, rows, sums, len(leaf.state.path), self._weighing, self._limits,
                drops,
            )  # fmt: skip
            self._functions.settle()
        offered = self._offered(leaf, drops[0])
        return offered, drops[:, offered]

    def _offered(self, leaf: Leaf, gains: FloatArray) -> np.typing.NDArray[np.intp]:
        """The literals that a leaf offers, among those with a gain."""
        offered = self._problem.offered(leaf)
        return offered[gains[offered] >= 0]

    def _by_class(self) -> tuple[np.typing.NDArray[np.int64], FloatArray]:
        """Room for a leaf's rows and their weights."""
        classes = len(self._problem.classes)
        return np.empty(classes, dtype=np.int64), np.empty(classes)


@jit
def _count_compact(matrix, mask, rows, sums):
    """The rows of a mask as a matrix of their own, and their counts; writes rows and sums."""
    count_class_rows(mask, matrix.first_word, rows)
    small = compact(matrix, mask, rows)
    return small, count_root(small, rows, sums)


@jit
def _gains(matrix, deep, weighing, limits, rows, sums, out_gains):
    """Write the gains of the literals that may be tested; overwrites ``rows`` and ``sums``."""
    counts = count_root(matrix, rows, sums)
    if not may_split(rows, deep, limits):
        return
    fast, work = np.empty(len(out_gains)), np.empty((5, len(rows)))
    screen(counts, rows, sums, weighing, limits, fast)
    high = np.empty(len(rows))
    for literal in range(len(out_gains)):
        if fast[literal] > -np.inf:
            for code in range(len(rows)):
                high[code] = (
                    counts.sums[literal, code] if len(counts.sums) else counts.rows[literal, code]
                )
            out_gains[literal] = exact_gain(sums - high, high, weighing, work)


@jit
def _pair_drops(start, stop, matrix, counts, rows, sums, deep, weighing, limits, out_drops):
    """Write the gains of some literals, and their drops with the best test on either side.

    Leaves the columns of literals that must not be tested as they are.
    """
    if not may_split(rows, deep, limits):
        return
    literals, classes = counts.rows.shape
    gains, work = np.empty(literals), np.empty((5, classes))
    side_rows, side_sums = np.empty((2, classes), dtype=np.int64), np.empty((2, classes))
    screen(counts, rows, sums, weighing, limits, gains)
    hopeless = gains == -np.inf
    mass = mass_of(sums, weighing.class_weight)
    for literal in range(start, stop):
        if hopeless[literal]:
            continue
        for code in range(classes):
            inside = counts.rows[literal, code]
            side_rows[1, code], side_rows[0, code] = inside, rows[code] - inside
            side_sums[1, code] = counts.sums[literal, code] if len(counts.sums) else inside
            side_sums[0, code] = sums[code] - side_sums[1, code]
        gain = exact_gain(side_sums[0], side_sums[1], weighing, work)
        out_drops[0, literal] = out_drops[1, literal] = gain
        ready_low = may_split(side_rows[0], deep + 1, limits)
        ready_high = may_split(side_rows[1], deep + 1, limits)
        if not (ready_low or ready_high):
            continue
        light = 0 if total_of(side_rows[0]) <= total_of(side_rows[1]) else 1
        inside = child_mask(matrix.valid, matrix.bits[literal], light == 1)
        part = count_child(
            matrix, inside, counts.rows, total_of(rows), side_rows[light], side_sums[light]
        )
        rest = Counts(counts.rows.copy(), counts.sums.copy())
        subtract(rest.rows, rest.sums, part.rows, part.sums)
        below = 0.0
        for side, ready in ((0, ready_low), (1, ready_high)):
            if ready:
                counted = part if side == light else rest
                best = offer(counted, side_rows[side], side_sums[side], weighing, limits, gains)
                share = mass_of(side_sums[side], weighing.class_weight) / mass
                below += share * max(best, 0.0)
        out_drops[1, literal] += below
