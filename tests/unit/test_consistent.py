"""The smallest tree that fits a sample, against trying every tree."""

import random
from fractions import Fraction

import numpy as np
import pytest

import mictree as mt
from tests import reference


def random_sample(seed):
    generator = random.Random(seed)
    columns = generator.randint(1, 3)
    rows = generator.sample(range(2**columns), generator.randint(1, 2**columns))
    labels = [generator.randint(0, 1) for _ in range(2**columns)]
    X = [[row >> column & 1 for column in range(columns)] for row in rows]
    return X, [labels[row] for row in rows], rows, labels


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_smallest_of_all_trees_that_fit(seed):
    X, y, rows, labels = random_sample(seed)
    names = tuple(f"x{number}" for number in range(1, len(X[0]) + 1))
    weights = tuple(Fraction(int(row in rows), len(rows)) for row in range(len(labels)))
    least = reference.least_errors(reference.Table(names, tuple(labels), weights), len(labels) - 1)
    tree = mt.minimal_consistent_tree(X, y)
    assert tree.predict(X).tolist() == y
    assert tree.size == least.index(0)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 6])  # 63 splits, more than optimal_trees proves
def test_parity_needs_a_full_tree(columns):
    X = [[row >> column & 1 for column in range(columns)] for row in range(2**columns)]
    assert mt.minimal_consistent_tree(X, np.sum(X, axis=1) % 2).size == 2**columns - 1


def test_repeated_rows_change_nothing():
    X, y = [[0, 1], [1, 1], [0, 1]], [0, 1, 0]
    assert mt.minimal_consistent_tree(X, y, variables=("a", "b")) == mt.Tree.build(
        ("a", "b"), ("a", 0, 1)
    )


@pytest.mark.parametrize("label", [0, 1])
def test_one_label_needs_no_split(label):
    tree = mt.minimal_consistent_tree([[0, 1], [1, 1]], [label, label])
    assert tree.size == 0
    assert tree.labels == (label,)


def test_a_larger_sample_is_fitted():
    generator = np.random.default_rng(3)
    X = generator.integers(0, 2, (30, 10))
    y = X[:, 0] & X[:, 3] | X[:, 5]
    tree = mt.minimal_consistent_tree(X, y)
    assert tree.predict(X).tolist() == y.tolist()
    assert tree.size <= 3  # x6? 1 : x1? x4


def test_contradictory_rows_are_named():
    with pytest.raises(ValueError, match="equal labels, or no tree fits; rows 0 and 2"):
        mt.minimal_consistent_tree([[0, 1], [1, 1], [0, 1]], [0, 1, 1])


def test_a_search_that_is_too_large_is_given_up():
    generator = np.random.default_rng(0)
    X, y = generator.integers(0, 2, (64, 12)), generator.integers(0, 2, 64)
    with pytest.raises(ValueError, match="max_states=100 sets of rows; fewer rows or columns"):
        mt.minimal_consistent_tree(np.unique(X, axis=0), y[: len(np.unique(X, axis=0))],
                                   max_states=100)  # fmt: skip


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([0, 1], [0, 1], "two dimensions"),
        ([[0, 2]], [0], "only 0 and 1"),
        ([[0, 1]], [2], "one label, 0 or 1, for each of the 1 rows"),
        ([[0, 1]], [0, 1], "one label, 0 or 1, for each of the 1 rows"),
    ],
)
def test_bad_input_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        mt.minimal_consistent_tree(X, y)
