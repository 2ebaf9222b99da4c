"""Optimal errors of truth tables against enumeration, and against the solver for formulas."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.optimal import table as table_solver
from tests import reference
from tests.strategies import (
    NAMES,
    all_inputs,
    formula_cases,
    nested,
    program_rows,
    table_cases,
    table_problem,
)


def table_of(function, count: int, weights=None) -> reference.Table:
    rows = all_inputs(count).tolist()
    shares = weights or [1] * len(rows)
    return reference.Table(
        NAMES[:count],
        tuple(int(function(row)) for row in rows),
        tuple(Fraction(share, sum(shares)) for share in shares),
    )


FUNCTIONS = {
    "xor": lambda x: sum(x) % 2,
    "majority": lambda x: 2 * sum(x) > len(x),
    "overlapping dnf": lambda x: (x[0] and x[1]) or (x[1] and x[2]) or (not x[0] and x[3]),
    "multiplexer": lambda x: x[1 + x[0]] and x[3],
    "constant": lambda x: 1,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("weights", [None, list(range(16)), [0, 3] * 8], ids=str)
def test_named_functions(name, weights):
    table = table_of(FUNCTIONS[name], 4, weights)
    expected = reference.least_errors(table, 4)
    assert mt.optimal_errors(table_problem(table), 4, exact=True).tolist() == expected


def test_parity_needs_every_split():
    problem = table_problem(table_of(FUNCTIONS["xor"], 4))
    errors = mt.optimal_errors(problem, 16, exact=True)
    assert errors[15] == 0
    assert errors[14] == Fraction(1, 16)
    assert errors[3] == Fraction(1, 2)  # a label is known only below four tests


@settings(max_examples=30)
@given(table_cases(max_variables=4))
def test_no_enumerated_tree_is_better(case):
    expected = reference.least_errors(case.table, 4)
    computed = mt.optimal_errors(case.problem, 4, exact=True)
    assert computed.tolist() == expected
    assert all(isinstance(error, Fraction) for error in computed)


@given(formula_cases(max_variables=5))
def test_a_formula_and_its_table_have_the_same_optimum(case):
    expected = mt.optimal_errors(case.problem, 16, exact=True).tolist()
    assert mt.optimal_errors(case.table_problem, 16, exact=True).tolist() == expected
    computed = mt.optimal_errors(case.table_problem, 16)
    np.testing.assert_allclose(computed, np.array(expected, dtype=float), rtol=0, atol=1e-12)


@given(table_cases(max_variables=5), st.booleans())
def test_the_tree_attains_the_error_and_the_size(case, exact):
    solved = mt.optimal_trees(case.problem, 16, exact=exact)
    for size in range(17):
        tree = solved.tree(size)
        error = reference.tree_error(case.table, nested(tree))
        assert tree.size <= size
        assert float(abs(error - solved.errors[size])) <= (0 if exact else 1e-12)
        assert tree.size == 0 or solved.errors[tree.size - 1] > solved.errors[size]


@given(table_cases(max_variables=5), st.sampled_from([mt.TopDown(), mt.BestFirst(), mt.ID3()]))
def test_no_grower_is_better_at_any_size(case, rule):
    optimal = mt.optimal_errors(case.problem, 20, exact=True)
    greedy = rule.grow(case.problem, 20).exact_errors
    assert all(best <= error for best, error in zip(optimal, greedy, strict=True))


@given(table_cases(max_variables=5))
def test_errors_never_rise_and_end_at_zero(case):
    for exact in (False, True):
        errors = mt.optimal_errors(case.problem, 40, exact)
        assert (np.diff(errors) <= 0).all()
        assert errors[-1] == 0


@given(table_cases(max_variables=4), st.data())
def test_permuting_and_flipping_variables_changes_nothing(case, data):
    count = len(case.table.names)
    order = data.draw(st.permutations(range(count)))
    flips = data.draw(st.integers(0, 2**count - 1))
    rows = [
        sum((row >> old & 1) << new for new, old in enumerate(order)) ^ flips
        for row in range(2**count)
    ]
    labels, weights = [0] * 2**count, [Fraction(0)] * 2**count
    for row, moved in enumerate(rows):
        labels[moved], weights[moved] = case.table.labels[row], case.table.weights[row]
    expected = mt.optimal_errors(case.problem, 8, exact=True)
    assert mt.optimal_errors(mt.TableProblem(labels, weights), 8, exact=True).tolist() == (
        expected.tolist()
    )


@given(table_cases(max_variables=4))
def test_python_integers_and_machine_integers_agree(case):
    """The same numbers as Python integers, and a denominator that really exceeds 64 bits."""
    expected = mt.optimal_trees(case.problem, 8, exact=True)
    assert program_rows(expected).dtype == np.int64
    mass, positive, denominator = case.problem.scaled_masses
    again = mt.TableProblem(case.table.labels, case.table.weights)
    again.__dict__["scaled_masses"] = (mass.astype(object), positive.astype(object), denominator)
    computed = table_solver.solve(again, 8, True, 2**30)
    assert program_rows(computed).dtype == object
    assert computed.errors.tolist() == expected.errors.tolist()

    wide_table = barely_moved(case.table)
    wide = mt.optimal_trees(table_problem(wide_table), 3, exact=True)
    assert program_rows(wide).dtype == object
    assert wide.errors.tolist() == reference.least_errors(wide_table, 3)


@given(table_cases(max_variables=4))
def test_an_exact_tree_attains_the_exact_error_near_even_leaves(case):
    """A leaf's rate may differ from 1/2 by less than a float can tell."""
    problem = table_problem(barely_moved(case.table))
    solved = mt.optimal_trees(problem, 3, exact=True)
    for size in range(4):
        assert solved.tree(size).error(problem, exact=True) == solved.errors[size]


def barely_moved(table: reference.Table) -> reference.Table:
    """Almost the same distribution, with a denominator beyond 64 bits."""
    tiny = Fraction(1, 10**30)
    weights = [(1 - tiny) * weight for weight in table.weights]
    weights[0 if table.weights[0] < 1 else 1] += tiny
    return reference.Table(table.names, table.labels, tuple(weights))
