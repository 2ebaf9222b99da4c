"""The tree B_t of the section "Read-Once DNF with 2 Terms and Uniform Distribution".

The right path tests the variables of the short term (x-nodes). Once all of them are there, the
left subtrees of the x-nodes are filled from the root downwards, each with a right path of all
variables of the long term (y-nodes), before the next one is begun. That the right path comes first
is said in the proof of T_t = B_t, not in the definition. With terms of l and m variables the tree
is perfect at size l + l * m; the paper describes no larger one, and we repeat the perfect tree.
"""

from fractions import Fraction

from .enumerate_trees import Structure, label_leaves
from .table import Tree, formula_table


def staircase_tree(short_names: tuple[str, ...], long_names: tuple[str, ...], size: int) -> Tree:
    """B_t for the formula (all short names) | (all long names), t = size, with majority labels."""
    if not 1 <= len(short_names) <= len(long_names):
        raise ValueError("the first term must have at least one name, and no more than the second")
    x_nodes = min(size, len(short_names))
    y_nodes = size - x_nodes
    left_sizes = []
    for _ in range(x_nodes):  # from the root downwards
        left_size = min(y_nodes, len(long_names))
        left_sizes.append(left_size)
        y_nodes -= left_size

    structure: Structure = None
    for name, left_size in reversed(list(zip(short_names[:x_nodes], left_sizes, strict=True))):
        structure = (name, right_path(long_names[:left_size]), structure)

    names = short_names + long_names
    formula = (
        tuple((name, True) for name in short_names),
        tuple((name, True) for name in long_names),
    )
    uniform = {name: Fraction(1, 2) for name in names}
    return label_leaves(formula_table(formula, uniform, names), structure)


def right_path(names: tuple[str, ...]) -> Structure:
    """A tree in which every low child is a leaf."""
    if len(names) == 0:
        return None
    return (names[0], None, right_path(names[1:]))
