"""Tests of any set of categories: every one of them, at every leaf anew.

A row is a list of cells as in `literals.py`. A column of texts offers all ways to divide the texts
that a leaf's rows have, missing values among them; other columns offer what `literals.py` says. A
test of texts is named by the set of those that pass it: the side without missing values, else the
side with fewer rows, else the side without the first text.

`check_growth` replays growth step by step: whatever test a learner chose, it must divide the leaf
as its text says, and none of all tests may gain more. `least_errors` is the recurrence as it
stands.
"""

from decimal import localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations

from . import learner
from .impurity import as_decimal
from .literals import literals
from .task_samples import Rows, Task, as_decimal_of, as_exactly

MOST_LISTED = 10  # texts of a leaf up to which a learner must find the best set by any task


def is_text(rows, column) -> bool:
    """Whether a column holds texts."""
    return any(isinstance(row[column], str) for row in rows)


def divisions(rows, inside: Rows, column) -> list[tuple[str, Rows, Rows]]:
    """For each way to divide the texts of some rows, the test's text, low rows and high rows."""
    texts = sorted({rows[row][column] for row in inside} - {None})
    present = [*texts, None] if any(rows[row][column] is None for row in inside) else texts
    found = []
    for size in range(1, len(present)):
        for chosen in combinations(present, size):
            high = tuple(row for row in inside if rows[row][column] in chosen)
            low = tuple(row for row in inside if rows[row][column] not in chosen)
            if None in present:
                right = None not in chosen
            elif len(high) != len(low):
                right = len(high) < len(low)
            else:
                right = present[0] not in chosen
            if right:
                found.append((f"x{column} in {{{', '.join(chosen)}}}", low, high))
    return found


def tests(rows, inside: Rows) -> dict[str, tuple[Rows, Rows]]:
    """All tests of some rows by their texts; those of other columns than texts as ever."""
    found = {}
    for column in range(len(rows[0])):
        if is_text(rows, column):
            found |= {text: (low, high) for text, low, high in divisions(rows, inside, column)}
            continue
        part = [[row[column]] for row in rows]
        for text, test in literals(part, [f"x{column}"], [part[row] for row in inside]):
            high = tuple(row for row in inside if test(part[row]))
            low = tuple(row for row in inside if not test(part[row]))
            if low and high:
                found[text] = low, high
    return found


def check_growth(rows, task: Task, priority, criterion, steps, max_size, least=1, lightest=0):
    """Replay steps of (leaf, text, gain); says what is wrong with them, "" if nothing is.

    ``least`` and ``lightest`` are the fewest rows and the least share of the weight of a leaf.
    """
    everything = tuple(range(len(rows)))
    leaves = [(everything, 0)]  # rows, born

    @cache
    def offered(inside):
        if task.is_pure(inside):
            return {}
        return {
            text: (low, high, task.gain(low, high, criterion))
            for text, (low, high) in tests(rows, inside).items()
            if min(len(low), len(high)) >= least
            and min(task.weight(low), task.weight(high)) >= lightest * task.weight(everything)
        }

    def urgency(number):
        inside, born = leaves[number]
        best = max(gain for _, _, gain in offered(inside).values())
        with localcontext(learner.EIGHTY_DIGITS):
            share = as_decimal(Fraction(task.share(inside, everything, criterion)))
            return priority(share, as_decimal_of(best), born)

    split: list[int] = []
    for leaf, text, gain in steps:
        inside, _ = leaves[leaf]
        if text not in offered(inside):
            return f"{text} is no test of leaf {leaf}"
        low, high, own = offered(inside)[text]
        best = max(each for _, _, each in offered(inside).values())
        if not _ties(own, best) or abs(float(best) - gain) > 1e-9 * max(1, abs(gain)):
            return f"{text} gains {own} at leaf {leaf}, said to be {gain}; the best gains {best}"
        open_leaves = [n for n in range(len(leaves)) if n not in split and offered(leaves[n][0])]
        if not _ties(urgency(leaf), max(map(urgency, open_leaves))):
            return f"leaf {leaf} is not the next"
        split.append(leaf)
        leaves += [(low, 2 * len(split) + 1), (high, 2 * len(split))]
    left = [n for n in range(len(leaves)) if n not in split and offered(leaves[n][0])]
    return f"leaf {left[0]} is not split" if left and len(steps) < max_size else ""


def _ties(value, best) -> bool:
    return value >= best - as_exactly(Fraction(learner.TOLERANCE), best) * abs(best)


def best_division(rows, task: Task, column, criterion, least=1):
    """The largest gain of any division of all rows by a column of texts; None without one."""
    everything = tuple(range(len(rows)))
    gains = [
        task.gain(low, high, criterion)
        for _, low, high in divisions(rows, everything, column)
        if min(len(low), len(high)) >= least
    ]
    return max(gains, default=None)


def least_errors(rows, task: Task, max_size, max_depth=None) -> list[Fraction]:
    """The least mean cost of any tree by size from 0 to max_size."""

    @cache
    def leaf(inside):
        return task.cost(inside)

    @cache
    def sides(inside):
        return set(tests(rows, inside).values())

    @cache
    def best(inside, size, depth):
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
