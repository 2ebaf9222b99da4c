"""Matrices, sparse matrices and frames of any library, read one column at a time.

A column is read as 64-bit floats, NaN where missing, or as a list of categories. Dates, times and
durations become microseconds; a time that no float is becomes the float above, so that no rounding
moves it to the other side of a threshold. No cell is changed silently: lists become arrays that
keep every cell as it is, and different numbers that would round to one float are found. Infinite
numbers are refused: a tree neither learns from them nor tests them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any

import numpy as np

from mictree._support.checks import ColumnError
from mictree.columns.text_tables import check_header

# types that are never rounded
FLOATS = ("bool", "boolean", "float16", "float32", "float64", "date", "time")

MOMENT_TYPES = (date, time, timedelta, np.datetime64, np.timedelta64)  # of Python and NumPy
PLURALS = {"bytes": "bytes", "bytes_": "bytes", "complex": "complex numbers"}  # in errors

FloatArray = np.typing.NDArray[np.float64]


class Data:
    """A matrix, sparse matrix or frame, read one column at a time, numbers as 64-bit floats.

    Dates, times and durations are read as microseconds. ``remember`` keeps every column after its
    first reading.
    """

    def __init__(self, X: Any, remember: bool = False) -> None:
        self.remember = remember
        self.frame: Any = None
        self.matrix: Any = None
        check_loaded(X)
        if hasattr(X, "tocsc"):
            self.matrix = X.tocsc()
        elif hasattr(X, "columns"):
            self.frame = _as_frame(X)
        else:
            self.matrix = read_array(X)
        shape = self.frame.shape if self.frame is not None else self.matrix.shape
        if len(shape) != 2:
            raise ValueError(f"X must have two dimensions; its shape is {shape}")
        self.rows: int
        self.width: int
        self.rows, self.width = (int(length) for length in shape)
        # x0, x1, ... if they have none
        self.names = (
            unnamed(self.width) if self.frame is None else tuple(map(str, self.frame.columns))
        )
        self._read: dict[int, FloatArray | list[Any]] = {}
        self._infinite: dict[int, bool] = {}
        self._coded: dict[int, tuple[list[Any], np.typing.NDArray[np.int32]] | None] = {}

    @property
    def bytes(self) -> np.typing.NDArray[np.uint8] | None:
        """The matrix itself if it holds bytes in C order, ready to be packed."""
        matrix = self.matrix
        if not isinstance(matrix, np.ndarray) or matrix.dtype not in (np.uint8, np.bool_):
            return None
        return matrix.view(np.uint8) if matrix.flags.c_contiguous else None

    @property
    def floats(self) -> FloatArray | None:
        """The matrix itself if it holds floats of up to 64 bits."""
        matrix = self.matrix
        if not isinstance(matrix, np.ndarray) or matrix.dtype.kind != "f":
            return None
        return matrix if matrix.dtype.itemsize <= 8 else None

    def kind(self, number: int) -> str:
        """The type of a column as one word in small letters: "boolean", "date", "float64", ..."""
        return self._kinds[number if self.frame is not None else 0]

    @cached_property
    def _kinds(self) -> list[str]:
        """Of all columns of a frame, or of a matrix."""
        if self.frame is not None:
            if not self._unnamed:
                return [kind_of(dtype) for dtype in self.frame.schema.dtypes()]
            every = [self._series(number) for number in range(self.width)]
            return [kind_of(series.dtype, series) for series in every]
        kind = self.matrix.dtype
        return [{"M": "datetime", "m": "duration"}.get(kind.kind, str(kind))]

    @cached_property
    def _unnamed(self) -> bool:
        return _has_unknown_types(self.frame)

    def _series(self, number: int) -> Any:
        series = self.frame[:, number]
        return _as_known_type(series) if self._unnamed else series

    def levels(self, number: int) -> tuple[Any, ...] | None:
        """The categories of an ordered categorical column, from the least on."""
        if self.kind(number) != "enum":
            return None
        return tuple(self.frame.schema.dtypes()[number].categories)

    def column(self, number: int) -> FloatArray | list[Any]:
        """Numbers as floats with NaN where missing, or categories as a list with None."""
        if number not in self._read:
            self._read = {**(self._read if self.remember else {}), number: self._column(number)}
        return self._read[number]

    def codes(self, number: int) -> tuple[list[Any], np.typing.NDArray[np.int32]] | None:
        """A column of categories as positions in a list of its values; None if that takes as long.

        The last value is None, for missing cells. Some values may occur in no row.
        """
        if self.frame is None or self.kind(number) not in ("string", "categorical"):
            return None
        if number not in self._coded:
            self._coded = {number: _as_codes(self._series(number))}
        return self._coded[number]

    def integers(self, number: int) -> np.typing.NDArray[Any] | None:
        """A column of integers or Booleans without missing values as it is; None for others."""
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[:, number] if self.matrix.dtype.kind in "biu" else None
        if self.frame is None or not (self.kind(number) == "boolean" or "int" in self.kind(number)):
            return None
        values = self._series(number).to_numpy()
        return values if values.dtype.kind in "biu" else None

    def has_infinity(self, number: int) -> bool:
        """Whether a column of numbers has an infinite one."""
        if self._all_finite:
            return False
        if number not in self._infinite:
            values = self.column(number)
            self._infinite[number] = not isinstance(values, list) and bool(np.isinf(values).any())
        return self._infinite[number]

    @cached_property
    def _all_finite(self) -> bool:
        """Whether no number of a matrix can be infinite; False if only a second look would tell."""
        if isinstance(self.matrix, np.ndarray) and self.matrix.dtype.kind in "biu":
            return True
        if self.floats is None:
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.floats.sum()))  # NaN, and an overflow, make it not finite

    def merged(self, number: int) -> tuple[Any, Any] | None:
        """Two different numbers of a column that round to one 64-bit float, if there are any."""
        numbers = self.column(number)
        kind = self.kind(number)
        if kind in ("datetime", "instant", "duration"):
            return self._merged_times(number)
        if isinstance(numbers, list) or kind in FLOATS:
            return None
        if "int" in kind and not np.any(np.abs(numbers) >= WHOLE):
            return None
        if self.frame is not None:
            cells = self._series(number).to_list()
        else:
            cells = self._matrix_column(number).tolist()
        first: dict[float, Any] = {}
        for cell, rounded in zip(cells, numbers.tolist(), strict=True):
            if not math.isnan(rounded) and first.setdefault(rounded, cell) != cell:
                return first[rounded], cell
        return None

    def _merged_times(self, number: int) -> tuple[Any, Any] | None:
        """Only times in nanoseconds, or some thousand years away, can be rounded."""
        times = self._times(number)
        first = np.unique(times.view(np.int64), return_index=True)[1]
        merged = np.flatnonzero(np.diff(microseconds(times)[first]) == 0)
        if not len(merged):
            return None
        one, other = times[first[merged[0]]], times[first[merged[0] + 1]]
        return None if np.isnat(one) or np.isnat(other) else (one, other)

    def _times(self, number: int) -> np.typing.NDArray[Any]:
        return (
            self._series(number).to_numpy()
            if self.frame is not None
            else self.matrix[:, number].copy()
        )

    def _column(self, number: int) -> FloatArray | list[Any]:
        if self.frame is not None:
            return self._frame_column(number)
        column = self._matrix_column(number)
        if column.dtype.kind in "mM":
            return microseconds(column)
        if column.dtype.kind not in "biufOUS":
            raise ValueError(f"X must hold numbers, texts or booleans; its type is {column.dtype}")
        if column.dtype.kind in "OUS" or column.dtype.itemsize > 8:  # numpy's longdouble
            return _read_objects(column.tolist(), f"x{number}", framed=False)
        return column.astype(float, copy=False)

    def _matrix_column(self, number: int) -> np.typing.NDArray[Any]:
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[:, number]
        column = np.zeros(self.rows, dtype=self.matrix.dtype)
        part = slice(self.matrix.indptr[number], self.matrix.indptr[number + 1])
        np.add.at(column, self.matrix.indices[part], self.matrix.data[part])
        return column

    def _frame_column(self, number: int) -> FloatArray | list[Any]:
        name = self.frame.columns[number]
        series = self._series(number)
        kind, word = series.dtype, self.kind(number)
        if word == "decimal" and not series.implementation.is_polars():
            return _read_objects(series.to_list(), str(name))  # pyarrow does not round to nearest
        if kind.is_numeric() or word == "boolean":
            import narwhals

            try:
                values = series.cast(narwhals.Float64).to_numpy()
            except ValueError:  # pyarrow rounds no integers
                return _read_objects(series.to_list(), str(name))
            return np.array(values, dtype=float, copy=True)
        if word in ("string", "categorical", "enum", "object"):
            values = series.to_list()
            if word in ("categorical", "enum"):
                return [None if is_missing(value) else value for value in values]
            return _read_objects(values, str(name))
        if word in ("date", "datetime", "instant", "duration"):
            return microseconds(series.to_numpy())
        if word == "time":
            return _microseconds_of_day(series)
        if series.null_count() == len(series):  # polars' type Null: nothing but missing values
            return np.full(len(series), math.nan)
        native = series.to_native()
        held = getattr(native, "dtype", None) or getattr(native, "type", kind)
        raise unreadable(str(name), held)


def _as_codes(series: Any) -> tuple[list[Any], np.typing.NDArray[np.int32]] | None:
    """What ``Data.codes`` returns, from a column of texts or categories."""
    native = series.to_native()
    if series.implementation.is_pandas() and hasattr(native, "cat"):
        values, codes = native.cat.categories.tolist(), native.cat.codes.to_numpy()
        return [*values, None], np.where(codes < 0, len(values), codes).astype(np.int32)
    try:
        cells = series.to_arrow()
    except ValueError:  # a text that is no Unicode
        return None
    cells = cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
    if not hasattr(cells, "dictionary"):
        cells = cells.dictionary_encode()
    codes, values = cells.indices, cells.dictionary.to_pylist()
    if codes.null_count:
        codes = codes.cast("int64").fill_null(len(values))
    return [*values, None], codes.to_numpy().astype(np.int32)


def unreadable(name: str, held: Any) -> ColumnError:
    """The error about a column of lists or the like."""
    return ColumnError(
        f"a column must hold numbers, texts, booleans, dates or times; {name} has {held}", name
    )


def check_loaded(X: Any) -> None:
    """Refuse a polars LazyFrame, which has columns but no rows yet."""
    if type(X).__name__ == "LazyFrame" and hasattr(X, "collect"):
        raise TypeError("X must be in memory; a LazyFrame is not: call its collect() first")


def _as_frame(X: Any) -> Any:
    """A frame of any library; refuses one in which a name occurs twice."""
    import narwhals

    try:
        return narwhals.from_native(X, eager_only=True)
    except narwhals.exceptions.DuplicateError:
        names = getattr(X, "column_names", X.columns)
    return check_header(list(names))  # which raises an error that reads as for files


@lru_cache(32)
def unnamed(count: int) -> tuple[str, ...]:
    """The names of columns that have none."""
    return tuple(f"x{number}" for number in range(count))


def is_missing(value: Any) -> bool:
    """Whether a cell holds None, NaN, pandas' NA or NaT, or is masked."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant")
    )


