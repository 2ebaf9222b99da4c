"""Optimal trees for a read-once DNF under any product distribution: a dynamic program.

It goes over the lattice of restrictions, those with fewer literals first (the paper's section
"Efficient Calculation of Optimal Trees", whose uniform and two-bias recurrences are the cases of
one and of two distinct satisfaction probabilities). A restriction's row holds its least errors by
size. It is as long as sizes can matter: up to the budget of splits that its distance from the
formula leaves, or to its perfect size. The inner step is a min-plus update of one row by two
others: a first test, and every way to share the other splits between both sides. Variables outside
the formula never help, so they are never tested.

Invariant: a row never rises, and its last value stands for all larger sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit, run
from mictree._support.numbers import at_least_one
from mictree._support.progress import Progress, Report
from mictree.optimal import lattice as lattices
from mictree.optimal.lattice import Graph, Lattice
from mictree.optimal.solve import Choice, ProgramTrees, Top, check_rows, repeat_last, smallest_size
from mictree.problems.base import Leaf
from mictree.problems.formula import FormulaProblem

BATCH_UPDATES = 2 * 10**9  # inner steps between two chances to report progress or be interrupted
# numbers above every error; the sum of two integers of this kind still fits into 64 bits
NOTHING = {np.float64: np.inf, np.int64: 2**62}


def solve(
    problem: FormulaProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    progress: Report | None = None,
    top: Top | None = None,
) -> FormulaOptimalTrees:
    """Solve every restriction within ``max_size`` tests, or allowed tests, of the formula."""
    lattice = lattices.build(problem, max_size, memory_limit, top)
    graph = lattice.graph
    perfect = perfect_sizes(graph)
    check_rows(lattice.distance, perfect, max_size, memory_limit)
    start = row_starts(np.minimum(max_size - lattice.distance, perfect) + 1)
    program = (
        _exact_program(problem, lattice, start)
        if exact
        else _float_program(problem, lattice, start)
    )
    for share in fill(graph, program):
        if progress is not None:
            progress(Progress("optimal trees", share))
    row = program.row(1)
    if exact:
        scale = _denominator(problem) ** int(graph.literals[1])
        row = np.array([Fraction(int(number), scale) for number in row], dtype=object)
    return FormulaOptimalTrees(problem, max_size, repeat_last(row, max_size), lattice, program)


@dataclass(frozen=True, repr=False)
class FormulaOptimalTrees(ProgramTrees):
    lattice: Lattice
    program: Program

    def _start(self) -> int:
        return 1

    def _choose(self, leaf: Leaf, state: int, size: int) -> Choice | None:
        size = smallest_size(self.program.row(state), size)
        if size == 0:
            return None
        graph = self.lattice.graph
        best: tuple | None = None
        for edge in graph.edges(state):
            errors = self.program.split_errors(graph, state, edge, size)
            low_size = int(np.argmin(errors))
            if best is None or errors[low_size] < best[0]:
                best = (errors[low_size], edge, low_size)
        assert best is not None  # a restriction that a split improves has edges
        _, edge, low_size = best
        failed = (int(graph.low[edge]), low_size)
        satisfied = (int(graph.high[edge]), size - 1 - low_size)
        variable, positive = self._variable(leaf, state, edge)
        return Choice(variable, *((failed, satisfied) if positive else (satisfied, failed)))

    def _variable(self, leaf: Leaf, restriction: int, edge: int) -> tuple[int, bool]:
        """The first free variable of the kind that an edge tests, and whether it is positive."""
        problem: FormulaProblem = self.problem  # type: ignore[assignment]
        wanted = self.lattice.tested_term(restriction, edge)
        return problem.find_literal(leaf, wanted, int(self.lattice.graph.value[edge]))


def _float_program(problem: FormulaProblem, lattice: Lattice, start: np.ndarray) -> Program:
    """Zero-split errors in place, and the weights of the two sides of each kind of edge."""
    errors = np.full(start[-1], NOTHING[np.float64])
    chance = np.array([problem.term_probability(term) for term in lattice.values])
    leaf_errors = np.empty(len(lattice))
    _leaf_errors(lattice.terms, chance, leaf_errors)
    errors[start[:-1]] = leaf_errors
    return Program.of_floats(problem.satisfaction, int(lattice.graph.literals[1]), start, errors)


def _exact_program(problem: FormulaProblem, lattice: Lattice, start: np.ndarray) -> Program:
    """The same in integers: a row of a restriction with n literals is scaled by denominator**n."""
    denominator = _denominator(problem)
    literals = int(lattice.graph.literals[1])
    kind = np.int64 if denominator**literals < NOTHING[np.int64] else object
    errors = np.full(start[-1], NOTHING.get(kind, denominator**literals), dtype=kind)
    chance = [problem.term_probability(term, exact=True) for term in lattice.values]
    powers = [denominator**power for power in range(literals + 1)]
    fails = [int((1 - value) * denominator) for value in problem.satisfaction]
    for restriction in range(1, len(lattice)):
        present = lattice.terms[restriction]
        miss = math.prod((1 - chance[term] for term in present[present > 0]), start=Fraction(1))
        scale = powers[lattice.graph.literals[restriction]]
        errors[start[restriction]] = int(min(miss, 1 - miss) * scale)
    errors[0] = 0
    # a failing literal takes its whole term away: `drop` literals, of which one was tested
    low_weight = np.array(
        [[failed * powers[max(drop - 1, 0)] for drop in range(literals + 1)] for failed in fails],
        dtype=kind,
    )
    high_weight = np.array([int(value * denominator) for value in problem.satisfaction], dtype=kind)
    return Program(start, errors, low_weight, high_weight)


def _denominator(problem: FormulaProblem) -> int:
    return math.lcm(*(value.denominator for value in problem.satisfaction))


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
        rate = _at_least_one(ascending[:count])
        out_errors[restriction] = min(rate, 1 - rate)


_at_least_one = jit(at_least_one)


@dataclass(frozen=True)
class Program:
    """Rows of errors and the weights with which two of them make a third.

    ``low_weight[value, drop]`` weighs the side where a literal of that value fails and takes its
    term's ``drop`` literals away; ``high_weight[value]`` the side where it is satisfied.
    """

    start: np.typing.NDArray[np.int64]  # where each restriction's row begins
    errors: np.ndarray  # all rows; floats, 64-bit or Python integers
    low_weight: np.ndarray
    high_weight: np.ndarray

    @classmethod
    def of_floats(
        cls,
        satisfaction: Sequence[Fraction],
        most_literals: int,
        start: np.ndarray,
        errors: np.ndarray,
    ) -> Program:
        """Errors as probabilities given the restriction."""
        satisfied = np.array([float(value) for value in satisfaction])
        failed = np.array([float(1 - value) for value in satisfaction])
        return cls(start, errors, np.repeat(failed[:, None], most_literals + 1, axis=1), satisfied)

    def row(self, restriction: int) -> np.ndarray:
        """Least errors by size."""
        return self.errors[self.start[restriction] : self.start[restriction + 1]]

    def split_errors(self, graph: Graph, restriction: int, edge: int, size: int) -> np.ndarray:
        """Least errors with an edge as first test and ``size`` splits, by size of the low side."""
        low, high, value = graph.low[edge], graph.high[edge], graph.value[edge]
        weight = self.low_weight[value, graph.literals[restriction] - graph.literals[low]]
        low_errors = weight * repeat_last(self.row(low), size - 1)
        return low_errors + self.high_weight[value] * repeat_last(self.row(high), size - 1)[::-1]


def row_starts(lengths: np.ndarray) -> np.typing.NDArray[np.int64]:
    """Where each row begins when they lie one after another, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def perfect_sizes(graph: Graph) -> np.typing.NDArray[np.int64]:
    """The size of the smallest tree without error; a huge number where no edges are known."""
    perfect = np.empty(len(graph), dtype=np.int64)
    _perfect_sizes(graph.order, graph.first, graph.low, graph.high, perfect)
    return perfect


