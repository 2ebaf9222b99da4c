"""Regressors in use: predictions, texts, exports, files, sizes."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeRegressor

import mictree as mt
from mictree.estimators.saved import from_json, to_json

KINDS = [
    mt.TopDownRegressor(max_size=4),
    mt.BestFirstRegressor(max_size=4),
    mt.OptimalTreeRegressor(max_size=2),
]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return pl.from_pandas(X)[:120], y.to_numpy()[:120]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: type(kind).__name__)
def fitted(request, diabetes):
    return clone(request.param).fit(*diabetes)


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": [
                None if random.random() < 0.1 else int(random.integers(18, 80)) for _ in "x" * 90
            ],
            "color": random.choice(["red", "green", "blue"], 90),
            "flag": random.random(90) < 0.5,
        }
    )
    pay = 20.0 + 5 * (frame["color"] == "red").to_numpy() + random.integers(0, 3, 90)
    return frame, np.where(frame["age"].is_null().to_numpy(), pay + 30, pay)


def test_a_leaf_predicts_the_mean_of_its_rows(fitted, diabetes):
    X, y = diabetes
    leaves, guess = fitted.apply(X), fitted.predict(X)
    for leaf in np.unique(leaves):
        assert guess[leaves == leaf] == pytest.approx(y[leaves == leaf].mean(), rel=1e-12)


def test_errors_are_mean_squared_errors_of_every_size(fitted, diabetes):
    X, y = diabetes
    errors = fitted.frontier_.upper if hasattr(fitted, "frontier_") else fitted.growth_.errors
    for size, (guess, score) in enumerate(
        zip(fitted.staged_predict(X), fitted.staged_score(X, y), strict=True)
    ):
        assert errors[size] == pytest.approx(mean_squared_error(y, guess), rel=1e-12)
        assert score == pytest.approx(r2_score(y, guess), rel=1e-12)
        assert np.array_equal(guess, fitted.predict(X, size=size))
        assert np.array_equal(guess, fitted.at_size(size).predict(X))
    assert fitted.score(X, y) == pytest.approx(r2_score(y, fitted.predict(X)), rel=1e-12)


def test_weights_act_as_repeated_rows(diabetes):
    X, y = diabetes
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    for kind in KINDS:
        weighted = clone(kind).fit(X, y, sample_weight=weights)
        plain = clone(kind).fit(X[repeated], y[repeated])
        assert weighted.predict(X) == pytest.approx(plain.predict(X), rel=1e-12)
        assert weighted.staged_score(X, y, weights) == pytest.approx(
            plain.staged_score(X[repeated], y[repeated]), rel=1e-12
        )


def test_to_sklearn_predicts_the_same(fitted, diabetes):
    X, _ = diabetes
    theirs = fitted.to_sklearn()
    assert isinstance(theirs, DecisionTreeRegressor)
    assert np.array_equal(theirs.predict(X), fitted.predict(X))
    assert theirs.feature_importances_ == pytest.approx(fitted.feature_importances_, rel=1e-9)
    assert fitted.feature_importances_.sum() == pytest.approx(1)


def test_to_sklearn_of_categories(people):
    model = mt.TopDownRegressor(max_size=3).fit(*people)
    X = people[0]
    with pytest.raises(ValueError, match='on="literals"'):
        model.to_sklearn()
    bits = model.literals_.transform(X, model.tree_)
    assert np.array_equal(model.to_sklearn(on="literals").predict(bits), model.predict(X))


def test_texts(people):
    model = mt.TopDownRegressor(max_size=2).fit(*people)
    text = model.to_text()
    assert text.startswith("age is missing?\n├─0─ color is red?\n│    ├─0─ value 2")
    rules = model.to_rules()
    assert "if age is not missing" in str(rules)
    assert "standard deviation" in str(rules)
    assert rules.frame.columns == ["rule", "label", "rows", "coverage", "spread"]
    assert "standard deviation" in model.explain(people[0][:1])
    assert "spread" in rules._repr_html_()
    frame = model.to_frame()
    leaf = frame.filter(pl.col("test").is_null())[0]
    assert frame.columns[-2:] == ["value", "spread"]
    here = model.apply(people[0]) == leaf["node"][0]
    assert leaf["value"][0] == pytest.approx(people[1][here].mean())
    assert leaf["spread"][0] == pytest.approx(people[1][here].std())
    assert 'label="' in model.to_dot()


def test_code_predicts_the_same(people):
    X, y = people
    model = mt.TopDownRegressor(max_size=5).fit(X, y)
    names: dict = {}
    exec(model.to_rules().to_python(), names)
    assert [names["predict"](row) for row in X.to_dicts()] == model.predict(X).tolist()
    found = pl.SQLContext(people=X).execute(
        f"SELECT {model.to_rules().to_sql()} AS pay FROM people", eager=True
    )
    assert found["pay"].to_list() == model.predict(X).tolist()


@pytest.mark.parametrize("code", ["to_sql", "to_python"])
def test_numbers_have_no_probabilities(code, people):
    rules = mt.TopDownRegressor(max_size=1).fit(*people).to_rules()
    with pytest.raises(ValueError, match="probabilities need classes"):
        getattr(rules, code)(proba=True)


def test_drawings(fitted):
    texts = [text.get_text() for text in fitted.draw().texts]
    assert any("±" in text for text in texts)
    assert any("rows (100%)" in text for text in texts)
    assert "tikzpicture" in fitted.to_tikz(max_depth=1)
    assert "svg" in fitted._repr_html_()


def test_leaves_are_coloured_by_their_means(diabetes):
    from mictree.plotting.data_tree import SPLIT_FILL, Ramp

    model = mt.TopDownRegressor(max_size=3).fit(*diabetes)
    _, cards, names, _ = model._cards(None, None, None, True)
    leaves = [card for card in cards if card.level is not None]
    assert len(leaves) == 4
    assert len(names) == 5
    order = sorted(leaves, key=lambda card: float(card.title))
    assert [card.level for card in order] == sorted(card.level for card in leaves)
    assert all(0 <= card.span[0] <= card.span[1] <= card.span[2] <= 1 for card in cards)
    fills = {Ramp(5).at(card.level) for card in leaves}
    assert len(fills) == 4
    assert SPLIT_FILL not in fills


def test_a_constant_target_draws_one_colour():
    model = mt.TopDownRegressor(max_size=2).fit([[0], [1], [2]], [4, 4, 4])
    assert model.tree_.size == 0
    assert model.predict([[5]]).tolist() == [4.0]
    assert model.score([[0], [1]], [4, 4]) == 1.0
    assert len(model.draw().patches) > 0


def test_a_saved_model_does_the_same(fitted, diabetes, tmp_path):
    X, y = diabetes
    fitted.save(tmp_path / "model.json")
    loaded = mt.load(tmp_path / "model.json")
    assert repr(loaded).startswith(f"SavedTreeRegressor({type(fitted).__name__}, ")
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.to_text() == fitted.to_text()
    assert loaded.to_rules() == fitted.to_rules()
    assert loaded.explain(X[:1]) == fitted.explain(X[:1])
    assert loaded.to_frame().equals(fitted.to_frame())
    assert np.array_equal(loaded.staged_score(X, y), fitted.staged_score(X, y))
    assert np.array_equal(loaded.at_size(1).predict(X), fitted.predict(X, size=1))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()


def test_a_classifier_is_saved_as_before():
    text = to_json(mt.TopDownClassifier(max_size=1).fit([[0], [1]], [0, 1]))
    assert '"format": "mictree.model/2"' in text
    assert "outcome" not in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"name": "squared"', '"name": "cubed"', "wrong name"),
        ('"by_action": null', '"by_action": [[1.0]]', "no costs of actions"),
        ('"matrix": null', '"matrix": [[1.0]]', "must have no matrix"),
        ('"rewards": false', '"rewards": 1', "wrong rewards"),
        ('"offset": 0.0', '"offset": "0"', "wrong offset"),
        ('"labels": [', '"labels": ["x", ', "labels of 3 nodes"),
        ('"labels": [4.0', '"labels": [NaN', "finite"),
        ('"labels": [4.0', '"labels": ["4"', "labels that the model has"),
        ('"costs": [', '"costs": [-1.0, ', "costs of 3 nodes"),
        ('"costs": [12.5', '"costs": [-12.5', "at least 0"),
        ('"classes": null', '"classes": {"type": "int64", "values": [0]}', "must have no classes"),
    ],
)
def test_a_changed_file_is_refused(old, new, message):
    text = to_json(mt.TopDownRegressor(max_size=1).fit([[0], [1]], [1.5, 6.5]))
    assert from_json(text).predict([[1]]).tolist() == [6.5]
    assert old in text, text
    with pytest.raises(ValueError, match=message):
        from_json(text.replace(old, new, 1))


def test_pickles(fitted, diabetes):
    X, y = diabetes
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert again.to_rules() == fitted.to_rules()
    assert again.at_size(1).score(X, y) == fitted.at_size(1).score(X, y)


def test_auto_sizes_are_chosen_by_squared_error(diabetes):
    X, y = diabetes
    model = mt.TopDownRegressor(max_size="auto").fit(X, y)
    choice = model.size_choice_
    assert model.tree_.size == choice.size
    assert choice.measure == "mean squared error"
    assert choice.title == "cross-validated mean squared error"
    folds = KFold(5, shuffle=True, random_state=0)
    theirs = -cross_val_score(
        mt.TopDownRegressor(max_size=3), X.to_numpy(), y, cv=folds, scoring="neg_mean_squared_error"
    )
    assert choice.shown[3] == pytest.approx(theirs.mean(), rel=1e-9)
    assert f"mean squared error {choice.shown[choice.size]:.4g} ±" in repr(choice)
    assert choice.plot().get_ylabel() == "mean squared error on held-out rows"


def test_sizes_by_r2_groups_and_time(diabetes):
    X, y = diabetes
    model = mt.TopDownRegressor(max_size=2)
    assert mt.select_size(model, X, y, scoring="r2").scoring == "r2"
    groups = np.arange(len(y)) // 10
    assert len(mt.select_size(model, X, y, groups=groups, cv=4).scores) == 4
    assert len(mt.select_size(model, X, y, after=np.arange(len(y)), cv=3).scores) == 3
    with pytest.raises(ValueError, match="accuracy says"):
        mt.select_size(model, X, y, scoring="accuracy")
    with pytest.raises(ValueError, match="from 2 to the number of rows"):
        mt.select_size(model, X[:3], y[:3], cv=4)


def test_the_choice_does_not_depend_on_the_unit(diabetes):
    X, y = diabetes
    model = mt.TopDownRegressor(max_size=6)
    sizes = {
        mt.select_size(model, X, y * unit, choose="least").size for unit in (1.0, 2.0**-40, 2.0**40)
    }
    assert len(sizes) == 1


def test_a_problem_of_numbers(diabetes):
    X, y = diabetes
    problem = mt.SampleProblem(X, y, loss="squared")
    model = mt.TopDownRegressor(max_size=3).fit(problem)
    assert np.array_equal(model.predict(X), mt.TopDownRegressor(max_size=3).fit(X, y).predict(X))
    assert np.array_equal(model.growth_.errors, mt.TopDown().grow(problem, 3).errors)


def test_penalties_are_squared_errors(diabetes):
    X, y = diabetes[0][:40], diabetes[1][:40]
    free = mt.OptimalTreeRegressor(max_size=3).fit(X, y)
    costs = free.frontier_.upper + 500 * np.arange(4)
    priced = mt.OptimalTreeRegressor(max_size=3, penalty=500).fit(X, y)
    assert priced.tree_.size == int(costs.argmin())
    assert free.penalty_path().at(500).size == priced.tree_.size
    large = mt.OptimalTreeRegressor(penalty=700).fit(X, y)
    assert large.proved_


def test_the_path_does_not_depend_on_the_unit(diabetes):
    X, y = diabetes[0][:40], diabetes[1][:40]
    paths = [
        mt.OptimalTreeRegressor(max_size=3).fit(X, y * unit).penalty_path()
        for unit in (1.0, 2.0**-30, 2.0**30)
    ]
    assert len({tuple((each.size, each.certified) for each in path) for path in paths}) == 1


def test_equal_rows_bound_what_larger_trees_can_do():
    X, y = [[0], [0], [1], [1]], [1.0, 3.0, 10.0, 10.0]
    path = mt.OptimalTreeRegressor(max_size=1).fit(X, y).penalty_path()
    assert [each.error for each in path] == [16.5, 0.5]
    assert all(each.certified for each in path)  # the first two rows are 1 from their mean


def test_limits_hold_for_optimal_trees(diabetes):
    X, y = diabetes
    model = mt.OptimalTreeRegressor(max_size=2, min_samples_leaf=30).fit(X, y)
    assert model.to_frame()["rows"].min() >= 30
    assert model.frontier_.upper[-1] == pytest.approx(mean_squared_error(y, model.predict(X)))


def test_fractions_are_read_exactly():
    from fractions import Fraction

    thirds = [Fraction(1, 3), Fraction(1, 3), Fraction(2, 3)]
    model = mt.TopDownRegressor(max_size=1).fit([[0], [0], [1]], thirds)
    assert model.growth_.exact_errors == [Fraction(2, 81), 0]


def test_the_exact_numbers_are_in_code_and_four_digits_in_texts():
    model = mt.TopDownRegressor(max_size=1).fit([[0], [1]], [1 / 3, 12345678.9])
    assert "value 0.3333" in model.to_text()
    assert "value 12345679" in model.to_text()
    assert f"{1 / 3!r}E0" in model.to_rules().to_sql()  # a decimal would be rounded
