"""Trees as a fold judges them: of some size, by any learner, on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from mictree.columns.arrays import read_array
from mictree.columns.ordered import Ranks
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree

Codes = np.typing.NDArray[np.integer]
FloatArray = np.typing.NDArray[np.float64]


@dataclass(frozen=True)
class Lesson:
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
    def known(self) -> int:
        """The labels to learn from are 0 to this number, itself not among them."""
        return int(self.codes.max()) + 1

    @property
    def masses(self) -> FloatArray:
        """The weight of each class among the rows to learn from."""
        return np.bincount(self.codes, self.weights, self.classes).astype(float)

    @cached_property
    def seen(self) -> Ranks:
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
class Grown:
    """A tree of mictree's own."""

    lesson: Lesson
    tree: Tree

    def codes(self, rows: Any) -> Codes:
        """The label of each row."""
        return self.tree.predict(self._bits(rows))

    def shares(self, rows: Any) -> FloatArray:
        """The shares of classes in the row's leaf, by the weight of the rows learned from."""
        masses = np.zeros((len(self.tree.tests), self.lesson.classes))
        weights = 1.0 if self.lesson.weights is None else self.lesson.weights
        leaves = self.tree.apply(self._bits(self.lesson.rows))
        np.add.at(masses, (leaves, self.lesson.codes), weights)
        found = masses[self.tree.apply(self._bits(rows))]
        return found / found.sum(axis=1, keepdims=True)

    def _bits(self, rows: Any) -> Any:
        return self.lesson.problem.literals.transform(rows, self.tree)


@dataclass(frozen=True)
class Lone:
    """A lone leaf, which many learners cannot make."""

    lesson: Lesson

    def codes(self, rows: Any) -> Codes:
        """The label of each row."""
        return np.full(len(self.lesson.ranks(rows)), self.lesson.masses.argmax())

    def shares(self, rows: Any) -> FloatArray:
        """The shares of classes among all rows learned from."""
        masses = self.lesson.masses
        return np.tile(masses / masses.sum(), (len(self.lesson.ranks(rows)), 1))


@dataclass(frozen=True)
class Foreign:
    """A model of another package, which knows ranks and bits; its answers are checked."""

    lesson: Lesson
    name: str
    model: Any

    def codes(self, rows: Any) -> Codes:
        """The label of each row."""
        ranks = self.lesson.ranks(rows)
        labels = np.asarray(self.model.predict(ranks))
        if labels.shape != (len(ranks),):
            raise ValueError(
                f"a learner must predict one label a row; {self.name} gave the shape "
                f"{labels.shape} for {len(ranks)} rows"
            )
        known = np.isin(labels, np.arange(self.lesson.known))
        if not known.all():
            raise ValueError(
                "a learner must predict the labels it learned from, 0 to "
                f"{self.lesson.known - 1}; {self.name} gave {labels[~known][0]!r}"
            )
        return labels

    def shares(self, rows: Any) -> FloatArray:
        """The shares of classes that the model gives; of other classes 0."""
        if not hasattr(self.model, "predict_proba"):
            raise ValueError(
                f"this scoring needs probabilities, and so a model with predict_proba; "
                f"{self.name}'s has none"
            )
        ranks = self.lesson.ranks(rows)
        given = np.asarray(self.model.predict_proba(ranks), dtype=float)
        learned = np.asarray(getattr(self.model, "classes_", np.unique(self.lesson.codes)))
        if given.shape != (len(ranks), len(learned)):
            raise ValueError(
                f"predict_proba must give {len(learned)} numbers a row; {self.name} gave the shape "
                f"{given.shape} for {len(ranks)} rows"
            )
        shares = np.zeros((len(ranks), self.lesson.classes))
        shares[:, learned.astype(np.intp)] = given
        return shares


class Judged(ClassifierMixin, BaseEstimator):
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
