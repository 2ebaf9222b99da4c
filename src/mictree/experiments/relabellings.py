"""MIC over all functions of some variables, and how much it depends on the names of the variables.

A member of a family stands for all functions that renaming variables and negating inputs or the
output make of it. Ties are decided by the order of variables and leaves, so these functions may
differ in MIC.
"""

from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import polars as pl

from mictree._support.progress import Report, ignore
from mictree.experiments.cache import Cache
from mictree.families.function_classes import FunctionFamily, functions
from mictree.families.sweep import sweep
from mictree.growers.rules import BestFirst, Grower, TopDown

RULES = {"TopDown": TopDown, "BestFirst": BestFirst}


@dataclass(frozen=True)
class Plan:
    """What is drawn."""

    variables: int = 5
    max_size: int = 31
    members: int = 1000  # drawn with chances proportional to their counts, with replacement
    relabellings: int = 100  # of each
    ties: str = "last"
    seed: int = 16

    def rule(self, name: str) -> Grower:
        """One of the two rules."""
        return RULES[name](ties=self.ties)


@dataclass(frozen=True)
class Relabellings:
    """MIC of all representatives, and of relabellings of some.

    Attributes
    ----------
    representatives : for each rule and MIC, how many members and functions
    relabelled : a row for each rule, drawn member and relabelling, with the MIC of both
    """

    plan: Plan
    representatives: pl.DataFrame
    relabelled: pl.DataFrame

    def weighted_mean(self, rule: str) -> float:
        """The mean MIC of representatives, each as often as it stands for a function."""
        rows = self.representatives.filter(rule=rule)
        return float(np.average(rows["mic"], weights=rows["count"]))

    def largest(self, rule: str) -> float:
        """The largest MIC of a representative."""
        return float(self.representatives.filter(rule=rule)["mic"].max())  # type: ignore[arg-type]

    @cached_property
    def spreads(self) -> pl.DataFrame:
        """For each rule and drawn member: its MIC, and mean and range over relabellings."""
        mic = pl.col("mic")
        return self.relabelled.group_by("rule", "draw", maintain_order=True).agg(
            pl.col("representative_mic").first(),
            mic.mean().alias("mean"),
            mic.min().alias("least"),
            mic.max().alias("largest"),
            mic.std().alias("deviation"),
        )

    def estimate(self, rule: str) -> tuple[float, float]:
        """The mean MIC over all functions, estimated, and its standard error.

        A member drawn by its count, relabelled at random, is a function drawn at random.
        """
        means = self.spreads.filter(rule=rule)["mean"].to_numpy()
        return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def relabellings(
    plan: Plan, cache: Cache | None = None, progress: Report | None = None
) -> Relabellings:
    """Sweep the representatives and relabel some.

    Examples
    --------
    >>> found = relabellings(Plan(variables=2, max_size=3, members=3, relabellings=4))
    >>> found.representatives["count"].sum(), found.relabelled.height
    (32, 24)
    """
    store = cache or Cache()
    found = store.frame(
        "relabelled", asdict(plan), lambda: _compute(plan, progress or ignore)
    ).value
    representatives = found.filter(draw=-1).select("rule", "mic", "members", "count")
    drawn = found.filter(pl.col("draw") >= 0).drop("members", "count")
    return Relabellings(plan, representatives, drawn)


def _compute(plan: Plan, report: Report) -> pl.DataFrame:
    """Both frames of each rule, below each other; draw is -1 in the first."""
    family = functions(plan.variables)
    draws = np.random.default_rng(plan.seed)
    members = draws.choice(len(family), plan.members, p=family.counts / family.counts.sum())
    tables = relabel(family.tables[members], plan.variables, plan.relabellings, draws)
    ones = np.ones(tables.size, dtype=np.int64)
    copies = FunctionFamily("relabelled", family.variables, family.bias, tables.ravel(), ones, True)
    rules = [plan.rule(name) for name in RULES]
    # the copies are few beside the representatives
    swept = [sweep(each, plan.max_size, rules, progress=report) for each in (copies, family)]
    parts = []
    for name, rule in zip(RULES, rules, strict=True):
        mic, frame = (each.filter(rule=rule.label) for each in swept)
        whole = frame.group_by("mic").agg(
            pl.len().cast(pl.Int64).alias("members"), pl.col("count").sum()
        )
        drawn = pl.DataFrame(
            {
                "draw": np.repeat(np.arange(plan.members), plan.relabellings),
                "table": np.repeat(family.tables[members], plan.relabellings),
                "relabelled_table": tables.ravel(),
                "representative_mic": np.repeat(
                    frame["mic"].to_numpy()[members], plan.relabellings
                ),
                "mic": mic["mic"],
            }
        )
        both = [whole.sort("mic").with_columns(pl.lit(-1, pl.Int64).alias("draw")), drawn]
        parts.append(pl.concat(both, how="diagonal").with_columns(pl.lit(name).alias("rule")))
    return pl.concat(parts)


def relabel(
    tables: np.ndarray, variables: int, copies: int, draws: np.random.Generator
) -> np.ndarray:
    """Rename variables, negate inputs and the output at random; shape (tables, copies)."""
    rows = np.arange(2**variables)
    everything = 2 ** (2**variables) - 1
    out = np.empty((len(tables), copies), dtype=np.uint64)
    for place, table in enumerate(tables):
        values = table >> rows.astype(np.uint64) & np.uint64(1)
        for copy in range(copies):
            order = draws.permutation(variables)
            moved = sum(((rows >> old & 1) << new for new, old in enumerate(order)), 0 * rows)
            image = values[moved ^ draws.integers(2**variables)] << rows.astype(np.uint64)
            negated = np.uint64(everything * int(draws.integers(2)))
            out[place, copy] = np.bitwise_or.reduce(image) ^ negated
    return out
