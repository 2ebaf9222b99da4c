"""The command fit: grow a tree from a table of data, of a size that cross-validation chooses."""

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from mictree._support.checks import caught
from mictree._support.files import write_whole
from mictree._support.words import count_of, show_name, show_number
from mictree.cli.common import (
    check_drawing,
    check_output,
    class_facts,
    depth_setting,
    errors_of,
    find_useless,
    make_rules,
    print_json,
    print_parts,
    save,
    save_model,
    show_error,
    table_of_sizes,
    tree_text,
    working,
    write_command,
    write_each,
)
from mictree.cli.options import (
    AsJson,
    Criterion,
    Depth,
    Details,
    Draw,
    MostThresholds,
    NoMerge,
    Scoring,
    Ties,
)
from mictree.cli.streamed import fit_streamed, refuse_unstreamed
from mictree.cli.table import (
    After,
    ClassWeight,
    DataFiles,
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
    Table,
    Target,
    Text,
    Weights,
    advise_after,
    column_of_weights,
    is_streamed,
    naming_options,
    read_class_weight,
    read_table,
    say,
)
from mictree.growers.rules import RULES

if TYPE_CHECKING:
    from mictree._support.time_limit import TimeLimit
    from mictree.estimators.scoring import ClassResults
    from mictree.estimators.sizes import SizeChoice

OPTIMAL = "optimal"  # the rule that searches the best tree
LARGEST_OPTIMAL = 8  # its largest size, unless the user names one
WHOLE_SHARE = 0.5  # of its time limit, for the tree; the rest is for the folds
LEAST_SECONDS = 0.02  # of a search, however little time is left
FOR_GREEDY = ("criterion", "ties", "depth", "min_samples_split")  # options of greedy rules only
UNCOPIED = (  # options that the command of the page does without
    *FOR_GREEDY, "rule", "max_size", "size", "cv", "choose", "scoring", "draw", "report", "as_json",
    "details",
)  # fmt: skip
WHICH_RULE = Annotated[
    str,
    typer.Option(
        help=f"One of {', '.join(RULES)}; or {OPTIMAL}: the tree with the fewest training errors, "
        "proved or the best found within --time-limit."
    ),
]


def fit(
    context: typer.Context,
    file: DataFiles,
    target: Target,
    rule: WHICH_RULE = "topdown",
    depth: Depth = None,
    max_size: Annotated[
        int, typer.Option(help=f"Largest number of splits; {LARGEST_OPTIMAL} for --rule optimal.")
    ] = 20,
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
        float,
        typer.Option(
            help="Share of the rows to hold out for the final test. Of Parquet files that are read "
            "batch by batch, half of these rows choose the size unless --size does."
        ),
    ] = 0.25,
    test: Annotated[
        list[str],
        typer.Option(
            help="With a folder or a pattern: Parquet files for the final test, by name, folder or "
            "quoted pattern; --held-out then only chooses the size. Repeatable.",
            metavar="FILES",
        ),
    ] = [],  # noqa: B006
    class_weight: ClassWeight = None,
    weights: Weights = None,
    scoring: Scoring = None,
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
    date: DateOrder = [],  # noqa: B006
    parts: Parts = [],  # noqa: B006
    after: After = None,
    no_merge: NoMerge = False,
    as_json: AsJson = False,
    details: Details = False,
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
        typer.Option(
            help="Seconds to search the optimal trees of --report; 0 leaves them out. With --rule "
            "optimal, seconds for everything: half for the tree, the rest for the folds of --cv."
        ),
    ] = 20,
) -> None:
    """Grow a tree from data; cross-validation chooses its size.

    A quarter of the rows (--held-out) is set aside first, classes in proportion. Cross-validation
    on the others chooses the size; these rows also grow the tree. So the held-out error comes from
    rows that had no part in the tree or in its size. With --after, the last rows by time are set
    aside, and in cross-validation too every fold is later than the rows it grows on.

    --class-weight and --weights weight rows, in the tree as in all errors. --scoring replaces the
    error in the choice of the size, and is shown beside it for held-out rows.

    Parquet files that a folder or a quoted pattern names are read batch by batch and may be larger
    than the memory. A hash of its number says which part a row belongs to. Three quarters grow the
    tree, half of the others choose its size, and the rest test it: the error of the rows that chose
    the size would be too good. With --size all held-out rows test, with --test whole files do. A
    column has at most 255 thresholds unless --max-thresholds says otherwise. --held-out 0 grows
    the tree of a --size on all rows.

    \b
    Examples:
      mictree fit iris.csv --target species
      mictree fit iris.csv --target species --save model.json
      mictree fit people.csv.gz --target rich --separator semicolon --missing unknown
      mictree fit loans.parquet --target default --rule bestfirst --max-size 50 --drop id
      mictree fit iris.csv --target species --size 3 --draw tree.svg
      mictree fit sales.csv --target late --after date --parts date --date date=dmy
      mictree fit 'data/*.parquet' --target label --save model.json
      mictree fit 'data/*.parquet' --target label --test data/2026.parquet
      mictree fit iris.csv --target species --report iris.html
      mictree fit fraud.csv --target fraud --class-weight balanced --details
      mictree fit iris.csv --target species --rule optimal --time-limit 60 --save model.json
    """
    options = _check_options(context)
    model = _make_model(options)
    about = {"file": str(file), "target": target, "rule": rule, "seed": seed}
    if rule != OPTIMAL:
        about |= {"criterion": criterion, "ties": ties} | depth_setting(rule, depth)
    if is_streamed(file):
        refuse_unstreamed(context)
        if rule == OPTIMAL:
            raise ValueError(
                "--rule optimal must not be given with a folder or a pattern: it searches rows in "
                "memory"
            )
        shown = fit_streamed(model, options, about if as_json else None)
        write_each(*_files(model, shown, options))
        return
    written = Format(separator, encoding, decimal, missing, text, number, no_header, date)
    rows = _read_rows(options, model, written)
    with working("growing"), naming_options(rows.X):
        grown = _grow(model, rows, options)
    useless = find_useless(model.at_size(grown.size), options, size is None)
    if as_json:
        print_json(about, **_facts(grown), remarks=useless)
    else:
        print_parts(*_parts(grown, options, useless))
    writes = _files(model, grown.size, options)
    if report is not None:
        writes.append(partial(_write_report, report, grown, context, useless))
    write_each(*writes)


