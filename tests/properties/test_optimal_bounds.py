"""Bounds that hold before, between and after the sizes that are proved; weights that are exact."""

from fractions import Fraction
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.optimal import frontier as sample
from mictree.optimal import questions
from mictree.optimal.rows import Counting
from tests.datasets import compile_search, random_bits
from tests.reference.enumerate_samples import lightest_leaf, sample_least_errors
from tests.reference.recursive_samples import recursive_least_errors
from tests.strategies import as_written, sample_problem, samples

SIZE = 4


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    compile_search()


def refusing(limit):
    """Questions of more than 2 splits are answered only up to a bound: then time is up."""
    ask = questions.Workers.ask

    def late(self, rows, budget, bound, depth, wanted=0, quickly=False, least=0):
        searched = not wanted or questions.is_counted(budget, depth)  # not retraced
        if budget > 2 and bound > limit and searched:
            return None
        return ask(self, rows, budget, bound, depth, wanted, quickly, least)

    return mock.patch.object(questions.Workers, "ask", late)


@given(samples(), st.sampled_from([None, 1, 2, 3]), st.integers(0, 12))
@settings(max_examples=150)
def test_intervals_hold_every_truth(case, max_depth, limit):
    """Whichever questions go unanswered, with classes, weights and depths of all kinds."""
    with refusing(limit):
        solved = mt.optimal_trees(
            sample_problem(*case), 6, exact=True, max_depth=max_depth, time_limit=100
        )
    truth = sample_least_errors(*case, 6, max_depth)
    assert np.all(solved.errors.lower <= truth)
    assert np.all(truth <= solved.errors.upper)
    assert all(later <= earlier for earlier, later in pairwise(solved.errors.lower))


@pytest.mark.parametrize("max_depth", [None, 2])
def test_no_tree_has_a_leaf_for_every_class(max_depth):
    """Also beyond the sizes that are searched, and with weights."""
    weights = np.array([30, 25, 20, 10, 8, 4, 2, 1])
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 12))
    y = np.repeat(np.arange(8), 50)
    problem = mt.SampleProblem(X, y, weights[y] / 50)
    with refusing(-1), mock.patch.object(sample, "MOST_BUDGETS", 3):
        errors = mt.optimal_errors(problem, 9, exact=True, max_depth=max_depth)
    for size in range(3, 10):
        leaves = size + 1 if max_depth is None else min(size + 1, 4)
        assert errors.lower[size] >= Fraction(int(weights[leaves:].sum()), 100)
    assert not errors.proved[3:].any()


@given(samples(most_rows=10), st.sampled_from([None, 1, 2]))
@settings(max_examples=150)
def test_the_last_split_gains_at_most_the_lightest_leaf(case, max_depth):
    rows, labels, weights = case
    weights = [int(8 * weight) for weight in weights]
    masses = np.bincount(labels, weights).astype(int)
    depth = 2**20 if max_depth is None else max_depth
    counting = Counting(masses, depth)
    truth = sample_least_errors(rows, labels, weights, SIZE, max_depth)
    wrong = [int(error * sum(weights)) for error in truth]
    for size, (before, after) in enumerate(pairwise(wrong), 1):
        assert before - after <= counting.last_split(size, before)
        assert after >= counting.by_size(SIZE)[size]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.integers(1, 6), st.integers(0, 20))
