"""Cells and labels of every type: kept apart exactly, or refused with the rule and the value."""

import datetime as dt
import math
import re
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import polars as pl
import pyarrow
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.ensemble import BaggingClassifier

import mictree as mt
from mictree.columns.data import Data, read_array
from mictree.problems.sample import Coded

pandas = pytest.importorskip("pandas")

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
EDGE = 2**53
NEAR = 1 + np.finfo(np.longdouble).eps  # numpy's longdouble; on some machines a 64-bit float


@st.composite
def integer_labels(draw):
    """Labels of any integer type, near its ends or anywhere, close together or not."""
    kind = draw(st.sampled_from(INTEGERS))
    ends = np.iinfo(kind)
    start = draw(st.one_of(st.sampled_from([ends.min, ends.max]), st.integers(ends.min, ends.max)))
    near = st.integers(max(ends.min, start - 300), min(ends.max, start + 300))
    label = draw(st.sampled_from([near, st.integers(ends.min, ends.max)]))
    return np.array(draw(st.lists(label, min_size=2, max_size=9)), dtype=kind)


@given(integer_labels())
@example(np.array([-128, 127], dtype=np.int8))
@example(np.array([2**63 - 1, 2**63, 2**63 + 1], dtype=np.uint64))
@example(np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64))
@example(np.array([2**64 - 1, 0], dtype=np.uint64))
@example(np.array([-(2**63), 1 - 2**63], dtype=np.int64))
def test_integer_labels(labels):
    values, codes = Coded.positions(labels)
    assert values.dtype == labels.dtype
    assert values.tolist() == sorted(set(labels.tolist()))
    assert values[codes].tolist() == labels.tolist()


def test_a_classifier_of_large_integer_labels():
    X = np.arange(4)[:, None]
    for labels in (
        np.array([-128, 127, 0, 127], dtype=np.int8),
        np.array([2**63, 2**63 + 1, 2**64 - 1, 2**63], dtype=np.uint64),
    ):
        model = mt.TopDownClassifier().fit(X, labels)
        assert model.predict(X).tolist() == labels.tolist()
        assert mt.SampleProblem(X, labels).classes == tuple(sorted(set(labels.tolist())))


@pytest.mark.parametrize(
    "labels",
    [[EDGE, EDGE + 1, 0.5], [2**63, 2**63 + 1, -1], [10**30, 10**30 + 1, 2]],
    ids=str,
)
def test_a_list_of_labels_is_not_rounded(labels):
    assert mt.SampleProblem([[0], [1], [2]], labels).classes == tuple(sorted(labels))


@pytest.mark.parametrize("labels", [[1, "1", 0], ["1", 1, 1], ["True", True, False]], ids=str)
@pytest.mark.parametrize("form", [list, lambda y: np.array(y, dtype=object), pandas.Series])
def test_labels_are_of_one_sort(labels, form):
    rule = rf"labels of one sort; it holds {labels[0]!r} and {labels[1]!r}"
    for fit in (mt.SampleProblem, mt.TopDownClassifier().fit):
        with pytest.raises(ValueError, match=rule):
            fit([[0], [1], [2]], form(labels))


@pytest.mark.parametrize(
    "labels",
    [
        ["a", math.nan, "b"], ["a", None, "b"], [0, math.nan, 1],
        pandas.Series(["a", None, "b"]), pandas.Series([1, None, 0], dtype="Int64"),
        pandas.Series(pandas.Categorical(["a", None, "b"])), pl.Series([0, None, 1]),
        np.array(["2026-01-01", "NaT", "2026-01-02"], dtype="datetime64[D]"),
    ],
    ids=repr,
)  # fmt: skip
def test_labels_are_not_missing(labels):
    with pytest.raises(ValueError, match=r"y must not contain (NaN|missing values)"):
        mt.SampleProblem([[0], [1], [2]], labels)


def test_equal_labels_are_one_class():
    labels = np.array([1, True, 1.0, 0, False, Decimal(0)], dtype=object)
    assert mt.SampleProblem(np.arange(6)[:, None], labels).classes == (0, 1)


