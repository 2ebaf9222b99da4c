"""Growth on packed data, by a loop that is compiled as a whole.

``split`` prepares the arrays and returns the growth as arrays; the kernel ``grow`` makes the same
splits as ``loop.grow_any``. The rows of a leaf are the ones of a mask over the words of a matrix of
literals. A leaf's counts, by literal and class, are made when the leaf is born: the smaller child
is counted, and the larger one has what remains of the parent. Once a leaf holds few of its matrix's
rows, it gets a compact matrix of its own. The rows of ordered columns are kept sorted, see
``Sorted``. Sets of categories are weighed by the counts of their categories, see ``data_subsets``.

Leaves are numbered in order of creation: split number s, from 1, makes the low child 2s - 1 and the
high child 2s. Weights of rows are whole, so that their sums are exact; the factors of classes come
in later.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit
from mictree.growers import loop
from mictree.growers.choosing import (
    RANDOM,
    RuleFunctions,
    any_open,
    choose_leaf,
    choose_tied,
    close_leaf,
    leaf_priority,
    new_frontier,
    open_leaf,
    stream,
)
from mictree.growers.data_gains import (
    Limits,
    Weighing,
    choose_test,
    is_cut,
    least_candidate,
    limits_of,
    mass_of,
    may_split,
    measure,
    new_scan,
    screen,
    screen_cuts,
    weigh_cuts,
    weigh_literals,
    weighing_of,
)
from mictree.growers.data_rows import (
    SLOT,
    Counts,
    Matrix,
    Sorted,
    add_rows,
    child_mask,
    compact,
    count_child,
    count_root,
    leaf_mask,
    mark_high,
    mask_of,
    renumber,
    share_rows,
    shrinks,
    sort_entries,
    subtract,
    total_of,
)
from mictree.growers.data_subsets import (
    Groups,
    add_set,
    bits_of_set,
    check_criterion_of_sets,
    group_of,
    groups_of,
    join_tests,
    keep_set,
    rows_by_cell,
    screen_sets,
    test_of_set,
    walks_of_classes,
    weigh_sets,
)
from mictree.growers.rules import (
    TIES,
    Grower,
    Growth,
    GrowthStep,
    criterion_on,
    curve,
    depth_of,
)
from mictree.impurity.criteria import Criterion, name_of
from mictree.problems.sample import SampleProblem
from mictree.problems.tasks import Errors, MatrixCosts, Outcome

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]

SAME_SHARE = 1e-9  # relative; sums of equal weights are rounded


@dataclass(frozen=True)
class Splitting:
    """A compiled growth as arrays: splits in order, leaves in order of creation."""

    leaves: IntArray  # for each split
    literals: IntArray
    thresholds: FloatArray  # NaN where a literal has none
    gains: FloatArray
    rows: IntArray  # for each leaf and class
    masses: FloatArray  # the same, weighted
    outcome: Outcome | None = None  # for each leaf, unless it predicts its heaviest class
    offset: float = 0.0  # the mean cost that every tree has

    @property
    def exact_thresholds(self) -> list[float | None]:
        """For each split; None where its literal has none."""
        return [None if math.isnan(number) else number for number in self.thresholds.tolist()]

    def renumbered(self, place: dict[int, int]) -> Splitting:
        """The same splits with other positions of their literals."""
        literals = [place[literal] for literal in self.literals.tolist()]
        return replace(self, literals=np.array(literals, dtype=np.int64))

    @cached_property
    def labels(self) -> np.typing.NDArray[np.intp]:
        """What each leaf predicts: its heaviest class, the first of several; or see ``outcome``."""
        return self.masses.argmax(axis=1) if self.outcome is None else self.outcome.labels

    @cached_property
    def reaches(self) -> FloatArray:
        """The share of the mass at each leaf."""
        mass = self.masses.sum(axis=1)
        return mass / mass[0]

    @cached_property
    def weighted(self) -> bool:
        """Whether weights make some share here other than the same share of the rows."""
        weight = self.masses[0].sum() / self.rows[0].sum()
        return not np.allclose(self.masses / weight, self.rows, rtol=SAME_SHARE, atol=0.0)

    @cached_property
    def errors(self) -> FloatArray:
        """The error on the rows by size, until growth ended.

        Summed from the last size to the first, so small errors are no differences of large ones.
        """
        wrong = self.costs.copy()
        drop = np.maximum(0.0, wrong[self.leaves] - (wrong[1::2] + wrong[2::2]))
        wrong[self.leaves] = 0.0
        sums = np.cumsum(np.append(wrong.sum(), drop[::-1]))[::-1]
        return sums / self.masses[0].sum() + self.offset

    @cached_property
    def costs(self) -> FloatArray:
        """What each leaf costs: the weight of classes other than its label, or see ``outcome``."""
        if self.outcome is not None:
            return self.outcome.costs
        others = self.masses.copy()
        others[np.arange(len(others)), self.labels] = 0.0
        return others.sum(axis=1)

    def with_outcome(self, outcome: Outcome, offset: float) -> Splitting:
        """The same for a task other than errors."""
        return replace(self, outcome=outcome, offset=offset)

    def until(self, size: int) -> Splitting:
        """The first splits only."""
        made = min(size, len(self.leaves))
        outcome = None if self.outcome is None else self.outcome.until(2 * made + 1)
        return Splitting(
            self.leaves[:made], self.literals[:made], self.thresholds[:made], self.gains[:made],
            self.rows[: 2 * made + 1], self.masses[: 2 * made + 1], outcome, self.offset,
        )  # fmt: skip

    def growth(self, problem: SampleProblem, rule: Grower, limit: int) -> Growth:
        """The same as a growth to a size, by the rule that made it."""
        reaches = self.reaches[self.leaves].tolist()
        tests = self.literals.tolist(), self.exact_thresholds
        names = [problem.literals.texts(*test)[0] for test in zip(*tests, strict=True)]
        parts = self.leaves.tolist(), names, self.gains.tolist(), reaches, *tests
        steps = tuple(GrowthStep(*step) for step in zip(*parts, strict=True))
        labels = tuple(self.labels.tolist())
        return Growth(problem, rule, limit, curve(self.errors, limit), steps, labels)


def split(problem: SampleProblem, rule: Grower, max_size: int) -> Splitting:
    """Grow by the compiled loop; a rule that looks ahead by the loop for any problem."""
    criterion = criterion_on(rule, problem)
    check_criterion_of_sets(problem.literals, not isinstance(criterion, str))
    if isinstance(problem.task, MatrixCosts) and criterion != "minority":
        return _split_by_classes(problem, problem.task, rule, max_size)
    if depth_of(rule) > 1:
        if problem.literals.grouped:
            raise ValueError(
                f'{type(rule).__name__} compares pairs of listed tests; categories="subsets" '
                'lists none: use categories="each"'
            )
        return _split_again(problem, loop.grow_any(rule, problem, max_size))
    if not isinstance(problem.task, Errors):
        from mictree.growers.data_sums import split_by_sums  # kernels that few problems need

        return split_by_sums(problem, rule, max_size)
    functions = RuleFunctions(rule)
    out = new_splits(problem, rule, functions, max_size)
    limit = len(out.leaf)
    task = Task(
        weighing_of(
            problem.factors.values, len(problem.whole_weights) > 0, rule.criterion, functions
        ),
        limits_of(problem.limits, problem.min_leaf_mass),
        Rule(functions.priority.address, TIES.index(rule.ties), limit),
    )
    origin = np.arange(64 * len(problem.valid) if problem.ranks else 0, dtype=np.uint32)
    rows = Matrix(problem.bits, problem.first_word, problem.valid, problem.whole_weights, origin)
    columns, groups = (
        sort_columns(problem, limit) if problem.ranks else None,
        groups_of(problem, limit),
    )
    size = grow(rows, columns, groups, task, out)
    functions.settle()
    return splitting_of(problem, out, groups, size)


def with_own_sets(
    problem: SampleProblem, grown: Sequence[Splitting]
) -> tuple[SampleProblem, list[Splitting]]:
    """The same splits, and a problem that lists no other sets of categories than theirs."""
    if not problem.literals.grouped:
        return problem, list(grown)
    used = {literal for each in grown for literal in each.literals.tolist()}
    problem = copy.copy(problem)
    problem.literals, place = problem.literals.with_sets(sorted(used))
    return problem, [each.renumbered(place) for each in grown]


def new_splits(
    problem: SampleProblem, rule: Grower, functions: RuleFunctions, max_size: int
) -> Splits:
    """Room for as many splits as there may be, at most ``max_size``."""
    # every split leaves a row on both sides and no literal is tested twice on a path
    bits = problem.literals.starts[-1] + problem.literals.rows_of_bits
    limit = min(max_size, int(problem.class_rows.sum()) - 1, 2 ** min(bits, 62) - 1)
    return Splits(
        *np.empty((4, limit), dtype=np.int64),
        gain=np.empty(limit),
        rows=np.empty((2 * limit + 1, len(problem.class_rows)), dtype=np.int64),
        sums=np.empty((2 * limit + 1, len(problem.class_rows))),
        draws=stream(rule.with_seed().seed or 0),
        refused=functions.refused_priority,
    )


def splitting_of(
    problem: SampleProblem, out: Splits, groups: Groups | None, size: int
) -> Splitting:
    """What a loop has written, as tests and weights of the problem."""
    count = 2 * size + 1
    leaves, (literals, thresholds) = out.leaf[:size], _tests(problem, out, groups, size)
    if problem.rounded:
        masses = problem.masses_of_leaves(leaves.tolist(), literals.tolist())
    else:
        masses = problem.factors.masses(out.sums[:count], problem.weight_unit)
    return Splitting(leaves, literals, thresholds, out.gain[:size], out.rows[:count], masses)


def sort_columns(problem: SampleProblem, limit: int) -> Sorted:
    """The rows in the order of each ordered column, if there are any."""
    columns, rows = problem.literals.ordered, int(problem.class_rows.sum())
    entries = np.empty((len(columns), rows), dtype=np.uint32)
    missing = np.zeros((2 * limit + 1, len(columns)), dtype=np.int64)
    for place, number in enumerate(columns):
        column, ranks = problem.literals.columns[number], problem.ranks[place]
        count = column.thresholds + 1 + column.missing
        sort_entries(ranks, problem.class_rows, problem.first_word, count, entries[place])
        if column.missing:
            missing[0, place] = np.count_nonzero(ranks == 0)
    starts = np.array(problem.literals.starts)[list(columns)]
    return Sorted(
        entries,
        np.zeros(2 * limit + 1, dtype=np.int64),
        missing,
        np.searchsorted(problem.literals.stored_bits, starts),
        np.empty(rows, dtype=np.uint32),
        np.zeros(len(problem.valid), dtype=np.uint64),
    )


def _tests(
    problem: SampleProblem, out: Splits, groups: Groups | None, size: int
) -> tuple[IntArray, FloatArray]:
    """The literal of each split and its exact threshold."""
    literals = problem.literals
    if not problem.ranks and groups is None:
        return out.literal[:size], literals.thresholds(out.literal[:size])
    stored = literals.stored_bits
    positions, thresholds = np.empty(size, dtype=np.int64), np.empty(size)
    cuts = (out.column[:size] != NONE) & (out.column[:size] < len(problem.ranks))
    below, above = np.zeros((2, size), dtype=np.int64)
    below[cuts] = problem.rows_in(out.below[:size][cuts])
    above[cuts] = problem.rows_in(out.literal[:size][cuts])
    for step in range(size):
        place = int(out.column[step])
        if place == NONE:
            positions[step] = stored[out.literal[step]]
            thresholds[step] = literals.threshold(int(positions[step]))
            continue
        if groups is not None and place >= len(problem.ranks):
            made = groups.made[step]
            positions[step] = test_of_set(problem, place - len(problem.ranks), made)
            thresholds[step] = math.nan
            continue
        number, ranks = literals.ordered[place], problem.ranks[place]
        sides = int(ranks[below[step]]), int(ranks[above[step]])
        position, thresholds[step] = literals.columns[number].between(*sides)
        positions[step] = literals.starts[number] + position
    return positions, thresholds


def _split_by_classes(
    problem: SampleProblem, task: MatrixCosts, rule: Grower, max_size: int
) -> Splitting:
    """Grow on classes whose weights are multiplied by the cost of missing them; then see costs."""
    factors = altered_priors(task, problem.classes, rule.criterion)
    altered = problem.reweighted(problem.class_weight * factors)
    altered.sets_in_order = isinstance(rule.criterion, str)
    if task.shares_actions:  # leaves of several classes may be pure
        return _split_again(problem, loop.grow_any(rule, altered, max_size))
    altered.task = Errors()
    return priced(split(altered, rule, max_size), task, factors, problem.offset)


def altered_priors(task: MatrixCosts, classes: Sequence[Any], criterion: Criterion) -> FloatArray:
    """What missing each class costs, the largest as 1; refuses classes that cost nothing to miss.

    Growth by this criterion multiplies the weights of classes by it.
    """
    factors = task.missing_costs
    for label, factor in zip(classes, factors.tolist(), strict=True):
        if factor == 0:
            raise ValueError(
                f"criterion {name_of(criterion)!r} needs classes that cost something to miss; "
                f'{label!r} costs the same whatever is predicted: use criterion="minority"'
            )
    return factors / factors.max()


def priced(grown: Splitting, task: MatrixCosts, factors: FloatArray, offset: float) -> Splitting:
    """A growth on altered priors with the weights of classes as they are, and with costs."""
    masses = grown.masses / factors
    return replace(grown, masses=masses).with_outcome(task.outcome(masses), offset)


def _split_again(problem: SampleProblem, growth: Growth) -> Splitting:
    """A growth as arrays."""
    leaves = [problem.root()]
    for step in growth.steps:
        leaves += problem.children(leaves[step.leaf], step.position)
    masks = np.array([leaf.state.mask for leaf in leaves])
    masses = problem.masses(masks)
    return Splitting(
        np.array([step.leaf for step in growth.steps], dtype=np.int64),
        np.array([step.position for step in growth.steps], dtype=np.int64),
        np.array([step.threshold for step in growth.steps], dtype=float),  # None becomes NaN
        np.array([step.gain for step in growth.steps]),
        problem.counts(masks),
        masses,
        problem.outcome(masks, masses),
        problem.offset,
    )


NONE = -1
COMPACTION = 20  # what making a compact matrix costs, in splits counted on the old one


class Rule(NamedTuple):
    """Which leaf is split next."""

    priority: int  # the address of a function
    ties: int
    max_size: int


class Task(NamedTuple):
    """How to grow: it stays the same for all leaves."""

    weighing: Weighing
    limits: Limits
    rule: Rule


class Splits(NamedTuple):
    """What the loop writes: three numbers for each split, and two rows for each leaf."""

    leaf: np.ndarray
    column: np.ndarray  # the ordered column tested; NONE where a literal is; see ``Groups.number``
    literal: np.ndarray  # or the slot of the row above the cut
    below: np.ndarray  # the slot of the row below the cut
    gain: np.ndarray
    rows: np.ndarray  # by class
    sums: np.ndarray  # the same, weighted
    draws: np.ndarray  # the state of the random generator
    refused: np.ndarray  # True and the value where a priority is none


class _Leaves(NamedTuple):
    """All leaves by number."""

    parent: np.ndarray
    column: np.ndarray  # the ordered or grouped column to test; NONE where a literal is
    chosen: np.ndarray  # the literal or the place of the cut; NONE where no split is made
    depth: np.ndarray
    gain: np.ndarray
    matrix: np.ndarray  # the number of the matrix that holds its rows
    ready: np.ndarray  # whether its splits are to be looked at
    offered: np.ndarray  # the gains of the literals at the leaf looked at last


class _Matrices(NamedTuple):
    """All matrices by number."""

    each: list[Matrix]
    root: np.ndarray  # the leaf that it was made for
    users: np.ndarray  # how many leaves that may be split have their rows in it
    rent: np.ndarray  # the splits counted on it


@jit
def grow(matrix, columns, groups, task, out):
    """Split leaves until ``max_size`` splits are made or no leaf can be split; return how many.

    ``columns`` is None without ordered columns, ``groups`` without grouped ones: numba then
    compiles nothing of what they need. Overwrites both.
    """
    max_size, ties = task.rule.max_size, task.rule.ties
    leaves, matrices = _start(matrix, max_size)
    frontier = new_frontier(2 * max_size + 1)
    counts = [count_root(matrix, out.rows[0], out.sums[0])]  # by leaf; empty where it is closed
    empty = Counts(counts[0].rows[:0].copy(), counts[0].sums[:0].copy())
    masks = [matrix.valid]  # of leaves, if there are sets; empty where a leaf is closed
    step = open_leaves = np.int64(0)  # kernels would be compiled once more for a literal 0
    if max_size > 0 and may_split(out.rows[0], step, task.limits):
        open_leaves += _consider(
            step, step, counts[0], columns, groups, leaves, matrices, frontier, task, out
        )
    while step < max_size and any_open(frontier):
        leaf = choose_leaf(frontier, ties, out.draws)
        draw = ties == RANDOM  # when the leaf is split, as in every loop
        if draw:  # a literal True would compile the kernel once more
            _offer(leaf, counts[leaf], columns, groups, leaves, matrices, task, out, draw)
        close_leaf(frontier, leaf)
        _write_split(leaf, step, columns, groups, leaves, matrices, out)
        step += 1
        _make_children(leaf, step, counts[leaf], columns, groups, leaves, matrices, task, out)
        # the splits to expect below the leaf: those to come, shared among the open leaves
        hope = (max_size - step) // open_leaves
        whole, counts[leaf] = counts[leaf], empty
        part = _count_smaller(
            leaf, step, hope, whole, columns, groups, masks, leaves, matrices, out
        )
        light_is_low = total_of(out.rows[2 * step - 1]) <= total_of(out.rows[2 * step])
        counts.append(part if light_is_low else whole)
        counts.append(whole if light_is_low else part)
        open_leaves -= 1
        for child in (2 * step - 1, 2 * step):
            born = 2 * step + child % 2  # the low child, of odd number, counts as the younger one
            if leaves.ready[child] and _consider(
                child, born, counts[child], columns, groups, leaves, matrices, frontier, task, out
            ):
                open_leaves += 1
            else:
                counts[child] = empty
                if groups is not None:
                    masks[child] = matrix.valid[:0]
                _leave(leaves.matrix[child], matrices)
        if out.refused[0] or task.weighing.refused[0]:
            return step
    return step


@inner_jit
def _start(matrix, max_size):
    """Room for all leaves and matrices; the lone leaf has its rows in the given matrix."""
    capacity = 2 * max_size + 1
    leaves = _Leaves(
        np.zeros(capacity, dtype=np.int64),
        np.full(capacity, NONE),
        np.full(capacity, NONE),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(capacity, dtype=np.bool_),
        np.empty(len(matrix.bits)),
    )
    matrices = _Matrices(
        [matrix],
        np.zeros(max_size + 1, dtype=np.int64),
        np.ones(max_size + 1, dtype=np.int64),
        np.zeros(max_size + 1, dtype=np.int64),
    )
    return leaves, matrices


@inner_jit
def _offer(leaf, counts, columns, groups, leaves, matrices, task, out, choose):
    """The gain of a leaf's best split, or -1 for none; if wanted, chooses one of the best."""
    rows, sums, weighing = out.rows[leaf], out.sums[leaf], task.weighing
    if groups is not None:
        return _offer_sets(leaf, counts, columns, groups, leaves, matrices, task, out, choose)
    fast = screen(counts, rows, sums, weighing, task.limits, leaves.offered)
    if columns is not None:
        return _offer_cuts(leaf, fast, counts, columns, leaves, matrices, task, out, choose)
    if fast == -np.inf:
        return -1.0
    candidate = least_candidate(fast, len(sums))
    best = weigh_literals(counts, sums, weighing, candidate, leaves.offered)
    if choose:
        leaves.chosen[leaf] = choose_tied(leaves.offered, task.rule.ties, out.draws)
    return best if best >= task.limits.min_gain else -1.0


