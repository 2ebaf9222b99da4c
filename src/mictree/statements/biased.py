"""Statements of other papers about product distributions, whose variables have biases of their own.

On depth: Brutzkus, Daniely and Malach, "ID3 learns juntas for smoothed product distributions" (COLT
2020), and against their conjecture Blanc, Lange, Qiao and Tan, "Decision tree heuristics can fail,
even in the smoothed setting" (2021). On size: Soltani Moakhar, Ghahremani, Banihashem and
Hajiaghayi, "Decision tree learning on product spaces" (2026). We worked from their abstracts. That
criteria choose different roots is ours.

Statements about depth concern almost all biases, so a box of biases takes the place of a point. The
chances of labels on a box are intervals with rational ends, impurities are balls, and a split is
out of the question only if another one is surely better on the whole box. What then holds of all
splits that are left holds everywhere on the box. A box may be a point: what is true of all splits
that no other surely beats there is true in a neighbourhood as well, because gains are continuous in
the biases. So one point proves that there is a set of positive measure.

Sizes are found for all functions at once, in whole numbers: the arrays have a row for each
restriction, numbered in base 3, and a column for each function.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import NamedTuple

import numpy as np
from flint import arb

from mictree._support.numbers import precision
from mictree.families.function_classes import FunctionFamily, functions, monotone
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
from mictree.statements.inequalities import IMPURITIES, POINT_PRECISION, as_ball

Interval = tuple[Fraction, Fraction]  # least and largest value
BiasBox = tuple[Interval, ...]  # a side for each variable
Integers = np.typing.NDArray[np.signedinteger]
FloatArray = np.typing.NDArray[np.float64]
HALF = Fraction(1, 2)


def point(biases: Iterable[Fraction]) -> BiasBox:
    """The box of a single point."""
    return tuple((bias, bias) for bias in biases)


def shown(box: BiasBox) -> str:
    """A point as text."""
    return ", ".join(str(low) for low, _ in box)


@cache
def rates(labels: Labels, box: BiasBox) -> Interval:
    """An interval that contains P[label 1] everywhere on the box; at a point its exact value."""
    ends = [(Fraction(label), Fraction(label)) for label in labels]
    for side in box:
        pairs = zip(ends[::2], ends[1::2], strict=True)  # the values of this variable
        ends = [
            (
                min(low[0] + bias * (high[0] - low[0]) for bias in side),
                max(low[1] + bias * (high[1] - low[1]) for bias in side),
            )
            for low, high in pairs
        ]
    return ends[0]


@cache
def impurity_within(criterion: str, ends: Interval) -> arb:
    """A ball that contains the impurity of every rate of an interval."""
    impurity = IMPURITIES[criterion]
    ball = impurity(ends[0]).union(impurity(ends[1]))
    # impurities rise up to 1/2 and fall beyond it
    return ball.union(impurity(HALF)) if ends[0] < HALF < ends[1] else ball


@cache
def contenders(labels: Labels, box: BiasBox, criterion: str) -> tuple[int, ...]:
    """The variables that no other surely beats everywhere on the box."""
    with precision(POINT_PRECISION):
        left = []
        for variable, side in enumerate(box):
            others = box[:variable] + box[variable + 1 :]
            low, high = (
                impurity_within(criterion, rates(half, others)) for half in halves(labels, variable)
            )
            bias = as_ball(side[0]).union(as_ball(side[1]))
            left.append(low + bias * (high - low))
        return tuple(
            variable
            for variable, impurity in enumerate(left)
            if not any(bool(other < impurity) for other in left)
        )


def below(labels: Labels, box: BiasBox, variable: int) -> Iterator[tuple[Labels, BiasBox]]:
    """Both halves of a split, with their boxes."""
    others = box[:variable] + box[variable + 1 :]
    return ((half, others) for half in halves(labels, variable))


@cache
def heights(labels: Labels, box: BiasBox, criterion: str) -> tuple[int, int]:
    """The least and the largest height of greedy trees without error on the box."""
    if is_constant(labels):
        return 0, 0
    found = [
        [heights(*half, criterion) for half in below(labels, box, variable)]
        for variable in contenders(labels, box, criterion)
    ]
    return (
        1 + min(max(low[0], high[0]) for low, high in found),
        1 + max(max(low[1], high[1]) for low, high in found),
    )


def least_greedy_error(labels: Labels, box: BiasBox, depth: int, criterion: str) -> Fraction:
    """At a point, the least error of greedy trees of this depth over all contenders."""
    positive, _ = rates(labels, box)
    wrong = min(positive, 1 - positive)
    if not depth or not wrong:
        return wrong
    errors = []
    for variable in contenders(labels, box, criterion):
        low, high = (
            least_greedy_error(*half, depth - 1, criterion) for half in below(labels, box, variable)
        )
        errors.append(low + box[variable][0] * (high - low))
    return min(errors)


def mass(row: int, box: BiasBox) -> Fraction:
    """The chance of one input at a point."""
    chances = (bias if row >> place & 1 else 1 - bias for place, (bias, _) in enumerate(box))
    return math.prod(chances, start=Fraction(1))


GRID = tuple(Fraction(each, 8) for each in (1, 3, 4, 5, 7))
GENERIC = tuple(Fraction(*each) for each in ((3, 7), (5, 11), (6, 13), (8, 17), (9, 19)))


APART = tuple(Fraction(*each) for each in ((1, 7), (3, 7), (5, 9), (7, 9)))


def difference(labels: Labels, variable: int) -> list[int]:
    """By row, the label where the variable is 1 minus that where it is 0."""
    low, high = halves(labels, variable)
    return [after - before for before, after in zip(low, high, strict=True)]


def has_gain_almost_everywhere(labels: Labels) -> bool:
    """Whether some split of a function has a positive gain at almost all biases.

    A variable's gain is 0 only where the rates of both halves are equal. Their difference is a
    polynomial in the biases of the other variables, the ``multilinear`` one. Unless all of its
    coefficients are 0 its zeros are a set of measure 0.
    """
    return any(any(multilinear(difference(labels, variable))) for variable in variables(labels))


def multilinear(values: Sequence[int]) -> list[int]:
    """Coefficients of the polynomial with these values where all variables are 0 or 1."""
    found = list(values)
    for place in range(len(values).bit_length() - 1):
        for row in range(len(values)):
            if row >> place & 1:
                found[row] -= found[row ^ 1 << place]
    return found


def with_idle(labels: Labels) -> Labels:
    """The same function with one more variable, the last, that it ignores."""
    return labels + labels


@states(
    "Brutzkus, Daniely and Malach (juntas)",
    "Under almost every product distribution ID3 learns a function of k variables among idle ones "
    "with a tree of depth at most k.",
    note="They prove it for samples of polynomial size if the biases are smoothed and k = log n; "
    "this is the case of a known distribution.",
)
def juntas_are_learned(quick: bool) -> Covered:
    most, exceptions = (3 if quick else 4), 0
    for count in range(1, most + 1):
        for text, labels, stands_for in members(functions(count)):
            if is_constant(labels):
                continue
            case = f"{count} variables, {text}"
            require(has_gain_almost_everywhere(labels), f"{case}: no split gains anywhere")
            here = point(GENERIC[: count + 1])
            for criterion in IMPURITIES:
                _, largest = heights(with_idle(labels), here, criterion)
                require(largest <= count, f"{case}: height {largest} by {criterion}")
            even = heights(with_idle(labels), point([HALF] * (count + 1)), "entropy")
            exceptions += stands_for * (even[1] > count) * (count == most)
    return Covered(
        f"all functions of 1 to {most} variables; trees with one idle variable at "
        f"{shown(point(GENERIC))}, three criteria",
        "differences of rates are polynomials that are not 0; under the uniform distribution, an "
        f"exception, ties may lead {exceptions:,} of the functions of {most} variables to the idle "
        "one",
    )


def no_greedy_tree_is_higher(criterion: str, quick: bool) -> Covered:
    """Whether greedy trees have the least height at every point of a grid."""
    for count in (1, 2, 3):
        for text, labels, _ in members(functions(count)):
            least = least_height(labels)
            for biases in product(GRID, repeat=count):
                here = point(biases)
                found, _ = heights(labels, here, criterion)
                case = f"{count} variables, {text}, biases {shown(here)}"
                require(found <= least, f"{case}: depth {found} for k = {least}")
    return Covered("all functions of 1 to 3 variables, biases in 8ths")


depth_conjecture = Statement(
    "Brutzkus, Daniely and Malach (conjecture)",
    "The same for every function that a tree of depth k computes: under almost every product "
    "distribution the greedy tree has depth at most k.",
    tuple(
        Reading(
            f"splits by {criterion}",
            partial(no_greedy_tree_is_higher, criterion),
            counterexample="3 variables, 0x1b, biases 1/8, 1/8, 1/8: depth 3 for k = 2",
        )
        for criterion in IMPURITIES
    ),
    "Blanc, Lange, Qiao and Tan refute it with functions whose greedy trees have depth "
    "2^Omega(k). The counterexample, where one variable chooses between two others, holds in a "
    "neighbourhood of these biases.",
)


class Share(NamedTuple):
    """Of a box, the part where greedy trees are surely higher, and where that is undecided."""

    higher: Fraction
    undecided: Fraction


def share_of_higher(labels: Labels, box: BiasBox, criterion: str, cuts: int) -> Share:
    """Where greedy trees are higher than the least tree, after so many halvings of each side."""
    least, higher, undecided = least_height(labels), 0, 0
    waiting, total = [(box, 0)], len(box) * cuts
    while waiting:
        here, depth = waiting.pop()
        found = heights(labels, here, criterion)
        boxes = 2 ** (total - depth)  # of the smallest boxes
        if found[0] > least:
            higher += boxes
        elif found[1] > least and depth == total:
            undecided += boxes
        elif found[1] > least:
            place = depth % len(box)
            low, high = here[place]
            middle = (low + high) / 2
            waiting += [
                ((*here[:place], side, *here[place + 1 :]), depth + 1)
                for side in ((low, middle), (middle, high))
            ]
    return Share(Fraction(higher, 2**total), Fraction(undecided, 2**total))


MULTIPLEXER: Labels = (1, 1, 0, 1, 1, 0, 0, 0)  # 0x1b


@states(
    "Blanc, Lange, Qiao and Tan (smallest)",
    "The least depth at which the conjecture is false is k = 2, and the smallest function is that "
    "of three variables of which one chooses between the two others, with inputs or the output "
    "negated: greedy trees have depth 3 on a set of biases of positive measure.",
    note="Their functions have depth 2^Omega(k), which is asymptotic; here the first difference is "
    "found and measured. A function of depth 1 or of two variables leaves no room for one.",
)
def smallest_higher(quick: bool) -> Covered:
    found = [
        (text, labels)
        for count in (1, 2, 3)
        for text, labels, _ in members(functions(count))
        if any(
            heights(labels, point(biases), criterion)[0] > least_height(labels)
            for criterion in IMPURITIES
            for biases in product(GRID, repeat=count)
        )
    ]
    require(found == [("0x1b", MULTIPLEXER)], f"found {', '.join(text for text, _ in found)}")
    count = 3 if quick else 4
    higher, low = higher_somewhere(count)
    box, shares = ((Fraction(1, 4), Fraction(3, 4)),) * 3, []
    for criterion in IMPURITIES:
        share = share_of_higher(MULTIPLEXER, box, criterion, 2 if quick else 4)
        require(share.higher > 0, f"{criterion}: no box is certified")
        most = share.higher + share.undecided
        shares.append(f"{float(share.higher):.3f} to {float(most):.3f} by {criterion}")
    return Covered(
        "all functions of 1 to 3 variables, biases in 8ths; the share of [1/4, 3/4]^3 in balls; "
        f"functions of {count} variables at {shown(point(APART))} in any order",
        f"depth 3 on a share of {', '.join(shares)}; at least {higher:,} of the {low:,} functions "
        f"of {count} variables and less depth have higher greedy trees somewhere, by entropy",
    )


def higher_somewhere(count: int) -> tuple[int, int]:
    """Functions with higher greedy trees at some order of ``APART``, of those that are less deep.

    Less deep than the number of variables; any greedy tree has the least height for the others.
    """
    higher, low = 0, 0
    for _, labels, stands_for in members(functions(count)):
        least = least_height(labels)
        low += stands_for * (least < count)
        higher += stands_for * any(
            heights(labels, point(biases), "entropy")[0] > least
            for biases in permutations(APART[:count])
        )
    return higher, low


def complete_tree(depth: int) -> Labels:
    """The function of a tree that tests different variables everywhere, to their own values.

    Variable i decides between 2i + 1, if it is 0, and 2i + 2. The last ones are the labels.
    """
    inner, labels = 2 ** (depth - 1) - 1, []
    for row in range(2 ** (2**depth - 1)):
        variable = 0
        while variable < inner:
            variable = 2 * variable + 1 + (row >> variable & 1)
        labels.append(row >> variable & 1)
    return tuple(labels)


def around_half(count: int) -> BiasBox:
    """The point of biases 63/128, 66/128, 61/128, 68/128, and so on."""
    return point(Fraction(64 - (-1) ** place * (place + 1), 128) for place in range(count))


@states(
    "Blanc, Lange, Qiao and Tan (depth)",
    "For k = 1, 2 and 3 greedy trees have depth 2^k - 1 on a set of biases of positive measure for "
    "the function of the complete tree of depth k that tests different variables everywhere: some "
    "path tests them all.",
    note="They prove depth 2^Omega(k), whose constant we do not have. That this function reaches "
    "2^k - 1 is our computation; depth 15 for k = 4 was computed once, in half a minute.",
)
def complete_trees_are_high(quick: bool) -> Covered:
    texts = []
    for depth in (1, 2, 3):
        labels, here = complete_tree(depth), around_half(2**depth - 1)
        require(least_height(labels) == depth, f"k = {depth}: not the least height")
        errors = []
        for criterion in IMPURITIES:
            found, _ = heights(labels, here, criterion)
            require(found == len(here), f"k = {depth}: depth {found} by {criterion}")
            errors.append(least_greedy_error(labels, here, depth, criterion))
        texts.append(f"{float(min(errors)):.4f} for k = {depth}")
    return Covered(
        "k = 1 to 3, biases near 1/2, three criteria",
        f"at depth k the error is at least {', '.join(texts)}",
    )


class Flip(NamedTuple):
    """A function of k variables among more of them, one input to flip, and biases."""

    depth: int  # k
    junta: Labels
    row: int
    biases: tuple[Fraction, ...]


def parity(count: int) -> Labels:
    """The parity of so many variables."""
    return tuple(row.bit_count() & 1 for row in range(2**count))


FLIPS = (
    Flip(1, (0, 1) * 4, 1, (Fraction(19, 20), Fraction(11, 20), Fraction(6, 11))),
    *(
        Flip(count, with_idle(parity(count)), 2**count, (*(HALF,) * count, Fraction(1, 7)))
        for count in (2, 3)
    ),
)


def flipped(labels: Labels, row: int) -> Labels:
    """A function with the other label at one input."""
    return *labels[:row], 1 - labels[row], *labels[row + 1 :]


@states(
    "Blanc, Lange, Qiao and Tan (flips)",
    "The guarantee for functions of k variables is lost if the labels are only close to such a "
    "function: one flipped input is enough for k = 1, 2 and 3, with three, three and four "
    "variables. On a set of biases of positive measure the greedy tree of depth k makes more "
    "errors than the function, whose only error is the flipped input.",
    note="They show that greedy trees may need depth 2^Omega(k) then. With k = 1 and two variables "
    "one flip leaves a conjunction, on which greedy trees are optimal; with k variables a tree of "
    "depth k makes no error.",
)
def one_flip_is_enough(quick: bool) -> Covered:
    gaps = []
    for flip in FLIPS:
        labels, here = flipped(flip.junta, flip.row), point(flip.biases)
        own = mass(flip.row, here)
        errors = [
            least_greedy_error(labels, here, flip.depth, criterion) for criterion in IMPURITIES
        ]
        case = f"k = {flip.depth}, biases {shown(here)}"
        require(min(errors) > own, f"{case}: {float(min(errors)):.4f} against {float(own):.4f}")
        gaps.append(f"{case}: at least {float(min(errors)):.4f} against {float(own):.4f}")
    for row, *biases in product(range(4), GRID, GRID):
        labels, here = flipped((0, 1, 0, 1), row), point(biases)
        least = least_greedy_error(labels, here, 1, "entropy")
        require(least <= mass(row, here), f"row {row} of two variables, biases {shown(here)}")
    return Covered(
        "three functions, three criteria; two variables, biases in 8ths", "; ".join(gaps)
    )


def same_roots(
    families: Iterable[FunctionFamily], boxes: Callable[[int], Iterable[BiasBox]]
) -> int:
    """Raise Counterexample where two criteria share no best root; return how many were compared."""
    compared = 0
    for family in families:
        count = family.variables
        for text, labels, _ in members(family):
            for here in () if is_constant(labels) else boxes(count):
                chosen = {name: contenders(labels, here, name) for name in IMPURITIES}
                tested = ", ".join(
                    f"{name} tests {' or '.join(f'x{place + 1}' for place in places)}"
                    for name, places in chosen.items()
                )
                case = f"{count} variables, {text}, biases {shown(here)}: {tested}"
                require(len(set(chosen.values())) == 1, case)
                compared += 1
    return compared


@states(
    "Criteria (equal biases)",
    "On monotone functions whose variables have the same bias entropy, Gini and the root have the "
    "same best splits.",
    note="Not in a paper that we know of; the case of the uniform distribution is in that of Fiat "
    "and Pechyony. All splits give the same mean rate with the same weights, and the high half has "
    "the larger rate, so the split whose rates are further apart wins by every strictly concave "
    "impurity.",
)
def equal_biases_agree(quick: bool) -> Covered:
    most, compared = (3 if quick else 5), 0
    for bias in (Fraction(each, 8) for each in range(1, 8)):
        here = partial(equal_biases, bias)
        compared += same_roots((monotone(count, bias) for count in range(1, most + 1)), here)
    return Covered(
        f"all monotone functions of 1 to {most} variables, biases in 8ths",
        f"balls of 320 bits; {compared:,} comparisons up to symmetry",
    )


def equal_biases(bias: Fraction, count: int) -> Iterator[BiasBox]:
    """The point at which all variables have one bias."""
    yield point([bias] * count)


def different_biases(count: int) -> Iterator[BiasBox]:
    """All points of different biases in 8ths."""
    return map(point, permutations([Fraction(each, 8) for each in range(1, 8)], count))


def any_biases_agree(quick: bool) -> Covered:
    """Whether the roots are the same at different biases."""
    compared = same_roots(map(monotone, (1, 2, 3)), different_biases)
    return Covered(
        "all monotone functions of 1 to 3 variables, different biases in 8ths",
        f"balls of 320 bits; {compared:,} comparisons up to symmetry",
    )


any_biases = Statement(
    "Criteria (any biases)",
    "On monotone functions entropy, Gini and the root have the same best splits whatever the "
    "biases.",
    (
        Reading(
            "",
            any_biases_agree,
            counterexample="3 variables, 0xa8, biases 1/2, 1/8, 1/4: entropy tests x1, gini tests "
            "x3, root tests x1",
        ),
    ),
    "Not in a paper that we know of. No function of two variables is an example, with biases in "
    "8ths.",
)


def restricted(values: Integers, sides: Sequence[tuple[int, int]]) -> Integers:
    """Sums over every restriction, from the values by row; ``sides`` weigh 0 and 1.

    Rows of the result are numbered in base 3; the digits 0 and 1 fix a variable, 2 leaves it free.
    """
    out = np.empty((3 ** len(sides), values.shape[1]), dtype=np.int32)
    for number in range(len(out)):
        free = free_variables(number, len(sides))
        if free:
            low, high = halves_of(number, free[0])
            out[number] = sides[free[0]][0] * out[low] + sides[free[0]][1] * out[high]
        else:
            out[number] = values[sum(number // 3**i % 3 << i for i in range(len(sides)))]
    return out


def free_variables(number: int, count: int) -> list[int]:
    """The variables that a restriction leaves free."""
    return [variable for variable in range(count) if number // 3**variable % 3 == 2]


def halves_of(number: int, variable: int) -> tuple[int, int]:
    """The numbers of a restriction's halves."""
    return number - 2 * 3**variable, number - 3**variable


