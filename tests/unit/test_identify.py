"""identify_rule: learners whose growth order is known."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import mictree as mt
from mictree.comparison import growth_order as identify

WAYS = [(order, way) for order, (_, ways) in identify.ORDERS.items() for way in range(len(ways))]


@pytest.mark.parametrize(
    ("learner", "order"),
    [
        (DecisionTreeClassifier(), "weighted"),
        (DecisionTreeClassifier(criterion="entropy"), "weighted"),
        ("sklearn", "weighted"),
        (mt.TopDownClassifier(), "weighted"),
        (mt.BestFirstClassifier(), "unweighted"),
        (mt.ID3Classifier(), "depth-first"),
        (mt.TopDown(criterion="gini", ties="first"), "weighted"),
        (mt.BestFirst(criterion="gini", ties="lightest"), "unweighted"),
        (mt.ID3(criterion="gini", ties="first"), "depth-first"),
        ({"levels": identify._LevelWise()}, "level-wise"),
        (identify._LevelWiseHigh(), "level-wise"),
        (identify._HighFirst(), "depth-first"),
        (mt.TopDown(criterion="minority"), identify.NONE),  # once taken for depth-first
        (mt.TopDown(criterion="root"), "weighted"),
        (mt.BestFirst(criterion="root"), "unweighted"),
        (
            HistGradientBoostingClassifier(
                max_iter=1, learning_rate=1, min_samples_leaf=1, early_stopping=False
            ),
            "weighted",
        ),
        (mt.OptimalTreeClassifier(), identify.NONE),
    ],
)
def test_known_orders(learner, order):
    assert mt.identify_rule(learner).order == order


def test_lightgbm_is_weighted():
    lightgbm = pytest.importorskip("lightgbm")
    assert mt.identify_rule("lightgbm").order == "weighted"
    assert mt.identify_rule(lightgbm.LGBMClassifier(verbose=-1)).order == "weighted"


def test_xgboost_lossguide_is_weighted():
    xgboost = pytest.importorskip("xgboost")
    assert mt.identify_rule("xgboost").order == "weighted"
    levels = xgboost.XGBClassifier(grow_policy="depthwise")
    assert mt.identify_rule(levels).order == "level-wise"


def test_a_callable_and_one_that_follows_none():
    def topdown(X, y, size):
        return mt.TopDownClassifier(size).fit(X, y)

    class Constant:
        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    assert mt.identify_rule(topdown).order == "weighted"
    found = mt.identify_rule(lambda X, y, size: Constant())
    assert found.order == identify.NONE
    assert "follows none of the orders weighted, unweighted" in str(found)
    assert all(not each.agrees for each in found.evidence)


def test_the_evidence_is_told():
    found = mt.identify_rule(mt.BestFirst())
    assert str(found).startswith(
        "BestFirst grows unweighted: it splits the leaf with the largest gain"
    )
    assert len(found.evidence) == len(identify.CASES) * identify.MAX_SIZE
    assert all("unweighted" in each.agrees for each in found.evidence)
    assert all(each.agrees == tuple(identify.ORDERS) for each in found.evidence if each.size == 1)


@pytest.mark.parametrize(("first", "second"), [*combinations(WAYS, 2)])
def test_the_data_tell_any_two_orders_apart(first, second):
    apart = [
        (case, size)
        for case in range(len(identify.CASES))
        for size in range(identify.MAX_SIZE + 1)
        if not np.array_equal(
            identify._expected(*first, case)[size], identify._expected(*second, case)[size]
        )
    ]
    assert len({case for case, _ in apart}) >= 2


@pytest.mark.parametrize("case", identify.CASES)
def test_criterion_and_ties_do_not_matter(case):
    problem = mt.SampleProblem(*case.data())
    for rule in (mt.TopDown, mt.BestFirst, mt.ID3):
        trees = {
            rule(criterion, ties).grow(problem, identify.MAX_SIZE).tree(identify.MAX_SIZE)
            for criterion in ("entropy", "gini")
            for ties in ("last", "first")
        }
        assert len(trees) == 1


def test_every_split_changes_a_prediction():
    for case in range(len(identify.CASES)):
        for order, way in WAYS:
            by_size = identify._expected(order, way, case)
            assert all(not np.array_equal(a, b) for a, b in combinations(by_size, 2))


@pytest.mark.parametrize("bad", [DecisionTreeClassifier, 5, "greedy", []])
def test_bad_learners(bad):
    with pytest.raises((TypeError, ValueError), match="learner"):
        mt.identify_rule(bad)
