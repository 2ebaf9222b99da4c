"""The command explore: one HTML file that grows and solves trees by itself."""

from pathlib import Path
from typing import Annotated

import typer

from mictree._support.files import write_whole
from mictree.cli.common import check_output
from mictree.cli.table import (
    DateOrder,
    Decimal,
    Drop,
    Encoding,
    Format,
    Keep,
    Missing,
    NoHeader,
    Number,
    Separator,
    read_table,
    say,
)

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
    from mictree.report.explorer.render import render
    from mictree.report.explorer.start import start_with_data, start_with_formula

    start = None
    if formula is not None:
        start = start_with_formula(formula)
    elif data is not None and target is not None:
        written = Format(
            separator, encoding, decimal, missing, (), number, no_header, date, options=EXPLORABLE
        )
        table = read_table(data, target, drop, keep, written)
        start = start_with_data(table.X, table.y, target)
    write_whole(out, render(start).encode())
    say(f"wrote {out}")
