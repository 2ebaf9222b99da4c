"""The graph of all restrictions below one read-once formula, as flat arrays.

A restriction is a multiset of terms, a term a multiset of satisfaction probabilities: which
variables are left does not matter under a product distribution, only these. Each distinct term is a
number, and a restriction a row of term numbers in descending order. Testing a literal removes its
term (the literal fails) or shortens it (the literal is satisfied).

Restrictions are found by distance, the least number of tests that lead to them, and entered in a
hash table. A lattice that is too large is refused before it is made, where a count of restrictions
by distance is a quick lower bound on their number.

Invariant: an edge leads to restrictions with fewer literals, so the order by literals is an order
in which a dynamic program can fill them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import NamedTuple

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import jit
from mictree.optimal.allowed import AllowedTests, Tests, mark_allowed
from mictree.optimal.solve import Top
from mictree.problems.formula import FormulaProblem, TermValues, without

PURE = 0  # the restriction of every constant formula, true or false
NO_TERM = 0
IntArray = np.typing.NDArray[np.int32]
BYTES_EACH = 28  # of one restriction without its terms, edges and errors
LOOK_AHEAD = 2**24  # bytes spent to say what would fit when the whole does not


@dataclass(frozen=True)
class Graph:
    """Restrictions and the tests that lead from one to another.

    Restriction 0 stands for constants. Edge e from a restriction means "test a literal of
    satisfaction probability number ``value[e]``"; the edges of restriction r are numbered
    ``first[r]`` to ``first[r + 1]``.
    """

    literals: IntArray  # how many literals are left
    first: np.typing.NDArray[np.int64]
    low: IntArray  # the restriction after the literal failed
    high: IntArray  # the restriction after the literal was satisfied
    value: np.typing.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.literals)

    def edges(self, restriction: int) -> range:
        """The numbers of the edges that leave a restriction."""
        return range(self.first[restriction], self.first[restriction + 1])

    @cached_property
    def order(self) -> IntArray:
        """The restrictions, fewer literals first, so that both ends of an edge come before it."""
        return np.argsort(self.literals.astype(np.int16), kind="stable").astype(np.int32)


@dataclass(frozen=True)
class Lattice:
    """All restrictions at most ``max_size`` tests below a formula, which is restriction 1."""

    graph: Graph
    terms: IntArray  # (restrictions, most terms), term numbers, descending, padded with NO_TERM
    distance: IntArray  # the least number of tests from the formula to the restriction
    values: tuple[TermValues, ...]  # what each term number stands for

    def __len__(self) -> int:
        return len(self.distance)

    def tested_term(self, restriction: int, edge: int) -> TermValues:
        """The term whose literal an edge tests: the one that the low end lacks."""
        after = Counter(self.terms[self.graph.low[edge]].tolist())
        (term,) = (Counter(self.terms[restriction].tolist()) - after - Counter([NO_TERM])).keys()
        return self.values[term]


def build(
    problem: FormulaProblem, max_size: int, memory_limit: int, top: Top | None = None
) -> Lattice:
    """Enumerate the restrictions breadth first; refuse when they exceed the memory limit.

    With ``top``, only those that allowed tests reach.
    """
    at_least = fewest_restrictions(problem.terms, max_size) if top is None else 1
    look_ahead = memory_limit
    if at_least * (4 * len(problem.terms) + BYTES_EACH) > memory_limit:
        # the outcome is known; look a little way only, to say what would fit
        look_ahead = min(memory_limit, LOOK_AHEAD)
    terms, reached = DistinctTerms.below(problem.terms, max_size, look_ahead)
    allowed = None if top is None else AllowedTests(problem, terms.values, top)
    builder = _Builder(problem.terms, terms, reached, allowed and allowed.arrays)
    whole = builder.expand(look_ahead)
    if allowed is not None:
        allowed.settle()
    if not whole or reached < max_size:
        count = max(at_least, builder.count)
        raise TooLarge.states(count, memory_limit, f"max_size={builder.fitting(memory_limit)}")
    return builder.lattice()


@dataclass(frozen=True)
class DistinctTerms:
    """Every term that can be left, by number; a shorter term has a smaller number.

    Move m of term n, from ``first_move[n]`` to ``first_move[n + 1]``, tests a literal of
    probability ``move_value[m]`` and leaves term ``move_to[m]``, NO_TERM when it is satisfied.
    """

    values: tuple[TermValues, ...]
    first_move: IntArray
    move_value: IntArray
    move_to: IntArray

    @classmethod
    def below(
        cls, terms: Iterable[TermValues], max_size: int, memory_limit: int
    ) -> tuple["DistinctTerms", int]:
        """The terms within ``max_size`` tests of the given ones, or within fewer that fit.

        Returns them and the number of tests.
        """
        found: set[TermValues] = set()
        layer = set(terms)
        longest = max(map(len, layer))
        reached = max_size
        for tests in range(max_size + 1):
            if not layer:
                break
            if tests and (len(found) + len(layer)) * 16 * longest > memory_limit:
                reached = tests - 1
                break
            found |= layer
            layer = {without(term, value) for term in layer for value in set(term)} - found
        return cls.of(((), *sorted(found - {()}, key=lambda term: (len(term), term)))), reached

    @classmethod
    def of(cls, values: tuple[TermValues, ...]) -> "DistinctTerms":
        """The given terms, which start with ``()`` and grow in length."""
        number = {term: index for index, term in enumerate(values)}
        moves = [
            # what lies beyond max_size tests is never asked for
            [(value, number.get(without(term, value), NO_TERM)) for value in sorted(set(term))]
            for term in values
        ]
        first_move = np.cumsum([0, *map(len, moves)])
        pairs = np.array([pair for row in moves for pair in row], dtype=np.int32).reshape(-1, 2)
        return cls(values, first_move.astype(np.int32), pairs[:, 0].copy(), pairs[:, 1].copy())


class _Builder:
    """Growing arrays around the kernel that expands one restriction after another."""

    def __init__(
        self,
        formula: tuple[TermValues, ...],
        terms: DistinctTerms,
        max_size: int,
        tests: Tests | None,  # None: all are allowed
    ) -> None:
        self.distinct = terms
        self.tests = tests
        self.max_size = max_size
        self.literals = np.array([len(term) for term in terms.values], dtype=np.int32)
        number = {term: index for index, term in enumerate(terms.values)}
        self.most_edges = sum(len(set(term)) for term in formula)
        capacity = 8 * self.most_edges + 1024
        self.terms = np.zeros((capacity, len(formula)), dtype=np.int32)
        self.terms[1] = sorted((number[term] for term in formula), reverse=True)
        self.distance = np.zeros(capacity, dtype=np.int32)
        self.first = np.zeros(capacity + 1, dtype=np.int64)
        self.edges = np.zeros((capacity, 3), dtype=np.int32)  # low, high, value
        self.table = np.zeros(0, dtype=np.int32)
        self.count = 2  # restriction 0 is the constant, 1 the formula
        self.done = 1
        # of the restrictions found, expanded or not: their edges, and the least room for their
        # errors, as a perfect tree tests every literal
        self.needs = np.zeros(2, dtype=np.int64)

    def fitting(self, memory_limit: int) -> int:
        """The largest size, as far as was looked, whose restrictions and errors surely fit."""
        # all restrictions up to the distance of the one being expanded have been found
        most = int(self.distance[min(self.done, self.count - 1)])
        distance = self.distance[1 : self.count]
        degree = np.diff(self.first[1 : self.done + 1])
        for size in reversed(range(1, min(most, self.max_size) + 1)):
            near = distance <= size
            edges = int(degree[distance[: len(degree)] < size].sum())
            errors = int((size - distance[near] + 1).sum())
            if self._bytes(int(near.sum()), edges, errors) <= memory_limit:
                return size
        return 0

    def expand(self, memory_limit: int) -> bool:
        """Expand all restrictions, or stop and say False when they exceed the limit."""
        moves = (self.distinct.first_move, self.distinct.move_value, self.distinct.move_to)
        while self.done < self.count:
            if self._size() > memory_limit:
                return False
            self._make_room(memory_limit)
            room = Room(self.terms, self.distance, self.first, self.edges, self.table, self.needs)
            self.done, self.count = _expand(
                self.done, self.count, self.max_size, self.literals, moves, self.tests, room
            )
        return True

    def lattice(self) -> Lattice:
        used = slice(0, self.count)
        edges = np.ascontiguousarray(self.edges[: self.first[self.count]].T)
        graph = Graph(
            literals=self.literals[self.terms[used]].sum(axis=1, dtype=np.int32),
            first=self.first[: self.count + 1],
            low=edges[0],
            high=edges[1],
            value=edges[2].astype(np.int16),
        )
        return Lattice(graph, self.terms[used], self.distance[used], self.distinct.values)

    def _size(self) -> int:
        """The least number of bytes that the restrictions found so far will need."""
        return self._bytes(self.count, *map(int, self.needs))

    def _bytes(self, restrictions: int, edges: int, errors: int) -> int:
        return restrictions * (4 * self.terms.shape[1] + BYTES_EACH) + 12 * edges + 8 * errors

    def _make_room(self, memory_limit: int) -> None:
        """Enlarge the arrays in place, to no more than twice their size or what may be used."""
        needed = self.count + 2 * self.most_edges
        if len(self.distance) < needed:
            most = memory_limit // (4 * self.terms.shape[1] + BYTES_EACH)
            length = max(needed, min(2 * len(self.distance), most))
            self.terms.resize((length, self.terms.shape[1]), refcheck=False)
            self.distance.resize(length, refcheck=False)
            self.first.resize(length + 1, refcheck=False)
        needed = int(self.first[self.done]) + self.most_edges
        if len(self.edges) < needed:
            length = max(needed, min(2 * len(self.edges), memory_limit // 12))
            self.edges.resize((length, 3), refcheck=False)
        if len(self.table) < 2 * len(self.distance):
            self.table = np.zeros(1 << (2 * len(self.distance) - 1).bit_length(), dtype=np.int32)
            _enter(self.terms, self.count, self.table)


class Room(NamedTuple):
    """Arrays that hold restrictions, with room for more."""

    terms: np.ndarray
    distance: np.ndarray
    first: np.ndarray
    edges: np.ndarray  # low, high, value
    table: np.ndarray  # a hash of the rows of terms
    needs: np.ndarray  # edges and errors of all restrictions


@jit
def _expand(done, count, max_size, literals, moves, tests, room):
    """Append the children of restrictions ``done``, ``done + 1``, ... until room runs out.

    Returns ``done`` and ``count``, the number of restrictions.
    """
    first_move, move_value, move_to = moves
    terms, distance, first, edges, table, needs = room
    most_terms = terms.shape[1]
    child = np.empty(most_terms, dtype=np.int32)
    allowed = np.ones(len(move_to), dtype=np.bool_)  # a restriction has each move at most once
    edge = first[done]
    while done < count:
        row = terms[done]
        most_edges = _count_edges(row, first_move)
        if len(distance) < count + 2 * most_edges or len(edges) < edge + most_edges:
            break
        steps = distance[done] + 1
        number = 0  # of the move, among those of all distinct terms
        # where tests is None, numba leaves this out; it would not if both were one condition
        if tests is not None:  # noqa: SIM102
            if steps <= max_size:
                mark_allowed(row, first_move, move_to, move_value, tests, allowed[:most_edges])
        for position in range(most_terms):
            if row[position] == 0 or steps > max_size:
                break
            if position > 0 and row[position] == row[position - 1]:
                continue
            begin, number = number, number + _count_moves(row[position], first_move)
            if not allowed[begin:number].any():
                continue
            # the literal fails: its term goes
            child[:position] = row[:position]
            child[position : most_terms - 1] = row[position + 1 :]
            child[most_terms - 1] = 0
            low = 0
            if child[0] != 0:
                low = _find(child, count, steps, terms, distance, table)
                if low == count:
                    count += 1
                    _add_needs(child, max_size - steps, literals, first_move, needs)
            for each in range(begin, number):
                if not allowed[each]:
                    continue
                move = first_move[row[position]] + each - begin
                shorter = move_to[move]
                high = 0
                if shorter > 0:
                    # a shorter term has a smaller number: move it back to its place
                    child[:] = row
                    place = position
                    while place + 1 < most_terms and child[place + 1] > shorter:
                        child[place] = child[place + 1]
                        place += 1
                    child[place] = shorter
                    high = _find(child, count, steps, terms, distance, table)
                    if high == count:
                        count += 1
                        _add_needs(child, max_size - steps, literals, first_move, needs)
                edges[edge, 0], edges[edge, 1], edges[edge, 2] = low, high, move_value[move]
                edge += 1
        done += 1
        first[done] = edge
    return done, count


@jit
def _count_moves(term, first_move):
    return first_move[term + 1] - first_move[term]


@jit
def _add_needs(row, budget, literals, first_move, needs):
    """Add the edges and the least number of errors of one restriction."""
    left = 0
    for term in row:
        left += literals[term]
    needs[0] += _count_edges(row, first_move) if budget > 0 else 0
    needs[1] += min(budget, left) + 1


@jit
def _count_edges(row, first_move):
    """How many different tests a restriction offers."""
    edges = 0
    for position in range(len(row)):
        if row[position] == 0:
            break
        if position == 0 or row[position] != row[position - 1]:
            edges += first_move[row[position] + 1] - first_move[row[position]]
    return edges


@jit
def _find(row, count, steps, terms, distance, table):
    """The number of a restriction; a new one is appended as number ``count``."""
    place = _hash(row) & (len(table) - 1)
    while table[place] != 0:
        known = table[place]
        same = True
        for position in range(len(row)):
            if terms[known, position] != row[position]:
                same = False
                break
        if same:
            return known
        place = (place + 1) & (len(table) - 1)
    table[place] = count
    terms[count] = row
    distance[count] = steps
    return count


@jit
def _enter(terms, count, table):
    """Fill an empty hash table with the restrictions from 1 on."""
    for number in range(1, count):
        place = _hash(terms[number]) & (len(table) - 1)
        while table[place] != 0:
            place = (place + 1) & (len(table) - 1)
        table[place] = number


@jit
def _hash(row):
    """Fowler, Noll and Vo's hash of the term numbers, folded once."""
    mixed = np.uint64(14695981039346656037)
    for number in row:
        mixed = (mixed ^ np.uint64(number)) * np.uint64(1099511628211)
    return np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


