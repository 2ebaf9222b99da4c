"""MIC over a whole family of formulas: one row per formula and rule."""

import hashlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mictree import __version__
from mictree._support.checkpoints import KeptRows, Partial, resumable
from mictree._support.checks import check_size
from mictree._support.parquet import as_parquet
from mictree._support.progress import Progress, Report, ignore
from mictree._support.versions import code_version, library_versions
from mictree.excess import MicResult, against
from mictree.families.family import Family
from mictree.families.graph import build, member_terms
from mictree.families.growth import FamilyGrowth, best_splits
from mictree.families.growth_kernel import BestSplits
from mictree.growers.functions import built_in_name
from mictree.growers.rules import BestFirst, Grower, Growth, TopDown, as_rule
from mictree.impurity import name_of
from mictree.optimal import DEFAULT_MEMORY_LIMIT, OptimalTrees, optimal_trees
from mictree.optimal.dynamic.program import Program, batches, fill_batch, perfect_sizes, row_starts
from mictree.optimal.result import check_rows
from mictree.problems.formula import FormulaProblem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# members grown between two checkpoints, reports of progress or chances to be interrupted; fewer
# when they grow to more than 100 splits
BLOCK = 1 << 16
SECONDS = 2.0  # between two checkpoints of optimal errors
DEFAULT_RULES = (TopDown(), BestFirst())


