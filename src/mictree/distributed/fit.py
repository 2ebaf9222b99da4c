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
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import check_categories
from mictree._support.numbers import as_number
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
    merge_weights,
    names_of,
    range_of,
    scale_of,
    spread_targets,
    summarize,
    total_targets,
    weigh_rows,
)
from mictree.distributed.growth import ClassGains, Growing, NumberGains, Offers
from mictree.distributed.packed import (
    Counted,
    Path,
    count_leaves,
    gather_labels,
    merge_counted,
    merge_labels,
    merge_sums,
    pack,
    square_errors,
    weigh_leaves,
)
from mictree.growers.choosing import RuleFunctions
from mictree.growers.data_gains import limits_of, weighing_of
from mictree.growers.data_loop import Splitting, altered_priors, priced, with_own_sets
from mictree.growers.data_subsets import check_criterion_of_sets
from mictree.growers.rules import Grower, criterion_on
from mictree.problems.sample import (
    Factors,
    LabelGrid,
    LabelRange,
    LabelScale,
    Limits,
    SampleProblem,
    Scale,
    masses_of_sums,
)
from mictree.problems.tasks import MatrixCosts, Outcome, Squared

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

    def __init__(self, X: Any, y: Any, sample_weight: Any = None, numbers: bool = False) -> None:
        self.partitions = Partitions.of(X, y, sample_weight)
        self.cluster = Cluster()
        self._numbers = numbers  # to predict, or classes
        self._digests = self.cluster.hold(self._read())
        self.summary: Summary = self.cluster.reduce(summarize, merge_summaries, self._digests)
        if not self.count:
            raise ValueError("a data set must have at least one row; it has 0")

    def _read(self) -> list[Any]:
        from dask.delayed import delayed

        read = delayed(digest, pure=False)
        parts = enumerate(self.partitions.rows)
        return [read(rows, number, self._numbers) for number, rows in parts]

    @property
    def count(self) -> int:
        """The number of rows, also those of weight 0."""
        return sum(int(rows.sum()) for rows in self.summary.all_rows)

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

    def pack(
        self, classes: np.ndarray, max_thresholds: int | None, categories: str = "each"
    ) -> tuple[Plan, list[Any]]:
        """Choose the literals of all columns, and pack every partition once."""
        scale = scale_of(self.summary, self.partitions.weighted)
        edges = self._edges(scale, MOST_THRESHOLDS if max_thresholds is None else max_thresholds)
        columns = self.summary.columns or ()
        grouped = check_categories(categories) == "subsets"
        literals = literals_of(self.partitions, columns, edges, scale is not None, grouped)
        plan = Plan(classes, literals, scale, *self._measure_labels(scale))
        packed = self.cluster.change(pack, self._digests, plan)
        self._digests = []  # their workers may forget them; Dask reads again what it must
        return plan, packed

    def _measure_labels(
        self, scale: Scale | None
    ) -> tuple[LabelScale | None, int, LabelRange | None]:
        """How numbers to predict become whole, what divides all weights, and the labels' range."""
        if self.summary.targets is None:
            return None, 1, None
        mass, divisor = self.summary.rows, 1
        if scale is not None:
            mass, divisor = self.cluster.reduce(weigh_rows, merge_weights, self._digests, scale)
            mass //= divisor
        labels = range_of(self.summary.targets)
        grid = LabelGrid.of(labels, mass)
        shared = scale, divisor, grid
        total = self.cluster.reduce(total_targets, sum, self._digests, *shared)
        centre = grid.centre(total, mass)
        spread = self.cluster.reduce(spread_targets, sum, self._digests, *shared, centre)
        return LabelScale.of(labels, grid, mass, centre, spread), divisor, labels

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


