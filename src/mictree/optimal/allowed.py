"""Which tests of a restriction or of a subcube are among its best, the only ones allowed.

With ``top=k`` every node may test only its k splits of largest gain; splits that divide the inputs
alike count as one. Of a formula's restriction every literal counts, so that several of one value
take several places: independent variables never divide inputs alike. Variables outside the terms
that are left gain nothing; they change neither what is allowed among the others nor any error. Of a
table, only subcubes that allowed tests reach are looked at; all others allow none. Variables that
divide the inputs of a subcube alike, or the other way round, count as one; inputs of probability 0
do not matter.

Invariant: a test that ties with the last of the best, within the tolerance of ties, is allowed too.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit
from mictree._support.numbers import at_least_one
from mictree.growers.choosing import (
    check_refused,
    criterion_code,
    gains_by,
    kernel_impurity,
    least_of_best,
)
from mictree.impurity.gains import (
    MINORITY,
    OWN,
    gain_of_rates,
    gain_of_sums,
    own_gain,
    own_gain_of_sums,
    product_of_pairs,
)
from mictree.optimal.solve import Top
from mictree.problems.formula import FormulaProblem, TermValues
from mictree.problems.table import TableProblem

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
    found = 0
    for position in range(len(row)):
        term = row[position]
        if term == 0 or (position > 0 and term == row[position - 1]):
            continue
        for move in range(first_move[term], first_move[term + 1]):
            gains[found] = _gain(row, position, move_to[move], move_value[move], tests)
            found += 1
    literals = count_literals(row, first_move, tests.copies, found)
    least = least_of_best(gains[:found], literals, tests.top)
    for place in range(found):
        out_allowed[place] = gains[place] >= least


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


Variables = np.typing.NDArray[np.uint16]  # bit i: variable i
EXACT = 2**53  # integers below are floats


def allowed_variables(problem: TableProblem, top: Top) -> tuple[Variables, np.ndarray]:
    """For each subcube the variables it may test, and whether such tests reach it."""
    denominator = problem.scaled_masses[2]
    return (_by_kernel if denominator < EXACT else _one_by_one)(problem, top)


def _by_kernel(problem: TableProblem, top: Top) -> tuple[Variables, np.ndarray]:
    count = len(problem.variables)
    mass, positive, _ = problem.scaled_masses
    sums = np.stack([mass - positive, positive], axis=1).astype(float)
    allowed = np.zeros(3**count, dtype=np.uint16)
    reached = np.zeros(3**count, dtype=bool)
    impurity, refused = kernel_impurity(top.criterion), np.zeros(3)
    _mark_allowed(
        count, top.number, criterion_code(top.criterion), impurity.address, sums, mass > 0,
        problem.settled, refused, allowed, reached,
    )  # fmt: skip
    impurity.settle()
    check_refused(top.criterion, refused)
    return allowed, reached


@jit
def _mark_allowed(
    count, top, criterion, impurity, sums, occurs, settled, refused, allowed, reached
):
    """Write the variables allowed in each subcube that is reached from the whole cube."""
    reached[-1] = True
    gains, variables = np.empty(count), np.empty(count, dtype=np.int64)
    steps = np.empty(count, dtype=np.int64)
    factors, work = np.ones(2), np.empty((5, 2))
    # fixing a variable makes a subcube's number smaller
    for subcube in range(len(reached) - 1, -1, -1):
        if not reached[subcube] or settled[subcube]:
            continue
        found, step = 0, 1
        for variable in range(count):
            low, high = subcube - 2 * step, subcube - step
            if subcube // step % 3 == 2 and occurs[low] and occurs[high]:
                if criterion == OWN:
                    gain = own_gain_of_sums(impurity, sums[low], sums[high], factors, refused)
                else:
                    gain = gain_of_sums(criterion, sums[low], sums[high], factors, True, work)
                gains[found], variables[found], steps[found] = gain, variable, step
                found += 1
            step *= 3
        least = _least_allowed(gains[:found], steps[:found], subcube, occurs, top)
        for place in range(found):
            if gains[place] >= least:
                step = steps[place]
                allowed[subcube] |= np.uint16(1 << variables[place])
                reached[subcube - 2 * step] = reached[subcube - step] = True


@jit
def _least_allowed(gains, steps, subcube, occurs, top):
    """The least gain among the ``top`` best of a subcube's different splits.

    ``steps`` has 3**i for each variable i.
    """
    if len(gains) <= top:
        return -np.inf
    places = np.ones(len(gains), dtype=np.int64)
    for place in range(1, len(gains)):
        for other in steps[:place]:
            if _divide_alike(steps[place], other, subcube, occurs):
                places[place] = 0
                break
    return least_of_best(gains, places, top)


@jit
def _divide_alike(one, other, subcube, occurs):
    """Whether two free variables are always equal in a subcube, or always different."""
    neither, both = subcube - 2 * one - 2 * other, subcube - one - other  # a free digit is 2
    differ = occurs[neither + one] or occurs[neither + other]
    return not (differ and (occurs[neither] or occurs[both]))


def _one_by_one(problem: TableProblem, top: Top) -> tuple[Variables, np.ndarray]:
    """As ``_by_kernel``, for masses beyond the integers that floats hold."""
    count, gains_of = len(problem.variables), gains_by(top.criterion)
    allowed = np.zeros(3**count, dtype=np.uint16)
    reached = np.zeros(3**count, dtype=bool)
    settled, occurs = problem.settled, problem.scaled_masses[0] > 0
    leaves = {3**count - 1: problem.root()}
    while leaves:
        subcube, leaf = leaves.popitem()
        if reached[subcube] or settled[subcube]:
            reached[subcube] = True
            continue
        reached[subcube] = True
        splits = problem.splits(leaf)
        gains = gains_of(problem, leaf, splits)
        least = _least_allowed(gains, 3**splits.variables, subcube, occurs, top.number)
        for variable in splits.variables[gains >= least].tolist():
            allowed[subcube] |= np.uint16(1 << variable)
            step = 3**variable
            low, high = problem.children(leaf, variable)
            leaves |= {subcube - 2 * step: low, subcube - step: high}
    return allowed, reached
