"""Dask DataFrames and Arrays as partitions of rows; importing this module does not import Dask."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mictree._support.sums import exact_sums
from mictree.distributed.cluster import Cluster
from mictree.problems.labels import NO_WEIGHT, as_weights


def is_collection(values: Any) -> bool:
    """Whether an object is a Dask collection; without Dask imported, none can be."""
    base = sys.modules.get("dask.base")
    return base is not None and bool(base.is_dask_collection(values))


def is_frame(values: Any) -> bool:
    """Whether a collection is a frame or a series."""
    return hasattr(values, "npartitions") and hasattr(values, "map_partitions")


@dataclass(frozen=True)
class Partitions:
    """The rows of a fit.

    Attributes
    ----------
    rows : for each partition X, y and sample_weight, the last one None if there are no weights:
        delayed objects, or one such object of all three
    weighted : whether there are weights
    names : of the columns; None for an array
    width : the number of columns
    kind : the type of an array's cells; None for a frame
    """

    rows: list[Any]
    weighted: bool
    names: tuple[str, ...] | None
    width: int
    kind: np.dtype[Any] | None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> Partitions:
        """Check that all arguments are collections with the same partitions."""
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        for name, values in given.items():
            if values is not None and not is_collection(values):
                raise TypeError(
                    f"X, y and sample_weight must all be Dask collections if one is; "
                    f"{name} is a {type(values).__name__}"
                )
        if len(X.shape if not is_frame(X) else (0, 0)) != 2:
            raise ValueError(f"X must have two dimensions; its shape is {X.shape}")
        y, sample_weight = (
            None if given[name] is None else _cut_alike(X, given[name], name)
            for name in ("y", "sample_weight")
        )
        names = tuple(str(name) for name in X.columns) if is_frame(X) else None
        return cls(
            _rows_of(X, y, sample_weight),
            sample_weight is not None,
            names,
            len(X.columns) if is_frame(X) else int(X.shape[1]),
            None if is_frame(X) else X.dtype,
        )


def _cut_alike(X: Any, values: Any, name: str) -> Any:
    """An array cut into the chunks of X, if their lengths are known."""
    if not is_frame(values) and values.ndim != 1:
        raise ValueError(f"{name} must have one dimension; its shape is {values.shape}")
    if is_frame(values) and hasattr(values, "columns") and len(values.shape) == 2:
        raise ValueError(f"{name} must have one dimension; it is a frame")
    if is_frame(values) or is_frame(X) or values.chunks[0] == X.chunks[0]:
        return values
    lengths = [*values.chunks[0], *X.chunks[0]]
    return values if any(np.isnan(lengths)) else values.rechunk((X.chunks[0],))


def _rows_of(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """The rows of each partition."""
    given = {"X": X, "y": y, "sample_weight": sample_weight}
    present = {name: values for name, values in given.items() if values is not None}
    if _have_one_source(*present.values()):
        # one expression, so that Dask reads only the columns that are used, and all of them once
        both = X.map_partitions(
            _together, y, sample_weight, meta=(None, "object"), enforce_metadata=False
        )
        return list(both.to_delayed())
    parts = {name: _delayed(values) for name, values in present.items()}
    count = len(parts["X"])
    for name, found in parts.items():
        if len(found) != count:
            raise ValueError(
                f"X and {name} must have as many partitions; they have {count} and "
                f"{len(found)}: repartition one of them"
            )
    nothing = [None] * count
    return list(zip(parts["X"], parts["y"], parts.get("sample_weight", nothing), strict=True))


def _have_one_source(*collections: Any) -> bool:
    """Whether frames and series are computed from one, partition by partition."""
    if not all(map(is_frame, collections)):
        return False
    from dask.dataframe.dask_expr._expr import are_co_aligned

    return are_co_aligned(*(each.expr for each in collections))


def _together(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    return X, y, sample_weight


def _delayed(values: Any) -> list[Any]:
    """One delayed object for each partition of rows."""
    if is_frame(values):
        # optimized, a frame of few columns may have fewer partitions than it says
        return list(values.to_delayed(optimize_graph=False))
    if values.ndim == 2:
        values = values.rechunk({1: -1})
    return list(values.to_delayed().ravel())


def check_lengths(partition: tuple[Any, Any, Any], number: int) -> None:
    """Refuse a partition whose X, y and weights have different numbers of rows."""
    X, y, sample_weight = partition
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None and len(values) != len(X):
            raise ValueError(
                f"X and {name} must have as many rows in every partition; partition {number} has "
                f"{len(X)} and {len(values)}"
            )


def share_of_rows(
    function: Callable[[Any, Any], np.ndarray], X: Any, y: Any, sample_weight: Any = None
) -> float:
    """The share of the rows, by weight, for which a function of X and y holds: one pass.

    Every partition is counted where it lies; only two exact numbers of each travel, so the share
    depends on no order.
    """
    parts = Partitions.of(X, y, sample_weight).rows
    bundles = [[(rows, number)] for number, rows in enumerate(parts)]
    held, total = Cluster().reduce(_count_held, _add_pairs, bundles, function)
    if not total:
        raise ValueError(NO_WEIGHT if sample_weight is not None else "there must be a row; X has 0")
    return float(Fraction(held, total))


def _count_held(part: tuple[Any, int], function: Callable[..., np.ndarray]) -> tuple[int, int]:
    """The weight of the rows of a partition for which a function holds, and of all, exactly."""
    (X, y, sample_weight), number = part
    check_lengths((X, y, sample_weight), number)
    if not len(X):
        return 0, 0
    holds = np.asarray(function(X, y), dtype=np.int64)
    if sample_weight is None:
        return int(holds.sum()), len(holds)
    rest, held = exact_sums(as_weights(sample_weight, len(holds)), holds, 2)
    return held, rest + held


def _add_pairs(pairs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(held for held, _ in pairs), sum(total for _, total in pairs)


def map_rows(function: Callable[[Any], np.ndarray], X: Any, like: np.ndarray) -> Any:
    """A collection with what a function of rows gives for each partition.

    ``like`` is what it gives for no rows: an array of one or two dimensions. A frame of one
    dimension gives a series with the index of X, everything else an array.
    """
    import dask.array

    if is_frame(X) and like.ndim == 1:
        meta = _as_series(X._meta, function, like)
        return X.map_partitions(_as_series, function, like, meta=meta, token="mictree")
    if is_frame(X):
        _check_delayed(X)
        found = X.map_partitions(_not_empty, function, like, meta=like)
        lengths = _known_lengths(X)
        if lengths is not None:
            found._chunks = lengths, (like.shape[1],)  # as Dask's compute_chunk_sizes sets them
        return found
    whole = X.rechunk({1: -1})
    chunks = (whole.chunks[0],) if like.ndim == 1 else (whole.chunks[0], (like.shape[1],))
    return dask.array.map_blocks(
        _not_empty, whole, function, like, dtype=like.dtype, chunks=chunks,
        drop_axis=1 if like.ndim == 1 else None, meta=like,
    )  # fmt: skip


def _known_lengths(X: Any) -> tuple[int, ...] | None:
    """The rows of each partition of a frame, if Dask can tell without reading a file."""
    from dask.dataframe.dask_expr._expr import Lengths, Literal
    from dask.dataframe.dask_expr._expr import Partitions as ChosenPartitions
    from dask.dataframe.dask_expr.io.io import FromPandas

    for part in X.expr.walk():
        source = not part.dependencies()
        # of Parquet files Dask would read the end; and it mistakes the order of chosen partitions
        if isinstance(part, ChosenPartitions) or (source and not isinstance(part, FromPandas)):
            return None
        if isinstance(part, FromPandas) and part._filtered:
            return None
    found = Lengths(X.expr).simplify()
    lengths = found.operand("value") if isinstance(found, Literal) else ()
    return lengths if len(lengths) == X.npartitions else None


def _check_delayed(X: Any) -> None:
    """Refuse frames whose graph Dask cannot turn into an array's; ``X.values`` fails as well."""
    for part in X.expr.walk():
        if type(part).__name__ == "FromDelayed" and not part.operand("verify_meta"):
            raise ValueError(
                "Dask makes no array of a frame from dd.from_delayed(..., verify_meta=False); "
                "make it with verify_meta=True or by dd.from_map"
            )


def _not_empty(rows: Any, function: Callable[[Any], np.ndarray], like: np.ndarray) -> np.ndarray:
    return function(rows) if len(rows) else like


def _as_series(rows: Any, function: Callable[[Any], np.ndarray], like: np.ndarray) -> Any:
    return rows._constructor_sliced(_not_empty(rows, function, like), index=rows.index)
