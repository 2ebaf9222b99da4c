"""Lemma C.6 and other comparisons of the gains of two nodes of a two-term tree.

The proof that TopDown grows the staircase compares the weighted gains of nodes of the two terms,
for every number of literals left in each. The differences are certified to be positive in two ways:
at points, for all lengths up to a bound, with balls of many digits; and on boxes that contain all
larger lengths, by the lemmas of ``inequalities``.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import arb, fmpq

from mictree._support.numbers import precision
from mictree.statements.checks import Covered, Reading, Statement, require, states
from mictree.statements.inequalities import (
    HALF,
    POINT_PRECISION,
    as_ball,
    bent_rate,
    certify_positive,
    entropy_at,
    equal,
    four_rates,
    log2,
    one_term_rates,
    rates_to_one,
    require_positive,
    slope,
    two_rates,
    x_log2_x,
)


def either(x: Fraction, y: Fraction) -> arb:
    """H of the probability of one of two independent events."""
    return entropy_at(x + y - x * y)


def numerical_parts(k: int, m: int) -> dict[int, arb]:
    """The expressions of Lemma C.6 whose conditions k and m meet, by part."""
    x, y = HALF**k, HALF**m
    alone = entropy_at(y)
    parts = {1: 2 * either(x, y) - 3 * alone + entropy_at(2 * y) - either(2 * x, y)}
    if k >= 3:
        parts[2] = either(2 * x, y) + alone / 4 - either(x, y) - either(4 * x, y) / 4
    if k == 2:
        parts[3] = either(2 * x, y) + alone / 4 - either(x, y)
    parts[4] = entropy_at(2 * y) - alone - entropy_at(4 * y) / 4
    return parts


def lemma_parts(k: int, m: int) -> dict[int, arb]:
    """The same as the lemmas have them, in the forms that are certified on boxes."""
    x, y = HALF**k, HALF**m
    b = x - x * y
    if k == m - 1:
        parts = {1: bent_rate(as_ball(y)) * as_ball(y)}  # C.2
    else:
        parts = {1: two_rates(as_ball(y / b), as_ball(y + 2 * b)) * as_ball(b)}  # C.3
    if k >= 3:
        total = y + 4 * b
        parts[2] = four_rates(as_ball(b / total), as_ball(total)) * as_ball(total)  # C.4
    if k == 2:
        parts[3] = rates_to_one(as_ball(y))  # C.5
    parts[4] = one_term_rates(as_ball(4 * y)) * as_ball(16 * y * y)  # C.4 at a = 0
    return parts


def require_parts(k: int, m: int) -> None:
    """Raise Counterexample unless every part of Lemma C.6 is positive and one of the lemmas'."""
    with precision(POINT_PRECISION):
        parts = numerical_parts(k, m)
        for part, value in lemma_parts(k, m).items():
            case = f"part {part}, k={k}, m={m}"
            require(equal(parts[part], value), f"{case}: not what its lemma is about")
            require(bool(value > 0), f"not positive at {case}: {value.str(5)}")


@states(
    "Lemma C.6",
    "For x = 2^-k, y = 2^-m, 1 <= k < m, four differences of weighted gains are positive: right "
    "against left child of the root, child against parent on the right path (k >= 3, and k = 2), "
    "child against parent in a left subtree.",
)
def lemma_c6(quick: bool) -> Covered:
    largest = 20 if quick else 60
    for m in range(2, largest + 1):
        for k in range(1, m):
            require_parts(k, m)
    return Covered(
        f"all 1 <= k < m <= {largest}, at rational points; every larger m by Lemmas C.1 to C.5",
        "The parts agree with the lemmas' expressions to 200 bits: part 1 with Lemma C.3 at a = y, "
        "b = x - xy (k < m - 1, also a + 2b = 1) or Lemma C.2 (k = m - 1); part 2 with C.4; part 3 "
        "with C.5; part 4 with C.4 at a = 0, also a + 4b = 1.",
    )


def lead_at(shorter: int, longer: int) -> arb:
    """Twice the gain of a variable of the shorter term minus that of one of the longer term."""
    x, y = HALF**shorter, HALF**longer
    return entropy_at(x) + either(x, 2 * y) - entropy_at(y) - either(2 * x, y)


def lead(share: arb, x: arb) -> arb:
    """(H(x) + H(x+2y-2xy) - H(y) - H(2x+y-2xy)) / x for share = y/x."""
    one, two = 1 + 2 * share * (1 - x), 2 + share * (1 - 2 * x)
    logs = two * log2(two) - one * log2(one) + x_log2_x(share)
    slopes = slope(x) + one * slope(x * one) - share * slope(x * share) - two * slope(x * two)
    return logs + slopes


@states(
    "Proposition 6.3 (cited)",
    "In a two-term formula a variable of the shorter term has the larger gain (Fiat and Pechyony).",
)
def shorter_term_first(quick: bool) -> Covered:
    largest = 20 if quick else 60
    for longer in range(2, largest + 1):
        leads = {
            shorter: f"terms of {shorter} and {longer} literals" for shorter in range(1, longer)
        }
        require_positive(lambda leads=leads, longer=longer: {
            case: lead_at(shorter, longer) for shorter, case in leads.items()
        })  # fmt: skip
    proof = certify_positive(lead, [(0.0, 0.5), (0.0, 0.5)])
    return Covered(
        f"all pairs of different lengths; up to {largest} also at rational points",
        f"Divided by x, for all real 0 <= 2y <= x <= 1/2: {proof}.",
    )


def power(base: arb, exponent: arb) -> arb:
    """``base ** exponent`` for a positive base."""
    return (exponent * base.log()).exp()


