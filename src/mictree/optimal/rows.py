"""A data set as the search reads it: distinct rows, integer weights, frames, bounds, nested trees.

Rows that no test tells apart and that have one class are one row with the sum of their weights.
Literals that never change, and all but one of those that split the rows in the same way, are left
out. Weights become integers, so sums and differences are exact and ties are ties. What the rows
cost as a leaf, and what their classes alone say of trees with few leaves, is asked here: a leaf
predicts one class, so a tree with few leaves gives up all rows of the lightest classes; and cutting
off the lightest leaf of a tree costs little, so the least error of one size limits how low that of
the next can be. ``docs/optimal-trees.md`` has the proofs.

The search works on one sub-problem per level of its recursion, in a frame of scratch: frame 0 has
the whole question, frame 1 a child of it, and so on. A frame has three kinds of fields: the
question, the errors that counting gives, and how far its list of (literal, share of the budget) has
been tried. Low is the side where a literal does not hold (side 0), high where it holds (side 1).
Scalars are fields of records, which compile as fast as plain arrays; arrays are few, as compiling
grows with their number.

A tree as the search finds it is nested: the code of a class, or ``(test, low, high)`` with a nested
tree for each side. A ``Tree`` is made of it on demand.

Invariants. The error of a tree on these rows, over the sum of their weights, is its error on the
problem; where weights had to be rounded, up to the slack of ``exact_weights``. While frame ``n +
1`` works, frame ``n`` stands at ``(position, low_budget, side)``, and the rows of frame ``n + 1``
are the rows of frame ``n`` on that side of that literal.
"""

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import jit
from mictree.optimal.costs import (
    EXACT,
    Actions,
    Classes,
    CostCounting,
    Numbers,
    Scale,
)
from mictree.problems.sample import SampleProblem
from mictree.tree import LEAF, Tree


class ExactWeights(NamedTuple):
    """Weights exactly as written, where those of the search are rounded."""

    weights: np.ndarray  # Python integers
    unit: int  # what is 1 in the search
    slack: int  # by how much a sum of rounded weights may be wrong, in units


class Leaf(NamedTuple):
    """The best label of some rows without a split, and what it costs.

    Labels are positions of classes or actions; all are 0 where trees predict numbers, until the
    end.
    """

    label: int
    cost: int


class Counting:
    """What the weight of each class says of trees with few leaves, no deeper than ``depth``."""

    def __init__(self, masses: Sequence[int], depth: int) -> None:
        self.depth = depth
        self.masses = np.array(sorted(masses, reverse=True), dtype=np.int64)
        self.most_leaves = 1 << min(depth, 62)

    def by_size(self, max_size: int) -> list[int]:
        """By size, the weight of all classes but the heaviest, one for each leaf."""
        masses = self.masses.tolist()
        given_up = [sum(masses) - kept for kept in accumulate(masses)][: max_size + 1]
        return given_up + [0] * (max_size + 1 - len(given_up))

    def last_split(self, size: int, before: int) -> int:
        """The most that the last of ``size`` splits can gain, if one fewer leaves this error."""
        return lightest_leaf(self.masses, self.most_leaves, size, before)


@jit
def lightest_leaf(masses, most_leaves, size, before):
    """The most that the last of ``size`` splits can gain, if one fewer leaves this error.

    That is the weight that the lightest leaf labels right: every leaf labels as much of its class
    right, and all together no more than the whole less the error. Of costs that are not errors,
    which have no masses, it is all that there is.
    """
    if size >= most_leaves:
        return 0
    if len(masses) == 0:
        return before
    enough, most = 0, (masses.sum() - before) // size
    while enough < most:
        middle = (enough + most + 1) // 2
        leaves = 0
        for mass in masses:
            leaves += mass // middle
        if leaves > size:
            enough = middle
        else:
            most = middle - 1
    return enough


