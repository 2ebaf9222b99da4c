"""Small functions that several rooms share."""

import math
from fractions import Fraction

import numpy as np

from mictree._support.jit import jit
from mictree._support.numbers import at_least_one
from mictree.columns.packing import transpose


def test_transpose_moves_every_bit():
    words = np.random.default_rng(0).integers(0, 2**64, 64, dtype=np.uint64)
    bits = [[int(word) >> column & 1 for column in range(64)] for word in words]
    expected = [sum(bits[row][column] << row for row in range(64)) for column in range(64)]
    for kernel in (transpose, getattr(transpose, "py_func", transpose)):
        block = words.copy()
        kernel(block)
        assert block.tolist() == expected


def test_at_least_one_is_what_is_left_of_none():
    chances = [Fraction(1, 10**9), Fraction(1, 7), Fraction(2, 3)]
    exact = 1 - math.prod(1 - chance for chance in chances)
    assert at_least_one(chances) == exact
    assert at_least_one([]) == 0
    floats = [float(chance) for chance in chances]
    assert jit(at_least_one)(np.array(floats)) == at_least_one(floats)


def test_at_least_one_keeps_tiny_rates():
    assert at_least_one([1e-30, 1e-30]) == 2e-30
