"""All good trees of every size: how many there are, what they share, one of them at random.

A tree is good if its error is at most that of the best tree of its size, and a little more. What
counts as a tree is decision 13: it has exactly ``size`` splits, each of which divides the inputs
that reach it; pure leaves are not split; leaves have their majority label, and a tie is one label.

``good_trees`` solves a problem for its least errors, then counts (``good_counting``). The result
counts again, without some variables, to say which of them every good tree needs, and draws trees
from what was remembered.

Invariant: a count is exact unless ``ended`` says otherwise; then it is a lower bound.
"""

from __future__ import annotations

import copy
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.checks import as_fraction, check_count, check_seconds, check_size
from mictree._support.progress import Report, ignore
from mictree._support.words import count_of, show_number, to_table
from mictree.growers.rules import as_rule
from mictree.optimal.certified import CertifiedErrors
from mictree.optimal.good_counting import (
    NOTHING,
    Barred,
    Counting,
    FormulaSpace,
    Space,
    Spectrum,
    Stopped,
    TableSpace,
    Watch,
)
from mictree.optimal.solve import (
    DEFAULT_MEMORY_LIMIT,
    OptimalTrees,
    optimal_trees,
)
from mictree.problems.base import Problem, check_problem
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem
from mictree.tree import Tree

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.growers.rules import Grower
    from mictree.optimal.good_chance import Chance
    from mictree.optimal.good_pairs import Searched


LEAST = 2.0**-53  # share of trees, 1 minus which is not 1
SAMPLED = 200  # trees of which the most different ones are drawn


@dataclass(frozen=True)
class Limits:
    """What may be spent, and on which sizes."""

    max_size: int
    most: int | None  # trees of a size
    memory: int
    seconds: float | None
    progress: Report | None


def good_trees(
    problem: Problem,
    max_size: int,
    within: float | Fraction = 0.0,
    *,
    max_count: int | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    time_limit: float | None = None,
    progress: Report | None = None,
) -> GoodTrees:
    """All trees of every size whose error is close to the least: their number, and what they share.

    Parameters
    ----------
    problem : FormulaProblem, TableProblem or SampleProblem
    max_size : the largest number of splits
    within : how much more than the least error of trees with at most as many splits, as a share of
        the inputs or of the weight of the rows; floats are read as written. 0 for the best alone
    max_count : stop counting a size once more trees than this are found
    memory_limit : in bytes, for what is remembered while counting, and for searches on data
    time_limit : in seconds, for counting; on data as many again for the least errors. A size that
        is not counted to its end has a lower bound of the count, as after Ctrl-C
    progress : called now and then with a ``Progress``

    Examples
    --------
    >>> import mictree as mt
    >>> good = mt.good_trees(mt.FormulaProblem("x1 & x2 | y1 & y2 & y3"), max_size=5)
    >>> good.counts
    (1, 2, 2, 14, 72, 12)
    >>> print(good.sample(2, 1, seed=0)[0].to_text())
    x1?
    ├─0─ label 0
    └─1─ x2?
         ├─0─ label 0
         └─1─ label 1
    """
    limits = Limits(
        check_size(max_size),
        None if max_count is None else check_count(max_count, "max_count"),
        check_count(memory_limit, "memory_limit"),
        None if time_limit is None else check_seconds(time_limit, "time_limit"),
        progress,
    )
    spare = _read_within(within)
    space = _make_space(check_problem(problem), limits.memory)  # refused before any work
    optimal = _solve(problem, limits)
    maker = _Maker.of(space, limits)
    # no tree is worse than a lone leaf; larger limits might not fit into 64 bits
    most = tuple(maker.space.floor(min(error + spare, optimal[0])) for error in optimal)
    counting = maker.counting(limits.most)
    spectra, ended = [], []
    with maker.running():
        for size, limit in enumerate(most):
            if ended and ended[-1] == "Ctrl-C":
                counted = {}, "Ctrl-C"
            else:
                counted = counting.count(size, limit)
            spectra.append(counted[0])
            ended.append(counted[1])
    counting.watch.limit()  # from now on
    return GoodTrees(
        problem, spare, tuple(optimal), tuple(spectra), tuple(ended), most, counting, maker
    )


