"""The command sweep: MIC over a whole family of formulas."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from mictree.cli.common import (
    check_drawing,
    make_rule,
    print_json,
    print_parts,
    save,
    show_number,
    working,
)
from mictree.cli.options import AsJson, Criterion, LargestSize, Rules, Seed
from mictree.growers.rules import TIES

if TYPE_CHECKING:
    import polars as pl

    from mictree.families.family import Family


def sweep(
    terms: Annotated[
        int | None, typer.Option(help="Largest number of terms.", show_default=False)
    ] = None,
    literals: Annotated[
        int | None, typer.Option(help="Largest number of literals in a term.", show_default=False)
    ] = None,
    variables: Annotated[
        int | None,
        typer.Option(
            help="Largest number of variables; replaces --terms and --literals.", show_default=False
        ),
    ] = None,
    bias: Annotated[
        list[str],
        typer.Option(help="P[literal is true] of some literals; repeatable.", metavar="NUMBER"),
    ] = ["0.5"],  # noqa: B006  # typer copies defaults
    max_size: LargestSize = 100,
    rule: Rules = ["topdown", "bestfirst"],  # noqa: B006
    ties: Annotated[
        list[str],
        typer.Option(
            help=f"Choice among equally good splits: {', '.join(TIES)}; repeatable.", metavar="TIES"
        ),
    ] = ["last"],  # noqa: B006
    criterion: Criterion = "entropy",
    seed: Seed = None,
    memory: Annotated[float, typer.Option(help="Memory limit in GiB.")] = 4.0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write all rows to this .parquet file. Repeat the command to continue after an "
            "interruption.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also plot a histogram (.svg, .png or .pdf).", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the MIC of every read-once DNF within bounds.

    Give --terms and --literals, or --variables.

    \b
    Examples:
      mictree sweep --terms 8 --literals 8 --out mic.parquet --plot mic.svg
      mictree sweep --terms 5 --literals 5 --bias 0.3 --bias 0.7 --ties last --ties lightest
      mictree sweep --variables 30 --rule topdown --max-size 50
    """
    from mictree.families.sweep import summarize
    from mictree.families.sweep import sweep as run

    family = _family(terms, literals, variables, bias)
    rules = [make_rule(name, criterion, tie, seed) for name in rule for tie in ties]
    check_drawing(plot, "--plot")
    with working("formulas") as report:
        frame = run(family, max_size, rules, out, int(memory * 2**30), report)
    summary = summarize(frame)
    worst = _worst_formulas(frame)
    if as_json:
        found = {"summary": summary.to_dicts(), "worst": worst.to_dicts()}
        print_json({"family": family.name, "max_size": max_size, **found})
    else:
        print_parts(f"{family.name}, max_size {max_size}", _columns(summary), _table(worst))
    if out is not None:
        typer.echo(f"mictree: wrote {out}", err=True)
    if plot is not None:
        _plot(plot, frame, f"{family.name}, MIC({max_size})")


def _family(
    terms: int | None, literals: int | None, variables: int | None, bias: list[str]
) -> "Family":
    from mictree import families

    try:
        biases = [float(text) for text in bias]
    except ValueError:
        raise ValueError(f"--bias must be a number; got {', '.join(bias)}") from None
    if variables is not None:
        if terms is not None or literals is not None:
            raise ValueError("give either --variables, or --terms and --literals; got both")
        return families.up_to(variables, biases)
    if terms is None or literals is None:
        alone = "--literals" if terms is None else "--terms"
        got = "neither" if terms is literals else f"{alone} alone"
        raise ValueError(f"give --terms and --literals, or --variables; got {got}")
    return families.grid(terms, literals, biases)


def _worst_formulas(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The five formulas of largest MIC of each rule."""
    columns = ["rule", "ties", "formula", "mic", "largest_excess", "largest_excess_size"]
    ordered = frame.sort("mic", descending=True, maintain_order=True)
    return ordered.group_by("rule", "ties", maintain_order=True).head(5).select(columns)


def _table(frame: "pl.DataFrame") -> Table:
    table = Table(*(name.replace("_", " ") for name in frame.columns))
    for row in frame.iter_rows():
        table.add_row(*map(_cell, row))
    return table


def _columns(frame: "pl.DataFrame") -> Table:
    """The same transposed, for many numbers of few rules."""
    table = Table("MIC", *(f"{rule}, {ties}" for rule, ties in frame["rule", "ties"].iter_rows()))
    for name in frame.columns[3:]:
        table.add_row(name.replace("_", " "), *map(_cell, frame[name]))
    return table


def _cell(value: object) -> str:
    return show_number(value) if isinstance(value, float) else str(value)


def _plot(path: Path, frame: "pl.DataFrame", title: str) -> None:
    from matplotlib.figure import Figure

    from mictree.plotting.histogram import draw_histogram

    ax = Figure(figsize=(7, 4.5), layout="constrained").add_subplot()
    groups = frame.partition_by("rule", "criterion", "ties", as_dict=True, maintain_order=True)
    values = {
        f"{rule}, {criterion}, ties {ties}": part["mic"].to_numpy()
        for (rule, criterion, ties), part in groups.items()
    }
    save(path, draw_histogram(ax, values, title))
