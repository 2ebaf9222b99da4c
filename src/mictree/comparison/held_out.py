"""Errors on held-out rows: which rows are held out, and what the errors tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mictree._support.checks import check_size
from mictree.problems.labels import Coded

FloatArray = np.typing.NDArray[np.float64]
RowNumbers = np.typing.NDArray[np.intp]


@dataclass(frozen=True)
class HeldOut:
    """Errors on held-out rows, by fold and size."""

    errors: FloatArray  # (folds, sizes)
    ratio: float  # held-out rows per training row

    @property
    def mean(self) -> FloatArray:
        """The mean over all folds, by size."""
        return self.errors.mean(axis=0)

    def less(self, other: HeldOut) -> tuple[FloatArray, FloatArray]:
        """The mean of this less the other's errors, fold by fold, and its standard error.

        Folds share training rows, so the variance of a mean is larger than for independent ones
        (Nadeau and Bengio, Inference for the Generalization Error, 2003).
        """
        apart = self.errors - other.errors
        variance = apart.var(axis=0, ddof=1) * (1 / len(apart) + self.ratio)
        return apart.mean(axis=0), np.sqrt(variance)


def check_folds(coded: Coded, cv: int, repeats: int, seed: int) -> int:
    """The number of folds of a repeated cross-validation; 0 without one."""
    check_size(cv, "cv")
    if cv == 1:
        raise ValueError("cv must be 0 or at least 2; got 1")
    if check_size(repeats, "repeats") == 0:
        raise ValueError("repeats must be at least 1; got 0")
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise ValueError(f"random_state must be an integer from 0 to 2**32 - 1; got {seed!r}")
    counts = np.bincount(coded.codes, minlength=len(coded.classes))
    for label, count in zip(coded.classes, counts, strict=True):
        if count < cv:
            raise ValueError(
                f"every class must have a row in each of {cv} folds; {label!r} has {count}: "
                "use a smaller cv, or cv=0"
            )
    return cv * repeats


def folds(
    coded: Coded, cv: int, repeats: int, seed: int
) -> Iterator[tuple[RowNumbers, RowNumbers]]:
    """Training and held-out rows of each fold, classes in proportion."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    chosen = RepeatedStratifiedKFold(n_splits=cv, n_repeats=repeats, random_state=seed)
    return chosen.split(np.empty((len(coded.codes), 0)), coded.codes)


def take_rows(X: Any, rows: RowNumbers) -> Any:
    """Some rows of a matrix, a sparse matrix or a frame."""
    from sklearn.utils import _safe_indexing

    if not hasattr(X, "shape") and not hasattr(X, "columns"):
        X = np.asarray(X)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    return _safe_indexing(X, rows)
