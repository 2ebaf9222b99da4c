"""The command fit: grow a tree from a table of data, of a size that cross-validation chooses.

Invariant: the held-out rows have no part in the tree or in its size, so their error is an honest
one. They are set aside first, classes in proportion or, with --after, the last ones by time. Folds
of the other rows choose the size, and all of these rows grow the tree. --rule optimal searches the
best tree instead: half of its time limit goes to the tree, the rest to the folds.

A table that is one file is read at once, here; Parquet files that a folder or a pattern names are
read batch by batch (``streamed``). The command first makes a frozen ``FitSettings`` of its options
and refuses bad ones; nothing is read before.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from mictree._support.checks import caught
from mictree._support.files import write_whole
from mictree._support.words import (
    SQUARED,
    count_of,
    measure_of,
    names_of_labels,
    show_measured,
    show_name,
    show_number,
    show_significant,
)
from mictree.cli.options import (
    After,
    AsJson,
    Categories,
    ClassWeight,
    Costs,
    Criterion,
    DataFiles,
    DateOrder,
    Decimal,
    Depth,
    Details,
    Draw,
    Drop,
    Encoding,
    HtmlReport,
    Keep,
    Missing,
    MostThresholds,
    NoHeader,
    NoMerge,
    Number,
    Parts,
    Scoring,
    Separator,
    TableSettings,
    Target,
    TaskName,
    Text,
    Ties,
    Weights,
    check_drawing,
    check_output,
    cv_option,
    depth_setting,
    is_given,
    make_rules,
    max_size_option,
    rule_option,
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
    show_error,
    show_progress,
    table_of_sizes,
    training_errors,
    tree_text,
    tree_warnings,
    write_each,
)
from mictree.cli.streamed import fit_streamed, refuse_unstreamed
from mictree.cli.table import (
    Table,
    column_of_weights,
    is_streamed,
    naming_options,
    print_note,
    read_class_weight,
    read_table,
    warn_about_time_order,
)
from mictree.cli.tasks import CLASSIFICATION, REGRESSION, TaskRequest
from mictree.growers.rules import RULES

if TYPE_CHECKING:
    from mictree._support.progress import TimeLimit
    from mictree.estimators.leaves import ActionResults, LeafResults
    from mictree.estimators.predicting import ClassResults
    from mictree.estimators.sizes import SizeChoice

OPTIMAL = "optimal"  # the rule that searches the best tree
REGRESSION_RULES = ("topdown", "bestfirst", OPTIMAL)
LARGEST_OPTIMAL = 8  # its largest size, unless the user names one
WHOLE_SHARE = 0.5  # of its time limit, for the tree; the rest is for the folds
LEAST_SECONDS = 0.02  # of a search, however little time is left
GREEDY_OPTIONS = ("criterion", "ties", "depth", "min_samples_split")
NOT_COPIED = (  # options that the command on the page leaves out
    *GREEDY_OPTIONS, "rule", "max_size", "size", "cv", "choose", "scoring", "draw", "report",
    "as_json", "details",
)  # fmt: skip
INTERRUPTED = (
    "interrupted by Ctrl-C: these are the best trees so far; without cross-validation the size is "
    "--max-size"
)
FitRule = Annotated[
    str,
    rule_option(
        [*RULES],
        f"; or {OPTIMAL}: the tree of least training error, proved or the best found within "
        "--time-limit. A regression has topdown, bestfirst and optimal",
    ),
]


def fit(
    context: typer.Context,
    file: DataFiles,
    target: Target,
    rule: FitRule = "topdown",
    depth: Depth = None,
    max_size: Annotated[int, max_size_option(f"; {LARGEST_OPTIMAL} for --rule {OPTIMAL}")] = 20,
    size: Annotated[int | None, size_option("tree", "chosen by --cv")] = None,
    drop: Drop = [],  # noqa: B006  # typer copies defaults
    keep: Keep = [],  # noqa: B006
    cv: Annotated[int, cv_option(" that chooses a size")] = 5,
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
    costs: Costs = None,
    task: TaskName = None,
    weights: Weights = None,
    scoring: Scoring = None,
    seed: Annotated[int, seed_option("held-out rows, folds and --ties random")] = 0,
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
    categories: Categories = "each",
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
    save_to: Annotated[Path | None, save_option("the model")] = None,
    report: HtmlReport = None,
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

    Ctrl-C in the search of --rule optimal shows and saves the best trees so far, without
    cross-validation and with exit status 130.

    A target of numbers with a fraction, or of more than 20 different numbers, is a regression:
    leaves predict means, and errors are mean squared errors. One line says so; --task overrides.
    With --costs, leaves take the action of least cost, and errors are mean costs. Its file has the
    true classes on the left and the actions on top, as in

    \b
      true,yes,no,ask
      yes,0,10,2
      no,3,0,1

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
      mictree fit fraud.csv --target fraud --costs costs.csv --save model.json
      mictree fit houses.csv --target price --report houses.html
      mictree fit survey.csv --target points --task regression
      mictree fit iris.csv --target species --rule optimal --time-limit 60 --save model.json
      mictree fit loans.csv --target default --categories subsets
    """
    from mictree.estimators.sizes import raise_if_interrupted, was_interrupted

    settings = _check_settings(context)
    request = settings.request
    model = settings.make_model(request.asked)
    about = {"file": str(file), "target": target, "rule": rule, "seed": seed}
    if rule != OPTIMAL:
        about |= {"criterion": criterion, "ties": ties} | depth_setting(rule, depth)
    if is_streamed(file):
        refuse_unstreamed(context, settings)
        if rule == OPTIMAL:
            raise ValueError(
                "--rule optimal must not be given with a folder or a pattern: it searches rows in "
                "memory"
            )
        model, shown = fit_streamed(settings, about if as_json else None)
        write_each(*_files(model, shown, settings))
        return
    rows = _read_rows(settings, request)
    if rows.is_regression:
        model = settings.make_model(REGRESSION) if request.asked is None else model
        about.pop("criterion", None)
    else:
        rows = rows._replace(costs=_weigh_classes(model, request, rows))
    with show_progress("growing"), naming_options(rows.X):
        result = _grow(model, rows, settings)
    advise_scoring = size is None and scoring is None
    remarks = tree_warnings(model.at_size(result.size), class_weight, advise_scoring)
    if result.is_optimal:
        from mictree.optimal.certified import advise

        remarks += advise(model.frontier_)
    if was_interrupted(model) and size is None:
        settings = replace(settings, size=settings.max_size)
        remarks += [INTERRUPTED]
    if as_json:
        print_json(about, **_json_fields(result), remarks=remarks)
    else:
        print_parts(*_printed_parts(result, settings, remarks))
    writes = _files(model, result.size, settings)
    if report is not None:
        command = write_command(context, NOT_COPIED, rule=OPTIMAL, size=result.size,
                                save_to="model.json")  # fmt: skip
        writes.append(partial(_write_report, report, result, settings, remarks, command))
    write_each(*writes)
    raise_if_interrupted(model)


