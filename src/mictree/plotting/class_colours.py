"""The colours of classes in drawings of trees.

No two classes share a colour of the palette. If there are more classes than colours, those that
leaves predict come first, then the most frequent ones, and all others are grey.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

# Okabe and Ito's palette, then colours of Tol's that differ from them
CLASS_COLOURS = (
    "#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2",
    "#999999", "#882255", "#44AA99", "#332288", "#DDCC77",
)  # fmt: skip
OTHERS_COLOUR = "#E4E4E4"


@dataclass(frozen=True)
class ClassColours:
    """A colour for each class.

    Attributes
    ----------
    named : the classes that have a colour of their own, ascending
    count : the number of all classes
    """

    named: tuple[int, ...]
    count: int

    @property
    def others(self) -> int:
        """The number of classes that are grey."""
        return self.count - len(self.named)

    def of(self, number: int) -> str:
        """The colour of a class."""
        return CLASS_COLOURS[self.named.index(number)] if number in self.named else OTHERS_COLOUR

    def parts(self, shares: Sequence[float]) -> list[tuple[float, str]]:
        """Shares of the classes with their colours, in their order; the grey ones last, as one."""
        own = [(shares[number], self.of(number)) for number in self.named]
        return [*own, (sum(shares) - sum(share for share, _ in own), OTHERS_COLOUR)]


def choose_colours(shares: Sequence[float], predicted: Collection[int]) -> ClassColours:
    """Choose the classes that have a colour of their own, by their shares and those of leaves."""
    numbers = range(len(shares))
    if len(shares) <= len(CLASS_COLOURS):
        return ClassColours(tuple(numbers), len(shares))
    ranked = sorted(numbers, key=lambda number: (number not in predicted, -shares[number], number))
    return ClassColours(tuple(sorted(ranked[: len(CLASS_COLOURS)])), len(shares))
