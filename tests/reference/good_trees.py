"""All trees one by one, as decision 13 counts them; and all ways in which random ties may fall.

A row is its values by column and its costs by action, Fractions; or its weight and its label, where
numbers are predicted and a leaf costs the squared distances from its mean. A test is a column and
the rows on its high side; two tests of a column that divide the rows of a leaf alike, complements
included, are one. A leaf that costs no more than its rows do one by one is pure and is not split.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import localcontext
from fractions import Fraction
from typing import Any, NamedTuple

from .impurity import MANY_DIGITS, as_decimal
from .loops import PRIORITIES, gains_at, largest
from .splits import Path, leaves_after
from .table import Table, reach

Rows = frozenset[int]
Grown = Any  # "leaf", or (column, low, high, the rows on both sides)


class Rowset(NamedTuple):
    """A table: by column its kind, "number" or "category"; values by row; costs by action.

    Or, where numbers are predicted, a weight and a label by row.
    """

    kinds: Sequence[str]
    values: Sequence[Sequence[Any]]
    costs: Sequence[Sequence[Fraction]]
    predicts_numbers: bool = False


def table_rows(table: Table) -> Rowset:
    """The inputs of a truth table that can occur, with the costs of labels 0 and 1."""
    rows = [row for row, weight in enumerate(table.weights) if weight > 0]
    values = [[row >> place & 1 for place in range(len(table.names))] for row in rows]
    costs = [
        [table.weights[row] * table.labels[row], table.weights[row] * (1 - table.labels[row])]
        for row in rows
    ]
    return Rowset(["category"] * len(table.names), values, costs)


def leaf_cost(rows: Rowset, inside: Rows) -> Fraction:
    """What some rows cost as a leaf."""
    if rows.predicts_numbers:
        mass = sum((rows.costs[row][0] for row in inside), Fraction(0))
        mean = sum((rows.costs[row][0] * rows.costs[row][1] for row in inside), Fraction(0)) / mass
        return sum(
            (rows.costs[row][0] * (rows.costs[row][1] - mean) ** 2 for row in inside), Fraction(0)
        )
    actions = range(len(rows.costs[0]))
    return min(sum((rows.costs[row][each] for row in inside), Fraction(0)) for each in actions)


def is_settled(rows: Rowset, inside: Rows) -> bool:
    """Whether a leaf costs no more than its rows do one by one."""
    least = (leaf_cost(rows, frozenset([row])) for row in inside)
    return leaf_cost(rows, inside) == sum(least, Fraction(0))


def divisions(rows: Rowset, inside: Rows) -> Iterator[tuple[int, Rows, Rows]]:
    """The tests that divide some rows: the column, and the rows on both sides."""
    for column, kind in enumerate(rows.kinds):
        seen = set()
        for value in sorted({rows.values[row][column] for row in inside}):
            if kind == "number":
                high = frozenset(row for row in inside if rows.values[row][column] > value)
            else:
                high = frozenset(row for row in inside if rows.values[row][column] == value)
            low = inside - high
            if high and low and frozenset([low, high]) not in seen:
                seen.add(frozenset([low, high]))
                yield column, low, high


def every_tree(rows: Rowset, size: int, inside: Rows | None = None) -> Iterator[Grown]:
    """All trees with exactly so many splits."""
    if inside is None:
        inside = frozenset(range(len(rows.values)))
    if size == 0:
        yield "leaf"
        return
    if is_settled(rows, inside):
        return
    for column, low, high in divisions(rows, inside):
        for low_size in range(size):
            for one in every_tree(rows, low_size, low):
                for other in every_tree(rows, size - 1 - low_size, high):
                    yield column, one, other, low, high


def cost_of(rows: Rowset, tree: Grown, inside: Rows | None = None) -> Fraction:
    """The cost of a tree."""
    if tree == "leaf":
        everything = frozenset(range(len(rows.values)))
        return leaf_cost(rows, everything if inside is None else inside)
    _, one, other, low, high = tree
    return cost_of(rows, one, low) + cost_of(rows, other, high)


def columns_of(tree: Grown) -> set[int]:
    """The columns that a tree tests."""
    if tree == "leaf":
        return set()
    return {tree[0]} | columns_of(tree[1]) | columns_of(tree[2])


def spectra(rows: Rowset, max_size: int) -> list[dict[Fraction, int]]:
    """The number of trees by cost, for every size."""
    found = []
    for size in range(max_size + 1):
        counts: dict[Fraction, int] = {}
        for tree in every_tree(rows, size):
            cost = cost_of(rows, tree)
            counts[cost] = counts.get(cost, 0) + 1
        found.append(counts)
    return found


def greedy_chances(
    table: Table, rule: str, is_good: Callable[[int, frozenset[Path]], bool], max_size: int
) -> list[Fraction]:
    """The chance by size that growth with random ties ends in a good tree, one tie after another.

    ``is_good`` is asked about a size and the leaves of a tree.
    """
    chances = [Fraction(0)] * (max_size + 1)

    def walk(leaves: list[Path], born: dict[Path, int], chance: Fraction, size: int) -> None:
        if is_good(size, frozenset(leaves)):
            chances[size] += chance
        if size == max_size:
            return
        gains = {leaf: gains_at(table, leaf, "entropy") for leaf in leaves}
        with localcontext(MANY_DIGITS):
            priorities = {
                leaf: PRIORITIES[rule](
                    as_decimal(reach(table, dict(leaf))), max(gains[leaf].values()), born[leaf]
                )
                for leaf in leaves
                if gains[leaf]
            }
        if not priorities:
            return
        tied = largest(priorities)
        for leaf in tied:
            names = largest(gains[leaf])
            for name in names:
                step = size + 1
                younger = {(*leaf, (name, 0)): 2 * step + 1, (*leaf, (name, 1)): 2 * step}
                part = chance / len(tied) / len(names)
                walk(leaves_after(leaves, leaf, name), born | younger, part, step)

    walk([()], {(): 0}, Fraction(1), 0)
    return chances
