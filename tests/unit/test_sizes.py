"""select_size against refitting every size, and its rules against their definitions."""

import datetime as dt
import signal

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit

import mictree as mt
from mictree.estimators.sizes import SizeChoice, choose_size, last_rows, rank_moments, time_folds
from mictree.optimal import questions
from tests.datasets import random_bits

X, Y = random_bits(150, 6, 1, noise=0.25)
LABELS = np.where(Y == 1, "yes", "no")
FRAME = pl.DataFrame(X).with_columns(number=np.arange(150) * 7 % 31 + 0.5)


def refit(model, X, y, splits, scoring="accuracy", weights=None):
    """The slow, obvious way: a new model for every fold and size."""
    scores = []
    for train, test in splits:
        by_size = []
        for size in range(model.max_size + 1):
            fitted = clone(model).set_params(max_size=size)
            fitted.fit(X[train], y[train], None if weights is None else weights[train])
            if weights is None:
                by_size.append(get_scorer(scoring)(fitted, X[test], y[test]))
            else:
                by_size.append(fitted.score(X[test], y[test], weights[test]))
        scores.append(by_size)
    return np.array(scores)


@pytest.mark.parametrize("kind", [mt.TopDownClassifier, mt.BestFirstClassifier, mt.ID3Classifier])
@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss"])
def test_one_fit_a_fold_gives_the_scores_of_all_sizes(kind, scoring):
    few = scoring == "neg_log_loss"  # which pure leaves would make infinite
    model = kind(max_size=4 if few else 8, min_samples_leaf=10 if few else 1)
    choice = mt.select_size(model, FRAME, LABELS, cv=3, scoring=scoring, random_state=5)
    splits = StratifiedKFold(3, shuffle=True, random_state=5).split(FRAME, LABELS)
    expected = refit(model, FRAME, LABELS, splits, scoring or "accuracy")
    np.testing.assert_allclose(choice.scores, expected)
    np.testing.assert_allclose(choice.means, expected.mean(axis=0))
    np.testing.assert_allclose(
        choice.standard_errors, expected.std(axis=0, ddof=1) / np.sqrt(3), atol=1e-15
    )


def test_weights():
    weights = np.arange(150) % 4 + 0.5
    model = mt.TopDownClassifier(max_size=5)
    choice = mt.select_size(model, FRAME, LABELS, cv=3, sample_weight=weights)
    splits = StratifiedKFold(3, shuffle=True, random_state=0).split(FRAME, LABELS)
    expected = refit(model, FRAME, LABELS, splits, weights=weights)
    np.testing.assert_allclose(choice.scores, expected)


def test_optimal_trees_of_all_sizes_from_one_search():
    model = mt.OptimalTreeClassifier(max_size=3)
    choice = mt.select_size(model, X, LABELS, cv=2)
    splits = StratifiedKFold(2, shuffle=True, random_state=0).split(X, LABELS)
    for scores, (train, test) in zip(choice.scores, splits, strict=True):
        fitted = clone(model).fit(X[train], LABELS[train])
        expected = [fitted.at_size(size).score(X[test], LABELS[test]) for size in range(4)]
        assert scores.tolist() == expected


@pytest.mark.parametrize("press_in", [1, 2])
def test_ctrl_c_in_the_search_of_a_fold_ends_all_folds(monkeypatch, press_in):
    """A search keeps what it found; its scores must not count as those of a whole search."""
    fit, ask, fits = mt.OptimalTreeClassifier.fit, questions.Workers.ask, []

    def noting(self, *arguments):
        fits.append(self)
        return fit(self, *arguments)

    def pressing(self, *arguments, **options):
        if len(fits) == press_in:
            signal.raise_signal(signal.SIGINT)
        return ask(self, *arguments, **options)

    monkeypatch.setattr(mt.OptimalTreeClassifier, "fit", noting)
    monkeypatch.setattr(questions.Workers, "ask", pressing)
    large, labels = random_bits(700, 30, 3, noise=0.4)
    with pytest.raises(KeyboardInterrupt):
        mt.select_size(mt.OptimalTreeClassifier(8, time_limit=None), large, labels, cv=3)
    assert len(fits) == press_in


def test_groups_and_splitters():
    groups = np.arange(150) // 10
    seen = []
    mt.select_size(
        mt.TopDownClassifier(2), X, LABELS, groups=groups, cv=3,
        scoring=lambda model, rows, labels: seen.append(len(labels)) or 0.0,
    )  # fmt: skip
    assert all(count % 10 == 0 for count in seen)
    model = mt.TopDownClassifier(3)
    for splitter, given in ((KFold(4), None), (GroupKFold(3), groups)):
        choice = mt.select_size(model, X, LABELS, cv=splitter, groups=given)
        splits = splitter.split(X, LABELS, given)
        np.testing.assert_allclose(choice.scores, refit(model, X, LABELS, splits))


