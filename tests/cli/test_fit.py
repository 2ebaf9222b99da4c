"""mictree fit: what it prints, what it refuses."""

import json
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app
from mictree.cli.fit import split_rows


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
    assert re.search(r"age > (39|40|41)", result.output)  # between rows that were not held out
    assert "size 2, training error 0, held-out error 0" in result.output


@pytest.mark.parametrize("rule", ["topdown", "bestfirst", "id3", "lookahead"])
def test_json_from_parquet(csv, tmp_path, rule):
    file = tmp_path / "people.parquet"
    pl.read_csv(csv).write_parquet(file)
    result = run(file, "--target", "rich", "--json", "--max-size", 4, "--rule", rule)
    answer = json.loads(result.stdout)
    assert answer["rule"] == rule
    assert answer["classes"] == ["no", "yes"]
    assert len(answer["train_errors"]) == len(answer["cross_validated_errors"]) == 5
    assert len(answer["standard_errors"]) == 5
    assert 0 <= answer["held_out_error"] <= 1
    assert answer["tree"]["format"] == "mictree.tree/2"
    again = json.loads(
        run(file, "--target", "rich", "--json", "--max-size", 4, "--rule", rule).stdout
    )
    assert answer == again


def test_depth(csv):
    words = ("--target", "rich", "--json", "--rule", "lookahead", "--depth", 1)
    ahead, topdown = (json.loads(run(csv, *each).stdout) for each in (words, words[:3]))
    assert ahead["depth"] == 1
    assert ahead["tree"] == topdown["tree"]


def test_classes_are_held_out_in_proportion():
    labels = np.array(["a"] * 80 + ["b"] * 16 + ["c"] * 4)
    train, test = split_rows(labels, 0.25, 3)
    assert sorted([*train, *test]) == list(range(100))
    assert np.unique(labels[test], return_counts=True)[1].tolist() == [20, 4, 1]
    assert split_rows(labels, 0.25, 3)[1].tolist() == test.tolist()
    assert split_rows(labels, 0.25, 4)[1].tolist() != test.tolist()


def test_held_out_rows_have_no_part_in_the_tree_or_its_size(csv):
    """The same steps by hand, on the other rows only."""
    answer = json.loads(run(csv, "--target", "rich", "--json", "--max-size", 4).stdout)
    frame = pl.read_csv(csv, null_values="")
    X, y = frame.drop("rich"), frame["rich"].to_numpy()
    train, test = split_rows(y, 0.25, 0)
    choice = mt.select_size(mt.TopDownClassifier(4, max_thresholds=64), X[train], y[train])
    assert answer["size"] == choice.size
    assert answer["cross_validated_errors"] == (1 - choice.means).tolist()
    model = mt.TopDownClassifier(choice.size, max_thresholds=64).fit(X[train], y[train])
    assert answer["held_out_error"] == 1 - model.score(X[test], y[test])
    assert answer["tree"] == json.loads(model.tree_.to_json())


def test_a_given_size_needs_no_cross_validation(csv):
    answer = json.loads(run(csv, "--target", "rich", "--json", "--size", 1, "--cv", 99).stdout)
    assert answer["size"] == 1
    assert "cross_validated_errors" not in answer


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
        (["--target", "rich", "--seed", "-1"], "--seed must be from 0"),
        (["--target", "rich", "--drop", "age", "--drop", "color"], "a column beside the target"),
        (["--target", "rich", "--size", "99"], "--size must be from 0 to --max-size, 20; got 99"),
        (["--target", "rich", "--draw", "tree.txt"], "--draw must end in"),
        (["--target", "rich", "--ties", "any"], "ties must be one of"),
        (["--target", "rich", "--cv", "1"], "--cv must be at least 2; got 1"),
        (["--target", "rich", "--cv", "999"], "--cv must be at most "),
        (["--target", "rich", "--cv", "130"], "rows with the most common label ("),
        (["--target", "rich", "--choose", "best"], "choose must be one of"),
        (["--target", "rich", "--save", "model.pkl"], "--save must end in .json"),
        (["--target", "rich", "--save", "no/such/model.json"], "an existing folder"),
    ],
)
def test_bad_options(csv, arguments, rule):
    result = run(csv, *arguments)
    assert isinstance(result.exception, ValueError)
    assert rule in str(result.exception)


