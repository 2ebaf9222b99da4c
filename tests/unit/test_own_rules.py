"""Rules of one's own: honoured, or refused with a reason, and never taken for another."""

import math
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import mictree as mt
from mictree.growers.rules import RULES, TIES, Grower, Growth
from mictree.problems import Problem
from mictree.problems.sample import SampleProblem
from tests import reference
from tests.properties.test_sample_growth import as_table, data_sets, reference_trees
from tests.strategies import formula_cases, nested, table_cases

DECIDED = [ties for ties in TIES if ties != "random"]
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


class Own(Grower):
    """Any function of one's own; the slow loops call the same one with Decimals."""

    def __init__(self, function, **settings):
        super().__init__(**settings)
        self.function = function

    def priority(self, reach, gain, born):
        return self.function(reach, gain, born)


OWN_PRIORITIES = {
    "inverse": lambda reach, gain, born: -reach * gain,
    "squared": lambda reach, gain, born: reach * gain**2,
    "light": lambda reach, gain, born: gain - reach,
    "oldest": lambda reach, gain, born: -born,
    "impatient": lambda reach, gain, born: gain * (1 + born),
}


@pytest.mark.parametrize("name", OWN_PRIORITIES)
@settings(max_examples=12)
@given(case=st.one_of(formula_cases(max_variables=5, most_distinct=2), table_cases(4)))
def test_own_rules_grow_the_trees_of_the_slow_loop(name, case):
    for ties in DECIDED:
        expected = reference.grow(case.table, OWN_PRIORITIES[name], 6, "gini", ties)
        growth = Own(OWN_PRIORITIES[name], criterion="gini", ties=ties).grow(case.problem, 6)
        assert [nested(growth.tree(size)) for size in range(7)] == expected, ties


@pytest.mark.parametrize("name", OWN_PRIORITIES)
@settings(max_examples=25)
@given(case=data_sets(), ties=st.sampled_from(DECIDED))
def test_own_rules_grow_the_plain_learners_trees(name, case, ties):
    rows, labels, weights = case
    rule = Own(OWN_PRIORITIES[name], criterion="gini", ties=ties)
    growth = rule.grow(SampleProblem(as_table(rows), labels, weights), 6)
    expected = reference_trees(rows, labels, weights, OWN_PRIORITIES[name], "gini", ties, 6)
    assert [nested(growth.tree(size)) for size in range(7)] == expected


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


def test_sweep_takes_rules_with_attributes():
    family = mt.families.grid(2, 2)
    frame = mt.sweep(family, 4, [Power(2)])
    expected = [mt.mic(Power(2), family.problem(member), 4).mic for member in range(1, 6)]
    np.testing.assert_allclose(frame["mic"].to_list(), expected, atol=1e-14)
    assert mt.sweep.worst(family, Power(2), 4, count=1)[0].growth.rule == Power(2)


def broken(rate):
    return rate * (1 - rate) / rate


class HandTopDown(Grower):
    """Written by hand."""

    def priority(self, reach, gain, born):
        return reach * gain


class HandBestFirst(Grower):
    """Written by hand."""

    def priority(self, reach, gain, born):
        return gain


class HandID3(Grower):
    """Written by hand."""

    def priority(self, reach, gain, born):
        return born


class Cautious(Grower):
    """The rule of the documentation."""

    def priority(self, reach, gain, born):
        return reach * gain**2


def own_gini(rate):
    return 2 * rate * (1 - rate)


def table_of(formula: Problem) -> mt.TableProblem:
    _, labels = every_row()
    return mt.TableProblem(labels.tolist(), variables=formula.variables)


PROBLEMS = [FORMULA, table_of(FORMULA), SampleProblem(*every_row())]
HAND = [(HandTopDown, mt.TopDown), (HandBestFirst, mt.BestFirst), (HandID3, mt.ID3)]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("hand", "built_in"), HAND)
def test_a_rule_written_by_hand_is_the_built_in(hand, built_in, ties):
    for problem in PROBLEMS:
        mine, theirs = (kind("gini", ties, 5).grow(problem, 12) for kind in (hand, built_in))
        assert mine.steps == theirs.steps
    family = mt.families.grid(3, 3, (0.3, 0.6))
    rules = [hand("entropy", ties, 5), built_in("entropy", ties, 5)]
    frame = mt.sweep(family, 10, rules)
    mine, theirs = (frame.filter(frame["rule"] == rule.name) for rule in rules)
    assert mine.drop("rule").equals(theirs.drop("rule"))
    assert mine.height == len(family)


