"""Functions under product distributions: chances, influences, trees by influence, staircases.

Labels are tuples; bit i of a row number is variable i. A leaf is a tuple with 0, 1 or None for each
variable, None where it is free. Trees are enumerated, leaves are lists, numbers are Fractions.
"""

from fractions import Fraction
from itertools import product
from math import prod

from .functions import Labels, product_table
from .splits import gain, is_tied

Biases = tuple[Fraction, ...]
Leaf = tuple[int | None, ...]


def chance(row: int, biases: Biases) -> Fraction:
    """P[x = row]."""
    return prod(
        (bias if row >> place & 1 else 1 - bias for place, bias in enumerate(biases)),
        start=Fraction(1),
    )


def rows_of(leaf: Leaf) -> list[int]:
    """The rows that reach a leaf."""
    return [
        row
        for row in range(2 ** len(leaf))
        if all(value in (None, row >> place & 1) for place, value in enumerate(leaf))
    ]


def mass(labels: Labels, biases: Biases, leaf: Leaf, label: int) -> Fraction:
    """P[x reaches the leaf and has the label]."""
    found = [chance(row, biases) for row in rows_of(leaf) if labels[row] == label]
    return sum(found, start=Fraction(0))


def leaf_error(labels: Labels, biases: Biases, leaf: Leaf) -> Fraction:
    return min(mass(labels, biases, leaf, 0), mass(labels, biases, leaf, 1))


def children(leaf: Leaf, variable: int) -> list[Leaf]:
    return [(*leaf[:variable], value, *leaf[variable + 1 :]) for value in (0, 1)]


def influence(labels: Labels, biases: Biases, leaf: Leaf, variable: int) -> Fraction:
    """P[x reaches the leaf, and a flip of the variable changes the label]."""
    changed = [row for row in rows_of(leaf) if labels[row] != labels[row ^ 1 << variable]]
    return sum((chance(row, biases) for row in changed), start=Fraction(0))


def influence_curve(labels: Labels, biases: Biases, redrawn: bool) -> list[Fraction]:
    """Errors by size of the tree that splits where most influence is.

    Of equal scores the first variable counts, and of leaves that with 0, 1 and free in this order
    in the last place where they differ.
    """
    leaves: list[Leaf] = [(None,) * len(biases)]
    errors = [leaf_error(labels, biases, leaves[0])]
    while True:
        offers = []
        for leaf in leaves:
            for variable, value in enumerate(leaf):
                if value is None:
                    bias = biases[variable]
                    scale = 2 * bias * (1 - bias) if redrawn else 1
                    score = scale * influence(labels, biases, leaf, variable)
                    place = [2 if each is None else each for each in reversed(leaf)]
                    offers.append((-score, place, variable, leaf))
        if not offers or min(offers)[0] == 0:
            return errors
        _, _, variable, leaf = min(offers)
        leaves = [*(each for each in leaves if each != leaf), *children(leaf, variable)]
        errors.append(sum((leaf_error(labels, biases, each) for each in leaves), start=Fraction(0)))


def depths(labels: Labels, biases: Biases, leaf: Leaf | None = None) -> set[tuple[int, Fraction]]:
    """Depth and average depth, times the leaf's chance, of every tree without error."""
    leaf = leaf or (None,) * len(biases)
    if len({labels[row] for row in rows_of(leaf)}) == 1:
        return {(0, Fraction(0))}
    reach = sum((chance(row, biases) for row in rows_of(leaf)), start=Fraction(0))
    found = set()
    for variable, value in enumerate(leaf):
        if value is None:
            both = (depths(labels, biases, child) for child in children(leaf, variable))
            for low, high in product(*both):
                found.add((1 + max(low[0], high[0]), reach + low[1] + high[1]))
    return found


def best_variables(labels: Labels, biases: Biases, criterion: str) -> list[int]:
    """The variables of largest gain."""
    table = product_table(labels, biases)
    gains = [gain(table, (), name, criterion) for name in table.names]
    return [place for place, each in enumerate(gains) if is_tied(each, max(gains))]


def halves(labels: Labels, biases: Biases, variable: int) -> list[tuple[Labels, Biases]]:
    others = biases[:variable] + biases[variable + 1 :]
    return [
        (tuple(y for row, y in enumerate(labels) if row >> variable & 1 == value), others)
        for value in (0, 1)
    ]


def greedy_heights(labels: Labels, biases: Biases, criterion: str) -> set[int]:
    """Of all greedy trees without error, over choices of ties."""
    if len(set(labels)) == 1:
        return {0}
    found = set()
    for variable in best_variables(labels, biases, criterion):
        below = (greedy_heights(*half, criterion) for half in halves(labels, biases, variable))
        found |= {1 + max(pair) for pair in product(*below)}
    return found


def greedy_errors(labels: Labels, biases: Biases, depth: int, criterion: str) -> set[Fraction]:
    """Of all greedy trees of a depth, over choices of ties."""
    leaf = (None,) * len(biases)
    if depth == 0 or len(set(labels)) == 1:
        return {leaf_error(labels, biases, leaf)}
    found = set()
    for variable in best_variables(labels, biases, criterion):
        low, high = (
            greedy_errors(*half, depth - 1, criterion) for half in halves(labels, biases, variable)
        )
        bias = biases[variable]
        found |= {(1 - bias) * one + bias * other for one, other in product(low, high)}
    return found


def is_merged_staircase(labels: Labels) -> bool:
    """Whether some order of the spectrum's sets adds at most one new variable at a time."""
    rows = range(len(labels))
    sets = {
        frozenset(place for place in range(len(labels).bit_length() - 1) if number >> place & 1)
        for number in rows
        if sum((-1) ** (labels[row] + (row & number).bit_count()) for row in rows)
    }
    reached, waiting = set(), [frozenset()]
    while waiting:
        known = waiting.pop()
        if known not in reached:
            reached.add(known)
            waiting += [known | each for each in sets if len(each - known) <= 1]
    return any(all(each <= known for each in sets) for known in reached)