def test_bad_files(tmp_path):
    for name, content, rule in (
        ("a.doc", "x", "must be - or end in .csv, "),
        ("a.parquet", "no parquet", "cannot be read"),
        ("a.csv", "", "it is empty"),
        ("b.csv", "a,b\n1,2\n", "1 to hold out; it has 1"),
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


def test_report(csv, tmp_path):
    page = tmp_path / "people.html"
    result = run(csv, "--target", "rich", "--max-size", 3, "--report", page)
    assert result.exit_code == 0, result.output
    assert f"mictree: wrote {page}" in result.stderr
    html = page.read_text()
    assert "people.csv: predicting rich" in html
    assert "Use 2 splits, chosen by cross-validation: expect an error of about 2.2%" in html
    assert "<h2>Optimal tree of at most 2 splits</h2>" in html
    assert "<dt>time limit for optimal trees</dt><dd>20 s</dd>" in html
    assert "http://" not in html
    assert "https://" not in html
    assert "<script" not in html


def test_report_without_the_optimum_and_with_a_size(csv, tmp_path):
    page = tmp_path / "people.html"
    options = ("--max-size", 9, "--size", 9, "--report", page, "--time-limit", 0)
    assert run(csv, "--target", "rich", *options).exit_code == 0
    html = page.read_text()
    assert "Use 2 splits: expect" in html  # growth ended there
    assert "ptimal tree" not in html.replace("time limit for optimal trees", "")
    assert "<dt>folds</dt><dd>none</dd>" in html


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--report", "x.pdf"], "--report must end in .html or .htm; got 'x.pdf'"),
        (["--report", "x.html", "--time-limit", "-1"], "--time-limit must be a number of seconds"),
        (["--report", "x.html", "--time-limit", "nan"], "at least 0; got nan"),
    ],
)
def test_bad_report(csv, options, rule):
    result = run(csv, "--target", "rich", *options)
    assert result.exit_code != 0
    assert rule in str(result.exception)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--cv", 1], "--cv must be at least 2; got 1"),
        (["--choose", "best"], "--choose must be one of one-standard-error, least; got 'best'"),
        (["--held-out", 1.5], "--held-out must lie strictly between 0 and 1; got 1.5"),
        (["--seed", -1], "--seed must be from 0"),
        (["--size", 21], "--size must be from 0 to --max-size, 20; got 21"),
        (["--max-size", -1], "max_size must be"),
        (["--min-samples-leaf", -1], "min_samples_leaf must be"),
        (["--min-samples-split", -1], "min_samples_split must be"),
        (["--max-depth", -1], "max_depth must be"),
        (["--max-thresholds", 0], "max_thresholds must be at least 1"),
        (["--rule", "lookahead", "--depth", 0], "depth must be"),
        (["--time-limit", "nan"], "--time-limit must be"),
    ],
)
def test_options_are_checked_before_the_file_is_read(options, rule):
    assert rule in str(run("none.csv", "--target", "y", *options).exception)


def test_a_target_with_one_label_is_warned_about(tmp_path):
    file = tmp_path / "one.csv"
    file.write_text("a,y\n" + "1,yes\n2,yes\n" * 10)
    told = run(file, "--target", "y").stderr
    assert told.count("warning: ") == 1
    assert "warning: the target y is yes in every row, so there is nothing to learn; " in told
    assert "warning: " not in run(file, "--target", "y", "--keep", "y").stderr


def test_streamed_files_are_warned_about_like_others(tmp_path):
    for part in range(2):
        number = [*range(20 * part, 20 * part + 20)]
        rows = {"id": number, "twin": [n % 2 for n in number], "y": [n % 2 for n in number]}
        pl.DataFrame(rows).write_parquet(tmp_path / f"{part}.parquet")
    options = ("--target", "y", "--size", 1)
    told = run(tmp_path, *options).stderr.splitlines()
    assert [line.partition(";")[0] for line in told if "warning" in line] == [
        "mictree: warning: column id is different in every row, as an identifier is",
        "mictree: warning: column twin gives the target away: it has one value for each label",
    ]
    told = run(tmp_path, *options, "--keep", "id", "--drop", "twin").stderr
    assert "warning" not in told
    assert "'idd' (did you mean 'id'?)" in str(run(tmp_path, *options, "--keep", "idd").exception)


