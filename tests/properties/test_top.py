"""optimal_errors(top=k) against every tree of allowed splits, and at k = 1 and k = all."""

from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree._support import progress
from mictree.impurity import CRITERIA
from mictree.optimal import allowed as allowed_subcubes
from mictree.optimal import lattice as lattices
from mictree.optimal import restricted
from mictree.optimal.solve import Top
from mictree.problems.sample import Limits
from tests.clock import LookedAt
from tests.properties.test_noise import noisy_cases
from tests.reference import Table
from tests.reference.top import (
    allowed,
    allowed_trees,
    greedy_trees,
    least_by_recursion,
    least_of,
    prunings,
    sample_top_errors,
)
from tests.strategies import (
    TableCase,
    formula_cases,
    nested,
    sample_problem,
    samples,
    table_cases,
    table_problem,
)

SIZE = 5
CASES = st.one_of(
    formula_cases(max_variables=3, max_irrelevant=1, most_distinct=2),
    formula_cases(max_variables=3),
    table_cases(max_variables=3, min_variables=3),
    noisy_cases(max_variables=3),
)
CRITERION = st.sampled_from(list(CRITERIA))


@settings(max_examples=60)
@given(CASES, CRITERION, st.sampled_from([2, 1, 3]))
def test_no_tree_of_allowed_splits_is_better(case, criterion, top):
    expected = least_of(case.table, allowed_trees(case.table, (), top, criterion), SIZE)
    solved = mt.optimal_trees(case.problem, SIZE, exact=True, top=top, criterion=criterion)
    assert solved.errors.tolist() == expected
    rounded = mt.optimal_errors(case.problem, SIZE, top=top, criterion=criterion)
    np.testing.assert_allclose(rounded, np.array(expected, dtype=float), rtol=0, atol=1e-14)
    for size in (1, 3, SIZE):
        tree = nested(solved.tree(size))
        check_allowed(case.table, (), tree, top, criterion)
        assert solved.tree(size).error(case.problem, exact=True) == expected[size]


def check_allowed(table, leaf, tree, top, criterion):
    if not isinstance(tree, int):
        assert tree[0] in allowed(table, leaf, top, criterion)
        for value in (0, 1):
            check_allowed(table, (*leaf, (tree[0], value)), tree[1 + value], top, criterion)


@settings(max_examples=60)
@given(
    st.one_of(table_cases(max_variables=4, min_variables=3), noisy_cases(max_variables=3)),
    CRITERION,
    st.sampled_from([2, 1, 3]),
)
def test_subcubes_allow_what_the_reference_allows(case, criterion, top):
    check_subcubes(case, criterion, top)


def check_subcubes(case, criterion, top):
    computed, reached_ones = allowed_subcubes.allowed_variables(case.problem, Top(top, criterion))
    names, settled = case.table.names, case.problem.settled
    expected, waiting = {}, [()]
    while waiting:
        path = waiting.pop()
        subcube = sum(3**i * dict(path).get(name, 2) for i, name in enumerate(names))
        if subcube in expected:
            continue
        tests = [] if settled[subcube] else allowed(case.table, path, top, criterion)
        expected[subcube] = sum(1 << names.index(name) for name in tests)
        waiting += [(*path, (name, value)) for name in tests for value in (0, 1)]
    assert set(np.flatnonzero(reached_ones).tolist()) == set(expected)
    assert {subcube: int(computed[subcube]) for subcube in expected} == expected


@settings(max_examples=60)
@given(formula_cases(max_variables=5, most_distinct=2), CRITERION, st.integers(1, 4))
def test_restrictions_allow_what_the_reference_allows(case, criterion, top):
    problem = case.problem
    lattice = lattices.build(problem, 3, 2**30, Top(top, criterion))
    numbers = {}
    for number in range(1, len(lattice)):
        terms = sorted(lattice.values[term] for term in lattice.terms[number] if term)
        numbers[tuple(terms)] = number
    found, waiting = set(), [()]
    while waiting:
        path = waiting.pop()
        leaf = problem.leaf(dict(path))
        if leaf.pure or problem.key(leaf) in found:
            continue
        found.add(problem.key(leaf))
        number = numbers[problem.key(leaf)]
        if len(path) == 3:
            continue
        tests = allowed(case.table, path, top, criterion)
        places = [problem.variables.index(name) for name in tests]
        kinds = {
            (leaf.state.terms[problem.term_of[place]], problem.value_of[place])
            for place in places
            if problem.term_of[place] >= 0 and leaf.state.terms[problem.term_of[place]] is not None
        }
        edges = lattice.graph.edges(number)
        assert kinds == {
            (lattice.tested_term(number, edge), lattice.graph.value[edge]) for edge in edges
        }
        # nearest first, and without variables that change nothing
        waiting = [
            *((*path, (name, value)) for name, place in zip(tests, places, strict=True)
              for value in (0, 1) if problem.term_of[place] >= 0),
            *waiting,
        ]  # fmt: skip
    assert set(numbers) == found


