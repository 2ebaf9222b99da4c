"""Section 5: for a conjunction under a product distribution every greedy tree is optimal.

The paper shows that all greedy rules test the literals of the conjunction one below the other, that
such a path is optimal at every size, and in which order it tests them. All is checked in exact
fractions, over multisets of biases and random ones, with two variables that the conjunction does
not use. Optimal errors come from the dynamic program and, so that no solver is trusted, from an
enumeration of all trees.
"""

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, combinations_with_replacement

from mictree.growers.rules import ID3, BestFirst, Growth, TopDown
from mictree.optimal import optimal_errors
from mictree.problems import FormulaProblem
from mictree.statements.checks import (
    Covered,
    Enumeration,
    Reading,
    Statement,
    any_tree,
    as_table,
    require,
    right_path,
    states,
)
from mictree.statements.inequalities import minority
from mictree.tree import LEAF

Biases = tuple[Fraction, ...]
SEED = 5
RULES = {rule.name: rule for rule in (TopDown, BestFirst, ID3)}  # those that the paper is about
IRRELEVANT = ("z1", "z2")


def cases(quick: bool) -> Iterator[Biases]:
    """The conjunctions that are checked: biases of the literals, in any order."""
    levels = [Fraction(i, 5) for i in range(4, 0, -1)]  # descending, unlike the order of tests
    for count in range(1, 4 if quick else 6):
        yield from combinations_with_replacement(levels, count)
    generator = random.Random(SEED)
    for _ in range(10 if quick else 60):
        count = generator.randint(1, 5 if quick else 7)
        yield tuple(Fraction(generator.randint(1, 19), 20) for _ in range(count))


def describe(quick: bool) -> str:
    """The same in words."""
    literals, repeats, random_literals = (3, 10, 5) if quick else (5, 60, 7)
    return (
        f"all multisets of biases from 1/5..4/5 with up to {literals} literals, {repeats} random "
        f"lists of 20ths with up to {random_literals}; two irrelevant variables"
    )


@cache
def conjunction(biases: Biases) -> FormulaProblem:
    """The conjunction of as many variables, and two variables that it does not use."""
    names = [f"x{number}" for number in range(1, len(biases) + 1)]
    irrelevant = dict(zip(IRRELEVANT, (Fraction(1, 2), Fraction(1, 3)), strict=True))
    return FormulaProblem(" & ".join(names), dict(zip(names, biases, strict=True)) | irrelevant)


def expected_errors(biases: Biases) -> list[Fraction]:
    """The lemma's error after each number of splits, least biases first."""
    ascending = sorted(biases)
    return [
        math.prod(ascending[:size], start=Fraction(1))
        * minority(math.prod(ascending[size:], start=Fraction(1)))
        for size in range(len(biases) + 1)
    ]


@cache
def growths(biases: Biases) -> tuple[Growth, ...]:
    """Grown to k splits by every rule, under both orders of ties."""
    rules = [rule(ties=ties) for rule in RULES.values() for ties in ("first", "last")]
    return tuple(rule.grow(conjunction(biases), len(biases)) for rule in rules)


@states(
    "Theorem 5.1",
    "For a conjunction of k literals TopDown's tree of every size up to k has the least error of "
    "that size, so its MIC is 0; the same for BestFirst and ID3.",
)
def greedy_is_optimal(quick: bool) -> Covered:
    for biases in cases(quick):
        problem = conjunction(biases)
        optimal = list(optimal_errors(problem, len(biases), exact=True))
        for growth in growths(biases):
            greedy = growth.exact_errors
            require(greedy == optimal, f"{growth.rule} with biases {_show(biases)}")
    return Covered(describe(quick), "exact errors; three rules, ties first and last")


@states(
    "Lemma 5.3",
    "For every size up to k a right-skewed tree over the conjunction's own variables is optimal.",
)
def right_skewed_is_optimal(quick: bool) -> Covered:
    levels = [Fraction(1, 3), Fraction(3, 5)] if quick else [Fraction(i, 5) for i in range(1, 5)]
    for count in range(1, 3 if quick else 5):
        for biases in combinations_with_replacement(levels, count):
            table = as_table(conjunction(biases))
            grammar = any_tree(table) | right_path(range(count), "skewed")
            trees = Enumeration(table, grammar)
            best, skewed = (trees.least_errors(kind, count) for kind in ("any", "skewed"))
            require(best == skewed, f"biases {_show(biases)}: {best} against {skewed}")
    return Covered(
        f"all trees, by enumeration: up to {2 if quick else 4} literals with biases "
        f"{_show(tuple(levels))}, and two irrelevant variables"
    )


