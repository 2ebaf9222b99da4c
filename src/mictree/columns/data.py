"""Reading matrices, sparse matrices and frames of data."""

from __future__ import annotations

import math
from datetime import time
from decimal import Decimal
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any

import numpy as np

WHOLE = 2**53  # every integer up to this is a 64-bit float; from here on some are rounded
# types that are never rounded
FLOATS = ("bool", "boolean", "float16", "float32", "float64", "date", "time")

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
        if hasattr(X, "tocsc"):
            self.matrix = X.tocsc()
        elif hasattr(X, "columns"):
            import narwhals

            # refuses a frame in which a name occurs twice
            self.frame = narwhals.from_native(X, eager_only=True)
        else:
            self.matrix = read_array(X)
        shape = self.frame.shape if self.frame is not None else self.matrix.shape
        if len(shape) != 2:
            raise ValueError(f"X must have two dimensions; its shape is {shape}")
        self.rows: int
        self.width: int
        self.rows, self.width = (int(length) for length in shape)
        self._read: dict[int, FloatArray | list[Any]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names; ``x0``, ``x1``, ... if they have none."""
        if self.frame is not None:
            return tuple(str(name) for name in self.frame.columns)
        return unnamed(self.width)

    @property
    def bytes(self) -> np.typing.NDArray[np.uint8] | None:
        """The matrix itself if it holds bytes in C order, ready to be packed."""
        matrix = self.matrix
        if not isinstance(matrix, np.ndarray) or matrix.dtype not in (np.uint8, np.bool_):
            return None
        return matrix.view(np.uint8) if matrix.flags.c_contiguous else None

    def kind(self, number: int) -> str:
        """The type of a column as one word in small letters: "boolean", "date", "float64", ..."""
        return self._kinds[number if self.frame is not None else 0]

    @cached_property
    def _kinds(self) -> list[str]:
        """Of all columns of a frame, or of a matrix."""
        if self.frame is not None:
            kinds = self.frame.schema.dtypes()
            return [str(kind).partition("(")[0].lower() for kind in kinds]
        kind = self.matrix.dtype
        return [{"M": "datetime", "m": "duration"}.get(kind.kind, str(kind))]

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
        values = self.frame[:, number].to_numpy()
        return values if values.dtype.kind in "biu" else None

    def merged(self, number: int) -> tuple[Any, Any] | None:
        """Two different numbers of a column that round to one 64-bit float, if there are any."""
        numbers = self.column(number)
        if self.kind(number) in ("datetime", "duration"):
            return self._merged_times(number)
        kind = self.kind(number)
        if isinstance(numbers, list) or kind in FLOATS:
            return None
        if "int" in kind and not np.any(np.abs(numbers) >= WHOLE):
            return None
        if self.frame is not None:
            cells = self.frame[:, number].to_list()
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
        merged = np.flatnonzero(np.diff(_microseconds(times)[first]) == 0)
        if not len(merged):
            return None
        one, other = times[first[merged[0]]], times[first[merged[0] + 1]]
        return None if np.isnat(one) or np.isnat(other) else (one, other)

    def _times(self, number: int) -> np.typing.NDArray[Any]:
        return (
            self.frame[:, number].to_numpy()
            if self.frame is not None
            else self.matrix[:, number].copy()
        )

    def _column(self, number: int) -> FloatArray | list[Any]:
        if self.frame is not None:
            return self._frame_column(number)
        column = self._matrix_column(number)
        if column.dtype.kind in "mM":
            return _microseconds(column)
        if column.dtype.kind not in "biufOUS":
            raise ValueError(f"X must hold numbers, texts or booleans; its type is {column.dtype}")
        if column.dtype.kind in "OUS" or column.dtype.itemsize > 8:  # numpy's longdouble
            return _read_objects(column.tolist(), f"x{number}")
        return column.astype(float)

    def _matrix_column(self, number: int) -> np.typing.NDArray[Any]:
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[:, number]
        column = np.zeros(self.rows, dtype=self.matrix.dtype)
        part = slice(self.matrix.indptr[number], self.matrix.indptr[number + 1])
        np.add.at(column, self.matrix.indices[part], self.matrix.data[part])
        return column

    def _frame_column(self, number: int) -> FloatArray | list[Any]:
        name = self.frame.columns[number]
        series = self.frame[:, number]
        kind = series.dtype
        if str(kind).startswith("Decimal") and not series.implementation.is_polars():
            return _read_objects(series.to_list(), str(name))  # pyarrow does not round to nearest
        if kind.is_numeric() or str(kind) == "Boolean":
            import narwhals

            try:
                values = series.cast(narwhals.Float64).to_numpy()
            except ValueError:  # pyarrow rounds no integers
                return _read_objects(series.to_list(), str(name))
            return np.array(values, dtype=float, copy=True)
        text = str(kind)
        if text.startswith(("String", "Categorical", "Enum", "Object")):
            values = series.to_list()
            if text.startswith(("Categorical", "Enum")):
                return [None if is_missing(value) else value for value in values]
            return _read_objects(values, str(name))
        if text.startswith(("Date", "Duration")):  # also Datetime
            return _microseconds(series.to_numpy())
        if text == "Time":
            return np.array([_of_day(value) for value in series.to_list()], dtype=float)
        if series.null_count() == len(series):  # polars' type Null: nothing but missing values
            return np.full(len(series), math.nan)
        raise ValueError(
            f"a column must hold numbers, texts, booleans, dates or times; {name} has {text}"
        )


@lru_cache(32)
def unnamed(count: int) -> tuple[str, ...]:
    """The names of columns that have none."""
    return tuple(f"x{number}" for number in range(count))


def read_array(values: Any) -> np.typing.NDArray[Any]:
    """Convert to an array as numpy does, unless that would change a list's cells.

    numpy would convert numbers beside texts to texts, and large integers beside floats to floats.
    """
    array = np.asarray(values)
    kind = array.dtype.kind
    if hasattr(values, "__array__") or kind not in "USf":
        return array
    if kind == "f" and not np.any(np.abs(array) >= WHOLE):
        return array
    cells = np.array(values, dtype=object)
    unchanged = float if kind == "f" else str if kind == "U" else bytes
    return array if all(isinstance(cell, unchanged) for cell in cells.flat) else cells


def is_missing(value: Any) -> bool:
    """Whether a cell holds None, NaN or pandas' NA."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ == "NAType"
    )


