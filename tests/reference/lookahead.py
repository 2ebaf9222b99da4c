"""Lookahead, by trying every subtree of a depth at every leaf.

A root test's drop with subtrees of a depth is the largest of all those that begin with it. Tests
that tie at the full depth are compared at the next smaller one, and so on down to their own gain.
"""

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from .enumerate_trees import Structure
from .impurity import IMPURITIES, MANY_DIGITS, as_decimal
from .splits import Path, candidates, is_tied, without_noise
from .table import Restriction, Table, positive_reach, reach


def subtrees(names: tuple[str, ...], depth: int) -> Iterator[Structure]:
    """Every tree with at most so many tests on a path, no variable twice on one."""
    yield None
    if depth == 0:
        return
    for name in names:
        others = tuple(other for other in names if other != name)
        for low in subtrees(others, depth - 1):
            for high in subtrees(others, depth - 1):
                yield (name, low, high)


@cache
def impurity_of(rate: Fraction, criterion: str) -> Decimal:
    return IMPURITIES[criterion](rate)


def left_over(table: Table, leaf: Restriction, tree: Structure, criterion: str) -> Decimal:
    """The impurity below a leaf that bears a subtree, times the leaf's reach."""
    with localcontext(MANY_DIGITS):
        if tree is not None:
            name, low, high = tree
            return left_over(table, {**leaf, name: 0}, low, criterion) + left_over(
                table, {**leaf, name: 1}, high, criterion
            )
        mass = reach(table, leaf)
        if mass == 0:
            return Decimal(0)
        return as_decimal(mass) * impurity_of(positive_reach(table, leaf) / mass, criterion)


def drops(table: Table, leaf: Path, depth: int, criterion: str) -> dict[str, Decimal]:
    """The largest drop by each root test, not weighted by reach."""
    found: dict[str, Decimal] = {}
    names = tuple(name for name in table.names if name not in dict(leaf))
    before = left_over(table, dict(leaf), None, criterion)
    for tree in subtrees(names, depth):
        if tree is None or tree[0] not in candidates(table, leaf):
            continue
        with localcontext(MANY_DIGITS):
            after = left_over(table, dict(leaf), tree, criterion)
            drop = without_noise(before - after) / as_decimal(reach(table, dict(leaf)))
        found[tree[0]] = max(drop, found.get(tree[0], drop))
    return found


def best_tests(
    table: Table, leaf: Path, depth: int, criterion: str
) -> tuple[Decimal | None, list[str]]:
    """The largest drop at a leaf, and the root tests that bring it."""
    names = candidates(table, leaf)
    if not names:
        return None, []
    largest = max(drops(table, leaf, depth, criterion).values())
    for level in range(depth, 0, -1):
        by_test = drops(table, leaf, level, criterion)
        best = max(by_test[name] for name in names)
        names = [name for name in names if is_tied(by_test[name], best)]
    return largest, names


def lookahead_splits(
    table: Table, depth: int, criterion: str, ties: str
) -> Iterator[tuple[Path, str, Decimal]]:
    """The splits in order, each with its drop, until no leaf can be split."""
    offers = {(): best_tests(table, (), depth, criterion)}  # by leaf, in order of creation
    while True:
        with localcontext(MANY_DIGITS):
            urgency = {
                leaf: as_decimal(reach(table, dict(leaf))) * largest
                for leaf, (largest, _) in offers.items()
                if largest is not None
            }
        if not urgency:
            return
        tied = [leaf for leaf in urgency if is_tied(urgency[leaf], max(urgency.values()))]
        if ties in ("heaviest", "lightest"):
            masses = [reach(table, dict(leaf)) for leaf in tied]
            wanted = max(masses) if ties == "heaviest" else min(masses)
            alike = [is_tied(as_decimal(mass), as_decimal(wanted)) for mass in masses]
            tied = [leaf for leaf, same in zip(tied, alike, strict=True) if same]
        leaf = tied[0 if ties == "first" else -1]
        largest, names = offers.pop(leaf)
        assert largest is not None
        name = names[0 if ties == "first" else -1]
        yield leaf, name, largest
        for value in (0, 1):
            child = (*leaf, (name, value))
            offers[child] = best_tests(table, child, depth, criterion)
