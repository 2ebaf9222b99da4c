"""Growth on data by sums over rows: for numbers to predict and for costs.

``split_by_sums`` makes the same splits as ``loop.grow_any``. Every row has a weight and some whole
numbers, and a leaf has their sums: its weighted labels, or the cost of each action. Whole numbers
are added without rounding, so a sum does not depend on the order of its terms, and splits that
divide alike gain alike. Labels and costs that are decimals become whole exactly; others are scaled
by a power of two, as far as 62 bits hold all sums, and rounded. What leaves predict, and what they
cost, is computed from the true labels and costs.

The rows of a leaf lie behind each other in the order of each ordered column (``Sorted``), and once
more by number. A scan of a column adds up the rows before each cut. For the squared error it adds
deviations from the leaf's mean, D: a cut with the weights A and B on its sides gains ``D**2 / (A *
B)``. Within a block of rows the product A * B is least at an end, so the largest D bounds the gains
of the block, and only blocks that may hold the best cut are looked at again. For costs, the sums at
both ends of a block bound its gains, as no cost is negative.

Literals are summed over the rows of the smaller child; the larger one has the rest. So are the
categories of grouped columns, and from these sums follow those of sets; see ``data_subsets``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, inner_loop_jit, jit
from mictree.growers.choosing import (
    RANDOM,
    RuleFunctions,
    any_open,
    choose_leaf,
    close_leaf,
    leaf_priority,
    least_tied,
    new_frontier,
    open_leaf,
)
from mictree.growers.data_gains import (
    Limits,
    choose_test,
    is_cut,
    is_large,
    limits_of,
    no_cuts,
)
from mictree.growers.data_loop import (
    NONE,
    Rule,
    Splitting,
    new_splits,
    sort_columns,
    splitting_of,
)
from mictree.growers.data_rows import (
    NEW,
    SLOT,
    Matrix,
    add_rows,
    mark_high,
    partition,
    share_rows,
    total_of,
)
from mictree.growers.data_subsets import (
    STEPS,
    add_set,
    bits_of_set,
    group_of,
    groups_of,
    join_tests,
    keep_set,
    of_group,
)
from mictree.growers.rules import TIES, Grower
from mictree.impurity.gains import difference_of_products
from mictree.problems.sample import (
    LIGHT,
    MOST_BITS,
    SampleProblem,
    are_decimals,
    label_scale,
    mean_of,
    whole_weights,
)
from mictree.problems.subsets import cost_keys, new_walks, repeats
from mictree.problems.tasks import MatrixCosts, Outcome, Squared

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]

MOST_WHOLE = 2.0**53


def split_by_sums(problem: SampleProblem, rule: Grower, max_size: int) -> Splitting:
    """Grow by the drop in squared error, or in the least cost."""
    functions = RuleFunctions(rule)
    out = new_splits(problem, rule, functions, max_size)
    limit, squared = len(out.leaf), isinstance(problem.task, Squared)
    whole = _whole_rows(problem)
    by_class = isinstance(problem.task, MatrixCosts)  # whose costs follow from weights of classes
    # distances keep digits that squares of numbers far from 0 lose
    given = problem.distances if squared else problem.targets
    targets = np.empty((0, 1)) if by_class else given.reshape(len(given), -1)
    rows = Rows(
        Matrix(
            problem.bits, problem.first_word, problem.valid, problem.whole_weights,
            np.empty(0, dtype=np.uint32),
        ),
        whole.numbers,
        whole.weights,
        np.ascontiguousarray(targets),
        problem.row_weights() if len(problem.weights) and not by_class else np.empty(0),
        problem.slots.astype(np.uint32),
    )  # fmt: skip
    task = SumsTask(
        Rule(functions.priority.address, TIES.index(rule.ties), limit),
        limits_of(problem.limits, problem.min_leaf_mass / whole.weight_unit),
        squared,
        whole.unit**2 if squared else whole.unit,
    )
    count = 2 * limit + 1
    outcome = LeafOutcomes(np.empty(count), np.empty((count, targets.shape[1])))
    groups = groups_of(problem, limit)
    size = grow_by_sums(rows, sort_columns(problem, limit), groups, task, out, outcome)
    functions.settle()
    grown = splitting_of(problem, out, groups, size)
    count = 2 * size + 1
    if isinstance(problem.task, MatrixCosts):
        found = problem.task.outcome(grown.masses)
    elif squared:
        found = Outcome(outcome.labels[:count] + problem.center, outcome.costs[:count, 0])
    else:
        labels, costs = outcome.labels[:count].astype(np.int64), outcome.costs[:count]
        found = Outcome(labels, costs[np.arange(count), labels], costs)
    return grown.with_outcome(found, problem.offset)


class _Whole(NamedTuple):
    """What rows bring to the sums of a leaf, by slot."""

    weights: IntArray  # empty if all are 1
    numbers: IntArray  # (slots, sums): a weighted label, or the costs of all actions
    weight_unit: float  # the whole weight of the problem that is 1 here
    unit: float  # the label or cost that is 1 here


def _whole_rows(problem: SampleProblem) -> _Whole:
    """Weights, and weighted labels or costs, as whole numbers whose sums fit in 62 bits."""
    weights, weight_unit = _whole_row_weights(problem)
    slots, task = problem.slots, problem.task
    numbers = np.zeros((len(weights), 1), dtype=np.int64)
    if isinstance(task, Squared):
        heavy = None if (weights[slots] == 1).all() else weights[slots].astype(np.int64)
        scale = label_scale(problem.targets, heavy)
        numbers[slots, 0], unit = scale.products(problem.targets, heavy), scale.unit
    else:
        costs = problem.targets
        if isinstance(task, MatrixCosts):
            codes = np.searchsorted(64 * problem.first_word[1:], slots, side="right")
            costs = task.matrix[codes]
        numbers = np.zeros((len(weights), costs.shape[1]), dtype=np.int64)
        numbers[slots], unit = _whole_costs(costs, weights[slots])
    if (weights[slots] == 1).all():
        weights = weights[:0]
    return _Whole(weights.astype(np.int64), numbers, weight_unit, unit)


def _whole_row_weights(problem: SampleProblem) -> tuple[FloatArray, float]:
    """Whole weights by slot, without a common divisor, and the divisor."""
    slots, factors = problem.slots, problem.factors.values
    weights, unit = np.zeros(64 * len(problem.valid)), float(factors[0])
    weights[slots] = problem.whole_weights[slots] if len(problem.whole_weights) else 1.0
    if (factors != factors[0]).any():
        codes = np.searchsorted(64 * problem.first_word[1:], slots, side="right")
        again = whole_weights(weights[slots] * factors[codes])
        weights[slots], unit = again.weights, again.unit
    divisor = float(np.gcd.reduce(weights[slots].astype(np.int64)))
    return weights / divisor, unit * divisor


def _whole_costs(costs: FloatArray, weights: FloatArray) -> tuple[np.ndarray, float]:
    """Weighted costs, none of them negative, and the unit; what costs something does so here."""
    heavy = weights[:, None]
    if (digits := _digits(costs)) is not None:
        whole = np.round(costs * 10.0**digits)
        if (heavy * whole).sum(axis=0).max() < 2.0**MOST_BITS:
            return heavy.astype(np.int64) * whole.astype(np.int64), 10.0**-digits
    places = _places((heavy * costs).sum(axis=0).max())
    if weights.sum() < LIGHT:
        whole = np.maximum(np.rint(np.ldexp(costs, places)), costs > 0)
        return heavy.astype(np.int64) * whole.astype(np.int64), np.ldexp(1.0, -places)
    whole = np.rint(np.ldexp(heavy * costs, places))
    return np.maximum(whole, costs > 0), np.ldexp(1.0, -places)


def _digits(numbers: FloatArray) -> int | None:
    """How many decimal places numbers have; None if that is too many for whole floats."""
    flat = numbers.reshape(-1)
    most = float(np.abs(flat).max(initial=0.0))
    possible = [digits for digits in range(16) if most * 10.0**digits < MOST_WHOLE]
    few = [digits for digits in possible if most * 10.0**digits < MOST_WHOLE / 8]
    if few and not are_decimals(flat[:8], few[-1]):  # as most measured numbers
        return None
    for digits in possible:
        if are_decimals(flat[:64], digits) and are_decimals(flat, digits):
            return digits
    return None


def _places(total: float) -> int:
    """The binary places that bring a sum just below ``2**MOST_BITS``."""
    return MOST_BITS - int(np.frexp(total)[1]) if total > 0 else 0


class Rows(NamedTuple):
    """The rows, by slot, and the true ones by number."""

    matrix: Matrix  # literals and classes
    numbers: np.ndarray  # (slots, sums), whole
    weights: np.ndarray  # whole; empty if all are 1
    targets: np.ndarray  # (rows, sums): labels or costs; empty if classes say what rows cost
    given: np.ndarray  # weights as given; empty if all are 1
    slots: np.ndarray  # of all rows, ascending


class SumsTask(NamedTuple):
    """How to grow."""

    rule: Rule
    limits: Limits
    squared: bool  # labels are summed up, else costs
    scale: float  # a gain of 1 in whole numbers


class LeafOutcomes(NamedTuple):
    """What the loop writes of each leaf besides ``Splits``."""

    labels: np.ndarray
    costs: np.ndarray  # one squared error, or the cost of each action


class _Leaves(NamedTuple):
    """All leaves by number."""

    column: np.ndarray  # the ordered or grouped column to test; NONE where a literal is
    chosen: np.ndarray  # the literal, or the place of the cut
    depth: np.ndarray
    gain: np.ndarray
    mass: np.ndarray
    totals: np.ndarray  # (leaves, sums)
    ready: np.ndarray  # whether its splits are to be looked at
    order: np.ndarray  # the slots of its rows, ascending, from ``Sorted.start`` on
    offered: np.ndarray  # the gains of the literals at the leaf looked at last


class Tally(NamedTuple):
    """A leaf's rows that satisfy each literal."""

    rows: np.ndarray
    masses: np.ndarray  # empty if all rows weigh 1
    sums: np.ndarray  # (literals, sums)