def _check_options(context: typer.Context) -> dict[str, Any]:
    """The options, for --rule optimal with a largest size of its own; bad ones are refused."""
    options = dict(context.params)
    if options["rule"] == OPTIMAL:
        _check_optimal(context, options)
    elif options["rule"] not in RULES:
        known = ", ".join((*RULES, OPTIMAL))
        raise ValueError(f"--rule must be one of {known}; got {options['rule']!r}")
    else:
        make_rules([options["rule"]], options["depth"], options["criterion"], [options["ties"]],
                   None)  # fmt: skip
    _check_values(options)
    return options


def _check_optimal(context: typer.Context, options: dict[str, Any]) -> None:
    """Refuse options of greedy rules, and set the largest size where the user names none."""

    def given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name != "DEFAULT"

    for name in FOR_GREEDY:
        if given(name):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for greedy rules; --rule optimal must not have it")
    if not given("max_size"):
        options["max_size"] = LARGEST_OPTIMAL if options["size"] is None else options["size"]
    if options["time_limit"] == 0:
        raise ValueError("--time-limit must be above 0 with --rule optimal; got 0")


def _check_values(options: dict[str, Any]) -> None:
    """Refuse values of options before anything is read."""
    from mictree.estimators.scoring import read_scoring
    from mictree.estimators.sizes import CHOICES

    size, max_size = options["size"], options["max_size"]
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    if options["cv"] < 2:
        raise ValueError(f"--cv must be at least 2; got {options['cv']}")
    if options["choose"] not in CHOICES:
        raise ValueError(f"--choose must be one of {', '.join(CHOICES)}; got {options['choose']!r}")
    streamed, held_out = is_streamed(options["file"]), options["held_out"]
    if not 0 < held_out < 1 and not (streamed and held_out == 0):
        raise ValueError(f"--held-out must lie strictly between 0 and 1; got {held_out}")
    if options["test"] and not streamed:
        raise ValueError(
            "--test must be given with a folder or a pattern of Parquet files; got it with "
            f"{str(options['file'])!r}"
        )
    if not 0 <= options["seed"] < 2**31:
        raise ValueError(f"--seed must be from 0 to 2**31 - 1; got {options['seed']}")
    seconds = options["time_limit"]
    if not 0 <= seconds < math.inf:
        raise ValueError(f"--time-limit must be a number of seconds, at least 0; got {seconds}")
    read_scoring(options["scoring"])
    read_class_weight(options["class_weight"])
    named = [name for name in (options["target"], options["weights"]) if name is not None]
    if len(set(named)) < len(named) or set(named[1:]) & set(options["drop"]):
        raise ValueError("--target, --weights and --drop must name different columns")
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
    from mictree.estimators.optimal import OptimalTreeClassifier

    same = {name: options[name] for name in
            ("max_size", "min_samples_leaf", "max_depth", "max_thresholds")}  # fmt: skip
    rule = options["rule"]
    if rule == OPTIMAL:
        model: Any = OptimalTreeClassifier(**same)
    else:
        greedy = {name: options[name] for name in ("criterion", "ties", "min_samples_split")}
        model = CLASSIFIERS[rule](
            random_state=options["seed"], **same, **greedy, **depth_setting(rule, options["depth"])
        )
    trial: Any = clone(model)
    trial.fit([[0.0], [1.0]], [0, 1])
    return model