def sweep(
    family: Family,
    max_size: int = 100,
    rules: Sequence[Grower | str] = DEFAULT_RULES,
    out: str | Path | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
) -> pl.DataFrame:
    """Compare rules with optimal trees on every member of a family.

    Parameters
    ----------
    family : from ``mictree.families``
    max_size : t*, at least 1
    rules : growers, or names of rules; by default TopDown and BestFirst. Priorities and criteria of
        one's own must be functions that numba can compile.
    out : a Parquet file to write. An interrupted sweep leaves ``<out>.partial`` beside it, and the
        same call continues from there. Only one process may write it at a time.
    memory_limit : in bytes; a family that needs more is refused with a ValueError
    progress : called now and then with a value that has ``what``, ``share`` and ``detail``; see
        ``optimal_trees``

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
    growers = _read_rules(rules)
    provenance = {
        "version": __version__,
        "family": family.name,
        "max_size": limit,
        "rules": [repr(rule) for rule in growers],
    }
    path = None if out is None else _check_out(out)
    state = {"seeds": [rule.with_seed().seed for rule in growers], "time": _now()}
    with resumable(path, [provenance, _details(family, growers)], state) as partial:
        seeds = partial.state["seeds"]
        seeded = [rule.with_seed(seed) for rule, seed in zip(growers, seeds, strict=True)]
        solved = _Solved(family, limit, memory_limit, partial, progress or ignore)
        compared = [solved.compare(number, rule) for number, rule in enumerate(seeded)]
        frame = solved.frame(seeded, compared)
        if path is not None:
            metadata = {f"mictree.{k}": str(v) for k, v in (provenance | partial.state).items()}
            partial.finish(path, as_parquet(frame, metadata))
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


@dataclass(frozen=True, repr=False)
class WorstCase:
    """A formula on which a rule is far from optimal."""

    problem: FormulaProblem
    result: MicResult
    growth: Growth
    optimal: OptimalTrees

    def __repr__(self) -> str:
        terms = "+".join(str(len(term)) for term in self.problem.formula.terms)
        mic = f"MIC({self.result.max_size}) = {self.result.mic:.6g}"
        return f"<WorstCase {terms}: {mic} by {self.result.rule}>"

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
    rule: Grower | str,
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
    (grower,) = _read_rules([rule])
    rule = grower.with_seed()  # the sweep, the growth and the result are about the same trees
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
        progress: Report,
    ) -> None:
        self.family, self.max_size = family, max_size
        self.partial, self.progress = partial, progress
        self.built = build(family, memory_limit)
        graph = self.built.graph
        self.perfect = perfect_sizes(graph)
        check_rows(np.zeros(len(graph), dtype=np.int32), self.perfect, max_size, memory_limit)
        start = row_starts(np.minimum(self.perfect, max_size) + 1)
        errors = np.full(start[-1], np.inf)
        rate = self.built.positive_rate
        errors[start[:-1]] = np.minimum(rate, 1 - rate)
        literals = int(graph.literals.max())
        self.program = Program.of_floats(family.biases, literals, start, errors)
        rows = KeptRows(partial, graph.order, start, errors)
        kept = time.monotonic()
        for batch in batches(graph, start, rows.done):
            fill_batch(graph, self.program, batch)
            if batch.stop == len(graph) or time.monotonic() - kept >= SECONDS:
                rows.keep(batch.stop)
                kept = time.monotonic()
            layer = int(graph.literals[graph.order[batch.stop - 1]])
            solved = f"{batch.stop:,}/{len(graph):,} formulas, layer {layer}"
            progress(Progress("optimal errors", batch.share, solved))
        self.growth = FamilyGrowth(family, self.built, self.program, max_size)
        self._best: dict[str | int, BestSplits] = {}

    def compare(self, number: int, rule: Grower) -> np.ndarray:
        """MIC, largest excess error and its size of one rule on all members."""
        key = rule.criterion if isinstance(rule.criterion, str) else id(rule.criterion)
        if key not in self._best:
            self._best[key] = best_splits(self.built, self.program, rule.criterion)
        best = self._best[key]
        total = len(self.family)
        found = []
        block = max(1, BLOCK * 100 // max(100, self.max_size))
        for begin in range(1, total + 1, block):
            members = range(begin, min(begin + block, total + 1))
            name = f"rule-{number}-{members.start}-{members.stop}"
            found.append(
                self.partial.block(name, lambda some=members: self.growth.compare(rule, best, some))
            )
            done = members.stop - 1
            grown = f"{done:,}/{total:,} formulas"
            self.progress(Progress(f"{rule.name}, ties {rule.ties}", done / total, grown))
        return np.concatenate(found).reshape(total, 3)

    def frame(self, rules: Sequence[Grower], compared: Sequence[np.ndarray]) -> pl.DataFrame:
        """All rules' results under each other, each beside the formulas they are about.

        Every column is made whole: most operations of polars, also joining frames, need its
        threads, which a forked process lacks.
        """
        total = len(self.family)
        table = np.concatenate(compared)
        formula = np.tile(np.arange(total), len(rules))
        rule = np.repeat(np.arange(len(rules)), total)
        return pl.DataFrame(
            {
                "formula": formula_names(self.family, self.built.terms).gather(formula),
                "terms": self.built.terms[1:][formula],
                "literals": self.built.graph.literals[1:][formula],
                "rule": pl.Series([each.name for each in rules]).gather(rule),
                "criterion": pl.Series([name_of(each.criterion) for each in rules]).gather(rule),
                "ties": pl.Series([each.ties for each in rules]).gather(rule),
                "mic": table[:, 0],
                "largest_excess": table[:, 1],
                "largest_excess_size": table[:, 2].astype(np.int32),
                "perfect_size": self.perfect[1:][formula],
            }
        )


def formula_names(family: Family, terms: np.ndarray) -> pl.Series:
    """All members as texts such as ``3+3+5``, or ``2*0.3,1*0.7 + 1*0.3`` with several biases."""
    names = family.term_names()
    separator = "+" if len(family.biases) == 1 else " + "
    first = np.cumsum(terms, dtype=np.int64)[:-1]  # of each member but the constant
    smallest = member_terms(family, terms)[first]
    # the last earlier member with one term less has all its terms but the smallest: decision 0013
    latest = [""] * (int(terms.max()) + 1)  # by number of terms
    texts = []
    for count, term in zip(terms[1:].tolist(), smallest.tolist(), strict=True):
        latest[count] = names[term] if count == 1 else names[term] + separator + latest[count - 1]
        texts.append(latest[count])
    return pl.Series(texts)


def _read_rules(rules: Sequence[Grower | str]) -> list[Grower]:
    if isinstance(rules, Grower | str) or not len(rules):
        raise ValueError(f"rules must be a list of at least one grower or name; got {rules!r}")
    growers = [as_rule(rule) for rule in rules]
    for rule in growers:
        if not isinstance(rule, Grower):
            raise TypeError(f"a rule must be a grower or a name; got {type(rule).__name__}")
        if type(rule).grow is not Grower.grow:
            raise ValueError(
                f"a sweep grows by a rule's priority and criterion; {rule!r} has a grow of its "
                "own: call it on each problem of the family instead"
            )
    return growers


def _check_out(out: str | Path) -> Path:
    path = Path(out).absolute()
    if path.suffix.lower() != ".parquet":
        raise ValueError(f"out must end in .parquet; got {str(out)!r}")
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"out must name a file in an existing folder; got {str(out)!r}")
    return path


def _details(family: Family, rules: Sequence[Grower]) -> dict[str, Any]:
    """What a sweep's numbers depend on and its provenance does not tell."""
    return {
        "code": code_version(),
        "libraries": library_versions(),
        # a family's name shows 12 digits of its biases
        "family": hashlib.sha256(repr(astuple(family)).encode()).hexdigest(),
        # a sweep by a user's rule is never continued: what it computes may have changed
        "rules": [built_in_name(rule) or secrets.token_hex() for rule in rules],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
