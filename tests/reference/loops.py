"""The paper's loops TopDown and BestFirst, and ID3, recomputing everything at every iteration.

`paper_topdown` and `paper_best_first` transcribe the figures "TopDown algorithm" (Preliminaries)
and "BestFirst algorithm" (supplement) line by line; `id3` is ID3 by recursion. `grow` is the loop
of any rule: a function of a leaf's reach, of the largest gain of its splits, and of a number that
says when the leaf was born. What the paper leaves open: an impure leaf may be split at zero gain;
when no leaf can be split, growth stops and later sizes repeat the last tree; leaves are scanned in
creation order (low child before high child), variables in declared order.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from itertools import count, islice

from .impurity import MANY_DIGITS, as_decimal
from .lookahead import lookahead_splits
from .splits import Path, candidates, gain, is_tied, leaves_after, split_leaf, without_noise
from .table import Table, Tree, majority_label, reach, tree_impurity, tree_size

Priority = Callable[[Decimal, Decimal, int], Decimal]

PRIORITIES: dict[str, Priority] = {
    "topdown": lambda reach, gain, born: reach * gain,
    "bestfirst": lambda reach, gain, born: gain,
    "id3": lambda reach, gain, born: Decimal(born),
    "lookahead": lambda reach, gain, born: reach * gain,
}


def ahead(rule: str) -> int:
    """The depth of the subtrees that a rule looks at, by default."""
    return 2 if rule == "lookahead" else 1


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
    table: Table, priority: Priority, max_size: int, criterion: str = "entropy", ties: str = "last",
    depth: int = 1,
) -> list[Tree]:  # fmt: skip
    """One tree per size from 0 to max_size; `priority` says which leaf is split next.

    `depth` is that of the subtrees whose drop is a split's gain; above 1 TopDown chooses.
    """
    if depth > 1:
        found = lookahead_splits(table, depth, criterion, ties)
        chosen = ((leaf, name) for leaf, name, _ in found)
    else:
        chosen = splits(table, priority, criterion, ties)
    trees: list[Tree] = [majority_label(table, {})]
    for leaf, name in islice(chosen, max_size):
        trees.append(split_leaf(table, trees[-1], leaf, name))
    missing = max_size + 1 - len(trees)
    return trees + [trees[-1]] * missing


def splits(
    table: Table, priority: Priority, criterion: str, ties: str
) -> Iterator[tuple[Path, str]]:
    """The splits in order, until no leaf can be split.

    Of the two leaves that a split makes, the low one counts as the younger.
    """
    leaves: list[Path] = [()]
    born = {(): 0}
    for step in count(1):
        gains = {leaf: gains_at(table, leaf, criterion) for leaf in leaves}
        with localcontext(MANY_DIGITS):
            priorities = {
                leaf: priority(
                    as_decimal(reach(table, dict(leaf))), max(gains[leaf].values()), born[leaf]
                )
                for leaf in leaves
                if gains[leaf]
            }
        if not priorities:
            return
        leaf = choose_leaf(table, priorities, ties)
        name = largest(gains[leaf])[0 if ties == "first" else -1]
        yield leaf, name
        leaves = leaves_after(leaves, leaf, name)
        born |= {(*leaf, (name, 0)): 2 * step + 1, (*leaf, (name, 1)): 2 * step}


def id3(table: Table, leaf: Path, criterion: str, ties: str) -> Iterator[tuple[Path, str]]:
    """The splits of ID3 below a leaf in order: depth first, low child before high child."""
    gains = gains_at(table, leaf, criterion)
    if not gains:
        return
    name = largest(gains)[0 if ties == "first" else -1]
    yield leaf, name
    yield from id3(table, (*leaf, (name, 0)), criterion, ties)
    yield from id3(table, (*leaf, (name, 1)), criterion, ties)


def gains_at(table: Table, leaf: Path, criterion: str) -> dict[str, Decimal]:
    """The gain of every variable that may split the leaf, in declared order."""
    return {name: gain(table, leaf, name, criterion) for name in candidates(table, leaf)}


def largest(values: dict) -> list:
    """The keys of the largest value and of all that tie with it, in order."""
    best = max(values.values())
    return [key for key, value in values.items() if is_tied(value, best)]


def choose_leaf(table: Table, priorities: dict[Path, Decimal], ties: str) -> Path:
    """The leaf of largest priority; `priorities` is in the order of the scan."""
    tied = largest(priorities)
    if ties == "first":
        return tied[0]
    if ties == "last":
        return tied[-1]
    if ties in ("heaviest", "lightest"):
        sign = 1 if ties == "heaviest" else -1
        return largest({leaf: sign * as_decimal(reach(table, dict(leaf))) for leaf in tied})[-1]
    raise ValueError(f"ties must be last, first, heaviest or lightest; it is {ties}")
