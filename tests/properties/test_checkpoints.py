"""Sweeps that are killed, short of disk, damaged or doubled: the same frame or a clear error."""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from collections import namedtuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from mictree._support import files as _files
from mictree._support import files as _partial
from mictree._support.files import KeptRows, Partial, resumable
from mictree.families import sweep
from mictree.families import sweep as sweeps
from mictree.families.family import grid
from mictree.families.graph import build
from mictree.optimal.program import perfect_sizes, row_starts

FAMILY = grid(3, 2, (0.4, 0.5))
MAX_SIZE = 12
RULES = (mt.TopDown(), mt.BestFirst(ties="random", seed=3))


@pytest.fixture(autouse=True)
def _many_small_blocks(monkeypatch):
    monkeypatch.setattr(sweep, "SECONDS", 0.0)
    monkeypatch.setattr(sweep, "BLOCK", 30)
    monkeypatch.setattr(_partial, "BLOCK_NUMBERS", 150)


@pytest.fixture(scope="module")
def whole():
    return mt.sweep(FAMILY, MAX_SIZE, RULES)


WRITES = 12  # of one sweep: its state, six layers of rows, four blocks of growth, its result


def run(path, **changes):
    return mt.sweep(
        **({"family": FAMILY, "max_size": MAX_SIZE, "rules": RULES} | changes), out=path
    )


def stop_after(name):
    """A progress function that interrupts a sweep when all of a stage is done."""

    def stop(stage):
        if stage.what.startswith(name) and stage.share == 1:
            raise KeyboardInterrupt

    return stop


def interrupted(path):
    """Interrupt a sweep just before its end; returns its partial folder."""
    with pytest.raises(KeyboardInterrupt):
        run(path, progress=stop_after("bestfirst"))
    return path.with_name(f"{path.name}.partial")


