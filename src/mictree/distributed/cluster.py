"""Work on partitions by Dask: on the active client's workers, or by Dask's own scheduler.

``hold`` computes partitions and leaves them on their workers, bundled by thread; ``change``
replaces what is held; ``reduce`` fetches one merged result, which is a round. Tasks are pure
functions of partitions, so Dask repeats those of a worker that died. A cluster without any worker
is waited for ``PATIENCE`` seconds, because it may be starting.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
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

    def hold(self, tasks: Sequence[Any]) -> list[Any]:
        """Run tasks and leave their results where they are, bundled by worker.

        A worker has a bundle for each of its threads, so a round has as many tasks as the cluster
        has threads, however many partitions there are.
        """
        from dask.delayed import delayed

        parts = self._persist(tasks)
        if self._client is None:
            return [[part] for part in parts]
        bundle = delayed(_bundle, pure=False)
        groups = self._guarded(lambda: self._groups(parts))
        return self._persist([bundle(group) for group in groups])

    def _persist(self, tasks: Sequence[Any]) -> list[Any]:
        from dask.base import persist

        if self._client is None:
            return list(persist(*tasks))
        return self._guarded(lambda: list(persist(*tasks)))

    def _groups(self, parts: list[Any]) -> list[list[Any]]:
        from distributed import futures_of

        client: Any = self._client
        futures = futures_of(parts)
        self._settle(futures)
        holders, threads = client.who_has(futures), client.nthreads()
        found: dict[str, list[Any]] = {}
        for part, future in zip(parts, futures, strict=True):
            found.setdefault(next(iter(holders.get(future.key, ())), ""), []).append(part)
        return [
            group[start :: threads.get(worker, 1)]
            for worker, group in found.items()
            for start in range(min(len(group), threads.get(worker, 1)))
        ]

    def change(
        self, function: Callable[..., Any], bundles: Sequence[Any], *shared: Any
    ) -> list[Any]:
        """Bundles of what a function makes of each part and some values that all of them share."""
        return self._persist(self._calls(function, None, bundles, shared))

    def reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[[Sequence[Any]], Any],
        bundles: Sequence[Any],
        *shared: Any,
    ) -> Any:
        """The merged results of a function for all parts: one round.

        Workers merge what they have, and tasks what many workers have; the last FAN_IN results are
        merged here.
        """
        from dask.delayed import delayed

        self.rounds += 1
        join = delayed(merge, pure=False)
        level = self._calls(function, merge, bundles, shared)
        while len(level) > FAN_IN:
            level = [join(level[start : start + FAN_IN]) for start in range(0, len(level), FAN_IN)]
        return merge(self._fetch(level))

    def _calls(
        self, function: Any, merge: Any, bundles: Sequence[Any], shared: tuple[Any, ...]
    ) -> list[Any]:
        from dask.delayed import delayed

        box: Any = Box(shared)
        if len(pickle.dumps(shared)) > SMALL:
            box = delayed(box, traverse=False)  # sent once, not with every task
        call = delayed(_call, pure=False)
        return [call(function, merge, bundle, box) for bundle in bundles]

    def _fetch(self, tasks: list[Any]) -> Sequence[Any]:
        if self._client is None:
            from dask.base import compute

            return compute(*tasks)
        client: Any = self._client

        def fetch() -> list[Any]:
            futures = client.compute(tasks)

            async def gather() -> list[Any]:
                return await client.gather(futures, asynchronous=True)

            while True:
                self._settle(futures)
                with suppress(TimeoutError):  # a worker has died meanwhile
                    return client.sync(gather, callback_timeout=PATIENCE)

        return self._guarded(fetch)

    def _guarded(self, wait: Callable[[], Any]) -> Any:
        from distributed.client import ClosedClientError

        try:
            return wait()
        except (CancelledError, ClosedClientError, OSError) as error:
            raise RuntimeError(
                f"the Dask cluster must stay until the fit is done; the connection to "
                f"{self._address} was lost ({type(error).__name__})"
            ) from error

    def _settle(self, futures: list[Any]) -> None:
        """Wait until all are done; an error if there has been no worker for long."""
        from distributed import wait

        client: Any = self._client
        seen = monotonic()
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=min(1.0, PATIENCE))
                return
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


def _bundle(parts: list[Any]) -> list[Any]:
    return parts


def _call(function: Callable[..., Any], merge: Any, bundle: Sequence[Any], box: Box) -> Any:
    """Call a function on a worker, in one thread: Dask runs as many tasks as it has threads."""
    with one_core():
        results = [function(part, *box.values) for part in bundle]
        return results if merge is None else merge(results)
