"""The best tree at a price per split, beside imodels' FastSmallTreeClassifier and gosdt.

All get the same 0/1 columns. The peers price leaves, of which a tree has one more than splits: a
constant difference. Where two of them have a proof, the objectives are asserted to be equal. Times
are processor time, so that a busy machine counts less; a run that is not proved in ``SECONDS`` is
shown as "more than". Both peers are optional. ``python -m benchmarks.prices monks-2`` for some.
"""

import contextlib
import io
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import mictree as mt
from benchmarks.measure import report
from benchmarks.optimal import breast_cancer, wine
from tests.datasets import monks, tic_tac_toe

SECONDS = 30.0
PRICES = (0.02, 0.01, 0.005)
SLACK = 1e-6  # gosdt computes in 32-bit floats; the least step of an error is 1,000 times this
CASES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "monks-1": lambda: monks(1),
    "monks-2": lambda: monks(2),
    "monks-3": lambda: monks(3),
    "wine": wine,
    "breast_cancer": breast_cancer,
    "tic-tac-toe": tic_tac_toe,
}


class Answer(NamedTuple):
    """Processor time, the objective (error plus price of splits), and whether it is proved."""

    seconds: float
    objective: float
    proved: bool


def ours(X: np.ndarray, y: np.ndarray, price: float) -> Answer:
    begin = time.process_time()
    model = mt.OptimalTreeClassifier(penalty=price, time_limit=SECONDS).fit(X, y)
    seconds = time.process_time() - begin
    objective = 1 - model.score(X, y) + price * model.tree_.size
    return Answer(seconds, objective, model.proved_)


def imodels_answer(X: np.ndarray, y: np.ndarray, price: float) -> Answer:
    from imodels import FastSmallTreeClassifier

    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FastSmallTreeClassifier(regularization=price, time_limit=SECONDS).fit(X, y)
    seconds = time.process_time() - begin
    return Answer(seconds, model.objective_ - price, bool(model.optimal_))


def gosdt_answer(X: np.ndarray, y: np.ndarray, price: float) -> Answer:
    from gosdt import GOSDTClassifier

    model = GOSDTClassifier(regularization=price, time_limit=int(SECONDS), allow_small_reg=True)
    begin = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(TimeoutError):
        model.fit(X.astype(bool), y)
        seconds = time.process_time() - begin
        result: Any = model.result_
        proved = result.upperbound - result.lowerbound <= SLACK
        return Answer(seconds, result.upperbound - price, proved)
    return Answer(time.process_time() - begin, float("nan"), False)


def find_peers() -> dict[str, Callable[..., Answer]]:
    found = {}
    for name, answer in {"imodels": imodels_answer, "gosdt": gosdt_answer}.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                __import__(name)
        except ImportError as error:
            report(f"{name} is not installed ({error}); its runs are skipped", "")
        else:
            found[name] = answer
    return found


def main(names: tuple[str, ...] = ()) -> None:
    peers = find_peers()
    for answer in (ours, *peers.values()):  # compile
        answer(*monks(1), 0.1)
    for name in names or CASES:
        X, y = CASES[name]()
        for price in PRICES:
            own = ours(X, y, price)
            proof = "proved" if own.proved else "not proved"
            report(
                f"{name} at {price}: objective {own.objective:.5f}, {proof}", f"{own.seconds:.2f} s"
            )
            for peer, answer in peers.items():
                other = answer(X, y, price)
                check(name, price, peer, own, other)
                ratio = other.seconds / max(own.seconds, 1e-3)
                shown = f"{ratio:.2f} times" if other.proved else f"> {ratio:.2f} times"
                report(f"    {peer}: objective {other.objective:.5f}", shown, "1 times")


def check(name: str, price: float, peer: str, own: Answer, other: Answer) -> None:
    """Proved objectives are equal, and none is above one that was found."""
    case = f"{name} at {price}: mictree {own}, {peer} {other}"
    if own.proved and other.proved:
        assert abs(own.objective - other.objective) <= SLACK, case
    if own.proved and not np.isnan(other.objective):
        assert own.objective <= other.objective + SLACK, case
    if other.proved:
        assert other.objective <= own.objective + SLACK, case


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
