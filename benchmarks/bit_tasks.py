"""Optimal trees for numbers and costs on 0/1 columns, beside pystreed, which is optional.

Processor time of one run each, with all that a user calls; we find all sizes to 7 within depth 3,
pystreed the best tree of depth 3. Then 20 tables, on which both must have the same answer.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

import mictree as mt
from benchmarks.estimators import binary_data
from benchmarks.measure import processor_time, report
from benchmarks.optimal import quantile_bits

DEPTH, SIZE = 3, 7
Numbers = tuple[np.ndarray, np.ndarray]


def with_noise(X: np.ndarray, y: np.ndarray) -> Numbers:
    """A number to predict: the label, and as much again at random."""
    return X, y + np.random.default_rng(0).normal(0, 0.3, len(y))


def diabetes() -> Numbers:
    X, y = load_diabetes(return_X_y=True)
    return quantile_bits(X, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)), y


def breast_cancer() -> Numbers:
    X, y = load_breast_cancer(return_X_y=True)
    return with_noise(quantile_bits(X, (0.25, 0.5, 0.75)), y)


def wine() -> Numbers:
    X, y = load_wine(return_X_y=True)
    return with_noise(quantile_bits(X, (0.2, 0.35, 0.5, 0.65, 0.8)), y)


def digits() -> Numbers:
    X, y = load_digits(return_X_y=True)
    return with_noise((X >= 8).astype(np.uint8), y)


def dnf() -> Numbers:
    X, y = binary_data(2000)
    return with_noise(X[:, :60], y)


TABLES: dict[str, Callable[[], Numbers]] = {
    "diabetes": diabetes,
    "breast_cancer": breast_cancer,
    "wine": wine,
    "digits": digits,
    "dnf": dnf,
}


def find_peer() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pystreed
    except ImportError as error:
        report(f"pystreed is not installed ({error}); its runs are skipped", "")
        return None
    return pystreed


def all_sizes(X: np.ndarray, y: np.ndarray) -> mt.OptimalTrees:
    problem = mt.SampleProblem(X, y, loss="squared")
    return mt.optimal_trees(problem, SIZE, max_depth=DEPTH)


def regression(peer: Any) -> None:
    faster = 0
    for name, make in TABLES.items():
        X, y = make()
        mine = processor_time(lambda X=X, y=y: all_sizes(X, y))
        errors = all_sizes(X, y).errors
        assert errors.proved.all()
        what = f"{name}, {X.shape[0]} x {X.shape[1]}, sizes 1 to {SIZE}: {1000 * mine:.1f} ms"
        if peer is None:
            report(what, f"{errors[-1]:.4f}")
            continue
        for task in ("regression", "cost-complex-regression"):  # the second is the default
            model = peer.STreeDRegressor(task, max_depth=DEPTH, cost_complexity=0.0)
            theirs = processor_time(lambda model=model, X=X, y=y: model.fit(X, y))
            error = float(np.mean((model.predict(X) - y) ** 2))
            assert np.isclose(error, errors[-1]), f"{name}: {errors[-1]}, pystreed {error}"
            report(what, f"{theirs / mine:.2f} x pystreed", f"1, aim 3 ({task})")
            faster += theirs >= mine and task == "regression"
    if peer is not None:
        report("tables on which all sizes take no longer than pystreed's one", str(faster), "3")


def equality(peer: Any) -> None:
    """Twenty tables of each task, all with the same answer."""
    if peer is None:
        return
    checks = {
        "regression": same_numbers, "cost matrices": same_matrix, "costs by row": same_costs,
    }  # fmt: skip
    for name, check in checks.items():
        begin = time.process_time()
        random = np.random.default_rng(1)
        for _ in range(20):
            rows, columns = int(random.integers(40, 200)), int(random.integers(4, 16))
            X = (random.random((rows, columns)) < random.uniform(0.2, 0.8, columns)).astype(int)
            mine, theirs = check(peer, X, random)
            assert np.isclose(mine, theirs), f"{name}: {mine}, pystreed {theirs}"
        report(f"{name}: 20 tables in {time.process_time() - begin:.1f} s", "20 equal", "20")


def same_numbers(peer: Any, X: np.ndarray, random: np.random.Generator) -> tuple[float, float]:
    y = X[:, 0] * 2 + X[:, 1] * X[:, 2] + random.normal(0, 0.5, len(X))
    model = peer.STreeDRegressor("regression", max_depth=DEPTH).fit(X, y)
    return all_sizes(X, y).errors[-1], float(np.mean((model.predict(X) - y) ** 2))


def same_matrix(peer: Any, X: np.ndarray, random: np.random.Generator) -> tuple[float, float]:
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (random.random(len(X)) < 0.2)).clip(0, 2)
    y[:3] = range(3)
    matrix = random.integers(1, 9, (3, 3)) * (1 - np.eye(3, dtype=int))
    problem = mt.SampleProblem(X, y, cost_matrix=matrix)
    # pystreed's other costs are those of testing a column: none
    free = peer.CostSpecifier(matrix.astype(float).tolist(), free_columns(peer, X.shape[1]))
    model = peer.STreeDCostSensitiveClassifier(max_depth=DEPTH).fit(X, y, free)
    cost = matrix[y, model.predict(X).astype(int)].mean()
    return mt.optimal_errors(problem, SIZE, max_depth=DEPTH)[-1], float(cost)


def free_columns(peer: Any, count: int) -> list[Any]:
    return [peer.FeatureCostSpecifier(0.0, 0.0, f"x{each}", each, each) for each in range(count)]


def same_costs(peer: Any, X: np.ndarray, random: np.random.Generator) -> tuple[float, float]:
    costs = random.integers(0, 9, (len(X), 3)) + 3 * X[:, :1] * np.array([[0, 1, 2]])
    problem = mt.SampleProblem(X, costs=costs)
    model = peer.STreeDInstanceCostSensitiveClassifier(max_depth=DEPTH).fit(X, costs.astype(float))
    chosen = model.predict(X).astype(int)
    cost = costs[np.arange(len(X)), chosen].mean()
    return mt.optimal_errors(problem, SIZE, max_depth=DEPTH)[-1], float(cost)


def main() -> None:
    peer = find_peer()
    regression(peer)
    equality(peer)


if __name__ == "__main__":
    main()
