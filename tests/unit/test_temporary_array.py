"""Arrays whose memory goes back to the system."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

from mictree._support.parallel import LARGE, temporary_array
from mictree.columns.ordered import Scratch

# Alone in a process: what else a process of tests frees meanwhile would count too.
RETURNING = """
import numpy as np
from mictree._support.parallel import LARGE, temporary_array

def resident():  # bytes, counted page by page; those in the status of a process lag behind
    with open("/proc/self/smaps_rollup") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Rss"))

kept, size = [], 4 * LARGE
before = resident()
for _ in range(8):
    numbers = temporary_array(size // 8, np.float64)
    numbers[:] = 1
    kept.append(np.ones(1000))
during = resident() - before
del numbers
print(during >= size, resident() - before < size // 2)
"""


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
    done = subprocess.run(
        [sys.executable, "-c", RETURNING], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_a_column_is_taken_by_rows():
    matrix = np.arange(20.0).reshape(10, 2)
    scratch = Scratch.of(10)
    for number in range(2):
        taken = scratch.take(matrix[:, number], np.array([9, 0, 4]))
        assert taken.tolist() == [18 + number, number, 8 + number]
