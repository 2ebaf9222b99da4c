"""The least error of any tree on weighted rows of any number of classes, by trying every tree.

A row is a tuple of 0 and 1; a weight is an integer, or a float whose sums are exact. No minimum is
taken before the end: for each number of splits the errors of all trees are collected, and only then
the least is looked for.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement


def leaf_error(labels: Sequence[int], weights: Sequence[float]) -> float:
    """The weight of all rows but those of the heaviest class."""
    votes: dict[int, float] = {}
    for label, weight in zip(labels, weights, strict=True):
        votes[label] = votes.get(label, 0) + weight
    return sum(votes.values()) - max(votes.values(), default=0)


def sample_least_errors(
    rows: Sequence[Sequence[int]],
    labels: Sequence[int],
    weights: Sequence[float],
    max_size: int,
    max_depth: int | None = None,
) -> list[Fraction]:
    """The least share of the weight labelled wrongly, by size from 0 to max_size."""
    literals = range(len(rows[0]))

    @cache
    def errors(inside: tuple[int, ...], size: int, depth: int) -> frozenset[float]:
        """Of every tree with exactly ``size`` splits and at most ``depth`` tests on a path."""
        if size == 0:
            labelled = [labels[row] for row in inside]
            return frozenset([leaf_error(labelled, [weights[row] for row in inside])])
        if depth == 0:
            return frozenset()
        found = set()
        for literal in literals:
            low = tuple(row for row in inside if not rows[row][literal])
            high = tuple(row for row in inside if rows[row][literal])
            if not low or not high:  # splits nothing: the same as a smaller tree
                continue
            for low_size in range(size):
                for low_error in errors(low, low_size, depth - 1):
                    for high_error in errors(high, size - 1 - low_size, depth - 1):
                        found.add(low_error + high_error)
        return frozenset(found)

    total = Fraction(sum(weights))
    everything = tuple(range(len(rows)))
    depth = max_size if max_depth is None else max_depth
    least: list[Fraction] = []
    for size in range(max_size + 1):
        attained = errors(everything, size, depth)
        least.append(min([*least[-1:], *(Fraction(error) / total for error in attained)]))
    return least


def lightest_leaf(masses: Sequence[int], leaves: int) -> int:
    """The most that every leaf can label right, over all ways to label so many leaves."""
    ways = combinations_with_replacement(range(len(masses)), leaves)
    return max(min(masses[label] // labels.count(label) for label in labels) for labels in ways)
