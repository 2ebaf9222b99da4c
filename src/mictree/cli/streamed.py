"""The command fit on Parquet files that are read batch by batch, larger than the memory.

Invariant: rows that grow the tree, rows that choose its size and rows that test it are different
ones; the error of the rows that chose the size would be too good. A hash of a row's number, as a
place from 0 to 1, says which part it belongs to (``RowSplit``), so that no list of rows is kept.
The rows of --test files all test. Once the tree is grown, one pass sums the labels of the other
rows at its leaves, which gives the errors of all sizes at once. Folds would need a tree each; so
``refuse_unstreamed`` refuses them, as it does all options that need the rows in memory.

Whether the target holds classes or numbers to predict is decided as for a file in memory, from the
different values of all rows: reading them ends as soon as they tell.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from mictree._support.checks import caught, raise_all
from mictree._support.progress import Progress, Report
from mictree._support.words import (
    count_of,
    measure_of,
    names_of_labels,
    show_measured,
    show_name,
    show_number,
    show_significant,
)
from mictree.cli.options import is_given
from mictree.cli.output import (
    print_json,
    print_parts,
    result_facts,
    show_error,
    show_progress,
    table_of_sizes,
    tree_text,
    tree_warnings,
)
from mictree.cli.table import check_drop, find_warnings, naming_options, print_note
from mictree.cli.tasks import (
    CLASSIFICATION,
    MOST_CLASSES,
    REGRESSION,
    Decision,
    TaskRequest,
    decide_task,
    read_class_weight,
)

if TYPE_CHECKING:
    import polars

    from mictree.cli.fit import FitSettings
    from mictree.columns.parquet import ParquetSet
    from mictree.estimators.leaves import ActionResults
    from mictree.estimators.predicting import ClassResults
    from mictree.estimators.streamed import HeldOut, LeafSums, NumberResults, NumberSums
    from mictree.problems.sample import SampleProblem

IN_MEMORY_OPTIONS = {  # of files that are read at once, and why
    "cv": "files that are read batch by batch grow one tree, and held-out rows judge it",
    "report": "its page compares folds and optimal trees, which need the rows in memory",
    "time_limit": "it limits the search for optimal trees, which needs the rows in memory",
    "after": "a hash of a row's number holds it out; --test FILES tests on whole files",
    "parts": "columns that are read batch by batch are used as they are stored",
} | dict.fromkeys(
    ("separator", "encoding", "decimal", "missing", "text", "number", "no_header", "date"),
    "columns of Parquet files have types of their own",
)
MOST_BATCHES = 16  # the first ones, in which warnings are sought
MOST_THRESHOLDS = 255
JACKKNIFE = 10  # parts of the rows that choose a size by a scoring, each left out once


def refuse_unstreamed(context: typer.Context, settings: "FitSettings") -> None:
    """Refuse the options that streamed files cannot honour."""
    for name, reason in IN_MEMORY_OPTIONS.items():
        if is_given(context, name):
            raise ValueError(
                f"--{name.replace('_', '-')} must not be given with a folder or a pattern: {reason}"
            )
    if settings.size is not None and is_given(context, "choose"):
        raise ValueError("--choose must not be given with --size, which chooses the size")
    if settings.size is not None and settings.test and is_given(context, "held_out"):
        raise ValueError(
            "--held-out must not be given with --test and --size: then all rows that do not test "
            "grow the tree"
        )
    if settings.size is None and not settings.held_out:
        raise ValueError("--held-out must be above 0 for its rows to choose a size; name a --size")
    for name in ("scoring", "details"):
        if is_given(context, name) and not settings.held_out and not settings.test:
            raise ValueError(f"--{name} must not be given with --held-out 0, as no row tests")


class RowSplit(NamedTuple):
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
    def of(cls, settings: "FitSettings") -> "RowSplit":
        """From the options; files that test do not grow the tree."""
        from mictree.columns.parquet import find_files

        tests = find_files(settings.test) if settings.test else ()
        taken = {file.resolve() for file in tests}
        files = [each for each in find_files(str(settings.file)) if each.resolve() not in taken]
        if not files:
            raise ValueError(
                f"--test must leave a file to grow on; it names all {count_of(len(tests), 'file')} "
                f"of {str(settings.file)!r}"
            )
        share, chooses = settings.held_out, settings.size is None
        if not share or (tests and not chooses):
            return cls(tuple(files), tests, None, None)
        cut = 1 - share / 2 if chooses and not tests else None
        return cls(tuple(files), tests, (0.0, 1 - share), cut)

    @property
    def testing(self) -> int:
        """How many parts of the rows test: one, or none."""
        return int(bool(self.tests) or self.grown is not None)

    def cuts(self, parts: int) -> list[float]:
        """Where the rows that choose the size are cut into parts, and end."""
        assert self.grown is not None
        start, end = self.grown[1], 1.0 if self.cut is None else self.cut
        inner = [start + (end - start) * number / parts for number in range(1, parts)]
        return inner if self.cut is None else [*inner, self.cut]


class HeldOutErrors(NamedTuple):
    """Errors on rows that did not grow the tree: on those that chose the size, and on the others.

    They are weighted as training errors are; None where there are no such rows. With --scoring, the
    first are scores.
    """

    choosing: "HeldOut | None"
    testing: "HeldOut | None"
    scores: "HeldOut | None" = None  # of the rows that test, with --scoring
    sums: "LeafSums | NumberSums | None" = None  # of the rows that test

    def results(self, model: Any, size: int) -> "ClassResults | NumberResults | ActionResults":
        """The results on the rows that test: by class, by prediction, or by class and action."""
        from mictree.estimators.streamed import NumberSums, actions_by_class, results_by_class

        assert self.sums is not None
        if isinstance(self.sums, NumberSums):
            return self.sums.results(size)
        by = actions_by_class if measure_of(model) == "mean cost" else results_by_class
        return by(model, self.sums, size)


def fit_streamed(settings: "FitSettings", about: dict[str, Any] | None) -> tuple[Any, int]:
    """Grow a tree on rows of Parquet files, choose its size, test it and print it.

    It is printed as JSON if ``about`` begins that. Returns the model and the size.
    """
    from mictree.columns.parquet import ParquetSet
    from mictree.estimators.streamed import check_number_scoring

    check_drop(settings.target, settings.drop)
    split = RowSplit.of(settings)
    columns, decision = _choose_columns(ParquetSet([*split.files, *split.tests]), settings)
    if decision.line:
        print_note(decision.line)
    model = settings.make_model(decision.task)
    if settings.scoring is not None and decision.is_regression:
        check_number_scoring(settings.scoring)
    _warn(ParquetSet(split.files), columns, settings.target, settings.keep, decision)
    with show_progress("reading") as report, naming_options():
        problem = _read_rows(model, columns, split, settings, decision, report)
        report(Progress("growing"))
        model.fit(problem)
        errors = _measure_held_out(model, split, settings, report)
    requested = settings.size if errors.choosing is None else errors.choosing.size
    size = model.growth_.tree(requested).size
    rows = int(problem.all_class_rows.sum())
    advise = settings.size is None and settings.scoring is None
    remarks = tree_warnings(model.at_size(size), settings.class_weight, advise)
    if about is not None:
        if decision.is_regression:
            about.pop("criterion", None)
        fields = _json_fields(model, decision.task, size, rows, errors)
        print_json(about, **fields, remarks=remarks)
    else:
        ended = "" if size == requested else f"; growth ended before --size {requested}"
        counts = _describe_rows(rows, split, errors)
        shown = _printed_parts(model, size, counts, errors, ended, settings)
        print_parts(*shown, *remarks)
    return model, size


def _choose_columns(files: "ParquetSet", settings: "FitSettings") -> tuple[list[str], Decision]:
    """The columns to learn from, and what the target is; all complaints come together."""
    import polars

    from mictree.columns.data import unreadable

    request, target, weights = settings.request, settings.target, settings.weights
    untested = (target, *settings.drop, *([] if weights is None else [weights]))
    columns = [name for name in files.schema if name not in untested]
    complaints = [
        error
        for name in dict.fromkeys((*untested, *settings.keep))
        for error in caught(files.check_column, name)
    ]
    decision = Decision(CLASSIFICATION, polars.Series())
    if target in files.schema:
        try:
            decision = _decide(files, target, request)
        except ValueError as error:
            complaints.append(error)
    complaints += request.complain()
    if complaints:  # else reading finds these, and others
        held = {name: files.schema[name] for name in columns}
        complaints += [unreadable(name, kind) for name, kind in held.items() if kind.is_nested()]
    with naming_options():
        raise_all(complaints)
    return columns, decision


def _read_rows(
    model: Any,
    columns: list[str],
    split: RowSplit,
    settings: "FitSettings",
    decision: Decision,
    report: Report,
) -> "SampleProblem":
    """The rows to grow on; sets what the model needs to know of their classes."""
    import polars

    from mictree.problems.sample import SampleProblem

    request, target = settings.request, settings.target
    problem = SampleProblem.from_parquet(
        split.files, target, columns=columns, sample_weight=settings.weights, rows=split.grown,
        seed=settings.seed, progress=report,
        max_thresholds=MOST_THRESHOLDS if model.max_thresholds is None else model.max_thresholds,
        loss="squared" if decision.is_regression else None,
        categories=settings.categories,
    )  # fmt: skip
    if not decision.is_regression:
        decide_task(polars.Series(target, problem.classes), CLASSIFICATION)
        factors = _read_factors(settings, split, problem.classes, report)
        model.set_params(class_weight=factors)
        if request.costs is not None:
            model.set_params(cost_matrix=request.cost_matrix(problem.classes))
    return problem


def _decide(files: "ParquetSet", target: str, request: TaskRequest) -> Decision:
    """What the target is, from the first values that tell, or all of them."""
    import polars

    from mictree.columns.parquet import as_polars

    kind = files.schema[target]
    if request.asked == REGRESSION and not kind.is_numeric():
        raise ValueError(
            f"labels must be numbers with --task regression; {show_name(target)} has {kind}"
        )
    if request.asked is not None or not kind.is_numeric():
        # the type tells; reading finds out whatever is wrong with the values
        return request.decide(_example(target, kind))
    values, bounds = polars.Series(target, [], dtype=kind), files.bounds.get(target)
    if bounds is not None and bounds.most - bounds.least < MOST_CLASSES:
        return request.decide(polars.Series(target, [bounds.least, bounds.most], dtype=kind))
    for batch in files.batches([target], "reading labels"):
        found = as_polars(batch.table)[target].drop_nulls().unique()
        if kind.is_float():
            found = found.filter(found.is_finite())  # reading refuses others, by file
        values = values.append(found).unique()
        decision = request.decide(values, some=True) if len(values) else None
        if decision is not None and decision.is_regression:
            return decision
    return request.decide(values)


def _example(name: str, kind: Any) -> "polars.Series":
    """A column of one value of a type."""
    import polars

    if kind.is_nested():
        return polars.Series(name, [[]], dtype=kind)
    if str(kind).startswith(("String", "Categorical", "Enum")):
        return polars.Series(name, ["text"])
    return polars.Series(name, [0]).cast(kind, strict=False)


def _read_factors(
    settings: "FitSettings", split: RowSplit, classes: Sequence[Any], report: Report
) -> Any:
    """The option --class-weight for the classes of the rows to grow on.

    It may name a class that only other rows have; they are read if it names an unknown one.
    """
    from mictree.columns.parquet import ParquetSet
    from mictree.problems.sample import weights_among
    from mictree.problems.streamed import labels_of

    text, target, labels = settings.class_weight, settings.target, set(classes)
    named = read_class_weight(text)
    if isinstance(named, dict) and not named.keys() <= set(map(str, classes)):
        files = ParquetSet([*split.files, *split.tests])
        for batch in files.batches([target], "reading labels", report):
            values, codes = labels_of(batch, target)
            labels.update(values[code] for code in set(codes.tolist()))
    return weights_among(read_class_weight(text, sorted(labels)), classes)


def _measure_held_out(
    model: Any, split: RowSplit, settings: "FitSettings", report: Report
) -> HeldOutErrors:
    """Choose the size and test, in one pass over the rows that did not grow the tree."""
    from mictree.columns.parquet import ParquetSet, Share
    from mictree.estimators.predicting import read_scoring
    from mictree.estimators.saved import from_json, to_json
    from mictree.estimators.streamed import (
        errors_by_size,
        predicts_numbers,
        score_by_size,
        sum_leaves,
    )

    saved = from_json(to_json(model))  # it reads only the columns that the tree tests
    columns = settings.target, settings.weights
    scorer, chooses = read_scoring(settings.scoring), settings.size is None
    if scorer is not None and not predicts_numbers(model):
        scorer.check(saved.classes_)
    sums = []
    if split.grown is not None:
        share = Share(split.grown[1], 1.0, settings.seed)
        cuts = split.cuts(JACKKNIFE if chooses and scorer is not None else 1)
        sums += sum_leaves(saved, ParquetSet(split.files, share), *columns, cuts, report)
    if split.tests:
        sums += sum_leaves(saved, ParquetSet(split.tests), *columns, [], report)
    parts = [sums.pop(0) for _ in range(len(sums) - split.testing)] if chooses else []
    whole = [*([sum(parts[1:], parts[0])] if parts else []), *sums]
    rows = [each.rows for each in whole]
    if 0 in rows:
        raise ValueError(
            "some row must choose the size, and another one test the tree; --held-out "
            f"{settings.held_out:g} and --test leave {' and '.join(map(str, rows))}"
        )
    factors = model._problem.class_weight.tolist()
    errors = [errors_by_size(saved, each, factors) for each in whole]
    choosing = errors.pop(0) if chooses else None
    testing, scores = errors[0] if errors else None, None
    if scorer is not None:
        choosing = score_by_size(saved, parts, scorer) if chooses else None
        scores = score_by_size(saved, sums, scorer) if sums else None
    if choosing is not None:
        choosing = choosing.choosing(settings.choose)
    return HeldOutErrors(choosing, testing, scores, sums[0] if sums else None)


def _json_fields(
    model: Any, task: str, size: int, rows: int, errors: HeldOutErrors
) -> dict[str, Any]:
    """The fields that --json prints."""
    tree, choosing, testing = model.growth_.tree(size), errors.choosing, errors.testing
    facts: dict[str, Any] = {"task": task, "measure": measure_of(model), "train_rows": rows}
    if choosing is not None:
        facts["choosing_rows"] = choosing.rows
    facts["held_out_rows"] = 0 if testing is None else testing.rows
    if task == CLASSIFICATION:
        facts["classes"] = [str(label) for label in model.classes_]
    if measure_of(model) == "mean cost":
        facts["actions"] = names_of_labels(model)
    facts["train_errors"] = model.growth_.errors
    if choosing is not None:
        facts["choosing_scores" if choosing.scoring else "choosing_errors"] = choosing.shown
        facts["standard_errors"] = choosing.standard_errors
    facts["size"] = size
    if testing is not None:
        facts["held_out_error"] = testing.shown[size]
        facts |= result_facts(errors.results(model, size))
    if errors.scores is not None:
        facts |= {"scoring": errors.scores.scoring, "held_out_score": errors.scores.shown[size]}
    return facts | {"tree": json.loads(tree.to_json())}


def _describe_rows(rows: int, split: RowSplit, errors: HeldOutErrors) -> str:
    """How many rows grow the tree, choose its size and test it."""
    grown = f"{count_of(rows, 'row')} of {count_of(len(split.files), 'file')} to grow on"
    choose = f", {errors.choosing.rows:,} to choose the size" if errors.choosing is not None else ""
    if errors.testing is None:
        return f"{grown}{choose}, none held out"
    tested = f"{errors.testing.rows:,} held out"
    if split.tests:
        tested = f"{count_of(errors.testing.rows, 'row')} of {count_of(len(split.tests), 'file')} "
        tested += "to test on"
    return f"{grown}{choose}, {tested}"


def _printed_parts(
    model: Any, size: int, rows: str, errors: HeldOutErrors, ended: str, settings: "FitSettings"
) -> tuple[Any, ...]:
    """Tables and texts to print, one below the other."""
    from mictree.estimators.streamed import NumberResults

    measure, error, details = measure_of(model), "", ()
    if errors.testing is not None:
        held = show_measured(errors.testing.shown[size], measure)
        error = f", held-out {measure} {held}"
        results = errors.results(model, size)
        if isinstance(results, NumberResults):
            error += f", held-out R^2 {show_significant(results.r2)}"
        if settings.details:
            weighted = f", weighted by {show_name(settings.weights)}" if settings.weights else ""
            by = "what is predicted" if isinstance(results, NumberResults) else "class"
            details = ("", f"held-out rows by {by}{weighted}:", str(results))
    if errors.scores is not None:
        error += f", held-out {settings.scoring} {show_number(errors.scores.shown[size])}"
    weighted = []
    if getattr(model, "class_weight", None) is not None:
        weighted = [f"{'costs' if measure == 'mean cost' else 'errors'} are weighted by class"]
    return (
        f"{rows}, {count_of(len(model.literals_), 'literal')}",
        table_of_sizes(model, errors.choosing),
        tree_text(model.at_size(size).tree_, names_of_labels(model), settings.no_merge),
        f"size {size}, training {measure} {show_error(model, size)}{error}{ended}",
        *weighted,
        *details,
    )


def _warn(found: Any, columns: list[str], target: str, keep: list[str], decision: Decision) -> None:
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
    if frame.height:
        decide_task(frame[target], decision.task)  # later rows when they are read
    part = "" if frame.height == found.rows else f" (in the first {count_of(frame.height, 'row')})"
    found_warnings = find_warnings(frame.select(columns), frame[target], part, task=decision.task)
    for name, warning in found_warnings:
        if name not in keep:
            print_note(f"warning: {warning}")