@jit
def grow_by_sums(rows, columns, groups, task, out, outcome):
    """Split leaves until ``max_size`` splits are made or no leaf can be split; return how many.

    ``groups`` is None without grouped columns. Overwrites ``columns`` and ``groups``.
    """
    max_size, ties = task.rule.max_size, task.rule.ties
    leaves, frontier = _new_leaves(rows, max_size), new_frontier(2 * max_size + 1)
    step = np.int64(0)
    _add_rows(step, rows.slots, rows, leaves, out)
    _find_outcome(step, rows.slots, max_size > 0, rows, leaves, task, out, outcome)
    empty = _new_tally(0, rows)
    tallies = [_new_tally(len(rows.matrix.bits), rows)]  # by leaf; empty where it is closed
    if leaves.ready[0]:
        _tally(rows.slots, np.arange(len(rows.matrix.bits)), rows, tallies[0])
        _consider(step, step, tallies[0], rows, columns, groups, leaves, frontier, task, out)
    while step < max_size and any_open(frontier):
        leaf = choose_leaf(frontier, ties, out.draws)
        draw = ties == RANDOM  # when the leaf is split, as in every loop
        if draw:
            _offer(leaf, tallies[leaf], rows, columns, groups, leaves, task, out, draw)
        close_leaf(frontier, leaf)
        _write_split(leaf, step, columns, groups, leaves, out)
        step += 1
        _make_children(leaf, step, tallies[leaf], rows, columns, groups, leaves, task, out, outcome)
        whole, tallies[leaf] = tallies[leaf], empty
        part = _tally_smaller(step, whole, rows, columns, leaves, out)
        light_is_low = total_of(out.rows[2 * step - 1]) <= total_of(out.rows[2 * step])
        tallies.append(part if light_is_low else whole)
        tallies.append(whole if light_is_low else part)
        for child in (2 * step - 1, 2 * step):
            born = 2 * step + child % 2  # the low child, of odd number, counts as the younger one
            opened = leaves.ready[child] and _consider(
                child, born, tallies[child], rows, columns, groups, leaves, frontier, task, out
            )
            if not opened:
                tallies[child] = empty
        if out.refused[0]:
            return step
    return step


