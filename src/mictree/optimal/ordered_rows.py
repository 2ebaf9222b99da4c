"""A problem's rows as sorted columns, for a search that sweeps them.

Every column of the search has ranks: an ordered column those of its values, and a bit (a 0/1 column
or a category) two. A missing value fails every threshold, so its rank is below all others; the cut
above it is the test for missing values, which needs no column of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit
from mictree.optimal.costs import (
    Actions,
    CostCounting,
    Numbers,
    Scale,
    bounds_of_actions,
    bounds_of_numbers,
    cost_of_sums,
)
from mictree.optimal.rows import (
    ClassRows,
    ExactWeights,
    Leaf,
    MergedRows,
    SearchedRows,
    Weighed,
    add_up,
    holds,
    row_slots,
)
from mictree.optimal.sweep_costs import ActionData, NumberData
from mictree.optimal.sweep_scan import OrderedData
from mictree.problems.sample import SampleProblem
from mictree.problems.tasks import Squared

# the ranks of a column, the literal of rank 0, and that for missing values; or, of a bit, no ranks
# and its only literal
Cuts = tuple[np.ndarray | None, int, int | None]

SEED = 0x6D696374
FEW_ROWS = 1 << 12  # for which random keys are drawn once and kept


class SortedRows(SearchedRows):
    """A problem's rows, distinct and sorted by each column.

    Attributes
    ----------
    origins : of each column searched: its place in ``ranks``, or -1 - a literal
    cuts : of each column searched
    chosen : the row of the problem; of equal ones, the first
    slots : of each row in the problem's bits; none if it has no bits
    """

    origins: tuple[int, ...]
    cuts: tuple[Cuts, ...]
    chosen: np.ndarray
    slots: np.ndarray

    @cached_property
    def ranks(self) -> tuple[np.ndarray, ...]:
        """Of each row in the problem's ordered columns, one line each."""
        chosen = self.chosen  # class by class, where costs tell the class of a row
        if np.all(chosen[1:] > chosen[:-1]):
            return tuple(_choose(ranks, chosen) for ranks in self.problem.ranks)
        return tuple(ranks.take(chosen) for ranks in self.problem.ranks)

    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""
        return holds(self.problem, self.ranks, self.slots, rows, test)

    def literal(self, column: int, row: int) -> tuple[int, bool]:
        """The test that cuts a column above the rank of a row, and whether it holds below."""
        ranks, first, is_missing = self.cuts[column]
        if ranks is None:
            return first, False
        rank = ranks.item(self.chosen.item(row))
        return (first + rank, False) if rank or is_missing is None else (is_missing, True)


@dataclass(frozen=True)
class OrderedRows(ClassRows, SortedRows):
    """Rows with classes and integer weights."""

    problem: SampleProblem
    data: OrderedData
    origins: tuple[int, ...]
    cuts: tuple[Cuts, ...]
    chosen: np.ndarray
    slots: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    exact_weights: ExactWeights | None
    floor: int
    scale: Scale | None

    @classmethod
    def of(cls, problem: SampleProblem, exact: bool) -> "OrderedRows":
        taken, codes, integers, exact_weights, scale = Weighed.of(problem, exact)
        slots = _slots(problem, taken)
        table, origins = _distinct_columns(problem, slots, taken, len(codes))
        chosen, group, weights, unavoidable, total, floor = _merge(table, codes, integers)
        if exact_weights is not None:
            summed = add_up(group, exact_weights.weights, len(chosen))
            exact_weights = exact_weights._replace(weights=summed)
        slots = _choose(slots, chosen) if len(problem.bits) else slots[:0].copy()
        del group, integers
        order, codes = _sort(table, chosen), _choose(codes, chosen)
        kind = np.int32 if total < 2**30 else np.int64
        both = np.empty((len(codes), 2), dtype=kind)
        signed = np.empty(len(codes), dtype=np.int16 if total < 2**15 else kind)
        weigh_rows(weights, unavoidable, codes, both, signed)
        data = OrderedData(
            order=order,
            weights=both,
            signed=signed,
            codes=codes,
            keys=_keys(len(codes)),
        )
        cuts = _find_cuts(problem, origins)
        chosen = chosen if taken is None else taken[chosen]
        return cls(
            problem, data, origins, cuts, chosen, slots, codes, both[:, 0], exact_weights, floor,
            scale,
        )  # fmt: skip


