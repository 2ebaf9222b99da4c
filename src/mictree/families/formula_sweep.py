"""The numbers of a sweep over a family of formulas."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mictree._support.checkpoints import KeptRows
from mictree._support.progress import Progress
from mictree._support.scratch import scratch_floats
from mictree.families.blocks import Blocks, key_of
from mictree.families.family import Family
from mictree.families.graph import build, member_terms
from mictree.families.greedy_sizes import greedy_sizes
from mictree.families.growth import FamilyGrowth, best_splits
from mictree.families.growth_kernel import BestSplits
from mictree.growers.rules import Grower, depth_of
from mictree.optimal.dynamic.program import Program, batches, fill_batch, perfect_sizes, row_starts
from mictree.optimal.result import check_rows

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
        max_size = blocks.max_size
        if scratch is None:
            check_rows(np.zeros(len(graph), dtype=np.int32), self._perfect, max_size, memory_limit)
        start = row_starts(np.minimum(self._perfect, max_size) + 1)
        if scratch is None:
            errors = np.empty(start[-1])
        else:
            errors = scratch_floats(scratch, int(start[-1]), "rows of least errors")
        errors.fill(np.inf)
        rate = self._built.positive_rate
        errors[start[:-1]] = np.minimum(rate, 1 - rate)
        literals = int(graph.literals.max())
        self._program = Program.of_floats(family.biases, literals, start, errors)
        rows = KeptRows(blocks.partial, graph.order, start, errors)
        kept = time.monotonic()
        for batch in batches(graph, start, rows.done):
            fill_batch(graph, self._program, batch)
            if batch.stop == len(graph) or time.monotonic() - kept >= SECONDS:
                rows.keep(batch.stop)
                kept = time.monotonic()
            layer = int(graph.literals[graph.order[batch.stop - 1]])
            solved = f"{batch.stop:,}/{len(graph):,} formulas, layer {layer}"
            blocks.progress(Progress("optimal errors", batch.share, solved))
        self._growth = FamilyGrowth(family, self._built, self._program, max_size)
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
    # the last earlier member with one term less has all its terms but the smallest: decision 0013
    latest = [""] * (int(terms.max()) + 1)  # by number of terms
    texts = []
    for count, term in zip(terms[1:].tolist(), smallest.tolist(), strict=True):
        latest[count] = names[term] if count == 1 else names[term] + separator + latest[count - 1]
        texts.append(latest[count])
    return pl.Series(texts)