@inner_jit
def _new_leaves(rows, max_size):
    capacity = 2 * max_size + 1
    return _Leaves(
        np.full(capacity, NONE),
        np.full(capacity, NONE),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int64),
        np.zeros((capacity, rows.numbers.shape[1]), dtype=np.int64),
        np.zeros(capacity, dtype=np.bool_),
        rows.slots.copy(),
        np.empty(len(rows.matrix.bits)),
    )


@inner_jit
def _new_tally(literals, rows):
    return Tally(
        np.zeros(literals, dtype=np.int64),
        np.zeros(literals if len(rows.weights) else 0, dtype=np.int64),
        np.zeros((literals, rows.numbers.shape[1]), dtype=np.int64),
    )


@inner_jit
def _consider(leaf, born, tally, rows, columns, groups, leaves, frontier, task, out):
    """Open a leaf if it has a split to make; says whether."""
    at_once = task.rule.ties != RANDOM  # random ties are drawn when the leaf is split
    gain = _offer(leaf, tally, rows, columns, groups, leaves, task, out, at_once)
    if gain < 0:
        return False
    leaves.gain[leaf] = gain
    reach = leaves.mass[leaf] / leaves.mass[0]
    priority = leaf_priority(task.rule.priority, reach, gain, born, out.refused)
    open_leaf(frontier, leaf, reach, priority)
    return True


