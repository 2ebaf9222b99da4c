"""Boolean functions up to symmetry: the least truth table of each class, and the class's size.

A function of n variables is the integer whose bit r is its value in row r. A symmetry renames
variables, and may negate some of them and the output: row r of the image is row ``rows[r]`` of the
function, negated or not.
"""

from itertools import permutations
from math import factorial
from typing import NamedTuple

import numpy as np

from mictree._support.jit import jit, run

Integers = np.typing.NDArray[np.int64]
Tables = np.typing.NDArray[np.uint64]


class Classes(NamedTuple):
    """One function of each class, ascending, and how many functions the class has."""

    tables: Tables
    counts: Integers


class Symmetries(NamedTuple):
    """A group that acts on the functions of some variables."""

    rows: Integers  # shape (symmetries, 2**variables)
    negate: np.typing.NDArray[np.uint64]  # 0 or 2**(2**variables) - 1 for each symmetry

    @classmethod
    def of(cls, variables: int, inputs: bool, output: bool) -> "Symmetries":
        """All renamings, with the negations of inputs and of the output if asked for."""
        row = np.arange(2**variables)
        renamed = [
            sum(((row >> old & 1) << new for new, old in enumerate(order)), 0 * row)
            for order in permutations(range(variables))
        ]
        flips = range(2**variables if inputs else 1)
        rows = np.array([moved ^ flip for moved in renamed for flip in flips])
        everything = np.uint64(2 ** (2**variables) - 1)
        negate = np.repeat(np.array([0, everything], dtype=np.uint64)[: 1 + output], len(rows))
        return cls(np.tile(rows, (1 + output, 1)), negate)


def classes(variables: int, inputs: bool = True) -> Classes:
    """All functions of at most 4 variables up to renaming, negated output and negated inputs."""
    _, _, tables, counts = _orbits(variables, Symmetries.of(variables, inputs, output=True))
    return Classes(tables, counts)


def glued_classes(variables: int) -> Classes:
    """The same with negated inputs, for at most 5 variables.

    A function consists of two functions of one variable less: the value of the last variable says
    which. In the least table of a class, the upper half is the least table of its own class. So
    only those are tried, and below each only the lower halves that are least under the symmetries
    that leave the upper half as it is. Such a pair is the least of its class unless another
    variable, used as the last one, gives a lesser pair.
    """
    fewer = variables - 1
    symmetries = Symmetries.of(fewer, inputs=True, output=True)
    class_of, moved_by, tables, _ = _orbits(fewer, symmetries)
    counts = np.zeros((len(tables), len(class_of)), dtype=np.int16)
    work = len(tables) * len(class_of) * len(symmetries.negate)
    run(_glue, len(tables), work, variables, tables, class_of, moved_by, *symmetries, counts)
    upper, lower = np.nonzero(counts)
    glued = tables[upper] << np.uint64(2**fewer) | lower.astype(np.uint64)
    return Classes(glued, counts[upper, lower].astype(np.int64))


