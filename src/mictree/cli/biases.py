"""The command biases: MIC for every bias of a range."""

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from mictree._support.words import show_number
from mictree.cli.common import (
    check_drawing,
    make_rules,
    print_json,
    print_parts,
    save,
    working,
)
from mictree.cli.options import AsJson, Criterion, Draw, LargestSize
from mictree.cli.workers import Jobs
from mictree.growers.rules import RULES, TIES, Lookahead

if TYPE_CHECKING:
    from mictree.families.biases import MicOverBiases

# a bound over boxes needs gains of single splits, and ties that no draw decides
BIAS_RULES = [name for name in RULES if name != Lookahead.name]
BIAS_TIES = [name for name in TIES if name != "random"]
BiasRule = Annotated[str, typer.Option(help=f"One of {', '.join(BIAS_RULES)}.")]
BiasTies = Annotated[
    str, typer.Option(help=f"Choice among equally good splits: {', '.join(BIAS_TIES)}.")
]
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
    with working("biases") as report:
        found = mic_over_biases(
            grower, formula, between, max_size, gap,
            each=each, time_limit=time_limit, progress=report, n_jobs=jobs,
        )  # fmt: skip
    proving = found.complete and not each  # after Ctrl-C, or late, nothing more is begun
    if proving:
        with working("proving where the rule is optimal"):
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
        save(draw, found.plot())


def _optimal(found: "MicOverBiases") -> str:
    """Where the rule is proved to be optimal, in a sentence."""
    told = []
    for low, high, _, unsure in found.optimal_ranges.iter_rows():
        but = f" (but for {', '.join(map(show_number, unsure))})" if unsure else ""
        ends = show_number(low) if low == high else f"{show_number(low)} to {show_number(high)}"
        told.append(f"{ends}{but}")
    if not told:
        return "no range of biases in which the MIC is 0 was proved"
    return f"the MIC is proved to be 0 for biases from {', '.join(told)}"
