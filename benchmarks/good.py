"""All good trees: how long counting takes beside the least errors, and drawing beside counting.

Wall time of one run each, kernels compiled before. ``python -m benchmarks.good``.
"""

import time

from sklearn.datasets import load_breast_cancer

import mictree as mt
from benchmarks.measure import report

SIZES = "3+3+4+5+3+4+3+5+4+4"  # of the terms of the paper's formula of 38 variables
SPLITS = 8
SAMPLES = 10_000


def formula() -> None:
    """Counts of all optimal trees up to 8 splits, and uniform samples of them."""
    problem = mt.FormulaProblem.from_sizes(SIZES)
    begin = time.perf_counter()
    good = mt.good_trees(problem, SPLITS)
    seconds = time.perf_counter() - begin
    assert not any(good.ended)
    report(f"{SIZES}, sizes to {SPLITS}: {good.counts[-1]:,} trees", f"{seconds:.2f} s", "10 s")
    begin = time.perf_counter()
    trees = good.sample(SPLITS, SAMPLES, seed=0)
    seconds = time.perf_counter() - begin
    assert {tree.size for tree in trees} == {SPLITS}
    report(f"{SAMPLES:,} of them at random", f"{seconds:.2f} s", "1 s")


def breast_cancer() -> None:
    """Counts within 1% on data, and those of the best alone, beside the least errors."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = mt.SampleProblem(X, y, max_thresholds=8)
    begin = time.perf_counter()
    errors = mt.optimal_errors(problem, 4)
    alone = time.perf_counter() - begin
    report("breast_cancer, 8 thresholds a column, sizes to 4: optimal_errors", f"{alone:.2f} s")
    for within, aim in ((0, f"{3 * alone:.2f} s"), (0.01, "60 s")):
        begin = time.perf_counter()
        good = mt.good_trees(problem, 4, within)
        seconds = time.perf_counter() - begin
        assert not any(good.ended)
        assert list(map(float, good.optimal_errors)) == list(map(float, errors))
        report(f"    within {within}: {good.counts[-1]:,} trees", f"{seconds:.2f} s", aim)
    begin = time.perf_counter()
    good.sample(4, SAMPLES, seed=0)
    report(f"    {SAMPLES:,} of them at random", f"{time.perf_counter() - begin:.2f} s", "1 s")


def main() -> None:
    mt.good_trees(mt.FormulaProblem("a & b | c"), 2)  # compile
    mt.good_trees(mt.SampleProblem([[0.5, 1.0], [1.5, 2.0], [2.5, 1.0]], [0, 1, 0]), 2)
    formula()
    breast_cancer()


if __name__ == "__main__":
    main()
