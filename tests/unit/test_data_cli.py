"""mictree data: what it prints, writes and refuses."""

import json
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree.cli import app

EVIL = '<script>alert("x")</script>'


@pytest.fixture
def csv(tmp_path):
    rows = [(age, color, "yes" if (age > 40) == (color == "red") else "no")
            for age in range(20, 80, 2) for color in ("red", "blue", "")]  # fmt: skip
    file = tmp_path / "people.csv"
    pl.DataFrame(rows, schema=["age", "color", "rich"], orient="row").write_csv(file)
    return file


def run(*arguments):
    return CliRunner().invoke(app, ["data", *map(str, arguments)])


def test_table_and_tree(csv):
    result = run(csv, "--target", "rich", "--max-size", 3, "--cv", 3, "--repeats", 1,
                 "--learner", "topdown", "--learner", "sklearn")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "90 rows, " in result.stdout
    assert "held-out error by 3-fold cross-validation, 1 times" in result.stdout
    assert "topdown: MIC(3) = " in result.stdout
    assert "on held-out rows the optimal tree against sklearn" in result.stdout
    assert "optimal tree of at most" in result.stdout


def test_json(csv):
    options = (csv, "--target", "rich", "--max-size", 2, "--cv", 2, "--repeats", 1, "--json")
    answer = json.loads(run(*options).stdout)
    assert answer["classes"] == ["no", "yes"]
    assert answer["proved"] == [True] * 3
    assert [row["learner"] for row in answer["results"]] == ["optimal"] * 3 + ["topdown"] * 3
    assert answer == json.loads(run(*options).stdout)


def test_plot_and_page(csv, tmp_path):
    picture, page = tmp_path / "errors.svg", tmp_path / "people.html"
    result = run(csv, "--target", "rich", "--max-size", 2, "--cv", 0, "--plot", picture,
                 "--report", page)  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "<svg" in picture.read_text()
    html = page.read_text()
    assert "people.csv: predicting rich" in html
    assert "data:image/svg+xml;base64," in html
    assert "Content-Security-Policy" in html
    assert "http://" not in html
    assert "https://" not in html


def test_names_from_the_file_cannot_write_html(tmp_path):
    file, page = tmp_path / "evil.csv", tmp_path / "page.html"
    rows = {EVIL: [0, 1, 0, 1] * 4, "y": [f"{EVIL}{n}" for n in (0, 1, 0, 1)] * 4}
    pl.DataFrame(rows).write_csv(file)
    result = run(file, "--target", "y", "--max-size", 1, "--cv", 2, "--report", page)
    assert result.exit_code == 0, result.output
    html = page.read_text()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_help_has_examples():
    assert "mictree data iris.csv --target species" in run("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--target", "poor"], "must have a column 'poor'"),
        (["--target", "rich", "--learner", "greedy"], "--learner must be one of"),
        (["--target", "rich", "--learner", "id3", "--learner", "id3"], "each learner once"),
        (["--target", "rich", "--plot", "x.txt"], "--plot must end in"),
        (["--target", "rich", "--report", "x.txt"], "--report must end in .html"),
        (["--target", "rich", "--report", "no/such/x.html"], "an existing folder"),
        (["--target", "rich", "--time-limit", "0"], "time_limit must be a positive number"),
        (["--target", "rich", "--max-size", "0"], "max_size must be at least 1"),
        (["--target", "rich", "--max-size", "3", "--size", "4"], "--size must be from 0"),
        (["--target", "rich", "--seed", "-1"], "--seed must be at least 0"),
        (["--target", "rich", "--cv", "1"], "cv must be 0 or at least 2"),
        (["--target", "color"], "every row must have a label"),
        (["--target", "rich", "--drop", "nothing"], "must have a column 'nothing'"),
    ],
)
def test_bad_options(csv, arguments, rule):
    result = run(csv, *arguments)
    assert result.exit_code != 0
    assert rule in str(result.exception)


def test_an_error_is_one_line_and_status_two(csv):
    done = subprocess.run(
        [sys.executable, "-m", "mictree", "data", str(csv), "--target", "poor"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("mictree: the file must have a column 'poor'")
