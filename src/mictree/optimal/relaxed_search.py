"""Least costs of relaxed trees: branch and bound over blocks of cuts.

``relaxed`` says what a relaxed tree is, and what its cost bounds. Here rows have codes, and a test
is the end of a left child's codes and the begin of a right child's. ``relaxed_counts`` finds what
the children of all tests of some rows cost with up to one split, so trees with up to two splits,
and of depth 2, are answered at once. For two splits of a test's children, rows are added to the
counts in the order of the test's column, or taken away, and counts are looked at where a test may
still help. The children of larger questions are asked one by one, the middle one of the column with
most tests left first. Inside a column left children grow and right ones shrink, so their least
costs do too: one answer closes a run of tests. And a child costs as much as all rows, less what
those cost that it lacks.

Invariant: ``bounds[side, size, test]`` is at most the least cost of that child with ``size``
splits, and equal to it where ``exact`` says so.
"""

from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import atomic_add, inner_jit, jit
from mictree.optimal.questions import (
    EXACT_BUDGETS,
    FOUND,
    LEAST,
    NEXT,
    RUN,
    STATUS,
    VISITED,
    FirstTest,
    Question,
    Table,
    find,
    finish_key,
    make_driver,
    put,
    remember,
    unchanged,
)
from mictree.optimal.relaxed_counts import (
    CELLS,
    HUGE,
    LACK,
    LEAF,
    Counts,
    count_bytes,
    count_codes,
    count_pairs,
    fill_leaves,
    fill_splits,
    make_counts,
)
from mictree.optimal.rows import Leaf

LEVEL = np.dtype(
    [
        # the question: the least cost of these rows with this budget, if it is below the bound
        ("rows", np.int64),  # how many
        ("budget", np.int64),
        ("depth", np.int64),
        ("bound", np.int64),
        ("key_high", np.uint64),  # the hash of the rows
        ("key_low", np.uint64),
        ("floor", np.int64),
        # what is known of the answer
        ("errors", np.int64, (3,)),  # least costs with 0, 1 and 2 splits
        ("counted_sizes", np.int64),  # how many of them are known
        ("best", np.int64),  # a cost that some relaxed tree attains
        ("limit", np.int64),  # only trees that cost less are wanted
        ("goal", np.int64),  # a cost that is good enough to stop
        ("refuted", np.int64),  # no test that was tried leads to less
        # where the search stands
        ("test", np.int64),  # the one being tried; -1 for none
        ("column", np.int64),  # its column
        ("low_budget", np.int64),  # the splits of its left child
        ("side", np.int64),  # the child that was asked last
    ],
    align=True,
)
RECORD = np.dtype((np.record, LEVEL))  # fields are attributes
SIZES = 4  # budgets of a child that have bounds, at least
CODES = 256


class RelaxedFrames(NamedTuple):
    """One worker's scratch. The last level of the rows' arrays is for rows that are counted."""

    codes: np.ndarray  # (levels, columns, rows)
    slots: np.ndarray  # (levels, rows)
    values: np.ndarray  # (levels, rows, sums)
    members: np.ndarray  # (levels, rows) which rows they are
    order: np.ndarray  # (rows,) the rows of a level in the order of a column
    heads: np.ndarray  # (codes + 1,) how many of them come before each code
    counts: Counts  # of the rows that are looked at
    tables: np.ndarray  # those of a level's rows, by the codes of two columns
    singles: np.ndarray  # and of one
    cells: np.ndarray  # (levels, CELLS, tests) costs of both children of each test
    bounds: np.ndarray  # (levels, 2, sizes, tests)
    exact: np.ndarray  # (levels, 2, sizes, tests)
    whole: np.ndarray  # (levels, sizes) lower bounds of a level's rows
    looked: np.ndarray  # (levels, tests) whether the table has been asked
    root_bounds: np.ndarray  # (2, sizes, tests) those of level 0, which all workers share
    root_exact: np.ndarray
    claims: np.ndarray  # (tests,) whether some worker tries a test of level 0
    levels: np.ndarray  # (levels,) of LEVEL