@inner_jit
def _offer_cuts(leaf, fast, counts, columns, leaves, matrices, task, out, choose):
    """The same for literals, whose largest fast gain is given, and ordered columns together."""
    rows, sums = out.rows[leaf], out.sums[leaf]
    matrix = matrices.each[leaves.matrix[leaf]]
    fast_cuts = np.empty(len(columns.entries))
    scan = new_scan(matrix, measure(sums, rows, task), task)
    fast = screen_cuts(leaf, columns, scan, fast, fast_cuts)
    if fast == -np.inf:
        return -1.0
    candidate = least_candidate(fast, len(sums))
    best = weigh_literals(counts, sums, task.weighing, candidate, leaves.offered)
    cuts = weigh_cuts(leaf, columns, scan, candidate, fast_cuts)
    for gain in cuts.gains:
        best = max(best, gain)
    if choose:
        leaves.column[leaf], leaves.chosen[leaf] = choose_test(
            leaves.offered, columns.before, cuts, task.rule.ties, out.draws
        )
    return best if best >= task.limits.min_gain else -1.0


@inner_jit
def _offer_sets(leaf, counts, columns, groups, leaves, matrices, task, out, choose):
    """The same for literals, ordered columns, if there are any, and sets of categories."""
    rows, sums, offered = out.rows[leaf], out.sums[leaf], leaves.offered[: groups.literals]
    matrix = matrices.each[leaves.matrix[leaf]]
    listed = Counts(counts.rows[: groups.literals], counts.sums[: groups.literals])
    fast = screen(listed, rows, sums, task.weighing, task.limits, offered)
    here = measure(sums, rows, task)
    scan, scan_of_sets = new_scan(matrix, here, task), new_scan(matrix, here, task)
    fast_cuts = np.empty(0 if columns is None else len(columns.entries))
    if columns is not None:
        fast = screen_cuts(leaf, columns, scan, fast, fast_cuts)
    fast = screen_sets(counts, groups, scan_of_sets, fast)
    if fast == -np.inf:
        return -1.0
    candidate = least_candidate(fast, len(sums))
    best = weigh_literals(listed, sums, task.weighing, candidate, offered)
    cuts = scan.cuts
    if columns is not None:
        cuts = weigh_cuts(leaf, columns, scan, candidate, fast_cuts)
    tests = join_tests(cuts, weigh_sets(counts, groups, scan_of_sets, candidate), groups)
    for gain in tests.gains:
        best = max(best, gain)
    if choose:
        column, place = choose_test(offered, groups.before, tests, task.rule.ties, out.draws)
        leaves.column[leaf], leaves.chosen[leaf] = column, place
        group = group_of(column, groups)
        if group >= 0:
            walks = walks_of_classes(counts, group, groups, task)
            keep_set(leaf, place, walks, group, rows_by_cell(counts, group, groups), groups)
    return best if best >= task.limits.min_gain else -1.0


