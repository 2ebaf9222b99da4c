"""Impurity functions against the reference's 120 digits."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mictree.impurity import CRITERIA
from mictree.impurity.criteria import divergence, of_classes, rest_of
from mictree.impurity.gains import CRITERION_CODES, gain_of_rates
from tests import reference

TWINS = {
    "entropy": reference.entropy,
    "gini": reference.gini,
    "root": reference.root,
    "minority": reference.minority,
}


@pytest.mark.parametrize("name", TWINS)
@given(rate=st.fractions(0, 1, max_denominator=10**6))
def test_values(name, rate):
    computed = float(CRITERIA[name](float(rate)))
    assert computed == pytest.approx(float(TWINS[name](rate)), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("exponent", [3, 9, 15, 30, 100])
def test_tiny_rates_keep_their_digits(name, exponent):
    rate = Fraction(1, 10**exponent)
    computed = float(CRITERIA[name](float(rate)))
    assert computed == pytest.approx(float(TWINS[name](rate)), rel=1e-13, abs=0)


@pytest.mark.parametrize("name", TWINS)
def test_pure_and_even_rates(name):
    assert CRITERIA[name]([0.0, 1.0]).tolist() == [0, 0]
    assert float(CRITERIA[name](0.5)) == (1 if name in ("entropy", "root") else 0.5)


@pytest.mark.parametrize("name", TWINS)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.floats(0, 1), st.floats(0, 1))
def test_concave_symmetric_and_elementwise(name, rates, one, other):
    impurity = CRITERIA[name]
    np.testing.assert_array_equal(impurity(rates), [float(impurity(rate)) for rate in rates])
    middle = float(impurity((one + other) / 2))
    assert middle >= (float(impurity(one)) + float(impurity(other))) / 2 - 1e-12
    assert float(impurity(one)) == pytest.approx(float(impurity(1 - one)), abs=1e-7)
    assert float(impurity(one)) >= float(CRITERIA["minority"](one)) - 1e-15


@pytest.mark.parametrize("name", TWINS)
@given(rate=st.floats(0, 1))
def test_two_classes_are_a_rate_and_its_rest(name, rate):
    expected = float(CRITERIA[name](rate))
    assert float(of_classes(name, [1 - rate, rate])) == pytest.approx(expected, abs=1e-7)


def test_equal_classes_by_hand():
    quarter = [0.25] * 4
    by_hand = {"entropy": 2, "gini": 0.75, "root": math.sqrt(3), "minority": 0.75}
    for name, expected in by_hand.items():
        assert float(of_classes(name, quarter)) == pytest.approx(expected, rel=1e-15)


def test_the_rest_of_a_large_rate_keeps_its_digits():
    assert rest_of(np.array([1e-20, 1.0])).tolist() == [1.0, 1e-20]


@pytest.mark.parametrize("change", [1e-8, 1e-3, 0.0199, 0.0201, 0.5, 3.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_divergence_keeps_its_digits(change, sign):
    x = Decimal(max(sign * change, -0.9))
    with localcontext(prec=60):
        expected = (1 + x) * (1 + x).ln() - x
    computed = float(divergence(np.array([float(x)]))[0])
    assert computed == pytest.approx(float(expected), rel=1e-13, abs=0)


@pytest.mark.parametrize(("name", "expected"), [("entropy", 1), ("gini", 0.5), ("root", 1)])
def test_a_perfect_split_gains_all(name, expected):
    pure = (1.0, 0.0), (0.0, 1.0), (-1.0, 1.0)
    assert gain_of_rates(CRITERION_CODES[name], 0.5, 0.5, *pure) == pytest.approx(expected)