@inner_jit
def _offer(leaf, tally, rows, columns, groups, leaves, task, out, choose):
    """The gain of a leaf's best split, or -1 for none; if wanted, chooses one of the best."""
    here = _measure(leaf, leaves, total_of(out.rows[leaf]), task)
    listed, before = len(tally.rows), columns.before
    if groups is not None:
        listed, before = groups.literals, groups.before
    offered = leaves.offered[:listed]
    best = _weigh_literals(tally, here, task, offered)
    cuts = _weigh_cuts(leaf, best, here, rows, columns, task)
    if groups is not None:
        cuts = join_tests(cuts, _weigh_sets(tally, here, groups, task), groups)
    for gain in cuts.gains:
        best = max(best, gain)
    if best < 0:
        return -1.0
    if choose:
        column, place = choose_test(offered, before, cuts, task.rule.ties, out.draws)
        leaves.column[leaf], leaves.chosen[leaf] = column, place
        if groups is not None and group_of(column, groups) >= 0:
            _keep_set(leaf, place, group_of(column, groups), tally, groups, task)
    gain = best * task.scale
    if not task.squared:
        gain /= here.mass
    return gain if gain >= task.limits.min_gain else -1.0


@inner_jit
def _write_split(leaf, step, columns, groups, leaves, out):
    """Write a split down; a cut by the slots of the rows on its sides."""
    out.leaf[step], out.gain[step] = leaf, leaves.gain[leaf]
    column, chosen = leaves.column[leaf], leaves.chosen[leaf]
    out.column[step], out.literal[step], out.below[step] = column, chosen, NONE
    if groups is not None:
        groups.made[step] = groups.chosen[leaf]
    if is_cut(column, columns):
        place = columns.start[leaf] + chosen
        out.literal[step] = columns.entries[column, place] & SLOT
        out.below[step] = columns.entries[column, place - 1] & SLOT


@inner_jit
def _make_children(leaf, step, tally, rows, columns, groups, leaves, task, out, outcome):
    """Share a leaf's rows out among its children, and add them up."""
    low, high = 2 * step - 1, 2 * step
    column, start, total = leaves.column[leaf], columns.start[leaf], total_of(out.rows[leaf])
    side, low_rows = _divide(leaf, total, tally, rows, columns, groups, leaves)
    order = leaves.order[start : start + total]
    partition(order, 0, side, columns.scratch)
    columns.start[low], columns.start[high] = start, start + low_rows
    light, heavy = (low, high) if 2 * low_rows <= total else (high, low)
    _add_rows(light, _rows_of(light, low, low_rows, order), rows, leaves, out)
    leaves.mass[heavy] = leaves.mass[leaf] - leaves.mass[light]
    leaves.totals[heavy] = leaves.totals[leaf] - leaves.totals[light]
    out.rows[heavy] = out.rows[leaf] - out.rows[light]
    out.sums[heavy] = out.sums[leaf] - out.sums[light]
    more = step < task.rule.max_size
    for child in (low, high):
        leaves.depth[child] = leaves.depth[leaf] + 1
        here = _rows_of(child, low, low_rows, order)
        _find_outcome(child, here, more, rows, leaves, task, out, outcome)
    if leaves.ready[low] or leaves.ready[high]:
        share_rows(columns, side, leaf, low, low_rows, total, column)


@inner_jit
def _divide(leaf, total, tally, rows, columns, groups, leaves):
    """The bits of the test of a leaf, and how many rows fail it."""
    column, chosen, start = leaves.column[leaf], leaves.chosen[leaf], columns.start[leaf]
    if groups is not None:
        group = group_of(column, groups)
        if group >= 0:
            inside = np.zeros(1, dtype=np.int64)
            add_set(tally.rows.reshape(-1, 1), leaf, group, groups, inside)
            return bits_of_set(rows.matrix.bits, leaf, group, groups), total - inside[0]
    if column == NONE:
        return rows.matrix.bits[chosen], total - tally.rows[chosen]
    mark_high(columns.entries[column, start : start + total], chosen, columns.side)
    return columns.side, chosen


@inner_jit
def _rows_of(child, low, low_rows, order):
    return order[:low_rows] if child == low else order[low_rows:]


@inner_jit
def _add_rows(leaf, here, rows, leaves, out):
    """Add up the rows of a leaf."""
    matrix, several = rows.matrix, rows.numbers.shape[1]
    totals = leaves.totals[leaf]
    if several == 1:
        numbers, total = rows.numbers.reshape(-1), np.int64(0)
        for slot in here:
            total += numbers[slot]
        totals[0] = total
    else:
        for slot in here:
            for each in range(several):
                totals[each] += rows.numbers[slot, each]
    leaves.mass[leaf] = len(here)
    if len(rows.weights):
        mass = np.int64(0)
        for slot in here:
            mass += rows.weights[slot]
        leaves.mass[leaf] = mass
    sums = np.zeros(out.rows.shape[1])
    sums[0] = len(here)
    if len(sums) > 1:
        sums[0] = 0
        plain = Matrix(
            matrix.bits, matrix.first_word, matrix.valid, matrix.weights[:0], matrix.origin
        )
        add_rows(here, plain, sums)
    for code in range(len(sums)):
        out.rows[leaf, code] = np.int64(sums[code])
    if len(matrix.weights):
        sums[:] = 0
        add_rows(here, matrix, sums)
    out.sums[leaf] = sums


