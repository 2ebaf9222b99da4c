"""Whatever columns and categories are called: tests have different names, and trees mean them."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.columns.literals import make_texts_differ
from mictree.growers.rules import RULES

pandas = pytest.importorskip("pandas")

MARKED = " (column 0)"
COLUMNS = [
    "a", "not a", "a > 0.5", "a <= 0.5", "not a > 0.5", "a is x", "a is not x", "a is missing",
    "a is not missing", "a is True", "a is 'x'", "", " ", "1", 1,
    "a is x" + MARKED, "a > 0.5" + MARKED, "a > 0.5" + MARKED + MARKED, "a is x (column 1, 2)",
]  # fmt: skip
CATEGORIES = ["x", "not x", "'x'", "missing", "not missing", "True", "1", 1, True, "x" + MARKED, ""]
SIZE = 4


@st.composite
def frames(draw, names=COLUMNS):
    """A pandas frame of numbers, booleans, texts and categories, and labels."""
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(2, 16))
    columns = []
    for _ in chosen:
        kind = draw(st.sampled_from(["bit", "bool", "number", "gaps", "text", "category"]))
        cell = {
            "bit": st.integers(0, 1),
            "bool": st.booleans(),
            "number": st.integers(0, 3),
            "gaps": st.sampled_from([None, 0, 1, 2]),
            "text": st.sampled_from([None, *(c for c in CATEGORIES if isinstance(c, str))]),
            "category": st.sampled_from([None, *CATEGORIES]),
        }[kind]
        cells = draw(st.lists(cell, min_size=rows, max_size=rows))
        columns.append(pandas.Categorical(cells) if kind == "category" else pandas.Series(cells))
    frame = pandas.DataFrame(dict(enumerate(columns)))
    frame.columns = pandas.Index(chosen, dtype=object)
    labels = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    return frame, labels


MISSING = pandas.DataFrame({"c": ["missing"] * 3 + [None] * 3 + ["a"] * 3 + ["b"] * 3})
MIXED = pandas.DataFrame({"c": pandas.Categorical([1, "1", 2, 1, "1", 2])})
CLASH = pandas.DataFrame({"a": [1, 1, 2, 3], "a > 1.5": [0, 1, 0, 1]})


@given(frames())
@example((MISSING, [1] * 3 + [0] * 9))
@example((MIXED, [0, 1, 0, 0, 1, 0]))
@example((CLASH, [0, 1, 1, 0]))
@settings(max_examples=300)
def test_no_two_literals_or_negations_read_alike(case):
    literals = mt.SampleProblem(*case).literals
    texts = [*literals.names, *(literals.negated(k) for k in range(len(literals)))]
    assert len(set(texts)) == len(texts)
    assert all(text.strip() for text in texts)


@given(frames(), st.sampled_from(sorted(RULES)))
@example((MISSING, [1] * 3 + [0] * 9), "topdown")
@settings(max_examples=100)
def test_the_trees_of_a_growth_have_its_errors(case, rule):
    problem = mt.SampleProblem(*case)
    growth = RULES[rule]().grow(problem, SIZE)
    truth = np.searchsorted(problem.classes, case[1])
    for size in range(SIZE + 1):
        tree = growth.tree(size)
        bits = problem.literals.transform(case[0], tree)
        assert tree.error(problem) == pytest.approx(growth.errors[size], abs=1e-12)
        assert tree.error(problem, exact=True) == growth.exact_errors[size]
        assert np.mean(tree.predict(bits) != truth) == pytest.approx(growth.errors[size])
        check_forms(tree, bits)


@given(frames())
@settings(max_examples=50)
def test_optimal_trees_have_their_errors(case):
    problem = mt.SampleProblem(*case)
    solved = mt.optimal_trees(problem, SIZE)
    for size in range(SIZE + 1):
        assert solved.tree(size).error(problem) == pytest.approx(solved.errors[size], abs=1e-12)
        check_forms(solved.tree(size), problem.literals.transform(case[0], solved.tree(size)))


def check_forms(tree, bits):
    """A tree's JSON predicts the same, and its text shows as many tests as there are."""
    again = mt.Tree.from_json(tree.to_json())
    assert again == tree
    np.testing.assert_array_equal(again.predict(bits), tree.predict(bits))
    lines = tree.to_text(merge=False).splitlines()  # one for each node, indented by its depth
    shown = {line[5 * depth :] for line, depth in zip(lines, tree.depths, strict=True)}
    tests = {test for test in tree.tests if test >= 0}
    labels = {label for label in tree.labels if label >= 0}
    assert shown == {f"{tree.variables[test]}?" for test in tests} | {f"label {c}" for c in labels}
    assert len(shown) == len(tests) + len(labels)


