"""The only place that configures numba.

Kernels are compiled once per machine and kept on disk. No fastmath: the same numbers in the same
order must give the same floats.
"""

import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import event, types
from numba.extending import intrinsic

PARALLEL_WORK = 3e6  # about half a millisecond


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


def run(kernel: Any, work: float, *arguments: Any) -> None:
    """Call a parallel kernel, on one core where ``work`` inner steps are not worth waking another.

    When other programs keep the cores busy, waiting for a second thread takes milliseconds.
    """
    if work >= PARALLEL_WORK or numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        kernel(*arguments)
        return
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        kernel(*arguments)
    finally:
        numba.set_num_threads(threads)


def parallel_jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose ``prange`` loops use all cores."""
    return numba.njit(cache=True, nogil=True, parallel=True)(function)


def _generate_popcount(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.ctpop(arguments[0])


def _popcount(typing: Any, word: Any) -> Any:
    """The number of ones in a uint64, for use in kernels (LLVM's ctpop)."""
    return types.uint64(types.uint64), _generate_popcount


def _generate_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = builder.gep(array.data, [arguments[1]])
    word = builder.bitcast(place, context.get_value_type(types.uint64).as_pointer())
    return builder.load(word, align=1)


def _load_word(typing: Any, buffer: Any, start: Any) -> Any:
    """Eight bytes of a contiguous array of bytes, from any place on, as a uint64."""
    return types.uint64(buffer, types.intp), _generate_load


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # coverage runs the kernels as plain Python, where an intrinsic cannot be called
    popcount: Any = np.bitwise_count

    load_word: Any = lambda buffer, start: buffer[start : start + 8].copy().view(np.uint64)[0]  # noqa: E731
else:
    popcount = intrinsic(_popcount)
    load_word = intrinsic(_load_word)
