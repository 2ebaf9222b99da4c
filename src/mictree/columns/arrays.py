"""Lists and arrays of cells as NumPy arrays that keep every cell as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

WHOLE = 2**53  # every integer up to this is a 64-bit float; from here on some are rounded
ENDS = {"U": (str, "\0"), "S": (bytes, b"\0")}  # the cells of texts, and what NumPy cuts off

Array = np.typing.NDArray[Any]


def read_array(values: Any) -> Array:
    """Convert to an array as NumPy does, unless that would change a cell.

    NumPy would convert numbers beside texts to texts and large integers beside floats to floats,
    cut off the NULs at the end of texts, and show what a masked array hides.
    """
    if isinstance(values, list | tuple) and any(
        isinstance(row, np.ma.MaskedArray) for row in values
    ):
        values = np.ma.array(values)
    if isinstance(values, np.ma.MaskedArray):
        return _without_masked(values)
    array = np.asarray(values)
    kind = array.dtype.kind
    if kind == "T":  # NumPy's own texts of any length
        return array.astype(object)
    if hasattr(values, "__array__") or kind not in "USf":
        return array
    if kind == "f" and not np.any(np.abs(array) >= np.float64(WHOLE)):
        return array
    cells = np.array(values, dtype=object)
    if kind == "f":
        kept = all(isinstance(cell, float) for cell in cells.flat)
    else:
        sort, end = ENDS[kind]
        kept = all(isinstance(cell, sort) and not cell.endswith(end) for cell in cells.flat)
    return array if kept else cells


def _without_masked(values: np.ma.MaskedArray[Any, Any]) -> Array:
    """The cells of a masked array; those that it hides become missing values."""
    cells, hidden = np.asarray(values.data), np.ma.getmaskarray(values)
    if not hidden.any():
        return cells
    kind = cells.dtype.kind
    if kind in "mM":
        return np.where(hidden, np.array("NaT", cells.dtype), cells)
    if kind == "f":
        return np.where(hidden, np.array(np.nan, cells.dtype), cells)
    objects = cells.astype(object)
    objects[hidden] = None
    shown = cells[~hidden]
    if kind == "b" or (kind in "iu" and np.all((shown >= -WHOLE) & (shown <= WHOLE))):
        return objects.astype(float)
    return objects
