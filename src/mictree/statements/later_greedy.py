"""Other papers on the size and height of greedy trees, under the uniform distribution.

Fiat and Pechyony, "Decision trees: more theoretical justification for practical algorithms" (ALT
2004); Blanc, Lange and Tan, "Top-down induction of decision trees: rigorous guarantees and inherent
limitations" (ITCS 2020). A tree's size there is its number of leaves, here that of its splits.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import arb

from mictree._support.precision import precision
from mictree.families.family import up_to
from mictree.families.functions import FunctionFamily, functions, monotone, threshold
from mictree.families.sizes import exact_sizes
from mictree.families.sweep import sweep
from mictree.growers.rules import TopDown
from mictree.statements.balls import POINT_PRECISION, as_ball, entropy_at
from mictree.statements.checks import Covered, Reading, Statement, require, states
from mictree.statements.small_functions import (
    Labels,
    greedy_heights,
    halves,
    influence_sizes,
    influences,
    is_constant,
    largest,
    least_height,
    least_size,
    members,
    variables,
)

UNATE_NOTE = (
    "Unate functions are the monotone ones with some inputs negated, which changes no size."
)


def gini_at(rate: Fraction) -> arb:
    """Gini's impurity at a rational point."""
    return as_ball(4 * rate * (1 - rate))


def root_at(rate: Fraction) -> arb:
    """Kearns and Mansour's root criterion at a rational point."""
    return 2 * as_ball(rate * (1 - rate)).sqrt()


IMPURITIES: dict[str, Callable[[Fraction], arb]] = {
    "entropy": entropy_at,
    "gini": gini_at,
    "root": root_at,
}


def rate(labels: Labels) -> Fraction:
    """The share of positive labels."""
    return Fraction(sum(labels), len(labels))


def gain(labels: Labels, variable: int, impurity: Callable[[Fraction], arb]) -> arb:
    """The gain of a split."""
    low, high = halves(labels, variable)
    return impurity(rate(labels)) - (impurity(rate(low)) + impurity(rate(high))) / 2


@states(
    "Fiat and Pechyony (gain)",
    "For a unate function the variables of largest gain are those of largest influence, whether "
    "entropy, Gini or the root measures the gain.",
    note=UNATE_NOTE,
)
def gain_is_influence(quick: bool) -> Covered:
    most = 3 if quick else 5
    for count in range(1, most + 1):
        for text, labels, _ in members(monotone(count)):
            influence = influences(labels)
            chosen = largest(influence)
            with precision(POINT_PRECISION):
                for name, impurity in IMPURITIES.items():
                    gains = [gain(labels, each, impurity) for each in variables(labels)]
                    case = f"{count} variables, {text}, {name}"
                    best = gains[chosen[0]]
                    same = all(best.overlaps(gains[each]) for each in chosen)
                    others = [gains[each] for each in variables(labels) if each not in chosen]
                    require(same and all(best > other for other in others), case)
    return Covered(
        f"all monotone functions of 1 to {most} variables",
        "balls of 320 bits; splits of equal influence have halves with equal numbers of positive "
        "labels, so their gains are equal",
    )


@states(
    "Fiat and Pechyony (height)",
    "For a unate function every greedy tree without error has the least height.",
    note=UNATE_NOTE,
)
def height_is_least(quick: bool) -> Covered:
    most = 4 if quick else 5
    for count in range(1, most + 1):
        for text, labels, _ in members(monotone(count)):
            found, least = greedy_heights(labels), least_height(labels)
            case = f"{count} variables, {text}: {found[0]} to {found[1]} against {least}"
            require(found == (least, least), case)
    return Covered(f"all monotone functions of 1 to {most} variables, all choices of ties", "exact")


@states(
    "Fiat and Pechyony (read-once DNF)",
    "For a read-once DNF every greedy tree without error has the least number of splits.",
)
def read_once_is_least(quick: bool) -> Covered:
    most = 6 if quick else 16
    found = sweep(up_to(most), 1, [TopDown()])
    for row in found.iter_rows(named=True):
        case = f"{row['formula']}: {row['greedy_size_worst']} against {row['perfect_size']} splits"
        require(row["greedy_size_worst"] == row["perfect_size"], case)
    return Covered(
        f"all {found.height:,} read-once DNFs of up to {most} variables, up to symmetry, all "
        "choices of ties",
        "exact",
    )


@states(
    "Fiat and Pechyony (threshold)",
    "For a linear threshold function every greedy tree without error has the least number of "
    "splits.",
)
def threshold_is_least(quick: bool) -> Covered:
    most = 4 if quick else 5
    for count in range(1, most + 1):
        require_least(threshold(count), worst=True)
    return Covered(
        f"all threshold functions of 1 to {most} variables, all choices of ties", "exact"
    )


def require_least(family: FunctionFamily, worst: bool) -> None:
    """Raise Counterexample at the first member with a larger greedy tree than the least one."""
    sizes = exact_sizes(family.tables, family.variables)
    greedy = sizes.greedy_size_worst if worst else sizes.greedy_size_best
    for text, found, least in zip(family.texts(), greedy, sizes.perfect_size, strict=True):
        case = f"{family.variables} variables, {text}: {found} against {least} splits"
        require(found == least, case)


