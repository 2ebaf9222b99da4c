"""What kernels get from LLVM directly does what its stand-in in plain Python does.

docs/upgrades.md: these tests notice an llvmlite that builds other code from the same calls.
"""

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from mictree._support import jit

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT=1: nothing is compiled"
)
WORDS = np.array([0, 1, 2, 2**63, 2**64 - 1, 0x9E3779B97F4A7C15], dtype=np.uint64)


@numba.njit
def count_ones(word):
    return jit.popcount(word)


@numba.njit
def read_word(buffer, start):
    return jit.load_word(buffer, start)


@numba.njit
def read(array, place):
    return jit.atomic_load(array, place)


@numba.njit
def add(array, place, amount):
    return jit.atomic_add(array, place, amount)


@numba.njit
def swap(array, place, old, new):
    return jit.atomic_swap(array, place, old, new)


@numba.njit
def ask_both(priority, impurity, reach, gain, born):
    return jit.call_priority(priority, reach, gain, born), jit.call_impurity(impurity, gain)


@numba.njit(nogil=True)
def add_many(array, times):
    for _ in range(times):
        jit.atomic_add(array, 1, np.int64(1))


@pytest.mark.parametrize("word", WORDS)
def test_ones_are_counted(word):
    assert count_ones(word) == int(word).bit_count()


def test_eight_bytes_are_read_from_any_place():
    buffer = np.arange(40, dtype=np.uint8)
    for start in range(33):
        expected = int.from_bytes(bytes(buffer[start : start + 8]), "little")
        assert read_word(buffer, start) == expected


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_atomic_reads_sums_and_swaps(kind):
    array = np.array([[3, 5], [7, 11]], dtype=kind)
    assert [read(array, place) for place in range(4)] == [3, 5, 7, 11]
    assert add(array, 2, kind(4)) == 7
    assert not swap(array, 1, kind(6), kind(9))
    assert swap(array, 1, kind(5), kind(9))
    assert array.tolist() == [[3, 9], [11, 11]]


def test_no_addition_of_two_threads_is_lost():
    array, times = np.zeros(3, dtype=np.int64), 200_000
    add_many(array, 0)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: add_many(array, times), range(4)))
    assert array.tolist() == [0, 4 * times, 0]


def test_functions_are_called_by_their_addresses():
    priority = jit.Callback(
        lambda nobody, *leaf: 100 * leaf[0] + 10 * leaf[1] + leaf[2], jit.PRIORITY
    )
    impurity = jit.Callback(lambda rate: rate * (1 - rate), jit.IMPURITY)
    assert ask_both(priority.address, impurity.address, 0.5, 0.25, 3) == (55.5, 0.1875)
