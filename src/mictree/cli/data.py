"""The command data: learners beside the optimal trees on a table of data."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mictree._support.files import write_whole
from mictree.cli.common import AsJson, check_drawing, check_output, print_json, print_parts, save
from mictree.cli.fit import read_table

if TYPE_CHECKING:
    from mictree.comparison.run import Step
    from mictree.comparison.result import Comparison

LEARNERS = ("topdown", "bestfirst", "id3", "sklearn", "lightgbm", "xgboost")


def data(
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file.", show_default=False)],
    target: Annotated[str, typer.Option(help="The column to predict.", show_default=False)],
    max_size: Annotated[int, typer.Option(help="The most splits.")] = 8,
    time_limit: Annotated[float, typer.Option(help="Seconds for all searches together.")] = 60,
    learner: Annotated[
        list[str], typer.Option(help=f"{', '.join(LEARNERS)}; repeatable.", metavar="LEARNER")
    ] = ["topdown"],  # noqa: B006  # typer copies defaults
    drop: Annotated[
        list[str], typer.Option(help="A column to leave out; repeatable.", metavar="COLUMN")
    ] = [],  # noqa: B006
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation; 0 for none.")] = 5,
    repeats: Annotated[int, typer.Option(help="How often it is done.")] = 3,
    seed: Annotated[int, typer.Option(help="Chooses the folds.")] = 0,
    max_thresholds: Annotated[int, typer.Option(help="The most thresholds of a column.")] = 8,
    size: Annotated[
        int | None,
        typer.Option(
            help="The optimal tree to show; by default that of least held-out error.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Also draw the errors into FILE (.svg, .png, .pdf).", show_default=False),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Also write an HTML page.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare learners with the best trees of every size: is the best tree worth it?

    Every learner and the optimal trees test the same literals. Where the time limit strikes, or
    Ctrl-C, an optimal error is shown as the interval it is proved to lie in.

    \b
    Examples:
      mictree data iris.csv --target species --max-size 5
      mictree data loans.parquet --target default --drop id --learner topdown --learner sklearn
      mictree data iris.csv --target species --plot errors.svg --report iris.html
    """
    from mictree.comparison.run import compare
    from mictree.comparison.result import OPTIMAL

    for name in learner:
        if name not in LEARNERS:
            raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}; got {name!r}")
    if len(set(learner)) < len(learner):
        raise ValueError(f"--learner must name each learner once; got {', '.join(learner)}")
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed must be from 0 to 2**32 - 1; got {seed}")
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size; got {size}")
    check_drawing(plot, "--plot")
    check_output(report, "--report", (".html", ".htm"))
    with _progress() as progress:
        X, y = read_table(file, target, drop)
        result = compare(
            learner, X, y, max_size, time_limit=time_limit, cv=cv, repeats=repeats,
            random_state=seed, max_thresholds=max_thresholds, progress=progress,
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
        from mictree.report.data import render

        settings = {
            "largest size": max_size,
            "learners": ", ".join(learner),
            "columns left out": ", ".join(drop) or "none",
            "folds": cv,
            "repeats": repeats,
            "seed": seed,
            "thresholds a column": max_thresholds,
            "time limit": f"{time_limit:g} s",
        }
        page = render(result, file.name, target, shown, settings)
        write_whole(report, lambda path: path.write_text(page, encoding="utf-8"))
        typer.echo(f"mictree: wrote {report}", err=True)


def _facts(result: "Comparison") -> dict[str, Any]:
    return {
        "rows": result.rows,
        "literals": result.literals,
        "classes": [str(label) for label in result.classes],
        "proved": result.optimal_errors.proved.tolist(),
        "mic": {name: result.mic(name) for name in result.names},
        "results": result.frame.to_dicts(),
    }


@contextmanager
def _progress() -> Iterator[Callable[["Step"], None]]:
    """One line on stderr, when that is a terminal: what is proved so far."""
    with Console(stderr=True).status("reading ...") as status:

        def tell(step: "Step") -> None:
            found = step.found
            if found is None:
                status.update(f"{step.what} ...")
                return
            status.update(
                f"{step.what}: {found.size - 1} of {found.max_size} sizes proved, "
                f"{found.sub_problems:,} sub-problems, gap {found.upper - found.lower:.4f}"
            )

        yield tell
