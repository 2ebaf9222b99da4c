"""Optimal trees for any Boolean function or noisy labels under any joint distribution.

Trees are measured by the labels they get wrong, or by squared error.

A dynamic program over the 3**n subcubes, those with fewer free variables first. Errors are
probabilities of being in the subcube and mislabelled, not conditional on the subcube, so the two
sides of a split simply add up.

Invariant: when a subcube's turn comes, both halves of every split of it have their final errors.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import jit, run
from mictree._support.progress import Progress, Report
from mictree.optimal.allowed import allowed_variables
from mictree.optimal.program import NOTHING, level_out, relax, relax_objects
from mictree.optimal.solve import Choice, ProgramTrees, Top, check_rows, repeat_last, smallest_size
from mictree.problems.base import Leaf
from mictree.problems.table import TableProblem
from mictree.problems.tasks import Squared

SAME_ERROR = 2.0**-45  # of the error without a split: sums of variances may be off by that
NEVER = 2**31 - 1  # the distance of a subcube that allowed tests do not reach
BYTES_EACH = 40  # masses, order, perfect size and place of one subcube


def solve(
    problem: TableProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    progress: Report | None = None,
    top: Top | None = None,
) -> "TableOptimalTrees":
    """Solve every subcube within ``max_size`` tests, or allowed tests, of the whole cube."""
    count = len(problem.variables)
    if 3**count * BYTES_EACH > memory_limit:
        fits = int(math.log(memory_limit / BYTES_EACH, 3))
        raise TooLarge.states(3**count, memory_limit, f"{fits} variables")
    if top is not None and isinstance(problem.task, Squared) and top.criterion != "gini":
        raise ValueError(
            'the splits that lower the squared error most are those of criterion="gini"; '
            f"got top={top.number}, criterion={top.criterion!r}"
        )
    leaf_errors, denominator = _leaf_errors(problem, exact)
    free = _free_variables(count)
    allowed, reached = np.empty(0, dtype=np.uint16), np.ones(1, dtype=bool)
    if top is not None:
        allowed, reached = allowed_variables(problem, top)
    order = np.argsort(free, kind="stable").astype(np.int32)
    perfect = np.empty(3**count, dtype=np.int64)
    _perfect_sizes(order, count, problem.settled, allowed, perfect)
    distance = np.where(reached, count - free, NEVER)
    lengths = np.maximum(np.minimum(max_size - distance, perfect) + 1, 0)
    check_rows(distance, perfect, max_size, memory_limit)
    start = np.concatenate([[0], np.cumsum(lengths)])
    nothing = NOTHING.get(leaf_errors.dtype.type, denominator)
    rows = np.full(start[-1], nothing, dtype=leaf_errors.dtype)
    near = lengths > 0
    rows[start[:-1][near]] = leaf_errors[near]
    order = order[near[order]]
    levels = np.searchsorted(free[order], np.arange(count + 2))
    for level in range(count + 1):
        if rows.dtype == object:
            _fill_objects(order[levels[level] : levels[level + 1]], count, allowed, start, rows)
        else:
            some = order[levels[level] : levels[level + 1]]
            run(
                _fill_errors, len(some), 100 * len(some),
                some, count, allowed, start, nothing, rows,
            )  # fmt: skip
        if progress is not None:
            progress(Progress("optimal trees", (level + 1) / (count + 1)))
    row = rows[start[-2] :]
    if exact:
        row = np.array([Fraction(number) / denominator for number in row.tolist()], dtype=object)
    return TableOptimalTrees(problem, max_size, repeat_last(row, max_size), start, rows, allowed)


def _leaf_errors(problem: TableProblem, exact: bool) -> tuple[np.ndarray, int]:
    """The least error of each subcube without a split, times a denominator that is 1 for floats.

    Exact ones are integers, 64-bit or Python's; squared ones are Fractions where the least common
    denominator of all of them is too large for that.
    """
    mass, positive, *denominators = problem.scaled_masses if exact else problem.masses
    denominator = denominators[0] if exact else 1
    if not isinstance(problem.task, Squared):
        return np.minimum(positive, mass - positive), denominator
    some = np.where(mass > 0, mass, 1)
    if not exact:
        return positive * ((mass - positive) / some), denominator
    distinct = [int(each) for each in np.unique(some)]
    multiple = _common_multiple(distinct, 2**62 // denominator)
    if multiple:
        # a product of two masses might overflow: one of them is divided first
        shares = multiple // some
        return positive * shares * (mass - positive), denominator * multiple
    pairs = zip(mass.tolist(), positive.tolist(), strict=True)
    fractions = np.empty(len(mass), dtype=object)
    fractions[:] = [Fraction(p * (m - p), m or 1) for m, p in pairs]
    return fractions, denominator


def _common_multiple(numbers: list[int], most: int) -> int:
    """The least common multiple, or 0 if it is larger than that."""
    multiple = 1
    for number in numbers:
        multiple = math.lcm(multiple, number)
        if multiple > most:
            return 0
    return multiple


@dataclass(frozen=True, repr=False)
class TableOptimalTrees(ProgramTrees):
    start: np.ndarray  # where each subcube's row begins in rows
    rows: np.ndarray
    allowed: np.ndarray  # which variables each subcube may test; empty where it may test all

    def _start(self) -> int:
        return len(self.start) - 2  # the whole cube, every digit 2

    def _row(self, subcube: int) -> np.ndarray:
        return self.rows[self.start[subcube] : self.start[subcube + 1]]

    def _choose(self, leaf: Leaf, state: int, size: int) -> Choice | None:
        size = self._smallest_size(self._row(state), size)
        if size == 0:
            return None
        best: tuple | None = None
        for variable in range(len(self.problem.variables)):
            step = 3**variable
            if not may_test(state, variable, step, self.allowed):
                continue
            low, high = state - 2 * step, state - step
            errors = (
                repeat_last(self._row(low), size - 1) + repeat_last(self._row(high), size - 1)[::-1]
            )
            low_size = int(np.argmin(errors))
            if best is None or errors[low_size] < best[0]:
                choice = Choice(variable, (low, low_size), (high, size - 1 - low_size))
                best = (errors[low_size], choice)
        assert best is not None  # a subcube that a split improves has a free variable
        return best[1]

    def _smallest_size(self, row: np.ndarray, size: int) -> int:
        """The least size whose error is that of the given one, but for rounding of variances."""
        if row.dtype == float and isinstance(self.problem.task, Squared):  # type: ignore[attr-defined]
            least = row[min(size, len(row) - 1)]
            return int(np.argmax(row <= least + SAME_ERROR * self.errors[0]))
        return smallest_size(row, size)


def _free_variables(count: int) -> np.typing.NDArray[np.int32]:
    """How many variables are free in each subcube: how often 2 is a digit of its number."""
    free = np.zeros(1, dtype=np.int32)
    for _ in range(count):
        free = np.concatenate([free, free, free + 1])
    return free


@jit
def may_test(subcube, variable, step, allowed):
    """Whether a variable, whose digit weighs ``step``, is free in a subcube and allowed."""
    if subcube // step % 3 != 2:
        return False
    return len(allowed) == 0 or (allowed[subcube] >> variable) & 1 == 1


def _fill_objects(order, count, allowed, start, rows) -> None:
    """``_fill_errors`` with Python integers, for denominators that exceed 64 bits."""
    for subcube in order:
        out = rows[start[subcube] : start[subcube + 1]]
        for variable in range(count):
            step = 3**variable
            if may_test(subcube, variable, step, allowed):
                low, high = subcube - 2 * step, subcube - step
                relax_objects(
                    rows[start[low] : start[low + 1]],
                    rows[start[high] : start[high + 1]],
                    1,
                    1,
                    out,
                )
        np.minimum.accumulate(out, out=out)


@jit
def _fill_errors(begin, stop, order, count, allowed, start, nothing, rows):
    """Fill the rows of the subcubes ``order[begin:stop]``; those of their halves are complete."""
    for position in range(begin, stop):
        subcube = np.int64(order[position])
        out = rows[start[subcube] : start[subcube + 1]]
        drops = np.empty(len(out) + 4, dtype=np.int64)
        scratch = np.empty(3 * len(out), dtype=rows.dtype)
        step = 1
        for variable in range(count):
            if len(out) > 1 and may_test(subcube, variable, step, allowed):
                low, high = subcube - 2 * step, subcube - step
                relax(
                    rows[start[low] : start[low + 1]],
                    rows[start[high] : start[high + 1]],
                    1,
                    1,
                    nothing,
                    drops,
                    scratch,
                    out,
                )
            step *= 3
        level_out(out)


@jit
def _perfect_sizes(order, count, settled, allowed, out_perfect):
    """The size of the smallest tree whose error no tree can lower: the Bayes error.

    A huge number where no test is allowed.
    """
    for subcube in order:
        best = np.int64(0) if settled[subcube] else np.int64(1) << 40
        step = 1
        for variable in range(count):
            if may_test(subcube, variable, step, allowed):
                low, high = subcube - 2 * step, subcube - step
                best = min(best, out_perfect[low] + out_perfect[high] + 1)
            step *= 3
        out_perfect[subcube] = best
