"""Optimal trees for a read-once DNF under any product distribution.

A dynamic program over the lattice of restrictions (the paper's section "Efficient Calculation of
Optimal Trees", whose uniform and two-bias recurrences are the cases of one and of two distinct
satisfaction probabilities). Restrictions with fewer literals are solved first. Variables outside
the formula never help, so they are never tested.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numba
import numpy as np

from mictree import lattice as lattices
from mictree._jit import jit, parallel_jit
from mictree.lattice import Lattice
from mictree.optimal.base import (
    Choice,
    OptimalTrees,
    Progress,
    check_rows,
    repeat_last,
    smallest_size,
)
from mictree.optimal.minplus import level_out, relax, relax_objects
from mictree.problems.base import Leaf
from mictree.problems.formula import FormulaProblem

BATCH_UPDATES = 2 * 10**9  # between two chances to report progress or to be interrupted


def solve(
    problem: FormulaProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    progress: Progress | None = None,
) -> "FormulaOptimalTrees":
    """Solve every restriction within ``max_size`` tests of the formula."""
    lattice = lattices.build(problem, max_size, memory_limit)
    order = np.argsort(lattice.literals, kind="stable").astype(np.int32)
    perfect = np.empty(len(lattice), dtype=np.int64)
    _perfect_sizes(order, lattice.first, lattice.low, lattice.high, perfect)
    budget = max_size - lattice.distance
    start = np.concatenate([[0], np.cumsum(np.minimum(budget, perfect) + 1)])
    check_rows(lattice.distance, perfect, max_size, memory_limit)
    program = _exact_program if exact else _float_program
    errors, low_weight, high_weight = program(problem, lattice, start)
    if errors.dtype == object:
        _fill_objects(lattice, order, start, low_weight, high_weight, errors, progress)
    else:
        _fill(lattice, order, start, low_weight, high_weight, errors, progress)
    row = errors[start[1] : start[2]]
    if exact:
        scale = _denominator(problem) ** int(lattice.literals[1])
        row = np.array([Fraction(int(number), scale) for number in row], dtype=object)
    weights = (low_weight, high_weight)
    return FormulaOptimalTrees(
        problem, max_size, repeat_last(row, max_size), lattice, start, errors, *weights
    )


@dataclass(frozen=True)
class FormulaOptimalTrees(OptimalTrees):
    lattice: Lattice
    start: np.ndarray  # where each restriction's row begins in rows
    rows: np.ndarray
    low_weight: np.ndarray
    high_weight: np.ndarray

    def _start(self) -> int:
        return 1

    def _row(self, restriction: int) -> np.ndarray:
        return self.rows[self.start[restriction] : self.start[restriction + 1]]

    def _choose(self, leaf: Leaf, state: int, size: int) -> Choice | None:
        size = smallest_size(self._row(state), size)
        if size == 0:
            return None
        best: tuple | None = None
        for edge in self.lattice.edges(state):
            low, high = self.lattice.low[edge], self.lattice.high[edge]
            value = self.lattice.value[edge]
            drop = self.lattice.literals[state] - self.lattice.literals[low]
            errors = (
                self.low_weight[value, drop] * repeat_last(self._row(low), size - 1)
                + self.high_weight[value] * repeat_last(self._row(high), size - 1)[::-1]
            )
            low_size = int(np.argmin(errors))
            if best is None or errors[low_size] < best[0]:
                best = (errors[low_size], edge, low_size)
        assert best is not None  # a restriction that a split improves has edges
        _, edge, low_size = best
        failed = (int(self.lattice.low[edge]), low_size)
        satisfied = (int(self.lattice.high[edge]), size - 1 - low_size)
        variable, positive = self._variable(leaf, state, edge)
        return Choice(variable, *((failed, satisfied) if positive else (satisfied, failed)))

    def _variable(self, leaf: Leaf, restriction: int, edge: int) -> tuple[int, bool]:
        """The first free variable of the kind that an edge tests, and whether it is positive."""
        problem: FormulaProblem = self.problem  # type: ignore[assignment]
        wanted = self.lattice.tested_term(restriction, edge)
        return problem.find_literal(leaf, wanted, int(self.lattice.value[edge]))


def _float_program(problem: FormulaProblem, lattice: Lattice, start: np.ndarray):
    """Zero-split errors in place, and the weights of the two sides of each kind of edge."""
    errors = np.full(start[-1], np.inf)
    chance = np.array([problem.term_probability(term) for term in lattice.values])
    leaf_errors = np.empty(len(lattice))
    _leaf_errors(lattice.terms, chance, leaf_errors)
    errors[start[:-1]] = leaf_errors
    literals = int(lattice.literals[1])
    satisfied = np.array([float(value) for value in problem.satisfaction])
    failed = np.array([float(1 - value) for value in problem.satisfaction])
    return errors, np.repeat(failed[:, None], literals + 1, axis=1), satisfied


def _exact_program(problem: FormulaProblem, lattice: Lattice, start: np.ndarray):
    """The same in integers: a row of a restriction with n literals is scaled by denominator**n."""
    denominator = _denominator(problem)
    literals = int(lattice.literals[1])
    kind = np.int64 if denominator**literals < 2**62 else object
    errors = np.full(start[-1], denominator**literals, dtype=kind)
    chance = [problem.term_probability(term, exact=True) for term in lattice.values]
    powers = [denominator**power for power in range(literals + 1)]
    fails = [int((1 - value) * denominator) for value in problem.satisfaction]
    for restriction in range(len(lattice)):
        present = lattice.terms[restriction]
        miss = math.prod((1 - chance[term] for term in present[present > 0]), start=Fraction(1))
        scale = powers[lattice.literals[restriction]]
        errors[start[restriction]] = int(min(miss, 1 - miss) * scale)
    errors[0] = 0
    # a failing literal takes its whole term away: `drop` literals, of which one was tested
    low_weight = np.array(
        [[failed * powers[max(drop - 1, 0)] for drop in range(literals + 1)] for failed in fails],
        dtype=kind,
    )
    high_weight = np.array([int(value * denominator) for value in problem.satisfaction], dtype=kind)
    return errors, low_weight, high_weight


def _denominator(problem: FormulaProblem) -> int:
    return math.lcm(*(value.denominator for value in problem.satisfaction))


def _fill(lattice, order, start, low_weight, high_weight, errors, progress) -> None:
    """Run the kernel over batches of restrictions with equally many literals."""
    updates = np.zeros(len(lattice))
    _count_updates(lattice.first, lattice.low, lattice.high, start, updates)
    work = np.cumsum(updates[order])
    levels = np.flatnonzero(np.diff(lattice.literals[order])) + 1
    edges = np.concatenate([[0], levels, [len(order)]])
    for begin, end in pairwise(edges):
        while begin < end:
            reached = work[begin] + BATCH_UPDATES
            stop = min(int(end), max(int(begin) + 1, int(np.searchsorted(work, reached))))
            _fill_errors(
                order[begin:stop], lattice.first, lattice.low, lattice.high, lattice.value,
                lattice.literals, start, low_weight, high_weight, errors,
            )  # fmt: skip
            begin = stop
            if progress is not None:
                progress(float(work[begin - 1] / max(work[-1], 1)))


def _fill_objects(lattice, order, start, low_weight, high_weight, errors, progress) -> None:
    """The same with Python integers, for denominators that exceed 64 bits."""

    def row(restriction):
        return errors[start[restriction] : start[restriction + 1]]

    for done, restriction in enumerate(order):
        for edge in lattice.edges(restriction):
            low, high, value = lattice.low[edge], lattice.high[edge], lattice.value[edge]
            weight = low_weight[value, lattice.literals[restriction] - lattice.literals[low]]
            relax_objects(row(low), row(high), weight, high_weight[value], row(restriction))
        np.minimum.accumulate(row(restriction), out=row(restriction))
        if progress is not None and done % 256 == 0:
            progress(done / len(order))


@parallel_jit
def _fill_errors(order, first, low, high, value, literals, start, low_weight, high_weight, errors):
    """Fill the rows of the given restrictions, whose children's rows are complete."""
    for position in numba.prange(len(order)):
        restriction = order[position]
        out = errors[start[restriction] : start[restriction + 1]]
        scratch = np.empty_like(out)
        for edge in range(first[restriction], first[restriction + 1]):
            below, above = low[edge], high[edge]
            relax(
                errors[start[below] : start[below + 1]],
                errors[start[above] : start[above + 1]],
                low_weight[value[edge], literals[restriction] - literals[below]],
                high_weight[value[edge]],
                scratch,
                out,
            )
        level_out(out)


