"""Sums over the slots of packed rows, by class.

Each class has slots of its own, from a whole word on: class c those of the words from
``first_word[c]`` to ``first_word[c + 1]``. A row of words has a bit for each slot.
"""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mictree._support.checks import as_fraction


class LeafRows(NamedTuple):
    """The rows that reach a leaf."""

    mask: np.typing.NDArray[np.uint64]  # their slots
    path: tuple[int, ...]  # the literals tested above
    exact: bool


def unpack(words: np.ndarray) -> np.ndarray:
    """The bits of words, from the lowest on."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")


def by_class(by_word: np.ndarray, first_word: np.ndarray) -> np.ndarray:
    """The sums of each row's numbers, one number a word, by class."""
    sums = np.zeros((len(by_word), by_word.shape[1] + 1), dtype=by_word.dtype)
    sums[:, :-1] = by_word
    result = np.add.reduceat(sums, first_word[:-1], axis=1)
    result[:, np.diff(first_word) == 0] = 0  # reduceat gives an empty class its neighbour
    return result


def weigh(
    words: np.ndarray, weights: np.ndarray, first_word: np.ndarray
) -> np.typing.NDArray[np.float64]:
    """The sum of the slots' weights over the ones of each row of words, by class."""
    sums = np.empty((len(words), first_word[-1]))
    for number, row in enumerate(words):
        sums[number] = (unpack(row).reshape(-1, 64) * weights.reshape(-1, 64)).sum(axis=1)
    return by_class(sums, first_word)


def weigh_exactly(mask: np.ndarray, weights: np.ndarray, first_word: np.ndarray) -> list[Fraction]:
    """The same for one row of words, with weights as written."""
    ones = unpack(mask).astype(bool)
    return [
        sum(map(as_fraction, weights[start:stop][ones[start:stop]].tolist()), Fraction(0))
        for start, stop in pairwise(64 * first_word)
    ]