class SearchedRows(ABC):
    """Distinct rows whose leaves have whole costs, and the tests on them.

    Attributes
    ----------
    data : what the kernel works on; its ``weights`` are (rows, 2): by how much a row raises the
        cost of any tree at most, and what of it no tree avoids
    weights : an array of the type of costs, one number a row
    floor : the cost that no tree avoids
    """

    problem: SampleProblem
    data: Any
    weights: np.ndarray
    floor: int

    @abstractmethod
    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""

    @abstractmethod
    def leaf(self, rows: np.ndarray | None = None) -> Leaf:
        """The best label of some rows, by default all, the first of several; and its cost."""

    @abstractmethod
    def wrong(self, tree: Tree | Any) -> int:
        """The cost of a tree, nested or not, counted anew."""

    @abstractmethod
    def counting(self, depth: int) -> Counting | CostCounting:
        """What is known without a search of trees no deeper than ``depth``."""

    @property
    @abstractmethod
    def total(self) -> int | Fraction:
        """The cost that is an error of 1."""

    @property
    @abstractmethod
    def offset(self) -> Fraction:
        """The error of trees without any cost."""

    @property
    @abstractmethod
    def must_settle(self) -> bool:
        """Whether the errors of trees must be computed by costs as written."""

    @abstractmethod
    def least_error(self, cost: int) -> Fraction:
        """The least error of trees that cost as much or more."""

    @abstractmethod
    def most_error(self, cost: int, size: int) -> Fraction:
        """The largest error of trees of a size that cost as much or less."""

    @abstractmethod
    def settle(self, tree: Tree) -> tuple[Tree, Fraction]:
        """A tree with the best labels by costs as written; its error."""

    def is_least(self, least: Fraction, error: Fraction, size: int) -> bool:
        """Whether no tree of a size has an error from ``least`` to below that of a tree found."""
        return least == error

    @property
    def everything(self) -> np.ndarray:
        """All rows."""
        return np.arange(len(self.weights))

    def tests(self, tree: Tree) -> list[int]:
        """The test of each node of a tree, -1 at a leaf."""
        positions = {LEAF: LEAF, **tree.positions(self.problem)}
        return [positions[test] for test in tree.tests]

    def nodes(self, tree: Tree | Any) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """The test and both children of each node of a tree, nested or not; tests of leaves: -1."""
        if isinstance(tree, Tree):
            return self.tests(tree), tree.low, tree.high
        subtrees, tests, low, high = [tree], [], [], []
        for subtree in subtrees:  # grows meanwhile
            inner = isinstance(subtree, tuple)
            tests.append(subtree[0] if inner else LEAF)
            low.append(len(subtrees) if inner else LEAF)
            high.append(len(subtrees) + 1 if inner else LEAF)
            subtrees += subtree[1:] if inner else ()
        return tests, low, high

    def reach(self, tree: Tree | Any) -> np.ndarray:
        """The leaf of a tree, nested or not, that each row reaches."""
        reached = np.zeros(len(self.weights), dtype=np.intp)
        tests, low, high = self.nodes(tree)
        waiting = [(0, self.everything)]
        while waiting:
            node, rows = waiting.pop()
            if tests[node] == LEAF:
                reached[rows] = node
            else:
                held = self.holds(rows, tests[node])
                waiting += [(low[node], rows[~held]), (high[node], rows[held])]
        return reached


