"""Columns of frames: their types as words, and times as numbers."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

FloatArray = np.typing.NDArray[np.float64]

FINER = {"ns": 1e3, "ps": 1e6, "fs": 1e9, "as": 1e12}  # of a microsecond


def as_arrow(series: Any) -> Any:
    """A column of a narwhals frame; if pyarrow holds it for pandas, as pyarrow's own.

    pandas hands out such cells in several ways, by type and by whether some are missing.
    """
    native = series.to_native()
    if type(getattr(native, "dtype", None)).__name__ == "ArrowDtype":
        import pyarrow

        cells = native.array.__arrow_array__()
        native = cells if isinstance(cells, pyarrow.ChunkedArray) else pyarrow.chunked_array(cells)
    elif not series.implementation.is_pyarrow():
        return series
    import narwhals
    import pyarrow

    if pyarrow.types.is_date64(native.type):  # narwhals has no name for it
        native = native.cast(pyarrow.date32())
    return narwhals.from_native(native, series_only=True)


def has_arrow(frame: Any) -> bool:
    """Whether pyarrow may hold a column of a narwhals frame."""
    if frame.implementation.is_pyarrow():
        return True
    dtypes = getattr(frame.to_native(), "dtypes", ()) if "pyarrow" in sys.modules else ()
    return any(type(dtype).__name__ == "ArrowDtype" for dtype in dtypes)


def kind_of(dtype: Any, series: Any = None) -> str:
    """A type of narwhals as one word in small letters; "instant" for times with a time zone."""
    word = str(dtype).partition("(")[0].lower()
    if word == "datetime" and getattr(dtype, "time_zone", None) is not None:
        return "instant"
    native = None if series is None or word != "unknown" else series.to_native()
    if str(getattr(native, "type", "")).startswith("decimal"):
        return "decimal"  # of more digits than narwhals has a name for
    return word


def microseconds(times: np.typing.NDArray[Any]) -> FloatArray:
    """Dates and times since 1970, or durations, with NaN where missing."""
    unit, count = np.datetime_data(times.dtype)
    missing = np.isnat(times)
    if unit in FINER:
        ticks = times.view(np.int64) * (count / FINER[unit])
    else:
        finer = times.astype(f"{times.dtype.kind}8[us]")
        wrapped = ~missing & (finer.astype(times.dtype) != times)
        if wrapped.any():
            raise ValueError(
                "times must lie within 2**63 microseconds, 292,000 years, of 1970; got "
                f"{times[wrapped][0]}"
            )
        ticks = finer.view(np.int64).astype(float)
    return np.where(missing, math.nan, ticks)


def microseconds_of_day(series: Any) -> FloatArray:
    """A column of times of the day, which polars and pyarrow may hold to the nanosecond."""
    native = series.to_native()
    if series.implementation.is_polars():
        ticks = native.to_physical()
    else:
        import pyarrow

        ticks = native.cast(pyarrow.time64("ns")).cast(pyarrow.int64())
    return np.asarray(ticks.to_numpy(), dtype=float) / FINER["ns"]
