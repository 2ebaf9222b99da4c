"""The columns of a set of Parquet files as bits and ranks, in passes over the files.

The first passes choose the literals of each column; the last one stores them. A column of texts
needs one pass to find its categories, an ordered one as many as the search for its thresholds
takes. A column of 0 and 1 is known from the statistics in its files and needs no pass of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import ColumnError, raise_all
from mictree._support.jit import usable_cores
from mictree.columns.data import kind_of
from mictree.columns.literals import (
    MAX_CATEGORIES,
    Column,
    Encoded,
    Literals,
    categorical_column,
    ordered_column,
    too_many_categories,
)
from mictree.columns.ordered import Counts, Edges, EdgeSearch, Placement, Ranks, add_moved
from mictree.columns.packing import add_categories, add_flags
from mictree.columns.parquet import (
    LEAVE_OUT,
    Batch,
    Bounds,
    ParquetSet,
    as_codes,
    check_statistics,
    read_integers,
    read_numbers,
    wrong_statistics,
)

COUNT_BYTES = 2**26  # for the counts of all columns
ENTRY_BYTES = 24

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


class PlacedBatch(NamedTuple):
    """A batch whose rows have their slots."""

    batch: Batch
    placement: Placement
    weights: FloatArray | None  # of all rows, whole numbers as soon as these are known


class Target(NamedTuple):
    """A column, where it is stored, and what the files state of it if nothing else was learned."""

    column: Column
    out_bits: np.typing.NDArray[np.uint64]
    out_ranks: Ranks | None
    bounds: Bounds | None


Passes = Callable[[Sequence[str], str], Iterator[PlacedBatch]]  # columns to read, and what for


def learn_columns(
    files: ParquetSet,
    names: Sequence[str],
    known: Mapping[str, Bounds],
    most: int | None,
    passes: Passes,
    grouped: bool = False,
) -> list[Column]:
    """Choose the literals of each column, in as many passes as those not known take.

    With ``grouped``, tests on categories are sets of them.
    """
    learners = {
        name: _learner(files, name, known.get(name), most, len(names), grouped) for name in names
    }
    number = 1
    while pending := [name for name in names if learners[name].column is None]:
        refused: dict[str, Exception] = {}  # the pass goes on, to complain about all columns
        for placed in passes(pending, f"finding thresholds, pass {number}"):
            for name in pending:
                try:
                    if name not in refused:
                        learners[name].add(placed)
                except ColumnError as error:
                    refused[name] = error
        raise_all([*refused.values()])
        for name in pending:
            learners[name].end_pass()
        number += 1
    return [learners[name].column for name in names]  # type: ignore[misc]


def _learner(
    files: ParquetSet,
    name: str,
    bounds: Bounds | None,
    most: int | None,
    columns: int,
    grouped: bool,
) -> _KnownUnread | _Categories | _Thresholds:
    kind = kind_of(files.schema[name])
    if bounds is not None:
        values = np.unique([float(bounds.least), float(bounds.most)])
        edges = Edges(values[:-1], values[1:], False, bounds.missing)
        return _KnownUnread(ordered_column(name, edges, kind))
    if kind in ("string", "categorical"):
        return _Categories(name, grouped)
    levels = tuple(files.schema[name].categories) if kind == "enum" else None
    entries = COUNT_BYTES // ENTRY_BYTES // columns
    return _Thresholds(name, kind, levels, EdgeSearch(most, entries))


class _KnownUnread:
    """A column that needs no pass."""

    def __init__(self, column: Column) -> None:
        self.column: Column | None = column

    def add(self, placed: PlacedBatch) -> None:
        """Nothing is left to learn."""

    def end_pass(self) -> None:
        """Nothing is left to learn."""


class _Categories:
    """A column of texts, whose categories one pass finds."""

    def __init__(self, name: str, grouped: bool) -> None:
        self.column: Column | None = None
        self._name, self._grouped = name, grouped
        self._found: set[Any] = set()

    def add(self, placed: PlacedBatch) -> None:
        values, codes = as_codes(placed.batch, self._name)
        self._found.update(
            values[code] for code in np.unique(codes[placed.placement.rows]).tolist()
        )
        if len(self._found - {None}) > MAX_CATEGORIES:
            raise too_many_categories(self._name, "more", LEAVE_OUT)

    def end_pass(self) -> None:
        self.column = categorical_column(self._name, self._found, self._grouped)


class _Thresholds:
    """An ordered column, whose thresholds one or more passes find."""

    def __init__(
        self, name: str, kind: str, levels: tuple[Any, ...] | None, search: EdgeSearch
    ) -> None:
        self.column: Column | None = None
        self._name, self._kind, self._levels, self._search = name, kind, levels, search
        self._counts: Counts | None = None

    def add(self, placed: PlacedBatch) -> None:
        values = read_numbers(placed.batch, self._name)[placed.placement.rows]
        weights = None if placed.weights is None else placed.weights[placed.placement.rows]
        ranges = self._search.ranges
        assert ranges is not None
        counts = ranges.count(values, weights)
        self._counts = counts if self._counts is None else self._counts.merge(counts)

    def end_pass(self) -> None:
        assert self._counts is not None
        self._search.narrow(self._counts)
        self._counts = None
        if self._search.edges is not None:
            self.column = ordered_column(self._name, self._search.edges, self._kind, self._levels)


def codes_of(batch: Batch, column: Column, bounds: Bounds | None = None) -> IntArray:
    """The place of each row of a batch in a column: its rank, or the literal that it satisfies.

    ``bounds`` are what the files state of the column, if nothing else was learned of it.
    """
    if column.categories is not None:
        return _positions(batch, column).astype(np.int64)
    numbers = read_numbers(batch, column.name)
    if bounds is not None:
        check_statistics(numbers, bounds, column.name, batch)
    return column.ranks_of(numbers).astype(np.int64)


def store_columns(
    columns: Sequence[Column],
    known: Mapping[str, Bounds],
    slots: int,
    rows: int,
    passes: Passes,
) -> Encoded:
    """Store all columns in one pass.

    Parameters
    ----------
    known : what the files state of columns that were learned from that alone
    slots, rows : the number of slots, a multiple of 64, and of rows in them
    """
    literals = Literals(columns)
    bits = np.zeros((literals.rows_of_bits, slots // 64), dtype=np.uint64)
    bounds = np.searchsorted(literals.stored_bits, literals.starts)
    parts = [slice(*bounds[number : number + 2]) for number in range(len(columns))]
    for number in literals.grouped:
        parts[number] = literals.cells(number)
    ranks = {
        number: np.empty(rows, np.min_scalar_type(columns[number].thresholds + 1))
        for number in literals.ordered
    }
    used = [
        n for n, column in enumerate(columns)
        if column.count or column.name in known or n in literals.grouped
    ]  # fmt: skip
    targets = [
        Target(columns[n], bits[parts[n]], ranks.get(n), known.get(columns[n].name)) for n in used
    ]
    _compile()
    by_row = any(column.ranked or column.categories is not None for column in columns)
    shares = [targets[core :: usable_cores()] for core in range(min(usable_cores(), len(used)))]
    with ThreadPoolExecutor(usable_cores()) as pool:
        names, running = [columns[number].name for number in used], []
        for placed in passes(names, "packing"):
            placed.placement.prepare(by_row)
            _wait(running)  # two batches may share a word
            running = [pool.submit(_store, placed, share) for share in shares]
        _wait(running)
    return Encoded(literals, bits, tuple(ranks[number] for number in literals.ordered))


def _compile() -> None:
    """Compile the kernels in this thread: in another, Ctrl-C would have to wait."""
    flags, numbers = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64)
    words = np.empty(0, dtype=np.uint64)
    flags.flags.writeable = False  # as in Placement.add
    add_flags(flags, numbers, numbers, words)
    add_moved(flags, words.reshape(0, 0, 0), numbers, words)
    add_categories(np.empty(0, np.int32), numbers, numbers, words.reshape(0, 0))


def _wait(running: Sequence[Future[None]]) -> None:
    """Wait until all are done; raises what one raised."""
    for each in running:
        each.result()


def _store(placed: PlacedBatch, share: Sequence[Target]) -> None:
    """Store some columns of one batch."""
    for target in share:
        _store_column(placed, target)


def _store_column(placed: PlacedBatch, target: Target) -> None:
    column, out_bits, out_ranks, bounds = target
    batch, placement = placed.batch, placed.placement
    if column.categories is not None:
        add_categories(_positions(batch, column), placement.rows, placement.slots, out_bits)
        return
    one_bit = column.count and not column.ranked and not column.missing
    plain = read_integers(batch, column.name) if one_bit else None
    if plain is not None:
        _store_plain(placed, column, plain, out_bits[0])
        return
    numbers = read_numbers(batch, column.name)
    if bounds is not None:
        check_statistics(numbers, bounds, column.name, batch)
    ranks = column.ranks_of(numbers)
    if out_ranks is not None:
        out_ranks[placement.places] = ranks[placement.rows]
    if len(out_bits) > column.missing:
        placement.add((ranks > column.missing).view(np.uint8), out_bits[0])
    if column.missing:
        placement.add((ranks == 0).view(np.uint8), out_bits[-1])


def _store_plain(
    placed: PlacedBatch,
    column: Column,
    values: np.typing.NDArray[Any],
    out_words: np.typing.NDArray[np.uint64],
) -> None:
    """Store a column of two integers in the type of its cells.

    Floats would be slower, and above 2**53 not exact.
    """
    low, high = column.below[0], column.above[0]
    # rows of weight 0 may have other values
    known = not column.binned and placed.weights is None and len(values) > 0
    if known and values.dtype.itemsize == 1 and (low, high) == (0, 1):
        right = placed.placement.add(values.view(np.uint8), out_words)
    else:
        placed.placement.add((values > values.dtype.type(low)).view(np.uint8), out_words)
        right = not known or low <= values.min() <= values.max() <= high
    if not right:
        raise wrong_statistics(column.name, placed.batch)


def _positions(batch: Batch, column: Column) -> np.typing.NDArray[np.int32]:
    """The literal that each row of a column of categories satisfies."""
    values, codes = as_codes(batch, column.name)
    return column.positions(values)[codes]
