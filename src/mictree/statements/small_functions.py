"""Boolean functions of few variables under the uniform distribution, as tuples of labels.

Bit i of a row's number is the value of variable i. All comparisons are between integers: of two
splits of one function, that with the larger difference of the halves' positive labels has the
larger gain, whatever strictly concave impurity measures it. Both halves weigh the same, so the
mean of their rates is given, and a strictly concave function falls as they move apart.
"""

from collections.abc import Iterable, Iterator
from functools import cache

from mictree.families.functions import FunctionFamily

Labels = tuple[int, ...]


def labels_of(family: FunctionFamily, member: int) -> Labels:
    """A member's truth table."""
    return tuple(family.table(member).tolist())


def members(family: FunctionFamily) -> Iterator[tuple[str, Labels, int]]:
    """Each member's truth table as text and as labels, and how many functions it stands for."""
    for member, text in enumerate(family.texts()):
        yield text, labels_of(family, member), int(family.counts[member])


@cache
def variables(labels: Labels) -> range:
    """The numbers of the variables."""
    return range(len(labels).bit_length() - 1)


def is_constant(labels: Labels) -> bool:
    """Whether all labels are the same."""
    return len(set(labels)) == 1


@cache
def halves(labels: Labels, variable: int) -> tuple[Labels, Labels]:
    """The restrictions to both values of a variable."""
    low, high = (
        tuple(label for row, label in enumerate(labels) if row >> variable & 1 == value)
        for value in (0, 1)
    )
    return low, high


def spreads(labels: Labels) -> list[int]:
    """By variable, by how many positive labels the halves differ; it orders the gains."""
    found = []
    for variable in variables(labels):
        low, high = halves(labels, variable)
        found.append(abs(sum(high) - sum(low)))
    return found


def influences(labels: Labels) -> list[int]:
    """By variable, in how many rows a change of it changes the label."""
    return [
        sum(label != labels[row ^ 1 << variable] for row, label in enumerate(labels))
        for variable in variables(labels)
    ]


def largest(values: Iterable[int]) -> list[int]:
    """The places of the largest value."""
    listed = list(values)
    return [place for place, value in enumerate(listed) if value == max(listed)]


@cache
def least_size(labels: Labels) -> int:
    """The fewest splits without error."""
    if is_constant(labels):
        return 0
    return 1 + min(sum(map(least_size, halves(labels, each))) for each in variables(labels))


@cache
def least_height(labels: Labels) -> int:
    """The least height of a tree without error."""
    if is_constant(labels):
        return 0
    return 1 + min(max(map(least_height, halves(labels, each))) for each in variables(labels))


@cache
def greedy_heights(labels: Labels) -> tuple[int, int]:
    """The least and the largest height of greedy trees without error, over choices of ties."""
    if is_constant(labels):
        return 0, 0
    below = [
        [greedy_heights(half) for half in halves(labels, each)] for each in largest(spreads(labels))
    ]
    return (
        1 + min(max(low[0], high[0]) for low, high in below),
        1 + max(max(low[1], high[1]) for low, high in below),
    )


@cache
def influence_sizes(labels: Labels) -> tuple[int, int]:
    """The fewest and the most splits of trees that test the most influential variables."""
    if is_constant(labels):
        return 0, 0
    below = [
        [influence_sizes(half) for half in halves(labels, each)]
        for each in largest(influences(labels))
    ]
    return (
        1 + min(low[0] + high[0] for low, high in below),
        1 + max(low[1] + high[1] for low, high in below),
    )


@cache
def least_errors(labels: Labels, depth: int) -> int:
    """The fewest rows that a tree of this depth gets wrong."""
    wrong = min(sum(labels), len(labels) - sum(labels))
    if not depth or not wrong:
        return wrong
    return min(
        sum(least_errors(half, depth - 1) for half in halves(labels, each))
        for each in variables(labels)
    )


@cache
def late_greedy_errors(labels: Labels, depth: int, greedy: int) -> int:
    """The same if the last ``greedy`` levels are greedy, with the worst ties."""
    wrong = min(sum(labels), len(labels) - sum(labels))
    if not depth or not wrong:
        return wrong
    late = depth <= greedy
    below = [
        sum(late_greedy_errors(half, depth - 1, greedy) for half in halves(labels, each))
        for each in (largest(spreads(labels)) if late else variables(labels))
    ]
    return max(below) if late else min(below)


@cache
def ends_without_error(labels: Labels) -> tuple[bool, bool]:
    """Whether greedy growth without splits of gain 0 does, for some and for all choices of ties."""
    if is_constant(labels):
        return True, True
    found = spreads(labels)
    if not any(found):
        return False, False
    below = [[ends_without_error(half) for half in halves(labels, each)] for each in largest(found)]
    return (
        any(low[0] and high[0] for low, high in below),
        all(low[1] and high[1] for low, high in below),
    )


def spectrum(labels: Labels) -> set[frozenset[int]]:
    """The sets of variables whose parity is correlated with the function."""
    found = set()
    for number in range(len(labels)):
        total = sum(
            (1 - 2 * label) * (-1) ** (row & number).bit_count() for row, label in enumerate(labels)
        )
        if total:
            found.add(frozenset(each for each in variables(labels) if number >> each & 1))
    return found


def is_merged_staircase(labels: Labels) -> bool:
    """Whether the spectrum can be ordered such that each set adds at most one new variable."""
    waiting, known = spectrum(labels), frozenset()
    while waiting:
        ready = {each for each in waiting if len(each - known) <= 1}
        if not ready:
            return False
        known = known.union(*ready)
        waiting -= ready
    return True
