"""Which leaf is split next, and by which of its best splits: written once, for every loop.

Numbers tie when they differ by at most ``TIE_TOLERANCE``, relative to the larger one (decision
0003). ``least_tied`` says so, and everything else here follows from it: ``choose_leaf`` among open
leaves, ``choose_tied`` among a leaf's splits, ``settle_ties`` among subtrees of several depths, and
``least_of_best`` for trees that may test only the best splits of each node.

A tournament holds the priorities of open leaves. It is a tree in an array: node n has the largest
priority of its 16 children, which stand from node 16n + 1 on, and leaf number l stands at node
``first + l``. So changing a priority, or finding the largest, takes steps in the logarithm of the
number of leaves. With 16 children instead of 2 there are few levels, whose outcome a processor
cannot guess, and searching one level needs no branches.

Random ties are drawn by SplitMix64 (Steele, Lea and Flood, 2014), in Python code and in kernels
alike, so that every loop draws the same. A rule's priority and impurity reach loops and kernels as
the functions that define the rule: compiled, or called back if they are a user's.
"""

from collections.abc import Callable
from types import MethodType
from typing import NamedTuple

import numpy as np

from mictree._support.jit import (
    IMPURITY,
    PRIORITY,
    Callback,
    Compiled,
    call_priority,
    inner_jit,
    is_own,
    jit,
)
from mictree.growers.rules import TIE_TOLERANCE, TIES, Grower, checked_priority
from mictree.impurity.criteria import GAINS, Criterion, own_impurity, refusal
from mictree.impurity.gains import CRITERION_CODES, OWN, own_gains
from mictree.problems.base import FloatArray, Leaf, Problem, Splits

LAST, FIRST, RANDOM, HEAVIEST, LIGHTEST = range(5)
assert TIES == ("last", "first", "random", "heaviest", "lightest")

CLOSED = -np.inf  # of a leaf that is split, pure or without splits
WIDTH, SHIFT = 16, 4  # 2**SHIFT children of a node of the tournament
LARGEST = 1e308  # larger priorities, also infinite ones, count as this one


class Frontier(NamedTuple):
    """The open leaves by number, in order of creation."""

    tournament: np.ndarray
    first: int  # the node of leaf 0
    reach: np.ndarray