@states(
    "Lemma 5.4",
    "TopDown tests the literals in ascending order of their biases, every low child is a leaf with "
    "label 0, and the error after t splits is (product of the t least biases) * C(product of the "
    "others).",
)
def ascending_order(quick: bool) -> Covered:
    for biases in cases(quick):
        problem = conjunction(biases)
        for growth in growths(biases):
            case = f"{growth.rule} with biases {_show(biases)}"
            tested = [problem.biases[step.variable] for step in growth.steps]
            require(tested == sorted(biases), f"{case}: tests biases in the order {tested}")
            require(growth.exact_errors == expected_errors(biases), f"{case}: errors differ")
            tree = growth.tree(len(biases))
            lows = [tree.low[node] for node in tree.internal_nodes]
            skewed = all(tree.tests[low] == LEAF and tree.labels[low] == 0 for low in lows)
            require(skewed and not _tests_irrelevant(growth), f"{case}: not right-skewed")
    return Covered(describe(quick), "exact errors; three rules, ties first and last")


@states(
    "Lemma 5.5",
    "Among all sets of t of the literals the t least biases give a right-skewed tree the least "
    "error.",
)
def least_biases_first(quick: bool) -> Covered:
    for biases in cases(quick):
        for size, expected in enumerate(expected_errors(biases)):
            least = min(_skewed_error(biases, chosen) for chosen in _subsets(biases, size))
            require(least == expected, f"size {size} with biases {_show(biases)}")
    return Covered(describe(quick).partition(";")[0] + "; all subsets", "exact")


def earlier_first(ties: str, quick: bool) -> Covered:
    """Whether TopDown tests literals of equal bias in their order, at no cost in error."""
    largest = 4 if quick else 8
    for count in range(2, largest + 1):
        biases = (Fraction(1, 2),) * count
        problem = conjunction(biases)
        growth = TopDown(ties=ties).grow(problem, count)
        case = " & ".join(problem.variables[:count])
        require(growth.exact_errors == expected_errors(biases), f"{case}: errors differ")
        tested = [step.variable for step in growth.steps]
        require(tested == [*problem.variables[:count]], f"{case}: tests {', '.join(tested)}")
    return Covered(f"conjunctions of 2 to {largest} literals, every bias 1/2", "exact errors")


tie_order = Statement(
    "Lemma 5.4 (footnote)",
    "Of two literals with equal bias TopDown tests the earlier one first, without loss of "
    "generality.",
    (
        Reading(
            "the printed loop, which replaces the best pair on >=",
            partial(earlier_first, "last"),
            counterexample="x1 & x2: tests x2, x1",
        ),
        Reading("a loop that replaces it on > (ties='first')", partial(earlier_first, "first")),
    ),
    "Errors are the same either way.",
)


def as_biases(biases: Biases, size: int) -> dict[Fraction, Fraction]:
    """J_t as printed, a set of biases; the keys are its elements, the values their biases."""
    return {bias: bias for bias in sorted(biases)[:size]}


def as_indexes(biases: Biases, size: int) -> dict[int, Fraction]:
    """J_t as the set of indexes {i_1, ..., i_t}; the values are their biases."""
    order = sorted(range(len(biases)), key=biases.__getitem__)
    return {index: biases[index] for index in order[:size]}


def chooses_least(chosen: Callable[[Biases, int], dict], quick: bool) -> Covered:
    """Whether J_t has t elements, and no t literals have a smaller product of biases."""
    for biases in cases(quick):
        for size in range(len(biases) + 1):
            least = chosen(biases, size)
            case = f"biases {_show(biases)}"
            require(len(least) == size, f"{case}: J_{size} has {len(least)} of {size} elements")
            product = math.prod(least.values(), start=Fraction(1))
            others = min(math.prod(some, start=Fraction(1)) for some in combinations(biases, size))
            require(product == others, f"{case}: product {product}, another has {others}")
    return Covered(describe(quick).partition(";")[0], "exact")


index_set = Statement(
    "Section 5.1",
    "J_t, the t indexes of least bias, is written as a set of biases p_i.",
    (
        Reading(
            "a set of biases, as printed",
            partial(chooses_least, as_biases),
            counterexample="biases 4/5, 4/5: J_2 has 1 of 2 elements",
        ),
        Reading("a set of indexes", partial(chooses_least, as_indexes)),
    ),
    "It must be the set of indexes {i_1, ..., i_t}; all later uses agree with that.",
)


def _subsets(biases: Biases, size: int) -> Iterator[tuple[int, ...]]:
    return combinations(range(len(biases)), size)


def _skewed_error(biases: Biases, chosen: tuple[int, ...]) -> Fraction:
    tested = math.prod((biases[i] for i in chosen), start=Fraction(1))
    others = (bias for i, bias in enumerate(biases) if i not in chosen)
    return tested * minority(math.prod(others, start=Fraction(1)))


def _tests_irrelevant(growth) -> bool:
    return any(step.variable in IRRELEVANT for step in growth.steps)


def _show(biases: Biases) -> str:
    return ", ".join(map(str, biases))


STATEMENTS = (
    greedy_is_optimal,
    right_skewed_is_optimal,
    ascending_order,
    least_biases_first,
    tie_order,
    index_set,
)
