"""The columns of one partition: distinct values, and the position of each row's value among them.

A column of at most two values is a row of bits in the order of slots, as growing needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import jit
from mictree.columns.column import as_levels
from mictree.columns.data import Data
from mictree.columns.encode import check_numbers
from mictree.columns.ordered import rank
from mictree.columns.packing import pack_bits, sort_rows, valid_slots
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

    def sort(self, codes: np.typing.NDArray[np.int32], keep: np.typing.NDArray[np.bool_]) -> Any:
        """The row in each slot, -1 where it is empty, from the classes of rows."""
        order = np.empty(64 * len(self.valid), dtype=np.int64)
        sort_rows(codes, keep, self.first_word, order)
        return order


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


def distinct(data: Data, number: int, slots: Slots, order: IntArray) -> Distinct:
    """Read a column; ``order`` has the row in each slot."""
    name, kind, levels = data.names[number], data.kind(number), data.levels(number)
    whole = data.integers(number)
    found = None if whole is None else _two_values(whole, slots, order)
    if found is not None:
        return Distinct(*found, kind, levels)
    values, rows = data.column(number), order[order >= 0]
    if isinstance(values, list) and levels is None:
        seen: dict[Any, int] = {}
        positions = np.array([seen.setdefault(values[row], len(seen)) for row in rows.tolist()])
        return _stored(list(seen), positions, slots, kind, None)
    if isinstance(values, list):
        values = as_levels(values, levels or (), name)
    check_numbers(data, number, name)
    found = _two_values(values, slots, order)
    if found is not None:
        return Distinct(*found, kind, levels)
    values = values[rows]
    absent = np.isnan(values)
    present = values[~absent]
    if not np.isfinite(present).all():
        raise ValueError(f"X must not contain infinity; {name} does")
    below, above, ranks, _ = rank(present, None, None)
    held = np.append(below, above[-1:]) if len(above) else present[:1] + 0.0
    if not absent.any():
        return _stored(held, ranks, slots, kind, levels)
    positions = np.full(len(values), len(held), dtype=np.min_scalar_type(len(held)))
    positions[~absent] = ranks
    return _stored(np.append(held, np.nan), positions, slots, kind, levels)


def _two_values(
    values: np.typing.NDArray[Any], slots: Slots, order: IntArray
) -> tuple[FloatArray, Words] | None:
    """The values and bits of a column of 0 and 1, much faster than by ranking; else None."""
    if values.dtype.itemsize > 1:
        zeros, ones = (values == 0).view(np.uint8), (values == 1).view(np.uint8)
        values = 2 - 2 * zeros - ones  # all others become 2
    cells = np.ascontiguousarray(values).view(np.uint8)
    cells.flags.writeable = False  # of this view: else numba would have two types
    words = np.empty_like(slots.valid)
    if _pack_cells(cells, order, words) > 1:
        return None
    if np.array_equal(words, slots.valid):
        return np.ones(1), np.zeros_like(words)
    return np.arange(2.0)[: 1 + bool(words.any())], words


@jit
def _pack_cells(cells, order, out_words):
    """Write the lowest bit of the cell in each slot, 0 in empty ones; returns all cells' bits."""
    seen = np.uint64(0)
    for word in range(len(out_words)):
        bits = np.uint64(0)
        rows = order[64 * word : 64 * word + 64]
        if rows[63] >= 0:  # a class fills its words from the lowest slot on
            for bit in range(64):
                cell = np.uint64(cells[np.uint64(rows[bit])])
                seen |= cell
                bits |= cell << np.uint64(bit)
        else:
            for bit in range(64):
                if rows[bit] < 0:
                    break
                cell = np.uint64(cells[rows[bit]])
                seen |= cell
                bits |= cell << np.uint64(bit)
        out_words[word] = bits
    return seen


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
