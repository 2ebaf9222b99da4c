"""mictree fit: what it prints, what it refuses."""

import json
import re
import shlex
import signal
import subprocess
import sys
from html import unescape

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app
from mictree.cli.fit import split_rows
from mictree.cli.output import tree_warnings
from mictree.cli.table import read_class_weight
from mictree.optimal import questions
from tests.clock import looked_at
from tests.datasets import random_bits


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


@pytest.mark.parametrize("scoring", ["precision_macro", "f1_macro", "balanced_accuracy"])
def test_no_warning_about_a_class_that_is_never_predicted(rare, scoring):
    command = [sys.executable, "-m", "mictree", "fit", rare, "--target", "y", "--max-size", "1",
               "--scoring", scoring]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if not line.startswith("mictree: ")] == []
    assert f"held-out {scoring} " in done.stdout


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


@pytest.fixture
def rare(tmp_path):
    """One label in thirty: a tree of two splits finds it, if it counts enough."""
    draw = np.random.default_rng(3)
    a, b = draw.integers(0, 100, 900), draw.integers(0, 100, 900)
    found = np.where(draw.random(900) < np.where((a > 80) & (b > 60), 0.3, 0.01), "yes", "no")
    file = tmp_path / "rare.csv"
    table = {"a": a, "b": b, "n": draw.integers(1, 4, 900), "y": found}
    pl.DataFrame(table).write_csv(file)
    return file


def split_file(file, weights=None):
    frame = pl.read_csv(file)
    X, y = frame.drop("y", *([weights] if weights else [])), frame["y"].to_numpy()
    train, test = split_rows(y, 0.25, 0)
    return frame, X, y, train, test


def test_a_tree_that_helps_nobody_says_so(rare):
    told = run(rare, "--target", "y", "--size", 2)
    assert (
        "\nno split lowers the error: the tree of 2 splits predicts 'no' everywhere, as a lone "
        "leaf does\n" in told.stdout
    )
    assert "warning: the tree never predicts 'yes'; --class-weight balanced makes" in told.stdout
    assert "--scoring" not in told.stdout  # which chooses a size, and one is given
    chosen = run(rare, "--target", "y", "--max-size", 3).stdout
    assert "--scoring balanced_accuracy chooses the size by the mean recall" in chosen
    assert "no split lowers" not in chosen  # it is a lone leaf, and needs no words
    balanced = run(rare, "--target", "y", "--size", 2, "--class-weight", "balanced").stdout
    assert "warning" not in balanced
    assert "no split lowers" not in balanced


def test_a_tree_with_too_few_leaves_says_so(tmp_path):
    file = tmp_path / "many.csv"
    file.write_text("a,y\n" + "".join(f"{n % 40},c{n % 40 // 5}\n" for n in range(400)))
    told = run(file, "--target", "y", "--size", 1).stdout
    assert re.search(r"never predicts ('c\d', ){4}'c\d' and 1 other class; 2 leaves cannot", told)
    assert "leaves cannot name 8 classes" in told
    assert "--class-weight" not in told


def test_a_split_that_makes_as_many_errors():
    """A leaf with as many rows of both classes predicts the first one."""
    model = mt.TopDownClassifier(max_size=1).fit([[0], [0], [1], [1]], [0, 1, 1, 1])
    assert tree_warnings(model, None, advise_scoring=False) == [
        "no split lowers the error: the tree of 1 split makes as many errors as a lone leaf does"
    ]


def test_class_weights_and_weights_by_hand(rare, tmp_path):
    file = tmp_path / "weights.csv"
    file.write_text("label,weight\nyes,20\n")
    options = ("--target", "y", "--json", "--max-size", 3, "--weights", "n", "--class-weight")
    answer = json.loads(run(rare, *options, file).stdout)
    assert answer == json.loads(run(rare, *options, "yes=20").stdout)
    frame, X, y, train, test = split_file(rare, "n")
    weights = frame["n"].to_numpy()
    model = mt.TopDownClassifier(3, class_weight={"yes": 20.0})
    choice = mt.select_size(model, X[train], y[train], sample_weight=weights[train])
    assert answer["size"] == choice.size > 0
    assert answer["cross_validated_errors"] == pytest.approx(1 - choice.means)
    model.fit(X[train], y[train], weights[train])
    assert answer["train_errors"] == pytest.approx(model.growth_.errors)
    products = weights[test] * np.where(y[test] == "yes", 20, 1)
    wrong = model.predict(X[test], choice.size) != y[test]
    assert answer["held_out_error"] == pytest.approx(products[wrong].sum() / products.sum())
    assert "n > " not in json.dumps(answer["tree"])