def monotone_is_least(worst: bool, quick: bool) -> Covered:
    """Whether greedy trees are least for monotone functions."""
    most = 6 if not quick or not worst else 5
    for count in range(1, most + 1):
        require_least(monotone(count), worst)
    return Covered(f"all monotone functions of 1 to {most} variables", "exact")


unate_conjecture = Statement(
    "Fiat and Pechyony (conjecture)",
    "For a unate function a greedy tree without error has the least number of splits.",
    (
        Reading(
            "with the worst choice among tied splits",
            partial(monotone_is_least, True),
            counterexample="5 variables, 0xeae8e8c0: 12 against 11 splits",
        ),
        Reading(
            "with the best choice",
            partial(monotone_is_least, False),
            counterexample="6 variables, 0xeaa8e880e880c000: 23 against 22 splits",
        ),
    ),
    "Blanc, Lange and Tan write that their lower bound for monotone functions, s^((log s)^(1/4)) "
    "leaves up to factors in the exponent, disproves a conjecture of Fiat and Pechyony; this is "
    "our reading of it. The bound is asymptotic. No smaller function is an example.",
)


@states(
    "Blanc, Lange and Tan (influence)",
    "A function with a tree of s leaves has a variable of influence at least Var(f)/log2(s), with "
    "labels -1 and 1; their upper bound rests on this inequality of O'Donnell, Saks, Schramm and "
    "Servedio.",
)
def influence_is_large(quick: bool) -> Covered:
    most = 3 if quick else 4
    tight = 0
    for count in range(1, most + 1):
        for text, labels, stands_for in members(functions(count)):
            if is_constant(labels):
                continue
            leaves = least_size(labels) + 1
            variance = 4 * rate(labels) * (1 - rate(labels))
            ratio = variance / Fraction(max(influences(labels)), len(labels))
            powers = 2**ratio.numerator, leaves**ratio.denominator  # of 2^ratio and of s
            require(powers[0] <= powers[1], f"{count} variables, {text}")
            tight += stands_for * (powers[0] == powers[1]) * (count == most)
    return Covered(
        f"all functions of 1 to {most} variables",
        f"exact; {tight:,} of the functions of {most} variables attain it",
    )


def by_influence(quick: bool) -> tuple[int, list[tuple[str, Labels, tuple[int, int], int]]]:
    """Functions, the sizes of their trees by influence, and their least sizes."""
    count = 3 if quick else 4
    return count, [
        (text, labels, influence_sizes(labels), least_size(labels))
        for text, labels, _ in members(functions(count))
        if not is_constant(labels)
    ]


@states(
    "Blanc, Lange and Tan (upper bound)",
    "The tree that tests the most influential variable everywhere, until its error is at most eps, "
    "has at most s^O(log(s/eps) log(1/eps)) leaves, where s is the least number for no error.",
    note="Asymptotic: with so few variables even a tree of all inputs keeps to it, so a finite "
    "check can refute a constant, and tell the largest ratio, but not confirm the growth.",
)
def influence_is_bounded(quick: bool) -> Covered:
    count, found = by_influence(quick)
    for text, _, (_, worst), least in found:
        bits = count + 1  # log(1/eps): less than one input, so that no error is left
        allowed = (least + 1) ** (bits * ((least + 1).bit_length() - 1 + bits))
        require(worst < allowed, f"{count} variables, {text}: {worst} against {least} splits")
    text, _, (_, worst), least = max(found, key=lambda each: Fraction(each[2][1] + 1, each[3] + 1))
    return Covered(
        f"all functions of {count} variables, eps = 2^-{count + 1}, constant 1, worst ties",
        f"the largest ratio is {worst + 1} to {least + 1} leaves, of {text}",
    )


@states(
    "Blanc, Lange and Tan (lower bound)",
    "For some functions every such tree without error has more leaves than the least one; in the "
    "limit s^Omega(log s), up to factors in the exponent.",
    note="Asymptotic: a finite check shows where the difference begins, not how it grows.",
)
def influence_is_not_least(quick: bool) -> Covered:
    _, fewer = by_influence(True)
    most, found = by_influence(False)
    larger = [
        f"{text} has {best} splits, {least} at least"
        for text, _, (best, _), least in found
        if best > least
    ]
    require(bool(larger), f"none of {most} variables")
    small = [text for text, _, (best, _), least in fewer if best > least]
    return Covered(
        f"all functions of 3 and {most} variables, best ties",
        f"{len(small) or 'none'} of 3 variables, {len(larger)} of {most} up to symmetry: "
        f"{larger[0]}",
    )


STATEMENTS = (
    gain_is_influence,
    height_is_least,
    read_once_is_least,
    threshold_is_least,
    unate_conjecture,
    influence_is_large,
    influence_is_bounded,
    influence_is_not_least,
)
