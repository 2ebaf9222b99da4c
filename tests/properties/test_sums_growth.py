"""Growth by sums over rows (squared error, costs) against the generic loop and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

import mictree as mt
from mictree.growers import data_sums
from mictree.growers.loop import grow_any
from mictree.growers.rules import RULES, TIES
from mictree.problems.sample import Limits, SampleProblem
from tests.properties.test_sample_growth import as_table, data_sets

SIZE = 9
FAST_RULES = sorted(set(RULES) - {"lookahead"})  # lookahead takes the generic loop


class Cautious(mt.Grower):
    """An own rule, called back from the kernel."""

    def priority(self, reach: float, gain: float, born: int) -> float:
        return reach * gain**2 + born / 1000


def rule_of(name, ties="last", criterion=None):
    kind = Cautious if name == "cautious" else RULES[name]
    return kind(criterion, ties, seed=11)


@st.composite
def tasks(draw, limits=False):
    """Rows as of ``data_sets`` with numbers, costs, or a cost matrix, all of them whole."""
    rows, labels, weights = draw(data_sets(most_rows=40))
    whole = st.integers(-3, 4)
    kind = draw(st.sampled_from(["squared", "costs", "cost_matrix"]))
    given: dict = {"sample_weight": weights}
    if limits:
        given["limits"] = Limits(
            draw(st.integers(2, 8)), draw(st.integers(1, 5)), draw(st.integers(0, 4)),
            draw(st.sampled_from([0, 0.1, 1])), draw(st.sampled_from([0, 0.125, 0.25])),
        )  # fmt: skip
    if kind == "squared":
        y = draw(st.lists(whole, min_size=len(rows), max_size=len(rows)))
        return as_table(rows), y, {"loss": "squared", **given}
    actions = draw(st.integers(1, 4))
    if kind == "costs":
        each = st.lists(whole, min_size=actions, max_size=actions)
        costs = draw(st.lists(each, min_size=len(rows), max_size=len(rows)))
        return as_table(rows), None, {"costs": costs, **given}
    names = sorted({*labels, *([0, 1] if set(labels) <= {0, 1} else [])})
    matrix = {
        name: {f"action {number}": draw(st.integers(0, 3)) for number in range(actions)}
        for name in names
    }
    if draw(st.booleans()):
        given["class_weight"] = [draw(st.sampled_from([0.5, 1, 2])) for _ in names]
    return as_table(rows), labels, {"cost_matrix": matrix, **given}


def criterion_for(settings):
    return "minority" if "cost_matrix" in settings else None


def assert_same(computed, expected):
    """The same splits, labels, gains and errors."""
    for name in ("leaf", "position", "threshold", "variable"):
        assert [getattr(step, name) for step in computed.steps] == [
            getattr(step, name) for step in expected.steps
        ]
    assert computed.labels == expected.labels
    for name in ("gain", "reach"):
        np.testing.assert_allclose(
            [getattr(step, name) for step in computed.steps],
            [getattr(step, name) for step in expected.steps],
            rtol=1e-9, atol=1e-12,
        )  # fmt: skip
    np.testing.assert_allclose(computed.errors, expected.errors, rtol=1e-9, atol=1e-12)


@given(tasks(), st.sampled_from([*FAST_RULES, "cautious"]), st.sampled_from(TIES))
@settings(max_examples=300)
def test_compiled_loop_is_the_generic_loop(case, rule, ties):
    X, y, given = case
    problem = SampleProblem(X, y, **given)
    grower = rule_of(rule, ties, criterion_for(given))
    assert_same(grower.grow(problem, SIZE), grow_any(grower, problem, SIZE))


@given(tasks(limits=True), st.sampled_from([*FAST_RULES, "cautious"]), st.sampled_from(TIES),
       st.sampled_from([None, 1, 2, 3]))  # fmt: skip
@settings(max_examples=200)
def test_limits_and_bins_are_those_of_the_generic_loop(case, rule, ties, most):
    X, y, given = case
    problem = SampleProblem(X, y, max_thresholds=most, **given)
    grower = rule_of(rule, ties, criterion_for(given))
    assert_same(grower.grow(problem, SIZE), grow_any(grower, problem, SIZE))


@pytest.mark.parametrize("kind", ["squared", "costs", "cost_matrix"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows(kind, weighted):
    """Leaves of many blocks, of many chunks of bits, and of few rows among many words."""
    random = np.random.default_rng(5)
    bits = (random.random((700, 5)) < 0.4).astype(float)
    X = np.column_stack([bits, random.permutation(700), random.normal(size=700).round(1)])
    X[random.random(700) < 0.1, 6] = math.nan
    score = bits[:, 0] * bits[:, 1] + 0.003 * X[:, 5] + random.normal(size=700)
    weights = random.integers(1, 6, 700) if weighted else None
    y, given = score.round(2), {"loss": "squared"}
    if kind == "costs":
        y, given = None, {"costs": np.column_stack([score, -score, random.random(700)]).round(2)}
    elif kind == "cost_matrix":
        labels = np.digitize(score, [0.5, 1.5])
        y, given = labels, {"cost_matrix": [[0, 1, 5], [2, 0, 1], [3, 2.5, 0]]}
    problem = SampleProblem(X, y, weights, **given)
    grower = mt.TopDown(criterion_for(given))
    assert_same(grower.grow(problem, 25), grow_any(grower, problem, 25))


@pytest.mark.parametrize("weighted", [False, True])
def test_deep_growth_on_bits(weighted):
    random = np.random.default_rng(6)
    bits = (random.random((3000, 6)) < 0.5).astype(np.uint8)
    y = bits[:, 0] * bits[:, 1] + 2 * bits[:, 2] * bits[:, 3] + random.integers(0, 3, 3000)
    weights = random.integers(1, 4, 3000) if weighted else None
    problem = SampleProblem(bits, y, weights, loss="squared")
    assert_same(mt.TopDown().grow(problem, 63), grow_any(mt.TopDown(), problem, 63))


def sides(tree, X, leaves):
    """Which rows share a leaf, whatever the leaves are called."""
    return {tuple(np.flatnonzero(leaves == leaf)) for leaf in np.unique(leaves)}


def leaves_of(growth, X):
    """The number of each row's leaf, by the thresholds of the growth."""
    leaves = np.zeros(len(X), dtype=int)
    for number, step in enumerate(growth.steps):
        column, _ = growth.problem.literals.locate(step.position)
        threshold = 0.5 if step.threshold is None else step.threshold
        here = leaves == step.leaf
        leaves[here] = 2 * number + 1 + (X[here, column] > threshold)
    return leaves