def test_repeats_have_other_folds_but_no_smaller_standard_error():
    choice = mt.select_size(mt.TopDownClassifier(3), X, LABELS, cv=3, repeats=4)
    assert choice.scores.shape == (12, 4)
    assert len({tuple(row) for row in choice.scores.tolist()}) > 3
    np.testing.assert_allclose(
        choice.standard_errors, choice.scores.std(axis=0, ddof=1) / np.sqrt(3)
    )


@pytest.mark.parametrize(
    ("scores", "one_error", "least"),
    [
        ([[0.5, 0.7, 0.7], [0.5, 0.7, 0.7]], 1, 1),
        ([[0.5, 0.7, 0.9], [0.5, 0.8, 0.7]], 1, 2),  # 0.8 ± 0.1
        ([[0.1, 0.7, 0.9], [0.1, 0.68, 0.7]], 2, 2),
        ([[0.9, 0.8], [0.9, 0.8]], 0, 0),
        ([[0.1 + 0.2, 0.3], [0.3, 0.3]], 0, 0),  # rounding does not decide
        ([[0.3, 0.1 + 0.2], [0.3, 0.3]], 0, 0),
    ],
)
def test_rules(scores, one_error, least):
    for choose, expected in (("one-standard-error", one_error), ("least", least)):
        assert choose_size(SizeChoice(0, np.array(scores), 2, choose)) == expected


@pytest.mark.parametrize("kind", [mt.TopDownClassifier, mt.OptimalTreeClassifier])
def test_auto(kind):
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10)
    labels = ["even", "odd", "odd", "even"] * 10
    model = kind(max_size="auto").fit(rows, labels)
    assert model.size_choice_.size == model.tree_.size == 3
    assert model.get_params()["max_size"] == "auto"
    assert model.score(rows, labels) == 1
    fixed = kind(max_size=3).fit(rows, labels)
    assert model.to_text(merge=False) == fixed.to_text(merge=False)
    assert not hasattr(model.set_params(max_size=2).fit(rows, labels), "size_choice_")
    with pytest.raises(ValueError, match='max_size must be an integer of at least 0 or "auto"'):
        kind(max_size="best").fit(rows, labels)


def test_rare_classes_and_missing_ones():
    labels = LABELS.copy().astype(object)
    labels[:2] = "rare"
    choice = mt.select_size(mt.TopDownClassifier(3), X, labels)
    assert choice.scores.shape == (5, 4)


def test_the_frame_and_the_text():
    choice = mt.select_size(mt.TopDownClassifier(3), X.tolist(), LABELS.tolist(), choose="least")
    assert choice.frame.columns == ["size", "score", "standard_error", "chosen"]
    assert choice.frame.filter(pl.col("chosen"))["size"].to_list() == [choice.size]
    assert repr(choice).startswith(f"SizeChoice(size={choice.size}, score=0.")
    axes = choice.plot()
    assert axes.get_xlabel() == "size (splits)"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"choose": "best"}, "choose must be one of"),
        ({"cv": 1}, "cv must be from 2 to"),
        ({"cv": 151}, "cv must be from 2 to the number of rows, 150; got 151"),
        ({"cv": 2.5}, "cv must be an integer"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"cv": KFold(3), "repeats": 2}, "repeats must be 1 with a splitter"),
        ({"groups": np.zeros(150)}, "by 2 groups or more; there is 1"),
        ({"groups": np.zeros(3)}, "inconsistent numbers of samples"),
    ],
)
def test_bad_options(options, rule):
    with pytest.raises(ValueError, match=rule):
        mt.select_size(mt.TopDownClassifier(3), X, LABELS, **options)


def test_another_estimator_is_refused():
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(ValueError, match="must be a classifier of mictree"):
        mt.select_size(DecisionTreeClassifier(), X, LABELS)  # type: ignore[arg-type]


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_labels_of_two_sorts_are_refused(scoring):
    mixed = np.array([1, "no", 1, "no"] * 10, dtype=object)
    with pytest.raises(ValueError, match="labels of one sort; it holds"):
        mt.select_size(mt.TopDownClassifier(3), X[:40], mixed, scoring=scoring)
    with pytest.raises(ValueError, match="labels of one sort; it holds"):
        mt.TopDownClassifier(max_size="auto").fit(X[:40], mixed)


def test_scorers_by_name_take_weights():
    X, y = np.array([[0], [1]] * 6), np.array([0, 1, 0, 0] * 3)
    weights = np.array([1.0, 9, 1, 1] * 3)
    model = mt.TopDownClassifier(max_size=1)
    means = [
        mt.select_size(
            model, X, y, cv=KFold(3), scoring=scoring, sample_weight=weights
        ).means.tolist()
        for scoring in (None, "accuracy")
    ]
    assert means[0] == means[1] == pytest.approx([9 / 12, 11 / 12])


