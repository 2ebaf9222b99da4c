"""Truth tables and probabilities that are none."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import mictree as mt


@pytest.mark.parametrize(
    "table",
    [[], [0, 1, 1], [0] * 5, [0] * 7, [[0, 1], [1, 0]], 1, None, "0110", {0, 1}],
    ids=repr,
)
def test_a_table_has_a_power_of_two_of_rows(table):
    with pytest.raises(ValueError, match=r"2\*\*n labels; its shape is"):
        mt.TableProblem(table)


def test_a_ragged_table():
    with pytest.raises(ValueError, match=r"truth table|labels"):
        mt.TableProblem([[0], [1, 0]])


@pytest.mark.parametrize("label", [2, -1, 1.5, math.nan, math.inf, "1", None, "yes"], ids=repr)
def test_labels_are_0_or_1_or_probabilities(label):
    with pytest.raises(
        ValueError, match=r"labels must be 0 or 1, or probabilities between them; row 1 has .*\w"
    ):
        mt.TableProblem([0, label])


@pytest.mark.parametrize("labels", [[False, True], [0.0, 1.0], np.array([0, 1], dtype=np.uint8)])
def test_booleans_and_whole_floats_are_labels(labels):
    assert mt.TableProblem(labels).positive_rate({"x1": 1}) == 1


def test_seventeen_variables_are_too_many():
    with pytest.raises(ValueError, match=r"at most 16 variables.* it has 131072 rows"):
        mt.TableProblem(np.zeros(2**17, dtype=int))


@pytest.mark.parametrize("probabilities", [[], [1], [0.5, 0.5, 0], 1.0, np.full(4, 0.25)], ids=repr)
def test_one_probability_for_each_row(probabilities):
    count = len(np.atleast_1d(probabilities))
    with pytest.raises(ValueError, match=f"each of the 2 rows; it has {count}"):
        mt.TableProblem([0, 1], probabilities)


@pytest.mark.parametrize(
    "wrong",
    [-0.5, -1e-12, math.nan, math.inf, -math.inf, "0.5", "a", None, 0.5j, [0.5], Decimal("nan")],
    ids=repr,
)
def test_probabilities_are_finite_and_not_negative(wrong):
    with pytest.raises(ValueError, match=r"probabilities must be .*finite and not negative"):
        mt.TableProblem([0, 1], [wrong, 0.5])


@pytest.mark.parametrize("wrong", [-0.25, math.nan, "0.5", None], ids=repr)
def test_the_error_shows_the_wrong_probability(wrong):
    with pytest.raises(ValueError, match=str(wrong)):
        mt.TableProblem([0, 1, 1, 0], [0.5, wrong, 0.5, 0.25])


def test_the_error_of_a_large_table_is_short():
    """4,096 probabilities do not belong into one line on stderr."""
    probabilities = [Fraction(1, 4096)] * 4095 + [-1]
    with pytest.raises(ValueError, match="-1") as raised:
        mt.TableProblem([0] * 4096, probabilities)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    ("probabilities", "total"),
    [([0.5, 0.4], "0.9"), ([0, 0], "0"), ([1, 1], "2"), ([10**400, 0], "."), ([0.5, 0.50001], "1")],
)
def test_probabilities_sum_to_one(probabilities, total):
    with pytest.raises(ValueError, match=f"sum to one; they sum to {total}"):
        mt.TableProblem([0, 1], probabilities)


def test_rounded_probabilities_are_scaled_to_sum_to_one():
    problem = mt.TableProblem([0, 1, 1, 0], [1 / 3, 1 / 3, 1 / 3, 0])
    assert sum(problem.probabilities) == 1
    assert problem.probabilities[:3] == (Fraction(1, 3),) * 3
    assert mt.TableProblem([0, 1], [0.1, 0.9]).probabilities == (Fraction(1, 10), Fraction(9, 10))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a"], "4 rows has 2 variables; 1 names are given"),
        (["a", "b", "c"], "4 rows has 2 variables; 3 names are given"),
        (["a", "a"], "a is given twice"),
        (["a", "1b"], "identifier; got '1b'"),
        (["a", 3], "identifier; got 3"),
    ],
)
def test_names_of_variables(names, message):
    with pytest.raises(ValueError, match=message):
        mt.TableProblem([0, 1, 1, 0], variables=names)


@pytest.mark.parametrize("label", [0, 1])
def test_a_table_without_variables(label):
    problem = mt.TableProblem([label])
    assert problem.variables == ()
    assert mt.optimal_errors(problem, 3, exact=True).tolist() == [0] * 4
    assert mt.TopDown().grow(problem, 3).errors.tolist() == [0] * 4
    assert mt.optimal_tree(problem, 3).labels == (label,)


def test_rows_of_tiny_probability_still_count():
    tiny = Fraction(1, 10**30)
    problem = mt.TableProblem([0, 1, 0, 0], [1 - tiny, tiny, 0, 0])
    growth = mt.TopDown().grow(problem, 2)
    assert growth.exact_errors == [tiny, 0, 0]
    assert mt.optimal_errors(problem, 2, exact=True).tolist() == [tiny, 0, 0]
    assert mt.optimal_errors(problem, 2)[2] == 0
