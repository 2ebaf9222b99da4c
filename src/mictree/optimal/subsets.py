"""Optimal trees whose tests are sets of categories.

A column with ``k`` categories, missing values counted, divides its rows in ``2**(k - 1) - 1`` ways.
Up to ``MOST_CELLS`` categories all of them become 0/1 columns of a problem of its own, whose search
is as for any other (``mictree.optimal.frontier``): the sets that divide the rows of a node alike
are one test there, as elsewhere. The trees that it finds get their sets back, each as the node that
tests it names it.

Of a larger column only some sets are listed: single categories, cuts in the order of rates, and
those of greedy trees. The search then gives upper bounds, and ``Relaxation`` lower ones. Let
OPT(R, t) be the least cost of trees with t splits on rows R, and R_c those of category c. A tree
whose root divides the categories has a splits on one side and b on the other, a + b = t - 1. On
either side it costs its rows of category c at least OPT(R_c, a), or OPT(R_c, b), as costs of
disjoint sets add up to at most that of their union. So it costs at least the sum over c of
min(OPT(R_c, a), OPT(R_c, b)), and any lower bound may stand for OPT. A side without splits takes
one action for all of its categories. So the last split needs no enumeration: it costs the
minimum over pairs of actions of the sum over c of the cheaper one; for squared errors, whose leaves
predict any number, a cut in the order of means is best (Fisher).

Invariant: no bound is above the least cost of trees of its size, whatever sets they test.
"""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.checks import TooLarge
from mictree.columns.literals import Column, Literals
from mictree.growers.rules import TopDown
from mictree.optimal.certified import RELAXATION, CertifiedErrors
from mictree.problems.sample import Limits, SampleProblem, unpack
from mictree.problems.subsets import turn_side
from mictree.problems.tasks import ActionCosts, MatrixCosts, Squared
from mictree.tree import LEAF, Tree

if TYPE_CHECKING:
    from mictree.optimal.frontier import SampleOptimalTrees

BOUNDING = 0.25  # the share of the time limit for lower bounds, if there is a large column
MOST_WORK = 4e9  # multiplications for lower bounds, some seconds
ROUNDING = 1e-12  # of sums of squares, relative
MOST_CELLS = 12  # categories of a column, missing values counted, whose sets are all listed
BYTES_EACH = 3  # of a row and a set, while the search reads them

Words = np.typing.NDArray[np.uint64]
FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


def solve_listed(
    problem: SampleProblem,
    solve: Callable[..., SampleOptimalTrees],
    exact: bool,
    memory_limit: int,
    time_limit: float | None,
) -> SampleOptimalTrees:
    """Search with sets as tests of their own, and name them as the trees use them."""
    large = [number for number in problem.literals.grouped
             if problem.literals.columns[number].cells > MOST_CELLS]  # fmt: skip
    if large and exact:
        column = problem.literals.columns[large[0]]
        raise ValueError(
            f"exact errors need columns of at most {MOST_CELLS} categories, missing values "
            f"counted; {column.name} has {column.cells}"
        )
    listing = Listing.of(problem, memory_limit)
    share = None if time_limit is None else (1 - BOUNDING * bool(large)) * time_limit
    solved = solve(listing.problem, memory_limit=memory_limit, time_limit=share)
    named: dict[int, Tree] = {}  # sizes may share a tree
    for tree in solved.trees:
        named.setdefault(id(tree), listing.rename(tree))
    found = tuple(named[id(tree)] for tree in solved.trees)
    errors = solved.errors
    if large:
        seconds = math.inf if time_limit is None else BOUNDING * time_limit
        lower = Relaxation(problem, listing, large).bounds(len(errors) - 1, seconds)
        errors = _relaxed(errors, lower)
    return replace(solved, problem=problem, found=found, errors=errors)


def _relaxed(errors: CertifiedErrors, lower: FloatArray) -> CertifiedErrors:
    """The same upper ends, with lower ones that hold for sets that are not listed too."""
    lower, upper = np.minimum(lower, errors.upper), np.asarray(errors.upper)
    seconds = np.full(len(upper), errors.history["seconds"].max() or 0.0)
    # what the search found on the way is of the listed sets alone
    steps = np.column_stack([seconds, errors.sizes, lower, upper])
    kinds = np.full(len(upper), RELAXATION, dtype=object)
    return CertifiedErrors(lower, upper, kinds, steps)


