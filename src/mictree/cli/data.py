"""The command data: compare learners with the optimal trees of every size on a table of data.

All of them choose from the same tests, so a difference in training error is due to greed alone. The
library's ``compare`` computes; this module reads the table, prints the result, and writes the tree,
its drawing, the plot and the page. The command first makes a frozen ``DataSettings`` of its options
and refuses bad ones; nothing is read before.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from mictree._support.checks import caught
from mictree._support.files import write_whole
from mictree._support.words import names_of_labels, show_name
from mictree.cli.options import (
    After,
    AsJson,
    Categories,
    ClassWeight,
    Costs,
    DataFile,
    DateOrder,
    Decimal,
    Details,
    Draw,
    Drop,
    Encoding,
    HtmlReport,
    Keep,
    Missing,
    MostSplits,
    MostThresholds,
    NoHeader,
    NoMerge,
    Number,
    Parts,
    Scheduler,
    Scoring,
    Separator,
    TableSettings,
    Target,
    TaskName,
    Text,
    Weights,
    Workers,
    check_drawing,
    check_output,
    cv_option,
    jobs_option,
    on_workers,
    plot_option,
    save_option,
    seed_option,
    size_option,
    write_command,
)
from mictree.cli.output import (
    print_json,
    print_parts,
    result_facts,
    save_drawing,
    save_model,
    show_progress,
    tree_text,
    tree_warnings,
    write_each,
)
from mictree.cli.table import (
    column_of_weights,
    complete_column,
    is_streamed,
    naming_options,
    print_note,
    read_class_weight,
    read_table,
    warn_about_time_order,
)
from mictree.cli.tasks import CLASSIFICATION

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison
    from mictree.estimators.leaves import ActionResults
    from mictree.estimators.predicting import ClassResults

NOT_COPIED = (  # options that the command on the page leaves out
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
    cv: Annotated[int, cv_option("; 0 skips it")] = 5,
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
    costs: Costs = None,
    task: TaskName = None,
    jobs: Annotated[int, jobs_option("folds")] = 1,
    scheduler: Scheduler = None,
    workers: Workers = None,
    seed: Annotated[int, seed_option("the folds")] = 0,
    max_thresholds: MostThresholds = None,
    categories: Categories = "each",
    size: Annotated[
        int | None,
        size_option(
            "optimal tree to show",
            "the one to use, within one standard error of the best on held-out rows, or --max-size "
            "with --cv 0",
        ),
    ] = None,
    plot: Annotated[Path | None, plot_option("the errors")] = None,
    report: HtmlReport = None,
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
    save_to: Annotated[Path | None, save_option("the tree that is shown")] = None,
) -> None:
    """Compare tree learners with the optimal trees of every size.

    Every learner and the optimal trees choose from the same tests. When the time limit ends the
    search early, each optimal error that is not proved is shown as a certified interval. Ctrl-C
    ends the search in the same way, without held-out errors and with exit status 130.

    A target of numbers with a fraction, or of more than 20 different numbers, is a regression: its
    errors are mean squared errors. With --costs, errors are mean costs.

    \b
    Examples:
      mictree data iris.csv --target species --max-size 5
      mictree data loans.parquet --target default --drop id --learner topdown --learner sklearn
      mictree data iris.csv --target species --plot errors.svg --report iris.html
      mictree data iris.csv --target species --size 2 --save model.json --draw tree.svg
      mictree data visits.csv --target ill --groups patient --scoring balanced_accuracy --jobs -1
      mictree data visits.csv --target ill --after date --parts date
      mictree data houses.csv --target price --max-size 4 --report houses.html
      mictree data visits.csv --target ill --costs costs.csv
      mictree data loans.parquet --target default --scheduler tcp://10.0.0.1:8786
    """
    from mictree.comparison.run import compare

    settings = DataSettings(**context.params)
    if details:
        why = "it has no table by leaf here, as mictree fit --details has"
        settings = replace(settings, of_classes=(("--details", why),))
    _check_settings(settings)
    request = settings.request
    untested = [name for name in (groups, weights) if name is not None]
    table = read_table(
        file, target, drop, keep, settings.file_format, parts, after, untested,
        lambda frame: [
            *caught(complete_column, frame, groups), *caught(column_of_weights, frame, weights)
        ],
        request,
    )  # fmt: skip
    X, y = table.X, table.y
    if after is None and cv and groups is None:
        warn_about_time_order(table, keep)
    members, weight = complete_column(X, groups), column_of_weights(X, weights)
    factors = matrix = None
    if table.task == CLASSIFICATION:
        import numpy as np

        classes = np.unique(y).tolist()
        factors, matrix = read_class_weight(class_weight, classes), request.cost_matrix(classes)
    with (
        on_workers(scheduler, workers) as n_jobs,
        show_progress("comparing") as progress,
        naming_options(X.drop(untested)),
    ):
        result = compare(
            learner, X.drop(untested), y, max_size, time_limit=time_limit, cv=cv, repeats=repeats,
            groups=members, after=table.moments, scoring=scoring, sample_weight=weight,
            class_weight=factors, cost_matrix=matrix,
            loss=None if table.task == CLASSIFICATION else "squared",
            random_state=seed, max_thresholds=max_thresholds, n_jobs=n_jobs or jobs,
            progress=progress, categories=categories,
        )  # fmt: skip
    shown = result.advised_size if size is None else size
    tree, model = result.optimal_trees.tree(shown), cast(Any, result.model(shown))
    model.dates_ = table.dates  # for predict, which reads new files as this one
    names = names_of_labels(model)
    advise_scoring = size is None and cv > 0 and scoring is None
    remarks = tree_warnings(model, class_weight, advise_scoring)
    held_out = _held_out_results(result, shown, matrix)
    if as_json:
        print_json(
            {"file": str(file), "target": target, "max_size": max_size, "seed": seed},
            **_json_fields(result, table.task), size=shown,
            **({} if held_out is None else result_facts(held_out)), remarks=remarks,
            tree=tree.to_text(names, merge=False).splitlines(),
        )  # fmt: skip
    else:
        drawn = tree_text(tree, names, no_merge)
        print_parts(str(result), "", f"{result.tree_title(shown)}:", drawn, *remarks)
        if details and held_out is not None:
            weighted = "" if weights is None else f", weighted by {show_name(weights)}"
            print_parts("", f"its held-out rows by class{weighted}:", str(held_out))
    writes: list[Callable[[], None]] = []
    if save_to is not None:
        writes.append(lambda: save_model(save_to, model))
    if draw is not None:
        writes.append(lambda: save_drawing(draw, model.draw(merge=not no_merge)))
    if plot is not None:
        writes.append(lambda: save_drawing(plot, result.plot().axes[0]))
    if report is not None:
        saved = save_to or "model.json"
        command = write_command(context, NOT_COPIED, size=shown, cv=0, save_to=saved)
        known = _Shown(shown, held_out, remarks, command, table.task)
        writes.append(lambda: _write_report(report, result, settings, known))
    write_each(*writes)


@dataclass(frozen=True, kw_only=True)
class DataSettings(TableSettings):
    """The options of ``data``."""

    learner: list[str]
    repeats: int
    groups: str | None
    jobs: int
    scheduler: Scheduler
    workers: Workers
    plot: Path | None


class _Shown(NamedTuple):
    """The tree that is shown: its size, its results on held-out rows, and what to say about it."""

    size: int
    results: "ClassResults | ActionResults | None"
    remarks: list[str]
    command: str
    task: str


def _held_out_results(
    result: "Comparison", size: int, matrix: Any
) -> "ClassResults | ActionResults | None":
    """The results of optimal trees on held-out rows by class, with costs also by action."""
    from mictree.estimators.leaves import ActionResults

    if not result.held_out or not result.classes:
        return None
    found = result.class_results(size)
    return found if matrix is None else ActionResults.of_classes(found, matrix)


def _write_report(path: Path, result: "Comparison", settings: DataSettings, shown: _Shown) -> None:
    """Write the page, with the command that writes the tree that it shows."""
    from mictree.report.data import make_comparison_page, render

    page = make_comparison_page(
        result, settings.file.name, settings.target, shown.size,
        _page_settings(settings, shown.task), shown.remarks, shown.command,
        merge=not settings.no_merge, results=shown.results,
    )  # fmt: skip
    write_whole(path, render(page).encode())
    print_note(f"wrote {path}")


def _check_settings(settings: DataSettings) -> None:
    """Refuse values of options before anything is read."""
    from mictree.comparison.run import Settings

    learners, size, max_size = settings.learner, settings.size, settings.max_size
    for name in learners:
        if name not in LEARNERS:
            raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}; got {name!r}")
    if len(set(learners)) < len(learners):
        raise ValueError(f"--learner must name each learner once; got {', '.join(learners)}")
    same = ("max_size", "time_limit", "cv", "repeats", "scoring", "max_thresholds", "categories")
    Settings(  # refuses what no table could make right
        **{name: getattr(settings, name) for name in same},
        random_state=settings.seed,
        n_jobs=settings.jobs,
    )
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    read_class_weight(settings.class_weight)
    check_drawing(settings.plot, "--plot")
    check_drawing(settings.draw)
    check_output(settings.save_to, "--save", (".json",))
    check_output(settings.report, "--report", (".html", ".htm"))
    if settings.groups is not None and settings.after is not None:
        raise ValueError("--groups and --after must not both be given")
    untested = [settings.target, settings.groups, settings.weights]
    untested = [name for name in untested if name is not None]
    named = [*untested, *([] if settings.after is None else [settings.after])]
    if len(set(named)) < len(named) or set(untested) & set(settings.drop):
        raise ValueError(
            "--target, --groups, --after, --weights and --drop must name different columns"
        )
    if is_streamed(settings.file):
        raise ValueError(
            f"FILE must be one table, which data reads at once; {str(settings.file)!r} names a "
            "folder or a pattern: mictree fit reads many Parquet files"
        )


def _page_settings(settings: DataSettings, task: str) -> dict[str, object]:
    """The options with which a user can repeat the run, as the page names them."""
    classes = task == CLASSIFICATION
    return {
        "task": task,
        "largest size": settings.max_size,
        "learners": ", ".join(settings.learner),
        "columns left out": ", ".join(settings.drop) or "none",
        "measure on held-out rows": settings.measured(task),
        "groups": settings.groups or "none",
        "tested on rows after others, by": settings.after or "none",
        "parts of dates": ", ".join(settings.parts) or "none",
        "weights": settings.weights or "none",
        **({"weights of classes": settings.class_weight or "none"} if classes else {}),
        **({"costs": settings.costs or "none"} if classes else {}),
        "folds": settings.cv,
        "repeats": settings.repeats,
        "seed": settings.seed,
        "thresholds a column": settings.max_thresholds or "all",
        "tests on categories": settings.categories,
        "time limit": f"{settings.time_limit:g} s",
    }


def _json_fields(result: "Comparison", task: str) -> dict[str, Any]:
    """The fields that --json prints."""
    classes = [str(label) for label in result.classes]
    return {
        "task": task,
        "measure": result.error_name,
        "rows": result.rows,
        "literals": result.literals,
        **({"classes": classes} if classes else {}),
        "proved": result.optimal_errors.proved.tolist(),
        "certificates": result.optimal_errors.certificate.tolist(),
        "mic": {name: result.mic(name) for name in result.names},
        "results": result.frame.to_dicts(),
    }
