"""The compiled loop on data against the plain learner and against the generic loop."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.growers.rules import RULES, TIES
from mictree.impurity import CRITERIA
from mictree.problems import Problem
from mictree.problems.sample import Limits, SampleProblem
from tests.reference import PRIORITIES, ahead, learner
from tests.reference.literals import literals
from tests.strategies import nested

FIXED_TIES = [ties for ties in TIES if ties != "random"]
SIZE = 7


class Generic(Problem):
    """The same problem as one of which only the generic loop can grow."""

    variables = property(lambda self: self.sample.variables)  # type: ignore[assignment]

    def __init__(self, *arguments, **settings):
        self.sample = SampleProblem(*arguments, **settings)
        self.min_gain = self.sample.min_gain

    def root(self, exact=False):
        return self.sample.root(exact)

    def children(self, leaf, variable):
        return self.sample.children(leaf, variable)

    def splits(self, leaf):
        return self.sample.splits(leaf)

    def leads(self, leaf, splits):
        return self.sample.leads(leaf, splits)

    def test(self, leaf, variable):
        return self.sample.test(leaf, variable)

    def tree(self, *splits):
        return self.sample.tree(*splits)


@st.composite
def data_sets(draw, most_rows: int = 24):
    """Rows of bits, numbers, words and missing cells, up to four classes, integer weights."""
    count = draw(st.integers(1, most_rows))
    kinds = draw(
        st.lists(st.sampled_from(["bit", "number", "gaps", "word"]), min_size=1, max_size=4)
    )
    cells = {
        "bit": st.integers(0, 1),
        "number": st.integers(0, 5),
        "gaps": st.one_of(st.none(), st.integers(0, 2)),
        "word": st.sampled_from([None, "u", "v", "w"]),
    }
    rows = [[draw(cells[kind]) for kind in kinds] for _ in range(count)]
    classes = draw(st.integers(1, 4))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
    labels = [sorted(set(labels)).index(label) for label in labels]
    weights = draw(
        st.one_of(st.none(), st.lists(st.integers(1, 4), min_size=count, max_size=count))
    )
    return rows, labels, weights


def as_table(rows):
    """A matrix, or a frame if there are words."""
    if any(isinstance(cell, str) for row in rows for cell in row):
        columns = zip(*rows, strict=True)
        return pl.DataFrame({f"x{number}": column for number, column in enumerate(columns)})
    return np.array([[math.nan if cell is None else cell for cell in row] for row in rows], float)


def reference_trees(rows, labels, weights, *settings, thresholds=None, **limits):
    names = [f"x{number}" for number in range(len(rows[0]))]
    offered = lambda inside: literals(rows, names, inside, thresholds)  # noqa: E731
    return learner.grow(rows, labels, weights or [1] * len(rows), offered, *settings, **limits)


@given(data_sets(), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CRITERIA)),
       st.sampled_from(FIXED_TIES))  # fmt: skip
@settings(max_examples=200)
def test_growth_is_the_plain_learners(case, rule, criterion, ties):
    rows, labels, weights = case
    problem = SampleProblem(as_table(rows), labels, weights)
    growth = RULES[rule](criterion=criterion, ties=ties).grow(problem, SIZE)
    expected = reference_trees(
        rows, labels, weights, PRIORITIES[rule], criterion, ties, SIZE, ahead=ahead(rule)
    )
    assert [nested(growth.tree(size)) for size in range(SIZE + 1)] == expected


@given(data_sets(), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CRITERIA)),
       st.sampled_from(["first", "last"]), st.integers(1, 3))  # fmt: skip
@settings(max_examples=100)
def test_growth_with_bins_is_the_plain_learners(case, rule, criterion, ties, most):
    rows, labels, weights = case
    problem = SampleProblem(as_table(rows), labels, weights, max_thresholds=most)
    growth = RULES[rule](criterion=criterion, ties=ties).grow(problem, SIZE)
    thresholds = [
        [column.threshold(number) for number in range(column.thresholds)] if column.binned else None
        for column in problem.literals.columns
    ]
    expected = reference_trees(
        rows, labels, weights, PRIORITIES[rule], criterion, ties, SIZE,
        thresholds=thresholds, ahead=ahead(rule),
    )  # fmt: skip
    assert [nested(growth.tree(size)) for size in range(SIZE + 1)] == expected


@given(data_sets(), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CRITERIA)),
       st.integers(2, 8), st.integers(1, 5), st.integers(0, 4),
       st.sampled_from([0, 0.01, 0.2]))  # fmt: skip
@settings(max_examples=100)
def test_limits_are_the_plain_learners(case, rule, criterion, split, least, depth, min_gain):
    rows, labels, weights = case
    limits = Limits(split, least, depth, min_gain)
    problem = SampleProblem(as_table(rows), labels, weights, limits=limits)
    growth = RULES[rule](criterion=criterion).grow(problem, SIZE)
    expected = reference_trees(
        rows, labels, weights, PRIORITIES[rule], criterion, "last", SIZE,
        split=split, least=least, depth=depth, min_gain=min_gain, ahead=ahead(rule),
    )  # fmt: skip
    assert [nested(growth.tree(size)) for size in range(SIZE + 1)] == expected


@given(data_sets(most_rows=60), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CRITERIA)),
       st.sampled_from(TIES), st.sampled_from([None, [1.0, 0.3, 2.0, 1.7]]))  # fmt: skip
@settings(max_examples=100)
def test_compiled_loop_is_the_generic_loop(case, rule, criterion, ties, class_weight):
    rows, labels, weights = case
    classes = max(2, max(labels) + 1)
    factors = class_weight and class_weight[:classes]
    grower = RULES[rule](criterion=criterion, ties=ties, seed=11)
    compiled, generic = (
        grower.grow(kind(as_table(rows), labels, weights, class_weight=factors), 12)
        for kind in (SampleProblem, Generic)
    )
    assert [step.variable for step in compiled.steps] == [step.variable for step in generic.steps]
    assert [step.leaf for step in compiled.steps] == [step.leaf for step in generic.steps]
    assert compiled.labels == generic.labels
    np.testing.assert_allclose(compiled.errors, generic.errors, atol=1e-12)
    np.testing.assert_allclose(
        [step.gain for step in compiled.steps], [step.gain for step in generic.steps], atol=1e-12
    )


@given(data_sets(), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CRITERIA)))
def test_integer_weights_are_repeated_rows(case, rule, criterion):
    rows, labels, weights = case
    weights = weights or [1 + number % 3 for number in range(len(rows))]
    grower = RULES[rule](criterion=criterion)
    weighted = grower.grow(SampleProblem(as_table(rows), labels, weights), SIZE)
    again = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
    repeated = SampleProblem(as_table(again), np.repeat(labels, weights))
    assert weighted.tree(SIZE) == grower.grow(repeated, SIZE).tree(SIZE)


@given(data_sets())
def test_exact_errors_are_the_errors(case):
    rows, labels, weights = case
    growth = mt.TopDown().grow(SampleProblem(as_table(rows), labels, weights), SIZE)
    np.testing.assert_allclose([float(e) for e in growth.exact_errors], growth.errors, atol=1e-12)
    tree = growth.tree(SIZE)
    assert math.isclose(float(tree.error(growth.problem)), growth.errors[-1], abs_tol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", sorted(RULES))
def test_compact_leaves_change_nothing(rule, weighted):
    """Deep growth on many rows, where leaves get compact matrices of their own."""
    random = np.random.default_rng(5)
    bits = (random.random((9000, 14)) < 0.5).astype(np.uint8)
    labels = (bits[:, :7].sum(axis=1) + (random.random(9000) < 0.2)) % 3
    weights = random.integers(1, 4, 9000) if weighted else None
    grower = RULES[rule](criterion="gini")
    size = 300
    compiled = grower.grow(SampleProblem(bits, labels, weights), size)
    generic = grower.grow(Generic(bits, labels, weights), size)
    assert compiled.tree(size) == generic.tree(size)
    np.testing.assert_allclose(compiled.errors, generic.errors, atol=1e-12)


@pytest.mark.parametrize("classes", [5, 31, 63, 64, 68, 127])
def test_any_number_of_classes(classes):
    """A count of corners wrapped around: growth did not end with 63 classes, or made no split."""
    random = np.random.default_rng(classes)
    labels = np.concatenate([np.arange(classes), random.integers(0, classes, 260 - classes)])
    X = np.column_stack([random.permutation(260), random.permutation(260) + 2 * labels])
    grower = mt.TopDown(criterion="gini")
    compiled = grower.grow(SampleProblem(X, labels), 3)
    generic = grower.grow(Generic(X, labels), 3)
    assert compiled.tree(3) == generic.tree(3)
    assert compiled.tree(3).size == 3
