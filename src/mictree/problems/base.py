"""The interface of a distribution over (x, y): leaves, splits and their probabilities.

A problem answers exact questions about restrictions. A leaf is a restriction with its reach, its
positive rate and its label; ``splits`` gives the probabilities on both sides of every test. No
probability of a split is a difference of nearly equal numbers, so gains keep a small relative
error. ``read_biases`` reads the biases of a product distribution as a user gives them.
"""

import math
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from mictree._support.checks import as_fraction
from mictree.functions.read_once import check_names
from mictree.tree import Source, Tree

Probability = float | Fraction
FloatArray = np.typing.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A restriction of a problem: the inputs that reach one leaf of a tree.

    Its probabilities are floats, or Fractions below ``root(exact=True)``.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> root = problem.root()
    >>> root.reach, root.positive_rate, root.error
    (1.0, 0.625, 0.375)
    """

    reach: Probability  # p(l)
    positive_rate: Probability  # q(l)
    pure: bool  # no two inputs that reach the leaf differ in their label
    state: Any  # for the problem that made the leaf
    class_rates: tuple[Probability, ...] | None = None  # of data, which may have many classes

    @property
    def label(self) -> int:
        """The majority label; 1 when both are equally likely, but on data the first class."""
        if self.class_rates is not None:
            return self.class_rates.index(max(self.class_rates))
        return int(2 * self.positive_rate >= 1)

    @property
    def error(self) -> Probability:
        """The leaf's share of a tree's error, ``reach * minority(positive_rate)``."""
        return self.misclassified(self.label)

    def misclassified(self, label: int) -> Probability:
        """The probability of reaching the leaf and having another label than the given one."""
        if self.class_rates is not None and label < len(self.class_rates):
            others = self.class_rates[:label] + self.class_rates[label + 1 :]
            return self.reach * sum(others)  # 1 - rate would cancel
        if self.class_rates is not None or label > 1:
            return self.reach  # a label that never occurs
        return self.reach * ((1 - self.positive_rate) if label else self.positive_rate)


SAME_COST = 2.0**-40  # costs whose relative difference is smaller may differ by rounding alone


@dataclass(frozen=True, slots=True)
class CostLeaf(Leaf):
    """A leaf whose label is the action of least cost."""

    action_costs: tuple[Probability, ...] = ()  # mean regrets: each row's least cost is subtracted
    base: Probability = 0.0  # the mean of what was subtracted

    @property
    def label(self) -> int:
        """The cheapest action, the first of several; rounding makes none cheaper."""
        least = min(self.action_costs)
        if not isinstance(least, Fraction):
            least *= 1 + SAME_COST
        return next(place for place, cost in enumerate(self.action_costs) if cost <= least)

    @property
    def error(self) -> Probability:
        """The leaf's share of a tree's mean cost."""
        return self.misclassified(self.label)

    def misclassified(self, label: int) -> Probability:
        """The leaf's share of the mean cost if it predicts the given action."""
        if not 0 <= label < len(self.action_costs):
            raise ValueError(
                f"a label must be one of {len(self.action_costs)} actions; got {label}"
            )
        return self.reach * (self.action_costs[label] + self.base)


SAME_MEAN = Fraction(1, 2**40)  # of the root mean square: how far rounding may move a mean


@dataclass(frozen=True, slots=True)
class MeanLeaf(Leaf):
    """A leaf that predicts a number: the mean of its labels, which is its ``positive_rate``."""

    variance: Probability = 0.0

    @property
    def label(self) -> Any:
        """The mean, as a float; a Fraction below an exact root."""
        return self.positive_rate

    @property
    def error(self) -> Probability:
        """The leaf's share of a tree's mean squared error."""
        return self.reach * self.variance

    def misclassified(self, label: Any) -> Probability:
        """The leaf's share of the mean squared error if it predicts the given number.

        A float stands for the mean if it differs from it by rounding at most.
        """
        mean = self.positive_rate
        if isinstance(mean, Fraction):
            label = Fraction(label)
        excess = (label - mean) ** 2
        if excess <= SAME_MEAN**2 * (self.variance + mean**2):
            return self.error
        return self.reach * (self.variance + excess)


def check_problem(problem: Any) -> Any:
    """Refuse what has no leaves, such as the text of a formula."""
    if hasattr(problem, "root"):
        return problem
    hint = f": write FormulaProblem({problem!r})" if isinstance(problem, str) else ""
    raise TypeError(
        "a problem must be a FormulaProblem, TableProblem, SampleProblem or another Problem; "
        f"got {type(problem).__name__}{hint}"
    )


# Both labels' rates differ by less: their difference is computed exactly, as it decides gains.
NEAR_EVEN = 1e-3
EVEN = 1e-9  # rates this close to 1/2 are settled exactly, as they decide a label


def settle(rate: float, exact: Fraction) -> float:
    """A float on the same side of 1/2 as the exact rate, or 1/2 itself."""
    if exact == Fraction(1, 2):
        return 0.5
    if exact < Fraction(1, 2):
        return min(rate, math.nextafter(0.5, 0))
    return max(rate, math.nextafter(0.5, 1))


