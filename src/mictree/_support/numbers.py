"""Arithmetic that loses nothing: exact sums, chances of independent events, precision of balls.

A sum of floats depends on the order of its terms. ``exact_sums`` does not: every float is a whole
multiple of 2**-UNIT, so sums are whole numbers of this unit, whatever the order and the grouping.
``at_least_one`` keeps the relative precision of tiny rates; kernels compile it, so it uses nothing
else of this package. ``precision`` sets the bits of python-flint's balls (intervals that contain
the true number) for one thread at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

FloatArray = np.typing.NDArray[np.float64]

UNIT = 1126  # every float is a whole multiple of 2**-UNIT
MOST_TERMS = 2**25  # at a time, so that sums of halves of 53 binary digits are exact floats


def exact_sum(terms: FloatArray) -> Fraction:
    """The sum of finite floats that are not negative."""
    (total,) = exact_sums(terms, np.zeros(len(terms), dtype=np.int64), 1)
    return as_number(total)


def exact_sums(terms: FloatArray, groups: np.typing.NDArray[Any], count: int) -> list[int]:
    """The sums of finite floats that are not negative, by group, in units of 2**-UNIT."""
    totals = [0] * count
    for start in range(0, len(terms), MOST_TERMS):
        part = slice(start, start + MOST_TERMS)
        fractions, exponents = np.frexp(terms[part])
        digits = np.ldexp(fractions, 53).astype(np.int64)
        least = int(exponents.min())
        width = int(exponents.max()) - least + 1
        place = groups[part].astype(np.int64) * width + (exponents - least)
        for half, shift in ((digits >> 26, 26), (digits & (2**26 - 1), 0)):
            sums = np.bincount(place, weights=half, minlength=count * width)
            for number in np.flatnonzero(sums).tolist():
                group, exponent = divmod(number, width)
                totals[group] += int(sums[number]) << (shift + exponent + least - 53 + UNIT)
    return totals


def as_number(total: int) -> Fraction:
    """A sum in units of 2**-UNIT as a number."""
    return Fraction(total, 1 << UNIT)


def at_least_one(ascending: Iterable[Any]) -> Any:
    """The probability that at least one of several independent events happens.

    Built up from the smallest, so that tiny rates keep their relative precision.
    """
    rate = 0
    for chance in ascending:
        rate += chance * (1 - rate)
    return rate


_one_thread = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Within it, balls have so many bits.

    All threads of a process share python-flint's precision, so the others wait. They lose nothing:
    python-flint lets only one of them compute anyway.
    """
    from flint import ctx

    with _one_thread, ctx.workprec(bits):
        yield
