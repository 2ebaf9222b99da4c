"""Optimal trees for a read-once DNF under any product distribution.

A dynamic program over the lattice of restrictions (the paper's section "Efficient Calculation of
Optimal Trees", whose uniform and two-bias recurrences are the cases of one and of two distinct
satisfaction probabilities). Restrictions with fewer literals are solved first. Variables outside
the formula never help, so they are never tested.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mictree._support.chances import at_least_one
from mictree._support.jit import jit
from mictree._support.progress import Progress, Report
from mictree.optimal.dynamic import lattice as lattices
from mictree.optimal.dynamic.lattice import Lattice
from mictree.optimal.dynamic.minplus import NOTHING
from mictree.optimal.dynamic.program import Program, fill, perfect_sizes, row_starts
from mictree.optimal.result import (
    Choice,
    ProgramTrees,
    Top,
    check_rows,
    repeat_last,
    smallest_size,
)
from mictree.problems.base import Leaf
from mictree.problems.formula import FormulaProblem

_at_least_one = jit(at_least_one)


def solve(
    problem: FormulaProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    progress: Report | None = None,
    top: Top | None = None,
) -> "FormulaOptimalTrees":
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
