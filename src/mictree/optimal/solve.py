"""OPT: the least error of any tree of each size, and the trees.

``optimal_trees`` chooses a solver by the kind of problem: a dynamic program over the restrictions
of a formula (``program``) or over the subcubes of a table (``table``), branch and bound over the
row sets of data (``frontier``). All return ``OptimalTrees``: errors by size, and a tree for each.
On data the errors are ``CertifiedErrors``, intervals that hold the truth whenever the search stops.

Two special trees stand here too. The smallest tree that fits a sample exactly is the optimal tree
of the least size without error. Finding it is NP-hard in general (Hancock, Jiang, Li and Tromp),
and the paper reduces it to optimal trees; so the search over row sets is asked about one size after
another. The staircase tree B_t is the best tree for two terms under the uniform distribution. Its
right path tests the variables of the shorter term. Once all of them are there, the subtrees on the
other side of these tests are filled, from the root downwards, each with a path of all variables of
the longer term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import TooLarge, check_count, check_size, check_unmasked
from mictree._support.progress import Report
from mictree._support.words import show_number
from mictree.functions.read_once import Literal, ReadOnceDNF, binary_matrix, check_names
from mictree.growers.rules import TopDown
from mictree.impurity import Criterion, check_criterion
from mictree.optimal.certified import CertifiedErrors
from mictree.problems.base import Leaf, Problem, check_problem
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem
from mictree.tree import LEAF, Tree

DEFAULT_MEMORY_LIMIT = 4 * 2**30  # bytes
MAX_STATES = 1_000_000


def optimal_trees(
    problem: Problem,
    max_size: int,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
    max_depth: int | None = None,
    time_limit: float | None = None,
    top: int | None = None,
    criterion: Criterion = "entropy",
) -> OptimalTrees:
    """Solve a problem once for all sizes: ``.errors`` and ``.tree(size)``.

    Parameters
    ----------
    problem : FormulaProblem, TableProblem or SampleProblem
    max_size : the largest number of splits
    exact : compute with integers and return Fractions
    memory_limit : in bytes; a formula or table that needs more raises a ValueError, and a search
        over data stays within it
    progress : called now and then with a value that has ``what``, ``share`` and ``detail``: the
        piece of work, the part of it that is done (from 0 to 1, or None), and more in words
    max_depth, time_limit : for data only: the largest number of tests on a path; the seconds after
        which sizes not yet proved get a certified interval. Ctrl-C has the same effect.
    top : each node may test only its splits of largest gain: those that tie with or exceed the
        gain number ``top``, zero gains included. Splits that divide the inputs at a node alike,
        as a column and its copy do, count once and are all allowed. 1 is the best pruning of a
        greedy tree over all choices of ties, the number of variables is no restriction.
    criterion : of those gains

    Examples
    --------
    >>> import mictree as mt
    >>> solved = mt.optimal_trees(mt.FormulaProblem("a & b | c"), max_size=3)
    >>> solved.errors
    array([0.375, 0.125, 0.125, 0.   ])
    >>> data = mt.SampleProblem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> mt.optimal_trees(data, max_size=3).errors.proved
    array([ True,  True,  True,  True])
    """
    limit = check_size(max_size)
    best = None if top is None else Top(check_top(top), check_criterion(criterion))
    check_problem(problem)
    if isinstance(problem, FormulaProblem | TableProblem):
        if max_depth is not None or time_limit is not None:
            raise ValueError("max_depth and time_limit are for data; formulas and tables have none")
        if isinstance(problem, FormulaProblem):
            from mictree.optimal import program

            return program.solve(problem, limit, exact, memory_limit, progress, best)
        from mictree.optimal import table

        return table.solve(problem, limit, exact, memory_limit, progress, best)
    from mictree.optimal import frontier as sample

    if not isinstance(problem, sample.SampleProblem):
        raise TypeError(
            "optimal trees are known for FormulaProblem, TableProblem and SampleProblem; "
            f"got {type(problem).__name__}"
        )
    if best is not None:
        from mictree.optimal import restricted

        return restricted.solve(
            problem, limit, exact, memory_limit, best, max_depth, time_limit, progress
        )
    return sample.solve(problem, limit, exact, memory_limit, progress, max_depth, time_limit)


def check_top(top: object) -> int:
    """A number of splits that a node may choose from."""
    number = check_count(top, "top")
    if number == 0:
        raise ValueError("top must be at least 1; got 0")
    return number


def optimal_errors(
    problem: Problem,
    max_size: int,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    max_depth: int | None = None,
    time_limit: float | None = None,
    top: int | None = None,
    criterion: Criterion = "entropy",
    progress: Report | None = None,
) -> Errors:
    """OPT(D, size) for every size from 0 to ``max_size``; see ``optimal_trees``.

    On data the result is a ``CertifiedErrors``: ``lower``, ``upper``, ``proved``, what certifies
    each size, and a history of the bounds.

    Examples
    --------
    >>> import mictree as mt
    >>> chosen = mt.TableProblem.from_formula("a & (b ^ c) | ~a & d")
    >>> [float(mt.optimal_errors(chosen, 5, top=top)[5]) for top in (1, 2, 4)]
    [0.125, 0.0, 0.0]
    """
    solved = optimal_trees(
        problem,
        max_size,
        exact,
        memory_limit,
        progress,
        max_depth=max_depth,
        time_limit=time_limit,
        top=top,
        criterion=criterion,
    )
    return solved.errors


def optimal_tree(
    problem: Problem,
    size: int,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    max_depth: int | None = None,
    time_limit: float | None = None,
    top: int | None = None,
    criterion: Criterion = "entropy",
) -> Tree:
    """A tree with at most ``size`` splits and the least error; see ``optimal_trees``.

    Examples
    --------
    >>> import mictree as mt
    >>> print(mt.optimal_tree(mt.FormulaProblem("a & b | c"), size=2))
    Tree(size=1, depth=1, root='c')
    """
    wanted = check_size(size, "size")
    solved = optimal_trees(
        problem,
        wanted,
        memory_limit=memory_limit,
        max_depth=max_depth,
        time_limit=time_limit,
        top=top,
        criterion=criterion,
    )
    return solved.tree(wanted)


class Top(NamedTuple):
    """How many splits of largest gain a node may choose from; those that tie are allowed too."""

    number: int
    criterion: Criterion


class Choice(NamedTuple):
    """The root split of an optimal tree, and where its two subtrees continue."""

    variable: int
    low: tuple[Any, int]  # state, size
    high: tuple[Any, int]


@dataclass(frozen=True, repr=False)
class OptimalTrees(ABC):
    """Optimal trees of every size up to ``max_size``.

    Attributes
    ----------
    errors : index = size, 0 to ``max_size``; the least error of any tree with at most ``size``
        splits. Floats, or Fractions when exact.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> solved = mt.optimal_trees(problem, max_size=3)
    >>> solved.errors.tolist()
    [0.375, 0.125, 0.125, 0.0]
    """

    problem: Problem
    max_size: int
    errors: Errors

    def __repr__(self) -> str:
        first, last = (show_number(float(error), 4) for error in self.errors[[0, -1]])
        sizes = f"sizes 0 to {self.max_size}, error {first} to {last}"
        return f"OptimalTrees({self.problem!r}, {sizes})"

    def tree(self, size: int) -> Tree:
        """A tree with at most ``size`` splits that attains ``errors[size]``.

        Examples
        --------
        >>> import mictree as mt
        >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
        >>> print(mt.optimal_trees(problem, max_size=3).tree(1))
        Tree(size=1, depth=1, root='c')
        """
        wanted = check_size(size, "size")
        if wanted > self.max_size:
            raise ValueError(f"size must be at most max_size={self.max_size}; got {wanted}")
        return self._tree(wanted)

    @abstractmethod
    def _tree(self, size: int) -> Tree:
        """The tree of a validated size."""


@dataclass(frozen=True, repr=False)
class ProgramTrees(OptimalTrees):
    """Optimal trees that are read off a dynamic program, split by split."""

    def _tree(self, size: int) -> Tree:
        """A smallest tree among those with the least error at most ``size`` splits allow."""
        leaves: list[int] = []
        tests: list[int] = []
        thresholds: list[float | None] = []
        labels: list[Any] = [LEAF]
        # where errors are exact, labels must be right to the last digit too
        exact = np.asarray(self.errors).dtype == object
        waiting: list[Any] = [(0, self.problem.root(exact), self._start(), size)]
        while waiting:
            number, leaf, state, allowed = waiting.pop()  # leaves by order of creation
            choice = self._choose(leaf, state, allowed)
            if choice is None:
                labels[number] = leaf.label
                if isinstance(leaf.label, Fraction):  # trees hold floats
                    labels[number] = float(leaf.label)
                continue
            variable = int(choice.variable)
            low, high = self.problem.children(leaf, variable)
            leaves.append(number)
            tests.append(variable)
            thresholds.append(self.problem.test(leaf, variable)[1])
            waiting.append((len(labels) + 1, high, *choice.high))
            waiting.append((len(labels), low, *choice.low))
            labels += [LEAF, LEAF]
        return self.problem.tree(leaves, tests, thresholds, labels)

    @abstractmethod
    def _start(self) -> Any:
        """The solver's state at the root."""

    @abstractmethod
    def _choose(self, leaf: Leaf, state: Any, size: int) -> Choice | None:
        """The best split with ``size`` splits left, or None where a leaf is as good."""


