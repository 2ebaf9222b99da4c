"""Cells that NumPy, pandas, polars and pyarrow hold in ways of their own keep their values."""

import datetime as dt
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mictree as mt
from mictree.columns.data import Data, last_tick, microseconds, read_array, read_tick
from mictree.optimal.solve import minimal_consistent_tree
from tests.reference.literals import float_above

Y = [0, 1, 0, 1, 0, 1]
HIDDEN = [[False], [True]] * 3
MODELS = [mt.TopDownClassifier(max_size=3), mt.OptimalTreeClassifier(max_size=3)]


def masked(kind):
    """Cells that tell nothing but where they are masked."""
    return np.ma.array([[1]] * 6, dtype=kind, mask=HIDDEN)


class TestMaskedArrays:
    @pytest.mark.parametrize(
        "kind", ["?", "u1", "i1", "i8", "u8", "f2", "f8", "O", "M8[s]", "m8[D]"]
    )
    @pytest.mark.parametrize("model", MODELS)
    def test_masked_cells_are_missing(self, kind, model):
        X = masked(kind)
        X.data[::2] = [[0], [1], [1]]  # a column needs two values to be one
        fitted = model.fit(X, Y)
        assert fitted.predict(X).tolist() == Y
        assert "x0 is missing" in fitted.to_text()
        assert fitted.score(X, Y) == 1
        assert fitted.predict(X.data).tolist() == [0] * 6
        assert mt.SampleProblem(X, Y).variables == mt.SampleProblem(read_array(X), Y).variables

    def test_equal_to_missing_values(self):
        cells = np.ma.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]], mask=[[0, 1], [0, 0], [1, 0]])
        assert np.array_equal(read_array(cells), [[1, np.nan], [2, 6], [np.nan, 7]], equal_nan=True)
        assert np.array_equal(read_array(list(cells)), read_array(cells), equal_nan=True)
        whole = np.ma.array([2**53 + 1, 2**53, 5], mask=[0, 0, 1])
        assert read_array(whole).tolist() == [2**53 + 1, 2**53, None]
        assert read_array(np.ma.array(["a", "b"], mask=[0, 1])).tolist() == ["a", None]

    def test_nothing_masked(self):
        cells = np.ma.array([[0], [1]], dtype=np.uint8)
        assert type(read_array(cells)) is np.ndarray
        assert read_array(cells).dtype == np.uint8

    @pytest.mark.parametrize("model", MODELS)
    def test_labels_and_weights_must_not_be_masked(self, model):
        X, hidden = [[0], [1]] * 3, np.ma.array(Y, mask=[0, 0, 1, 0, 0, 0])
        fitted = model.fit(X, np.ma.array(Y))
        assert fitted.predict(X).tolist() == Y
        for action in (
            lambda: model.fit(X, hidden),
            lambda: mt.SampleProblem(X, hidden),
            lambda: fitted.score(X, hidden),
            lambda: fitted.staged_score(X, hidden),
            lambda: mt.select_size(model, X, hidden, cv=2),
        ):
            with pytest.raises(ValueError, match="y must not contain masked values; row 2 is"):
                action()
        for action in (
            lambda: model.fit(X, Y, hidden),
            lambda: mt.SampleProblem(X, Y, hidden),
            lambda: fitted.score(X, Y, hidden),
            lambda: fitted.staged_score(X, Y, hidden),
            lambda: mt.select_size(model, X, Y, sample_weight=hidden, cv=2),
        ):
            with pytest.raises(ValueError, match="sample_weight must not contain masked values"):
                action()

    def test_other_doors(self):
        table = np.ma.array([0, 1, 1, 0], mask=[0, 0, 0, 1])
        rows = np.ma.array([[0, 0], [0, 1]], mask=[[0, 0], [0, 1]])
        with pytest.raises(ValueError, match="a truth table must not contain masked values; row 3"):
            mt.TableProblem(table)
        with pytest.raises(ValueError, match="X must not contain masked values; row 1"):
            minimal_consistent_tree(rows, [0, 1])
        with pytest.raises(ValueError, match="y must not contain masked values; row 3"):
            minimal_consistent_tree([[0, 0], [0, 1], [1, 0], [1, 1]], table)


