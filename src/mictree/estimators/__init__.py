"""Greedy and optimal trees as scikit-learn estimators."""

from mictree.estimators.greedy import BestFirstClassifier, ID3Classifier, TopDownClassifier
from mictree.estimators.optimal import OptimalTreeClassifier
from mictree.estimators.saved import load

__all__ = [
    "BestFirstClassifier",
    "ID3Classifier",
    "OptimalTreeClassifier",
    "TopDownClassifier",
    "load",
]
