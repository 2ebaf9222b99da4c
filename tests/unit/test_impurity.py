"""Impurity functions against the reference's 120 digits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mictree.impurity import CRITERIA
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
@pytest.mark.parametrize("exponent", [3, 9, 15, 30, 100, 300])
def test_tiny_rates_keep_their_digits(name, exponent):
    rate = Fraction(1, 10**exponent)
    computed = float(CRITERIA[name](float(rate)))
    assert computed == pytest.approx(float(TWINS[name](rate)), rel=1e-13)


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
