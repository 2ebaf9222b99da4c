"""The growing loop for any problem and any rule, one question to the problem at a time."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mictree._support.draws import stream
from mictree.growers.functions import gains_by
from mictree.growers.growth import Growth, GrowthStep, curve
from mictree.growers.rules import TIES, Grower, checked_priority
from mictree.growers.ties import (
    CLOSED,
    Frontier,
    any_open,
    choose_leaf,
    choose_tied,
    close_leaf,
    new_frontier,
    open_leaf,
)
from mictree.problems.base import Leaf, Problem, Splits

FloatArray = np.typing.NDArray[np.float64]
Gains = Callable[[Problem, Leaf, Splits], FloatArray]
ROOM = 64  # leaves that a frontier is made for at first


def grow(rule: Grower, problem: Problem, limit: int) -> Growth:
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


class _Offer(NamedTuple):
    """The splits of a leaf."""

    variables: np.typing.NDArray[np.intp]
    gains: FloatArray


class _Leaves:
    """All leaves so far in order of creation, the open ones with their splits."""

    def __init__(self, rule: Grower, problem: Problem) -> None:
        self.rule = rule
        self.problem = problem
        self.all: list[Leaf] = []
        self.offers: dict[int, _Offer] = {}
        self.frontier = new_frontier(ROOM)
        self._gains: Gains = gains_by(rule.criterion)
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
        splits = self.problem.splits(leaf)
        if not len(splits.variables):
            return
        gains = self._gains(self.problem, leaf, splits)
        gain = float(gains.max())
        if gain < self.problem.min_gain:
            return
        self.offers[number] = _Offer(splits.variables, gains)
        reach = float(leaf.reach)
        if number >= len(self.frontier.reach):
            self.frontier = _enlarged(self.frontier)
        open_leaf(self.frontier, number, reach, checked_priority(self.rule, reach, gain, born))

    def close(self, number: int) -> None:
        """Mark a leaf as split."""
        close_leaf(self.frontier, number)
        self._error.add(-float(self.all[number].error))


def _enlarged(frontier: Frontier) -> Frontier:
    """The same with room for at least twice as many leaves."""
    size = len(frontier.reach)
    larger = new_frontier(2 * size)
    for leaf in np.flatnonzero(frontier.tournament[size:] > CLOSED).tolist():
        open_leaf(larger, leaf, frontier.reach[leaf], frontier.tournament[size + leaf])
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
