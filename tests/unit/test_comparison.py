"""compare: learners beside the optimal trees."""

import dataclasses
import signal
import statistics

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import mictree as mt
from mictree.comparison import held_out
from mictree.comparison import run as running
from mictree.optimal import CertifiedErrors, questions
from mictree.plotting import comparison as drawing
from mictree.problems.sample import Coded
from tests.datasets import monks, random_bits


@pytest.fixture(scope="module")
def monks_result():
    X, y = monks(1)
    learners = {"td": mt.TopDown(), "sk": DecisionTreeClassifier(criterion="entropy")}
    return mt.compare(learners, X, y, 6, cv=3, repeats=2)


def test_advice_names_a_size_and_what_the_optimum_gains(monks_result):
    held = monks_result.held_out["optimal"].errors
    means, best = held.mean(axis=0), held.mean(axis=0).argmin()
    within = means[best] + statistics.stdev(held[:, best].tolist()) / 3**0.5
    size = next(size for size, mean in enumerate(means) if mean <= within + 1e-12)
    ahead = 100 * (monks_result.training_errors["td"][size] - monks_result.optimal_errors[size])
    first, second = monks_result.advice
    splits = f"{size} split{'' if size == 1 else 's'}"
    assert first.startswith(
        f"use {splits}; the optimal tree is {ahead:.1f} points better than td on training rows, "
    )
    assert second.startswith("the optimal tree is ")  # the size is named once
    assert " than sk on training rows, " in second
    assert f"{first}\n{second}" in str(monks_result)
    assert dataclasses.replace(monks_result, held_out={}).advice == []


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


def mixed_frame():
    random = np.random.default_rng(8)
    ages, colors = random.normal(size=90), random.choice(["red", "blue", "green"], 90)
    ages[::7] = np.nan
    labels = np.where((ages > 0.3) ^ (colors == "red"), "yes", "no")
    labels[random.random(90) < 0.2] = "maybe"
    return pd.DataFrame({"age": ages, "income": random.exponential(size=90), "c": colors}), labels


@pytest.mark.parametrize("data", [random_bits(90, 6, 1), mixed_frame()], ids=["bits", "frame"])
def test_held_out_errors_are_of_trees_grown_without_those_rows(data):
    X, y = data
    result = mt.compare("topdown", X, y, 3, cv=3, repeats=2, random_state=7)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=7).split(X, y)
    frame = pd.DataFrame(X)
    for number, (train, test) in enumerate(folds):
        for name, model in (
            ("topdown", mt.TopDownClassifier(3)),
            ("optimal", mt.OptimalTreeClassifier(3)),
        ):
            model.fit(frame.iloc[train], y[train])
            errors = [1 - model.at_size(size).score(frame.iloc[test], y[test]) for size in range(4)]
            np.testing.assert_allclose(result.held_out[name].errors[number], errors, atol=1e-12)


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


def test_the_picture_shows_the_curves_and_cuts_off_what_is_unknown():
    assert curves_range([0.3, 0.1], [0.2, 0.2]) == pytest.approx((-0.015, 0.315))
    assert curves_range([0.64, 0.63], [0.69]) == pytest.approx((0.627, 0.693))
    low, high = curves_range([0.0, 0.0])
    assert low < 0 < high


def curves_range(*curves):
    return drawing._range([np.array(curve) for curve in curves])


def test_words_for_one_of_a_kind():
    result = mt.compare("topdown", [[0], [1]] * 4, [3, 3] * 4, 1, cv=2, repeats=1)
    assert result.title == "8 rows, 1 literal, 1 class; held-out error by 2-fold cross-validation"
    assert result.tree_title(1) == "optimal tree of at most 1 split"


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
    assert "are not proved: the best found in time" in str(result)
    result.plot(Figure(layout="constrained")).draw_without_rendering()


def note_seconds(monkeypatch):
    """The seconds that each search of a comparison is given."""
    given = []
    whole = running.solve

    def noting(*arguments):
        given.append(arguments[-1])
        return whole(*arguments)

    monkeypatch.setattr(running, "solve", noting)
    return given


def press_ctrl_c(monkeypatch, when):
    """Press Ctrl-C at each question that a search asks."""
    ask = questions.Workers.ask

    def interrupted(self, *arguments):
        if when():
            signal.raise_signal(signal.SIGINT)
        return ask(self, *arguments)

    monkeypatch.setattr(questions.Workers, "ask", interrupted)


