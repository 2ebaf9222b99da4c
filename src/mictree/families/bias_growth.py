"""Growth while biases vary within one box: every course that it may take.

A course is a list of leaves in order of creation. Where the box does not decide which leaf or split
comes next, all that may come are followed, and courses that lead to the same leaves are one again.
So the errors of the tree that a rule really grows, at any bias of the box, are among those
followed.

Gains and priorities are balls. A number that depends on the biases is kept as its value at the
middle of the box and as series over the whole box: value, slope and bend. So the difference of two
of them is known better than either: by the mean value theorem it is the difference at the middle
plus slopes times distances. At single biases, 1/2 above all, gains tie that tie nowhere near. A box
may end there without containing that bias. If two numbers are exactly equal at such an end, their
difference inside has the sign of its slope, or of its bend where the slope vanishes too.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_series, fmpq, fmpz_poly

from mictree.families.bias_boxes import (
    ORDER,
    SLACK,
    Chances,
    Cubes,
    ExactValues,
    FloatArray,
    LeastErrors,
    Moved,
    Point,
    Vertices,
    counts_by_ones,
    scaled,
    spread_of_ones,
)
from mictree.growers.rules import Grower

PRECISION = 100  # bits
# Larger than TIE_TOLERANCE: a lead that growers might count as a tie is not certain.
MARGIN = 1e-9
BIAS = fmpz_poly([0, 1])
ZERO = "zero"  # the identity of a number that is 0 for all biases of the box


class Varying(NamedTuple):
    """A function of the biases; two of one identity are equal for all biases of the box."""

    identity: Hashable
    ends: tuple[Any, Any]  # exact values at ends outside the box; None of those inside
    middle: Any  # arb, at the middle of the box
    series: list[Any]  # arb_series over the box, one for each parameter
    reach: Any = None  # of a product, its first factor, and the identity of its second one
    gain: Hashable = None
    positive: bool = False  # whether it is surely above 0 for all biases of the box


class Polynomial(tuple[int, ...]):
    """The identity of a number that is a polynomial in the shared bias: its coefficients."""


class Numbers:
    """The gains and reaches of a function's restrictions over one box.

    The box does not contain its ``apart`` ends; a box of one bias that is apart is exact. The bias
    1/2, where ties are many, is always apart if it is shared.
    """

    def __init__(
        self,
        identities: "Identities",
        criterion: str,
        low: Sequence[float | Fraction],
        high: Sequence[float | Fraction],
        apart: tuple[float | Fraction, ...] = (),
    ) -> None:
        self.identities = identities
        self.criterion = criterion
        self.cubes = identities.cubes
        self.each = identities.each
        self.ends = low[0], high[0]
        # boxes of one shared bias do not reach across 1/2
        self.side = 0 if self.each or low[0] < 0.5 < high[0] else 1 if low[0] >= 0.5 else -1
        known = () if self.each else tuple(end for end in self.ends if end in (0.5, *apart))
        self.exact = Fraction(self.ends[0]) if known and self.ends[0] == self.ends[1] else None
        self._outside = tuple(Fraction(end) if end in known else None for end in self.ends)
        self._inside = tuple(end for end in self.ends if end not in known)
        middles = [(_ball(a) + _ball(b)) / 2 for a, b in zip(low, high, strict=True)]
        balls = [_ball(a).union(_ball(b)) for a, b in zip(low, high, strict=True)]
        self._distances = [ball - middle for ball, middle in zip(balls, middles, strict=True)]
        self._middle = Point(self, middles)
        self.sides = np.array([low, high], dtype=float).T
        if self.each:
            self._moved = [Moved(self, balls, place) for place in range(len(balls))]
        else:
            self._moved = [Point(self, [arb_series([balls[0], 1], ORDER)])]

    def label(self, cube: int) -> int:
        """1 or -1 where label 1 or 0 is the likelier one for all biases inside the box, else 0."""
        if self.each:
            return 0
        return self.identities.lead(cube, *self.ends)

    def gain(self, cube: int, variable: int) -> Varying:
        """The gain of a split."""
        exact = self.identities.exact.gain
        ends = self._at_ends(lambda bias: exact(cube, variable, self.criterion, bias))
        identity = self.identities.gain(cube, variable)
        if self.exact is not None:
            identity = ends[0] or ZERO
        elif self.criterion == "minority" and identity != ZERO:
            labels = {self.label(child) for child in self.cubes.children[cube][variable]}
            if len(labels) == 1 and 0 not in labels:
                identity = ZERO
        polynomial = self._polynomial(cube, variable) if self.exact is None else None
        if polynomial is not None and identity != ZERO:
            identity = Polynomial(map(int, polynomial)) or ZERO
        if identity == ZERO:
            return Varying(ZERO, ends, arb(0), [arb_series([0], ORDER)] * len(self._moved))
        gain = self._read(identity, ends, lambda point: point.gain(cube, variable))
        positive = self.surely_positive(cube, variable) or bool(gain.series[0][0] > 0)
        return gain._replace(positive=positive)

    def _at_ends(self, value: "Callable[[Fraction], Any]") -> tuple[Any, Any]:
        """Exact values at the ends that are apart, else None."""
        low, high = (None if bias is None else value(bias) for bias in self._outside)
        return low, high

    def surely_positive(self, cube: int, variable: int) -> bool:
        """Whether a gain is above 0 for all biases of the box.

        It is where the children's rates differ, if the impurity is strictly concave.
        """
        if self.each or self.criterion == "minority":
            return False
        return self.identities.rates_differ(cube, variable, *self.ends, self._inside)

    def reach(self, cube: int) -> Varying:
        """The chance of a restriction."""
        values = self.cubes.values[cube]
        ends = self._at_ends(lambda bias: self.identities.exact.reach(cube, bias))
        identity: Hashable = values
        if self.exact is not None:
            identity = ends[0]
        elif not self.each:
            identity = (len(values) - values.count(2), values.count(1))
        return self._read(identity, ends, lambda point: point.reach(cube))

    def weigh(self, gain: Varying, cube: int) -> Varying:
        """Reach times gain."""
        if gain.identity == ZERO:
            return gain
        reach = self.reach(cube)
        low, high = (
            None if chance is None else scaled(value, chance)
            for chance, value in zip(reach.ends, gain.ends, strict=True)
        )
        return Varying(
            self._weighted(cube, reach, gain) if self.exact is None else low,
            (low, high),
            reach.middle * gain.middle,
            [a * b for a, b in zip(reach.series, gain.series, strict=True)],
            reach,
            gain.identity,
            gain.positive,
        )

    def _weighted(self, cube: int, reach: Varying, gain: Varying) -> Hashable:
        """The identity of reach times gain."""
        if isinstance(gain.identity, Polynomial):
            weighted = self.identities.reach_polynomial(cube) * fmpz_poly([*gain.identity])
            return Polynomial(map(int, weighted))
        return reach.identity, gain.identity

    def _polynomial(self, cube: int, variable: int) -> Any:
        """The gain as a polynomial in the shared bias, where it is one all over the box."""
        if self.each or self.criterion not in ("gini", "minority"):
            return None
        cubes = (cube, *self.cubes.children[cube][variable])
        labels = (0, 0, 0)
        if self.criterion == "minority":
            labels = tuple(self.label(each) for each in cubes)
            if 0 in labels:
                return None
        return self.identities.gain_polynomial(cubes, labels)

    def leads(self, first: Varying, second: Varying) -> bool:
        """Whether one number is larger than another for all biases inside the box.

        By more than a tie, but where both are equal at an end that the box does not contain.
        """
        same = first.gain is not None and first.gain == second.gain
        if same and self.exact is None and first.positive:  # where it is 0, both are
            reach, other = first.reach.identity, second.reach.identity
            if self.side and reach[0] == other[0]:
                return (reach[1] - other[1]) * self.side > 0
            return self.leads(first.reach, second.reach)
        if self.exact is None and self._leads_from_an_end(first, second):
            return True
        return bool(self._difference(first, second) > MARGIN * abs(first.middle))

    def _leads_from_an_end(self, first: Varying, second: Varying) -> bool:
        """Whether two numbers are equal at an end, and the first is larger from there on."""
        for end, other, inward in zip(first.ends, second.ends, (1, -1), strict=True):
            if end is None or end != other:
                continue
            difference = first.series[0] - second.series[0]
            if inward * difference[1] > 0:
                return True
            # a smooth gain is never negative, so where it vanishes its slope does too
            if end == () and self.criterion != "minority" and difference[2] > 0:
                return True
        return False

    def gains_more(self, cube: int, first: int, second: int) -> bool:
        """Whether the first of two splits of one leaf ``leads`` the second by its gain.

        The leaf's own impurity is part of both; their difference is known better without it.
        """
        rests = [
            self._read(None, (None, None), lambda point, each=each: point.rest(cube, each))
            for each in (second, first)
        ]
        least = MARGIN * abs(self._middle.gain(cube, first))
        return bool(self._difference(*rests) > least)

    def _difference(self, first: Varying, second: Varying) -> Any:
        """Over the whole box."""
        difference = first.middle - second.middle
        for a, b, distance in zip(first.series, second.series, self._distances, strict=True):
            difference += (a[1] - b[1]) * distance
        return difference

    def _read(
        self, identity: Hashable, ends: tuple[Any, Any], ask: "Callable[[Point], Any]"
    ) -> Varying:
        return Varying(identity, ends, ask(self._middle), [ask(point) for point in self._moved])


def _ball(bias: float | Fraction) -> Any:
    """A bias, or, of a fraction that is no binary one, the least ball around it."""
    return arb(fmpq(bias.numerator, bias.denominator) if isinstance(bias, Fraction) else bias)


class Identities:
    """Which rates and gains are the same function of the biases."""

    def __init__(self, cubes: Cubes, each: bool) -> None:
        self.cubes = cubes
        self.each = each
        self._rate = cache(self._identify)
        self.gain = cache(self._gain)
        self.exact = ExactValues(cubes)
        self.rates_differ = cache(self._rates_differ)
        self.lead = cache(self._lead)
        self.gain_polynomial = cache(self._gain_polynomial)

    def _gain(self, cube: int, variable: int) -> Hashable:
        zero, one = self.cubes.children[cube][variable]
        if self._rate(zero, True) == self._rate(one, True):
            return ZERO
        # impurities do not tell the labels apart
        rates = (min(self._rate(each, True), self._rate(each, False)) for each in (cube, zero, one))
        return (variable if self.each else 0, *rates)

    def reach_polynomial(self, cube: int) -> Any:
        """The chance of a restriction in powers of the shared bias."""
        values = self.cubes.values[cube]
        return BIAS ** values.count(1) * (1 - BIAS) ** values.count(0)

    def _gain_polynomial(self, cubes: tuple[int, int, int], labels: tuple[int, ...]) -> Any:
        """Of a cube and its children: by Gini, or, with the likelier label of each, by minority."""
        here, zero, one = map(self._impurity_polynomial, cubes, labels)
        return here - (1 - BIAS) * zero - BIAS * one

    def _impurity_polynomial(self, cube: int, label: int) -> Any:
        counts = counts_by_ones(self.cubes.positive[cube])
        rate = fmpz_poly([0])
        for ones, count in enumerate(counts):
            rate += count * BIAS**ones * (1 - BIAS) ** (len(counts) - 1 - ones)
        return rate * (1 - rate) if label == 0 else rate if label < 0 else 1 - rate

    def _rates_differ(
        self, cube: int, variable: int, low: float, high: float, inside: tuple[float, ...]
    ) -> bool:
        """Whether the children's rates differ for all shared biases of an interval.

        ``inside`` has those of its ends that belong to it.
        """
        zero, one = (
            counts_by_ones(self.cubes.positive[child])
            for child in self.cubes.children[cube][variable]
        )
        counts = [b - a for a, b in zip(zero, one, strict=True)]
        places = [(low, high), *((end, end) for end in inside)]
        return all(_sign(counts, *ends) != 0 for ends in places)

    def _lead(self, cube: int, low: float, high: float) -> int:
        """Which label is the likelier one for all shared biases inside an interval: 1, -1, or 0."""
        rows = self.cubes.positive[cube]
        counts = zip(counts_by_ones(rows), counts_by_ones(~rows), strict=True)
        return _sign([positive - negative for positive, negative in counts], low, high)

    def _identify(self, cube: int, positive: bool) -> Any:
        """Of the rate of label 1 or of label 0."""
        rows = self.cubes.positive[cube] == positive
        names = tuple(self.cubes.children[cube])
        if not self.each:
            return _lowest_degree(counts_by_ones(rows))
        for place in reversed(range(len(names))):  # variables that make no difference
            if (rows.take(0, place) == rows.take(1, place)).all():
                rows = rows.take(0, place)
                names = (*names[:place], *names[place + 1 :])
        return names, rows.tobytes()


def _sign(counts: list[int], low: float, high: float) -> int:
    """The sign of a polynomial, given by counts of rows by ones, inside an interval; 0 if unsure.

    It has the sign of its Bernstein coefficients if they have one sign and not all are 0.
    """
    degree = len(counts) - 1
    ends = Fraction(low), Fraction(high)
    values = [
        sum(
            chance * Fraction(count, math.comb(degree, ones))
            for ones, (chance, count) in enumerate(zip(spread, counts, strict=True))
        )
        for spread in (spread_of_ones(degree, highs, *ends) for highs in range(degree + 1))
    ]
    if min(values) >= 0:
        return int(any(values))
    return -1 if max(values) <= 0 else 0


def _lowest_degree(counts: list[int]) -> tuple[int, ...]:
    """Counts by ones of the same polynomial over as few variables as possible.

    The polynomial with counts c over m variables has the counts c[k] + c[k - 1] over m + 1.
    """
    while len(counts) > 1:
        shorter: list[int] = []
        for count in counts[:-1]:
            shorter.append(count - (shorter[-1] if shorter else 0))
        if shorter[-1] != counts[-1]:
            break
        counts = shorter
    return tuple(counts)


MOST_COURSES = 200  # beyond these, no more splits are followed; they would only lower errors
CLOSED = -1
Course = tuple[int, ...]  # the cube of each leaf, CLOSED where it is split


class _Candidate(NamedTuple):
    """A leaf's best split, or one of several that may be."""

    variable: int
    gain: Varying