def _read_within(within: Any) -> Fraction:
    """A share of the inputs, as written."""
    try:
        spare = Fraction(-1) if isinstance(within, bool) else as_fraction(within)
    except (ValueError, OverflowError):  # text, nan, infinity
        spare = Fraction(-1)
    if spare < 0:
        raise ValueError(f"within must be a finite number, not negative; got {within!r}")
    return spare


def _make_space(problem: Problem, memory_limit: int) -> Space:
    """The states of a problem."""
    if isinstance(problem, FormulaProblem):
        return FormulaSpace(problem)
    if isinstance(problem, TableProblem):
        return TableSpace(problem)
    from mictree.optimal.good_rows import RowSpace
    from mictree.problems.sample import SampleProblem

    if not isinstance(problem, SampleProblem):
        raise TypeError(
            "good trees are counted for FormulaProblem, TableProblem and SampleProblem; "
            f"got {type(problem).__name__}"
        )
    if problem.literals.grouped:
        raise ValueError(
            'good trees are counted over listed tests; categories="subsets" lists none: use '
            'categories="each"'
        )
    return RowSpace(problem, memory_limit)


def _solve(problem: Problem, limits: Limits) -> list[Fraction]:
    """The least error of every size, which must be proved."""
    known = isinstance(problem, FormulaProblem | TableProblem)
    solved: OptimalTrees = optimal_trees(
        problem, limits.max_size, exact=True, memory_limit=limits.memory, progress=limits.progress,
        time_limit=None if known else limits.seconds,
    )  # fmt: skip
    errors = solved.errors
    if not isinstance(errors, CertifiedErrors):
        return list(errors)
    if getattr(solved, "interrupted", False):
        raise KeyboardInterrupt
    for size in np.flatnonzero(~errors.proved).tolist():
        least, most = (show_number(float(each[size])) for each in (errors.lower, errors.upper))
        if least == most:
            raise ValueError(
                f"the least error of every size must be proved; that of size {size} is {most}, but "
                "for rounding: labels or weights have too many digits. Round them, or ask for at "
                f"most {count_of(size - 1, 'split')}"
            )
        raise ValueError(
            f"the least error of every size must be proved; that of size {size} is from {least} to "
            f"{most}: allow more time, or ask for at most {count_of(size - 1, 'split')}"
        )
    return list(errors)


@dataclass(frozen=True)
class _Maker:
    """Makes countings of a problem, each with its barred variables."""

    space: Space
    limits: Limits
    rows: Searched | None = None  # of data

    @classmethod
    def of(cls, space: Space, limits: Limits) -> _Maker:
        if isinstance(space, FormulaSpace | TableSpace):
            return cls(space, limits)
        from mictree.optimal.good_pairs import Searched

        return cls(space, limits, Searched(space, limits.max_size, limits.memory))  # type: ignore[arg-type]

    def counting(self, most: int | None = None, barred: Barred = NOTHING) -> Counting:
        """Counts trees without the barred variables."""
        limits = self.limits
        watch = Watch(most=most, report=limits.progress or ignore)
        watch.limit(limits.seconds, limits.memory)
        if self.rows is None:
            return Counting(self.space, barred, watch)
        return self.rows.counting(barred, watch)

    def running(self) -> AbstractContextManager[None]:
        """Within it, trees may be counted."""
        return nullcontext() if self.rows is None else self.rows.running()


class Shared(NamedTuple):
    """What good trees of a size share of some variables."""

    share: float | None
    least_with: float | None
    least_without: float


