"""Optimal trees on data: certified bounds of the least error of all sizes, and trees.

Sizes are proved one after another over one table of sub-problems. Each has an upper bound, the
error of a tree at hand, and a lower bound. A question to the search closes the gap between them:
either it finds a better tree, or it refutes that there is one. Greedy trees are the first upper
bounds. When time runs out, trees are improved here and by local search (``local_search``), and the
rest of the time goes to lower bounds of the sizes that are open, by relaxed trees (``relaxed``) and
by the search.

To improve a tree here, every node of it may become the root of the best subtree with up to 3 splits
that a glance finds for its rows; a dynamic program over the nodes shares the budget out among them.

Invariant, at any moment and for each size: ``lower <= least error <= upper``, and ``found`` has a
tree with this many splits or fewer that makes ``upper`` errors. Bounds are whole weights; at the
end they become shares of the weight, exact or as floats that allow for the rounding of weights.
"""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.checks import TooLarge, check_count, check_seconds, check_size
from mictree._support.progress import Progress, Report, TimeLimit, ignore, listener
from mictree.growers.rules import Growth, TopDown
from mictree.optimal.bit_search import BitEngine
from mictree.optimal.certified import KINDS, SEARCH, CertifiedErrors, History, widest_gap
from mictree.optimal.priced import LARGEST_COST, PricedSearch
from mictree.optimal.questions import (
    QUICK,
    STORED,
    UNLIMITED,
    PolishingEngine,
    Workers,
    is_counted,
)
from mictree.optimal.rows import Rows, as_trees, count_splits
from mictree.optimal.solve import OptimalTrees
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

if TYPE_CHECKING:
    from mictree.optimal.local_search import LocalSearch

MOST_BUDGETS = 60  # larger sizes are not proved
PROVING = 0.8  # the share of the time limit; the rest is for lower bounds of what is not proved
PROVING_BESIDE = 0.5  # the same share where relaxed trees raise lower bounds
ROUND = 20.0  # seconds of the first round, if there is so much time
PROVING_OF_ROUND = 0.9  # the same share of a round that is not the last one
PRICING = 0.4  # the share for the least cost of all sizes, if splits have a price
POLISHING = 0.2  # seconds
LOCALLY = 0.15  # the share of local search in what a round has left after proofs
MEANWHILE = 20_000_000  # of the work of local search before each size that takes long
SORTED_BYTES = 48  # a cell, of sorted rows and what local search makes of them
FIRST_BOUNDS, SHARE_OF_FIRST = 1.0, 0.05  # seconds for them, or a share of the time for proofs
FULL = 7  # splits of a tree of depth 3 with none missing
FEW_THRESHOLDS = 12  # a column on average, up to which counting all pairs is faster than sweeping
PAIRED_LEVELS = 8  # for which pair counts must fit into memory


