"""Growth on data by the compiled loop, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mictree._support.draws import stream
from mictree.growers.counting import Matrix
from mictree.growers.data_kernel import Rule, Splits, Task, grow
from mictree.growers.functions import RuleFunctions, criterion_code
from mictree.growers.growth import Growth, GrowthStep, curve
from mictree.growers.offers import COUNT_LOGS, Limits, Weighing
from mictree.growers.rules import TIES, Grower
from mictree.problems.sample import SampleProblem

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


@dataclass(frozen=True)
class Splitting:
    """A compiled growth as arrays: splits in order, leaves in order of creation."""

    leaves: IntArray  # for each split
    literals: IntArray
    gains: FloatArray
    rows: IntArray  # for each leaf and class
    masses: FloatArray  # the same, weighted

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
            self.leaves[:made], self.literals[:made], self.gains[:made],
            self.rows[: 2 * made + 1], self.masses[: 2 * made + 1],
        )  # fmt: skip

    def growth(self, problem: SampleProblem, rule: Grower, limit: int) -> Growth:
        """The same as a growth to a size, by the rule that made it."""
        names = problem.variables
        reaches = self.reaches[self.leaves].tolist()
        parts = (self.leaves.tolist(), self.literals.tolist(), self.gains.tolist(), reaches)
        steps = tuple(
            GrowthStep(leaf, names[literal], gain, reach, literal)
            for leaf, literal, gain, reach in zip(*parts, strict=True)
        )
        labels = tuple(self.labels.tolist())
        return Growth(problem, rule, limit, curve(self.errors, limit), steps, labels)


def split(problem: SampleProblem, rule: Grower, max_size: int) -> Splitting:
    """Grow by the compiled loop."""
    # every split leaves a row on both sides and no literal is tested twice on a path
    limit = min(max_size, int(problem.class_rows.sum()) - 1, 2 ** min(len(problem.bits), 62) - 1)
    functions = RuleFunctions(rule)
    out = Splits(
        *np.empty((2, limit), dtype=np.int64),
        gain=np.empty(limit),
        rows=np.empty((2 * limit + 1, len(problem.classes)), dtype=np.int64),
        sums=np.empty((2 * limit + 1, len(problem.classes))),
        draws=stream(rule.with_seed().seed or 0),
        refused=functions.refused_priority,
    )
    task = Task(
        _weighing(problem, rule, functions),
        _limits(problem),
        Rule(functions.priority.address, TIES.index(rule.ties), limit),
    )
    rows = Matrix(problem.bits, problem.first_word, problem.valid, problem.whole_weights)
    size = grow(rows, task, out)
    functions.settle()
    count = 2 * size + 1
    leaves, literals = out.leaf[:size], out.literal[:size]
    if problem.rounded:
        masses = problem.masses_of_leaves(leaves.tolist(), literals.tolist())
    else:
        masses = out.sums[:count] * problem.class_weight * problem.weight_unit
    return Splitting(leaves, literals, out.gain[:size], out.rows[:count], masses)


def _weighing(problem: SampleProblem, rule: Grower, functions: RuleFunctions) -> Weighing:
    factors = problem.class_weight
    return Weighing(
        criterion_code(rule.criterion),
        functions.impurity.address,
        factors,
        bool((factors == factors[0]).all()),
        not len(problem.whole_weights) and bool((factors == 1).all()),
        COUNT_LOGS,
        functions.refused_impurity,
    )


def _limits(problem: SampleProblem) -> Limits:
    limits = problem.limits
    return Limits(
        limits.min_samples_split,
        limits.min_samples_leaf,
        2**62 if limits.max_depth is None else limits.max_depth,
        float(limits.min_gain),
        problem.min_leaf_mass,
    )
