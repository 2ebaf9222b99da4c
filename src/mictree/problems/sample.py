"""Data: the empirical distribution of the rows of a table.

Rows are sorted by class and packed: each class has slots of its own from a whole word of 64 on,
class c those of the words from ``first_word[c]`` to ``first_word[c + 1]``. A set of rows is a mask,
one bit a slot, and so is a literal; a leaf is a mask with the literals tested above it. Ordered
columns are stored as ranks, and their literals are made when they are needed.

Weights stand twice: as given, and as whole numbers of ``weight_unit``, whose sums are exact.
Growers choose splits by whole weights; masses and errors come from the weights as given. The
factors of classes are multiplied last, so equal sums stay equal. Labels are positions among the
sorted classes (``Coded``), and ``Limits`` says which leaves and splits a learner must not make.
"""

from __future__ import annotations

import copy
import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import as_fraction, check_categories, check_count, check_unmasked
from mictree._support.jit import inner_jit, jit
from mictree._support.numbers import as_number, exact_sum, exact_sums
from mictree._support.parallel import temporary_array
from mictree._support.progress import Report, ignore
from mictree._support.words import count_of
from mictree.columns.data import Data, is_missing, read_array
from mictree.columns.literals import Literals, encode
from mictree.columns.ordered import Ranks
from mictree.columns.packing import count_rows, pack_bits, pack_rows, sort_rows, valid_slots
from mictree.columns.parquet import ParquetSet, Paths, Share
from mictree.impurity.gains import difference_of_products, leads_of_sums, rate_differences
from mictree.problems.base import CostLeaf, Leaf, MeanLeaf, Problem, Splits
from mictree.problems.subsets import class_keys, cost_keys, list_sides
from mictree.problems.tasks import (
    ActionCosts,
    Errors,
    ExactCosts,
    MatrixCosts,
    Outcome,
    Squared,
    Task,
    are_decimals,
    check_loss,
    decimals_of,
    exact_costs,
    read_cost_matrix,
    read_costs,
    read_numbers,
)
from mictree.tree import Source, Tree


@dataclass(frozen=True)
class Limits:
    """Limits on the leaves and splits of a learner.

    Parameters
    ----------
    min_samples_split : do not split leaves with fewer rows
    min_samples_leaf : do not make leaves with fewer rows
    max_depth : the largest number of tests on a path; None for no limit
    min_gain : do not make splits with a smaller gain (not weighted by reach)
    min_weight_fraction_leaf : do not make leaves with a smaller share of the total weight
    """

    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_depth: int | None = None
    min_gain: float = 0.0
    min_weight_fraction_leaf: float = 0.0

    def __post_init__(self) -> None:
        for name in ("min_samples_split", "min_samples_leaf"):
            check_count(getattr(self, name), name)
        if self.max_depth is not None:
            check_count(self.max_depth, "max_depth")
        if not 0 <= self.min_gain < math.inf:
            raise ValueError(f"min_gain must be finite and not negative; got {self.min_gain!r}")
        share = self.min_weight_fraction_leaf
        if not 0 <= share <= 0.5:
            raise ValueError(f"min_weight_fraction_leaf must be from 0 to 0.5; got {share!r}")


NO_LIMITS = Limits()


MOST_CODES = 4096  # integer labels in a range of this width are counted, not sorted
MOST_WHOLE = 2**53  # all whole numbers up to this one are floats
LEAST_EXPONENT = -900  # of factors and units whose products with sums have all digits
MOST_PLACES = 1074  # of binary places: the least float is 2**-1074
FAR = 2**10  # numbers farther from 0, in their range, lose too many digits when they are squared
MOST_SCALE = 1000  # binary places by which products are scaled; more would not be a float
NO_WEIGHT = "sample_weight must be positive for some row; all are zero"

FloatArray = np.typing.NDArray[np.float64]
IntArray = np.typing.NDArray[np.int64]
Labels = np.typing.NDArray[Any]


class Coded(NamedTuple):
    """Labels as positions in a tuple of classes."""

    classes: tuple[Any, ...]
    codes: np.typing.NDArray[np.int32]

    @classmethod
    def read(cls, y: Any) -> Coded:
        """Labels of any kind; those that are all 0 or 1 get both classes."""
        labels = read_array(check_unmasked(y, "y"))
        if labels.ndim != 1:
            raise ValueError(f"y must have one dimension; its shape is {labels.shape}")
        values, codes = cls.positions(labels)
        if len(values) == 1 and values[0] in (0, 1):
            return cls((0, 1), np.full(len(labels), int(values[0]), dtype=np.int32))
        return cls(tuple(values.tolist()), codes)

    @staticmethod
    def positions(labels: Labels) -> tuple[Labels, np.typing.NDArray[np.int32]]:
        """The distinct labels, sorted, and the position of each label among them."""
        kind = labels.dtype.kind
        if kind in "fcmM" and np.isnan(labels).any():
            raise ValueError("y must not contain NaN")
        if np.can_cast(labels.dtype, np.int64) and len(labels):
            integers = labels.astype(np.int64)  # a copy: numba compiles anew for read-only arrays
            values = np.empty(MOST_CODES, dtype=np.int64)
            codes = np.empty(len(labels), dtype=np.int32)
            if count := code_labels(integers, values, codes):
                return values[:count].astype(labels.dtype), codes
        if kind == "O":
            _check_objects(labels)
        values, codes = np.unique(labels, return_inverse=True)
        return values, codes.astype(np.int32)


@jit
def code_labels(integers, out_values, out_codes):
    """Write the distinct integers, ascending, and the place of each among them; says how many.

    0 if their range is wider than the room for values.
    """
    least = most = integers[0]
    for integer in integers:
        least, most = min(least, integer), max(most, integer)
    room = len(out_values)
    if most // 2 - least // 2 > room or most - least >= room:  # the latter might overflow
        return 0
    place, count = np.zeros(most - least + 1, dtype=np.int32), 0
    for integer in integers:
        place[integer - least] = 1
    for offset in range(len(place)):
        if place[offset]:
            place[offset], out_values[count] = count, least + offset
            count += 1
    for row in range(len(integers)):
        out_codes[row] = place[integers[row] - least]
    return count


def _check_objects(labels: Labels) -> None:
    """Refuse labels that are missing, or of sorts that have no common order."""
    example: dict[type, Any] = {}  # a label of each sort
    for label in labels:
        if is_missing(label) or label != label:
            raise ValueError("y must not contain missing values")
        number = isinstance(label, Number | np.bool_)
        sort = Number if number else str if isinstance(label, str) else type(label)
        example.setdefault(sort, label)
    if len(example) > 1:
        one, other, *_ = example.values()
        raise ValueError(f"y must hold labels of one sort; it holds {one!r} and {other!r}")


def read_weights(sample_weight: Any, rows: int) -> FloatArray | None:
    """A positive weight for some rows, zero for others; None when all are 1.

    A lone number is the weight of every row, as scikit-learn has it.
    """
    if sample_weight is None:
        return None
    weights = as_weights(sample_weight, rows)
    if not np.any(weights > 0):
        raise ValueError(NO_WEIGHT)
    if rows and np.all(weights == weights[0]) and weights[0] == 1:
        return None
    return weights


