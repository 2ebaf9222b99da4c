"""X and y as scikit-learn reads them, except that frames and texts stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from mictree._support.checks import check_unmasked
from mictree.columns.arrays import read_array
from mictree.columns.data import Data, check_loaded, is_missing
from mictree.distributed.collections import is_collection, is_frame
from mictree.problems.labels import Coded


class Reading(BaseEstimator):
    """An estimator that remembers the columns of the X it was fitted on."""

    n_features_in_: int

    def _note_columns(self, X: Any) -> None:
        """Set the attributes that scikit-learn has for the columns of a fit on a collection."""
        if is_frame(X):
            validate_data(self, X=X._meta, reset=True, skip_check_array=True)  # type: ignore[arg-type]
            return
        self.n_features_in_ = int(X.shape[1])
        vars(self).pop("feature_names_in_", None)

    def _read(self, X: Any, reset: bool) -> Data:
        """Check X as scikit-learn does, but leave frames and texts as they are."""
        if is_collection(X):
            raise TypeError(
                "only fit of greedy trees, predict, predict_proba and score take Dask "
                f"collections; call X.compute() first to use {type(self).__name__} otherwise"
            )
        check_loaded(X)
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biu" and X.size:
            if reset:  # nothing here can fail; skipping check_array makes small fits faster
                self.n_features_in_ = X.shape[1]
                vars(self).pop("feature_names_in_", None)
                return Data(X)
            if X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
                return Data(X)
        if hasattr(X, "columns") and not hasattr(X, "tocsc"):
            data = Data(X, remember=not reset)
            validate_data(self, X=X, reset=reset, skip_check_array=True)  # type: ignore[arg-type]
            if not data.rows or not data.width:
                raise ValueError(
                    f"Found array with {data.rows} sample(s) and {data.width} feature(s) "
                    f"(shape=({data.rows}, {data.width})) while a minimum of 1 is required."
                )
            return data
        # a column is learned, or tested, only if it is finite; the error names one that is not
        options: dict[str, Any] = {"accept_sparse": "csc", "ensure_all_finite": False}
        if isinstance(X, np.ma.MaskedArray) or not hasattr(X, "__array__"):
            X = X if hasattr(X, "tocsc") else read_array(X)
        if getattr(getattr(X, "dtype", None), "kind", None) in ("O", "U", "S"):
            options = {"dtype": None, "ensure_all_finite": False}
        checked = validate_data(self, X=X, reset=reset, **options)  # type: ignore[arg-type]
        return Data(checked, remember=not reset)


def read_labels(y: Any, rows: int) -> tuple[np.ndarray, Coded]:
    """The classes, and each label's position among them."""
    y = as_labels(y)
    plain = type(y) is np.ndarray and y.ndim == 1
    labels = y if plain else column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y must not contain NaN or infinity")
    if len(labels) != rows:
        check_consistent_length(np.empty(rows), labels)
    classes, codes = Coded.positions(labels)
    if labels.dtype.kind not in "biu":
        check_classification_targets(labels)
    return classes, Coded(tuple(classes.tolist()), codes)


def as_labels(y: Any) -> Any:
    """Labels as given, lists as arrays; integers and Booleans of pandas' own types as NumPy's."""
    if isinstance(y, list | tuple):
        return read_array(y)
    kind = getattr(y, "dtype", None)
    own = getattr(kind, "kind", None) in ("b", "i", "u") and not isinstance(kind, np.dtype)
    if own and not y.isna().any():  # scikit-learn would make floats of them
        return read_array(y.tolist())
    return check_unmasked(y, "y")


def check_present(y: Any, labels: np.ndarray) -> None:
    """Refuse labels of which one is missing; ``labels`` are those of y as an array."""
    if hasattr(y, "isna"):
        missing = bool(y.isna().any())
    elif labels.dtype.kind == "O":
        missing = any(is_missing(label) or label != label for label in labels)
    else:
        missing = labels.dtype.kind in "fcmM" and bool(np.any(labels != labels))
    if missing:
        raise ValueError("y must not contain missing values")
