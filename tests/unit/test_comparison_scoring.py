"""compare with weights, groups, splitters, scorings and several workers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)
from sklearn.tree import DecisionTreeClassifier

import mictree as mt
from mictree.report.data import make_comparison_page, render
from tests.datasets import random_bits


@pytest.fixture(scope="module")
def table():
    """A frame with numbers, gaps and categories, labels, weights and groups."""
    random = np.random.default_rng(3)
    count = 120
    size, color = random.normal(size=count), random.choice(["red", "blue", "green"], count)
    size[::9] = np.nan
    y = np.where((size > 0.2) ^ (color == "red"), "yes", "no")
    y[random.random(count) < 0.15] = "no"
    X = pd.DataFrame({"size": size, "color": color, "noise": random.normal(size=count)})
    return X, y, random.integers(1, 6, count) / 2, np.arange(count) // 7


def own_models(max_size):
    return {
        "topdown": mt.TopDownClassifier(max_size),
        "optimal": mt.OptimalTreeClassifier(max_size),
    }


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss", "roc_auc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_estimators_fitted_on_the_fold(table, scoring, weighted):
    X, y, weights, _ = table
    folds = KFold(3, shuffle=True, random_state=1)
    given = weights if weighted else None
    result = mt.compare(
        "topdown", X, y, 3, cv=folds, scoring=scoring, sample_weight=given
    )  # fmt: skip
    scorer = get_scorer(scoring or "accuracy")
    for number, (train, test) in enumerate(folds.split(X)):
        for name, model in own_models(3).items():
            some = {"sample_weight": weights[train]} if weighted else {}
            other = {"sample_weight": weights[test]} if weighted else {}
            model.fit(X.iloc[train], y[train], **some)
            scores = [
                scorer(model.at_size(size), X.iloc[test], y[test], **other) for size in range(4)
            ]
            expected = -np.array(scores) if scoring else 1 - np.array(scores)
            found = result.held_out[name].errors[number]
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_weights_act_as_repeated_rows(table):
    X, y, weights, _ = table
    times = (2 * weights).astype(int)
    again = np.repeat(np.arange(len(y)), times)
    weighted = mt.compare(["topdown", "sklearn"], X, y, 3, cv=0, sample_weight=times)
    repeated = mt.compare(["topdown", "sklearn"], X.iloc[again], y[again], 3, cv=0)
    for name in weighted.names:
        np.testing.assert_allclose(
            weighted.training_errors[name], repeated.training_errors[name], atol=1e-12
        )
    np.testing.assert_allclose(weighted.optimal_errors, repeated.optimal_errors, atol=1e-12)


def test_callables_get_the_weights(table):
    X, y, weights, _ = table
    seen = []

    def learner(X, y, size, sample_weight):
        seen.append(sample_weight)
        return DecisionTreeClassifier(max_leaf_nodes=size + 1, random_state=0).fit(
            X, y, sample_weight
        )

    result = mt.compare([learner, "sklearn"], X, y, 2, cv=0, sample_weight=weights)
    assert all((each == weights).all() for each in seen)
    assert len(seen) == 2
    assert result.names == ("learner", "sklearn")


class NoWeights(DecisionTreeClassifier):
    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize(
    "splitter",
    [
        GroupKFold(4),
        LeaveOneGroupOut(),
        StratifiedGroupKFold(3),
        TimeSeriesSplit(3),
        ShuffleSplit(2, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
def test_any_splitter(table, splitter):
    X, y, _, groups = table
    groups = groups if "Group" in type(splitter).__name__ else None  # scikit-learn would warn
    result = mt.compare("topdown", X, y, 1, cv=splitter, groups=groups)
    folds = list(splitter.split(X, y, groups))
    assert result.held_out["topdown"].errors.shape == (len(folds), 2)
    assert result.cv == len(folds)
    assert result.held_out["topdown"].ratio == pytest.approx(
        np.mean([len(test) / len(train) for train, test in folds])
    )
    for number, (train, test) in enumerate(folds):
        model = mt.TopDownClassifier(1).fit(X.iloc[train], y[train])
        wrong = 1 - model.score(X.iloc[test], y[test])
        assert result.held_out["topdown"].errors[number, 1] == pytest.approx(wrong)
    assert f"held-out error by {type(splitter).__name__}, {len(folds)} folds" in str(result)
    assert result.advice[0].startswith("use ")


def test_groups_are_not_cut(table):
    _, y, _, groups = table
    seen = []

    def learner(X, y, size):
        seen.append(X[:, 0])
        return DecisionTreeClassifier(max_leaf_nodes=size + 1).fit(X, y)

    numbered = pd.DataFrame({"group": groups.astype(float)})
    result = mt.compare(learner, numbered, y, 1, cv=3, repeats=2, groups=groups, max_thresholds=50)
    held = [set(groups) - {int(value) for value in np.unique(each)} for each in seen[1:]]
    assert len(result.held_out["learner"].errors) == 6
    for train in seen[1:]:  # ranks of groups: each one is there with all its rows, or not at all
        assert set(np.unique(train, return_counts=True)[1]) <= {7, 120 % 7 or 7}
    assert held


def test_classes_that_a_fold_does_not_have(table):
    X, y, *_ = table
    y = y.copy()
    y[:3] = "rare"
    result = mt.compare(["topdown", "sklearn"], X, y, 2, cv=KFold(4), scoring="balanced_accuracy")
    for errors in result.held_out.values():
        assert np.isfinite(errors.errors).all()


def test_a_callable_judges_with_the_labels_of_the_data_set(table):
    X, y, *_ = table

    def share_of_yes_found(model, rows, truth):
        assert set(truth) <= {"yes", "no"}
        assert model.classes_.tolist() == ["no", "yes"]
        shares = model.predict_proba(rows)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        return float((model.predict(rows)[truth == "yes"] == "yes").mean())

    result = mt.compare(["topdown", "sklearn"], X, y, 2, scoring=share_of_yes_found, repeats=1)
    assert result.scoring == "share_of_yes_found"
    assert result.held_out["topdown"].shown[0] == 0
    assert "held-out share_of_yes_found by 5-fold cross-validation" in result.title


def test_a_score_is_shown_as_it_is(table):
    X, y, *_ = table
    result = mt.compare("topdown", X, y, 2, scoring="balanced_accuracy", repeats=1)
    held = result.held_out
    assert held["optimal"].shown[0] == 0.5
    assert result.cells(0)[2] == "0.5000"
    frame = result.frame.filter(learner="topdown")
    assert frame["held_out_score"].to_list() == pytest.approx(held["topdown"].shown.tolist())
    apart = held["optimal"].shown - held["topdown"].shown
    assert frame["held_out_below_optimal"].to_list() == pytest.approx(apart.tolist())
    figure = result.plot(Figure(layout="constrained"))
    assert figure.axes[1].get_title() == "held-out balanced_accuracy (5-fold)"
    figure.draw_without_rendering()
    html = render(make_comparison_page(result, "f.csv", "y", 2, {}))
    assert f"Held-out balanced_accuracy {held['optimal'].shown[2]:.4g}." in html
    assert result.advice[0][0].upper() + result.advice[0][1:] + "." in html


def test_more_of_a_score_is_better():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 12), dtype=np.uint8)
    y = X[:, 0] ^ X[:, 1]
    result = mt.compare("topdown", X, y, 3, cv=4, repeats=2, scoring="balanced_accuracy")
    assert result.verdicts("topdown")[3] == "better"
    assert result.advice[0].startswith("use 3 splits; the optimal tree is ")
    assert result.advice[0].endswith("and clearly better on new rows")


class Stubborn:
    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"scoring": "precise"}, r"such as accuracy.*; got 'precise'; did you mean 'precision'\?"),
        ({"scoring": lambda model, X, y: float("nan")}, "must give one finite number; got nan"),
        ({"scoring": lambda model, X, y: "high"}, "must give one finite number"),
        ({"learners": lambda X, y, size: Stubborn(), "scoring": "neg_log_loss", "cv": 2},
         "this scoring needs probabilities"),
        ({"groups": [0, 1]}, r"groups must be one value a row; its shape is \(2,\)"),
        ({"groups": [0] * 60, "cv": 2}, "cv must be at most the number of groups, 1; got 2"),
        ({"cv": ShuffleSplit(1)}, "cv must give at least 2 folds; ShuffleSplit gives 1"),
        ({"sample_weight": [1.0]}, "sample_weight must be one number a row"),
        ({"sample_weight": [0.0] * 30 + [1.0] * 30, "cv": KFold(2)}, "in one all are zero"),
        ({"learners": NoWeights(), "sample_weight": [2.0] * 60}, "fit must take it; NoWeights's"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0; got 0"),
        ({"n_jobs": "2"}, "n_jobs must be None or an integer other than 0; got '2'"),
    ],
)  # fmt: skip
def test_bad_arguments(settings, rule):
    X, y = random_bits(60, 6, 0, noise=0.4)
    with pytest.raises(ValueError, match=rule):
        mt.compare(**{"learners": "topdown", "X": X, "y": y, "max_size": 2} | settings)


def test_an_empty_fold_is_refused():
    class Odd:
        def split(self, X, y, groups):
            yield np.arange(4), np.arange(0)

    with pytest.raises(ValueError, match="fold 1 of Odd has 4 and 0"):
        mt.compare("topdown", [[0], [1], [0], [1]], [0, 1, 0, 1], 1, cv=Odd())


def same(one, other):
    for name in one.held_out:
        np.testing.assert_array_equal(one.held_out[name].errors, other.held_out[name].errors)
    assert str(one) == str(other)
    return True


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_change_nothing(table, backend):
    X, y, weights, _ = table
    settings = {"repeats": 2, "cv": 3, "scoring": "neg_log_loss", "sample_weight": weights}
    learners = ["topdown", "sklearn"]
    alone = mt.compare(learners, X, y, 2, **settings)
    told = []
    with parallel_config(backend=backend):
        together = mt.compare(learners, X, y, 2, n_jobs=2, progress=told.append, **settings)
    assert same(alone, together)
    shares = [each.share for each in told if each.what == "folds"]
    assert shares[0] == 0
    assert shares[-1] == 1
    assert shares == sorted(shares)


def test_workers_of_a_dask_cluster_change_nothing(table):
    distributed = pytest.importorskip("distributed")
    X, y, *_ = table
    alone = mt.compare("topdown", pl.from_pandas(X), y, 2, cv=3, repeats=1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        told = []
        together = mt.compare(
            "topdown", pl.from_pandas(X), y, 2, cv=3, repeats=1, progress=told.append
        )
    assert same(alone, together)
    assert told[-1].share == 1


def test_estimators_are_not_changed(table):
    X, y, weights, _ = table
    learner = DecisionTreeClassifier(random_state=3)
    before = clone(learner).get_params()
    mt.compare(learner, X, y, 2, cv=2, repeats=1, sample_weight=weights)
    assert learner.get_params() == before
    assert not hasattr(learner, "tree_")


def test_a_scoring_that_cannot_judge_the_labels_is_refused_before_any_fit():
    X, y = random_bits(60, 3, 0)[0], np.arange(60) % 3
    grown = []

    def learner(X, y, size):
        grown.append(size)
        return DecisionTreeClassifier(max_leaf_nodes=size + 1).fit(X, y)

    for scoring in ("roc_auc", "f1"):
        with pytest.raises(ValueError, match=f"scoring must suit the labels; {scoring} says: "):
            mt.compare({"own": learner}, X, y, 2, cv=3, scoring=scoring)
        assert not grown
    mt.compare({"own": learner}, X, y, 2, cv=3, repeats=1, scoring="roc_auc_ovr")
    assert grown


def test_select_size_refuses_such_a_scoring_before_any_fit(monkeypatch):
    X, y = random_bits(60, 3, 0)[0], np.arange(60) % 3
    model = mt.TopDownClassifier(max_size=2)
    monkeypatch.setattr(mt.TopDownClassifier, "fit", None)  # a call would be a TypeError
    with pytest.raises(ValueError, match="scoring must suit the labels; roc_auc says: "):
        mt.select_size(model, X, y, scoring="roc_auc")
