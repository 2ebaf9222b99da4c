"""Inequalities over whole boxes, certified with ball arithmetic (python-flint's arb).

A ball is a midpoint with a radius that provably contains the true value, rounding included. A
function is positive on a box when its value there, computed from balls that contain the box's
sides, is a ball of positive numbers. Where that fails the box is halved.

Near 0 every entropy is used in a scaled form that stays away from 0. With

    H(u) = u * (slope(u) - log2(u)),    slope(u) = -(1 - u) log2(1 - u) / u,

a sum of entropies H(c_i a) whose weighted c_i cancel loses its log2(a), and what is left of it
after division by a is continuous up to a = 0. `slope` falls from 1/ln 2 at 0 to 0 at 1, since its
derivative has the sign of u + ln(1 - u) < 0, so its range on a box is known from the ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from mictree._support.precision import precision
from mictree.statements.checks import Counterexample

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
