"""compare, mic and identify_rule with numbers to predict and costs of mistakes."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GroupKFold, KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import mictree as mt
from mictree.comparison.growth_order import ORDERS

COSTS = {
    "a": {"a": 0, "b": 1, "ask": 0.4},
    "b": {"a": 6, "b": 0, "ask": 0.4},
    "c": {"a": 1, "b": 3, "ask": 0.4},
}


@pytest.fixture(scope="module")
def rents():
    random = np.random.default_rng(2)
    X = pd.DataFrame({"size": random.integers(20, 90, 60), "town": random.choice(["x", "y"], 60)})
    return X, X["size"] * 1.5 + 10 * (X["town"] == "y") + random.integers(-5, 6, 60)


@pytest.fixture(scope="module")
def cases():
    random = np.random.default_rng(4)
    X = random.integers(0, 2, (90, 4))
    y = np.array(["a", "b", "c"])[(X[:, 0] + X[:, 1] + (random.random(90) < 0.2)) % 3]
    return X, y


@pytest.fixture(scope="module")
def of_rents(rents):
    return mt.compare(["topdown", "sklearn", mt.BestFirstRegressor()], *rents, 3, cv=4, repeats=1)


def test_training_errors_are_mean_squared_errors(of_rents, rents):
    X, y = rents
    problem = mt.SampleProblem(X, y, loss="squared")
    assert of_rents.optimal_errors.upper == pytest.approx(mt.optimal_errors(problem, 3).upper)
    assert of_rents.training_errors["topdown"] == pytest.approx(
        mt.TopDown().grow(problem, 3).errors
    )
    assert of_rents.training_errors["sklearn"] == pytest.approx(
        of_rents.training_errors["topdown"]
    )  # scikit-learn grows TopDown's trees
    assert of_rents.mic("topdown")[0] == pytest.approx(mt.mic("topdown", problem, 3).mic)


def test_folds_of_numbers_are_plain(of_rents, rents):
    X, y = rents
    X = X.assign(town=X["town"] == "y").to_numpy(float)
    errors = []
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        model = mt.OptimalTreeRegressor(max_size=2).fit(X[train], y[train])
        errors.append(mean_squared_error(y[test], model.predict(X[test])))
    assert of_rents.held_out["optimal"].mean[2] == pytest.approx(np.mean(errors))


def test_texts_name_the_measure(of_rents):
    text = str(of_rents)
    assert "60 rows" in text
    assert "numbers; held-out mean squared error by 4-fold cross-validation" in text
    assert "(mean squared error)" in of_rents.findings[0]
    size = of_rents.advised_size
    errors, held = of_rents.optimal_errors, of_rents.held_out["optimal"].mean
    shares = [1 - each[size] / each[0] for each in (errors.upper, held)]
    line = "R^2 of the optimal tree of size {}: {:.3f} on training rows, {:.3f} on new rows"
    assert line.format(size, *shares) in of_rents.findings
    assert of_rents.plot().axes[0].get_ylabel() == "mean squared error"
    assert of_rents.frame.height == 16
    assert of_rents.cells(0)[1] == f"{errors.upper[0]:.5g}"
    with pytest.raises(ValueError, match="there are none"):
        of_rents.class_results(1)


def test_advice_in_units_of_the_measure(rents):
    X, y = rents
    result = mt.compare(
        {"poor": lambda X, y, size: _Mean(y)}, X, y, 2, cv=3, repeats=1, loss="squared"
    )
    assert " in mean squared error on training rows, and clearly better" in result.advice[0]
    least, most = (ends[result.advised_size] for ends in result.excess("poor"))
    assert most > 0
    assert f"by {least:.4g} in mean squared error" in result.advice[0]


class _Mean:
    def __init__(self, y):
        self.mean = float(np.mean(y))

    def predict(self, X):
        return np.full(len(X), self.mean)


def test_the_model_is_a_regressor(of_rents, rents):
    X, y = rents
    model = of_rents.model(3)
    assert isinstance(model, mt.OptimalTreeRegressor)
    assert mean_squared_error(y, model.predict(X)) == pytest.approx(of_rents.optimal_errors[3])


def test_groups_splitters_and_scorings_of_numbers(rents):
    X, y = rents
    groups = np.arange(60) // 6
    by_group = mt.compare("topdown", X, y, 1, loss="squared", groups=groups, cv=3, repeats=1)
    errors = []
    for train, test in GroupKFold(3, shuffle=True, random_state=0).split(X, groups=groups):
        model = mt.OptimalTreeRegressor(max_size=1).fit(X.iloc[train], y.iloc[train])
        errors.append(mean_squared_error(y.iloc[test], model.predict(X.iloc[test])))
    assert by_group.held_out["optimal"].mean[1] == pytest.approx(np.mean(errors))
    scored = mt.compare("topdown", X, y, 1, loss="squared", scoring="r2", cv=KFold(3))
    assert scored.measure == "r2"
    assert scored.held_out["optimal"].shown[1] > scored.held_out["optimal"].shown[0]
    timed = mt.compare("topdown", X, y, 1, loss="squared", after=np.arange(60), cv=3)
    assert len(timed.held_out["optimal"].errors) == 3


def test_weights_of_numbers(rents):
    X, y = rents
    weights = np.random.default_rng(0).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weights)
    weighted = mt.compare("topdown", X, y, 2, loss="squared", sample_weight=weights, cv=0)
    repeated = mt.compare("topdown", X.iloc[rows], y.iloc[rows], 2, loss="squared", cv=0)
    assert weighted.optimal_errors.upper == pytest.approx(repeated.optimal_errors.upper)
    assert weighted.training_errors["topdown"] == pytest.approx(repeated.training_errors["topdown"])


def test_learners_must_predict_finite_numbers(rents):
    class Strange:
        def predict(self, X):
            return np.full(len(X), math.nan)

    with pytest.raises(ValueError, match="must predict finite numbers; strange gave others"):
        mt.compare({"strange": lambda X, y, size: Strange()}, *rents, 1, loss="squared", cv=0)


def test_a_learner_that_is_no_tree_is_refused(rents):
    X, y = rents
    with pytest.raises(ValueError, match="than any tree of size 1"):
        mt.compare({"line": lambda X, y, size: LinearRegression().fit(X, y)}, X, y, 1,
                   loss="squared", cv=0)  # fmt: skip


def test_all_are_judged_by_mean_cost(cases):
    X, y = cases
    learners = [
        "topdown", mt.TopDown("minority"), mt.TopDownClassifier(), mt.OptimalTreeClassifier(),
    ]  # fmt: skip
    result = mt.compare(learners, X, y, 2, cv=3, repeats=1, cost_matrix=COSTS)
    assert result.loss == "mean cost"
    assert "3 classes, mean costs; held-out mean cost" in str(result)
    problem = mt.SampleProblem(X, y, cost_matrix=COSTS)
    assert result.optimal_errors.upper == pytest.approx(mt.optimal_errors(problem, 2).upper)
    assert result.training_errors["TopDownClassifier"] == pytest.approx(
        mt.TopDownClassifier(max_size=2, cost_matrix=COSTS).fit(X, y).growth_.errors
    )
    assert result.training_errors["OptimalTreeClassifier"] == pytest.approx(
        result.optimal_errors.upper
    )
    assert result.held_out["OptimalTreeClassifier"].mean == pytest.approx(
        result.held_out["optimal"].mean
    )
    model = result.model(2)
    assert model.mean_cost(X, y) == pytest.approx(result.optimal_errors[2])
    results = result.class_results(2)
    assert results.classes == ("a", "b", "c", "ask")
    assert results.confusion.sum() == len(y)


def test_learners_that_know_no_costs_pay_for_their_classes(cases):
    X, y = cases
    square = np.array([[0, 1, 2], [6, 0, 2], [1, 3, 0]])
    result = mt.compare("sklearn", X, y, 2, cv=0, cost_matrix=square)
    tree = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=3, random_state=0).fit(X, y)
    place = {label: number for number, label in enumerate("abc")}
    paid = [
        square[place[true], place[guess]] for true, guess in zip(y, tree.predict(X), strict=True)
    ]
    assert result.training_errors["sklearn"][2] == pytest.approx(np.mean(paid))
    with pytest.raises(ValueError, match="a column for every class that a learner predicts"):
        mt.compare("sklearn", X, y, 2, cv=0, cost_matrix=COSTS)  # which has no column c


def test_equal_costs_compare_as_errors(cases):
    X, y = cases
    plain = mt.compare(["topdown", "sklearn"], X, y, 2, cv=3, repeats=1)
    costs = mt.compare(["topdown", "sklearn"], X, y, 2, cv=3, repeats=1, cost_matrix=1 - np.eye(3))
    for name in ("topdown", "sklearn"):
        assert costs.training_errors[name] == pytest.approx(plain.training_errors[name])
        assert costs.held_out[name].errors == pytest.approx(plain.held_out[name].errors)
    assert costs.verdicts("sklearn") == plain.verdicts("sklearn")


@pytest.mark.parametrize(
    ("learner", "order"),
    [
        (mt.TopDownRegressor(), "weighted"),
        (mt.BestFirstRegressor(), "unweighted"),
        (DecisionTreeRegressor(), "weighted"),
        (mt.OptimalTreeRegressor(), "none of these"),
    ],
    ids=str,
)
def test_orders_of_regressors(learner, order):
    assert mt.identify_rule(learner).order == order


def test_every_order_of_regressors_is_told():
    for order, (_, growers) in ORDERS.items():
        for grower in growers:

            class Grown(mt.TopDownRegressor):
                rule = type(grower)

            assert mt.identify_rule(Grown()).order == order


def test_mic_of_every_task(cases):
    X, y = cases
    numbers = (y == "b") * 1
    problems = {
        "squared": mt.SampleProblem(X, numbers, loss="squared"),
        "minority": mt.SampleProblem(X, costs=np.column_stack([numbers, 1 - numbers])),
        "entropy": mt.SampleProblem(X, y, cost_matrix=COSTS),
    }
    for name, problem in problems.items():
        found = mt.mic("topdown", problem, 3)
        assert f"criterion={name!r}" in str(found)
        assert found.mic == pytest.approx(float(mt.mic("topdown", problem, 3, exact=True).mic))
        assert found.excess_errors.min() >= 0
    large = mt.SampleProblem(X, numbers * 2.0**30, loss="squared")
    assert (
        mt.mic("topdown", large, 3).worst_size
        == mt.mic("topdown", problems["squared"], 3).worst_size
    )
