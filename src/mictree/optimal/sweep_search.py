"""Branch and bound on ordered columns: the engine that sweeps thresholds, not pairs of tests.

A test is a column and a place in its sorted order. A sub-problem with one or two splits, or of
depth 2, is answered by sweeps, see ``sweep_scan``. For a larger one, tests are tried one by one,
the middle one of the column with most tests left first. The bounds of a child of one test bound the
children of all others: a row set that lacks some rows of another has at least the other's least
error less their weight. So a child is asked for more than its own test needs, and one refutation
closes a run of tests.

Where a table is small, calls from Python take longer than sweeps. Then several sizes are answered
in one call, each with a tree, until the work allowed is done. A tree is retraced node by node: the
rows of a node are put into frame 1, which is asked for a test that attains the error known to be
their least.

Invariant: ``bounds[level, side, b, test]`` is at most the least error of that child with ``b``
splits; those of frame 0, which has all rows, stay true from one question to the next.
"""

from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import atomic_add, inner_jit, jit
from mictree.optimal.ordered_rows import CostRows, OrderedRows
from mictree.optimal.questions import (
    ALLOWED,
    ANY,
    EXACT_BUDGETS,
    FIRST,
    FOUND,
    KNOWN,
    LEAST,
    PLAIN,
    QUICK,
    RUN,
    STATUS,
    VISITED,
    FirstTest,
    Question,
    Table,
    find,
    finish_key,
    is_counted,
    make_driver,
    put,
    remember,
    unchanged,
)
from mictree.optimal.rows import Counting, Leaf, lightest_leaf
from mictree.optimal.sweep_costs import CostFrames, make_cost_frames
from mictree.optimal.sweep_scan import (
    LANES,
    LEAF,
    LIVE,
    MASS,
    ONE,
    PLACE,
    SHARE,
    SWEPT,
    SweepFrames,
    few_splits,
    fill_shared,
    frame_bytes,
    get_found,
    get_leaves,
    leaf_error,
    list_tests,
    make_frames,
    note,
    note_one,
    settle,
    share_one,
    sweep,
    sweeps_exactly,
)

# cells that are swept in a hundredth of a second, and in half a second
PATIENCE = 2_000_000, 100_000_000
COUNTED = 10_000_000  # cells that are swept to find the errors of few splits

Frames = SweepFrames | CostFrames


