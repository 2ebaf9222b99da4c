"""Ordered columns: every threshold, as scikit-learn sets it; more of them include the fewer."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import mictree as mt
from mictree.columns.ordered import midpoint, midpoints, rank, round_midpoint, show
from mictree.growers.data_rows import sort_entries
from mictree.problems.sample import PackedRows

TABLES = 500
SIZE = 6


def grown_without_ties(X, y, criterion):
    """A model, and the largest size at which no tie was decided."""
    last, first = (
        mt.TopDownClassifier(SIZE, criterion=criterion, ties=ties).fit(X, y)
        for ties in ("last", "first")
    )
    for size in range(SIZE + 1):
        if first.growth_.tree(size) != last.growth_.tree(size):
            return last, size - 1
    return last, SIZE


def test_trees_on_all_thresholds_are_those_of_scikit_learn():
    random, sizes = np.random.default_rng(0), []
    for number in range(TABLES):
        rows, width = random.integers(30, 200), random.integers(1, 5)
        X = random.normal(size=(rows, width)).round(3).astype(np.float32)
        y = random.integers(0, 2 + number % 2, rows)
        y[X[:, 0] > 0.5] = 0
        criterion = ("entropy", "gini")[number % 2]
        model, most = grown_without_ties(X, y, criterion)
        new = random.normal(size=(50, width)).astype(np.float32)
        for size in range(1 + number % 2, most + 1, 2):
            theirs = DecisionTreeClassifier(
                criterion=criterion, max_leaf_nodes=size + 1, random_state=0
            ).fit(X, y)
            assert model.growth_.errors[size] == pytest.approx(1 - theirs.score(X, y), abs=1e-12)
            np.testing.assert_array_equal(model.predict(new, size), theirs.predict(new))
            sizes.append(size)
    assert len(sizes) > TABLES
    assert max(sizes) == SIZE


@st.composite
def columns(draw):
    values = draw(st.lists(st.integers(-9, 9), min_size=1, max_size=40))
    weighted = draw(st.booleans())
    weights = draw(st.lists(st.integers(1, 5), min_size=len(values), max_size=len(values)))
    return np.array(values, float), np.array(weights, float) if weighted else None


@given(columns(), st.integers(1, 12))
def test_the_thresholds_for_k_are_among_those_for_more(column, most):
    values, weights = column
    fewer, more = rank(values, weights, most), rank(values, weights, most + 1)
    assert set(fewer.below) <= set(more.below)
    distinct = len(np.unique(values))
    assert len(fewer.below) == min(most, distinct - 1)
    assert len(rank(values, weights, None).below) == distinct - 1
    for ranked in (fewer, more):
        thresholds = midpoints(ranked.below, ranked.above)
        np.testing.assert_array_equal(ranked.ranks, (values[:, None] > thresholds).sum(axis=1))


@given(columns(), st.data())
def test_rows_are_sorted_by_their_ranks(column, data):
    ranks = rank(column[0], None, None).ranks
    ends = data.draw(st.lists(st.integers(0, len(ranks)), max_size=3).map(sorted))
    rows = PackedRows()  # of up to four classes, some of them empty
    rows.lay_out(np.diff([0, *ends, len(ranks)]))
    entries = np.empty(len(ranks), dtype=np.uint32)
    sort_entries(ranks, rows.class_rows, rows.first_word, int(ranks.max()) + 1, entries)
    slots = entries & 0x7FFFFFFF
    order = np.argsort(ranks, kind="stable")
    np.testing.assert_array_equal(slots, rows.slots[order])
    np.testing.assert_array_equal(rows.rows_in(slots.astype(np.int64)), order)
    new = np.flatnonzero(entries >> 31)
    np.testing.assert_array_equal(new, np.flatnonzero(np.diff(ranks[order].astype(int))) + 1)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
@example([0.0, -0.0, 1.0])
def test_floats_of_any_size_are_ranked(values):
    ranked = rank(np.array(values), None, None)
    distinct, ranks = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(ranked.ranks, ranks)
    np.testing.assert_array_equal(ranked.below, distinct[:-1])
    np.testing.assert_array_equal(ranked.above, distinct[1:])


def test_values_that_are_nearly_equal_are_ranked_by_comparison():
    values = 1.7e15 + np.random.default_rng(0).permutation(1000)
    ranked = rank(values, None, None)
    np.testing.assert_array_equal(ranked.ranks, values - 1.7e15)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(FLOATS, FLOATS)
def test_a_threshold_and_its_text_lie_between_the_neighbours(one, other):
    below, above = sorted((one, other))
    if below == above:
        return
    threshold = midpoint(below, above)
    assert below <= threshold < above
    assert midpoints(np.array([below]), np.array([above]))[0] == threshold
    assert below <= float(show(threshold, below, above, "number", None)) < above
    rounded = round_midpoint(below, above)
    assert below <= rounded < above
    with np.errstate(over="ignore"):
        assert np.float32(rounded) == np.float32(threshold)  # as scikit-learn's trees read it
    assert abs(rounded - threshold) <= 1e-14 * abs(threshold)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_more_thresholds_never_make_an_optimal_tree_worse(seed, most):
    random = np.random.default_rng(seed)
    X, y = random.integers(0, 6, (25, 2)), random.integers(0, 3, 25)
    errors = [
        mt.optimal_errors(mt.SampleProblem(X, y, max_thresholds=k), 2)
        for k in (most, most + 1, None)
    ]
    assert np.all(errors[0] >= errors[1])
    assert np.all(errors[1] >= errors[2])


@pytest.mark.parametrize("weighted", [False, True])
def test_deep_growth_on_mixed_columns_is_the_generic_loops(weighted):
    """Leaves get compact matrices of their own, whose slots the sorted rows then hold."""
    from mictree.growers.loop import grow_any

    random = np.random.default_rng(3)
    X = np.hstack([random.random((1500, 12)) < 0.5, random.normal(size=(1500, 2)).round(1)])
    y = (X[:, :4].sum(axis=1) + (X[:, 12] > 0.3) + (random.random(1500) < 0.2)) % 3
    weights = random.integers(1, 4, 1500) if weighted else None
    problem = mt.SampleProblem(X, y, weights)
    rule = mt.TopDown("gini")
    ours, theirs = rule.grow(problem, 150), grow_any(rule, problem, 150)
    assert [step.variable for step in ours.steps] == [step.variable for step in theirs.steps]
    np.testing.assert_allclose(ours.errors, theirs.errors, atol=1e-12)
