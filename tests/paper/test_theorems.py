"""Every statement of the paper has its verdict, and the checks are able to fail."""

import inspect
import json
import random
import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, fmpq

import mictree as mt
from mictree._support.progress import Progress
from mictree.statements import STATEMENTS, gains, inequalities, readings, two_terms, verify
from mictree.statements.checks import (
    Check,
    Counterexample,
    Covered,
    Enumeration,
    Reading,
    Statement,
    any_tree,
    as_table,
    require,
    right_path,
    sentence,
    sources_of,
)
from mictree.statements.later import EVERYTHING
from tests import reference

HALF = Fraction(1, 2)
KNOWN_FALSE = {"Section 7.1 (count)", "Lemma C.9 (proof)"}
NUMBERED = """
    Theorem 4.3 (reduction), Theorem 5.1, Lemma 5.2 (1), Lemma 5.2 (2), Lemma 5.3, Lemma 5.4,
    Lemma 5.5, Theorem 6.1, Corollary 6.2, Proposition 6.3, Proposition 6.4, Lemma C.1, Lemma C.2,
    Lemma C.3, Lemma C.4, Lemma C.5, Lemma C.6, Lemma C.7, Lemma C.8, Lemma C.9
"""


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.number)
def test_every_statement_has_the_verdict_it_should_have(statement):
    check = statement.check(quick=True)
    assert check.as_expected, check.surprises
    assert check.verdict == check.expected == statement.expected
    assert check.statement
    assert check.range_covered
    if check.verdict != "holds":
        assert check.detail


@pytest.mark.parametrize(
    "statement",
    [each for each in STATEMENTS if each.expected != "holds"],
    ids=lambda statement: statement.number,
)
def test_counterexamples_are_the_known_ones_in_the_whole_range(statement):
    check = statement.check()
    assert check.as_expected, check.surprises
    assert Check.from_dict(json.loads(json.dumps(check.to_dict()))) == check


def test_every_numbered_statement_is_checked_once():
    numbers = [statement.number for statement in STATEMENTS]
    assert len(set(numbers)) == len(numbers)
    assert {number.strip() for number in NUMBERED.split(",")} <= set(numbers)
    assert {each.number for each in STATEMENTS if each.expected == "fails"} == KNOWN_FALSE


def test_numbered_statements_hold():
    wanted = {number.strip() for number in NUMBERED.split(",")}
    assert all(each.expected == "holds" for each in STATEMENTS if each.number in wanted)


def test_the_documentation_lists_every_statement_under_its_verdict():
    text = (Path(__file__).parents[2] / "docs" / "theorems.md").read_text(encoding="utf-8")
    holds, false, unclear = re.split(r"## (?:False|Unclear) as printed", text)
    part = {"holds": holds, "fails": false, "unclear as printed": unclear}
    for statement in STATEMENTS:
        for reading in statement.readings:
            assert reading.name in part[statement.expected]
            assert reading.counterexample in part[statement.expected]
        assert statement.number in part[statement.expected]
        assert statement.text.replace("|", r"\|") in text or statement.text in text


def test_the_source_of_every_check_is_what_runs():
    for statement in EVERYTHING:
        sources = sources_of(statement)
        assert sources
        for source in sources:
            module, _, name = source.place.rpartition(".")
            assert f"def {name}(" in source.code
            lines = inspect.getsource(sys.modules[module]).splitlines()
            written = source.code.splitlines()
            assert lines[source.line - 1 : source.line - 1 + len(written)] == written


def test_the_documentation_links_every_statement_to_its_check():
    text = (Path(__file__).parents[2] / "docs" / "theorems.md").read_text(encoding="utf-8")
    for statement in EVERYTHING:
        anchor = re.sub(r"[^\w -]", "", statement.number.lower()).replace(" ", "-")
        assert f"[{statement.number}](checks.md#{anchor})" in text


# --- a check can fail ---


def wrong_lemma(quick):
    for k1 in range(1, 9):
        require(readings.error_reduction(k1, 2) == 0, f"k1={k1}, k2=2")
    return Covered("k1 <= 8")


def plain(function, counterexample=""):
    return Statement("Lemma 0", "C(v) = 0", (Reading("", function, counterexample),))


def holding(quick):
    return Covered("all")


def test_a_wrong_lemma_fails_with_its_counterexample():
    [check] = verify(statements=[plain(wrong_lemma)])
    assert (check.verdict, check.detail) == ("fails", "Counterexample: k1=1, k2=2.")
    assert check.surprises == ("expected no counterexample",)


@pytest.mark.parametrize(
    ("known", "as_expected"), [("k1=1, k2=2", True), ("k1=2, k2=2", False), ("k1=1, k2=3", False)]
)
def test_only_the_known_counterexample_is_expected(known, as_expected):
    check = plain(wrong_lemma, known).check()
    assert check.verdict == check.expected == "fails"
    assert check.as_expected == as_expected
    assert check.surprises == (() if as_expected else (f"expected {known}",))


def test_a_false_statement_that_holds_is_not_as_expected():
    check = plain(holding, "k1=1, k2=2").check()
    assert (check.verdict, check.expected) == ("holds", "fails")
    assert check.surprises == ("expected k1=1, k2=2",)


