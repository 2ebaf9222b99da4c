"""What classifiers, regressors and policies add to a fitted tree.

``TreeClassifier`` has classes and their shares at leaves, accuracy, and results class by class;
with a cost matrix its leaves predict actions, and ``mean_cost`` measures them. ``TreeRegressor``
predicts means and is measured by R^2. ``TreePolicy`` predicts actions and is measured by what they
cost. Each names the words that its leaves have (``leaves``), what scikit-learn's tree holds at a
node, and by what ``select_size`` judges it; the rest stands in ``base``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mictree._support.checks import check_unmasked
from mictree.columns.data import read_array
from mictree.distributed.collections import (
    is_collection,
    map_rows,
    r_squared_of_rows,
    share_of_rows,
)
from mictree.estimators import exports
from mictree.estimators.base import TreeModel
from mictree.estimators.leaves import ClassWords, CostWords, LeafWords, NumberWords
from mictree.estimators.predicting import (
    ClassResults,
    as_labels,
    check_present,
    class_results,
    read_numeric,
)
from mictree.growers.data_loop import Splitting
from mictree.impurity.criteria import of_classes
from mictree.problems.sample import SampleProblem, read_weights
from mictree.problems.tasks import MatrixCosts, read_cost_table

FloatArray = np.typing.NDArray[np.float64]


class TreeClassifier(ClassifierMixin, TreeModel):
    """A fitted tree that predicts classes, or actions by a cost matrix."""

    classes_: np.ndarray
    actions_: np.ndarray
    criterion: Any

    @property
    def _values(self) -> np.ndarray:
        return self.actions_[self._splitting.labels]

    def _words(self, splitting: Splitting) -> LeafWords:
        if splitting.outcome is None:
            return ClassWords(splitting, self.classes_)
        return CostWords(splitting, self.actions_.tolist(), self.classes_)

    @property
    def _rule_classes(self) -> Sequence[Any]:
        return self.classes_.tolist()

    def _sklearn_values(self) -> tuple[FloatArray, FloatArray]:
        splitting, tree = self._splitting, self.tree_
        shares = exports.shares_of_classes(splitting, tree)
        criterion = "gini" if self.criterion == "gini" else "entropy"
        impurity = of_classes(criterion, shares)
        if splitting.outcome is None:
            return shares, impurity
        labels = splitting.labels[exports.by_node(splitting, tree)]
        return np.eye(len(self.actions_))[labels], impurity

    @property
    def _class_names(self) -> list[str]:
        return [str(label) for label in self.classes_]

    def _set_classes(self, classes: np.ndarray, problem: SampleProblem) -> None:
        """Remember the classes, and what leaves may predict."""
        self.classes_ = self.actions_ = classes
        if isinstance(problem.task, MatrixCosts) and problem.actions != problem.classes:
            self.actions_ = read_array(list(problem.actions))

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
        return self._by_size(X, lambda guess: float(np.average(guess == truth, weights=weights)))

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
        return class_results(model.actions_, labels, codes, weights)

    def mean_cost(
        self, X: Any, y: Any, sample_weight: Any = None, size: int | None = None
    ) -> float:
        """The mean of what the predictions cost by the cost matrix; without one, the error.

        Parameters
        ----------
        X, y : rows and their labels, which must be classes that the model has
        sample_weight : a weight for each row
        size : of the tree; by default the full one

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0], [0], [0], [1]], ["well", "well", "ill", "ill"]
        >>> costs = {"well": {"well": 0, "ill": 1}, "ill": {"well": 10, "ill": 0}}
        >>> model = mt.TopDownClassifier(max_size=1, cost_matrix=costs).fit(X, y)
        >>> model.predict([[0]]).tolist(), model.mean_cost(X, y)
        (['ill'], 0.5)
        """
        return float(self._sized(size)._staged_costs(X, y, sample_weight)[-1])

    def _staged_costs(self, X: Any, y: Any, sample_weight: Any) -> FloatArray:
        """The mean cost by size."""
        check_is_fitted(self)
        task = self._task
        if not isinstance(task, MatrixCosts):
            return 1 - self.staged_score(X, y, sample_weight)
        truth = column_or_1d(as_labels(y))
        check_consistent_length(X, truth)
        return self._by_size(X, costs_of_labels(task, self.classes_, truth, sample_weight))

    @property
    def judged_by(self) -> str:
        """What ``select_size`` minimises: "mean cost", or nothing for the error."""
        known = "_problem" in vars(self) and isinstance(self._task, MatrixCosts)
        return "mean cost" if known or getattr(self, "cost_matrix", None) is not None else ""


def costs_of_labels(
    task: MatrixCosts, classes: np.ndarray, truth: np.ndarray, sample_weight: Any
) -> Any:
    """A function from predicted actions to their mean cost, for rows of these labels."""
    weights = read_weights(sample_weight, len(truth))
    known = {label: code for code, label in enumerate(classes.tolist())}
    codes = [known.get(label, -1) for label in truth.tolist()]
    if min(codes, default=0) < 0:
        label = truth.tolist()[codes.index(-1)]
        raise ValueError(f"y must have classes that have costs; there is no {label!r} among them")
    by_action = task.given[codes]
    place = {action: number for number, action in enumerate(task.actions)}

    def measure(guess: np.ndarray) -> float:
        actions = [place[action] for action in guess.tolist()]
        return float(np.average(by_action[np.arange(len(codes)), actions], weights=weights))

    return measure


class TreeRegressor(RegressorMixin, TreeModel):
    """A fitted tree that predicts numbers."""

    judged_by = "mean squared error"

    @property
    def _values(self) -> np.ndarray:
        return np.asarray(self._splitting.labels, dtype=float)

    def _words(self, splitting: Splitting) -> LeafWords:
        return NumberWords(splitting)

    def _sklearn_values(self) -> tuple[FloatArray, FloatArray]:
        splitting = self._splitting
        creation = exports.by_node(splitting, self.tree_)
        variance = splitting.costs / splitting.masses.sum(axis=1)
        return self._values[creation][:, None], variance[creation]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2: 1 less the squared error as a share of that of the mean of y.

        The partitions of Dask collections are measured where they lie, in one pass.

        Examples
        --------
        >>> import mictree as mt
        >>> mt.TopDownRegressor(max_size=1).fit([[0], [1]], [2.5, 4]).score([[0], [1]], [2.5, 4])
        1.0
        """
        check_is_fitted(self)
        far = [is_collection(each) for each in (X, y, sample_weight) if each is not None]
        if all(far):
            return r_squared_of_rows(self.predict, float(self._values[0]), X, y, sample_weight)
        if any(far):  # few numbers travel: predictions, labels, weights
            from dask.base import compute

            guess, y, sample_weight = compute(self.predict(X), y, sample_weight)
        else:
            guess = self.predict(X)
        truth = read_numeric(y, len(guess))
        return _explained(guess, truth, read_weights(sample_weight, len(truth)))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """R^2 by size, index = size; sizes that were not reached repeat the last one.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 3]
        >>> mt.TopDownRegressor(max_size=2).fit(X, y).staged_score(X, y).round(3).tolist()
        [0.0, 0.667, 1.0]
        """
        truth = read_numeric(y, _rows_of(X))
        weights = read_weights(sample_weight, len(truth))
        return self._by_size(X, lambda guess: _explained(guess, truth, weights))

    def _staged_costs(self, X: Any, y: Any, sample_weight: Any) -> FloatArray:
        """The mean squared error by size."""
        truth = read_numeric(y, _rows_of(X))
        weights = read_weights(sample_weight, len(truth))
        return self._by_size(
            X, lambda guess: float(np.average((guess - truth) ** 2, weights=weights))
        )


