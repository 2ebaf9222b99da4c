"""Held-out rows: how they are chosen, and the errors on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mictree._support.checks import check_size, check_unmasked
from mictree.columns.arrays import read_array
from mictree.estimators.sizes import check_after, rank_moments, time_folds
from mictree.problems.labels import Coded

IN_TIME = "cross-validation in order of time"
OPTIMAL = "optimal"  # the name of the optimal trees beside those of the learners

FloatArray = np.typing.NDArray[np.float64]
RowNumbers = np.typing.NDArray[np.intp]


@dataclass(frozen=True)
class HeldOut:
    """Errors on held-out rows, by fold and size.

    Attributes
    ----------
    errors : an array of (folds, sizes); with a scoring, the scores times -1, so that less is better
    ratio : held-out rows per training row
    scored : whether there is a scoring
    """

    errors: FloatArray
    ratio: float
    scored: bool = False

    @property
    def mean(self) -> FloatArray:
        """The mean of ``errors`` over all folds, by size."""
        return self.errors.mean(axis=0)

    @property
    def shown(self) -> FloatArray:
        """The mean error, or with a scoring the mean score, by size."""
        return -self.mean if self.scored else self.mean

    def less(self, other: HeldOut) -> tuple[FloatArray, FloatArray]:
        """The mean, over folds, of these errors minus the other's, and its standard error.

        Folds share training rows, so the variance of the mean is larger than for independent folds
        (Nadeau and Bengio, Inference for the Generalization Error, 2003).
        """
        apart = self.errors - other.errors
        variance = apart.var(axis=0, ddof=1) * (1 / len(apart) + self.ratio)
        return apart.mean(axis=0), np.sqrt(variance)


@dataclass(frozen=True)
class Plan:
    """The folds of a comparison.

    Attributes
    ----------
    folds : training and held-out rows of each
    each : the number of folds of one cross-validation
    repeats : the number of cross-validations
    splitter : the name of a scikit-learn splitter, ``IN_TIME`` or nothing
    """

    folds: tuple[tuple[RowNumbers, RowNumbers], ...] = ()
    each: int = 0
    repeats: int = 1
    splitter: str = ""

    def __len__(self) -> int:
        return len(self.folds)

    @property
    def ratio(self) -> float:
        """Held-out rows per training row."""
        if not self.splitter:
            return 1 / (self.each - 1) if self.each else 0.0
        return float(np.mean([len(test) / len(train) for train, test in self.folds]))


def plan_folds(
    X: Any, coded: Coded, cv: Any, repeats: int, groups: Any, seed: int, after: Any = None
) -> Plan:
    """Folds in which classes are in proportion, or in order of time, or those of a splitter."""
    check_folds(cv, repeats, seed)
    if after is not None:
        check_after(cv, 1, groups)
        ranks = rank_moments(after, len(coded.codes))
        return Plan(tuple(time_folds(ranks, cv)), int(cv), 1, IN_TIME) if cv else Plan()
    times, rows = int(repeats), len(coded.codes)
    members = None if groups is None else np.asarray(check_unmasked(groups, "groups"))
    if members is not None and members.shape != (rows,):
        raise ValueError(f"groups must be one value a row; its shape is {members.shape}")
    if hasattr(cv, "split"):
        labels = read_array(coded.classes)[coded.codes]
        return _check_plan(cv.split(X, labels, members), type(cv).__name__, rows)
    if cv == 0:
        return Plan()
    if members is not None:
        return Plan(_grouped_folds(coded, cv, times, members, int(seed)), cv, times)
    counts = np.bincount(coded.codes, minlength=len(coded.classes))
    label, count = coded.classes[int(counts.argmin())], int(counts.min())
    if count < min(cv, 2):
        raise ValueError(f"cv must be 0 if a class has a single row, as {label!r} has; got {cv}")
    if count < cv:
        raise ValueError(
            f"cv must be 0 or from 2 to the number of rows of the rarest class; {label!r} has "
            f"{count}; got {cv}"
        )
    return Plan(tuple(folds(coded, cv, times, seed)), cv, times)


def check_folds(cv: Any, repeats: Any, seed: Any) -> None:
    """Refuse folds that no rows could have."""
    if check_size(repeats, "repeats") == 0:
        raise ValueError("repeats must be at least 1; got 0")
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise ValueError(f"random_state must be an integer from 0 to 2**32 - 1; got {seed!r}")
    if not hasattr(cv, "split") and check_size(cv, "cv") == 1:
        raise ValueError("cv must be 0 or at least 2; got 1")


def _check_plan(splits: Any, name: str, rows: int) -> Plan:
    """The folds of a splitter of one's own."""
    found = []
    for train, test in splits:
        if not len(train) or not len(test):
            raise ValueError(
                f"every fold must have rows to learn from and held-out ones; fold {len(found) + 1} "
                f"of {name} has {len(train)} and {len(test)}"
            )
        found.append((np.arange(rows)[train], np.arange(rows)[test]))
    if len(found) < 2:
        raise ValueError(f"cv must give at least 2 folds; {name} gives {len(found)}")
    return Plan(tuple(found), len(found), 1, name)


def _grouped_folds(
    coded: Coded, cv: int, times: int, groups: np.ndarray, seed: int
) -> tuple[tuple[RowNumbers, RowNumbers], ...]:
    """Folds that cut no group, classes in proportion as far as groups allow."""
    from sklearn.model_selection import StratifiedGroupKFold

    count = len(np.unique(groups))
    if cv > count:
        raise ValueError(f"cv must be at most the number of groups, {count}; got {cv}")
    rows = np.zeros((len(groups), 1))
    found = []
    with warnings.catch_warnings():  # a class in fewer groups than folds is missing from some
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for number in range(times):
            splitter = StratifiedGroupKFold(cv, shuffle=True, random_state=(seed + number) % 2**32)
            found += list(splitter.split(rows, coded.codes, groups))
    return tuple(found)


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
        X = read_array(X)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    return _safe_indexing(X, rows)
