"""Forked and spawned children, and threads, compute what their parent computed before them."""

import os
import runpy
import subprocess
import sys
import textwrap
import threading
from unittest import mock

import numpy as np
import pytest

import mictree as mt
from mictree._support import jit as _jit
from mictree.families.family import grid

TIMEOUT = 300  # seconds; a child that waits for its parent's threads waits for ever

SCRIPT = """
import multiprocessing
import sys
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import numpy as np
import polars as pl
from joblib import Parallel, delayed
from pathlib import Path
import mictree as mt


def work(folder):
    rng = np.random.default_rng(0)
    frame = mt.sweep(mt.families.grid(6, 6), 60, out=folder / f"{uuid.uuid4()}.parquet")
    formula = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([2, 3, 4, 5, 6, 7]))
    table = mt.TableProblem(rng.integers(0, 2, 2**10))
    sample = mt.SampleProblem(rng.integers(0, 2, (300, 14)), rng.integers(0, 2, 300))
    return frame, [
        mt.optimal_errors(formula, 200).tolist(),
        mt.optimal_errors(table, 200).tolist(),
        mt.optimal_errors(sample, 4).tolist(),
    ]


def gather(kind, method, folders):
    if kind == "pool":
        with multiprocessing.get_context(method).Pool(2) as pool:
            return pool.map(work, folders)
    if kind == "executor":
        with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
            return list(pool.map(work, folders))
    if kind == "threads":
        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(work, folders))
    return Parallel(n_jobs=2, backend=kind)(delayed(work)(folder) for folder in folders)


if __name__ == "__main__":
    place, *kinds = sys.argv[1:]
    expected = work(Path(place))
    for kind, method in (each.split() for each in kinds):
        folder = Path(place, f"{kind}-{method}")
        folder.mkdir()
        found = [*gather(kind, method, 3 * [folder]), work(folder)]
        assert [errors for _, errors in found] == 4 * [expected[1]]
        written = [pl.read_parquet(path) for path in folder.glob("*.parquet")]
        assert len(written) == 4
        frames = [*written, *(frame for frame, _ in found)]
        assert all(expected[0].equals(frame) for frame in frames)
        print(kind, method, flush=True)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("processes") / "script.py"
    path.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    runpy.run_path(str(path))["work"](path.parent)  # compiling may take longer than any wait
    return path


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(
            [
                "pool fork",
                "executor fork",
                "multiprocessing -",
            ],  # the last is joblib's, which forks
            marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
        ),
        ["pool spawn", "executor spawn", "loky -"],
        ["threading -", "threads -"],
    ],
    ids=["forked", "spawned", "threads"],
)
def test_workers_of_every_kind(script, kinds, tmp_path):
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), *kinds],
        env={**os.environ, "NUMBA_NUM_THREADS": "4"},
        capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == kinds, done.stderr


def answers() -> list[np.ndarray]:
    """Results of every kernel that ``run`` calls."""
    rng = np.random.default_rng(0)
    rules = [mt.TopDown(), mt.BestFirst(ties="random", seed=5)]
    frame = mt.sweep(grid(4, 4), rules=rules)
    functions = mt.sweep(mt.families.functions(3, bias=0.3), 7, rules)
    formula = mt.FormulaProblem("a & b | c & d & e | f & g & h & i", bias=0.3)
    table = mt.TableProblem(rng.integers(0, 2, 2**6), probabilities=rng.dirichlet(np.ones(2**6)))
    solved = [frame["mic"].to_numpy(), frame["largest_excess"].to_numpy()]
    solved += [functions["mic"].to_numpy(), functions["greedy_size_worst"].to_numpy()]
    for exact in (False, True):
        solved += [mt.optimal_errors(problem, 20, exact) for problem in (formula, table)]
    return solved


def test_the_number_of_threads_changes_no_number():
    expected = answers()
    for cores in (1, 2, 3, 16):
        with mock.patch.multiple(_jit, CORES=cores, PARALLEL_WORK=0.0):
            for computed, reference in zip(answers(), expected, strict=True):
                assert computed.tolist() == reference.tolist()


@pytest.mark.parametrize("count", [0, 1, 7, 100, 1001])
@pytest.mark.parametrize("cores", [1, 2, 5])
def test_every_number_is_in_one_range(count, cores):
    done = np.zeros(count, dtype=int)

    def kernel(start, stop, out):
        out[start:stop] += 1

    with mock.patch.object(_jit, "CORES", cores):
        _jit.run(kernel, count, 1e9, done)
    assert done.tolist() == [1] * count


def test_little_work_starts_no_thread():
    threads = set()
    _jit.run(lambda *_: threads.add(threading.get_ident()), 100, _jit.PARALLEL_WORK - 1)
    assert threads == {threading.get_ident()}


def test_no_thread_outlives_a_call():
    before = threading.active_count()
    with mock.patch.object(_jit, "CORES", 4):
        _jit.run(lambda *_: None, 100, 1e9)
    assert threading.active_count() == before


def test_what_a_thread_raises_is_raised():
    def kernel(start, stop):
        if start > 50:
            raise MemoryError(start)

    with mock.patch.object(_jit, "CORES", 2), pytest.raises(MemoryError):
        _jit.run(kernel, 100, 1e9)


def test_ctrl_c_leaves_the_rest_undone():
    """The threads finish the ranges they have begun and begin no other."""
    started = []
    interrupted = threading.Event()

    def kernel(start, stop):
        if stop:  # the call of an empty range comes first
            started.append(start)
            assert interrupted.wait(TIMEOUT)

    def result(future, timeout=None):
        while len(started) < 2:
            pass
        threading.Timer(0.1, interrupted.set).start()
        raise KeyboardInterrupt

    with (
        mock.patch.object(_jit, "CORES", 2),
        mock.patch("concurrent.futures._base.Future.result", result),
        pytest.raises(KeyboardInterrupt),
    ):
        _jit.run(kernel, 100, 1e9)
    assert len(started) == 2
