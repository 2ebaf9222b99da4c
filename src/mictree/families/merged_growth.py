"""Growth of every restriction of a family from the growths of its two children.

A tree grown on a restriction is its root split with a tree below each branch, and the next leaf of
the whole tree is the next one of either branch. So its splits, in the order in which they are made,
are those of both children merged. A child's order does not depend on the other child: reach weighs
all priorities of a branch alike, and leaves of a branch keep their order of creation.

A row holds the splits of one restriction in that order: the priority of each split leaf, and its
number. The root has 0, and split number s, from 1, makes the low child 2s and the high child
2s + 1. Where a row ends early, a last entry says why: priority ``PURE`` where no leaf is left, and
a number's complement, which is negative, where merging cannot tell how the leaf is split. A member
whose growth comes to such a leaf is grown by the loop of ``growth_kernel`` instead. All other
members are grown leaf by leaf as their rows say, so their errors are the same floats.

Leaves tie when they differ by at most ``TIE_TOLERANCE``, which is not transitive. Here two heads
must differ by at most ``SAME`` or by more than ``CLEAR``; otherwise the row ends. Then the choice
is the loop's. To see this, call the next leaf of a subtree of depth d its head. By induction over
d, every open leaf of the subtree either differs from the head by at most d ``SAME``, or is smaller
by more than ``CLEAR`` less d ``SAME``. Up to ``MOST_LITERALS`` the first is well below
``TIE_TOLERANCE`` and the second well above, rounding included. So the leaves that tie with the
largest are exactly those of the first sort, and of these the head is the last (or first) created,
because each merge chose so.
The same holds for the reaches of tied leaves where the heaviest or lightest is split.
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
TINY = 1e-290  # smaller priorities may have lost digits
BYTES_EACH = 12  # of an entry
STEPS = 50  # inner steps that an entry costs, see run

LOW, HIGH, TIED, UNCLEAR = 0, 1, -1, -2

WEIGHTED = (TopDown.priority.__qualname__, Lookahead.priority.__qualname__)
UNWEIGHTED = (BestFirst.priority.__qualname__,)


class Splits(NamedTuple):
    """Splits in the order of growth: one row, or all rows one after another."""

    priority: np.ndarray
    leaf: np.ndarray
    reach: np.ndarray  # empty where no tie looks at it


class Rows(NamedTuple):
    """The splits of restrictions; those that are no child of a best split have an empty row."""

    start: np.ndarray  # where the row of each restriction begins; empty: there are no rows
    splits: Splits


class Order(NamedTuple):
    """Which of two leaves is split first."""

    weighted: bool  # whether reach weighs priorities
    heavy: int  # 1 or -1: of tied leaves the heaviest or lightest; 0: as below
    first: bool  # whether the first of tied leaves is split, not the last


def order_of(rule: Grower) -> Order | None:
    """How a rule's growths are merged; None if they cannot be."""
    name = built_in_name(rule)
    if name not in WEIGHTED + UNWEIGHTED or rule.ties == "random":
        return None
    heavy = {"heaviest": 1, "lightest": -1}.get(rule.ties, 0)
    return Order(name in WEIGHTED, heavy, rule.ties == "first")


