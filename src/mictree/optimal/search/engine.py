"""The two ways to enumerate a sub-problem's tests, behind one interface.

``bits.BitEngine`` counts pairs of literals, ``sweeping.SweepEngine`` sweeps ordered columns.
Questions, table, frontier and polishing are the same for both.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from mictree.optimal.search.counting_bounds import Counting
from mictree.optimal.search.searched_rows import SearchedRows
from mictree.optimal.search.table import Table

# what is wanted beside the least error of some rows: nothing; the first of all tests that attain
# it; any such test; any test that attains the error below the bound, which is known to be the least
PLAIN, FIRST, ANY, KNOWN = range(4)
Question = tuple[int, int, int, int]  # the budget, the bound, the depth, and what is wanted

QUICK = 2**17  # cells of a table up to which all sizes are first asked about in one call

Leaf = tuple[int, int]  # a label, and the error of some rows with it


class FirstTest(NamedTuple):
    """The first test of a tree, and of both its subtrees, the low one first:"""

    test: int
    budgets: tuple[int, int]
    errors: tuple[int, int]
    leaves: tuple[Leaf | None, Leaf | None]  # best leaves in their place; None if not known


class Engine(Protocol):
    """Answers questions about row sets; ``members`` are row numbers, frames one worker's scratch.

    Attributes
    ----------
    sure : errors with so many splits are least whenever ``count_few`` finds them
    patience : the work that is done in the caller's thread, and then by one worker, before all
        others are started
    budgets : the most splits that may be asked about; see ``plan``
    bytes : the memory of one worker's frames
    """

    sure: int
    patience: tuple[int, ...]
    budgets: int
    bytes: int

    @property
    def rows(self) -> SearchedRows:
        """The rows that are searched."""
        ...

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        ...

    def make_frames(self) -> Any:
        """Frames for one worker."""
        ...

    def compile(self, table: Table, frames: Any, control: np.ndarray) -> None:
        """Call each kernel once, with no rows."""
        ...

    def traces_at_once(self, budget: int, depth: int) -> bool:
        """Whether the first test is found along with the least error, whatever the bound."""
        ...

    def place(self, members: np.ndarray, frames: Any) -> None:
        """Put a question's rows into their frame."""
        ...

    def solve(
        self, members: int, question: Question, table: Table, frames: Any, control: np.ndarray
    ) -> int:
        """Answer a question about so many rows in their place.

        See ``kernel.solve``.
        """
        ...

    def count_few(
        self, members: np.ndarray, depth: int, table: Table, frames: Any, control: np.ndarray
    ) -> np.ndarray:
        """Errors of some rows with 0, 1, 2 and 3 splits that trees are known for."""
        ...

    def retrace_few(
        self, members: np.ndarray, question: tuple[int, int, int], table: Table, frames: Any,
        control: np.ndarray,
    ) -> None:  # fmt: skip
        """Retrace a tree with an error from ``count_few``, given budget, error and depth."""
        ...

    def first_test(self, frames: Any, budget: int, least: int) -> FirstTest:
        """The first test of the tree that was retraced."""
        ...

    def solve_sizes(
        self, sizes: list[int], counting: Counting, bounds: np.ndarray, table: Table, frames: Any,
        control: np.ndarray,
    ) -> tuple[int, dict[int, Any]]:  # fmt: skip
        """Answer sizes for all rows in turn, in one call, as long as it takes little work.

        Returns how many are answered, and a nested tree for each that is better than all before.
        ``bounds`` are the lower and the upper ones by size, and become equal for those answered.
        """
        ...
