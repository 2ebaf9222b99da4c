"""The study's page: the same however a run was interrupted, and complete."""

import errno
import html
import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from mictree._support.files import no_space
from mictree.cli import app
from mictree.experiments import cache as checkpoints
from mictree.experiments import study_known, study_tables
from mictree.experiments.study_known import LOSSES
from mictree.report.study import StudyPlan, study
from tests.shared import shared_folder
from tests.unit.test_report import Reader

PLAN = StudyPlan(
    study_known.Plan(targets=5, rows=(30, 60), repetitions=1, max_size=2, folds=2, draws=100),
    study_tables.Plan(
        max_rows=40, max_thresholds=3, max_size=2, folds=2, repeats=1, inner_folds=2, work=1e5,
        draws=200,
    ),
)  # fmt: skip
FIGURES = {"study-losses", "study-turning", "study-orders", "study-equal", "study-tuned"}


def fill_tables(folder):
    """A table that can be used, one that cannot, and one that has a name twice."""
    folder.mkdir()
    random = np.random.default_rng(2)
    X = random.integers(0, 3, (40, 3))
    frame = pl.DataFrame(X, schema=["a", "b", "c"], orient="row")
    frame.with_columns(label=pl.Series((X[:, 0] > X[:, 1]).astype(int))).write_csv(
        folder / "small.csv"
    )
    frame.with_columns(label=pl.Series(X[:, 2] > 0)).write_parquet(folder / "small.parquet")
    (folder / "broken.csv").write_text("x,label\n1,only\n2,only\n")


@cache
def run():
    """One small run, by one worker."""

    def fill(out):
        out.mkdir()
        fill_tables(out / "given")
        study(out / "study", out / "given", PLAN)

    return shared_folder("study", fill)


def page(out: Path) -> bytes:
    return (out / "study.html").read_bytes()


def results(out: Path) -> dict[str, bytes]:
    """The files of results, without the times of the run."""
    return {
        path.name: path.read_bytes()
        for path in (out / "results").iterdir()
        if path.name != "run.json"
    }


def test_writes_everything():
    out = run() / "study"
    assert {path.stem for path in (out / "figures").iterdir()} == FIGURES
    for name in FIGURES:
        ET.parse(out / "figures" / f"{name}.svg")
    assert {*results(out)} == {
        "known.parquet", "known-exact.parquet", "known-mics.parquet", "tables.parquet",
        "tables-sets.parquet", "tables-left_out.parquet", "claims.json", "parameters.json",
    }  # fmt: skip
    plans = json.loads((out / "results" / "parameters.json").read_text())
    assert plans["known"]["rows"] == [30, 60]
    assert plans["tables"]["inner_folds"] == 2


def test_the_page_is_self_contained_and_has_its_protocol():
    text = page(run() / "study").decode()
    for tag, attributes in Reader(text).elements:
        assert tag != "script"
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(name) or "#"
            assert value.startswith(("data:", "#")), (tag, name, value[:80])
    words = html.unescape(re.sub(r"<[^>]+>", " ", text))
    assert "5 of 40 targets" in words
    assert "6 tables of at most 40 rows" in words
    assert "Seed 35" in words
    assert "small #2" in words
    assert "broken.csv" in words
    assert "there must be two classes" in words
    assert "certified up to size" in words


def test_tables_on_the_page_follow_from_the_files():
    out = run() / "study"
    frame = pl.read_parquet(out / "results" / "known.parquet")
    exact = pl.read_parquet(out / "results" / "known-exact.parquet")
    text = page(out).decode()
    part = text.split("<h3>Mean losses at the chosen sizes</h3>")[1].split("</table>")[0]
    shown = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", part)]
    rows = {(cells[0], cells[1]): list(map(float, cells[2:])) for cells in shown if cells}
    least = {(row["target"], row["size"]): row for row in exact.iter_rows(named=True)}
    best = {
        (row["target"], row["rows"], row["size"]): row["true_error"]
        for row in frame.filter(learner="optimal").iter_rows(named=True)
    }
    for (count, learner), cells in rows.items():
        found = frame.filter(pl.col("chosen"), rows=int(count), learner=learner).to_dicts()
        assert len(found) == 5
        sums = [0.0] * 6
        for row in found:
            known = least[row["target"], row["size"]]
            there = best[row["target"], row["rows"], row["size"]]
            parts = (
                row["size"], known["floor"], known["optimal"] - known["floor"],
                there - known["optimal"], row["true_error"] - there, row["true_error"],
            )  # fmt: skip
            sums = [total + part / 5 for total, part in zip(sums, parts, strict=True)]
        assert cells == pytest.approx(sums, abs=6e-3)
        assert cells[1:] == pytest.approx(sums[1:], abs=6e-6)
        assert sum(cells[1 : 2 + len(LOSSES)]) == pytest.approx(cells[-1], abs=3e-5)