@jit
def new_frontier(capacity):
    """Without an open leaf, and with room for so many."""
    first, level = 0, 1
    while level < capacity:
        first += level
        level *= WIDTH
    # nodes above absent leaves stay closed, so the last level may end early, after whole groups
    leaves = -(-capacity // WIDTH) * WIDTH
    return Frontier(np.full(first + leaves, CLOSED), first, np.zeros(leaves))


@jit
def any_open(frontier):
    """Whether a leaf can be split."""
    return frontier.tournament[0] > CLOSED


@jit
def open_leaf(frontier, leaf, reach, priority):
    """Add a leaf."""
    frontier.reach[leaf] = reach
    tournament, node = frontier.tournament, frontier.first + leaf
    priority = min(max(priority, -LARGEST), LARGEST)
    tournament[node] = priority
    while node > 0:
        node = (node - 1) >> SHIFT
        if tournament[node] >= priority:
            return
        tournament[node] = priority


@jit
def close_leaf(frontier, leaf):
    """Take a leaf out."""
    tournament, node = frontier.tournament, frontier.first + leaf
    tournament[node] = CLOSED
    while node > 0:
        node = (node - 1) >> SHIFT
        largest = _largest_child(tournament, node)
        if tournament[node] == largest:
            return
        tournament[node] = largest


@inner_jit
def _largest_child(tournament, node):
    """In four chains of comparisons that need not wait for one another."""
    begin = WIDTH * node + 1
    one, two = tournament[begin], tournament[begin + 1]
    three, four = tournament[begin + 2], tournament[begin + 3]
    for child in range(begin + 4, begin + WIDTH, 4):
        one = tournament[child] if tournament[child] > one else one
        two = tournament[child + 1] if tournament[child + 1] > two else two
        three = tournament[child + 2] if tournament[child + 2] > three else three
        four = tournament[child + 3] if tournament[child + 3] > four else four
    return max(one, two, three, four)


@jit
def least_tied(largest):
    """The least number that ties with the largest one: docs/decisions/0003."""
    return largest - TIE_TOLERANCE * abs(largest)


@jit
def pick(count, ties, draws):
    """Which of several that tie, in order; a random choice moves ``draws`` on, even among one."""
    if ties == FIRST:
        return 0
    if ties == RANDOM:
        return below(draws, count)
    return count - 1


@jit
def choose_tied(values, ties, draws):
    """The place of the largest of several numbers."""
    least = least_tied(values.max())
    count = np.int64(0)  # a plain 0 would be a type of its own, and pick be compiled again
    for value in values:
        count += value >= least
    skip = pick(count, ties, draws)
    place = -1
    while skip >= 0:
        place += 1
        skip -= values[place] >= least
    return place


@jit
def settle_ties(drops):
    """The largest of the first row where it is tied with, and, among these, in each next row.

    -1 elsewhere. Row by row, the drops of a leaf's splits with ever shallower subtrees.
    """
    settled = np.full(drops.shape[1], -1.0)
    kept = np.ones(drops.shape[1], dtype=np.bool_)
    for row in drops:
        largest = -1.0
        for split in range(len(row)):
            if kept[split]:
                largest = max(largest, row[split])
        for split in range(len(row)):
            kept[split] &= row[split] >= least_tied(largest)
    for split in range(len(kept)):
        if kept[split]:
            settled[split] = drops[0].max()
    return settled


@jit
def least_of_best(gains, places, top):
    """The least gain of a split that counts among the ``top`` best; -inf if all of them do.

    That is the one rule by which trees are restricted to the best splits of each node: a split
    counts if it ties with or exceeds gain number ``top``, so if fewer than ``top`` gain more. Split
    number i takes ``places[i]`` places among the best: one for each literal that it stands for, 0
    if it divides the inputs as another one does.
    """
    if places.sum() < top:
        return -np.inf
    least, taken = np.inf, 0
    # from one gain to the next smaller one; gains that a criterion failed to give are no numbers
    while taken < top and least > -np.inf:
        smaller = -np.inf
        for gain in gains:
            if smaller < gain < least:
                smaller = gain
        least = smaller
        for split in range(len(gains)):
            if gains[split] == least:
                taken += places[split]
    return least_tied(least)


@inner_jit
def leaf_priority(address, reach, gain, born, out_refused):
    """A leaf's priority by the function at an address; notes a value that is no number."""
    priority = call_priority(address, reach, gain, born)
    if np.isnan(priority):
        out_refused[0], out_refused[1] = 1.0, priority
    return priority


@jit
def choose_leaf(frontier, ties, draws):
    """The open leaf to split next."""
    tournament, first = frontier.tournament, frontier.first
    least = least_tied(tournament[0])
    if ties in (LAST, FIRST):
        node = 0
        while node < first:
            begin = WIDTH * node + 1
            if ties == LAST:
                for place in range(WIDTH):
                    node = begin + place if tournament[begin + place] >= least else node
            else:
                for place in range(WIDTH - 1, -1, -1):
                    node = begin + place if tournament[begin + place] >= least else node
        return node - first
    tied = _tied_leaves(tournament, first, least)
    if ties == RANDOM:
        return tied[pick(np.int64(len(tied)), ties, draws)]
    weights = np.empty(len(tied))
    for place in range(len(tied)):
        reach = frontier.reach[tied[place]]
        weights[place] = reach if ties == HEAVIEST else -reach
    return tied[choose_tied(weights, np.int64(LAST), draws)]


@inner_jit
def _tied_leaves(tournament, first, least):
    """The leaves of at least this priority, in order of creation."""
    found = [0]
    found.pop()
    waiting = [0]
    while len(waiting):
        node = waiting.pop()
        if node >= first:
            found.append(node - first)
            continue
        for child in range(WIDTH * node + WIDTH, WIDTH * node, -1):
            if tournament[child] >= least:
                waiting.append(child)
    return found


MASK = 2**64 - 1
STEP = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def stream(seed: int) -> np.typing.NDArray[np.uint64]:
    """The state of a generator, which ``below`` moves on."""
    return np.array([seed & MASK], dtype=np.uint64)


@jit
def below(state, count):
    """A number from 0 to ``count - 1``; the bias of the remainder is below 2**-40."""
    state[0] += STEP
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FACTORS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * FACTORS[1]
    mixed = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1)
    return np.int64(mixed % np.uint64(count))


