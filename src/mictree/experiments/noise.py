"""MIC when labels are wrong with some probability, for every read-once DNF on few variables.

Labels are wrong with a probability, the noise, that does not depend on the row. For a given tree
this multiplies all differences of errors by 1 - 2 noise, so the MIC divided by this factor changes
only if the noise changes which trees are grown.
"""

from dataclasses import asdict, dataclass
from functools import partial

import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.excess import against
from mictree.experiments.cache import Cache
from mictree.families.family import up_to
from mictree.growers.rules import BestFirst, TopDown
from mictree.optimal import optimal_errors
from mictree.problems.table import TableProblem

RULES = {"TopDown": TopDown(), "BestFirst": BestFirst()}  # entropy, ties last


@dataclass(frozen=True)
class Plan:
    """Which formulas, under the uniform distribution, and which probabilities of a wrong label."""

    variables: int = 8
    noises: tuple[float, ...] = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
    max_size: int = 20


@dataclass(frozen=True)
class Noise:
    """MIC by noise.

    Attributes
    ----------
    frame : a row for each formula, noise and rule; ``scaled`` is the MIC divided by 1 - 2 noise,
        which does not change with the noise if the grown trees do not
    """

    plan: Plan
    frame: pl.DataFrame

    @property
    def formulas(self) -> int:
        """How many there are."""
        return self.frame["formula"].n_unique()

    def spread(self, rule: str) -> pl.DataFrame:
        """Mean and largest scaled MIC over the formulas, by noise, and how many are changed."""
        clean = self.frame.filter(rule=rule, noise=0.0).select("formula", clean="scaled")
        joined = self.frame.filter(rule=rule).join(clean, on="formula", maintain_order="left")
        rise = pl.col("scaled") - pl.col("clean")
        return (
            joined.group_by("noise", maintain_order=True)
            .agg(
                pl.col("mic").mean().alias("mean"),
                pl.col("scaled").mean().alias("scaled_mean"),
                pl.col("scaled").max().alias("scaled_largest"),
                (rise > SAME).sum().alias("worse"),
                (rise < -SAME).sum().alias("better"),
            )
            .sort("noise")
        )


SAME = 1e-9  # a smaller difference is rounding


def noise(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> Noise:
    """Compare both rules with optimal trees on every formula, ``n_jobs`` noises at once.

    Examples
    --------
    >>> found = noise(Plan(variables=3, noises=(0.0, 0.2), max_size=4))
    >>> found.formulas, found.spread("TopDown")["worse"].to_list()
    (6, [0, 0])
    """
    store = cache or Cache()
    parts = EqualParts("noise", len(plan.noises), progress)
    work = [
        (asdict(plan) | {"noises": each}, partial(_compare, plan, each)) for each in plan.noises
    ]
    made = store.frames("noise", work, n_jobs)
    labels = (f"noise {each:g}" for each in plan.noises)
    return Noise(plan, pl.concat([found.value for found in parts.follow(made, labels)]))


def _compare(plan: Plan, chance: float) -> pl.DataFrame:
    family = up_to(plan.variables)
    rows = []
    for member in family.members:
        formula = family.formula(member)
        problem = TableProblem.from_formula(str(formula), noise=chance)
        least = optimal_errors(problem, plan.max_size)
        for name, rule in RULES.items():
            mic = float(against(rule, problem, least).mic)
            rows.append(
                {"formula": "+".join(str(len(term)) for term in formula.terms), "noise": chance,
                 "rule": name, "mic": mic, "scaled": mic / (1 - 2 * chance)}
            )  # fmt: skip
    return pl.DataFrame(rows)
