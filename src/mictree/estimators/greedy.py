"""Greedily grown trees as scikit-learn estimators."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from mictree._support.checks import check_size
from mictree.estimators.base import TreeClassifier, read_labels, read_weights
from mictree.growers.data_loop import Splitting, split
from mictree.growers.rules import RULES, TIES, Grower, Growth
from mictree.impurity import Criterion, check_criterion
from mictree.problems.labels import class_weights
from mictree.problems.sample import Limits, SampleProblem

FloatArray = np.typing.NDArray[np.float64]


class GreedyTreeClassifier(TreeClassifier):
    """A greedily grown decision tree; one fit gives every size up to ``max_size``.

    Parameters
    ----------
    max_size : the largest number of splits; None grows until no leaf can be split. A tree of
        ``size`` splits has ``size + 1`` leaves (scikit-learn's ``max_leaf_nodes``).
    min_samples_split : do not split leaves with fewer rows
    min_samples_leaf : do not make leaves with fewer rows
    max_depth : the largest number of tests on a path; None for no limit
    min_gain : do not make splits with a smaller gain (the drop in impurity at the leaf)
    min_weight_fraction_leaf : do not make leaves with a smaller share of the total weight
    criterion : "entropy", "gini", "root" (Kearns and Mansour), "minority", or a function of a
        positive rate; see ``mictree.TopDown``
    ties : "last", "first", "random", "heaviest" or "lightest"; see ``mictree.TopDown``
    class_weight : None, a mapping of class to weight, or "balanced"
    random_state : for ``ties="random"``
    max_thresholds : the largest number of thresholds per ordered column (numbers, dates, times,
        ordered categories), chosen by quantile; None for all

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    literals_ : the literals that the tree may test: ``literals_.names``, ``literals_.transform(X)``
    growth_ : the ``Growth``; ``growth_.errors`` is the training error by size
    tree_ : the ``Tree`` of full size; its labels are positions in ``classes_``
    feature_importances_ : the share of each column in the drop of impurity
    """

    rule: ClassVar[str | type[Grower]]  # a subclass of one's own may set any

    def __init_subclass__(cls, **options: Any) -> None:
        """Append the parameters and attributes, which all rules share, to the docstring."""
        super().__init_subclass__(**options)
        shared = (GreedyTreeClassifier.__doc__ or "").partition("\n")[2]
        cls.__doc__ = f"{(cls.__doc__ or '').rstrip()}\n{shared}"

    def __init__(
        self,
        max_size: int | None = 20,
        *,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        min_gain: float = 0.0,
        min_weight_fraction_leaf: float = 0.0,
        criterion: Criterion = "entropy",
        ties: str = "last",
        class_weight: Any = None,
        random_state: Any = None,
        max_thresholds: int | None = None,
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
        self.random_state = random_state
        self.max_thresholds = max_thresholds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : matrix, CSC or other sparse matrix, pandas or polars frame
        y : a label for each row
        sample_weight : a weight for each row; integers act as repeated rows. ``min_samples_split``
            and ``min_samples_leaf`` count rows, whatever their weight.
        """
        if y is None:
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
        criterion, ties = check_criterion(self.criterion), self.ties
        if ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
        self._max_size = None if self.max_size is None else check_size(self.max_size)
        data = self._read(X, reset=True)
        self.classes_: np.ndarray
        self.classes_, coded = read_labels(y, data.rows)
        sample_weight = read_weights(sample_weight, data.rows)
        seed = None
        if ties == "random":
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._problem = SampleProblem(
            data,
            coded,
            sample_weight,
            class_weight=class_weights(self.class_weight, coded),
            max_thresholds=self.max_thresholds,
            limits=limits,
        )
        # no tree has more splits than rows
        limit = data.rows if self._max_size is None else min(data.rows, self._max_size)
        self._limit = limit
        rule = RULES[self.rule] if isinstance(self.rule, str) else self.rule
        self._grower = rule(criterion, ties, seed)
        self._splitting = split(self._problem, self._grower, limit)
        self._forget_views()
        return self

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions of the trees of size 0, 1, ... in turn."""
        for node in self._staged_leaves(X):
            yield self.classes_[self._splitting.labels[node]]

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """The accuracy by size, index = size; the last one repeats as ``growth_.errors`` does."""
        truth = np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        scores = [
            float(np.average(guess == truth, weights=weights)) for guess in self.staged_predict(X)
        ]
        return np.array(scores + scores[-1:] * (self.growth_.max_size + 1 - len(scores)))

    def at_size(self, size: int) -> Self:
        """A copy that predicts with the tree of a size, as if fitted with that ``max_size``."""
        wanted = self._check_size(size)
        made = min(self._made, wanted)
        smaller = copy.copy(self)
        smaller._forget_views()
        smaller.max_size = smaller._max_size = wanted
        smaller._limit = min(wanted, self._limit)
        whole = smaller._splitting  # whose literals a copy renumbers
        smaller._splitting = Splitting(
            whole.leaves[:made], whole.literals[:made], whole.thresholds[:made], whole.gains[:made],
            whole.rows[: 2 * made + 1], whole.masses[: 2 * made + 1],
        )  # fmt: skip
        return smaller

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


class TopDownClassifier(GreedyTreeClassifier):
    """Splits the leaf with the largest reach times gain.

    scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=...)`` follows the same rule, in spite of
    the name of its BestFirstTreeBuilder.
    """

    rule = "topdown"


class BestFirstClassifier(GreedyTreeClassifier):
    """Splits the leaf with the largest gain, however few rows reach it.

    This is WEKA's BFTree, not scikit-learn's ``max_leaf_nodes``, which is TopDown.
    """

    rule = "bestfirst"


class ID3Classifier(GreedyTreeClassifier):
    """Splits depth first, the low branch before the high one."""

    rule = "id3"


CLASSIFIERS: dict[str, type[GreedyTreeClassifier]] = {  # by the names of their rules
    "topdown": TopDownClassifier,
    "bestfirst": BestFirstClassifier,
    "id3": ID3Classifier,
}