@dataclass(frozen=True, kw_only=True)
class FitSettings(TableSettings):
    """The options of ``fit``."""

    rule: FitRule
    depth: Depth
    choose: str
    held_out: float
    test: list[str]
    criterion: Criterion
    ties: Ties
    min_samples_split: int
    min_samples_leaf: int
    max_depth: int | None

    @property
    def is_optimal(self) -> bool:
        """Whether the rule searches the best tree instead of growing one."""
        return self.rule == OPTIMAL

    def make_model(self, task: str | None) -> Any:
        """The estimator that the options describe; two rows tell whether it accepts them."""
        from sklearn.base import clone

        import mictree.estimators as kinds
        from mictree.estimators.greedy import CLASSIFIERS, REGRESSORS

        shared = ("max_size", "min_samples_leaf", "max_depth", "max_thresholds", "categories")
        same = {name: getattr(self, name) for name in shared}
        regression = task == REGRESSION
        if self.is_optimal:
            optimal = kinds.OptimalTreeRegressor if regression else kinds.OptimalTreeClassifier
            model: Any = optimal(**same)
        else:
            makers: Any = REGRESSORS if regression else CLASSIFIERS
            criterion = {} if regression else {"criterion": self.criterion}
            model = makers[self.rule](
                random_state=self.seed, ties=self.ties,
                min_samples_split=self.min_samples_split, **criterion, **same,
                **depth_setting(self.rule, self.depth),
            )  # fmt: skip
        trial: Any = clone(model)
        trial.fit([[0.0], [1.0]], [0, 1])
        return model