def _rows_of(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _explained(guess: np.ndarray, truth: np.ndarray, weights: FloatArray | None) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(truth, guess, sample_weight=weights))


class TreePolicy(TreeModel):
    """A fitted tree that predicts actions."""

    actions_: np.ndarray
    _rewarded: bool  # whether costs were given as rewards

    @property
    def _values(self) -> np.ndarray:
        return self.actions_[self._splitting.labels]

    def _words(self, splitting: Splitting) -> LeafWords:
        return CostWords(splitting, self.actions_.tolist(), rewards=self._rewarded)

    def _sklearn_values(self) -> tuple[FloatArray, FloatArray]:
        splitting = self._splitting
        creation = exports.by_node(splitting, self.tree_)
        cost = splitting.costs / splitting.masses.sum(axis=1)
        return np.eye(len(self.actions_))[splitting.labels[creation]], cost[creation]

    def value(
        self,
        X: Any,
        costs: Any = None,
        rewards: Any = None,
        sample_weight: Any = None,
        size: int | None = None,
    ) -> float:
        """The mean cost, or with rewards the mean reward, of the actions that the tree chooses.

        On the rows of the fit it is too good; hold rows out for an honest one.

        Parameters
        ----------
        X : rows
        costs, rewards : one of both: for each row and action, as in ``fit``; a frame names actions
            in any order
        sample_weight : a weight for each row
        size : of the tree; by default the full one

        Examples
        --------
        >>> import mictree as mt
        >>> X, rewards = [[0], [0], [1], [1]], [[1, 0], [1, 0], [0, 3], [0, 3]]
        >>> model = mt.OptimalPolicyTree(max_size=1).fit(X, rewards=rewards)
        >>> model.value(X, rewards=rewards), model.value(X, rewards=rewards, size=0)
        (2.0, 1.5)
        """
        model = self._sized(size)
        table, name = one_table(costs, rewards)
        labels = model._splitting.labels[model._leaves(X)]
        actions, numbers = read_cost_table(table, len(labels), name)
        weights = read_weights(sample_weight, len(labels))
        if not hasattr(table, "columns"):
            if numbers.shape[1] != len(self.actions_):
                raise ValueError(
                    f"{name} must have a column for each of the {len(self.actions_)} actions; "
                    f"its shape is {numbers.shape}"
                )
            place = np.arange(len(self.actions_))
        else:
            for action in self.actions_.tolist():
                if action not in actions:
                    raise ValueError(f"{name} must have every action; there is no {action!r}")
            place = np.array([actions.index(action) for action in self.actions_.tolist()])
        found = numbers[np.arange(len(labels)), place[labels]]
        return float(np.average(found, weights=weights))


def one_table(costs: Any, rewards: Any) -> tuple[Any, str]:
    """Costs or rewards, of which one must be given, and which it is."""
    if (costs is None) == (rewards is None):
        found = "neither" if costs is None else "both"
        raise ValueError(f"costs or rewards must be given, one of both; got {found}")
    return (costs, "costs") if rewards is None else (rewards, "rewards")
