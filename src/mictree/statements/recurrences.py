"""Identities behind the paper's tools: error reductions, hardness, and both recurrences for OPT.

Section 6.1: a tree's error is that of a lone leaf minus the error reductions of its nodes. Section
4: the smallest tree that fits a sample is what OPT over the sample finds, the reduction behind the
hardness theorem. Section 7 and supplement E: the recurrences over term sizes, for one bias and for
two, give OPT; how many trees there are, and how many steps the dynamic program takes.

The recurrences stand here as printed, in exact fractions, and are compared both with the errors of
all trees by enumeration and with our solver, so neither is trusted.
"""

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, product

import numpy as np

from mictree.functions.read_once import ReadOnceDNF
from mictree.optimal import optimal_errors
from mictree.optimal.solve import minimal_consistent_tree
from mictree.problems import FormulaProblem, TableProblem
from mictree.statements.checks import (
    Covered,
    Enumeration,
    Reading,
    Statement,
    any_tree,
    as_table,
    require,
    states,
)
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


IDENTITIES = (error_is_reduction, reduction_runs, hardness_setting)


BIASES = ((Fraction(3, 10), Fraction(7, 10)), (Fraction(2, 5), Fraction(3, 5)))
Counts = tuple[tuple[int, int], ...]  # for each term its literals of either bias


@cache
def uniform_recurrence(terms: tuple[int, ...], size: int) -> Fraction:
    """OPT(F, t) as printed, F the multiset of term sizes, and OPT(true, t) = 0."""
    if not terms or 0 in terms:
        return Fraction(0)
    if size == 0:
        return minority(1 - math.prod((1 - HALF**term for term in terms), start=Fraction(1)))
    return min(
        HALF * uniform_recurrence(terms[:i] + terms[i + 1 :], j)
        + HALF * uniform_recurrence((*terms[:i], term - 1, *terms[i + 1 :]), size - 1 - j)
        for i, term in enumerate(terms)
        for j in range(size)
    )


@cache
def two_bias_recurrence(terms: Counts, biases: tuple[Fraction, Fraction], size: int) -> Fraction:
    """The same for two biases, as printed, S_i = 1 where a term has no literal of bias i."""
    if not terms or (0, 0) in terms:
        return Fraction(0)
    if size == 0:
        chances = (biases[0] ** first * biases[1] ** second for first, second in terms)
        return minority(1 - math.prod((1 - chance for chance in chances), start=Fraction(1)))
    errors = [Fraction(1)]
    for i, counts in enumerate(terms):
        for kind, bias in enumerate(biases):
            if counts[kind] == 0:
                continue
            shorter = (counts[0] - (kind == 0), counts[1] - (kind == 1))
            without, less = terms[:i] + terms[i + 1 :], (*terms[:i], shorter, *terms[i + 1 :])
            errors += [
                (1 - bias) * two_bias_recurrence(without, biases, j)
                + bias * two_bias_recurrence(less, biases, size - 1 - j)
                for j in range(size)
            ]
    return min(errors)


def term_sizes(variables: int) -> list[tuple[int, ...]]:
    """Every multiset of term sizes with at most that number of variables."""
    return [
        sizes
        for count in range(1, variables + 1)
        for sizes in combinations_with_replacement(range(1, variables + 1), count)
        if sum(sizes) <= variables
    ]


def two_bias_terms(variables: int) -> list[Counts]:
    """The same with a bias for every literal."""
    found = {
        tuple(sorted(zip(first, map(int.__sub__, sizes, first), strict=True)))
        for sizes in term_sizes(variables)
        for first in product(*(range(size + 1) for size in sizes))
    }
    return sorted(found)


def formula_problem(
    terms: Counts, biases: tuple[Fraction, Fraction], irrelevant: int = 0
) -> FormulaProblem:
    """The problem of a multiset of terms, and irrelevant variables."""
    formula = ReadOnceDNF.of_sizes([first + second for first, second in terms])
    values = [bias for counts in terms for bias, count in zip(biases, counts, strict=True)
              for _ in range(count)]  # fmt: skip
    extra = {f"z{number}": Fraction(1, 3) for number in range(1, irrelevant + 1)}
    return FormulaProblem(formula, dict(zip(formula.variables, values, strict=True)) | extra)


def enumerated(problem: FormulaProblem, max_size: int) -> list[Fraction]:
    """Least errors of all trees."""
    table = as_table(problem)
    return Enumeration(table, any_tree(table)).least_errors("any", max_size)


