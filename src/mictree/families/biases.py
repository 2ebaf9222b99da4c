"""MIC for all biases in a range at once, certified.

The range is divided into boxes. On each box the MIC of a rule lies in a certified interval: the
optimal errors and the errors of every tree that may be grown there are enclosed, and a split is
only taken for sure where its lead holds for all biases of the box. The box with the largest upper
end is divided until the largest MIC of the range is known well enough.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mictree._support.checks import check_size
from mictree._support.progress import Progress, Report, ignore
from mictree._support.words import show_number
from mictree.families.bias_boxes import Boxes, Chances, Cubes, least_errors
from mictree.functions.expression import Expression
from mictree.growers.rules import ID3, BestFirst, Grower, TopDown, as_rule
from mictree.impurity import CRITERIA

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from mictree.families.bias_gains import Identities

MOST_SHARED, MOST_EACH = 8, 4  # variables
BATCH = 32  # boxes divided between two looks at the clock
NARROWEST = 2.0**-30  # boxes are not divided below this width


@dataclass(frozen=True)
class MicOverBiases:
    """Certified intervals of the MIC of a rule over a range of biases.

    Attributes
    ----------
    formula, rule, max_size : what was asked
    supremum : the interval in which the largest MIC of the range lies
    worst : a bias, or one for each variable, whose MIC is at least ``supremum[0]``
    boxes : a frame with the columns low, high, mic_lower, mic_upper; with ``each=True`` low and
        high have the variable's name behind them. At a bias of 1/2 gains often tie, so it is a box
        of its own, which the boxes on both sides do not contain.
    complete : whether ``supremum`` is as narrow as asked for

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
    worst: float | dict[str, float]
    boxes: pl.DataFrame
    complete: bool

    def __str__(self) -> str:
        low, high = self.supremum
        told = (
            ", ".join(f"{name}={bias:.6g}" for name, bias in self.worst.items())
            if isinstance(self.worst, dict)
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
        from mictree.plotting.biases import draw_boxes

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

    Notes
    -----
    Gains that are the same function of the biases tie, and go by the rule's ties. Others tie only
    at single biases; there both choices count.

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
    cubes = Cubes(expression.truth_table(names))
    search = _Search(grower, cubes, max_size, each)
    complete = search.run(ends, gap, time_limit, progress or ignore)
    return MicOverBiases(
        str(expression), grower, max_size, search.supremum,
        dict(zip(names, search.worst, strict=True)) if each else search.worst[0],
        search.frame(names if each else None), complete,
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


class _Search:
    """The boxes so far, those of largest upper ends first."""

    def __init__(self, rule: Grower, cubes: Cubes, max_size: int, each: bool) -> None:
        self.rule = rule
        self.cubes = cubes
        self.max_size = max_size
        self.each = each
        self.identities: Identities | None = None
        self.found: list[tuple[float, float, tuple[float, ...], tuple[float, ...]]] = []
        self.final: list[tuple[float, float, tuple[float, ...], tuple[float, ...]]] = []
        self.attained = -1.0
        self.worst: list[float] = []

    @property
    def supremum(self) -> tuple[float, float]:
        uppers = [-box[0] for box in (*self.found[:1], *self.final)]
        return max(self.attained, 0.0), float(max(uppers))

    def run(
        self,
        ends: tuple[float, float],
        gap: float,
        time_limit: float | None,
        report: Report,
    ) -> bool:
        """Divide until the gap is closed; says whether it is."""
        deadline = None if time_limit is None else time.monotonic() + time_limit
        self._start(ends)
        try:
            while self._is_open(gap):
                if deadline is not None and time.monotonic() > deadline:
                    break
                self._divide(gap)
                low, high = self.supremum
                boxes = len(self.found) + len(self.final)
                detail = f"{boxes:,} boxes, largest MIC between {low:.4f} and {high:.4f}"
                report(Progress("biases", None, detail))
        except KeyboardInterrupt:
            pass
        return self.supremum[1] - self.supremum[0] <= gap

    def _is_open(self, gap: float) -> bool:
        """Whether there is a box to divide; the gap stays open if only the narrowest keep it so."""
        return bool(self.found) and -self.found[0][0] > self.attained + gap

    def _start(self, ends: tuple[float, float]) -> None:
        low, high = ends
        parts = [(low, high)]
        if not self.each and low <= 0.5 <= high:  # ties are many at 1/2: it is a box of its own
            parts = [(low, 0.5)] * (low < 0.5) + [(0.5, 0.5)] + [(0.5, high)] * (high > 0.5)
        count = self.cubes.variables if self.each else 1
        self._add([(count * (start,), count * (stop,)) for start, stop in parts])

    def _divide(self, gap: float) -> None:
        """Halve the boxes of largest upper ends, and only those that keep the gap open."""
        waiting = []
        while len(waiting) < BATCH and self._is_open(gap):
            waiting.append(heapq.heappop(self.found))
        halves = []
        for box in waiting:
            low, high = (list(ends) for ends in box[2:])
            widths = [b - a for a, b in zip(low, high, strict=True)]
            place = widths.index(max(widths))
            if widths[place] <= NARROWEST:
                self.final.append(box)
                continue
            middle = low[place] + widths[place] / 2
            halves.append((tuple(low), (*high[:place], middle, *high[place + 1 :])))
            halves.append(((*low[:place], middle, *low[place + 1 :]), tuple(high)))
        try:
            if halves:
                self._add(halves)
        except KeyboardInterrupt:
            for box in waiting:  # what was certified stays, whole
                heapq.heappush(self.found, box)
            raise

    def _add(self, parts: list[tuple[tuple[float, ...], tuple[float, ...]]]) -> None:
        """Certify some boxes, and a point inside each."""
        middles = [
            tuple((a + b) / 2 for a, b in zip(low, high, strict=True)) for low, high in parts
        ]
        intervals = self._certify([*parts, *((point, point) for point in middles)])
        for (low, _), point in zip(intervals[len(parts) :], middles, strict=True):
            if low > self.attained:
                self.attained, self.worst = low, list(point)
        for (low, high), part in zip(intervals, parts, strict=False):
            heapq.heappush(self.found, (-high, low, *part))

    def _certify(
        self, parts: list[tuple[tuple[float, ...], tuple[float, ...]]]
    ) -> list[tuple[float, float]]:
        from flint import ctx

        from mictree.families.bias_gains import PRECISION, Identities, Numbers
        from mictree.families.bias_growth import Courses

        self.identities = self.identities or Identities(self.cubes, self.each)
        boxes = Boxes(*(np.array(ends) for ends in zip(*parts, strict=True)))
        chances = Chances(self.cubes, boxes, self.each)
        least = least_errors(chances, self.max_size)
        found = []
        with ctx.workprec(PRECISION):
            for number, (low, high) in enumerate(zip(*boxes, strict=True)):
                numbers = Numbers(self.identities, str(self.rule.criterion), low, high)
                courses = Courses(self.rule, numbers, chances, number)
                low_sum, high_sum = courses.excess(self.max_size, least.of_box(number))
                found.append((low_sum / self.max_size, high_sum / self.max_size))
        return found

    def frame(self, names: tuple[str, ...] | None) -> pl.DataFrame:
        """The boxes in order of their biases."""
        import polars as pl

        boxes = sorted([*self.found, *self.final], key=lambda box: box[2:])
        columns: dict[str, list[float]] = {}
        for side, word in enumerate(("low", "high")):
            for place, name in enumerate(names or [""]):
                label = f"{word}_{name}" if names else word
                columns[label] = [(box[2], box[3])[side][place] for box in boxes]
        columns["mic_lower"] = [max(box[1], 0.0) for box in boxes]
        columns["mic_upper"] = [-box[0] for box in boxes]
        return pl.DataFrame(columns)
