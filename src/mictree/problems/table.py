"""Any Boolean function, or any noisy labels, under any joint distribution, on few variables.

Bit i of a row number is the value of variable i, so fixing a variable halves an array. A
restriction is a subcube: the rows that agree on some of the variables. Its probabilities are sums
over the subcube, kept as integers over one denominator and rounded once. Functions that sum floats
add in the same order, so that a subcube's sum is the same float whichever computes it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import as_fraction, check_unmasked
from mictree.functions.expression import MAX_VARIABLES, Expression, check_variables
from mictree.functions.read_once import check_names
from mictree.problems.base import (
    EVEN,
    Biases,
    FloatArray,
    Leaf,
    MeanLeaf,
    Problem,
    Splits,
    read_biases,
    settle,
)
from mictree.problems.distributions import product, read_distribution
from mictree.problems.tasks import Errors, Squared, check_loss


class _State(NamedTuple):
    values: tuple[int | None, ...]  # of each variable; None where it is free
    exact: bool


class TableProblem(Problem):
    """A truth table with a probability for every row.

    Parameters
    ----------
    truth_table : 2**n labels, each 0, 1 or P[y = 1 given x]; bit i of the row number is the value
        of variable i
    probabilities : 2**n numbers that sum to one; by default all rows are equally likely. Floats are
        read as written, and scaled to sum to one exactly.
    variables : names; by default ``x1`` to ``xn``
    loss : "squared" for leaves that predict P[y = 1]; an error is then the mean of the squared
        difference from the label, the variance that is left

    Attributes
    ----------
    truth_table : an array of 0 and 1, or of Fractions where some label is neither
    task : what a leaf costs; see ``mictree.problems.tasks``

    Notes
    -----
    With noisy labels a leaf is pure, and never split, when all its inputs share one
    P[y = 1 given x]; the least error that any tree can have is the Bayes error.

    Examples
    --------
    >>> xor = TableProblem([0, 1, 1, 0])
    >>> xor.positive_rate({"x1": 1})
    0.5
    >>> noisy = TableProblem([0.1, 0.9, 0.5, 1])
    >>> noisy.positive_rate({"x1": 0}, exact=True)
    Fraction(3, 10)
    >>> leaf = TableProblem([0.1, 0.9, 0.5, 1], loss="squared").leaf({"x1": 0}, exact=True)
    >>> leaf.label, leaf.error
    (Fraction(3, 10), Fraction(21, 200))
    """

    def __init__(
        self,
        truth_table: Sequence[float | Fraction] | np.typing.ArrayLike,
        probabilities: Iterable[float | Fraction] | None = None,
        variables: Sequence[str] | None = None,
        *,
        loss: str | None = None,
    ) -> None:
        if loss is not None:
            check_loss(loss)
        self.task: Errors | Squared = Errors() if loss is None else Squared()
        self.truth_table: np.typing.NDArray[np.uint8] = _read_labels(truth_table)
        count = len(self.truth_table).bit_length() - 1
        names = [f"x{number}" for number in range(1, count + 1)] if variables is None else variables
        self._variables = check_names(names)
        if len(self._variables) != count:
            raise ValueError(
                f"a table of {len(self.truth_table)} rows has {count} variables; "
                f"{len(self._variables)} names are given"
            )
        rows = len(self.truth_table)
        self.probabilities: tuple[Fraction, ...] = (
            (Fraction(1, rows),) * rows
            if probabilities is None
            else read_distribution(probabilities, rows)
        )

    @classmethod
    def from_formula(
        cls,
        formula: str | Expression,
        bias: Biases = 0.5,
        variables: Sequence[str] | None = None,
        noise: float | Fraction = 0,
        *,
        loss: str | None = None,
    ) -> "TableProblem":
        """Any Boolean expression of independent variables.

        Parameters
        ----------
        formula : such as ``(a | b) & ~c ^ a``; see ``Expression.parse``
        bias : as for ``FormulaProblem``: one number, one for each variable, or a mapping, whose
            extra names become irrelevant variables
        variables : the names in declared order, irrelevant ones among them; by default those of the
            formula in the order in which they are first written
        noise : the probability, from 0 to 1, that a label is wrong, whatever the input; floats are
            read as written
        loss : "squared" for leaves that predict P[y = 1]

        Examples
        --------
        >>> TableProblem.from_formula("a ^ b", bias={"a": 0.5, "b": 0.1, "z": 0.5}).variables
        ('a', 'b', 'z')
        >>> TableProblem.from_formula("a & b", noise=0.1).positive_rate({"a": 0}, exact=True)
        Fraction(1, 10)
        """
        expression = formula if isinstance(formula, Expression) else Expression.parse(formula)
        names = expression.variables if variables is None else tuple(variables)
        biases = read_biases(names, bias)
        table = _with_noise(expression.truth_table(tuple(biases)), noise)
        return cls(table, product(biases), tuple(biases), loss=loss)

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        variables: Sequence[str],
        bias: Biases = 0.5,
        noise: float | Fraction = 0,
        *,
        loss: str | None = None,
    ) -> "TableProblem":
        """Any function of independent variables.

        Parameters
        ----------
        function : called once for each row, with the values of the variables, 0 or 1, in declared
            order; returns a label, True or False, or P[y = 1 given x]
        variables : names in declared order
        bias, noise, loss : as in ``from_formula``

        Examples
        --------
        >>> majority = TableProblem.from_function(lambda a, b, c: a + b + c > 1, ["a", "b", "c"])
        >>> majority.truth_table
        array([0, 0, 0, 1, 0, 1, 1, 1], dtype=uint8)
        """
        names = check_names(variables)
        biases = read_biases(names, bias)
        check_variables(len(biases))
        labels = [
            function(*(row >> place & 1 for place in range(len(names))))
            for row in range(2 ** len(names))
        ]
        # variables that only the biases name come last, so the labels repeat
        table = _with_noise(labels, noise) * 2 ** (len(biases) - len(names))
        return cls(table, product(biases), tuple(biases), loss=loss)

    def __repr__(self) -> str:
        loss = ", loss='squared'" if isinstance(self.task, Squared) else ""
        return (
            f"TableProblem({len(self.truth_table)} rows, variables={list(self._variables)}{loss})"
        )

    @property
    def variables(self) -> tuple[str, ...]:
        return self._variables

    @property
    def masses(self) -> tuple[np.ndarray, np.ndarray]:
        """The probability of every subcube, and of every subcube with label 1, as floats.

        Indexed by the number of the subcube: in base 3, digit i is 0 or 1 where variable i is
        fixed, 2 where it is free.
        """
        mass, positive = self._rows
        return over_subcubes(mass), over_subcubes(positive)

    @cached_property
    def scaled_masses(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The same as integers, and the one denominator of all of them."""
        (mass, positive), denominator = self.scaled_rows
        return over_subcubes(mass), over_subcubes(positive), denominator

    @property
    def settled(self) -> np.typing.NDArray[np.bool_]:
        """The subcubes in which no splits lower the error.

        One label is nowhere the less likely; under squared loss, P[y = 1] is the same everywhere.
        """
        if isinstance(self.task, Squared):
            least, greatest = self._labels
            return over_subcubes(least, np.minimum) >= over_subcubes(greatest, np.maximum)
        above = self._possible & (2 * self.truth_table > 1)
        below = self._possible & (2 * self.truth_table < 1)
        return ~(over_subcubes(above, np.logical_or) & over_subcubes(below, np.logical_or))

    def root(self, exact: bool = False) -> Leaf:
        return self._leaf(_State((None,) * len(self._variables), exact))

    def children(self, leaf: Leaf, variable: int) -> tuple[Leaf, Leaf]:
        state: _State = leaf.state
        values = list(state.values)
        if values[variable] is not None:
            name = self._variables[variable]
            raise ValueError(f"a path tests a variable at most once; {name} is tested twice")
        values[variable] = 0
        low = self._leaf(_State(tuple(values), state.exact))
        values[variable] = 1
        return low, self._leaf(_State(tuple(values), state.exact))

    def splits(self, leaf: Leaf) -> Splits:
        parts = [part for part in self._parts(leaf.state) if part.low.mass and part.high.mass]
        return Splits(
            np.array([part.variable for part in parts], dtype=np.intp),
            # quotients of integers are rounded once, also the difference of the children's rates
            np.array([part.low.mass / part.mass for part in parts]),
            np.array([part.high.mass / part.mass for part in parts]),
            low_rates=np.array([part.low.rates for part in parts]).reshape(-1, 2),
            high_rates=np.array([part.high.rates for part in parts]).reshape(-1, 2),
            difference=np.multiply.outer([part.difference for part in parts], (-1.0, 1.0)),
        )

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        sign = 1 if leaf.label == 0 else -1
        parts = {part.variable: part for part in self._parts(leaf.state)}
        chosen = [parts[variable] for variable in splits.variables.tolist()]
        low = [max(sign * part.low.lead, 0.0) for part in chosen]
        high = [max(sign * part.high.lead, 0.0) for part in chosen]
        return np.array(low), np.array(high)

    def key(self, leaf: Leaf) -> tuple[int | None, ...]:
        """The subcube."""
        return leaf.state.values

    def _parts(self, state: _State) -> "list[Part]":
        """Both halves of a subcube along each of its free variables."""
        free = [place for place, value in enumerate(state.values) if value is None]
        (low, high), (low_positive, high_positive) = (
            kind.tolist() for kind in halves_of(self._restrict(self.scaled_rows[0], state))
        )
        boxes = zip(free, low, low_positive, high, high_positive, strict=True)
        return [Part(place, Box(*halves[:2]), Box(*halves[2:])) for place, *halves in boxes]

    def _leaf(self, state: _State) -> Leaf:
        scaled, denominator = self.scaled_rows
        mass, positive = total(self._restrict(scaled, state)).tolist()
        least, greatest = self._restrict(self._labels, state)
        pure = bool(least.min() >= greatest.max())
        if isinstance(self.task, Squared):
            return self._mean_leaf(state, mass, positive, pure)
        if state.exact:
            # a leaf that nothing reaches has no rate; 0 makes it pure and free of error
            rate = Fraction(positive, mass) if mass else Fraction(0)
            return Leaf(Fraction(mass, denominator), rate, pure, state)
        rate = positive / mass if mass else 0.0
        if mass and abs(rate - 0.5) < EVEN:
            rate = settle(rate, Fraction(positive, mass))
        return Leaf(mass / denominator, rate, pure, state)

    def _mean_leaf(self, state: _State, mass: int, positive: int, pure: bool) -> Leaf:
        """A leaf that predicts its positive rate, from integers over one denominator."""
        denominator = self.scaled_rows[1]
        if not mass:
            return (
                MeanLeaf(Fraction(0), Fraction(0), pure, state)
                if state.exact
                else MeanLeaf(0.0, 0.0, pure, state)
            )
        reach, rate = Fraction(mass, denominator), Fraction(positive, mass)
        if state.exact:
            return MeanLeaf(reach, rate, pure, state, None, rate * (1 - rate))
        variance = positive / mass * ((mass - positive) / mass)
        return MeanLeaf(mass / denominator, positive / mass, pure, state, None, variance)

    def _restrict(self, rows: np.ndarray, state: _State) -> np.ndarray:
        """Those of the rows, along the last axis, that agree with the state."""
        # the first axis is the last variable, as bit i of the row number is variable i
        cube = rows.reshape(len(rows), *(2,) * len(self._variables))
        picked = (slice(None) if value is None else value for value in reversed(state.values))
        return cube[:, *picked].reshape(len(rows), -1)

    @cached_property
    def _rows(self) -> np.typing.NDArray[np.float64]:
        """Each row's probability, and its probability with label 1."""
        mass = np.array([float(chance) for chance in self.probabilities])
        if self.truth_table.dtype != object:
            return np.stack([mass, mass * self.truth_table.astype(float)])
        positive = [
            # the quotient of two integers is rounded once
            (chance.numerator * rate.numerator) / (chance.denominator * rate.denominator)
            for chance, rate in zip(self.probabilities, self.truth_table, strict=True)
        ]
        return np.stack([mass, positive])

    @cached_property
    def scaled_rows(self) -> tuple[np.ndarray, int]:
        """Each row's probability, and that with label 1, as integers over one denominator."""
        chances = self.probabilities
        positive = [
            chance * int(rate) if rate in (0, 1) else chance * rate
            for chance, rate in zip(chances, self.truth_table.tolist(), strict=True)
        ]
        # labels counted in rows need no more than the number of rows
        denominator = math.lcm(*(each.denominator for each in (*chances, *positive)))
        kind = np.int64 if denominator < 2**62 else object
        scaled = [
            [each.numerator * (denominator // each.denominator) for each in masses]
            for masses in (chances, positive)
        ]
        return np.array(scaled, dtype=kind), denominator

    @cached_property
    def _labels(self) -> np.typing.NDArray[np.int64]:
        """Each row's label as a number, twice: for a minimum and for a maximum over rows.

        Rows that never occur have none. Rounding would lose rows of tiny probability, so floats do
        not decide whether a leaf is pure.
        """
        # hashing a Fraction takes longer than hashing its two numbers
        pairs = [(rate.numerator, rate.denominator) for rate in self.truth_table.tolist()]
        known = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
        numbers = np.array([known[pair] for pair in pairs])
        lowest = np.where(self._possible, numbers, len(known))
        return np.stack([lowest, np.where(self._possible, numbers, -1)])

    @cached_property
    def _possible(self) -> np.typing.NDArray[np.bool_]:
        return np.array([chance.numerator > 0 for chance in self.probabilities])


def _read_labels(truth_table: Any) -> np.ndarray:
    check_unmasked(truth_table, "a truth table")
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
    if np.all(ones | (table == 0)):
        labels = ones.astype(np.uint8)
    else:
        # next to a text, numpy would read numbers as texts too
        values = list(truth_table) if table.dtype.kind in "US" else table.tolist()
        labels = np.empty(rows, dtype=object)
        labels[:] = [_read_label(row, label) for row, label in enumerate(values)]
    labels.flags.writeable = False
    return labels


def _with_noise(labels: Any, noise: object) -> Any:
    """Labels of which each is wrong with a probability."""
    chance = _read_noise(noise)
    if chance == 0:
        return labels
    return [rate * (1 - chance) + (1 - rate) * chance for rate in _read_labels(labels).tolist()]


def _read_noise(noise: object) -> Fraction:
    """The probability of a wrong label, from 0 to 1."""
    try:
        chance = Fraction(-1) if isinstance(noise, bool) else as_fraction(noise)
    except (ValueError, OverflowError):  # text, nan, infinity
        chance = Fraction(-1)
    if not 0 <= chance <= 1:
        raise ValueError(f"noise must be a number from 0 to 1; got {noise!r}")
    return chance


def _read_label(row: int, label: object) -> Fraction:
    try:
        rate = as_fraction(int(label) if isinstance(label, np.bool_) else label)
    except (ValueError, OverflowError):  # text, nan, infinity
        rate = Fraction(-1)
    if not 0 <= rate <= 1:
        raise ValueError(
            f"labels must be 0 or 1, or probabilities between them; row {row} has {label!r}"
        )
    return rate


class Box(NamedTuple):
    """The masses of a subcube: integers over the problem's one denominator."""

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


class Part(NamedTuple):
    """A subcube cut in two."""

    variable: int
    low: Box
    high: Box

    @property
    def mass(self) -> int:
        return self.low.mass + self.high.mass

    @property
    def difference(self) -> float:
        """The difference of the positive rates, rounded once."""
        cross = self.high.positive * self.low.mass - self.low.positive * self.high.mass
        return cross / (self.low.mass * self.high.mass)


def over_subcubes(rows: np.ndarray, combine: np.ufunc = np.add) -> np.ndarray:
    """A function's 2**n values, summed or otherwise combined over each of the 3**n subcubes."""
    count = len(rows).bit_length() - 1
    # axis 0 is the last variable, so that variable i has weight 3**i in the flat index
    cube = rows.reshape((2,) * count)
    for axis in range(count):
        both = combine(cube.take([0], axis), cube.take([1], axis))
        cube = np.concatenate([cube, both], axis)
    return cube.reshape(-1)


def total(rows: np.ndarray) -> np.ndarray:
    """The sum along the last axis; it adds in the order of ``over_subcubes``, for equal floats."""
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        rows = rows[..., :half] + rows[..., half:]
    return rows[..., 0]


def halves_of(rows: np.ndarray) -> np.ndarray:
    """For each variable the sums over its value 0 and over its value 1, in the same order.

    Of rows of shape (kinds, 2**k) the result has the shape (kinds, 2, k).
    """
    halves = rows[:, None, :][:, :0]
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        low, high = rows[:, None, :half], rows[:, None, half:]
        halves = np.concatenate([low, high, halves[..., :half] + halves[..., half:]], axis=1)
        rows = low[:, 0] + high[:, 0]
    return halves[..., 0].reshape(len(rows), -1, 2).transpose(0, 2, 1)
