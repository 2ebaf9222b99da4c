"""Branch and bound on 0/1 columns where rows have numbers instead of classes.

The search is that of ``bit_search``: which literals and budgets are tried, bounds, table, workers.
Only what is counted and what a leaf costs differ, so these kernels stand here, and the driver is
made of both.

*Counted* for every two literals are sums over the rows in which both hold: a cost for each action,
or weight and weight times number. With the sums of all rows this gives the sums of all four
quarters. Rows of a set are taken 512 at a time. Sums of a few amounts are popcounts, as in
``bit_search``. Other sums are added for 32 literals at a time, in registers: for each literal, only
over the rows in which it holds, or over those in which it does not, whichever are fewer.

*A leaf costs* the least of its sums, or its squared error, rounded down: the sum of squares less
the sum's square over the weight. Squares are needed of single literals only, as the squared errors
of two quarters add up to the squares of both less two such quotients. Quotients are compared as
floats, and those that may be the largest are then computed exactly, as whole numbers: so the cost
of a row set depends on nothing but the set.

Invariants. ``sums[level, number, literal, other]`` is valid for ``other <= literal``; the last
number, what a row may raise a cost by, is summed up only in frames whose children are asked. As far
as the kernels of ``bit_search`` can see, rows have one class and weigh what they may raise a cost
by.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mictree._support.jit import (
    LANES,
    add,
    atomic_add,
    choose,
    inner_jit,
    inner_loop_jit,
    jit,
    load,
    lowest_bit,
    popcount,
    spread,
    store,
    subtract,
)
from mictree.columns.packing import transpose
from mictree.optimal.bit_search import (
    LiteralEngine,
    advance,
    answer_by_counts,
    ask_frame,
    take,
)
from mictree.optimal.costs import (
    Actions,
    CostCounting,
    Numbers,
    bounds_of_actions,
    bounds_of_numbers,
)
from mictree.optimal.questions import (
    ALLOWED,
    ANY,
    FIRST,
    FOUND,
    KNOWN,
    LEAST,
    LONG,
    NEXT,
    NO_LIMIT,
    ROOM,
    RUN,
    STATUS,
    Question,
    Table,
    make_driver,
)
from mictree.optimal.rows import (
    ALL,
    CHILD,
    LEVEL,
    Leaf,
    MergedRows,
    distinct_literals,
    number_alike,
    pack,
    row_slots,
)
from mictree.problems.sample import SampleProblem
from mictree.problems.tasks import Squared

CHUNK = 512  # rows at a time
FEW_AMOUNTS = 8  # for which popcounts are faster than additions
QUARTERS = 4
# what is summed up in frame 0, which often has to answer several questions about the same rows
NOTHING, SUMS, EVERYTHING = range(3)
PATIENCE = 10_000_000  # of the work below: about a hundredth of a second
NEARLY = 2.0**-48  # by which quotients may be wrong as floats, relative


class SumData(NamedTuple):
    """Distinct rows with whole numbers."""

    words: np.ndarray  # (slots, words): the literals' bits; then which amounts a row's numbers have
    columns: np.ndarray  # (literals, slot words): the slots in which each literal holds
    numbers: np.ndarray  # (sums + 1, slots): what is summed up; by how much a row may raise a cost
    amounts: np.ndarray  # of all numbers that are sums of a few amounts, one after another
    first_amount: np.ndarray  # (sums + 2,)
    alone: np.ndarray  # (slots, 2): the part of a row's cost that no action changes; its floor
    keys: np.ndarray  # (slots, 2) random
    squared: np.bool_  # whether a leaf costs a squared error


class SumFrames(NamedTuple):
    """One frame per level, as in ``rows.Frames``, which names the fields it shares."""

    levels: np.ndarray
    children: np.ndarray
    mask: np.ndarray
    totals: np.ndarray  # (levels, 1)
    pairs: np.ndarray  # (levels, 1, literals, ...): the last of the sums
    held: np.ndarray  # (levels, 2, literals): twice the same
    least: np.ndarray
    order: np.ndarray
    bounds: np.ndarray
    sums: np.ndarray  # (levels, sums + 1, literals, LANES * blocks)
    whole: np.ndarray  # (levels, sums + 1): sums over all rows; last ``alone``
    alone: np.ndarray  # (levels, literals): the sum of the rows in which each holds
    gains: np.ndarray  # (QUARTERS, literals, literals): scratch, as all that follows
    own: np.ndarray  # (2, literals): weight and total
    near: np.ndarray  # (2, literals), by side: from where on gains may be the largest
    leaves: np.ndarray  # (2, literals), by side: what a child costs as a leaf
    settled: np.ndarray  # (2, literals, 2), by side: the weight and total that were settled last
    work: np.ndarray  # (1,): pairs of literals that were looked at, and rows' literals


@dataclass(frozen=True)
class SumRows(MergedRows):
    """A sample problem's rows: distinct, with whole numbers."""

    problem: SampleProblem
    data: SumData
    kept: np.ndarray  # the literals searched, as in ``Rows``
    bits: np.ndarray  # (literals, rows), all literals
    weights: np.ndarray  # by how much a row may raise a cost
    floor: int
    costs: Actions | Numbers
    group: np.ndarray
    left_out: int | Fraction

    @classmethod
    def of(cls, problem: SampleProblem) -> SumRows:
        """Rows with equal literals merged."""
        slots = row_slots(problem)
        words = problem.bits_of(np.arange(len(problem.literals)))
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, slots].astype(bool)
        kept = distinct_literals(bits)
        _, first, group = np.unique(
            number_alike(pack(bits[kept].T)), return_index=True, return_inverse=True
        )
        squared = isinstance(problem.task, Squared)
        costs = Numbers.of(problem) if squared else Actions.of(problem)
        if isinstance(costs, Numbers):
            numbers, alone, left_out = _sums_of_numbers(costs, group, len(first))
        else:
            numbers, alone, left_out = _sums_of_actions(costs, group, len(first))
        bits = bits[:, first]
        data = make_data(bits[kept].T, numbers, alone, squared)
        floor = int(alone[:, 1].sum())
        return cls(problem, data, kept, bits, numbers[-1], floor, costs, group, left_out)

    def leaf(self, rows: np.ndarray | None = None) -> Leaf:
        """The best label of some rows, by default all, the first of several; and its cost."""
        rows = self.everything if rows is None else rows
        sums = np.zeros(len(self.data.numbers), dtype=np.int64)
        add_members(rows, self.data.numbers, self.data.alone, sums)
        *parts, alone = sums.tolist()
        if not self.data.squared:
            return Leaf(parts.index(min(parts)), min(parts))
        weight, total = parts
        return Leaf(0, alone + -(total * total) // max(weight, 1))

    def counting(self, depth: int) -> CostCounting:
        """What is known without a search of trees no deeper than ``depth``."""
        data, costs = self.data, self.costs
        numbers = data.numbers[:, : len(self.weights)]

        def bounds(leaves: int) -> list[int]:
            if isinstance(costs, Actions):
                return bounds_of_actions(numbers[:-1].T, leaves)
            squares = data.alone[: len(self.weights), 0]
            sums = [numbers[0] >> costs.shift, numbers[1], squares, np.zeros_like(squares)]
            return bounds_of_numbers(np.stack(sums, axis=1), costs.shift, leaves)

        return CostCounting(self.leaf().cost, bounds, depth)

    def mask(self, rows: np.ndarray) -> np.ndarray:
        """The bits of some rows' slots."""
        chosen = np.zeros(len(self.data.keys), dtype=bool)
        chosen[rows] = True
        return np.packbits(chosen, bitorder="little").view(np.uint64)

    def holds(self, rows: np.ndarray, test: int) -> np.ndarray:
        """In which of some rows a test holds."""
        return self.bits[test, rows]


@jit
def add_members(members, numbers, alone, out_sums):
    """Add up what is summed up of some rows; last what is added up alone."""
    last = len(numbers) - 1
    for number in range(last):
        for member in members:
            out_sums[number] += numbers[number, member]
    for member in members:
        out_sums[last] += alone[member, 0]


def _sums_of_actions(
    costs: Actions, group: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Costs by action and the largest; nothing else; what no action avoids is left out."""
    sums = np.zeros((costs.costs.shape[1], count), dtype=np.int64)
    np.add.at(sums.T, group, costs.costs)
    avoided = sums.min(axis=0)
    sums -= avoided
    numbers = np.vstack([sums, sums.max(axis=0)])
    return numbers, np.zeros((count, 2), dtype=np.int64), int(avoided.sum())


def _sums_of_numbers(
    costs: Numbers, group: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, Fraction]:
    """Weights and totals, and what a row may cost; squares, and the cost of each row alone.

    Squares are rounded up to multiples of 2**shift, each row's for itself. That adds the same to
    the cost of all trees, and what is added is left out again. So the squares of a set minus its
    quotient, rounded up, is what a set costs.
    """
    sums = np.zeros((4, count), dtype=np.int64)
    np.add.at(sums.T, group, costs.sums)
    weights, totals, high, low = sums
    weights = weights << costs.shift
    added = -low & ((1 << costs.shift) - 1)
    squares = high + ((low + added) >> costs.shift)
    labels = costs.labels.astype(float)
    far = np.maximum(labels - labels.min(initial=0.0), labels.max(initial=0.0) - labels)
    farthest = np.bincount(group, costs.weights * far * far, count) / 2.0**costs.shift
    most = np.ceil(farthest * (1 + NEARLY)).astype(np.int64) + 1  # with what was added
    floors = np.zeros(count, dtype=np.int64)  # a row that is not merged costs nothing
    for row in np.flatnonzero(np.bincount(group, minlength=count) > 1).tolist():
        floors[row] = int(squares[row]) + -(int(totals[row]) ** 2) // int(weights[row])
    alone = np.stack([squares, floors], axis=1)
    left_out = -Fraction(int(added.sum()), 1 << costs.shift)
    return np.stack([weights, totals, most]), alone, left_out


class SumEngine(LiteralEngine):
    """Sums up what the rows of pairs of literals cost."""

    patience: tuple[int, ...] = (PATIENCE,)

    def __str__(self) -> str:
        return f"{len(self.rows.kept)} literals and {len(self.rows.data.numbers)} sums"

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        data = self.rows.data
        scratch = scratch_bytes(data)
        self.choose_levels(budgets, depth, memory - scratch, level_bytes(data, budgets))
        self.bytes = scratch + self.levels * level_bytes(data, self.budgets)

    def make_frames(self) -> SumFrames:
        """Frames for one worker."""
        return make_frames(self.rows.data, self.budgets, self.levels)

    def solve(
        self, question: Question, table: Table, frames: SumFrames, control: np.ndarray
    ) -> int:
        """The least cost of the rows in ``frames.mask[0]``, if it is below the bound."""
        return solve_sums(question, self.rows.data, table, frames, control)

    def solve_sizes(
        self, sizes: list[int], counting: CostCounting, bounds: np.ndarray, table: Table,
        frames: SumFrames, control: np.ndarray,
    ) -> tuple[int, dict[int, Any]]:  # fmt: skip
        """Answer sizes for all rows in turn, as long as it takes little work.

        Returns how many are answered, and a nested tree for each that is better than all before.
        ``bounds`` are the lower and the upper ones by size, and become equal for those answered.
        """
        most, control[ALLOWED] = max(sizes), PATIENCE
        nodes = np.zeros((most + 1, 2 * most + 1, NODE), dtype=np.int64)
        frames.mask[0] = self.rows.mask(self.rows.everything)
        asked = np.array(sizes, dtype=np.int64)
        answered = sum_sizes(
            asked, counting.depth, bounds, self.rows.data, table, frames, control, nodes
        )
        found, lower = {}, bounds[0].tolist()
        for size in sizes[:answered]:
            tree = nodes[size].tolist()
            if tree[0][SPLITS]:
                cost = sum(node[COST] for node in tree if node[LITERAL] < 0)
                if cost != lower[size]:
                    raise AssertionError(f"a tree of size {size} costs {cost}, not {lower[size]}")
                found[size] = self._nest(tree)
        return answered, found

    def _nest(self, nodes: list[list[int]], node: int = 0) -> Any:
        """A nested tree from its nodes; numbers are set at the end."""
        literal, low = nodes[node][:2]
        if literal < 0:
            return nodes[node][LOW]
        test = int(self.rows.kept[literal])
        return test, self._nest(nodes, low), self._nest(nodes, low + 1)


def make_data(bits: np.ndarray, numbers: np.ndarray, alone: np.ndarray, squared: bool) -> SumData:
    """Data of some rows, from their bits, (rows, literals)."""
    rows, literals = bits.shape
    found = [_amounts(each) for each in numbers]
    which = np.zeros(rows, dtype=np.uint64)
    first_amount = [0]
    for amounts, parts in found:
        which |= parts << np.uint64(first_amount[-1])
        first_amount.append(first_amount[-1] + len(amounts))
    slots = 64 * max(1, -(-rows // 64))
    words = np.zeros((slots, max(1, -(-literals // 64)) + 1), dtype=np.uint64)
    words[:rows, :-1], words[:rows, -1] = pack(bits), which
    keys = np.zeros((slots, 2), dtype=np.uint64)
    random = np.random.default_rng(0x6D696374)
    keys[:rows] = random.integers(0, 2**64, size=(rows, 2), dtype=np.uint64)
    return SumData(
        words,
        pack(bits.T),
        np.pad(numbers, ((0, 0), (0, slots - rows))),
        np.concatenate([amounts for amounts, _ in found]),
        np.array(first_amount),
        np.pad(alone, ((0, slots - rows), (0, 0))),
        keys,
        np.bool_(squared),
    )


def _amounts(numbers: np.ndarray) -> tuple[np.ndarray, np.typing.NDArray[np.uint64]]:
    """A few amounts, and which of them add up to each number: bit k for amount k; else none."""
    values, which = np.unique(numbers, return_inverse=True)
    if len(values) <= FEW_AMOUNTS:
        return values, np.uint64(1) << which.ravel().astype(np.uint64)
    if values[0] >= 0 and values[-1] < 2**FEW_AMOUNTS:
        digits = int(values[-1]).bit_length()
        return np.left_shift(1, np.arange(digits)), numbers.astype(np.uint64)
    return values[:0], np.zeros(len(numbers), dtype=np.uint64)


def make_frames(data: SumData, budgets: int, levels: int) -> SumFrames:
    """Frames for a search over some rows."""
    arrays = {
        name: np.empty((levels, *shape), dtype=kind)
        for name, (shape, kind) in _shapes(data, budgets).items()
    }
    literals = len(data.columns)
    arrays["held"][:] = 0  # the first test that is traced may be read before they are filled
    return SumFrames(
        levels=np.zeros(levels, dtype=(np.record, LEVEL)),  # fields are attributes
        children=np.zeros((levels, 2), dtype=(np.record, CHILD)),
        pairs=arrays["sums"][:, -1:],
        gains=np.empty((QUARTERS, literals, literals)),
        own=np.empty((2, literals), dtype=np.int64),
        near=np.empty((2, literals)),
        leaves=np.empty((2, literals), dtype=np.int64),
        settled=np.empty((2, literals, 2), dtype=np.int64),
        work=np.zeros(1, dtype=np.int64),
        **arrays,
    )


def level_bytes(data: SumData, budgets: int) -> int:
    """The memory of one level, at most."""
    words = sum(int(np.prod(shape)) for shape, _ in _shapes(data, budgets).values())
    return LEVEL.itemsize + 2 * CHILD.itemsize + 8 * words


def scratch_bytes(data: SumData) -> int:
    """The memory of what levels share."""
    literals = len(data.columns)
    return 8 * literals * (QUARTERS * literals + 10)


def _shapes(data: SumData, budgets: int) -> dict[str, tuple[tuple[int, ...], np.dtype | type]]:
    literals, numbers = len(data.columns), len(data.numbers)
    return {
        "mask": ((data.columns.shape[1],), np.uint64),
        "totals": ((1,), np.int64),
        "held": ((2, literals), np.int64),
        "least": ((3, 2, literals), np.int64),
        "order": ((2, literals), np.int64),
        "bounds": ((1 + literals, 2, budgets + 1), np.int64),
        "sums": ((numbers, literals, LANES * -(-literals // LANES)), np.int64),
        "whole": ((numbers,), np.int64),
        "alone": ((literals,), np.int64),
    }


@jit
def solve_sums(question, data, table, frames, control):
    """The least cost of the rows in ``frames.mask[0]``, if it is below the bound; see ``Asks``."""
    frames.work[0] = 0
    return _solve(question, data, table, frames, control)


@inner_jit
def _solve(question, data, table, frames, control):
    """The same, after other questions.

    To trace is to find a tree whose cost is known to be just below the bound, as in ``solve_bits``.
    A tree that is wanted with the cost is found so at once: what it takes is in the table.
    """
    level, at = np.int64(0), frames.levels[0]
    _start(question.depth, data, frames)
    bound, wanted = question.bound, question.wanted
    while True:
        ask_frame(at, question.budget, bound, question.depth)
        at.goal = bound - 1 if wanted in (FIRST, KNOWN) else max(at.goal, control[LEAST])
        at.position = atomic_add(control, NEXT, 1)
        answer = _drive(level, data, table, frames, control)
        if wanted != ANY or answer >= bound or control[STATUS] != RUN:
            return answer
        wanted, bound = KNOWN, answer + 1
        control[NEXT], control[FOUND] = 0, bound


# of a node: its literal, or -1 for a leaf; the low child, after which comes the high one; the
# question that it answers: splits, cost and depth. Of a leaf, the cost is its own
LITERAL, LOW, SPLITS, COST, DEPTH = range(5)
NODE = 5


@jit
def sum_sizes(sizes, depth, bounds, data, table, frames, control, out_nodes):
    """Answer sizes in turn until one takes too long; says how many are answered.

    Their lower and upper bounds become equal. Of a size with a better tree than all answered
    before, ``out_nodes`` becomes the nodes; of others, the first still has no splits. All trees are
    traced at the end: as long as frame 0 has all rows, they need not be summed up again.
    """
    lower, upper = bounds[0], bounds[1]
    masks = np.empty((out_nodes.shape[1], frames.mask.shape[1]), dtype=np.uint64)
    masks[0] = frames.mask[0]
    frames.work[0] = 0
    answered = len(sizes)
    for number, size in enumerate(sizes):
        if size + 1 < len(lower):
            lower[size] = max(lower[size], lower[size + 1])
        lower[size] = min(lower[size], upper[size])
        bound = upper[size]
        if lower[size] == bound:
            continue
        control[STATUS], control[LEAST] = RUN, lower[size]
        control[NEXT], control[FOUND] = 0, bound
        answer = _solve(Question(size, bound, depth, ANY), data, table, frames, control)
        if control[STATUS] != RUN:
            answered = number
            break
        lower[size] = answer
        if answer < bound:
            nodes = out_nodes[size]
            nodes[0, SPLITS], nodes[0, COST], nodes[0, DEPTH] = size, answer, depth
            nodes[0, LITERAL] = _first_test(size, answer, np.int64(1), nodes, frames)
            for other in range(size, len(upper)):
                upper[other] = min(upper[other], answer)
    # what is left takes little, and must not stop where the table is full
    room = control[ROOM]
    control[STATUS], control[ALLOWED], control[ROOM] = RUN, NO_LIMIT, NO_LIMIT
    for size in sizes[:answered]:
        if out_nodes[size, 0, SPLITS] > 0:
            _trace(out_nodes[size], masks, data, table, frames, control)
    control[ROOM] = room
    return answered


@inner_jit
def _trace(nodes, masks, data, table, frames, control):
    """Write the nodes of a tree below its first test."""
    node, count = np.int64(0), np.int64(1)
    while node < count:
        splits, cost, depth = nodes[node, SPLITS], nodes[node, COST], nodes[node, DEPTH]
        literal = nodes[node, LITERAL]
        if node > 0:
            frames.mask[0] = masks[node]
            _start(depth, data, frames)
            leaf = _leaf_cost(np.int64(0), data, frames)
            if leaf <= cost:
                nodes[node, LITERAL], nodes[node, COST] = -1, leaf
                nodes[node, LOW] = _best_action(data, frames)
                node += 1
                continue
            control[NEXT], control[FOUND] = 0, cost + 1
            _solve(Question(splits, cost + 1, depth, KNOWN), data, table, frames, control)
            literal = _first_test(splits, cost, count, nodes, frames)
        nodes[node, LITERAL], nodes[node, LOW] = literal, count
        for side in range(2):
            nodes[count + side, DEPTH] = depth - 1
            flip = np.uint64(0) if side == 1 else ALL
            for word in range(masks.shape[1]):
                masks[count + side, word] = masks[node, word] & (data.columns[literal, word] ^ flip)
        node, count = node + 1, count + 2


@inner_jit
def _best_action(data, frames):
    """The first of the cheapest actions for the rows of frame 0; 0 for numbers."""
    best = 0
    if not data.squared:
        for number in range(1, frames.whole.shape[1] - 1):
            if frames.whole[0, number] < frames.whole[0, best]:
                best = number
    return best


@inner_jit
def _first_test(budget, cost, count, nodes, frames):
    """Write the questions of both children of the test at which frame 0 stands; returns that test.

    As ``rows.first_test``; of several, the one whose children cost least as leaves.
    """
    least, best = frames.least[0], -1
    for splits in range(min(3, budget)):
        for low in range(max(0, splits - 1), min(1, splits) + 1):
            for literal in range(least.shape[2]):
                if least[0, 0, literal] < 0:
                    continue
                costs = least[low, 0, literal], least[splits - low, 1, literal]
                if costs[0] + costs[1] != cost:
                    continue
                leaves = least[0, 0, literal] + least[0, 1, literal]
                if best < 0 or leaves < least[0, 0, best] + least[0, 1, best]:
                    best = literal
                    nodes[count, SPLITS], nodes[count + 1, SPLITS] = low, splits - low
                    nodes[count, COST], nodes[count + 1, COST] = costs
        if best >= 0:
            return best
    root = frames.levels[0]
    low, high = root.low_budget, root.budget - 1 - root.low_budget
    nodes[count, SPLITS], nodes[count + 1, SPLITS] = low, high
    nodes[count, COST] = frames.bounds[0, 0, 0, low]
    nodes[count + 1, COST] = frames.bounds[0, 0, 1, high]
    return frames.order[0, 0, root.position]


@inner_jit
def _start(depth, data, frames):
    """Set what the first frame says of its rows; what it has counted may still be true of them."""
    high, low = np.uint64(0), np.uint64(0)
    numbers, floor = len(data.numbers), 0
    for number in range(numbers):
        frames.whole[0, number] = 0
    frames.totals[0, 0] = 0
    for word in range(frames.mask.shape[1]):
        left = frames.mask[0, word]
        while left:
            slot = 64 * word + lowest_bit(left)
            left &= left - np.uint64(1)
            high ^= data.keys[slot, 0]
            low ^= data.keys[slot, 1]
            for number in range(numbers - 1):
                frames.whole[0, number] += data.numbers[number, slot]
            frames.totals[0, 0] += data.numbers[numbers - 1, slot]
            frames.whole[0, numbers - 1] += data.alone[slot, 0]
            floor += data.alone[slot, 1]
    root = frames.levels[0]
    if root.key_high != high or root.key_low != low or root.depth != depth:
        root.counted = NOTHING
    if len(frames.levels) > 1:
        frames.levels[1].counted = -1
    root.key_high, root.key_low, root.floor = high, low, floor


@inner_jit
def _look(level, data, table, frames, control):
    """Whether no child need be asked, or there is no time; and the answer."""
    at = frames.levels[level]
    if level > 0:
        _sum_child(level - 1, frames)
    cost = _leaf_cost(level, data, frames)
    if cost <= at.floor:
        for splits in range(4):
            at.errors[splits] = cost
    if at.budget == 0 or cost <= at.floor or control[STATUS] != RUN:
        return True, cost
    is_new = _sum_up(level, data, frames)
    if is_new:
        frames.work[0] += len(data.columns) ** 2
        if frames.work[0] > control[ALLOWED] and control[STATUS] == RUN:
            control[STATUS] = LONG
        _least_costs(level, cost, data, frames)
    answered, answer = answer_by_counts(level, table, frames, control)
    if not answered:
        if data.squared and is_new and level > 0:
            _settle_all(level, frames)
        _sum_most(level, data, frames)
    return answered, answer


@inner_jit
def _sum_child(level, frames):
    """Fill the whole sums of the next frame: of the child whose question stands there."""
    at, last = frames.levels[level], frames.whole.shape[1] - 1
    literal = frames.order[level, 0, at.position]
    for number in range(last + 1):
        if number < last:
            held = frames.sums[level, number, literal, literal]
        else:
            held = frames.alone[level, literal]
        rest = frames.whole[level, number] - held
        frames.whole[level + 1, number] = held if at.side == 1 else rest


@inner_jit
def _leaf_cost(level, data, frames):
    """What a frame's rows cost without a split."""
    whole, last = frames.whole, frames.whole.shape[1] - 1
    if data.squared:
        return np.int64(whole[level, last] - _quotient(whole[level, 1], whole[level, 0]))
    least = whole[level, 0]
    for number in range(1, last):
        least = min(least, whole[level, number])
    return np.int64(least + whole[level, last])


@inner_jit
def _quotient(total, weight):
    """The square of a sum over a weight, rounded up; exactly, though squares may need 128 bits.

    The float is off by less than 2**12, so the remainder of its whole part fits 64 bits, and may be
    computed modulo 2**64.
    """
    if weight == 0:
        return np.int64(0)
    root, whole = np.float64(total), np.float64(weight)
    quotient = np.int64(root * root / whole)
    rest = total * total - quotient * weight
    steps = np.int64(np.ceil(np.float64(rest) / whole))
    rest -= steps * weight
    quotient += steps
    if rest > 0:
        quotient += 1
    elif rest <= -weight:
        quotient -= 1
    return quotient


@inner_jit
def _sum_up(level, data, frames):
    """Fill a frame's sums and its children's floors; says whether they are new."""
    at = frames.levels[level]
    last = len(data.numbers) - 1
    if level == 0:
        if at.counted != NOTHING:
            return False
        _add_rows(level, level, np.int64(-1), np.int64(0), last, data, frames)
        at.counted = SUMS
        return True
    above = level - 1
    parent = frames.levels[above]
    literal = frames.order[above, 0, parent.position]
    smaller, wanted = 2 * literal + parent.smaller, 2 * literal + parent.side
    counted = at.counted
    if counted == wanted:
        return False
    if counted // 2 != literal:
        _add_rows(level, above, smaller, np.int64(0), last, data, frames)
        counted = smaller
    if counted != wanted:
        _subtract(above, frames.sums, frames.alone, frames.least)
    at.counted = wanted
    return True


@inner_jit
def _subtract(level, sums, alone, least):
    """Replace the next frame's sums, of one child, by those of the other."""
    for number in range(sums.shape[1] - 1):
        for literal in range(sums.shape[2]):
            whole, part = sums[level, number, literal], sums[level + 1, number, literal]
            for other in range(literal + 1):
                part[other] = whole[other] - part[other]
    for literal in range(sums.shape[2]):
        alone[level + 1, literal] = alone[level, literal] - alone[level + 1, literal]
        rest = least[level, 2, 1, literal] - least[level + 1, 2, 1, literal]
        least[level + 1, 2, 1, literal] = rest


@inner_jit
def _sum_most(level, data, frames):
    """Fill what the rows may raise a cost by, by one and by two literals."""
    last = len(data.numbers) - 1
    if level == 0 and frames.levels[0].counted == EVERYTHING:
        return
    _add_rows(level, level, np.int64(-1), last, last + 1, data, frames)
    if level == 0:
        frames.levels[0].counted = EVERYTHING
    for literal in range(len(data.columns)):
        most = frames.sums[level, last, literal, literal]
        frames.held[level, 0, literal] = frames.held[level, 1, literal] = most


@inner_jit
def _add_rows(level, above, child, first, end, data, frames):
    """Sum up a range of the numbers of a child of a frame, of all its rows for -1.

    Children are numbered by twice the literal, plus 1 where it holds.
    """
    sums, least = frames.sums, frames.least
    for number in range(first, end):
        for literal in range(sums.shape[2]):
            for other in range(sums.shape[3]):
                sums[level, number, literal, other] = 0
    if first == 0:
        for literal in range(sums.shape[2]):
            frames.alone[level, literal] = least[level, 2, 1, literal] = 0
    flip = np.uint64(0) if child % 2 == 1 else ALL
    rows, used = np.empty(CHUNK, dtype=np.int64), 0
    words = frames.mask.shape[1]
    for word in range(words):
        left = frames.mask[above, word]
        if child >= 0:
            left &= data.columns[child // 2, word] ^ flip
        while left:
            rows[used] = 64 * word + lowest_bit(left)
            left &= left - np.uint64(1)
            used += 1
        if used > CHUNK - 64 or (used > 0 and word == words - 1):
            _add_chunk(level, rows[:used], first, end, data, frames)
            used = 0


@inner_jit
def _add_chunk(level, rows, first, end, data, frames):
    """Add some rows, at most ``CHUNK``."""
    frames.work[0] += len(rows) * len(data.columns)
    columns, groups = data.words.shape[1], (len(rows) + 63) // 64
    words = np.zeros((64 * groups, 2 * columns), dtype=np.uint32)
    bits = np.zeros((groups, 64 * columns), dtype=np.uint64)
    numbers = np.empty((end - first, len(rows)), dtype=np.int64)
    for place in range(len(rows)):
        slot = rows[place]
        for column in range(columns):
            word = data.words[slot, column]
            words[place, 2 * column] = np.uint32(word & np.uint64(0xFFFFFFFF))
            words[place, 2 * column + 1] = np.uint32(word >> np.uint64(32))
            bits[place // 64, 64 * column + place % 64] = word
        for number in range(first, end):
            numbers[number - first, place] = data.numbers[number, slot]
    for group in range(groups):
        for column in range(columns):
            transpose(bits[group, 64 * column : 64 * column + 64])
    for number in range(first, end):
        sums = frames.sums[level, number]
        start, stop = data.first_amount[number], data.first_amount[number + 1]
        if start < stop:
            for amount in range(start, stop):
                _add_amount(bits, 64 * columns - 64 + amount, data.amounts[amount], sums)
        else:
            _add_number(bits, words, numbers[number - first], sums)
    if first == 0:
        _add_alone(level, rows, bits, data, frames)


@inner_jit
def _add_alone(level, rows, bits, data, frames):
    """Add what is summed up for single literals only."""
    for literal in range(len(data.columns)):
        alone, floor = 0, 0
        for group in range(len(bits)):
            left = bits[group, literal]
            while left:
                slot = rows[64 * group + lowest_bit(left)]
                left &= left - np.uint64(1)
                alone += data.alone[slot, 0]
                floor += data.alone[slot, 1]
        frames.alone[level, literal] += alone
        frames.least[level, 2, 1, literal] += floor


@inner_jit
def _add_amount(bits, digit, amount, sums):
    """Add an amount for each row that has it to all pairs of literals that hold in it."""
    for group in range(len(bits)):
        here = bits[group]
        chosen = here[digit]
        if chosen == 0:
            continue
        for literal in range(len(sums)):
            mine = here[literal] & chosen
            if mine == 0:
                continue
            row = sums[literal]
            for other in range(literal + 1):
                row[other] += amount * np.int64(popcount(mine & here[other]))


@inner_loop_jit
def _add_number(bits, words, numbers, sums):
    """Add each row's number to all pairs of literals that hold in it."""
    rows, literals, stride = len(numbers), sums.shape[0], sums.shape[1]
    chosen = np.arange(rows)
    everywhere, where = np.zeros(stride, dtype=np.int64), sums.reshape(-1)
    for block in range(stride // LANES):
        total = _add_block(chosen, rows, words, block, numbers)
        store(total, everywhere, LANES * block)
    for literal in range(literals):
        ones = 0
        for group in range(len(bits)):
            ones += np.int64(popcount(bits[group, literal]))
        most = 2 * ones > rows
        count = _list_rows(bits, literal, most, rows, chosen)
        for block in range(literal // LANES + 1):
            part = _add_block(chosen, count, words, block, numbers)
            if most:
                part = subtract(load(everywhere, LANES * block), part)
            place = literal * stride + LANES * block
            store(add(load(where, place), part), where, place)


@inner_jit
def _list_rows(bits, literal, most, rows, chosen):
    """List the rows in which a literal holds, or those in which it does not; says how many."""
    count = 0
    for group in range(len(bits)):
        left = bits[group, literal]
        if most:
            left = ~left
            if 64 * group + 64 > rows:
                left &= (np.uint64(1) << np.uint64(rows % 64)) - np.uint64(1)
        while left:
            chosen[count] = 64 * group + lowest_bit(left)
            left &= left - np.uint64(1)
            count += 1
    return count


@inner_jit
def _add_block(chosen, count, words, block, numbers):
    """The sums of the numbers of chosen rows, for each literal of a block where it holds."""
    total = spread(np.int64(0))
    for place in range(count):
        row = chosen[place]
        total = add(total, choose(words[row, block], numbers[row]))
    return total


@inner_jit
def _least_costs(level, cost, data, frames):
    """Fill what a frame's new sums say of its children, and of itself."""
    at, least = frames.levels[level], frames.least
    at.useful = -1  # the literals are not sorted yet
    if level + 1 < len(frames.levels):
        frames.levels[level + 1].counted = -1
    at.errors[0] = cost
    _without_split(level, data, frames)
    with_two, with_both = at.errors[1], at.errors[1]
    if at.depth > 1:
        if not data.squared:
            _one_split_of_costs(level, frames)
        else:
            _bound_squares(level, frames)
            if level == 0:
                _settle_all(level, frames)
            else:
                _settle_least(level, frames)
        for literal in range(least.shape[3]):
            low_leaf, high_leaf = least[level, 0, 0, literal], least[level, 0, 1, literal]
            if low_leaf >= 0:
                low, high = least[level, 1, 0, literal], least[level, 1, 1, literal]
                with_two = min(with_two, low + high_leaf, low_leaf + high)
                with_both = min(with_both, low + high)
    at.errors[2] = with_two
    at.errors[3] = min(with_two, with_both)


@inner_jit
def _without_split(level, data, frames):
    """Fill the costs of children that are leaves, and the own ones with 1 split."""
    at, least, whole = frames.levels[level], frames.least, frames.whole[level]
    last = len(whole) - 1
    with_one = at.errors[0]
    for literal in range(least.shape[3]):
        high_cost = frames.alone[level, literal]
        low_cost = whole[last] - high_cost
        if data.squared:
            weight = frames.sums[level, 0, literal, literal]
            total = frames.sums[level, 1, literal, literal]
            high_cost -= _quotient(total, weight)
            low_cost -= _quotient(whole[1] - total, whole[0] - weight)
        else:
            high_least = frames.sums[level, 0, literal, literal]
            low_least = whole[0] - high_least
            for number in range(1, last):
                held = frames.sums[level, number, literal, literal]
                high_least, low_least = min(high_least, held), min(low_least, whole[number] - held)
            high_cost += high_least
            low_cost += low_least
        least[level, 1, 0, literal], least[level, 1, 1, literal] = low_cost, high_cost
        least[level, 2, 0, literal] = at.floor - least[level, 2, 1, literal]
        if _is_constant(level, literal, data, frames):
            low_cost = -1
        else:
            with_one = min(with_one, low_cost + high_cost)
        least[level, 0, 0, literal], least[level, 0, 1, literal] = low_cost, high_cost
    at.errors[1] = with_one


@inner_jit
def _is_constant(level, literal, data, frames):
    """Whether one side of a literal has no rows, or none that cost anything."""
    numbers = 1 if data.squared else frames.whole.shape[1] - 1
    high, low = 0, 0
    for number in range(numbers):
        held = frames.sums[level, number, literal, literal]
        high += held
        low += frames.whole[level, number] - held
    return high == 0 or low == 0


@inner_jit
def _one_split_of_costs(level, frames):
    """Lower the one-split costs of two literals' children by each other; a sum for each action."""
    sums, whole = frames.sums[level], frames.whole[level]
    low, high = frames.least[level, 1, 0], frames.least[level, 1, 1]
    numbers, literals = len(whole) - 1, len(low)
    held = np.empty((numbers, literals), dtype=np.int64)
    quarters = np.empty((QUARTERS, literals), dtype=np.int64)
    for number in range(numbers):
        for literal in range(literals):
            held[number, literal] = sums[number, literal, literal]
    for literal in range(literals):
        for number in range(numbers):
            _least_quarters(
                number, sums[number, literal], held[number], whole[number], literal, quarters
            )
        low_best, high_best = low[literal], high[literal]
        for other in range(literal):
            c11, c10 = quarters[0, other], quarters[1, other]
            c01, c00 = quarters[2, other], quarters[3, other]
            high_best = min(high_best, c11 + c10)
            low_best = min(low_best, c01 + c00)
            high[other] = min(high[other], c11 + c01)
            low[other] = min(low[other], c10 + c00)
        low[literal], high[literal] = low_best, high_best


@inner_jit
def _least_quarters(number, both, held, whole, literal, quarters):
    """Lower the costs of the quarters of a literal and those before it by those of an action."""
    here = held[literal]
    rest = whole - here
    for other in range(literal):
        c11, c01 = both[other], held[other] - both[other]
        c10, c00 = here - c11, rest - c01
        if number > 0:
            c11, c10 = min(c11, quarters[0, other]), min(c10, quarters[1, other])
            c01, c00 = min(c01, quarters[2, other]), min(c00, quarters[3, other])
        quarters[0, other], quarters[1, other] = c11, c10
        quarters[2, other], quarters[3, other] = c01, c00


@inner_jit
def _bound_squares(level, frames):
    """Fill lower bounds of the one-split costs of all children; squared errors.

    A child costs least where the quotients of its two quarters add up to most. ``near`` becomes
    how large the sum of these as floats must be, so that it may be the largest of the child's when
    both are rounded up.
    """
    weights, totals, near = frames.sums[level, 0], frames.sums[level, 1], frames.near
    least, whole, literals = frames.least, frames.whole[level], frames.least.shape[3]
    for literal in range(literals):
        frames.own[0, literal] = weights[literal, literal]
        frames.own[1, literal] = totals[literal, literal]
        near[0, literal] = near[1, literal] = 0.0
    for literal in range(literals):
        _fill_gains(
            literal, weights[literal], totals[literal], frames.own, whole[0], whole[1], frames.gains
        )
    _find_best(frames.gains.view(np.int64), near.view(np.int64))
    for side in range(2):
        for literal in range(literals):
            best, alone = near[side, literal], frames.alone[level, literal]
            if side == 0:
                alone = whole[len(whole) - 1] - alone
            bound = max(alone - np.int64(best * (1 + NEARLY)) - 3, 0)
            near[side, literal] = max(best * (1 - NEARLY) - 2, 0.0)
            frames.leaves[side, literal] = least[level, 1, side, literal]
            least[level, 1, side, literal] = min(least[level, 1, side, literal], bound)


@inner_loop_jit
def _fill_gains(literal, weights, totals, held, all_weight, all_total, gains):
    """Fill the quotients of the quarters of a literal and those before it, two together.

    First those of the literal's high and low child, then those of the other one's.
    """
    here_weight, here_total = held[0, literal], held[1, literal]
    rest_weight, rest_total = all_weight - here_weight, all_total - here_total
    for other in range(literal):
        w11, s11 = weights[other], totals[other]
        w10, s10 = here_weight - w11, here_total - s11
        w01, s01 = held[0, other] - w11, held[1, other] - s11
        w00, s00 = rest_weight - w01, rest_total - s01
        f11, f10, f01, f00 = np.float64(s11), np.float64(s10), np.float64(s01), np.float64(s00)
        # np.divide does not ask whether a weight is 0
        g11 = np.divide(f11 * f11, np.float64(max(w11, 1)))
        g10 = np.divide(f10 * f10, np.float64(max(w10, 1)))
        g01 = np.divide(f01 * f01, np.float64(max(w01, 1)))
        g00 = np.divide(f00 * f00, np.float64(max(w00, 1)))
        gains[0, literal, other], gains[1, literal, other] = g11 + g10, g01 + g00
        gains[2, literal, other], gains[3, literal, other] = g11 + g01, g10 + g00


@inner_loop_jit
def _find_best(gains, best):
    """Fill the largest gains of the low and the high child of each literal, given as integers.

    Floats that are not negative are ordered like the integers of the same bits, and of these a
    processor finds the largest of several at once.
    """
    for literal in range(best.shape[1]):
        low_best, high_best = best[0, literal], best[1, literal]
        for other in range(literal):
            high_best = max(high_best, gains[0, literal, other])
            low_best = max(low_best, gains[1, literal, other])
            best[1, other] = max(best[1, other], gains[2, literal, other])
            best[0, other] = max(best[0, other], gains[3, literal, other])
        best[0, literal], best[1, literal] = low_best, high_best


@inner_loop_jit
def _find_near(literal, gains, best, found):
    """Note which gains of a literal and those before it are near the best of one of them."""
    low_best, high_best = best[0, literal], best[1, literal]
    for other in range(literal):
        mine = (gains[0, literal, other] >= high_best) | (gains[1, literal, other] >= low_best)
        others = gains[2, literal, other] >= best[1, other]
        found[other] = mine | others | (gains[3, literal, other] >= best[0, other])


@inner_jit
def _settle_all(level, frames):
    """Replace the bounds of all one-split costs by the costs."""
    least, gains, near, settled = frames.least, frames.gains, frames.near, frames.settled
    literals = least.shape[3]
    for side in range(2):
        for literal in range(literals):
            least[level, 1, side, literal] = frames.leaves[side, literal]
            settled[side, literal, 0] = -1
    found = np.empty(literals, dtype=np.uint8)
    for literal in range(literals):
        _find_near(literal, gains, near, found)
        for other in range(literal):
            if found[other]:
                for part in range(QUARTERS):
                    child, side = literal if part < 2 else other, 1 - part % 2
                    if gains[part, literal, other] >= near[side, child]:
                        _settle(level, part, literal, other, frames)


@inner_jit
def _settle_least(level, frames):
    """Replace the bounds of one-split costs by the costs where two splits or three may cost least.

    Where they cannot, the bounds show it.
    """
    at, least = frames.levels[level], frames.least
    literals, known = least.shape[3], np.zeros(least.shape[3], dtype=np.uint8)
    with_two = with_both = at.errors[1]
    for turn in range(2):
        # first those that have the least bounds, then all that may still cost less
        first_two, first_both = with_two, with_both
        best_two = best_both = -1
        for literal in range(literals):
            low_leaf, high_leaf = least[level, 0, 0, literal], least[level, 0, 1, literal]
            if low_leaf < 0 or known[literal]:
                continue
            low, high = least[level, 1, 0, literal], least[level, 1, 1, literal]
            two, both = min(low + high_leaf, low_leaf + high), low + high
            if turn == 0:
                if two < first_two:
                    first_two, best_two = two, literal
                if both < first_both:
                    first_both, best_both = both, literal
            elif two < with_two or both < with_both:
                two, both = _settle_literal(level, literal, frames)
                with_two, with_both = min(with_two, two), min(with_both, both)
        if turn == 0:
            for literal in (best_two, best_both):
                if literal >= 0 and not known[literal]:
                    known[literal] = 1
                    two, both = _settle_literal(level, literal, frames)
                    with_two, with_both = min(with_two, two), min(with_both, both)


@inner_jit
def _settle_literal(level, literal, frames):
    """Replace the bounds of a literal's children; says what two splits and three cost with it."""
    least, gains, near = frames.least[level], frames.gains, frames.near
    for side in range(2):
        least[1, side, literal] = frames.leaves[side, literal]
        frames.settled[side, literal, 0] = -1
        for other in range(least.shape[2]):
            if other < literal and gains[1 - side, literal, other] >= near[side, literal]:
                _settle(level, 1 - side, literal, other, frames)
            elif other > literal and gains[3 - side, other, literal] >= near[side, literal]:
                _settle(level, 3 - side, other, literal, frames)
    low, high = least[1, 0, literal], least[1, 1, literal]
    return min(low + least[0, 1, literal], least[0, 0, literal] + high), low + high


@inner_jit
def _settle(level, part, literal, other, frames):
    """Lower a child's one-split cost by exact quotients.

    The parts are those of ``gains``. Many literals may divide a small child alike; all but the
    first of them in a row are passed over.
    """
    child, tested = (literal, other) if part < 2 else (other, literal)
    side = 1 - part % 2
    whole, own, settled = frames.whole[level], frames.own, frames.settled
    high_weight = frames.sums[level, 0, literal, other]
    high_total = frames.sums[level, 1, literal, other]
    weight, total, alone = own[0, child], own[1, child], frames.alone[level, child]
    if side == 0:
        weight, total, alone = whole[0] - weight, whole[1] - total, whole[len(whole) - 1] - alone
        high_weight, high_total = own[0, tested] - high_weight, own[1, tested] - high_total
    low_weight, low_total = weight - high_weight, total - high_total
    if high_weight == 0 or low_weight == 0:
        return
    last_weight, last_total = settled[side, child, 0], settled[side, child, 1]
    if (high_weight == last_weight and high_total == last_total) or (
        low_weight == last_weight and low_total == last_total
    ):
        return
    settled[side, child, 0], settled[side, child, 1] = high_weight, high_total
    cost = alone - _quotient(high_total, high_weight) - _quotient(low_total, low_weight)
    frames.least[level, 1, side, child] = min(frames.least[level, 1, side, child], cost)


_drive = make_driver(_look, advance, take)
