"""The command data: learners beside the optimal trees on a table of data."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mictree._support.checks import caught
from mictree._support.files import write_whole
from mictree._support.words import shell_word, show_name
from mictree.cli.common import (
    check_drawing,
    check_output,
    print_json,
    print_parts,
    save,
    working,
    write_each,
)
from mictree.cli.options import AsJson, MostSplits, MostThresholds
from mictree.cli.table import (
    DataFile,
    Decimal,
    Drop,
    Encoding,
    Format,
    Keep,
    Missing,
    NoHeader,
    Number,
    Separator,
    Target,
    Text,
    is_streamed,
    naming_options,
    read_table,
    say,
)
from mictree.cli.workers import Scheduler, Workers, on_workers

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison

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
    scoring: Annotated[
        str | None,
        typer.Option(
            help="Measure on held-out rows, by scikit-learn's name: balanced_accuracy, "
            "neg_log_loss, roc_auc, ...",
            show_default="error",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column whose values no fold may separate; not used in trees.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            help="Column with the weight of each row; not used in trees.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
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
    as_json: AsJson = False,
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
      mictree data visits.csv --target ill --groups patient --scoring balanced_accuracy --jobs -1
      mictree data loans.parquet --target default --scheduler tcp://10.0.0.1:8786
    """
    from mictree.comparison.run import compare

    _check_options(context.params)
    apart = [name for name in (groups, weights) if name is not None]
    written = Format(separator, encoding, decimal, missing, text, number, no_header)
    X, y = read_table(
        file, target, drop, keep, written, apart,
        lambda frame: [*caught(_known, frame, groups), *caught(_numbers, frame, weights)],
    )  # fmt: skip
    members, weight = _known(X, groups), _known(X, weights)
    with (
        on_workers(scheduler, workers) as n_jobs,
        working("comparing") as progress,
        naming_options(X.drop(apart)),
    ):
        result = compare(
            learner, X.drop(apart), y, max_size, time_limit=time_limit, cv=cv, repeats=repeats,
            groups=members, scoring=scoring, sample_weight=weight, random_state=seed,
            max_thresholds=max_thresholds, n_jobs=n_jobs or jobs, progress=progress,
        )  # fmt: skip
    shown = result.advised_size if size is None else size
    tree_text = result.optimal_trees.tree(shown).to_text([str(label) for label in result.classes])
    if as_json:
        print_json(
            {"file": str(file), "target": target, "max_size": max_size, "seed": seed},
            **_facts(result), size=shown, tree=tree_text.splitlines(),
        )  # fmt: skip
    else:
        print_parts(str(result), "", f"{result.tree_title(shown)}:", tree_text)
    writes: list[Callable[[], None]] = []
    if plot is not None:
        writes.append(lambda: save(plot, result.plot().axes[0]))
    if report is not None:
        writes.append(lambda: _write_report(report, result, shown, context.params))
    write_each(*writes)


def _write_report(path: Path, result: "Comparison", size: int, options: dict[str, Any]) -> None:
    from mictree.report.compared import make_page
    from mictree.report.data import render

    page = make_page(result, options["file"].name, options["target"], size, _settings(options))
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
    check_drawing(options["plot"], "--plot")
    check_output(options["report"], "--report", (".html", ".htm"))
    named = [options[name] for name in ("target", "groups", "weights")]
    named = [name for name in named if name is not None]
    if len(set(named)) < len(named) or set(named) & set(options["drop"]):
        raise ValueError("--target, --groups, --weights and --drop must name different columns")
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
        "weights": options["weights"] or "none",
        "folds": options["cv"],
        "repeats": options["repeats"],
        "seed": options["seed"],
        "thresholds a column": options["max_thresholds"] or "all",
        "time limit": f"{options['time_limit']:g} s",
    }


def _known(frame: Any, name: str | None) -> Any:
    """The values of a column, which must not be missing."""
    if name is None:
        return None
    count = frame[name].null_count()
    if count:
        raise ValueError(
            "groups and weights must be known in every row; "
            f"{show_name(name)} is missing in {count}"
        )
    return frame[name].to_numpy()


def _numbers(frame: Any, name: str | None) -> None:
    """Refuse weights that are no numbers, or missing."""
    from mictree.columns.cells import are_codes

    if name is not None and not frame[name].dtype.is_numeric():
        present = frame[name].drop_nulls()
        codes = str(present.dtype) == "String" and are_codes(present.str.strip_chars())
        advice = f": add --number {shell_word(name)}" if codes else ""
        raise ValueError(
            f"weights must be numbers; {show_name(name)} has {present.first()!r}{advice}"
        )
    _known(frame, name)


def _facts(result: "Comparison") -> dict[str, Any]:
    return {
        "rows": result.rows,
        "literals": result.literals,
        "classes": [str(label) for label in result.classes],
        "proved": result.optimal_errors.proved.tolist(),
        "mic": {name: result.mic(name) for name in result.names},
        "results": result.frame.to_dicts(),
    }
