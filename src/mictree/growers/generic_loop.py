"""The growing loop for any problem and any rule, one question to the problem at a time."""

import math
import secrets
from dataclasses import dataclass
from numbers import Real

import numpy as np

from mictree._support.draws import Draws
from mictree.growers.growth import Growth, GrowthStep, curve
from mictree.growers.rules import Grower
from mictree.impurity import GAINS
from mictree.problems.base import Leaf, Problem, Splits

# Two gains tie when they differ by at most this, relative to the larger one: docs/decisions/0003.
TIE_TOLERANCE = 1e-10

FloatArray = np.typing.NDArray[np.float64]


def grow(rule: Grower, problem: Problem, limit: int) -> Growth:
    """Split the leaf of largest priority until the tree has ``limit`` splits or no open leaf."""
    draws = Draws(secrets.randbits(63) if rule.seed is None else rule.seed)
    frontier = _Frontier(rule, draws)
    frontier.add(problem, problem.root(), born=0)
    errors = [frontier.error]
    steps: list[GrowthStep] = []
    while len(steps) < limit and frontier.open:
        number = frontier.choose()
        leaf, offer = frontier.leaves[number], frontier.offers[number]
        assert offer is not None  # an open leaf has splits
        variable = offer.choose(rule.ties, draws)
        frontier.close(number)
        low, high = problem.children(leaf, variable)
        name = problem.variables[variable]
        steps.append(GrowthStep(number, name, offer.gain, float(leaf.reach), variable))
        frontier.add(problem, low, born=2 * len(steps) + 1)
        frontier.add(problem, high, born=2 * len(steps))
        errors.append(frontier.error)
    labels = tuple(leaf.label for leaf in frontier.leaves)
    return Growth(problem, rule, limit, curve(errors, limit), tuple(steps), labels)


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
