"""Gains and reaches at one shared bias, exactly.

A gain is kept as a sum of impurities times factors, so that equal sums are equal numbers. Different
sums of entropies or of roots may be equal numbers too; then nothing follows.
"""

from collections import defaultdict
from fractions import Fraction
from functools import cache

from mictree.families.bias_boxes import Cubes
from mictree.families.bias_points import IMPURITIES, counts_by_ones

# rates of at most 1/2 and the factors of their impurities; empty for 0
Sum = tuple[tuple[Fraction, Fraction], ...]


class ExactValues:
    """The gains and reaches of a function's restrictions at single biases."""

    def __init__(self, cubes: Cubes) -> None:
        self.cubes = cubes
        self.rate = cache(self._rate)
        self.gain = cache(self._gain)

    def reach(self, cube: int, bias: Fraction) -> Fraction:
        """The chance of a restriction."""
        values = self.cubes.values[cube]
        return bias ** values.count(1) * (1 - bias) ** values.count(0)

    def _rate(self, cube: int, bias: Fraction) -> Fraction:
        counts = counts_by_ones(self.cubes.positive[cube])
        free = len(counts) - 1
        return sum(
            (count * bias**ones * (1 - bias) ** (free - ones) for ones, count in enumerate(counts)),
            Fraction(0),
        )

    def _gain(self, cube: int, variable: int, criterion: str, bias: Fraction) -> Sum:
        zero, one = self.cubes.children[cube][variable]
        factors: dict[Fraction, Fraction] = defaultdict(Fraction)
        for each, factor in ((cube, Fraction(1)), (zero, bias - 1), (one, -bias)):
            rate = self.rate(each, bias)
            if criterion in ("gini", "minority"):  # whose values are rational, too
                factors[Fraction(1)] += factor * IMPURITIES[criterion](rate, 1 - rate)
            elif 0 < rate < 1:
                factors[min(rate, 1 - rate)] += factor
        return tuple(sorted((rate, factor) for rate, factor in factors.items() if factor))


def scaled(gain: Sum, reach: Fraction) -> Sum:
    """A gain times a reach."""
    return tuple((rate, factor * reach) for rate, factor in gain)
