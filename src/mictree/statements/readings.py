"""Sections 3 and 6 read closely: error reductions, and definitions that need a correction.

The supplement states the error reductions of all nodes of two-term trees by cases, and defines the
trees it compares in words. Some cases and definitions are misprinted or can be read in several
ways. Here each reading is checked by itself, and those that fail come with their counterexample.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

from flint import arb

from mictree._support.numbers import precision
from mictree.growers.rules import TopDown
from mictree.optimal.solve import staircase_tree
from mictree.statements.checks import Covered, Reading, Statement, require, states
from mictree.statements.inequalities import (
    HALF,
    POINT_PRECISION,
    as_ball,
    entropy_at,
    equal,
    log2,
    minority,
)
from mictree.statements.two_terms import pairs, rate, staircase_error, topdown, two_terms
from mictree.tree import LEAF, Tree


def error_reduction(count_x: int, count_y: int) -> Fraction:
    """C(v) of an x-node, given the literals left in each term; no y-literals means one term."""
    low = HALF**count_y if count_y else Fraction(0)
    high = rate(count_x - 1, count_y)
    return minority(rate(count_x, count_y)) - (minority(low) + minority(high)) / 2


def printed_reduction(count_x: int, count_y: int) -> Fraction | None:
    """The value by the lemma's four cases, or None if no case applies."""
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


def corrected_reduction(count_x: int, count_y: int) -> Fraction | None:
    """``printed_reduction`` with 'k1 > 2 or k2 = 1' for 'k1, k2 > 2' in the last case."""
    printed = printed_reduction(count_x, count_y)
    return Fraction(0) if printed is None and (count_x > 2 or count_y == 1) else printed


def cover_all(cases: Callable[[int, int], Fraction | None], quick: bool) -> Covered:
    """Whether some case applies to every node, and gives its error reduction."""
    largest = 20 if quick else 64
    for count_x, count_y in product(range(1, largest + 1), range(largest + 1)):
        given, true = cases(count_x, count_y), error_reduction(count_x, count_y)
        case = f"k1 = {count_x}, k2 = {count_y}"
        require(given is not None, f"{case}: no case applies, the reduction is {true}")
        require(given == true, f"{case}: the reduction is {true}, not {given}")
    return Covered(f"every case with k1, k2 <= {largest}", "exact")


omitted_cases = Statement(
    "Lemma C.8 (gaps)",
    "The four cases are used as if they were all cases.",
    (
        Reading(
            "as printed",
            partial(cover_all, printed_reduction),
            counterexample="k1 = 1, k2 = 1: no case applies, the reduction is 0",
        ),
        Reading(
            "with 'k1 > 2 or k2 = 1' for 'k1, k2 > 2'",
            partial(cover_all, corrected_reduction),
        ),
    ),
    "Left out are k2 = 1 (any k1) and k2 = 2 with k1 >= 3; the reduction is 0 in all of them. The "
    "proof of Proposition 6.4 needs them: a y-node at the root with l = 2 < m is the latter, and "
    "with l = 1, m = 2 the x-node below it has k1 = k2 = 1.",
)


@states(
    "Lemma C.9 (proof)",
    "A full right path of the l x-nodes reduces the error by exactly 2^-l.",
    counterexample="l = 1, m = 1: it is 0, not 1/2",
    note="With l = 1 it is 1/2 - 2^-m, as the node with k1 = 2 does not exist; for all 2 <= l <= m "
    "it is 2^-l, exactly. The same holds for the last two sums of case 4 of Proposition 6.4. No "
    "conclusion depends on l = 1.",
)
def full_path_reduction(quick: bool) -> Covered:
    largest = 12 if quick else 32
    reductions = {
        (shorter, longer): minority(rate(shorter, longer))
        - staircase_error(shorter, longer, shorter)
        for shorter, longer in pairs(largest)
    }
    for (shorter, longer), reduction in reductions.items():  # the correction, for all of them
        true = HALF - HALF**longer if shorter == 1 else HALF**shorter
        case = f"l = {shorter}, m = {longer}"
        require(reduction == true, f"{case}: it is {reduction}, corrected {true}")
    for (shorter, longer), reduction in reductions.items():
        case = f"l = {shorter}, m = {longer}"
        require(reduction == HALF**shorter, f"{case}: it is {reduction}, not {HALF**shorter}")
    return Covered(f"all l <= m <= {largest}")


