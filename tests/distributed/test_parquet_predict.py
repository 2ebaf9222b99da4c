"""Streamed predictions, and the commands that stream."""

import errno
import json
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pytest
from pyarrow.parquet import ParquetWriter
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app
from mictree.columns import parquet


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A folder with three files that take several batches, and their rows."""
    monkeypatch.setattr(parquet, "MOST_ROWS", 37)
    monkeypatch.setattr(parquet, "FEWEST_ROWS", 1)
    random = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "id": np.arange(200),
            "age": random.integers(20, 60, 200),
            "color": random.choice(["red", "green", "blue"], 200),
        }
    )
    sure = (frame["age"] > 40) ^ (frame["color"] == "red")
    label = pl.select(pl.when(sure).then(pl.lit("yes")).otherwise(pl.lit("no"))).to_series()
    frame = frame.with_columns(label.alias("label"))
    (tmp_path / "data").mkdir()
    for number, part in enumerate((frame[:50], frame[:0], frame[50:])):
        part.write_parquet(tmp_path / "data" / f"{number}.parquet")
    return tmp_path, frame


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def leftovers(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"data"}


@pytest.mark.parametrize("proba", [False, True])
def test_streamed_predictions_are_those_of_the_rows_at_once(table, proba):
    folder, frame = table
    model = mt.TopDownClassifier(4).fit(frame.drop("label"), frame["label"].to_numpy())
    model.save(folder / "model.json")
    for each in (model, mt.load(folder / "model.json")):
        each.predict_parquet(folder / "data", folder / "out.parquet", proba=proba)
        found = pl.read_parquet(folder / "out.parquet")
        features = frame.drop("label")
        assert found["prediction"].to_list() == each.predict(features).tolist()
        if proba:
            shares = found.select("probability of no", "probability of yes").to_numpy()
            np.testing.assert_array_equal(shares, each.predict_proba(features))
        else:
            assert found.columns == ["prediction"]
    assert leftovers(folder) == {"model.json", "out.parquet"}


def test_a_lone_leaf_counts_rows(table):
    folder, frame = table
    mt.TopDownClassifier(0).fit(frame.drop("label"), frame["label"]).save(folder / "model.json")
    mt.load(folder / "model.json").predict_parquet(folder / "data", folder / "out.parquet")
    assert pl.read_parquet(folder / "out.parquet").height == 200


def test_an_interruption_leaves_nothing(table):
    folder, frame = table
    model = mt.TopDownClassifier(2).fit(frame.drop("label"), frame["label"].to_numpy())

    def interrupt(progress):
        if progress.share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.predict_parquet(folder / "data", folder / "out.parquet", progress=interrupt)
    assert leftovers(folder) == set()
    with pytest.raises(KeyboardInterrupt):
        mt.SampleProblem.from_parquet(folder / "data", "label", progress=interrupt)


def test_a_full_disk_leaves_nothing(table):
    folder, frame = table
    model = mt.TopDownClassifier(2).fit(frame.drop("label"), frame["label"].to_numpy())
    full = OSError(errno.ENOSPC, "Error writing bytes to file")
    with (
        mock.patch.object(ParquetWriter, "write_table", side_effect=full),
        pytest.raises(OSError, match=r"no space left on the disk of .*: out\.parquet needs more"),
    ):
        model.predict_parquet(folder / "data", folder / "out.parquet")
    assert leftovers(folder) == set()


def test_a_missing_column_is_named(table):
    folder, frame = table
    model = mt.TopDownClassifier(2).fit(frame.drop("label"), frame["label"].to_numpy())
    model.save(folder / "model.json")
    frame.drop("age").write_parquet(folder / "other.parquet")
    with pytest.raises(ValueError, match=r"a column 'age'.*other\.parquet has 'id'"):
        mt.load(folder / "model.json").predict_parquet(
            folder / "other.parquet", folder / "o.parquet"
        )


def test_the_commands(table):
    folder, frame = table
    pattern = folder / "data" / "*.parquet"
    options = ("--target", "label", "--drop", "id", "--size", "3", "--held-out", "0")
    result = run("fit", pattern, *options, "--save", folder / "model.json")
    assert result.exit_code == 0, result.output
    assert "200 rows of 3 files to grow on, none held out" in result.output
    expected = mt.TopDownClassifier(20).fit(frame.drop("label", "id"), frame["label"].to_numpy())
    assert expected.to_text(3) in result.output
    result = run("fit", folder / "data", *options, "--json")
    found = json.loads(result.stdout)
    assert (found["train_rows"], found["size"]) == (200, 3)
    np.testing.assert_array_equal(found["train_errors"], expected.growth_.errors)
    result = run("predict", folder / "model.json", pattern, "--out", folder / "out.parquet")
    assert result.exit_code == 0, result.output
    answers = pl.read_parquet(folder / "out.parquet")["prediction"].to_list()
    assert answers == expected.predict(frame.drop("label", "id"), 3).tolist()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit", "data/*.parquet", "--target", "lable"), "did you mean 'label'?"),
        (("fit", "data/*.parq", "--target", "label"), "matches none"),
        (("fit", "data", "--target", "label", "--drop", "size"), "a column 'size'"),
        (("fit", "data", "--target", "label", "--report", "a.html"), "--report must not be given"),
        (
            ("fit", "data", "--target", "label", "--held-out", "-0.25"),
            "--held-out must lie strictly between 0 and 1; got -0.25",
        ),
        (
            ("fit", "data", "--target", "label", "--missing", "no"),
            "--missing must not be given with a folder or a pattern: columns of Parquet files have",
        ),
        (("predict", "model.json", "data"), "--out must name a .parquet file"),
        (("predict", "model.json", "data", "--out", "a.csv"), "--out must end in .parquet"),
    ],
)
def test_bad_input_is_one_line(table, monkeypatch, arguments, said):
    folder, frame = table
    monkeypatch.chdir(folder)
    mt.TopDownClassifier(1).fit(frame.drop("label"), frame["label"]).save(folder / "model.json")
    result = run(*arguments)
    assert result.exit_code != 0
    assert said in str(result.exception)
    assert leftovers(folder) == {"model.json"}


def test_files_that_are_read_are_not_written(tmp_path):
    table = pl.DataFrame({"flag": [0, 1, 1], "label": [0, 1, 1]})
    folder = tmp_path / "data"
    folder.mkdir()
    table.write_parquet(folder / "a.parquet")
    table.write_csv(tmp_path / "a.csv")
    model = mt.TopDownClassifier(1).fit(table.select("flag"), table["label"])
    model.save(tmp_path / "model.json")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(
        ValueError, match=r"must not be one of the files that are read; .*a\.parquet"
    ):
        model.predict_parquet(folder / "*.parquet", folder / "a.parquet")
    with pytest.raises(ValueError, match="must lie outside the folder that is read"):
        model.predict_parquet(folder, folder / "answers.parquet")
    for words, said in (
        (("data/*.parquet", "data/a.parquet"), "one of the files that are read"),
        (("data/a.parquet", "data/../data/a.parquet"), "--out must not be FILE, which is read"),
        (("a.csv", "a.csv"), "--out must not be FILE, which is read"),
    ):
        paths = [str(tmp_path / word) for word in words]
        done = CliRunner().invoke(
            app, ["predict", str(tmp_path / "model.json"), paths[0], "--out", paths[1]]
        )
        assert done.exit_code != 0
        assert said in done.output + str(done.exception)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
