"""The slots of some rows, and how columns of 0 and 1 become bits in them.

Rows of a class lie in adjacent slots, so each 64 rows of a column give one run of bits to every
class: the bits of its rows, moved together. Where they must be moved depends on the labels only, so
it is found once and used for all columns (Warren, Hacker's Delight, 7-4, "compress").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mictree._support.jit import jit, load_word, popcount
from mictree.columns.packing import add_flags

MOST_MOVED = 4  # classes; with more, rows are faster one by one
STAGES = 6  # of a move: by 1, 2, 4, 8, 16 and 32 bits
GATHER = np.uint64(0x0102040810204080)  # a word of bytes 0 or 1 times this has them as top bits
OTHER_BITS = np.uint64(0xFEFEFEFEFEFEFEFE)  # of a word of bytes, 0 if they are 0 or 1

IntArray = np.typing.NDArray[np.int64]
Words = np.typing.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Placement:
    """Where some rows lie: those of each class in adjacent slots, from given ones on.

    Attributes
    ----------
    codes : the class of each row
    keep : whether a row has a slot; empty if all have
    first_slots : of each class, the slot of its first row here
    first_places : the same without the empty slots between classes
    """

    codes: np.typing.NDArray[np.unsignedinteger]
    keep: np.typing.NDArray[np.bool_]
    first_slots: IntArray
    first_places: IntArray

    @cached_property
    def rows(self) -> IntArray:
        """The rows that have a slot, class by class."""
        rows = np.argsort(self.codes, kind="stable")
        return rows[self.keep[rows]] if len(self.keep) else rows

    @cached_property
    def counts(self) -> IntArray:
        """The rows of each class."""
        codes = self.codes[self.keep] if len(self.keep) else self.codes
        return np.bincount(codes, minlength=len(self.first_slots))

    @cached_property
    def slots(self) -> IntArray:
        """The slots of ``rows``."""
        return self._numbers + np.repeat(self.first_slots, self.counts)

    @cached_property
    def places(self) -> IntArray:
        """The same without the empty slots between classes."""
        return self._numbers + np.repeat(self.first_places, self.counts)

    @cached_property
    def _numbers(self) -> IntArray:
        """The number of each of ``rows`` in its class."""
        before = np.cumsum(self.counts) - self.counts
        return np.arange(len(self.rows)) - np.repeat(before, self.counts)

    @cached_property
    def moves(self) -> Words | None:
        """How the bits of 64 rows are moved for each class; None if there are many classes."""
        if len(self.first_slots) > MOST_MOVED:
            return None
        blocks = -(-len(self.codes) // 64)
        moves = np.empty((blocks, len(self.first_slots), 1 + STAGES), dtype=np.uint64)
        find_moves(self.codes, self.keep, moves)
        return moves

    def prepare(self, by_row: bool) -> None:
        """Find what columns share, before several threads would; ``by_row`` if some need rows."""
        if self.moves is None or by_row:
            assert len(self.slots) == len(self.places)

    def add(self, flags: np.typing.NDArray[np.uint8], out_words: Words) -> bool:
        """Set the bits of a literal from a byte for each row, 0 or 1, if all of them are."""
        flags = flags.view()
        flags.flags.writeable = False  # as cells of Arrow are: else numba would have two types
        if self.moves is not None:
            return add_moved(flags, self.moves, self.first_slots, out_words)
        if len(flags) and flags.max() > 1:
            return False
        add_flags(flags, self.rows, self.slots, out_words)
        return True


@jit
def find_moves(codes, keep, out_moves):
    """For each 64 rows and class write its rows as a mask, and which bits each stage moves.

    Stage ``s`` moves bits by ``2**s`` places. ``keep`` is empty if all rows are kept.
    """
    masks = np.empty(out_moves.shape[1], dtype=np.uint64)
    for block in range(len(out_moves)):
        masks[:] = 0
        for row in range(64 * block, min(64 * block + 64, len(codes))):
            if len(keep) == 0 or keep[row]:
                masks[codes[row]] |= np.uint64(1) << np.uint64(row & 63)
        for code in range(len(masks)):
            mask = masks[code]
            out_moves[block, code, 0] = mask
            below = ~mask << np.uint64(1)  # ones above the rows of other classes
            for stage in range(STAGES):
                odd = below  # ones where an odd number of them lie at or below
                for step in range(STAGES):
                    odd ^= odd << np.uint64(1 << step)
                moved = odd & mask
                out_moves[block, code, 1 + stage] = moved
                mask = (mask ^ moved) | (moved >> np.uint64(1 << stage))
                below &= ~odd


@jit
def add_moved(flags, moves, first_slots, out_words):
    """Set the bits of a literal from a byte for each row; the bits of these slots must be 0.

    Returns whether all bytes are 0 or 1; if not, the output is worthless.
    """
    slots = first_slots.copy()
    seen = np.uint64(0)
    for block in range(len(moves)):
        start = 64 * block
        word = np.uint64(0)
        if start + 64 <= len(flags):
            for part in range(8):
                cells = load_word(flags, start + 8 * part)
                seen |= cells
                word |= ((cells * GATHER) >> np.uint64(56)) << np.uint64(8 * part)
        else:
            for row in range(start, len(flags)):
                cell = np.uint64(flags[row])
                seen |= cell
                word |= (cell & np.uint64(1)) << np.uint64(row - start)
        for code in range(len(slots)):
            mask = moves[block, code, 0]
            bits = word & mask
            for stage in range(STAGES):
                moved = bits & moves[block, code, 1 + stage]
                bits = (bits ^ moved) | (moved >> np.uint64(1 << stage))
            slot = slots[code]
            shift = np.uint64(slot & 63)
            slots[code] += np.int64(popcount(mask))
            if bits:
                out_words[slot >> 6] |= bits << shift
                rest = (bits >> np.uint64(1)) >> (np.uint64(63) - shift)  # by 64 - shift places
                if rest:
                    out_words[(slot >> 6) + 1] |= rest
    return seen & OTHER_BITS == 0
