"""Small numeric helpers against Fractions and brute force."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mictree._support.checks import MOST_SPLITS, as_fraction, check_count, check_size
from mictree._support.words import show_number
from mictree.growers.loop import ExactSum
from mictree.optimal.solve import repeat_last, smallest_size
from mictree.problems.table import halves_of, over_subcubes, total

FLOATS = st.floats(-1e100, 1e100, allow_subnormal=False)


@given(st.lists(FLOATS))
def test_a_running_sum_is_rounded_once(numbers):
    total = ExactSum()
    for number in numbers:
        total.add(number)
    assert total.value == float(sum(map(Fraction, numbers), Fraction(0)))


@given(st.lists(FLOATS, min_size=1))
def test_a_running_sum_takes_back_what_it_added(numbers):
    total = ExactSum()
    for number in numbers:
        total.add(number)
    for number in numbers:
        total.add(-number)
    assert total.value == 0


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0.3, "3/10"),
        (Fraction(1, 3), "1/3"),
        (1, "1"),
        (np.float64(0.1), "1/10"),
        (1e-5, "1/100000"),
    ],
)
def test_floats_are_read_as_written(number, expected):
    assert as_fraction(number) == Fraction(expected)


@pytest.mark.parametrize("typed", ["1E-99999999", "-1E+99999999"])
def test_decimals_that_would_take_long(typed):
    with pytest.raises(ValueError, match=re.escape(f"from -9999 to 9999; got {typed}")):
        as_fraction(Decimal(typed))
    assert as_fraction(Decimal("1e-9999")) == Fraction(1, 10**9999)


@given(st.integers(0, 10**30))
def test_counts(count):
    assert check_count(count, "depth") == count
    with pytest.raises(ValueError, match=f"depth must be an integer of at least 0; got {~count}"):
        check_count(~count, "depth")


@pytest.mark.parametrize("value", [True, np.True_, 1.0, "1", None])
def test_what_is_no_count(value):
    with pytest.raises(ValueError, match="depth must be an integer of at least 0"):
        check_count(value, "depth")


@given(st.integers(0, MOST_SPLITS))
def test_sizes(size):
    assert check_size(size) == size
    with pytest.raises(ValueError, match=f"max_size must be an integer of at least 0; got {~size}"):
        check_size(~size)
    with pytest.raises(ValueError, match="max_size must be at most 10,000,000; got"):
        check_size(MOST_SPLITS + 1 + size)


@given(st.integers(0, 4), st.data())
def test_sums_over_subcubes(count, data):
    rows = data.draw(st.lists(st.integers(0, 9), min_size=2**count, max_size=2**count))
    computed = over_subcubes(np.array(rows))
    assert computed.shape == (3**count,)
    for subcube in range(3**count):
        digits = [subcube // 3**position % 3 for position in range(count)]
        inside = [
            rows[row]
            for row in range(2**count)
            if all(digit in (2, row >> position & 1) for position, digit in enumerate(digits))
        ]
        assert computed[subcube] == sum(inside)


@given(st.integers(0, 5), st.data())
def test_sums_on_demand_are_the_same_floats(count, data):
    """Whatever computes the sum over a subcube, it rounds alike."""
    size = 2**count
    row = data.draw(st.lists(st.floats(1e-6, 1, width=64), min_size=size, max_size=size))
    sums = over_subcubes(np.array(row))
    whole = 3**count - 1
    assert total(np.array([row])).tolist() == [sums[whole]]
    steps = 3 ** np.arange(count)
    low, high = halves_of(np.array([row]))[0]
    assert low.tolist() == sums[whole - 2 * steps].tolist()
    assert high.tolist() == sums[whole - steps].tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(0, 12))
def test_rows_of_errors(numbers, size):
    row = np.array(sorted(numbers, reverse=True))
    longer = repeat_last(row, 12)
    assert longer.tolist() == [row[min(place, len(row) - 1)] for place in range(13)]
    smallest = smallest_size(row, size)
    assert smallest <= size
    assert longer[smallest] == longer[size]
    assert smallest == 0 or longer[smallest - 1] > longer[size]


def test_rounding_noise_is_shown_as_0():
    assert [show_number(value) for value in (1.85e-17, -1e-13, 0.0, 1e-11, 1 / 3)] == [
        "0", "0", "0", "1e-11", "0.333333",
    ]  # fmt: skip
    assert show_number(Fraction(1, 10**20)) == "1e-20"  # exact, so no noise
    assert show_number(2 / 3, 2) == "0.67"
