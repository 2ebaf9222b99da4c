"""The growing loop for any problem and any rule, one question to the problem at a time.

It is the definition of growth that faster loops must equal. A leaf's splits are looked at once,
when the leaf is made. Rules that look ahead compare drops in impurity by subtrees of a given depth.
A subtree's drop is the gain of its root test plus the drops of both its sides, weighted by their
probabilities: a sum of gains, without cancellation. A side that is pure, or that offers no split,
adds nothing.
"""

import math
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mictree.growers.choosing import (
    CLOSED,
    Frontier,
    any_open,
    choose_leaf,
    choose_tied,
    close_leaf,
    gains_by,
    new_frontier,
    open_leaf,
    settle_ties,
    stream,
)
from mictree.growers.rules import (
    TIES,
    Grower,
    Growth,
    GrowthStep,
    checked_priority,
    criterion_on,
    curve,
    depth_of,
)
from mictree.problems.base import FloatArray, Leaf, Problem

if TYPE_CHECKING:
    from mictree.growers.data_gains import PackedLeaves
    from mictree.problems.sample import SampleProblem


ROOM = 64  # leaves that a frontier is made for at first


def grow_any(rule: Grower, problem: Problem, limit: int) -> Growth:
    """Split the leaf of largest priority until the tree has ``limit`` splits or no open leaf."""
    rule = rule.with_seed()
    draws, ties = stream(rule.seed or 0), TIES.index(rule.ties)
    leaves = _Leaves(rule, problem)
    leaves.add(problem.root(), born=0)
    errors = [leaves.error]
    steps: list[GrowthStep] = []
    while len(steps) < limit and any_open(leaves.frontier):
        number = int(choose_leaf(leaves.frontier, ties, draws))
        leaf, offer = leaves.all[number], leaves.offers.pop(number)
        variable = int(offer.variables[choose_tied(offer.gains, ties, draws)])
        leaves.close(number)
        low, high = problem.children(leaf, variable)
        name, threshold = problem.test(leaf, variable)
        gain = float(offer.gains.max())
        steps.append(GrowthStep(number, name, gain, float(leaf.reach), variable, threshold))
        leaves.add(low, born=2 * len(steps) + 1)
        leaves.add(high, born=2 * len(steps))
        errors.append(leaves.error)
    labels = tuple(leaf.label for leaf in leaves.all)
    return Growth(problem, leaves.rule, limit, curve(errors, limit), tuple(steps), labels)


class _Leaves:
    """All leaves so far in order of creation, the open ones with their splits."""

    def __init__(self, rule: Grower, problem: Problem) -> None:
        self.rule = rule
        self.problem = problem
        self.all: list[Leaf] = []
        self.offers: dict[int, Offer] = {}
        self.frontier = new_frontier(ROOM)
        self._offer = offers_by(rule, problem)
        self._error = ExactSum()

    @property
    def error(self) -> float:
        return self._error.value

    def add(self, leaf: Leaf, born: int) -> None:
        """Append a leaf and look at its splits, once and for all."""
        number = len(self.all)
        self.all.append(leaf)
        self._error.add(float(leaf.error))
        if leaf.pure:
            return
        offer = self._offer(leaf)
        if not len(offer.variables):
            return
        gain = float(offer.gains.max())
        if gain < self.problem.min_gain:
            return
        self.offers[number] = offer
        reach = float(leaf.reach)
        if number >= len(self.frontier.reach):
            self.frontier = enlarged(self.frontier)
        open_leaf(self.frontier, number, reach, checked_priority(self.rule, reach, gain, born))

    def close(self, number: int) -> None:
        """Mark a leaf as split."""
        close_leaf(self.frontier, number)
        self._error.add(-float(self.all[number].error))


def enlarged(frontier: Frontier) -> Frontier:
    """The same with room for at least twice as many leaves."""
    larger = new_frontier(2 * len(frontier.reach))
    priorities = frontier.tournament[frontier.first :]
    for leaf in np.flatnonzero(priorities > CLOSED).tolist():
        open_leaf(larger, leaf, frontier.reach[leaf], priorities[leaf])
    return larger


class ExactSum:
    """A running sum of floats without rounding error (Shewchuk's expansions, as in math.fsum)."""

    def __init__(self) -> None:
        self._parts: list[float] = []

    def add(self, number: float) -> None:
        parts = []
        for part in self._parts:
            if abs(number) < abs(part):
                number, part = part, number
            total = number + part
            rest = part - (total - number)
            if rest:
                parts.append(rest)
            number = total
        self._parts = [*parts, number]

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return math.fsum(self._parts)


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
        self._gains = gains_by(criterion_on(rule, problem))
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
    from mictree.growers.data_gains import PackedLeaves
    from mictree.problems.sample import SampleProblem
    from mictree.problems.tasks import Errors

    if not isinstance(problem, SampleProblem) or not isinstance(problem.task, Errors):
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
