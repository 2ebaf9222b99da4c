"""Every check notices when something that it uses is false.

For each statement, corruptions replace one name in the module of its check, and the verdict that
the check then gives. A new statement without a corruption fails the test.
"""

import dataclasses
import functools
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import mictree as mt
from mictree.optimal import optimal_errors
from mictree.optimal.solve import staircase_tree
from mictree.statements import (
    MODULES,
    STATEMENTS,
    conjunctions,
    gains,
    inequalities,
    readings,
    recurrences,
    two_terms,
)
from mictree.statements.checks import Counterexample

HOLDS, FAILS, UNCLEAR = "holds", "fails", "unclear as printed"
original_parts = gains.numerical_parts
SMALL = Fraction(1, 1000)


def shifted_errors(*args, **options):
    """Optimal errors that are all too large."""
    return [error + SMALL for error in optimal_errors(*args, **options)]


class Worst(mt.TopDown):
    """Splits with the wrong impurity."""

    def __init__(self, ties="last"):
        super().__init__("minority", ties)


class AlwaysFirst(mt.TopDown):
    """Ignores the tie rule it is given."""

    def __init__(self, ties="last"):
        super().__init__(ties="first")


class AlwaysLast(mt.TopDown):
    """Ignores the tie rule it is given."""

    def __init__(self, ties="last"):
        super().__init__(ties="last")


def one_smaller(problem, size):
    """The staircase tree of another size."""
    return staircase_tree(problem, max(size - 1, 0))


def gini(rate):
    """An impurity other than entropy, where lemmas take balls at rational points."""
    return arb(4) * arb(float(rate)) * (1 - arb(float(rate)))


def negated(function):
    return lambda *args: -function(*args)


def refuse(*args):
    """Certifies nothing."""
    raise Counterexample("undecided")


def with_part_two(k, m):
    """Parts of Lemma C.6 among which the second has lost its condition."""
    return {2: arb(1)} | original_parts(k, m)


def constant(value):
    return lambda *args: value


def nothing(*args):
    """A gain or slope of 0."""
    return arb(0)


def twisted(rate):
    """A minority that is no minority."""
    return rate


WRONG_SAMPLE = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # a product distribution