@pytest.mark.parametrize(
    ("functions", "verdict"),
    [
        ((wrong_lemma, holding), "unclear as printed"),
        ((holding, wrong_lemma), "unclear as printed"),
        ((holding, holding), "holds"),
        ((wrong_lemma, wrong_lemma), "fails"),
    ],
)
def test_unclear_is_a_statement_of_which_some_readings_hold(functions, verdict):
    known = ("k1=1, k2=2", "")
    readings = tuple(map(Reading, ("strict", "loose"), functions, known))
    check = Statement("Lemma 0", "C(v) = 0", readings).check()
    assert check.expected == "unclear as printed"
    assert check.verdict == verdict
    assert check.as_expected == (functions == (wrong_lemma, holding))


def test_a_statement_without_a_reading_has_no_verdict():
    with pytest.raises(ValueError, match="at least one reading"):
        _ = Statement("Lemma 0", "", ()).check().verdict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exact. So", "Exact. So."),
        ("all pairs.", "All pairs."),
        ("x1 & x2", "x1 & x2."),
        ("a = 2^-9", "a = 2^-9."),
    ],
)
def test_sentences_begin_with_a_capital_unless_with_a_symbol(text, expected):
    assert sentence(text) == expected


def test_progress_is_reported_before_each_check():
    told = []
    statements = [Statement(n, "", (Reading("", holding),)) for n in ("A", "B")]
    verify(progress=told.append, statements=statements)
    assert told == [Progress("statements", 0.0, "A"), Progress("statements", 0.5, "B")]