@pytest.mark.parametrize("search", [1, 2])
def test_ctrl_c_ends_the_comparison(monkeypatch, search):
    """The search on all rows returns what it has; there are no folds, or all of them."""
    given = note_seconds(monkeypatch)
    press_ctrl_c(monkeypatch, lambda: len(given) == search)
    X, y = random_bits(700, 50, 3, noise=0.4)
    told = []
    before = signal.signal(signal.SIGINT, lambda *_: told.append(len(given)))
    try:
        most = 12 if search == 1 else 3
        result = mt.compare("topdown", X, y, most, time_limit=None, cv=2, repeats=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(given) == search
    assert set(told) == {search}  # whoever answers Ctrl-C otherwise is told, too
    assert result.interrupted
    assert not result.held_out
    assert result.proved == (search == 2)
    assert "interrupted by Ctrl-C" in str(result)


def test_ctrl_c_while_workers_learn(monkeypatch):
    """The main process waits for them, and its own handler raises."""

    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "spread", press)
    X, y = random_bits(60, 4, 3, noise=0.4)
    result = mt.compare("topdown", X, y, 2, cv=2, repeats=1, n_jobs=2)
    assert result.interrupted
    assert result.proved
    assert not result.held_out


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


def test_scikit_learn_gets_lone_leaves_where_no_column_has_two_values():
    y = [0, 1, 1, 0, 1, 1]
    result = mt.compare("sklearn", np.full((6, 2), 3.0), y, 2, cv=0)
    np.testing.assert_allclose(result.training_errors["sklearn"], [1 / 3] * 3)
    constant_in_one_fold = [[0], [1], [1], [0], [0], [0]]
    result = mt.compare("sklearn", constant_in_one_fold, y, 1, cv=KFold(2))
    np.testing.assert_allclose(result.held_out["sklearn"].errors, [[1 / 3, 1 / 3], [1 / 3, 2 / 3]])


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
    with pytest.raises(TypeError, match="must return a model with predict"):
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
        ({"optimal": mt.TopDown()}, {}, "none of them 'optimal'; got 'optimal' again"),
        ({1: mt.TopDown(), "1": mt.ID3()}, {}, "different names.*got '1' again"),
        ("topdown", {"max_size": 0}, "max_size must be at least 1"),
        ("topdown", {"cv": 1}, "cv must be 0 or at least 2"),
        ("topdown", {"repeats": 0}, "repeats must be at least 1"),
        (
            "topdown",
            {"cv": 500},
            "cv must be 0 or from 2 to the number of rows of the rarest class; .* has .*; got 500",
        ),
        ("topdown", {"time_limit": 0}, "time_limit must be a positive number of seconds; got 0"),
        (
            "topdown",
            {"time_limit": "5"},
            "time_limit must be a positive number of seconds; got '5'",
        ),
        ("topdown", {"memory_limit": "4GB"}, "memory_limit must be an integer.*got '4GB'"),
        ("topdown", {"memory_limit": 4e9}, "memory_limit must be an integer"),
        ("topdown", {"random_state": -1}, "random_state must be an integer from 0.*got -1"),
        ("topdown", {"random_state": 2**32}, "random_state must be an integer from 0"),
        ("topdown", {"max_depth": -1}, "max_depth must be an integer of at least 0; got -1"),
        ("topdown", {"y": np.linspace(0, 1, 60)}, "Unknown label type: continuous"),
        (
            "topdown",
            {"y": [0] * 56 + [1] * 4, "cv": 5},
            "of the rarest class; 1 has 4; got 5",
        ),
        ("topdown", {"y": [0, 1]}, "inconsistent numbers of samples"),
        ("topdown", {"y": pd.Series(["a", None] * 30, dtype="string")}, "missing values"),
        ("topdown", {"X": np.empty((0, 3)), "y": []}, "X must have at least one row; it has none"),
    ],
)
def test_bad_arguments(learners, settings, rule):
    X, y = random_bits(60, 6, 0, noise=0.4)
    with pytest.raises(ValueError, match=rule):
        mt.compare(learners, **{"X": X, "y": y, "max_size": 2} | settings)


class Says:
    """A model that predicts what it was told to."""

    def __init__(self, labels):
        self.labels = labels

    def predict(self, X):
        return self.labels[: len(X)]


@pytest.mark.parametrize(
    ("labels", "rule"),
    [
        (np.zeros((60, 1), int), r"one label a row; learner gave the shape \(60, 1\) for 60 rows"),
        (np.zeros(3, int), r"one label a row; learner gave the shape \(3,\) for 60 rows"),
        (np.array(["0"] * 60), "labels it learned from, 0 to 1; learner gave np.str_\\('0'\\)"),
        (np.full(60, 0.25), "labels it learned from, 0 to 1; learner gave np.float64\\(0.25\\)"),
        (np.full(60, 2), "labels it learned from, 0 to 1; learner gave np.int64\\(2\\)"),
    ],
)
def test_predictions_are_labels(labels, rule):
    X, y = random_bits(60, 6, 0, noise=0.4)
    with pytest.raises(ValueError, match=rule):
        mt.compare({"learner": lambda X, y, size: Says(labels)}, X, y, 1, cv=0)


