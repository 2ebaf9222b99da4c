"""mictree data: what it prints, writes and refuses."""

import json
import re
import shlex
import subprocess
import sys
from html import unescape

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

import mictree as mt
from mictree._support.progress import Progress
from mictree.cli import app
from mictree.cli.output import show_progress
from tests.datasets import random_bits

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
    assert "held-out error by 3-fold cross-validation\n" in result.stdout
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
    assert "<dt>time limit</dt><dd>60 s</dd>" in html
    assert "<h2>Optimal tree of at most 2 splits</h2>" in html
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
        (["--target", "rich", "--learner", "id3", "--learner", "id3"], "once; got id3, id3"),
        (["--target", "rich", "--plot", "x.txt"], "--plot must end in"),
        (["--target", "rich", "--report", "x.txt"], "--report must end in .html"),
        (["--target", "rich", "--report", "no/such/x.html"], "an existing folder"),
        (["--target", "rich", "--time-limit", "0"], "time_limit must be a positive number"),
        (["--target", "rich", "--max-size", "0"], "max_size must be at least 1"),
        (["--target", "rich", "--max-size", "3", "--size", "4"], "--size must be from 0"),
        (
            ["--target", "rich", "--seed", "-1"],
            "random_state must be an integer from 0 to 2**32 - 1; got -1",
        ),
        (["--target", "rich", "--seed", str(2**32)], f"2**32 - 1; got {2**32}"),
        (["--target", "age", "--task", "classification"], "of the rarest class; 20 has 3; got 5"),
        (["--target", "age", "--details"], "--details must not be given with a regression: it has"),
        (["--target", "rich", "--cv", "1"], "cv must be 0 or at least 2"),
        (["--target", "rich", "--drop", "nothing"], "must have a column 'nothing'"),
        (["--target", "rich", "--groups", "nothing"], "must have a column 'nothing'"),
        (["--target", "rich", "--groups", "color"], "color is missing in 30"),
        (["--target", "rich", "--weights", "color"], "weights must be numbers; color has 'red'"),
        (["--target", "rich", "--weights", "gap"], "gap is missing in 1"),
        (["--target", "rich", "--groups", "rich"], "must name different columns"),
        (["--target", "rich", "--groups", "age", "--weights", "age"], "different columns"),
        (["--target", "rich", "--drop", "age", "--weights", "age"], "different columns"),
        (
            ["--target", "rich", "--drop", "color", "--drop", "gap", "--weights", "age"],
            "to learn from",
        ),
        (["--target", "rich", "--scoring", "best"], "a name that scikit-learn knows"),
        (["--target", "rich", "--jobs", "0"], "n_jobs must be None or an integer other than 0"),
    ],
)
def test_bad_options(csv, arguments, rule):
    frame = pl.read_csv(csv)
    gap = pl.Series("gap", [None, *[1.5] * (frame.height - 1)])
    frame.with_columns(gap).write_csv(csv)
    result = run(csv, *arguments)
    assert result.exit_code != 0
    assert rule in str(result.exception)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "the file must have a header; it is empty"),
        ("a,y\n", "must have a row beside its header; it has none"),
        ("a,y,y\n1,2,2\n", "columns must have different names; 'y' occurs twice"),
        ("y\n1\n", "must have a column beside the target"),
    ],
)
def test_bad_files(tmp_path, text, rule):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    result = run(file, "--target", "y")
    assert result.exit_code != 0
    assert rule in str(result.exception)


@pytest.mark.parametrize("option", ["--plot", "--report"])
def test_a_folder_is_no_file(csv, tmp_path, option):
    folder = tmp_path / ("x.png" if option == "--plot" else "x.html")
    folder.mkdir()
    result = run(csv, "--target", "rich", option, folder)
    assert f"{option} must name a file" in str(result.exception)