class Listing:
    """A problem whose sets of categories are listed, each as a literal.

    Attributes
    ----------
    problem : the same rows with listed sets
    """

    def __init__(self, given: SampleProblem, sets: dict[int, np.ndarray]) -> None:
        self._given, self._sets = given, sets  # by column, a byte for each set and cell
        literals, blocks = given.literals, []
        columns = list(literals.columns)
        for number, column in enumerate(columns):
            if number in sets:
                columns[number] = Column(column.name, categories=tuple(range(len(sets[number]))))
                blocks.append(_bits_of_sets(given.bits[literals.cells(number)], sets[number]))
            else:
                first, last = np.searchsorted(
                    literals.stored_bits, literals.starts[number : number + 2]
                )
                blocks.append(given.bits[first:last])
        self.problem = copy.copy(given)
        self.problem.literals, self.problem.bits = Literals(columns), np.concatenate(blocks)

    @classmethod
    def of(cls, problem: SampleProblem, memory_limit: int) -> Listing:
        """List all sets of all grouped columns; refuses what would not fit into memory."""
        literals, sets = problem.literals, {}
        cells = {number: literals.columns[number].cells for number in literals.grouped}
        greedy = [number for number, count in cells.items() if count > MOST_CELLS]
        for number in greedy:
            sets[number] = _some_sets(problem, number)
        count = sum(
            len(sets[number]) if number in sets else 2 ** (each - 1) - 1
            for number, each in cells.items()
        )
        needed = BYTES_EACH * count * len(problem.slots)
        if needed > memory_limit:
            raise TooLarge(
                f"sets of categories must fit into {memory_limit:,} bytes; {count:,} sets of "
                f'{len(problem.slots):,} rows need {needed:,}: use categories="each"'
            )
        for number, each in cells.items():
            if number not in sets:
                sets[number] = all_divisions(each)
        return cls(problem, sets)

    def rename(self, tree: Tree) -> Tree:
        """A tree on the listed sets as one on the given problem."""
        test_of, given = tree.positions(self.problem), self._given
        leaves: list[int] = []
        tests: list[int] = []
        thresholds: list[float | None] = []
        labels: list[Any] = [LEAF]
        waiting = [(0, 0, given.valid)]  # node, leaf by order of creation, rows
        while waiting:
            node, leaf, mask = waiting.pop()
            if tree.tests[node] == LEAF:
                labels[leaf] = tree.labels[node]
                continue
            literal, turned = self._literal(test_of[tree.tests[node]], mask)
            source = tree.sources[tree.tests[node]][1] if tree.sources else None
            leaves.append(leaf)
            tests.append(literal)
            thresholds.append(source if isinstance(source, float) else None)
            low, high = tree.low[node], tree.high[node]
            sides = (high, low) if turned else (low, high)
            held = given.words(literal)
            waiting.append((sides[1], len(labels) + 1, mask & held))
            waiting.append((sides[0], len(labels), mask & ~held))
            labels += [LEAF, LEAF]
        return given.tree(leaves, tests, thresholds, labels)

    def _literal(self, listed: int, mask: Words) -> tuple[int, bool]:
        """The test of some rows on the given problem, and whether its sides are exchanged."""
        literals = self._given.literals
        number, position = self.problem.literals.locate(listed)
        if number not in self._sets:
            return literals.starts[number] + position, False
        rows = self._given.counts(self._given.bits[literals.cells(number)] & mask).sum(axis=1)
        side = self._sets[number][position].copy()
        turned = turn_side(rows, literals.columns[number].missing, side)
        return literals.add_set(number, tuple(np.flatnonzero(side).tolist())), bool(turned)


MOST_GREEDY = 30  # splits of the greedy tree whose sets are listed


