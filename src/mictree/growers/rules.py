"""The growing loop, and the three rules that choose the next leaf.

TopDown splits the leaf whose split lowers the whole tree's impurity most, ``reach * gain``
(Kearns and Mansour). BestFirst splits the leaf with the largest ``gain`` (Shi; WEKA's BFTree).
ID3 goes depth first (Quinlan). scikit-learn's ``max_leaf_nodes`` weights by reach, so it is TopDown
in spite of the name "best first".
"""

import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from mictree._support.checks import check_count, check_size
from mictree._support.draws import Draws
from mictree.impurity import CRITERIA, check_criterion, of_classes
from mictree.problems.base import Grown, Leaf, Problem, Splits
from mictree.tree import LEAF, Tree

TIES = ("last", "first", "random", "heaviest", "lightest")
# Two gains tie when they differ by at most this, relative to the larger one; and a gain of at
# most this times the leaf's impurity is rounding, so it counts as 0. See docs/decisions/0003.
TIE_TOLERANCE = 1e-10

FloatArray = np.typing.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GrowthStep:
    """One split, in the order of growth."""

    leaf: int  # number of the split leaf in order of creation; the root is 0
    variable: str
    gain: float  # drop in impurity at the leaf
    reach: float

    @property
    def weighted_gain(self) -> float:
        """W(v): the drop in the whole tree's impurity."""
        return self.reach * self.gain


@dataclass(frozen=True)
class Growth:
    """A growing tree, one split after another.

    Attributes
    ----------
    problem, rule : what it was grown on and by
    max_size : the size asked for
    errors : float array, index = size, 0 to ``max_size``; repeats the last error once growth ended
    steps : the splits in order, with their gains; fewer than ``max_size`` when growth ended early
    """

    problem: Problem
    rule: "Grower"
    max_size: int
    errors: FloatArray
    steps: tuple[GrowthStep, ...]
    labels: tuple[int, ...]  # majority labels of all leaves, in order of creation

    def tree(self, size: int) -> Tree:
        """The tree after ``size`` splits, or the last one when growth ended before."""
        steps = self.steps[: check_size(size, "size")]
        if size > self.max_size:
            raise ValueError(f"size must be at most max_size={self.max_size}; got {size}")
        # split number k creates leaves 2k + 1 and 2k + 2
        split_of = {step.leaf: number for number, step in enumerate(steps)}
        position = {name: index for index, name in enumerate(self.problem.variables)}
        tests: list[int] = []
        low = [LEAF] * (2 * len(steps) + 1)
        high = low.copy()
        labels: list[int] = []
        waiting = [(0, low, 0)]  # leaf by creation; where its number in preorder is due
        while waiting:
            leaf, children, parent = waiting.pop()
            node = len(tests)
            if node:
                children[parent] = node
            number = split_of.get(leaf)
            if number is None:
                tests.append(LEAF)
                labels.append(self.labels[leaf])
                continue
            tests.append(position[steps[number].variable])
            labels.append(LEAF)
            waiting += [(2 * number + 2, high, node), (2 * number + 1, low, node)]
        return Tree(self.problem.variables, tuple(tests), tuple(low), tuple(high), tuple(labels))

    @cached_property
    def exact_errors(self) -> list[Fraction]:
        """The errors as Fractions, index = size."""
        position = {name: index for index, name in enumerate(self.problem.variables)}
        leaves = [self.problem.root(exact=True)]
        errors = [Fraction(leaves[0].error)]
        for step in self.steps:
            parent = leaves[step.leaf]
            children = self.problem.children(parent, position[step.variable])
            leaves += children
            change = children[0].error + children[1].error - parent.error
            errors.append(errors[-1] + Fraction(change))
        return errors + errors[-1:] * (self.max_size + 1 - len(errors))


class Grower(ABC):
    """A greedy learner that knows the distribution.

    Parameters
    ----------
    criterion : "entropy", "gini", "root" (Kearns and Mansour) or "minority"
    ties : which of several equally good splits is made
        "last": the last leaf in order of creation, then the last variable in declared order, as
        the paper's ``>=`` does. "first": the first of both. "random": any of both. "heaviest",
        "lightest": the leaf of largest or smallest reach, else as "last".
    seed : for ``ties="random"``
    """

    name: ClassVar[str]

    def __init__(
        self, criterion: str = "entropy", ties: str = "last", seed: int | None = None
    ) -> None:
        self.criterion = check_criterion(criterion)
        if not isinstance(ties, str) or ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
        self.ties = ties
        self.seed = None if seed is None else check_count(seed, "seed")

    def __repr__(self) -> str:
        seed = "" if self.seed is None else f", seed={self.seed}"
        return f"{type(self).__name__}(criterion={self.criterion!r}, ties={self.ties!r}{seed})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grower) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @abstractmethod
    def priority(self, reach: float, gain: float, born: int) -> float:
        """How soon a leaf is split.

        ``born`` numbers leaves in depth-first order of birth: the children of the latest split
        have the largest numbers, and of the two the low child.
        """

    def grow(self, problem: Problem, max_size: int) -> Growth:
        """Split leaves one at a time until the tree has ``max_size`` splits or only pure leaves."""
        limit = check_size(max_size)
        grown = problem.grow(self.name, self.criterion, self.ties, self.seed, limit)
        if grown is not None:
            return self.record(problem, limit, grown)
        draws = Draws(secrets.randbits(63) if self.seed is None else self.seed)
        frontier = _Frontier(self, draws)
        frontier.add(problem, problem.root(), born=0)
        errors = [frontier.error]
        steps: list[GrowthStep] = []
        while len(steps) < limit and frontier.open:
            number = frontier.choose()
            leaf, offer = frontier.leaves[number], frontier.offers[number]
            assert offer is not None  # an open leaf has splits
            variable = offer.choose(self.ties, draws)
            frontier.close(number)
            low, high = problem.children(leaf, variable)
            steps.append(
                GrowthStep(number, problem.variables[variable], offer.gain, float(leaf.reach))
            )
            frontier.add(problem, low, born=2 * len(steps) + 1)
            frontier.add(problem, high, born=2 * len(steps))
            errors.append(frontier.error)
        labels = tuple(leaf.label for leaf in frontier.leaves)
        return Growth(problem, self, limit, _curve(errors, limit), tuple(steps), labels)

    def record(self, problem: Problem, limit: int, grown: Grown) -> Growth:
        """What a problem's own loop grew, as a Growth."""
        names = problem.variables
        steps = tuple(
            GrowthStep(leaf, names[variable], gain, reach)
            for leaf, variable, gain, reach in zip(
                grown.leaves, grown.variables, grown.gains, grown.reaches, strict=True
            )
        )
        return Growth(problem, self, limit, _curve(grown.errors, limit), steps, grown.labels)


