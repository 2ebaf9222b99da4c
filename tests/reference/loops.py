"""The paper's loops TopDown and BestFirst, and ID3, recomputing everything at every iteration.

`paper_topdown` and `paper_best_first` transcribe the figures "TopDown algorithm" (Preliminaries)
and "BestFirst algorithm" (supplement) line by line. `grow` writes them a second time, with other
impurities and ties, and adds ID3. What the paper leaves open: an impure leaf may be split at zero
gain; when no leaf can be split, growth stops and later sizes repeat the last tree; leaves are
scanned in creation order (low child before high child), variables in declared order.
"""

from collections.abc import Iterator
from decimal import Decimal, localcontext
from itertools import islice

from .impurity import MANY_DIGITS, as_decimal
from .lookahead import lookahead_splits
from .splits import Path, candidates, gain, is_tied, leaves_after, split_leaf, without_noise
from .table import Table, Tree, majority_label, reach, tree_impurity, tree_size


def paper_topdown(table: Table, size: int) -> Tree:
    """The paper's TopDown_D(t), line by line."""
    tree: Tree = majority_label(table, {})
    leaves: list[Path] = [()]
    while tree_size(tree) < size:
        best_delta, best = Decimal(0), None
        for leaf in leaves:
            for name in candidates(table, leaf):
                after = split_leaf(table, tree, leaf, name)
                with localcontext(MANY_DIGITS):
                    delta = without_noise(tree_impurity(table, tree) - tree_impurity(table, after))
                if delta > best_delta or is_tied(delta, best_delta):  # the paper's >=
                    best_delta, best = delta, (leaf, name)
        if best is None:
            return tree
        tree, leaves = split_leaf(table, tree, *best), leaves_after(leaves, *best)
    return tree


def paper_best_first(table: Table, size: int) -> Tree:
    """The paper's BestFirst_D(t), line by line."""
    tree: Tree = majority_label(table, {})
    leaves: list[Path] = [()]
    while tree_size(tree) < size:
        best_delta, best = Decimal(0), None
        for leaf in leaves:
            for name in candidates(table, leaf):
                delta = gain(table, leaf, name)
                if delta > best_delta or is_tied(delta, best_delta):  # the paper's >=
                    best_delta, best = delta, (leaf, name)
        if best is None:
            return tree
        tree, leaves = split_leaf(table, tree, *best), leaves_after(leaves, *best)
    return tree


def grow(
    table: Table, rule: str, max_size: int, criterion: str = "entropy", ties: str = "last"
) -> list[Tree]:
    """One tree per size from 0 to max_size, grown by "topdown", "bestfirst", "id3", "lookahead"."""
    if rule == "id3":
        splits = id3_splits(table, (), criterion, ties)
    elif rule == "lookahead":
        found = lookahead_splits(table, 2, criterion, ties)
        splits = ((leaf, name) for leaf, name, _ in found)
    else:
        splits = greedy_splits(table, rule, criterion, ties)
    trees: list[Tree] = [majority_label(table, {})]
    for leaf, name in islice(splits, max_size):
        trees.append(split_leaf(table, trees[-1], leaf, name))
    missing = max_size + 1 - len(trees)
    return trees + [trees[-1]] * missing


def greedy_splits(table: Table, rule: str, criterion: str, ties: str) -> Iterator[tuple[Path, str]]:
    """The splits of TopDown or BestFirst in order, until no leaf can be split."""
    leaves: list[Path] = [()]
    while True:
        priorities = {
            (leaf, name): priority(table, rule, leaf, name, criterion)
            for leaf in leaves
            for name in candidates(table, leaf)
        }
        if not priorities:
            return
        leaf, name = choose(table, priorities, ties)
        yield leaf, name
        leaves = leaves_after(leaves, leaf, name)


def priority(table: Table, rule: str, leaf: Path, name: str, criterion: str) -> Decimal:
    """What the rule maximises over all leaves and variables."""
    if rule == "bestfirst":
        return gain(table, leaf, name, criterion)
    if rule == "topdown":
        with localcontext(MANY_DIGITS):
            return as_decimal(reach(table, dict(leaf))) * gain(table, leaf, name, criterion)
    raise ValueError(f"rule must be topdown, bestfirst or id3; it is {rule}")


def id3_splits(table: Table, leaf: Path, criterion: str, ties: str) -> Iterator[tuple[Path, str]]:
    """The splits of ID3 below a leaf in order: depth first, low child before high child."""
    gains = {(leaf, name): gain(table, leaf, name, criterion) for name in candidates(table, leaf)}
    if not gains:
        return
    _, name = choose(table, gains, ties)
    yield leaf, name
    yield from id3_splits(table, (*leaf, (name, 0)), criterion, ties)
    yield from id3_splits(table, (*leaf, (name, 1)), criterion, ties)


def choose(
    table: Table, priorities: dict[tuple[Path, str], Decimal], ties: str
) -> tuple[Path, str]:
    """The leaf and variable of largest priority; `priorities` is in the order of the scan."""
    best = max(priorities.values())
    tied = [pair for pair, value in priorities.items() if is_tied(value, best)]
    reaches = [reach(table, dict(leaf)) for leaf, _ in tied]
    if ties == "first":
        return tied[0]
    if ties == "last":
        return tied[-1]
    if ties in ("heaviest", "lightest"):
        wanted = as_decimal(max(reaches) if ties == "heaviest" else min(reaches))
        alike = [is_tied(as_decimal(mass), wanted) for mass in reaches]
        return [pair for pair, same in zip(tied, alike, strict=True) if same][-1]
    raise ValueError(f"ties must be last, first, heaviest or lightest; it is {ties}")
