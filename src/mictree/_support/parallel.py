"""Independent calls, spread by joblib over whatever backend the user has chosen."""

import warnings
from collections.abc import Callable, Iterator, Sequence
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
    if not isinstance(backend, LokyBackend):
        function = _OnOneCore(function)
    client = getattr(backend, "client", None)  # of joblib's Dask backend
    if client is not None:
        function, calls = _Boxed(function), _boxed(calls, client)
    parallel: Any = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator")  # type: ignore[arg-type]
    results = parallel(delayed(function)(*call) for call in calls)
    try:
        for result in results:  # noqa: UP028  # yield from would close them itself
            yield result
    finally:
        with warnings.catch_warnings():  # of calls made in vain, if nobody wants their results
            warnings.simplefilter("ignore")
            results.close()


def _boxed(calls: Sequence[tuple[Any, ...]], client: Any) -> list[tuple[Any, ...]]:
    """Calls that survive the death of a worker.

    joblib would put each large argument on some worker, and fail or wait forever if that one died.
    It leaves futures and tuples alone. The future of a task can be computed again.
    """
    import dask.config

    same = [all(each is values[0] for each in values) for values in zip(*calls, strict=True)]
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        shared = [
            client.submit(_only, (value,), pure=False) if found else None
            for value, found in zip(calls[0], same, strict=True)
        ]
    return [
        tuple(
            (value,) if future is None else future
            for value, future in zip(call, shared, strict=True)
        )
        for call in calls
    ]


def _only(box: tuple[Any]) -> tuple[Any]:
    return box


class _OnOneCore:
    """A function that starts no threads of its own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        from mictree._support.jit import one_core  # starts numba

        with one_core():
            return self.function(*arguments)


class _Boxed:
    """A function whose arguments are each in a tuple."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *boxes: tuple[Any]) -> Any:
        return self.function(*(value for (value,) in boxes))
