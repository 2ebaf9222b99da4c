"""The command data: learners beside the optimal trees on a table of data."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mictree._support.checks import caught
from mictree._support.files import write_whole
from mictree.cli.common import (
    check_drawing,
    check_output,
    class_facts,
    find_useless,
    print_json,
    print_parts,
    save,
    save_model,
    tree_text,
    working,
    write_command,
    write_each,
)
from mictree.cli.options import (
    AsJson,
    Details,
    Draw,
    MostSplits,
    MostThresholds,
    NoMerge,
    Scoring,
)
from mictree.cli.table import (
    After,
    ClassWeight,
    DataFile,
    DateOrder,
    Decimal,
    Drop,
    Encoding,
    Format,
    Keep,
    Missing,
    NoHeader,
    Number,
    Parts,
    Separator,
    Target,
    Text,
    Weights,
    advise_after,
    column_of_weights,
    is_streamed,
    known_column,
    naming_options,
    read_class_weight,
    read_table,
    say,
)
from mictree.cli.workers import Scheduler, Workers, on_workers

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison

UNCOPIED = (  # options that the command of the page does without
    "learner", "cv", "repeats", "scoring", "jobs", "scheduler", "workers", "size", "plot", "report",
    "as_json", "details", "draw",
)  # fmt: skip
LEARNERS = ("topdown", "bestfirst", "id3", "sklearn", "lightgbm", "xgboost")


def data(
    context: typer.Context,
    file: DataFile,
    target: Target,
    max_size: MostSplits = 8,
    time_limit: Annotated[float, typer.Option(help="Seconds for all searches together.")] = 60,
    learner: Annotated[
        list[str],
        typer.Option(help=f"One of {', '.join(LEARNERS)}; repeatable.", metavar="LEARNER"),
    ] = ["topdown"],  # noqa: B006  # typer copies defaults
    drop: Drop = [],  # noqa: B006
    keep: Keep = [],  # noqa: B006
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation; 0 skips it.")] = 5,
    repeats: Annotated[
        int, typer.Option(help="Number of times to repeat the cross-validation.")
    ] = 3,
    scoring: Scoring = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column whose values no fold may separate; not used in trees.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    after: After = None,
    weights: Weights = None,
    class_weight: ClassWeight = None,
    jobs: Annotated[
        int, typer.Option(help="Number of folds at once; -1 for one on each core.")
    ] = 1,
    scheduler: Scheduler = None,
    workers: Workers = None,
    seed: Annotated[int, typer.Option(help="Random seed for the folds.")] = 0,
    max_thresholds: MostThresholds = None,
    size: Annotated[
        int | None,
        typer.Option(
            help="Size of the optimal tree to show; default: the one to use, within one standard "
            "error of the best on held-out rows, or --max-size with --cv 0.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also plot the errors (.svg, .png or .pdf).", show_default=False),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write a self-contained HTML page.", show_default=False)
    ] = None,
    no_header: NoHeader = False,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006
    text: Text = [],  # noqa: B006
    number: Number = [],  # noqa: B006
    date: DateOrder = [],  # noqa: B006
    parts: Parts = [],  # noqa: B006
    no_merge: NoMerge = False,
    as_json: AsJson = False,
    details: Details = False,
    draw: Draw = None,
    save_to: Annotated[
        Path | None,
        typer.Option(
            "--save",
            help="Also save the tree that is shown (.json) for mictree predict.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compare tree learners with the optimal trees of every size.

    Every learner and the optimal trees choose from the same tests. When the time limit ends the
    search early, each optimal error that is not proved is shown as a certified interval. Ctrl-C
    ends the search in the same way, without held-out errors and with exit status 130.

    \b
    Examples:
      mictree data iris.csv --target species --max-size 5
      mictree data loans.parquet --target default --drop id --learner topdown --learner sklearn
      mictree data iris.csv --target species --plot errors.svg --report iris.html
      mictree data iris.csv --target species --size 2 --save model.json --draw tree.svg
      mictree data visits.csv --target ill --groups patient --scoring balanced_accuracy --jobs -1
      mictree data visits.csv --target ill --after date --parts date
      mictree data loans.parquet --target default --scheduler tcp://10.0.0.1:8786
    """
    from mictree.comparison.run import compare

    _check_options(context.params)
    apart = [name for name in (groups, weights) if name is not None]
    written = Format(separator, encoding, decimal, missing, text, number, no_header, date)
    table = read_table(
        file, target, drop, keep, written, parts, after, apart,
        lambda frame: [
            *caught(known_column, frame, groups), *caught(column_of_weights, frame, weights)
        ],
    )  # fmt: skip
    X, y = table.X, table.y
    if after is None and cv and groups is None:
        advise_after(table, keep)
    members, weight = known_column(X, groups), column_of_weights(X, weights)
    factors = None
    if class_weight is not None:
        import numpy as np

        factors = read_class_weight(class_weight, np.unique(y).tolist())
    with (
        on_workers(scheduler, workers) as n_jobs,
        working("comparing") as progress,
        naming_options(X.drop(apart)),
    ):
        result = compare(
            learner, X.drop(apart), y, max_size, time_limit=time_limit, cv=cv, repeats=repeats,
            groups=members, after=table.moments, scoring=scoring, sample_weight=weight,
            class_weight=factors,
            random_state=seed, max_thresholds=max_thresholds, n_jobs=n_jobs or jobs,
            progress=progress,
        )  # fmt: skip
    shown = result.advised_size if size is None else size
    tree, classes = result.optimal_trees.tree(shown), [str(label) for label in result.classes]
    model: Any = result.model(shown)
    model.dates_ = table.dates  # for predict, which reads new files as this one
    useless = find_useless(model, context.params, size is None and cv > 0)
    if as_json:
        results = class_facts(result.class_results(shown)) if result.held_out else {}
        print_json(
            {"file": str(file), "target": target, "max_size": max_size, "seed": seed},
            **_facts(result), size=shown, **results, remarks=useless,
            tree=tree.to_text(classes, merge=False).splitlines(),
        )  # fmt: skip
    else:
        drawn = tree_text(tree, classes, no_merge)
        print_parts(str(result), "", f"{result.tree_title(shown)}:", drawn, *useless)
        if details and result.held_out:
            print_parts("", "its held-out rows by class:", str(result.class_results(shown)))
    writes: list[Callable[[], None]] = []
    if save_to is not None:
        writes.append(lambda: save_model(save_to, model))
    if draw is not None:
        writes.append(lambda: save(draw, model.draw(merge=not no_merge)))
    if plot is not None:
        writes.append(lambda: save(plot, result.plot().axes[0]))
    if report is not None:
        writes.append(lambda: _write_report(report, result, shown, context, useless))
    write_each(*writes)


