"""Options and arguments that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from mictree.growers.rules import RULES, TIES
from mictree.impurity.criteria import CRITERIA

Scoring = Annotated[
    str | None,
    typer.Option(
        help="Measure on held-out rows, by scikit-learn's name: balanced_accuracy, "
        "neg_log_loss, roc_auc, ...",
        show_default="error",
    ),
]
Details = Annotated[
    bool,
    typer.Option(
        "--details", help="Also print recall, precision and confusion of classes on held-out rows."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Draw = Annotated[
    Path | None,
    typer.Option(help="Also save a drawing (.svg, .png or .pdf).", show_default=False),
]

NoMerge = Annotated[
    bool, typer.Option("--no-merge", help="Also show splits whose leaves all say the same.")
]

Rule = Annotated[str, typer.Option(help=f"One of {', '.join(RULES)}.")]
Rules = Annotated[
    list[str], typer.Option(help=f"One of {', '.join(RULES)}; repeatable.", metavar="RULE")
]
Depth = Annotated[
    int | None,
    typer.Option(
        help="Depth of the subtrees that --rule lookahead looks at; default: 2.", show_default=False
    ),
]
Criterion = Annotated[str, typer.Option(help=f"Impurity: {', '.join(CRITERIA)}.")]
Ties = Annotated[str, typer.Option(help=f"Choice among equally good splits: {', '.join(TIES)}.")]
Seed = Annotated[
    int | None, typer.Option(help="Random seed for --ties random.", show_default=False)
]
LargestSize = Annotated[int, typer.Option(help="Largest number of splits, t*.")]

MostSplits = Annotated[int, typer.Option(help="Largest number of splits.")]
MostThresholds = Annotated[
    int | None,
    typer.Option(
        help="Largest number of thresholds per column of numbers, dates or ordered categories; "
        "default: all.",
        show_default=False,
    ),
]