def _of_classes(context: typer.Context, settings: FitSettings) -> tuple[tuple[str, str], ...]:
    """The options that were given and that a regression refuses, with the reason."""
    found = list[tuple[str, str]]()
    if is_given(context, "criterion"):
        found.append(("--criterion", "its gain is the drop in squared error"))
    if settings.rule not in REGRESSION_RULES:
        rules = ", ".join(REGRESSION_RULES)
        found.append((f"--rule {settings.rule}", f"its rules are {rules}"))
    return tuple(found)


def _check_settings(context: typer.Context) -> FitSettings:
    """The options, for --rule optimal with a largest size of its own; bad ones are refused."""
    settings = FitSettings(**context.params)
    settings = replace(settings, of_classes=_of_classes(context, settings))
    if settings.is_optimal:
        settings = _check_optimal(context, settings)
    elif settings.rule not in RULES:
        known = ", ".join((*RULES, OPTIMAL))
        raise ValueError(f"--rule must be one of {known}; got {settings.rule!r}")
    else:
        make_rules([settings.rule], settings.depth, settings.criterion, [settings.ties],
                   None)  # fmt: skip
    _check_values(settings)
    return settings


def _check_optimal(context: typer.Context, settings: FitSettings) -> FitSettings:
    """Refuse options of greedy rules, and set the largest size where the user names none."""
    for name in GREEDY_OPTIONS:
        if is_given(context, name):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for greedy rules; --rule optimal must not have it")
    if settings.time_limit == 0:
        raise ValueError("--time-limit must be above 0 with --rule optimal; got 0")
    if is_given(context, "max_size"):
        return settings
    largest = LARGEST_OPTIMAL if settings.size is None else settings.size
    return replace(settings, max_size=largest)


def _check_values(settings: FitSettings) -> None:
    """Refuse values of options before anything is read."""
    from mictree.estimators.predicting import read_scoring
    from mictree.estimators.sizes import CHOICES

    size, max_size = settings.size, settings.max_size
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    if settings.cv < 2:
        raise ValueError(f"--cv must be at least 2; got {settings.cv}")
    if settings.choose not in CHOICES:
        raise ValueError(f"--choose must be one of {', '.join(CHOICES)}; got {settings.choose!r}")
    streamed, held_out = is_streamed(settings.file), settings.held_out
    if not 0 < held_out < 1 and not (streamed and held_out == 0):
        raise ValueError(f"--held-out must lie strictly between 0 and 1; got {held_out}")
    if settings.test and not streamed:
        raise ValueError(
            "--test must be given with a folder or a pattern of Parquet files; got it with "
            f"{str(settings.file)!r}"
        )
    if not 0 <= settings.seed < 2**31:
        raise ValueError(f"--seed must be from 0 to 2**31 - 1; got {settings.seed}")
    seconds = settings.time_limit
    if not 0 <= seconds < math.inf:
        raise ValueError(f"--time-limit must be a number of seconds, at least 0; got {seconds}")
    read_scoring(settings.scoring)
    _ = settings.request  # refuses what does not go together
    named = [name for name in (settings.target, settings.weights) if name is not None]
    if len(set(named)) < len(named) or set(named[1:]) & set(settings.drop):
        raise ValueError("--target, --weights and --drop must name different columns")
    if settings.after is not None and settings.after == settings.weights:
        raise ValueError(
            f"--weights and --after must name different columns; both name {settings.after!r}"
        )
    check_drawing(settings.draw)
    check_output(settings.save_to, "--save", (".json",))
    check_output(settings.report, "--report", (".html", ".htm"))


def _check_folds(rows: "SplitRows", cv: int) -> None:
    """Refuse more folds than the rows to grow on can have."""
    import numpy as np

    labels, count = rows.y, len(rows.y) + len(rows.held_out_labels)
    grown = f"{count_of(len(labels), 'row')} to grow on, of {count} in all"
    if rows.is_regression:
        if len(labels) < 2:
            raise ValueError(
                f"folds can choose a size if there are 2 rows to grow on; there is {grown}: name a "
                "--size"
            )
        if cv > len(labels):
            raise ValueError(
                f"--cv must be at most the number of rows to grow on ({grown}); got {cv}; a --size "
                "needs no folds"
            )
        return
    common = int(np.unique(labels, return_counts=True)[1].max())
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


