"""SampleProblem as a distribution, its limits, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest

import mictree as mt
from mictree.problems.sample import Limits, SampleProblem


def test_probabilities_are_shares_of_rows():
    problem = SampleProblem([[0, 1], [1, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    assert problem.variables == ("x0", "x1")
    assert problem.reach({"x0": 1}, exact=True) == Fraction(3, 4)
    assert problem.positive_rate({"x0": 1}, exact=True) == Fraction(2, 3)
    assert problem.branch_probability({"x0": 1}, "x1") == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="tested twice"):
        problem.children(problem.leaf({"x0": 1}), 0)


def test_weights_are_shares_of_weight():
    problem = SampleProblem([[0], [1], [1]], [0, 1, 0], sample_weight=[0.5, 0.25, 0.25])
    assert problem.reach({"x0": 1}, exact=True) == Fraction(1, 2)
    assert problem.positive_rate({}) == 0.25
    tripled = SampleProblem([[0], [1], [1]], [0, 1, 0], class_weight=[1, 3])
    assert tripled.positive_rate({}, exact=True) == Fraction(3, 5)


def test_rows_without_weight_are_left_out():
    weighted = SampleProblem([[1.0], [2.0], [9.0]], [0, 1, 1], sample_weight=[1, 1, 0])
    assert weighted.variables == ("x0 > 1.5",)


def test_the_first_class_wins_ties():
    problem = SampleProblem([[0], [0]], ["b", "a"])
    assert problem.classes == ("a", "b")
    assert problem.root().label == 0
    assert mt.TopDown().grow(problem, 3).tree(3).labels == (0,)


def test_labels_zero_and_one_stay_themselves():
    assert SampleProblem([[0], [1]], [1, 1]).root().label == 1
    assert SampleProblem([[0], [1]], [True, True]).classes == (0, 1)


@pytest.mark.parametrize("rule", [mt.TopDown, mt.BestFirst, mt.ID3])
def test_zero_gain_is_split(rule):
    xor = SampleProblem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    np.testing.assert_array_equal(rule().grow(xor, 3).errors, [0.5, 0.5, 0.25, 0])


def test_random_ties_follow_their_seed():
    random = np.random.default_rng(0)
    twins = np.repeat(random.integers(0, 2, (50, 5)), 2, axis=1)
    problem = SampleProblem(twins, random.integers(0, 2, 50))
    trees = [mt.TopDown(ties="random", seed=seed).grow(problem, 8).tree(8) for seed in range(8)]
    assert mt.TopDown(ties="random", seed=3).grow(problem, 8).tree(8) == trees[3]
    assert len(set(trees)) > 1


def test_random_ties_are_uniform():
    twins = SampleProblem(np.repeat([[0], [1]], 4, axis=1), [0, 1])
    counts = np.zeros(4)
    for seed in range(2000):
        step = mt.TopDown(ties="random", seed=seed).grow(twins, 1).steps[0]
        counts[int(step.variable[1])] += 1
    assert counts.min() > 400  # expected 500, standard deviation 19


def test_growth_on_a_large_sample_is_the_exact_growth():
    biases = {"a": 0.62, "b": 0.55, "c": 0.7, "d": 0.45, "e": 0.66, "f": 0.5}
    exact = mt.FormulaProblem("a & b | c & d & e", biases)
    random = np.random.default_rng(7)
    X = (random.random((1_000_000, 6)) < list(biases.values())).astype(np.uint8)
    y = exact.formula.evaluate(X, tuple(biases))[: len(X)]
    sample = SampleProblem(X, y)
    for rule in (mt.TopDown(), mt.BestFirst(), mt.ID3(), mt.TopDown("gini")):
        ours, truth = rule.grow(sample, 6), rule.grow(exact, 6)
        names = [list(biases)[int(step.variable[1:])] for step in ours.steps]
        assert names == [step.variable for step in truth.steps]
        np.testing.assert_allclose(ours.errors, truth.errors, atol=2e-3)


def test_bad_values():
    with pytest.raises(ValueError, match="at least one row"):
        SampleProblem(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="as many rows; they have 2, 1"):
        SampleProblem([[0], [1]], [0])
    with pytest.raises(ValueError, match="y must not contain NaN"):
        SampleProblem([[0], [1]], [0, np.nan])
    with pytest.raises(ValueError, match="missing values"):
        SampleProblem([[0], [1]], np.array(["a", None], dtype=object))
    with pytest.raises(ValueError, match="one dimension"):
        SampleProblem([[0], [1]], [[0], [1]])
    for weights, rule in (
        ([1], "one number a row"), ([1, -1], "not negative"), ([0, 0], "all are zero"),
        ([1, np.inf], "finite"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rule):
            SampleProblem([[0], [1]], [0, 1], sample_weight=weights)
    for limits in (
        {"min_samples_split": -1}, {"min_samples_leaf": 1.5}, {"max_depth": -1},
        {"min_gain": -0.1}, {"min_weight_fraction_leaf": 0.6},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(limits))):
            Limits(**limits)
    with pytest.raises(ValueError, match="max_thresholds"):
        SampleProblem([[0], [1]], [0, 1], max_thresholds=0)


def test_odd_shapes():
    assert mt.TopDown().grow(SampleProblem([[1, 2]], [1]), 4).errors.tolist() == [0] * 5
    constant = SampleProblem(np.ones((4, 3)), [0, 1, 1, 1])
    assert constant.variables == ()
    assert mt.TopDown().grow(constant, 2).errors.tolist() == [0.25] * 3
    wide = SampleProblem(np.eye(5, 300, dtype=np.uint8), [0, 1, 0, 1, 0])
    assert mt.TopDown().grow(wide, 4).errors[-1] == 0
    none = SampleProblem(np.empty((3, 0)), [0, 1, 1])
    assert mt.TopDown().grow(none, 2).errors[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize("weight", [1, 2.5])
def test_a_lone_number_is_the_weight_of_every_row(weight):
    X, y = [[0, 1], [1, 1], [1, 0]], [0, 1, 1]
    weighted = SampleProblem(X, y, weight)
    assert weighted.positive_rate({"x1": 1}) == SampleProblem(X, y).positive_rate({"x1": 1})
    with pytest.raises(ValueError, match="finite and not negative"):
        SampleProblem(X, y, -weight)
