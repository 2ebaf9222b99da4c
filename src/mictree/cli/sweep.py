"""The commands sweep and biases: MIC over a whole family, or over a whole range of biases.

``sweep`` computes the MIC of every member of a finite family of formulas or functions. ``biases``
takes one formula and certifies its MIC at every bias of a range: the range is divided into boxes,
and on each box the MIC lies in a certified interval. Both print the worst cases first.
"""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from mictree._support.words import show_number
from mictree.cli.options import (
    AsJson,
    Criterion,
    Depth,
    Draw,
    Jobs,
    LargestSize,
    ManyTies,
    Rules,
    Seed,
    check_drawing,
    make_rules,
    plot_option,
    read_bias,
    rule_option,
    ties_option,
)
from mictree.cli.output import print_json, print_parts, save_drawing, show_progress
from mictree.growers.rules import RULES, TIES, Lookahead

if TYPE_CHECKING:
    import polars as pl

    from mictree.families import Family, FunctionFamily
    from mictree.families.biases import MicOverBiases


FORMULAS, FUNCTIONS = ("grid", "up_to"), ("functions", "monotone", "threshold")


def sweep(
    family: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(FORMULAS + FUNCTIONS)}; by default grid with --terms and "
            "--literals, up_to with --variables.",
            show_default=False,
        ),
    ] = None,
    terms: Annotated[
        int | None, typer.Option(help="Largest number of terms.", show_default=False)
    ] = None,
    literals: Annotated[
        int | None, typer.Option(help="Largest number of literals in a term.", show_default=False)
    ] = None,
    variables: Annotated[
        int | None,
        typer.Option(
            help="Number of variables; the largest number with --family up_to.",
            show_default=False,
        ),
    ] = None,
    bias: Annotated[
        list[str],
        typer.Option(
            help="P[literal is true] that literals may have; repeatable. Functions take one, for "
            "all variables.",
            metavar="NUMBER",
        ),
    ] = ["0.5"],  # noqa: B006  # typer copies defaults
    max_size: LargestSize = 100,
    rule: Rules = ["topdown", "bestfirst"],  # noqa: B006
    depth: Depth = None,
    ties: ManyTies = ["last"],  # noqa: B006
    criterion: Criterion = "entropy",
    seed: Seed = None,
    memory: Annotated[float, typer.Option(help="Memory limit in GiB.")] = 4.0,
    scratch: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the least errors of formulas if they exceed the memory. Needs about "
            "8 bytes for each formula and size.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write all rows to this .parquet file. Repeat the command to continue after an "
            "interruption.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[Path | None, plot_option("a histogram")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute the MIC of every member of a family.

    Also count the splits of the smallest tree without error, and those of greedy trees.

    Families of read-once DNFs: grid takes --terms and --literals, up_to --variables. Families of
    Boolean functions up to symmetry take --variables: functions up to 5, monotone up to 6,
    threshold up to 5; with a --bias other than 0.5, functions and threshold up to 4.

    \b
    Examples:
      mictree sweep --terms 8 --literals 8 --out mic.parquet --plot mic.svg
      mictree sweep --terms 5 --literals 5 --bias 0.3 --bias 0.7 --ties last --ties lightest
      mictree sweep --variables 30 --rule topdown --max-size 50
      mictree sweep --variables 60 --memory 1 --scratch /var/tmp --out mic.parquet
      mictree sweep --family functions --variables 4 --max-size 15
      mictree sweep --family monotone --variables 5 --bias 0.3 --max-size 31 --plot mic.svg
    """
    from mictree.families.sweep import summarize
    from mictree.families.sweep import sweep as run

    chosen = _family(family, terms, literals, variables, bias)
    rules = make_rules(rule, depth, criterion, ties, seed)
    check_drawing(plot, "--plot")
    with show_progress(chosen.name) as report:
        frame = run(chosen, max_size, rules, out, int(memory * 2**30), report, scratch)
    summary = summarize(frame)
    worst = _worst_members(frame)
    if as_json:
        found = {"summary": summary.to_dicts(), "worst": worst.to_dicts()}
        print_json({"family": chosen.name, "max_size": max_size, **found})
    else:
        print_parts(f"{chosen.name}, max_size {max_size}", _columns(summary), _worst_table(worst))
    if out is not None:
        typer.echo(f"mictree: wrote {out}", err=True)
    if plot is not None:
        _plot(plot, frame, f"{chosen.name}, MIC({max_size})")


def _family(
    name: str | None,
    terms: int | None,
    literals: int | None,
    variables: int | None,
    bias: list[str],
) -> "Family | FunctionFamily":
    from mictree import families

    if name not in (None, *FORMULAS, *FUNCTIONS):
        known = ", ".join(FORMULAS + FUNCTIONS)
        raise ValueError(f"--family must be one of {known}; got {name!r}")
    biases = [read_bias(text, text, "a number") for text in bias]
    if name == "grid" or (name is None and variables is None):
        if terms is None or literals is None:
            alone = "--literals" if terms is None else "--terms"
            got = "neither" if terms is literals else f"{alone} alone"
            raise ValueError(f"give --terms and --literals, or --variables; got {got}")
        if variables is not None:
            raise ValueError("a grid has --terms and --literals; got --variables too")
        return families.grid(terms, literals, biases)
    if terms is not None or literals is not None:
        raise ValueError("give either --variables, or --terms and --literals; got both")
    if variables is None:
        raise ValueError(f"--family {name} needs --variables")
    if name in FUNCTIONS:
        if len(biases) != 1:
            raise ValueError(f"--family {name} has one --bias; got {', '.join(bias)}")
        return getattr(families, name)(variables, biases[0])
    return families.up_to(variables, biases)


def _worst_members(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The five members of largest MIC of each rule."""
    text = "formula" if "formula" in frame.columns else "function"
    columns = ["rule", "ties", "member", text, "mic", "largest_excess", "largest_excess_size"]
    columns += ["perfect_size", "greedy_size_best", "greedy_size_worst"]
    ordered = frame.sort("mic", descending=True, maintain_order=True)
    return ordered.group_by("rule", "ties", maintain_order=True).head(5).select(columns)