def whole_lines(quick: bool) -> Covered:
    """The printed first step as a whole: Delta exceeds the printed bound."""

    def excess(a: arb) -> arb:
        high = power(1 - 2 * a, 8 - 8 * a) * power(5 - 4 * a, 5 - 8 * a)
        low = power(3 - 2 * a, 6 - 8 * a) * (1 - a) ** 2 * power(1 - 4 * a, 5 - 8 * a)
        floor = power(5 - arb(fmpq(1, 128)), 5 - arb(fmpq(1, 64)))
        return high - 4 * low - power(1 - 2 * a, arb(7.5)) * floor + 4 * (729 - 5120 * a)

    proof = certify_positive(excess, [(0.0, 1 / 512)])
    return Covered("all real 0 <= a <= 1/512", str(proof))


def factor_alone(quick: bool) -> Covered:
    """Whether (1 - 2a)^(8 - 8a) >= (1 - 2a)^7.5 for a = 2^-k, k > 8."""
    for k in range(9, 20):
        a = as_ball(HALF**k)
        power_taken, bound = power(1 - 2 * a, 8 - 8 * a), power(1 - 2 * a, arb(7.5))
        digits = " < ".join(value.str(6, radius=False) for value in (power_taken, bound))
        require(bool(power_taken >= bound), f"a = 2^-{k}: {digits}")
    return Covered("a = 2^-k, 9 <= k < 20")


chain_of_c2 = Statement(
    "Lemma C.2 (proof)",
    "For k > 8 the printed chain bounds (1 - 2a)^(8 - 8a) from below by (1 - 2a)^7.5.",
    (
        Reading("this factor alone", factor_alone, counterexample="a = 2^-9: 0.969233 < 0.971072"),
        Reading("the whole lines that contain it", whole_lines),
    ),
    "Taken alone the bound is false, as 8 - 8a > 7.5 and 1 - 2a < 1; the other factors have room.",
)


def lemmas_apply(borders: bool, quick: bool) -> Covered:
    """Whether the points of Lemma C.6 lie in the ranges of Lemmas C.2 to C.5, borders or not."""

    def below_one(total: Fraction) -> bool:
        return total < 1 or (borders and total == 1)

    for m in range(2, 20):
        for k in range(1, m):
            x, y = HALF**k, HALF**m
            b, case = x - x * y, f"k = {k}, m = {m}"
            if k == m - 1:
                require(y + b == 3 * y - 2 * y * y, f"{case}: Lemma C.2 is about another rate")
            else:
                fits = 2 * y <= b and below_one(y + 2 * b)
                require(fits, f"{case}: part 1 uses Lemma C.3 at a + 2b = {y + 2 * b}")
            if k == 2:
                fits = y <= Fraction(1, 8) and 4 * b == 1 - y
                require(fits, f"{case}: part 3 uses Lemma C.5 at a = {y}, b = {b}")
            if k >= 3:
                fits = y + 4 * b < 1
                require(fits, f"{case}: part 2 uses Lemma C.4 at a + 4b = {y + 4 * b}")
            fits = borders and below_one(4 * y)
            require(fits, f"{case}: part 4 uses Lemma C.4 at a = 0, a + 4b = {4 * y}")
            require_parts(k, m)
    return Covered("1 <= k < m < 20", "exact; and all parts are positive there")


wording_of_c6 = Statement(
    "Lemma C.6 (wording)",
    "Three inequalities for integers m and l follow from Lemmas C.2 to C.5.",
    (
        Reading(
            "from the lemmas in their printed ranges",
            partial(lemmas_apply, False),
            counterexample="k = 1, m = 2: part 4 uses Lemma C.4 at a = 0, a + 4b = 1",
        ),
        Reading("from the lemmas with their borders", partial(lemmas_apply, True)),
    ),
    "Four are listed, for k and m. Part 1 with k = 1 uses Lemma C.3 at a + 2b = 1, and part 4 uses "
    "Lemma C.4 at a = 0, with m = 2 also at a + 4b = 1: all outside their strict ranges. Both "
    "lemmas are true there too; see their ranges.",
)


def parts_apply(part_of: Callable[[int, int], int], quick: bool) -> Covered:
    """Whether the named part of Lemma C.6 applies to every child on the right path, and holds."""
    largest = 8 if quick else 20
    for length in range(3, largest):
        for depth in range(1, length - 1):
            left = length - depth  # x-literals that the parent still lacks
            part, case = part_of(length, depth), f"l = {length}, k = {depth}"
            applies = part in numerical_parts(left, length)
            require(applies, f"{case}: part {part} does not apply to x = {HALF**left}")
            require_parts(left, length)
    return Covered(f"3 <= l < {largest}, 1 <= k <= l - 2")


special_case = Statement(
    "Proposition 6.3 (part 2)",
    "A child on the right path has the larger weighted gain: for l >= 3 by part 2 of Lemma C.6, "
    "for l = 2 by part 3.",
    (
        Reading(
            "as printed",
            partial(parts_apply, lambda length, depth: 2),
            counterexample="l = 3, k = 1: part 2 does not apply to x = 1/4",
        ),
        Reading(
            "by part 3 for k = l - 2, by part 2 for smaller k",
            partial(parts_apply, lambda length, depth: 3 if depth == length - 2 else 2),
        ),
    ),
    "The special case is k = l - 2, for every l: the child has one x-literal left, so x = 1/4, and "
    "part 2 needs x <= 1/8. For l = 2 there is no k with 1 <= k <= l - 2.",
)


STATEMENTS = (
    chain_of_c2,
    lemma_c6,
    wording_of_c6,
    shorter_term_first,
    special_case,
)
