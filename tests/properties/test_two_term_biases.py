"""Two terms with one shared bias: certified outcomes hold at every bias inside their boxes."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.experiments.cache import Cache
from mictree.experiments.two_term_biases import Plan, conjectures, two_term_biases
from mictree.families.pairs import (
    Found,
    Leaf,
    PairBox,
    PairGrowth,
    check_pair,
    perfect_size,
    splits,
)
from mictree.plotting.families import draw_two_terms
from tests import reference

PAIRS = st.sampled_from([(a, b) for b in range(1, 5) for a in range(1, b + 1)])
PLAN = Plan(max_literals=3, low=2**-4, narrowest=2**-13)


def problem_at(pair, bias):
    terms = [[f"{name}{at}" for at in range(count)] for name, count in zip("xy", pair, strict=True)]
    return mt.FormulaProblem(" | ".join(" & ".join(term) for term in terms), bias)


def excesses(pair, bias, ties="first"):
    """At every size until no greedy tree errs, exactly."""
    size = pair[0] + pair[1] + pair[0] * pair[1]
    return mt.mic(mt.TopDown(ties=ties), problem_at(pair, bias), size, exact=True).excess_errors


def value(polynomial, bias):
    return sum(int(each) * bias**power for power, each in enumerate(polynomial))


@settings(max_examples=40)
@given(
    pair=PAIRS,
    low=st.integers(1, 62),
    width=st.sampled_from([2**-9, 2**-7, 2**-6]),
    inside=st.lists(st.fractions(0, 1, max_denominator=999), min_size=2, max_size=2),
    ties=st.sampled_from(["first", "last", "heaviest", "lightest"]),
)
def test_outcomes_hold_at_every_bias_inside_a_box(pair, low, width, inside, ties):
    found = check_pair(low / 64, low / 64 + width, *pair)
    for share in inside:
        bias = Fraction(low, 64) + Fraction(width) * share
        if bias == Fraction(1, 2):
            continue  # an end of boxes, where many gains tie
        over = excesses(pair, bias, ties)
        if found.outcome == "optimal":
            assert not any(over), (found, bias)
        if found.outcome == "excess" and 0 < share < 1:
            assert any(over[: found.size + 1]), (found, bias)


@settings(max_examples=20)
@given(
    pair=PAIRS,
    low=st.integers(1, 14),
    width=st.sampled_from([2**-8, 2**-4]),
    share=st.fractions(0, 1, max_denominator=99),
)
def test_least_errors_are_the_least_of_their_polynomials(pair, low, width, share):
    box = PairBox(low / 16, low / 16 + width, sum(pair))
    bias = Fraction(low, 16) + Fraction(width) * share
    terms = tuple((bias,) * literals for literals in pair)
    for size in range(min(perfect_size(pair), 6) + 1):
        least = min(value(each, bias) for each in box.least_errors(pair, size))
        assert least == reference.any_bias_optimal(terms, size)


def test_splits_and_sizes_by_hand():
    assert splits((1, 2)) == [((2,), ()), ((1,), (1, 1))]
    assert splits((2, 2)) == [((2,), (1, 2))]
    assert splits((3,)) == [((), (2,))]
    assert [perfect_size(state) for state in ((), (3,), (2, 3))] == [0, 3, 8]


def test_boxes_on_both_sides_of_a_change_and_around_it():
    assert check_pair(0.70703125, 0.70708, 2, 3) == Found("optimal")
    assert check_pair(0.70712, 0.7109375, 2, 3).outcome == "excess"
    assert check_pair(0.70703125, 0.7109375, 2, 3).outcome == "undecided"
    assert check_pair(0.125, 0.875, 4, 4).outcome == "undecided"  # too many courses


@pytest.mark.parametrize("ends", [(0.45, 0.5), (0.5, 0.55)])
def test_reaches_that_are_equal_at_one_half_are_compared_exactly(ends):
    growth = PairGrowth(PairBox(*ends, 4))
    ones, zeros = (Leaf((2,), 1, 0), ((), (1,))), (Leaf((2,), 0, 1), ((), (1,)))
    order = (zeros, ones) if ends[0] < 0.5 else (ones, zeros)
    with ctx.workprec(100):
        assert growth._leads(*order)
        assert not growth._leads(*order[::-1])


def test_a_lead_holds_over_the_whole_box():
    """The gain of a split of (2, 3), against that of the other term, at both ends and inside."""
    leaf = Leaf((2, 3), 0, 0)
    shorter, longer = splits((2, 3))
    with ctx.workprec(100):
        wide, narrow = (PairGrowth(PairBox(*ends, 5)) for ends in ((0.25, 0.99), (0.25, 0.3)))
        assert narrow._leads((leaf, shorter), (leaf, longer))
        assert not narrow._leads((leaf, longer), (leaf, shorter))
        assert not wide._leads((leaf, shorter), (leaf, longer))
        gain = narrow._priority(0, leaf, shorter)[0]
    problem = problem_at((2, 3), Fraction(11, 40))
    first = mt.TopDown().grow(problem, 1).steps[0]
    assert float(gain / arb.const_log2()) == pytest.approx(first.gain)


def test_polynomials_between_two_that_cross():
    box = PairBox(0.25, 0.75, 2)  # 2p - 1 and 1 - 2p cross at 1/2, and 0 lies between them
    rising, falling, zero, low = ([-1, 2, 0], [1, -2, 0], [0, 0, 0], [-2, 0, 0])
    lowest = {tuple(each) for each in box.lowest(np.array([rising, falling, zero]))}
    assert lowest == {tuple(rising), tuple(falling)}
    assert box.lowest(np.array([rising, falling, low])).tolist() == [low]
    bent = [-1, 4, -4]  # -(2p - 1)^2 is not between them
    assert len(box.lowest(np.array([rising, falling, bent]))) > 1
    below = box.lowest(np.array([rising, falling, bent]))
    for bias in (Fraction(3, 10), Fraction(1, 2), Fraction(7, 10)):
        every = [value(each, bias) for each in (rising, falling, bent)]
        assert min(value(each, bias) for each in below) == min(every)


@pytest.fixture(scope="module")
def found():
    return two_term_biases(PLAN)


def test_boxes_cover_the_range_without_gap(found):
    assert sorted(set(found.frame.select("shorter", "longer").iter_rows())) == sorted(PLAN.pairs)
    for pair in PLAN.pairs:
        runs = found.runs(pair)
        assert runs[0][0] == PLAN.low
        assert runs[-1][1] == PLAN.high
        assert all(before[1] == after[0] for before, after in pairwise(runs))
        for low, high, outcome in runs:
            if outcome == "undecided":
                assert high - low <= 2 * PLAN.narrowest
            else:
                middle = Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(1, 3)
                assert any(excesses(pair, middle)) == (outcome == "excess")


def test_the_pattern_holds_as_far_as_it_was_computed(found):
    checks = conjectures(found)
    assert [check.verdict for check in checks] == ["holds"] * 3
    assert all("1 to 3 literals" in check.range_covered for check in checks)
    assert found.last_optimal[2, 3] == pytest.approx(0.5**0.5, abs=2 * PLAN.narrowest)


def altered(found, pair, low, high, outcome):
    """The result with one run replaced."""
    here = (pl.col("shorter") == pair[0]) & (pl.col("longer") == pair[1])
    others = found.frame.filter(~here)
    new = pl.DataFrame(
        [(*pair, *run, 1) for run in zip(low, high, outcome, strict=True)],
        found.frame.schema,
        orient="row",
    )
    return replace(found, frame=pl.concat([others, new]))


@pytest.mark.parametrize(
    ("number", "pair", "edges", "outcomes"),
    [
        (0, (1, 3), (0.01, 0.9, 0.99), ("optimal", "excess")),
        (0, (1, 1), (0.01, 0.99), ("undecided",)),
        (1, (2, 3), (0.01, 0.99), ("optimal",)),
        (1, (2, 3), (0.01, 0.708, 0.99), ("optimal", "excess")),  # another end
        (1, (2, 3), (0.01, 0.7, 0.71, 0.99), ("optimal", "undecided", "excess")),  # too wide
        (1, (2, 3), (0.01, 0.2, 0.70710678, 0.99), ("excess", "optimal", "excess")),
        (1, (2, 3), (0.01, 0.2, 0.201, 0.7071, 0.7072, 0.99),
         ("optimal", "undecided", "optimal", "undecided", "excess")),
        (2, (3, 3), (0.01, 0.6823, 0.6824, 0.99), ("optimal", "undecided", "excess")),
        (2, (3, 3), (0.01, 0.55, 0.6823, 0.6824, 0.99),
         ("excess", "optimal", "undecided", "excess")),  # begins above 1/2
        (2, (2, 2), (0.01, 0.501, 0.99), ("optimal", "excess")),
    ],
)  # fmt: skip
def test_each_conjecture_can_fail(found, number, pair, edges, outcomes):
    wrong = altered(found, pair, edges[:-1], edges[1:], outcomes)
    verdicts = [check.verdict for check in conjectures(wrong)]
    assert verdicts == ["fails" if at == number else "holds" for at in range(3)]
    assert f"terms of {pair[0]} and {pair[1]} literals" in conjectures(wrong)[number].detail


def test_each_pair_is_kept_by_itself(tmp_path, found):
    small = replace(PLAN, max_literals=2)
    first, again = Cache(tmp_path), Cache(tmp_path)
    one = two_term_biases(small, first)
    assert (first.computed, first.reused) == (3, 0)
    told = []
    other = two_term_biases(small, again, told.append)
    assert (again.computed, again.reused) == (0, 3)
    assert one.frame.equals(other.frame)
    assert [each.detail for each in told][-1] == "2 and 2 literals"


def test_the_figure_has_a_bar_for_each_run(found):
    axes = draw_two_terms(None, found)
    bars = [patch for patch in axes.patches if patch.get_width()]
    assert len(bars) == found.frame.height
    assert [text.get_text() for text in axes.get_yticklabels()][:2] == ["1 and 1", "1 and 2"]