class MergedGrowth:
    """The splits of one rule at a time on all restrictions of a family that are children."""

    def __init__(self, graph: Graph, edges: Edges, max_size: int, room: int) -> None:
        """``room`` is in bytes."""
        self._graph, self._edges, self._max_size, self._room = graph, edges, max_size, room
        self._order: Order | None = None
        self._best: BestSplits | None = None
        self._rows = NO_ROWS

    def splits(self, rule: Grower, best: BestSplits) -> tuple[Order, Rows]:
        """For ``merged_errors``; no rows if they cannot be merged or need too much memory."""
        order = order_of(rule)
        if order is None:
            return Order(False, 0, False), NO_ROWS
        if self._best is not best or self._order != order:
            self._rows = self._room_for(best, order)
            self._order = None  # an interrupted call leaves rows of no rule
            if len(self._rows.start):
                self._fill(best, order)
            self._order, self._best = order, best
        return order, self._rows

    def _room_for(self, best: BestSplits, order: Order) -> Rows:
        """The rows of the rule before where they will do, as new memory takes time, or new ones."""
        before = self._order
        if before and self._best is best and bool(before.heavy) == bool(order.heavy):
            return self._rows
        self._rows = NO_ROWS  # not both at once
        start = self._starts(best)
        bytes_each = BYTES_EACH + (8 if order.heavy else 0)
        fits = bytes_each * int(start[-1]) <= self._room
        if not fits or self._graph.literals.max() > MOST_LITERALS:
            return NO_ROWS
        return Rows(start, _new_splits(start[-1], order.heavy))

    def _fill(self, best: BestSplits, order: Order) -> None:
        """Write all rows, those of restrictions with fewer literals first."""
        graph, start = self._graph, self._rows.start
        child = graph.order[np.diff(start)[graph.order] > 0]
        begin = 0
        for end in (np.flatnonzero(np.diff(graph.literals[child], append=-1)) + 1).tolist():
            some = child[begin:end]
            work = STEPS * float((start[some + 1] - start[some]).sum())
            run(_fill_rows, len(some), work, some, best, self._edges, order, self._rows)
            begin = end

    def _starts(self, best: BestSplits) -> np.ndarray:
        """Where each row begins."""
        graph = self._graph
        lengths = np.empty(len(graph), dtype=np.int64)
        _fill_lengths(graph.order, best.split, self._max_size, lengths)
        child = np.zeros(len(graph), dtype=bool)
        child[best.split[best.split[:, 2] != AMBIGUOUS, :2]] = True
        return row_starts(lengths * child)


@jit
def _new_splits(entries, heavy):
    """Room for so many splits."""
    return Splits(
        np.empty(entries), np.empty(entries, dtype=np.int32), np.empty(entries if heavy else 0)
    )


NO_ROWS = Rows(
    np.empty(0, dtype=np.int64),
    Splits(np.empty(0), np.empty(0, dtype=np.int32), np.empty(0)),
)


@jit
def _fill_lengths(order, split, max_size, out_lengths):
    """The entries that each row may have: one for each split and one for the end."""
    for state in order:
        out_lengths[state] = 1
        if split[state, 2] != AMBIGUOUS:
            both = out_lengths[split[state, 0]] + out_lengths[split[state, 1]]
            out_lengths[state] = min(both, max_size)


@jit
def _fill_rows(begin, stop, states, best, edges, order, rows):
    """Write the rows of some restrictions; those of their children are complete."""
    born = np.empty((2, 1), dtype=np.int32)
    for place in range(begin, stop):
        out = _row(rows, states[place])
        if len(out.leaf) > born.shape[1]:
            born = np.empty((2, len(out.leaf)), dtype=np.int32)
        _merge(states[place], best, edges, order, rows, born, out)


@inner_jit
def _row(rows, state):
    """The splits of one restriction."""
    begin, stop = rows.start[state], rows.start[state + 1]
    splits = rows.splits
    return Splits(splits.priority[begin:stop], splits.leaf[begin:stop], splits.reach[begin:stop])


