"""A plain learner from rows: every literal, every leaf and every gain anew at every step.

Rows, tests and names are those of `literals.py`. Trees are labels or (literal, low, high).
"""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

from .impurity import as_decimal

TOLERANCE = Decimal("1e-10")
EIGHTY_DIGITS = Context(prec=80)
ZERO = Decimal("1e-70")  # far above the rounding error of 80 digits


@cache
def impurity(masses, criterion):
    """Of exact masses by class, as a Decimal."""
    shares = [Fraction(mass) / sum(masses) for mass in masses if mass]
    with localcontext(EIGHTY_DIGITS):
        if criterion == "entropy":
            return -sum(as_decimal(s) * as_decimal(s).ln() for s in shares) / Decimal(2).ln()
        if criterion == "gini":
            return as_decimal(sum(s * (1 - s) for s in shares))
        if criterion == "root":
            return sum((as_decimal(s * (1 - s)).sqrt() for s in shares), Decimal(0))
        return as_decimal(1 - max(shares))


@cache
def gain(low, high, criterion):
    """The drop in impurity when a leaf is split into two with these masses."""
    whole = tuple(one + other for one, other in zip(low, high, strict=True))
    with localcontext(EIGHTY_DIGITS):
        drop = impurity(whole, criterion)
        for part in (low, high):
            drop -= as_decimal(Fraction(sum(part)) / sum(whole)) * impurity(part, criterion)
        return Decimal(0) if abs(drop) < ZERO else drop


def grow(rows, labels, weights, offered, priority, criterion, ties, max_size, split=2, least=1,
         depth=math.inf, min_gain=0, ahead=1):  # fmt: skip
    """One tree per size from 0 to max_size; labels are 0, 1, ..., the first class wins ties.

    Weights are integers or Fractions. ``offered`` gives the tests of a leaf's rows; `priority` is a
    function as in `loops.py`; ``ahead`` is the depth of the subtrees whose drop is a split's gain.
    """
    classes = range(max(labels) + 1)
    mass = lambda leaf: tuple(sum(weights[r] for r in leaf if labels[r] == c) for c in classes)  # noqa: E731
    tie = lambda value, best: value >= best - TOLERANCE * abs(best)  # noqa: E731

    def drops(inside, deep, levels):
        """By literal, the largest drops of subtrees of depth ``levels``, ``levels`` - 1, ..., 1."""
        found = {}
        if deep >= depth or len(inside) < split or len({labels[r] for r in inside}) < 2:
            return found
        for literal, (_, test) in enumerate(offered([rows[r] for r in inside])):
            high = tuple(r for r in inside if test(rows[r]))
            low = tuple(r for r in inside if not test(rows[r]))
            if min(len(low), len(high)) < max(1, least):
                continue
            by_level = [gain(mass(low), mass(high), criterion)] * levels
            for part in (low, high) if levels > 1 else ():
                below = drops(part, deep + 1, levels - 1)
                share = as_decimal(Fraction(sum(mass(part))) / sum(mass(inside)))
                for level in range(levels - 1) if below else ():
                    by_level[level] += share * max(values[level] for values in below.values())
            found[literal] = by_level
        return found

    leaves, trees, made = [(tuple(range(len(rows))), 0, 0)], [], []  # rows, depth, born
    while True:
        trees.append(assemble(made, [mass(rows_) for rows_, _, _ in leaves]))
        offers = []  # priority, weight, leaf, test
        for number, (inside, deep, born) in enumerate(leaves):
            if any(step[0] == number for step in made):
                continue
            gains = drops(inside, deep, ahead)
            if gains and max(gains.values())[0] >= min_gain:
                best = max(gains.values())[0]
                tied = list(gains)
                for level in range(len(gains[tied[0]])):  # the deepest subtrees first
                    largest = max(gains[literal][level] for literal in tied)
                    tied = [literal for literal in tied if tie(gains[literal][level], largest)]
                share = as_decimal(Fraction(sum(mass(inside))) / sum(weights))
                with localcontext(EIGHTY_DIGITS):
                    urgency = priority(share, best, born)
                tests = offered([rows[r] for r in inside])
                offers.append((urgency, share, number, tests[tied[0 if ties == "first" else -1]]))
        if not offers or len(trees) > max_size:
            return trees + trees[-1:] * (max_size + 1 - len(trees))
        urgent = max(offer[0] for offer in offers)
        offers = [offer for offer in offers if tie(offer[0], urgent)]
        if ties in ("heaviest", "lightest"):
            sign = 1 if ties == "heaviest" else -1
            offers = [o for o in offers if tie(o[1] ** sign, max(p[1] ** sign for p in offers))]
        _, _, number, (text, test) = offers[0 if ties == "first" else -1]
        inside, deep, _ = leaves[number]
        made.append((number, text))
        high = tuple(r for r in inside if test(rows[r]))
        low = tuple(r for r in inside if r not in high)
        leaves += [(low, deep + 1, 2 * len(made) + 1), (high, deep + 1, 2 * len(made))]


def assemble(made, masses, leaf=0):
    """The nested tree of the splits so far."""
    for step, (number, text) in enumerate(made):
        if number == leaf:
            low, high = assemble(made, masses, 2 * step + 1), assemble(made, masses, 2 * step + 2)
            return (text, low, high)
    return masses[leaf].index(max(masses[leaf]))
