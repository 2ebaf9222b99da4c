"""How many optimal trees the functions of few variables have, and how often greed finds one.

For every symmetry class of functions and every size, the trees of exactly that size that are as
good as the best of at most that size are counted, and so is the chance that a rule with random ties
ends in one of them. Chances are exact. A class stands for all its functions: renaming variables and
negating inputs or the output changes neither number.
"""

from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

from mictree._support.progress import Progress, Report, ignore
from mictree.experiments.cache import Cache
from mictree.families.function_classes import functions
from mictree.optimal.good import good_trees
from mictree.problems.table import TableProblem

BLOCK = 16  # functions that are kept together, so that an interrupted run loses little


@dataclass(frozen=True)
class Plan:
    """The number of variables, the largest size, and the rules."""

    variables: int = 4
    max_size: int = 6
    rules: tuple[str, ...] = ("topdown", "bestfirst")


@dataclass(frozen=True)
class GoodCounts:
    """The number of optimal trees of every function, and the chances of the rules.

    Attributes
    ----------
    frame : a row for each class and size: table, count (of functions), size, trees, and for each
        rule its chance; only sizes at which the function has an optimal tree of exactly this size
    """

    plan: Plan
    frame: pl.DataFrame

    def at(self, size: int) -> pl.DataFrame:
        """The classes that have an optimal tree of a size."""
        return self.frame.filter(size=size)

    def share_of_one(self, size: int) -> float:
        """The share of functions with a single optimal tree, among those with any of the size."""
        rows = self.at(size)
        one = int(rows.filter(trees=1)["count"].sum())
        return one / max(1, int(rows["count"].sum()))

    def median(self, size: int) -> int:
        """The median number of optimal trees over all functions that have any of the size."""
        rows = self.at(size).sort("trees")
        if not rows.height:
            return 0
        place = int(np.searchsorted(np.cumsum(rows["count"]), int(rows["count"].sum()) / 2))
        return int(rows["trees"][place])

    def mean_chance(self, rule: str, size: int) -> float:
        """The mean chance of a rule over the functions that have an optimal tree of the size."""
        rows = self.at(size)
        return float(np.average(rows[rule], weights=rows["count"])) if rows.height else float("nan")

    def never(self, rule: str, size: int) -> int:
        """How many functions' optimal trees of a size no choice of the rule's ties reaches."""
        return int(self.at(size).filter(pl.col(rule) == 0)["count"].sum())


def good_counts(
    plan: Plan, cache: Cache | None = None, progress: Report | None = None
) -> GoodCounts:
    """Count the optimal trees of every function.

    Examples
    --------
    >>> found = good_counts(Plan(variables=2, max_size=3))
    >>> found.at(3).filter(table=6).rows()  # exclusive or: each variable may come first
    [(6, 2, 3, 2, 1.0, 1.0)]
    """
    store, report = cache or Cache(), progress or ignore
    family = functions(plan.variables)
    tables, counts = family.tables, family.counts
    frames = []
    for begin in range(0, len(tables), BLOCK):
        report(Progress("optimal trees counted", begin / len(tables)))
        part = slice(begin, begin + BLOCK)
        frames.append(
            store.frame(
                "good-counts", asdict(plan) | {"begin": begin},
                lambda part=part: _count(plan, tables[part], counts[part]),
            ).value
        )  # fmt: skip
    return GoodCounts(plan, pl.concat(frames))


def _count(plan: Plan, tables: np.ndarray, counts: np.ndarray) -> pl.DataFrame:
    rows = []
    for table, count in zip(tables.tolist(), counts.tolist(), strict=True):
        labels = [table >> row & 1 for row in range(2**plan.variables)]
        found = good_trees(TableProblem(labels), plan.max_size)
        chances = [found.chance(rule).chances for rule in plan.rules]
        rows += [
            (table, count, size, trees, *(float(chance[size]) for chance in chances))
            for size, trees in enumerate(found.counts)
            if trees and size
        ]
    schema = {
        "table": pl.Int64, "count": pl.Int64, "size": pl.Int64, "trees": pl.Int64,
        **dict.fromkeys(plan.rules, pl.Float64),
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