@dataclass(frozen=True, eq=False)
class GoodTrees:
    """The trees of every size whose error is close to the least.

    ``len(good)`` is the number of sizes, 0 among them.

    Attributes
    ----------
    problem, within : as given
    optimal_errors : by size, the least error of a tree with at most as many splits, as Fractions
    counts : by size, the number of good trees with exactly so many splits, which may be 0
    ended : by size, what ended counting early, such as "time_limit"; "" where all trees are counted

    Examples
    --------
    >>> import mictree as mt
    >>> good = mt.good_trees(mt.TableProblem([0, 1, 1, 0]), max_size=3)
    >>> good
    GoodTrees(within=0, counts=(1, 2, 4, 2))
    """

    problem: Problem
    within: Fraction
    optimal_errors: tuple[Fraction, ...]
    _spectra: tuple[Spectrum, ...] = field(repr=False)
    ended: tuple[str, ...]
    _most: tuple[Any, ...] = field(repr=False)
    _counting: Counting = field(repr=False)
    _maker: _Maker = field(repr=False)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many good trees each size has; a lower bound where counting ended early."""
        return tuple(sum(spectrum.values()) for spectrum in self._spectra)

    def __len__(self) -> int:
        return len(self._spectra)

    def __repr__(self) -> str:
        at_least = "" if not any(self.ended) else ", some at least"
        return f"GoodTrees(within={show_number(self.within)}, counts={self.counts}{at_least})"

    def __str__(self) -> str:
        heads, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in (heads, *rows)
        )

    def _repr_html_(self) -> str:
        return to_table(*self.cells())

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The heads and the rows of a table by size.

        Examples
        --------
        >>> import mictree as mt
        >>> mt.good_trees(mt.TableProblem([0, 1, 1, 0]), max_size=3).cells()[1][3]
        ['3', '0', '2', '1']
        """
        rows = []
        for size, (count, least, ended) in enumerate(
            zip(self.counts, self.optimal_errors, self.ended, strict=True)
        ):
            shown = f"{count:,}" if count < 10**15 else f"{count:.4e}".replace("e+", " x 10^")
            rows.append([
                str(size), show_number(float(least)), f"at least {shown}" if ended else shown,
                str(len(self._spectra[size])),
            ])  # fmt: skip
        return ["size", "least error", "good trees", "different errors"], rows

    @cached_property
    def errors(self) -> polars.DataFrame:
        """A polars frame with a row for each size and error: size, error, count.

        Counts above 64 bits are Python integers in a column of objects.
        """
        import polars

        rows = [
            (size, self._error(error), count)
            for size, spectrum in enumerate(self._spectra)
            for error, count in sorted(spectrum.items())
        ]
        most = max((count for *_, count in rows), default=0)
        kind = polars.Int64 if most < 2**63 else polars.Object
        schema = {"size": polars.Int64, "error": polars.Float64, "count": kind}
        return polars.DataFrame(rows, schema=schema, orient="row")

    def _error(self, error: int) -> float:
        return float(Fraction(error) / self._maker.space.unit + self._maker.space.offset)

    def sample(self, size: int, number: int, seed: int | None = None) -> list[Tree]:
        """Good trees of a size, each drawn from all of them with equal chances.

        Examples
        --------
        >>> import mictree as mt
        >>> good = mt.good_trees(mt.FormulaProblem("a & b | c"), max_size=3)
        >>> [tree.tests[0] for tree in good.sample(3, 3, seed=1)]
        [2, 2, 2]
        """
        spectrum = self._whole_spectrum(size)
        wanted = check_count(number, "number")
        draws = random.Random(None if seed is None else check_count(seed, "seed"))
        if not spectrum:
            raise ValueError(f"there is no good tree of {count_of(size, 'split')} to draw")
        errors = sorted(spectrum)
        sums = list(accumulate(spectrum[error] for error in errors))
        counting, space = self._counting, self._maker.space
        trees = []
        made: dict[Any, Tree] = {}
        start = space.start()
        with self._maker.running():
            for _ in range(wanted):
                error = errors[bisect_right(sums, draws.randrange(sums[-1]))]
                nested = counting.draw(start, counting.root, size, error, draws)
                if nested not in made:
                    made[nested] = space.tree(nested)
                trees.append(made[nested])
        return trees

    def trees(self, size: int) -> Iterator[Tree]:
        """All good trees of a size one after another, those of least error first.

        Examples
        --------
        >>> import mictree as mt
        >>> good = mt.good_trees(mt.FormulaProblem("a & b | c"), max_size=1)
        >>> [tree.variables[tree.tests[0]] for tree in good.trees(1)]
        ['c']
        """
        counting, space = self._counting, self._maker.space
        for error in sorted(self._whole_spectrum(size)):
            every = counting.each(space.start(), counting.root, size, error)
            while True:
                with self._maker.running():  # not while the caller works
                    nested = next(every, None)
                if nested is None:
                    break
                yield space.tree(nested)

    def contains(self, tree: Tree) -> bool:
        """Whether a tree is one of the good trees of its size.

        Examples
        --------
        >>> import mictree as mt
        >>> problem = mt.FormulaProblem("a & b | c")
        >>> mt.good_trees(problem, 2).contains(mt.TopDown().grow(problem, 2).tree(2))
        True
        """
        if not isinstance(tree, Tree):
            raise TypeError(f"a mictree.Tree is needed; got {type(tree).__name__}")
        if tree.size >= len(self):
            raise ValueError(f"size must be at most {len(self) - 1}; the tree has {tree.size}")
        space = self._maker.space
        leaves = tree.walk(self.problem, exact=True)
        for node in tree.internal_nodes:
            children = leaves[tree.low[node]], leaves[tree.high[node]]
            if space.is_pure(leaves[node]) or not all(child.reach for child in children):
                return False
        errors = [leaves[leaf].misclassified(tree.labels[leaf]) for leaf in tree.leaves]
        least = [leaves[leaf].error for leaf in tree.leaves]
        total = sum(errors, Fraction(0))
        limit = Fraction(self._most[tree.size]) / space.unit + space.offset
        return errors == least and total <= limit

    @cached_property
    def variables(self) -> polars.DataFrame:
        """What good trees share: a polars frame with a row for each size and variable.

        ``share`` is the part of the good trees that test the variable; null where there are none.
        ``least_without`` is the least error of a tree with at most so many splits that does not
        test it: if that is above the limit, every good tree does. ``least_with`` is the least error
        of one that does; null if there is none. On data a variable is a column.
        """
        import polars

        groups = list(self._maker.space.alike())
        rows = []
        for group, shared in zip(
            groups, self._shared([frozenset(each[:1]) for each in groups]), strict=True
        ):
            for number in group:
                name = self._maker.space.variables[number]
                rows += [(size, number, name, *each) for size, each in enumerate(shared)]
        rows.sort()
        schema = {
            "size": polars.Int64,
            "variable": polars.String,
            **dict.fromkeys(Shared._fields, polars.Float64),
        }
        return polars.DataFrame(
            [(size, *rest) for size, _, *rest in rows], schema=schema, orient="row"
        )

    def pairs(self) -> polars.DataFrame:
        """What good trees share of two variables: a row for each size and pair.

        Columns are size, one, other, and those of ``variables``: ``share`` and ``least_with`` are
        about trees that test both, ``least_without`` about trees that test neither. This takes
        long with many variables.

        Examples
        --------
        >>> import mictree as mt
        >>> mt.good_trees(mt.FormulaProblem("a & b | c"), max_size=2).pairs()["share"].to_list()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5]
        """
        import polars

        names = self._maker.space.variables
        pairs = [(other, one) for one in range(len(names)) for other in range(one)]
        rows = [
            (size, *pair, *each)
            for pair, shared in zip(pairs, self._shared(list(map(frozenset, pairs))), strict=True)
            for size, each in enumerate(shared)
        ]
        rows.sort(key=lambda row: (row[0], row[2], row[1]))
        schema = {
            "size": polars.Int64, "one": polars.String, "other": polars.String,
            **dict.fromkeys(Shared._fields, polars.Float64),
        }  # fmt: skip
        named = [(size, names[one], names[other], *rest) for size, one, other, *rest in rows]
        return polars.DataFrame(named, schema=schema, orient="row")

    def _shared(self, groups: list[Barred]) -> list[list[Shared]]:
        """For each group of one or two variables, what good trees share of them, by size."""
        with self._maker.running():
            wanted = {frozenset([each]) for group in groups for each in group} | set(groups)
            counted = zip(*self._counts_without(list(wanted), range(len(self))), strict=True)
            without = dict(zip(wanted, counted, strict=True))
            found = []
            for group in groups:
                single = [without[frozenset([each])] for each in group]
                parts = zip(*single, without[group], strict=True)
                least = zip(self._least_with(group), self._least_without(group), strict=True)
                found.append([
                    Shared(self._share_of(size, list(counts)), *each)
                    for size, (counts, each) in enumerate(zip(parts, least, strict=True))
                ])  # fmt: skip
        return found

    def _share_of(self, size: int, without: list[int]) -> float | None:
        """The share of trees that test all variables of a group.

        Given how many do not test each of them, and how many test none.
        """
        *single, none = without
        missing = sum(single) - (len(single) - 1) * none
        return _as_share(1 - Fraction(missing, self.counts[size])) if self.counts[size] else None

    def _counts_without(self, groups: list[Barred], sizes: Sequence[int]) -> list[list[int]]:
        """For each of some sizes and each group, how many good trees test no variable of it."""
        for size in sizes:
            self._check_complete(size)
        unused, counts = self._counting.unused(groups), []
        for size in sizes:
            with self._limited(size):
                counts.append(unused(size, self._most[size]))
        return counts

    @contextmanager
    def _limited(self, size: int) -> Iterator[None]:
        """Within it, the limits hold again."""
        watch, limits = self._counting.watch, self._maker.limits
        watch.limit(limits.seconds, limits.memory)
        try:
            yield
        except Stopped as stopped:
            raise _unfinished(size, str(stopped)) from None
        finally:
            watch.limit()

    def _least_with(self, group: Barred) -> Iterator[float | None]:
        """By size, the least error of a tree that tests all variables of a group."""
        least = None
        for size in range(len(self)):
            with self._limited(size):
                least = self._counting.least_with(size, group, least)
            yield None if least is None else self._error(least)

    def _least_without(self, group: Barred) -> Iterator[float]:
        """By size, the least error of a tree that tests no variable of a group."""
        if self._maker.rows is not None:
            problem = self._maker.rows.space.without(group)
            yield from map(float, _solve(problem, self._maker.limits))
            return
        counting, best = self._maker.counting(barred=group), None
        for size in range(len(self)):
            known = best, counting.least(counting.root, size)
            best = min(each for each in known if each is not None)
            yield self._error(best)

    def shares(self, size: int) -> dict[str, Fraction]:
        """The exact share of the good trees of a size that test each variable; {} without trees.

        Examples
        --------
        >>> import mictree as mt
        >>> good = mt.good_trees(mt.FormulaProblem("a & b | c"), max_size=2)
        >>> {name: str(share) for name, share in good.shares(2).items()}
        {'a': '1/2', 'b': '1/2', 'c': '1'}
        """
        if not self._whole_spectrum(size):
            return {}
        groups = list(self._maker.space.alike())
        with self._maker.running():
            (counts,) = self._counts_without([frozenset(each[:1]) for each in groups], [size])
        shares = {
            number: 1 - Fraction(count, self.counts[size])
            for group, count in zip(groups, counts, strict=True)
            for number in group
        }
        return {name: shares[number] for number, name in enumerate(self._maker.space.variables)}

    def needs(self, size: int, variable: str) -> bool:
        """Whether every good tree of a size tests a variable, on data a column.

        Examples
        --------
        >>> import mictree as mt
        >>> good = mt.good_trees(mt.FormulaProblem("x1 & x2 | y1 & y2 & y3"), max_size=5)
        >>> good.needs(3, "x1"), good.needs(3, "y1")
        (True, False)
        """
        names = self._maker.space.variables
        if variable not in names:
            raise ValueError(f"a variable of the problem is needed; there is no {variable!r}")
        self._whole_spectrum(size)
        with self._maker.running():
            return self._counts_without([frozenset([names.index(variable)])], [size]) == [[0]]

    def plot(self, axes: Axes | None = None) -> Axes:
        """The share of good trees that test each variable, by size, as a heat map."""
        from mictree.plotting.families import draw_shares

        return draw_shares(axes, self.variables)

    def draw(self, size: int, number: int = 3, seed: int = 0) -> Figure:
        """A few good trees of a size that differ most, side by side.

        They are chosen among a sample: each tests as much as possible that those before it do not.

        Examples
        --------
        >>> import mictree as mt
        >>> good = mt.good_trees(mt.FormulaProblem("a & b | c"), max_size=3)
        >>> good.draw(3).savefig("trees.svg")  # doctest: +SKIP
        """
        from mictree.plotting.families import draw_trees

        wanted = check_count(number, "number")
        sample = dict.fromkeys(self.sample(size, SAMPLED, seed))
        chosen: list[Tree] = []
        while sample and len(chosen) < wanted:
            tree = max(
                sample,
                key=lambda tree: min((_difference(tree, each) for each in chosen), default=0),
            )
            chosen.append(tree)
            del sample[tree]
        return draw_trees(chosen, self.problem)

    def chance(self, rule: Grower | str, *, runs: int = 1000, seed: int = 0) -> Chance:
        """The chance, by size, that a greedy rule with random ties ends among the good trees.

        Growth that ends early counts at its own size only.

        Parameters
        ----------
        rule : a grower or its name; its ties are taken at random, whatever it says
        runs, seed : where growth has too many ties for exact chances, it is run so often

        Examples
        --------
        >>> import mictree as mt
        >>> good = mt.good_trees(mt.FormulaProblem("x1 & x2 | y1 & y2 & y3"), max_size=3)
        >>> print(good.chance(mt.BestFirst()))
        bestfirst, ties at random: chance to end among the good trees (exact)
           0: 1, 1 good tree reached
           1: 1, 2 good trees reached
           2: 1, 2 good trees reached
           3: 1, 12 good trees reached
        """
        from mictree.optimal.good_chance import Walk, chance_of

        grower = copy.copy(as_rule(rule))
        grower.ties, grower.seed = "random", check_count(seed, "seed")
        for size in range(len(self)):
            self._check_complete(size)
        space = self._maker.space
        limits = tuple(Fraction(most) / space.unit + space.offset for most in self._most)
        return chance_of(
            Walk(self.problem, grower, space), limits, check_count(runs, "runs", 1), seed
        )

    def _whole_spectrum(self, size: int) -> Spectrum:
        """The spectrum of a size whose trees are all counted."""
        wanted = check_size(size, "size")
        if wanted >= len(self):
            raise ValueError(f"size must be at most {len(self) - 1}; got {wanted}")
        self._check_complete(wanted)
        return self._spectra[wanted]

    def _check_complete(self, size: int) -> None:
        if self.ended[size]:
            raise _unfinished(size, self.ended[size])


def _as_share(share: Fraction) -> float:
    """A share as a float, which is 0 or 1 only if the share is."""
    return float(share) if share in (0, 1) else min(max(float(share), LEAST), 1 - LEAST)


def _difference(one: Tree, other: Tree) -> int:
    """How many paths of two trees, from the root to a test, are only in one of them."""
    return len(_paths(one) ^ _paths(other))


def _paths(tree: Tree) -> set[tuple[str, ...]]:
    """The tests of a tree with what leads to them."""
    paths: dict[int, tuple[str, ...]] = {0: ()}
    found = set()
    for node in tree.internal_nodes:
        name = tree.variables[tree.tests[node]]
        found.add((*paths[node], name))
        paths[tree.low[node]] = (*paths[node], f"not {name}")
        paths[tree.high[node]] = (*paths[node], name)
    return found


def _unfinished(size: int, ended: str) -> BaseException:
    """The error about a size whose trees are not all counted."""
    if ended == "Ctrl-C":
        return KeyboardInterrupt()
    return ValueError(
        f"the good trees of a size must all be counted; for {count_of(size, 'split')} counting "
        f"ended by {ended}: allow more, or take a smaller max_size or within"
    )
