"""Bad numbers to predict and bad costs: a ValueError that states the rule and the value."""

import math

import numpy as np
import polars as pl
import pytest

import mictree as mt

X = [[0], [1], [2], [3]]
REGRESSORS = [mt.TopDownRegressor, mt.BestFirstRegressor, mt.OptimalTreeRegressor]
CLASSIFIERS = [mt.TopDownClassifier, mt.LookaheadClassifier, mt.OptimalTreeClassifier]


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2, math.nan, 3], "y must be finite; it has nan"),
        ([1, 2, math.inf, 3], "y must be finite; it has inf"),
        ([1, 2, 1e300, 3], r"squares .* it has 1e\+300"),
        (["a", "b", "c", "d"], "y must hold numbers; it holds 'a'"),
        ([1, 2, None, 3], "y must hold numbers; it holds None"),
        ([1, 2, 3], "inconsistent numbers of samples"),
        ([[1, 2], [3, 4], [5, 6], [7, 8]], "1d array"),
        (None, "requires y to be passed"),
    ],
)
def test_numbers_to_predict(kind, y, message):
    with pytest.raises(ValueError, match=message):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_constant_labels_and_one_row(kind):
    for rows, y in ((X, [7, 7, 7, 7]), ([[1]], [2.5])):
        model = kind(max_size=2).fit(rows, y)
        assert model.tree_.size == 0
        assert model.predict([[9]]).tolist() == [y[0]]
        assert model.to_rules()[0].measures == (("spread", 0.0),)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_settings_of_regressors(kind):
    for settings, message in (
        ({"max_size": -1}, "max_size must be an integer of at least 0"),
        ({"max_size": "most"}, "max_size"),
        ({"max_depth": 0.5}, "max_depth"),
        ({"max_thresholds": 0}, "max_thresholds must be at least 1"),
        ({"min_weight_fraction_leaf": 0.7}, "from 0 to 0.5"),
    ):
        with pytest.raises(ValueError, match=message):
            kind(**settings).fit(X, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="ties must be one of"):
        mt.TopDownRegressor(ties="both").fit(X, [1, 2, 3, 4])
    with pytest.raises(TypeError, match="criterion"):
        mt.TopDownRegressor(criterion="gini")


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, -1], [1, 0]], "cost_matrix must not be negative; it has -1"),
        ([[0, math.nan], [1, 0]], "cost_matrix must be finite; it has nan"),
        ([[0, math.inf], [1, 0]], "cost_matrix must be finite; it has inf"),
        ([[0, 1, 1], [1, 0, 1]], r"each of the 2 classes; its shape is \(2, 3\)"),
        ([0, 1], r"its shape is \(2,\)"),
        ({"no": {"no": 0}, "maybe": {"no": 1}}, "classes of y; there is no 'maybe'"),
        ({"no": {"no": 0}}, "every class; 'yes' is not there"),
        ({"no": {"no": 0, "yes": 1}, "yes": {"no": 1}}, "'yes' has none for 'yes'"),
        ({"no": {"no": "0"}, "yes": {"no": 1}}, "must hold numbers; it holds '0'"),
    ],
)
def test_cost_matrices(kind, matrix, message):
    with pytest.raises(ValueError, match=message):
        kind(max_size=1, cost_matrix=matrix).fit(X, ["no", "no", "yes", "yes"])
    with pytest.raises(ValueError, match=message):
        mt.compare("topdown", X * 3, ["no", "no", "yes", "yes"] * 3, 1, cv=0, cost_matrix=matrix)
    with pytest.raises(ValueError, match=message):
        mt.select_size(kind(max_size=1, cost_matrix=matrix), X * 3, ["no", "no", "yes", "yes"] * 3)


def test_a_class_that_costs_nothing_to_miss_needs_minority():
    matrix = {"no": {"no": 0, "yes": 0}, "yes": {"no": 1, "yes": 0}}
    with pytest.raises(ValueError, match='use criterion="minority"'):
        mt.TopDownClassifier(cost_matrix=matrix).fit(X, ["no", "no", "yes", "yes"])
    model = mt.TopDownClassifier(cost_matrix=matrix, criterion="minority")
    assert model.fit(X, ["no", "no", "yes", "yes"]).predict(X).tolist() == ["yes"] * 4
    labels = ["no", "no", "yes", "yes"] * 3  # rules whose criterion nobody named take it
    compared = mt.compare(["topdown"], X * 3, labels, 1, cv=0, cost_matrix=matrix)
    assert compared.mic("topdown") == (0.0, 0.0)
    best = mt.OptimalTreeClassifier(cost_matrix=matrix, min_samples_leaf=2)
    assert best.fit(X, ["no", "no", "yes", "yes"]).frontier_.upper.max() == 0