class ClassRows(SearchedRows):
    """Rows with a class and a whole weight: a leaf costs the weight of all classes but one.

    For errors, and for costs of two actions, whose classes are the cheaper actions.

    Attributes
    ----------
    codes, weights : the class and the weight of each row
    exact_weights : the weights as written; None where none is rounded
    scale : how costs become errors; None where they are errors
    """

    codes: np.ndarray
    exact_weights: ExactWeights | None
    scale: Scale | None

    @property
    def classes(self) -> int:
        """How many classes or actions there are."""
        return len(self.problem.actions)

    def masses(self, rows: np.ndarray | None = None) -> np.ndarray:
        """The weight of each class among some rows, by default all."""
        codes, weights, count = self.codes, self.weights, self.classes
        if rows is not None:
            codes, weights = codes[rows], weights[rows]
        if weights.dtype == np.int32 or self._adds_up:
            return np.bincount(codes, weights, count).astype(np.int64)
        return add_up(codes, weights, count)

    @cached_property
    def _adds_up(self) -> bool:
        """Whether sums of weights are exact in floating point."""
        return bool(self.weights.sum() < 2**53)

    def leaf(self, rows: np.ndarray | None = None) -> Leaf:
        """The heaviest class of some rows, by default all, and the weight of the others.

        Of several heaviest classes it is the first.
        """
        masses = self.masses(rows)
        return Leaf(int(masses.argmax()), int(masses.sum() - masses.max()))

    @property
    def total(self) -> int | Fraction:
        """The weight of all rows, or the cost that is an error of 1."""
        return self._weight if self.scale is None else self.scale.total

    @cached_property
    def _weight(self) -> int:
        return int(self.masses().sum())

    @property
    def offset(self) -> Fraction:
        """The error of trees without any cost."""
        return Fraction(0) if self.scale is None else self.scale.offset

    def counting(self, depth: int) -> Counting:
        """What the classes alone say of trees no deeper than ``depth``."""
        return Counting(self.masses().tolist(), depth)

    def wrong(self, tree: Tree | Any) -> int:
        """The weight that a tree, nested or not, labels wrongly, counted anew."""
        if isinstance(tree, Tree):
            labels = np.array(tree.labels)[self.reach(tree)]
        else:
            labels, waiting = np.empty(len(self.codes), dtype=np.intp), [(tree, self.everything)]
            while waiting:
                nested, rows = waiting.pop()
                if isinstance(nested, tuple):
                    test, low, high = nested
                    held = self.holds(rows, test)
                    waiting += [(low, rows[~held]), (high, rows[held])]
                else:
                    labels[rows] = nested
        return int(self.weights[labels != self.codes].sum())

    @property
    def must_settle(self) -> bool:
        """Whether weights are rounded."""
        return self.exact_weights is not None

    @cached_property
    def _whole(self) -> int | Fraction:
        """The weight of all rows as written, or the cost as written that is an error of 1."""
        if self.scale is None or self.exact_weights is None:
            exact = self.exact_weights
            return self.total if exact is None else int(exact.weights.sum())
        return self.scale.total * self.exact_weights.unit

    def least_error(self, cost: int) -> Fraction:
        """The least error of trees whose whole cost is at least this."""
        if self.exact_weights is not None:
            cost = max(0, cost - self.exact_weights.slack) * self.exact_weights.unit
        return self.offset + Fraction(cost) / self._whole

    def most_error(self, cost: int, size: int) -> Fraction:
        """The largest error of trees that cost as much or less."""
        if self.exact_weights is not None:
            cost = (cost + self.exact_weights.slack) * self.exact_weights.unit
        return self.offset + Fraction(cost) / self._whole

    def settle(self, tree: Tree) -> tuple[Tree, Fraction]:
        """A tree with the heaviest class at each leaf, by weights as written; its error."""
        weights = self.weights if self.exact_weights is None else self.exact_weights.weights
        votes = np.zeros((len(tree.tests), self.classes), dtype=weights.dtype)
        np.add.at(votes, (self.reach(tree), self.codes), weights)
        labels = [
            LEAF if test != LEAF else int(np.argmax(row))
            for test, row in zip(tree.tests, votes, strict=True)
        ]
        right = sum(row[label] for row, label in zip(votes, labels, strict=True) if label != LEAF)
        error = self.offset + Fraction(int(weights.sum() - right)) / self._whole
        return replace(tree, labels=tuple(labels)), error


