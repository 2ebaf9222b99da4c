"""Growth of every restriction of a family from the growths of its two children.

A tree grown on a restriction is its root split with a tree below each branch, and the next leaf of
the whole tree is the next one of either branch. So its splits, in the order in which they are made,
are those of both children merged. A child's order does not depend on the other child: reach weighs
all priorities of a branch alike, and leaves of a branch keep their order of creation.

A row holds the splits of one restriction in that order. A split is the priority of its leaf, by how
much it lowers the error, and the number of the leaf: the root has 0, and split number s, from 1,
makes the low child 2s and the high child 2s + 1. A last entry says why a row ends: priority ``PURE``
where no leaf is left, and a ``drop`` that is no number where merging cannot tell the next split. A
member that needs such an entry is grown by the loop instead.

Leaves tie when they differ by at most ``TIE_TOLERANCE``, which is not transitive. Here two heads
must differ by at most ``SAME`` or by at least ``CLEAR``, otherwise the row ends. Then the choice is
the loop's: let ``head`` be the next leaf of a subtree of depth d. By induction over d every open
leaf of the subtree either differs from it by at most d ``SAME``, or is smaller by at least ``CLEAR``
less d ``SAME``. For ``MOST_LITERALS`` the first is well below ``TIE_TOLERANCE`` and the second well
above, rounding included, so the leaves that tie with the largest are exactly those of the first
sort, and of these the head is the last (or first) created one, because each merge chose so.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit, run
from mictree.families.growth_kernel import AMBIGUOUS, BestSplits, Edges
from mictree.growers.functions import built_in_name
from mictree.growers.rules import BestFirst, Grower, Lookahead, TopDown
from mictree.optimal.dynamic.lattice import Graph
from mictree.optimal.dynamic.program import row_starts

SAME, CLEAR = 1e-13, 1e-9  # relative to the larger of two priorities
MOST_LITERALS = 200  # so many times SAME is a fifth of TIE_TOLERANCE
PURE = -np.inf
UNCLEAR = np.inf  # larger than any other priority, so that whoever compares with it stops
TINY = 1e-290  # smaller priorities may have lost digits
BYTES_EACH = 20  # of an entry
STEPS = 10  # inner steps that an entry costs, see run

WEIGHTED = (TopDown.priority.__qualname__, Lookahead.priority.__qualname__)
UNWEIGHTED = (BestFirst.priority.__qualname__,)


class SplitRows(NamedTuple):
    """Splits in the order of growth; the rows of restrictions that are no child are empty."""

    start: np.ndarray  # where the row of each restriction begins; without rows empty
    priority: np.ndarray
    drop: np.ndarray
    leaf: np.ndarray

    @classmethod
    def of(cls, start: np.ndarray) -> "SplitRows":
        """Rows to be filled."""
        entries = int(start[-1]) if len(start) else 0
        leaf = np.empty(entries, dtype=np.int32)
        return cls(start, np.empty(entries), np.empty(entries), leaf)


class Order(NamedTuple):
    """Which of two leaves is split first."""

    weighted: bool  # whether reach weighs priorities
    first: bool  # whether the first of tied leaves wins, not the last


def order_of(rule: Grower) -> Order | None:
    """How a rule's growths are merged; None if they cannot be."""
    name = built_in_name(rule)
    if name not in WEIGHTED + UNWEIGHTED or rule.ties not in ("last", "first"):
        return None
    return Order(name in WEIGHTED, rule.ties == "first")


class MergedGrowth:
    """The splits of one rule at a time on all restrictions of a family that are children."""

    def __init__(self, graph: Graph, edges: Edges, max_size: int, room: int) -> None:
        """``room`` is in bytes."""
        self._graph, self._edges, self._max_size, self._room = graph, edges, max_size, room
        self._order, self._best = None, None
        self._rows = SplitRows.of(np.empty(0, dtype=np.int64))

    def splits(self, rule: Grower, best: BestSplits) -> tuple[Order, SplitRows]:
        """For ``merged_errors``; without rows if they cannot be merged or need too much memory."""
        order = order_of(rule)
        if order is None:
            return Order(False, False), SplitRows.of(np.empty(0, dtype=np.int64))
        if self._best is not best:
            self._rows = SplitRows.of(self._starts(best))
        if len(self._rows.start) and (self._best is not best or self._order != order):
            self._fill(best, order)
        self._order, self._best = order, best
        return order, self._rows

    def _starts(self, best: BestSplits) -> np.ndarray:
        """Where each row begins; nothing if they do not fit."""
        graph = self._graph
        lengths = np.empty(len(graph), dtype=np.int64)
        _fill_lengths(graph.order, best.split, self._max_size, lengths)
        child = np.zeros(len(graph), dtype=bool)
        child[best.split[best.split[:, 2] != AMBIGUOUS, :2]] = True
        start = row_starts(lengths * child)
        fits = BYTES_EACH * int(start[-1]) <= self._room
        return start if fits and graph.literals.max() <= MOST_LITERALS else start[:0]

    def _fill(self, best: BestSplits, order: Order) -> None:
        """Write all rows, those of restrictions with fewer literals first."""
        graph, rows = self._graph, self._rows
        child = graph.order[np.diff(rows.start)[graph.order] > 0]
        begin = 0
        for end in (np.flatnonzero(np.diff(graph.literals[child], append=-1)) + 1).tolist():
            some = child[begin:end]
            work = STEPS * float((rows.start[some + 1] - rows.start[some]).sum())
            run(_fill_rows, len(some), work, some, best, self._edges, order, rows)
            begin = end


