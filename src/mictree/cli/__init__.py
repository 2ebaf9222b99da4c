"""The command line: parse, call, print; no arithmetic."""

import sys
import warnings
from typing import Annotated, Any

import typer

from mictree import __version__
from mictree._support.checks import Complaints
from mictree.cli import compiling, data, fit, formulas, good, pages, predict, sweep
from mictree.cli.output import guarded_output

HELP = """How far is a greedily grown decision tree from the best tree of its size?

mic, grow, optimal and biases take a formula; fit, predict and data take a table of data; good
takes either; sweep covers whole families of formulas or functions; explore writes a page to play
with; reproduce and verify check the paper; atlas shows where greedy trees fail; study asks whether
better trees predict better; compile saves waiting later.

\b
Examples:
  mictree mic "x1 & x2 | y1 & y2 & y3" --max-size 8
  mictree data iris.csv --target species
  mictree COMMAND --help
"""

# warnings of libraries: a drawing has a box for such a character; in a fold, classes have few rows
NOT_FOR_USERS = (
    r"Glyph \d+ .* missing from font",
    "The number of unique classes is greater than",
    r"(Precision|Recall|F-score|Jaccard) is ill-defined",  # results of classes say it better
    "y_pred contains classes not in y_true",
)

# parameters of the library whose options are called otherwise
OTHER_NAMES = {
    "biases": "--bias",
    "max_literals": "--literals",
    "max_terms": "--terms",
    "memory_limit": "--memory",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "sample_weight": "--weights",
}

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
app.command()(good.good)
app.command()(sweep.biases)
app.command()(fit.fit)
app.command()(predict.predict)
app.command()(data.data)
app.command()(sweep.sweep)
app.command()(pages.explore)
app.command()(pages.reproduce)
app.command()(pages.atlas)
app.command()(pages.study)
app.command()(pages.verify)
app.command("compile")(compiling.compile_all)


def main() -> None:
    """Run the command line; an error is one line on stderr and exit status 2.

    A command writes its files even if nobody reads what it prints. A reader that has closed the
    pipe, as `head` does, is no error; output that is lost otherwise, as on a full disk, is one.
    Ctrl-C is raised: see ``mictree.__main__``.
    """
    for text in NOT_FOR_USERS:
        warnings.filterwarnings("ignore", text)
    with guarded_output() as output:
        status = _run()
        sys.stdout.flush()
        if output.failure:
            status = _fail(output.failure)
    sys.exit(status)


def _run() -> int:
    """The exit status of the command."""
    try:
        return app(standalone_mode=False) or 0
    except typer.TyperException as error:
        return _fail(_usage(error))
    except SystemExit as end:  # typer exits with any broken pipe, such as one to a worker
        if not isinstance(end.__context__, OSError):
            raise
        return _fail(str(end.__context__))
    except Complaints as errors:
        return _fail(*map(_with_options, errors.lines))
    except (ValueError, OSError) as error:
        return _fail(_with_options(str(error)))


def _usage(error: Any) -> str:
    """An error of the command line; typer leaves out the value of one that is no number."""
    if hasattr(error.__cause__, "errors") and getattr(error, "param", None) is not None:
        found = error.__cause__.errors()[0]
        kind = {"int": "an integer", "float": "a number"}.get(found["type"].partition("_")[0])
        if kind:
            return f"{error.param.opts[0]} must be {kind}; got {found['input']!r}"
    return error.format_message()


def _with_options(message: str) -> str:
    """An error of the library, its parameter named as the command's option."""
    options = {
        parameter.name: parameter.opts[0]
        for command in typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
        for parameter in command.params
        if parameter.opts[0].startswith("--")
    } | OTHER_NAMES
    name, _, rest = message.partition(" ")
    return f"{options[name]} {rest}" if rest.startswith("must ") and name in options else message


def _fail(*messages: str) -> int:
    for message in messages:
        print("mictree: " + " ".join(message.split()), file=sys.stderr)
    return 2
