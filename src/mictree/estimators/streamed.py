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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from mictree._support.checks import caught, raise_all
from mictree._support.files import DISK_FULL, no_space, unfinished
from mictree._support.numbers import UNIT, as_number, exact_sums
from mictree._support.progress import Report, ignore
from mictree.columns.parquet import ParquetSet, Paths, as_polars
from mictree.columns.written import Tests
from mictree.estimators.predicting import ClassResults, Scorer
from mictree.estimators.sizes import choose_size
from mictree.growers.data_loop import Splitting
from mictree.problems.sample import NO_WEIGHT
from mictree.problems.streamed import labels_of, weights_of

if TYPE_CHECKING:
    import polars
    import pyarrow

    from mictree.estimators.base import TreeClassifier

NEW_CLASSES = "(other)"  # classes that no row to grow on has
ALL = "all"  # in place of names of columns to keep

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


def answers(model: TreeClassifier, X: Any, size: int | None, proba: bool) -> polars.DataFrame:
    """A table with the prediction for each row, and the probability of every class if wanted."""
    import polars

    first, *others = _outputs(model, proba)
    columns = {first: model.predict(X, size).tolist()}
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
    means : the share of the rows, by weight, whose class is predicted; or the score of all rows
    standard_errors : of ``means``: what they would differ by on other rows of the same kind
    size : the size that was chosen by them, if one was
    choose : by which rule
    scoring : the name of the score, or nothing for accuracy
    """

    rows: int
    means: FloatArray
    standard_errors: FloatArray
    size: int | None = None
    choose: str = ""
    scoring: str = ""

    @property
    def title(self) -> str:
        """The head of a column of what is shown."""
        return f"{self.scoring or 'error'} of rows that choose"

    @property
    def shown(self) -> FloatArray:
        """The error by size, or with a scoring the score."""
        return self.means if self.scoring else 1 - self.means

    def choosing(self, rule: str) -> HeldOut:
        """These accuracies with a size, chosen as ``mictree.select_size`` does."""
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

    def accuracy(self, splitting: Splitting, factors: Sequence[float]) -> HeldOut:
        """The accuracy of all trees of a growth, if rows also weigh a factor of their class."""
        scale = [Fraction(factor) for factor in (*factors, 1.0)]
        right = self._right_by_size(self._weights, splitting, scale)
        squares = self._right_by_size(self._squares, splitting, [factor**2 for factor in scale])
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

    def _right_by_size(
        self, sums: list[int], splitting: Splitting, scale: list[Fraction]
    ) -> list[Fraction]:
        """The sums of the rows that are right by size, and at the end that of all rows."""
        parts = self._pooled(sums, splitting, scale)
        held = [part[label] for part, label in zip(parts, splitting.labels.tolist(), strict=True)]
        right = [held[0]]
        for step, leaf in enumerate(splitting.leaves.tolist()):
            right.append(right[-1] - held[leaf] + held[2 * step + 1] + held[2 * step + 2])
        return [*right, sum(parts[0], Fraction())]

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


def score_by_size(model: TreeClassifier, parts: Sequence[LeafSums], scorer: Scorer) -> HeldOut:
    """A scoring of all trees of a growth on the rows of all parts.

    Standard errors are the jackknife's: of the scores without each part in turn (Efron 1982). A
    part without which no score is defined, as it has all rows of a class, is left out of them.
    """
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
    return ClassResults((*classes, NEW_CLASSES), confusion)


def sum_leaves(
    model: TreeClassifier,
    files: ParquetSet,
    target: str,
    sample_weight: str | None = None,
    cuts: Sequence[float] = (),
    report: Report = ignore,
) -> list[LeafSums]:
    """Pass rows down a tree, in one pass; by part, if places cut the rows into several.

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
    code_of = {label: code for code, label in enumerate(model.classes_.tolist())}
    nodes = 2 * model._made + 1
    parts = [LeafSums(nodes, len(code_of)) for _ in range(len(cuts) + 1)]
    for batch in files.batches(list(dict.fromkeys([*tested, *own])), "testing", report):
        leaves = model._leaves(as_polars(batch.table.select(tested))).astype(np.int64)
        values, positions = labels_of(batch, target)
        code = np.array([code_of.get(value, len(code_of)) for value in values], dtype=np.int64)
        codes = code[positions]
        weights = None if sample_weight is None else weights_of(batch, sample_weight)
        part_of = (
            np.searchsorted(cuts, batch.places, side="right") if cuts else np.zeros(len(codes))
        )
        for number, part in enumerate(parts):
            here = part_of == number
            part.add(leaves[here], codes[here], None if weights is None else weights[here])
    return parts


def staged_score_parquet(
    model: TreeClassifier,
    files: ParquetSet,
    target: str,
    sample_weight: str | None = None,
    report: Report = ignore,
) -> FloatArray:
    """The accuracy by size; models whose trees do not begin one another need a pass for each."""
    if not files.rows:
        raise ValueError(f"there must be a row to test on; {files.files[0]} has none")
    splittings, prefixes = model._all_sizes()
    plain, scores = [1.0] * len(model.classes_), []
    for one in [model] if prefixes else map(model.at_size, range(len(splittings))):
        (sums,) = sum_leaves(one, files, target, sample_weight, (), report)
        means = sums.accuracy(one._splitting, plain).means.tolist()
        scores += means if prefixes else means[-1:]
    return np.array(scores + scores[-1:] * (model._largest + 1 - len(scores)))
