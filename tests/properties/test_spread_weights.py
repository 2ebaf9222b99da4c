"""Weights from 1e-12 to 1e12: bounds hold every truth, and errors are right in relative terms."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from tests.datasets import compile_search
from tests.properties.test_sample_growth import Generic
from tests.reference.enumerate_samples import sample_least_errors
from tests.strategies import as_written, sample_problem, samples

SIZE = 3
DECIMALS = st.builds(
    lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 9), st.integers(-12, 12)
)
LONG = st.builds(
    lambda share, power: share * 10.0**power, st.floats(0.1, 0.9), st.integers(-12, 12)
)
HUGE = st.integers(2**52, 2**53)
CASES = st.one_of(*(samples(most_rows=9, weights=kind) for kind in (DECIMALS, LONG, HUGE)))
GREEDY = (mt.TopDownClassifier, mt.BestFirstClassifier, mt.ID3Classifier)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    compile_search()


def close(number: float, truth: Fraction) -> bool:
    return abs(Fraction(float(number)) - truth) <= truth / 10**12


def truth_of(case) -> list[Fraction]:
    rows, labels, weights = case
    return sample_least_errors(rows, labels, [as_written(weight) for weight in weights], SIZE)


def test_a_heavy_row_and_a_light_one():
    problem = mt.SampleProblem([[0, 1], [1, 0]], [0, 1], [1e12, 1e-12])
    errors = mt.optimal_errors(problem, 2)
    assert errors.tolist() == errors.lower.tolist() == [1e-24, 0, 0]
    assert errors.proved.all()
    assert mt.TopDown().grow(problem, 2).errors.tolist() == [1e-24, 0, 0]


@given(CASES)
@settings(max_examples=150)
def test_bounds_hold_every_truth(case):
    truth, problem = truth_of(case), sample_problem(*case)
    solved = mt.optimal_trees(problem, SIZE, exact=True)
    assert np.all(solved.errors.lower <= truth)
    assert np.all(truth <= solved.errors.upper)
    for size in range(SIZE + 1):
        assert solved.tree(size).size <= size
        assert solved.tree(size).error(problem, exact=True) == solved.errors[size]
    floats = mt.optimal_errors(problem, SIZE)
    for size, least in enumerate(truth):
        assert Fraction(floats.lower[size]) <= least * (1 + Fraction(1, 2**52))
        assert least <= Fraction(floats[size]) * (1 + Fraction(1, 2**52))
        if floats.proved[size]:
            assert abs(Fraction(floats[size]) - least) <= least / 10**10


@given(CASES, st.sampled_from([mt.TopDown(), mt.BestFirst("gini"), mt.ID3("minority")]))
@settings(max_examples=100)
def test_growth_has_the_errors_of_its_trees(case, rule):
    problem = sample_problem(*case)
    optimal = mt.optimal_errors(problem, SIZE)
    generic = Generic(np.array(case[0], dtype=float), case[1], case[2])
    for growth in (rule.grow(problem, SIZE), rule.grow(generic, SIZE)):
        for size, error in enumerate(growth.errors):
            made = growth.tree(size).error(problem, exact=True)
            assert made == growth.exact_errors[size]
            assert close(error, made)
            assert close(growth.tree(size).error(problem), made)
            assert error >= optimal.lower[size] * (1 - 1e-15)
            assert error >= optimal[size] * (1 - 1e-12) or not optimal.proved[size]
            assert mt.optimal_errors(problem, size)[size] <= error * (1 + 1e-12)


@given(CASES)
@settings(max_examples=60)
def test_estimators_have_the_same_frontiers(case):
    rows, labels, weights = case
    X, truth = np.array(rows, dtype=float), truth_of(case)
    model = mt.OptimalTreeClassifier(SIZE).fit(X, labels, weights)
    for size, (lower, upper) in enumerate(
        zip(model.frontier_.lower, model.frontier_.upper, strict=True)
    ):
        assert Fraction(lower) <= truth[size] * (1 + Fraction(1, 2**52))
        assert close(upper, wrong_share(model.predict(X, size=size), labels, weights))
    for kind in GREEDY:
        grown = kind(SIZE).fit(X, labels, weights)
        for size, error in enumerate(grown.growth_.errors):
            assert close(error, wrong_share(grown.predict(X, size=size), labels, weights))


def wrong_share(guesses, labels, weights) -> Fraction:
    """The share of the weight whose guess is not its label."""
    written = [as_written(weight) for weight in weights]
    missed = [w for w, g, y in zip(written, guesses, labels, strict=True) if g != y]
    return sum(missed, Fraction(0)) / sum(written)


@pytest.mark.parametrize(
    "weights",
    [
        [2**53 + 1, 1],
        [2**60, 0.5],
        (10**300 + 1, 1),
        np.array([2**53 + 1, 1]),
        np.array([2**64 - 1, 1], dtype=np.uint64),
        np.array([2**70 + 1, 1], dtype=object),
    ],
)
def test_integers_that_floats_may_round_are_refused(weights):
    rule = rf"sample_weight must be at most 2\*\*53 if an integer; got {weights[0]}$"
    with pytest.raises(ValueError, match=rule):
        mt.SampleProblem([[0], [1]], [0, 1], weights)
    with pytest.raises(ValueError, match=rule):
        mt.TopDownClassifier().fit([[0], [1]], [0, 1], weights)


def test_large_floats_are_read_as_written():
    errors = mt.optimal_errors(mt.SampleProblem([[0], [0]], [0, 1], [1e23, 2**53]), 0, exact=True)
    assert errors[0] == Fraction(as_written(2.0**53), 10**23 + as_written(2.0**53))
