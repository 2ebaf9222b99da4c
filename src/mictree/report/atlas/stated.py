"""A part of the atlas: statements of other papers, and their verdicts."""

from collections import Counter

from mictree.experiments.later_statements import LaterStatements
from mictree.report.atlas.section import Section
from mictree.report.page import Table
from mictree.statements.checks import VERDICT_RULE, sentence

NAME = "papers"


def section(found: LaterStatements) -> Section:
    """All statements in one table."""
    return Section(
        NAME,
        "Papers",
        "What other papers state",
        f"Statements about greedy trees in our own words, each checked on a finite range: "
        f"{count(found)}. Many of them are asymptotic; the last column says what a finite check "
        f"can and cannot tell. {VERDICT_RULE} `mictree verify --all` repeats the checks.",
        (),
        (),
        (_table(found),),
    )


def count(found: LaterStatements) -> str:
    """How many have each verdict, in words."""
    verdicts = Counter(found.frame["verdict"].to_list())
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))


def _table(found: LaterStatements) -> Table:
    rows = tuple(
        (row["number"], row["statement"], row["verdict"], sentence(row["range_covered"]),
         sentence(row["detail"]))
        for row in found.frame.iter_rows(named=True)
    )  # fmt: skip
    return Table("Statements", ("paper", "statement", "verdict", "range", "why"), rows, NAME)
