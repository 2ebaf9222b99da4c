"""Branch and bound on 0/1 columns: the engine that counts pairs of literals.

For every class and every two literals, count the weight of the rows in which both hold. With the
totals this gives the weight of each class in all four quarters that two tests make of the rows, and
a leaf in a quarter errs on all but its heaviest class. So one pass over all pairs gives, at once,
the least errors of a row set with 0, 1 and 2 splits, and those of every child with 0 and 1. Rows
are counted 64 at a time, as bits of one word per literal: a pair costs one popcount per 64 rows.
Only the smaller of two siblings is counted; the larger one is the parent's counts less these.

For more splits, every literal is tried as the first test, with every way to share the rest of the
budget between both children. Before a child is asked, free bounds are collected: from its pair
counts, from the table, and from similar children that were tried before. The sum of both children's
bounds often reaches the limit, and then neither is asked. A child is asked only for an error small
enough to help.

Invariants. A frame's ``limit`` is the smallest error known of its rows, or the bound of its
question if that is smaller; when no way is left, it is the answer. After ``least_errors``,
``least[level, b, side, literal]`` is the least error of a child with ``b`` = 0 or 1 splits, and for
``b`` = 2 a floor under it with any number. ``bounds[level, 0, side, b]`` is at most the least error
of that child of the literal being tried with ``b`` splits, and equal to it where bit ``b`` of
``children[level, side].exact`` is set.

Levels are ``np.int64``: numba would compile every kernel a second time for the constant 0.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mictree._support.jit import atomic_add, inner_jit, inner_loop_jit, jit, lowest_bit, popcount
from mictree.columns.packing import transpose
from mictree.optimal.questions import (
    EXACT_BUDGETS,
    FOUND,
    LEAST,
    NEXT,
    PLAIN,
    RUN,
    STATUS,
    VISITED,
    FirstTest,
    Question,
    Table,
    find,
    finish_key,
    make_driver,
    put,
    remember,
    unchanged,
)
from mictree.optimal.rows import ALL, Frames, Leaf, first_test, frame_bytes, make_frames


class LiteralEngine(ABC):
    """Answers questions about rows of literals; what a leaf costs is its kernels' matter.

    Its frames are made, and its questions answered, by whoever counts or sums up.
    """

    rows: Any  # those that are searched: ``Rows``, or rows with sums
    sure = 2
    patience: tuple[int, ...] = ()

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.budgets = self.levels = self.bytes = 0

    @abstractmethod
    def make_frames(self) -> Any:
        """Frames for one worker."""

    @abstractmethod
    def solve(self, question: Question, table: Table, frames: Any, control: np.ndarray) -> int:
        """The least cost of the rows in ``frames.mask[0]``, if it is below the bound."""

    def choose_levels(self, budgets: int, depth: int, memory: int, each: int) -> None:
        """Choose how many splits may be asked about, where a level's frames need so much memory."""
        # a frame's children are asked only if they may have more than one split
        self.levels = max(1, min(budgets, depth, memory // each))
        self.budgets = budgets if self.levels >= min(budgets, depth) else self.levels

    def leaf(self, members: np.ndarray) -> Leaf:
        """The best label of some rows, and what it costs."""
        return self.rows.leaf(members)

    def ask(
        self, members: np.ndarray, question: Question, table: Table, frames: Any,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """The least cost of some rows within a budget, if it is below the bound."""
        frames.mask[0] = self.rows.mask(members)
        return self.solve(question, table, frames, control)

    def trace(self, frames: Any, budget: int, cost: int) -> FirstTest:
        """The first test of a tree that attains the cost just asked for."""
        literal, low_budget, *costs = first_test(frames, budget, cost)
        budgets = low_budget, budget - 1 - low_budget
        return FirstTest(int(self.rows.kept[literal]), budgets, (costs[0], costs[1]), (None, None))

    def glance(
        self, members: np.ndarray, budget: int, depth: int, table: Table, frames: Any,
        control: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Costs of some rows with 0, 1, 2 and 3 splits that a first look shows trees for."""
        question = Question(2, self.leaf(members).cost, depth, PLAIN)
        self.ask(members, question, table, frames, control)
        return frames.levels[0].errors.copy()


class BitEngine(LiteralEngine):
    """Counts pairs of literals."""

    def __str__(self) -> str:
        classes = len(self.rows.data.first_word) - 1
        return f"{len(self.rows.kept)} literals and {classes} classes"

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        each = frame_bytes(self.rows.data, budgets)
        self.choose_levels(budgets, depth, memory, each)
        self.bytes = self.levels * each

    def make_frames(self) -> Frames:
        """Frames for one worker."""
        return make_frames(self.rows.data, self.budgets, self.levels)

    def solve(self, question: Question, table: Table, frames: Frames, control: np.ndarray) -> int:
        """The least error of the rows in ``frames.mask[0]``, if it is below the bound."""
        return solve_bits(question, self.rows.data, table, frames, control)


@jit
def solve_bits(question, data, table, frames, control):
    """The least error of the rows in ``frames.mask[0]``, if it is below the bound; see ``Asks``.

    To trace is to find a tree whose error is known to be just below the bound: frame 0 then stands
    at its first test, unless what its pairs say suffices.
    """
    level, at = np.int64(0), frames.levels[0]
    start(data, frames)
    ask_frame(at, question.budget, question.bound, question.depth)
    at.goal = max(at.goal, control[LEAST]) if question.wanted == PLAIN else question.bound - 1
    at.position = atomic_add(control, NEXT, 1)
    return _drive(level, data, table, frames, control)


@inner_jit
def start(data, frames):
    """Set what the first frame says of its rows."""
    high, low = np.uint64(0), np.uint64(0)
    floor = 0
    for label in range(len(data.first_word) - 1):
        total = 0
        for word in range(data.first_word[label], data.first_word[label + 1]):
            left = frames.mask[0, word]
            while left:
                slot = 64 * word + lowest_bit(left)
                left &= left - np.uint64(1)
                high ^= data.keys[slot, 0]
                low ^= data.keys[slot, 1]
                total += data.weights[slot, 0]
                floor += data.weights[slot, 1]
        frames.totals[0, label] = total
    root = frames.levels[0]
    root.key_high, root.key_low, root.floor, root.counted = high, low, floor, -1


@inner_jit
def ask_frame(at, budget, bound, depth):
    """Put a question to a frame whose rows are in place."""
    put(at, budget, bound, depth)
    at.goal, at.position, at.turn, at.looked_up = at.floor, 0, 0, 0
    at.counted_sizes = 4 if depth == 2 else 3


@inner_jit
def _look(level, data, table, frames, control):
    """Whether no child need be asked, or there is no time; and the answer."""
    at = frames.levels[level]
    error = leaf_error(level, frames)
    if at.budget == 0 or error == 0 or control[STATUS] != RUN:
        return True, error
    if count(level, data, frames):
        least_errors(level, frames)
    return answer_by_counts(level, table, frames, control)


@inner_jit
def leaf_error(level, frames):
    """The weight of a frame's rows outside their heaviest class."""
    whole, most = 0, 0
    for label in range(frames.totals.shape[1]):
        whole += frames.totals[level, label]
        most = max(most, frames.totals[level, label])
    return np.int64(whole - most)


@inner_jit
def answer_by_counts(level, table, frames, control):
    """Whether the pair counts suffice for an answer; and the answer."""
    at = frames.levels[level]
    atomic_add(control, VISITED, 1)
    at.best = at.errors[min(at.budget, 3)]
    at.limit = min(at.bound, at.best)
    answered = at.budget <= 2 or at.best <= at.goal or at.depth <= 2
    if answered:
        if level > 0:
            remember(at, at.best, answered, table, control)
        return answered, at.best
    if at.useful < 0:
        sort_literals(level, frames.least[level, 1], frames)  # by one split in each child
    at.tried = 0
    return answered, at.best


@inner_jit
def sort_literals(level, scores, frames):
    """Order the literals that split the rows by the sum of their children's scores."""
    order = frames.order
    useful = 0
    for literal in range(scores.shape[1]):
        if frames.least[level, 0, 0, literal] < 0:
            continue
        score = scores[0, literal] + scores[1, literal]
        place = useful
        while place > 0:
            before = order[level, 0, place - 1]
            if scores[0, before] + scores[1, before] <= score:
                break
            order[level, 0, place] = before
            place -= 1
        order[level, 0, place] = literal
        useful += 1
    frames.levels[level].useful = useful


@inner_jit
def take(level, answer, data, frames):
    """Note a child's answer: a lower bound for its budget holds for all smaller ones."""
    at, bounds = frames.levels[level], frames.bounds
    budget = at.low_budget if at.side == 0 else at.budget - 1 - at.low_budget
    for size in range(budget + 1):
        bounds[level, 0, at.side, size] = max(bounds[level, 0, at.side, size], answer)
    if answer < frames.levels[level + 1].bound:
        frames.children[level, at.side].exact |= np.uint64(1) << np.uint64(budget)


@inner_jit
def advance(level, data, table, frames, control):
    """Put the next question to a child's frame, or say False when there is none."""
    at = frames.levels[level]
    while _next_share(level, frames, control):
        literal = frames.order[level, 0, at.position]
        if not at.looked_up:
            look_up(level, literal, data, table, frames)
            compare(level, literal, frames)
        if _needs_child(level, literal, frames, control):
            _descend(level, literal, data, frames)
            return True
        at.turn += 1
    return False


_drive = make_driver(_look, advance, take)


@inner_jit
def _next_share(level, frames, control):
    """Move on to a literal and a share of the budget that may beat the limit, if there is one.

    The shares of a literal are tried from balanced to lopsided. Workers take the literals of frame
    0 one by one.
    """
    at, least, bounds = frames.levels[level], frames.least, frames.bounds
    while at.position < at.useful and at.limit > at.goal:
        literal = frames.order[level, 0, at.position]
        if level == 0:
            at.limit = min(at.limit, control[FOUND])
        if at.turn == at.budget:
            if at.looked_up:
                keep(level, literal, frames)
            at.position = atomic_add(control, NEXT, 1) if level == 0 else at.position + 1
            at.turn, at.looked_up = 0, 0
            continue
        offset = (at.turn + 1) // 2
        at.low_budget = (at.budget - 1) // 2 + (offset if at.turn % 2 == 1 else -offset)
        low_budget, high_budget = at.low_budget, at.budget - 1 - at.low_budget
        if at.looked_up:
            low, high = bounds[level, 0, 0, low_budget], bounds[level, 0, 1, high_budget]
        else:
            low = least[level, min(low_budget, 2), 0, literal]
            high = least[level, min(high_budget, 2), 1, literal]
        if low + high < at.limit:
            return True
        at.turn += 1
    return False


@inner_jit
def _needs_child(level, literal, frames, control):
    """Whether a child must be asked at this share of the budget, and on which side.

    If both children's least errors are known, their sum becomes the limit. Otherwise the child with
    fewer splits is asked first, as it answers sooner; of two equal ones that with more errors.
    """
    at, least = frames.levels[level], frames.least
    low_budget, high_budget = at.low_budget, at.budget - 1 - at.low_budget
    low, high = frames.bounds[level, 0, 0, low_budget], frames.bounds[level, 0, 1, high_budget]
    if low + high >= at.limit:
        return False
    low_known = (frames.children[level, 0].exact >> np.uint64(low_budget)) & np.uint64(1)
    high_known = (frames.children[level, 1].exact >> np.uint64(high_budget)) & np.uint64(1)
    if low_known and high_known:
        at.limit = low + high
        if level == 0:
            control[FOUND] = min(control[FOUND], at.limit)
        return False
    if low_known or high_known:
        at.side = 1 if low_known else 0
    elif low_budget != high_budget:
        at.side = 0 if low_budget < high_budget else 1
    else:
        at.side = 0 if least[level, 1, 0, literal] >= least[level, 1, 1, literal] else 1
    return True


@inner_jit
def _descend(level, literal, data, frames):
    """Put the question to the next frame: for less than what the sibling's bound leaves."""
    descend(level, literal, data, frames)
    at, side = frames.levels[level], frames.levels[level].side
    budget = at.low_budget if side == 0 else at.budget - 1 - at.low_budget
    other = frames.bounds[level, 0, 1 - side, at.budget - 1 - budget]
    ask_frame(frames.levels[level + 1], budget, at.limit - other, at.depth - 1)


@inner_jit
def descend(level, literal, data, frames):
    """Put the rows of one side of a literal into the next frame."""
    child, side = frames.levels[level + 1], frames.levels[level].side
    flip = np.uint64(0) if side == 1 else ALL
    for word in range(frames.mask.shape[1]):
        column = data.columns[literal, word] ^ flip
        frames.mask[level + 1, word] = frames.mask[level, word] & column
    for label in range(frames.totals.shape[1]):
        held = frames.held[level, label, literal]
        rest = frames.totals[level, label] - held
        frames.totals[level + 1, label] = held if side == 1 else rest
    child.key_high = frames.children[level, side].key_high
    child.key_low = frames.children[level, side].key_low
    child.floor = frames.least[level, 2, side, literal]


@inner_jit
def look_up(level, literal, data, table, frames):
    """Fill both children's keys, and their lower bounds for every budget; note the smaller."""
    at = frames.levels[level]
    hash_children(level, literal, data, frames)
    for side in range(2):
        child = frames.children[level, side]
        key = finish_key(child.key_high, child.key_low, at.depth - 1)
        place, version = find(key[0], key[1], table.entries)
        while True:
            _known_bounds(level, literal, side, place, table, frames)
            if place < 0 or unchanged(place, version, table.entries):
                break
            place = -1
    at.looked_up = 1


@inner_jit
def hash_children(level, literal, data, frames):
    """Fill both children's keys; note the smaller."""
    at = frames.levels[level]
    surplus = 0
    for label in range(frames.totals.shape[1]):
        surplus += frames.totals[level, label] - 2 * frames.held[level, label, literal]
    at.smaller = 1 if surplus >= 0 else 0
    flip = np.uint64(0) if at.smaller == 1 else ALL
    high, low = np.uint64(0), np.uint64(0)
    for word in range(frames.mask.shape[1]):
        left = frames.mask[level, word] & (data.columns[literal, word] ^ flip)
        while left:
            slot = 64 * word + lowest_bit(left)
            left &= left - np.uint64(1)
            high ^= data.keys[slot, 0]
            low ^= data.keys[slot, 1]
    for side in range(2):
        child = frames.children[level, side]
        child.key_high = high if side == at.smaller else high ^ at.key_high
        child.key_low = low if side == at.smaller else low ^ at.key_low


@inner_jit
def _known_bounds(level, literal, side, place, table, frames):
    """Fill one child's lower bounds from its pair counts and from a place of the table, or -1."""
    at, least, bounds = frames.levels[level], frames.least, frames.bounds
    many = frames.totals.shape[1] > 3
    if many:
        _class_bounds(level, literal, side, frames)
    deepest = (1 << (at.depth - 1)) - 1 if at.depth <= 62 else at.budget
    perfect = least[level, 1, side, literal] == 0
    proved = table.entries[place, EXACT_BUDGETS] if place >= 0 else np.uint64(0)
    exact = np.uint64(0)
    for size in range(at.budget):
        possible = min(size, deepest)
        bound = least[level, min(possible, 2), side, literal]
        if many and possible >= 2:
            bound = max(bound, bounds[level, 0, side, possible])
        known = possible <= 1 or perfect
        if place >= 0:
            bound = max(bound, table.lower[place, possible])
            known |= (proved >> np.uint64(possible)) & np.uint64(1) != 0
        bounds[level, 0, side, size] = bound
        if known:
            exact |= np.uint64(1) << np.uint64(size)
    frames.children[level, side].exact = exact


@inner_jit
def _class_bounds(level, literal, side, frames):
    """Fill one child's bounds with the weight of all but the heaviest classes, one per leaf."""
    classes = frames.totals.shape[1]
    masses = np.empty(classes, dtype=frames.totals.dtype)
    rest = 0
    for label in range(classes):
        held = frames.held[level, label, literal]
        masses[label] = held if side == 1 else frames.totals[level, label] - held
        rest += masses[label]
    for size in range(frames.levels[level].budget):
        heaviest = 0
        for label in range(classes):
            if masses[label] > masses[heaviest]:
                heaviest = label
        rest -= masses[heaviest]
        masses[heaviest] = 0
        frames.bounds[level, 0, side, size] = rest


@inner_jit
def common_weight(level, literal, other, frames):
    """The weight of the rows of a frame in which two literals hold."""
    both = 0
    for label in range(frames.totals.shape[1]):
        both += frames.pairs[level, label, max(literal, other), min(literal, other)]
    return both


@inner_loop_jit
def compare(level, literal, frames):
    """Raise the bounds of a literal's children by those of similar children.

    A row set that lacks some rows of another has at least the other's least error less their
    weight.
    """
    tried, budget = frames.levels[level].tried, frames.levels[level].budget
    bounds, held = frames.bounds[level], frames.held[level, frames.totals.shape[1]]
    for number in range(tried):
        other = frames.order[level, 1, number]
        lacked = held[literal] - common_weight(level, literal, other, frames)  # by the low child
        for side in range(2):
            for size in range(2, budget):
                bound = bounds[1 + number, side, size] - lacked
                bounds[0, side, size] = max(bounds[0, side, size], bound)
            lacked += held[other] - held[literal]


@inner_jit
def keep(level, literal, frames):
    """Keep the bounds of a literal's children, for the literals to come."""
    at, bounds = frames.levels[level], frames.bounds
    frames.order[level, 1, at.tried] = literal
    for side in range(2):
        for size in range(2, at.budget):
            bounds[level, 1 + at.tried, side, size] = bounds[level, 0, side, size]
    at.tried += 1


@inner_jit
def count(level, data, frames):
    """Fill a frame's pair counts and its children's floors; says whether they are new."""
    at = frames.levels[level]
    if level == 0:
        _add_rows(level, level, np.int64(-1), data, frames)
        return True
    above = level - 1
    parent = frames.levels[above]
    literal = frames.order[above, 0, parent.position]
    smaller, wanted = 2 * literal + parent.smaller, 2 * literal + parent.side
    counted = at.counted
    if counted == wanted:
        return False
    if counted // 2 != literal:
        _add_rows(level, above, smaller, data, frames)
        counted = smaller
    if counted != wanted:
        _subtract(above, frames.pairs, frames.least)
    at.counted = wanted
    return True


@inner_jit
def _subtract(level, pairs, least):
    """Replace the next frame's counts, of one child, by those of the other."""
    kind = pairs.dtype.type
    for label in range(pairs.shape[1]):
        for literal in range(pairs.shape[2]):
            for other in range(literal + 1):
                rest = pairs[level, label, literal, other] - pairs[level + 1, label, literal, other]
                pairs[level + 1, label, literal, other] = kind(rest)
    for literal in range(pairs.shape[2]):
        rest = least[level, 2, 1, literal] - least[level + 1, 2, 1, literal]
        least[level + 1, 2, 1, literal] = kind(rest)


@inner_jit
def _add_rows(level, above, child, data, frames):
    """Count the rows of a child of a frame, all its rows for -1, in blocks of up to 64 of a class.

    Children are numbered by twice the literal, plus 1 where it holds.
    """
    flip = np.uint64(0) if child % 2 == 1 else ALL
    _clear(level, frames.pairs, frames.least)
    columns = data.words.shape[1]
    block = np.empty(64 * columns, dtype=np.uint64)
    for label in range(len(data.first_word) - 1):
        word, end = data.first_word[label], data.first_word[label + 1]
        left = np.uint64(0)
        while True:
            used = 0
            while used < 64:
                while left == 0 and word < end:
                    left = frames.mask[above, word]
                    if child >= 0:
                        left &= data.columns[child // 2, word] ^ flip
                    word += 1
                if left == 0:
                    break
                slot = 64 * (word - 1) + lowest_bit(left)
                left &= left - np.uint64(1)
                for column in range(columns):
                    block[64 * column + used] = data.words[slot, column]
                if data.weights[slot, 1] > 0:
                    _add_floor(level, slot, data, frames.least)
                used += 1
            if used == 0:
                break
            for column in range(columns):
                for row in range(used, 64):
                    block[64 * column + row] = 0
            _add_block(level, label, block, data.amounts, frames.pairs)


@inner_jit
def _clear(level, pairs, least):
    """Set a frame's counts and its high children's floors to 0."""
    for label in range(pairs.shape[1]):
        for literal in range(pairs.shape[2]):
            for other in range(literal + 1):
                pairs[level, label, literal, other] = 0
    for literal in range(pairs.shape[2]):
        least[level, 2, 1, literal] = 0


@inner_jit
def _add_floor(level, slot, data, least):
    """Add a row's unavoidable weight to the floors of its literals' high children."""
    for literal in range(len(data.columns)):
        if (data.words[slot, literal // 64] >> np.uint64(literal % 64)) & np.uint64(1):
            least[level, 2, 1, literal] += data.weights[slot, 1]


@inner_jit
def _add_block(level, label, block, amounts, pairs):
    """Add 64 rows: after the literals' bits come those that say which amounts a row has."""
    last = len(block) - 64
    for first in range(0, len(block), 64):
        transpose(block[first : first + 64])
    for digit in range(len(amounts)):
        chosen = ALL if len(amounts) == 1 else block[last + digit]
        if chosen:
            _add_amount(level, label, block, chosen, amounts[digit], pairs)


@inner_jit
def _add_amount(level, label, bits, chosen, amount, pairs):
    """Add an amount for each chosen row to all pairs of literals that hold in it."""
    kind = pairs.dtype.type
    for literal in range(pairs.shape[2]):
        here = bits[literal] & chosen
        if here == 0:
            continue
        if amount == 1:
            for other in range(literal + 1):
                pairs[level, label, literal, other] += kind(popcount(here & bits[other]))
        else:
            for other in range(literal + 1):
                both = kind(popcount(here & bits[other]))
                pairs[level, label, literal, other] += kind(amount * both)


@inner_jit
def least_errors(level, frames):
    """Fill what a frame's new pair counts say of its children, and of itself."""
    at, least = frames.levels[level], frames.least
    at.useful = -1  # the literals are not sorted yet
    if level + 1 < len(frames.levels):
        frames.levels[level + 1].counted = -1
    _without_split(level, frames)
    with_two, with_both = at.errors[1], at.errors[1]
    if at.depth > 1:
        if frames.totals.shape[1] == 2:
            _one_split_of_two(level, frames.pairs, least, frames.held, frames.totals)
        else:
            _one_split_of_many(level, frames.pairs, least, frames.held, frames.totals)
        for literal in range(least.shape[3]):
            low_leaf, high_leaf = least[level, 0, 0, literal], least[level, 0, 1, literal]
            if low_leaf >= 0:
                low, high = least[level, 1, 0, literal], least[level, 1, 1, literal]
                with_two = min(with_two, low + high_leaf, low_leaf + high)
                with_both = min(with_both, low + high)
    at.errors[2] = with_two
    at.errors[3] = min(with_two, with_both)


@inner_jit
def _without_split(level, frames):
    """Fill the errors of children that are leaves, and the own ones with 0 and 1 split."""
    at, least, held, totals = frames.levels[level], frames.least, frames.held, frames.totals
    classes = totals.shape[1]
    whole, most = 0, 0
    for label in range(classes):
        whole += totals[level, label]
        most = max(most, totals[level, label])
    with_one = whole - most
    at.errors[0] = with_one
    for literal in range(least.shape[3]):
        high, low_most, high_most = 0, 0, 0
        for label in range(classes):
            here = frames.pairs[level, label, literal, literal]
            held[level, label, literal] = here
            high += here
            low_most = max(low_most, totals[level, label] - here)
            high_most = max(high_most, here)
        held[level, classes, literal] = high
        low_error, high_error = whole - high - low_most, high - high_most
        least[level, 1, 0, literal], least[level, 1, 1, literal] = low_error, high_error
        least[level, 2, 0, literal] = at.floor - least[level, 2, 1, literal]
        if high == 0 or high == whole:
            low_error = -1  # the literal is constant
        else:
            with_one = min(with_one, low_error + high_error)
        least[level, 0, 0, literal], least[level, 0, 1, literal] = low_error, high_error
    at.errors[1] = with_one


@inner_jit
def _one_split_of_two(level, pairs, least, held, totals):
    """Lower the one-split errors of two literals' children by each other; two classes."""
    kind = pairs.dtype.type
    low, high = least[level, 1, 0], least[level, 1, 1]
    zeros, ones = held[level, 0], held[level, 1]
    for literal in range(len(low)):
        a, b = zeros[literal], ones[literal]
        rest_a = kind(totals[level, 0] - a)
        rest_b = kind(totals[level, 1] - b)
        low_best, high_best = low[literal], high[literal]
        for other in range(literal):
            a11, b11 = pairs[level, 0, literal, other], pairs[level, 1, literal, other]
            a10, b10 = kind(a - a11), kind(b - b11)
            a01, b01 = kind(zeros[other] - a11), kind(ones[other] - b11)
            a00, b00 = kind(rest_a - a01), kind(rest_b - b01)
            e11, e10 = min(a11, b11), min(a10, b10)
            e01, e00 = min(a01, b01), min(a00, b00)
            high_best = min(high_best, kind(e11 + e10))
            low_best = min(low_best, kind(e01 + e00))
            high[other] = min(high[other], kind(e11 + e01))
            low[other] = min(low[other], kind(e10 + e00))
        low[literal], high[literal] = low_best, high_best


@inner_jit
def _one_split_of_many(level, pairs, least, held, totals):
    """The same for any number of classes; a quarter's error is all but its heaviest class."""
    kind = pairs.dtype.type
    classes, literals = pairs.shape[1], pairs.shape[2]
    most = np.empty((4, literals), dtype=pairs.dtype)
    whole = 0
    for label in range(classes):
        whole += totals[level, label]
    for literal in range(literals):
        for other in range(literal):
            for quarter in range(4):
                most[quarter, other] = 0
        for label in range(classes):
            here = held[level, label, literal]
            rest = kind(totals[level, label] - here)
            for other in range(literal):
                n11 = pairs[level, label, literal, other]
                n01 = kind(held[level, label, other] - n11)
                most[0, other] = max(most[0, other], n11)
                most[1, other] = max(most[1, other], kind(here - n11))
                most[2, other] = max(most[2, other], n01)
                most[3, other] = max(most[3, other], kind(rest - n01))
        mass = held[level, classes, literal]
        for other in range(literal):
            m11, m10, m01, m00 = most[0, other], most[1, other], most[2, other], most[3, other]
            low, high = least[level, 1, 0, literal], least[level, 1, 1, literal]
            least[level, 1, 0, literal] = min(low, whole - mass - m01 - m00)
            least[level, 1, 1, literal] = min(high, mass - m11 - m10)
            other_mass = held[level, classes, other]
            low, high = least[level, 1, 0, other], least[level, 1, 1, other]
            least[level, 1, 0, other] = min(low, whole - other_mass - m10 - m00)
            least[level, 1, 1, other] = min(high, other_mass - m11 - m01)