class Spaces(NamedTuple):
    """Some functions under one product distribution; row = restriction, column = function.

    Masses are whole numbers; those of a restriction are parts of ``wholes``, its own mass.
    """

    sides: tuple[tuple[int, int], ...]  # the weights of 0 and 1, by variable
    positives: Integers
    influences: Integers  # shape (variables, restrictions, functions); how often a flip matters
    wholes: Integers  # of the free variables
    weights: Integers  # of the fixed ones

    @classmethod
    def of(cls, rows: Integers, highs: Sequence[int], parts: int) -> "Spaces":
        """Functions by row of their truth table, and biases in parts."""
        count = len(highs)
        sides = tuple((parts - high, high) for high in highs)
        numbers = np.arange(len(rows))
        flips = [rows ^ rows[numbers ^ 1 << variable] for variable in range(count)]
        weights = [
            math.prod(
                side[number // 3**i % 3] for i, side in enumerate(sides) if number // 3**i % 3 < 2
            )
            for number in range(3**count)
        ]
        wholes = [parts ** len(free_variables(number, count)) for number in range(3**count)]
        return cls(
            sides,
            restricted(rows, sides),
            np.stack([restricted(each, sides) for each in flips]),
            np.array(wholes, dtype=np.int32)[:, None],
            np.array(weights, dtype=np.int32)[:, None],
        )


NEVER = 2**26  # more than any sum of masses, and few enough for 32 bits times the weight of a side


def least_depths(spaces: Spaces) -> Integers:
    """``[depth, function]``: least average depth, in wholes, of trees without error so deep."""
    pure = (spaces.positives == 0) | (spaces.positives == spaces.wholes)
    by_depth = [np.where(pure, np.int32(0), np.int32(NEVER))]
    for _ in spaces.sides:
        shallower, deeper = by_depth[-1], by_depth[0].copy()
        for number in range(len(deeper)):
            for variable in free_variables(number, len(spaces.sides)):
                (low, high), (a, b) = halves_of(number, variable), spaces.sides[variable]
                tests = spaces.wholes[number] + a * shallower[low] + b * shallower[high]
                np.minimum(deeper[number], tests, out=deeper[number])
        by_depth.append(deeper)
    return np.stack([each[-1] for each in by_depth])


def influence_errors(spaces: Spaces, scales: Sequence[int]) -> Integers:
    """``[size, function]``: errors, in wholes, of trees that split where most influence is.

    A leaf's score is its reach times the largest influence, which counts ``scales`` by variable.
    Of equal scores the first counts. Sizes after the last split have the error 0.
    """
    count = len(spaces.sides)
    scaled = spaces.influences * np.array(scales, dtype=np.int32)[:, None, None]
    is_free = np.array([
        [variable in free_variables(number, count) for number in range(3**count)]
        for variable in range(count)
    ])  # fmt: skip
    scaled[~is_free] = -1
    # a row for each function from here on: its leaves are searched for the largest score
    chosen = np.ascontiguousarray(scaled.argmax(axis=0).T)
    scores = np.ascontiguousarray((scaled.max(axis=0) * spaces.weights).T)
    wrong = np.minimum(spaces.positives, spaces.wholes - spaces.positives) * spaces.weights
    wrong, everyone, powers = wrong.T, np.arange(len(scores)), 3 ** np.arange(count)
    leaves = np.full_like(scores, -1)  # the score of each leaf
    leaves[:, -1] = scores[:, -1]
    errors = [wrong[:, -1]]
    for _ in range(2**count - 1):
        leaf = leaves.argmax(axis=1)
        grows = leaves[everyone, leaf] > 0
        step = powers[chosen[everyone, leaf]]
        low, high = (np.where(grows, leaf - each * step, leaf) for each in (2, 1))
        change = wrong[everyone, low] + wrong[everyone, high] - wrong[everyone, leaf]
        errors.append(errors[-1] + change * grows)
        leaves[everyone, leaf] = -1
        for half in (low, high):
            leaves[everyone, half] = np.where(grows, scores[everyone, half], leaves.dtype.type(-1))
    return np.stack(errors)


class Room(NamedTuple):
    """The largest share of the bound's logarithm that a function needs, over all errors."""

    ratio: float  # log(leaves) / (average depth * depth * log(e/eps))
    function: int
    leaves: int
    error: Fraction  # eps, just below which so many leaves are needed
    product: Fraction  # least average depth * depth

    @property
    def certified(self) -> arb:
        """A ball that contains the ratio."""
        with precision(POINT_PRECISION):
            bound = as_ball(self.product) * (1 - as_ball(self.error).log())
            return arb(self.leaves).log() / bound


def most_needed(spaces: Spaces, by_depth: Integers, scales: Sequence[int]) -> dict[int, Room]:
    """By least depth, the function that needs most of its bound."""
    whole = int(spaces.wholes[-1, 0])
    depths = np.arange(len(by_depth))[:, None]
    products = np.where(by_depth < NEVER, depths * by_depth, NEVER).min(axis=0)
    errors = influence_errors(spaces, scales)[:-1]  # before the split that gives each size
    leaves = np.arange(2, len(errors) + 2)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = products / whole * (1 - np.log(errors / whole))
        ratios = np.where(errors > 0, np.log(leaves) / bounds, 0.0)
    found = {}
    least = (by_depth >= NEVER).sum(axis=0)
    for depth in range(1, len(by_depth)):
        here = np.where(least == depth, ratios, -1.0)
        size, function = map(int, np.unravel_index(here.argmax(), here.shape))
        if here[size, function] > 0:
            error = Fraction(int(errors[size, function]), whole)
            needed = Fraction(int(products[function]), whole)
            found[depth] = Room(float(here[size, function]), function, size + 2, error, needed)
    return found


BLOCK = 2048  # functions at once, so that their arrays stay in the processor's cache


def half_of_all(count: int, highs: Sequence[int], parts: int) -> Iterator[tuple[list[int], Spaces]]:
    """All functions that are 0 in the last row, in blocks; the others are their negations."""
    row, stop = np.arange(2**count)[:, None], 2 ** (2**count - 1)
    for begin in range(0, stop, BLOCK):
        tables = np.arange(begin, min(begin + BLOCK, stop))
        yield tables.tolist(), Spaces.of(tables >> row & 1, highs, parts)


@states(
    "Soltani Moakhar and others (size)",
    "Under a product distribution the tree that splits the leaf and variable of most influence, "
    "until its error is at most eps, has at most exp(Delta D log(e/eps)) leaves, where a tree "
    "without error has depth D and average depth Delta.",
    note="We have no more than the abstract: the size grows at most with this expression. Whether "
    "a constant belongs into the exponent, and whether influence means a flipped or a redrawn "
    "variable, we could not find out. So we measure the constant for both kinds of influence and "
    "for each least depth, and the check fails above 1. D and Delta are those of the tree of least "
    "product; if several leaves or variables have most influence, the first counts.",
)
def size_is_bounded(quick: bool) -> Covered:
    count, most = (3 if quick else 4), dict[tuple[str, int], Room]()
    for highs in combinations_with_replacement((1, 2, 4), count):
        influences = {"flipped": [1] * count, "redrawn": [each * (8 - each) for each in highs]}
        for tables, spaces in half_of_all(count, highs, 8):
            by_depth = least_depths(spaces)
            for name, scales in influences.items():
                for depth, room in most_needed(spaces, by_depth, scales).items():
                    case = f"{count} variables, 0x{tables[room.function]:x}, biases {highs} in 8ths"
                    require(bool(room.certified < 1), f"{case}: {room.leaves} leaves, {name}")
                    known = most.setdefault((name, depth), room)
                    most[name, depth] = max(known, room, key=lambda each: each.ratio)
    require(len(most) == 2 * count, f"{len(most)} of {2 * count} depths and kinds were compared")
    return Covered(
        f"all functions of {count} variables, biases from 1/8, 1/4, 1/2, 3/4, 7/8, every eps",
        f"in whole numbers; the constant must be at least {constants(most)}",
    )


def constants(most: Mapping[tuple[str, int], Room]) -> str:
    """The largest ratios by kind of influence and least depth, rounded to the next thousandth."""
    parts = []
    for name in dict.fromkeys(name for name, _ in most):
        ratios = {depth: room.certified for (kind, depth), room in most.items() if kind == name}
        thousandths = {depth: (1000 * ball).upper().ceil() for depth, ball in ratios.items()}
        listed = (
            f"{float(thousandths[depth]) / 1000} for depth {depth}" for depth in sorted(ratios)
        )
        parts.append(f"{', '.join(listed)} ({name})")
    return "; ".join(parts)


CLOSE = 1e-9  # far above the errors of floats between 0 and 1


def float_entropy(rates: FloatArray) -> FloatArray:
    """Of many rates at once."""
    parts = np.stack([rates, 1 - rates])
    return -(parts * np.log2(np.where(parts > 0, parts, 1.0))).sum(axis=0)


IN_FLOATS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "entropy": float_entropy,
    "gini": lambda rates: 4 * rates * (1 - rates),
    "root": lambda rates: 2 * np.sqrt(rates * (1 - rates)),
}


