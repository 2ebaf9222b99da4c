"""Excess error at every size against the number of rows: when does a sample show the MIC?

Trees are grown on samples of a known distribution, which gives their true errors. Their mean excess
over repetitions is compared with the excess of the tree grown from the distribution itself.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.experiments.finite_samples import Rows, learn
from mictree.functions.read_once import ReadOnceDNF
from mictree.growers.rules import BestFirst, Grower, TopDown
from mictree.optimal import optimal_errors
from mictree.problems import FormulaProblem

SEED = 100
RULES: tuple[Grower, ...] = (TopDown(), BestFirst())
FOLLOWS = 0.01  # two curves agree if their means differ by at most this at every size


@dataclass(frozen=True)
class Case:
    """A formula of given term lengths under the uniform distribution."""

    name: str
    terms: tuple[int, ...]
    max_size: int

    @property
    def problem(self) -> FormulaProblem:
        """The formula as a problem, with every bias 1/2."""
        return FormulaProblem(ReadOnceDNF.of_sizes(self.terms))


@dataclass(frozen=True)
class Plan:
    """The numbers of the experiment."""

    cases: tuple[Case, ...] = (
        Case("terms of 2 and 3 literals", (2, 3), 8),
        Case("10 terms, 38 variables", (3, 3, 4, 5, 3, 4, 3, 5, 4, 4), 20),
    )
    rows: tuple[int, ...] = (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000,
                             200000)  # fmt: skip
    repetitions: int = 10
    min_samples_split: int = 2
    seed: int = SEED


QUICK_PLAN = Plan(
    (Case("terms of 2 and 3 literals", (2, 3), 8), Case("4 terms, 15 variables", (3, 3, 4, 5), 12)),
    rows=(50, 500, 5000),
    repetitions=3,
)


@dataclass(frozen=True)
class SampledCase:
    """One formula: curves from samples beside those from the distribution itself."""

    case: Case
    frame: pl.DataFrame  # a row for each rule, number of rows, repetition and size
    optimal: np.ndarray  # OPT(D, size), index = size
    exact: dict[str, np.ndarray]  # by rule: the error with the distribution known, index = size

    def errors(self, rule: str, rows: int) -> np.ndarray:
        """True errors, shape (repetitions, sizes)."""
        chosen = self.frame.filter(rule=rule, rows=rows).sort("repetition", "size")
        return chosen["error"].to_numpy().reshape(-1, len(self.optimal))

    def excess(self, rule: str, rows: int) -> np.ndarray:
        """The mean excess error by size."""
        return self.errors(rule, rows).mean(axis=0) - self.optimal

    def exact_excess(self, rule: str) -> np.ndarray:
        """The excess error by size with the distribution known."""
        return self.exact[rule] - self.optimal

    def sampled_mic(self, rule: str, rows: int) -> np.ndarray:
        """The mean excess error over sizes from 1, of each repetition."""
        return (self.errors(rule, rows) - self.optimal)[:, 1:].mean(axis=1)

    def exact_mic(self, rule: str) -> float:
        """MIC with the distribution known."""
        return float(self.exact_excess(rule)[1:].mean())

    def distance(self, rule: str, rows: int) -> float:
        """The largest difference, over sizes, between the sampled and the exact curve."""
        return float(np.abs(self.excess(rule, rows) - self.exact_excess(rule)).max())

    def rows_to_follow(self, rule: str, all_rows: tuple[int, ...]) -> int | None:
        """The least number of rows from which the curves differ by at most ``FOLLOWS``."""
        enough = None
        for rows in reversed(all_rows):
            if self.distance(rule, rows) > FOLLOWS:
                break
            enough = rows
        return enough


@dataclass(frozen=True)
class SampleSizes:
    """The whole experiment."""

    plan: Plan
    cases: tuple[SampledCase, ...]


def sample_sizes(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> SampleSizes:
    """Learn trees from more and more rows and judge each of their sizes by the distribution.

    ``n_jobs`` numbers of rows are worked on at once, by joblib.
    """
    store = cache or Cache()
    cases, parts = [], EqualParts("MIC from samples", len(plan.cases) * len(plan.rows), progress)
    for number, case in enumerate(plan.cases):
        parameters: dict[str, Any] = asdict(plan) | {"cases": asdict(case), "number": number}
        del parameters["rows"]
        fits = [
            (parameters | {"rows": rows}, partial(_curves, plan, case, number, rows))
            for rows in plan.rows
        ]
        made = store.frames("sample-size", fits, n_jobs)
        labels = (f"{case.name}, {rows:,} rows" for rows in plan.rows)
        frame = pl.concat([found.value for found in parts.follow(made, labels)])
        problem = case.problem
        optimal = store.values(
            "sample-size-optimal",
            asdict(case),
            lambda problem=problem, case=case: optimal_errors(problem, case.max_size).tolist(),
        )
        exact = {type(rule).__name__: rule.grow(problem, case.max_size).errors for rule in RULES}
        cases.append(SampledCase(case, frame, np.array(optimal.value), exact))
    return SampleSizes(plan, tuple(cases))


def _curves(plan: Plan, case: Case, number: int, rows: int) -> pl.DataFrame:
    return pl.concat(_each_curve(plan, case, number, rows))


def _each_curve(plan: Plan, case: Case, number: int, rows: int) -> Iterator[pl.DataFrame]:
    problem = case.problem
    for repetition in range(plan.repetitions):
        train = Rows.draw(problem, rows, [plan.seed, number, rows, repetition])
        for rule in RULES:
            learned = learn(problem, rule, train, case.max_size, plan.min_samples_split)
            yield pl.DataFrame({"size": range(case.max_size + 1)}).with_columns(
                rule=pl.lit(type(rule).__name__),
                rows=pl.lit(rows),
                repetition=pl.lit(repetition),
                error=pl.Series(learned.true_errors),
            )