def columns(one, other):
    """Two different numbers as a column of every kind that can hold both."""
    yield [[one], [other]]
    yield [[one, "text"], [other, "text"]]
    yield np.array([[one], [other]], dtype=object)
    yield pandas.DataFrame({"x0": pandas.Series([one, other], dtype=object)})
    if isinstance(one, int) and abs(one) < 2**63 - 1:
        matrix = np.array([[one], [other]])
        yield matrix
        yield sparse.csc_array(matrix)
        yield pandas.DataFrame(matrix, columns=["x0"])
        yield pandas.DataFrame({"x0": pandas.array([one, other], dtype="Int64")})
        if find_spec("pyarrow"):
            yield pandas.DataFrame({"x0": pandas.array([one, other], dtype="int64[pyarrow]")})
        yield pl.DataFrame({"x0": [one, other]})
        yield pl.DataFrame({"x0": [one, other, None]})
    if isinstance(one, int) and 0 <= one < 2**64 - 1:
        yield np.array([[one], [other]], dtype=np.uint64)
    if isinstance(one, Decimal):
        yield pl.DataFrame({"x0": [one, other]})
    if isinstance(one, int | Decimal) and abs(one) < 2**127:
        yield pl.DataFrame({"x0": pl.Series([int(one), int(other)], dtype=pl.Int128)})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (EDGE, EDGE + 1), (-EDGE, -EDGE - 1), (2**60, 2**60 + 1), (2**63, 2**63 + 1),
        (Decimal(10**20), Decimal(10**20 + 1)), (Fraction(1, 3), Fraction(10**20 + 1, 3 * 10**20)),
    ],
    ids=str,
)  # fmt: skip
def test_numbers_that_floats_would_merge(one, other):
    for X in columns(one, other):
        y = [0, 1, 1][: Data(X).rows]
        for fit in (mt.SampleProblem, mt.TopDownClassifier().fit):
            with pytest.raises(ValueError, match=r"differ as 64-bit floats; x0 has .*\d and .*\d"):
                fit(X, y)
    with pytest.raises(ValueError, match=f"x0 has {one} and {other}"):
        mt.SampleProblem([[one], [other]], [0, 1])


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="the same type")
def test_long_floats():
    gaps = np.array([[1], [np.nan], [2], [np.nan]], dtype=np.longdouble)
    assert mt.SampleProblem(gaps, [0, 1, 1, 1]).variables == ("x0 > 1.5", "x0 is missing")
    matrix = np.array([[1], [NEAR], [2]], dtype=np.longdouble)
    with pytest.raises(ValueError, match=r"x0 has 1\.0 and 1\.0000000000000000001"):
        mt.SampleProblem(matrix, [0, 1, 1])
    with pytest.raises(ValueError, match=r"within 64-bit floats; x0 has one of about 10\*\*400"):
        mt.SampleProblem(np.array([[1], ["1e400"]], dtype=np.longdouble), [0, 1])
    # rounded alike when a tree is grown and when it predicts
    matrix = np.array([[NEAR], [np.nextafter(1.0, 2)]], dtype=np.longdouble)
    model = mt.TopDownClassifier().fit(matrix, [0, 1])
    assert model.predict(matrix).tolist() == [0, 1]


@pytest.mark.parametrize("numbers", [(EDGE, EDGE + 2), (2**60, 2**60 + 2**8), (10**300, 1e299)])
def test_large_numbers_that_floats_tell_apart(numbers):
    for X in columns(*numbers):
        y = [0, 1, 1][: Data(X).rows]
        assert mt.optimal_errors(mt.SampleProblem(X, y), 2)[2] == 0


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (10**400, r"10\*\*400"), (-(10**400), r"-10\*\*400"), (10**5000, r"10\*\*5000"),
        (Decimal("1e999999999"), r"10\*\*999999999"), (Fraction(10**400, 7), r"10\*\*399"),
    ],
    ids=["int", "negative", "longer", "decimal", "fraction"],
)  # fmt: skip
def test_a_cell_beyond_floats(cell, shown):
    rule = f"a number must lie within 64-bit floats; x0 has one of about {shown}"
    for X in ([[cell], [1]], pandas.DataFrame({"x0": [cell, 1]})):
        for fit in (mt.SampleProblem, mt.TopDownClassifier().fit):
            with pytest.raises(ValueError, match=rule):
                fit(X, [0, 1])
    with pytest.raises(ValueError, match=rule):
        mt.TopDownClassifier().fit([[0], [1]], [0, 1]).predict([[cell]])


