"""Impurity functions of a positive rate, as Decimals with 120 digits: entropy is irrational.

Transcribes H and C of the section "Preliminaries" (where the printed H has a misprint: its second
logarithm must be that of 1 - x), and adds two impurities that other learners use.
"""

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

MANY_DIGITS = Context(prec=120)  # gains of 1e-60 keep 60 of them


def as_decimal(value: Fraction) -> Decimal:
    """The nearest Decimal with 120 digits."""
    with localcontext(MANY_DIGITS):
        return Decimal(value.numerator) / Decimal(value.denominator)


@cache
def entropy(rate: Fraction) -> Decimal:
    """H(q) = -q log2(q) - (1 - q) log2(1 - q), with 0 log 0 = 0."""
    with localcontext(MANY_DIGITS):
        nats = Decimal(0)
        for probability in (rate, 1 - rate):
            if probability > 0:
                nats -= as_decimal(probability) * as_decimal(probability).ln()
        return nats / Decimal(2).ln()


def gini(rate: Fraction) -> Decimal:
    """2 q (1 - q)."""
    return as_decimal(2 * rate * (1 - rate))


@cache
def root(rate: Fraction) -> Decimal:
    """2 sqrt(q (1 - q)), the impurity of Kearns and Mansour."""
    with localcontext(MANY_DIGITS):
        return 2 * as_decimal(rate * (1 - rate)).sqrt()


def minority(rate: Fraction) -> Decimal:
    """C(q) = min(q, 1 - q)."""
    return as_decimal(min(rate, 1 - rate))


def squared(rate: Fraction) -> Decimal:
    """The variance of a label, q (1 - q)."""
    return as_decimal(rate * (1 - rate))


IMPURITIES: dict[str, Callable[[Fraction], Decimal]] = {
    "entropy": entropy,
    "gini": gini,
    "root": root,
    "minority": minority,
    "squared": squared,
}
