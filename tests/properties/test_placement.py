"""Bits of rows in the slots of its classes, against one row after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mictree.columns.ordered import MOST_MOVED, Placement

SLOTS = 320  # of a class, more than any batch here fills


def place(codes: np.ndarray, keep: np.ndarray, first: np.ndarray) -> Placement:
    return Placement(codes.astype(np.uint8), keep, first, first - 7)


@given(st.data())
def test_bits_are_those_of_one_row_after_another(data):
    classes = data.draw(st.integers(1, MOST_MOVED + 2))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    first = SLOTS * np.arange(classes) + random.integers(0, 64, classes)
    words = np.zeros(classes * SLOTS // 64, dtype=np.uint64)
    expected = np.zeros(64 * len(words), dtype=bool)
    for rows in data.draw(st.lists(st.integers(0, 130), min_size=1, max_size=2)):
        codes = random.integers(0, data.draw(st.integers(1, classes)), rows)
        flags = random.random(rows) < data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
        keep = random.random(rows) < data.draw(st.sampled_from([0.0, 0.7, 1.0]))
        placed = place(codes, keep[: data.draw(st.sampled_from([0, rows]))], first)
        assert placed.add(flags.view(np.uint8), words)
        kept = keep if len(placed.keep) else np.ones(rows, dtype=bool)
        first = first.copy()
        for row in np.flatnonzero(kept):
            expected[first[codes[row]]] = flags[row]
            first[codes[row]] += 1
        np.testing.assert_array_equal(placed.first_slots + placed.counts, first)
    np.testing.assert_array_equal(
        np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool), expected
    )


@given(st.data())
def test_rows_slots_and_places_belong_together(data):
    classes, rows = data.draw(st.integers(1, 9)), data.draw(st.integers(0, 70))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    codes, keep = random.integers(0, classes, rows), random.random(rows) < 0.6
    placed = place(codes, keep, SLOTS * np.arange(1, classes + 1))
    assert sorted(placed.rows.tolist()) == np.flatnonzero(keep).tolist()
    for code in range(classes):
        here = codes[placed.rows] == code
        assert placed.rows[here].tolist() == sorted(placed.rows[here].tolist())
        assert placed.slots[here].tolist() == list(
            range(SLOTS * (code + 1), SLOTS * (code + 1) + here.sum())
        )
    np.testing.assert_array_equal(placed.places, placed.slots - 7)


@pytest.mark.parametrize("classes", [2, MOST_MOVED + 1])
@pytest.mark.parametrize("row", [0, 63, 64, 69])
@pytest.mark.parametrize("value", [2, 128, 255])
def test_a_byte_that_is_neither_0_nor_1_is_noticed(classes, row, value):
    flags = np.ones(70, dtype=np.uint8)
    flags[row] = value
    words = np.zeros(classes * SLOTS // 64, dtype=np.uint64)
    placed = place(np.zeros(70), np.empty(0, dtype=bool), SLOTS * np.arange(classes))
    assert not placed.add(flags, words)