def as_weights(sample_weight: Any, rows: int) -> FloatArray:
    """A weight for each row, as floats; all may be zero."""
    sample_weight = check_unmasked(sample_weight, "sample_weight")
    _check_whole_weights(sample_weight)
    try:
        weights = np.array(sample_weight, dtype=float)
    except OverflowError:
        raise ValueError("sample_weight must lie within 64-bit floats; a number does not") from None
    if weights.ndim == 0:
        weights = np.full(rows, weights)
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight must be one number a row; its shape is {weights.shape}")
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(wrong):
        raise ValueError(f"sample_weight must be finite and not negative; one is {wrong[0]:g}")
    return weights


def _check_whole_weights(sample_weight: Any) -> None:
    """Refuse integers that a 64-bit float may not hold; floats are read as written."""
    given = sample_weight
    if not isinstance(given, list | tuple):
        array = np.asarray(given)
        given = array.ravel().tolist() if array.dtype.kind in "iuO" else ()
    for weight in given:
        if isinstance(weight, int | np.integer) and MOST_WHOLE < weight < sys.float_info.max:
            raise ValueError(f"sample_weight must be at most 2**53 if an integer; got {weight}")


class Whole(NamedTuple):
    """Weights as whole numbers whose sums are exact floats."""

    weights: FloatArray
    unit: float  # the weight that became 1
    rounded: bool  # whether some are not exactly what they were


def whole_weights(weights: FloatArray) -> Whole:
    """Multiply decimals such as 0.25 by a power of ten.

    Weights with too many digits for that are rounded to 52 binary digits of their sum, none to 0.
    Growers choose splits by whole weights; masses and errors come from the weights themselves.
    """
    total, some = float(weights.sum()), weights[:64]
    for digits in decimal_places(total):
        if are_decimals(some, digits) and are_decimals(weights, digits):
            return Scale(digits, None).whole(weights)
    return Scale(None, binary_places(exact_sum(weights))).whole(weights)


class Scale(NamedTuple):
    """How weights become whole: times a power of ten, or of two, then rounded."""

    decimal: int | None
    binary: int | None

    def whole(self, weights: FloatArray) -> Whole:
        """Some weights as whole numbers."""
        if self.decimal is not None:
            unit = 10.0**self.decimal
            return Whole(np.round(weights * unit), 1 / unit, False)
        places = self.binary or 0
        scaled = np.ldexp(weights, places)
        whole = np.maximum(np.round(scaled), weights > 0)
        return Whole(whole, math.ldexp(1.0, -places), bool(np.any(whole != scaled)))


def decimal_places(total: float) -> range:
    """The numbers of decimal places that leave a sum of weights below 2**52."""
    return range(next((p for p in range(16) if total * 10.0**p >= 2**52), 16))


def binary_places(total: Fraction) -> int:
    """The number of binary places that leave a sum of weights 52 binary digits.

    No float has more than ``MOST_PLACES``, and a unit below the least float would be 0.
    """
    return min(MOST_PLACES, 52 - math.frexp(float(total))[1])


class Products(NamedTuple):
    """Weights times numbers as whole numbers, so that their sums are exact floats.

    whole : a row for each weight, a column for each number that it is multiplied by
    scale : how many units a product of 1 has
    rounded : whether some are not exactly what they were
    """

    whole: FloatArray
    scale: float
    rounded: bool

    @classmethod
    def of(cls, weights: FloatArray, numbers: FloatArray) -> Products:
        """Decimals by powers of ten where that is exact, else to 52 binary digits of the total."""
        plain = weights[:, None] * numbers
        total = float(np.abs(plain).max(axis=1, initial=0.0).sum())
        one, other = (decimals_of(np.abs(each)) for each in (weights, numbers))
        if one is not None and other is not None and total * 10.0 ** (one + other) < 2**52:
            # the rounded factors are the decimals' digits
            whole = np.round(weights * 10.0**one)[:, None] * np.round(numbers * 10.0**other)
            return cls(whole, 10.0 ** (one + other), False)
        places = min(MOST_SCALE, 52 - math.frexp(total)[1])
        scaled = np.ldexp(plain, places)
        whole = np.where(np.abs(scaled) < 1, np.sign(scaled), np.round(scaled))
        return cls(whole, math.ldexp(1.0, places), bool(np.any(whole != scaled)))


MOST_BITS = 61  # of sums of weighted labels, so that a difference of two fits in 63
PART = 2**18  # rows whose labels are scaled at a time
LIGHT = 2**26  # weights of a smaller sum leave a label 35 bits


class LabelRange(NamedTuple):
    """What is known of numbers to predict before they are added up."""

    digits: int | None  # their decimal places; None if that is too many for whole floats
    least: float
    most: float

    @classmethod
    def of(cls, labels: FloatArray) -> LabelRange:
        """Of all labels."""
        least, most = float(labels.min()), float(labels.max())
        for places in range(16):
            if max(abs(least), abs(most)) * 10.0**places >= MOST_WHOLE:
                break
            if all(are_decimals(labels[part], places) for part in (slice(64), *_parts(labels))):
                return cls(places, least, most)
        return cls(None, least, most)

    @property
    def center(self) -> float:
        """What labels are measured from.

        0, but where they lie far from it: then the middle of their range, with as many decimals.
        """
        if max(abs(self.least), abs(self.most)) <= FAR * (self.most - self.least):
            return 0.0
        middle = self.least / 2 + self.most / 2
        return middle if self.digits is None else round(middle, self.digits)

    def distances(self, labels: FloatArray) -> FloatArray:
        """Some labels less the center, as decimals if all labels are."""
        center = self.center
        if center == 0 or self.digits is None:
            return labels - center if center else labels
        unit = 10.0**self.digits
        return (np.round(labels * unit) - round(center * unit)) / unit


class LabelGrid(NamedTuple):
    """A coarse scale of labels: whole numbers, whose sums do not depend on the order of rows.

    They say where labels lie and how far apart, and from that follows the fine ``LabelScale``.
    """

    least: float
    shift: int  # a label's distance from the least one times this power of two

    @classmethod
    def of(cls, labels: LabelRange, mass: int) -> LabelGrid:
        """For labels in a range, of whole weights with this sum."""
        exponent = math.frexp(labels.most - labels.least)[1]
        return cls(labels.least, MOST_BITS - mass.bit_length() - exponent)

    def total(self, labels: FloatArray, weights: IntArray | None) -> int:
        """The weighted sum of some labels."""
        return _sum_whole(
            lambda part: np.rint(np.ldexp(labels[part] - self.least, self.shift)), labels, weights
        )

    def centre(self, total: int, mass: int) -> float:
        """A label near the mean, from the total of all."""
        return self.least + math.ldexp(total / mass, -self.shift)

    def spread(self, labels: FloatArray, weights: IntArray | None, centre: float) -> int:
        """The weighted sum of the distances of some labels from the centre, rounded up."""
        return _sum_whole(
            lambda part: np.ceil(np.ldexp(np.abs(labels[part] - centre), self.shift)),
            labels, weights,
        )  # fmt: skip


def _parts(labels: FloatArray) -> Iterator[slice]:
    """Some rows at a time, so that what is computed of them takes little memory."""
    return (slice(first, first + PART) for first in range(0, len(labels), PART))


