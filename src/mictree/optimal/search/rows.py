"""A data set's rows in the form that the search kernel reads.

Rows that are alike in all literals and in class become one row with the sum of their weights.
Literals that never change, and all but one of those that split the rows in the same way, are left
out. Weights become integers, so sums and differences are exact and ties are ties.

Invariant: the error of a tree on these rows, over the sum of their weights, is its error on the
problem; where weights had to be rounded, up to the slack of ``written``.
"""

import math
import operator
from dataclasses import dataclass
from decimal import Context, Decimal

import numpy as np

from mictree.optimal.search.frames import Data
from mictree.optimal.search.searched_rows import SearchedRows, Written, add_up, row_slots
from mictree.problems.sample import SampleProblem

EXACT = Context(prec=20)  # all digits of a float as written, whatever the thread's context


@dataclass(frozen=True)
class Rows(SearchedRows):
    """A sample problem's rows: distinct, with integer weights."""

    problem: SampleProblem
    data: Data
    kept: np.ndarray  # the literals searched: no constant, none equal or opposite to another
    codes: np.ndarray  # the class of each row
    slots: np.ndarray  # where each row is in the data
    bits: np.ndarray  # (literals, rows), all literals
    weights: np.ndarray
    written: Written | None  # None where no weight is rounded
    floor: int

    @classmethod
    def of(cls, problem: SampleProblem, exact: bool) -> "Rows":
        slots = row_slots(problem)
        words = problem.bits_of(np.arange(len(problem.literals)))
        unpacked = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        bits = unpacked[:, slots].astype(bool)
        codes = np.repeat(np.arange(len(problem.classes)), problem.class_rows)
        weights = problem.weights[slots] if len(problem.weights) else np.ones(len(slots))
        integers, written = to_integers(weights, codes, problem.class_weight, exact)
        kept = _distinct_literals(bits)
        words = _pack(bits[kept].T)
        alike = _number_alike(words)
        _, first, group = np.unique(
            codes * (alike.max() + 1) + alike, return_index=True, return_inverse=True
        )
        words, codes, bits, alike = words[first], codes[first], bits[:, first], alike[first]
        weights = add_up(group, integers, len(first))
        if written is not None:
            written = written._replace(weights=add_up(group, written.weights, len(first)))
        weights = weights.astype(np.int32 if weights.sum() < 2**31 else np.int64)
        unavoidable = find_unavoidable(alike, codes, weights, len(problem.classes))
        floor = int(unavoidable.sum(dtype=int))
        amounts, which = _amounts(weights)
        if len(amounts) > 1:
            words = np.column_stack([words, which])
        counts = np.bincount(codes, minlength=len(problem.classes))
        first_word = np.concatenate([[0], np.cumsum((counts + 63) // 64)])
        slots = 64 * first_word[codes] + np.arange(len(codes)) - np.searchsorted(codes, codes)

        def spread(values: np.ndarray) -> np.ndarray:
            spread = np.zeros((64 * first_word[-1], *values.shape[1:]), dtype=values.dtype)
            spread[slots] = values
            return spread

        keys = np.random.default_rng(0x6D696374).integers(
            0, 2**64, size=(len(codes), 2), dtype=np.uint64
        )
        data = Data(
            words=spread(words),
            columns=_pack(spread(bits[kept].T).T),
            amounts=amounts,
            weights=spread(np.column_stack([weights, unavoidable])),
            keys=spread(keys),
            first_word=first_word,
        )
        return cls(problem, data, kept, codes, slots, bits, weights, written, floor)

    def mask(self, rows: np.ndarray) -> np.ndarray:
        """The bits of some rows' slots."""
        chosen = np.zeros(len(self.data.keys), dtype=bool)
        chosen[self.slots[rows]] = True
        return np.packbits(chosen, bitorder="little").view(np.uint64)

    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""
        return self.bits[test, rows]


def _distinct_literals(bits: np.ndarray) -> np.ndarray:
    """The first of all literals that split the rows in the same two sets; constants split none."""
    alike = np.where(bits[:, :1], ~bits, bits) if len(bits) else bits
    packed = np.packbits(alike, axis=1)
    seen: dict[bytes, int] = {}
    for number, row in enumerate(packed):
        if alike[number].any():
            seen.setdefault(row.tobytes(), number)
    return np.array(sorted(seen.values()), dtype=np.intp)


def _pack(bits: np.ndarray) -> np.typing.NDArray[np.uint64]:
    """Rows of bits to rows of 64-bit words."""
    words = max(1, (bits.shape[1] + 63) // 64)
    padded = np.zeros((len(bits), 64 * words), dtype=bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def to_integers(
    weights: np.ndarray, codes: np.ndarray, class_weight: np.ndarray, exact: bool
) -> tuple[np.ndarray, Written | None]:
    """Weights times their class's in multiples of one unit, and as written if that rounds them.

    Both are read as written: 0.3 is 3/10. The unit divides all products if sums then keep
    to 62 binary digits. Otherwise products are rounded to 61 digits of their sum, none to 0.
    """
    products = weights * class_weight[codes]
    factors = (weights, class_weight) if exact else (products,)
    if products.sum() < 2**53 and all(np.all(each == np.round(each)) for each in factors):
        return products.astype(np.int64), None
    distinct, which = np.unique(weights, return_inverse=True)
    pairs, which = np.unique(which * len(class_weight) + codes, return_inverse=True)
    factors = _multiples(class_weight)
    numbers, counts = _multiples(distinct), np.bincount(which).tolist()
    integers = [numbers[pair // len(factors)] * factors[pair % len(factors)] for pair in pairs]
    divisor = math.gcd(*integers)
    integers = [integer // divisor for integer in integers]
    digits = sum(map(operator.mul, integers, counts)).bit_length()
    if digits <= 62:
        return np.array(integers, dtype=np.int64)[which], None
    unit = 1 << digits - 61
    rounded = [max(1, (integer + unit // 2) // unit) for integer in integers]
    wrong = [abs(r * unit - integer) for r, integer in zip(rounded, integers, strict=True)]
    slack = -(-sum(map(operator.mul, wrong, counts)) // unit)
    written = Written(np.array(integers, dtype=object)[which], unit, slack)
    return np.array(rounded, dtype=np.int64)[which], written


def _multiples(numbers: np.ndarray) -> list[int]:
    """Floats as written, in multiples of one power of ten."""
    decimals = [Decimal(repr(number)) for number in numbers.tolist()]
    least = min(int(number.as_tuple().exponent) for number in decimals)
    return [int(number.scaleb(-least, EXACT)) for number in decimals]


def _amounts(weights: np.ndarray) -> tuple[np.ndarray, np.typing.NDArray[np.uint64]]:
    """A few amounts, and which of them add up to each weight: bit k for amount k."""
    values, which = np.unique(weights, return_inverse=True)
    digits = int(values[-1]).bit_length()
    if len(values) <= max(2, digits):
        return values, np.uint64(1) << which.ravel().astype(np.uint64)
    return np.left_shift(1, np.arange(digits)).astype(weights.dtype), weights.astype(np.uint64)


def _number_alike(words: np.ndarray) -> np.typing.NDArray[np.int64]:
    """A number for each row, the same for equal ones."""
    order = np.lexsort(words.T)
    new = np.any(words[order[1:]] != words[order[:-1]], axis=1)
    numbers = np.empty(len(words), dtype=np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(new)])
    return numbers


def find_unavoidable(alike: np.ndarray, codes: np.ndarray, weights: np.ndarray, classes: int):
    """The weight of each row that is outvoted among the rows with the same literals."""
    votes = np.zeros((alike.max() + 1, classes), dtype=weights.dtype)
    np.add.at(votes, (alike, codes), weights)
    return np.where(codes == votes.argmax(axis=1)[alike], 0, weights).astype(weights.dtype)
