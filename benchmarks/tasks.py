"""Optimal trees for costs, policies and squared error, every threshold of every column.

Nobody else finds these trees. The promises are times of proofs, with kernels compiled, reading and
the greedy start included, and a ratio to the same search without costs. Processor time, as other
work disturbs it less. ``python -m benchmarks tasks``.
"""

from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

import mictree as mt
from benchmarks.measure import report
from benchmarks.ordered import timed

LIMIT = 120  # seconds


def solve(problem: mt.SampleProblem, size: int, depth: int | None = None):
    """The errors of all sizes; the largest tree is built too."""
    solved = mt.optimal_trees(problem, size, max_depth=depth, time_limit=LIMIT)
    solved.tree(size)
    return solved.errors


def proofs(name: str, make: Callable[[], mt.SampleProblem], wanted: dict[int, str]) -> None:
    """How long it takes to prove a size and all smaller ones."""
    solve(make(), 1)  # compiles
    for size, most in wanted.items():
        repeats = 3 if size < 4 else 1
        [(seconds, errors)] = timed(lambda s=size: solve(make(), s), repeats=repeats)
        proved = "proved" if errors.proved.all() else f"from {errors.lower[size]:.6g}"
        report(
            f"{name}, {size} splits: {proved} {errors.upper[size]:.6g}", f"{seconds:.3g} s", most
        )


def diabetes() -> mt.SampleProblem:
    X, y = load_diabetes(return_X_y=True)
    return mt.SampleProblem(X, y, loss="squared")


def policy() -> mt.SampleProblem:
    """2,000 rows of six normal columns, three actions whose costs depend on some of them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 6))
    effects = np.stack([X[:, 0] > 0, X[:, 1] * X[:, 2], X[:, 3] < 0.5], axis=1)
    return mt.SampleProblem(X, costs=random.normal(size=(2000, 3)) + effects)


def matrix() -> None:
    """With two classes, costs are weights of their rows."""
    X, y = load_breast_cancer(return_X_y=True)
    costs = [[0, 1], [5, 0]]
    works = [
        lambda: solve(mt.SampleProblem(X, y), 7, 3),
        lambda: solve(mt.SampleProblem(X, y, cost_matrix=costs), 7, 3),
    ]
    for work in works:
        work()  # compiles
    (plain, errors), (weighted, means) = timed(*works, repeats=3)
    assert errors.proved.all()
    assert means.proved.all()
    what = f"breast_cancer, cost matrix {costs}, depth 3: {weighted:.3g} s"
    report(what, f"{plain / weighted:.2f} x without costs", "at least 0.7, aim 0.9")


def main() -> None:
    wanted = {2: "at most 0.05 s", 3: "at most 2 s", 4: "at most 60 s, aim 20 s"}
    proofs("diabetes, 442 x 10, squared error", diabetes, wanted)
    wanted = {2: "at most 1 s, aim 0.2 s", 3: "at most 60 s, aim 10 s"}
    proofs("policy, 3 actions, 2,000 x 6 numbers", policy, wanted)
    matrix()


if __name__ == "__main__":
    main()