def kernel_priority(rule: Grower) -> Callback | Compiled:
    """A rule's priority for kernels: compiled, or called back if it is a user's."""
    method = rule.priority
    if isinstance(method, MethodType) and method.__self__ is rule and is_own(method.__func__):
        return Compiled(method.__func__, PRIORITY)
    return Callback(
        lambda _, reach, gain, born: checked_priority(rule, reach, gain, born), PRIORITY
    )


def kernel_impurity(criterion: Criterion) -> Callback | Compiled:
    """A criterion's function for kernels, which use it where the code is ``OWN``."""
    if isinstance(criterion, str):
        return Compiled(_unused, IMPURITY)
    return Callback(lambda rate: own_impurity(criterion, rate), IMPURITY)


def _unused(rate: float) -> float:
    """Stands for the impurity of a built-in criterion, whose gains have formulas of their own."""
    return 0.0 * rate


def criterion_code(criterion: Criterion) -> int:
    """A number for kernels."""
    return CRITERION_CODES[criterion] if isinstance(criterion, str) else OWN


class RuleFunctions:
    """Both functions of a rule, compiled or called back; call ``settle`` when a kernel is done."""

    def __init__(self, rule: Grower) -> None:
        self._rule = rule
        self.refused_priority, self.refused_impurity = np.zeros(2), np.zeros(3)
        self.priority, self.impurity = kernel_priority(rule), kernel_impurity(rule.criterion)

    def settle(self) -> None:
        """Raise what the functions raised, and refuse what they must not give."""
        self.priority.settle()
        self.impurity.settle()
        check_refused(self._rule.criterion, self.refused_impurity)
        if self.refused_priority[0]:
            value = float(self.refused_priority[1])
            raise ValueError(f"a priority must be a number; {self._rule!r} gave {value!r}")


def check_refused(criterion: Criterion, refused: FloatArray) -> None:
    """Refuse what ``own_gain`` could not take for an impurity."""
    if refused[0]:
        raise ValueError(refusal(criterion, float(refused[1]), float(refused[2])))


def gains_by(criterion: Criterion) -> Callable[[Problem, Leaf, Splits], FloatArray]:
    """What gives the drop in impurity at a leaf for each split, not weighted by reach."""
    if criterion == "minority":
        return _minority_gains
    if criterion == "squared":
        return _squared_gains
    if isinstance(criterion, str):
        formula = GAINS[criterion]
        return lambda _, __, s: formula(
            s.low_probability, s.branch_probability, s.low_rates, s.high_rates, s.difference
        )
    impurity, refused = kernel_impurity(criterion), np.zeros(3)

    def gains(_: Problem, __: Leaf, s: Splits) -> FloatArray:
        found = own_gains(
            impurity.address,
            s.low_probability,
            s.branch_probability,
            s.low_rates,
            s.high_rates,
            refused,
        )
        impurity.settle()
        check_refused(criterion, refused)
        return found

    return gains


def _minority_gains(problem: Problem, leaf: Leaf, splits: Splits) -> FloatArray:
    low_lead, high_lead = problem.leads(leaf, splits)
    return splits.low_probability * low_lead + splits.branch_probability * high_lead


def _squared_gains(_: Problem, __: Leaf, splits: Splits) -> FloatArray:
    """The drop in variance: what lies between the means of both children."""
    return splits.low_probability * splits.branch_probability * splits.difference[:, 0] ** 2


def built_in_name(rule: Grower) -> str | None:
    """The function that gives a rule's priorities; None if it or the criterion is a user's."""
    if not isinstance(rule.criterion, str) or not isinstance(kernel_priority(rule), Compiled):
        return None
    return rule.priority.__func__.__qualname__  # type: ignore[attr-defined]  # a method