@pytest.mark.parametrize("seed", range(300))
def test_trees_are_scikit_learns(seed):
    """Inputs that 32 bits hold, and leaves large enough that no two columns split them alike."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(60, 900)), int(random.integers(1, 6))
    X = random.normal(size=(rows, columns))
    if seed % 3 == 1:
        X = X.round(1)
    if seed % 5 == 4:
        X[:, 0] = X[:, 0] > 0
    X = X.astype(np.float32).astype(float)
    noise = random.normal(size=rows) if seed % 2 else random.pareto(1.5, rows)
    y = X[:, 0] * 2 + np.sin(3 * X[:, -1]) + noise
    y *= 10.0 ** random.integers(-6, 7)
    if seed % 4 == 2:
        y += 10 * np.abs(y).max()  # more, and scikit-learn's own sums lose digits
    weights = random.random(rows) ** 3 if seed % 7 < 3 else None
    depth, least = (int(random.integers(2, 7)), 8) if seed % 6 == 5 else (None, 12)
    size = int(random.integers(1, 12))
    other = DecisionTreeRegressor(
        max_leaf_nodes=size + 1, max_depth=depth, min_samples_leaf=least, random_state=0
    ).fit(X, y, weights)
    limits = Limits(min_samples_leaf=least, max_depth=depth)
    growth = mt.TopDown().grow(SampleProblem(X, y, weights, loss="squared", limits=limits), size)
    assert sides(growth, X, leaves_of(growth, X)) == sides(other, X, other.apply(X))
    predicted = np.array(growth.labels)[leaves_of(growth, X)]
    np.testing.assert_allclose(predicted, other.predict(X), rtol=1e-9)


@given(data_sets(), st.sampled_from(FAST_RULES), st.sampled_from(TIES))
@settings(max_examples=100)
def test_labels_of_0_and_1_grow_the_trees_of_gini(case, rule, ties):
    rows, labels, weights = case
    labels = [label % 2 for label in labels]
    X = as_table(rows)
    numbers = rule_of(rule, ties).grow(SampleProblem(X, labels, weights, loss="squared"), SIZE)
    problem = SampleProblem(X, labels, weights)
    classes = rule_of(rule, ties, "gini").grow(problem, SIZE)
    assert [step.variable for step in numbers.steps] == [step.variable for step in classes.steps]
    assert [step.leaf for step in numbers.steps] == [step.leaf for step in classes.steps]
    impurities = [classes.tree(size).impurity(problem, "gini") for size in range(SIZE + 1)]
    np.testing.assert_allclose(2 * numbers.errors, impurities, atol=1e-12)


@given(data_sets(), st.sampled_from(FAST_RULES), st.sampled_from(TIES))
@settings(max_examples=100)
def test_costs_of_mistakes_grow_the_trees_of_minority(case, rule, ties):
    rows, labels, weights = case
    X, count = as_table(rows), max(2, max(labels) + 1)
    mistakes = (1 - np.eye(count))[labels]
    classes = rule_of(rule, ties, "minority").grow(SampleProblem(X, labels, weights), SIZE)
    for problem in (
        SampleProblem(X, None, weights, costs=mistakes),
        SampleProblem(X, labels, weights, cost_matrix=1 - np.eye(len(classes.problem.classes))),
    ):
        costs = rule_of(rule, ties, "minority").grow(problem, SIZE)
        assert [step.variable for step in costs.steps] == [step.variable for step in classes.steps]
        assert [step.leaf for step in costs.steps] == [step.leaf for step in classes.steps]
        np.testing.assert_allclose(costs.errors, classes.errors, atol=1e-12)


@given(data_sets(), st.data())
@settings(max_examples=100)
def test_a_constant_added_to_the_costs_of_a_row_changes_nothing(case, data):
    rows, labels, weights = case
    X, count = as_table(rows), len(rows)
    costs = np.array(labels)[:, None] * np.array([0.1, -0.7, 0.3]) + np.array([0.2, 0.6, 0.0])
    constants = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count)))
    plain = mt.TopDown().grow(SampleProblem(X, None, weights, costs=costs.round(1)), SIZE)
    moved = (costs + constants[:, None] / 10).round(1)
    other = mt.TopDown().grow(SampleProblem(X, None, weights, costs=moved), SIZE)
    assert [(step.leaf, step.variable) for step in plain.steps] == [
        (step.leaf, step.variable) for step in other.steps
    ]
    assert plain.labels == other.labels
    mean = np.average(constants / 10, weights=weights)
    np.testing.assert_allclose(other.errors, plain.errors + mean, atol=1e-12)


@given(data_sets(), st.sampled_from(["squared", "costs"]), st.sampled_from([10, 100, 1 / 8, 2**20]),
       st.sampled_from([1, 10, 1 / 8]), st.sampled_from(TIES))  # fmt: skip
@settings(max_examples=150)
def test_units_of_labels_costs_and_weights_change_no_tree(case, kind, unit, weight_unit, ties):
    """Decimals and multiples of one weight are whole numbers, whose ties are ties."""
    rows, labels, weights = case
    X, numbers = as_table(rows), np.array(labels)
    weights = np.array(weights or [1] * len(rows))
    if kind == "costs":
        numbers = np.column_stack([numbers, 3 - numbers, numbers * 0 + 1])
    grown = []
    for per_label, per_weight in ((1, 1), (unit, weight_unit)):
        given = {"costs": numbers / per_label} if kind == "costs" else {"loss": "squared"}
        y = None if kind == "costs" else numbers / per_label
        problem = SampleProblem(X, y, weights / per_weight, **given)
        grown.append(rule_of("topdown", ties).grow(problem, SIZE))
    assert [(s.leaf, s.variable) for s in grown[0].steps] == [
        (s.leaf, s.variable) for s in grown[1].steps
    ]


@pytest.mark.parametrize("kind", ["decimals", "any"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_rows_changes_no_gain(kind, weighted):
    random = np.random.default_rng(9)
    X = np.column_stack([random.integers(0, 2, (300, 2)), random.normal(size=(300, 2)).round(1)])
    y = random.normal(size=300)
    if kind == "decimals":
        y = y.round(2)
    weights = random.random(300) if weighted else np.ones(300)
    expected = mt.TopDown().grow(SampleProblem(X, y, weights, loss="squared"), 20)
    for _ in range(3):
        order = random.permutation(300)
        problem = SampleProblem(X[order], y[order], weights[order], loss="squared")
        growth = mt.TopDown().grow(problem, 20)
        assert [step.variable for step in growth.steps] == [s.variable for s in expected.steps]
        gains = [step.gain for step in growth.steps]
        if kind == "decimals":  # elsewhere the number that is taken off all labels is rounded
            assert gains == [step.gain for step in expected.steps]
        np.testing.assert_allclose(gains, [s.gain for s in expected.steps], rtol=1e-12)


def test_equal_columns_tie():
    """The last of two equal columns, whose sums are added in different orders."""
    random = np.random.default_rng(2)
    value, y = random.integers(0, 40, 500), random.normal(size=500)
    X = np.column_stack([value, 10 * value + random.random(500), value])
    growth = mt.TopDown().grow(SampleProblem(X, y, loss="squared"), 6)
    columns = [growth.problem.literals.locate(step.position)[0] for step in growth.steps]
    assert 0 not in columns


def slow_drops(x, y, weights):
    """The drop in squared error by each cut of a column, with Python's whole numbers."""
    order = np.argsort(x, kind="stable")
    x, y, weights = (np.array(each, dtype=object)[order] for each in (x, y, weights))
    drops = {}
    for place in range(1, len(x)):
        if x[place] > x[place - 1]:
            low, high = slice(0, place), slice(place, None)
            masses = [int(weights[side].sum()) for side in (low, high)]
            sums = [int((weights[side] * y[side]).sum()) for side in (low, high)]
            cross = sums[0] * masses[1] - sums[1] * masses[0]
            drops[place] = (cross * cross, masses[0] * masses[1])
    return drops


