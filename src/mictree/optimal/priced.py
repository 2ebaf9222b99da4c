"""The tree with the least sum of wrong weight and price of splits, whatever its size; on 0/1 rows.

A sub-problem is a set of rows alone, not rows and a budget, so there are far fewer of them. Costs
are integers: a unit of wrong weight costs ``unit``, a split ``step``, with price = step / unit.

Counting all pairs of literals, as in ``bit_search``, gives the least errors with 0, 1 and 2 splits,
and those of every child with 0 and 1. Three splits cost at least three prices and the floor under
the error. So rows whose leaf errs little more than that are never split, and a child is asked only
if it may be cheaper than with one split.

Invariant: ``lower[level, side, literal]`` is at most the least cost of that child of the frame's
rows, and equal to it where ``exact[level, side, literal]`` is set.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import atomic_add, inner_jit, jit
from mictree.optimal.bit_search import (
    common_weight,
    count,
    descend,
    hash_children,
    leaf_error,
    least_errors,
    sort_literals,
    start,
)
from mictree.optimal.questions import (
    EXACT_BUDGETS,
    FOUND,
    NEXT,
    PLAIN,
    RUN,
    STATUS,
    UNLIMITED,
    VISITED,
    FirstTest,
    Question,
    Table,
    Workers,
    find,
    finish_key,
    make_driver,
    put,
    remember,
    unchanged,
)
from mictree.optimal.rows import Data, Frames, Leaf, Rows, frame_bytes, make_frames

SHARES = (Fraction(4, 5), Fraction(9, 10), Fraction(1))  # of the known cost, one after another
LARGEST_COST = 2**60  # of which sums still fit 64 bits


class PricedData(NamedTuple):
    """The rows, and what a split and a unit of wrong weight cost."""

    rows: Data
    step: int
    unit: int


class PricedFrames(NamedTuple):
    """One worker's frames, and what they say of both children of each literal."""

    levels: np.ndarray  # those of the frames
    frames: Frames
    lower: np.ndarray  # (levels, 2, literals): bounds of their costs
    exact: np.ndarray  # (levels, 2, literals): whether these are their costs


