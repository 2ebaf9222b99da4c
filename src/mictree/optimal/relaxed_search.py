"""Least costs of relaxed trees: branch and bound over blocks of cuts, with counts of code pairs.

A relaxed test is a column and a block of neighbouring cuts. A row has one code per column. The left
child of a block is the rows with a code up to ``ends``, the right child those with a code above
``begins``; rows between are free: they cost nothing in the whole subtree. ``relaxed`` makes the
codes, and proves what these costs bound.

For every two columns the rows are counted by both codes. Sums of these counts up to a code give
what the four children of every two tests cost, so least costs with one split of both children of
*all* tests follow from one look at the rows. For two splits of a test's children, rows are added
in the order of the test's column, and the same is done at each test that may still help. The
children of larger questions are asked one by one, the middle one of the column with most tests left
first. Inside a column left children grow and right ones shrink, so their least costs do too.

Invariant: ``bounds[side, size, test]`` is at most the least cost of that child with ``size`` splits,
and equal to it where ``exact`` says so.
"""

from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import (
    LANES,
    KernelByType,
    add,
    atomic_add,
    inner_jit,
    jit,
    least,
    load,
    spread,
    store,
    subtract,
)
from mictree.optimal.costs import squared_cost
from mictree.optimal.questions import (
    EXACT_BUDGETS,
    FOUND,
    LEAST,
    NEXT,
    RUN,
    STATUS,
    VISITED,
    Question,
    Table,
    find,
    finish_key,
    make_driver,
    put,
    remember,
    unchanged,
)
from mictree.optimal.rows import Leaf

LEVEL = np.dtype(
    [
        ("rows", np.int64),  # how many
        ("budget", np.int64),
        ("depth", np.int64),
        ("bound", np.int64),
        ("key_high", np.uint64),  # the hash of the rows
        ("key_low", np.uint64),
        ("floor", np.int64),
        ("errors", np.int64, (3,)),  # least costs with 0, 1 and 2 splits
        ("counted_sizes", np.int64),  # how many of them are known
        ("best", np.int64),  # a cost that some relaxed tree attains
        ("limit", np.int64),  # only trees that cost less are wanted
        ("goal", np.int64),
        ("refuted", np.int64),
        ("test", np.int64),  # the one being tried; -1 for none
        ("column", np.int64),
        ("low_budget", np.int64),  # the splits of its left child
        ("side", np.int64),  # the child that was asked last
    ],
    align=True,
)
RECORD = np.dtype((np.record, LEVEL))
LEAF, ONE = 0, 2  # costs of both children of each test without a split, with one
HUGE = 1 << 62


class ClassBlocks(NamedTuple):
    """Rows with classes."""

    codes: np.ndarray  # (columns, rows) uint8
    first: np.ndarray
    sizes: np.ndarray
    ends: np.ndarray
    begins: np.ndarray
    slots: np.ndarray  # (rows,) the class
    values: np.ndarray  # (rows, 1) the weight
    keys: np.ndarray  # (rows, 2) random


class ActionBlocks(NamedTuple):
    """Rows with a cost for each action."""

    codes: np.ndarray
    first: np.ndarray
    sizes: np.ndarray
    ends: np.ndarray
    begins: np.ndarray
    slots: np.ndarray  # none
    values: np.ndarray  # (rows, actions)
    keys: np.ndarray


class NumberBlocks(NamedTuple):
    """Rows with numbers to predict."""

    codes: np.ndarray
    first: np.ndarray
    sizes: np.ndarray
    ends: np.ndarray
    begins: np.ndarray
    slots: np.ndarray  # none
    values: np.ndarray  # (rows, 4): see ``costs``
    keys: np.ndarray
    shift: np.ndarray


class RelaxedFrames(NamedTuple):
    """One worker's scratch; the last level of the rows' arrays is for rows in a column's order."""

    codes: np.ndarray  # (levels, columns, rows)
    slots: np.ndarray  # (levels, rows)
    values: np.ndarray  # (levels, rows, sums)
    members: np.ndarray  # (levels, rows) which rows they are
    places: np.ndarray  # (rows,) where a row's counts begin in the tables of a column
    tables: np.ndarray  # (pairs * sums * codes * codes,) counts by two codes; by one, of a column
    starts: np.ndarray  # (columns, sums, codes) sums up to each code, as ``expand`` has them
    low: np.ndarray  # (sums * codes * lanes,) sums up to a code and the end of each test
    high: np.ndarray  # the same, and the code before each right child
    across: np.ndarray  # (2 * tests * LANES,) least costs with one split, before the last minimum
    along: np.ndarray  # (2 * columns * lanes,) least costs with one split, by test
    cells: np.ndarray  # (levels, 4, tests); see LEAF and ONE
    bounds: np.ndarray  # (levels, 2, budgets, tests)
    exact: np.ndarray  # (levels, 2, budgets, tests)
    looked: np.ndarray  # (levels, tests) whether the table has been asked
    root_bounds: np.ndarray  # (2, budgets, tests) those of level 0, which all workers share
    root_exact: np.ndarray
    claims: np.ndarray  # (tests,) whether some worker tries a test of level 0
    levels: np.ndarray


