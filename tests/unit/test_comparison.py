"""compare: learners beside the optimal trees."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import mictree as mt
from mictree import comparison
from tests.datasets import monks, random_bits


@pytest.fixture(scope="module")
def monks_result():
    X, y = monks(1)
    learners = {"td": mt.TopDown(), "sk": DecisionTreeClassifier(criterion="entropy")}
    return mt.compare(learners, X, y, 6, cv=3, repeats=2)


def test_training_errors_are_those_of_mic(monks_result):
    X, y = monks(1)
    result = mt.mic(mt.TopDown(), mt.SampleProblem(X, y), 6)
    assert monks_result.names == ("td", "sk")
    np.testing.assert_allclose(monks_result.training_errors["td"], result.greedy_errors)
    np.testing.assert_allclose(monks_result.optimal_errors, result.optimal_errors)
    assert monks_result.mic("td") == pytest.approx((result.mic, result.mic))
    assert monks_result.proved


def test_scikit_learn_is_asked_for_each_size(monks_result):
    X, y = monks(1)
    for size in range(1, 7):
        peer = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=size + 1, random_state=0)
        wrong = (peer.fit(X, y).predict(X) != y).mean()
        assert monks_result.training_errors["sk"][size] == pytest.approx(wrong)


def test_held_out_errors_are_of_trees_grown_without_those_rows():
    X, y = random_bits(90, 6, 1)
    result = mt.compare("topdown", X, y, 3, cv=3, repeats=2, random_state=7)
    from sklearn.model_selection import RepeatedStratifiedKFold

    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=7).split(X, y)
    for number, (train, test) in enumerate(folds):
        for name, model in (
            ("topdown", mt.TopDownClassifier(3)),
            ("optimal", mt.OptimalTreeClassifier(3)),
        ):
            model.fit(X[train], y[train])
            errors = [1 - model.at_size(size).score(X[test], y[test]) for size in range(4)]
            np.testing.assert_allclose(result.held_out[name].errors[number], errors)


def test_frame_text_and_plot(monks_result):
    frame = monks_result.frame
    assert isinstance(frame, pl.DataFrame)
    assert frame.height == 3 * 7
    assert frame["learner"].unique().sort().to_list() == ["optimal", "sk", "td"]
    assert frame.filter(pl.col("learner") == "optimal")["excess_most"].to_list() == [0] * 7
    text = str(monks_result)
    assert "432 rows, 15 literals, 2 classes; held-out error by 3-fold" in text
    assert "td: MIC(6) = " in text
    assert "on held-out rows the optimal tree against td: " in text
    figure = monks_result.plot(Figure(layout="constrained"))
    assert [ax.get_title() for ax in figure.axes] == [
        "training error",
        "held-out error (3-fold, 2 times)",
    ]
    figure.draw_without_rendering()
    with pytest.raises(AttributeError):
        monks_result.names = ()


def test_the_optimal_tree_is_worth_it_where_greed_cannot_see():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 12), dtype=np.uint8)
    y = X[:, 0] ^ X[:, 1]
    result = mt.compare("topdown", X, y, 3, cv=4, repeats=2)
    assert result.verdicts("topdown")[3] == "better"
    assert result.held_out["optimal"].mean[3] == 0
    assert "better at size" in "".join(result.worth_it)
    assert result.cells(3)[-1].endswith("*")


def test_a_time_limit_gives_intervals():
    X, y = random_bits(700, 50, 3, noise=0.4)
    mt.compare("topdown", X, y, 1, cv=0)
    result = mt.compare(["topdown", mt.BestFirst()], X, y, 12, time_limit=0.4, cv=2, repeats=1)
    assert not result.proved
    least, most = result.mic("topdown")
    assert 0 <= least < most
    assert result.unproved_folds[-1] == 1
    assert "between" in str(result)
    assert ".." in result.cells(12)[1]
    assert "only the best found in time" in str(result)
    result.plot(Figure(layout="constrained")).draw_without_rendering()


def test_ctrl_c_ends_all_searches(monkeypatch):
    """The search returns what it has; the folds behind it get no more time."""
    given = []
    whole = comparison.solve

    def interrupted(problem, max_size, exact, memory, progress, depth, seconds):
        given.append(seconds)
        return whole(problem, max_size, exact, memory, progress, depth, 0.05)

    monkeypatch.setattr(comparison, "solve", interrupted)
    X, y = random_bits(700, 50, 3, noise=0.4)
    mt.compare("topdown", X, y, 12, time_limit=None, cv=2, repeats=1)
    assert given == [None, 0.02, 0.02]


def test_frames_categories_and_labels():
    rows = {"color": ["red", "blue", "green", "red"] * 10, "age": [1.0, None, 3.0, 4.0] * 10}
    y = ["a", "b", "c", "a"] * 10
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows)):
        result = mt.compare(["topdown", "sklearn"], frame, y, 2, cv=2, repeats=1)
        assert result.classes == ("a", "b", "c")
        assert result.held_out["optimal"].mean[-1] == 0


def test_without_cross_validation():
    result = mt.compare("id3", [[0], [1]], [0, 1], 1, cv=0)
    assert result.held_out == {}
    assert result.frame["held_out_error"].null_count() == 4
    assert "held-out" not in str(result)
    assert len(result.plot(Figure()).axes) == 1


def test_lightgbm_and_xgboost_grow_the_trees_of_gini():
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    X, y = random_bits(500, 12, 4, noise=0.2)
    learners = ["lightgbm", "xgboost", DecisionTreeClassifier(random_state=0)]
    result = mt.compare(learners, X, y, 6, cv=0)
    first, *others = result.training_errors.values()
    for errors in others:
        np.testing.assert_allclose(errors, first)


def test_names_of_learners():
    X, y = random_bits(40, 4, 0)
    twins = [mt.TopDown(), mt.TopDown(), mt.TopDown(ties="first"), lambda X, y, size: None]
    assert mt.compare(twins[:3], X, y, 1, cv=0).names == (
        "TopDown", "TopDown #2", "TopDown(ties=first)",
    )  # fmt: skip
    with pytest.raises(TypeError, match="something that predicts"):
        mt.compare(twins, X, y, 1, cv=0)


class Cheat:
    def __init__(self, y):
        self.y = y

    def predict(self, X):
        return self.y


def cheat(X, y, size):
    return Cheat(y)


@pytest.mark.parametrize(
    ("learners", "settings", "rule"),
    [
        ("greedy", {}, "a learner must be one of"),
        (LogisticRegression(), {}, "pass a callable"),
        (cheat, {}, "cheat makes fewer errors than any tree of size"),
        ({"optimal": mt.TopDown()}, {}, "none of them 'optimal'"),
        ("topdown", {"max_size": 0}, "max_size must be at least 1"),
        ("topdown", {"cv": 1}, "cv must be 0 or at least 2"),
        ("topdown", {"repeats": 0}, "repeats must be at least 1"),
        ("topdown", {"cv": 500}, "every class must have a row in each of 500 folds"),
        ("topdown", {"time_limit": 0}, "time_limit must be a positive number"),
    ],
)
def test_bad_arguments(learners, settings, rule):
    X, y = random_bits(60, 6, 0, noise=0.4)
    with pytest.raises(ValueError, match=rule):
        mt.compare(learners, X, y, **{"max_size": 2} | settings)


def test_a_forest_is_no_tree():
    X, y = random_bits(60, 9, 0, noise=0.4)
    with pytest.raises(ValueError, match="must make one tree"):
        mt.compare(RandomForestClassifier(random_state=0), X, y, 4, cv=0)


def test_boosters_refuse_three_classes():
    pytest.importorskip("lightgbm")
    X, y = random_bits(60, 6, 0, classes=3)
    with pytest.raises(ValueError, match="grows one for each of 3 classes"):
        mt.compare("lightgbm", X, y, 2, cv=0)
