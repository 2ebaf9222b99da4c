"""OptimalTreeClassifier: scikit-learn's checks, labels of any kind, what it says of its answer."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import mictree as mt
from tests.clock import looked_at
from tests.datasets import monks, random_bits, xor_with_decoys


@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("penalty", [None, 0.125])
def test_the_frontier_has_an_entry_for_every_size(rows, penalty):
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]][:rows], [0, 1, 1, 0][:rows]
    model = mt.OptimalTreeClassifier(max_size=4, penalty=penalty).fit(X, y)
    least = {1: [0] * 5, 2: [0.5, 0, 0, 0, 0], 4: [0.5, 0.5, 0.25, 0, 0]}[rows]
    assert model.frontier_.tolist() == least
    assert model.frontier_.lower.tolist() == least
    assert model.frontier_.proved.tolist() == [True] * 5
    assert [each.size for each in model.penalty_path()] == {1: [0], 2: [0, 1], 4: [0, 3]}[rows]
    if penalty is None:
        for size in range(5):
            assert model.at_size(size).frontier_.tolist() == least[: size + 1]


@parametrize_with_checks([mt.OptimalTreeClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (-1, 1), (1, 5), (False, True), (0.0, 7.0), ("é", "ß")]
)
def test_labels_of_any_kind(labels):
    X, codes = xor_with_decoys()
    y = np.array(labels)[codes]
    model = mt.OptimalTreeClassifier(max_size=2).fit(X, y)
    assert model.score(X, y) == 1
    assert model.classes_.tolist() == sorted(labels)
    assert model.proved_
    np.testing.assert_array_equal(model.predict(X), y)


def test_frontier_and_smaller_sizes():
    X, y = monks(1)
    model = mt.OptimalTreeClassifier(max_size=6).fit(X, y)
    assert (model.frontier_ * 432).round().tolist() == [216, 108, 108, 72, 72, 36, 0]
    assert model.frontier_.proved.all()
    assert model.proved_
    assert 1 - model.score(X, y) == 0
    for size in range(7):
        smaller = model.at_size(size)
        assert smaller.max_size == size
        assert smaller.tree_.size <= size
        assert 1 - smaller.score(X, y) == pytest.approx(model.frontier_[size])
        assert len(smaller.frontier_) == size + 1
        np.testing.assert_array_equal(model.predict(X, size=size), smaller.predict(X))
        again = mt.OptimalTreeClassifier(max_size=size).fit(X, y)
        assert again.tree_ == smaller.tree_
    with pytest.raises(ValueError, match="size must be an integer"):
        model.at_size(-1)
    for size in (7, 99):
        with pytest.raises(ValueError, match=f"at most the model's max_size, 6; got {size}"):
            model.at_size(size)
        with pytest.raises(ValueError, match=f"max_size, 6; got {size}"):
            model.predict(X, size=size)


def test_depth_limit():
    X, y = monks(1)
    model = mt.OptimalTreeClassifier(max_size=7, max_depth=2).fit(X, y)
    assert model.get_depth() <= 2
    free = mt.OptimalTreeClassifier(max_size=7).fit(X, y)
    assert free.score(X, y) > model.score(X, y)


def test_time_limit_is_kept_and_told(monkeypatch):
    X, y = random_bits(800, 60, 0, classes=3, noise=0.4)
    clock = looked_at(monkeypatch)
    model = mt.OptimalTreeClassifier(max_size=20, time_limit=0.3).fit(X, y)
    assert clock.keeps(0.3)
    assert not model.proved_
    assert model.frontier_.lower[-1] < model.frontier_.upper[-1]
    assert 1 - model.score(X, y) == pytest.approx(model.frontier_[-1])
    greedy = mt.TopDownClassifier(20).fit(X, y)
    assert model.score(X, y) >= greedy.score(X, y)


def test_pickle_and_clone():
    X, y = load_iris(return_X_y=True)
    model = mt.OptimalTreeClassifier(max_size=3, class_weight="balanced").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.frontier_.proved.tolist() == model.frontier_.proved.tolist()
    assert again.tree_ == model.tree_
    assert again.at_size(2).tree_ == model.at_size(2).tree_
    assert len(pickle.dumps(model)) < 20_000
    assert clone(model).get_params() == model.get_params()


def test_frames_with_texts_and_gaps():
    rows = {"color": ["red", "blue", None, "red"] * 6, "age": [1.0, None, 3.0, 4.0] * 6}
    y = ["a", "b", "c", "a"] * 6
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows)):
        model = mt.OptimalTreeClassifier(max_size=2).fit(frame, y)
        assert model.score(frame, y) == 1
        assert "color is" in model.to_text()


def test_exports_are_the_model():
    X, y = load_iris(return_X_y=True)
    model = mt.OptimalTreeClassifier(max_size=4).fit(X, y)
    peer = model.to_sklearn()
    np.testing.assert_array_equal(peer.predict(X), model.predict(X))
    np.testing.assert_allclose(peer.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(peer.apply(X), model.apply(X))
    assert model.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(peer.feature_importances_, model.feature_importances_)
    assert 1 < len(model.to_rules()) <= model.get_n_leaves()
    assert model.to_frame()["rows"][0] == 150
    assert model.decision_path(X).shape == (150, 2 * model.tree_.size + 1)
    literals = model.literals_.transform(X, model.tree_)
    np.testing.assert_array_equal(model.tree_.predict(literals), model.predict(X))


def test_weights_act_as_repeated_rows():
    X, y = random_bits(60, 8, 3, classes=3)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    weighted = mt.OptimalTreeClassifier(max_size=4).fit(X, y, weights)
    repeated = mt.OptimalTreeClassifier(max_size=4)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.frontier_.tolist() == pytest.approx(repeated.frontier_.tolist())
    assert weighted.tree_ == repeated.tree_


def test_leaves_of_a_least_size():
    X, y = random_bits(150, 8, 6, classes=3)
    free = mt.OptimalTreeClassifier(max_size=6).fit(X, y)
    for settings in ({"min_samples_leaf": 20}, {"min_weight_fraction_leaf": 0.15}):
        model = mt.OptimalTreeClassifier(max_size=6, **settings).fit(X, y)
        leaves = np.bincount(model.apply(X))
        assert leaves[leaves > 0].min() >= 20
        assert np.all(model.frontier_.lower <= model.frontier_.upper)
        assert np.all(free.frontier_ <= model.frontier_.upper)
        assert 1 - model.score(X, y) == pytest.approx(model.frontier_[-1])
        assert model.proved_ == (model.frontier_.lower[-1] == model.frontier_.upper[-1])
        for size in range(7):
            greedy = mt.TopDownClassifier(size, **settings).fit(X, y)
            assert model.at_size(size).score(X, y) >= greedy.score(X, y) - 1e-12


def test_grid_search():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(mt.OptimalTreeClassifier(), {"max_size": [1, 2, 3]}, cv=3).fit(X, y)
    assert search.best_params_["max_size"] in (2, 3)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"max_size": -1}, "max_size must be an integer"),
        ({"max_size": 2.5}, "max_size must be an integer"),
        ({"max_size": "five"}, "max_size must be an integer"),
        ({"max_depth": -1}, "max_depth must be an integer"),
        ({"time_limit": 0}, "time_limit must be a positive number"),
        ({"max_thresholds": 0}, "max_thresholds must be at least 1"),
        ({"class_weight": "heavy"}, "class_weight must be"),
        ({"memory_limit": -1}, "memory_limit must be an integer"),
    ],
)
def test_bad_settings(settings, rule):
    with pytest.raises(ValueError, match=rule):
        mt.OptimalTreeClassifier(**settings).fit([[0], [1]], [0, 1])


def test_unfitted():
    model = mt.OptimalTreeClassifier()
    for name in ("frontier_", "proved_", "tree_", "literals_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"time_limit": "5"}, "time_limit must be a positive number of seconds; got '5'"),
        ({"class_weight": {0: -1}}, "class_weight must be positive and finite; 0 has -1"),
        ({"class_weight": {1: 0}}, "class_weight must be positive and finite; 1 has 0"),
        (
            {"class_weight": {1: float("nan")}},
            "class_weight must be positive and finite; 1 has nan",
        ),
    ],
)
def test_an_error_names_the_setting_and_its_value(settings, rule):
    X, y = random_bits(60, 5, 0)
    with pytest.raises(ValueError, match=rule):
        mt.OptimalTreeClassifier(2, **settings).fit(X, y)