@jit
def _perfect_sizes(order, first, low, high, out_perfect):
    """The size of the smallest tree without error; a huge number where no edges are known."""
    for restriction in order:
        best = 1 << 40
        for edge in range(first[restriction], first[restriction + 1]):
            best = min(best, out_perfect[low[edge]] + out_perfect[high[edge]] + 1)
        out_perfect[restriction] = best
        if restriction == 0:
            out_perfect[0] = 0


@jit
def _count_updates(first, low, high, start, out_updates):
    """How many inner steps each restriction takes."""
    for restriction in range(len(out_updates)):
        most = start[restriction + 1] - start[restriction] - 1
        for edge in range(first[restriction], first[restriction + 1]):
            below = min(most, start[low[edge] + 1] - start[low[edge]])
            above = min(most, start[high[edge] + 1] - start[high[edge]])
            out_updates[restriction] += below * above


@jit
def _leaf_errors(terms, chance, out_errors):
    """The least error without a split, from the term probabilities in ascending order."""
    ascending = np.empty(terms.shape[1])
    for restriction in range(len(out_errors)):
        count = 0
        for term in terms[restriction]:
            if term > 0:
                ascending[count] = chance[term]
                count += 1
        ascending[:count].sort()
        rate = 0.0
        for position in range(count):
            rate += ascending[position] * (1 - rate)
        out_errors[restriction] = min(rate, 1 - rate)
