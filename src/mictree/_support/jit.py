"""The only place that configures numba.

Kernels are compiled once per machine and kept on disk, see ``kernel_cache``. No fastmath: the same
numbers in the same order must give the same floats.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from mictree._support.inner_code import POSSIBLE, InnerCompiler
from mictree._support.kernel_cache import make_cache

CORES = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
PARALLEL_WORK = 3e6  # about half a millisecond
PIECES = 8  # for each core, so that none waits long for another's last one


def jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel."""
    return _compile(function, no_cfunc_wrapper=True)


def inner_jit(function: Callable[..., Any]) -> Any:
    """Compile a kernel that only kernels call: without the code that reads Python's objects.

    For kernels with many arrays that code takes longer to compile than the kernel itself. Their own
    machine code is left out too, see ``inner_code``. Calling such a kernel from Python crashes the
    process.
    """
    options = {"pipeline_class": InnerCompiler} if POSSIBLE else {}
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)


def inner_loop_jit(function: Callable[..., Any]) -> Any:
    """Compile an inner kernel that is optimized on its own, before its callers are.

    Compiling takes longer. It is for hot loops that were measured to be slower as ``inner_jit``.
    """
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    kernel = numba.njit(nogil=True, **options)(function)
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        kernel._cache = make_cache(function)  # type: ignore[attr-defined]
    return kernel


def run(kernel: Any, count: int, work: float, *arguments: Any) -> None:
    """Call ``kernel(start, stop, *arguments)`` on ranges that make up ``range(count)``.

    All cores take part, or only one where ``work`` inner steps are not worth starting threads. The
    threads end with the call, so a process may fork, and several may call at once: see decision
    0015.
    """
    cores = usable_cores()
    if work < PARALLEL_WORK or cores == 1:
        kernel(0, count, *arguments)
        return
    kernel(0, 0, *arguments)  # compiled in this thread: in another, Ctrl-C would have to wait
    step = max(1, -(-count // (PIECES * cores)))
    with ThreadPoolExecutor(cores) as pool:
        calls = pool.map(
            lambda start: kernel(start, min(start + step, count), *arguments),
            range(0, count, step),
        )
        for _ in calls:  # raises what a call raised, and cancels the calls behind it
            pass


_ALONE = threading.local()


@contextmanager
def one_core() -> Iterator[None]:
    """Within it, one core is usable: for callers that keep all cores busy themselves."""
    _ALONE.depth = getattr(_ALONE, "depth", 0) + 1
    try:
        yield
    finally:
        _ALONE.depth -= 1


def usable_cores() -> int:
    """The number of threads that work in this thread may start."""
    return 1 if getattr(_ALONE, "depth", 0) else CORES


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
