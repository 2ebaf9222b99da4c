"""Trees: predictions, errors and the identities that tie them together."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mictree as mt
from tests import reference
from tests.strategies import NAMES, all_inputs, formula_cases, nested, table_cases, trees

CASES = st.one_of(formula_cases(max_variables=5), table_cases())


@st.composite
def cases_with_trees(draw):
    case = draw(CASES)
    return case, draw(trees(case.table.names))


@given(trees())
def test_building_and_reading_back(tree):
    built = mt.Tree.build(NAMES, tree)
    assert nested(built) == tree
    assert built.size == reference.tree_size(tree)
    assert built.depth == reference.tree_depth(tree)
    assert len(list(built.internal_nodes)) == built.size
    assert len(list(built.leaves)) == built.size + 1
    assert built == mt.Tree.build(NAMES, tree)
    assert hash(built) == hash(mt.Tree.build(NAMES, tree))


@given(trees(), trees())
def test_equality_is_equality_of_the_nested_form(one, other):
    equal = mt.Tree.build(NAMES, one) == mt.Tree.build(NAMES, other)
    assert equal == (one == other)
    assert mt.Tree.build(NAMES, one) != mt.Tree.build(NAMES[::-1], one)
    assert mt.Tree.build(NAMES, one) != one


@given(trees())
def test_predictions(tree):
    inputs = all_inputs(len(NAMES))
    expected = [
        reference.predict(tree, dict(zip(NAMES, row, strict=True))) for row in inputs.tolist()
    ]
    built = mt.Tree.build(NAMES, tree)
    for matrix in (inputs, inputs.astype(bool), inputs.astype(float), inputs.tolist()):
        computed = built.predict(matrix)
        assert computed.tolist() == expected
        assert computed.dtype == np.uint8
    assert built.predict(np.zeros((0, len(NAMES)))).shape == (0,)
    leaves = built.apply(inputs)
    assert {*leaves.tolist()} == {*built.leaves}


@given(cases_with_trees())
def test_errors_and_impurities(case_and_tree):
    case, tree = case_and_tree
    built = mt.Tree.build(case.table.names, tree)
    expected = reference.tree_error(case.table, tree)
    assert built.error(case.problem, exact=True) == expected
    assert built.error(case.problem) == pytest.approx(float(expected), abs=1e-14)
    assert isinstance(built.error(case.problem, exact=True), Fraction)
    assert type(built.error(case.problem)) is float
    for criterion in ("entropy", "gini", "root", "minority"):
        impurity = float(reference.tree_impurity(case.table, tree, criterion))
        assert built.impurity(case.problem, criterion) == pytest.approx(impurity, abs=1e-12)
    assert built.impurity(case.problem) == built.impurity(case.problem, "entropy")


@given(cases_with_trees())
def test_error_is_what_the_splits_leave_of_the_roots_minority(case_and_tree):
    case, structure = case_and_tree
    majority = reference.label_leaves(case.table, unlabelled(structure))
    tree = mt.Tree.build(case.table.names, majority)
    rate = reference.positive_rate(case.table, {})
    reductions = tree.error_reductions(case.problem, exact=True)
    assert [*reductions] == [*tree.internal_nodes]
    assert min([*reductions.values(), 0]) == 0  # minority is concave
    error = tree.error(case.problem, exact=True)
    assert error == min(rate, 1 - rate) - sum(reductions.values())
    rounded = tree.error_reductions(case.problem)
    assert tree.error(case.problem) == pytest.approx(
        min(float(rate), 1 - float(rate)) - math.fsum(rounded.values()), abs=1e-14
    )
    assert tree.error(case.problem) <= tree.impurity(case.problem) + 1e-14  # E(T) <= H(T)


def unlabelled(tree):
    return None if isinstance(tree, int) else (tree[0], unlabelled(tree[1]), unlabelled(tree[2]))


@given(trees())
def test_text(tree):
    lines = mt.Tree.build(NAMES, tree).to_text(merge=False).split("\n")
    assert lines == expected_lines(tree)


@given(trees())
@example(("a", ("b", 1, 1), ("c", ("d", 1, 1), 1)))  # merges up to the root
@example(("a", ("b", 1, ("c", 0, 0)), 0))
def test_splits_whose_leaves_agree(tree):
    built = mt.Tree.build(NAMES, tree)
    merged, fewer = built.merged(), reference.merge_leaves(tree)
    assert nested(merged) == fewer
    assert merged.variables == built.variables
    assert merged.merged() == merged
    inputs = all_inputs(len(NAMES))
    np.testing.assert_array_equal(merged.predict(inputs), built.predict(inputs))
    hidden = reference.tree_size(tree) - reference.tree_size(fewer)
    note = {
        0: [],
        1: ["1 split whose leaves agree is not shown; merge=False shows it"],
    }.get(hidden, [f"{hidden} splits whose leaves agree are not shown; merge=False shows them"])
    assert built.to_text().split("\n") == expected_lines(fewer) + note
    assert nested(mt.Tree.from_json(built.to_json())) == tree  # files hold every split


def expected_lines(tree) -> list[str]:
    if isinstance(tree, int):
        return [f"label {tree}"]
    first, *low = expected_lines(tree[1])
    last, *high = expected_lines(tree[2])
    return [
        f"{tree[0]}?",
        f"├─0─ {first}",
        *(f"│    {line}" for line in low),
        f"└─1─ {last}",
        *(f"     {line}" for line in high),
    ]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (-1, r"label must be .* got -1"),
        (math.nan, r"label must be .* got nan"),
        (None, r"label must be .* got None"),
        ("a", r"label must be .* got 'a'"),
        (("a", 0), "got 2 parts"),
        (("a", 0, 1, 0), "got 4 parts"),
        ((), "got 0 parts"),
        (("w", 0, 1), "got 'w'"),
        ((6, 0, 1), "one of the variables; got 6"),
        ((-1, 0, 1), "one of the variables; got -1"),
        ((True, 0, 1), "one of the variables; got True"),
        ((0, 0, ("a", 0, 1)), "a is tested twice"),
        ((["a"], 0, 1), "one of the variables"),
        (("a", 0, ("a", 0, 1)), "a is tested twice"),
        (("a", ("b", 0, ("c", ("a", 0, 1), 0)), 1), "a is tested twice"),
    ],
)
def test_what_is_no_tree(tree, message):
    with pytest.raises(ValueError, match=message):
        mt.Tree.build(("a", "b", "c"), tree)


@pytest.mark.parametrize(
    ("names", "message"), [(("a", "a"), "a is given twice"), (("a", ""), "''"), ((3,), "3")]
)
def test_names_of_columns(names, message):
    with pytest.raises(ValueError, match=message):
        mt.Tree.build(names, 0)


def test_siblings_may_test_the_same_variable():
    tree = mt.Tree.build(("a", "b"), ("a", ("b", 0, 1), ("b", 1, 0)))
    assert tree.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist() == [0, 1, 1, 0]


def test_a_tree_is_immutable():
    tree = mt.Tree.build(("a",), ("a", 0, 1))
    with pytest.raises(AttributeError):
        tree.labels = ()  # type: ignore[misc]


def test_a_problem_must_have_the_tested_variables_and_may_order_them_otherwise():
    tree = mt.Tree.build(("b", "a"), ("a", 0, ("b", 0, 1)))
    assert tree.error(mt.FormulaProblem("a & b & c")) == 0.125
    with pytest.raises(ValueError, match="no b"):
        tree.error(mt.FormulaProblem("a & c"))
    with pytest.raises(ValueError, match=r"criterion must be .* got 'variance'"):
        tree.impurity(mt.FormulaProblem("a & b"), "variance")


@pytest.mark.parametrize("problem", [mt.FormulaProblem("a"), mt.TableProblem([0, 1])])
def test_a_label_that_the_problem_has_not_is_always_wrong(problem):
    tree = mt.Tree.build(problem.variables, 2)
    try:
        error = tree.error(problem)
    except ValueError:
        return
    assert error == 1


@pytest.mark.parametrize("inputs", [[0, 1], [[0]], [[0, 1, 1]], [[0, 2]], [["a", "b"]]], ids=str)
def test_predictions_need_a_binary_matrix(inputs):
    with pytest.raises(ValueError, match="X must"):
        mt.Tree.build(("a", "b"), ("a", 0, 1)).predict(inputs)


def path_of_tests(count: int, side: int) -> mt.Tree:
    names = tuple(f"x{number}" for number in range(count))
    deep = 1
    for name in reversed(names):
        deep = (name, deep, 0) if side == 0 else (name, 0, deep)
    return mt.Tree.build(names, deep)


@pytest.mark.parametrize("side", [0, 1])
def test_a_path_of_two_thousand_tests(side):
    tree = path_of_tests(2000, side)
    assert tree.size == tree.depth == 2000
    row = np.full((2, 2000), side)
    row[1, 1999] = 1 - side
    assert tree.predict(row).tolist() == [1, 0]
    assert mt.Tree.from_json(tree.to_json()) == tree
    assert len(tree.to_text().split("\n")) == 4001
    literal = "" if side else "~"
    text = " & ".join(literal + name for name in tree.variables)
    problem = mt.FormulaProblem(text, bias=0.999 if side else 0.001)
    assert tree.error(problem) == 0
    assert mt.Tree.build(tree.variables, 0).error(problem) == pytest.approx(0.999**2000)


def test_growers_and_solvers_reach_depth_two_thousand():
    names = [f"x{number}" for number in range(2000)]
    problem = mt.FormulaProblem(" & ".join(names), bias=0.999)
    for tree in (
        mt.TopDown(ties="first").grow(problem, 2000).tree(2000),
        mt.ID3(ties="first").grow(problem, 2000).tree(2000),
        mt.optimal_tree(problem, 2000),
    ):
        assert tree == path_of_tests(2000, side=1)


def test_an_exact_error_far_down():
    tree = path_of_tests(200, side=1)
    problem = mt.FormulaProblem(" & ".join((*tree.variables, "last")), bias=0.5)
    assert tree.error(problem, exact=True) == Fraction(1, 2**201)


def test_labels_need_not_fit_a_byte():
    tree = mt.Tree.build(("a",), ("a", 300, 70_000))
    assert tree.predict([[0], [1]]).tolist() == [300, 70_000]