def _sum_whole(
    whole: Callable[[slice], FloatArray], labels: FloatArray, weights: IntArray | None
) -> int:
    """The weighted sum of whole numbers of some rows."""
    total = 0
    for part in _parts(labels):
        numbers = whole(part).astype(np.int64)
        total += int((numbers if weights is None else numbers * weights[part]).sum())
    return total


class LabelScale(NamedTuple):
    """How numbers to predict, times weights, become whole numbers whose sums fit in 62 bits.

    Decimals with few digits do so exactly: times a power of ten, less a whole number near their
    mean, times a power of two. Others are rounded.
    The scale depends on the set of rows alone, however they are ordered or divided.
    """

    digits: int | None  # decimal places; None if labels are rounded
    centre: float  # what is subtracted; from decimals, after they are whole
    places: int  # binary places
    light: bool  # labels are rounded before they are multiplied, so that equal ones stay equal

    @classmethod
    def of(
        cls, labels: LabelRange, grid: LabelGrid, mass: int, centre: float, spread: int
    ) -> LabelScale:
        """From the coarse scale, and the centre and spread that it gave."""
        digits = labels.digits
        if digits is not None:
            whole = float(np.round(centre * 10.0**digits))
            most = Fraction(2) ** -grid.shift * spread * 10**digits + mass
            # the more places, the nearer is a whole number to the mean of a leaf
            places = MOST_BITS - int(most).bit_length()
            if places >= 0:
                return cls(digits, whole, places, mass < LIGHT)
        places = MOST_BITS + grid.shift - spread.bit_length() if spread else 0
        return cls(None, centre, places, mass < LIGHT)

    @property
    def unit(self) -> float:
        """The label that is 1."""
        written = 1.0 if self.digits is None else 10.0**-self.digits
        return math.ldexp(written, -self.places)

    def products(self, labels: FloatArray, weights: IntArray | None) -> IntArray:
        """The whole products of some rows."""
        found = np.empty(len(labels), dtype=np.int64)
        for part in _parts(labels):
            found[part] = self._products(labels[part], None if weights is None else weights[part])
        return found

    def _products(self, labels: FloatArray, weights: IntArray | None) -> IntArray:
        if self.digits is not None:
            whole = (np.round(labels * 10.0**self.digits) - self.centre).astype(np.int64)
            return (whole if weights is None else whole * weights) << self.places
        distances = labels - self.centre
        if weights is not None and not self.light:
            return np.rint(np.ldexp(weights * distances, self.places)).astype(np.int64)
        whole = np.rint(np.ldexp(distances, self.places)).astype(np.int64)
        return whole if weights is None else whole * weights


def label_scale(labels: FloatArray, weights: IntArray | None) -> LabelScale:
    """The scale of labels with some whole weights, None if all are 1."""
    found, mass = LabelRange.of(labels), len(labels) if weights is None else int(weights.sum())
    grid = LabelGrid.of(found, mass)
    centre = grid.centre(grid.total(labels, weights), mass)
    return LabelScale.of(found, grid, mass, centre, grid.spread(labels, weights, centre))


class Factors(NamedTuple):
    """The factors of classes, with a power of two taken out, so that products keep their digits.

    values : the factors, the largest from 1 to 2; as given where the least one could vanish then
    power : the exponent of two that was taken out
    """

    values: FloatArray
    power: int

    @classmethod
    def of(cls, class_weight: FloatArray) -> Factors:
        """From the factors as given."""
        exponents = np.frexp(class_weight)[1]
        power = int(exponents.max()) - 1
        if exponents.min() - power < LEAST_EXPONENT:
            return cls(class_weight, 0)
        return cls(np.ldexp(class_weight, -power), power)

    def masses(self, sums: FloatArray, unit: float, whole: bool = True) -> FloatArray:
        """Sums of weights by class, times the factors.

        Masses nearer to 0 than floats with all digits are larger than that by a power of two, the
        same for all.

        Parameters
        ----------
        sums : of whole weights, or of weights as given
        unit : the weight that is 1 among whole ones
        whole : which of both they are
        """
        least = LEAST_EXPONENT - math.frexp(unit)[1]
        first, last = max(0, least), max(self.power, min(0, least))
        if whole:
            return np.ldexp(sums * self.values * math.ldexp(unit, first), last)
        return np.ldexp(np.ldexp(sums, first) * self.values, last)


def class_weights(weight: Any, coded: Coded) -> FloatArray | None:
    """A factor for each class from None, "balanced" or a mapping, as scikit-learn has it."""
    if weight is None:
        return None
    counts = np.bincount(coded.codes, minlength=len(coded.classes))
    return factors_of(weight, coded.classes, counts)


def weights_among(weight: Any, labels: Any) -> Any:
    """The part of a mapping of class to weight whose classes are among some rows' labels."""
    if not isinstance(weight, Mapping):
        return weight
    known = set(np.unique(np.asarray(labels)).tolist())
    return {label: factor for label, factor in weight.items() if label in known}


def factors_of(
    weight: Any, classes: tuple[Any, ...], counts: np.typing.NDArray[np.integer]
) -> FloatArray:
    """As ``class_weights``, from "balanced" or a mapping and the number of rows of each class."""
    if isinstance(weight, str):
        if weight != "balanced":
            raise ValueError(f'class_weight must be None, a mapping or "balanced"; got {weight!r}')
        return counts.sum() / (len(classes) * np.maximum(counts, 1))
    if not isinstance(weight, Mapping):
        raise ValueError(f'class_weight must be None, a mapping or "balanced"; got {weight!r}')
    unknown = [label for label in weight if label not in classes]
    if unknown:
        raise ValueError(f"class_weight must name classes of y; there is no {unknown[0]!r}")
    for label, factor in weight.items():
        if not 0 < factor <= sys.float_info.max:
            raise ValueError(f"class_weight must be positive and finite; {label!r} has {factor!r}")
    return np.array([float(weight.get(label, 1.0)) for label in classes])


class LeafRows(NamedTuple):
    """The rows that reach a leaf."""

    mask: np.typing.NDArray[np.uint64]  # their slots
    path: tuple[int, ...]  # the literals tested above
    exact: bool


def unpack(words: np.ndarray) -> np.ndarray:
    """The bits of words, from the lowest on."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")


def by_class(by_word: np.ndarray, first_word: np.ndarray) -> np.ndarray:
    """The sums of each row's numbers, one number a word, by class."""
    sums = np.zeros((len(by_word), by_word.shape[1] + 1), dtype=by_word.dtype)
    sums[:, :-1] = by_word
    result = np.add.reduceat(sums, first_word[:-1], axis=1)
    result[:, np.diff(first_word) == 0] = 0  # reduceat gives an empty class its neighbour
    return result


def weigh(
    words: np.ndarray, weights: np.ndarray, first_word: np.ndarray
) -> np.typing.NDArray[np.float64]:
    """The sum of the slots' weights over the ones of each row of words, by class."""
    sums = np.empty((len(words), first_word[-1]))
    for number, row in enumerate(words):
        sums[number] = (unpack(row).reshape(-1, 64) * weights.reshape(-1, 64)).sum(axis=1)
    return by_class(sums, first_word)


def weigh_exactly(mask: np.ndarray, weights: np.ndarray, first_word: np.ndarray) -> list[Fraction]:
    """The same for one row of words, with weights as written."""
    ones = unpack(mask).astype(bool)
    return [
        sum(map(as_fraction, weights[start:stop][ones[start:stop]].tolist()), Fraction(0))
        for start, stop in pairwise(64 * first_word)
    ]


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
        if isinstance(position, tuple):
            first = self.literals.cells(number).start
            return np.bitwise_or.reduce(self.bits[[first + place for place in position]])
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
        if self.literals.lists_all:
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


