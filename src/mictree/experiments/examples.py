"""The paper's example trees, and whole growths to step through.

The example trees are for the paper's worked example under the uniform distribution; the exact error
of each stands beside the least error of any tree of its size. The growths show TopDown's,
BestFirst's and the optimal trees of every size for the same problem.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mictree.growers.rules import BestFirst, TopDown
from mictree.optimal import optimal_errors, optimal_trees
from mictree.optimal.solve import staircase_tree
from mictree.problems import FormulaProblem
from mictree.tree import Tree

WORKED_EXAMPLE = "x1 & x2 | y1 & y2 & y3"
STAIRCASE_SIZES = (2, 5, 6, 8)
BEST_FIRST_SIZE = 5
# on the right path x1, y1, x2; left of an x-node a path of y-nodes, left of the y-node one of x
MIXED = ("x1", ("y1", 0, ("y2", 0, 1)), ("y1", ("x2", 0, 1), ("x2", 0, 1)))


@dataclass(frozen=True)
class ExampleTree:
    """A tree, its error, and the least error of any tree of its size."""

    title: str
    tree: Tree
    error: Fraction
    optimal_error: Fraction


@dataclass(frozen=True)
class Examples:
    """Trees for one formula under the uniform distribution."""

    problem: FormulaProblem
    trees: tuple[ExampleTree, ...]

    @property
    def term_of(self) -> dict[str, int]:
        """The number of each variable's term."""
        return dict(zip(self.problem.variables, self.problem.term_of, strict=True))


def examples() -> Examples:
    """The staircase trees, BestFirst's tree, and one that mixes both kinds of nodes.

    Examples
    --------
    >>> [str(example.error) for example in examples().trees]
    ['3/32', '1/32', '1/32', '0', '1/16', '3/32']
    """
    problem = FormulaProblem(WORKED_EXAMPLE)
    least = optimal_errors(problem, max(STAIRCASE_SIZES), exact=True)
    named = [(f"staircase, size {size}", staircase_tree(problem, size)) for size in STAIRCASE_SIZES]
    growth = BestFirst(ties="last").grow(problem, BEST_FIRST_SIZE)
    named.append((f"BestFirst, ties last, size {BEST_FIRST_SIZE}", growth.tree(BEST_FIRST_SIZE)))
    mixed = Tree.build(problem.variables, MIXED)
    named.append((f"x- and y-nodes on the right path, size {mixed.size}", mixed))
    trees = [
        ExampleTree(title, tree, Fraction(tree.error(problem, exact=True)), least[tree.size])
        for title, tree in named
    ]
    return Examples(problem, tuple(trees))


@dataclass(frozen=True)
class SteppedGrowth:
    """The trees and errors of several learners at every size, for the same problem."""

    title: str
    problem: FormulaProblem
    trees: Mapping[str, tuple[Tree, ...]]  # by learner, index = size
    errors: Mapping[str, tuple[float, ...]]

    @property
    def max_size(self) -> int:
        """The largest size."""
        return len(next(iter(self.errors.values()))) - 1


OPTIMAL = "optimal"


def step_through(
    title: str, formula: str, max_size: int, biases: tuple[float, ...] = (0.5,), ties: str = "last"
) -> SteppedGrowth:
    """TopDown, BestFirst and optimal trees of every size.

    Parameters
    ----------
    title : how the case is called
    formula : text
    max_size : the largest size
    biases : the variables have these in turn
    ties : for both greedy rules
    """
    shape = FormulaProblem(formula).variables
    cycle = [biases[number % len(biases)] for number in range(len(shape))]
    problem = FormulaProblem(formula, cycle)
    solved = optimal_trees(problem, max_size)
    sizes = range(max_size + 1)
    trees: dict[str, tuple[Tree, ...]] = {}
    errors: dict[str, tuple[float, ...]] = {}
    for rule in (TopDown(ties=ties), BestFirst(ties=ties)):
        growth = rule.grow(problem, max_size)
        trees[type(rule).__name__] = tuple(growth.tree(size) for size in sizes)
        errors[type(rule).__name__] = tuple(growth.errors.tolist())
    trees[OPTIMAL] = tuple(solved.tree(size) for size in sizes)
    errors[OPTIMAL] = tuple(np.asarray(solved.errors, dtype=float).tolist())
    return SteppedGrowth(title, problem, trees, errors)


def stepped_growths() -> tuple[SteppedGrowth, ...]:
    """The cases that the report steps through."""
    three = "a1 & a2 & a3 | b1 & b2 & b3 | c1 & c2 & c3"
    mixed = "a1 & a2 | b1 & b2 & b3 | c1 & c2 & c3 & c4"
    return (
        step_through("the worked example, every bias 0.5", WORKED_EXAMPLE, 8),
        step_through("three terms of three literals, every bias 0.5", three, 21),
        step_through("terms of 2, 3 and 4 literals, biases 0.3 and 0.7 in turn", mixed, 16,
                     (0.3, 0.7)),
    )  # fmt: skip
