"""The command fit on Parquet files that are read batch by batch.

Rows that grow the tree, rows that choose its size and rows that test it are different ones. A hash
of a row's number says which part it belongs to; the rows of --test files all test.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from mictree._support.checks import caught, raise_all
from mictree._support.progress import Progress, Report
from mictree._support.words import count_of, show_number
from mictree.cli.common import (
    find_useless,
    print_json,
    print_parts,
    table_of_sizes,
    tree_text,
    working,
)
from mictree.cli.table import (
    Format,
    check_drop,
    find_warnings,
    naming_options,
    read_class_weight,
    say,
)

if TYPE_CHECKING:
    from mictree.estimators.streamed import HeldOut

UNSTREAMED = (  # options of files that are read at once
    "cv", "scoring", "details", "separator", "encoding", "decimal", "missing", "text", "number",
    "no_header", "date", "report", "time_limit", "after", "parts",
)  # fmt: skip
MOST_BATCHES = 16  # the first ones, in which warnings are sought
MOST_THRESHOLDS = 255


def refuse_unstreamed(context: typer.Context) -> None:
    """Refuse the options that streamed files cannot honour."""
    for name in UNSTREAMED:
        if _is_given(context, name):
            reason = (
                "columns of Parquet files have types of their own"
                if name in Format._fields
                else "files that are read batch by batch grow one tree, and held-out rows judge it"
            )
            raise ValueError(
                f"--{name.replace('_', '-')} must not be given with a folder or a pattern: {reason}"
            )
    options = context.params
    if options["size"] is not None and _is_given(context, "choose"):
        raise ValueError("--choose must not be given with --size, which chooses the size")
    if options["size"] is not None and options["test"] and _is_given(context, "held_out"):
        raise ValueError(
            "--held-out must not be given with --test and --size: then all rows that do not test "
            "grow the tree"
        )
    if options["size"] is None and not options["held_out"]:
        raise ValueError("--held-out must be above 0 for its rows to choose a size; name a --size")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


class Parts(NamedTuple):
    """The files, and where the parts of their rows begin and end.

    Attributes
    ----------
    files : whose rows grow the tree; those outside ``grown`` choose and test
    tests : the files that only test; there may be none
    grown : the places of the rows that grow the tree; None for all rows
    cut : the place at which the rows that choose the size end, and those that test begin; None if
        all rows outside ``grown`` do the same
    """

    files: tuple[Path, ...]
    tests: tuple[Path, ...]
    grown: tuple[float, float] | None
    cut: float | None

    @classmethod
    def of(cls, options: dict[str, Any]) -> "Parts":
        """From the options; files that test do not grow the tree."""
        from mictree.columns.parquet import find_files

        tests = find_files(options["test"]) if options["test"] else ()
        taken = {file.resolve() for file in tests}
        files = [each for each in find_files(str(options["file"])) if each.resolve() not in taken]
        if not files:
            raise ValueError(
                f"--test must leave a file to grow on; it names all {count_of(len(tests), 'file')} "
                f"of {str(options['file'])!r}"
            )
        share, chooses = options["held_out"], options["size"] is None
        if not share or (tests and not chooses):
            return cls(tuple(files), tests, None, None)
        cut = 1 - share / 2 if chooses and not tests else None
        return cls(tuple(files), tests, (0.0, 1 - share), cut)


class Judged(NamedTuple):
    """Errors on rows that did not grow the tree: of those that chose the size, and of the others.

    They are weighted as training errors are; None where there are no such rows.
    """

    chosen: "HeldOut | None"
    tested: "HeldOut | None"


def fit_streamed(model: Any, options: dict[str, Any], about: dict[str, Any] | None) -> int:
    """Grow a tree on rows of Parquet files, choose its size, test it and print it.

    It is printed as JSON if ``about`` begins that. Returns the size.
    """
    from mictree.columns.data import unreadable
    from mictree.columns.parquet import ParquetSet
    from mictree.problems.sample import SampleProblem
    from mictree.problems.streamed import check_label_type

    target, drop, keep = options["target"], options["drop"], options["keep"]
    weights = options["weights"]
    check_drop(target, drop)
    parts = Parts.of(options)
    found = ParquetSet([*parts.files, *parts.tests])
    apart = (target, *drop, *([] if weights is None else [weights]))
    columns = [name for name in found.schema if name not in apart]
    errors = [
        error
        for name in dict.fromkeys((*apart, *keep))
        for error in caught(found.check_column, name)
    ]
    if target in found.schema:
        errors += caught(check_label_type, found, target)
    if errors:  # else reading finds these, and others
        held = {name: found.schema[name] for name in columns}
        errors += [unreadable(name, kind) for name, kind in held.items() if kind.is_nested()]
    with naming_options():
        raise_all(errors)
    found = ParquetSet(parts.files)
    _warn(found, columns, target, keep)
    most = MOST_THRESHOLDS if model.max_thresholds is None else model.max_thresholds
    with working("reading") as report, naming_options():
        problem = SampleProblem.from_parquet(
            parts.files, target, columns=columns, sample_weight=weights, rows=parts.grown,
            seed=options["seed"], max_thresholds=most, progress=report,
        )  # fmt: skip
        factors = read_class_weight(options["class_weight"], problem.classes)
        model.set_params(class_weight=factors)
        report(Progress("growing"))
        model.fit(problem)
        judged = _judge(model, parts, options, report)
    wanted = options["size"] if judged.chosen is None else judged.chosen.size
    size = model.growth_.tree(wanted).size
    rows = int(problem.all_class_rows.sum())
    useless = find_useless(
        model.at_size(size), options, chosen=False
    )  # --scoring needs rows in memory
    if about is not None:
        print_json(about, **_facts(model, size, rows, judged), remarks=useless)
    else:
        ended = "" if size == wanted else f"; growth ended before --size {wanted}"
        told = _told_rows(rows, parts, judged)
        print_parts(*_parts(model, size, told, judged, ended, options["no_merge"]), *useless)
    return size


def _judge(model: Any, parts: Parts, options: dict[str, Any], report: Report) -> Judged:
    """Choose the size and test, in one pass over the rows that did not grow the tree."""
    from mictree.columns.parquet import ParquetSet, Share
    from mictree.estimators.saved import from_json, to_json
    from mictree.estimators.streamed import sum_leaves

    saved = from_json(to_json(model))  # it reads only the columns that the tree tests
    columns = options["target"], options["weights"]
    sums = []
    if parts.grown is not None:
        share = Share(parts.grown[1], 1.0, options["seed"])
        cuts = [] if parts.cut is None else [parts.cut]
        sums += sum_leaves(saved, ParquetSet(parts.files, share), *columns, cuts, report)
    if parts.tests:
        sums += sum_leaves(saved, ParquetSet(parts.tests), *columns, [], report)
    rows = [each.rows for each in sums]
    if 0 in rows:
        raise ValueError(
            "some row must choose the size, and another one test the tree; --held-out "
            f"{options['held_out']:g} and --test leave {' and '.join(map(str, rows))}"
        )
    factors = model._problem.class_weight.tolist()
    judged = [each.judge(saved._splitting, factors) for each in sums]
    chosen = judged.pop(0).choosing(options["choose"]) if options["size"] is None else None
    return Judged(chosen, judged[0] if judged else None)


def _facts(model: Any, size: int, rows: int, judged: Judged) -> dict[str, Any]:
    """What --json prints."""
    tree, (chosen, tested) = model.growth_.tree(size), judged
    facts: dict[str, Any] = {"train_rows": rows}
    if chosen is not None:
        facts["choosing_rows"] = chosen.rows
    facts["held_out_rows"] = 0 if tested is None else tested.rows
    facts["classes"] = [str(label) for label in model.classes_]
    facts["train_errors"] = model.growth_.errors
    if chosen is not None:
        facts["choosing_errors"] = chosen.shown
        facts["standard_errors"] = chosen.standard_errors
    facts["size"] = size
    if tested is not None:
        facts["held_out_error"] = tested.shown[size]
    return facts | {"tree": json.loads(tree.to_json())}


def _told_rows(rows: int, parts: Parts, judged: Judged) -> str:
    """How many rows there are for what."""
    grown = f"{count_of(rows, 'row')} of {count_of(len(parts.files), 'file')} to grow on"
    choose = f", {judged.chosen.rows:,} to choose the size" if judged.chosen is not None else ""
    if judged.tested is None:
        return f"{grown}{choose}, none held out"
    tested = f"{judged.tested.rows:,} held out"
    if parts.tests:
        tested = f"{count_of(judged.tested.rows, 'row')} of {count_of(len(parts.tests), 'file')} "
        tested += "to test on"
    return f"{grown}{choose}, {tested}"


def _parts(
    model: Any, size: int, rows: str, judged: Judged, ended: str, no_merge: bool
) -> tuple[Any, ...]:
    """What is printed, one below the other."""
    error = ""
    if judged.tested is not None:
        error = f", held-out error {show_number(judged.tested.shown[size])}"
    weighted = ["errors are weighted by class"] if model.class_weight is not None else []
    return (
        f"{rows}, {count_of(len(model.literals_), 'literal')}",
        table_of_sizes(model, judged.chosen),
        tree_text(model.at_size(size).tree_, [str(label) for label in model.classes_], no_merge),
        f"size {size}, training error {show_number(model.growth_.errors[size])}{error}{ended}",
        *weighted,
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
