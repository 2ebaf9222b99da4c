"""The columns of one partition: distinct values, and the position of each row's value among them.

A column of at most two values is a row of bits in the order of slots, as growing needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mictree.columns.column import as_levels
from mictree.columns.data import Data
from mictree.columns.encode import OUT, check_numbers
from mictree.columns.finite import infinite
from mictree.columns.ordered import rank
from mictree.columns.packing import pack_bits, valid_slots
from mictree.columns.placement import Placement
from mictree.problems.slots import unpack

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]
Words = np.typing.NDArray[np.uint64]


@dataclass(frozen=True)
class Slots:
    """Where rows lie: those of each class in adjacent slots, every class from a new word on.

    Attributes
    ----------
    class_rows : the number of rows of each class
    first_word : of each class, and the end
    valid : ones for the slots that hold a row
    """

    class_rows: IntArray
    first_word: IntArray
    valid: Words

    @classmethod
    def of(cls, class_rows: IntArray) -> Slots:
        """The slots of so many rows of each class."""
        first_word = np.zeros(len(class_rows) + 1, dtype=np.int64)
        np.cumsum((class_rows + 63) // 64, out=first_word[1:])
        valid = np.empty(first_word[-1], dtype=np.uint64)
        valid_slots(class_rows, first_word, valid)
        return cls(class_rows, first_word, valid)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.class_rows.sum())

    @property
    def numbers(self) -> IntArray:
        """The slot of each row."""
        return np.flatnonzero(unpack(self.valid))

    def place(
        self, codes: np.typing.NDArray[np.int32], keep: np.typing.NDArray[np.bool_]
    ) -> Placement:
        """Where rows of these classes lie; ``keep`` is empty if all of them have a slot."""
        small = codes.astype(np.min_scalar_type(max(0, len(self.class_rows) - 1)))
        places = np.cumsum(self.class_rows) - self.class_rows
        return Placement(small, keep, 64 * self.first_word[:-1], places)


class Distinct(NamedTuple):
    """A column: its distinct values, and the position of every row's value among them.

    Numbers ascend, with NaN last if a value is missing; categories are a list with None.
    """

    values: FloatArray | list[Any]
    positions: np.typing.NDArray[np.unsignedinteger]  # or words, if there are at most two values
    kind: str
    levels: tuple[Any, ...] | None

    def of_rows(self, slots: Slots) -> np.typing.NDArray[np.unsignedinteger]:
        """The position of each row."""
        if len(self.values) > 2:
            return self.positions
        return unpack(self.positions)[slots.numbers]

    def where(self, holds: np.typing.NDArray[np.bool_], slots: Slots) -> Words:
        """Ones for the rows whose value is one of those that hold a literal."""
        if len(self.values) > 2:
            return _as_words(holds[self.positions], slots)
        low, high = bool(holds[0]), bool(holds[-1])
        if low == high:
            return slots.valid if high else np.zeros_like(slots.valid)
        return self.positions if high else slots.valid & ~self.positions


def distinct(data: Data, number: int, slots: Slots, placement: Placement) -> Distinct:
    """Read a column."""
    name, kind, levels = data.names[number], data.kind(number), data.levels(number)
    whole = data.integers(number)
    found = None if whole is None else _two_values(whole, slots, placement)
    if found is not None:
        return Distinct(*found, kind, levels)
    values, rows = data.column(number), placement.rows
    if isinstance(values, list) and levels is None:
        seen: dict[Any, int] = {}
        positions = np.array([seen.setdefault(values[row], len(seen)) for row in rows.tolist()])
        return _stored(list(seen), positions, slots, kind, None)
    if isinstance(values, list):
        values = as_levels(values, levels or (), name)
    check_numbers(data, number, name)
    found = _two_values(values, slots, placement)
    if found is not None:
        return Distinct(*found, kind, levels)
    values = values[rows]
    absent = np.isnan(values)
    present = values[~absent]
    if not np.isfinite(present).all():
        raise infinite(name, advice=OUT)
    below, above, ranks, _ = rank(present, None, None)
    held = np.append(below, above[-1:]) if len(above) else present[:1] + 0.0
    if not absent.any():
        return _stored(held, ranks, slots, kind, levels)
    positions = np.full(len(values), len(held), dtype=np.min_scalar_type(len(held)))
    positions[~absent] = ranks
    return _stored(np.append(held, np.nan), positions, slots, kind, levels)


def _two_values(
    values: np.typing.NDArray[Any], slots: Slots, placement: Placement
) -> tuple[FloatArray, Words] | None:
    """The values and bits of a column of 0 and 1, much faster than by ranking; else None."""
    if values.dtype.itemsize > 1:
        zeros, ones = (values == 0).view(np.uint8), (values == 1).view(np.uint8)
        values = 2 - 2 * zeros - ones  # all others become 2
    words = np.zeros_like(slots.valid)
    if not placement.add(np.ascontiguousarray(values).view(np.uint8), words):
        return None
    if np.array_equal(words, slots.valid):
        return np.ones(1), np.zeros_like(words)
    return np.arange(2.0)[: 1 + bool(words.any())], words


def _stored(
    values: FloatArray | list[Any], positions: np.ndarray, slots: Slots, kind: str,
    levels: tuple[Any, ...] | None,
) -> Distinct:  # fmt: skip
    if len(values) <= 2:
        return Distinct(values, _as_words(positions.astype(bool), slots), kind, levels)
    small = positions.astype(np.min_scalar_type(len(values) - 1), copy=False)
    return Distinct(values, small, kind, levels)


def _as_words(flags: np.typing.NDArray[np.bool_], slots: Slots) -> Words:
    return pack_bits(flags, slots.numbers, 64 * len(slots.valid))[0]
