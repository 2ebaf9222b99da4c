"""A problem's rows as sorted columns, for a search that sweeps them.

Every column of the search has ranks: an ordered column those of its values, and a bit (a 0/1 column
or a category) two. A missing value fails every threshold, so its rank is below all others; the cut
above it is the test for missing values, which needs no column of its own.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mictree.growers.sorted_rows import NEW, sort_entries
from mictree.optimal.search.nested import holds
from mictree.optimal.search.rows import find_unavoidable, to_integers
from mictree.optimal.search.searched_rows import SearchedRows, Written, add_up, row_slots
from mictree.optimal.search.sweep_frames import OrderedData
from mictree.problems.sample import SampleProblem


@dataclass(frozen=True)
class OrderedRows(SearchedRows):
    """A sample problem's rows: distinct, with integer weights, sorted by each column."""

    problem: SampleProblem
    data: OrderedData
    columns: tuple[np.ndarray, ...]  # the ranks of the rows in the columns that are searched
    origins: tuple[int, ...]  # of each such column: its place in ``ranks``, or -1 - a literal
    slots: np.ndarray  # of each row in the problem's bits; none if it has no bits
    ranks: tuple[np.ndarray, ...]
    codes: np.ndarray
    weights: np.ndarray
    written: Written | None

    @classmethod
    def of(cls, problem: SampleProblem, exact: bool) -> "OrderedRows":
        codes = np.repeat(np.arange(len(problem.classes), dtype=np.int32), problem.class_rows)
        slots = row_slots(problem)
        weights = problem.weights[slots] if len(problem.weights) else np.ones(len(codes))
        integers, written = to_integers(weights, codes, problem.class_weight, exact)
        columns, origins = _distinct_columns(problem, slots)
        chosen, group, alike = _merge(columns, codes)
        weights = add_up(group, integers, len(chosen))
        if written is not None:
            written = written._replace(weights=add_up(group, written.weights, len(chosen)))
        kept = {id(column): _choose(column, chosen) for column in columns}
        columns, codes = [kept[id(column)] for column in columns], _choose(codes, chosen)
        weights = weights.astype(np.int32 if weights.sum() < 2**30 else np.int64)
        unavoidable = find_unavoidable(alike, codes, weights, len(problem.classes))
        ordered = tuple(
            kept[id(ranks)] if id(ranks) in kept else _choose(ranks, chosen)
            for ranks in problem.ranks
        )
        slots = _choose(slots, chosen) if len(problem.bits) else slots[:0].copy()
        del chosen, group, alike, integers
        order = _sort(columns, len(codes))
        keys = np.random.default_rng(0x6D696374).integers(
            0, 2**64, size=(len(codes), 2), dtype=np.uint64
        )
        data = OrderedData(
            order=order,
            weights=np.column_stack([weights, unavoidable]).astype(weights.dtype),
            signed=np.where(codes == 1, weights, -weights).astype(
                np.int16 if weights.sum() < 2**15 else weights.dtype
            ),
            codes=codes,
            keys=keys,
        )
        return cls(problem, data, tuple(columns), origins, slots, ordered, codes, weights, written)

    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""
        return holds(self.problem, self.ranks, self.slots, rows, test)

    def literal(self, column: int, rank: int) -> tuple[int, bool]:
        """The test that cuts a column above a rank, and whether it holds below."""
        literals, origin = self.problem.literals, self.origins[column]
        if origin < 0:
            return -1 - origin, False
        number = literals.ordered[origin]
        start, missing = int(literals.starts[number]), literals.columns[number].missing
        if rank < missing:
            return start + literals.columns[number].thresholds, True
        return start + rank - missing, False


def _distinct_columns(
    problem: SampleProblem, slots: np.ndarray
) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """The columns to search, and where they are from; of several that cut rows alike, the first."""
    literals = problem.literals
    found: list[np.ndarray] = list(problem.ranks)
    origins = list(range(len(found)))
    for literal, words in zip(literals.stored_bits.tolist(), problem.bits, strict=True):
        if literals.locate(literal)[0] not in literals.ordered:
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")
            found.append(bits[slots])
            origins.append(-1 - literal)
    seen: dict[bytes, int] = {}
    for place, ranks in enumerate(found):
        top = ranks.max()
        if top > 0:
            turned = ranks if ranks[0] <= top - ranks[0] else top - ranks
            # 128 bits, as many as tell row sets apart
            digest = hashlib.blake2b(turned.astype(np.uint32).data, digest_size=16).digest()
            seen.setdefault(digest, place)
    kept = list(seen.values())
    return [found[place] for place in kept], tuple(origins[place] for place in kept)


def _sort(columns: list[np.ndarray], count: int) -> np.ndarray:
    """The rows in the order of each column, as ``OrderedData`` has them."""
    entries, places = np.empty((len(columns), count), dtype=np.uint32), np.arange(count)
    for column, line in zip(columns, entries, strict=True):
        sort_entries(column, places, int(column.max()) + 1, line)
    larger = entries[:, 1:] >= NEW
    entries <<= 1  # which drops the flags
    entries[:, :-1] += larger
    return entries.view(np.int32)


def _choose(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The values of some rows, in their order; the same array if these are all."""
    return values if len(rows) == len(values) else values[rows]


@lru_cache(maxsize=16)
def _factors(count: int) -> np.typing.NDArray[np.uint64]:
    """Odd random numbers, always the same."""
    random = np.random.default_rng(0x6D696374)
    return random.integers(0, 2**64, size=count, dtype=np.uint64) | np.uint64(1)


def _merge(
    columns: list[np.ndarray], codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first of all equal rows of one class, and for each row which of them it equals.

    Then a number for each of these, the same for those that are equal but for their class.
    """
    hashes = np.zeros(len(codes), dtype=np.uint64)
    for column, factor in zip(columns, _factors(len(columns)), strict=True):
        hashes += column * factor
    order = np.lexsort((codes, hashes))
    new = np.zeros(max(0, len(codes) - 1), dtype=bool)
    for column in columns:
        ranks = column[order]
        new |= ranks[1:] != ranks[:-1]
    first = np.concatenate([[True], new | (codes[order[1:]] != codes[order[:-1]])])
    alike = np.empty(len(codes), dtype=np.intp)
    alike[order] = np.concatenate([[0], np.cumsum(new)])
    if first.all():  # in their own order, so that nothing needs to be copied
        everything = np.arange(len(codes))
        return everything, everything, alike
    group = np.empty(len(codes), dtype=np.intp)
    group[order] = np.cumsum(first) - 1
    return order[first], group, alike[order[first]]
