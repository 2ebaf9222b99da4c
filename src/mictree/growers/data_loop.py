"""Growth on data by the compiled loop, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mictree.growers import data_kernel as kernels
from mictree.growers.generic_loop import TIE_TOLERANCE
from mictree.growers.growth import Growth, GrowthStep, curve
from mictree.growers.offers import COUNT_LOGS
from mictree.growers.rules import Grower
from mictree.impurity.gains import CRITERION_CODES
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
        """The error on the rows by size, until growth ended."""
        mass = self.masses.sum(axis=1)
        wrong = mass - self.masses.max(axis=1)
        change = wrong[1::2] + wrong[2::2] - wrong[self.leaves]
        return np.maximum(0.0, np.cumsum(np.concatenate([wrong[:1], change])) / mass[0])

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
    seed = rule.seed
    if seed is None:
        seed = int(np.random.default_rng().integers(2**62)) if rule.ties == "random" else 0
    limits = problem.limits
    settings = kernels.Settings(
        kernels.RULE_CODES[rule.name],
        CRITERION_CODES[rule.criterion],
        kernels.TIE_CODES[rule.ties],
        seed % 2**62,
        limit,
        limits.min_samples_split,
        limits.min_samples_leaf,
        2**62 if limits.max_depth is None else limits.max_depth,
        float(limits.min_gain),
        problem.min_leaf_mass,
        TIE_TOLERANCE,
    )
    leaves, literals = np.empty((2, limit), dtype=np.int64)
    gains = np.empty(limit)
    rows = np.empty((2 * limit + 1, len(problem.classes)), dtype=np.int64)
    sums = np.empty(rows.shape)
    size = kernels.grow(
        problem.bits, problem.first_word, problem.valid, problem.whole_weights,
        problem.class_weight, COUNT_LOGS, settings, leaves, literals, gains, rows, sums,
    )  # fmt: skip
    count = 2 * size + 1
    masses = sums[:count] * problem.class_weight * problem.weight_unit
    return Splitting(leaves[:size], literals[:size], gains[:size], rows[:count], masses)
