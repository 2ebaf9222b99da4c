"""The result of a growing loop: one tree per size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mictree._support.checks import check_size
from mictree._support.words import count_of, show_number
from mictree.problems.base import Problem
from mictree.tree import Tree

if TYPE_CHECKING:
    from mictree.growers.rules import Grower

FloatArray = np.typing.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GrowthStep:
    """One split, in the order of growth.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> step = mt.TopDown().grow(problem, max_size=1).steps[0]
    >>> step.variable, round(step.gain, 4)
    ('c', 0.5488)
    """

    leaf: int  # number of the split leaf in order of creation; the root is 0
    variable: str
    gain: float  # drop in impurity at the leaf
    reach: float
    position: int  # of the variable in problem.variables
    threshold: float | None = None  # of a test on an ordered column, exactly

    @property
    def weighted_gain(self) -> float:
        """W(v): the drop in the whole tree's impurity."""
        return self.reach * self.gain


@dataclass(frozen=True)
class Growth:
    """A growing tree, one split after another.

    Attributes
    ----------
    problem, rule : what it was grown on and by
    max_size : the size asked for
    errors : float array, index = size, 0 to ``max_size``; repeats the last error once growth ended
    steps : the splits in order, with their gains; fewer than ``max_size`` when growth ended early

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> growth = mt.TopDown().grow(problem, max_size=2)
    >>> [step.variable for step in growth.steps]
    ['c', 'b']
    >>> growth.errors.tolist()
    [0.375, 0.125, 0.125]
    """

    problem: Problem
    rule: Grower
    max_size: int
    errors: FloatArray
    steps: tuple[GrowthStep, ...]
    labels: tuple[int, ...]  # majority labels of all leaves, in order of creation

    def __repr__(self) -> str:
        splits = count_of(len(self.steps), "split")
        errors = f"{show_number(self.errors[0], 4)} to {show_number(self.errors[-1], 4)}"
        return f"Growth({self.rule!r}, {splits}, error {errors})"

    def _repr_html_(self) -> str:
        from mictree._support.notebook import to_table

        steps = [(0, "", "", float(self.errors[0]))]
        steps += [
            (size, step.variable, float(step.gain), float(self.errors[size]))
            for size, step in enumerate(self.steps, 1)
        ]
        return to_table(["size", "split on", "gain", "error"], steps, repr(self.rule))

    def tree(self, size: int) -> Tree:
        """The tree after ``size`` splits, or the last one when growth ended before.

        Examples
        --------
        >>> import mictree as mt
        >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
        >>> print(mt.TopDown().grow(problem, max_size=2).tree(1))
        Tree(size=1, depth=1, root='c')
        """
        steps = self.steps[: check_size(size, "size")]
        if size > self.max_size:
            raise ValueError(f"size must be at most max_size={self.max_size}; got {size}")
        leaves, tests = [step.leaf for step in steps], [step.position for step in steps]
        return self.problem.tree(leaves, tests, [step.threshold for step in steps], self.labels)

    @cached_property
    def exact_errors(self) -> list[Fraction]:
        """The errors as Fractions, index = size."""
        leaves = [self.problem.root(exact=True)]
        errors = [Fraction(leaves[0].error)]
        for step in self.steps:
            parent = leaves[step.leaf]
            children = self.problem.children(parent, step.position)
            leaves += children
            change = children[0].error + children[1].error - parent.error
            errors.append(errors[-1] + Fraction(change))
        return errors + errors[-1:] * (self.max_size + 1 - len(errors))


def curve(errors: Sequence[float] | FloatArray, limit: int) -> FloatArray:
    """Errors by size, the last one repeated once growth has ended."""
    curve = np.full(limit + 1, errors[-1])
    curve[: len(errors)] = errors
    return curve