@pytest.mark.parametrize("offset", [0, 10**9, 10**15])
@pytest.mark.parametrize("heavy", [1, 10**6])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_cut_is_found_whatever_the_weights_and_the_mean(offset, heavy, seed):
    """Against whole numbers of any size: extreme weights, labels far from 0 and from each other."""
    random = np.random.default_rng(seed)
    count = 400
    x = random.permutation(count) // (1 + seed % 3)
    y = offset + random.integers(0, 4, count) + (x > 150 + 20 * seed) * (seed % 2)
    if seed % 4 == 3:
        y[random.integers(count)] += 10**15
    weights = np.where(random.random(count) < 0.3, heavy, 1)
    problem = SampleProblem(x[:, None], y, weights, loss="squared")
    (step,) = mt.TopDown().grow(problem, 1).steps
    drops = slow_drops(x.tolist(), y.tolist(), weights.tolist())
    place = int((x <= step.threshold).sum())
    found = drops[place]
    assert all(found[0] * other[1] >= other[0] * found[1] for other in drops.values())
    total = int(weights.sum())
    gain = found[0] / (found[1] * total * total)
    assert math.isclose(step.gain, gain, rel_tol=1e-9)


def test_no_row_is_heavier_than_its_own_split():
    """A weight of a million beside ones: the heavy row is split off, and errors stay exact."""
    y = [0, 1, 0, 1, 0, 7]
    problem = SampleProblem([[1], [2], [3], [4], [5], [6]], y, [1, 1, 1, 1, 1, 1e6], loss="squared")
    growth = mt.TopDown().grow(problem, 3)
    assert growth.steps[0].threshold == 5.5
    expected = [float(error) for error in growth.exact_errors]
    np.testing.assert_allclose(growth.errors, expected, rtol=1e-12)


