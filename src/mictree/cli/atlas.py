"""The command atlas: where greed fails, on one page."""

from pathlib import Path
from typing import Annotated

import typer

from mictree.cli.common import print_parts, working
from mictree.cli.workers import Jobs, Scheduler, Workers, on_workers


def atlas(
    out: Annotated[Path, typer.Option(help="Folder for the page, figures and results.")] = Path(
        "atlas"
    ),
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

    with on_workers(scheduler, workers) as n_jobs, working("the atlas") as progress:
        made = run(out, progress=progress, n_jobs=n_jobs or jobs)
    for stage in made.stages:
        reused = f", {stage.reused} results from an earlier run" if stage.reused else ""
        print_parts(f"{stage.name:<18} {stage.seconds:6.1f} s{reused}")
    print_parts(f"{'all':<18} {sum(stage.seconds for stage in made.stages):6.1f} s")
    print_parts(f"wrote {made.page}")