@dataclass(frozen=True)
class CostRows(MergedRows, SortedRows):
    """Rows with costs of three or more actions, or with numbers to predict.

    What no action avoids is left out of the costs of actions.
    """

    problem: SampleProblem
    data: ActionData | NumberData
    origins: tuple[int, ...]
    cuts: tuple[Cuts, ...]
    chosen: np.ndarray
    slots: np.ndarray
    weights: np.ndarray
    floor: int
    costs: Actions | Numbers
    group: np.ndarray
    left_out: int | Fraction

    @classmethod
    def of(cls, problem: SampleProblem) -> "CostRows":
        """Rows with equal inputs merged, and sorted."""
        slots = _slots(problem, None)
        every = np.zeros(int(problem.class_rows.sum()), dtype=np.int32)
        table, origins = _distinct_columns(problem, slots, None, len(every))
        chosen, group, *_ = _merge(table, every, np.empty(0, dtype=np.int64))
        slots = _choose(slots, chosen) if len(problem.bits) else slots[:0].copy()
        squared = isinstance(problem.task, Squared)
        costs = Numbers.of(problem) if squared else Actions.of(problem)
        given = costs.sums if isinstance(costs, Numbers) else costs.costs
        sums = np.zeros((len(chosen), given.shape[1]), dtype=np.int64)
        np.add.at(sums, group, given)
        least, left_out = np.zeros(len(chosen), dtype=np.int64), 0
        parts = {"order": _sort(table, chosen), "keys": _keys(len(chosen))}
        if isinstance(costs, Numbers):
            shift = np.array([costs.shift], dtype=np.int64)
            least = np.array([cost_of_sums(each, shift[0]) for each in sums], dtype=np.int64)
            both = np.stack([least, least], axis=1)
            floats = sums[:, :2].astype(float)
            data = NumberData(weights=both, sums=sums, signed=floats, shift=shift, **parts)
        else:
            avoided = sums.min(axis=1, initial=0 if sums.shape[1] == 0 else 1 << 62)
            left_out = int(avoided.sum())
            sums -= avoided[:, None]
            both = np.stack([sums.max(axis=1), least], axis=1)
            digits = int(sums.max(axis=1).sum()).bit_length()
            shift = np.array([max(0, digits - 31)], dtype=np.int64)
            coarse = (sums >> shift).astype(np.int32)
            data = ActionData(weights=both, sums=sums, signed=coarse, shift=shift, **parts)
        return cls(
            problem, data, origins, _find_cuts(problem, origins), chosen, slots,
            data.weights[:, 0], int(least.sum()), costs, group, left_out,
        )  # fmt: skip

    def leaf(self, rows: np.ndarray | None = None) -> Leaf:
        """The best label of some rows, by default all, the first of several; and its cost."""
        sums = (self.data.sums if rows is None else self.data.sums[rows]).sum(axis=0)
        if isinstance(self.data, NumberData):
            return Leaf(0, int(cost_of_sums(sums, self.data.shift[0])))
        return Leaf(int(sums.argmin()), int(sums.min()))

    def counting(self, depth: int) -> CostCounting:
        """What is known without a search of trees no deeper than ``depth``."""
        data = self.data

        def bounds(leaves: int) -> list[int]:
            if isinstance(data, ActionData):
                return bounds_of_actions(data.sums, leaves)
            return bounds_of_numbers(data.sums, int(data.shift[0]), leaves)

        return CostCounting(self.leaf().cost, bounds, depth)


def _slots(problem: SampleProblem, taken: np.ndarray | None) -> np.ndarray:
    """The slots of the rows taken, if there are bits."""
    if not len(problem.bits):
        return np.empty(0, dtype=np.intp)
    return row_slots(problem) if taken is None else row_slots(problem)[taken]


