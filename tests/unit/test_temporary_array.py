"""Arrays whose memory goes back to the system."""

import gc
import mmap
import sys

import numpy as np
import pytest

from mictree._support.parallel import LARGE, temporary_array
from mictree.columns.ordered import Scratch


def resident():
    """Bytes in memory, counted page by page; those in the status of a process lag behind."""
    gc.collect()
    with open("/proc/self/smaps_rollup") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Rss"))


@pytest.mark.parametrize("count", [0, 1, LARGE // 4 - 1, LARGE // 4 + 1])
def test_any_number_of_cells_can_be_written(count):
    numbers = temporary_array(count, np.uint32)
    numbers[:] = np.arange(count)
    assert (numbers.dtype, numbers.shape) == (np.uint32, (count,))
    assert int(numbers.sum()) == count * (count - 1) // 2


@pytest.mark.skipif(sys.platform != "linux", reason="others return the memory of all arrays")
def test_large_arrays_do_not_come_from_the_heap():
    numbers = temporary_array(LARGE // 8, np.float64)
    assert isinstance(numbers.base, memoryview)
    assert isinstance(numbers.base.obj, mmap.mmap)


@pytest.mark.skipif(sys.platform != "linux", reason="others return the memory of all arrays")
def test_memory_goes_back_though_later_arrays_stay():
    kept, size = [], 4 * LARGE
    before = resident()
    for _ in range(8):
        numbers = temporary_array(size // 8, np.float64)
        numbers[:] = 1
        kept.append(np.ones(1000))
    assert resident() - before >= size
    del numbers
    assert resident() - before < size // 2


def test_a_column_is_taken_by_rows():
    matrix = np.arange(20.0).reshape(10, 2)
    scratch = Scratch.of(10)
    for number in range(2):
        taken = scratch.take(matrix[:, number], np.array([9, 0, 4]))
        assert taken.tolist() == [18 + number, number, 8 + number]
