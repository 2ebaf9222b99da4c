"""Every statement of the paper that a finite computation can check, by its number.

Sections are numbered as in the paper, its supplement A to F; theorems, lemmas, propositions,
corollaries and definitions share one counter in each section.
"""

import re
from collections.abc import Callable, Sequence

from mictree.statements import conjunctions

from mictree.statements import gains

from mictree.statements import identities

from mictree.statements import inequalities

from mictree.statements import readings

from mictree.statements import recurrences

from mictree.statements import two_terms
from mictree.statements.checks import Check, Statement

Progress = Callable[[int, int, str], None]  # finished, all, the number of the next statement
MODULES = (identities, recurrences, inequalities, conjunctions, two_terms, gains, readings)


def _place(statement: Statement) -> tuple[str, int]:
    """Where the paper has it: section, number within."""
    match = re.search(r" (\d|[A-F])(?:\.(\d))?", statement.number)
    assert match is not None, statement.number
    return match[1], int(match[2] or 0)


STATEMENTS: tuple[Statement, ...] = tuple(
    sorted((each for module in MODULES for each in module.STATEMENTS), key=_place)
)


def verify(
    quick: bool = False,
    progress: Progress | None = None,
    statements: Sequence[Statement] = STATEMENTS,
) -> list[Check]:
    """Check the paper's statements one after the other.

    Parameters
    ----------
    quick : smaller ranges, for a first look
    progress : told before each check, and once at the end
    statements : which; by default all, in the paper's order

    Examples
    --------
    >>> [check] = verify(quick=True, statements=STATEMENTS[:1])
    >>> check.number, check.verdict
    ('Section 3', 'holds')
    """
    checks = []
    for done, statement in enumerate(statements):
        if progress is not None:
            progress(done, len(statements), statement.number)
        checks.append(statement.check(quick))
    if progress is not None:
        progress(len(statements), len(statements), "")
    return checks
