"""Growth by merging the growths of two children against the growing loop, member by member."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.families import graph as family_graph
from mictree.families import growth
from mictree.families.family import grid, up_to
from mictree.families.growth import (
    PURE,
    FamilyGrowth,
    best_splits,
    merged_errors,
    new_scratch,
    order_of,
)
from mictree.growers.rules import TIE_TOLERANCE, TIES, depth_of
from mictree.impurity import CRITERIA
from mictree.optimal.program import Program, fill, perfect_sizes, row_starts

ROOM = 2**30


def near(bias, digits):
    """Two biases that differ in the last of so many digits."""
    return Fraction(bias), Fraction(bias) + Fraction(1, 10**digits)


class Both:
    """One rule on a family, merged and grown by the loop."""

    def __init__(self, family, rule, max_size, room=ROOM):
        built = family_graph.build(family, 2**30)
        start = row_starts(np.minimum(perfect_sizes(built.graph), max_size) + 1)
        errors = np.full(start[-1], np.inf)
        errors[start[:-1]] = np.minimum(built.positive_rate, 1 - built.positive_rate)
        program = Program.of_floats(family.biases, int(built.graph.literals.max()), start, errors)
        list(fill(built.graph, program))
        self.family, self.rule, self.max_size = family, rule, max_size
        self.best = best_splits(built, program, rule.criterion, depth_of(rule))
        merging = FamilyGrowth(family, built, program, max_size, room)
        self.edges = merging.arrays.edges
        self.order, self.rows = merging._merged.splits(rule, self.best)
        self.merged = merging.compare(rule, self.best, family.members)
        looping = FamilyGrowth(family, built, program, max_size, 0)
        self.looped = looping.compare(rule, self.best, family.members)
        assert len(looping._merged.splits(rule, self.best)[1].start) == 0

    def told(self):
        """For each member, whether merging tells its whole growth."""
        errors, scratch = np.empty(self.max_size + 1), new_scratch(self.max_size, self.order.heavy)
        arrays = (self.best, self.edges, self.order, self.rows, scratch, errors)
        return [merged_errors(member, *arrays) for member in self.family.members]

    def check(self):
        np.testing.assert_array_equal(self.merged, self.looped)


RULES = [
    rule(criterion=criterion, ties=ties)
    for rule in (mt.TopDown, mt.BestFirst, mt.Lookahead)
    for criterion in CRITERIA
    for ties in TIES
    if ties != "random"
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_merged_growth_is_the_loops(rule):
    for family in (grid(5, 4), grid(3, 3, (0.3, 0.7)), up_to(7, (0.25, 0.5, 0.9))):
        for max_size in (1, 2, 7, 40):
            Both(family, rule, max_size).check()


@pytest.mark.parametrize("ties", [each for each in TIES if each != "random"])
@pytest.mark.parametrize("rule", [mt.TopDown, mt.BestFirst])
@pytest.mark.parametrize("digits", [8, 9, 10, 11, 12, 13, 14, 15])
def test_near_ties(rule, ties, digits):
    """Priorities and reaches that differ by about the tolerance."""
    for biases in (near("0.5", digits), (*near("0.3", digits), Fraction("0.7"))):
        Both(grid(3, 3, biases), rule(ties=ties), 25).check()


def test_near_ties_are_left_to_the_loop():
    family = grid(3, 3, (*near("0.3", 10), Fraction("0.7")))
    both = Both(family, mt.TopDown(), 25)
    told = both.told()
    assert (both.best.split[1:, 2] >= 0).all()  # so nothing but near ties ends rows
    assert not all(told)
    assert np.isposinf(both.rows.splits.priority).any()
    untold = [member for member, sure in zip(family.members, told, strict=True) if not sure]
    for member in random.Random(1).sample(untold, 5):
        reference = mt.mic(mt.TopDown(), family.problem(member), 25)
        assert both.merged[member - 1, 0] == pytest.approx(reference.mic, abs=1e-14)
        assert both.merged[member - 1, 2] == reference.worst_size


@pytest.mark.parametrize("rule", [mt.TopDown(), mt.BestFirst(), mt.BestFirst(ties="lightest")])
@pytest.mark.parametrize("biases", [(1e-6,), (1e-6, 0.5), (Fraction(1, 10**60), 1e-20)])
def test_rare_leaves(rule, biases):
    Both(grid(4, 3, biases), rule, 40).check()


def test_reaches_without_digits_are_left_to_the_loop():
    """The reach of some leaves is below the smallest float that has all its digits."""
    biases = (Fraction(1, 10**60), Fraction(1, 10**20))
    both = Both(grid(4, 3, biases), mt.TopDown(), 40)
    assert not all(both.told())
    assert np.nanmin(np.abs(both.rows.splits.priority)) < 1e-290


def test_the_papers_grids_need_no_loop():
    for family in (grid(6, 6), grid(3, 4, (0.3, 0.7)), grid(3, 4, (0.4, 0.6))):
        for rule in (mt.TopDown(), mt.BestFirst()):
            assert all(Both(family, rule, 60).told())


@settings(max_examples=30)
@given(
    st.lists(st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50), min_size=1,
             max_size=3, unique=True),
    st.sampled_from(RULES), st.integers(1, 30),
)  # fmt: skip
def test_any_biases(biases, rule, max_size):
    Both(up_to(6, biases), rule, max_size).check()


def test_rows_end_where_growth_does():
    """One term of n literals takes n splits, whose leaves follow each other."""
    both = Both(grid(1, 5), mt.TopDown(), 20)
    rows = both.rows
    for member in (1, 2, 3, 4):
        row = slice(rows.start[member], rows.start[member + 1])
        priorities = rows.splits.priority[row]
        assert len(priorities) == member + 1
        assert priorities[-1] == PURE
        assert rows.splits.leaf[row][:-1].tolist() == [0, 3, 5, 7, 9][:member]


class Squared(mt.TopDown):
    def priority(self, reach, gain, born):
        return reach * gain**2


class Renamed(mt.BestFirst):
    pass


def own_criterion(rate):
    return rate * (1 - rate)


def test_which_rules_are_merged():
    changed = mt.TopDown()
    changed.priority = lambda reach, gain, born: -reach  # type: ignore[method-assign]
    refused = [
        Squared(), changed, mt.ID3(), mt.TopDown(own_criterion), mt.TopDown(ties="random", seed=1),
    ]  # fmt: skip
    assert [order_of(rule) for rule in refused] == [None] * 5
    assert order_of(Renamed()) == order_of(mt.BestFirst())
    assert order_of(mt.Lookahead(3)) == order_of(mt.TopDown())
    assert order_of(mt.TopDown()) != order_of(mt.BestFirst())


def test_rules_one_after_another():
    """Rows are filled again for each rule, also in the same memory."""
    rules = [
        mt.TopDown(), mt.BestFirst(), mt.TopDown(ties="first"), mt.BestFirst(ties="lightest"),
        mt.TopDown(criterion="gini"), mt.ID3(), mt.BestFirst(), Squared(), mt.TopDown(),
    ]  # fmt: skip
    family = grid(4, 4)
    together = mt.sweep(family, 30, rules)
    for number, rule in enumerate(rules):
        some = together[number * len(family) : (number + 1) * len(family)]
        assert some.equals(mt.sweep(family, 30, [rule]))


def test_without_room_the_loop_grows(monkeypatch):
    """Graph and errors count towards the limit, and rows are made only in what it leaves."""
    filled = []
    fill_rows = growth.MergedGrowth._fill

    def counting(self, best, order):
        filled.append(self._rows.start[-1] * growth.BYTES_EACH)
        fill_rows(self, best, order)

    monkeypatch.setattr(growth.MergedGrowth, "_fill", counting)
    family = up_to(20)
    whole = mt.sweep(family, 100, ["topdown"])
    (needed,) = filled
    small = mt.sweep(family, 100, ["topdown"], memory_limit=int(needed))
    assert len(filled) == 1
    assert small.equals(whole)


def test_an_interrupted_filling_leaves_no_rows_of_another_rule(monkeypatch):
    both = Both(grid(3, 3), mt.TopDown(), 9)
    built = family_graph.build(both.family, 2**30)
    merging = growth.MergedGrowth(built.graph, both.edges, 9, ROOM)
    before = merging.splits(mt.TopDown(), both.best)[1].splits.priority.copy()
    with monkeypatch.context() as patch:
        patch.setattr(growth, "run", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            merging.splits(mt.BestFirst(), both.best)
    merging._rows.splits.priority[:] = 0.0
    np.testing.assert_array_equal(
        merging.splits(mt.TopDown(), both.best)[1].splits.priority, before
    )


def test_deep_trees_are_left_to_the_loop():
    """Up to this depth, the differences of all heads that tie stay well below the tolerance."""
    assert growth.MOST_LITERALS * growth.SAME < TIE_TOLERANCE / 2
    assert growth.CLEAR > 2 * TIE_TOLERANCE
    for literals, merged in ((growth.MOST_LITERALS, True), (201, False)):
        both = Both(grid(1, literals, (0.9,)), mt.TopDown(), 5)
        assert (len(both.rows.start) > 0) == merged
        both.check()
