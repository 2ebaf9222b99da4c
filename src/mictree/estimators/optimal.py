"""The best tree of a size as a scikit-learn estimator.

The search (``mictree.optimal``) returns the best tree of every size up to ``max_size`` with bounds
on the least error; trees of two sizes may have no split in common, so all of them are kept. A
``penalty`` chooses among them the least sum of error and price. How large a tree the price could
ever pay for follows from the error of a greedy tree, which bounds the size to search. Leaves that
are too small are pruned after the search, and the bounds then hold for trees under that limit.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from mictree._support.checks import as_fraction, check_count, check_seconds, check_size
from mictree.columns.data import read_array, unnamed
from mictree.estimators.base import TreeClassifier
from mictree.estimators.exports import preorder
from mictree.estimators.predicting import read_labels
from mictree.estimators.sizes import PenaltyPath, is_certified, penalty_path, unavoidable
from mictree.growers.data_loop import Splitting
from mictree.growers.rules import TopDown
from mictree.impurity.criteria import of_classes
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors
from mictree.optimal.frontier import SampleOptimalTrees, solve
from mictree.optimal.solve import repeat_last
from mictree.problems.sample import Limits, SampleProblem, class_weights, read_weights
from mictree.tree import LEAF, Tree

MOST_GREEDY = 1000  # splits of the greedy tree that says which sizes a price can pay for


class OptimalTreeClassifier(TreeClassifier):
    """A decision tree with the fewest training errors among trees of at most ``max_size`` splits.

    One fit finds the best trees of all smaller sizes too. If the time limit ends the search, the
    classifier keeps the best trees found, and ``frontier_`` bounds their distance from the optimum.

    Parameters
    ----------
    max_size : the largest number of splits; None for 5, or for no limit if there is a ``penalty``.
        A tree of ``size`` splits has ``size + 1`` leaves. "auto" chooses among sizes up to 8 by
        cross-validation, see ``mictree.select_size``; every fold then has a search with a time
        limit of its own.
    penalty : the price of a split, as a share of the weight of all rows. The classifier then has
        the tree with the least sum of training error and price. Others price leaves, of which a
        tree has one more.
    max_depth : the largest number of tests on a path; None for no limit
    time_limit : seconds for the search; None for no limit. Ctrl-C also ends the search.
    max_thresholds : the largest number of thresholds per ordered column (numbers, dates, times,
        ordered categories); None for all. More never make the tree worse.
    min_samples_leaf, min_weight_fraction_leaf : the fewest rows and the least share of the weight
        of a leaf. The search ignores them; violating splits are pruned afterwards. ``frontier_``
        then bounds the least error under these limits.
    class_weight : None, a mapping of class to weight, or "balanced"
    memory_limit : in bytes, for the search

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    size_choice_ : with ``max_size="auto"``, the ``SizeChoice``
    frontier_ : the least training error by size, index = size, with ``lower``, ``upper`` and
        ``proved``; the last error repeats where no tree needs ``max_size`` splits
    proved_ : whether the tree is proved to be the best of its size, or with a penalty of all sizes
    literals_ : the literals that the tree may test: ``literals_.names``, ``literals_.transform(X)``
    tree_ : the ``Tree`` of full size; its labels are positions in ``classes_``
    feature_importances_ : the share of each column in the drop of the Gini impurity

    Examples
    --------
    >>> from mictree import OptimalTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
    >>> model = OptimalTreeClassifier(max_size=3).fit(X, y)
    >>> model.score(X, y), model.proved_
    (1.0, True)
    >>> model.frontier_.upper
    array([0.5 , 0.5 , 0.25, 0.  ])
    """

    # parameters of a tree exported to scikit-learn
    criterion: ClassVar[str] = "gini"
    min_samples_split: ClassVar[int] = 2

    def __init__(
        self,
        max_size: int | Literal["auto"] | None = None,
        *,
        penalty: float | None = None,
        max_depth: int | None = None,
        time_limit: float | None = 60.0,
        max_thresholds: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: Any = None,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        self.max_size = max_size
        self.penalty = penalty
        self.max_depth = max_depth
        self.time_limit = time_limit
        self.max_thresholds = max_thresholds
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search for the best tree of every size.

        Parameters
        ----------
        X : matrix, sparse matrix, pandas or polars frame
        y : a label for each row
        sample_weight : a weight for each row; integers act as repeated rows

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.OptimalTreeClassifier(max_size=3).fit(X, y)
        >>> model.proved_
        True
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        limits = Limits(
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_depth=self.max_depth,
        )
        seconds = self.time_limit
        if seconds is not None:
            seconds = check_seconds(seconds, "time_limit")
        data = self._read(X, reset=True)
        self.classes_: np.ndarray
        self.classes_, coded = read_labels(y, data.rows)
        weights = read_weights(sample_weight, data.rows)
        factors = class_weights(self.class_weight, coded)
        if factors is not None:  # class weights and sample weights multiply
            weights = factors[coded.codes] * (1.0 if weights is None else weights)
        problem = SampleProblem(
            data, coded, weights, max_thresholds=self.max_thresholds, limits=limits
        )
        price = _read_penalty(self.penalty)
        self._max_size = self._largest_size(problem, price, self._choose_size(X, y, sample_weight))
        rows = int(problem.class_rows.sum())  # those with a weight
        limit = min(self._max_size, max(0, rows - 1))  # no tree needs more
        memory = check_count(self.memory_limit, "memory_limit")
        solved = solve(problem, limit, False, memory, None, self.max_depth, seconds, price)
        self._problem = problem
        trees, upper = solved.trees, solved.errors.upper
        if self.min_samples_leaf > 1 or self.min_weight_fraction_leaf > 0:
            self._splittings = _with_large_leaves(problem, trees)
            upper = np.array([splitting.errors[-1] for splitting in self._splittings])
        lower = np.minimum(solved.errors.lower, upper)
        last = limit if price is not None and self.max_size is None else self._max_size
        self._bounds = np.array([repeat_last(each, last) for each in (lower, upper)])
        self._beyond = None if limit < self._max_size else unavoidable(data, coded.codes, weights)
        if price is not None:
            self._max_size = self.penalty_path().at(float(price)).size
            trees = trees[: self._max_size + 1]
        if self.min_samples_leaf > 1 or self.min_weight_fraction_leaf > 0:
            self._splittings = self._splittings[: len(trees)]
        else:
            self._splittings = [_splitting(problem, tree) for tree in trees]
        self._splitting = self._splittings[-1]
        return self

    def _largest_size(self, problem: SampleProblem, price: Fraction | None, chosen: Any) -> int:
        """The sizes to search; with a price, those that could cost less than a greedy tree."""
        if chosen is not None or price is None:
            return check_size(5 if chosen is None else chosen)
        rows = int(problem.class_rows.sum())
        errors = TopDown().grow(problem, min(rows, MOST_GREEDY)).errors
        best = float(np.min(errors + float(price) * np.arange(len(errors))))
        return math.ceil(min(rows, best / float(price)))  # a tiny price makes the quotient infinite

    def penalty_path(self) -> PenaltyPath:
        """For every price per split the best size, and whether that is certified for all sizes.

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.OptimalTreeClassifier(max_size=2).fit(X, y)
        >>> print(model.penalty_path())
        price from 0.3333 on: 0 splits, error 0.6667
        price from 0.2933 to 0.3333: 1 split, error 0.3333
        price from 0.04 to 0.2933: 2 splits, error 0.04
        price from 0 to 0.04: 2 splits, error 0.04, not certified
        """
        lower, upper = self._fitted("_bounds")
        return penalty_path(lower, upper, self._beyond)

    def at_size(self, size: int) -> Self:
        """A copy with the best tree of a size, as if fitted with that ``max_size``.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.OptimalTreeClassifier(max_size=3).fit(X, y)
        >>> model.at_size(2).score(X, y)
        0.75
        """
        wanted = self._check_size(size)
        smaller = copy.copy(self)
        smaller.max_size = smaller._max_size = wanted
        smaller._splittings = smaller._splittings[: wanted + 1]  # a copy renumbers literals
        smaller._splitting = smaller._splittings[-1]
        smaller._bounds = self._bounds[:, : wanted + 1]
        smaller._beyond = 0.0 if self._beyond is None else self._beyond
        return smaller

    def _all_sizes(self) -> tuple[Sequence[Splitting], bool]:
        return self._splittings, False

    @property
    def frontier_(self) -> CertifiedErrors:
        """The least training error by size."""
        lower, upper = self._fitted("_bounds")
        return CertifiedErrors(lower, upper.copy())

    @property
    def proved_(self) -> bool:
        """Whether the tree is proved to be the best of its size, or with a penalty of all sizes."""
        if self.penalty is not None:
            beyond = self._beyond if self.max_size is None else None
            lower, upper = self._fitted("_bounds")
            return is_certified(lower, upper, beyond, float(self.penalty))
        return bool(self.frontier_.proved[-1])


def as_classifier(solved: SampleOptimalTrees) -> OptimalTreeClassifier:
    """The classifier of optimal trees that were found already."""
    problem = solved.problem
    model = OptimalTreeClassifier(solved.max_size)
    model.classes_ = read_array(problem.classes)
    names = [column.name for column in problem.literals.columns]
    model.n_features_in_ = len(names)
    if names != list(unnamed(len(names))):
        model.feature_names_in_ = np.array(names, dtype=object)  # type: ignore[attr-defined]
    model._problem, model._max_size = problem, solved.max_size
    model._bounds = np.array([solved.errors.lower, solved.errors.upper])
    model._beyond = 0.0
    model._splittings = [_splitting(problem, tree) for tree in solved.trees]
    model._splitting = model._splittings[-1]
    return model


def _read_penalty(penalty: Any) -> Fraction | None:
    """A price exactly as written."""
    if penalty is None:
        return None
    if (
        isinstance(penalty, bool)
        or not isinstance(penalty, Real)
        or not 0 < float(penalty) < math.inf
    ):
        raise ValueError(f"penalty must be a positive number or None; got {penalty!r}")
    return as_fraction(penalty)


def _splitting(problem: SampleProblem, tree: Tree) -> Splitting:
    """A tree's splits in preorder, with the rows and masses of every node."""
    masks, number = [problem.valid], {0: 0}  # a node's place in the order of creation
    leaves, literals, thresholds, gains = [], [], [], []
    literal_of = tree.positions(problem)
    for node in tree.internal_nodes:
        literal = literal_of[tree.tests[node]]
        mask, bits = masks[number[node]], problem.words(literal)
        leaves.append(number[node])
        literals.append(literal)
        source = tree.sources[tree.tests[node]][1] if tree.sources else None
        exact = isinstance(source, float)
        thresholds.append(source if exact else problem.literals.threshold(literal))
        number[tree.low[node]], number[tree.high[node]] = len(masks), len(masks) + 1
        masks += [mask & ~bits, mask & bits]
    words = np.array(masks)
    rows, masses = problem.counts(words), problem.masses(words)
    weight = masses.sum(axis=1)
    impurity = weight * of_classes("gini", masses / weight[:, None])
    for step, leaf in enumerate(leaves):
        drop = impurity[leaf] - impurity[2 * step + 1] - impurity[2 * step + 2]
        gains.append(max(0.0, float(drop / weight[leaf])))
    return Splitting(
        np.array(leaves, dtype=np.int64), np.array(literals, dtype=np.int64),
        np.array(thresholds), np.array(gains), rows, masses,
    )  # fmt: skip


