"""The command compile: every kernel that the commands use, compiled at once.

A kernel is compiled when it is first called with arguments of certain types, and numba keeps it on
disk. So each group of kernels has a function here (``WORK``) that makes small problems of all usual
types and solves them as a user would; afterwards no command has to wait. Kernels that are on disk
already are only loaded, which takes no time to speak of.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import mictree as mt
from mictree._support.words import count_of
from mictree.cli.output import print_parts
from mictree.cli.table import print_note
from mictree.growers.rules import TIES
from mictree.impurity.criteria import CRITERIA

ROWS = 200


def compile_all() -> None:
    """Compile all kernels now, instead of each when it is first used.

    Kernels are compiled once on a machine, and again after an update. All of them take a minute or
    two. Without this command, each other command compiles what it needs when it first needs it.

    \b
    Examples:
      mictree compile
      NUMBA_CACHE_DIR=/shared/kernels mictree compile
    """
    from mictree._support.jit import calling_before_compiling, kernels_are_kept

    progress = CompileProgress()
    with calling_before_compiling(progress.note):
        for group, work in WORK.items():
            progress.begin(group)
            work()
    if not kernels_are_kept():
        raise OSError(
            "kernels must be kept on disk; no folder can be written to: NUMBA_CACHE_DIR can name "
            "one"
        )
    if progress.kernels:
        print_note(f"compiled {count_of(progress.kernels, 'kernel')} in {progress.seconds():.0f} s")
    print_parts("all kernels are compiled")


class CompileProgress:
    """Prints which group is compiled, and how long the others will take.

    Attributes
    ----------
    kernels : the number of kernels compiled so far
    """

    def __init__(self) -> None:
        from mictree._support.jit import GROUPS

        self.kernels = 0
        self._estimates = {group.name: group.seconds for group in GROUPS}
        self._begin = time.monotonic()
        self._group = ""
        self._announced = False
        self._done = self._spent = 0.0  # estimated and real seconds of the groups before

    def seconds(self) -> float:
        """The time since the beginning."""
        return time.monotonic() - self._begin

    def begin(self, group: str) -> None:
        """Another group begins."""
        if self._announced:
            self._done += self._estimates[self._group]
            self._spent = self.seconds()
        self._group, self._announced = group, False

    def note(self) -> None:
        """A kernel of the group is about to be compiled."""
        self.kernels += 1
        if self._announced:
            return
        self._announced, groups = True, list(WORK)
        place = groups.index(self._group)
        pace = self._spent / self._done if self._done else 1.0  # of this machine
        here, *later = (pace * self._estimates[each] for each in groups[place:])
        left = f"; then about {sum(later):.0f} s for the others" if later else ""
        print_note(
            f"compiling {place + 1} of {len(groups)}: {self._group}, about {here:.0f} s{left}"
        )


def _problems() -> list[mt.Problem]:
    biases = {"a": 0.3, "b": 0.5, "c": 0.5, "d": 0.8, "e": 0.5, "f": 0.1}
    return [
        mt.FormulaProblem("a & b & c | d & ~e | f", biases),
        mt.TableProblem([0, 1, 1, 0, 1, 0, 1, 1]),
    ]


def _grow_formulas() -> None:
    for problem, criterion in product(_problems(), CRITERIA):
        mt.TopDown(criterion=criterion).grow(problem, 4)
        mt.Lookahead(2, criterion=criterion).grow(problem, 3)


def _solve_formulas() -> None:
    for problem in _problems():
        mt.optimal_trees(problem, 4).tree(3)
        mt.optimal_errors(problem, 4, exact=True)
        for criterion in CRITERIA:
            mt.optimal_trees(problem, 4, top=2, criterion=criterion)


def _samples() -> Iterator[tuple[Any, Any]]:
    """Small tables: 0/1 columns, numbers, both with gaps and texts; two and more classes.

    Matrices of bytes come last.
    """
    import numpy as np
    import polars

    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2, (ROWS, 6))
    numbers = generator.normal(size=(ROWS, 3)).round(2)
    noise = generator.random(ROWS) < 0.1
    two = (bits[:, 0] & bits[:, 1] | (numbers[:, 0] > 0.3)) ^ noise
    labels = (two, two + 2 * (numbers[:, 1] > 0.5))
    whole, gap = generator.integers(0, 9, ROWS), numbers[:, 2].copy()
    gap[whole > 6] = np.nan
    mixed = polars.DataFrame(
        {
            "number": numbers[:, 0],
            "whole": whole,
            "bit": bits[:, 0],
            "truth": bits[:, 1] > 0,
            "kind": generator.choice(["x", "y", "z"], ROWS),
            "gap": polars.Series(gap).fill_nan(None),
        }
    )
    frames = (polars.DataFrame(bits), polars.DataFrame(numbers), mixed)
    tables = (*frames, bits, numbers, bits.astype(np.uint8))
    yield from product(tables, labels)


def _growth() -> None:
    import numpy as np

    weights = 1 + np.arange(ROWS) % 5
    for X, y in _samples():
        for number, ties in enumerate(TIES):
            criterion = list(CRITERIA)[number % len(CRITERIA)]
            model = mt.TopDownClassifier(max_size=9, criterion=criterion, ties=ties, random_state=0)
            model.fit(X, y).predict_proba(X)
        for rule in (mt.BestFirstClassifier, mt.ID3Classifier, mt.LookaheadClassifier):
            rule(max_size=2).fit(X, y)
        mt.TopDownClassifier(max_size=4, max_thresholds=5, min_samples_leaf=3).fit(X, y, weights)
    # leaves with mistakes and without a test
    mt.LookaheadClassifier(max_size=3).fit([[0], [1], [0], [1]], [0, 1, 1, 0])


def _sums() -> None:
    """Numbers to predict, and costs."""
    import numpy as np

    for X, y in _samples():
        codes = np.unique(y, return_inverse=True)[1]
        problems = (
            mt.SampleProblem(X, codes, loss="squared"),
            mt.SampleProblem(X, costs=np.column_stack([codes, 1 - codes])),
        )
        for problem in problems:
            mt.TopDown().grow(problem, 3)


def _streams() -> None:
    """Parquet files that are read batch by batch, and Dask collections if Dask is installed."""
    import polars

    for number, (X, y) in enumerate(_samples()):
        if not isinstance(X, polars.DataFrame):
            continue
        with tempfile.TemporaryDirectory() as folder:
            X.with_columns(label=polars.Series(y)).write_parquet(Path(folder, f"{number}.parquet"))
            for loss, model in ((None, mt.TopDownClassifier), ("squared", mt.TopDownRegressor)):
                problem = mt.SampleProblem.from_parquet(
                    folder, "label", max_thresholds=20, loss=loss
                )
                model(max_size=4).fit(problem)
    try:
        import dask
        import dask.array
    except ImportError:
        return
    for X, y in _samples():
        if not isinstance(X, polars.DataFrame):
            parts = [dask.array.from_array(each, chunks=90) for each in (X, y)]  # type: ignore[arg-type]
            with dask.config.set(scheduler="sync"):  # type: ignore[attr-defined]
                mt.TopDownClassifier(max_size=4).fit(*parts)
                mt.TopDownRegressor(max_size=4).fit(*parts)


def _search(*tables: int) -> None:
    """All sizes at once, sizes by the search, and few levels, for each number of classes."""
    import numpy as np

    few = slice(None, 40)
    for number, (X, y) in enumerate(_samples()):
        if number // 2 not in tables:
            continue
        for classes in (y, np.arange(ROWS) % 4, np.arange(ROWS) % 7):
            problem = mt.SampleProblem(X[few], classes[few])
            mt.optimal_trees(problem, 4)
            mt.optimal_trees(problem, 4, max_depth=3)
        # small weights; weights that need 64 bits, as balanced classes do
        for weights in (1 + np.arange(ROWS) % 5, 1 / (1 + np.arange(ROWS) % 7)):
            mt.optimal_trees(mt.SampleProblem(X[few], y[few], weights[few]), 4)
            mt.optimal_trees(mt.SampleProblem(X, y, weights), 3)
        mt.optimal_trees(problem, 3, top=2)


def _prices() -> None:
    import numpy as np

    weights = 1 / (1 + np.arange(30) % 7)
    for X, y in _samples():
        mt.OptimalTreeClassifier(penalty=0.02).fit(X[:30], y[:30])
        mt.OptimalTreeClassifier(penalty=0.02).fit(X[:30], y[:30], weights)


def _families() -> None:
    rules = [rule(ties=ties, seed=0) for rule in (mt.TopDown, mt.BestFirst) for ties in TIES]
    for criterion in CRITERIA:
        mt.sweep(mt.families.up_to(4, [0.5, 0.2]), 4, [mt.TopDown(criterion=criterion)])
    mt.sweep(mt.families.grid(2, 2, [0.5]), 3, rules)
    mt.sweep.tops(mt.families.up_to(4, [0.5]), 3)  # type: ignore[attr-defined]


def _functions() -> None:
    for bias in (0.5, 0.3):
        for family in (mt.families.functions, mt.families.monotone, mt.families.threshold):
            mt.sweep(family(3, bias), 3, [mt.TopDown(), mt.BestFirst(ties="random", seed=0)])
        mt.sweep(mt.families.functions(3, bias), 3, [mt.Lookahead(2)])
        mt.sweep.tops(mt.families.functions(3, bias), 3)  # type: ignore[attr-defined]


WORK: dict[str, Callable[[], None]] = {  # by the name of the group
    "growth on formulas": _grow_formulas,
    "optimal trees of formulas": _solve_formulas,
    "growth on data": _growth,
    "growth by sums": _sums,
    "growth on streamed data": _streams,
    "search on 0/1 columns": lambda: _search(0, 3),
    "search on numbers": lambda: _search(1, 2, 4),
    "search at a price": _prices,
    "families of formulas": _families,
    "families of functions": _functions,
}
