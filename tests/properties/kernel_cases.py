"""Small cases that together call every kernel of the package.

Run as a program it prints their results, and the kernels that it called if nothing is compiled
(NUMBA_DISABLE_JIT=1). With the names of some cases it only runs these, which leaves their kernels
compiled on disk.
"""

import ast
import functools
import gc
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest import mock

import dask
import dask.array
import dask.dataframe
import numpy as np
import polars as pl

import mictree as mt
from mictree._support.jit import KernelByType
from mictree.columns import ordered as columns
from mictree.columns.ordered import MOST_MOVED, Placement
from mictree.columns.packing import add_categories, add_flags
from mictree.families import function_classes
from mictree.families.table_growth import exact_sizes
from mictree.growers import loop
from mictree.impurity.criteria import name_of
from mictree.optimal import bit_tasks, local_search
from mictree.optimal.frontier import Strategy
from mictree.optimal.local_search import LocalSearch
from mictree.optimal.ordered_rows import CostRows, OrderedRows
from mictree.optimal.questions import UNLIMITED, Workers, make_driver
from mictree.optimal.relaxed import RelaxedRows
from mictree.optimal.relaxed_search import RelaxedEngine
from mictree.optimal.sweep_search import SweepEngine

SOURCE = Path(mt.__file__).parent
TIES = ("last", "first", "random", "heaviest", "lightest")
CRITERIA = ("entropy", "gini", "root", "minority")
KERNELS = ("jit", "inner_jit", "inner_loop_jit")
CASES = (
    "formulas", "families", "functions", "packing", "data", "sums", "searches", "ordered", "wide",
    "tasks", "local", "relaxed", "partitions", "subsets",
)  # fmt: skip


def skewed(rate: float) -> float:
    """A criterion of one's own, not symmetric."""
    return rate * (1 - rate) * (1 + rate / 2)


def all_results(cases: Iterable[str] = CASES) -> dict[str, Any]:
    """The results of every case, by name, as numbers and lists."""
    return {f"{case} {name}": value for case in cases for name, value in globals()[case]()}


def formulas() -> Iterator[tuple[str, Any]]:
    biases = dict(zip("abcdef", (0.3, 0.5, 0.5, 0.8, 0.5, 0.1), strict=True))
    problem = mt.FormulaProblem("a & b & c | d & ~e | f", biases)
    for criterion in (*CRITERIA, skewed):
        result = mt.mic(mt.TopDown(criterion=criterion), problem, max_size=6)
        yield name_of(criterion), [result.greedy_errors.tolist(), result.optimal_errors.tolist()]
    for criterion in CRITERIA:
        each = (problem, mt.TableProblem([0, 1, 1, 0, 1, 0, 1, 1]))
        found = [mt.optimal_trees(one, 4, top=2, criterion=criterion).errors for one in each]
        yield f"best two by {criterion}", [errors.tolist() for errors in found]
    for exact in (False, True):
        table = mt.TableProblem([0, 1, 1, 0, 1, 0, 1, 1])
        found = [mt.optimal_errors(each, 5, exact) for each in (problem, table)]
        yield f"exact {exact}", [list(map(float, errors)) for errors in found]


def families() -> Iterator[tuple[str, Any]]:
    family = mt.families.up_to(variables=5, biases=[0.5, 0.2])
    for number, ties in enumerate(TIES):
        rules = [
            mt.BestFirst(ties=ties, seed=number if ties == "random" else None),
            mt.TopDown(criterion=(*CRITERIA, skewed)[number], ties=ties, seed=7),
        ]
        frame = mt.sweep(family, 5, rules).drop("formula")
        yield ties, [column.to_list() for column in frame]
    for number, criterion in enumerate((*CRITERIA, skewed)):
        yield f"tops {number}", mt.sweep.tops(family, 5, criterion=criterion)["mic"].to_list()


