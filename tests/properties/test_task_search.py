"""Optimal trees for costs, actions and numbers against every tree, and their own finished runs."""

from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.optimal import frontier as certified
from tests.reference import task_samples
from tests.strategies import TaskCase, task_cases

SIZE = 4


def check_solved(case: TaskCase, max_depth=None, size=SIZE):
    """The errors are the reference's to the last digit, and so are those of the trees."""
    problem = case.problem()
    expected = task_samples.least_errors(case.rows, case.task, size, max_depth)
    solved = mt.optimal_trees(problem, size, exact=True, max_depth=max_depth)
    assert solved.errors.tolist() == expected
    assert solved.errors.proved.all()
    floats = mt.optimal_errors(problem, size, max_depth=max_depth)
    assert floats.proved.all()
    assert floats.tolist() == [float(error) for error in expected]
    for number in range(size + 1):
        tree = solved.tree(number)
        assert tree.size <= number
        assert max_depth is None or tree.depth <= max_depth
        assert tree.error(problem, exact=True) == expected[number]


@given(task_cases(), st.sampled_from([None, None, 0, 1, 2, 3]), st.sampled_from([0, 12]))
@settings(max_examples=300)
def test_every_tree_is_beaten_or_met(case, max_depth, few):
    """By sweeps and, where there are few thresholds, otherwise."""
    with mock.patch.object(certified, "FEW_THRESHOLDS", few):
        check_solved(case, max_depth)
