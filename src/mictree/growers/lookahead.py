"""The drops in impurity that subtrees of a given depth bring at a leaf.

A subtree's drop is the gain of its root test plus the drops of both its sides, weighted by their
probabilities: a sum of gains, without cancellation. A side that is pure, or that offers no split,
adds nothing.
"""

import math
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mictree.growers.functions import gains_by
from mictree.growers.rules import Grower, depth_of
from mictree.growers.ties import settle_ties
from mictree.problems.base import FloatArray, Leaf, Problem

if TYPE_CHECKING:
    from mictree.growers.pair_drops import PackedLeaves
    from mictree.problems.sample import SampleProblem

MOST_WORDS = 2**32  # counted at a leaf of a table with ordered columns: about ten seconds


class Offer(NamedTuple):
    """The splits of a leaf, with the gains that a rule compares."""

    variables: np.typing.NDArray[np.intp]
    gains: FloatArray  # -1 where a tie is settled against a split


def offers_by(rule: Grower, problem: Problem) -> Callable[[Leaf], Offer]:
    """What gives the splits of an impure leaf."""
    subtrees = _Subtrees(rule, problem)
    depth = depth_of(rule)

    def offer(leaf: Leaf) -> Offer:
        variables, drops = subtrees.drops(leaf, depth)
        # shallower subtrees settle what the deepest ones leave tied
        return Offer(variables, drops[0] if depth == 1 else settle_ties(drops[::-1]))

    return offer


class _Subtrees:
    """The best subtrees below the leaves of one problem, each key looked at once."""

    def __init__(self, rule: Grower, problem: Problem) -> None:
        self._problem = problem
        self._gains = gains_by(rule.criterion)
        self._packed = _pack(rule, problem) if depth_of(rule) > 1 else None
        self._known: dict[tuple[Hashable, int], FloatArray] = {}

    def drops(self, leaf: Leaf, depth: int) -> tuple[np.typing.NDArray[np.intp], FloatArray]:
        """A leaf's tests, and by test the best drops: in row d of subtrees of depth d + 1."""
        if depth == 2 and self._packed is not None:
            return self._packed.drops(leaf)
        splits = self._problem.splits(leaf)
        drops = np.tile(self._gains(self._problem, leaf, splits), (depth, 1))
        for place, variable in enumerate(splits.variables.tolist() if depth > 1 else ()):
            low, high = self._problem.children(leaf, variable)
            # both sides are added first, so that a negated variable gives the same float
            drops[1:, place] += splits.low_probability[place] * self._largest(
                low, depth - 1
            ) + splits.branch_probability[place] * self._largest(high, depth - 1)
        return splits.variables, drops

    def _largest(self, leaf: Leaf, depth: int) -> FloatArray:
        """The largest drops at a leaf, by depth from 1 on."""
        if leaf.pure:
            return np.zeros(depth)
        key = self._problem.key(leaf)
        if key is not None and (key, depth) in self._known:
            return self._known[key, depth]
        largest = self.drops(leaf, depth)[1].max(axis=1, initial=0.0)
        if key is not None:
            self._known[key, depth] = largest
        return largest


def _pack(rule: Grower, problem: Problem) -> "PackedLeaves | None":
    """The leaves of data that is stored as bits, whose kernels nothing else needs."""
    from mictree.growers.pair_drops import PackedLeaves
    from mictree.problems.sample import SampleProblem

    if not isinstance(problem, SampleProblem):
        return None
    _check_tests(problem)
    return PackedLeaves(rule, problem) if PackedLeaves.hold(problem) else None


def _check_tests(problem: "SampleProblem") -> None:
    """Refuse thresholds whose pairs nobody would wait for."""
    tests, ordered = len(problem.literals), len(problem.ranks)
    most = math.isqrt(MOST_WORDS // len(problem.valid))
    if not ordered or tests <= most:
        return
    rows = int(problem.class_rows.sum())
    thresholds = sum(problem.literals.columns[each].thresholds for each in problem.literals.ordered)
    fit = max(1, (most - (tests - thresholds)) // ordered)
    raise ValueError(
        f"looking ahead compares all pairs of tests, so numbers may offer at most {most:,} tests "
        f"on {rows:,} rows; the table has {tests:,}: set max_thresholds, to {fit:,} or fewer"
    )
