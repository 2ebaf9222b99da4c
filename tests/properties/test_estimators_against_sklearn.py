"""scikit-learn's max_leaf_nodes grows the paper's TopDown trees."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import mictree as mt
from tests.strategies import nested

SIZE = 8


def random_data(seed: int):
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(20, 400)), int(random.integers(2, 12))
    X = (random.random((rows, columns)) < random.uniform(0.2, 0.8, columns)).astype(np.uint8)
    weights = random.standard_normal(columns)
    y = (X @ weights + random.standard_normal(rows) > weights.sum() / 2).astype(int)
    return X, y


def grown_by_scikit_learn(X, y, size):
    model = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=size + 1, random_state=0)
    return model.fit(X, y).tree_


def their_nested(tree, node=0):
    if tree.children_left[node] < 0:
        return int(tree.value[node][0].argmax())
    sides = tree.children_left[node], tree.children_right[node]
    return (f"x{tree.feature[node]}", *(their_nested(tree, child) for child in sides))


def their_impurity(tree):
    leaves = tree.children_left < 0
    share = tree.weighted_n_node_samples[leaves] / tree.weighted_n_node_samples[0]
    return share @ tree.impurity[leaves]


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_topdown_is_scikit_learns_max_leaf_nodes(start):
    without_ties = 0
    for seed in range(start, start + 50):
        X, y = random_data(seed)
        if len(np.unique(y)) < 2:
            continue
        first, last = (
            mt.TopDownClassifier(SIZE, ties=ties).fit(X, y).growth_ for ties in ("first", "last")
        )
        agreed = sum(
            all(a == b for a, b in zip(first.steps[:size], last.steps[:size], strict=True))
            for size in range(1, len(last.steps) + 1)
        )
        if agreed == len(last.steps):
            without_ties += 1
            assert nested(last.tree(SIZE)) == their_nested(grown_by_scikit_learn(X, y, SIZE))
        # whichever of two tied splits is made first, it lowers the impurity alike
        size = min(agreed + 1, len(last.steps))
        if size:
            theirs = their_impurity(grown_by_scikit_learn(X, y, size))
            ours = last.tree(size).impurity(last.problem)
            assert ours == pytest.approx(theirs, abs=1e-9)
    assert without_ties > 20


def random_numbers(seed: int):
    """Inputs that are exact in 32 bits, as scikit-learn rounds to them, and labels to predict."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(10, 120)), int(random.integers(1, 5))
    X = random.integers(-40, 40, (rows, columns)) / 8
    y = X @ random.standard_normal(columns) + random.standard_normal(rows)
    weights = random.integers(1, 5, rows) if seed % 3 == 0 else None
    return X, (np.round(y) if seed % 2 else y), weights


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_topdown_regressors_are_scikit_learns_max_leaf_nodes(start):
    without_ties = 0
    for seed in range(start, start + 50):
        X, y, weights = random_numbers(seed)
        size = 5
        first, last = (
            mt.TopDownRegressor(size, ties=ties).fit(X, y, weights) for ties in ("first", "last")
        )
        theirs = DecisionTreeRegressor(max_leaf_nodes=size + 1, random_state=0).fit(X, y, weights)
        if first.growth_.steps == last.growth_.steps:
            without_ties += 1
            assert last.predict(X) == pytest.approx(theirs.predict(X), rel=1e-9, abs=1e-12)
            assert sorted(theirs.tree_.threshold[theirs.tree_.feature >= 0]) == pytest.approx(
                sorted(step.threshold for step in last.growth_.steps)
            )
    assert without_ties > 20
