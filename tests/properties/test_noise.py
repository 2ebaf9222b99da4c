"""Labels that are probabilities: everything against enumeration, as for labels 0 and 1."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.growers.choosing import gains_by
from mictree.growers.rules import RULES, TIES
from tests import reference
from tests.reference.splits import candidates
from tests.strategies import NAMES, TableCase, all_inputs, nested

CRITERIA = ("entropy", "gini", "root", "minority")
DECIDED = tuple(ties for ties in TIES if ties != "random")
MAX_SIZE = 7
RATES = [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(3, 5), Fraction(9, 10)]


@st.composite
def noisy_cases(draw, max_variables: int = 4) -> TableCase:
    """Few rates, so that inputs often share one, and rows that never occur."""
    count = draw(st.integers(1, max_variables))
    rows = 2**count
    rates = st.sampled_from(draw(st.lists(st.sampled_from(RATES), min_size=1, max_size=4)))
    labels = draw(st.lists(rates, min_size=rows, max_size=rows))
    shares = [1] * rows
    if draw(st.booleans()):
        shares = draw(st.lists(st.integers(0, 6), min_size=rows, max_size=rows).filter(any))
    weights = tuple(Fraction(share, sum(shares)) for share in shares)
    return TableCase(reference.Table(NAMES[:count], tuple(labels), weights))


@given(noisy_cases(), st.data())
def test_leaves_and_splits(case, data):
    names = data.draw(st.lists(st.sampled_from(case.table.names), unique=True, max_size=3))
    restriction = {name: data.draw(st.integers(0, 1)) for name in names}
    leaf, exact = (case.problem.leaf(restriction, exact) for exact in (False, True))
    mass = reference.reach(case.table, restriction)
    assert leaf.pure == exact.pure == reference.is_pure(case.table, restriction)
    assert exact.reach == mass
    assert leaf.reach == pytest.approx(float(mass), rel=1e-13)
    if mass == 0:
        return
    rate = reference.positive_rate(case.table, restriction)
    assert exact.positive_rate == rate
    assert leaf.positive_rate == pytest.approx(float(rate), rel=1e-13)
    assert leaf.label == exact.label == reference.majority_label(case.table, restriction)
    if leaf.pure:
        return
    splits = case.problem.splits(leaf)
    path = tuple(restriction.items())
    offered = [case.problem.variables[variable] for variable in splits.variables]
    assert offered == candidates(case.table, path)
    expected = [float(reference.gain(case.table, path, name)) for name in offered]
    np.testing.assert_allclose(
        gains_by("entropy")(case.problem, leaf, splits), expected, rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=15)
@given(case=noisy_cases(), criterion=st.sampled_from(CRITERIA), ties=st.sampled_from(DECIDED))
def test_trees_are_those_of_the_slow_loops(rule, criterion, ties, case):
    expected = reference.grow(
        case.table, reference.PRIORITIES[rule], MAX_SIZE, criterion, ties, reference.ahead(rule)
    )
    growth = RULES[rule](criterion=criterion, ties=ties).grow(case.problem, MAX_SIZE)
    for size, tree in enumerate(expected):
        assert nested(growth.tree(size)) == tree
        error = reference.tree_error(case.table, tree)
        assert growth.exact_errors[size] == error
        assert growth.errors[size] == pytest.approx(float(error), abs=1e-14)


@given(noisy_cases(), st.sampled_from(list(RULES)))
def test_growth_ends_at_the_bayes_error(case, rule):
    growth = RULES[rule]().grow(case.problem, 100)
    assert growth.exact_errors[-1] == reference.bayes_error(case.table)
    assert len(growth.steps) < 16


@settings(max_examples=30)
@given(noisy_cases())
def test_no_enumerated_tree_is_better(case):
    expected = reference.least_errors(case.table, 4)
    assert mt.optimal_errors(case.problem, 4, exact=True).tolist() == expected
    computed = mt.optimal_errors(case.problem, 4)
    np.testing.assert_allclose(computed, np.array(expected, dtype=float), rtol=0, atol=1e-14)


@given(noisy_cases(), st.booleans())
def test_optimal_trees_attain_their_errors_and_end_at_the_bayes_error(case, exact):
    solved = mt.optimal_trees(case.problem, 20, exact=exact)
    rounding = 0 if exact else 1e-14
    assert abs(solved.errors[-1] - reference.bayes_error(case.table)) <= rounding
    for size in range(0, 21, 4):
        error = reference.tree_error(case.table, nested(solved.tree(size)))
        assert abs(error - solved.errors[size]) <= rounding


@given(noisy_cases())
def test_rows_end_at_the_smallest_tree_with_the_bayes_error(case):
    solved = mt.optimal_trees(case.problem, 20, exact=True)
    row = solved._row(solved._start())
    perfect = int(np.argmax(solved.errors == reference.bayes_error(case.table)))
    assert len(row) == perfect + 1


@given(noisy_cases(), st.sampled_from(list(RULES)))
def test_mic(case, rule):
    result = mt.mic(RULES[rule](), case.problem, 6, exact=True)
    least = reference.least_errors(case.table, 3)
    grown = reference.grow(case.table, reference.PRIORITIES[rule], 6, depth=reference.ahead(rule))
    assert result.optimal_errors[:4].tolist() == least
    assert result.greedy_errors.tolist() == [reference.tree_error(case.table, t) for t in grown]
    assert result.mic == sum(result.excess_errors[1:], Fraction(0)) / 6


@settings(max_examples=20)
@given(noisy_cases(max_variables=3))
def test_the_optimum_is_that_of_weighted_data_with_the_same_counts(case):
    inputs = all_inputs(len(case.table.names))
    pairs = zip(case.table.weights, case.table.labels, strict=True)
    weights = [[w * (1 - q), w * q] for w, q in pairs]
    scale = 60 * 7 * 8  # any multiple: only shares count
    data = mt.SampleProblem(
        np.concatenate([inputs, inputs]),
        [0] * len(inputs) + [1] * len(inputs),
        sample_weight=[float(pair[y] * scale) for y in (0, 1) for pair in weights],
    )
    expected = mt.optimal_errors(case.problem, 7)
    np.testing.assert_allclose(mt.optimal_errors(data, 7), expected, rtol=0, atol=1e-12)


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 1), min_size=8, max_size=8),
    st.sampled_from([0, 0.1, Fraction(1, 3), 0.5, 0.7, 1]),
    st.sampled_from([0.5, 0.3]),
)
def test_labels_that_are_wrong_with_one_probability(labels, noise, bias):
    """Each row of an input becomes two, one of them with the other label."""
    chance = noise if isinstance(noise, Fraction) else Fraction(repr(float(noise)))
    rates = tuple(1 - chance if label else chance for label in labels)
    weights = reference.formula_table((), dict.fromkeys("abc", Fraction(repr(bias))), tuple("abc"))
    table = reference.Table(tuple("abc"), rates, weights.weights)
    terms = (
        " & ".join(name if row >> place & 1 else f"~{name}" for place, name in enumerate("abc"))
        for row, label in enumerate(labels)
        if label
    )
    text = " | ".join(f"({term})" for term in terms) or "0"
    made = mt.TableProblem.from_formula(text, bias, variables=tuple("abc"), noise=noise)
    called = mt.TableProblem.from_function(
        lambda a, b, c: labels[a + 2 * b + 4 * c], "abc", bias, noise=noise
    )
    least = reference.least_errors(table, 4)
    for problem in (made, called):
        assert [
            Fraction(int(rate)) if rate in (0, 1) else rate for rate in problem.truth_table
        ] == [*rates]
        assert mt.optimal_errors(problem, 4, exact=True).tolist() == least
    half = mt.TableProblem.from_function(lambda a: 0.25, ["a"], noise=noise)
    assert half.truth_table[0] == (1 + 2 * chance) / 4


def test_no_noise_is_the_same_problem():
    plain, silent = (
        mt.TableProblem.from_formula("a & b | c", 0.3, **more) for more in ({}, {"noise": 0})
    )
    assert silent.truth_table.dtype == plain.truth_table.dtype == np.uint8
    assert silent.truth_table.tolist() == plain.truth_table.tolist()
    assert silent.probabilities == plain.probabilities


@pytest.mark.parametrize(
    "noise", [-0.1, 1.01, "0.1", None, float("nan"), float("inf"), True, False]
)
def test_noise_that_is_none(noise):
    with pytest.raises(ValueError, match="noise must be a number from 0 to 1; got"):
        mt.TableProblem.from_formula("a", noise=noise)
    with pytest.raises(ValueError, match="noise must be a number from 0 to 1; got"):
        mt.TableProblem.from_function(lambda a: a, ["a"], noise=noise)


def test_inputs_of_one_rate_are_never_separated():
    problem = mt.TableProblem([0.25, 0.25, 0.25, 0.25])
    assert mt.TopDown().grow(problem, 3).steps == ()
    assert mt.optimal_tree(problem, 3).size == 0
    above = mt.TableProblem([0.6, 0.9])  # one label is best for both, but the rates differ
    assert len(mt.TopDown().grow(above, 3).steps) == 1
    assert mt.optimal_tree(above, 3).size == 0


def test_numbers_are_read_as_written():
    problem = mt.TableProblem([0.1, 0.9, Fraction(1, 2), 1])
    assert problem.truth_table.tolist() == [Fraction(1, 10), Fraction(9, 10), Fraction(1, 2), 1]
    assert problem.positive_rate({}, exact=True) == Fraction(25, 40)
    assert mt.optimal_errors(problem, 3, exact=True)[-1] == Fraction(7, 40)
    whole = mt.TableProblem([Fraction(0), 1.0, True, np.float64(0)])
    assert whole.truth_table.dtype == np.uint8


def test_rates_that_floats_cannot_tell_from_even():
    tiny = Fraction(1, 10**30)
    problem = mt.TableProblem([Fraction(1, 2) - tiny, Fraction(1, 2) + tiny])
    assert mt.optimal_errors(problem, 1, exact=True).tolist() == [
        Fraction(1, 2),
        Fraction(1, 2) - tiny,
    ]
    assert mt.optimal_tree(problem, 0).labels == (1,)
    assert mt.TopDown().grow(problem, 1).tree(1).labels == (-1, 0, 1)