class PricedEngine:
    """Answers questions about costs, for which budgets and depths mean nothing.

    Attributes
    ----------
    data : with the price; a wrong weight costs ``unit``
    levels : the most tests on a path
    """

    patience: tuple[int, ...] = ()

    def __init__(self, rows: Rows, price: Fraction, levels: int) -> None:
        self.rows, self.levels = rows, levels
        self.data = PricedData(rows.data, price.numerator, price.denominator)
        self.budgets, self.bytes = 0, levels * frame_bytes(rows.data, 1)
        self.bytes += levels * 18 * len(rows.data.columns)

    def __str__(self) -> str:
        return f"{len(self.rows.kept)} literals and {self.levels} levels"

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Nothing to choose: the price limits trees."""

    def make_frames(self) -> PricedFrames:
        """Frames for one worker."""
        shape = self.levels, 2, len(self.rows.data.columns)
        frames = make_frames(self.rows.data, 1, self.levels)
        lower, exact = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
        return PricedFrames(frames.levels, frames, lower, exact)

    def leaf(self, members: np.ndarray) -> Leaf:
        """The heaviest class of some rows, and the cost of the others."""
        label, wrong = self.rows.leaf(members)
        return Leaf(label, wrong * self.data.unit)

    def ask(
        self, members: np.ndarray, question: Question, table: Table, frames: PricedFrames,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """The least cost of some rows, if it is below the bound."""
        frames.frames.mask[0] = self.rows.mask(members)
        return solve_priced(question, self.data, table, frames, control)

    def trace(self, frames: PricedFrames, budget: int, cost: int) -> FirstTest:
        """The first test of a tree that attains the cost just asked for."""
        least = frames.frames.least[0].astype(np.int64)
        cheap = np.minimum(least[0] * self.data.unit, least[1] * self.data.unit + self.data.step)
        whole = self.data.step + cheap.sum(axis=0)
        attained = np.flatnonzero((least[0, 0] >= 0) & (whole == cost))
        if len(attained):  # by at most one split in each child
            literal, costs = int(attained[0]), cheap
        else:
            literal = int(frames.frames.order[0, 0, frames.levels[0].position])
            costs = frames.lower[0]
        parts = int(costs[0, literal]), int(costs[1, literal])
        return FirstTest(int(self.rows.kept[literal]), (budget, budget), parts, (None, None))


class Priced(NamedTuple):
    """What a search for the least cost has found.

    Attributes
    ----------
    least : a lower bound of the cost of every tree, in units of ``PricedEngine``
    nested : a tree that attains it; None if no tree costs less than the bound of the search
    """

    least: int
    nested: Any


class PricedSearch:
    """A search for the least cost, below the cost of a tree that is known already."""

    def __init__(self, rows: Rows, price: Fraction, bound: int, memory: int) -> None:
        literals = len(rows.data.columns)
        levels = min(literals, bound // price.numerator) + 1  # each test is constant below itself
        self.bound = bound
        engine = PricedEngine(rows, price, levels)
        self.workers = Workers(engine, 0, UNLIMITED, memory, answers=np.dtype(np.int64))

    def run(self) -> Priced | None:
        """The least cost and its tree; None when it had to stop."""
        workers = self.workers
        with workers.running():
            for share in SHARES:
                bound = int(self.bound * share)
                found = workers.find(workers.rows.everything, UNLIMITED, bound, UNLIMITED)
                if found is None:
                    return None
                if found[0] < bound:
                    return Priced(*found)
            return Priced(self.bound, None)


@jit
def solve_priced(question, data, table, frames, control):
    """The least cost of the rows in ``frames.mask[0]``, if it is below the bound; see ``Asks``.

    To trace is to find a tree whose cost is known to be just below the bound.
    """
    level, at = np.int64(0), frames.levels[0]
    start(data.rows, frames.frames)
    _ask(at, question.bound, data.unit)
    if question.wanted != PLAIN:
        at.goal = question.bound - 1
    at.position = atomic_add(control, NEXT, 1)
    return _drive(level, data, table, frames, control)


@inner_jit
def _ask(at, bound, unit):
    """Put a question to a frame whose rows are in place."""
    put(at, np.int64(0), bound, np.int64(UNLIMITED))
    at.goal, at.position, at.looked_up, at.counted_sizes = at.floor * unit, 0, 0, 0


@inner_jit
def _look(level, data, table, frames, control):
    """Whether no split can pay, or there is no time to look; and the answer."""
    cost = leaf_error(level, frames.frames) * data.unit
    least = frames.levels[level].floor * data.unit + data.step
    if cost <= least or control[STATUS] != RUN:
        return True, cost
    if count(level, data.rows, frames.frames):
        least_errors(level, frames.frames)
    return _answer_by_counts(level, data.step, data.unit, table, frames, control)


@inner_jit
def _answer_by_counts(level, step, unit, table, frames, control):
    """Whether the pair counts suffice for an answer; and the answer."""
    at = frames.levels[level]
    atomic_add(control, VISITED, 1)
    at.best = at.errors[0] * unit
    for splits in range(1, 4):
        at.best = min(at.best, at.errors[splits] * unit + splits * step)
    at.limit = min(at.bound, at.best)
    answer = min(at.best, at.floor * unit + 3 * step)  # with more splits than were counted
    answered = at.best <= max(at.goal, answer) or answer >= at.bound
    if answered:
        answer = at.best if at.best <= at.goal else answer
        if level > 0:
            remember(at, answer, answer == at.best, table, control)
    else:
        _fill_bounds(level, step, unit, frames.frames, frames.lower, frames.exact)
        sort_literals(level, frames.lower[level], frames.frames)
        at.tried, at.refuted = 0, at.best
    return answered, answer


@inner_jit
def _fill_bounds(level, step, unit, frames, lower, exact):
    """Fill the bounds of the children of all literals that split the rows."""
    least = frames.least
    for literal in range(least.shape[3]):
        if least[level, 0, 0, literal] < 0:
            continue
        for side in range(2):
            leaf = np.int64(least[level, 0, side, literal]) * unit
            cheap = min(leaf, np.int64(least[level, 1, side, literal]) * unit + step)
            more = np.int64(least[level, 2, side, literal]) * unit + 2 * step
            lower[level, side, literal] = min(cheap, more)
            exact[level, side, literal] = cheap <= more


@inner_jit
def _take(level, answer, data, frames):
    """Note a child's answer."""
    at, lower = frames.levels[level], frames.lower
    literal = frames.frames.order[level, 0, at.position]
    lower[level, at.side, literal] = max(lower[level, at.side, literal], answer)
    if answer < frames.levels[level + 1].bound:
        frames.exact[level, at.side, literal] = True