def _some_sets(problem: SampleProblem, number: int) -> np.typing.NDArray[np.uint8]:
    """Sets of a large column: single categories, what the root offers, those of a greedy tree."""
    count = problem.literals.columns[number].cells
    whole = problem.limited(Limits())
    offered = [whole.literals.locate(each)[1] for each in whole.sets(whole.root(), number)]
    rule = TopDown("minority" if isinstance(problem.task, MatrixCosts) else None)
    for step in rule.grow(whole, MOST_GREEDY).steps:
        column, position = whole.literals.locate(step.position)
        offered += [position] if column == number else []
    sides = np.eye(count, dtype=np.uint8)
    more = np.zeros((len(offered), count), dtype=np.uint8)
    for side, positions in zip(more, offered, strict=True):
        side[list(positions)] = 1
    return np.unique(np.concatenate([sides, more]), axis=0)


def all_divisions(cells: int) -> np.typing.NDArray[np.uint8]:
    """Each way to divide some cells in two, as the side without the first one."""
    numbers = np.arange(1, 2 ** (cells - 1), dtype=np.uint32) << np.uint32(1)
    return (numbers[:, None] >> np.arange(cells, dtype=np.uint32) & 1).astype(np.uint8)


def _bits_of_sets(cells: Words, sets: np.ndarray) -> Words:
    """The bits of some sets of cells."""
    bits = np.zeros((len(sets), cells.shape[1]), dtype=np.uint64)
    for number, chosen in enumerate(sets):
        bits[number] = np.bitwise_or.reduce(cells[chosen.astype(bool)], axis=0)
    return bits


