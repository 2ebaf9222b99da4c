"""Boolean functions as tuples of labels; bit i of a row number is variable i."""

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import prod

from .splits import gain, is_tied
from .table import Table

Labels = tuple[int, ...]


def all_functions(count: int) -> list[Labels]:
    """Every Boolean function of so many variables."""
    return list(product((0, 1), repeat=2**count))


def as_integer(labels: Labels) -> int:
    """Bit r is the label of row r."""
    return sum(label << row for row, label in enumerate(labels))


def images(labels: Labels, inputs: bool, output: bool) -> set[Labels]:
    """All functions that renaming and negating make of one."""
    count = len(labels).bit_length() - 1
    found = set()
    for order in permutations(range(count)):
        for flips in product((0, 1), repeat=count) if inputs else [(0,) * count]:
            image = []
            for row in range(len(labels)):
                values = [row >> variable & 1 for variable in range(count)]
                source = [values[order[place]] ^ flips[place] for place in range(count)]
                image.append(labels[sum(value << place for place, value in enumerate(source))])
            found.add(tuple(image))
            if output:
                found.add(tuple(1 - label for label in image))
    return found


def classes(functions: list[Labels], inputs: bool, output: bool) -> dict[int, int]:
    """For each class of functions its least integer, and how many functions it has."""
    orbits = {frozenset(images(labels, inputs, output)) for labels in functions}
    return {min(map(as_integer, orbit)): len(orbit) for orbit in orbits}


def is_monotone(labels: Labels) -> bool:
    """Whether no label falls when a variable rises."""
    rows = range(len(labels))
    return all(labels[low] <= labels[high] for low in rows for high in rows if low & high == low)


def threshold_functions(count: int, largest: int) -> set[Labels]:
    """All functions `weights . x > limit` with integer weights of at most some absolute value."""
    found = set()
    weight = range(-largest, largest + 1)
    for weights in product(weight, repeat=count):
        sums = [
            sum(w for place, w in enumerate(weights) if row >> place & 1) for row in range(2**count)
        ]
        for limit in {*sums, min(sums) - 1}:
            found.add(tuple(int(value > limit) for value in sums))
    return found


def product_table(labels: Labels, biases: tuple[Fraction, ...]) -> Table:
    """A function of independent variables."""
    weights = [
        prod(bias if row >> place & 1 else 1 - bias for place, bias in enumerate(biases))
        for row in range(len(labels))
    ]
    return Table(tuple(f"x{place}" for place in range(len(biases))), labels, tuple(weights))


@cache
def sizes(
    labels: Labels, criterion: str = "entropy", biases: tuple[Fraction, ...] | None = None
) -> tuple[int, int, int]:
    """Splits of the smallest tree without error, and of the smallest and largest greedy tree.

    By default all biases are 1/2.
    """
    if len(set(labels)) == 1:
        return 0, 0, 0
    count = len(labels).bit_length() - 1
    biases = biases or (Fraction(1, 2),) * count
    table = product_table(labels, biases)
    gains = [gain(table, (), name, criterion) for name in table.names]
    perfect, greedy_best, greedy_worst = [], [], []
    for variable in range(count):
        low, high = (
            sizes(
                tuple(label for row, label in enumerate(labels) if row >> variable & 1 == value),
                criterion,
                biases[:variable] + biases[variable + 1 :],
            )
            for value in (0, 1)
        )
        perfect.append(1 + low[0] + high[0])
        if is_tied(gains[variable], max(gains)):
            greedy_best.append(1 + low[1] + high[1])
            greedy_worst.append(1 + low[2] + high[2])
    return min(perfect), min(greedy_best), max(greedy_worst)
