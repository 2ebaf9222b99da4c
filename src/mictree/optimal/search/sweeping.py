"""The other way to enumerate a sub-problem's tests: sweeps along ordered columns. See ``bits``."""

from typing import Any

import numpy as np

from mictree.optimal.search import sweep_kernel, sweep_sizes
from mictree.optimal.search.counting_bounds import Counting
from mictree.optimal.search.engine import PLAIN, QUICK, FirstTest, Question
from mictree.optimal.search.ordered_rows import OrderedRows
from mictree.optimal.search.sweep_frames import SweepFrames, frame_bytes, make_frames
from mictree.optimal.search.sweep_sizes import ERROR, SPLITS
from mictree.optimal.search.table import ALLOWED, Table

# cells that are swept in a hundredth of a second, and in half a second
PATIENCE = 2_000_000, 100_000_000
COUNTED = 10_000_000  # cells that are swept to find the errors of few splits


class SweepEngine:
    """Answers questions about rows of ordered columns, as ``BitEngine`` does for literals.

    All rows are in frame 0, whose bounds outlive a question; other rows are in frame 1.
    """

    sure = 0
    patience: tuple[int, ...] = PATIENCE

    def __init__(self, rows: OrderedRows) -> None:
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

    def compile(self, table: Table, frames: SweepFrames, control: np.ndarray) -> None:
        """Call each kernel once, with no rows."""
        nobody = self.rows.everything[:0]
        self.count_few(nobody, 0, table, frames, control)
        self.solve(0, (0, 0, 0, PLAIN), table, frames, control)
        classes = [0] * frames.totals.shape[1]
        bounds = np.zeros((2, 1), dtype=np.int64)
        self.solve_sizes([], Counting(classes, 0), bounds, table, frames, control)

    def traces_at_once(self, budget: int, depth: int) -> bool:
        """Whether the first test is found along with the least error, whatever the bound."""
        return budget <= 2 or depth <= 2

    def __str__(self) -> str:
        columns, rows = self.rows.data.order.shape
        return f"{rows:,} rows of {columns:,} columns"

    def make_frames(self) -> SweepFrames:
        """Frames for one worker."""
        rows = self.rows
        return make_frames(
            rows.data, len(rows.problem.classes), self.budgets, self.levels, self.root, self.claims
        )

    def place(self, members: np.ndarray, frames: SweepFrames) -> None:
        """Put a question's rows into their frame."""
        self.claims[:] = 0
        if len(members) < len(self.rows.codes):
            frames.member[:] = 0
            frames.member[members] = 1

    def solve(
        self, members: int, question: Question, table: Table, frames: SweepFrames,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """Answer a question about rows that are in place; see ``sweep_kernel.solve``."""
        return sweep_kernel.solve(members, *question, self.rows.data, table, frames, control)

    def count_few(
        self, members: np.ndarray, depth: int, table: Table, frames: SweepFrames,
        control: np.ndarray, budget: int = 3,
    ) -> np.ndarray:  # fmt: skip
        """Errors of some rows with 0, 1, 2 and 3 splits that a few sweeps find trees for."""
        self.place(members, frames)
        control[ALLOWED] = COUNTED
        data = self.rows.data
        return sweep_kernel.count_few(len(members), budget, depth, data, frames, control)

    def retrace_few(
        self, members: np.ndarray, question: tuple[int, int, int], table: Table,
        frames: SweepFrames, control: np.ndarray,
    ) -> None:  # fmt: skip
        """Retrace a tree with an error that ``count_few`` has found, in the same way."""
        budget, _, depth = question
        self.count_few(members, depth, table, frames, control, budget)

    def first_test(self, frames: SweepFrames, budget: int, least: int) -> FirstTest:
        """The first test of the tree that was retraced."""
        _, column, row, low_budget, *errors, low, high, low_error, high_error = frames.work.tolist()
        test, holds_below = self.rows.literal(column, row)
        budgets, leaves = (
            (low_budget, budget - 1 - low_budget),
            [(low, low_error), (high, high_error)],
        )
        one, other = (1, 0) if holds_below else (0, 1)
        return FirstTest(
            test,
            (budgets[one], budgets[other]),
            (errors[one], errors[other]),
            (leaves[one], leaves[other]),
        )

    def solve_sizes(
        self, sizes: list[int], counting: Counting, bounds: np.ndarray, table: Table,
        frames: SweepFrames, control: np.ndarray,
    ) -> tuple[int, dict[int, Any]]:  # fmt: skip
        """Answer sizes in turn, as long as it takes little work."""
        if not self.patience or self.rows.data.order.size > QUICK:
            return 0, {}
        most, control[ALLOWED] = max(sizes, default=0), self.patience[0]
        nodes = np.zeros((most + 1, 2 * most + 1, sweep_sizes.NODE), dtype=np.int64)
        answered = sweep_sizes.solve_sizes(
            np.array(sizes, dtype=np.int64), counting.depth, counting.masses, counting.most_leaves,
            self.rows.data, table, frames, control, *bounds, nodes,
        )  # fmt: skip
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