class SplitRows(NamedTuple):
    """Rows, labels and weights to learn from, and held-out ones; no weights if all are 1.

    ``moments`` order the rows to learn from if folds are to be later than what they grow on;
    ``dates`` are for ``predict``, which reads new files as this one.
    """

    X: Any
    y: Any
    held_out: Any
    held_out_labels: Any
    weight: Any = None
    held_out_weight: Any = None
    moments: Any = None
    dates: Any = None
    task: str = CLASSIFICATION
    costs: "Mapping[Any, Mapping[Any, float]] | None" = None  # by class and action

    @property
    def is_regression(self) -> bool:
        """Whether the labels are numbers to predict."""
        return self.task == REGRESSION


def _read_rows(settings: FitSettings, request: TaskRequest) -> SplitRows:
    """The rows of a file, some of them held out, and what their labels are."""
    untested = [] if settings.weights is None else [settings.weights]
    after, keep = settings.after, settings.keep
    table = read_table(
        settings.file, settings.target, settings.drop, keep, settings.file_format, settings.parts,
        after, untested, lambda frame: caught(column_of_weights, frame, settings.weights), request,
    )  # fmt: skip
    parts = split_table(table, settings.held_out, settings.seed, after, keep)
    X, weight = table.X.drop(untested), column_of_weights(table.X, settings.weights)
    rows = hold_out(X, table.y, weight, *parts)
    moments = None if after is None else table.moments[parts[0]]
    return rows._replace(moments=moments, dates=table.dates, task=table.task)


def _weigh_classes(model: Any, request: TaskRequest, rows: SplitRows) -> Any:
    """Give a model the weights and costs of the classes to grow on; returns costs of all classes.

    The costs are None without --costs.
    """
    import numpy as np

    from mictree.problems.sample import weights_among

    classes = np.unique(np.concatenate([rows.y, rows.held_out_labels])).tolist()
    factors = read_class_weight(request.class_weight, classes)
    model.set_params(class_weight=weights_among(factors, rows.y))
    costs = request.cost_matrix(classes)
    if costs is not None:
        grown_on = set(rows.y.tolist())
        model.set_params(cost_matrix={each: costs[each] for each in classes if each in grown_on})
    return costs


class FitResult(NamedTuple):
    """A fitted model, the size that is shown, and the rows; no choice if the user chose."""

    model: Any
    choice: "SizeChoice | None"
    size: int
    rows: SplitRows
    scoring: str | None = None

    @property
    def is_optimal(self) -> bool:
        """Whether the trees are optimal ones, or else result."""
        return not hasattr(self.model, "growth_")

    def held_out_error(self, model: Any) -> float:
        """The error of a tree on held-out rows, weighted as training errors are."""
        import numpy as np

        from mictree.estimators.leaves import ActionResults, LeafResults

        found = self.results(model)
        if isinstance(found, LeafResults):
            return found.mean_squared_error
        if isinstance(found, ActionResults):
            return found.mean_cost(None if self.model.class_weight is None else self._factors())
        rows, weights = self.rows, self.rows.held_out_weight
        if self.model.class_weight is not None:
            factors = self._factors()
            factors = np.array([factors.get(label, 1.0) for label in rows.held_out_labels.tolist()])
            weights = factors * (1.0 if weights is None else weights)
        return 1 - model.score(rows.held_out, rows.held_out_labels, weights)

    def _factors(self) -> dict[Any, float]:
        """The factor of each class that some row to grow on has."""
        from mictree.problems.sample import Coded, class_weights

        classes, codes = Coded.positions(self.rows.y)
        coded = Coded(tuple(classes.tolist()), codes)
        factors: Any = class_weights(self.model.class_weight, coded)
        return dict(zip(coded.classes, factors.tolist(), strict=True))

    def score(self, model: Any) -> float:
        """The scoring of a tree on held-out rows."""
        from mictree.estimators.predicting import read_scoring

        scorer, rows = read_scoring(self.scoring), self.rows
        assert scorer is not None
        return scorer(model, rows.held_out, rows.held_out_labels, rows.held_out_weight)

    def results(self, model: Any) -> "ClassResults | LeafResults | ActionResults":
        """The results of a tree on held-out rows: by class, by class and action, or by leaf."""
        from mictree.estimators.leaves import action_results, leaf_results

        rows = self.rows
        held_out = rows.held_out, rows.held_out_labels, rows.held_out_weight
        if rows.is_regression:
            return leaf_results(model, *held_out)
        if rows.costs is not None:
            return action_results(model, *held_out, rows.costs)
        return model.class_results(*held_out)


