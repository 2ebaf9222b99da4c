"""All good trees: how long counting takes beside the least errors, and drawing beside counting.

Processor time of one run each, kernels compiled before. Then arborenum, which is optional, lists
the trees within a margin of a penalised objective, which must be those that are counted here; its
trees with useless splits of pure leaves are left out. ``python -m benchmarks.good``.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import mictree as mt
from benchmarks.measure import processor_time, report
from tests.datasets import monks, tic_tac_toe

SIZES = "3+3+4+5+3+4+3+5+4+4"  # of the terms of the paper's formula of 38 variables
SPLITS = 8
SAMPLES = 10_000
TABLES: dict[str, Callable[[], Any]] = {
    "tic-tac-toe": tic_tac_toe,
    "monks-2": lambda: monks(2),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
}
EQUAL = 40  # random tables that arborenum lists, too

Paths = frozenset[tuple[int, ...]]  # of a tree's leaves: signed numbers of columns, from 1


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """A result, and the processor time that it took."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def formula() -> None:
    """Counts of all optimal trees up to 8 splits, and uniform samples of them."""
    problem = mt.FormulaProblem.from_sizes(SIZES)
    good, seconds = timed(lambda: mt.good_trees(problem, SPLITS))
    assert not any(good.ended)
    report(f"{SIZES}, sizes to {SPLITS}: {good.counts[-1]:,} trees", f"{seconds:.2f} s", "10 s")
    trees, seconds = timed(lambda: good.sample(SPLITS, SAMPLES, seed=0))
    assert {tree.size for tree in trees} == {SPLITS}
    report(f"{SAMPLES:,} of them at random", f"{seconds:.2f} s", "1 s")


def data(name: str) -> None:
    """Counts within 1%, and those of the best alone, beside the least errors."""
    problem = mt.SampleProblem(*TABLES[name](), max_thresholds=8)
    errors = mt.optimal_errors(problem, 4)
    alone = processor_time(lambda: mt.optimal_errors(problem, 4))
    report(f"{name}, 8 thresholds a column, sizes to 4: optimal_errors", f"{alone:.2f} s")
    best = processor_time(lambda: mt.good_trees(problem, 4))
    report("    within 0", f"{best:.2f} s, {best / alone:.1f} x optimal_errors", "aim 3 x")
    good, seconds = timed(lambda: mt.good_trees(problem, 4, 0.01))
    assert not any(good.ended)
    assert list(map(float, good.optimal_errors)) == list(map(float, errors))
    report(f"    within 0.01: {good.counts[-1]:,} trees", f"{seconds:.2f} s", "60 s")
    _, seconds = timed(lambda: good.sample(4, SAMPLES, seed=0))
    report(f"    {SAMPLES:,} of them at random", f"{seconds:.2f} s", "1 s")
    _, seconds = timed(lambda: good.shares(4))
    report("    shares of all columns", f"{seconds:.2f} s")
    _, seconds = timed(lambda: good.variables)
    report("    least errors with and without each column", f"{seconds:.2f} s")


def equality() -> None:
    """The same trees as arborenum's, on random 0/1 tables."""
    try:
        from arborenum import ArborEnum
    except ImportError as error:
        report(f"arborenum is not installed ({error}); its sets are not compared", "")
        return
    listed = 0
    for seed in range(EQUAL):
        random = np.random.default_rng(seed)
        rows, columns = int(random.choice([10, 20, 40])), int(random.integers(2, 5))
        X = random.integers(0, 2, (rows, columns))
        y = X[:, 0] ^ (random.random(rows) < 0.2) if seed % 2 else random.integers(0, 2, rows)
        price, depth = int(random.choice([1, 2])), int(random.integers(2, 4))
        margin = Fraction(int(random.choice([1, 3])), 10)
        peer = ArborEnum().fit_binarized(
            X, y, lambda_reg=price / rows, depth_budget=depth, rashomon_mult=float(margin),
            lookahead_k=depth - 1, key_mode="exact", majority_leaf_only=True,
        )  # fmt: skip
        bound = int((1 + margin) * peer.get_min_objective() + Fraction(1, 2))
        theirs = penalised_by(peer, X, y.astype(int))
        assert penalised(X, y, price, depth, bound) == theirs, f"table {seed}"
        listed += len(theirs)
    report(f"arborenum lists the same trees of {EQUAL} random tables", f"{listed:,} trees")


def penalised_by(peer: Any, X: np.ndarray, y: np.ndarray) -> dict[Paths, int]:
    """The peer's trees with their objectives, without those that split a pure leaf."""
    found = {}
    for number in range(peer.count_trees()):
        paths = frozenset(map(tuple, peer.get_tree_paths(number)[0]))
        inner = {path[:end] for path in paths for end in range(len(path))}
        if not any(is_pure(X, y, path) for path in inner):
            found[paths] = int(peer.get_tree_objective(number)[0])
    return found


def is_pure(X: np.ndarray, y: np.ndarray, path: tuple[int, ...]) -> bool:
    """Whether the rows on a path have one label."""
    held = np.ones(len(y), dtype=bool)
    for test in path:
        held &= X[:, abs(test) - 1] == (test > 0)
    return len(set(y[held].tolist())) < 2


def penalised(X: np.ndarray, y: Any, price: int, depth: int, bound: int) -> dict[Paths, int]:
    """The trees whose errors and price per leaf are at most a bound, from those of all sizes."""
    problem, found = mt.SampleProblem(X, y), {}
    good = mt.good_trees(problem, min(2**depth - 1, bound // price), 1)
    for size in range(len(good)):
        for tree in good.trees(size):
            leaves = tree.walk(problem, exact=True)
            errors = sum(leaves[leaf].error for leaf in tree.leaves) * len(y)
            objective = int(errors) + price * (size + 1)
            if objective > bound:
                break  # the others of this size err more
            if tree.depth <= depth:
                found[paths_of(tree)] = objective
    return found


def paths_of(tree: mt.Tree) -> Paths:
    """The paths to a tree's leaves, as arborenum has them."""
    paths, found = {0: ()}, set()
    for node in range(len(tree.tests)):
        if tree.tests[node] < 0:
            found.add(paths[node])
            continue
        test = tree.tests[node] + 1
        paths[tree.low[node]] = (*paths[node], -test)
        paths[tree.high[node]] = (*paths[node], test)
    return frozenset(found)


def main() -> None:
    mt.good_trees(mt.FormulaProblem("a & b | c"), 2)  # compile
    mt.good_trees(mt.SampleProblem([[0.5, 1.0], [1.5, 2.0], [2.5, 1.0]], [0, 1, 0]), 2)
    formula()
    for name in TABLES:
        data(name)
    equality()


if __name__ == "__main__":
    main()
