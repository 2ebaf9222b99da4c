"""Boxes of biases, divided where the largest MIC may be.

On each box the optimal errors and the errors of every tree that may be grown there are enclosed,
and a split is only taken for sure where its lead holds for all biases of the box. The box with the
largest upper end is divided until the largest MIC of the range is known well enough. Boxes are cut
at biases of few binary digits, so that ties at such biases are met at ends of boxes; a box that is
too narrow for more is cut at the simple fraction inside, if there is one, and its ends are
certified apart.

Where every tree that may be grown is optimal, exact numbers prove it: see ``optimal_parts``.
"""

from __future__ import annotations

import heapq
import itertools
import math
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mictree._support.parallel import spread
from mictree._support.precision import precision
from mictree._support.progress import Progress, Report
from mictree._support.time_limit import TimeLimit
from mictree.families.bias_boxes import SLACK, Boxes, Chances, Cubes, Vertices, least_errors
from mictree.growers.rules import Grower

if TYPE_CHECKING:
    import polars as pl

    from mictree.families.bias_gains import Identities

BATCH = 32  # boxes divided between two looks at the clock
NARROWEST = 2.0**-30  # boxes are not divided below this width
BESIDE = 2.0**-12  # boxes up to this width count the bias at their end; see _beside_ties
MOST_CUBES = 2**15  # of the boxes of one task together: about a second
MOST_PROVED = 2**18  # cubes of all boxes that are tried in proofs of optimality together
PROVED_WIDTH = 2.0**-14  # boxes are not divided below this width to prove more
NO_BOXES = Boxes(np.empty((0, 1)), np.empty((0, 1)))
Interval = tuple[float, float]
Bias = float | Fraction


class Part(NamedTuple):
    """A box of biases, without those of its ends that are ``apart``."""

    low: tuple[Bias, ...]
    high: tuple[Bias, ...]
    apart: tuple[Bias, ...] = ()


class Task(NamedTuple):
    """What the intervals of boxes depend on."""

    rule: Grower
    labels: bytes  # of all rows
    max_size: int
    each: bool


