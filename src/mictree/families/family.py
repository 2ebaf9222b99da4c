"""Families of formulas: every read-once DNF up to renaming, within some bound.

A member is a multiset of terms whose total cost is at most the family's capacity. A term costs 1
where the number of terms is bounded, and as much as it has literals where that of variables is.
Members are numbered without gaps, so a family needs no object per formula: number 0 is the constant
and member r the row of term numbers, descending, that r rows precede in lexicographic order.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from mictree._support.checks import as_fraction, check_count, show_fraction
from mictree.functions.read_once import ReadOnceDNF
from mictree.optimal.lattice import DistinctTerms
from mictree.problems.formula import FormulaProblem, TermValues

__all__ = ["Family", "grid", "up_to"]


@dataclass(frozen=True)
class Family:
    """All multisets of at most ``capacity`` worth of terms.

    Attributes
    ----------
    name : how it was made, as text
    biases : the distinct satisfaction probabilities of literals, ascending
    term_values : the terms, by number from 1; a term is the places of its literals' biases
    costs : what each term costs, by number; never falls with the number
    capacity : the largest total cost of a member's terms

    Examples
    --------
    >>> import mictree as mt
    >>> mt.families.grid(max_terms=2, max_literals=2, biases=(0.5,)).name
    'grid(max_terms=2, max_literals=2, biases=(0.5,))'
    """

    name: str
    biases: tuple[Fraction, ...]
    term_values: tuple[TermValues, ...]
    costs: tuple[int, ...]
    capacity: int

    def __len__(self) -> int:
        return self._count - 1  # number 0 is the constant, not a formula

    def __repr__(self) -> str:
        return self.name

    @property
    def members(self) -> range:
        """The numbers of the members."""
        return range(1, len(self) + 1)

    @property
    def key(self) -> str:
        """A checksum of all that the family consists of; its name shows 12 digits of biases."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()

    @cached_property
    def before(self) -> np.typing.NDArray[np.int64]:
        """``before[term, cost]``: how many members have terms up to a number and total cost."""
        table = np.ones((len(self.term_values), self.capacity + 1), dtype=object)
        for term in range(1, len(self.term_values)):
            cost = self.costs[term]
            table[term] = table[term - 1]
            for total in range(cost, self.capacity + 1):
                table[term, total] += table[term, total - cost]
        if table[-1, -1] >= 2**31:
            raise ValueError(
                f"a family may have at most {2**31 - 2:,} members; {self.name} has "
                f"{table[-1, -1] - 1:,}"
            )
        return table.astype(np.int64)

    @property
    def _count(self) -> int:
        return int(self.before[-1, -1])

    @cached_property
    def distinct_terms(self) -> DistinctTerms:
        """The terms and what each becomes when a literal is satisfied."""
        return DistinctTerms.of(self.term_values)

    def row(self, member: int) -> list[int]:
        """The term numbers of a member, descending."""
        if not 1 <= member <= len(self):
            raise ValueError(f"members are numbered from 1 to {len(self):,}; got {member}")
        room, left, row = self.capacity, member, []
        while left:
            # the first term is the largest whose predecessors leave this number to it
            term = int(np.searchsorted(self.before[:, room], left, side="right"))
            left -= int(self.before[term - 1, room])
            room -= self.costs[term]
            row.append(term)
        return row

    def formula(self, member: int) -> ReadOnceDNF:
        """A member as a formula, shorter terms first, positive literals ``x1_1, x1_2, ...``."""
        lengths = [len(self.term_values[term]) for term in reversed(self.row(member))]
        return ReadOnceDNF.of_sizes(lengths)

    def problem(self, member: int) -> FormulaProblem:
        """A member under its product distribution."""
        terms = [self.term_values[term] for term in reversed(self.row(member))]
        biases = [self.biases[value] for term in terms for value in term]
        return FormulaProblem(self.formula(member), biases)

    def number(self, terms: Sequence[Sequence[float | Fraction]]) -> int:
        """The number of the member whose terms have the given satisfaction probabilities."""
        place = {bias: index for index, bias in enumerate(self.biases)}
        number = {term: index for index, term in enumerate(self.term_values)}
        try:
            row = [number[tuple(sorted(place[as_fraction(b)] for b in term))] for term in terms]
        except KeyError:
            raise ValueError(f"{self.name} has no member with terms {terms}") from None
        room, rank = self.capacity, 0
        for term in sorted(row, reverse=True):
            if room < self.costs[term]:
                raise ValueError(f"{self.name} has no member with terms {terms}")
            rank += int(self.before[term - 1, room])
            room -= self.costs[term]
        return rank

    def term_names(self) -> list[str]:
        """How each term is written: ``3``, or ``2*0.3,1*0.7`` with biases other than 1/2.

        ``FormulaProblem.from_sizes`` reads it.
        """
        if self.biases == (Fraction(1, 2),):
            return [str(len(term)) for term in self.term_values]
        shown = [show_fraction(bias) for bias in self.biases]
        return [
            ",".join(f"{term.count(value)}*{shown[value]}" for value in sorted(set(term)))
            for term in self.term_values
        ]


def grid(max_terms: int, max_literals: int, biases: Sequence[float | Fraction] = (0.5,)) -> Family:
    """Every read-once DNF within a number of terms and of literals in each term.

    Parameters
    ----------
    max_terms, max_literals : at least 1
    biases : the satisfaction probabilities that a literal may have

    Examples
    --------
    >>> len(grid(max_terms=8, max_literals=8, biases=(0.5,)))
    12869
    """
    terms = check_count(max_terms, "max_terms", least=1)
    literals = check_count(max_literals, "max_literals", least=1)
    values = _read_biases(biases)
    name = f"grid(max_terms={terms}, max_literals={literals}, biases={_show(values)})"
    every_term = _every_term(literals, len(values))
    return Family(name, values, every_term, (0,) + (1,) * (len(every_term) - 1), terms)


def up_to(variables: int, biases: Sequence[float | Fraction] = (0.5,)) -> Family:
    """Every read-once DNF on at most the given number of variables.

    Examples
    --------
    >>> len(up_to(variables=30, biases=(0.5,)))
    28628
    """
    count = check_count(variables, "variables", least=1)
    values = _read_biases(biases)
    every_term = _every_term(count, len(values))
    name = f"up_to(variables={count}, biases={_show(values)})"
    return Family(name, values, every_term, tuple(map(len, every_term)), count)


def _read_biases(biases: Sequence[float | Fraction]) -> tuple[Fraction, ...]:
    if isinstance(biases, str) or not np.iterable(biases) or not len(biases):
        raise ValueError(f"biases must be a sequence of at least one number; got {biases!r}")
    values = [as_fraction(bias) for bias in biases]
    for bias, value in zip(biases, values, strict=True):
        if not 0 < value < 1:
            raise ValueError(f"a bias must lie strictly between 0 and 1; got {bias}")
    if len(set(values)) < len(values):
        raise ValueError(f"biases must differ; got {tuple(biases)}")
    return tuple(sorted(values))


def _show(biases: tuple[Fraction, ...]) -> str:
    return "(" + ", ".join(f"{float(bias):.12g}" for bias in biases) + ",)"


def _every_term(max_literals: int, biases: int) -> tuple[TermValues, ...]:
    """All terms by number; number 0 is no term."""
    return tuple(
        term
        for length in range(max_literals + 1)
        for term in combinations_with_replacement(range(biases), length)
    )