@pytest.mark.parametrize("command", ["fit", "data"])
def test_weighted_rows_of_classes_are_called_so(rare, command):
    weighted = "held-out rows by class, weighted by n:"
    given = [command, str(rare), "--target", "y", "--max-size", "1", "--details"]
    assert weighted in CliRunner().invoke(app, [*given, "--weights", "n"]).stdout
    assert "held-out rows by class:" in CliRunner().invoke(app, given).stdout


def test_balanced_weights_on_held_out_rows(rare):
    """The factors are those of the rows to grow on."""
    options = ("--target", "y", "--json", "--size", 2, "--class-weight", "balanced")
    answer = json.loads(run(rare, *options).stdout)
    _, X, y, train, test = split_file(rare)
    model = mt.TopDownClassifier(2, class_weight="balanced").fit(X[train], y[train])
    counts = {label: 1 / (y[train] == label).sum() for label in ("no", "yes")}
    weights = np.array([counts[label] for label in y[test]])
    wrong = model.predict(X[test]) != y[test]
    assert answer["held_out_error"] == pytest.approx(weights[wrong].sum() / weights.sum())


def test_scoring_chooses_the_size_and_is_shown(rare):
    options = ("--target", "y", "--max-size", 3, "--class-weight", "balanced")
    scored = ("--scoring", "balanced_accuracy")
    answer = json.loads(run(rare, *options, *scored, "--json").stdout)
    _, X, y, train, test = split_file(rare)
    model = mt.TopDownClassifier(3, class_weight="balanced")
    choice = mt.select_size(model, X[train], y[train], scoring="balanced_accuracy")
    assert answer["size"] == choice.size
    assert answer["cross_validated_scores"] == choice.means.tolist()
    assert "cross_validated_errors" not in answer
    model.fit(X[train], y[train])
    found = model.class_results(X[test], y[test], size=choice.size)
    assert answer["held_out_score"] == pytest.approx(found.recall.mean())
    printed = run(rare, *options, *scored).stdout
    assert "cross-validated balanced_accuracy" in printed
    assert f"held-out balanced_accuracy {answer['held_out_score']:.6g}" in printed
    assert "errors are weighted by class" in printed


def test_results_of_classes(rare, tmp_path):
    page = tmp_path / "rare.html"
    options = ("--target", "y", "--size", 2, "--time-limit", 0)
    answer = json.loads(run(rare, *options, "--json").stdout)
    _, X, y, train, test = split_file(rare)
    found = mt.TopDownClassifier(2).fit(X[train], y[train]).class_results(X[test], y[test])
    assert answer["confusion"] == found.confusion.tolist()
    assert answer["never_predicted"] == ["yes"]
    assert [line.partition(":")[0] for line in answer["remarks"]] == [
        "no split lowers the error", "warning",
    ]  # fmt: skip
    assert answer["class_results"][1] == {
        "class": "yes", "rows": found.rows[1], "predicted": 0, "recall": 0.0, "precision": None,
    }  # fmt: skip
    printed = run(rare, *options, "--details", "--report", page).stdout
    assert printed.rstrip().endswith(str(found).rstrip())
    assert "recall" not in run(rare, *options).stdout
    html = page.read_text()
    assert "<h3>Held-out rows by class</h3>" in html
    assert html.count(">never predicted</td>") == 1
    assert '<tr class="never"><th scope="row">yes</th>' in html
    assert "Warning: the tree never predicts &#39;yes&#39;; --class-weight balanced" in html
    assert "No split lowers the error: the tree of 2 splits predicts &#39;no&#39;" in html