def functions() -> Iterator[tuple[str, Any]]:
    for name, found in (
        ("all", function_classes.symmetry_classes(3)),
        ("glued", function_classes.glued_classes(3)),
        ("monotone", function_classes.monotone_classes(4)),
    ):
        yield name, [part.tolist() for part in found]
    tables = function_classes.symmetry_classes(3).tables
    yield "threshold", function_classes.are_threshold(tables, 3).tolist()
    for bias in (0.5, 0.3):
        rules = [mt.TopDown(), mt.BestFirst(criterion="gini", ties="random", seed=2)]
        frame = mt.sweep(mt.families.functions(3, bias), 4, rules)
        yield f"sweep {bias}", frame.select("mic", "largest_excess").to_numpy().tolist()
        ahead = mt.sweep(mt.families.functions(3, bias), 4, [mt.Lookahead(2)])
        yield f"ahead {bias}", ahead.select("mic", "greedy_size_worst").to_numpy().tolist()
        yield f"tops {bias}", mt.sweep.tops(mt.families.functions(3, bias), 4)["mic"].to_list()
    for criterion in CRITERIA:
        yield criterion, [part.tolist() for part in exact_sizes(tables, 3, criterion)]


def samples() -> Iterator[tuple[str, mt.SampleProblem]]:
    """Data of every kind: bits in many and in few columns, numbers, categories, weights."""
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 2, (700, 11), dtype=np.uint8)
    noise = generator.random(700) < 0.1
    two = (bits[:, 0] & bits[:, 1] | bits[:, 2] & bits[:, 3] & bits[:, 4]) ^ noise
    many = bits[:, 0] + bits[:, 5].astype(int) + noise
    weights = generator.integers(1, 9, 700)
    yield "two classes", mt.SampleProblem(bits, two)
    yield "weights", mt.SampleProblem(bits, many, sample_weight=weights)
    few, factors = bits[:150, :5], [1.5, 0.7, 1.1, 2.0]
    yield "classes weigh", mt.SampleProblem(few, many[:150], class_weight=factors)
    numbers = generator.integers(0, 6, (150, 2)).astype(float)
    numbers[3, 0] = np.nan
    kinds = generator.choice(["red", "green", "blue"], 150)
    mixed = pl.DataFrame({"age": numbers[:, 0], "size": numbers[:, 1], "kind": kinds})
    yield "mixed", mt.SampleProblem(mixed, many[:150])


def packing() -> Iterator[tuple[str, Any]]:
    for name, problem in samples():
        parts = (problem.bits, problem.valid, problem.first_word, problem.class_rows)
        yield name, [list(problem.variables), *(part.tolist() for part in parts)]
    random = np.random.default_rng(5)
    flags, positions = random.integers(0, 2, (3, 90)), random.integers(-1, 2, 90).astype(np.int32)
    rows = random.permutation(90)
    slots = np.concatenate([np.arange(40), np.arange(64, 114)])  # of two classes
    bits = np.zeros((3, 2), dtype=np.uint64)
    for each, words in zip(flags.astype(np.uint8), bits, strict=True):
        add_flags(each, rows, slots, words)
    yield "flags", bits.tolist()
    for classes in (2, MOST_MOVED):
        codes = random.integers(0, classes, 90).astype(np.uint8)
        firsts, words = 128 * np.arange(classes) + 50, np.zeros(2 * classes, dtype=np.uint64)
        placement = Placement(codes, flags[1].astype(bool), firsts, firsts)
        placement.add(flags[0].astype(np.uint8), words)
        yield f"moved for {classes} classes", words.tolist()
    add_categories(positions, rows, slots, bits)
    yield "categories", bits.tolist()


