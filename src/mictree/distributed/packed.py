"""A packed partition, and counts of its rows at some leaves; runs on workers.

A partition is packed as the loop on one machine packs rows: a row of bits for each stored literal,
ranks for ordered columns, the rows of a class in adjacent slots. A leaf is the path to it, and
``count_leaves`` follows the path to a mask of slots, then counts classes beneath it. Workers keep
nothing between two rounds but their packed partitions, so a partition that was lost with its worker
is packed again, and counting goes on. Counts are integers and weights are whole numbers, so
partitions merge exactly and in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit, lowest_bit
from mictree._support.numbers import as_number, exact_sums
from mictree.columns.literals import Literals
from mictree.columns.packing import add_categories
from mictree.distributed.collections import Digest, Plan, Slots
from mictree.growers.data_rows import count, count_class_rows, weigh, weigh_class_rows

IntArray = np.typing.NDArray[np.int64]
FloatArray = np.typing.NDArray[np.float64]


MORE, LAST = -1, -2  # in place of the rank of a test for kernels: see ``_as_arrays``


class Test(NamedTuple):
    """One step of a path.

    ``place`` is a row of bits, or if ``rank`` is positive an ordered column: rows of at least this
    rank are high. If there are ``cells``, it is a grouped column: rows in one of these rows of bits
    are high.
    """

    place: int
    rank: int
    high: bool
    cells: tuple[int, ...] = ()


Path = tuple[Test, ...]


class Rows(NamedTuple):
    """What kernels read of a partition."""

    bits: np.ndarray  # a row of words for each stored literal, then for each cell
    first_word: np.ndarray  # of each class, and the end
    valid: np.ndarray  # the slots that hold a row
    weights: np.ndarray  # one for each slot, whole; empty when all are 1
    ranks: np.ndarray  # (ordered columns, slots)
    offsets: np.ndarray  # the first of each ordered column's ranks among those of all, and the end


@dataclass(frozen=True)
class Packed:
    """A partition's rows as bits and ranks.

    Attributes
    ----------
    rows : for kernels
    given_weights : of each slot, where whole weights are rounded or there are numbers; else empty
    numbers : to predict; None if labels are classes
    """

    rows: Rows
    given_weights: FloatArray
    numbers: Numbers | None = None

    def __sizeof__(self) -> int:
        """Dask leaves large partitions where they are; it must see that they are."""
        return sum(each.nbytes for each in (*self.rows, self.given_weights, *(self.numbers or ())))

    def __setstate__(self, state: dict[str, Any]) -> None:
        # arrays that came from another worker may be read-only, which is another type for numba:
        # its kernels would be compiled once more
        rows = Rows(*(np.require(each, requirements="W") for each in state["rows"]))
        numbers = state["numbers"]
        if numbers is not None:
            numbers = Numbers(*(np.require(each, requirements="W") for each in numbers))
        self.__dict__.update(state, rows=rows, numbers=numbers)


class Numbers(NamedTuple):
    """The labels of a partition's rows by slot, where they are numbers to predict."""

    weights: IntArray  # whole
    products: IntArray  # of weights and labels, whole
    given: FloatArray  # the labels, less the center of all


class Counted(NamedTuple):
    """The rows of some leaves by class: of each literal, of each rank, and at the end of all.

    With numbers to predict all rows are of one class, and ``sums`` are two: of whole weights, and
    of their products with labels.
    """

    rows: IntArray  # (leaves, literals + ranks + 1, classes)
    sums: FloatArray | IntArray  # the same, weighted; of no leaves if every row weighs 1
    # the least and the largest number to predict, at a leaf and at its sibling; else of no leaves
    extremes: FloatArray = np.empty((0, 2, 2))


def offsets_of(literals: Literals) -> IntArray:
    """The first rank of each ordered column among those of all, and their number."""
    columns = [literals.columns[number] for number in literals.ordered]
    lengths = [column.thresholds + 1 + column.missing for column in columns]
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def pack(part: Digest, plan: Plan) -> Packed:
    """Pack a partition."""
    literals, classes = plan.literals, len(plan.labels)
    class_rows = np.zeros(classes, dtype=np.int64)
    class_rows[np.searchsorted(plan.labels, part.labels)] = part.slots.class_rows
    slots = Slots.of(class_rows)  # the same as before, and no words for the classes in between
    bits, ranks = _pack_columns(part, literals)
    weights = given = np.empty(0)
    if part.weights is not None and plan.scale is not None:
        given = np.zeros(64 * len(slots.valid))
        given[slots.numbers] = part.weights
        weights = plan.scale.whole(given).weights
    rows = Rows(bits, slots.first_word, slots.valid, weights, ranks, offsets_of(literals))
    rounded = plan.scale is not None and (plan.scale.decimal is None or plan.numbers is not None)
    numbers = None if plan.numbers is None else _pack_numbers(part, plan, weights)
    return Packed(rows, given if rounded else np.empty(0), numbers)