def test_streamed_files_take_weights(rare, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    frame = pl.read_csv(rare)
    for part in range(3):
        frame[300 * part : 300 * part + 300].write_parquet(folder / f"{part}.parquet")
    options = ("--target", "y", "--size", 3, "--max-size", 3, "--json", "--weights", "n")
    options = (*options, "--held-out", 0)
    answer = json.loads(run(folder, *options, "--class-weight", "yes=20").stdout)
    X, y, weights = frame.drop("y", "n"), frame["y"], frame["n"].to_numpy()
    model = mt.TopDownClassifier(3, class_weight={"yes": 20.0}).fit(X, y, weights)
    assert answer["train_errors"] == pytest.approx(model.growth_.errors)
    told = run(folder, "--target", "y", "--size", 2).stdout
    assert "the tree of 2 splits predicts 'no' everywhere" in told
    assert "warning: the tree never predicts 'yes'; --class-weight balanced" in told
    error = str(run(folder, "--target", "y", "--rule", "optimal").exception)
    assert error.startswith("--rule optimal must not be given with a folder or a pattern")


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--class-weight", "blanced"], "must be balanced, label=weight,label=weight or a CSV"),
        (["--class-weight", "yes=0"], "must be positive, finite numbers; 'yes' has '0'"),
        (["--class-weight", "yes=inf"], "'yes' has 'inf'"),
        (["--class-weight", "yes=many"], "'yes' has 'many'"),
        (["--class-weight", "yes=1,yes=2"], "must name each label once; 'yes' occurs twice"),
        (["--scoring", "balanced_acc"], "did you mean 'balanced_accuracy'?"),
        (["--weights", "y"], "--target, --weights and --drop must name different columns"),
        (["--weights", "n", "--drop", "n"], "must name different columns"),
        (["--rule", "best"], "--rule must be one of topdown, bestfirst, id3, lookahead, optimal"),
        (["--rule", "optimal", "--criterion", "gini"], "--criterion is for greedy rules"),
        (["--rule", "optimal", "--ties", "last"], "--ties is for greedy rules"),
        (["--rule", "optimal", "--depth", 2], "--depth is for greedy rules"),
        (["--rule", "optimal", "--min-samples-split", 2], "--min-samples-split is for greedy"),
        (["--rule", "optimal", "--time-limit", 0], "--time-limit must be above 0"),
        (["--rule", "optimal", "--max-size", 3, "--size", 4], "from 0 to --max-size, 3; got 4"),
    ],
)
def test_options_of_weights_and_optimal_trees_are_checked_at_once(options, rule):
    assert rule in str(run("none.csv", "--target", "y", *options).exception)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--class-weight", "maybe=2"], "'maybe' is none of 'no', 'yes'"),
        (["--weights", "m"], "must have a column 'm'"),
        (["--weights", "y2"], "weights must be numbers; y2 has"),
        (["--scoring", "roc_auc_ovr", "--drop", "n"], None),
    ],
)
def test_weights_of_a_file(rare, options, rule):
    frame = pl.read_csv(rare).with_columns(pl.col("y").str.to_uppercase().alias("y2"))
    frame.write_csv(rare)
    done = run(rare, "--target", "y", "--max-size", 2, "--keep", "y2", *options)
    if rule is None:
        assert done.exit_code == 0, done.exception
    else:
        assert rule in str(done.exception)


def test_labels_that_need_a_file(tmp_path):
    file, weights = tmp_path / "odd.csv", tmp_path / "odd weights.csv"
    file.write_text("a,y\n" + '1,"x=1,2"\n2,7\n' * 20)
    weights.write_text('"x=1,2",3\n7,0.5\n')
    assert read_class_weight(str(weights)) == {"x=1,2": 3.0, "7": 0.5}
    assert read_class_weight("7=0.5", [1, 7]) == {7: 0.5}
    assert read_class_weight("True=2", [False, True]) == {True: 2.0}
    assert read_class_weight("balanced", [0]) == "balanced"
    assert read_class_weight(None, [0]) is None
    assert run(file, "--target", "y", "--class-weight", weights, "--keep", "a").exit_code == 0
    weights.write_text("7;2\n")
    with pytest.raises(ValueError, match="must have lines label,weight"):
        read_class_weight(str(weights))
    weights.write_text("label,weight\n")
    with pytest.raises(ValueError, match="has none"):
        read_class_weight(str(weights))


def test_weights_of_no_held_out_row(tmp_path):
    file = tmp_path / "zero.csv"
    labels = np.array([0, 1] * 20)
    _, test = split_rows(labels, 0.25, 0)
    weights = np.where(np.isin(np.arange(40), test), 0, 1)
    pl.DataFrame({"a": np.arange(40) % 4, "w": weights, "y": labels}).write_csv(file)
    error = str(run(file, "--target", "y", "--weights", "w").exception)
    assert error == "weights must be positive for some row held out; all are zero"


@pytest.fixture
def monk(tmp_path):
    """Greedy trees need more splits than optimal ones: a xor b, and a column that tempts."""
    draw = np.random.default_rng(1)
    a, b, c = draw.integers(0, 2, (3, 400))
    y = np.where(draw.random(400) < 0.05, 1 - (a ^ b), a ^ b)
    tempting = np.where(draw.random(400) < 0.6, y, c)
    file = tmp_path / "the monk's.csv"
    pl.DataFrame({"a": a, "b": b, "tempting": tempting, "y": y}).write_csv(file)
    return file