# they depend on the factors of classes
CACHED = ("total", "exact_total", "factors", "offset", "exact_offset")


class SampleProblem(PackedRows, Problem):
    """The rows of a data set as a distribution, with probabilities proportional to their weights.

    Parameters
    ----------
    X : a matrix, sparse matrix, pandas or polars frame
    y : a label for each row, or a number with ``loss="squared"``; None with ``costs``
    sample_weight : a weight for each row; rows of weight 0 are left out
    class_weight : a factor for each class, in the order of ``classes``
    cost_matrix : what it costs to predict the second class for a row of the first, not negative: an
        array in the order of ``classes``, or a frame or mapping of mappings that names classes and
        actions; some actions may be no classes. Errors are mean costs then
    costs : instead of labels, a cost for each row (any finite number) and each action
    loss : "squared" for numbers to predict. Leaves predict means, errors are mean squared errors
    max_thresholds : the largest number of thresholds per ordered column (numbers, dates, times,
        ordered categories); None for all
    limits : limits on leaves and splits
    categories : "each" for tests of one category, ``town is A``; "subsets" for tests of any set of
        them, ``town in {A, C}``

    Attributes
    ----------
    task : what a leaf costs; see ``mictree.problems.tasks``
    classes : the labels, sorted; leaves and trees hold positions in it. When all labels are 0 and
        1, it is (0, 1), so that label and position agree. Empty without labels.
    actions : what leaves may predict: classes, or actions that have costs; empty for numbers
    targets : numbers to predict, or costs by row and action less the least of each row, in the
        order of ``ranks``
    offset : the mean of what was subtracted, in every error
    literals : the tests; ``literals.transform`` evaluates them on other data
    bits, first_word, valid : the bits of ``literals.stored_bits`` and of ``literals.cells``, one
        row each; the first word of each class, and the end; the slots that hold a row
    ranks : for each of ``literals.ordered``, the ranks of the rows in the order of their slots

    Examples
    --------
    >>> problem = SampleProblem([[20, 1], [30, 0], [45, 1], [50, 0]], [0, 0, 1, 1])
    >>> problem.variables
    ('x0 > 25', 'x0 > 37.5', 'x0 > 47.5', 'x1')
    >>> problem.positive_rate({"x0 > 37.5": 1})
    1.0
    >>> rents = SampleProblem([[20], [30], [45], [50]], [1, 2, 7, 8], loss="squared")
    >>> rents.root().error, rents.leaf({"x0 > 37.5": 1}).label
    (9.25, 7.5)
    """

    task: Task
    targets: FloatArray
    least_costs: FloatArray  # what was subtracted from each row's costs
    limits: Limits
    min_gain: float
    all_class_rows: IntArray  # of each class, also rows of weight 0
    named: bool  # whether columns have names
    sets_in_order: bool = True  # growth is by a concave criterion, which orders categories

    def __init__(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        class_weight: Sequence[float] | FloatArray | None = None,
        cost_matrix: Any = None,
        costs: Any = None,
        loss: str | None = None,
        max_thresholds: int | None = None,
        limits: Limits | None = None,
        categories: str = "each",
    ) -> None:
        data = X if isinstance(X, Data) else Data(X)
        check_thresholds(max_thresholds)
        grouped = check_categories(categories) == "subsets"
        self.limits = limits or NO_LIMITS
        self.min_gain = self.limits.min_gain
        codes = self._read_task(data, y, cost_matrix, costs, loss)
        if not data.rows:
            raise ValueError("a data set must have at least one row; it has 0")
        weights = read_weights(sample_weight, data.rows)
        self.class_weight = np.ones(max(1, len(self.classes)))
        if class_weight is not None:
            if not self.classes:
                raise ValueError("class_weight needs classes; there are none to weigh")
            self.class_weight = np.array(class_weight, dtype=float)
            wrong = self.class_weight.shape != (len(self.classes),)
            if wrong or not np.all(self.class_weight > 0):
                raise ValueError(f"class_weight must be positive, one a class; got {class_weight}")
        if weights is not None or class_weight is not None:
            with np.errstate(over="ignore"):
                total = (self.class_weight[codes] * (1.0 if weights is None else weights)).sum()
            if not 0 < total < math.inf:
                raise ValueError(f"weights must have a positive and finite sum; it is {total}")
            self._check_sums(float(total))
        rows = self._pack(data, codes, weights, max_thresholds, grouped)
        if rows is not None and not self.classes:
            self.targets = self.targets[rows]
            if len(self.least_costs):
                self.least_costs = self.least_costs[rows]
            self._written = None if self._written is None else self._written[rows]

    def _read_task(
        self, data: Data, y: Any, cost_matrix: Any, costs: Any, loss: str | None
    ) -> np.typing.NDArray[np.int32]:
        """Set what a leaf costs; returns the class of each row, 0 without classes."""
        self.classes: tuple[Any, ...] = ()
        self.targets = self.least_costs = np.empty(0)
        self._written: np.ndarray | None = None  # numbers or costs as given, where floats are not
        if sum((cost_matrix is not None, costs is not None, loss is not None)) > 1:
            raise ValueError("cost_matrix, costs and loss exclude each other; got more than one")
        if costs is not None:
            if y is not None:
                raise ValueError("costs stand instead of y; got both")
            actions, self.targets, self.least_costs, self._written = read_costs(costs, data.rows)
            self.task = ActionCosts(actions)
            return np.zeros(data.rows, dtype=np.int32)
        if y is None:
            raise ValueError("y must be given, unless there are costs")
        if loss is not None:
            check_loss(loss)
            self.task, self.targets = Squared(), read_numbers(y, data.rows)
            given = read_array(y)
            large = given.dtype.kind in "iu" and np.abs(self.targets).max(initial=0) > MOST_WHOLE
            self._written = given if large or given.dtype.kind == "O" else None
            return np.zeros(data.rows, dtype=np.int32)
        self.classes, codes = y if isinstance(y, Coded) else Coded.read(y)
        if data.rows != len(codes):
            raise ValueError(f"X and y must have as many rows; they have {data.rows}, {len(codes)}")
        self.task = Errors()
        if cost_matrix is not None:
            self.task = read_cost_matrix(cost_matrix, self.classes)
        return codes

    def _check_sums(self, total: float) -> None:
        """Refuse costs or squares whose sum over rows of some total weight might overflow."""
        task, largest = self.task, 0.0
        if isinstance(task, MatrixCosts):
            largest = float(task.given.max())
        elif isinstance(task, ActionCosts):
            largest = float(self.targets.max())
        elif isinstance(task, Squared):
            largest = float(np.abs(self.targets).max()) ** 2
        if 4 * largest > sys.float_info.max / total:
            kind = "squares of y" if isinstance(task, Squared) else "costs"
            raise ValueError(
                f"weights times {kind} must have a finite sum; the weights' sum is {total:g}"
            )

    def _pack(
        self, data: Data, codes: np.ndarray, weights: FloatArray | None,
        max_thresholds: int | None, grouped: bool,
    ) -> IntArray | None:  # fmt: skip
        """Store the rows; returns them in the order of their slots, None if that is their own."""
        self.weights = self.whole_weights = np.empty(0)
        given = self.weights if weights is None else weights
        class_rows = np.zeros(len(self.class_weight), dtype=np.int64)
        count_rows(codes, given, class_rows)
        self.all_class_rows, self.named = class_rows, data.frame is not None
        if weights is not None:
            self.all_class_rows = np.bincount(codes, minlength=len(self.class_weight))
        self.lay_out(class_rows)
        self.weight_unit, self.rounded = 1.0, False
        if weights is None and data.bytes is not None:
            bits = np.zeros((data.width, self.first_word[-1]), dtype=np.uint64)
            if pack_rows(data.bytes.reshape(-1), data.width, codes, self.first_word, bits):
                self.literals, self.bits, self.ranks = Literals.binary(data.names), bits, ()
                return None
        order = temporary_array(64 * len(self.valid), np.int64)
        rows = temporary_array(sum(class_rows.tolist()), np.int64)
        sort_rows(codes, given, class_rows, order, rows)
        if weights is not None:
            self.weights = np.where(order >= 0, weights[order], 0.0)
            self.whole_weights, self.weight_unit, self.rounded = whole_weights(self.weights)
        whole = None if weights is None else self.whole_weights
        self.literals, self.bits, self.ranks = encode(
            data, order, rows, whole, max_thresholds, grouped
        )
        return rows

    @classmethod
    def from_parquet(
        cls,
        paths: Paths,
        target: str,
        *,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        sample_weight: str | None = None,
        cost_matrix: Any = None,
        loss: str | None = None,
        rows: tuple[float, float] | None = None,
        seed: int = 0,
        max_thresholds: int | None = 255,
        limits: Limits | None = None,
        progress: Report | None = None,
        categories: str = "each",
    ) -> SampleProblem:
        """The rows of Parquet files that may be larger than the memory.

        The files are read batch by batch, several times. Only a bit stays for each row of a column
        of 0 and 1, a byte or two for each row of an ordered column, and eight bytes for each number
        to predict. The trees are those of the same rows read at once with the same
        ``max_thresholds``.

        Parameters
        ----------
        paths : a pattern such as ``"data/*.parquet"``, a folder, a file, or several of them
        target : the column of labels, or of numbers with ``loss="squared"``
        columns : the columns to learn from; by default all others
        drop : columns to leave out, if ``columns`` is not given
        sample_weight : a column of weights
        cost_matrix : what it costs to predict the second class for a row of the first, as for rows
            in memory
        loss : "squared" for numbers to predict
        rows : read a share of the rows only: ``(0, 0.75)`` is three quarters of them, and
            ``(0.75, 1)`` the others, for ``staged_score_parquet``. A hash of the row's number
            decides, so the parts depend on the seed and the order of the rows alone. Nothing is
            learned from rows outside the share, no class, threshold or category
        seed : random seed for ``rows``
        max_thresholds : the largest number of thresholds per ordered column, chosen by exact
            quantiles; None for all, for which memory grows with the number of distinct values
        limits : limits on leaves and splits
        progress : called now and then with a ``Progress``, by rows
        categories : "each" or "subsets", as for rows in memory

        Examples
        --------
        >>> import os, tempfile, polars
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for part, ages in enumerate(([20, 30], [45, 50])):
        ...         table = polars.DataFrame({"age": ages, "rich": [part, part]})
        ...         table.write_parquet(os.path.join(folder, f"{part}.parquet"))
        ...     problem = SampleProblem.from_parquet(os.path.join(folder, "*.parquet"), "rich")
        >>> problem.variables
        ('age > 25', 'age > 37.5', 'age > 47.5')
        """
        from mictree.problems.streamed import choose_columns, read_parquet

        most = check_thresholds(max_thresholds)
        grouped = check_categories(categories) == "subsets"
        if loss is not None:
            check_loss(loss)
        if loss is not None and cost_matrix is not None:
            raise ValueError("cost_matrix and loss exclude each other; got both")
        files, numbers = ParquetSet(paths, Share.of(rows, seed)), loss is not None
        names = choose_columns(files, target, sample_weight, columns, drop, numbers)
        read = read_parquet(
            files, target, names, sample_weight, most, progress or ignore, numbers, grouped
        )
        problem = object.__new__(cls)
        problem.classes, problem.targets, problem.least_costs = (
            read.classes, read.targets, np.empty(0),
        )  # fmt: skip
        problem.task = Squared() if numbers else Errors()
        if cost_matrix is not None:
            problem.task = read_cost_matrix(cost_matrix, read.classes)
        problem._written = None
        problem.class_weight = np.ones(max(1, len(read.classes)))
        problem.limits = limits or NO_LIMITS
        problem.min_gain = problem.limits.min_gain
        problem.lay_out(read.class_rows)
        problem.all_class_rows, problem.named = read.all_class_rows, True
        problem.weights = read.weights
        problem.whole_weights, problem.weight_unit, problem.rounded = read.whole
        problem.literals, problem.bits, problem.ranks = read.encoded
        return problem

    def limited(self, limits: Limits) -> SampleProblem:
        """The same rows with other limits."""
        limited = copy.copy(self)
        limited.limits, limited.min_gain = limits, limits.min_gain
        return limited

    def reweighted(self, class_weight: FloatArray) -> SampleProblem:
        """The same rows with another factor for each class."""
        other = copy.copy(self)
        for name in CACHED:
            vars(other).pop(name, None)
        other.class_weight = class_weight
        return other

    def with_costs(self, cost_matrix: Any) -> SampleProblem:
        """The same rows with a cost matrix in place of their own costs."""
        other = copy.copy(self)
        for name in CACHED:
            vars(other).pop(name, None)
        other.task = read_cost_matrix(cost_matrix, self.classes)
        return other

    def __repr__(self) -> str:
        rows = int(self.class_rows.sum())
        counts = f"{count_of(rows, 'row')}, {count_of(len(self.literals), 'literal')}"
        kind = f"classes={self.classes}" if self.classes else f"actions={self.actions}"
        if isinstance(self.task, Squared):
            kind = "loss='squared'"
        return f"SampleProblem({counts}, {kind})"

    @property
    def counts_errors(self) -> bool:
        """Whether errors are plain ones, the weight of the rows that are labelled wrongly."""
        return isinstance(self.task, Errors)

    @property
    def weighs_classes(self) -> bool:
        """Whether a leaf costs the weight of all classes but one.

        So it does for errors, for two actions, and where a class costs the same whatever it is
        taken for.
        """
        if self.counts_errors or len(self.actions) == 2:
            return True
        task = self.task
        return isinstance(task, MatrixCosts) and task.weighs_classes(self.classes)

    @property
    def actions(self) -> tuple[Any, ...]:
        """What leaves may predict; empty for numbers."""
        task = self.task
        return task.actions if isinstance(task, MatrixCosts | ActionCosts) else self.classes

    @cached_property
    def offset(self) -> float:
        """The mean of the costs that every tree has, added to all errors."""
        if isinstance(self.task, MatrixCosts):
            return float(self.masses(self.valid[None])[0] @ self.task.least) / self.total
        if isinstance(self.task, ActionCosts):
            return float(self.row_weights() @ self.least_costs) / self.total
        return 0.0

    @cached_property
    def exact_offset(self) -> Fraction:
        """The same as a fraction."""
        task, masses = self.task, self.exact_masses(self.valid)
        if isinstance(task, MatrixCosts):
            least = [each.least for each in task.exact()]
            return sum(map(operator.mul, masses, least), Fraction(0)) / self.exact_total
        if isinstance(task, ActionCosts) and self.least_costs.any():
            least = [each.least for each in self.exact_costs()]
            return sum(map(operator.mul, self.row_weights(True), least), Fraction(0)) / masses[0]
        return Fraction(0)

    @property
    def written_costs(self) -> np.ndarray | None:
        """What each action costs for each row, as given; None where the regrets are exact."""
        if not isinstance(self.task, MatrixCosts):
            return self._written
        codes = np.arange(len(self.class_rows)).repeat(self.class_rows)
        return None if self.task.written is None else self.task.written[codes]

    def exact_costs(self, rows: IntArray | slice = slice(None)) -> list[ExactCosts]:
        """What each action costs for some rows without classes, by default all, as given."""
        written = None if self._written is None else self._written[rows]
        return exact_costs(self.targets[rows], self.least_costs[rows], written)

    def row_weights(self, exact: bool = False) -> Any:
        """The weight of each row, in the order of ``ranks``: floats, or Fractions as written."""
        weights = self.weights[self.slots] if len(self.weights) else np.ones(len(self.slots))
        if exact:
            return [as_fraction(weight) for weight in weights.tolist()]
        return np.ldexp(weights, self._raised)  # as masses are

    @property
    def _raised(self) -> int:
        """The power of two that brings the least weights to floats with all digits."""
        return max(0, LEAST_EXPONENT - math.frexp(self.weight_unit)[1])

    def exact_targets(self) -> list[Fraction]:
        """Numbers to predict as they were given."""
        given = self.targets if self._written is None else self._written
        return [as_fraction(number) for number in given.tolist()]

    @cached_property
    def label_range(self) -> LabelRange:
        """Of the numbers to predict."""
        return LabelRange.of(self.targets)

    @property
    def center(self) -> float:
        """What numbers to predict are measured from."""
        return self.label_range.center

    @cached_property
    def products(self) -> Products:
        """The weight of each row times its costs, or times its distance from the ``center``.

        Growers choose splits by them; labels and errors come from the numbers as given.
        """
        if isinstance(self.task, ActionCosts):
            return Products.of(self.row_weights(), self.targets)
        return Products.of(self.row_weights(), self.distances[:, None])

    @cached_property
    def distances(self) -> FloatArray:
        """Numbers to predict less the ``center``, as decimals if they are written so."""
        return self.label_range.distances(self.targets)

    @property
    def _product_scale(self) -> float:
        """What a product of 1 is, divided by a whole weight of 1."""
        return self.products.scale * math.ldexp(self.weight_unit, self._raised)

    def outcome(self, masks: Words, masses: FloatArray) -> Outcome | None:
        """What leaves with some masks, and weights by class, predict; None for plain errors."""
        if isinstance(self.task, Errors):
            return None
        if isinstance(self.task, MatrixCosts):
            return self.task.outcome(masses)
        held = [unpack(mask)[self.slots].astype(bool) for mask in masks]
        found = [self.outcome_of_rows(here) for here in held]
        labels, costs, by_action = zip(*found, strict=True)
        if isinstance(self.task, Squared):
            return Outcome(np.array(labels), np.array(costs))
        least = self.row_weights() * self.least_costs
        base = [float(least[here].sum()) for here in held]
        return Outcome(np.array(labels), np.array(costs), np.array(by_action), np.array(base))

    def cost_of_groups(self, rows: IntArray) -> float:
        """What the rows cost, without the offset, if each group of them were a leaf.

        ``rows`` has the group of each row, in the order of ``ranks``.
        """
        groups, weights = int(rows.max()) + 1, self.row_weights()
        if self.classes:
            codes = np.repeat(np.arange(len(self.class_rows)), self.class_rows)
            masses = np.zeros((groups, len(self.class_rows)))
            np.add.at(masses, (rows, codes), weights * self.class_weight[codes])
            if isinstance(self.task, MatrixCosts):
                return float(self.task.outcome(masses).costs.sum())
            return float((masses.sum(axis=1) - masses.max(axis=1)).sum())
        if isinstance(self.task, ActionCosts):
            by_action = np.zeros((groups, len(self.actions)))
            np.add.at(by_action, rows, weights[:, None] * self.targets)
            return float(by_action.min(axis=1).sum())
        mass = np.bincount(rows, weights, groups)
        sums = np.bincount(rows, weights * self.targets, groups)
        means = np.divide(sums, mass, out=np.zeros(groups), where=mass > 0)
        return float(weights @ (self.targets - means[rows]) ** 2)

    def outcome_of_rows(self, here: np.ndarray) -> tuple[Any, float, FloatArray]:
        """The label, the cost and the costs by action of a leaf with some rows without classes.

        A sum of squares is that of distances from the mean, so no digits cancel.
        """
        if isinstance(self.task, ActionCosts):
            whole, scale, rounded = self.products
            sums = whole[here].sum(axis=0)
            label, by_action = int(sums.argmin()), sums / scale
            if rounded:
                costs = self.row_weights()[here, None] * self.targets[here]
                by_action = np.where(sums == sums[label], costs[:, label].sum(), costs.sum(axis=0))
            return label, float(by_action[label]), by_action
        weights = self.row_weights()[here]
        if not len(weights):
            return 0.0, 0.0, np.empty(0)
        mean, cost, _ = mean_of(
            np.arange(len(weights), dtype=np.uint32), self.distances[here], weights
        )
        return float(mean) + self.center, float(cost), np.empty(0)

    @property
    def variables(self) -> tuple[str, ...]:
        """The literals as texts, column by column."""
        return self.literals.names

    def root(self, exact: bool = False) -> Leaf:
        return self._leaf(LeafRows(self.valid, (), exact))

    def children(self, leaf: Leaf, variable: int) -> tuple[Leaf, Leaf]:
        mask, path, exact = leaf.state
        if variable in path:
            name = self.variables[variable]
            raise ValueError(f"a path tests a variable at most once; {name} is tested twice")
        below = (*path, variable)
        literal = self.words(variable)
        return (
            self._leaf(LeafRows(mask & ~literal, below, exact)),
            self._leaf(LeafRows(mask & literal, below, exact)),
        )

    def test(self, leaf: Leaf, variable: int) -> tuple[str, float | None]:
        number, position = self.literals.locate(variable)
        column = self.literals.columns[number]
        threshold = None
        if column.categories is None and position < column.thresholds:
            threshold = column.threshold(position)
            if number in self.literals.ordered:
                ranks = np.unique(self.ranks_at(leaf.state.mask, number))
                place = int(np.searchsorted(ranks, position + column.missing, side="right"))
                _, threshold = column.between(int(ranks[place - 1]), int(ranks[place]))
        return self.literals.texts(variable, threshold)[0], threshold

    def offered(self, leaf: Leaf) -> IntArray:
        """The tests that may split a leaf, in the order of columns.

        Literals of bits, one for each cut of its values, and the sets of its categories.
        """
        listed = np.sort(np.concatenate([self.literals.stored_bits, self._cuts(leaf)]))
        parts, begin = [], 0
        for number in self.literals.grouped:
            stop = int(np.searchsorted(listed, self.literals.starts[number]))
            parts += [listed[begin:stop], self.sets(leaf, number)]
            begin = stop
        return np.concatenate([*parts, listed[begin:]])

    def sets(self, leaf: Leaf, number: int) -> IntArray:
        """The sets of a column's categories that a leaf offers, all as literals."""
        mask, limits = leaf.state.mask, self.limits
        words = self.bits[self.literals.cells(number)] & mask
        rows = self.counts(words).sum(axis=1)
        if self.classes:
            keys = class_keys(self.sums(words))
        else:
            sums = np.array([self._sums_of_rows(each) for each in words])
            keys = cost_keys(np.ascontiguousarray(sums[:, 1:]), sums[:, 0].copy())
        sure = limits.min_samples_leaf <= 1 and self.min_leaf_mass <= 0 and self.sets_in_order
        missing = self.literals.columns[number].missing
        sides = list_sides(rows, keys, missing, sure)
        literals = [
            self.literals.add_set(number, tuple(np.flatnonzero(side).tolist())) for side in sides
        ]
        return np.array(literals, dtype=np.int64)

    def _sums_of_rows(self, mask: np.ndarray) -> FloatArray:
        """The whole weight of a mask's rows without classes, then the sums of their products."""
        inside = np.flatnonzero(unpack(mask)[self.slots])
        weights = np.ones(len(inside))
        if len(self.weights):
            weights = self.whole_weights[self.slots[inside]]
        return np.array([weights.sum(), *self.products.whole[inside].sum(axis=0)])

    def _cuts(self, leaf: Leaf) -> IntArray:
        """The tests on ordered columns that split a leaf, one for each way to split it."""
        cuts = []
        for number in self.literals.ordered:
            column = self.literals.columns[number]
            present = np.unique(self.ranks_at(leaf.state.mask, number)).tolist()
            present = [rank for rank in present if rank >= column.missing]
            start = self.literals.starts[number]
            cuts += [start + column.between(low, high)[0] for low, high in pairwise(present)]
        return np.array(cuts, dtype=np.int64)

    def splits(self, leaf: Leaf) -> Splits:
        mask, path, _ = leaf.state
        limits = self.limits
        rows = self.counts(mask[None, :])[0]
        deep = limits.max_depth is not None and len(path) >= limits.max_depth
        variables = np.empty(0, dtype=np.intp)
        if not deep and rows.sum() >= limits.min_samples_split:
            variables = self.offered(leaf)
            high_rows = self.counts(self.bits_of(variables) & mask).sum(axis=1)
            smaller = np.minimum(high_rows, rows.sum() - high_rows)
            variables = variables[smaller >= max(1, limits.min_samples_leaf)]
        if not self.classes:
            return self._splits_of_rows(leaf, variables)
        low_sums, high_sums = self.halves(mask, variables)
        factors = self.factors.values
        low, high = low_sums * factors, high_sums * factors
        low_mass, high_mass = low.sum(axis=1), high.sum(axis=1)
        heavy = np.minimum(high_mass, low_mass) >= self.min_leaf_mass
        difference = np.empty(low.shape)
        alike = bool((factors == factors[0]).all())
        for number in np.flatnonzero(heavy):
            rate_differences(
                low_sums[number], high_sums[number], factors, alike, difference[number]
            )
        return Splits(
            variables[heavy],
            (low_mass / (low_mass + high_mass))[heavy],
            (high_mass / (low_mass + high_mass))[heavy],
            (low / low_mass[:, None])[heavy],
            (high / high_mass[:, None])[heavy],
            difference[heavy],
        )

    def _splits_of_rows(self, leaf: Leaf, variables: np.ndarray) -> Splits:
        """The splits of rows without classes.

        Rates are means of ``products``: of costs by action, or of distances from the center.
        """
        low, high = self._halves_of_rows(leaf, variables)
        heavy = np.minimum(low[:, 0], high[:, 0]) >= self.min_leaf_mass
        low, high = low[heavy], high[heavy]
        mass = low[:, 0] + high[:, 0]
        scale = self._product_scale
        rates = low[:, 1:] / low[:, :1] / scale, high[:, 1:] / high[:, :1] / scale
        shares = low[:, 0] / mass, high[:, 0] / mass
        difference = np.empty(rates[0].shape)
        for split, column in np.ndindex(difference.shape):
            cross = difference_of_products(
                high[split, 1 + column], low[split, 0], low[split, 1 + column], high[split, 0]
            )
            difference[split, column] = cross / low[split, 0] / high[split, 0] / scale
        return Splits(variables[heavy], *shares, *rates, difference)

    def _halves_of_rows(self, leaf: Leaf, variables: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """On both sides of each split, the whole weight of the rows, then their products."""
        inside = np.flatnonzero(unpack(leaf.state.mask)[self.slots])
        weights = np.ones(len(inside))
        if len(self.weights):
            weights = self.whole_weights[self.slots[inside]]
        sums = np.column_stack([weights, self.products.whole[inside]])
        halves = np.empty((2, len(variables), sums.shape[1]))
        for place, literal in enumerate(variables.tolist()):
            high = unpack(self.words(literal))[self.slots[inside]].astype(bool)
            halves[0, place], halves[1, place] = sums[~high].sum(axis=0), sums[high].sum(axis=0)
        return halves[0], halves[1]

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        if isinstance(leaf, CostLeaf):
            return self._cost_leads(leaf, splits)
        leads = np.empty((len(splits.variables), 2))
        for number, halves in enumerate(
            zip(*self.halves(leaf.state.mask, splits.variables), strict=True)
        ):
            leads[number] = leads_of_sums(*halves, self.factors.values)
        return leads[:, 0], leads[:, 1]

    def _cost_leads(self, leaf: CostLeaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        """By how much another action is cheaper than the leaf's, in both children."""
        if not len(splits.variables):
            return np.empty(0), np.empty(0)
        if isinstance(self.task, MatrixCosts):
            halves, factors = self.halves(leaf.state.mask, splits.variables), self.factors.values
            masses = [sums * factors for sums in halves]
            low, high = (self.task.leads(sums, leaf.label) for sums in masses)
            return low / masses[0].sum(axis=1), high / masses[1].sum(axis=1)
        scale, leads = self._product_scale, []
        for half in self._halves_of_rows(leaf, splits.variables):
            costs = half[:, 1:]
            leads.append((costs[:, leaf.label] - costs.min(axis=1)) / half[:, 0] / scale)
        return leads[0], leads[1]

    def class_counts(self, leaf: Leaf) -> IntArray:
        """How many rows of each class reach a leaf, whatever their weight."""
        return self.counts(leaf.state.mask[None])[0]

    def class_masses(self, leaf: Leaf) -> FloatArray:
        """The weight of each class at a leaf."""
        return self.masses(leaf.state.mask[None])[0]

    def unlimited(self) -> SampleProblem:
        """The same rows without limits on leaves and splits."""
        return self.limited(NO_LIMITS)

    def find(self, name: str, source: Source) -> int:
        columns = self.literals.columns
        known = source[0] < len(columns) and name.startswith(columns[source[0]].name)
        literal = self.literals.find(source) if known else -1
        if literal < 0:
            raise ValueError(f"the problem must have every variable tested; it has no {name}")
        return literal

    def tree(
        self,
        leaves: Sequence[int],
        tests: Sequence[int],
        thresholds: Sequence[float | None],
        labels: Sequence[int],
    ) -> Tree:
        return self.literals.tree(leaves, tests, thresholds, labels)

    def _leaf(self, state: LeafRows) -> Leaf:
        if not self.classes:
            return self._leaf_of_rows(state)
        masses: list[Any]
        rates: tuple[Any, ...]
        if state.exact:
            masses, total = self.exact_masses(state.mask), self.exact_total
        else:
            masses, total = self.masses(state.mask[None])[0].tolist(), self.total
        mass = sum(masses)
        # a leaf that nothing reaches has no rate; the first class makes it free of error
        rates = tuple(share / mass for share in masses) if mass else (1, *[0] * (len(masses) - 1))
        pure = int((self.counts(state.mask[None])[0] > 0).sum()) <= 1
        positive = 0.0 if len(rates) == 1 else rates[1]
        if not isinstance(self.task, MatrixCosts):
            return Leaf(mass / total, positive, pure, state, rates)
        regrets, least = self.task.matrix.tolist(), self.task.least.tolist()
        if state.exact:
            regrets, least = zip(*self.task.exact(), strict=True)
        by_action = [sum(map(operator.mul, rates, each)) for each in zip(*regrets, strict=True)]
        base = sum(map(operator.mul, rates, least))
        pure = self.task.is_pure(self.counts(state.mask[None])[0] > 0)
        reach = mass / total
        return CostLeaf(reach, positive, pure, state, rates, tuple(by_action), base)

    def _leaf_of_rows(self, state: LeafRows) -> Leaf:
        """A leaf of rows without classes."""
        here = np.flatnonzero(unpack(state.mask)[self.slots])
        if state.exact:
            return self._exact_leaf(state, here)
        mass = float(self.row_weights()[here].sum())
        label, cost, by_action = self.outcome_of_rows(here)
        share, some = mass / self.total, mass or 1.0
        if isinstance(self.task, Squared):
            pure = bool(len(here) == 0 or (self.targets[here] == self.targets[here[0]]).all())
            return MeanLeaf(share, label, pure, state, None, cost / some)
        base = float((self.row_weights()[here] * self.least_costs[here]).sum()) / some
        means = tuple((by_action / some).tolist())
        return CostLeaf(share, 0.0, cost == 0, state, None, means, base)

    def _exact_leaf(self, state: LeafRows, here: np.ndarray) -> Leaf:
        """The same with Fractions."""
        every, rows = self.row_weights(True), here.tolist()
        weights = [every[row] for row in rows]
        mass = sum(weights, Fraction(0))
        share, some = mass / self.exact_total, mass or Fraction(1)
        if isinstance(self.task, Squared):
            written = self.exact_targets()
            numbers = [written[row] for row in rows]
            mean = sum(map(operator.mul, weights, numbers), Fraction(0)) / some
            distances = [(number - mean) ** 2 for number in numbers]
            variance = sum(map(operator.mul, weights, distances), Fraction(0)) / some
            return MeanLeaf(share, mean, len(set(numbers)) <= 1, state, None, variance)
        costs = self.exact_costs(here)
        means = tuple(
            sum(
                (
                    weight * each.regrets[action]
                    for weight, each in zip(weights, costs, strict=True)
                ),
                Fraction(0),
            )
            / some
            for action in range(len(self.actions))
        )
        least = [each.least for each in costs]
        base = sum(map(operator.mul, weights, least), Fraction(0)) / some
        return CostLeaf(share, 0.0, min(means) == 0, state, None, means, base)

    @property
    def min_leaf_mass(self) -> float:
        """The least weight that a split may leave on a side, in the unit of whole weights."""
        share = self.limits.min_weight_fraction_leaf
        if share == 0:  # as in most fits, which need no sums then
            return 0.0
        return share * float((self.sums(self.valid[None]) * self.factors.values).sum())

    def without_rows(self, literals: Literals) -> SampleProblem:
        """The same classes and some literals without the data; growers can no longer use it."""
        other = SampleProblem.bare(
            self.classes, literals, self.class_weight, self.weight_unit, self.limits
        )
        other.task = self.task
        return other

    @classmethod
    def bare(
        cls,
        classes: tuple[Any, ...],
        literals: Literals,
        class_weight: FloatArray,
        weight_unit: float,
        limits: Limits,
    ) -> SampleProblem:
        """A problem whose rows are not here: it has names for a tree that was grown elsewhere."""
        problem = object.__new__(cls)
        problem.classes, problem.literals, problem.task = classes, literals, Errors()
        problem.targets = problem.least_costs = np.empty(0)
        problem.limits, problem.min_gain = limits, limits.min_gain
        problem.class_weight, problem.weight_unit = class_weight, weight_unit
        problem.rounded = False
        problem.bits = np.empty((literals.rows_of_bits, 0), dtype=np.uint64)
        problem.ranks = tuple(np.empty(0, dtype=np.uint8) for _ in literals.ordered)
        problem.valid = np.empty(0, dtype=np.uint64)
        problem.weights = problem.whole_weights = np.empty(0)
        problem.first_word = np.zeros(len(classes) + 1, dtype=np.int64)
        problem.class_rows = problem.all_class_rows = np.zeros(len(classes), dtype=np.int64)
        problem.named = True
        return problem


@jit
def mean_of(rows, labels, weights):
    """The mean of some rows' labels, their squared distances from it, and whether all are equal.

    Each term is rounded once and each sum once, so that the order of rows plays no part. Without
    weights all rows weigh 1.
    """
    least = most = labels[rows[0]]
    mass = total = cost = (0.0, 0.0, 0.0)
    for row in rows:
        label = labels[row]
        least, most = min(least, label), max(most, label)
        if len(weights):
            mass = _add_exactly(mass, weights[row])
            total = _add_exactly(total, weights[row] * label)
        else:
            total = _add_exactly(total, label)
    if least == most:
        return least, 0.0, True
    mean = _rounded(total) / (_rounded(mass) if len(weights) else np.float64(len(rows)))
    for row in rows:
        distance = labels[row] - mean
        once = weights[row] * distance if len(weights) else distance
        cost = _add_exactly(cost, once * distance)
    return mean, _rounded(cost), False


@inner_jit
def _add_exactly(parts, term):
    """Add a number to a sum of three floats, each of which has what the one before rounds off."""
    first, second, third = parts
    total = first + term
    back = total - first
    rest = (first - (total - back)) + (term - back)
    more = second + rest
    back = more - second
    third += (second - (more - back)) + (rest - back)
    return total, more, third


@inner_jit
def _rounded(parts):
    return parts[0] + (parts[1] + parts[2])


def check_grouped(problem: SampleProblem, categories: str) -> None:
    """Refuse a problem that tests one category at a time where sets are wanted."""
    columns = problem.literals.columns if categories == "subsets" else ()
    for column in columns:
        if column.categories is not None and not column.grouped:
            raise ValueError(
                f'a problem must have categories="subsets" as its model has; {column.name} has not'
            )


def check_thresholds(max_thresholds: int | None) -> int | None:
    """Refuse what is no number of thresholds."""
    if max_thresholds is not None and check_count(max_thresholds, "max_thresholds") == 0:
        raise ValueError("max_thresholds must be at least 1; got 0")
    return max_thresholds