def _read_objects(values: list[Any], name: str, framed: bool = True) -> FloatArray | list[Any]:
    """Python objects, all numbers or all texts, as a column, of a frame or of a matrix."""
    cleaned = [None if is_missing(value) else value for value in values]
    kinds = {type(value) for value in cleaned if value is not None}
    for kind in kinds:
        # NumPy's durations are numbers to Python
        if issubclass(kind, MOMENT_TYPES) or not issubclass(kind, Real | Decimal | np.bool_ | str):
            raise _refused(kind, name, framed)
    texts = {kind for kind in kinds if issubclass(kind, str)}
    if kinds and kinds == texts:
        return cleaned
    if texts:
        raise ColumnError(f"a column must hold numbers or texts, not both; {name} holds both", name)
    return np.array([math.nan if value is None else _as_float(value, name) for value in cleaned])


def _refused(kind: type, name: str, framed: bool) -> ColumnError:
    """The error about a column of objects that are neither numbers nor texts."""
    word = kind.__name__
    held = PLURALS.get(word) or (f"{word}s" if word[-1].isalpha() else f"{word} values")
    advice = "a column must hold numbers, texts, booleans, dates or times"
    if issubclass(kind, bytes):
        advice = "decode them to texts"
    elif issubclass(kind, MOMENT_TYPES):
        typed = "convert the column by pandas.to_datetime"
        if issubclass(kind, timedelta | np.timedelta64):
            typed = "convert the column by pandas.to_timedelta"
        elif issubclass(kind, time):
            typed = "cast the column to polars.Time"
        advice = f"{typed if framed else 'pass a data frame'}, or convert them to numbers"
    return ColumnError(f"column {name} holds {held}; {advice}", name)


