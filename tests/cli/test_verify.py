"""The command verify: table, JSON, exit status, interruption."""

import json
import signal
import subprocess
import sys
from functools import partial

import pytest
from typer.testing import CliRunner

from mictree import statements as paper
from mictree.cli import app
from mictree.statements import later
from mictree.statements.checks import VERDICT_RULE, Counterexample, Covered, Reading, Statement

CASE = "1 + 1 = 2 at one"


def fail(quick):
    raise Counterexample(CASE)


def hold(quick):
    return Covered("one", "counted")


def one_reading(number, text, function, counterexample=""):
    return Statement(number, text, (Reading("", function, counterexample),))


GOOD = one_reading("Lemma 1.1", "One is one.", hold)
FALSE = one_reading("Lemma 1.2", "One and one is three.", fail, CASE)
VAGUE = Statement(
    "Lemma 1.3",
    "One [b] is few.",
    (Reading("none is few", fail, CASE), Reading("one is few", hold)),
    "Few?",
)
WRONG = one_reading("Lemma 1.4", "One is two.", fail)


def run(monkeypatch, statements, *options):
    checks = partial(paper.verify, statements=statements)
    monkeypatch.setattr(paper, "verify", checks)
    return CliRunner().invoke(app, ["verify", *options], env={"COLUMNS": "150"})


def test_known_misprints_are_shown_and_do_not_fail(monkeypatch):
    result = run(monkeypatch, [GOOD, FALSE, VAGUE])
    assert result.exit_code == 0
    assert "One [b] is few." in result.stdout
    lines = result.stdout.splitlines()
    assert f"Lemma 1.2: fails. Counterexample: {CASE}." in lines
    assert (
        f"Lemma 1.3: unclear as printed. None is few: fails. Counterexample: {CASE}. "
        "One is few: holds. One. Counted. Few?" in lines
    )
    assert "Lemma 1.1: holds" not in result.stdout
    assert VERDICT_RULE in lines
    assert "3 statements in" in result.stdout
    assert "1 hold, 1 fail as printed, 1 are unclear as printed" in result.stdout


def test_details_are_given_of_every_statement(monkeypatch):
    assert "Lemma 1.1: holds. counted" in run(monkeypatch, [GOOD], "--details").stdout


def test_a_statement_that_should_hold_and_fails_makes_status_one(monkeypatch):
    result = run(monkeypatch, [GOOD, WRONG])
    assert result.exit_code == 1
    assert "FAILS (!)" in result.stdout
    told = "mictree: 1 not as expected:\n  Lemma 1.4: expected no counterexample\n"
    assert result.stderr.endswith(told)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (one_reading("Lemma 2", "", hold, CASE), f"expected {CASE}"),
        (one_reading("Lemma 2", "", fail, "1 + 1 = 2 at two"), "expected 1 + 1 = 2 at two"),
        (
            Statement("Lemma 2", "", (Reading("a", hold, CASE), Reading("b", hold))),
            f"a: expected {CASE}",
        ),
        (
            Statement("Lemma 2", "", (Reading("a", fail, CASE), Reading("b", fail))),
            "b: expected no counterexample",
        ),
        (
            Statement("Lemma 2", "", (Reading("a", fail, "elsewhere"), Reading("b", hold))),
            "a: expected elsewhere",
        ),
    ],
    ids=["false-holds", "false-elsewhere", "unclear-holds", "unclear-fails", "unclear-elsewhere"],
)
def test_known_misprints_that_come_out_otherwise_make_status_one(monkeypatch, statement, expected):
    result = run(monkeypatch, [GOOD, statement])
    assert result.exit_code == 1
    assert f"  Lemma 2: {expected}\n" in result.stderr


def test_json_has_every_field(monkeypatch):
    result = run(monkeypatch, [GOOD, WRONG], "--json")
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert content["quick"] is False
    assert content["as_expected"] is False
    good, wrong = content["checks"]
    assert good.pop("seconds") >= 0
    assert good == {
        "number": "Lemma 1.1",
        "statement": "One is one.",
        "range_covered": "one",
        "verdict": "holds",
        "detail": "counted",
        "expected": "holds",
        "note": "",
        "findings": [
            {
                "reading": "",
                "range_covered": "one",
                "detail": "counted",
                "counterexample": "",
                "expected_counterexample": "",
            }
        ],
    }
    assert wrong["verdict"] == "fails"
    assert wrong["findings"][0]["counterexample"] == CASE


def test_quick_is_passed_on(monkeypatch):
    told = []
    statement = one_reading("Lemma 1", "", lambda quick: told.append(quick) or Covered("x"))
    assert run(monkeypatch, [statement], "--quick").exit_code == 0
    assert told == [True]


def test_other_papers_are_checked_on_request(monkeypatch):
    asked = []
    monkeypatch.setattr(paper, "verify", lambda *args: asked.append(args[2:]) or [])
    for options in ([], ["--all"]):
        assert CliRunner().invoke(app, ["verify", *options]).exit_code == 0
    assert asked == [(), (later.EVERYTHING,)]


def test_help_does_not_start_flint():
    code = "import sys, mictree.cli; sys.exit('flint' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_ends_it_without_a_traceback():
    code = (
        "import sys, time\n"
        "from mictree import statements\n"
        "statements.verify = lambda *a: [print('ready', flush=True), time.sleep(60)]\n"
        "sys.argv = ['mictree', 'verify']\n"
        "from mictree.__main__ import main\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert err == "mictree: interrupted\n"
