"""The states of data below which trees are counted: sets of rows.

Rows with equal inputs are one point, with the sum of their costs for each action. A test divides
the points of a state; thresholds between two neighbouring values are one test, and so are two
categories that are all there is. ``good_pairs`` counts trees of these states.

Invariant: a cut of an ordered column has more points above it than the next cut of the column, so
cuts that divide a child alike are neighbours with as many of its points above.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import TooLarge
from mictree.optimal.costs import Actions, Written
from mictree.optimal.good_counting import (
    NOTHING,
    Barred,
    Branch,
    Ends,
    Space,
    State,
    keep,
)
from mictree.optimal.rows import build, row_slots, to_integers
from mictree.problems.base import Leaf
from mictree.problems.sample import SampleProblem, unpack
from mictree.problems.tasks import Squared
from mictree.tree import Tree

MOST_SUM = 2**53  # of costs and weights
BYTES_EACH = 12  # of a test of a row, at most
BYTES_OF_SUM = 32  # of a row, or of a test, for each action
BYTES_OF_PAIR = 40  # of a pair of tests, for each action
BLOCK = 2**22  # pairs of tests that are looked at together
SCREENED = 1e-9  # of the sum of squares: far more than the rounding of costs in floats


class Column(NamedTuple):
    """What the tests of a column read of each point.

    Either ranks, of which the missing value is 0, or the bits of its literals, which are disjoint.
    """

    number: int
    ranks: np.ndarray | None
    bits: np.ndarray  # (literals, points)
    literals: np.ndarray  # of the bits; for ranks the literal of rank 0, then that of "is missing"


class Tests(NamedTuple):
    """The tests of a state: one for each way in which a column divides its points."""

    members: np.ndarray  # the points
    upper: np.ndarray  # (tests, members): above the cut, or the literal holds
    literal: np.ndarray
    flipped: np.ndarray  # the literal holds below the cut: "is missing"
    column: np.ndarray  # the place of each test's column
    cut: np.ndarray  # whether that has ranks
    sums: np.ndarray  # (kinds, members)
    totals: np.ndarray  # (kinds,)
    below: np.ndarray  # (kinds, tests): sums below the cut
    above: np.ndarray

    def only(self, some: np.ndarray, points: Any) -> Tests:
        """Some of the tests, of some points, with the sums of all."""
        return self._replace(
            upper=self.upper[some][:, points], literal=self.literal[some],
            flipped=self.flipped[some], column=self.column[some], cut=self.cut[some],
        )  # fmt: skip


class Costs(ABC):
    """What points cost as leaves.

    Attributes
    ----------
    sums : (kinds, points): what adds up
    unit, offset : of errors; see ``Space``
    """

    sums: np.ndarray
    unit: Any
    offset: Fraction = Fraction(0)

    @abstractmethod
    def leaf(self, sums: np.ndarray) -> tuple[Any, Any]:
        """The label of some points with these sums, and what they cost, exactly."""

    def labels(self, sums: np.ndarray) -> np.ndarray:
        """The labels of many sets of points, from their sums in columns."""
        return np.array([self.leaf(each)[0] for each in sums.T], dtype=object)

    @abstractmethod
    def screen(self, sums: np.ndarray) -> np.ndarray:
        """The costs of many sets of points, perhaps rounded, from sums along the last axes."""

    @abstractmethod
    def floor(self, limit: Fraction) -> Any:
        """The largest cost that is within a limit."""

    slack: float = 0.0  # by how much a screened cost may be wrong


class ActionSums(Costs):
    """Costs by action, whole numbers: errors are the costs of labels."""

    def __init__(self, costs: np.ndarray, unit: Any, offset: Fraction) -> None:
        self.sums, self.unit, self.offset = costs.T.copy(), unit, offset

    @classmethod
    def of(cls, problem: SampleProblem) -> ActionSums:
        if not problem.counts_errors:
            costs, rounded, scale = Actions.of(problem)
            if rounded is None and costs.max(axis=1, initial=0).sum() < MOST_SUM:
                return cls(costs, scale.total, scale.offset)
        else:
            slots = row_slots(problem)
            codes = np.repeat(np.arange(len(problem.classes)), problem.class_rows)
            weights = problem.weights[slots] if len(problem.weights) else np.ones(len(slots))
            integers, rounded = to_integers(weights, codes, problem.class_weight, True)
            if rounded is None and integers.sum() < MOST_SUM:
                costs = np.repeat(integers[:, None], len(problem.classes), axis=1)
                costs[np.arange(len(codes)), codes] = 0
                return cls(costs, int(integers.sum()), Fraction(0))
        raise ValueError(
            "good trees are counted by exact errors: costs and weights must be multiples of a "
            "unit, with sums of at most 53 binary digits"
        )

    def leaf(self, sums: np.ndarray) -> tuple[int, int]:
        label = int(sums.argmin())
        return label, int(sums[label])

    def labels(self, sums: np.ndarray) -> np.ndarray:
        return sums.argmin(axis=0)

    def screen(self, sums: np.ndarray) -> np.ndarray:
        return sums.min(axis=0)

    def floor(self, limit: Fraction) -> int:
        return math.floor(limit)


class NumberSums(Costs):
    """Weight, weighted label and its square: errors are squares of the distance from the mean."""

    def __init__(self, problem: SampleProblem) -> None:
        written = self.written = Written.of(problem)
        weights, labels = (each.astype(object) for each in (written.weights, written.labels))
        self.sums = np.stack([weights, weights * labels, weights * labels * labels])
        self.unit = sum(weights.tolist()) / written.label_unit**2
        self.slack = SCREENED * float(sum(self.sums[2].tolist()))

    def leaf(self, sums: np.ndarray) -> tuple[float, Fraction]:
        weight, total, squares = map(int, sums)
        mean = Fraction(total, weight)
        return float(mean * self.written.label_unit + self.written.centre), squares - total * mean

    def screen(self, sums: np.ndarray) -> np.ndarray:
        weight, total, squares = sums.astype(float)
        return squares - total * total / np.maximum(weight, 1)

    def floor(self, limit: Fraction) -> Fraction:
        return limit


class RowSpace(Space):
    """Sets of points, as packed bits, and the barred columns."""

    def __init__(self, problem: SampleProblem, memory_limit: int) -> None:
        self.problem = problem
        self._check_room(memory_limit)
        self.variables = tuple(column.name for column in problem.literals.columns)
        squared = isinstance(problem.task, Squared)
        self.costs: Costs = NumberSums(problem) if squared else ActionSums.of(problem)
        self.unit, self.offset = self.costs.unit, self.costs.offset
        slots = row_slots(problem)
        columns = list(_columns(problem, slots))
        inputs = np.concatenate(
            [each.bits if each.ranks is None else each.ranks[None] for each in columns]
            or [np.zeros((1, len(slots)))]
        )
        _, chosen, group = np.unique(
            inputs.astype(np.int64), axis=1, return_index=True, return_inverse=True
        )
        self.point_of = group.ravel()
        rows, self.points = self.costs.sums, len(chosen)
        self.sums = np.zeros((len(rows), self.points), dtype=rows.dtype)
        for kind, each in enumerate(rows):
            np.add.at(self.sums[kind], self.point_of, each)
        self.columns = [
            each._replace(
                ranks=None if each.ranks is None else each.ranks[chosen], bits=each.bits[:, chosen]
            )
            for each in columns
        ]
        self._tests: tuple[State, Tests] | None = None
        self._labels: dict[State, Any] = {}

    def _count_kinds(self) -> int:
        """How many sums a set of points has: one for each action."""
        task = self.problem.task
        return len(getattr(task, "actions", self.problem.classes))

    def _check_room(self, memory_limit: int) -> None:
        """Refuse a table whose tests, of all rows at once, would not fit."""
        problem, rows = self.problem, int(self.problem.class_rows.sum())
        tests = len(problem.bits) + sum(int(ranks.max(initial=0)) for ranks in problem.ranks)
        kinds = max(3, self._count_kinds())
        sums = BYTES_OF_SUM * kinds * (rows + tests)
        pairs = BYTES_OF_PAIR * max(kinds * tests, min(BLOCK, kinds * tests**2))
        needed = BYTES_EACH * tests * rows + sums + pairs
        if needed > memory_limit:
            fits = memory_limit // (BYTES_EACH * rows * max(1, len(problem.literals.columns)))
            advice = f"max_thresholds={fits} would fit" if fits else "use fewer rows"
            raise TooLarge(
                f"good trees must fit into memory_limit, {memory_limit / 2**30:.3g} GiB; "
                f"{tests:,} tests of {rows:,} rows need {needed / 2**30:.3g} GiB: {advice}"
            )

    def floor(self, error: Fraction) -> Any:
        return self.costs.floor((error - self.offset) * self.unit)

    def root(self, barred: Barred = NOTHING) -> State:
        return self.pack(np.arange(self.points)), barred

    def start(self) -> Any:
        return self.root()

    def without(self, barred: Barred) -> SampleProblem:
        """The problem with barred columns that are constant."""
        problem, literals = copy.copy(self.problem), self.problem.literals
        owner = np.array([literals.locate(each)[0] for each in literals.stored_bits.tolist()])
        problem.bits = problem.bits.copy()
        problem.bits[np.isin(owner, list(barred))] = 0
        problem.ranks = tuple(
            np.zeros_like(ranks) if number in barred else ranks
            for number, ranks in zip(literals.ordered, problem.ranks, strict=True)
        )
        return problem

    def pack(self, members: np.ndarray) -> bytes:
        """The bits of some points."""
        held = np.zeros(self.points, dtype=bool)
        held[members] = True
        return np.packbits(held).tobytes()

    def members(self, state: Any) -> np.ndarray:
        """The points of a state."""
        bits = np.unpackbits(np.frombuffer(state[0], dtype=np.uint8), count=self.points)
        return np.flatnonzero(bits)

    def leaf(self, state: Any) -> tuple[Any, bool]:
        cost = self.cost(self.members(state))
        return cost, cost == 0

    def cost(self, members: np.ndarray) -> Any:
        """What some points cost as a leaf, exactly."""
        return self.costs.leaf(self.sums[:, members].sum(axis=1))[1]

    def state_of(self, leaf: Leaf) -> State:
        here = unpack(leaf.state.mask)[self.problem.slots].astype(bool)
        return self.pack(self.point_of[here]), NOTHING

    def label(self, place: Any) -> Any:
        if place not in self._labels:
            sums = self.sums[:, self.members(place)].sum(axis=1)
            keep(self._labels, place, self.costs.leaf(sums)[0])
        return self._labels[place]

    def tests(self, state: Any) -> Tests:
        """The tests of a state; those of the last one are kept."""
        if self._tests is None or self._tests[0] != state:
            self._tests = state, self._find_tests(state)
        return self._tests[1]

    def _find_tests(self, state: Any) -> Tests:
        """Those of the root's tests that divide a state, each in its own way."""
        members, barred = self.members(state), list(state[1])
        numbers = np.array([each.number for each in self.columns], dtype=np.int64)
        everything = self._every_test
        tested = np.flatnonzero(~np.isin(numbers[everything.column], barred))
        every = everything.only(tested, members)
        held = every.upper.sum(axis=1)
        kept = divides(held[None], np.array([[len(members)]]), every)[0]
        some = every.only(np.flatnonzero(kept), slice(None))
        sums = self.sums[:, members]
        above = sums @ some.upper.T.astype(sums.dtype)
        totals = sums.sum(axis=1)
        return some._replace(
            members=members, sums=sums, totals=totals, below=totals[:, None] - above, above=above
        )

    @cached_property
    def _every_test(self) -> Tests:
        """The tests of the root, without sums."""
        members = np.arange(self.points)
        upper, literal, flipped, column = [], [], [], []
        for place, each in enumerate(self.columns):
            parts = _bits(each) if each.ranks is None else _cuts(each)
            upper += parts[0]
            literal += parts[1]
            flipped += parts[2]
            column += [place] * len(parts[1])
        nothing = np.empty((0, 0))
        return Tests(
            members, np.array(upper, dtype=bool).reshape(len(upper), len(members)),
            np.array(literal, dtype=np.int64), np.array(flipped, dtype=bool),
            np.array(column, dtype=np.int64),
            np.array([self.columns[place].ranks is not None for place in column], dtype=bool),
            nothing, nothing, nothing, nothing,
        )  # fmt: skip

    def branch(self, state: Any, tests: Tests, number: int) -> Branch:
        """One test of a state."""
        rows, barred = tests.upper[number], state[1]
        below, above = self.pack(tests.members[~rows]), self.pack(tests.members[rows])
        return Branch(
            (int(tests.literal[number]), bool(tests.flipped[number])), 1, (below, barred),
            (above, barred),
        )  # fmt: skip

    def branches(self, state: Any) -> Sequence[Branch]:
        tests = self.tests(state)
        return [self.branch(state, tests, number) for number in range(len(tests.literal))]

    def ends(self, place: Any, branch: Branch) -> Sequence[Ends]:
        literal, flipped = branch.kind
        low, high = (state[0] for state in (branch.low, branch.high))
        if flipped:
            low, high = high, low
        return (Ends(literal, (low, NOTHING), (high, NOTHING), flipped),)

    def tree(self, nested: Any) -> Tree:
        return build(self.problem, nested)