def hold_out(X: Any, y: Any, weight: Any, train: Any, test: Any) -> SplitRows:
    """Rows to grow on and rows to test on; both must have some weight."""
    if weight is None:
        return SplitRows(X[train], y[train], X[test], y[test])
    for part, what in ((train, "to grow on"), (test, "held out")):
        if not weight[part].any():
            raise ValueError(f"weights must be positive for some row {what}; all are zero")
    return SplitRows(X[train], y[train], X[test], y[test], weight[train], weight[test])


def _grow(model: Any, rows: SplitRows, settings: FitSettings) -> FitResult:
    """Fit on the rows to grow on, and choose a size by folds of them unless the user did.

    After a search that Ctrl-C ended, the size is the largest: folds would search again.
    """
    import numpy as np

    from mictree._support.progress import TimeLimit
    from mictree.estimators.predicting import read_scoring
    from mictree.estimators.sizes import was_interrupted

    size, scorer = settings.size, read_scoring(settings.scoring)
    if scorer is not None:
        labels = np.unique(np.concatenate([rows.y, rows.held_out_labels]))
        scorer.check(labels, regression=rows.is_regression)
    if size is None and settings.after is None:
        _check_folds(rows, settings.cv)
    with TimeLimit(settings.time_limit if settings.is_optimal else None) as limit:
        if settings.is_optimal:
            share = WHOLE_SHARE if size is None else 1.0
            model.set_params(time_limit=max(LEAST_SECONDS, share * limit.left()))
        model.fit(rows.X, rows.y, rows.weight)
        model.dates_ = rows.dates
        if size is None and was_interrupted(model):
            size = settings.max_size
        choice = _choose_size(model, rows, settings, limit) if size is None else None
    wanted = size if choice is None else choice.size
    made = model.at_size(wanted).tree_.size
    return FitResult(model, choice, made, rows, settings.scoring)


def _choose_size(
    model: Any, rows: SplitRows, settings: FitSettings, limit: "TimeLimit"
) -> "SizeChoice":
    """The size that cross-validation chooses; folds share the time that is left."""
    from sklearn.base import clone

    from mictree.estimators.sizes import Choice, select_size

    folded: Any = clone(model)
    if settings.is_optimal:
        folded.set_params(time_limit=max(LEAST_SECONDS, limit.left() / settings.cv))
    return select_size(
        folded, rows.X, rows.y, cv=settings.cv, choose=cast(Choice, settings.choose),
        scoring=settings.scoring, sample_weight=rows.weight, random_state=settings.seed,
        after=rows.moments,
    )  # fmt: skip


def _json_fields(result: FitResult) -> dict[str, Any]:
    """The fields that --json prints."""
    model, shown = result.model, result.model.at_size(result.size)
    names = names_of_labels(model)
    facts: dict[str, Any] = {
        "task": result.rows.task,
        "measure": measure_of(model),
        "train_rows": len(result.rows.y),
        "held_out_rows": len(result.rows.held_out_labels),
        **({} if names is None else {"classes": [str(label) for label in model.classes_]}),
        "train_errors": training_errors(model),
    }
    if result.is_optimal:
        facts["lower_bounds"] = model.frontier_.lower
        facts["proved"] = model.frontier_.proved
        facts["certificates"] = model.frontier_.certificate.tolist()
    if result.choice is not None:
        scored = "scores" if result.choice.scoring else "errors"
        facts[f"cross_validated_{scored}"] = result.choice.shown
        facts["standard_errors"] = result.choice.standard_errors
    facts |= {"size": result.size, "held_out_error": result.held_out_error(shown)}
    if result.scoring is not None:
        facts |= {"scoring": result.scoring, "held_out_score": result.score(shown)}
    tree = shown.tree_ if result.is_optimal else model.growth_.tree(result.size)
    found = result_facts(result.results(shown))
    return facts | found | {"tree": json.loads(tree.to_json())}


