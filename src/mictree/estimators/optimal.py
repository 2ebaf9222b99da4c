"""The best tree of a size as a scikit-learn estimator: of classes, of numbers, or of actions.

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

from mictree._support.checks import (
    as_fraction,
    check_count,
    check_seconds,
    check_size,
    merge_sections,
)
from mictree.columns.data import Data, read_array, unnamed
from mictree.estimators.base import TreeModel
from mictree.estimators.exports import preorder
from mictree.estimators.kinds import TreeClassifier, TreePolicy, TreeRegressor, one_table
from mictree.estimators.predicting import read_labels, read_targets
from mictree.estimators.sizes import (
    PenaltyPath,
    is_certified,
    penalty_path,
    scale_of,
    unavoidable,
)
from mictree.growers.data_loop import Splitting, with_own_sets
from mictree.growers.rules import TopDown
from mictree.impurity.criteria import of_classes
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors
from mictree.optimal.frontier import SampleOptimalTrees, solve
from mictree.problems.sample import Limits, SampleProblem, class_weights, read_weights
from mictree.problems.tasks import ActionCosts, Errors, Squared, read_cost_table
from mictree.tree import LEAF, Tree

FloatArray = np.typing.NDArray[np.float64]
MOST_GREEDY = 1000  # splits of the greedy tree that says which sizes a price can pay for


class OptimalTree(TreeModel):
    """The search for the best trees of every size, and what follows from its bounds.

    Parameters
    ----------
    penalty : the price of a split, as a share of the weight of all rows. The model then has the
        tree with the least sum of training error and price. Others price leaves, of which a tree
        has one more.
    max_depth : the largest number of tests on a path; None for no limit
    time_limit : seconds for the search; None for no limit. Ctrl-C also ends the search.
    max_thresholds : the largest number of thresholds per ordered column (numbers, dates, times,
        ordered categories); None for all. More never make the tree worse.
    categories : "each" tests one category, ``town is A``; "subsets" tests any set of them,
        ``town in {A, C}``, which never makes the tree worse: see docs/optimal-trees.md
    min_samples_leaf, min_weight_fraction_leaf : the fewest rows and the least share of the weight
        of a leaf. The search ignores them; violating splits are pruned afterwards. ``frontier_``
        then bounds the least error under these limits.
    memory_limit : in bytes, for the search

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn
    frontier_ : the least training error by size, index = size, with ``lower``, ``upper``,
        ``proved``, ``certificate`` and ``history``; the last error repeats where no tree needs
        ``max_size`` splits
    proved_ : whether the tree is proved to be the best of its size, or with a penalty of all sizes
    literals_ : the literals that the tree may test: ``literals_.names``, ``literals_.transform(X)``
    """

    # parameters of a tree exported to scikit-learn
    criterion: ClassVar[str] = "gini"
    min_samples_split: ClassVar[int] = 2

    max_size: Any
    penalty: float | None
    max_depth: int | None
    time_limit: float | None
    max_thresholds: int | None
    categories: str
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    memory_limit: int

    _frontier: CertifiedErrors
    _beyond: float | None  # the same of larger trees; None if none is better

    def __init_subclass__(cls, **options: Any) -> None:
        """Put parameters and attributes that several classes share into the docstring."""
        super().__init_subclass__(**options)
        parent = next(base for base in cls.__mro__[1:] if issubclass(base, OptimalTree))
        cls.__doc__ = merge_sections(cls.__doc__ or "", parent.__doc__ or "")

    def _read_limits(self) -> Limits:
        """The limits of leaves; refuses settings that no rows could make right."""
        if self.time_limit is not None:
            check_seconds(self.time_limit, "time_limit")
        return Limits(
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_depth=self.max_depth,
        )

    def _search(
        self,
        problem: SampleProblem,
        data: Data,
        chosen: int | None,
        weights: FloatArray | None,
        codes: np.ndarray | None = None,
    ) -> None:
        """Find the best trees of all sizes up to the chosen one, or up to what pays."""
        price = _read_penalty(self.penalty)
        self._max_size = self._largest_size(problem, price, chosen)
        count = int(problem.class_rows.sum())  # of rows with a weight
        limit = min(self._max_size, max(0, count - 1))  # no tree needs more
        memory = check_count(self.memory_limit, "memory_limit")
        seconds = None if self.time_limit is None else check_seconds(self.time_limit, "time_limit")
        solved = solve(problem, limit, False, memory, None, self.max_depth, seconds, price)
        self._interrupted = solved.interrupted
        self._problem = problem
        trees, errors = solved.trees, solved.errors
        if self.min_samples_leaf > 1 or self.min_weight_fraction_leaf > 0:
            self._splittings = _with_large_leaves(problem, trees)
            errors = errors.attained(np.array([each.errors[-1] for each in self._splittings]))
        last = limit if price is not None and self.max_size is None else self._max_size
        self._frontier = errors.up_to(last)
        self._beyond = None
        if limit == self._max_size:
            held = np.arange(data.rows) if weights is None else np.flatnonzero(weights)
            rows = held if codes is None else held[np.argsort(codes[held], kind="stable")]
            self._beyond = unavoidable(data, problem, rows)
        if price is not None:
            self._max_size = self.penalty_path().at(float(price)).size
            trees = trees[: self._max_size + 1]
        if self.min_samples_leaf > 1 or self.min_weight_fraction_leaf > 0:
            self._splittings = self._splittings[: len(trees)]
        else:
            self._splittings = [_splitting(problem, tree) for tree in trees]
        self._problem, self._splittings = with_own_sets(problem, self._splittings)
        self._splitting = self._splittings[-1]

    def _largest_size(
        self, problem: SampleProblem, price: Fraction | None, chosen: int | None
    ) -> int:
        """The sizes to search; with a price, those that could cost less than a greedy tree."""
        if chosen is not None or price is None:
            return check_size(5 if chosen is None else chosen)
        rows = int(problem.class_rows.sum())
        errors = TopDown().grow(problem, min(rows, MOST_GREEDY)).errors - problem.offset
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
        errors = self.frontier_
        return penalty_path(errors.lower, errors.upper, self._beyond, self._scale)

    @property
    def _scale(self) -> float:
        """How large errors are, for what counts as rounding: 1 if they are shares of the rows."""
        return (
            1.0
            if isinstance(self._task, Errors)
            else scale_of(np.array([self._frontier.lower, self._frontier.upper]))
        )

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
        smaller._frontier = self._frontier[: wanted + 1]
        smaller._beyond = 0.0 if self._beyond is None else self._beyond
        return smaller

    def _all_sizes(self) -> tuple[Sequence[Splitting], bool]:
        return self._splittings, False

    @property
    def frontier_(self) -> CertifiedErrors:
        """The least training error by size."""
        return self._fitted("_frontier")

    @property
    def proved_(self) -> bool:
        """Whether the tree is proved to be the best of its size, or with a penalty of all sizes."""
        if self.penalty is not None:
            beyond = self._beyond if self.max_size is None else None
            errors = self.frontier_
            return is_certified(
                errors.lower, errors.upper, beyond, float(self.penalty), self._scale
            )
        return bool(self.frontier_.proved[-1])


class OptimalTreeClassifier(OptimalTree, TreeClassifier):
    """A decision tree with the fewest training errors among trees of at most ``max_size`` splits.

    One fit finds the best trees of all smaller sizes too. If the time limit ends the search, the
    classifier keeps the best trees found, and ``frontier_`` bounds their distance from the optimum.

    Parameters
    ----------
    max_size : the largest number of splits; None for 5, or for no limit if there is a ``penalty``.
        A tree of ``size`` splits has ``size + 1`` leaves. "auto" chooses among sizes up to 8 by
        cross-validation, see ``mictree.select_size``; every fold then has a search with a time
        limit of its own.
    class_weight : None, a mapping of class to weight, or "balanced"
    cost_matrix : as of ``TopDownClassifier``; errors are mean costs then

    Attributes
    ----------
    classes_ : as in scikit-learn
    actions_ : what leaves may predict: ``classes_``, unless a cost matrix names others
    size_choice_ : with ``max_size="auto"``, the ``SizeChoice``
    tree_ : the ``Tree`` of full size; its labels are positions in ``actions_``
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
        cost_matrix: Any = None,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        categories: str = "each",
    ) -> None:
        self.max_size = max_size
        self.penalty = penalty
        self.max_depth = max_depth
        self.time_limit = time_limit
        self.max_thresholds = max_thresholds
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.memory_limit = memory_limit
        self.categories = categories

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
        _check_given(self, y)
        limits = self._read_limits()
        data = self._read(X, reset=True)
        classes, coded = read_labels(y, data.rows)
        weights = read_weights(sample_weight, data.rows)
        factors = class_weights(self.class_weight, coded)
        if factors is not None:  # class weights and sample weights multiply
            weights = factors[coded.codes] * (1.0 if weights is None else weights)
        problem = SampleProblem(
            data, coded, weights, cost_matrix=self.cost_matrix,
            max_thresholds=self.max_thresholds, limits=limits, categories=self.categories,
        )  # fmt: skip
        self._set_classes(classes, problem)
        chosen = self._choose_size(X, y, sample_weight)
        self._search(problem, data, chosen, weights, coded.codes)
        return self


