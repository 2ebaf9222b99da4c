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
from numbers import Real
from typing import ClassVar

import numpy as np

from mictree._checks import check_count, check_size
from mictree._draws import Draws
from mictree.impurity import GAINS, check_criterion
from mictree.problems.base import Grown, Leaf, Problem, Splits
from mictree.tree import Tree

TIES = ("last", "first", "random", "heaviest", "lightest")
# Two gains tie when they differ by at most this, relative to the larger one: docs/decisions/0003.
TIE_TOLERANCE = 1e-10

FloatArray = np.typing.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GrowthStep:
    """One split, in the order of growth."""

    leaf: int  # number of the split leaf in order of creation; the root is 0
    variable: str
    gain: float  # drop in impurity at the leaf
    reach: float
    position: int  # of the variable in problem.variables

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
        leaves, tests = [step.leaf for step in steps], [step.position for step in steps]
        return Tree.from_splits(self.problem.variables, leaves, tests, self.labels)

    @cached_property
    def exact_errors(self) -> list[Fraction]:
        """The errors as Fractions, index = size."""
        leaves = [self.problem.root(exact=True)]
        errors = [Fraction(leaves[0].error)]
        for step in self.steps:
            parent = leaves[step.leaf]
            children = self.problem.children(parent, step.position)
            leaves += children
            change = children[0].error + children[1].error - parent.error
            errors.append(errors[-1] + Fraction(change))
        return errors + errors[-1:] * (self.max_size + 1 - len(errors))


