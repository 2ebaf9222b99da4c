"""Every tree of a class, by the set of errors that its trees attain.

Nothing is minimised on the way, so that nothing is assumed about optimal trees: a class's errors
at a size are all sums of an error of a low and of a high subtree. A class is a grammar. It maps a
kind of tree to its splits, each the variables that may be tested and the kinds of the subtrees.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from mictree.problems import FormulaProblem, TableProblem

Split = tuple[frozenset[int], str, str]  # variables, low kind, high kind
Grammar = dict[str, tuple[Split, ...]]
LEAF = "leaf"  # the kind of trees without a split


def as_table(problem: FormulaProblem) -> TableProblem:
    """The same distribution, row by row."""
    names = problem.variables
    rows = (np.arange(2 ** len(names))[:, None] >> np.arange(len(names))) & 1
    biases = list(problem.biases.values())
    chances = [
        math.prod(bias if value else 1 - bias for value, bias in zip(row, biases, strict=True))
        for row in rows
    ]
    return TableProblem(problem.formula.evaluate(rows, names), chances, names)


def any_tree(problem: TableProblem) -> Grammar:
    """All trees."""
    everything = frozenset(range(len(problem.variables)))
    return {"any": ((everything, "any", "any"),)}


def right_path(variables: Iterable[int], kind: str) -> Grammar:
    """Trees in which every low child is a leaf, over the given variables."""
    return {kind: ((frozenset(variables), LEAF, kind),)}


@dataclass
class Enumeration:
    """The errors of all trees of a class, in integers over one denominator.

    Labels are majority labels: any other label only adds to a tree's error.
    """

    problem: TableProblem
    grammar: Grammar
    _known: dict[tuple[str, int, int], frozenset[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mass, positive, self.denominator = self.problem.scaled_masses
        self._leaf_errors = [int(error) for error in np.minimum(positive, mass - positive)]
        self._digits = [3**variable for variable in range(len(self.problem.variables))]

    def least_errors(self, kind: str, max_size: int) -> list[Fraction]:
        """The least error of a tree of the kind with at most so many splits; index = size."""
        errors: list[Fraction] = []
        for size in range(max_size + 1):
            exactly = self.errors(kind, size)
            errors.append(min([*errors[-1:], *(Fraction(e, self.denominator) for e in exactly)]))
        return errors

    def errors(self, kind: str, size: int, subcube: int | None = None) -> frozenset[int]:
        """The errors of all trees of a kind with exactly ``size`` splits, times the denominator."""
        if subcube is None:
            subcube = len(self._leaf_errors) - 1
        if size == 0:
            return frozenset([self._leaf_errors[subcube]])
        key = (kind, size, subcube)
        if key not in self._known:
            self._known[key] = frozenset(self._split_errors(kind, size, subcube))
        return self._known[key]

    def _split_errors(self, kind: str, size: int, subcube: int) -> Iterable[int]:
        for variables, low_kind, high_kind in self.grammar.get(kind, ()):
            for variable in variables:
                step = self._digits[variable]
                if subcube // step % 3 != 2:
                    continue
                for low_size in range(size):
                    low = self.errors(low_kind, low_size, subcube - 2 * step)
                    high = self.errors(high_kind, size - 1 - low_size, subcube - step)
                    yield from (one + other for one in low for other in high)