def data() -> Iterator[tuple[str, Any]]:
    for number, (name, problem) in enumerate(samples()):
        for turn, criterion in enumerate((*CRITERIA, skewed)):
            ties = TIES[(number + turn) % len(TIES)]
            rule = (mt.TopDown, mt.BestFirst)[turn % 2](criterion=criterion, ties=ties, seed=3)
            grown = rule.grow(problem, max_size=30)
            steps = [[step.leaf, step.variable, step.gain, step.reach] for step in grown.steps]
            yield f"{name} {name_of(criterion)} {ties}", [steps, grown.errors.tolist()]
        depth = 3 if len(problem.bits) < 8 else 2
        ahead = mt.Lookahead(depth, criterion=CRITERIA[number]).grow(problem, max_size=3)
        yield f"{name} looking ahead", ahead.errors.tolist()
        slow = loop.grow_any(mt.TopDown(criterion="minority"), problem, 3)
        yield f"{name} by the loop for any problem", slow.errors.tolist()
        best = mt.optimal_errors(problem, 2, top=2, criterion=CRITERIA[number])
        yield f"{name} with the two best tests", best.tolist()


def sums() -> Iterator[tuple[str, Any]]:
    """Numbers to predict and costs: all columns, with and without weights."""
    generator = np.random.default_rng(8)
    rows = 260
    X = np.column_stack([generator.integers(0, 2, (rows, 3)), generator.normal(size=(rows, 2))])
    X[generator.random(rows) < 0.1, 4] = np.nan
    y = (X[:, 0] * X[:, 3] + generator.normal(size=rows)).round(1)
    costs = np.column_stack([y, -y, np.ones(rows)])
    matrix = [[0, 1, 4], [2, 0, 1], [3, 1, 0]]
    weights = generator.integers(1, 5, rows)
    for number, ties in enumerate(TIES):
        given = weights if number % 2 else None
        rule = mt.TopDown("minority", ties, seed=4)
        for name, problem, grower in (
            ("numbers", mt.SampleProblem(X, y, given, loss="squared"), mt.BestFirst(None, ties, 4)),
            ("costs", mt.SampleProblem(X, None, given, costs=costs), rule),
            (
                "matrix",
                mt.SampleProblem(X, np.digitize(y, [0, 1]), given, cost_matrix=matrix),
                rule,
            ),
        ):
            grown = grower.grow(problem, 12)
            steps = [[step.leaf, step.variable, step.gain] for step in grown.steps]
            yield f"{name} {ties}", [steps, grown.errors.tolist()]


def searches() -> Iterator[tuple[str, Any]]:
    for name, problem in samples():
        yield name, mt.optimal_errors(problem, 4).tolist()
    bits = np.random.default_rng(7).integers(0, 2, (60, 5), dtype=np.uint8)
    parity = bits[:, :3].sum(axis=1) % 2 ^ bits[:, 4]
    model = mt.OptimalTreeClassifier(penalty=0.02).fit(bits, parity)
    yield "search at a price", [model.tree_.size, model.frontier_.lower.tolist()]
    yield from summed()


def summed() -> Iterator[tuple[str, Any]]:
    """Searches of 0/1 columns for numbers, and for costs of three actions."""
    generator = np.random.default_rng(9)
    bits = generator.integers(0, 2, (90, 5), dtype=np.uint8)
    numbers = bits[:, 0] * 3 + bits[:, 1] * bits[:, 2] + generator.normal(size=90).round(2)
    weights = generator.integers(1, 400, 90)
    for name, problem in (
        ("numbers", mt.SampleProblem(bits, numbers, loss="squared")),
        ("few numbers", mt.SampleProblem(bits, bits[:, 3] + 2 * bits[:, 4], loss="squared")),
        ("weights", mt.SampleProblem(bits, numbers, weights, loss="squared")),
        ("costs", mt.SampleProblem(bits, costs=generator.normal(size=(90, 3)).round(1))),
    ):
        yield f"sums, {name}", mt.optimal_errors(problem, 4).tolist()
        with mock.patch.object(bit_tasks, "PATIENCE", 0):  # as if the questions took long
            yield f"asked, {name}", mt.optimal_errors(problem, 3, max_depth=3).tolist()


