"""What leaves predict, in words: classes, actions that have costs, or numbers.

A ``Splitting`` holds what every node of a growth would predict and what that costs. ``LeafWords``
turns it into the texts, columns and cards that exports, rules and explanations show, so that these
need no case for each task. ``ClassWords`` shows the share of each class, ``CostWords`` the mean
cost of the action (and the shares of classes, if rows have classes), ``NumberWords`` the standard
deviation of the labels. Nodes are numbered in order of creation.

Predictions beside the truth, on rows that had no part in the fit: numbers, or actions.

``leaf_results`` groups the rows of a regression by what is predicted. A leaf whose rows lie far
from its prediction, or on one side of it, is one to distrust. ``action_results`` groups rows by
their true class, and says which actions they got and what these cost. The texts that a command
prints, the tables of a page and its picture come from the same values.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import DIGITS, show_digits, show_number, show_significant, show_text

if TYPE_CHECKING:
    import polars

    from mictree.estimators.predicting import ClassResults
    from mictree.growers.data_loop import Splitting


FloatArray = np.typing.NDArray[np.float64]
LEGEND_STEPS = 5  # numbers in the legend of a drawing


class LeafWords(ABC):
    """What the leaves of one growth predict.

    Attributes
    ----------
    labels : the names of the labels, by position; None if labels are numbers
    legend : the names of the colours of a drawing
    """

    labels: Sequence[str] | None
    legend: Sequence[str]

    def __init__(self, splitting: Splitting) -> None:
        self.splitting = splitting

    @abstractmethod
    def value(self, label: Any) -> Any:
        """What is predicted, as a value of Python."""

    def text(self, label: Any) -> str:
        """The same as a text."""
        return str(self.value(label))

    @abstractmethod
    def measures(self, leaf: int, label: Any) -> dict[str, float]:
        """How good the label is at a leaf, by the name of the measure."""

    @abstractmethod
    def note(self, leaf: int, label: Any) -> str:
        """The same in words, for a card."""

    @abstractmethod
    def columns(self, creation: np.typing.NDArray[np.intp]) -> dict[str, Any]:
        """Columns of a frame with a row for each node: the label, and what it is based on."""

    @abstractmethod
    def rows_like(self, leaf: int) -> str:
        """What the training rows at a leaf were."""

    def colour_parts(self, leaf: int, label: Any, split: bool) -> dict[str, Any]:
        """What the colours of a card show: arguments of ``Card``."""
        return {"shares": self.shares(leaf), "label": None if split else label}

    def shares(self, leaf: int) -> tuple[float, ...]:
        """The shares of what the legend names; empty if there are none."""
        return ()

    def merged_label(self, leaf: int) -> Any:
        """The label of a node."""
        return self.splitting.labels[leaf].item()


class ClassWords(LeafWords):
    """Leaves that predict their heaviest class."""

    def __init__(self, splitting: Splitting, classes: np.ndarray) -> None:
        super().__init__(splitting)
        self.classes = classes.tolist()
        self.labels = self.legend = [str(label) for label in classes]
        mass = splitting.masses.sum(axis=1, keepdims=True)
        self.by_class = splitting.masses / mass

    def value(self, label: Any) -> Any:
        return self.classes[label]

    def text(self, label: Any) -> str:
        return str(self.legend[label])

    def measures(self, leaf: int, label: Any) -> dict[str, float]:
        masses = self.splitting.masses[leaf].tolist()
        return {"precision": masses[label] / float(self.splitting.masses[leaf].sum())}

    def note(self, leaf: int, label: Any) -> str:
        error = "weighted error" if self.splitting.weighted else "error"
        return f"{error} {1 - self.by_class[leaf].max():.1%}"

    def columns(self, creation: np.typing.NDArray[np.intp]) -> dict[str, Any]:
        labels = self.splitting.labels[creation].tolist()
        return {"label": [self.text(label) for label in labels]} | self.rates(creation)

    def rates(self, creation: np.typing.NDArray[np.intp]) -> dict[str, Any]:
        """The share of each class."""
        shares = self.by_class[creation]
        return {f"rate of {name}": shares[:, code] for code, name in enumerate(self.legend)}

    def shares(self, leaf: int) -> tuple[float, ...]:
        return tuple(self.by_class[leaf].tolist())

    def rows_like(self, leaf: int) -> str:
        shares = sorted(zip(self.by_class[leaf], self.legend, strict=True), key=lambda s: -s[0])
        return ", ".join(f"{share:.0%} {name}" for share, name in shares if share > 0)


class CostWords(LeafWords):
    """Leaves that predict the action of least cost.

    Parameters
    ----------
    actions : that the leaves may predict
    classes : of the rows; None if rows have costs instead
    rewards : whether costs are rewards times -1
    """

    def __init__(
        self,
        splitting: Splitting,
        actions: Sequence[Any],
        classes: np.ndarray | None = None,
        rewards: bool = False,
    ) -> None:
        super().__init__(splitting)
        self.actions = list(actions)
        self.labels = [str(action) for action in actions]
        self._of_classes = None if classes is None else ClassWords(splitting, classes)
        known = [] if self._of_classes is None else self._of_classes.legend
        self.legend = list(dict.fromkeys([*known, *self.labels]))
        self._place = [self.legend.index(name) for name in self.labels]
        self.measure = "mean reward" if rewards else "mean cost"
        self._sign = -1.0 if rewards else 1.0
        outcome, mass = splitting.outcome, splitting.masses.sum(axis=1)
        assert outcome is not None
        assert outcome.by_action is not None
        base = splitting.offset * mass if outcome.base is None else outcome.base
        self.by_action = (outcome.by_action + base[:, None]) / mass[:, None]

    def value(self, label: Any) -> Any:
        return self.actions[label]

    def text(self, label: Any) -> str:
        assert self.labels is not None
        return str(self.labels[label])

    def measures(self, leaf: int, label: Any) -> dict[str, float]:
        return {self.measure: self._mean(leaf, label)}

    def note(self, leaf: int, label: Any) -> str:
        return f"{self.measure} {show_number(self._mean(leaf, label), DIGITS)}"

    def _mean(self, leaf: int, label: Any) -> float:
        return self._sign * float(self.by_action[leaf, label]) + 0.0  # no -0.0

    def columns(self, creation: np.typing.NDArray[np.intp]) -> dict[str, Any]:
        assert self.labels is not None
        found = self.splitting.labels[creation].tolist()
        means = self._sign * self.by_action[creation] + 0.0
        columns: dict[str, Any] = {
            "label": [self.text(label) for label in found],
            self.measure: means[np.arange(len(found)), found],
        }
        if self._of_classes is not None:
            return columns | self._of_classes.rates(creation)
        of = f"{self.measure} of"
        return columns | {f"{of} {name}": means[:, n] for n, name in enumerate(self.labels)}

    def shares(self, leaf: int) -> tuple[float, ...]:
        shares = () if self._of_classes is None else self._of_classes.shares(leaf)
        return (*shares, *[0.0] * (len(self.legend) - len(shares)))

    def colour_parts(self, leaf: int, label: Any, split: bool) -> dict[str, Any]:
        return {"shares": self.shares(leaf), "label": None if split else self._place[label]}

    def rows_like(self, leaf: int) -> str:
        assert self.labels is not None
        costs = sorted(
            ((self._mean(leaf, number), name) for number, name in enumerate(self.labels)),
            key=lambda each: self._sign * each[0],
        )
        shown = ", ".join(f"{show_number(cost, DIGITS)} with {name}" for cost, name in costs)
        found = f"{self.measure} {shown}"
        return found if self._of_classes is None else f"{self._of_classes.rows_like(leaf)}; {found}"


class NumberWords(LeafWords):
    """Leaves that predict the mean of their labels."""

    labels = None

    def __init__(self, splitting: Splitting) -> None:
        super().__init__(splitting)
        outcome = splitting.outcome
        assert outcome is not None
        self.means = outcome.labels
        self.spreads = np.sqrt(outcome.costs / splitting.masses.sum(axis=1))
        self._least = float((self.means - self.spreads).min())
        self._range = float((self.means + self.spreads).max()) - self._least
        steps = np.linspace(0, 1, LEGEND_STEPS) if self._range > 0 else np.zeros(1)
        self.legend = [show_digits(self._least + step * self._range, DIGITS) for step in steps]

    def value(self, label: Any) -> Any:
        return float(label)

    def text(self, label: Any) -> str:
        return show_digits(float(label), DIGITS)

    def measures(self, leaf: int, label: Any) -> dict[str, float]:
        return {"spread": float(self.spreads[leaf])}

    def note(self, leaf: int, label: Any) -> str:
        mean, spread = show_digits(float(self.means[leaf]), DIGITS), self.spreads[leaf]
        return f"{mean} ± {show_digits(float(spread), DIGITS)}"

    def columns(self, creation: np.typing.NDArray[np.intp]) -> dict[str, Any]:
        return {"value": self.means[creation], "spread": self.spreads[creation]}

    def colour_parts(self, leaf: int, label: Any, split: bool) -> dict[str, Any]:
        mean, spread = float(self.means[leaf]), float(self.spreads[leaf])
        low, middle, high = (self._level(each) for each in (mean - spread, mean, mean + spread))
        level = None if split else self._level(float(label))
        return {"shares": (), "level": level, "span": (low, middle, high)}

    def _level(self, number: float) -> float:
        """Where a number lies on the scale of the drawing, from 0 to 1."""
        if not self._range > 0:
            return 0.5
        return min(1.0, max(0.0, (number - self._least) / self._range))

    def rows_like(self, leaf: int) -> str:
        return (
            f"mean {show_digits(float(self.means[leaf]), DIGITS)}, "
            f"standard deviation {show_digits(float(self.spreads[leaf]), DIGITS)}"
        )


def show_measure(name: str, value: float) -> str:
    """How good a label is, in words."""
    if name == "spread":
        return f"standard deviation {show_digits(value, DIGITS)}"
    return f"{name} {show_number(value, DIGITS)}"


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
    >>> from mictree.estimators.leaves import LeafResults
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
    >>> from mictree.estimators.leaves import ActionResults
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
