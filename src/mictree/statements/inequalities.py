"""Lemma 5.2 and Lemmas C.1 to C.5: entropy inequalities over whole boxes.

Each function that is handed to `certify_positive` is the paper's expression after division by a
positive factor; its docstring names the factor.
"""

from fractions import Fraction
from itertools import combinations

from flint import arb

from mictree._support.precision import precision
from mictree.statements.balls import (
    POINT_PRECISION,
    as_ball,
    bend,
    certify_positive,
    entropy,
    entropy_at,
    equal,
    log2,
    require_positive,
    same_polynomial,
    slope,
    x_log2_x,
)
from mictree.statements.checks import Covered, require, states

HALF = Fraction(1, 2)
NEAR_ONE = 1 - 2.0**-30


def minority(rate: Fraction) -> Fraction:
    """C(q), exactly."""
    return min(rate, 1 - rate)


@states("Section 3", "The error of a tree is at most its entropy, E(T) <= H(T).")
def error_below_entropy(quick: bool) -> Covered:
    def above(rate: arb) -> arb:
        """(H(q) - C(q)) / q for q up to 1/2."""
        return slope(rate) - log2(rate) - 1

    proof = certify_positive(above, [(2.0**-30, 0.5)])
    return Covered(
        "every rate q in [0, 1], so every tree",
        f"H(q) > C(q) on [2^-30, 1/2]: {proof}. Below 2^-30, H(q)/q >= -log2(q) > 1; both "
        "sides are 0 at 0 and symmetric about 1/2. Leaves add up with the same weights.",
    )


def entropy_slope(u: arb) -> arb:
    """(H(u) - u H'(u)) / u, which is -u (H(u)/u)'."""
    return slope(u) - log2(1 - u)


def entropy_ratio_gap(share: arb, u2: arb) -> arb:
    """(u2 H(u1) - u1 H(u2)) / (u1 u2) for u1 = share * u2."""
    return slope(share * u2) - slope(u2) - log2(share)


@states(
    "Lemma 5.2 (1)",
    "x1 H(y x2) <= x2 H(y x1) for 0 < y < 1 and 0 < x1 <= x2 <= 1, strictly when x1 < x2.",
)
def entropy_over_rate_falls(quick: bool) -> Covered:
    derivative = certify_positive(entropy_slope, [(0.0, NEAR_ONE)])
    direct = certify_positive(entropy_ratio_gap, [(2.0**-20, 63 / 64), (0.0, 1.0)])
    return Covered(
        "all real y, x1, x2 of the stated range",
        "With u = yx the claim is that H(u)/u falls on (0, 1). Certified: H(u) - u H'(u) > 0, "
        f"divided by u, on [0, 1 - 2^-30] ({derivative}); beyond, it is at least "
        "-log2(1 - u) >= 30. The inequality itself, divided by y x1 x2, also directly for "
        f"2^-20 <= x1/x2 <= 63/64 and 0 < y x2 <= 1 ({direct}).",
    )


@states("Lemma 5.2 (2)", "x1 C(y x2) <= x2 C(y x1) in the same range.")
def minority_over_rate_falls(quick: bool) -> Covered:
    cases = [  # u2 C(u1) - u1 C(u2) where C is linear, and its factors, for u1 <= u2
        (lambda u, v: v * (1 - u) - u * (1 - v), lambda u, v: v - u),  # 1/2 <= u1
        (lambda u, v: v * u - u * v, lambda u, v: 0 * u),  # u2 <= 1/2
        (lambda u, v: v * u - u * (1 - v), lambda u, v: u * (2 * v - 1)),  # u1 <= 1/2 <= u2
    ]
    for number, (difference, factored) in enumerate(cases, start=1):
        require(same_polynomial(difference, factored, 2, 2), f"case {number}: factors differ")
    parts = 12 if quick else 24
    grid = [Fraction(i, parts) for i in range(1, parts + 1)]
    for y in grid[:-1]:
        for x1, x2 in combinations(grid, 2):
            left, right = x1 * minority(y * x2), x2 * minority(y * x1)
            require(left <= right, f"y={y}, x1={x1}, x2={x2}: {left} > {right}")
    return Covered(
        f"all real y, x1, x2; and a grid of {parts}ths",
        "In each of the three cases (y x1 >= 1/2; y x2 <= 1/2; between) the difference of the "
        "sides is a product of factors that are not negative: identities of polynomials, exact.",
    )


def one_rate(a: arb) -> arb:
    """(2H(3a) - 3H(a) + H(2a) - H(5a)) / a."""
    constant = 5 * log2(arb(5)) - 6 * log2(arb(3)) - 2
    return constant + 6 * slope(3 * a) - 3 * slope(a) + 2 * slope(2 * a) - 5 * slope(5 * a)


@states("Lemma C.1", "2H(3a) - 3H(a) + H(2a) - H(5a) > 0 for 0 < a < 1/5.")
def lemma_c1(quick: bool) -> Covered:
    proof = certify_positive(one_rate, [(0.0, 0.2)])
    return Covered("all real 0 < a <= 1/5", f"divided by a: {proof}")


def bent_rate(a: arb) -> arb:
    """(2H(3a - 2a^2) - 3H(a) + H(2a) - H(5a - 4a^2)) / a."""
    three, five = 3 - 2 * a, 5 - 4 * a
    logs = five * log2(five) - 2 * three * log2(three) - 2
    slopes = 2 * three * slope(a * three) - 3 * slope(a) + 2 * slope(2 * a) - five * slope(a * five)
    return logs + slopes