class SweepEngine:
    """Answers questions about rows of ordered columns, as ``BitEngine`` does for literals.

    All rows are in frame 0, whose bounds outlive a question; other rows are in frame 1.
    """

    sure = 0
    patience: tuple[int, ...] = PATIENCE

    def __init__(self, rows: OrderedRows | CostRows) -> None:
        self.rows = rows
        self.budgets = self.levels = self.bytes = 0
        self.root = self.claims = np.empty(0)

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        shape = self.rows.data.order.shape
        for self.budgets in range(max(1, budgets), 0, -1):
            # a frame's children are asked only if they may have more than one split
            self.levels = max(2, min(self.budgets, depth) - 1)
            self.bytes = frame_bytes(self.rows.data, self.budgets, self.levels)
            if self.bytes <= memory:
                break
        kind = self.rows.weights.dtype
        self.root = np.zeros((2, self.budgets, shape[0] * shape[1]), dtype=kind)
        self.claims = np.zeros(shape[0], dtype=np.int64)

    def __str__(self) -> str:
        columns, rows = self.rows.data.order.shape
        return f"{rows:,} rows of {columns:,} columns"

    def make_frames(self) -> Frames:
        """Frames for one worker."""
        rows, plan = self.rows, (self.budgets, self.levels, self.root, self.claims)
        if isinstance(rows, CostRows):
            return make_cost_frames(rows.data, *plan)
        return make_frames(rows.data, rows.classes, *plan)

    def leaf(self, members: np.ndarray) -> Leaf:
        """The heaviest class of some rows, and the weight of the others."""
        return self.rows.leaf(members)

    def ask(
        self, members: np.ndarray, question: Question, table: Table, frames: Frames,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """The least error of some rows within a budget, if it is below the bound."""
        self._place(members, frames)
        return solve_sweeps(len(members), question, self.rows.data, table, frames, control)

    def trace(self, frames: Frames, budget: int, cost: int) -> FirstTest:
        """The first test of a tree that attains the error just asked for."""
        _, column, row, low_budget, *errors, low, high, low_error, high_error = frames.work.tolist()
        test, holds_below = self.rows.literal(column, row)
        budgets = low_budget, budget - 1 - low_budget
        leaves = Leaf(low, low_error), Leaf(high, high_error)
        one, other = (1, 0) if holds_below else (0, 1)
        return FirstTest(
            test,
            (budgets[one], budgets[other]),
            (errors[one], errors[other]),
            (leaves[one], leaves[other]),
        )

    def glance(
        self, members: np.ndarray, budget: int, depth: int, table: Table, frames: Frames,
        control: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Errors of some rows with 0, 1, 2 and 3 splits that a few sweeps find trees for."""
        self._place(members, frames)
        control[ALLOWED] = COUNTED
        return sweep_few(len(members), budget, depth, self.rows.data, frames, control)

    def _place(self, members: np.ndarray, frames: Frames) -> None:
        """Put a question's rows into their frame."""
        self.claims[:] = 0
        if len(members) < len(self.rows.weights):
            frames.member[:] = 0
            frames.member[members] = 1

    def solve_sizes(
        self, sizes: list[int], counting: Counting, bounds: np.ndarray, table: Table,
        frames: Frames, control: np.ndarray,
    ) -> tuple[int, dict[int, Any]]:  # fmt: skip
        """Answer sizes for all rows in turn, in one call, as long as it takes little work.

        Returns how many are answered, and a nested tree for each that is better than all before.
        ``bounds`` are the lower and the upper ones by size, and become equal for those answered.
        """
        if not self.patience or self.rows.data.order.size > QUICK:
            return 0, {}
        most, control[ALLOWED] = max(sizes, default=0), self.patience[0]
        nodes = np.zeros((most + 1, 2 * most + 1, NODE), dtype=np.int64)
        answered = sweep_sizes(
            np.array(sizes, dtype=np.int64),
            Limits(counting.depth, counting.masses, counting.most_leaves, *bounds),
            self.rows.data,
            table,
            frames,
            control,
            nodes,
        )
        found, lower = {}, bounds[0].tolist()
        for size in sizes[:answered]:
            tree = nodes[size].tolist()
            if tree[0][SPLITS]:
                wrong, least = tree[0][ERROR], lower[size]
                if wrong != least:
                    raise AssertionError(f"a tree of size {size} makes {wrong} errors, not {least}")
                found[size] = self._nest(tree)
        return answered, found

    def _nest(self, nodes: list[list[int]], node: int = 0) -> Any:
        """A nested tree from its nodes."""
        column, row, low = nodes[node][:3]
        if column < 0:
            return row
        test, holds_below = self.rows.literal(column, row)
        below, above = self._nest(nodes, low), self._nest(nodes, low + 1)
        return (test, above, below) if holds_below else (test, below, above)


@jit
def solve_sweeps(rows, question, data, table, frames, control):
    """The least error of so many rows that are in place, if it is below the bound; see ``Asks``.

    Frame 0 is for all rows: what it learns of their tests stays for the next question, and workers
    share it. Questions about other rows are put to frame 1. What is ``wanted`` of the tree is in
    the frames' ``work``; only one worker may.
    """
    frames.work[0] = 0
    first = start(rows, data, frames)
    answer = solve_in_place(first, question, data, table, frames, control)
    if question.wanted:
        _write_first_test(first, data, frames)
    return answer


@inner_jit
def solve_in_place(first, question, data, table, frames, control):
    """The same for the rows in frame ``first``."""
    at = frames.levels[first]
    _ask(at, question.budget, question.bound, question.depth)
    at.wanted, at.least = question.wanted, control[LEAST]
    return _drive(first, data, table, frames, control)


@inner_jit
def start(rows, data, frames):
    """Set the first frame's rows: all in frame 0, the members in frame 1; and their key.

    Says which frame.
    """
    level = np.int64(0 if rows == len(data.keys) else 1)
    at = frames.levels[level]
    at.rows, at.first = rows, -1
    if level == 1:
        _keep_members(data.order, data.order.shape[1], level, frames)
    high, low = np.uint64(0), np.uint64(0)
    for place in range(at.rows):
        row = frames.order[level, 0, place] >> 1
        high ^= data.keys[row, 0]
        low ^= data.keys[row, 1]
    at.key_high, at.key_low = high, low
    return level


@inner_jit
def _write_first_test(level, data, frames):
    """Write what was noted of a frame's first test where Python reads it; see ``work``."""
    at = frames.levels[level]
    if at.first < 0:
        return
    work, column = frames.work, at.first_column
    place = frames.tests[level, PLACE, at.first]
    work[1], work[2], work[3] = column, frames.order[level, column, place] >> 1, at.first_low
    work[4], work[5] = at.first_errors[0], at.first_errors[1]
    work[6], work[7], work[8], work[9] = get_leaves(level, at.first, column, data, frames)


@inner_jit
def _ask(at, budget, bound, depth):
    """Put a question to a frame whose rows are in place; of the tree nothing is wanted."""
    put(at, budget, bound, depth)
    at.test, at.first, at.wanted, at.least, at.counted_sizes = -1, -1, PLAIN, 0, 2


@inner_jit
def _look(level, data, table, frames, control):
    """Whether sweeps suffice for an answer; and the answer."""
    at = frames.levels[level]
    budget, bound, wanted = at.budget, at.bound, at.wanted
    best = leaf_error(level, data, frames)
    at.errors[0] = best
    at.goal = bound - 1 if wanted == KNOWN else max(at.floor, at.least)
    if budget == 0 or best == 0 or control[STATUS] != RUN:
        return True, best
    atomic_add(control, VISITED, 1)
    best = at.best = list_tests(level, data, frames)
    limit = best
    if wanted and best < bound:
        note_one(level, best, data, frames)
    if budget > 1 and best > at.goal:
        limit = min(bound, best)
        if budget <= 3 or wanted in (FIRST, KNOWN):
            limit = few_splits(level, budget > 2, limit, wanted > 0, data, frames, control)
    at.limit = limit
    found = at.first >= 0 and wanted == FIRST
    if budget > 2 and at.depth > 2 and limit > at.goal and not found:
        prepare(level, frames)
        return False, limit
    if level > 0 and not wanted and control[STATUS] == RUN:
        remember(at, limit, limit < bound or limit == best, table, control)
    return True, limit


@inner_jit
def _take(level, answer, data, frames):
    """Note a child's answer, and what it says of the children of other tests."""
    at = frames.levels[level]
    side, low, test = at.side, at.low_budget, at.test
    budget = low if side == 0 else at.budget - 1 - low
    bounds = get_bounds(level, frames)
    frames.cells[level, ONE + side, test] = max(frames.cells[level, ONE + side, test], answer)
    for size in range(2, budget + 1):
        bounds[side, size, test] = max(bounds[side, size, test], answer)
    if answer < frames.levels[level + 1].bound:
        frames.known[level, side, budget] = answer
    share(level, side, data, frames)


@inner_jit
def _share_out(turn, budget, heavier):
    """The splits of the low child at some turn: balanced first; the heavier child gets more."""
    offset = (turn + 1) // 2
    share = (budget - 1) // 2 + (offset if turn % 2 == 1 else -offset)
    return share if heavier == 1 else budget - 1 - share


@inner_jit
def _ask_child(level, budget, bound, frames):
    """Put a question to the frame of the child that is next at the test being tried."""
    at = frames.levels[level]
    side = at.side
    _descend(level, at.column, frames.tests[level, PLACE, at.test], side, frames)
    child = frames.levels[level + 1]
    child.key_high, child.key_low = (
        frames.keys[level, 2 * side],
        frames.keys[level, 2 * side + 1],
    )
    _ask(child, budget, bound, at.depth - 1)


@inner_jit
def _advance(level, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    at = frames.levels[level]
    cells, wanted = frames.cells[level], at.wanted
    known, bounds, budget = frames.known[level], get_bounds(level, frames), at.budget
    least_low, most_low = get_shares(budget, at.depth)
    while control[STATUS] == RUN and at.limit > at.goal:
        if level == 0 and not wanted:
            at.limit = min(at.limit, control[FOUND])
        test = at.test
        if test < 0 or at.turn == budget:
            if not select(level, wanted == FIRST, data, frames):
                return False
            look_up(level, data, table, frames)
            if budget > 3 and least_low <= 1:  # a child may get one split
                sweep_some(level, data, frames, control)
            continue
        heavier = 0 if 2 * cells[MASS, test] >= at.mass else 1
        low_budget = _share_out(at.turn, budget, heavier)
        high_budget = budget - 1 - low_budget
        low, high = known[0, low_budget], known[1, high_budget]
        low_known, high_known = low >= 0, high >= 0
        if not low_known:
            low = get_bound(0, low_budget, test, cells, bounds)
        if not high_known:
            high = get_bound(1, high_budget, test, cells, bounds)
        if (
            low_budget < least_low
            or low_budget > most_low
            or low + high >= at.limit
            or (budget == 3 and low_budget == 1)
        ):
            at.turn += 1
            continue
        if low_known and high_known:
            if wanted:
                note(level, test, at.column, low_budget, low, high, frames)
            if wanted == FIRST:
                _forget_later(level, test, frames)
                at.turn = budget
                continue
            at.limit = low + high
            if level == 0:
                control[FOUND] = min(control[FOUND], low + high)
            continue
        side = heavier
        if (low_known and side == 0) or (high_known and side == 1):
            side = 1 - side
        at.side, at.low_budget = side, low_budget
        child_budget, other = (low_budget, high) if side == 0 else (high_budget, low)
        _ask_child(level, child_budget, at.limit - other + at.reach, frames)
        return True
    return False


_drive = make_driver(_look, _advance, _take)


@inner_jit
def _forget_later(level, test, frames):
    """Drop all tests from this one on."""
    at = frames.levels[level]
    live, kept = frames.tests[level, LIVE], 0
    while kept < at.lives and live[kept] < test:
        kept += 1
    at.lives = kept


@inner_jit
def _descend(level, column, place, side, frames):
    """Set the next frame's rows: the low or the high child of a test of this one."""
    at = frames.levels[level]
    order, member = frames.order[level], frames.member
    rows = at.rows
    for number in range(rows):
        inside = (number <= place) == (side == 0)
        member[order[column, number] >> 1] = np.uint32(1) if inside else np.uint32(0)
    _keep_members(order, rows, level + 1, frames)
    frames.levels[level + 1].rows = place + 1 if side == 0 else rows - place - 1


@inner_jit
def _keep_members(order, rows, level, frames):
    """Fill a frame's columns with the members among sorted rows."""
    below, member = frames.order[level], frames.member
    for column in range(len(order)):
        last, kept = np.int32(0), 0  # the last one kept, not yet written
        for place in range(rows):
            entry = order[column, place]
            inside = np.int64(member[entry >> 1])
            below[column, max(kept - 1, 0)] = last
            last = entry if inside else last | (entry & np.int32(1))
            kept += inside
        below[column, max(kept - 1, 0)] = last & np.int32(~1)


@jit
def sweep_few(rows, budget, depth, data, frames, control):
    """Errors of so many rows with up to ``budget`` splits, at most 3, that sweeps find trees for.

    The first test of the tree for the whole budget is in ``work``. Sweeps end where no more work is
    allowed.
    """
    frames.work[0] = 0
    level = start(rows, data, frames)
    errors = count_in_place(level, budget, depth, data, frames, control)
    _write_first_test(level, data, frames)
    return errors


@inner_jit
def count_in_place(level, budget, depth, data, frames, control):
    """The same for the rows in a frame."""
    errors, trace = np.empty(4, dtype=np.int64), np.bool_(False)
    errors[:] = leaf_error(level, data, frames)
    if min(budget, depth) > 0 and errors[0] > 0:
        errors[1:] = list_tests(level, data, frames)
        if errors[1] < errors[0]:
            note_one(level, errors[1], data, frames)
        for splits in range(2, 1 + min(budget, 3) if depth > 1 else 0):
            bound = errors[splits - 1]
            errors[splits:] = few_splits(level, splits > 2, bound, trace, data, frames, control)
    return errors


@inner_jit
def get_bounds(level, frames):
    """Lower bounds of both children of a frame's tests, by budget; without a split, see LEAF."""
    return frames.root if level == 0 else frames.bounds[level]


@inner_jit
def get_bound(side, size, test, cells, bounds):
    """A lower bound of a test's child."""
    return np.int64(cells[2 * size + side, test] if size <= 1 else bounds[side, size, test])


@inner_jit
def get_shares(budget, depth):
    """The least and the largest budget of a low child."""
    most = (1 << (depth - 1)) - 1 if depth < 62 else budget - 1
    return max(0, budget - 1 - most), min(most, budget - 1)


@inner_jit
def prepare(level, frames):
    """List all tests as live; start their children's bounds from what no tree can label right.

    With one split, the tests of all rows start from what was swept for the question before.
    """
    at = frames.levels[level]
    cells, live = frames.cells[level], frames.tests[level, LIVE]
    tests = frames.start[level, -1]
    for test in range(tests):
        live[test] = test
    at.lives = tests
    bounds, floor = get_bounds(level, frames), at.floor
    for side in range(2):
        swept = bounds[side, SWEPT]
        for test in range(tests):
            if level > 0:
                swept[test] = 0
            elif swept[test] != 0:
                cells[ONE + side, test] = abs(swept[test]) - 1
    for size in range(2, get_shares(at.budget, at.depth)[1] + 1):
        for test in range(tests):
            low = cells[SHARE, test]
            high = bounds.dtype.type(floor - low)
            if level == 0:
                low, high = max(low, bounds[0, size, test]), max(high, bounds[1, size, test])
            bounds[0, size, test], bounds[1, size, test] = low, high


@inner_jit
def share(level, side, data, frames):
    """Bound the children of all live tests by a child of the test being tried."""
    at = frames.levels[level]
    order, cells, start = frames.order[level], frames.cells[level], frames.start[level]
    live, lives = frames.tests[level, LIVE], at.lives
    places, shared = frames.tests[level, PLACE], frames.shared
    bounds, most_budget = get_bounds(level, frames), get_shares(at.budget, at.depth)[1]
    kind = bounds.dtype.type
    test = at.test
    fill_shared(level, side, data, frames)
    mass = np.int64(cells[MASS, test])
    if side == 1:
        mass = at.mass - mass
    most = np.int64(cells[ONE + side, test])
    number = 0
    for other_column in range(order.shape[0]):
        if number == lives or live[number] >= start[other_column + 1]:
            continue
        place, inside = 0, 0
        while number < lives and live[number] < start[other_column + 1]:
            other = live[number]
            number += 1
            end = places[other] + 1
            while place < end:
                inside += shared[order[other_column, place] >> 1]
                place += 1
            if most > mass - inside:
                cells[ONE, other] = max(cells[ONE, other], kind(most - (mass - inside)))
                for size in range(2, most_budget + 1):
                    bound = kind(bounds[side, size, test] - (mass - inside))
                    bounds[0, size, other] = max(bounds[0, size, other], bound)
            if most > inside:
                cells[ONE + 1, other] = max(cells[ONE + 1, other], kind(most - inside))
                for size in range(2, most_budget + 1):
                    bound = kind(bounds[side, size, test] - inside)
                    bounds[1, size, other] = max(bounds[1, size, other], bound)


@inner_jit
def select(level, in_order, data, frames):
    """Drop the tests that cannot help, and try the middle one of the column with most of them."""
    at = frames.levels[level]
    cells, live = frames.cells[level], frames.tests[level, LIVE]
    bounds, start = get_bounds(level, frames), frames.start[level]
    budget, limit = at.budget, at.limit
    least_low, most_low = get_shares(budget, at.depth)
    tried = at.test
    if tried >= 0 and level == 0:
        atomic_add(frames.claims, at.column, -1)
    kept, number, lives = 0, 0, at.lives
    most, chosen, first, chosen_column = 0, 0, 0, 0
    for column in range(len(start) - 1):
        before = kept
        while number < lives and live[number] < start[column + 1]:
            test = live[number]
            number += 1
            if test == tried:
                continue
            helps = False
            for low in range(least_low, most_low + 1):
                if budget == 3 and low == 1:
                    continue
                # not by ``get_bound``: counting references to its arrays takes longer than the rest
                high = budget - 1 - low
                error = np.int64(cells[2 * low, test] if low <= 1 else bounds[0, low, test])
                error += cells[2 * high + 1, test] if high <= 1 else bounds[1, high, test]
                helps |= error < limit
            live[kept] = test
            kept += helps
        here = kept - before
        if level == 0 and frames.claims[column] > 0:
            here = (here + 1) // 2
        if here > most and not (in_order and most > 0):
            most, first, chosen_column = here, before, column
            chosen = before + (kept - before) // 2
    at.lives = kept
    at.test = -1
    if kept == 0:
        return False
    test = live[chosen]
    at.chosen = chosen
    at.test, at.column, at.turn = test, chosen_column, 0
    if level == 0:
        atomic_add(frames.claims, chosen_column, 1)
    low, high = chosen, chosen
    while low > first and live[low - 1] == live[low] - 1:
        low -= 1
    while (
        high + 1 < kept
        and live[high + 1] == live[high] + 1
        and live[high + 1] < start[chosen_column + 1]
    ):
        high += 1
    mass = np.int64(cells[MASS, test])
    at.reach = max(mass - cells[MASS, live[low]], cells[MASS, live[high]] - mass)
    return True


@inner_jit
def look_up(level, data, table, frames):
    """Fill the keys of both children of the test being tried, and what the table has of them."""
    at = frames.levels[level]
    keys, cells = frames.keys, frames.cells[level]
    test, column = at.test, at.column
    bounds = get_bounds(level, frames)
    high, low = np.uint64(0), np.uint64(0)
    for place in range(frames.tests[level, PLACE, test] + 1):
        row = frames.order[level, column, place] >> 1
        high ^= data.keys[row, 0]
        low ^= data.keys[row, 1]
    keys[level, 0], keys[level, 1] = high, low
    keys[level, 2], keys[level, 3] = at.key_high ^ high, at.key_low ^ low
    budget, depth = at.budget, at.depth - 1
    for side in range(2):
        known = frames.known[level, side]
        known[:] = 0 if cells[LEAF + side, test] == 0 else -1
        known[0] = cells[LEAF + side, test]
        key = finish_key(keys[level, 2 * side], keys[level, 2 * side + 1], depth)
        place, version = find(key[0], key[1], table.entries)
        if place < 0 or known[0] == 0:
            continue
        found = table.lower[place].copy()
        proved = table.entries[place, EXACT_BUDGETS]
        if not unchanged(place, version, table.entries):
            continue
        new = found[1] > cells[ONE + side, test]
        cells[ONE + side, test] = max(found[1], cells[ONE + side, test])
        for size in range(1, budget):
            if (proved >> np.uint64(size)) & np.uint64(1):
                known[size] = found[size]
            if size > 1 and found[size] > bounds[side, size, test]:
                bounds[side, size, test] = found[size]
                new = True
        if new:
            share(level, side, data, frames)


@inner_jit
def sweep_some(level, data, frames, control):
    """Find the one-split errors of both children of the test being tried, and of some others."""
    at = frames.levels[level]
    known, cells, picked = frames.known[level], frames.cells[level], frames.picked
    swept = get_bounds(level, frames)[:, SWEPT]
    for side in range(2):
        if swept[side, at.test] > 0:
            known[side, 1] = swept[side, at.test] - 1
    if known[0, 1] >= 0 and known[1, 1] >= 0:
        return
    found, exact, lane = get_found(data, frames), sweeps_exactly(data), 0
    if swept[1, at.test] == 0:
        count, lane = _pick_unswept(level, swept[1], frames)
        sweep(level, count, data, frames, control)
        for side in range(2):
            for each in range(count):
                error = swept.dtype.type(found[LANES * side + each])
                cells[ONE + side, picked[0, each]] = error
                swept[side, picked[0, each]] = error + 1 if exact else -error - 1
    else:
        picked[0, 0], picked[1, 0] = at.test, at.column
    bounds, other = get_bounds(level, frames), at.budget - 2
    for side in range(2):
        rest = get_bound(1 - side, other, at.test, cells, bounds)
        if exact or cells[ONE + side, at.test] + rest < at.limit:
            known[side, 1] = settle(level, lane, np.int64(side), data, frames)
            cells[ONE + side, at.test] = known[side, 1]
            swept[side, at.test] = swept.dtype.type(known[side, 1]) + 1
    share_one(level, at.lives, frames)


@inner_jit
def _pick_unswept(level, swept, frames):
    """Pick the test being tried and others not yet swept, evenly spaced among those that may help.

    Says how many, and which of them is being tried. Other workers may sweep some at the same time.
    """
    at = frames.levels[level]
    live, picked, start = frames.tests[level, LIVE], frames.picked, frames.start[level]
    tried, lives, waiting = at.test, at.lives, 0
    for number in range(lives):
        waiting += swept[live[number]] == 0
    step = waiting // LANES + 1
    column, lane, passed, mine = 0, 0, step // 2, -1
    for number in range(lives):
        test = live[number]
        while start[column + 1] <= test:
            column += 1
        if test != tried:
            if swept[test] != 0:
                continue
            passed += 1
            if passed % step != 0 or lane == (LANES if mine >= 0 else LANES - 1):
                continue
        else:
            mine = lane
        picked[0, lane], picked[1, lane] = test, column
        lane += 1
    return lane, mine


# of a node: its column, or -1 for a leaf; the row before the cut, or the label; the low child,
# after which comes the high one; the question that it answers: splits, error and depth
COLUMN, ROW, LOW, SPLITS, ERROR, DEPTH = range(6)
NODE = 6
UNTRACED = -1  # an error


class Limits(NamedTuple):
    """What limits the trees of all sizes, and their errors."""

    depth: int
    masses: np.ndarray  # of all classes, the largest first
    leaves: int  # the most that a tree may have
    lower: np.ndarray  # bounds by size
    upper: np.ndarray


@jit
def sweep_sizes(sizes, limits, data, table, frames, control, out_nodes):
    """Answer sizes in turn until one takes too long; says how many are answered.

    Their lower and upper bounds become equal. ``out_nodes`` must be 0 at the start. Of a size whose
    tree is better than those of all smaller ones, it becomes the nodes, and the error of the first
    is counted anew; of others, the first has no splits.
    """
    if len(sizes) == 0:
        return 0
    depth, lower, upper = limits.depth, limits.lower, limits.upper
    reached = np.empty(len(data.codes), dtype=np.int32)
    level = start(len(data.codes), data, frames)
    frames.work[0] = 0
    control[STATUS] = RUN
    before, answered = np.int64(0), len(sizes)
    for number, size in enumerate(sizes):
        if size > before + 1 and before > 0:
            _enlarge(before, size, depth, data, frames, control, upper, out_nodes)
        before = size
        _carry_over(size, limits)
        bound = upper[size]
        if lower[size] >= bound:
            continue
        control[FOUND], control[LEAST] = bound, lower[size]
        frames.claims[:] = 0
        wanted = FIRST if is_counted(size, depth) else ANY
        question = Question(size, bound, depth, wanted)
        answer = solve_in_place(level, question, data, table, frames, control)
        if answer < bound and control[STATUS] == RUN:
            nodes = out_nodes[size]
            nodes[0, SPLITS], nodes[0, DEPTH] = size, depth
            _write_test(np.int64(0), np.int64(1), level, nodes, frames)
            splits = _trace(nodes, reached, data, table, frames, control)
            if control[STATUS] == RUN:
                _lower(splits, size, answer, upper, out_nodes)
        if control[STATUS] != RUN:
            answered = number
            break
        lower[size] = answer
    control[STATUS], control[ALLOWED] = RUN, 1 << 62  # what is left takes little
    for size in sizes[:answered]:
        if out_nodes[size, 0, SPLITS] > 0 and out_nodes[size, 0, ERROR] == UNTRACED:
            _trace(out_nodes[size], reached, data, table, frames, control)
    return answered


@inner_jit
def _carry_over(size, limits):
    """Raise the lower bound of a size by what is certain of the sizes before and after."""
    lower, upper = limits.lower, limits.upper
    before = lower[size - 1]
    if before > lower[size]:
        least = before - lightest_leaf(limits.masses, limits.leaves, size, before)
        lower[size] = max(lower[size], least)
    if size + 1 < len(lower):
        lower[size] = max(lower[size], lower[size + 1])
    lower[size] = min(lower[size], upper[size])


@inner_jit
def _lower(splits, size, error, upper, out_nodes):
    """Lower the upper bounds of all sizes for which a tree with so many splits is better.

    Its nodes are those of one size, and other sizes lose theirs.
    """
    for other in range(splits, len(upper)):
        if error < upper[other]:
            upper[other] = error
            if other != size and other < len(out_nodes):
                out_nodes[other, 0, SPLITS] = 0


@inner_jit
def _enlarge(before, most, depth, data, frames, control, upper, out_nodes):
    """Find trees of some more splits that begin as the tree of a size does.

    What both children of its first test need with up to three splits is shared out.
    """
    while before > 0 and out_nodes[before, 0, SPLITS] == 0:
        before -= 1
    if before == 0:
        return
    column, row = out_nodes[before, 0, COLUMN], out_nodes[before, 0, ROW]
    errors = np.empty((2, 4), dtype=np.int64)
    for side in range(2):
        rows = _gather(side, column, row, data, frames)
        level = start(rows, data, frames)
        errors[side] = count_in_place(level, np.int64(3), depth - 1, data, frames, control)
    for size in range(before + 1, most + 1):
        nodes = out_nodes[size]
        for low in range(min(size, 4)):
            high = min(3, size - 1 - low)
            error = errors[0, low] + errors[1, high]
            if error >= upper[size]:
                continue
            _lower(size, size, error, upper, out_nodes)
            nodes[0, COLUMN], nodes[0, ROW], nodes[0, LOW] = column, row, 1
            nodes[0, SPLITS], nodes[0, ERROR] = size, UNTRACED
            for side in range(2):
                nodes[1 + side, SPLITS] = low if side == 0 else high
                nodes[1 + side, ERROR] = errors[side, low if side == 0 else high]
                nodes[1 + side, DEPTH] = depth - 1


@inner_jit
def _gather(side, column, row, data, frames):
    """Make members of the rows on one side of a cut after some row; says how many."""
    rows, inside = np.int64(0), side == 0
    for entry in data.order[column]:
        frames.member[entry >> 1] = inside
        rows += inside
        if entry >> 1 == row:
            inside = side == 1
    return rows


@inner_jit
def _trace(nodes, reached, data, table, frames, control):
    """Write the nodes of a tree below its first test, and its error; says how many splits it has.

    If the status says that it took too long, that is worthless. ``reached`` becomes the leaf of
    each row.
    """
    _gather(np.int64(0), nodes[0, COLUMN], nodes[0, ROW], data, frames)
    for row in range(len(reached)):
        reached[row] = 1 if frames.member[row] else 2
    level, totals = np.int64(1), frames.totals[1]
    node, count, wrong = np.int64(1), np.int64(3), 0
    while node < count:
        totals[:] = 0
        rows = np.int64(0)
        for row in range(len(reached)):
            if reached[row] == node:
                totals[data.codes[row]] += data.weights[row, 0]
                rows += 1
        splits, error, depth = nodes[node, SPLITS], nodes[node, ERROR], nodes[node, DEPTH]
        if totals.sum() - totals.max() <= error:
            nodes[node, COLUMN], nodes[node, ROW] = -1, totals.argmax()  # the first of several
            wrong += totals.sum() - totals.max()
            node += 1
            continue
        for row in range(len(reached)):
            frames.member[row] = reached[row] == node
        start(rows, data, frames)
        question = Question(splits, error + 1, depth, KNOWN)
        solve_in_place(level, question, data, table, frames, control)
        if control[STATUS] != RUN:
            return 0
        _write_test(node, count, level, nodes, frames)
        at = frames.levels[level]
        order, place = frames.order[level, at.first_column], frames.tests[level, PLACE, at.first]
        for number in range(at.rows):
            reached[order[number] >> 1] = count + (number > place)
        node, count = node + 1, count + 2
    nodes[0, ERROR] = wrong
    return count // 2


@inner_jit
def _write_test(node, count, level, nodes, frames):
    """Write the test that was noted for the rows of a node, and the questions of both children."""
    at = frames.levels[level]
    column, low = at.first_column, at.first_low
    place = frames.tests[level, PLACE, at.first]
    nodes[node, COLUMN], nodes[node, LOW] = column, count
    nodes[node, ROW] = frames.order[level, column, place] >> 1
    for side in range(2):
        nodes[count + side, SPLITS] = low if side == 0 else nodes[node, SPLITS] - 1 - low
        nodes[count + side, ERROR] = at.first_errors[side]
        nodes[count + side, DEPTH] = nodes[node, DEPTH] - 1
