"""The graph of a whole family: every member and every test, numbered by rank.

A family is closed under restriction, so its members are all the restrictions there are. The number
of a child is computed from its terms; nothing is searched for.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import inner_jit, jit, run
from mictree._support.numbers import at_least_one
from mictree.families.family import Family
from mictree.optimal.lattice import Graph

BYTES_EACH = 76  # of one member without its edges and errors
BYTES_EACH_EDGE = 15
CHUNK = 4096  # members enumerated in one go
STEPS = 100  # inner steps that an edge or a member costs, see run

_at_least_one = jit(at_least_one)


@dataclass(frozen=True)
class FamilyGraph:
    """A family's restrictions by member number; 0 is the constant."""

    family: Family
    graph: Graph
    positive_rate: np.typing.NDArray[np.float64]
    negative_rate: np.typing.NDArray[np.float64]  # not 1 - positive_rate, which may cancel
    term_chance: np.typing.NDArray[np.float64]  # the probability of each term
    terms: np.typing.NDArray[np.int16]  # how many terms each member has
    edge_term: np.typing.NDArray[np.int32]  # the term whose literal an edge tests

    @property
    def memory(self) -> int:
        """In bytes."""
        return memory_of(len(self.graph), len(self.graph.low))


class _Ranking(NamedTuple):
    """How members are numbered; the first two are the family's."""

    before: np.ndarray
    costs: np.ndarray
    most_terms: int


class _Moves(NamedTuple):
    """The tests of each term: the bias of the literal, and the term that is left."""

    first: np.ndarray  # for each term
    value: np.ndarray
    to: np.ndarray


class _Terms(NamedTuple):
    """All terms by number."""

    lengths: np.ndarray
    chances: np.ndarray
    failures: np.ndarray


class _Filled(NamedTuple):
    """What the kernel writes: four arrays by member, then four by edge."""

    literals: np.ndarray
    positive_rate: np.ndarray
    negative_rate: np.ndarray
    terms: np.ndarray
    low: np.ndarray
    high: np.ndarray
    value: np.ndarray
    edge_term: np.ndarray


def memory_of(members: int, edges: int) -> int:
    """Of a graph, in bytes."""
    return members * BYTES_EACH + edges * BYTES_EACH_EDGE


def build(family: Family, memory_limit: int) -> FamilyGraph:
    """Enumerate a family's members and edges, or refuse when they exceed the memory limit."""
    count = len(family) + 1
    if memory_of(count, 0) > memory_limit:
        raise TooLarge.states(count, memory_limit, "a smaller family")
    distinct = family.distinct_terms
    costs = np.array(family.costs, dtype=np.int64)
    ranking = _Ranking(family.before, costs, family.capacity // int(costs[1:].min()))
    moves = _Moves(distinct.first_move, distinct.move_value, distinct.move_to)
    degree = np.zeros(count + 1, dtype=np.int64)
    chunks = -(-count // CHUNK)
    run(_count_edges, chunks, STEPS * count, ranking, moves, degree)
    first = np.cumsum(degree)
    if memory_of(count, int(first[-1])) > memory_limit:
        raise TooLarge.states(count, memory_limit, "a smaller family")
    graph = Graph(
        literals=np.empty(count, dtype=np.int32),
        first=first,
        low=np.empty(first[-1], dtype=np.int32),
        high=np.empty(first[-1], dtype=np.int32),
        value=np.empty(first[-1], dtype=np.int16),
    )
    chances, failures = _chances(family)
    built = FamilyGraph(
        family,
        graph,
        positive_rate=np.empty(count),
        negative_rate=np.empty(count),
        term_chance=chances,
        terms=np.empty(count, dtype=np.int16),
        edge_term=np.empty(first[-1], dtype=np.int32),
    )
    lengths = np.array([len(term) for term in family.term_values], dtype=np.int32)
    out = _Filled(
        graph.literals, built.positive_rate, built.negative_rate, built.terms,
        graph.low, graph.high, graph.value, built.edge_term,
    )  # fmt: skip
    terms = _Terms(lengths, chances, failures)
    run(_fill_graph, chunks, STEPS * len(graph.low), ranking, moves, terms, graph.first, out)
    return built


def member_terms(family: Family, terms: np.ndarray) -> np.typing.NDArray[np.int32]:
    """The term numbers of all members, ascending, one member after another.

    ``terms`` is the number of terms of each member.
    """
    costs = np.array(family.costs, dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(terms, dtype=np.int64)])
    flat = np.empty(first[-1], dtype=np.int32)
    _fill_terms(family.before, costs, first, flat)
    return flat


def _chances(family: Family) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities that each term is satisfied, and that it fails, as FormulaProblem's."""
    values = [float(bias) for bias in family.biases]
    failing = [float(1 - bias) for bias in family.biases]
    chances, failures = np.ones(len(family.term_values)), np.zeros(len(family.term_values))
    for number, term in enumerate(family.term_values):
        for value in term:
            chances[number] *= values[value]
        failures[number] = at_least_one(sorted(failing[value] for value in term))
    return chances, failures


@jit
def _count_edges(start, stop, ranking, moves, out_degree):
    """Write the number of edges of the members in some chunks one place later, to be summed up."""
    count = len(out_degree) - 1
    for chunk in range(start, stop):
        row = np.zeros(ranking.most_terms + 1, dtype=np.int64)
        length = unrank(chunk * CHUNK, ranking.before, ranking.costs, row)
        for member in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK)):
            edges = 0
            for position in range(length):
                if position == 0 or row[position] != row[position - 1]:
                    edges += moves.first[row[position] + 1] - moves.first[row[position]]
            out_degree[member + 1] = edges
            length = _next_row(length, ranking.costs, ranking.before.shape[1] - 1, row)


