"""The chance that a greedy rule with random ties ends among the good trees.

Growth is a random walk: of all leaves that tie one is split, by one of its splits that tie, each
with equal chances. Which variables were tested does not matter, only the leaves that are open; so
walks whose leaves are alike are one, and their chances add up exactly. Where a walk has too many
such states, it is run a number of times instead.

The number of trees that some choice of ties reaches needs the trees' shapes, too: a *shape* is a
tree whose tests are replaced by the leaves that they made. It stands for as many trees as the
product, over its nodes, of the tests that tie and make the same leaves.

Invariant: every state of the walk after s splits has s splits; walks that end early end there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from mictree._support.words import count_of, show_number
from mictree.growers.choosing import least_tied
from mictree.growers.loop import Offer, offers_by
from mictree.growers.rules import BestFirst, Grower, Lookahead, TopDown, checked_priority
from mictree.optimal.good_counting import Space
from mictree.problems.base import Leaf, Problem

MOST_STATES = 10_000  # of a walk, over all sizes
WITHOUT_BIRTH = TopDown, BestFirst, Lookahead  # rules whose priority ignores when a leaf was born


@dataclass(frozen=True)
class Chance:
    """How often a rule with random ties ends among the good trees.

    Attributes
    ----------
    rule : as text
    chances : by size, that growth makes so many splits and the tree is good; Fractions if exact
    reached : by size, the number of good trees that some choice of ties reaches; None where there
        are too many to tell
    runs : how often growth was run where there are too many ties; None if the chances are exact
    """

    rule: str
    chances: tuple[Fraction | float, ...]
    reached: tuple[int | None, ...]
    runs: int | None = None

    def __str__(self) -> str:
        how = "exact" if self.runs is None else f"{self.runs:,} runs"
        lines = [f"{self.rule}, ties at random: chance to end among the good trees ({how})"]
        for size, (chance, count) in enumerate(zip(self.chances, self.reached, strict=True)):
            told = "" if count is None else f", {count_of(count, 'good tree')} reached"
            lines.append(f"{size:>4}: {show_number(chance, 4)}{told}")
        return "\n".join(lines)


class Opening(NamedTuple):
    """What a leaf's splits lead to."""

    priority_of: Callable[[int], float]  # by number of birth
    ways: tuple[tuple[int, int, int], ...]  # low leaf, high leaf, how many tests that tie
    valid: bool  # whether a tree to be counted may split it


class Walk:
    """Leaves by number, alike ones under one number; what they cost, and what they lead to."""

    def __init__(self, problem: Problem, rule: Grower, space: Space) -> None:
        self.problem, self.rule, self.space = problem, rule, space
        self.births = not isinstance(rule, WITHOUT_BIRTH)
        self._offer = offers_by(rule, problem)
        self._leaves: list[tuple[Leaf, Leaf]] = []  # with floats, and exact
        self._numbers: dict[Hashable, int] = {}
        self._openings: dict[int, Opening | None] = {}
        self.root = self._number(problem.root(), problem.root(exact=True))

    def _number(self, leaf: Leaf, exact: Leaf) -> int:
        key = self.space.state_of(leaf), exact.reach
        if key not in self._numbers:
            self._numbers[key] = len(self._leaves)
            self._leaves.append((leaf, exact))
        return self._numbers[key]

    def error(self, leaf: int) -> Fraction:
        """The leaf's share of the error."""
        return Fraction(self._leaves[leaf][1].error)

    def opening(self, number: int) -> Opening | None:
        """None for a leaf that is never split."""
        if number not in self._openings:
            self._openings[number] = self._open(*self._leaves[number])
        return self._openings[number]

    def _open(self, leaf: Leaf, exact: Leaf) -> Opening | None:
        if leaf.pure:
            return None
        offer: Offer = self._offer(leaf)
        if not len(offer.variables) or offer.gains.max() < self.problem.min_gain:
            return None
        gain, reach = float(offer.gains.max()), float(leaf.reach)
        tied = offer.variables[offer.gains >= least_tied(gain)].tolist()
        ways: Counter[tuple[int, int]] = Counter()
        for variable in tied:
            both = zip(
                self.problem.children(leaf, variable), self.problem.children(exact, variable),
                strict=True,
            )  # fmt: skip
            low, high = (self._number(*child) for child in both)
            ways[low, high] += 1

        def priority_of(born: int) -> float:
            return checked_priority(self.rule, reach, gain, born)

        found = tuple((low, high, count) for (low, high), count in ways.items())
        return Opening(priority_of, found, not self.space.is_pure(leaf))

    def choices(self, leaves: tuple[tuple[int, int], ...]) -> list[int]:
        """The places of the open leaves, given with their births, that tie for the next split."""
        priorities = {}
        for place, (leaf, born) in enumerate(leaves):
            opening = self.opening(leaf)
            if opening is not None:
                priorities[place] = opening.priority_of(born)
        if not priorities:
            return []
        least = least_tied(max(priorities.values()))
        return [place for place, priority in priorities.items() if priority >= least]


