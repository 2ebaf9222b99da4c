"""The command predict: a saved model's predictions for a table of data.

The file is read as the training file was: kinds of columns, categories and the order of day and
month come from the model, and only the columns that its tree tests must be there. Predictions come
in the order of the rows. Columns that --keep names are written before them as the file has them.
Files that a folder or a pattern names are read batch by batch.
"""

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mictree._support.checks import caught, raise_all
from mictree._support.files import write_whole
from mictree._support.words import show_name
from mictree.cli.options import (
    DataFiles,
    DateOrder,
    Decimal,
    Encoding,
    FileFormat,
    Missing,
    NoHeader,
    Separator,
    check_output,
    size_option,
)
from mictree.cli.output import show_progress, spelled
from mictree.cli.table import check_names, is_streamed, load, print_note, refuse_options

if TYPE_CHECKING:
    import polars


def predict(
    model: Annotated[Path, typer.Argument(help="A model from mictree fit --save.")],
    file: DataFiles,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also write the probability of every class.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write here (.csv or .parquet) instead of to stdout; a folder or a pattern needs "
            "it, and .parquet.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        list[str],
        typer.Option(
            help="Column to write before the predictions, as the file has it, or all; repeatable. "
            "(fit --keep is another thing: it silences warnings.)",
            metavar="COLUMN|all",
        ),
    ] = [],  # noqa: B006  # typer copies defaults
    size: Annotated[int | None, size_option("tree", "that of the model")] = None,
    no_header: NoHeader = False,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006
    date: DateOrder = [],  # noqa: B006
) -> None:
    """Predict the label of every row of a table: its class, its number or what to do.

    The table needs the columns that the tree tests, by name; it may have others. Dates are read as
    in training: where that told the day from the month, it tells them here. Predictions are
    written as a table, one for each row, in the same order, after the columns that --keep names;
    these are written as in the file, so the code 007 keeps its zeros. Files that a folder or a
    pattern names are read batch by batch, in the order of their names, and may be larger than the
    memory.

    \b
    Examples:
      mictree fit iris.csv --target species --save model.json
      mictree predict model.json new.csv
      mictree predict model.json new.csv --proba --out predictions.csv
      mictree predict model.json new.csv --keep id --keep town
      mictree predict model.json new.parquet --keep all --out scored.parquet
      mictree predict model.json 'data/*.parquet' --out predictions.parquet
    """
    from mictree.estimators.saved import Unseen
    from mictree.estimators.saved import load as load_model
    from mictree.estimators.streamed import ALL, answers, choose_kept, predict_parquet

    file_format = FileFormat(separator, encoding, decimal, missing, no_header=no_header, date=date)
    streamed = is_streamed(file)
    check_output(out, "--out", (".parquet",) if streamed else (".csv", ".parquet"))
    for name, read in (("FILE", file), ("MODEL", model)):
        if out is not None and out.resolve() == read.resolve():
            raise ValueError(f"--out must not be {name}, which is read; got {str(out)!r}")
    saved = load_model(model)
    if proba and not hasattr(saved, "classes_"):
        raise ValueError(
            f"--proba must be given with a model of classes; {str(model)!r} predicts "
            f"{'actions' if hasattr(saved, 'actions_') else 'numbers'}"
        )
    unseen = Unseen(saved, size)
    if streamed:
        refuse_options(file_format, file)
        if out is None:
            raise ValueError("--out must name a .parquet file when several files are predicted")
        with show_progress("predicting") as report:
            predict_parquet(saved, str(file), out, size, proba, keep, report, unseen.add)
        for line in unseen.lines():
            print_note(line)
        print_note(f"wrote {out}")
        return
    kinds = saved.literals_.kinds
    file_format = file_format._replace(only=saved.literals_.sources, options=())
    loaded = load(file, file_format, kinds, orders=saved.literals_.orders, as_written=bool(keep))
    frame, doubt, cells = loaded.frame, loaded.doubt, loaded.cells
    errors = [*loaded.errors, *dict.fromkeys(loaded.refused.values())]
    named = [name for name in keep if name != ALL]
    if errors:
        named += saved.literals_.sources
    raise_all([*caught(check_names, frame, named, doubt), *errors])
    try:
        table = answers(saved, frame, size, proba)
    except ValueError as error:
        raise ValueError(f"{error}; {doubt}" if doubt else str(error)) from None
    unseen.add(frame)
    if cells is not None:
        kept = choose_kept(cells.columns, keep, table.columns)
        table = cells.select(kept).hstack(table)
        _check_cells(table, out)
    print_note(loaded.summary)
    for line in (*(remark for name, remark in loaded.remarks if name in kinds), *unseen.lines()):
        print_note(line)
    if out is None:
        _print(table.write_csv())
    else:
        content = io.BytesIO()
        if out.suffix.lower() == ".csv":
            table.write_csv(content)
        else:
            table.write_parquet(content)
        write_whole(out, content.getvalue())
        print_note(f"wrote {out}")


def _check_cells(table: "polars.DataFrame", out: Path | None) -> None:
    """Refuse lists and the like, which no CSV file can hold."""
    nested = [column for column in table if column.dtype.is_nested()]
    if nested and (out is None or out.suffix.lower() == ".csv"):
        raise ValueError(
            f"--keep must name columns of single values, unless --out is a .parquet file; "
            f"{show_name(nested[0].name)} has {nested[0].dtype}"
        )


def _print(table: str) -> None:
    """Print predictions; say so if standard output cannot hold them as they are."""
    encoding = sys.stdout.encoding or "utf-8"
    if spelled(table, encoding) != table:
        print_note(
            f"warning: standard output is {encoding}, which lacks characters of the predictions; "
            "they are escaped, as in \\u2264: --out writes UTF-8"
        )
    print(table, end="")
