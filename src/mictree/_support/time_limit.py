"""A limit on the time of some work; compiling kernels and loading them does not count."""

import math
import time
from types import TracebackType

from numba.core import event

from mictree._support.kernel_cache import FILES


class TimeLimit:
    """A number of seconds that begins with a ``with`` statement; None for no limit.

    If kernels counted, the time could be over before the first work on a machine began.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._begin = time.monotonic()
        self._kernels: event.TimingListener | None = None

    def __enter__(self) -> "TimeLimit":
        if self.seconds < math.inf:
            self._kernels = event.TimingListener()
            for kind in ("numba:compile", FILES):  # one within the other counts once
                event.register(kind, self._kernels)
        self._begin = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._kernels is not None:
            for kernels in ("numba:compile", FILES):
                event.unregister(kernels, self._kernels)

    def when(self, share: float = 1.0) -> float:
        """When a share of the time is over, by the monotonic clock; infinite without a limit.

        What is compiled later puts it off.
        """
        kernels = 0.0
        if self._kernels is not None and self._kernels.done:
            kernels = self._kernels.duration
        return self._begin + kernels + share * self.seconds

    def left(self) -> float:
        """The seconds that are left; negative when the time is over."""
        return self.when() - time.monotonic()
