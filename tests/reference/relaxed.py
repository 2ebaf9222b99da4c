"""Relaxed trees: blocks of cuts, and rows that are free, by definition.

A column is its ranks; cut `c` is between the ranks `c` and `c + 1`. A block is a set of
neighbouring cuts. A relaxed test is a column and a block: rows with a rank up to the smallest cut
go left, those with a rank above the largest cut go right, and the rows between go nowhere.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

Rows = tuple[int, ...]
Block = tuple[int, ...]  # its cuts, ascending


def divided(ranks: Sequence[int], block: Block, inside: Rows) -> tuple[Rows, Rows]:
    """The rows that go left, and those that go right."""
    left = tuple(row for row in inside if all(ranks[row] <= cut for cut in block))
    right = tuple(row for row in inside if all(ranks[row] > cut for cut in block))
    return left, right


def relaxed_costs(
    columns: Sequence[Sequence[int]],
    blocks: Sequence[Sequence[Block]],
    cost: Callable[[Rows], Any],
    max_size: int,
    max_depth: int,
) -> list[Any]:
    """The least cost of a relaxed tree of each size; `cost` is that of some rows as a leaf."""

    @cache
    def least(inside: Rows, size: int, depth: int) -> Any:
        best = cost(inside)
        if size == 0 or depth == 0:
            return best
        for ranks, column in zip(columns, blocks, strict=True):
            for block in column:  # also those that leave a side empty
                left, right = divided(ranks, block, inside)
                for part in range(size):
                    low = least(left, part, depth - 1)
                    best = min(best, low + least(right, size - 1 - part, depth - 1))
        return best

    everything = tuple(range(len(columns[0])))
    return [least(everything, size, max_depth) for size in range(max_size + 1)]


def covered(ranks: Sequence[int], column: Sequence[Block]) -> bool:
    """Whether every cut between two ranks is in a block."""
    return set(range(min(ranks), max(ranks))) <= {cut for block in column for cut in block}
