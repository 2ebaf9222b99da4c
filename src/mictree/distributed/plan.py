"""The plan by which all partitions are packed: classes, columns, the unit of weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mictree._support.sums import as_number
from mictree.columns.column import Column
from mictree.columns.data import unnamed
from mictree.columns.encode import categorical_column, ordered_column
from mictree.columns.literals import Literals
from mictree.columns.ordered import TIMES
from mictree.columns.quantiles import Edges
from mictree.distributed.collections import Partitions
from mictree.distributed.digest import ColumnSummary, Summary
from mictree.problems.labels import NO_WEIGHT, Scale, binary_places, decimal_places

MOST_THRESHOLDS = 255  # of a column, unless told otherwise


@dataclass(frozen=True)
class Plan:
    """How a partition is packed.

    Attributes
    ----------
    labels : the classes
    literals : the tests that all columns offer
    scale : how weights become whole; None if every row weighs 1
    """

    labels: np.ndarray
    literals: Literals
    scale: Scale | None


def scale_of(summary: Summary, weighted: bool) -> Scale | None:
    """How the weights of all rows become whole, as ``whole_weights`` has it; None if all are 1."""
    if not weighted or summary.ones:
        return None
    if not summary.rows:
        raise ValueError(NO_WEIGHT)
    total = as_number(summary.weight)
    for places in decimal_places(float(total)):
        if summary.decimals[places]:
            return Scale(places, None)
    return Scale(None, binary_places(total))


def names_of(partitions: Partitions) -> tuple[str, ...]:
    """The columns' names; ``x0``, ``x1``, ... if they have none."""
    return unnamed(partitions.width) if partitions.names is None else partitions.names


def are_ordered(columns: tuple[ColumnSummary, ...], names: tuple[str, ...]) -> list[bool]:
    """Which columns hold numbers; refuses those that hold different things in different parts."""
    for name, column in zip(names, columns, strict=True):
        if column.categories is not None and column.numbers:
            raise ValueError(f"a column must hold numbers or texts, not both; {name} holds both")
        times = {kind if kind in TIMES else "number" for kind in column.kinds}
        if len(times) > 1 and column.numbers:
            both = " and ".join(sorted(times))
            raise ValueError(f"a column must have one type in all partitions; {name} has {both}")
        if len(column.levels) > 1:
            raise ValueError(
                f"ordered categories must be the same in all partitions; those of {name} are not"
            )
    return [column.categories is None for column in columns]


def literals_of(
    partitions: Partitions,
    columns: tuple[ColumnSummary, ...],
    edges: dict[int, Edges],
    weighted: bool,
) -> Literals:
    """The literals of all columns, those of ordered ones from their edges."""
    names = names_of(partitions)
    all_bits = all(column.bits is not None and not column.missing for column in columns)
    if partitions.kind in (np.uint8, np.bool_) and all_bits and not weighted:
        return Literals.binary(names)
    return Literals(
        [_column(name, columns[number], edges.get(number)) for number, name in enumerate(names)]
    )


def _column(name: str, summary: ColumnSummary, edges: Edges | None) -> Column:
    if edges is None:
        missing = {None} if summary.missing else set()
        return categorical_column(name, set(summary.categories or ()) | missing)
    (levels,) = summary.levels
    missing = summary.missing and summary.numbers
    return ordered_column(name, edges._replace(missing=missing), _kind(summary), levels)


def known_edges(summary: ColumnSummary) -> Edges | None:
    """The edges of a column of 0 and 1; None if its values must be counted first."""
    if summary.bits is None:
        return None
    both = len(summary.bits) == 2
    low, high = (np.array([float(value)] if both else []) for value in (0, 1))
    return Edges(low, high, False, summary.missing)


def _kind(summary: ColumnSummary) -> str:
    """The type by which a column reads; of several types of numbers, any."""
    return min(summary.kinds)