@given(frames(names=[name for name in COLUMNS if isinstance(name, str)]))
@settings(max_examples=50)
def test_classifiers_and_exports_mean_the_same_tests(case):
    frame, labels = case
    model = mt.TopDownClassifier(SIZE).fit(frame, labels)
    bits = model.literals_.transform(frame, model.tree_)
    predicted = model.predict(frame)
    np.testing.assert_array_equal(model.classes_[model.tree_.predict(bits)], predicted)
    if bits.shape[1]:  # scikit-learn's trees need a column
        np.testing.assert_array_equal(model.to_sklearn(on="literals").predict(bits), predicted)
    shown = [name for name in model.to_frame()["test"] if name is not None]
    assert len(set(shown)) == len(set(model.tree_.tests) - {-1})
    assert sum(rule.rows for rule in model.to_rules()) == len(labels)


TEXTS = st.sampled_from(["a", "b", "", " ", "a" + MARKED, "a (column 0, 2)", "b (column 1)"])
PAIRS = st.tuples(TEXTS, TEXTS).filter(lambda pair: pair[0] != pair[1])


@given(st.lists(st.lists(PAIRS, max_size=4), max_size=3))
@example([[("a", "b"), ("a", "b")]])
def test_any_texts_are_told_apart(columns):
    given = [pair for texts in columns for pair in texts]
    told = make_texts_differ(columns)
    shown = [text for pair in told for text in pair]
    assert len(set(shown)) == len(shown)
    assert all(text.strip() for text in shown)
    uses = Counter(text for pair in given for text in pair)
    for before, after in zip(given, told, strict=True):
        clear = all(uses[text] == 1 and text.strip() for text in before)
        assert (before == after) == clear


def test_texts_are_quoted_where_numbers_read_the_same():
    assert mt.SampleProblem(MIXED, [0, 1, 0, 0, 1, 0]).variables == ("c is 1", "c is 2", "c is '1'")
    negated = pandas.DataFrame({"c": ["x", "not x", "y"]})
    literals = mt.SampleProblem(negated, [0, 1, 0]).literals
    assert literals.names == ("c is 'not x'", "c is 'x'", "c is 'y'")
    assert literals.negated(1) == "c is not 'x'"


def test_ordinary_names_stay_beside_those_that_are_changed():
    frame = pandas.DataFrame(
        {"a": [1, 2, 3], "a > 1.5": [0, 1, 1], "c": ["u", "v", "w"], "d": ["missing", "x", "y"]}
    )
    assert mt.SampleProblem(frame, [0, 1, 0]).variables == (
        "a > 1.5 (column 0)", "a > 2.5", "a > 1.5 (column 1)",
        "c is u", "c is v", "c is w", "d is 'missing'", "d is 'x'", "d is 'y'",
    )  # fmt: skip


def test_a_tree_reads_another_problem_by_names():
    tree = mt.Tree.build(("a", "b"), ("b", 0, 1))
    assert tree.error(mt.FormulaProblem("b & c")) == 0.25
    assert tree.error(mt.FormulaProblem("b | a")) == tree.error(mt.FormulaProblem("a | b")) == 0.25
    with pytest.raises(ValueError, match="every variable tested; it has no b"):
        tree.error(mt.FormulaProblem("a & c"))


def test_a_tree_reads_its_own_problem_by_position():
    """Even one whose names are not distinct."""
    problem = mt.TableProblem([0, 0, 1, 1], variables=["a", "b"])
    problem.__class__ = type("Twins", (mt.TableProblem,), {"variables": ("a", "a")})
    tree = mt.Tree(("a", "a"), (1, -1, -1), (1, -1, -1), (2, -1, -1), (-1, 0, 1))
    assert tree.error(problem) == 0
    assert mt.TopDown().grow(problem, 1).tree(1) == tree
    with pytest.raises(ValueError, match="must differ; a is given twice"):
        tree.error(mt.FormulaProblem("a"))


def test_json_of_a_growth_on_data():
    problem = mt.SampleProblem(CLASH, [0, 1, 1, 0])
    growth = mt.TopDown().grow(problem, 2)
    content = json.loads(growth.tree(2).to_json())
    tests = [node["test"] for node in content["nodes"] if "test" in node]
    sources = [problem.literals.source(step.position, step.threshold) for step in growth.steps]
    assert sorted(tuple(content["sources"][test]) for test in tests) == sorted(sources)