def ordered() -> Iterator[tuple[str, Any]]:
    """Columns of numbers: sorted rows in growth, sweeps in the search."""
    generator = np.random.default_rng(1)
    numbers = generator.normal(size=(400, 3)).round(2)
    two = (numbers[:, 0] > 0.3) ^ (numbers[:, 1] > 0) ^ (generator.random(400) < 0.1)
    many = two.astype(int) + (numbers[:, 2] > 0.5)
    weights = generator.integers(1, 9, 400)
    for name, problem in (
        ("two classes", mt.SampleProblem(numbers, two)),
        ("bins", mt.SampleProblem(numbers, two, max_thresholds=20)),
        ("classes", mt.SampleProblem(numbers, many)),
    ):
        grown = mt.TopDown().grow(problem, 40)
        yield name, [[step.leaf, step.variable, step.gain] for step in grown.steps]
    values, distinct = numbers[:, 0].copy(), np.empty(400)
    ranks = np.empty(400, dtype=np.uint32)
    count = columns._rank_sorted(values, np.argsort(values), distinct, ranks)
    yield "ranks", [distinct[:count].tolist(), ranks.tolist()]
    # as plain Python, a search with many classes takes long
    labels = {
        "two": two[:40], "three": many[:30], "four": np.arange(20) % 4, "seven": np.arange(21) % 7,
    }  # fmt: skip
    for name, classes in labels.items():
        X = numbers[: len(classes)]
        problem = mt.SampleProblem(X, classes)
        yield f"search {name}", mt.optimal_errors(problem, 4).tolist()
        shallow = mt.OptimalTreeClassifier(max_size=3, max_depth=2).fit(X, classes)
        yield f"search {name}, two levels", shallow.predict(numbers).tolist()
        deeper = mt.optimal_trees(problem, 7, max_depth=3)
        yield f"search {name}, three levels", [deeper.errors.tolist(), str(deeper.tree(6))]
    problem = mt.SampleProblem(numbers[:40], two[:40], weights[:40])
    yield "search with weights", mt.optimal_errors(problem, 4).tolist()
    with mock.patch.object(SweepEngine, "patience", ()):  # as if the questions took long
        yield "search by all workers", mt.optimal_errors(problem, 4).tolist()


def tasks() -> Iterator[tuple[str, Any]]:
    """Searches for costs of two, three and four actions, and for numbers to predict."""
    generator = np.random.default_rng(11)
    numbers = generator.normal(size=(24, 3)).round(1)
    bits = generator.integers(0, 2, (24, 4), dtype=np.uint8)
    for name, X in (("numbers", numbers), ("bits", bits)):
        for actions in (2, 3, 4):
            costs = generator.integers(0, 30, (24, actions)) / 10
            problem = mt.SampleProblem(X, costs=costs)
            yield f"{name}, {actions} actions", mt.optimal_errors(problem, 4).tolist()
        labels = generator.integers(-9, 10, 24) / 4
        solved = mt.optimal_trees(mt.SampleProblem(X, labels, loss="squared"), 5, max_depth=3)
        yield f"{name}, squared", [solved.errors.tolist(), str(solved.tree(5))]
    with mock.patch.object(SweepEngine, "patience", ()):  # as if the questions took long
        yield "squared by all workers", mt.optimal_errors(solved.problem, 4).tolist()


def local() -> Iterator[tuple[str, Any]]:
    """Local search over trees, for all tasks; few columns are looked at."""
    generator = np.random.default_rng(12)
    numbers = generator.normal(size=(26, 3)).round(1)
    labels = (numbers[:, 0] > 0.2) ^ (numbers[:, 1] > 0)
    rounds = mock.patch.object(local_search, "ROUNDS", ((2, (1,)),))
    pairs = mock.patch.multiple(local_search, PAIRS=26, FEWEST_COLUMNS=2)
    for name, problem in (
        ("two classes", mt.SampleProblem(numbers, labels)),
        ("three classes", mt.SampleProblem(numbers, labels + (numbers[:, 2] > 0))),
        ("costs", mt.SampleProblem(numbers, costs=generator.integers(0, 9, (26, 3)))),
        ("squared", mt.SampleProblem(numbers, numbers[:, 0] + labels, loss="squared")),
    ):
        rows_of = OrderedRows.of if problem.weighs_classes else CostRows.of
        rows = rows_of(*(problem, False)[: 1 + problem.weighs_classes])
        taken: list[Any] = []
        with rounds, pairs:
            LocalSearch(rows, 3, 3, taken.append).run([])
        yield name, [str(nested) for nested in taken]


