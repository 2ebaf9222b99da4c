"""Greedily grown trees as scikit-learn estimators, one for each rule of growth.

One fit grows the tree of ``max_size``. Its first ``size`` splits are the tree of any smaller size,
so ``at_size``, staged predictions and penalty paths need no other fit. ``GreedyTree`` does all the
work: on rows in memory, on a ``SampleProblem`` that was read from files, and, for classifiers, on
Dask collections, whose partitions are counted where they lie. ``GreedyTreeClassifier`` and
``GreedyTreeRegressor`` read labels or numbers. Their subclasses name a rule, which is the only
difference between them; a subclass of one's own may name any ``Grower``.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from mictree._support.checks import check_categories, check_size, merge_sections
from mictree.columns.data import Data, read_array
from mictree.distributed.collections import is_collection
from mictree.estimators.base import TreeModel
from mictree.estimators.kinds import TreeClassifier, TreeRegressor
from mictree.estimators.predicting import read_labels, read_targets
from mictree.estimators.sizes import PenaltyPath, penalty_path
from mictree.growers.data_loop import Splitting, split, with_own_sets
from mictree.growers.rules import RULES, TIES, Grower, Growth, depth_of
from mictree.impurity import Criterion, check_criterion, of_classes
from mictree.problems.sample import (
    Limits,
    SampleProblem,
    check_grouped,
    class_weights,
    factors_of,
)
from mictree.problems.tasks import MatrixCosts, Squared, read_cost_matrix

FloatArray = np.typing.NDArray[np.float64]


class GreedyTree(TreeModel):
    """A greedily grown decision tree; one fit gives every size up to ``max_size``.

    Parameters
    ----------
    max_size : the largest number of splits; None grows until no leaf can be split; "auto" chooses
        among sizes up to 32 by cross-validation, see ``mictree.select_size``. A tree of ``size``
        splits has ``size + 1`` leaves (scikit-learn's ``max_leaf_nodes``).
    min_samples_split : do not split leaves with fewer rows
    min_samples_leaf : do not make leaves with fewer rows
    max_depth : the largest number of tests on a path; None for no limit
    min_gain : do not make splits with a smaller gain (the drop in impurity at the leaf)
    min_weight_fraction_leaf : do not make leaves with a smaller share of the total weight
    ties : "last", "first", "random", "heaviest" or "lightest"; see ``mictree.TopDown``
    random_state : for ``ties="random"``
    max_thresholds : the largest number of thresholds per ordered column (numbers, dates, times,
        ordered categories), chosen by quantile; None for all
    categories : "each" tests one category, ``town is A``; "subsets" tests any set of them,
        ``town in {A, C}``: see docs/estimators.md

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn
    size_choice_ : with ``max_size="auto"``, the ``SizeChoice``
    literals_ : the literals that the tree may test: ``literals_.names``, ``literals_.transform(X)``
    growth_ : the ``Growth``; ``growth_.errors`` is the training error by size
    feature_importances_ : the share of each column in the drop of impurity
    """

    rule: ClassVar[str | type[Grower]]  # a subclass of one's own may set any

    max_size: int | Literal["auto"] | None
    min_samples_split: int
    min_samples_leaf: int
    max_depth: int | None
    min_gain: float
    min_weight_fraction_leaf: float
    ties: str
    random_state: Any
    max_thresholds: int | None
    categories: str

    def __init_subclass__(cls, **options: Any) -> None:
        """Put parameters and attributes that several classes share into the docstring."""
        super().__init_subclass__(**options)
        parent = next(base for base in cls.__mro__[1:] if issubclass(base, GreedyTree))
        cls.__doc__ = merge_sections(cls.__doc__ or "", parent.__doc__ or "")

    @abstractmethod
    def _make_problem(
        self, data: Data, y: Any, sample_weight: Any, limits: Limits
    ) -> SampleProblem:
        """Read the labels."""

    @abstractmethod
    def _adopt(self, problem: SampleProblem) -> SampleProblem:
        """Take the labels of a problem, or refuse them."""

    def _check_settings(self) -> None:
        if self.ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}; got {self.ties!r}")
        check_categories(self.categories)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : matrix, CSC or other sparse matrix, pandas or polars frame; or a ``SampleProblem``, such
            as ``SampleProblem.from_parquet`` makes from files larger than the memory. It brings its
            labels, weights and thresholds; the limits of this estimator replace its own. Or a Dask
            DataFrame or Array, with y and weights of the same partitions: see ``docs/scaling.md``
        y : a label for each row; regressors take a number
        sample_weight : a weight for each row; integers act as repeated rows. ``min_samples_split``
            and ``min_samples_leaf`` count rows, whatever their weight.

        Examples
        --------
        >>> import mictree as mt
        >>> mt.TopDownClassifier(max_size=1).fit([[0], [1], [1]], [0, 1, 1]).predict([[1]]).tolist()
        [1]
        """
        if y is None and not isinstance(X, SampleProblem):
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        limits = Limits(
            self.min_samples_split,
            self.min_samples_leaf,
            self.max_depth,
            self.min_gain,
            self.min_weight_fraction_leaf,
        )
        self._check_settings()
        for stale in ("rounds_", "size_choice_"):
            vars(self).pop(stale, None)
        if is_collection(X):
            return self._fit_collection(X, y, sample_weight, limits)
        if isinstance(X, SampleProblem):
            if y is not None or sample_weight is not None:
                raise ValueError("a problem has its labels and weights; fit must get no others")
            self._take(X, limits)
            rows = int(X.class_rows.sum())
        else:
            max_size = self._choose_size(X, y, sample_weight)
            self._max_size = None if max_size is None else check_size(max_size)
            data = self._read(X, reset=True)
            rows = data.rows
            self._problem = self._make_problem(data, y, sample_weight, limits)
            del data  # a column, which growth would keep beside its own
        # no tree has more splits than rows
        limit = rows if self._max_size is None else min(rows, self._max_size)
        self._limit = limit
        self._grower = self._make_seeded()
        grown = split(self._problem, self._grower, limit)
        self._problem, (self._splitting,) = with_own_sets(self._problem, [grown])
        self._forget_views()
        return self

    def _fit_collection(self, X: Any, y: Any, sample_weight: Any, limits: Limits) -> Self:
        """Grow on a Dask collection: see docs/scaling.md."""
        raise TypeError(
            f"{type(self).__name__} must be fitted on one machine; X is a Dask collection"
        )

    def _prepare_collection(self) -> None:
        """Check the settings for a fit on a Dask collection."""
        if isinstance(self.max_size, str):
            raise ValueError(
                f"max_size must be a number on a Dask collection; got {self.max_size!r}"
            )
        self._grower = self._make_seeded()
        if depth_of(self._grower) > 1:
            raise TypeError(
                f"{type(self).__name__} must be fitted on one machine; X is a Dask collection"
            )
        self._max_size = None if self.max_size is None else check_size(self.max_size)

    def _make_seeded(self) -> Grower:
        """The rule, with a seed for random ties."""
        seed = None
        if self.ties == "random":
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return self._make_rule(ties=self.ties, seed=seed)

    def _make_rule(self, **settings: Any) -> Grower:
        rule = RULES[self.rule] if isinstance(self.rule, str) else self.rule
        return rule(**settings)

    def _take(self, problem: SampleProblem, limits: Limits) -> None:
        """Learn from a problem; refuse settings that need the rows themselves."""
        if self.max_size == "auto":
            raise ValueError('max_size="auto" must have X and y to cross-validate; got a problem')
        self._max_size = None if self.max_size is None else check_size(self.max_size)
        columns = problem.literals.columns
        most = max((column.thresholds for column in columns), default=0)
        if self.max_thresholds is not None and most > self.max_thresholds:
            raise ValueError(
                f"a problem must have at most max_thresholds={self.max_thresholds} thresholds a "
                f"column; it has {most}"
            )
        check_grouped(problem, self.categories)
        self._problem = self._adopt(problem.limited(limits))
        vars(self).pop("size_choice_", None)
        vars(self).pop("feature_names_in_", None)
        self.n_features_in_ = len(columns)
        names = tuple(column.name for column in columns)
        if problem.named:
            self.feature_names_in_ = np.array(names, dtype=object)

    def at_size(self, size: int) -> Self:
        """A copy that predicts with the tree of a size, as if fitted with that ``max_size``.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.at_size(1).tree_.size
        1
        """
        wanted = self._check_size(size)
        smaller = copy.copy(self)  # without the growth, which it computes again
        smaller.max_size = smaller._max_size = wanted
        smaller._limit = min(wanted, self._limit)
        smaller._splitting = smaller._splitting.until(wanted)  # a copy renumbers literals
        return smaller

    @property
    def _largest(self) -> int:
        return self.growth_.max_size

    def _all_sizes(self) -> tuple[Sequence[Splitting], bool]:
        return [self._splitting], True

    def penalty_path(self) -> PenaltyPath:
        """For every price per split the best size, certified among all trees of this growth.

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.TopDownClassifier(max_size=2).fit(X, y)
        >>> print(model.penalty_path())
        price from 0.3333 on: 0 splits, error 0.6667
        price from 0.2933 to 0.3333: 1 split, error 0.3333
        price from 0.04 to 0.2933: 2 splits, error 0.04
        price from 0 to 0.04: 2 splits, error 0.04, not certified
        """
        errors = self.growth_.errors
        ended = self._made < self._limit
        return penalty_path(errors, errors, None if ended else 0.0)

    @property
    def growth_(self) -> Growth:
        """The growth, one tree per size."""
        self._fitted("_problem")
        return self._growth

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without values that can be recomputed."""
        state = super().__getstate__()
        state.pop("_growth", None)
        return state

    @cached_property
    def _growth(self) -> Growth:
        limit = self._made if self._max_size is None else self._limit
        return self._splitting.growth(self._problem, self._grower, limit)

    def _forget_views(self) -> None:
        vars(self).pop("_growth", None)


class GreedyTreeClassifier(GreedyTree, TreeClassifier):
    """A greedily grown classification tree.

    Parameters
    ----------
    criterion : "entropy", "gini", "root" (Kearns and Mansour), "minority", or a function of a
        positive rate; see ``mictree.TopDown``
    class_weight : None, a mapping of class to weight, or "balanced"
    cost_matrix : what it costs to predict the second class for a row of the first, not negative: an
        array in the order of ``classes_``, or a frame or mapping of mappings that names classes and
        actions, which may be no classes. Leaves then predict the action of least cost and
        ``growth_.errors`` are mean costs. "minority" grows by the drop in least cost; other
        criteria grow on classes whose weights are multiplied by the sum of what missing them costs.

    Attributes
    ----------
    classes_ : as in scikit-learn
    actions_ : what leaves may predict: ``classes_``, unless a cost matrix names others
    rounds_ : after a fit on Dask collections, how often partitions were counted, and the bytes of
        each round
    tree_ : the ``Tree`` of full size; its labels are positions in ``actions_``
    """

    def __init__(
        self,
        max_size: int | Literal["auto"] | None = 20,
        *,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        min_gain: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        criterion: Criterion = "entropy",
        ties: str = "last",
        class_weight: Any = None,
        cost_matrix: Any = None,
        random_state: Any = None,
        max_thresholds: int | None = None,
        categories: str = "each",
    ) -> None:
        self.max_size = max_size
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_gain = min_gain
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.criterion = criterion
        self.ties = ties
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.random_state = random_state
        self.max_thresholds = max_thresholds
        self.categories = categories

    def _check_settings(self) -> None:
        check_criterion(self.criterion)
        super()._check_settings()

    def _make_rule(self, **settings: Any) -> Grower:
        return super()._make_rule(criterion=check_criterion(self.criterion), **settings)

    def _make_problem(
        self, data: Data, y: Any, sample_weight: Any, limits: Limits
    ) -> SampleProblem:
        classes, coded = read_labels(y, data.rows)
        problem = SampleProblem(
            data,
            coded,
            sample_weight,
            class_weight=class_weights(self.class_weight, coded),
            cost_matrix=self.cost_matrix,
            max_thresholds=self.max_thresholds,
            limits=limits,
            categories=self.categories,
        )
        self._set_classes(classes, problem)
        return problem

    def _adopt(self, problem: SampleProblem) -> SampleProblem:
        if not problem.classes:
            raise ValueError(
                f"{type(self).__name__} learns classes; the problem has {problem.task.name}"
            )
        if self.cost_matrix is not None:
            problem = problem.with_costs(self.cost_matrix)
        if self.class_weight is not None:
            factors = factors_of(self.class_weight, problem.classes, problem.all_class_rows)
            problem = problem.reweighted(factors)
        self._set_classes(read_array(problem.classes), problem)
        return problem

    def _fit_collection(self, X: Any, y: Any, sample_weight: Any, limits: Limits) -> Self:
        """Grow on a Dask collection: see docs/scaling.md."""
        from mictree.distributed import fit

        self._prepare_collection()
        rows = fit.Rows(X, y, sample_weight)
        self._note_columns(X)
        # three of each: scikit-learn warns if there are hardly more rows than classes
        labels = np.repeat(rows.labels, 3)
        classes, coded = read_labels(labels, len(labels))
        counts = rows.counts(classes)
        total, factors, task = int(counts.sum()), None, None
        if self.class_weight is not None:
            factors = factors_of(self.class_weight, coded.classes, counts)
        if self.cost_matrix is not None:
            task = read_cost_matrix(self.cost_matrix, coded.classes)
        self._limit = total if self._max_size is None else min(total, self._max_size)
        self._problem, self._splitting, self.rounds_ = fit.grow(
            rows, classes, factors, self.max_thresholds, limits, self._grower, self._limit, task,
            self.categories,
        )  # fmt: skip
        self._set_classes(classes, self._problem)
        self._forget_views()
        return self

    def _drops(self) -> FloatArray:
        """The drop in impurity, of weights multiplied by what missing a class costs."""
        task = self._task
        if not isinstance(task, MatrixCosts) or self.criterion == "minority":
            return super()._drops()
        mass = (self._splitting.masses * task.missing_costs).sum(axis=1)
        return mass[self._splitting.leaves] / mass[0] * self._splitting.gains


class GreedyTreeRegressor(GreedyTree, TreeRegressor):
    """A greedily grown regression tree; splits are chosen by the drop in squared error.

    Attributes
    ----------
    tree_ : the ``Tree`` of full size; its labels are means
    """

    def __init__(
        self,
        max_size: int | Literal["auto"] | None = 20,
        *,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        min_gain: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        ties: str = "last",
        random_state: Any = None,
        max_thresholds: int | None = None,
        categories: str = "each",
    ) -> None:
        self.max_size = max_size
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.min_gain = min_gain
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.ties = ties
        self.random_state = random_state
        self.max_thresholds = max_thresholds
        self.categories = categories

    def _make_problem(
        self, data: Data, y: Any, sample_weight: Any, limits: Limits
    ) -> SampleProblem:
        return SampleProblem(
            data,
            read_targets(y, data.rows),
            sample_weight,
            loss="squared",
            max_thresholds=self.max_thresholds,
            limits=limits,
            categories=self.categories,
        )

    def _adopt(self, problem: SampleProblem) -> SampleProblem:
        if not isinstance(problem.task, Squared):
            raise ValueError(
                f'{type(self).__name__} learns numbers; the problem must have loss="squared"'
            )
        return problem

    def _fit_collection(self, X: Any, y: Any, sample_weight: Any, limits: Limits) -> Self:
        """Grow on a Dask collection: see docs/scaling.md."""
        from mictree.distributed import fit

        self._prepare_collection()
        rows = fit.Rows(X, y, sample_weight, numbers=True)
        self._note_columns(X)
        total = rows.count
        self._limit = total if self._max_size is None else min(total, self._max_size)
        self._problem, self._splitting, self.rounds_ = fit.grow_numbers(
            rows, self.max_thresholds, limits, self._grower, self._limit, self.categories
        )
        self._forget_views()
        return self


class TopDownClassifier(GreedyTreeClassifier):
    """Splits the leaf with the largest reach times gain.

    scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=...)`` follows the same rule, in spite of
    the name of its BestFirstTreeBuilder.

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
    >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
    >>> model.predict(X).tolist()
    ['even', 'odd', 'odd', 'even']
    """

    rule: ClassVar[str | type[Grower]] = "topdown"


class BestFirstClassifier(GreedyTreeClassifier):
    """Splits the leaf with the largest gain, however few rows reach it.

    This is WEKA's BFTree, not scikit-learn's ``max_leaf_nodes``, which is TopDown.

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
    >>> model = mt.BestFirstClassifier(max_size=3).fit(X, y)
    >>> model.growth_.errors.tolist()
    [0.5, 0.5, 0.25, 0.0]
    """

    rule: ClassVar[str | type[Grower]] = "bestfirst"


class ID3Classifier(GreedyTreeClassifier):
    """Splits depth first, the low branch before the high one.

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
    >>> model = mt.ID3Classifier(max_size=3).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    rule: ClassVar[str | type[Grower]] = "id3"


