"""MIC over a whole family: one row per member and rule."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mictree import __version__
from mictree._support.checkpoints import resumable
from mictree._support.checks import check_size
from mictree._support.parallel import spread
from mictree._support.parquet import as_parquet
from mictree._support.progress import Report, ignore
from mictree._support.versions import code_version, library_versions
from mictree._support.words import show_number
from mictree.excess import MicResult, against
from mictree.families.blocks import Blocks, key_of
from mictree.families.family import Family
from mictree.families.formula_sweep import SolvedFormulas
from mictree.families.functions import FunctionFamily
from mictree.families.solved import check_max_size, excess_columns, repeated, solve
from mictree.families.table_sweep import SolvedTables, check_symmetric
from mictree.families.top_sweep import tops
from mictree.growers.functions import built_in_name
from mictree.growers.rules import BestFirst, Grower, Growth, TopDown, as_rule
from mictree.impurity import name_of
from mictree.optimal import DEFAULT_MEMORY_LIMIT, OptimalTrees, optimal_trees
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

    def draw(self, size: int | None = None) -> "Figure":
        """Draw the grown and the optimal tree side by side, by default where they differ most."""
        from mictree.plotting.pair import draw_pair

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


def plot(frame: pl.DataFrame, ax: "Axes | None" = None) -> "Axes":
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
    from mictree.plotting.greedy_sizes import draw_greedy_sizes

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
