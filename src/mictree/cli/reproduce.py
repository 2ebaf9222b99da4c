"""The command reproduce: every figure and claim of the paper, and one page that shows them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mictree.cli.common import print_parts


def reproduce(
    out: Annotated[Path, typer.Option(help="The folder for the page, figures and results.")] = Path(
        "out"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller ranges everywhere, for a first look.")
    ] = False,
) -> None:
    """Compute every figure and claim of the paper and write report.html.

    An interrupted run continues where it stopped. Exit status 1 when a statement of the paper does
    not come out as expected; see mictree verify.

    \b
    Examples:
      mictree reproduce --quick
      mictree reproduce --out paper
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must name a folder; {str(out)!r} is a file")
    from mictree.report.run import reproduce as run  # starts matplotlib, polars, scikit-learn

    with _progress() as progress:
        made = run(out, quick, progress)
    for stage in made.stages:
        reused = f", {stage.reused} results from an earlier run" if stage.reused else ""
        print_parts(f"{stage.name:<18} {stage.seconds:6.1f} s{reused}")
    print_parts(f"{'all':<18} {sum(stage.seconds for stage in made.stages):6.1f} s")
    print_parts(f"wrote {made.report}")
    if made.surprises:
        typer.echo(f"mictree: not as expected: {', '.join(made.surprises)}", err=True)
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """One bar on stderr for the whole run, when that is a terminal."""
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda what, share: bar.update(task, completed=share, description=what)
