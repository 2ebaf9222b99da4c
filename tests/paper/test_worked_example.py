"""The paper's worked example: x1 & x2 | y1 & y2 & y3 under the uniform distribution."""

from fractions import Fraction

import pytest

import mictree as mt
from tests.reference import staircase_tree
from tests.strategies import nested

SHORT, LONG = ("x1", "x2"), ("y1", "y2", "y3")
SIZES = (2, 5, 6, 8)
PERFECT = 8


@pytest.fixture(scope="module")
def problem():
    return mt.FormulaProblem("x1 & x2 | y1 & y2 & y3", bias=0.5)


@pytest.mark.parametrize("size", SIZES)
def test_topdown_grows_the_staircase(problem, size):
    growth = mt.TopDown(ties="first").grow(problem, PERFECT)
    assert nested(growth.tree(size)) == staircase_tree(SHORT, LONG, size)


@pytest.mark.parametrize("size", range(PERFECT + 1))
def test_the_last_of_tied_variables_only_renames(problem, size):
    growth = mt.TopDown(ties="last").grow(problem, PERFECT)
    assert nested(growth.tree(size)) == staircase_tree(SHORT[::-1], LONG[::-1], size)


@pytest.mark.parametrize("ties", ["first", "last", "heaviest", "lightest"])
def test_topdown_is_optimal_under_any_ties(problem, ties):
    growth = mt.TopDown(ties=ties).grow(problem, PERFECT)
    assert growth.exact_errors == mt.optimal_errors(problem, PERFECT, exact=True).tolist()


def test_errors_by_hand(problem):
    expected = ["11/32", "9/32", "3/32", "3/32", "3/32", "1/32", "1/32", "1/32", "0"]
    errors = mt.TopDown(ties="first").grow(problem, PERFECT).exact_errors
    assert errors == [Fraction(error) for error in expected]
    assert errors[PERFECT] == 0
    assert errors[PERFECT - 1] > 0


@pytest.mark.parametrize("ties", ["last", "lightest"])
def test_best_first_grows_the_other_tree(problem, ties):
    """It fills the left subtree of the lower x-node, which is reached half as often."""
    growth = mt.BestFirst(ties=ties).grow(problem, PERFECT)
    filled = ("y3", 0, ("y2", 0, ("y1", 0, 1)))
    assert nested(growth.tree(5)) == ("x2", 0, ("x1", filled, 1))
    assert growth.exact_errors[5] == Fraction(1, 16)
    assert mt.optimal_errors(problem, 5, exact=True)[5] == Fraction(1, 32)


@pytest.mark.parametrize("ties", ["first", "heaviest"])
def test_best_first_need_not_grow_the_other_tree(problem, ties):
    growth = mt.BestFirst(ties=ties).grow(problem, PERFECT)
    assert growth.exact_errors[5] == mt.optimal_errors(problem, 5, exact=True)[5]
    names = (SHORT, LONG) if ties == "first" else (SHORT[::-1], LONG[::-1])
    assert nested(growth.tree(5)) == staircase_tree(*names, 5)
