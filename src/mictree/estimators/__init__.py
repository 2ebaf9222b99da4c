"""scikit-learn's door: greedy and optimal trees as estimators."""

from mictree.estimators.greedy import BestFirstClassifier, ID3Classifier, TopDownClassifier
from mictree.estimators.optimal import OptimalTreeClassifier

__all__ = [
    "BestFirstClassifier",
    "ID3Classifier",
    "OptimalTreeClassifier",
    "TopDownClassifier",
]
