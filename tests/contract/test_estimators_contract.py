"""scikit-learn's own checks of an estimator; none may fail, and none is expected to."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

import mictree as mt


class PolicyOfLabels(mt.OptimalPolicyTree):
    """A policy for scikit-learn's checks, which call ``fit`` with labels.

    Action 1 costs less where a label is above a fixed number.
    """

    def fit(self, X, y=None, sample_weight=None):
        if y is None:
            return super().fit(X)
        y = np.asarray(y)
        return super().fit(X, np.column_stack([y, np.full(len(y), 1.5)]), None, sample_weight)


@parametrize_with_checks(
    [
        mt.TopDownRegressor(),
        mt.BestFirstRegressor(),
        mt.OptimalTreeRegressor(max_size=2),
        PolicyOfLabels(max_size=2),
        mt.TopDownClassifier(),
        mt.BestFirstClassifier(),
        mt.ID3Classifier(),
        mt.LookaheadClassifier(),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
