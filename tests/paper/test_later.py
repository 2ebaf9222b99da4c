"""The statements of other papers: their verdicts, their counterexamples, and that checks can fail.

Sizes, heights and errors of small functions are compared with slow twins that assume nothing about
the order of gains.
"""

import functools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.families.table_growth import CriterionGains
from mictree.statements import STATEMENTS, biased, checks, later
from mictree.statements.checks import Check, Counterexample
from mictree.statements.later import EVERYTHING, LATER
from tests import reference
from tests.reference.functions import sizes as reference_sizes
from tests.reference.splits import is_tied

FAILS, HOLDS, UNCLEAR = "fails", "holds", "unclear as printed"
KNOWN_FALSE = {
    "Fiat and Pechyony (conjecture)",
    "Tan, Klusowski and Balasubramanian (if)",
    "Babbar and others (two levels)",
    "Brutzkus, Daniely and Malach (conjecture)",
    "Criteria (any biases)",
    "Merged staircases (least trees)",
}


@pytest.mark.parametrize("statement", LATER, ids=lambda statement: statement.number)
@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_every_statement_has_the_verdict_it_should_have(statement, quick):
    check = statement.check(quick)
    assert check.as_expected, check.surprises
    assert check.verdict == statement.expected
    assert check.range_covered
    assert Check.from_dict(json.loads(json.dumps(check.to_dict()))) == check


def test_all_are_listed_once_after_the_papers_own():
    numbers = [statement.number for statement in EVERYTHING]
    assert len(set(numbers)) == len(numbers)
    assert EVERYTHING[: len(STATEMENTS)] == STATEMENTS
    assert {each.number for each in LATER if each.expected == "fails"} == KNOWN_FALSE
    text = (Path(__file__).parents[2] / "docs" / "theorems.md").read_text(encoding="utf-8")
    part = text.partition("## Other papers")[2]
    for statement in LATER:
        assert f"**[{statement.number}](" in part
        assert statement.text in part
        for reading in statement.readings:
            assert reading.counterexample in part


# --- known counterexamples, by the slow twin ---


def labels_of(text, count):
    return tuple(int(text, 16) >> row & 1 for row in range(2**count))


@pytest.mark.parametrize(
    ("count", "text", "expected"),
    [(5, "0xeae8e8c0", (11, 11, 12)), (6, "0xeaa8e880e880c000", (22, 23, 23))],
)
def test_greedy_trees_that_are_not_least(count, text, expected):
    found = reference_sizes(labels_of(text, count))
    assert (found[0], found[1]) == expected[:2]
    assert found[2] == expected[2] or count == 6


def table_of(labels):
    count = len(labels).bit_length() - 1
    return reference.functions.product_table(labels, (Fraction(1, 2),) * count)


def best_gains(labels):
    table = table_of(labels)
    gains = [reference.gain(table, (), name) for name in table.names]
    return [place for place, each in enumerate(gains) if is_tied(each, max(gains))], max(gains)


def halves_of(labels, variable):
    return [tuple(y for row, y in enumerate(labels) if row >> variable & 1 == v) for v in (0, 1)]


def slow_ends(labels):
    """Whether some greedy tree without splits of gain 0 has no error."""
    if len(set(labels)) == 1:
        return True
    chosen, most = best_gains(labels)
    return most > 1e-12 and any(all(map(slow_ends, halves_of(labels, each))) for each in chosen)


def slow_heights(labels):
    if len(set(labels)) == 1:
        return 0, 0
    chosen, _ = best_gains(labels)
    below = [[slow_heights(half) for half in halves_of(labels, each)] for each in chosen]
    return (
        1 + min(max(low[0], high[0]) for low, high in below),
        1 + max(max(low[1], high[1]) for low, high in below),
    )


def slow_late_errors(labels, depth, greedy):
    wrong = min(sum(labels), len(labels) - sum(labels))
    if not depth or not wrong:
        return wrong
    every = range(len(labels).bit_length() - 1)
    chosen = best_gains(labels)[0] if depth <= greedy else every
    found = [
        sum(slow_late_errors(half, depth - 1, greedy) for half in halves_of(labels, each))
        for each in chosen
    ]
    return max(found) if depth <= greedy else min(found)


