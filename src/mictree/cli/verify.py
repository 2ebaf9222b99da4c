"""The command verify: statements of the paper and of others, checked."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from mictree.cli.common import print_json, print_parts, working
from mictree.cli.options import AsJson

if TYPE_CHECKING:
    from mictree.statements.checks import Check

Quick = Annotated[bool, typer.Option("--quick", help="Use smaller ranges, for a first look.")]
Every = Annotated[bool, typer.Option("--all", help="Check the statements of other papers as well.")]
Details = Annotated[bool, typer.Option("--details", help="Print the reason for every verdict.")]


def verify(
    quick: Quick = False, details: Details = False, every: Every = False, as_json: AsJson = False
) -> None:
    """Check the paper's theorems and inequalities.

    Every check is exact or uses certified bounds. With --all, statements of other papers on greedy
    trees follow, checked on all small functions.

    The exit status is 1 if a result is not the expected one: a statement that should hold fails, or
    one that is known to be false or unclear as printed does not fail at its known counterexample.

    \b
    Examples:
      mictree verify
      mictree verify --quick --details
      mictree verify --json > checks.json
      mictree verify --all --details
    """
    from mictree.statements.checks import VERDICT_RULE
    from mictree.statements.later import EVERYTHING
    from mictree.statements.theorems import verify as run_checks  # starts python-flint

    with working("statements") as progress:
        checks = run_checks(quick, progress, EVERYTHING) if every else run_checks(quick, progress)
    surprising = [check for check in checks if not check.as_expected]
    if as_json:
        print_json(
            {"quick": quick, "as_expected": not surprising},
            checks=[check.to_dict() for check in checks],
        )
    else:
        explained = checks if details else [check for check in checks if check.verdict != "holds"]
        print_parts(_table(checks), *_details(explained), VERDICT_RULE, _summary(checks))
    if surprising:
        typer.echo(f"mictree: {len(surprising)} not as expected:", err=True)
        for check in surprising:
            typer.echo(f"  {check.number}: {'; '.join(check.surprises)}", err=True)
        raise typer.Exit(1)


def _table(checks: "list[Check]") -> Table:
    table = Table()
    for name in ("paper", "statement", "range covered", "verdict", "s"):
        table.add_column(name, overflow="fold")
    for check in checks:
        verdict = check.verdict if check.as_expected else f"{check.verdict.upper()} (!)"
        table.add_row(
            check.number, check.statement, check.range_covered, verdict, f"{check.seconds:.2f}"
        )
    return table


def _details(checks: "list[Check]") -> list[str]:
    return [f"{check.number}: {check.verdict}. {check.detail}" for check in checks if check.detail]


def _summary(checks: "list[Check]") -> str:
    counts = Counter(check.verdict for check in checks)
    words = {
        "holds": "hold",
        "fails": "fail as printed",
        "unclear as printed": "are unclear as printed",
    }
    parts = [f"{counts[verdict]} {words[verdict]}" for verdict in words]
    seconds = sum(check.seconds for check in checks)
    return f"{len(checks)} statements in {seconds:.1f} s: {', '.join(parts)}"
