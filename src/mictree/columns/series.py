"""Columns of frames: their types as words, and times as numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np

from mictree.columns.arrays import WHOLE

FloatArray = np.typing.NDArray[np.float64]

PARTS = ("month", "weekday", "hour")  # of a date; weekdays from 1, Monday, to 7
FINER = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}  # in a microsecond


def as_named(series: Any) -> Any:
    """A column of a narwhals frame, as a type that narwhals has a name for where there is one.

    What pyarrow holds for pandas becomes pyarrow's own: pandas hands out such cells in several
    ways, by type and by whether some are missing.
    """
    import narwhals

    native = series.to_native()
    dtype = getattr(native, "dtype", None)
    if type(dtype).__name__ == "SparseDtype":
        return narwhals.from_native(native.sparse.to_dense(), series_only=True)
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        swapped = native.astype(dtype.newbyteorder("="))
        return narwhals.from_native(swapped, series_only=True)
    if type(dtype).__name__ == "ArrowDtype":
        import pyarrow

        cells = native.array.__arrow_array__()
        native = cells if isinstance(cells, pyarrow.ChunkedArray) else pyarrow.chunked_array(cells)
    elif not series.implementation.is_pyarrow():
        return series
    import pyarrow

    if pyarrow.types.is_date64(native.type):  # narwhals has no name for it
        native = native.cast(pyarrow.date32())
    return narwhals.from_native(native, series_only=True)


def has_unnamed(frame: Any) -> bool:
    """Whether ``as_named`` may change a column of a narwhals frame."""
    if frame.implementation.is_pyarrow():
        return True
    if not frame.implementation.is_pandas_like():
        return False
    return any(
        type(dtype).__name__ in ("ArrowDtype", "SparseDtype")
        or not getattr(dtype, "isnative", True)
        for dtype in frame.to_native().dtypes
    )


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
        ticks = _as_microseconds(times.view(np.int64), count, FINER[unit])
    else:
        finer = times.astype(f"{times.dtype.kind}8[us]")
        wrapped = ~missing & (finer.astype(times.dtype) != times)
        if wrapped.any():
            raise ValueError(
                "times must lie within 2**63 microseconds, 292,000 years, of 1970; got "
                f"{times[wrapped][0]}"
            )
        ticks = _as_microseconds(finer.view(np.int64), 1, 1)
    return np.where(missing, math.nan, ticks)


def _as_microseconds(ticks: np.typing.NDArray[Any], count: int, parts: int) -> FloatArray:
    """``ticks * count / parts``; where no float is that, the one above.

    Around the year 2000 floats are a quarter of a microsecond apart. A time is above a threshold
    exactly if the float above it is, so no rounding moves a time to the other side.
    """
    shared = math.gcd(count, parts)
    count, parts = count // shared, parts // shared
    whole, rest = np.divmod(ticks, parts)
    start, more = whole.astype(float), rest * float(count)
    off = np.zeros(len(start))
    if np.any(np.abs(start) >= WHOLE):  # from the year 2255 on, start may be rounded
        most = start >= 2.0**63  # above all 64-bit integers
        off = np.where(most, 1, np.where(most, 0, start).astype(np.int64) - whole)
    elif parts == 1:
        return start * count
    start *= count
    near = start + more / parts
    low = (off < 0) | ((off == 0) & ((near - start) * parts < more))
    return np.where(low, np.nextafter(near, math.inf), near)


def last_tick(threshold: float, parts: int = FINER["ns"]) -> int:
    """The last time, in nanoseconds or other parts of a microsecond, that is not above a threshold.

    It reads as the threshold or less, and the next one as more.
    """
    near, room = math.floor(Fraction(threshold) * parts), math.ceil(2 * parts * math.ulp(threshold))
    ticks = range(near - room - 1, near + room + 2)
    above = bisect_right(ticks, threshold, key=lambda tick: read_tick(tick, parts))
    return ticks[above - 1]


def read_tick(tick: int, parts: int) -> float:
    """A time as ``microseconds`` reads it."""
    whole, rest = divmod(tick, parts)
    start = float(whole)
    if start > whole:
        return start
    near = start + rest / parts
    low = start < whole or (near - start) * parts < rest
    return math.nextafter(near, math.inf) if low else near


def part_of(moments: FloatArray, part: str) -> FloatArray:
    """A part of dates that are microseconds since 1970, with NaN where missing."""
    missing = np.isnan(moments)
    whole = np.where(missing, 0, np.floor(moments)).astype(np.int64)
    if part == "month":
        found = whole.view("M8[us]").astype("M8[M]").astype(np.int64) % 12 + 1
    elif part == "weekday":
        found = (whole // 86_400_000_000 + 3) % 7 + 1  # 1970 began on a Thursday
    else:
        found = whole // 3_600_000_000 % 24
    return np.where(missing, math.nan, found)


def microseconds_of_day(series: Any) -> FloatArray:
    """A column of times of the day, which polars and pyarrow may hold to the nanosecond."""
    native = series.to_native()
    if series.implementation.is_polars():
        ticks = native.to_physical()
    else:
        import pyarrow

        ticks = native.cast(pyarrow.time64("ns")).cast(pyarrow.int64())
    return _as_microseconds(np.asarray(ticks.to_numpy(), dtype=float), 1, FINER["ns"])