@inner_jit
def _find_outcome(leaf, here, more, rows, leaves, task, out, outcome):
    """Write what a leaf predicts, what that costs, and whether its splits are to be looked at.

    Rows whose labels are equal, or that have an action in common that costs nothing, are pure.
    """
    totals, targets, given = leaves.totals[leaf], rows.targets, rows.given
    pure = False
    if task.squared:
        outcome.labels[leaf], outcome.costs[leaf, 0], pure = mean_of(
            here, targets.reshape(-1), given
        )
    else:
        label = np.argmin(totals)
        pure = totals[label] == 0
        outcome.labels[leaf] = label
        outcome.costs[leaf] = 0
        if len(targets):
            for slot in here:
                weight = given[slot] if len(given) else 1.0
                for each in range(len(totals)):
                    outcome.costs[leaf, each] += weight * targets[slot, each]
    leaves.ready[leaf] = more and not pure and is_large(len(here), leaves.depth[leaf], task.limits)


CHUNK = 64  # rows at a time


@inner_jit
def _tally_smaller(step, tally, rows, columns, leaves, out):
    """The tally of the smaller child; turns that of the leaf into the larger child's."""
    low, high = 2 * step - 1, 2 * step
    literals = len(rows.matrix.bits)
    if literals == 0 or not (leaves.ready[low] or leaves.ready[high]):
        return tally
    low_rows, high_rows = total_of(out.rows[low]), total_of(out.rows[high])
    light, count = (low, low_rows) if low_rows <= high_rows else (high, high_rows)
    part, open_literals, found = _new_tally(literals, rows), np.empty(literals, dtype=np.int64), 0
    for literal in range(literals):  # those constant above need no sums: they split nothing
        if tally.rows[literal] == low_rows + high_rows:
            part.rows[literal] = count
        elif tally.rows[literal] > 0:
            open_literals[found] = literal
            found += 1
    start = columns.start[light]
    _tally(leaves.order[start : start + count], open_literals[:found], rows, part)
    tally.rows[:] -= part.rows
    tally.masses[:] -= part.masses
    tally.sums[:] -= part.sums
    return part


