"""Problems from Parquet files, batch by batch: the same as the rows at once."""

import datetime
import math
import pickle
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.columns import parquet, streamed
from mictree.columns.parquet import read_integers

LABELS = [
    [0, 1], ["no", "yes", "maybe"], [True], [True, False], [3, 1, 2],
    np.array([-1, 5], dtype=np.int8), np.array([200, 0, 1, 7, 3], dtype=np.uint8),
]  # fmt: skip
SPEED = pl.Enum(["slow", "medium", "fast"])


def assert_same(one: mt.SampleProblem, other: mt.SampleProblem) -> None:
    assert one.classes == other.classes
    assert one.variables == other.variables
    for name in ("bits", "valid", "first_word", "class_rows", "weights", "whole_weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert len(one.ranks) == len(other.ranks)
    for ranks, expected in zip(one.ranks, other.ranks, strict=True):
        np.testing.assert_array_equal(ranks, expected)
    assert (one.weight_unit, one.rounded) == (other.weight_unit, other.rounded)


def draw_frame(data, rows: int) -> pl.DataFrame:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    gaps = random.random(rows) < data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    spread = data.draw(st.sampled_from([1, 2, 5, 1000]))
    day = datetime.date(2020, 1, 1)
    frame = pl.DataFrame(
        {
            "flag": random.integers(0, data.draw(st.integers(1, 2)), rows).astype(np.int8),
            "truth": random.random(rows) < 0.5,
            "whole": random.integers(-spread, spread, rows),
            "number": random.normal(size=rows).round(data.draw(st.integers(0, 9))),
            "gaps": pl.Series(np.where(gaps, np.nan, random.random(rows))).fill_nan(None),
            "holes": pl.Series(random.integers(0, 2, rows)).set(pl.Series(gaps), None),
            "text": pl.Series(random.choice(["a", "b", "c"][: spread + 1], rows)),
            "note": pl.Series(random.choice(["x", "y"], rows)).set(pl.Series(gaps), None),
            "day": [day + datetime.timedelta(int(n)) for n in random.integers(0, spread, rows)],
            "speed": pl.Series(random.choice(SPEED.categories.to_list(), rows), dtype=SPEED),
        }
    )
    kept = data.draw(st.lists(st.sampled_from(frame.columns), min_size=1, unique=True))
    return frame.select(kept)


def write(folder, frame: pl.DataFrame, places) -> str:
    """One file for each part; some have no rows."""
    for old in folder.glob("*.parquet"):
        old.unlink()
    bounds = [0, *sorted(places), frame.height]
    for number, (start, stop) in enumerate(pairwise(bounds)):
        frame[start:stop].write_parquet(folder / f"{number}.parquet")
    return str(folder / "*.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_the_problem_is_that_of_the_rows_at_once(folder, data):
    rows = data.draw(st.integers(1, 150))
    frame = draw_frame(data, rows)
    random = np.random.default_rng(rows)
    labels = data.draw(st.sampled_from(LABELS))
    frame = frame.with_columns(pl.Series("label", random.choice(labels, rows)))
    weights = None
    if data.draw(st.booleans()):
        weights = random.choice([[0, 1, 2], [0.5, 1.25, 0], [math.pi, 1 / 3, 1]][rows % 3], rows)
        weights[0] = 1
        frame = frame.with_columns(pl.Series("weight", weights))
    most = data.draw(st.sampled_from([1, 3, 8, 255, None]))
    places = data.draw(st.lists(st.integers(0, rows), max_size=5))
    pattern = write(folder, frame, places)
    with (
        mock.patch.object(parquet, "MOST_ROWS", data.draw(st.sampled_from([7, 50, 2**17]))),
        mock.patch.object(parquet, "FEWEST_ROWS", 1),
        mock.patch.object(streamed, "COUNT_BYTES", data.draw(st.sampled_from([1, 2**26]))),
    ):
        problem = mt.SampleProblem.from_parquet(
            pattern, "label",
            sample_weight=None if weights is None else "weight", max_thresholds=most,
        )  # fmt: skip
    features = frame.drop("label", "weight", strict=False)
    at_once = mt.SampleProblem(features, frame["label"].to_numpy(), weights, max_thresholds=most)
    assert_same(problem, at_once)
    for rule in (mt.TopDown(), mt.BestFirst(), mt.ID3()):
        one, other = (rule.grow(each, 4) for each in (problem, at_once))
        np.testing.assert_array_equal(one.errors, other.errors)
        assert one.tree(4) == other.tree(4)


@pytest.mark.parametrize("weights", [None, [0, 1, 2]])
def test_many_classes_and_columns_without_tests(tmp_path, weights):
    rows = np.arange(900)
    frame = pl.DataFrame(
        {"one": [1] * 900, "same": ["x"] * 900, "number": rows % 7, "label": rows * 7 % 300}
    )
    weight = None if weights is None else np.resize(weights, 900)
    if weight is not None:
        frame = frame.with_columns(pl.Series("weight", weight))
    pattern = write(tmp_path, frame, [0, 250, 251])
    name = None if weights is None else "weight"
    for names in (["one", "same"], ["one", "number"]):
        with mock.patch.object(parquet, "MOST_ROWS", 64):
            problem = mt.SampleProblem.from_parquet(
                pattern, "label", columns=names, sample_weight=name
            )
        labels = frame["label"].to_numpy()
        assert_same(problem, mt.SampleProblem(frame.select(names), labels, weight))


@pytest.mark.parametrize("weights", [None, [0, 1, 2]])
def test_zeros_of_both_signs_are_one_label(tmp_path, weights):
    labels = np.resize([0.0, -0.0, 0.5, 0.0], 300)
    frame = pl.DataFrame({"number": np.arange(300) % 7, "label": labels})
    weight = None if weights is None else np.resize(weights, 300)
    if weight is not None:
        frame = frame.with_columns(pl.Series("weight", weight))
    pattern = write(tmp_path, frame, [100])
    name = None if weights is None else "weight"
    problem = mt.SampleProblem.from_parquet(pattern, "label", sample_weight=name)
    assert_same(problem, mt.SampleProblem(frame.select("number"), labels, weight))


@pytest.fixture
def table(tmp_path):
    """A folder with two files, and their rows."""
    random = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "flag": random.integers(0, 2, 300).astype(np.int8),
            "age": random.integers(20, 60, 300),
            "color": random.choice(["red", "green", "blue"], 300),
        }
    )
    label = (frame["age"] > 40) ^ (frame["color"] == "red") ^ pl.Series(random.random(300) < 0.1)
    frame = frame.with_columns(label.cast(pl.Int64).alias("label"))
    write(tmp_path, frame, [100])
    return tmp_path, frame