def _require_least(recurrence: list[Fraction], problem: FormulaProblem, case: str) -> None:
    """A recurrence gives the least errors of all trees for sizes 0, 1, ..., and so do we."""
    max_size = len(recurrence) - 1
    require(recurrence == enumerated(problem, max_size), case)
    solved = optimal_errors(problem, max_size, exact=True)
    require(recurrence == list(solved), f"{case}: our solver differs")


@states("Section 7.1", "The recurrence over term sizes gives OPT under the uniform distribution.")
def uniform_is_right(quick: bool) -> Covered:
    variables, max_size = (4, 6) if quick else (6, 10)
    for sizes in term_sizes(variables):
        problem = FormulaProblem(ReadOnceDNF.of_sizes(sizes))
        recurrence = [uniform_recurrence(sizes, size) for size in range(max_size + 1)]
        _require_least(recurrence, problem, f"terms of {sizes} literals")
    return Covered(
        f"all trees, by enumeration: every formula of up to {variables} variables, sizes 0 to "
        f"{max_size}",
        "exact; our solver gives the same",
    )


@states("Section 7.2 (Equation 4)", "The recurrence for two biases gives OPT.")
def two_biases_are_right(quick: bool) -> Covered:
    variables, max_size = (3, 5) if quick else (4, 7)
    for biases, terms in product(BIASES, two_bias_terms(variables)):
        problem = formula_problem(terms, biases)
        recurrence = [two_bias_recurrence(terms, biases, size) for size in range(max_size + 1)]
        _require_least(recurrence, problem, f"{terms} with biases {biases}")
    return Covered(
        f"all trees, by enumeration: every formula of up to {variables} variables, biases (0.3, "
        f"0.7) and (0.4, 0.6), sizes 0 to {max_size}",
        "exact; our solver gives the same",
    )


@cache
def printed_recurrence(terms: tuple[int, ...], size: int, skipping: bool) -> Fraction | None:
    """The recurrence with the printed start only; None where nothing is left to test.

    A choice that leads to such a value is left out if ``skipping``, and else leaves no value.
    """
    if not terms:
        return Fraction(0)
    if size == 0:
        return minority(1 - math.prod((1 - HALF**term for term in terms), start=Fraction(1)))
    errors = []
    for i, term in enumerate(terms):
        for j in range(size if term else 0):
            low = printed_recurrence(terms[:i] + terms[i + 1 :], j, skipping)
            less = (*terms[:i], term - 1, *terms[i + 1 :])
            high = printed_recurrence(less, size - 1 - j, skipping)
            if low is not None and high is not None:
                errors.append((low + high) / 2)
            elif not skipping:
                return None
    return min(errors, default=None)


def start_suffices(recurrence: Callable[..., Fraction | None], quick: bool) -> Covered:
    """Whether a recurrence has a value for every formula and size, and it is OPT."""
    variables, max_size = (4, 6) if quick else (5, 8)
    for sizes in term_sizes(variables):
        problem = FormulaProblem(ReadOnceDNF.of_sizes(sizes))
        for size, least in enumerate(optimal_errors(problem, max_size, exact=True)):
            value, case = recurrence(sizes, size), f"terms of {sizes} literals, t = {size}"
            require(value is not None, f"{case}: no value, OPT = {least}")
            require(value == least, f"{case}: {value}, OPT = {least}")
    return Covered(f"every formula of up to {variables} variables, sizes 0 to {max_size}", "exact")


missing_start = Statement(
    "Supplement E (start)",
    "The recurrences start from OPT(F, 0) and OPT(false, t) = 0 only.",
    (
        Reading(
            "as printed",
            partial(start_suffices, lambda terms, size: printed_recurrence(terms, size, False)),
            counterexample="terms of (1,) literals, t = 2: no value, OPT = 0",
        ),
        Reading(
            "choices without a value are left out",
            partial(start_suffices, lambda terms, size: printed_recurrence(terms, size, True)),
        ),
        Reading(
            "with OPT(true, t) = 0 as well",
            partial(start_suffices, lambda terms, size: uniform_recurrence(terms, size)),
        ),
    ),
    "For F = (x1) and t = 2, j = 0 asks for OPT(true, 1), a minimum over no literal at all. Also F "
    "must be a multiset: equal terms count twice.",
)