@inner_jit
def _consider(leaf, born, counts, columns, groups, leaves, matrices, frontier, task, out):
    """Open a leaf if it has a split to make; says whether."""
    # random ties are drawn when the leaf is split
    at_once = task.rule.ties != RANDOM
    gain = _offer(leaf, counts, columns, groups, leaves, matrices, task, out, at_once)
    if gain < 0:
        return False
    leaves.gain[leaf] = gain
    reach = mass_of(out.sums[leaf], task.weighing.class_weight)
    reach /= mass_of(out.sums[0], task.weighing.class_weight)
    priority = leaf_priority(task.rule.priority, reach, gain, born, out.refused)
    open_leaf(frontier, leaf, reach, priority)
    return True


@inner_jit
def _write_split(leaf, step, columns, groups, leaves, matrices, out):
    """Write a split down; a cut by the slots of the rows on its sides in the whole table."""
    out.leaf[step], out.gain[step] = leaf, leaves.gain[leaf]
    column, chosen = leaves.column[leaf], leaves.chosen[leaf]
    out.column[step], out.literal[step], out.below[step] = column, chosen, NONE
    if groups is not None:
        groups.made[step] = groups.chosen[leaf]
    if columns is not None and is_cut(column, columns):
        origin = matrices.each[leaves.matrix[leaf]].origin
        place = columns.start[leaf] + chosen
        out.literal[step] = origin[columns.entries[column, place] & SLOT]
        out.below[step] = origin[columns.entries[column, place - 1] & SLOT]


