"""The command verify: the paper's statements, checked."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mictree.cli.common import AsJson, print_json, print_parts

if TYPE_CHECKING:
    from mictree.statements.checks import Check

Quick = Annotated[bool, typer.Option("--quick", help="Smaller ranges, for a first look.")]
Details = Annotated[
    bool, typer.Option("--details", help="Say of every statement what its verdict rests on.")
]


def verify(quick: Quick = False, details: Details = False, as_json: AsJson = False) -> None:
    """Check the paper's theorems and inequalities, exactly or with certified bounds.

    Exit status 1 when a statement that should hold fails. Statements known to be false or unclear
    as printed are listed as such.

    \b
    Examples:
      mictree verify
      mictree verify --quick --details
      mictree verify --json > checks.json
    """
    from mictree.statements.theorems import verify as run_checks  # starts python-flint

    with _progress() as progress:
        checks = run_checks(quick, progress)
    surprising = [check for check in checks if not check.as_expected]
    if as_json:
        print_json(
            {"quick": quick, "as_expected": not surprising},
            checks=[dataclasses.asdict(check) for check in checks],
        )
    else:
        told = checks if details else [check for check in checks if check.verdict != "holds"]
        print_parts(_table(checks), *_details(told), _summary(checks))
    if surprising:
        typer.echo(f"mictree: {len(surprising)} not as expected: "
                   + ", ".join(check.number for check in surprising), err=True)  # fmt: skip
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr, when that is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting")

        def show(done: int, total: int, number: str) -> None:
            bar.update(task, completed=done, total=total, description=number)

        yield show


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