class MergedRows(SearchedRows):
    """Rows with costs of actions, or with numbers to predict; those with equal inputs are one.

    Attributes
    ----------
    costs : of all rows of the problem
    group : of each row of the problem, the distinct row
    left_out : what all trees cost beside
    """

    costs: Actions | Numbers
    group: np.ndarray
    left_out: int | Fraction

    def wrong(self, tree: Tree | Any) -> int:
        """The cost of a tree, nested or not, with the best label at each leaf, counted anew."""
        reached = self.reach(tree)
        return sum(self.leaf(np.flatnonzero(reached == leaf)).cost for leaf in np.unique(reached))

    @property
    def total(self) -> Fraction:
        """The cost that is an error of 1."""
        return self.costs.scale.total

    @property
    def offset(self) -> Fraction:
        """The error of trees without any cost."""
        return self.costs.scale.offset + self.left_out / self.total

    @property
    def must_settle(self) -> bool:
        """Whether errors must be computed as written: of numbers, costs have floors."""
        return isinstance(self.costs, Numbers) or self.costs.rounded is not None

    def least_error(self, cost: int) -> Fraction:
        """The least error of trees that cost as much or more."""
        if isinstance(self.costs, Numbers):
            return self.costs.least_error(cost + self.left_out)
        if self.costs.rounded is None:
            return self.offset + cost / self.total
        certain = max(0, cost + self.left_out - self.costs.rounded.slack)
        return self.costs.scale.offset + certain / self.total

    def most_error(self, cost: int, size: int) -> Fraction:
        """The largest error of trees of a size that cost as much or less."""
        if isinstance(self.costs, Numbers):
            return self.costs.most_error(cost + self.left_out, size + 1)
        slack = 0 if self.costs.rounded is None else self.costs.rounded.slack
        return self.costs.scale.offset + (cost + self.left_out + slack) / self.total

    def is_least(self, least: Fraction, error: Fraction, size: int) -> bool:
        """Whether no tree of a size has an error from ``least`` to below that of a tree found."""
        if isinstance(self.costs, Numbers):
            return self.costs.is_least(least, error, size)
        return least == error

    def settle(self, tree: Tree) -> tuple[Tree, Fraction]:
        """A tree with the best labels by costs as written; its error."""
        reached = self.reach(tree)[self.group]
        labels: list[Any] = [LEAF] * len(tree.tests)
        error = Fraction(0)
        for leaf in np.flatnonzero(np.array(tree.tests) == LEAF).tolist():
            labels[leaf], cost = self.costs.settled_leaf(np.flatnonzero(reached == leaf))
            error += cost
        return replace(tree, labels=tuple(labels)), error + self.costs.scale.offset


class Weighed(NamedTuple):
    """Rows as classes with weights, before equal ones are merged."""

    rows: np.ndarray | None  # of the problem, class by class; None for all in their order
    codes: np.ndarray
    weights: np.ndarray  # none if all are 1
    exact_weights: ExactWeights | None
    scale: Scale | None

    @classmethod
    def of(cls, problem: SampleProblem, exact: bool) -> "Weighed":
        """The labels, or for costs of two actions the cheaper ones."""
        if not problem.counts_errors:
            rows, codes, weights, rounded, scale = Classes.of(problem)
            return cls(rows, codes, weights, rounded and ExactWeights(*rounded), scale)
        codes = np.arange(len(problem.classes), dtype=np.int32).repeat(problem.class_rows)
        weighted = len(problem.weights) > 0
        if not weighted and set(problem.class_weight.tolist()) == {1.0}:
            return cls(None, codes, np.empty(0, dtype=np.int64), None, None)
        weights = problem.weights[row_slots(problem)] if weighted else np.ones(len(codes))
        return cls(None, codes, *to_integers(weights, codes, problem.class_weight, exact), None)


def add_up(groups: np.ndarray, integers: np.ndarray, count: int) -> np.ndarray:
    """The sum of each group's integers, exactly: ``np.bincount`` adds them up in floating point."""
    if integers.dtype != object and integers.sum() < 2**53:
        return np.bincount(groups, integers, count).astype(np.int64)
    sums = np.zeros(count, dtype=integers.dtype if integers.dtype == object else np.int64)
    np.add.at(sums, groups, integers)
    return sums


def row_slots(problem: SampleProblem) -> np.typing.NDArray[np.intp]:
    """The slot of each row of a problem, class by class."""
    starts = 64 * problem.first_word[:-1] - np.cumsum(problem.class_rows) + problem.class_rows
    return np.arange(problem.class_rows.sum()) + np.repeat(starts, problem.class_rows)


ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

