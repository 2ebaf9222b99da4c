"""The dynamic program over a graph of restrictions, fewer literals first.

A restriction's row holds its least errors by size. It is as long as sizes can matter: up to the
budget of splits that its distance from the formula leaves, or to its perfect size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numba
import numpy as np

from mictree._support.jit import jit, parallel_jit, run
from mictree.optimal.dynamic.lattice import Graph
from mictree.optimal.result import repeat_last
from mictree.optimal.dynamic.minplus import NOTHING, level_out, relax, relax_objects

BATCH_UPDATES = 2 * 10**9  # inner steps between two chances to report progress or be interrupted


@dataclass(frozen=True)
class Program:
    """Rows of errors and the weights with which two of them make a third.

    ``low_weight[value, drop]`` weighs the side where a literal of that value fails and takes its
    term's ``drop`` literals away; ``high_weight[value]`` the side where it is satisfied.
    """

    start: np.typing.NDArray[np.int64]  # where each restriction's row begins
    errors: np.ndarray  # all rows; floats, 64-bit or Python integers
    low_weight: np.ndarray
    high_weight: np.ndarray

    @classmethod
    def of_floats(
        cls,
        satisfaction: Sequence[Fraction],
        most_literals: int,
        start: np.ndarray,
        errors: np.ndarray,
    ) -> "Program":
        """Errors as probabilities given the restriction."""
        satisfied = np.array([float(value) for value in satisfaction])
        failed = np.array([float(1 - value) for value in satisfaction])
        return cls(start, errors, np.repeat(failed[:, None], most_literals + 1, axis=1), satisfied)

    def row(self, restriction: int) -> np.ndarray:
        """Least errors by size."""
        return self.errors[self.start[restriction] : self.start[restriction + 1]]

    def split_errors(self, graph: Graph, restriction: int, edge: int, size: int) -> np.ndarray:
        """Least errors with an edge as first test and ``size`` splits, by size of the low side."""
        low, high, value = graph.low[edge], graph.high[edge], graph.value[edge]
        weight = self.low_weight[value, graph.literals[restriction] - graph.literals[low]]
        low_errors = weight * repeat_last(self.row(low), size - 1)
        return low_errors + self.high_weight[value] * repeat_last(self.row(high), size - 1)[::-1]


def row_starts(lengths: np.ndarray) -> np.typing.NDArray[np.int64]:
    """Where each row begins when they lie one after another, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def perfect_sizes(graph: Graph) -> np.typing.NDArray[np.int64]:
    """The size of the smallest tree without error; a huge number where no edges are known."""
    perfect = np.empty(len(graph), dtype=np.int64)
    _perfect_sizes(graph.order, graph.first, graph.low, graph.high, perfect)
    return perfect


def count_updates(graph: Graph, start: np.ndarray) -> np.typing.NDArray[np.float64]:
    """How many inner steps each restriction takes."""
    updates = np.zeros(len(graph))
    _count_updates(graph.first, graph.low, graph.high, start, updates)
    return updates


def fill(graph: Graph, program: Program) -> Iterator[float]:
    """Fill all rows; yields the share of the work done, every now and then."""
    if program.errors.dtype == object:
        yield from _fill_objects(graph, program)
        return
    for batch in batches(graph, program.start):
        fill_batch(graph, program, batch)
        yield batch.share


class Batch(NamedTuple):
    """Restrictions ``graph.order[begin:stop]``, all with equally many literals."""

    begin: int
    stop: int
    work: float  # inner steps
    share: float  # of all inner steps, when the batch is done


def fill_batch(graph: Graph, program: Program, batch: Batch) -> None:
    """Fill the rows of one batch; those before it are complete."""
    run(
        _fill_errors, batch.work,
        graph.order[batch.begin : batch.stop], graph.first, graph.low, graph.high, graph.value,
        graph.literals, program.start, program.low_weight, program.high_weight,
        NOTHING[program.errors.dtype.type], program.errors,
    )  # fmt: skip


def batches(graph: Graph, start: np.ndarray, done: int = 0) -> Iterator[Batch]:
    """Cut ``graph.order`` from place ``done`` on into batches, none too long to wait for."""
    work = np.cumsum(count_updates(graph, start)[graph.order])
    ends = [*(np.flatnonzero(np.diff(graph.literals[graph.order])) + 1), len(graph)]
    begin = done
    for end in ends:
        while begin < end:
            reached = work[begin] + BATCH_UPDATES
            stop = min(int(end), max(begin + 1, int(np.searchsorted(work, reached))))
            steps = work[stop - 1] - (work[begin - 1] if begin else 0)
            yield Batch(begin, stop, float(steps), float(work[stop - 1] / max(work[-1], 1)))
            begin = stop


def _fill_objects(graph: Graph, program: Program) -> Iterator[float]:
    """The same with Python integers, for denominators that exceed 64 bits."""
    for done, restriction in enumerate(graph.order):
        out = program.row(restriction)
        for edge in graph.edges(restriction):
            low, high, value = graph.low[edge], graph.high[edge], graph.value[edge]
            weight = program.low_weight[value, graph.literals[restriction] - graph.literals[low]]
            relax_objects(
                program.row(low), program.row(high), weight, program.high_weight[value], out
            )
        np.minimum.accumulate(out, out=out)
        if done % 256 == 0:
            yield done / len(graph)


@parallel_jit
def _fill_errors(
    order, first, low, high, value, literals, start, low_weight, high_weight, nothing, errors
):
    """Fill the rows of the given restrictions, whose children's rows are complete."""
    for position in numba.prange(len(order)):
        restriction = order[position]
        out = errors[start[restriction] : start[restriction + 1]]
        drops = np.empty(len(out) + 4, dtype=np.int64)
        scratch = np.empty(3 * len(out), dtype=errors.dtype)
        for edge in range(first[restriction], first[restriction + 1]):
            below, above = low[edge], high[edge]
            relax(
                errors[start[below] : start[below + 1]],
                errors[start[above] : start[above + 1]],
                low_weight[value[edge], literals[restriction] - literals[below]],
                high_weight[value[edge]],
                nothing,
                drops,
                scratch,
                out,
            )
        level_out(out)


@jit
def _perfect_sizes(order, first, low, high, out_perfect):
    """The size of the smallest tree without error; a huge number where no edges are known."""
    for restriction in order:
        best = 1 << 40 if restriction > 0 else 0
        for edge in range(first[restriction], first[restriction + 1]):
            best = min(best, out_perfect[low[edge]] + out_perfect[high[edge]] + 1)
        out_perfect[restriction] = best


@jit
def _count_updates(first, low, high, start, out_updates):
    """How many inner steps each restriction takes."""
    for restriction in range(len(out_updates)):
        most = start[restriction + 1] - start[restriction] - 1
        for edge in range(first[restriction], first[restriction + 1]):
            below = min(most, start[low[edge] + 1] - start[low[edge]])
            above = min(most, start[high[edge] + 1] - start[high[edge]])
            # pairs of sizes i < below and j < above with i + j < most
            cut = max(0, below + above - 1 - most)
            out_updates[restriction] += below * above - cut * (cut + 1) // 2
