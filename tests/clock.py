"""A clock that moves only when the search looks at it: time limits without seconds."""

from types import SimpleNamespace

import pytest

from mictree._support import progress
from mictree.optimal import frontier, questions

TICK = 0.01


class LookedAt:
    """Moves by one tick at each look, so that a time limit is a number of looks."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[float] = []  # when the search put a question to its workers

    def monotonic(self) -> float:
        self.now += TICK
        return self.now

    def keeps(self, limit: float) -> bool:
        """Whether no question was asked after the limit; to begin takes three looks."""
        return max(self.asked) <= limit + 3 * TICK


def looked_at(patch: pytest.MonkeyPatch) -> LookedAt:
    """Let the search for optimal trees look at a new clock."""
    clock = LookedAt()
    for module in (questions, progress, frontier):
        patch.setattr(module, "time", SimpleNamespace(monotonic=clock.monotonic))
    # to note when a bound moved is no look: the limit does not depend on it
    patch.setattr(progress.TimeLimit, "spent", lambda limit: clock.now - limit._begin)
    gather = questions.Workers._gather

    def noting(self, *arguments):
        clock.asked.append(clock.now)
        return gather(self, *arguments)

    patch.setattr(questions.Workers, "_gather", noting)
    return clock