class Rows(NamedTuple):
    """Rows, labels and weights to learn from, and held-out ones; no weights if all are 1.

    ``moments`` order the rows to learn from if folds are to be later than what they grow on;
    ``dates`` are for ``predict``, which reads new files as this one.
    """

    X: Any
    y: Any
    unseen: Any
    truth: Any
    weight: Any = None
    unseen_weight: Any = None
    moments: Any = None
    dates: Any = None


def _read_rows(options: dict[str, Any], model: Any, written: Format) -> Rows:
    """The rows of a file, some of them held out; the model gets its class weights."""
    apart = [] if options["weights"] is None else [options["weights"]]
    after, keep = options["after"], options["keep"]
    table = read_table(
        options["file"], options["target"], options["drop"], keep, written, options["parts"], after,
        apart, lambda frame: caught(column_of_weights, frame, options["weights"]),
    )  # fmt: skip
    parts = split_table(table, options["held_out"], options["seed"], after, keep)
    X, weight = table.X.drop(apart), column_of_weights(table.X, options["weights"])
    rows = hold_out(X, table.y, weight, *parts)
    moments = None if after is None else table.moments[parts[0]]
    model.set_params(class_weight=_read_factors(options["class_weight"], table.y, rows.y))
    return rows._replace(moments=moments, dates=table.dates)


def _read_factors(text: str | None, labels: Any, grown_on: Any) -> Any:
    """The class weights that the option names among all labels, of those to grow on."""
    import numpy as np

    from mictree.problems.labels import weights_among

    weight = None if text is None else read_class_weight(text, np.unique(labels).tolist())
    return weights_among(weight, grown_on)


class Grown(NamedTuple):
    """A fitted model, the size that is shown, and the rows; no choice if the user chose."""

    model: Any
    choice: "SizeChoice | None"
    size: int
    rows: Rows
    scoring: str | None = None

    @property
    def is_optimal(self) -> bool:
        """Whether the trees are optimal ones, or else grown."""
        return not hasattr(self.model, "growth_")

    def held_out_error(self, model: Any) -> float:
        """The error of a tree on held-out rows, weighted as training errors are."""
        rows, weights = self.rows, self.rows.unseen_weight
        if self.model.class_weight is not None:
            weights = self._factors() * (1.0 if weights is None else weights)
        return 1 - model.score(rows.unseen, rows.truth, weights)

    def _factors(self) -> Any:
        """The factors of the held-out rows' classes; 1 for a class that no row to grow on has."""
        import numpy as np

        from mictree.problems.labels import Coded, class_weights

        classes, codes = Coded.positions(self.rows.y)
        coded = Coded(tuple(classes.tolist()), codes)
        factors: Any = class_weights(self.model.class_weight, coded)
        found = dict(zip(coded.classes, factors.tolist(), strict=True))
        return np.array([found.get(label, 1.0) for label in self.rows.truth.tolist()])

    def score(self, model: Any) -> float:
        """The scoring of a tree on held-out rows."""
        from mictree.estimators.scoring import read_scoring

        scorer, rows = read_scoring(self.scoring), self.rows
        assert scorer is not None
        return scorer(model, rows.unseen, rows.truth, rows.unseen_weight)

    def class_results(self, model: Any) -> "ClassResults":
        """The results of each class on held-out rows."""
        return model.class_results(self.rows.unseen, self.rows.truth, self.rows.unseen_weight)


def hold_out(X: Any, y: Any, weight: Any, train: Any, test: Any) -> Rows:
    """Rows to grow on and rows to test on; both must have some weight."""
    if weight is None:
        return Rows(X[train], y[train], X[test], y[test])
    for part, what in ((train, "to grow on"), (test, "held out")):
        if not weight[part].any():
            raise ValueError(f"weights must be positive for some row {what}; all are zero")
    return Rows(X[train], y[train], X[test], y[test], weight[train], weight[test])


