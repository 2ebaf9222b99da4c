"""The literals of one column: their choice, their texts, and their answers for values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mictree.columns.ordered import TIMES, changed, midpoint, midpoints, round_midpoint, show
from mictree.columns.packing import NONE

FloatArray = np.typing.NDArray[np.float64]
BoolArray = np.typing.NDArray[np.bool_]
Texts = tuple[str, str]  # a literal's text, and the text of its negation


@dataclass(frozen=True)
class Column:
    """How one column becomes literals.

    Attributes
    ----------
    below, above : of an ordered column, the values on both sides of each threshold, ascending;
        0 and 1 for a binary one
    binned : there are values with no threshold between them
    categories : of a categorical column, sorted; None for an ordered one
    implied : categories of the training rows that need no literal, as another one's negation is it
    levels : the categories of an ordered column of categories, whose values are positions
    missing : whether "is missing" is a literal too, the last one
    style : the type of an ordered column: how it reads
    """

    name: str
    below: FloatArray = field(default_factory=lambda: np.empty(0))
    above: FloatArray = field(default_factory=lambda: np.empty(0))
    binned: bool = False
    categories: tuple[Any, ...] | None = None
    levels: tuple[Any, ...] | None = None
    missing: bool = False
    style: str = "number"
    implied: tuple[Any, ...] = ()

    @property
    def thresholds(self) -> int:
        """The number of thresholds."""
        return len(self.below)

    @property
    def ranked(self) -> bool:
        """Whether thresholds are stored as ranks; a single one is a bit if no value is missing."""
        binary = self.style in ("binary", "boolean")
        return self.thresholds > 1 or (self.thresholds == 1 and self.missing and not binary)

    @property
    def count(self) -> int:
        """The number of literals."""
        offered = len(self.below) if self.categories is None else len(self.categories)
        return offered + self.missing

    def threshold(self, position: int) -> float:
        """The threshold of a literal; NaN if it has none."""
        if position >= len(self.below):
            return math.nan
        below, above = float(self.below[position]), float(self.above[position])
        return self._at_tick(midpoint(below, above), below, above)

    def between(self, low: int, high: int) -> tuple[int, float]:
        """The test for rows whose ranks are two neighbours among those of a leaf.

        Halfway between the leaf's values, or with bins at the middle one of the thresholds offered.
        Returns its position, as a literal that separates the rows of the whole table alike.
        """
        first, last = low - self.missing, high - self.missing - 1  # of the thresholds between
        if self.binned:
            position = (first + last) // 2
            return position, self.threshold(position)
        below, above = float(self.below[first]), float(self.above[last])
        threshold = self._at_tick(round_midpoint(below, above), below, above)
        if first == last:
            return first, threshold
        return first + int(self.above[first : last + 1].searchsorted(threshold, "right")), threshold

    def _at_tick(self, threshold: float, below: float, above: float) -> float:
        """A time between whole microseconds at a whole one: many databases have no half of one."""
        if self.style in TIMES and below.is_integer() and above.is_integer():
            return float(math.floor(threshold))
        return threshold

    def cut(self, threshold: float) -> int:
        """The position of the literal that separates the training rows as a threshold does."""
        return int(self.above.searchsorted(threshold, side="right"))

    def text(self, position: int, threshold: float | None = None) -> Texts:
        """The text of a literal and its negation's; ``tell_apart`` resolves clashes."""
        if self.categories is not None:
            return self._category_texts[position]
        if position == len(self.below):
            return self._is("missing")
        if self.style == "boolean":
            return self._is("True")
        if self.style == "binary":
            return self.name, f"not {self.name}"
        exact = self.threshold(position) if threshold is None else threshold
        around = float(self.below[position]), float(self.above[position])
        text = show(exact, *around, self.style, self.levels)
        above = f"{self.name} > {text}"
        # a missing value is neither above nor below
        return above, f"not {above}" if self.missing else f"{self.name} <= {text}"

    def texts(self) -> list[Texts]:
        """Those of all literals."""
        return [self.text(position) for position in range(self.count)]

    @cached_property
    def _category_texts(self) -> list[Texts]:
        categories = self.categories or ()
        missing = [self._is("missing")] if self.missing else []
        texts = [self._is(str(category)) for category in categories] + missing
        if "missing" in categories or not _differ(texts):
            quoted = [repr(str(c)) if isinstance(c, str) else str(c) for c in categories]
            texts = [self._is(word) for word in quoted] + missing
        return texts

    def _is(self, word: str) -> Texts:
        return f"{self.name} is {word}", f"{self.name} is not {word}"

    def positions(self, values: FloatArray | list[Any]) -> np.typing.NDArray[np.int32]:
        """The position of each value of a categorical column among its literals; NONE without."""
        position: dict[Any, int] = {
            category: number for number, category in enumerate(self.categories or ())
        }
        if self.missing:
            position[None] = len(position)
        return np.array(
            [position.get(value, NONE) for value in self.as_categories(values)], np.int32
        )

    def ranks(self, values: FloatArray | list[Any]) -> FloatArray:
        """The ranks of values of an ordered column, as those of the training rows."""
        return self.ranks_of(self.as_numbers(values))

    def ranks_of(self, numbers: FloatArray) -> FloatArray:
        """The same for numbers; those of an ordered column of categories are positions."""
        thresholds = midpoints(self.below, self.above)
        if self.style in TIMES:  # as ``_at_tick``
            whole = (self.below % 1 == 0) & (self.above % 1 == 0)
            thresholds = np.where(whole, np.floor(thresholds), thresholds)
        ranks = np.searchsorted(thresholds, numbers) + float(self.missing)
        return np.where(np.isnan(numbers), 0.0, ranks)

    def holds(
        self, position: int, values: FloatArray | list[Any], threshold: float | None = None
    ) -> BoolArray:
        """Whether each value satisfies one of the literals, or is above a threshold."""
        if self.categories is not None:
            wanted = self.categories[position] if position < len(self.categories) else None
            return np.array([value == wanted for value in self.as_categories(values)], dtype=bool)
        numbers = self.as_numbers(values)
        if position == len(self.below):
            return np.isnan(numbers)
        return numbers > (self.threshold(position) if threshold is None else threshold)

    def as_numbers(self, values: FloatArray | list[Any]) -> FloatArray:
        """The values of an ordered column."""
        if isinstance(values, list) and self.levels is not None:
            return as_levels(values, self.levels, self.name)
        if isinstance(values, list) and any(value is not None for value in values):
            raise changed(self.name, self.style, "text")
        if self.levels is not None and not np.all(np.isnan(np.asarray(values, dtype=float))):
            raise changed(self.name, "category", "number")
        return np.asarray([math.nan] * len(values) if isinstance(values, list) else values, float)

    def as_categories(self, values: FloatArray | list[Any]) -> list[Any]:
        """The values of a categorical column, None where missing."""
        if isinstance(values, list):
            return values
        if not np.all(np.isnan(values)):
            raise changed(self.name, "category", "number")
        return [None] * len(values)


def as_levels(values: list[Any], levels: tuple[Any, ...], name: str) -> FloatArray:
    """The position of each category in its order; NaN where missing."""
    position = {level: float(number) for number, level in enumerate(levels)}
    position[None] = math.nan
    unknown = next((value for value in values if value not in position), None)
    if unknown is not None:
        known = ", ".join(map(str, levels[:10]))
        raise ValueError(f"an ordered category must be one of {known}; {name} has {unknown}")
    return np.array([position[value] for value in values], dtype=float)


def _differ(texts: Sequence[Texts]) -> bool:
    return len({text for pair in texts for text in pair}) == 2 * len(texts)