class TestAfter:
    """Folds in order of time: every held-out row is later than all rows that a fold grows on."""

    @pytest.mark.parametrize("rows", [7, 20, 101])
    @pytest.mark.parametrize("cv", [2, 5])
    def test_they_are_those_of_scikit_learn_if_no_times_are_equal(self, rows, cv):
        order = np.random.default_rng(rows).permutation(rows)
        expected = list(TimeSeriesSplit(cv).split(np.zeros(rows)))
        found = time_folds(rank_moments(order * 1.5, rows), cv)
        assert len(found) == cv
        for (train, test), (earlier, later) in zip(found, expected, strict=True):
            assert order[train].tolist() == earlier.tolist()
            assert order[test].tolist() == later.tolist()

    def test_equal_times_stay_together(self):
        draw = np.random.default_rng(0)
        folded = 0
        for _ in range(300):
            rows, cv = int(draw.integers(2, 60)), int(draw.integers(2, 6))
            times = draw.integers(0, draw.integers(1, 30), rows)
            try:
                found = time_folds(rank_moments(times, rows), cv)
            except ValueError:
                assert len(np.unique(times)) < rows or rows <= cv
                continue
            folded += 1
            held = np.concatenate([test for _, test in found])
            assert len(set(held.tolist())) == len(held)
            assert max(times) in times[found[-1][1]]
            for train, test in found:
                assert len(train)
                assert times[train].max() < times[test].min()
        assert folded > 100

    def test_the_last_share(self):
        draw = np.random.default_rng(1)
        for _ in range(200):
            rows = int(draw.integers(2, 40))
            times = draw.integers(0, draw.integers(2, 12), rows)
            if len(np.unique(times)) == 1:
                continue
            share = float(draw.uniform(0.05, 0.95))
            train, test = last_rows(rank_moments(times, rows), share)
            assert times[train].max() < times[test].min()
            assert sorted([*train, *test]) == list(range(rows))
            sizes = [int((times >= time).sum()) for time in np.unique(times)[1:]]
            nearest = min(abs(size - round(rows * share)) for size in sizes)
            assert abs(len(test) - round(rows * share)) == nearest

    def test_a_size_for_later_rows(self):
        """Random folds see both sides of a change; folds in order of time do not."""
        n = np.arange(200)
        X, y = n[:, None], n // 10 % 2
        model = mt.TopDownClassifier(max_size=20)
        assert mt.select_size(model, X, y).means.max() > 0.8
        shuffled = np.random.default_rng(0).permutation(200)
        for times in (n, [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in n]):
            after = np.array(times)[shuffled]
            choice = mt.select_size(model, X[shuffled], y[shuffled], after=after)
            assert choice.means.max() < 0.6
            assert choice.folds == 5
        by_hand = mt.select_size(model, X, y, cv=TimeSeriesSplit(5))
        assert np.array_equal(by_hand.scores, choice.scores)

    @pytest.mark.parametrize(
        ("after", "options", "rule"),
        [
            ([1.0, np.nan, *range(8)], {}, "known in every row"),
            ([None, *[dt.date(2020, 1, 1)] * 9], {}, "known in every row"),
            (np.array(["NaT", *["2020-01-01"] * 9], "M8[D]"), {}, "known in every row"),
            ([1] * 10, {}, "no number of folds does"),
            ([1] * 5 + [2] * 3 + [3, 4], {"cv": 4}, "4 folds do not: cv=2 does"),
            (list("abcdefghij"), {}, "must be dates, times or numbers; got"),
            (range(9), {}, "one value a row; its shape is"),
            (range(10), {"cv": TimeSeriesSplit(2)}, "cv must be a number of folds with after"),
            (range(10), {"groups": [0, 1] * 5}, "groups and after must not both be given"),
            (range(10), {"repeats": 2}, "repeats must be 1 with after"),
            (range(10), {"cv": 1}, "cv must be at least 2 with after; got 1"),
        ],
    )
    def test_what_is_refused(self, after, options, rule):
        X, y = [[n] for n in range(10)], [0, 1] * 5
        after = after if isinstance(after, np.ndarray) else list(after)
        with pytest.raises(ValueError, match=rule):
            mt.select_size(mt.TopDownClassifier(max_size=2), X, y, after=after, **options)
        if "repeats" not in options and "cv" not in options:
            with pytest.raises(ValueError, match=rule):
                mt.compare("topdown", X, y, 2, after=after, **options)

    def test_comparison(self):
        n = np.arange(120)
        X, y = np.stack([n, n % 7], axis=1), n // 10 % 3
        found = mt.compare(["topdown", "sklearn"], X, y, 3, after=n, cv=4)
        by_hand = mt.compare(["topdown", "sklearn"], X, y, 3, cv=TimeSeriesSplit(4))
        for name, held in by_hand.held_out.items():
            assert np.array_equal(found.held_out[name].errors, held.errors)
        assert "held-out error by cross-validation in order of time, 4 folds" in str(found)
        assert not mt.compare("topdown", X, y, 3, after=n, cv=0).held_out
