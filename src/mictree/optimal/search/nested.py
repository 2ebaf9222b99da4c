"""Trees as the search finds them: nested tests and labels, of which a ``Tree`` is made on demand.

A nested tree is the code of a class, or ``(test, low, high)`` with a nested tree for each side.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mictree._support.jit import jit
from mictree.problems.sample import SampleProblem
from mictree.tree import LEAF, Tree


def holds(
    problem: SampleProblem,
    ranks: tuple[np.ndarray, ...],
    slots: np.ndarray,
    rows: np.ndarray,
    test: int,
) -> np.ndarray:
    """In which of some rows a test holds, given ranks in ordered columns and slots of all rows."""
    literals = problem.literals
    number, position = literals.locate(test)
    column = literals.columns[number]
    if number not in literals.ordered:
        taken = slots[rows]
        return problem.words(test)[taken >> 6] >> (taken & 63).astype(np.uint64) & 1 > 0
    mine = ranks[literals.ordered.index(number)][rows]
    return mine == 0 if position == column.thresholds else mine > position + column.missing


def count_splits(nested: Any) -> int:
    """The number of tests of a nested tree."""
    return 1 + sum(map(count_splits, nested[1:])) if isinstance(nested, tuple) else 0


def build(problem: SampleProblem, nested: Any) -> Tree:
    """A tree from nested tests and labels.

    Thresholds are set halfway between the neighbouring values of the rows that reach them.
    """
    leaves: list[int] = []
    tests: list[int] = []
    thresholds: list[float | None] = []
    labels = [LEAF]
    everything = np.arange(len(problem.ranks[0]) if problem.ranks else 0)
    waiting = [(nested, 0, everything)]  # subtree, leaf by order of creation, its rows
    while waiting:
        subtree, leaf, rows = waiting.pop()
        if not isinstance(subtree, tuple):
            labels[leaf] = subtree
            continue
        test, low, high = subtree
        threshold, below, above = None, rows, rows
        if problem.ranks:  # without ordered columns no test depends on the rows
            test, threshold, below, above = _divide(problem, test, rows)
        leaves.append(leaf)
        tests.append(test)
        thresholds.append(threshold)
        waiting.append((high, len(labels) + 1, above))
        waiting.append((low, len(labels), below))
        labels += [LEAF, LEAF]
    return problem.tree(leaves, tests, thresholds, labels)


def _divide(
    problem: SampleProblem, test: int, rows: np.ndarray
) -> tuple[int, float | None, np.ndarray, np.ndarray]:
    """The test that divides some rows alike, in the middle; its threshold, if it has one; the rows.

    Rows of an ordered column's sides are moved within their array.
    """
    literals = problem.literals
    number, position = literals.locate(test)
    column = literals.columns[number]
    if number not in literals.ordered or position == column.thresholds:
        held = holds(problem, problem.ranks, problem.slots, rows, test)
        return test, None, rows[~held], rows[held]
    ranks = problem.ranks[literals.ordered.index(number)]
    count, below, above = divide(ranks, position + column.missing, rows)
    low, high = rows[:count], rows[count:]
    if below < column.missing:  # all that is not above is missing
        return test, column.threshold(position), low, high
    middle, threshold = column.between(below, above)
    return test - position + middle, threshold, low, high


@jit
def divide(ranks, cut, rows):
    """Move rows with ranks up to a cut to the front; says how many, and both ranks beside it."""
    count, below, above = 0, np.int64(0), np.int64(1) << 40
    for place in range(len(rows)):
        row = rows[place]
        rank = np.int64(ranks[row])
        if rank <= cut:
            rows[place], rows[count] = rows[count], row
            count += 1
            below = max(below, rank)
        else:
            above = min(above, rank)
    return count, below, above


def as_trees(problem: SampleProblem, found: Sequence[Any]) -> tuple[Tree, ...]:
    """Trees, some of them nested, as trees; what is shared stays shared."""
    made: dict[int, Tree] = {}
    trees = []
    for each in found:
        if id(each) not in made:
            made[id(each)] = each if isinstance(each, Tree) else build(problem, each)
        trees.append(made[id(each)])
    return tuple(trees)
