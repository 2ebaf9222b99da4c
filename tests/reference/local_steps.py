"""Steps of a local search over trees, by trying everything.

Columns are ranks. What rows cost as a leaf is a function of a tuple of rows. Trees are None for a
leaf, or ((column, rank), below, above): rows of at most this rank go below.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

Rows = tuple[int, ...]
Cost = Callable[[Rows], Fraction]
Columns = Sequence[Sequence[int]]


def errors(labels: Sequence[int], weights: Sequence[int]) -> Cost:
    """The weight of all classes but the heaviest."""

    def cost(inside: Rows) -> Fraction:
        votes: dict[int, int] = {}
        for row in inside:
            votes[labels[row]] = votes.get(labels[row], 0) + weights[row]
        return Fraction(sum(votes.values()) - max(votes.values(), default=0))

    return cost


def least_action(costs: Sequence[Sequence[int]]) -> Cost:
    """The cost of the cheapest action."""

    def cost(inside: Rows) -> Fraction:
        return Fraction(min(sum(costs[row][a] for row in inside) for a in range(len(costs[0]))))

    return cost


def squared(labels: Sequence[Fraction], weights: Sequence[int]) -> Cost:
    """The sum of squares of the distances from the mean."""

    def cost(inside: Rows) -> Fraction:
        mass = sum(weights[row] for row in inside)
        total = sum((weights[row] * labels[row] for row in inside), Fraction(0))
        squares = sum((weights[row] * labels[row] ** 2 for row in inside), Fraction(0))
        return squares - total**2 / mass if mass else Fraction(0)

    return cost


def tests(columns: Columns, inside: Rows) -> Iterator[tuple[int, int]]:
    """All tests that divide some rows."""
    for column, ranks in enumerate(columns):
        for rank in sorted({ranks[row] for row in inside})[:-1]:
            yield column, rank


def sides(columns: Columns, test: tuple[int, int], inside: Rows) -> tuple[Rows, Rows]:
    column, rank = test
    below = tuple(row for row in inside if columns[column][row] <= rank)
    return below, tuple(row for row in inside if columns[column][row] > rank)


def tree_cost(columns: Columns, tree: Any, inside: Rows, cost: Cost) -> Fraction:
    """What a tree costs whose leaves have their best labels."""
    if tree is None:
        return cost(inside)
    test, low, high = tree
    below, above = sides(columns, test, inside)
    return tree_cost(columns, low, below, cost) + tree_cost(columns, high, above, cost)


def best_move(columns: Columns, tree: Any, inside: Rows, cost: Cost) -> Fraction:
    """The least cost if the root has any test, and its subtrees may change sides."""
    _, low, high = tree
    ways = [(test, *pair) for test in tests(columns, inside) for pair in ((low, high), (high, low))]
    return min(tree_cost(columns, way, inside, cost) for way in [tree, *ways])


def few_splits(columns: Columns, inside: Rows, cost: Cost) -> list[Fraction]:
    """The least costs with 0, 1, 2 and 3 splits and depth 2."""

    def one(rows: Rows) -> Fraction:
        found = (sides(columns, test, rows) for test in tests(columns, rows))
        return min([cost(rows), *(cost(below) + cost(above) for below, above in found)])

    least = [cost(inside)] * 4
    for test in tests(columns, inside):
        below, above = sides(columns, test, inside)
        least[1] = min(least[1], cost(below) + cost(above))
        least[2] = min(least[2], one(below) + cost(above), cost(below) + one(above))
        least[3] = min(least[3], one(below) + one(above))
    return [min(least[: size + 1]) for size in range(4)]