@pytest.mark.parametrize("learner", [LogisticRegression(), "lightgbm"])
def test_learners_are_refused_before_the_search(learner, monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(running, "solve", None)
    X, y = random_bits(60, 6, 0, classes=3)
    with pytest.raises(ValueError, match=r"pass a callable|one for each of 3 classes"):
        mt.compare(learner, X, y, 2)


def test_learners_keep_to_the_depth():
    X, y = monks(1)
    learners = ["topdown", "sklearn", mt.TopDownClassifier()]
    result = mt.compare(learners, X, y, 6, max_depth=2, cv=0)
    shallow = DecisionTreeClassifier(criterion="entropy", max_depth=2, max_leaf_nodes=7)
    wrong = (shallow.fit(X, y).predict(X) != y).mean()
    for errors in result.training_errors.values():
        assert errors[6] == pytest.approx(wrong)
    with pytest.raises(ValueError, match="must have the parameter max_depth; NoDepth has none"):
        mt.compare(NoDepth(), X, y, 2, max_depth=2)
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]

    def deeper(X, y, size):
        return mt.TopDownClassifier(size).fit(X, y)

    with pytest.raises(ValueError, match="than any tree of size 2 and depth 1"):
        mt.compare(deeper, X, y, 3, max_depth=1, cv=0)


class NoDepth(BaseEstimator):
    def __init__(self, max_size=None):
        self.max_size = max_size

    def fit(self, X, y):
        raise NotImplementedError

    def predict(self, X):
        raise NotImplementedError


def test_thresholds_come_from_training_rows_only():
    """Whatever the held-out rows of a fold hold, its learners see the same literals."""
    random = np.random.default_rng(5)
    X, y = random.normal(size=(60, 3)), random.integers(0, 2, 60)

    def literals_seen(X):
        seen = []

        def spy(X, y, size):
            seen.append(X.tolist())
            return mt.TopDownClassifier(size).fit(X, y)

        mt.compare(spy, X, y, 1, cv=3, repeats=1)
        return seen  # on all rows, then on each fold

    clean = literals_seen(X)
    for fold, (_, test) in enumerate(running.folds(Coded((0, 1), y), 3, 1, 0), start=1):
        poisoned = X.copy()
        poisoned[test] = 1e6 * random.normal(size=(len(test), 3))
        seen = literals_seen(poisoned)
        assert seen[fold] == clean[fold]
        assert seen[0] != clean[0]


def test_the_standard_error_is_that_of_nadeau_and_bengio():
    random = np.random.default_rng(2)
    first, second = random.random((2, 15, 4))
    apart, error = held_out.HeldOut(first, 1 / 4).less(held_out.HeldOut(second, 1 / 4))
    for size in range(4):
        gaps = [float(a - b) for a, b in zip(first[:, size], second[:, size], strict=True)]
        assert apart[size] == pytest.approx(statistics.mean(gaps))
        # rows held out over rows learned from is 1 to 4 for five folds
        corrected = statistics.variance(gaps) * (1 / 15 + 1 / 4)
        assert error[size] == pytest.approx(corrected**0.5)


def test_a_forest_is_no_tree():
    X, y = random_bits(60, 9, 0, noise=0.4)
    with pytest.raises(ValueError, match="must make one tree"):
        mt.compare(RandomForestClassifier(random_state=0), X, y, 4, cv=0)


def test_boosters_refuse_three_classes():
    pytest.importorskip("lightgbm")
    X, y = random_bits(60, 6, 0, classes=3)
    with pytest.raises(ValueError, match="grows one for each of 3 classes"):
        mt.compare("lightgbm", X, y, 2, cv=0)


def test_an_interrupted_comparison_says_so():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    result = mt.compare("topdown", X, y, 2, cv=0)
    assert "Ctrl-C" not in str(result)
    assert "interrupted by Ctrl-C" in str(dataclasses.replace(result, interrupted=True))


def with_errors(lower, upper, greedy):
    """A comparison with given optimal errors and those of a learner, for every size."""
    X, y = random_bits(40, 3, 1, noise=0.2)
    result = mt.compare("topdown", X, y, len(upper) - 1, cv=2, repeats=1)
    return dataclasses.replace(
        result,
        optimal_errors=CertifiedErrors(np.array(lower), np.array(upper)),
        training_errors={"topdown": np.array(greedy)},
    )


def test_rounding_noise_is_no_difference():
    noisy = with_errors([0.5, 0.25], [0.5, 0.25], [0.5, 0.25 + 2e-17])
    assert "MIC(1) = 0\n" in str(noisy)
    assert "the optimal tree is no better than topdown on training rows" in str(noisy)
    little = with_errors([0.5 - 1e-4, 0.25 - 1e-4], [0.5 - 1e-4, 0.25 - 1e-4], [0.5, 0.25])
    assert "MIC(1) = 0.0001\n" in str(little)
    assert "is less than 0.1 points better than topdown" in str(little)
    for result in (noisy, little):
        assert "0.0 points" not in str(result)


def test_the_chart_shows_intervals_whole():
    """The lowest bound lies far below all curves."""
    result = with_errors([0.5, 0.01], [0.5, 0.4], [0.5, 0.45])
    low, _ = result.plot(Figure(layout="constrained")).axes[0].get_ylim()
    assert low < 0.01