def _printed_parts(
    result: FitResult, settings: FitSettings, remarks: Sequence[str]
) -> tuple[Any, ...]:
    """Tables and texts to print, one below the other."""
    from mictree.estimators.leaves import LeafResults

    model, size, requested = result.model, result.size, settings.size
    shown, measure = model.at_size(size), measure_of(model)
    results = result.results(shown)
    found = f"held-out {measure} {show_measured(result.held_out_error(shown), measure)}"
    if isinstance(results, LeafResults):
        found += f", held-out R^2 {show_significant(results.r2)}"
    if result.scoring is not None:
        found += f", held-out {result.scoring} {show_number(result.score(shown))}"
    error = f"training {measure} {show_error(model, size)}"
    ended = f"; growth ended before --size {requested}"
    if result.is_optimal:
        proved = model.frontier_.proved[size]
        error += ", proved to be the least" if proved else ", the best found"
        fewer = "make no fewer errors" if measure == "error" else f"do not lower the {measure}"
        ended = f"; more splits, up to --size {requested}, {fewer}"
    weighted = f", weighted by {show_name(settings.weights)}" if settings.weights else ""
    by = "what is predicted" if result.rows.is_regression else "class"
    details = ("", f"held-out rows by {by}{weighted}:", str(results))
    return (
        f"{count_of(len(result.rows.y), 'row')} to grow on, "
        f"{len(result.rows.held_out_labels):,} held out, "
        f"{count_of(len(model.literals_), 'literal')}",
        table_of_sizes(model, result.choice),
        tree_text(shown.tree_, names_of_labels(model), settings.no_merge),
        f"size {size}, {error}, {found}{'' if requested in (None, size) else ended}",
        *_weighted_by_class(model),
        *remarks,
        *(details if settings.details else ()),
    )


def _weighted_by_class(model: Any) -> list[str]:
    """A line that says so."""
    if getattr(model, "class_weight", None) is None:
        return []
    what = "costs" if measure_of(model) == "mean cost" else "errors"
    return [f"{what} are weighted by class"]


LONGEST_COUNT = 10  # seconds for counting good trees


def _write_report(
    path: Path, result: FitResult, settings: FitSettings, remarks: Sequence[str], command: str
) -> None:
    """Search the optimal trees up to the size, and write the page."""
    from mictree.estimators.sizes import was_interrupted
    from mictree.report.data import Fitted, among_good, make_fitted_page, render

    model, size, rows = result.model, result.size, result.rows
    optimal = None
    if settings.time_limit and not settings.is_optimal:
        with show_progress("searching the optimal trees"):
            optimal = _optimal_like(model, size, settings.time_limit)
            optimal.fit(rows.X, rows.y, rows.weight)
    shown = [each.at_size(size) for each in (model, optimal) if each is not None]
    counted = shown if measure_of(model) == "error" else []
    others = ""
    if settings.time_limit and not was_interrupted(model):
        with show_progress("counting good trees"):
            others = among_good(model, size, min(settings.time_limit, LONGEST_COUNT))
    fitted = Fitted(
        model, settings.rule, size, result.choice, optimal,
        tuple(int((each.predict(rows.held_out) != rows.held_out_labels).sum()) for each in counted),
        len(rows.y), len(rows.held_out_labels),
        rates=tuple(result.held_out_error(each) for each in shown),
        weighted=rows.weight is not None or getattr(model, "class_weight", None) is not None,
        scores=tuple((result.scoring, result.score(each)) for each in shown if result.scoring),
        results=tuple(result.results(each) for each in shown),
        remarks=tuple(remarks),
        command=command,
        others=others,
    )  # fmt: skip
    page = make_fitted_page(
        fitted, settings.file.name, settings.target, _page_settings(settings, rows.task),
        merge=not settings.no_merge,
    )  # fmt: skip
    write_whole(path, render(page).encode())
    print_note(f"wrote {path}")