class OptimalTreeRegressor(OptimalTree, TreeRegressor):
    """A regression tree with the least squared error among trees of at most ``max_size`` splits.

    One fit finds the best trees of all smaller sizes too. If the time limit ends the search, the
    regressor keeps the best trees found, and ``frontier_`` bounds their distance from the optimum.

    Parameters
    ----------
    max_size : the largest number of splits; None for 5, or for no limit if there is a ``penalty``.
        "auto" chooses among sizes up to 8 by cross-validated mean squared error, see
        ``mictree.select_size``; every fold then has a search with a time limit of its own. A
        ``penalty`` is a mean squared error too.

    Attributes
    ----------
    size_choice_ : with ``max_size="auto"``, the ``SizeChoice``
    tree_ : the ``Tree`` of full size; its labels are means
    feature_importances_ : the share of each column in the drop of squared error

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[20], [30], [45], [50]], [1.0, 2.0, 7.0, 8.0]
    >>> model = mt.OptimalTreeRegressor(max_size=1).fit(X, y)
    >>> model.predict([[40]]).tolist(), model.frontier_.upper.tolist()
    ([7.5], [9.25, 0.25])
    """

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
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        categories: str = "each",
    ) -> None:
        self.max_size = max_size
        self.penalty = penalty
        self.max_depth = max_depth
        self.time_limit = time_limit
        self.max_thresholds = max_thresholds
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.memory_limit = memory_limit
        self.categories = categories

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search for the best tree of every size.

        Parameters
        ----------
        X : matrix, sparse matrix, pandas or polars frame
        y : a number for each row
        sample_weight : a weight for each row; integers act as repeated rows

        Examples
        --------
        >>> import mictree as mt
        >>> mt.OptimalTreeRegressor(max_size=1).fit([[0], [1]], [2.5, 4]).predict([[1]]).tolist()
        [4.0]
        """
        _check_given(self, y)
        limits = self._read_limits()
        data = self._read(X, reset=True)
        weights = read_weights(sample_weight, data.rows)
        problem = SampleProblem(
            data, read_targets(y, data.rows), weights, loss="squared",
            max_thresholds=self.max_thresholds, limits=limits, categories=self.categories,
        )  # fmt: skip
        self._search(problem, data, self._choose_size(X, y, sample_weight), weights)
        return self


class OptimalPolicyTree(OptimalTree, TreePolicy):
    """The tree of actions of least mean cost among trees of at most ``max_size`` splits.

    Every row has a cost, or a reward, for each action; the tree chooses actions by the columns of
    X. One fit finds the best trees of all smaller sizes too, and ``frontier_`` bounds how far they
    are from the optimum: it holds mean costs, which for rewards are mean rewards times -1.

    Parameters
    ----------
    max_size : the largest number of splits; None for 5, or for no limit if there is a ``penalty``.
        A ``penalty`` is a mean cost.

    Attributes
    ----------
    actions_ : the names of the actions: the columns of a frame, or 0, 1, ...
    tree_ : the ``Tree`` of full size; its labels are positions in ``actions_``
    feature_importances_ : the share of each column in the drop of the mean cost

    Examples
    --------
    >>> import mictree as mt
    >>> import polars
    >>> X = polars.DataFrame({"age": [30, 40, 60, 70]})
    >>> costs = polars.DataFrame({"wait": [1, 1, 6, 8], "treat": [3, 3, 2, 3]})
    >>> model = mt.OptimalPolicyTree(max_size=1).fit(X, costs)
    >>> print(model.to_text())
    age > 50?
    ├─0─ label wait
    └─1─ label treat
    >>> model.value(X, costs)
    1.75
    """

    def __init__(
        self,
        max_size: int | None = 3,
        *,
        penalty: float | None = None,
        max_depth: int | None = None,
        time_limit: float | None = 60.0,
        max_thresholds: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        categories: str = "each",
    ) -> None:
        self.max_size = max_size
        self.penalty = penalty
        self.max_depth = max_depth
        self.time_limit = time_limit
        self.max_thresholds = max_thresholds
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.memory_limit = memory_limit
        self.categories = categories

    def fit(
        self, X: Any, costs: Any = None, rewards: Any = None, sample_weight: Any = None
    ) -> Self:
        """Search for the best tree of every size.

        Parameters
        ----------
        X : matrix, sparse matrix, pandas or polars frame
        costs : any finite number for each row and action: a table of rows and actions, or a frame,
            whose columns name the actions
        rewards : the same in place of costs, but more is better
        sample_weight : a weight for each row; integers act as repeated rows

        Examples
        --------
        >>> import mictree as mt
        >>> model = mt.OptimalPolicyTree(max_size=1).fit([[0], [1]], [[0, 2], [3, 1]])
        >>> model.predict([[0], [1]]).tolist(), model.proved_
        ([0, 1], True)
        """
        table, name = one_table(costs, rewards)
        limits = self._read_limits()
        data = self._read(X, reset=True)
        actions, numbers = read_cost_table(table, data.rows, name)
        weights = read_weights(sample_weight, data.rows)
        problem = SampleProblem(
            data, None, weights, costs=-numbers if name == "rewards" else numbers,
            max_thresholds=self.max_thresholds, limits=limits, categories=self.categories,
        )  # fmt: skip
        problem.task = ActionCosts(actions)
        self._rewarded = name == "rewards"
        self.actions_ = read_array(list(actions))
        chosen = None if self.max_size is None else check_size(self.max_size)
        self._search(problem, data, chosen, weights)
        return self


def _check_given(model: Any, y: Any) -> None:
    if y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the target y is None"
        )


def as_model(solved: SampleOptimalTrees) -> Any:
    """The estimator of optimal trees that were found already."""
    problem = solved.problem
    model: Any
    if isinstance(problem.task, Squared):
        model = OptimalTreeRegressor(solved.max_size)
    elif isinstance(problem.task, ActionCosts):
        model = OptimalPolicyTree(solved.max_size)
        model.actions_, model._rewarded = read_array(list(problem.actions)), False
    else:
        model = OptimalTreeClassifier(solved.max_size)
        model._set_classes(read_array(problem.classes), problem)
    names = [column.name for column in problem.literals.columns]
    model.n_features_in_ = len(names)
    if names != list(unnamed(len(names))):
        model.feature_names_in_ = np.array(names, dtype=object)  # type: ignore[attr-defined]
    model._max_size = solved.max_size
    model._frontier = solved.errors
    model._beyond = 0.0
    splittings = [_splitting(problem, tree) for tree in solved.trees]
    model._problem, model._splittings = with_own_sets(problem, splittings)
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
    outcome, weight = problem.outcome(words, masses), masses.sum(axis=1)
    if problem.classes or outcome is None:
        impurity = weight * of_classes("gini", masses / weight[:, None])
    else:
        impurity = outcome.costs
    for step, leaf in enumerate(leaves):
        drop = impurity[leaf] - impurity[2 * step + 1] - impurity[2 * step + 2]
        gains.append(max(0.0, float(drop / weight[leaf])))
    return Splitting(
        np.array(leaves, dtype=np.int64), np.array(literals, dtype=np.int64),
        np.array(thresholds), np.array(gains), rows, masses, outcome, problem.offset,
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
            nested[node] = splitting.labels[creation[node]].item()
        else:
            nested[node] = (tree.tests[node], nested[low], nested[high])
    return Tree.build(tree.variables, nested[0], tree.sources)
