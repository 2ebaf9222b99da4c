"""A small forest beside the best single tree: the exact error of a majority vote.

Each tree is grown by the same rule, but at each leaf only some of the splits are drawn as
candidates. The trees share one list of inputs: all rows of a truth table, or the rows of data. As
the trees grow by one split each, only the inputs of the split leaves change their vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mictree._support.checks import check_count, check_size
from mictree.functions.expression import MAX_VARIABLES
from mictree.growers.choosing import below, stream
from mictree.growers.rules import Grower, Growth, as_rule, task_name
from mictree.optimal import DEFAULT_MEMORY_LIMIT, optimal_errors
from mictree.problems.base import FloatArray, Leaf, Problem, Splits
from mictree.problems.formula import FormulaProblem
from mictree.problems.sample import SampleProblem
from mictree.problems.table import TableProblem
from mictree.tree import Source, Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ForestErrors:
    """The errors of a forest, of its trees, and of the best single trees; index = size.

    Attributes
    ----------
    errors : of the majority vote of all trees when each has ``size`` splits, as Fractions
    tree_errors : of the trees alone, shape (trees, sizes)
    optimal_errors : the least error of a single tree of the same size
    optimal_of_total : the least error of a single tree with as many splits as the whole forest
    growths : the trees

    Examples
    --------
    >>> import mictree as mt
    >>> majority = mt.TableProblem.from_function(lambda a, b, c: a + b + c > 1, ["a", "b", "c"])
    >>> found = mt.forest_errors(majority, "topdown", trees=3, max_size=2, max_features=1, seed=1)
    >>> found.tree_errors.shape
    (3, 3)
    """

    errors: np.ndarray
    tree_errors: FloatArray
    optimal_errors: np.ndarray
    optimal_of_total: np.ndarray
    growths: tuple[Growth, ...]

    @property
    def trees(self) -> int:
        """How many trees vote."""
        return len(self.growths)

    @property
    def passes_at(self) -> int | None:
        """The smallest size at which the forest has a lower error than any single tree of it."""
        lower = getattr(self.optimal_errors, "lower", self.optimal_errors)
        better = np.flatnonzero(self.errors < lower)
        return int(better[0]) if len(better) else None

    def __str__(self) -> str:
        lines = [
            f"a vote of {self.trees} trees, {self.growths[0].rule!r}",
            f"{'size':>6} {'forest':>10} {'one tree':>10} {'optimal':>10} {'of total':>10}",
        ]
        columns = (
            self.errors,
            self.tree_errors.mean(0),
            self.optimal_errors,
            self.optimal_of_total,
        )
        lines += [
            f"{size:>6} " + " ".join(f"{float(column[size]):>10.6f}" for column in columns)
            for size in range(len(self.errors))
        ]
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the four curves against the size of each tree."""
        from mictree.plotting.curves import draw_forest

        return draw_forest(ax, self)


def forest_errors(
    problem: Problem,
    rule: Grower | str = "topdown",
    trees: int = 10,
    max_size: int = 10,
    max_features: int = 1,
    seed: int = 0,
    *,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    time_limit: float | None = None,
) -> ForestErrors:
    """The exact error of the majority vote of randomised trees, by the size of each tree.

    Parameters
    ----------
    problem : TableProblem; FormulaProblem, of which up to 16 variables are relevant or tested;
        SampleProblem
    rule : a grower or its name; random ties are drawn anew for each tree
    trees : how many vote; where several labels have as many votes, each counts its share
    max_size : the largest number of splits of each tree
    max_features : how many of a leaf's splits are drawn, without replacement, as candidates
    seed : the same seed draws the same trees
    memory_limit, time_limit : for the optimal errors, see ``optimal_errors``

    Examples
    --------
    >>> import mictree as mt
    >>> majority = mt.TableProblem.from_function(lambda a, b, c: a + b + c > 1, ["a", "b", "c"])
    >>> found = mt.forest_errors(majority, "topdown", trees=9, max_size=2, max_features=1, seed=1)
    >>> [str(error) for error in found.errors]
    ['1/2', '0', '0']
    >>> found.passes_at
    1
    """
    grower = as_rule(rule)
    if not isinstance(grower, Grower):
        raise TypeError(f"rule must be a grower or the name of one; got {type(rule).__name__}")
    if task_name(problem) != "errors":
        raise ValueError(
            f"forest_errors counts votes of classes and their mistakes; the problem has "
            f"{task_name(problem)}"
        )
    for name, number in (("trees", trees), ("max_features", max_features)):
        if check_count(number, name) == 0:
            raise ValueError(f"{name} must be at least 1; got 0")
    limit = check_size(max_size)
    draws = stream(check_count(seed, "seed"))
    growths = tuple(
        grower.with_seed(int(below(draws, 2**31))).grow(_Drawn(problem, max_features, draws), limit)
        for _ in range(trees)
    )
    inputs = _read_inputs(problem, growths)
    best = optimal_errors(problem, trees * limit, memory_limit=memory_limit, time_limit=time_limit)
    return ForestErrors(
        _votes(inputs, growths, limit),
        np.array([growth.errors for growth in growths]),
        best[: limit + 1],
        best[::trees],
        growths,
    )


