"""Results of classes equal scikit-learn's; class weights reach sizes and comparisons."""

import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

import mictree as mt


def draw_rows(seed, rows=120, classes=4):
    """Rows of small integers with labels that depend on them, the last class rare."""
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 4, (rows, 3))
    y = np.minimum((X[:, 0] + draw.integers(0, 2, rows)) // 2, classes - 1)
    y[draw.integers(0, rows, 7)] = classes - 1
    return X, np.array(["low", "mid", "high", "rare"])[y], draw.integers(1, 6, rows) / 2


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_recall_precision_and_confusion_are_those_of_scikit_learn(seed, weighted):
    X, y, weights = draw_rows(seed)
    weight = weights if weighted else None
    model = mt.TopDownClassifier(max_size=3).fit(
        X[:80], y[:80], None if weight is None else weight[:80]
    )
    results = model.class_results(X, y, weight)
    guess, labels = model.predict(X), list(results.classes)
    assert labels == sorted(set(y))
    np.testing.assert_array_equal(
        results.confusion, confusion_matrix(y, guess, labels=labels, sample_weight=weight)
    )
    options = {"labels": labels, "average": None, "sample_weight": weight, "zero_division": np.nan}
    np.testing.assert_allclose(results.recall, recall_score(y, guess, **options))
    np.testing.assert_allclose(results.precision, precision_score(y, guess, **options))
    assert results.never_predicted == tuple(sorted(set(y) - set(guess)))
    frame = results.frame
    assert frame.columns == ["class", "rows", "predicted", "recall", "precision"]
    assert frame["rows"].sum() == pytest.approx(len(y) if weight is None else weight.sum())


def test_a_class_that_is_never_predicted_is_marked_without_a_warning():
    X, y = [[0]] * 9 + [[1]], ["no"] * 9 + ["yes"]
    model = mt.TopDownClassifier(max_size=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = model.class_results(X, y)
        text = str(results)
    assert np.isnan(results.precision[1])
    assert text.splitlines() == [
        "class  rows  predicted  recall  precision  remark",
        "no        9         10   1.000      0.900",
        "yes       1          0   0.000          -  never predicted",
        "",
        "true / predicted  no  yes",
        "no                 9    0",
        "yes                1    0",
    ]
    assert "never predicted" in results._repr_html_()


def test_labels_that_the_model_does_not_know_have_lines():
    model = mt.TopDownClassifier(max_size=1).fit([[0], [1]], [1, 3])
    results = model.class_results([[0], [1], [1]], [1, 2, 3])
    assert results.classes == (1, 2, 3)
    assert results.confusion.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    assert results.never_predicted == (2,)
    with pytest.raises(ValueError, match="labels of one sort"):
        model.class_results([[0]], ["1"])
    assert np.isnan(model.class_results([[0]], [1]).recall[1])  # no row of class 3


def test_large_matrices_are_not_printed():
    y = np.arange(30) % 25
    results = mt.TopDownClassifier(max_size=1).fit(y[:, None], y).class_results(y[:, None], y)
    assert "a matrix of 25 classes is not shown" in str(results)


def test_saved_models_and_sizes(tmp_path):
    X, y, _ = draw_rows(3)
    model = mt.OptimalTreeClassifier(max_size=2).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = mt.load(tmp_path / "model.json")
    for size in range(3):
        own, other = (each.class_results(X, y, size=size) for each in (model, loaded))
        assert own.confusion.tolist() == other.confusion.tolist()
        right = np.trace(own.confusion) / own.confusion.sum()
        assert right == pytest.approx(1 - model.frontier_[size])


def rare_rows():
    """One class in fifty; only splits that weight finds useful help to find it."""
    draw = np.random.default_rng(5)
    X = draw.random((1500, 2)).round(2)
    chance = np.where((X[:, 0] > 0.8) & (X[:, 1] > 0.6), 0.3, 0.01)
    return X, np.where(draw.random(1500) < chance, "yes", "no")


@pytest.mark.parametrize("class_weight", ["balanced", {"yes": 20.0}])
def test_sizes_are_chosen_by_errors_that_are_weighted_as_the_tree_is(class_weight):
    """By hand, fold by fold; accuracy alone would choose a lone leaf."""
    X, y = rare_rows()
    model = mt.TopDownClassifier(max_size=4, class_weight=class_weight)
    choice = mt.select_size(model, X, y)
    factors = {"yes": 20.0, "no": 1.0}
    if class_weight == "balanced":
        factors = {label: len(y) / (2 * (y == label).sum()) for label in ("no", "yes")}
    weights = np.array([factors[label] for label in y])
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    for number, (train, test) in enumerate(folds):
        fitted = mt.TopDownClassifier(max_size=4, class_weight=class_weight).fit(X[train], y[train])
        for size in range(5):
            wrong = fitted.predict(X[test], size) != y[test]
            error = weights[test][wrong].sum() / weights[test].sum()
            assert 1 - choice.scores[number, size] == pytest.approx(error)
    assert choice.size > 0
    plain = mt.select_size(model, X, y, scoring="accuracy")
    assert plain.size == 0
    assert (plain.scoring, plain.measure, choice.measure) == ("accuracy", "accuracy", "error")
    assert plain.shown.tolist() == plain.means.tolist()
    assert choice.shown.tolist() == (1 - choice.means).tolist()


def test_a_fold_without_a_class_that_has_a_weight():
    X, y = np.arange(12)[:, None], np.array(["a"] * 6 + ["b"] * 5 + ["c"])
    model = mt.TopDownClassifier(max_size=2, class_weight={"c": 3.0})
    assert mt.select_size(model, X, y, cv=4).folds == 4


def test_a_comparison_with_class_weights_is_one_of_weighted_rows():
    X, y, weights = draw_rows(7)
    factors = {"low": 1.0, "mid": 2.0, "high": 1.0, "rare": 8.0}
    products = weights * np.array([factors[label] for label in y])
    one = mt.compare(
        ["topdown", "sklearn"], X, y, 2, cv=2, sample_weight=weights, class_weight=factors
    )
    other = mt.compare(["topdown", "sklearn"], X, y, 2, cv=2, sample_weight=products)
    assert one.frame.equals(other.frame)
    assert "errors weighted by class" in one.title
    assert "weighted" not in other.title
    with pytest.raises(ValueError, match="class_weight must name classes of y"):
        mt.compare("topdown", X, y, 2, class_weight={"lower": 2})


def test_scorings_of_a_comparison_ignore_class_weights():
    """Precision depends on them, so that the trees' scores by hand would differ."""
    X, y = rare_rows()
    settings = {"cv": 2, "repeats": 1, "class_weight": "balanced"}
    result = mt.compare("topdown", X, y, 2, scoring="f1_macro", **settings)
    folds = list(RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0).split(X, y))
    counts = {label: len(y) / (2 * (y == label).sum()) for label in ("no", "yes")}
    from sklearn.metrics import f1_score

    scores = []
    for train, test in folds:
        weights = np.array([counts[label] for label in y[train]])
        model = mt.TopDownClassifier(max_size=2).fit(X[train], y[train], weights)
        scores.append(f1_score(y[test], model.predict(X[test]), average="macro"))
    assert result.held_out["topdown"].shown[2] == pytest.approx(np.mean(scores))


@pytest.mark.parametrize("weighted", [False, True])
def test_results_of_classes_of_a_comparison_are_those_of_its_folds(weighted):
    X, y, weights = draw_rows(2)
    weight = weights if weighted else None
    result = mt.compare("topdown", X, y, 2, cv=3, repeats=2, sample_weight=weight)
    labels = sorted(set(y))
    total = np.zeros((len(labels), len(labels)))
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    for train, test in splitter.split(X, y):
        part = None if weight is None else weight[train]
        model = mt.OptimalTreeClassifier(max_size=2).fit(X[train], y[train], part)
        held = None if weight is None else weight[test]
        total += confusion_matrix(
            y[test], model.predict(X[test]), labels=labels, sample_weight=held
        )
    results = result.class_results(2)
    assert list(results.classes) == labels
    np.testing.assert_allclose(results.confusion, total / 2)
    assert results.rows.sum() == pytest.approx(len(y) if weight is None else weights.sum())
    with pytest.raises(ValueError, match="size must be at most max_size, 2; got 3"):
        result.class_results(3)
    with pytest.raises(ValueError, match="there are none"):
        mt.compare("topdown", X, y, 1, cv=0).class_results(1)


def test_optimal_trees_take_weights_of_rows_and_classes():
    X, y, weights = draw_rows(4)
    one = mt.OptimalTreeClassifier(max_size=2, class_weight={"rare": 5.0}).fit(X, y, weights)
    other = mt.OptimalTreeClassifier(max_size=2).fit(
        X, y, weights * np.where(y == "rare", 5.0, 1.0)
    )
    assert one.frontier_.tolist() == other.frontier_.tolist()
    assert one.proved_


def test_frames_of_numbers_keep_their_labels():
    frame = mt.TopDownClassifier(max_size=1).fit([[0], [1]], [2, 7]).class_results([[0]], [7]).frame
    assert frame["class"].to_list() == [2, 7]
    assert frame["class"].dtype == pl.Int64
