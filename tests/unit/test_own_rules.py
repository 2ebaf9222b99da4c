"""Rules of one's own: honoured, or refused with a reason, and never taken for another."""

import math

import numpy as np
import pytest

import mictree as mt
from mictree.growers.rules import RULES, Grower, Growth
from mictree.problems import Problem
from mictree.problems.sample import SampleProblem

SIZES = [3, 3, 2, 1]
FORMULA = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes(SIZES))


class Inverse(mt.TopDown):
    """Splits where TopDown would last; says nothing about its name."""

    def priority(self, reach, gain, born):
        return -reach * gain


class Unnamed(Grower):
    """TopDown's priority, less a constant: always negative."""

    def priority(self, reach, gain, born):
        return reach * gain - 1.0


class Power(Grower):
    """Has a parameter."""

    def __init__(self, power, **settings):
        super().__init__(**settings)
        self.power = power

    def priority(self, reach, gain, born):
        return reach * gain**self.power


def every_row() -> tuple[np.ndarray, np.ndarray]:
    """The uniform distribution of the formula as data."""
    count = len(FORMULA.variables)
    rows = np.arange(2**count)[:, None] >> np.arange(count) & 1
    labels = np.zeros(len(rows), dtype=int)
    begin = 0
    for size in SIZES:
        labels |= rows[:, begin : begin + size].all(axis=1)
        begin += size
    return rows, labels


def splits_of(growth: Growth) -> list:
    names = growth.problem.variables
    return [(step.leaf, names.index(step.variable)) for step in growth.steps]


@pytest.mark.parametrize("rule", [Inverse(), Unnamed(), Power(3), Power(0.1, ties="first")])
def test_data_are_grown_as_the_formula_is(rule):
    data = SampleProblem(*every_row())
    assert splits_of(rule.grow(data, 12)) == splits_of(rule.grow(FORMULA, 12))


def test_a_derived_rule_is_not_its_parent():
    data = SampleProblem(*every_row())
    for problem in (FORMULA, data):
        assert splits_of(Inverse().grow(problem, 8)) != splits_of(mt.TopDown().grow(problem, 8))
        # a constant changes nothing, though all priorities are negative
        assert splits_of(Unnamed().grow(problem, 4)) == splits_of(mt.TopDown().grow(problem, 4))


def test_a_replaced_priority_counts(monkeypatch):
    data = SampleProblem(*every_row())
    rule = mt.TopDown()
    rule.priority = lambda reach, gain, born: -reach * gain
    assert splits_of(rule.grow(data, 8)) == splits_of(Inverse().grow(data, 8))
    assert rule != mt.TopDown()
    monkeypatch.setattr(mt.TopDown, "priority", Inverse.priority)
    assert splits_of(mt.TopDown().grow(data, 8)) == splits_of(Inverse().grow(data, 8))


@pytest.mark.parametrize("rule", [Inverse(), Unnamed(), Power(2)])
def test_sweep_refuses_it(rule):
    family = mt.families.grid(2, 2)
    with pytest.raises(ValueError, match="priority of its own") as refusal:
        mt.sweep(family, 4, [mt.TopDown(), rule])
    assert repr(rule) in str(refusal.value)
    with pytest.raises(ValueError, match="priority of its own"):
        mt.sweep.worst(family, rule, 4)


def test_compare_honours_it():
    X, y = every_row()
    rules = [Inverse(), mt.TopDown(), Power(2), Power(3)]
    result = mt.compare(rules, X, y, 4, cv=0)
    assert result.names == ("Inverse", "TopDown", "Power(power=2)", "Power(power=3)")
    for rule, name in zip(rules, result.names, strict=True):
        expected = rule.grow(SampleProblem(X, y), 4).errors
        np.testing.assert_allclose(result.training_errors[name], expected)
    assert result.training_errors["Inverse"][4] > result.training_errors["TopDown"][4] + 0.01


def test_names():
    assert {name: rule.name for name, rule in RULES.items()} == {name: name for name in RULES}
    assert Inverse.name == "inverse"
    assert Unnamed().name == "unnamed"


def test_equality_and_text():
    class Other:
        class Inverse(mt.TopDown):
            pass

    assert mt.TopDown("gini") == mt.TopDown("gini")
    assert hash(mt.TopDown("gini")) == hash(mt.TopDown("gini"))
    assert len({mt.TopDown(), mt.BestFirst(), mt.TopDown("gini"), mt.TopDown(ties="first")}) == 4
    assert Inverse() == Inverse()
    assert Inverse() != mt.TopDown()
    assert Inverse() != Other.Inverse()
    assert Power(2) == Power(2)
    assert Power(2) != Power(3)
    assert repr(Power(2)) == "Power(criterion='entropy', ties='last', power=2)"
    assert repr(mt.TopDown(seed=3)) == "TopDown(criterion='entropy', ties='last', seed=3)"


class Says(Grower):
    """A rule whose priority is what it was made with."""

    def __init__(self, *numbers):
        super().__init__()
        self.numbers = numbers

    def priority(self, reach, gain, born):
        return self.numbers[min(born // 2, len(self.numbers) - 1)]


@pytest.mark.parametrize("number", [math.nan, None, "1", np.nan, 1j])
@pytest.mark.parametrize("problem", [FORMULA, SampleProblem(*every_row())], ids=["formula", "data"])
def test_what_is_no_number_is_refused(problem: Problem, number):
    with pytest.raises(ValueError, match="a priority must be a number; Says"):
        Says(1.0, number).grow(problem, 3)


@pytest.mark.parametrize(
    "number", [math.inf, -math.inf, -1, 0, np.float32(-2), np.int64(-3), -1e300]
)
def test_any_number_will_do(number):
    rule = Says(number)
    for problem in (FORMULA, SampleProblem(*every_row())):
        growth = rule.grow(problem, 5)
        # all leaves tie, so the last one that is impure is split
        assert [step.leaf for step in growth.steps] == [
            step.leaf for step in Says(1).grow(problem, 5).steps
        ]
        assert len(growth.steps) == 5


def test_negative_priorities_tie_relative_to_their_size():
    close = Says(-1.0, -1.0 - 1e-12, -1.0)
    assert [step.leaf for step in close.grow(FORMULA, 4).steps] == [
        step.leaf for step in Says(-1).grow(FORMULA, 4).steps
    ]
