"""Which greedy trees come closest to the best ones: criteria, looking ahead, more candidates.

A rule is TopDown with one of the criteria, or Lookahead. "top k" is no rule: it is the best tree
whose every node tests one of its k splits of largest gain, so it bounds what any rule that chooses
among these can reach.
"""

from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.families.family import Family, grid
from mictree.families.functions import FunctionFamily, functions
from mictree.families.sweep import sweep
from mictree.growers.rules import Grower, Lookahead, TopDown
from mictree.impurity import CRITERIA
from mictree.optimal import optimal_errors


@dataclass(frozen=True)
class Range:
    """A family of formulas, or, without terms, functions of some variables.

    These are all of them up to symmetry, or so many ``drawn`` at random, each truth table as likely
    as any other.
    """

    title: str
    max_terms: int = 0
    max_literals: int = 0
    biases: tuple[float, ...] = (0.5,)
    variables: int = 0
    max_size: int = 100
    with_tops: bool = True
    drawn: int = 0
    seed: int = 16

    @property
    def family(self) -> Family | FunctionFamily:
        """Its members."""
        if self.drawn:
            return _drawn(self.variables, self.drawn, self.seed)
        if self.variables:
            return functions(self.variables)
        return grid(self.max_terms, self.max_literals, self.biases)


def _drawn(variables: int, number: int, seed: int) -> FunctionFamily:
    draws = np.random.default_rng(seed)
    tables = np.sort(draws.integers(2 ** (2**variables), size=number, dtype=np.uint64))
    ones = np.ones(number, dtype=np.int64)
    return FunctionFamily("drawn", variables, Fraction(1, 2), tables, ones, negates_output=False)


@dataclass(frozen=True)
class Plan:
    """The ranges and the contestants."""

    ranges: tuple[Range, ...] = (
        Range("8 terms of 8 literals, bias 0.5", 8, 8),
        Range("5 terms of 5, biases 0.3, 0.7", 5, 5, (0.3, 0.7), with_tops=False),
        Range("5 terms of 5, biases 0.4, 0.6", 5, 5, (0.4, 0.6), with_tops=False),
        Range("3 terms of 5, biases 0.3, 0.7", 3, 5, (0.3, 0.7)),
        Range("3 terms of 5, biases 0.4, 0.6", 3, 5, (0.4, 0.6)),
        Range("all functions of 4 variables", variables=4, max_size=15),
        Range("1,000 random functions of 5", variables=5, max_size=31, drawn=1000),
    )
    depths: tuple[int, ...] = (1, 2, 3)
    tops: tuple[int, ...] = (1, 2, 3, 4, 5)  # ascending
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
BLOCK = 500  # members


def rankings(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> Rankings:
    """Compare all contestants on all ranges, ``n_jobs`` contestants or blocks of members at once.

    Examples
    --------
    >>> small = Range("small", 2, 2, max_size=4)
    >>> found = rankings(Plan((small,), depths=(1,), tops=(1, 2)))
    >>> found.summary("small")["contestant"].sort().to_list()
    ['entropy', 'gini', 'lookahead 1', 'minority', 'root', 'top 1', 'top 2']
    """
    store = cache or Cache()
    rules = [
        (each, name, members)
        for each in plan.ranges
        for name in _named(plan)
        for members in _growing(each)
    ]
    tops = [(each, members) for each in plan.ranges if each.with_tops for members in _blocks(each)]
    parts = EqualParts("rankings", len(rules) + len(tops), progress)
    grown = store.frames(
        "rules",
        [
            (
                asdict(each) | {"rule": repr(_named(plan)[name]), "members": _ends(members)},
                partial(_rule, plan, each, name, members),
            )
            for each, name, members in rules
        ],
        n_jobs,
    )
    found = list(parts.follow(grown, (f"{name}, {each.title}" for each, name, _ in rules)))
    chosen = store.frames(
        "tops",
        [
            (
                asdict(each) | {"tops": plan.tops, "members": _ends(members)},
                partial(_tops, plan, each, members),
            )
            for each, members in tops
        ],
        n_jobs,
    )
    found += parts.follow(chosen, (f"top splits, {each.title}" for each, _ in tops))
    merged = pl.concat([each.value for each in found])
    counted = merged.group_by("range", "contestant", "mic", maintain_order=True)
    return Rankings(plan, counted.agg(pl.col("members").sum(), pl.col("count").sum()))


def _named(plan: Plan) -> dict[str, Grower]:
    """The rules by the names of the contestants."""
    looking = {LOOKAHEAD.format(d): Lookahead(d, ties=plan.ties) for d in plan.depths}
    return {**{name: TopDown(name, ties=plan.ties) for name in CRITERIA}, **looking}


def _growing(each: Range) -> list[range]:
    """The members of a range in parts that one rule is grown on; a family of formulas is one."""
    return _blocks(each) if each.variables else [each.family.members]


def _blocks(each: Range) -> list[range]:
    """The members of a range in parts that are kept one by one."""
    every = each.family.members
    starts = range(every.start, every.stop, BLOCK)
    return [range(start, min(start + BLOCK, every.stop)) for start in starts]


def _ends(members: range) -> list[int]:
    return [members.start, members.stop]


def _rule(plan: Plan, each: Range, name: str, members: range) -> pl.DataFrame:
    family, rule = each.family, _named(plan)[name]
    if isinstance(family, Family):
        mic = sweep(family, each.max_size, [rule])["mic"].to_numpy()
    else:
        mic = np.array([_mic(rule, family, member, each.max_size) for member in members])
    return _counted(each, family, members, {name: mic})


def _mic(rule: Grower, family: FunctionFamily, member: int, max_size: int) -> float:
    problem = family.problem(member)
    excess = rule.grow(problem, max_size).errors - optimal_errors(problem, max_size)
    return float(excess[1:].mean())


def _tops(plan: Plan, each: Range, members: range) -> pl.DataFrame:
    family = each.family
    excess = np.zeros((len(plan.tops), len(members)))
    for place, member in enumerate(members):
        problem = family.problem(member)
        least = optimal_errors(problem, each.max_size)
        for row, top in enumerate(plan.tops):
            lead = optimal_errors(problem, each.max_size, top=top) - least
            excess[row, place] = lead[1:].mean()
            if lead.max() < ZERO:
                break  # nor is any excess left with more candidates
    columns = {TOP.format(top): excess[row] for row, top in enumerate(plan.tops)}
    return _counted(each, family, members, columns)


def _counted(
    each: Range, family: Family | FunctionFamily, members: range, columns: dict[str, np.ndarray]
) -> pl.DataFrame:
    """How often each MIC occurs; values that differ by rounding only are one."""
    counts = np.ones(len(members), dtype=np.int64)
    if isinstance(family, FunctionFamily):
        counts = family.counts[members.start : members.stop]
    parts = []
    for name, mic in columns.items():
        frame = pl.DataFrame({"mic": np.round(mic, 12) + 0.0, "count": counts})
        counted = frame.group_by("mic").agg(
            pl.len().cast(pl.Int64).alias("members"), pl.col("count").sum()
        )
        parts.append(counted.sort("mic").select(
            pl.lit(each.title).alias("range"), pl.lit(name).alias("contestant"), pl.all()
        ))  # fmt: skip
    return pl.concat(parts)
