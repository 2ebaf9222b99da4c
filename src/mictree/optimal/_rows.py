"""A data set's rows as the search for optimal trees wants them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mictree.optimal import _search as search
from mictree.problems.sample import SampleProblem
from mictree.tree import Tree


@dataclass(frozen=True)
class Rows:
    """A sample problem's rows as the search wants them."""

    problem: SampleProblem
    data: search.Data
    kept: np.ndarray  # the literals searched: no constant, none equal or opposite to another
    codes: np.ndarray  # the class of each row
    bits: np.ndarray  # (literals, rows), all literals
    whole: bool  # all weights are integers
    slack: Any  # what rounding may cost
    total: Any

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
        whole = bool(np.all(weights == np.round(weights)) and weights.sum() < 2**53)
        if whole:
            weights = weights.astype(np.int64)
        kept = _distinct_literals(bits)
        words = _pack_rows(bits[kept])
        generator = np.random.default_rng(0x6D696374)
        slack = weights.dtype.type(0 if whole else 1e-9 * weights.sum())
        data = search.Data(
            words=words,
            weights=weights,
            unit=bool(np.all(weights == 1)),
            smallest=weights.dtype.type(1) if whole else slack,
            unavoidable=_unavoidable(words, codes, weights, len(problem.classes)),
            keys=generator.integers(0, 2**64, size=(len(slots), 2), dtype=np.uint64),
            first_row=np.concatenate([[0], np.cumsum(problem.class_rows)]).astype(np.int64),
            literals=len(kept),
        )
        return cls(problem, data, kept, codes, bits, whole, slack, weights.sum())

    def holds(self, rows: np.ndarray, literal: int) -> np.ndarray:
        """In which of some rows a kept literal holds."""
        return self.bits[self.kept[literal], rows]

    def majority(self, rows: np.ndarray) -> int:
        """The heaviest class of some rows, the first of several."""
        return int(np.bincount(self.codes[rows], self.data.weights[rows]).argmax())

    def wrong(self, tree: Tree) -> Any:
        """The weight that a tree labels wrongly, counted anew."""
        node = np.zeros(len(self.codes), dtype=np.intp)
        tests, low, high = np.array(tree.tests), np.array(tree.low), np.array(tree.high)
        every = np.arange(len(node))
        for _ in range(tree.depth):
            moving = every[tests[node] >= 0]
            here = node[moving]
            node[moving] = np.where(self.bits[tests[here], moving], high[here], low[here])
        return self.data.weights[np.array(tree.labels)[node] != self.codes].sum()


def _distinct_literals(bits: np.ndarray) -> np.ndarray:
    """The first of all literals that split the rows in the same two sets; constants split none."""
    alike = np.where(bits[:, :1], ~bits, bits) if len(bits) else bits
    packed = np.packbits(alike, axis=1)
    seen: dict[bytes, int] = {}
    for number, row in enumerate(packed):
        if alike[number].any():
            seen.setdefault(row.tobytes(), number)
    return np.array(sorted(seen.values()), dtype=np.intp)


def _pack_rows(bits: np.ndarray) -> np.typing.NDArray[np.uint64]:
    """(literals, rows) to 64-bit words of each row."""
    words = max(1, (len(bits) + 63) // 64)
    padded = np.zeros((64 * words, bits.shape[1]), dtype=bool)
    padded[: len(bits)] = bits
    packed = np.packbits(padded, axis=0, bitorder="little")
    return np.ascontiguousarray(packed.T).view(np.uint64)


def _unavoidable(words: np.ndarray, codes: np.ndarray, weights: np.ndarray, classes: int):
    """The weight of each row that is outvoted among the rows with the same literals."""
    _, group = np.unique(words, axis=0, return_inverse=True)
    votes = np.zeros((group.max() + 1, classes), dtype=weights.dtype)
    np.add.at(votes, (group.ravel(), codes), weights)
    return np.where(codes == votes.argmax(axis=1)[group.ravel()], 0, weights).astype(weights.dtype)