def _pack_numbers(part: Digest, plan: Plan, weights: FloatArray) -> Numbers:
    """The labels by slot."""
    assert part.targets is not None
    assert plan.numbers is not None
    assert plan.labels_range is not None
    slots = part.slots.numbers
    given = np.zeros(64 * len(part.slots.valid))
    given[slots] = plan.labels_range.distances(part.targets)
    mass = np.zeros(len(given), dtype=np.int64)
    mass[slots] = 1 if not len(weights) else weights[slots].astype(np.int64) // plan.divisor
    products = np.zeros(len(given), dtype=np.int64)
    products[slots] = plan.numbers.products(part.targets, mass[slots] if len(weights) else None)
    return Numbers(mass, products, given)


def _pack_columns(part: Digest, literals: Literals) -> tuple[Any, Any]:
    """The bits of all stored literals, and the ranks of ordered columns by slot."""
    words = len(part.slots.valid)
    by_row = any(column.ranked or column.categories is not None for column in literals.columns)
    slots = part.slots.numbers if by_row else np.empty(0, dtype=np.int64)  # takes a while
    most = max((literals.columns[n].thresholds + 1 for n in literals.ordered), default=1)
    ranks = np.zeros((len(literals.ordered), 64 * words), dtype=np.min_scalar_type(most))
    bits = np.zeros((literals.rows_of_bits, words), dtype=np.uint64)
    place = stored = 0
    pairs = zip(literals.columns, part.columns or (), strict=bool(part.columns))
    for number, (column, found) in enumerate(pairs):
        if number in literals.grouped:
            positions = column.positions(found.values)[found.of_rows(part.slots)]
            add_categories(positions, np.arange(len(slots)), slots, bits[literals.cells(number)])
        elif column.categories is not None:
            positions = column.positions(found.values)[found.of_rows(part.slots)]
            block = bits[stored : stored + column.count]
            add_categories(positions, np.arange(len(slots)), slots, block)
            stored += column.count
        if column.categories is not None:
            continue
        of_value = column.ranks_of(np.asarray(found.values, dtype=float))
        if column.ranked:
            ranks[place, slots] = of_value.astype(ranks.dtype)[found.of_rows(part.slots)]
            place += 1
        elif column.thresholds:
            bits[stored] = found.where(of_value > column.missing, part.slots)
            stored += 1
        if column.missing:
            bits[stored] = found.where(of_value == 0, part.slots)
            stored += 1
    return bits, ranks


def count_leaves(part: Packed, leaves: Sequence[Path]) -> Counted:
    """Count the rows of a partition at some leaves."""
    rows, tests = part.rows, _as_arrays(leaves)
    width = len(rows.bits) + int(rows.offsets[-1]) + 1
    shape = len(leaves), width, len(rows.first_word) - 1
    counts = np.zeros(shape, dtype=np.int64)
    if part.numbers is not None:
        both = np.zeros((*shape[:2], 2), dtype=np.int64)
        extremes = np.empty((len(leaves), 2, 2))
        extremes[:] = np.inf, -np.inf
        _sum_leaves(rows, part.numbers, *tests, counts, both, extremes)
        return Counted(counts, both, extremes)
    sums = np.zeros(shape if len(rows.weights) else (0, *shape[1:]))
    _count_leaves(rows, *tests, counts, sums)
    return Counted(counts, sums)


def _as_arrays(leaves: Sequence[Path]) -> tuple[IntArray, IntArray]:
    """The end of each path, and the steps of all of them as rows of three numbers.

    A set of cells has a row for each, with MORE in place of the rank, and LAST in the last one.
    """
    steps: list[tuple[int, int, bool]] = []
    ends = [0]
    for path in leaves:
        for test in path:
            steps += [(cell, MORE, test.high) for cell in test.cells[:-1]]
            steps += [(cell, LAST, test.high) for cell in test.cells[-1:]]
            steps += [] if test.cells else [test[:3]]
        ends.append(len(steps))
    rows = np.array(steps, dtype=np.int64).reshape(len(steps), 3)
    return np.array(ends, dtype=np.int64), rows


