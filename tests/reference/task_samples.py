"""Trees by what their leaves cost: mistakes by a matrix, actions by rows, squared errors.

A row is a list of cells as in `literals.py`: numbers, texts or None where a value is missing. A
task holds a weight for each row and says what a set of rows costs as a leaf, from the costs as they
were given: nothing is subtracted, so a mean cost is what a user sees. Whatever is a float becomes
the number that it shows: 0.1 is 1/10.

`least_errors` is the recurrence as it stands, with each set of rows solved once; `enumerated`
takes no minimum before the end: it lists all trees. `grow` writes out greedy growth. Trees are
labels or (literal, low, high); a label is the position of an action, or a Fraction.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

from . import learner
from .impurity import as_decimal
from .literals import literals

Rows = tuple[int, ...]  # the numbers of some rows, ascending


def as_written(number: Any) -> Fraction:
    """0.3 is 3/10."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


@dataclass(frozen=True)
class Actions:
    """A cost for each row and each action."""

    costs: Sequence[Sequence[Any]]
    weights: Sequence[Any]

    @cached_property
    def exact(self) -> list[list[Fraction]]:
        """The costs of each row, times its weight."""
        return [
            [as_written(cost) * weight for cost in row]
            for row, weight in zip(self.costs, self.exact_weights, strict=True)
        ]

    @cached_property
    def exact_weights(self) -> list[Fraction]:
        return [as_written(weight) for weight in self.weights]

    def weight(self, inside: Rows) -> Fraction:
        """The sum of the rows' weights."""
        return sum((self.exact_weights[row] for row in inside), Fraction(0))

    def by_action(self, inside: Rows) -> list[Fraction]:
        """What each action costs for all of the rows."""
        actions = range(len(self.exact[0]))
        return [sum((self.exact[row][a] for row in inside), Fraction(0)) for a in actions]

    def label(self, inside: Rows) -> int:
        """The cheapest action, the first of several."""
        costs = self.by_action(inside)
        return costs.index(min(costs))

    def cost(self, inside: Rows) -> Fraction:
        """What the cheapest action costs."""
        return min(self.by_action(inside))

    def cost_of(self, row: int, label: int) -> Fraction:
        """What a prediction costs for a single row."""
        return self.exact[row][label]

    def is_pure(self, inside: Rows) -> bool:
        """Whether one action is the cheapest for every row."""
        return self.cost(inside) == sum(min(self.exact[row]) for row in inside)

    def gain(self, low: Rows, high: Rows, criterion: str) -> Fraction:
        """The drop in cost, for a weight of 1."""
        if criterion != "minority":
            raise ValueError(f"costs have no {criterion}")
        whole = low + high
        return (self.cost(whole) - self.cost(low) - self.cost(high)) / self.weight(whole)

    def share(self, inside: Rows, whole: Rows, criterion: str) -> Fraction:
        """The part of the weight that a rule sees."""
        return self.weight(inside) / self.weight(whole)


@dataclass(frozen=True)
class Matrix(Actions):
    """The same for rows with classes 0, 1, ...: what each action costs is the class's."""

    labels: Sequence[int]
    matrix: Sequence[Sequence[Any]]

    @classmethod
    def of(cls, labels: Sequence[int], matrix: Sequence[Sequence[Any]], weights: Sequence[Any]):
        """From a matrix with a row for each class."""
        return cls([matrix[label] for label in labels], weights, labels, matrix)

    def altered(self, inside: Rows) -> list[Fraction]:
        """The weight of each class, times what it costs to miss it.

        That is the sum over the actions of what each costs beyond the cheapest.
        """
        sums = []
        for label, costs in enumerate(self.matrix):
            numbers = [as_written(cost) for cost in costs]
            missing = sum((number - min(numbers) for number in numbers), Fraction(0))
            here = tuple(row for row in inside if self.labels[row] == label)
            sums.append(self.weight(here) * missing)
        return sums

    def gain(self, low: Rows, high: Rows, criterion: str) -> Any:
        """The drop in cost; by another criterion, the drop in impurity of the altered weights."""
        if criterion == "minority":
            return super().gain(low, high, criterion)
        return learner.gain(tuple(self.altered(low)), tuple(self.altered(high)), criterion)

    def share(self, inside: Rows, whole: Rows, criterion: str) -> Fraction:
        """The part of the weight that a rule sees: altered if the criterion sees altered ones."""
        if criterion == "minority":
            return super().share(inside, whole, criterion)
        return sum(self.altered(inside), Fraction(0)) / sum(self.altered(whole), Fraction(0))


