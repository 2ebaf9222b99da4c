"""The best size for every price per split, as intervals of prices.

The cost of a tree is its error plus the price of its splits. As the price falls, the best size
moves along the lower convex hull of the points (size, error). A cost is certified if no size can
cost less: not by its certified lower bound, and not beyond the sizes that were searched, where the
error is at least the one that no tree can avoid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import count_of, show_number
from mictree.columns.data import Data

if TYPE_CHECKING:
    import polars

ROUNDING = 1e-12  # costs that differ by less are equal

FloatArray = np.typing.NDArray[np.float64]
Point = tuple[int, float]  # a size and an error


@dataclass(frozen=True)
class PriceRange:
    """A range of prices with one best size.

    Attributes
    ----------
    least, most : the prices, from ``least`` (excluded, unless it is 0) to ``most``
    size, error : of the best tree
    certified : whether no tree of any size costs less
    """

    least: float
    most: float
    size: int
    error: float
    certified: bool


class PenaltyPath(Sequence[PriceRange]):
    """The best size for every price per split, from high prices to low ones."""

    def __init__(self, ranges: Sequence[PriceRange]) -> None:
        self._ranges = tuple(ranges)

    def __getitem__(self, number: Any) -> Any:
        return self._ranges[number]

    def __len__(self) -> int:
        return len(self._ranges)

    def at(self, price: float) -> PriceRange:
        """The range of a price; where two sizes cost the same, the one of the smaller tree."""
        return min(self._touching(price), key=lambda each: (each.size, not each.certified))

    def _touching(self, price: float) -> list[PriceRange]:
        """The ranges that hold a price, at their ends but for rounding."""
        if not price >= 0:
            raise ValueError(f"a price must be at least 0; got {price!r}")
        return [
            each for each in self._ranges if each.least - ROUNDING <= price <= each.most + ROUNDING
        ]

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each range."""
        import polars

        names = ("size", "error", "least", "most", "certified")
        return polars.DataFrame(
            {
                {"least": "price_from", "most": "price_to"}.get(name, name): [
                    getattr(each, name) for each in self
                ]
                for name in names
            }
        )

    def __str__(self) -> str:
        lines = []
        for each in self:
            most = "on" if math.isinf(each.most) else f"to {each.most:.4g}"
            sure = "" if each.certified else ", not certified"
            splits, error = count_of(each.size, "split"), show_number(each.error, 4)
            lines.append(f"price from {each.least:.4g} {most}: {splits}, error {error}{sure}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from mictree._support.notebook import to_table

        return to_table(self.frame.columns, self.frame.rows())

    def __repr__(self) -> str:
        return f"PenaltyPath({len(self)} ranges, sizes {', '.join(str(r.size) for r in self)})"


def penalty_path(lower: FloatArray, upper: FloatArray, beyond: float | None) -> PenaltyPath:
    """The path of certified errors by size.

    Parameters
    ----------
    lower, upper : bounds on the least error of each size; ``upper`` is attained
    beyond : a lower bound on the error of larger trees; None if no larger tree does better
    """
    found = list(enumerate(np.asarray(upper, dtype=float).tolist()))
    best, least = _hull(found), _hull(_possible(lower, beyond))
    prices = sorted({0.0, *_prices(best), *_prices(least)}, reverse=True)
    ranges: list[PriceRange] = []
    for number, low in enumerate(prices):
        high = prices[number - 1] if number else math.inf
        inside = low + 1 if math.isinf(high) else (low + high) / 2
        size, error = min(best, key=lambda point: (_cost(point, inside), point[0]))
        cheapest = min(_cost(point, inside) for point in least)
        certified = _cost((size, error), inside) <= cheapest + ROUNDING
        last = ranges[-1] if ranges else None
        if last is not None and (last.size, last.certified) == (size, certified):
            ranges[-1] = PriceRange(low, last.most, size, error, certified)
        else:
            ranges.append(PriceRange(low, high, size, error, certified))
    return PenaltyPath(ranges)


def is_certified(lower: FloatArray, upper: FloatArray, beyond: float | None, price: float) -> bool:
    """Whether no tree of any size costs less, at this price, than the cheapest one.

    The arguments are those of ``penalty_path``. A whole range of prices may be open around a price
    at which it is certified.
    """
    found, least = (
        min(_cost(point, price) for point in points)
        for points in (enumerate(upper.tolist()), _possible(lower, beyond))
    )
    return found <= least + ROUNDING


def unavoidable(data: Data, codes: np.ndarray, weights: FloatArray | None) -> float:
    """The error of every tree: rows that are equal in all columns but not in class."""
    group = np.zeros(data.rows, dtype=np.int64)
    for number in range(data.width):
        values = data.column(number)
        if isinstance(values, list):
            seen: dict[object, int] = {}
            found = np.array([seen.setdefault(value, len(seen)) for value in values])
        else:
            found = np.unique(values, return_inverse=True)[1]
        group = np.unique(group * (int(found.max()) + 1) + found, return_inverse=True)[1]
    mass = np.zeros((int(group.max()) + 1, int(codes.max()) + 1))
    np.add.at(mass, (group, codes), 1.0 if weights is None else weights)
    return float((mass.sum(axis=1) - mass.max(axis=1)).sum() / mass.sum())


def _possible(lower: FloatArray, beyond: float | None) -> list[Point]:
    """The least error of each size that is not refuted, and of the size after them."""
    possible = list(enumerate(np.asarray(lower, dtype=float).tolist()))
    if beyond is not None:
        possible.append((len(possible), min(beyond, possible[-1][1])))
    return possible


def _cost(point: Point, price: float) -> float:
    size, error = point
    return error + price * size


def _hull(points: list[Point]) -> list[Point]:
    """The lower convex hull, from the smallest size to the first with the least error."""
    hull: list[Point] = []
    for point in points:
        if hull and point[1] >= hull[-1][1] - ROUNDING:
            continue  # more splits, no less error
        while len(hull) > 1 and _slope(hull[-2], point) <= _slope(hull[-2], hull[-1]):
            hull.pop()
        hull.append(point)
    return hull


def _slope(one: Point, other: Point) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])


def _prices(hull: list[Point]) -> list[float]:
    """The prices at which neighbours of a hull cost the same."""
    return [-_slope(one, other) for one, other in pairwise(hull)]