def _with_large_leaves(problem: SampleProblem, trees: Sequence[Tree]) -> list[Splitting]:
    """For each size, the best of several trees that satisfy the problem's limits."""
    greedy = TopDown().grow(problem, len(trees) - 1)
    best: list[Splitting] = []
    for size, tree in enumerate(trees):
        candidates = [
            _splitting(problem, each) for each in (_prune(problem, tree), greedy.tree(size))
        ]
        best.append(min([*best[-1:], *candidates], key=lambda each: each.errors[-1]))
    return best


def _prune(problem: SampleProblem, tree: Tree) -> Tree:
    """Remove every split with too few rows or too little weight on a side."""
    limits = problem.limits
    splitting = _splitting(problem, tree)
    creation = np.argsort(preorder(splitting, tree.size))
    counts = splitting.rows[creation].sum(axis=1)
    enough = (counts >= limits.min_samples_leaf) & (
        splitting.reaches[creation] >= limits.min_weight_fraction_leaf
    )
    nested: dict[int, Any] = {}
    for node in reversed(range(len(tree.tests))):  # children before parents
        low, high = tree.low[node], tree.high[node]
        if tree.tests[node] == LEAF or not (enough[low] and enough[high]):
            nested[node] = int(splitting.labels[creation[node]])
        else:
            nested[node] = (tree.tests[node], nested[low], nested[high])
    return Tree.build(tree.variables, nested[0], tree.sources)