def reduction_adds_up(own_split: bool, quick: bool) -> Covered:
    """Whether E(T) = C(q) - C(T) for trees of one test, C(v) by the own or by the best split."""
    problem = two_terms(2, 3)
    root = minority(rate(2, 3))
    best = root - TopDown(ties="first").grow(problem, 1).exact_errors[1]
    for name in problem.variables:
        trees = [
            Tree.build(problem.variables, (name, *labels)) for labels in product((0, 1), repeat=2)
        ]
        error = min(tree.error(problem, exact=True) for tree in trees)
        own = sum(trees[0].error_reductions(problem, exact=True).values(), Fraction(0))
        left = root - (own if own_split else best)
        case = f"the tree that tests {name}"
        require(error == left, f"{case}: E(T) = {error}, C(q) - C(T) = {left}")
    return Covered("x1 & x2 | y1 & y2 & y3, the five trees of one test", "exact")


own_split = Statement(
    "Section 6.1 (C(v))",
    "C(v) is defined by the children of v under the split of largest gain.",
    (
        Reading(
            "the split of largest gain, as printed",
            partial(reduction_adds_up, False),
            counterexample="the tree that tests y1: E(T) = 11/32, C(q) - C(T) = 9/32",
        ),
        Reading("the split that the tree makes at v", partial(reduction_adds_up, True)),
    ),
    "In C(T) the children must be those of the tree.",
)


def closed_under_y(low_side: bool, quick: bool) -> Covered:
    """Whether a y-node above an x-path and a tree of C_2 is one of C_2, as Lemma C.7 has it."""
    trees = [0, ("x1", 0, 0), ("y2", 0, 0), ("y2", ("x1", 0, 0), 0), ("x1", ("y2", 0, 0), 0)]
    trees += [("y2", 0, ("x1", 0, 0)), ("x1", 0, ("y2", ("x2", 0, 0), 0))]
    paths = [0, ("x1", 0, 0), ("x1", 0, ("x2", 0, 0))]
    members = [tree for tree in trees if _in_class_two(tree, low_side)]
    for path, tree in product(paths, members):
        whole = ("y1", path, tree)
        require(_in_class_two(whole, low_side), f"{_show(whole)} is not in C_2, {_show(tree)} is")
    return Covered(f"{len(paths)} paths beside {len(members)} trees of C_2 under a y-node")


class_two = Statement(
    "Section 6.1 (C_2)",
    "In C_2 the right subtree of a y-node on the right path is a right path of x-nodes.",
    (
        Reading(
            "the right subtree, as printed",
            partial(closed_under_y, False),
            counterexample="y1(-, y2(-, -)) is not in C_2, y2(-, -) is",
        ),
        Reading("the left subtree", partial(closed_under_y, True)),
    ),
    "The left subtree is meant, as the figure shows and as x-nodes have it: Lemma C.7 puts an "
    "optimal tree of C_2 under a y-node and calls the result one of C_2, which only the left "
    "reading allows.",
)


def _show(tree) -> str:
    """A nested tree in one line."""
    return "-" if isinstance(tree, int) else f"{tree[0]}({_show(tree[1])}, {_show(tree[2])})"


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


def one_of_each_size(reading: str, quick: bool) -> Covered:
    """Whether exactly one tree of each size fits a reading of B_t, and TopDown grows it."""
    found = [_staircases(2, 3, size, reading) for size in range(9)]
    counts = [len(fitting) for fitting in found]
    require(counts == [1] * 9, f"sizes 0 to 8: {', '.join(map(str, counts))} trees")
    for size, [fitting] in enumerate(found):
        grown = _left_sizes(topdown(2, 3).tree(size))
        require(
            grown == fitting, f"size {size}: left subtrees of {fitting} splits, T_t has {grown}"
        )
    return Covered("x1 & x2 | y1 & y2 & y3, sizes 0 to 8")


staircase_definition = Statement(
    "Section 6.1 (B_t)",
    "B_t has x-nodes on its right path, and a left subtree below another is begun only if it is "
    "itself full.",
    (
        Reading(
            "as printed, v_2 twice",
            partial(one_of_each_size, "printed"),
            counterexample="sizes 0 to 8: 1, 1, 2, 2, 2, 2, 1, 1, 1 trees",
        ),
        Reading(
            "with 'left subtree of v_1' for the second",
            partial(one_of_each_size, "v1"),
            counterexample="sizes 0 to 8: 1, 1, 2, 2, 2, 1, 1, 1, 1 trees",
        ),
        Reading(
            "with v_1, and the right path completed before any left subtree, as the proof says",
            partial(one_of_each_size, "path first"),
        ),
    ),
    "As printed, the tree of size 6 fills the second left subtree before the first, unlike T_6; "
    "with v_1, B_2 is not unique.",
)


