"""The only place that configures numba.

Kernels are compiled once per machine and kept on disk. No fastmath: the same numbers in the same
order must give the same floats.
"""

import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event


class _Announcer(event.Listener):
    """Says once per process that kernels are being compiled; loading them from disk is silent."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: object) -> None:
        if not self.said:
            self.said = True
            print("mictree: compiling kernels, once on this machine ...", file=sys.stderr)

    def on_end(self, event: object) -> None:
        pass


event.register("numba:compile", _Announcer())


def jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel for one core."""
    return numba.njit(cache=True, nogil=True)(function)


def parallel_jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose ``prange`` loops use all cores."""
    return numba.njit(cache=True, nogil=True, parallel=True)(function)
