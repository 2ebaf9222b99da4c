"""Predicted numbers beside true ones, leaf by leaf, on rows that had no part in the fit.

``leaf_results`` puts rows through a fitted regression tree and groups them by what is predicted. A
leaf whose rows lie far from its prediction, or on one side of it, is one to distrust. The texts
that a command prints, the table of a page and its picture all come from one ``LeafResults``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import show_digits, show_significant
from mictree.tree import DIGITS

if TYPE_CHECKING:
    import polars

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
    >>> from mictree.estimators.residuals import LeafResults
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
        lines = []
        for value, weight, mean, residual, root in self.frame.iter_rows():
            known = ("-", "-", "-") if mean is None else (
                show_digits(mean, DIGITS), show_significant(residual), show_significant(root)
            )  # fmt: skip
            lines.append((show_digits(value, DIGITS), show_digits(weight, 4), *known))
        return lines

    def __str__(self) -> str:
        lines = [self.heads(), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )


def leaf_results(model: Any, X: Any, y: Any, weights: Any = None) -> LeafResults:
    """The rows of a fitted regression tree; a leaf that no row reaches is there too."""
    tree = model.tree_
    values = {float(tree.labels[leaf]) for leaf in tree.leaves}
    truth, predicted = np.asarray(y, dtype=float), np.asarray(model.predict(X), dtype=float)
    given = None if weights is None else np.asarray(weights, dtype=float)
    return LeafResults(truth, predicted, given, tuple(sorted(values)))
