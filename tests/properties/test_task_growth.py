"""Growth for costs, actions and numbers, against the plain learner of the reference."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mictree.growers.rules import RULES
from tests.reference import PRIORITIES, ahead, task_samples
from tests.strategies import TaskCase, nested, task_cases

TIES = ["last", "first", "heaviest", "lightest"]
SIZE = 5
IMPLIED = {"matrix": "entropy", "costs": "minority", "squared": "squared"}


def as_floats(tree):
    """A tree of the reference with numbers as mictree has them."""
    if isinstance(tree, tuple):
        return (tree[0], *map(as_floats, tree[1:]))
    return tree if isinstance(tree, int) else float(tree)


def check_growth(case: TaskCase, rule, criterion, ties, limits=None, **settings):
    """mictree's trees are the reference's, and so are the errors, to the last digit if exact."""
    grower = RULES[rule](criterion=criterion, ties=ties)
    growth = grower.grow(case.problem(limits=limits), SIZE)
    expected = task_samples.grow(
        case.rows, case.task, PRIORITIES[rule], criterion or IMPLIED[case.kind], ties, SIZE,
        ahead=ahead(rule), **settings,
    )  # fmt: skip
    assert [step.leaf for step in growth.steps] == expected.leaves[:SIZE]
    assert growth.exact_errors == expected.errors
    assert growth.errors.tolist() == pytest.approx([float(e) for e in expected.errors], abs=1e-12)
    trees = [nested(growth.tree(size)) for size in range(SIZE + 1)]
    assert same(trees, [*map(as_floats, expected.trees)])
    for size in range(SIZE + 1):
        assert growth.tree(size).error(growth.problem, exact=True) == expected.errors[size]


def same(one, other):
    """Whether trees have the same tests, and labels that differ by rounding at most."""
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other if isinstance(one, int | str) else one == pytest.approx(other, abs=1e-12)


@given(task_cases(), st.sampled_from(sorted(RULES)), st.sampled_from(TIES))
@settings(max_examples=300)
def test_growth_is_the_plain_learners(case, rule, ties):
    check_growth(case, rule, None, ties)
