"""The estimators in use: sizes, pipelines, frames, and what they refuse."""

import pickle
import subprocess
import sys
from decimal import Decimal
from functools import partial

import numpy as np
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mictree as mt
from mictree.columns.data import Data

pandas = pytest.importorskip("pandas")
CLASSIFIERS = [
    mt.TopDownClassifier,
    mt.BestFirstClassifier,
    mt.ID3Classifier,
    partial(mt.LookaheadClassifier, max_thresholds=16),  # all of them take seconds a leaf
]


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture
def people():
    random = np.random.default_rng(3)
    frame = pandas.DataFrame(
        {
            "age": np.where(random.random(120) < 0.1, np.nan, random.integers(18, 80, 120)),
            "color": random.choice(["red", "green", "blue"], 120),
            "flag": random.random(120) < 0.5,
        }
    )
    rich = (frame["age"] > 40) & (frame["color"] == "red") | frame["flag"]
    return frame, np.where(rich, "yes", "no")


def test_importing_mictree_does_not_import_scikit_learn():
    code = "import sys, mictree; print('sklearn' in sys.modules, 'narwhals' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_fit_gives_every_size(kind, cancer):
    X, y = cancer
    model = kind(max_size=9).fit(X, y)
    for size in (0, 1, 4, 9):
        small = kind(max_size=size).fit(X, y)
        assert model.growth_.tree(size) == small.tree_
        np.testing.assert_array_equal(model.predict(X, size=size), small.predict(X))
        np.testing.assert_array_equal(model.predict_proba(X, size=size), small.predict_proba(X))
        part = model.at_size(size)
        assert part.tree_ == small.tree_
        assert part.get_n_leaves() == size + 1
        assert part.get_depth() == small.tree_.depth
        np.testing.assert_array_equal(part.predict(X), small.predict(X))
        np.testing.assert_allclose(part.growth_.errors, small.growth_.errors)
        np.testing.assert_allclose(part.feature_importances_, small.feature_importances_)
    np.testing.assert_allclose(model.staged_score(X, y), 1 - model.growth_.errors)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.get_n_leaves() == 10


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_staged_score_is_score_at_every_size(shape):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    model = mt.TopDownClassifier(max_size=4).fit(X, y)
    scores = model.staged_score(X, y.reshape(shape), weight)
    for size, score in enumerate(scores):
        right = model.predict(X, size=size) == y
        assert score == pytest.approx(np.average(right, weights=weight))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.staged_score(X, y[:1])
    with pytest.raises(ValueError, match="finite and not negative"):
        model.staged_score(X, y, -weight)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int16])
@pytest.mark.parametrize("model", [mt.TopDownClassifier(3), mt.OptimalTreeClassifier(3)])
def test_neighbouring_values_of_short_types(kind, model):
    """A threshold halfway between two neighbours is no number of their type."""
    step = 1 if kind is np.int16 else np.finfo(kind).eps
    X = np.array([[1 + step * number] for number in range(4)], dtype=kind)
    y = np.array([0, 1, 0, 1])
    assert clone(model).fit(X, y).predict(X).tolist() == y.tolist()
    if kind is not np.int16:
        wide = clone(model).fit(X.astype(np.float64), y)
        assert wide.predict(X).tolist() == y.tolist()