@settings(max_examples=40)
@given(CASES, CRITERION)
def test_the_best_pruning_of_all_greedy_trees(case, criterion):
    trees = (
        pruned for tree in greedy_trees(case.table, (), criterion) for pruned in prunings(tree)
    )
    expected = least_of(case.table, trees, SIZE)
    computed = mt.optimal_errors(case.problem, SIZE, exact=True, top=1, criterion=criterion)
    assert computed.tolist() == expected


def with_copies(table, flips):
    """The table with one more variable for each old one: always equal to it, or never."""
    count, rows = len(table.names), len(table.labels)
    mask = sum(flip << place for place, flip in enumerate(flips))
    weights = [Fraction(0)] * rows**2
    for row in range(rows):
        weights[row + rows * (row ^ mask)] = table.weights[row]
    names = (*table.names, *(f"copy{place}" for place in range(count)))
    return Table(names, table.labels * rows, tuple(weights))


@settings(max_examples=40, deadline=None)
@given(table_cases(max_variables=3, min_variables=3), CRITERION, st.sampled_from([2, 3]), st.data())
def test_copies_of_variables_change_no_error(case, criterion, top, data):
    table = with_copies(case.table, data.draw(st.tuples(*[st.booleans()] * 3)))
    expected = least_by_recursion(case.table, top, criterion, SIZE)
    assert least_by_recursion(table, top, criterion, SIZE) == expected
    problem = table_problem(table)
    computed = mt.optimal_errors(problem, SIZE, exact=True, top=top, criterion=criterion)
    assert computed.tolist() == expected


@settings(max_examples=30)
@given(table_cases(max_variables=3, min_variables=3), CRITERION, st.sampled_from([2, 3]), st.data())
def test_subcubes_with_copies_allow_what_the_reference_allows(case, criterion, top, data):
    copied = TableCase(with_copies(case.table, data.draw(st.tuples(*[st.booleans()] * 3))))
    check_subcubes(copied, criterion, top)
    best = Top(top, criterion)
    by_kernel = allowed_subcubes._by_kernel(copied.problem, best)
    one_by_one = allowed_subcubes._one_by_one(copied.problem, best)
    for one, other in zip(by_kernel, one_by_one, strict=True):
        assert one.tolist() == other.tolist()


CHOSEN = "a & (b ^ c) | ~a & d"