@inner_jit
def _make_children(leaf, step, counts, columns, groups, leaves, matrices, task, out):
    """Make both children of a split leaf, with their class rows."""
    low, high, chosen = 2 * step - 1, 2 * step, leaves.chosen[leaf]
    if leaves.column[leaf] == NONE:
        for code in range(out.rows.shape[1]):
            inside = counts.rows[chosen, code]
            out.rows[high, code] = inside
            out.sums[high, code] = counts.sums[chosen, code] if len(counts.sums) else inside
    if columns is not None and is_cut(leaves.column[leaf], columns):
        _count_high(leaf, high, chosen, columns, leaves, matrices, out)
    if groups is not None and group_of(leaves.column[leaf], groups) >= 0:
        _count_set(leaf, high, counts, groups, leaves, out)
    for code in range(out.rows.shape[1]):
        out.rows[low, code] = out.rows[leaf, code] - out.rows[high, code]
        out.sums[low, code] = out.sums[leaf, code] - out.sums[high, code]
    for child in (low, high):
        leaves.parent[child] = leaf
        leaves.depth[child] = leaves.depth[leaf] + 1
        leaves.matrix[child] = leaves.matrix[leaf]
        if step < task.rule.max_size:
            leaves.ready[child] = may_split(out.rows[child], leaves.depth[child], task.limits)