@jit
def _perfect_sizes(order, first, low, high, out_perfect):
    """The size of the smallest tree without error; a huge number where no edges are known."""
    for restriction in order:
        best = 1 << 40 if restriction > 0 else 0
        for edge in range(first[restriction], first[restriction + 1]):
            best = min(best, out_perfect[low[edge]] + out_perfect[high[edge]] + 1)
        out_perfect[restriction] = best


def fill(graph: Graph, program: Program) -> Iterator[float]:
    """Fill all rows; yields the share of the work done, every now and then."""
    if program.errors.dtype == object:
        yield from _fill_objects(graph, program)
        return
    for batch in batches(graph, program.start):
        fill_batch(graph, program, batch)
        yield batch.share


class Batch(NamedTuple):
    """Restrictions ``graph.order[begin:stop]``, all with equally many literals."""

    begin: int
    stop: int
    work: float  # inner steps
    share: float  # of all inner steps, when the batch is done


def batches(graph: Graph, start: np.ndarray, done: int = 0) -> Iterator[Batch]:
    """Cut ``graph.order`` from place ``done`` on into batches, none too long to wait for."""
    work = np.cumsum(count_updates(graph, start)[graph.order])
    ends = [*(np.flatnonzero(np.diff(graph.literals[graph.order])) + 1), len(graph)]
    begin = done
    for end in ends:
        while begin < end:
            reached = work[begin] + BATCH_UPDATES
            stop = min(int(end), max(begin + 1, int(np.searchsorted(work, reached))))
            steps = work[stop - 1] - (work[begin - 1] if begin else 0)
            yield Batch(begin, stop, float(steps), float(work[stop - 1] / max(work[-1], 1)))
            begin = stop


