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
        f"{count(found)}. Many of them are asymptotic; the table says what a finite check can and "
        f"cannot tell. {VERDICT_RULE} The command “mictree verify --all” repeats the checks.",
        (),
        (),
        (_table(found),),
    )


def count(found: LaterStatements) -> str:
    """How many have each verdict, in words."""
    verdicts = Counter(found.frame["verdict"].to_list())
    plural = {"holds": "hold", "fails": "fail", "unclear as printed": "are unclear as printed"}
    return ", ".join(f"{verdicts[name]} {plural[name]}" for name in plural if verdicts[name])


def _table(found: LaterStatements) -> Table:
    rows = tuple(
        (row["number"], row["statement"],
         f"{sentence(row['range_covered'])} {sentence(row['detail'])}", row["verdict"])
        for row in found.frame.iter_rows(named=True)
    )  # fmt: skip
    columns = ("paper", "statement", "range covered, and why", "verdict")
    return Table("Statements", columns, rows, NAME, has_texts=True)