@pytest.mark.parametrize("y", [[3.5], [0.1, 0.1, 0.1], [1e144, 1e144], [0.0, 0.0]])
def test_pure_data_are_not_split(y):
    X = np.arange(len(y))[:, None]
    growth = mt.TopDown().grow(SampleProblem(X, y, loss="squared"), 4)
    assert growth.steps == ()
    assert growth.errors.tolist() == [0.0] * 5
    assert growth.labels == (y[0],)
    costs = mt.TopDown().grow(SampleProblem(X, costs=np.column_stack([y, np.add(y, 1)])), 4)
    assert costs.steps == ()
    np.testing.assert_allclose(costs.errors, y[0])


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e140])
def test_labels_of_any_size(scale):
    random = np.random.default_rng(1)
    X, y = random.normal(size=(80, 2)), random.normal(size=80)
    growth = mt.TopDown().grow(SampleProblem(X, y * scale, loss="squared"), 10)
    plain = mt.TopDown().grow(SampleProblem(X, y, loss="squared"), 10)
    assert [step.variable for step in growth.steps] == [step.variable for step in plain.steps]
    np.testing.assert_allclose(growth.errors / scale**2, plain.errors, rtol=1e-9)


def test_labels_far_apart():
    """1e15 apart: the small differences within both groups are found too."""
    X = np.arange(8)[:, None]
    y = np.array([0, 1, 0, 1, 1e15, 1e15 + 1, 1e15, 1e15 + 1])
    growth = mt.TopDown().grow(SampleProblem(X, y, loss="squared"), 7)
    assert growth.steps[0].threshold == 3.5
    assert growth.errors[1] == 0.25
    assert growth.errors[-1] == 0
    assert sorted(growth.tree(7).labels)[-4:]  # every row has a leaf of its own
    assert len(growth.steps) == 7