def _write_report(
    path: Path, result: "Comparison", size: int, context: typer.Context, useless: list[str]
) -> None:
    """Write the page, with the command that writes the tree that it shows."""
    from mictree.report.compared import make_page
    from mictree.report.data import render

    options = context.params
    written = options["save_to"] or "model.json"
    command = write_command(context, UNCOPIED, size=size, cv=0, save_to=written)
    page = make_page(
        result, options["file"].name, options["target"], size, _settings(options),
        useless, command, merge=not options["no_merge"],
    )  # fmt: skip
    write_whole(path, render(page).encode())
    say(f"wrote {path}")


def _check_options(options: dict[str, Any]) -> None:
    """Refuse values of options before anything is read."""
    from mictree.comparison.run import check_settings

    learners, size, max_size = options["learner"], options["size"], options["max_size"]
    for name in learners:
        if name not in LEARNERS:
            raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}; got {name!r}")
    if len(set(learners)) < len(learners):
        raise ValueError(f"--learner must name each learner once; got {', '.join(learners)}")
    same = ("max_size", "time_limit", "cv", "repeats", "scoring", "max_thresholds")
    check_settings(
        **{name: options[name] for name in same},
        random_state=options["seed"],
        n_jobs=options["jobs"],
    )
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    read_class_weight(options["class_weight"])
    check_drawing(options["plot"], "--plot")
    check_drawing(options["draw"])
    check_output(options["save_to"], "--save", (".json",))
    check_output(options["report"], "--report", (".html", ".htm"))
    if options["groups"] is not None and options["after"] is not None:
        raise ValueError("--groups and --after must not both be given")
    apart = [options[name] for name in ("target", "groups", "weights")]
    apart = [name for name in apart if name is not None]
    named = [*apart, *([] if options["after"] is None else [options["after"]])]
    if len(set(named)) < len(named) or set(apart) & set(options["drop"]):
        raise ValueError(
            "--target, --groups, --after, --weights and --drop must name different columns"
        )
    if is_streamed(options["file"]):
        raise ValueError(
            f"FILE must be one table, which data reads at once; {str(options['file'])!r} names a "
            "folder or a pattern: mictree fit reads many Parquet files"
        )


def _settings(options: dict[str, Any]) -> dict[str, object]:
    """The options with which a user can repeat the run, as the page names them."""
    return {
        "largest size": options["max_size"],
        "learners": ", ".join(options["learner"]),
        "columns left out": ", ".join(options["drop"]) or "none",
        "measure on held-out rows": options["scoring"] or "error",
        "groups": options["groups"] or "none",
        "tested on rows after others, by": options["after"] or "none",
        "parts of dates": ", ".join(options["parts"]) or "none",
        "weights": options["weights"] or "none",
        "weights of classes": options["class_weight"] or "none",
        "folds": options["cv"],
        "repeats": options["repeats"],
        "seed": options["seed"],
        "thresholds a column": options["max_thresholds"] or "all",
        "time limit": f"{options['time_limit']:g} s",
    }


def _facts(result: "Comparison") -> dict[str, Any]:
    return {
        "rows": result.rows,
        "literals": result.literals,
        "classes": [str(label) for label in result.classes],
        "proved": result.optimal_errors.proved.tolist(),
        "mic": {name: result.mic(name) for name in result.names},
        "results": result.frame.to_dicts(),
    }