Term = tuple[int, ...]


def fewest_restrictions(terms: tuple[Term, ...], max_size: int) -> int:
    """At least so many restrictions lie within ``max_size`` tests of a formula.

    Terms that share no satisfaction probability, not even through others, never become alike: the
    counts of such parts multiply.
    """
    total = np.array([1], dtype=object)
    for part in _parts(terms):
        total = np.convolve(total, _fewest_of_part(part, max_size))[: max_size + 1]
    return int(total.sum())


def _parts(terms: tuple[Term, ...]) -> list[list[Term]]:
    """The terms, those together that share values directly or through others."""
    parts: list[tuple[set[int], list[Term]]] = []
    for term in terms:
        values, members = set(term), [term]
        apart = []
        for known, others in parts:
            if known & values:
                values |= known
                members += others
            else:
                apart.append((known, others))
        parts = [*apart, (values, members)]
    return [members for _, members in parts]


def _fewest_of_part(terms: list[Term], max_size: int) -> np.ndarray:
    """A lower bound for terms that may become alike, by distance."""
    if len(set().union(*terms)) == 1:
        return _of_one_value(sorted(map(len, terms), reverse=True), max_size)
    candidates = [_of_copies(term, copies, max_size) for term, copies in Counter(terms).items()]
    return max(candidates, key=lambda counts: counts.sum())


