"""The page of mictree good, and the sentence about good trees on the page of mictree fit."""

import numpy as np
import pytest
from matplotlib import pyplot

import mictree as mt
from mictree.report.data import among_good, make_good_page, render_good, sentences

PAPER = "x1 & x2 | y1 & y2 & y3"
X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
XOR = X[:, 0] ^ X[:, 1]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_the_page():
    good = mt.good_trees(mt.FormulaProblem(PAPER), 3)
    html = render_good(make_good_page(good, "<b>name", [good.chance("topdown")]))
    assert "Good trees of &lt;b&gt;name" in html
    assert "<script" not in html
    assert "Good trees by size" in html
    assert "With 3 splits the least error is 0.09375; 14 trees are good." in html
    assert "All of them test x1 and x2." in html
    assert "topdown with random ties: chance to end among the good trees, exact" in html
    assert html.count("data:image/svg+xml") == 2
    assert "Every tree of the least error of its size<" in html


def test_the_largest_size_with_a_tree():
    page = make_good_page(mt.good_trees(mt.FormulaProblem("a & b"), 4), "a & b")
    assert page.lines[0] == "With 2 splits the least error is 0; 2 trees are good."
    assert page.trees_alt == "a few good trees of 2 splits that differ most"


def test_one_tree_need_not_have_the_least_error():
    # with one split the least error is that of no split; the one tree with a split has more
    problem = mt.SampleProblem([[0], [0], [1], [1]], [0, 1, 0, 0])
    assert sentences(mt.good_trees(problem, 1), 1)[0].endswith("0.25; one tree has it.")
    assert sentences(mt.good_trees(problem, 1, 0.1), 1)[0].endswith("0.25; one tree is good.")


def test_slack_and_variables_that_no_good_tree_tests():
    problem = mt.SampleProblem(
        [[0, 0, 0, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 1]], [0, 0, 1, 1]
    )
    good = mt.good_trees(problem, 1, 0.1)
    page = make_good_page(good, "t.csv")
    assert page.subtitle == "Every tree of the least error of its size, or at most 0.1 more"
    assert page.lines[-1] == "None of them tests x1, x2 or x3."


def test_chances_say_the_size_and_count_trees():
    told = str(mt.good_trees(mt.FormulaProblem("a & b"), 1).chance("topdown")).splitlines()
    assert told[1:] == ["   0: 1, 1 good tree reached", "   1: 1, 2 good trees reached"]


def test_no_variable_is_needed():
    good = mt.good_trees(mt.FormulaProblem("a & b | c & d"), 1)
    assert sentences(good, 1)[1:] == ["No variable is tested by all of them."]


def test_drawings_name_the_classes():
    problem = mt.SampleProblem(X, np.array(["even", "odd"])[XOR])
    figure = mt.good_trees(problem, 3).draw(3)
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"even", "odd"} <= texts


def sentence(model, y):
    return among_good(model.fit(X, y), model.max_size, 10.0)


def test_a_tree_among_the_good_ones():
    said = sentence(mt.OptimalTreeClassifier(max_size=3), XOR)
    assert said == (
        "It is one of 2 trees of this size with at most one error more than the best tree of 3 "
        "splits; all of them test x0 and x1, on the rows that it grew on."
    )


def test_a_tree_that_is_none_of_them():
    # the third column is right on three of four rows, so greedy growth begins with it
    rows = np.array([[a, b, a ^ b ^ (k == 0)] for a in (0, 1) for b in (0, 1) for k in range(4)])
    y = rows[:, 0] ^ rows[:, 1]
    model = mt.BestFirstClassifier(max_size=3).fit(rows, y)
    assert among_good(model, 3, 10.0) == (
        "2 trees have at most one error more than the best tree of 3 splits, and this is none of "
        "them; all of them test x0 and x1, on the rows that it grew on."
    )


def test_nothing_is_said_of_weighted_rows():
    model = mt.OptimalTreeClassifier(max_size=3).fit(X, XOR, sample_weight=np.arange(1, 9))
    assert among_good(model, 3, 10.0) == ""
    assert among_good(mt.OptimalTreeClassifier(max_size=0).fit(X, XOR), 0, 10.0) == ""
