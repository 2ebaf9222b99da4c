"""Bin edges from merged counts: those of all rows at once, however the rows are cut."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mictree.columns.ordered import Counts, EdgeSearch, from_keys, rank, to_keys
from tests.reference.bins import bin_edges

FINITE = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.one_of(
    st.lists(FINITE, min_size=1, max_size=60),
    st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=60),
    st.lists(st.integers(0, 2**60).map(lambda n: 1.0 + n * 2.0**-52), min_size=1, max_size=60),
)


def search(parts, weights, most, most_entries):
    """The edges, and the passes over the parts that they took."""
    passes, found = 0, EdgeSearch(most, most_entries)
    while found.ranges is not None:
        counted = [
            found.ranges.count(part, weight) for part, weight in zip(parts, weights, strict=True)
        ]
        merged = reduce(Counts.merge, counted)
        assert most is None or len(merged.low) <= found.most_entries
        found.narrow(merged)
        passes += 1
    return found.edges, passes


@given(VALUES, st.data())
def test_the_edges_do_not_depend_on_the_parts(values, data):
    values = np.array(values)
    weights = data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values)))
    weights = np.array(weights, dtype=float)
    weights[data.draw(st.integers(0, len(values) - 1))] = 1.0
    most = data.draw(st.integers(1, 9))
    places = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=6)))
    shuffled = np.random.default_rng(data.draw(st.integers(0, 9))).permutation(len(values))
    for given_weights in (weights, np.ones(len(values))):
        parts = [np.split(row[shuffled], places) for row in (values, given_weights)]
        edges, _ = search(*parts, most, most_entries=1)
        kept = given_weights > 0
        expected = bin_edges((values[kept] + 0.0).tolist(), given_weights[kept].tolist(), most)
        assert list(zip(edges.below, edges.above, strict=True)) == expected
        assert edges.binned == (len(set(values[kept].tolist())) > most + 1)
        at_once = rank(values[kept], given_weights[kept], most)
        np.testing.assert_array_equal(edges.below, at_once.below)
        np.testing.assert_array_equal(edges.above, at_once.above)


@given(st.lists(VALUES, min_size=3, max_size=3), st.integers(1, 3))
def test_counts_merge_in_any_order(parts, most):
    ranges = EdgeSearch(most, 1).ranges
    one, two, three = (ranges.count(np.array(part)) for part in parts)
    at_once = ranges.count(np.concatenate(parts))
    for merged in (one.merge(two).merge(three), three.merge(two.merge(one))):
        assert merged.bits == at_once.bits
        for name in ("low", "high", "masses"):
            np.testing.assert_array_equal(getattr(merged, name), getattr(at_once, name))


def test_the_coarser_counts_decide():
    values = np.random.default_rng(1).normal(size=500)
    ranges = EdgeSearch(3, 1).ranges
    one, other = ranges.count(values), ranges.count(values[:2])
    assert one.bits < other.bits == 64
    for merged in (one.merge(other), other.merge(one)):
        at_once = ranges.count(np.concatenate([values, values[:2]]))
        assert merged.bits == at_once.bits == one.bits
        for name in ("low", "high", "masses"):
            np.testing.assert_array_equal(getattr(merged, name), getattr(at_once, name))


@given(st.lists(FINITE, min_size=2, unique=True))
def test_keys_have_the_order_of_values(values):
    values = np.sort(np.array(values) + 0.0)
    keys = to_keys(values)
    assert np.all(keys[1:] >= keys[:-1])
    np.testing.assert_array_equal(from_keys(keys), values)


def test_many_values_in_few_passes():
    values = np.random.default_rng(0).normal(size=20_000)
    for most_entries, most_passes in ((20_000, 1), (1_000, 5)):
        edges, passes = search(
            np.array_split(values, 7), [None] * 7, most=50, most_entries=most_entries
        )
        np.testing.assert_array_equal(edges.below, rank(values, None, 50).below)
        assert passes <= most_passes


def test_missing_values_are_noted_and_not_counted():
    parts = [np.array([1.0, np.nan]), np.array([2.0, 3.0]), np.array([np.nan])]
    edges, _ = search(parts, [None] * 3, 5, 100)
    assert edges.missing
    assert edges.below.tolist() == [1, 2]
    without = [np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([0.0])]
    edges, _ = search(parts, without, 5, 100)
    assert not edges.missing
    assert edges.below.tolist() == [1]


def test_all_thresholds():
    values = np.arange(5_000.0)
    edges, passes = search([values[::2], values[1::2]], [None] * 2, None, 10)
    assert passes == 1
    assert not edges.binned
    np.testing.assert_array_equal(edges.above, values[1:])


def test_rows_that_change_between_passes_are_refused():
    found = EdgeSearch(2, 1)
    found.narrow(found.ranges.count(np.arange(1000.0)))
    assert found.ranges is not None
    with pytest.raises(ValueError, match="rows must stay the same while they are read"):
        found.narrow(found.ranges.count(np.arange(10.0)))


@pytest.mark.parametrize("parts", [[[]], [[np.nan]], [[], [np.nan, np.nan]]])
def test_nothing_to_count(parts):
    edges, _ = search([np.array(part, dtype=float) for part in parts], [None] * len(parts), 3, 10)
    assert len(edges.below) == len(edges.above) == 0
    assert not edges.binned