def test_decimals_of_arrow_are_rounded_to_nearest():
    arrow = pytest.importorskip("pyarrow")
    cells = [Decimal(number).scaleb(-2) for number in range(-99, 100)]
    table = arrow.table({"c": arrow.array([*cells, None], type=arrow.decimal128(8, 2))})
    for each in (table, pl.from_arrow(table), table.to_pandas()):
        found = Data(each).column(0)
        assert found[:-1].tolist() == [float(cell) for cell in cells]
        assert np.isnan(found[-1])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_sizes_that_were_not_fitted(kind, cancer):
    X, y = cancer
    model = kind(max_size=6).fit(X, y)
    model.max_size = 99  # it still has the trees it was fitted with
    for ask in (model.at_size, lambda size: model.predict(X, size=size), model.to_text):
        with pytest.raises(ValueError, match="size must be at most the model's max_size, 6; got 7"):
            ask(7)
    with pytest.raises(ValueError, match="at most the model's max_size, 3; got 6"):
        model.at_size(3).at_size(6)
    full = kind(max_size=None).fit(X, y)
    made = full.get_n_leaves() - 1
    assert full.at_size(made).tree_ == full.tree_
    with pytest.raises(ValueError, match=f"at most the model's max_size, {made}; got {made + 1}"):
        full.at_size(made + 1)
    # growth ended before: the last tree is that of every later size
    early = kind(max_size=9).fit([[0], [1]], ["a", "b"])
    assert early.predict([[0], [1]], size=9).tolist() == ["a", "b"]


def test_the_tree_agrees_with_the_classifier(cancer):
    X, y = cancer
    model = mt.TopDownClassifier(8).fit(X, y)
    literals = model.literals_.transform(X, model.tree_)
    np.testing.assert_array_equal(model.tree_.predict(literals), model.predict(X))
    np.testing.assert_array_equal(model.tree_.apply(literals), model.apply(X))
    assert model.feature_importances_.sum() == pytest.approx(1)
    path = model.decision_path(X)
    np.testing.assert_array_equal(
        path.sum(axis=1), np.array(model.tree_.depths)[model.apply(X)] + 1
    )
    assert mt.Tree.from_json(model.tree_.to_json()) == model.tree_


def test_growth_without_a_size_ends_at_pure_leaves(cancer):
    X, y = cancer
    model = mt.TopDownClassifier(None).fit(X, y)
    assert model.growth_.errors[-1] == 0
    assert model.score(X, y) == 1
    assert model.growth_.max_size == model.tree_.size


def test_frames_and_unknown_categories(people):
    X, y = people
    model = mt.TopDownClassifier(8).fit(X, y)
    polars = pl.from_pandas(X)
    other = mt.TopDownClassifier(8).fit(polars, y)
    assert model.tree_ == other.tree_
    assert model.score(X, y) == 1
    np.testing.assert_array_equal(model.predict(X), other.predict(polars))
    np.testing.assert_array_equal(model.feature_names_in_, ["age", "color", "flag"])
    never = X.assign(color="violet", flag=False)
    assert set(model.predict(never)) == {"no"}
    with pytest.raises(ValueError, match="age held numbers, now texts"):
        model.predict(X.assign(age="old"))
    with pytest.raises(ValueError, match="color held categories, now numbers"):
        model.predict(X.assign(color=1.0))
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[["color", "age", "flag"]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.drop(columns="age"))


def test_in_pipelines_and_searches(people, cancer):
    X, y = cancer
    pipeline = make_pipeline(
        StandardScaler().set_output(transform="pandas"), mt.TopDownClassifier()
    )
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.85
    search = GridSearchCV(mt.BestFirstClassifier(), {"max_size": [1, 5], "ties": ["first"]}, cv=3)
    assert search.fit(X, y).best_params_["max_size"] == 5
    frame, labels = people
    select = ColumnTransformer(
        [("all", "passthrough", ["age", "color", "flag"])], verbose_feature_names_out=False
    ).set_output(transform="polars")
    with_names = make_pipeline(select, mt.ID3Classifier()).fit(pl.from_pandas(frame), labels)
    assert "color is red" in with_names[-1].literals_.names
    assert clone(mt.ID3Classifier(3, ties="first")).get_params()["ties"] == "first"


def test_weights_are_routed(cancer):
    X, y = cancer
    weights = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = mt.TopDownClassifier(2).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        scores = cross_validate(model, X, y, params={"sample_weight": weights}, cv=3)
    assert len(scores["test_score"]) == 3


