"""What the paper's loops say about one leaf: F_l, the gain of a variable, and the tree T(l, i).

Transcribes the section "Preliminaries". The paper leaves two things open: a pure leaf is never
split here, and a variable that is constant at a leaf is no candidate there.
"""

from decimal import Decimal, localcontext

from .impurity import IMPURITIES, MANY_DIGITS, as_decimal
from .table import Table, Tree, branch_probability, is_pure, majority_label, positive_rate

TIE = Decimal("1e-10")  # relative to the larger of two numbers
ZERO = Decimal("1e-100")  # far above the rounding error of 120 digits

Path = tuple[tuple[str, int], ...]  # the tests that lead from the root to a leaf


def candidates(table: Table, leaf: Path) -> list[str]:
    """The variables that may split the leaf, in declared order: none if the leaf is pure."""
    if is_pure(table, dict(leaf)):
        return []
    unused = [name for name in table.names if name not in dict(leaf)]  # F_l
    return [name for name in unused if 0 < branch_probability(table, dict(leaf), name) < 1]


def gain(table: Table, leaf: Path, name: str, criterion: str = "entropy") -> Decimal:
    """H(q(l)) - (1 - tau) H(q(l_0)) - tau H(q(l_1)), not weighted by reach."""
    impurity = IMPURITIES[criterion]
    high = branch_probability(table, dict(leaf), name)  # tau
    with localcontext(MANY_DIGITS):
        drop = (
            impurity(positive_rate(table, dict(leaf)))
            - as_decimal(1 - high) * impurity(positive_rate(table, {**dict(leaf), name: 0}))
            - as_decimal(high) * impurity(positive_rate(table, {**dict(leaf), name: 1}))
        )
        return without_noise(drop)


def is_tied(one: Decimal, other: Decimal) -> bool:
    """Whether two numbers count as equal."""
    with localcontext(MANY_DIGITS):
        return abs(one - other) <= TIE * max(abs(one), abs(other))


def without_noise(drop: Decimal) -> Decimal:
    """A difference of impurities, 0 where it is the rounding error of Decimals."""
    return Decimal(0) if abs(drop) < ZERO else drop


def split_leaf(table: Table, tree: Tree, leaf: Path, name: str) -> Tree:
    """The tree T(l, i): the leaf is replaced by a test of the variable above two new leaves."""
    low_label = majority_label(table, {**dict(leaf), name: 0})
    high_label = majority_label(table, {**dict(leaf), name: 1})
    return replace(tree, leaf, (name, low_label, high_label))


def replace(tree: Tree, path: Path, subtree: Tree) -> Tree:
    """The tree with the subtree hung at the end of the path."""
    if len(path) == 0:
        return subtree
    assert not isinstance(tree, int)
    name, low, high = tree
    (tested, value), rest = path[0], path[1:]
    assert tested == name
    if value == 0:
        return (name, replace(low, rest, subtree), high)
    return (name, low, replace(high, rest, subtree))


def leaves_after(leaves: list[Path], split: Path, name: str) -> list[Path]:
    """The leaves in creation order once one of them is split: low child, then high child, last."""
    others = [leaf for leaf in leaves if leaf != split]
    return [*others, (*split, (name, 0)), (*split, (name, 1))]