@pytest.mark.parametrize("press_in", [1, 2])
def test_ctrl_c_in_a_search_begins_no_other_one(tmp_path, monkeypatch, press_in):
    X, y = random_bits(700, 30, 3, noise=0.4)
    pl.DataFrame(X).with_columns(y=y).write_csv(tmp_path / "t.csv")
    fit, ask, fits = mt.OptimalTreeClassifier.fit, questions.Workers.ask, []

    def noting(self, *arguments):
        fits.extend([self] * (len(arguments[0]) > 2))  # two rows only try the options
        return fit(self, *arguments)

    def pressing(self, *arguments, **options):
        if len(fits) == press_in:
            signal.raise_signal(signal.SIGINT)
        return ask(self, *arguments, **options)

    monkeypatch.setattr(mt.OptimalTreeClassifier, "fit", noting)
    monkeypatch.setattr(questions.Workers, "ask", pressing)
    model, page = tmp_path / "model.json", tmp_path / "page.html"
    done = run(tmp_path / "t.csv", "--target", "y", "--rule", "optimal", "--cv", 3,
               "--save", model, "--report", page)  # fmt: skip
    assert done.exit_code == 130
    assert len(fits) == press_in
    kept = "interrupted by Ctrl-C: these are the best trees so far; without cross-validation"
    assert (kept in done.stdout) == (press_in == 1)
    assert model.exists() == page.exists() == (press_in == 1)  # folds leave no size to save
    if press_in == 1:
        assert mt.load(model).tree_.size <= 8
        assert "chosen by cross-validation" not in page.read_text()


def test_the_optimal_tree_is_saved_drawn_and_predicts(monk, tmp_path):
    model, picture = tmp_path / "model.json", tmp_path / "tree.svg"
    options = ("--target", "y", "--rule", "optimal", "--size", 3)
    answer = json.loads(run(monk, *options, "--json", "--save", model, "--draw", picture).stdout)
    _, X, y, train, test = split_file(monk)
    best = mt.OptimalTreeClassifier(3).fit(X[train], y[train])
    assert answer["train_errors"] == best.frontier_.tolist()
    assert answer["lower_bounds"] == best.frontier_.lower.tolist()
    assert answer["proved"] == [True] * 4
    assert (answer["size"], answer["rule"]) == (3, "optimal")
    assert "criterion" not in answer
    assert answer["held_out_error"] == 1 - best.score(X[test], y[test])
    loaded = mt.load(model)
    assert loaded.estimator_ == "OptimalTreeClassifier"
    assert loaded.predict(X).tolist() == best.predict(X).tolist()
    assert "<svg" in picture.read_text()
    predicted = CliRunner().invoke(app, ["predict", str(model), str(monk)]).stdout.split()
    assert predicted[1:] == [str(label) for label in best.predict(X)]
    printed = run(monk, *options).stdout
    assert "training error" in printed
    assert "split on" not in printed
    assert ", proved to be the least, held-out error" in printed


def test_the_size_of_an_optimal_tree_is_chosen(monk, tmp_path):
    page = tmp_path / "monk.html"
    options = ("--target", "y", "--rule", "optimal", "--max-size", 4, "--json", "--report", page)
    answer = json.loads(run(monk, *options).stdout)
    _, X, y, train, _ = split_file(monk)
    choice = mt.select_size(mt.OptimalTreeClassifier(4), X[train], y[train])
    assert answer["size"] == choice.size == 3
    assert answer["cross_validated_errors"] == (1 - choice.means).tolist()
    html = page.read_text()
    assert "<h2>Optimal tree of at most 3 splits</h2>" in html
    assert html.count("<h3>The same as rules</h3>") == 1
    assert "This command" not in html
    assert "<dt>criterion</dt>" not in html


def note_limits(monkeypatch):
    """The time limits of all searches, by a clock that moves when it is looked at."""
    looked_at(monkeypatch)
    limits, fit = [], mt.OptimalTreeClassifier.fit

    def note(self, X, *others):
        limits.extend([self.time_limit] if len(X) > 2 else [])  # two rows are a trial
        return fit(self, X, *others)

    monkeypatch.setattr(mt.OptimalTreeClassifier, "fit", note)
    return limits


