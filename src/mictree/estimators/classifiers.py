"""One scikit-learn estimator for each rule of growth."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mictree.estimators.greedy import GreedyTreeClassifier
from mictree.growers.rules import Grower
from mictree.impurity import Criterion, of_classes

FloatArray = np.typing.NDArray[np.float64]


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
        random_state: Any = None,
        max_thresholds: int | None = None,
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
            random_state=random_state,
            max_thresholds=max_thresholds,
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