@inner_jit
def _count_high(leaf, high, place, columns, leaves, matrices, out):
    """Write the class rows of the high child of a cut."""
    start = columns.start[leaf]
    entries = columns.entries[leaves.column[leaf], start : start + total_of(out.rows[leaf])]
    matrix = matrices.each[leaves.matrix[leaf]]
    sums = np.zeros(out.rows.shape[1])
    plain = Matrix(matrix.bits, matrix.first_word, matrix.valid, matrix.weights[:0], matrix.origin)
    add_rows(entries[place:], plain, sums)
    for code in range(len(sums)):
        out.rows[high, code] = np.int64(sums[code])
    if len(matrix.weights):
        sums[:] = 0
        add_rows(entries[place:], matrix, sums)
    out.sums[high] = sums


@inner_jit
def _count_set(leaf, high, counts, groups, leaves, out):
    """Write the class rows of the child whose categories are in the set."""
    group = group_of(leaves.column[leaf], groups)
    out.rows[high] = 0
    add_set(counts.rows, leaf, group, groups, out.rows[high])
    if len(counts.sums):
        out.sums[high] = 0.0
        add_set(counts.sums, leaf, group, groups, out.sums[high])
    else:
        for code in range(out.rows.shape[1]):
            out.sums[high, code] = out.rows[high, code]