@pytest.mark.parametrize("rule", [mt.TopDownClassifier, mt.BestFirstClassifier, mt.ID3Classifier])
def test_an_estimator_learns_from_a_problem(table, rule):
    folder, frame = table
    features, labels = frame.drop("label"), frame["label"].to_numpy()
    problem = mt.SampleProblem.from_parquet(folder, "label")
    settings = {"min_samples_leaf": 5, "class_weight": "balanced", "ties": "first"}
    streamed_fit = rule(6, **settings).fit(problem)
    at_once = rule(6, **settings).fit(features, labels)
    assert streamed_fit.tree_ == at_once.tree_
    assert streamed_fit.to_text(merge=False) == at_once.to_text(merge=False)
    np.testing.assert_array_equal(streamed_fit.growth_.errors, at_once.growth_.errors)
    np.testing.assert_array_equal(streamed_fit.predict(features), at_once.predict(features))
    assert streamed_fit.feature_names_in_.tolist() == features.columns
    assert pickle.loads(pickle.dumps(streamed_fit)).tree_ == at_once.tree_
    assert problem.limits == mt.SampleProblem(features, labels).limits  # as it was


def test_factors_of_classes_count_for_all_that_follows(table):
    folder, _ = table
    problem = mt.SampleProblem.from_parquet(folder, "label")
    assert problem.root().reach == 1
    other = problem.reweighted(np.array([1.0, 3.0]))
    assert other.root().reach == 1
    zeros, ones = problem.class_rows.tolist()
    assert other.root().positive_rate == 3 * ones / (zeros + 3 * ones)


def test_settings_that_a_problem_cannot_follow(table):
    folder, frame = table
    problem = mt.SampleProblem.from_parquet([folder / "0.parquet", folder / "1.parquet"], "label")
    with pytest.raises(ValueError, match='max_size="auto" must have X and y'):
        mt.TopDownClassifier("auto").fit(problem)
    with pytest.raises(ValueError, match="at most max_thresholds=8 thresholds a column; it has 39"):
        mt.TopDownClassifier(3, max_thresholds=8).fit(problem)
    with pytest.raises(ValueError, match="fit must get no others"):
        mt.TopDownClassifier(3).fit(problem, frame["label"])
    with pytest.raises(ValueError, match="requires y to be passed"):
        mt.TopDownClassifier(3).fit(frame)


def test_some_columns_and_several_paths(table):
    folder, frame = table
    paths = [folder / "1.parquet", str(folder / "0.*")]
    problem = mt.SampleProblem.from_parquet(paths, "label", columns=["color", "flag"])
    expected = mt.SampleProblem(frame.select("color", "flag"), frame["label"].to_numpy())
    assert_same(problem, expected)


