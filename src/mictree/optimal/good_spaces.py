"""The states of formulas and tables below which trees are counted, with errors as whole numbers.

A *space* says what a tree may do at a state: what the state costs as a leaf, whether it is pure,
and the tests that divide it. Many tests are alike: they lead to equal states, so one ``Branch``
stands for ``times`` of them. An error is a whole number of a unit that belongs to its state; a
branch has the weights that turn the errors of both children into those of the state. So all sums
are exact.

A state of a formula is the multiset of its terms, and the multiset of its *idle* variables: those
that no term has any more, or never had. They decide nothing, but an impure leaf may test them, as
they divide its inputs. A term is a multiset of satisfaction probabilities, in units of the common
denominator of all biases. A state with n variables has the unit ``denominator ** -n``.

A state of a table is a subcube; its errors are probabilities over the problem's one denominator.

A *place* is a state with names: which variables these are. Counting needs states only; trees are
made at places.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mictree.problems.base import Leaf
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem
from mictree.problems.tasks import Squared
from mictree.tree import Tree

State = Any  # whatever can be a key
Barred = frozenset[int]
NOTHING: Barred = frozenset()


class Branch(NamedTuple):
    """Tests that divide a state alike."""

    kind: Any  # what the space calls them
    times: int  # how many tests they are
    low: State
    high: State
    low_weight: int = 1  # what a unit of the child's error is in the state's units
    high_weight: int = 1


class Ends(NamedTuple):
    """A test at a place, and the places for both of its values."""

    test: int
    low: Any
    high: Any
    swapped: bool  # whether the high place has the branch's low state


class Space(ABC):
    """The states of a problem.

    Attributes
    ----------
    unit : how many units of error at the root make an error of 1
    variables : the names that a tree may test: variables, or columns
    offset : the error that every tree has besides
    """

    unit: Any
    variables: tuple[str, ...]
    offset: Fraction = Fraction(0)

    def floor(self, error: Fraction) -> Any:
        """The largest whole number of units that is within an error."""
        return math.floor((error - self.offset) * self.unit)

    @abstractmethod
    def root(self, barred: Barred = NOTHING) -> State:
        """The state of all inputs; barred variables are never tested."""

    @abstractmethod
    def leaf(self, state: State) -> tuple[Any, bool]:
        """The error of a state as a leaf, and whether it is pure."""

    @abstractmethod
    def branches(self, state: State) -> Sequence[Branch]:
        """The tests that divide a state."""

    @abstractmethod
    def barred_branch(self, state: State) -> Branch | None:
        """The test of the one variable that is barred; it is not barred at the children."""

    @abstractmethod
    def start(self) -> Any:
        """The place of the root."""

    @abstractmethod
    def state_of(self, leaf: Leaf) -> State:
        """The state of a leaf of the problem."""

    @abstractmethod
    def label(self, place: Any) -> Any:
        """The label of a leaf at a place."""

    @abstractmethod
    def ends(self, place: Any, branch: Branch) -> Sequence[Ends]:
        """The tests that a branch stands for, at a place of its state."""

    def is_pure(self, leaf: Leaf) -> bool:
        """Whether a leaf of the problem costs as little as its inputs do at least."""
        return leaf.pure

    @abstractmethod
    def tree(self, nested: Any) -> Tree:
        """A tree from nested tests and labels."""

    def alike(self) -> Iterator[list[int]]:
        """The variables in groups that are alike: good trees use each as often."""
        yield from ([number] for number in range(len(self.variables)))


MOST_KEPT = 2**14  # places
CONSTANT = None  # the state of all formulas that are true, or false
# a literal: twice its satisfaction probability, in units of the denominator; plus 1 if it is barred
Term = tuple[int, ...]


class FormulaSpace(Space):
    """Read-once formulas under product distributions."""

    def __init__(self, problem: FormulaProblem) -> None:
        self.problem, self.variables = problem, problem.variables
        biases = list(problem.biases.values())
        self.denominator = math.lcm(*(bias.denominator for bias in biases))
        self.unit = self.denominator ** len(biases)
        self._high = [int(bias * self.denominator) for bias in biases]
        literals = {each.variable: each for term in problem.formula.terms for each in term}
        self._positive = [
            name not in literals or literals[name].positive for name in problem.variables
        ]
        # trees that are drawn share most places
        self._labels: dict[Any, int] = {}
        self._ends: dict[Any, Sequence[Ends]] = {}

    def root(self, barred: Barred = NOTHING) -> State:
        return self._state(self.start(), barred)

    def _state(self, place: Any, barred: Barred = NOTHING) -> State:
        terms, idle = place
        if () in terms:
            return CONSTANT
        kept = [term for term in terms if term is not None]
        if not kept:
            return CONSTANT
        literals = [sorted(self._literal(each, barred) for each in term) for term in kept]
        others = sorted(self._idle(self._literal(each, barred)) for each in idle)
        return tuple(sorted(map(tuple, literals))), tuple(others)

    def _literal(self, variable: int, barred: Barred = NOTHING) -> int:
        high = self._high[variable]
        satisfied = high if self._positive[variable] else self.denominator - high
        return 2 * satisfied + (variable in barred)

    def _idle(self, literal: int) -> int:
        """An idle variable; one whose values have the same chances in the other order is alike."""
        return 2 * min(literal // 2, self.denominator - literal // 2) + literal % 2

    def leaf(self, state: Any) -> tuple[int, bool]:
        if state is CONSTANT:
            return 0, True
        terms, idle = state
        false, whole = self._false(terms)
        return min(false, whole - false) * self.denominator ** len(idle), False

    def _false(self, terms: tuple[Term, ...]) -> tuple[int, int]:
        """How many units of some terms' inputs make all of them false, and how many there are."""
        false = math.prod(
            self.denominator ** len(term) - math.prod(each // 2 for each in term) for term in terms
        )
        return false, self.denominator ** sum(map(len, terms))

    def branches(self, state: Any) -> Sequence[Branch]:
        if state is CONSTANT:
            return ()
        terms, idle = state
        tests = [
            (term, literal, times * count)
            for term, times in Counter(terms).items()
            for literal, count in Counter(term).items()
        ]
        tests += [(None, literal, count) for literal, count in Counter(idle).items()]
        return [
            self._branch(state, term, literal, times)
            for term, literal, times in tests
            if literal % 2 == 0
        ]

    def _branch(self, state: Any, term: Term | None, literal: int, times: int) -> Branch:
        """The test of a literal of a term, or of an idle variable."""
        terms, idle = state
        weight = literal // 2
        if term is None:
            below = terms, _without(idle, literal)
            weights = weight, self.denominator - weight
            return Branch((None, literal), times, below, below, *weights)
        others, rest = _without(terms, term), _without(term, literal)
        freed = tuple(sorted([*idle, *map(self._idle, rest)]))
        failed = (others, freed) if others else CONSTANT
        satisfied = (tuple(sorted([*others, rest])), idle) if rest else CONSTANT
        weights = self.denominator - weight, weight
        return Branch((term, literal), times, failed, satisfied, *weights)

    def barred_branch(self, state: Any) -> Branch | None:
        if state is CONSTANT:
            return None
        terms, idle = state
        for term in (*terms, None):
            for literal in idle if term is None else term:
                if literal % 2:
                    plain = tuple(sorted(each & ~1 for each in (idle if term is None else term)))
                    if term is None:
                        return self._branch((terms, plain), None, literal - 1, 1)
                    others = tuple(sorted([*_without(terms, term), plain]))
                    return self._branch((others, idle), plain, literal - 1, 1)
        return None

    def start(self) -> Any:
        place_of = {name: number for number, name in enumerate(self.variables)}
        terms = tuple(
            tuple(place_of[each.variable] for each in term) for term in self.problem.formula.terms
        )
        used = {number for term in terms for number in term}
        return terms, tuple(number for number in range(len(self.variables)) if number not in used)

    def state_of(self, leaf: Leaf) -> State:
        terms, idle = [], []
        for number, term in enumerate(self.start()[0]):
            free = tuple(each for each in term if leaf.state.free[each])
            alive = leaf.state.terms[number] is not None
            terms.append(free if alive else None)
            idle += () if alive else free
        idle += [each for each in self.start()[1] if leaf.state.free[each]]
        return self._state((tuple(terms), tuple(idle)))

    def label(self, place: Any) -> int:
        terms = place[0]
        if terms not in self._labels:
            _keep(self._labels, terms, self._find_label(terms))
        return self._labels[terms]

    def _find_label(self, terms: Any) -> int:
        if () in terms:
            return 1
        state = self._state((terms, ()))
        if state is CONSTANT:
            return 0
        false, whole = self._false(state[0])
        return int(2 * false <= whole)

    def ends(self, place: Any, branch: Branch) -> Sequence[Ends]:
        key = place, branch.kind
        if key not in self._ends:
            _keep(self._ends, key, self._find_ends(*key))
        return self._ends[key]

    def _find_ends(self, place: Any, kind: Any) -> Sequence[Ends]:
        terms, idle = place
        wanted, literal = kind
        found = []
        if wanted is None:
            for variable in idle:
                one = self._literal(variable)
                if self._idle(one) == literal:
                    rest = terms, tuple(each for each in idle if each != variable)
                    # the branch's low state has the smaller chance
                    swapped = 2 * (self.denominator - self._high[variable]) != literal
                    found.append(Ends(variable, rest, rest, swapped))
            return found
        for number, term in enumerate(terms):
            if not term or tuple(sorted(self._literal(each) for each in term)) != wanted:
                continue
            for variable in term:
                if self._literal(variable) != literal:
                    continue
                rest = tuple(each for each in term if each != variable)
                failed = (*terms[:number], None, *terms[number + 1 :]), (*idle, *rest)
                satisfied = (*terms[:number], rest, *terms[number + 1 :]), idle
                if self._positive[variable]:
                    found.append(Ends(variable, failed, satisfied, False))
                else:
                    found.append(Ends(variable, satisfied, failed, True))
        return found

    def tree(self, nested: Any) -> Tree:
        return Tree.build(self.variables, nested)

    def alike(self) -> Iterator[list[int]]:
        terms, idle = self.start()
        groups: dict[Any, list[int]] = {}
        for term in terms:
            whole = tuple(sorted(self._literal(each) for each in term))
            for variable in term:
                groups.setdefault((whole, self._literal(variable)), []).append(variable)
        for variable in idle:
            kind = None, self._idle(self._literal(variable))
            groups.setdefault(kind, []).append(variable)
        yield from groups.values()


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Remember a value; where there are too many, all others are forgotten."""
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = value


def _without(values: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """All values but one of those that are equal to a given one."""
    place = values.index(value)
    return values[:place] + values[place + 1 :]


class TableSpace(Space):
    """Any labels of few variables: a state is the number of a subcube, and the barred variables.

    Under squared loss errors are Fractions.
    """

    def __init__(self, problem: TableProblem) -> None:
        self.problem, self.variables = problem, problem.variables
        self._mass, self._positive, self.unit = problem.scaled_masses
        self._squared = isinstance(problem.task, Squared)

    def root(self, barred: Barred = NOTHING) -> State:
        return 3 ** len(self.variables) - 1, barred

    def leaf(self, state: Any) -> tuple[Any, bool]:
        cube, _ = state
        mass, positive = int(self._mass[cube]), int(self._positive[cube])
        settled = bool(self._settled[cube])
        if self._squared:
            return Fraction(positive * (mass - positive), mass or 1), settled
        return min(positive, mass - positive), settled

    def floor(self, error: Fraction) -> Any:
        return error * self.unit if self._squared else super().floor(error)

    @cached_property
    def _settled(self) -> np.typing.NDArray[np.bool_]:
        return self.problem.settled

    def branches(self, state: Any) -> Sequence[Branch]:
        cube, barred = state
        every = (
            self._branch(cube, variable, barred)
            for variable in range(len(self.variables))
            if variable not in barred
        )
        return [branch for branch in every if branch is not None]

    def _branch(self, cube: int, variable: int, barred: Barred) -> Branch | None:
        """The test of a variable, if it divides a subcube."""
        step = 3**variable
        low, high = cube - 2 * step, cube - step
        if cube // step % 3 != 2 or not (self._mass[low] and self._mass[high]):
            return None
        return Branch(variable, 1, (low, barred), (high, barred))

    def barred_branch(self, state: Any) -> Branch | None:
        cube, barred = state
        return self._branch(cube, min(barred), NOTHING) if barred else None

    def start(self) -> Any:
        return self.root()

    def state_of(self, leaf: Leaf) -> State:
        digits = (2 if value is None else value for value in leaf.state.values)
        return sum(each * 3**place for place, each in enumerate(digits)), NOTHING

    def is_pure(self, leaf: Leaf) -> bool:
        return self.leaf(self.state_of(leaf))[1]

    def label(self, place: Any) -> Any:
        cube, _ = place
        mass, positive = int(self._mass[cube]), int(self._positive[cube])
        return positive / mass if self._squared else int(2 * positive >= mass)

    def ends(self, place: Any, branch: Branch) -> Sequence[Ends]:
        return (Ends(branch.kind, branch.low, branch.high, False),)

    def tree(self, nested: Any) -> Tree:
        return Tree.build(self.variables, nested)
