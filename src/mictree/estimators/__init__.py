"""Greedy and optimal trees as scikit-learn estimators."""

from mictree.estimators.greedy import (
    BestFirstClassifier,
    ID3Classifier,
    LookaheadClassifier,
    TopDownClassifier,
)
from mictree.estimators.optimal import OptimalTreeClassifier

__all__ = [
    "BestFirstClassifier",
    "ID3Classifier",
    "LookaheadClassifier",
    "OptimalTreeClassifier",
    "TopDownClassifier",
]
