"""The whole frontier of sizes in one search: bounds of the least error of each, and trees.

Sizes are proved one after another over one table of sub-problems. Each has an upper bound, the
error of a tree at hand, and a lower bound. A question to the search closes the gap between them:
either it finds a better tree, or it refutes that there is one. When time runs out, trees are
polished for a moment, and the rest of the time goes to lower bounds of the sizes that are open.

Invariant, at any moment and for each size: ``lower <= least error <= upper``, and ``trees`` has a
tree with this many splits or fewer that makes ``upper`` errors.
"""

import math
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.progress import Progress, Report, ignore
from mictree._support.time_limit import TimeLimit
from mictree.growers.growth import Growth
from mictree.optimal.search.bits import BitEngine
from mictree.optimal.search.counting_bounds import Counting
from mictree.optimal.search.engine import Engine
from mictree.optimal.search.nested import as_trees, count_splits
from mictree.optimal.search.polish import Polished
from mictree.optimal.search.priced import LARGEST_COST, PricedSearch
from mictree.optimal.search.questions import Asking
from mictree.optimal.search.table import STORED, UNLIMITED
from mictree.tree import Tree

MOST_BUDGETS = 60  # larger sizes are not proved
PROVING = 0.8  # the share of the time limit; the rest is for lower bounds of what is not proved
PRICING = 0.4  # the share for the least cost of all sizes, if splits have a price
POLISHING = 0.2  # seconds
FULL = 7  # splits of a tree of depth 3 with none missing


