"""Problems answer as a sum over all rows of the truth table does."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from mictree.growers.choosing import gains_by
from tests import reference
from tests.reference.splits import candidates
from tests.strategies import formula_cases, table_cases

CASES = st.one_of(formula_cases(), table_cases())
ROUNDING = 1e-13


@st.composite
def restricted(draw, cases=CASES):
    """A case and a restriction of it."""
    case = draw(cases)
    names = draw(st.lists(st.sampled_from(case.table.names), unique=True, max_size=4))
    return case, {name: draw(st.integers(0, 1)) for name in names}


@given(restricted())
def test_reach(given_case):
    case, restriction = given_case
    expected = reference.reach(case.table, restriction)
    assert case.problem.reach(restriction, exact=True) == expected
    assert case.problem.reach(restriction) == pytest.approx(float(expected), rel=ROUNDING)
    assert isinstance(case.problem.reach(restriction, exact=True), Fraction)
    assert type(case.problem.reach(restriction)) is float


@given(restricted())
def test_positive_rate(given_case):
    case, restriction = given_case
    if reference.reach(case.table, restriction) == 0:
        for exact in (False, True):
            with pytest.raises(ValueError, match="can occur"):
                case.problem.positive_rate(restriction, exact)
        return
    expected = reference.positive_rate(case.table, restriction)
    assert case.problem.positive_rate(restriction, exact=True) == expected
    assert case.problem.positive_rate(restriction) == pytest.approx(float(expected), rel=ROUNDING)
    assert isinstance(case.problem.positive_rate(restriction, exact=True), Fraction)
    assert type(case.problem.positive_rate(restriction)) is float


@given(restricted(), st.data())
def test_branch_probability(given_case, data):
    case, restriction = given_case
    name = data.draw(st.sampled_from(case.table.names))
    if reference.reach(case.table, restriction) == 0:
        return
    if name in restriction:
        expected = Fraction(restriction[name])
    else:
        expected = reference.branch_probability(case.table, restriction, name)
    assert case.problem.branch_probability(restriction, name, exact=True) == expected
    computed = case.problem.branch_probability(restriction, name)
    assert computed == pytest.approx(float(expected), rel=ROUNDING)


@given(restricted())
def test_a_leaf_knows_its_label_error_and_purity(given_case):
    case, restriction = given_case
    leaf = case.problem.leaf(restriction, exact=True)
    mass = reference.reach(case.table, restriction)
    if mass == 0:
        assert leaf.pure
        assert leaf.error == 0
        return
    rate = reference.positive_rate(case.table, restriction)
    assert leaf.label == reference.majority_label(case.table, restriction)
    assert leaf.error == mass * min(rate, 1 - rate)
    assert leaf.pure == (rate in (0, 1)) == case.problem.leaf(restriction).pure


@given(restricted(), st.sampled_from(["entropy", "gini", "root", "minority"]))
def test_splits_and_their_gains(given_case, criterion):
    case, restriction = given_case
    leaf = case.problem.leaf(restriction)
    if leaf.pure:
        return
    splits = case.problem.splits(leaf)
    path = tuple(restriction.items())
    names = [case.problem.variables[position] for position in splits.variables]
    assert names == candidates(case.table, path)
    computed = gains_by(criterion)(case.problem, leaf, splits)
    expected = [reference.gain(case.table, path, name, criterion) for name in names]
    np.testing.assert_allclose(computed, np.array(expected, dtype=float), rtol=0, atol=1e-10)
    assert computed.min() >= 0
    for name, low_rate, high_rate in zip(
        names, splits.low_rates[:, 1], splits.high_rates[:, 1], strict=True
    ):
        for value, rate in enumerate((low_rate, high_rate)):
            expected_rate = reference.positive_rate(case.table, {**restriction, name: value})
            assert rate == pytest.approx(float(expected_rate), rel=ROUNDING)


@given(restricted(formula_cases()))
def test_formula_and_table_of_one_function_agree(given_case):
    case, restriction = given_case
    for exact, rounding in ((True, 0), (False, ROUNDING)):
        one = case.problem.leaf(restriction, exact)
        other = case.table_problem.leaf(restriction, exact)
        assert float(abs(one.reach - other.reach)) <= rounding
        assert float(abs(one.positive_rate - other.positive_rate)) <= rounding
        assert one.pure == other.pure
    assert case.problem.variables == case.table_problem.variables


@given(formula_cases(max_variables=5), st.data())
def test_floats_do_not_depend_on_the_order_of_tests(case, data):
    order = data.draw(st.permutations(case.table.names))
    values = {name: data.draw(st.integers(0, 1)) for name in order[:3]}
    declared = {name: values[name] for name in case.table.names if name in values}
    one, other = case.problem.leaf(values), case.problem.leaf(declared)
    assert (one.reach, one.positive_rate) == (other.reach, other.positive_rate)


def test_a_scalar_a_sequence_and_a_mapping_mean_the_same():
    one = mt.FormulaProblem("a & ~b | c", 0.3)
    for bias in ([0.3] * 3, np.full(3, 0.3), {"c": 0.3, "a": 0.3, "b": 0.3}, Fraction(3, 10)):
        other = mt.FormulaProblem("a & ~b | c", bias)
        assert one.biases == other.biases
        assert one.variables == other.variables == ("a", "b", "c")
        assert one.root().positive_rate == other.root().positive_rate


def test_extra_names_are_irrelevant_variables():
    problem = mt.FormulaProblem("a", {"z": 0.2, "a": 0.3})
    assert problem.variables == ("a", "z")
    assert problem.branch_probability({}, "z") == 0.2
    assert problem.positive_rate({"z": 1}) == problem.positive_rate({"z": 0}) == 0.3


def test_an_exact_number_type_of_python_is_a_bias():
    assert mt.FormulaProblem("a", Decimal("0.3")).biases == {"a": Fraction(3, 10)}


def test_row_numbers_have_variable_i_as_bit_i():
    problem = mt.TableProblem([0, 1, 0, 0])
    assert problem.variables == ("x1", "x2")
    assert problem.positive_rate({"x1": 1, "x2": 0}) == 1
    assert problem.positive_rate({"x1": 0, "x2": 1}) == 0


@pytest.mark.parametrize(
    "problem",
    [mt.FormulaProblem("x1 & x2"), mt.TableProblem([0, 0, 0, 1])],
    ids=["formula", "table"],
)
class TestQuestionsThatHaveNoAnswer:
    def test_an_unknown_variable(self, problem):
        for question in (
            lambda: problem.reach({"w": 1}),
            lambda: problem.positive_rate({"w": 1}),
            lambda: problem.branch_probability({}, "w"),
            lambda: problem.branch_probability({"w": 1}, "x1"),
        ):
            with pytest.raises(ValueError, match="w"):
                question()

    def test_a_value_other_than_0_and_1(self, problem):
        for value in (2, -1, 0.5, "1", None):
            for question in (
                lambda value=value: problem.reach({"x1": value}),
                lambda value=value: problem.branch_probability({"x1": value}, "x2"),
            ):
                with pytest.raises(ValueError, match="x1"):
                    question()

    def test_a_branch_of_a_variable_that_the_restriction_fixes(self, problem):
        assert problem.branch_probability({"x1": 1}, "x1") == 1
        assert problem.branch_probability({"x1": 0}, "x1") == 0
        with pytest.raises(ValueError, match="w"):
            problem.branch_probability({"w": 1}, "w")
        with pytest.raises(ValueError, match="w"):
            problem.branch_probability({"x1": 1, "w": 1}, "x1")
        with pytest.raises(ValueError, match="x1 has 2"):
            problem.branch_probability({"x1": 2}, "x1")

    def test_a_variable_twice_on_a_path(self, problem):
        low, _ = problem.children(problem.root(), 0)
        with pytest.raises(ValueError, match="x1 is tested twice"):
            problem.children(low, 0)


def test_a_branch_below_a_restriction_that_cannot_occur():
    problem = mt.TableProblem([0, 1, 0, 1], [0.5, 0, 0.5, 0])
    for name in ("x1", "x2"):
        with pytest.raises(ValueError, match="can occur"):
            problem.branch_probability({"x1": 1}, name)


def test_a_split_has_two_sides_that_can_occur():
    problem = mt.TableProblem([0, 1, 0, 1], [0.5, 0.5, 0, 0])  # x2 is always 0
    assert problem.splits(problem.root()).variables.tolist() == [0]
