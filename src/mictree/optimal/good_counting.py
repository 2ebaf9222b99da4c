"""Counting trees: recurrences over the states of a space, with sums in place of minima.

The dynamic programs for optimal trees take the minimum over first tests and over shares of the
other splits. Counting replaces the minimum by a sum. A state's *spectrum* for a size is the number
of its trees by error, as far as a limit: it sums, over the tests and the shares, the products of
both children's spectra. A limit is passed on less what the sibling needs at least, so few trees
that are too bad are ever looked at. Errors are whole numbers, and equal ones add up.

Sampling goes the same way back: a test, a share and both children's errors are drawn by their part
of the count. Every draw is a whole number below a count, so all trees are equally likely.

Invariant: a remembered spectrum holds all trees up to the limit it was made with, and is used for
smaller limits only.

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
import random
import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, combinations
from typing import Any, NamedTuple

import numpy as np

from mictree._support.progress import Progress, Report, ignore
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

    def marked_branches(self, state: State) -> Sequence[tuple[int, Branch]]:
        """The tests of barred variables, each with its mark: 1 for the first barred one, ..."""
        return ()

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
MARKS = 4
# a literal: MARKS times its satisfaction probability, in units of the denominator; plus its mark
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
        return MARKS * satisfied + _mark(variable, barred)

    def _idle(self, literal: int) -> int:
        """An idle variable; one whose values have the same chances in the other order is alike."""
        satisfied, mark = divmod(literal, MARKS)
        return MARKS * min(satisfied, self.denominator - satisfied) + mark

    def leaf(self, state: Any) -> tuple[int, bool]:
        if state is CONSTANT:
            return 0, True
        terms, idle = state
        false, whole = self._false(terms)
        return min(false, whole - false) * self.denominator ** len(idle), False

    def _false(self, terms: tuple[Term, ...]) -> tuple[int, int]:
        """How many units of some terms' inputs make all of them false, and how many there are."""
        false = math.prod(
            self.denominator ** len(term) - math.prod(each // MARKS for each in term)
            for term in terms
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
            if literal % MARKS == 0
        ]

    def _branch(self, state: Any, term: Term | None, literal: int, times: int) -> Branch:
        """The test of a literal of a term, or of an idle variable."""
        terms, idle = state
        weight = literal // MARKS
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

    def marked_branches(self, state: Any) -> Sequence[tuple[int, Branch]]:
        if state is CONSTANT:
            return ()
        terms, idle = state
        return [
            (literal % MARKS, self._branch(state, term, literal, 1))
            for term in (*terms, None)
            for literal in (idle if term is None else term)
            if literal % MARKS
        ]

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
            keep(self._labels, terms, self._find_label(terms))
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
            keep(self._ends, key, self._find_ends(*key))
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
                    swapped = MARKS * (self.denominator - self._high[variable]) != literal
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


def keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Remember a value; where there are too many, all others are forgotten."""
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = value


def _mark(variable: int, barred: Barred) -> int:
    """0 if a variable is not barred; 1 for the first barred variable, 2 for the second."""
    return 1 + sorted(barred).index(variable) if variable in barred else 0


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

    def marked_branches(self, state: Any) -> Sequence[tuple[int, Branch]]:
        cube, barred = state
        every = ((_mark(each, barred), self._branch(cube, each, barred)) for each in barred)
        return [(mark, branch) for mark, branch in every if branch is not None]

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


NEVER = None  # the least error of a size that no tree has
Spectrum = dict[Any, int]  # how many trees have an error, a whole number or a Fraction
BYTES_EACH = 250  # of one entry of a spectrum, nearly
LOOKS = 256  # products of spectra between two looks at the clock


class Stopped(Exception):
    """Counting has to end."""


@dataclass
class Watch:
    """When counting has to end.

    Attributes
    ----------
    until : the time, by the monotonic clock
    entries : how many entries of spectra may still be made
    most : how many trees of the root are enough
    report : called now and then
    interrupted : whether Ctrl-C was pressed, where that raises no error
    """

    until: float = math.inf
    entries: int = 2**62
    most: int | None = None
    report: Report = ignore
    interrupted: Callable[[], bool] = bool
    what: str = "counting trees"
    looks: int = 0

    def limit(self, seconds: float | None = None, memory: int | None = None) -> None:
        """Begin to watch: time, bytes, and never again the number of trees without both."""
        self.until = math.inf if seconds is None else time.monotonic() + seconds
        self.entries = 2**62 if memory is None else memory // BYTES_EACH

    def look(self, made: int = 0) -> None:
        """Raise ``Stopped`` if time or room is over."""
        self.entries -= made
        self.looks += 1
        if self.entries < 0:
            raise Stopped("memory_limit")
        if self.looks % LOOKS == 0:
            if self.interrupted():
                raise Stopped("Ctrl-C")
            if time.monotonic() > self.until:
                raise Stopped("time_limit")
            self.report(Progress(self.what))

    def look_at(self, found: Spectrum) -> None:
        """Raise ``Stopped`` if enough trees are found."""
        if self.most is not None and sum(found.values()) > self.most:
            raise Stopped("max_count")


class Way(NamedTuple):
    """A first test, and the splits and the errors of both of its children."""

    branch: Branch
    low_size: int
    low_error: int
    high_error: int


class Share(NamedTuple):
    """A first test, the splits of its low child, and the spectra of both children."""

    branch: Branch
    low_size: int
    low: Spectrum
    high: Spectrum


class Counting:
    """Spectra of a space's states, remembered.

    Attributes
    ----------
    found : the trees of the root found so far, by error, while these are counted
    """

    def __init__(self, space: Space, barred: Barred = NOTHING, watch: Watch | None = None) -> None:
        self.space, self.watch = space, watch or Watch()
        self.root = space.root(barred)
        self.found: Spectrum = {}
        self._least: dict[tuple[State, int], int | None] = {}
        self._least_used: dict[Any, Any] = {}
        self._known: dict[tuple[State, int], tuple[int, Spectrum]] = {}
        self._branches: dict[State, Sequence[Branch]] = {}
        self._shares: dict[tuple[State, int], list[Share]] = {}
        self._ways: dict[tuple[State, int, int], tuple[list[int], list[Way]]] = {}

    def branches(self, state: State) -> Sequence[Branch]:
        """The tests that divide a state; none if it is pure."""
        if state not in self._branches:
            pure = self.space.leaf(state)[1]
            self._branches[state] = () if pure else self.space.branches(state)
        return self._branches[state]

    def least(self, state: State, size: int) -> int | None:
        """The least error of a tree of exactly so many splits; None if there is none."""
        if size == 0:
            return self.space.leaf(state)[0]
        if (state, size) not in self._least:
            self.watch.look(1)
            best = NEVER
            for branch in self.branches(state):
                for low_size in range(size):
                    error = self._sum(branch, low_size, size - 1 - low_size)
                    if error is not None and (best is None or error < best):
                        best = error
            self._least[state, size] = best
        return self._least[state, size]

    def unused(self, groups: Sequence[Barred]) -> Callable[[int, Any], list[int]]:
        """Counts trees of the root that test no variable of a group, by group.

        The function takes a size and a limit.
        """
        countings = [Counting(self.space, group, self.watch) for group in groups]

        def count(size: int, limit: Any) -> list[int]:
            spectra = (each.spectrum(each.root, size, limit) for each in countings)
            return [sum(n for error, n in each.items() if error <= limit) for each in spectra]

        return count

    def least_with(self, size: int, barred: Barred, known: Any) -> Any:
        """The least error of a tree with at most so many splits that tests some variables.

        None if there is none. With fewer splits it is known already.
        """
        marks = frozenset(range(1, len(barred) + 1))
        here = self._least_using(self.space.root(barred), size, marks)
        return min((error for error in (known, here) if error is not None), default=None)

    def _least_using(self, state: State, size: int, wanted: Barred) -> int | None:
        """The least error of a tree of exactly so many splits that tests all that is wanted.

        These are marks of barred variables; the others may be tested, too.
        """
        if size == 0:
            return None if wanted else self.space.leaf(state)[0]
        if size < len(wanted) or self.space.leaf(state)[1]:
            return None
        key = state, size, wanted
        if key not in self._least_used:
            self.watch.look(1)
            tests = [(0, branch) for branch in self.branches(state)]
            tests += self.space.marked_branches(state)
            sums = (
                self._sum_using(branch, low_size, size - 1 - low_size, part, rest)
                for mark, branch in tests
                for low_size in range(size)
                for part, rest in shared_out(wanted - {mark})
            )
            known = [error for error in sums if error is not None]
            self._least_used[key] = min(known, default=None)
        return self._least_used[key]

    def _sum_using(
        self, branch: Branch, low_size: int, high_size: int, part: Barred, rest: Barred
    ) -> int | None:
        """The least error with a first test, and shares of the splits and of what is wanted."""
        low = self._least_using(branch.low, low_size, part)
        high = None if low is None else self._least_using(branch.high, high_size, rest)
        return _weighted(branch, low, high)

    def _sum(self, branch: Branch, low_size: int, high_size: int) -> int | None:
        """The least error with a first test and a share of the other splits."""
        low = self.least(branch.low, low_size)
        return _weighted(branch, low, None if low is None else self.least(branch.high, high_size))

    def spectrum(self, state: State, size: int, limit: Any) -> Spectrum:
        """The number of trees of a size by error, up to a limit at least."""
        if size == 0:
            error = self.space.leaf(state)[0]
            return {error: 1} if error <= limit else {}
        made, known = self._known.get((state, size), (-1, {}))
        if made < limit:
            known = self._count(state, size, limit)
            self._known[state, size] = limit, known
        return known

    def count(self, size: int, limit: int) -> tuple[Spectrum, str]:
        """The trees of the root by error; what ended counting before all were found, or ""."""
        self.found, ended = {}, ""
        try:
            spectrum = self.spectrum(self.root, size, limit)
        except Stopped as stopped:
            spectrum, ended = self.found, str(stopped)
        except KeyboardInterrupt:
            spectrum, ended = self.found, "Ctrl-C"
        return {error: number for error, number in spectrum.items() if error <= limit}, ended

    def _count(self, state: State, size: int, limit: int) -> Spectrum:
        found: Spectrum = {}
        shares = []
        if state == self.root:
            self.found = found
        for share in self.shares(state, size, limit):
            shares.append(share)
            branch, _, low, high = share
            before, times = len(found) - 1, branch.times
            low_weight, high_weight = branch.low_weight, branch.high_weight
            ordered = sorted(high.items())
            for low_error, low_count in low.items():
                left = limit - low_weight * low_error
                for high_error, high_count in ordered:
                    if high_weight * high_error > left:
                        break
                    error = low_weight * low_error + high_weight * high_error
                    found[error] = found.get(error, 0) + times * low_count * high_count
            self.watch.look(len(found) - before)
            if found is self.found:
                self.watch.look_at(found)
        self._shares[state, size] = shares  # whoever draws trees needs them again
        return found

    def shares(self, state: State, size: int, limit: int) -> Iterator[Share]:
        """The first tests, and the spectra of both children for each share of the other splits."""
        for branch in self.branches(state):
            for low_size in range(size):
                high_size = size - 1 - low_size
                low_least = self.least(branch.low, low_size)
                high_least = self.least(branch.high, high_size)
                if low_least is None or high_least is None:
                    continue
                low_least, high_least = (
                    branch.low_weight * low_least, branch.high_weight * high_least,
                )  # fmt: skip
                if low_least + high_least <= limit:
                    rooms = (
                        _divide(limit - high_least, branch.low_weight),
                        _divide(limit - low_least, branch.high_weight),
                    )
                    low = self.spectrum(branch.low, low_size, rooms[0])
                    high = self.spectrum(branch.high, high_size, rooms[1])
                    yield Share(branch, low_size, low, high)

    def known_shares(self, state: State, size: int, limit: Any) -> list[Share]:
        """As ``shares``, remembered; perhaps up to a larger limit."""
        self.spectrum(state, size, limit)
        return self._shares[state, size]

    def ways(self, state: State, size: int, error: int) -> tuple[list[int], list[Way]]:
        """How a tree of a size and an error can begin, and the running sum of the trees of each."""
        key = state, size, error
        if key not in self._ways:
            found, counts = [], []
            for branch, low_size, low, high in self.known_shares(state, size, error):
                for low_error, low_count in low.items():
                    high_error = error - branch.low_weight * low_error
                    if branch.high_weight != 1:
                        high_error, rest = divmod(high_error, branch.high_weight)
                        if rest:
                            continue
                    if high_error in high:
                        found.append(Way(branch, low_size, low_error, high_error))
                        counts.append(branch.times * low_count * high[high_error])
            self._ways[key] = list(accumulate(counts)), found
        return self._ways[key]

    def draw(self, place: Any, state: State, size: int, error: int, draws: random.Random) -> Any:
        """One of the trees of a size and an error, nested, each equally likely."""
        if size == 0:
            return self.space.label(place)
        sums, ways = self.ways(state, size, error)
        branch, low_size, *errors = ways[bisect_right(sums, draws.randrange(sums[-1]))]
        ends = self.space.ends(place, branch)
        end = ends[draws.randrange(len(ends))]
        places = (end.high, end.low) if end.swapped else (end.low, end.high)
        sizes = low_size, size - 1 - low_size
        nested = [
            self.draw(*below, draws)
            for below in zip(places, (branch.low, branch.high), sizes, errors, strict=True)
        ]
        return (end.test, *(nested[::-1] if end.swapped else nested))

    def each(self, place: Any, state: State, size: int, error: int) -> Iterator[Any]:
        """All trees of a size and an error, nested."""
        if size == 0:
            yield self.space.label(place)
            return
        for branch, low_size, low_error, high_error in self.ways(state, size, error)[1]:
            for end in self.space.ends(place, branch):
                low, high = (end.high, end.low) if end.swapped else (end.low, end.high)
                for one in self.each(low, branch.low, low_size, low_error):
                    rest = size - 1 - low_size
                    for other in self.each(high, branch.high, rest, high_error):
                        yield (end.test, other, one) if end.swapped else (end.test, one, other)


def shared_out(wanted: Barred) -> list[tuple[Barred, Barred]]:
    """All ways to share variables between two children."""
    parts = chain.from_iterable(combinations(wanted, count) for count in range(len(wanted) + 1))
    return [(frozenset(part), wanted - frozenset(part)) for part in parts]


def _divide(error: Any, weight: int) -> Any:
    """An error in units of a child, rounded down; Fractions have no weights."""
    return error if weight == 1 else error // weight


def _weighted(branch: Branch, low: int | None, high: int | None) -> int | None:
    """The error of a state from those of a test's children; None if one of them has no tree."""
    if low is None or high is None:
        return None
    return branch.low_weight * low + branch.high_weight * high
