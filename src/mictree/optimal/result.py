"""The result of every solver: the least error of each size, and a tree that attains it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import TooLarge, check_size
from mictree._support.words import show_number
from mictree.impurity import Criterion
from mictree.problems.base import Leaf, Problem
from mictree.tree import LEAF, Tree

DEFAULT_MEMORY_LIMIT = 4 * 2**30  # bytes
AGREEMENT = 1e-10


class CertifiedErrors(np.ndarray):
    """Least errors by size, each proved or the upper end of a certified interval.

    Read-only. Items, slices, copies and pickles keep their bounds; any other numpy result
    is a plain array without bounds.

    Attributes
    ----------
    lower, upper : bounds on the least error of each size
    proved : where both are equal; as floats, where they agree to ten digits
    """

    lower: np.ndarray

    @classmethod
    def between(cls, lower: np.ndarray, upper: np.ndarray) -> "CertifiedErrors":
        """The upper ends, with the lower ones attached; both are copied."""
        lower, upper = np.array(lower), np.array(upper)
        for bounds in (lower, upper):
            bounds.setflags(write=False)
        errors = upper.view(cls)
        errors.lower = lower
        return errors

    @property
    def upper(self) -> np.ndarray:
        """The same as plain numbers."""
        return np.asarray(self)

    @property
    def proved(self) -> np.ndarray:
        if self.upper.dtype == object:
            return np.asarray(self.lower == self.upper)
        # floats of weights with more digits than the search keeps are never quite equal
        return self.upper - self.lower <= AGREEMENT * self.upper

    def __getitem__(self, key: Any) -> Any:
        chosen = self.upper[key]
        if isinstance(chosen, np.ndarray):
            return CertifiedErrors.between(self.lower[key], chosen)
        return chosen

    def _repr_html_(self) -> str:
        from mictree._support.notebook import to_table

        rows = zip(map(float, self.lower), map(float, self.upper), self.proved, strict=True)
        numbered = [
            (size, show_number(least) + ("" if proved else f" to {show_number(most)}"),
             "yes" if proved else "no")
            for size, (least, most, proved) in enumerate(rows)
        ]  # fmt: skip
        return to_table(["size", "least error", "proved"], numbered)

    def copy(self, order: Any = "C") -> "CertifiedErrors":
        """The same with its bounds, whatever the order."""
        return CertifiedErrors.between(self.lower, self.upper)

    def __copy__(self) -> "CertifiedErrors":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "CertifiedErrors":
        return self.copy()

    def __reduce__(self) -> Any:
        return CertifiedErrors.between, (self.lower, self.upper)

    def __getattribute__(self, name: str) -> Any:
        own = name.startswith("__") or name in _CERTIFIED
        return super().__getattribute__(name) if own else getattr(np.asarray(self), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*_without_bounds(inputs), **_without_bounds(options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_without_bounds(args), **_without_bounds(kwargs))


_CERTIFIED = {"between", "lower", "upper", "proved", "copy", "_repr_html_"}


def _without_bounds(value: Any) -> Any:
    """Arguments with certified errors, however nested, as plain arrays."""
    if isinstance(value, CertifiedErrors):
        return value.upper
    if type(value) in (list, tuple):
        return type(value)(_without_bounds(item) for item in value)
    if type(value) is dict:
        return {key: _without_bounds(item) for key, item in value.items()}
    return value


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
    errors: np.ndarray

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
        """The same, of a size that is there."""


@dataclass(frozen=True, repr=False)
class ProgramTrees(OptimalTrees):
    """Optimal trees that are read off a dynamic program, split by split."""

    def _tree(self, size: int) -> Tree:
        """A smallest tree among those with the least error at most ``size`` splits allow."""
        leaves: list[int] = []
        tests: list[int] = []
        thresholds: list[float | None] = []
        labels = [LEAF]
        exact = self.errors.dtype == object  # then labels must be right to the last digit too
        waiting: list[Any] = [(0, self.problem.root(exact), self._start(), size)]
        while waiting:
            number, leaf, state, allowed = waiting.pop()  # leaves by order of creation
            choice = self._choose(leaf, state, allowed)
            if choice is None:
                labels[number] = leaf.label
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
