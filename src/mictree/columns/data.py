"""Reading matrices, sparse matrices and frames of data."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

FloatArray = np.typing.NDArray[np.float64]


class Data:
    """A matrix, sparse matrix or frame, read one column at a time.

    ``remember`` keeps every column that was read, for those who come back to it.
    """

    def __init__(self, X: Any, remember: bool = False) -> None:
        self.remember = remember
        self.frame: Any = None
        self.matrix: Any = None
        if hasattr(X, "tocsc"):
            self.matrix = X.tocsc()
        elif hasattr(X, "columns"):
            import narwhals

            self.frame = narwhals.from_native(X, eager_only=True)
        else:
            self.matrix = np.asarray(X)
        shape = self.frame.shape if self.frame is not None else self.matrix.shape
        if len(shape) != 2:
            raise ValueError(f"X must have two dimensions; its shape is {shape}")
        self.rows, self.width = (int(length) for length in shape)
        self._read: dict[int, FloatArray | list[Any]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names; ``x0``, ``x1``, ... where there are none."""
        if self.frame is not None:
            return tuple(str(name) for name in self.frame.columns)
        return tuple(f"x{number}" for number in range(self.width))

    @property
    def bytes(self) -> np.typing.NDArray[np.uint8] | None:
        """The matrix itself if it is of bytes, row after row, and so may be packed as it is."""
        matrix = self.matrix
        if not isinstance(matrix, np.ndarray) or matrix.dtype not in (np.uint8, np.bool_):
            return None
        return matrix.view(np.uint8) if matrix.flags.c_contiguous else None

    def is_boolean(self, number: int) -> bool:
        """Whether a frame says that the column holds True and False."""
        return self.frame is not None and str(self.frame.schema.dtypes()[number]) == "Boolean"

    def column(self, number: int) -> FloatArray | list[Any]:
        """Numbers as floats with NaN where missing, or categories as a list with None."""
        if number not in self._read:
            self._read = {**(self._read if self.remember else {}), number: self._column(number)}
        return self._read[number]

    def _column(self, number: int) -> FloatArray | list[Any]:
        if self.frame is not None:
            return self._frame_column(number)
        if not isinstance(self.matrix, np.ndarray):
            column = np.zeros(self.rows)
            part = slice(self.matrix.indptr[number], self.matrix.indptr[number + 1])
            np.add.at(column, self.matrix.indices[part], self.matrix.data[part])
            return column
        column = self.matrix[:, number]
        if column.dtype.kind in "OUS":
            return _read_objects(column.tolist(), f"x{number}")
        if column.dtype.kind not in "biuf":
            raise ValueError(f"X must hold numbers, texts or booleans; its type is {column.dtype}")
        return column.astype(float)

    def _frame_column(self, number: int) -> FloatArray | list[Any]:
        name = self.frame.columns[number]
        series = self.frame[:, number]
        kind = series.dtype
        if kind.is_numeric() or str(kind) == "Boolean":
            import narwhals

            values = series.cast(narwhals.Float64).to_numpy()
            return np.array(values, dtype=float, copy=True)
        text = str(kind)
        if text.startswith(("String", "Categorical", "Enum", "Object")):
            values = series.to_list()
            if text.startswith(("Categorical", "Enum")):
                return [None if is_missing(value) else value for value in values]
            return _read_objects(values, str(name))
        if series.null_count() == len(series):  # polars' type Null: nothing but missing values
            return np.full(len(series), math.nan)
        raise ValueError(f"a column must hold numbers, texts or booleans; {name} has {text}")


def is_missing(value: Any) -> bool:
    """Whether a cell holds None, NaN or pandas' NA."""
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ == "NAType"
    )


def _read_objects(values: list[Any], name: str) -> FloatArray | list[Any]:
    """Python objects, all numbers or all texts, as a column."""
    cleaned = [None if is_missing(value) else value for value in values]
    kinds = {type(value) for value in cleaned if value is not None}
    for kind in kinds:
        if not issubclass(kind, Real | np.generic | str):
            raise TypeError(
                f"a cell's argument must be a string or a real number; {name} has a {kind.__name__}"
            )
    texts = {kind for kind in kinds if issubclass(kind, str)}
    if kinds and kinds == texts:
        return cleaned
    if texts:
        raise ValueError(f"a column must hold numbers or texts, not both; {name} holds both")
    return np.array([math.nan if value is None else float(value) for value in cleaned])
