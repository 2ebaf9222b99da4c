"""MIC of two-term formulas whose variables form a Markov chain.

Each variable is 1 with probability 1/2; neighbours in the chain have a given correlation. The
literals are positive. Where the variables of both terms stand in the chain matters, so all
arrangements are covered, up to reading the chain backwards and exchanging terms of equal length.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.excess import against
from mictree.experiments.cache import Cache
from mictree.growers.rules import BestFirst, TopDown
from mictree.optimal import optimal_errors
from mictree.problems.distributions import markov_chain
from mictree.problems.table import TableProblem

RULES = {"TopDown": TopDown(), "BestFirst": BestFirst()}  # entropy, ties last


@dataclass(frozen=True)
class Plan:
    """Which formulas and correlations."""

    max_literals: int = 4
    correlations: tuple[float, ...] = tuple(round(-0.9 + 0.1 * step, 1) for step in range(19))
    max_size: int = 20


@dataclass(frozen=True)
class Dependence:
    """MIC by correlation.

    Attributes
    ----------
    frame : a row for each arrangement, correlation and rule; ``arrangement`` gives the term, 1 or
        2, of each variable of the chain
    """

    plan: Plan
    frame: pl.DataFrame

    @property
    def arrangements(self) -> int:
        """How many there are."""
        return self.frame["arrangement"].n_unique()

    def spread(self, rule: str) -> pl.DataFrame:
        """Least, mean and largest MIC over the arrangements, and the optimal ones' share."""
        mic = pl.col("mic")
        return (
            self.frame.filter(rule=rule)
            .group_by("correlation", maintain_order=True)
            .agg(
                mic.min().alias("least"),
                mic.mean().alias("mean"),
                mic.max().alias("largest"),
                (mic < ZERO).mean().alias("optimal"),
            )
            .sort("correlation")
        )

    def worst(self, rule: str) -> dict:
        """The row with the largest MIC."""
        return self.frame.filter(rule=rule).sort("mic", descending=True).row(0, named=True)


ZERO = 1e-12  # a smaller MIC is rounding


def dependence(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> Dependence:
    """Compare both rules with optimal trees on every arrangement, ``n_jobs`` correlations at once.

    Examples
    --------
    >>> found = dependence(Plan(max_literals=2, correlations=(0.0, 0.5), max_size=4))
    >>> found.arrangements, found.spread("TopDown")["largest"].to_list()[0]
    (6, 0.0)
    """
    store = cache or Cache()
    parts = EqualParts("dependence", len(plan.correlations), progress)
    work = [
        (asdict(plan) | {"correlations": each}, partial(_compare, plan, each))
        for each in plan.correlations
    ]
    made = store.frames("dependence", work, n_jobs)
    labels = (f"correlation {each:g}" for each in plan.correlations)
    return Dependence(plan, pl.concat([found.value for found in parts.follow(made, labels)]))


def arrangements(max_literals: int) -> Iterator[str]:
    """The term of each variable along the chain, one text of each kind."""
    seen = set()
    for first in range(1, max_literals + 1):
        for second in range(first, max_literals + 1):
            for places in combinations(range(first + second), first):
                text = "".join("1" if i in places else "2" for i in range(first + second))
                alike = {text, text[::-1]}
                if first == second:
                    alike |= {each.translate(EXCHANGE) for each in alike}
                if not alike & seen:
                    seen.add(text)
                    yield text


EXCHANGE = str.maketrans("12", "21")


def _compare(plan: Plan, correlation: float) -> pl.DataFrame:
    exact = Fraction(repr(correlation))
    rows = []
    for text in arrangements(plan.max_literals):
        count = len(text)
        chain = markov_chain(count, Fraction(1, 2), (1 - exact) / 2, (1 + exact) / 2)
        terms = [sum(1 << i for i, term in enumerate(text) if term == each) for each in "12"]
        table = [int(any(row & term == term for term in terms)) for row in range(2**count)]
        problem = TableProblem(table, chain)
        least = optimal_errors(problem, plan.max_size)
        rows += [
            {"arrangement": text, "correlation": correlation, "rule": name,
             "mic": float(against(rule, problem, least).mic)}
            for name, rule in RULES.items()
        ]  # fmt: skip
    return pl.DataFrame(rows)
