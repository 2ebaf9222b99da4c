"""Greedy and optimal trees as scikit-learn estimators."""

from mictree.estimators.greedy import (
    BestFirstClassifier,
    ID3Classifier,
    LookaheadClassifier,
    TopDownClassifier,
)
from mictree.estimators.optimal import OptimalTreeClassifier
from mictree.estimators.predicting import ClassResults
from mictree.estimators.saved import load
from mictree.estimators.sizes import SizeChoice, select_size

__all__ = [
    "BestFirstClassifier",
    "ClassResults",
    "ID3Classifier",
    "LookaheadClassifier",
    "OptimalTreeClassifier",
    "SizeChoice",
    "TopDownClassifier",
    "load",
    "select_size",
]
