"""Predictions beside the truth, on rows that had no part in the fit: numbers, or actions.

``leaf_results`` groups the rows of a regression by what is predicted. A leaf whose rows lie far
from its prediction, or on one side of it, is one to distrust. ``action_results`` groups rows by
their true class, and says which actions they got and what these cost. The texts that a command
prints, the tables of a page and its picture come from the same values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import show_digits, show_number, show_significant, show_text
from mictree.tree import DIGITS

if TYPE_CHECKING:
    import polars

    from mictree.estimators.predicting import ClassResults

FloatArray = np.typing.NDArray[np.float64]
HEADS = ("prediction", "rows", "mean", "mean residual", "root mean squared error")


@dataclass(frozen=True)
class LeafResults:
    """Rows of a regression beside their predictions.

    Attributes
    ----------
    truth, predicted : the true and the predicted number of each row
    weights : of the rows; None if all are 1
    values : what the leaves of the tree predict, ascending, each once

    Examples
    --------
    >>> import numpy as np
    >>> from mictree.estimators.results import LeafResults
    >>> found = LeafResults(np.array([1.0, 3.0, 7.0]), np.array([2.0, 2.0, 6.0]))
    >>> found.mean_squared_error, round(found.r2, 3)
    (1.0, 0.839)
    >>> print(found)
    prediction  rows  mean  mean residual  root mean squared error
             2     2     2              0                        1
             6     1     7              1                        1
    """

    truth: FloatArray
    predicted: FloatArray
    weights: FloatArray | None = None
    values: tuple[float, ...] = ()

    @property
    def residuals(self) -> FloatArray:
        """True minus predicted number of each row."""
        return self.truth - self.predicted

    @property
    def mean_squared_error(self) -> float:
        """The mean of squared residuals, by weight."""
        return float(np.average(self.residuals**2, weights=self.weights))

    @property
    def r2(self) -> float:
        """The share of the variance of these rows that is predicted; NaN if they have none."""
        middle = np.average(self.truth, weights=self.weights)
        spread = float(np.average((self.truth - middle) ** 2, weights=self.weights))
        return 1 - self.mean_squared_error / spread if spread > 0 else math.nan

    @cached_property
    def leaves(self) -> tuple[float, ...]:
        """The different predictions, ascending; also those for none of the rows."""
        return tuple(sorted({*self.values, *self.predicted.tolist()}))

    def at(self, value: float) -> LeafResults:
        """The rows for which a number is predicted."""
        here = self.predicted == value
        weights = None if self.weights is None else self.weights[here]
        return LeafResults(self.truth[here], self.predicted[here], weights)

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each different prediction."""
        import polars

        rows = [self._row(value) for value in self.leaves]
        counts = {HEADS[1]: polars.Int64} if self.weights is None else {}
        kinds = dict.fromkeys(HEADS, polars.Float64) | counts
        return polars.DataFrame(rows, schema=kinds, orient="row")

    def _row(self, value: float) -> tuple[float | None, ...]:
        found = self.at(value)
        weight = len(found.truth) if found.weights is None else float(found.weights.sum())
        if not weight:
            return value, weight, None, None, None
        mean = float(np.average(found.truth, weights=found.weights))
        return value, weight, mean, mean - value, math.sqrt(found.mean_squared_error)

    def heads(self) -> tuple[str, ...]:
        """The headings of ``cells``."""
        return HEADS

    def cells(self) -> list[tuple[str, ...]]:
        """The frame as texts."""
        return cells_of_leaves(self.frame)

    def __str__(self) -> str:
        return "\n".join(align([self.heads(), *self.cells()]))


def cells_of_leaves(frame: polars.DataFrame) -> list[tuple[str, ...]]:
    """A frame with a row for each different prediction as texts."""
    lines = []
    for value, weight, mean, residual, root in frame.iter_rows():
        known = ("-", "-", "-") if mean is None else (
            show_digits(mean, DIGITS), show_significant(residual), show_significant(root)
        )  # fmt: skip
        lines.append((show_digits(value, DIGITS), show_digits(weight, 4), *known))
    return lines


