"""MIC for all biases in a range at once, certified.

The range is divided into boxes. On each box the optimal errors and the errors of every tree that
may be grown there are enclosed, and a split is only taken for sure where its lead holds for all
biases of the box; so the MIC of the rule lies in a certified interval. The box with the largest
upper end is divided until the largest MIC of the range is known well enough.

Boxes are cut at biases of few binary digits, so that ties at such biases are met at ends of boxes.
A box that is too narrow for more is cut at the simple fraction inside, if there is one, and its
ends are certified apart. Where every tree that may be grown is optimal, exact numbers prove it
without rounding: see ``optimal_parts``.
"""

from __future__ import annotations

import heapq
import itertools
import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mictree._support.checks import check_size
from mictree._support.numbers import precision
from mictree._support.parallel import count_jobs, spread
from mictree._support.progress import Progress, Report, TimeLimit, ignore
from mictree._support.words import show_number
from mictree.families.bias_boxes import SLACK, Boxes, Chances, Cubes, Vertices, least_errors
from mictree.functions.expression import Expression
from mictree.growers.rules import ID3, BestFirst, Grower, TopDown, as_rule
from mictree.impurity import CRITERIA

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from mictree.families.bias_growth import Identities


MOST_SHARED, MOST_EACH = 8, 4  # variables


