"""A read-once DNF under a product distribution, with exact probabilities.

A negated literal with bias b behaves as a positive one with bias 1 - b. So a term is a multiset of
satisfaction probabilities, and a restriction the multiset of terms that are left. Probabilities are
computed from these, sorted, and never accumulated along a path: the same restriction always has the
same floats (decision 0005). A rate beside 1/2, which decides a label, is settled by Fractions.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._support.numbers import at_least_one
from mictree.functions.expression import MAX_VARIABLES, Expression
from mictree.functions.read_once import ReadOnceDNF, as_formula
from mictree.problems.base import (
    EVEN,
    NEAR_EVEN,
    Biases,
    FloatArray,
    Leaf,
    Probability,
    Problem,
    Splits,
    read_biases,
    settle,
)

# The remaining literals of a term: the places of their satisfaction probabilities among the
# distinct ones, ascending. () is a satisfied term.
TermValues = tuple[int, ...]
Chances = tuple[float, float]  # that a term is satisfied, and that it fails
# rates of label 0 and 1 when a literal fails, when it is satisfied, and their difference
_After = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]


class _State(NamedTuple):
    """A restriction: the remaining terms of the formula, and the path to it."""

    terms: tuple[TermValues | None, ...]  # None: the term is falsified
    free: np.typing.NDArray[np.bool_]  # the variables not on the path
    path: tuple[Probability, ...]  # sorted, so that reach does not depend on the order of tests
    exact: bool


@dataclass(frozen=True)
class _Numbers:
    """The problem's probabilities in one kind of number, float or Fraction."""

    outcomes: tuple[tuple[Probability, Probability], ...]  # of each variable: P[0], P[1]
    satisfaction: tuple[Probability, ...]  # the distinct values, ascending
    failure: tuple[Probability, ...]  # 1 - satisfaction, rounded once


