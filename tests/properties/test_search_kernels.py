"""The kernels of the search over row sets compute what their Python source computes.

Every kernel writes into the frames, the table or the control words, all of which are compared.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mictree._support import jit
from mictree.optimal import questions
from mictree.optimal import questions as _table
from mictree.optimal.bit_search import BitEngine
from mictree.optimal.bit_tasks import SumEngine, SumRows
from mictree.optimal.ordered_rows import OrderedRows
from mictree.optimal.questions import (
    ANY,
    FIRST,
    FOUND,
    KNOWN,
    NEXT,
    PLAIN,
    RUN,
    STATUS,
    STOP,
    UNLIMITED,
    Table,
)
from mictree.optimal.rows import Rows
from mictree.optimal.sweep_search import SweepEngine
from mictree.problems.sample import SampleProblem
from mictree.problems.tasks import Errors
from tests.datasets import compile_search, random_bits
from tests.properties.kernel_cases import driver_kernels
from tests.strategies import sample_problem, samples, task_cases

ROOM_OF_SEARCH = tuple(
    f"mictree.optimal.{name}"
    for name in ("questions", "rows", "ordered_rows", "bit_search", "bit_tasks", "sweep", "priced")
)
PLACES = 64  # of the smallest table, so that small searches fill it

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT=1: nothing is compiled"
)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    compile_search()


def room_kernels() -> Iterator[tuple]:
    """All kernels of the room, by every name under which one of its modules has them."""
    homes = (*ROOM_OF_SEARCH, "mictree._support.jit")
    for path, module in sorted(sys.modules.items()):
        if path.startswith(homes):
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func") and value.py_func.__module__.startswith(homes):
                    yield module, name, value, value.py_func


def intrinsics() -> Iterator[tuple]:
    """What only numba can call, by every name, and its stand-in for Python."""
    plain = {
        jit.popcount: np.bitwise_count,
        jit.atomic_load: jit._plain_load,
        jit.atomic_add: jit._plain_add,
        jit.atomic_swap: jit._plain_swap,
        jit.spread: jit._plain_spread,
        jit.choose: jit._plain_choose,
        jit.load: jit._plain_vector_load,
        jit.store: jit._plain_store,
        jit.add: np.add,
        jit.subtract: np.subtract,
        jit.least: np.minimum,
        jit.most: np.maximum,
    }
    for path, module in sorted(sys.modules.items()):
        if path.startswith((*ROOM_OF_SEARCH, "mictree._support.")):
            for name, value in list(vars(module).items()):
                if isinstance(value, numba.core.extending._Intrinsic) and value in plain:
                    yield module, name, value, plain[value]


@contextmanager
def from_source(watch: Callable[[str], None] = lambda name: None):
    """Every kernel of the room replaced by its Python function, which reports its calls."""

    def watched(function):
        def call(*arguments):
            watch(function.__name__)
            return function(*arguments)

        return call

    kernels, others = list(room_kernels()), list(intrinsics())
    for module, name, _, function in kernels:
        setattr(module, name, watched(function))
    for module, name, _, function in others:
        setattr(module, name, function)
    for module, name, _, _ in kernels:
        if name == "_drive":  # it is made from kernels, which are functions now
            drive = questions.make_driver(*driver_kernels(module))
            setattr(module, name, watched(drive.py_func))
    try:
        with np.errstate(over="ignore"):  # a hash wraps around
            yield
    finally:
        for module, name, value, _ in kernels + others:
            setattr(module, name, value)


def searched(problem, budget: int, depth: int, status: int | None = None) -> list[np.ndarray]:
    """All arrays after a question, after retracing its answer, and after a move of the table."""
    if isinstance(problem.task, Errors):
        engine = BitEngine(Rows.of(problem, exact=False))
    else:
        engine = SumEngine(SumRows.of(problem))
    rows = engine.rows
    with mock.patch.object(questions, "SMALLEST_TABLE", PLACES):
        workers = questions.Workers(engine, budget, depth, 2**22)
    frames, table, control = workers.frames[0], workers.table, workers.control
    for array in frames:
        array.fill(0)
    seen: list[np.ndarray] = []

    def solve(bound: int, wanted: int) -> int:
        control[NEXT], control[FOUND] = 0, bound
        question = questions.Question(budget, bound, depth, wanted)
        answer = engine.ask(rows.everything, question, table, frames, control)
        seen.extend(array.copy() for array in (*frames, *table, control, np.array(answer)))
        return answer

    if status is not None:
        control[STATUS] = status
    least = solve(rows.leaf().cost + 1, PLAIN)
    if control[STATUS] == RUN:
        solve(least + 1, FIRST)
        solve((least + 1) // 2, PLAIN)
    larger = Table(*(np.zeros((2 * PLACES, part.shape[1]), part.dtype) for part in table))
    _table.rehash(table, larger)
    return seen + list(larger)


def assert_alike(computed: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(computed) == len(expected)
    for number, (one, other) in enumerate(zip(computed, expected, strict=True)):
        np.testing.assert_array_equal(one, other, err_msg=f"array {number}")
        assert one.dtype == other.dtype


@settings(max_examples=40, deadline=None)
@given(samples(most_rows=20, most_literals=6), st.integers(1, 6), st.sampled_from([1, 2, 3, 4, 99]))
def test_the_whole_search(case, budget, depth):
    problem = sample_problem(*case)
    depth = UNLIMITED if depth == 99 else depth
    computed = searched(problem, budget, depth)
    with from_source():
        expected = searched(problem, budget, depth)
    assert_alike(computed, expected)


@settings(max_examples=25, deadline=None)
@given(
    task_cases(most_rows=12, most_columns=5, kinds=("bit",)),
    st.integers(1, 5),
    st.sampled_from([1, 2, 3, 99]),
)
def test_the_search_by_sums(case, budget, depth):
    depth = UNLIMITED if depth == 99 else depth
    computed = searched(case.problem(), budget, depth)
    with from_source():
        expected = searched(case.problem(), budget, depth)
    assert_alike(computed, expected)


@pytest.mark.parametrize("task", ["squared", "costs"])
def test_sums_of_rows_that_fill_chunks(task):
    X, _ = random_bits(600, 34, 1)
    generator = np.random.default_rng(2)
    given = {"costs": generator.integers(0, 5, (600, 3))}
    if task == "squared":
        given = {"y": generator.normal(size=600).round(2) + X[:, 1], "loss": "squared"}
    problem = SampleProblem(X, sample_weight=generator.integers(1, 9, 600), **given)
    computed = searched(problem, 3, 1)
    with from_source():
        expected = searched(problem, 3, 1)
    assert_alike(computed, expected)


def swept(problem, budget: int, depth: int) -> list[np.ndarray]:
    """All arrays of a search over ordered columns after questions of every kind."""
    engine = SweepEngine(OrderedRows.of(problem, exact=False))
    with mock.patch.object(questions, "SMALLEST_TABLE", PLACES):
        workers = questions.Workers(engine, budget, depth, 2**24)
    frames, table, control, rows = workers.frames[0], workers.table, workers.control, engine.rows
    for array in frames:
        array.fill(0)
    frames.order[0] = rows.data.order
    seen: list[np.ndarray] = []
    least = rows.leaf().cost
    for wanted in (PLAIN, ANY, KNOWN, FIRST):
        for members, share in ((rows.everything, 0), (rows.everything[1:], 1)):
            control[FOUND] = least + 1
            question = questions.Question(budget - share, least + 1, depth - share, wanted)
            answer = engine.ask(members, question, table, frames, control)
            if wanted == PLAIN and len(members) == len(rows.codes):
                least = answer
            seen.extend(array.copy() for array in (*frames, *table, control, np.array(answer)))
    errors = engine.glance(rows.everything, 3, depth, table, frames, control)
    return [*seen, errors, *(array.copy() for array in frames)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 6]), st.integers(1, 5), st.booleans())
def test_the_search_over_ordered_columns(seed, classes, budget, deep):
    random = np.random.default_rng(seed)
    X = random.integers(0, [9, 2, 40], size=(int(random.integers(3, 14)), 3))
    problem = sample_problem(X, random.integers(0, classes, len(X)), None)
    depth = UNLIMITED if deep else 3
    computed = swept(problem, budget, depth)
    with from_source():
        expected = swept(problem, budget, depth)
    assert_alike(computed, expected)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("weights", [None, 3, 2**33])
def test_rows_that_fill_blocks_and_the_table(classes, weights):
    X, _ = random_bits(150, 7, 1)
    generator = np.random.default_rng(2)
    y = generator.integers(0, classes, len(X))
    weighted = None if weights is None else generator.integers(1, 1 + weights, len(X))
    problem = sample_problem(X, y, weighted)
    computed = searched(problem, 4, UNLIMITED)
    with from_source():
        expected = searched(problem, 4, UNLIMITED)
    assert_alike(computed, expected)


def test_a_stopped_search():
    problem = sample_problem(*random_bits(60, 5, 3))
    computed = searched(problem, 4, UNLIMITED, STOP)
    with from_source():
        expected = searched(problem, 4, UNLIMITED, STOP)
    assert_alike(computed, expected)
