"""The base of all tree estimators: reading X and y, predicting, exporting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from mictree._support.checks import check_size
from mictree.columns.data import Data, read_array
from mictree.columns.literals import Literals
from mictree.estimators import exports
from mictree.growers.data_loop import Splitting
from mictree.problems.labels import Coded, check_whole_weights
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from sklearn.tree import DecisionTreeClassifier

FloatArray = np.typing.NDArray[np.float64]


class TreeClassifier(ClassifierMixin, BaseEstimator, ABC):
    """The methods of a fitted tree; subclasses define ``fit``."""

    classes_: np.ndarray
    n_features_in_: int
    _problem: SampleProblem
    _splitting: Splitting
    _max_size: int | None  # as fitted; None if the tree was grown until no leaf could be split

    @abstractmethod
    def at_size(self, size: int) -> Self:
        """A copy that predicts with the tree of a size, as if fitted with that ``max_size``."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def predict(self, X: Any, size: int | None = None) -> np.ndarray:
        """The most likely class of each row, from the tree of full or of the given size."""
        model = self._sized(size)
        return model.classes_[model._splitting.labels[model._leaves(X)]]

    def predict_proba(self, X: Any, size: int | None = None) -> FloatArray:
        """The share of each class among the training rows of the leaf, weighted."""
        model = self._sized(size)
        masses = model._splitting.masses
        return (masses / masses.sum(axis=1, keepdims=True))[model._leaves(X)]

    def predict_log_proba(self, X: Any, size: int | None = None) -> FloatArray:
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, size))

    def apply(self, X: Any, size: int | None = None) -> np.typing.NDArray[np.intp]:
        """The number of the leaf, a node of ``tree_``, that each row reaches."""
        model = self._sized(size)
        return exports.preorder(model._splitting, model._made)[model._leaves(X)]

    def decision_path(self, X: Any, size: int | None = None) -> Any:
        """A sparse 0/1 matrix: the nodes of ``tree_`` that each row visits."""
        from scipy.sparse import csr_array

        model = self._sized(size)
        number = exports.preorder(model._splitting, model._made)
        visited = [
            np.array(sorted(number[node] for node in model._path(leaf)), dtype=np.intp)
            for leaf in range(len(number))
        ]
        paths = [visited[leaf] for leaf in model._leaves(X)]
        ends = np.concatenate([[0], np.cumsum([len(path) for path in paths])])
        columns = np.concatenate(paths)
        shape = (len(paths), 2 * model._made + 1)
        return csr_array((np.ones(len(columns), dtype=np.int64), columns, ends), shape=shape)

    def get_depth(self) -> int:
        """The number of tests on the longest path."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves, one more than the size."""
        check_is_fitted(self)
        return self._made + 1

    @property
    def literals_(self) -> Literals:
        """The literals that the tree may test."""
        return self._fitted("_problem").literals

    @property
    def tree_(self) -> Tree:
        """The tree of full size."""
        splitting = self._fitted("_splitting")
        return self._problem.tree(
            splitting.leaves.tolist(),
            splitting.literals.tolist(),
            splitting.exact_thresholds,
            splitting.labels.tolist(),
        )

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of each column in the drop of impurity; zeros for a lone leaf."""
        splitting = self._fitted("_splitting")
        drop = splitting.reaches[splitting.leaves] * splitting.gains
        columns = [self.literals_.locate(literal)[0] for literal in splitting.literals.tolist()]
        importances = np.bincount(columns, weights=drop, minlength=self.n_features_in_)
        total = importances.sum()
        return importances / total if total > 0 else np.zeros(self.n_features_in_)

    def to_sklearn(self, on: str = "columns") -> DecisionTreeClassifier:
        """A genuine ``DecisionTreeClassifier`` with the same predictions.

        Parameters
        ----------
        on : "columns": the result takes the columns that this classifier was fitted on, which must
            be numeric. "literals": it takes ``literals_.transform(X, tree_)``, so it supports
            categories.
        """
        check_is_fitted(self)
        return exports.to_sklearn(self, on)

    def to_text(self, size: int | None = None) -> str:
        """The tree as indented lines."""
        return self._sized(size).tree_.to_text(self._class_names)

    def to_rules(self, size: int | None = None) -> list[str]:
        """One line for each leaf: if ... then ..."""
        tree = self._sized(size).tree_
        return exports.to_rules(tree, self.literals_, self._class_names)

    def to_frame(self, size: int | None = None) -> polars.DataFrame:
        """A polars frame with a row for each node, in the order of ``tree_``."""
        model = self._sized(size)
        return exports.to_frame(model._splitting, model.tree_, self._class_names)

    def to_dot(self, size: int | None = None) -> str:
        """The tree in Graphviz' language."""
        return exports.to_dot(self._sized(size).tree_, self._class_names)

    def draw(self, ax: Axes | None = None, size: int | None = None) -> Axes:
        """Draw the tree with matplotlib, with the number of rows at every node."""
        model = self._sized(size)
        return exports.draw(ax, model._splitting, model.tree_, self._class_names)

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without the training rows and the thresholds that are not used."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if "_problem" in state:
            grown = [state["_splitting"], *state.get("_splittings", ())]
            used = {literal for splitting in grown for literal in splitting.literals.tolist()}
            literals, place = state["_problem"].literals.only(sorted(used))
            state["_problem"] = state["_problem"].without_rows(literals)
            for name, value in state.items():
                if name == "_splitting":
                    state[name] = value.renumbered(place)
                elif name == "_splittings":
                    state[name] = [splitting.renumbered(place) for splitting in value]
        return state

    @property
    def _class_names(self) -> list[str]:
        return [str(label) for label in self.classes_]

    def _fitted(self, name: str) -> Any:
        if name not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.__dict__[name]

    @property
    def _made(self) -> int:
        """The number of splits of the tree, which may be smaller than ``max_size``."""
        return len(self._splitting.leaves)

    def _check_size(self, size: object) -> int:
        """Check that a size is at most ``max_size``; sizes never reached have the last tree."""
        check_is_fitted(self)
        wanted = check_size(size, "size")
        most = self._made if self._max_size is None else self._max_size
        if wanted > most:
            raise ValueError(f"size must be at most the model's max_size, {most}; got {wanted}")
        return wanted

    def _sized(self, size: int | None) -> Self:
        """The model itself, or its copy of a smaller size."""
        check_is_fitted(self)
        return self if size is None else self.at_size(size)

    def _read(self, X: Any, reset: bool) -> Data:
        """Check X as scikit-learn does, but leave frames and texts as they are."""
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biu" and X.size:
            if reset:  # nothing here can fail; skipping check_array makes small fits faster
                self.n_features_in_ = X.shape[1]
                vars(self).pop("feature_names_in_", None)
                return Data(X)
            if X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
                return Data(X)
        if hasattr(X, "columns") and not hasattr(X, "tocsc"):
            validate_data(self, X=X, reset=reset, skip_check_array=True)  # type: ignore[arg-type]
            data = Data(X, remember=not reset)
            if not data.rows or not data.width:
                raise ValueError(
                    f"Found array with {data.rows} sample(s) and {data.width} feature(s) "
                    f"(shape=({data.rows}, {data.width})) while a minimum of 1 is required."
                )
            return data
        options: dict[str, Any] = {"accept_sparse": "csc", "ensure_all_finite": "allow-nan"}
        if not hasattr(X, "dtype"):
            X = X if hasattr(X, "__array__") else read_array(X)
        if getattr(X, "dtype", None) is not None and X.dtype.kind in "OUS":
            options = {"dtype": None, "ensure_all_finite": False}
        checked = validate_data(self, X=X, reset=reset, **options)  # type: ignore[arg-type]
        return Data(checked, remember=not reset)

    def _leaves(self, X: Any) -> np.typing.NDArray[np.intp]:
        """The leaf of each row by order of creation."""
        leaf = np.zeros(0, dtype=np.intp)
        for leaf in self._staged_leaves(X):  # noqa: B007
            pass
        return leaf

    def _staged_leaves(self, X: Any) -> Iterator[np.typing.NDArray[np.intp]]:
        """The leaf of each row after each split; one array, changed in place."""
        check_is_fitted(self)
        data = self._read(X, reset=False)
        leaf = np.zeros(data.rows, dtype=np.intp)
        members = {0: np.arange(data.rows)}
        yield leaf
        thresholds = self._splitting.exact_thresholds
        for step in range(self._made):
            rows = members.pop(int(self._splitting.leaves[step]))
            literal, threshold = int(self._splitting.literals[step]), thresholds[step]
            holds = self.literals_.holds(data, literal, rows, threshold)
            low, high = rows[~holds], rows[holds]
            members[2 * step + 1], members[2 * step + 2] = low, high
            leaf[low], leaf[high] = 2 * step + 1, 2 * step + 2
            yield leaf

    def _path(self, leaf: int) -> list[int]:
        """The leaf and all nodes above it, by order of creation."""
        path = [leaf]
        while path[-1]:
            path.append(int(self._splitting.leaves[(path[-1] - 1) // 2]))
        return path


def read_labels(y: Any, rows: int) -> tuple[np.ndarray, Coded]:
    """The classes, and each label's position among them."""
    if isinstance(y, list | tuple):
        y = read_array(y)
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


def read_weights(sample_weight: Any, rows: int) -> Any:
    """Weights as scikit-learn checks them; None stays None."""
    if sample_weight is None:
        return None
    check_whole_weights(sample_weight)
    return _check_sample_weight(sample_weight, np.empty((rows, 0)), dtype=np.float64)