class Grower(ABC):
    """A greedy learner that knows the distribution.

    A rule of one's own derives from it and has a method ``priority``. It grows on every problem;
    only ``sweep`` refuses it.

    Parameters
    ----------
    criterion : "entropy", "gini", "root" (Kearns and Mansour) or "minority"
    ties : which of several equally good splits is made
        "last": the last leaf in order of creation, then the last variable in declared order, as
        the paper's ``>=`` does. "first": the first of both. "random": any of both. "heaviest",
        "lightest": the leaf of largest or smallest reach, else as "last".
    seed : for ``ties="random"``
    """

    name: ClassVar[str]  # by default the class's name in small letters

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        if "name" not in vars(cls):  # a rule of another kind must not bear its parent's name
            cls.name = cls.__name__.lower()

    def __init__(
        self, criterion: str = "entropy", ties: str = "last", seed: int | None = None
    ) -> None:
        self.criterion = check_criterion(criterion)
        if not isinstance(ties, str) or ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
        self.ties = ties
        self.seed = None if seed is None else check_count(seed, "seed")

    def __repr__(self) -> str:
        shown = {"criterion": self.criterion, "ties": self.ties, **vars(self)}
        if shown["seed"] is None:
            del shown["seed"]
        told = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({told})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.criterion, self.ties, self.seed))

    @abstractmethod
    def priority(self, reach: float, gain: float, born: int) -> float:
        """How soon a leaf is split: any number, the largest first.

        ``born`` numbers leaves in depth-first order of birth: the children of the latest split
        have the largest numbers, and of the two the low child.
        """

    def grow(self, problem: Problem, max_size: int) -> Growth:
        """Split leaves one at a time until the tree has ``max_size`` splits or only pure leaves."""
        limit = check_size(max_size)
        if is_built_in(self):
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
            name = problem.variables[variable]
            steps.append(GrowthStep(number, name, offer.gain, float(leaf.reach), variable))
            frontier.add(problem, low, born=2 * len(steps) + 1)
            frontier.add(problem, high, born=2 * len(steps))
            errors.append(frontier.error)
        labels = tuple(leaf.label for leaf in frontier.leaves)
        return Growth(problem, self, limit, _curve(errors, limit), tuple(steps), labels)

    def record(self, problem: Problem, limit: int, grown: Grown) -> Growth:
        """What a problem's own loop grew, as a Growth."""
        names = problem.variables
        steps = tuple(
            GrowthStep(leaf, names[variable], gain, reach, variable)
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
_PRIORITIES = {rule: rule.priority for rule in RULES.values()}


def is_built_in(rule: Grower) -> bool:
    """Whether compiled loops, which have the priorities written out, may grow by a rule.

    Not by a rule derived from one of the three, nor by one whose priority was replaced.
    """
    own = _PRIORITIES.get(type(rule))
    return own is not None and own is type(rule).priority and "priority" not in vars(rule)


@dataclass(frozen=True, slots=True)
class _Offer:
    """A leaf's best splits: those whose gains tie with the largest."""

    gain: float
    variables: np.typing.NDArray[np.intp]

    def choose(self, ties: str, draws: Draws) -> int:
        if ties == "random":
            return int(self.variables[draws.below(len(self.variables))])
        return int(self.variables[0 if ties == "first" else -1])


def gains(problem: Problem, leaf: Leaf, splits: Splits, criterion: str) -> FloatArray:
    """The drop in impurity at the leaf for each split, not weighted by reach."""
    low, high = splits.low_probability, splits.branch_probability
    if criterion == "minority":
        low_lead, high_lead = problem.leads(leaf, splits)
        return low * low_lead + high * high_lead
    return GAINS[criterion](low, high, splits.low_rates, splits.high_rates, splits.difference)


class _Frontier:
    """All leaves so far in order of creation, the open ones with their priorities."""

    def __init__(self, rule: Grower, draws: Draws) -> None:
        self.rule = rule
        self.draws = draws
        self.leaves: list[Leaf] = []
        self.offers: list[_Offer | None] = []
        self.open = 0
        self._open = np.zeros(64, dtype=bool)  # neither split, nor pure, nor without splits
        self._priority = np.empty(64)
        self._reach = np.empty(64)
        self._error = ExactSum()

    @property
    def error(self) -> float:
        return self._error.value

    def add(self, problem: Problem, leaf: Leaf, born: int) -> None:
        """Append a leaf and look at its splits, once and for all."""
        number = len(self.leaves)
        if number == len(self._priority):
            self._open = np.concatenate([self._open, np.zeros(number, dtype=bool)])
            self._priority = np.concatenate([self._priority, np.empty(number)])
            self._reach = np.concatenate([self._reach, np.empty(number)])
        offer = None if leaf.pure else _best(problem, leaf, self.rule.criterion)
        self.leaves.append(leaf)
        self.offers.append(offer)
        self._reach[number] = leaf.reach
        if offer is not None:
            priority = self.rule.priority(float(leaf.reach), offer.gain, born)
            if not isinstance(priority, Real) or math.isnan(priority):
                raise ValueError(f"a priority must be a number; {self.rule!r} gave {priority!r}")
            self._priority[number] = priority
            self._open[number] = True
            self.open += 1
        self._error.add(float(leaf.error))

    def close(self, number: int) -> None:
        """Mark a leaf as split."""
        self._open[number] = False
        self.open -= 1
        self._error.add(-float(self.leaves[number].error))

    def choose(self) -> int:
        """The open leaf to split next."""
        tied = np.flatnonzero(self._open[: len(self.leaves)])
        tied = tied[_ties(self._priority[tied])]
        if self.rule.ties == "random":
            return int(tied[self.draws.below(len(tied))])
        if self.rule.ties == "first":
            return int(tied[0])
        if self.rule.ties in ("heaviest", "lightest"):
            reach = self._reach[tied]
            tied = tied[_ties(reach if self.rule.ties == "heaviest" else -reach)]
        return int(tied[-1])


def _best(problem: Problem, leaf: Leaf, criterion: str) -> _Offer | None:
    splits = problem.splits(leaf)
    if not len(splits.variables):
        return None
    offered = gains(problem, leaf, splits, criterion)
    if offered.max() < problem.min_gain:
        return None
    return _Offer(float(offered.max()), splits.variables[_ties(offered)])


def _ties(values: FloatArray) -> np.typing.NDArray[np.intp]:
    """The positions of the largest of several numbers."""
    largest = values.max()
    if math.isinf(largest):
        return np.flatnonzero(values == largest)
    return np.flatnonzero(values >= largest - TIE_TOLERANCE * abs(largest))


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
