"""The numbers of a sweep over a family of formulas."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mictree._support.checkpoints import KeptRows
from mictree._support.progress import Progress
from mictree._support.scratch import scratch_floats
from mictree.families.allowed import allowed_graph
from mictree.families.blocks import Blocks, key_of
from mictree.families.family import Family
from mictree.families.graph import build, member_terms
from mictree.families.greedy_sizes import greedy_sizes
from mictree.families.growth import FamilyGrowth, best_splits, compare_errors
from mictree.families.growth_kernel import BestSplits
from mictree.growers.rules import Grower, depth_of
from mictree.impurity import name_of
from mictree.optimal.dynamic.lattice import Graph
from mictree.optimal.dynamic.program import (
    Batch,
    Program,
    batches,
    fill_batch,
    perfect_sizes,
    row_starts,
)
from mictree.optimal.result import Top, check_rows

SECONDS = 2.0  # between two checkpoints of optimal errors


class SolvedFormulas:
    """A family with the optimal errors of all its members."""

    def __init__(
        self, family: Family, blocks: Blocks, memory_limit: int, scratch: Path | None = None
    ) -> None:
        self._family, self._blocks, self._memory_limit = family, blocks, memory_limit
        self._built = build(family, memory_limit)
        graph = self._built.graph
        self._perfect = perfect_sizes(graph)
        self._program = self._unsolved(graph, self._perfect, scratch)
        rows = KeptRows(blocks.partial, graph.order, self._program.start, self._program.errors)
        kept = time.monotonic()
        for batch in self._solve(graph, self._program, "optimal errors", rows.done):
            if batch.stop == len(graph) or time.monotonic() - kept >= SECONDS:
                rows.keep(batch.stop)
                kept = time.monotonic()
        held = self._built.memory + (0 if scratch else self._program.errors.nbytes)
        self._growth = FamilyGrowth(
            family, self._built, self._program, blocks.max_size, memory_limit - held
        )
        self._best: dict[tuple[str | int, int], BestSplits] = {}

    def columns(self) -> dict[str, Any]:
        """What each member is."""
        count = len(self._family)
        return {
            "member": np.arange(1, count + 1),
            "formula": formula_names(self._family, self._built.terms),
            "terms": self._built.terms[1:],
            "literals": self._built.graph.literals[1:],
            "count": np.ones(count, dtype=np.int64),
        }

    def sizes(self, number: int, rule: Grower) -> np.ndarray:
        """The perfect size, and the best and the worst of greedy trees; a row for each member.

        ``number`` is that of the first rule with this criterion and depth.
        """
        greedy = greedy_sizes(self._built.graph, self._best_splits(rule), self._memory_limit)
        return np.stack([self._perfect, *greedy], axis=1)[1:]

    def compare(self, number: int, rule: Grower) -> np.ndarray:
        """MIC, largest excess error and its size of one rule; a row for each member."""
        best = self._best_splits(rule)
        return self._blocks.table(
            f"rule-{number}",
            f"{rule.label}, ties {rule.ties}",
            3,
            lambda some: self._growth.compare(rule, best, some),
        )

    def compare_top(self, top: Top) -> np.ndarray:
        """The same numbers of the best trees that test only splits of largest gain."""
        graph = allowed_graph(self._built, self._growth.arrays, top)
        program = self._unsolved(graph, perfect_sizes(graph), None)
        for _ in self._solve(graph, program, f"top {top.number}, {name_of(top.criterion)}"):
            pass
        rows, optimal = (program.start, program.errors), (self._program.start, self._program.errors)
        return compare_errors(self._blocks.max_size, rows, optimal)[1:]

    def _unsolved(self, graph: Graph, perfect: np.ndarray, scratch: Path | None) -> Program:
        """Rows for all sizes, with the errors of lone leaves."""
        max_size = self._blocks.max_size
        if scratch is None:
            nowhere = np.zeros(len(graph), dtype=np.int32)
            check_rows(nowhere, perfect, max_size, self._memory_limit)
        start = row_starts(np.minimum(perfect, max_size) + 1)
        if scratch is None:
            errors = np.empty(start[-1])
        else:
            errors = scratch_floats(scratch, int(start[-1]), "rows of least errors")
        errors.fill(np.inf)
        rate = self._built.positive_rate
        errors[start[:-1]] = np.minimum(rate, 1 - rate)
        literals = int(graph.literals.max())
        return Program.of_floats(self._family.biases, literals, start, errors)

    def _solve(self, graph: Graph, program: Program, what: str, done: int = 0) -> Iterator[Batch]:
        """Fill the rows, batch by batch."""
        for batch in batches(graph, program.start, done):
            fill_batch(graph, program, batch)
            yield batch
            layer = int(graph.literals[graph.order[batch.stop - 1]])
            solved = f"{batch.stop:,}/{len(graph):,} formulas, layer {layer}"
            self._blocks.progress(Progress(what, batch.share, solved))

    def _best_splits(self, rule: Grower) -> BestSplits:
        key = key_of(rule)
        if key not in self._best:
            self._best[key] = best_splits(
                self._built, self._program, rule.criterion, depth_of(rule)
            )
        return self._best[key]


def formula_names(family: Family, terms: np.ndarray) -> pl.Series:
    """All members as texts such as ``3+3+5``, or ``2*0.3,1*0.7 + 1*0.3`` with other biases."""
    names = family.term_names()
    separator = " + " if "*" in names[-1] else "+"
    first = np.cumsum(terms, dtype=np.int64)[:-1]  # of each member but the constant
    smallest = member_terms(family, terms)[first]
    alone = np.array(names, dtype=object)
    texts = np.empty(len(terms) - 1, dtype=object)
    shorter = np.flatnonzero(terms[1:] == 1)
    texts[shorter] = alone[smallest[shorter]]
    for count in range(2, int(terms.max()) + 1):
        these = np.flatnonzero(terms[1:] == count)
        # the last earlier member with one term less has all but the smallest term: decision 0013
        rest = shorter[np.searchsorted(shorter, these) - 1]
        texts[these] = (alone + separator)[smallest[these]] + texts[rest]
        shorter = these
    return pl.Series(texts.tolist())