@jit
def _fill_graph(start, stop, ranking, moves, terms, first, out):
    """Write the members in some chunks, and their edges."""
    count = len(out.literals)
    for chunk in range(start, stop):
        row = np.zeros(ranking.most_terms + 1, dtype=np.int64)
        ascending = np.empty(ranking.most_terms + 1)
        length = unrank(chunk * CHUNK, ranking.before, ranking.costs, row)
        for member in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK)):
            _fill_member(member, row, length, terms, ascending, out)
            _fill_edges(first[member], row, length, ranking, moves, out)
            length = _next_row(length, ranking.costs, ranking.before.shape[1] - 1, row)


@inner_jit
def _fill_member(member, row, length, terms, ascending, out):
    """Write the literals and rates of a member, given its terms."""
    literals = 0
    negative = 1.0
    for position in range(length):
        literals += terms.lengths[row[position]]
        negative *= terms.failures[row[position]]
        ascending[position] = terms.chances[row[position]]
    ascending[:length].sort()
    out.literals[member] = literals
    out.terms[member] = length
    out.positive_rate[member] = _at_least_one(ascending[:length])
    out.negative_rate[member] = negative


@inner_jit
def _fill_edges(edge, row, length, ranking, moves, out):
    """Write the edges of a member, given its terms, from a first place on."""
    before, costs = ranking.before, ranking.costs
    rank, room = 0, before.shape[1] - 1  # of the terms before the position
    for position in range(length):
        term = row[position]
        if position == 0 or term != row[position - 1]:
            low = rank + _rank_rest(row, position + 1, length, 0, room, before, costs)
            for move in range(moves.first[term], moves.first[term + 1]):
                high, after = 0, moves.to[move]
                if after > 0:
                    high = rank + _rank_rest(row, position + 1, length, after, room, before, costs)
                out.low[edge] = low
                out.high[edge] = high
                out.value[edge] = moves.value[move]
                out.edge_term[edge] = term
                edge += 1
        rank += before[term - 1, room]
        room -= costs[term]


@jit
def _fill_terms(before, costs, first, out_flat):
    """Write the terms of every member in ascending order."""
    row = np.zeros(before.shape[1] + 1, dtype=np.int64)
    length = 0
    for member in range(len(first) - 1):
        for position in range(length):
            out_flat[first[member] + position] = row[length - 1 - position]
        length = _next_row(length, costs, before.shape[1] - 1, row)


@jit
def unrank(member, before, costs, out_row):
    """Write the terms of a member, descending; returns how many."""
    room = before.shape[1] - 1
    length = 0
    while member > 0:
        below, above = 0, before.shape[0]  # before[below, room] <= member < before[above, room]
        while above - below > 1:
            middle = (below + above) // 2
            if before[middle, room] <= member:
                below = middle
            else:
                above = middle
        member -= before[below, room]
        room -= costs[below + 1]
        out_row[length] = below + 1
        length += 1
    return length


@jit
def _rank_rest(row, position, length, inserted, room, before, costs):
    """What the terms from a position on, and one inserted among them (0: none), add to the rank."""
    rank = 0
    while position < length or inserted > 0:
        if inserted > 0 and (position == length or row[position] <= inserted):
            term = np.int64(inserted)
            inserted = 0
        else:
            term = row[position]
            position += 1
        rank += before[term - 1, room]
        room -= costs[term]
    return rank


@jit
def _next_row(length, costs, room, row):
    """Turn a row into the next one in lexicographic order; returns its length."""
    for position in range(length):
        room -= costs[row[position]]
    if room >= costs[1]:
        row[length] = 1
        return length + 1
    while length > 0:
        term = row[length - 1]
        room += costs[term]
        largest = row[length - 2] if length > 1 else len(costs) - 1
        if term < largest and costs[term + 1] <= room:
            row[length - 1] = term + 1
            return length
        length -= 1
    return 0
