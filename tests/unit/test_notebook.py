"""Notebooks: HTML that escapes, and texts that stay short."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer

import mictree as mt
from tests.datasets import random_bits

EVIL = '<script>alert("x")</script>'
X, Y = random_bits(80, 5, 1, noise=0.2)


@pytest.fixture(scope="module")
def values():
    X, y = load_breast_cancer(return_X_y=True)
    model = mt.TopDownClassifier(6).fit(X, y)
    problem = mt.FormulaProblem("a & b | c")
    small, labels = random_bits(80, 5, 1, noise=0.2)
    found = {
        "tree": model.tree_,
        "model": model,
        "optimal": mt.OptimalTreeClassifier(2).fit(small, labels),
        "unfitted": mt.TopDownClassifier(),
        "growth": model.growth_,
        "mic": mt.mic(mt.TopDown(), problem, max_size=3),
        "frontier": mt.optimal_errors(mt.SampleProblem(small, labels), 2),
        "comparison": mt.compare("topdown", small, labels, 2, cv=2, repeats=1),
        "choice": mt.select_size(mt.TopDownClassifier(3), small, labels, cv=2),
        "rules": model.to_rules(),
        "path": model.penalty_path(),
    }
    yield found
    pyplot.close("all")


NAMES = ["tree", "model", "optimal", "unfitted", "growth", "mic", "frontier", "comparison",
         "choice", "rules", "path"]  # fmt: skip
DRAWN = ["tree", "model", "optimal", "mic", "choice"]


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_short(values, name):
    assert 0 < len(repr(values[name])) < 400


@pytest.mark.parametrize("name", NAMES)
def test_html(values, name):
    before = pyplot.get_fignums()
    html = values[name]._repr_html_()
    assert ("<svg" in html) == (name in DRAWN) or name == "unfitted"
    assert "<table" in html or "<svg" in html or "<div" in html
    assert pyplot.get_fignums() == before  # drawings are closed


def test_scikit_learns_diagram_comes_first(values):
    html = values["model"]._repr_mimebundle_()["text/html"]
    assert (
        html.index("TopDownClassifier") < html.index("worst") if "worst" in html else "<svg" in html
    )


def test_names_cannot_write_html():
    model = mt.TopDownClassifier(2).fit(
        np.array([[EVIL], ["b"]] * 4, dtype=object), [EVIL, "x"] * 4
    )
    for value in (model.tree_, model, model.growth_, model.to_rules()):
        assert EVIL not in value._repr_html_()
    model.to_rules()._repr_html_().index("&lt;script&gt;")


@pytest.mark.parametrize(
    ("problem", "options"),
    [
        (mt.FormulaProblem("a & b | c"), {}),
        (mt.FormulaProblem("a & b | c"), {"exact": True}),
        (mt.FormulaProblem("a & b | c"), {"top": 2}),
        (mt.TableProblem([0, 1, 1, 1]), {}),
        (mt.SampleProblem([[0, 1], [1, 1], [1, 0]], [0, 1, 0]), {}),
    ],
)
def test_optimal_trees_are_shown_in_one_line(problem, options):
    shown = repr(mt.optimal_trees(problem, 2, **options))
    assert shown.startswith(f"OptimalTrees({problem!r}, sizes 0 to 2, error 0.")
    assert len(shown.splitlines()) == 1