@inner_jit
def _advance(level, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    pairs, lower, exact = frames.frames, frames.lower, frames.exact
    at, step, unit = frames.levels[level], data.step, data.unit
    while at.position < at.useful and at.limit > at.goal:
        literal = pairs.order[level, 0, at.position]
        if level == 0:
            at.limit = min(at.limit, control[FOUND])
        if (
            not at.looked_up
            and step + lower[level, 0, literal] + lower[level, 1, literal] < at.limit
        ):
            hash_children(level, literal, data.rows, pairs)
            _look_up(level, literal, table, pairs, lower, exact)
            _compare(level, literal, unit, pairs, lower)
            at.looked_up = 1
        cost = step + lower[level, 0, literal] + lower[level, 1, literal]
        if cost < at.limit and exact[level, 0, literal] and exact[level, 1, literal]:
            at.limit = cost
            if level == 0:
                control[FOUND] = min(control[FOUND], cost)
            continue
        if cost < at.limit:
            smaller = at.smaller  # answers sooner
            at.side = 1 - smaller if exact[level, smaller, literal] else smaller
            descend(level, literal, data.rows, pairs)
            rest = at.limit - cost + lower[level, at.side, literal]
            _ask(frames.levels[level + 1], rest, unit)
            return True
        at.refuted = min(at.refuted, cost)
        if at.looked_up:
            pairs.order[level, 1, at.tried] = literal
            at.tried += 1
        at.position = atomic_add(control, NEXT, 1) if level == 0 else at.position + 1
        at.looked_up = 0
    return False


_drive = make_driver(_look, _advance, _take)


@inner_jit
def _look_up(level, literal, table, frames, lower, exact):
    """Raise both children's bounds to those in the table."""
    for side in range(2):
        child = frames.children[level, side]
        key = finish_key(child.key_high, child.key_low, UNLIMITED)
        place, version = find(key[0], key[1], table.entries)
        if place < 0:
            continue
        bound, known = table.lower[place, 0], table.entries[place, EXACT_BUDGETS] != 0
        if unchanged(place, version, table.entries):
            lower[level, side, literal] = max(lower[level, side, literal], bound)
            exact[level, side, literal] |= known


@inner_jit
def _compare(level, literal, unit, frames, lower):
    """Raise the bounds of a literal's children by those of similar children.

    A row set that lacks some rows of another costs at least what the other costs less their weight.
    """
    at, held = frames.levels[level], frames.held
    classes = frames.totals.shape[1]
    mass = held[level, classes, literal]
    for number in range(at.tried):
        other = frames.order[level, 1, number]
        lacked = np.int64(mass - common_weight(level, literal, other, frames))  # by the low child
        for side in range(2):
            bound = lower[level, side, other] - lacked * unit
            lower[level, side, literal] = max(lower[level, side, literal], bound)
            lacked += np.int64(held[level, classes, other]) - np.int64(mass)