class LookaheadClassifier(GreedyTreeClassifier):
    """Splits the leaf at which a subtree brings the largest drop in impurity, times reach.

    It makes one split, the root test of that subtree: see ``mictree.Lookahead``. A ``min_gain``
    bounds the subtree's drop, which is also the gain that ``growth_`` and ``to_frame`` show; the
    importances of columns come from what the splits themselves bring. ``depth``, at least 1, is the
    depth of the subtrees. As its time grows with the square of the tests times the rows, a table of
    numbers with so many of them that a leaf would take more than about ten seconds is refused:
    ``max_thresholds`` makes them fewer.

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
    >>> model = mt.LookaheadClassifier(max_size=3).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    rule = "lookahead"

    def __init__(
        self,
        max_size: int | None = 20,
        *,
        depth: int = 2,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        min_gain: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        criterion: Criterion = "entropy",
        ties: str = "last",
        class_weight: Any = None,
        cost_matrix: Any = None,
        random_state: Any = None,
        max_thresholds: int | None = None,
        categories: str = "each",
    ) -> None:
        super().__init__(
            max_size,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            max_depth=max_depth,
            min_gain=min_gain,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            criterion=criterion,
            ties=ties,
            class_weight=class_weight,
            cost_matrix=cost_matrix,
            random_state=random_state,
            max_thresholds=max_thresholds,
            categories=categories,
        )
        self.depth = depth

    def _make_rule(self, **settings: Any) -> Grower:
        return super()._make_rule(depth=self.depth, **settings)

    def _drops(self) -> FloatArray:
        masses = self._splitting.masses
        mass = masses.sum(axis=1)
        impurity = mass * of_classes(self._grower.criterion, masses / mass[:, None])
        drops = impurity[self._splitting.leaves] - impurity[1::2] - impurity[2::2]
        return np.maximum(drops, 0.0)  # rounding may leave less


CLASSIFIERS: dict[str, type[GreedyTreeClassifier]] = {  # by the names of their rules
    "topdown": TopDownClassifier,
    "bestfirst": BestFirstClassifier,
    "id3": ID3Classifier,
    "lookahead": LookaheadClassifier,
}


class TopDownRegressor(GreedyTreeRegressor):
    """Splits the leaf at which a split lowers the squared error of the whole tree most.

    Without ties, the trees are those of scikit-learn's ``DecisionTreeRegressor(max_leaf_nodes=
    max_size + 1)``.

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[20], [30], [45], [50]], [1.0, 2.0, 7.0, 8.0]
    >>> model = mt.TopDownRegressor(max_size=1).fit(X, y)
    >>> print(model.to_text())
    x0 > 37.5?
    ├─0─ value 1.5
    └─1─ value 7.5
    >>> model.growth_.errors.tolist()
    [9.25, 0.25]
    """

    rule: ClassVar[str | type[Grower]] = "topdown"


class BestFirstRegressor(GreedyTreeRegressor):
    """Splits the leaf at which the mean squared error of the leaf drops most.

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[20], [30], [45], [50]], [1.0, 2.0, 7.0, 8.0]
    >>> mt.BestFirstRegressor(max_size=1).fit(X, y).predict([[40]]).tolist()
    [7.5]
    """

    rule: ClassVar[str | type[Grower]] = "bestfirst"


REGRESSORS: dict[str, type[GreedyTreeRegressor]] = {  # by the names of their rules
    "topdown": TopDownRegressor,
    "bestfirst": BestFirstRegressor,
}
