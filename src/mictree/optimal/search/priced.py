"""The tree with the least sum of wrong weight and price of splits, whatever its size; on 0/1 rows.

See ``priced_kernel``. Questions, workers, the clock and Ctrl-C are those of ``questions``.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mictree.optimal.search.bits import BitEngine
from mictree.optimal.search.engine import FIRST, PLAIN, Question
from mictree.optimal.search.frames import Frames, frame_bytes, make_frames
from mictree.optimal.search.priced_kernel import solve_priced
from mictree.optimal.search.questions import Asking
from mictree.optimal.search.rows import Rows
from mictree.optimal.search.table import UNLIMITED, Table

SHARES = (Fraction(4, 5), Fraction(9, 10), Fraction(1))  # of the known cost, one after another
LARGEST_COST = 2**60  # of which sums still fit 64 bits


class PricedFrames(NamedTuple):
    """One worker's frames, and what they say of both children of each literal."""

    frames: Frames
    lower: np.ndarray  # (levels, 2, literals): bounds of their costs
    exact: np.ndarray  # (levels, 2, literals): whether these are their costs


class PricedEngine:
    """Answers questions about costs: an ``Engine`` for which budgets and depths mean nothing.

    Attributes
    ----------
    step, unit : the costs of a split and of a unit of wrong weight
    levels : the most tests on a path
    """

    sure = 0
    patience: tuple[int, ...] = ()

    def __init__(self, rows: Rows, price: Fraction, levels: int) -> None:
        self.rows, self.levels = rows, levels
        self.step, self.unit = price.numerator, price.denominator
        self.budgets, self.bytes = 0, levels * frame_bytes(rows.data, 1)
        self.bytes += levels * 18 * len(rows.data.columns)

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Nothing to choose."""

    def __str__(self) -> str:
        return f"{len(self.rows.kept)} literals and {self.levels} levels"

    def make_frames(self) -> PricedFrames:
        """Frames for one worker."""
        shape = self.levels, 2, len(self.rows.data.columns)
        frames = make_frames(self.rows.data, 1, self.levels)
        return PricedFrames(frames, np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool))

    def compile(self, table: Table, frames: PricedFrames, control: np.ndarray) -> None:
        """Call the kernel once, with no rows."""
        self.place(self.rows.everything[:0], frames)
        self.solve(0, (0, 0, 0, PLAIN), table, frames, control)

    def place(self, members: np.ndarray, frames: PricedFrames) -> None:
        """Put a question's rows into the first frame."""
        frames.frames.mask[0] = self.rows.mask(members)

    def solve(
        self, members: int, question: Question, table: Table, frames: PricedFrames,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """Answer a question about rows that are in place."""
        retrace = question[3] != PLAIN
        return solve_priced(
            question[1], self.step, self.unit, retrace, self.rows.data, table, *frames, control
        )

    def first_test(self, frames: PricedFrames, cost: int) -> tuple[int, int, int]:
        """The first test of the tree that was retraced, and the costs of both its children."""
        least = frames.frames.least[0].astype(np.int64)
        cheap = np.minimum(least[0] * self.unit, least[1] * self.unit + self.step)
        whole = self.step + cheap.sum(axis=0)
        attained = np.flatnonzero((least[0, 0] >= 0) & (whole == cost))
        if len(attained):  # by at most one split in each child
            literal, costs = int(attained[0]), cheap
        else:
            literal = int(frames.frames.order[0, 0, frames.frames.levels[0].position])
            costs = frames.lower[0]
        return int(self.rows.kept[literal]), int(costs[0, literal]), int(costs[1, literal])


class Priced(NamedTuple):
    """What a search for the least cost has found.

    Attributes
    ----------
    least : a lower bound of the cost of every tree, in units of ``PricedEngine``
    nested : a tree that attains it; None if no tree costs less than the bound of the search
    """

    least: int
    nested: Any


class PricedSearch:
    """A search for the least cost, below the cost of a tree that is known already."""

    def __init__(self, engine: BitEngine, price: Fraction, bound: int, memory: int) -> None:
        literals = len(engine.rows.data.columns)
        levels = min(literals, bound // price.numerator) + 1  # each test is constant below itself
        self.bound = bound
        self.engine = PricedEngine(engine.rows, price, levels)
        # it has no part of an Engine that finds trees by budgets: ``run`` only asks
        answering: Any = self.engine
        self.asking = Asking(answering, 0, UNLIMITED, memory, np.dtype(np.int64))

    def run(self) -> Priced | None:
        """The least cost and its tree; None when it had to stop."""
        with self.asking.running():
            rows = self.engine.rows.everything
            for share in SHARES:
                bound = int(self.bound * share)
                cost = self.asking.ask(rows, 0, bound, UNLIMITED)
                if cost is None:
                    return None
                if cost < bound:
                    nested = self._trace(rows, cost)
                    return None if nested is None else Priced(cost, nested)
            return Priced(self.bound, None)

    def _trace(self, rows: np.ndarray, cost: int) -> Any:
        """Nested tests that attain the least cost of some rows; None when it had to stop."""
        masses = self.engine.rows.masses(rows)
        if int(masses.sum() - masses.max()) * self.engine.unit <= cost:
            return int(masses.argmax())  # the first of several
        if self.asking.ask(rows, 0, cost + 1, UNLIMITED, FIRST) is None:
            return None
        test, low_cost, high_cost = self.engine.first_test(self.asking.frames[0], cost)
        held = self.engine.rows.holds(rows, test)
        low = self._trace(rows[~held], low_cost)
        high = None if low is None else self._trace(rows[held], high_cost)
        return None if high is None else (test, low, high)