@pytest.mark.parametrize("ties", TIES)
def test_one_rule_grows_alike_on_every_problem(ties):
    rule = Cautious(own_gini, ties, 9)
    first, *others = [splits_of(rule.grow(problem, 12)) for problem in PROBLEMS]
    assert all(other == first for other in others)
    terms = [[Fraction(1, 2)] * size for size in sorted(SIZES)]
    family = mt.families.grid(4, 3)
    frame = mt.sweep(family, 12, [rule])
    member = family.number(terms)
    expected = mt.mic(rule, family.problem(member), 12).mic
    assert frame["mic"][member - 1] == pytest.approx(expected, abs=1e-14)
    assert frame["rule"][0] == "cautious"
    assert frame["criterion"][0] == "own_gini"


@settings(max_examples=30)
@given(formula_cases(max_variables=5))
def test_own_criterion_is_the_built_in_one(case):
    """Formulas with few ties, whose gains are far above the noise of a difference."""
    for problem in (case.problem,):
        mine = mt.TopDown(own_gini).grow(problem, 6)
        theirs = mt.TopDown("gini").grow(problem, 6)
        assume(min((step.weighted_gain for step in theirs.steps), default=1) > 1e-5)
        np.testing.assert_allclose(
            [step.gain for step in mine.steps], [step.gain for step in theirs.steps], rtol=1e-9
        )
        assert [step.leaf for step in mine.steps] == [step.leaf for step in theirs.steps]


def test_own_criterion_with_several_classes():
    random = np.random.default_rng(3)
    X, y = random.integers(0, 2, (300, 6)), random.integers(0, 4, 300)
    y = np.where(X[:, 0] & X[:, 1], 2, y)
    weights = random.integers(1, 5, 300)
    problem = SampleProblem(X, y, weights)
    mine, theirs = (mt.TopDown(c).grow(problem, 15) for c in (own_gini, "gini"))
    assert splits_of(mine) == splits_of(theirs)
    tree = theirs.tree(9)
    assert tree.impurity(problem, own_gini) == pytest.approx(tree.impurity(problem, "gini"))


class CautiousClassifier(mt.TopDownClassifier):
    """An estimator with a rule of one's own."""

    rule = Cautious


def test_estimators_take_them():
    X, y = every_row()
    model = mt.TopDownClassifier(max_size=9, criterion=own_gini)
    assert clone(model).get_params()["criterion"] is own_gini
    model = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert splits_of(model.growth_) == splits_of(mt.TopDown(own_gini).grow(SampleProblem(X, y), 9))
    own = CautiousClassifier(max_size=9).fit(X, y)
    assert splits_of(own.growth_) == splits_of(Cautious().grow(SampleProblem(X, y), 9))


def test_names_are_taken_everywhere():
    assert mt.mic("bestfirst", FORMULA, 5).mic == mt.mic(mt.BestFirst(), FORMULA, 5).mic
    frame = mt.sweep(mt.families.grid(2, 2), 4, ["topdown", "id3"])
    assert frame["rule"].unique(maintain_order=True).to_list() == ["topdown", "id3"]
    assert mt.compare(["topdown"], *every_row(), 2, cv=0).names == ("topdown",)
    for call in (
        lambda: mt.mic("greedy", FORMULA, 5),
        lambda: mt.sweep(mt.families.grid(2, 2), 4, ["greedy"]),
    ):
        with pytest.raises(ValueError, match="topdown, bestfirst, id3"):
            call()


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_an_impurity_that_is_none_is_refused(value):
    def bad(rate):
        return value if rate > 0.4 else rate

    rule = mt.TopDown(bad)
    for problem in PROBLEMS:
        with pytest.raises(ValueError, match=f"an impurity must be .* bad gave {value}"):
            rule.grow(problem, 4)
    with pytest.raises(ValueError, match=f"an impurity must be .* bad gave {value}"):
        mt.sweep(mt.families.grid(2, 2), 4, [rule])


