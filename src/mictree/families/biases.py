"""MIC for all biases in a range at once, certified.

The range is divided into boxes, see ``bias_search``. On each box the MIC of a rule lies in a
certified interval. Where the rule is optimal is proved apart, without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mictree._support.checks import check_size
from mictree._support.parallel import count_jobs
from mictree._support.progress import Report, ignore
from mictree._support.words import show_number
from mictree.families.bias_search import Bias, Search, Task, optimal_ranges
from mictree.functions.expression import Expression
from mictree.growers.rules import ID3, BestFirst, Grower, TopDown, as_rule
from mictree.impurity import CRITERIA

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

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

        A polars frame with the columns low, high, mic and except_at. For every bias between ``low``
        and ``high``, but for those of ``except_at``, all trees of sizes 1 to ``max_size`` that the
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