def _ends(sums: dict[Course, tuple[float, FloatArray]], sizes: int) -> tuple[float, float]:
    """The least and the largest sum of excess errors of any course."""
    most = max(float(high.max()) for _, high in sums.values())
    return float(min(low for low, _ in sums.values())), most + 2 * SLACK * sizes


class Courses:
    """The courses of one rule over one box."""

    def __init__(self, rule: Grower, numbers: Numbers, chances: Chances, box: int) -> None:
        self.rule = rule
        self.numbers = numbers
        self.cubes = numbers.cubes
        self.chances = chances
        self.box = box
        self._candidates: dict[int, list[_Candidate]] = {}
        self._priorities: dict[int, list[Varying]] = {}
        self._known_errors: dict[int, tuple[FloatArray, FloatArray]] = {}

    def excess(self, max_size: int, least: LeastErrors) -> tuple[float, float]:
        """The least and the largest sum of excess errors over sizes 1 to ``max_size``.

        ``least`` is that of this box.
        """
        start = (self.cubes.root,)
        courses: dict[Course, tuple[float, FloatArray]] = {start: (0.0, np.zeros(1))}
        for size in range(1, max_size + 1):
            after: dict[Course, tuple[float, FloatArray]] = {}
            for course, (low, high) in courses.items():
                for longer in self.steps(course):
                    lowest, at_vertices = self.error(longer)
                    low_sum = low + max(lowest - SLACK - least.most[size], 0.0)
                    high_sum = high + (at_vertices - least.at_vertices[size])
                    old = after.get(longer, (low_sum, high_sum))
                    after[longer] = min(old[0], low_sum), np.maximum(old[1], high_sum)
            if len(after) > MOST_COURSES:
                after = {
                    course: (
                        low,
                        high + (self.error(course)[1] - least.at_vertices[size:]).sum(axis=0),
                    )
                    for course, (low, high) in courses.items()
                }
                return _ends(after, max_size)
            courses = after
        return _ends(courses, max_size)

    def all_optimal(self, max_size: int, vertices: Vertices) -> bool:
        """Whether every tree that may be grown is proved to be optimal for all biases of the box.

        ``vertices`` are those of this box.
        """
        courses = {(self.cubes.root,)}
        for size in range(1, max_size + 1):
            courses = {longer for course in courses for longer in self.steps(course)}
            if len(courses) > MOST_COURSES or not all(
                vertices.attain([cube for cube in course if cube != CLOSED], size)
                for course in courses
            ):
                return False
        return True

    def error(self, course: Course) -> tuple[float, FloatArray]:
        """Of a course's tree: the lower end, and at the vertices with labels that never change."""
        total, unsure = np.zeros(1), np.zeros(1)
        for cube in course:
            if cube == CLOSED or self.cubes.labels[cube] is not None:
                continue
            negative, positive = self._errors(cube)
            lead = positive - negative
            if (lead >= 0).all():
                total = total + negative
            elif (lead <= 0).all():
                total = total + positive
            else:
                unsure = unsure + min(negative, positive, key=np.max)
        return max(total.min() - SLACK, 0.0), total + unsure

    def _errors(self, cube: int) -> tuple[FloatArray, FloatArray]:
        """Numbers between which the chances of a leaf's rows of label 0 and of label 1 lie."""
        if cube not in self._known_errors:
            values = self.cubes.values[cube]
            inside = np.zeros((2,) * len(values), dtype=bool)
            inside[tuple(slice(None) if value == 2 else value for value in values)] = True
            labels = self.cubes.positive[self.cubes.root]
            everything = tuple(range(len(values)))
            self._known_errors[cube] = tuple(
                self.chances.of_rows(inside & rows, everything)[self.box]
                for rows in (~labels, labels)
            )  # type: ignore[assignment]
        return self._known_errors[cube]

    def steps(self, course: Course) -> list[Course]:
        """The courses that one more split may lead to."""
        leaves = [
            leaf
            for leaf, cube in enumerate(course)
            if cube != CLOSED and self.cubes.labels[cube] is None
        ]
        if not leaves:
            return [course]
        found = []
        for leaf in self._next_leaves(course, leaves):
            for candidate in self.candidates(course[leaf]):
                children = self.cubes.children[course[leaf]][candidate.variable]
                found.append((*course[:leaf], CLOSED, *course[leaf + 1 :], *children))
        return found

    def candidates(self, cube: int) -> list[_Candidate]:
        """The splits of a leaf that may be made: of each identity the one that the ties choose."""
        if cube not in self._candidates:
            offered = [
                _Candidate(variable, self.numbers.gain(cube, variable))
                for variable in self.cubes.children[cube]
            ]
            best = max(offered, key=lambda candidate: float(candidate.gain.middle.mid()))
            kept: dict[object, _Candidate] = {}
            for candidate in offered:
                identity = candidate.gain.identity
                if identity != best.gain.identity and self._leads(cube, best, candidate):
                    continue
                if self.rule.ties != "first" or identity not in kept:
                    kept[identity] = candidate
            useless = kept.get(ZERO)
            if useless is not None and self._gives_way(
                useless.variable, [each.variable for each in kept.values()]
            ):
                del kept[ZERO]
            self._candidates[cube] = list(kept.values())
        return self._candidates[cube]

    def _gives_way(self, useless: int, others: list[int]) -> bool:
        """Whether a split or leaf without gain comes second to one that gains more or ties with it.

        No gain is negative, so one that the ties prefer is enough.
        """
        if self.rule.ties == "first":
            return min(others) < useless
        return max(others) > useless

    def _leads(self, cube: int, first: _Candidate, second: _Candidate) -> bool:
        if second.gain.identity == ZERO:
            return self.numbers.surely_positive(cube, first.variable) or self.numbers.leads(
                first.gain, second.gain
            )
        return self.numbers.leads(first.gain, second.gain) or self.numbers.gains_more(
            cube, first.variable, second.variable
        )

    def _next_leaves(self, course: Course, leaves: list[int]) -> list[int]:
        """The leaves that may be split next."""
        if self.rule.name == "id3":  # depth first, the low child before the high one
            newest = max(leaves)
            return [newest - 1 if newest % 2 == 0 and newest - 1 in leaves else newest]
        offers = {leaf: self._priority(course[leaf]) for leaf in leaves}
        best = max(
            (offer for offered in offers.values() for offer in offered),
            key=lambda offer: float(offer.middle.mid()),
        )
        positive = any(self._positive(course[leaf]) for leaf in leaves)
        groups: dict[object, list[int]] = {}
        for leaf, offered in offers.items():
            identity = frozenset(offer.identity for offer in offered)
            if identity == {ZERO} and positive:
                continue
            if best.identity not in identity and all(
                self.numbers.leads(best, offer) for offer in offered
            ):
                continue
            groups.setdefault(identity, []).append(leaf)
        useless = groups.get(frozenset({ZERO}))
        if (
            useless is not None
            and self.rule.ties in ("first", "last")  # the others look at reaches
            and self._gives_way(self._tied(course, useless)[0], [*chain(*groups.values())])
        ):
            del groups[frozenset({ZERO})]
        return sorted({leaf for group in groups.values() for leaf in self._tied(course, group)})

    def _positive(self, cube: int) -> bool:
        """Whether a leaf has a split of positive gain for all biases inside the box."""
        return any(
            self.numbers.surely_positive(cube, variable) for variable in self.cubes.children[cube]
        )

    def _priority(self, cube: int) -> list[Varying]:
        """The largest of these is the leaf's priority."""
        if cube not in self._priorities:
            gains = [candidate.gain for candidate in self.candidates(cube)]
            self._priorities[cube] = (
                [self.numbers.weigh(gain, cube) for gain in gains]
                if self.rule.name == "topdown"
                else gains
            )
        return self._priorities[cube]

    def _tied(self, course: Course, leaves: list[int]) -> list[int]:
        """Which of leaves of one priority the ties may choose."""
        if self.rule.ties == "first":
            return leaves[:1]
        if self.rule.ties == "last":
            return leaves[-1:]
        reaches = {leaf: self.numbers.reach(course[leaf]) for leaf in leaves}
        sign = 1 if self.rule.ties == "heaviest" else -1
        best = max(leaves, key=lambda leaf: sign * float(reaches[leaf].middle.mid()))
        last: dict[object, int] = {}
        for leaf in leaves:
            pair = (reaches[best], reaches[leaf])[::sign]
            if reaches[leaf].identity == reaches[best].identity or not self.numbers.leads(*pair):
                last[reaches[leaf].identity] = leaf
        return list(last.values())