def test_a_split_of_no_gain_is_made():
    """XOR: both columns gain nothing at first, with labels that binary fractions do not hold."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 3, [0.1, 0.7, 0.7, 0.1] * 3
    growth = mt.TopDown().grow(SampleProblem(X, y, loss="squared"), 5)
    assert growth.steps[0].gain == 0.0
    assert growth.steps[0].variable == "x1"
    assert growth.errors[3] == 0.0
    assert len(growth.steps) == 3


@pytest.mark.parametrize("labels", [(0.1, 0.7), (math.sqrt(2), math.pi)])
def test_equal_labels_weigh_alike(labels):
    """XOR again, with cells of the same weight in rows of different weights."""
    weights = {(0, 0): (1, 2, 4), (0, 1): (3, 4), (1, 0): (7,), (1, 1): (7,)}
    rows = [(cell, weight) for cell, each in weights.items() for weight in each]
    y = [labels[a ^ b] for (a, b), _ in rows]
    X, sample_weight = [cell for cell, _ in rows], [weight for _, weight in rows]
    growth = mt.TopDown().grow(SampleProblem(X, y, sample_weight, loss="squared"), 5)
    assert growth.steps[0].gain == 0.0
    assert growth.steps[0].variable == "x1"
    assert len(growth.steps) == 3
    assert growth.errors[3] == 0.0


@pytest.mark.parametrize("groups", [3, 5, 6, 7, 9, 11, 13])
def test_equal_means_gain_nothing(groups):
    """Also where the mean is no whole number of any unit: floats round its multiples."""
    y = ([0] * 160 + [1]) * groups
    X = np.arange(groups).repeat(161)[:, None] >= np.arange(1, groups)
    problem = SampleProblem(X.astype(float), y, loss="squared")
    (step,) = mt.TopDown().grow(problem, 1).steps
    assert step.gain == 0.0
    assert step.variable == f"x{groups - 2}"


@pytest.mark.parametrize("factors", [None, [2.0, 2.0], [0.5, 1.5]])
def test_light_leaves_whatever_the_unit_of_weights(factors):
    """A quarter of the weight is a quarter, whatever the weights have in common."""
    limits = Limits(min_weight_fraction_leaf=0.25)
    X, y = np.arange(8)[:, None], [9, 0, 0, 0, 0, 0, 0, 0]
    if factors is None:
        problem = SampleProblem(X, y, [6] * 8, loss="squared", limits=limits)
        assert mt.TopDown().grow(problem, 1).steps[0].threshold == 1.5
        return
    labels = [1, 0, 0, 0, 1, 0, 0, 1]
    problem = SampleProblem(
        X, labels, [6] * 8, cost_matrix=[[0, 1], [3, 0]], class_weight=factors, limits=limits
    )
    rule = mt.TopDown("minority")
    assert_same(rule.grow(problem, 5), grow_any(rule, problem, 5))


def test_costs_of_very_different_size():
    """A leaf is not pure because its costs are small beside those of other rows."""
    costs = [[0, 1e20], [1e20, 0], [1e-20, 0], [0, 1e-20]]
    growth = mt.TopDown().grow(SampleProblem([[1], [2], [3], [4]], costs=costs), 5)
    assert len(growth.steps) == 2
    assert growth.errors[-1] == 0


def test_priorities_that_are_none_are_refused():
    class Wrong(mt.Grower):
        def priority(self, reach: float, gain: float, born: int) -> float:
            return math.nan

    problem = SampleProblem([[1], [2], [3]], [1, 2, 4], loss="squared")
    with pytest.raises(ValueError, match="a priority must be a number"):
        Wrong().grow(problem, 2)


def test_whole_numbers_are_exact_for_decimals():
    random = np.random.default_rng(3)
    y, weights = random.normal(size=50).round(3), random.integers(1, 9, 50) / 4
    problem = SampleProblem(np.arange(50)[:, None], y, weights, loss="squared")
    whole = data_sums._whole_rows(problem)
    numbers = whole.numbers[problem.slots, 0].tolist()
    ratios = {
        round((number - numbers[0] * weight / weights[0]) * whole.unit / whole.weight_unit, 9)
        for number, weight in zip(numbers, (4 * weights).tolist(), strict=True)
    }
    assert len(ratios) > 1
    assert sum(map(abs, numbers)) < 2**61
