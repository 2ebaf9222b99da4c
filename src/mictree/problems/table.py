"""Any Boolean function under any joint distribution, on few variables."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mictree._checks import as_fraction
from mictree.formulas import check_names
from mictree.problems.base import EVEN, FloatArray, Leaf, Problem, Splits, settle

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
        self._boxes: dict[int, _Box] = {}

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
    def _scaled_rows(self) -> tuple[np.ndarray, int]:
        """Every row's probability as an integer, and the one denominator of all of them."""
        denominator = math.lcm(*(number.denominator for number in self.probabilities))
        kind = np.int64 if denominator < 2**62 else object
        rows = np.array([int(number * denominator) for number in self.probabilities], dtype=kind)
        return rows, denominator

    @cached_property
    def scaled_masses(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The same as integers, and the one denominator of all of them."""
        rows, denominator = self._scaled_rows
        labels = self.truth_table.astype(rows.dtype)
        return sum_subcubes(rows), sum_subcubes(rows * labels), denominator

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
        variables, rows = [], []
        for variable, low, high in self._halves(leaf.state):
            if low.mass and high.mass:
                # quotients of integers are rounded once, also the difference of both rates
                cross = high.positive * low.mass - low.positive * high.mass
                gained = cross / (low.mass * high.mass)
                mass = low.mass + high.mass
                shares = (low.mass / mass, high.mass / mass)
                variables.append(variable)
                rows.append((*shares, *low.rates, *high.rates, -gained, gained))
        table = np.array(rows).reshape(-1, 8)
        return Splits(
            np.array(variables, dtype=np.intp),
            table[:, 0],
            table[:, 1],
            low_rates=table[:, 2:4],
            high_rates=table[:, 4:6],
            difference=table[:, 6:],
        )

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        sign = 1 if leaf.label == 0 else -1
        leads = {
            variable: (max(sign * low.lead, 0.0), max(sign * high.lead, 0.0))
            for variable, low, high in self._halves(leaf.state)
            if low.mass and high.mass
        }
        pairs = np.array([leads[variable] for variable in splits.variables.tolist()])
        return pairs[:, 0], pairs[:, 1]

    def _halves(self, state: _State) -> "list[tuple[int, _Box, _Box]]":
        """Both halves of a subcube along each of its free variables."""
        return [
            (
                variable,
                self._box(state.subcube - 2 * 3**variable),
                self._box(state.subcube - 3**variable),
            )
            for variable in state.free
        ]

    def _box(self, subcube: int) -> "_Box":
        """The exact masses of a subcube."""
        rows, _ = self._scaled_rows
        if rows.dtype != object:
            masses, positives, _ = self.scaled_masses
            return _Box(int(masses[subcube]), int(positives[subcube]))
        if subcube not in self._boxes:
            # integers of any length for all subcubes at once would fill the memory
            digits = [subcube // 3**place % 3 for place in range(len(self._variables))]
            inside = tuple(slice(None) if digit == 2 else digit for digit in reversed(digits))
            shape = (2,) * len(digits)
            mass = np.asarray(rows.reshape(shape)[inside])
            positive = self.truth_table.reshape(shape)[inside] == 1
            self._boxes[subcube] = _Box(int(mass.sum()), int(mass[positive].sum()))
        return self._boxes[subcube]

    def _leaf(self, state: _State) -> Leaf:
        box = self._box(state.subcube)
        _, denominator = self._scaled_rows
        pure = box.positive in (0, box.mass)
        if state.exact:
            reach = Fraction(box.mass, denominator)
            # a leaf that nothing reaches has no rate; 0 makes it pure and free of error
            rate = Fraction(box.positive, box.mass) if box.mass else Fraction(0)
            return Leaf(reach, rate, pure, state)
        rate = box.positive / box.mass if box.mass else 0.0
        if box.mass and abs(rate - 0.5) < EVEN:
            rate = settle(rate, Fraction(box.positive, box.mass))
        return Leaf(box.mass / denominator, rate, pure, state)


class _Box(NamedTuple):
    """What is in a subcube: integers over the problem's one denominator."""

    mass: int
    positive: int

    @property
    def rates(self) -> tuple[float, float]:
        """Of label 0 and label 1."""
        return (self.mass - self.positive) / self.mass, self.positive / self.mass

    @property
    def lead(self) -> float:
        """P[y = 1] - P[y = 0], rounded once."""
        return (2 * self.positive - self.mass) / self.mass


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
