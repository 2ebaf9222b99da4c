"""Errors on held-out rows, and the trees of any learner as a fold sees them.

A fold trains trees on some rows and measures them on the others. ``HeldOut`` has these errors by
fold and size. Folds share training rows, so their errors are not independent; the standard error of
a difference is corrected for that (Nadeau and Bengio, Inference for the Generalization Error,
Machine Learning 2003).

All learners train on one ``TrainingSet``: the same rows with the same literals, and labels that are
positions among the classes, or numbers (``Target``). What they make are three kinds of ``Model``: a
tree of mictree's own, a lone leaf, and a model of another package. Such a model reads ordered
columns as ranks and every other literal as a 0/1 column; its predictions are checked, because
nothing else guarantees that they are labels that it has learned. ``ScorableModel`` shows any of the
three to scikit-learn's scorers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from mictree.columns.data import read_array
from mictree.columns.ordered import Ranks
from mictree.problems.sample import Coded, SampleProblem
from mictree.problems.tasks import MatrixCosts, Squared, read_cost_matrix
from mictree.tree import Tree

OPTIMAL = "optimal"  # the name of the optimal trees beside those of the learners

FloatArray = np.typing.NDArray[np.float64]
Codes = np.typing.NDArray[np.integer]
Rows = np.typing.NDArray[np.intp]


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


class Target(Protocol):
    """What the rows of a comparison are labelled with, and what predictions cost."""

    classes: tuple[Any, ...]  # empty for numbers
    loss: str  # what errors are; empty for shares of the rows

    def __len__(self) -> int: ...

    def problem(
        self, X: Any, rows: Rows, weights: FloatArray | None, max_thresholds: int | None,
        categories: str,
    ) -> SampleProblem:  # fmt: skip
        """Some rows to learn from, whose columns are given."""
        ...

    def labels(self, rows: Rows) -> np.ndarray:
        """The labels of some rows, as learners get them."""
        ...

    def mean_loss(self, guess: np.ndarray, rows: Rows, weights: FloatArray | None) -> float:
        """What predictions cost on average, or the share of those that are wrong."""
        ...

    def scorable(self, model: Model) -> Any:
        """A model as scikit-learn's scorers expect it."""
        ...

    def truth(self, rows: Rows) -> np.ndarray:
        """The labels of some rows, as they were given."""
        ...


class ClassTarget:
    """Classes; with a cost matrix, predictions are actions."""

    def __init__(self, coded: Coded, cost_matrix: Any = None) -> None:
        self.coded = coded
        self.classes = coded.classes
        self.cost_matrix = cost_matrix
        self.task = None if cost_matrix is None else read_cost_matrix(cost_matrix, coded.classes)
        self.actions = coded.classes if self.task is None else self.task.actions
        self.loss = "" if self.task is None else "mean cost"
        self._codes = coded.codes.astype(np.intp)

    def __len__(self) -> int:
        return len(self._codes)

    def problem(
        self, X: Any, rows: Rows, weights: FloatArray | None, max_thresholds: int | None,
        categories: str,
    ) -> SampleProblem:  # fmt: skip
        """Some rows to learn from, whose columns are given."""
        labels = Coded(self.classes, self.coded.codes[rows])
        return SampleProblem(
            X, labels, weights, cost_matrix=self.cost_matrix, max_thresholds=max_thresholds,
            categories=categories,
        )  # fmt: skip

    def labels(self, rows: Rows) -> np.ndarray:
        """The position of each row's class."""
        return self._codes[rows]

    def mean_loss(self, guess: np.ndarray, rows: Rows, weights: FloatArray | None) -> float:
        """The share of wrong classes, or the mean cost of actions."""
        truth = self._codes[rows]
        if self.task is None:
            return float(np.average(guess != truth, weights=weights))
        return float(np.average(self.task.given[truth, guess], weights=weights))

    def scorable(self, model: Model) -> ScorableModel:
        """A model as scikit-learn's scorers expect it."""
        return ScorableModel(model, self.classes, self.actions)

    def truth(self, rows: Rows) -> np.ndarray:
        """The class of each row."""
        return read_array(self.classes)[self._codes[rows]]

    @property
    def shown(self) -> tuple[Any, ...]:
        """The classes, then actions that are no classes."""
        return (*self.classes, *(each for each in self.actions if each not in self.classes))

    def places(self, guess: np.ndarray) -> np.ndarray:
        """Predictions as positions among ``shown``."""
        if self.task is None:
            return guess
        return np.array([self.shown.index(action) for action in self.actions])[guess]


