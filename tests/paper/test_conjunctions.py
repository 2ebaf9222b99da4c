"""Conjunctions under product distributions: every greedy rule is optimal at every size."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from tests.strategies import FormulaCase, bias_lists


@st.composite
def conjunctions(draw) -> FormulaCase:
    """One term of up to six literals, and irrelevant variables."""
    count, irrelevant = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    signs = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    term = tuple((f"x{number}", positive) for number, positive in enumerate(signs))
    names = [name for name, _ in term] + [f"z{number}" for number in range(irrelevant)]
    biases = draw(bias_lists(len(names)))
    return FormulaCase((term,), dict(zip(names, biases, strict=True)))


@pytest.mark.parametrize("rule", [mt.TopDown, mt.BestFirst, mt.ID3])
@pytest.mark.parametrize("ties", ["last", "first"])
@settings(max_examples=40)
@given(case=conjunctions())
def test_excess_is_exactly_zero(rule, ties, case):
    count = len(case.formula[0])
    result = mt.mic(rule(ties=ties), case.problem, count, exact=True)
    assert result.excess_errors.tolist() == [Fraction(0)] * (count + 1)
    assert result.mic == 0
    assert result.greedy_errors[count] == 0


@given(conjunctions())
def test_the_least_satisfied_literals_are_tested_first(case):
    """The best error of a given size leaves out the literals that are satisfied most often."""
    chances = sorted(case.term_chances[0])
    errors = mt.optimal_errors(case.problem, len(chances), exact=True)
    for size in range(len(chances) + 1):
        tested, left = Fraction(1), Fraction(1)
        for place, chance in enumerate(chances):
            if place < size:
                tested *= chance
            else:
                left *= chance
        assert errors[size] == tested * min(left, 1 - left)
