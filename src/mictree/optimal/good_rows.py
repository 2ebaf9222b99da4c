"""The states of data below which trees are counted: sets of rows.

Rows with equal inputs are one point, with the sum of their costs for each action. A test divides
the points of a state; thresholds between two neighbouring values are one test, and so are two
categories that are all there is. Trees with one and two splits are not walked: with the costs of
all pairs of tests, which are a product of matrices, they are counted at once. For more splits the
search that finds optimal trees says what the children need at least, and few tests remain.

Invariant: a cut of an ordered column has more points above it than the next cut of the column, so
cuts that divide a child alike are neighbours with as many of its points above.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mictree.optimal.frontier import choose_strategy
from mictree.optimal.good_counting import Counting, Share, Spectrum, Stopped, Watch
from mictree.optimal.good_spaces import NOTHING, Barred, Branch, Ends, Space, State
from mictree.optimal.questions import UNLIMITED, Workers
from mictree.optimal.rows import build, row_slots, to_integers
from mictree.problems.base import Leaf
from mictree.problems.sample import SampleProblem, unpack
from mictree.tree import Tree

FAR = 2**61  # above every error, and two of them still fit 64 bits
BLOCK = 2**22  # pairs of tests that are looked at together
MOST_ASKED = 8  # splits of the trees that are asked about; of larger ones a bound for these holds
EXACT = 2**24  # float32 holds all whole numbers up to here


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
    costs: np.ndarray  # (actions, members)
    totals: np.ndarray  # (actions,)
    below: np.ndarray  # (actions, tests): costs below the cut
    above: np.ndarray


class RowSpace(Space):
    """Sets of points, as packed bits, and the barred column."""

    def __init__(self, problem: SampleProblem) -> None:
        self.problem = problem
        literals = problem.literals
        self.variables = tuple(column.name for column in literals.columns)
        slots = row_slots(problem)
        codes = np.repeat(np.arange(len(problem.classes)), problem.class_rows)
        weights = problem.weights[slots] if len(problem.weights) else np.ones(len(slots))
        integers, rounded = to_integers(weights, codes, problem.class_weight, True)
        if rounded is not None:
            raise ValueError(
                "trees are counted by exact errors; the weights must have a sum of at most 62 "
                "binary digits in units that divide them all"
            )
        costs = np.repeat(integers[:, None], len(problem.classes), axis=1)
        costs[np.arange(len(codes)), codes] = 0
        self.unit = int(integers.sum())
        columns = list(_columns(problem, slots))
        inputs = np.concatenate(
            [each.bits if each.ranks is None else each.ranks[None] for each in columns]
            or [np.zeros((1, len(codes)))]
        )
        _, chosen, self.point_of = np.unique(
            inputs.astype(np.int64), axis=1, return_index=True, return_inverse=True
        )
        self.point_of = self.point_of.ravel()
        self.costs = np.zeros((len(chosen), costs.shape[1]), dtype=np.int64)
        np.add.at(self.costs, self.point_of, costs)
        self.columns = [
            each._replace(
                ranks=None if each.ranks is None else each.ranks[chosen], bits=each.bits[:, chosen]
            )
            for each in columns
        ]
        self.points = len(chosen)
        self._tests: tuple[State, Tests] | None = None

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

    def leaf(self, state: Any) -> tuple[int, bool]:
        error = int(self.costs[self.members(state)].sum(axis=0).min())
        return error, error == 0

    def state_of(self, leaf: Leaf) -> State:
        here = unpack(leaf.state.mask)[self.problem.slots].astype(bool)
        return self.pack(self.point_of[here]), NOTHING

    def label(self, place: Any) -> int:
        return int(self.costs[self.members(place)].sum(axis=0).argmin())

    def tests(self, state: Any) -> Tests:
        """The tests of a state; those of the last one are kept."""
        if self._tests is None or self._tests[0] != state:
            self._tests = state, self._find_tests(state)
        return self._tests[1]

    def _find_tests(self, state: Any) -> Tests:
        members = self.members(state)
        upper, literal, flipped, column = [], [], [], []
        for place, each in enumerate(self.columns):
            if each.number in state[1]:
                continue
            parts = _bits(each, members) if each.ranks is None else _cuts(each, members)
            upper += parts[0]
            literal += parts[1]
            flipped += parts[2]
            column += [place] * len(parts[1])
        above_rows = np.array(upper, dtype=bool).reshape(len(upper), len(members))
        costs = self.costs[members].T
        above = costs @ above_rows.T.astype(np.int64)
        totals = costs.sum(axis=1)
        return Tests(
            members, above_rows, np.array(literal, dtype=np.int64), np.array(flipped, dtype=bool),
            np.array(column, dtype=np.int64),
            np.array([self.columns[place].ranks is not None for place in column], dtype=bool),
            costs, totals, totals[:, None] - above, above,
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

    def barred_branch(self, state: Any) -> Branch | None:
        return None  # least errors of trees with a column are those of good trees

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


def _cuts(column: Column, members: np.ndarray) -> Parts:
    """The cuts between the ranks of some points, the one above "missing" first."""
    assert column.ranks is not None
    ranks = column.ranks[members]
    first, is_missing = column.literals.tolist()
    upper, literal, flipped = [], [], []
    for rank in np.unique(ranks)[:-1].tolist():
        upper.append(ranks > rank)
        flipped.append(is_missing >= 0 and rank == 0)
        literal.append(is_missing if flipped[-1] else first + rank)
    return upper, literal, flipped


def _bits(column: Column, members: np.ndarray) -> Parts:
    """The literals that divide some points; of two that are all there is, the first."""
    bits = column.bits[:, members]
    counts = bits.sum(axis=1)
    divides = np.flatnonzero((counts > 0) & (counts < len(members)))
    if len(divides) == 2 and counts.sum() == len(members):
        divides = divides[:1]
    return list(bits[divides]), column.literals[divides].tolist(), [False] * len(divides)


# the least error of some points with at most so many splits, as far as it is below a bound
Ask = Callable[[np.ndarray, int, int], int]


class RowCounting(Counting):
    """Spectra of sets of points; ``ask`` bounds the errors of larger trees from below."""

    space: RowSpace

    def __init__(
        self, space: RowSpace, ask: Ask, barred: Barred = NOTHING, watch: Watch | None = None
    ) -> None:
        super().__init__(space, barred, watch)
        self._ask = ask

    def least(self, state: Any, size: int) -> int | None:
        """A lower bound of the error; what was asked is not asked again."""
        if size == 0:
            return self.space.leaf(state)[0]
        return self._least.get((state, size), 0)

    def _bound(self, members: np.ndarray, state: State, size: int, needed: int) -> int:
        """A lower bound of the least error, as far as it is below what is needed."""
        known = self._least.get((state, size), 0)
        if known is None or known >= needed:
            return needed
        self.watch.look(1)
        bound = self._least[state, size] = max(known, self._ask(members, size, needed))
        return bound

    def _count(self, state: Any, size: int, limit: int) -> Spectrum:
        if size > 2:
            return super()._count(state, size, limit)
        found: Spectrum = {}
        if state == self.root:
            self.found = found
        if self.space.leaf(state)[1]:
            return found
        tests = self.space.tests(state)
        below, above = tests.below.min(axis=0), tests.above.min(axis=0)
        if size == 1:
            _tally(below + above, limit, found)
        else:
            for block, low, high in _pairs(tests):
                _tally(low + above[block, None], limit, found)
                _tally(below[block, None] + high, limit, found)
                self.watch.look(1)
        self.watch.look(len(found))
        return found

    def shares(self, state: Any, size: int, limit: int) -> Iterator[Share]:
        """As of every space; children with one split are counted by pairs of tests."""
        space = self.space
        if size == 0 or space.leaf(state)[1]:
            return
        tests = space.tests(state)
        below, above = tests.below.min(axis=0), tests.above.min(axis=0)
        ones = _Ones.of(tests) if size > 1 else None
        for number in range(len(tests.literal)):
            branch: Branch | None = None
            leaves = {0: (int(below[number]), int(above[number]))}
            for low_size in range(size):
                sizes = low_size, size - 1 - low_size
                needs = [0, 0]
                for side, splits in enumerate(sizes):
                    if splits == 0:
                        needs[side] = leaves[0][side]
                    elif splits == 1:
                        assert ones is not None
                        needs[side] = int(ones.least[side, number])
                if sum(needs) > limit:
                    continue
                branch = branch or space.branch(state, tests, number)
                children = branch.low, branch.high
                rows = tests.upper[number]
                for side in sorted((0, 1), key=lambda side: sizes[side]):
                    if sizes[side] > 1 and sum(needs) <= limit:
                        members = tests.members[rows if side else ~rows]
                        needed = limit - needs[1 - side] + 1
                        needs[side] = self._bound(members, children[side], sizes[side], needed)
                if sum(needs) > limit:
                    continue
                spectra: list[Spectrum] = []
                for side in range(2):
                    room = limit - needs[1 - side]
                    if sizes[side] == 1:
                        assert ones is not None
                        spectra.append(ones.spectrum(side, number, room))
                    else:
                        spectra.append(self.spectrum(children[side], sizes[side], room))
                if all(spectra):
                    yield Share(branch, low_size, *spectra)


def _tally(errors: np.ndarray, limit: int, found: Spectrum) -> None:
    """Count errors up to a limit."""
    for error, count in zip(
        *(part.tolist() for part in np.unique(errors[errors <= limit], return_counts=True)),
        strict=True,
    ):
        found[error] = found.get(error, 0) + count


@dataclass
class _Ones:
    """Errors of both children of all tests with one more split.

    Attributes
    ----------
    least : (2, tests)
    """

    tests: Tests
    least: np.ndarray

    @classmethod
    def of(cls, tests: Tests) -> _Ones:
        least = np.full((2, len(tests.literal)), FAR)
        for block, low, high in _pairs(tests):
            if low.shape[1]:
                least[0, block], least[1, block] = low.min(axis=1), high.min(axis=1)
        return cls(tests, least)

    def spectrum(self, side: int, number: int, limit: int) -> Spectrum:
        """Of one child."""
        found: Spectrum = {}
        for _, *sides in _pairs(self.tests, slice(number, number + 1)):
            _tally(sides[side], limit, found)
        return found


def _pairs(
    tests: Tests, only: slice | None = None
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """For blocks of tests, the errors of both children with each test as their one split.

    An error is FAR where the test does not divide the child, or as one before it of its column, and
    where the child is pure.
    """
    count = len(tests.literal)
    step = max(1, BLOCK // max(1, count))
    whole = slice(0, count) if only is None else only
    kind = np.float32 if max(tests.totals.max(initial=0), len(tests.members)) < EXACT else float
    upper = tests.upper.astype(kind)
    numbers = tests.upper.sum(axis=1)
    for begin in range(whole.start, whole.stop, step):
        block = slice(begin, min(whole.stop, begin + step))
        low, low_rest, high, high_rest = np.full((4, block.stop - begin, count), FAR)
        for action, costs in enumerate(tests.costs):
            both = ((upper[block] * costs.astype(kind)) @ upper.T).astype(np.int64)
            above, others = tests.above[action], tests.below[action]
            np.minimum(high, both, out=high)
            np.minimum(high_rest, above[block, None] - both, out=high_rest)
            rest = above[None, :] - both
            np.minimum(low, rest, out=low)
            np.minimum(low_rest, others[block, None] - rest, out=low_rest)
        low += low_rest
        high += high_rest
        together = (upper[block] @ upper.T).astype(np.int64)
        sizes = numbers[block, None]
        high[~_divides(together, sizes, tests)] = FAR
        low[~_divides(numbers[None, :] - together, len(tests.members) - sizes, tests)] = FAR
        high[tests.above[:, block].min(axis=0) == 0] = FAR  # pure
        low[tests.below[:, block].min(axis=0) == 0] = FAR
        yield block, low, high


def _divides(held: np.ndarray, sizes: np.ndarray, tests: Tests) -> np.ndarray:
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


class Searched:
    """Questions about sets of points, put to the search that finds optimal trees."""

    def __init__(self, space: RowSpace, memory_limit: int) -> None:
        self.space = space
        engine = choose_strategy(space.problem, True, memory_limit).engine
        self.workers = Workers(engine, MOST_ASKED, UNLIMITED, memory_limit, glances=engine)
        self.workers.compile()
        self._point_of = _points_of(space, engine.rows)

    def ask(self, members: np.ndarray, size: int, needed: int) -> int:
        """The least error of some points, as far as it is below what is needed."""
        held = np.zeros(self.space.points, dtype=bool)
        held[members] = True
        rows = np.flatnonzero(held[self._point_of])
        answer = self.workers.ask(rows, min(size, self.workers.budgets), needed, UNLIMITED)
        if answer is None:
            raise Stopped("Ctrl-C" if self.workers.interrupted else "time_limit")
        return min(answer, needed)

    def counting(self, barred: Barred, watch: Watch) -> RowCounting:
        """Counts trees without the barred columns."""
        watch.interrupted = lambda: self.workers.interrupted
        self.workers.deadline = watch.until
        return RowCounting(self.space, self.ask, barred, watch)


def _points_of(space: RowSpace, rows: Any) -> np.ndarray:
    """The point of each row of the search."""
    if hasattr(rows, "chosen"):
        return space.point_of[rows.chosen]
    problem = space.problem
    words = problem.bits_of(np.arange(len(problem.literals)))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, row_slots(problem)]
    point_of = {
        row.tobytes(): point
        for row, point in zip(np.packbits(bits, axis=0).T, space.point_of.tolist(), strict=True)
    }
    packed = np.packbits(rows.bits, axis=0).T
    return np.array([point_of[row.tobytes()] for row in packed], dtype=np.int64)
