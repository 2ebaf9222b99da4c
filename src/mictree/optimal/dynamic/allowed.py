"""Which tests of a restriction are among its best: the only ones that a tree may use.

Every literal counts, so that several of one value take several places: independent variables never
divide inputs alike. Variables outside the terms that
are left gain nothing; they change neither what is allowed among the others nor any error.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.chances import at_least_one
from mictree._support.jit import jit
from mictree.growers.functions import check_refused, criterion_code, kernel_impurity
from mictree.growers.ties import least_tied
from mictree.impurity.gains import MINORITY, OWN, gain_of_rates, own_gain, product_of_pairs
from mictree.optimal.result import Top
from mictree.problems.formula import FormulaProblem, TermValues

_at_least_one = jit(at_least_one)


class Tests(NamedTuple):
    """What the gains of a restriction's tests come from, and how many are allowed."""

    top: int
    criterion: int
    impurity: int  # the address of a function, for criterion OWN
    chance: np.ndarray  # that a term is satisfied
    failure: np.ndarray  # that it fails, as the sum of two floats: a row for each
    satisfied: np.ndarray  # the same of a literal, by value
    failed: np.ndarray
    copies: np.ndarray  # for each move: the literals of its value in the term
    refused: np.ndarray  # as of own_gain


class AllowedTests:
    """The tests allowed in the restrictions of one formula; call ``settle`` when all are made."""

    def __init__(self, problem: FormulaProblem, terms: tuple[TermValues, ...], top: Top) -> None:
        self._criterion = top.criterion
        self._impurity = kernel_impurity(top.criterion)
        exact = [1 - Fraction(problem.term_probability(term, exact=True)) for term in terms]
        rounded = [float(failure) for failure in exact]
        rest = [float(e - Fraction(r)) for e, r in zip(exact, rounded, strict=True)]
        self.arrays = Tests(
            top.number,
            criterion_code(top.criterion),
            self._impurity.address,
            np.array([float(problem.term_probability(term)) for term in terms]),
            np.array([rounded, rest]),
            np.array([float(value) for value in problem.satisfaction]),
            np.array([float(1 - value) for value in problem.satisfaction]),
            np.array([t.count(v) for t in terms for v in sorted(set(t))], dtype=np.int64),
            np.zeros(3),
        )

    def settle(self) -> None:
        """Raise what a criterion of one's own raised, and refuse what it must not give."""
        self._impurity.settle()
        check_refused(self._criterion, self.arrays.refused)


@jit
def mark_allowed(row, first_move, move_to, move_value, tests, out_allowed):
    """Write, for each move of each distinct term of a restriction in turn, whether it may be made.

    ``row`` has the restriction's terms, descending, padded with 0.
    """
    gains = np.empty(len(out_allowed))
    found, literals = 0, 0
    for position in range(len(row)):
        term = row[position]
        if term == 0 or (position > 0 and term == row[position - 1]):
            continue
        for move in range(first_move[term], first_move[term + 1]):
            gains[found] = _gain(row, position, move_to[move], move_value[move], tests)
            found += 1
    # count down from the largest gain until as many literals are allowed
    counts = count_literals(row, first_move, tests.copies, found)
    least, left = 0.0, gains[:found].copy()
    for _ in range(found):
        place = np.argmax(left)
        left[place] = -np.inf
        least = gains[place]
        literals += counts[place]
        if literals >= tests.top:
            break
    for place in range(found):
        out_allowed[place] = gains[place] >= least_tied(least)


@jit
def count_literals(row, first_move, copies, found):
    """How many literals each move of each distinct term stands for."""
    counts = np.zeros(found, dtype=np.int64)
    place = 0
    for position in range(len(row)):
        if row[position] == 0:
            break
        moves = first_move[row[position] + 1] - first_move[row[position]]
        if position > 0 and row[position] == row[position - 1]:
            place -= moves
        for move in range(first_move[row[position]], first_move[row[position] + 1]):
            counts[place] += copies[move]
            place += 1
    return counts


@jit
def _gain(row, position, shorter, value, tests):
    """The drop in impurity by a literal of one term, without cancellation unless by one's own."""
    failed, satisfied = tests.failed[value], tests.satisfied[value]
    others = np.empty(len(row))
    negative, negative_rest = 1.0, 0.0
    count = 0
    for place in range(len(row)):
        if row[place] == 0:
            break
        if place != position:
            others[count] = tests.chance[row[place]]
            count += 1
            negative, negative_rest = product_of_pairs(
                negative, negative_rest, tests.failure[0, row[place]], tests.failure[1, row[place]]
            )
    if tests.criterion == MINORITY:
        return _minority_gain(
            negative, negative_rest, row[position], shorter, failed, satisfied, tests.failure
        )
    others[:count].sort()
    positive = _at_least_one(others[:count]) if count else 0.0
    gained = tests.chance[shorter] * negative
    low = (negative, positive)
    high = (tests.failure[0, shorter] * negative, min(positive + gained, 1.0))
    if tests.criterion == OWN:
        return own_gain(tests.impurity, failed, satisfied, low, high, tests.refused)
    return gain_of_rates(tests.criterion, failed, satisfied, low, high, (-gained, gained))


@jit
def _minority_gain(negative, rest, term, shorter, failed, satisfied, failure):
    """By how much the children's labels are right more often, from rates of twice 53 digits."""
    here = product_of_pairs(negative, rest, failure[0, term], failure[1, term])
    high = product_of_pairs(negative, rest, failure[0, shorter], failure[1, shorter])
    sign = -1.0 if _lead(here[0], here[1]) >= 0 else 1.0
    low_lead = max(0.0, sign * _lead(negative, rest))
    high_lead = max(0.0, sign * _lead(high[0], high[1]))
    return failed * low_lead + satisfied * high_lead


@jit
def _lead(negative, rest):
    """P[y = 1] - P[y = 0]; 0 where it is no more than the rounding of a long product."""
    lead = (1 - 2 * negative) - 2 * rest
    return 0.0 if abs(lead) < 1e-28 else lead