@inner_jit
def _merge(state, best, edges, order, rows, born, out):
    """Write a restriction's row, as many entries as there is room for.

    ``born`` is overwritten: for both children, by the number of a split in the child's row, the
    number of the low leaf that it makes here.
    """
    kind = best.split[state, 2]
    told = kind != AMBIGUOUS
    _write(out, 0, best.worth[state, 0] if state else PURE, 0 if told else ~0, 1.0)
    if not told:
        return
    priority, leaf, reach = rows.splits
    heavy, first = order.heavy, order.first
    failed, satisfied = edges.failed[kind], edges.satisfied[kind]
    low_weight, high_weight = (failed, satisfied) if order.weighted else (1.0, 1.0)
    low, high = rows.start[best.split[state, 0]], rows.start[best.split[state, 1]]
    low_head, high_head = low_weight * priority[low], high_weight * priority[high]
    lows = highs = 0  # how many splits of each child are made
    born[LOW, 0], born[HIGH, 0] = 2, 3
    for step in range(1, len(out.leaf)):
        if max(low_head, high_head) < TINY:
            _write(out, step, max(low_head, high_head), ~0, 1.0)
            return
        side = _larger(low_head, high_head)
        if side == TIED and heavy != 0:
            side = _larger(failed * reach[low], satisfied * reach[high])
            side = HIGH - side if heavy < 0 and side >= 0 else side
        if side == TIED:
            earlier = _number(born, LOW, leaf[low]) < _number(born, HIGH, leaf[high])
            side = LOW if earlier == first else HIGH
        if side == UNCLEAR:
            _write(out, step, np.inf, ~0, 1.0)
            return
        place, share = (low, failed) if side == LOW else (high, satisfied)
        number = _number(born, side, leaf[place])
        told = leaf[place] >= 0
        _write(
            out, step, low_head if side == LOW else high_head, number if told else ~number,
            share * reach[place] if heavy != 0 else 1.0,
        )  # fmt: skip
        if not told:
            return
        if side == LOW:
            low, lows = low + 1, lows + 1
            low_head = low_weight * priority[low]
            born[LOW, lows] = 2 * step + 2
        else:
            high, highs = high + 1, highs + 1
            high_head = high_weight * priority[high]
            born[HIGH, highs] = 2 * step + 2


@inner_jit
def _write(out, place, priority, leaf, reach):
    """One entry of a row."""
    out.priority[place], out.leaf[place] = priority, leaf
    if len(out.reach) > 0:
        out.reach[place] = reach


@inner_jit
def _number(born, side, leaf):
    """The number of a child's leaf among the leaves of its parent."""
    leaf = max(leaf, ~leaf)  # as it is or its complement
    return born[side, leaf >> 1] + (leaf & 1)


@inner_jit
def _larger(low, high):
    """Which of two numbers is larger."""
    larger, smaller = max(low, high), min(low, high)
    if larger < TINY:
        return UNCLEAR
    if smaller > larger * (1 - CLEAR):
        return TIED if smaller >= larger * (1 - SAME) else UNCLEAR
    return LOW if low > high else HIGH


class Scratch(NamedTuple):
    """What ``merged_errors`` overwrites."""

    row: Splits
    born: np.ndarray
    states: np.ndarray
    reaches: np.ndarray


@jit
def new_scratch(max_size, heavy):
    """Room for the growth of one member."""
    return Scratch(
        _new_splits(max_size, heavy),
        np.empty((2, max_size), dtype=np.int32),
        np.empty(2 * max_size + 2, dtype=np.int32),
        np.empty(2 * max_size + 2),
    )


@jit
def merged_errors(member, best, edges, order, rows, scratch, out_errors):
    """Grow a member as its row says, and write its errors by size; False if the row ends before."""
    if len(rows.start) == 0:
        return False
    row = _row(rows, member)
    if len(row.leaf) == 0:
        row = scratch.row
        _merge(member, best, edges, order, rows, scratch.born, row)
    split, worth, states, reaches = best.split, best.worth, scratch.states, scratch.reaches
    failed, satisfied = edges.failed, edges.satisfied
    states[0], reaches[0] = member, 1.0
    error = worth[member, 1]
    out_errors[0] = error
    for size in range(1, len(out_errors)):
        if row.priority[size - 1] == PURE:
            out_errors[size:] = error
            break
        leaf = row.leaf[size - 1]
        if leaf < 0:
            return False
        state, reach = states[leaf], reaches[leaf]
        error += reach * worth[state, 2]
        out_errors[size] = error
        kind = split[state, 2]
        states[2 * size], states[2 * size + 1] = split[state, 0], split[state, 1]
        reaches[2 * size] = reach * failed[kind]
        reaches[2 * size + 1] = reach * satisfied[kind]
    return True
