"""``mictree compile`` leaves nothing to compile for the other commands, and says what it does."""

import json
import os
import subprocess
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree.cli import app, compiling
from mictree.cli.table import print_note

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    pytest.skip("nothing is compiled", allow_module_level=True)

# Runs the command, and then others; prints the kernels that these load, or compile, although the
# command had not. In one process, a kernel is loaded once for each type.
SCRIPT = """
import json, sys
from numba.core import event
from typer.testing import CliRunner
from mictree._support.jit import KERNEL_FILES
from mictree.cli import app

def run(*words):
    if words[0] == "python":
        return exec(words[1])
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.stdout

assert run("compile").endswith("all kernels are compiled\\n")
more = []
for words in json.loads(sys.argv[1]):
    compiled, files = "numba:compile", KERNEL_FILES
    with event.install_recorder(compiled) as made, event.install_recorder(files) as read:
        run(*words)
    kernels = [each.data["dispatcher"].__name__ for _, each in made.buffer]
    kernels += [each.data for _, each in read.buffer]
    if kernels:
        more.append((words, kernels))
print(json.dumps(more))
"""
IN_PYTHON = """
import numpy as np, mictree as mt
X, y = np.random.default_rng(0).integers(0, 2, (200, 9), dtype=np.uint8), np.arange(200) % 2
mt.TopDownClassifier(max_size=3).fit(X, y)
mt.OptimalTreeClassifier(penalty=0.02).fit(X[:30], y[:30], 1 / (1 + np.arange(30)))
mt.optimal_trees(mt.SampleProblem(X, y), 3, top=2)
for problem in (mt.FormulaProblem("a & b | c"), mt.TableProblem([0, 1, 1, 0])):
    mt.optimal_errors(problem, 2, exact=True)
"""
FORMULA = "x1 & x2 | y1 & y2 & y3"
OTHER = "(a | b) & ~c ^ a -> d"


def commands(folder):
    for name, cells in {
        "bits": lambda row: (row % 2, row // 2 % 2, (row * 7) % 3 > 0),
        "numbers": lambda row: (row * 37 % 101 / 7, row * 11 % 13, row % 5 / 2),
        "mixed": lambda row: (row * 37 % 101 / 7, "uvw"[row % 3], "" if row % 4 else row % 9),
    }.items():
        lines = [
            ",".join(map(str, (*cells(row), "no" if row * 37 % 101 > 50 or row % 3 else "yes")))
            for row in range(90)
        ]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,c,y", *lines]))
        table = [str(folder / f"{name}.csv"), "--target", "y"]
        (folder / name).mkdir()
        pl.read_csv(folder / f"{name}.csv").write_parquet(folder / name / "a.parquet")
        yield ["fit", str(folder / name), "--target", "y", "--size", "3"]
        yield ["fit", *table, "--max-size", "5", "--cv", "3"]
        yield [
            "fit",
            *table,
            "--rule",
            "lookahead",
            "--size",
            "2",
            "--report",
            str(folder / "r.html"),
        ]
        yield ["data", *table, "--max-size", "4", "--cv", "2", "--learner", "bestfirst"]
        yield ["data", *table, "--max-size", "3", "--cv", "0", "--class-weight", "balanced"]
        yield ["fit", *table, "--rule", "optimal", "--max-size", "2", "--class-weight", "balanced"]
    yield ["python", IN_PYTHON]
    yield from (["mic", each, "--max-size", "5"] for each in (FORMULA, OTHER))
    yield from (["grow", each, "--rule", "bestfirst"] for each in (FORMULA, OTHER))
    yield from (["optimal", each, "--size", "3", "--top", "2"] for each in (FORMULA, OTHER))
    yield ["biases", "a & b | c", "--max-size", "3"]
    yield ["sweep", "--terms", "2", "--literals", "3", "--max-size", "4"]
    yield from (
        ["sweep", "--family", family, "--variables", "3", "--max-size", "4"]
        for family in ("up_to", "functions", "monotone", "threshold")
    )


@pytest.mark.slow
def test_nothing_is_left_for_other_commands(tmp_path):
    words = list(commands(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_every_group_is_compiled():
    from mictree._support.jit import GROUPS

    assert {*compiling.WORK} == {group.name for group in GROUPS}


def test_progress(monkeypatch, capsys):
    """What is compiled, and how much is left, at the pace of this machine."""
    clock = iter([100.0, 124.0, 200.0])  # begin, after the first group of 12 s, at the end
    monkeypatch.setattr(compiling.time, "monotonic", lambda: next(clock))
    progress = compiling.CompileProgress()
    groups = list(compiling.WORK)
    progress.begin("growth on formulas")  # kept already: nothing is said
    progress.begin("optimal trees of formulas")
    progress.note()
    progress.note()
    progress.begin("families of formulas")
    progress.note()
    total = len(groups)
    assert capsys.readouterr().err.splitlines() == [
        f"mictree: compiling 2 of {total}: optimal trees of formulas, about 12 s; then about 74 s "
        "for the others",
        f"mictree: compiling {total - 1} of {total}: families of formulas, about 18 s; then about "
        "10 s for the others",
    ]
    assert (progress.kernels, progress.seconds()) == (3, 100)


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _no_work(self, monkeypatch):
        monkeypatch.setattr(compiling, "WORK", {"growth on data": lambda: print_note("worked")})

    def test_is_short_when_all_is_compiled(self):
        done = CliRunner().invoke(app, ["compile"])
        assert (done.exit_code, done.stdout) == (0, "all kernels are compiled\n")
        assert done.stderr == "mictree: worked\n"

    def test_fails_if_kernels_cannot_be_kept(self, monkeypatch):
        monkeypatch.setattr("mictree._support.jit._announcer.kept", False)
        done = CliRunner().invoke(app, ["compile"])
        assert isinstance(done.exception, OSError)
        assert "NUMBA_CACHE_DIR can name one" in str(done.exception)
