"""MIC over a whole family of formulas: one row per formula and rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from mictree import __version__
from mictree._support.checks import check_size
from mictree._support.files import Partial
from mictree.families.family import Family
from mictree.families.graph import build, member_terms
from mictree.families.growth import BestSplits, FamilyGrowth, best_splits, with_seed
from mictree.growers.rules import BestFirst, Grower, Growth, TopDown
from mictree.mic import MicResult, against
from mictree.optimal import DEFAULT_MEMORY_LIMIT, OptimalTrees, optimal_trees
from mictree.optimal.result import check_rows
from mictree.optimal.dynamic.program import Program, batches, fill_batch, perfect_sizes, row_starts
from mictree.problems.formula import FormulaProblem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLOCK = 1 << 16  # members grown between two chances to report progress or be interrupted
DEFAULT_RULES = (TopDown(), BestFirst())


class Stage(NamedTuple):
    """How far a sweep has come."""

    name: str  # "optimal errors", or the rule being grown
    done: int  # formulas, in this stage
    total: int
    layer: int  # literals of the formulas being solved; 0 while growing
    share: float  # of this stage's work, from 0 to 1


Progress = Callable[[Stage], None]


def sweep(
    family: Family,
    max_size: int = 100,
    rules: Sequence[Grower] = DEFAULT_RULES,
    out: str | Path | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Compare rules with optimal trees on every member of a family.

    Parameters
    ----------
    family : from ``mictree.families.family``
    max_size : t*, at least 1
    rules : growers; by default TopDown and BestFirst
    out : a Parquet file to write. An interrupted sweep leaves ``<out>.partial`` beside it, and the
        same call continues from there.
    memory_limit : in bytes; a family that needs more is refused with a ValueError
    progress : called with a ``Stage``

    Returns
    -------
    A polars frame with the columns formula, terms, literals, rule, criterion, ties, mic,
    largest_excess, largest_excess_size and perfect_size.

    Examples
    --------
    >>> import mictree as mt
    >>> frame = mt.sweep(mt.families.grid(max_terms=3, max_literals=3), max_size=20)
    >>> frame.columns[:4], frame.height
    (['formula', 'terms', 'literals', 'rule'], 38)
    """
    limit = check_size(max_size)
    if limit < 1:
        raise ValueError(f"max_size must be at least 1, as MIC is a mean over sizes; got {limit}")
    _check_rules(rules)
    key = {
        "version": __version__,
        "family": family.name,
        "max_size": limit,
        "rules": [repr(rule) for rule in rules],
    }
    partial = Partial(None if out is None else _check_out(out), key)
    if "seeds" not in partial.state:
        partial.save(seeds=[with_seed(rule).seed for rule in rules], began=_now())
    seeds = partial.state["seeds"]
    seeded = [type(r)(r.criterion, r.ties, s) for r, s in zip(rules, seeds, strict=True)]
    solved = _Solved(family, limit, memory_limit, partial, progress or (lambda _: None))
    frame = solved.frame([solved.compare(number, rule) for number, rule in enumerate(seeded)])
    provenance = {**key, "seeds": seeds, "time": partial.state["began"]}
    metadata = {f"mictree.{name}": str(value) for name, value in provenance.items()}
    partial.finish(lambda path: frame.write_parquet(path, metadata=metadata))
    return frame