def monotone_classes(variables: int) -> Classes:
    """All monotone functions of at most 6 variables up to renaming."""
    everything = np.array([0, 1], dtype=np.uint64)  # all monotone functions
    found = Classes(everything, np.ones(2, dtype=np.int64))
    for count in range(1, variables + 1):
        half = np.uint64(2 ** (count - 1))
        rows = Symmetries.of(count, inputs=False, output=False).rows
        # a table is monotone when both halves are, and the lower one implies the upper one
        pairs = [upper << half | everything[everything & ~upper == 0] for upper in found.tables]
        candidates = np.concatenate(pairs)
        fixed = np.empty(len(candidates), dtype=np.int64)
        run(_count_fixing, len(candidates), rows.size * len(candidates), candidates, rows, fixed)
        least = fixed > 0
        order = np.argsort(candidates[least])
        found = Classes(candidates[least][order], factorial(count) // fixed[least][order])
        if count < variables:
            pairs = [upper << half | everything[everything & ~upper == 0] for upper in everything]
            everything = np.concatenate(pairs)
    return found


def are_threshold(tables: Tables, variables: int) -> np.typing.NDArray[np.bool_]:
    """Which functions are threshold functions, for at most 8 variables.

    Up to there those are the functions for which no two rows of value 1 have the same sum, as
    vectors, as two rows of value 0 (Muroga, Threshold Logic and its Applications, 1971).
    """
    row = np.arange(2**variables)
    # digits of a sum of two rows are 0, 1 or 2, so numbers in base 3 are equal only if vectors are
    codes = sum(((row >> place & 1) * 3**place for place in range(variables)), 0 * row)
    out = np.empty(len(tables), dtype=bool)
    work = len(tables) * 4**variables
    run(_are_threshold, len(tables), work, tables, codes, 3**variables, out)
    return out


def _orbits(variables: int, symmetries: Symmetries) -> tuple[Integers, Integers, Tables, Integers]:
    """Of every function its class and a symmetry to it from the least; the least ones; sizes."""
    count = 2 ** (2**variables)
    class_of, moved_by = np.full(count, -1), np.empty(count, dtype=np.int64)
    _fill_orbits(*symmetries, class_of, moved_by)
    _, first, sizes = np.unique(class_of, return_index=True, return_counts=True)
    return class_of, moved_by, first.astype(np.uint64), sizes


@jit
def _apply(table, rows, negate):
    """The image of a function under a symmetry."""
    image = np.uint64(0)
    for row in range(len(rows)):
        image |= (table >> np.uint64(rows[row]) & np.uint64(1)) << np.uint64(row)
    return image ^ negate


@jit
def _undo(image, rows, negate):
    """The function that a symmetry moves to the image."""
    table = np.uint64(0)
    source = np.uint64(image) ^ negate
    for row in range(len(rows)):
        table |= (source >> np.uint64(row) & np.uint64(1)) << np.uint64(rows[row])
    return table


@jit
def _fill_orbits(rows, negate, class_of, out_moved_by):
    """Number the classes by their least functions; ``class_of`` must be -1 everywhere."""
    classes = 0
    for table in range(len(class_of)):
        if class_of[table] >= 0:
            continue
        for number in range(len(negate)):
            image = _apply(np.uint64(table), rows[number], negate[number])
            if class_of[image] < 0:
                class_of[image] = classes
                out_moved_by[image] = number
        classes += 1


@jit
def _cofactor(table, variable, value, variables):
    """A function with one variable fixed, as a function of the others."""
    table >>= np.uint64(value << variable)
    for place in range(variable, variables):
        # keep the rows in which bit `place` is 0; they move together below
        block = (np.uint64(1) << np.uint64(1 << place)) - np.uint64(1)
        width = 2 << place
        while width < 1 << variables:
            block |= block << np.uint64(width)
            width *= 2
        if place > variable:
            table |= table >> np.uint64(1 << (place - 1))
        table &= block
    return table


@jit
def _glue(start, stop, variables, tables, class_of, moved_by, rows, negate, out_counts):
    """Fill ``out_counts[upper class, lower half]``: the size of the class, 0 if not the least."""
    symmetries = 2 * variables * len(negate)
    for number in range(start, stop):
        upper = tables[number]
        least = np.full(len(class_of), -1, dtype=np.int64)
        fixed = np.zeros(len(class_of), dtype=np.int64)
        keeping = np.empty(len(negate), dtype=np.int64)
        kept = 0
        for each in range(len(negate)):
            if _apply(upper, rows[each], negate[each]) == upper:
                keeping[kept] = each
                kept += 1
        for lower in range(len(class_of)):
            if least[lower] >= 0:
                continue
            for each in keeping[:kept]:
                image = _apply(np.uint64(lower), rows[each], negate[each])
                least[image] = lower
                fixed[lower] += image == np.uint64(lower)
        for lower in range(len(class_of)):
            if least[lower] != lower:
                continue
            table = upper << np.uint64(1 << (variables - 1)) | np.uint64(lower)
            ways = 0  # of choosing the last variable and its negation that give the same pair
            for choice in range(2 * variables):
                variable, value = choice // 2, choice % 2
                first = _cofactor(table, variable, value, variables)
                if class_of[first] < number:
                    ways = 0
                    break
                if class_of[first] == number:
                    second = _cofactor(table, variable, 1 - value, variables)
                    each = moved_by[first]
                    moved = least[_undo(second, rows[each], negate[each])]
                    if moved < lower:
                        ways = 0
                        break
                    ways += moved == lower
            if ways:
                out_counts[number, lower] = symmetries // (ways * fixed[lower])


@jit
def _count_fixing(start, stop, tables, rows, out_fixed):
    """How many renamings leave each function as it is; 0 where one makes it less."""
    for number in range(start, stop):
        table = tables[number]
        fixed = 0
        for each in range(len(rows)):
            change = np.int64(0)  # of the uppermost row in which the image differs
            row = len(rows[each]) - 1
            while row >= 0 and change == 0:
                before = np.int64(table >> np.uint64(row) & np.uint64(1))
                change = np.int64(table >> np.uint64(rows[each, row]) & np.uint64(1)) - before
                row -= 1
            if change < 0:
                fixed = 0
                break
            fixed += change == 0
        out_fixed[number] = fixed


@jit
def _are_threshold(start, stop, tables, codes, sums, out):
    """Whether no sum of two rows of value 1 is one of two rows of value 0."""
    for number in range(start, stop):
        table = tables[number]
        seen = np.zeros((2, sums), dtype=np.bool_)
        for one in range(len(codes)):
            value = table >> np.uint64(one) & np.uint64(1)
            for other in range(one, len(codes)):
                if table >> np.uint64(other) & np.uint64(1) == value:
                    seen[value, codes[one] + codes[other]] = True
        out[number] = not np.any(seen[0] & seen[1])
