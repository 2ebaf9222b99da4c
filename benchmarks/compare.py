"""compare on 5 folds, 10 times, with one worker and with two: the same results, how much sooner.

A worker has one core: one job alone would use both for a search. The figure is elapsed time, and so
of use only on a machine with two free cores; processor time shows whether workers do more work.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np
import psutil
from distributed import Client, LocalCluster
from joblib import parallel_config

import mictree as mt
from benchmarks.distributed import OPTIONS
from benchmarks.measure import report
from benchmarks.optimal import digits
from mictree._support.jit import one_core

SIZE, FOLDS, REPEATS = 4, 5, 10


def run(n_jobs: int) -> tuple[float, float, mt.Comparison]:
    """Elapsed time, processor time of all processes, and the result."""
    X, y = digits()
    before, begin = processor_time(), time.perf_counter()
    result = mt.compare(
        ["topdown", "sklearn"], X, y, SIZE, cv=FOLDS, repeats=REPEATS, time_limit=None,
        n_jobs=n_jobs,
    )  # fmt: skip
    return time.perf_counter() - begin, processor_time() - before, result


def processor_time() -> float:
    """Of this process and all that it started, as long as they live."""
    own = psutil.Process()
    times = [each.cpu_times() for each in (own, *own.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def on_dask() -> AbstractContextManager[Any]:
    """Within it, joblib uses two processes of a cluster."""
    stack = ExitStack()
    stack.enter_context(Client(stack.enter_context(LocalCluster(n_workers=2, **OPTIONS))))
    stack.enter_context(parallel_config(backend="dask"))
    return stack


def measured(within: Callable[[], AbstractContextManager[Any]], n_jobs: int) -> Any:
    with within():
        X, y = digits()
        mt.compare(["topdown", "sklearn"], X, y, 1, cv=2, repeats=1, n_jobs=n_jobs)  # compile
        return min((run(n_jobs) for _ in range(2)), key=lambda each: each[0])


def main() -> None:
    title = f"compare, {FOLDS} x {REPEATS} folds of digits"
    alone = measured(one_core, 1)
    report(f"{title}, one core", f"{alone[0]:.1f} s, {alone[1]:.1f} s of processor time")
    for name, within in (("loky", ExitStack), ("Dask", on_dask)):
        wall, used, result = measured(within, 2)
        for learner, held in alone[2].held_out.items():
            assert np.array_equal(held.errors, result.held_out[learner].errors), learner
        report(f"{title}, two workers of {name}", f"{wall:.1f} s, {used:.1f} s of processor time")
        report("  against one core", f"{alone[0] / wall:.2f} times", "1.6 times, aim 1.9")


if __name__ == "__main__":
    main()