LEVEL = np.dtype(
    [
        # the question: the least error of these rows with this budget, if it is below the bound
        ("budget", np.int64),
        ("depth", np.int64),
        ("bound", np.int64),
        ("key_high", np.uint64),  # the hash of the rows
        ("key_low", np.uint64),
        ("floor", np.int64),  # the error that no tree avoids
        # what is known of the answer
        ("errors", np.int64, (4,)),  # least errors with 0, 1, 2 splits; with one in each child too
        ("counted_sizes", np.int64),  # how many of them are the least of their size
        ("best", np.int64),  # an error that some tree attains
        ("limit", np.int64),  # only trees with a smaller error are wanted: the bound or the best
        ("goal", np.int64),  # an error that is good enough to stop
        # where the search stands
        (
            "counted",
            np.int64,
        ),  # the child of the frame above whose pairs are here: 2 literal + side
        ("useful", np.int64),  # how many literals split the rows; -1 until they are sorted
        ("position", np.int64),  # the place of the literal being tried, in the order
        ("turn", np.int64),  # the number of the share of the budget being tried
        ("low_budget", np.int64),  # that share: the splits of the low child
        ("side", np.int64),  # the child that was asked last
        ("looked_up", np.int64),  # whether the bounds of this literal's children are filled
        ("smaller", np.int64),  # the side of the child with less weight
        ("tried", np.int64),  # how many literals' bounds are kept
        ("refuted", np.int64),  # no test that was tried leads to a smaller cost
    ],
    align=True,
)

CHILD = np.dtype(
    [
        ("key_high", np.uint64),
        ("key_low", np.uint64),
        ("exact", np.uint64),  # bit b: the bound for budget b is the least error
    ],
    align=True,
)


class Data(NamedTuple):
    """Distinct rows in slots: sorted by class, each class from a word boundary on.

    Weights are integers, int32 or int64, kept as sums of a few amounts.
    """

    words: np.ndarray  # (slots, words): the literals' bits; then, if there are many, the amounts'
    columns: np.ndarray  # (literals, slot words): the slots in which each literal holds
    amounts: np.ndarray
    weights: np.ndarray  # (slots, 2): the weight, and what of it no tree can label right
    keys: np.ndarray  # (slots, 2) random
    first_word: np.ndarray  # (classes + 1,)


class Frames(NamedTuple):
    """One frame per level; every array's first index is the level."""

    levels: np.ndarray  # (levels,) of LEVEL
    children: np.ndarray  # (levels, 2) of CHILD: both children of the literal being tried
    mask: np.ndarray  # (levels, slot words): the slots of the rows
    totals: np.ndarray  # (levels, classes): the weight of each class
    pairs: np.ndarray  # (levels, classes, literals, literals) weight where both hold; lower half
    held: np.ndarray  # (levels, classes + 1, literals): weight where one holds, by class and in all
    least: np.ndarray  # (levels, 3, 2, literals): least errors of both children without a split
    # (low is -1 where the literal is constant), with one; their floors
    order: np.ndarray  # (levels, 2, literals): in which literals are tried; those tried so far
    bounds: np.ndarray  # (levels, 1 + literals, 2, budgets): lower bounds of both children by
    # budget: of the literal being tried, and of those tried so far


def make_frames(data: Data, budgets: int, levels: int) -> Frames:
    """Frames for a search over some rows."""
    return Frames(
        levels=np.zeros(levels, dtype=(np.record, LEVEL)),  # fields are attributes
        children=np.zeros((levels, 2), dtype=(np.record, CHILD)),
        **{
            name: np.empty((levels, *shape), dtype=kind)
            for name, (shape, kind) in _shapes(data, budgets).items()
        },
    )


def frame_bytes(data: Data, budgets: int) -> int:
    """The memory of one level, at most."""
    words = sum(int(np.prod(shape)) for shape, _ in _shapes(data, budgets).values())
    return LEVEL.itemsize + 2 * CHILD.itemsize + 8 * words


def _shapes(data: Data, budgets: int) -> dict[str, tuple[tuple[int, ...], np.dtype | type]]:
    literals, classes = len(data.columns), len(data.first_word) - 1
    kind = data.weights.dtype
    return {
        "mask": ((data.columns.shape[1],), np.uint64),
        "totals": ((classes,), kind),
        "pairs": ((classes, literals, literals), kind),
        "held": ((classes + 1, literals), kind),
        "least": ((3, 2, literals), kind),
        "order": ((2, literals), np.int64),
        "bounds": ((1 + literals, 2, budgets + 1), kind),
    }