def _as_float(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number) and -math.inf < value < math.inf:
        digits = value.adjusted() if isinstance(value, Decimal) else math.log10(abs(int(value)))
        about = f"{'-' if value < 0 else ''}10**{digits:.0f}"
        raise ColumnError(
            f"a number must lie within 64-bit floats; {name} has one of about {about}", name
        )
    return number


PARTS = ("month", "weekday", "hour")  # of a date; weekdays from 1, Monday, to 7
FINER = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}  # in a microsecond


def _as_known_type(series: Any) -> Any:
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


def _has_unknown_types(frame: Any) -> bool:
    """Whether ``_as_known_type`` may change a column of a narwhals frame."""
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


def _microseconds_of_day(series: Any) -> FloatArray:
    """A column of times of the day, which polars and pyarrow may hold to the nanosecond."""
    native = series.to_native()
    if series.implementation.is_polars():
        ticks = native.to_physical()
    else:
        import pyarrow

        ticks = native.cast(pyarrow.time64("ns")).cast(pyarrow.int64())
    return _as_microseconds(np.asarray(ticks.to_numpy(), dtype=float), 1, FINER["ns"])


WHOLE = 2**53  # every integer up to this is a 64-bit float; from here on some are rounded
CUT_BY_NUMPY = {
    "U": (str, "\0"),
    "S": (bytes, b"\0"),
}  # the cells of texts, and what NumPy cuts off

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
        sort, end = CUT_BY_NUMPY[kind]
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


def check_finite(data: Data, number: int, name: str) -> None:
    """Refuse a column with an infinite number; the tree that tests it needs the column."""
    if data.has_infinity(number):
        raise infinite(name)


def infinite(name: str, where: str = "", advice: str = "") -> ColumnError:
    """The error about a column with an infinite number."""
    return ColumnError(f"X must not contain infinity; {name} does{where}", name, advice)