def merge_counted(parts: Sequence[Counted]) -> Counted:
    """The counts of the rows of all partitions; exact, so in any order."""
    rows = sum((each.rows for each in parts[1:]), parts[0].rows)
    weighted = [each.sums for each in parts if len(each.sums)]
    extremes = np.empty(parts[0].extremes.shape)
    for side, ends in ((0, np.minimum), (1, np.maximum)):
        extremes[:, :, side] = ends.reduce([each.extremes[:, :, side] for each in parts])
    sums = sum(weighted[1:], weighted[0]) if weighted else parts[0].sums
    return Counted(rows, sums, extremes)


def weigh_leaves(part: Packed, leaves: Sequence[Path]) -> list[int]:
    """The exact sums of the given weights by leaf and class, in units of 2**-UNIT."""
    classes = len(part.rows.first_word) - 1
    sums = [0] * (len(leaves) * classes)
    ends, tests = _as_arrays(leaves)
    for number in range(len(leaves)):
        mask = _mask_of(part.rows, tests[ends[number] : ends[number + 1]])
        slots = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        codes = np.searchsorted(64 * part.rows.first_word[1:], slots, side="right")
        here = exact_sums(part.given_weights[slots], codes, classes)
        sums[number * classes : (number + 1) * classes] = here
    return sums


def merge_sums(parts: Sequence[list[int]]) -> list[int]:
    """The sums of all partitions."""
    return [sum(each) for each in zip(*parts, strict=True)]


