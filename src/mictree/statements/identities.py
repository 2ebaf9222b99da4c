"""The identity behind error reductions, and the reduction behind the hardness theorem."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from mictree.functions.read_once import ReadOnceDNF
from mictree.optimal import optimal_errors
from mictree.optimal.consistent import minimal_consistent_tree
from mictree.problems import FormulaProblem, TableProblem
from mictree.statements.checks import Covered, Reading, Statement, require, states
from mictree.statements.inequalities import HALF, minority
from mictree.tree import Tree

SEED = 7


def random_tree(problem: FormulaProblem, generator: random.Random, size: int) -> Tree:
    """A tree with random tests and majority labels."""

    def grow(leaf, free: list[str], splits: int):
        if splits == 0 or not free:
            return leaf.label
        name = generator.choice(free)
        low, high = problem.children(leaf, problem.variables.index(name))
        others = [other for other in free if other != name]
        share = generator.randint(0, splits - 1)
        return (name, grow(low, others, share), grow(high, others, splits - 1 - share))

    return Tree.build(problem.variables, grow(problem.root(exact=True), [*problem.variables], size))


@states(
    "Section 6.1 (Equation 3)",
    "E(T) = C(positive rate) - C(T), C(T) the sum of p(v) C(v) over the inner nodes.",
)
def error_is_reduction(quick: bool) -> Covered:
    generator = random.Random(SEED)
    trees = 50 if quick else 400
    for _ in range(trees):
        sizes = [generator.randint(1, 4) for _ in range(generator.randint(1, 3))]
        formula = ReadOnceDNF.of_sizes(sizes)
        biases = [Fraction(generator.randint(1, 9), 10) for _ in formula.variables]
        problem = FormulaProblem(formula, biases if generator.random() < 0.5 else HALF)
        tree = random_tree(problem, generator, generator.randint(0, 12))
        reduction = sum(tree.error_reductions(problem, exact=True).values(), Fraction(0))
        error = tree.error(problem, exact=True)
        root = minority(Fraction(problem.root(exact=True).positive_rate))
        require(
            error == root - reduction, f"{formula}, biases {biases}:\n{tree.to_text(merge=False)}"
        )
    return Covered(
        f"{trees} random trees of up to 12 splits on formulas of up to 12 variables, half of them "
        "uniform",
        "exact; any product distribution, with tau and 1 - tau for the printed 1/2",
    )


def _require_reduction(X: np.ndarray, labels: Sequence[int], case: str) -> None:
    """The smallest tree that fits the rows is as large as OPT over them needs to be 0."""
    columns = X.shape[1]
    places = [int(row @ (1 << np.arange(columns))) for row in X]
    by_place = dict(zip(places, labels, strict=True))
    tree = minimal_consistent_tree(X, list(labels))
    weights = [Fraction(int(place in by_place), len(places)) for place in range(2**columns)]
    table = TableProblem([by_place.get(place, 0) for place in range(2**columns)], weights)
    errors = list(optimal_errors(table, 2**columns, exact=True))
    require(0 in errors and tree.size == errors.index(0), f"{case}: size {tree.size}")
    fits = tree.predict(X).tolist() == list(labels)
    require(fits and tree.size < len(places) + (not tree.size), f"{case}: no fit")


@states(
    "Theorem 4.3 (reduction)",
    "The least size at which the uniform distribution over a sample has OPT = 0 is the size of the "
    "smallest tree that fits the sample.",
)
def reduction_runs(quick: bool) -> Covered:
    generator = random.Random(SEED)
    samples = 20 if quick else 150
    for number in range(samples):
        columns = generator.randint(1, 3 if quick else 4)
        rows = generator.sample(range(2**columns), generator.randint(1, 2**columns))
        X = np.array([[row >> column & 1 for column in range(columns)] for row in rows])
        _require_reduction(X, [generator.randint(0, 1) for _ in rows], f"sample {number}")
    return Covered(
        f"{samples} random samples of up to {3 if quick else 4} columns, "
        "minimal_consistent_tree against the dynamic program",
        "exact. The reduction's bound of n |S| splits is generous: |S| - 1 always suffice.",
    )


AGREEING = np.array([[0, 0], [1, 1]])  # a sample whose columns agree


def columns_independent(quick: bool) -> Covered:
    """Whether the uniform distribution over the sample is a product, as Section 3 has it."""
    shares = [Fraction(int(column.sum()), len(AGREEING)) for column in AGREEING.T]
    both = Fraction(int(AGREEING.all(axis=1).sum()), len(AGREEING))
    expected = math.prod(shares, start=Fraction(1))
    require(both == expected, f"the sample 00, 11: P[x1 = x2 = 1] = {both}, product {expected}")
    return Covered("the sample 00, 11")


def general_distribution(quick: bool) -> Covered:
    """Whether the reduction works for the sample, whatever its labels."""
    for labels in product((0, 1), repeat=len(AGREEING)):
        _require_reduction(AGREEING, labels, f"the sample 00, 11 with labels {labels}")
    return Covered("the sample 00, 11 with all labels", "exact")


hardness_setting = Statement(
    "Theorem 4.3 (setting)",
    "Finding an optimal tree is NP-hard for D as introduced in Section 3.",
    (
        Reading(
            "D is a product distribution, as in Section 3",
            columns_independent,
            counterexample="the sample 00, 11: P[x1 = x2 = 1] = 1/2, product 1/4",
        ),
        Reading("D is any distribution", general_distribution),
    ),
    "Section 3 fixes product distributions with a read-once target; the reduction uses the uniform "
    "distribution over an arbitrary sample, which is neither. The theorem is about general D, and "
    "says nothing about the setting of Sections 5 to 8.",
)


STATEMENTS = (error_is_reduction, reduction_runs, hardness_setting)
