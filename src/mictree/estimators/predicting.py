"""Trees as scikit-learn's classifiers: predicting, sizes, importances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mictree._support.checks import check_size, check_unmasked
from mictree.columns.literals import Literals
from mictree.distributed.collections import is_collection, map_rows, share_of_rows
from mictree.estimators import exports
from mictree.estimators.reading import Reading, as_labels, check_present
from mictree.estimators.scoring import ClassResults, class_results
from mictree.growers.data_loop import Splitting
from mictree.problems.labels import read_weights
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

FloatArray = np.typing.NDArray[np.float64]


class Predicting(ClassifierMixin, Reading, ABC):
    """A fitted tree that predicts; subclasses define ``fit``."""

    classes_: np.ndarray
    _problem: SampleProblem
    _splitting: Splitting
    _max_size: int | None  # as fitted; None if the tree was grown until no leaf could be split

    @abstractmethod
    def at_size(self, size: int) -> Self:
        """A copy that predicts with the tree of a size, as if fitted with that ``max_size``."""

    @abstractmethod
    def _all_sizes(self) -> tuple[Sequence[Splitting], bool]:
        """The trees by size, or True and only the largest if its first splits are the others."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def predict(self, X: Any, size: int | None = None) -> np.ndarray:
        """The most likely class of each row, from the tree of full or of the given size.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.predict([[0, 1]]).tolist(), model.predict([[0, 1]], size=0).tolist()
        (['odd'], ['even'])
        """
        model = self._sized(size)
        if is_collection(X):
            return map_rows(model.predict, X, model.classes_[:0])
        return model.classes_[model._splitting.labels[model._leaves(X)]]

    def predict_proba(self, X: Any, size: int | None = None) -> FloatArray:
        """The share of each class among the training rows of the leaf, weighted.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.predict_proba([[0, 1]], size=0).tolist()
        [[0.5, 0.5]]
        """
        model = self._sized(size)
        masses = model._splitting.masses
        if is_collection(X):
            return map_rows(model.predict_proba, X, masses[:0])
        return (masses / masses.sum(axis=1, keepdims=True))[model._leaves(X)]

    def predict_log_proba(self, X: Any, size: int | None = None) -> FloatArray:
        """The logarithm of ``predict_proba``.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.predict_log_proba([[0, 1]], size=0).round(4).tolist()
        [[-0.6931, -0.6931]]
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, size))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions of the trees of size 0, 1, ... in turn.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> [labels.tolist() for labels in model.staged_predict([[0, 1]])]
        [['even'], ['even'], ['odd'], ['odd']]
        """
        check_is_fitted(self)
        splittings, prefixes = self._all_sizes()
        if prefixes:
            for node in self._staged_leaves(X):
                yield self.classes_[self._splitting.labels[node]]
        else:
            for size in range(len(splittings)):
                yield self.predict(X, size)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """The accuracy by size, index = size; sizes that were not reached repeat the last one.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.staged_score(X, y).tolist()
        [0.5, 0.5, 0.75, 1.0]
        """
        truth = column_or_1d(as_labels(y))
        check_consistent_length(X, truth)
        weights = read_weights(sample_weight, len(truth))
        scores = [
            float(np.average(guess == truth, weights=weights)) for guess in self.staged_predict(X)
        ]
        return np.array(scores + scores[-1:] * (self._largest + 1 - len(scores)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the rows, by weight, whose class is predicted.

        The partitions of Dask collections are counted where they lie, in one pass.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> mt.TopDownClassifier(max_size=3).fit(X, y).score(X, y)
        1.0
        """
        check_is_fitted(self)
        far = [is_collection(each) for each in (X, y, sample_weight) if each is not None]
        if all(far):
            return share_of_rows(self._is_right, X, y, sample_weight)
        if any(far):  # few numbers travel: predictions, labels, weights
            from dask.base import compute
            from sklearn.metrics import accuracy_score

            guess, y, sample_weight = compute(self.predict(X), y, sample_weight)
            return float(accuracy_score(as_labels(y), guess, sample_weight=sample_weight))
        weights = check_unmasked(sample_weight, "sample_weight")
        return float(super().score(X, as_labels(y), weights))

    def _is_right(self, X: Any, y: Any) -> np.typing.NDArray[np.bool_]:
        """Which rows of a partition have the class that is predicted."""
        truth = column_or_1d(as_labels(y))
        check_present(y, truth)
        return self.predict(X) == truth

    def class_results(
        self, X: Any, y: Any, sample_weight: Any = None, size: int | None = None
    ) -> ClassResults:
        """Recall and precision of each class, and the confusion matrix; print the result.

        Parameters
        ----------
        X, y : rows and their labels, best those that had no part in the fit
        sample_weight : a weight for each row, which it counts instead of 1
        size : of the tree; by default the full one

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0], [0], [0], [1]], ["no", "no", "yes", "yes"]
        >>> results = mt.TopDownClassifier(max_size=0).fit(X, y).class_results(X, y)
        >>> results.recall.tolist(), results.never_predicted
        ([1.0, 0.0], ('yes',))
        """
        model, labels = self._sized(size), column_or_1d(as_labels(y))
        check_consistent_length(X, labels)
        weights = read_weights(sample_weight, len(labels))
        codes = model._splitting.labels[model._leaves(X)]
        return class_results(model.classes_, labels, codes, weights)

    def apply(self, X: Any, size: int | None = None) -> np.typing.NDArray[np.intp]:
        """The number of the leaf, a node of ``tree_``, that each row reaches.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.apply(X).tolist()
        [2, 5, 3, 6]
        """
        model = self._sized(size)
        return exports.preorder(model._splitting, model._made)[model._leaves(X)]

    def decision_path(self, X: Any, size: int | None = None) -> Any:
        """A sparse 0/1 matrix: the nodes of ``tree_`` that each row visits.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.decision_path([[0, 1]]).toarray().tolist()
        [[1, 0, 0, 0, 1, 1, 0]]
        """
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
        """The number of tests on the longest path.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.get_depth()
        2
        """
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves, one more than the size.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.get_n_leaves()
        4
        """
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
        return self.literals_.tree(
            splitting.leaves.tolist(),
            splitting.literals.tolist(),
            splitting.exact_thresholds,
            splitting.labels.tolist(),
        )

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of each column in the drop of impurity; zeros for a lone leaf."""
        splitting = self._fitted("_splitting")
        drop = self._drops()
        columns = [self.literals_.locate(literal)[0] for literal in splitting.literals.tolist()]
        importances = np.bincount(columns, weights=drop, minlength=self.n_features_in_)
        total = importances.sum()
        return importances / total if total > 0 else np.zeros(self.n_features_in_)

    def _drops(self) -> FloatArray:
        """The drop in the tree's impurity by each split."""
        return self._splitting.reaches[self._splitting.leaves] * self._splitting.gains

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

    def _fitted(self, name: str) -> Any:
        if name not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.__dict__[name]

    @property
    def _made(self) -> int:
        """The number of splits of the tree, which may be smaller than ``max_size``."""
        return len(self._splitting.leaves)

    @property
    def _largest(self) -> int:
        """The largest size of curves of errors by size."""
        return self._made if self._max_size is None else self._max_size

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