def best_roots(tables: Sequence[Labels], box: BiasBox) -> dict[str, Integers]:
    """By criterion, the contenders of each function at a point, as bits.

    Floats decide where the best two are further apart than ``CLOSE``, and balls elsewhere.
    """
    labels, count = np.array(tables, dtype=float).T, len(box)
    chances = np.array([float(mass(row, box)) for row in range(len(labels))])
    ones = np.arange(len(labels)) >> np.arange(count)[:, None] & 1
    parts = np.stack([1 - ones, ones]) * chances  # by value, variable and row
    reaches = parts.sum(axis=2, keepdims=True)
    rates = np.clip(parts @ labels / reaches, 0.0, 1.0)
    found = {}
    for name, impurity in IN_FLOATS.items():
        left = (reaches * impurity(rates)).sum(axis=0)
        found[name] = 1 << left.argmin(axis=0)
        near = left <= left.min(axis=0) + CLOSE
        for number in np.flatnonzero(near.sum(axis=0) > 1).tolist():
            tied = contenders(tables[number], box, name)
            found[name][number] = sum(1 << variable for variable in tied)
    return found


@states(
    "Criteria (how often)",
    "On monotone functions with different biases two of entropy, Gini and the root have different "
    "best splits at less than one in ten pairs of a function and a list of biases.",
    note="Not in a paper that we know of; the bound is ours.",
)
def roots_seldom_differ(quick: bool) -> Covered:
    count = 3 if quick else 5
    listed = [each for each in members(monotone(count)) if not is_constant(each[1])]
    tables = [labels for _, labels, _ in listed]
    counts = np.array([stands_for for *_, stands_for in listed])
    different = dict.fromkeys(combinations(IMPURITIES, 2), 0)
    total, somewhere = 0, np.zeros(len(tables), dtype=bool)
    for here in different_biases(count):
        chosen = best_roots(tables, here)
        total += int(counts.sum())
        for one, other in different:
            differ = chosen[one] != chosen[other]
            different[one, other] += int(counts[differ].sum())
            somewhere |= differ
    texts = [f"{one} and {other} at {n:,}" for (one, other), n in different.items()]
    detail = f"of {total:,} pairs {', '.join(texts)}"
    require(10 * max(different.values()) < total, f"{count} variables: {detail}")
    return Covered(
        f"all monotone functions of {count} variables, different biases in 8ths",
        f"{detail}; some two differ somewhere for {counts[somewhere].sum():,} of "
        f"{counts.sum():,} functions",
    )


BIASED: tuple[Statement, ...] = (
    juntas_are_learned,
    depth_conjecture,
    smallest_higher,
    complete_trees_are_high,
    one_flip_is_enough,
    size_is_bounded,
    equal_biases_agree,
    any_biases,
    roots_seldom_differ,
)
