"""mictree fit: what it prints, what it refuses."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree.cli import app


@pytest.fixture
def csv(tmp_path):
    rows = [(age, color, "yes" if age > 40 and color == "red" else "no")
            for age in range(20, 80) for color in ("red", "blue", "")]  # fmt: skip
    file = tmp_path / "people.csv"
    pl.DataFrame(rows, schema=["age", "color", "rich"], orient="row").write_csv(file)
    return file


def run(*arguments):
    return CliRunner().invoke(app, ["fit", *map(str, arguments)])


def test_table_and_tree(csv):
    result = run(csv, "--target", "rich")
    assert result.exit_code == 0, result.output
    assert "135 rows to grow on, 45 held out" in result.output
    assert "color is red?" in result.output
    assert "age > 40.5?" in result.output
    assert "size 2, training error 0, held-out error 0" in result.output


@pytest.mark.parametrize("rule", ["topdown", "bestfirst", "id3"])
def test_json_from_parquet(csv, tmp_path, rule):
    file = tmp_path / "people.parquet"
    pl.read_csv(csv).write_parquet(file)
    result = run(file, "--target", "rich", "--json", "--max-size", 4, "--rule", rule)
    answer = json.loads(result.output)
    assert answer["rule"] == rule
    assert answer["classes"] == ["no", "yes"]
    assert len(answer["train_errors"]) == len(answer["held_out_errors"]) == 5
    assert answer["tree"]["format"] == "mictree.tree/2"
    again = json.loads(
        run(file, "--target", "rich", "--json", "--max-size", 4, "--rule", rule).output
    )
    assert answer == again


def test_drawing(csv, tmp_path):
    picture = tmp_path / "tree.svg"
    assert run(csv, "--target", "rich", "--size", 2, "--draw", picture).exit_code == 0
    assert "<svg" in picture.read_text()


def test_help_has_examples():
    assert "mictree fit iris.csv --target species" in run("--help").output


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--target", "poor"], "must have a column 'poor'"),
        (["--target", "rich", "--rule", "greedy"], "--rule must be one of"),
        (["--target", "rich", "--held-out", "1"], "--held-out must lie strictly"),
        (["--target", "rich", "--seed", "-1"], "--seed must be at least 0"),
        (["--target", "rich", "--drop", "age", "--drop", "color"], "a column beside the target"),
        (["--target", "color"], "color is missing in"),
        (["--target", "rich", "--size", "99"], "--size must be from 0 to --max-size, 20; got 99"),
        (["--target", "rich", "--draw", "tree.txt"], "--draw must end in"),
        (["--target", "rich", "--ties", "any"], "ties must be one of"),
    ],
)
def test_bad_options(csv, arguments, rule):
    result = run(csv, *arguments)
    assert isinstance(result.exception, ValueError)
    assert rule in str(result.exception)


def test_bad_files(tmp_path):
    for name, content, rule in (
        ("a.txt", "x", "must end in .csv or .parquet"),
        ("a.parquet", "no parquet", "cannot be read"),
        ("a.csv", "", "cannot be read"),
        ("b.csv", "a,b\n1,2\n", "the file has 1 row"),
    ):
        file = tmp_path / name
        file.write_text(content)
        error = run(file, "--target", "a").exception
        assert isinstance(error, ValueError)
        assert rule in str(error)
    file = tmp_path / "nested.parquet"
    pl.DataFrame({"a": [[1], [2]], "b": [1, 2]}).write_parquet(file)
    error = run(file, "--target", "a").exception
    assert "labels must be numbers, texts or booleans; a has List(Int64)" in str(error)
    assert "there is no" in str(run(tmp_path / "none.csv", "--target", "a").exception)
