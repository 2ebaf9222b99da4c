"""What a user may give as costs and as numbers to predict, and how the rest is refused."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import mictree as mt

X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], float)
LABELS = ["no", "yes", "yes", "no"]
COSTS = np.array([[1, 2.0], [3, 4], [5, 0], [1, 1]])
MATRIX = np.array([[0, 1.0], [5, 0]])  # "yes" is worse to miss
BY_NAME = {"no": {"no": 0, "yes": 1}, "yes": {"no": 5, "yes": 0}}


def numbers(y, rows=X, **settings):
    return mt.SampleProblem(rows, y, loss="squared", **settings)


def refused(build, *arguments, **settings):
    """The message of a refusal."""
    with pytest.raises(ValueError, match=r"must|stand|exclude|needs") as caught:
        build(*arguments, **settings)
    return str(caught.value)


def by_row(costs, rows=X, **settings):
    return mt.SampleProblem(rows, costs=costs, **settings)


def by_class(matrix, labels=LABELS, **settings):
    return mt.SampleProblem(X, labels, cost_matrix=matrix, **settings)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 2, math.nan, 3], "y must be finite; it has nan"),
        ([1, -math.inf, 2, 3], "y must be finite; it has -inf"),
        ([1, 2, None, 3], "y must hold numbers; it holds None"),
        (pd.Series([1, 2, None, 4], dtype="Int64"), "y must be finite; it has nan"),
        (
            pd.Series([True, None, True, False], dtype="boolean"),
            "y must hold numbers; it holds <NA>",
        ),
        (pl.Series([1, 2, None, 4]), "y must be finite; it has nan"),
        ([1, 2, 1e300, 3], "y must have squares that a 64-bit float can hold; it has 1e+300"),
        (
            [0, 1e-200, 2e-200, 0],
            "y must have squares that a 64-bit float can hold; all numbers of it lie within "
            "2e-200; multiply them, by 1e+140 for example",
        ),
        ([1, 2, 10**400, 3], "y must hold real numbers within 64-bit floats"),
        ([Fraction(10**400), 1, 2, 3], "y must hold real numbers within 64-bit floats"),
        ([1, 2, 3j, 4], "y must hold numbers; it holds (1+0j)"),
        (["1", "2", "3", "4"], "y must hold numbers; it holds '1'"),
        (pd.Series(["1", "2", None, "4"], dtype="string"), "y must hold numbers; it holds '1'"),
        (np.array(["2020-01-01"] * 4, "datetime64[D]"), "y must hold numbers; it holds datetime"),
        (np.ma.array([1.0, 2, 3, 4], mask=[0, 0, 1, 0]), "y must not contain masked values; row 2"),
        ([[1], [2], [3], [4]], "y must have one dimension; its shape is (4, 1)"),
        ([1, 2, 3], "X and y must have as many rows; they have 4, 3"),
        ([], "X and y must have as many rows; they have 4, 0"),
    ],
)
def test_numbers_that_are_refused(y, words):
    assert refused(numbers, y).startswith(words)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([1, 2, 3, 4], dtype="Int64"),
        pl.Series([1, 2, 3, 4]),
        [Fraction(1), Fraction(2), Fraction(3), Fraction(4)],
        [Decimal(1), Decimal(2), Decimal(3), Decimal(4)],
        np.ma.array([1.0, 2, 3, 4]),
        np.array([1, 2, 3, 4], np.uint8),
    ],
)
def test_numbers_of_any_kind(y):
    problem = numbers(y)
    assert (problem.root().error, problem.root(exact=True).error) == (1.25, Fraction(5, 4))
    assert mt.TopDown().grow(problem, 3).errors.tolist() == [1.25, 1.0, 0.5, 0.0]


def test_booleans_are_0_and_1():
    assert numbers([True, False, True, True]).root().label == 0.75
    assert numbers(pd.Series([True, False, True, True], dtype="boolean")).root().label == 0.75


def test_one_row_and_constant_numbers_have_no_error():
    one = mt.TopDown().grow(numbers([3.5], X[:1]), 2)
    assert (one.errors.tolist(), one.tree(2).labels, one.exact_errors) == (
        [0.0] * 3,
        (3.5,),
        [0] * 3,
    )
    same = mt.TopDown().grow(numbers([0.1, 0.1, 0.1, 0.1]), 2)
    assert (same.errors.tolist(), same.tree(2).labels) == ([0.0] * 3, (0.1,))
    assert str(numbers([-0.0] * 4).root().label) == "0.0"
    assert mt.TopDown().grow(by_row([[3, 1, 2]], X[:1]), 2).errors.tolist() == [1.0] * 3
    assert mt.TopDown().grow(by_row(np.ones((4, 3))), 2).steps == ()


def test_no_rows():
    assert (
        refused(numbers, [], np.empty((0, 2))) == "a data set must have at least one row; it has 0"
    )
    assert refused(by_row, np.empty((0, 2)), np.empty((0, 2))).startswith("a data set must have")


def test_extreme_numbers_and_weights():
    """Far from 0, and with weights next to the least float, errors keep their digits."""
    far = numbers([1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3, 1e9 + 0.4])
    assert mt.TopDown().grow(far, 3).errors == pytest.approx([0.0125, 0.01, 0.005, 0], rel=1e-14)
    for weight in (5e-324, 1e-300, 1e300):
        light = numbers([1, 2, 3, 4], sample_weight=[weight] * 4)
        assert mt.TopDown().grow(light, 3).errors == pytest.approx([1.25, 1, 0.5, 0], rel=1e-14)
        costs = by_row(COSTS, sample_weight=[weight] * 4)
        assert mt.TopDown().grow(costs, 2).errors == pytest.approx([1.75, 1.5, 1.25])
    words = "weights times squares of y must have a finite sum; the weights' sum is 1e+30"
    assert refused(numbers, [1e140, 0, 0, 1], sample_weight=[1e30, 0, 0, 1]) == words
    words = "weights times costs must have a finite sum; the weights' sum is 4e+300"
    assert refused(by_row, COSTS * 1e10, sample_weight=[1e300] * 4) == words
    assert refused(by_class, MATRIX * 1e10, sample_weight=[1e300] * 4) == words
    tiny = mt.TopDown().grow(by_row(COSTS * 1e-310), 2).errors
    assert tiny == pytest.approx([2.5e-310, 2.5e-310, 1.25e-310], rel=0.5)  # few digits
    whole = numbers(np.array([0, 2**62, 2**62 + 1, 0]), sample_weight=[0, 1, 1, 0])
    assert whole.root(exact=True).error == Fraction(1, 4)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (np.where(COSTS == 5, math.nan, COSTS), "costs must be finite; it has nan"),
        (np.where(COSTS == 5, -math.inf, COSTS), "costs must be finite; it has -inf"),
        ([1, 2, 3, 4], "costs must be a table of rows and actions; its shape is (4,)"),
        (np.ones((4, 2, 2)), "costs must be a table of rows and actions; its shape is (4, 2, 2)"),
        (np.empty((4, 0)), "costs must be a table of rows and actions; its shape is (4, 0)"),
        (COSTS[:3], "X and costs must have as many rows; they have 4, 3"),
        ([["a", "b"]] * 4, "costs must hold numbers; it holds 'a'"),
        ([[1, None]] * 4, "costs must hold numbers; it holds None"),
        ([[1, 2], [3], [4, 5], [6, 7]], "costs must be a table with rows of one length"),
        (COSTS + 0j, "costs must hold numbers; it holds (1+0j)"),
        (np.ma.array(COSTS, mask=COSTS == 5), "costs must not contain masked values; row 2"),
        (COSTS * 2e307, "costs must lie within 1e289, so that sums are floats; it has 1e+308"),
        (sparse.csr_matrix(COSTS), "costs must be a dense table; it is sparse"),
        (pd.DataFrame(COSTS, columns=["a", "a"]), "costs must name each action once; its columns"),
        (
            pl.DataFrame({"a": [1, 2, None, 4], "b": [1, 2, 3, 4]}),
            "costs must be finite; it has nan",
        ),
        (
            pd.DataFrame({"a": [1, 2, None, 4], "b": 1}).astype("Int64"),
            "costs must hold numbers; it holds <NA>",
        ),
        (
            pd.DataFrame({"a": [1, 2, 3, 4], "b": list("abcd")}),
            "costs must hold numbers; it holds 'a'",
        ),
    ],
)
def test_costs_that_are_refused(costs, words):
    assert refused(by_row, costs).startswith(words)


@pytest.mark.parametrize(
    ("costs", "actions"),
    [
        (COSTS, (0, 1)),
        (COSTS.tolist(), (0, 1)),
        (pd.DataFrame(COSTS, columns=["wait", "go"]), ("wait", "go")),
        (pd.DataFrame(COSTS.astype(int), columns=["wait", "go"]).astype("Int64"), ("wait", "go")),
        (pl.DataFrame({"wait": COSTS[:, 0], "go": COSTS[:, 1]}), ("wait", "go")),
    ],
)
def test_costs_of_any_kind(costs, actions):
    problem = by_row(costs)
    assert (problem.actions, problem.classes, problem.offset) == (actions, (), 1.25)
    assert mt.TopDown().grow(problem, 2).errors.tolist() == [1.75, 1.5, 1.25]
    assert by_row(costs, sample_weight=[2, 1, 1, 0]).exact_offset == Fraction(5, 4)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0, math.nan], [1, 0]], "be finite; it has nan"),
        ([[0, math.inf], [1, 0]], "be finite; it has inf"),
        ([[0, -1], [1, 0]], "not be negative; it has -1"),
        (np.ones((3, 3)), "have a row and a column for each of the 2 classes; its shape is (3, 3)"),
        (np.ones((2, 3)), "have a row and a column for each of the 2 classes; its shape is (2, 3)"),
        ([1, 2], "have a row and a column for each of the 2 classes; its shape is (2,)"),
        (3, "have a row and a column for each of the 2 classes; its shape is ()"),
        ("costs.csv", "hold numbers; it holds 'costs.csv'"),
        ([["a", "b"], ["c", "d"]], "hold numbers; it holds 'a'"),
        ([[0, None], [1, 0]], "hold numbers; it holds None"),
        ([[0, 1], [1]], "be a table with rows of one length"),
        (MATRIX + 0j, "hold numbers; it holds 0j"),
        (np.ma.array(MATRIX, mask=MATRIX == 5), "not contain masked values; row 1"),
        (MATRIX * 2e307, "lie within 1e289"),
        ([[0, 10**400], [1, 0]], "hold real numbers within 64-bit floats"),
        ({**BY_NAME, "maybe": {"no": 1, "yes": 1}}, "name classes of y; there is no 'maybe'"),
        ({"no": {"no": 0, "yes": 1}}, "name every class; 'yes' is not there"),
        (
            {"no": {"no": 0, "yes": 1}, "yes": {"no": 5}},
            "have a cost for all actions; 'yes' has none for 'yes'",
        ),
        (
            {"no": [0, 1], "yes": [5, 0]},
            "have a mapping of action to cost for each class; 'no' has list",
        ),
        ({"no": {}, "yes": {}}, "name an action or more; there is none"),
        ({}, "name every class; 'no' is not there"),
        (
            pd.DataFrame(MATRIX, index=["no", "no"], columns=["no", "yes"]),
            "name a class once; 'no' is there twice",
        ),
        (
            pd.DataFrame(MATRIX, index=["no", "yes"], columns=["no", "no"]),
            "name an action once; 'no' is there twice",
        ),
        (
            pl.DataFrame({"class": ["no", None], "no": [0, 5], "yes": [1, 0]}),
            "name classes of y; there is no None",
        ),
        (pl.DataFrame(), "name every class; 'no' is not there"),
    ],
)
def test_matrices_that_are_refused(matrix, words):
    assert refused(by_class, matrix).startswith(f"cost_matrix must {words}")


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ({0: {0: 0, "0": 1}, 1: {0: 5, "0": 0}}, "name an action once; 0 is there"),
        ({0: {0: 0}, "0": {0: 1}, 1: {0: 2}}, "name a class once; 0 is there twice"),
    ],
)
def test_names_that_mean_the_same(matrix, words):
    assert refused(by_class, matrix, [0, 1, 1, 0]).startswith(f"cost_matrix must {words}")


@pytest.mark.parametrize(
    "matrix",
    [
        MATRIX,
        MATRIX.tolist(),
        BY_NAME,
        {"yes": {"yes": 0, "no": 5}, "no": {"yes": 1, "no": 0}},
        pd.DataFrame(MATRIX, index=["no", "yes"], columns=["no", "yes"]),
        pd.DataFrame(MATRIX[::-1, ::-1], index=["yes", "no"], columns=["yes", "no"]),
        pl.DataFrame({"class": ["no", "yes"], "no": [0, 5], "yes": [1, 0]}),
        pl.DataFrame({"class": ["yes", "no"], "yes": [0, 1], "no": [5, 0]}),
    ],
)
def test_matrices_of_any_kind(matrix):
    problem = by_class(matrix)
    assert problem.actions == ("no", "yes")
    assert problem.root().action_costs == (2.5, 0.5)
    assert mt.TopDown(criterion="minority").grow(problem, 1).errors.tolist() == [0.5, 0.0]


def test_labels_that_are_numbers_may_be_named_by_texts():
    texts = {"0": {"0": 0, "1": 1}, "1": {"0": 5, "1": 0}}
    assert by_class(texts, [0, 1, 1, 0]).actions == (0, 1)
    frame = pl.DataFrame({"class": [0, 1], "0": [0, 5], "1": [1, 0]})
    assert by_class(frame, [0, 1, 1, 0]).root().action_costs == (2.5, 0.5)


def test_actions_that_are_no_classes():
    asks = {
        "no": {"call": 2, "yes": 9, "no": 0},
        "yes": {"call": 1, "yes": 0, "no": 9},
    }
    problem = by_class(asks)
    assert problem.actions == ("no", "yes", "call")  # classes first
    assert (problem.root().label, problem.root().error) == (2, 1.5)
    assert mt.TopDown().grow(problem, 1).tree(1).labels == (-1, 0, 1)
    only = by_class({"no": {"call": 2}, "yes": {"call": 1}})
    assert (only.actions, only.offset, only.root().pure) == (("call",), 1.5, True)
    words = re.escape("criterion 'entropy' needs classes that cost something to miss; 'no' costs")
    with pytest.raises(ValueError, match=words):
        mt.TopDown("entropy").grow(only, 1)
    assert mt.TopDown().grow(only, 1).errors.tolist() == [1.5, 1.5]  # by the drop in least cost


def test_what_excludes_each_other():
    assert refused(mt.SampleProblem, X) == "y must be given, unless there are costs"
    words = "costs stand instead of y; got both"
    assert refused(mt.SampleProblem, X, LABELS, costs=COSTS) == words
    words = "cost_matrix, costs and loss exclude each other; got more than one"
    assert refused(by_class, MATRIX, loss="squared") == words
    assert refused(by_row, COSTS, loss="squared") == words
    for loss in ("absolute", ["squared"], np.array(["squared"]), True):
        words = f'loss must be None or "squared"; got {loss!r}'
        assert refused(mt.SampleProblem, X, [1, 2, 3, 4], loss=loss) == words
    words = "class_weight needs classes; there are none to weigh"
    assert refused(by_row, COSTS, class_weight=[1, 2]) == words
    assert refused(numbers, [1, 2, 3, 4], class_weight=[1, 2]) == words


def test_criteria_that_tasks_refuse():
    for criterion in ("entropy", "gini", "root", lambda rate: rate * (1 - rate)):
        with pytest.raises(ValueError, match="costs of actions are grown by the drop in least"):
            mt.TopDown(criterion=criterion).grow(by_row(COSTS), 1)
        with pytest.raises(ValueError, match="grown by the drop in squared error"):
            mt.TopDown(criterion=criterion).grow(numbers([1, 2, 3, 4]), 1)


def test_a_label_that_is_no_action():
    tree = mt.Tree.build(["x0"], ("x0", 0, 2))
    with pytest.raises(ValueError, match="a label must be one of 2 actions; got 2"):
        tree.error(mt.SampleProblem(X[:, :1], costs=COSTS))


def test_decimals_tie():
    """Three costs of 0.1 are one of 0.3, and the first action wins."""
    for unit in (0.1, 0.7, 1.1):
        three = float(Fraction(str(unit)) * 3)
        classes = by_class([[0, three], [unit, 0]], [1, 1, 1, 0])
        rows = by_row([[unit, 0], [unit, 0], [unit, 0], [0, three]])
        for problem in (classes, rows):
            assert problem.root().label == problem.root(exact=True).label == 0
            assert mt.TopDown(criterion="minority").grow(problem, 0).labels == (0,)
