"""Lower bounds of the least cost of all sizes, from relaxed trees.

Neighbouring cuts of a column are grouped into blocks; every cut lies in one. A relaxed test is a
block: rows below its smallest cut go left, rows above its largest cut go right, and the rows
strictly between are free. Replace every threshold of a tree by its block. Then the rows of each
node are among those that reached it before, and fewer rows never cost more (decision 0032). So the
least cost of a relaxed tree is at most that of a tree with as many splits, and as deep. A block of
one cut frees nobody: if all blocks are, both are equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import jit
from mictree.optimal.ordered_rows import CostRows, OrderedRows
from mictree.optimal.relaxed_counts import ActionBlocks, ClassBlocks, NumberBlocks
from mictree.optimal.sweep_costs import ActionData, NumberData

MOST_CODES = 256
LIGHT = 8  # a value between two blocks is freed if it weighs this part of a block


class RelaxedRows(NamedTuple):
    """Rows whose columns are in blocks."""

    data: ClassBlocks | ActionBlocks | NumberBlocks
    weights: np.ndarray
    sums: int  # of a set of rows: weights by class, costs by action, or four of numbers
    exact: bool  # whether all blocks are single cuts

    @property
    def everything(self) -> np.ndarray:
        """All rows."""
        return np.arange(self.data.codes.shape[1])

    @classmethod
    def of(cls, rows: OrderedRows | CostRows, blocks: int) -> RelaxedRows:
        """Rows in about so many blocks a column, of equal weight where values allow."""
        order = rows.data.order
        columns, count = order.shape
        heavy = rows.data.weights[:, 0].astype(float)
        if isinstance(rows.data, NumberData):
            heavy = rows.data.sums[:, 0].astype(float)
        codes = np.empty((columns, count), dtype=np.uint8)
        ends = np.empty((columns, MOST_CODES), dtype=np.int64)
        begins = np.empty((columns, MOST_CODES), dtype=np.int64)
        sizes, tests = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
        exact = True
        for column in range(columns):
            exact &= group_cuts(
                order[column], heavy, heavy.sum() / blocks, codes[column], ends[column],
                begins[column], sizes[column : column + 1], tests[column : column + 1],
            )
        inside = np.arange(MOST_CODES) < tests[:, None]
        parts = {
            "codes": codes,
            "first": np.concatenate([[0], np.cumsum(tests)]),
            "sizes": sizes,
            "ends": ends[inside],
            "begins": begins[inside],
            "keys": rows.data.keys,
        }
        if isinstance(rows, OrderedRows):
            total = int(rows.weights.sum())
            kind = np.int16 if total < 2**15 else rows.weights.dtype
            values = rows.weights.astype(kind)[:, None]
            data: Any = ClassBlocks(**parts, slots=rows.codes, values=values)
            return cls(data, rows.weights, rows.classes, bool(exact))
        parts["slots"], parts["values"] = np.empty(0, dtype=np.int32), rows.data.sums
        sums = rows.data.sums.shape[1]
        if isinstance(rows.data, ActionData):
            return cls(ActionBlocks(**parts), rows.weights, sums, bool(exact))
        return cls(NumberBlocks(**parts, shift=rows.data.shift), rows.weights, sums, bool(exact))


@jit
def group_cuts(order, weights, most, out_codes, out_ends, out_begins, out_size, out_tests):
    """Group a column's cuts into blocks that free no more than some weight; whether none frees.

    ``order`` is as in ``OrderedData``. A value heavier than that is never free.
    """
    rows = len(order)
    place, code, test = 0, 0, 0
    exact = True
    # the first value is left of all cuts
    while True:
        out_codes[order[place] >> 1] = code
        place += 1
        if order[place - 1] & 1:
            break
    while place < rows:  # the next cut is before this place
        out_ends[test] = code
        free, start = 0.0, place
        while True:
            stop, weight = place, 0.0
            while True:
                weight += weights[order[stop] >> 1]
                stop += 1
                if stop == rows or order[stop - 1] & 1:
                    break
            if stop == rows or free + weight > most:
                break
            free, place = free + weight, stop
        # the value up to ``stop`` is right of the block, unless it is light
        if place > start and stop < rows and weight * LIGHT < most:
            place = stop
        if place > start:
            exact = False
            code += 1
            for each in range(start, place):
                out_codes[order[each] >> 1] = code
            out_begins[test] = code
            test += 1
            if stop > place:
                code += 1
                for each in range(place, stop):
                    out_codes[order[each] >> 1] = code
                place = stop
        else:
            out_begins[test] = code
            test += 1
            code += 1
            for each in range(place, stop):
                out_codes[order[each] >> 1] = code
            place = stop
    out_size[0], out_tests[0] = code + 1, test
    return exact