def _optimal_like(model: Any, size: int, time_limit: float) -> Any:
    """The estimator of optimal trees with the settings of a greedy one."""
    from mictree.estimators import OptimalTreeClassifier, OptimalTreeRegressor

    same = {name: getattr(model, name) for name in
            ("max_depth", "max_thresholds", "min_samples_leaf", "categories")}  # fmt: skip
    if measure_of(model) == SQUARED:
        return OptimalTreeRegressor(size, time_limit=time_limit, **same)
    return OptimalTreeClassifier(
        size,
        time_limit=time_limit,
        class_weight=model.class_weight,
        cost_matrix=model.cost_matrix,
        **same,
    )


def _page_settings(settings: FitSettings, task: str) -> dict[str, object]:
    """The options with which a user can repeat the run, as the page names them."""
    chosen, optimal = settings.size is None, settings.is_optimal
    classes = task == CLASSIFICATION
    criterion = {"criterion": settings.criterion} if classes else {}
    greedy = {} if optimal else criterion | {"ties": settings.ties}
    smallest = count_of(settings.min_samples_split, "row")
    return {
        "rule": settings.rule,
        **greedy,
        "largest size": settings.max_size,
        "size": "chosen by cross-validation" if chosen else settings.size,
        "folds": settings.cv if chosen else "none",
        "choose": settings.choose if chosen else "none",
        "task": task,
        "measure on held-out rows": settings.measured(task),
        "weights": settings.weights or "none",
        **({"weights of classes": settings.class_weight or "none"} if classes else {}),
        **({"costs": settings.costs or "none"} if classes else {}),
        "share held out": settings.held_out,
        "seed": settings.seed,
        "held out after, by": settings.after or "none",
        "parts of dates": ", ".join(settings.parts) or "none",
        "columns left out": ", ".join(settings.drop) or "none",
        **({} if optimal else {"smallest leaf to split": smallest}),
        "smallest leaf": count_of(settings.min_samples_leaf, "row"),
        "largest depth": "any" if settings.max_depth is None else settings.max_depth,
        "thresholds a column": settings.max_thresholds or "all",
        "tests on categories": settings.categories,
        "time limit for optimal trees": f"{settings.time_limit:g} s",
    }


def _files(model: Any, size: int, settings: FitSettings) -> list[Callable[[], None]]:
    """Functions that write the model and its drawing."""
    saved, drawn, merge = settings.save_to, settings.draw, not settings.no_merge
    writes: list[Callable[[], None]] = []
    if saved is not None:
        writes.append(lambda: save_model(saved, model.at_size(size)))
    if drawn is not None:
        writes.append(lambda: save_drawing(drawn, model.draw(size=size, merge=merge)))
    return writes


def split_table(
    table: Table, held_out: float, seed: int, after: str | None, keep: Sequence[str]
) -> tuple[Any, Any]:
    """Row numbers to grow on and to test on: drawn at random, or the last ones by time."""
    if after is None:
        warn_about_time_order(table, keep)
        return split_rows(table.y, held_out, seed, stratify=table.task == CLASSIFICATION)
    from mictree.estimators.sizes import last_rows, rank_moments

    split_rows(table.y, held_out, seed)  # refuses too few rows
    try:
        train, test = last_rows(rank_moments(table.moments, len(table.y)), held_out)
    except ValueError as error:
        raise ValueError(f"{error}: --after {after}") from None
    first = str(table.moments[test].min()).replace("T", " ")
    shown = re.sub(r"(:00)?\.0+$", "", first)  # of microseconds
    rows = count_of(len(test), "row")
    print_note(f"held out the last {rows} by {show_name(after)}: from {shown} on")
    return train, test


def split_rows(labels: Any, held_out: float, seed: int, stratify: bool = True) -> tuple[Any, Any]:
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
    codes = np.unique(labels, return_inverse=True)[1] if stratify else np.zeros(rows, dtype=int)
    shuffled = np.random.default_rng(seed).permutation(rows)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    places = (np.arange(count) * rows + rows // 2) // count  # evenly spread, so classes are too
    chosen = np.zeros(rows, dtype=bool)
    chosen[by_class[places]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
