"""The staircase tree B_t, against the slow twin."""

import pytest

import mictree as mt
from tests import reference


def nested(tree, node=0):
    if tree.tests[node] < 0:
        return tree.labels[node]
    name = tree.variables[tree.tests[node]]
    return (name, nested(tree, tree.low[node]), nested(tree, tree.high[node]))


@pytest.mark.parametrize(("shorter", "longer"), [(1, 1), (1, 3), (2, 2), (2, 3), (3, 3)])
def test_it_equals_the_slow_twin(shorter, longer):
    x = tuple(f"x{number}" for number in range(shorter))
    y = tuple(f"y{number}" for number in range(longer))
    formula = f"{' & '.join(x)} | {' & '.join(y)}"
    for size in range(shorter + shorter * longer + 2):
        tree = mt.staircase_tree(formula, size)
        assert nested(tree) == reference.staircase_tree(x, y, size)
        assert tree.size == min(size, shorter + shorter * longer)


def test_the_shorter_term_is_on_the_right_path_wherever_it_is_written():
    tree = mt.staircase_tree("y1 & y2 & y3 | x1 & x2", 2)
    assert nested(tree) == ("x1", 0, ("x2", 0, 1))
    assert tree.variables == ("y1", "y2", "y3", "x1", "x2")


def test_negated_literals_swap_the_sides():
    assert nested(mt.staircase_tree("~a & b | ~c & d & e", 5)) == (
        "a",
        ("b", 0, 1),
        ("c", ("d", 0, ("e", 0, 1)), 0),
    )


@pytest.mark.parametrize("formula", ["a & ~b | c & d & ~e", "~a | b & c"])
def test_its_labels_are_majority_labels(formula):
    problem = mt.FormulaProblem(formula)
    for size in range(9):
        tree = mt.staircase_tree(problem, size)
        nodes = tree.walk(problem, exact=True)
        assert all(tree.labels[leaf] == nodes[leaf].label for leaf in tree.leaves)
        assert tree.error(problem, exact=True) == mt.optimal_errors(problem, size, exact=True)[-1]


def test_irrelevant_variables_are_kept_as_columns():
    problem = mt.FormulaProblem("a | b & c", {"a": 0.5, "b": 0.5, "c": 0.5, "z": 0.5})
    assert mt.staircase_tree(problem, 3).variables == ("a", "b", "c", "z")


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ("a & b", "two terms; it has 1"),
        ("a | b | c", "two terms; it has 3"),
        (mt.FormulaProblem("a | b", [0.5, 0.25]), "every bias to be 1/2; b has 1/4"),
    ],
)
def test_other_problems_are_refused(problem, message):
    with pytest.raises(ValueError, match=message):
        mt.staircase_tree(problem, 2)


@pytest.mark.parametrize("size", [-1, 1.5, True])
def test_a_size_must_be_a_whole_number(size):
    with pytest.raises(ValueError, match="size must be an integer of at least 0"):
        mt.staircase_tree("a | b", size)