class TestTexts:
    """NumPy cuts NULs off the end of texts."""

    @pytest.mark.parametrize("model", MODELS)
    def test_texts_that_end_in_nul(self, model):
        X, y = [["a"], ["a\0"]] * 3, ["b\0", "b"] * 3
        fitted = model.fit(X, y)
        assert fitted.predict(X).tolist() == y
        assert fitted.score(X, y) == 1
        assert fitted.classes_.tolist() == ["b", "b\0"]
        assert mt.SampleProblem(X, y).classes == ("b", "b\0")

    def test_arrays(self):
        assert read_array(["a", "b"]).dtype.kind == "U"
        assert read_array([b"a", b"a\0"]).tolist() == [b"a", b"a\0"]
        texts = np.array(["a", "a\0"], dtype=np.dtypes.StringDType())
        assert read_array(texts).tolist() == ["a", "a\0"]

    def test_saved(self, tmp_path):
        X, y = [["a"], ["a\0"]] * 3, ["b\0", "b"] * 3
        mt.TopDownClassifier(max_size=1).fit(X, y).save(tmp_path / "model.json")
        assert mt.load(tmp_path / "model.json").predict(X).tolist() == y


DAYS = [dt.date(2020, 1, day) for day in (1, 2, 3, 4, 5, 6)]
MOMENTS = [dt.datetime(2020, 1, 1, 12, 0, 0, number) for number in range(6)]
CELLS = {
    "date32": (DAYS, pa.date32()),
    "date64": (DAYS, pa.date64()),
    "timestamp": (MOMENTS, pa.timestamp("us")),
    "nanoseconds": (MOMENTS, pa.timestamp("ns")),
    "aware": (MOMENTS, pa.timestamp("us", "Europe/Paris")),
    "time32": ([dt.time(hour) for hour in range(6)], pa.time32("s")),
    "time64": ([dt.time(0, 0, 0, number) for number in range(6)], pa.time64("us")),
    "duration": ([dt.timedelta(hours=number) for number in range(6)], pa.duration("ms")),
    "decimal": ([Decimal(number) / 10 for number in range(6)], pa.decimal128(10, 3)),
    "long decimal": ([Decimal(number) / 10 for number in range(6)], pa.decimal256(60, 30)),
    "text": (list("abcdef"), pa.string()),
    "large text": (list("abcdef"), pa.large_string()),
    "view": (list("abcdef"), pa.string_view()),
    "dictionary": (list("abcdef"), pa.dictionary(pa.int8(), pa.string())),
    "boolean": ([True, False] * 3, pa.bool_()),
    "int8": ([-128, 127, 0, 1, 2, 3], pa.int8()),
    "uint64": ([0, 2**64 - 2**12, 1, 2, 3, 4], pa.uint64()),
    "half": ([0.5, 1, 2, 3, 4, 5], pa.float16()),
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("missing", [False, True])
def test_pandas_columns_of_pyarrow(name, missing, tmp_path):
    """The same tests and tree as of polars, or of the same cells in an Arrow table."""
    values, kind = CELLS[name]
    cells = pa.array([*values[:5], None if missing else values[5]], kind)
    table = pa.table({"cell": cells})
    frame = pd.DataFrame({"cell": pd.Series(pd.arrays.ArrowExtensionArray(cells))})
    frames = [table, frame]
    if name not in ("long decimal", "half"):
        frames.append(pl.DataFrame({"cell": pl.from_arrow(cells)}))
    models = [mt.TopDownClassifier(max_size=5).fit(each, Y) for each in frames]
    for model in models:
        assert model.to_text(merge=False) == models[0].to_text(merge=False)
        assert model.literals_.names == models[0].literals_.names
        for each in frames:
            assert model.predict(each).tolist() == Y
        model.save(tmp_path / "model.json")
        assert mt.load(tmp_path / "model.json").predict(frame).tolist() == Y
    assert Data(frame).kind(0) == Data(table).kind(0)


def test_times_to_the_nanosecond():
    ticks = pa.array([0, 1, 86_399_999_999_998, 86_399_999_999_999] * 2, pa.int64())
    cells = ticks.cast(pa.time64("ns"))
    for frame in (pa.table({"at": cells}), pl.DataFrame({"at": pl.from_arrow(cells)})):
        model = mt.TopDownClassifier().fit(frame, [0, 1] * 4)
        assert model.predict(frame).tolist() == [0, 1] * 4


class TestTimeZones:
    NAIVE = pd.DataFrame({"when": pd.to_datetime(MOMENTS)})
    AWARE = pd.DataFrame({"when": NAIVE["when"].dt.tz_localize("UTC")})
    PARIS = pd.DataFrame({"when": AWARE["when"].dt.tz_convert("Europe/Paris")})

    @staticmethod
    def forms(frame):
        """A pandas frame, and the same in other libraries."""
        arrow = pa.Table.from_pandas(frame)
        held = pd.DataFrame({"when": pd.Series(pd.arrays.ArrowExtensionArray(arrow["when"]))})
        return [frame, arrow, held, pl.from_pandas(frame)]

    @pytest.mark.parametrize("form", range(4))
    def test_one_instant_in_another_zone(self, form):
        model = mt.TopDownClassifier().fit(self.forms(self.PARIS)[form], Y)
        assert " UTC" in model.to_text()
        for frame in (self.AWARE, self.PARIS):
            for each in self.forms(frame):
                assert model.predict(each).tolist() == Y

    @pytest.mark.parametrize("form", range(4))
    @pytest.mark.parametrize("saved", [False, True])
    def test_times_with_and_without_a_zone(self, form, saved, tmp_path):
        def fit(frame):
            model = mt.TopDownClassifier().fit(frame, Y)
            if saved:
                model.save(tmp_path / "model.json")
                return mt.load(tmp_path / "model.json")
            return model

        naive, aware = self.forms(self.NAIVE)[form], self.forms(self.PARIS)[form]
        rule = "a column must stay what it was at fit; when held times "
        with pytest.raises(ValueError, match=rule + "without a time zone, now times with a"):
            fit(naive).predict(aware)
        with pytest.raises(ValueError, match=rule + "with a time zone, now times without a"):
            fit(aware).predict(naive)
        days = pl.DataFrame({"when": DAYS})
        assert fit(naive).predict(days).shape == (6,)
        with pytest.raises(ValueError, match=rule + "with a time zone, now times without a"):
            fit(aware).predict(days)

    def test_sql_names_the_zone(self):
        rules = mt.TopDownClassifier(max_size=1).fit(self.PARIS, Y).to_rules()
        assert "+00:00'" in rules.to_sql()
        rules = mt.TopDownClassifier(max_size=1).fit(self.NAIVE, Y).to_rules()
        assert "+00:00" not in rules.to_sql()


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no .*missing.json"):
        mt.load(tmp_path / "missing.json")
    with pytest.raises(ValueError, match="is a folder or a device"):
        mt.load(tmp_path)
    (tmp_path / "empty.json").touch()
    with pytest.raises(ValueError, match=r"a model must be JSON; .*empty\.json is empty"):
        mt.load(tmp_path / "empty.json")
    (tmp_path / "binary.json").write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match=r"a model must be JSON in UTF-8; .*binary\.json is not"):
        mt.load(tmp_path / "binary.json")


