"""How long a Dask fit takes on many workers, from costs measured on few.

A fit packs every cell once, partition by partition. Each worker then bundles its partitions. Each
round counts half of the rows (of two siblings only the smaller one is counted), one task for each
bundle, and a tree of tasks merges the counts of many bundles. The scheduler handles one task after
another, whatever the number of workers. Workers have one thread here.
"""

import math
from dataclasses import dataclass, fields

FAN_IN = 16  # counts merged by one task, as in mictree.distributed.cluster


@dataclass(frozen=True)
class Costs:
    """Measured: seconds, and bytes per second."""

    pack: float  # to read and pack one cell
    count: float  # to count one cell, in one round
    task: float  # of the scheduler, for one task
    latency: float  # of a round that has nothing to count
    bandwidth: float = 1e9  # between two machines


@dataclass(frozen=True)
class Seconds:
    """The parts of a fit's time."""

    packing: float
    counting: float
    scheduling: float
    latency: float
    network: float

    @property
    def total(self) -> float:
        """The whole time, if nothing overlaps."""
        return sum(getattr(self, field.name) for field in fields(self))

    @property
    def largest(self) -> str:
        """The part that takes most of the time."""
        return max(fields(self), key=lambda field: getattr(self, field.name)).name


def simulate(
    costs: Costs,
    rows: int,
    workers: int,
    *,
    columns: int = 40,
    partitions: int | None = None,
    rounds: int = 8,
    leaves: int = 10,
    values: int | None = None,
    classes: int = 2,
) -> Seconds:
    """The time of a fit.

    Parameters
    ----------
    partitions : by default four for each worker
    leaves : counted in one round, on average
    values : numbers counted for a leaf and class; by default one for each column, as with 0/1
    """
    cut = partitions or 4 * workers
    busiest = math.ceil(cut / workers) * rows / cut  # rows of the worker that has most
    bundles = min(cut, workers)
    levels = _levels(bundles)
    tasks_of_round = bundles + sum(levels)
    messages = len(levels) * FAN_IN + (levels or [bundles])[-1]  # one after another
    message = leaves * ((values or columns) + 1) * classes * 8
    return Seconds(
        packing=busiest * columns * costs.pack,
        counting=rounds * busiest / 2 * columns * costs.count,
        scheduling=(rounds * tasks_of_round + 2 * cut + 3 * bundles) * costs.task,
        latency=rounds * costs.latency,
        network=rounds * messages * message / costs.bandwidth,
    )


def _levels(parts: int) -> list[int]:
    """The number of merging tasks, level by level."""
    levels = []
    while parts > FAN_IN:
        parts = math.ceil(parts / FAN_IN)
        levels.append(parts)
    return levels


def table(costs: Costs) -> str:
    """10**9 to 10**12 rows of 40 columns of 0/1 on 10 to 1,000 workers, as a Markdown table."""
    lines = ["| rows | workers | partitions | seconds | most of it |", "|---|---|---|---|---|"]
    for power in range(9, 13):
        for workers in (10, 100, 1000):
            for cut in (4 * workers, 10**power // 10**6):
                found = simulate(costs, 10**power, workers, partitions=cut)
                lines.append(
                    f"| 10^{power} | {workers:,} | {cut:,} | {found.total:,.0f} | {found.largest} |"
                )
    return "\n".join(lines)
