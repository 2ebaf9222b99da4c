"""Trees of actions, and classifiers whose mistakes have costs."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

import mictree as mt

ASK = {
    "setosa": {"setosa": 0, "versicolor": 1, "virginica": 2, "ask": 0.3},
    "versicolor": {"setosa": 1, "versicolor": 0, "virginica": 5, "ask": 0.3},
    "virginica": {"setosa": 1, "versicolor": 9, "virginica": 0, "ask": 0.3},
}
KINDS = [
    mt.TopDownClassifier, mt.BestFirstClassifier, mt.ID3Classifier, mt.LookaheadClassifier,
    mt.OptimalTreeClassifier,
]  # fmt: skip


@pytest.fixture(scope="module")
def iris():
    found = load_iris(as_frame=True)
    X = pl.from_pandas(found.data).rename(lambda name: name.removesuffix(" (cm)"))
    return X[::3], found.target_names[found.target.to_numpy()][::3]


@pytest.fixture(scope="module")
def doses():
    random = np.random.default_rng(5)
    X = pl.DataFrame({"age": random.integers(20, 80, 80), "smokes": random.random(80) < 0.4})
    age, smokes = X["age"].to_numpy(), X["smokes"].to_numpy()
    costs = np.column_stack([age / 10, 8 - age / 20, np.where(smokes, 1, 9)])
    costs += random.integers(0, 3, (80, 3))
    return X, pl.DataFrame(costs.round(2), schema=["none", "half", "full"])


def cost_of(matrix, truth, guess):
    return np.mean([matrix[true][taken] for true, taken in zip(truth, guess, strict=True)])


@pytest.mark.parametrize("kind", KINDS)
def test_leaves_take_the_action_of_least_cost(kind, iris):
    X, y = iris
    model = kind(max_size=2, cost_matrix=ASK).fit(X, y)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.actions_.tolist() == ["setosa", "versicolor", "virginica", "ask"]
    leaves, guess = model.apply(X), model.predict(X)
    for leaf in np.unique(leaves):
        here = y[leaves == leaf]
        costs = {action: sum(ASK[label][action] for label in here) for action in ASK["setosa"]}
        (taken,) = set(guess[leaves == leaf])
        assert costs[taken] == pytest.approx(min(costs.values()))
    errors = model.frontier_.upper if hasattr(model, "frontier_") else model.growth_.errors
    for size, staged in enumerate(model.staged_predict(X)):
        assert errors[size] == pytest.approx(cost_of(ASK, y, staged))
        assert model.mean_cost(X, y, size=size) == pytest.approx(errors[size])
    assert model.predict_proba(X).shape == (len(y), 3)
    assert model.score(X, y) == np.mean(guess == y)


@pytest.mark.parametrize("kind", KINDS)
def test_right_answers_may_cost_something(kind, iris):
    """What every action costs for a class changes no tree, and is part of all mean costs."""
    X, y = iris
    dearer = ASK | {"virginica": {action: cost + 2 for action, cost in ASK["virginica"].items()}}
    plain, model = (kind(max_size=2, cost_matrix=costs).fit(X, y) for costs in (ASK, dearer))
    assert model.predict(X).tolist() == plain.predict(X).tolist()
    errors = model.frontier_.upper if hasattr(model, "frontier_") else model.growth_.errors
    share = np.mean(y == "virginica")
    for size in range(3):
        assert errors[size] == pytest.approx(plain.mean_cost(X, y, size=size) + 2 * share)
        assert model.mean_cost(X, y, size=size) == pytest.approx(errors[size])


def test_an_array_is_in_the_order_of_classes(iris):
    X, y = iris
    matrix = [[0, 1, 2], [1, 0, 5], [1, 9, 0]]
    names = ["setosa", "versicolor", "virginica"]
    frames = (
        np.array(matrix),
        pd.DataFrame(matrix, index=names, columns=names),
        pl.DataFrame({"class": names} | dict(zip(names, np.transpose(matrix), strict=True))),
    )
    found = [mt.TopDownClassifier(max_size=3, cost_matrix=each).fit(X, y) for each in frames]
    assert len({model.to_text() for model in found}) == 1
    assert all(model.actions_ is model.classes_ for model in found)


@pytest.mark.parametrize("kind", [mt.TopDownClassifier, mt.OptimalTreeClassifier])
def test_equal_costs_are_plain_errors(kind, iris):
    X, y = iris
    plain = kind(max_size=3).fit(X, y)
    costs = kind(max_size=3, cost_matrix=1 - np.eye(3)).fit(X, y)
    assert costs.to_text() == plain.to_text()
    assert costs.mean_cost(X, y) == pytest.approx(1 - plain.score(X, y))
    assert plain.mean_cost(X, y) == pytest.approx(1 - plain.score(X, y))


def test_class_weights_multiply_row_weights(iris):
    X, y = iris
    factors = {"setosa": 1.0, "versicolor": 2.0, "virginica": 4.0}
    weights = np.array([factors[label] for label in y])
    for kind in (mt.TopDownClassifier, mt.OptimalTreeClassifier):
        weighted = kind(max_size=2, cost_matrix=ASK, class_weight=factors).fit(X, y)
        plain = kind(max_size=2, cost_matrix=ASK).fit(X, y, sample_weight=weights)
        assert weighted.to_text() == plain.to_text()
        errors = [m.frontier_.upper if hasattr(m, "frontier_") else m.growth_.errors
                  for m in (weighted, plain)]  # fmt: skip
        assert errors[0] == pytest.approx(errors[1])


def test_importances_are_shares_of_altered_weights(iris):
    X, y = iris
    model = mt.TopDownClassifier(max_size=3, cost_matrix=ASK).fit(X, y)
    factors = model._task.missing_costs
    altered = mt.TopDownClassifier(
        max_size=3, class_weight=dict(zip(model.classes_, factors / factors.max(), strict=True))
    ).fit(X, y)
    assert model.feature_importances_ == pytest.approx(altered.feature_importances_)


def test_texts_of_costs(iris):
    X, y = iris
    model = mt.OptimalTreeClassifier(max_size=1, cost_matrix=ASK).fit(X, y)
    assert "label ask" in model.to_text()
    rules = model.to_rules()
    assert "mean cost" in str(rules)
    assert rules.frame.columns == ["rule", "label", "rows", "coverage", "mean cost"]
    assert "probability of setosa" in rules.to_sql(proba=True)
    assert "with ask" in model.explain(X[:1])
    frame = model.to_frame()
    assert frame.columns[-4:] == ["mean cost", *(f"rate of {label}" for label in model.classes_)]
    ends = frame.filter(pl.col("test").is_null())
    assert (ends["mean cost"] * ends["reach"]).sum() == pytest.approx(model.mean_cost(X, y))
    legend = [text.get_text() for text in model.draw().texts]
    assert "ask" in legend
    assert any("mean cost" in text for text in legend)


def test_results_of_classes_have_a_line_for_other_actions(iris):
    X, y = iris
    model = mt.OptimalTreeClassifier(max_size=1, cost_matrix=ASK).fit(X, y)
    results = model.class_results(X, y)
    assert "ask" in results.classes
    assert results.confusion.sum() == len(y)


@pytest.mark.parametrize("kind", [mt.TopDownClassifier, mt.OptimalTreeClassifier])
def test_scikit_learns_tree_predicts_the_same_actions(kind, iris):
    X, y = iris
    model = kind(max_size=3, cost_matrix=ASK).fit(X, y)
    assert np.array_equal(model.to_sklearn().predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [mt.TopDownClassifier, mt.OptimalTreeClassifier])
def test_a_saved_classifier_has_its_costs(kind, iris, tmp_path):
    X, y = iris
    model = kind(max_size=2, cost_matrix=ASK).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = mt.load(tmp_path / "model.json")
    for each in (loaded, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(each.predict(X), model.predict(X))
        assert np.array_equal(each.predict_proba(X), model.predict_proba(X))
        assert each.mean_cost(X, y) == pytest.approx(model.mean_cost(X, y))
        assert each.at_size(1).to_text() == model.to_text(size=1)
        assert each.to_rules() == model.to_rules()
    with pytest.raises(ValueError, match="classes that have costs; there is no 'rose'"):
        loaded.mean_cost(X[:1], ["rose"])


def test_sizes_are_chosen_by_mean_cost(iris):
    X, y = iris
    model = mt.TopDownClassifier(max_size=4, cost_matrix=ASK)
    choice = mt.select_size(model, X, y)
    assert choice.measure == "mean cost"
    assert choice.shown[0] == pytest.approx(0.3)  # "ask" costs the same for all
    auto = mt.TopDownClassifier(max_size="auto", cost_matrix=ASK).fit(X, y)
    assert auto.size_choice_.loss == "mean cost"
    square = mt.TopDownClassifier(max_size=2, cost_matrix=1 - np.eye(3))
    assert mt.select_size(square, X, y, scoring="f1_macro").measure == "f1_macro"


def test_a_fold_may_lack_a_class():
    X, y = [[value] for value in range(20)], ["no"] * 18 + ["yes", "rare"]
    costs = 1 - np.eye(3)
    choice = mt.select_size(mt.TopDownClassifier(max_size=2, cost_matrix=costs), X, y, cv=3)
    assert len(choice.scores) == 3


def test_a_problem_brings_its_costs(iris):
    X, y = iris
    problem = mt.SampleProblem(X, y, cost_matrix=ASK)
    own = mt.TopDownClassifier(max_size=2).fit(problem)
    given = mt.TopDownClassifier(max_size=2, cost_matrix=ASK).fit(mt.SampleProblem(X, y))
    assert (
        own.to_text()
        == given.to_text()
        == mt.TopDownClassifier(max_size=2, cost_matrix=ASK).fit(X, y).to_text()
    )
    with pytest.raises(ValueError, match="learns classes; the problem has squared"):
        mt.TopDownClassifier().fit(mt.SampleProblem(X, np.arange(len(y)), loss="squared"))
    with pytest.raises(ValueError, match='must have loss="squared"'):
        mt.TopDownRegressor().fit(problem)


def test_a_policy_takes_the_cheapest_actions(doses):
    X, costs = doses
    model = mt.OptimalPolicyTree(max_size=2).fit(X, costs)
    assert model.actions_.tolist() == ["none", "half", "full"]
    assert model.proved_
    taken = model.predict(X)
    found = np.mean([row[action] for row, action in zip(costs.to_dicts(), taken, strict=True)])
    assert model.value(X, costs) == pytest.approx(found)
    assert model.frontier_.upper[2] == pytest.approx(found)
    for size in range(3):
        assert model.value(X, costs, size=size) == pytest.approx(model.frontier_.upper[size])
        assert model.at_size(size).value(X, costs) == model.value(X, costs, size=size)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        means = costs.filter(leaves == leaf).mean().row(0)
        assert model.actions_[int(np.argmin(means))] == taken[leaves == leaf][0]


def test_rewards_are_costs_times_minus_one(doses):
    X, costs = doses
    rewards = costs.select(-pl.all())
    model = mt.OptimalPolicyTree(max_size=2).fit(X, rewards=rewards)
    other = mt.OptimalPolicyTree(max_size=2).fit(X, costs)
    assert model.to_text() == other.to_text()
    assert model.value(X, rewards=rewards) == pytest.approx(-other.value(X, costs))
    assert "mean reward -" in str(model.to_rules())
    assert "mean reward" in model.explain(X[:1])
    assert "mean reward of half" in model.to_frame().columns


def test_values_by_name_and_by_position(doses):
    X, costs = doses
    model = mt.OptimalPolicyTree(max_size=1).fit(X, costs)
    assert model.value(X, costs.select("full", "none", "half")) == model.value(X, costs)
    assert model.value(X, costs.to_numpy()) == model.value(X, costs)
    weights = np.arange(len(X))
    assert model.value(X, costs, sample_weight=weights) == pytest.approx(
        np.average(
            costs.to_numpy()[np.arange(80), [costs.columns.index(a) for a in model.predict(X)]],
            weights=weights,
        )
    )


def test_a_constant_changes_no_tree(doses):
    X, costs = doses
    shifted = costs.with_columns(pl.all() + pl.Series(np.arange(80) * 3.5 - 40))
    one, other = (mt.OptimalPolicyTree(max_size=2).fit(X, each) for each in (costs, shifted))
    assert one.to_text() == other.to_text()
    apart = np.mean(np.arange(80) * 3.5 - 40)
    assert other.frontier_.upper == pytest.approx(one.frontier_.upper + apart)
    assert other.frontier_.lower == pytest.approx(one.frontier_.lower + apart)


def test_costs_of_labels_are_classification(iris):
    X, y = iris
    names = np.unique(y)
    costs = pl.DataFrame((y[:, None] != names).astype(float), schema=names.tolist())
    policy = mt.OptimalPolicyTree(max_size=2).fit(X, costs)
    plain = mt.OptimalTreeClassifier(max_size=2).fit(X, y)
    assert policy.frontier_.upper == pytest.approx(plain.frontier_.upper)
    assert policy.value(X, costs) == pytest.approx(1 - plain.score(X, y))


def test_a_policy_in_other_forms(doses, tmp_path):
    X, costs = doses
    for rewards in (False, True):
        table = {"rewards": costs.select(-pl.all())} if rewards else {"costs": costs}
        model = mt.OptimalPolicyTree(max_size=2).fit(X, **table)
        model.save(tmp_path / "model.json")
        loaded = mt.load(tmp_path / "model.json")
        assert repr(loaded).startswith("SavedPolicyTree(OptimalPolicyTree, 2 splits")
        for each in (loaded, pickle.loads(pickle.dumps(model))):
            assert each.value(X, **table) == model.value(X, **table)
            assert each.to_rules() == model.to_rules()
            values = pl.all().exclude("test")  # a pickle may name thresholds otherwise
            assert each.to_frame().select(values).equals(model.to_frame().select(values))
            assert each.explain(X[:1]) == model.explain(X[:1])
            assert np.array_equal(each.predict(X), model.predict(X))
    names: dict = {}
    exec(model.to_rules().to_python(), names)
    assert [names["predict"](row) for row in X.to_dicts()] == model.predict(X).tolist()
    assert "THEN 'full'" in model.to_rules().to_sql() or "ELSE 'full'" in model.to_rules().to_sql()
    bits = model.literals_.transform(X, model.tree_)
    assert np.array_equal(model.to_sklearn(on="literals").predict(bits), model.predict(X))
    assert "tikzpicture" in model.to_tikz()
    assert "svg" in model._repr_html_()
    assert model.feature_importances_.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="probabilities need classes"):
        model.to_rules().to_sql(proba=True)


def test_penalties_of_negative_costs(doses):
    X, costs = doses
    model = mt.OptimalPolicyTree(max_size=None, penalty=0.5).fit(X, costs - 100)
    other = mt.OptimalPolicyTree(max_size=None, penalty=0.5).fit(X, costs)
    assert model.to_text() == other.to_text()
    assert model.proved_
    assert other.proved_