class Frontier:
    """The bounds and the trees of all sizes, as far as they are found.

    Attributes
    ----------
    lower, upper : of the weight that the best tree of each size labels wrongly
    found : a tree for each upper bound, perhaps nested
    """

    def __init__(
        self, engine: Engine, max_size: int, max_depth: int | None, memory_limit: int
    ) -> None:
        self.rows, self.max_size = engine.rows, max_size
        self.price: Fraction | None = None  # of a split, in the unit of weights
        self.least_cost: int | None = None  # of all sizes, times the price's denominator
        self.greedy: Growth | None = None
        self.cheapest: Any = None  # the nested tree of that cost, unless the greedy growth has it
        self.memory_limit = memory_limit
        most = min(max_size, MOST_BUDGETS)
        self.depth = UNLIMITED if max_depth is None or max_depth >= most else max_depth
        self.asking = Asking(engine, most, self.depth, memory_limit)
        self.budgets = min(most, self.asking.budgets)  # frames hold at least one split
        masses = self.rows.masses().tolist()
        self.found: list[Any] = [masses.index(max(masses))]
        self.total = sum(masses)
        self.upper = [self.total - max(masses)]
        self.counting = Counting(masses, self.depth)
        self.lower = [max(self.rows.floor, bound) for bound in self.counting.by_classes(max_size)]

    @property
    def trees(self) -> tuple[Tree, ...]:
        """A tree of each size so far."""
        return as_trees(self.rows.problem, self.found)

    def run(
        self,
        limit: TimeLimit,
        grow: Callable[[], Growth] | None = None,
        progress: Report | None = None,
    ) -> None:
        """Prove sizes one by one.

        Unless that takes next to no time, start from the trees of a greedy growth, if there is one.
        """
        self.progress = progress or ignore
        sizes = self._order()
        answered = self._answer_quickly(sizes)
        if answered == len(sizes):
            return
        self.greedy = None if grow is None else grow()
        self.asking.compile()
        if self.price is not None:
            self._prove_price(self.price, limit)
        self.asking.deadline = limit.when(PROVING)
        with self.asking.running():
            before = sizes[answered - 1] if answered else 0
            sure = min(self.asking.engine.sure, self.budgets)
            known = Polished(self.asking, self.found[0], sure, self.depth) if sure else None
            for size in sizes[answered:]:
                while len(self.found) <= size:
                    self._add_candidate()
                if self.cheapest is not None and count_splits(self.cheapest) == size:
                    self._adopt(size, self.cheapest)
                self._carry_over(size)
                if known is not None and size <= sure:
                    if known.errors[size] < self.upper[size]:
                        self._adopt(size, known.nested(size))
                    self.lower[size] = self.upper[size]
                elif size <= self.budgets and not self._is_open(before):
                    if size > before + 1:
                        self._enlarge(before, size)
                    self._prove(size)
                before = size
            self._polish()
            if limit.seconds < math.inf:
                self._bound(limit.when())
            for size in range(1, self.max_size + 1):
                self._carry_over(size)

    def _prove_price(self, price: Fraction, limit: TimeLimit) -> None:
        """Search for the least cost of all sizes.

        Then each size makes at least the errors that this cost leaves after the price of its
        splits. So no size is open: none can pay.
        """
        engine, bound = self.asking.engine, self._least_cost()
        if (
            not isinstance(engine, BitEngine)
            or self.depth != UNLIMITED
            or self.max_size * price.numerator < bound  # a larger tree may cost less
            or max(bound, price.numerator, self.total * price.denominator) > LARGEST_COST
        ):
            return
        try:
            search = PricedSearch(engine, price, bound, self.memory_limit - engine.bytes)
        except TooLarge:
            return
        search.asking.compile()
        search.asking.deadline = limit.when(PRICING)
        found = search.run()
        self.asking.interrupted = search.asking.interrupted
        if found is not None:
            for size, least in enumerate(self.lower):
                spent = found.least - price.numerator * size
                self.lower[size] = max(least, -(-spent // price.denominator))
            self.least_cost = found.least
            self.cheapest = found.nested

    def _order(self) -> list[int]:
        """In which sizes are proved: in turn, but for depth 3 with all splits from the most down.

        A full tree shares its splits out in one way only, so it is the easiest to prove. Its error
        is a lower bound for fewer splits, whose search ends where it meets the bound.
        """
        sizes = list(range(1, self.max_size + 1))
        if self.depth == 3 and self.budgets >= FULL:
            sizes[3:FULL] = range(FULL, 3, -1)
        return sizes

    def _answer_quickly(self, sizes: list[int]) -> int:
        """Answer sizes in turn in one call, as long as they take next to no time; says how many.

        Only where splits have no price. This is too short to be interrupted on purpose, so Ctrl-C
        raises KeyboardInterrupt, as it does before the search.
        """
        asking, asked = self.asking, [size for size in sizes if size <= self.budgets]
        if self.price is not None or not asked or self.lower[-1] == self.upper[0]:
            return 0
        bounds = np.array([self.lower, self.upper * len(self.lower)])
        answered, found = asking.engine.solve_sizes(
            asked, self.counting, bounds, asking.table, asking.frames[0], asking.control
        )
        most = max(sizes[:answered], default=0)
        self.found, self.upper = (most + 1) * self.found, (most + 1) * self.upper
        self.lower = bounds[0].tolist()
        for size, nested in found.items():
            self._take(size, nested, self.lower[size])
        return answered

    def _enlarge(self, size: int, most: int) -> None:
        """Find trees of some more splits, quickly, from the tree of a size."""
        until = self.asking.deadline
        if self.lower[most] == self.upper[most] or self.asking.is_late():
            return
        polished = Polished(self.asking, self.found[size], most, self.depth, until)
        for larger in range(size + 1, most + 1):
            if polished.errors[larger] < self.upper[larger]:
                self._adopt(larger, polished.nested(larger))

    def _carry_over(self, size: int) -> None:
        """Raise the lower bound of a size by what is certain of the sizes before and after."""
        before, least = self.lower[size - 1], self.lower[size]
        if least == self.upper[size]:
            return
        if before > least:
            least = max(least, before - self.counting.lightest_leaf(size, before))
            self.lower[size] = min(least, self.upper[size])
        if size < self.max_size:
            self.lower[size] = min(max(self.lower[size], self.lower[size + 1]), self.upper[size])

    def _add_candidate(self) -> None:
        """The better of the last tree and the greedy one of the next size."""
        tree, upper, size = self.found[-1], self.upper[-1], len(self.found)
        in_time = size <= self.budgets or size == self.max_size or not self.asking.is_late()
        if self.greedy is not None and in_time and self.greedy.errors[size] < upper / self.total:
            grown = self.greedy.tree(size)
            wrong = self.rows.wrong(grown)
            if wrong < upper:
                tree, upper = grown, wrong
        self.found.append(tree)
        self.upper.append(upper)

    def _prove(self, size: int) -> None:
        """Find the least error of a size, and its tree.

        Unless that is quick, half of the error is refuted first: it costs little, and is known when
        time runs out later.
        """
        bound = self._worth(size)
        if self._ask(size, bound, quickly=True):
            return
        if not self.asking.engine.traces_at_once(size, self.depth):
            self._ask(size, (bound + 1) // 2)
        self._ask(size, bound)

    def _ask(self, size: int, bound: int, quickly: bool = False) -> bool:
        """Raise the lower bound of a size to a bound, or prove it; says whether there was time."""
        if self.lower[size] >= bound:
            return True
        self.asking.tell = lambda: self._tell(size)
        found = self.asking.find(
            self.rows.everything, size, bound, self.depth, quickly, self.lower[size]
        )
        if found is None:
            return False
        value, nested = found
        if nested is not None:
            wrong = self._adopt(size, nested)
            if wrong != value:
                raise AssertionError(f"the tree of size {size} makes {wrong} errors, not {value}")
        self.lower[size] = min(max(self.lower[size], value), self.upper[size])
        return True

    def _adopt(self, size: int, nested: Any) -> int:
        """Take a tree for a size, and for all larger ones that have none as good; its error."""
        wrong = self.rows.wrong(nested)
        self._take(size, nested, wrong)
        return wrong

    def _take(self, size: int, nested: Any, wrong: int) -> None:
        """The same, given its error."""
        for larger in range(min(size, count_splits(nested)), len(self.found)):
            if wrong < self.upper[larger]:
                self.found[larger], self.upper[larger] = nested, wrong

    def _tell(self, size: int) -> None:
        stored = int(self.asking.control[STORED])
        lower, upper = self.lower[size] / self.total, self.upper[size] / self.total
        bounds = f"error from {lower:.4f} to {upper:.4f}, {stored:,} sub-problems"
        self.progress(Progress(f"size {size} of {self.max_size}", None, bounds))

    def _worth(self, size: int) -> int:
        """An error below which a tree of this size is worth finding."""
        if self.price is None:
            return self.upper[size]
        least = self.price.numerator * size - self._least_cost()
        return min(self.upper[size], max(0, -(least // self.price.denominator)))  # rounded up

    def _least_cost(self) -> int:
        """The least known cost of a tree, times the price's denominator."""
        assert self.price is not None
        if self.least_cost is not None:
            return self.least_cost
        step, unit = self.price.numerator, self.price.denominator  # whole numbers are much faster
        best = min(int(error) * unit + step * splits for splits, error in enumerate(self.upper))
        return best if self._greedy_cost is None else min(best, self._greedy_cost)

    @cached_property
    def _greedy_cost(self) -> int | None:
        """The least cost of a greedy tree, times the price's denominator, if they are known."""
        if self.price is None or self.greedy is None:
            return None
        step, unit = self.price.numerator, self.price.denominator
        known = (self.greedy.errors * self.total).round().tolist()
        return min(int(error) * unit + step * splits for splits, error in enumerate(known))

    def _is_open(self, size: int) -> bool:
        """Whether there may be a tree of this size that is worth finding."""
        return self.lower[size] < self._worth(size)

    def _open_sizes(self) -> list[int]:
        return [size for size in range(self.budgets + 1) if self._is_open(size)]

    def _polish(self) -> None:
        """Look for better trees of the sizes that are not proved, for a moment."""
        until = time.monotonic() + POLISHING
        open_sizes = self._open_sizes()
        for start in {open_sizes[0] - 1, self.budgets} if open_sizes else ():
            tree, error = self.found[start], self.upper[start] + 1
            while time.monotonic() < until:
                polished = Polished(self.asking, tree, self.budgets, self.depth, until)
                for size in open_sizes:
                    if polished.errors[size] < self.upper[size]:
                        self._adopt(size, polished.nested(size))
                    if time.monotonic() > until:
                        return
                if polished.errors[-1] >= error:
                    break
                tree, error = polished.nested(self.budgets), polished.errors[-1]

    def _bound(self, end: float) -> None:
        """Spend the rest of the time on lower bounds, on the loosest one until it takes too long.

        A bound grows by half, from next to nothing, then by a quarter of the gap: a question takes
        longer the more it asks, and brings nothing if time runs out.
        """
        late: set[int] = set()
        while open_sizes := [size for size in self._open_sizes() if size not in late]:
            now = time.monotonic()
            self.asking.deadline = now + (end - now) / len(open_sizes)
            size = min(open_sizes, key=lambda size: self.lower[size] / self.upper[size])
            self._carry_over(size)
            lower, upper = self.lower[size], self.upper[size]
            if lower == upper:
                continue
            step = max(1, min(max(lower // 2, upper // 32), (upper - lower) // 4))
            if not self._ask(size, lower + step):
                late.add(size)
