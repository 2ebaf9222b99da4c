"""The growing loop for any problem and any rule, one question to the problem at a time."""

import math

import numpy as np

from mictree._support.draws import stream
from mictree.growers.growth import Growth, GrowthStep, curve
from mictree.growers.lookahead import Offer, offers_by
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
from mictree.problems.base import Leaf, Problem

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