def test_a_part_of_many_rows_is_warned_about_as_such(tmp_path, monkeypatch):
    monkeypatch.setattr("mictree.cli.streamed.MOST_BATCHES", 1)
    pl.DataFrame({"id": range(3000), "y": [0] * 3000}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"id": [7] * 9, "y": [1] * 9}).write_parquet(tmp_path / "b.parquet")
    told = run(tmp_path, "--target", "y", "--size", 1).stderr
    assert "column id is different in every row, as an identifier is (in the first 3,000" in told
    assert told.count("warning") == 1


def test_a_folder_is_read_one_level_deep(tmp_path):
    rows = pl.DataFrame({"a": [0, 1] * 9, "y": [0, 1] * 9})
    for folder in ("", "year=2025", "deep", "year=2025/month=1"):
        (tmp_path / folder).mkdir(exist_ok=True)
        rows.write_parquet(tmp_path / folder / "part.parquet")
    answer = run(tmp_path, "--target", "y", "--size", 1, "--held-out", 0, "--keep", "a")
    assert "36 rows of 2 files" in answer.stdout
    told = str(run("/", "--target", "y").exception)
    assert told == (
        "a folder must have Parquet files, itself or in folders such as year=2026; '/' has none"
    )


def test_no_warning_of_another_library_is_shown(tmp_path):
    """A character that no font has, and folds with few rows of each class."""
    file = tmp_path / "emoji.csv"
    lines = "".join(f"{n % 50},{n * 7 % 11},c{n % 50}\n" for n in range(300))
    file.write_text(f"🐘,b,y\n{lines}", encoding="utf-8")
    command = [sys.executable, "-m", "mictree", "fit", file, "--target", "y", "--max-size", "2",
               "--cv", "5", "--draw", tmp_path / "tree.png"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if not line.startswith("mictree: ")] == []


@pytest.fixture
def agreeing(tmp_path):
    """Rows on which trees of three splits say the same in two leaves or more."""
    rows = [(a, b, "yes" if a and b < 3 else "no") for a in (0, 1) for b in range(4)] * 20
    rows += [(0, 0, "yes"), (0, 1, "yes")] * 3
    file = tmp_path / "agreeing.csv"
    pl.DataFrame(rows, schema=["a", "b", "y"], orient="row").write_csv(file)
    return file


def test_splits_whose_leaves_agree(agreeing, tmp_path):
    """Text, drawing and page leave them out and count them; files hold them."""
    words = (agreeing, "--target", "y", "--size", 4, "--max-size", 4)
    page, drawn, saved = (tmp_path / name for name in ("a.html", "a.svg", "a.json"))
    files = ("--report", page, "--draw", drawn, "--save", saved, "--time-limit", 0)
    result = run(*words, *files)
    assert result.exit_code == 0, result.output
    model = mt.load(saved)
    hidden = model.tree_.size - model.tree_.merged().size
    assert hidden > 1
    note = f"{hidden} splits whose leaves agree are not shown"
    assert f"\n{note}; --no-merge shows them\n" in result.stdout
    assert model.tree_.merged().to_text(["no", "yes"], merge=False) in result.stdout
    assert f"{note}." in page.read_text()
    assert note in drawn.read_text()
    every = run(*words, *files, "--no-merge")
    assert model.tree_.to_text(["no", "yes"], merge=False) in every.stdout
    for text in (every.stdout, page.read_text(), drawn.read_text()):
        assert "whose leaves agree" not in text
    assert mt.load(saved).tree_ == model.tree_


def test_splits_whose_leaves_agree_in_streamed_files(agreeing, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pl.read_csv(agreeing).write_parquet(folder / "0.parquet")
    words = (folder, "--target", "y", "--size", 4)
    assert "--no-merge shows " in run(*words).stdout
    assert "agree" not in run(*words, "--no-merge").stdout


def test_splits_whose_leaves_agree_beside_optimal_trees(agreeing, tmp_path):
    """They seldom have such splits; the option is there as for other commands."""
    words = ["data", agreeing, "--target", "y", "--max-size", "2", "--cv", "0", "--no-merge"]
    result = CliRunner().invoke(app, [*map(str, words), "--report", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
    assert "agree" not in result.stdout