def solve(
    problem: SampleProblem,
    max_size: int,
    exact: bool,
    memory_limit: int,
    progress: Report | None = None,
    max_depth: int | None = None,
    time_limit: float | None = None,
    price: Fraction | None = None,
    steady: bool = False,
) -> SampleOptimalTrees:
    """Prove sizes 1, 2, ... until ``max_size``, the time limit or an interrupt.

    With a price per split, as a share of the weight, only trees that could cost less than the best
    one are looked for: the bounds of sizes that cannot pay stay as they are. To be ``steady`` is to
    work in one round: without a time limit, on one core, no clock then decides which of equally
    good trees is found.
    """
    if max_depth is not None:
        max_depth = check_size(max_depth, "max_depth")
    if time_limit is not None:
        time_limit = check_seconds(time_limit, "time_limit")
    memory_limit = check_count(memory_limit, "memory_limit")
    if problem.literals.grouped:
        from mictree.optimal.subsets import solve_listed

        listed = partial(solve, max_size=max_size, exact=exact, progress=progress,
                         max_depth=max_depth, price=price, steady=steady)  # fmt: skip
        return solve_listed(problem, listed, exact, memory_limit, time_limit)
    with TimeLimit(time_limit) as limit:
        grow, pressed = None, False
        if max_depth is None:
            grow = cache(partial(TopDown().grow, problem, max_size))
            if problem.weighs_classes and not 0 < sum(map(len, problem.ranks)) <= QUICK:
                try:
                    grow()  # whose memory is free again before the search takes its own
                except KeyboardInterrupt:
                    grow, pressed = None, True
        strategy = choose_strategy(problem, exact, memory_limit)
        frontier = Frontier(strategy, max_size, max_depth, memory_limit)
        frontier.price = None if price is None else price * frontier.total
        frontier.workers.interrupted, frontier.steady = pressed, steady
        frontier.run(limit, grow, progress)
    errors = _certify(frontier, exact)  # before the trees, which it may change
    return SampleOptimalTrees(
        problem, max_size, errors,
        int(frontier.workers.control[STORED]), frontier.workers.interrupted, tuple(frontier.found),
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class SampleOptimalTrees(OptimalTrees):
    """Optimal trees on data, as far as they are proved.

    Attributes
    ----------
    errors : CertifiedErrors, with ``lower``, ``upper`` and ``proved`` for each size
    sub_problems : how many row sets were looked at
    interrupted : whether Ctrl-C ended the search
    """

    problem: SampleProblem
    errors: CertifiedErrors
    sub_problems: int
    interrupted: bool
    found: tuple[Any, ...] = field(repr=False)  # a tree of each size, perhaps nested

    def _tree(self, size: int) -> Tree:
        return as_trees(self.problem, [self.found[size]])[0]

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """A tree of each size."""
        return as_trees(self.problem, self.found)


def choose_strategy(problem: SampleProblem, exact: bool, memory_limit: int) -> Strategy:
    """The faster way to enumerate the tests of a problem.

    Counting all pairs takes time with the square of the literals, sweeping with literals times
    columns; counting also takes memory.
    """
    literals = problem.literals
    columns = len(literals.ordered) + len(problem.bits)
    by_class = problem.weighs_classes
    sums = len(problem.actions) if by_class else max(3, len(problem.actions) + 1)
    pairs = 8 * PAIRED_LEVELS * sums * len(literals) ** 2
    few = len(literals) <= FEW_THRESHOLDS * columns and pairs <= memory_limit
    if few or not problem.ranks:
        if by_class:
            return Strategy.on_bits(Rows.of(problem, exact))
        return Strategy.on_sums(problem)
    return Strategy.on_numbers(problem, exact)


class Strategy(NamedTuple):
    """How rows are searched: an engine, and shortcuts that go with it."""

    engine: PolishingEngine
    solve_sizes: Callable[..., Any] | None = None  # answers sizes in one call; see ``SweepEngine``
    search_price: Callable[..., PricedSearch] | None = None  # given price, bound and memory
    relax: Callable[[int], Any] | None = None  # a ``Relaxation``, given the depth

    def sort(self, memory_limit: int) -> Any:
        """The rows sorted by each column, for local search; None if memory is short.

        None also if all columns are constant.
        """
        rows, problem = self.engine.rows, self.engine.rows.problem
        columns = len(problem.ranks) + len(problem.bits)
        if SORTED_BYTES * columns * len(rows.weights) > memory_limit:
            return None
        from mictree.optimal.ordered_rows import CostRows, OrderedRows

        if not isinstance(rows, OrderedRows | CostRows):
            by_class = problem.weighs_classes
            rows = OrderedRows.of(problem, False) if by_class else CostRows.of(problem)
        return rows if len(rows.data.order) else None

    @classmethod
    def on_bits(cls, rows: Rows) -> Strategy:
        """Count pairs of literals."""
        search_price = partial(PricedSearch, rows) if rows.problem.counts_errors else None
        return cls(BitEngine(rows), search_price=search_price)

    @classmethod
    def on_sums(cls, problem: SampleProblem) -> Strategy:
        """Sum up what the rows of pairs of literals cost."""
        from mictree.optimal.bit_tasks import SumEngine, SumRows  # others need not load its kernels

        engine = SumEngine(SumRows.of(problem))
        return cls(engine, solve_sizes=engine.solve_sizes)

    @classmethod
    def on_numbers(cls, problem: SampleProblem, exact: bool) -> Strategy:
        """Sweep ordered columns."""
        # its kernels are many, which 0/1 columns need not load
        from mictree.optimal.ordered_rows import CostRows, OrderedRows
        from mictree.optimal.sweep_search import SweepEngine

        def relax(depth: int) -> Any:
            from mictree.optimal.relaxed import Relaxation  # its kernels are many too

            return Relaxation(rows, depth)

        if problem.weighs_classes:
            rows = OrderedRows.of(problem, exact)
            engine = SweepEngine(rows)
            return cls(engine, solve_sizes=engine.solve_sizes, relax=relax)
        rows = CostRows.of(problem)
        return cls(SweepEngine(rows), relax=relax)


class Frontier:
    """The bounds and the trees of all sizes, as far as they are found.

    Every lower bound comes in through ``raise_lower``, every tree through ``adopt`` or ``take``;
    both carry to the sizes for which they hold too, and note the history.

    Attributes
    ----------
    lower, upper : of the cost of the best tree of each size: the weight that it labels wrongly, or
        another whole number; see ``SearchedRows``
    kinds : what the lower bounds are from, SEARCH or RELAXATION
    found : a tree for each upper bound, perhaps nested; it may have fewer splits
    depth : the most tests on a path
    """

    def __init__(
        self, strategy: Strategy, max_size: int, max_depth: int | None, memory_limit: int
    ) -> None:
        self.strategy, engine = strategy, strategy.engine
        self.rows, self.max_size = engine.rows, max_size
        self.price: Fraction | None = None  # of a split, in the unit of costs
        self.steady = False  # whether there is a single round
        self.least_cost: int | None = None  # of all sizes, times the price's denominator
        self.greedy: Growth | None = None
        self.grow: Callable[[], Growth] | None = None  # the greedy growth, if it has to wait
        self.memory_limit = memory_limit
        most = min(max_size, MOST_BUDGETS)
        self.depth = UNLIMITED if max_depth is None or max_depth >= most else max_depth
        self.workers = Workers(engine, most, self.depth, memory_limit, glances=engine)
        self.budgets = min(most, self.workers.budgets)  # frames hold at least one split
        label, cost = self.rows.leaf()
        self.total, sizes = self.rows.total, max_size + 1
        self.found: list[Any] = [label] * sizes
        self.upper, self.kinds = [cost] * sizes, [SEARCH] * sizes
        self.counting = self.rows.counting(self.depth)
        self.lower = [max(self.rows.floor, bound) for bound in self.counting.by_size(max_size)]
        self.lower[0] = cost  # a lone leaf needs no search
        self.relaxation: Any = None
        self.limit, self.compiling = TimeLimit(None), 0.0  # seconds since a round began
        self.progress: Report = ignore
        self.history = History()
        self.local: LocalSearch | None = None
        self.allowed = 0  # of its work so far, while sizes are proved
        for size in range(most + 1):
            self._note(size)

    @property
    def trees(self) -> tuple[Tree, ...]:
        """A tree of each size so far."""
        return as_trees(self.rows.problem, self.found)

    def raise_lower(self, size: int, cost: int, kind: str = SEARCH) -> None:
        """No tree of a size costs less, hence none with fewer splits.

        The kind says what the bound is from; a bound that is no better than the one at hand changes
        nothing.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
        if cost > self.upper[size]:
            raise AssertionError(
                f"no tree of size {size} shall cost less than {cost}; one costs {self.upper[size]}"
            )
        for smaller in range(size, -1, -1):
            if self.lower[smaller] >= cost:
                break
            self.lower[smaller], self.kinds[smaller] = cost, kind
            self._note(smaller)

    def adopt(self, size: int, nested: Tree | Any) -> int:
        """Take a tree for a size; returns its cost, counted anew."""
        cost = self.rows.wrong(nested)
        self.take(size, nested, cost)
        return cost

    def take(self, size: int, nested: Tree | Any, cost: int) -> None:
        """Take a tree of a known cost for a size, and for all that have none as good.

        These are sizes of at least as many splits as it has.
        """
        splits = nested.size if isinstance(nested, Tree) else count_splits(nested)
        first = min(size, splits)
        if cost < self.lower[first]:
            raise AssertionError(
                f"no tree of size {first} costs less than {self.lower[first]}; one costs {cost}"
            )
        for larger in range(first, self.max_size + 1):
            if cost >= self.upper[larger]:
                break
            self.found[larger], self.upper[larger] = nested, cost
            self._note(larger)

    def _note(self, size: int) -> None:
        """Note the interval of a size that moved; larger sizes than are searched are left out."""
        if size <= MOST_BUDGETS:
            self.history.note(size, self.lower[size], self.upper[size])

    def run(
        self,
        limit: TimeLimit,
        grow: Callable[[], Growth] | None = None,
        progress: Report | None = None,
    ) -> None:
        """Narrow the intervals until all are closed, the time is over, or Ctrl-C is pressed.

        Unless quick answers are enough, start from the trees of a greedy growth, if there is one.
        Then work in rounds of some time: prove sizes one by one, find better trees for those that
        are open, and raise their lower bounds.
        """
        self.progress, self.history.clock = progress or listener(), limit.spent
        self.limit = limit
        sizes = self._order()
        if self._answer_quickly(sizes) == len(sizes):
            return
        self._start(grow)
        if self.price is not None:
            self._prove_price(self.price, limit)
        with self.workers.running():
            for proving, end in self._rounds(limit):
                self.workers.deadline = proving
                self._prove_sizes(sizes)
                self._polish()
                now = time.monotonic()
                self._search_locally(now + LOCALLY * (end - now))
                self._relax(end + self.compiling)
                self._bound(end + self.compiling)
                self.compiling = 0.0
            self._finish()

    def _rounds(self, limit: TimeLimit) -> Iterator[tuple[float, float]]:
        """When to stop proving, and when a round is over; until nothing is left to prove.

        Each round is twice as long as the one before, as a question that was stopped starts again.
        The last one takes all of the time that is left.
        """
        share = PROVING if self.strategy.relax is None else PROVING_BESIDE
        in_round = share if share < PROVING and limit.seconds < math.inf else PROVING_OF_ROUND
        length, last = ROUND, limit.when(share)
        while not self.steady and limit.when() - time.monotonic() >= 2 * length:
            now = time.monotonic()
            proving = now + in_round * length
            yield proving, now + length
            now = time.monotonic()
            if self.workers.interrupted or now < proving:  # all that can be proved is
                return
            length *= 2
            last = now + share * (limit.when() - now)
        yield last, limit.when()

    def _start(self, grow: Callable[[], Growth] | None) -> None:
        """Begin with greedy trees; of costs that are not errors they wait for a longer question."""
        self.grow = grow
        if self.rows.problem.weighs_classes:
            self._grow_now()
        if not self.workers.interrupted:
            self.workers.compile()

    def _grow_now(self) -> bool:
        """Grow the greedy trees if that has waited, and take them; says whether it has."""
        grow, self.grow = self.grow, None
        if grow is None:
            return False
        try:
            self.greedy = grow()
        except KeyboardInterrupt:  # what is known without them holds too
            self.workers.interrupted = True
            return False
        for size in range(self.budgets, 0, -1):
            self._take_greedy(size)
        return True

    def _take_greedy(self, size: int) -> None:
        """Take the greedy tree of a size if it is better than the one at hand."""
        if self.greedy is not None and self.greedy.errors[size] < self._error(self.upper[size]):
            self.adopt(size, self.greedy.tree(size))

    def _prove_price(self, price: Fraction, limit: TimeLimit) -> None:
        """Search for the least cost of all sizes.

        Then each size makes at least the errors that this cost leaves after the price of its
        splits. So no size is open: none can pay.
        """
        bound = self._least_cost()
        if (
            self.strategy.search_price is None
            or self.depth != UNLIMITED
            or self.max_size * price.numerator < bound  # a larger tree may cost less
            or max(bound, price.numerator, self.total * price.denominator) > LARGEST_COST
        ):
            return
        try:
            memory = self.memory_limit - self.strategy.engine.bytes
            search = self.strategy.search_price(price, bound, memory)
        except TooLarge:
            return
        search.workers.compile()
        search.workers.deadline = limit.when(PRICING)
        found = search.run()
        self.workers.interrupted |= search.workers.interrupted
        if found is not None:
            if found.nested is not None:  # unless the greedy growth has it
                self.adopt(self.max_size, found.nested)
            for size in range(self.max_size + 1):
                spent = found.least - price.numerator * size
                self.raise_lower(size, -(-spent // price.denominator))
            self.least_cost = found.least

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
        workers, asked = self.workers, [size for size in sizes if size <= self.budgets]
        solve_sizes = self.strategy.solve_sizes
        if solve_sizes is None or self.price is not None:
            return 0
        if not asked or self.lower[-1] == self.upper[0]:
            return 0
        bounds = np.array([self.lower, self.upper])
        answered, found = solve_sizes(
            asked, self.counting, bounds, workers.table, workers.frames[0], workers.control
        )
        lower = bounds[0].tolist()
        for size, nested in found.items():
            self.take(size, nested, lower[size])
        for size, least in enumerate(lower):
            self.raise_lower(size, least)
        return answered

    def _prove_sizes(self, sizes: list[int]) -> None:
        """Prove sizes one by one, up to the first that takes too long."""
        before, sure = 0, min(self.strategy.engine.sure, self.budgets)
        known: Improvement | None = None
        for size in sizes:
            if size > self.budgets:
                break
            self._carry_over(size)
            if self.lower[size] == self.upper[size]:
                pass
            elif size <= sure:
                known = known or Improvement(self.workers, self.found[0], sure, self.depth)
                if known.errors[size] < self.upper[size]:
                    self.adopt(size, known.nested(size))
                self.raise_lower(size, self.upper[size])
            elif not self._is_open(before):
                if size > before + 1:
                    self._enlarge(before, size)
                self._prove(size)
            before = size

    def _enlarge(self, size: int, most: int) -> None:
        """Find trees of some more splits, quickly, from the tree of a size."""
        until = self.workers.deadline
        if self.lower[most] == self.upper[most] or self.workers.is_late():
            return
        improved = Improvement(self.workers, self.found[size], most, self.depth, until)
        for larger in range(size + 1, most + 1):
            if improved.errors[larger] < self.upper[larger]:
                self.adopt(larger, improved.nested(larger))

    def _carry_over(self, size: int) -> None:
        """Raise the lower bound of a size by what is certain of the size before."""
        before, least = self.lower[size - 1], self.lower[size]
        if before > least < self.upper[size]:
            certain = before - self.counting.last_split(size, before)
            self.raise_lower(size, min(certain, self.upper[size]), self.kinds[size - 1])

    def _prove(self, size: int) -> None:
        """Find the least error of a size, and its tree.

        Unless that is quick, half of the error is refuted first: it costs little, and is known when
        time runs out later.
        """
        bound = self._worth(size)
        if self._ask(size, bound, quickly=True):
            return
        self._grow_now()
        self._search_meanwhile()
        bound = self._worth(size)
        if self.relaxation is None and not self.steady:  # so that all sizes have a bound soon
            now = time.monotonic()
            self._relax(now + min(FIRST_BOUNDS, SHARE_OF_FIRST * (self.workers.deadline - now)))
        if not is_counted(size, self.depth):
            self._ask(size, (bound + 1) // 2)
        self._ask(size, bound)

    def _ask(self, size: int, bound: int, quickly: bool = False) -> bool:
        """Raise the lower bound of a size to a bound, or prove it; says whether there was time."""
        if self.lower[size] >= bound:
            return True
        self.workers.on_tick = lambda: self.report(size)
        found = self.workers.find(
            self.rows.everything, size, bound, self.depth, quickly, self.lower[size]
        )
        if found is None:
            return False
        value, nested = found
        if nested is not None:
            wrong = self.adopt(size, nested)
            if wrong != value:
                raise AssertionError(f"the tree of size {size} makes {wrong} errors, not {value}")
        self.raise_lower(size, value)
        return True

    def report(self, size: int) -> None:
        """Tell how far a size has come, and all of them."""
        stored = int(self.workers.control[STORED])
        lower, upper = self._error(self.lower[size]), self._error(self.upper[size])
        share = self._error(1) - self._error(0)
        gap, widest = widest_gap(self.lower[: self.budgets + 1], self.upper[: self.budgets + 1])
        proved = sum(map(operator.eq, self.lower[1:], self.upper[1:]))
        detail = (
            f"error from {lower:.4f} to {upper:.4f}; {proved} of {self.max_size} sizes proved, "
            f"widest gap {gap * share:.4f} at size {widest}; {stored:,} sub-problems"
        )
        self.progress(Progress(f"size {size} of {self.max_size}", None, detail))

    def _error(self, cost: int) -> float:
        """The error of trees of a cost."""
        if isinstance(self.total, int):
            return cost / self.total
        return float(self.rows.offset + cost / self.total)

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
        if self.price is None or self.greedy is None or not isinstance(self.total, int):
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
                improved = Improvement(self.workers, tree, self.budgets, self.depth, until)
                for size in open_sizes:
                    if improved.errors[size] < self.upper[size]:
                        self.adopt(size, improved.nested(size))
                    if time.monotonic() > until:
                        return
                if improved.errors[-1] >= error:
                    break
                tree, error = improved.nested(self.budgets), improved.errors[-1]

    def _search_meanwhile(self) -> None:
        """Search locally for a moment, before a size that takes long.

        Work is counted, not time, so that the trees of proved sizes do not depend on the clock.
        Engines that look at pairs of literals look at enough trees themselves.
        """
        if len(self.strategy.engine.patience) > 1 and self._can_search_locally():
            self.allowed += MEANWHILE
            self._search_locally(self.workers.deadline, self.allowed)

    def _search_locally(self, until: float, work: float = math.inf) -> None:
        """Look for better trees of open sizes by local search, up to some work in all."""
        if not self._open_sizes() or not self._can_search_locally():
            return
        local = self.local
        assert local is not None
        local.late = lambda: (
            self.workers.interrupted or local.work > work or time.monotonic() > until
        )
        local.run(self.found[: self.budgets + 1])

    def _can_search_locally(self) -> bool:
        """Whether local search is prepared, for which memory must suffice."""
        if self.local is None and not self.workers.interrupted:
            rows = self.strategy.sort(self.memory_limit)
            if rows is not None:
                from mictree.optimal.local_search import LocalSearch  # its kernels are many too

                self.local = LocalSearch(rows, self.budgets, self.depth, self._take_locally)
                self.local.compile()
        return self.local is not None and not self.workers.interrupted

    def _take_locally(self, nested: Any) -> None:
        """Take a tree of the local search, and tell how far all sizes have come."""
        self.adopt(count_splits(nested), nested)
        self.report(max(1, count_splits(nested)))

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self.workers.interrupted

    def _relax(self, end: float) -> None:
        """Raise lower bounds of all open sizes by relaxed trees until some time."""
        workers, relax = self.workers, self.strategy.relax
        if relax is None or workers.interrupted or time.monotonic() > end:
            return
        if not self._open_sizes():  # then no kernels need loading
            return
        used = sum(part.nbytes for part in workers.table)
        memory = self.memory_limit - used - len(workers.frames) * self.strategy.engine.bytes
        if self.relaxation is None:
            before = self.limit.when()
            self.relaxation = relax(self.depth)
            self.relaxation.prepare(self.budgets, memory)
            if before < math.inf:  # compiling does not count
                self.compiling = self.limit.when() - before
                end += self.compiling
                workers.deadline += self.compiling
        self.relaxation.raise_bounds(self, self._open_sizes(), end, memory)

    def _bound(self, end: float) -> None:
        """Spend time on lower bounds, on the loosest one until it takes too long.

        A bound grows by half, from next to nothing, then by a quarter of the gap: a question takes
        longer the more it asks, and brings nothing if time runs out.
        """
        late: set[int] = set()
        while open_sizes := [size for size in self._open_sizes() if size not in late]:
            now = time.monotonic()
            self.workers.deadline = now + (end - now) / len(open_sizes)
            size = min(open_sizes, key=lambda size: self.lower[size] / self.upper[size])
            self._carry_over(size)
            lower, upper = self.lower[size], self.upper[size]
            if lower == upper:
                continue
            step = max(1, min(max(lower // 2, upper // 32), (upper - lower) // 4))
            if not self._ask(size, lower + step):
                late.add(size)

    def _finish(self) -> None:
        """Give the sizes that are not searched greedy trees, and all sizes what is certain."""
        if self.max_size > self.budgets:
            self._grow_now()
            for size in range(self.max_size, self.budgets, -1):
                if size < self.max_size and self.workers.is_late():
                    break
                self._take_greedy(size)
        for size in range(1, self.max_size + 1):
            self._carry_over(size)


def _certify(frontier: Frontier, exact: bool) -> CertifiedErrors:
    """Both bounds as errors of the problem, and how they came to be.

    Where the search rounds weights or costs, lower bounds allow for it, and upper bounds are the
    errors of the trees by what was written.
    """
    rows, kind, kinds = frontier.rows, object if exact else float, np.array(frontier.kinds, object)
    bounds: list[list[Any]]
    if isinstance(rows.total, int) and not rows.must_settle:  # fractions would take longer
        share: Any = Fraction if exact else operator.truediv
        bounds = [
            [share(cost, rows.total) for cost in each] for each in (frontier.lower, frontier.upper)
        ]
        lower_error = upper_error = lambda cost, size: cost / rows.total
    else:
        bounds = _written_bounds(frontier)
        lower_error = cache(lambda cost, size: rows.least_error(cost))
        upper_error = cache(rows.most_error)
    # every float is that nearest to its fraction
    lower, upper = (np.array(each, dtype=kind) for each in bounds)
    errors = CertifiedErrors(lower, upper, kinds)
    return replace(errors, steps=frontier.history.as_errors(lower_error, upper_error, errors))


def _written_bounds(frontier: Frontier) -> list[list[Any]]:
    """Both bounds by what was written."""
    rows = frontier.rows
    lower: list[Any] = [rows.least_error(cost) for cost in frontier.lower]
    upper = _settle(frontier) if rows.must_settle else list(map(rows.least_error, frontier.upper))
    lower[0] = upper[0]  # a lone leaf needs no search
    for size, (least, most) in enumerate(zip(lower, upper, strict=True)):
        lower[size] = most if rows.is_least(least, most, size) else min(least, most)
    return [lower, upper]


def _settle(frontier: Frontier) -> list[Fraction]:
    """Give each size its best tree by costs as written; returns their errors."""
    settled: list[tuple[Tree, Fraction]] = []
    seen: dict[int, tuple[Tree, Fraction]] = {}  # many sizes may share a tree
    rows, greedy = frontier.rows, frontier.greedy
    for size, tree in enumerate(frontier.trees):
        if id(tree) not in seen:
            seen[id(tree)] = rows.settle(tree)
        best = min([*settled[-1:], seen[id(tree)]], key=lambda found: found[1])
        if greedy is not None and greedy.errors[size] < float(best[1]):
            grown = rows.settle(greedy.tree(size))
            best = min(best, grown, key=lambda found: found[1])
        settled.append(best)
    frontier.found = [tree for tree, _ in settled]
    return [error for _, error in settled]


class Improvement:
    """The best errors by size that a tree's nodes allow, and the trees.

    Attributes
    ----------
    errors : wrong weight by size, 0 to ``most``
    """

    def __init__(
        self, workers: Workers, tree: Tree | Any, most: int, depth: int, until: float = math.inf
    ) -> None:
        self.workers, rows = workers, workers.rows
        self.tests, self.low, self.high = rows.nodes(tree)
        self.nodes: dict[int, tuple[np.ndarray, int]] = {}  # rows, and the depth that is left
        waiting = [(0, rows.everything, depth)]
        while waiting:
            node, members, left = waiting.pop()
            self.nodes[node] = members, left
            if self.tests[node] >= 0:
                held = rows.holds(members, self.tests[node])
                waiting.append((self.low[node], members[~held], left - 1))
                waiting.append((self.high[node], members[held], left - 1))
        self.few: dict[int, np.ndarray] = {}  # least errors with up to 3 splits
        self.best: dict[int, np.ndarray] = {}
        for node, (members, left) in reversed(self.nodes.items()):
            if time.monotonic() > until:
                left = 0  # what is not counted in time stays as it is, or a leaf
            few = self.few[node] = workers.glance(members, left)
            best = self.best[node] = few[np.minimum(np.arange(most + 1), 3)]
            if self.tests[node] >= 0:
                low, high = self.best[self.low[node]], self.best[self.high[node]]
                for size in np.flatnonzero(np.diff(low[:most], prepend=low[0] + 1)):
                    target = best[size + 1 :]
                    np.minimum(target, low[size] + high[: len(target)], out=target)
        self.errors = self.best[0]

    def nested(self, size: int) -> Any:
        """A nested tree with at most so many splits that attains its error."""
        return self._nested(0, size)

    def _nested(self, node: int, size: int) -> Any:
        error, (members, left) = self.best[node][size], self.nodes[node]
        if self.few[node][min(size, 3)] == error:
            return self.workers.trace(members, min(size, 3), error, left, seen=True)
        low, high = self.low[node], self.high[node]
        sums = self.best[low][:size] + self.best[high][:size][::-1]
        split = int(sums.argmin())
        test = self.tests[node]
        return test, self._nested(low, split), self._nested(high, size - 1 - split)
