"""How large greedy trees without error are, over all functions of few variables.

A greedy tree is grown until it makes no error. Every rule then splits all impure leaves, so only
the criterion and the choice among tied splits matter.
"""

from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.families.function_classes import FunctionFamily, functions, monotone, threshold
from mictree.families.sweep import SIZE_NAMES
from mictree.families.table_growth import exact_sizes
from mictree.optimal import optimal_tree
from mictree.problems.table import TableProblem
from mictree.tree import Tree

FAMILIES = {"all": functions, "monotone": monotone, "threshold": threshold}


@dataclass(frozen=True)
class Plan:
    """The number of variables of each family, and the criterion of the greedy trees."""

    variables: tuple[tuple[str, int], ...] = (("all", 5), ("monotone", 6), ("threshold", 5))
    criterion: str = "entropy"


@dataclass(frozen=True)
class Witness:
    """A function on which no greedy tree is minimal, with the smallest tree of each kind."""

    family: str
    variables: int
    table: int  # bit r is the value in row r
    functions: int  # that it stands for
    problem: TableProblem
    greedy: Tree
    optimal: Tree


@dataclass(frozen=True)
class FunctionSizes:
    """The sizes of every family.

    Attributes
    ----------
    frame : for each family, and each triple of sizes that occurs, how many members and functions
        have it
    smallest : the functions of fewest variables, and of these the ones of least size, on which no
        greedy tree is minimal; a row for each member of a family
    """

    plan: Plan
    frame: pl.DataFrame
    smallest: pl.DataFrame

    def of(self, family: str) -> pl.DataFrame:
        """The sizes of one family."""
        return self.frame.filter(family=family)

    def functions(self, family: str) -> int:
        """How many functions a family has."""
        return int(self.of(family)["count"].sum())

    def minimal(self, family: str, size: str = "greedy_size_best") -> int:
        """On how many functions such a greedy tree is as small as the smallest tree."""
        rows = self.of(family)
        return int(rows.filter(rows[size] == rows["perfect_size"])["count"].sum())

    def mean(self, family: str, size: str) -> float:
        """The mean of one of the three sizes over all functions."""
        rows = self.of(family)
        return float(np.average(rows[size], weights=rows["count"]))

    def largest_ratio(self, family: str, size: str) -> tuple[int, int]:
        """A greedy size and the least size beside it whose ratio is the largest."""
        rows = self.of(family).filter(pl.col("perfect_size") > 0)
        worst = rows.sort(pl.col(size) / pl.col("perfect_size"), descending=True).row(0, named=True)
        return worst[size], worst["perfect_size"]

    def witnesses(self) -> tuple[Witness, ...]:
        """One of the smallest functions of each family, with both trees."""
        first = self.smallest.unique("family", keep="first", maintain_order=True)
        return tuple(_witness(row, self.plan.criterion) for row in first.iter_rows(named=True))


def function_sizes(
    plan: Plan, cache: Cache | None = None, progress: Report | None = None
) -> FunctionSizes:
    """Count the sizes of every family.

    Examples
    --------
    >>> found = function_sizes(Plan((("all", 3),)))
    >>> found.functions("all"), found.minimal("all")
    (256, 232)
    """
    store = cache or Cache()
    parts = EqualParts("greedy sizes", len(plan.variables), progress)
    counted, smallest = [], []
    for name, variables in parts.each(plan.variables, lambda part: f"{part[0]} of {part[1]}"):
        parameters = asdict(plan) | {"variables": [name, variables]}
        frame = store.frame("sizes", parameters, lambda n=name, v=variables: _count(plan, n, v))
        counted.append(frame.value)
        found = store.frame("smallest", parameters, lambda n=name, v=variables: _find(plan, n, v))
        smallest.append(found.value)
    return FunctionSizes(plan, pl.concat(counted), pl.concat(smallest))


def _sizes(family: FunctionFamily, criterion: str) -> pl.DataFrame:
    sizes = exact_sizes(family.tables, family.variables, criterion)
    return pl.DataFrame({"table": family.tables, "count": family.counts, **sizes._asdict()})


def _count(plan: Plan, name: str, variables: int) -> pl.DataFrame:
    """How often each triple of sizes occurs."""
    frame = _sizes(FAMILIES[name](variables), plan.criterion)
    counted = frame.group_by(SIZE_NAMES).agg(
        pl.len().cast(pl.Int64).alias("members"), pl.col("count").sum()
    )
    return counted.sort(SIZE_NAMES).select(
        pl.lit(name).alias("family"), pl.lit(variables).alias("variables"), pl.all()
    )


def _find(plan: Plan, name: str, variables: int) -> pl.DataFrame:
    """The members of fewest variables, then of least size, on which no greedy tree is minimal."""
    found, fewer = pl.DataFrame(), 0
    for fewer in range(1, variables + 1):
        frame = _sizes(FAMILIES[name](fewer), plan.criterion)
        found = frame.filter(pl.col("greedy_size_best") > pl.col("perfect_size"))
        if found.height:
            least = found["perfect_size"].min()
            found = found.filter(perfect_size=least).sort("table")
            break
    return found.select(
        pl.lit(name).alias("family"), pl.lit(fewer, pl.Int32).alias("variables"), pl.all()
    )


def _witness(row: dict, criterion: str) -> Witness:
    rows = np.arange(2 ** row["variables"], dtype=np.uint64)
    problem = TableProblem((np.uint64(row["table"]) >> rows & np.uint64(1)).astype(np.uint8))
    # every node of the first tree has the largest gain: the smallest greedy tree without error
    greedy = optimal_tree(problem, row["greedy_size_best"], top=1, criterion=criterion)
    return Witness(
        row["family"], row["variables"], row["table"], row["count"], problem,
        greedy, optimal_tree(problem, row["perfect_size"]),
    )  # fmt: skip
