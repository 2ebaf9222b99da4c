"""Independent work gives the same results on every backend of joblib."""

import os
import signal
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from distributed import Client
from typer.testing import CliRunner

import mictree as mt
from mictree._support import jit
from mictree._support.parallel import spread
from mictree._support.progress import ignore
from mictree.cli import app
from mictree.cli import options as workers
from mictree.comparison import run
from mictree.experiments import finite_samples, sample_size
from mictree.experiments.cache import Cache
from mictree.optimal.questions import Workers
from mictree.report import run as report
from mictree.report.atlas import run as atlas
from mictree.report.atlas.run import SHARES
from mictree.report.claims import Clock
from tests.quick_atlas import SMALL

BACKENDS = ("threading", "loky", "dask")
FINITE = finite_samples.Plan(
    (2, 2), biases=((0.5, 0.5),), rows=(50, 80), repetitions=2, test_rows=100, max_size=3
)
SIZES = sample_size.Plan((sample_size.Case("two", (2, 2), 3),), rows=(50, 80), repetitions=2)


@pytest.fixture(params=BACKENDS)
def backend(request, client):
    with joblib.parallel_config(backend=request.param):
        yield request.param


@pytest.fixture(scope="module")
def finite_sample():
    return finite_samples.finite_samples(FINITE, n_jobs=1)


def test_finite_samples(backend, tmp_path, finite_sample):
    found = finite_samples.finite_samples(FINITE, Cache(tmp_path), n_jobs=2)
    again = finite_samples.finite_samples(FINITE, Cache(tmp_path), n_jobs=2)
    for result in (found, again):
        frames = [each.settings[0].frame.drop("seconds") for each in (result, finite_sample)]
        assert frames[0].equals(frames[1])


def test_sample_sizes(backend):
    expected = sample_size.sample_sizes(SIZES, n_jobs=1)
    found = sample_size.sample_sizes(SIZES, n_jobs=2)
    assert found.cases[0].frame.equals(expected.cases[0].frame)


def atlas_frames(cache, n_jobs):
    clock = Clock(cache, ignore, shares=SHARES, what="the atlas")
    return dict(atlas.compute(SMALL, cache, clock, n_jobs).frames())


@pytest.fixture(scope="module")
def atlas_of_one_job(tmp_path_factory):
    return atlas_frames(Cache(tmp_path_factory.mktemp("one")), 1)


def test_every_stage_of_the_atlas(backend, tmp_path, atlas_of_one_job):
    """Kept results too are the same: a run with one job finds all those of a run with two."""
    for n_jobs in (2, 1):
        cache = Cache(tmp_path)
        found = atlas_frames(cache, n_jobs)
        assert all(frame.equals(found[name]) for name, frame in atlas_of_one_job.items())
    assert cache.computed == 0


