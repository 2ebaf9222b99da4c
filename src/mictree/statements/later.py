"""The statements of other papers on greedy trees, checked on all small Boolean functions.

On the size and height of greedy trees, under the uniform distribution: Fiat and Pechyony, "Decision
trees: more theoretical justification for practical algorithms" (ALT 2004); Blanc, Lange and Tan,
"Top-down induction of decision trees: rigorous guarantees and inherent limitations" (ITCS 2020). A
tree's size there is its number of leaves, here that of its splits.

On criteria, on choices among splits, and on where greed suffices: Kearns and Mansour, "On the
boosting ability of top-down decision tree learning algorithms" (JCSS 1999); Tan, Klusowski and
Balasubramanian, "Statistical-computational trade-offs for recursive adaptive partitioning
estimators" (2024), with the merged-staircase property of Abbe, Boix-Adsera and Misiakiewicz (2022);
Blanc, Lange, Pabbaraju, Sullivan, Tan and Tiwari, "Harnessing the power of choices in decision tree
learning" (NeurIPS 2023); Murthy and Salzberg, "Lookahead and pathology in decision tree induction"
(IJCAI 1995); Babbar, McTavish, Rudin and Seltzer, "Near-optimal decision trees in a SPLIT second"
(ICML 2025). Statements about variables with biases of their own are in ``biased``. Where a
statement is asymptotic, its note says what a finite check can and cannot tell.

A function is a tuple of labels; bit i of a row's number is the value of variable i. All comparisons
are between integers: of two splits of one function, that with the larger difference of the halves'
positive labels has the larger gain, whatever strictly concave impurity measures it. Both halves
weigh the same, so the mean of their rates is given, and a strictly concave function falls as they
move apart.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from flint import arb

from mictree._support.numbers import precision
from mictree.families.family import up_to
from mictree.families.function_classes import FunctionFamily, functions, monotone, threshold
from mictree.families.sweep import sweep
from mictree.families.table_growth import CriterionGains, Subcubes, exact_sizes, sizes_of
from mictree.growers.rules import TopDown
from mictree.impurity import Criterion
from mictree.optimal import optimal_errors
from mictree.problems.table import TableProblem
from mictree.statements import STATEMENTS
from mictree.statements.biased import BIASED
from mictree.statements.checks import (
    Covered,
    Labels,
    Reading,
    Statement,
    halves,
    is_constant,
    least_height,
    members,
    require,
    states,
    variables,
)
from mictree.statements.inequalities import (
    IMPURITIES,
    POINT_PRECISION,
    as_ball,
    entropy_at,
    gini_at,
    root_at,
)


def spreads(labels: Labels) -> list[int]:
    """By variable, by how many positive labels the halves differ; it orders the gains."""
    found = []
    for variable in variables(labels):
        low, high = halves(labels, variable)
        found.append(abs(sum(high) - sum(low)))
    return found


def influences(labels: Labels) -> list[int]:
    """By variable, in how many rows a change of it changes the label."""
    return [
        sum(label != labels[row ^ 1 << variable] for row, label in enumerate(labels))
        for variable in variables(labels)
    ]


def largest(values: Iterable[int]) -> list[int]:
    """The places of the largest value."""
    listed = list(values)
    return [place for place, value in enumerate(listed) if value == max(listed)]


@cache
def least_size(labels: Labels) -> int:
    """The fewest splits without error."""
    if is_constant(labels):
        return 0
    return 1 + min(sum(map(least_size, halves(labels, each))) for each in variables(labels))


@cache
def greedy_heights(labels: Labels) -> tuple[int, int]:
    """The least and the largest height of greedy trees without error, over choices of ties."""
    if is_constant(labels):
        return 0, 0
    below = [
        [greedy_heights(half) for half in halves(labels, each)] for each in largest(spreads(labels))
    ]
    return (
        1 + min(max(low[0], high[0]) for low, high in below),
        1 + max(max(low[1], high[1]) for low, high in below),
    )


@cache
def influence_sizes(labels: Labels) -> tuple[int, int]:
    """The fewest and the most splits of trees that test the most influential variables."""
    if is_constant(labels):
        return 0, 0
    below = [
        [influence_sizes(half) for half in halves(labels, each)]
        for each in largest(influences(labels))
    ]
    return (
        1 + min(low[0] + high[0] for low, high in below),
        1 + max(low[1] + high[1] for low, high in below),
    )


@cache
def least_errors(labels: Labels, depth: int) -> int:
    """The fewest rows that a tree of this depth gets wrong."""
    wrong = min(sum(labels), len(labels) - sum(labels))
    if not depth or not wrong:
        return wrong
    return min(
        sum(least_errors(half, depth - 1) for half in halves(labels, each))
        for each in variables(labels)
    )


@cache
def late_greedy_errors(labels: Labels, depth: int, greedy: int) -> int:
    """The same if the last ``greedy`` levels are greedy, with the worst ties."""
    wrong = min(sum(labels), len(labels) - sum(labels))
    if not depth or not wrong:
        return wrong
    late = depth <= greedy
    below = [
        sum(late_greedy_errors(half, depth - 1, greedy) for half in halves(labels, each))
        for each in (largest(spreads(labels)) if late else variables(labels))
    ]
    return max(below) if late else min(below)


@cache
def ends_without_error(labels: Labels) -> tuple[bool, bool]:
    """Whether greedy growth without splits of gain 0 does, for some and for all choices of ties."""
    if is_constant(labels):
        return True, True
    found = spreads(labels)
    if not any(found):
        return False, False
    below = [[ends_without_error(half) for half in halves(labels, each)] for each in largest(found)]
    return (
        any(low[0] and high[0] for low, high in below),
        all(low[1] and high[1] for low, high in below),
    )


def spectrum(labels: Labels) -> set[frozenset[int]]:
    """The sets of variables whose parity is correlated with the function."""
    found = set()
    for number in range(len(labels)):
        total = sum(
            (1 - 2 * label) * (-1) ** (row & number).bit_count() for row, label in enumerate(labels)
        )
        if total:
            found.add(frozenset(each for each in variables(labels) if number >> each & 1))
    return found


def is_merged_staircase(labels: Labels) -> bool:
    """Whether the spectrum can be ordered such that each set adds at most one new variable."""
    waiting, known = spectrum(labels), frozenset()
    while waiting:
        ready = {each for each in waiting if len(each - known) <= 1}
        if not ready:
            return False
        known = known.union(*ready)
        waiting -= ready
    return True


def staircases(tables: np.typing.NDArray[np.uint64], count: int) -> np.typing.NDArray[np.bool_]:
    """Of many truth tables as integers, which have the merged-staircase property."""
    rows = np.arange(2**count)
    signs = np.array([[1 - 2 * ((one & other).bit_count() & 1) for one in range(len(rows))]
                      for other in range(len(rows))], dtype=np.float32)  # fmt: skip
    sizes = np.array([number.bit_count() for number in range(len(rows))])
    found = np.empty(len(tables), dtype=bool)
    for begin in range(0, len(tables), BLOCK):
        block = tables[begin : begin + BLOCK]
        labels = block[:, None] >> rows.astype(np.uint64) & np.uint64(1)
        sums = (1 - 2 * labels.astype(np.float32)) @ signs  # small integers, exact in floats
        spectra = sums != 0  # which sets of variables, as bits, by function
        known = np.zeros(len(block), dtype=np.int64)
        for _ in range(count):
            for number in range(len(rows)):
                ready = spectra[:, number] & (sizes[number & ~known] <= 1)
                known |= np.where(ready, number, 0)
        found[begin : begin + BLOCK] = ~(spectra & (rows & ~known[:, None] != 0)).any(axis=1)
    return found


BLOCK = 2**15  # functions at once


UNATE_NOTE = (
    "Unate functions are the monotone ones with some inputs negated, which changes no size."
)


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


GREEDY_STATEMENTS = (
    gain_is_influence,
    height_is_least,
    read_once_is_least,
    threshold_is_least,
    unate_conjecture,
    influence_is_large,
    influence_is_bounded,
    influence_is_not_least,
)


def splits(parts: int) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """The rates of both children, the low one first, and the chance of the high one."""
    for low in range(parts + 1):
        for high in range(low + 1, parts + 1):
            for chance in range(1, parts):
                yield tuple(Fraction(each, parts) for each in (low, high, chance))  # type: ignore[misc]


def drops_enough(
    impurity: Callable[[Fraction], arb], bound: Callable[[arb], arb], quick: bool
) -> Covered:
    """Whether the gain is at least a bound of q(1 - q) times the square of the advantage."""
    parts, equal = (8 if quick else 24), 0
    with precision(POINT_PRECISION):
        for low, high, chance in splits(parts):
            rate = (1 - chance) * low + chance * high
            spread = rate * (1 - rate)
            advantage = chance * (1 - chance) * (high - low) / (2 * spread)  # gamma
            gain = impurity(rate) - as_ball(1 - chance) * impurity(low)
            gain -= as_ball(chance) * impurity(high)
            room = gain - as_ball(advantage**2) * bound(as_ball(spread))
            close = bool(abs(room) < arb(2) ** -200)
            equal += close
            case = f"rates {low} and {high}, P[high] = {chance}, advantage {advantage}"
            require(close or bool(room > 0), case)
    count = f"; equality {equal:,} times" if equal else ""
    return Covered(f"all rates and branch probabilities in {parts}ths", f"balls of 320 bits{count}")


kearns_mansour = Statement(
    "Kearns and Mansour (drop)",
    "A split whose test has the advantage g over guessing, with both labels weighed alike, lowers "
    "the impurity of a leaf of positive rate q by at least 4 g^2 sqrt(q(1-q)) for the root "
    "2 sqrt(q(1-q)), 8/ln(2) g^2 q(1-q) for the entropy, 64 g^2 (q(1-q))^2 for Gini's 4 q(1-q).",
    (
        Reading("root", partial(drops_enough, root_at, lambda spread: 4 * spread.sqrt())),
        Reading(
            "entropy",
            partial(drops_enough, entropy_at, lambda spread: 8 / arb.const_log2() * spread),
        ),
        Reading("Gini", partial(drops_enough, gini_at, lambda spread: 64 * spread**2)),
    ),
    "The constants are ours. Only the root loses a fixed share of its value, 2 g^2, at every leaf. "
    "From this follow their bounds on the size for an error eps: (1/eps)^O(1/g^2) for the root, "
    "(1/eps)^O(log(1/eps)/g^2) for the entropy, (1/eps)^O(1/(g eps)^2) for Gini. These are "
    "asymptotic upper bounds; none says that the root's trees are smaller on a given function.",
)


@states(
    "Kearns and Mansour (sizes)",
    "Under the uniform distribution greedy trees without error have the same sizes with the root, "
    "the entropy and Gini, with the best ties and with the worst.",
    note="Not in the paper. At one leaf the three criteria order the splits alike if both halves "
    "weigh the same, so their bounds can differ only where branches do, or before the error is 0.",
)
def criteria_agree(quick: bool) -> Covered:
    count = 3 if quick else 4
    family = functions(count)
    by_name = {name: exact_sizes(family.tables, count, name) for name in CRITERIA}
    for member, text in enumerate(family.texts()):
        sizes = {
            name: (int(each.greedy_size_best[member]), int(each.greedy_size_worst[member]))
            for name, each in by_name.items()
        }
        require(len(set(sizes.values())) == 1, f"{count} variables, {text}: {sizes}")
    return Covered(f"all functions of {count} variables", "exact")


CRITERIA: tuple[Criterion, ...] = ("entropy", "gini", "root")


@states(
    "Tan, Klusowski and Balasubramanian (only if)",
    "Greedy growth that makes no split of gain 0 ends without error only on functions with the "
    "merged-staircase property: the sets in the Fourier spectrum can be ordered such that each "
    "adds at most one new variable.",
    note="They prove that without the property greedy training of regression trees over d "
    "binary features needs exp(Omega(d)) rows, which is asymptotic; this is the case of a known "
    "distribution.",
)
def staircase_if_ended(quick: bool) -> Covered:
    most = 3 if quick else 4
    for count in range(1, most + 1):
        for text, labels, _ in members(functions(count)):
            case = f"{count} variables, {text}: ends without error, no merged staircase"
            require(is_merged_staircase(labels) or not ends_without_error(labels)[0], case)
    return Covered(f"all functions of 1 to {most} variables, all choices of ties", "exact")


def ends_if_staircase(quick: bool) -> Covered:
    """Whether the property is enough."""
    most = 3 if quick else 4
    for count in range(1, most + 1):
        for text, labels, _ in members(functions(count)):
            case = f"{count} variables, {text}: a merged staircase, no choice of ties ends so"
            require(ends_without_error(labels)[0] or not is_merged_staircase(labels), case)
    return Covered(f"all functions of 1 to {most} variables, best ties", "exact")


staircase_is_enough = Statement(
    "Tan, Klusowski and Balasubramanian (if)",
    "On every function with the merged-staircase property such growth ends without error.",
    (
        Reading(
            "",
            ends_if_staircase,
            counterexample="3 variables, 0x16: a merged staircase, no choice of ties ends so",
        ),
    ),
    "They say that with the property O(log d) rows can suffice. For each function by itself it is "
    "not enough, as coefficients may cancel in a restriction: in the counterexample, where exactly "
    "one of three variables is 1, one half of every split is a parity.",
)


def require_staircases_are_least(staircase: bool, quick: bool) -> Covered:
    """Whether some greedy tree is least on all functions with the property, or only on those."""
    most = 3 if quick else 4
    for count in range(1, most + 1):
        family = functions(count)
        sizes = exact_sizes(family.tables, count)
        listed = zip(family.texts(), staircases(family.tables, count), *sizes[:2], strict=True)
        for text, has_it, least, greedy in listed:
            case = f"{count} variables, {text}: {greedy} against {least} splits, "
            wrong = greedy > least if staircase else greedy == least
            require(
                has_it != staircase or not wrong, case + ("a" if has_it else "no") + " staircase"
            )
    return Covered(f"all functions of 1 to {most} variables, best ties", "exact")


staircases_are_least = Statement(
    "Merged staircases (least trees)",
    "Some greedy tree has the least number of splits on a function with the merged-staircase "
    "property, and on no other function.",
    (
        Reading(
            "with the property",
            partial(require_staircases_are_least, True),
            counterexample="3 variables, 0x1b: 5 against 3 splits, a staircase",
        ),
        Reading(
            "on no other function",
            partial(require_staircases_are_least, False),
            counterexample="2 variables, 0x6: 3 against 3 splits, no staircase",
        ),
    ),
    "Not in a paper that we know of. The property is about what greed can learn, not about the "
    "size of its trees.",
)


@states(
    "Merged staircases (shares)",
    "Functions without the merged-staircase property have a greedy tree of least size more often "
    "than functions with it.",
    note="Not in a paper that we know of.",
)
def staircases_are_seldom_least(quick: bool) -> Covered:
    count = 4 if quick else 5
    family = functions(count)
    sizes = exact_sizes(family.tables, count)
    has_it = staircases(family.tables, count)
    least = sizes.greedy_size_best == sizes.perfect_size
    with_it, without = (
        (int(family.counts[group & least].sum()), int(family.counts[group].sum()))
        for group in (has_it, ~has_it)
    )
    table = (
        f"{with_it[0]:,} of {with_it[1]:,} functions with it, {without[0]:,} of {without[1]:,} "
        "without"
    )
    require(with_it[0] * without[1] < without[0] * with_it[1], f"{count} variables: {table}")
    return Covered(f"all functions of {count} variables, best ties", table)


class Pathologies(NamedTuple):
    """Functions on which all trees of lookahead 2 without error are larger than all greedy ones."""

    worse: int
    better: int  # the other way round
    first: str  # the least truth table of the worse ones


def pathologies(count: int, bias: Fraction, criterion: Criterion) -> Pathologies:
    """Of so many variables of one bias."""
    family, cubes = functions(count, bias), Subcubes.of(count, bias)
    near, far = (
        sizes_of(family.tables, cubes, CriterionGains(criterion, cubes, depth)) for depth in (1, 2)
    )
    worse = far.greedy_size_best > near.greedy_size_worst
    better = far.greedy_size_worst < near.greedy_size_best
    first = family.texts()[worse.argmax()] if worse.any() else ""
    return Pathologies(int(family.counts[worse].sum()), int(family.counts[better].sum()), first)


@states(
    "Murthy and Salzberg (pathology)",
    "To look one split further ahead can give larger trees: on some functions every tree of "
    "lookahead 2 without error has more splits than every greedy one, whatever the ties. Under the "
    "uniform distribution this begins with four variables, with another bias with three.",
    note="They saw larger and less accurate trees on random data (1995). The numbers of variables "
    "are ours. Splits that tie two levels deep are compared by their own gains.",
)
def lookahead_is_worse(quick: bool) -> Covered:
    biases = [Fraction(part, 8) for part in ((4, 2) if quick else (4, 3, 2, 1))]
    texts = []
    for bias in biases:
        for count in range(1, 5):
            found = {name: pathologies(count, bias, name) for name in CRITERIA}
            worse = [each.worse for each in found.values()]
            begins = 4 if bias == Fraction(1, 2) else 3
            case = f"{count} variables of bias {bias}: worse on {worse} functions"
            require(all(worse) if count >= begins else not any(worse), case)
            if count >= begins:
                better = [each.better for each in found.values()]
                texts.append(
                    f"{count} variables of bias {bias}: worse on {shown_range(worse)}, better on "
                    f"{shown_range(better)} (first {found['entropy'].first} by entropy)"
                )
    return Covered(
        f"all functions of 1 to 4 variables, three criteria, biases {', '.join(map(str, biases))}",
        "; ".join(texts),
    )


def shown_range(numbers: Sequence[int]) -> str:
    """Such as "5" or "5 to 7"."""
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


STRENGTHS = (Fraction(3, 5), Fraction(7, 12), Fraction(4, 7), Fraction(9, 16))


def parity_with_decoys(decoys: int, strengths: tuple[Fraction, ...] = STRENGTHS) -> TableProblem:
    """The parity of two variables, and decoys that agree with it a bit more often than not."""
    count = 2 + decoys
    labels, chances = [], []
    for row in range(2**count):
        label = (row ^ row >> 1) & 1
        chance = Fraction(1, 4)
        for place, strength in enumerate(strengths[:decoys]):
            chance *= strength if row >> 2 + place & 1 == label else 1 - strength
        labels.append(label)
        chances.append(chance)
    return TableProblem(labels, chances)


@states(
    "Blanc and others (hierarchy)",
    "For every k there is a distribution on which the best tree of Top-(k+1) has no error while "
    "that of Top-k of the same size has: a parity of two variables among k that agree with it by "
    "chance.",
    note="Their theorem has accuracies of 1 - eps against 1/2 + eps, for every eps. That needs "
    "more variables than a finite check has; here the difference is 3/10.",
)
def hierarchy(quick: bool) -> Covered:
    most = 2 if quick else len(STRENGTHS)
    for count in range(1, most + 1):
        problem = parity_with_decoys(count)
        narrow, wide = (
            optimal_errors(problem, 3, exact=True, top=top)[3] for top in (count, count + 1)
        )
        case = f"k = {count}: {narrow} with Top-k, {wide} with Top-(k+1)"
        require((narrow, wide) == (Fraction(3, 10), 0), case)
    return Covered(f"k = 1 to {most}, 3 splits, entropy", "exact")


class Gap(NamedTuple):
    """A distribution, and a size at which one more candidate lowers the least error."""

    problem: TableProblem
    size: int


def function_of(table: int, count: int) -> TableProblem:
    """A truth table under the uniform distribution."""
    return TableProblem([table >> row & 1 for row in range(2**count)])


EIGHTHS = tuple(Fraction(each, 8) for each in range(9))
GAPS: dict[int, Gap] = {
    # eight rows: the split of larger gain leaves a pure half, and errs once more than the other
    1: Gap(TableProblem([0, 1, 0, Fraction(2, 3)], [EIGHTHS[each] for each in (0, 4, 1, 3)]), 1),
    2: Gap(function_of(0x1B, 3), 3),
    3: Gap(function_of(0x03C5, 4), 3),
    4: Gap(function_of(0x1FFF07, 5), 3),
}


@states(
    "Blanc and others (fewest variables)",
    "For k = 1 to 4 there is a distribution of k + 1 variables, the fewest possible, on which the "
    "best tree of Top-(k+1) has at least 0.05 less error than that of Top-k of the same size.",
    note="With k variables Top-k may test all of them. Their own distributions, with a difference "
    "of almost 1/2, have more variables.",
)
def fewest_variables(quick: bool) -> Covered:
    found = []
    for top, (problem, size) in GAPS.items():
        narrow, wide = (
            optimal_errors(problem, size, exact=True, top=each)[size] for each in (top, top + 1)
        )
        case = f"{narrow} against {wide} at size {size} for k = {top}"
        require(len(problem.variables) == top + 1, f"{len(problem.variables)} variables, {case}")
        require(narrow - wide >= Fraction(1, 20), case)
        found.append(case)
    return Covered("four distributions, entropy", f"exact; {', '.join(found)}")


@states(
    "Blanc and others (order)",
    "The best tree of Top-(k+1) of any size is never worse than that of Top-k, and for every k "
    "below the number of variables it is better on some function of four variables.",
    note="The distribution is uniform. The first half is plain: more splits are allowed.",
)
def choices_help(quick: bool) -> Covered:
    count = 4
    family = functions(count)
    largest = dict.fromkeys(range(1, count), Fraction(0))
    for member, text in enumerate(family.texts()):
        problem = family.problem(member)
        curves = [
            optimal_errors(problem, 2**count - 1, exact=True, top=top)
            for top in range(1, count + 1)
        ]
        for top in largest:
            differences = [a - b for a, b in zip(curves[top - 1], curves[top], strict=True)]
            require(min(differences) >= 0, f"{text}: Top-{top + 1} is worse than Top-{top}")
            largest[top] = max(largest[top], *differences)
    for top, difference in largest.items():
        require(difference > 0, f"{count} variables: Top-{top + 1} never helps")
    gains = ", ".join(f"{value} for k = {top}" for top, value in largest.items())
    return Covered(f"all functions of {count} variables, all sizes", f"exact; at most {gains}")


def greedy_near_leaves(levels: int, quick: bool) -> Covered:
    """Whether nothing is lost if the last levels are greedy."""
    most = 3 if quick else 4
    for count in range(levels, most + 1):
        for depth in range(levels, count + 1):
            for text, labels, _ in members(functions(count)):
                late, least = late_greedy_errors(labels, depth, levels), least_errors(labels, depth)
                case = f"{count} variables, {text}, depth {depth}: {late} of {2**count} rows wrong"
                require(late == least, f"{case}, {least} at best")
    return Covered(f"all functions of {levels} to {most} variables, every depth", "exact")


last_level = Statement(
    "Babbar and others (last level)",
    "Greediness suffices at the leaves: a tree that is optimal above and greedy in its last level "
    "is as good as the best tree of its depth.",
    (Reading("", partial(greedy_near_leaves, 1)),),
    "Under the uniform distribution both halves weigh the same, and then the split of largest gain "
    "also has the least error.",
)
last_levels = Statement(
    "Babbar and others (two levels)",
    "It suffices in the last two levels as well.",
    (
        Reading(
            "",
            partial(greedy_near_leaves, 2),
            counterexample="3 variables, 0x19, depth 2: 3 of 8 rows wrong, 1 at best",
        ),
    ),
    "The paper shows on data that little is lost; it does not say that nothing is.",
)


@states(
    "Babbar and others (on average)",
    "Greed in the last two levels loses at most 1/10 of error on average over all functions.",
    note="The bound is ours; on the paper's data sets the loss is negligible. Random functions of "
    "few variables are harder: a parity is often left.",
)
def mean_loss(quick: bool) -> Covered:
    count, means = (3 if quick else 4), []
    for depth in range(2, count + 1):
        losses = [
            (late_greedy_errors(labels, depth, 2) - least_errors(labels, depth), stands_for)
            for _, labels, stands_for in members(functions(count))
        ]
        inputs = 2**count * sum(each for _, each in losses)
        mean = Fraction(sum(loss * each for loss, each in losses), inputs)
        case = f"{float(mean):.4f} at depth {depth}"
        require(mean <= Fraction(1, 10), f"{count} variables: {case}")
        means.append(case)
    return Covered(f"all functions of {count} variables, worst ties", ", ".join(means))


CHOICE_STATEMENTS = (
    kearns_mansour,
    criteria_agree,
    staircase_if_ended,
    staircase_is_enough,
    staircases_are_least,
    staircases_are_seldom_least,
    lookahead_is_worse,
    hierarchy,
    fewest_variables,
    choices_help,
    last_level,
    last_levels,
    mean_loss,
)


LATER: tuple[Statement, ...] = (*GREEDY_STATEMENTS, *CHOICE_STATEMENTS, *BIASED)
EVERYTHING = (*STATEMENTS, *LATER)  # the paper's own first
