"""The command fit: grow a tree from a table of data, of a size that cross-validation chooses."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table

from mictree._support.files import write_whole
from mictree._support.progress import Progress
from mictree._support.words import count_of
from mictree.cli.common import (
    check_drawing,
    check_output,
    depth_setting,
    make_rules,
    print_json,
    print_parts,
    save,
    show_number,
    working,
)
from mictree.cli.options import (
    AsJson,
    Criterion,
    Depth,
    Draw,
    MostSplits,
    MostThresholds,
    Rule,
    Ties,
)
from mictree.cli.table import (
    DataFiles,
    Decimal,
    Drop,
    Encoding,
    Format,
    Keep,
    Missing,
    Separator,
    Target,
    Text,
    is_streamed,
    read_table,
    say,
)

if TYPE_CHECKING:
    from mictree.estimators.sizes import SizeChoice

UNSTREAMED = (  # options of files that are read at once
    "keep", "cv", "choose", "held_out", "separator", "encoding", "decimal", "missing", "text",
    "report", "time_limit",
)  # fmt: skip


def fit(
    context: typer.Context,
    file: DataFiles,
    target: Target,
    rule: Rule = "topdown",
    depth: Depth = None,
    max_size: MostSplits = 20,
    size: Annotated[
        int | None,
        typer.Option(help="Size of the tree; default: chosen by --cv.", show_default=False),
    ] = None,
    drop: Drop = [],  # noqa: B006  # typer copies defaults
    keep: Keep = [],  # noqa: B006
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation that chooses a size.")] = 5,
    choose: Annotated[
        str, typer.Option(help="one-standard-error (prefers small trees) or least.")
    ] = "one-standard-error",
    held_out: Annotated[
        float, typer.Option(help="Share of the rows to hold out for the final test.")
    ] = 0.25,
    seed: Annotated[
        int, typer.Option(help="Random seed for held-out rows, folds and --ties random.")
    ] = 0,
    criterion: Criterion = "entropy",
    ties: Ties = "last",
    min_samples_split: Annotated[
        int, typer.Option(help="Do not split leaves with fewer rows.")
    ] = 2,
    min_samples_leaf: Annotated[int, typer.Option(help="Do not make leaves with fewer rows.")] = 1,
    max_depth: Annotated[
        int | None, typer.Option(help="Largest number of tests on a path.", show_default=False)
    ] = None,
    max_thresholds: MostThresholds = None,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006
    text: Text = [],  # noqa: B006
    as_json: AsJson = False,
    draw: Draw = None,
    save_to: Annotated[
        Path | None,
        typer.Option(
            "--save", help="Also save the model (.json) for mictree predict.", show_default=False
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a self-contained HTML page.", show_default=False)
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(help="Seconds to search the optimal trees of --report; 0 leaves them out."),
    ] = 20,
) -> None:
    """Grow a tree from data, choose its size by cross-validation, and test it on held-out rows.

    A quarter of the rows is held out first, classes in proportion. Cross-validation on the others
    chooses the size; these rows also grow the tree. So the held-out error comes from rows that had
    no part in the tree or in its size.

    Parquet files that a folder or a quoted pattern names are read batch by batch and may be larger
    than the memory. Then all rows grow the tree, its size is --size or else --max-size, and a
    column has at most 255 thresholds unless --max-thresholds says otherwise.

    \b
    Examples:
      mictree fit iris.csv --target species
      mictree fit iris.csv --target species --save model.json
      mictree fit people.csv.gz --target rich --separator semicolon --missing unknown
      mictree fit loans.parquet --target default --rule bestfirst --max-size 50 --drop id
      mictree fit iris.csv --target species --size 3 --draw tree.svg
      mictree fit 'data/*.parquet' --target label --size 10 --save model.json
      mictree fit iris.csv --target species --report iris.html
    """
    from mictree.estimators.classifiers import CLASSIFIERS
    from mictree.estimators.sizes import select_size

    make_rules([rule], depth, criterion, [ties], None)  # refuses bad options
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    check_drawing(draw)
    check_output(save_to, "--save", (".json",))
    check_output(report, "--report", (".html", ".htm"))
    if not 0 <= time_limit < math.inf:
        raise ValueError(f"--time-limit must be a number of seconds, at least 0; got {time_limit}")
    model = CLASSIFIERS[rule](
        max_size,
        criterion=criterion,
        ties=ties,
        random_state=seed,
        min_samples_split=min_samples_split,
        min_samples_leaf=min_samples_leaf,
        max_depth=max_depth,
        max_thresholds=max_thresholds,
        **depth_setting(rule, depth),
    )
    about = {"file": str(file), "target": target, "rule": rule, "criterion": criterion,
             "ties": ties, "seed": seed} | depth_setting(rule, depth)  # fmt: skip
    if is_streamed(file):
        _refuse_unstreamed(context)
        shown = max_size if size is None else size
        _fit_streamed(model, file, target, drop, shown, about if as_json else None)
        _write(model, shown, draw, save_to)
        return
    written = Format(separator, encoding, decimal, missing, text)
    X, y = read_table(file, target, drop, keep, written)
    train, test = split_rows(y, held_out, seed)
    choice, shown = None, size or 0
    with working("growing"):
        if size is None:
            choice = select_size(
                model, X[train], y[train], cv=cv, choose=choose, random_state=seed  # type: ignore[arg-type]
            )  # fmt: skip
            shown = choice.size
        model.fit(X[train], y[train])
        test_error = 1 - model.at_size(shown).score(X[test], y[test])
    tree = model.growth_.tree(shown)
    if as_json:
        print_json(
            about,
            train_rows=len(train), held_out_rows=len(test),
            classes=[str(label) for label in model.classes_],
            train_errors=model.growth_.errors, **_curve(choice),
            size=tree.size, held_out_error=test_error, tree=json.loads(tree.to_json()),
        )  # fmt: skip
    else:
        print_parts(
            f"{count_of(len(train), 'row')} to grow on, {len(test):,} held out, "
            f"{count_of(len(model.literals_), 'literal')}",
            _table(model, choice),
            model.to_text(shown),
            f"size {tree.size}, training error {show_number(model.growth_.errors[shown])}, "
            f"held-out error {show_number(test_error)}"
            + ("" if size in (None, tree.size) else f"; growth ended before --size {size}"),
        )
    _write(model, shown, draw, save_to)
    if report is not None:
        rows = Rows(X[train], y[train], X[test], y[test])
        settings = {
            "rule": rule,
            "criterion": criterion,
            "ties": ties,
            "largest size": max_size,
            "size": "chosen by cross-validation" if size is None else size,
            "folds": cv if size is None else "none",
            "choose": choose if size is None else "none",
            "share held out": held_out,
            "seed": seed,
            "columns left out": ", ".join(drop) or "none",
            "smallest leaf to split": count_of(min_samples_split, "row"),
            "smallest leaf": count_of(min_samples_leaf, "row"),
            "largest depth": "any" if max_depth is None else max_depth,
            "thresholds a column": "all" if max_thresholds is None else max_thresholds,
            "time limit for optimal trees": f"{time_limit:g} s",
        }
        _write_report(report, file, target, model, tree.size, choice, rows, time_limit, settings)


class Rows(NamedTuple):
    """Rows and labels to learn from, and held-out ones."""

    X: Any
    y: Any
    unseen: Any
    truth: Any


def _write_report(
    path: Path, file: Path, target: str, model: Any, size: int, choice: "SizeChoice | None",
    rows: Rows, time_limit: float, settings: dict[str, object],
) -> None:  # fmt: skip
    """Search the optimal trees up to the size, and write the page."""
    from mictree.estimators.optimal import OptimalTreeClassifier
    from mictree.report.data import render
    from mictree.report.fitted import Fitted, make_page

    optimal = None
    if time_limit:
        with working("searching the optimal trees"):
            optimal = OptimalTreeClassifier(
                size,
                max_depth=model.max_depth,
                time_limit=time_limit,
                max_thresholds=model.max_thresholds,
                min_samples_leaf=model.min_samples_leaf,
            ).fit(rows.X, rows.y)
    wrong = tuple(
        int((each.predict(rows.unseen, size) != rows.truth).sum())
        for each in (model, optimal)
        if each is not None
    )
    fitted = Fitted(model, model.rule, size, choice, optimal, wrong, len(rows.y), len(rows.truth))
    write_whole(path, render(make_page(fitted, file.name, target, settings)).encode())
    say(f"wrote {path}")


def _write(model: Any, size: int, draw: Path | None, save_to: Path | None) -> None:
    if draw is not None:
        save(draw, model.draw(size=size))
    if save_to is not None:
        model.at_size(size).save(save_to)
        say(f"wrote {save_to}")


def _refuse_unstreamed(context: typer.Context) -> None:
    """Refuse the options that streamed files cannot honour."""
    for name in UNSTREAMED:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            raise ValueError(
                f"--{name.replace('_', '-')} must not be given with a folder or a pattern: files "
                "that are read batch by batch grow one tree on all rows"
            )


def _fit_streamed(
    model: Any, file: Path, target: str, drop: list[str], size: int, about: dict[str, Any] | None
) -> None:
    """Grow a tree on all rows of Parquet files; print it, as JSON if ``about`` begins that."""
    from mictree.columns.parquet import ParquetSet
    from mictree.problems.sample import SampleProblem

    found = ParquetSet(str(file))
    for name in (target, *drop):
        found.check_column(name)
    columns = [name for name in found.schema if name not in (target, *drop)]
    most = 255 if model.max_thresholds is None else model.max_thresholds
    with working("reading") as report:
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
        _table(model, None),
        model.to_text(size),
        f"size {tree.size}, training error {show_number(model.growth_.errors[size])}",
    )


def _curve(choice: "SizeChoice | None") -> dict[str, Any]:
    if choice is None:
        return {}
    return {
        "cross_validated_errors": 1 - choice.means,
        "standard_errors": choice.standard_errors,
    }


def _table(model: Any, choice: "SizeChoice | None") -> Table:
    """Errors by size; an arrow marks the size that was chosen."""
    growth = model.growth_
    heads = ["size", "split on", "training error"]
    table = Table(*heads, *(["cross-validated error"] if choice is not None else []))
    splits = ["", *(step.variable for step in growth.steps)]
    for number, split in enumerate(splits):
        cells = [str(number), split, show_number(growth.errors[number])]
        if choice is not None:
            chosen = " ←" if number == choice.size else ""
            place = min(number, len(choice.means) - 1)  # no fold has a larger tree
            error = show_number(1 - choice.means[place])
            cells.append(f"{error} ± {choice.standard_errors[place]:.2g}{chosen}")
        table.add_row(*cells)
    return table


def split_rows(labels: Any, held_out: float, seed: int) -> tuple[Any, Any]:
    """Row numbers to grow on and to test on, classes in proportion; one seed, one answer."""
    import numpy as np

    if not 0 < held_out < 1:
        raise ValueError(f"--held-out must lie strictly between 0 and 1; got {held_out}")
    if not 0 <= seed < 2**31:
        raise ValueError(f"--seed must be from 0 to 2**31 - 1; got {seed}")
    rows = len(labels)
    count = round(rows * held_out)
    if count < 1 or rows - count < 1:
        raise ValueError(
            f"both parts of the rows must have at least 1; the file has {count_of(rows, 'row')}"
        )
    codes = np.unique(labels, return_inverse=True)[1]
    shuffled = np.random.default_rng(seed).permutation(rows)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    places = (np.arange(count) * rows + rows // 2) // count  # evenly spread, so classes are too
    chosen = np.zeros(rows, dtype=bool)
    chosen[by_class[places]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