def _grow(model: Any, rows: Rows, options: dict[str, Any]) -> Grown:
    """Fit on the rows to grow on, and choose a size by folds of them unless the user did."""
    import numpy as np

    from mictree._support.time_limit import TimeLimit
    from mictree.estimators.scoring import read_scoring

    size, scorer, optimal = options["size"], read_scoring(options["scoring"]), False
    if scorer is not None:
        scorer.check(np.unique(np.concatenate([rows.y, rows.truth])))
    if size is None and options["after"] is None:
        _check_folds(rows.y, len(rows.y) + len(rows.truth), options["cv"])
    optimal = options["rule"] == OPTIMAL
    with TimeLimit(options["time_limit"] if optimal else None) as limit:
        if optimal:
            share = WHOLE_SHARE if size is None else 1.0
            model.set_params(time_limit=max(LEAST_SECONDS, share * limit.left()))
        model.fit(rows.X, rows.y, rows.weight)
        model.dates_ = rows.dates
        choice = _choose(model, rows, options, limit) if size is None else None
    wanted = size if choice is None else choice.size
    made = model.at_size(wanted).tree_.size
    return Grown(model, choice, made, rows, options["scoring"])


def _choose(model: Any, rows: Rows, options: dict[str, Any], limit: "TimeLimit") -> "SizeChoice":
    """The size that cross-validation chooses; folds share the time that is left."""
    from sklearn.base import clone

    from mictree.estimators.sizes import Choice, select_size

    folded: Any = clone(model)
    if options["rule"] == OPTIMAL:
        folded.set_params(time_limit=max(LEAST_SECONDS, limit.left() / options["cv"]))
    return select_size(
        folded, rows.X, rows.y, cv=options["cv"], choose=cast(Choice, options["choose"]),
        scoring=options["scoring"], sample_weight=rows.weight, random_state=options["seed"],
        after=rows.moments,
    )  # fmt: skip


def _facts(grown: Grown) -> dict[str, Any]:
    """What --json prints."""
    model, shown = grown.model, grown.model.at_size(grown.size)
    facts: dict[str, Any] = {
        "train_rows": len(grown.rows.y),
        "held_out_rows": len(grown.rows.truth),
        "classes": [str(label) for label in model.classes_],
        "train_errors": errors_of(model),
    }
    if grown.is_optimal:
        facts["lower_bounds"] = model.frontier_.lower
        facts["proved"] = model.frontier_.proved
    if grown.choice is not None:
        scored = "scores" if grown.choice.scoring else "errors"
        facts[f"cross_validated_{scored}"] = grown.choice.shown
        facts["standard_errors"] = grown.choice.standard_errors
    facts |= {"size": grown.size, "held_out_error": grown.held_out_error(shown)}
    if grown.scoring is not None:
        facts |= {"scoring": grown.scoring, "held_out_score": grown.score(shown)}
    tree = shown.tree_ if grown.is_optimal else model.growth_.tree(grown.size)
    by_class = class_facts(grown.class_results(shown))
    return facts | by_class | {"tree": json.loads(tree.to_json())}


def _parts(grown: Grown, options: dict[str, Any], useless: Sequence[str]) -> tuple[Any, ...]:
    """What is printed, one below the other."""
    model, size, asked = grown.model, grown.size, options["size"]
    shown = model.at_size(size)
    found = f"held-out error {show_number(grown.held_out_error(shown))}"
    if grown.scoring is not None:
        found += f", held-out {grown.scoring} {show_number(grown.score(shown))}"
    error = f"training error {show_error(model, size)}"
    ended = f"; growth ended before --size {asked}"
    if grown.is_optimal:
        proved = model.frontier_.proved[size]
        error += ", proved to be the least" if proved else ", the best found"
        ended = f"; more splits, up to --size {asked}, make no fewer errors"
    by_class = ("", "held-out rows by class:", str(grown.class_results(shown)))
    by_class = by_class if options["details"] else ()
    return (
        f"{count_of(len(grown.rows.y), 'row')} to grow on, {len(grown.rows.truth):,} held out, "
        f"{count_of(len(model.literals_), 'literal')}",
        table_of_sizes(model, grown.choice),
        tree_text(shown.tree_, [str(label) for label in model.classes_], options["no_merge"]),
        f"size {size}, {error}, {found}{'' if asked in (None, size) else ended}",
        *(["errors are weighted by class"] if model.class_weight is not None else []),
        *useless,
        *by_class,
    )


