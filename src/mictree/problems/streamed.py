"""A sample problem from Parquet files that are read batch by batch.

The first pass stores the labels, a byte or two each, and counts them, so that each class has its
words. Every later pass finds the slot of each row from its label: rows of a class take the class's
slots in turn. With weights, a second pass stores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mictree._support.progress import Report, ignore
from mictree.columns.data import Data
from mictree.columns.encode import Encoded
from mictree.columns.parquet import Batch, ParquetSet, Paths, as_polars
from mictree.columns.streamed import Placed, as_codes, learn_columns, store_columns
from mictree.problems.labels import Coded, Whole, as_weights, whole_weights

MOST_CLASSES = 2**16
LABELS = ("String", "Boolean", "Categorical", "Enum")  # beside numbers

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


class Streamed(NamedTuple):
    """The parts of a sample problem, in its order of slots."""

    classes: tuple[Any, ...]
    class_rows: IntArray
    weights: FloatArray
    whole: Whole
    encoded: Encoded


def read_parquet(
    paths: Paths,
    target: str,
    columns: Sequence[str] | None,
    sample_weight: str | None,
    max_thresholds: int | None,
    report: Report = ignore,
) -> Streamed:
    """Read files in as many passes as needed; only bits, ranks and weights stay in memory."""
    files = ParquetSet(paths)
    names = _check_columns(files, target, columns, sample_weight)
    rows = _Rows(files, target, sample_weight, report)
    rows.count()
    rows.weigh()
    weighted = len(rows.weights) > 0
    learned = learn_columns(files, names, weighted, max_thresholds, rows.passes)
    encoded = store_columns(learned, rows.slots, int(rows.class_rows.sum()), rows.passes)
    return Streamed(rows.classes, rows.class_rows, rows.weights, rows.whole, encoded)


def _check_columns(
    files: ParquetSet, target: str, columns: Sequence[str] | None, sample_weight: str | None
) -> list[str]:
    """The columns to learn from."""
    special = [name for name in (target, sample_weight) if name is not None]
    for name in (*special, *(columns or ())):
        files.check_column(name)
    names = [name for name in files.schema if name not in special]
    if columns is not None:
        names = list(dict.fromkeys(columns))
        taken = [name for name in names if name in special]
        if taken:
            raise ValueError(f"columns must not hold the target or the weights; got {taken[0]!r}")
    if not names:
        raise ValueError("the files must have a column beside the target; they have none")
    if not files.rows:
        raise ValueError(f"a data set must have at least one row; {files.files[0]} has none")
    data = Data(files.empty(names))
    for number in range(len(names)):
        data.column(number)  # refuses types such as lists
    kind = files.schema[target]
    if not kind.is_numeric() and not str(kind).startswith(LABELS):
        raise ValueError(f"labels must be numbers, texts or booleans; {target} has {kind}")
    return names


class _Rows:
    """The rows of the files: their classes, their slots, their weights."""

    def __init__(
        self, files: ParquetSet, target: str, sample_weight: str | None, report: Report
    ) -> None:
        self._files, self._target, self._weight, self._report = (
            files, target, sample_weight, report,
        )  # fmt: skip
        self.classes: tuple[Any, ...] = ()
        self._codes = np.empty(files.rows, dtype=np.uint16)  # the class of each row
        self.class_rows = np.zeros(0, dtype=np.int64)  # without rows of weight 0
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
        """Store the class of each row, and count the rows of each."""
        place: dict[Any, int] = {}  # of each label, in the order of appearance
        counts = np.zeros(0, dtype=np.int64)
        weighs, done = False, 0
        for batch in self._batches([self._target], "counting labels"):
            values, codes = self._labels(batch)
            places = [place.setdefault(value, len(place)) for value in values]
            found = np.array(places, dtype=np.int64)[codes]
            if len(place) > MOST_CLASSES:
                raise ValueError(
                    f"streamed labels must be of at most {MOST_CLASSES} classes; {self._target} "
                    f"has more in {batch.file}"
                )
            self._codes[done : done + len(found)] = found
            done += len(found)
            weights = self._read_weights(batch)
            if weights is not None:
                weighs |= bool(np.any(weights != 1))
                found = found[weights > 0]
            before, counts = counts, np.bincount(found, minlength=len(place))
            counts[: len(before)] += before
        if not counts.sum():
            raise ValueError("sample_weight must be positive for some row; all are zero")
        self.classes = Coded.read(list(place)).classes
        order = [place.setdefault(label, len(place)) for label in self.classes]  # 0 or 1 may be new
        self.class_rows = np.pad(counts, (0, len(place) - len(counts)))[order]
        self._codes = np.argsort(order).astype(np.min_scalar_type(len(order) - 1))[self._codes]
        self._weight = self._weight if weighs else None

    def weigh(self) -> None:
        """Store the weights, and make whole numbers of them."""
        if self._weight is None:
            return
        weights = np.zeros(self.slots)
        for placed in self.passes([], "reading weights"):
            weights[placed.slots] = placed.weights[placed.rows]  # type: ignore[index]
        self.weights, self.whole = weights, whole_weights(weights)

    def passes(self, names: Sequence[str], what: str) -> Iterator[Placed]:
        """All rows with some columns; the weights are whole as soon as they are known."""
        slot, place = 64 * self._first_word[:-1], np.cumsum(self.class_rows) - self.class_rows
        done = 0
        for batch in self._batches(names, what):
            codes = self._codes[done : done + batch.table.num_rows]
            done += len(codes)
            rows = np.argsort(codes, kind="stable")
            weights = self._read_weights(batch)
            if weights is not None:
                rows = rows[weights[rows] > 0]
            counts = np.bincount(codes[rows], minlength=len(self.classes))
            number = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            slots = number + np.repeat(slot, counts)
            if weights is not None and len(self.whole.weights):
                whole = np.zeros(len(weights))
                whole[rows] = self.whole.weights[slots]
                weights = whole
            yield Placed(batch, rows, slots, number + np.repeat(place, counts), weights)
            slot, place = slot + counts, place + counts

    def _batches(self, names: Sequence[str], what: str) -> Iterator[Batch]:
        own = [] if self._weight is None else [self._weight]
        return self._files.batches([*own, *names], what, self._report)

    def _labels(self, batch: Batch) -> tuple[list[Any], IntArray]:
        """The labels of a batch as positions in a list."""
        values, codes = as_codes(batch, self._target)
        values.pop()
        if any(value is None or value != value for value in values) or np.any(codes == len(values)):
            raise ValueError(
                f"y must not contain missing values; {self._target} does, in {batch.file}"
            )
        return values, codes

    def _read_weights(self, batch: Batch) -> FloatArray | None:
        if self._weight is None:
            return None
        given = as_polars(batch.table.select([self._weight])).to_series()
        try:
            return as_weights(given.to_numpy(), len(given))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{error}, in {batch.file}") from None