def first_test(frames: Any, budget: int, least: int) -> tuple[int, int, int, int]:
    """The first test of the tree that frame 0 has retraced.

    Returns the literal, the budget of the low child, and the least errors of both children. Of all
    that the pair counts prove to be as good, the one with the purest children is taken.
    """
    children = frames.least[0].astype(np.int64)
    for sizes in ([(0, 0)], [(0, 1), (1, 0)], [(1, 1)]):
        ways = []
        for low, high in sizes:
            errors = children[low, 0] + children[high, 1]
            attained = np.flatnonzero((children[0, 0] >= 0) & (errors == least))
            ways += [(literal, low, high) for literal in attained.tolist()]
        if ways and sum(sizes[0]) < budget:
            impurity = _impurities(frames.held[0, :-1], frames.totals[0])
            literal, low, high = min(ways, key=lambda way: impurity[way[0]])
            return literal, low, int(children[low, 0, literal]), int(children[high, 1, literal])
    root = frames.levels[0]
    literal, low = int(frames.order[0, 0, root.position]), int(root.low_budget)
    high = int(root.budget) - 1 - low  # depth may leave less than the budget
    low_error, high_error = frames.bounds[0, 0, 0, low], frames.bounds[0, 0, 1, high]
    return literal, low, int(low_error), int(high_error)


