"""The least error of any tree over ordered columns, by the recurrence as it stands.

No bounds: every threshold of every column, every way to share the splits. Row sets that come up
again are not solved again.
"""

from collections.abc import Sequence
from functools import cache


def ordered_least_errors(
    columns: Sequence[Sequence[int]],
    labels: Sequence[int],
    weights: Sequence[int],
    max_size: int,
    max_depth: int | None = None,
) -> list[int]:
    """The least weight labelled wrongly, by size from 0 to max_size; a column is its ranks."""

    @cache
    def least(inside: tuple[int, ...], size: int, depth: int) -> int:
        votes: dict[int, int] = {}
        for row in inside:
            votes[labels[row]] = votes.get(labels[row], 0) + weights[row]
        best = sum(votes.values()) - max(votes.values())
        if size == 0 or depth == 0:
            return best
        for column in columns:
            for rank in sorted({column[row] for row in inside})[:-1]:
                low = tuple(row for row in inside if column[row] <= rank)
                high = tuple(row for row in inside if column[row] > rank)
                for low_size in range(size):
                    error = least(low, low_size, depth - 1)
                    best = min(best, error + least(high, size - 1 - low_size, depth - 1))
        return best

    everything = tuple(range(len(labels)))
    depth = max_size if max_depth is None else max_depth
    return [least(everything, size, depth) for size in range(max_size + 1)]