def leaf_results(model: Any, X: Any, y: Any, weights: Any = None) -> LeafResults:
    """The rows of a fitted regression tree; a leaf that no row reaches is there too."""
    tree = model.tree_
    values = {float(tree.labels[leaf]) for leaf in tree.leaves}
    truth, predicted = np.asarray(y, dtype=float), np.asarray(model.predict(X), dtype=float)
    given = None if weights is None else np.asarray(weights, dtype=float)
    return LeafResults(truth, predicted, given, tuple(sorted(values)))


@dataclass(frozen=True)
class ActionResults:
    """Rows by their true class and the action that a tree takes for them.

    Attributes
    ----------
    classes, actions : their names
    counts : by class and action, the number of rows, or their weight
    costs : by class and action

    Examples
    --------
    >>> import numpy as np
    >>> from mictree.estimators.results import ActionResults
    >>> counts, costs = np.array([[8, 2], [1, 3]]), np.array([[0.0, 1.0], [10.0, 0.0]])
    >>> found = ActionResults(("well", "ill"), ("send home", "keep"), counts, costs)
    >>> round(found.mean_cost(), 3)
    0.857
    >>> print(found)
    class  rows  mean cost  send home  keep
     well    10        0.2          8     2
      ill     4        2.5          1     3
    """

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    counts: np.typing.NDArray[Any]
    costs: FloatArray

    @classmethod
    def of_classes(
        cls, found: ClassResults, costs: Mapping[Any, Mapping[Any, float]]
    ) -> ActionResults:
        """The same as results by class whose labels are classes and actions."""
        classes, actions = tuple(costs), tuple(next(iter(costs.values())))
        place = {label: number for number, label in enumerate(found.classes)}
        rows, columns = ([place[label] for label in labels] for labels in (classes, actions))
        table = np.array([[costs[label][action] for action in actions] for label in classes])
        return cls(classes, actions, found.confusion[np.ix_(rows, columns)], table)

    def mean_cost(self, factors: Mapping[Any, float] | None = None) -> float:
        """The mean cost of all rows; ``factors`` multiply the weights of their classes."""
        found = [1.0 if factors is None else factors.get(each, 1.0) for each in self.classes]
        weights = self.counts * np.array(found)[:, None]
        return float((weights * self.costs).sum() / weights.sum())

    @property
    def costs_of_classes(self) -> FloatArray:
        """The mean cost of the rows of each class; NaN for no rows."""
        rows = self.counts.sum(axis=1)
        sums = (self.counts * self.costs).sum(axis=1)
        return np.divide(sums, rows, out=np.full(len(rows), math.nan), where=rows > 0)

    def heads(self) -> tuple[str, ...]:
        """The headings of ``cells``."""
        return ("class", "rows", "mean cost", *(show_text(str(each)) for each in self.actions))

    def cells(self) -> list[tuple[str, ...]]:
        """One line for each class."""
        lines = []
        for name, counts, cost in zip(
            self.classes, self.counts, self.costs_of_classes, strict=True
        ):
            shown = "-" if math.isnan(cost) else show_number(float(cost), DIGITS)
            numbers = [_show_count(each) for each in (counts.sum(), *counts)]
            lines.append((show_text(str(name)), numbers[0], shown, *numbers[1:]))
        return lines

    def __str__(self) -> str:
        return "\n".join(align([self.heads(), *self.cells()]))


def action_results(
    model: Any, X: Any, y: Any, weights: Any, costs: Mapping[Any, Mapping[Any, float]]
) -> ActionResults:
    """The rows of a fitted tree that takes actions; ``costs`` are by class and action."""
    classes, actions = tuple(costs), tuple(next(iter(costs.values())))
    place = {label: number for number, label in enumerate(classes)}
    column = {action: number for number, action in enumerate(actions)}
    truth = [place[label] for label in np.asarray(y).tolist()]
    taken = [column[action] for action in model.predict(X).tolist()]
    counts = np.zeros((len(classes), len(actions)), dtype=int if weights is None else float)
    np.add.at(counts, (truth, taken), 1 if weights is None else np.asarray(weights, dtype=float))
    table = np.array([[costs[label][action] for action in actions] for label in classes])
    return ActionResults(classes, actions, counts, table)


def _show_count(number: Any) -> str:
    """A number of rows, or a weight in four digits or more."""
    return f"{number:,}" if isinstance(number, np.integer) else show_digits(float(number), 4)


def align(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of cells below one another."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
