"""Data: the empirical distribution of the rows of a table."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mictree._support.checks import check_count
from mictree._support.passing import passing
from mictree._support.progress import Report, ignore
from mictree._support.words import count_of
from mictree.columns.data import Data
from mictree.columns.encode import encode
from mictree.columns.literals import Literals
from mictree.columns.packing import count_rows, pack_rows, sort_rows
from mictree.columns.parquet import ParquetSet, Paths, Share
from mictree.impurity.gains import leads_of_sums, rate_differences
from mictree.problems.base import Leaf, Problem, Splits
from mictree.problems.labels import Coded, read_weights, whole_weights
from mictree.problems.limits import NO_LIMITS, Limits
from mictree.problems.packed import PackedRows
from mictree.problems.slots import LeafRows
from mictree.tree import Source, Tree

CACHED = ("total", "exact_total", "factors")  # they depend on the factors of classes

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]


class SampleProblem(PackedRows, Problem):
    """The rows of a data set as a distribution, with probabilities proportional to their weights.

    Parameters
    ----------
    X : a matrix, sparse matrix, pandas or polars frame
    y : a label for each row
    sample_weight : a weight for each row; rows of weight 0 are left out
    class_weight : a factor for each class, in the order of ``classes``
    max_thresholds : the largest number of thresholds per ordered column (numbers, dates, times,
        ordered categories); None for all
    limits : limits on leaves and splits

    Attributes
    ----------
    classes : the labels, sorted; leaves and trees hold positions in it. When all labels are 0 and
        1, it is (0, 1), so that label and position agree.
    literals : the tests; ``literals.transform`` evaluates them on other data
    bits, first_word, valid : the bits of ``literals.stored_bits``, one row each; the first word of
        each class, and the end; the slots that hold a row
    ranks : for each of ``literals.ordered``, the ranks of the rows in the order of their slots

    Examples
    --------
    >>> problem = SampleProblem([[20, 1], [30, 0], [45, 1], [50, 0]], [0, 0, 1, 1])
    >>> problem.variables
    ('x0 > 25', 'x0 > 37.5', 'x0 > 47.5', 'x1')
    >>> problem.positive_rate({"x0 > 37.5": 1})
    1.0
    """

    limits: Limits
    min_gain: float
    all_class_rows: IntArray  # of each class, also rows of weight 0
    named: bool  # whether columns have names

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        class_weight: Sequence[float] | FloatArray | None = None,
        max_thresholds: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        data = X if isinstance(X, Data) else Data(X)
        classes, codes = y if isinstance(y, Coded) else Coded.read(y)
        if data.rows != len(codes):
            raise ValueError(f"X and y must have as many rows; they have {data.rows}, {len(codes)}")
        if not data.rows:
            raise ValueError("a data set must have at least one row; it has 0")
        check_thresholds(max_thresholds)
        self.classes = classes
        self.limits = limits or NO_LIMITS
        self.min_gain = self.limits.min_gain
        weights = read_weights(sample_weight, len(codes))
        self.class_weight = np.array([1.0] * len(classes))
        if class_weight is not None:
            self.class_weight = np.array(class_weight, dtype=float)
            if self.class_weight.shape != (len(classes),) or not np.all(self.class_weight > 0):
                raise ValueError(f"class_weight must be positive, one a class; got {class_weight}")
        if weights is not None or class_weight is not None:
            with np.errstate(over="ignore"):
                total = (self.class_weight[codes] * (1.0 if weights is None else weights)).sum()
            if not 0 < total < math.inf:
                raise ValueError(f"weights must have a positive and finite sum; it is {total}")
        self._pack(data, codes, weights, max_thresholds)

    def _pack(
        self, data: Data, codes: np.ndarray, weights: FloatArray | None, max_thresholds: int | None
    ) -> None:
        self.weights = self.whole_weights = np.empty(0)
        given = self.weights if weights is None else weights
        class_rows = np.zeros(len(self.classes), dtype=np.int64)
        count_rows(codes, given, class_rows)
        self.all_class_rows, self.named = class_rows, data.frame is not None
        if weights is not None:
            self.all_class_rows = np.bincount(codes, minlength=len(self.classes))
        self.lay_out(class_rows)
        self.weight_unit, self.rounded = 1.0, False
        if weights is None and data.bytes is not None:
            bits = np.zeros((data.width, self.first_word[-1]), dtype=np.uint64)
            if pack_rows(data.bytes.reshape(-1), data.width, codes, self.first_word, bits):
                self.literals, self.bits, self.ranks = Literals.binary(data.names), bits, ()
                return
        order = passing(64 * len(self.valid), np.int64)
        rows = passing(sum(class_rows.tolist()), np.int64)
        sort_rows(codes, given, class_rows, order, rows)
        if weights is not None:
            self.weights = np.where(order >= 0, weights[order], 0.0)
            self.whole_weights, self.weight_unit, self.rounded = whole_weights(self.weights)
        whole = None if weights is None else self.whole_weights
        self.literals, self.bits, self.ranks = encode(data, order, rows, whole, max_thresholds)

    @classmethod
    def from_parquet(
        cls,
        paths: Paths,
        target: str,
        *,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        sample_weight: str | None = None,
        rows: tuple[float, float] | None = None,
        seed: int = 0,
        max_thresholds: int | None = 255,
        limits: Limits | None = None,
        progress: Report | None = None,
    ) -> SampleProblem:
        """The rows of Parquet files that may be larger than the memory.

        The files are read batch by batch, several times. Only a bit stays for each row of a column
        of 0 and 1, and a byte or two for each row of an ordered column. The trees are those of
        the same rows read at once with the same ``max_thresholds``.

        Parameters
        ----------
        paths : a pattern such as ``"data/*.parquet"``, a folder, a file, or several of them
        target : the column of labels
        columns : the columns to learn from; by default all others
        drop : columns to leave out, if ``columns`` is not given
        sample_weight : a column of weights
        rows : read a share of the rows only: ``(0, 0.75)`` is three quarters of them, and
            ``(0.75, 1)`` the others, for ``staged_score_parquet``. A hash of the row's number
            decides, so the parts depend on the seed and the order of the rows alone. Nothing is
            learned from rows outside the share, no class, threshold or category
        seed : random seed for ``rows``
        max_thresholds : the largest number of thresholds per ordered column, chosen by exact
            quantiles; None for all, for which memory grows with the number of distinct values
        limits : limits on leaves and splits
        progress : called now and then with a ``Progress``, by rows

        Examples
        --------
        >>> import os, tempfile, polars
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for part, ages in enumerate(([20, 30], [45, 50])):
        ...         table = polars.DataFrame({"age": ages, "rich": [part, part]})
        ...         table.write_parquet(os.path.join(folder, f"{part}.parquet"))
        ...     problem = SampleProblem.from_parquet(os.path.join(folder, "*.parquet"), "rich")
        >>> problem.variables
        ('age > 25', 'age > 37.5', 'age > 47.5')
        """
        from mictree.problems.streamed import choose_columns, read_parquet

        most = check_thresholds(max_thresholds)
        files = ParquetSet(paths, Share.of(rows, seed))
        names = choose_columns(files, target, sample_weight, columns, drop)
        read = read_parquet(files, target, names, sample_weight, most, progress or ignore)
        problem = object.__new__(cls)
        problem.classes = read.classes
        problem.class_weight = np.ones(len(read.classes))
        problem.limits = limits or NO_LIMITS
        problem.min_gain = problem.limits.min_gain
        problem.lay_out(read.class_rows)
        problem.all_class_rows, problem.named = read.all_class_rows, True
        problem.weights = read.weights
        problem.whole_weights, problem.weight_unit, problem.rounded = read.whole
        problem.literals, problem.bits, problem.ranks = read.encoded
        return problem

    def limited(self, limits: Limits) -> SampleProblem:
        """The same rows with other limits."""
        limited = copy.copy(self)
        limited.limits, limited.min_gain = limits, limits.min_gain
        return limited

    def reweighted(self, class_weight: FloatArray) -> SampleProblem:
        """The same rows with another factor for each class."""
        other = copy.copy(self)
        for name in CACHED:
            vars(other).pop(name, None)
        other.class_weight = class_weight
        return other

    def __repr__(self) -> str:
        rows = int(self.class_rows.sum())
        counts = f"{count_of(rows, 'row')}, {count_of(len(self.literals), 'literal')}"
        return f"SampleProblem({counts}, classes={self.classes})"

    @property
    def variables(self) -> tuple[str, ...]:
        """The literals as texts, column by column."""
        return self.literals.names

    def root(self, exact: bool = False) -> Leaf:
        return self._leaf(LeafRows(self.valid, (), exact))

    def children(self, leaf: Leaf, variable: int) -> tuple[Leaf, Leaf]:
        mask, path, exact = leaf.state
        if variable in path:
            name = self.variables[variable]
            raise ValueError(f"a path tests a variable at most once; {name} is tested twice")
        below = (*path, variable)
        literal = self.words(variable)
        return (
            self._leaf(LeafRows(mask & ~literal, below, exact)),
            self._leaf(LeafRows(mask & literal, below, exact)),
        )

    def test(self, leaf: Leaf, variable: int) -> tuple[str, float | None]:
        number, position = self.literals.locate(variable)
        column = self.literals.columns[number]
        threshold = None
        if column.categories is None and position < column.thresholds:
            threshold = column.threshold(position)
            if number in self.literals.ordered:
                ranks = np.unique(self.ranks_at(leaf.state.mask, number))
                place = int(np.searchsorted(ranks, position + column.missing, side="right"))
                _, threshold = column.between(int(ranks[place - 1]), int(ranks[place]))
        return self.literals.texts(variable, threshold)[0], threshold

    def offered(self, leaf: Leaf) -> IntArray:
        """The tests that may split a leaf: literals of bits, and one for each cut of its values."""
        return np.sort(np.concatenate([self.literals.stored_bits, self._cuts(leaf)]))

    def _cuts(self, leaf: Leaf) -> IntArray:
        """The tests on ordered columns that split a leaf, one for each way to split it."""
        cuts = []
        for number in self.literals.ordered:
            column = self.literals.columns[number]
            present = np.unique(self.ranks_at(leaf.state.mask, number)).tolist()
            present = [rank for rank in present if rank >= column.missing]
            start = self.literals.starts[number]
            cuts += [start + column.between(low, high)[0] for low, high in pairwise(present)]
        return np.array(cuts, dtype=np.int64)

    def splits(self, leaf: Leaf) -> Splits:
        mask, path, _ = leaf.state
        limits = self.limits
        rows = self.counts(mask[None, :])[0]
        deep = limits.max_depth is not None and len(path) >= limits.max_depth
        variables = np.empty(0, dtype=np.intp)
        if not deep and rows.sum() >= limits.min_samples_split:
            variables = self.offered(leaf)
            high_rows = self.counts(self.bits_of(variables) & mask).sum(axis=1)
            smaller = np.minimum(high_rows, rows.sum() - high_rows)
            variables = variables[smaller >= max(1, limits.min_samples_leaf)]
        low_sums, high_sums = self.halves(mask, variables)
        factors = self.factors.values
        low, high = low_sums * factors, high_sums * factors
        low_mass, high_mass = low.sum(axis=1), high.sum(axis=1)
        heavy = np.minimum(high_mass, low_mass) >= self.min_leaf_mass
        difference = np.empty(low.shape)
        alike = bool((factors == factors[0]).all())
        for number in np.flatnonzero(heavy):
            rate_differences(
                low_sums[number], high_sums[number], factors, alike, difference[number]
            )
        return Splits(
            variables[heavy],
            (low_mass / (low_mass + high_mass))[heavy],
            (high_mass / (low_mass + high_mass))[heavy],
            (low / low_mass[:, None])[heavy],
            (high / high_mass[:, None])[heavy],
            difference[heavy],
        )

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        leads = np.empty((len(splits.variables), 2))
        for number, halves in enumerate(
            zip(*self.halves(leaf.state.mask, splits.variables), strict=True)
        ):
            leads[number] = leads_of_sums(*halves, self.factors.values)
        return leads[:, 0], leads[:, 1]

    def class_counts(self, leaf: Leaf) -> IntArray:
        """How many rows of each class reach a leaf, whatever their weight."""
        return self.counts(leaf.state.mask[None])[0]

    def class_masses(self, leaf: Leaf) -> FloatArray:
        """The weight of each class at a leaf."""
        return self.masses(leaf.state.mask[None])[0]

    def unlimited(self) -> SampleProblem:
        """The same rows without limits on leaves and splits."""
        return self.limited(NO_LIMITS)

    def find(self, name: str, source: Source) -> int:
        columns = self.literals.columns
        known = source[0] < len(columns) and name.startswith(columns[source[0]].name)
        literal = self.literals.find(source) if known else -1
        if literal < 0:
            raise ValueError(f"the problem must have every variable tested; it has no {name}")
        return literal

    def tree(
        self,
        leaves: Sequence[int],
        tests: Sequence[int],
        thresholds: Sequence[float | None],
        labels: Sequence[int],
    ) -> Tree:
        return self.literals.tree(leaves, tests, thresholds, labels)

    def _leaf(self, state: LeafRows) -> Leaf:
        masses: list[Any]
        rates: tuple[Any, ...]
        if state.exact:
            masses, total = self.exact_masses(state.mask), self.exact_total
        else:
            masses, total = self.masses(state.mask[None])[0].tolist(), self.total
        mass = sum(masses)
        # a leaf that nothing reaches has no rate; the first class makes it free of error
        rates = tuple(share / mass for share in masses) if mass else (1, *[0] * (len(masses) - 1))
        pure = int((self.counts(state.mask[None])[0] > 0).sum()) <= 1
        positive = 0.0 if len(rates) == 1 else rates[1]
        return Leaf(mass / total, positive, pure, state, rates)

    @property
    def min_leaf_mass(self) -> float:
        """The least weight that a split may leave on a side, in the unit of whole weights."""
        share = self.limits.min_weight_fraction_leaf
        if share == 0:  # as in most fits, which need no sums then
            return 0.0
        return share * float((self.sums(self.valid[None]) * self.factors.values).sum())

    def without_rows(self, literals: Literals) -> SampleProblem:
        """The same classes and some literals without the data; growers can no longer use it."""
        return SampleProblem.bare(
            self.classes, literals, self.class_weight, self.weight_unit, self.limits
        )

    @classmethod
    def bare(
        cls,
        classes: tuple[Any, ...],
        literals: Literals,
        class_weight: FloatArray,
        weight_unit: float,
        limits: Limits,
    ) -> SampleProblem:
        """A problem whose rows are not here: it has names for a tree that was grown elsewhere."""
        problem = object.__new__(cls)
        problem.classes, problem.literals = classes, literals
        problem.limits, problem.min_gain = limits, limits.min_gain
        problem.class_weight, problem.weight_unit = class_weight, weight_unit
        problem.rounded = False
        problem.bits = np.empty((len(literals.stored_bits), 0), dtype=np.uint64)
        problem.ranks = tuple(np.empty(0, dtype=np.uint8) for _ in literals.ordered)
        problem.valid = np.empty(0, dtype=np.uint64)
        problem.weights = problem.whole_weights = np.empty(0)
        problem.first_word = np.zeros(len(classes) + 1, dtype=np.int64)
        problem.class_rows = problem.all_class_rows = np.zeros(len(classes), dtype=np.int64)
        problem.named = True
        return problem


def check_thresholds(max_thresholds: int | None) -> int | None:
    """Refuse what is no number of thresholds."""
    if max_thresholds is not None and check_count(max_thresholds, "max_thresholds") == 0:
        raise ValueError("max_thresholds must be at least 1; got 0")
    return max_thresholds