class LeafLabels(NamedTuple):
    """The numbers to predict at a leaf; sums are exact, in units of 2**-UNIT."""

    weight: int
    total: int  # of products of weights and labels, each rounded once
    least: float = math.inf
    most: float = -math.inf

    def join(self, other: LeafLabels) -> LeafLabels:
        """Those of two leaves."""
        return LeafLabels(
            self.weight + other.weight,
            self.total + other.total,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    @property
    def mean(self) -> float:
        """The mean, from sums that are rounded once; one number exactly if all are."""
        if self.least == self.most:
            return self.least
        return float(as_number(self.total)) / float(as_number(self.weight))


def gather_labels(part: Packed, leaves: Sequence[Path]) -> list[LeafLabels]:
    """The labels of a partition at some leaves."""
    found = []
    for labels, weights in _labels_at(part, leaves):
        products = labels if weights is None else weights * labels
        down, up = exact_sums(np.abs(products), products > 0, 2)
        mass = np.ones(len(labels)) if weights is None else weights
        (weight,) = exact_sums(mass, np.zeros(len(labels), dtype=np.int64), 1)
        ends = labels.min(initial=math.inf), labels.max(initial=-math.inf)
        found.append(LeafLabels(weight, up - down, *map(float, ends)))
    return found


def merge_labels(parts: Sequence[list[LeafLabels]]) -> list[LeafLabels]:
    """Those of all partitions."""
    return [reduce(LeafLabels.join, each) for each in zip(*parts, strict=True)]


def square_errors(part: Packed, leaves: Sequence[Path], means: Sequence[float]) -> list[int]:
    """The exact sums of weighted squared distances from the means of some leaves."""
    found = []
    for (labels, weights), mean in zip(_labels_at(part, leaves), means, strict=True):
        distances = labels - mean
        once = distances if weights is None else weights * distances
        found += exact_sums(once * distances, np.zeros(len(labels), dtype=np.int64), 1)
    return found


def _labels_at(
    part: Packed, leaves: Sequence[Path]
) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    """The labels and given weights of the rows at some leaves."""
    assert part.numbers is not None
    ends, tests = _as_arrays(leaves)
    for number in range(len(leaves)):
        mask = _mask_of(part.rows, tests[ends[number] : ends[number + 1]])
        slots = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        weights = part.given_weights[slots] if len(part.given_weights) else None
        yield part.numbers.given[slots], weights


@jit
def _mask_of(rows, tests):
    """The slots of the rows at the end of a path."""
    mask = rows.valid.copy()
    inside = np.zeros(len(mask), dtype=np.uint64)  # the cells of a set so far
    for step in range(len(tests)):
        place, least, high = tests[step, 0], tests[step, 1], tests[step, 2]
        if least < 0:
            inside |= rows.bits[place]
            if least == LAST:
                mask &= inside if high else ~inside
                inside[:] = 0
            continue
        if least > 0:
            _keep_ranks(rows.ranks[place], least, high, mask)
            continue
        row = rows.bits[place]
        for word in range(len(mask)):
            mask[word] &= row[word] if high else ~row[word]
    return mask


@inner_jit
def _keep_ranks(ranks, least, high, mask):
    """Clear the slots whose rank is not on the wanted side."""
    for word in range(len(mask)):
        ones = mask[word]
        while ones:
            bit = lowest_bit(ones)
            ones &= ones - np.uint64(1)
            if (np.int64(ranks[64 * word + bit]) >= least) != (high == 1):
                mask[word] &= ~(np.uint64(1) << np.uint64(bit))


@jit
def _count_leaves(rows, ends, tests, out_rows, out_sums):
    """Write the counts and weights of all leaves; both outputs must be zero at the start."""
    literals, first_word = len(rows.bits), rows.first_word
    every = np.arange(literals)
    slots = np.empty(64 * len(rows.valid), dtype=np.uint32)
    for leaf in range(len(ends) - 1):
        mask = _mask_of(rows, tests[ends[leaf] : ends[leaf + 1]])
        counts = out_rows[leaf]
        count(rows.bits, first_word, mask, every, counts)
        count_class_rows(mask, first_word, counts[len(counts) - 1])
        if len(rows.weights):
            sums = out_sums[leaf]
            weigh(rows.bits, first_word, mask, rows.weights, every, sums)
            weigh_class_rows(mask, first_word, rows.weights, sums[len(sums) - 1])
        if len(rows.ranks) == 0:
            continue
        for code in range(len(first_word) - 1):
            found = _list_slots(mask, first_word[code], first_word[code + 1], slots)
            for column in range(len(rows.ranks)):
                start = literals + rows.offsets[column]
                ranks = rows.ranks[column]
                for slot in slots[:found]:
                    out_rows[leaf, start + ranks[slot], code] += 1
                if len(rows.weights):
                    for slot in slots[:found]:
                        out_sums[leaf, start + ranks[slot], code] += rows.weights[slot]


@jit
def _sum_leaves(rows, numbers, ends, tests, out_rows, out_sums, out_extremes):
    """Write the counts, sums and extreme labels of all leaves; the first two must be zero."""
    literals, first_word = len(rows.bits), rows.first_word
    every = np.arange(literals)
    slots = np.empty(64 * len(rows.valid), dtype=np.uint32)
    for leaf in range(len(ends) - 1):
        path = tests[ends[leaf] : ends[leaf + 1]].copy()
        mask = _mask_of(rows, path)
        counts, sums = out_rows[leaf], out_sums[leaf]
        count(rows.bits, first_word, mask, every, counts)
        count_class_rows(mask, first_word, counts[len(counts) - 1])
        found = _list_slots(mask, 0, len(mask), slots)
        _find_extremes(slots[:found], numbers.given, out_extremes[leaf, 0])
        for slot in slots[:found]:
            sums[len(sums) - 1, 0] += numbers.weights[slot]
            sums[len(sums) - 1, 1] += numbers.products[slot]
        for literal in range(literals):
            row = rows.bits[literal]
            for word in range(len(mask)):
                ones = row[word] & mask[word]
                while ones:
                    slot = 64 * word + lowest_bit(ones)
                    ones &= ones - np.uint64(1)
                    sums[literal, 0] += numbers.weights[slot]
                    sums[literal, 1] += numbers.products[slot]
        for column in range(len(rows.ranks)):
            start, ranks = literals + rows.offsets[column], rows.ranks[column]
            for slot in slots[:found]:
                place = start + ranks[slot]
                counts[place, 0] += 1
                sums[place, 0] += numbers.weights[slot]
                sums[place, 1] += numbers.products[slot]
        if len(path):  # the sibling lies on the other side of the last test
            path[len(path) - 1, 2] = 1 - path[len(path) - 1, 2]
            found = _list_slots(_mask_of(rows, path), 0, len(mask), slots)
            _find_extremes(slots[:found], numbers.given, out_extremes[leaf, 1])


@inner_jit
def _find_extremes(slots, given, out):
    """Write the least and the largest number of some slots."""
    for slot in slots:
        out[0] = min(out[0], given[slot])
        out[1] = max(out[1], given[slot])


@inner_jit
def _list_slots(mask, start, stop, out_slots):
    """Write the slots of a mask in some words; returns how many there are."""
    found = 0
    for word in range(start, stop):
        ones = mask[word]
        while ones:
            out_slots[found] = 64 * word + lowest_bit(ones)
            found += 1
            ones &= ones - np.uint64(1)
    return found
