"""Squared error on tables: a leaf predicts P[y = 1], and what is left is the variance of the label.

Trees are built one by one and their error is added up row by row, each row with both its labels.
"""

from fractions import Fraction
from functools import cache
from typing import Any

from .enumerate_trees import Structure, all_trees, leaf_paths
from .table import Restriction, Table, positive_reach, reach


def put_means(table: Table, tree: Any, restriction: Restriction | None = None) -> Any:
    """A tree, whatever its labels, with the mean label at every leaf; 0 where nothing arrives."""
    restriction = restriction or {}
    if not isinstance(tree, tuple):
        mass = reach(table, restriction)
        return positive_reach(table, restriction) / mass if mass else Fraction(0)
    name, low, high = tree
    return (
        name,
        put_means(table, low, {**restriction, name: 0}),
        put_means(table, high, {**restriction, name: 1}),
    )


def squared_error(table: Table, tree: Any) -> Fraction:
    """The mean of (y - prediction)**2 for any numbers at the leaves."""
    total = Fraction(0)
    for row, (rate, weight) in enumerate(zip(table.labels, table.weights, strict=True)):
        values, node = table.assignment(row), tree
        while isinstance(node, tuple):
            node = node[2] if values[node[0]] else node[1]
        prediction = Fraction(node)
        total += weight * (rate * (1 - prediction) ** 2 + (1 - rate) * prediction**2)
    return total


def least_squared_errors(table: Table, max_size: int) -> list[Fraction]:
    """The least squared error of any tree with at most ``size`` splits, by size."""

    @cache
    def error(structure: Structure) -> Fraction:
        return squared_error(table, put_means(table, structure))

    best: list[Fraction] = []
    for size in range(max_size + 1):
        best.append(min([*best[-1:], *(error(tree) for tree in all_trees(table.names, size))]))
    return best


def variances(table: Table, structure: Structure) -> Fraction:
    """The same error, as the sum of p(l) q(l) (1 - q(l)) over the leaves."""
    total = Fraction(0)
    for path in leaf_paths(structure):
        mass, positive = reach(table, dict(path)), positive_reach(table, dict(path))
        total += positive * (mass - positive) / mass if mass else 0
    return total
