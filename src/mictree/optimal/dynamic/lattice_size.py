"""Quick lower bounds on the number of a formula's restrictions, before any is made.

Restrictions are counted by distance: the least number of tests that lead to them.
"""

from collections import Counter, defaultdict
from math import comb

import numpy as np

TermValues = tuple[int, ...]


def fewest_restrictions(terms: tuple[TermValues, ...], max_size: int) -> int:
    """At least so many restrictions lie within ``max_size`` tests of a formula.

    Terms that share no satisfaction probability, not even through others, never become alike: the
    counts of such parts multiply.
    """
    total = np.array([1], dtype=object)
    for part in _parts(terms):
        total = np.convolve(total, _fewest_of_part(part, max_size))[: max_size + 1]
    return int(total.sum())


def _parts(terms: tuple[TermValues, ...]) -> list[list[TermValues]]:
    """The terms, those together that share values directly or through others."""
    parts: list[tuple[set[int], list[TermValues]]] = []
    for term in terms:
        values, members = set(term), [term]
        apart = []
        for known, others in parts:
            if known & values:
                values |= known
                members += others
            else:
                apart.append((known, others))
        parts = [*apart, (values, members)]
    return [members for _, members in parts]


def _fewest_of_part(terms: list[TermValues], max_size: int) -> np.ndarray:
    """A lower bound for terms that may become alike, by distance."""
    if len(set().union(*terms)) == 1:
        return _of_one_value(sorted(map(len, terms), reverse=True), max_size)
    candidates = [_of_copies(term, copies, max_size) for term, copies in Counter(terms).items()]
    return max(candidates, key=lambda counts: counts.sum())


def _of_copies(term: TermValues, copies: int, max_size: int) -> np.ndarray:
    """Of equal terms, the larger of two families of restrictions.

    Each term lost at most one literal or was falsified; or only one term changed.
    """
    counts = Counter(term).values()
    ways = len(counts) + 1
    changed = range(min(copies, max_size) + 1)
    many = np.array([comb(ways + number - 1, number) for number in changed], dtype=object)
    left = np.array([1], dtype=object)  # by number of literals tested
    for count in counts:
        left = np.convolve(left, np.ones(count + 1, dtype=object))[: max_size + 1]
    if len(left) == len(term) + 1:
        left[-1] -= 1  # a satisfied term makes the formula constant
    if len(left) > 1:
        left[1] += 1  # the term falsified
    return max(many, left, key=lambda counted: counted.sum())


def _of_one_value(lengths: list[int], max_size: int) -> np.ndarray:
    """Where all literals are alike: rows of lengths below the given ones, place by place.

    Shortening a term costs one test a literal, and falsifying it one.
    """
    ways = {(lengths[0], 0): 1}  # by the last length chosen and the tests spent
    for length in lengths:
        longer: Counter[tuple[int, int]] = Counter()
        for (previous, spent), count in ways.items():
            for left in range(min(previous, length) + 1):
                cost = spent + (length - left if left else 1)
                if cost <= max_size:
                    longer[left, cost] += count
        ways = longer
    spent_in = defaultdict(int, {0: 1} if not ways else {})
    for (_, spent), count in ways.items():
        spent_in[spent] += count
    return np.array([spent_in[spent] for spent in range(max(spent_in) + 1)], dtype=object)
