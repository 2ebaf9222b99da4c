"""Rows packed by class: their answers to tests, and exact sums of their weights.

Rows are sorted by class and each class begins with a new word of 64 slots. A set of rows is a mask,
one bit a slot; ``words`` of several masks have one row each. Weights are floats as given, and whole
numbers of ``weight_unit``, whose sums are exact; factors of classes come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np

from mictree._support.checks import as_fraction
from mictree._support.sums import as_number, exact_sums
from mictree.columns.literals import Literals
from mictree.columns.ordered import Ranks
from mictree.columns.packing import pack_bits, valid_slots
from mictree.problems.labels import Factors
from mictree.problems.slots import by_class, unpack, weigh, weigh_exactly

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]
Words = np.typing.NDArray[np.uint64]


class PackedRows:
    """The rows of a data set; ``SampleProblem`` lists the attributes."""

    literals: Literals
    bits: Words
    ranks: tuple[Ranks, ...]
    valid: Words
    class_rows: IntArray
    first_word: IntArray
    class_weight: FloatArray
    weights: FloatArray
    whole_weights: FloatArray
    weight_unit: float
    rounded: bool  # whether whole_weights are rounded

    def lay_out(self, class_rows: IntArray) -> None:
        """Give each class its words."""
        self.class_rows = class_rows
        words = ((rows + 63) // 64 for rows in class_rows.tolist())
        self.first_word = np.array([*accumulate(words, initial=0)], dtype=np.int64)
        self.valid = np.empty(self.first_word[-1], dtype=np.uint64)
        valid_slots(class_rows, self.first_word, self.valid)

    def words(self, literal: int) -> Words:
        """The bits of any literal."""
        number, position = self.literals.locate(literal)
        column = self.literals.columns[number]
        if number not in self.literals.ordered or position == column.thresholds:
            return self.bits[np.searchsorted(self.literals.stored_bits, literal)]
        ranks = self.ranks[self.literals.ordered.index(number)]
        return pack_bits(ranks > position + column.missing, self.slots, len(self.valid) * 64)[0]

    @cached_property
    def slots(self) -> np.typing.NDArray[np.intp]:
        """The slots that hold a row."""
        return np.flatnonzero(unpack(self.valid))

    def rows_in(self, slots: IntArray) -> IntArray:
        """The row in each of some slots, as numbered in ``ranks``."""
        code = np.searchsorted(self.first_word, slots // 64, side="right") - 1
        first = np.cumsum(self.class_rows) - self.class_rows  # row of each class
        return slots - (64 * self.first_word[:-1] - first)[code]

    def ranks_at(self, mask: np.ndarray, number: int) -> Ranks:
        """The ranks of a mask's rows in an ordered column."""
        here = unpack(mask)[self.slots]
        return self.ranks[self.literals.ordered.index(number)][here.astype(bool)]

    def halves(self, mask: np.ndarray, variables: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """The exact weight of each class on both sides of each split of a leaf."""
        bits = self.bits_of(variables)
        return self.sums(~bits & mask), self.sums(bits & mask)

    def bits_of(self, variables: np.ndarray) -> Words:
        """The bits of several literals."""
        if not self.ranks:
            return self.bits[variables]
        bits = np.empty((len(variables), len(self.valid)), dtype=np.uint64)
        for place, literal in enumerate(variables.tolist()):
            bits[place] = self.words(literal)
        return bits

    def counts(self, words: np.ndarray) -> IntArray:
        """The ones of each row of words, by class."""
        return by_class(np.bitwise_count(words).astype(np.int64), self.first_word)

    def masses(self, words: np.ndarray) -> FloatArray:
        """The weight of the ones of each row of words, by class."""
        if self.rounded:
            sums = weigh(words, self.weights, self.first_word)
            return self.factors.masses(sums, self.weight_unit, whole=False)
        return self.factors.masses(self.sums(words), self.weight_unit)

    def sums(self, words: np.ndarray) -> FloatArray:
        """The whole weight of the ones of each row of words, by class, without factors: exact."""
        if not len(self.weights):
            return self.counts(words).astype(float)
        return weigh(words, self.whole_weights, self.first_word)

    def masses_of_leaves(self, leaves: Sequence[int], literals: Sequence[int]) -> FloatArray:
        """The weight of each class at each leaf, in order of creation, from the weights as given.

        Split number s, from 0, tests a literal at a leaf and makes the leaves 2s + 1 and 2s + 2.
        """
        held = self.slots
        leaf = np.zeros(len(held), dtype=np.int64)
        members = {0: np.arange(len(held))}
        for number, (split, literal) in enumerate(zip(leaves, literals, strict=True)):
            inside = members.pop(split)
            slots = held[inside].astype(np.uint64)
            high = self.words(literal)[slots >> 6] >> (slots & 63) & 1 > 0
            leaf[inside] = 2 * number + 1 + high
            members[2 * number + 1], members[2 * number + 2] = inside[~high], inside[high]
        codes = np.searchsorted(64 * self.first_word[1:], held, side="right")
        classes = len(self.class_rows)
        sums = exact_sums(
            self.weights[held], leaf * classes + codes, (2 * len(leaves) + 1) * classes
        )
        given = masses_of_sums(sums, leaves, classes)
        return self.factors.masses(given, self.weight_unit, whole=False)

    def exact_masses(self, mask: np.ndarray) -> list[Fraction]:
        """The weight of a mask's rows, by class."""
        if not len(self.weights):
            masses = [Fraction(int(count)) for count in self.counts(mask[None])[0]]
        else:
            masses = weigh_exactly(mask, self.weights, self.first_word)
        factors = map(as_fraction, self.class_weight.tolist())
        return [mass * factor for mass, factor in zip(masses, factors, strict=True)]

    def as_inputs(self, tests: Sequence[int]) -> tuple[dict[int, np.ndarray], np.ndarray, Fraction]:
        """The rows' answers to some tests; their masses, shape (classes, rows); the masses' sum."""
        held = self.slots
        columns = {test: unpack(self.words(test))[held] for test in tests}
        codes = np.searchsorted(64 * self.first_word, held, side="right") - 1
        weights = self.weights[held].tolist() if len(self.weights) else [1] * len(held)
        factors = [as_fraction(factor) for factor in self.class_weight.tolist()]
        masses = np.zeros((len(self.class_rows), len(held)), dtype=object)
        for row, (code, weight) in enumerate(zip(codes.tolist(), weights, strict=True)):
            masses[code, row] = as_fraction(weight) * factors[code]
        return columns, masses, self.exact_total

    @cached_property
    def factors(self) -> Factors:
        """The factors of classes, scaled."""
        return Factors.of(self.class_weight)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.masses(self.valid[None]).sum())

    @cached_property
    def exact_total(self) -> Fraction:
        """The weight of all rows, as a fraction."""
        return sum(self.exact_masses(self.valid), Fraction(0))


def masses_of_sums(sums: Sequence[int], leaves: Sequence[int], classes: int) -> FloatArray:
    """The weight of each class at each leaf, rounded once, from exact sums at the last leaves.

    Leaves are numbered as in ``PackedRows.masses_of_leaves``.
    """
    exact = [list(sums[start : start + classes]) for start in range(0, len(sums), classes)]
    for number in reversed(range(len(leaves))):
        children = exact[2 * number + 1], exact[2 * number + 2]
        exact[leaves[number]] = [low + high for low, high in zip(*children, strict=True)]
    return np.array([[float(as_number(total)) for total in each] for each in exact])
