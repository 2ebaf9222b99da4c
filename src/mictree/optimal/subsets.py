"""Optimal trees whose tests are sets of categories.

A column with ``k`` categories, missing values counted, divides its rows in ``2**(k - 1) - 1`` ways.
Up to ``MOST_CELLS`` categories all of them become 0/1 columns of a problem of its own, whose search
is as for any other (``mictree.optimal.frontier``): the sets that divide the rows of a node alike
are one test there, as elsewhere. The trees that it finds get their sets back, each as the node that
tests it names it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.checks import TooLarge
from mictree.columns.literals import Column, Literals
from mictree.problems.sample import SampleProblem
from mictree.problems.subsets import turn_side
from mictree.tree import LEAF, Tree

if TYPE_CHECKING:
    from mictree.optimal.frontier import SampleOptimalTrees

MOST_CELLS = 12  # categories of a column, missing values counted, whose sets are all listed
BYTES_EACH = 3  # of a row and a set, while the search reads them

Words = np.typing.NDArray[np.uint64]


def solve_listed(
    problem: SampleProblem,
    solve: Callable[..., SampleOptimalTrees],
    memory_limit: int,
    time_limit: float | None,
) -> SampleOptimalTrees:
    """Search with all sets as tests of their own, and name them as the trees use them."""
    listing = Listing.of(problem, memory_limit)
    solved = solve(listing.problem, memory_limit=memory_limit, time_limit=time_limit)
    named: dict[int, Tree] = {}  # sizes may share a tree
    for tree in solved.trees:
        named.setdefault(id(tree), listing.rename(tree))
    found = tuple(named[id(tree)] for tree in solved.trees)
    return replace(solved, problem=problem, found=found)


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
        for number, count in cells.items():
            if count > MOST_CELLS:
                raise ValueError(
                    f"optimal trees can test sets of at most {MOST_CELLS} categories, missing "
                    f"values counted; {literals.columns[number].name} has {count}"
                )
        count = sum(2 ** (each - 1) - 1 for each in cells.values())
        needed = BYTES_EACH * count * len(problem.slots)
        if needed > memory_limit:
            raise TooLarge(
                f"sets of categories must fit into {memory_limit:,} bytes; {count:,} sets of "
                f'{len(problem.slots):,} rows need {needed:,}: use categories="each"'
            )
        for number, each in cells.items():
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
