"""Labels as positions among classes, and the weights of rows and classes."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from fractions import Fraction
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import check_unmasked
from mictree._support.jit import jit
from mictree._support.sums import exact_sum
from mictree.columns.arrays import read_array
from mictree.columns.data import is_missing

MOST_CODES = 4096  # integer labels in a range of this width are counted, not sorted
MOST_WHOLE = 2**53  # all whole numbers up to this one are floats
LEAST_EXPONENT = -900  # of factors and units whose products with sums have all digits
MOST_PLACES = 1074  # of binary places: the least float is 2**-1074
NO_WEIGHT = "sample_weight must be positive for some row; all are zero"

FloatArray = np.typing.NDArray[np.float64]
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


def are_decimals(weights: FloatArray, places: int) -> bool:
    """Whether weights have at most so many decimal places."""
    # the quotient is rounded once, so it is the weight exactly if that is such a decimal
    unit = 10.0**places
    return bool(np.all(np.round(weights * unit) / unit == weights))


def binary_places(total: Fraction) -> int:
    """The number of binary places that leave a sum of weights 52 binary digits.

    No float has more than ``MOST_PLACES``, and a unit below the least float would be 0.
    """
    return min(MOST_PLACES, 52 - math.frexp(float(total))[1])


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
    """The same from "balanced" or a mapping and the number of rows of each class."""
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