def check_rows(distance: np.ndarray, perfect: np.ndarray, max_size: int, memory_limit: int) -> None:
    """Refuse rows of errors that do not fit, and say which size would.

    A state at some distance from the root has room for ``max_size`` less that many splits, and
    needs no more than its perfect size.
    """

    def needed(size: int) -> int:
        near = distance <= size
        return 8 * int((np.minimum(size - distance[near], perfect[near]) + 1).sum())

    if needed(max_size) <= memory_limit:
        return
    fits, fails = 0, max_size
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if needed(middle) <= memory_limit else (fits, middle)
    raise TooLarge.states(len(distance), memory_limit, f"max_size={fits}", needed(max_size))


def repeat_last(row: np.ndarray, max_size: int) -> np.ndarray:
    """A row of errors by size, its last value repeated up to ``max_size``."""
    return row[np.minimum(np.arange(max_size + 1), len(row) - 1)]


def smallest_size(row: np.ndarray, size: int) -> int:
    """The least size whose error is that of the given one; errors never rise with size."""
    error = row[min(size, len(row) - 1)]
    return int(np.argmax(row <= error))


Errors = np.ndarray | CertifiedErrors


def minimal_consistent_tree(
    X: np.typing.ArrayLike,
    y: np.typing.ArrayLike,
    variables: Sequence[str] | None = None,
    max_states: int = MAX_STATES,
) -> Tree:
    """A tree of the least size that gives every row its label.

    Parameters
    ----------
    X : 0/1 matrix, one row an example
    y : the labels, 0 or 1
    variables : the columns' names; by default ``x1`` to ``xn``
    max_states : the search is given up once it has stored results for more sets of rows than this

    Examples
    --------
    >>> tree = minimal_consistent_tree([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> tree.size
    3
    """
    columns = np.shape(X)[1] if np.ndim(X) == 2 else 0
    names = [f"x{number}" for number in range(1, columns + 1)] if variables is None else variables
    matrix = binary_matrix(X, check_names(names))
    labels = np.asarray(check_unmasked(y, "y"))
    if labels.shape != (len(matrix),) or not np.all((labels == 0) | (labels == 1)):
        raise ValueError(f"y must hold one label, 0 or 1, for each of the {len(matrix)} rows")
    _check_labels(matrix, labels)
    return _search(matrix.astype(np.uint8), labels.astype(np.int64), names, max_states)