def test_select_size(backend):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 5))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(120) < 0.1)
    choices = [
        mt.select_size(mt.TopDownClassifier(max_size=6), X, y, n_jobs=jobs) for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(choices[0].scores, choices[1].scores)
    assert choices[0].size == choices[1].size


def test_sweeps_over_many_biases(backend):
    grids = [mt.families.grid(2, 3, biases=(bias,)) for bias in (0.3, 0.5, 0.6)]
    expected = [mt.sweep(grid, 6) for grid in grids]
    found = mt.sweep.many(grids, 6, n_jobs=2)
    assert all(one.equals(other) for one, other in zip(found, expected, strict=True))


def compared(**options) -> mt.Comparison:
    """Rows that are no small argument, so that joblib would scatter them."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 9))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(400) < 0.2)
    return mt.compare("topdown", X, y, 3, time_limit=None, repeats=2, **options)


def assert_same(found: mt.Comparison, expected: mt.Comparison) -> None:
    for name in ("topdown", "optimal"):
        np.testing.assert_array_equal(found.held_out[name].errors, expected.held_out[name].errors)
    np.testing.assert_array_equal(found.unproved_folds, expected.unproved_folds)


def test_compare(backend):
    assert_same(compared(n_jobs=2), compared(n_jobs=1))


def test_calls_at_once_share_the_cores(backend):
    cores = spread(_cores, [(n,) for n in range(4)], 2)
    assert 2 * max(cores) <= max(2, joblib.cpu_count())


def _cores(number: int) -> int:
    return jit.usable_cores()


def test_only_one_call_after_another_uses_all_cores(monkeypatch):
    monkeypatch.setattr(jit, "CORES", 4)
    with joblib.parallel_config(backend="threading"):
        assert [list(spread(_cores, [(0,), (1,)], n)) for n in (1, 2)] == [[4, 4], [1, 1]]


def test_the_search_of_a_fold_uses_one_core(monkeypatch):
    workers: list[int] = []
    planned = Workers.__init__

    def watched(self, *arguments, **options):
        planned(self, *arguments, **options)
        workers.append(self.workers)

    monkeypatch.setattr(jit, "CORES", 4)
    monkeypatch.setattr(Workers, "__init__", watched)
    with joblib.parallel_config(backend="threading"):
        compared(n_jobs=2)
    assert workers == [4] + [1] * 10  # all rows, then the folds


def test_starting_workers_takes_nothing_of_the_time_limit(monkeypatch):
    left, limits = iter([60.0, 60.0, 0.0]), []  # all rows; the folds; workers have started
    learned = run._learn_fold

    def learn(*arguments):
        limits.append(arguments[-1])
        return learned(*arguments)

    monkeypatch.setattr(run, "_learn_fold", learn)
    X = np.arange(120).reshape(60, 2) % 7
    weights = np.arange(60) % 3 / 3
    options = {"max_size": 2, "cv": 3, "repeats": 1, "sample_weight": weights}
    expected = mt.compare("topdown", X, X[:, 0] > 3, **options)
    monkeypatch.setattr(run.TimeLimit, "left", lambda self: next(left))
    with joblib.parallel_config(backend="threading"):
        found = mt.compare("topdown", X, X[:, 0] > 3, n_jobs=2, time_limit=60, **options)
    assert limits == [40.0] * 3  # two of three folds at once
    assert_same(found, expected)


def test_a_worker_that_dies_changes_no_comparison(own_cluster):
    """joblib puts large arguments on one worker or the other; both deaths must be survived."""
    expected = compared(n_jobs=1)
    with Client(own_cluster) as client, joblib.parallel_config(backend="dask"):
        for place in (0, 1):
            victim = living(client)[place]
            dead = threading.Event()

            def watch(progress, victim=victim, dead=dead) -> None:
                if progress.what == "folds" and progress.share > 0 and not dead.is_set():
                    dead.set()
                    os.kill(victim, signal.SIGKILL)

            found = compared(n_jobs=2, progress=watch)
            assert dead.is_set()
            assert_same(found, expected)
            assert victim not in living(client, victim).values()


def living(client: Client, dead: int | None = None) -> dict[int, int]:
    """The processes of both workers, by name, once a dead one has been replaced."""
    for _ in range(300):
        client.wait_for_workers(2, timeout=60)
        found = client.run(os.getpid, on_error="ignore")
        known = client.scheduler_info(n_workers=-1)["workers"]
        if len(found) == 2 and dead not in found.values() and found.keys() <= known.keys():
            return {known[address]["name"]: process for address, process in found.items()}
        time.sleep(0.2)
    raise AssertionError("no two workers within a minute")


def test_many_sweeps_need_a_seed():
    with pytest.raises(ValueError, match="random ties must have a seed"):
        mt.sweep.many([mt.families.grid(2, 2)], 3, [mt.TopDown(ties="random")])


def test_results_come_in_the_order_of_the_calls():
    with joblib.parallel_config(backend="threading"):
        assert list(spread(divmod, [(7, 2), (9, 4)], 2)) == [(3, 1), (2, 1)]
    assert list(spread(divmod, [(7, 2)], None)) == [(3, 1)]
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0; got 0"):
        list(spread(divmod, [], 0))


def test_a_command_uses_a_running_cluster(cluster):
    with workers.on_workers(cluster.scheduler_address, None) as n_jobs:
        assert joblib.effective_n_jobs(n_jobs) == 2
        assert len(set(spread(_process, [(0,), (1,), (2,), (3,)], n_jobs)) - {os.getpid()}) >= 1
    with workers.on_workers(None, None) as n_jobs:
        assert n_jobs is None


@pytest.mark.parametrize("running", [True, False])
def test_mictree_data_on_a_cluster(cluster, tmp_path, running):
    rng = np.random.default_rng(0)
    flags, levels = rng.integers(0, 2, 120), rng.integers(0, 9, 120)
    labels = (flags == 1) & (levels > 4) ^ (rng.random(120) < 0.1)
    rows = zip(flags, levels, labels, strict=True)
    lines = ["flag,level,label", *(f"{a},{b},{int(c)}" for a, b, c in rows)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines))
    options = ["data", str(table), "--target", "label", "--max-size", "2", "--cv", "3"]
    options += ["--repeats", "1", "--learner", "topdown"]
    where = ["--scheduler", cluster.scheduler_address] if running else ["--workers", "2"]
    results = [CliRunner().invoke(app, [*options, *more]) for more in ((), where)]
    assert [each.exit_code for each in results] == [0, 0]
    assert results[0].stdout == results[1].stdout


def test_mictree_reproduce_on_a_cluster(cluster, tmp_path, monkeypatch):
    """The experiments themselves are tested above."""
    given = []

    def run(out, quick, progress, n_jobs):
        given.append((n_jobs, set(spread(_process, [(n,) for n in range(8)], n_jobs))))
        return report.Run(tmp_path / "report.html", (), ())

    monkeypatch.setattr(report, "reproduce", run)
    where = ["--scheduler", cluster.scheduler_address]
    result = CliRunner().invoke(app, ["reproduce", "--quick", "--out", str(tmp_path), *where])
    assert result.exit_code == 0, result.exception
    ((n_jobs, processes),) = given
    assert n_jobs == -1
    assert os.getpid() not in processes


def _process(number: int) -> int:
    return os.getpid()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--workers", "0"), "--workers must be at least 1; got 0"),
        (("--workers", "1", "--scheduler", "tcp://x:1"), "exclude each other"),
        (("--scheduler", "nonsense://x"), "must be the address of a running Dask scheduler"),
        (("--scheduler", "tcp://127.0.0.1:1"), "must be the address of a running Dask scheduler"),
    ],
)
def test_bad_options(options, message, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "SECONDS", 1)
    result = CliRunner().invoke(app, ["reproduce", "--out", str(tmp_path / "out"), *options])
    assert isinstance(result.exception, ValueError)
    assert message in str(result.exception)


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ValueError, match=r"need the extra dask: pip install 'mictree\[dask\]'"),
        workers.on_workers(None, 1),
    ):
        pass