# by statement: the module, the name in it, what replaces it, and the verdict that follows
CORRUPTIONS = {
    "Section 3": [(inequalities, "slope", nothing, FAILS)],
    "Section 3 (entropy)": [
        (readings, "entropy_at", gini, FAILS),
        (readings, "printed_entropy", readings.entropy_at, HOLDS),
    ],
    "Section 3 (size)": [(readings, "staircase_tree", one_smaller, FAILS)],
    "Theorem 4.3 (reduction)": [
        (recurrences, "optimal_errors", shifted_errors, FAILS),
        (
            recurrences,
            "minimal_consistent_tree",
            lambda X, y: mt.Tree.build([f"x{i}" for i in range(X.shape[1])], 0),
            FAILS,
        ),
    ],
    "Theorem 4.3 (setting)": [
        (recurrences, "optimal_errors", shifted_errors, FAILS),
        (recurrences, "AGREEING", WRONG_SAMPLE, HOLDS),
    ],
    "Theorem 5.1": [
        (conjunctions, "optimal_errors", shifted_errors, FAILS),
        (conjunctions, "RULES", {"worst": Worst}, FAILS),
    ],
    "Section 5.1": [
        (conjunctions, "cases", lambda quick: [(Fraction(1, 2), Fraction(1, 3))], HOLDS),
        (conjunctions, "combinations", lambda some, size: [(SMALL,) * 9], FAILS),
    ],
    "Lemma 5.2 (1)": [
        (inequalities, "entropy_slope", negated(inequalities.entropy_slope), FAILS),
        (inequalities, "entropy_ratio_gap", negated(inequalities.entropy_ratio_gap), FAILS),
    ],
    "Lemma 5.2 (2)": [
        (inequalities, "minority", lambda rate: rate * rate, FAILS),
        (inequalities, "same_polynomial", constant(False), FAILS),
    ],
    "Lemma 5.3": [(conjunctions, "right_path", lambda some, kind: {kind: ()}, FAILS)],
    "Lemma 5.4": [
        (conjunctions, "minority", twisted, FAILS),
        (conjunctions, "RULES", {"worst": Worst}, FAILS),
    ],
    "Lemma 5.4 (footnote)": [
        (conjunctions, "TopDown", AlwaysFirst, HOLDS),
        (conjunctions, "TopDown", AlwaysLast, FAILS),
        (conjunctions, "minority", twisted, FAILS),
    ],
    "Lemma 5.5": [(conjunctions, "expected_errors", lambda biases: [Fraction(1)] * 2, FAILS)],
    "Section 6.1 (Equation 3)": [(recurrences, "minority", twisted, FAILS)],
    "Theorem 6.1": [
        (two_terms, "optimal_errors", shifted_errors, FAILS),
        (two_terms, "staircase_tree", one_smaller, FAILS),
    ],
    "Theorem 6.1 (range)": [
        (two_terms, "optimal_errors", shifted_errors, FAILS),
        (two_terms, "staircase_tree", one_smaller, FAILS),
        (two_terms, "perfect_size", lambda shorter, longer: -1, HOLDS),  # stops before the end
    ],
    "Theorem 6.1 (l = m)": [
        (two_terms, "TopDown", AlwaysFirst, HOLDS),
        (two_terms, "TopDown", AlwaysLast, FAILS),
        (two_terms, "optimal_errors", shifted_errors, FAILS),
    ],
    "Section 6.1 (C(v))": [
        (readings, "rate", constant(Fraction(1, 2)), FAILS),
    ],
    "Section 6.1 (C_2)": [
        (readings, "_is_path", constant(True), HOLDS),
        (readings, "_in_class_two", lambda tree, low: tree == 0, FAILS),
    ],
    "Section 6.1 (B_t)": [
        (readings, "_staircases", constant([(0,), (1,)]), FAILS),
        (readings, "topdown", lambda shorter, longer: mt.BestFirst().grow(
            two_terms.two_terms(2, 3), 8), FAILS),
    ],
    "Corollary 6.2": [(two_terms, "optimal_errors", shifted_errors, FAILS)],
    "Proposition 6.3": [
        (two_terms, "staircase_tree", one_smaller, FAILS),
        (two_terms, "TopDown", AlwaysLast, FAILS),
    ],
    "Proposition 6.3 (cited)": [
        (gains, "lead", negated(gains.lead), FAILS),
        (gains, "lead_at", negated(gains.lead_at), FAILS),
        (gains, "entropy_at", constant(arb(0)), FAILS),
    ],
    "Proposition 6.3 (part 2)": [
        (gains, "numerical_parts", with_part_two, HOLDS),
        (gains, "numerical_parts", lambda k, m: dict.fromkeys(range(1, 5), arb(-1)), FAILS),
        (gains, "entropy_at", gini, FAILS),
    ],
    "Proposition 6.4": [
        (two_terms, "staircase_error", constant(Fraction(0)), FAILS),
        (two_terms, "optimal_errors", shifted_errors, FAILS),
    ],
    "Section 7.1": [
        (recurrences, "optimal_errors", shifted_errors, FAILS),
        (recurrences, "uniform_recurrence", constant(Fraction(0)), FAILS),
        (recurrences, "enumerated", constant([]), FAILS),
    ],
    "Section 7.1 (count)": [
        (recurrences, "count_trees", constant(10**20), HOLDS),
        (recurrences, "count_trees", constant(0), FAILS),
        (recurrences, "count_trees", lambda variables, size: 4**size, FAILS),
    ],
    "Section 7.1 (cost)": [
        (recurrences, "_table_and_steps", constant((1, 1)), HOLDS),
        (recurrences, "_table_and_steps", constant((10**9, 10**9)), FAILS),
    ],
    "Section 7.2 (Equation 4)": [
        (recurrences, "optimal_errors", shifted_errors, FAILS),
        (recurrences, "two_bias_recurrence", constant(Fraction(0)), FAILS),
    ],
    "Lemma C.1": [(inequalities, "one_rate", negated(inequalities.one_rate), FAILS)],
    "Lemma C.2": [
        (inequalities, "entropy_at", gini, FAILS),
        (inequalities, "bent_rate", negated(inequalities.bent_rate), FAILS),
    ],
    "Lemma C.2 (proof)": [
        (gains, "power", constant(arb(1)), HOLDS),
        (gains, "power", lambda base, exponent: -exponent, UNCLEAR),
        (gains, "certify_positive", refuse, FAILS),
    ],
    "Lemma C.3": [(inequalities, "two_rates", negated(inequalities.two_rates), FAILS)],
    "Lemma C.4": [
        (inequalities, "four_rates", negated(inequalities.four_rates), FAILS),
        (inequalities, "bend", nothing, FAILS),
        (inequalities, "same_polynomial", constant(False), FAILS),
    ],
    "Lemma C.5": [(inequalities, "entropy", negated(inequalities.entropy), FAILS)],
    "Lemma C.6": [(gains, "entropy_at", gini, FAILS)],
    "Lemma C.6 (wording)": [
        (gains, "entropy_at", gini, FAILS),
        (gains, "HALF", Fraction(1, 3), FAILS),
    ],
    "Lemma C.7": [(two_terms, "right_path", lambda some, kind: {kind: ()}, FAILS)],
    "Lemma C.8": [
        (readings, "error_reduction", constant(Fraction(1, 7)), FAILS),
        (readings, "minority", twisted, FAILS),
    ],
    "Lemma C.8 (gaps)": [
        (readings, "error_reduction", constant(Fraction(1, 7)), FAILS),
        (readings, "printed_reduction", readings.error_reduction, HOLDS),
    ],
    "Lemma C.9": [(two_terms, "staircase_error", constant(Fraction(0)), FAILS)],
    "Lemma C.9 (proof)": [
        (readings, "staircase_error", constant(Fraction(0)), FAILS),
        (
            readings,
            "staircase_error",
            lambda x, y, _: readings.minority(readings.rate(x, y)) - Fraction(1, 2**x),
            FAILS,
        ),
    ],
    "Supplement D": [
        (two_terms, "BestFirst", mt.TopDown, FAILS),
        (two_terms, "optimal_errors", shifted_errors, FAILS),
    ],
    "Supplement E": [
        (recurrences, "enumerated", lambda problem, size: len(problem.variables), FAILS)
    ],
    "Supplement E (start)": [
        (recurrences, "optimal_errors", shifted_errors, FAILS),
        (
            recurrences,
            "printed_recurrence",
            lambda terms, size, skipping: recurrences.uniform_recurrence(terms, size),
            HOLDS,
        ),
    ],
}  # fmt: skip


