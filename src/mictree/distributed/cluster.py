"""Work on partitions by Dask: on the active client's workers, or by Dask's own scheduler.

Tasks are pure functions of partitions, so Dask repeats those of a worker that died.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from time import monotonic
from typing import Any

from mictree._support.jit import one_core

FAN_IN = 16  # results merged by one task
SMALL = 2**14  # bytes that may be sent with every task
PATIENCE = 60.0  # seconds to wait for a worker when there is none: a cluster may be starting


class Cluster:
    """The scheduler that Dask would use now.

    Attributes
    ----------
    rounds : how often results were fetched
    """

    def __init__(self) -> None:
        from dask.base import get_scheduler

        client = getattr(get_scheduler(), "__self__", None)
        self._client = client if hasattr(client, "scheduler_info") else None
        self.rounds = 0

    def keep(self, tasks: Sequence[Any]) -> list[Any]:
        """Run tasks and leave their results where they are."""
        from dask.base import persist

        return list(persist(*tasks))

    def apply(self, function: Callable[..., Any], parts: Sequence[Any], *shared: Any) -> list[Any]:
        """Tasks that call a function with each part and some values that all of them share."""
        from dask.delayed import delayed

        box: Any = Box(shared)
        if len(pickle.dumps(shared)) > SMALL:
            box = delayed(box, traverse=False)  # sent once, not with every task
        call = delayed(_call, pure=False)
        return [call(function, part, box) for part in parts]

    def merge(self, tasks: Sequence[Any], merge: Callable[[Sequence[Any]], Any]) -> Any:
        """The merged results of tasks; at most FAN_IN results are fetched and merged here."""
        from dask.delayed import delayed

        self.rounds += 1
        join = delayed(merge, pure=False)
        level = list(tasks)
        while len(level) > FAN_IN:
            level = [join(level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
        return merge(self._fetch(level))

    def _fetch(self, tasks: list[Any]) -> Sequence[Any]:
        if self._client is None:
            from dask.base import compute

            return compute(*tasks)
        from distributed.client import ClosedClientError

        try:
            return self._wait(self._client.compute(tasks))
        except (CancelledError, ClosedClientError, OSError) as error:
            raise RuntimeError(
                f"the Dask cluster must stay until the fit is done; the connection to "
                f"{self._address} was lost ({type(error).__name__})"
            ) from error

    def _wait(self, futures: list[Any]) -> list[Any]:
        """The results; an error if there has been no worker for long."""
        from distributed import wait

        client: Any = self._client

        async def gather() -> list[Any]:
            return await client.gather(futures, asynchronous=True)

        seen = monotonic()
        while True:
            try:
                wait(futures, timeout=min(1.0, PATIENCE))
                return client.sync(gather, callback_timeout=PATIENCE)
            except TimeoutError:
                pass
            if client.nthreads():
                seen = monotonic()
            elif monotonic() - seen > PATIENCE:
                client.cancel(futures)
                raise RuntimeError(
                    f"the Dask cluster must have workers; the scheduler at {self._address} has had "
                    f"none for {PATIENCE:g} seconds"
                ) from None

    @property
    def _address(self) -> str:
        scheduler = getattr(self._client, "scheduler", None)
        return str(getattr(scheduler, "address", "an unknown address"))


class Box:
    """Values that Dask does not look into."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values


def _call(function: Callable[..., Any], part: Any, box: Box) -> Any:
    """Call a function on a worker, in one thread: Dask runs as many tasks as it has threads."""
    with one_core():
        return function(part, *box.values)