def nth(number, function, error):
    """A function that raises an error when it is called for the given time."""
    calls = iter(range(1, 10**9))

    def call(*arguments):
        if next(calls) == number:
            raise error
        return function(*arguments)

    return call


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_at_every_step_and_50_times_in_a_row(tmp_path):
    program = [sys.executable, "-m", "tests.properties.killed_sweeps", str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {
        kind: (int(killed), int(states))
        for kind, killed, states in (line.split() for line in done.stdout.splitlines()[-2:])
    }
    assert found["steps"][0] > 50
    assert found["steps"][1] > 40
    assert found["rows"][0] == 50
    assert found["rows"][1] > 25


def test_what_is_kept_is_not_computed_again(tmp_path, whole, monkeypatch):
    path = tmp_path / "mic.parquet"
    folder = interrupted(path)
    assert len(list(folder.glob("rows-*"))) > 3
    assert len(list(folder.glob("rule-*"))) == 4
    with monkeypatch.context() as patch:
        patch.setattr(sweep, "fill_batch", None)
        patch.setattr(sweep.FamilyGrowth, "compare", None)
        assert run(path).equals(whole)
    assert list(tmp_path.iterdir()) == [path]


def damages(content):
    """Versions of a file that differ from what was written."""
    for place in {0, 31, 32, len(content) // 2, len(content) - 1}:
        yield content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    yield from (b"", content[:-1], content[:-8], content + bytes(8), bytes(len(content)))


def test_damaged_files(tmp_path, whole):
    kept = interrupted(tmp_path / "mic.parquet")
    path = tmp_path / "another" / "mic.parquet"
    path.parent.mkdir()
    folder = path.with_name("mic.parquet.partial")
    for file in sorted(kept.iterdir()):
        for content in damages(file.read_bytes()):
            shutil.copytree(kept, folder)
            (folder / file.name).write_bytes(content)
            assert run(path).equals(whole), file.name
            assert pl.read_parquet(path).equals(whole)
            assert not folder.exists()


def test_swapped_files(tmp_path, whole):
    folder = interrupted(tmp_path / "mic.parquet")
    for kind in ("rows", "rule"):
        one, other, *_ = sorted(folder.glob(f"{kind}-*"))
        content = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(content)
    assert run(tmp_path / "mic.parquet").equals(whole)


def test_blocks_of_another_run_are_not_used(tmp_path):
    """A run that draws its own seed does not take up blocks that were grown with another."""
    rules, family = [mt.BestFirst(ties="random")], grid(4, 4)  # many ties: seeds differ in results
    sweep = []
    for name in ("one", "other"):
        path = tmp_path / f"{name}.parquet"
        with pytest.raises(KeyboardInterrupt):
            run(path, rules=rules, family=family, progress=stop_after("bestfirst"))
        sweep.append(path.with_name(f"{path.name}.partial"))
    for block in sweep[0].glob("r*-*"):
        shutil.copy(block, sweep[1])
    frame = run(tmp_path / "other.parquet", rules=rules, family=family)
    seed = int(pl.read_parquet_metadata(tmp_path / "other.parquet")["mictree.seeds"].strip("[]"))
    again = [mt.BestFirst(ties="random", seed=seed)]
    assert frame.equals(run(None, rules=again, family=family))


CHANGES = {
    "biases": {"family": grid(3, 2, (0.4, 0.5 + 1e-14))},
    "family": {"family": grid(2, 3, (0.4, 0.5))},
    "size": {"max_size": 11},
    "class": {"rules": (mt.ID3(), RULES[1])},
    "criterion": {"rules": (mt.TopDown("gini"), RULES[1])},
    "ties": {"rules": (mt.TopDown(ties="first"), RULES[1])},
    "seed": {"rules": (RULES[0], mt.BestFirst(ties="random", seed=4))},
    "order": {"rules": RULES[::-1]},
    "fewer rules": {"rules": RULES[:1]},
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_parameters_start_anew(tmp_path, change):
    path = tmp_path / "mic.parquet"
    interrupted(path)
    visited = []
    frame = run(path, **CHANGES[change], progress=visited.append)
    assert visited[0].what == "optimal errors"
    assert frame.equals(run(None, **CHANGES[change]))


@pytest.mark.parametrize("name", ["code_version", "library_versions", "__version__"])
def test_other_versions_start_anew(tmp_path, monkeypatch, whole, name):
    path = tmp_path / "mic.parquet"
    interrupted(path)
    monkeypatch.setattr(sweeps, name, "2.0" if name == "__version__" else lambda: "2.0")
    visited = []
    assert run(path, progress=visited.append).equals(whole)
    assert visited[0].what == "optimal errors"


def test_a_class_of_the_same_name_starts_anew():
    class TopDown(mt.BestFirst):
        pass

    assert repr(TopDown()) == repr(mt.TopDown())
    details = [sweeps._details(FAMILY, [rule]) for rule in (TopDown(), mt.TopDown())]
    assert details[0] != details[1]


@pytest.mark.parametrize(
    ("operation", "error", "message"),
    [
        ("posix_fallocate", OSError(errno.ENOSPC, "full"), "no space left on the disk of .* needs"),
        ("fsync", OSError(errno.ENOSPC, "full"), "no space left on the disk of .* needs"),
        ("fsync", KeyboardInterrupt("typed"), "typed"),
    ],
)
def test_a_full_disk_or_ctrl_c_at_any_write(
    tmp_path, whole, monkeypatch, operation, error, message
):
    path = tmp_path / "mic.parquet"
    ordinary = getattr(os, operation)
    for number in range(1, WRITES + 1):
        with monkeypatch.context() as patch:
            patch.setattr(os, operation, nth(number, ordinary, error))
            with pytest.raises(type(error), match=message):
                run(path)
        assert not path.exists()
        left = os.listdir(path.with_name("mic.parquet.partial"))
        assert not [name for name in left if name.endswith(_files.UNFINISHED)]
        assert len(left) == number - 1
        assert run(path).equals(whole)
        assert os.listdir(tmp_path) == ["mic.parquet"]
        path.unlink()


def test_a_disk_that_is_too_small_is_refused_at_once(tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(1000))
    visited = []
    with pytest.raises(OSError, match=r"no space left .*: mic.parquet.partial needs \d\.\d kB"):
        run(tmp_path / "mic.parquet", progress=visited.append)
    assert not visited


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    with contextlib.suppress(OSError):
        if subprocess.run(mount, capture_output=True).returncode == 0:
            yield folder
            subprocess.run(["umount", str(folder)], check=True)
            return
    pytest.skip("needs the right to mount")


@pytest.mark.slow
def test_a_full_disk_on_the_command_line(small_disk):
    path = small_disk / "mic.parquet"
    command = [sys.executable, "-m", "mictree", "sweep", "--terms", "7", "--literals", "7"]
    command += ["--out", str(path)]
    built = build(grid(7, 7), 2**30)
    numbers = int(row_starts(np.minimum(perfect_sizes(built.graph), 100) + 1)[-1])
    for size, needs in (
        (2**20, f"{small_disk}: mic.parquet.partial needs {8 * numbers / 1e6:.0f} MB"),
        (8 * numbers + 5 * 4096, f"{path}.partial: rule-0-1-3432 needs 82.4 kB"),
    ):
        _resize(small_disk, size)
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert done.stderr == f"mictree: no space left on the disk of {needs}\n"
    _resize(small_disk, 2**24)
    subprocess.run(command, capture_output=True, check=True)
    assert pl.read_parquet(path).equals(mt.sweep(grid(7, 7)))
    assert list(small_disk.iterdir()) == [path]


def _resize(disk, size):
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


class TestTwoWriters:
    def test_the_second_is_refused_and_the_first_goes_on(self, tmp_path, whole):
        path = tmp_path / "mic.parquet"
        refused = []

        def second(stage):
            with pytest.raises(ValueError, match=f"one process may write {path} at a time"):
                run(path, max_size=5)
            refused.append(stage)
            assert run(tmp_path / "another.parquet").equals(whole)

        assert run(path, progress=second).equals(whole)
        assert len(refused) > 5
        assert pl.read_parquet(path).equals(whole)

    @pytest.mark.slow
    def test_two_processes(self, tmp_path):
        path = tmp_path / "mic.parquet"
        command = [
            sys.executable,
            "-m",
            "mictree",
            "sweep",
            "--variables",
            "20",
            "--out",
            str(path),
        ]
        both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                 stdout=subprocess.DEVNULL) for _ in range(2)]  # fmt: skip
        for process in both:
            _, shown = process.communicate()
            if process.returncode:
                assert process.returncode == 2
                assert shown.count("\n") == 1
                assert "another is writing it now" in shown
        assert 0 in [process.returncode for process in both]
        assert pl.read_parquet(path).equals(mt.sweep(mt.families.up_to(20)))
        assert list(tmp_path.iterdir()) == [path]

    def test_a_disk_without_locks(self, tmp_path, whole, monkeypatch):
        def no_locks(descriptor):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(_files, "_lock", no_locks)
        assert run(tmp_path / "mic.parquet").equals(whole)
        assert [each.name for each in tmp_path.iterdir()] == ["mic.parquet"]


def test_the_folder_is_removed_meanwhile(tmp_path):
    path = tmp_path / "folder" / "mic.parquet"
    path.parent.mkdir()
    with pytest.raises(FileNotFoundError, match=r"cannot write .*: its folder does not exist"):
        run(path, progress=lambda stage: shutil.rmtree(path.parent, ignore_errors=True))
    assert not path.parent.exists()


def test_a_folder_as_destination_is_refused_at_once(tmp_path):
    path = tmp_path / "mic.parquet"
    path.mkdir()
    with pytest.raises(ValueError, match="must name a file"):
        run(path)


def test_leftovers_are_removed(tmp_path, whole):
    path = tmp_path / "mic.parquet"
    folder = interrupted(path)
    (folder / f".rows-0.0123abcd{_files.UNFINISHED}").write_bytes(b"half")

    def seen(stage):
        assert not list(folder.glob(f".*{_files.UNFINISHED}"))

    assert run(path, progress=seen).equals(whole)
    assert list(tmp_path.iterdir()) == [path]


@given(st.data())
def test_rows_are_kept_in_any_order_and_pieces(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("rows")
    lengths = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=12))
    order = np.array(data.draw(st.permutations(range(len(lengths)))))
    stops = sorted(data.draw(st.sets(st.integers(1, len(lengths)), min_size=1)))
    start = np.concatenate([[0], np.cumsum(lengths)])
    values = np.arange(start[-1], dtype=float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_partial, "BLOCK_NUMBERS", data.draw(st.integers(1, 20)))
        with resumable(folder / "result", "key", {}) as partial:
            rows = KeptRows(partial, order, start, values)
            assert rows.done == 0
            for stop in stops:
                rows.keep(stop)
            assert rows.done == stops[-1]
    lost = data.draw(st.sampled_from([None, *sorted((folder / "result.partial").glob("rows-*"))]))
    if lost is not None:
        lost.unlink()
    with resumable(folder / "result", "key", {}) as partial:
        found = np.full(len(values), np.inf)
        done = KeptRows(partial, order, start, found).done
    assert done == (stops[-1] if lost is None else int(lost.name.split("-")[1]))
    for place, row in enumerate(order):
        part = slice(start[row], start[row + 1])
        expected = values[part] if place < done else np.full(lengths[row], np.inf)
        np.testing.assert_array_equal(found[part], expected)


def test_without_a_destination_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    partial = Partial(None, "key", {"seed": 1})
    partial.write("name", np.ones(3))
    assert partial.read("name") is None
    assert partial.block("name", lambda: np.ones((2, 3))).tolist() == [1] * 6
    assert not list(tmp_path.iterdir())


def test_a_resumed_run_keeps_its_state(tmp_path):
    """Random seeds, say: what the first run drew counts, and its blocks are used."""
    with resumable(tmp_path / "out", "key", {"seed": 1}) as first:
        first.write("block", np.arange(3.0))
    with resumable(tmp_path / "out", "key", {"seed": 2}) as again:
        found = again.read("block")
        assert again.state == {"seed": 1}
        assert found is not None
        assert found.tolist() == [0, 1, 2]
