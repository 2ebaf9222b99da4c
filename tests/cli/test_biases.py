"""The command biases."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app


def run(*words: object):
    return CliRunner().invoke(app, ["biases", *map(str, words)])


def test_text_tells_the_interval_and_the_boxes():
    result = run("a & b | ~c", "--between", 0.6, 0.8, "--max-size", 4)
    assert result.exit_code == 0, result.output
    found = mt.mic_over_biases("topdown", "a & b | ~c", (0.6, 0.8), 4)
    assert " ".join(str(found).split()) in " ".join(result.stdout.split())
    assert "mic_upper" in result.stdout


def test_json_and_one_bias_each():
    result = run("a & b", "--each", "--gap", 0.2, "--max-size", 2, "--json")
    answer = json.loads(result.stdout)
    assert answer["complete"]
    assert set(answer["worst"]) == {"a", "b"}
    assert answer["boxes"][0].keys() >= {"low_a", "high_b", "mic_lower", "mic_upper"}
    assert answer["supremum"][0] <= answer["supremum"][1]


def test_where_a_rule_is_optimal():
    words = ("a & b | c & d", "--between", 0.4375, 0.75, "--max-size", 4, "--gap", 1)
    told = " ".join(run(*words).stdout.split())
    ranges = json.loads(run(*words, "--json").stdout)["optimal_ranges"]
    assert ranges == [{"low": 0.4375, "high": 0.5, "mic": 0.0, "except_at": []}]
    assert told.endswith("the MIC is proved to be 0 for biases from 0.4375 to 0.5")
    worse = ("x1 & x2 | y1 & y2 & y3", "--rule", "bestfirst", "--between", 0.48, 0.52)
    assert "no range of biases in which the MIC is 0 was proved" in run(*worse).stdout
    each = ("a & b", "--each", "--gap", 0.2, "--max-size", 2)
    assert json.loads(run(*each, "--json").stdout)["optimal_ranges"] is None


def test_a_fraction_is_printed_as_one():
    formula = "((a & ~b & ~c) | (~a & b & ~c) | (~a & ~b & c)) & (d | ~d)"
    words = (formula, "--between", 0.33, 0.34, "--max-size", 3)
    assert json.loads(run(*words, "--json").stdout)["worst"] == "1/3"
    assert "nearly attained at bias 1/3 (" in " ".join(run(*words).stdout.split())


def test_jobs_change_nothing():
    words = ("a & b | c", "--gap", 0.05, "--max-size", 3, "--json")
    assert run(*words, "--jobs", 2).stdout == run(*words).stdout


PRESSING = """
import signal
from mictree import __main__ as entry
from mictree.families import biases

spread, calls = biases.spread, []

def press(*arguments):
    calls.append(arguments)
    for result in spread(*arguments):
        yield result
        if len(calls) > 2:
            signal.raise_signal(NUMBER)

biases.spread = press
biases.MOST_CUBES = 27  # a box in each task
if __name__ == "__main__":
    entry.main()
"""


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_ctrl_c_prints_what_is_certified_and_ends_the_workers(tmp_path, name, status):
    script = tmp_path / "pressing.py"
    script.write_text(PRESSING.replace("NUMBER", f"signal.{name}"))
    words = ["biases", "a & b | c", "--gap", "1e-9", "--max-size", "3", "--jobs", "2"]
    done = subprocess.run(
        [sys.executable, script, *words], capture_output=True, text=True, check=False, timeout=300
    )  # a worker that lived on would keep the pipes open
    assert (done.returncode, done.stderr) == (status, "mictree: interrupted\n")
    assert "stopped early" in done.stdout


def test_a_drawing(tmp_path):
    path = tmp_path / "biases.svg"
    result = run("a & b | c", "--gap", 0.1, "--max-size", 3, "--draw", path)
    assert result.exit_code == 0, result.output
    assert path.read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a & b", "--between", 0.9, 0.1], "ascending"),
        (["a &"], "a literal is missing"),
        (["a & b", "--ties", "random"], "--ties must be one of last, first, heaviest, lightest"),
        (["a & b", "--rule", "lookahead"], "--rule must be one of topdown, bestfirst, id3; got"),
        (["a & b", "--jobs", 0], "n_jobs must be None or an integer other than 0; got 0"),
        (["a & b", "--each", "--draw", "x.svg"], "--draw needs one shared bias"),
    ],
)
def test_bad_input(words, said):
    result = run(*words)
    assert result.exit_code != 0
    assert said in str(result.exception)
