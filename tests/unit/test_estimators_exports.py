"""Ways out of mictree: scikit-learn's own tree, texts, frames, drawings, other libraries."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

import mictree as mt

CLASSIFIERS = [
    mt.TopDownClassifier,
    mt.BestFirstClassifier,
    mt.ID3Classifier,
    partial(mt.LookaheadClassifier, max_thresholds=16),  # all of them take seconds a leaf
]


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_scikit_learn_trees_predict_the_same(kind, load):
    X, y = load(return_X_y=True)
    model = kind(30, criterion="gini").fit(X, y)
    theirs = model.to_sklearn()
    assert type(theirs) is DecisionTreeClassifier
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))
    np.testing.assert_allclose(theirs.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(theirs.apply(X), model.apply(X))
    assert theirs.get_depth() == model.get_depth()
    assert theirs.get_n_leaves() == model.get_n_leaves()
    np.testing.assert_allclose(theirs.feature_importances_, model.feature_importances_)
    assert (theirs.decision_path(X) != model.decision_path(X)).nnz == 0


@pytest.mark.parametrize(
    ("column", "held"),
    [
        (np.array([0, 10, 50, 90], dtype="M8[D]"), "holds times"),
        (np.array([0, 10, 50, 90], dtype="m8[ns]"), "holds times"),
        (pd.Categorical(["low", "low", "mid", "top"], ["low", "mid", "top"], ordered=True),
         "is categorical"),
    ],
)  # fmt: skip
def test_times_and_ordered_categories_are_no_numbers_for_scikit_learn(column, held):
    """It would read times in their own unit, and compare them with microseconds."""
    X = pd.DataFrame({"when": column})
    model = mt.TopDownClassifier(1).fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=f"test numbers; when {held}: use to_sklearn"):
        model.to_sklearn()
    theirs = model.to_sklearn(on="literals")
    assert theirs.predict(model.literals_.transform(X, model.tree_)).tolist() == [0, 0, 1, 1]


def test_a_saved_model_refuses_scikit_learn(tmp_path):
    mt.TopDownClassifier(1).fit([[0], [1]], [0, 1]).save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="no to_sklearn; the fitted TopDownClassifier has"):
        mt.load(tmp_path / "model.json").to_sklearn()


def test_missing_values_go_the_same_way():
    random = np.random.default_rng(1)
    X = np.where(random.random((400, 4)) < 0.2, np.nan, random.standard_normal((400, 4)))
    y = (np.nan_to_num(X[:, 0]) > 0) ^ np.isnan(X[:, 1])
    model = mt.TopDownClassifier(15).fit(X, y)
    assert any("missing" in step.variable for step in model.growth_.steps)
    other = np.where(random.random((999, 4)) < 0.3, np.nan, random.standard_normal((999, 4)))
    np.testing.assert_array_equal(model.to_sklearn().predict(other), model.predict(other))


def test_values_that_differ_only_in_64_bits():
    """scikit-learn reads 32 bits; whatever those tell apart must go the same way."""
    tenths = np.arange(1, 40)[:, None] / 10
    y = np.arange(39) % 2
    model = mt.TopDownClassifier(None).fit(tenths, y)
    np.testing.assert_array_equal(model.to_sklearn().predict(tenths), y)
    near = np.float32(1) + np.arange(6, dtype=np.float32)[:, None] * np.finfo(np.float32).eps
    model = mt.TopDownClassifier(None).fit(near, y[:6])
    np.testing.assert_array_equal(model.to_sklearn().predict(near), y[:6])


def test_categories_need_literals():
    X = np.array([["a", "u"], ["b", "u"], ["a", "v"], ["c", "v"]], dtype=object)
    model = mt.TopDownClassifier().fit(X, ["p", "n", "p", "n"])
    with pytest.raises(ValueError, match="x0 is categorical"):
        model.to_sklearn()
    theirs = model.to_sklearn(on="literals")
    np.testing.assert_array_equal(
        theirs.predict(model.literals_.transform(X, model.tree_)), model.predict(X)
    )
    with pytest.raises(ValueError, match='"columns" or "literals"'):
        model.to_sklearn(on="words")


def test_a_lone_leaf():
    model = mt.TopDownClassifier(0).fit([[0], [1]], [1, 1])
    assert model.to_sklearn().predict([[0]]).tolist() == [1]
    assert model.to_text() == "label 1"
    assert [str(rule) for rule in model.to_rules()] == ["always 1"]
    assert len(model.to_frame()) == 1


@pytest.mark.parametrize(
    "X",
    [
        [[1.5, 0], [2.5, 1], [3.5, 1]],
        [["a", "u"], ["b", "v"], ["c", "w"]],
        [["a"], ["a"], ["a"]],  # offers no literal at all
        [[0], [1], [1]],
    ],
)
def test_a_lone_leaf_on_literals(X):
    for model in (mt.TopDownClassifier(0), mt.OptimalTreeClassifier(0)):
        model.fit(X, ["p", "n", "p"])
        theirs = model.to_sklearn(on="literals")
        assert type(theirs) is DecisionTreeClassifier
        bits = model.literals_.transform(X, model.tree_)
        assert theirs.predict(bits).tolist() == model.predict(X).tolist() == ["p"] * 3
        np.testing.assert_array_equal(theirs.predict_proba(bits), model.predict_proba(X))
        assert model.tree_.predict(bits).tolist() == [1] * 3


def test_a_tree_without_variables_reads_no_other_columns():
    leaf = mt.Tree.build([], 1)
    assert leaf.predict(np.zeros((2, 0))).tolist() == leaf.predict([[0], [1]]).tolist() == [1, 1]
    with pytest.raises(ValueError, match="two dimensions and 0 columns"):
        leaf.predict([[0, 1]])
    with pytest.raises(ValueError, match="only 0 and 1; it has 2"):
        leaf.predict([[2]])


def small_model():
    X = np.array([[20.0, 0], [30, 1], [45, 1], [50, 0], [np.nan, 1], [28, 1]])
    return mt.TopDownClassifier(ties="first").fit(X, ["no", "no", "yes", "yes", "yes", "no"])


def test_texts():
    model = small_model()
    assert model.to_text().splitlines() == [
        "x0 > 37.5?",
        "├─0─ x0 is missing?",
        "│    ├─0─ label no",
        "│    └─1─ label yes",
        "└─1─ label yes",
    ]
    assert [str(rule) for rule in model.to_rules()] == [
        "if x0 <= 37.5 then no",
        "if x0 > 37.5 then yes",
        "if x0 is missing then yes",
    ]
    assert [str(rule) for rule in model.to_rules(size=0)] == ["always no"]
    dot = model.to_dot()
    assert dot.startswith("digraph")
    assert dot.count("->") == 4
    assert '"x0 > 37.5"' in dot


def test_rules_say_what_they_mean():
    X = np.array([["a", 1], ["b", 2], ["c", 2]], dtype=object)
    model = mt.TopDownClassifier(ties="first").fit(X, [0, 1, 2])
    assert any("x0 is neither " in str(rule) for rule in model.to_rules())
    numbers = mt.TopDownClassifier().fit([[1], [2]], [0, 1])
    shown = [str(rule) for rule in numbers.to_rules()]
    assert shown == ["if x0 <= 1.5 then 0", "if x0 > 1.5 then 1"]


def test_frame_and_drawing():
    model = small_model()
    frame = model.to_frame()
    assert frame["rows"].to_list() == [6, 4, 3, 1, 2]
    assert frame["test"].to_list() == ["x0 > 37.5", "x0 is missing", None, None, None]
    assert frame["label"].to_list() == ["no", "no", "no", "yes", "yes"]
    np.testing.assert_allclose(frame["rate of yes"], [0.5, 0.25, 0, 1, 1])
    axes = model.draw()
    texts = {text.get_text() for text in axes.texts}
    assert {"x0 > 37.5?", "x0 is missing?", "yes", "no"} <= texts
    assert {"6 rows (100%)\nerror 50.0%", "1 row (17%)\nerror 0.0%"} <= texts
    pyplot.close("all")


def test_scikit_learns_own_tools():
    X, y = load_breast_cancer(return_X_y=True)
    theirs = mt.TopDownClassifier(3).fit(X, y).to_sklearn()
    assert export_text(theirs).count("class") == 4
    plot_tree(theirs)
    pyplot.close("all")


def test_shap():
    shap = pytest.importorskip("shap")
    X, y = load_breast_cancer(return_X_y=True)
    model = mt.TopDownClassifier(6).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.TreeExplainer(model.to_sklearn())
        values = explainer.shap_values(X[:20])
    total = values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, model.predict_proba(X[:20]), atol=1e-6)


def test_onnx():
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = load_digits(return_X_y=True)
    model = mt.TopDownClassifier(12).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = skl2onnx.to_onnx(model.to_sklearn(), X[:1].astype(np.float32))
        session = onnxruntime.InferenceSession(
            converted.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    labels = session.run(None, {"X": X.astype(np.float32)})[0]
    np.testing.assert_array_equal(labels, model.predict(X))
