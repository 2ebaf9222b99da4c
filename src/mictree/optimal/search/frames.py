"""What the search for optimal trees works on: the rows, and one frame of scratch per level.

Few and large arrays, as compiling grows with their number.
"""

from typing import NamedTuple

import numpy as np

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Data(NamedTuple):
    """Distinct rows in slots: sorted by class, each class from a word boundary on.

    Weights are integers, int32 or int64, kept as sums of a few amounts.
    """

    words: np.ndarray  # (slots, words): the literals' bits; then, if there are many, the amounts'
    columns: np.ndarray  # (literals, slot words): the slots in which each literal holds
    amounts: np.ndarray
    weights: np.ndarray  # (slots, 2): the weight, and what of it no tree can label right
    keys: np.ndarray  # (slots, 2) random
    first_word: np.ndarray  # (classes + 1,)


class Frames(NamedTuple):
    """The rows of a sub-problem on each level, and what their pairs of literals say."""

    mask: np.ndarray  # (levels, slot words)
    pairs: np.ndarray  # (levels, classes, literals, literals) weight where both hold; lower half
    cells: np.ndarray  # (levels, 8 + classes, literals); see the names below
    order: np.ndarray  # (levels, 2, literals) in which they are tried; those looked up so far
    bounds: np.ndarray  # (levels, 1 + literals, 2, budgets) lower bounds of both children by
    # budget: of the literal being tried, and of those looked up so far
    keys: np.ndarray  # (levels, 8): of the rows; of both children; which of their bounds are exact
    state: np.ndarray  # (levels, 11)
    value: np.ndarray  # (levels, 9 + classes)


# cells: least errors of the low and high child without a split, with one; their unavoidable errors
LEAF, ONE, LEAST = 0, 2, 4
SHARE = 6  # the unavoidable errors where the literal holds
MASS = 7  # the weight where it holds
SINGLE = 8  # and of each class
# keys
EXACT = 6
# state: the question; the literal and the share of the budget at which it stands; the last child
# asked; the child with less weight; how many literals split the rows; whose child's pairs are
# here; how many literals were looked up
BUDGET, DEPTH, POSITION, TURN, LOOKED, SIDE, LOW, SMALLER, USEFUL, HELD, DONE = range(11)
# value: the answer is wanted if below the bound; the best so far or the bound; the unavoidable
# error; an error that is good enough; one that is attained; those with 0, 1, 2 splits and with one
# in each child; the weight of each class
BOUND, LIMIT, FLOOR, GOAL, BEST, ERRORS, TOTALS = 0, 1, 2, 3, 4, 5, 9


def make_frames(data: Data, budgets: int, levels: int) -> Frames:
    """Frames for a search over some rows."""
    shapes, kind = _shapes(data, budgets), data.weights.dtype
    kinds = {"mask": np.uint64, "order": np.int64, "keys": np.uint64, "state": np.int64}
    return Frames(
        **{
            name: np.empty((levels, *shape), dtype=kinds.get(name, kind))
            for name, shape in shapes.items()
        }
    )


def frame_bytes(data: Data, budgets: int) -> int:
    """The memory of one level, at most."""
    return 8 * sum(int(np.prod(shape)) for shape in _shapes(data, budgets).values())


def _shapes(data: Data, budgets: int) -> dict[str, tuple[int, ...]]:
    literals, classes = len(data.columns), len(data.first_word) - 1
    return {
        "mask": (data.columns.shape[1],),
        "pairs": (classes, literals, literals),
        "cells": (SINGLE + classes, literals),
        "order": (2, literals),
        "bounds": (1 + literals, 2, budgets + 1),
        "keys": (8,),
        "state": (11,),
        "value": (TOTALS + classes,),
    }


def first_test(frames: Frames, budget: int, least: int) -> tuple[int, int, int, int]:
    """The first test of the tree that frame 0 has retraced.

    Returns the literal, the budget of the low child, and the least errors of both children. Of all
    that the pairs know to be as good, the one with the purest children is taken.
    """
    cells = frames.cells[0].astype(np.int64)
    for sizes in ([(0, 0)], [(0, 1), (1, 0)], [(1, 1)]):
        ways = []
        for low, high in sizes:
            errors = cells[2 * low] + cells[2 * high + 1]
            attained = np.flatnonzero((cells[LEAF] >= 0) & (errors == least))
            ways += [(literal, low, high) for literal in attained.tolist()]
        if ways and sum(sizes[0]) < budget:
            impurity = _impurities(cells[SINGLE:], frames.value[0, TOTALS:])
            literal, low, high = min(ways, key=lambda way: impurity[way[0]])
            return literal, low, int(cells[2 * low, literal]), int(cells[2 * high + 1, literal])
    literal = int(frames.order[0, 0, frames.state[0, POSITION]])
    low = int(frames.state[0, LOW])
    high = int(frames.state[0, BUDGET]) - 1 - low  # depth may leave less than the budget
    low_error, high_error = frames.bounds[0, 0, 0, low], frames.bounds[0, 0, 1, high]
    return literal, low, int(low_error), int(high_error)


def _impurities(high: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """The Gini impurity of both children of each literal, weighted, from the classes' weights."""
    sides = np.stack([totals[:, None] - high, high]).astype(float)
    masses = sides.sum(axis=1)
    return (masses - (sides**2).sum(axis=1) / np.maximum(masses, 1)).sum(axis=0)
