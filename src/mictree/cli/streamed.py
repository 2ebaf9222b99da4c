"""The command fit on Parquet files that are read batch by batch."""

import json
from pathlib import Path
from typing import Any

import typer

from mictree._support.checks import caught, raise_all
from mictree._support.progress import Progress
from mictree._support.words import count_of, show_number
from mictree.cli.common import print_json, print_parts, table_of_sizes, working
from mictree.cli.table import Format, check_drop, find_warnings, naming_options, say

UNSTREAMED = (  # options of files that are read at once
    "cv", "choose", "held_out", "separator", "encoding", "decimal", "missing", "text", "number",
    "no_header", "report", "time_limit",
)  # fmt: skip
MOST_BATCHES = 16  # the first ones, in which warnings are sought
MOST_THRESHOLDS = 255


def refuse_unstreamed(context: typer.Context) -> None:
    """Refuse the options that streamed files cannot honour."""
    for name in UNSTREAMED:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            reason = (
                "columns of Parquet files have types of their own"
                if name in Format._fields
                else "files that are read batch by batch grow one tree on all rows"
            )
            raise ValueError(
                f"--{name.replace('_', '-')} must not be given with a folder or a pattern: {reason}"
            )


def fit_streamed(
    model: Any, file: Path, target: str, drop: list[str], keep: list[str], size: int,
    about: dict[str, Any] | None,
) -> None:  # fmt: skip
    """Grow a tree on all rows of Parquet files; print it, as JSON if ``about`` begins that."""
    from mictree.columns.data import unreadable
    from mictree.columns.parquet import ParquetSet
    from mictree.problems.sample import SampleProblem
    from mictree.problems.streamed import check_label_type

    check_drop(target, drop)
    found = ParquetSet(str(file))
    columns = [name for name in found.schema if name not in (target, *drop)]
    errors = [
        error
        for name in dict.fromkeys((target, *drop, *keep))
        for error in caught(found.check_column, name)
    ]
    if target in found.schema:
        errors += caught(check_label_type, found, target)
    if errors:  # else reading finds these, and others
        held = {name: found.schema[name] for name in columns}
        errors += [unreadable(name, kind) for name, kind in held.items() if kind.is_nested()]
    with naming_options():
        raise_all(errors)
    _warn(found, columns, target, keep)
    most = MOST_THRESHOLDS if model.max_thresholds is None else model.max_thresholds
    with working("reading") as report, naming_options():
        problem = SampleProblem.from_parquet(
            found.files, target, columns=columns, max_thresholds=most, progress=report
        )
        report(Progress("growing"))
        model.fit(problem)
    tree, rows = model.growth_.tree(size), int(problem.class_rows.sum())
    if about is not None:
        print_json(
            about, train_rows=rows, classes=[str(label) for label in model.classes_],
            train_errors=model.growth_.errors, size=tree.size, tree=json.loads(tree.to_json()),
        )  # fmt: skip
        return
    print_parts(
        f"{count_of(rows, 'row')} of {count_of(len(found.files), 'file')} to grow on, none held "
        f"out, {count_of(len(model.literals_), 'literal')}",
        table_of_sizes(model, None),
        model.to_text(size),
        f"size {tree.size}, training error {show_number(model.growth_.errors[size])}",
    )


def _warn(found: Any, columns: list[str], target: str, keep: list[str]) -> None:
    """Say what looks wrong in the first rows, as much of the files as surely fits the memory."""
    from itertools import islice

    import polars

    from mictree.columns.parquet import as_polars

    names = [*columns, target]
    first = [as_polars(batch.table) for batch in islice(found.batches(names), MOST_BATCHES)]
    if not first:
        return
    frame = polars.concat([each.select(names) for each in first])
    frame = frame.filter(frame[target].is_not_null())
    part = "" if frame.height == found.rows else f" (in the first {count_of(frame.height, 'row')})"
    for name, warning in find_warnings(frame.select(columns), frame[target], part):
        if name not in keep:
            say(f"warning: {warning}")
