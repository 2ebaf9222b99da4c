"""Random tables, and the same tables cut into the partitions of Dask collections."""

from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from hypothesis import strategies as st

WEIGHTS = (None, (0.0, 1.0, 2.0), (0.1, 0.25, 3.0), (1 / 3, 1 / 7, 0.0, 5.0), (1.0,), (1e-9, 1.0))


@dataclass(frozen=True)
class Table:
    """Rows, and the rows at which partitions end."""

    X: Any  # a frame or an array
    y: np.ndarray
    weights: np.ndarray | None
    ends: tuple[int, ...]

    def cut(self) -> tuple[Any, Any, Any]:
        """X, y and weights as collections."""
        weights = None if self.weights is None else self._series(self.weights)
        if isinstance(self.X, pd.DataFrame):
            parts = [delayed(self.X.iloc[rows]) for rows in self._slices]
            return dd.from_delayed(parts, meta=self.X.iloc[:0]), self._series(self.y), weights
        arrays = [da.from_array(self.X[rows]) for rows in self._slices]
        return da.concatenate(arrays), self._series(self.y), weights

    def _series(self, values: np.ndarray) -> Any:
        if isinstance(self.X, pd.DataFrame):
            series = pd.Series(values)
            parts = [delayed(series.iloc[rows]) for rows in self._slices]
            return dd.from_delayed(parts, meta=series.iloc[:0])
        return da.concatenate([da.from_array(values[rows]) for rows in self._slices])

    @property
    def _slices(self) -> list[slice]:
        return [slice(a, b) for a, b in zip((0, *self.ends[:-1]), self.ends, strict=True)]


@st.composite
def tables(draw) -> Table:
    """Bits, numbers, dates and categories; classes; weights; 1 to 7 partitions, some empty."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(2, 60))
    kind = draw(st.sampled_from(["bytes", "numbers", "frame", "frame"]))
    width = draw(st.integers(1, 4))
    if kind == "bytes":
        X: Any = rng.integers(0, 2, (rows, width)).astype(np.uint8)
    elif kind == "numbers":
        X = np.stack([_numbers(draw, rng, rows) for _ in range(width)], axis=1)
    else:
        makers = [_numbers, _dates, _categories, _flags, _levels]
        chosen = [draw(st.sampled_from(makers)) for _ in range(width)]
        X = pd.DataFrame({f"c{n}": make(draw, rng, rows) for n, make in enumerate(chosen)})
    labels = draw(st.sampled_from([(0, 1), ("no", "yes"), ("a", "b", "c"), (3, 5, 8)]))
    y = np.array(labels)[rng.integers(0, len(labels), rows)]
    weights = draw(st.sampled_from(WEIGHTS))
    given = None if weights is None else np.array(weights)[rng.integers(0, len(weights), rows)]
    if given is not None and not given.any():
        given[0] = 1.0
    inner = draw(st.lists(st.integers(0, rows), max_size=6))
    return Table(X, y, given, (*sorted(inner), rows))


def _numbers(draw, rng, rows):
    values = rng.choice([-1.5, 0.0, 0.25, 2.0, 7.0], rows)
    if draw(st.booleans()):
        values = np.round(rng.normal(size=rows), 2)
    if draw(st.booleans()):
        values[rng.random(rows) < 0.2] = np.nan
    return values


def _dates(draw, rng, rows):
    days = pd.to_timedelta(rng.integers(0, 9, rows), "D")
    return pd.Series(pd.Timestamp("2020-02-27") + days)


def _categories(draw, rng, rows):
    missing = [None] if draw(st.booleans()) else []
    return pd.Series(rng.choice(np.array(["red", "green", "blue", *missing], object), rows))


def _flags(draw, rng, rows):
    return rng.random(rows) < 0.5


def _levels(draw, rng, rows):
    sizes = pd.CategoricalDtype(["small", "middle", "large"], ordered=True)
    return pd.Series(rng.choice(sizes.categories.to_numpy(), rows)).astype(sizes)