@dataclass(frozen=True)
class Squares:
    """A number for each row; a leaf predicts their mean."""

    numbers: Sequence[Any]
    weights: Sequence[Any]

    @cached_property
    def exact(self) -> list[Fraction]:
        return [as_written(number) for number in self.numbers]

    @cached_property
    def exact_weights(self) -> list[Fraction]:
        return [as_written(weight) for weight in self.weights]

    def weight(self, inside: Rows) -> Fraction:
        """The sum of the rows' weights."""
        return sum((self.exact_weights[row] for row in inside), Fraction(0))

    def label(self, inside: Rows) -> Fraction:
        """The mean."""
        total = sum((self.exact_weights[row] * self.exact[row] for row in inside), Fraction(0))
        return total / self.weight(inside)

    def cost(self, inside: Rows) -> Fraction:
        """The sum of squared distances from the mean."""
        mean = self.label(inside)
        return sum((self.cost_of(row, mean) for row in inside), Fraction(0))

    def cost_of(self, row: int, label: Any) -> Fraction:
        """What a prediction costs for a single row."""
        return self.exact_weights[row] * (self.exact[row] - Fraction(label)) ** 2

    def is_pure(self, inside: Rows) -> bool:
        """Whether all numbers are one."""
        return len({self.exact[row] for row in inside}) == 1

    def gain(self, low: Rows, high: Rows, criterion: str) -> Fraction:
        """The drop in squared error, for a weight of 1."""
        if criterion != "squared":
            raise ValueError(f"numbers have no {criterion}")
        whole = low + high
        return (self.cost(whole) - self.cost(low) - self.cost(high)) / self.weight(whole)

    def share(self, inside: Rows, whole: Rows, criterion: str) -> Fraction:
        """The part of the weight that a rule sees."""
        return self.weight(inside) / self.weight(whole)


Task = Actions | Matrix | Squares


def zero_one(labels: Sequence[int], weights: Sequence[Any]) -> Matrix:
    """The task of plain classification."""
    classes = range(max(labels) + 1)
    return Matrix.of(labels, [[int(one != other) for other in classes] for one in classes], weights)


def mean_cost(task: Task, predictions: Sequence[Any]) -> Fraction:
    """The exact error of a prediction for each row."""
    total = sum((task.cost_of(row, label) for row, label in enumerate(predictions)), Fraction(0))
    return total / task.weight(tuple(range(len(predictions))))


def tree_error(tree: Any, answers: Mapping[Any, Sequence[Any]], task: Task) -> Fraction:
    """The exact error of a given tree; ``answers`` has for each test what every row answers."""

    def predict(node: Any, row: int) -> Any:
        while isinstance(node, tuple):
            test, low, high = node
            node = high if answers[test][row] else low
        return node

    return mean_cost(task, [predict(tree, row) for row in range(len(task.weights))])


def divisions(rows: Sequence[Sequence[Any]]) -> list[frozenset[int]]:
    """For each literal that all rows offer, the rows that pass it."""
    names = [f"x{number}" for number in range(len(rows[0]))]
    return [
        frozenset(number for number, row in enumerate(rows) if test(row))
        for _, test in literals(rows, names)
    ]


