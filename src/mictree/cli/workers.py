"""Options that spread a command over the workers of a Dask cluster."""

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any

import typer

Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Use the workers of a running Dask cluster, such as tcp://10.0.0.1:8786.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Start a Dask cluster of this many local processes.", show_default=False),
]
Jobs = Annotated[int, typer.Option(help="Number of tasks at once; -1 for one on each core.")]
SECONDS = 10  # to connect


@contextmanager
def on_workers(scheduler: str | None, workers: int | None) -> Iterator[int | None]:
    """Within it, joblib uses the cluster; gives ``n_jobs``, None without a cluster."""
    if scheduler is None and workers is None:
        yield None
        return
    if scheduler is not None and workers is not None:
        raise ValueError("--scheduler and --workers exclude each other; got both")
    if workers is not None and workers < 1:
        raise ValueError(f"--workers must be at least 1; got {workers}")
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "--scheduler and --workers need the extra dask: pip install 'mictree[dask]'"
        ) from None
    from joblib import parallel_config

    with ExitStack() as stack:
        if workers is not None:
            stack.enter_context(Client(stack.enter_context(_start(workers))))
        else:
            try:
                stack.enter_context(Client(scheduler, timeout=SECONDS))
            except (OSError, ValueError) as error:
                raise ValueError(
                    f"--scheduler must be the address of a running Dask scheduler; {scheduler!r} "
                    f"gives {type(error).__name__}"
                ) from None
        stack.enter_context(parallel_config(backend="dask"))
        yield -1


def _start(workers: int) -> Any:
    """A cluster of processes that ignore Ctrl-C, which a terminal sends to all of them.

    This process answers it; workers end when it does. They inherit the signals that are blocked in
    the thread that starts them. This is a thread of its own, as Ctrl-C meanwhile must not wait.
    """
    from multiprocessing import resource_tracker

    from distributed import LocalCluster

    resource_tracker.ensure_running()  # the first worker would start it, and unblock Ctrl-C
    made: list[Any] = []
    failed: list[BaseException] = []

    def start() -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
            made.append(LocalCluster(n_workers=workers, **options))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=start, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]
