"""The page of mictree fit: its sentences say what the numbers say."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import mictree as mt
from mictree.plotting.comparison import draw_errors
from mictree.report.data import (
    Fitted,
    advice,
    enlarge,
    importances,
    make_fitted_page,
    notes,
    render,
)
from mictree.report.data import make_comparison_page as make_compared


def fitted(own, lower, upper, wrong=(9, 9), choice=None):
    """A model with given errors by size; the largest size is chosen."""
    frontier = SimpleNamespace(
        lower=np.array(lower), upper=np.array(upper), proved=np.array(lower) == np.array(upper)
    )
    model = SimpleNamespace(growth_=SimpleNamespace(errors=np.array(own)))
    optimal = SimpleNamespace(frontier_=frontier)
    return Fitted(model, "topdown", len(own) - 1, choice, optimal, wrong, 300, 100)


def test_advice():
    known = fitted([0.5, 0.2], [0.5, 0.2], [0.5, 0.2])
    assert advice(known) == (
        "Use 1 split: expect an error of about 9.0% on new rows (wrong on 9 of 100 held-out rows)."
    )
    chosen = fitted([0.5, 0.2, 0.1], [0] * 3, [0.1] * 3, (4, 5), choice=object())
    assert advice(chosen).startswith("Use 2 splits, chosen by cross-validation: expect")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ((9, 9), "it makes as many mistakes as topdown's tree."),
        ((9, 7), "it makes 2 fewer mistakes than topdown's tree."),
        ((7, 9), "it makes 2 more mistakes than topdown's tree."),
        ((8, 9), "it makes 1 more mistake than topdown's tree."),
    ],
)
def test_the_optimum_on_held_out_rows(wrong, words):
    (line,) = notes(fitted([0.5, 0.2], [0.5, 0.175], [0.5, 0.175], wrong))
    assert line == (
        "The optimal tree of this size is 2.5 points better on training rows; on held-out rows "
        + words
    )


def test_optimal_only_if_proved():
    first, second = notes(fitted([0.5, 0.2], [0.5, 0.1], [0.5, 0.175]))
    assert first.startswith("The best tree of this size that was found is 2.5 points better")
    assert second == "No tree of this size is more than 10.0 points better on training rows."


def test_fewer_splits_that_do_as_well():
    same = fitted([0.5, 0.3, 0.2], [0.5, 0.2, 0.1], [0.5, 0.2, 0.1])
    assert notes(same)[-1] == "A tree of 1 split makes no more training errors than topdown's of 2."
    assert len(notes(fitted([0.5, 0.3, 0.2], [0.5, 0.21, 0.2], [0.5, 0.21, 0.2]))) == 1


def test_without_the_optimum():
    model = SimpleNamespace(growth_=SimpleNamespace(errors=np.array([0.5])))
    assert notes(Fitted(model, "id3", 0, None, None, (1,), 3, 2)) == []


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target


def test_a_page_has_all_parts(iris):
    X, y = iris
    model = mt.TopDownClassifier(max_size=4).fit(X, y)
    optimal = mt.OptimalTreeClassifier(max_size=2).fit(X, y)
    choice = mt.select_size(model, X, y)
    page = make_fitted_page(
        Fitted(model, "topdown", 2, choice, optimal, (3, 2), 150, 50), "f", "t", {}
    )
    assert [tree.title for tree in page.trees] == [
        "Topdown's tree of 2 splits", "Optimal tree of at most 2 splits",
    ]  # fmt: skip
    table = page.curves.numbers
    assert len(table.rows) == 5
    assert table.rows[2][0] == "2 ←"
    assert [row[-1] for row in table.rows] == [f"{e:.4f}" for e in optimal.frontier_.upper] + [
        ""
    ] * 2
    assert (
        table.rows[1][3] == f"{1 - choice.means[1]:.4f}\u00a0±\u00a0{choice.standard_errors[1]:.4f}"
    )
    shares = model.at_size(2).feature_importances_, optimal.feature_importances_
    for each in page.importances:
        place = list(X.columns).index(each.column)
        assert each.shares == tuple(share[place] for share in shares)
    html = render(page)
    assert html.count("<h2>") == 6
    assert all(rule[0].replace("<", "&lt;").replace(">", "&gt;") in html
               for tree in page.trees for rule in tree.rules)  # fmt: skip


def test_importances_are_sorted_and_leave_out_what_no_tree_tests(iris):
    X, y = iris
    small, large = (
        mt.TopDownClassifier(max_size=1).fit(X, y),
        mt.TopDownClassifier(max_size=8).fit(X, y),
    )
    found = importances([small, large], list(X.columns))
    used = (large.feature_importances_ > 0).sum()
    assert len(found) == used > 1
    assert found[0].shares[0] == 1.0
    assert [each.shares for each in found] == sorted((each.shares for each in found), reverse=True)
    assert importances([mt.TopDownClassifier(max_size=0).fit(X, y)], list(X.columns)) == ()


def test_the_model_of_a_comparison_is_the_optimal_tree(iris, tmp_path):
    X, y = iris
    result = mt.compare("topdown", X, y, 3, cv=0)
    model = result.model(2)
    assert 1 - model.score(X, y) == pytest.approx(result.optimal_errors[2])
    assert model.proved_
    assert model.tree_ == result.optimal_trees.tree(2)
    model.save(tmp_path / "model.json")
    assert (mt.load(tmp_path / "model.json").predict(X) == model.predict(X)).all()
    page = make_compared(result, "iris.csv", "species", 2, {})
    assert page.trees[0].title == "Optimal tree of at most 2 splits"
    assert page.advice == ()
    assert "Which tree?" in render(page)


def test_the_model_of_a_comparison_without_names():
    X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    model = mt.compare("topdown", X, [0, 1, 1, 0] * 5, 3, cv=0).model(3)
    assert model.predict([[0, 1], [1, 1]]).tolist() == [1, 0]
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (0.2 + 1e-16, "is no better on"),
        (0.2002, "is less than 0.1 points better on"),
        (0.2006, "is 0.1 points better on"),
    ],
)
def test_no_tree_is_zero_points_better(own, words):
    (line,) = notes(fitted([0.5, own], [0.5, 0.2], [0.5, 0.2]))
    assert words in line


def test_no_legend_covers_a_curve(iris):
    """The cross-validated curve may be anywhere, so the legend is above the axes."""
    X, y = iris
    model = mt.TopDownClassifier(max_size=4).fit(X, y)
    figure = Figure(layout="constrained")
    ax = draw_errors(figure, "topdown", model.growth_.errors, mt.select_size(model, X, y), None, 2)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert not legend.get_window_extent().overlaps(ax.get_window_extent())


@pytest.mark.parametrize(("width", "drawn"), [(300, 480), (600, 744), (900, 900)])
def test_trees_are_enlarged_up_to_the_width_of_the_page(width, drawn):
    svg = f'<svg width="{width}pt" height="100pt" viewBox="0 0 {width} 100"><g/></svg>'
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', enlarge(svg))
    assert float(found[1]) == pytest.approx(drawn)
    assert float(found[2]) == pytest.approx(100 * drawn / width)
    assert enlarge(svg).endswith(f'viewBox="0 0 {width} 100"><g/></svg>')


@pytest.mark.parametrize(
    ("upper", "wrong", "rates", "better"),
    [
        (0.1, (9, 9), (), True),
        (0.1, (9, 8), (), True),
        (0.1, (8, 9), (), False),  # the tree of fewer training errors is worse on new rows
        (0.2, (9, 9), (), False),
        (0.2, (9, 8), (), True),
        (0.1, (8, 9), (0.3, 0.2), True),  # weights decide, not rows
        (0.1, (9, 8), (0.2, 0.3), False),
    ],
)
def test_the_command_is_that_of_a_better_tree(upper, wrong, rates, better):
    known = fitted([0.5, 0.2], [0.5, upper], [0.5, upper], wrong)
    assert replace(known, rates=rates).is_improved == better
    assert not replace(known, optimal=None).is_improved


def test_weighted_errors_are_called_so():
    known = fitted([0.5, 0.2], [0.5, 0.175], [0.5, 0.175], (9, 7))
    weighted = replace(known, rates=(0.25, 0.3), weighted=True)
    assert advice(weighted) == (
        "Use 1 split: expect a weighted error of about 25.0% on new rows (wrong on 9 of 100 "
        "held-out rows)."
    )
    (line,) = notes(weighted)
    assert line.endswith(
        "on held-out rows its weighted error is 30.00%, that of topdown's tree 25.00%."
    )


@pytest.mark.parametrize("class_weight", [None, {0: 5}])
def test_shares_beside_numbers_of_rows_are_called_weighted(iris, class_weight):
    X, y = iris
    model = mt.TopDownClassifier(1, class_weight=class_weight).fit(X, y)
    known = Fitted(model, "topdown", 1, None, None, (9,), 300, 100)
    page = make_fitted_page(
        replace(known, weighted=class_weight is not None), "iris.csv", "species", {}
    )
    said = "the rules' columns of all and right, are weighted."
    assert (said in page.trees[0].note) == (class_weight is not None)


@pytest.mark.parametrize("weight", [1, 5])
def test_weighted_shares_and_errors_of_a_comparison_are_called_so(iris, weight):
    X, y = iris
    weights = np.where(np.asarray(y) == np.asarray(y)[0], weight, 1)
    result = mt.compare("topdown", X, y, 1, cv=2, repeats=1, sample_weight=weights)
    note = make_compared(result, "iris.csv", "species", 1, {}).trees[0].note
    found = re.sub(r"[\d.]+%", "", note)
    if weight == 1:
        assert found == "Training error . Held-out error ."
    else:
        assert found.startswith("Weighted training error . Weighted held-out error . Class shares")


def test_remarks_come_first():
    told = replace(fitted([0.5, 0.2], [0.5, 0.2], [0.5, 0.2]), remarks=("no split helps",))
    assert notes(told)[0] == "No split helps."


def test_scores_have_axes_of_their_own(iris):
    X, y = iris
    choice = mt.select_size(mt.TopDownClassifier(max_size=3), X, y, scoring="f1_macro")
    figure = Figure(layout="constrained")
    draw_errors(figure, "topdown", np.array([0.5, 0.2]), choice, None, 1)
    assert [ax.get_ylabel() for ax in figure.axes] == ["error", "f1_macro on held-out rows"]
