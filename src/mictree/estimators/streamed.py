"""Predictions for Parquet files that may be larger than the memory, and their errors by size.

Predictions are written as Parquet, batch by batch. Errors need one pass for all sizes: it sums the
weights of the rows by class at every leaf of the largest tree, and a leaf of a smaller tree has the
sums of the leaves beneath it. Sums are exact, so they depend on no order of rows.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from mictree._support.checks import as_fraction, caught, raise_all
from mictree._support.files import DISK_FULL, no_space, unfinished
from mictree._support.numbers import UNIT, as_number, exact_sums
from mictree._support.progress import Report, ignore
from mictree._support.words import SQUARED, of_one_kind
from mictree.columns.parquet import Batch, ParquetSet, Paths, as_polars
from mictree.columns.written import Tests
from mictree.distributed.collections import Spread
from mictree.estimators.leaves import HEADS, ActionResults, align, cells_of_leaves
from mictree.estimators.predicting import ClassResults, Scorer
from mictree.estimators.sizes import choose_size
from mictree.growers.data_loop import Splitting
from mictree.problems.sample import NO_WEIGHT
from mictree.problems.streamed import check_label_type, labels_of, numbers_of, weights_of
from mictree.problems.tasks import ActionCosts, MatrixCosts, Squared

if TYPE_CHECKING:
    import polars
    import pyarrow

    from mictree.estimators.kinds import TreeClassifier

NEW_CLASSES = "(other)"  # classes that no row to grow on has
ALL = "all"  # in place of names of columns to keep
NUMBER_SCORINGS = ("r2", "neg_mean_squared_error", "neg_root_mean_squared_error")
MOST_FOURTH = 1e290  # larger fourth powers of errors count as this one

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


def answers(model: TreeClassifier, X: Any, size: int | None, proba: bool) -> polars.DataFrame:
    """A table with the prediction for each row, and the probability of every class if wanted."""
    import polars

    first, *others = _outputs(model, proba)
    columns = {first: model.predict(X, size).tolist()}
    actions = getattr(model, "actions_", np.zeros(0)).tolist()
    if of_one_kind(actions) != actions:  # classes that are numbers, and an action that is none
        columns[first] = [str(each) for each in columns[first]]
    if proba:
        shares = model.predict_proba(X, size)
        columns |= {name: shares[:, number].tolist() for number, name in enumerate(others)}
    return polars.DataFrame(columns)


def _outputs(model: TreeClassifier, proba: bool) -> list[str]:
    """The names of the columns that are written."""
    shares = [f"probability of {label}" for label in model.classes_] if proba else []
    return ["prediction", *shares]


def predict_parquet(
    model: TreeClassifier,
    paths: Paths,
    out: Path,
    size: int | None = None,
    proba: bool = False,
    keep: Sequence[str] = (),
    progress: Report | None = None,
    look: Callable[[polars.DataFrame], None] = lambda frame: None,
) -> int:
    """Write the predictions for all rows of some files, in their order; returns how many.

    ``keep`` names columns to write before them; ``ALL`` stands for all of them. Each batch of rows
    is shown to ``look``.
    """
    files = ParquetSet(paths)
    if not files.rows:
        raise ValueError(f"there must be a row to predict; {files.files[0]} has none")
    _check_apart(Path(out), paths, files)
    columns = _columns(model, files)
    if proba and not hasattr(model, "predict_proba"):
        raise ValueError(
            f"proba must be False for {type(model).__name__}, which has no classes; got {proba!r}"
        )
    if isinstance(keep, str) and keep != ALL:
        raise ValueError(f'keep must be a list of columns or "all"; got {keep!r}')
    keep = [keep] if isinstance(keep, str) else keep
    for name in keep:
        if name != ALL:
            files.check_column(name)
    kept = choose_kept(list(files.schema), keep, _outputs(model, proba))
    read = list(dict.fromkeys([*columns, *kept]))
    tables = (batch.table for batch in files.batches(read, "predicting", progress or ignore))

    def answer(table: pyarrow.Table) -> pyarrow.Table:
        frame = as_polars(table.select(columns))
        look(frame)
        return _join(table.select(kept), answers(model, frame, size, proba).to_arrow())

    try:
        _write(out, map(answer, tables))
    except OSError as error:
        if error.errno in DISK_FULL:
            raise no_space(Path(out)) from error
        raise
    return files.rows


def choose_kept(names: Sequence[str], keep: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """The columns of a table to write before the outputs, in the order of the table."""
    kept = list(names) if ALL in keep else [name for name in names if name in keep]
    for name in kept:
        if name in outputs:
            raise ValueError(
                f"columns that are kept must not be named as one that is written; {name!r} is: "
                "rename it, or keep others"
            )
    return kept


def _join(kept: pyarrow.Table, answered: pyarrow.Table) -> pyarrow.Table:
    """Both tables side by side, without what the file says about itself."""
    import pyarrow

    names = [*kept.column_names, *answered.column_names]
    return pyarrow.Table.from_arrays([*kept.columns, *answered.columns], names=names)


def _write(out: Path, tables: Iterator[pyarrow.Table]) -> None:
    """Write tables as one file, or none."""
    from pyarrow.parquet import ParquetWriter

    with unfinished(out) as temporary:
        writer = None
        try:
            for table in tables:
                writer = writer or ParquetWriter(temporary, table.schema)
                writer.write_table(table.cast(writer.schema))
        finally:
            if writer is not None:
                writer.close()


def _check_apart(out: Path, paths: Paths, files: ParquetSet) -> None:
    """Refuse to write over a file that is read, or into a folder that will be read again."""
    place = out.resolve()
    if any(place == file.resolve() for file in files.files):
        raise ValueError(f"the output must not be one of the files that are read; {out} is")
    if isinstance(paths, str | Path) and Path(paths).is_dir() and (
        Path(paths).resolve() in place.parents
    ):  # fmt: skip
        raise ValueError(
            f"the output must lie outside the folder that is read; {out} is in {paths}"
        )


def _columns(model: TreeClassifier, files: ParquetSet) -> list[str]:
    """The columns that the model reads; a saved model reads few, and finds them by name."""
    names, tests = list(files.schema), model.literals_
    if isinstance(tests, Tests) and tests.named:
        names = tests.sources
    else:
        names = list(getattr(model, "feature_names_in_", names))
    raise_all([error for name in names for error in caught(files.check_column, name)])
    return names or list(files.schema)[:1]  # a lone leaf reads no column; rows must be counted


@dataclass(frozen=True)
class HeldOut:
    """The accuracy, or another score, by size on some rows, index = size.

    Attributes
    ----------
    rows : their number
    means : the share of the rows, by weight, whose class is predicted; or the score of all rows;
        mean squared errors and mean costs are negative
    standard_errors : of ``means``: what they would differ by on other rows of the same kind
    size : the size that was chosen by them, if one was
    choose : by which rule
    scoring : the name of the score, or nothing
    loss : "mean squared error" of numbers, or "mean cost"; nothing for other scores
    """

    rows: int
    means: FloatArray
    standard_errors: FloatArray
    size: int | None = None
    choose: str = ""
    scoring: str = ""
    loss: str = ""

    @property
    def title(self) -> str:
        """The head of a column of what is shown."""
        return f"{self.scoring or self.loss or 'error'} of rows that choose"

    @property
    def shown(self) -> FloatArray:
        """The error by size, or with a scoring the score."""
        if self.scoring:
            return self.means
        return 0.0 - self.means if self.loss else 1 - self.means

    def choosing(self, rule: str) -> HeldOut:
        """These scores with a size, chosen as ``mictree.select_size`` does."""
        ruled = replace(self, choose=rule)
        return replace(ruled, size=choose_size(ruled))


class LeafSums:
    """The weights of some rows, and their squares, at every leaf by class; a last class is new."""

    def __init__(self, nodes: int, classes: int) -> None:
        self.rows, self.weighted = 0, False
        self._shape = nodes, classes + 1
        self._weights, self._squares = [0] * (nodes * (classes + 1)), [0] * (nodes * (classes + 1))

    def add(self, leaves: IntArray, codes: IntArray, weights: FloatArray | None) -> None:
        """Add rows that reach these leaves and have these classes."""
        self.rows += len(leaves)
        place, count = leaves * self._shape[1] + codes, len(self._weights)
        if weights is None:
            found = [number << UNIT for number in np.bincount(place, minlength=count).tolist()]
            sums = found, found
        else:
            self.weighted = True
            sums = (exact_sums(each, place, count) for each in (weights, weights**2))
        for total, part in zip((self._weights, self._squares), sums, strict=True):
            total[:] = [one + other for one, other in zip(total, part, strict=True)]

    def __add__(self, other: LeafSums) -> LeafSums:
        """The sums of both sets of rows."""
        both = LeafSums(self._shape[0], self._shape[1] - 1)
        both.rows, both.weighted = self.rows + other.rows, self.weighted or other.weighted
        both._weights = list(map(operator.add, self._weights, other._weights))
        both._squares = list(map(operator.add, self._squares, other._squares))
        return both

    def tally(self, splitting: Splitting) -> FloatArray:
        """The weight of each class at all nodes of a growth; in the last column of new classes."""
        whole = [Fraction(1)] * self._shape[1]
        return np.array(self._pooled(self._weights, splitting, whole), dtype=float)

    def accuracy(
        self,
        splitting: Splitting,
        factors: Sequence[float],
        class_of: Sequence[int] | None = None,
    ) -> HeldOut:
        """The accuracy of all trees of a growth, if rows also weigh a factor of their class.

        ``class_of`` has the class of each label, if labels are actions that have costs.
        """
        scale = [Fraction(factor) for factor in (*factors, 1.0)]
        labels = splitting.labels if class_of is None else np.array(class_of)[splitting.labels]
        right = self._right_by_size(self._weights, splitting, labels, scale)
        scale = [factor**2 for factor in scale]
        squares = self._right_by_size(self._squares, splitting, labels, scale)
        total, all_squares = right.pop(), squares.pop()
        if not total:
            raise ValueError(NO_WEIGHT)
        means, errors = [], []
        for held, square in zip(right, squares, strict=True):
            mean = held / total
            spread = square * (1 - mean) ** 2 + (all_squares - square) * mean**2
            means.append(float(mean))
            errors.append(math.sqrt(spread / total**2))
        return HeldOut(self.rows, np.array(means), np.array(errors))

    def costs(self, splitting: Splitting, task: MatrixCosts, factors: Sequence[float]) -> HeldOut:
        """The mean cost of all trees of a growth, if rows also weigh a factor of their class."""
        scale = [Fraction(factor) for factor in (*factors, 1.0)]
        masses = self._pooled(self._weights, splitting, scale)
        squares = self._pooled(self._squares, splitting, [factor**2 for factor in scale])
        total, all_squares = sum(masses[0], Fraction()), sum(squares[0], Fraction())
        if not total:
            raise ValueError(NO_WEIGHT)
        if masses[0][-1]:
            raise ValueError(
                "costs need labels that rows to grow on have; a held-out row has another one"
            )
        prices = [[as_fraction(cost) for cost in row] for row in task.given.tolist()]
        sums = [  # by node, of costs, and of weighted costs and of squares of weighted costs
            [
                sum(
                    (mass * row[label] ** power for mass, row in zip(of[:-1], prices, strict=True)),
                    Fraction(),
                )
                for of, label in zip(parts, splitting.labels.tolist(), strict=True)
            ]
            for parts, power in ((masses, 1), (squares, 1), (squares, 2))
        ]
        means, errors = [], []
        for cost, once, twice in zip(
            *(_over_leaves(each, splitting) for each in sums), strict=True
        ):
            mean = cost / total
            spread = twice - 2 * mean * once + mean**2 * all_squares
            means.append(float(mean))
            errors.append(math.sqrt(max(Fraction(), spread) / total**2))
        return HeldOut(self.rows, -np.array(means), np.array(errors), loss="mean cost")

    def _right_by_size(
        self, sums: list[int], splitting: Splitting, labels: IntArray, scale: list[Fraction]
    ) -> list[Fraction]:
        """The sums of the rows that are right by size, and at the end that of all rows.

        A label below 0 is never right.
        """
        parts = self._pooled(sums, splitting, scale)
        held = [
            part[label] if label >= 0 else Fraction()
            for part, label in zip(parts, labels.tolist(), strict=True)
        ]
        return [*_over_leaves(held, splitting), sum(parts[0], Fraction())]

    def _pooled(
        self, sums: list[int], splitting: Splitting, scale: list[Fraction]
    ) -> list[list[Fraction]]:
        """By node and class; a node above others has the sums of both its children."""
        nodes, width = self._shape
        parts = [
            [as_number(each) * factor for each, factor in zip(row, scale, strict=True)]
            for row in (sums[node * width : (node + 1) * width] for node in range(nodes))
        ]
        for step in reversed(range(len(splitting.leaves))):
            leaf = int(splitting.leaves[step])
            both = zip(parts[2 * step + 1], parts[2 * step + 2], strict=True)
            parts[leaf] = [low + high for low, high in both]
        return parts


def check_number_scoring(scoring: str) -> None:
    """Refuse a scoring that does not follow from sums."""
    if scoring not in NUMBER_SCORINGS:
        raise ValueError(
            "scoring of numbers in files that are read batch by batch must be one of "
            f"{', '.join(NUMBER_SCORINGS)}; got {scoring!r}"
        )


def _over_leaves(held: Sequence[Any], splitting: Splitting) -> list[Any]:
    """Exact numbers of nodes, summed over the leaves of each tree of a growth."""
    sums = [held[0]]
    for step, leaf in enumerate(splitting.leaves.tolist()):
        sums.append(sums[-1] - held[leaf] + held[2 * step + 1] + held[2 * step + 2])
    return sums


class NumberSums:
    """The squared errors of numbers to predict, summed at every node that their rows pass.

    A row counts at its leaf and at every node above, by its distance from what that node would
    predict. So no sum of squares is a difference of larger ones.

    Attributes
    ----------
    rows : their number
    spread : of their labels
    """

    def __init__(self, splitting: Splitting) -> None:
        self.rows = 0
        self._splitting = splitting
        self._labels = splitting.labels.astype(float)
        self._parents = np.append(0, np.repeat(splitting.leaves, 2)).astype(np.int64)
        self.spread = Spread()
        self._squared_weight = 0  # the sum of squares of weights
        # by node: weighted squared errors, these weighted twice, and weighted squares of both
        self._sums = [[0] * len(self._labels) for _ in range(3)]
        # by leaf of the largest tree: the weight of its rows, and the sum of weighted labels
        self._weights, self._totals = [0] * len(self._labels), [0] * len(self._labels)

    def add(self, leaves: IntArray, numbers: FloatArray, weights: FloatArray | None) -> None:
        """Add rows that reach these leaves and have these labels."""
        self.rows += len(leaves)
        self.spread += Spread.of(numbers, weights, float(self._labels[0]))
        mass = np.ones(len(leaves)) if weights is None else weights
        count = len(self._labels)
        weighed = exact_sums(mass, leaves, count)
        signed = exact_sums(mass * np.abs(numbers), 2 * leaves + (numbers > 0), 2 * count)
        self._weights[:] = map(operator.add, self._weights, weighed)
        totals = map(operator.sub, signed[1::2], signed[::2])
        self._totals[:] = map(operator.add, self._totals, totals)
        self._squared_weight += exact_sums(mass**2, np.zeros(len(leaves), dtype=np.int64), 1)[0]
        nodes = leaves
        while len(nodes):
            squares = (numbers - self._labels[nodes]) ** 2
            with np.errstate(over="ignore"):
                fourth = np.minimum((mass * squares) ** 2, MOST_FOURTH)
            for total, terms in zip(
                self._sums, (mass * squares, mass**2 * squares, fourth), strict=True
            ):
                parts = exact_sums(terms, nodes, len(total))
                total[:] = [one + other for one, other in zip(total, parts, strict=True)]
            inner = nodes > 0
            nodes, numbers, mass = self._parents[nodes[inner]], numbers[inner], mass[inner]

    def __add__(self, other: NumberSums) -> NumberSums:
        """The sums of both sets of rows."""
        both = NumberSums(self._splitting)
        both.rows = self.rows + other.rows
        both.spread = self.spread + other.spread
        both._squared_weight = self._squared_weight + other._squared_weight
        both._weights = list(map(operator.add, self._weights, other._weights))
        both._totals = list(map(operator.add, self._totals, other._totals))
        both._sums = [
            list(map(operator.add, *each)) for each in zip(self._sums, other._sums, strict=True)
        ]
        return both

    def errors(self) -> HeldOut:
        """The mean squared error of all trees of the growth."""
        total = self._total
        means, errors = [], []
        for square, twice, fourth in zip(*map(self._by_size, self._sums), strict=True):
            mean = square / total
            spread = fourth - 2 * mean * twice + mean**2 * as_number(self._squared_weight)
            means.append(float(mean))
            errors.append(math.sqrt(max(Fraction(), spread) / total**2))
        return HeldOut(self.rows, -np.array(means), np.array(errors), loss=SQUARED)

    def scores(self, scoring: str) -> FloatArray:
        """A scoring of all trees, by its name."""
        check_number_scoring(scoring)
        if scoring == "r2":
            return self.r_squared()
        means = self.errors().means
        return means if scoring == "neg_mean_squared_error" else -np.sqrt(-means)

    def r_squared(self) -> FloatArray:
        """The share of the labels' variance that the trees of the growth explain, by size."""
        assert self._total
        return np.array([self.spread.r_squared(wrong) for wrong in self._by_size(self._sums[0])])

    def results(self, size: int) -> NumberResults:
        """The rows beside the predictions of the tree of a size, by what is predicted."""
        weights, totals = self._weights.copy(), self._totals.copy()
        for step in reversed(range(len(self._splitting.leaves))):
            leaf = int(self._splitting.leaves[step])
            for each in (weights, totals):
                each[leaf] = each[2 * step + 1] + each[2 * step + 2]
        by_value: dict[float, list[int]] = {}
        for leaf in leaves_at(self._splitting, size).tolist():
            found = by_value.setdefault(float(self._labels[leaf]), [0, 0, 0])
            parts = weights[leaf], totals[leaf], self._sums[0][leaf]
            found[:] = map(operator.add, found, parts)
        place = min(size, len(self._splitting.leaves))
        wrong = self._by_size(self._sums[0])[place]
        explained = self.spread.r_squared(wrong) if self.spread.squares else math.nan
        lines = [_line_of(value, *map(as_number, by_value[value])) for value in sorted(by_value)]
        return NumberResults(tuple(lines), float(wrong / self._total), explained)

    @property
    def _total(self) -> Fraction:
        """The weight of all rows."""
        if not self.spread.weight:
            raise ValueError(NO_WEIGHT)
        return as_number(self.spread.weight)

    def _by_size(self, sums: list[int]) -> list[Fraction]:
        """A sum over all leaves, by size."""
        return [as_number(total) for total in _over_leaves(sums, self._splitting)]


