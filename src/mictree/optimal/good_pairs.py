"""Counting trees of data: pairs of tests, and the search that finds optimal trees.

Trees with one and two splits are not walked: with the costs of all pairs of tests, which are a
product of matrices, they are counted at once. For more splits the search that finds optimal trees
says what the children need at least, and few first tests remain. What was found while counting is
remembered, so trees are drawn, and those without a column counted, without looking at tests again.

Invariant: what a child needs is never more than its least error.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from mictree.optimal.costs import Numbers
from mictree.optimal.frontier import choose_strategy
from mictree.optimal.good_counting import (
    NOTHING,
    Barred,
    Branch,
    Counting,
    Share,
    Spectrum,
    State,
    Stopped,
    Watch,
    keep,
    shared_out,
)
from mictree.optimal.good_rows import BLOCK, RowSpace, Tests, divides
from mictree.optimal.ordered_rows import SortedRows
from mictree.optimal.questions import UNLIMITED, Workers
from mictree.optimal.rows import MergedRows, row_slots

FAR = 2**61  # above every error, and two of them still fit 64 bits
MOST_DRAWN = 2**20  # trees with one or two splits that are kept for drawing
KEPT = 2**11  # of a set of points, as it is counted
LABELLED = 2**12  # of them that get their labels together
EXACT = 2**24  # float32 holds all whole numbers up to here


class SmallTrees(Sequence[Any]):
    """Trees with one or two splits, a row each, that are nested when one is taken.

    A row has the first test, whether it is flipped, the second test (-1 if there is none), whether
    that is flipped, the side that it divides, the label of the other side, and both last labels.
    """

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        first, flipped, second, turned, side, label, *last = self._rows[place].tolist()
        if second < 0:
            return _nest(first, flipped, *last)
        below = _nest(second, turned, *last)
        return _nest(first, flipped, *((label, below) if side else (below, label)))


class Part(NamedTuple):
    """The costs of some trees with one or two splits, perhaps rounded, by both of their tests."""

    costs: np.ndarray  # (first tests, second tests)
    start: int  # the number of the first one
    side: int | None  # of the first test, which the second one divides; None if there is no other


class Opening(NamedTuple):
    """A first test, and what its children need at least."""

    number: int
    branch: Branch
    low_size: int
    needs: list[Any]


class Labelled(NamedTuple):
    """Trees with one or two splits, and their exact costs."""

    rows: np.ndarray
    costs: np.ndarray


def _nest(test: int, flipped: bool, low: Any, high: Any) -> Any:
    return (test, high, low) if flipped else (test, low, high)


# the least error of some points with at most so many splits, as far as it is below a bound
Ask = Callable[[np.ndarray, int, Any], Any]


class RowCounting(Counting):
    """Spectra of sets of points; ``ask`` bounds the errors of larger trees from below.

    Up to ``sure`` splits its answer is the least error itself.
    """

    space: RowSpace

    def __init__(
        self, space: RowSpace, ask: Ask, sure: int, barred: Barred = NOTHING,
        watch: Watch | None = None,
    ) -> None:  # fmt: skip
        super().__init__(space, barred, watch)
        self._ask, self.sure = ask, sure
        self._small: dict[tuple[State, int, Any], SmallTrees] = {}
        self._room = MOST_DRAWN
        self._least_ones: dict[State, tuple[list[Any], list[Any]]] = {}
        self._settled: set[tuple[State, int]] = set()  # asking again would say no more

    def least(self, state: Any, size: int) -> int | None:
        """A lower bound of the error; what was asked is not asked again."""
        if size == 0:
            return self.space.leaf(state)[0]
        return self._least.get((state, size), 0)

    def _bound(self, members: np.ndarray, state: State, size: int, needed: Any) -> Any:
        """A lower bound of the least error, as far as it is below what is needed."""
        known = self._least.get((state, size), 0)
        if known is None or known >= needed:
            return needed
        if (state, size) in self._settled:
            return known
        self.watch.look(1)
        bound = self._least[state, size] = max(known, self._ask(members, size, needed))
        if bound < needed:  # the least error itself, or as close to it as the search can say
            self._settled.add((state, size))
        return bound

    def _count(self, state: Any, size: int, limit: Any) -> Spectrum:
        if size > 2:
            return super()._count(state, size, limit)
        found: Spectrum = {}
        if state == self.root:
            self.found = found
        if self.space.leaf(state)[1]:
            return found
        tests, kept, slack = self.space.tests(state), [], self.space.costs.slack
        for part in self._parts(tests, size):
            self._tally(tests, part, limit, found)
            if sum(found.values()) <= KEPT and not state[1]:
                kept.append(self._label(tests, part, part.costs <= limit + slack))
            self.watch.look(1)
        if sum(found.values()) <= KEPT and not state[1]:
            self._keep_trees(state, size, kept)
        self.watch.look(len(found))
        return found

    def _parts(self, tests: Tests, size: int) -> Iterator[Part]:
        """The costs of all trees with one or two splits."""
        below, above = self._leaves(tests)
        if size == 1:
            yield Part((below + above)[:, None], 0, None)
            return
        for block, low, high in self._pairs(tests):
            yield Part(low + above[block, None], block.start, 0)
            yield Part(below[block, None] + high, block.start, 1)

    def _leaves(self, tests: Tests) -> tuple[np.ndarray, np.ndarray]:
        """The costs of both children of all tests as leaves, perhaps rounded."""
        return self.space.costs.screen(tests.below), self.space.costs.screen(tests.above)

    def _tally(self, tests: Tests, part: Part, limit: Any, found: Spectrum) -> None:
        """Count costs up to a limit; rounded ones exactly, where they may be within it."""
        slack, costs = self.space.costs.slack, part.costs
        if not slack:
            values, counts = np.unique(costs[costs <= limit], return_counts=True)
            for cost, count in zip(values.tolist(), counts.tolist(), strict=True):
                found[cost] = found.get(cost, 0) + count
            return
        for place in zip(*np.nonzero(costs <= float(limit) + slack), strict=True):
            cost = self._exactly(tests, part, *place)
            if cost <= limit:
                found[cost] = found.get(cost, 0) + 1
                self.watch.look(1)

    def _exactly(self, tests: Tests, part: Part, first: int, second: int) -> Any:
        """The exact cost of a tree with one or two splits."""
        upper, cost = tests.upper[first + part.start], self.space.cost
        if part.side is None:
            return cost(tests.members[~upper]) + cost(tests.members[upper])
        divided, other = (upper, ~upper) if part.side else (~upper, upper)
        return cost(tests.members[other]) + sum(
            cost(tests.members[divided & half])
            for half in (~tests.upper[second], tests.upper[second])
        )

    def shares(self, state: Any, size: int, limit: int) -> Iterator[Share]:
        """As of every space; children with one split are counted by pairs of tests."""
        if self.space.leaf(state)[1]:
            return
        tests, slack = self.space.tests(state), self.space.costs.slack
        for number, branch, low_size, needs in self._openings(state, tests, size, limit):
            spectra: list[Spectrum] = []
            children = (branch.low, low_size), (branch.high, size - 1 - low_size)
            for side, child in enumerate(children):
                room = limit - needs[1 - side] + slack
                if child[1] == 1:
                    spectra.append(self._spectrum_of_one(tests, side, number, room))
                else:
                    spectra.append(self.spectrum(*child, room))
            if all(spectra):
                yield Share(branch, low_size, *spectra)

    def _openings(self, state: Any, tests: Tests, size: int, limit: Any) -> Iterator[Opening]:
        """The first tests of trees with three splits or more that may be within a limit."""
        below, above = (each.tolist() for each in self._leaves(tests))
        ones, slack = self._ones(state, tests), self.space.costs.slack
        for number in range(len(tests.literal)):
            branch: Branch | None = None
            known = (below[number], ones[0][number]), (above[number], ones[1][number])
            for low_size in range(size):
                sizes = low_size, size - 1 - low_size
                needs = [
                    each[splits] if splits < 2 else 0
                    for each, splits in zip(known, sizes, strict=True)
                ]
                if sum(needs) > limit + slack:
                    continue
                branch = branch or self.space.branch(state, tests, number)
                children = branch.low, branch.high
                rows = tests.upper[number]
                for side in sorted((0, 1), key=lambda side: sizes[side]):
                    if sizes[side] > 1 and sum(needs) <= limit + slack:
                        members = tests.members[rows if side else ~rows]
                        needed = limit - needs[1 - side] + (slack or 1)
                        needs[side] = self._bound(members, children[side], sizes[side], needed)
                if sum(needs) <= limit + slack:
                    yield Opening(number, branch, low_size, needs)

    def unused(self, groups: Sequence[Barred]) -> Callable[[int, Any], list[int]]:
        return Unused(self, groups).count

    def columns_of_small(
        self, state: Any, size: int, limit: Any
    ) -> Iterator[tuple[Any, int, int, int]]:
        """The trees with one or two splits: their cost, their columns, and how many there are.

        Both columns are the same where there is one split.
        """
        tests, slack = self.space.tests(state), self.space.costs.slack
        numbers = self._numbers(tests)
        for part in self._parts(tests, size):
            first, second = np.nonzero(part.costs <= limit + slack)
            costs = part.costs[first, second].tolist()
            if slack:
                pairs = zip(first.tolist(), second.tolist(), strict=True)
                costs = [self._exactly(tests, part, *pair) for pair in pairs]
            one = numbers[first + part.start]
            other = one if size == 1 else numbers[second]
            counted = Counter(zip(costs, one.tolist(), other.tolist(), strict=True))
            yield from ((*key, count) for key, count in counted.items() if key[0] <= limit)
            self.watch.look(1)

    def _numbers(self, tests: Tests) -> np.ndarray:
        """The number of each test's column."""
        numbers = np.array([each.number for each in self.space.columns], dtype=np.int64)
        return numbers[tests.column]

    def least_with(self, size: int, barred: Barred, known: Any) -> Any:
        limit = self.space.leaf(self.root)[0] if known is None else known
        found = self._least_within(self.root, size, barred, limit)
        return known if found is None else found

    def _least_within(self, state: Any, size: int, wanted: Barred, limit: Any) -> Any:
        """The least cost of a tree with at most so many splits that tests the wanted columns.

        None if that is above the limit.
        """
        cost, pure = self.space.leaf(state)
        if pure or size == 0 or size < len(wanted):
            return None if wanted or cost > limit else cost
        key = state, size, wanted
        made, best = self._least_used.get(key, (-1, None))
        if best is None and made < limit:
            if size <= 2:
                best, made = self._least_of_small(state, size, wanted), math.inf
            elif not wanted and size <= self.sure:
                best = self._bound(self.space.members(state), state, size, limit + 1)
                best, made = (best if best <= limit else None), limit
            else:
                best, made = self._least_of_large(state, size, wanted, limit), limit
            self._least_used[key] = made, best
        return None if best is None or best > limit else best

    def _least_of_large(self, state: Any, size: int, wanted: Barred, limit: Any) -> Any:
        """As far as it is within the limit."""
        self.watch.look(1)
        best = self._least_within(state, size - 1, wanted, limit)
        bound, slack = limit if best is None else best, self.space.costs.slack
        tests = self.space.tests(state)
        openings = self._openings(state, tests, size, bound)
        for number, branch, low_size, needs in sorted(openings, key=lambda each: sum(each.needs)):
            if sum(needs) > bound + slack or (
                not slack and best is not None and sum(needs) == best
            ):
                break
            column = self.space.columns[tests.column[number]].number
            for part, rest in shared_out(wanted - {column}):
                room = bound - needs[1] + slack
                low = self._least_within(branch.low, low_size, part, room)
                if low is None:
                    continue
                high_size = size - 1 - low_size
                high = self._least_within(branch.high, high_size, rest, bound - low)
                if high is not None and (best is None or low + high < best):
                    best = bound = low + high
        return best

    def _least_of_small(self, state: Any, size: int, wanted: Barred) -> Any:
        """The least cost of a tree with one or two splits, or with fewer; None if there is none."""
        tests, slack = self.space.tests(state), self.space.costs.slack
        column = self._numbers(tests)
        best = None if wanted else self.space.leaf(state)[0]
        if size == 2:
            best = self._least_within(state, 1, wanted, math.inf)
        for part in self._parts(tests, size):
            rows, columns = part.costs.shape
            first = column[part.start : part.start + rows, None]
            second = column[None, :columns] if size == 2 else np.full((1, columns), -1)
            allowed = np.ones(part.costs.shape, dtype=bool)
            for each in wanted:
                allowed &= (first == each) | (second == each)
            costs = np.where(allowed, part.costs, self._far)
            least = costs.min(initial=self._far)
            if least == self._far or (best is not None and least - slack >= best):
                continue
            if not slack:
                best = int(least)
                continue
            for place in zip(*np.nonzero(costs <= least + 2 * slack), strict=True):
                exact = self._exactly(tests, part, *map(int, place))
                best = exact if best is None else min(best, exact)
        return best

    def draw(self, place: Any, state: Any, size: int, error: Any, draws: random.Random) -> Any:
        if not 0 < size <= 2:
            return super().draw(place, state, size, error, draws)
        trees = self._small_trees(state, size, error)
        return trees[draws.randrange(len(trees))]

    def each(self, place: Any, state: Any, size: int, error: Any) -> Iterator[Any]:
        small = 0 < size <= 2
        every = self._small_trees(state, size, error) if small else ()
        yield from every if small else super().each(place, state, size, error)

    def _small_trees(self, state: Any, size: int, error: Any) -> SmallTrees:
        """The trees of an error with one or two splits."""
        if (state, size, error) not in self._small:
            tests, slack = self.space.tests(state), self.space.costs.slack
            pure = self.space.leaf(state)[1]
            found = [
                self._label(tests, part, np.abs(part.costs - error) <= slack)
                for part in ([] if pure else self._parts(tests, size))
            ]
            self._keep_trees(state, size, found)
        return self._small[state, size, error]

    def _keep_trees(self, state: State, size: int, found: list[Labelled]) -> None:
        """Remember trees for drawing; where there are too many, all others are forgotten."""
        if not found:
            return
        rows = np.concatenate([each.rows for each in found])
        costs = np.concatenate([each.costs for each in found])
        self._room -= len(rows)
        if self._room < 0:
            self._small.clear()
            self._room = MOST_DRAWN - len(rows)
        for cost in set(costs.tolist()):
            self._small[state, size, cost] = SmallTrees(rows[costs == cost])

    def _label(self, tests: Tests, part: Part, chosen: np.ndarray) -> Labelled:
        """Some of the trees with one or two splits, and their exact costs."""
        first, second = np.nonzero(chosen)
        costs = part.costs[chosen]
        if self.space.costs.slack:
            pairs = zip(first.tolist(), second.tolist(), strict=True)
            costs = np.array([self._exactly(tests, part, *pair) for pair in pairs], dtype=object)
        first += part.start
        rows = [
            self._rows(
                tests, part, first[begin : begin + LABELLED], second[begin : begin + LABELLED]
            )
            for begin in range(0, max(1, len(first)), LABELLED)
        ]
        return Labelled(np.concatenate(rows), costs)

    def _rows(self, tests: Tests, part: Part, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Rows of ``SmallTrees``."""
        labels = self.space.costs.labels
        found = np.full((len(first), 8), -1, dtype=labels(tests.below[:, :0]).dtype)
        found[:, 0], found[:, 1] = tests.literal[first], tests.flipped[first]
        if part.side is None:
            found[:, 6], found[:, 7] = labels(tests.below[:, first]), labels(tests.above[:, first])
            return found
        upper, other = tests.upper[second], tests.below if part.side else tests.above
        divided = tests.upper[first] if part.side else ~tests.upper[first]
        found[:, 2], found[:, 3], found[:, 4] = (
            tests.literal[second],
            tests.flipped[second],
            part.side,
        )
        found[:, 5] = labels(other[:, first])
        for place, half in ((6, ~upper), (7, upper)):
            found[:, place] = labels(tests.sums @ (divided & half).T.astype(tests.sums.dtype))
        return found

    def _ones(self, state: Any, tests: Tests) -> tuple[list[Any], list[Any]]:
        """The least costs of both children of all tests with one more split."""
        if state not in self._least_ones:
            keep(self._least_ones, state, self._find_ones(tests))
        return self._least_ones[state]

    def _find_ones(self, tests: Tests) -> tuple[list[Any], list[Any]]:
        least = np.full((2, len(tests.literal)), self._far)
        for block, low, high in self._pairs(tests):
            if low.shape[1]:
                least[0, block], least[1, block] = low.min(axis=1), high.min(axis=1)
        return least[0].tolist(), least[1].tolist()

    def _spectrum_of_one(self, tests: Tests, side: int, number: int, limit: Any) -> Spectrum:
        """Of a child of one test with one more split."""
        found: Spectrum = {}
        _, *costs = next(self._pairs(tests, slice(number, number + 1)))
        other = self.space.cost(tests.members[tests.upper[number] != bool(side)])
        # the costs of trees with two splits, less that of the other side
        whole: Spectrum = {}
        self._tally(tests, Part(costs[side] + other, number, side), limit + other, whole)
        for cost, count in whole.items():
            found[cost - other] = count
        return found

    def _pairs(
        self, tests: Tests, only: slice | None = None
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """For blocks of tests, the costs of both children with each test as their one split.

        A cost is too large where the test does not divide the child, or as one before it of its
        column, and where the child is pure.
        """
        count, screen = len(tests.literal), self.space.costs.screen
        step = max(1, BLOCK // max(1, count * len(tests.sums)))
        whole = slice(0, count) if only is None else only
        most = max(float(np.abs(tests.sums).sum(axis=1).max(initial=0)), len(tests.members))
        kind: Any = np.float32 if most < EXACT else float
        if most >= 2**53 and tests.sums.dtype != object:
            kind = np.int64  # floats would round, and nothing is left to chance in whole numbers
        upper, sums = tests.upper.astype(kind), tests.sums.astype(kind)
        numbers = tests.upper.sum(axis=1)
        exact = tests.sums.dtype if tests.sums.dtype != object else float
        below, above = tests.below.astype(exact), tests.above.astype(exact)
        for begin in range(whole.start, whole.stop, step):
            block = slice(begin, min(whole.stop, begin + step))
            both = np.stack([(upper[block] * each) @ upper.T for each in sums]).astype(exact)
            rest = above[:, None, :] - both
            high = screen(both) + screen(above[:, block, None] - both)
            low = screen(rest) + screen(below[:, block, None] - rest)
            together = (upper[block] @ upper.T).astype(np.int64)
            sizes = numbers[block, None]
            high[~divides(together, sizes, tests)] = self._far
            low[~divides(numbers[None, :] - together, len(tests.members) - sizes, tests)] = (
                self._far
            )
            for side, costs in enumerate((low, high)):
                costs[self._find_pure(tests, block, side)] = self._far
            yield block, low, high

    @property
    def _far(self) -> Any:
        """Above every cost."""
        return np.inf if self.space.costs.slack else FAR

    def _find_pure(self, tests: Tests, block: slice, side: int) -> np.ndarray:
        """Which children of a block of tests are pure."""
        sums = (tests.above if side else tests.below)[:, block]
        pure = self.space.costs.screen(sums) <= self.space.costs.slack
        if self.space.costs.slack:
            for place in np.flatnonzero(pure):
                pure[place] = self.space.costs.leaf(sums[:, place])[1] == 0
        return pure


class Unused:
    """How many trees test no column of a group, by error: an array with a number for each group.

    It goes through the shares that counting remembers.
    """

    def __init__(self, counting: RowCounting, groups: Sequence[Barred]) -> None:
        self.counting, space = counting, counting.space
        columns = len(space.variables)
        # by column, whether a group is without it
        self.spared = np.array(
            [[column not in group for group in groups] for column in range(columns)], dtype=object
        ).reshape(columns, len(groups))
        self._known: dict[tuple[State, int], tuple[Any, dict[Any, np.ndarray]]] = {}

    def count(self, size: int, limit: Any) -> list[int]:
        """Trees of the root up to a limit."""
        found = self.of(self.counting.root, size, limit)
        counts = (each for error, each in found.items() if error <= limit)
        return [int(each) for each in sum(counts, self._nothing())]

    def _nothing(self) -> np.ndarray:
        return np.zeros(self.spared.shape[1], dtype=object)

    def of(self, state: Any, size: int, limit: Any) -> dict[Any, np.ndarray]:
        """Trees of a state up to a limit at least."""
        cost, pure = self.counting.space.leaf(state)
        if size == 0:
            return {cost: self._nothing() + 1}
        if pure:
            return {}
        made, found = self._known.get((state, size), (-1, {}))
        if made < limit:
            found = (
                self._of_small(state, size, limit) if size <= 2 else self._of(state, size, limit)
            )
            self._known[state, size] = limit, found
        return found

    def _of_small(self, state: Any, size: int, limit: Any) -> dict[Any, np.ndarray]:
        found: dict[Any, np.ndarray] = {}
        for cost, one, other, count in self.counting.columns_of_small(state, size, limit):
            counts = count * self.spared[one] * self.spared[other]
            found[cost] = found.get(cost, 0) + counts
        return found

    def _of(self, state: Any, size: int, limit: Any) -> dict[Any, np.ndarray]:
        found: dict[Any, np.ndarray] = {}
        locate = self.counting.space.problem.literals.locate
        for branch, low_size, low, high in self.counting.known_shares(state, size, limit):
            spared = self.spared[locate(branch.kind[0])[0]]
            highs = self.of(branch.high, size - 1 - low_size, max(high))
            for low_error, low_counts in self.of(branch.low, low_size, max(low)).items():
                counts = spared * low_counts
                for high_error, high_counts in highs.items():
                    error = low_error + high_error
                    if error <= limit:
                        found[error] = found.get(error, 0) + counts * high_counts
            self.counting.watch.look(len(found))
        return found


class Searched:
    """Questions about sets of points, put to the search that finds optimal trees."""

    def __init__(self, space: RowSpace, max_size: int, memory_limit: int) -> None:
        self.space = space
        engine = choose_strategy(space.problem, True, memory_limit).engine
        self.workers = Workers(engine, max(1, max_size), UNLIMITED, memory_limit, glances=engine)
        self.workers.compile()
        self._cores = ThreadpoolController()
        self._point_of = _points_of(space, engine.rows)
        self._leaves_out = False  # what no action avoids
        # what a unit of cost is in the search, where that rounds; 0 if nothing is certain
        self._ratio: Any = 1
        if isinstance(engine.rows, MergedRows):
            numbers = engine.rows.costs
            self._leaves_out = not isinstance(numbers, Numbers)
            if isinstance(numbers, Numbers):
                unit = space.costs.written.label_unit / numbers.unit  # type: ignore[attr-defined]
                self._ratio = 0 if numbers.is_rounded else unit**2 / 2**numbers.shift

    def ask(self, members: np.ndarray, size: int, needed: Any) -> Any:
        """The least error of some points, as far as it is below what is needed."""
        held = np.zeros(self.space.points, dtype=bool)
        held[members] = True
        rows = np.flatnonzero(held[self._point_of])
        left_out, spare = 0, 0 if self._ratio == 1 else len(rows)  # a unit for each row
        if self._leaves_out:
            left_out = int(self.space.sums[:, members].min(axis=0).sum())
        bound = math.ceil((needed - left_out) * self._ratio) + spare
        too_large = size > self.workers.budgets  # the least error with fewer splits is no bound
        if too_large or self._ratio == 0 or bound <= 0:
            return min(needed, left_out)
        answer = self.workers.ask(rows, size, bound, UNLIMITED)
        if answer is None:
            raise Stopped("Ctrl-C" if self.workers.interrupted else "time_limit")
        if answer >= bound:
            return needed
        return left_out + (answer if self._ratio == 1 else max(0, answer - spare) / self._ratio)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within it, questions are answered, and products of matrices take one core.

        The matrices are small: several threads would spend their time waiting for one another.
        """
        with self._cores.limit(limits=1, user_api="blas"), self.workers.running():
            yield

    def counting(self, barred: Barred, watch: Watch) -> RowCounting:
        """Counts trees without the barred columns."""
        watch.interrupted = lambda: self.workers.interrupted
        self.workers.deadline = watch.until
        sure = self.workers.budgets if self._ratio == 1 else 0
        return RowCounting(self.space, self.ask, sure, barred, watch)


def _points_of(space: RowSpace, rows: Any) -> np.ndarray:
    """The point of each row of the search."""
    if isinstance(rows, MergedRows):
        points = np.empty(len(rows.everything), dtype=np.int64)
        points[rows.group] = space.point_of
        return points
    if isinstance(rows, SortedRows):
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
