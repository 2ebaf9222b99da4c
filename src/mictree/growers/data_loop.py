"""Growth on data by the compiled loop, as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mictree._support.draws import stream
from mictree.growers import generic_loop
from mictree.growers.counting import Matrix
from mictree.growers.data_kernel import NONE, Rule, Splits, Task, grow
from mictree.growers.functions import RuleFunctions
from mictree.growers.growth import Growth, GrowthStep, curve
from mictree.growers.offers import limits_of, weighing_of
from mictree.growers.rules import TIES, Grower, depth_of
from mictree.growers.sorted_rows import Sorted, sort_entries
from mictree.problems.sample import SampleProblem

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


@dataclass(frozen=True)
class Splitting:
    """A compiled growth as arrays: splits in order, leaves in order of creation."""

    leaves: IntArray  # for each split
    literals: IntArray
    thresholds: FloatArray  # NaN where a literal has none
    gains: FloatArray
    rows: IntArray  # for each leaf and class
    masses: FloatArray  # the same, weighted

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
        """The heaviest class of each leaf, the first of several."""
        return self.masses.argmax(axis=1)

    @cached_property
    def reaches(self) -> FloatArray:
        """The share of the mass at each leaf."""
        mass = self.masses.sum(axis=1)
        return mass / mass[0]

    @cached_property
    def errors(self) -> FloatArray:
        """The error on the rows by size, until growth ended.

        Summed from the last size to the first, and by classes that are not the label: so small
        errors are no differences of large ones.
        """
        others = self.masses.copy()
        others[np.arange(len(others)), self.labels] = 0.0
        wrong = others.sum(axis=1)
        drop = np.maximum(0.0, wrong[self.leaves] - (wrong[1::2] + wrong[2::2]))
        wrong[self.leaves] = 0.0
        return np.cumsum(np.append(wrong.sum(), drop[::-1]))[::-1] / self.masses[0].sum()

    def until(self, size: int) -> Splitting:
        """The first splits only."""
        made = min(size, len(self.leaves))
        return Splitting(
            self.leaves[:made], self.literals[:made], self.thresholds[:made], self.gains[:made],
            self.rows[: 2 * made + 1], self.masses[: 2 * made + 1],
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
    if depth_of(rule) > 1:
        return _split_again(problem, generic_loop.grow(rule, problem, max_size))
    # every split leaves a row on both sides and no literal is tested twice on a path
    limit = min(
        max_size, int(problem.class_rows.sum()) - 1, 2 ** min(len(problem.literals), 62) - 1
    )
    functions = RuleFunctions(rule)
    out = Splits(
        *np.empty((4, limit), dtype=np.int64),
        gain=np.empty(limit),
        rows=np.empty((2 * limit + 1, len(problem.classes)), dtype=np.int64),
        sums=np.empty((2 * limit + 1, len(problem.classes))),
        draws=stream(rule.with_seed().seed or 0),
        refused=functions.refused_priority,
    )
    task = Task(
        weighing_of(
            problem.factors.values, len(problem.whole_weights) > 0, rule.criterion, functions
        ),
        limits_of(problem.limits, problem.min_leaf_mass),
        Rule(functions.priority.address, TIES.index(rule.ties), limit),
    )
    origin = np.arange(64 * len(problem.valid) if problem.ranks else 0, dtype=np.uint32)
    rows = Matrix(problem.bits, problem.first_word, problem.valid, problem.whole_weights, origin)
    size = grow(rows, _sort(problem, limit), task, out)
    functions.settle()
    count = 2 * size + 1
    leaves, (literals, thresholds) = out.leaf[:size], _tests(problem, out, size)
    if problem.rounded:
        masses = problem.masses_of_leaves(leaves.tolist(), literals.tolist())
    else:
        masses = problem.factors.masses(out.sums[:count], problem.weight_unit)
    return Splitting(leaves, literals, thresholds, out.gain[:size], out.rows[:count], masses)


def _sort(problem: SampleProblem, limit: int) -> Sorted | None:
    """The rows in the order of each ordered column; None without such columns."""
    if not problem.ranks:
        return None
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


def _tests(problem: SampleProblem, out: Splits, size: int) -> tuple[IntArray, FloatArray]:
    """The literal of each split and its exact threshold."""
    literals = problem.literals
    if not problem.ranks:
        return out.literal[:size], literals.thresholds(out.literal[:size])
    stored = literals.stored_bits
    positions, thresholds = np.empty(size, dtype=np.int64), np.empty(size)
    cuts = out.column[:size] != NONE
    below, above = np.zeros((2, size), dtype=np.int64)
    below[cuts] = problem.rows_in(out.below[:size][cuts])
    above[cuts] = problem.rows_in(out.literal[:size][cuts])
    for step in range(size):
        place = int(out.column[step])
        if place == NONE:
            positions[step] = stored[out.literal[step]]
            thresholds[step] = literals.threshold(int(positions[step]))
            continue
        number, ranks = literals.ordered[place], problem.ranks[place]
        sides = int(ranks[below[step]]), int(ranks[above[step]])
        position, thresholds[step] = literals.columns[number].between(*sides)
        positions[step] = literals.starts[number] + position
    return positions, thresholds


def _split_again(problem: SampleProblem, growth: Growth) -> Splitting:
    """A growth as arrays."""
    leaves = [problem.root()]
    for step in growth.steps:
        leaves += problem.children(leaves[step.leaf], step.position)
    return Splitting(
        np.array([step.leaf for step in growth.steps], dtype=np.int64),
        np.array([step.position for step in growth.steps], dtype=np.int64),
        np.array([step.threshold for step in growth.steps], dtype=float),  # None becomes NaN
        np.array([step.gain for step in growth.steps]),
        np.array([problem.class_counts(leaf) for leaf in leaves]),
        np.array([problem.class_masses(leaf) for leaf in leaves]),
    )
