"""Two terms under the uniform distribution: TopDown grows the staircase tree, and it is optimal."""

from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

import mictree as mt
from tests.reference import staircase_tree
from tests.reference.staircase import right_path
from tests.strategies import nested

PAIRS = list(combinations_with_replacement(range(1, 9), 2))
SMALL = [pair for pair in PAIRS if sum(pair) <= 7]


def two_terms(short: int, long: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (
        tuple(f"x{number}" for number in range(1, short + 1)),
        tuple(f"y{number}" for number in range(1, long + 1)),
    )


def problem_of(short_names, long_names) -> mt.FormulaProblem:
    return mt.FormulaProblem(f"{' & '.join(short_names)} | {' & '.join(long_names)}", bias=0.5)


def unlabelled(tree):
    return None if isinstance(tree, int) else (tree[0], unlabelled(tree[1]), unlabelled(tree[2]))


def staircase(short_names, long_names, size: int):
    """B_t without labels, from its definition: a path of x-nodes, then y-paths from the top."""
    x_names, left = short_names[:size], size - min(size, len(short_names))
    filled = [min(len(long_names), max(0, left - i * len(long_names))) for i in range(len(x_names))]
    tree = None
    for name, count in zip(x_names[::-1], filled[::-1], strict=True):
        tree = (name, right_path(long_names[:count]), tree)
    return tree


@pytest.mark.parametrize("pair", SMALL, ids=str)
def test_trees_and_labels_are_those_of_the_reference(pair):
    names = two_terms(*pair)
    perfect = pair[0] + pair[0] * pair[1]
    growth = mt.TopDown(ties="first").grow(problem_of(*names), perfect)
    for size in range(perfect + 1):
        expected = staircase_tree(*names, size)
        assert nested(growth.tree(size)) == expected
        assert staircase(*names, size) == unlabelled(expected)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_topdown_grows_the_staircase_and_it_is_optimal(pair):
    names = two_terms(*pair)
    problem = problem_of(*names)
    perfect = pair[0] + pair[0] * pair[1]
    growth = mt.TopDown(ties="first").grow(problem, perfect + 1)
    for size in range(perfect + 1):
        assert unlabelled(nested(growth.tree(size))) == staircase(*names, size)
    optimal = mt.optimal_errors(problem, perfect + 1, exact=True).tolist()
    assert growth.exact_errors == optimal
    assert optimal[perfect] == 0 < optimal[perfect - 1]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_errors_of_the_staircase_in_closed_form(pair):
    """Each x-node's left subtree is reached half as often as that of the one above."""
    short, long = pair
    problem = problem_of(*two_terms(*pair))
    errors = mt.optimal_errors(problem, short + short * long, exact=True)
    for filled in range(1, short + 1):  # so many left subtrees are complete
        left = sum(Fraction(1, 2**depth) for depth in range(filled + 1, short + 1))
        assert errors[short + filled * long] == left * Fraction(1, 2**long)