def test_errors_of_own_functions_reach_the_user():
    class Fails(Grower):
        def priority(self, reach, gain, born):
            raise KeyError("mine")

    for problem in PROBLEMS:
        with pytest.raises(KeyError, match="mine"):
            Fails().grow(problem, 3)
        with pytest.raises(ZeroDivisionError):
            mt.TopDown(broken).grow(problem, 9)


FACTOR = 1.0
TABLE = tuple(float(number * 7 % 10) for number in range(10))


class ReadsGlobal(Grower):
    def priority(self, reach, gain, born):
        return sum([FACTOR * born for _ in range(2)]) + gain


class RunsOut(Grower):
    def priority(self, reach, gain, born):
        return TABLE[born]


class Wraps(Grower):
    def priority(self, reach, gain, born):
        return -(3**born)


class Defaults(Grower):
    def priority(self, reach, gain, born, factor=2.0, *, other=1.0):
        return factor * born + other * gain


class OwnGrow(mt.TopDown):
    def grow(self, problem, max_size):
        return mt.BestFirst().grow(problem, max_size)


def test_own_functions_compute_what_python_computes(monkeypatch):
    """Compiled they would keep old globals, lose errors and wrap integers around."""
    family = mt.families.grid(2, 3)

    def swept(rule):
        return mt.sweep(family, 40, [rule])["mic"].to_list()

    def one_by_one(rule):
        members = range(1, len(family) + 1)
        return [mt.mic(rule, family.problem(member), 40).mic for member in members]

    for factor in (1.0, -1.0):
        monkeypatch.setattr(sys.modules[__name__], "FACTOR", factor)
        curves = [ReadsGlobal().grow(problem, 12).errors for problem in PROBLEMS]
        for curve in curves[1:]:
            np.testing.assert_allclose(curve, curves[0], atol=1e-12)
        np.testing.assert_allclose(swept(ReadsGlobal()), one_by_one(ReadsGlobal()), atol=1e-12)
    for rule in (Wraps(), Defaults()):
        np.testing.assert_allclose(swept(rule), one_by_one(rule), atol=1e-12)
        curves = [rule.grow(problem, 12).errors for problem in PROBLEMS]
        for curve in curves[1:]:
            np.testing.assert_allclose(curve, curves[0], atol=1e-12)
    for problem in PROBLEMS:
        with pytest.raises(IndexError):
            RunsOut().grow(problem, 12)
    with pytest.raises(IndexError):
        swept(RunsOut())
    with pytest.raises(ValueError, match="has a grow of its own"):
        swept(OwnGrow())


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


class Enormous(mt.TopDown):
    """Gives integers that no float holds."""

    def priority(self, reach, gain, born):
        return 10**400


@pytest.mark.parametrize("problem", [FORMULA, SampleProblem([[0], [1]], [0, 1])])
def test_numbers_that_no_float_holds_are_refused(problem):
    with pytest.raises(ValueError, match="a priority must fit a float; Enormous"):
        Enormous().grow(problem, 2)
    with pytest.raises(ValueError, match="an impurity must be a finite number"):
        mt.TopDown(lambda rate: 10**400).grow(problem, 2)


def test_a_criterion_takes_one_number():
    def two(rate, other):
        return rate * other

    def scaled(rate, factor=2.0):
        return factor * rate * (1 - rate)

    rule = r"a criterion must be a function of one number.*; two takes \(rate, other\)"
    with pytest.raises(ValueError, match=rule):
        mt.TopDown(two)
    with pytest.raises(ValueError, match=rule):
        mt.TopDownClassifier(criterion=two).fit([[0], [1]], [0, 1])
    own, built_in = (mt.TopDown(each).grow(FORMULA, 5).tree(5) for each in (scaled, "gini"))
    assert own == built_in