class _Drawn(Problem):
    """A problem of which each leaf offers only a few splits, drawn when it is asked."""

    def __init__(self, problem: Problem, most: int, draws: np.ndarray) -> None:
        self._problem = problem
        self._most = most
        self._draws = draws
        self.min_gain = problem.min_gain

    @property
    def variables(self) -> tuple[str, ...]:
        return self._problem.variables

    def root(self, exact: bool = False) -> Leaf:
        return self._problem.root(exact)

    def children(self, leaf: Leaf, variable: int) -> tuple[Leaf, Leaf]:
        return self._problem.children(leaf, variable)

    def test(self, leaf: Leaf, variable: int) -> tuple[str, float | None]:
        return self._problem.test(leaf, variable)

    def find(self, name: str, source: Source) -> int:
        return self._problem.find(name, source)

    def tree(
        self,
        leaves: Sequence[int],
        tests: Sequence[int],
        thresholds: Sequence[float | None],
        labels: Sequence[int],
    ) -> Tree:
        return self._problem.tree(leaves, tests, thresholds, labels)

    def leads(self, leaf: Leaf, splits: Splits) -> tuple[FloatArray, FloatArray]:
        return self._problem.leads(leaf, splits)

    def splits(self, leaf: Leaf) -> Splits:
        offered = self._problem.splits(leaf)
        places = np.arange(len(offered.variables))
        most = min(self._most, len(places))
        for place in range(most):  # Fisher and Yates
            other = place + int(below(self._draws, len(places) - place))
            places[[place, other]] = places[[other, place]]
        return offered.take(np.sort(places[:most]))


class _Inputs(NamedTuple):
    """What a tree is asked about."""

    columns: dict[int, np.ndarray]  # by the position of a test: its answers, 0 or 1
    masses: np.ndarray  # (labels, inputs), integers or Fractions
    total: int | Fraction  # their sum


def _read_inputs(problem: Problem, growths: tuple[Growth, ...]) -> _Inputs:
    tested = {step.position for growth in growths for step in growth.steps}
    if isinstance(problem, FormulaProblem):
        relevant = {place for place, term in enumerate(problem.term_of) if term >= 0}
        places = sorted(relevant | tested)
        if len(places) > MAX_VARIABLES:
            raise ValueError(
                f"a forest needs at most {MAX_VARIABLES} variables that are relevant or tested; "
                f"there are {len(places)}"
            )
        names = [problem.variables[place] for place in places]
        biases = {name: problem.biases[name] for name in names}
        table = TableProblem.from_formula(str(problem.formula), biases, names)
        return _inputs_of_table(table, places)
    if isinstance(problem, TableProblem):
        return _inputs_of_table(problem, list(range(len(problem.variables))))
    if isinstance(problem, SampleProblem):
        return _Inputs(*problem.as_inputs(sorted(tested)))
    raise TypeError(f"a forest needs a problem of this package; got {type(problem).__name__}")


def _inputs_of_table(table: TableProblem, places: list[int]) -> _Inputs:
    """The rows of a table; ``places`` are the positions of its variables in trees."""
    (mass, positive), denominator = table.scaled_rows
    rows = np.arange(len(mass))
    columns = {place: rows >> number & 1 for number, place in enumerate(places)}
    return _Inputs(columns, np.stack([mass - positive, positive]), denominator)


def _votes(inputs: _Inputs, growths: tuple[Growth, ...], limit: int) -> np.ndarray:
    """The error of the vote, by size."""
    labels, count = inputs.masses.shape
    votes = np.zeros((labels, count), dtype=np.int32)
    leaves = np.zeros((len(growths), count), dtype=np.int32)
    for growth in growths:
        votes[growth.labels[0]] += 1
    errors = [_error(inputs, votes)]
    for step in range(limit):
        for growth, leaf in zip(growths, leaves, strict=True):
            if step < len(growth.steps):
                _split(inputs, growth, leaf, step, votes)
        errors.append(_error(inputs, votes))
    return np.array(errors, dtype=object)


def _split(inputs: _Inputs, growth: Growth, leaf: np.ndarray, step: int, votes: np.ndarray) -> None:
    """Move the inputs of one leaf of one tree to its children."""
    split = growth.steps[step]
    moved = np.flatnonzero(leaf == split.leaf)
    sides = inputs.columns[split.position][moved]
    for side in (0, 1):
        child = 2 * step + 1 + side
        inside = moved[sides == side]
        leaf[inside] = child
        votes[growth.labels[split.leaf], inside] -= 1
        votes[growth.labels[child], inside] += 1


def _error(inputs: _Inputs, votes: np.ndarray) -> Fraction:
    """The chance of a wrong label; labels of as many votes share the input."""
    winners = votes == votes.max(axis=0)
    sharing = winners.sum(axis=0)
    right = np.where(winners, inputs.masses, 0).sum(axis=0)
    shares = [Fraction(right[sharing == many].sum()) / many for many in np.unique(sharing).tolist()]
    return 1 - sum(shares, Fraction(0)) / inputs.total