def test_the_largest_thresholds_are_saved(tmp_path):
    X = [[1.7e308], [np.nextafter(1.7e308, np.inf)], [-1.7e308]]
    mt.TopDownClassifier().fit(X, [0, 1, 2]).save(tmp_path / "model.json")
    assert mt.load(tmp_path / "model.json").predict(X).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "column",
    [
        pd.arrays.SparseArray([0, 1] * 3),
        pd.arrays.SparseArray([np.nan, 2.5] * 3),
        np.array([0, 1] * 3, dtype=">u2"),
        np.array([0.5, 1] * 3, dtype=">f4"),
        pd.Series([pd.NaT, 1] * 3, dtype=object),
        pd.Series([None, 1.5] * 3, dtype=object),
        pd.Categorical([5, 7] * 3, ordered=True),
        pd.Categorical([7.5, 1.5] * 3, categories=[7.5, 3, 1.5], ordered=True),
    ],
)
def test_other_columns_of_pandas(column, tmp_path):
    frame = pd.DataFrame({"cell": column})
    model = mt.TopDownClassifier(max_size=1).fit(frame, Y)
    assert model.predict(frame).tolist() == Y
    model.save(tmp_path / "model.json")
    assert mt.load(tmp_path / "model.json").predict(frame).tolist() == Y


@pytest.mark.parametrize(
    ("column", "held"),
    [
        (pd.period_range("2020-01", periods=6, freq="M"), "period"),
        (pd.interval_range(0, 6), "interval"),
        (pd.Series([[1], [2]] * 3, dtype=pd.ArrowDtype(pa.list_(pa.int64()))), "list<"),
    ],
)
def test_columns_that_cannot_be_tested_are_named(column, held):
    with pytest.raises(ValueError, match=f"dates or times; cell has {held}"):
        mt.TopDownClassifier(max_size=1).fit(pd.DataFrame({"cell": column}), Y)


