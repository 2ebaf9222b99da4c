"""From Dask collections to a splitting: digests, columns, packed partitions, growth.

``Rows`` reads every partition once, where it lies, and keeps it there: first as a digest, then
packed by one plan for all. The edges of ordered columns are searched by rounds of counting, so
thresholds are exact however the rows are cut into partitions. ``grow`` then runs the growing loop
here and sends only paths to the workers; counts come back. The same rows give the same tree,
whatever the number of partitions and workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mictree.columns.ordered import Edges, EdgeSearch
from mictree.distributed.cluster import Cluster
from mictree.distributed.collections import (
    MOST_THRESHOLDS,
    Partitions,
    Plan,
    Summary,
    are_ordered,
    count_values,
    digest,
    known_edges,
    literals_of,
    merge_counts,
    merge_summaries,
    names_of,
    scale_of,
    summarize,
)
from mictree.distributed.growth import Growing, Offers
from mictree.distributed.packed import (
    Counted,
    Path,
    count_leaves,
    merge_counted,
    merge_sums,
    pack,
    weigh_leaves,
)
from mictree.growers.choosing import RuleFunctions
from mictree.growers.data_gains import limits_of, weighing_of
from mictree.growers.data_loop import Splitting
from mictree.growers.rules import Grower
from mictree.problems.sample import Factors, Limits, SampleProblem, Scale, masses_of_sums

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


@dataclass(frozen=True)
class Rounds:
    """What a fit cost.

    Attributes
    ----------
    columns : rounds until every column's literals were known
    growth : rounds of counting
    sent : for each round of counting, the bytes of the counts that one worker's thread gave
    """

    columns: int
    growth: int
    sent: tuple[int, ...]


class Rows:
    """The rows of a fit, read into their workers' memory."""

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self.partitions = Partitions.of(X, y, sample_weight)
        self.cluster = Cluster()
        self._digests = self.cluster.hold(self._read())
        self.summary: Summary = self.cluster.reduce(summarize, merge_summaries, self._digests)
        if not sum(int(rows.sum()) for rows in self.summary.all_rows):
            raise ValueError("a data set must have at least one row; it has 0")

    def _read(self) -> list[Any]:
        from dask.delayed import delayed

        read = delayed(digest, pure=False)
        return [read(rows, number) for number, rows in enumerate(self.partitions.rows)]

    @property
    def labels(self) -> np.ndarray:
        """The labels that occur, each at least once."""
        return np.concatenate([each for each in self.summary.labels if len(each)])

    def counts(self, classes: np.ndarray) -> IntArray:
        """The number of rows of each class, also those of weight 0."""
        counts = np.zeros(len(classes), dtype=np.int64)
        for labels, rows in zip(self.summary.labels, self.summary.all_rows, strict=True):
            counts[np.searchsorted(classes, labels)] += rows
        return counts

    def pack(self, classes: np.ndarray, max_thresholds: int | None) -> tuple[Plan, list[Any]]:
        """Choose the literals of all columns, and pack every partition once."""
        scale = scale_of(self.summary, self.partitions.weighted)
        edges = self._edges(scale, MOST_THRESHOLDS if max_thresholds is None else max_thresholds)
        columns = self.summary.columns or ()
        literals = literals_of(self.partitions, columns, edges, scale is not None)
        plan = Plan(classes, literals, scale)
        packed = self.cluster.change(pack, self._digests, plan)
        self._digests = []  # their workers may forget them; Dask reads again what it must
        return plan, packed

    def _edges(self, scale: Scale | None, most: int) -> dict[int, Edges]:
        """The edges of all ordered columns: exact, however the rows are cut into partitions."""
        columns = self.summary.columns or ()
        ordered = are_ordered(columns, names_of(self.partitions))
        edges: dict[int, Edges] = {}
        searches: dict[int, EdgeSearch] = {}
        for number in np.flatnonzero(ordered).tolist():
            known = known_edges(columns[number])
            if known is not None:
                edges[number] = known
            else:
                searches[number] = EdgeSearch(most)
        while searches:
            ranges = {n: each.ranges for n, each in searches.items() if each.ranges is not None}
            found = self.cluster.reduce(count_values, merge_counts, self._digests, ranges, scale)
            for number, counts in found.items():
                searches[number].narrow(counts)
            for number, search in list(searches.items()):
                if search.edges is not None:
                    edges[number] = search.edges
                    del searches[number]
        return edges


