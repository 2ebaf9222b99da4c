"""The command fit: grow a tree from a table of data, of a size that cross-validation chooses."""

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from mictree._support.files import write_whole
from mictree._support.words import count_of, show_number
from mictree.cli.common import (
    check_drawing,
    check_output,
    depth_setting,
    make_rules,
    print_json,
    print_parts,
    save,
    table_of_sizes,
    working,
    write_each,
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
from mictree.cli.streamed import fit_streamed, refuse_unstreamed
from mictree.cli.table import (
    DataFiles,
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

if TYPE_CHECKING:
    from mictree.estimators.sizes import SizeChoice


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
    no_header: NoHeader = False,
    separator: Separator = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    missing: Missing = [],  # noqa: B006
    text: Text = [],  # noqa: B006
    number: Number = [],  # noqa: B006
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
    """Grow a tree from data; cross-validation chooses its size.

    A quarter of the rows (--held-out) is set aside first, classes in proportion. Cross-validation
    on the others chooses the size; these rows also grow the tree. So the held-out error comes from
    rows that had no part in the tree or in its size.

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
    make_rules([rule], depth, criterion, [ties], None)  # refuses bad options
    _check_options(context.params)
    model = _make_model(context.params)
    about = {"file": str(file), "target": target, "rule": rule, "criterion": criterion,
             "ties": ties, "seed": seed} | depth_setting(rule, depth)  # fmt: skip
    if is_streamed(file):
        refuse_unstreamed(context)
        shown = max_size if size is None else size
        fit_streamed(model, file, target, drop, keep, shown, about if as_json else None)
        write_each(*_files(model, shown, draw, save_to))
        return
    written = Format(separator, encoding, decimal, missing, text, number, no_header)
    X, y = read_table(file, target, drop, keep, written)
    train, test = split_rows(y, held_out, seed)
    rows = Rows(X[train], y[train], X[test], y[test])
    with working("growing"), naming_options(X):
        choice = None
        if size is None:
            from mictree.estimators.sizes import Choice, select_size

            _check_folds(rows.y, len(y), cv)
            rule_of_size = cast(Choice, choose)  # it is among the checked options
            choice = select_size(
                model, rows.X, rows.y, cv=cv, choose=rule_of_size, random_state=seed
            )
        model.fit(rows.X, rows.y)
        wanted = size if choice is None else choice.size
        grown = Grown(model, choice, model.growth_.tree(wanted).size, rows)
    if as_json:
        print_json(about, **_facts(grown))
    else:
        ended = "" if size in (None, grown.size) else f"; growth ended before --size {size}"
        print_parts(*_parts(grown, ended))
    writes = _files(model, grown.size, draw, save_to)
    if report is not None:
        writes.append(partial(_write_report, report, grown, context.params))
    write_each(*writes)


def _check_options(options: dict[str, Any]) -> None:
    """Refuse values of options before anything is read."""
    from mictree.estimators.sizes import CHOICES

    size, max_size = options["size"], options["max_size"]
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    if options["cv"] < 2:
        raise ValueError(f"--cv must be at least 2; got {options['cv']}")
    if options["choose"] not in CHOICES:
        raise ValueError(f"--choose must be one of {', '.join(CHOICES)}; got {options['choose']!r}")
    if not 0 < options["held_out"] < 1:
        held_out = options["held_out"]
        raise ValueError(f"--held-out must lie strictly between 0 and 1; got {held_out}")
    if not 0 <= options["seed"] < 2**31:
        raise ValueError(f"--seed must be from 0 to 2**31 - 1; got {options['seed']}")
    seconds = options["time_limit"]
    if not 0 <= seconds < math.inf:
        raise ValueError(f"--time-limit must be a number of seconds, at least 0; got {seconds}")
    check_drawing(options["draw"])
    check_output(options["save_to"], "--save", (".json",))
    check_output(options["report"], "--report", (".html", ".htm"))


def _check_folds(labels: Any, rows: int, cv: int) -> None:
    """Refuse more folds than the rows to grow on can have; the labels are theirs."""
    import numpy as np

    common = int(np.unique(labels, return_counts=True)[1].max())
    grown = f"{count_of(len(labels), 'row')} to grow on, of {rows} in all"
    if common < 2:
        found = f"are {grown}, each with another label" if len(labels) > 1 else f"is {grown}"
        raise ValueError(
            "folds can choose a size if a label occurs twice in the rows to grow on; there "
            f"{found}: name a --size"
        )
    if cv > common:
        raise ValueError(
            f"--cv must be at most {common}, the number of rows with the most common label "
            f"({grown}); got {cv}; a --size needs no folds"
        )


def _make_model(options: dict[str, Any]) -> Any:
    """The classifier that the options describe; two rows tell whether it accepts them."""
    from sklearn.base import clone

    from mictree.estimators.classifiers import CLASSIFIERS

    same = ("max_size", "criterion", "ties", "min_samples_split", "min_samples_leaf", "max_depth",
            "max_thresholds")  # fmt: skip
    rule = options["rule"]
    model = CLASSIFIERS[rule](
        random_state=options["seed"],
        **{name: options[name] for name in same},
        **depth_setting(rule, options["depth"]),
    )
    trial: Any = clone(model)
    trial.fit([[0.0], [1.0]], [0, 1])
    return model


class Rows(NamedTuple):
    """Rows and labels to learn from, and held-out ones."""

    X: Any
    y: Any
    unseen: Any
    truth: Any


class Grown(NamedTuple):
    """A fitted model, the size that is shown, and the rows; no choice if the user chose."""

    model: Any
    choice: "SizeChoice | None"
    size: int
    rows: Rows

    @property
    def held_out_error(self) -> float:
        """The error of the shown tree on held-out rows."""
        return 1 - self.model.at_size(self.size).score(self.rows.unseen, self.rows.truth)


def _facts(grown: Grown) -> dict[str, Any]:
    """What --json prints."""
    model, tree = grown.model, grown.model.growth_.tree(grown.size)
    facts = {
        "train_rows": len(grown.rows.y),
        "held_out_rows": len(grown.rows.truth),
        "classes": [str(label) for label in model.classes_],
        "train_errors": model.growth_.errors,
    }
    if grown.choice is not None:
        facts["cross_validated_errors"] = 1 - grown.choice.means
        facts["standard_errors"] = grown.choice.standard_errors
    return facts | {
        "size": tree.size,
        "held_out_error": grown.held_out_error,
        "tree": json.loads(tree.to_json()),
    }


def _parts(grown: Grown, ended: str) -> tuple[Any, ...]:
    """What is printed, one below the other."""
    model, size = grown.model, grown.size
    return (
        f"{count_of(len(grown.rows.y), 'row')} to grow on, {len(grown.rows.truth):,} held out, "
        f"{count_of(len(model.literals_), 'literal')}",
        table_of_sizes(model, grown.choice),
        model.to_text(size),
        f"size {size}, training error {show_number(model.growth_.errors[size])}, "
        f"held-out error {show_number(grown.held_out_error)}{ended}",
    )


def _write_report(path: Path, grown: Grown, options: dict[str, Any]) -> None:
    """Search the optimal trees up to the size, and write the page."""
    from mictree.estimators.optimal import OptimalTreeClassifier
    from mictree.report.data import render
    from mictree.report.fitted import Fitted, make_page

    model, choice, size, rows = grown
    optimal = None
    if options["time_limit"]:
        with working("searching the optimal trees"):
            optimal = OptimalTreeClassifier(
                size,
                max_depth=model.max_depth,
                time_limit=options["time_limit"],
                max_thresholds=model.max_thresholds,
                min_samples_leaf=model.min_samples_leaf,
            ).fit(rows.X, rows.y)
    wrong = tuple(
        int((each.predict(rows.unseen, size) != rows.truth).sum())
        for each in (model, optimal)
        if each is not None
    )
    fitted = Fitted(model, model.rule, size, choice, optimal, wrong, len(rows.y), len(rows.truth))
    page = make_page(fitted, options["file"].name, options["target"], _settings(options))
    write_whole(path, render(page).encode())
    say(f"wrote {path}")


def _settings(options: dict[str, Any]) -> dict[str, object]:
    """The options with which a user can repeat the run, as the page names them."""
    chosen = options["size"] is None
    return {
        "rule": options["rule"],
        "criterion": options["criterion"],
        "ties": options["ties"],
        "largest size": options["max_size"],
        "size": "chosen by cross-validation" if chosen else options["size"],
        "folds": options["cv"] if chosen else "none",
        "choose": options["choose"] if chosen else "none",
        "share held out": options["held_out"],
        "seed": options["seed"],
        "columns left out": ", ".join(options["drop"]) or "none",
        "smallest leaf to split": count_of(options["min_samples_split"], "row"),
        "smallest leaf": count_of(options["min_samples_leaf"], "row"),
        "largest depth": "any" if options["max_depth"] is None else options["max_depth"],
        "thresholds a column": options["max_thresholds"] or "all",
        "time limit for optimal trees": f"{options['time_limit']:g} s",
    }


def _files(
    model: Any, size: int, draw: Path | None, save_to: Path | None
) -> list[Callable[[], None]]:
    """Functions that write the model and its drawing."""

    def save_model(path: Path) -> None:
        model.at_size(size).save(path)
        say(f"wrote {path}")

    def save_drawing(path: Path) -> None:
        save(path, model.draw(size=size))

    wanted = ((save_model, save_to), (save_drawing, draw))
    return [partial(write, path) for write, path in wanted if path is not None]


def split_rows(labels: Any, held_out: float, seed: int) -> tuple[Any, Any]:
    """Row numbers to grow on and to test on, classes in proportion; one seed, one answer."""
    import numpy as np

    rows = len(labels)
    count = round(rows * held_out)
    if count < 1 or rows - count < 1:
        if rows < 2:
            raise ValueError(
                "the file must have at least 2 rows with a label, 1 to grow on and 1 to hold out; "
                f"it has {rows}"
            )
        raise ValueError(
            "--held-out must leave at least 1 row to grow on and 1 to hold out; "
            f"{held_out:g} of {rows} rows is {count}: --held-out 0.5 does"
        )
    codes = np.unique(labels, return_inverse=True)[1]
    shuffled = np.random.default_rng(seed).permutation(rows)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    places = (np.arange(count) * rows + rows // 2) // count  # evenly spread, so classes are too
    chosen = np.zeros(rows, dtype=bool)
    chosen[by_class[places]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