def _check_labels(matrix: np.ndarray, labels: np.ndarray) -> None:
    """Refuse equal rows of different labels."""
    first: dict[bytes, int] = {}
    for number, row in enumerate(matrix):
        same = first.setdefault(row.tobytes(), number)
        if labels[same] != labels[number]:
            raise ValueError(
                "equal rows must have equal labels, or no tree fits; "
                f"rows {same} and {number} differ only in their label"
            )


def _search(matrix: np.ndarray, labels: np.ndarray, names: Sequence[str], max_states: int) -> Tree:
    """Refute one size after another until a tree fits, at the latest one that TopDown grows."""
    # imported here: import mictree does not load numba
    from mictree.optimal.bit_search import BitEngine
    from mictree.optimal.questions import STORED, UNLIMITED, Workers
    from mictree.optimal.rows import Rows, build
    from mictree.problems.sample import SampleProblem

    if labels.min() == labels.max():
        return Tree.build(names, int(labels[0]))
    problem = SampleProblem(matrix, labels)
    growth = TopDown().grow(problem, len(matrix) - 1)
    largest = len(growth.steps)
    rows = Rows.of(problem, exact=False)
    engine = BitEngine(rows)
    workers = Workers(engine, largest, UNLIMITED, DEFAULT_MEMORY_LIMIT, glances=engine)
    if workers.budgets < largest:
        raise _too_large(f"{DEFAULT_MEMORY_LIMIT:,} bytes")

    def give_up() -> None:
        if workers.control[STORED] > max_states:
            raise _too_large(f"max_states={max_states} sets of rows")

    workers.on_tick = give_up
    with workers.running():
        for size in range(1, largest):
            found = workers.find(rows.everything, size, 1, UNLIMITED)
            if found is None:
                raise KeyboardInterrupt
            if found[1] is not None:
                return replace(build(problem, found[1]), variables=tuple(names))
            give_up()
    return replace(growth.tree(largest), variables=tuple(names))


