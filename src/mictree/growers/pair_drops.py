"""The gains of all splits, and the drops of all subtrees of depth 2, at a leaf of bit-packed data.

Every threshold of an ordered column is a literal of its own here. A leaf offers one of those that
split it alike, as the problem does.

For drops, a leaf's rows are made compact. Then the rows on the smaller side of each literal are
counted by all others; the larger side has the rest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mictree._support.jit import jit, run
from mictree.growers.counting import (
    Counts,
    Matrix,
    child_mask,
    compact,
    count_child,
    count_class_rows,
    count_root,
    subtract,
    total_of,
)
from mictree.growers.functions import RuleFunctions
from mictree.growers.offers import (
    exact_gain,
    limits_of,
    mass_of,
    may_split,
    offer,
    screen,
    weighing_of,
)
from mictree.growers.rules import Grower
from mictree.problems.base import FloatArray, Leaf
from mictree.problems.sample import SampleProblem

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
