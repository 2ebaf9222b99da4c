"""How far a long computation has come: one value, for every room.

A function with a parameter ``progress`` calls it now and then with a ``Progress``. A function that
calls others passes their reports on under a name of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar


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