def _of_copies(term: Term, copies: int, max_size: int) -> np.ndarray:
    """Of equal terms, the larger of two families of restrictions.

    Each term lost at most one literal or was falsified; or only one term changed.
    """
    counts = Counter(term).values()
    ways = len(counts) + 1
    changed = range(min(copies, max_size) + 1)
    many = np.array([comb(ways + number - 1, number) for number in changed], dtype=object)
    left = np.array([1], dtype=object)  # by number of literals tested
    for count in counts:
        left = np.convolve(left, np.ones(count + 1, dtype=object))[: max_size + 1]
    if len(left) == len(term) + 1:
        left[-1] -= 1  # a satisfied term makes the formula constant
    if len(left) > 1:
        left[1] += 1  # the term falsified
    return max(many, left, key=lambda counted: counted.sum())


def _of_one_value(lengths: list[int], max_size: int) -> np.ndarray:
    """Where all literals are alike: rows of lengths below the given ones, place by place.

    Shortening a term costs one test a literal, and falsifying it one.
    """
    ways = {(lengths[0], 0): 1}  # by the last length chosen and the tests spent
    for length in lengths:
        longer: Counter[tuple[int, int]] = Counter()
        for (previous, spent), count in ways.items():
            for left in range(min(previous, length) + 1):
                cost = spent + (length - left if left else 1)
                if cost <= max_size:
                    longer[left, cost] += count
        ways = longer
    spent_in = defaultdict(int, {0: 1} if not ways else {})
    for (_, spent), count in ways.items():
        spent_in[spent] += count
    return np.array([spent_in[spent] for spent in range(max(spent_in) + 1)], dtype=object)
