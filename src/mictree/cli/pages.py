"""The commands reproduce, atlas, study, explore and verify: the paper, checked and shown.

``reproduce`` computes every figure and claim of the paper and writes them on one page. ``atlas``
does so for the wider question where greedy trees fail, ``study`` for the question whether better
trees predict better. All continue an interrupted run.
``explore`` writes one HTML file that grows and solves trees by itself. ``verify`` checks the
statements of the paper, and on request those of other papers. ``reproduce`` and ``verify`` end with
exit status 1 if a verdict is not the expected one.
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from mictree._support.files import write_whole
from mictree.cli.options import (
    ENDINGS,
    AsJson,
    DateOrder,
    Decimal,
    Drop,
    Encoding,
    FileFormat,
    Jobs,
    Keep,
    Missing,
    NoHeader,
    Number,
    OutFolder,
    Scheduler,
    Separator,
    Workers,
    check_output,
    on_workers,
)
from mictree.cli.output import print_json, print_parts, show_progress
from mictree.cli.table import print_note, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mictree.report.claims import Stage
    from mictree.statements.checks import Check


def reproduce(
    out: OutFolder = Path("out"),
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Use smaller ranges everywhere, for a first look; claims that they cannot judge "
            "are marked.",
        ),
    ] = False,
    scheduler: Scheduler = None,
    workers: Workers = None,
) -> None:
    """Reproduce the paper: all figures and claims on one page.

    Writes report.html, the figures and all numbers into the folder --out.

    --scheduler or --workers spread the checks of statements and the experiments on samples over a
    Dask cluster.

    Repeat the command to continue an interrupted run. The exit status is 1 if the result of a
    statement of the paper is not the expected one; see mictree verify.

    \b
    Examples:
      mictree reproduce --quick
      mictree reproduce --out paper
      mictree reproduce --scheduler tcp://10.0.0.1:8786
      mictree reproduce --workers 4
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must name a folder; {str(out)!r} is a file")
    from mictree.report.run import reproduce as run  # starts matplotlib, polars, scikit-learn

    with on_workers(scheduler, workers) as n_jobs, show_progress("the paper") as progress:
        made = run(out, quick, progress, n_jobs)
    _print_stages(made.stages)
    print_parts(f"wrote {made.report}")
    if made.surprises:
        typer.echo(f"mictree: not as expected: {', '.join(made.surprises)}", err=True)
        raise typer.Exit(1)


def atlas(
    out: OutFolder = Path("atlas"),
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    workers: Workers = None,
) -> None:
    """Show where greedy trees fail, over all small functions.

    The page also covers all biases, dependent variables, noise and forests.

    Writes atlas.html, the figures and all numbers into the folder --out. Repeat the command to
    continue an interrupted run. --jobs, --scheduler and --workers change no number.

    \b
    Examples:
      mictree atlas
      mictree atlas --out greed --jobs 2
      mictree atlas --scheduler tcp://10.0.0.1:8786
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must name a folder; {str(out)!r} is a file")
    from mictree.report.atlas.run import atlas as run  # starts matplotlib and polars

    with on_workers(scheduler, workers) as n_jobs, show_progress("the atlas") as progress:
        made = run(out, progress=progress, n_jobs=n_jobs or jobs)
    _print_stages(made.stages)
    print_parts(f"wrote {made.page}")


def study(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help=f"A folder of tables ({ENDINGS}) to use beside those of scikit-learn.",
            show_default=False,
        ),
    ] = None,
    out: OutFolder = Path("study"),
    target: Annotated[
        str | None,
        typer.Option(
            help="Column to predict, in files that have it; else label, target or class.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Use fewer targets, rows and folds, for a first look."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed of samples and folds.", min=0)] = 35,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    workers: Workers = None,
) -> None:
    """Study whether optimal trees predict better than greedy ones.

    On known distributions the true error of every tree is exact. On tables, errors are measured
    on held-out rows. Tables that cannot be used are listed on the page, with the reason.

    Writes study.html, the figures and all numbers into the folder --out. Repeat the command to
    continue an interrupted run. --jobs, --scheduler and --workers change no number.

    \b
    Examples:
      mictree study --quick
      mictree study tables --out study --jobs 2
      mictree study tables --target species
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must name a folder; {str(out)!r} is a file")
    from mictree.report.study import StudyPlan  # starts matplotlib, polars, scikit-learn
    from mictree.report.study import study as run

    plan = StudyPlan.make(quick, seed)
    with on_workers(scheduler, workers) as n_jobs, show_progress("the study") as progress:
        made = run(out, folder, plan, target, progress, n_jobs or jobs)
    _print_stages(made.stages)
    for name, reason in made.results.tables.left_out.iter_rows():
        print_note(f"left out {name}: {reason}")
    print_parts(f"wrote {made.page}")


def _print_stages(stages: "Sequence[Stage]") -> None:
    """Print how long each stage of a run took."""
    for stage in stages:
        reused = f", {stage.reused} results from an earlier run" if stage.reused else ""
        print_parts(f"{stage.name:<18} {stage.seconds:6.1f} s{reused}")
    print_parts(f"{'all':<18} {sum(stage.seconds for stage in stages):6.1f} s")


EXPLORABLE = ("--drop",)  # the page reads all cells by itself, so it can take no --text


def explore(
    formula: Annotated[
        str | None,
        typer.Argument(
            help="A Boolean formula of at most 10 variables to start with.", show_default=False
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Start with a table of at most 200 rows and 50 columns.", show_default=False
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of --data to predict.", show_default=False)
    ] = None,
    drop: Drop = [],  # noqa: B006  # typer copies defaults
    keep: Keep = [],  # noqa: B006
    no_header: NoHeader = False,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006
    number: Number = [],  # noqa: B006
    date: DateOrder = [],  # noqa: B006
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("explorer.html"),
) -> None:
    """Write a page on which greedy trees grow beside the best ones.

    The page is one HTML file. It opens from disk, computes by itself and needs no network.

    \b
    Examples:
      mictree explore
      mictree explore "(a | b) & ~c ^ a" --out lecture.html
      mictree explore --data iris.csv --target species
    """
    check_output(out, "--out", (".html", ".htm"))
    if formula is not None and data is not None:
        raise ValueError("explore starts with a formula or with --data; both are given")
    if (data is None) != (target is None):
        given = "--data" if target is None else "--target"
        raise ValueError(f"--data and --target go together; only {given} is given")
    from mictree.report.explorer.render import render, start_with_data, start_with_formula

    start = None
    if formula is not None:
        start = start_with_formula(formula)
    elif data is not None and target is not None:
        file_format = FileFormat(
            separator, encoding, decimal, missing, (), number, no_header, date, options=EXPLORABLE
        )
        table = read_table(data, target, drop, keep, file_format)
        start = start_with_data(table.X, table.y, target)
    write_whole(out, render(start).encode())
    print_note(f"wrote {out}")


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
    from mictree.statements import verify as run_checks  # starts python-flint
    from mictree.statements.checks import VERDICT_RULE
    from mictree.statements.later import EVERYTHING

    with show_progress("statements") as progress:
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