def grow(
    rows: Rows,
    classes: np.ndarray,
    class_weight: FloatArray | None,
    max_thresholds: int | None,
    limits: Limits,
    rule: Grower,
    max_size: int,
) -> tuple[SampleProblem, Splitting, Rounds]:
    """Grow a tree on the rows; also the names that it needs, and what it cost."""
    plan, packed = rows.pack(classes, max_thresholds)
    cluster, columns, sent = rows.cluster, rows.cluster.rounds, []
    given = np.ones(len(classes)) if class_weight is None else class_weight
    scaled = Factors.of(given)
    factors = scaled.values
    functions = RuleFunctions(rule)

    def count(leaves: Sequence[Path]) -> Counted:
        functions.settle()  # what a user's function raised, before one more round
        counted = cluster.reduce(count_leaves, merge_counted, packed, leaves)
        sent.append(counted.rows.nbytes + counted.sums.nbytes)
        return counted

    root = count([()])
    sums = (root.sums if len(root.sums) else root.rows)[:, -1].astype(float)
    _check_total(sums * given, plan.scale is not None or class_weight is not None)
    least = limits.min_weight_fraction_leaf * float((sums * factors).sum())
    weighing = weighing_of(factors, plan.scale is not None, rule.criterion, functions)
    offers = Offers(plan.literals, weighing, limits_of(limits, least))
    # every split leaves a row on both sides and no literal is tested twice on a path
    limit = min(max_size, rows.summary.rows - 1, 2 ** min(len(plan.literals), 62) - 1)
    growing = Growing(rule.with_seed(), offers, count, factors, limit)
    growing.run(root)
    functions.settle()
    unit = 1.0 if plan.scale is None else plan.scale.whole(np.empty(0)).unit
    masses = scaled.masses(np.array([leaf.sums for leaf in growing.leaves]), unit)
    if plan.scale is not None and plan.scale.decimal is None:
        weights = _given_masses(growing, cluster, packed, len(classes))
        masses = scaled.masses(weights, unit, whole=False)
    problem = SampleProblem.bare(tuple(classes.tolist()), plan.literals, given, unit, limits)
    return problem, _splitting(growing, masses), Rounds(columns, len(sent), tuple(sent))


def _check_total(masses: FloatArray, weighted: bool) -> None:
    """Refuse weights whose sum is no number to divide by."""
    if weighted and not 0 < masses.sum() < np.inf:
        raise ValueError(f"weights must have a positive and finite sum; it is {masses.sum()}")


def _given_masses(
    growing: Growing, cluster: Cluster, packed: list[Any], classes: int
) -> FloatArray:
    """The weight of each class at each leaf, from the weights as given."""
    split = {leaf for leaf, *_ in growing.splits}
    last = [number for number in range(len(growing.leaves)) if number not in split]
    paths = [growing.leaves[number].path for number in last]
    found = cluster.reduce(weigh_leaves, merge_sums, packed, paths)
    sums = [0] * (len(growing.leaves) * classes)
    for place, number in enumerate(last):
        part = slice(place * classes, (place + 1) * classes)
        sums[number * classes : (number + 1) * classes] = found[part]
    return masses_of_sums(sums, [leaf for leaf, *_ in growing.splits], classes)


def _splitting(growing: Growing, masses: FloatArray) -> Splitting:
    """The growth as arrays."""
    parts = list(zip(*growing.splits, strict=True)) or [()] * 4
    leaves, literals, thresholds, gains = parts
    return Splitting(
        np.array(leaves, dtype=np.int64),
        np.array(literals, dtype=np.int64),
        np.array(thresholds, dtype=float),
        np.array(gains, dtype=float),
        np.array([leaf.rows for leaf in growing.leaves], dtype=np.int64),
        masses,
    )