def count_updates(graph: Graph, start: np.ndarray) -> np.typing.NDArray[np.float64]:
    """How many inner steps each restriction takes."""
    updates = np.zeros(len(graph))
    _count_updates(graph.first, graph.low, graph.high, start, updates)
    return updates


@jit
def _count_updates(first, low, high, start, out_updates):
    """How many inner steps each restriction takes."""
    for restriction in range(len(out_updates)):
        most = start[restriction + 1] - start[restriction] - 1
        for edge in range(first[restriction], first[restriction + 1]):
            below = min(most, start[low[edge] + 1] - start[low[edge]])
            above = min(most, start[high[edge] + 1] - start[high[edge]])
            # pairs of sizes i < below and j < above with i + j < most
            cut = max(0, below + above - 1 - most)
            out_updates[restriction] += below * above - cut * (cut + 1) // 2


def fill_batch(graph: Graph, program: Program, batch: Batch) -> None:
    """Fill the rows of one batch; those before it are complete."""
    edges = graph.first, graph.low, graph.high, graph.value, graph.literals
    weights = program.low_weight, program.high_weight, NOTHING[program.errors.dtype.type]
    run(
        _fill_errors, batch.stop - batch.begin, batch.work,
        graph.order[batch.begin : batch.stop], edges, weights, program.start, program.errors,
    )  # fmt: skip


@jit
def _fill_errors(begin, stop, order, edges, weights, start, errors):
    """Fill the rows of ``order[begin:stop]``; the rows of their children are complete."""
    first, low, high, value, literals = edges
    low_weight, high_weight, nothing = weights
    for position in range(begin, stop):
        restriction = order[position]
        out = errors[start[restriction] : start[restriction + 1]]
        drops = np.empty(len(out) + 4, dtype=np.int64)
        scratch = np.empty(3 * len(out), dtype=errors.dtype)
        for edge in range(first[restriction], first[restriction + 1]):
            below, above = low[edge], high[edge]
            relax(
                errors[start[below] : start[below + 1]],
                errors[start[above] : start[above + 1]],
                low_weight[value[edge], literals[restriction] - literals[below]],
                high_weight[value[edge]],
                nothing,
                drops,
                scratch,
                out,
            )
        level_out(out)


