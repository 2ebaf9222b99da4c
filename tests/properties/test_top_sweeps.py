"""The best trees of the best splits of families, against a plain recursion and one by one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.families import FunctionFamily
from mictree.impurity import CRITERIA
from tests.reference.functions import product_table
from tests.reference.top import allowed_trees, least_by_recursion, least_of
from tests.strategies import all_inputs, table_cases

FORMULAS = {
    "uniform": mt.families.up_to(5),
    "two biases": mt.families.grid(2, 2, (0.3, 0.7)),
    "three biases": mt.families.up_to(4, (Fraction(1, 3), 0.5, 0.9)),
    "thirds": mt.families.grid(2, 3, (Fraction(1, 3),)),
}
SIZE = 7


@settings(max_examples=40)
@given(table_cases(max_variables=3), st.sampled_from(sorted(CRITERIA)), st.integers(1, 3))
def test_the_recursion_is_the_list_of_all_trees(case, criterion, top):
    listed = least_of(case.table, allowed_trees(case.table, (), top, criterion), 5)
    assert least_by_recursion(case.table, top, criterion, 5) == listed


def table_of(problem):
    """A formula or a table as plain data."""
    biases = tuple(problem.biases[name] for name in problem.variables)
    rows = all_inputs(len(biases))
    labels = problem.formula.evaluate(rows, problem.variables).astype(int)
    return product_table(tuple(labels.tolist()), biases)


def assert_excess(row, table, top, criterion):
    """The numbers of a row are those of the recursion."""
    optimal = least_by_recursion(table, len(table.names), criterion, SIZE)
    errors = least_by_recursion(table, top, criterion, SIZE)
    excess = [float(one - other) for one, other in zip(errors, optimal, strict=True)]
    assert row["mic"] == pytest.approx(sum(excess) / SIZE, abs=1e-14)
    assert row["largest_excess"] == pytest.approx(max(excess), abs=1e-14)
    assert excess[row["largest_excess_size"]] == pytest.approx(max(excess), abs=1e-14)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(FORMULAS)), st.sampled_from(sorted(CRITERIA)),
       st.integers(1, 4), st.data())  # fmt: skip
def test_formulas_by_recursion(name, criterion, top, data):
    family = FORMULAS[name]
    member = data.draw(st.integers(1, len(family)), label="member")
    row = mt.sweep.tops(family, SIZE, [top], criterion).row(member - 1, named=True)
    assert (row["member"], row["top"], row["criterion"]) == (member, top, criterion)
    assert_excess(row, table_of(family.problem(member)), top, criterion)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**16 - 1), st.sampled_from([Fraction(1, 2), Fraction(3, 10)]),
       st.sampled_from(sorted(CRITERIA)), st.integers(1, 3))  # fmt: skip
def test_functions_by_recursion(number, bias, criterion, top):
    tables = np.array([number], dtype=np.uint64)
    family = FunctionFamily("one", 4, bias, tables, np.ones(1, dtype=np.int64), False)
    (row,) = mt.sweep.tops(family, SIZE, [top], criterion).iter_rows(named=True)
    assert_excess(row, product_table(tuple(family.table(0).tolist()), (bias,) * 4), top, criterion)


LARGER = {
    "formulas": (mt.families.grid(4, 4, (0.3, 0.7)), 40),
    "uniform": (mt.families.up_to(14), 25),
    "functions": (mt.families.functions(4), 15),
    "biased functions": (mt.families.functions(4, bias=0.3), 20),
    "monotone": (mt.families.monotone(6), 12),
}


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", LARGER)
def test_same_numbers_as_mic_over_tops(name, criterion):
    family, size = LARGER[name]
    frame = mt.sweep.tops(family, size, (1, 2, 4), criterion)
    assert frame.height == 3 * len(family)
    for row in frame.sample(12, seed=size).iter_rows(named=True):
        problem = family.problem(row["member"])
        found = mt.mic_over_tops(problem, size, [row["top"]], criterion)
        assert row["mic"] == pytest.approx(found.mic[0], abs=1e-14)
        assert row["largest_excess"] == pytest.approx(found.excess_errors.max(), abs=1e-14)


def test_all_functions_of_a_class_have_the_same_numbers():
    every = FunctionFamily(
        "every", 3, Fraction(1, 2), np.arange(256, dtype=np.uint64), np.ones(256, np.int64), False
    )
    mic = mt.sweep.tops(every, 7, [1, 2])["mic"].to_numpy().reshape(2, 256)
    classes = mt.families.functions(3)
    weighted = mt.sweep.tops(classes, 7, [1, 2])
    for place, top in enumerate((1, 2)):
        chosen = weighted.filter(top=top)
        assert mic[place].sum() == pytest.approx((chosen["mic"] * chosen["count"]).sum())
        assert mic[place][classes.tables].tolist() == chosen["mic"].to_list()


def own_gini(rate):
    return 2 * rate * (1 - rate)


@pytest.mark.parametrize("family", [mt.families.up_to(7, (0.3, 0.5)), mt.families.functions(3)])
def test_own_criteria(family):
    own, known = (mt.sweep.tops(family, 8, [1, 2], c) for c in (own_gini, "gini"))
    np.testing.assert_allclose(own["mic"], known["mic"], atol=1e-14)
    assert set(own["criterion"]) == {"own_gini"}
    with pytest.raises(ValueError, match="an impurity must be a finite number"):
        mt.sweep.tops(family, 3, [1], lambda rate: -1.0)
    with pytest.raises(ZeroDivisionError):
        mt.sweep.tops(family, 3, [1], lambda rate: 1 / 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tops": []}, "tops must have at least one number"),
        ({"tops": [0]}, "top must be at least 1; got 0"),
        ({"tops": [1.5]}, "top must be"),
        ({"max_size": 0}, "max_size must be at least 1"),
        ({"criterion": "purity"}, "criterion must be one of"),
        ({"memory_limit": 99}, "must fit into memory_limit"),
    ],
)
@pytest.mark.parametrize("family", [mt.families.grid(3, 3), mt.families.functions(3)])
def test_what_is_refused(family, settings, message):
    with pytest.raises(ValueError, match=message):
        mt.sweep.tops(family, **settings)


def test_labels_that_a_criterion_treats_differently():
    with pytest.raises(ValueError, match="must treat both labels alike"):
        mt.sweep.tops(mt.families.functions(3), 3, [1], lambda rate: rate * (1 - rate) ** 2)


@pytest.mark.parametrize("family", [mt.families.grid(3, 3), mt.families.functions(3)])
def test_progress(family):
    told = []
    mt.sweep.tops(family, 5, [1, 2], progress=told.append)
    assert list(dict.fromkeys(each.what for each in told)) == [
        "optimal errors", "top 1, entropy", "top 2, entropy"
    ]  # fmt: skip
    assert told[-1].share == 1
