"""scikit-learn's own checks of an estimator; none may fail, and none is expected to."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import mictree as mt


@parametrize_with_checks(
    [
        mt.TopDownClassifier(),
        mt.BestFirstClassifier(),
        mt.ID3Classifier(),
        mt.LookaheadClassifier(),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
