"""The 0/1 way to enumerate a sub-problem's tests: pair counts. See ``sweeping`` for the other."""

from typing import Any

import numpy as np

from mictree.optimal.search import kernel
from mictree.optimal.search.counting_bounds import Counting
from mictree.optimal.search.engine import PLAIN, FirstTest, Question
from mictree.optimal.search.frames import Frames, first_test, frame_bytes, make_frames
from mictree.optimal.search.rows import Rows
from mictree.optimal.search.table import Table


class BitEngine:
    """Answers questions about rows of literals.

    Attributes
    ----------
    sure : errors with so many splits are least, whenever they are counted
    """

    sure = 2
    patience: tuple[int, ...] = ()

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.budgets = self.levels = self.bytes = 0

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        # a frame's children are asked only if they may have more than one split
        self.levels = max(1, min(budgets, depth, memory // frame_bytes(self.rows.data, budgets)))
        self.budgets = budgets if self.levels >= min(budgets, depth) else self.levels
        self.bytes = self.levels * frame_bytes(self.rows.data, budgets)

    def compile(self, table: Table, frames: Frames, control: np.ndarray) -> None:
        """Call the kernel once, with no rows."""
        self.place(self.rows.everything[:0], frames)
        self.solve(0, (0, 0, 0, PLAIN), table, frames, control)

    def traces_at_once(self, budget: int, depth: int) -> bool:
        """Whether the first test is found along with the least error, whatever the bound."""
        return False

    def __str__(self) -> str:
        classes = len(self.rows.data.first_word) - 1
        return f"{len(self.rows.kept)} literals and {classes} classes"

    def make_frames(self) -> Frames:
        """Frames for one worker."""
        return make_frames(self.rows.data, self.budgets, self.levels)

    def place(self, members: np.ndarray, frames: Frames) -> None:
        """Put a question's rows into the first frame."""
        frames.mask[0] = self.rows.mask(members)

    def solve(
        self, members: int, question: Question, table: Table, frames: Frames, control: np.ndarray
    ) -> int:
        """Answer a question about rows that are in place; see ``kernel.solve``."""
        return kernel.solve(
            *question[:3], question[3] != PLAIN, self.rows.data, table, frames, control
        )

    def count_few(
        self, members: np.ndarray, depth: int, table: Table, frames: Frames, control: np.ndarray
    ) -> np.ndarray:
        """Errors of some rows with 0, 1, 2 and 3 splits that their pair counts show trees for."""
        error = self.rows.leaf_error(members)
        self.place(members, frames)
        kernel.solve(2, error, depth, False, self.rows.data, table, frames, control)
        return frames.levels[0].errors.copy()

    def retrace_few(
        self, members: np.ndarray, question: tuple[int, int, int], table: Table,
        frames: Frames, control: np.ndarray,
    ) -> None:  # fmt: skip
        """Retrace a tree with an error that ``count_few`` has found."""
        self.count_few(members, question[2], table, frames, control)

    def first_test(self, frames: Frames, budget: int, least: int) -> FirstTest:
        """The first test of the tree that was retraced."""
        literal, low_budget, *errors = first_test(frames, budget, least)
        budgets = low_budget, budget - 1 - low_budget
        return FirstTest(
            int(self.rows.kept[literal]), budgets, (errors[0], errors[1]), (None, None)
        )

    def solve_sizes(
        self, sizes: list[int], counting: Counting, bounds: np.ndarray, table: Table,
        frames: Frames, control: np.ndarray,
    ) -> tuple[int, dict[int, Any]]:  # fmt: skip
        """No sizes: ``count_few`` answers the first ones already."""
        return 0, {}
