"""Bad values: a ValueError that states the rule and the value."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import mictree as mt

PROBLEMS = [mt.FormulaProblem("x1 & x2 | x3"), mt.TableProblem([0, 1, 1, 0])]
SIZES = [-1, 2.5, 2.0, True, False, "3", None, math.nan, [1], np.bool_(True), 10**400 * -1]


@pytest.mark.parametrize(
    "bias", [0, 1, 1.2, -0.1, 0.0, 1.0, Fraction(1), Fraction(5, 4), Decimal(1), 10**400, True]
)
def test_a_bias_outside_the_open_interval(bias):
    for given in (bias, [0.5, bias], {"a": 0.5, "b": bias}):
        with pytest.raises(ValueError, match=r"strictly between 0 and 1; [ab] has .*\d|True"):
            mt.FormulaProblem("a & b", given)


@pytest.mark.parametrize(
    "bias",
    [math.nan, math.inf, -math.inf, "0.5", "half", None, 0.5j, [], {}, Decimal("nan"), [0.5]],
    ids=repr,
)
def test_a_bias_that_is_no_number(bias):
    for given in ([0.5, bias], {"a": 0.5, "b": bias}):
        with pytest.raises(ValueError, match="strictly between 0 and 1; b has"):
            mt.FormulaProblem("a & b", given)


@pytest.mark.parametrize("bias", [math.nan, math.inf, "0.5", None])
def test_a_scalar_bias_that_is_no_number(bias):
    with pytest.raises(ValueError, match=f"strictly between 0 and 1; a has .*{bias}"):
        mt.FormulaProblem("a & b", bias)


def test_the_errors_of_the_contract():
    with pytest.raises(ValueError, match=r"^bias must lie strictly between 0 and 1; x3 has 1\.2$"):
        mt.FormulaProblem("x1 & x2 & x3", {"x1": 0.5, "x2": 0.5, "x3": 1.2})


@pytest.mark.parametrize("bias", [[], [0.5], [0.5] * 3, np.full(4, 0.5)])
def test_too_few_or_too_many_biases(bias):
    with pytest.raises(ValueError, match=f"each of the 2 variables; it has {len(bias)}"):
        mt.FormulaProblem("a & b", bias)


def test_names_without_a_bias_and_biases_without_a_name():
    with pytest.raises(ValueError, match="none for b"):
        mt.FormulaProblem("a & b", {"a": 0.5})
    with pytest.raises(ValueError, match="none for a"):
        mt.FormulaProblem("a & b", {})
    for name in ("not a name", "and", 3, None, ""):
        with pytest.raises(ValueError, match="variable name must"):
            mt.FormulaProblem("a", {"a": 0.5, name: 0.5})


@pytest.mark.parametrize("text", ["", " ", "()", "a & b | a", "a $ b", "(a | b) & c"])
def test_formulas_that_are_none(text):
    with pytest.raises(ValueError, match=r"term|position"):
        mt.FormulaProblem(text)


@pytest.mark.parametrize("problem", PROBLEMS, ids=["formula", "table"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: repr(size)[:20])
def test_sizes_that_are_none(problem, size):
    for call in (
        lambda: mt.TopDown().grow(problem, size),
        lambda: mt.BestFirst().grow(problem, max_size=size),
        lambda: mt.ID3().grow(problem, size),
        lambda: mt.optimal_errors(problem, size),
        lambda: mt.optimal_errors(problem, size, exact=True),
        lambda: mt.optimal_trees(problem, size),
    ):
        with pytest.raises(ValueError, match=r"max_size must be an integer of at least 0; got "):
            call()
    growth = mt.TopDown().grow(problem, 2)
    for call in (
        lambda: mt.optimal_tree(problem, size),
        lambda: mt.optimal_trees(problem, 2).tree(size),
        lambda: growth.tree(size),
    ):
        with pytest.raises(ValueError, match=r"size must be an integer of at least 0; got "):
            call()


def test_numpys_integers_are_sizes():
    problem = PROBLEMS[0]
    assert len(mt.optimal_errors(problem, np.int64(3))) == 4
    assert mt.TopDown().grow(problem, np.uint8(3)).tree(np.int32(2)).size == 2


def test_a_tree_larger_than_the_growth():
    with pytest.raises(ValueError, match="at most max_size=2; got 3"):
        mt.TopDown().grow(PROBLEMS[0], 2).tree(3)


@pytest.mark.parametrize("rule", [mt.TopDown, mt.BestFirst, mt.ID3])
@pytest.mark.parametrize("value", ["Entropy", "", "log", False, 5, ["entropy"], {}], ids=repr)
def test_unknown_criteria_and_ties(rule, value):
    with pytest.raises(ValueError, match="criterion must be one of entropy, gini, root, minority"):
        rule(criterion=value)
    with pytest.raises(ValueError, match="ties must be one of last, first, random"):
        rule(ties=value)


@pytest.mark.parametrize("rule", [mt.TopDown, mt.BestFirst, mt.ID3])
def test_no_criterion_is_entropy_and_no_ties_are_refused(rule):
    assert rule(criterion=None) == rule("entropy")
    with pytest.raises(ValueError, match="ties must be one of last, first, random"):
        rule(ties=None)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_seeds(seed):
    with pytest.raises(ValueError, match="seed must be an integer of at least 0; got"):
        mt.TopDown(ties="random", seed=seed)


@pytest.mark.parametrize("bias", [1e-200, 1e-320, Fraction(1, 10**400), 1 - 1e-16])
@pytest.mark.parametrize("ties", ["last", "heaviest", "lightest"])
def test_biases_that_floats_can_hardly_tell_from_0_and_1(bias, ties):
    """Nothing is refused here, so nothing may warn or fail."""
    problem = mt.FormulaProblem("a & b & c | ~d & ~e & ~f", bias)
    for rule in (mt.TopDown, mt.BestFirst, mt.ID3):
        growth = rule(ties=ties).grow(problem, 64)  # a full tree has 63 splits
        assert growth.exact_errors[64] == 0
        assert np.isfinite(growth.errors).all()
    assert np.isfinite(mt.optimal_errors(problem, 12)).all()
    assert mt.optimal_errors(problem, 12, exact=True)[12] == 0


@pytest.mark.parametrize("formula", ["a ^ b", "(a | b) & c", "a & b | a", "~(a & b)", "a | 1"])
def test_other_boolean_formulas_are_sent_to_tables(formula):
    with pytest.raises(ValueError, match=r"position \d+ .*; TableProblem\.from_formula takes any"):
        mt.FormulaProblem(formula)
    mt.TableProblem.from_formula(formula)


@pytest.mark.parametrize("formula", ["a & ", "(a", "a b", "", "a $ b"])
def test_texts_that_are_no_formula_are_sent_nowhere(formula):
    with pytest.raises(ValueError, match=r"^((?!TableProblem).)*$"):
        mt.FormulaProblem(formula)
