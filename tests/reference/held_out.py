"""Parts of rows by a hash of their number, and errors by size, one row at a time.

The hash is SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators,
2014), started at its output for the seed.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

ALL = 2**64 - 1


def mix(word: int) -> int:
    """The output of SplitMix64 for a state."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & ALL
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & ALL
    return word ^ (word >> 31)


def place(row: int, seed: int) -> Fraction:
    """The place of a row, from 0 to below 1."""
    state = mix(seed)
    for _ in range(row + 1):
        state = (state + 0x9E3779B97F4A7C15) & ALL
    return Fraction(mix(state) >> 11, 2**53)


def rows_between(rows: int, low: float, high: float, seed: int) -> list[int]:
    """The rows whose place lies from ``low`` to below ``high``."""
    return [row for row in range(rows) if low <= place(row, seed) < high]


def error_and_deviation(
    guesses: Sequence[object], labels: Sequence[object], weights: Sequence[float | Fraction]
) -> tuple[Fraction, float]:
    """The weighted share of wrong guesses, and its standard error."""
    masses = [Fraction(weight) for weight in weights]
    total = sum(masses)
    wrong = [guess != label for guess, label in zip(guesses, labels, strict=True)]
    error = sum((mass for mass, bad in zip(masses, wrong, strict=True) if bad), Fraction()) / total
    squares = sum(mass**2 * (bad - error) ** 2 for mass, bad in zip(masses, wrong, strict=True))
    return error, math.sqrt(squares / total**2)


def choose(errors: Sequence[tuple[Fraction, float]], rule: str) -> int:
    """The smallest size with the least error, or with one within a standard error of it."""
    least = min(error for error, _ in errors)
    deviation = next(each for error, each in errors if error == least)
    slack = deviation if rule == "one-standard-error" else 0
    return next(size for size, (error, _) in enumerate(errors) if error <= least + slack + 1e-12)
