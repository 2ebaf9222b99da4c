"""Optimal trees on data, with certified intervals: an engine is chosen, the frontier is searched.

Bounds of the search are whole weights. Here they become errors: shares of the weight, exact or as
floats that allow for the rounding of weights.
"""

import operator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import accumulate
from typing import Any

import numpy as np

from mictree._support.checks import check_count, check_seconds, check_size
from mictree._support.progress import Report
from mictree._support.time_limit import TimeLimit
from mictree.growers.rules import TopDown
from mictree.optimal.result import CertifiedErrors, OptimalTrees
from mictree.optimal.search.bits import BitEngine
from mictree.optimal.search.engine import QUICK, Engine
from mictree.optimal.search.frontier import Frontier
from mictree.optimal.search.nested import as_trees
from mictree.optimal.search.rows import Rows
from mictree.optimal.search.searched_rows import Written
from mictree.optimal.search.table import STORED
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

FEW_THRESHOLDS = 12  # a column on average, up to which counting all pairs is faster than sweeping
PAIRED_LEVELS = 8  # for which pair counts must fit into memory


@dataclass(frozen=True, repr=False)
class SampleOptimalTrees(OptimalTrees):
    """Optimal trees on data, as far as they are proved.

    Attributes
    ----------
    errors : CertifiedErrors, with ``lower``, ``upper`` and ``proved`` for each size
    sub_problems : how many row sets were looked at
    interrupted : whether Ctrl-C ended the search
    """

    problem: SampleProblem
    errors: CertifiedErrors
    sub_problems: int
    interrupted: bool
    found: tuple[Any, ...] = field(repr=False)  # a tree of each size, perhaps nested

    def _tree(self, size: int) -> Tree:
        return as_trees(self.problem, [self.found[size]])[0]

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """A tree of each size."""
        return as_trees(self.problem, self.found)


def solve(
    problem: SampleProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    progress: Report | None = None,
    max_depth: int | None = None,
    time_limit: float | None = None,
    price: Fraction | None = None,
) -> SampleOptimalTrees:
    """Prove sizes 1, 2, ... until ``max_size``, the time limit or an interrupt.

    With a price per split, as a share of the weight, only trees that could cost less than the best
    one are looked for: the bounds of sizes that cannot pay stay as they are.
    """
    if max_depth is not None:
        max_depth = check_size(max_depth, "max_depth")
    if time_limit is not None:
        time_limit = check_seconds(time_limit, "time_limit")
    memory_limit = check_count(memory_limit, "memory_limit")
    with TimeLimit(time_limit) as limit:
        grow = None
        if max_depth is None:
            grow = cache(partial(TopDown().grow, problem, max_size))
            if not 0 < sum(map(len, problem.ranks)) <= QUICK:
                grow()  # whose memory is free again before the search takes its own
        engine = choose_engine(problem, exact, memory_limit)
        frontier = Frontier(engine, max_size, max_depth, memory_limit)
        frontier.price = None if price is None else price * frontier.total
        frontier.run(limit, grow, progress)
    errors = _certify(frontier, exact)  # before the trees, which it may change
    return SampleOptimalTrees(
        problem, max_size, errors,
        int(frontier.asking.control[STORED]), frontier.asking.interrupted, tuple(frontier.found),
    )  # fmt: skip


def choose_engine(problem: SampleProblem, exact: bool, memory_limit: int) -> Engine:
    """The faster way to enumerate the tests of a problem.

    Counting all pairs takes time with the square of the literals, sweeping with literals times
    columns; counting also takes memory.
    """
    literals = problem.literals
    columns = len(literals.ordered) + len(problem.bits)
    pairs = 8 * PAIRED_LEVELS * len(problem.classes) * len(literals) ** 2
    few = len(literals) <= FEW_THRESHOLDS * columns and pairs <= memory_limit
    if few or not problem.ranks:
        return BitEngine(Rows.of(problem, exact))
    from mictree.optimal.search.ordered_rows import OrderedRows
    from mictree.optimal.search.sweeping import SweepEngine

    return SweepEngine(OrderedRows.of(problem, exact))


def _certify(frontier: Frontier, exact: bool) -> CertifiedErrors:
    """Both bounds as shares of the whole weight.

    Where the search rounds weights, lower bounds allow for it, and upper bounds are the errors of
    the trees by the weights as written.
    """
    kind, share = (object, Fraction) if exact else (float, operator.truediv)
    lower, upper, whole = frontier.lower, frontier.upper, frontier.total
    if (written := frontier.rows.written) is not None:
        whole = int(written.weights.sum())
        lower = [max(0, wrong - written.slack) * written.unit for wrong in lower]
        upper = _settle(frontier, written)
        lower[0] = upper[0]  # a lone leaf needs no search
    lower = [*accumulate(reversed(lower), max)][::-1]  # fewer splits do no better
    least = np.array([share(wrong, whole) for wrong in map(min, lower, upper)], dtype=kind)
    most = np.array([share(wrong, whole) for wrong in upper], dtype=kind)
    return CertifiedErrors.between(least, most)


def _settle(frontier: Frontier, written: Written) -> list[int]:
    """Give each size its best tree by the weights as written; returns their wrong weights."""
    settled: list[tuple[Tree, int]] = []
    seen: dict[int, tuple[Tree, int]] = {}  # many sizes may share a tree
    whole, rows, greedy = int(written.weights.sum()), frontier.rows, frontier.greedy
    for size, tree in enumerate(frontier.trees):
        if id(tree) not in seen:
            seen[id(tree)] = rows.relabel(tree, written.weights)
        best = min([*settled[-1:], seen[id(tree)]], key=lambda found: found[1])
        if greedy is not None and greedy.errors[size] < best[1] / whole:
            grown = rows.relabel(greedy.tree(size), written.weights)
            best = min(best, grown, key=lambda found: found[1])
        settled.append(best)
    frontier.found = [tree for tree, _ in settled]
    return [wrong for _, wrong in settled]
