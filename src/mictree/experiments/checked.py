"""Statements checked one by one, each verdict kept at once."""

from collections.abc import Sequence

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.statements.checks import Check, Statement


def check_all(
    statements: Sequence[Statement], quick: bool, cache: Cache, progress: Report | None = None
) -> tuple[Check, ...]:
    """The verdict on each statement, from the cache where it is known."""
    checks, parts = [], EqualParts("statements", len(statements), progress)
    for statement in parts.each(statements, lambda each: each.number):
        found = cache.values(
            "statement",
            [statement.number, quick],
            lambda statement=statement: statement.check(quick).to_dict(),
        )
        checks.append(Check.from_dict(found.value))
    return tuple(checks)
