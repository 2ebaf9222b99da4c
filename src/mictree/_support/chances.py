"""Independent events. Kernels compile these functions too, so they need nothing else."""

from collections.abc import Iterable
from typing import Any


def at_least_one(ascending: Iterable[Any]) -> Any:
    """The probability that at least one of several independent events happens.

    Built up from the smallest, so that tiny rates keep their relative precision.
    """
    rate = 0
    for chance in ascending:
        rate += chance * (1 - rate)
    return rate
