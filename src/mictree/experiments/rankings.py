"""Which greedy trees come closest to the best ones: criteria, looking ahead, more candidates.

A rule is TopDown with one of the criteria, or Lookahead. "top k" is no rule: it is the best tree
whose every node tests one of its k splits of largest gain, so it bounds what any rule that chooses
among these can reach.
"""

from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.families.family import Family, grid
from mictree.families.function_classes import FunctionFamily, functions
from mictree.families.sweep import sweep, tops
from mictree.growers.rules import Grower, Lookahead, TopDown
from mictree.impurity import CRITERIA


@dataclass(frozen=True)
class Range:
    """A family of formulas, or, without terms, all functions of some variables up to symmetry."""

    title: str
    max_terms: int = 0
    max_literals: int = 0
    biases: tuple[float, ...] = (0.5,)
    variables: int = 0
    max_size: int = 100

    @property
    def family(self) -> Family | FunctionFamily:
        """Its members."""
        if self.variables:
            return functions(self.variables)
        return grid(self.max_terms, self.max_literals, self.biases)


@dataclass(frozen=True)
class Plan:
    """The ranges and the contestants."""

    ranges: tuple[Range, ...] = (
        Range("8 terms of 8 literals, bias 0.5", 8, 8),
        Range("5 terms of 5, biases 0.3, 0.7", 5, 5, (0.3, 0.7)),
        Range("5 terms of 5, biases 0.4, 0.6", 5, 5, (0.4, 0.6)),
        Range("all functions of 4 variables", variables=4, max_size=15),
        Range("all functions of 5 variables", variables=5, max_size=31),
    )
    depths: tuple[int, ...] = (1, 2, 3)
    tops: tuple[int, ...] = (1, 2, 3, 4, 5)
    ties: str = "last"


@dataclass(frozen=True)
class Rankings:
    """MIC of every contestant.

    Attributes
    ----------
    frame : a row for each range, contestant and MIC, with the number of members and of functions
    """

    plan: Plan
    frame: pl.DataFrame

    def summary(self, title: str) -> pl.DataFrame:
        """Contestants of one range, the lowest mean MIC first."""
        weight, mic = pl.col("count"), pl.col("mic")
        named = self.frame.filter(range=title).group_by("contestant", maintain_order=True)
        return named.agg(
            ((mic * weight).sum() / weight.sum()).alias("mean"),
            mic.max().alias("largest"),
            (weight.filter(mic < ZERO).sum() / weight.sum()).alias("optimal"),
            weight.sum().alias("count"),
        ).sort("mean", maintain_order=True)

    def mean(self, title: str, contestant: str) -> float:
        """The mean MIC of a contestant."""
        return float(self.summary(title).filter(contestant=contestant)["mean"].item())


ZERO = 1e-12  # a smaller MIC is rounding
LOOKAHEAD, TOP = "lookahead {}", "top {}"
BLOCK = 50_000  # members


def rankings(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> Rankings:
    """Compare all contestants on all ranges, ``n_jobs`` ranges or blocks of functions at once.

    Examples
    --------
    >>> small = Range("small", 2, 2, max_size=4)
    >>> found = rankings(Plan((small,), depths=(1,), tops=(1, 2)))
    >>> found.summary("small")["contestant"].sort().to_list()
    ['entropy', 'gini', 'lookahead 1', 'minority', 'root', 'top 1', 'top 2']
    """
    store = cache or Cache()
    blocks = [(each, block) for each in plan.ranges for block in _blocks(each)]
    contestants = {"rules": [*map(repr, _named(plan).values())], "tops": plan.tops}
    parts = EqualParts("rankings", len(blocks), progress)
    compared = store.frames(
        "rankings",
        [
            (
                asdict(each) | contestants | {"members": block.key},
                partial(_compare, plan, each, block),
            )
            for each, block in blocks
        ],
        n_jobs,
    )
    found = parts.follow(compared, (each.title for each, _ in blocks))
    merged = pl.concat([each.value for each in found])
    counted = merged.group_by("range", "contestant", "mic", maintain_order=True)
    return Rankings(plan, counted.agg(pl.col("members").sum(), pl.col("count").sum()))


def _named(plan: Plan) -> dict[str, Grower]:
    """The rules by the names of the contestants."""
    looking = {LOOKAHEAD.format(d): Lookahead(d, ties=plan.ties) for d in plan.depths}
    return {**{name: TopDown(name, ties=plan.ties) for name in CRITERIA}, **looking}


def _blocks(each: Range) -> list[Family | FunctionFamily]:
    """A range in parts that are kept one by one; formulas share their restrictions, so are one."""
    family = each.family
    if isinstance(family, Family):
        return [family]
    return [
        replace(family, tables=family.tables[some], counts=family.counts[some])
        for some in (slice(start, start + BLOCK) for start in range(0, len(family), BLOCK))
    ]


def _compare(plan: Plan, each: Range, family: Family | FunctionFamily) -> pl.DataFrame:
    """The MIC of every contestant on some members."""
    rules = _named(plan)
    swept = sweep(family, each.max_size, [*rules.values()])
    best = tops(family, each.max_size, plan.tops)
    names = [*rules, *(TOP.format(top) for top in plan.tops)]
    mics = np.concatenate([swept["mic"].to_numpy(), best["mic"].to_numpy()])
    counts = best["count"].to_numpy()[: len(family)]
    rows = mics.reshape(len(names), len(family))
    return pl.concat(
        _counted(each.title, name, row, counts) for name, row in zip(names, rows, strict=True)
    )


def _counted(title: str, name: str, mic: np.ndarray, counts: np.ndarray) -> pl.DataFrame:
    """How often each MIC occurs; values that differ by rounding only are one."""
    frame = pl.DataFrame({"mic": np.round(mic, 12) + 0.0, "count": counts})
    counted = frame.group_by("mic").agg(
        pl.len().cast(pl.Int64).alias("members"), pl.col("count").sum()
    )
    return counted.sort("mic").select(
        pl.lit(title).alias("range"), pl.lit(name).alias("contestant"), pl.all()
    )