class _Counting:
    """Rounds of counting on packed partitions."""

    def __init__(self, rows: Rows, packed: list[Any], rule: Grower) -> None:
        self.cluster, self.packed = rows.cluster, packed
        self.functions = RuleFunctions(rule)
        self._columns, self._sent = rows.cluster.rounds, list[int]()

    def count(self, leaves: Sequence[Path]) -> Counted:
        """Count some leaves: one round."""
        self.functions.settle()  # what a user's function raised, before one more round
        counted = self.reduce(count_leaves, merge_counted, leaves)
        self._sent.append(sum(each.nbytes for each in counted))
        return counted

    def reduce(self, function: Any, merge: Any, *shared: Any) -> Any:
        """What a function gives for all partitions, merged."""
        return self.cluster.reduce(function, merge, self.packed, *shared)

    @property
    def rounds(self) -> Rounds:
        """What it has cost so far."""
        return Rounds(self._columns, len(self._sent), tuple(self._sent))


def grow(
    rows: Rows,
    classes: np.ndarray,
    class_weight: FloatArray | None,
    max_thresholds: int | None,
    limits: Limits,
    rule: Grower,
    max_size: int,
    task: MatrixCosts | None = None,
    categories: str = "each",
) -> tuple[SampleProblem, Splitting, Rounds]:
    """Grow a tree on the rows; also the names that it needs, and what it cost.

    With a cost matrix as task it grows on classes that weigh what missing them costs.
    """
    labels, priors = tuple(classes.tolist()), np.ones(len(classes))
    if task is not None:
        if rule.criterion == "minority":
            raise TypeError(
                'criterion "minority" with a cost_matrix must be grown on one machine; X is a Dask '
                "collection"
            )
        priors = altered_priors(task, labels, rule.criterion)
    plan, packed = rows.pack(classes, max_thresholds, categories)
    counting = _Counting(rows, packed, rule)
    given = np.ones(len(classes)) if class_weight is None else class_weight
    scaled = Factors.of(given * priors)
    factors = scaled.values
    root = counting.count([()])
    sums = (root.sums if len(root.sums) else root.rows)[:, -1].astype(float)
    _check_total(sums * given * priors, plan.scale is not None or class_weight is not None)
    least = limits.min_weight_fraction_leaf * float((sums * factors).sum())
    check_criterion_of_sets(plan.literals, not isinstance(rule.criterion, str))
    weighing = weighing_of(factors, plan.scale is not None, rule.criterion, counting.functions)
    gains = ClassGains(weighing, limits_of(limits, least), task)
    offers = Offers(plan.literals, gains)
    growing = Growing(
        rule.with_seed(), offers, counting.count, factors, _limit(rows, plan, max_size)
    )
    growing.run(root)
    counting.functions.settle()
    sums = _Sums.of(growing, counting, plan, np.array([leaf.sums for leaf in growing.leaves]))
    problem = SampleProblem.bare(labels, plan.literals, given, sums.unit, limits)
    splitting = _splitting(growing, sums.masses(scaled))
    if task is not None:
        problem.task = task
        masses = sums.masses(Factors.of(given))[0]
        offset = float(masses @ task.least) / float(masses.sum())
        splitting = priced(splitting, task, priors, offset)
    problem, (splitting,) = with_own_sets(problem, [splitting])
    return problem, splitting, counting.rounds


