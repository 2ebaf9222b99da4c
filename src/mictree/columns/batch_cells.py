"""The cells of one batch of a Parquet file: as floats, as integers, as codes of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.checks import ColumnError
from mictree.columns.arrays import WHOLE
from mictree.columns.data import Data
from mictree.columns.finite import infinite
from mictree.columns.parquet import Batch, as_polars

if TYPE_CHECKING:
    import polars

OTHERS = "leave the column out, naming all others in columns="  # advice in Python

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


def read_numbers(batch: Batch, name: str) -> FloatArray:
    """The values of an ordered column as floats, NaN where missing; of an Enum, positions."""
    import polars

    frame = as_polars(batch.table.select([name]))
    if str(frame.dtypes[0]).startswith("Enum"):
        frame = frame.with_columns(polars.col(name).to_physical())
    values = Data(frame).column(0)
    assert not isinstance(values, list)  # texts are categories
    if np.isinf(values).any():
        raise infinite(name, f", in {batch.file}", OTHERS)
    _check_kept(frame.to_series(), values, batch)
    return values


def _check_kept(series: polars.Series, values: FloatArray, batch: Batch) -> None:
    """Refuse values that a 64-bit float does not keep: two of them might become one.

    Whether there are two cannot be seen: they may be in different batches.
    """
    kind, name = series.dtype, str(series.dtype)
    present = values[~np.isnan(values)]
    exact = series.drop_nulls()
    if name.startswith(("Datetime", "Duration")) and getattr(kind, "time_unit", "us") == "ns":
        whole = np.floor(present)
        back = 1000 * whole.astype(np.int64) + np.rint(1e3 * (present - whole)).astype(np.int64)
        wrong = back != exact.to_physical().to_numpy()
    elif kind.is_decimal() or (kind.is_integer() and np.any(np.abs(present) >= WHOLE)):
        import polars

        back = polars.Series(present).cast(kind, strict=False)
        wrong = (back.fill_null(0) != exact).to_numpy() | back.is_null().to_numpy()
    else:
        return
    if wrong.any():
        raise ColumnError(
            f"values that are streamed must be 64-bit floats; {series.name} has "
            f"{exact[int(np.argmax(wrong))]} in {batch.file}",
            series.name,
            OTHERS,
        )


def read_integers(batch: Batch, name: str) -> np.typing.NDArray[Any] | None:
    """The cells of a column of integers as they are, of Booleans as bytes; None for others.

    None also if a cell is missing.
    """
    import pyarrow

    (cells,) = batch.table[name].chunks
    if cells.null_count:
        return None
    if pyarrow.types.is_boolean(cells.type):  # Arrow has them as bits, and is slow with them
        bits = np.frombuffer(cells.buffers()[1], dtype=np.uint8)
        end = cells.offset + len(cells)
        return np.unpackbits(bits, count=end, bitorder="little")[cells.offset :]
    return cells.to_numpy() if pyarrow.types.is_integer(cells.type) else None


def as_codes(batch: Batch, name: str) -> tuple[list[Any], IntArray]:
    """A column as positions in a list of its values; the last one is None, for missing cells."""
    import pyarrow

    cells = batch.table[name].combine_chunks()
    if not pyarrow.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    codes = cells.indices
    if codes.null_count:
        codes = codes.cast("int64").fill_null(len(cells.dictionary))
    return [*cells.dictionary.to_pylist(), None], codes.to_numpy()
