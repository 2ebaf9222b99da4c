"""Thresholds of a column in bins: the heaviest part is cut in its middle, again and again."""

from fractions import Fraction
from itertools import pairwise


def bin_edges(values, weights, most):
    """The pairs of neighbouring values with a threshold between them, at most so many."""
    distinct = sorted(set(values))
    mass = {value: Fraction(0) for value in distinct}
    for value, weight in zip(values, weights, strict=True):
        mass[value] += Fraction(weight)
    parts = [distinct]  # in the order in which they came about
    while len(parts) <= most:
        cuttable = [part for part in parts if len(part) > 1]
        if not cuttable:
            break
        part = max(cuttable, key=lambda part: sum(map(mass.get, part)))  # the first of equal ones
        number = parts.index(part)
        low, high = _halve(part, mass)
        parts[number] = low
        parts.append(high)
    ends = sorted(parts)
    return [(one[-1], other[0]) for one, other in pairwise(ends)]


def _halve(part, mass):
    """Cut where both sides weigh as nearly the same as they can; of two such cuts, the upper."""
    cuts = [(part[:place], part[place:]) for place in range(1, len(part))]

    def difference(cut):
        low, high = (sum(map(mass.get, side)) for side in cut)
        return abs(low - high)

    return min(reversed(cuts), key=difference)
