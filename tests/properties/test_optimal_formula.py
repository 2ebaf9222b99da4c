"""Optimal errors of formulas against enumeration and against the paper's recurrences."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import mictree as mt
from tests import reference
from tests.strategies import (
    FormulaCase,
    as_written,
    bias_lists,
    formula_cases,
    nested,
    program_rows,
)

LARGEST = 20  # perfect for every formula of at most six variables that is drawn here


@settings(max_examples=25)
@given(formula_cases(max_variables=4, max_irrelevant=1))
def test_no_enumerated_tree_is_better(case):
    expected = reference.least_errors(case.table, 4)
    computed = mt.optimal_errors(case.problem, 4, exact=True)
    assert computed.tolist() == expected
    assert all(isinstance(error, Fraction) for error in computed)


@settings(max_examples=4)
@given(formula_cases(max_variables=5, max_irrelevant=0))
def test_no_enumerated_tree_on_five_variables_is_better(case):
    assert mt.optimal_errors(case.problem, 3, exact=True).tolist() == reference.least_errors(
        case.table, 3
    )


SHAPES = [
    sizes for count in (1, 2, 3) for sizes in combinations_with_replacement((1, 2, 3, 4), count)
]


@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_the_papers_uniform_recurrence(sizes):
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes(sizes))
    expected = [reference.uniform_optimal(sizes, size) for size in range(9)]
    assert mt.optimal_errors(problem, 8, exact=True).tolist() == expected


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)).filter(any), min_size=1, max_size=3),
    bias_lists(2),
)
def test_the_papers_two_bias_recurrence(counts, two_biases):
    bias1, bias2 = two_biases
    terms, given_biases = [], {}
    for number, (count1, count2) in enumerate(counts):
        names = [f"x{number}_{k}" for k in range(count1)] + [
            f"y{number}_{k}" for k in range(count2)
        ]
        terms.append(" & ".join(names))
        given_biases |= {name: bias1 if name[0] == "x" else bias2 for name in names}
    problem = mt.FormulaProblem(" | ".join(terms), given_biases)
    exact1, exact2 = map(as_written, two_biases)
    expected = [
        reference.two_bias_optimal(tuple(sorted(counts)), exact1, exact2, size) for size in range(7)
    ]
    assert mt.optimal_errors(problem, 6, exact=True).tolist() == expected


@given(formula_cases())
def test_the_recurrence_for_any_biases(case):
    expected = [reference.any_bias_optimal(case.term_chances, size) for size in range(6)]
    assert mt.optimal_errors(case.problem, 5, exact=True).tolist() == expected


@given(formula_cases())
def test_floats_are_the_exact_errors_rounded(case):
    exact = mt.optimal_errors(case.problem, LARGEST, exact=True).astype(float)
    computed = mt.optimal_errors(case.problem, LARGEST)
    assert computed.dtype == float
    np.testing.assert_allclose(computed, exact, rtol=0, atol=1e-12)


@given(formula_cases(max_variables=5), st.booleans())
def test_the_tree_attains_the_error_and_the_size(case, exact):
    solved = mt.optimal_trees(case.problem, LARGEST, exact=exact)
    for size in range(LARGEST + 1):
        tree = solved.tree(size)
        error = reference.tree_error(case.table, nested(tree))
        assert tree.size <= size
        assert float(abs(error - solved.errors[size])) <= (0 if exact else 1e-12)
        assert tree.size == 0 or solved.errors[tree.size - 1] > solved.errors[size]
    assert mt.optimal_tree(case.problem, 3).error(case.problem) == pytest.approx(
        float(solved.errors[3]), abs=1e-12
    )


@given(formula_cases(), st.sampled_from([mt.TopDown(), mt.BestFirst(), mt.ID3("gini", "first")]))
def test_no_grower_is_better_at_any_size(case, rule):
    optimal = mt.optimal_errors(case.problem, LARGEST, exact=True)
    greedy = rule.grow(case.problem, LARGEST).exact_errors
    assert all(best <= error for best, error in zip(optimal, greedy, strict=True))
    assert optimal[0] == greedy[0]


@given(formula_cases())
def test_errors_never_rise_and_end_at_zero(case):
    exact = mt.optimal_errors(case.problem, 64, exact=True)
    assert (np.diff(exact) <= 0).all()
    assert exact[-1] == 0
    computed = mt.optimal_errors(case.problem, 64)
    assert (np.diff(computed) <= 0).all()
    assert computed[-1] == 0


@given(formula_cases(), st.integers(0, 6))
def test_a_smaller_limit_gives_the_beginning(case, size):
    for exact in (False, True):
        whole = mt.optimal_errors(case.problem, LARGEST, exact)
        assert mt.optimal_errors(case.problem, size, exact).tolist() == whole[: size + 1].tolist()


@given(formula_cases(max_irrelevant=3))
def test_irrelevant_variables_change_nothing(case):
    own = {name: case.biases[name] for term in case.formula for name, _ in term}
    expected = mt.optimal_errors(mt.FormulaProblem(case.text, own), 8, exact=True)
    assert mt.optimal_errors(case.problem, 8, exact=True).tolist() == expected.tolist()


@given(formula_cases(), st.randoms(use_true_random=False))
def test_names_and_orders_change_nothing(case, random):
    terms = [list(term) for term in case.formula]
    for term in terms:
        random.shuffle(term)
    random.shuffle(terms)
    text = " | ".join(
        " & ".join(f"renamed_{name}" if positive else f"~renamed_{name}" for name, positive in term)
        for term in terms
    )
    renamed = {f"renamed_{name}": bias for name, bias in case.biases.items()}
    for exact in (False, True):
        computed = mt.optimal_errors(mt.FormulaProblem(text, renamed), 8, exact)
        assert computed.tolist() == mt.optimal_errors(case.problem, 8, exact).tolist()


@given(formula_cases(), st.data())
def test_flipping_a_literal_with_its_bias_changes_nothing(case, data):
    flipped = data.draw(st.sets(st.sampled_from([n for term in case.formula for n, _ in term])))
    text = " | ".join(
        " & ".join(n if positive != (n in flipped) else f"~{n}" for n, positive in term)
        for term in case.formula
    )
    other = {n: 1 - bias if n in flipped else bias for n, bias in case.exact_biases.items()}
    computed = mt.optimal_errors(mt.FormulaProblem(text, other), 8, exact=True)
    assert computed.tolist() == mt.optimal_errors(case.problem, 8, exact=True).tolist()


def barely_moved(case: FormulaCase) -> FormulaCase:
    """Almost the same biases, with denominators beyond 64 bits."""
    tiny = Fraction(1, 10**30)
    return FormulaCase(case.formula, {n: bias + tiny for n, bias in case.exact_biases.items()})


@settings(max_examples=30)
@given(formula_cases(max_variables=5))
def test_python_integers_and_machine_integers_agree(case):
    narrow = mt.optimal_trees(case.problem, 6, exact=True)
    assume(program_rows(narrow).dtype == np.int64)
    moved = barely_moved(case)
    wide = mt.optimal_trees(moved.problem, 6, exact=True)
    assert program_rows(wide).dtype == object
    np.testing.assert_allclose(
        wide.errors.astype(float), narrow.errors.astype(float), rtol=0, atol=1e-12
    )
    expected = [reference.any_bias_optimal(moved.term_chances, size) for size in range(5)]
    assert wide.errors[:5].tolist() == expected


@settings(max_examples=30)
@given(formula_cases(max_variables=5))
@example(FormulaCase(((("a", True),),), {"a": Fraction(1, 2)}))
def test_an_exact_tree_attains_the_exact_error_near_even_leaves(case):
    """A leaf's rate may differ from 1/2 by less than a float can tell."""
    problem = barely_moved(case).problem
    solved = mt.optimal_trees(problem, 4, exact=True)
    for size in range(5):
        assert solved.tree(size).error(problem, exact=True) == solved.errors[size]