class FormulaProblem(Problem):
    """A read-once DNF target under a product distribution.

    Parameters
    ----------
    formula : text or ReadOnceDNF
    bias : the probability that a variable is 1, strictly between 0 and 1
        One number for all variables; a sequence in the order of ``formula.variables``; or a
        mapping of names to numbers, whose extra names become irrelevant variables. Floats are
        read as written: 0.3 means 3/10.

    Examples
    --------
    >>> problem = FormulaProblem("x1 & x2 | y1 & y2 & y3", bias=0.5)
    >>> problem.positive_rate({})
    0.34375
    >>> problem.positive_rate({"x1": 1}, exact=True)
    Fraction(9, 16)
    """

    def __init__(self, formula: str | ReadOnceDNF, bias: Biases = 0.5) -> None:
        self.formula: ReadOnceDNF = _read(formula)
        self.biases: dict[str, Fraction] = read_biases(self.formula.variables, bias)
        literals = {literal.variable: literal for term in self.formula.terms for literal in term}
        self._positive = np.array(
            [name not in literals or literals[name].positive for name in self.biases]
        )
        chances = {
            name: self.biases[name] if literal.positive else 1 - self.biases[name]
            for name, literal in literals.items()
        }
        self.satisfaction: tuple[Fraction, ...] = tuple(sorted(set(chances.values())))
        index = {value: position for position, value in enumerate(self.satisfaction)}
        self.terms: tuple[TermValues, ...] = tuple(
            tuple(sorted(index[chances[literal.variable]] for literal in term))
            for term in self.formula.terms
        )
        term_of = {
            literal.variable: number
            for number, term in enumerate(self.formula.terms)
            for literal in term
        }
        # where each variable stands: its term (-1: irrelevant) and its satisfaction probability
        self.term_of: tuple[int, ...] = tuple(term_of.get(name, -1) for name in self.biases)
        self.value_of: tuple[int, ...] = tuple(
            index[chances[name]] if name in chances else 0 for name in self.biases
        )
        # variables of one term and value are alike and share a slot; slot 0 is for irrelevant ones
        kinds = list(zip(self.term_of, self.value_of, strict=True))
        relevant = sorted({kind for kind in kinds if kind[0] >= 0})
        self._slot_of = {kind: slot for slot, kind in enumerate(relevant, start=1)}
        self._slot = np.array([self._slot_of.get(kind, 0) for kind in kinds])
        exact = _Numbers(
            tuple((1 - bias, bias) for bias in self.biases.values()),
            self.satisfaction,
            tuple(1 - value for value in self.satisfaction),
        )
        rounded = _Numbers(
            tuple((float(low), float(high)) for low, high in exact.outcomes),
            tuple(map(float, exact.satisfaction)),
            tuple(map(float, exact.failure)),
        )
        self._numbers = {True: exact, False: rounded}
        self._branches = np.array(rounded.outcomes).T
        self._variables = tuple(self.biases)
        self._known: dict[bool, dict[TermValues, Probability]] = {True: {}, False: {}}
        self._known_failure: dict[TermValues, float] = {}
        self._known_lead: dict[tuple[TermValues, ...], float] = {}

    @classmethod
    def from_sizes(cls, text: str) -> "FormulaProblem":
        """A formula as the frame of a sweep writes it.

        Parameters
        ----------
        text : the size of each term, such as ``3+3+5``, where every bias is 1/2; or how many of its
            literals have which bias, such as ``2*0.3,1*0.7 + 1*1/3``

        Examples
        --------
        >>> FormulaProblem.from_sizes("1+2")
        FormulaProblem('x1_1 | x2_1 & x2_2', bias=0.5)
        >>> FormulaProblem.from_sizes("1*0.3,1*0.7 + 1*0.7").biases["x1_2"]
        Fraction(7, 10)
        """
        if not isinstance(text, str):
            raise ValueError(f"sizes must be a text such as 3+3+5; got {text!r}")
        terms = [_read_term(part, text) for part in text.split("+")]
        formula = ReadOnceDNF.of_sizes([len(term) for term in terms])
        return cls(formula, [bias for term in terms for bias in term])

    def __repr__(self) -> str:
        distinct = sorted(set(self.biases.values()))
        if len(distinct) == 1 and len(self.biases) == len(self.formula.variables):
            return f"FormulaProblem({str(self.formula)!r}, bias={float(distinct[0])})"
        shown = {name: float(bias) for name, bias in self.biases.items()}
        return f"FormulaProblem({str(self.formula)!r}, bias={shown})"

    @property
    def variables(self) -> tuple[str, ...]:
        return self._variables

    def root(self, exact: bool = False) -> Leaf:
        state = _State(self.terms, np.ones(len(self.biases), dtype=bool), (), exact)
        return self._leaf(state)

    def children(self, leaf: Leaf, variable: int) -> tuple[Leaf, Leaf]:
        state: _State = leaf.state
        if not state.free[variable]:
            name = self.variables[variable]
            raise ValueError(f"a path tests a variable at most once; {name} is tested twice")
        free = state.free.copy()
        free[variable] = False
        failed, satisfied = (
            self._terms_after(state, variable, outcome) for outcome in (False, True)
        )
        low, high = (failed, satisfied) if self._positive[variable] else (satisfied, failed)
        outcomes = self._numbers[state.exact].outcomes[variable]
        return (
            self._leaf(_State(low, free, _insert(state.path, outcomes[0]), state.exact)),
            self._leaf(_State(high, free, _insert(state.path, outcomes[1]), state.exact)),
        )

    def splits(self, leaf: Leaf) -> Splits:
        state: _State = leaf.state
        alive = sorted(
            (float(self.term_probability(term)), self.term_failure(term))
            for term in state.terms
            if term is not None
        )
        # per slot: both rates when the literal fails, when it is satisfied, and their difference;
        # irrelevant variables and those of a falsified term leave the rates as they are
        slots = np.empty((len(self._slot_of) + 1, 3, 2))
        slots[:] = (_rates(alive), _rates(alive), (0.0, 0.0))
        known: dict[TermValues, dict[int, _After]] = {}
        for number, term in enumerate(state.terms):
            if term is None:
                continue
            if term not in known:
                known[term] = self._rates_after(alive, term)
            for value, after in known[term].items():
                slots[self._slot_of[number, value]] = after
        variables = np.flatnonzero(state.free)
        failed, satisfied, difference = slots[self._slot[variables]].transpose(1, 0, 2)
        positive = self._positive[variables, None]
        return Splits(
            variables,
            *self._branches[:, variables],
            low_rates=np.where(positive, failed, satisfied),
            high_rates=np.where(positive, satisfied, failed),
            difference=np.where(positive, difference, -difference),
        )

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        state: _State = leaf.state
        sign = 1 if leaf.label == 0 else -1
        leads = np.zeros((2, len(splits.variables)))
        for place in np.flatnonzero(splits.difference[:, 1]):
            variable = int(splits.variables[place])
            for side, rates in enumerate((splits.low_rates, splits.high_rates)):
                negative, positive = rates[place]
                lead = positive - negative
                if abs(lead) < NEAR_EVEN:
                    satisfied = bool(side) == self._positive[variable]
                    lead = self._exact_lead(self._terms_after(state, variable, satisfied))
                leads[side, place] = max(sign * lead, 0.0)
        return leads[0], leads[1]

    def key(self, leaf: Leaf) -> tuple[TermValues, ...]:
        """The remaining terms in order; which variables they are of changes no drop."""
        return tuple(sorted(term for term in leaf.state.terms if term is not None))

    def term_probability(self, term: TermValues, exact: bool = False) -> Probability:
        """The probability that every literal of a term is satisfied."""
        known = self._known[exact]
        if term not in known:
            satisfaction = self._numbers[exact].satisfaction
            known[term] = math.prod(satisfaction[value] for value in term)
        return known[term]

    def term_failure(self, term: TermValues) -> float:
        """The probability that some literal of a term fails."""
        if term not in self._known_failure:
            failure = self._numbers[False].failure
            chances = sorted(float(failure[value]) for value in term)
            self._known_failure[term] = float(at_least_one(chances))
        return self._known_failure[term]

    def find_literal(self, leaf: Leaf, term: TermValues, value: int) -> tuple[int, bool]:
        """The first free variable of the given value in such a term, and whether it is positive."""
        state: _State = leaf.state
        for variable, number in enumerate(self.term_of):
            if (
                number >= 0
                and state.free[variable]
                and self.value_of[variable] == value
                and state.terms[number] == term
            ):
                return variable, bool(self._positive[variable])
        raise ValueError(f"there is no literal of value {value} in a term {term} at the leaf")

    def _rates_after(self, alive: list[Chances], term: TermValues) -> dict[int, _After]:
        """The rates after testing a literal of one term, for each distinct value."""
        others = alive.copy()
        others.remove((float(self.term_probability(term)), self.term_failure(term)))
        failed = negative, positive = _rates(others)
        after = {}
        for value in set(term):
            shorter = without(term, value)
            gained = float(self.term_probability(shorter)) * negative
            satisfied = (self.term_failure(shorter) * negative, min(positive + gained, 1.0))
            after[value] = (failed, satisfied, (-gained, gained))
        return after

    def _terms_after(
        self, state: _State, variable: int, satisfied: bool
    ) -> tuple[TermValues | None, ...]:
        """The remaining terms after a variable's literal is satisfied, or has failed."""
        number = self.term_of[variable]
        term = state.terms[number] if number >= 0 else None
        if term is None:
            return state.terms
        shorter = without(term, self.value_of[variable]) if satisfied else None
        return (*state.terms[:number], shorter, *state.terms[number + 1 :])

    def _exact_lead(self, terms: tuple[TermValues | None, ...]) -> float:
        """P[y = 1] - P[y = 0] of a restriction, rounded once."""
        present = tuple(sorted(term for term in terms if term is not None))
        if present not in self._known_lead:
            rate = Fraction(at_least_one(self.term_probability(term, True) for term in present))
            self._known_lead[present] = float(2 * rate - 1)
        return self._known_lead[present]

    def _leaf(self, state: _State) -> Leaf:
        present = [term for term in state.terms if term is not None]
        one = Fraction(1) if state.exact else 1.0
        satisfied = () in present
        rate = one
        if not satisfied:
            rate *= at_least_one(
                sorted(self.term_probability(term, state.exact) for term in present)
            )
            if not state.exact and abs(rate - 0.5) < EVEN:
                rate = settle(
                    float(rate),
                    Fraction(at_least_one(self.term_probability(t, True) for t in present)),
                )
        return Leaf(one * math.prod(state.path), rate, satisfied or not present, state)