@inner_jit
def _mask(leaf, matrix, columns, groups, masks, leaves, matrices, rows):
    """The rows of a leaf among the slots of its matrix."""
    if columns is not None:
        start = columns.start[leaf]
        return mask_of(columns.entries[0, start : start + rows], len(matrix.valid))
    if groups is not None:
        return masks[leaf]
    return leaf_mask(matrix, leaf, matrices.root[leaves.matrix[leaf]], leaves.parent, leaves.chosen)


@inner_jit
def _high_side(leaf, rows, matrix, columns, groups, leaves):
    """The bits of the test of a leaf."""
    if groups is not None:
        group = group_of(leaves.column[leaf], groups)
        if group >= 0:
            return bits_of_set(matrix.bits, leaf, group, groups)
    if columns is not None and is_cut(leaves.column[leaf], columns):
        start = columns.start[leaf]
        entries = columns.entries[leaves.column[leaf], start : start + rows]
        mark_high(entries, leaves.chosen[leaf], columns.side)
        return columns.side
    return matrix.bits[leaves.chosen[leaf]]


@inner_jit
def _count_smaller(leaf, step, hope, counts, columns, groups, masks, leaves, matrices, out):
    """The counts of the smaller child; turns those of the leaf into the larger child's.

    Moves both children to a compact matrix where that pays: when the splits to come or those
    already counted on the old matrix cost as much.
    """
    low, high, number = 2 * step - 1, 2 * step, leaves.matrix[leaf]
    matrices.users[number] += 1
    matrices.rent[number] += 1
    if groups is not None:
        for _ in range(2):
            masks.append(masks[0][:0])
    if not (leaves.ready[low] or leaves.ready[high]):
        return counts
    matrix, rows = matrices.each[number], out.rows[leaf]
    total = total_of(rows)
    mask = _mask(leaf, matrix, columns, groups, masks, leaves, matrices, total)
    if max(hope, matrices.rent[number]) >= COMPACTION and shrinks(matrix.bits, rows):
        matrices.rent[number] = 0
        old, matrix = matrix, compact(matrix, mask, rows)
        if columns is not None:
            renumber(columns, leaf, total, old, matrix, mask)
        mask = matrix.valid
        _leave(number, matrices)
        _leave(number, matrices)
        number = len(matrices.each)
        matrices.each.append(matrix)
        matrices.root[number], matrices.users[number], matrices.rent[number] = leaf, 2, 1
        leaves.matrix[low] = leaves.matrix[high] = number
    side = _high_side(leaf, total, matrix, columns, groups, leaves)
    if columns is not None:
        share_rows(columns, side, leaf, low, total_of(out.rows[low]), total, leaves.column[leaf])
    light = low if total_of(out.rows[low]) <= total_of(out.rows[high]) else high
    inside = child_mask(mask, side, light == high)
    if groups is not None:
        heavy = low + high - light
        masks[light], masks[heavy] = inside, child_mask(mask, side, light != high)
        masks[leaf] = masks[0][:0]
    part = count_child(matrix, inside, counts.rows, total, out.rows[light], out.sums[light])
    subtract(counts.rows, counts.sums, part.rows, part.sums)
    return part


@inner_jit
def _leave(number, matrices):
    """One leaf less has its rows in a matrix; the last one frees it."""
    matrices.users[number] -= 1
    if matrices.users[number] == 0:
        old = matrices.each[number]
        bits = np.zeros((0, 0), dtype=np.uint64)
        matrices.each[number] = Matrix(bits, old.first_word, old.valid, old.weights, old.origin)
