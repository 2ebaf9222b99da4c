"""Better trees without proof: local search over whole trees, for upper bounds of all sizes.

A *glance* at the rows of a node looks at pairs of tests. Each column is cut into a few bins of
about as many rows each, and rows are counted by two columns at a time. That gives, for every test
at a bin's end, what both children cost as leaves and with one more split. So the best trees of one
and two splits, and of three with depth 2, are read off, and all tests are ranked by what they leave
to do.

A tree is improved in these ways, until time is up:

- its nodes may be replaced by what a glance finds for their rows, and a dynamic program over the
  nodes shares the splits out; so nodes are inserted and deleted;
- a node tries its tests in the order of their rank, each with a new subtree below, and the dynamic
  program runs again along the path to the root;
- a parent and its child swap their tests;
- each node in turn moves to the best of *all* tests, the tests of the other nodes fixed. As in tree
  alternating optimization (Carreira-Perpinan and Tavallali, 2018) one sweep over the sorted columns
  decides that; here leaves choose their labels anew at each threshold.

On large data, trees grow on samples of rows, each larger than the one before; every tree is then
moved to its best tests on all rows.

Invariant: what is offered are trees within the limits of size and depth. Costs are floats here, and
of a sample: whoever takes a tree counts its cost anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.jit import (
    LANES,
    add,
    divide,
    inner_jit,
    jit,
    least,
    load,
    most,
    multiply,
    spread,
    store,
    subtract,
)
from mictree.optimal.rows import count_splits

if TYPE_CHECKING:
    from mictree.optimal.ordered_rows import CostRows, OrderedRows
    from mictree.tree import Tree

PAIRS = 20_000_000  # of columns that a glance may count, over all rows; others are left out
FEWEST_COLUMNS = 8
SAMPLE = 16_384  # rows of the first sample
GROWTH = 4  # how many times more rows the next sample has
SEED = 0x6D696374
ROUNDS = ((4, (1,)), (16, (2, 1)), (64, (3, 2, 1)), (1024, (4, 2, 1)))  # tests, widths below
SPARE_LEVELS = 3  # of new subtrees beyond those of a full tree
NEARBY = 2  # bins: tests of one column nearer than that are not both tried among the first
TINY = 1e-300  # instead of a weight of 0, to divide by
CLOSE = 1e-9  # costs that differ by less, relative, are equal
# how a set of rows costs: by class and weight, the least sum of its actions, squared error
CLASSES, ACTIONS, NUMBERS = range(3)

Found = list[tuple[float, Any]]  # by size: a cost, and a nested tree whose leaves are None


class Weighed(NamedTuple):
    """What rows cost, as floats."""

    kind: int
    width: int  # how many sums a set of rows has
    codes: np.ndarray  # (rows,) int32: classes
    weights: np.ndarray  # (rows,)
    sums: np.ndarray  # (rows, sums): what is added up, unless rows have classes

    @classmethod
    def of(cls, rows: OrderedRows | CostRows) -> Weighed:
        """Read off the rows of a search."""
        from mictree.optimal.ordered_rows import OrderedRows
        from mictree.optimal.sweep_costs import NumberData

        if isinstance(rows, OrderedRows):
            codes, weights = rows.codes.astype(np.int32), rows.weights.astype(float)
            return cls(CLASSES, rows.classes, codes, weights, np.empty((0, 0)))
        none, sums = (np.empty(0, dtype=np.int32), np.empty(0)), rows.data.sums.astype(float)
        if not isinstance(rows.data, NumberData):
            return cls(ACTIONS, sums.shape[1], *none, sums)
        unit = 2.0 ** -int(rows.data.shift[0])
        squares = sums[:, 2] + sums[:, 3] * unit
        sums = np.column_stack([sums[:, 0], sums[:, 1] * math.sqrt(unit), squares])
        return cls(NUMBERS, 3, *none, sums)

    def shares(self, classes: np.ndarray, weights: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """By how much some rows count for the bins: half of it by what they may cost.

        All classes count alike then, as thresholds that tell a rare class from others are few.
        """
        rows = max(len(classes), len(sums))
        if self.kind == CLASSES:
            masses = np.bincount(classes, weights, self.width)
            decisive = weights / masses[classes] / np.count_nonzero(masses)
        elif self.kind == ACTIONS:
            regrets = np.ptp(sums, axis=1)
            decisive = regrets / max(regrets.sum(), TINY)
        else:
            decisive = np.full(rows, 1 / rows)
        return decisive + 1 / rows


class Binned(NamedTuple):
    """Some rows whose columns are cut into bins."""

    codes: np.ndarray  # (columns, rows) uint8: bins
    cuts: np.ndarray  # (columns,): how many bins there are, less one
    classes: np.ndarray  # these and the following as in ``Weighed``
    weights: np.ndarray
    sums: np.ndarray


class Late(Exception):
    """Time is up."""


class Glance(NamedTuple):
    """What the pairs of tests of some rows say; sides are below and above a cut."""

    trees: Found  # the best with 0 to 3 splits, and depth 2
    columns: np.ndarray  # those that were looked at
    cuts: np.ndarray  # (columns,): how many cuts there are
    ends: np.ndarray  # (columns, LANES): the last row below each cut
    ones: np.ndarray  # (2, columns, LANES): what each side costs with the best test of its own
    purities: np.ndarray  # the same: the least Gini impurity with a test of its own
    rows: OrderedRows | CostRows

    def few(self, most: int, depth: int) -> Found:
        """The best trees with up to ``most`` splits; of those with more than 3, with 3."""
        known = self.trees if depth > 1 else self.trees[:2]
        return [known[min(size, len(known) - 1)] for size in range(most + 1)]

    def test(self, place: int) -> int:
        """A test."""
        column, cut = divmod(place, LANES)
        return self.rows.literal(int(self.columns[column]), int(self.ends[column, cut]))[0]

    def ranked(self, most: int) -> list[int]:
        """The most promising tests.

        By turns those that leave the least cost and the least impurity with one more split on each
        side; near neighbours come later.
        """
        if not len(self.columns):
            return []
        scores = self.ones.sum(axis=0).ravel(), self.purities.sum(axis=0).ravel()
        orders = [np.argsort(each, kind="stable") for each in scores]
        taken = np.zeros(self.ends.shape, dtype=bool)
        chosen: list[int] = []
        for apart in (True, False):
            for place in np.stack(orders, axis=1).ravel().tolist():
                column, cut = divmod(place, LANES)
                if len(chosen) == most:
                    return [self.test(each) for each in chosen]
                reach = NEARBY if apart else 0
                near = taken[column, max(0, cut - reach) : cut + reach + 1]
                if cut < self.cuts[column] and not near.any():
                    taken[column, cut] = True
                    chosen.append(place)
        return [self.test(each) for each in chosen]


class LocalSearch:
    """Improves trees on sorted rows.

    Parameters
    ----------
    rows : the rows, sorted by each column
    most, depth : limits of the trees' splits and depth
    take : is given trees that may be better than those before, nested and with labels

    Attributes
    ----------
    late : says whether time is up
    """

    def __init__(
        self, rows: OrderedRows | CostRows, most: int, depth: int, take: Callable[[Any], Any]
    ) -> None:
        self.rows, self.most, self.depth, self.take = rows, most, depth, take
        self.late: Callable[[], bool] = lambda: False
        self.weighed = Weighed.of(rows)
        self.order: np.ndarray = rows.data.order
        count = self.order.shape[1]
        self.is_above = np.zeros(count, dtype=np.bool_)
        self.place = np.zeros(count, dtype=np.int32)
        self.below_leaf = np.full(count, -1, dtype=np.int32)
        self.above_leaf = np.full(count, -1, dtype=np.int32)
        self.work = 0  # rows that were counted or moved, times columns
        self.offered: set[Any] = set()
        self.samples = self._samples()
        self.stage = _Stage(self, next(self.samples))

    def compile(self) -> None:
        """Look at two rows, so that compiling does not count as time."""
        self.is_above[:] = False
        self.is_above[:2] = True
        few = self.divide(self.order, min(2, len(self.is_above)))[1]
        if len(few) and few.shape[1] > 1:
            self.look(few)
            self.best_test(self._lowest_cut, few)

    @property
    def _lowest_cut(self) -> Any:
        """A tree of one split: above the row that a column has first.

        Not any row will do, as there is no cut above the highest ones.
        """
        return self.rows.literal(0, int(self.order[0, 0] >> 1))[0], None, None

    def run(self, trees: list[Tree | Any]) -> None:
        """Find better and better trees until nothing is left to try, or time is up.

        A later call goes on where this one stopped, with given trees that are better than those at
        hand.
        """
        distinct = {id(tree): tree for tree in trees}.values()
        given = [tree for tree in map(partial(unlabelled, self.rows), distinct) if tree]
        given = [tree for tree in given if count_splits(tree) <= self.most]
        given.append(self._lowest_cut)
        try:
            while True:
                self.stage.admit(given)
                self.stage.run(ROUNDS if self.stage.sees_all else ROUNDS[:1])
                self._offer_all()
                if self.stage.sees_all:
                    return
                before, self.stage = self.stage.best, _Stage(self, next(self.samples))
                given = [*before, *given]
        except Late:
            self._offer_all()

    def _offer_all(self) -> None:
        """Offer the trees of a sample, in the order of their sizes."""
        for tree in self.stage.best:
            self.offer(tree)

    def offer(self, nested: Any) -> None:
        """Give away a tree with labels, once."""
        if nested not in self.offered:
            self.offered.add(nested)
            self.take(self.label(nested, self.rows.everything))

    def _samples(self) -> Iterator[np.ndarray]:
        """Sorted rows: samples that grow, at last all."""
        count = self.order.shape[1]
        random = np.random.default_rng(SEED).permutation(count) if count > SAMPLE else None
        taken = SAMPLE
        while random is not None and GROWTH * taken <= count * 2:
            self.is_above[:] = False
            self.is_above[random[:taken]] = True
            yield self.divide(self.order, taken)[1]
            taken *= GROWTH
        yield self.order

    def divide(self, lists: np.ndarray, above: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows that are not marked, and those that are, each sorted by all columns."""
        columns, count = lists.shape
        low = np.empty((columns, count - above), dtype=np.int32)
        high = np.empty((columns, above), dtype=np.int32)
        divide_lists(lists, self.is_above, low, high)
        self.work += lists.size
        return low, high

    def split(self, lists: np.ndarray, test: int) -> tuple[np.ndarray, np.ndarray]:
        """Divide sorted rows by a test."""
        members = lists[0] >> 1
        held = self.rows.holds(members, test)
        self.is_above[members] = held
        return self.divide(lists, int(held.sum()))

    def look(self, lists: np.ndarray) -> Glance:
        """Count the pairs of tests of some rows."""
        if self.late():
            raise Late
        columns, count = lists.shape
        bins = max(2, min(LANES, count))
        codes = np.zeros((columns, count), dtype=np.uint8)
        ends = np.zeros((columns, LANES), dtype=np.int32)
        cuts = np.zeros(columns, dtype=np.int32)
        members, weighed = lists[0] >> 1, self.weighed
        parts = [part[members] if len(part) else part for part in weighed[2:]]
        code_columns(lists, bins, weighed.shares(*parts), self.place, codes, ends, cuts)
        kept = self._choose_columns(codes, cuts, parts)
        binned = Binned(codes[kept], cuts[kept], *parts)
        leaves, ones, purities = (np.full((2, len(kept), LANES), np.inf) for _ in range(3))
        count_pairs(weighed.kind, weighed.width, *binned, leaves, ones, purities)
        self.work += count * len(kept) * (len(kept) + 1) // 2
        if weighed.kind != CLASSES:
            purities = ones
        trees = self._read_off(lists, binned, (leaves, ones), (kept, ends[kept]))
        return Glance(trees, kept, binned.cuts, ends[kept], ones, purities, self.rows)

    def _read_off(
        self, lists: np.ndarray, binned: Binned, parts: tuple[np.ndarray, np.ndarray],
        tests: tuple[np.ndarray, np.ndarray],
    ) -> Found:  # fmt: skip
        """The best trees with 0 to 3 splits and depth 2, given what the sides of tests cost."""
        found: Found = [(self.leaf(lists), None)]
        everything = np.arange(lists.shape[1])
        shares = ((0, 0),), ((1, 0), (0, 1)), ((1, 1),)
        for share in shares:
            best = found[-1]
            for below, above in share if len(tests[0]) else ():
                sums = parts[below][0] + parts[above][1]
                place = int(sums.argmin())
                if not sums.flat[place] < best[0]:
                    continue
                is_below = binned.codes[place // LANES] <= place % LANES
                sides: list[Any] = [None, None]
                for side, wanted in enumerate((below, above)):
                    members = everything[is_below ^ bool(side)]
                    second = self._second(binned, members) if wanted else -1
                    if second >= 0 and parts[1][side].flat[place] < parts[0][side].flat[place]:
                        sides[side] = self._node(tests, second, None, None)
                best = float(sums.flat[place]), self._node(tests, place, *sides)
            found.append(best)
        return found

    def _node(self, tests: tuple[np.ndarray, np.ndarray], place: int, below: Any, above: Any):
        """A nested tree of a test and what is below and above its cut."""
        column, cut = divmod(place, LANES)
        test, holds_below = self.rows.literal(int(tests[0][column]), int(tests[1][column, cut]))
        return (test, above, below) if holds_below else (test, below, above)

    def _second(self, binned: Binned, members: np.ndarray) -> int:
        """The best test of some rows."""
        costs, purities = (np.full((len(binned.codes), LANES), np.inf) for _ in range(2))
        weigh_columns(self.weighed.kind, self.weighed.width, *binned, members, costs, purities)
        return int(costs.argmin())

    def _choose_columns(
        self, codes: np.ndarray, cuts: np.ndarray, parts: list[np.ndarray]
    ) -> np.ndarray:
        """The columns whose pairs are counted: those with the purest tests, if there are many."""
        useful, count = np.flatnonzero(cuts), codes.shape[1]
        most = max(FEWEST_COLUMNS, int(math.sqrt(2 * PAIRS / max(1, count))))
        if len(useful) <= most:
            return useful
        costs, purities = (np.full((len(codes), LANES), np.inf) for _ in range(2))
        weigh_columns(
            self.weighed.kind, self.weighed.width, codes, cuts, *parts, np.arange(count), costs,
            purities,
        )  # fmt: skip
        return np.sort(purities.min(axis=1).argsort(kind="stable")[:most])

    def solve(
        self, lists: np.ndarray, most: int, depth: int, widths: tuple[int, ...], levels: int
    ) -> Found:
        """Good trees for some rows by size, 0 to ``most``.

        At each level as many of the best tests are tried as the widths say, the last one for all
        levels below.
        """
        if most == 0 or depth == 0 or lists.shape[1] < 2:
            return [(self.leaf(lists), None)] * (most + 1)
        seen = self.look(lists)
        found = seen.few(most, depth)
        if most > 2 and depth > 2 and levels > 0 and found[2][0] > 0:
            for test in seen.ranked(widths[0]):
                found = self.try_test(lists, test, found, depth, widths, levels)
        return found

    def try_test(
        self, lists: np.ndarray, test: int, found: Found, depth: int, widths: tuple[int, ...],
        levels: int,
    ) -> Found:  # fmt: skip
        """What is found for some rows, or better trees with a given test at the root."""
        low, high = (
            self.solve(side, len(found) - 2, depth - 1, widths[1:] or widths, levels - 1)
            for side in self.split(lists, test)
        )
        return combine(found, test, low, high)

    def leaf(self, lists: np.ndarray) -> float:
        """What some rows cost as a leaf."""
        members = lists[0] >> 1
        weighed = self.weighed
        alone = np.zeros(len(members), dtype=np.int32)
        return total_cost(weighed.kind, weighed.width, members, alone, *weighed[2:], 1)

    def label(self, nested: Any, members: np.ndarray) -> Any:
        """A nested tree with the best labels for some rows; tests that divide none are left out."""
        if not isinstance(nested, tuple):
            return self.rows.leaf(members).label
        test, low, high = nested
        held = self.rows.holds(members, test)
        if held.all() or not held.any():
            return self.label(high if held.all() else low, members)
        return test, self.label(low, members[~held]), self.label(high, members[held])

    def move(self, nested: Any, lists: np.ndarray) -> tuple[Any, float]:
        """A nested tree whose nodes moved to their best tests, until none moves; its cost.

        A node keeps its subtrees, which may change sides.
        """
        cost = math.inf
        while True:
            nested, after = self._move_down(nested, lists)
            if not after < cost * (1 - CLOSE):
                return nested, after
            cost = after

    def _move_down(self, nested: Any, lists: np.ndarray) -> tuple[Any, float]:
        """The same for each node once, from the root down."""
        if not isinstance(nested, tuple):
            return None, self.leaf(lists)
        if self.late():
            raise Late
        test, low, high = self.best_test(nested, lists)
        below, above = self.split(lists, test)
        if not below.shape[1] or not above.shape[1]:  # a test that divides none is left out
            return self._move_down(low if below.shape[1] else high, lists)
        low, low_cost = self._move_down(low, below)
        high, high_cost = self._move_down(high, above)
        return (test, low, high), low_cost + high_cost

    def best_test(self, nested: Any, lists: np.ndarray) -> Any:
        """A node with the best test for given subtrees."""
        test, low, high = nested
        members, weighed = lists[0] >> 1, self.weighed
        leaves = _route(self.rows, low, members, self.below_leaf, 0)
        leaves = _route(self.rows, high, members, self.above_leaf, leaves)
        held = self.rows.holds(members, test)
        now = np.where(held, self.above_leaf[members], self.below_leaf[members])
        cost = total_cost(weighed.kind, weighed.width, members, now, *weighed[2:], leaves)
        found = np.zeros(3)  # cost, column and row
        leaves_only = not isinstance(low, tuple) and not isinstance(high, tuple)
        for swapped in (False,) if leaves_only else (False, True):
            found[0] = cost * (1 - CLOSE)
            found[1] = -1
            pair = (self.below_leaf, self.above_leaf)[:: -1 if swapped else 1]
            sweep_node(weighed.kind, weighed.width, lists, *pair, *weighed[2:], leaves, found)
            self.work += lists.size
            if found[1] >= 0:
                cost = float(found[0])
                below, above = (high, low) if swapped else (low, high)
                test, holds_below = self.rows.literal(int(found[1]), int(found[2]))
                nested = (test, above, below) if holds_below else (test, below, above)
        return nested


def unlabelled(rows: Any, tree: Tree | Any) -> Any:
    """A tree, nested or not, as a nested tree whose leaves are None."""
    tests, low, high = rows.nodes(tree)
    nested: list[Any] = [None] * len(tests)
    for node in reversed(range(len(tests))):  # children come after their parents
        if tests[node] >= 0:
            nested[node] = tests[node], nested[low[node]], nested[high[node]]
    return nested[0]


def _route(rows: Any, nested: Any, members: np.ndarray, out: np.ndarray, leaves: int) -> int:
    """Number the leaves of a nested tree that some rows reach, from a number on; the next one."""
    if not isinstance(nested, tuple):
        out[members] = leaves
        return leaves + 1
    test, low, high = nested
    held = rows.holds(members, test)
    leaves = _route(rows, low, members[~held], out, leaves)
    return _route(rows, high, members[held], out, leaves)


def combine(found: Found, test: int, low: Found, high: Found) -> Found:
    """The better of what is found by size, and a test with the best trees on both sides."""
    found = list(found)
    for one, (cost, nested) in enumerate(low):
        if one and cost >= low[one - 1][0]:
            continue
        for other, (more, rest) in enumerate(high[: len(found) - 1 - one]):
            if other and more >= high[other - 1][0]:
                continue
            if cost + more < found[one + other + 1][0]:
                found[one + other + 1] = cost + more, (test, nested, rest)
    for size in range(1, len(found)):
        if found[size - 1][0] <= found[size][0]:
            found[size] = found[size - 1]
    return found


Way = frozenset[tuple[int, bool]]  # the tests above some rows and their sides: what the rows are


class Known:
    """The best trees found for the rows of a node."""

    def __init__(self, search: LocalSearch, lists: np.ndarray, way: Way) -> None:
        self.depth, most = search.depth - len(way), search.most - len(way)
        self.tried: set[tuple[int, int]] = set()  # the round, and a test
        self.seen: Glance | None = None
        if min(most, self.depth) > 0 and lists.shape[1] > 1:
            self.seen = search.look(lists)
            self.found = self.seen.few(most, self.depth)
        else:
            self.found = [(search.leaf(lists), None)] * (most + 1)


@dataclass
class Place:
    """A node of a tree that is being improved."""

    lists: np.ndarray  # its rows
    known: Known
    test: int  # -1 at a leaf
    parent: int  # its number
    children: list[int]
    table: Found  # the best trees by size if its own test stays, or any other known

    def __post_init__(self) -> None:
        self.table = self.known.found


class _Stage:
    """The search on some of the rows: the best tree of each size."""

    def __init__(self, search: LocalSearch, lists: np.ndarray) -> None:
        self.search, self.lists = search, lists
        self.sees_all = lists.shape[1] == search.order.shape[1]
        self.best: list[Any] = [None] * (search.most + 1)
        self.costs = [search.leaf(lists)] * (search.most + 1)
        self.known: dict[Way, Known] = {}
        self.noted: set[Any] = set()
        self.improved: set[tuple[int, Any]] = set()  # the round, and a tree

    def admit(self, trees: list[Any]) -> None:
        """Note trees from elsewhere."""
        for tree in trees:
            if tree not in self.noted:
                self._note(tree)
                self.noted.add(tree)

    def run(self, rounds: tuple[tuple[int, tuple[int, ...]], ...]) -> None:
        """Grow trees anew, then improve all sizes in rounds of more and more tests."""
        for number, (tests, widths) in enumerate(rounds):
            self._improve(None, number, 1, widths)
            while waiting := [tree for tree in self.best if (number, tree) not in self.improved]:
                self._improve(waiting[0], number, tests, widths)
                self.improved.add((number, waiting[0]))

    def _note(self, nested: Any) -> None:
        """Move a tree to better tests, and note it if it is better than those known."""
        moved, cost = self.search.move(nested, self.lists)
        better = False
        for larger in range(count_splits(moved), len(self.costs)):
            if cost < self.costs[larger] * (1 - CLOSE):
                self.best[larger], self.costs[larger], better = moved, cost, True
        if better and self.sees_all:
            self.search.offer(moved)

    def _improve(self, nested: Any, number: int, tests: int, widths: tuple[int, ...]) -> None:
        """Improve a tree by what is known of its nodes, swaps, and tries at all nodes."""
        places = self._places(nested)
        for node in reversed(range(len(places))):
            self._share(places, node)
        self._take(places[0].table)
        for swapped in swaps(nested):
            self._note(swapped)
        for rank, start in product(range(tests), range(len(places))):
            known, lists = places[start].known, places[start].lists
            if known.seen is None or len(known.found) < 4 or known.depth < 3:
                continue
            ranked = known.seen.ranked(tests)
            if rank >= len(ranked) or (number, ranked[rank]) in known.tried:
                continue
            known.tried.add((number, ranked[rank]))
            levels = len(known.found).bit_length() + SPARE_LEVELS
            known.found = self.search.try_test(
                lists, ranked[rank], known.found, known.depth, widths, levels
            )
            node = start
            while node >= 0:
                self._share(places, node)
                node = places[node].parent
            self._take(places[0].table)

    def _places(self, nested: Any) -> list[Place]:
        """The nodes of a tree, each after its parent."""
        places: list[Place] = []
        waiting: list[Any] = [(nested, self.lists, frozenset(), -1)]
        while waiting:
            subtree, lists, way, parent = waiting.pop()
            known = self.known.get(way)
            if known is None:
                known = self.known[way] = Known(self.search, lists, way)
            inner = isinstance(subtree, tuple) and known.seen is not None
            places.append(Place(lists, known, subtree[0] if inner else -1, parent, [], []))
            if parent >= 0:
                places[parent].children.append(len(places) - 1)
            if inner:
                low, high = self.search.split(lists, subtree[0])
                node = len(places) - 1
                waiting.append((subtree[2], high, way | {(subtree[0], True)}, node))
                waiting.append((subtree[1], low, way | {(subtree[0], False)}, node))
        return places

    def _share(self, places: list[Place], node: int) -> None:
        """Share splits out among a node's children, or take what is known of its rows."""
        place = places[node]
        place.table = place.known.found
        if place.children:
            low, high = (places[child].table for child in place.children)
            place.table = combine(place.table, place.test, low, high)

    def _take(self, found: Found) -> None:
        """Note the trees of all sizes that are better than those known."""
        for size, (cost, nested) in enumerate(found):
            if cost < self.costs[size] * (1 - CLOSE):
                self._note(nested)


def swaps(nested: Any) -> Iterator[Any]:
    """Trees in which one node and its child have swapped their tests."""
    if not isinstance(nested, tuple):
        return
    test, *children = nested
    for side, child in enumerate(children):
        sides = list(children)
        if isinstance(child, tuple):
            sides[side] = (test, *child[1:])
            yield (child[0], *sides)
        for swapped in swaps(child):
            sides[side] = swapped
            yield (test, *sides)


@jit
def divide_lists(lists, is_above, out_low, out_high):
    """Divide sorted rows by marks; the order within columns stays, and so do the ends of ranks."""
    for column in range(len(lists)):
        low, high = 0, 0
        for place in range(lists.shape[1]):
            entry = lists[column, place]
            if is_above[entry >> 1]:
                out_high[column, high] = entry & ~1
                high += 1
            else:
                out_low[column, low] = entry & ~1
                low += 1
            if entry & 1:
                if low:
                    out_low[column, low - 1] |= 1
                if high:
                    out_high[column, high - 1] |= 1
        if low:
            out_low[column, low - 1] &= ~1
        if high:
            out_high[column, high - 1] &= ~1


@jit
def code_columns(lists, bins, shares, place, out_codes, out_ends, out_cuts):
    """Cut each column of sorted rows into bins of about the same share.

    Rows are numbered as in the first column, in ``place``, which is overwritten. Bins end where
    ranks do; few ranks have a bin each.
    """
    columns, rows = lists.shape
    for number in range(rows):
        place[lists[0, number] >> 1] = number
    whole = shares.sum() / bins
    for column in range(columns):
        ranks = 1
        for number in range(rows):
            ranks += lists[column, number] & 1
        step = whole if ranks > bins else 0.0
        cuts, total, end = 0, 0.0, step
        for number in range(rows):
            entry = lists[column, number]
            row = place[entry >> 1]
            out_codes[column, row] = cuts
            total += shares[row]
            if entry & 1 and cuts < bins - 1 and total >= end:
                out_ends[column, cuts] = entry >> 1
                cuts += 1
                end = max(end + step, total + step / 2)
        out_cuts[column] = cuts


@inner_jit
def _cost(kind, width, sums, start):
    """What a set of rows costs as a leaf, given its sums from a place on."""
    if kind == NUMBERS:
        weight = sums[start]
        if weight <= 0:
            return 0.0
        return max(0.0, sums[start + 2] - sums[start + 1] * sums[start + 1] / weight)
    if kind == ACTIONS:
        cost = sums[start]
        for number in range(1, width):
            cost = min(cost, sums[start + number])
        return cost
    if width == 2:
        return min(sums[start], sums[start + 1])
    whole, most = 0.0, 0.0
    for number in range(width):
        whole += sums[start + number]
        most = max(most, sums[start + number])
    return whole - most


@inner_jit
def _purity(kind, width, sums, start):
    """The Gini impurity of a set of rows times its weight; without classes what it costs."""
    if kind != CLASSES:
        return _cost(kind, width, sums, start)
    whole, squares = 0.0, 0.0
    for number in range(width):
        whole += sums[start + number]
        squares += sums[start + number] * sums[start + number]
    return whole - squares / max(whole, TINY)


@inner_jit
def _add(kind, width, row, sign, codes, weights, sums, start, out_sums):
    """Add a row to sums that begin at a place, or take it away."""
    if kind == CLASSES:
        out_sums[start + codes[row]] += sign * weights[row]
    else:
        for number in range(width):
            out_sums[start + number] += sign * sums[row, number]


@jit
def total_cost(kind, width, members, leaf, codes, weights, sums, leaves):
    """What some rows cost, given the leaf of each."""
    wholes = np.zeros(leaves * width)
    for number in range(len(members)):
        start = leaf[number] * width
        _add(kind, width, members[number], 1.0, codes, weights, sums, start, wholes)
    cost = 0.0
    for number in range(leaves):
        cost += _cost(kind, width, wholes, number * width)
    return cost


@jit
def sweep_node(kind, width, lists, below, above, codes, weights, sums, leaves, found):
    """Find the best test of a node: the leaf of each of its rows below and above a cut is given.

    Overwrites ``found``: the cost, the column and the last row below, if any test costs less.
    """
    start, start_costs = np.zeros(leaves * width), np.zeros(leaves)
    wholes, costs = np.zeros(leaves * width), np.zeros(leaves)
    for place in range(lists.shape[1]):
        row = lists[0, place] >> 1
        _add(kind, width, row, 1.0, codes, weights, sums, above[row] * width, start)
    for leaf in range(leaves):
        start_costs[leaf] = _cost(kind, width, start, leaf * width)
    for column in range(len(lists)):
        wholes[:], costs[:] = start, start_costs
        cost = costs.sum()
        for place in range(lists.shape[1]):
            entry = lists[column, place]
            row = entry >> 1
            old, new = above[row], below[row]
            _add(kind, width, row, -1.0, codes, weights, sums, old * width, wholes)
            _add(kind, width, row, 1.0, codes, weights, sums, new * width, wholes)
            cost -= costs[old] + costs[new]
            costs[old] = _cost(kind, width, wholes, old * width)
            costs[new] = _cost(kind, width, wholes, new * width)
            cost += costs[old] + costs[new]
            if entry & 1 and cost < found[0]:
                found[0], found[1], found[2] = cost, column, row


@jit
def weigh_columns(
    kind, width, codes, cuts, classes, weights, sums, members, out_costs, out_purities
):
    """What one test of some rows leaves, for each test: the cost, and the impurity.

    Members are numbers of rows as the codes have them.
    """
    whole, cells = np.zeros(width), np.zeros(2 * width)
    for row in members:
        _add(kind, width, row, 1.0, classes, weights, sums, 0, whole)
    counts = np.zeros(LANES * width)
    for column in range(len(codes)):
        counts[:] = 0.0
        for row in members:
            start = np.int64(codes[column, row]) * width
            _add(kind, width, row, 1.0, classes, weights, sums, start, counts)
        cells[:] = 0.0
        for cut in range(cuts[column]):
            for number in range(width):
                cells[number] += counts[cut * width + number]
                cells[width + number] = whole[number] - cells[number]
            cost = _cost(kind, width, cells, 0) + _cost(kind, width, cells, width)
            purity = _purity(kind, width, cells, 0) + _purity(kind, width, cells, width)
            out_costs[column, cut], out_purities[column, cut] = cost, purity


@jit
def count_pairs(
    kind, width, codes, cuts, classes, weights, sums, out_leaves, out_ones, out_purities
):  # fmt: skip
    """Fill a glance's arrays.

    A lane is a cut of the second column. Beyond its last cut all rows are below, so nothing is
    gained there.
    """
    counts = np.zeros(width * LANES * LANES)
    lines = np.empty(4 * LANES * LANES)
    for column in range(len(codes)):
        lines[:] = np.inf
        for other in range(column + 1):
            _count_pair(kind, width, column, other, codes, cuts, classes, weights, sums, counts)
            for cut in range(cuts[column]):
                if kind == CLASSES:
                    _compare_classes(width, column, cut, other, cuts[column], counts, lines,
                                     out_ones, out_purities)  # fmt: skip
                else:
                    _compare_costs(kind, width, column, cut, other, cuts[column], counts, lines,
                                   out_ones)  # fmt: skip
        for cut in range(cuts[column]):
            for side in range(2):
                for lane in range(LANES):
                    place = (side * LANES + cut) * LANES + lane
                    one, purity = lines[place], lines[place + 2 * LANES * LANES]
                    out_ones[side, column, cut] = min(out_ones[side, column, cut], one)
                    out_purities[side, column, cut] = min(out_purities[side, column, cut], purity)
        _count_leaves(kind, width, column, cuts, counts, out_leaves)
    for side in range(2):
        for column in range(len(codes)):
            for cut in range(LANES):
                leaf = out_leaves[side, column, cut]
                out_ones[side, column, cut] = min(out_ones[side, column, cut], leaf)


@inner_jit
def _count_leaves(kind, width, column, cuts, counts, out_leaves):
    """Fill what the children of a column's tests cost as leaves, given its pairs with itself."""
    cells = np.zeros(2 * width)
    for cut in range(cuts[column]):
        for number in range(width):
            start = number * LANES * LANES + LANES - 1
            cells[number] = counts[start + cut * LANES]
            cells[width + number] = counts[start + cuts[column] * LANES] - cells[number]
        for side in range(2):
            out_leaves[side, column, cut] = _cost(kind, width, cells, side * width)


@inner_jit
def _count_pair(kind, width, column, other, codes, cuts, classes, weights, sums, out_counts):
    """Count rows by two columns: those up to each bin of both, one sum after another."""
    size = LANES * LANES
    out_counts[:] = 0.0
    if kind == CLASSES:
        for row in range(codes.shape[1]):
            place = np.int64(codes[column, row]) * LANES + np.int64(codes[other, row])
            out_counts[classes[row] * size + place] += weights[row]
    else:
        for row in range(codes.shape[1]):
            place = np.int64(codes[column, row]) * LANES + np.int64(codes[other, row])
            for number in range(width):
                out_counts[number * size + place] += sums[row, number]
    for number in range(width):
        for code in range(cuts[column] + 1):
            start, total = number * size + code * LANES, 0.0
            for lane in range(LANES):
                total += out_counts[start + lane]
                out_counts[start + lane] = total
            if code:
                above = load(out_counts, start - LANES)
                store(add(load(out_counts, start), above), out_counts, start)


@inner_jit
def _compare_classes(width, column, cut, other, last, counts, lines, out_ones, out_purities):
    """Take each of two tests as the second one of the other's sides, where it leaves less."""
    nothing = spread(0.0)
    whole_0 = whole_1 = whole_2 = whole_3 = nothing
    most_0 = most_1 = most_2 = most_3 = nothing
    squares_0 = squares_1 = squares_2 = squares_3 = nothing
    for number in range(width):
        row, end = (number * LANES + cut) * LANES, (number * LANES + last) * LANES
        mass_0 = load(counts, row)
        below = load(counts, end)
        mass_1 = subtract(spread(counts[row + LANES - 1]), mass_0)
        mass_2 = subtract(below, mass_0)
        mass_3 = subtract(subtract(spread(counts[end + LANES - 1]), below), mass_1)
        whole_0, whole_1 = add(whole_0, mass_0), add(whole_1, mass_1)
        whole_2, whole_3 = add(whole_2, mass_2), add(whole_3, mass_3)
        most_0, most_1 = most(most_0, mass_0), most(most_1, mass_1)
        most_2, most_3 = most(most_2, mass_2), most(most_3, mass_3)
        squares_0 = add(squares_0, multiply(mass_0, mass_0))
        squares_1 = add(squares_1, multiply(mass_1, mass_1))
        squares_2 = add(squares_2, multiply(mass_2, mass_2))
        squares_3 = add(squares_3, multiply(mass_3, mass_3))
    cost_0, cost_1 = subtract(whole_0, most_0), subtract(whole_1, most_1)
    cost_2, cost_3 = subtract(whole_2, most_2), subtract(whole_3, most_3)
    _take_lines(column, cut, other, cost_0, cost_1, cost_2, cost_3, 0, lines, out_ones)
    tiny = spread(TINY)
    gini_0 = subtract(whole_0, divide(squares_0, most(whole_0, tiny)))
    gini_1 = subtract(whole_1, divide(squares_1, most(whole_1, tiny)))
    gini_2 = subtract(whole_2, divide(squares_2, most(whole_2, tiny)))
    gini_3 = subtract(whole_3, divide(squares_3, most(whole_3, tiny)))
    _take_lines(column, cut, other, gini_0, gini_1, gini_2, gini_3, 2, lines, out_purities)


@inner_jit
def _compare_costs(kind, width, column, cut, other, last, counts, lines, out_ones):
    """The same for costs of actions, or squared errors."""
    cost_0 = cost_1 = cost_2 = cost_3 = spread(np.inf if kind == ACTIONS else 0.0)
    weight_0 = weight_1 = weight_2 = weight_3 = spread(TINY)
    for number in range(width):
        row, end = (number * LANES + cut) * LANES, (number * LANES + last) * LANES
        sum_0 = load(counts, row)
        below = load(counts, end)
        sum_1 = subtract(spread(counts[row + LANES - 1]), sum_0)
        sum_2 = subtract(below, sum_0)
        sum_3 = subtract(subtract(spread(counts[end + LANES - 1]), below), sum_1)
        if kind == ACTIONS:
            cost_0, cost_1 = least(cost_0, sum_0), least(cost_1, sum_1)
            cost_2, cost_3 = least(cost_2, sum_2), least(cost_3, sum_3)
        elif number == 0:
            weight_0, weight_1 = most(weight_0, sum_0), most(weight_1, sum_1)
            weight_2, weight_3 = most(weight_2, sum_2), most(weight_3, sum_3)
        elif number == 1:
            cost_0 = divide(multiply(sum_0, sum_0), weight_0)
            cost_1 = divide(multiply(sum_1, sum_1), weight_1)
            cost_2 = divide(multiply(sum_2, sum_2), weight_2)
            cost_3 = divide(multiply(sum_3, sum_3), weight_3)
        else:
            nothing = spread(0.0)
            cost_0, cost_1 = subtract(sum_0, cost_0), subtract(sum_1, cost_1)
            cost_2, cost_3 = subtract(sum_2, cost_2), subtract(sum_3, cost_3)
            cost_0, cost_1 = most(cost_0, nothing), most(cost_1, nothing)
            cost_2, cost_3 = most(cost_2, nothing), most(cost_3, nothing)
    _take_lines(column, cut, other, cost_0, cost_1, cost_2, cost_3, 0, lines, out_ones)


@inner_jit
def _take_lines(column, cut, other, one, two, three, four, first, lines, out_best):
    """Take what four quarters leave, where it is less than what two other tests leave.

    Quarters are below and above the second test, of the rows below and then above the first. Lanes
    of the first test's sides are kept apart in ``lines``.
    """
    place, side = (first * LANES + cut) * LANES, LANES * LANES
    store(least(load(lines, place), add(one, two)), lines, place)
    store(least(load(lines, place + side), add(three, four)), lines, place + side)
    best = out_best[0, other]
    store(least(load(best, 0), add(one, three)), best, 0)
    best = out_best[1, other]
    store(least(load(best, 0), add(two, four)), best, 0)
