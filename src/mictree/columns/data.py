"""Reading matrices, sparse matrices and frames of data."""

from __future__ import annotations

import math
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any

import numpy as np

from mictree._support.checks import ColumnError
from mictree.columns.arrays import WHOLE, read_array
from mictree.columns.header import check_header
from mictree.columns.series import as_named, has_unnamed, kind_of, microseconds, microseconds_of_day

# types that are never rounded
FLOATS = ("bool", "boolean", "float16", "float32", "float64", "date", "time")

MOMENTS = (date, time, timedelta, np.datetime64, np.timedelta64)  # of Python and NumPy
HELD = {"bytes": "bytes", "bytes_": "bytes", "complex": "complex numbers"}  # in errors

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
        return has_unnamed(self.frame)

    def _series(self, number: int) -> Any:
        series = self.frame[:, number]
        return as_named(series) if self._unnamed else series

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
            return microseconds_of_day(series)
        if series.null_count() == len(series):  # polars' type Null: nothing but missing values
            return np.full(len(series), math.nan)
        native = series.to_native()
        held = getattr(native, "dtype", None) or getattr(native, "type", kind)
        raise unreadable(str(name), held)


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
        if issubclass(kind, MOMENTS) or not issubclass(kind, Real | Decimal | np.bool_ | str):
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
    held = HELD.get(word) or (f"{word}s" if word[-1].isalpha() else f"{word} values")
    advice = "a column must hold numbers, texts, booleans, dates or times"
    if issubclass(kind, bytes):
        advice = "decode them to texts"
    elif issubclass(kind, MOMENTS):
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
