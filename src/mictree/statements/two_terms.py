"""Section 6: for two terms under the uniform distribution TopDown grows the best tree.

The terms are (x1 & ... & x_shorter) | (y1 & ... & y_longer), the paper's l <= m. The best tree of
every size is the staircase: the shorter term on the right path, and to the left of each of its
nodes a path of the longer term. It is checked that TopDown grows it, that no tree of its size has
less error, and that BestFirst may do worse, depending on ties.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate

from mictree.growers.rules import BestFirst, Growth, TopDown
from mictree.optimal import optimal_errors
from mictree.optimal.solve import staircase_tree
from mictree.problems import FormulaProblem
from mictree.statements.checks import (
    Covered,
    Enumeration,
    Grammar,
    Reading,
    Statement,
    any_tree,
    as_table,
    require,
    right_path,
    states,
)
from mictree.statements.inequalities import HALF, minority
from mictree.tree import Tree

MAX_LITERALS = 16  # in one term


def pairs(largest: int) -> Iterator[tuple[int, int]]:
    """Lengths of two terms, the shorter one first."""
    return ((low, high) for high in range(1, largest + 1) for low in range(1, high + 1))


def perfect_size(shorter: int, longer: int) -> int:
    """The size at which the staircase has no error."""
    return shorter + shorter * longer


def two_terms(shorter: int, longer: int, irrelevant: int = 0) -> FormulaProblem:
    """x-variables, y-variables, then variables that the formula does not use, all with bias 1/2."""
    terms = [[f"{name}{number}" for number in range(1, count + 1)]
             for name, count in (("x", shorter), ("y", longer))]  # fmt: skip
    names = [*terms[0], *terms[1], *(f"z{number}" for number in range(1, irrelevant + 1))]
    formula = " | ".join(" & ".join(term) for term in terms if term)
    return FormulaProblem(formula, dict.fromkeys(names, HALF))


@cache
def topdown(shorter: int, longer: int) -> Growth:
    """TopDown up to the perfect size; of equal gains the first, so that x-variables come first."""
    problem = two_terms(shorter, longer)
    return TopDown(ties="first").grow(problem, perfect_size(shorter, longer))


@cache
def optimal(shorter: int, longer: int) -> list[Fraction]:
    """Least errors up to the perfect size."""
    size = perfect_size(shorter, longer)
    return list(optimal_errors(two_terms(shorter, longer), size, exact=True))


def rate(count_x: int, count_y: int) -> Fraction:
    """The positive rate, given the literals left in each term; 0 for y means a single term."""
    x, y = HALF**count_x, HALF**count_y if count_y else Fraction(0)
    return x + y - x * y


def staircase_error(shorter: int, longer: int, size: int) -> Fraction:
    """E(B_t) leaf by leaf: a left subtree errs unless it is full, and so does the right path."""
    path = min(size, shorter)
    full = min((size - path) // longer, path)
    error = HALF**path * minority(rate(shorter - path, longer))
    return error + sum((HALF ** (step + 1 + longer) for step in range(full, path)), Fraction(0))


def covered(largest: int) -> str:
    """The range of all pairs of terms, in words."""
    return f"all {largest * (largest + 1) // 2} pairs of terms with up to {largest} literals each"


@cache
def departure(shorter: int, longer: int) -> int | None:
    """The least size at which TopDown's tree is not the staircase tree; None if there is none."""
    growth, problem = topdown(shorter, longer), two_terms(shorter, longer)
    sizes = range(growth.max_size + 1)
    return next((t for t in sizes if growth.tree(t) != staircase_tree(problem, t)), None)


def require_staircases(shorter: int, longer: int) -> None:
    """Raise Counterexample at a size where TopDown's tree is not the staircase tree."""
    size = departure(shorter, longer)
    require(size is None, f"terms of {shorter} and {longer} literals, size {size}: another tree")


@states("Proposition 6.3", "TopDown's tree of every size is the staircase tree of that size.")
def topdown_is_staircase(quick: bool) -> Covered:
    largest = 6 if quick else MAX_LITERALS
    for shorter, longer in pairs(largest):
        require_staircases(shorter, longer)
        growth = topdown(shorter, longer)
        require(len(growth.steps) == growth.max_size, f"{shorter}, {longer}: stops too early")
    return Covered(
        f"{covered(largest)}, every size up to the perfect one",
        "same tests in the same places, with ties='first'. For all lengths it follows from Lemma "
        "C.6 and the cited result on the shorter term, both certified for all lengths.",
    )


