"""Any Boolean function under any joint distribution, on few variables."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mictree._support.checks import as_fraction
from mictree.functions.read_once import check_names
from mictree.problems.base import EVEN, Leaf, Problem, Splits, settle

MAX_VARIABLES = 16  # 3**16 subcubes, 43 million, is what memory holds
SUM_TOLERANCE = 1e-9


class _State(NamedTuple):
    subcube: int  # in base 3, digit i: 0 or 1 where variable i is fixed, 2 where it is free
    free: tuple[int, ...]
    exact: bool


class TableProblem(Problem):
    """A truth table with a probability for every row.

    Parameters
    ----------
    truth_table : 2**n labels, 0 or 1; bit i of the row number is the value of variable i
    probabilities : 2**n numbers that sum to one; by default all rows are equally likely. Floats are
        read as written, and scaled to sum to one exactly.
    variables : names; by default ``x1`` to ``xn``

    Examples
    --------
    >>> xor = TableProblem([0, 1, 1, 0])
    >>> xor.positive_rate({"x1": 1})
    0.5
    """

    def __init__(
        self,
        truth_table: Sequence[int] | np.typing.ArrayLike,
        probabilities: Iterable[float | Fraction] | None = None,
        variables: Sequence[str] | None = None,
    ) -> None:
        self.truth_table = _read_labels(truth_table)
        count = len(self.truth_table).bit_length() - 1
        names = [f"x{number}" for number in range(1, count + 1)] if variables is None else variables
        self._variables = check_names(names)
        if len(self._variables) != count:
            raise ValueError(
                f"a table of {len(self.truth_table)} rows has {count} variables; "
                f"{len(self._variables)} names are given"
            )
        rows = len(self.truth_table)
        self.probabilities = (
            (Fraction(1, rows),) * rows
            if probabilities is None
            else _read_probabilities(probabilities, rows)
        )

    def __repr__(self) -> str:
        return f"TableProblem({len(self.truth_table)} rows, variables={list(self._variables)})"

    @property
    def variables(self) -> tuple[str, ...]:
        return self._variables

    @cached_property
    def masses(self) -> tuple[np.ndarray, np.ndarray]:
        """The probability of every subcube, and of every subcube with label 1, as floats.

        Indexed by the base-3 number of the subcube.
        """
        rows = np.array([float(number) for number in self.probabilities])
        return sum_subcubes(rows), sum_subcubes(rows * self.truth_table)

    @cached_property
    def _mixed(self) -> np.ndarray:
        """Which subcubes hold both labels; rounding would lose rows of tiny probability."""
        possible = np.array([number > 0 for number in self.probabilities])
        ones = sum_subcubes((possible & (self.truth_table == 1)).astype(np.int32))
        zeros = sum_subcubes((possible & (self.truth_table == 0)).astype(np.int32))
        return (ones > 0) & (zeros > 0)

    @cached_property
    def scaled_masses(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The same as integers, and the one denominator of all of them."""
        denominator = math.lcm(*(number.denominator for number in self.probabilities))
        kind = np.int64 if denominator < 2**62 else object
        rows = np.array([int(number * denominator) for number in self.probabilities], dtype=kind)
        return sum_subcubes(rows), sum_subcubes(rows * self.truth_table.astype(kind)), denominator

    def root(self, exact: bool = False) -> Leaf:
        free = range(len(self._variables))
        return self._leaf(_State(3 ** len(free) - 1, tuple(free), exact))

    def children(self, leaf: Leaf, variable: int) -> tuple[Leaf, Leaf]:
        state: _State = leaf.state
        if variable not in state.free:
            name = self._variables[variable]
            raise ValueError(f"a path tests a variable at most once; {name} is tested twice")
        free = tuple(other for other in state.free if other != variable)
        low, high = (state.subcube - 2 * 3**variable, state.subcube - 3**variable)
        return (
            self._leaf(_State(low, free, state.exact)),
            self._leaf(_State(high, free, state.exact)),
        )

    def splits(self, leaf: Leaf) -> Splits:
        state: _State = leaf.state
        mass, positive = self.masses
        variables = np.array(state.free, dtype=np.intp)
        low, high = state.subcube - 2 * 3**variables, state.subcube - 3**variables
        both = (mass[low] > 0) & (mass[high] > 0)
        variables, low, high = variables[both], low[both], high[both]
        return Splits(
            variables,
            branch_probability=mass[high] / mass[state.subcube],
            low_rate=positive[low] / mass[low],
            high_rate=positive[high] / mass[high],
        )

    def _leaf(self, state: _State) -> Leaf:
        if state.exact:
            masses, positives, denominator = self.scaled_masses
            mass = Fraction(int(masses[state.subcube]), denominator)
            positive = Fraction(int(positives[state.subcube]), denominator)
        else:
            mass, positive = (float(values[state.subcube]) for values in self.masses)
        # a leaf that nothing reaches has no rate; 0 makes it pure and free of error
        rate = positive / mass if mass else mass
        if not state.exact and mass and abs(rate - 0.5) < EVEN:
            masses, positives, _ = self.scaled_masses
            rate = settle(
                float(rate), Fraction(int(positives[state.subcube]), int(masses[state.subcube]))
            )
        return Leaf(mass, rate, not self._mixed[state.subcube], state)


def sum_subcubes(rows: np.ndarray) -> np.ndarray:
    """The sum of a function over each of the 3**n subcubes, from its 2**n values."""
    count = len(rows).bit_length() - 1
    # axis 0 is the last variable, so that variable i has weight 3**i in the flat index
    cube = rows.reshape((2,) * count)
    for axis in range(count):
        total = cube.take([0], axis) + cube.take([1], axis)
        cube = np.concatenate([cube, total], axis)
    return cube.reshape(-1)


def _read_labels(truth_table: object) -> np.typing.NDArray[np.uint8]:
    try:
        table = np.asarray(truth_table)
    except ValueError:  # rows of different lengths
        table = np.empty((0, 0))
    rows = len(table) if table.ndim == 1 else 0
    if rows < 1 or rows & (rows - 1):
        raise ValueError(
            f"a truth table must be one row of 2**n labels; its shape is {table.shape}"
        )
    if rows > 2**MAX_VARIABLES:
        raise ValueError(
            f"a table may have at most {MAX_VARIABLES} variables, {2**MAX_VARIABLES} rows; "
            f"it has {rows} rows"
        )
    ones = table == 1
    if not np.all(ones | (table == 0)):
        raise ValueError(f"labels must be 0 or 1; got {table[~(ones | (table == 0))][0]}")
    labels = ones.astype(np.uint8)
    labels.flags.writeable = False
    return labels


def _read_probabilities(
    probabilities: Iterable[float | Fraction], rows: int
) -> tuple[Fraction, ...]:
    values = list(probabilities) if np.iterable(probabilities) else [probabilities]
    if len(values) != rows:
        raise ValueError(
            f"probabilities must have one number for each of the {rows} rows; it has {len(values)}"
        )
    exact = [_read_probability(value) for value in values]
    total = sum(exact, Fraction(0))
    if abs(total - 1) > SUM_TOLERANCE:
        shown = float(total) if total < 10**300 else "more than 1e300"
        raise ValueError(f"probabilities must sum to one; they sum to {shown}")
    return tuple(number / total for number in exact)


def _read_probability(value: object) -> Fraction:
    try:
        probability = as_fraction(value)
    except (ValueError, OverflowError):  # text, nan, infinity
        probability = Fraction(-1)
    if probability < 0:
        raise ValueError(f"probabilities must be numbers, finite and not negative; got {value!r}")
    return probability
