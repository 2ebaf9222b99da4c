"""Lemma C.6 and what else compares the gains of two nodes of a two-term tree."""

from fractions import Fraction

from flint import arb, fmpq

from mictree.statements.balls import (
    certify_positive,
    entropy_at,
    log2,
    require_positive,
    slope,
    x_log2_x,
)
from mictree.statements.checks import Covered, require, states
from mictree.statements.inequalities import HALF
from mictree.statements.two_terms import rate


def either(x: Fraction, y: Fraction) -> arb:
    """H of the probability of one of two independent events."""
    return entropy_at(x + y - x * y)


def numerical_parts(k: int, m: int) -> dict[str, arb]:
    """The expressions of Lemma C.6 whose conditions k and m meet."""
    x, y = HALF**k, HALF**m
    alone = entropy_at(y)
    parts = {1: 2 * either(x, y) - 3 * alone + entropy_at(2 * y) - either(2 * x, y)}
    if k >= 3:
        parts[2] = either(2 * x, y) + alone / 4 - either(x, y) - either(4 * x, y) / 4
    if k == 2:
        parts[3] = either(2 * x, y) + alone / 4 - either(x, y)
    parts[4] = entropy_at(2 * y) - alone - entropy_at(4 * y) / 4
    return {f"part {part}, k={k}, m={m}": value for part, value in parts.items()}


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
            require_positive(lambda k=k, m=m: numerical_parts(k, m))
    return Covered(
        f"all 1 <= k < m <= {largest}, at rational points; every larger m by Lemmas C.1 to C.5",
        "Part 1 is Lemma C.3 with a = y, b = x - xy (k < m - 1, also a + 2b = 1) or Lemma C.2 "
        "(k = m - 1); part 2 is C.4; part 3 is C.5; part 4 is C.4 at a = 0, also a + 4b = 1.",
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


@states(
    "Lemma C.2 (proof)",
    "For k > 8 the printed chain bounds (1 - 2a)^(8 - 8a) from below by (1 - 2a)^7.5.",
    expected="unclear as printed",
)
def chain_of_c2(quick: bool) -> Covered:
    def whole(a: arb) -> arb:
        """The printed first step: Delta minus what it is said to exceed."""
        high = power(1 - 2 * a, 8 - 8 * a) * power(5 - 4 * a, 5 - 8 * a)
        low = power(3 - 2 * a, 6 - 8 * a) * (1 - a) ** 2 * power(1 - 4 * a, 5 - 8 * a)
        floor = power(5 - arb(fmpq(1, 128)), 5 - arb(fmpq(1, 64)))
        return high - 4 * low - power(1 - 2 * a, arb(7.5)) * floor + 4 * (729 - 5120 * a)

    proof = certify_positive(whole, [(0.0, 1 / 512)])
    a = arb(fmpq(1, 512))
    require(
        bool(power(1 - 2 * a, 8 - 8 * a) < power(1 - 2 * a, arb(7.5))), "the bound holds at 1/512"
    )
    return Covered(
        "all real 0 <= a <= 1/512",
        "Taken alone that bound is false, at a = 1/512 for one, as 8 - 8a > 7.5 and 1 - 2a < 1. "
        f"The inequality between the whole lines is true ({proof}); the other factors have room.",
    )


@states(
    "Lemma C.6 (wording)",
    "Three inequalities for integers m and l follow from Lemmas C.2 to C.5.",
    expected="unclear as printed",
)
def wording_of_c6(quick: bool) -> Covered:
    for m in range(2, 20):
        y = HALF**m
        b = HALF - HALF * y  # x - xy for k = 1
        require(y + 2 * b == 1, f"m={m}: a + 2b is not 1")
    require(4 * HALF**2 == 1, "m=2: a + 4b is not 1")
    return Covered(
        "k = 1, 2 <= m < 20; m = 2",
        "Four are listed, for k and m. Part 1 with k = 1 uses Lemma C.3 at a + 2b = 1, and part 4 "
        "uses Lemma C.4 at a = 0, with m = 2 also at a + 4b = 1: all outside their strict ranges. "
        "Both lemmas are true there too; see their ranges.",
    )


@states(
    "Proposition 6.3 (part 2)",
    "A child on the right path has the larger weighted gain: for l >= 3 by part 2 of Lemma C.6, "
    "for l = 2 by part 3.",
    expected="unclear as printed",
)
def special_case(quick: bool) -> Covered:
    for shorter in range(3, 20):
        literals = {depth: shorter - depth for depth in range(1, shorter - 1)}  # left at the parent
        last = [depth for depth, left in literals.items() if rate(left - 2, shorter) == 1]
        require(last == [shorter - 2], f"l={shorter}: the grandchild is pure at {last}")
    require(not range(1, 2 - 1), "l=2 has a depth between 1 and l - 2")
    return Covered(
        "3 <= l < 20",
        "The special case is k = l - 2 (the child has one x-literal left, so x = 1/4), for every "
        "l; part 2 needs x <= 1/8, k <= l - 3. For l = 2 there is no k with 1 <= k <= l - 2.",
    )


STATEMENTS = (
    chain_of_c2,
    lemma_c6,
    wording_of_c6,
    shorter_term_first,
    special_case,
)
