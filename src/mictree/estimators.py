"""scikit-learn's door: validate, delegate, nothing else."""

from __future__ import annotations

import copy
from abc import ABC
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from mictree import exports
from mictree._checks import check_size
from mictree.data import Data
from mictree.growers import RULES, TIES, Growth
from mictree.impurity import check_criterion
from mictree.literals import Literals
from mictree.problems.labels import Coded, class_weights
from mictree.problems.sample import Limits, SampleProblem, Splitting
from mictree.tree import Tree

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from sklearn.tree import DecisionTreeClassifier

FloatArray = np.typing.NDArray[np.float64]


class GreedyTreeClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A greedily grown decision tree; one fit gives every size up to ``max_size``.

    Parameters
    ----------
    max_size : the most splits; None grows until no leaf can be split. A tree of ``size`` splits has
        ``size + 1`` leaves (scikit-learn's ``max_leaf_nodes``).
    min_samples_split : a leaf with fewer rows is not split
    min_samples_leaf : a split that leaves fewer rows on a side is not made
    max_depth : the most tests on a path; None for any
    min_gain : a split whose gain, the drop in impurity at its leaf, is smaller is not made
    min_weight_fraction_leaf : a split that leaves less of the whole weight on a side is not made
    criterion : "entropy", "gini", "root" (Kearns and Mansour) or "minority"
    ties : "last", "first", "random", "heaviest" or "lightest"; see ``mictree.TopDown``
    class_weight : None, a mapping of class to weight, or "balanced"
    random_state : for ``ties="random"``
    max_thresholds : the most thresholds that a numeric column offers, chosen by quantile

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    literals_ : what the tree may test: ``literals_.names``, ``literals_.transform(X)``
    growth_ : the ``Growth``; ``growth_.errors`` is the training error by size
    tree_ : the ``Tree`` of full size; its labels are positions in ``classes_``
    feature_importances_ : the share of each column in the drop of impurity
    """

    _rule: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        """Every rule has the same parameters and attributes, so they are written once."""
        super().__init_subclass__(**options)
        shared = (GreedyTreeClassifier.__doc__ or "").partition("\n")[2]
        cls.__doc__ = f"{(cls.__doc__ or '').rstrip()}\n{shared}"

    def __init__(
        self,
        max_size: int | None = 20,
        *,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        min_gain: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        criterion: str = "entropy",
        ties: str = "last",
        class_weight: Any = None,
        random_state: Any = None,
        max_thresholds: int = 64,
    ) -> None:
        self.max_size = max_size
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_gain = min_gain
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.criterion = criterion
        self.ties = ties
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_thresholds = max_thresholds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : matrix, CSC or other sparse matrix, pandas or polars frame
        y : a label for each row
        sample_weight : a weight for each row; integers act as repeated rows. ``min_samples_split``
            and ``min_samples_leaf`` count rows, whatever they weigh.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        limits = Limits(
            self.min_samples_split,
            self.min_samples_leaf,
            self.max_depth,
            self.min_gain,
            self.min_weight_fraction_leaf,
        )
        criterion, ties = check_criterion(self.criterion), self.ties
        if ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
        data = self._read(X, reset=True)
        self.classes_, coded = _read_labels(y, data.rows)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, np.empty((data.rows, 0)), dtype=np.float64
            )
        seed = None
        if ties == "random":
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._problem = SampleProblem(
            data,
            coded,
            sample_weight,
            class_weight=class_weights(self.class_weight, coded),
            max_thresholds=self.max_thresholds,
            limits=limits,
        )
        # no tree has more splits than rows
        limit = data.rows if self.max_size is None else min(data.rows, check_size(self.max_size))
        self._limit = limit
        self._splitting = self._problem.split(self._rule, criterion, ties, seed, limit)
        self._grower = RULES[self._rule](criterion, ties, seed)
        self._forget_views()
        return self

    def predict(self, X: Any, size: int | None = None) -> np.ndarray:
        """The most likely class of each row, by the tree of full or of the given size."""
        leaves = self._leaves(X, size)
        return self.classes_[self._splitting.labels[leaves]]

    def predict_proba(self, X: Any, size: int | None = None) -> FloatArray:
        """The share of each class among the training rows of the leaf, weighted."""
        leaves = self._leaves(X, size)
        masses = self._splitting.masses
        return (masses / masses.sum(axis=1, keepdims=True))[leaves]

    def predict_log_proba(self, X: Any, size: int | None = None) -> FloatArray:
        """The logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, size))

    def apply(self, X: Any, size: int | None = None) -> np.typing.NDArray[np.intp]:
        """The number of the leaf, a node of ``tree_``, that each row reaches."""
        leaves = self._leaves(X, size)
        return exports.preorder(self._splitting, self._size(size))[leaves]

    def decision_path(self, X: Any, size: int | None = None) -> Any:
        """A sparse matrix that says for each row which nodes of ``tree_`` it visits."""
        from scipy.sparse import csr_array

        number = exports.preorder(self._splitting, self._size(size))
        visited = [
            np.array(sorted(number[node] for node in self._path(leaf)), dtype=np.intp)
            for leaf in range(len(number))
        ]
        paths = [visited[leaf] for leaf in self._leaves(X, size)]
        ends = np.concatenate([[0], np.cumsum([len(path) for path in paths])])
        columns = np.concatenate(paths)
        shape = (len(paths), 2 * self._size(size) + 1)
        return csr_array((np.ones(len(columns), dtype=np.int64), columns, ends), shape=shape)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions by the trees of size 0, 1, ... in turn."""
        for node in self._staged_leaves(X):
            yield self.classes_[self._splitting.labels[node]]

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """The accuracy by size, index = size; the last one repeats as ``growth_.errors`` does."""
        truth = np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        scores = [
            float(np.average(guess == truth, weights=weights)) for guess in self.staged_predict(X)
        ]
        return np.array(scores + scores[-1:] * (self.growth_.max_size + 1 - len(scores)))

    def at_size(self, size: int) -> Self:
        """A copy that predicts by the tree of a size, as if fitted with that ``max_size``."""
        check_is_fitted(self)
        made = self._size(check_size(size, "size"))
        smaller = copy.copy(self)
        smaller._forget_views()
        smaller.max_size = size
        smaller._limit = min(size, self._limit)
        whole = self._splitting
        smaller._splitting = Splitting(
            whole.leaves[:made], whole.literals[:made], whole.gains[:made],
            whole.rows[: 2 * made + 1], whole.masses[: 2 * made + 1],
        )  # fmt: skip
        return smaller

    def get_depth(self) -> int:
        """The number of tests on the longest path."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves, one more than the size."""
        check_is_fitted(self)
        return len(self._splitting.leaves) + 1

    @property
    def literals_(self) -> Literals:
        """What the tree may test."""
        return self._fitted("_problem").literals

    @property
    def growth_(self) -> Growth:
        """The growth, one tree per size."""
        self._fitted("_problem")
        return self._growth

    @property
    def tree_(self) -> Tree:
        """The tree of full size."""
        return self.growth_.tree(len(self._splitting.leaves))

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
        on : "columns": it reads what this classifier was fitted on, which must be numbers.
            "literals": it reads ``literals_.transform(X)``, which also serves categories.
        """
        check_is_fitted(self)
        return exports.to_sklearn(self, on)

    def to_text(self, size: int | None = None) -> str:
        """The tree as indented lines."""
        return self.growth_.tree(self._size(size)).to_text(self._class_names)

    def to_rules(self, size: int | None = None) -> list[str]:
        """One line for each leaf: if ... then ..."""
        check_is_fitted(self)
        tree = self.growth_.tree(self._size(size))
        return exports.to_rules(tree, self.literals_, self._class_names)

    def to_frame(self, size: int | None = None) -> polars.DataFrame:
        """A polars frame with a row for each node, in the order of ``tree_``."""
        check_is_fitted(self)
        made = self._size(size)
        return exports.to_frame(self._splitting, self.growth_.tree(made), self._class_names)

    def to_dot(self, size: int | None = None) -> str:
        """The tree in Graphviz' language."""
        check_is_fitted(self)
        return exports.to_dot(self.growth_.tree(self._size(size)), self._class_names)

    def draw(self, ax: Axes | None = None, size: int | None = None) -> Axes:
        """Draw the tree with matplotlib; every node says how many rows reach it."""
        check_is_fitted(self)
        made = self._size(size)
        tree = self.growth_.tree(made)
        return exports.draw(ax, self._splitting, tree, self._class_names)

    def __getstate__(self) -> dict[str, Any]:
        """Without the training rows and without what can be computed again."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_growth", None)
        if "_problem" in state:
            state["_problem"] = state["_problem"].without_rows()
        return state

    @cached_property
    def _growth(self) -> Growth:
        limit = len(self._splitting.leaves) if self.max_size is None else self._limit
        return self._grower.record(self._problem, limit, self._splitting.grown())

    @property
    def _class_names(self) -> list[str]:
        return [str(label) for label in self.classes_]

    def _forget_views(self) -> None:
        vars(self).pop("_growth", None)

    def _fitted(self, name: str) -> Any:
        if name not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.__dict__[name]

    def _size(self, size: int | None) -> int:
        """The splits that a tree of the given size really has."""
        made = len(self._splitting.leaves)
        return made if size is None else min(made, check_size(size, "size"))

    def _read(self, X: Any, reset: bool) -> Data:
        """Check X as scikit-learn does, but leave frames and texts as they are."""
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biu" and X.size:
            if reset:  # nothing here can fail, and small fits need not wait for check_array
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
            X = X if hasattr(X, "__array__") else np.asarray(X)
        if getattr(X, "dtype", None) is not None and X.dtype.kind in "OUS":
            options = {"dtype": None, "ensure_all_finite": False}
        checked = validate_data(self, X=X, reset=reset, **options)  # type: ignore[arg-type]
        return Data(checked, remember=not reset)

    def _leaves(self, X: Any, size: int | None) -> np.typing.NDArray[np.intp]:
        """The leaf of each row by order of creation."""
        check_is_fitted(self)
        leaf = np.zeros(0, dtype=np.intp)
        for leaf in self._staged_leaves(X, self._size(size)):  # noqa: B007
            pass
        return leaf

    def _staged_leaves(
        self, X: Any, size: int | None = None
    ) -> Iterator[np.typing.NDArray[np.intp]]:
        """The leaf of each row after each split; one array, changed in place."""
        check_is_fitted(self)
        data = self._read(X, reset=False)
        leaf = np.zeros(data.rows, dtype=np.intp)
        members = {0: np.arange(data.rows)}
        yield leaf
        for step in range(self._size(size)):
            rows = members.pop(int(self._splitting.leaves[step]))
            holds = self.literals_.holds(data, int(self._splitting.literals[step]), rows)
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


class TopDownClassifier(GreedyTreeClassifier):
    """Splits the leaf with the largest reach times gain.

    This is what scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=...)`` does, in spite of the
    name of its BestFirstTreeBuilder.
    """

    _rule = "topdown"


class BestFirstClassifier(GreedyTreeClassifier):
    """Splits the leaf with the largest gain, however few rows reach it.

    This is WEKA's BFTree, not scikit-learn's ``max_leaf_nodes``, which is TopDown.
    """

    _rule = "bestfirst"


class ID3Classifier(GreedyTreeClassifier):
    """Splits depth first, the low branch before the high one."""

    _rule = "id3"


CLASSIFIERS = (TopDownClassifier, BestFirstClassifier, ID3Classifier)


def _read_labels(y: Any, rows: int) -> tuple[np.ndarray, Coded]:
    """The classes, and each label's position among them."""
    plain = type(y) is np.ndarray and y.ndim == 1
    labels = y if plain else column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y must not contain NaN or infinity")
    if labels.dtype.kind not in "biu":
        check_classification_targets(labels)
    if len(labels) != rows:
        check_consistent_length(np.empty(rows), labels)
    classes, codes = Coded.positions(labels)
    return classes, Coded(tuple(classes.tolist()), codes)
