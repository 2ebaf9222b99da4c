"""What leaves predict, in words: classes, actions that have costs, or numbers.

A ``Splitting`` holds what every node of a growth would predict and what that costs. ``LeafWords``
turns it into the texts, columns and cards that exports, rules and explanations show, so that these
need no case for each task. ``ClassWords`` shows the share of each class, ``CostWords`` the mean
cost of the action (and the shares of classes, if rows have classes), ``NumberWords`` the standard
deviation of the labels. Nodes are numbered in order of creation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import show_digits, show_number
from mictree.tree import DIGITS

if TYPE_CHECKING:
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