class Search:
    """The boxes so far, those of largest upper ends first."""

    def __init__(
        self, rule: Grower, table: np.ndarray, max_size: int, each: bool, n_jobs: int | None
    ) -> None:
        self.task = Task(rule, np.asarray(table, dtype=np.uint8).tobytes(), max_size, each)
        self.variables = len(table).bit_length() - 1
        self.n_jobs = n_jobs
        self.found: list[tuple[float, float, Part]] = []
        self.final: list[tuple[float, float, Part]] = []
        self.ends: set[Part] = set()  # that are boxes of their own
        self.attained = -1.0
        self.worst: list[Bias] = []

    @property
    def supremum(self) -> Interval:
        """The interval of the largest MIC."""
        uppers = [-box[0] for box in (*self.found[:1], *self.final)]
        return max(self.attained, 0.0), float(max(uppers))

    def run(self, ends: Interval, gap: float, time_limit: float | None, report: Report) -> bool:
        """Divide until the gap is closed; says whether it is."""
        with TimeLimit(time_limit) as limit:
            self._start(ends)
            with suppress(KeyboardInterrupt):
                while self._is_open(gap) and limit.left() > 0:
                    self._divide(gap)
                    low, high = self.supremum
                    boxes = len(self.found) + len(self.final)
                    detail = f"{boxes:,} boxes, largest MIC between {low:.4f} and {high:.4f}"
                    report(Progress("biases", None, detail))
        return self.supremum[1] - self.supremum[0] <= gap

    def _is_open(self, gap: float) -> bool:
        """Whether there is a box to divide; the gap stays open if only the narrowest keep it so."""
        return bool(self.found) and -self.found[0][0] > self.attained + gap

    def _start(self, ends: Interval) -> None:
        low, high = ends
        if self.task.each:
            parts = [Part(self.variables * (low,), self.variables * (high,))]
        else:
            parts = _first_parts(ends)
            self.ends.update(part for part in parts if part.apart)
        self._add(parts)

    def _divide(self, gap: float) -> None:
        """Cut the boxes of largest upper ends, and only those that keep the gap open."""
        waiting = []
        while len(waiting) < BATCH and self._is_open(gap):
            waiting.append(heapq.heappop(self.found))
        pieces: list[Part] = []
        for box in waiting:
            smaller = _cut(box[2], self.task.each)
            if not smaller:
                self.final.append(box)
            # two neighbours have a common end
            pieces += [each for each in smaller if each not in pieces and each not in self.ends]
        try:
            if pieces:
                self._add(pieces)
                self.ends.update(each for each in pieces if each.low == each.high)
        except KeyboardInterrupt:
            self.final = [box for box in self.final if box not in waiting]
            for box in waiting:  # what was certified stays, whole
                heapq.heappush(self.found, box)
            raise

    def _add(self, parts: list[Part]) -> None:
        """Certify some boxes, and a point inside each."""
        middles = [_middle(part) for part in parts]
        intervals = self._certify([*parts, *middles])
        for (low, _), point in zip(intervals[len(parts) :], middles, strict=True):
            if low > self.attained:
                self.attained, self.worst = low, [_plain(bias) for bias in point.low]
        for (low, high), part in zip(intervals, parts, strict=False):
            heapq.heappush(self.found, (-high, low, part))

    def _certify(self, parts: list[Part]) -> list[Interval]:
        """The same tasks however many are done at once: other ones might round in other ways."""
        count = max(1, MOST_CUBES // 3**self.variables)
        starts = range(0, len(parts), count)
        calls = [(self.task, parts[start : start + count]) for start in starts]
        return [each for found in spread(certify, calls, self.n_jobs) for each in found]

    def frame(self, names: tuple[str, ...] | None) -> pl.DataFrame:
        """The boxes in order of their biases."""
        import polars as pl

        boxes = sorted([*self.found, *self.final], key=lambda box: box[2])
        columns: dict[str, list[float]] = {}
        for side, word in enumerate(("low", "high")):
            for place, name in enumerate(names or [""]):
                label = f"{word}_{name}" if names else word
                columns[label] = [_as_floats(box[2])[side][place] for box in boxes]
        intervals = [_beside_ties(box, boxes) for box in boxes]
        columns["mic_lower"] = [max(low, 0.0) for low, _ in intervals]
        columns["mic_upper"] = [high for _, high in intervals]
        return pl.DataFrame(columns)


def _first_parts(ends: Interval) -> list[Part]:
    """The range of a shared bias; 1/2, where ties are many, is a box of its own."""
    low, high = ends
    if not low <= 0.5 <= high:
        return [Part((low,), (high,))]
    sides = Part((low,), (0.5,)), Part((0.5,), (high,))
    return [Part((0.5,), (0.5,), (0.5,)), *(side for side in sides if side.low < side.high)]


def _beside_ties(
    box: tuple[float, float, Part], boxes: list[tuple[float, float, Part]]
) -> Interval:
    """The interval of a box; of a narrow one, together with those of biases at its ends.

    Within about 1e-9 of a tie, growers count leads as that tie. That is much of a narrow box. A
    fraction between two floats is shown as the box between these, which the boxes beside it share.
    """
    upper, lower, part = box
    widths = [b - a for a, b in zip(part.low, part.high, strict=True)]
    if max(widths) > BESIDE:
        return lower, -upper
    ends = [other for other in boxes if other[2].low == other[2].high in (part.low, part.high)]
    if part.low == part.high and isinstance(_plain(part.low[0]), Fraction):
        ends = [other for other in boxes if part.low in other[2][:2]]
    return min([lower, *(end[1] for end in ends)]), max([-upper, *(-end[0] for end in ends)])


def _plain(bias: Bias) -> Bias:
    """A float where it is one."""
    return float(bias) if float(bias) == bias else bias


def _as_floats(part: Part) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The ends of a box; a fraction between two floats goes to the one inside the box."""
    ends = zip(part.low, part.high, strict=True)
    pairs = [
        (_float_beside(low, low == high), _float_beside(high, low != high)) for low, high in ends
    ]
    low, high = zip(*pairs, strict=True)
    return low, high


def _float_beside(bias: Bias, below: bool) -> float:
    """A bias, or else the next float below or above it."""
    nearest = float(bias)
    if nearest == bias or (nearest < bias) == below:
        return nearest
    return math.nextafter(nearest, 0 if below else 1)


def _middle(part: Part) -> Part:
    """A point inside a box; of a point itself, the same."""
    if part.low == part.high:
        return part
    middle = tuple(float(a + b) / 2 for a, b in zip(part.low, part.high, strict=True))
    return Part(middle, middle)


def _cut(part: Part, each: bool) -> list[Part]:
    """A box in smaller pieces, or none; a piece has no end that was apart before or is now.

    A narrow box is cut at a simple fraction, which then is apart. One that is too narrow for
    anything else loses its ends.
    """
    low, high, apart = part
    widths = [float(b - a) for a, b in zip(low, high, strict=True)]
    place = widths.index(max(widths))
    if not each:
        points = _simple(low[0], high[0]) if widths[0] <= BESIDE else set()
        if widths[0] <= NARROWEST:
            points |= {low, high}
        points -= {(bias,) for bias in apart}
        if points or widths[0] <= NARROWEST:
            return _cut_at(points, part)
    if widths[place] <= NARROWEST:
        return []
    # a multiple of the largest power of 2 that leaves both pieces a quarter
    step = 2.0 ** math.floor(math.log2(widths[place])) / 2
    cut = round((float(low[place]) + widths[place] / 2) / step) * step
    pieces = [
        Part(low, (*high[:place], cut, *high[place + 1 :])),
        Part((*low[:place], cut, *low[place + 1 :]), high),
    ]
    return [_with_apart(piece, apart) for piece in pieces]


def _cut_at(points: set[tuple[Bias]], part: Part) -> list[Part]:
    """The points themselves, and what is between them."""
    if not points:
        return []
    apart = (*part.apart, *(bias for (bias,) in points))
    ends = sorted({part.low, part.high, *points})
    between = [_with_apart(Part(*pair), apart) for pair in itertools.pairwise(ends)]
    return [*(Part(point, point, point) for point in sorted(points)), *between]


def _with_apart(piece: Part, apart: tuple[Bias, ...]) -> Part:
    """A piece without those of its ends."""
    return piece._replace(apart=tuple(end for end in piece.low + piece.high if end in apart))


def _simple(low: Bias, high: Bias) -> set[tuple[Bias]]:
    """The fraction of small denominator in a narrow box: where gains tie exactly, if they do.

    Fractions of denominators up to q are at least 1/q**2 apart, so a box has at most one.
    """
    low, high = Fraction(low), Fraction(high)
    largest = math.isqrt(int(1 / (8 * (high - low)))) if low < high else 1
    simple = ((low + high) / 2).limit_denominator(largest)
    return {(simple,)} if low <= simple <= high else set()


def certify(task: Task, parts: list[Part]) -> list[Interval]:
    """The intervals of MIC on some boxes; runs on workers."""
    from mictree.families.bias_gains import PRECISION, Numbers
    from mictree.families.bias_growth import Courses

    identities = _identities(task.labels, task.each)
    # a fraction is rounded here by less than SLACK makes up for
    boxes = Boxes(
        np.array([part.low for part in parts], dtype=float),
        np.array([part.high for part in parts], dtype=float),
    )
    chances = Chances(identities.cubes, boxes, task.each)
    least = least_errors(chances, task.max_size)
    found = []
    with precision(PRECISION):
        for number, part in enumerate(parts):
            numbers = Numbers(identities, str(task.rule.criterion), part.low, part.high, part.apart)
            courses = Courses(task.rule, numbers, chances, number)
            low_sum, high_sum = courses.excess(task.max_size, least.of_box(number))
            found.append((low_sum / task.max_size, high_sum / task.max_size))
    return found


def optimal_parts(task: Task, ends: Interval) -> list[Part]:
    """Boxes on which the MIC is proved to be 0, single biases among them, in their order.

    A box is divided until that is proved, or its MIC is certified to be above 0, or it is narrow,
    or there were many boxes; Ctrl-C returns what is proved so far.
    """
    proved: list[Part] = []
    waiting, left = _first_parts(ends), MOST_PROVED // 3 ** _variables(task)
    with suppress(KeyboardInterrupt):
        while waiting and left > 0:
            waiting, tried, left = [], waiting[:left], left - len(waiting)
            for part, (low, high) in zip(tried, certify(task, tried), strict=True):
                if high <= 4 * SLACK and is_optimal(task, part):
                    proved.append(part)
                elif low <= 0 and _width(part) > PROVED_WIDTH:
                    waiting += _cut(part, False)
            waiting = list(dict.fromkeys(waiting))  # two neighbours have a common end
    return sorted(proved)


def optimal_ranges(task: Task, ends: Interval) -> list[tuple[float, float, list[float]]]:
    """The boxes of ``optimal_parts`` put together, each with biases inside that are not proved."""
    parts = optimal_parts(task, ends)
    points = {part.low for part in parts if part.low == part.high}
    ranges: list[tuple[Part, list[float]]] = []
    for part in parts:
        if part.low == part.high:
            continue
        before, unsure = ranges[-1] if ranges else (None, [])
        if before is None or before.high != part.low:
            ranges.append((part, []))
            continue
        open_end = part.low[0] in (0.5, *part.apart) and part.low not in points
        more = [float(part.low[0])] if open_end else []
        ranges[-1] = (Part(before.low, part.high), [*unsure, *more])
    inside = [whole for whole, _ in ranges]
    alone = [
        Part(point, point)
        for point in points
        if _plain(point[0]) == float(point[0])
        and not any(whole.low <= point <= whole.high for whole in inside)
    ]
    found = [(_as_floats(whole), unsure) for whole, unsure in [*ranges, *((p, []) for p in alone)]]
    return sorted((low[0], high[0], unsure) for (low, high), unsure in found)


def _variables(task: Task) -> int:
    return len(task.labels).bit_length() - 1


def _width(part: Part) -> float:
    return float(part.high[0] - part.low[0])


def is_optimal(task: Task, part: Part) -> bool:
    """Whether a box of a shared bias is proved to have the MIC 0 all over."""
    from mictree.families.bias_gains import PRECISION, Numbers
    from mictree.families.bias_growth import Courses

    identities = _identities(task.labels, False)
    low, high = Fraction(part.low[0]), Fraction(part.high[0])
    vertices = Vertices(identities.cubes, low, high, task.max_size)
    with precision(PRECISION):
        numbers = Numbers(identities, str(task.rule.criterion), part.low, part.high, part.apart)
        courses = Courses(task.rule, numbers, Chances(identities.cubes, NO_BOXES, False), 0)
        return courses.all_optimal(task.max_size, vertices)


@lru_cache(maxsize=2)
def _identities(labels: bytes, each: bool) -> Identities:
    """Kept from task to task."""
    from mictree.families.bias_gains import Identities

    return Identities(Cubes(np.frombuffer(labels, dtype=np.uint8)), each)