def chance_of(walk: Walk, limits: tuple[Fraction, ...], runs: int, seed: int) -> Chance:
    """The chance by size that the tree's error is within the limits."""
    chances: list[Fraction | float] | None = _walked(walk, limits)
    made = None
    if chances is None:
        made, chances = runs, _run(walk, limits, runs, seed)
    return Chance(walk.rule.label, tuple(chances), tuple(_reached(walk, limits)), made)


State = tuple[tuple[int, int], ...]  # leaves with their births, sorted; births are 0 if ignored


def _walked(walk: Walk, limits: tuple[Fraction, ...]) -> list[Fraction | float] | None:
    """The exact chances; None if the walk has too many states."""
    states: dict[State, Fraction] = {((walk.root, 0),): Fraction(1)}
    chances: list[Fraction | float] = []
    seen = 0
    for size, limit in enumerate(limits):
        seen += len(states)
        if seen > MOST_STATES:
            return None
        good = (chance for state, chance in states.items() if _error(walk, state) <= limit)
        chances.append(sum(good, Fraction(0)))
        after: dict[State, Fraction] = {}
        for state, chance in states.items():
            places = walk.choices(state)
            for place in places:
                opening = walk.opening(state[place][0])
                assert opening is not None
                if not opening.valid:
                    continue  # no tree to be counted
                tests = sum(count for *_, count in opening.ways)
                for low, high, count in opening.ways:
                    below = _divided(walk, state, place, low, high, size + 1)
                    part = chance * Fraction(count, tests * len(places))
                    after[below] = after.get(below, Fraction(0)) + part
        states = after
    return chances


def _divided(walk: Walk, state: State, place: int, low: int, high: int, splits: int) -> State:
    """The state after a split; births are numbered as in every loop."""
    births = (2 * splits + 1, 2 * splits) if walk.births else (0, 0)
    rest = (*state[:place], *state[place + 1 :], (low, births[0]), (high, births[1]))
    return tuple(sorted(rest))


def _error(walk: Walk, state: State) -> Fraction:
    return sum((walk.error(leaf) for leaf, _ in state), Fraction(0))


def _run(walk: Walk, limits: tuple[Fraction, ...], runs: int, seed: int) -> list[Fraction | float]:
    """The share of a number of runs."""
    good = [0] * len(limits)
    for number in range(runs):
        growth = walk.rule.with_seed(seed + number).grow(walk.problem, len(limits) - 1)
        leaves = [walk.problem.root()]
        valid = True
        for size, (error, limit) in enumerate(zip(growth.exact_errors, limits, strict=True)):
            if size > len(growth.steps) or not valid:
                break
            good[size] += error <= limit
            if size < len(growth.steps):
                step = growth.steps[size]
                valid = not walk.space.is_pure(leaves[step.leaf])
                leaves += walk.problem.children(leaves[step.leaf], step.position)
    return [count / runs for count in good]


def _reached(walk: Walk, limits: tuple[Fraction, ...]) -> list[int | None]:
    """By size, the number of good trees that some choice of ties reaches."""
    # a shape is nested: a leaf and its birth, or both children and the leaves that these were
    shapes: dict[Any, int] = {(walk.root, 0): 1}
    counts: list[int | None] = []
    seen = 0
    for size, limit in enumerate(limits):
        seen += len(shapes)
        if seen > MOST_STATES:
            return counts + [None] * (len(limits) - size)
        leaves = {shape: tuple(_leaves_of(shape)) for shape in shapes}
        counts.append(
            sum(
                count
                for shape, count in shapes.items()
                if _error(walk, tuple(leaf for _, leaf in leaves[shape])) <= limit
            )
        )
        after: dict[Any, int] = {}
        for shape, count in shapes.items():
            here = leaves[shape]
            for place in walk.choices(tuple(leaf for _, leaf in here)):
                path, (leaf, _) = here[place]
                opening = walk.opening(leaf)
                assert opening is not None
                if opening.valid:
                    births = (2 * size + 3, 2 * size + 2) if walk.births else (0, 0)
                    for low, high, tests in opening.ways:
                        split = (low, births[0]), (high, births[1]), (low, high)
                        after[_replaced(shape, path, split)] = count * tests
        shapes = after
    return counts


def _leaves_of(shape: Any, path: tuple[int, ...] = ()) -> Any:
    """The leaves of a shape with their paths."""
    if len(shape) == 2:
        yield path, shape
        return
    for side in range(2):
        yield from _leaves_of(shape[side], (*path, side))


def _replaced(shape: Any, path: tuple[int, ...], split: Any) -> Any:
    """A shape with a leaf replaced."""
    if not path:
        return split
    side = path[0]
    child = _replaced(shape[side], path[1:], split)
    return (child, *shape[1:]) if side == 0 else (shape[0], child, shape[2])
