"""Errors on held-out rows, and the trees of any learner as a fold sees them.

A fold trains trees on some rows and measures them on the others. ``HeldOut`` has these errors by
fold and size. Folds share training rows, so their errors are not independent; the standard error of
a difference is corrected for that (Nadeau and Bengio, Inference for the Generalization Error,
Machine Learning 2003).

All learners train on one ``TrainingSet``: the same rows with the same literals, and labels that are
positions among the classes. What they make are three kinds of ``Model``: a tree of mictree's own, a
lone leaf, and a model of another package. Such a model reads ordered columns as ranks and every
other literal as a 0/1 column; its predictions are checked, because nothing else guarantees that
they are labels that it has learned. ``ScorableModel`` shows any of the three to scikit-learn's
scorers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from mictree.columns.data import read_array
from mictree.columns.ordered import Ranks
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

OPTIMAL = "optimal"  # the name of the optimal trees beside those of the learners

FloatArray = np.typing.NDArray[np.float64]
Codes = np.typing.NDArray[np.integer]


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
class TrainingSet:
    """Rows to learn from, and others to predict; labels are positions among the classes."""

    problem: SampleProblem
    rows: Any
    codes: Codes
    others: Any
    weights: FloatArray | None = None  # of the rows to learn from

    @property
    def classes(self) -> int:
        """The number of classes, learned or not."""
        return len(self.problem.classes)

    @property
    def learned_classes(self) -> int:
        """The labels to learn from are 0 to this number, itself not among them."""
        return int(self.codes.max()) + 1

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

    def codes(self, rows: Any) -> Codes:
        """The label of each row, as a position among the classes."""
        ...

    def shares(self, rows: Any) -> FloatArray:
        """The share of each class for each row."""
        ...


@dataclass(frozen=True)
class GrownTree:
    """A tree of mictree's own."""

    training: TrainingSet
    tree: Tree

    def codes(self, rows: Any) -> Codes:
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

    def codes(self, rows: Any) -> Codes:
        """The label of each row."""
        return np.full(len(self.training.ranks(rows)), self.training.masses.argmax())

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

    def codes(self, rows: Any) -> Codes:
        """The label of each row."""
        ranks = self.training.ranks(rows)
        labels = np.asarray(self.model.predict(ranks))
        if labels.shape != (len(ranks),):
            raise ValueError(
                f"a learner must predict one label a row; {self.name} gave the shape "
                f"{labels.shape} for {len(ranks)} rows"
            )
        known = np.isin(labels, np.arange(self.training.learned_classes))
        if not known.all():
            raise ValueError(
                "a learner must predict the labels it learned from, 0 to "
                f"{self.training.learned_classes - 1}; {self.name} gave {labels[~known][0]!r}"
            )
        return labels

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

    def __init__(self, model: Model, classes: tuple[Any, ...]) -> None:
        self.model = model
        self.classes = classes
        self.classes_ = read_array(classes)

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row."""
        return self.classes_[self.model.codes(X)]

    def predict_proba(self, X: Any) -> FloatArray:
        """The share of each class for each row."""
        return self.model.shares(X)