@states("Proposition 6.4", "The staircase tree of every size has the least error of that size.")
def staircase_is_optimal(quick: bool) -> Covered:
    largest = 6 if quick else MAX_LITERALS
    for shorter, longer in pairs(largest):
        for size, least in enumerate(optimal(shorter, longer)):
            error = staircase_error(shorter, longer, size)
            case = f"terms of {shorter} and {longer} literals, size {size}"
            require(error == least, f"{case}: {error} against {least}")
    return Covered(
        f"{covered(largest)}, every size up to the perfect one",
        "exact errors, against the dynamic program",
    )


@states("Theorem 6.1", "TopDown's tree of every size t >= 1 is B_t and has the least error.")
def topdown_is_optimal(quick: bool) -> Covered:
    largest = 6 if quick else MAX_LITERALS
    for shorter, longer in pairs(largest):
        require_staircases(shorter, longer)
        greedy = topdown(shorter, longer).exact_errors
        require(greedy == optimal(shorter, longer), f"terms of {shorter} and {longer} literals")
        require(greedy[-1] == 0 < greedy[-2], f"{shorter}, {longer}: perfect at another size")
    for shorter, longer in pairs(largest // 2):
        growth = TopDown(ties="last").grow(
            two_terms(shorter, longer), perfect_size(shorter, longer)
        )
        same = growth.exact_errors == optimal(shorter, longer)
        require(same, f"terms of {shorter} and {longer} literals, ties='last'")
    return Covered(
        f"{covered(largest)}, every size; errors stay 0 from size l + l m on",
        "same trees; exact errors, against the dynamic program; up to half as many literals also "
        "with the printed loop's order of ties",
    )


@states("Corollary 6.2", "TopDown's MIC for two terms is 0 at every t*.")
def mic_is_zero(quick: bool) -> Covered:
    largest = 6 if quick else MAX_LITERALS
    for shorter, longer in pairs(largest):
        curves = zip(topdown(shorter, longer).exact_errors, optimal(shorter, longer), strict=True)
        excesses = [greedy - least for greedy, least in curves]
        for size, total in enumerate(accumulate(excesses[1:]), start=1):
            case = f"terms of {shorter} and {longer} literals"
            require(total == 0, f"{case}: MIC({size}) = {total / size}")
    return Covered(f"{covered(largest)}, every t*", "exact; excesses beyond the perfect size are 0")


def keeps_pace(exactly: bool, quick: bool) -> Covered:
    """Whether T_t = B_t is optimal up to two sizes beyond the perfect one, with t splits."""
    largest = 3 if quick else 6
    for shorter, longer in pairs(largest):
        problem, last = two_terms(shorter, longer), perfect_size(shorter, longer) + 2
        growth = TopDown(ties="first").grow(problem, last)
        least = optimal_errors(problem, last, exact=True)
        for size in range(1, last + 1):
            tree, case = growth.tree(size), f"l = {shorter}, m = {longer}, t = {size}"
            require(tree == staircase_tree(problem, size), f"{case}: another tree than B_t")
            require(growth.exact_errors[size] == least[size], f"{case}: not optimal")
            enough = tree.size == size if exactly else tree.size <= size
            require(enough, f"{case}: the tree has {tree.size} splits")
    return Covered(f"{covered(largest)}, sizes 1 to l + l m + 2", "exact")


beyond_perfect = Statement(
    "Theorem 6.1 (range)",
    "T_t = B_t for every t >= 1, among trees with exactly (6.1) or at most (3) t splits.",
    (
        Reading(
            "exactly t splits",
            partial(keeps_pace, True),
            counterexample="l = 1, m = 1, t = 3: the tree has 2 splits",
        ),
        Reading("at most t splits", partial(keeps_pace, False)),
    ),
    "No B_t is described above size l + l m: every leaf is pure there, and the right path and all "
    "left paths are full. We let sizes above repeat that tree.",
)


def root_tests_x(ties: str, quick: bool) -> Covered:
    """Whether the root tests an x-variable when the terms are equally long, at no cost in error."""
    largest = 4 if quick else 8
    for length in range(1, largest + 1):
        problem = two_terms(length, length)
        growth = TopDown(ties=ties).grow(problem, perfect_size(length, length))
        same = growth.exact_errors == optimal(length, length)
        require(same, f"l = m = {length}: not optimal")
        root = growth.steps[0].variable
        require(root.startswith("x"), f"l = m = {length}: the root tests {root}")
    return Covered(f"two terms of 1 to {largest} literals each", "exact")


equal_lengths = Statement(
    "Theorem 6.1 (l = m)",
    "With terms of equal length the root tests an x-variable, without loss of generality.",
    (
        Reading(
            "the printed loop, which replaces the best pair on >=",
            partial(root_tests_x, "last"),
            counterexample="l = m = 1: the root tests y1",
        ),
        Reading("a loop that replaces it on > (ties='first')", partial(root_tests_x, "first")),
    ),
    "The printed loop takes the last of equals, a y-variable, so T_t is B_t only with the terms "
    "renamed. Errors are the same.",
)


def families(shorter: int, longer: int) -> Grammar:
    """The grammars of C_1 (x-path, y-path), of C_2, and of C_2 with x-nodes only on its path."""
    x, y = frozenset(range(shorter)), frozenset(range(shorter, shorter + longer))
    below_x, below_y = (x, "y-path", "two"), (y, "x-path", "two")
    only_x = {"only-x": ((x, "y-path", "only-x"),)}
    paths = right_path(x, "x-path") | right_path(y, "y-path")
    return paths | {"two": (below_x, below_y)} | only_x


@states(
    "Lemma C.7",
    "With one term some optimal tree is a right path of its variables (C_1); with two, a right "
    "path of x- and y-nodes whose left subtrees are right paths of the other kind (C_2).",
)
def structure_is_optimal(quick: bool) -> Covered:
    variables = 4 if quick else 6
    for shorter, longer in pairs(variables - 1):
        if shorter + longer <= variables:
            _require_class(shorter, longer, "two", perfect_size(shorter, longer) + 1)
    for count in range(1, variables + 1):
        _require_class(count, 0, "x-path", count + 1)
    return Covered(
        f"all trees, by enumeration: formulas of up to {variables} variables, and an irrelevant one"
    )


def _require_class(shorter: int, longer: int, kind: str, max_size: int) -> None:
    table = as_table(two_terms(shorter, longer, irrelevant=1))
    trees = Enumeration(table, families(shorter, longer) | any_tree(table))
    every, within = (trees.least_errors(name, max_size) for name in ("any", kind))
    require(every == within, f"terms of {shorter} and {longer}: {every} against {within}")


@states(
    "Lemma C.9",
    "Among trees of C_2 whose right path has x-nodes only, none of t nodes reduces the error more "
    "than B_t.",
)
def best_on_x_path(quick: bool) -> Covered:
    variables = 6 if quick else 9
    for shorter, longer in pairs(variables - 1):
        if shorter + longer > variables:
            continue
        trees = Enumeration(as_table(two_terms(shorter, longer)), families(shorter, longer))
        for size, least in enumerate(trees.least_errors("only-x", perfect_size(shorter, longer))):
            error = staircase_error(shorter, longer, size)
            require(least == error, f"terms of {shorter} and {longer} literals, size {size}")
    return Covered(f"all such trees, by enumeration: formulas of up to {variables} variables")


@states(
    "Supplement D",
    "For x1 & x2 | y1 & y2 & y3 BestFirst may fill the second left subtree before the first: its "
    "tree of size 5 is then worse than TopDown's, which is optimal.",
)
def best_first_is_worse(quick: bool) -> Covered:
    problem = two_terms(2, 3)
    y_path = ("y3", 0, ("y2", 0, ("y1", 0, 1)))
    worse = Tree.build(problem.variables, ("x2", 0, ("x1", y_path, 1)))
    least = optimal(2, 3)[5]
    for ties in ("last", "lightest"):
        tree = BestFirst(ties=ties).grow(problem, 5).tree(5)
        require(tree == worse, f"ties={ties!r} gives another tree:\n{tree.to_text(merge=False)}")
    for ties in ("first", "heaviest"):
        error = BestFirst(ties=ties).grow(problem, 5).exact_errors[5]
        require(error == least, f"ties={ties!r} has error {error}")
    errors = worse.error(problem, exact=True), least
    require(errors == (Fraction(1, 16), Fraction(1, 32)), f"the errors are {errors}")
    return Covered(
        "size 5, four tie rules",
        "Error 1/16 with ties last and lightest, 1/32 = OPT with first and heaviest: the left "
        "children have equal gain, so only the tie rule decides.",
    )


STATEMENTS = (
    topdown_is_optimal,
    beyond_perfect,
    equal_lengths,
    mic_is_zero,
    topdown_is_staircase,
    staircase_is_optimal,
    structure_is_optimal,
    best_on_x_path,
    best_first_is_worse,
)
