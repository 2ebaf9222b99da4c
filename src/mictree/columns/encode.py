"""Choosing the literals of a table and storing its columns, as bits or as ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import ColumnError
from mictree.columns.column import Column, as_levels
from mictree.columns.data import Data
from mictree.columns.finite import infinite
from mictree.columns.literals import Literals
from mictree.columns.ordered import TIMES, UNSORTED, Ranks, are_finite, rank, rank_columns
from mictree.columns.packing import NONE, pack_bits, pack_categories
from mictree.columns.quantiles import Edges
from mictree.columns.scratch import Scratch

MAX_CATEGORIES = 1024  # a column with more is an identifier
SMALL = 2**15  # cells of a matrix whose columns are ranked in one call
OUT = "leave the column out of X"  # advice in Python

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


class Encoded(NamedTuple):
    """A data set's literals and the rows to learn from, in the order of their slots."""

    literals: Literals
    bits: np.typing.NDArray[np.uint64]  # a row of words for each of ``literals.stored_bits``
    ranks: tuple[Ranks, ...]  # of the rows, for each of ``literals.ordered``


def encode(
    data: Data,
    order: IntArray,
    rows: IntArray,
    weights: FloatArray | None = None,
    max_thresholds: int | None = None,
) -> Encoded:
    """Choose the literals of a data set and store its columns, one after another.

    Parameters
    ----------
    order : the row in each slot, NONE where it is empty; a multiple of 64 slots
    rows : those of the slots that are not empty
    weights : of all slots; whole numbers, so that bins do not depend on the order of rows
    """
    used = order != NONE
    if weights is not None:
        weights = weights[used]
    columns: list[Column] = []
    blocks = [np.empty((0, len(order) // 64), dtype=np.uint64)]
    kept: list[Ranks] = []
    learned = _learn_matrix(data, rows) if max_thresholds is None else None
    for number, (column, ranks) in enumerate(
        learned or _learn_columns(data, rows, weights, max_thresholds)
    ):
        columns.append(column)
        if ranks is None:  # categories
            block = np.empty((column.count, len(order) // 64), dtype=np.uint64)
            pack_categories(column.positions(data.column(number)), order, block)
            blocks.append(block)
            continue
        if column.ranked:
            kept.append(ranks)
        elif column.thresholds:
            blocks.append(pack_bits(ranks > column.missing, used, len(order)))
        if column.missing:
            blocks.append(pack_bits(ranks == 0, used, len(order)))
    bits = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    return Encoded(Literals(columns), bits, tuple(kept))


def _learn_matrix(data: Data, rows: IntArray) -> list[tuple[Column, Ranks]] | None:
    """Do the same as for each column for a small matrix of finite floats; None for others."""
    matrix = data.floats
    if matrix is None or matrix.size > SMALL:
        return None
    values = matrix.T.take(rows, axis=1).astype(float, copy=False)
    ranks, counts = np.empty(values.shape, dtype=np.uint32), np.empty(len(values), dtype=np.int64)
    rank_columns(values, ranks, counts)
    ranks = ranks.astype(np.min_scalar_type(len(rows)), copy=False)
    learned = []
    for name, distinct, mine, count in zip(data.names, values, ranks, counts.tolist(), strict=True):
        if count == UNSORTED:
            return None
        ends = distinct[:count].copy()
        edges = Edges(ends[:-1], ends[1:], binned=False, missing=False)
        column = ordered_column(name, edges, "float")
        if mine.itemsize > 1:
            mine = mine.astype(np.min_scalar_type(count), copy=False)
        learned.append((column, mine))
    return learned


def _learn_columns(
    data: Data, rows: IntArray, weights: FloatArray | None, max_thresholds: int | None
) -> Iterator[tuple[Column, Ranks | None]]:
    """Do it for one column after another."""
    scratch = Scratch.of(data.rows)
    for number, name in enumerate(data.names):
        yield learn_column(data, number, name, rows, weights, max_thresholds, scratch)


def learn_column(
    data: Data, number: int, name: str, rows: IntArray, weights: FloatArray | None,
    max_thresholds: int | None, scratch: Scratch,
) -> tuple[Column, Ranks | None]:  # fmt: skip
    """Choose the literals of a column from some rows; if it is ordered, also return their ranks."""
    values, levels = data.column(number), data.levels(number)
    if isinstance(values, list) and levels is None:
        return categorical_column(name, {values[row] for row in rows.tolist()}), None
    if isinstance(values, list):
        values = as_levels(values, levels or (), name)
    check_numbers(data, number, name)
    values, present = scratch.take(values, rows), None
    if not are_finite(values):
        present = ~np.isnan(values)
        values, weights = values[present], weights[present] if weights is not None else None
        if np.isinf(values).any():
            raise infinite(name, advice=OUT)
    below, above, ranks, binned = rank(values, weights, max_thresholds, scratch)
    # a column of nothing but missing values, like any constant one, is no literal
    missing = present is not None and len(values) > 0
    edges = Edges(below, above, binned, missing)
    column = ordered_column(name, edges, data.kind(number), levels)
    if present is not None:
        everywhere = np.zeros(len(rows), dtype=ranks.dtype)
        everywhere[present] = ranks + 1
        ranks = everywhere
    return column, ranks


def check_numbers(data: Data, number: int, name: str) -> None:
    """Refuse different numbers of a column that round to one 64-bit float."""
    merged = data.merged(number)
    if merged is not None:
        one, other = merged
        raise ColumnError(
            f"different values must differ as 64-bit floats; {name} has {one!s} and {other!s}",
            name,
            OUT,
            or_texts=True,
        )


def ordered_column(
    name: str, edges: Edges, kind: str, levels: tuple[Any, ...] | None = None
) -> Column:
    """The literals of an ordered column; its kind is one of ``Data.kind``."""
    below, above, binned, missing = edges
    style = kind if kind in TIMES else "number"
    if style == "number" and levels is None and not binned and _is_binary(below, above):
        style = "boolean" if kind == "boolean" else "binary"
    return Column(name, below, above, binned, None, levels, missing, style)


def _is_binary(below: FloatArray, above: FloatArray) -> bool:
    """Whether the values are 0 and 1."""
    return len(below) == 1 and below[0] == 0 and above[0] == 1


def categorical_column(name: str, found: set[Any]) -> Column:
    """The literals of a column of categories; None among those found stands for missing."""
    missing = None in found
    found.discard(None)
    if len(found) > MAX_CATEGORIES:
        raise too_many_categories(name, str(len(found)))
    try:
        categories = tuple(sorted(found))
    except TypeError:  # such as texts and numbers in one pandas Categorical
        categories = tuple(sorted(found, key=lambda value: (type(value).__name__, str(value))))
    implied: tuple[Any, ...] = ()
    if len(categories) <= 2 and not missing:
        implied, categories = categories[:1], categories[1:]  # the other one is its negation
    elif len(categories) == 1:
        implied, categories = categories, ()  # its negation is "is missing"
    return Column(name, categories=categories, missing=missing and bool(found), implied=implied)


def too_many_categories(name: str, count: str, advice: str = OUT) -> ColumnError:
    """The error about a column of categories that is probably an identifier."""
    return ColumnError(
        f"a categorical column may have at most {MAX_CATEGORIES} categories; {name} has {count}",
        name,
        advice,
    )