def test_a_copy_takes_no_place_of_its_own():
    """Of two places, the better of the two splits and its copy took both."""
    alone = mt.TableProblem.from_formula(CHOSEN)
    assert alone.variables == ("a", "b", "c", "d")
    weights = [float(row // 16 == (row >> 3 & 1)) / 16 for row in range(32)]
    table = mt.TableProblem(alone.truth_table.tolist() * 2, weights)
    rows = [[row >> place & 1 for place in (0, 1, 2, 3, 3)] for row in range(16)]
    data = mt.SampleProblem(rows, alone.truth_table)
    expected = [0.5, 0.25, 0.25, 0.25, 0.125, 0.0]
    assert mt.optimal_errors(alone, 5, top=2).tolist() == expected
    assert mt.optimal_errors(table, 5, top=2).tolist() == expected
    assert mt.optimal_errors(data, 5, top=2).tolist() == expected


LARGER = st.one_of(
    formula_cases(max_variables=6, most_distinct=3), table_cases(max_variables=5), noisy_cases()
)


@settings(max_examples=40)
@given(LARGER, CRITERION)
def test_all_variables_are_no_restriction_and_more_are_never_worse(case, criterion):
    count = len(case.problem.variables)
    curves = [
        mt.optimal_errors(case.problem, 8, exact=True, top=top, criterion=criterion)
        for top in range(1, count + 1)
    ]
    assert curves[-1].tolist() == mt.optimal_errors(case.problem, 8, exact=True).tolist()
    for fewer, more in pairwise(curves):
        assert (more <= fewer).all()
    for rule in (mt.TopDown(criterion), mt.BestFirst(criterion, "first"), mt.ID3(criterion)):
        assert (curves[0] <= rule.grow(case.problem, 8).exact_errors).all()


@settings(max_examples=30)
@given(formula_cases(max_variables=6, most_distinct=2), CRITERION, st.integers(1, 5))
def test_a_formula_and_its_table_agree(case, criterion, top):
    settings = {"exact": True, "top": top, "criterion": criterion}
    one = mt.optimal_errors(case.problem, 9, **settings)
    assert one.tolist() == mt.optimal_errors(case.table_problem, 9, **settings).tolist()


@settings(max_examples=60)
@given(samples(most_rows=10), CRITERION, st.integers(1, 4), st.booleans())
def test_data(case, criterion, top, exact):
    rows, labels, weights = case
    labels = [sorted(set(labels)).index(label) for label in labels]
    expected = sample_top_errors(rows, labels, weights, top, criterion, 4)
    problem = sample_problem(rows, labels, weights)
    solved = mt.optimal_trees(problem, 4, exact, top=top, criterion=criterion)
    assert solved.errors.proved.all()
    if exact:
        assert solved.errors.tolist() == expected
    np.testing.assert_allclose(
        np.array(solved.errors, dtype=float), np.array(expected, dtype=float), rtol=0, atol=1e-12
    )
    for size in range(5):
        error = solved.tree(size).error(problem, exact=True)
        assert float(error) == pytest.approx(float(expected[size]), abs=1e-12)


@settings(max_examples=60)
@given(samples(most_rows=16, min_rows=8), CRITERION, st.integers(1, 3), st.data())
def test_copies_of_columns_change_no_error(case, criterion, top, data):
    rows, labels, weights = case
    flips = data.draw(st.tuples(*[st.booleans()] * len(rows[0])))
    more = [(*row, *(value ^ flip for value, flip in zip(row, flips, strict=True))) for row in rows]
    one, other = (
        mt.optimal_errors(
            sample_problem(each, labels, weights), 4, True, top=top, criterion=criterion
        )
        for each in (rows, more)
    )
    assert one.tolist() == other.tolist()
    codes = [sorted(set(labels)).index(label) for label in labels]
    assert one.tolist() == sample_top_errors(rows, codes, weights, top, criterion, 4)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_copies_of_numbers_change_no_error(packed, sign, monkeypatch):
    """A falling copy of a column offers the complements of its thresholds."""
    if not packed:
        monkeypatch.setattr(restricted.PackedLeaves, "hold", lambda problem: False)
    random = np.random.default_rng(5)
    X, y = random.integers(0, 6, (40, 3)).astype(float), random.integers(0, 2, 40)
    copied = np.column_stack([X, sign * X**3])
    one, other = (
        mt.optimal_errors(mt.SampleProblem(each, y), 4, True, top=2) for each in (X, copied)
    )
    assert one.tolist() == other.tolist()
    literals = [[int(value > cut) for value in row for cut in range(5)] for row in X]
    assert one.tolist() == sample_top_errors(literals, y.tolist(), [1] * 40, 2, "entropy", 4)


@settings(max_examples=30)
@given(samples(most_rows=12), st.sampled_from([None, 1, 2, 3]))
def test_all_literals_are_no_restriction_on_data(case, max_depth):
    problem = sample_problem(*case)
    every = mt.optimal_errors(problem, 5, True, max_depth=max_depth, top=99)
    assert every.tolist() == mt.optimal_errors(problem, 5, True, max_depth=max_depth).tolist()


def test_limits_of_a_learner_do_not_restrict_the_optimum():
    rows, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    problem = mt.SampleProblem(rows, labels, limits=Limits(min_samples_leaf=2, max_depth=1))
    for top in (None, 1, 2):
        assert mt.optimal_errors(problem, 3, top=top)[3] == 0


@pytest.mark.parametrize("stop", ["time", "memory", "ctrl-c"])
def test_a_search_that_ends_early_gives_an_interval(stop, monkeypatch):
    random = np.random.default_rng(3)
    X, y = random.integers(0, 2, (60, 7)), random.integers(0, 2, 60)
    problem = mt.SampleProblem(X, y)
    whole = mt.optimal_trees(problem, 6, exact=True, top=3)
    assert whole.errors.proved.all()
    settings = {}
    if stop == "time":
        clock = LookedAt()
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=clock.monotonic))
        settings = {"time_limit": 0.2}
    elif stop == "memory":
        settings = {"memory_limit": 60 * (2 * problem.valid.nbytes + restricted.STATE_BYTES)}
    else:
        interrupt_after(20, monkeypatch)
    part = mt.optimal_trees(problem, 6, exact=True, top=3, **settings)
    monkeypatch.undo()
    assert part.sub_problems < whole.sub_problems
    assert part.interrupted == (stop == "ctrl-c")
    assert not part.errors.proved.all()
    assert part.errors.proved[:2].all()
    assert (part.errors.lower <= whole.errors.upper).all()
    assert (whole.errors.upper <= part.errors.upper).all()
    for size in range(7):
        assert part.tree(size).error(problem, exact=True) == part.errors.upper[size]