def divided(tests: Sequence[frozenset[int]], inside: Rows, least: int) -> set[tuple[Rows, Rows]]:
    """All ways in which a test divides some rows, with ``least`` rows or more on either side."""
    sides = set()
    for passing in tests:
        low = tuple(row for row in inside if row not in passing)
        high = tuple(row for row in inside if row in passing)
        if min(len(low), len(high)) >= max(1, least):
            sides.add((low, high))
    return sides


def enumerated(
    rows: Sequence[Sequence[Any]],
    task: Task,
    max_size: int,
    max_depth: int | None = None,
    least: int = 1,
) -> list[Fraction]:
    """The least mean cost by size from 0 to max_size, by trying every tree.

    ``least`` is the smallest number of rows that a leaf may have.
    """
    tests = divisions(rows)

    def trees(inside: Rows, size: int, depth: int) -> Iterator[tuple[Rows, ...]]:
        """The leaves of every tree with exactly so many splits."""
        if size == 0:
            yield (inside,)
        elif depth > 0:
            for low, high in divided(tests, inside, least):
                for low_size in range(size):
                    for left in trees(low, low_size, depth - 1):
                        for right in trees(high, size - 1 - low_size, depth - 1):
                            yield left + right

    everything = tuple(range(len(rows)))
    depth = max_size if max_depth is None else max_depth
    best: list[Fraction] = []
    for size in range(max_size + 1):
        costs = [sum(map(task.cost, leaves)) for leaves in trees(everything, size, depth)]
        best.append(min([*best[-1:], *(cost / task.weight(everything) for cost in costs)]))
    return best


def least_errors(
    rows: Sequence[Sequence[Any]],
    task: Task,
    max_size: int,
    max_depth: int | None = None,
    least: int = 1,
) -> list[Fraction]:
    """The same by the recurrence."""
    tests = divisions(rows)

    @cache
    def leaf(inside: Rows) -> Fraction:
        return task.cost(inside)

    @cache
    def sides(inside: Rows) -> set[tuple[Rows, Rows]]:
        return divided(tests, inside, least)

    @cache
    def best(inside: Rows, size: int, depth: int) -> Fraction:
        costs = [leaf(inside)]
        if size > 0 and depth > 0:
            for low, high in sides(inside):
                for low_size in range(size):
                    low_cost = best(low, low_size, depth - 1)
                    costs.append(low_cost + best(high, size - 1 - low_size, depth - 1))
        return min(costs)

    everything = tuple(range(len(rows)))
    depth = max_size if max_depth is None else max_depth
    total = task.weight(everything)
    return [best(everything, size, min(depth, size)) / total for size in range(max_size + 1)]


@dataclass(frozen=True)
class Grown:
    """Greedy growth, by size."""

    trees: list[Any]
    errors: list[Fraction]
    leaves: list[int]  # for each split the number of the leaf, in order of creation


