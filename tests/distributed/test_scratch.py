"""Sweeps whose rows of least errors lie on a disk."""

import os
import subprocess
import sys
from collections import namedtuple

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import mictree as mt
from mictree._support import files
from mictree._support.checks import TooLarge
from mictree.cli import app

RULES = [mt.TopDown(), mt.BestFirst(ties="lightest")]
ROOM = 3 * 2**20  # enough for the graph of the family, not for its rows


def family():
    return mt.families.up_to(24)


def test_the_frame_is_that_of_a_sweep_in_memory(tmp_path):
    with pytest.raises(TooLarge, match="must fit into memory_limit"):
        mt.sweep(family(), 60, RULES, memory_limit=ROOM)
    found = mt.sweep(family(), 60, RULES, memory_limit=ROOM, scratch=tmp_path)
    assert_frame_equal(found, mt.sweep(family(), 60, RULES), check_exact=True)
    assert os.listdir(tmp_path) == []


def test_a_disk_that_is_too_small_is_refused_before_the_work(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(files.shutil, "disk_usage", lambda folder: usage(10**6, 0, 10**6))
    said = []
    with pytest.raises(TooLarge, match=r"must fit on the disk of .*they need 0\.00\d+ GiB"):
        mt.sweep(family(), 60, RULES, scratch=tmp_path, progress=said.append)
    assert not said
    assert os.listdir(tmp_path) == []


def test_an_interrupted_sweep_leaves_no_scratch_and_goes_on(tmp_path):
    out, place = tmp_path / "mic.parquet", tmp_path / "scratch"
    place.mkdir()

    def interrupt(progress):
        if progress.what != "optimal errors" and progress.share > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mt.sweep(family(), 60, RULES, out, progress=interrupt, scratch=place)
    assert os.listdir(place) == []
    assert any(tmp_path.glob("mic.parquet.partial/rows-*"))
    said = []
    frame = mt.sweep(family(), 60, RULES, out, progress=said.append, scratch=place)
    assert "optimal errors" not in {each.what for each in said}  # all were kept
    assert_frame_equal(frame, mt.sweep(family(), 60, RULES), check_exact=True)
    assert {path.name for path in tmp_path.iterdir()} == {"mic.parquet", "scratch"}


def test_a_killed_process_leaves_no_scratch(tmp_path):
    code = """
import os, signal, sys
import mictree as mt
def kill(progress):
    os.kill(os.getpid(), signal.SIGKILL)
mt.sweep(mt.families.up_to(12), 20, ["topdown"], progress=kill, scratch=sys.argv[1])
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    assert done.returncode != 0
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_scratched(tmp_path):
    with pytest.raises(ValueError, match="scratch is for families of formulas"):
        mt.sweep(mt.families.functions(3), 7, scratch=tmp_path)
    with pytest.raises(ValueError, match="scratch must be an existing folder"):
        mt.sweep(family(), 7, scratch=tmp_path / "none")


def test_the_command(tmp_path):
    out = tmp_path / "mic.parquet"
    result = CliRunner().invoke(
        app, ["sweep", "--variables", "12", "--max-size", "20", "--memory", "0.001",
              "--scratch", str(tmp_path), "--out", str(out)],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert_frame_equal(pl.read_parquet(out), mt.sweep(mt.families.up_to(12), 20), check_exact=True)