@dataclass(frozen=True, slots=True)
class Splits:
    """The splits that a leaf offers: parallel arrays, variables in declared order.

    Every number has a small relative error; none is a difference of nearly equal numbers. Rates
    have the shape (splits, classes): of label 0 and of label 1, or of all classes of data.
    """

    variables: np.typing.NDArray[np.intp]  # positions in problem.variables
    low_probability: FloatArray  # 1 - tau_i
    branch_probability: FloatArray  # tau_i
    low_rates: FloatArray  # the positive one is q(l_0)
    high_rates: FloatArray  # the positive one is q(l_1)
    difference: FloatArray  # high_rates - low_rates

    def take(self, places: np.typing.NDArray[np.intp]) -> "Splits":
        """Some of them."""
        return Splits(*(getattr(self, field.name)[places] for field in fields(self)))


class Problem(Protocol):
    """A joint distribution over (x, y) with exact probabilities.

    A grower needs ``root``, ``children`` and ``splits``. The other methods take a restriction, a
    mapping of variable names to 0 or 1.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> problem.positive_rate({"a": 1}), problem.reach({"a": 1, "b": 0})
    (0.75, 0.25)
    """

    min_gain: float = 0.0  # growers make no split of a smaller gain

    @property
    @abstractmethod
    def variables(self) -> tuple[str, ...]:
        """The names, in declared order."""

    def find(self, name: str, source: Source) -> int:
        """The position of a test that a tree on data makes."""
        return self._position(name)

    def tree(
        self,
        leaves: Sequence[int],
        tests: Sequence[int],
        thresholds: Sequence[float | None],
        labels: Sequence[int],
    ) -> Tree:
        """A tree from splits as of ``Tree.from_splits``; data have exact thresholds too."""
        return Tree.from_splits(self.variables, leaves, tests, labels)

    def test(self, leaf: Leaf, variable: int) -> tuple[str, float | None]:
        """The text of a split of a leaf, and its threshold if it has one."""
        return self.variables[variable], None

    @abstractmethod
    def root(self, exact: bool = False) -> Leaf:
        """The leaf that every input reaches."""

    @abstractmethod
    def children(self, leaf: Leaf, variable: int) -> tuple[Leaf, Leaf]:
        """The leaves for value 0 and value 1 of a variable that is not on the leaf's path."""

    @abstractmethod
    def splits(self, leaf: Leaf) -> Splits:
        """Every split with a positive probability on both sides."""

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        """By how much another class is likelier than the leaf's label, in both children.

        0 where none is. The problems of this package have a small relative error here too.
        """
        low, high = (
            rates.max(axis=1, initial=0.0) - rates[:, leaf.label]
            for rates in (splits.low_rates, splits.high_rates)
        )
        return low, high

    def key(self, leaf: Leaf) -> Hashable | None:
        """Equal for leaves below which the same subtrees bring the same drops; None if unknown."""
        return None

    def leaf(self, restriction: Mapping[str, int], exact: bool = False) -> Leaf:
        """The inputs whose variables have the given values."""
        leaf = self.root(exact)
        for name, value in restriction.items():
            if value not in (0, 1):
                raise ValueError(f"a restricted variable must be 0 or 1; {name} has {value!r}")
            leaf = self.children(leaf, self._position(name))[int(value)]
        return leaf

    def reach(self, restriction: Mapping[str, int], exact: bool = False) -> Probability:
        """The probability of the restriction."""
        return self.leaf(restriction, exact).reach

    def positive_rate(self, restriction: Mapping[str, int], exact: bool = False) -> Probability:
        """The probability of label 1 given the restriction."""
        leaf = self.leaf(restriction, exact)
        if leaf.reach == 0:
            raise ValueError(f"a positive rate needs a restriction that can occur; {restriction}")
        return leaf.positive_rate

    def branch_probability(
        self, restriction: Mapping[str, int], variable: str, exact: bool = False
    ) -> Probability:
        """The probability that the variable is 1 given the restriction."""
        leaf = self.leaf(restriction, exact)
        if leaf.reach == 0:
            raise ValueError(f"a branch needs a restriction that can occur; {restriction}")
        if variable in restriction:
            return leaf.reach / leaf.reach * int(restriction[variable])
        return self.children(leaf, self._position(variable))[1].reach / leaf.reach

    def _position(self, name: str) -> int:
        if name not in self.variables:
            raise ValueError(f"a variable of the problem is needed; there is no {name!r}")
        return self.variables.index(name)


Biases = float | Fraction | Sequence[float | Fraction] | Mapping[str, float | Fraction]


def read_biases(names: Sequence[str], bias: Biases) -> dict[str, Fraction]:
    """Every variable's bias as a checked Fraction, the given names first.

    ``bias`` is one number for all variables, a sequence in the order of the names, or a mapping,
    whose extra names are irrelevant variables.
    """
    if isinstance(bias, Mapping):
        for name in names:
            if name not in bias:
                raise ValueError(f"every variable needs a bias; there is none for {name}")
        given = {name: bias[name] for name in (*names, *bias)}
    elif isinstance(bias, str) or not np.iterable(bias):
        given = dict.fromkeys(names, bias)
    else:
        values = list(bias)
        if len(values) != len(names):
            raise ValueError(
                f"bias must have one number for each of the {len(names)} variables; "
                f"it has {len(values)}"
            )
        given = dict(zip(names, values, strict=True))
    check_names(given)
    return {name: read_bias(name, value) for name, value in given.items()}


def read_bias(name: str, value: object) -> Fraction:
    """A number strictly between 0 and 1."""
    try:
        bias = as_fraction(value)
    except (ValueError, OverflowError):  # text, nan, infinity
        raise ValueError(
            f"bias must be a number strictly between 0 and 1; {name} has {value!r}"
        ) from None
    if not 0 < bias < 1:
        raise ValueError(f"bias must lie strictly between 0 and 1; {name} has {value}")
    return bias
