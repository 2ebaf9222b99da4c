"""Least costs of trees whose tests may let rows go free, by trying all of them.

A test is a pair of sets of rows: those that go to the low child and those that go to the high one.
Rows in neither are free: they cost nothing from there on.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise


def number_tests(
    values: Sequence[float | None], cuts: Sequence[float], within: bool
) -> list[tuple[frozenset, frozenset]]:
    """Tests at the cuts, and ``within`` each stretch between two of them; missing values are low.

    A stretch of one value between two cuts has no test within it; the first and the last always do.
    """
    rows = range(len(values))

    def between(low: float, high: float) -> frozenset:
        return frozenset(r for r in rows if values[r] is not None and low < values[r] <= high)

    missing = frozenset(r for r in rows if values[r] is None)
    ends = [float("-inf"), *sorted(cuts), float("inf")]
    tests = [(missing | between(ends[0], cut), between(cut, ends[-1])) for cut in cuts]
    if missing:
        tests.append((missing, frozenset(rows) - missing))
    for number, (low, high) in enumerate(pairwise(ends) if within else ()):
        inside = {values[r] for r in between(low, high)}
        if len(inside) > 1 or number in (0, len(ends) - 2):
            tests.append((missing | between(ends[0], low), between(high, ends[-1])))
    return tests


def word_tests(words: Sequence[str | None]) -> list[tuple[frozenset, frozenset]]:
    """Whether a cell is a word, or missing."""
    rows = frozenset(range(len(words)))
    held = [frozenset(r for r in rows if words[r] == word) for word in set(words)]
    return [(rows - high, high) for high in held]


def least_cost(
    rows: frozenset,
    labels: Sequence,
    weights: Sequence[int],
    tests: Iterable[tuple[frozenset, frozenset]],
    splits: int,
    depth: int,
) -> Fraction:
    """The least weight that is labelled wrongly."""
    tests = list(tests)
    masses: dict = {}
    for row in rows:
        masses[labels[row]] = masses.get(labels[row], 0) + Fraction(weights[row])
    best = sum(masses.values(), Fraction(0)) - max(masses.values(), default=Fraction(0))
    if splits == 0 or depth == 0 or best == 0:
        return best
    for low, high in tests:
        for part in range(splits):
            below = least_cost(rows & low, labels, weights, tests, part, depth - 1)
            if below < best:
                over = least_cost(rows & high, labels, weights, tests, splits - 1 - part, depth - 1)
                best = min(best, below + over)
    return best