def _left_sizes(tree: Tree) -> tuple[int, ...]:
    """The splits in the low subtree of each node on the right path, from the root down."""

    def splits(node: int) -> int:
        if tree.tests[node] == LEAF:
            return 0
        return 1 + splits(tree.low[node]) + splits(tree.high[node])

    sizes, node = [], 0
    while tree.tests[node] != LEAF:
        sizes.append(splits(tree.low[node]))
        node = tree.high[node]
    return tuple(sizes)


def _staircases(shorter: int, longer: int, size: int, reading: str) -> list[tuple[int, ...]]:
    """The lists of left sizes, one for each x-node from the root down, that fit a reading."""
    found = []
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
            if fits:
                found.append(sizes)
    return found


def printed_entropy(rate: Fraction) -> arb:
    """H as printed, -x log(x) - (1-x) log(x)."""
    bits = -log2(as_ball(rate))
    return as_ball(rate) * bits + as_ball(1 - rate) * bits


def is_entropy(entropy: Callable[[Fraction], arb], quick: bool) -> Covered:
    """Whether H(1/2) = 1, and choosing x first or y first of three outcomes gives the same bits."""
    parts = 16
    grids = [[Fraction(i, cut) for i in range(1, cut)] for cut in (4, parts)]  # simple ones first
    with precision(POINT_PRECISION):
        require(equal(entropy(HALF), arb(1)), f"H(1/2) = {_digits(entropy(HALF))}")
        for x, y in (pair for grid in grids for pair in product(grid, grid)):
            if x + y > 1:
                continue
            one, other = (
                entropy(first) + as_ball(1 - first) * entropy(then / (1 - first))
                for first, then in ((x, y), (y, x))
            )
            case = f"x = {x}, y = {y}"
            require(equal(one, other), f"{case}: {_digits(one)} or {_digits(other)} bits")
    return Covered(f"multiples of 1/{parts}", "to 200 bits; together these determine the entropy")


def _digits(value: arb) -> str:
    return value.str(5, radius=False)


printed_entropy_is_one = Statement(
    "Section 3 (entropy)",
    "H(x) = -x log(x) - (1-x) log(x), base 2, is the entropy.",
    (
        Reading(
            "the second logarithm of x, as printed",
            partial(is_entropy, printed_entropy),
            counterexample="x = 1/4, y = 1/2: 2.4387 or 1.5000 bits",
        ),
        Reading("the second logarithm of 1 - x", partial(is_entropy, entropy_at)),
    ),
    "As printed H(x) = -log(x), which is not symmetric. Lemma C.2 uses 1 - x.",
)


def loop_ends_at_staircase(counted: Callable[[Tree], int], quick: bool) -> Covered:
    """Whether TopDown's loop, which ends when t nodes are counted, ends with B_t."""
    growth, problem = topdown(2, 3), two_terms(2, 3)
    for size in range(1, growth.max_size + 1):
        splits = next(n for n in range(size + 1) if counted(growth.tree(n)) >= size)
        staircase = staircase_tree(problem, size)
        case = f"t = {size}: the loop ends after {splits} splits, B_t has {staircase.size}"
        require(growth.tree(splits) == staircase, case)
    return Covered("x1 & x2 | y1 & y2 & y3, sizes 1 to 8")


counted_nodes = Statement(
    "Section 3 (size)",
    "The loop of TopDown counts the nodes of T up to t.",
    (
        Reading(
            "all nodes, leaves too",
            partial(loop_ends_at_staircase, lambda tree: len(tree.tests)),
            counterexample="t = 1: the loop ends after 0 splits, B_t has 1",
        ),
        Reading("internal nodes", partial(loop_ends_at_staircase, lambda tree: tree.size)),
    ),
    "Internal nodes are meant: the figure's B_5 has 5 of them, and 11 nodes with its leaves.",
)


STATEMENTS = (own_split, class_two, staircase_definition, four_cases, omitted_cases,
              full_path_reduction, printed_entropy_is_one, counted_nodes)  # fmt: skip
