"""The statements of the paper that a finite computation can check, by number, and their checks.

A module holds a group of statements: those of one section, or of one kind of argument. Each checks
its statements as ``checks`` describes: it looks for a counterexample over a stated range. Here all
are collected in the paper's order, and ``verify`` runs them. Statements of other papers on greedy
trees stand apart, in ``later``.

Sections are numbered as in the paper, its supplement A to F; theorems, lemmas, propositions,
corollaries and definitions share one counter in each section.
"""

import re
from collections.abc import Sequence

from mictree._support.progress import EqualParts, Report
from mictree.statements import (
    conjunctions,
    gains,
    inequalities,
    readings,
    recurrences,
    two_terms,
)
from mictree.statements.checks import Check, Statement

MODULES = (recurrences, inequalities, conjunctions, two_terms, gains, readings)


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
    progress: Report | None = None,
    statements: Sequence[Statement] = STATEMENTS,
) -> list[Check]:
    """Check the paper's statements one after the other.

    Parameters
    ----------
    quick : smaller ranges, for a first look
    progress : called before each check with the number of its statement
    statements : which; by default all, in the paper's order

    Examples
    --------
    >>> from mictree.statements import STATEMENTS, verify
    >>> [check] = verify(quick=True, statements=STATEMENTS[:1])
    >>> check.number, check.verdict
    ('Section 3', 'holds')
    """
    checks, parts = [], EqualParts("statements", len(statements), progress)
    for statement in parts.each(statements, lambda statement: statement.number):
        checks.append(statement.check(quick))
    return checks
