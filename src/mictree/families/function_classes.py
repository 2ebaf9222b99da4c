"""Families of Boolean functions: all, all monotone, or all threshold functions of n variables.

A function is the integer whose bit r is its value in row r. A symmetry renames variables, and may
negate some of them and the output: row r of the image is row ``rows[r]`` of the function, negated
or not. Functions that differ only by a symmetry are one member: the function of least truth table,
with the number of functions that it stands for. A member may ignore some of the variables; they
stay candidates for a test.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import NamedTuple

import numpy as np

from mictree._support.checks import check_count
from mictree._support.jit import jit, run
from mictree.problems.base import read_bias
from mictree.problems.distributions import product
from mictree.problems.table import TableProblem

__all__ = ["FunctionFamily", "functions", "monotone", "threshold"]

HALF = Fraction(1, 2)


@dataclass(frozen=True, eq=False)
class FunctionFamily:
    """Boolean functions of some variables that share a bias, up to symmetry.

    Attributes
    ----------
    name : how it was made, as text
    variables : how many
    bias : P[x_i = 1] of every variable
    tables : the truth table of each member as an integer, ascending; bit r is the value in row r
    counts : how many functions each member stands for, itself included
    negates_output : whether it also stands for negations of those functions

    Examples
    --------
    >>> import mictree as mt
    >>> family = mt.families.monotone(variables=2)
    >>> len(family.tables), family.counts.tolist()
    (5, [1, 1, 2, 1, 1])
    """

    name: str
    variables: int
    bias: Fraction
    tables: np.typing.NDArray[np.uint64]
    counts: np.typing.NDArray[np.int64]
    negates_output: bool

    def __len__(self) -> int:
        return len(self.tables)

    def __repr__(self) -> str:
        return self.name

    @property
    def members(self) -> range:
        """The numbers of the members."""
        return range(len(self))

    @property
    def key(self) -> str:
        """A checksum of all that the family consists of."""
        parts = f"{self.variables} {self.bias} {self.negates_output}".encode()
        return hashlib.sha256(
            parts + self.tables.tobytes() + self.counts.astype(np.int64).tobytes()
        ).hexdigest()

    def texts(self) -> list[str]:
        """The truth table of each member as a hexadecimal number; its lowest bit is row 0."""
        digits = max(1, 2**self.variables // 4)
        return [f"0x{table:0{digits}x}" for table in self.tables.tolist()]

    def table(self, member: int) -> np.typing.NDArray[np.uint8]:
        """A member's truth table; bit i of the row number is the value of variable i."""
        number = check_count(member, "member")
        if number >= len(self):
            raise ValueError(f"members are numbered from 0 to {len(self) - 1:,}; got {number}")
        rows = np.arange(2**self.variables, dtype=np.uint64)
        return (self.tables[number] >> rows & np.uint64(1)).astype(np.uint8)

    def problem(self, member: int) -> TableProblem:
        """A member under its product distribution."""
        return TableProblem(self.table(member), product([self.bias] * self.variables))


def functions(variables: int, bias: float | Fraction = 0.5) -> FunctionFamily:
    """Every Boolean function of so many variables, up to symmetry.

    Symmetries rename variables and negate the output; under the uniform distribution, bias 1/2,
    they also negate inputs.

    Parameters
    ----------
    variables : from 1 to 5; with a bias other than 1/2, to 4
    bias : P[x_i = 1] of every variable

    Examples
    --------
    >>> family = functions(variables=3)
    >>> len(family), family.counts.sum()
    (14, np.int64(256))
    >>> family.problem(7).truth_table
    array([1, 1, 1, 0, 1, 0, 0, 0], dtype=uint8)
    """

    def classes(count: int, uniform: bool) -> Classes:
        return glued_classes(count) if count == 5 else symmetry_classes(count, uniform)

    return _family("functions", variables, bias, (5, 4), classes)


def monotone(variables: int, bias: float | Fraction = 0.5) -> FunctionFamily:
    """Every monotone Boolean function of so many variables, up to renaming.

    Parameters
    ----------
    variables : from 1 to 6
    bias : P[x_i = 1] of every variable

    Examples
    --------
    >>> family = monotone(variables=4)
    >>> len(family), family.counts.sum()
    (30, np.int64(168))
    """
    return _family("monotone", variables, bias, (6, 6), lambda n, _: monotone_classes(n))


def threshold(variables: int, bias: float | Fraction = 0.5) -> FunctionFamily:
    """Every threshold function of so many variables, up to the symmetries of ``functions``.

    A threshold function is 1 where a weighted sum of the variables exceeds some number.

    Parameters
    ----------
    variables : from 1 to 5; with a bias other than 1/2, to 4
    bias : P[x_i = 1] of every variable

    Examples
    --------
    >>> family = threshold(variables=4)
    >>> len(family), family.counts.sum()
    (15, np.int64(1882))
    """
    every = functions(variables, bias)
    chosen = are_threshold(every.tables, every.variables)
    name = every.name.replace("functions", "threshold")
    return replace(every, name=name, tables=every.tables[chosen], counts=every.counts[chosen])


def _family(
    name: str,
    variables: int,
    bias: float | Fraction,
    most: tuple[int, int],
    classes: Callable[[int, bool], tuple],
) -> FunctionFamily:
    """Check the arguments; ``most`` variables for bias 1/2 and for any other."""
    exact = read_bias("every variable", bias)
    limit = most[0] if exact == HALF else most[1]
    try:
        count = check_count(variables, "variables")
    except ValueError:
        count = 0
    if not 1 <= count <= limit:
        raise ValueError(
            f"{name} with bias {float(exact):g} must have 1 to {limit} variables; got {variables!r}"
        )
    shown = f"{name}(variables={count}, bias={float(exact):.12g})"
    tables, counts = classes(count, exact == HALF)
    return FunctionFamily(shown, count, exact, tables, counts, name != "monotone")


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


def symmetry_classes(variables: int, inputs: bool = True) -> Classes:
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
    symmetry_classes = 0
    for table in range(len(class_of)):
        if class_of[table] >= 0:
            continue
        for number in range(len(negate)):
            image = _apply(np.uint64(table), rows[number], negate[number])
            if class_of[image] < 0:
                class_of[image] = symmetry_classes
                out_moved_by[image] = number
        symmetry_classes += 1


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