def relaxed() -> Iterator[tuple[str, Any]]:
    """Relaxed trees for classes, actions and numbers."""
    generator = np.random.default_rng(12)
    numbers = generator.normal(size=(24, 3)).round(1)
    two = (numbers[:, 0] > 0) ^ (generator.random(24) < 0.2)
    for name, problem in (
        ("two classes", mt.SampleProblem(numbers, two)),
        ("classes", mt.SampleProblem(numbers, 1 * two + (numbers[:, 1] > 0))),
        ("actions", mt.SampleProblem(numbers, costs=generator.integers(0, 9, (24, 3)))),
        ("squared", mt.SampleProblem(numbers, generator.integers(0, 9, 24), loss="squared")),
    ):
        strategy = Strategy.on_numbers(problem, False)
        for blocks in (3, 6):
            found = RelaxedRows.of(strategy.engine.rows, blocks)
            for depth in (UNLIMITED, 3):
                workers = Workers(RelaxedEngine(found), 4, depth, 2**24)
                workers.compile()
                rows, cost = found.everything, strategy.engine.rows.leaf().cost
                answers = [int(workers.ask(rows, size, cost, depth)) for size in range(1, 5)]
                yield f"{name}, {blocks} blocks, depth {depth}", answers


def wide() -> Iterator[tuple[str, Any]]:
    """Searches whose sums of weights need 32 or 64 bits."""
    generator = np.random.default_rng(7)
    bits = generator.integers(0, 2, (60, 5), dtype=np.uint8)
    numbers = generator.normal(size=(40, 3)).round(2)
    labels = bits[:, :3].sum(axis=1) % 2 ^ bits[:, 4]
    for width, scale in ((32, 1000), (64, 2**35)):
        weights = scale * generator.integers(1, 9, 60) + np.arange(60) % 2  # no common factor
        for name, X in (("bits", bits), ("numbers", numbers)):
            problem = mt.SampleProblem(X, labels[: len(X)], weights[: len(X)])
            yield f"{name}, {width} bits", mt.optimal_errors(problem, 3).tolist()
        with mock.patch.object(SweepEngine, "patience", ()):  # of numbers, size by size
            yield f"asked, {width} bits", mt.optimal_errors(problem, 2).tolist()


def partitions() -> Iterator[tuple[str, Any]]:
    """Growth on counts, as workers and the driver of a Dask fit compute them."""
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(90, 3)), 1)
    X[:, 0] = X[:, 0] > 0
    X[rng.random(90) < 0.2, 1] = np.nan
    y = (X[:, 0] + np.nan_to_num(X[:, 1]) > 0.5).astype(int) + (X[:, 2] > 1)
    for name, weights in (("plain", None), ("weighted", rng.integers(1, 4, 90) / 4)):
        arrays = [
            None if each is None else dask.array.from_array(each, chunks=40)
            for each in (X, y, weights)
        ]
        with dask.config.set(scheduler="sync"):
            fitted = mt.TopDownClassifier(max_size=8).fit(*arrays)
            numbers = mt.TopDownRegressor(max_size=8).fit(*arrays)
        for what, model in (("classes", fitted), ("numbers", numbers)):
            found = model.growth_.errors.tolist(), model._splitting.rows.tolist()
            yield f"{what}, {name}", list(found)