@dataclass(frozen=True)
class MicOverBiases:
    """Certified intervals of the MIC of a rule over a range of biases.

    Attributes
    ----------
    formula, rule, max_size : what was asked
    supremum : the interval in which the largest MIC of the range lies
    worst : a bias, or one for each variable, whose MIC is at least ``supremum[0]``; a Fraction if
        it is a bias such as 1/3, at which alone gains tie and beside which all floats are
    boxes : a frame with the columns low, high, mic_lower, mic_upper; with ``each=True`` low and
        high have the variable's name behind them. A shared bias at which gains tie exactly, such
        as 1/2, may be a box of its own, which the boxes on both sides do not contain; one such as
        1/3 is shown as the box between the floats beside it, with what is certified of these too.
    complete : whether ``supremum`` is as narrow as asked for
    between : the range of biases

    Examples
    --------
    >>> import mictree as mt
    >>> found = mt.mic_over_biases("topdown", "a & b | c", between=(0.2, 0.8), max_size=3)
    >>> found.boxes.columns
    ['low', 'high', 'mic_lower', 'mic_upper']
    """

    formula: str
    rule: Grower
    max_size: int
    supremum: tuple[float, float]
    worst: Bias | dict[str, float]
    boxes: pl.DataFrame
    complete: bool
    between: tuple[float, float]

    @cached_property
    def optimal_ranges(self) -> pl.DataFrame:
        """Where the rule is optimal: ranges of a shared bias in which the MIC is proved to be 0.

        A polars frame with the columns low, high, mic and except_at. For every bias from ``low``
        to ``high``, but for those of ``except_at``, all trees of sizes 1 to ``max_size`` that the
        rule grows have the least error. This is proved with integers, so ``mic`` is 0 and not some
        rounding error. A row of which ``low`` is ``high`` is about that one bias. A bias that is in
        no range may be optimal as well: a gap of up to 2**-12 stays around biases, such as
        1/sqrt(2), at which the likelier label of a leaf changes or gains cross, and with 7 or 8
        variables fewer boxes are tried. As in ``mic_over_biases``, gains are compared exactly.

        It is computed when it is first read; Ctrl-C then keeps what is proved so far.

        Examples
        --------
        >>> import mictree as mt
        >>> found = mt.mic_over_biases("topdown", "a & b | c", between=(0.2, 0.6), max_size=3)
        >>> found.optimal_ranges.rows()
        [(0.2, 0.6, 0.0, [])]
        """
        import polars as pl

        if isinstance(self.worst, dict):
            raise ValueError("optimal ranges are those of one shared bias; each variable has one")
        expression = Expression.parse(self.formula)
        table = expression.truth_table(expression.variables)
        task = Task(self.rule, table.astype(np.uint8).tobytes(), self.max_size, False)
        found = optimal_ranges(task, self.between)
        kinds = {"low": pl.Float64, "high": pl.Float64, "mic": pl.Float64,
                 "except_at": pl.List(pl.Float64)}  # fmt: skip
        rows = [(low, high, 0.0, unsure) for low, high, unsure in found]
        return pl.DataFrame(rows, kinds, orient="row")

    def __str__(self) -> str:
        low, high = self.supremum
        told = (
            ", ".join(f"{name}={bias:.6g}" for name, bias in self.worst.items())
            if isinstance(self.worst, dict)
            else str(self.worst)
            if isinstance(self.worst, Fraction)
            else f"{self.worst:.6g}"
        )
        more = "" if self.complete else "; stopped early"
        return (
            f"{self.rule!r} on {self.formula}, sizes 1 to {self.max_size}: the largest MIC lies "
            f"between {show_number(low)} and {show_number(high)}, nearly attained at bias {told} "
            f"({self.boxes.height} boxes{more})"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the intervals of MIC over the shared bias."""
        from mictree.plotting.families import draw_boxes

        return draw_boxes(ax, self)


def mic_over_biases(
    rule: Grower | str,
    formula: str,
    between: tuple[float, float] = (0.1, 0.9),
    max_size: int = 20,
    gap: float = 1e-3,
    *,
    each: bool = False,
    time_limit: float | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> MicOverBiases:
    """Certify the MIC of a rule for every bias in a range.

    Parameters
    ----------
    rule : TopDown, BestFirst or ID3 with a named criterion, or its name; ties are not random
    formula : any Boolean expression of at most 8 variables
    between : the least and the largest bias, strictly between 0 and 1
    max_size : MIC is the mean over sizes 1 to this one
    gap : the width of ``supremum`` at which the search ends
    each : give each variable a bias of its own, of at most 4 variables, instead of a shared one
    time_limit : in seconds; Ctrl-C or this limit return what is certified so far
    progress : called now and then with how far it is
    n_jobs : tasks of several boxes at once, by joblib, whose ``parallel_config`` also chooses the
        backend; None for one, -1 for one on each core. Only what a time limit cuts off depends on
        it.

    Notes
    -----
    Gains that are the same function of the biases tie, and go by the rule's ties; so do products of
    reach and gain, of Gini and minority at a shared bias. Others tie only at single biases. Where
    such a bias is shared and a multiple of 2**-30, a fraction of denominator up to 10,000, or an
    end of the range, it is certified by itself, and the rule's ties decide; elsewhere both choices
    count, and the gap stays open if they differ by more. Beside a bias that is certified by itself,
    gains are compared exactly. A grower counts a lead of less than 1e-10 as a tie, as there are
    some within about 1e-9 of that bias, and may grow the tree of that bias there: boxes narrower
    than 2**-12 count both.

    Examples
    --------
    >>> import mictree as mt
    >>> found = mt.mic_over_biases("topdown", "a & b | c", between=(0.2, 0.8), max_size=3)
    >>> found.complete
    True
    """
    grower = _read_rule(rule)
    expression = Expression.parse(formula)
    names = expression.variables
    most = MOST_EACH if each else MOST_SHARED
    if not 1 <= len(names) <= most:
        kind = "one bias each" if each else "a shared bias"
        raise ValueError(
            f"a formula must have 1 to {most} variables with {kind}; it has {len(names)}"
        )
    ends = _read_range(between)
    if check_size(max_size) == 0:
        raise ValueError("max_size must be at least 1; got 0")
    if not gap > 0:
        raise ValueError(f"gap must be positive; got {gap!r}")
    count_jobs(n_jobs)  # refuses what is no number of jobs
    search = Search(grower, expression.truth_table(names), max_size, each, n_jobs)
    complete = search.run(ends, gap, time_limit, progress or ignore)
    return MicOverBiases(
        str(expression), grower, max_size, search.supremum,
        dict(zip(names, map(float, search.worst), strict=True)) if each else search.worst[0],
        search.frame(names if each else None), complete, ends,
    )  # fmt: skip


def _read_rule(rule: Grower | str) -> Grower:
    grower = as_rule(rule)
    if type(grower) not in (TopDown, BestFirst, ID3):
        raise ValueError(f"rule must be TopDown, BestFirst or ID3; got {grower!r}")
    if grower.criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}; {grower!r} has its own")
    if grower.ties == "random":
        raise ValueError("ties must not be random: there is no one MIC to certify")
    return grower


def _read_range(between: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(Fraction(str(end))) for end in between)
    except (TypeError, ValueError):
        raise ValueError(f"between must be two biases; got {between!r}") from None
    if not 0 < low <= high < 1:
        raise ValueError(
            f"between must be two biases strictly between 0 and 1, ascending; got {between!r}"
        )
    return low, high


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
        """Make the same tasks however many are done at once: others might round in other ways."""
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
    from mictree.families.bias_growth import PRECISION, Courses, Numbers

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
    """The boxes of ``optimal_parts`` put together, each with its biases that are not proved."""
    parts = optimal_parts(task, ends)
    points = {part.low for part in parts if part.low == part.high}
    ranges: list[tuple[Part, list[float]]] = []
    for part in parts:
        if part.low == part.high:
            continue
        joined = bool(ranges) and ranges[-1][0].high == part.low
        low, unsure = (ranges[-1][0].low, ranges.pop()[1]) if joined else (part.low, [])
        # a fraction that no float equals is not in a range that begins or ends there
        if _lacks(part, part.low, points) and (joined or _plain(low[0]) == float(low[0])):
            unsure = [*unsure, float(part.low[0])]
        ranges.append((part._replace(low=low), unsure))
    for place, (whole, unsure) in enumerate(ranges):
        end = float(whole.high[0])
        if _lacks(whole, whole.high, points) and _plain(whole.high[0]) == end:
            ranges[place] = whole, [*unsure, end]
    inside = [whole for whole, _ in ranges]
    alone = [
        Part(point, point)
        for point in points
        if _plain(point[0]) == float(point[0])
        and not any(whole.low <= point <= whole.high for whole in inside)
    ]
    found = [(_as_floats(whole), unsure) for whole, unsure in [*ranges, *((p, []) for p in alone)]]
    return sorted((low[0], high[0], unsure) for (low, high), unsure in found)


def _lacks(part: Part, end: tuple[Bias, ...], points: set[tuple[Bias, ...]]) -> bool:
    """Whether a box does not hold its end, and that bias is not proved alone either."""
    return end[0] in (0.5, *part.apart) and end not in points


def _variables(task: Task) -> int:
    return len(task.labels).bit_length() - 1


def _width(part: Part) -> float:
    return float(part.high[0] - part.low[0])


def is_optimal(task: Task, part: Part) -> bool:
    """Whether a box of a shared bias is proved to have the MIC 0 all over."""
    from mictree.families.bias_growth import PRECISION, Courses, Numbers

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
    from mictree.families.bias_growth import Identities

    return Identities(Cubes(np.frombuffer(labels, dtype=np.uint8)), each)