TABLES = st.sampled_from([4, 8, 16]).flatmap(
    lambda rows: st.tuples(*[st.integers(0, 1)] * rows)
)  # fmt: skip


@settings(max_examples=30)
@given(labels=TABLES, depth=st.integers(0, 3), greedy=st.integers(0, 3))
def test_recursions_agree_with_the_slow_twin(labels, depth, greedy):
    least, *_ = reference_sizes(labels)
    assert later.least_size(labels) == least
    assert later.greedy_heights(labels) == slow_heights(labels)
    assert later.ends_without_error(labels)[0] == slow_ends(labels)
    late = later.late_greedy_errors(labels, depth, greedy)
    assert late == slow_late_errors(labels, depth, greedy)
    assert later.least_errors(labels, depth) == slow_late_errors(labels, depth, 0)


def test_spectra_and_staircases_by_hand():
    parity, conjunction, chain = (0, 1, 1, 0), (0, 0, 0, 1), (0, 1, 0, 0, 0, 1, 1, 1)
    assert later.spectrum(parity) == {frozenset({0, 1})}
    assert len(later.spectrum(conjunction)) == 4
    assert not later.is_merged_staircase(parity)
    assert later.is_merged_staircase(conjunction)
    assert later.is_merged_staircase(chain)
    assert later.is_merged_staircase((1, 1))
    assert later.ends_without_error(parity) == (False, False)
    # all three variables tie: x2 leaves 3 rows wrong, x0 and x1 leave 1
    tied = labels_of("0x19", 3)
    assert later.spreads(tied) == [1, 1, 1]
    assert later.late_greedy_errors(tied, 2, 2) == slow_late_errors(tied, 2, 2) == 3
    assert later.least_errors(tied, 2) == 1
    one_of_three = labels_of("0x16", 3)
    assert later.is_merged_staircase(one_of_three)
    assert not slow_ends(one_of_three)


def test_influences_by_hand():
    assert later.influences((0, 1, 1, 0)) == [4, 4]
    assert later.influences((0, 0, 0, 1)) == [2, 2]
    assert later.influences((0, 1, 0, 1)) == [4, 0]
    assert later.influence_sizes(labels_of("0x1b", 3)) == (3, 5)
    assert reference_sizes(labels_of("0x012f", 4))[0] == 6


def test_the_parity_is_hidden_behind_its_decoys():
    problem = later.parity_with_decoys(2)
    steps = mt.TopDown().grow(problem, 1).steps
    assert steps[0].variable == problem.variables[2]  # the stronger decoy
    assert sum(problem.probabilities) == 1
    assert mt.optimal_errors(problem, 3, exact=True)[3] == 0


# --- corruptions: by statement, the module, the name in it, what replaces it, the verdict ---


def constant(value):
    return lambda *args, **options: value


def gini_plus(rate):
    """Not concave: it rewards rates of 1/4."""
    return arb(float(rate) * (1 - float(rate))) + (arb(1) if rate == Fraction(1, 4) else 0)


def one_more(function):
    def corrupted(*args):
        return function(*args) + 1

    return corrupted


def tops_ignored(problem, max_size, exact, top):
    return mt.optimal_errors(problem, max_size, exact=exact)


def reversed_tops(problem, max_size, exact, top):
    return mt.optimal_errors(problem, max_size, exact=exact, top=5 - top)


def wrong_sizes(tables, variables, criterion="entropy"):
    found = mt.families.exact_sizes(tables, variables, criterion)
    more = found.greedy_size_worst + (criterion == "entropy")
    return found._replace(greedy_size_worst=more, greedy_size_best=found.perfect_size)


class Minority(mt.TopDown):
    """Splits by error, where many gains are 0."""

    def __init__(self):
        super().__init__("minority")


def depth_ignored(criterion, cubes, depth):
    return CriterionGains(criterion, cubes, 1)


def depth_reversed(criterion, cubes, depth):
    return CriterionGains(criterion, cubes, 3 - depth)


def last_variable(labels, box, criterion):
    """Also an idle one."""
    return (len(box) - 1,)


