"""The command line as a user types it."""

import contextlib
import io
import json
import signal
import subprocess
import sys
import time
from fractions import Fraction
from math import comb
from typing import NamedTuple
from unittest import mock

import polars as pl
import pytest

import mictree as mt
from mictree.cli import main

EXAMPLE = "x1 & x2 | y1 & y2 & y3"


class Done(NamedTuple):
    stdout: str
    stderr: str


def run(*words: str, status: int = 0) -> Done:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["mictree", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main()
    assert (end.value.code or 0) == status, err.getvalue()
    return Done(out.getvalue(), err.getvalue())


def test_mic_table():
    shown = run(
        "mic", EXAMPLE, "--max-size", "8", "--rule", "topdown", "--rule", "bestfirst"
    ).stdout
    assert "topdown (entropy, ties last): MIC(8) = 0, no excess at any size\n" in shown
    assert "MIC(8) = 0.0117188, largest excess 0.03125 at size 5\n" in shown
    assert "bestfirst (entropy, ties last): MIC(8) = 0.0117188" in shown


def test_mic_json():
    words = ("--bias", "0.3", "--bias", "y1=7/10", "--bias", "z=0.5", "--max-size", "6", "--json")
    found = json.loads(run("mic", EXAMPLE, *words).stdout)
    bias = {"x1": 0.3, "x2": 0.3, "y1": 0.7, "y2": 0.3, "y3": 0.3, "z": 0.5}
    assert found["bias"] == bias
    reference = mt.mic(mt.TopDown(), mt.FormulaProblem(EXAMPLE, bias), 6)
    assert found["rules"][0]["mic"] == reference.mic
    assert found["optimal_errors"] == reference.optimal_errors.tolist()


NOISES = {"0.1": Fraction(1, 10), "1/3": Fraction(1, 3), "0": Fraction(0)}


@pytest.mark.parametrize("typed", NOISES)
@pytest.mark.parametrize("text", [EXAMPLE, "(a | b) & ~c ^ a"])
def test_noise(text, typed):
    problem = mt.TableProblem.from_formula(text, 0.3, noise=NOISES[typed])
    words = (text, "--bias", "0.3", "--noise", typed, "--json")
    best = json.loads(run("optimal", *words, "--size", "4").stdout)
    assert best["optimal_errors"] == pytest.approx(
        mt.optimal_errors(problem, 4).tolist(), abs=1e-15
    )
    assert best["noise"] == float(NOISES[typed])
    grown = json.loads(run("grow", *words, "--size", "4").stdout)
    assert grown["error"] == pytest.approx(mt.TopDown().grow(problem, 4).errors[-1], abs=1e-15)
    compared = json.loads(run("mic", *words, "--max-size", "4").stdout)
    assert compared["rules"][0]["mic"] == pytest.approx(
        mt.mic(mt.TopDown(), problem, 4).mic, abs=1e-15
    )
    assert "noise" not in json.loads(run("grow", text, "--json").stdout)


@pytest.mark.parametrize("command", ["mic", "grow", "optimal"])
@pytest.mark.parametrize("noise", ["1.1", "-0.1", "much", "nan", "1/0", ""])
def test_noise_that_is_none(command, noise):
    told = run(command, "a & b", f"--noise={noise}", status=2).stderr
    assert f"--noise must be a number from 0 to 1; got {noise!r}" in told


@pytest.mark.parametrize(
    ("option", "typed"),
    [("bias", "1e-99999999"), ("bias", "a=1_0E-00010000"), ("noise", "1e-99999999")],
)
def test_powers_of_ten_that_would_take_long(option, typed):
    told = run("mic", "a & b", f"--{option}={typed}", status=2).stderr
    assert f"--{option} must have a power of ten from -9999 to 9999; got {typed!r}" in told


def test_the_least_power_of_ten():
    assert json.loads(run("optimal", "a", "--bias=1e-9999", "--json").stdout)["bias"] == {"a": 0.0}


def test_noise_on_many_variables():
    text = " | ".join(f"x{number}" for number in range(17))
    told = run("mic", text, "--noise", "0.1", status=2).stderr
    assert "a formula with --noise may have at most 16 variables; this one has 17" in told


def test_optimal_top():
    text = "a & (b ^ c) | ~a & d"
    problem = mt.TableProblem.from_formula(text)
    words = ("optimal", text, "--size", "5", "--top", "1", "--criterion", "gini", "--json")
    found = json.loads(run(*words).stdout)
    expected = mt.optimal_errors(problem, 5, top=1, criterion="gini")
    assert found["optimal_errors"] == expected.tolist()
    assert (found["top"], found["criterion"]) == (1, "gini")
    assert "size 5, error 0" in run("optimal", text, "--size", "5", "--top", "2").stdout
    assert "top" not in json.loads(run("optimal", text, "--json").stdout)


def test_mic_of_the_best_splits_only():
    text = "a & (b ^ c) | ~a & d"
    for top in (1, 2):
        words = ("mic", text, "--max-size", "5", "--criterion", "gini", "--top", str(top), "--json")
        found = json.loads(run(*words).stdout)
        problem = mt.TableProblem.from_formula(text)
        expected = mt.mic(mt.TopDown("gini"), problem, 5, top=top)
        assert found["top"] == top
        assert found["rules"][0]["mic"] == pytest.approx(expected.mic)
        assert found["optimal_errors"] == pytest.approx(expected.optimal_errors.tolist())
    assert "top" not in json.loads(run("mic", text, "--max-size", "5", "--json").stdout)


def test_lookahead():
    found = json.loads(
        run("grow", "a ^ b | c & d", "--rule", "lookahead", "--depth", "3", "--json").stdout
    )
    assert (found["rule"], found["depth"]) == ("lookahead", 3)
    growth = mt.Lookahead(3).grow(mt.TableProblem.from_formula("a ^ b | c & d"), 5)
    assert [split["gain"] for split in found["splits"]] == [step.gain for step in growth.steps]
    shown = run("mic", "a ^ b", "--max-size", "3", "--rule", "topdown", "--rule", "lookahead")
    assert "lookahead(2) (entropy, ties last): MIC(3) = 0" in shown.stdout
    words = ("--variables", "5", "--max-size", "5", "--rule", "lookahead", "--depth", "2", "--json")
    assert json.loads(run("sweep", *words).stdout)["summary"][0]["rule"] == "lookahead(2)"


def test_splits_whose_leaves_agree(tmp_path):
    """Tree and drawing leave them out and count them; --no-merge and --json have all."""
    words = ("grow", EXAMPLE, "--size", "3", "--rule", "bestfirst", "--ties", "first")
    tree = mt.BestFirst(ties="first").grow(mt.FormulaProblem(EXAMPLE), 3).tree(3)
    hidden = tree.size - tree.merged().size
    assert hidden == 1
    shown = run(*words).stdout
    assert tree.merged().to_text(merge=False) + "\n" in shown
    assert "\n1 split whose leaves agree is not shown; --no-merge shows it\n" in shown
    assert "size 3, error" in shown
    every = run(*words, "--no-merge").stdout
    assert tree.to_text(merge=False) + "\n" in every
    assert "agree" not in every
    assert len(json.loads(run(*words, "--json").stdout)["tree"]["nodes"]) == 7
    drawn = [tmp_path / "merged.svg", tmp_path / "all.svg"]
    run(*words, "--draw", str(drawn[0]))
    run(*words, "--draw", str(drawn[1]), "--no-merge")
    assert [file.read_text().count("whose leaves agree") for file in drawn] == [1, 0]
    optimal = run("optimal", EXAMPLE, "--size", "3", "--no-merge").stdout
    assert mt.optimal_tree(mt.FormulaProblem(EXAMPLE), 3).to_text(merge=False) in optimal


def test_grow_json_holds_the_tree():
    found = json.loads(run("grow", EXAMPLE, "--size", "5", "--rule", "bestfirst", "--json").stdout)
    tree = mt.Tree.from_json(json.dumps(found["tree"]))
    assert tree == mt.BestFirst().grow(mt.FormulaProblem(EXAMPLE), 5).tree(5)
    assert [split["variable"] for split in found["splits"]][:2] == ["x2", "x1"]
    assert found["error"] == 0.0625


def test_grow_table():
    shown = run("grow", EXAMPLE, "--size", "2").stdout
    assert "reach x gain" in shown
    assert "size 2, error 0.09375" in shown


def test_optimal():
    assert "size 5, error 0.03125" in run("optimal", EXAMPLE, "--size", "5").stdout
    found = json.loads(run("optimal", EXAMPLE, "--size", "5", "--json").stdout)
    assert found["optimal_errors"][5] == 0.03125


def test_any_expression_becomes_a_table():
    words = ("--bias", "0.3", "--bias", "b=0.6", "--bias", "z=0.5", "--json")
    bias = {"a": 0.3, "b": 0.6, "c": 0.3, "z": 0.5}
    text = "(a or b) & ~c <-> a -> b"
    problem = mt.TableProblem.from_formula(text, bias)
    found = json.loads(run("mic", text, "--max-size", "6", *words).stdout)
    assert found["formula"] == "(a | b) & ~c <-> a -> b"
    assert found["bias"] == bias
    result = mt.mic(mt.TopDown(), problem, 6)
    assert found["rules"][0]["mic"] == result.mic
    assert found["optimal_errors"] == result.optimal_errors.tolist()
    grown = json.loads(run("grow", text, "--size", "4", *words).stdout)
    assert grown["error"] == mt.TopDown().grow(problem, 4).errors[4]
    best = json.loads(run("optimal", text, "--size", "4", *words).stdout)
    assert best["error"] == mt.optimal_errors(problem, 4)[4]


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_drawings(tmp_path, suffix):
    for command in (["grow", EXAMPLE], ["optimal", EXAMPLE], ["mic", EXAMPLE, "--max-size", "5"]):
        path = tmp_path / f"{command[0]}.{suffix}"
        assert f"drew {path}" in run(*command, "--draw", str(path)).stderr
        assert path.stat().st_size > 1000
    assert len(list(tmp_path.iterdir())) == 3


def test_sweep(tmp_path):
    out, plot = tmp_path / "mic.parquet", tmp_path / "mic.png"
    words = ["sweep", "--terms", "3", "--literals", "3", "--max-size", "20", "--ties", "last"]
    shown, told = run(*words, "--ties", "first", "--out", str(out), "--plot", str(plot))
    assert f"mictree: wrote {out}\n" in told
    assert "above 0.05" in shown
    assert "3+3+3" in shown
    assert pl.read_parquet(out).height == 4 * 19
    assert plot.stat().st_size > 1000
    found = json.loads(run(*words, "--rule", "id3", "--json").stdout)
    assert found["summary"][0]["members"] == 19
    assert run("sweep", "--variables", "6", "--bias", "0.4", "--bias", "0.6").stdout


def test_a_wide_table_is_not_cut():
    words = ["sweep", "--terms", "4", "--literals", "4", "--bias", "0.123", "--bias", "0.456"]
    shown = run(*words, "--max-size", "3").stdout
    worst = json.loads(run(*words, "--max-size", "3", "--json").stdout)["worst"]
    assert max(len(each["formula"]) for each in worst) > 40
    assert all(f" {each['formula']} " in shown for each in worst)


def test_a_smaller_tree_than_asked_for_says_why():
    assert (
        "; growth ended before --size 9, as no leaf can be split"
        in run("grow", "a & b", "--size", "9").stdout
    )
    assert (
        "no larger tree up to --size 9 has a smaller error"
        in run("optimal", "a & b", "--size", "9").stdout
    )
    assert "--size" not in run("grow", "a & b", "--size", "2").stdout
    assert "--size" not in run("optimal", "a & b", "--size", "2").stdout


@pytest.mark.parametrize("family", ["functions", "monotone", "threshold"])
def test_sweep_over_functions(tmp_path, family):
    out, plot = tmp_path / "mic.parquet", tmp_path / "mic.svg"
    words = ["sweep", "--family", family, "--variables", "3", "--max-size", "7"]
    shown = run(*words, "--out", str(out), "--plot", str(plot)).stdout
    members = len(getattr(mt.families, family)(3))
    assert f"{family}(variables=3, bias=0.5), max_size 7" in shown
    assert "greedy" in shown
    assert plot.stat().st_size > 1000
    frame = pl.read_parquet(out)
    assert frame.height == 2 * members
    found = json.loads(run(*words, "--bias", "1/3", "--rule", "id3", "--json").stdout)
    assert found["family"] == f"{family}(variables=3, bias=0.333333333333)"
    worst = found["worst"][0]
    problem = getattr(mt.families, family)(3, Fraction(1, 3)).problem(worst["member"])
    assert mt.mic("id3", problem, 7).mic == pytest.approx(worst["mic"])
    assert worst["perfect_size"] <= worst["greedy_size_best"] <= worst["greedy_size_worst"]


def test_help_has_examples():
    assert "How far" in run().stdout
    assert mt.__version__ in run("--version").stdout
    for command in ("mic", "grow", "optimal", "sweep", "fit", "verify"):
        assert f"mictree {command}" in run(command, "--help").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mic"], "formula"),
        (
            ["mic", " & ".join(f"x{i}" for i in range(17)) + " | x0"],
            "at most 16 variables; this one has 17 and is none: each variable may appear only once;"
            " x0 appears again, at position 93",
        ),
        (["grow", "a ^ b", *(word for i in range(15) for word in ("--bias", f"z{i}=1/2"))], "17"),
        (["optimal", "(a | b) & -> c"], "a literal is missing before '->', at position 11"),
        (["mic", ""], "at least one term"),
        (["mic", "a", "--bias", "1"], "strictly between 0 and 1; got '1'"),
        (["mic", "a ^ b", "--bias", "a=1.5"], "strictly between 0 and 1; got 'a=1.5'"),
        (["mic", "a", "--bias", "nan"], "NUMBER or NAME=NUMBER; got 'nan'"),
        (["mic", "a", "--bias", "1/0"], "NUMBER or NAME=NUMBER"),
        (["mic", "a", "--max-size", "0"], "at least 1; got 0"),
        (["mic", "a", "--max-size", "2.5"], "--max-size must be an integer; got '2.5'"),
        (["mic", "a", "--max-size", "100000000"], "--max-size must be at most 10,000,000"),
        (["mic", "a", "--bias", "0.3", "--bias", "0.4"], "all variables one number; got 0.3 and"),
        (["mic", "a", "--bias", "a=.3", "--bias", " a =.4"], "must give a one number; got .3 and"),
        (["mic", "a", "--rule", "best"], "topdown, bestfirst, id3, lookahead; got 'best'"),
        (["mic", "a", "--depth", "2"], "--depth is for --rule lookahead; got --rule topdown"),
        (["grow", "a", "--rule", "lookahead", "--depth", "0"], "depth must be at least 1; got 0"),
        (["mic", "a", "--ties", "none"], "--ties must be one of"),
        (["mic", "a", "--criterion", "none"], "--criterion must be one of"),
        (["grow", "a", "--size", "-1"], "at least 0; got -1"),
        (["grow", "a", "--draw", "x.txt"], ".svg, .png or .pdf; got 'x.txt'"),
        (["grow", "a", "--draw", "nowhere/x.svg"], "existing folder"),
        (["optimal", "a | b)"], "')' has no '('"),
        (["optimal", "a", "--top", "0"], "top must be at least 1; got 0"),
        (["mic", "a", "--top", "0"], "top must be at least 1; got 0"),
        (["optimal", "a", "--top", "1", "--criterion", "x"], "criterion must be one of"),
        (["sweep"], "--terms and --literals, or --variables; got neither"),
        (["sweep", "--terms", "3"], "got --terms alone"),
        (["sweep", "--literals", "3"], "got --literals alone"),
        (["sweep", "--terms", "-3", "--literals", "3"], "--terms must be"),
        (["sweep", "--terms", "20", "--literals", "20"], f"has {comb(40, 20) - 1:,}"),
        (["sweep", "--variables", "9", "--memory", "much"], "--memory must be a number; got 'much"),
        (["sweep", "--family", "all"], "--family must be one of grid, up_to, functions, monotone,"),
        (["sweep", "--family", "functions"], "--family functions needs --variables"),
        (["sweep", "--family", "functions", "--variables", "6"], "1 to 5 variables; got 6"),
        (["sweep", "--family", "up_to", "--terms", "3"], "either --variables"),
        (["sweep", "--family", "grid", "--variables", "3"], "--terms and --literals"),
        (
            ["sweep", "--family", "monotone", "--variables", "3", "--bias", "0.3", "--bias", "0.4"],
            "--family monotone has one --bias; got 0.3, 0.4",
        ),
        (["sweep", "--terms", "3", "--variables", "3"], "either"),
        (["sweep", "--variables", "9", "--bias", "x"], "--bias must be a number; got 'x'"),
        (["sweep", "--variables", "9", "--bias", "1.5"], "strictly between 0 and 1; got '1.5'"),
        (["sweep", "--variables", "9", "--out", "x.csv"], ".parquet"),
        (["sweep", "--variables", "60", "--memory", "0.1"], "memory_limit"),
        (["nothing"], "nothing"),
    ],
)
def test_an_error_is_one_line(words, message):
    done = run(*words, status=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("mictree: ")
    assert not done.stdout


def test_ctrl_c_is_one_line(tmp_path):
    out = tmp_path / "mic.parquet"
    words = ["sweep", "--variables", "36", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-m", "mictree", *words], stderr=subprocess.PIPE, text=True
    ) as process:
        partial = tmp_path / "mic.parquet.partial"
        while not (partial / "state").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, shown = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in shown
    assert "Traceback" not in shown
    assert not out.exists()
