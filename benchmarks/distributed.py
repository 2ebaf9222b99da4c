"""Growth on Dask collections: two processes beside a streamed fit in one, and LightGBM's Dask.

``python -m benchmarks distributed``, or ``python -m benchmarks.distributed 50000000`` for so many
rows of 40 columns of 0/1 in Parquet files. Prints the costs that ``benchmarks.simulation`` takes,
and what it predicts for the runs measured here.

Times are processor time of all processes together, and wall clock; on a busy machine only the
first of them means something.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import polars as pl
from distributed import Client, LocalCluster

import mictree as mt
from benchmarks.measure import report
from benchmarks.simulation import Costs, simulate, table

ROWS, COLUMNS, FILES, SPLITS = 2_000_000, 40, 8, 20
MOST_SECONDS = 120  # of a fit whose worker is killed, with one before it; LightGBM may never end
GROUP_ROWS, GROUPS = 2**17, 4  # rows of a group in a file, groups of a partition
NAMES = [f"c{number}" for number in range(COLUMNS)]
OPTIONS: dict[str, Any] = {
    "processes": True, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0,
    "silence_logs": 50,
}  # fmt: skip


def write(folder: Path, rows: int) -> None:
    """Two terms of three and four literals, with labels that are wrong in 5 of 100 rows."""
    for number in range(FILES):
        rng = np.random.default_rng(number)
        X = rng.integers(0, 2, (rows // FILES, COLUMNS), dtype=np.uint8)
        y = X[:, :3].all(axis=1) | X[:, 3:7].all(axis=1) | X[:, 7:12].all(axis=1)
        frame = {name: X[:, place] for place, name in enumerate(NAMES)}
        frame["label"] = (y ^ (rng.random(len(y)) < 0.05)).astype(np.uint8)
        pl.DataFrame(frame).write_parquet(folder / f"{number}.parquet", row_group_size=GROUP_ROWS)


def measured(client: Client | None, work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Processor time of this process and all workers, wall clock, and the result."""

    def processor() -> float:
        workers = client.run(time.process_time).values() if client else ()
        return time.process_time() + sum(workers)

    before, begin = processor(), time.perf_counter()
    done = work()
    wall = time.perf_counter() - begin
    return processor() - before, wall, done


def fit_local(folder: Path) -> mt.TopDownClassifier:
    problem = mt.SampleProblem.from_parquet(str(folder / "*.parquet"), "label")
    return mt.TopDownClassifier(max_size=SPLITS).fit(problem)


def read(folder: Path) -> Any:
    """Partitions of about half a million rows: larger frames cost more to allocate than to read."""
    return dd.read_parquet(folder, split_row_groups=GROUPS)


def fit_dask(folder: Path, size: int = SPLITS) -> mt.TopDownClassifier:
    frame = read(folder)
    return mt.TopDownClassifier(max_size=size).fit(frame[NAMES], frame["label"])


def fit_lightgbm(folder: Path) -> Any:
    """One tree of as many leaves; LightGBM bins and trains on the same collection."""
    import lightgbm

    frame = read(folder).persist()  # else Dask may cut X and y into different partitions
    learner = lightgbm.DaskLGBMClassifier(
        n_estimators=1, num_leaves=SPLITS + 1, learning_rate=1.0, min_child_samples=1, verbose=-1
    )
    return learner.fit(frame[NAMES], frame["label"])


def survives(fit: Callable[[Path], Any], folder: Path, after: float) -> str:
    """Whether a fit ends well though a worker is killed some seconds after it began."""
    with LocalCluster(n_workers=2, **OPTIONS) as cluster, Client(cluster) as client:
        fit(folder)  # kernels are loaded
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(after, os.kill, (victim, signal.SIGKILL))
        timer.start()
        try:
            fit(folder)
        except Exception as error:
            return f"no: {type(error).__name__}: {str(error)[:60]}"
        finally:
            timer.cancel()
        return "yes" if timer.finished.is_set() and not timer.is_alive() else "it was too fast"


def survives_in_time(fit: Callable[[Path], Any], folder: Path, after: float) -> str:
    """The same in a process of its own, which is ended with its workers if it takes too long."""
    processes = multiprocessing.get_context("spawn")
    answer, sender = processes.Pipe(duplex=False)
    trial = processes.Process(target=_send_answer, args=(sender, fit, folder, after))
    trial.start()
    sender.close()  # so that the pipe ends with the other process
    if not answer.poll(MOST_SECONDS):
        os.killpg(trial.pid or 0, signal.SIGKILL)
        return f"did not end within {MOST_SECONDS} s"
    try:
        return answer.recv()
    except EOFError:
        return "no: its process died"
    finally:
        trial.join()


def _send_answer(sender: Any, fit: Callable[[Path], Any], folder: Path, after: float) -> None:
    os.setpgid(0, 0)  # a group with its workers, apart from this benchmark
    sender.send(survives(fit, folder, after))


def costs_of(client: Client, folder: Path, rows: int) -> tuple[Costs, mt.TopDownClassifier]:
    """The simulation's costs, from fits of all rows and of hardly any."""
    whole, _, fitted = measured(client, lambda: fit_dask(folder))
    stump = measured(client, lambda: fit_dask(folder, 1))[0]
    rounds = fitted.rounds_.growth
    cells = rows * COLUMNS
    with tempfile.TemporaryDirectory() as small:
        write(Path(small), 64 * FILES)
        wall = measured(client, lambda: fit_dask(Path(small)))
        one = measured(client, lambda: fit_dask(Path(small), 1))
    per_round = max(1e-4, (wall[1] - one[1]) / max(1, wall[2].rounds_.growth - 1))
    counting = max(0.0, whole - stump) / max(1, rounds - 1)
    begin = time.perf_counter()
    client.gather(client.map(lambda number: number, range(2000), pure=False))
    task = (time.perf_counter() - begin) / 2000
    return Costs(stump / cells, 2 * counting / cells, task, per_round), fitted


def main(rows: int = ROWS, peers: bool = True) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows)
        fit_local(folder)
        alone = measured(None, lambda: fit_local(folder))
        for workers in (1, 2):
            with LocalCluster(n_workers=workers, **OPTIONS) as cluster, Client(cluster) as client:
                fit_dask(folder)
                costs, _ = costs_of(client, folder, rows)
                spent, wall, far = measured(client, lambda: fit_dask(folder))
                assert far.tree_ == alone[2].tree_
                title = f"{rows:,} rows, {workers} worker(s)"
                ratio = f"{spent / alone[0]:.2f}"
                report(f"{title}: processor time against a streamed fit", ratio, "<= 1.5, aim 1.1")
                print(f"  wall {wall:.2f} s; streamed {alone[1]:.2f} s")
                expected = simulate(
                    costs, rows, workers, partitions=FILES, rounds=far.rounds_.growth
                )
                print(f"  simulated wall {expected.total:.2f} s, mostly {expected.largest}")
                print(f"  {costs}")
                if workers == 2 and peers:
                    fit_lightgbm(folder)
                    other = measured(client, lambda: fit_lightgbm(folder))
                    print(f"  LightGBM: {other[0]:.2f} s of processor time, wall {other[1]:.2f} s")
        report(f"rounds of {SPLITS} splits", str(far.rounds_.growth), "<= 20, aim 7")
        print(f"  bytes of counts by round: {far.rounds_.sent}")
        if peers:
            print(f"  a killed worker: {survives_in_time(fit_dask, folder, wall / 2)}")
            killed = survives_in_time(fit_lightgbm, folder, other[1] / 2)
            print(f"  LightGBM, a killed worker: {killed}")
        print(table(costs))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
