"""TableProblem from an expression or a Python function."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import mictree as mt
from mictree.functions.expression import Expression
from tests.strategies import formula_cases


@given(formula_cases(max_variables=5, max_irrelevant=2))
def test_a_read_once_dnf_gives_the_table_of_the_reference(case):
    problem = mt.TableProblem.from_formula(case.text, case.biases)
    assert problem.variables == case.table.names
    assert problem.truth_table.tolist() == list(case.table.labels)
    assert problem.probabilities == case.table.weights


def test_bias_is_a_scalar_a_sequence_or_a_mapping():
    one = mt.TableProblem.from_formula("a ^ b", 0.3)
    for bias in ([0.3, 0.3], np.full(2, 0.3), {"b": 0.3, "a": Fraction(3, 10)}):
        other = mt.TableProblem.from_formula(Expression.parse("a ^ b"), bias)
        assert other.probabilities == one.probabilities
        assert other.variables == one.variables == ("a", "b")
    assert one.probabilities[1] == Fraction(21, 100)


def test_variables_may_be_declared_in_any_order():
    problem = mt.TableProblem.from_formula("a & ~b", [0.1, 0.2, 0.3], variables=["z", "b", "a"])
    assert problem.variables == ("z", "b", "a")
    assert problem.positive_rate({"a": 1, "b": 0}) == 1
    assert problem.reach({"a": 1}, exact=True) == Fraction(3, 10)
    with pytest.raises(ValueError, match="none for b"):
        mt.TableProblem.from_formula("a & b", variables=["a"])


def test_from_function_calls_once_a_row_with_integers():
    calls = []

    def function(a, b):
        calls.append((a, b))
        return a and not b

    problem = mt.TableProblem.from_function(function, ["a", "b"], {"a": 0.5, "b": 0.1, "z": 0.5})
    assert calls == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert all(type(value) is int for call in calls for value in call)
    assert problem.truth_table.tolist() == [0, 1, 0, 0] * 2
    assert problem.variables == ("a", "b", "z")


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a ^ b,
        lambda a, b: a != b,
        lambda a, b: np.bool_(a != b),
        lambda a, b: np.array(a != b),
        lambda a, b: float(a != b),
        lambda a, b: Fraction(a != b),
    ],
)
def test_any_kind_of_label(function):
    problem = mt.TableProblem.from_function(function, ["a", "b"])
    assert problem.truth_table.tolist() == [0, 1, 1, 0]
    assert problem.truth_table.dtype == np.uint8


def test_from_function_takes_probabilities():
    problem = mt.TableProblem.from_function(lambda a, b: 0.1 + 0.4 * a + b * Fraction(1, 2), "ab")
    assert problem.positive_rate({"a": 0, "b": 0}, exact=True) == Fraction(1, 10)
    mixed = mt.TableProblem.from_function(lambda a: np.True_ if a else Fraction(1, 3), ["a"])
    assert mixed.truth_table.tolist() == [Fraction(1, 3), 1]


def test_results_that_are_no_labels():
    with pytest.raises(ValueError, match=r"labels must be 0 or 1.*row 0 has -1"):
        mt.TableProblem.from_function(lambda a: ~a, ["a"])
    with pytest.raises(ValueError, match=r"row 1 has None"):
        mt.TableProblem.from_function(lambda a: None if a else 0, ["a"])


def test_too_many_variables_are_refused_before_the_function_is_called():
    with pytest.raises(ValueError, match=r"at most 16 variables.*there are 17"):
        mt.TableProblem.from_function(lambda *x: 1 / 0, [f"x{i}" for i in range(17)])
    with pytest.raises(ValueError, match=r"at most 16 variables.*there are 17"):
        mt.TableProblem.from_formula(" | ".join(f"x{i}" for i in range(17)))