def _microseconds(times: np.typing.NDArray[Any]) -> FloatArray:
    """Dates and times since 1970, or durations, with NaN where missing."""
    unit, count = np.datetime_data(times.dtype)
    missing = np.isnat(times)
    if unit in ("ns", "ps", "fs", "as"):
        ticks = times.view(np.int64) * (count / {"ns": 1e3, "ps": 1e6, "fs": 1e9, "as": 1e12}[unit])
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


def _of_day(value: time | None) -> float:
    if value is None:
        return math.nan
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1e6 + value.microsecond


def _read_objects(values: list[Any], name: str) -> FloatArray | list[Any]:
    """Python objects, all numbers or all texts, as a column."""
    cleaned = [None if is_missing(value) else value for value in values]
    kinds = {type(value) for value in cleaned if value is not None}
    for kind in kinds:
        if not issubclass(kind, Real | Decimal | np.bool_ | str):
            raise TypeError(
                f"a cell's argument must be a string or a real number; {name} has a {kind.__name__}"
            )
    texts = {kind for kind in kinds if issubclass(kind, str)}
    if kinds and kinds == texts:
        return cleaned
    if texts:
        raise ValueError(f"a column must hold numbers or texts, not both; {name} holds both")
    return np.array([math.nan if value is None else _as_float(value, name) for value in cleaned])


def _as_float(value: Any, name: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number) and -math.inf < value < math.inf:
        digits = value.adjusted() if isinstance(value, Decimal) else math.log10(abs(int(value)))
        about = f"{'-' if value < 0 else ''}10**{digits:.0f}"
        raise ValueError(f"a number must lie within 64-bit floats; {name} has one of about {about}")
    return number
