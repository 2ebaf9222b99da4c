"""Trees that predict numbers: they are floats at the leaves, and everything else is as ever."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from tests.reference import task_samples
from tests.strategies import NAMES, all_inputs, nested, task_cases

VALUES = st.sampled_from([0.0, -1.0, 1.0, 0.1, 1e-17, -2.5e100, 1 / 3])


@st.composite
def number_trees(draw, names: tuple = NAMES, max_depth: int = 4):
    """A nested tree with few different numbers."""
    if not names or max_depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(VALUES)
    name = draw(st.sampled_from(names))
    subtree = number_trees(tuple(other for other in names if other != name), max_depth - 1)
    return (name, draw(subtree), draw(subtree))


def value_of(tree, row):
    while isinstance(tree, tuple):
        tree = tree[2] if row[NAMES.index(tree[0])] else tree[1]
    return tree


@given(number_trees())
def test_numbers_survive(tree):
    built = mt.Tree.build(NAMES, tree)
    assert built.predicts_numbers
    assert nested(built) == tree
    again = mt.Tree.from_json(built.to_json())
    assert again == built
    assert all(type(again.labels[leaf]) is float for leaf in again.leaves)
    inputs = all_inputs(len(NAMES))
    expected = [value_of(tree, row) for row in inputs.tolist()]
    assert built.predict(inputs).tolist() == expected
    merged = built.merged()
    assert merged.predict(inputs).tolist() == expected
    assert merged.size <= built.size
    for node in merged.internal_nodes:
        low, high = merged.low[node], merged.high[node]
        leaves = merged.tests[low] == merged.tests[high] == -1
        assert not (leaves and merged.labels[low] == merged.labels[high])
    shown = built.to_text(merge=False)
    assert shown.count("value ") == built.size + 1
    assert "label" not in shown


def test_minus_one_is_a_number():
    """-1 stands for no label, -1.0 does not."""
    tree = mt.Tree.build(["a", "b"], ("a", -1.0, ("b", -1.0, 2.5)))
    assert tree.agreed == (-1, -1.0, -1, -1.0, 2.5)
    assert tree.merged() == tree
    assert mt.Tree.build(["a"], ("a", -1.0, -1.0)).merged().to_text() == "value -1"
    top, kept = tree.pruned([-1, -1.0, -1.0, -1, -1])
    assert (top.to_text(merge=False), kept) == ("a?\n├─0─ value -1\n└─1─ value -1", [0, 1, 2])
    assert tree.predict([[0, 0], [1, 1]]).tolist() == [-1.0, 2.5]


def test_whole_numbers_beside_floats_are_numbers():
    """Another program may write 0.0 as 0."""
    tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 1, 2.5)))
    assert [repr(label) for label in tree.labels] == ["-1", "0.0", "-1", "1.0", "2.5"]
    assert mt.Tree.from_json(tree.to_json().replace("0.0", "0")) == tree
    assert tree.to_text().count("value") == 3
    same = mt.Tree.build(["a"], ("a", np.float32(0.5), np.float64(0.25)))
    assert [type(same.labels[leaf]) for leaf in same.leaves] == [float, float]


@pytest.mark.parametrize("label", [math.nan, math.inf, -math.inf, 1j, "0.5", True])
def test_what_is_no_number(label):
    with pytest.raises(ValueError, match=r"a leaf's label must be 0, 1, .*, or a finite float"):
        mt.Tree.build(["a"], ("a", 0.5, label))
    text = json.dumps({"format": "mictree.tree/2", "variables": [], "nodes": [{"label": "x"}]})
    with pytest.raises(ValueError, match="a leaf's label must be 0, 1"):
        mt.Tree.from_json(text.replace('"x"', "NaN"))


@given(task_cases("squared"), st.data())
def test_errors_of_any_numbers(case, data):
    """Exactly, and as floats; growers need not have grown the tree."""
    problem = case.problem()
    growth = mt.TopDown().grow(problem, 3)
    tree = growth.tree(3)
    labels = [
        data.draw(VALUES.filter(lambda value: abs(value) < 9)) if test == -1 else -1
        for test in tree.tests
    ]
    other = mt.Tree(tree.variables, tree.tests, tree.low, tree.high, tuple(labels), tree.sources)
    answers = problem.literals.transform(case.table, tree)
    for each in (tree, other):
        predicted = each.predict(answers).tolist()
        exact = task_samples.mean_cost(case.task, predicted)
        assert float(each.error(problem, exact=True)) == pytest.approx(float(exact), abs=1e-12)
        assert each.error(problem) == pytest.approx(float(exact), abs=1e-12)
    nodes = other.walk(problem, exact=True)
    errors = [nodes[leaf].misclassified(other.labels[leaf]) for leaf in other.leaves]
    assert other.error(problem, exact=True) == sum(errors, Fraction(0))
    assert sum(tree.error_reductions(problem, exact=True).values(), Fraction(0)) == (
        growth.exact_errors[0] - growth.exact_errors[3]
    )


def test_numbers_and_classes_do_not_mix():
    numbers = mt.Tree.build(["x0"], ("x0", 0.5, 1.5))
    for problem in (
        mt.SampleProblem([[0], [1]], [0, 1]),
        mt.SampleProblem([[0], [1]], costs=[[0, 1], [1, 0]]),
        mt.FormulaProblem("x0"),
        mt.TableProblem([0, 1], variables=["x0"]),
    ):
        with pytest.raises(ValueError, match="a tree that predicts numbers needs a problem"):
            numbers.error(problem)
    squared = mt.SampleProblem([[0], [1]], [0.5, 2], loss="squared")
    assert numbers.error(squared) == 0.125
    assert mt.Tree.build(["x0"], ("x0", 0, 1)).error(squared) == 0.625  # labels are numbers, too
    assert numbers.error(mt.TableProblem([0, 1], variables=["x0"], loss="squared")) == 0.25
    for problem in (squared, mt.SampleProblem([[0], [1]], costs=[[0, 1], [1, 0]])):
        with pytest.raises(ValueError, match="impurity needs classes, and the problem has none"):
            mt.TopDown().grow(problem, 1).tree(1).impurity(problem)


def test_drawn_numbers_have_four_digits():
    tree = mt.Tree.build(["a", "b"], ("a", 0.1 + 0.2, ("b", 123456.789, 1.0)))
    texts = [text.get_text() for text in tree.draw().texts]
    assert {"0.3", "123457", "1"} <= set(texts)
    assert "{0.3}" in tree.to_tikz()