def _write_report(path: Path, grown: Grown, context: typer.Context, useless: Sequence[str]) -> None:
    """Search the optimal trees up to the size, and write the page."""
    from mictree.estimators.optimal import OptimalTreeClassifier
    from mictree.report.data import render
    from mictree.report.fitted import Fitted, make_page

    model, choice, size, rows, _ = grown
    options, optimal = context.params, None
    if options["time_limit"] and options["rule"] != OPTIMAL:
        with working("searching the optimal trees"):
            optimal = OptimalTreeClassifier(
                size,
                max_depth=model.max_depth,
                time_limit=options["time_limit"],
                max_thresholds=model.max_thresholds,
                min_samples_leaf=model.min_samples_leaf,
                class_weight=model.class_weight,
            ).fit(rows.X, rows.y, rows.weight)
    shown = [each.at_size(size) for each in (model, optimal) if each is not None]
    results = tuple(grown.class_results(each) for each in shown)
    fitted = Fitted(
        model, options["rule"], size, choice, optimal,
        tuple(int((each.predict(rows.unseen) != rows.truth).sum()) for each in shown),
        len(rows.y), len(rows.truth),
        rates=tuple(grown.held_out_error(each) for each in shown),
        weighted=rows.weight is not None or model.class_weight is not None,
        scores=tuple((grown.scoring, grown.score(each)) for each in shown if grown.scoring),
        results=results,
        remarks=tuple(useless),
        command=write_command(context, UNCOPIED, rule=OPTIMAL, size=size, save_to="model.json"),
    )  # fmt: skip
    page = make_page(
        fitted, options["file"].name, options["target"], _settings(options),
        merge=not options["no_merge"],
    )  # fmt: skip
    write_whole(path, render(page).encode())
    say(f"wrote {path}")


def _settings(options: dict[str, Any]) -> dict[str, object]:
    """The options with which a user can repeat the run, as the page names them."""
    chosen, optimal = options["size"] is None, options["rule"] == OPTIMAL
    greedy = {} if optimal else {"criterion": options["criterion"], "ties": options["ties"]}
    smallest = count_of(options["min_samples_split"], "row")
    return {
        "rule": options["rule"],
        **greedy,
        "largest size": options["max_size"],
        "size": "chosen by cross-validation" if chosen else options["size"],
        "folds": options["cv"] if chosen else "none",
        "choose": options["choose"] if chosen else "none",
        "measure on held-out rows": options["scoring"] or "error",
        "weights": options["weights"] or "none",
        "weights of classes": options["class_weight"] or "none",
        "share held out": options["held_out"],
        "seed": options["seed"],
        "held out after, by": options["after"] or "none",
        "parts of dates": ", ".join(options["parts"]) or "none",
        "columns left out": ", ".join(options["drop"]) or "none",
        **({} if optimal else {"smallest leaf to split": smallest}),
        "smallest leaf": count_of(options["min_samples_leaf"], "row"),
        "largest depth": "any" if options["max_depth"] is None else options["max_depth"],
        "thresholds a column": options["max_thresholds"] or "all",
        "time limit for optimal trees": f"{options['time_limit']:g} s",
    }


def _files(model: Any, size: int, options: dict[str, Any]) -> list[Callable[[], None]]:
    """Functions that write the model and its drawing."""
    saved, drawn, merge = options["save_to"], options["draw"], not options["no_merge"]
    writes: list[Callable[[], None]] = []
    if saved is not None:
        writes.append(lambda: save_model(saved, model.at_size(size)))
    if drawn is not None:
        writes.append(lambda: save(drawn, model.draw(size=size, merge=merge)))
    return writes


def split_table(
    table: Table, held_out: float, seed: int, after: str | None, keep: Sequence[str]
) -> tuple[Any, Any]:
    """Row numbers to grow on and to test on: drawn at random, or the last ones by time."""
    if after is None:
        advise_after(table, keep)
        return split_rows(table.y, held_out, seed)
    from mictree.estimators.sizes import last_rows, rank_moments

    split_rows(table.y, held_out, seed)  # refuses too few rows
    try:
        train, test = last_rows(rank_moments(table.moments, len(table.y)), held_out)
    except ValueError as error:
        raise ValueError(f"{error}: --after {after}") from None
    first = table.moments[test].min()
    rows = count_of(len(test), "row")
    say(f"held out the last {rows} by {show_name(after)}: from {str(first).replace('T', ' ')} on")
    return train, test


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
