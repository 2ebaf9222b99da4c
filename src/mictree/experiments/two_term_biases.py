"""Where the theorem on two terms ends: for which shared biases TopDown's trees are all optimal.

The paper proves it for the bias 1/2 only. Here the range of biases is divided into boxes, and on
each of them it is certified that the trees of all sizes are optimal, or that one of them is not,
for every bias inside. A box in which neither is certain is halved, down to ``Plan.narrowest``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise

import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.families.pairs import check_pair
from mictree.statements.checks import Check, Covered, Reading, Statement, require

Pair = tuple[int, int]
# by lengths of the terms, a polynomial in the bias, constant first, that is 0 at the end
ENDS: dict[Pair, tuple[int, ...]] = {
    (2, 2): (-1, 2),
    (2, 3): (-1, 0, 2),
    (3, 3): (-1, 1, 0, 1),
    (4, 4): (1, -2, 0, 0, 0, 2),
}
COMMON_END = (-2, 1, 2)  # of all others with a term of 4 literals: (sqrt(17) - 1) / 4


@dataclass(frozen=True)
class Plan:
    """The pairs of terms, the range of biases, and how narrow boxes may get."""

    max_literals: int = 5
    low: float = 2**-7
    high: float = 1 - 2**-7
    widest: float = 2**-4
    narrowest: float = 2**-20

    @property
    def pairs(self) -> list[Pair]:
        """Lengths of two terms, the shorter one first."""
        lengths = range(1, self.max_literals + 1)
        return [(shorter, longer) for longer in lengths for shorter in range(1, longer + 1)]

    @property
    def text(self) -> str:
        """The range in words."""
        return (
            f"all {len(self.pairs)} pairs of terms of 1 to {self.max_literals} literals, every "
            f"shared bias from {self.low:g} to {self.high:g}, every size"
        )


QUICK_PLAN = Plan(max_literals=3, low=2**-4, narrowest=2**-13)


@dataclass(frozen=True)
class TwoTermBiases:
    """The outcome for every pair of terms and every bias.

    Attributes
    ----------
    plan : the parameters
    frame : columns shorter, longer, low, high, outcome, boxes; a row for each longest run of boxes
        with one outcome: "optimal" (the trees of all sizes, for every bias inside), "excess" (some
        tree is not optimal, for every bias inside) or "undecided"
    seconds : the time it took
    """

    plan: Plan
    frame: pl.DataFrame
    seconds: float = field(compare=False)

    def runs(self, pair: Pair) -> list[tuple[float, float, str]]:
        """Low end, high end and outcome, in the order of the biases."""
        rows = self.frame.filter(shorter=pair[0], longer=pair[1])
        return list(rows.select("low", "high", "outcome").iter_rows())

    def changes(self, pair: Pair) -> tuple[list[str], list[tuple[float, float]]]:
        """The certain outcomes in the order of the biases, and the intervals between them."""
        certain = [run for run in self.runs(pair) if run[2] != "undecided"]
        between = [(before[1], after[0]) for before, after in pairwise(certain)]
        return [outcome for _, _, outcome in certain], between

    @property
    def last_optimal(self) -> dict[Pair, float]:
        """By pair, the bias up to which trees stay optimal from 1/2 on, rounded down."""
        return {
            pair: max(
                high
                for low, high, outcome in self.runs(pair)
                if outcome == "optimal" and low <= 0.5
            )
            for pair in self.plan.pairs
        }


def two_term_biases(
    plan: Plan | None = None,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> TwoTermBiases:
    """Certify, for every pair of terms and bias, whether TopDown's trees are optimal.

    ``n_jobs`` pairs are worked on at once, by joblib.

    Examples
    --------
    >>> found = two_term_biases(Plan(max_literals=2, narrowest=2**-10))
    >>> found.runs((2, 2))
    [(0.0078125, 0.5, 'optimal'), (0.5, 0.9921875, 'excess')]
    """
    chosen, store = plan or Plan(), cache or Cache()
    parts = EqualParts("two terms", len(chosen.pairs), progress)
    work = [
        (asdict(chosen) | {"pair": pair}, partial(_runs_of, chosen, pair)) for pair in chosen.pairs
    ]
    made = store.frames("two-term-biases", work, n_jobs)
    found = list(parts.follow(made, (f"{a} and {b} literals" for a, b in chosen.pairs)))
    frame = pl.concat([each.value for each in found])
    return TwoTermBiases(chosen, frame, sum(each.seconds for each in found))


def _runs_of(plan: Plan, pair: Pair) -> pl.DataFrame:
    """Boxes of one pair, neighbours of one outcome put together."""
    runs: list[list] = []
    for low, high, outcome in _boxes(plan, pair):
        if runs and runs[-1][2] == outcome:
            runs[-1][1:] = [high, outcome, runs[-1][3] + 1]
        else:
            runs.append([low, high, outcome, 1])
    columns = {"low": pl.Float64, "high": pl.Float64, "outcome": pl.String, "boxes": pl.Int64}
    return pl.DataFrame(runs, columns, orient="row").select(
        pl.lit(pair[0]).alias("shorter"), pl.lit(pair[1]).alias("longer"), pl.all()
    )


def _boxes(plan: Plan, pair: Pair) -> Iterator[tuple[float, float, str]]:
    """From the least bias to the largest; 1/2, where many gains tie, is an end of boxes."""
    waiting = [(plan.low, plan.high)]
    while waiting:
        low, high = waiting.pop()
        wide = high - low > plan.widest or low < 0.5 < high
        outcome = "undecided" if wide else check_pair(low, high, *pair).outcome
        if outcome == "undecided" and (wide or high - low > plan.narrowest):
            middle = 0.5 if low < 0.5 < high else (low + high) / 2
            waiting += [(middle, high), (low, middle)]
        else:
            yield low, high, outcome


def conjectures(found: TwoTermBiases) -> tuple[Check, ...]:
    """The pattern of a result, stated for all lengths, and whether the result agrees with it.

    The entropy is the criterion; the order of ties does not matter.
    """
    named = [
        (
            "l = 1",
            "If one of two terms has one literal, TopDown's tree of every size is optimal for "
            "every shared bias.",
            _one_literal,
        ),
        (
            "l < m",
            "For terms of 2 <= l < m literals, TopDown's trees are all optimal exactly for shared "
            "biases p up to an end: 2 p^2 + p = 2 at it, p = (sqrt(17) - 1)/4 = 0.7808, whatever l "
            "and m >= 4 are; and 2 p^2 = 1, p = 0.7071, for l = 2 and m = 3.",
            _unequal,
        ),
        (
            "l = m",
            "For two terms of m >= 3 literals each, TopDown's trees are all optimal exactly "
            "between two biases. The lower one is below 1/2 and rises with m; the upper one is "
            "that of unequal terms from m = 5 on, p^3 + p = 1 at it for m = 3, and 2 p^5 + 1 = 2 p "
            "for m = 4. For m = 2 they are optimal exactly up to 1/2.",
            _equal,
        ),
    ]
    return tuple(
        Statement(f"Two terms ({name})", text, (Reading("", partial(_read, check, found)),)).check()
        for name, text, check in named
    )


def _read(check: Callable[[TwoTermBiases], str], found: TwoTermBiases, quick: bool) -> Covered:
    return Covered(found.plan.text, check(found))


def _one_literal(found: TwoTermBiases) -> str:
    for pair in found.plan.pairs:
        if pair[0] == 1:
            outcomes, _ = found.changes(pair)
            require(outcomes == ["optimal"], f"{_name(pair)}: {', '.join(outcomes)}")
    return "a conjecture beyond these lengths and biases"


def _unequal(found: TwoTermBiases) -> str:
    ends = []
    for pair in found.plan.pairs:
        if 1 < pair[0] < pair[1]:
            outcomes, between = found.changes(pair)
            require(outcomes == ["optimal", "excess"], f"{_name(pair)}: {', '.join(outcomes)}")
            ends.append(_require_end(found, pair, between[-1]))
    return f"a conjecture beyond these lengths and biases; ends between {'; '.join(ends)}"


def _equal(found: TwoTermBiases) -> str:
    ends, before = [], found.plan.low
    for pair in found.plan.pairs:
        if 1 < pair[0] == pair[1]:
            outcomes, between = found.changes(pair)
            expected = ["excess", "optimal", "excess"][pair[0] < 3 :]
            require(outcomes == expected, f"{_name(pair)}: {', '.join(outcomes)}")
            ends.append(_require_end(found, pair, between[-1]))
            if pair[0] > 2:
                low, high = between[0]
                require(before < low <= high < 0.5, f"{_name(pair)}: begins at {low:.6f}")
                before = high
                ends[-1] += f", beginnings between {low:.6f} and {high:.6f}"
    return f"a conjecture beyond these lengths and biases; ends between {'; '.join(ends)}"


def _require_end(found: TwoTermBiases, pair: Pair, between: tuple[float, float]) -> str:
    """Raise Counterexample unless the conjectured end lies in a narrow interval."""
    low, high = between
    case = f"{_name(pair)}: ends between {low:.6f} and {high:.6f}"
    require(high - low <= 2 * found.plan.narrowest, case)
    polynomial = ENDS.get(pair, COMMON_END)
    values = [
        sum(coefficient * Fraction(bias) ** power for power, coefficient in enumerate(polynomial))
        for bias in between
    ]
    require(min(values) <= 0 <= max(values), case)
    return f"{low:.6f} and {high:.6f} ({pair[0]} and {pair[1]} literals)"


def _name(pair: Pair) -> str:
    return f"terms of {pair[0]} and {pair[1]} literals"
