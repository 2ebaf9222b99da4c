"""What is known when time is up: intervals, how fast they close, and the best trees found.

Made-up tables, or with ``--folder DIR`` the tables there: files ``numbers-*.csv.gz`` whose first
column is the label. Peers are optional: pycontree and licketysplit. A peer's tree is compared with
ours of the same number of splits, found in ``--seconds`` for all sizes together. Time is processor
time of one peer; ours may use all cores, so its limit is given by the clock. ``python -m
benchmarks anytime`` for all, ``python -m benchmarks.anytime --quick`` for small tables.
"""

import argparse
import importlib
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mictree as mt
from benchmarks.measure import report

SIZES = range(3, 9)
PENALTIES = (0.001, 0.003, 0.006, 0.01, 0.02, 0.03)  # a leaf's, of licketysplit
# rows, size, seconds and the least lower bound, or none
INTERVALS = ((10_000, 5, 20, 0.08), (100_000, 5, 20, 0.06), (1_000_000, 3, 20, 0.15))
Table = tuple[np.ndarray, np.ndarray]


class Rival(NamedTuple):
    """A tree of a peer."""

    name: str
    splits: int
    wrong: int
    seconds: float


def two_terms(rows: int, columns: int = 10, seed: int = 0) -> Table:
    """A noisy rule of two terms on numbers, 15 of 100 labels flipped."""
    random = np.random.default_rng(seed)
    X = random.random((rows, columns))
    y = (X[:, :2] > 0.5).all(axis=1) | (X[:, 2:5] > 0.5).all(axis=1)
    return X, (y ^ (random.random(rows) < 0.15)).astype(int)


def clouds(rows: int, classes: int, seed: int) -> Table:
    """Normal clouds around random places, some of them of one class."""
    random = np.random.default_rng(seed)
    centres, labels = random.normal(size=(3 * classes, 8)), np.arange(3 * classes) % classes
    which = random.integers(0, len(centres), rows)
    return centres[which] + random.normal(scale=0.8, size=(rows, 8)), labels[which]


def tables(folder: str | None, quick: bool) -> Iterator[tuple[str, Table]]:
    """The tables on which best trees are compared."""
    if folder is not None:
        for path in sorted(Path(folder).glob("numbers-*.csv.gz")):
            table = np.loadtxt(path, delimiter=",", skiprows=1)
            yield path.name, (table[:, 1:], np.unique(table[:, 0], return_inverse=True)[1])
        return
    for rows in (2_000,) if quick else (2_000, 10_000, 50_000):
        yield f"two terms, {rows:,} rows", two_terms(rows, seed=1)
        classes = 2 if rows < 50_000 else 5
        yield f"clouds of {classes} classes, {rows:,} rows", clouds(rows, classes, seed=2)


def area(history: Any, sizes: range, seconds: float) -> float:
    """The mean over sizes of the gap between the bounds, averaged over the time."""
    means = []
    for size in sizes:
        rows = history.filter(history["size"] == size).sort("seconds")
        times = np.minimum(np.append(rows["seconds"].to_numpy(), seconds), seconds)
        gaps = (rows["upper"] - rows["lower"]).to_numpy()
        # before the first row nothing is known: the whole gap of that row
        means.append((gaps[0] * times[0] + (gaps * np.diff(times)).sum()) / seconds)
    return float(np.mean(means))


def intervals(quick: bool) -> None:
    """The interval at the end, and the area between both bounds over the time."""
    for rows, size, seconds, wanted in INTERVALS[: 1 if quick else None]:
        limit = 5 if quick else seconds
        problem = mt.SampleProblem(*two_terms(rows))
        mt.optimal_errors(problem, 2, time_limit=0.1)  # loads kernels
        errors: Any = mt.optimal_errors(problem, max(SIZES), time_limit=limit)
        report(
            f"two terms, {rows:,} x 10, {size} splits, {limit} s",
            f"[{errors.lower[size]:.3f}, {errors.upper[size]:.3f}]", f"lower at least {wanted}",
        )  # fmt: skip
        report(
            "    mean gap over the time and sizes 3 to 8",
            f"{area(errors.history, SIZES, limit):.3f}",
        )


def peer(module: str) -> Any:
    """An optional peer, or None."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        report(f"{module} is not installed ({error}); its runs are skipped", "")
        return None


def timed(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[int, float]:
    """How many rows a peer labels wrongly, and its processor time."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it ran out of time
        model.fit(X, y)
    seconds = time.process_time() - begin
    return int((model.predict(X) != y).sum()), seconds


def rivals(table: Table, seconds: float, contree: Any, lickety: Any) -> Iterator[Rival]:
    """The trees of the peers."""
    X, y = table
    for depth in (2, 3) if contree else ():
        model = contree.ConTree(max_depth=depth, time_limit=seconds)
        wrong, spent = timed(model, X, y)
        yield Rival("pycontree", int(model.get_num_branching_nodes()), wrong, spent)
    if lickety is None:
        return
    binned = lickety.ThresholdGuessBinarizer(n_estimators=30, max_depth=2).fit_transform(X, y)
    for penalty in PENALTIES:
        for depth in (4, 5, 6):
            model = lickety.LicketySPLITClassifier(lambda_leaf=penalty, depth_budget=depth)
            wrong, spent = timed(model, np.asarray(binned), y)
            yield Rival("licketysplit", len(model.leaf_paths()) - 1, wrong, spent)


def best_trees(folder: str | None, quick: bool, seconds: float) -> None:
    """Our trees of all sizes beside those of peers with as many splits."""
    contree, lickety = peer("pycontree"), peer("licketysplit")
    for name, (X, y) in tables(folder, quick):
        problem = mt.SampleProblem(X, y)
        mt.optimal_errors(problem, 2, time_limit=0.1)
        greedy = mt.TopDown().grow(problem, max(SIZES)).errors * len(y)
        begin = time.process_time()
        errors: Any = mt.optimal_errors(problem, max(SIZES), time_limit=seconds)
        spent, mine = time.process_time() - begin, (errors.upper * len(y)).round().astype(int)
        found = f"{np.asarray(mine)[SIZES.start :].tolist()} in {spent:.1f} s"
        report(f"{name}, {X.shape[1]} columns, greedy {greedy[SIZES.start :].round().astype(int)}",
               found)  # fmt: skip
        assert np.all(mine <= greedy.round() + 0.5)
        best: dict[tuple[str, int], Rival] = {}
        for rival in rivals((X, y), seconds, contree, lickety):
            key = rival.name, rival.splits
            if rival.splits in SIZES and (key not in best or rival.wrong < best[key].wrong):
                best[key] = rival
        for rival in best.values():
            what = f"    {rival.name}, {rival.splits} splits, {rival.seconds:.1f} s: {rival.wrong}"
            ours = int(mine[rival.splits])
            verdict = (
                "better" if ours < rival.wrong else "equal" if ours == rival.wrong else "WORSE"
            )
            report(what, f"{ours} {verdict}", "never worse")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.anytime")
    parser.add_argument("--quick", action="store_true", help="small tables and short limits")
    parser.add_argument("--folder", help="of tables numbers-*.csv.gz")
    parser.add_argument("--seconds", type=float, default=10.0, help="for the best trees")
    parser.add_argument("--only", choices=("intervals", "trees"))
    given = parser.parse_args([] if arguments is None else arguments)
    if given.only != "trees":
        intervals(given.quick)
    if given.only != "intervals":
        best_trees(
            given.folder, given.quick, min(given.seconds, 3) if given.quick else given.seconds
        )


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