def summarize(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per rule, criterion and ties: how its MIC is spread over the formulas."""
    mic = pl.col("mic")
    quantiles = {"median": 0.5, "q90": 0.9, "q99": 0.99}
    return frame.group_by("rule", "criterion", "ties", maintain_order=True).agg(
        pl.len().alias("formulas"),
        mic.mean().alias("mean"),
        mic.max().alias("max"),
        *(mic.quantile(level, "nearest").alias(name) for name, level in quantiles.items()),
        (mic < 0.001).mean().alias("below_0.001"),
        (mic < 0.01).mean().alias("below_0.01"),
        (mic > 0.05).mean().alias("above_0.05"),
    )


@dataclass(frozen=True)
class WorstCase:
    """A formula on which a rule is far from optimal."""

    problem: FormulaProblem
    result: MicResult
    growth: Growth
    optimal: OptimalTrees

    def draw(self, size: int | None = None) -> "Figure":
        """Draw the grown and the optimal tree side by side, by default where they differ most."""
        from mictree.plotting.pair import draw_pair

        shown = self.result.worst_size if size is None else size
        titles = [
            f"{type(self.growth.rule).__name__}, ties {self.growth.rule.ties}: "
            f"error {self.result.greedy_errors[shown]:.4g}",
            f"optimal: error {self.result.optimal_errors[shown]:.4g}",
        ]
        trees = [self.growth.tree(shown), self.optimal.tree(shown)]
        heading = f"{self.problem.formula}: size {shown}, MIC {self.result.mic:.4g}"
        return draw_pair(trees, titles, heading, self.problem)


def worst(
    family: Family,
    rule: Grower,
    max_size: int = 100,
    count: int = 5,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> list[WorstCase]:
    """The formulas of a family on which a rule has the largest MIC, worst first.

    Examples
    --------
    >>> import mictree as mt
    >>> (case,) = mt.sweep.worst(mt.families.grid(3, 3), mt.BestFirst(), max_size=20, count=1)
    >>> [len(term) for term in case.problem.formula.terms]
    [3, 3, 3]
    """
    frame = sweep(family, max_size, [rule], memory_limit=memory_limit)
    members = frame["mic"].arg_sort(descending=True)[: check_size(count, "count")] + 1
    cases = []
    for member in members:
        problem = family.problem(int(member))
        solved = optimal_trees(problem, max_size, memory_limit=memory_limit)
        growth = rule.grow(problem, max_size)
        cases.append(WorstCase(problem, against(rule, problem, solved.errors), growth, solved))
    return cases


sweep.worst = worst  # type: ignore[attr-defined]  # users type mt.sweep.worst(family, rule)


class _Solved:
    """A family with the optimal errors of all its members."""

    def __init__(
        self,
        family: Family,
        max_size: int,
        memory_limit: int,
        partial: Partial,
        progress: Progress,
    ) -> None:
        self.family, self.partial, self.progress = family, partial, progress
        self.built = build(family, memory_limit)
        graph = self.built.graph
        self.perfect = perfect_sizes(graph)
        check_rows(np.zeros(len(graph), dtype=np.int32), self.perfect, max_size, memory_limit)
        start = row_starts(np.minimum(self.perfect, max_size) + 1)
        errors = partial.errors(int(start[-1]))
        done = partial.state.get("done", 0)
        if done == 0:
            rate = self.built.positive_rate
            errors[start[:-1]] = np.minimum(rate, 1 - rate)
        literals = int(graph.literals.max())
        self.program = Program.of_floats(family.biases, literals, start, errors)
        for batch in batches(graph, start, done):
            fill_batch(graph, self.program, batch)
            partial.save(done=batch.stop)
            layer = int(graph.literals[graph.order[batch.stop - 1]])
            progress(Stage("optimal errors", batch.stop, len(graph), layer, batch.share))
        self.growth = FamilyGrowth(family, self.built, self.program, max_size)
        self._best: dict[str, BestSplits] = {}

    def compare(self, number: int, rule: Grower) -> pl.DataFrame:
        """MIC, largest excess error and its size of one rule on all members."""
        if rule.criterion not in self._best:
            self._best[rule.criterion] = best_splits(self.built, self.program, rule.criterion)
        best = self._best[rule.criterion]
        total = len(self.family)
        found = []
        for begin in range(1, total + 1, BLOCK):
            members = range(begin, min(begin + BLOCK, total + 1))
            name = f"rule{number}-{members.start}-{members.stop}"
            found.append(
                self.partial.block(name, lambda some=members: self.growth.compare(rule, best, some))
            )
            done = members.stop - 1
            self.progress(Stage(f"{rule.name}, ties {rule.ties}", done, total, 0, done / total))
        table = np.concatenate(found)
        return pl.DataFrame(
            {
                "rule": pl.repeat(rule.name, total, eager=True),
                "criterion": pl.repeat(rule.criterion, total, eager=True),
                "ties": pl.repeat(rule.ties, total, eager=True),
                "mic": table[:, 0],
                "largest_excess": table[:, 1],
                "largest_excess_size": table[:, 2].astype(np.int32),
            }
        )

    def frame(self, compared: list[pl.DataFrame]) -> pl.DataFrame:
        """All rules' results under each other, each beside the formulas they are about."""
        members = pl.DataFrame(
            {
                "formula": formula_names(self.family, self.built.terms),
                "terms": self.built.terms[1:],
                "literals": self.built.graph.literals[1:],
            }
        )
        perfect = pl.Series("perfect_size", self.perfect[1:])
        return pl.concat(
            [
                pl.concat([members, each], how="horizontal").with_columns(perfect)
                for each in compared
            ]
        )


def formula_names(family: Family, terms: np.ndarray) -> pl.Series:
    """All members as texts such as ``3+3+5``, or ``2*0.3,1*0.7 + 1*0.3`` with several biases."""
    names = pl.Series(family.term_names())
    flat = member_terms(family, terms)
    member = np.repeat(np.arange(len(terms), dtype=np.int32), terms)
    joined = pl.DataFrame({"member": member, "term": names.gather(flat)}).group_by(
        "member", maintain_order=True
    )
    separator = "+" if len(family.biases) == 1 else " + "
    return joined.agg(pl.col("term").str.join(separator))["term"]


def _check_rules(rules: Sequence[Grower]) -> None:
    if isinstance(rules, Grower) or not len(rules):
        raise ValueError(f"rules must be a list of at least one grower; got {rules!r}")
    for rule in rules:
        if not isinstance(rule, Grower):
            raise TypeError(f"a rule must be a grower; got {type(rule).__name__}")


def _check_out(out: str | Path) -> Path:
    path = Path(out).absolute()
    if path.suffix.lower() != ".parquet":
        raise ValueError(f"out must end in .parquet; got {str(out)!r}")
    if not path.parent.is_dir():
        raise ValueError(f"out must name a file in an existing folder; got {str(out)!r}")
    return path


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
