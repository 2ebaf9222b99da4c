"""Boolean functions as truth tables; every question is answered by summing over all rows.

Transcribes the section "Preliminaries" of the paper: p(l), q(l), tau_i, E(T), H(T). Probabilities
are Fractions, so they are exact.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property

from .impurity import IMPURITIES, MANY_DIGITS, as_decimal

Formula = tuple[tuple[tuple[str, bool], ...], ...]  # terms of (name, positive)
Restriction = dict[str, int]  # name -> 0 or 1
Tree = int | tuple[str, "Tree", "Tree"]  # label, or (name, subtree at 0, subtree at 1)


@dataclass(frozen=True)
class Table:
    """A Boolean function and a joint distribution: bit i of a row number is variable i.

    A label is 0, 1 or, where labels are noisy, P[y = 1 given x].
    """

    names: tuple[str, ...]
    labels: tuple[int | Fraction, ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        assert len(self.labels) == len(self.weights) == 2 ** len(self.names)
        assert sum(self.weights) == 1

    @cached_property
    def scaled(self) -> tuple[list[int], list[int], int]:
        """Each row's weight, and its weight with label 1, as integers over one denominator."""
        positive = [Fraction(w * label) for w, label in zip(self.weights, self.labels, strict=True)]
        denominator = math.lcm(*(part.denominator for part in (*self.weights, *positive)))
        whole, ones = (
            [int(part * denominator) for part in kind] for kind in (self.weights, positive)
        )
        return whole, ones, denominator

    def assignment(self, row: int) -> Restriction:
        """The value of every variable in this row."""
        return {name: row >> i & 1 for i, name in enumerate(self.names)}


def formula_table(formula: Formula, biases: dict[str, Fraction], names: tuple[str, ...]) -> Table:
    """Evaluate a DNF at every assignment of `names`, the variables being independent."""
    labels, weights = [], []
    for row in range(2 ** len(names)):
        values = {name: row >> i & 1 for i, name in enumerate(names)}
        labels.append(int(any(all(values[n] == positive for n, positive in t) for t in formula)))
        weight = Fraction(1)
        for name, value in values.items():
            weight *= biases[name] if value == 1 else 1 - biases[name]
        weights.append(weight)
    return Table(names, tuple(labels), tuple(weights))


def matching_rows(table: Table, restriction: Restriction) -> list[int]:
    """The rows that agree with the restriction."""
    fixed = sum(1 << table.names.index(name) for name in restriction)
    wanted = sum(value << table.names.index(name) for name, value in restriction.items())
    return [row for row in range(len(table.labels)) if row & fixed == wanted]


def reach(table: Table, restriction: Restriction) -> Fraction:
    """The probability p(l) that x satisfies the restriction."""
    weights, _, denominator = table.scaled
    return Fraction(sum(weights[row] for row in matching_rows(table, restriction)), denominator)


def positive_reach(table: Table, restriction: Restriction) -> Fraction:
    """The probability p(l) q(l) that x satisfies the restriction and its label is 1."""
    _, weights, denominator = table.scaled
    return Fraction(sum(weights[row] for row in matching_rows(table, restriction)), denominator)


def positive_rate(table: Table, restriction: Restriction) -> Fraction:
    """The probability q(l) of label 1 given the restriction; ZeroDivisionError if unreachable."""
    return positive_reach(table, restriction) / reach(table, restriction)


def is_pure(table: Table, restriction: Restriction) -> bool:
    """Whether all inputs that satisfy the restriction share one P[y = 1 given x]."""
    rows = matching_rows(table, restriction)
    return len({table.labels[row] for row in rows if table.weights[row] > 0}) <= 1


def bayes_error(table: Table) -> Fraction:
    """The least error of any function of the variables."""
    pairs = zip(table.weights, table.labels, strict=True)
    return sum((weight * min(label, 1 - label) for weight, label in pairs), Fraction(0))


def branch_probability(table: Table, restriction: Restriction, name: str) -> Fraction:
    """The probability tau that the variable is 1 given the restriction."""
    return reach(table, {**restriction, name: 1}) / reach(table, restriction)


def majority_label(table: Table, restriction: Restriction) -> int:
    """1 iff the positive rate is at least 1/2 (so 1 for a restriction that is never reached)."""
    return int(2 * positive_reach(table, restriction) >= reach(table, restriction))


def predict(tree: Tree, values: Restriction) -> int:
    """The label of the leaf that this assignment reaches."""
    while not isinstance(tree, int):
        name, low, high = tree
        tree = high if values[name] == 1 else low
    return tree


def tree_error(table: Table, tree: Tree) -> Fraction:
    """The probability E(T) that the tree predicts wrongly."""
    wrong = Fraction(0)
    for row, (label, weight) in enumerate(zip(table.labels, table.weights, strict=True)):
        predicted = predict(tree, table.assignment(row))
        wrong += weight * (1 - label if predicted == 1 else label)
    return wrong


def tree_size(tree: Tree) -> int:
    """The number of internal nodes."""
    return 0 if isinstance(tree, int) else 1 + tree_size(tree[1]) + tree_size(tree[2])


def tree_depth(tree: Tree) -> int:
    """The number of internal nodes on the longest path."""
    return 0 if isinstance(tree, int) else 1 + max(tree_depth(tree[1]), tree_depth(tree[2]))


def tree_leaves(tree: Tree, restriction: Restriction | None = None) -> list[Restriction]:
    """The restriction of every leaf, from left to right."""
    restriction = restriction or {}
    if isinstance(tree, int):
        return [restriction]
    name, low, high = tree
    return tree_leaves(low, {**restriction, name: 0}) + tree_leaves(high, {**restriction, name: 1})


def tree_impurity(table: Table, tree: Tree, criterion: str = "entropy") -> Decimal:
    """The reach-weighted sum H(T) of the impurities of the leaves."""
    impurity = IMPURITIES[criterion]
    with localcontext(MANY_DIGITS):
        total = Decimal(0)
        for leaf in tree_leaves(tree):
            if reach(table, leaf) > 0:
                total += as_decimal(reach(table, leaf)) * impurity(positive_rate(table, leaf))
        return total