def test_weights_and_classes(cancer):
    X, y = cancer
    balanced = mt.TopDownClassifier(4, class_weight="balanced", max_thresholds=999).fit(X, y)
    counts = np.bincount(y)
    weights = (len(y) / 2 / counts)[y]  # they move the quantiles, unless there are all thresholds
    weighted = mt.TopDownClassifier(4, max_thresholds=999).fit(X, y, sample_weight=weights)
    assert balanced.tree_ == weighted.tree_
    nodes = balanced.to_sklearn().tree_.weighted_n_node_samples
    assert nodes[0] == pytest.approx(len(y))  # as in scikit-learn, the mean weight is 1
    named = mt.TopDownClassifier(4, class_weight={0: len(y) / 2 / counts[0]}).fit(X, y)
    assert named.predict_proba(X)[:, 0].mean() > 0.37
    with pytest.raises(ValueError, match="there is no 7"):
        mt.TopDownClassifier(class_weight={7: 1.0}).fit(X, y)
    with pytest.raises(ValueError, match="balanced"):
        mt.TopDownClassifier(class_weight="even").fit(X, y)


def test_a_pickle_holds_no_rows(cancer):
    X, y = cancer
    model = mt.TopDownClassifier(5).fit(np.repeat(X, 20, axis=0), np.repeat(y, 20))
    text = pickle.dumps(model)
    assert len(text) < 60_000
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.tree_ == model.tree_
    np.testing.assert_array_equal(again.growth_.errors, model.growth_.errors)


def test_sparse_matrices():
    random = np.random.default_rng(2)
    dense = np.where(random.random((200, 12)) < 0.2, random.integers(1, 4, (200, 12)), 0)
    y = (dense[:, 0] > 0) ^ (dense[:, 3] > 1)
    expected = mt.TopDownClassifier(6).fit(dense, y)
    for kind in (sparse.csc_array, sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        model = mt.TopDownClassifier(6).fit(kind(dense), y)
        assert model.tree_ == expected.tree_
        np.testing.assert_array_equal(model.predict(kind(dense)), expected.predict(dense))


def test_random_state():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (14, 10)), random.integers(0, 2, 14)
    trees = [mt.TopDownClassifier(ties="random", random_state=s).fit(X, y).tree_ for s in range(6)]
    assert mt.TopDownClassifier(ties="random", random_state=4).fit(X, y).tree_ == trees[4]
    assert len(set(trees)) > 1