def test_a_tree_is_called_optimal_only_when_proved(tmp_path):
    file, page = tmp_path / "hard.csv", tmp_path / "hard.html"
    X, y = random_bits(700, 50, 3, noise=0.4)
    pl.DataFrame(X).with_columns(y=y).write_csv(file)
    result = run(file, "--target", "y", "--max-size", 12, "--cv", 0, "--time-limit", 0.2,
                 "--report", page)  # fmt: skip
    assert "best tree found of at most 12 splits, not proved optimal:" in result.stdout
    assert "Best tree found of at most 12 splits, not proved optimal" in page.read_text()


def test_progress_is_one_line_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", "80")
    with show_progress("reading") as report:
        report(Progress("fold 15 of 15: size 11 of 12", None, "error from 0.1234 to 0.5678, more"))
        report(Progress("bestfirst, ties last", 0.3, "1,234/5,678 formulas"))
        report(Progress("bestfirst, ties last", 0.4, "2,345/5,678 formulas"))
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).splitlines()
    assert max(map(len, said)) <= 80
    last = [line for line in said if line.strip()][-1]
    assert last.startswith("bestfirst, ties last ━")
    assert " 40% " in last
    assert last.rstrip().endswith("2,345/5,678 formulas")


def test_an_error_is_one_line_and_status_two(csv):
    done = subprocess.run(
        [sys.executable, "-m", "mictree", "data", str(csv), "--target", "poor"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("mictree: the file must have a column 'poor'")


def test_groups_weights_scoring_and_jobs(csv, tmp_path):
    file, page = tmp_path / "more.csv", tmp_path / "page.html"
    frame = pl.read_csv(csv)
    numbers = pl.int_range(frame.height, eager=True)
    frame.with_columns(visit=numbers // 4, weight=1 + numbers % 3).write_csv(file)
    words = ("--target", "rich", "--max-size", 2, "--cv", 3, "--repeats", 1, "--json",
             "--groups", "visit", "--weights", "weight", "--scoring", "roc_auc")  # fmt: skip
    answers = [json.loads(run(file, *words, *more).stdout) for more in ([], ["--jobs", 2])]
    assert answers[0] == answers[1]
    X, y = frame.drop("rich"), frame["rich"].to_list()
    result = mt.compare("topdown", X, y, 2, cv=3, repeats=1, scoring="roc_auc",
                        groups=numbers // 4, sample_weight=1 + numbers % 3)  # fmt: skip
    expected = json.loads(json.dumps(result.frame.to_dicts()))
    assert answers[0]["results"] == expected
    assert "visit" not in "".join(answers[0]["tree"])
    assert run(file, *words, "--report", page).exit_code == 0
    assert "<dt>groups</dt><dd>visit</dd>" in page.read_text()


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--cv", 1], "cv must be 0 or at least 2; got 1"),
        (["--repeats", 0], "repeats must be at least 1"),
        (["--max-thresholds", 0], "max_thresholds must be at least 1"),
        (["--max-size", -1], "max_size must be"),
        (["--time-limit", -1], "time_limit must be"),
        (["--jobs", 0], "n_jobs must be"),
        (["--scoring", "acuracy"], "got 'acuracy'; did you mean 'accuracy'?"),
        (["--scoring", "zzz"], "such as accuracy, balanced_accuracy"),
    ],
)
def test_options_are_checked_before_the_file_is_read(options, rule):
    assert rule in str(run("none.csv", "--target", "y", *options).exception)


def test_many_files_are_not_for_data(tmp_path):
    for file in (tmp_path, tmp_path / "*.parquet"):
        told = str(run(file, "--target", "y").exception)
        assert "FILE must be one table, which data reads at once" in told
        assert "mictree fit reads many Parquet files" in told


def test_ctrl_c_prints_what_is_certified_and_ends_with_130(csv, tmp_path):
    """As a shell sends it: to the command and its workers, in the midst of the folds."""
    script = tmp_path / "press.py"
    script.write_text(PRESSING)
    command = [sys.executable, script, "data", csv, "--target", "rich", "--max-size", "2",
               "--jobs", "2", "--repeats", "99"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines()[-1] == "mictree: interrupted"
    assert "Traceback" not in done.stderr
    assert "interrupted by Ctrl-C: optimal errors are those proved so far" in done.stdout
    assert "held-out" not in done.stdout.splitlines()[0]


PRESSING = """
import signal, sys
from mictree import __main__ as entry
from mictree.comparison import run

spread = run.spread

def press(*arguments):
    for number, result in enumerate(spread(*arguments)):
        yield result
        signal.raise_signal(signal.SIGINT)
        assert number == 0

run.spread = press
if __name__ == "__main__":
    entry.main()
"""


def test_the_tree_is_saved_drawn_and_its_command_is_on_the_page(csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, picture, page = tmp_path / "own.json", tmp_path / "tree.svg", tmp_path / "people.html"
    options = (csv, "--target", "rich", "--max-size", 3, "--size", 3, "--cv", 2, "--repeats", 1)
    done = run(*options, "--save", model, "--draw", picture, "--report", page)
    assert done.exit_code == 0, done.exception
    assert f"mictree: wrote {model}" in done.stderr
    assert "<svg" in picture.read_text()
    frame = pl.read_csv(csv, null_values="")
    X, y = frame.drop("rich"), frame["rich"].to_numpy()
    best = mt.OptimalTreeClassifier(3).fit(X, y)
    assert mt.load(model).predict(X).tolist() == best.predict(X).tolist()
    assert run(*options, "--report", page).exit_code == 0
    (command,) = re.findall(r'<pre class="command"><code>(.*)</code></pre>', page.read_text())
    words = shlex.split(unescape(command))
    assert words == ["mictree", "data", str(csv), "--target", "rich", "--max-size", "3", "--cv",
                     "0", "--size", "3", "--save", "model.json"]  # fmt: skip
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert mt.load("model.json").predict(X).tolist() == best.predict(X).tolist()


def test_class_weights_and_results_of_classes(csv, tmp_path):
    page = tmp_path / "people.html"
    options = (csv, "--target", "rich", "--max-size", 2, "--cv", 2, "--size", 2)
    weighted = ("--class-weight", "yes=7")
    answer = json.loads(run(*options, *weighted, "--json").stdout)
    frame = pl.read_csv(csv, null_values="")
    X, y = frame.drop("rich"), frame["rich"].to_numpy()
    result = mt.compare("topdown", X, y, 2, cv=2, class_weight={"yes": 7.0})
    assert answer["results"] == result.frame.to_dicts()
    assert answer["confusion"] == result.class_results(2).confusion.tolist()
    printed = run(*options, *weighted, "--details", "--report", page).stdout
    assert ", errors weighted by class; held-out error" in printed
    assert printed.rstrip().endswith(str(result.class_results(2)).rstrip())
    assert "<h3>Held-out rows by class</h3>" in page.read_text()
    assert "<dt>weights of classes</dt><dd>yes=7</dd>" in page.read_text()
    assert "recall" not in run(*options).stdout
    assert "'maybe' is none of 'no', 'yes'" in str(
        run(*options, "--class-weight", "maybe=1").exception
    )


def test_a_tree_that_helps_nobody_says_so(tmp_path):
    file, page = tmp_path / "rare.csv", tmp_path / "rare.html"
    file.write_text("a,y\n" + "0,no\n1,no\n1,no\n1,yes\n" * 20)
    options = (file, "--target", "y", "--max-size", 1, "--cv", 2, "--keep", "a", "--report", page)
    told = run(*options).stdout
    assert "warning: the tree never predicts 'yes'; --class-weight balanced" in told
    assert "--scoring balanced_accuracy chooses" in told
    assert "Warning: the tree never predicts &#39;yes&#39;" in page.read_text()
    assert "warning" not in run(*options, "--class-weight", "balanced", "--size", 1).stdout


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--class-weight", "none"], "--class-weight must be balanced, label=weight"),
        (["--save", "tree.svg"], "--save must end in .json"),
        (["--draw", "tree.json"], "--draw must end in"),
    ],
)
def test_new_options_are_checked_before_the_file_is_read(options, rule):
    assert rule in str(run("none.csv", "--target", "y", *options).exception)
