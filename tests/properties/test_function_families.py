"""Families of Boolean functions, and the sizes that their members need."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.families import exact_sizes, function_classes, table_growth
from mictree.growers.choosing import gains_by
from tests.reference import functions as reference

CRITERIA = ("entropy", "gini", "root", "minority")


def plain(kernel):
    """A kernel's twin in plain Python; with NUMBA_DISABLE_JIT, which has none, itself."""
    return getattr(kernel, "py_func", kernel)


def found(family: mt.families.FunctionFamily) -> dict[int, int]:
    return dict(zip(family.tables.tolist(), family.counts.tolist(), strict=True))


@pytest.mark.parametrize("variables", [1, 2, 3])
class TestAgainstEnumeration:
    def test_functions(self, variables):
        every = reference.all_functions(variables)
        expected = reference.classes(every, inputs=True, output=True)
        assert found(mt.families.functions(variables)) == expected

    def test_functions_of_another_bias(self, variables):
        every = reference.all_functions(variables)
        expected = reference.classes(every, inputs=False, output=True)
        assert found(mt.families.functions(variables, bias=0.3)) == expected

    def test_monotone(self, variables):
        every = [each for each in reference.all_functions(variables) if reference.is_monotone(each)]
        expected = reference.classes(every, inputs=False, output=False)
        assert found(mt.families.monotone(variables)) == expected

    @pytest.mark.parametrize("bias", [0.5, 0.3])
    def test_threshold(self, variables, bias):
        every = list(reference.threshold_functions(variables, largest=3))
        expected = reference.classes(every, inputs=bias == 0.5, output=True)
        assert found(mt.families.threshold(variables, bias)) == expected


