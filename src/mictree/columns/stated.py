"""Columns whose files state their values, at most two, and whether cells are missing.

Such a column needs no pass that learns its literals. The statement is checked when its cells are
stored: a file may be wrong about itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mictree.columns.parquet import Batch, Bounds, ParquetSet

LARGEST_WHOLE = 2**53  # up to it, different integers are different floats

FloatArray = np.typing.NDArray[np.float64]


def find_settled(files: ParquetSet, names: Sequence[str]) -> dict[str, Bounds]:
    """What the files state of the columns that have at most two values, different floats."""
    stated = {name: files.bounds.get(name) for name in names}
    return {
        name: bounds
        for name, bounds in stated.items()
        if bounds is not None and _are_settled(bounds)
    }


def _are_settled(bounds: Bounds) -> bool:
    largest = max(abs(bounds.least), abs(bounds.most))
    return bounds.most - bounds.least <= 1 and largest <= LARGEST_WHOLE


def check_stated(values: FloatArray, bounds: Bounds, name: str, batch: Batch) -> None:
    """Refuse numbers, NaN where missing, that are not as the files state."""
    absent = np.isnan(values)
    present = values[~absent]
    within = not len(present) or bounds.least <= present.min() <= present.max() <= bounds.most
    if not within or (absent.any() and not bounds.missing):
        raise misstated(name, batch)


def misstated(name: str, batch: Batch) -> ValueError:
    """The error about a file that is wrong about itself."""
    return ValueError(
        "a file must state the least and largest value of a column, and whether cells are "
        f"missing, as they are; {name} has others in {batch.file}"
    )
