"""When a small forest of small trees passes the best single tree.

The error of a majority vote is computed exactly, over all inputs. It is compared with the best
single tree of the size of each of the forest's trees, and with one of as many splits as the whole
forest has.
"""

from dataclasses import asdict, dataclass
from functools import partial

import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.forests import forest_errors
from mictree.growers.rules import TopDown
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem

MAJORITY, PARITY, FORMULA = "majority of", "parity of", "formula"


@dataclass(frozen=True)
class Plan:
    """Which targets, under the uniform distribution, and which forests."""

    targets: tuple[str, ...] = (
        f"{MAJORITY} 5", f"{MAJORITY} 7", f"{FORMULA} 2+3", f"{FORMULA} 3+3+3",
        f"{FORMULA} 2+2+2+2", f"{PARITY} 4",
    )  # fmt: skip
    trees: tuple[int, ...] = (1, 3, 5, 9, 15, 25)
    max_size: int = 10
    max_features: int = 2
    repetitions: int = 10
    seed: int = 16  # the first; repetition r has seed + r


@dataclass(frozen=True)
class Voting:
    """Errors of forests.

    Attributes
    ----------
    frame : a row for each target, number of trees, repetition and size of each tree: the errors of
        the vote, of the best single tree of that size, and of one with as many splits as the forest
    """

    plan: Plan
    frame: pl.DataFrame

    def shares(self, target: str, than: str = "optimal") -> pl.DataFrame:
        """For each number of trees and size, the share of forests with less error than a tree."""
        better = pl.col("error") < pl.col(than) - ROUNDING
        rows = self.frame.filter(target=target).group_by("trees", "size", maintain_order=True)
        return rows.agg(better.mean().alias("share"))

    def passes(self, target: str) -> tuple[int, int] | None:
        """The fewest trees, then the least size, at which more than half of the forests pass."""
        most = self.shares(target).filter(pl.col("share") > 0.5).sort("trees", "size")
        return most.select("trees", "size").row(0) if most.height else None


ROUNDING = 1e-12


def problem_of(target: str) -> FormulaProblem | TableProblem:
    """A target by its name."""
    kind, _, number = target.rpartition(" ")
    if kind == FORMULA:
        return FormulaProblem.from_sizes(number)
    count = int(number)
    ones = [row.bit_count() for row in range(2**count)]
    if kind == MAJORITY:
        return TableProblem([int(2 * each > count) for each in ones])
    if kind == PARITY:
        return TableProblem([each % 2 for each in ones])
    raise ValueError(f"a target is {MAJORITY} n, {PARITY} n or {FORMULA} sizes; got {target!r}")


def voting(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> Voting:
    """Grow all forests; those of ``n_jobs`` targets and numbers of trees at once.

    Examples
    --------
    >>> found = voting(Plan((f"{MAJORITY} 3",), trees=(1, 9), max_size=2, repetitions=3))
    >>> found.passes(f"{MAJORITY} 3")
    (9, 1)
    """
    store = cache or Cache()
    pairs = [(target, trees) for target in plan.targets for trees in plan.trees]
    parts = EqualParts("forests", len(pairs), progress)
    work = [
        (asdict(plan) | {"targets": target, "trees": trees}, partial(_vote, plan, target, trees))
        for target, trees in pairs
    ]
    made = store.frames("forest", work, n_jobs)
    labels = (f"{target}, {trees} trees" for target, trees in pairs)
    return Voting(plan, pl.concat([found.value for found in parts.follow(made, labels)]))


def _vote(plan: Plan, target: str, trees: int) -> pl.DataFrame:
    problem, rows = problem_of(target), []
    rule = TopDown(ties="random")  # by order, trees would prefer the same few variables
    for repetition in range(plan.repetitions):
        found = forest_errors(
            problem, rule, trees, plan.max_size, plan.max_features, plan.seed + repetition
        )
        rows += [
            {"target": target, "trees": trees, "repetition": repetition, "size": size,
             "error": float(found.errors[size]), "optimal": float(found.optimal_errors[size]),
             "optimal_of_total": float(found.optimal_of_total[size])}
            for size in range(1, plan.max_size + 1)
        ]  # fmt: skip
    return pl.DataFrame(rows)
