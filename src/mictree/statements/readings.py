"""Section 6 read closely: values of error reductions, and definitions that need a correction."""

from fractions import Fraction
from itertools import product

from mictree.statements.checks import Counterexample, Covered, require, states
from mictree.statements.inequalities import HALF, minority
from mictree.statements.two_terms import pairs, rate, staircase_error, two_terms
from mictree.growers.rules import TopDown
from mictree.optimal.staircase import staircase_tree
from mictree.tree import Tree


def error_reduction(count_x: int, count_y: int) -> Fraction:
    """C(v) of an x-node with so many literals left in either term; no y-literals: one term."""
    low = HALF**count_y if count_y else Fraction(0)
    high = rate(count_x - 1, count_y)
    return minority(rate(count_x, count_y)) - (minority(low) + minority(high)) / 2


def printed_reduction(count_x: int, count_y: int) -> Fraction | None:
    """What the lemma's four cases say, or None where no case applies."""
    if (count_x, count_y) == (1, 0):
        return HALF
    if count_y >= 2 and count_x == 2:
        return HALF**count_y - HALF ** (count_y + 1)
    if count_y >= 2 and count_x == 1:
        return HALF - HALF**count_y
    if (count_x > 1 and count_y == 0) or (count_x > 2 and count_y > 2):
        return Fraction(0)
    return None


@states(
    "Lemma C.8",
    "An x-node with k1 x- and k2 y-literals left reduces the error by 1/2 (k1 = 1, k2 = 0), by "
    "2^-(k2+1) (k1 = 2 <= k2), by 1/2 - 2^-k2 (k1 = 1, k2 >= 2), and not at all when k1 > 1, k2 = "
    "0 or k1, k2 > 2.",
)
def four_cases(quick: bool) -> Covered:
    largest = 20 if quick else 64
    for count_x, count_y in product(range(1, largest + 1), range(largest + 1)):
        printed, true = printed_reduction(count_x, count_y), error_reduction(count_x, count_y)
        require(printed in (None, true), f"k1={count_x}, k2={count_y}: {true}, printed {printed}")
    return Covered(f"every case with k1, k2 <= {largest}", "exact")


@states(
    "Lemma C.8 (gaps)",
    "The four cases are used as if they were all cases.",
    expected="unclear as printed",
)
def omitted_cases(quick: bool) -> Covered:
    largest = 20 if quick else 64
    omitted = {
        (x, y): error_reduction(x, y)
        for x, y in product(range(1, largest + 1), range(largest + 1))
        if printed_reduction(x, y) is None
    }
    expected = {(x, 1) for x in range(1, largest + 1)} | {(x, 2) for x in range(3, largest + 1)}
    require(set(omitted) == expected, "other cases are left out")
    require(set(omitted.values()) == {0}, "a case that is left out has another value than 0")
    return Covered(
        f"every case with k1, k2 <= {largest}",
        "Left out are k2 = 1 (any k1) and k2 = 2 with k1 >= 3; the reduction is 0 in all of them. "
        "The proof of Proposition 6.4 needs them: a y-node at the root with l = 2 < m is the "
        "latter, and with l = 1, m = 2 the x-node below it has k1 = k2 = 1. 'k1, k2 > 2' should be "
        "'k1 > 2 or k2 = 1'.",
    )


@states(
    "Lemma C.9 (proof)",
    "A full right path of the l x-nodes reduces the error by exactly 2^-l.",
    expected="fails",
)
def full_path_reduction(quick: bool) -> Covered:
    largest = 12 if quick else 32
    wrong = []
    for shorter, longer in pairs(largest):
        reduction = minority(rate(shorter, longer)) - staircase_error(shorter, longer, shorter)
        if reduction != HALF**shorter:
            wrong.append((shorter, longer))
            require(reduction == HALF - HALF**longer, f"l={shorter}, m={longer}: {reduction}")
    require(all(shorter == 1 for shorter, _ in wrong), f"wrong beyond l = 1: {wrong[-1]}")
    if wrong:
        raise Counterexample(
            "l = 1: it is 1/2 - 2^-m, as the node with k1 = 2 does not exist; m = 1, ..., "
            f"{largest}. For all 2 <= l <= m <= {largest} it is 2^-l, exactly. The same holds for "
            "the last two sums of case 4 of Proposition 6.4. No conclusion depends on l = 1."
        )
    return Covered(f"all l <= m <= {largest}")


@states(
    "Section 6.1 (C(v))",
    "C(v) is defined by the children of v under the split of largest gain.",
    expected="unclear as printed",
)
def own_split(quick: bool) -> Covered:
    problem = two_terms(2, 3)
    tree = Tree.build(problem.variables, ("y1", 0, 1))
    labelled = Tree.build(problem.variables, ("y1", 0, 0))
    error = min(tree.error(problem, exact=True), labelled.error(problem, exact=True))
    root = minority(rate(2, 3))
    best = TopDown(ties="first").grow(problem, 1)
    gained = root - best.exact_errors[1]
    require(best.steps[0].variable == "x1" and gained == HALF**4, f"the best split gains {gained}")
    require(error == root != gained, f"the tree's error is {error}")
    return Covered(
        "x1 & x2 | y1 & y2 & y3, the tree that tests y1 only",
        "Its error is 11/32, the root's. With the split of largest gain (x1) C(T) would be 1/16 "
        "and E(T) 9/32. In C(T) the children must be those of the tree.",
    )


