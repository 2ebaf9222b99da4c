"""Optimal trees of every size on data, beside pystreed and pydl8.5, which are optional.

pystreed solves one size at a time, so a frontier is the sum of its runs; our search finds all sizes
at once. Answers are asserted to be equal. ``python -m benchmarks optimal`` for all,
``python -m benchmarks.optimal wine digits`` for some; a peer's run is cut off after
``PEER_SECONDS``, and the ratio is then a lower bound.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import mictree as mt
from benchmarks.estimators import binary_data
from benchmarks.measure import best_time, peak_memory, report
from tests.datasets import monks, tic_tac_toe

PEER_SECONDS = 300.0
GIGABYTES = 6
Bits = tuple[np.ndarray, np.ndarray]


def quantile_bits(X: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    cuts = np.quantile(X, shares, axis=0)
    return np.concatenate([cut < X for cut in cuts], axis=1).astype(np.uint8)


def wine() -> Bits:
    X, y = load_wine(return_X_y=True)
    return quantile_bits(X, (0.25, 0.5, 0.75)), (y == 1).astype(int)


def breast_cancer() -> Bits:
    X, y = load_breast_cancer(return_X_y=True)
    return quantile_bits(X, (1 / 3, 2 / 3)), y


def digits() -> Bits:
    X, y = load_digits(return_X_y=True)
    return (X >= 8).astype(np.uint8), (y == 8).astype(int)


# name: data, largest size beside pystreed, least ratio, largest size to prove within a minute
CASES: dict[str, tuple[Callable[[], Bits], int, int, int]] = {
    "tic-tac-toe": (tic_tac_toe, 8, 30, 10),
    "wine": (wine, 8, 30, 10),
    "breast_cancer": (breast_cancer, 5, 30, 10),
    "digits": (digits, 5, 30, 8),
    "dnf": (lambda: binary_data(2000), 5, 30, 10),
    "monks-2": (lambda: monks(2), 10, 10, 10),
}


def find_peer() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pystreed import STreeDClassifier
    except ImportError as error:
        report(f"pystreed is not installed ({error}); its runs are skipped", "")
        return None
    return STreeDClassifier


def peer_frontier(peer: Any, X: np.ndarray, y: np.ndarray, size: int) -> tuple[float, list[int]]:
    """Seconds for sizes 1, 2, ... in turn and their errors, until the time is up."""
    begin = time.perf_counter()
    errors = []
    for nodes in range(1, size + 1):
        left = PEER_SECONDS - (time.perf_counter() - begin)
        if left <= 1:
            break
        started = time.perf_counter()
        model = peer(
            "accuracy", max_depth=min(nodes, 20), max_num_nodes=nodes, time_limit=int(left)
        )
        model.fit(X, y)
        late = time.perf_counter() - started > 0.95 * int(left)
        if late or not model.is_fitted():
            break  # what it returns when its time is up is not proved
        errors.append(int((model.predict(X) != y).sum()))
    return time.perf_counter() - begin, errors


def frontier(name: str, peer: Any) -> None:
    make, size, wanted, largest = CASES[name]
    X, y = make()
    problem = mt.SampleProblem(X, y)
    mine = mt.optimal_trees(problem, size)
    seconds = best_time(lambda: mt.optimal_trees(problem, size), 1)
    wrong = (mine.errors * len(y)).round().astype(int).tolist()
    what = f"{name}, {X.shape[0]} x {X.shape[1]}, sizes 1 to {size}: {seconds:.3g} s"
    if peer is None:
        report(what, str(wrong[1:]))
    else:
        theirs, errors = peer_frontier(peer, X, y, size)
        cut = len(errors) < size
        assert errors == wrong[1 : len(errors) + 1], f"{name}: {wrong[1:]}, pystreed {errors}"
        sign = ">" if cut else ""
        report(what, f"{sign}{theirs / seconds:.0f} x pystreed", f"at least {wanted}")
        if cut:
            report(f"    pystreed: cut off at size {len(errors) + 1} after {theirs:.0f} s", "")
    begin = time.perf_counter()
    solved = mt.optimal_trees(problem, largest, time_limit=60, memory_limit=GIGABYTES * 2**30)
    took = time.perf_counter() - begin
    proved = int(np.argmin([*solved.errors.proved, False])) - 1
    report(
        f"    size {largest} in {took:.3g} s, {solved.sub_problems:,} sub-problems, "
        f"{peak_memory() / 1000:.2g} GB",
        f"proved to {proved}",
        f"{largest} in 60 s",
    )


def depth_four(peer: Any) -> None:
    """No limit of size but the depth's own, as pystreed and pydl8.5 have it."""
    for name in ("tic-tac-toe", "monks-2", "wine", "breast_cancer", "dnf"):
        X, y = CASES[name][0]()
        problem = mt.SampleProblem(X, y)
        seconds = best_time(lambda p=problem: mt.optimal_trees(p, 15, max_depth=4), 1)
        errors = mt.optimal_errors(problem, 15, max_depth=4)
        wrong = round(errors[-1] * len(y))
        report(f"{name}, max_depth=4: {seconds:.3g} s, {wrong} errors", "")
        if peer is not None:
            begin = time.perf_counter()
            model = peer("accuracy", max_depth=4, time_limit=int(PEER_SECONDS)).fit(X, y)
            theirs, found = time.perf_counter() - begin, int((model.predict(X) != y).sum())
            assert found == wrong, f"pystreed finds {found} errors, we {wrong}"
            report(f"    pystreed: {theirs:.3g} s", f"{theirs / seconds:.2f} x pystreed", "aim 1")
        try:
            from pydl85 import DL85Classifier
        except ImportError as error:
            report(f"    pydl8.5 is not installed ({error})", "")
            continue
        begin = time.perf_counter()
        model = DL85Classifier(max_depth=4, time_limit=int(PEER_SECONDS)).fit(X, y)
        theirs, found = time.perf_counter() - begin, int(model.error_)
        same = "" if found == wrong else f", ANOTHER ANSWER {found}"
        report(f"    pydl8.5: {theirs:.3g} s{same}", f"{theirs / seconds:.2f} x pydl8.5", "1")


def intervals() -> None:
    """What is certain of digits beyond the last proved size; it depends on the machine."""
    X, y = digits()
    errors = mt.optimal_errors(mt.SampleProblem(X, y), 10, time_limit=20)
    ends = zip((errors.lower * len(y)).round(), (errors.upper * len(y)).round(), strict=True)
    for size, (lower, upper) in enumerate(ends):
        if size > 6:
            aim = "at least 19" if size == 10 else ""
            report(f"digits, size {size} in 20 s", f"[{lower:.0f}, {upper:.0f}]", aim)


def main(names: list[str] | None = None) -> None:
    peer = find_peer()
    for name in names or [*CASES, "depth", "intervals"]:
        if name == "depth":
            depth_four(peer)
        elif name == "intervals":
            intervals()
        else:
            frontier(name, peer)


if __name__ == "__main__":
    main(sys.argv[1:])