def test_a_bug_in_a_check_is_not_a_verdict():
    with pytest.raises(ZeroDivisionError):
        plain(lambda quick: Covered(str(1 // 0))).check()


@pytest.mark.parametrize(
    ("function", "box"),
    [
        (lambda a: inequalities.one_rate(a) - arb(0.1), [(0.0, 0.2)]),  # C.1 with a larger bound
        (lambda a: -inequalities.one_rate(a), [(0.0, 0.2)]),
        (lambda a: inequalities.bent_rate(a) - arb(0.11), [(0.0, 0.25)]),
        (inequalities.two_rates, [(0.0, 1.0), (0.0, 1.0)]),  # C.3 without b >= 2a
        (lambda s, w: -inequalities.four_rates(s, w), [(1 / 6, 15 / 64), (0.0, 1.0)]),
        (inequalities.entropy_ratio_gap, [(0.5, 1.75), (0.0, 0.5)]),  # 5.2 with x1 > x2
        (lambda s, x: -gains.lead(s, x), [(0.0, 0.5), (0.0, 0.5)]),
        (lambda a: inequalities.entropy(a) - arb(1.01) * a, [(0.5, 1.0)]),
    ],
)
def test_a_wrong_inequality_is_refuted_at_a_point(function, box):
    with pytest.raises(Counterexample, match="not positive at"):
        inequalities.certify_positive(function, box)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: (a - arb(1) / 3) ** 2,  # 0 at 1/3, between all midpoints
        lambda a: a.log() * 0 + arb(0) / 0,  # no value at all
    ],
)
def test_what_cannot_be_decided_is_not_certified(function):
    with pytest.raises(Counterexample, match="undecided"):
        inequalities.certify_positive(function, [(0.0, 1.0)], max_boxes=500)


@pytest.mark.parametrize("value", [-0.25, 1.25])
def test_what_is_no_probability_is_refused(value):
    with pytest.raises(ValueError, match=r"a probability must lie in \[0, 1\]"):
        inequalities.entropy(arb(value))


def test_a_point_that_is_not_positive_is_refused():
    with pytest.raises(Counterexample, match="zero"):
        inequalities.require_positive(lambda: {"zero": inequalities.entropy_at(Fraction(1))})


def test_polynomials_that_differ_are_told_apart():
    assert inequalities.same_polynomial(
        lambda a, b: (a + b) ** 2, lambda a, b: a * a + 2 * a * b + b * b, 2, 2
    )
    assert not inequalities.same_polynomial(
        lambda a, b: (a + b) ** 2, lambda a, b: a * a + b * b, 2, 2
    )


# --- balls contain what they should ---


@pytest.mark.parametrize(
    "function", [inequalities.slope, inequalities.bend, inequalities.entropy, inequalities.x_log2_x]
)
def test_a_function_of_a_ball_contains_its_values(function):
    generator = random.Random(1)
    for _ in range(200):
        low, high = sorted(generator.choice([0.0, 1.0, generator.random()]) for _ in range(2))
        over_box = function(inequalities.ball(low, high))
        for share in (0, generator.random(), 1):
            inside = min(max(low + share * (high - low), low), high)
            assert over_box.overlaps(function(arb(inside))), (low, inside, high)


def test_entropy_agrees_with_the_package_and_is_exact_at_the_ends():
    for number in range(65):
        rate = Fraction(number, 64)
        value = float(mt.impurity.entropy(float(rate)))
        assert float(inequalities.entropy_at(rate).mid()) == pytest.approx(value, abs=1e-14)
        assert inequalities.entropy(arb(fmpq(number, 64))).overlaps(inequalities.entropy_at(rate))
    assert inequalities.entropy_at(Fraction(0)) == inequalities.entropy_at(Fraction(1)) == 0


def h(rate):
    return inequalities.entropy_at(rate)


def same(one, other):
    return one.overlaps(other) and float(one.rad()) < 1e-10 and float(other.rad()) < 1e-10


@pytest.mark.parametrize("seed", range(20))
def test_scaled_forms_equal_the_printed_expressions(seed):
    generator = random.Random(seed)
    a, b = sorted(Fraction(generator.randint(1, 198), 1000) for _ in range(2))
    one = 2 * h(3 * a) - 3 * h(a) + h(2 * a) - h(5 * a)
    assert same(inequalities.one_rate(inequalities.as_ball(a)) * inequalities.as_ball(a), one)
    bent = inequalities.bent_rate_at(a)
    assert same(inequalities.bent_rate(inequalities.as_ball(a)) * inequalities.as_ball(a), bent)
    two = 2 * h(a + b) - 3 * h(a) + h(2 * a) - h(a + 2 * b)
    scaled = inequalities.two_rates(
        inequalities.as_ball(a / b), inequalities.as_ball(a + 2 * b)
    ) * inequalities.as_ball(b)
    assert same(scaled, two)
    total = a + 4 * b
    four = h(a + 2 * b) - h(a + b) - h(total) / 4 + h(a) / 4
    scaled = inequalities.four_rates(
        inequalities.as_ball(b / total), inequalities.as_ball(total)
    ) * inequalities.as_ball(total)
    assert same(scaled, four)
    border = h(2 * b) - h(b) - h(4 * b) / 4
    scaled = inequalities.one_term_rates(inequalities.as_ball(4 * b)) * inequalities.as_ball(
        16 * b * b
    )
    assert same(scaled, border)
    gap = h(a) / inequalities.as_ball(a) - h(b) / inequalities.as_ball(b)
    assert same(
        inequalities.entropy_ratio_gap(inequalities.as_ball(a / b), inequalities.as_ball(b)), gap
    )
    slope = h(a) / inequalities.as_ball(a) - inequalities.log2(
        inequalities.as_ball((1 - a) / a)
    )  # H(u)/u - H'(u)
    assert same(inequalities.entropy_slope(inequalities.as_ball(a)), slope)
    x, y = b, a
    lead = h(x) + gains.either(x, 2 * y) - h(y) - gains.either(2 * x, y)
    assert same(
        gains.lead(inequalities.as_ball(y / x), inequalities.as_ball(x)) * inequalities.as_ball(x),
        lead,
    )


# --- enumeration against the slow twin ---


@pytest.mark.parametrize(
    ("formula", "biases"),
    [
        ("a & b | c", [HALF, HALF, HALF]),
        ("a & b | c", [Fraction(3, 10), Fraction(7, 10), Fraction(2, 5)]),
        ("a | b | c", [Fraction(1, 5), Fraction(1, 5), Fraction(4, 5)]),
        ("~a & b", [Fraction(1, 3), Fraction(3, 4)]),
    ],
)
def test_enumeration_matches_the_slow_twin(formula, biases):
    problem = mt.FormulaProblem(formula, biases)
    table = as_table(problem)
    twin = reference.Table(table.variables, tuple(map(int, table.truth_table)), table.probabilities)
    trees = Enumeration(table, any_tree(table))
    assert trees.least_errors("any", 5) == reference.least_errors(twin, 5)
    for size in range(4):
        errors = {
            reference.tree_error(twin, reference.label_leaves(twin, structure))
            for structure in reference.all_trees(twin.names, size)
        }
        assert {Fraction(e, trees.denominator) for e in trees.errors("any", size)} == errors


def test_a_class_without_a_tree_of_some_size_keeps_the_smaller_ones():
    table = as_table(mt.FormulaProblem("a & b"))
    trees = Enumeration(table, right_path([0], "path"))
    assert trees.errors("path", 2) == frozenset()
    assert trees.least_errors("path", 2) == [Fraction(1, 4)] * 3


@pytest.mark.parametrize(("shorter", "longer"), [(1, 1), (1, 4), (2, 2), (2, 3), (3, 4)])
def test_staircase_errors_are_those_of_the_trees(shorter, longer):
    problem = two_terms.two_terms(shorter, longer)
    for size in range(two_terms.perfect_size(shorter, longer) + 1):
        error = mt.staircase_tree(problem, size).error(problem, exact=True)
        assert two_terms.staircase_error(shorter, longer, size) == error


@pytest.mark.parametrize(("k1", "k2"), [(k1, k2) for k1 in range(1, 5) for k2 in range(5)])
def test_error_reductions_are_those_of_a_split(k1, k2):
    problem = two_terms.two_terms(k1, k2)
    tree = mt.Tree.build(problem.variables, ("x1", 0, 0))
    assert tree.error_reductions(problem, exact=True) == {0: readings.error_reduction(k1, k2)}
