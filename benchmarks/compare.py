"""compare on 5 folds, 10 times, with one worker and with two: the same results, how much sooner.

The figure is elapsed time, and so of use only on a machine with two free cores.
"""

import time

import numpy as np

import mictree as mt
from benchmarks.measure import report
from benchmarks.optimal import digits

SIZE, FOLDS, REPEATS = 4, 5, 10


def run(workers: int) -> tuple[float, mt.Comparison]:
    X, y = digits()
    begin = time.perf_counter()
    result = mt.compare(
        ["topdown", "sklearn"], X, y, SIZE, cv=FOLDS, repeats=REPEATS, time_limit=None,
        n_jobs=workers,
    )  # fmt: skip
    return time.perf_counter() - begin, result


def main() -> None:
    X, y = digits()
    for workers in (1, 2):  # compile, and start the workers
        mt.compare(["topdown", "sklearn"], X, y, 1, cv=2, repeats=1, n_jobs=workers)
    alone, one = run(1)
    together, other = run(2)
    for name, held in one.held_out.items():
        assert np.array_equal(held.errors, other.held_out[name].errors), name
    report(f"compare, {FOLDS} x {REPEATS} folds of digits, one worker", f"{alone:.1f} s")
    report("two workers against one", f"{alone / together:.2f} times", "1.6 times")


if __name__ == "__main__":
    main()
