"""The memory of the search over ordered columns: sorted rows, one frame of scratch per level.

A test is a column and a place in its order: the rows up to the place are the low child, the others
the high one. Few and large arrays, as compiling grows with their number.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.vectors import LANES

CACHE_LINE = 64  # bytes
FEW_CLASSES = 5  # up to which comparing every two of them is faster

LEVEL = np.dtype(
    [
        # the question: the least error of these rows with this budget, if it is below the bound
        ("rows", np.int64),  # how many
        ("budget", np.int64),
        ("depth", np.int64),
        ("bound", np.int64),
        ("floor", np.int64),  # the error that no tree avoids
        # what is known of the answer
        ("errors", np.int64, (2,)),  # least errors with 0 and 1 split
        ("best", np.int64),  # an error that some tree attains
        ("limit", np.int64),  # only trees with a smaller error are wanted: the bound or the best
        ("goal", np.int64),  # an error that is good enough to stop
        # where the search stands
        ("lives", np.int64),  # how many tests may still help
        ("test", np.int64),  # the one being tried; -1 for none
        ("column", np.int64),  # its column
        ("chosen", np.int64),  # its place among those that may help
        ("reach", np.int64),  # the weight by which the tests of its run differ from it, at most
        ("turn", np.int64),  # the number of the share of the budget being tried
        ("low_budget", np.int64),  # that share: the splits of the low child
        ("side", np.int64),  # the child that was asked last
        # the first test of the tree that was retraced
        ("first", np.int64),  # -1 for none
        ("first_column", np.int64),
        ("first_low", np.int64),  # the budget of its low child
        ("first_errors", np.int64, (2,)),  # of both children
    ],
    align=True,
)
RECORD = np.dtype((np.record, LEVEL))  # fields are attributes


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
    bounds: np.ndarray  # (levels, 2, budgets, cells) lower bounds of both children by budget
    # from 2 on, and SWEPT; level 0 is that of ``root``
    root: np.ndarray  # (2, budgets, cells) the same for all rows; all workers share it
    claims: np.ndarray  # (columns,) how many workers are at a column of all rows
    member: np.ndarray  # (rows,) bit j: the row is in the low child of the j-th test swept
    shared: np.ndarray  # (rows,) the weight of the rows of a child, else 0
    lanes: np.ndarray  # sums of the tests swept, in lines of LANES; see ``sweeps``
    tails: np.ndarray  # (2 * LANES * rows,) the same at each test of a column; for many classes
    picked: np.ndarray  # (2, LANES) the tests swept, and their columns
    seen: np.ndarray  # (classes,) the weight of each class swept so far
    known: np.ndarray  # (levels, 2, budgets) least errors of both children of the test being tried,
    # by budget; -1 where they are not known
    keys: np.ndarray  # (levels, 6): of the rows; of both children of the test being tried
    levels: np.ndarray  # (levels,) of LEVEL
    work: np.ndarray  # (NOTES,) cells swept for the question; then the first test of the tree that
    # was retraced: its column, the row before the cut, the budget of its low child, the errors of
    # both children, the heaviest class of both, and their errors without a split
    totals: np.ndarray  # (levels, classes) the weight of each class


# cells: errors of both children without a split; lower bounds with one; the low child's weight, and
# what of it no tree can label right
LEAF, ONE, MASS, SHARE = 0, 2, 4, 5
PLACE, LIVE = 0, 1  # tests
NOTES = 10
SWEPT = 1  # bounds: one more than the least error with one split where a sweep found it, else 0


def make_frames(
    data: OrderedData, classes: int, budgets: int, levels: int, root: np.ndarray, claims: np.ndarray
) -> SweepFrames:
    """Frames for one worker."""
    columns, rows = data.order.shape
    cells, kind = columns * rows, data.weights.dtype
    order = np.empty((levels, columns, rows), dtype=np.int32)
    order[0] = data.order
    return SweepFrames(
        order=order,
        start=np.zeros((levels, columns + 1), dtype=np.int64),
        tests=np.empty((levels, 2, cells), dtype=np.int32),
        cells=np.empty((levels, 6, cells), dtype=kind),
        bounds=np.empty((levels, 2, budgets, cells), dtype=kind),
        root=root,
        claims=claims,
        member=np.zeros(rows, dtype=np.uint32),
        shared=np.zeros(rows, dtype=kind),
        lanes=_aligned(_count_lines(classes) * LANES, data.signed.dtype),
        tails=np.empty(2 * LANES * rows if classes > FEW_CLASSES else 0, dtype=data.signed.dtype),
        seen=np.zeros(classes, dtype=np.int64),
        picked=np.zeros((2, LANES), dtype=np.int64),
        known=np.zeros((levels, 2, max(2, budgets)), dtype=np.int64),
        keys=np.zeros((levels, 6), dtype=np.uint64),
        levels=np.zeros(levels, dtype=RECORD),
        work=np.zeros(NOTES, dtype=np.int64),
        totals=np.zeros((levels, classes), dtype=np.int64),
    )


def _count_lines(classes: int) -> int:
    """Of sums that a sweep needs."""
    return 2 + classes + (2 * classes**2 if classes <= FEW_CLASSES else 0)


def _aligned(count: int, kind: np.dtype) -> np.ndarray:
    """Zeros from the start of a cache line on: a vector across two of them takes far longer."""
    line = CACHE_LINE // kind.itemsize
    room = np.zeros(count + line, dtype=kind)
    start = -room.__array_interface__["data"][0] % CACHE_LINE // kind.itemsize
    return room[start : start + count]


def frame_bytes(data: OrderedData, budgets: int, levels: int) -> int:
    """The memory of one worker's frames, nearly; the root's bounds count as one more level."""
    cell = 12 + data.weights.itemsize * (6 + 2 * budgets)
    row = 8 + data.weights.itemsize + 2 * LANES * data.signed.itemsize
    level = cell * data.order.size + 8 * len(data.order) + 512
    return (levels + 1) * level + row * len(data.codes)