@inner_jit
def _tally(here, literals, rows, out_tally):
    """Add up some rows by literal.

    Rows are taken in chunks. A mask, all ones where a row satisfies the literal, keeps or clears
    its numbers, so there is nothing to predict. Many rows are taken by words of 64, among them
    rows of other leaves, whose numbers are 0 then.
    """
    if len(literals) == 0:
        return
    all_slots, several = rows.numbers.shape
    words = 4 * len(here) >= all_slots
    size = all_slots if words else -(-len(here) // CHUNK) * CHUNK
    lines = np.zeros((several + 2, size), dtype=np.int64)
    slots = np.zeros(0 if words else size, dtype=np.uint32)
    for number in range(len(here)):
        slot = here[number]
        place = np.int64(slot) if words else number
        lines[0, place] = 1
        lines[1, place] = rows.weights[slot] if len(rows.weights) else 0
        for each in range(several):
            lines[2 + each, place] = rows.numbers[slot, each]
        if not words:
            slots[number] = slot
    mask, sums = np.empty(CHUNK, dtype=np.int64), np.empty(several + 2, dtype=np.int64)
    for literal in literals:
        _sum_literal(rows.matrix.bits[literal], lines, slots, mask, sums)
        out_tally.rows[literal] = sums[0]
        if len(rows.weights):
            out_tally.masses[literal] = sums[1]
        for each in range(several):
            out_tally.sums[literal, each] = sums[2 + each]


@inner_jit
def _sum_literal(literal, lines, slots, mask, out_sums):
    """Add up the lines where a literal holds; overwrites ``mask``."""
    one = np.uint64(1)
    out_sums[:] = 0
    for start in range(0, lines.shape[1], CHUNK):
        if len(slots):
            for place in range(CHUNK):
                slot = np.uint64(slots[start + place])
                bit = literal[slot >> np.uint64(6)] >> (slot & np.uint64(63)) & one
                mask[place] = -np.int64(bit)
        else:
            word = literal[start >> 6]
            for place in range(CHUNK):
                mask[place] = -np.int64(word >> np.uint64(place) & one)
        for line in range(len(out_sums)):
            numbers, total = lines[line, start : start + CHUNK], np.int64(0)
            for place in range(CHUNK):
                total += numbers[place] & mask[place]
            out_sums[line] += total


SLACK = 2e-14  # the relative error of a fast deviation is a tenth of this
BLOCK = 64  # rows


class _Here(NamedTuple):
    """What the gains of a leaf's splits depend on."""

    totals: np.ndarray
    rows: int
    mass: int
    mean: np.int64  # of labels, rounded down
    rest: float  # of the total that the rounded mean leaves, below the mass
    least: int  # the cost of the cheapest action
    squared: bool


@inner_jit
def _measure(leaf, leaves, rows, task):
    """The leaf whose splits are to be weighed."""
    return _here_of(leaves.totals[leaf], leaves.mass[leaf], rows, task)


@inner_jit
def _here_of(totals, mass, rows, task):
    """The same from its sums."""
    mean = totals[0] // mass if task.squared else np.int64(0)
    rest = np.float64(totals[0] - mean * mass)
    return _Here(totals, rows, mass, mean, rest, totals.min(), task.squared)


@inner_jit
def _gain(low, mass, here):
    """The gain of a split from the sums of its low child, in whole numbers, without cancellation.

    With the mean m, rounded down, and the rest r of a leaf, the deviation from the true mean is the
    whole number ``low - m * mass``, less ``r * mass / here.mass``, which is below ``mass``. Both
    are compared as products of floats. A whole number above 2**53 is rounded, but is then larger
    than what is taken off.
    """
    if here.squared:
        return _squared_gain(low[0] - here.mean * mass, mass, here)
    least_low, least_high = low[0], here.totals[0] - low[0]
    for each in range(1, len(low)):
        least_low = min(least_low, low[each])
        least_high = min(least_high, here.totals[each] - low[each])
    return np.float64(here.least - least_low - least_high)


@inner_jit
def _squared_gain(deviation, mass, here):
    """The same for labels, from the deviation of the low child's sum from the rounded mean."""
    low, high, total = np.float64(mass), np.float64(here.mass - mass), np.float64(here.mass)
    exact = difference_of_products(np.float64(deviation), total, here.rest, low) / total
    return (exact / low) * (exact / high)


@inner_jit
def _weigh_literals(tally, here, task, out_gains):
    """Write the gains of literals, -1 where one must not be tested; the largest."""
    fewest, lightest = max(1, task.limits.min_samples_leaf), task.limits.min_leaf_mass
    best, low = -1.0, np.empty_like(here.totals)
    for literal in range(len(out_gains)):
        out_gains[literal] = -1.0
        high_rows = tally.rows[literal]
        if min(high_rows, here.rows - high_rows) < fewest:
            continue
        high_mass = tally.masses[literal] if len(tally.masses) else high_rows
        if min(high_mass, here.mass - high_mass) < lightest:
            continue
        for each in range(len(low)):
            low[each] = here.totals[each] - tally.sums[literal, each]
        out_gains[literal] = _gain(low, here.mass - high_mass, here)
        best = max(best, out_gains[literal])
    return best


@inner_jit
def _walks(tally, group, groups, task):
    """The divisions of a leaf's categories to look at."""
    limits, sums = task.limits, of_group(tally.sums, group, groups)
    rows = of_group(tally.rows, group, groups)
    masses = of_group(tally.masses, group, groups) if len(tally.masses) else rows
    sure = limits.min_samples_leaf <= 1 and limits.min_leaf_mass <= 0
    return new_walks(rows, cost_keys(sums, masses), sure)


@inner_jit
def _weigh_sets(tally, here, groups, task):
    """All sets that may be tested, with their gains, places in the walks, and columns."""
    cuts, ordered = no_cuts(), len(groups.number) - len(groups.first)
    for group in range(len(groups.first)):
        _scan_sets(tally, group, here, groups, task, cuts)
        while len(cuts.columns) < len(cuts.gains):
            cuts.columns.append(ordered + group)
    return cuts


@inner_jit
def _scan_sets(tally, group, here, groups, task, cuts):
    """Append the gains and the places of the sets of a column."""
    fewest, lightest = max(1, task.limits.min_samples_leaf), task.limits.min_leaf_mass
    first, low = groups.first[group], np.zeros_like(here.totals)
    walks = _walks(tally, group, groups, task)
    side = np.empty(groups.stop[group] - first, dtype=np.uint8)
    for walk in range(len(walks.moves)):
        low[:] = 0
        side[:] = 0
        low_rows, low_mass = np.int64(0), np.int64(0)
        for step in range(walks.moves.shape[1]):
            cell = walks.moves[walk, step]
            sign = 1 - 2 * np.int64(side[cell])
            side[cell] ^= 1
            low_rows += sign * tally.rows[first + cell]
            low_mass += sign * (tally.masses if len(tally.masses) else tally.rows)[first + cell]
            for each in range(len(low)):
                low[each] += sign * tally.sums[first + cell, each]
            if min(low_rows, here.rows - low_rows) < fewest:
                continue
            if min(low_mass, here.mass - low_mass) < lightest:
                continue
            if not (len(walks.places) and repeats(walks, walk, step)):
                cuts.gains.append(_gain(low, low_mass, here))
                cuts.places.append(walk * STEPS + step)


@inner_jit
def _keep_set(leaf, place, group, tally, groups, task):
    """Write the set by which a leaf is to be split."""
    rows = of_group(tally.rows, group, groups)
    keep_set(leaf, place, _walks(tally, group, groups, task), group, rows, groups)


@jit
def offer_of_sums(tally, totals, mass, rows, task, out_gains):
    """The gain of a leaf's best test from the tally of all, -1 for none; for loops in Python."""
    gain = _weigh_literals(tally, _here_of(totals, mass, rows, task), task, out_gains) * task.scale
    return gain if gain >= task.limits.min_gain else -1.0


@inner_jit
def _least_candidate(best, here):
    """The least fast gain of a split that may tie with the best one."""
    if best < 0 or not here.squared:
        return best if best < 0 else least_tied(best)
    mass = np.float64(here.mass)
    return least_tied(best) - SLACK * (best + np.sqrt(best * mass)) - SLACK**2 * mass


class _Order(NamedTuple):
    """A leaf's rows in the order of a column, and the first and the last place of a cut."""

    entries: np.ndarray
    first: int
    last: int


class _Blocks(NamedTuple):
    """Blocks of cuts by column: the sums and the weight before each, and bounds of their gains."""

    sums: np.ndarray  # (columns, blocks + 1, sums); deviations from the rounded mean for labels
    masses: np.ndarray  # (columns, blocks + 1)
    bounds: np.ndarray  # (columns, blocks)


@inner_jit
def _weigh_cuts(leaf, best, here, rows, columns, task):
    """The cuts that may be best, if ``best`` is the largest gain of a literal."""
    cuts, count = no_cuts(), len(columns.entries)
    if count == 0:
        return cuts
    most = here.rows // BLOCK + 1
    blocks = _Blocks(
        np.empty((count, most + 1, len(here.totals)), dtype=np.int64),
        np.empty((count, most + 1), dtype=np.int64),
        np.full((count, most), -np.inf),
    )
    for column in range(count):
        order = _order_of(leaf, column, here, columns, task)
        _bound_blocks(order, column, here, rows, blocks)
    top = blocks.bounds.argmax()  # the most promising one first
    column, block = top // most, top % most
    if blocks.bounds[column, block] > -np.inf:
        order = _order_of(leaf, column, here, columns, task)
        best = max(best, _scan(order, column, block, here, rows, blocks, task, np.inf, cuts))
    least = _least_candidate(best, here)
    for column in range(count):
        order = _order_of(leaf, column, here, columns, task)
        for block in range(most):
            if blocks.bounds[column, block] >= least and blocks.bounds[column, block] > -np.inf:
                found = _scan(order, column, block, here, rows, blocks, task, least, cuts)
                if found > best:
                    best = found
                    least = _least_candidate(best, here)
    return cuts


@inner_jit
def _order_of(leaf, column, here, columns, task):
    start, fewest = columns.start[leaf], max(1, task.limits.min_samples_leaf)
    return _Order(
        columns.entries[column, start : start + here.rows],
        max(columns.missing[leaf, column] + 1, fewest),
        here.rows - fewest,
    )


@inner_jit
def _bound_blocks(order, column, here, rows, blocks):
    """Write the sums before each block of a column's cuts, and a bound of its gains."""
    sums, masses, bounds = blocks.sums[column], blocks.masses[column], blocks.bounds[column]
    if order.last < order.first:
        return
    if not here.squared:
        _add_costs(order, rows, sums, masses)
        for block in range((order.last - order.first) // BLOCK + 1):
            bounds[block] = _cost_bound(sums[block], sums[block + 1], here)
        return
    numbers = rows.numbers.reshape(-1)
    if len(rows.weights):
        _add_weighted(order, here.mean, numbers, rows.weights, sums[:, 0], masses, bounds)
    else:
        _add_labels(order, here.mean, numbers, sums[:, 0], masses, bounds)
    share, total = here.rest / here.mass, np.float64(here.mass)
    for block in range((order.last - order.first) // BLOCK + 1):
        before, after = np.float64(masses[block]), np.float64(masses[block + 1])
        least = min(before * (total - before), after * (total - after))
        largest = bounds[block] + after * share  # of a deviation from the true mean
        bounds[block] = largest * largest / least if least > 0 else np.inf


@inner_loop_jit
def _add_labels(order, mean, numbers, out_sums, out_masses, out_largest):
    """Write the deviation before each block, the rows up to its ends, the largest deviation in it.

    Deviations count before a row of a new value only: there are the cuts.
    """
    entries, total = order.entries, np.int64(0)
    for entry in entries[: order.first]:
        total += numbers[entry & SLOT] - mean
    for block in range((order.last - order.first) // BLOCK + 1):
        first = order.first + BLOCK * block
        stop, largest = min(first + BLOCK, order.last + 1), np.int64(0)
        out_sums[block], out_masses[block] = total, first
        for entry in entries[first:stop]:
            is_cut = np.int64(0) - np.int64(entry >> np.uint32(31))
            largest = max(largest, abs(total) & is_cut)
            total += numbers[entry & SLOT] - mean
        out_largest[block], out_masses[block + 1] = largest, stop - 1


@inner_loop_jit
def _add_weighted(order, mean, numbers, weights, out_sums, out_masses, out_largest):
    """The same for rows with weights."""
    entries, total, mass = order.entries, np.int64(0), np.int64(0)
    for entry in entries[: order.first]:
        slot = entry & SLOT
        total += numbers[slot] - mean * weights[slot]
        mass += weights[slot]
    for block in range((order.last - order.first) // BLOCK + 1):
        first = order.first + BLOCK * block
        stop, largest = min(first + BLOCK, order.last + 1), np.int64(0)
        out_sums[block], out_masses[block] = total, mass
        for entry in entries[first:stop]:
            slot = entry & SLOT
            is_cut = np.int64(0) - np.int64(entry >> np.uint32(31))
            largest = max(largest, abs(total) & is_cut)
            total += numbers[slot] - mean * weights[slot]
            mass += weights[slot]
        out_largest[block], out_masses[block + 1] = (
            largest,
            mass - weights[entries[stop - 1] & SLOT],
        )


@inner_jit
def _add_costs(order, rows, out_sums, out_masses):
    """Write the costs and the weight before each block, and behind the last one."""
    for each in range(out_sums.shape[1]):
        _add_up(order, rows.numbers[:, each], out_sums[:, each])
    if len(rows.weights):
        _add_up(order, rows.weights, out_masses)
    else:
        for block in range((order.last - order.first) // BLOCK + 2):
            out_masses[block] = min(order.first + BLOCK * block, order.last + 1)


@inner_loop_jit
def _add_up(order, numbers, out_sums):
    """Write the sums of the rows' numbers before each block, and behind the last one."""
    total, entries, block = np.int64(0), order.entries, 0
    for entry in entries[: order.first]:
        total += numbers[entry & SLOT]
    out_sums[0] = total
    for first in range(order.first, order.last + 1, BLOCK):
        for entry in entries[first : min(first + BLOCK, order.last + 1)]:
            total += numbers[entry & SLOT]
        block += 1  # noqa: SIM113  # a kernel
        out_sums[block] = total


@inner_jit
def _cost_bound(before, after, here):
    """The most that a cut between two others gains: each side costs at least what it must have."""
    least_low, least_high = before[0], here.totals[0] - after[0]
    for each in range(1, len(before)):
        least_low = min(least_low, before[each])
        least_high = min(least_high, here.totals[each] - after[each])
    return np.float64(here.least - least_low - least_high)


@inner_jit
def _scan(order, column, block, here, rows, blocks, task, least, cuts):
    """The largest fast gain of a block's cuts, -inf without one; appends those from ``least`` on.

    What is appended is exact. For costs, fast gains are exact too.
    """
    first = order.first + BLOCK * block
    sums, mass = blocks.sums[column, block].copy(), blocks.masses[column, block]
    lightest, share, best = task.limits.min_leaf_mass, here.rest / here.mass, -np.inf
    for place in range(first, min(first + BLOCK, order.last + 1)):
        entry = order.entries[place]
        if entry & NEW and min(mass, here.mass - mass) >= lightest:
            if here.squared:
                low = np.float64(mass)
                deviation = np.float64(sums[0]) - low * share
                fast = (deviation / low) * (deviation / np.float64(here.mass - mass))
            else:
                fast = _gain(sums, mass, here)
            best = max(best, fast)
            if fast >= least:
                exact = _squared_gain(sums[0], mass, here) if here.squared else fast
                cuts.gains.append(exact)
                cuts.places.append(place)
                cuts.columns.append(column)
        slot = entry & SLOT
        weight = rows.weights[slot] if len(rows.weights) else np.int64(1)
        mass += weight
        if here.squared:
            sums[0] += rows.numbers[slot, 0] - here.mean * weight
        else:
            for each in range(len(sums)):
                sums[each] += rows.numbers[slot, each]
    return best