@jit
def _fill_lengths(order, split, max_size, out_lengths):
    """The entries that each row may have: one for each split and one for the end."""
    for state in order:
        out_lengths[state] = 1
        if split[state, 2] != AMBIGUOUS:
            out_lengths[state] += out_lengths[split[state, 0]] + out_lengths[split[state, 1]] - 1
            out_lengths[state] = min(out_lengths[state], max_size)


@jit
def _fill_rows(begin, stop, states, best, edges, order, rows):
    """Write the rows of some restrictions; those of their children are complete."""
    born = np.empty((2, 1), dtype=np.int32)
    for place in range(begin, stop):
        state = states[place]
        row = slice(rows.start[state], rows.start[state + 1])
        if row.stop - row.start > born.shape[1]:
            born = np.empty((2, row.stop - row.start), dtype=np.int32)
        merge(
            state, best, edges, order, rows, born, rows.priority[row], rows.drop[row],
            rows.leaf[row],
        )  # fmt: skip


@inner_jit
def merge(state, best, edges, order, rows, born, out_priority, out_drop, out_leaf):
    """Write a restriction's row, as many entries as there is room for.

    ``born`` is overwritten: for both children, by the number of a split in the child's row, the
    number of the low leaf that it makes here.
    """
    out_priority[0], out_leaf[0], out_drop[0] = best.worth[state, 0], 0, np.nan
    kind = best.split[state, 2]
    if state == 0:
        out_priority[0], out_drop[0] = PURE, 0.0
    if kind == AMBIGUOUS:
        return
    low, high = best.split[state, 0], best.split[state, 1]
    failed, satisfied = edges.failed[kind], edges.satisfied[kind]
    after = failed * best.worth[low, 1] + satisfied * best.worth[high, 1]
    out_drop[0] = after - best.worth[state, 1]
    low_weight, high_weight = (failed, satisfied) if order.weighted else (1.0, 1.0)
    priority, drop, leaf = rows.priority, rows.drop, rows.leaf
    low_start, high_start = rows.start[low], rows.start[high]
    lows = highs = 0  # how many splits of each child are made
    born[0, 0], born[1, 0] = 2, 3
    low_head, high_head = low_weight * priority[low_start], high_weight * priority[high_start]
    for step in range(1, len(out_priority)):
        larger, smaller = max(low_head, high_head), min(low_head, high_head)
        if larger < TINY:
            out_priority[step], out_leaf[step] = larger, 0
            out_drop[step] = 0.0 if larger == PURE else np.nan
            return
        low_first = low_head > high_head
        if smaller > larger * (1 - CLEAR):
            if smaller < larger * (1 - SAME):
                out_priority[step], out_leaf[step], out_drop[step] = UNCLEAR, 0, np.nan
                return
            low_leaf, high_leaf = leaf[low_start + lows], leaf[high_start + highs]
            low_leaf = born[0, low_leaf >> 1] + (low_leaf & 1)
            high_leaf = born[1, high_leaf >> 1] + (high_leaf & 1)
            low_first = (low_leaf < high_leaf) == order.first
        child = 0 if low_first else 1
        place = low_start + lows if low_first else high_start + highs
        out_priority[step] = low_head if low_first else high_head
        out_leaf[step] = born[child, leaf[place] >> 1] + (leaf[place] & 1)
        out_drop[step] = (failed if low_first else satisfied) * drop[place]
        if np.isnan(out_drop[step]):
            return
        if low_first:
            lows += 1
            born[0, lows] = 2 * step + 2
            low_head = low_weight * priority[place + 1]
        else:
            highs += 1
            born[1, highs] = 2 * step + 2
            high_head = high_weight * priority[place + 1]


@jit
def merged_errors(member, best, edges, order, rows, scratch, out_errors):
    """Write a member's errors by size; False if merging cannot tell them all.

    ``scratch`` is ``new_scratch``, which is overwritten.
    """
    if len(rows.start) == 0:
        return False
    begin, stop = rows.start[member], rows.start[member + 1]
    priority, drop = rows.priority[begin:stop], rows.drop[begin:stop]
    if begin == stop:
        merge(
            member, best, edges, order, rows, scratch.born, scratch.priority, scratch.drop,
            scratch.leaf,
        )  # fmt: skip
        priority, drop = scratch.priority, scratch.drop
    error = best.worth[member, 1]
    out_errors[0] = error
    for size in range(1, len(out_errors)):
        if priority[size - 1] == PURE:
            out_errors[size:] = error
            break
        error += drop[size - 1]
        if np.isnan(error):
            return False
        out_errors[size] = error
    return True


class Scratch(NamedTuple):
    """Room for one row."""

    priority: np.ndarray
    drop: np.ndarray
    leaf: np.ndarray
    born: np.ndarray


@jit
def new_scratch(max_size):
    """Room for the row of a member."""
    return Scratch(
        np.empty(max_size),
        np.empty(max_size),
        np.empty(max_size, dtype=np.int32),
        np.empty((2, max_size), dtype=np.int32),
    )
