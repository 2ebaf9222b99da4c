"""The command data: learners beside the optimal trees on a table of data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mictree._support.files import write_whole
from mictree.cli.common import check_drawing, check_output, print_json, print_parts, save, working
from mictree.cli.options import AsJson, MostSplits, MostThresholds
from mictree.cli.table import (
    DataFile,
    Decimal,
    Drop,
    Encoding,
    Format,
    Keep,
    Missing,
    Separator,
    Target,
    Text,
    read_table,
    say,
    show_name,
)
from mictree.cli.workers import Scheduler, Workers, on_workers

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison

LEARNERS = ("topdown", "bestfirst", "id3", "sklearn", "lightgbm", "xgboost")


def data(
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
    jobs: Annotated[int, typer.Option(help="Folds at once; -1 for one on each core.")] = 1,
    scheduler: Scheduler = None,
    workers: Workers = None,
    seed: Annotated[int, typer.Option(help="Random seed for the folds.")] = 0,
    max_thresholds: MostThresholds = None,
    size: Annotated[
        int | None,
        typer.Option(
            help="Size of the optimal tree to show; default: the smallest size with the "
            "lowest held-out error, or --max-size with --cv 0.",
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
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006
    text: Text = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Compare tree learners with the optimal trees of every size.

    Every learner and the optimal trees choose from the same tests. When the time limit or Ctrl-C
    ends the search early, each optimal error that is not proved is shown as a certified interval.

    \b
    Examples:
      mictree data iris.csv --target species --max-size 5
      mictree data loans.parquet --target default --drop id --learner topdown --learner sklearn
      mictree data iris.csv --target species --plot errors.svg --report iris.html
      mictree data visits.csv --target ill --groups patient --scoring balanced_accuracy --jobs -1
      mictree data loans.parquet --target default --scheduler tcp://10.0.0.1:8786
    """
    from mictree.comparison.result import OPTIMAL
    from mictree.comparison.run import compare

    for name in learner:
        if name not in LEARNERS:
            raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}; got {name!r}")
    if len(set(learner)) < len(learner):
        raise ValueError(f"--learner must name each learner once; got {', '.join(learner)}")
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed must be from 0 to 2**32 - 1; got {seed}")
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    check_drawing(plot, "--plot")
    check_output(report, "--report", (".html", ".htm"))
    apart = [name for name in (groups, weights) if name is not None]
    if target in apart or len(set(apart)) < len(apart) or set(apart) & set(drop):
        raise ValueError("--target, --groups, --weights and --drop must name different columns")
    written = Format(separator, encoding, decimal, missing, text)
    X, y = read_table(file, target, drop, [*keep, *apart], written)
    if len(apart) == X.width:
        raise ValueError("the file must have a column to learn from; it has none")
    settled = {name: X[name] for name in apart}
    X = X.drop(apart)
    with on_workers(scheduler, workers) as n_jobs, working("comparing") as progress:
        result = compare(
            learner, X, y, max_size, time_limit=time_limit, cv=cv, repeats=repeats,
            groups=_column(settled, groups), scoring=scoring,
            sample_weight=_column(settled, weights), random_state=seed,
            max_thresholds=max_thresholds, n_jobs=n_jobs or jobs,
            progress=progress,
        )  # fmt: skip
    if size is not None:
        shown = size
    elif result.held_out:
        shown = int(result.held_out[OPTIMAL].mean.argmin())
    else:
        shown = max_size
    tree = result.optimal_trees.tree(shown)
    tree_text = tree.to_text([str(label) for label in result.classes])
    if as_json:
        print_json(
            {"file": str(file), "target": target, "max_size": max_size, "seed": seed},
            **_facts(result), size=shown, tree=tree_text.splitlines(),
        )  # fmt: skip
    else:
        print_parts(str(result), "", f"{result.tree_title(shown)}:", tree_text)
    if plot is not None:
        save(plot, result.plot().axes[0])
    if report is not None:
        from mictree.report.compared import make_page
        from mictree.report.data import render

        settings = {
            "largest size": max_size,
            "learners": ", ".join(learner),
            "columns left out": ", ".join(drop) or "none",
            "measure on held-out rows": scoring or "error",
            "groups": groups or "none",
            "weights": weights or "none",
            "folds": cv,
            "repeats": repeats,
            "seed": seed,
            "thresholds a column": "all" if max_thresholds is None else max_thresholds,
            "time limit": f"{time_limit:g} s",
        }
        page = render(make_page(result, file.name, target, shown, settings))
        write_whole(report, page.encode())
        say(f"wrote {report}")


def _column(columns: dict[str, Any], name: str | None) -> Any:
    """The values of a column, which must not be missing."""
    if name is None:
        return None
    count = columns[name].null_count()
    if count:
        raise ValueError(
            "groups and weights must be known in every row; "
            f"{show_name(name)} is missing in {count}"
        )
    return columns[name].to_numpy()


def _facts(result: "Comparison") -> dict[str, Any]:
    return {
        "rows": result.rows,
        "literals": result.literals,
        "classes": [str(label) for label in result.classes],
        "proved": result.optimal_errors.proved.tolist(),
        "mic": {name: result.mic(name) for name in result.names},
        "results": result.frame.to_dicts(),
    }
