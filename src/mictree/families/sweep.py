"""MIC over a whole family: one row per member and rule, or per member and top.

``sweep`` solves all members at once, grows every rule on each of them and compares. A family of
formulas shares one graph of restrictions (``SolvedFormulas``); a family of functions is solved
table by table (``SolvedTables``). Both have the same methods: columns that say what a member is,
sizes, and comparisons with a rule or with the best trees of the best splits.

Members are computed in blocks, each kept on disk as soon as it is done. So an interrupted sweep
continues where it was, and its frame is the same as without the interruption.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from mictree import __version__
from mictree._support.checks import TooLarge, check_size
from mictree._support.files import (
    KeptRows,
    Partial,
    as_parquet,
    code_version,
    library_versions,
    resumable,
    scratch_floats,
)
from mictree._support.jit import run
from mictree._support.parallel import spread
from mictree._support.progress import Progress, Report, ignore
from mictree._support.words import show_number
from mictree.excess import MicResult, against
from mictree.families.family import Family
from mictree.families.function_classes import FunctionFamily
from mictree.families.graph import build, member_terms
from mictree.families.growth import (
    BestSplits,
    FamilyGrowth,
    Rule,
    allowed_graph,
    best_splits,
    compare_errors,
    greedy_sizes,
)
from mictree.families.table_growth import (
    BestOnly,
    CriterionGains,
    Subcubes,
    compare_tables,
    fill_optimal,
    sizes_of,
)
from mictree.growers.choosing import RuleFunctions, built_in_name
from mictree.growers.rules import BestFirst, Grower, Growth, TopDown, as_rule, depth_of
from mictree.impurity import Criterion, check_criterion, name_of
from mictree.impurity.criteria import own_impurity
from mictree.impurity.gains import NOISE
from mictree.optimal import DEFAULT_MEMORY_LIMIT, OptimalTrees, optimal_trees
from mictree.optimal.lattice import Graph
from mictree.optimal.program import Batch, Program, batches, fill_batch, perfect_sizes, row_starts
from mictree.optimal.solve import Top, check_rows, check_top
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# members between two checkpoints, reports of progress or chances to be interrupted; fewer when they
# grow to more than 100 splits
BLOCK = 1 << 16
SECONDS = 2.0  # between two checkpoints of optimal errors
STEPS = 100  # inner steps that a subcube costs, see run
SIZE_NAMES = ("perfect_size", "greedy_size_best", "greedy_size_worst")
# in the metadata of a sweep over functions
OF_MEMBERS = (
    "mic, largest_excess and largest_excess_size are those of the member itself, because rules for "
    "ties look at the order of variables; " + ", ".join(SIZE_NAMES) + " are those of all functions "
    "that it stands for"
)
DEFAULT_RULES = (TopDown(), BestFirst())


def sweep(
    family: Family | FunctionFamily,
    max_size: int = 100,
    rules: Sequence[Grower | str] = DEFAULT_RULES,
    out: str | Path | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
    scratch: str | Path | None = None,
) -> pl.DataFrame:
    """Compare rules with optimal trees on every member of a family.

    Parameters
    ----------
    family : from ``mictree.families``
    max_size : t*, at least 1
    rules : growers, or names of rules; by default TopDown and BestFirst. Priorities and criteria of
        one's own are called back in Python, see ``docs/own-rules.md``.
    out : a Parquet file to write. An interrupted sweep leaves ``<out>.partial`` beside it, and the
        same call continues from there. Only one process may write it at a time.
    memory_limit : in bytes; a family that needs more is refused with a ValueError
    progress : called now and then with a value that has ``what``, ``share`` and ``detail``; see
        ``optimal_trees``
    scratch : a folder on a disk with room for the rows of least errors of a family of formulas,
        which then do not count towards ``memory_limit``. They are filled layer by layer in a file
        that is mapped into memory and vanishes at the end. A disk that is too small is refused
        before any error is computed.

    Returns
    -------
    A polars frame: ``member``, for ``family.problem(member)``; ``formula``, ``terms`` and
    ``literals``, or ``function``, the truth table; ``count``, how many functions the member stands
    for; ``rule``, ``criterion``, ``ties``; ``mic``, ``largest_excess``, ``largest_excess_size``;
    ``perfect_size``, the size of the smallest tree without error; ``greedy_size_best`` and
    ``greedy_size_worst``, that of a greedy tree grown until it makes no error, under the best and
    the worst choice among tied splits, missing from 2**53 on.

    Notes
    -----
    A member of ``functions``, ``monotone`` or ``threshold`` stands for several functions. The three
    sizes are the same for all of them. The other numbers are those of the member itself, because
    rules for ties look at the order of variables.

    Examples
    --------
    >>> import mictree as mt
    >>> frame = mt.sweep(mt.families.grid(max_terms=3, max_literals=3), max_size=20)
    >>> frame.columns[:4], frame.height
    (['member', 'formula', 'terms', 'literals'], 38)
    >>> frame = mt.sweep(mt.families.functions(3), max_size=7, rules=["topdown"])
    >>> frame["function", "count", "perfect_size", "greedy_size_worst"].row(13)
    ('0x69', 2, 7, 7)
    """
    check_family(family)
    limit = check_max_size(max_size)
    growers = _read_rules(rules)
    provenance = {
        "version": __version__,
        "family": family.name,
        "max_size": limit,
        "rules": [repr(rule) for rule in growers],
    }
    if isinstance(family, FunctionFamily):
        provenance["symmetry"] = OF_MEMBERS
        for rule in growers:
            check_symmetric(family, rule.criterion)
    path = None if out is None else _check_out(out)
    state = {"seeds": [rule.with_seed().seed for rule in growers], "time": _now()}
    with resumable(path, [provenance, _details(family, growers)], state) as partial:
        seeds = partial.state["seeds"]
        seeded = [rule.with_seed(seed) for rule, seed in zip(growers, seeds, strict=True)]
        blocks = Blocks(family.members, limit, partial, progress or ignore)
        solved = solve(family, blocks, memory_limit, None if scratch is None else Path(scratch))
        frame = _compare(family, seeded, solved)
        if path is not None:
            metadata = {f"mictree.{k}": str(v) for k, v in (provenance | partial.state).items()}
            partial.finish(path, as_parquet(frame, metadata))
    return frame


def _compare(
    family: Family | FunctionFamily,
    rules: Sequence[Grower],
    solved: SolvedFormulas | SolvedTables,
) -> pl.DataFrame:
    """All rules' results under each other, each beside the members they are about.

    Every column is made whole: most operations of polars, also joining frames, need its threads,
    which a forked process lacks.
    """
    sizes: dict[tuple[str | int, int], np.ndarray] = {}
    for number, each in enumerate(rules):
        key = key_of(each)
        sizes[key] = solved.sizes(number, each) if key not in sizes else sizes[key]
    table = np.concatenate([solved.compare(number, each) for number, each in enumerate(rules)])
    rule = np.repeat(np.arange(len(rules)), len(family))
    texts = {
        "rule": [each.label for each in rules],
        "criterion": [name_of(each.criterion) for each in rules],
        "ties": [each.ties for each in rules],
    }
    sized = np.concatenate([sizes[key_of(each)] for each in rules])
    return pl.DataFrame(
        {
            **repeated(solved.columns(), len(rules)),
            **{name: pl.Series(each).gather(rule) for name, each in texts.items()},
            **excess_columns(table),
            **{name: _integers(sized[:, place]) for place, name in enumerate(SIZE_NAMES)},
        }
    )


def _integers(values: np.ndarray) -> pl.Series:
    """Numbers, missing where they are negative."""
    if values.min(initial=0) >= 0:
        return pl.Series(values)
    return pl.Series([None if value < 0 else value for value in values.tolist()], dtype=pl.Int64)


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


def _details(family: Family | FunctionFamily, rules: Sequence[Grower]) -> dict[str, Any]:
    """What a sweep's numbers depend on and its provenance does not tell."""
    return {
        "code": code_version(),
        "libraries": library_versions(),
        "family": family.key,
        # a sweep by a user's rule is never continued: what it computes may have changed
        "rules": [built_in_name(rule) or secrets.token_hex() for rule in rules],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def tops(
    family: Family | FunctionFamily,
    max_size: int = 100,
    tops: Sequence[int] = (1, 2, 3),
    criterion: Criterion = "entropy",
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
) -> pl.DataFrame:
    """``mic_over_tops`` for every member of a family: the best trees of the best splits.

    Parameters
    ----------
    family, max_size, memory_limit, progress : as of ``sweep``
    tops : each node may test only so many splits of largest gain, and those that tie with them; see
        ``optimal_trees``
    criterion : of those gains

    Returns
    -------
    A polars frame with the columns of ``sweep`` that say what a member is; ``top`` and
    ``criterion``; ``mic``, ``largest_excess`` and ``largest_excess_size`` over the best trees of
    all. As ties are all allowed, a member's numbers are those of all functions that it stands for.

    Examples
    --------
    >>> import mictree as mt
    >>> frame = mt.sweep.tops(mt.families.functions(4), max_size=15, tops=(1, 2, 3, 4))
    >>> [round(frame.filter(top=top)["mic"].max(), 4) for top in (1, 2, 3, 4)]
    [0.0458, 0.0333, 0.0125, 0.0]
    """
    check_family(family)
    limit, wanted = check_max_size(max_size), [check_top(each) for each in tops]
    if not wanted:
        raise ValueError("tops must have at least one number; it has none")
    check_criterion(criterion)
    if isinstance(family, FunctionFamily):
        check_symmetric(family, criterion)
    nothing_kept = Partial(None, None, {})
    blocks = Blocks(family.members, limit, nothing_kept, progress or ignore)
    solved = solve(family, blocks, memory_limit, None)
    table = np.concatenate([solved.compare_top(Top(each, criterion)) for each in wanted])
    return pl.DataFrame(
        {
            **repeated(solved.columns(), len(wanted)),
            "top": np.repeat(wanted, len(family)),
            "criterion": [name_of(criterion)] * len(table),
            **excess_columns(table),
        }
    )


def summarize(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per rule, criterion and ties: how its MIC is spread over the members."""
    mic = pl.col("mic")
    quantiles = {"median": 0.5, "q90": 0.9, "q99": 0.99}
    return frame.group_by("rule", "criterion", "ties", maintain_order=True).agg(
        pl.len().alias("members"),
        mic.mean().alias("mean"),
        mic.max().alias("max"),
        *(mic.quantile(level, "nearest").alias(name) for name, level in quantiles.items()),
        (mic < 0.001).mean().alias("below_0.001"),
        (mic < 0.01).mean().alias("below_0.01"),
        (mic > 0.05).mean().alias("above_0.05"),
    )


@dataclass(frozen=True, repr=False)
class WorstCase:
    """A member on which a rule is far from optimal."""

    member: int
    name: str  # the formula or the function, as in the frame
    problem: FormulaProblem | TableProblem
    result: MicResult
    growth: Growth
    optimal: OptimalTrees

    def __repr__(self) -> str:
        mic = f"MIC({self.result.max_size}) = {show_number(self.result.mic)}"
        return f"<WorstCase {self.name}: {mic} by {self.result.rule}>"

    def draw(self, size: int | None = None) -> Figure:
        """Draw the grown and the optimal tree side by side, by default where they differ most."""
        from mictree.plotting.families import draw_pair

        shown = self.result.worst_size if size is None else size
        titles = [
            f"{type(self.growth.rule).__name__}, ties {self.growth.rule.ties}: "
            f"error {show_number(self.result.greedy_errors[shown], 4)}",
            f"optimal: error {show_number(self.result.optimal_errors[shown], 4)}",
        ]
        trees = [self.growth.tree(shown), self.optimal.tree(shown)]
        target = getattr(self.problem, "formula", f"member {self.member}, {self.name}")
        heading = f"{target}: size {shown}, MIC {show_number(self.result.mic, 4)}"
        return draw_pair(trees, titles, heading, self.problem)


def worst(
    family: Family | FunctionFamily,
    rule: Grower | str,
    max_size: int = 100,
    count: int = 5,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> list[WorstCase]:
    """The members of a family on which a rule has the largest MIC, worst first.

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
    order = frame["mic"].arg_sort(descending=True)[: check_size(count, "count")]
    cases = []
    for place in order:
        member, name = frame.row(place)[:2]
        problem = family.problem(member)
        solved = optimal_trees(problem, max_size, memory_limit=memory_limit)
        growth = rule.grow(problem, max_size)
        result = against(rule, problem, solved.errors)
        cases.append(WorstCase(member, name, problem, result, growth, solved))
    return cases


def many(
    families: Sequence[Family | FunctionFamily],
    max_size: int = 100,
    rules: Sequence[Grower | str] = DEFAULT_RULES,
    *,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    n_jobs: int | None = None,
) -> list[pl.DataFrame]:
    """The frames of sweeps over several families, such as one formula grid under many biases.

    Parameters
    ----------
    families : in the order of the result
    max_size, rules, memory_limit : as of ``sweep``; rules with random ties must have a seed
    n_jobs : number of sweeps at once, by joblib, whose ``parallel_config`` also chooses the
        backend; None for one, -1 for one on each core

    Examples
    --------
    >>> import mictree as mt
    >>> grids = [mt.families.grid(3, 3, biases=(bias,)) for bias in (0.3, 0.5)]
    >>> [frame.height for frame in mt.sweep.many(grids, max_size=10, n_jobs=1)]
    [38, 38]
    """
    growers = _read_rules(rules)
    for rule in growers:
        if rule.ties == "random" and rule.seed is None:
            raise ValueError(f"rules with random ties must have a seed; {rule!r} has none")
    calls = [(family, max_size, growers, memory_limit) for family in families]
    return list(spread(_one_sweep, calls, n_jobs))


def _one_sweep(
    family: Family | FunctionFamily, max_size: int, rules: Sequence[Grower], memory_limit: int
) -> pl.DataFrame:
    return sweep(family, max_size, rules, memory_limit=memory_limit)


def plot(frame: pl.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the greedy sizes of a sweep against the least sizes, one disc for each pair of sizes.

    Parameters
    ----------
    frame : from ``sweep``, of one rule; ``frame.filter(rule="topdown")`` chooses it
    ax : where to draw; None makes a new figure

    Examples
    --------
    >>> import mictree as mt
    >>> frame = mt.sweep(mt.families.functions(3), max_size=7, rules=["topdown"])
    >>> mt.sweep.plot(frame).get_xlabel()
    'splits of the smallest tree without error'
    """
    from mictree.plotting.families import draw_greedy_sizes

    wanted = ("rule", "criterion", "ties", "count", *SIZE_NAMES)
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise ValueError(f"a frame of sweep has the column {missing[0]}; this one has not")
    names = ("rule", "criterion", "ties")
    rules = {*zip(*(frame[name].to_list() for name in names), strict=True)}
    if len(rules) != 1:
        raise ValueError(
            f"one rule is drawn at a time; the frame has {len(rules)}: choose one, such as "
            f"frame.filter(rule={frame['rule'][0]!r})"
        )
    return draw_greedy_sizes(ax, frame)


sweep.many = many  # type: ignore[attr-defined]  # users type mt.sweep.many(families)
sweep.tops = tops  # type: ignore[attr-defined]  # users type mt.sweep.tops(family)
sweep.worst = worst  # type: ignore[attr-defined]  # users type mt.sweep.worst(family, rule)
sweep.plot = plot  # type: ignore[attr-defined]


def solve(
    family: Family | FunctionFamily, blocks: Blocks, memory_limit: int, scratch: Path | None
) -> SolvedFormulas | SolvedTables:
    """The optimal errors of all members."""
    if isinstance(family, Family):
        return SolvedFormulas(family, blocks, memory_limit, scratch)
    if scratch is not None:
        raise ValueError(f"scratch is for families of formulas; got {family.name}")
    return SolvedTables(family, blocks, memory_limit)


class SolvedFormulas:
    """A family with the optimal errors of all its members."""

    def __init__(
        self, family: Family, blocks: Blocks, memory_limit: int, scratch: Path | None = None
    ) -> None:
        self._family, self._blocks, self._memory_limit = family, blocks, memory_limit
        self._built = build(family, memory_limit)
        graph = self._built.graph
        self._perfect = perfect_sizes(graph)
        self._program = self._unsolved(graph, self._perfect, scratch)
        rows = KeptRows(blocks.partial, graph.order, self._program.start, self._program.errors)
        kept = time.monotonic()
        for batch in self._solve(graph, self._program, "optimal errors", rows.done):
            if batch.stop == len(graph) or time.monotonic() - kept >= SECONDS:
                rows.keep(batch.stop)
                kept = time.monotonic()
        held = self._built.memory + (0 if scratch else self._program.errors.nbytes)
        self._growth = FamilyGrowth(
            family, self._built, self._program, blocks.max_size, memory_limit - held
        )
        self._best: dict[tuple[str | int, int], BestSplits] = {}

    def columns(self) -> dict[str, Any]:
        """What each member is."""
        count = len(self._family)
        return {
            "member": np.arange(1, count + 1),
            "formula": formula_names(self._family, self._built.terms),
            "terms": self._built.terms[1:],
            "literals": self._built.graph.literals[1:],
            "count": np.ones(count, dtype=np.int64),
        }

    def sizes(self, number: int, rule: Grower) -> np.ndarray:
        """The perfect size, and the best and the worst of greedy trees; a row for each member.

        ``number`` is that of the first rule with this criterion and depth.
        """
        greedy = greedy_sizes(self._built.graph, self._best_splits(rule), self._memory_limit)
        return np.stack([self._perfect, *greedy], axis=1)[1:]

    def compare(self, number: int, rule: Grower) -> np.ndarray:
        """MIC, largest excess error and its size of one rule; a row for each member."""
        best = self._best_splits(rule)
        return self._blocks.table(
            f"rule-{number}",
            f"{rule.label}, ties {rule.ties}",
            3,
            lambda some: self._growth.compare(rule, best, some),
        )

    def compare_top(self, top: Top) -> np.ndarray:
        """The same numbers of the best trees that test only splits of largest gain."""
        graph = allowed_graph(self._built, self._growth.arrays, top)
        program = self._unsolved(graph, perfect_sizes(graph), None)
        for _ in self._solve(graph, program, f"top {top.number}, {name_of(top.criterion)}"):
            pass
        rows, optimal = (program.start, program.errors), (self._program.start, self._program.errors)
        return compare_errors(self._blocks.max_size, rows, optimal)[1:]

    def _unsolved(self, graph: Graph, perfect: np.ndarray, scratch: Path | None) -> Program:
        """Rows for all sizes, with the errors of lone leaves."""
        max_size = self._blocks.max_size
        if scratch is None:
            nowhere = np.zeros(len(graph), dtype=np.int32)
            check_rows(nowhere, perfect, max_size, self._memory_limit)
        start = row_starts(np.minimum(perfect, max_size) + 1)
        if scratch is None:
            errors = np.empty(start[-1])
        else:
            errors = scratch_floats(scratch, int(start[-1]), "rows of least errors")
        errors.fill(np.inf)
        rate = self._built.positive_rate
        errors[start[:-1]] = np.minimum(rate, 1 - rate)
        literals = int(graph.literals.max())
        return Program.of_floats(self._family.biases, literals, start, errors)

    def _solve(self, graph: Graph, program: Program, what: str, done: int = 0) -> Iterator[Batch]:
        """Fill the rows, batch by batch."""
        for batch in batches(graph, program.start, done):
            fill_batch(graph, program, batch)
            yield batch
            layer = int(graph.literals[graph.order[batch.stop - 1]])
            solved = f"{batch.stop:,}/{len(graph):,} formulas, layer {layer}"
            self._blocks.progress(Progress(what, batch.share, solved))

    def _best_splits(self, rule: Grower) -> BestSplits:
        key = key_of(rule)
        if key not in self._best:
            self._best[key] = best_splits(
                self._built, self._program, rule.criterion, depth_of(rule)
            )
        return self._best[key]


def formula_names(family: Family, terms: np.ndarray) -> pl.Series:
    """All members as texts such as ``3+3+5``, or ``2*0.3,1*0.7 + 1*0.3`` with other biases."""
    names = family.term_names()
    separator = " + " if "*" in names[-1] else "+"
    first = np.cumsum(terms, dtype=np.int64)[:-1]  # of each member but the constant
    smallest = member_terms(family, terms)[first]
    alone = np.array(names, dtype=object)
    texts = np.empty(len(terms) - 1, dtype=object)
    shorter = np.flatnonzero(terms[1:] == 1)
    texts[shorter] = alone[smallest[shorter]]
    for count in range(2, int(terms.max()) + 1):
        these = np.flatnonzero(terms[1:] == count)
        # the last earlier member with one term less has all but the smallest term: decision 0013
        rest = shorter[np.searchsorted(shorter, these) - 1]
        texts[these] = (alone + separator)[smallest[these]] + texts[rest]
        shorter = these
    return pl.Series(texts.tolist())


class SolvedTables:
    """A family with the optimal errors of all its members."""

    def __init__(self, family: FunctionFamily, blocks: Blocks, memory_limit: int) -> None:
        self._family, self._blocks = family, blocks
        self._cubes = Subcubes.of(family.variables, family.bias)
        self._work = STEPS * len(self._cubes.free)
        width = min(blocks.max_size, 2**family.variables - 1) + 1
        needed = 8 * len(family) * width
        if needed > memory_limit:
            raise TooLarge.states(len(family), memory_limit, "a smaller family", needed)
        self._optimal = blocks.table(
            "optimal", "optimal errors", width, lambda some: self._solve(some, width, None)
        )
        self._gains: dict[tuple[str | int, int], CriterionGains] = {}

    def columns(self) -> dict[str, Any]:
        """What each member is."""
        family = self._family
        return {
            "member": np.arange(len(family)),
            "function": pl.Series(family.texts()),
            "count": family.counts,
        }

    def sizes(self, number: int, rule: Grower) -> np.ndarray:
        """The perfect size, and the best and the worst of greedy trees; a row for each member.

        ``number`` is that of the first rule with this criterion and depth.
        """
        gains = self._criterion_gains(rule)

        def compute(some: range) -> np.ndarray:
            tables = self._family.tables[some.start : some.stop]
            return np.stack(sizes_of(tables, self._cubes, gains), axis=1).astype(float)

        ahead = f", depth {depth_of(rule)}" if depth_of(rule) > 1 else ""
        name = f"greedy sizes, {name_of(rule.criterion)}{ahead}"
        return self._blocks.table(f"sizes-{number}", name, 3, compute).astype(np.int64)

    def compare(self, number: int, rule: Grower) -> np.ndarray:
        """MIC, largest excess error and its size of one rule; a row for each member."""
        gains, functions = self._criterion_gains(rule), RuleFunctions(rule)
        kernel_rule = Rule.of(rule, functions)

        def compute(some: range) -> np.ndarray:
            out, here = np.empty((len(some), 3)), slice(some.start, some.stop)
            run(
                compare_tables, len(some), self._work * len(some),
                self._blocks.max_size, kernel_rule, self._family.tables[here], self._cubes,
                gains.arrays, self._optimal[here], out,
            )  # fmt: skip
            functions.settle()
            gains.settle()
            return out

        name = f"{rule.label}, ties {rule.ties}"
        return self._blocks.table(f"rule-{number}", name, 3, compute)

    def compare_top(self, top: Top) -> np.ndarray:
        """The same numbers of the best trees that test only splits of largest gain."""
        gains = CriterionGains(top.criterion, self._cubes)
        width = self._optimal.shape[1]

        def compute(some: range) -> np.ndarray:
            rows = self._solve(some, width, BestOnly(gains.arrays, top.number))
            gains.settle()
            optimal = self._optimal[some.start : some.stop]
            start = np.arange(len(some) + 1) * width
            return compare_errors(
                self._blocks.max_size, (start, rows.ravel()), (start, optimal.ravel())
            )

        name = f"top {top.number}, {name_of(top.criterion)}"
        return self._blocks.table(f"top-{top.number}", name, 3, compute)

    def _criterion_gains(self, rule: Grower) -> CriterionGains:
        key = key_of(rule)
        if key not in self._gains:
            self._gains[key] = CriterionGains(rule.criterion, self._cubes, depth_of(rule))
        return self._gains[key]

    def _solve(self, some: range, width: int, best_only: BestOnly | None) -> np.ndarray:
        """Least errors by size."""
        out = np.empty((len(some), width))
        tables = self._family.tables[some.start : some.stop]
        run(fill_optimal, len(some), self._work * len(some), tables, self._cubes, best_only, out)
        return out


def check_symmetric(family: FunctionFamily, criterion: Criterion) -> None:
    """Refuse a criterion that treats the labels differently where a member stands for negations.

    All positive rates that a restriction of a function can have are tried.
    """
    if isinstance(criterion, str) or not family.negates_output:
        return
    rates = {Fraction(0)}
    for ones in range(family.variables + 1):  # inputs with so many ones, none to all of label 1
        chance = family.bias**ones * (1 - family.bias) ** (family.variables - ones)
        inputs = comb(family.variables, ones)
        rates = {rate + chance * some for rate in rates for some in range(inputs + 1)}
    for rate in sorted(rates):
        one, other = (own_impurity(criterion, float(each)) for each in (rate, 1 - rate))
        if abs(one - other) > NOISE * max(one, other):
            raise ValueError(
                f"a member of {family.name} also stands for negated functions, so a criterion must "
                f"treat both labels alike; {name_of(criterion)} gives {one} at the positive rate "
                f"{float(rate)} and {other} at {float(1 - rate)}"
            )


class Blocks(NamedTuple):
    """What every stage of a sweep needs."""

    members: range
    max_size: int
    partial: Partial
    progress: Report

    def table(
        self, key: str, name: str, width: int, compute: Callable[[range], np.ndarray]
    ) -> np.typing.NDArray[np.float64]:
        """A row of numbers for each member, computed or read in blocks.

        ``key`` names the blocks on disk, ``name`` the stage.
        """
        begin, end = self.members.start, self.members.stop
        found = []
        step = max(1, BLOCK * 100 // max(100, self.max_size))
        for start in range(begin, end, step):
            some = range(start, min(start + step, end))
            found.append(
                self.partial.block(
                    f"{key}-{some.start}-{some.stop}", lambda some=some: compute(some)
                )
            )
            done = some.stop - begin
            total = end - begin
            self.progress(Progress(name, done / total, f"{done:,}/{total:,} members"))
        return np.concatenate(found).reshape(end - begin, width)


def key_of(rule: Grower) -> tuple[str | int, int]:
    """What the gains of splits depend on, within one sweep: the criterion and the depth."""
    criterion = rule.criterion if isinstance(rule.criterion, str) else id(rule.criterion)
    return criterion, depth_of(rule)


def repeated(columns: dict[str, Any], times: int) -> dict[str, Any]:
    """Columns about members, again and again."""
    member = np.tile(np.arange(len(columns["member"])), times)
    return {
        name: column.gather(member) if isinstance(column, pl.Series) else column[member]
        for name, column in columns.items()
    }


def excess_columns(table: np.ndarray) -> dict[str, np.ndarray]:
    """MIC, the largest excess error and its size by name."""
    return {
        "mic": table[:, 0],
        "largest_excess": table[:, 1],
        "largest_excess_size": table[:, 2].astype(np.int32),
    }


def check_family(family: Any) -> None:
    """Refuse a single problem, whatever its loss."""
    if hasattr(family, "root"):
        raise ValueError(
            "a sweep goes through a family from mictree.families, by the errors of labels; "
            f"got {family!r}: see mic"
        )


def check_max_size(max_size: int) -> int:
    """t*, the number of sizes that a mean is over."""
    limit = check_size(max_size)
    if limit < 1:
        raise ValueError(f"max_size must be at least 1, as MIC is a mean over sizes; got {limit}")
    return limit
