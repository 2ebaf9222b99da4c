"""The rows of the search over ordered columns: merged, sorted, their columns told apart."""

from collections import Counter

import numpy as np
import pytest

import mictree as mt
from mictree.optimal.ordered_rows import OrderedRows
from tests.reference.task_samples import Actions, least_errors


def rows_of(columns, labels, weights=None):
    matrix = np.array(columns, dtype=float).T
    return OrderedRows.of(mt.SampleProblem(matrix, np.array(labels), weights), True)


@pytest.mark.parametrize("seed", range(20))
def test_equal_rows_are_one(seed):
    """By a dictionary of rows: their weights, and what is outvoted where ranks are equal."""
    random = np.random.default_rng(seed)
    count, classes = int(random.integers(5, 40)), int(random.integers(2, 5))
    columns = random.integers(0, 3, (2, count)) + np.array([[0], [10]])
    columns[:, :3] = [[0, 1, 2], [10, 11, 12]]  # every value occurs
    labels = np.append(np.arange(classes), random.integers(0, classes, count - classes))
    weights = random.integers(1, 5, count)
    rows = rows_of(columns, labels, weights)
    masses: Counter = Counter()
    for cell, label, weight in zip(columns.T.tolist(), labels.tolist(), weights, strict=True):
        masses[*cell, label] += int(weight)
    found = {}
    for row, code in enumerate(rows.codes.tolist()):
        one, other = (int(ranks[row]) for ranks in rows.ranks)
        found[one, other + 10, code] = tuple(rows.data.weights[row].tolist())
    assert len(found) == len(rows.codes) == len(masses)
    for (one, other, label), mass in masses.items():
        votes = [masses[one, other, each] for each in range(classes)]
        wrong = 0 if label == votes.index(max(votes)) else mass
        assert found[one, other, label] == (mass, wrong)


@pytest.mark.parametrize("seed", range(10))
def test_columns_are_sorted(seed):
    """Rows by rank, those of one rank in their order, with a flag where the next rank is larger."""
    random = np.random.default_rng(seed)
    columns = np.array([random.permutation(30), random.integers(0, 4, 30)])
    rows = rows_of(columns, random.integers(0, 2, 30))
    for ranks, order in zip(rows.ranks, rows.data.order.tolist(), strict=True):
        expected = np.argsort(ranks, kind="stable")
        assert [entry >> 1 for entry in order] == expected.tolist()
        larger = np.diff(ranks[expected].astype(int)) > 0
        assert [entry & 1 for entry in order] == [*larger.astype(int).tolist(), 0]


@pytest.mark.parametrize("equal", [False, True])
def test_costs_of_two_actions(equal):
    """Rows are taken class by class, also where none is equal to another."""
    random = np.random.default_rng(3)
    numbers = random.permutation(15).astype(float)
    if equal:  # in cost too
        numbers[1] = numbers[0]
    costs = np.array([[3, 0], [0, 2], [1, 2]])[np.append([1, 1], random.integers(0, 3, 13))]
    problem = mt.SampleProblem(numbers[:, None], costs=costs)
    rows = OrderedRows.of(problem, True)
    assert len(rows.codes) == 15 - equal
    for row in range(len(rows.codes)):
        for test in range(len(problem.literals)):
            held = numbers[rows.chosen[row]] > problem.literals.threshold(test)
            assert rows.holds(np.array([row]), test).tolist() == [held]
    errors = mt.optimal_errors(problem, 3, exact=True)
    task = Actions(costs.tolist(), [1] * 15)
    assert errors.tolist() == least_errors(numbers[:, None].tolist(), task, 3)


def test_columns_that_cut_alike_are_one():
    random = np.random.default_rng(0)
    first, second = random.permutation(20), random.integers(0, 5, 20)
    bit = np.arange(20) % 2
    columns = [first, second, 19 - first, bit, second, 1 - bit, 7 * second, np.ones(20)]
    assert rows_of(columns, random.integers(0, 2, 20)).origins == (0, 1, -1 - (19 + 4 + 19))
    turned = [19 - first, first]
    assert rows_of(turned, random.integers(0, 2, 20)).origins == (0,)


def test_keys_do_not_depend_on_the_number_of_rows():
    few = rows_of([np.arange(10), np.arange(10) ** 2 % 7], np.arange(10) % 2)
    many = rows_of([np.arange(5000), np.arange(5000) ** 2 % 7], np.arange(5000) % 2)
    assert np.array_equal(few.data.keys, many.data.keys[:10])


def test_merged_rows_have_the_types_of_others():
    """Otherwise the search would be compiled again, and read its columns with large steps."""
    columns, labels = [np.arange(12), np.arange(12) ** 2 % 7], np.arange(12) % 2
    every = rows_of(columns, labels)
    merged = rows_of(np.tile(columns, 2), np.tile(labels, 2))
    assert len(merged.codes) == len(every.codes) == 12
    for one, other in zip(every.data, merged.data, strict=True):
        assert one.dtype == other.dtype
        assert one.flags.c_contiguous
        assert other.flags.c_contiguous