def bent_rate_at(a: Fraction) -> arb:
    """2H(3a - 2a^2) - 3H(a) + H(2a) - H(5a - 4a^2) at a rational point."""
    mixed = 2 * entropy_at(3 * a - 2 * a * a) - entropy_at(5 * a - 4 * a * a)
    return mixed - 3 * entropy_at(a) + entropy_at(2 * a)


@states(
    "Lemma C.2", "2H(3a - 2a^2) - 3H(a) + H(2a) - H(5a - 4a^2) > 0 for a = 2^-k and every k >= 2."
)
def lemma_c2(quick: bool) -> Covered:
    values = require_positive(lambda: {f"k={k}": bent_rate_at(HALF**k) for k in range(2, 9)})
    with precision(POINT_PRECISION):
        for a in (HALF**k for k in range(2, 9)):
            same = equal(bent_rate(as_ball(a)) * as_ball(a), bent_rate_at(a))
            require(same, f"a = {a}: the form for boxes differs")
    proof = certify_positive(bent_rate, [(0.0, 0.25)])
    return Covered(
        "k = 2 to 8 at rational points; all real 0 < a <= 1/4, so every k >= 2",
        f"At k = 2, ..., 8 it exceeds {', '.join(f'{value:.4g}' for value in values)}. "
        f"Divided by a, on [0, 1/4]: {proof}. This replaces the paper's argument for k > 8.",
    )


def two_rates(share: arb, total: arb) -> arb:
    """(2H(a+b) - 3H(a) + H(2a) - H(a+2b)) / b for share = a/b and total = a + 2b."""
    b = total / (2 + share)
    logs = (2 + share) * log2(2 + share) - 2 * (1 + share) * log2(1 + share)
    logs += x_log2_x(share) - 2 * share
    sums = 2 * (1 + share) * slope(b * (1 + share)) - (2 + share) * slope(total)
    return logs + sums - 3 * share * slope(b * share) + 2 * share * slope(2 * b * share)


@states("Lemma C.3", "2H(a+b) - 3H(a) + H(2a) - H(a+2b) > 0 for 0 < 2a <= b with a + 2b < 1.")
def lemma_c3(quick: bool) -> Covered:
    proof = certify_positive(two_rates, [(0.0, 0.5), (0.0, 1.0)])
    return Covered(
        "all real a, b with 0 <= 2a <= b, b > 0, a + 2b <= 1",
        f"Divided by b, with a/b in [0, 1/2] and a + 2b in [0, 1]: {proof}. The border a + 2b = 1 "
        "is outside the statement, but Lemma C.6 needs it.",
    )


def four_rates(share: arb, total: arb) -> arb:
    """(H(a+2b) - H(a+b) - H(a+4b)/4 + H(a)/4) / total, share = b/total, total = a + 4b."""
    one, two, four = 1 - 3 * share, 1 - 2 * share, 1 - 4 * share
    logs = x_log2_x(one) - x_log2_x(two) - x_log2_x(four) / 4
    sums = two * slope(total * two) - one * slope(total * one)
    return logs + sums - slope(total) / 4 + four * slope(total * four) / 4


def one_term_rates(total: arb) -> arb:
    """(H(2b) - H(b) - H(4b)/4) / total^2 for total = 4b."""
    return bend(total) / 4 + bend(total / 4) / 16 - bend(total / 2) / 4


@states("Lemma C.4", "H(a+2b) - H(a+b) - H(a+4b)/4 + H(a)/4 > 0 for a, b > 0 with a + 4b < 1.")
def lemma_c4(quick: bool) -> Covered:
    first = same_polynomial(
        lambda a, b: (a + b) * (a + 4 * b) - (a + 2 * b) ** 2, lambda a, b: a * b, 2, 2
    )
    second = same_polynomial(
        lambda a, b: (1 - a - 2 * b) ** 2 - (1 - a - b) * (1 - a - 4 * b),
        lambda a, b: b * (1 - a),
        2,
        2,
    )
    require(first and second, "the two products in the proof differ otherwise than by ab, b - ab")
    proof = certify_positive(four_rates, [(1 / 6, 15 / 64), (0.0, 1.0)])
    border = certify_positive(one_term_rates, [(0.0, 1.0)])
    return Covered(
        "all real a, b > 0 with a + 4b < 1; and a = 0, 0 < 4b <= 1",
        "It is 0 at b = 0, and its derivative in b is log2 of a product of two ratios that exceed "
        "1 because ab > 0 and b(1 - a) > 0: identities of polynomials, exact. Directly, divided "
        f"by a + 4b, for b/(a + 4b) in [1/6, 15/64], a + 4b <= 1: {proof}. The border a = 0, with "
        f"4b <= 1, is outside the statement, but Lemma C.6 needs it; divided by (4b)^2: {border}.",
    )


def rates_to_one(a: arb) -> arb:
    """H(a+2b) - H(a+b) + H(a)/4 for b = (1 - a)/4, where a + 4b = 1."""
    return entropy((1 + a) / 2) - entropy((1 + 3 * a) / 4) + entropy(a) / 4


@states("Lemma C.5", "H(a+2b) - H(a+b) + H(a)/4 > 0 for 0 < a <= 1/8 and b = (1 - a)/4.")
def lemma_c5(quick: bool) -> Covered:
    proof = certify_positive(rates_to_one, [(0.0, 0.125)])
    return Covered("all real 0 <= a <= 1/8", str(proof))


STATEMENTS = (
    error_below_entropy,
    entropy_over_rate_falls,
    minority_over_rate_falls,
    lemma_c1,
    lemma_c2,
    lemma_c3,
    lemma_c4,
    lemma_c5,
)