NEIGHBOURS = {
    "int64": [2**53 - 1, 2**53, 2**53 + 2, -(2**53), -(2**63), 2**63 - 2**10],
    "uint64": [0, 2**53, 2**53 + 2, 2**63, 2**64 - 2**11, 2**64 - 2**12],
    "float32": [1, 1 + 2**-23, 2**24, 2**24 + 2, 2**-149, 0],
    "float64": [1, 1 + 2**-52, 2.0**53, 2.0**53 + 2, 5e-324, 1e-323],
    "datetime64[us]": [0, 1, -1, 2**52, 2**53, 2**53 + 2],
    "datetime64[ns]": [0, 1, -1, 2**52, 2**53, 2**53 + 2],
    "timedelta64[ms]": [0, 1, -1, 2**40, 2**40 + 1, 2**40 + 2],
}


@pytest.mark.parametrize("kind", NEIGHBOURS)
def test_neighbouring_values_are_told_apart(kind):
    """Every form of a column either tells exact neighbours apart or refuses them."""
    whole = "int64" if "64[" in kind else kind
    cells = np.array(NEIGHBOURS[kind], dtype=whole).astype(kind)
    frame = pd.DataFrame({"cell": cells})
    arrow = pa.table({"cell": pa.array(cells)})
    forms = [cells[:, None], frame, arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)]
    forms.append(pl.from_arrow(arrow))
    if "64[" not in kind:
        forms += [cells[:, None].tolist(), frame.convert_dtypes()]
    models = [mt.TopDownClassifier().fit(each, Y) for each in forms]
    for model in models:
        named = hasattr(model, "feature_names_in_")
        for each in forms:
            if hasattr(each, "columns") == named:
                assert model.predict(each).tolist() == Y
    if whole in ("int64", "uint64") and "64[" not in kind:
        merged = np.array([2**53, 2**53 + 1], dtype=kind)
        with pytest.raises(ValueError, match=r"must differ as 64-bit floats; .* 9007199254740993"):
            mt.TopDownClassifier().fit(pd.DataFrame({"cell": merged}), [0, 1])


@given(
    st.sampled_from(["ns", "us", "3ns", "25ns"]),
    st.lists(
        st.integers(-(2**62), 2**62) | st.integers(9_183_110_400 * 10**9, 2**63 - 1), min_size=1
    ),
)
@example(
    "ns", [9_183_110_400 * 10**9 + 1, 9_183_110_400 * 10**9 + 1000, 9_183_110_400 * 10**9 + 1001]
)
@example("us", [2**53 + 1, 2**53 + 3])
@example("us", [2**63 - 1, 1])
def test_a_time_is_read_as_the_float_above(unit, ticks):
    """So it is above a threshold exactly if its float is; near 0 the nearest float is enough."""
    count, parts = int(re.match(r"\d*", unit)[0] or 1), 1 if unit == "us" else 1000
    times = np.array(ticks, dtype=np.int64).view(f"m8[{unit}]")
    exact = [Fraction(tick * count, parts) for tick in ticks]
    for found, number in zip(microseconds(times).tolist(), exact, strict=True):
        if abs(number) >= 1024 and (count == 1 or abs(number) < 2**53):
            assert found == float_above(number)
            if count == 1:
                assert read_tick(int(number * 1000), 1000) == found
        else:
            assert found == pytest.approx(float(number), rel=1e-15)


@given(st.floats(-(2**62), 2**62) | st.floats(-10, 10), st.sampled_from([1000, 10**6]))
def test_the_last_time_that_is_not_above_a_threshold(threshold, parts):
    last = last_tick(threshold, parts)
    assert read_tick(last, parts) <= threshold < read_tick(last + 1, parts)


def test_picoseconds():
    """Texts have the digits that tell values apart."""
    X = np.array([1, 4, 1_000_001, 1_000_004], dtype="m8[ps]")[:, None]
    model = mt.TopDownClassifier(3).fit(X, ["a", "b", "a", "b"])
    assert "x0 > 00:00:00.000000000002?" in model.to_text()
    assert model.predict(X).tolist() == ["a", "b", "a", "b"]