def _fill_objects(graph: Graph, program: Program) -> Iterator[float]:
    """``_fill_errors`` with Python integers, for denominators that exceed 64 bits."""
    for done, restriction in enumerate(graph.order):
        out = program.row(restriction)
        for edge in graph.edges(restriction):
            low, high, value = graph.low[edge], graph.high[edge], graph.value[edge]
            weight = program.low_weight[value, graph.literals[restriction] - graph.literals[low]]
            relax_objects(
                program.row(low), program.row(high), weight, program.high_weight[value], out
            )
        np.minimum.accumulate(out, out=out)
        if done % 256 == 0:
            yield done / len(graph)


@jit
def relax(low, high, low_weight, high_weight, nothing, drops, scratch, out):
    """Lower ``out[size]`` to the best of all trees with a given root split.

    Sizes i of the low and j of the high subtree add up to size - 1. ``nothing`` is a number above
    every error. Overwrites ``drops``, integers, at least ``len(out) + 4`` long, and ``scratch``, at
    least ``3 * len(out)`` long; lowers ``out`` in place.

    Only sizes at which a row drops can matter, so the loop runs over those of the row with fewer,
    four at a time: one pass over ``out`` then serves four of them, and compiles to vector code.
    """
    most = len(out)
    if most < 2:
        return
    if _find_drops(low, most, drops) > _find_drops(high, most, drops):
        low, high = high, low
        low_weight, high_weight = high_weight, low_weight
    count = _find_drops(low, most, drops)
    drops[count : count + 3] = drops[count - 1]  # repeated, so that there are always four
    width = min(len(high), most - 1)
    scratch[:most] = nothing
    for j in range(width):
        scratch[most + j] = high_weight * high[j]
    scratch[most + width : 2 * most + width] = nothing
    for number in range(0, count, 4):
        first = drops[number]
        shift_2, shift_3 = drops[number + 1] - first, drops[number + 2] - first
        shift_4 = drops[number + 3] - first
        length = min(width + shift_4, most - 1 - first)
        error_1, error_2 = low_weight * low[first], low_weight * low[first + shift_2]
        error_3, error_4 = low_weight * low[first + shift_3], low_weight * low[first + shift_4]
        row_1, row_2 = scratch[most:], scratch[most - shift_2 :]
        row_3, row_4 = scratch[most - shift_3 :], scratch[most - shift_4 :]
        target = out[first + 1 :]
        for j in range(length):
            best = target[j]
            error = error_1 + row_1[j]
            best = error if error < best else best
            error = error_2 + row_2[j]
            best = error if error < best else best
            error = error_3 + row_3[j]
            best = error if error < best else best
            error = error_4 + row_4[j]
            best = error if error < best else best
            target[j] = best


@jit
def _find_drops(row, most, out_drops):
    """The sizes at which a row is lower than before, 0 among them; returns how many."""
    out_drops[0] = 0
    count = 1
    for size in range(1, min(len(row), most - 1)):
        out_drops[count] = size
        count += row[size] < row[size - 1]
    return count


def relax_objects(low, high, low_weight, high_weight, out) -> None:
    """``relax`` on arrays of Python integers."""
    weighted = high_weight * high[: len(out) - 1]
    for i, error in enumerate(low[: len(out) - 1]):
        length = min(len(weighted), len(out) - 1 - i)
        target = out[i + 1 : i + 1 + length]
        np.minimum(target, low_weight * error + weighted[:length], out=target)


@jit
def level_out(out):
    """Let no size be worse than a smaller one."""
    for size in range(1, len(out)):
        out[size] = min(out[size], out[size - 1])
