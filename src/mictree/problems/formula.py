"""A read-once DNF under a product distribution, with exact probabilities."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mictree._checks import as_fraction
from mictree.formulas import ReadOnceDNF, as_formula, check_names
from mictree.problems.base import (
    EVEN,
    NEAR_EVEN,
    FloatArray,
    Leaf,
    Probability,
    Problem,
    Splits,
    settle,
)

# What is left of a term: the places of its literals' satisfaction probabilities among the distinct
# ones, ascending. () is a satisfied term.
TermValues = tuple[int, ...]
Chances = tuple[float, float]  # that a term is satisfied, and that it fails
Biases = float | Fraction | Sequence[float | Fraction] | Mapping[str, float | Fraction]


class _State(NamedTuple):
    """A restriction: what is left of the formula, and how it was reached."""

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
        self.formula = as_formula(formula)
        self.biases = _read_biases(self.formula, bias)
        literals = {literal.variable: literal for term in self.formula.terms for literal in term}
        self._negated = np.array(
            [name in literals and not literals[name].positive for name in self.biases]
        )
        chances = {
            name: self.biases[name] if literal.positive else 1 - self.biases[name]
            for name, literal in literals.items()
        }
        self.satisfaction = tuple(sorted(set(chances.values())))
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
        self.term_of = tuple(term_of.get(name, -1) for name in self.biases)
        self.value_of = tuple(
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
        self._known_shorter: dict[TermValues, list[tuple[int, Chances]]] = {}
        self._known_lead: dict[tuple[TermValues, ...], float] = {}

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
        low, high = (satisfied, failed) if self._negated[variable] else (failed, satisfied)
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
        slots = [(*_rates(alive), *_rates(alive), 0.0, 0.0)] * (len(self._slot_of) + 1)
        known: dict[TermValues, tuple[float, float]] = {}  # rates once a term is falsified
        for number, term in enumerate(state.terms):
            if term is None:
                continue
            if term not in known:
                others = alive.copy()
                others.remove((float(self.term_probability(term)), self.term_failure(term)))
                known[term] = _rates(others)
            negative, positive = known[term]
            for value, (satisfied, failed) in self._shorter_terms(term):
                gained = satisfied * negative
                slots[self._slot_of[number, value]] = (
                    negative,
                    positive,
                    negative * failed,
                    min(positive + gained, 1.0),
                    -gained,
                    gained,
                )
        variables = np.flatnonzero(state.free)
        chosen = np.array(slots)[self._slot[variables]]
        low, high, difference = chosen[:, :2], chosen[:, 2:4], chosen[:, 4:]
        low_probability, branch_probability = self._branches[:, variables]
        if self._negated.any():
            swap = self._negated[variables, None]
            low, high = np.where(swap, high, low), np.where(swap, low, high)
            difference = np.where(swap, -difference, difference)
        return Splits(variables, low_probability, branch_probability, low, high, difference)

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        state: _State = leaf.state
        leads = []
        for side, rates in enumerate((splits.low_rates, splits.high_rates)):
            lead = rates[:, 1] - rates[:, 0]
            for place in np.flatnonzero(np.abs(lead) < NEAR_EVEN):
                variable = int(splits.variables[place])
                satisfied = bool(side) != self._negated[variable]
                lead[place] = self._exact_lead(self._terms_after(state, variable, satisfied))
            lead = np.maximum(lead if leaf.label == 0 else -lead, 0.0)
            leads.append(np.where(splits.difference[:, 1] == 0, 0.0, lead))
        return leads[0], leads[1]

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
            self._known_failure[term] = float(_any(chances))
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
                return variable, not self._negated[variable]
        raise ValueError(f"there is no literal of value {value} in a term {term} at the leaf")

    def _shorter_terms(self, term: TermValues) -> list[tuple[int, Chances]]:
        """The chances of a term with one literal less, for each distinct value of the literal."""
        if term not in self._known_shorter:
            self._known_shorter[term] = [
                (value, (float(self.term_probability(shorter)), self.term_failure(shorter)))
                for value in sorted(set(term))
                for shorter in [without(term, value)]
            ]
        return self._known_shorter[term]

    def _terms_after(
        self, state: _State, variable: int, satisfied: bool
    ) -> tuple[TermValues | None, ...]:
        """What is left of the terms once a variable's literal is satisfied, or has failed."""
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
            rate = Fraction(_any(self.term_probability(term, True) for term in present))
            self._known_lead[present] = float(2 * rate - 1)
        return self._known_lead[present]

    def _leaf(self, state: _State) -> Leaf:
        present = [term for term in state.terms if term is not None]
        one = Fraction(1) if state.exact else 1.0
        satisfied = () in present
        rate = one
        if not satisfied:
            rate *= _any(sorted(self.term_probability(term, state.exact) for term in present))
            if not state.exact and abs(rate - 0.5) < EVEN:
                rate = settle(
                    float(rate), Fraction(_any(self.term_probability(t, True) for t in present))
                )
        return Leaf(one * math.prod(state.path), rate, satisfied or not present, state)


def _read_biases(formula: ReadOnceDNF, bias: Biases) -> dict[str, Fraction]:
    """Every variable's bias as a checked Fraction, the formula's variables first."""
    names = formula.variables
    if isinstance(bias, Mapping):
        for name in names:
            if name not in bias:
                raise ValueError(f"every variable needs a bias; there is none for {name}")
        given = {name: bias[name] for name in (*names, *bias)}
    elif isinstance(bias, str) or not np.iterable(bias):
        given = dict.fromkeys(names, bias)
    else:
        values = list(bias)
        if len(values) != len(names):
            raise ValueError(
                f"bias must have one number for each of the {len(names)} variables; "
                f"it has {len(values)}"
            )
        given = dict(zip(names, values, strict=True))
    check_names(given)
    return {name: _read_bias(name, value) for name, value in given.items()}


def _read_bias(name: str, value: object) -> Fraction:
    try:
        bias = as_fraction(value)
    except (ValueError, OverflowError):  # text, nan, infinity
        raise ValueError(
            f"bias must be a number strictly between 0 and 1; {name} has {value!r}"
        ) from None
    if not 0 < bias < 1:
        raise ValueError(f"bias must lie strictly between 0 and 1; {name} has {value}")
    return bias


def without(term: TermValues, value: int) -> TermValues:
    """A term with one literal of the given satisfaction probability less."""
    place = term.index(value)
    return (*term[:place], *term[place + 1 :])


def _insert(ascending: Iterable[Probability], number: Probability) -> tuple[Probability, ...]:
    """A sorted tuple with one more number."""
    return tuple(sorted((*ascending, number)))


def _rates(alive: Iterable[Chances]) -> tuple[float, float]:
    """The negative and the positive rate of a formula, from the chances of its terms."""
    negative, positive = 1.0, 0.0
    for satisfied, failed in alive:
        positive += satisfied * (1 - positive)
        negative *= failed
    return negative, positive


def _any(chances: Iterable[Probability]) -> Probability:
    """The probability that at least one of several independent events happens.

    Built up from the smallest, so that tiny rates keep their relative precision.
    """
    rate = 0
    for chance in chances:
        rate += chance * (1 - rate)
    return rate