def test_folds_share_the_time_that_the_tree_leaves(monk, monkeypatch):
    limits = note_limits(monkeypatch)
    options = ("--rule", "optimal", "--max-size", 2, "--time-limit", 100, "--cv", 4)
    assert run(monk, "--target", "y", *options).exit_code == 0
    assert limits == pytest.approx([50, 25, 25, 25, 25], abs=1)
    assert sum(limits[1:]) < 100


def test_optimal_trees_that_are_not_proved(tmp_path, monkeypatch):
    """The time limit is one for the tree and all folds; what is not proved is an interval."""
    draw = np.random.default_rng(0)
    file, page, model = tmp_path / "hard.csv", tmp_path / "hard.html", tmp_path / "hard.json"
    table = {f"x{k}": draw.integers(0, 2, 400) for k in range(24)}
    table["y"] = draw.integers(0, 2, 400)
    pl.DataFrame(table).write_csv(file)
    limits = note_limits(monkeypatch)
    limit = 0.7
    done = run(file, "--target", "y", "--rule", "optimal", "--max-size", 7, "--time-limit", limit,
               "--report", page, "--save", model)  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert re.search(r"│ 7 +│ 0\.\d+\.\.0\.\d+ \(search\) ", done.stdout)
    assert re.search(r"sizes? [\d-]+ (is|are) not proved, so the least error", done.stdout)
    assert len(limits) == 6  # the tree and five folds
    assert limits[0] == pytest.approx(limit / 2, abs=0.02)
    assert sum(limits) <= limit
    assert "Two numbers with dots between them are a certified interval." in page.read_text()
    sized = ("--target", "y", "--rule", "optimal", "--size", 7, "--time-limit", limit)
    done = run(file, *sized, "--report", page, "--details")
    assert limits[6:] == pytest.approx([limit], abs=0.02)  # without folds, all of it
    assert re.search(r"training error 0\.\d+\.\.0\.\d+, the best found, held-out", done.stdout)
    html = page.read_text()
    assert re.search(r"<td[^>]*>0\.\d{4}\.\.0\.\d{4} \(search\)</td>", html)
    assert re.search(r"Sizes? [\d-]+ (is|are) not proved, so .* narrow (it|them)\.", html)
    assert "<h2>Best tree found of at most 7 splits, not proved optimal</h2>" in html
    assert re.search(r"No tree of this size is more than \d+\.\d points better on training", html)


def test_optimal_is_no_rule_of_other_commands():
    for command in (["grow", "a & b", "--size", "1"], ["mic", "a & b"]):
        done = CliRunner().invoke(app, [*command, "--rule", "optimal"])
        assert str(done.exception) == (
            "--rule must be one of topdown, bestfirst, id3, lookahead; got 'optimal'"
        )


def test_the_page_has_the_command_that_writes_the_better_tree(monk, tmp_path, monkeypatch):
    """The command, as a shell reads it, writes the tree of the page."""
    page = tmp_path / "monk.html"
    monkeypatch.chdir(tmp_path)
    options = ("--target", "y", "--size", 3, "--seed", 2, "--criterion", "gini", "--json",
               "--report", page, "--details", "--missing", "no one's")  # fmt: skip
    assert run(monk, *options).exit_code == 0
    (command,) = re.findall(r'<pre class="command"><code>(.*)</code></pre>', page.read_text())
    words = shlex.split(unescape(command))
    assert words == ["mictree", "fit", str(monk), "--target", "y", "--rule", "optimal", "--size",
                     "3", "--seed", "2", "--missing", "no one's", "--save",
                     "model.json"]  # fmt: skip
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    frame = pl.read_csv(monk)
    X, y = frame.drop("y"), frame["y"].to_numpy()
    train, _ = split_rows(y, 0.25, 2)
    best = mt.OptimalTreeClassifier(3).fit(X[train], y[train])
    assert 1 - mt.load("model.json").score(X[train], y[train]) == pytest.approx(best.frontier_[3])
    assert best.frontier_[3] < mt.TopDownClassifier(3).fit(X[train], y[train]).growth_.errors[3]


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_a_scoring_of_later_rows_of_one_class(tmp_path, scoring):
    """Which row is refused, without a line of scikit-learn's."""
    rows = [f"{row},{row % 7},{'yes' if row < 50 and row % 3 else 'no'}" for row in range(100)]
    (tmp_path / "t.csv").write_text("\n".join(["when,a,y", *rows]))
    words = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--after", "when", "--size", "1"]
    done = CliRunner().invoke(app, [*words, "--scoring", scoring])
    assert str(done.exception) == (
        f"scoring must be defined on the rows that it judges; {scoring} is not, as all are 'no'"
    )
