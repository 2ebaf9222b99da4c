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

CORES = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
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


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _generate_atomic_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    builder.fence("acquire")
    return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", 8)


def _atomic_load(typing: Any, array: Any, place: Any) -> Any:
    """A number of a contiguous array of 64-bit numbers, read after all that was read before."""
    return array.dtype(array, types.intp), _generate_atomic_load


def _generate_atomic_add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    place = _place(context, builder, signature, arguments)
    return builder.atomic_rmw("add", place, arguments[2], "acq_rel")


def _atomic_add(typing: Any, array: Any, place: Any, amount: Any) -> Any:
    """Add to a number of such an array; returns what it was."""
    return array.dtype(array, types.intp, array.dtype), _generate_atomic_add


def _generate_atomic_swap(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    place = _place(context, builder, signature, arguments)
    done = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "monotonic")
    builder.fence("release")  # on ARM what is written next could be seen before the swap
    return builder.extract_value(done, 1)


def _atomic_swap(typing: Any, array: Any, place: Any, old: Any, new: Any) -> Any:
    """Replace a number of such an array if it is still the old one; says whether it was."""
    return types.boolean(array, types.intp, array.dtype, array.dtype), _generate_atomic_swap


def _plain_load(array: Any, place: int) -> Any:
    return array.flat[place]


def _plain_add(array: Any, place: int, amount: Any) -> Any:
    old = array.flat[place]
    array.flat[place] = old + array.dtype.type(amount)
    return old


def _plain_swap(array: Any, place: int, old: Any, new: Any) -> bool:
    array.flat[place] = new
    return True


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # coverage runs the kernels as plain Python, where an intrinsic cannot be called
    popcount: Any = np.bitwise_count

    load_word: Any = lambda buffer, start: buffer[start : start + 8].copy().view(np.uint64)[0]  # noqa: E731
    atomic_load: Any = _plain_load
    atomic_add: Any = _plain_add
    atomic_swap: Any = _plain_swap
else:
    popcount = intrinsic(_popcount)
    load_word = intrinsic(_load_word)
    atomic_load = intrinsic(_atomic_load)
    atomic_add = intrinsic(_atomic_add)
    atomic_swap = intrinsic(_atomic_swap)


@jit
def lowest_bit(word):
    """The position of the lowest one of a uint64 that is not 0."""
    return np.int64(popcount((word & (~word + np.uint64(1))) - np.uint64(1)))