@states(
    "Section 6.1 (C_2)",
    "In C_2 the right subtree of a y-node on the right path is a right path of x-nodes.",
    expected="unclear as printed",
)
def class_two(quick: bool) -> Covered:
    tree = ("y1", ("x1", 0, 0), ("y2", ("x1", 0, 0), 0))
    require(_in_class_two(tree, low_side=True), "the tree is not in C_2 as we read it")
    require(not _in_class_two(tree, low_side=False), "the tree is in C_2 as printed")
    return Covered(
        "the tree y1(x1, y2(x1, -))",
        "The left subtree is meant, as the figure shows and as x-nodes have it. As printed the "
        "tree above is not in C_2, but Lemma C.7 puts an optimal tree of C_2 under a y-node and "
        "calls the result one of C_2, which only the left reading allows.",
    )


def _in_class_two(tree, low_side: bool) -> bool:
    """Whether a nested tree is in C_2, a y-node's low (or, as printed, high) side an x-path."""
    while not isinstance(tree, int):
        name, low, high = tree
        if name[0] == "x" and not _is_path(low, "y"):
            return False
        if name[0] == "y" and not _is_path(low if low_side else high, "x"):
            return False
        tree = high
    return True


def _is_path(tree, kind: str) -> bool:
    while not isinstance(tree, int):
        name, low, tree = tree
        if name[0] != kind or not isinstance(low, int):
            return False
    return True


@states(
    "Section 6.1 (B_t)",
    "B_t has x-nodes on its right path, and a left subtree below another is begun only if it is "
    "itself full.",
    expected="unclear as printed",
)
def staircase_definition(quick: bool) -> Covered:
    printed = [_count_staircases(2, 3, size, "printed") for size in range(9)]
    corrected = [_count_staircases(2, 3, size, "v1") for size in range(9)]
    path_first = [_count_staircases(2, 3, size, "path first") for size in range(9)]
    require(printed == [1, 1, 2, 2, 2, 2, 1, 1, 1], f"as printed: {printed}")
    require(corrected == [1, 1, 2, 2, 2, 1, 1, 1, 1], f"with v_1: {corrected}")
    require(path_first == [1] * 9, f"with the right path first: {path_first}")
    return Covered(
        "x1 & x2 | y1 & y2 & y3, sizes 0 to 8",
        f"Trees that fit the printed condition (v_2 twice): {printed}; the one of size 6 fills the "
        "second left subtree before the first, unlike T_6. With 'left subtree of v_1' for the "
        f"second: {corrected}, so B_2 is not unique. With the right path completed before any left "
        "subtree, as the proof says: one of each size.",
    )


def _count_staircases(shorter: int, longer: int, size: int, reading: str) -> int:
    """How many lists of left sizes, one for each x-node from the root down, fit a reading."""
    count = 0
    for path in range(min(shorter, size) + 1):
        for sizes in product(range(longer + 1), repeat=path):
            if path + sum(sizes) != size:
                continue
            if reading == "printed":  # for a v_2 below some v_1: not a leaf only if v_2's is full
                fits = all(below in (0, longer) for below in sizes[1:])
            else:
                fits = all(
                    sizes[i] == longer
                    for i in range(path)
                    for j in range(i + 1, path)
                    if sizes[j] > 0
                )
            if reading == "path first":
                fits = fits and (path == shorter or not any(sizes))
            count += fits
    return count


@states(
    "Section 3 (entropy)",
    "H(x) = -x log(x) - (1-x) log(x), base 2.",
    expected="unclear as printed",
)
def printed_entropy(quick: bool) -> Covered:
    quarter, bits = Fraction(1, 4), 2  # -log2(1/4)
    printed = quarter * bits + (1 - quarter) * bits
    require(printed > 1, f"the printed H(1/4) is {printed}")
    return Covered(
        "x = 1/4",
        "As printed H(x) = -log(x): 2 bits at 1/4, and not symmetric. The second logarithm is of "
        "1 - x, as in Lemma C.2.",
    )


@states(
    "Section 3 (size)",
    "The loop of TopDown counts the nodes of T up to t.",
    expected="unclear as printed",
)
def counted_nodes(quick: bool) -> Covered:
    tree = staircase_tree(two_terms(2, 3), 5)
    nodes = len(tree.tests)
    require((tree.size, nodes) == (5, 11), f"{tree.size} internal nodes, {nodes} nodes")
    return Covered(
        "x1 & x2 | y1 & y2 & y3, t = 5",
        "Internal nodes are meant: the figure's B_5 has 5 of them, and 11 nodes with its leaves.",
    )


STATEMENTS = (own_split, class_two, staircase_definition, four_cases, omitted_cases,
              full_path_reduction, printed_entropy, counted_nodes)  # fmt: skip