@states("Supplement E", "Variables that the formula does not use never lower the least error.")
def irrelevant_never_helps(quick: bool) -> Covered:
    variables, max_size = (3, 5) if quick else (4, 8)
    for terms in two_bias_terms(variables):
        problem = formula_problem(terms, BIASES[0], irrelevant=1)
        without = enumerated(formula_problem(terms, BIASES[0]), max_size)
        require(enumerated(problem, max_size) == without, f"{terms} with biases {BIASES[0]}")
    return Covered(
        f"all trees, by enumeration: every formula of up to {variables} variables with biases 0.3, "
        f"0.7, and one irrelevant variable of bias 1/3, sizes 0 to {max_size}",
        "exact",
    )


@states(
    "Section 7.1 (count)",
    "There are at least t! 2^t decision trees with t inner nodes.",
    counterexample="over t variables 1 of 2 trees with t = 1, 4 of 8 trees with t = 2, 36 of 48 "
    "trees with t = 3; over 2 variables 2 of 48 trees with t = 3",
    note="Leaves are not counted apart. Over t variables it is true for 4 <= t <= 12; it needs "
    "enough variables.",
)
def number_of_trees(quick: bool) -> Covered:
    few = [
        f"{trees} of {claimed} trees with t = {size}"
        for size in range(1, 13)
        if (trees := count_trees(size, size)) < (claimed := math.factorial(size) * 2**size)
    ]
    over_two, claimed = count_trees(2, 3), math.factorial(3) * 2**3
    two = f"over 2 variables {over_two} of {claimed} trees with t = 3"
    require(not few and over_two >= claimed, f"over t variables {', '.join(few)}; {two}")
    return Covered("1 <= t <= 12")


@cache
def count_trees(variables: int, size: int) -> int:
    """How many trees test no variable twice on a path, leaves unlabelled."""
    if size == 0:
        return 1
    if variables == 0:
        return 0
    return variables * sum(
        count_trees(variables - 1, low) * count_trees(variables - 1, size - 1 - low)
        for low in range(size)
    )


TABLES = ((4, 4), (3,), (2, 5), (2, 2, 3))  # term sizes whose table is counted


def entries_bounded(quick: bool) -> Covered:
    """Whether the table has at most (|c_1| + 1) ... (|c_k| + 1) (t + 1) entries."""
    for terms, size in product(TABLES, (10, 20, 40)):
        entries, _ = _table_and_steps(terms, size)
        bound = math.prod(term + 1 for term in terms) * (size + 1)
        require(entries <= bound, f"terms of {terms}, t = {size}: {entries} entries, {bound}")
    return Covered(f"{len(TABLES)} formulas, t = 10, 20, 40")


def sums_bounded(quick: bool) -> Covered:
    """Whether the sums that fill an entry do not become more when t grows."""
    for terms in TABLES:
        per_entry = []
        for size in (10, 20):
            entries, sums = _table_and_steps(terms, size)
            bound = len(terms) * size**2 * math.prod(term + 1 for term in terms)
            require(sums <= bound, f"terms of {terms}, t = {size}: {sums} sums, corrected {bound}")
            per_entry.append(Fraction(sums, entries))
        few, many = per_entry
        case = f"terms of {terms} literals"
        require(many <= few, f"{case}: {few} sums an entry with t = 10, {many} with t = 20")
    return Covered(f"{len(TABLES)} formulas, t = 10, 20")


cost_of_program = Statement(
    "Section 7.1 (cost)",
    "The dynamic program takes O(|c_1| ... |c_k| t) steps.",
    (
        Reading(
            "a step is a sum of two entries",
            sums_bounded,
            counterexample="terms of (4, 4) literals: 8 sums an entry with t = 10, 16 with t = 20",
        ),
        Reading("a step is an entry of the table", entries_bounded),
    ),
    "That is the size of the table, a removed term counted as another size. Every entry is a "
    "minimum over k terms and t ways to share the splits, so it takes O(k t^2 (|c_1|+1) ... "
    "(|c_k|+1)) sums.",
)


def _table_and_steps(terms: tuple[int, ...], max_size: int) -> tuple[int, int]:
    """How many entries the table has, and how many sums fill it."""
    states = {tuple(sorted(t for t in sizes if t >= 0)) for sizes in
              product(*(range(-1, term + 1) for term in terms)) if 0 not in sizes}  # fmt: skip
    steps = sum(len(state) * size for state in states for size in range(max_size + 1))
    return len(states) * (max_size + 1), steps


STATEMENTS = (*IDENTITIES, uniform_is_right, number_of_trees, cost_of_program, two_biases_are_right,
              irrelevant_never_helps, missing_start)  # fmt: skip
