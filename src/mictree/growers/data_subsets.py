"""Sets of categories as tests of packed data; kernels of the growing loops.

A grouped column has one row of bits for each of its categories, so the counts of a leaf hold its
rows by category, and a split by a set needs no look at rows: its sums are sums of these counts.
``mictree.problems.subsets`` says which sets are looked at. As for cuts, a fast gain selects sets
that may be best, and exact gains decide.

A set that may be best is known by its column, the walk and the step; ``Groups.chosen`` keeps the
one by which a leaf is split as a byte for each category.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit
from mictree.columns.literals import Literals
from mictree.growers.data_gains import exact_cut_gain, fast_gain, no_cuts
from mictree.impurity.gains import OWN
from mictree.problems.sample import SampleProblem
from mictree.problems.subsets import (
    MOST_LISTED,
    class_keys,
    new_walks,
    repeats,
    write_side,
)

STEPS = 2**32  # more than a walk has


class Groups(NamedTuple):
    """The grouped columns of a table."""

    literals: int  # the rows of bits before those of all cells
    first: np.ndarray  # of each grouped column, the first of its rows of bits
    stop: np.ndarray  # and the end
    missing: np.ndarray  # whether the last of them stands for missing values
    number: np.ndarray  # of the columns that are ordered, then of those that are grouped
    before: np.ndarray  # for each of these, how many stored literals come before it
    chosen: np.ndarray  # (leaves, cells): the set to split a leaf by
    made: np.ndarray  # (splits, cells): the set of each split


def groups_of(problem: SampleProblem, limit: int) -> Groups | None:
    """The grouped columns of a problem, if there are any; room for so many splits."""
    literals = problem.literals
    if not literals.grouped:
        return None
    cells = [literals.cells(number) for number in literals.grouped]
    most = max(each.stop - each.start for each in cells)
    numbers = np.array([*literals.ordered, *literals.grouped], dtype=np.int64)
    starts = np.array(literals.starts, dtype=np.int64)[numbers]
    return Groups(
        len(literals.stored_bits),
        np.array([each.start for each in cells], dtype=np.int64),
        np.array([each.stop for each in cells], dtype=np.int64),
        np.array([literals.columns[number].missing for number in literals.grouped]),
        numbers,
        np.searchsorted(literals.stored_bits, starts),
        np.zeros((2 * limit + 1, most), dtype=np.uint8),
        np.zeros((limit, most), dtype=np.uint8),
    )


def check_criterion_of_sets(literals: Literals, own: bool) -> None:
    """Refuse a criterion of one's own on more categories than can be listed.

    Orders are exact for concave criteria only, and nobody knows whether it is one.
    """
    for number in literals.grouped if own else ():
        column = literals.columns[number]
        if column.cells > MOST_LISTED:
            raise ValueError(
                'a criterion of your own with categories="subsets" needs columns of at most '
                f"{MOST_LISTED} categories, missing values counted; {column.name} has "
                f"{column.cells}"
            )


def test_of_set(problem: SampleProblem, group: int, chosen: np.ndarray) -> int:
    """The literal for a set of a grouped column's categories, given as bytes."""
    number = problem.literals.grouped[group]
    return problem.literals.add_set(number, tuple(np.flatnonzero(chosen).tolist()))


@inner_jit
def of_group(table, group, groups):
    """The rows of a table of counts that belong to a grouped column."""
    return table[groups.first[group] : groups.stop[group]]


@inner_jit
def rows_by_cell(counts, group, groups):
    """The rows of a leaf in each cell of a grouped column."""
    return of_group(counts.rows, group, groups).sum(axis=1)


@inner_jit
def walks_of_classes(counts, group, groups, task):
    """The divisions of a leaf's categories to look at."""
    limits = task.limits
    sure = limits.min_samples_leaf <= 1 and limits.min_leaf_mass <= 0
    sure &= task.weighing.criterion != OWN
    if len(counts.sums):
        sums = of_group(counts.sums, group, groups)
    else:
        sums = of_group(counts.rows, group, groups).astype(np.float64)
    return new_walks(rows_by_cell(counts, group, groups), class_keys(sums), sure)


