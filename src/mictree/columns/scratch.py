"""Room in which one column after another is read and sorted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mictree._support.passing import passing

FloatArray = np.typing.NDArray[np.float64]


class Scratch(NamedTuple):
    """Arrays for one column at a time, so that nothing of it lies between the arrays to keep."""

    keys: np.typing.NDArray[np.uint64]  # a word for each row, of the column and then of its keys
    values: FloatArray
    rows: np.typing.NDArray[np.uint32]

    @classmethod
    def of(cls, count: int) -> Scratch:
        """For so many rows."""
        return cls(passing(count, np.uint64), passing(count, np.float64), passing(count, np.uint32))

    def take(self, column: FloatArray, rows: np.typing.NDArray[Any]) -> FloatArray:
        """The values of some rows, until the next column is taken."""
        whole = self.keys.view(np.float64)
        whole[:] = column
        # nothing is clipped; looking for wrong rows would need one more array
        return whole.take(rows, out=self.values[: len(rows)], mode="clip")