def grow_numbers(
    rows: Rows,
    max_thresholds: int | None,
    limits: Limits,
    rule: Grower,
    max_size: int,
    categories: str = "each",
) -> tuple[SampleProblem, Splitting, Rounds]:
    """The same for numbers to predict, by the drop in squared error."""
    plan, packed = rows.pack(np.zeros(1, dtype=np.int64), max_thresholds, categories)
    assert plan.numbers is not None
    problem = SampleProblem.bare((), plan.literals, np.ones(1), _weight_unit(plan), limits)
    problem.task = Squared()
    criterion_on(rule, problem)
    counting, scaled = _Counting(rows, packed, rule), Factors.of(np.ones(1))
    root = counting.count([()])
    mass = float(root.sums[0, -1, 0]) * plan.divisor
    least = limits.min_weight_fraction_leaf * mass / plan.divisor
    gains = NumberGains(plan.numbers.unit, limits_of(limits, least))
    offers = Offers(plan.literals, gains)
    only_weight = np.array([1.0, 0.0])  # of the sums at a leaf, the first is its weight
    growing = Growing(
        rule.with_seed(), offers, counting.count, only_weight, _limit(rows, plan, max_size)
    )
    growing.run(root)
    counting.functions.settle()
    whole = np.array([leaf.sums[:1] for leaf in growing.leaves], dtype=float) * plan.divisor
    sums = _Sums.of(growing, counting, plan, whole)
    splitting = _splitting(growing, sums.masses(scaled))
    assert plan.labels_range is not None
    splitting = splitting.with_outcome(_means(growing, counting, plan.labels_range.center), 0.0)
    problem, (splitting,) = with_own_sets(problem, [splitting])
    return problem, splitting, counting.rounds


def _limit(rows: Rows, plan: Plan, max_size: int) -> int:
    """The most splits that there may be."""
    # every split leaves a row on both sides and no literal is tested twice on a path
    tests = plan.literals.starts[-1] + plan.literals.rows_of_bits
    return min(max_size, rows.summary.rows - 1, 2 ** min(tests, 62) - 1)


def _weight_unit(plan: Plan) -> float:
    """The weight that is 1 among whole ones."""
    return 1.0 if plan.scale is None else plan.scale.whole(np.empty(0)).unit


class _Sums(NamedTuple):
    """The weights of classes at each leaf: whole ones or, where these are rounded, as given."""

    sums: FloatArray
    unit: float
    whole: bool

    @classmethod
    def of(cls, growing: Growing, counting: _Counting, plan: Plan, whole: FloatArray) -> _Sums:
        """From the whole ones."""
        unit = _weight_unit(plan)
        if plan.scale is None or plan.scale.decimal is not None:
            return cls(whole, unit, True)
        return cls(_given_masses(growing, counting, whole.shape[1]), unit, False)

    def masses(self, factors: Factors) -> FloatArray:
        """Times the factors of classes."""
        return factors.masses(self.sums, self.unit, self.whole)


def _means(growing: Growing, counting: _Counting, center: float) -> Outcome:
    """What each leaf predicts, and its squared error: from the labels as given, in two rounds.

    Labels are measured from the center.
    """
    leaves = growing.leaves
    last = _last_leaves(growing)
    found = counting.reduce(gather_labels, merge_labels, [leaves[number].path for number in last])
    labels: list[Any] = [None] * len(leaves)
    for number, each in zip(last, found, strict=True):
        labels[number] = each
    for step in reversed(range(len(growing.splits))):
        labels[growing.splits[step][0]] = labels[2 * step + 1].join(labels[2 * step + 2])
    means = [each.mean for each in labels]
    paths = [leaf.path for leaf in leaves]
    squares = counting.reduce(square_errors, merge_sums, paths, means)
    costs = np.array([float(as_number(each)) for each in squares])
    return Outcome(np.array(means) + center, costs)


def _last_leaves(growing: Growing) -> list[int]:
    """The leaves of the full tree."""
    split = {leaf for leaf, *_ in growing.splits}
    return [number for number in range(len(growing.leaves)) if number not in split]


def _check_total(masses: FloatArray, weighted: bool) -> None:
    """Refuse weights whose sum is no number to divide by."""
    if weighted and not 0 < masses.sum() < np.inf:
        raise ValueError(f"weights must have a positive and finite sum; it is {masses.sum()}")


def _given_masses(growing: Growing, counting: _Counting, classes: int) -> FloatArray:
    """The weight of each class at each leaf, from the weights as given."""
    last = _last_leaves(growing)
    paths = [growing.leaves[number].path for number in last]
    found = counting.reduce(weigh_leaves, merge_sums, paths)
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
