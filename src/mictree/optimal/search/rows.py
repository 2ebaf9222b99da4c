"""A data set's rows as the search for optimal trees wants them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mictree.optimal.search.frames import Data
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree


@dataclass(frozen=True)
class Rows:
    """A sample problem's rows as the search wants them: distinct, with integer weights."""

    problem: SampleProblem
    data: Data
    kept: np.ndarray  # the literals searched: no constant, none equal or opposite to another
    codes: np.ndarray  # the class of each row
    slots: np.ndarray  # where each row is in the data
    bits: np.ndarray  # (literals, rows), all literals
    weights: np.ndarray
    count: int  # of all rows, equal ones included
    exact: bool  # the integers are in the ratio of the weights, not rounded

    @classmethod
    def of(cls, problem: SampleProblem) -> "Rows":
        slots = np.concatenate(
            [
                64 * first + np.arange(count)
                for first, count in zip(problem.first_word, problem.class_rows, strict=False)
            ]
        ).astype(np.intp)
        unpacked = np.unpackbits(problem.bits.view(np.uint8), axis=1, bitorder="little")
        bits = unpacked[:, slots].astype(bool)
        codes = np.repeat(np.arange(len(problem.classes)), problem.class_rows)
        weights = problem.weights[slots] if len(problem.weights) else np.ones(len(slots))
        weights = weights * problem.class_weight[codes]
        kept = _distinct_literals(bits)
        words = _pack(bits[kept].T)
        alike = _number_alike(words)
        _, first, group = np.unique(
            codes * (alike.max() + 1) + alike, return_index=True, return_inverse=True
        )
        words, codes, bits, alike = words[first], codes[first], bits[:, first], alike[first]
        integers, exact = to_integers(weights)
        weights = np.bincount(group, integers)  # sums below 2**53 are exact
        weights = weights.astype(np.int32 if weights.sum() < 2**31 else np.int64)
        unavoidable = _unavoidable(alike, codes, weights, len(problem.classes))
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
        return cls(problem, data, kept, codes, slots, bits, weights, len(integers), exact)

    @property
    def everything(self) -> np.ndarray:
        """All rows."""
        return np.arange(len(self.codes))

    def mask(self, rows: np.ndarray) -> np.ndarray:
        """The bits of some rows' slots."""
        chosen = np.zeros(len(self.data.keys), dtype=bool)
        chosen[self.slots[rows]] = True
        return np.packbits(chosen, bitorder="little").view(np.uint64)

    def holds(self, rows: np.ndarray, literal: int) -> np.ndarray:
        """In which of some rows a kept literal holds."""
        return self.bits[self.kept[literal], rows]

    def name(self, literal: int) -> str:
        """The name of a kept literal."""
        return self.problem.variables[self.kept[literal]]

    def build(self, nested: Any) -> Tree:
        """A tree from nested names and labels."""
        return Tree.build(self.problem.variables, nested)

    def split(self, tree: Tree, node: int, rows: np.ndarray) -> np.ndarray:
        """In which of some rows the test of a tree's node holds."""
        return self.bits[tree.tests[node], rows]

    def leaf_error(self, rows: np.ndarray) -> int:
        """The weight that a leaf labels wrongly."""
        masses = np.bincount(self.codes[rows], self.weights[rows])
        return int(masses.sum() - masses.max())

    def majority(self, rows: np.ndarray) -> int:
        """The heaviest class of some rows, the first of several."""
        return int(np.bincount(self.codes[rows], self.weights[rows]).argmax())

    def wrong(self, tree: Tree) -> int:
        """The weight that a tree labels wrongly, counted anew."""
        node = np.zeros(len(self.codes), dtype=np.intp)
        tests, low, high = np.array(tree.tests), np.array(tree.low), np.array(tree.high)
        every = np.arange(len(node))
        for _ in range(tree.depth):
            moving = every[tests[node] >= 0]
            here = node[moving]
            node[moving] = np.where(self.bits[tests[here], moving], high[here], low[here])
        return int(self.weights[np.array(tree.labels)[node] != self.codes].sum())


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


def to_integers(weights: np.ndarray) -> tuple[np.ndarray, bool]:
    """Weights in multiples of one unit, and whether that is exact.

    The unit is 1 where the weights are whole, else as small as lets sums keep to 52 binary digits.
    """
    total = weights.sum()
    if np.all(weights == np.round(weights)) and total < 2**53:
        return weights, True
    digits = 52 - int(np.ceil(np.log2(total)))
    integers = np.round(np.ldexp(weights, digits))
    return integers, bool(np.all(np.ldexp(integers, -digits) == weights))


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


def _unavoidable(alike: np.ndarray, codes: np.ndarray, weights: np.ndarray, classes: int):
    """The weight of each row that is outvoted among the rows with the same literals."""
    votes = np.zeros((alike.max() + 1, classes), dtype=weights.dtype)
    np.add.at(votes, (alike, codes), weights)
    return np.where(codes == votes.argmax(axis=1)[alike], 0, weights).astype(weights.dtype)