def test_progress_on_data(monkeypatch):
    monkeypatch.setattr(restricted, "REPORTED", 10)
    random = np.random.default_rng(3)
    problem = mt.SampleProblem(random.integers(0, 2, (60, 7)), random.integers(0, 2, 60))
    told = []
    solved = mt.optimal_trees(problem, 4, top=3, progress=told.append)
    assert len(told) == -(-solved.sub_problems // 10)
    assert {each.what for each in told} == {"row sets"}
    assert told[0].detail == "0 of 1 found so far are done, 0 tests deep"
    assert told[1].detail.startswith("10 of ")


def interrupt_after(count, monkeypatch):
    expand, done = restricted._States._expand, []

    def until(self, number):
        done.append(number)
        if len(done) > count:
            raise KeyboardInterrupt
        return expand(self, number)

    monkeypatch.setattr(restricted._States, "_expand", until)


@settings(max_examples=30)
@given(table_cases(max_variables=4), CRITERION, st.integers(1, 3))
def test_masses_beyond_the_integers_of_floats(case, criterion, top):
    """The path for huge denominators gives what the kernel gives."""
    best = Top(top, criterion)
    by_kernel = allowed_subcubes._by_kernel(case.problem, best)
    one_by_one = allowed_subcubes._one_by_one(case.problem, best)
    for computed, expected in zip(by_kernel, one_by_one, strict=True):
        assert computed.tolist() == expected.tolist()


def test_a_huge_denominator():
    tiny = Fraction(1, 10**30)
    problem = mt.TableProblem(
        [0, 1, 1, 0], [Fraction(1, 4) + tiny, *[Fraction(1, 4)] * 2, Fraction(1, 4) - tiny]
    )
    assert mt.optimal_errors(problem, 3, exact=True, top=1)[3] == 0


def own_gini(rate):
    return 2 * rate * (1 - rate)


@settings(max_examples=20)
@given(CASES, st.integers(1, 3))
def test_own_criteria(case, top):
    own, known = (
        mt.optimal_errors(case.problem, 6, True, top=top, criterion=criterion)
        for criterion in (own_gini, "gini")
    )
    assert own.tolist() == known.tolist()


def test_own_criteria_on_data_and_what_they_raise():
    data = mt.SampleProblem([[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1]] * 2, [0, 1, 1, 0] * 2)
    formula = mt.FormulaProblem("a & b | c")
    table = mt.TableProblem([0, 1, 1, 0])
    own = mt.optimal_errors(data, 3, True, top=1, criterion=own_gini)
    assert own.tolist() == mt.optimal_errors(data, 3, True, top=1, criterion="gini").tolist()
    for problem in (data, formula, table):
        with pytest.raises(ValueError, match="an impurity must be a finite number"):
            mt.optimal_errors(problem, 3, top=1, criterion=lambda rate: -1.0)
        with pytest.raises(ZeroDivisionError):
            mt.optimal_errors(problem, 3, top=1, criterion=lambda rate: 1 / 0)


@pytest.mark.parametrize("top", [0, -1, 1.5, True, "2"])
def test_bad_tops(top):
    with pytest.raises(ValueError, match="top must be"):
        mt.optimal_errors(mt.FormulaProblem("a"), 1, top=top)


def test_a_bad_criterion():
    with pytest.raises(ValueError, match="criterion must be one of"):
        mt.optimal_errors(mt.FormulaProblem("a"), 1, top=1, criterion="purity")


def test_a_formula_whose_lattice_is_too_large_for_the_optimum():
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([4] * 12), list(np.linspace(0.3, 0.7, 48)))
    with pytest.raises(ValueError, match="memory_limit"):
        mt.optimal_errors(problem, 40)
    greedy = mt.TopDown().grow(problem, 40).errors
    errors = mt.optimal_errors(problem, 40, top=1)
    assert (errors <= greedy + 1e-12).all()


def test_rows_of_states_are_no_longer_than_needed():
    problem = mt.SampleProblem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    solved = mt.optimal_trees(problem, 100, top=1)
    assert isinstance(solved, restricted.RestrictedTrees)
    assert len(solved.program.row(0)) == 4
