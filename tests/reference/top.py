"""The least errors of trees whose nodes test only splits of largest gain, by trying every tree.

A node may test a split whose gain ties with or exceeds the k-th largest at the node; splits of gain
zero count too. Splits that divide the inputs at the node into the same two sets count once, and
inputs of probability 0 belong to neither. For k = 1 there is a second way: grow every greedy tree,
and prune it in every way.
"""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product

from .enumerate_trees import Structure, leaf_paths
from .learner import gain as gain_of_masses
from .splits import Path, candidates, gain, is_tied
from .table import Table, matching_rows, positive_reach, reach


def best(gains: dict, sides: dict, top: int) -> list:
    """The keys whose gain ties with or exceeds the gain number `top` of different pairs of sides.

    `sides` has the two sets of inputs of each key, in either order.
    """
    once: dict[frozenset, Decimal] = {}
    for key, value in gains.items():
        pair = frozenset(map(frozenset, sides[key]))
        once[pair] = max(value, once.get(pair, value))
    if len(once) <= top:
        return list(gains)
    least = sorted(once.values(), reverse=True)[top - 1]
    return [key for key, value in gains.items() if value >= least or is_tied(value, least)]


def sides_of(table: Table, leaf: Path, name: str) -> tuple[list[int], list[int]]:
    """The inputs at a leaf that occur, by their value of a variable."""
    low, high = (
        [row for row in matching_rows(table, {**dict(leaf), name: value}) if table.weights[row] > 0]
        for value in (0, 1)
    )
    return low, high


def allowed(table: Table, leaf: Path, top: int, criterion: str) -> list[str]:
    """The variables that a node may test."""
    names = candidates(table, leaf)
    gains = {name: gain(table, leaf, name, criterion) for name in names}
    return best(gains, {name: sides_of(table, leaf, name) for name in names}, top)


def allowed_trees(table: Table, leaf: Path, top: int, criterion: str) -> Iterator[Structure]:
    """Every tree of allowed tests below a leaf, the lone leaf among them."""
    yield None
    for name in allowed(table, leaf, top, criterion):
        sides = (
            list(allowed_trees(table, (*leaf, (name, value)), top, criterion)) for value in (0, 1)
        )
        yield from ((name, low, high) for low, high in product(*sides))


def greedy_trees(table: Table, leaf: Path, criterion: str) -> Iterator[Structure]:
    """Every tree that a greedy rule can grow until all leaves are pure, over all ties."""
    names = allowed(table, leaf, 1, criterion)
    if not names:
        yield None
    for name in names:
        sides = (list(greedy_trees(table, (*leaf, (name, value)), criterion)) for value in (0, 1))
        yield from ((name, low, high) for low, high in product(*sides))


def prunings(tree: Structure) -> Iterator[Structure]:
    """Every tree that is left when some nodes are made leaves."""
    yield None
    if tree is not None:
        name, low, high = tree
        yield from ((name, *sides) for sides in product(prunings(low), list(prunings(high))))


def least_of(table: Table, trees: Iterator[Structure], max_size: int) -> list[Fraction]:
    """The least error of any of the trees with at most `size` splits, by size."""
    errors = [Fraction(1)] * (max_size + 1)
    for tree in trees:
        paths = [dict(path) for path in leaf_paths(tree)]
        size = len(paths) - 1
        if size <= max_size:
            error = Fraction(0)
            for path in paths:
                positive = positive_reach(table, path)
                error += min(positive, reach(table, path) - positive)
            errors[size] = min(errors[size], error)
    return [min(errors[: size + 1]) for size in range(max_size + 1)]


def least_by_recursion(table: Table, top: int, criterion: str, max_size: int) -> list[Fraction]:
    """The same without listing trees: leaf by leaf, the best of all sizes of both sides."""

    @cache
    def errors(leaf: frozenset) -> list[Fraction]:
        """By size, within the leaf."""
        path = tuple(sorted(leaf))
        positive = positive_reach(table, dict(path))
        found = [min(positive, reach(table, dict(path)) - positive)] * (max_size + 1)
        for name in allowed(table, path, top, criterion):
            low, high = (errors(leaf | {(name, value)}) for value in (0, 1))
            for size in range(1, max_size + 1):
                for one in range(size):
                    found[size] = min(found[size], low[one] + high[size - 1 - one])
        return found

    return errors(frozenset())


def sample_top_errors(
    rows: list, labels: list, weights: list, top: int, criterion: str, max_size: int
) -> list[Fraction]:
    """The same for weighted rows of 0 and 1 of any number of classes."""
    classes = range(max(labels) + 1)
    masses = lambda inside: tuple(  # noqa: E731
        sum(Fraction(weights[r]) for r in inside if labels[r] == c) for c in classes
    )

    def errors(inside: tuple) -> set[tuple[int, Fraction]]:
        """Size and error of every tree of allowed tests."""
        mass = masses(inside)
        found = {(0, sum(mass) - max(mass))}
        sides, gains = {}, {}
        if sum(part > 0 for part in mass) < 2:
            return found
        for literal in range(len(rows[0])):
            low = tuple(r for r in inside if not rows[r][literal])
            high = tuple(r for r in inside if rows[r][literal])
            if low and high:
                sides[literal] = (low, high)
                gains[literal] = gain_of_masses(masses(low), masses(high), criterion)
        for literal in best(gains, sides, top):
            low, high = map(errors, sides[literal])
            for (one, wrong), (other, too) in product(low, high):
                if one + other < max_size:
                    found.add((1 + one + other, wrong + too))
        return found

    pairs = errors(tuple(range(len(rows))))
    total = sum(map(Fraction, weights))
    return [min(e for s, e in pairs if s <= size) / total for size in range(max_size + 1)]