class NumberTarget:
    """Numbers to predict."""

    classes: tuple[Any, ...] = ()
    loss = "mean squared error"

    def __init__(self, given: np.ndarray, numbers: FloatArray) -> None:
        self._given = given  # perhaps fractions
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def problem(
        self, X: Any, rows: Rows, weights: FloatArray | None, max_thresholds: int | None,
        categories: str,
    ) -> SampleProblem:  # fmt: skip
        """Some rows to learn from, whose columns are given."""
        labels = self._given[rows]
        return SampleProblem(
            X, labels, weights, loss="squared", max_thresholds=max_thresholds,
            categories=categories,
        )  # fmt: skip

    def labels(self, rows: Rows) -> np.ndarray:
        """The number of each row."""
        return self._numbers[rows]

    def mean_loss(self, guess: np.ndarray, rows: Rows, weights: FloatArray | None) -> float:
        """The mean squared error."""
        return float(np.average((guess - self._numbers[rows]) ** 2, weights=weights))

    def scorable(self, model: Model) -> ScorableRegressor:
        """A model as scikit-learn's scorers expect it."""
        return ScorableRegressor(model)

    def truth(self, rows: Rows) -> np.ndarray:
        """The number of each row."""
        return self._numbers[rows]


@dataclass(frozen=True)
class TrainingSet:
    """Rows to learn from, and others to predict.

    Attributes
    ----------
    codes : the labels: positions among the classes, or numbers
    """

    problem: SampleProblem
    rows: Any
    codes: np.ndarray
    others: Any
    weights: FloatArray | None = None  # of the rows to learn from

    @property
    def classes(self) -> int:
        """The number of classes, learned or not."""
        return len(self.problem.classes)

    @property
    def numeric(self) -> bool:
        """Whether labels are numbers to predict."""
        return isinstance(self.problem.task, Squared)

    @property
    def learned_classes(self) -> int:
        """The labels to learn from are 0 to this number, itself not among them; 0 for numbers."""
        return 0 if self.numeric else int(self.codes.max()) + 1

    @cached_property
    def action_labels(self) -> Codes:
        """What learners call the actions: the code of a class, or a number after all codes."""
        classes, actions = self.problem.classes, self.problem.actions
        others = [action for action in actions if action not in classes]
        every = [*classes, *others]
        return np.array([every.index(action) for action in actions], dtype=np.intp)

    @property
    def cost_names(self) -> dict[int, dict[int, float]] | None:
        """The cost matrix, for learners that read one, by the labels that they learn from."""
        task = self.problem.task
        if not isinstance(task, MatrixCosts):
            return None
        names = self.action_labels.tolist()
        return {
            code: dict(zip(names, task.given[code].tolist(), strict=True))
            for code in np.unique(self.codes).tolist()
        }

    @property
    def masses(self) -> FloatArray:
        """The weight of each class among the rows to learn from."""
        return np.bincount(self.codes, self.weights, self.classes).astype(float)

    @cached_property
    def learned_ranks(self) -> Ranks:
        """The rows to learn from as ranks and bits."""
        return self.problem.literals.ranks(self.rows)

    @cached_property
    def _others(self) -> Ranks:
        return self.problem.literals.ranks(self.others)

    def ranks(self, rows: Any) -> Ranks:
        """Any rows as ranks and bits."""
        return self._others if rows is self.others else self.problem.literals.ranks(rows)


class Model(Protocol):
    """A tree of some size, of any learner."""

    def codes(self, rows: Any) -> np.ndarray:
        """The label of each row: a position among the classes or actions, or a number."""
        ...

    def shares(self, rows: Any) -> FloatArray:
        """The share of each class for each row."""
        ...


@dataclass(frozen=True)
class GrownTree:
    """A tree of mictree's own."""

    training: TrainingSet
    tree: Tree

    def codes(self, rows: Any) -> np.ndarray:
        """The label of each row."""
        return self.tree.predict(self._bits(rows))

    def shares(self, rows: Any) -> FloatArray:
        """The shares of classes in the row's leaf, by the weight of the rows learned from."""
        masses = np.zeros((len(self.tree.tests), self.training.classes))
        weights = 1.0 if self.training.weights is None else self.training.weights
        leaves = self.tree.apply(self._bits(self.training.rows))
        np.add.at(masses, (leaves, self.training.codes), weights)
        found = masses[self.tree.apply(self._bits(rows))]
        return found / found.sum(axis=1, keepdims=True)

    def _bits(self, rows: Any) -> Any:
        return self.training.problem.literals.transform(rows, self.tree)