def test_the_lightest_leaf_is_found(masses, size, before):
    counting = Counting(np.array(masses), 2**20)
    expected = min(lightest_leaf(masses, size + 1), max(0, sum(masses) - before) // size)
    assert counting.last_split(size, before) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_conjunction_gains_the_lightest_leaf(size):
    """Rows of 1 against rows with one 0: all splits but the last gain nothing, the last all."""
    rows = [[1] * size] + [[int(k != zero) for k in range(size)] for zero in range(size)]
    labels, weights = [1] + [0] * size, [5] * (size + 1)
    truth = sample_least_errors(rows, labels, weights, size)
    assert [error * sum(weights) for error in truth] == [5] * size + [0]
    counting = Counting(np.array([5 * size, 5]), 2**20)
    assert counting.last_split(size, 5) == 5


def test_bounds_carry_over_from_proved_sizes():
    """Noise: every leaf counts, so a few more cannot label everything right."""
    problem = mt.SampleProblem(*random_bits(400, 12, 0, noise=1.0))
    proved = mt.optimal_errors(problem, 5, exact=True) * 400
    with refusing(-1), mock.patch.object(sample, "MOST_BUDGETS", 2):
        lower = mt.optimal_errors(problem, 5, exact=True).lower * 400
    right = 400 - proved[2]  # of 3 leaves
    for size in (3, 4, 5):
        assert 400 - right * (size + 1) // 3 <= lower[size] <= proved[size]
    assert lower[3] > 60


def test_small_questions_first():
    """Where only questions up to a bound have an answer in time, most of it is found."""
    problem = mt.SampleProblem(*random_bits(300, 14, 1, noise=0.7))
    truth = mt.optimal_errors(problem, 7, exact=True) * 300
    assert truth[7] > 30
    for limit in (5, 10, 20):
        with refusing(limit):
            errors = mt.optimal_errors(problem, 7, exact=True, time_limit=100)
        lower = errors.lower * 300
        assert np.all(lower[3:] >= limit / 2)
        assert np.all(lower <= truth)


WRITTEN = st.sampled_from([0.1, 0.3, 2.7, 0.25, 1e-3, 7.0, 1.1])


@given(samples(weights=WRITTEN), st.lists(WRITTEN, min_size=6, max_size=6), st.booleans())
@settings(max_examples=100)
def test_weights_are_exactly_as_written(case, factors, weigh_classes):
    rows, labels, weights = case
    labels = [sorted(set(labels)).index(label) for label in labels]
    factors = factors[: max(labels) + 1] if weigh_classes else None
    problem = sample_problem(rows, ["abcdef"[label] for label in labels], weights, factors)
    written = [as_written(weight) for weight in weights]
    if factors:
        written = [w * as_written(factors[k]) for w, k in zip(written, labels, strict=True)]
    solved = mt.optimal_trees(problem, SIZE, exact=True)
    assert solved.errors.proved.all()
    assert solved.errors.tolist() == sample_least_errors(rows, labels, written, SIZE)
    assert solved.errors[0] == mt.TopDown().grow(problem, 0).exact_errors[0]
    for size in range(SIZE + 1):
        assert solved.tree(size).error(problem, exact=True) == solved.errors[size]


def test_two_weights_as_written():
    problem = mt.SampleProblem([[0], [0]], [0, 1], [2.7, 0.25])
    expected = Fraction(5, 59)
    assert mt.TopDown().grow(problem, 1).exact_errors[0] == expected
    errors = mt.optimal_errors(problem, 1, exact=True)
    assert errors.tolist() == errors.lower.tolist() == [expected, expected]


def test_a_product_that_is_whole_only_as_a_float():
    weights, factors = [1.1, 1.0, 1.0], [10 / 11, 1.0]
    assert weights[0] * factors[0] == 1
    problem = mt.SampleProblem([[0], [0], [1]], [0, 1, 1], weights, class_weight=factors)
    first = as_written(weights[0]) * as_written(factors[0])
    assert first != 1
    errors = mt.optimal_errors(problem, 1, exact=True)
    assert errors.proved.all()
    assert errors.tolist() == [first / (first + 2), 1 / (first + 2)]  # the first row is heavier


LONG = st.floats(0.01, 1000).map(lambda number: number / 3)


@given(samples(most_rows=9, weights=LONG))
@settings(max_examples=60)
def test_rounded_weights_have_intervals(case):
    """Weights of 17 digits exceed 62 bits: what is rounded is not called proved."""
    rows, labels, weights = case
    errors = mt.optimal_errors(sample_problem(*case), SIZE, exact=True)
    truth = sample_least_errors(rows, labels, [as_written(weight) for weight in weights], SIZE)
    assert np.all(errors.lower <= truth)
    assert np.all(truth <= errors.upper)
    assert np.all(errors.upper - errors.lower < 1e-9)
    floats = mt.optimal_errors(sample_problem(*case), SIZE)
    assert floats.proved.all()
    np.testing.assert_allclose(floats, np.array(truth, dtype=float), atol=1e-12)


def test_sums_beyond_53_bits_are_exact():
    """One unit in 2**60 decides which class a leaf is labelled with, and which tree is best."""
    unit = 1e-17
    weights = [1.0, 0.5, 0.5 + 1e-16, unit]
    problem = mt.SampleProblem([[0, 0], [0, 1], [1, 1], [1, 0]], [0, 1, 1, 0], weights)
    errors = mt.optimal_errors(problem, 3, exact=True)
    assert errors.proved.all()
    written = [as_written(weight) for weight in weights]
    rows = [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert errors.tolist() == sample_least_errors(rows, [0, 1, 1, 0], written, 3)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_many_classes_against_the_recurrence(noise):
    """Eight classes that three tests tell apart: what the classes say of a child is often tight."""
    for seed in range(5):
        random = np.random.default_rng(seed)
        X = random.integers(0, 2, (40, 7)).astype(np.uint8)
        y = np.where(random.random(40) < noise, random.integers(0, 8, 40), X[:, :3] @ [4, 2, 1])
        solved = mt.optimal_trees(mt.SampleProblem(X, y), 4, exact=True)
        assert [error * 40 for error in solved.errors] == recursive_least_errors(X, y, 4)


@pytest.mark.parametrize(("rows", "seed"), [(40, 51), (40, 56), (80, 17), (80, 34)])
def test_similar_children_bound_one_another(rows, seed):
    """Columns that nearly repeat others, drawn so that bounds one too high give other errors."""
    random = np.random.default_rng(seed)
    origin = random.integers(0, 2, (rows, 3), dtype=np.uint8)
    changes = random.random((3, rows, 3)) < np.array([0.0, 0.03, 0.06])[:, None, None]
    X = np.concatenate(origin ^ changes, axis=1)
    noise = random.random(rows) < 0.15
    y = ((origin[:, 0] ^ origin[:, 1] ^ origin[:, 2] & origin[:, 0]) ^ noise).astype(int)
    found = mt.optimal_errors(mt.SampleProblem(X, y), 4, exact=True)
    assert found.proved.all()
    assert [error * rows for error in found] == recursive_least_errors(X, y, 4)
