"""The command reproduce: every figure and claim of the paper, on one page."""

from pathlib import Path
from typing import Annotated

import typer

from mictree.cli.common import print_parts, working
from mictree.cli.workers import Scheduler, Workers, on_workers


def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the page, figures and results.")] = Path(
        "out"
    ),
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

    with on_workers(scheduler, workers) as n_jobs, working("the paper") as progress:
        made = run(out, quick, progress, n_jobs)
    for stage in made.stages:
        reused = f", {stage.reused} results from an earlier run" if stage.reused else ""
        print_parts(f"{stage.name:<18} {stage.seconds:6.1f} s{reused}")
    print_parts(f"{'all':<18} {sum(stage.seconds for stage in made.stages):6.1f} s")
    print_parts(f"wrote {made.report}")
    if made.surprises:
        typer.echo(f"mictree: not as expected: {', '.join(made.surprises)}", err=True)
        raise typer.Exit(1)
