"""Goes through the members of a family in blocks that are kept."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mictree._support.checkpoints import Partial
from mictree._support.progress import Progress, Report
from mictree.growers.rules import Grower, depth_of

# members between two checkpoints, reports of progress or chances to be interrupted; fewer when they
# grow to more than 100 splits
BLOCK = 1 << 16


class Blocks(NamedTuple):
    """What every stage of a sweep needs."""

    members: range
    max_size: int
    partial: Partial
    progress: Report

    def table(
        self, key: str, name: str, width: int, compute: Callable[[range], np.ndarray]
    ) -> np.typing.NDArray[np.float64]:
        """A row of numbers for each member, computed or read in blocks.

        ``key`` names the blocks on disk, ``name`` the stage.
        """
        begin, end = self.members.start, self.members.stop
        found = []
        step = max(1, BLOCK * 100 // max(100, self.max_size))
        for start in range(begin, end, step):
            some = range(start, min(start + step, end))
            found.append(
                self.partial.block(
                    f"{key}-{some.start}-{some.stop}", lambda some=some: compute(some)
                )
            )
            done = some.stop - begin
            total = end - begin
            self.progress(Progress(name, done / total, f"{done:,}/{total:,} members"))
        return np.concatenate(found).reshape(end - begin, width)


def key_of(rule: Grower) -> tuple[str | int, int]:
    """What the gains of splits depend on, within one sweep: the criterion and the depth."""
    criterion = rule.criterion if isinstance(rule.criterion, str) else id(rule.criterion)
    return criterion, depth_of(rule)
