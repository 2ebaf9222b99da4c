"""The command line: parse, call, print; no arithmetic."""

import os
import sys
from typing import Annotated

import typer

from mictree import __version__
from mictree.cli import data, fit, formulas, predict, reproduce, sweep, verify

HELP = """How far is a greedily grown decision tree from the best tree of its size?

mic, grow and optimal take a formula; fit, predict and data take a table of data; sweep covers
whole families of formulas; reproduce and verify check the paper.

\b
Examples:
  mictree mic "x1 & x2 | y1 & y2 & y3" --max-size 8
  mictree data iris.csv --target species
  mictree COMMAND --help
"""

app = typer.Typer(
    name="mictree",
    help=HELP,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"mictree {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(formulas.mic)
app.command()(formulas.grow)
app.command()(formulas.optimal)
app.command()(fit.fit)
app.command()(predict.predict)
app.command()(data.data)
app.command()(sweep.sweep)
app.command()(reproduce.reproduce)
app.command()(verify.verify)


def main() -> None:
    """Run the command line; an error is one line on stderr and exit status 2.

    Ctrl-C is raised: see ``mictree.__main__``.
    """
    try:
        try:
            status = app(standalone_mode=False)
        finally:
            sys.stdout.flush()  # what was printed before Ctrl-C, too
    except typer.TyperException as error:
        status = _fail(error.format_message())  # type: ignore[attr-defined]  # every subclass has it
    except (BrokenPipeError, SystemExit) as end:  # typer and rich exit when a pipe breaks
        if not isinstance(end, BrokenPipeError) and not isinstance(end.__context__, OSError):
            raise
        status = _drop_output()
    except (ValueError, OSError) as error:
        status = _fail(str(error))
    sys.exit(status)


def _drop_output() -> int:
    """Discard buffered output: the reader of the pipe, such as `head`, has closed it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    return 0


def _fail(message: str) -> int:
    print("mictree: " + " ".join(message.split()), file=sys.stderr)
    return 2
