"""Predictions for Parquet files that may be larger than the memory, written as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mictree._support.checks import caught, raise_all
from mictree._support.files import FULL, no_space, unfinished
from mictree._support.progress import Report, ignore
from mictree.columns.parquet import ParquetSet, Paths, as_polars
from mictree.columns.written import Tests

if TYPE_CHECKING:
    import polars
    import pyarrow

    from mictree.estimators.base import TreeClassifier


def answers(model: TreeClassifier, X: Any, size: int | None, proba: bool) -> polars.DataFrame:
    """A table with the prediction for each row, and the probability of every class if wanted."""
    import polars

    columns = {"prediction": model.predict(X, size).tolist()}
    if proba:
        shares = model.predict_proba(X, size)
        for number, label in enumerate(model.classes_):
            columns[f"probability of {label}"] = shares[:, number].tolist()
    return polars.DataFrame(columns)


def predict_parquet(
    model: TreeClassifier,
    paths: Paths,
    out: Path,
    size: int | None = None,
    proba: bool = False,
    progress: Report | None = None,
    look: Callable[[polars.DataFrame], None] = lambda frame: None,
) -> int:
    """Write the predictions for all rows of some files, in their order; returns how many.

    Each batch of rows is shown to ``look``.
    """
    files = ParquetSet(paths)
    if not files.rows:
        raise ValueError(f"there must be a row to predict; {files.files[0]} has none")
    _check_apart(Path(out), paths, files)
    columns = _columns(model, files)
    batches = files.batches(columns, "predicting", progress or ignore)
    frames = (as_polars(batch.table.select(columns)) for batch in batches)
    try:
        _write(out, (_answer(model, frame, size, proba, look) for frame in frames))
    except OSError as error:
        if error.errno in FULL:
            raise no_space(Path(out)) from error
        raise
    return files.rows


def _answer(
    model: TreeClassifier,
    frame: polars.DataFrame,
    size: int | None,
    proba: bool,
    look: Callable[[polars.DataFrame], None],
) -> pyarrow.Table:
    look(frame)
    return answers(model, frame, size, proba).to_arrow()


def _write(out: Path, tables: Iterator[pyarrow.Table]) -> None:
    """Write tables as one file, or none."""
    from pyarrow.parquet import ParquetWriter

    with unfinished(out) as temporary:
        writer = None
        try:
            for table in tables:
                writer = writer or ParquetWriter(temporary, table.schema)
                writer.write_table(table.cast(writer.schema))
        finally:
            if writer is not None:
                writer.close()


def _check_apart(out: Path, paths: Paths, files: ParquetSet) -> None:
    """Refuse to write over a file that is read, or into a folder that will be read again."""
    place = out.resolve()
    if any(place == file.resolve() for file in files.files):
        raise ValueError(f"the output must not be one of the files that are read; {out} is")
    if isinstance(paths, str | Path) and Path(paths).is_dir() and (
        Path(paths).resolve() in place.parents
    ):  # fmt: skip
        raise ValueError(
            f"the output must lie outside the folder that is read; {out} is in {paths}"
        )


def _columns(model: TreeClassifier, files: ParquetSet) -> list[str]:
    """The columns that the model reads; a saved model reads few, and finds them by name."""
    names, tests = list(files.schema), model.literals_
    if isinstance(tests, Tests) and tests.named:
        names = [column.name for column in tests.read]
    else:
        names = list(getattr(model, "feature_names_in_", names))
    raise_all([error for name in names for error in caught(files.check_column, name)])
    return names or list(files.schema)[:1]  # a lone leaf reads no column; rows must be counted