def test_progress_by_rows(table):
    folder, _ = table
    said = []
    mt.SampleProblem.from_parquet(folder, "label", progress=said.append)
    assert [each.what for each in said][::2] == [
        "counting labels", "finding thresholds, pass 1", "packing",
    ]  # fmt: skip
    assert [each.detail for each in said][:2] == ["100 of 300 rows", "300 of 300 rows"]
    assert said[-1].share == 1


def refusal(pattern, target="label", **options) -> str:
    with pytest.raises(ValueError, match=r".") as error:
        mt.SampleProblem.from_parquet(pattern, target, **options)
    return str(error.value)


def test_files_that_cannot_be_read_are_named(table):
    folder, frame = table
    for content in (b"", b"no Parquet", (folder / "0.parquet").read_bytes()[:-20]):
        (folder / "2.parquet").write_bytes(content)
        said = refusal(folder)
        assert said.startswith(f"{folder / '2.parquet'} cannot be read as Parquet: ")
        assert "\n" not in said
    damaged = bytearray((folder / "0.parquet").read_bytes())
    damaged[4:200] = bytes(196)  # the first pages; the end of the file is whole
    (folder / "2.parquet").write_bytes(damaged)
    assert f"{folder / '2.parquet'} cannot be read as Parquet: " in refusal(folder)
    frame.clear().write_parquet(folder / "2.parquet")
    assert sum(mt.SampleProblem.from_parquet(folder, "label").class_rows) == 300


def test_schemas_that_differ_are_named(table):
    folder, frame = table
    third = folder / "2.parquet"
    for other, said in (
        (frame.drop("age"), f"{third} has no 'age', which {folder / '0.parquet'} has"),
        (frame.with_columns(new=1), f"{third} has 'new', which {folder / '0.parquet'} has not"),
        (frame.cast({"age": pl.Int32}), f"'age' has type Int32 in {third} and Int64 in"),
    ):
        other.write_parquet(third)
        assert said in refusal(folder)
    frame.select(reversed(frame.columns)).write_parquet(third)
    assert mt.SampleProblem.from_parquet(folder, "label").variables[0] == "flag"


def test_bad_requests(table):
    folder, frame = table
    first = folder / "0.parquet"
    assert f"a column 'lable' (did you mean 'label'?); {first} has" in refusal(folder, "lable")
    assert "matches none" in refusal(folder / "*.csv")
    assert "the list of paths is empty" in refusal([])
    assert "must not hold the target" in refusal(folder, columns=["age", "label"])
    assert "max_thresholds must be at least 1" in refusal(folder, max_thresholds=0)
    assert "a column beside the target" in refusal(folder, columns=[])
    frame.clear().write_parquet(first)
    assert f"at least one row; {first} has none" in refusal(first)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": [0, None]}, "y must not contain missing values; label does, in"),
        ({"label": [0.0, math.nan]}, "y must not contain missing values; label does, in"),
        ({"label": [[0], [1]]}, "labels must be numbers, texts or booleans; label has List"),
        ({"age": [1.0, math.inf]}, "X must not contain infinity; age does, in"),
        ({"age": [[1], [2]]}, "a column must hold numbers, texts, booleans, dates or times; age"),
        ({"age": [1, 2**53 + 1]}, "must be 64-bit floats; age has 9007199254740993 in"),
        ({"weight": [1.0, -1.0]}, "sample_weight must be finite and not negative; one is -1, in"),
        ({"weight": [1.0, None]}, "sample_weight must be finite and not negative; one is nan, in"),
        ({"weight": [0.0, 0.0]}, "sample_weight must be positive for some row; all are zero"),
        ({"weight": ["a", "b"]}, "could not convert string to float"),
    ],
)
def test_bad_cells_are_refused(tmp_path, change, said):
    columns = {"label": [0, 1], "age": [20, 30], "weight": [1.0, 2.0]} | change
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    assert said in refusal(tmp_path, sample_weight="weight")


def test_nanoseconds_that_floats_do_not_keep_are_refused(tmp_path):
    for ticks, kept in ((1_700_000_000_000_001_000, True), (1_700_000_000_000_000_001, False)):
        times = pl.Series("time", [1_700_000_000_000_000_000, ticks]).cast(pl.Datetime("ns"))
        pl.DataFrame([times, pl.Series("label", [0, 1])]).write_parquet(tmp_path / "a.parquet")
        if kept:
            assert len(mt.SampleProblem.from_parquet(tmp_path, "label").variables) == 1
        else:
            assert "values that are streamed must be 64-bit floats; time" in refusal(tmp_path)


def test_a_file_that_changes_between_passes_is_named(table):
    folder, frame = table
    second = folder / "1.parquet"

    def change(progress):
        if progress.share == 1:
            frame[100:250].write_parquet(second)

    said = refusal(folder, progress=change)
    assert said == (f"a file must stay as it is while it is read; {second} had 200 rows, now 150")


