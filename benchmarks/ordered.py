"""Optimal trees over every threshold of ordered columns, beside pycontree, which is optional.

pycontree finds one tree, with no limit but its depth; our search finds all sizes up to the largest
that the depth allows. Answers are asserted to be equal. Processor time, as other work disturbs it
less. ``python -m benchmarks ordered`` for all, ``python -m benchmarks.ordered wine iris`` for some.
"""

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import mictree as mt
from benchmarks.measure import report

PEER_SECONDS = 600
Table = tuple[np.ndarray, np.ndarray]


def digits() -> Table:
    X, y = load_digits(return_X_y=True)
    return X, (y == 8).astype(int)


def normal() -> Table:
    """20,000 rows of ten normal columns and a rule whose labels are wrong in 15 of 100 rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20000, 10)).round(6)
    y = ((X[:, 0] > 0.3) & (X[:, 1] < 0.5) | (X[:, 2] > 0.8)).astype(int)
    return X, y ^ (random.random(20000) < 0.15)


CASES: dict[str, Callable[[], Table]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": digits,
    "normal": normal,
}
WANTED = {2: {}, 3: {"normal": 0.5}}  # the least ratio where it is not 1


def find(X: np.ndarray, y: np.ndarray, size: int, depth: int | None, limit: float | None = None):
    """The errors of all sizes, from the values on."""
    problem = mt.SampleProblem(X, y)
    solved = mt.optimal_trees(problem, size, max_depth=depth, time_limit=limit)
    return (solved.errors.lower * len(y)).round(), (solved.errors.upper * len(y)).round()


def processor_time(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The shortest of several runs, and the last result."""
    times, result = [], None
    for _ in range(repeats):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


def beside_peer(name: str, depth: int, peer: Any) -> None:
    X, y = CASES[name]()
    size = 2**depth - 1
    find(X, y, 1, None)  # compiles
    repeats = 5 if depth == 2 or len(y) < 200 else 1
    seconds, (lower, mine) = processor_time(lambda: find(X, y, size, depth), repeats)
    assert np.array_equal(lower, mine)
    what = f"{name}, {X.shape[0]} x {X.shape[1]}, depth {depth}, sizes 1 to {size}: {seconds:.3g} s"
    if peer is None:
        report(what, str(mine[1:]))
        return

    def fit() -> Any:
        return peer(max_depth=depth, time_limit=PEER_SECONDS).fit(X, y)

    theirs, model = processor_time(fit, repeats)
    wrong = int((model.predict(X) != y).sum())
    late = theirs > 0.9 * PEER_SECONDS
    assert wrong == mine[size] or late, f"{name}: {mine[size]}, pycontree {wrong}"
    ratio = f"{'>' if late else ''}{theirs / seconds:.2f} x pycontree"
    report(what, ratio, f"at least {WANTED[depth].get(name, 1)}")


def any_depth() -> None:
    """Breast cancer without a limit of depth: when is each size proved?"""
    X, y = CASES["breast_cancer"]()
    for size, wanted in ((3, 2), (4, 60), (5, 60)):
        seconds, (lower, upper) = processor_time(lambda s=size: find(X, y, s, None, 120), 1)
        proved = "proved" if lower[size] == upper[size] else f"in {lower[size]:.0f} to"
        what = f"breast_cancer, size {size}: {proved} {upper[size]:.0f} errors"
        report(what, f"{seconds:.3g} s", f"at most {wanted} s{', an aim' if size == 5 else ''}")


def main(names: list[str] | None = None) -> None:
    try:
        peer = importlib.import_module("pycontree").ConTree
    except ImportError as error:
        report(f"pycontree is not installed ({error}); its runs are skipped", "")
        peer = None
    for depth in (2, 3):
        for name in names or CASES:
            beside_peer(name, depth, peer)
    if not names:
        any_depth()


if __name__ == "__main__":
    main(sys.argv[1:])