def every_variable(labels, box, criterion):
    return tuple(range(len(box)))


def roots_apart(tables, box):
    return {
        name: np.full(len(tables), place) for place, name in enumerate(("entropy", "gini", "root"))
    }


def even_biases(count):
    yield biased.point([Fraction(1, 2)] * count)


def never_without_error(spaces, scales):
    """Trees that err on a half up to their last split."""
    return np.full((2 ** len(spaces.sides), spaces.positives.shape[1]), spaces.wholes[-1, 0] // 2)


def shallower_trees(spaces):
    found = DEPTHS(spaces)
    return np.where(found < biased.NEVER, found // 4, found)


STAIRCASES = later.staircases
DEPTHS = biased.least_depths

CORRUPTIONS = {
    "Merged staircases (least trees)": [
        (later, "exact_sizes", wrong_sizes, UNCLEAR),
        (later, "staircases", lambda tables, count: np.ones(len(tables), dtype=bool), UNCLEAR),
        (later, "staircases", lambda tables, count: np.zeros(len(tables), dtype=bool), UNCLEAR),
    ],
    "Merged staircases (shares)": [
        (later, "staircases", lambda tables, count: ~STAIRCASES(tables, count), FAILS),
    ],
    "Murthy and Salzberg (pathology)": [
        (later, "CriterionGains", depth_ignored, FAILS),
        (later, "CriterionGains", depth_reversed, FAILS),
    ],
    "Blanc and others (fewest variables)": [
        (later, "optimal_errors", tops_ignored, FAILS),
        (later, "GAPS", {1: later.GAPS[2]}, FAILS),
        (later, "GAPS", {2: later.GAPS[2]._replace(size=2)}, FAILS),
    ],
    "Brutzkus, Daniely and Malach (juntas)": [
        (biased, "multilinear", constant([0]), FAILS),
        (biased, "contenders", last_variable, FAILS),
    ],
    "Brutzkus, Daniely and Malach (conjecture)": [
        (biased, "heights", lambda labels, *_: (checks.least_height(labels),) * 2, HOLDS),
        (biased, "least_height", constant(0), FAILS),  # at another function
        (biased, "contenders", every_variable, HOLDS),
    ],
    "Blanc, Lange, Qiao and Tan (smallest)": [
        (biased, "contenders", every_variable, FAILS),
        (biased, "MULTIPLEXER", (0, 1, 1, 0, 1, 0, 0, 1), FAILS),
        (biased, "share_of_higher", constant(biased.Share(Fraction(0), Fraction(1))), FAILS),
    ],
    "Blanc, Lange, Qiao and Tan (depth)": [
        (biased, "complete_tree", lambda depth: biased.parity(2**depth - 1), FAILS),
        (biased, "contenders", every_variable, FAILS),
    ],
    "Blanc, Lange, Qiao and Tan (flips)": [
        (biased, "flipped", lambda labels, row: labels, FAILS),
        (biased, "mass", constant(Fraction(1)), FAILS),
        (biased, "FLIPS", tuple(each._replace(row=0) for each in biased.FLIPS[:1]), FAILS),
        (biased, "least_greedy_error", constant(Fraction(1)), FAILS),
    ],
    "Soltani Moakhar and others (size)": [
        (biased, "influence_errors", never_without_error, FAILS),
        (biased, "least_depths", shallower_trees, FAILS),
        (biased, "most_needed", constant({}), FAILS),  # nothing was compared
    ],
    "Criteria (equal biases)": [
        (biased, "monotone", mt.families.functions, FAILS),
        (biased, "IMPURITIES", {"gini": later.gini_at, "own": gini_plus}, FAILS),
    ],
    "Criteria (any biases)": [
        (biased, "different_biases", even_biases, HOLDS),
        (biased, "monotone", mt.families.functions, FAILS),  # at another function
    ],
    "Criteria (how often)": [(biased, "best_roots", roots_apart, FAILS)],
    "Fiat and Pechyony (gain)": [
        (later, "IMPURITIES", {"own": gini_plus}, FAILS),
        (later, "influences", lambda labels: [*range(len(labels).bit_length() - 1)], FAILS),
    ],
    "Fiat and Pechyony (height)": [(later, "least_height", constant(0), FAILS)],
    "Fiat and Pechyony (read-once DNF)": [(later, "TopDown", Minority, FAILS)],
    "Fiat and Pechyony (threshold)": [
        (later, "exact_sizes", wrong_sizes, FAILS),
        (later, "threshold", mt.families.functions, FAILS),
    ],
    "Fiat and Pechyony (conjecture)": [
        (later, "monotone", lambda count: mt.families.threshold(min(count, 4)), HOLDS),
    ],
    "Blanc, Lange and Tan (influence)": [
        (later, "influences", lambda labels: [1 for _ in labels], FAILS),
        (later, "least_size", constant(0), FAILS),
    ],
    "Blanc, Lange and Tan (upper bound)": [
        (later, "influence_sizes", constant((10**99, 10**99)), FAILS),
    ],
    "Blanc, Lange and Tan (lower bound)": [
        (later, "influence_sizes", constant((0, 0)), FAILS),
    ],
    "Kearns and Mansour (drop)": [(later, "as_ball", constant(arb(1)), FAILS)],
    "Kearns and Mansour (sizes)": [(later, "exact_sizes", wrong_sizes, FAILS)],
    "Tan, Klusowski and Balasubramanian (only if)": [
        (later, "is_merged_staircase", constant(False), FAILS),
        (later, "ends_without_error", constant((True, True)), FAILS),
    ],
    "Tan, Klusowski and Balasubramanian (if)": [
        (later, "ends_without_error", constant((True, True)), HOLDS),
        (later, "is_merged_staircase", constant(True), FAILS),  # at another function
    ],
    "Blanc and others (hierarchy)": [
        (later, "optimal_errors", tops_ignored, FAILS),
        (later, "parity_with_decoys", constant(mt.TableProblem([0, 1, 1, 0] * 4)), FAILS),
    ],
    "Blanc and others (order)": [
        (later, "optimal_errors", tops_ignored, FAILS),
        (later, "optimal_errors", reversed_tops, FAILS),
    ],
    "Babbar and others (last level)": [
        (later, "late_greedy_errors", one_more(later.late_greedy_errors), FAILS),
    ],
    "Babbar and others (two levels)": [
        (later, "late_greedy_errors",
         lambda labels, depth, levels: later.least_errors(labels, depth), HOLDS),
        (later, "least_errors", constant(0), FAILS),  # at another function
    ],
    "Babbar and others (on average)": [
        (later, "late_greedy_errors", one_more(later.late_greedy_errors), FAILS),
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_caches():
    yield
    for value in (*vars(checks).values(), *vars(later).values(), *vars(biased).values()):
        if isinstance(value, functools._lru_cache_wrapper):
            value.cache_clear()


def test_every_statement_has_a_corruption():
    assert set(CORRUPTIONS) == {statement.number for statement in LATER}


@pytest.mark.parametrize(
    ("number", "module", "name", "replacement", "verdict"),
    [
        pytest.param(number, *each, id=f"{number}, {each[1]}")
        for number, listed in CORRUPTIONS.items()
        for each in listed
    ],
)
def test_a_corruption_is_noticed(monkeypatch, number, module, name, replacement, verdict):
    (statement,) = (each for each in LATER if each.number == number)
    monkeypatch.setattr(module, name, replacement)
    check = statement.check(quick=True)
    assert check.verdict == verdict, check.detail
    assert not check.as_expected


def test_bounds_of_the_drops_are_attained_only_by_gini():
    """With larger constants they fail."""
    for impurity, bound in (
        (later.root_at, lambda spread: arb("4.1") * spread.sqrt()),
        (later.entropy_at, lambda spread: 12 * spread),
        (later.gini_at, lambda spread: arb("64.1") * spread**2),
    ):
        with pytest.raises(Counterexample):
            later.drops_enough(impurity, bound, quick=True)


def test_rates_are_those_of_the_split():
    found = list(later.splits(4))
    assert len(found) == 10 * 3
    assert np.all([low < high and 0 < chance < 1 for low, high, chance in found])
