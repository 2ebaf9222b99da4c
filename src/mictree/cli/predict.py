"""The command predict: a saved model's answers for a table of data."""

import io
from pathlib import Path
from typing import Annotated

import typer

from mictree._support.files import write_whole
from mictree.cli.common import check_output
from mictree.cli.table import (
    DataFile,
    Decimal,
    Encoding,
    Format,
    Missing,
    Separator,
    load,
    say,
)


def predict(
    model: Annotated[Path, typer.Argument(help="A model from mictree fit --save.")],
    file: DataFile,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also the probability of every class.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write here (.csv or .parquet) instead of to stdout.", show_default=False
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Size of the tree; default: that of the model.", show_default=False),
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006  # typer copies defaults
) -> None:
    """Predict the label of every row of a table.

    The table needs the columns that the tree tests, by name; it may have others. The answer is a
    table with one row for each row, in the same order.

    \b
    Examples:
      mictree fit iris.csv --target species --save model.json
      mictree predict model.json new.csv
      mictree predict model.json new.csv --proba --out predictions.csv
    """
    import polars

    from mictree.estimators.saved import load as load_model

    check_output(out, "--out", (".csv", ".parquet"))
    saved = load_model(model)
    frame, said = load(file, Format(separator, encoding, decimal, missing), saved.literals_.kinds)
    answers = {"prediction": saved.predict(frame, size).tolist()}
    if proba:
        shares = saved.predict_proba(frame, size)
        for number, label in enumerate(saved.classes_):
            answers[f"probability of {label}"] = shares[:, number].tolist()
    table = polars.DataFrame(answers)
    say(said)
    if out is None:
        typer.echo(table.write_csv(), nl=False)
    else:
        written = io.BytesIO()
        if out.suffix.lower() == ".csv":
            table.write_csv(written)
        else:
            table.write_parquet(written)
        write_whole(out, written.getvalue())
        say(f"wrote {out}")