class RelaxedEngine:
    """Answers questions about relaxed trees for all rows, as ``SweepEngine`` does for trees."""

    patience: tuple[int, ...] = ()

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.budgets = self.levels = self.bytes = 0

    def __str__(self) -> str:
        columns, rows = self.rows.data.codes.shape
        return f"{rows:,} rows of {columns:,} columns in blocks"

    @property
    def sums(self) -> int:
        """How many sums a set of rows has."""
        data = self.rows.data
        return self.rows.classes if isinstance(data, ClassBlocks) else data.values.shape[1]

    @property
    def lanes(self) -> int:
        """The tests of a column, rounded up."""
        return -(-int(np.diff(self.rows.data.first).max()) // LANES) * LANES

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        for self.budgets in range(max(1, budgets), 0, -1):
            self.levels = max(1, min(self.budgets, depth) - 2)
            self.bytes = self._count_bytes()
            if self.bytes <= memory:
                break
        tests = len(self.rows.data.ends)
        self.root_bounds = np.zeros((2, max(4, self.budgets), tests), dtype=np.int64)
        self.root_exact = np.zeros(self.root_bounds.shape, dtype=np.uint8)
        self.claims = np.zeros(tests, dtype=np.uint8)

    def _count_bytes(self) -> int:
        data, sums, levels = self.rows.data, self.sums, self.levels
        columns, rows = data.codes.shape
        codes, item, tests = int(data.sizes.max()), data.values.itemsize, len(data.ends)
        per_row = columns + 8 + item * data.values.shape[1]
        scratch = sums * codes * (columns * (columns + 1) // 2 * codes + 2 * self.lanes + columns)
        return (
            (levels + 1) * rows * per_row + 4 * rows + item * scratch
            + 2 * item * (tests * LANES + columns * self.lanes)
            + (levels + 1) * tests * (33 + 18 * max(4, self.budgets))
        )  # fmt: skip

    def make_frames(self) -> RelaxedFrames:
        """Frames for one worker."""
        data, sums, levels = self.rows.data, self.sums, self.levels + 1
        columns, rows = data.codes.shape
        codes, kind, tests, lanes = int(data.sizes.max()), data.values.dtype, len(data.ends), self.lanes
        budgets, pairs = max(4, self.budgets), columns * (columns + 1) // 2
        frames = RelaxedFrames(
            codes=np.empty((levels, columns, rows), dtype=np.uint8),
            slots=np.empty((levels, len(data.slots)), dtype=data.slots.dtype),
            values=np.empty((levels, rows, data.values.shape[1]), dtype=kind),
            members=np.empty((levels, rows), dtype=np.int32),
            places=np.empty(rows, dtype=np.int32),
            tables=np.zeros(pairs * sums * codes * codes, dtype=kind),
            starts=np.zeros((columns, sums, codes), dtype=kind),
            low=np.zeros(sums * codes * lanes, dtype=kind),
            high=np.zeros(sums * codes * lanes, dtype=kind),
            across=np.zeros(2 * tests * LANES, dtype=kind),
            along=np.zeros(2 * columns * lanes, dtype=kind),
            cells=np.zeros((levels, 4, tests), dtype=np.int64),
            bounds=np.zeros((levels, 2, budgets, tests), dtype=np.int64),
            exact=np.zeros((levels, 2, budgets, tests), dtype=np.uint8),
            looked=np.zeros((levels, tests), dtype=np.uint8),
            root_bounds=self.root_bounds,
            root_exact=self.root_exact,
            claims=self.claims,
            levels=np.zeros(levels, dtype=RECORD),
        )
        frames.codes[0], frames.values[0] = data.codes, data.values
        frames.slots[0], frames.members[0] = data.slots, np.arange(rows, dtype=np.int32)
        return frames

    def leaf(self, members: np.ndarray) -> Leaf:
        """Not needed: no tree is traced."""
        raise NotImplementedError

    def ask(
        self, members: np.ndarray, question: Question, table: Table, frames: RelaxedFrames,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """The least cost of a relaxed tree for all rows within a budget, if below the bound."""
        return solve_relaxed(len(members), question, self.rows.data, table, frames, control)


# What depends on how leaves cost has a form for each kind of data.

# (start, stop, level, data, frames): adds rows of a level to the tables
count_rows = KernelByType(3)
# (first, second, place, data, frames): fills ``low`` and ``high`` from the table of two columns
expand = KernelByType(3)
# (first, second, data, frames): lowers ``across`` and ``along`` by all pairs of tests of two columns
combine = KernelByType(2)
# (column, place, data, frames): fills ``starts`` of a column
fill_starts = KernelByType(2)
# (column, end, begin, data, frames): the cost of the rows up to a code, or above one if end < 0
cost_of = KernelByType(3)


@inner_jit
def _table_place(first, second, data, frames):
    """Where the table of two columns begins; of one and the same, its counts by one code."""
    columns, codes = np.int64(len(data.sizes)), np.int64(frames.starts.shape[2])
    pair = first * columns - first * (first - 1) // 2 + second - first
    return pair * frames.starts.shape[1] * codes * codes


@count_rows.form(ClassBlocks)
def _count_classes(start, stop, level, data, frames):
    columns, width = np.int64(len(data.sizes)), np.int64(frames.starts.shape[2])
    tables, places = frames.tables, frames.places
    slots, values = frames.slots[level], frames.values[level]
    for first in range(columns):
        mine = frames.codes[level, first]
        base = _table_place(first, first, data, frames)
        for row in range(start, stop):
            code, slot = np.int64(mine[row]), np.int64(slots[row]) * width
            places[row] = (slot + code) * width
            tables[np.uint64(base + slot * width + code)] += values[row, 0]
        for second in range(first + 1, columns):
            base = np.uint64(_table_place(first, second, data, frames))
            other = frames.codes[level, second]
            for row in range(start, stop):
                tables[base + np.uint64(places[row]) + np.uint64(other[row])] += values[row, 0]


@inner_jit
def _count_sums(start, stop, level, data, frames):
    """The same for rows with several values."""
    columns, width = np.int64(len(data.sizes)), np.int64(frames.starts.shape[2])
    tables, values, sums = frames.tables, frames.values[level], frames.values.shape[2]
    for first in range(columns):
        mine = frames.codes[level, first]
        for second in range(first, columns):
            base = _table_place(first, second, data, frames)
            other = frames.codes[level, second]
            for row in range(start, stop):
                place = base + np.int64(other[row])
                if second > first:
                    place += width * np.int64(mine[row])
                for part in range(sums):
                    tables[np.uint64(place + part * width * width)] += values[row, part]


@count_rows.form(ActionBlocks)
def _count_actions(start, stop, level, data, frames):
    _count_sums(start, stop, level, data, frames)


@count_rows.form(NumberBlocks)
def _count_numbers(start, stop, level, data, frames):
    _count_sums(start, stop, level, data, frames)


@inner_jit
def _start_sums(column, place, data, frames):
    starts, width = frames.starts, np.int64(frames.starts.shape[2])
    for part in range(starts.shape[1]):
        base = place + part * width * width
        run = frames.tables[base] - frames.tables[base]
        for code in range(data.sizes[column]):
            run += frames.tables[np.uint64(base + code)]
            starts[column, part, code] = run


@fill_starts.form(ActionBlocks)
def _start_actions(column, place, data, frames):
    _start_sums(column, place, data, frames)


@fill_starts.form(NumberBlocks)
def _start_numbers(column, place, data, frames):
    _start_sums(column, place, data, frames)


@fill_starts.form(ClassBlocks)
def _start_classes(column, place, data, frames):
    """Sums of weights become costs: of two classes each costs the other's weight."""
    _start_sums(column, place, data, frames)
    starts, sums = frames.starts, frames.starts.shape[1]
    if sums > 2:
        for code in range(data.sizes[column]):
            every = starts[column, 0, code]
            for part in range(1, sums):
                every += starts[column, part, code]
            for part in range(sums):
                starts[column, part, code] = every - starts[column, part, code]


@inner_jit
def _expand_sums(first, second, place, data, frames):
    """Sum up a table along both codes."""
    starts, low, high = frames.starts, frames.low, frames.high
    width, lanes = np.int64(starts.shape[2]), np.int64(len(low)) // (starts.shape[1] * starts.shape[2])
    begin, tests = data.first[second], data.first[second + 1] - data.first[second]
    ends, begins = data.ends, data.begins
    for part in range(starts.shape[1]):
        for code in range(data.sizes[first]):
            out = (part * width + code) * lanes
            if first == second:
                for test in range(tests):
                    low[np.uint64(out + test)] = starts[first, part, min(code, ends[begin + test])]
                    high[np.uint64(out + test)] = starts[first, part, min(code, begins[begin + test])]
            else:
                source = place + (part * width + code) * width
                run = low[0] - low[0]
                test_low, test_high = np.int64(0), np.int64(0)
                for other in range(data.sizes[second]):
                    run += frames.tables[np.uint64(source + other)]
                    while test_low < tests and ends[begin + test_low] == other:
                        low[np.uint64(out + test_low)] = run
                        test_low += 1
                    while test_high < tests and begins[begin + test_high] == other:
                        high[np.uint64(out + test_high)] = run
                        test_high += 1
            for lane in range(tests, lanes):
                low[out + lane], high[out + lane] = low[out + tests - 1], high[out + tests - 1]
            if code > 0 and first != second:
                for lane in range(0, lanes, LANES):
                    here = out + lane
                    store(add(load(low, here), load(low, here - lanes)), low, here)
                    store(add(load(high, here), load(high, here - lanes)), high, here)


@expand.form(ActionBlocks)
def _expand_actions(first, second, place, data, frames):
    _expand_sums(first, second, place, data, frames)


@expand.form(NumberBlocks)
def _expand_numbers(first, second, place, data, frames):
    _expand_sums(first, second, place, data, frames)


@expand.form(ClassBlocks)
def _expand_classes(first, second, place, data, frames):
    _expand_sums(first, second, place, data, frames)
    sums, low, high = np.int64(frames.starts.shape[1]), frames.low, frames.high
    if sums > 2 and first != second:
        size = np.int64(len(low)) // sums
        for lane in range(0, size, LANES):
            every, above = load(low, lane), load(high, lane)
            for part in range(1, sums):
                every = add(every, load(low, part * size + lane))
                above = add(above, load(high, part * size + lane))
            for part in range(sums):
                here = part * size + lane
                store(subtract(every, load(low, here)), low, here)
                store(subtract(above, load(high, here)), high, here)


@inner_jit
def _combine_least(first, second, data, frames):
    """Costs are the least of the sums."""
    starts, low, high = frames.starts, frames.low, frames.high
    across, along = frames.across, frames.along
    sums, width = np.int64(starts.shape[1]), np.int64(starts.shape[2])
    lanes, columns = np.int64(len(low)) // (sums * width), np.int64(len(data.sizes))
    last, tests = np.int64(data.sizes[first]) - 1, np.int64(len(data.ends))
    size = width * lanes
    for test in range(data.first[first], data.first[first + 1]):
        end, begin = np.int64(data.ends[test]), np.int64(data.begins[test])
        for lane in range(0, lanes, LANES):
            below, above = end * lanes + lane, begin * lanes + lane
            whole = last * lanes + lane
            low_low = load(low, below)
            low_high = subtract(spread(starts[first, 0, end]), load(high, below))
            high_low = subtract(load(low, whole), load(low, above))
            rest = starts[first, 0, last] - starts[first, 0, begin]
            high_high = subtract(
                spread(starts.dtype.type(rest)), subtract(load(high, whole), load(high, above))
            )
            for part in range(1, sums):
                below, above, whole = below + size, above + size, whole + size
                low_low = least(low_low, load(low, below))
                each = subtract(spread(starts[first, part, end]), load(high, below))
                low_high = least(low_high, each)
                high_low = least(high_low, subtract(load(low, whole), load(low, above)))
                rest = starts[first, part, last] - starts[first, part, begin]
                each = subtract(
                    spread(starts.dtype.type(rest)), subtract(load(high, whole), load(high, above))
                )
                high_high = least(high_high, each)
            mine = test * LANES
            store(least(load(across, mine), add(low_low, low_high)), across, mine)
            mine += tests * LANES
            store(least(load(across, mine), add(high_low, high_high)), across, mine)
            mine = second * lanes + lane
            store(least(load(along, mine), add(low_low, high_low)), along, mine)
            mine += columns * lanes
            store(least(load(along, mine), add(low_high, high_high)), along, mine)


@combine.form(ClassBlocks)
def _combine_classes(first, second, data, frames):
    _combine_least(first, second, data, frames)


@combine.form(ActionBlocks)
def _combine_actions(first, second, data, frames):
    _combine_least(first, second, data, frames)


@combine.form(NumberBlocks)
def _combine_numbers(first, second, data, frames):
    """Costs are those of sums of numbers."""
    starts, low, high = frames.starts, frames.low, frames.high
    across, along, shift = frames.across, frames.along, data.shift[0]
    width = np.int64(starts.shape[2])
    lanes, columns = np.int64(len(low)) // (4 * width), np.int64(len(data.sizes))
    last, tests = np.int64(data.sizes[first]) - 1, np.int64(len(data.ends))
    size = width * lanes
    others = data.first[second + 1] - data.first[second]
    for test in range(data.first[first], data.first[first + 1]):
        end, begin = np.int64(data.ends[test]), np.int64(data.begins[test])
        for lane in range(others):
            below, above, whole = end * lanes + lane, begin * lanes + lane, last * lanes + lane
            low_low = squared_cost(
                low[below], low[below + size], low[below + 2 * size], low[below + 3 * size], shift
            )
            low_high = squared_cost(
                starts[first, 0, end] - high[below],
                starts[first, 1, end] - high[below + size],
                starts[first, 2, end] - high[below + 2 * size],
                starts[first, 3, end] - high[below + 3 * size],
                shift,
            )
            high_low = squared_cost(
                low[whole] - low[above],
                low[whole + size] - low[above + size],
                low[whole + 2 * size] - low[above + 2 * size],
                low[whole + 3 * size] - low[above + 3 * size],
                shift,
            )
            high_high = squared_cost(
                starts[first, 0, last] - starts[first, 0, begin] - high[whole] + high[above],
                starts[first, 1, last] - starts[first, 1, begin]
                - high[whole + size] + high[above + size],
                starts[first, 2, last] - starts[first, 2, begin]
                - high[whole + 2 * size] + high[above + 2 * size],
                starts[first, 3, last] - starts[first, 3, begin]
                - high[whole + 3 * size] + high[above + 3 * size],
                shift,
            )  # fmt: skip
            across[test * LANES] = min(across[test * LANES], low_low + low_high)
            mine = (tests + test) * LANES
            across[mine] = min(across[mine], high_low + high_high)
            mine = second * lanes + lane
            along[mine] = min(along[mine], low_low + high_low)
            mine += columns * lanes
            along[mine] = min(along[mine], low_high + high_high)


@inner_jit
def _least_cost(column, end, begin, data, frames):
    starts, best = frames.starts, np.int64(HUGE)
    last = data.sizes[column] - 1
    for part in range(starts.shape[1]):
        if end >= 0:
            best = min(best, np.int64(starts[column, part, end]))
        else:
            best = min(best, np.int64(starts[column, part, last] - starts[column, part, begin]))
    return best


@cost_of.form(ClassBlocks)
def _cost_of_classes(column, end, begin, data, frames):
    return _least_cost(column, end, begin, data, frames)


@cost_of.form(ActionBlocks)
def _cost_of_actions(column, end, begin, data, frames):
    return _least_cost(column, end, begin, data, frames)


@cost_of.form(NumberBlocks)
def _cost_of_numbers(column, end, begin, data, frames):
    starts, last, shift = frames.starts[column], data.sizes[column] - 1, data.shift[0]
    if end >= 0:
        return squared_cost(starts[0, end], starts[1, end], starts[2, end], starts[3, end], shift)
    return squared_cost(
        starts[0, last] - starts[0, begin],
        starts[1, last] - starts[1, begin],
        starts[2, last] - starts[2, begin],
        starts[3, last] - starts[3, begin],
        shift,
    )


@jit
def solve_relaxed(rows, question, data, table, frames, control):
    """The least cost of a relaxed tree for all rows, if it is below the bound; see ``Asks``."""
    at = frames.levels[0]
    at.rows = rows
    at.key_high, at.key_low = np.uint64(0), np.uint64(0)
    put(at, question.budget, question.bound, question.depth)
    return _drive(np.int64(0), data, table, frames, control)


@inner_jit
def _evaluate(level, pairs, data, frames):
    """Fill a level's cells from the tables; with all pairs if wanted, else without ONE.

    Returns the least costs with 0, 1 and 2 splits, and with one split in each child.
    """
    cells, along, across = frames.cells[level], frames.along, frames.across
    columns, tests = len(data.sizes), np.int64(len(data.ends))
    lanes = np.int64(len(along)) // (2 * columns)
    none, one = np.int64(HUGE), np.int64(HUGE)
    for column in range(columns):
        fill_starts(column, _table_place(column, column, data, frames), data, frames)
        none = cost_of(column, data.sizes[column] - 1, 0, data, frames)
        for test in range(data.first[column], data.first[column + 1]):
            low = cost_of(column, np.int64(data.ends[test]), 0, data, frames)
            high = cost_of(column, -1, np.int64(data.begins[test]), data, frames)
            cells[LEAF, test], cells[LEAF + 1, test] = low, high
            one = min(one, low + high)
    one = min(one, none)
    if not pairs:
        return none, one, one, one
    for place in range(len(across)):
        across[place] = none
    for place in range(len(along)):
        along[place] = none
    for first in range(columns):
        for second in range(first, columns):
            expand(first, second, _table_place(first, second, data, frames), data, frames)
            combine(first, second, data, frames)
    two, three = one, one
    for column in range(columns):
        for test in range(data.first[column], data.first[column + 1]):
            for side in range(2):
                best = cells[LEAF + side, test]
                place = (side * columns + column) * lanes + test - data.first[column]
                best = min(best, np.int64(along[place]))
                place = (side * tests + test) * LANES
                for lane in range(LANES):
                    best = min(best, np.int64(across[place + lane]))
                cells[ONE + side, test] = best
            two = min(two, cells[LEAF, test] + cells[ONE + 1, test])
            two = min(two, cells[ONE, test] + cells[LEAF + 1, test])
            three = min(three, cells[ONE, test] + cells[ONE + 1, test])
    return none, one, two, min(two, three)


@inner_jit
def _look(level, data, table, frames, control):
    """Whether counts suffice for an answer; and the answer."""
    at = frames.levels[level]
    budget, depth, bound = at.budget, at.depth, at.bound
    at.floor, at.goal, at.test = 0, 0, -1
    if level == 0:
        at.goal = control[LEAST]
    if at.rows == 0 or control[STATUS] != RUN:
        at.limit = at.best = 0
        return True, np.int64(0)
    atomic_add(control, VISITED, 1)
    frames.tables[:] = 0
    count_rows(np.int64(0), at.rows, level, data, frames)
    none, one, two, three = _evaluate(level, budget > 1, data, frames)
    at.errors[0], at.errors[1], at.errors[2] = none, one, two
    at.counted_sizes = 3 if budget > 1 else 2
    best = none if budget == 0 else one if budget == 1 else two if budget == 2 else three
    at.best, at.limit = best, min(bound, best)
    if budget > 2 and depth > 2 and at.limit > at.goal:
        _clear(level, budget, frames)
        _split_twice(level, data, frames, control)
        if budget > 3 and at.limit > at.goal:
            return False, at.limit
    if level > 0 and control[STATUS] == RUN:
        remember(at, at.limit, at.limit < bound or at.limit == best, table, control)
    return True, at.limit


@inner_jit
def _clear(level, budget, frames):
    """Forget what was known of the children of other rows."""
    if level > 0:
        frames.bounds[level, :, :budget] = 0
        frames.exact[level, :, :budget] = 0
    frames.looked[level] = 0
    for side in range(2):
        bounds, exact = _get_bounds(level, frames)
        for size in range(2):
            for test in range(bounds.shape[2]):
                bounds[side, size, test] = frames.cells[level, 2 * size + side, test]
                exact[side, size, test] = 1


@inner_jit
def _get_bounds(level, frames):
    """The lower bounds of both children of all tests by size, and which of them are exact."""
    if level == 0:
        return frames.root_bounds, frames.root_exact
    return frames.bounds[level], frames.exact[level]


@inner_jit
def _split_twice(level, data, frames, control):
    """Find the least costs with two splits of the children that may lead to less than the limit.

    With three splits too, where the depth leaves two to the child.
    """
    at = frames.levels[level]
    bounds, exact = _get_bounds(level, frames)
    size = 3 if at.depth == 3 and at.budget > 3 else 2
    other = min(at.budget - 1 - 2, 3 if at.depth == 3 else at.budget)
    columns, count = np.int64(len(data.sizes)), np.int64(0)
    while at.limit > at.goal and control[STATUS] == RUN:
        if level == 0:
            at.limit = min(at.limit, control[FOUND])
            count = atomic_add(control, NEXT, 1)
        if count >= 2 * columns:
            break
        column, side = count // 2, count % 2
        count += 1
        waits = False
        for test in range(data.first[column], data.first[column + 1]):
            low = bounds[side, size, test] + bounds[1 - side, other, test]
            waits |= exact[side, size, test] == 0 and low < at.limit
        if waits:
            _sort_rows(level, column, side, data, frames)
            _sweep(level, column, side, size, other, data, frames, control)


@inner_jit
def _sort_rows(level, column, side, data, frames):
    """Put a level's rows into the order of a column's codes, or against it, on the last level."""
    last, rows = np.int64(len(frames.levels)) - 1, frames.levels[level].rows
    mine, places = frames.codes[level, column], frames.places
    heads = np.zeros(257, dtype=np.int64)
    for row in range(rows):
        code = np.int64(mine[row]) if side == 0 else 255 - np.int64(mine[row])
        heads[code + 1] += 1
    for code in range(256):
        heads[code + 1] += heads[code]
    for row in range(rows):
        code = np.int64(mine[row]) if side == 0 else 255 - np.int64(mine[row])
        frames.members[last, heads[code]] = row
        heads[code] += 1
    order = frames.members[last]
    for each in range(len(data.sizes)):
        source, target = frames.codes[level, each], frames.codes[last, each]
        for place in range(rows):
            target[place] = source[order[place]]
    if frames.slots.shape[1] > 0:
        for place in range(rows):
            frames.slots[last, place] = frames.slots[level, order[place]]
    for place in range(rows):
        for part in range(frames.values.shape[2]):
            frames.values[last, place, part] = frames.values[level, order[place], part]


@inner_jit
def _sweep(level, column, side, size, other, data, frames, control):
    """Add rows in the order of a column, and find two splits at its tests that may help."""
    at, last = frames.levels[level], np.int64(len(frames.levels)) - 1
    bounds, exact = _get_bounds(level, frames)
    codes, rows = frames.codes[last, column], at.rows
    start, stop = data.first[column], data.first[column + 1]
    frames.tables[:] = 0
    place, known, known_more = np.int64(0), np.int64(0), np.int64(0)
    for number in range(stop - start):
        test = start + number if side == 0 else stop - 1 - number
        known = max(known, bounds[side, 2, test])
        bounds[side, 2, test] = known
        if size == 3:
            known_more = max(known_more, bounds[side, 3, test])
            bounds[side, 3, test] = known_more
        low = bounds[side, size, test] + bounds[1 - side, other, test]
        if exact[side, size, test] or low >= at.limit:
            continue
        before = place
        if side == 0:
            while place < rows and codes[place] <= data.ends[test]:
                place += 1
        else:
            while place < rows and codes[place] > data.begins[test]:
                place += 1
        count_rows(before, place, last, data, frames)
        _, _, two, three = _evaluate(last, True, data, frames)
        known, bounds[side, 2, test], exact[side, 2, test] = two, two, 1
        if size == 3:
            known_more, bounds[side, 3, test], exact[side, 3, test] = three, three, 1
        _meet(level, test, side, data, frames, control)
        if control[STATUS] != RUN:
            return
        if at.limit <= at.goal:
            return


@inner_jit
def _meet(level, test, side, data, frames, control):
    """Lower the limit if both children of a test are known well enough."""
    at = frames.levels[level]
    bounds, exact = _get_bounds(level, frames)
    for size in range(at.budget):
        other = at.budget - 1 - size
        if at.depth < 62:
            most = (1 << (at.depth - 1)) - 1
            if size > most or other > most:
                continue
        if exact[0, size, test] and exact[1, other, test]:
            total = bounds[0, size, test] + bounds[1, other, test]
            if total < at.limit:
                at.limit = total
                if level == 0:
                    control[FOUND] = min(control[FOUND], total)


@inner_jit
def _take(level, answer, data, frames):
    """Note a child's answer, and what it says of the children of other tests."""
    at = frames.levels[level]
    side, test = at.side, at.test
    size = at.low_budget if side == 0 else at.budget - 1 - at.low_budget
    bounds, exact = _get_bounds(level, frames)
    bounds[side, size, test] = max(bounds[side, size, test], answer)
    if answer < frames.levels[level + 1].bound:
        exact[side, size, test] = 1
    _spread_bound(side, size, test, at.column, bounds, data)


@inner_jit
def _spread_bound(side, size, test, column, bounds, data):
    """Larger children cost as much, and so do fewer splits."""
    answer = bounds[side, size, test]
    start, stop = data.first[column], data.first[column + 1]
    for fewer in range(2, size + 1):
        here = test
        while start <= here < stop and (here == test or bounds[side, fewer, here] < answer):
            bounds[side, fewer, here] = max(bounds[side, fewer, here], answer)
            here += 1 if side == 0 else -1


@inner_jit
def _advance(level, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    at = frames.levels[level]
    bounds, exact = _get_bounds(level, frames)
    budget = at.budget
    while control[STATUS] == RUN and at.limit > at.goal:
        if level == 0:
            at.limit = min(at.limit, control[FOUND])
        low = _choose_share(level, frames) if at.test >= 0 else np.int64(-1)
        if low < 0:
            if not _select(level, data, frames):
                return False
            _look_up(level, data, table, frames)
            continue
        test, high = at.test, budget - 1 - low
        low_known, high_known = exact[0, low, test], exact[1, high, test]
        if low_known and high_known:
            _meet(level, test, np.int64(0), data, frames, control)
            continue
        side = np.int64(0 if high_known or (not low_known and low >= high) else 1)
        at.side, at.low_budget = side, low
        _descend(level, side, data, frames)
        child = frames.levels[level + 1]
        rest = at.limit - (bounds[1, high, test] if side == 0 else bounds[0, low, test])
        put(child, low if side == 0 else high, rest, at.depth - 1)
        return True
    return False


_drive = make_driver(_look, _advance, _take)


@inner_jit
def _least_share(level, test, frames):
    """The share of the budget whose bounds have the least sum, and the sum."""
    at = frames.levels[level]
    bounds, _ = _get_bounds(level, frames)
    most = at.budget - 1 if at.depth > 40 else min(at.budget - 1, (1 << (at.depth - 1)) - 1)
    share, total = np.int64(-1), np.int64(HUGE)
    for low in range(at.budget - 1 - most, most + 1):
        each = bounds[0, low, test] + bounds[1, at.budget - 1 - low, test]
        if each < total:
            share, total = low, each
    return share, total


@inner_jit
def _choose_share(level, frames):
    """The share of the budget to try next for the test being tried; -1 if none can help."""
    at = frames.levels[level]
    share, total = _least_share(level, at.test, frames)
    return share if total < at.limit else np.int64(-1)


@inner_jit
def _select(level, data, frames):
    """Try the middle one of the column with most tests that may help; False if there is none."""
    at = frames.levels[level]
    most, chosen, chosen_column = 0, np.int64(-1), np.int64(-1)
    for column in range(len(data.sizes)):
        live = 0
        for test in range(data.first[column], data.first[column + 1]):
            live += _is_live(level, test, frames)
        if live <= most:
            continue
        most, passed = live, 0
        for test in range(data.first[column], data.first[column + 1]):
            if _is_live(level, test, frames):
                if passed == live // 2:
                    chosen, chosen_column = np.int64(test), np.int64(column)
                passed += 1
    at.test, at.column = chosen, chosen_column
    if level == 0 and chosen >= 0:
        frames.claims[chosen] = 1
    return chosen >= 0


@inner_jit
def _is_live(level, test, frames):
    """Whether a test may help, and no other worker tries it."""
    if level == 0 and frames.claims[test]:
        return False
    return _least_share(level, test, frames)[1] < frames.levels[level].limit


@inner_jit
def _look_up(level, data, table, frames):
    """Raise the bounds of both children of the test being tried by what the table has of them."""
    at = frames.levels[level]
    test, column, codes = at.test, at.column, frames.codes[level, at.column]
    if frames.looked[level, test]:
        return
    frames.looked[level, test] = 1
    bounds, exact = _get_bounds(level, frames)
    for side in range(2):
        high, low = _hash_child(level, side, test, column, data, frames)
        key = finish_key(high, low, at.depth - 1)
        place, version = find(key[0], key[1], table.entries)
        if place < 0:
            continue
        found = table.lower[place].copy()
        proved = table.entries[place, EXACT_BUDGETS]
        if not unchanged(place, version, table.entries):
            continue
        for size in range(2, at.budget):
            bounds[side, size, test] = max(bounds[side, size, test], found[size])
            if (proved >> np.uint64(size)) & np.uint64(1):
                exact[side, size, test] = 1
            _spread_bound(side, size, test, column, bounds, data)


@inner_jit
def _hash_child(level, side, test, column, data, frames):
    """The hash of the rows of a child."""
    codes, members = frames.codes[level, column], frames.members[level]
    end, begin = data.ends[test], data.begins[test]
    high, low = np.uint64(0), np.uint64(0)
    for row in range(frames.levels[level].rows):
        if (side == 0 and codes[row] <= end) or (side == 1 and codes[row] > begin):
            high ^= data.keys[members[row], 0]
            low ^= data.keys[members[row], 1]
    return high, low


@inner_jit
def _descend(level, side, data, frames):
    """Put the rows of a child of the test being tried into the next frame."""
    at, child = frames.levels[level], frames.levels[level + 1]
    mine, order = frames.codes[level, at.column], frames.places
    end, begin = data.ends[at.test], data.begins[at.test]
    rows = np.int64(0)
    for row in range(at.rows):
        order[rows] = row
        rows += (side == 0 and mine[row] <= end) or (side == 1 and mine[row] > begin)
    child.rows = rows
    for each in range(len(data.sizes)):
        source, target = frames.codes[level, each], frames.codes[level + 1, each]
        for place in range(rows):
            target[place] = source[order[place]]
    high, low = np.uint64(0), np.uint64(0)
    for place in range(rows):
        row = order[place]
        member = frames.members[level, row]
        frames.members[level + 1, place] = member
        high ^= data.keys[member, 0]
        low ^= data.keys[member, 1]
        if frames.slots.shape[1] > 0:
            frames.slots[level + 1, place] = frames.slots[level, row]
        for part in range(frames.values.shape[2]):
            frames.values[level + 1, place, part] = frames.values[level, row, part]
    child.key_high, child.key_low = high, low