def test_a_file_that_states_wrong_bounds_is_named(table):
    folder, _ = table
    stated = {"flag": parquet.Bounds(0, 1, False), "age": parquet.Bounds(0, 1, False)}
    with mock.patch.object(parquet.ParquetSet, "bounds", stated):
        said = refusal(folder)
    assert f"age has others in {folder / '0.parquet'}" in said


@pytest.mark.parametrize(
    ("cells", "stated"),
    [
        ([0, 1, 2, None], parquet.Bounds(0, 1, True)),
        ([0, 1, -1, None], parquet.Bounds(0, 1, True)),
        ([0, 1, 1, None], parquet.Bounds(0, 1, False)),
        ([7, 7, 8, None], parquet.Bounds(7, 7, True)),
        ([7, 7, 8, 7], parquet.Bounds(7, 7, False)),  # has no literals, and is read all the same
        ([7, 7, None, 7], parquet.Bounds(7, 7, False)),
        ([True, None, None, False], parquet.Bounds(0, 0, True)),
    ],
)
def test_wrong_bounds_are_noticed_in_every_column(tmp_path, cells, stated):
    file = tmp_path / "0.parquet"
    pl.DataFrame({"flag": cells * 10, "label": [0, 1] * 20}).write_parquet(file)
    with mock.patch.object(parquet.ParquetSet, "bounds", {"flag": stated}):
        said = refusal(tmp_path)
    assert said == (
        "a file must state the least and largest value of a column, and whether cells are "
        f"missing, as they are; flag has others in {file}"
    )


def test_integers_and_booleans_as_they_are():
    truth, gaps = [True, False, False, True, True] * 5, [1, None, 0]
    table = pa.table({"truth": pa.array(truth), "whole": np.arange(25), "half": np.arange(25) / 2})
    for start, rows in ((0, 25), (3, 22), (9, 4), (25, 0)):
        part = parquet.Batch(Path("0.parquet"), table.slice(start, rows))
        cells = read_integers(part, "truth")
        assert cells.dtype == np.uint8
        assert cells.tolist() == truth[start : start + rows]
        assert read_integers(part, "whole").tolist() == list(range(start, start + rows))
        assert read_integers(part, "half") is None
    part = parquet.Batch(Path("0.parquet"), pa.table({"gaps": gaps}))
    assert read_integers(part, "gaps") is None


@pytest.mark.parametrize("classes", [2, 9])
@pytest.mark.parametrize("other", [-1, 2])
def test_a_byte_beside_its_bounds_is_noticed(tmp_path, classes, other):
    rows = np.arange(70)
    cells = np.where(rows == 69, other, rows % 2).astype(np.int8)
    pl.DataFrame({"flag": cells, "label": rows % classes}).write_parquet(tmp_path / "0.parquet")
    stated = {"flag": parquet.Bounds(0, 1, False)}
    with mock.patch.object(parquet.ParquetSet, "bounds", stated):
        assert f"flag has others in {tmp_path / '0.parquet'}" in refusal(tmp_path)


@pytest.mark.parametrize("low", [2**53, 2**53 + 1, 2**63 - 2, -(2**53) - 1, -(2**53) - 2])
def test_neighbours_that_floats_do_not_keep_are_refused(tmp_path, low):
    """The files state their least and largest value, which differ by one.

    2**53 and 2**53 + 1 are one float. 2**53 + 1 and 2**53 + 2 are two, but the first is rounded
    down to 2**53, and both cells lie above it: stored by that float, they would be one value.
    """
    cells = [low, low + 1] * 5
    pl.DataFrame({"id": cells, "label": [0, 1] * 5}).write_parquet(tmp_path / "0.parquet")
    assert "64-bit floats" in refusal(tmp_path)


@pytest.mark.parametrize("kind", [int, str])
def test_more_classes_than_codes_are_refused(tmp_path, kind):
    labels = [kind(number) for number in range(2**16 + 1)]
    rows = {"flag": np.arange(2**16 + 1) % 2, "label": labels}
    pl.DataFrame(rows).write_parquet(tmp_path / "0.parquet")
    assert "streamed labels must be of at most 65536 classes; label has more" in refusal(tmp_path)


@pytest.mark.parametrize("other", ["name", "type"])
def test_a_file_whose_columns_change_between_two_passes(tmp_path, other):
    frame = pl.DataFrame(
        {"age": [float(n) for n in range(90)], "label": [n % 2 for n in range(90)]}
    )
    write(tmp_path, frame, [30, 60])
    changed = frame.rename({"age": "old"}) if other == "name" else frame.cast({"age": pl.String})

    def change(progress):
        changed[60:].write_parquet(tmp_path / "2.new")
        (tmp_path / "2.new").replace(tmp_path / "2.parquet")  # which is being read

    with pytest.raises(ValueError, match=r"must stay as it is .*2.parquet has other columns now"):
        mt.SampleProblem.from_parquet(tmp_path, "label", progress=change)
