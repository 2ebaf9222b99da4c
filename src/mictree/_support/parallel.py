"""Independent calls, spread by joblib over whatever backend the user has chosen."""

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

    With one job they are made here, one after another.
    """
    if count_jobs(n_jobs) == 1 or len(calls) < 2:
        yield from (function(*call) for call in calls)
        return
    from joblib import Parallel, delayed

    parallel: Any = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator")  # type: ignore[arg-type]
    yield from parallel(delayed(function)(*call) for call in calls)