def _curve(errors: Sequence[float] | FloatArray, limit: int) -> FloatArray:
    """Errors by size, the last one repeated once growth has ended."""
    curve = np.full(limit + 1, errors[-1])
    curve[: len(errors)] = errors
    return curve


class TopDown(Grower):
    """Splits the leaf with the largest reach times gain."""

    name = "topdown"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return reach * gain


class BestFirst(Grower):
    """Splits the leaf with the largest gain, however rarely it is reached."""

    name = "bestfirst"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return gain


class ID3(Grower):
    """Splits depth first, the low branch before the high one."""

    name = "id3"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return born


RULES: dict[str, type[Grower]] = {rule.name: rule for rule in (TopDown, BestFirst, ID3)}


@dataclass(frozen=True, slots=True)
class _Offer:
    """A leaf's best splits: those whose gains tie with the largest."""

    gain: float
    variables: np.typing.NDArray[np.intp]

    def choose(self, ties: str, draws: Draws) -> int:
        if ties == "random":
            return int(self.variables[draws.below(len(self.variables))])
        return int(self.variables[0 if ties == "first" else -1])


def gains(leaf: Leaf, splits: Splits, criterion: str) -> FloatArray:
    """The drop in impurity at the leaf for each split, not weighted by reach."""
    if leaf.class_rates is None:
        impurity = CRITERIA[criterion]
        before = impurity(float(leaf.positive_rate))
        after = impurity(np.stack([splits.low_rate, splits.high_rate]))
    else:
        before = of_classes(criterion, [float(rate) for rate in leaf.class_rates])
        rates = [splits.low_class_rates, splits.high_class_rates]
        after = np.stack([of_classes(criterion, each) for each in rates if each is not None])
    branch = splits.branch_probability
    drop = before - (1 - branch) * after[0] - branch * after[1]
    return np.where(drop > TIE_TOLERANCE * before, drop, 0.0)


class _Frontier:
    """All leaves so far in order of creation, the open ones with their priorities."""

    def __init__(self, rule: Grower, draws: Draws) -> None:
        self.rule = rule
        self.draws = draws
        self.leaves: list[Leaf] = []
        self.offers: list[_Offer | None] = []
        self.open = 0
        self._priority = np.empty(64)  # -1: closed, pure or without splits
        self._reach = np.empty(64)
        self._error = ExactSum()

    @property
    def error(self) -> float:
        return self._error.value

    def add(self, problem: Problem, leaf: Leaf, born: int) -> None:
        """Append a leaf and look at its splits, once and for all."""
        number = len(self.leaves)
        if number == len(self._priority):
            self._priority = np.concatenate([self._priority, np.empty(number)])
            self._reach = np.concatenate([self._reach, np.empty(number)])
        offer = None if leaf.pure else _best(problem, leaf, self.rule.criterion)
        self.leaves.append(leaf)
        self.offers.append(offer)
        self._reach[number] = leaf.reach
        self._priority[number] = -1.0
        if offer is not None:
            self._priority[number] = self.rule.priority(float(leaf.reach), offer.gain, born)
            self.open += 1
        self._error.add(float(leaf.error))

    def close(self, number: int) -> None:
        """Mark a leaf as split."""
        self._priority[number] = -1.0
        self.open -= 1
        self._error.add(-float(self.leaves[number].error))

    def choose(self) -> int:
        """The open leaf to split next."""
        priority = self._priority[: len(self.leaves)]
        tied = _ties(priority)
        if self.rule.ties == "random":
            return int(tied[self.draws.below(len(tied))])
        if self.rule.ties == "first":
            return int(tied[0])
        if self.rule.ties in ("heaviest", "lightest"):
            reach = self._reach[tied]
            if self.rule.ties == "heaviest":
                tied = tied[_ties(reach)]
            else:
                tied = tied[reach <= reach.min() * (1 + TIE_TOLERANCE)]
        return int(tied[-1])


def _best(problem: Problem, leaf: Leaf, criterion: str) -> _Offer | None:
    splits = problem.splits(leaf)
    if not len(splits.variables):
        return None
    offered = gains(leaf, splits, criterion)
    if offered.max() < problem.min_gain:
        return None
    return _Offer(float(offered.max()), splits.variables[_ties(offered)])


def _ties(values: FloatArray) -> np.typing.NDArray[np.intp]:
    """The positions of the largest of several numbers that are not all negative."""
    largest = values.max()
    return np.flatnonzero(values >= largest - TIE_TOLERANCE * largest)


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