def grow(
    rows: Sequence[Sequence[Any]],
    task: Task,
    priority: Callable[..., Any],
    criterion: str,
    ties: str,
    max_size: int,
    split: int = 2,
    least: int = 1,
    depth: float = math.inf,
    min_gain: Any = 0,
    ahead: int = 1,
) -> Grown:
    """Greedy trees, every literal, leaf and gain anew at every step.

    ``priority`` is a function as in `loops.py`; ``ahead`` is the depth of the subtrees whose drop
    is a split's gain. A leaf that costs what its rows cost at least is pure, and is not split.
    """
    names = [f"x{number}" for number in range(len(rows[0]))]
    everything = tuple(range(len(rows)))
    leaves: list[tuple[Rows, int, int]] = [(everything, 0, 0)]  # rows, depth, born
    grown = Grown([], [], [])
    made: list[tuple[int, str]] = []
    while True:
        open_leaves = [number for number in range(len(leaves)) if number not in grown.leaves]
        grown.trees.append(_assemble(made, [task.label(inside) for inside, _, _ in leaves]))
        cost = sum((task.cost(leaves[number][0]) for number in open_leaves), Fraction(0))
        grown.errors.append(cost / task.weight(everything))
        offers = []
        for number in open_leaves:
            inside, deep, born = leaves[number]
            drops = _drops(rows, names, task, criterion, inside, split, least, depth - deep, ahead)
            if not drops or max(drops)[0][0] < as_exactly(min_gain, max(drops)[0][0]):
                continue
            best = max(drop[0] for drop, _ in drops)
            for level in range(ahead):  # the deepest subtrees first
                largest = max(drop[level] for drop, _ in drops)
                drops = [each for each in drops if _ties(each[0][level], largest)]
            place = drops[0 if ties == "first" else -1][1]
            share = as_decimal(task.share(inside, everything, criterion))
            with localcontext(learner.EIGHTY_DIGITS):
                urgency = priority(share, as_decimal_of(best), born)
            offers.append((urgency, share, number, place))
        if not offers or len(grown.trees) > max_size:
            for each in (grown.trees, grown.errors):
                each += each[-1:] * (max_size + 1 - len(each))
            return grown
        number, place = _choose(offers, ties)
        inside, deep, _ = leaves[number]
        text, test = literals(rows, names, [rows[row] for row in inside])[place]
        made.append((number, text))
        grown.leaves.append(number)
        low = tuple(row for row in inside if not test(rows[row]))
        high = tuple(row for row in inside if test(rows[row]))
        leaves += [(low, deep + 1, 2 * len(made) + 1), (high, deep + 1, 2 * len(made))]


def _drops(rows, names, task, criterion, inside, split, least, depth, levels):
    """For each test its place and the largest drops of subtrees of depth ``levels``, ..., 1."""
    found = []
    if depth <= 0 or len(inside) < split or task.is_pure(inside):
        return found
    for place, (_, test) in enumerate(literals(rows, names, [rows[row] for row in inside])):
        low = tuple(row for row in inside if not test(rows[row]))
        high = tuple(row for row in inside if test(rows[row]))
        if min(len(low), len(high)) < max(1, least):
            continue
        drops = [task.gain(low, high, criterion)] * levels
        for part in (low, high) if levels > 1 else ():
            below = _drops(rows, names, task, criterion, part, split, least, depth - 1, levels - 1)
            share = task.share(part, inside, criterion)
            for level in range(levels - 1) if below else ():
                more = max(drop[level] for drop, _ in below)
                drops[level] += as_exactly(share, more) * more
        found.append((drops, place))
    return found


def _choose(offers, ties):
    """The leaf and the test of the largest urgency."""
    urgent = max(offer[0] for offer in offers)
    offers = [offer for offer in offers if _ties(offer[0], urgent)]
    if ties in ("heaviest", "lightest"):
        sign = 1 if ties == "heaviest" else -1
        most = max(offer[1] ** sign for offer in offers)
        offers = [offer for offer in offers if _ties(offer[1] ** sign, most)]
    return offers[0 if ties == "first" else -1][2:]


def _ties(value: Any, best: Any) -> bool:
    return value >= best - as_exactly(Fraction(learner.TOLERANCE), best) * abs(best)


def as_exactly(number: Any, like: Any) -> Any:
    """A Fraction, or a Decimal where the other number is one."""
    exact = as_written(number)
    return exact if isinstance(like, Fraction) else as_decimal(exact)


def as_decimal_of(number: Any) -> Any:
    """A gain as the number of many digits that rules take."""
    return as_decimal(number) if isinstance(number, Fraction) else number


def _assemble(made: Sequence[tuple[int, str]], labels: Sequence[Any], leaf: int = 0) -> Any:
    """The nested tree of the splits so far."""
    for step, (number, text) in enumerate(made):
        if number == leaf:
            low = _assemble(made, labels, 2 * step + 1)
            return (text, low, _assemble(made, labels, 2 * step + 2))
    return labels[leaf]