def subsets() -> Iterator[tuple[str, Any]]:
    """Sets of categories: in order and listed, beside columns of numbers, on counts too."""
    generator = np.random.default_rng(34)
    rows = 200
    towns = generator.choice([*"ABCDEFGHIJKLM", None], rows)
    few, number = generator.choice(["u", "v", "w", None], rows), generator.normal(size=rows)
    label, weights = generator.integers(0, 3, rows), generator.integers(1, 4, rows)
    both = pl.DataFrame({"town": towns, "number": number.round(1), "few": few})
    tasks: tuple[dict[str, Any], ...] = (
        {"y": label > 0}, {"y": label}, {"y": number, "loss": "squared"},
        {"costs": generator.integers(0, 9, (rows, 2))},
        {"costs": generator.integers(0, 9, (rows, 3))},
    )  # fmt: skip
    for turn, task in enumerate(tasks):
        given = weights if turn % 2 else None
        for X in (both, both.drop("number")):
            problem = mt.SampleProblem(X, sample_weight=given, categories="subsets", **task)
            rule = mt.TopDown(None, TIES[turn], seed=5)
            for grown in (rule.grow(problem, 8), loop.grow_any(rule, problem, 3)):
                steps = [[step.leaf, step.variable, step.gain] for step in grown.steps]
                yield f"{turn} {len(X.columns)} {len(steps)}", [steps, grown.errors.tolist()]
    small = mt.SampleProblem(both.drop("town")[:40], label[:40], categories="subsets")
    yield "optimal", mt.optimal_errors(small, 2).tolist()
    frame = dask.dataframe.from_pandas(both.drop("town").to_pandas(), npartitions=2)
    labels = dask.array.from_array(label, chunks=frame.map_partitions(len).compute().tolist())
    with dask.config.set(scheduler="sync"):
        model = mt.TopDownClassifier(4, categories="subsets").fit(frame, labels)
    yield "partitions", model.growth_.errors.tolist()


def all_kernels() -> set[str]:
    """Every function of the package that is a kernel, with its file."""
    return {
        f"{path.relative_to(SOURCE)}:{node.name}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if (isinstance(decorator, ast.Name) and decorator.id in KERNELS)
        or (
            isinstance(decorator, ast.Call) and getattr(decorator.func, "attr", "") == "form"
        )  # of a kernel that has one for each type
    }


def driver_kernels(module: Any) -> list[Any]:
    """The kernels of which a module makes its driver, some of which others use too."""
    names = ("_look", "_advance", "_take")
    return [getattr(module, name if hasattr(module, name) else name[1:]) for name in names]


def called_kernels() -> tuple[dict[str, Any], list[str]]:
    """All results, and the kernels that were called as Python functions."""
    called: set[str] = set()
    watched = {}
    for kernel in all_kernels():
        path, name = kernel.split(":")
        module = importlib.import_module(".".join(("mictree", *Path(path).with_suffix("").parts)))
        function = getattr(module, name)
        watched[function] = _watched(function, kernel, called.add)
    callers = [each for name, each in sys.modules.items() if name.startswith("mictree.")]
    for module in (*callers, sys.modules[__name__]):
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value in watched:
                setattr(module, name, watched[value])
    for module in callers:
        for value in vars(module).values():
            if isinstance(value, KernelByType):
                forms = value.forms.items()
                value.forms = {kind: watched.get(form, form) for kind, form in forms}
        if hasattr(module, "_drive"):  # it is made from kernels, which are watched now
            module._drive = make_driver(*driver_kernels(module))
    return all_results(), sorted(called)


def _watched(function: Any, kernel: str, note: Callable[[str], None]) -> Any:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        note(kernel)
        return function(*arguments)

    return call


if __name__ == "__main__":
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)  # numba makes many objects that live long
    with np.errstate(over="ignore"):  # compiled, a hash wraps around silently
        if sys.argv[1:]:
            all_results(sys.argv[1:])
        else:
            json.dump(called_kernels(), sys.stdout)
