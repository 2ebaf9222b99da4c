"""Arrays that are needed for a while, whose memory then goes back to the system."""

import mmap
import sys
from typing import Any

import numpy as np

LARGE = 2**20  # bytes; what smaller arrays leave behind is little, and they are faster


def passing(count: int, kind: type[np.generic]) -> np.typing.NDArray[Any]:
    """An array that keeps no memory once it is freed; its numbers are not set.

    On Linux, arrays of some megabytes come from a heap that does not shrink while later arrays lie
    behind them: their room would stay beside those of a fit.
    """
    size = count * np.dtype(kind).itemsize
    if size < LARGE or sys.platform != "linux":
        return np.empty(count, dtype=kind)
    return np.frombuffer(mmap.mmap(-1, size, access=mmap.ACCESS_COPY), dtype=kind)
