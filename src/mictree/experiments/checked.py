"""Verdicts on statements, each kept as soon as it is found; those of other papers as a frame.

``mictree.statements.verify`` checks one statement after the other and keeps nothing. Here checks
run on several workers and go through the cache, so an interrupted report continues at the first
statement without a verdict. Verdicts return in the order of the statements.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.statements.checks import Check, Statement
from mictree.statements.later import LATER


def check_all(
    statements: Sequence[Statement],
    quick: bool,
    cache: Cache,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> tuple[Check, ...]:
    """The verdict on each statement, from the cache where it is known; ``n_jobs`` at once."""
    parts = EqualParts("statements", len(statements), progress)
    work = [([each.number, quick], partial(_check, each, quick)) for each in statements]
    made = cache.many_values("statement", work, n_jobs)
    found = parts.follow(made, (each.number for each in statements))
    return tuple(Check.from_dict(each.value) for each in found)


def _check(statement: Statement, quick: bool) -> dict:
    return statement.check(quick).to_dict()


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
