"""OPT(D, t) of the section "Mean Iteration Statistical Consistency", by trying every tree.

No dynamic programming: each tree structure is built and its error added up leaf by leaf.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from .table import Restriction, Table, Tree, majority_label, positive_reach, reach

Structure = None | tuple[str, "Structure", "Structure"]  # a tree whose leaves are not labelled yet


def all_trees(names: tuple[str, ...], size: int) -> Iterator[Structure]:
    """Every tree with exactly `size` splits that tests no variable twice on a path."""
    if size == 0:
        yield None
        return
    for name in names:
        others = tuple(other for other in names if other != name)
        for low_size in range(size):
            for low in all_trees(others, low_size):
                for high in all_trees(others, size - 1 - low_size):
                    yield (name, low, high)


def label_leaves(
    table: Table, structure: Structure, restriction: Restriction | None = None
) -> Tree:
    """Put the majority label at every leaf."""
    restriction = restriction or {}
    if structure is None:
        return majority_label(table, restriction)
    name, low, high = structure
    return (
        name,
        label_leaves(table, low, {**restriction, name: 0}),
        label_leaves(table, high, {**restriction, name: 1}),
    )


def merge_leaves(tree: Tree) -> Tree:
    """Replace one split between two equal labels by the label, as long as there is one."""
    if isinstance(tree, int):
        return tree
    name, low, high = tree
    if isinstance(low, int) and isinstance(high, int):
        return low if low == high else tree
    smaller = (name, merge_leaves(low), merge_leaves(high))
    return tree if smaller == tree else merge_leaves(smaller)


def leaf_paths(
    structure: Structure, path: frozenset[tuple[str, int]] = frozenset()
) -> Iterator[frozenset[tuple[str, int]]]:
    """The tests that lead to each leaf, from left to right."""
    if structure is None:
        yield path
        return
    name, low, high = structure
    yield from leaf_paths(low, path | {(name, 0)})
    yield from leaf_paths(high, path | {(name, 1)})


def least_errors(table: Table, max_size: int) -> list[Fraction]:
    """The least error of any tree with at most `size` splits, for each size from 0 to max_size."""

    @cache  # many trees share a leaf; its error depends on nothing but its restriction
    def leaf_error(path: frozenset[tuple[str, int]]) -> Fraction:
        positive = positive_reach(table, dict(path))
        negative = reach(table, dict(path)) - positive
        return min(positive, negative)

    errors: list[Fraction] = []
    for size in range(max_size + 1):
        smaller = errors[-1:]  # a tree with at most `size` splits may have fewer
        exactly = (
            sum((leaf_error(path) for path in leaf_paths(structure)), Fraction(0))
            for structure in all_trees(table.names, size)
        )
        errors.append(min([*smaller, *exactly]))
    return errors