KNOWN = {  # members and functions, for 1, 2, ... variables
    "functions": [(2, 4), (4, 16), (14, 256), (222, 2**16), (616126, 2**32)],
    "monotone": [(3, 3), (5, 6), (10, 20), (30, 168), (210, 7581), (16353, 7828354)],
    "threshold": [(2, 4), (3, 14), (6, 104), (15, 1882), (63, 94572)],
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_counts(name):
    for variables, (members, functions) in enumerate(KNOWN[name], start=1):
        family = getattr(mt.families, name)(variables)
        assert (len(family), family.counts.sum()) == (members, functions)
        assert (np.diff(family.tables.astype(object)) > 0).all()


@pytest.mark.parametrize("variables", [1, 2, 3, 4])
def test_gluing_two_functions_finds_the_classes_of_the_full_search(variables):
    expected, computed = (
        function_classes.symmetry_classes(variables),
        function_classes.glued_classes(variables),
    )
    np.testing.assert_array_equal(computed.tables, expected.tables)
    np.testing.assert_array_equal(computed.counts, expected.counts)


@settings(max_examples=20)
@given(st.integers(0, 616125), st.permutations(range(5)), st.integers(0, 31), st.booleans())
def test_a_member_of_five_variables_is_the_least_of_its_class(member, order, flips, negated):
    family = five_variables()
    labels = family.table(member)
    rows = np.arange(32)
    source = sum((rows >> order[place] & 1) << place for place in range(5)) ^ flips
    image = reference.as_integer((labels[source] ^ negated).tolist())
    assert image >= family.tables[member]


_FIVE = []


def five_variables() -> mt.families.FunctionFamily:
    if not _FIVE:
        _FIVE.append(mt.families.functions(5))
    return _FIVE[0]


def test_a_member_is_a_problem():
    family = mt.families.functions(3)
    assert repr(family) == "functions(variables=3, bias=0.5)"
    member = family.tables.tolist().index(0b00010110)
    problem = family.problem(member)
    assert problem.variables == ("x1", "x2", "x3")
    assert problem.truth_table.tolist() == [0, 1, 1, 0, 1, 0, 0, 0]
    assert problem.probabilities == (Fraction(1, 8),) * 8
    skewed = mt.families.monotone(2, bias=0.1).problem(1)
    assert skewed.truth_table.tolist() == [0, 0, 0, 1]
    assert skewed.positive_rate({}, exact=True) == Fraction(1, 100)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: mt.families.functions(6),
            "functions with bias 0.5 must have 1 to 5 variables; got 6",
        ),
        (lambda: mt.families.functions(0), "must have 1 to 5 variables; got 0"),
        (lambda: mt.families.functions(-1), "must have 1 to 5 variables; got -1"),
        (lambda: mt.families.up_to(0), "variables must be an integer of at least 1; got 0"),
        (lambda: mt.families.grid(2, -1), "max_literals must be an integer of at least 1; got -1"),
        (lambda: mt.families.functions(5, bias=0.3), "bias 0.3 must have 1 to 4 variables; got 5"),
        (lambda: mt.families.threshold(6), "1 to 5 variables; got 6"),
        (
            lambda: mt.families.monotone(7),
            "monotone with bias 0.5 must have 1 to 6 variables; got 7",
        ),
        (lambda: mt.families.functions("3"), "must have 1 to 5 variables; got '3'"),
        (lambda: mt.families.functions(3, bias=1), "strictly between 0 and 1"),
        (lambda: mt.families.functions(2).problem(4), "numbered from 0 to 3; got 4"),
        (lambda: mt.families.functions(2).problem(-1), "member must be an integer of at least 0"),
        (lambda: exact_sizes([1], 2, "none"), "criterion must be one of"),
        (lambda: exact_sizes([1], 7), "variables must be from 1 to 6; got 7"),
        (lambda: exact_sizes([1], 0), "variables must be from 1 to 6; got 0"),
        (lambda: exact_sizes([16], 2), "a truth table of 2 variables is below 2..4; got 16"),
        (lambda: exact_sizes([-1], 2), "got -1"),
        (lambda: exact_sizes([1], 2, bias=0), "strictly between 0 and 1"),
        (
            lambda: exact_sizes([1], 6, bias=0.0001),
            "denominator is at most 1,290; got 1/10000",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_sizes_of_all_functions_of_three_variables(criterion):
    every = [labels for count in (1, 2, 3) for labels in reference.all_functions(count)]
    for count in (1, 2, 3):
        some = [labels for labels in every if len(labels) == 2**count]
        tables = [reference.as_integer(labels) for labels in some]
        computed = exact_sizes(tables, count, criterion)
        expected = [reference.sizes(labels, criterion) for labels in some]
        assert list(zip(*(each.tolist() for each in computed), strict=True)) == expected


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("bias", [Fraction(3, 10), Fraction(2, 3)])
def test_sizes_with_another_bias(criterion, bias):
    some = reference.all_functions(3)[::3]
    computed = exact_sizes([reference.as_integer(each) for each in some], 3, criterion, bias)
    expected = [reference.sizes(each, criterion, (bias,) * 3) for each in some]
    assert list(zip(*(each.tolist() for each in computed), strict=True)) == expected


def recurrence(problem, leaf) -> tuple[int, int]:
    """The smallest and largest greedy tree below a leaf, by the problem's own splits."""
    if leaf.pure:
        return 0, 0
    splits = problem.splits(leaf)
    offered = gains_by("entropy")(problem, leaf, splits)
    results = []
    for variable, gain in zip(splits.variables, offered, strict=True):
        if gain >= offered.max() * (1 - 1e-10):
            low, high = (recurrence(problem, child) for child in problem.children(leaf, variable))
            results.append((1 + low[0] + high[0], 1 + low[1] + high[1]))
    return min(best for best, _ in results), max(worst for _, worst in results)


def test_sizes_of_four_variables_by_a_second_recurrence():
    family = mt.families.functions(4)
    computed = exact_sizes(family.tables, 4)
    for member in range(0, len(family), 5):
        problem = family.problem(member)
        errors = mt.optimal_errors(problem, 15, exact=True)
        assert computed.perfect_size[member] == np.argmax(errors == 0)
        best, worst = recurrence(problem, problem.root())
        assert computed.greedy_size_best[member] == best
        assert computed.greedy_size_worst[member] == worst
        for rule in (mt.TopDown(ties="first"), mt.BestFirst(), mt.ID3(ties="random", seed=member)):
            assert best <= len(rule.grow(problem, 16).steps) <= worst


@given(st.integers(0, 2**32 - 1), st.permutations(range(5)), st.integers(0, 31), st.booleans())
def test_sizes_are_those_of_the_whole_class(table, order, flips, negated):
    rows = np.arange(32)
    labels = table >> rows & 1
    source = sum((rows >> order[place] & 1) << place for place in range(5)) ^ flips
    image = reference.as_integer((labels[source] ^ negated).tolist())
    computed = exact_sizes([table, image], 5)
    assert all(one == other for one, other in computed)
    assert computed.perfect_size[0] <= computed.greedy_size_best[0] <= computed.greedy_size_worst[0]


def test_a_function_may_ignore_variables():
    parity = 0b0110_0110_0110_0110  # of the first two of four variables
    assert [each.tolist() for each in exact_sizes([parity], 4)] == [[3], [3], [15]]
    assert [each.tolist() for each in exact_sizes([0b0110], 2)] == [[3], [3], [3]]


def test_compiled_kernels_equal_their_twins():
    group = function_classes.Symmetries.of(2, inputs=True, output=True)
    orbits = []
    for kernel in (function_classes._fill_orbits, plain(function_classes._fill_orbits)):
        class_of, moved_by = np.full(16, -1), np.empty(16, dtype=np.int64)
        kernel(*group, class_of, moved_by)
        orbits.append((class_of.tolist(), moved_by.tolist()))
    assert orbits[0] == orbits[1]
    class_of, moved_by, tables, _ = function_classes._orbits(2, group)
    counts = []
    for kernel in (function_classes._glue, plain(function_classes._glue)):
        counts.append(np.zeros((len(tables), 16), dtype=np.int16))
        kernel(0, len(tables), 3, tables, class_of, moved_by, *group, counts[-1])
    np.testing.assert_array_equal(*counts)
    every = np.arange(256, dtype=np.uint64)
    rows = function_classes.Symmetries.of(3, inputs=False, output=False).rows
    codes = np.array([0, 1, 3, 4, 9, 10, 12, 13])
    for kernel, arguments in (
        (function_classes._count_fixing, (every, rows)),
        (function_classes._are_threshold, (every, codes, 27)),
    ):
        out = np.zeros((2, 256), dtype=np.int64)
        kernel(0, 256, *arguments, out[0])
        plain(kernel)(0, 256, *arguments, out[1])
        np.testing.assert_array_equal(*out)
    for bias in (Fraction(1, 2), Fraction(1, 3)):
        cubes = table_growth.Subcubes.of(2, bias)
        gains = table_growth.CriterionGains("entropy", cubes)
        out = np.zeros((2, 3, 16), dtype=np.int64)
        for number, kernel in enumerate(
            (table_growth._fill_sizes, plain(table_growth._fill_sizes))
        ):
            kernel(0, 16, every[:16], cubes, gains.arrays, out[number])
        np.testing.assert_array_equal(*out)
        assert out[0, :, :4].tolist() == [[0, 2, 2, 1]] * 3