class RelaxedEngine:
    """Answers questions about relaxed trees for all rows, as ``SweepEngine`` does for trees.

    ``rows`` are ``RelaxedRows``.
    """

    patience: tuple[int, ...] = ()

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.budgets = self.levels = self.bytes = 0
        self.root_bounds = self.root_exact = self.claims = self.answers = np.empty(0)

    def __str__(self) -> str:
        columns, rows = self.rows.data.codes.shape
        return f"{rows:,} rows of {columns:,} columns in blocks"

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        for self.budgets in range(max(1, budgets), 0, -1):
            self.levels = max(1, min(self.budgets, depth) - 2) + 1
            shapes = self._shapes().values()
            words = sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes)
            self.bytes = words + count_bytes(self.rows.data, self.rows.sums)
            if self.bytes <= memory:
                break
        shape = (2, max(SIZES, self.budgets), len(self.rows.data.ends))
        self.root_bounds = np.zeros(shape, dtype=np.int64)
        self.root_exact = np.zeros(shape, dtype=np.uint8)
        self.claims = np.zeros(shape[2], dtype=np.uint8)
        self.answers = np.zeros(shape[1] + 1, dtype=np.int64)

    def learn(self, budget: int, cost: int) -> None:
        """Note that relaxed trees cost no less, for questions with more splits."""
        self.answers[budget] = max(self.answers[budget], cost)

    def _shapes(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        data, levels, sizes = self.rows.data, self.levels, max(SIZES, self.budgets)
        (columns, rows), tests, kind = data.codes.shape, len(data.ends), data.values.dtype
        codes, pairs = int(data.sizes.max()), max(1, columns * (columns - 1) // 2)
        return {
            "codes": ((levels, columns, rows), np.uint8),
            "slots": ((levels, len(data.slots)), data.slots.dtype),
            "values": ((levels, rows, data.values.shape[1]), kind),
            "members": ((levels, rows), np.int32),
            "order": ((rows,), np.int32),
            "heads": ((CODES + 1,), np.int64),
            "tables": ((pairs * self.rows.sums * codes * codes,), kind),
            "singles": ((columns, self.rows.sums, codes), kind),
            "cells": ((levels, CELLS, tests), np.int64),
            "bounds": ((levels, 2, sizes, tests), np.int64),
            "exact": ((levels, 2, sizes, tests), np.uint8),
            "looked": ((levels, tests), np.uint8),
            "whole": ((levels, sizes), np.int64),
        }

    def make_frames(self) -> RelaxedFrames:
        """Frames for one worker."""
        data = self.rows.data
        frames = RelaxedFrames(
            **{name: np.empty(*each) for name, each in self._shapes().items()},
            counts=make_counts(data, self.rows.sums),
            root_bounds=self.root_bounds,
            root_exact=self.root_exact,
            claims=self.claims,
            levels=np.zeros(self.levels, dtype=RECORD),
        )
        frames.codes[0], frames.slots[0], frames.values[0] = data.codes, data.slots, data.values
        frames.members[0] = self.rows.everything
        return frames

    def leaf(self, members: np.ndarray) -> Leaf:
        """No label is ever needed."""
        raise NotImplementedError

    def trace(self, frames: RelaxedFrames, budget: int, cost: int) -> FirstTest:
        """Not possible: the tree would not be one for the rows."""
        raise NotImplementedError

    def ask(
        self, members: np.ndarray, question: Question, table: Table, frames: RelaxedFrames,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """The least cost of a relaxed tree for all rows within a budget, if below the bound."""
        self.claims[:] = 0
        frames.whole[0] = self.answers[:-1]
        return solve_relaxed(len(members), question, self.rows.data, table, frames, control)


@jit
def solve_relaxed(rows, question, data, table, frames, control):
    """The least cost of a relaxed tree for all rows, if it is below the bound; see ``Asks``.

    What is learned of the tests of all rows stays for the next question.
    """
    at = frames.levels[0]
    at.rows, at.key_high, at.key_low = rows, np.uint64(0), np.uint64(0)
    put(at, question.budget, question.bound, question.depth)
    return _drive(np.int64(0), data, table, frames, control)


@inner_jit
def _look(level, data, table, frames, control):
    """Whether counts suffice for an answer; and the answer."""
    at, counts, cells = frames.levels[level], frames.counts, frames.cells[level]
    budget, bound = at.budget, at.bound
    at.floor, at.test = 0, -1
    at.goal = control[LEAST] if level == 0 else 0
    at.limit = at.best = 0
    if at.rows == 0 or control[STATUS] != RUN:
        return True, np.int64(0)
    atomic_add(control, VISITED, 1)
    counts.singles[:] = 0
    counts.tables[:] = 0
    codes, values = frames.codes[level], frames.values[level]
    count_codes(at.rows, codes, frames.slots[level], values, data, counts)
    none, one = fill_leaves(cells, data, counts)
    two = three = one
    if budget > 1 and none > 0:
        counts.wanted[:] = True
        count_pairs(at.rows, codes, frames.slots[level], values, data, counts)
        least_two, least_three = fill_splits(cells, none, data, counts)
        two, three = min(one, least_two), min(one, least_three)
    at.errors[0], at.errors[1], at.errors[2] = none, one, two
    at.counted_sizes = 3 if budget > 1 else 2
    best = none if budget == 0 else one if budget == 1 else two if budget == 2 else three
    at.best, at.limit = best, min(bound, best)
    if budget > 2 and at.depth > 2 and at.limit > at.goal:
        frames.whole[level, 2] = two
        _clear(level, frames)
        _split_twice(level, data, frames, control)
        if budget > 3 and at.limit > at.goal:
            return False, at.limit
        _refute(level, frames)
    elif budget <= 2 or at.depth <= 2:
        at.limit = best
    found = at.limit < bound or at.limit == best
    answer = at.limit if found else max(at.limit, at.refuted)
    if level > 0 and control[STATUS] == RUN:
        remember(at, answer, found or answer == best, table, control)
    return True, answer


@inner_jit
def _refute(level, frames):
    """Find how much all tests cost at least, where none leads to less than the limit.

    At level 0 other workers try some of them.
    """
    if level == 0:
        return
    at = frames.levels[level]
    bounds, _ = _get_bounds(level, frames)
    refuted = at.best
    for test in range(bounds.shape[2]):
        refuted = min(refuted, _least_share(np.int64(test), at.budget, at.depth, bounds)[1])
    at.refuted = max(at.refuted, refuted)


@inner_jit
def _clear(level, frames):
    """Forget what was known of the children of other rows.

    Children cost as much as all rows, less what those cost that they lack.
    """
    bounds, exact = _get_bounds(level, frames)
    cells, whole, budget = frames.cells[level], frames.whole[level], frames.levels[level].budget
    frames.looked[level] = 0
    if level > 0:
        bounds[:] = 0
        exact[:] = 0
    for side in range(2):
        for size in range(2):
            for test in range(bounds.shape[2]):
                bounds[side, size, test] = cells[LEAF + 2 * size + side, test]
                exact[side, size, test] = 1
        for size in range(2, budget):
            for test in range(bounds.shape[2] if whole[size] > 0 else 0):
                least = whole[size] - cells[LACK + side, test]
                bounds[side, size, test] = max(bounds[side, size, test], least)


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
    at, counts = frames.levels[level], frames.counts
    bounds, exact = _get_bounds(level, frames)
    size = 3 if at.depth == 3 and at.budget > 3 else 2
    other = min(at.budget - 3, 3 if at.depth == 3 else at.budget)
    columns, count = len(data.sizes), np.int64(0)
    frames.tables[:] = counts.tables
    frames.singles[:] = counts.singles
    if level == 0:  # what questions before have found
        for test in range(len(data.ends)):
            _meet(level, np.int64(test), bounds, exact, frames.levels, control)
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
            _sort(at.rows, frames.codes[level, column], side, frames.heads, frames.order)
            _sweep(level, column, side, size, other, data, frames, control)


@inner_jit
def _sort(rows, codes, side, heads, out_order):
    """Order rows by their codes, of the right side against it; and count how many come before."""
    heads[:] = 0
    flip = 0 if side == 0 else CODES - 1
    for row in range(rows):
        heads[(np.int64(codes[row]) ^ flip) + 1] += 1
    for code in range(CODES):
        heads[code + 1] += heads[code]
    for row in range(rows):
        code = np.int64(codes[row]) ^ flip
        out_order[heads[code]] = row
        heads[code] += 1  # now it is how many come before the next code


@inner_jit
def _sweep(level, column, side, size, other, data, frames, control):
    """Add rows in the order of a column, and find two splits at its tests that may help."""
    at, counts, last = frames.levels[level], frames.counts, len(frames.levels) - 1
    bounds, exact = _get_bounds(level, frames)
    cells = frames.cells[last]
    start, stop = data.first[column], data.first[column + 1]
    counted, paired, known, known_more = np.int64(-1), np.int64(-1), np.int64(0), np.int64(0)
    for number in range(stop - start):
        test = start + number if side == 0 else stop - 1 - number
        known = bounds[side, 2, test] = max(known, bounds[side, 2, test])
        known_more = max(known_more, bounds[side, 3, test])
        if size == 3:
            bounds[side, 3, test] = known_more
        if exact[side, size, test] or (
            bounds[side, size, test] + bounds[1 - side, other, test] >= at.limit
        ):
            continue
        code = data.ends[test] if side == 0 else CODES - 2 - data.begins[test]
        inside = frames.heads[code]
        _count(level, counted, inside, False, data, frames)
        counted = inside
        none, one = fill_leaves(cells, data, counts)
        two = three = one
        limit = HUGE if size == 3 else at.limit - bounds[1 - side, other, test]
        if none > 0 and _want(limit, one, cells, counts.wanted):
            _count(level, paired, inside, True, data, frames)
            paired = inside
            least_two, least_three = fill_splits(cells, none, data, counts)
            two, three = min(one, least_two), min(one, least_three)
        known = bounds[side, 2, test] = max(known, min(two, limit))
        exact[side, 2, test] = two < limit
        if size == 3:
            known_more = bounds[side, 3, test] = three
            exact[side, 3, test] = 1
        _meet(level, np.int64(test), bounds, exact, frames.levels, control)
        if control[STATUS] != RUN or at.limit <= at.goal:
            return


@inner_jit
def _count(level, before, inside, pairs, data, frames):
    """Count the first so many rows of a level's order, given that fewer are counted; or none: -1.

    By the codes of ``pairs`` of columns, or of one. Where that are fewer, rows are taken away from
    all those of the level.
    """
    rows, counts = frames.levels[level].rows, frames.counts
    begin, stop, sign = max(before, 0), inside, 1
    if before < 0 and 2 * inside > rows:
        begin, stop, sign = inside, rows, -1
    if pairs and before < 0:
        counts.tables[:] = 0
        if sign < 0:
            counts.tables[:] = frames.tables
    elif before < 0:
        counts.singles[:] = 0
        if sign < 0:
            counts.singles[:] = frames.singles
    _gather(level, begin, stop, sign, frames)
    last = len(frames.levels) - 1
    slots, codes, values = frames.slots[last], frames.codes[last], frames.values[last]
    if pairs:
        count_pairs(stop - begin, codes, slots, values, data, counts)
    else:
        count_codes(stop - begin, codes, slots, values, data, counts)


@inner_jit
def _gather(level, begin, stop, sign, frames):
    """Put some rows of a level in their order on the last level; their values times a sign."""
    last, order, rows = len(frames.levels) - 1, frames.order, stop - begin
    for column in range(frames.codes.shape[1]):
        source, target = frames.codes[level, column], frames.codes[last, column]
        for place in range(rows):
            target[place] = source[order[begin + place]]
    if frames.slots.shape[1] > 0:
        labels, slots = frames.slots[level], frames.slots[last]
        for place in range(rows):
            slots[place] = labels[order[begin + place]]
    values, signed = frames.values[level], frames.values[last]
    for place in range(rows):
        for part in range(values.shape[1]):
            signed[place, part] = sign * values[order[begin + place], part]


@inner_jit
def _want(limit, one, cells, out_wanted):
    """Mark children of tests that may lead to less with one more split; whether there are any.

    With one split a child costs as much as all rows, less what those cost that it lacks.
    """
    found = False
    for test in range(out_wanted.shape[1]):
        for side in range(2):
            most = max(np.int64(0), one - cells[LACK + side, test])
            out_wanted[side, test] = cells[LEAF + 1 - side, test] + most < limit
            found |= out_wanted[side, test]
    return found


@inner_jit
def _meet(level, test, bounds, exact, levels, control):
    """Lower the limit if both children of a test are known well enough."""
    at = levels[level]
    most = at.budget - 1
    if at.depth < 62:
        most = min(most, (1 << (at.depth - 1)) - 1)
    for low in range(at.budget - 1 - most, most + 1):
        high = at.budget - 1 - low
        if exact[0, low, test] and exact[1, high, test]:
            total = bounds[0, low, test] + bounds[1, high, test]
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
    _spread_bound(side, size, test, data.first[at.column], data.first[at.column + 1], bounds)


@inner_jit
def _spread_bound(side, size, test, start, stop, bounds):
    """Larger children cost as much, and so do fewer splits."""
    answer, step = bounds[side, size, test], 1 if side == 0 else -1
    for fewer in range(2, size + 1):
        bounds[side, fewer, test] = max(bounds[side, fewer, test], answer)
        here = test + step
        while start <= here < stop and bounds[side, fewer, here] < answer:
            bounds[side, fewer, here] = answer
            here += step


@inner_jit
def _advance(level, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    at = frames.levels[level]
    bounds, exact = _get_bounds(level, frames)
    budget = at.budget
    while control[STATUS] == RUN and at.limit > at.goal:
        if level == 0:
            at.limit = min(at.limit, control[FOUND])
        low, total = np.int64(-1), at.limit
        if at.test >= 0:
            low, total = _least_share(at.test, budget, at.depth, bounds)
        if total >= at.limit:
            if not _select(level, data, bounds, frames):
                _refute(level, frames)
                return False
            _look_up(level, data, table, frames)
            continue
        test, high = at.test, budget - 1 - low
        low_known, high_known = exact[0, low, test], exact[1, high, test]
        if low_known and high_known:
            _meet(level, test, bounds, exact, frames.levels, control)
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
def _least_share(test, budget, depth, bounds):
    """The share of the budget whose bounds have the least sum: the left child's; and the sum."""
    most = budget - 1 if depth > 40 else min(budget - 1, (1 << (depth - 1)) - 1)
    share, total = np.int64(-1), np.int64(HUGE)
    for low in range(budget - 1 - most, most + 1):
        each = bounds[0, low, test] + bounds[1, budget - 1 - low, test]
        if each < total:
            share, total = np.int64(low), each
    return share, total


@inner_jit
def _select(level, data, bounds, frames):
    """Try the middle one of the column with most tests that may help; False if there is none.

    At level 0 it is one that no other worker tries.
    """
    at, claims, first = frames.levels[level], frames.claims, data.first
    budget, depth, limit = at.budget, at.depth, at.limit
    most, chosen, chosen_column = 0, np.int64(-1), np.int64(-1)
    for column in range(len(data.sizes)):
        live, passed = 0, 0
        for again in range(2):
            for test in range(first[column], first[column + 1]):
                if level == 0 and claims[test]:
                    continue
                if _least_share(test, budget, depth, bounds)[1] >= limit:
                    continue
                if again and passed == live // 2:
                    chosen, chosen_column = np.int64(test), np.int64(column)
                passed += again
                live += 1 - again
            if live <= most:
                break
        most = max(most, live)
    at.test, at.column = chosen, chosen_column
    if level == 0 and chosen >= 0:
        claims[chosen] = 1
    return chosen >= 0


@inner_jit
def _look_up(level, data, table, frames):
    """Raise the bounds of both children of the test being tried by what the table has of them."""
    at = frames.levels[level]
    test, start, stop = at.test, data.first[at.column], data.first[at.column + 1]
    if frames.looked[level, test]:
        return
    frames.looked[level, test] = 1
    bounds, exact = _get_bounds(level, frames)
    codes, members = frames.codes[level, at.column], frames.members[level]
    for side in range(2):
        high, low = np.uint64(0), np.uint64(0)
        for row in range(at.rows):
            if codes[row] <= data.ends[test] if side == 0 else codes[row] > data.begins[test]:
                high ^= data.keys[members[row], 0]
                low ^= data.keys[members[row], 1]
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
            _spread_bound(side, size, test, start, stop, bounds)


@inner_jit
def _descend(level, side, data, frames):
    """Put the rows of a child of the test being tried into the next frame."""
    at, child, order = frames.levels[level], frames.levels[level + 1], frames.order
    mine, end, begin = frames.codes[level, at.column], data.ends[at.test], data.begins[at.test]
    rows = np.int64(0)
    for row in range(at.rows):
        order[rows] = row  # overwritten by the next row, if this one is not taken
        rows += (side == 0 and mine[row] <= end) or (side == 1 and mine[row] > begin)
    child.rows = rows
    for each in range(len(data.sizes)):
        source, target = frames.codes[level, each], frames.codes[level + 1, each]
        for place in range(rows):
            target[place] = source[order[place]]
    high, low = np.uint64(0), np.uint64(0)
    members, values = frames.members, frames.values
    for place in range(rows):
        row = order[place]
        member = members[level, row]
        members[level + 1, place] = member
        high ^= data.keys[member, 0]
        low ^= data.keys[member, 1]
        if frames.slots.shape[1] > 0:
            frames.slots[level + 1, place] = frames.slots[level, row]
        for part in range(values.shape[2]):
            values[level + 1, place, part] = values[level, row, part]
    child.key_high, child.key_low = high, low
    for size in range(at.budget):
        frames.whole[level + 1, size] = _get_bounds(level, frames)[0][side, size, at.test]
