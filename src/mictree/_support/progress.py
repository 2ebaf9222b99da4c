"""How far a long computation has come, and how long it may take.

A function with a parameter ``progress`` calls it now and then with a ``Progress``, which is one
type for every room. A function that calls others passes their reports on under a name of its own.

A ``TimeLimit`` bounds the seconds of some work. Compiling kernels and loading them does not count:
otherwise the time could be over before the first work on a machine began.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from numba.core.event import TimingListener


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a piece of work has come.

    Attributes
    ----------
    what : the piece of work, such as "optimal errors" or "fold 3 of 15: sklearn"
    share : the part of this piece that is done, from 0 to 1; None where it cannot be known
    detail : more about it, in words
    """

    what: str
    share: float | None = None
    detail: str = ""


Part = TypeVar("Part")
Report = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """A report that nobody wants."""


_listener: ContextVar[Report] = ContextVar("listener", default=ignore)


@contextmanager
def listening(report: Report) -> Iterator[None]:
    """Let searches report that are called without a report of their own, as estimators do."""
    before = _listener.set(report)
    try:
        yield
    finally:
        _listener.reset(before)


def listener() -> Report:
    """Who listens to searches without a report of their own; nobody by default."""
    return _listener.get()


@dataclass
class EqualParts:
    """Reports the progress of a piece of work before each of its parts."""

    what: str
    parts: int
    report: Report | None
    begun: int = 0

    def begin(self, detail: str) -> None:
        """Report that one more part begins."""
        if self.report is not None:
            self.report(Progress(self.what, self.begun / self.parts, detail))
        self.begun += 1

    def each(self, parts: Iterable[Part], detail: Callable[[Part], str]) -> Iterator[Part]:
        """The same parts, each reported when its turn comes."""
        for part in parts:
            self.begin(detail(part))
            yield part

    def follow(self, results: Iterator[Part], details: Iterable[str]) -> Iterator[Part]:
        """Results that are made one by one; each is reported before it is waited for."""
        for detail in details:
            self.begin(detail)
            yield next(results)


class TimeLimit:
    """A number of seconds that begins with a ``with`` statement; None for no limit.

    The time that kernels take to be compiled or loaded is added to it.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._begin = time.monotonic()
        self._kernels: TimingListener | None = None

    def __enter__(self) -> TimeLimit:
        if self.seconds < math.inf:
            from numba.core import event

            from mictree._support.jit import KERNEL_FILES

            self._kernels = event.TimingListener()
            for kind in ("numba:compile", KERNEL_FILES):  # one within the other counts once
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
            from numba.core import event

            from mictree._support.jit import KERNEL_FILES

            for kernels in ("numba:compile", KERNEL_FILES):
                event.unregister(kernels, self._kernels)

    def when(self, share: float = 1.0) -> float:
        """When a share of the time is over, by the monotonic clock; infinite without a limit.

        What is compiled later puts it off.
        """
        kernels = self._on_kernels()
        return self._begin + kernels + share * self.seconds

    def spent(self) -> float:
        """The seconds that have passed."""
        return time.monotonic() - self._begin - self._on_kernels()

    def _on_kernels(self) -> float:
        """The seconds on kernels so far; 0 without a limit, where nobody counts them."""
        if self._kernels is not None and self._kernels.done:
            return self._kernels.duration
        return 0.0

    def left(self) -> float:
        """The seconds that are left; negative when the time is over."""
        return self.when() - time.monotonic()
