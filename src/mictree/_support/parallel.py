"""Independent calls on several workers, and arrays that leave no memory behind.

``spread`` makes independent calls through joblib, on whatever backend the user has chosen: threads,
processes or a Dask cluster. The results come in the order of the calls, so they do not depend on
the number of workers. On a cluster, calls survive the death of a worker.

``temporary_array`` is for large arrays that are needed only for a while.
"""

import mmap
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")


def count_jobs(n_jobs: int | None) -> int:
    """The number of calls at once, of the backend that joblib has been told to use."""
    import joblib

    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0
    ):
        raise ValueError(f"n_jobs must be None or an integer other than 0; got {n_jobs!r}")
    return int(joblib.effective_n_jobs(n_jobs))  # type: ignore[arg-type]


def spread(
    function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Result]:
    """The results of calls in their order, each as soon as it and those before it are done.

    With one job they are made here, one after another, and each may use all cores. Of several at
    once each uses one core; on loky, joblib divides the cores among its processes. An argument
    that is the same object in all calls is sent to each worker of a Dask cluster once.
    """
    if count_jobs(n_jobs) == 1 or len(calls) < 2:
        yield from (function(*call) for call in calls)
        return
    from joblib import Parallel, delayed
    from joblib.parallel import LokyBackend, get_active_backend

    backend = get_active_backend()[0]
    if isinstance(backend, LokyBackend):
        from multiprocessing import resource_tracker  # which loky starts too

        resource_tracker.ensure_running()  # the first worker would start it, and unblock Ctrl-C
    else:
        function = _OnOneCore(function)
    client = getattr(backend, "client", None)  # of joblib's Dask backend
    if client is not None:
        function, calls = _Unboxing(function), _in_boxes(calls, client)
    parallel: Any = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator")  # type: ignore[arg-type]
    with _deaf_to_ctrl_c():
        results = parallel(delayed(function)(*call) for call in calls)
    try:
        for result in results:  # noqa: UP028  # yield from would close them itself
            yield result
    finally:
        with warnings.catch_warnings():  # of calls made in vain, if nobody wants their results
            warnings.simplefilter("ignore")
            results.close()


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Within it, processes that start ignore Ctrl-C, which a terminal sends to all of them.

    This process answers it and ends them; a worker would print a traceback. Processes inherit the
    signals that are blocked in the thread that starts them. Here Ctrl-C waits until they run.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_boxes(calls: Sequence[tuple[Any, ...]], client: Any) -> list[tuple[Any, ...]]:
    """Calls that survive the death of a worker: each argument in a tuple, or a future of one.

    joblib would put each large argument on some worker, and fail or wait forever if that one died.
    It leaves futures and tuples alone. The future of a task can be computed again.
    """
    import dask.config

    same = [all(each is values[0] for each in values) for values in zip(*calls, strict=True)]
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        shared = [
            client.submit(_return_box, (value,), pure=False) if shared_by_all else None
            for value, shared_by_all in zip(calls[0], same, strict=True)
        ]
    return [
        tuple(
            (value,) if future is None else future
            for value, future in zip(call, shared, strict=True)
        )
        for call in calls
    ]


def _return_box(box: tuple[Any]) -> tuple[Any]:
    return box


class _OnOneCore:
    """A function that starts no threads of its own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        from mictree._support.jit import one_core  # starts numba

        with one_core():
            return self.function(*arguments)


class _Unboxing:
    """A function whose arguments are each in a tuple."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *boxes: tuple[Any]) -> Any:
        return self.function(*(value for (value,) in boxes))


LARGE = 2**20  # bytes; what smaller arrays leave behind is little, and they are faster


def temporary_array(count: int, kind: type[np.generic]) -> np.typing.NDArray[Any]:
    """An array that keeps no memory once it is freed; its numbers are not set.

    On Linux, arrays of some megabytes come from a heap that does not shrink while later arrays lie
    behind them: their room would stay beside those of a fit.
    """
    size = count * np.dtype(kind).itemsize
    if size < LARGE or sys.platform != "linux":
        return np.empty(count, dtype=kind)
    return np.frombuffer(mmap.mmap(-1, size, access=mmap.ACCESS_COPY), dtype=kind)
