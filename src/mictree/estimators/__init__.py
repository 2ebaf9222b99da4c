"""Greedy and optimal trees as scikit-learn estimators: classifiers, regressors, policies."""

from mictree.estimators.greedy import (
    BestFirstClassifier,
    BestFirstRegressor,
    ID3Classifier,
    LookaheadClassifier,
    TopDownClassifier,
    TopDownRegressor,
)
from mictree.estimators.optimal import (
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)
from mictree.estimators.predicting import ClassResults
from mictree.estimators.saved import load
from mictree.estimators.sizes import SizeChoice, select_size

__all__ = [
    "BestFirstClassifier",
    "BestFirstRegressor",
    "ClassResults",
    "ID3Classifier",
    "LookaheadClassifier",
    "OptimalPolicyTree",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "SizeChoice",
    "TopDownClassifier",
    "TopDownRegressor",
    "load",
    "select_size",
]