def test_a_weight_beyond_floats():
    with pytest.raises(ValueError, match="sample_weight must lie within 64-bit floats"):
        mt.SampleProblem([[0], [1]], [0, 1], [1, 10**400])
    with pytest.raises(ValueError, match="class_weight must be positive and finite; 1 has 1000"):
        mt.TopDownClassifier(class_weight={1: 10**400}).fit([[0], [1]], [0, 1])


def test_cells_of_a_list_stay_what_they_are():
    X = [[1.5, "a", 1], [2.5, "b", math.nan], [math.nan, None, 0]]
    expected = (
        "x0 > 2", "x0 is missing", "x1 is a", "x1 is b", "x1 is missing", "x2", "x2 is missing",
    )  # fmt: skip
    assert mt.SampleProblem(X, [0, 1, 0]).variables == expected
    assert mt.TopDownClassifier().fit(X, [0, 1, 0]).literals_.names == expected
    with pytest.raises(ValueError, match="numbers or texts, not both; x0"):
        mt.SampleProblem([["1"], [1]], [0, 1])
    assert read_array([["a"], ["b"]]).dtype.kind == "U"
    assert read_array([1e300, 2.0]).dtype == float
    assert read_array([0.5, 1]).dtype == float


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        pyarrow.table([pyarrow.array([1, 3]), pyarrow.array([2, 4])], names=["a", "a"]),
    ],
)
def test_columns_have_different_names(frame):
    known = mt.TopDownClassifier().fit([[1, 2], [3, 4]], [0, 1])
    for work in (mt.SampleProblem, mt.TopDownClassifier().fit, lambda X, _: known.predict(X)):
        with pytest.raises(ValueError, match="columns must have different names; 'a' occurs twice"):
            work(frame, [0, 1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (pl.LazyFrame({"a": [1, 2]}), TypeError, "LazyFrame is not: call its collect"),
        (pl.Series([1, 2]), ValueError, "two dimensions|Expected 2D array, got 1D array"),
    ],
)
def test_tables_that_are_none(X, error, words):
    known = mt.TopDownClassifier().fit([[1], [3]], [0, 1])
    for work in (mt.SampleProblem, mt.TopDownClassifier().fit, lambda X, _: known.predict(X)):
        with pytest.raises(error, match=words):
            work(X, [0, 1])


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "UInt64"])
@pytest.mark.parametrize("form", [pandas.Series, pandas.array])
def test_labels_of_the_types_of_pandas(kind, form):
    """scikit-learn would make floats of them: two large ones might be one, and True be 1.0."""
    X = [[1], [2], [3], [4]]
    labels = [2**53, 2**53, 2**53 + 1, 2**53 + 1]
    model = mt.TopDownClassifier(1).fit(X, form(labels, dtype=kind))
    assert model.classes_.tolist() == [2**53, 2**53 + 1]
    assert model.predict(X).tolist() == labels
    assert model.score(X, form(labels, dtype=kind)) == 1
    for own in ("boolean", "bool[pyarrow]"):
        model = mt.TopDownClassifier(1).fit(X, form([False, False, True, True], dtype=own))
        assert model.predict(X).tolist() == [False, False, True, True]
        assert model.classes_.dtype == bool
    with pytest.raises(ValueError, match="y must not contain"):
        mt.TopDownClassifier(1).fit(X, form([1, 0, None, 1], dtype=kind))