def _impurities(high: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """The Gini impurity of both children of each literal, weighted, from the classes' weights."""
    sides = np.stack([totals[:, None] - high, high]).astype(float)
    masses = sides.sum(axis=1)
    return (masses - (sides**2).sum(axis=1) / np.maximum(masses, 1)).sum(axis=0)


@dataclass(frozen=True)
class Rows(ClassRows):
    """A sample problem's rows: distinct, with integer weights."""

    problem: SampleProblem
    data: Data
    kept: np.ndarray  # the literals searched: no constant, none equal or opposite to another
    codes: np.ndarray  # the class of each row
    slots: np.ndarray  # where each row is in the data
    bits: np.ndarray  # (literals, rows), all literals
    weights: np.ndarray
    exact_weights: ExactWeights | None  # None where no weight is rounded
    floor: int
    scale: Scale | None

    @classmethod
    def of(cls, problem: SampleProblem, exact: bool) -> "Rows":
        taken, codes, integers, exact_weights, scale = Weighed.of(problem, exact)
        slots = row_slots(problem) if taken is None else row_slots(problem)[taken]
        if len(integers) == 0:
            integers = np.ones(len(codes), dtype=np.int64)
        classes = len(problem.actions)
        words = problem.bits_of(np.arange(len(problem.literals)))
        unpacked = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        bits = unpacked[:, slots].astype(bool)
        kept = distinct_literals(bits)
        words = pack(bits[kept].T)
        alike = number_alike(words)
        _, first, group = np.unique(
            codes * (alike.max() + 1) + alike, return_index=True, return_inverse=True
        )
        words, codes, bits, alike = words[first], codes[first], bits[:, first], alike[first]
        weights = add_up(group, integers, len(first))
        if exact_weights is not None:
            exact_weights = exact_weights._replace(
                weights=add_up(group, exact_weights.weights, len(first))
            )
        weights = weights.astype(np.int32 if weights.sum() < 2**31 else np.int64)
        unavoidable = find_unavoidable(alike, codes, weights, classes)
        floor = int(unavoidable.sum(dtype=int))
        amounts, which = _amounts(weights)
        if len(amounts) > 1:
            words = np.column_stack([words, which])
        counts = np.bincount(codes, minlength=classes)
        first_word = np.concatenate([[0], np.cumsum((counts + 63) // 64)])
        slots = 64 * first_word[codes] + np.arange(len(codes)) - np.searchsorted(codes, codes)

        def spread(values: np.ndarray) -> np.ndarray:
            spread = np.zeros((64 * first_word[-1], *values.shape[1:]), dtype=values.dtype)
            spread[slots] = values
            return spread

        keys = np.random.default_rng(0x6D696374).integers(
            0, 2**64, size=(len(codes), 2), dtype=np.uint64
        )
        data = Data(
            words=spread(words),
            columns=pack(spread(bits[kept].T).T),
            amounts=amounts,
            weights=spread(np.column_stack([weights, unavoidable])),
            keys=spread(keys),
            first_word=first_word,
        )
        return cls(problem, data, kept, codes, slots, bits, weights, exact_weights, floor, scale)

    def mask(self, rows: np.ndarray) -> np.ndarray:
        """The bits of some rows' slots."""
        chosen = np.zeros(len(self.data.keys), dtype=bool)
        chosen[self.slots[rows]] = True
        return np.packbits(chosen, bitorder="little").view(np.uint64)

    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""
        return self.bits[test, rows]


def distinct_literals(bits: np.ndarray) -> np.ndarray:
    """The first of all literals that split the rows in the same two sets; constants split none."""
    alike = np.where(bits[:, :1], ~bits, bits) if len(bits) else bits
    packed = np.packbits(alike, axis=1)
    seen: dict[bytes, int] = {}
    for number, row in enumerate(packed):
        if alike[number].any():
            seen.setdefault(row.tobytes(), number)
    return np.array(sorted(seen.values()), dtype=np.intp)


def pack(bits: np.ndarray) -> np.typing.NDArray[np.uint64]:
    """Rows of bits to rows of 64-bit words."""
    words = max(1, (bits.shape[1] + 63) // 64)
    padded = np.zeros((len(bits), 64 * words), dtype=bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def to_integers(
    weights: np.ndarray, codes: np.ndarray, class_weight: np.ndarray, exact: bool
) -> tuple[np.ndarray, ExactWeights | None]:
    """Weights times their class's in multiples of one unit, and as written if that rounds them.

    Both are read as written: 0.3 is 3/10. The unit divides all products if sums then keep
    to 62 binary digits. Otherwise products are rounded to 61 digits of their sum, none to 0.
    """
    products = weights * class_weight[codes]
    factors = (weights, class_weight) if exact else (products,)
    if products.sum() < 2**53 and all(np.all(each == np.round(each)) for each in factors):
        return products.astype(np.int64), None
    distinct, which = np.unique(weights, return_inverse=True)
    pairs, which = np.unique(which * len(class_weight) + codes, return_inverse=True)
    factors = _multiples(class_weight)
    numbers, counts = _multiples(distinct), np.bincount(which).tolist()
    integers = [numbers[pair // len(factors)] * factors[pair % len(factors)] for pair in pairs]
    divisor = math.gcd(*integers)
    integers = [integer // divisor for integer in integers]
    digits = sum(map(operator.mul, integers, counts)).bit_length()
    if digits <= 62:
        return np.array(integers, dtype=np.int64)[which], None
    unit = 1 << digits - 61
    rounded = [max(1, (integer + unit // 2) // unit) for integer in integers]
    wrong = [abs(r * unit - integer) for r, integer in zip(rounded, integers, strict=True)]
    slack = -(-sum(map(operator.mul, wrong, counts)) // unit)
    exact_weights = ExactWeights(np.array(integers, dtype=object)[which], unit, slack)
    return np.array(rounded, dtype=np.int64)[which], exact_weights


def _multiples(numbers: np.ndarray) -> list[int]:
    """Floats as written, in multiples of one power of ten."""
    decimals = [Decimal(repr(number)) for number in numbers.tolist()]
    least = min(int(number.as_tuple().exponent) for number in decimals)
    return [int(number.scaleb(-least, EXACT)) for number in decimals]


def _amounts(weights: np.ndarray) -> tuple[np.ndarray, np.typing.NDArray[np.uint64]]:
    """A few amounts, and which of them add up to each weight: bit k for amount k."""
    values, which = np.unique(weights, return_inverse=True)
    digits = int(values[-1]).bit_length()
    if len(values) <= max(2, digits):
        return values, np.uint64(1) << which.ravel().astype(np.uint64)
    return np.left_shift(1, np.arange(digits)).astype(weights.dtype), weights.astype(np.uint64)


def number_alike(words: np.ndarray) -> np.typing.NDArray[np.int64]:
    """A number for each row, the same for equal ones."""
    order = np.lexsort(words.T)
    new = np.any(words[order[1:]] != words[order[:-1]], axis=1)
    numbers = np.empty(len(words), dtype=np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(new)])
    return numbers


def find_unavoidable(alike: np.ndarray, codes: np.ndarray, weights: np.ndarray, classes: int):
    """The weight of each row that is outvoted among the rows with the same literals."""
    votes = np.zeros((alike.max() + 1, classes), dtype=weights.dtype)
    np.add.at(votes, (alike, codes), weights)
    return np.where(codes == votes.argmax(axis=1)[alike], 0, weights).astype(weights.dtype)


def holds(
    problem: SampleProblem,
    ranks: tuple[np.ndarray, ...],
    slots: np.ndarray,
    rows: np.ndarray,
    test: int,
) -> np.ndarray:
    """In which of some rows a test holds, given ranks in ordered columns and slots of all rows."""
    literals = problem.literals
    number, position = literals.locate(test)
    column = literals.columns[number]
    if number not in literals.ordered:
        taken = slots[rows]
        return problem.words(test)[taken >> 6] >> (taken & 63).astype(np.uint64) & 1 > 0
    mine = ranks[literals.ordered.index(number)][rows]
    return mine == 0 if position == column.thresholds else mine > position + column.missing


def count_splits(nested: Any) -> int:
    """The number of tests of a nested tree."""
    return 1 + sum(map(count_splits, nested[1:])) if isinstance(nested, tuple) else 0


def build(problem: SampleProblem, nested: Any) -> Tree:
    """A tree from nested tests and labels.

    Thresholds are set halfway between the neighbouring values of the rows that reach them.
    """
    leaves: list[int] = []
    tests: list[int] = []
    thresholds: list[float | None] = []
    labels = [LEAF]
    everything = np.arange(len(problem.ranks[0]) if problem.ranks else 0)
    waiting = [(nested, 0, everything)]  # subtree, leaf by order of creation, its rows
    while waiting:
        subtree, leaf, rows = waiting.pop()
        if not isinstance(subtree, tuple):
            labels[leaf] = subtree
            continue
        test, low, high = subtree
        threshold, below, above = None, rows, rows
        if problem.ranks:  # without ordered columns no test depends on the rows
            test, threshold, below, above = _divide(problem, test, rows)
        leaves.append(leaf)
        tests.append(test)
        thresholds.append(threshold)
        waiting.append((high, len(labels) + 1, above))
        waiting.append((low, len(labels), below))
        labels += [LEAF, LEAF]
    return problem.tree(leaves, tests, thresholds, labels)


def _divide(
    problem: SampleProblem, test: int, rows: np.ndarray
) -> tuple[int, float | None, np.ndarray, np.ndarray]:
    """The test that divides some rows alike, in the middle; its threshold, if it has one; the rows.

    Rows of an ordered column's sides are moved within their array.
    """
    literals = problem.literals
    number, position = literals.locate(test)
    column = literals.columns[number]
    if number not in literals.ordered or position == column.thresholds:
        held = holds(problem, problem.ranks, problem.slots, rows, test)
        return test, None, rows[~held], rows[held]
    ranks = problem.ranks[literals.ordered.index(number)]
    count, below, above = divide(ranks, position + column.missing, rows)
    low, high = rows[:count], rows[count:]
    if below < column.missing:  # all that is not above is missing
        return test, column.threshold(position), low, high
    middle, threshold = column.between(below, above)
    return test - position + middle, threshold, low, high


@jit
def divide(ranks, cut, rows):
    """Move rows with ranks up to a cut to the front; says how many, and both ranks beside it."""
    count, below, above = 0, np.int64(0), np.int64(1) << 40
    for place in range(len(rows)):
        row = rows[place]
        rank = np.int64(ranks[row])
        if rank <= cut:
            rows[place], rows[count] = rows[count], row
            count += 1
            below = max(below, rank)
        else:
            above = min(above, rank)
    return count, below, above


def as_trees(problem: SampleProblem, found: Sequence[Any]) -> tuple[Tree, ...]:
    """Trees, some of them nested, as trees; what is shared stays shared."""
    made: dict[int, Tree] = {}
    trees = []
    for each in found:
        if id(each) not in made:
            made[id(each)] = each if isinstance(each, Tree) else build(problem, each)
        trees.append(made[id(each)])
    return tuple(trees)