def _columns(problem: SampleProblem, slots: np.ndarray) -> Iterator[Column]:
    """All columns that have a test."""
    literals = problem.literals
    for number, column in enumerate(literals.columns):
        start = literals.starts[number]
        if number in literals.ordered:
            ranks = problem.ranks[literals.ordered.index(number)].astype(np.int64)
            missing = start + column.thresholds if column.missing else -1
            kinds = np.array([start - column.missing, missing])
            yield Column(number, ranks, np.empty((0, len(ranks)), dtype=bool), kinds)
            continue
        stop = literals.starts[number + 1] if number + 1 < len(literals.starts) else len(literals)
        positions = np.arange(start, stop)
        words = problem.bits_of(positions)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, slots]
        yield Column(number, None, bits.astype(bool), positions)


Parts = tuple[list[np.ndarray], list[int], list[bool]]


def _cuts(column: Column) -> Parts:
    """The cuts between the ranks of all points, the one above "missing" first."""
    assert column.ranks is not None
    ranks = column.ranks
    first, is_missing = column.literals.tolist()
    upper, literal, flipped = [], [], []
    for rank in np.unique(ranks)[:-1].tolist():
        upper.append(ranks > rank)
        flipped.append(is_missing >= 0 and rank == 0)
        literal.append(is_missing if flipped[-1] else first + rank)
    return upper, literal, flipped


def _bits(column: Column) -> Parts:
    """The literals of a column; those that hold for no point, or for all, divide nothing."""
    return list(column.bits), column.literals.tolist(), [False] * len(column.literals)


def divides(held: np.ndarray, sizes: np.ndarray, tests: Tests) -> np.ndarray:
    """Whether tests divide children of some sizes, given how many of their points they hold for.

    Of several tests of a column that divide a child alike only the first does. Cuts hold for fewer
    points one after another; literals of a category hold for different points, so two of them
    divide alike only where they are all there is.
    """
    divides = (held > 0) & (held < sizes)
    alike = np.zeros(divides.shape, dtype=bool)
    neighbours = tests.cut[1:] & (tests.column[1:] == tests.column[:-1])
    alike[:, 1:] = neighbours & (held[:, 1:] == held[:, :-1])
    for place in np.unique(tests.column[~tests.cut]):
        mine = np.flatnonzero(tests.column == place)
        if len(mine) > 1:
            present = divides[:, mine]
            all_there_is = (present.sum(axis=1) == 2) & (held[:, mine].sum(axis=1) == sizes[:, 0])
            alike[:, mine] = all_there_is[:, None] & (present.cumsum(axis=1) == 2)
    return divides & ~alike
