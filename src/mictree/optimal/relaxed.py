"""Lower bounds of the least cost of all sizes, from relaxed trees.

Neighbouring cuts of a column are grouped into blocks; every cut lies in one. A relaxed test is a
block: rows below its smallest cut go left, rows above its largest cut go right, and the rows
strictly between are free. Replace every threshold of a tree by its block. Then the rows of each
node are among those that reached it before, and fewer rows never cost more (decision 0032). So the
least cost of a relaxed tree is at most that of a tree with as many splits, and as deep. A block of
one cut frees nobody: if all blocks are, both are equal.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import jit
from mictree.optimal.certified import RELAXATION
from mictree.optimal.ordered_rows import CostRows, OrderedRows
from mictree.optimal.questions import Workers
from mictree.optimal.relaxed_counts import ActionBlocks, ClassBlocks, NumberBlocks
from mictree.optimal.relaxed_search import RelaxedEngine
from mictree.optimal.sweep_costs import ActionData, NumberData

MOST_CODES = 256
BLOCKS = 8, 16, 32, 64, 120  # of a column, one after another; codes are no more than MOST_CODES
MOST_COUNTED = 4_000_000_000  # rows times the square of columns, which take a second
MOST_SIZE = 12  # of relaxed trees: larger ones would take too long
PARTS = 5  # of an interval that is open, the first of which is asked for
LIGHT = 8  # a value between two blocks is freed if it weighs this part of a block


class RelaxedRows(NamedTuple):
    """Rows whose columns are in blocks."""

    data: ClassBlocks | ActionBlocks | NumberBlocks
    weights: np.ndarray
    sums: int  # of a set of rows: weights by class, costs by action, or four of numbers
    exact: bool  # whether all blocks are single cuts
    blocks: int  # of a column, about

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
            few = np.count_nonzero(order[column] & 1) <= blocks
            most = -1.0 if few else heavy.sum() / blocks  # none is free, even without weight
            exact &= group_cuts(
                order[column], heavy, most, codes[column], ends[column], begins[column],
                sizes[column : column + 1], tests[column : column + 1],
            )  # fmt: skip
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
            return cls(data, rows.weights, rows.classes, bool(exact), blocks)
        parts["slots"], parts["values"] = np.empty(0, dtype=np.int32), rows.data.sums
        sums = rows.data.sums.shape[1]
        if isinstance(rows.data, ActionData):
            return cls(ActionBlocks(**parts), rows.weights, sums, bool(exact), blocks)
        return cls(
            NumberBlocks(**parts, shift=rows.data.shift), rows.weights, sums, bool(exact), blocks
        )


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


class Intervals(Protocol):
    """Whole costs that hold the least cost of each size; see ``Frontier``."""

    lower: list[int]
    upper: list[int]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        ...

    def raise_lower(self, size: int, cost: int, kind: str) -> None:
        """No tree of a size costs less."""
        ...

    def report(self, size: int) -> None:
        """Tell how far a size has come."""
        ...


class Relaxation:
    """Raises lower bounds of sizes: with few blocks first, then with more and more.

    A size goes to more blocks as soon as the least cost of its relaxed trees is known. Until then
    it is asked for a part of its interval at a time.
    """

    def __init__(self, rows: OrderedRows | CostRows, depth: int) -> None:
        self.rows, self.depth = rows, depth
        self.reached: dict[int, int] = {}  # of each size, how many of BLOCKS are done
        self.working: dict[int, tuple[RelaxedEngine, Workers]] = {}  # by how many blocks

    @property
    def affordable(self) -> bool:
        """Whether counting the pairs of codes of all rows once takes no more than a second."""
        columns, rows = self.rows.data.order.shape
        return columns**2 * rows <= MOST_COUNTED

    def raise_bounds(self, of: Intervals, sizes: Sequence[int], end: float, memory: int) -> None:
        """Raise the lower bounds of some sizes until some time, by the monotonic clock.

        All get the same part of it, those with fewest blocks first; of these, the widest interval.
        """
        late: set[int] = set()
        while (now := time.monotonic()) < end and not of.interrupted:
            waiting = [size for size in sizes if self._can_rise(size, of)]
            if not waiting:
                break
            late = late if set(waiting) - late else set()
            hopeful = [size for size in waiting if size not in late]
            size = min(
                hopeful, key=lambda size: (self._done(size), of.lower[size] / of.upper[size])
            )
            working = self._prepare(BLOCKS[self._done(size)], max(waiting), memory)
            if working is None:
                break
            engine, workers = working
            workers.deadline = now + (end - now) / len(hopeful)
            if not self._ask(size, engine, workers, of):
                late.add(size)
            if workers.interrupted:
                break
        self.working.clear()

    def prepare(self, most: int, memory: int) -> None:
        """Compile kernels, and put rows into the fewest blocks."""
        self._prepare(BLOCKS[0], min(most, MOST_SIZE), memory)

    def _done(self, size: int) -> int:
        return self.reached.get(size, 0)

    def _can_rise(self, size: int, of: Intervals) -> bool:
        open_ = of.lower[size] < of.upper[size] and self._done(size) < len(BLOCKS)
        return open_ and 0 < size <= MOST_SIZE

    def _prepare(self, blocks: int, most: int, memory: int) -> tuple[RelaxedEngine, Workers] | None:
        """An engine and workers for so many blocks; None where memory or time is short."""
        if not self.affordable:
            return None
        if blocks not in self.working:
            if len(self.working) > 1:
                del self.working[min(self.working)]
            engine = RelaxedEngine(RelaxedRows.of(self.rows, blocks))
            try:
                workers = Workers(engine, most, self.depth, memory // 2, answers=np.dtype(np.int64))
            except TooLarge:
                return None
            workers.compile()
            self.working[blocks] = engine, workers
        return self.working[blocks]

    def _ask(
        self, size: int, engine: RelaxedEngine, workers: Workers, of: Intervals
    ) -> bool:  # fmt: skip
        """Raise the bound of a size by a part of its interval; says whether there was time."""
        lower, upper = of.lower[size], of.upper[size]
        bound = lower + max(1, (upper - lower) // PARTS)
        workers.on_tick = lambda: of.report(size)
        if size > workers.budgets:
            self.reached[size] = len(BLOCKS)
            return True
        with workers.running():
            cost = workers.ask(workers.rows.everything, size, bound, self.depth)
        if cost is None:
            return False
        engine.learn(size, cost)
        of.raise_lower(size, min(max(cost, lower), upper), RELAXATION)
        if cost < bound:  # the least cost of relaxed trees, and that of trees if blocks are cuts
            last = engine.rows.exact
            self.reached[size] = len(BLOCKS) if last else BLOCKS.index(engine.rows.blocks) + 1
        return True
