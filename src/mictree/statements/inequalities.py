"""Inequalities over whole boxes, certified with ball arithmetic (python-flint's arb).

A ball is a midpoint with a radius that provably contains the true value, rounding included. A
function is positive on a box when its value there, computed from balls that contain the box's
sides, is a ball of positive numbers. Where that fails the box is halved. So are Lemma 5.2 and
Lemmas C.1 to C.5 certified, entropy inequalities over whole boxes. Each function that is handed to
`certify_positive` is the paper's expression after division by a positive factor; its docstring
names the factor.

Near 0 every entropy is used in a scaled form that stays away from 0. With

    H(u) = u * (slope(u) - log2(u)),    slope(u) = -(1 - u) log2(1 - u) / u,

a sum of entropies H(c_i a) whose weighted c_i cancel loses its log2(a), and what is left of it
after division by a is continuous up to a = 0. `slope` falls from 1/ln 2 at 0 to 0 at 1, since its
derivative has the sign of u + ln(1 - u) < 0, so its range on a box is known from the ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from flint import arb, fmpq

from mictree._support.numbers import precision
from mictree.statements.checks import Counterexample, Covered, require, states

PRECISION = 96  # bits, for boxes
POINT_PRECISION = 320  # bits, for points, where terms of very different size cancel
MAX_BOXES = 200_000

Side = tuple[float, float]
Box = tuple[Side, ...]


@dataclass(frozen=True)
class Certificate:
    """A proof that a function is positive on a box: how many pieces, and the least lower bound."""

    pieces: int
    lower_bound: float

    def __str__(self) -> str:
        boxes = "1 box" if self.pieces == 1 else f"{self.pieces} boxes"
        return f"{boxes}, at least {self.lower_bound:.2g} on each"


def certify_positive(
    function: Callable[..., arb], box: Sequence[Side], max_boxes: int = MAX_BOXES
) -> Certificate:
    """Prove that a function of as many balls as the box has sides is positive on the closed box.

    Raises Counterexample at a point where it is certainly not, or when ``max_boxes`` are not enough
    to decide.
    """
    with precision(PRECISION):
        waiting: list[Box] = [tuple(box)]
        widths = [high - low for low, high in box]
        pieces, bound = 0, float("inf")
        while waiting:
            here = waiting.pop()
            value = function(*(ball(low, high) for low, high in here))
            if value > 0:
                pieces, bound = pieces + 1, min(bound, float(value.lower()))
                continue
            middle = [(low + high) / 2 for low, high in here]
            if function(*map(arb, middle)) <= 0:
                raise Counterexample(f"not positive at {tuple(middle)}")
            if pieces + len(waiting) >= max_boxes:
                raise Counterexample(f"undecided in the box {here} after {max_boxes} boxes")
            waiting += _halves(here, middle, widths)
    return Certificate(pieces, bound)


def _halves(box: Box, middle: list[float], widths: list[float]) -> tuple[Box, Box]:
    """Cut the side that is longest in comparison with the whole box."""
    sizes = [(high - low) / width for (low, high), width in zip(box, widths, strict=True)]
    side = sizes.index(max(sizes))
    low, high = box[side]
    before, after = box[:side], box[side + 1 :]
    return (*before, (low, middle[side]), *after), (*before, (middle[side], high), *after)


def ball(low: float, high: float) -> arb:
    """A ball that contains the closed interval."""
    return arb(low).union(arb(high))


def log2(x: arb) -> arb:
    """The logarithm to base 2 of a ball of positive numbers."""
    return x.log() / arb.const_log2()


def x_log2_x(x: arb) -> arb:
    """``x log2(x)`` for x in [0, 1], with 0 log 0 = 0; ignores the part outside [0, 1]."""
    low, high = _within_unit(x)
    valley = (-arb(1)).exp()  # falls up to 1/e, then rises
    values = [_x_log2_x_at(low), _x_log2_x_at(high)]
    if not (high < valley or low > valley):
        values.append(_x_log2_x_at(valley))
    return _hull(values)


def _x_log2_x_at(x: arb) -> arb:
    return x * log2(x) if x > 0 else arb(0)


def slope(u: arb) -> arb:
    """``-(1 - u) log2(1 - u) / u`` for u in [0, 1]; ignores the part outside [0, 1]."""
    low, high = _within_unit(u)
    return _slope_at(low).union(_slope_at(high))  # it falls


def _slope_at(u: arb) -> arb:
    if u > 0:
        return -(1 - u) * (-u).log1p() / (u * arb.const_log2()) if u < 1 else arb(0)
    return 1 / arb.const_log2()


def bend(u: arb) -> arb:
    """``(1/ln 2 - slope(u)) / u`` for u in [0, 1]: the sum of u^n / ((n+1)(n+2) ln 2)."""
    low, high = _within_unit(u)
    return _bend_at(low).union(_bend_at(high))  # it rises


def _bend_at(u: arb) -> arb:
    if u > 0:
        with precision(POINT_PRECISION):  # the difference cancels where u is small
            return (1 / arb.const_log2() - _slope_at(u)) / u
    return 1 / (2 * arb.const_log2())


def entropy(u: arb) -> arb:
    """H(u) in bits for u in [0, 1]; ignores the part outside [0, 1]."""
    return -x_log2_x(u) - x_log2_x(1 - u)


def _within_unit(x: arb) -> tuple[arb, arb]:
    """The ends of a ball, cut to [0, 1].

    The true value lies there; a ball may reach further because it is rounded outwards.
    """
    low, high = x.lower(), x.upper()
    if low > 1 or high < 0:
        raise ValueError(f"a probability must lie in [0, 1]; it lies in {x}")
    return (low if low > 0 else arb(0)), (high if high < 1 else arb(1))


def _hull(values: list[arb]) -> arb:
    union = values[0]
    for value in values[1:]:
        union = union.union(value)
    return union


def as_ball(number: Fraction) -> arb:
    """A ball around a rational number, as small as the precision allows."""
    return arb(fmpq(number.numerator, number.denominator))


def entropy_at(rate: Fraction) -> arb:
    """H at a rational point: the rate and its complement are exact, and so is 0 log 0."""
    parts = [part for part in (rate, 1 - rate) if part != 0]
    balls = [as_ball(part) for part in parts]
    return -sum((part * log2(part) for part in balls), arb(0))


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


def equal(one: arb, other: arb) -> bool:
    """Whether two balls, computed at `POINT_PRECISION`, differ by less than 2^-200 for certain."""
    return bool(abs(one - other) < arb(2) ** -200)


def require_positive(values: Callable[[], dict[str, arb]]) -> list[float]:
    """Lower bounds of positive numbers, computed at high precision, by name of the case.

    Raises Counterexample at the first that is not surely positive.
    """
    with precision(POINT_PRECISION):
        bounds = []
        for case, value in values().items():
            if not value > 0:
                raise Counterexample(f"not positive at {case}: {value.str(5)}")
            bounds.append(float(value.lower()))
        return bounds


def same_polynomial(
    left: Callable[..., Fraction], right: Callable[..., Fraction], variables: int, degree: int
) -> bool:
    """Whether two polynomials of at most the given degree in each variable are equal, exactly.

    They are if they agree on a grid of ``degree + 1`` values of each variable.
    """
    points: list[tuple[Fraction, ...]] = [()]
    for _ in range(variables):
        points = [(*point, Fraction(value)) for point in points for value in range(degree + 1)]
    return all(left(*point) == right(*point) for point in points)


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