def _line_of(value: float, weight: Fraction, total: Fraction, squares: Fraction) -> tuple[Any, ...]:
    """What ``LeafResults.frame`` has of the rows with one prediction."""
    if not weight:
        return value, 0.0, None, None, None
    mean = float(total / weight)
    return value, float(weight), mean, mean - value, math.sqrt(squares / weight)


@dataclass(frozen=True)
class NumberResults:
    """As ``LeafResults``, of rows that are not in memory.

    Attributes
    ----------
    lines : the rows of ``frame``
    mean_squared_error, r2 : of all rows
    """

    lines: tuple[tuple[Any, ...], ...]
    mean_squared_error: float
    r2: float

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each different prediction."""
        import polars

        return polars.DataFrame(self.lines, dict.fromkeys(HEADS, polars.Float64), orient="row")

    def __str__(self) -> str:
        return "\n".join(align([HEADS, *cells_of_leaves(self.frame)]))


def actions_by_class(model: TreeClassifier, sums: LeafSums, size: int) -> ActionResults:
    """The actions that the tree of a size takes for the rows of each class."""
    splitting, task = model._splitting, model._task
    assert isinstance(task, MatrixCosts)
    leaves, tally = leaves_at(splitting, size), sums.tally(splitting)[:, :-1]
    counts = np.zeros(task.matrix.shape)
    for leaf in leaves.tolist():
        counts[:, splitting.labels[leaf]] += tally[leaf]
    return ActionResults(tuple(model.classes_.tolist()), task.actions, counts, task.given)


class _LeafModel(ClassifierMixin, BaseEstimator):
    """A tree for rows that are numbers of its leaves."""

    def __init__(self, classes: np.ndarray, splitting: Splitting) -> None:
        self.classes_ = classes
        self._labels, masses = splitting.labels, splitting.masses
        self._shares = masses / masses.sum(axis=1, keepdims=True)

    def predict(self, X: IntArray) -> np.ndarray:
        return self.classes_[self._labels[X[:, 0]]]

    def predict_proba(self, X: IntArray) -> FloatArray:
        return self._shares[X[:, 0]]


def leaves_at(splitting: Splitting, size: int) -> IntArray:
    """The leaves of the tree of a size, by order of creation."""
    made = min(size, len(splitting.leaves))
    return np.setdiff1d(np.arange(2 * made + 1), splitting.leaves[:made])


def score_by_size(model: TreeClassifier, parts: Sequence[Any], scorer: Scorer) -> HeldOut:
    """A scoring of all trees of a growth on the rows of all parts.

    Standard errors are the jackknife's: of the scores without each part in turn (Efron 1982). A
    part without which no score is defined, as it has all rows of a class, is left out of them.
    """
    if predicts_numbers(model):
        return _score_numbers(parts, scorer.name)
    splitting, classes = model._splitting, model.classes_
    tallies = np.array([part.tally(splitting) for part in parts])
    if tallies[:, 0, -1].any():
        raise ValueError(
            f"scoring {scorer.name} needs labels that rows to grow on have; a held-out row has "
            "another one"
        )
    judge = _LeafModel(classes, splitting)

    def score(tally: FloatArray, leaves: IntArray) -> float:
        leaf, code = np.nonzero(tally[leaves, :-1])
        return scorer(judge, leaves[leaf][:, None], classes[code], tally[leaves][leaf, code])

    def scores_without_parts(leaves: IntArray) -> Iterator[float]:
        for tally in tallies if len(tallies) > 1 else ():
            with contextlib.suppress(ValueError):
                yield score(whole - tally, leaves)

    whole, means, errors = tallies.sum(axis=0), [], []
    for size in range(len(splitting.leaves) + 1):
        leaves = leaves_at(splitting, size)
        means.append(score(whole, leaves))
        others = list(scores_without_parts(leaves))
        errors.append(math.sqrt(max(0, len(others) - 1)) * float(np.std(others or [0.0])))
    rows = sum(part.rows for part in parts)
    return HeldOut(rows, np.array(means), np.array(errors), scoring=scorer.name)


def errors_by_size(
    model: TreeClassifier, sums: LeafSums | NumberSums, factors: Sequence[float]
) -> HeldOut:
    """What a model is judged by on some rows: accuracy, mean cost, or mean squared error."""
    if isinstance(sums, NumberSums):
        return sums.errors()
    if isinstance(model._task, MatrixCosts):
        return sums.costs(model._splitting, model._task, factors)
    return sums.accuracy(model._splitting, factors)


def _score_numbers(parts: Sequence[NumberSums], scoring: str) -> HeldOut:
    """The same of numbers."""
    whole = reduce(operator.add, parts)
    others = [
        reduce(operator.add, [*parts[:left], *parts[left + 1 :]]).scores(scoring)
        for left in range(len(parts) if len(parts) > 1 else 0)
    ]
    means = whole.scores(scoring)
    errors = math.sqrt(max(0, len(parts) - 1)) * np.std(others or [means], axis=0)
    return HeldOut(whole.rows, means, errors, scoring=scoring)


def results_by_class(model: TreeClassifier, sums: LeafSums, size: int) -> ClassResults:
    """Recall, precision and confusion of the tree of a size; new classes share a last line."""
    splitting = model._splitting
    leaves, tally = leaves_at(splitting, size), sums.tally(splitting)
    kind = np.float64 if sums.weighted else np.int64
    confusion = np.zeros((len(model.classes_) + 1,) * 2, dtype=kind)
    for leaf in leaves.tolist():
        confusion[:, splitting.labels[leaf]] += tally[leaf].astype(kind)
    classes = model.classes_.tolist()
    if not confusion[-1].any():
        return ClassResults(tuple(classes), confusion[:-1, :-1])
    return ClassResults((*map(str, classes), NEW_CLASSES), confusion)  # names of one type


def predicts_numbers(model: Any) -> bool:
    """Whether a model is a regressor."""
    return isinstance(model._task, Squared)


def sum_leaves(
    model: TreeClassifier,
    files: ParquetSet,
    target: str,
    sample_weight: str | None = None,
    cuts: Sequence[float] = (),
    report: Report = ignore,
) -> list[Any]:
    """Pass rows down a tree, in one pass; by part, if places cut the rows into several.

    A part is a ``LeafSums``, or a ``NumberSums`` of a regressor.

    Parameters
    ----------
    model : its largest tree counts
    files : their rows, all or a share of them
    target, sample_weight : the columns of labels and weights
    cuts : ascending places within the share; a part ends before each, and the last at the end
    """
    tested = _columns(model, files)
    own = [name for name in (target, sample_weight) if name is not None]
    for name in own:
        files.check_column(name)
    numbers = predicts_numbers(model)
    check_label_type(files, target, numbers)
    code_of = {} if numbers else {label: code for code, label in enumerate(model.classes_.tolist())}
    nodes = 2 * model._made + 1
    parts: list[Any] = [
        NumberSums(model._splitting) if numbers else LeafSums(nodes, len(code_of))
        for _ in range(len(cuts) + 1)
    ]
    for batch in files.batches(list(dict.fromkeys([*tested, *own])), "testing", report):
        leaves = model._leaves(as_polars(batch.table.select(tested))).astype(np.int64)
        labels = numbers_of(batch, target) if numbers else _codes_of(batch, target, code_of)
        weights = None if sample_weight is None else weights_of(batch, sample_weight)
        part_of = (
            np.searchsorted(cuts, batch.places, side="right") if cuts else np.zeros(len(labels))
        )
        for number, part in enumerate(parts):
            here = part_of == number
            part.add(leaves[here], labels[here], None if weights is None else weights[here])
    return parts


def _codes_of(batch: Batch, target: str, code_of: dict[Any, int]) -> IntArray:
    """The classes of a batch by number; new ones share the last."""
    values, positions = labels_of(batch, target)
    code = np.array([code_of.get(value, len(code_of)) for value in values], dtype=np.int64)
    return code[positions]


def _check_labels(model: Any) -> None:
    """Refuse a policy: its rows have costs and no labels."""
    if isinstance(model._task, ActionCosts):
        raise TypeError(
            f"{type(model).__name__} must be measured by value(X, costs); a column of labels has "
            "no costs of actions"
        )


def staged_score_parquet(
    model: TreeClassifier,
    files: ParquetSet,
    target: str,
    sample_weight: str | None = None,
    report: Report = ignore,
) -> FloatArray:
    """The accuracy by size, or R^2; models whose trees are not one growth need a pass for each."""
    if not files.rows:
        raise ValueError(f"there must be a row to test on; {files.files[0]} has none")
    _check_labels(model)
    splittings, prefixes = model._all_sizes()
    scores: list[float] = []
    for one in [model] if prefixes else map(model.at_size, range(len(splittings))):
        (sums,) = sum_leaves(one, files, target, sample_weight, (), report)
        if predicts_numbers(model):
            means = sums.r_squared().tolist()
        else:
            plain = [1.0] * len(model.classes_)
            task = model._task
            class_of = None
            if isinstance(task, MatrixCosts):
                class_of = task.class_of_action(model.classes_.tolist())
            means = sums.accuracy(one._splitting, plain, class_of).means.tolist()
        scores += means if prefixes else means[-1:]
    return np.array(scores + scores[-1:] * (model._largest + 1 - len(scores)))