def test_texts_in_an_array_are_categories():
    X = np.array([["a", "u"], ["b", "u"], ["a", "v"], ["c", "v"]], dtype=object)
    model = mt.TopDownClassifier().fit(X, [1, 0, 1, 0])
    assert model.to_text() == "x0 is a?\n├─0─ label 0\n└─1─ label 1"


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_bad_input(kind):
    X, y = np.array([[0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1])
    for options in (
        {"max_size": -1}, {"max_size": 1.5}, {"min_samples_split": "2"}, {"min_samples_leaf": -1},
        {"max_depth": -2}, {"min_gain": -1}, {"criterion": "mse"}, {"ties": "any"},
        {"max_thresholds": 0}, {"min_weight_fraction_leaf": 0.7},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(options))):
            kind(**options).fit(X, y)
    for bad, rule in (
        (np.empty((0, 2)), "0 sample"), (np.empty((3, 0)), "0 feature"), (np.zeros(3), "1D array"),
        (np.array([[0.0], [np.inf], [1]]), "infinity; x0 does: leave the column out"),
        (np.array([["a"], [1], [2.0]], dtype=object), "not both"),
        (pl.DataFrame({"a": []}), "0 sample"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rule):
            kind().fit(bad, y[: len(bad)] if len(bad) else y[:0])
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(X, [0, 1, np.nan])
    with pytest.raises(ValueError, match="Unknown label type"):
        kind().fit(X, [0.5, 1.25, 3.1])
    with pytest.raises(ValueError, match="inconsistent"):
        kind().fit(X, [0, 1])
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(X[:, :1])
    with pytest.raises(ValueError, match="size"):
        model.predict(X, size=-1)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = kind().tree_


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_infinite_numbers(kind):
    """They are refused, but in rows that do not count; numbers whose sum is infinite are not."""
    X = np.tile([[1.7e308], [-1.7e308]], (200, 1))
    model = kind(1).fit(X, X[:, 0] > 0)
    assert model.tree_.sources in ((), ((0, 0.0),))
    X[0] = np.inf
    assert kind(1).fit(X, X[:, 0] > 0, sample_weight=X[:, 0] < np.inf).tree_ == model.tree_
    with pytest.raises(ValueError, match=r"^X must not contain infinity; x0 does$"):
        model.predict(X[:1])
    with pytest.raises(ValueError, match="infinity; x1 does"):
        kind().fit(sparse.csc_matrix([[0.0, 2], [0, -np.inf], [1, 0]]), [0, 1, 0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [mt.TopDownClassifier, mt.OptimalTreeClassifier])
@pytest.mark.parametrize(
    "form",
    [
        np.array,
        np.float32,
        np.asfortranarray,
        np.longdouble,
        list,
        partial(np.array, dtype=object),
        sparse.csr_matrix,
        partial(pandas.DataFrame, columns=["x0", "x1"]),
        partial(pandas.DataFrame, columns=["x0", "x1"], dtype=object),
        partial(pandas.DataFrame, columns=["x0", "x1"], dtype="Float64"),
        partial(pl.DataFrame, schema=["x0", "x1"], orient="row"),
    ],
)
def test_a_column_that_is_tested_must_be_finite(kind, form, tmp_path):
    """In whatever form it comes, and also where no row meets the test; others may be infinite."""
    rows = np.array([[3.0, 0.25], [2, 0.5], [1, 1], [0, 2], [0.5, 3]] * 3)
    model = kind(1).fit(form(rows), rows[:, 1] > 0.75)
    model.save(tmp_path / "model.json")
    for wrong in (np.inf, -np.inf):
        untested, tested = rows.copy(), rows.copy()
        untested[2, 0] = tested[2, 1] = wrong
        untested[0, 0] = tested[0, 0] = np.nan
        for each in (model, mt.load(tmp_path / "model.json")):
            np.testing.assert_array_equal(each.predict(form(untested)), rows[:, 1] > 0.75)
            for work in (each.predict, each.predict_proba, each.apply):
                with pytest.raises(ValueError, match=r"^X must not contain infinity; x1 does$"):
                    work(form(tested))
            with pytest.raises(ValueError, match=r"^X must not contain infinity; x1 does$"):
                each.explain(tested[2])
        with pytest.raises(ValueError, match=r"infinity; x0 does: leave the column out of X$"):
            kind(1).fit(form(untested), rows[:, 1] > 0.75)


def test_literals_of_an_infinite_number():
    problem = mt.SampleProblem([[0.5], [1.5], [2.5]], [0, 1, 0])
    for work in (problem.literals.transform, problem.literals.ranks):
        with pytest.raises(ValueError, match=r"^X must not contain infinity; x0 does$"):
            work([[1.0], [np.inf]])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_odd_shapes(kind):
    one_class = kind().fit([[0], [1]], ["a", "a"])
    assert one_class.predict([[1]]).tolist() == ["a"]
    assert one_class.predict_proba([[1]]).tolist() == [[1]]
    one_row = kind().fit([[5]], [3])
    assert one_row.predict([[0]]).tolist() == [3]
    assert kind(10**7).fit([[5], [6]], [3, 4]).growth_.errors.tolist() == [0.5, 0, 0]
    assert one_row.feature_importances_.tolist() == [0]
    constant = kind().fit(np.ones((4, 2)), [0, 1, 1, 1])
    assert constant.predict_proba([[7, 7]]).tolist() == [[0.25, 0.75]]
    wide = kind().fit(np.eye(5, 300), [0, 1, 0, 1, 0])
    assert wide.score(np.eye(5, 300), [0, 1, 0, 1, 0]) == 1
    assert kind().fit(*load_iris(return_X_y=True)).classes_.tolist() == [0, 1, 2]