@dataclass(frozen=True)
class LoneLeaf:
    """A lone leaf, which many learners cannot make."""

    training: TrainingSet

    def codes(self, rows: Any) -> np.ndarray:
        """The label of each row."""
        return np.full(len(self.training.ranks(rows)), self.training.problem.root().label)

    def shares(self, rows: Any) -> FloatArray:
        """The shares of classes among all rows learned from."""
        masses = self.training.masses
        return np.tile(masses / masses.sum(), (len(self.training.ranks(rows)), 1))


@dataclass(frozen=True)
class ForeignModel:
    """A model of another package, which reads ranks and bits; its answers are checked."""

    training: TrainingSet
    name: str
    model: Any

    def codes(self, rows: Any) -> np.ndarray:
        """The label of each row."""
        ranks = self.training.ranks(rows)
        labels = np.asarray(self.model.predict(ranks))
        if labels.shape != (len(ranks),):
            raise ValueError(
                f"a learner must predict one label a row; {self.name} gave the shape "
                f"{labels.shape} for {len(ranks)} rows"
            )
        if self.training.numeric:
            return self._numbers(labels)
        learned = np.arange(self.training.learned_classes)
        costs = isinstance(self.training.problem.task, MatrixCosts)
        actions = self.training.action_labels
        known = np.isin(labels, np.union1d(learned, actions) if costs else learned)
        if not known.all():
            raise ValueError(
                "a learner must predict the labels it learned from, 0 to "
                f"{self.training.learned_classes - 1}; {self.name} gave {labels[~known][0]!r}"
            )
        return self._positions(labels) if costs else labels

    def _numbers(self, labels: np.ndarray) -> FloatArray:
        """Predictions as finite numbers."""
        if labels.dtype.kind not in "biuf" or not np.isfinite(labels).all():
            raise ValueError(f"a learner must predict finite numbers; {self.name} gave others")
        return labels.astype(float)

    def _positions(self, labels: np.ndarray) -> Codes:
        """Predictions as positions among the actions."""
        actions = self.training.action_labels
        there = np.isin(labels, actions)
        if not there.all():
            label = self.training.problem.classes[int(labels[~there][0])]
            raise ValueError(
                "cost_matrix must have a column for every class that a learner predicts; "
                f"{self.name} predicts {label!r}"
            )
        order = np.argsort(actions)
        return order[np.searchsorted(actions[order], labels)]

    def shares(self, rows: Any) -> FloatArray:
        """The shares of classes that the model gives; of other classes 0."""
        if not hasattr(self.model, "predict_proba"):
            raise ValueError(
                f"this scoring needs probabilities, and so a model with predict_proba; "
                f"{self.name}'s has none"
            )
        ranks = self.training.ranks(rows)
        given = np.asarray(self.model.predict_proba(ranks), dtype=float)
        learned = np.asarray(getattr(self.model, "classes_", np.unique(self.training.codes)))
        if given.shape != (len(ranks), len(learned)):
            raise ValueError(
                f"predict_proba must give {len(learned)} numbers a row; {self.name} gave the shape "
                f"{given.shape} for {len(ranks)} rows"
            )
        shares = np.zeros((len(ranks), self.training.classes))
        shares[:, learned.astype(np.intp)] = given
        return shares


class ScorableModel(ClassifierMixin, BaseEstimator):
    """A model as scikit-learn's scorers expect it: fitted, with the labels of the data set."""

    def __init__(
        self, model: Model, classes: tuple[Any, ...], actions: tuple[Any, ...] | None = None
    ) -> None:
        self.model = model
        self.classes = classes
        self.actions = actions
        self.classes_ = read_array(classes)
        self._actions = self.classes_ if actions in (None, classes) else read_array(list(actions))

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row."""
        return self._actions[self.model.codes(X)]

    def predict_proba(self, X: Any) -> FloatArray:
        """The share of each class for each row."""
        return self.model.shares(X)


class ScorableRegressor(RegressorMixin, BaseEstimator):
    """A model of numbers as scikit-learn's scorers expect it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.fitted_ = True

    def predict(self, X: Any) -> FloatArray:
        """The number of each row."""
        return self.model.codes(X)