@inner_jit
def screen_sets(counts, groups, scan, fast):
    """The largest fast gain of a leaf's other tests, ``fast``, and of its sets."""
    for group in range(len(groups.first)):
        fast = max(fast, _scan(counts, group, groups, scan, np.inf))
    return fast


@inner_jit
def weigh_sets(counts, groups, scan, candidate):
    """The sets that may be best: exact gains, places in the walks, and columns.

    A column's number is its place in ``Groups.number``.
    """
    cuts, ordered = scan.cuts, len(groups.number) - len(groups.first)
    for group in range(len(groups.first)):
        _scan(counts, group, groups, scan, candidate)
        while len(cuts.columns) < len(cuts.gains):
            cuts.columns.append(ordered + group)
    return cuts


@inner_jit
def _scan(counts, group, groups, scan, least):
    """The largest fast gain of a column's sets; appends exact gains and places from ``least`` on.

    Overwrites ``scan.room``.
    """
    leaf, task, left, best = scan.leaf, scan.task, scan.room.left, -np.inf
    fewest, lightest = max(1, task.limits.min_samples_leaf), task.limits.min_leaf_mass
    first, classes, weighted = groups.first[group], len(leaf.sums), len(counts.sums) > 0
    walks = walks_of_classes(counts, group, groups, task)
    side = np.empty(groups.stop[group] - first, dtype=np.uint8)
    for walk in range(len(walks.moves)):
        left[:] = 0
        side[:] = 0
        left_rows = np.int64(0)
        for step in range(walks.moves.shape[1]):
            cell = walks.moves[walk, step]
            sign = 1 - 2 * np.int64(side[cell])
            side[cell] ^= 1
            for code in range(classes):
                rows = counts.rows[first + cell, code]
                left_rows += sign * rows
                left[code] += sign * (counts.sums[first + cell, code] if weighted else rows)
            if min(left_rows, leaf.rows - left_rows) < fewest:
                continue
            fast = fast_gain(left, leaf, task, scan.room, lightest)
            best = max(best, fast)
            if fast >= least and not (len(walks.places) and repeats(walks, walk, step)):
                scan.cuts.gains.append(exact_cut_gain(left, leaf, task, scan.room))
                scan.cuts.places.append(walk * STEPS + step)
    return best


@inner_jit
def join_tests(cuts, sets, groups):
    """Cuts of ordered columns and sets of grouped ones in the order of columns."""
    joined, cut, chosen = no_cuts(), 0, 0
    while cut < len(cuts.gains) or chosen < len(sets.gains):
        take_cut = chosen == len(sets.gains) or (
            cut < len(cuts.gains)
            and groups.number[cuts.columns[cut]] < groups.number[sets.columns[chosen]]
        )
        if take_cut:
            _append(joined, cuts, cut)
            cut += 1
        else:
            _append(joined, sets, chosen)
            chosen += 1
    return joined


@inner_jit
def _append(joined, part, place):
    joined.gains.append(part.gains[place])
    joined.places.append(part.places[place])
    joined.columns.append(part.columns[place])


@inner_jit
def group_of(column, groups):
    """The grouped column of a test by its column; negative for other tests."""
    return column - (len(groups.number) - len(groups.first))


@inner_jit
def keep_set(leaf, place, walks, group, rows, groups):
    """Write the set by which a leaf is to be split."""
    chosen = groups.chosen[leaf]
    chosen[:] = 0
    write_side(
        walks, place // STEPS, place % STEPS, rows, groups.missing[group], chosen[: len(rows)]
    )


@inner_jit
def add_set(table, leaf, group, groups, out_sums):
    """Add up the rows of a table of counts whose categories are in the set of a leaf."""
    first = groups.first[group]
    for cell in range(groups.stop[group] - first):
        if groups.chosen[leaf, cell]:
            for each in range(len(out_sums)):
                out_sums[each] += table[first + cell, each]


@inner_jit
def bits_of_set(bits, leaf, group, groups):
    """The bits of the set of a leaf."""
    first = groups.first[group]
    side = np.zeros(bits.shape[1], dtype=np.uint64)
    for cell in range(groups.stop[group] - first):
        if groups.chosen[leaf, cell]:
            row = bits[first + cell]
            for word in range(len(side)):
                side[word] |= row[word]
    return side