class Relaxation:
    """Lower bounds of the least error by size, where not all sets are listed.

    Attributes
    ----------
    rows : what each row brings to the sums of a leaf: weights of classes, costs of actions, or
        weight, weighted number and its square
    total : the cost that is an error of 1
    tests : (tests, rows), 1 where a row satisfies a test of other columns than the large ones
    cells : of each large column, the category of each row
    """

    def __init__(self, problem: SampleProblem, listing: Listing, large: Sequence[int]) -> None:
        self.problem = problem
        self.squared = isinstance(problem.task, Squared)
        self.rows = _sums_of_rows(problem)
        classes = bool(problem.classes)
        self.total = float(self.rows.sum() if classes else problem.row_weights().sum())
        literals, slots = listing.problem.literals, problem.slots
        kept = [each for each in range(len(literals)) if literals.locate(each)[0] not in large]
        bits = [unpack(listing.problem.words(each))[slots] for each in kept]
        self.tests = np.array(bits, dtype=np.float64).reshape(len(kept), len(slots))
        self.cells = []
        for number in large:
            cells = problem.bits[problem.literals.cells(number)]
            self.cells.append(np.array([unpack(each)[slots] for each in cells]).argmax(axis=0))
        self._known: dict[tuple[bytes, int], float] = {}
        self._end = math.inf

    def bounds(self, max_size: int, seconds: float) -> FloatArray:
        """Of the least error by size; Ctrl-C and the time limit leave what is known."""
        everything = np.arange(self.rows.shape[0])
        lower = np.full(max_size + 1, self._floor())
        self._end = time.monotonic() + seconds
        with contextlib.suppress(KeyboardInterrupt, TimeoutError):
            for size in range(max_size + 1):
                if size > 1 and self._work(size) > MOST_WORK:
                    break
                lower[size] = max(lower[size], self.least(everything, size))
        lower = np.maximum.accumulate(lower[::-1])[::-1]
        if self.squared:
            lower = np.maximum(0.0, lower - ROUNDING * self.rows[:, 2].sum())
        return lower / self.total + self.problem.offset

    def _work(self, size: int) -> float:
        """About how many multiplications the bound of a size takes."""
        tests, count = len(self.tests), self.rows.size
        return float(count) * tests * (2.0 * tests + 2) ** (size - 1)

    def _floor(self) -> float:
        """What no tree avoids: rows that are equal in all columns."""
        columns = np.concatenate([self.tests, np.array(self.cells)])
        group = np.unique(columns, axis=1, return_inverse=True)[1].ravel()
        return float(self._leaves(_by_group(group, self.rows)).sum())

    def least(self, rows: IntArray, size: int) -> float:
        """A lower bound of the cost of trees with ``size`` splits on some rows."""
        if size == 0:
            return float(self._leaves(self.rows[rows].sum(axis=0)[None])[0])
        if time.monotonic() > self._end:
            raise TimeoutError
        key = rows.tobytes(), size
        if key not in self._known:
            bound = self.least(rows, size - 1)
            if bound > 0:
                bound = min(bound, self._by_tests(rows, size))
            for cells in self.cells if bound > 0 else ():
                bound = min(bound, self._by_sets(rows, cells[rows], size))
            self._known[key] = bound
        return self._known[key]

    def _by_tests(self, rows: IntArray, size: int) -> float:
        """The least bound of trees whose root tests one of the other columns."""
        tests, given = self.tests[:, rows], self.rows[rows]
        high = tests @ given
        low = given.sum(axis=0) - high
        divides = (tests.any(axis=1)) & ~(tests.all(axis=1))
        if size == 1 or not divides.any():
            costs = self._leaves(low) + self._leaves(high)
            return float(costs[divides].min(initial=math.inf))
        best = math.inf
        for number in np.flatnonzero(divides).tolist():
            held = tests[number] > 0
            for splits in range(size):
                cost = self.least(rows[held], splits)
                if cost < best:
                    best = min(best, cost + self.least(rows[~held], size - 1 - splits))
        return best

    def _by_sets(self, rows: IntArray, cells: IntArray, size: int) -> float:
        """The least bound of trees whose root divides the categories of a large column."""
        present, group = np.unique(cells, return_inverse=True)
        if len(present) < 2:
            return math.inf
        sums = _by_group(group, self.rows[rows])
        parts = [rows[group == each] for each in range(len(present))]
        best = math.inf
        for fewer in range((size - 1) // 2 + 1):
            more = size - 1 - fewer  # both sides share the splits that are left
            if more == 0:
                best = min(best, self._last_split(sums))
                continue
            bound = np.array([self.least(part, more) for part in parts])
            if fewer == 0 and not self.squared:
                action = np.minimum(self._actions(sums), bound[:, None])
                best = min(best, float(action.sum(axis=0).min()))
            else:
                best = min(best, float(bound.sum()))
        return best

    def _last_split(self, sums: FloatArray) -> float:
        """The least cost of two leaves that share some categories out."""
        if self.squared:
            order = np.argsort(sums[:, 1] / sums[:, 0], kind="stable")
            low = sums[order].cumsum(axis=0)[:-1]
            return float((self._leaves(low) + self._leaves(sums.sum(axis=0) - low)).min())
        costs = self._actions(sums)
        return min(
            float(np.minimum(costs[:, [one]], costs[:, one:]).sum(axis=0).min())
            for one in range(costs.shape[1])
        )

    def _actions(self, sums: FloatArray) -> FloatArray:
        """What each action costs for some sums of rows."""
        task = self.problem.task
        if isinstance(task, MatrixCosts):
            return sums @ task.matrix
        return sums if isinstance(task, ActionCosts) else sums.sum(axis=1, keepdims=True) - sums

    def _leaves(self, sums: FloatArray) -> FloatArray:
        """What leaves with some sums of rows cost."""
        if not self.squared:
            return self._actions(sums).min(axis=1)
        weight = np.maximum(sums[:, 0], np.finfo(float).tiny)
        return np.maximum(0.0, sums[:, 2] - sums[:, 1] ** 2 / weight)


def _by_group(group: IntArray, rows: FloatArray) -> FloatArray:
    """The sums of the rows of each group."""
    sums = np.zeros((int(group.max()) + 1, rows.shape[1]))
    np.add.at(sums, group, rows)
    return sums


def _sums_of_rows(problem: SampleProblem) -> FloatArray:
    """What each row brings to the sums of a leaf, as ``Relaxation`` has it."""
    weights = problem.row_weights()
    if isinstance(problem.task, ActionCosts):
        return weights[:, None] * problem.targets
    if isinstance(problem.task, Squared):
        distances = problem.distances
        return np.column_stack([weights, weights * distances, weights * distances**2])
    codes = np.repeat(np.arange(len(problem.class_rows)), problem.class_rows)
    by_class = np.zeros((len(codes), len(problem.class_rows)))
    by_class[np.arange(len(codes)), codes] = weights * problem.class_weight[codes]
    return by_class
