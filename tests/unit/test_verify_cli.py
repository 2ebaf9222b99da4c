"""The command verify: table, JSON, exit status, interruption."""

import json
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
from typer.testing import CliRunner

from mictree.cli import app
from mictree.statements import theorems
from mictree.statements.checks import Counterexample, Covered, Statement


def fail(quick):
    raise Counterexample("1 + 1 = 2 at one")


GOOD = Statement("Lemma 1.1", "One is one.", lambda quick: Covered("one", "counted"), "holds")
FALSE = Statement("Lemma 1.2", "One and one is three.", fail, "fails")
VAGUE = Statement(
    "Lemma 1.3", "One [b] is few.", lambda quick: Covered("one", "few?"), "unclear as printed"
)
WRONG = Statement("Lemma 1.4", "One is two.", fail, "holds")


def run(monkeypatch, statements, *options):
    checks = partial(theorems.verify, statements=statements)
    monkeypatch.setattr(theorems, "verify", checks)
    return CliRunner().invoke(app, ["verify", *options], env={"COLUMNS": "150"})


def test_known_misprints_are_shown_and_do_not_fail(monkeypatch):
    result = run(monkeypatch, [GOOD, FALSE, VAGUE])
    assert result.exit_code == 0
    assert "One [b] is few." in result.stdout
    assert "Lemma 1.2: fails. 1 + 1 = 2 at one" in result.stdout
    assert "Lemma 1.3: unclear as printed. few?" in result.stdout
    assert "counted" not in result.stdout
    assert "3 statements in" in result.stdout
    assert "1 hold, 1 fail as printed, 1 are unclear as printed" in result.stdout


def test_details_are_given_of_every_statement(monkeypatch):
    assert "Lemma 1.1: holds. counted" in run(monkeypatch, [GOOD], "--details").stdout


def test_a_statement_that_should_hold_and_fails_makes_status_one(monkeypatch):
    result = run(monkeypatch, [GOOD, WRONG])
    assert result.exit_code == 1
    assert "FAILS (!)" in result.stdout
    assert "1 not as expected: Lemma 1.4" in result.stderr


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
    }
    assert (wrong["verdict"], wrong["detail"]) == ("fails", "1 + 1 = 2 at one")


def test_quick_is_passed_on(monkeypatch):
    told = []
    statement = Statement("Lemma 1", "", lambda quick: told.append(quick) or Covered("x"), "holds")
    assert run(monkeypatch, [statement], "--quick").exit_code == 0
    assert told == [True]


def test_help_does_not_start_flint():
    code = "import sys, mictree.cli; sys.exit('flint' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_ends_it_without_a_traceback():
    code = (
        "import sys, time\n"
        "from mictree.experiments import theorems\n"
        "theorems.verify = lambda *a: [print('ready', flush=True), time.sleep(60)]\n"
        "sys.argv = ['mictree', 'verify']\n"
        "from mictree.cli import main\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert err.strip() == "mictree: interrupted"