def _worst_table(worst: "pl.DataFrame") -> Table:
    """Without some columns, as a terminal is narrow."""
    text = worst.columns[3]
    table = Table("rule", "member", text, "MIC", "largest excess", "perfect size", "greedy sizes")
    named = ""
    for row in worst.iter_rows(named=True):
        rule = f"{row['rule']} {row['ties']}"
        most = "2**53 or more" if row["greedy_size_worst"] is None else row["greedy_size_worst"]
        table.add_row(
            "" if rule == named else rule,
            str(row["member"]),
            row[text],
            show_number(row["mic"]),
            show_number(row["largest_excess"]),
            str(row["perfect_size"]),
            f"{row['greedy_size_best']} to {most}",
        )
        named = rule
    return table


def _columns(frame: "pl.DataFrame") -> Table:
    """One column for each rule and one row for each number: few rules have many numbers."""
    table = Table("MIC", *(f"{rule}, {ties}" for rule, ties in frame["rule", "ties"].iter_rows()))
    for name in frame.columns[3:]:
        table.add_row(name.replace("_", " "), *map(_cell, frame[name]))
    return table


def _cell(value: object) -> str:
    return show_number(value) if isinstance(value, float) else str(value)


def _plot(path: Path, frame: "pl.DataFrame", title: str) -> None:
    from matplotlib.figure import Figure

    from mictree.plotting.families import draw_histogram

    ax = Figure(figsize=(7, 4.5), layout="constrained").add_subplot()
    groups = frame.partition_by("rule", "criterion", "ties", as_dict=True, maintain_order=True)
    values = {
        f"{rule}, {criterion}, ties {ties}": part["mic"].to_numpy()
        for (rule, criterion, ties), part in groups.items()
    }
    save_drawing(path, draw_histogram(ax, values, title))


