"""A sample problem from Parquet files that are read batch by batch.

The first pass stores the labels, a byte or two each, and counts them, so that each class has its
words. Every later pass finds the slot of each row from its label: rows of a class take the class's
slots in turn. Numbers to predict take eight bytes each, and their rows the slots in turn. With
weights, a second pass stores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import caught, raise_all
from mictree._support.progress import Report, ignore
from mictree.columns.data import Data
from mictree.columns.literals import Column, Encoded
from mictree.columns.ordered import Placement
from mictree.columns.parquet import (
    Batch,
    Bounds,
    ParquetSet,
    as_codes,
    as_polars,
    known_unread,
    read_integers,
)
from mictree.columns.streamed import PlacedBatch, codes_of, learn_columns, store_columns
from mictree.problems.sample import NO_WEIGHT, Coded, Whole, as_weights, whole_weights
from mictree.problems.tasks import MOST_LABEL

MOST_CLASSES = 2**16
ROUNDED_WEIGHTS = "bounds must be exact, and these weights would be rounded"
LABELS = ("String", "Boolean", "Categorical", "Enum")  # beside numbers

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


class Streamed(NamedTuple):
    """The parts of a sample problem, in its order of slots."""

    classes: tuple[Any, ...]
    targets: FloatArray  # numbers to predict instead of classes
    class_rows: IntArray
    all_class_rows: IntArray
    weights: FloatArray
    whole: Whole
    encoded: Encoded


def read_parquet(
    files: ParquetSet,
    target: str,
    names: Sequence[str],
    sample_weight: str | None,
    max_thresholds: int | None,
    report: Report = ignore,
    numbers: bool = False,
    grouped: bool = False,
) -> Streamed:
    """Read files in as many passes as needed; only bits, ranks and weights stay in memory.

    So do the targets if they are ``numbers`` to predict. With ``grouped``, tests on categories are
    sets of them.
    """
    rows = _Rows(files, target, sample_weight, report)
    if numbers:
        rows.read_targets()
    else:
        rows.count()
    rows.weigh()
    settled = rows.settled(names)
    learned = learn_columns(files, names, settled, max_thresholds, rows.passes, grouped)
    count = int(rows.class_rows.sum())
    encoded = store_columns(learned, settled, rows.slots, count, rows.passes)
    counts = rows.class_rows, rows.all_class_rows
    return Streamed(rows.classes, rows.targets, *counts, rows.weights, rows.whole, encoded)


class CodedRows(NamedTuple):
    """Some rows of a table: their places in the columns that offer tests, classes and weights."""

    codes: list[IntArray]  # of each column
    labels: IntArray
    weights: FloatArray | None  # whole numbers; None if all are 1


def read_codes(
    files: ParquetSet,
    target: str,
    names: Sequence[str],
    sample_weight: str | None,
    max_thresholds: int,
    report: Report = ignore,
) -> tuple[int, list[Column], Iterator[CodedRows]]:
    """The number of classes, all columns, and an iterator over the rows, which reads once more.

    Only the labels stay in memory, a byte or two each, and the weights.
    """
    rows = _Rows(files, target, sample_weight, report)
    rows.count()
    rows.weigh()
    if rows.whole.rounded:
        raise ValueError(f"weights must have few decimal places to be counted; {ROUNDED_WEIGHTS}")
    settled = rows.settled(names)
    columns = learn_columns(files, names, settled, max_thresholds, rows.passes)

    def batches() -> Iterator[CodedRows]:
        offering = [column for column in columns if column.count or column.name in settled]
        for placed in rows.passes([column.name for column in offering], "counting pairs"):
            kept, read = placed.placement.rows, placed.batch
            found = {
                column.name: codes_of(read, column, settled.get(column.name)) for column in offering
            }
            codes = [found[column.name][kept] for column in columns if column.count]
            weights = None if placed.weights is None else placed.weights[kept]
            labels = placed.placement.codes[kept].astype(np.int64)
            yield CodedRows(codes, labels, weights)

    return len(rows.classes), columns, batches()


def choose_columns(
    files: ParquetSet, target: str, sample_weight: str | None, columns: Sequence[str] | None,
    drop: Sequence[str] | None, numbers: bool = False,
) -> list[str]:  # fmt: skip
    """The columns to learn from, checked: those named, or all others but those to drop."""
    if columns is not None and drop is not None:
        raise ValueError("columns and drop must not both be given; columns leaves out all others")
    special = [name for name in (target, sample_weight) if name is not None]
    named = dict.fromkeys((*special, *(columns or ()), *(drop or ())))
    raise_all([error for name in named for error in caught(files.check_column, name)])
    for name in drop or ():
        if name in special:
            raise ValueError(f"drop must not hold the target or the weights; got {name!r}")
    names = [name for name in files.schema if name not in (*special, *(drop or ()))]
    if columns is not None:
        names = list(dict.fromkeys(columns))
        taken = [name for name in names if name in special]
        if taken:
            raise ValueError(f"columns must not hold the target or the weights; got {taken[0]!r}")
    if not names:
        raise ValueError("the files must have a column beside the target; they have none")
    if not files.all_rows:
        raise ValueError(f"a data set must have at least one row; {files.files[0]} has none")
    if not files.rows:
        share = f"rows=({files.share.low:g}, {files.share.high:g})" if files.share else ""
        raise ValueError(
            f"a data set must have at least one row; {share} has none of {files.all_rows:,}"
        )
    data = Data(files.empty(names))
    for number in range(len(names)):
        data.column(number)  # refuses types such as lists
    check_label_type(files, target, numbers)
    return names


def check_label_type(files: ParquetSet, target: str, numbers: bool = False) -> None:
    """Refuse labels that are no classes, or no ``numbers`` to predict."""
    kind = files.schema[target]
    if numbers and not kind.is_numeric() and str(kind) != "Boolean":
        raise ValueError(f"y must hold numbers; {target} has {kind}")
    if not kind.is_numeric() and not str(kind).startswith(LABELS):
        raise ValueError(f"labels must be numbers, texts or booleans; {target} has {kind}")


class _Labels:
    """The labels of all rows: numbered as they appear, and counted.

    Attributes
    ----------
    codes : the number of each row's label
    place : the number of each label
    counts : the rows of each label, without those of weight 0
    all_counts : the same with them
    """

    def __init__(self, rows: int) -> None:
        self.codes: np.typing.NDArray[np.unsignedinteger] = np.empty(rows, dtype=np.uint8)
        self.place: dict[Any, int] = {}
        self.counts = self.all_counts = np.zeros(0, dtype=np.int64)
        self._done = 0

    def add(self, values: list[Any], codes: np.typing.NDArray[Any], keep: Any) -> None:
        """Add rows that have some of these values; ``keep`` is None if all of them count."""
        rows = np.bincount(codes, minlength=len(values))
        here = np.flatnonzero(rows)
        places = self.find([values[value] for value in here.tolist()])
        if len(self.place) > MOST_CLASSES:
            return  # these codes have no room for more; the caller refuses them
        if len(self.place) > 2**8:
            self.codes = self.codes.astype(np.uint16, copy=False)
        place_of = np.zeros(len(values), dtype=self.codes.dtype)
        place_of[here] = places
        self.codes[self._done : self._done + len(codes)] = np.take(place_of, codes)
        self._done += len(codes)
        np.add.at(self.all_counts, places, rows[here])
        if keep is not None:
            rows = np.bincount(codes[keep], minlength=len(values))
        np.add.at(self.counts, places, rows[here])  # 0.0 and -0.0 are one label

    def find(self, labels: Sequence[Any]) -> list[int]:
        """The numbers of some labels; new ones get the next."""
        places = [self.place.setdefault(label, len(self.place)) for label in labels]
        new = (0, len(self.place) - len(self.counts))
        self.counts, self.all_counts = np.pad(self.counts, new), np.pad(self.all_counts, new)
        return places


class _Rows:
    """The rows of the files: their classes, their slots, their weights."""

    def __init__(
        self, files: ParquetSet, target: str, sample_weight: str | None, report: Report
    ) -> None:
        self._files, self._target, self._weight, self._report = (
            files, target, sample_weight, report,
        )  # fmt: skip
        self.classes: tuple[Any, ...] = ()
        self.targets = np.empty(0)  # of rows with a slot, in their order
        self._codes = np.empty(0, dtype=np.uint8)  # of each row, a number for its label
        self._class_of = np.empty(0, dtype=np.uint8)  # of such a number
        self.class_rows = np.zeros(0, dtype=np.int64)  # without rows of weight 0
        self.all_class_rows = self.class_rows  # with them
        self.weights = np.empty(0)  # by slot; empty if all are 1
        self.whole = Whole(np.empty(0), 1.0, False)

    @property
    def slots(self) -> int:
        """The number of slots."""
        return int(64 * self._first_word[-1])

    @property
    def _first_word(self) -> IntArray:
        return np.concatenate([[0], np.cumsum((self.class_rows + 63) // 64)])

    def count(self) -> None:
        """Store the label of each row, and count the rows of each class."""
        labels = _Labels(self._files.rows)
        weighs = False
        for batch in self._batches([self._target], "counting labels"):
            values, codes = labels_of(batch, self._target)
            weights = self._read_weights(batch)
            weighs |= weights is not None and bool(np.any(weights != 1))
            labels.add(values, codes, None if weights is None else weights > 0)
            if len(labels.place) > MOST_CLASSES:
                raise ValueError(
                    f"streamed labels must be of at most {MOST_CLASSES} classes; {self._target} "
                    f"has more in {batch.file}"
                )
        if not labels.counts.sum():
            raise ValueError(NO_WEIGHT)
        self.classes = Coded.read(list(labels.place)).classes
        order = labels.find(self.classes)  # 0 or 1 may be new
        self.class_rows, self.all_class_rows = labels.counts[order], labels.all_counts[order]
        self._codes = labels.codes
        self._class_of = np.argsort(order).astype(np.min_scalar_type(len(order) - 1))
        self._weight = self._weight if weighs else None

    def read_targets(self) -> None:
        """Store the number of each row that has a slot; all rows are of one class."""
        targets, kept, weighs = np.empty(self._files.rows), 0, False
        for batch in self._batches([self._target], "reading numbers"):
            numbers = numbers_of(batch, self._target)
            weights = self._read_weights(batch)
            if weights is not None:
                weighs |= bool(np.any(weights != 1))
                numbers = numbers[weights > 0]
            targets[kept : kept + len(numbers)] = numbers
            kept += len(numbers)
        if not kept:
            raise ValueError(NO_WEIGHT)
        self.targets = targets if kept == len(targets) else targets[:kept].copy()
        self.class_rows, self.all_class_rows = np.array([kept]), np.array([len(targets)])
        self._weight = self._weight if weighs else None

    def weigh(self) -> None:
        """Store the weights, and make whole numbers of them."""
        if self._weight is None:
            return
        weights = np.zeros(self.slots)
        for placed in self.passes([], "reading weights"):
            weights[placed.placement.slots] = placed.weights[placed.placement.rows]  # type: ignore[index]
        self.weights, self.whole = weights, whole_weights(weights)

    def settled(self, names: Sequence[str]) -> dict[str, Bounds]:
        """What the files state of some columns.

        They state what all rows hold; those of weight 0 do not count, nor those that are not read.
        """
        some = len(self.weights) > 0 or self._files.share is not None
        return {} if some else known_unread(self._files, names)

    def passes(self, names: Sequence[str], what: str) -> Iterator[PlacedBatch]:
        """All rows with some columns; the weights are whole as soon as they are known."""
        slot, place = 64 * self._first_word[:-1], np.cumsum(self.class_rows) - self.class_rows
        done = 0
        for batch in self._batches(names, what):
            rows = batch.table.num_rows
            if len(self.targets):
                codes = np.zeros(rows, dtype=np.uint8)
            else:
                codes = np.take(self._class_of, self._codes[done : done + rows])
            done += rows
            weights = self._read_weights(batch)
            keep = np.empty(0, dtype=bool) if weights is None else weights > 0
            placement = Placement(codes, keep, slot, place)
            if weights is not None and len(self.whole.weights):
                whole = np.zeros(len(weights))
                whole[placement.rows] = self.whole.weights[placement.slots]
                weights = whole
            yield PlacedBatch(batch, placement, weights)
            slot, place = slot + placement.counts, place + placement.counts

    def _batches(self, names: Sequence[str], what: str) -> Iterator[Batch]:
        own = [] if self._weight is None else [self._weight]
        return self._files.batches([*own, *names], what, self._report)

    def _read_weights(self, batch: Batch) -> FloatArray | None:
        return None if self._weight is None else weights_of(batch, self._weight)


def labels_of(batch: Batch, target: str) -> tuple[list[Any], np.typing.NDArray[Any]]:
    """The labels of a batch as positions in a list, which may hold others too."""
    cells = read_integers(batch, target)
    if cells is not None and cells.dtype.itemsize == 1:
        # every value that a byte can have: to look for those that occur would take longer
        truth = str(batch.table.schema.field(target).type) == "bool"
        every = np.arange(2**8, dtype=np.uint8).view(cells.dtype)
        return [False, True] if truth else every.tolist(), cells.view(np.uint8)
    values, codes = as_codes(batch, target)
    values.pop()
    if any(value is None or value != value for value in values) or np.any(codes == len(values)):
        raise ValueError(f"y must not contain missing values; {target} does, in {batch.file}")
    return values, codes


def numbers_of(batch: Batch, target: str) -> FloatArray:
    """The labels of a batch as numbers to predict."""
    import polars

    given = as_polars(batch.table.select([target])).to_series()
    if given.null_count():
        raise ValueError(f"y must not contain missing values; {target} does, in {batch.file}")
    numbers = given.cast(polars.Float64).to_numpy()
    wrong = numbers[~np.isfinite(numbers)]
    if len(wrong):
        raise ValueError(f"y must be finite; {target} has {wrong[0]:g} in {batch.file}")
    if np.abs(numbers).max(initial=0.0) > MOST_LABEL:
        raise ValueError(
            f"y must have squares that a 64-bit float can hold; {target} has "
            f"{np.abs(numbers).max():g} in {batch.file}"
        )
    return numbers


def weights_of(batch: Batch, name: str) -> FloatArray:
    """The weights of the rows of a batch."""
    given = as_polars(batch.table.select([name])).to_series()
    try:
        return as_weights(given.to_numpy(), len(given))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{error}, in {batch.file}") from None