def _read_term(part: str, text: str) -> list[Fraction]:
    """The biases of a term from its text: ``3``, or ``2*0.3,1*0.7``."""
    biases = []
    for piece in part.split(","):
        count, star, bias = piece.partition("*")
        try:
            # Fraction alone would also take exponents, signs and a size such as 3.0
            plain = count.strip().isdecimal() and len(count.strip()) <= 6
            if not plain or (not star and "," in part):
                raise ValueError
            biases += [Fraction(bias.strip()) if star else Fraction(1, 2)] * int(count)
        except (ValueError, ZeroDivisionError):
            raise ValueError(
                f"terms must be sizes such as 3, or such as 2*0.3,1*0.7, joined by +; "
                f"got {part.strip()!r} in {text!r}"
            ) from None
    return biases


def without(term: TermValues, value: int) -> TermValues:
    """A term with one literal of the given satisfaction probability less."""
    place = term.index(value)
    return (*term[:place], *term[place + 1 :])


def _read(formula: str | ReadOnceDNF) -> ReadOnceDNF:
    """The formula; if it is another Boolean formula, the error names what takes it."""
    try:
        return as_formula(formula)
    except ValueError as error:
        try:
            Expression.parse(str(formula))
        except ValueError:
            raise error from None
        raise ValueError(
            f"{error}; TableProblem.from_formula takes any Boolean formula of at most "
            f"{MAX_VARIABLES} variables"
        ) from None


def _insert(ascending: Iterable[Probability], number: Probability) -> tuple[Probability, ...]:
    """A sorted tuple with one more number."""
    return tuple(sorted((*ascending, number)))


def _rates(alive: Iterable[Chances]) -> tuple[float, float]:
    """The negative and the positive rate of a formula, from the chances of its terms."""
    terms = list(alive)
    negative = math.prod((failed for _, failed in terms), start=1.0)
    return negative, float(at_least_one(satisfied for satisfied, _ in terms))
