"""The command good: count the trees that are as good as the best, and say what they share.

It takes a formula, or with --target a table. ``good_trees`` counts; this module reads, prints,
draws and writes the page. Counting that is stopped, by a limit or Ctrl-C, prints what is certain.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from mictree._support.checks import check_count
from mictree._support.files import write_whole
from mictree._support.words import count_of
from mictree.cli.formulas import Bias, Noise, read_formula
from mictree.cli.options import (
    AsJson,
    ClassWeight,
    Costs,
    DateOrder,
    Decimal,
    Draw,
    Drop,
    Encoding,
    FileFormat,
    HtmlReport,
    Keep,
    Missing,
    MostThresholds,
    NoHeader,
    Number,
    Parts,
    Separator,
    TaskName,
    Text,
    Weights,
    check_drawing,
    check_output,
    is_given,
    max_size_option,
    plot_option,
    read_fraction,
    seed_option,
)
from mictree.cli.output import print_json, print_parts, save_drawing, show_progress, write_each
from mictree.cli.table import column_of_weights, naming_options, print_note, read_class_weight
from mictree.cli.table import read_table as read_file
from mictree.cli.tasks import CLASSIFICATION, TaskRequest
from mictree.growers.rules import RULES, as_rule
from mictree.optimal.good import GoodTrees, good_trees

if TYPE_CHECKING:
    from mictree.optimal.good_chance import Chance
    from mictree.problems.base import Problem

FOR_FORMULAS = ("bias", "noise")
FOR_TABLES = (
    "drop", "keep", "weights", "class_weight", "costs", "task", "max_thresholds", "no_header",
    "separator", "encoding", "decimal", "missing", "text", "number", "date", "parts",
)  # fmt: skip
INTERRUPTED = 130


def good(
    context: typer.Context,
    subject: Annotated[
        str,
        typer.Argument(
            help="A formula as in mictree mic; or with --target a table (.csv, .parquet, ...), "
            "or - for stdin.",
            metavar="FORMULA|FILE",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(help="Column to predict; the argument is a file then.", show_default=False),
    ] = None,
    max_size: Annotated[int, max_size_option()] = 4,
    within: Annotated[
        str,
        typer.Option(
            help="How much more error than the best tree of a size, as a share of the inputs or "
            "of the rows, read as typed; 0 for the best alone.",
            metavar="SHARE",
        ),
    ] = "0",
    rule: Annotated[
        list[str],
        typer.Option(
            help="Also print the chance that this rule, with random ties, grows a good tree: "
            f"{', '.join(RULES)}; repeatable.",
            metavar="RULE",
        ),
    ] = [],  # noqa: B006  # typer copies defaults
    runs: Annotated[
        int, typer.Option(help="Growths where ties are too many for exact chances.")
    ] = 1000,
    seed: Annotated[int, seed_option("the trees of --draw, and for --runs")] = 0,
    max_count: Annotated[
        int | None,
        typer.Option(help="Stop counting a size above so many trees.", show_default=False),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds for counting; on data as many again for the best trees.")
    ] = 60,
    bias: Bias = ["0.5"],  # noqa: B006
    noise: Noise = None,
    drop: Drop = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    weights: Weights = None,
    class_weight: ClassWeight = None,
    costs: Costs = None,
    task: TaskName = None,
    max_thresholds: MostThresholds = None,
    no_header: NoHeader = False,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006
    text: Text = [],  # noqa: B006
    number: Number = [],  # noqa: B006
    date: DateOrder = [],  # noqa: B006
    parts: Parts = [],  # noqa: B006
    as_json: AsJson = False,
    draw: Draw = None,
    plot: Annotated[Path | None, plot_option("the shares of variables")] = None,
    report: HtmlReport = None,
) -> None:
    """Count all trees that are as good as the best, and say what they share.

    A tree counts at the number of its splits; every split divides what reaches it, and pure leaves
    are not split. The last columns name the variables that every good tree tests. --draw draws a
    few good trees of --max-size splits that differ most.

    \b
    Examples:
      mictree good "x1 & x2 | y1 & y2 & y3" --max-size 8 --rule topdown --rule bestfirst
      mictree good iris.csv --target species --max-size 3 --within 0.01
      mictree good iris.csv --target species --max-size 3 --report good.html --draw trees.svg
    """
    check_drawing(draw)
    check_drawing(plot, "--plot")
    check_output(report, "--report", (".html", ".htm"))
    spare, rules = _read_within(within), [_read_rule(name) for name in rule]
    check_count(runs, "--runs", 1)
    _check_options(context, target)
    if target is None:
        if Path(subject).is_file():
            raise ValueError(f"--target must name the column to predict: {subject} is a file")
        problem, described = read_formula(subject, bias, noise)
    else:
        file_format = FileFormat(
            separator, encoding, decimal, missing, text, number, no_header, date
        )
        request = TaskRequest(task=task, costs=costs, class_weight=class_weight)
        problem = _read_problem(
            Path(subject), target, drop, keep, file_format, parts, weights, request, max_thresholds
        )
        described = {"file": subject, "target": target}
    limited = target is not None or is_given(context, "time_limit")
    with show_progress("counting trees") as progress:
        found = good_trees(
            problem, max_size, spare, max_count=max_count,
            time_limit=time_limit if limited else None, progress=progress,
        )  # fmt: skip
        whole = not any(found.ended)
        chances = [found.chance(each, runs=runs, seed=seed) for each in rules if whole]
        needed = _needed(found) if whole else []
    if as_json:
        print_json(described, **_json_fields(found, chances))
    else:
        _print(found, needed, chances)
    writes: list[Callable[[], None]] = []
    if whole:
        if draw is not None:
            writes.append(lambda: save_drawing(draw, found.draw(max_size, seed=seed).axes[0]))
        if plot is not None:
            writes.append(lambda: save_drawing(plot, found.plot()))
        if report is not None:
            writes.append(lambda: _write_report(report, subject, found, chances))
    write_each(*writes)
    if "Ctrl-C" in found.ended:
        raise typer.Exit(INTERRUPTED)
    if not whole and (draw or plot or report):
        raise ValueError(
            "--draw, --plot and --report need all good trees; counting ended by "
            f"{next(filter(None, found.ended))}"
        )


def _read_within(typed: str) -> Fraction:
    """The number of --within, as typed."""
    form = "a number, not negative"
    spare = read_fraction(typed, "--within", form)
    if spare < 0:
        raise ValueError(f"--within must be {form}; got {typed!r}")
    return spare


def _read_rule(name: str) -> Any:
    if name not in RULES:
        raise ValueError(f"--rule must be one of {', '.join(RULES)}; got {name!r}")
    return as_rule(name)


def _check_options(context: typer.Context, target: str | None) -> None:
    """Refuse options that are for the other kind of subject."""
    wrong, why = (
        (FOR_TABLES, "without --target: the argument is a formula then")
        if target is None
        else (FOR_FORMULAS, "with --target: the argument is a file then")
    )
    for name in wrong:
        if is_given(context, name):
            raise ValueError(f"--{name.replace('_', '-')} must not be given {why}")


def _read_problem(
    file: Path, target: str, drop: list[str], keep: list[str], file_format: FileFormat,
    parts: list[str], weights: str | None, request: TaskRequest, max_thresholds: int | None,
) -> "Problem":  # fmt: skip
    """A table as a problem."""
    import numpy as np

    from mictree._support.checks import caught
    from mictree.problems.sample import Coded, SampleProblem, class_weights

    untested = [] if weights is None else [weights]
    table = read_file(
        file, target, drop, keep, file_format, parts, None, untested,
        lambda frame: caught(column_of_weights, frame, weights), request,
    )  # fmt: skip
    X, weight = table.X.drop(untested), column_of_weights(table.X, weights)
    with naming_options(X):
        if table.task != CLASSIFICATION:
            return SampleProblem(X, table.y, weight, loss="squared", max_thresholds=max_thresholds)
        coded = Coded.read(table.y)
        classes = np.unique(table.y).tolist()
        factors = class_weights(read_class_weight(request.class_weight, classes), coded)
        return SampleProblem(
            X, coded, weight, class_weight=factors, cost_matrix=request.cost_matrix(classes),
            max_thresholds=max_thresholds,
        )  # fmt: skip


def _needed(found: GoodTrees) -> list[str]:
    """For each size, the variables that every good tree tests."""
    shares = (found.shares(size) for size in range(len(found)))
    return [", ".join(name for name, share in each.items() if share == 1) for each in shares]


def _print(found: GoodTrees, needed: list[str], chances: list["Chance"]) -> None:
    heads, rows = found.cells()
    table = Table(*heads, *(["all of them test"] if needed else []))
    for size, row in enumerate(rows):
        table.add_row(*row, *([needed[size]] if needed else []))
    ended = next(filter(None, found.ended), "")
    lines = [f"counting ended by {ended}: counts of these sizes are at least that"] if ended else []
    print_parts(table, *lines, *(f"\n{chance}" for chance in chances))


def _json_fields(found: GoodTrees, chances: list["Chance"]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "within": float(found.within),
        "optimal_errors": list(map(float, found.optimal_errors)),
        "counts": list(found.counts),
        "ended": list(found.ended),
        "errors": found.errors.to_dicts(),
    }
    if not any(found.ended):
        fields["variables"] = found.variables.to_dicts()
    if chances:
        fields["chances"] = [
            {"rule": each.rule, "chances": list(map(float, each.chances)),
             "reached": list(each.reached), "runs": each.runs}
            for each in chances
        ]  # fmt: skip
    return fields


def _write_report(path: Path, subject: str, found: GoodTrees, chances: list["Chance"]) -> None:
    from mictree.report.data import make_good_page, render_good

    page = make_good_page(found, Path(subject).name, chances)
    write_whole(path, render_good(page).encode())
    print_note(f"wrote {path}: {count_of(sum(found.counts), 'good tree')}")