def test_an_interrupted_run_goes_on_to_the_same_page(tmp_path, monkeypatch):
    """A full disk first, then Ctrl-C; one kept result is damaged meanwhile."""
    out, write = tmp_path / "out", checkpoints.write_sealed

    def fail_after(count, failure):
        def fail_later(path, key, content):
            if len([*(out / "cache").iterdir()]) == count:
                raise failure(path)
            write(path, key, content)

        monkeypatch.setattr(checkpoints, "write_sealed", fail_later)

    fail_after(8, lambda path: no_space(path, 10))
    with pytest.raises(OSError, match="no space left") as error:
        study(out, run() / "given", PLAN)
    assert error.value.errno == errno.ENOSPC
    fail_after(22, lambda path: KeyboardInterrupt())  # among the folds of tables
    with pytest.raises(KeyboardInterrupt):
        study(out, run() / "given", PLAN)
    assert not (out / "study.html").exists()
    kept = sorted((out / "cache").iterdir())
    damaged = bytearray(kept[0].read_bytes())
    damaged[-1] ^= 1
    kept[0].write_bytes(damaged)
    monkeypatch.undo()
    made = study(out, run() / "given", PLAN)
    assert sum(stage.reused for stage in made.stages) == 21
    assert page(out) == page(run() / "study")
    assert results(out) == results(run() / "study")


def test_the_page_is_the_same_whatever_the_workers(tmp_path):
    with joblib.parallel_config(backend="threading"):
        study(tmp_path / "out", run() / "given", PLAN, n_jobs=3)
    assert page(tmp_path / "out") == page(run() / "study")
    assert results(tmp_path / "out") == results(run() / "study")


def test_progress_never_falls_and_without_tables_nothing_is_judged(tmp_path):
    shares, details = [], []

    def report(progress):
        shares.append(progress.share)
        details.append(progress.detail)

    small = replace(PLAN, known=replace(PLAN.known, targets=1, rows=(30,)))
    made = study(tmp_path / "out", None, small, progress=report, sets=[])
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert "known distributions: 30 rows, 01 read-once DNF" in details
    assert made.results.tables.judged(True) == []
    assert "0 tables" in page(tmp_path / "out").decode()


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(StudyPlan, "make", lambda quick, seed: PLAN)
    out = tmp_path / "out"
    shutil.copytree(run() / "study" / "cache", out / "cache")
    found = CliRunner().invoke(app, ["study", str(run() / "given"), "--out", str(out)])
    assert found.exit_code == 0, found.output
    assert "left out broken.csv: there must be two classes" in " ".join(found.stderr.split())
    assert re.search(r"tables +[0-9.]+ s, 12 results from an earlier run", found.stdout)
    assert page(out) == page(run() / "study")


def test_plans_of_the_command():
    full, quick = StudyPlan.make(seed=3), StudyPlan.make(quick=True)
    assert full.known.targets == study_known.TARGETS
    assert (full.known.rows[0], full.known.rows[-1]) == (50, 10_000)
    assert full.known.seed == full.tables.seed == 3
    assert quick.known.targets < full.known.targets
    assert quick.tables.work < full.tables.work


def test_refuses_what_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for arguments, words in (
        (["study", str(tmp_path / "none"), "--out", str(tmp_path / "o")], "existing folder"),
        (["study", "--out", str(tmp_path / "file")], "--out must name a folder"),
    ):
        error = CliRunner().invoke(app, arguments).exception
        assert words in str(error)
    with pytest.raises(ValueError, match="n_jobs"):
        study(tmp_path / "o", n_jobs=0)