def _sort(table: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The chosen rows in the order of each column, as ``OrderedData`` has it."""
    order = table
    if len(chosen) < table.shape[1]:
        order = np.empty((len(table), len(chosen)), dtype=np.uint32)
    sort_columns(table, chosen, order)
    return order.view(np.int32)


def _find_cuts(problem: SampleProblem, origins: Sequence[int]) -> tuple[Cuts, ...]:
    literals, cuts = problem.literals, []
    for origin in origins:
        if origin < 0:
            cuts.append((None, -1 - origin, None))
            continue
        number = literals.ordered[origin]
        column, start = literals.columns[number], literals.starts[number]
        is_missing = start + column.thresholds if column.missing else None
        cuts.append((problem.ranks[origin], start - column.missing, is_missing))
    return tuple(cuts)


def _distinct_columns(
    problem: SampleProblem, slots: np.ndarray, taken: np.ndarray | None, rows: int
) -> tuple[np.ndarray, tuple[int, ...]]:
    """The columns to search, and where they are from; of several that cut rows alike, the first.

    Of the rows that are ``taken``, or all.
    """
    literals = problem.literals
    found: list[np.ndarray] = list(problem.ranks)
    if taken is not None:
        found = [ranks[taken] for ranks in found]
    origins = list(range(len(found)))
    if len(problem.bits):
        for literal, words in zip(literals.stored_bits.tolist(), problem.bits, strict=True):
            if literals.locate(literal)[0] not in literals.ordered:
                bits = np.unpackbits(words.view(np.uint8), bitorder="little")
                found.append(bits[slots])
                origins.append(-1 - literal)
    table = np.empty((len(found), rows), dtype=np.uint32)
    for number, ranks in enumerate(found):
        table[number] = ranks
    kept = np.empty(len(found), dtype=bool)
    if mark_distinct(table, kept) < len(found):
        table, origins = table[kept], [origins[place] for place in np.flatnonzero(kept)]
    return table, tuple(origins)


@jit
def mark_distinct(table, out_kept):
    """Mark the columns that are not constant and cut rows unlike all before them; says how many.

    A column cuts alike from either end, so each is read from the end at which its first row is
    nearer.
    """
    columns, rows = table.shape
    tops = np.zeros(columns, dtype=np.uint32)
    hashes = np.zeros(columns, dtype=np.uint64)
    for column in range(columns):
        for row in range(rows):
            tops[column] = max(tops[column], table[column, row])
        for row in range(rows):
            rank = np.uint64(_from_nearer_end(table[column], row, tops[column]))
            hashes[column] = (hashes[column] ^ rank) * np.uint64(0x9E3779B97F4A7C15)
            hashes[column] ^= hashes[column] >> np.uint64(29)
        out_kept[column] = tops[column] > 0
        for other in range(column):
            if not out_kept[other] or hashes[other] != hashes[column]:
                continue
            row = 0
            while row < rows and (
                _from_nearer_end(table[column], row, tops[column])
                == _from_nearer_end(table[other], row, tops[other])
            ):
                row += 1
            if row == rows:
                out_kept[column] = False
    return out_kept.sum()


@inner_jit
def _from_nearer_end(ranks, row, top):
    """A row's rank, counted from the end of the order that is nearer to the first row."""
    return ranks[row] if ranks[0] <= top - ranks[0] else top - ranks[row]


def _choose(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The values of some rows, which ascend; the same array if these are all."""
    return values if len(rows) == len(values) else values.take(rows)


@lru_cache(maxsize=16)
def _factors(count: int) -> np.typing.NDArray[np.uint64]:
    """Odd random numbers, always the same."""
    random = np.random.default_rng(SEED)
    return random.integers(0, 2**64, size=count, dtype=np.uint64) | np.uint64(1)


def _keys(count: int) -> np.typing.NDArray[np.uint64]:
    """Two random numbers for each row, always the same."""
    return _first_keys()[:count] if count <= FEW_ROWS else _draw_keys(count)


@lru_cache(maxsize=1)
def _first_keys() -> np.typing.NDArray[np.uint64]:
    return _draw_keys(FEW_ROWS)


def _draw_keys(count: int) -> np.typing.NDArray[np.uint64]:
    random = np.random.default_rng(SEED)
    return random.integers(0, 2**64, size=(count, 2), dtype=np.uint64)


class Merged(NamedTuple):
    """Rows of which equal ones of one class are one, in their own order."""

    chosen: np.ndarray  # the first of each
    group: np.ndarray  # for each row, its place among those chosen
    weights: np.ndarray
    unavoidable: np.ndarray  # what of the weight no tree can label right
    total: int  # of the weights
    floor: int  # of what no tree can label right


def _merge(table: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> Merged:
    """Merge rows that are sorted by class; no weights if all are 1."""
    rows = len(codes)
    chosen, group = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int32)
    sums, unavoidable = np.zeros(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    places = np.empty(1 << (2 * rows).bit_length(), dtype=np.int32)
    count, total, floor = merge_rows(
        table, _factors(len(table)), codes, weights, places, chosen, group, sums, unavoidable
    )
    if count < rows:
        chosen, sums, unavoidable = chosen[:count].copy(), sums[:count], unavoidable[:count]
    return Merged(chosen, group, sums, unavoidable, total, floor)


@inner_jit
def _hash_rows(table, factors):
    """A hash of each row's ranks."""
    hashes = np.zeros(table.shape[1], dtype=np.uint64)
    for column in range(len(table)):
        for row in range(len(hashes)):
            hashes[row] += np.uint64(table[column, row]) * factors[column]
    return hashes


@jit
def merge_rows(
    table, factors, codes, weights, places, out_chosen, out_group, out_weights, out_unavoidable
):
    """Number rows that are sorted by class; those with equal ranks and one class get one number.

    Says how many numbers there are, the sum of all weights, and of those that are outvoted among
    the rows with equal ranks. By number are written: the first row, the sum of the weights, which
    must be 0 at the start, and what of it is outvoted. ``factors`` make hashes of ranks; ``places``
    is room for a hash table, a power of two long and longer than there are rows. There are no
    weights if all are 1.
    """
    hashes = _hash_rows(table, factors)
    mask, count = np.uint64(len(places) - 1), np.int32(0)
    total, floor = np.int64(0), np.int64(0)
    first, best = np.empty(len(codes), dtype=np.int32), np.empty(len(codes), dtype=np.int32)
    last = best  # of rows with equal ranks; both are by their first number
    places[:] = -1
    for row in range(len(codes)):
        place = hashes[row] >> np.uint64(32) & mask
        while places[place] >= 0 and not _are_equal(table, out_chosen[places[place]], row):
            place = (place + np.uint64(1)) & mask
        if places[place] < 0:
            places[place], last[count] = count, count
        same = places[place]
        number = last[same]
        if number == count or codes[out_chosen[number]] != codes[row]:
            number = last[same] = count
            first[number], out_chosen[number] = same, row
            count += np.int32(1)
        out_group[row] = number
        weight = weights[row] if len(weights) else np.int64(1)
        out_weights[number] += weight
        total += weight
    for number in range(count):
        same = first[number]
        if number == same or out_weights[number] > out_weights[best[same]]:
            best[same] = number
    for number in range(count):
        outvoted = best[first[number]] != number
        out_unavoidable[number] = out_weights[number] if outvoted else 0
        floor += out_unavoidable[number]
    return count, total, floor


@jit
def weigh_rows(weights, unavoidable, codes, out_weights, out_signed):
    """Write the weights of rows as ``OrderedData`` has them."""
    for row in range(len(codes)):
        out_weights[row, 0], out_weights[row, 1] = weights[row], unavoidable[row]
        out_signed[row] = weights[row] if codes[row] == 1 else -weights[row]


@inner_jit
def _are_equal(table, row, other):
    """Whether two rows have equal ranks."""
    column = 0
    while column < len(table) and table[column, row] == table[column, other]:
        column += 1
    return column == len(table)


@jit
def sort_columns(table, chosen, out_order):
    """Write the chosen rows in the order of their ranks in each column, as ``OrderedData`` has it.

    That may overwrite the ranks.
    """
    columns, rows = out_order.shape
    ranks = np.empty(rows, dtype=np.uint32)
    for column in range(columns):
        for row in range(rows):
            ranks[row] = table[column, chosen[row]]
        top = ranks.max()
        place = np.zeros(np.int64(top) + 2, dtype=np.int64)
        for rank in ranks:
            place[np.int64(rank) + 1] += 1
        for rank in range(np.int64(top)):
            place[rank + 1] += place[rank]
        for row in range(rows):
            rank = np.int64(ranks[row])
            out_order[column, place[rank]] = 2 * row
            place[rank] += 1
        for rank in range(np.int64(top)):  # now each place is the end of its rank
            if 0 < place[rank] < rows:
                out_order[column, place[rank] - 1] |= np.uint32(1)
