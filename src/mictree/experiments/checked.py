"""Statements checked one by one, each verdict kept at once."""

from collections.abc import Sequence
from functools import partial

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.statements.checks import Check, Statement


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