# a bound over boxes needs gains of single splits, and ties that no draw decides
BIAS_RULES = [name for name in RULES if name != Lookahead.name]
BIAS_TIES = [name for name in TIES if name != "random"]
BiasRule = Annotated[str, rule_option(BIAS_RULES)]
BiasTies = Annotated[str, ties_option(BIAS_TIES)]
SHOWN = 8  # boxes in the table


def biases(
    formula: Annotated[
        str,
        typer.Argument(
            help="A Boolean formula such as 'a & b | ~c', of at most 8 variables.",
            show_default=False,
        ),
    ],
    between: Annotated[
        tuple[float, float], typer.Option(help="The least and the largest bias.")
    ] = (0.1, 0.9),
    max_size: LargestSize = 20,
    gap: Annotated[
        float, typer.Option(help="Stop when the largest MIC is known to within GAP.")
    ] = 1e-3,
    each: Annotated[
        bool, typer.Option("--each", help="Give each of at most 4 variables its own bias.")
    ] = False,
    rule: BiasRule = "topdown",
    criterion: Criterion = "entropy",
    ties: BiasTies = "last",
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds; then print what is certified so far.", show_default=False),
    ] = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
    draw: Draw = None,
) -> None:
    """Certify the MIC of a rule for every bias in a range.

    The range is divided into boxes; on each the MIC lies in a certified interval. The last line
    tells where the MIC is proved to be 0, if there was time. Ctrl-C prints what is certified by
    then.

    \b
    Examples:
      mictree biases "x1 & x2 | y1 & y2 & y3" --between 0.1 0.9 --max-size 8
      mictree biases "a & b | ~c" --rule bestfirst --draw biases.svg
      mictree biases "a & b | c" --each --time-limit 10 --json
      mictree biases "a & b | c & d | e & f & g" --jobs 2
    """
    from mictree.families.biases import mic_over_biases

    check_drawing(draw)
    if draw is not None and each:
        raise ValueError("--draw needs one shared bias; got --each")
    for option, value, known in (("--rule", rule, BIAS_RULES), ("--ties", ties, BIAS_TIES)):
        if value not in known:
            raise ValueError(f"{option} must be one of {', '.join(known)}; got {value!r}")
    (grower,) = make_rules([rule], None, criterion, [ties], None)
    with show_progress("biases") as report:
        found = mic_over_biases(
            grower, formula, between, max_size, gap,
            each=each, time_limit=time_limit, progress=report, n_jobs=jobs,
        )  # fmt: skip
    proving = found.complete and not each  # after Ctrl-C, or late, nothing more is begun
    if proving:
        with show_progress("proving where the rule is optimal"):
            _ = found.optimal_ranges  # which is kept
    if as_json:
        print_json(
            {"formula": found.formula, "rule": rule, "criterion": criterion, "ties": ties},
            max_size=max_size, between=list(between), supremum=[*map(float, found.supremum)],
            worst=str(found.worst) if isinstance(found.worst, Fraction) else found.worst,
            complete=found.complete, boxes=found.boxes.to_dicts(),
            optimal_ranges=found.optimal_ranges.to_dicts() if proving else None,
        )  # fmt: skip
    else:
        worst = found.boxes.sort("mic_upper", descending=True).head(SHOWN)
        table = Table(*worst.columns, title="boxes of largest MIC")
        for row in worst.iter_rows():
            table.add_row(*map(show_number, row))
        print_parts(str(found), table, *([_optimal(found)] if proving else []))
    if draw is not None:
        save_drawing(draw, found.plot())


def _optimal(found: "MicOverBiases") -> str:
    """Where the rule is proved to be optimal, in a sentence."""
    ranges = []
    for low, high, _, unsure in found.optimal_ranges.iter_rows():
        but = f" (but for {', '.join(map(show_number, unsure))})" if unsure else ""
        ends = show_number(low) if low == high else f"{show_number(low)} to {show_number(high)}"
        ranges.append(f"{ends}{but}")
    if not ranges:
        return "no range of biases in which the MIC is 0 was proved"
    return f"the MIC is proved to be 0 for biases from {', '.join(ranges)}"