def forget():
    """Empty the caches of the modules of checks, which outlive a corruption."""
    for module in MODULES:
        for value in vars(module).values():
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


@pytest.fixture(autouse=True)
def _no_caches():
    forget()
    yield
    forget()


def corruptions():
    for number, each in CORRUPTIONS.items():
        for module, name, replacement, verdict in each:
            yield pytest.param(number, module, name, replacement, verdict, id=f"{number}, {name}")


def test_every_statement_has_a_corruption():
    assert set(CORRUPTIONS) == {statement.number for statement in STATEMENTS}


def given(reading, original, replacement):
    """A reading whose check is given the replacement where it was given the original."""
    if not isinstance(reading.function, functools.partial):
        return reading
    values = [replacement if each is original else each for each in reading.function.args]
    return dataclasses.replace(reading, function=functools.partial(reading.function.func, *values))


@pytest.mark.parametrize(("number", "module", "name", "replacement", "verdict"), [*corruptions()])
def test_a_corruption_is_noticed(monkeypatch, number, module, name, replacement, verdict):
    (statement,) = (each for each in STATEMENTS if each.number == number)
    changed = tuple(given(each, getattr(module, name), replacement) for each in statement.readings)
    monkeypatch.setattr(module, name, replacement)
    check = dataclasses.replace(statement, readings=changed).check(quick=True)
    assert check.verdict == verdict, check.detail
    assert not check.as_expected