@pytest.mark.filterwarnings("error")
def test_short_floats_in_a_list():
    """A cell of 16 bits cannot be compared with a number beyond them."""
    assert read_array([np.arange(3, dtype=np.float16)]).tolist() == [[0, 1, 2]]


def test_times_of_a_matrix_are_explained_as_times():
    days = np.array([["2024-01-01"], ["2024-02-01"], ["2024-03-05"]], dtype="M8[D]")
    said = mt.TopDownClassifier(1).fit(days, [0, 1, 1]).explain(days[1])
    assert "x0 > 2024-01-16 (it is 2024-02-01 00:00:00)" in said
    hours = np.array([[1], [2], [3]], dtype="m8[h]")
    said = mt.TopDownClassifier(1).fit(hours, [0, 1, 1]).explain(hours[2])
    assert "x0 > 01:30 (it is 3:00:00)" in said


MATRIX = "pass a data frame, or convert them to numbers"
OTHER = "a column must hold numbers, texts, booleans, dates or times"
OBJECTS = [
    (pandas.Timestamp("2024-01-01"), "Timestamps", MATRIX, "pandas.to_datetime"),
    (dt.date(2024, 1, 1), "dates", MATRIX, "pandas.to_datetime"),
    (dt.datetime(2024, 1, 1), "datetimes", MATRIX, "pandas.to_datetime"),
    (dt.time(12), "times", MATRIX, "polars.Time"),
    (dt.timedelta(1), "timedeltas", MATRIX, "pandas.to_timedelta"),
    (pandas.Timedelta(1, "s"), "Timedeltas", MATRIX, "pandas.to_timedelta"),
    (np.datetime64("2024-01-01"), "datetime64 values", MATRIX, "pandas.to_datetime"),
    (np.timedelta64(3, "s"), "timedelta64 values", MATRIX, "pandas.to_timedelta"),
    ([1], "lists", OTHER, OTHER),
    ({"a": 1}, "dicts", OTHER, OTHER),
    (1j, "complex numbers", OTHER, OTHER),
    (b"a", "bytes", "decode them to texts", "decode them to texts"),
]


@pytest.mark.parametrize(("cell", "held", "of_matrix", "of_frame"), OBJECTS)
def test_errors_name_the_column_and_what_it_holds(cell, held, of_matrix, of_frame):
    """Also where only some cells are such objects, and where a fitted tree meets them."""
    plain = np.array([[1, 3], [1, 4]], dtype=object)
    for rows in ([cell] * 4, [None, cell, None, cell], [2.5, cell, 3.5, cell]):
        matrix = np.ones((4, 2), dtype=object)
        matrix[:, 1] = pandas.Series(rows, dtype=object)
        for make, advice in ((np.array, of_matrix), (as_frame, of_frame)):
            known = mt.TopDownClassifier().fit(make(plain), [0, 1])
            words = f"^column x1 holds {held}; .*{re.escape(advice)}"
            for work in (mt.SampleProblem, known.fit, lambda X, _, known=known: known.predict(X)):
                with pytest.raises(ValueError, match=words):
                    work(make(matrix), [0, 1, 0, 1])


def as_frame(matrix):
    return pandas.DataFrame(matrix, columns=["x0", "x1"], dtype=object)


def test_bagging_hands_on_dates_as_objects():
    X = pandas.DataFrame(
        {"town": list("abcdef"), "when": pandas.date_range("2024-01-01", periods=6)}
    )
    bagging = BaggingClassifier(mt.TopDownClassifier(2), n_estimators=2)
    with pytest.raises(ValueError, match="column x1 holds Timestamps; pass a data frame, or conv"):
        bagging.fit(X, [0, 1] * 3)


def test_decimals_are_numbers():
    cells = np.array([[Decimal("0.1")], [Decimal("0.3")]], dtype=object)
    assert mt.TopDownClassifier().fit(cells, [0, 1]).to_text().startswith("x0 > 0.2?")
