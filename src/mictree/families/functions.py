"""Families of Boolean functions: all, all monotone, or all threshold functions of n variables.

Functions that differ only by a symmetry are one member, the function of least truth table. A member
may ignore some of the variables; they stay candidates for a test.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mictree._support.checks import check_count
from mictree.families import symmetry
from mictree.problems.biases import read_bias
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

    def classes(count: int, uniform: bool) -> symmetry.Classes:
        return symmetry.glued_classes(count) if count == 5 else symmetry.classes(count, uniform)

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
    return _family("monotone", variables, bias, (6, 6), lambda n, _: symmetry.monotone_classes(n))


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
    chosen = symmetry.are_threshold(every.tables, every.variables)
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
