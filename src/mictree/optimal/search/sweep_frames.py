"""What the search over ordered columns works on: sorted rows, and one frame of scratch per level.

A test is a column and a place in its order: the rows up to the place are the low child, the others
the high one. Few and large arrays, as compiling grows with their number.
"""

from typing import NamedTuple

import numpy as np

LANES = 32  # tests whose children are swept at once


class OrderedData(NamedTuple):
    """Distinct rows, with integer weights, int32 or int64."""

    order: np.ndarray  # (columns, rows) int32: 2 * row, plus 1 where the next row has a larger rank
    weights: np.ndarray  # (rows, 2): the weight, and what of it no tree can label right
    signed: np.ndarray  # (rows,) the weight, negative in the first of two classes; int16 if its
    # sums allow, as sweeps then are twice as fast
    codes: np.ndarray  # (rows,) the class
    keys: np.ndarray  # (rows, 2) random


class SweepFrames(NamedTuple):
    """The rows of a sub-problem on each level, and what is known of its tests' children."""

    order: np.ndarray  # (levels, columns, rows) like the data's, of the sub-problem's rows
    start: np.ndarray  # (levels, columns + 1) the first test of each column
    tests: np.ndarray  # (levels, 2, cells) the place of each test; those that may still help
    cells: np.ndarray  # (levels, 6, cells); see the names below
    bounds: np.ndarray  # (levels, 2, budgets, cells) lower bounds of both children by budget;
    # level 0 is that of ``root``
    root: np.ndarray  # (2, budgets, cells) the same for all rows; all workers share it
    claims: np.ndarray  # (columns,) how many workers are at a column of all rows
    member: np.ndarray  # (rows,) bit j: the row is in the low child of the j-th test swept
    lanes: np.ndarray  # ((7 + classes) * LANES,) sums of the tests swept
    tails: np.ndarray  # (2 * LANES * rows,) the same at each test of a column; for many classes
    picked: np.ndarray  # (2, LANES) the tests swept, and their columns
    pair: np.ndarray  # (rows,) weights of two of the classes, negative in the second
    seen: np.ndarray  # (classes,) the weight of each class swept so far
    known: np.ndarray  # (levels, 2, budgets) least errors of both children of the test being tried,
    # by budget; -1 where they are not known
    keys: np.ndarray  # (levels, 6): of the rows; of both children of the test being tried
    state: np.ndarray  # (levels, 13)
    value: np.ndarray  # (levels, 10)
    totals: np.ndarray  # (levels, classes) the weight of each class


# cells: errors of both children without a split; lower bounds with one; the low child's weight, and
# what of it no tree can label right
LEAF, ONE, MASS, SHARE = 0, 2, 4, 5
PLACE, LIVE = 0, 1  # tests
# state: how many rows; the question; the test being tried, its column, and the share of the budget
# at which it stands; the last child asked and the low child's budget; how many tests may still
# help; the first test of the tree that was retraced, its column, and its low child's budget
(
    ROWS,
    BUDGET,
    DEPTH,
    TEST,
    COLUMN,
    TURN,
    SIDE,
    LOW,
    LIVES,
    FIRST,
    FIRST_COLUMN,
    FIRST_LOW,
    CHOSEN,
) = range(13)
# value: the answer is wanted if below the bound; the best so far or the bound; the unavoidable
# error; an error that is good enough; one that is attained; the weight by which the tests around
# the one being tried differ from it; errors with 0 and 1 split; both children's errors under the
# test that was retraced
BOUND, LIMIT, FLOOR, GOAL, BEST, REACH, ERRORS, FIRST_ERRORS = 0, 1, 2, 3, 4, 5, 6, 8


def make_frames(
    data: OrderedData, classes: int, budgets: int, levels: int, root: np.ndarray, claims: np.ndarray
) -> SweepFrames:
    """Frames for one worker."""
    columns, rows = data.order.shape
    cells, kind = columns * rows, data.weights.dtype
    return SweepFrames(
        order=np.empty((levels, columns, rows), dtype=np.int32),
        start=np.zeros((levels, columns + 1), dtype=np.int64),
        tests=np.empty((levels, 2, cells), dtype=np.int32),
        cells=np.empty((levels, 6, cells), dtype=kind),
        bounds=np.empty((levels, 2, budgets, cells), dtype=kind),
        root=root,
        claims=claims,
        member=np.zeros(rows, dtype=np.uint32),
        lanes=np.zeros((7 + classes) * LANES, dtype=data.signed.dtype),
        tails=np.empty(2 * LANES * rows if classes > 2 else 0, dtype=data.signed.dtype),
        pair=np.zeros(rows, dtype=data.signed.dtype),
        seen=np.zeros(classes, dtype=np.int64),
        picked=np.zeros((2, LANES), dtype=np.int64),
        known=np.zeros((levels, 2, max(2, budgets)), dtype=np.int64),
        keys=np.zeros((levels, 6), dtype=np.uint64),
        state=np.zeros((levels, 13), dtype=np.int64),
        value=np.zeros((levels, 10), dtype=np.int64),
        totals=np.zeros((levels, classes), dtype=np.int64),
    )


def frame_bytes(data: OrderedData, budgets: int, levels: int) -> int:
    """The memory of one worker's frames, nearly; the root's bounds count as one more level."""
    cell = 12 + data.weights.itemsize * (6 + 2 * budgets)
    row = 8 + 2 * LANES * data.signed.itemsize
    level = cell * data.order.size + 8 * len(data.order) + 512
    return (levels + 1) * level + row * len(data.codes)
