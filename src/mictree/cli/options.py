"""Options and arguments that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from mictree.growers.rules import RULES, TIES
from mictree.impurity.criteria import CRITERIA

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Draw = Annotated[
    Path | None,
    typer.Option(help="Also draw into FILE (.svg, .png or .pdf).", show_default=False),
]

Rule = Annotated[str, typer.Option(help=f"{', '.join(RULES)}.")]
Rules = Annotated[list[str], typer.Option(help=f"{', '.join(RULES)}; repeatable.", metavar="RULE")]
Criterion = Annotated[str, typer.Option(help=f"Impurity: {', '.join(CRITERIA)}.")]
Ties = Annotated[str, typer.Option(help=f"Among equally good splits: {', '.join(TIES)}.")]
Seed = Annotated[int | None, typer.Option(help="For --ties random.", show_default=False)]
LargestSize = Annotated[int, typer.Option(help="The largest size, t*.")]

DataFile = Annotated[Path, typer.Argument(help="A .csv or .parquet file.", show_default=False)]
Target = Annotated[str, typer.Option(help="The column to predict.", show_default=False)]
MostSplits = Annotated[int, typer.Option(help="The most splits.")]
Drop = Annotated[
    list[str], typer.Option(help="A column to leave out; repeatable.", metavar="COLUMN")
]
MostThresholds = Annotated[int, typer.Option(help="The most thresholds of a column.")]
