"""Growing regression trees beside scikit-learn: one thread, the same tree, reading included.

300,000 rows of 20 numbers with all thresholds, 63 splits, in processor time: numbers that all
differ, weights, labels far from 0, few values. Both trees are compared by their mean squared
errors; where they differ, the line says whose is lower.
"""

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import mictree as mt
from benchmarks.measure import processor_time, report

ROWS, COLUMNS, SIZE = 300_000, 20, 63


def gaussian(rows: int = ROWS, columns: int = COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    """Inputs that 32 bits hold, as scikit-learn reads them, and labels of a smooth function."""
    random = np.random.default_rng(0)
    X = random.standard_normal((rows, columns)).astype(np.float32).astype(float)
    noise = 0.5 * random.standard_normal(rows)
    return X, X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + noise


def beside(
    name: str, X: Any, y: Any, wanted: str = "", weights: Any = None, size: int = SIZE
) -> None:
    """Grow on a table, and fit scikit-learn's tree of the same size."""
    repeats = 3 if len(y) > 50_000 else 10

    def ours() -> mt.Growth:
        problem = mt.SampleProblem(X, y, weights, loss="squared")
        return mt.TopDown().grow(problem, size)

    other = DecisionTreeRegressor(max_leaf_nodes=size + 1, random_state=0)
    fast = processor_time(ours, repeats)
    slow = processor_time(lambda: other.fit(X, y, weights), 1 if len(y) > 50_000 else 5)
    error = ours().errors[-1]
    theirs = np.average((other.predict(X) - y) ** 2, weights=weights)
    agree = "the same error"
    if abs(error - theirs) > 1e-9 * error:
        agree = f"{'lower' if error < theirs else 'HIGHER'} error by {abs(error / theirs - 1):.1g}"
    report(f"{name}: {1000 * fast:.3g} ms, {agree}", f"{slow / fast:.1f} x sklearn", wanted)


def costs(X: np.ndarray, y: np.ndarray) -> None:
    """Costs of three actions beside the same rows' classes."""
    best = np.digitize(y, [-0.5, 0.5])
    actions = (np.arange(3) - best[:, None]) ** 2
    rule = mt.TopDown("minority")
    problems = mt.SampleProblem(X, best), mt.SampleProblem(X, costs=actions)
    plain, weighed = (
        processor_time(lambda problem=problem: rule.grow(problem, SIZE), 2) for problem in problems
    )
    name = f"grow {len(y):,} x {X.shape[1]} by costs of 3 actions: {1000 * weighed:.3g} ms"
    report(name, f"{plain / weighed:.1f} x classes")


def main() -> None:
    X, y = gaussian()
    random = np.random.default_rng(1)
    beside(f"fit {ROWS:,} x {COLUMNS} numbers", X, y, "at least 5, aim 12")
    beside("    with weights", X, y, weights=random.random(ROWS))
    beside("    of one decimal place", X.round(1), y)
    beside("    labels around 1,000,000, in cents", X, (1e6 + y).round(2))
    beside("    labels with a heavy tail", X, random.pareto(1.5, ROWS))
    beside("    10,000 x 10", X[:10_000, :10], y[:10_000])
    bits = (random.random((100_000, 38)) < 0.5).astype(np.uint8)
    score = bits[:, 0] * bits[:, 1] + 2 * bits[:, 2] * bits[:, 3] + random.standard_normal(100_000)
    beside("    100,000 x 38 bytes of 0 and 1, 20 splits", bits, score, size=20)
    beside("    diabetes, 20 splits", *load_diabetes(return_X_y=True), size=20)
    costs(X, y)


if __name__ == "__main__":
    main()
