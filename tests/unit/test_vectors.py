"""Vectors of kernels do what their stand-ins in plain Python do, which NumPy defines."""

import numba
import numpy as np
import pytest

from mictree._support import jit
from mictree._support.jit import LANES, add, choose, least, load, most, spread, store, subtract

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT=1: nothing is compiled"
)


@numba.njit
def every_operation(one, other, bits, number, out):
    """Write a line of results for each operation, and carry one vector through a loop."""
    first, second = load(one, 1), load(other, 0)
    store(add(first, second), out, 0)
    store(subtract(first, second), out, LANES)
    store(least(first, second), out, 2 * LANES)
    store(most(first, second), out, 3 * LANES)
    store(spread(number), out, 4 * LANES)
    store(choose(bits, number), out, 5 * LANES)
    total = spread(number)
    for _ in range(3):
        total = add(total, first)
    store(total, out, 6 * LANES)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_vectors_are_arrays_of_numbers(kind):
    ends = np.iinfo(kind)
    random = np.random.default_rng(0)
    one = random.integers(ends.min, ends.max, LANES + 1, dtype=kind, endpoint=True)
    other = random.integers(ends.min, ends.max, LANES, dtype=kind, endpoint=True)
    bits, number = np.uint32(0x80F0A001), kind(-5)
    out = np.zeros(7 * LANES, dtype=kind)
    every_operation(one, other, bits, number, out)
    shifted = one[1:]
    with np.errstate(over="ignore"):
        expected = [
            shifted + other, shifted - other,
            np.minimum(shifted, other), np.maximum(shifted, other),
            jit._plain_spread(number), jit._plain_choose(bits, number),
            number + shifted + shifted + shifted,
        ]  # fmt: skip
    assert out.reshape(7, LANES).tolist() == [line.tolist() for line in expected]
    assert out[5 * LANES : 6 * LANES].tolist() == [
        -5 if int(bits) >> lane & 1 else 0 for lane in range(LANES)
    ]


def test_stand_ins_read_and_write_lines():
    array = np.arange(3 * LANES, dtype=np.int32)
    line = jit._plain_vector_load(array, LANES)
    assert line.tolist() == list(range(LANES, 2 * LANES))
    jit._plain_store(line, array, 0)
    assert array[: 2 * LANES].tolist() == 2 * line.tolist()