def _too_large(limit: str) -> TooLarge:
    return TooLarge(f"the search must stay within {limit}; fewer rows or columns would fit")


def staircase_tree(problem: FormulaProblem | ReadOnceDNF | str, size: int) -> Tree:
    """B_t, t = size, for a formula of two terms; the perfect tree when ``size`` is larger still.

    Parameters
    ----------
    problem : a formula of two terms, or such a problem with every bias 1/2
        With terms of equal length the first counts as the shorter one.
    size : number of splits

    Examples
    --------
    >>> print(staircase_tree("x1 & x2 | y1 & y2 & y3", 3).to_text(merge=False))
    x1?
    ├─0─ y1?
    │    ├─0─ label 0
    │    └─1─ label 0
    └─1─ x2?
         ├─0─ label 0
         └─1─ label 1
    """
    splits = check_size(size, "size")
    given = problem if isinstance(problem, FormulaProblem) else FormulaProblem(problem)
    shorter, longer = _check_terms(given)
    path = shorter.literals[:splits]
    left = splits - len(path)  # splits that are left for the subtrees off the right path
    # a leaf is labelled 1 when at most one literal is missing: then 1 is as likely as 0, or more
    nested: Any = int(len(shorter) - len(path) <= 1)
    sizes = [min(max(left - len(longer) * step, 0), len(longer)) for step in range(len(path))]
    for literal, below in zip(reversed(path), reversed(sizes), strict=True):
        nested = _test(literal, _right_path(longer.literals, below), nested)
    return Tree.build(given.variables, nested)


def _check_terms(problem: FormulaProblem):
    terms = problem.formula.terms
    if len(terms) != 2:
        raise ValueError(f"a staircase tree needs a formula of two terms; it has {len(terms)}")
    for name, bias in problem.biases.items():
        if bias != Fraction(1, 2):
            raise ValueError(f"a staircase tree needs every bias to be 1/2; {name} has {bias}")
    return sorted(terms, key=len)  # stable: of two equal lengths the first is first


def _right_path(literals: tuple[Literal, ...], size: int) -> Any:
    nested: Any = int(len(literals) - size <= 1)
    for literal in reversed(literals[:size]):
        nested = _test(literal, 0, nested)
    return nested


def _test(literal: Literal, failed: Any, satisfied: Any) -> Any:
    if literal.positive:
        return (literal.variable, failed, satisfied)
    return (literal.variable, satisfied, failed)
