"""The verdicts on other papers' statements about greedy trees, as a frame."""

from dataclasses import dataclass

import polars as pl

from mictree._support.progress import Report
from mictree.experiments.cache import Cache
from mictree.experiments.checked import check_all
from mictree.statements.later import LATER


@dataclass(frozen=True)
class Plan:
    """How far the statements are checked."""

    quick: bool = False  # smaller ranges


@dataclass(frozen=True)
class LaterStatements:
    """The verdicts.

    Attributes
    ----------
    frame : a row for each statement: ``number``, ``statement``, ``verdict``, the ``expected`` one,
        ``range_covered`` and ``detail``, which has the counterexample if there is one
    """

    plan: Plan
    frame: pl.DataFrame


def later_statements(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> LaterStatements:
    """Check every statement, ``n_jobs`` at once.

    Examples
    --------
    >>> found = later_statements(Plan(quick=True))
    >>> found.frame.filter(pl.col("verdict") != pl.col("expected")).height
    0
    """
    rows = [
        {"number": check.number, "statement": check.statement, "verdict": check.verdict,
         "expected": check.expected, "range_covered": check.range_covered, "detail": check.detail}
        for check in check_all(LATER, plan.quick, cache or Cache(), progress, n_jobs)
    ]  # fmt: skip
    return LaterStatements(plan, pl.DataFrame(rows))