@pytest.mark.parametrize("name", ["costs", "rewards"])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, math.nan]] * 4, "must be finite; it has nan"),
        ([[1, -math.inf]] * 4, "must be finite; it has -inf"),
        ([1, 2, 3, 4], r"must be a table of rows and actions; its shape is \(4,\)"),
        (np.empty((4, 0)), r"must be a table of rows and actions; its shape is \(4, 0\)"),
        ([[1, 2]] * 3, "must have as many rows; they have 4, 3"),
        ([["a", "b"]] * 4, "must hold numbers; it holds 'a'"),
    ],
)
def test_costs_of_actions(name, table, message):
    with pytest.raises(ValueError, match=f"{name} {message}|and {name} {message}"):
        mt.OptimalPolicyTree().fit(X, **{name: table})


def test_one_of_costs_and_rewards():
    model = mt.OptimalPolicyTree(max_size=1)
    costs = pl.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 2, 2, 2]})
    with pytest.raises(
        ValueError, match="costs or rewards must be given, one of both; got neither"
    ):
        model.fit(X)
    with pytest.raises(ValueError, match="got both"):
        model.fit(X, costs, rewards=costs)
    model.fit(X, costs)
    with pytest.raises(ValueError, match="got neither"):
        model.value(X)
    with pytest.raises(ValueError, match="costs must have every action; there is no 'b'"):
        model.value(X, costs.select("a"))
    with pytest.raises(ValueError, match=r"each of the 2 actions; its shape is \(4, 3\)"):
        model.value(X, np.ones((4, 3)))
    with pytest.raises(ValueError, match="must have as many rows; they have 2, 4"):
        model.value(X[:2], costs)
    with pytest.raises(ValueError, match="max_size must be an integer"):
        mt.OptimalPolicyTree(max_size="auto").fit(X, costs)
    with pytest.raises(ValueError, match="classifier of mictree, or a regressor"):
        mt.select_size(model, X, [1, 2, 3, 4])


def test_comparisons_of_numbers():
    rows, y = X * 3, [1.0, 2.0, 3.5, 4.0] * 3
    with pytest.raises(ValueError, match='loss must be None or "squared"'):
        mt.compare("topdown", rows, y, 1, loss="absolute")
    with pytest.raises(ValueError, match="must all be regressors"):
        mt.compare([mt.TopDownRegressor(), mt.TopDownClassifier()], rows, y, 1)
    for name, value in (("cost_matrix", [[0, 1], [1, 0]]), ("class_weight", "balanced")):
        with pytest.raises(ValueError, match=f"{name} needs classes"):
            mt.compare("topdown", rows, y, 1, loss="squared", **{name: value})
    with pytest.raises(ValueError, match="cv must be at most the number of rows, 12"):
        mt.compare("topdown", rows, y, 1, loss="squared", cv=13)
    with pytest.raises(ValueError, match="y must be finite"):
        mt.compare("topdown", rows, [math.nan, *y[1:]], 1, loss="squared")
    with pytest.raises(ValueError, match="accuracy says"):
        mt.compare("topdown", rows, y, 1, loss="squared", scoring="accuracy", cv=2)
    with pytest.raises(ValueError, match="give it to compare"):
        mt.compare(mt.TopDownClassifier(cost_matrix=[[0, 1], [1, 0]]), rows, [0, 1] * 6, 1)


def test_other_questions_refuse_costs():
    problems = {
        "squared": mt.SampleProblem(X, [1, 2, 3, 9], loss="squared"),
        "costs": mt.SampleProblem(X, costs=[[1, 2], [2, 1], [1, 2], [2, 1]]),
        "cost matrix": mt.SampleProblem(X, [0, 1, 0, 1], cost_matrix=[[0, 1], [5, 0]]),
    }
    for name, problem in problems.items():
        with pytest.raises(ValueError, match=f"the problem has {name}"):
            mt.forest_errors(problem, trees=2, max_size=1)
        with pytest.raises(ValueError, match=f"the problem has {name}"):
            mt.optimal_errors(problem, 1, top=1)
    for name in ("squared", "costs"):
        with pytest.raises(ValueError, match="impurity needs classes"):
            mt.optimal_tree(problems[name], 1).impurity(problems[name])
    with pytest.raises(ValueError, match="leave the criterion out"):
        mt.TopDown("gini").grow(problems["squared"], 1)
