"""Compiled kernels compute what their Python source computes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.impurity import CRITERIA
from mictree.optimal import lattice as lattices
from mictree.optimal import program
from mictree.optimal import program as _formula  # noqa: F401  # solvers are imported lazily
from mictree.optimal import table as _table  # noqa: F401
from mictree.optimal.solve import Top
from tests.strategies import formula_cases, table_cases

MEMORY = 2**30
TOPS = st.one_of(st.none(), st.builds(Top, st.integers(1, 3), st.sampled_from(list(CRITERIA))))
# a row of least errors never rises; equal neighbours are common
ROWS = st.lists(st.integers(0, 30), min_size=1, max_size=12).map(lambda r: sorted(r)[::-1])


def compiled_kernels() -> list[tuple]:
    return [
        (module, name, value)
        for path, module in sorted(sys.modules.items())
        if path.startswith("mictree.")
        for name, value in vars(module).items()
        if hasattr(value, "py_func")
    ]


@contextmanager
def kernels_from_source():
    """Every compiled kernel replaced by its Python function."""
    kernels = compiled_kernels()
    for module, name, kernel in kernels:
        setattr(module, name, kernel.py_func)
    try:
        with np.errstate(over="ignore"):  # a hash wraps around
            yield
    finally:
        for module, name, kernel in kernels:
            setattr(module, name, kernel)


def arrays(value, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Every array inside a dataclass, with the way to it."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays(getattr(value, field.name), f"{path}.{field.name}")


def assert_same_arrays(computed, expected) -> None:
    pairs = zip(arrays(computed), arrays(expected), strict=True)
    for (path, one), (_, other) in pairs:
        np.testing.assert_array_equal(one, other, err_msg=path)
        assert one.dtype == other.dtype, path


def test_every_kernel_is_replaced_and_put_back():
    kernels = compiled_kernels()
    if not kernels:
        pytest.skip("NUMBA_DISABLE_JIT=1: nothing is compiled")
    with kernels_from_source():
        assert compiled_kernels() == []
    assert compiled_kernels() == kernels
    names = {name for _, name, _ in kernels}
    assert names >= {"_expand", "_find", "_hash", "relax", "level_out"}
    assert names >= {"_leaf_errors", "_perfect_sizes", "_fill_errors"}


@settings(max_examples=25)
@given(formula_cases(max_variables=6), st.integers(0, 10), TOPS)
def test_the_lattice(case, max_size, top):
    computed = lattices.build(case.problem, max_size, MEMORY, top)
    with kernels_from_source():
        expected = lattices.build(case.problem, max_size, MEMORY, top)
    assert computed.values == expected.values
    assert_same_arrays(computed, expected)


@settings(max_examples=20)
@given(st.one_of(formula_cases(), table_cases()), st.integers(0, 10), st.booleans(), TOPS)
def test_the_solvers(case, max_size, exact, top):
    settings = {} if top is None else {"top": top.number, "criterion": top.criterion}
    computed = mt.optimal_trees(case.problem, max_size, exact, **settings)
    with kernels_from_source():
        expected = mt.optimal_trees(case.problem, max_size, exact, **settings)
    assert_same_arrays(computed, expected)


@pytest.mark.parametrize("kind", [np.float64, np.int64])
@given(low=ROWS, high=ROWS, out=ROWS, weights=st.tuples(st.integers(1, 9), st.integers(1, 9)))
def test_one_min_plus_step(kind, low, high, out, weights):
    expected = list(out)
    for (i, one), (j, other) in product(enumerate(low), enumerate(high)):
        if i + j + 1 < len(out):
            error = weights[0] * one + weights[1] * other
            expected[i + j + 1] = min(expected[i + j + 1], error)
    expected = np.minimum.accumulate(expected).tolist()

    computed = relaxed(low, high, weights, out, kind)
    assert computed.tolist() == expected
    with kernels_from_source():
        assert relaxed(low, high, weights, out, kind).tolist() == expected
    objects = np.array(out, dtype=object)
    program.relax_objects(np.array(low, object), np.array(high, object), *weights, objects)
    assert np.minimum.accumulate(objects).tolist() == expected


def relaxed(low, high, weights, out, kind) -> np.ndarray:
    low, high, out = (np.array(row, dtype=kind) for row in (low, high, out))
    drops = np.empty(len(out) + 4, dtype=np.int64)
    scratch = np.empty(3 * len(out), dtype=kind)
    program.relax(
        low, high, kind(weights[0]), kind(weights[1]), program.NOTHING[kind], drops, scratch, out
    )
    program.level_out(out)
    return out


@given(formula_cases(), st.integers(0, 10))
def test_every_restriction_of_the_lattice_is_one_test_from_another(case, max_size):
    lattice = lattices.build(case.problem, max_size, MEMORY)
    assert len({row.tobytes() for row in lattice.terms}) == len(lattice)
    graph = lattice.graph
    lengths = np.array([len(term) for term in lattice.values])
    for restriction in range(len(lattice)):
        present = [lattice.values[term] for term in lattice.terms[restriction] if term]
        assert graph.literals[restriction] == lengths[lattice.terms[restriction]].sum()
        tests = {(term, value) for term in present for value in term}
        edges = graph.edges(restriction)
        assert len(edges) == (len(tests) if lattice.distance[restriction] < max_size else 0)
        for edge in edges:
            term = lattice.tested_term(restriction, edge)
            assert (term, graph.value[edge]) in tests
            after = lattice.terms[graph.low[edge]]
            below = [lattice.values[number] for number in after if number]
            assert sorted([*below, term]) == sorted(present)
