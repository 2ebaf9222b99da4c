"""Least errors on data where every node may test only its splits of largest gain.

A state is a set of rows; all states that allowed tests reach are found first, nearest first, and a
dynamic program over them gives the least errors of all sizes. Tests that divide a state's rows
alike count as one of the best. When time or memory runs out, some states have not been expanded: as
leaves they give upper bounds, as states without error lower ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mictree._support.checks import check_count, check_seconds, check_size
from mictree._support.progress import Progress, Report, TimeLimit, ignore
from mictree.growers.choosing import gains_by, least_of_best
from mictree.growers.data_gains import PackedLeaves
from mictree.growers.rules import TopDown
from mictree.optimal.certified import CertifiedErrors
from mictree.optimal.lattice import Graph
from mictree.optimal.program import NOTHING, Program, fill, row_starts
from mictree.optimal.solve import (
    Choice,
    ProgramTrees,
    Top,
    repeat_last,
    smallest_size,
)
from mictree.problems.base import Leaf
from mictree.problems.sample import SampleProblem

REPORTED = 256  # states between two reports
STATE_BYTES = 1500  # of a state beside its rows: a leaf, its edges, its place in a dictionary


def solve(
    problem: SampleProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    top: Top,
    max_depth: int | None = None,
    time_limit: float | None = None,
    progress: Report | None = None,
) -> RestrictedTrees:
    """Explore, then solve; limits on leaves and splits are ignored, as in the ordinary search."""
    if not problem.counts_errors:
        raise ValueError(f"top is for plain errors only; the problem has {problem.task.name}")
    if problem.literals.grouped:
        raise ValueError(
            'top chooses among listed tests; categories="subsets" lists none: use categories="each"'
        )
    if time_limit is not None:
        time_limit = check_seconds(time_limit, "time_limit")
    depth = max_size if max_depth is None else check_size(max_depth, "max_depth")
    memory = check_count(memory_limit, "memory_limit")
    with TimeLimit(time_limit) as limit:
        states = _States(
            problem.unlimited(), exact, min(max_size, depth), max_depth is not None, top
        )
        states.explore(limit, memory, progress or ignore)
    graph, lengths = states.graph(max_size)
    errors = states.errors()
    upper = _solve(graph, lengths, errors)
    row = repeat_last(upper.row(0), max_size)
    least = row
    if states.unexpanded:
        errors = errors.copy()
        errors[states.unexpanded] = 0
        least = repeat_last(_solve(graph, lengths, errors).row(0), max_size)
    return RestrictedTrees(
        states.problem, max_size, CertifiedErrors(*map(states.share, (least, row))),
        len(states.leaves), states.interrupted, graph, upper, states.variables,
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class RestrictedTrees(ProgramTrees):
    """The best trees of allowed splits on data.

    Attributes
    ----------
    errors : CertifiedErrors, with ``lower``, ``upper`` and ``proved`` for each size
    sub_problems : how many row sets were reached
    interrupted : whether Ctrl-C ended the search
    """

    sub_problems: int
    interrupted: bool
    graph: Graph
    program: Program
    variables: list[int]  # that each edge tests

    def _start(self) -> int:
        return 0

    def _choose(self, leaf: Leaf, state: int, size: int) -> Choice | None:
        size = smallest_size(self.program.row(state), size)
        if size == 0:
            return None
        splits = [
            (self.program.split_errors(self.graph, state, edge, size), edge)
            for edge in self.graph.edges(state)
        ]
        errors, edge = min(splits, key=lambda split: split[0].min())
        low_size = int(np.argmin(errors))
        return Choice(
            self.variables[edge],
            (int(self.graph.low[edge]), low_size),
            (int(self.graph.high[edge]), size - 1 - low_size),
        )


class _States:
    """The row sets that allowed tests reach, numbered as they are found."""

    def __init__(
        self, problem: SampleProblem, exact: bool, most_tests: int, deep: bool, top: Top
    ) -> None:
        self.problem, self.top, self.exact = problem, top, exact
        self.most_tests, self.deep = most_tests, deep
        self.leaves: list[Leaf] = []
        self.numbers: dict[Any, int] = {}
        self.distance: list[int] = []
        self.edges: list[list[tuple[int, int, int]]] = []  # variable, low, high
        self.unexpanded: list[int] = []  # though more tests would be allowed
        self.interrupted = False
        self._packed = None
        if PackedLeaves.hold(problem):
            self._packed = PackedLeaves(TopDown(top.criterion), problem)
        self._gains = gains_by(top.criterion)
        self._number(problem.root(exact), 0)

    @property
    def variables(self) -> list[int]:
        return [variable for edges in self.edges for variable, _, _ in edges]

    def explore(self, limit: TimeLimit, memory_limit: int, report: Report) -> None:
        """Expand one state after another, those nearest to the root first."""
        most = memory_limit // (2 * self.problem.valid.nbytes + STATE_BYTES)
        done = 0
        try:
            while done < len(self.leaves) <= most and limit.left() > 0:
                if done % REPORTED == 0:
                    report(Progress("row sets", None, self._progress_text(done)))
                self.edges.append(self._expand(done))
                done += 1
        except KeyboardInterrupt:
            self.interrupted = True
        for number in range(done, len(self.leaves)):
            self.edges.append([])
            if not self.leaves[number].pure and self.distance[number] < self.most_tests:
                self.unexpanded.append(number)

    def _progress_text(self, done: int) -> str:
        """How far the search is; how many row sets there will be is not known."""
        found, tests = len(self.leaves), self.distance[done]
        return f"{done:,} of {found:,} found so far are done, {tests} tests deep"

    def _expand(self, number: int) -> list[tuple[int, int, int]]:
        leaf, tests = self.leaves[number], self.distance[number] + 1
        if leaf.pure or tests > self.most_tests:
            return []
        edges: dict[frozenset[int], tuple[int, int, int]] = {}
        for variable in self._allowed(leaf):
            low, high = self._children(leaf, variable, tests)
            edges.setdefault(frozenset((low, high)), (variable, low, high))
        return list(edges.values())

    def _children(self, leaf: Leaf, variable: int, tests: int) -> tuple[int, int]:
        """The states on both sides of a test; most are known, and are found by their rows alone."""
        if self._packed is not None:
            high = leaf.state.mask & self._packed.bits[variable]
            keys = (self._key(mask, tests) for mask in (leaf.state.mask ^ high, high))
            known = [self.numbers.get(key, -1) for key in keys]
            if min(known) >= 0:
                return known[0], known[1]
        low, high = self.problem.children(leaf, variable)
        return self._number(low, tests), self._number(high, tests)

    def _key(self, mask: np.ndarray, tests: int) -> Any:
        return (mask.tobytes(), tests) if self.deep else mask.tobytes()

    def _allowed(self, leaf: Leaf) -> list[int]:
        if self._packed is not None:
            variables, gains = self._packed.gains(leaf)
        else:
            splits = self.problem.splits(leaf)
            variables, gains = splits.variables, self._gains(self.problem, leaf, splits)
        return variables[gains >= self._least_allowed(leaf, variables, gains)].tolist()

    def _least_allowed(self, leaf: Leaf, variables: np.ndarray, gains: np.ndarray) -> float:
        """The least gain among the ``top`` best of a leaf's different splits."""
        if len(gains) <= self.top.number:
            return -np.inf
        mask, different = leaf.state.mask, set()
        places = np.zeros(len(gains), dtype=np.int64)
        for place in np.argsort(-gains).tolist():
            literal = int(variables[place])
            bits = (
                self.problem.words(literal) if self._packed is None else self._packed.bits[literal]
            )
            high = mask & bits
            known = len(different)
            different.add(min(high.tobytes(), (mask ^ high).tobytes()))  # a test or its complement
            places[place] = len(different) - known
            if len(different) == self.top.number:
                break
        return float(least_of_best(gains, places, self.top.number))

    def _number(self, leaf: Leaf, tests: int) -> int:
        key = self._key(leaf.state.mask, tests)
        if key not in self.numbers:
            self.numbers[key] = len(self.leaves)
            self.leaves.append(leaf)
            self.distance.append(tests)
        return self.numbers[key]

    def graph(self, max_size: int) -> tuple[Graph, np.ndarray]:
        """The states and their tests, and how long each state's row of errors must be."""
        rows = [int(np.bitwise_count(leaf.state.mask).sum()) for leaf in self.leaves]
        height = np.zeros(len(rows), dtype=np.int32)
        useful = np.zeros(len(rows), dtype=np.int64)  # a larger subtree has no smaller error
        # all complete trees make the same error, so the smallest will do if none is missing
        enough = max if self.unexpanded or self.deep else min
        for state in np.argsort(rows, kind="stable").tolist():  # a test leaves fewer rows
            edges = self.edges[state]
            if edges:
                height[state] = 1 + max(max(height[low], height[high]) for _, low, high in edges)
                useful[state] = enough(1 + useful[low] + useful[high] for _, low, high in edges)
        ends = np.cumsum([0, *map(len, self.edges)])
        flat = np.array([edge[1:] for edges in self.edges for edge in edges], dtype=np.int32)
        low, high = flat.reshape(-1, 2).T.copy()
        graph = Graph(height, ends, low, high, np.zeros(len(low), dtype=np.int16))
        budget = max_size - np.array(self.distance)
        return graph, np.minimum(budget, useful) + 1

    def errors(self) -> np.ndarray:
        """The error of each state as a leaf: floats, or integers over one denominator."""
        errors = [leaf.error for leaf in self.leaves]
        if not self.exact:
            return np.array(errors, dtype=float)
        self._denominator = math.lcm(*(Fraction(error).denominator for error in errors))
        whole = [int(error * self._denominator) for error in errors]
        kind = np.int64 if self._denominator < NOTHING[np.int64] else object
        return np.array(whole, dtype=kind)

    def share(self, row: np.ndarray) -> np.ndarray:
        """Errors as probabilities."""
        if not self.exact:
            return row
        return np.array([Fraction(int(error), self._denominator) for error in row], dtype=object)


def _solve(graph: Graph, lengths: np.ndarray, leaf_errors: np.ndarray) -> Program:
    """The least errors of all states; those of both sides of a test add up."""
    start = row_starts(lengths)
    kind = leaf_errors.dtype
    errors = np.full(start[-1], NOTHING.get(kind.type, 2 * max(leaf_errors)), dtype=kind)
    errors[start[:-1]] = leaf_errors
    ones = np.ones((1, int(graph.literals.max(initial=0)) + 1), dtype=kind)
    program = Program(start, errors, ones, ones[0, :1].copy())
    for _ in fill(graph, program):
        pass
    return program
