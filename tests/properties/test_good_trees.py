"""Good trees against all trees one by one: counts, shares of variables, samples, chances."""

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.optimal import good as good_module
from mictree.optimal import good_chance, good_counting
from mictree.optimal.good_counting import Counting, FormulaSpace, Watch
from mictree.optimal.good_pairs import Searched
from mictree.optimal.good_rows import RowSpace
from tests.reference.good_trees import (
    Rowset,
    columns_of,
    cost_of,
    every_tree,
    greedy_chances,
    is_settled,
    leaf_cost,
    spectra,
    table_rows,
)
from tests.strategies import formula_cases, table_cases, table_problem

PAPER = "x1 & x2 | y1 & y2 & y3"
WITHIN = st.sampled_from([0, 0.05, Fraction(1, 7), 0.3])


def expected(rows: Rowset, most: int, within, whole=1) -> list[dict[Fraction, int]]:
    """The good trees by error, by size."""
    found, least = [], None
    for counts in spectra(rows, most):
        best = min([*counts, *([] if least is None else [least])])
        least = best
        limit = best + Fraction(str(within)) * whole
        found.append({cost / whole: n for cost, n in counts.items() if cost <= limit})
    return found


def found_in(good: mt.GoodTrees) -> list[dict[Fraction, int]]:
    unit, offset = good._maker.space.unit, good._maker.space.offset
    return [
        {Fraction(error, unit) + offset: count for error, count in spectrum.items()}
        for spectrum in good._spectra
    ]


@settings(max_examples=60, deadline=None)
@given(case=table_cases(3), most=st.integers(0, 4), within=WITHIN)
def test_tables(case, most, within):
    good = mt.good_trees(case.problem, most, within)
    assert found_in(good) == expected(table_rows(case.table), most, within)
    assert len(good) == most + 1
    assert good.errors["count"].to_list() == [
        count for spectrum in found_in(good) for _, count in sorted(spectrum.items())
    ]


@settings(max_examples=30, deadline=None)
@given(case=formula_cases(4), most=st.integers(0, 4), within=WITHIN)
def test_formulas(case, most, within):
    good = mt.good_trees(case.problem, most, within)
    assert found_in(good) == expected(table_rows(case.table), most, within)


@st.composite
def noisy_tables(draw):
    case = draw(table_cases(3))
    labels = draw(
        st.lists(
            st.sampled_from([0, 1, Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)]),
            min_size=len(case.table.labels), max_size=len(case.table.labels),
        )
    )  # fmt: skip
    return type(case.table)(case.table.names, tuple(labels), case.table.weights)


@settings(max_examples=40, deadline=None)
@given(table=noisy_tables(), most=st.integers(0, 4), within=WITHIN)
def test_noisy_tables_split_no_settled_leaf(table, most, within):
    good = mt.good_trees(table_problem(table), most, within)
    assert found_in(good) == expected(table_rows(table), most, within)


@st.composite
def samples(draw):
    """A table of a number, a flag, a category and a number that may be missing; and its twin."""
    count = draw(st.integers(1, 7))
    rows = st.lists(
        st.tuples(
            st.integers(1, 4), st.integers(0, 1), st.sampled_from("abc"),
            st.sampled_from([None, 1.5, 2.0]), st.integers(0, 2), st.integers(1, 3),
        ),
        min_size=count, max_size=count,
    )  # fmt: skip
    drawn = draw(rows)
    weighted = draw(st.booleans())
    frame = pl.DataFrame(
        [row[:4] for row in drawn],
        schema={"age": pl.Int64, "flag": pl.Int64, "town": pl.String, "rent": pl.Float64},
        orient="row",
    )
    labels = [row[4] for row in drawn]
    weights = [row[5] if weighted else 1 for row in drawn]
    problem = mt.SampleProblem(frame, labels, sample_weight=weights if weighted else None)
    costs = [
        [Fraction(weight * (label != each)) for each in problem.classes]
        for label, weight in zip(labels, weights, strict=True)
    ]
    values = [(*row[:3], -1 if row[3] is None else row[3]) for row in drawn]
    return problem, Rowset(("number", "category", "category", "number"), values, costs)


@settings(max_examples=40, deadline=None)
@given(case=samples(), most=st.integers(0, 3), within=WITHIN)
def test_data(case, most, within):
    problem, rows = case
    whole = sum(max(cost) for cost in rows.costs) if len(rows.costs[0]) > 1 else 0
    good = mt.good_trees(problem, most, within)
    if whole:
        weights = problem.weights if len(problem.weights) else None
        whole = Fraction(int(weights.sum())) if weights is not None else len(rows.costs)
        assert found_in(good) == expected(rows, most, within, whole)
    for size, count in enumerate(good.counts):
        trees = list(itertools.islice(good.trees(size), 300))
        assert len(set(trees)) == len(trees) == min(count, 300)
        errors = [tree.error(problem, exact=True) for tree in trees]
        assert errors == sorted(errors)
        assert all(good.contains(tree) and tree.size == size for tree in trees)


@st.composite
def tasks(draw):
    """A small table with a cost matrix, with costs of rows, or with numbers to predict."""
    count = draw(st.integers(2, 6))
    values = [
        (draw(st.integers(1, 4)), draw(st.integers(0, 1)), draw(st.sampled_from("abc")))
        for _ in range(count)
    ]
    frame = pl.DataFrame(
        values, schema={"age": pl.Int64, "flag": pl.Int64, "town": pl.String}, orient="row"
    )
    weights = draw(st.none() | st.lists(st.integers(1, 3), min_size=count, max_size=count))
    whole = [Fraction(weight) for weight in weights or [1] * count]
    kinds = ("number", "category", "category")
    kind = draw(st.sampled_from(["matrix", "costs", "squared"]))
    few = st.sampled_from([0, 1, 2, 3, 0.5])
    if kind == "squared":
        labels = draw(st.lists(st.sampled_from([0, 1, 2.5, 4, -3]), min_size=count, max_size=count))
        problem = mt.SampleProblem(frame, labels, sample_weight=weights, loss="squared")
        costs = [[w, Fraction(str(y))] for w, y in zip(whole, labels, strict=True)]
        return problem, Rowset(kinds, values, costs, True), sum(whole)
    if kind == "costs":
        actions = draw(st.integers(1, 3))
        rows = st.lists(few, min_size=actions, max_size=actions)
        given_costs = draw(st.lists(rows, min_size=count, max_size=count))
        problem = mt.SampleProblem(frame, costs=np.array(given_costs, float), sample_weight=weights)
        costs = [
            [weight * Fraction(str(cost)) for cost in row]
            for weight, row in zip(whole, given_costs, strict=True)
        ]
        return problem, Rowset(kinds, values, costs), sum(whole)
    labels = draw(st.lists(st.sampled_from("uvw"), min_size=count, max_size=count))
    classes = sorted(set(labels))
    matrix = {
        label: {action: 0 if action == label else draw(few) for action in (*classes, "ask")}
        for label in classes
    }
    problem = mt.SampleProblem(frame, labels, sample_weight=weights, cost_matrix=matrix)
    costs = [
        [weight * Fraction(str(matrix[label][action])) for action in (*classes, "ask")]
        for weight, label in zip(whole, labels, strict=True)
    ]
    return problem, Rowset(kinds, values, costs), sum(whole)


@settings(max_examples=60, deadline=None)
@given(case=tasks(), most=st.integers(0, 3), within=WITHIN)
def test_costs_and_numbers(case, most, within):
    problem, rows, whole = case
    good = mt.good_trees(problem, most, within)
    assert found_in(good) == expected(rows, most, within, whole)
    for size, count in enumerate(good.counts):
        trees = list(itertools.islice(good.trees(size), 100))
        assert len(set(trees)) == len(trees) == min(count, 100)
        assert all(good.contains(tree) and tree.size == size for tree in trees)


@settings(max_examples=15, deadline=None)
@given(case=samples(), within=WITHIN)
def test_variables_of_data(case, within):
    problem, rows = case
    most = 2
    good = mt.good_trees(problem, most, within)
    _check_variables(good, rows, most, Fraction(rows_weight(problem)))


@settings(max_examples=25, deadline=None)
@given(case=table_cases(3), within=WITHIN)
def test_variables_of_tables(case, within):
    good = mt.good_trees(case.problem, 3, within)
    _check_variables(good, table_rows(case.table), 3, Fraction(1))


@settings(max_examples=15, deadline=None)
@given(case=formula_cases(4), within=WITHIN)
def test_variables_of_formulas(case, within):
    good = mt.good_trees(case.problem, 3, within)
    _check_variables(good, table_rows(case.table), 3, Fraction(1))


def rows_weight(problem) -> int:
    return int(problem.weights.sum()) if len(problem.weights) else int(problem.class_rows.sum())


def _check_variables(good, rows, most, whole):
    frame, pairs = good.variables, good.pairs()
    least_with: dict[int, Fraction] = {}
    least_without: dict[int, Fraction] = {}
    both_least: dict[tuple[int, int], Fraction] = {}
    neither: dict[tuple[int, int], Fraction] = {}
    names = list(dict.fromkeys(frame["variable"].to_list()))
    for size in range(most + 1):
        trees = [(cost_of(rows, tree) / whole, columns_of(tree)) for tree in every_tree(rows, size)]
        limit = good.optimal_errors[size] + good.within
        chosen = [columns for cost, columns in trees if cost <= limit]
        for number, name in enumerate(names):
            for cost, columns in trees:
                known = least_with if number in columns else least_without
                known[number] = min(cost, known.get(number, cost))
            mine = (pl.col("size") == size) & (pl.col("variable") == name)
            row = frame.row(by_predicate=mine, named=True)
            if chosen:
                assert row["share"] == pytest.approx(
                    sum(number in columns for columns in chosen) / len(chosen), abs=1e-12
                )
            else:
                assert row["share"] is None
            assert row["least_without"] == pytest.approx(float(least_without[number]), abs=1e-12)
            assert near(row["least_with"], least_with.get(number))
            if chosen:
                share = good.shares(size)[name]
                assert share == Fraction(sum(number in each for each in chosen), len(chosen))
        for one, other in itertools.combinations(range(len(names)), 2):
            pair = {one, other}
            for cost, columns in trees:
                if pair <= columns:
                    both_least[one, other] = min(cost, both_least.get((one, other), cost))
                if not pair & columns:
                    neither[one, other] = min(cost, neither.get((one, other), cost))
            row = pairs.row(
                by_predicate=(pl.col("size") == size) & (pl.col("one") == names[one])
                & (pl.col("other") == names[other]),
                named=True,
            )  # fmt: skip
            assert near(row["least_with"], both_least.get((one, other)))
            assert near(row["least_without"], neither[one, other])
            if chosen:
                both = sum(pair <= columns for columns in chosen) / len(chosen)
                assert row["share"] == pytest.approx(both, abs=1e-12)


def near(found: float | None, wanted: Fraction | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return found == pytest.approx(float(wanted), abs=1e-12)


class Script:
    """Draws that go through all that could be drawn, one after another."""

    def __init__(self, start: list[int]) -> None:
        self.start, self.drawn, self.ranges = start, [], []

    def randrange(self, stop: int) -> int:
        place = len(self.drawn)
        self.drawn.append(self.start[place] if place < len(self.start) else 0)
        self.ranges.append(stop)
        return self.drawn[-1]


@pytest.mark.parametrize(
    ("problem", "size", "within"),
    [
        (mt.FormulaProblem("~a & b | c", {"a": 0.3, "b": 0.5, "c": 0.5, "z": 0.7}), 2, 0.2),
        (mt.TableProblem.from_formula("a ^ b & c"), 3, 0.1),
        (mt.SampleProblem([[1, 0], [2, 1], [3, 1], [4, 0]], [0, 1, 0, 1]), 2, 0.25),
    ],
)
def test_samples_are_uniform(problem, size, within):
    good = mt.good_trees(problem, size, within)
    counting, space = good._counting, good._maker.space
    spectrum = good._spectra[size]
    assert sum(spectrum.values()) > 3
    with good._maker.running():
        for error, count in spectrum.items():
            chances: dict = {}
            start: list[int] = []
            while True:
                script = Script(start)
                nested = counting.draw(space.start(), counting.root, size, error, script)
                chance = Fraction(1)
                for stop in script.ranges:
                    chance /= stop
                chances[nested] = chances.get(nested, Fraction(0)) + chance
                while script.drawn and script.drawn[-1] + 1 == script.ranges[-1]:
                    script.drawn.pop()
                    script.ranges.pop()
                if not script.drawn:
                    break
                start = [*script.drawn[:-1], script.drawn[-1] + 1]
            assert set(chances.values()) == {Fraction(1, count)}
            assert len(chances) == count


@settings(max_examples=12, deadline=None)
@given(
    case=formula_cases(3, most_distinct=2), rule=st.sampled_from(["topdown", "bestfirst", "id3"])
)
def test_chances_of_rules(case, rule):
    most, within = 3, Fraction(1, 20)
    good = mt.good_trees(case.problem, most, within)
    rows = table_rows(case.table)

    def inside(path):
        return frozenset(
            place
            for place, values in enumerate(rows.values)
            if all(values[case.table.names.index(name)] == value for name, value in path)
        )

    def is_good(size, leaves):
        cost = sum((leaf_cost(rows, inside(leaf)) for leaf in leaves), Fraction(0))
        split = {leaf[:end] for leaf in leaves for end in range(len(leaf))}
        return cost <= good.optimal_errors[size] + within and not any(
            is_settled(rows, inside(path)) for path in split
        )

    wanted = greedy_chances(case.table, rule, is_good, most)
    chance = good.chance(rule)
    assert chance.runs is None
    assert list(chance.chances) == wanted


@pytest.mark.parametrize("rule", ["topdown", "bestfirst", "id3"])
def test_trees_that_ties_reach(rule):
    problem = mt.FormulaProblem(PAPER)
    good = mt.good_trees(problem, 5)
    reached: list[set] = [set() for _ in range(6)]
    for seed in range(400):
        growth = type(mt.TopDown())(ties="random", seed=seed) if rule == "topdown" else None
        grower = {"topdown": mt.TopDown, "bestfirst": mt.BestFirst, "id3": mt.ID3}[rule]
        growth = grower(ties="random", seed=seed).grow(problem, 5)
        for size in range(6):
            tree = growth.tree(size)
            if tree.size == size and good.contains(tree):
                reached[size].add(tree)
    assert good.chance(rule).reached == tuple(map(len, reached))


def test_too_many_ties_are_run(monkeypatch):
    good = mt.good_trees(mt.TableProblem([0.1, 0.9, 0.3, 0.2, 0.5, 0.5, 1, 0]), 4)
    exact = good.chance("topdown")
    monkeypatch.setattr(good_chance, "MOST_STATES", 3)
    run = good.chance("topdown", runs=400, seed=5)
    assert run.runs == 400
    assert run.reached[-1] is None
    assert np.allclose(np.array(run.chances, float), np.array(exact.chances, float), atol=0.1)
    assert "400 runs" in str(run)


def test_the_paper_s_example():
    good = mt.good_trees(mt.FormulaProblem(PAPER), 8)
    assert good.counts == (1, 2, 2, 14, 72, 12, 36, 168, 72)
    variables = good.variables.filter(pl.col("size") == 5)
    assert variables["share"].to_list() == [1.0] * 5
    assert variables["least_without"].min() > good.optimal_errors[5]


def test_spectra_serve_smaller_limits_only():
    problem = mt.FormulaProblem(PAPER)
    space = FormulaSpace(problem)
    counting = Counting(space)
    small, _ = counting.count(3, 3)
    large, _ = counting.count(3, 11)
    assert small == {3: 14}
    assert large == Counting(space).count(3, 11)[0]
    assert sum(large.values()) > 14
    assert counting.count(3, 3)[0] == small


class TestLimits:
    def test_enough_trees(self):
        good = mt.good_trees(mt.FormulaProblem(PAPER), 8, 0.1, max_count=50)
        assert good.ended[8] == "max_count"
        assert good.counts[8] > 50
        assert "at least" in str(good)
        with pytest.raises(ValueError, match=r"must all be counted; for 8 splits .* by max_count"):
            good.sample(8, 1)
        assert good.counts[2] == len(list(good.trees(2)))

    def test_memory(self):
        whole = mt.good_trees(mt.FormulaProblem(PAPER), 6, 0.2).counts
        space = FormulaSpace(mt.FormulaProblem(PAPER))
        found, ended = Counting(space, watch=Watch(entries=30)).count(6, 20)
        assert ended == "memory_limit"
        assert sum(found.values()) <= whole[6]

    def test_time(self):
        watch = Watch(until=0.0)
        found, ended = Counting(FormulaSpace(mt.FormulaProblem(PAPER)), watch=watch).count(8, 9**9)
        assert ended == "time_limit"
        assert found is not None

    def test_ctrl_c_keeps_what_is_certain(self, monkeypatch):
        monkeypatch.setattr(good_counting, "LOOKS", 64)
        reports = []

        def report(progress):
            reports.append(progress.what)
            if reports.count("counting trees") > 12:
                raise KeyboardInterrupt

        problem = mt.FormulaProblem.from_sizes("3+3+4+5")
        good = mt.good_trees(problem, 9, 0.1, progress=report)
        whole = mt.good_trees(problem, 9, 0.1)
        assert good.ended[-1] == "Ctrl-C"
        assert all(few <= many for few, many in zip(good.counts, whole.counts, strict=True))
        assert good.counts[0] == 1

    def test_sizes_that_are_not_proved(self):
        rng = np.random.default_rng(0)
        problem = mt.SampleProblem(rng.random((300, 5)), rng.integers(0, 2, 300))
        with pytest.raises(ValueError, match=r"must be proved; that of size \d is from .* to "):
            mt.good_trees(problem, 6, time_limit=0.05)

    def test_sizes_that_rounding_leaves_open(self):
        X, y = [[0, 1], [1, 1], [1, 0], [2, 0]], [2, 3e-9, 1, 1e-12]
        problem = mt.SampleProblem(X, y, loss="squared")
        with pytest.raises(ValueError, match="but for rounding: labels or weights have too many"):
            mt.good_trees(problem, 2)


def test_weights_of_seventeen_digits():
    weights = [0.20233792607163714, 0.09884942892032378, 0.37560066234273526]
    weights += [0.18447937100367984, 0.49494766733102]
    problem = mt.SampleProblem([[2.0], [0.0], [7.0], [3.0], [0.0]], [0, 1, 0, 1, 1], weights)
    with pytest.raises(ValueError, match="with sums of at most 53 binary digits"):
        mt.good_trees(problem, 3)


def test_numbers_of_very_different_size():
    problem = mt.SampleProblem([[0], [1]], [1e-12, 1e5], [2, 2], loss="squared")
    assert mt.good_trees(problem, 2).counts == (1, 1, 0)


@pytest.mark.parametrize("within", [10**6, 1e18, 1e300])
@pytest.mark.parametrize("task", ["errors", "costs", "squared"])
def test_all_trees_are_within_a_large_limit(task, within):
    X, y = [[0], [1], [2], [3], [4], [5], [6]], [0, 1, 2, 4, 3, 8, 1]
    given = {
        "errors": {"y": [0, 1, 0, 0, 1, 1, 1]},
        "costs": {"costs": [[0, number] for number in y]},
        "squared": {"y": y, "loss": "squared"},
    }[task]
    problem = mt.SampleProblem(X, **given)
    assert mt.good_trees(problem, 4, within).counts == mt.good_trees(problem, 4, 10).counts


@pytest.mark.parametrize("within", [-0.1, float("nan"), float("inf"), "0.1", None, True])
def test_within_is_checked(within):
    with pytest.raises(ValueError, match="within must be a finite number, not negative"):
        mt.good_trees(mt.TableProblem([0, 1, 1, 0]), 2, within)


def test_other_bad_values():
    problem = mt.TableProblem([0, 1, 1, 0])
    good = mt.good_trees(problem, 2)
    with pytest.raises(ValueError, match="size must be at most 2; got 3"):
        good.sample(3, 1)
    with pytest.raises(ValueError, match="size must be at most 2; the tree has 3"):
        good.contains(mt.optimal_tree(problem, 3))
    with pytest.raises(ValueError, match="the problem must have every variable tested"):
        good.contains(mt.Tree.build(["u", "v"], ("u", 0, 1)))
    with pytest.raises(TypeError, match=r"a mictree\.Tree is needed; got int"):
        good.contains(3)
    with pytest.raises(ValueError, match="max_count"):
        mt.good_trees(problem, 2, max_count=-1)


def test_many_splits_of_data():
    # rows of equal parity that only the fifth variable's high side has: a child of ten splits
    X = [[row >> place & 1 for place in range(5)] for row in range(32)]
    labels = [(row & 15).bit_count() % 2 & row >> 4 for row in range(32)]
    labels[5] = labels[18] = labels[30] = 1
    wanted = mt.good_trees(mt.TableProblem(labels), 12)
    found = mt.good_trees(mt.SampleProblem(X, labels), 12)
    assert found.counts == wanted.counts
    assert found.shares(11) == dict(zip(found.shares(11), wanted.shares(11).values(), strict=True))


def test_more_splits_than_the_search_answers_for():
    X = [[row >> place & 1 for place in range(4)] for row in range(16)]
    labels = [row.bit_count() % 2 for row in range(16)]
    problem, memory = mt.SampleProblem(X, labels), 2**28
    space = RowSpace(problem, memory)
    searched = Searched(space, 3, memory)
    counting = searched.counting(frozenset(), Watch())
    with searched.running():
        counts = [sum(counting.count(size, 4)[0].values()) for size in range(10)]
    good = mt.good_trees(mt.TableProblem(labels), 9, 1)
    assert counts == [
        sum(count for error, count in spectrum.items() if error * 16 <= 4 * good._maker.space.unit)
        for spectrum in good._spectra
    ]


def test_none_within_a_limit_is_not_none_at_all():
    rng = np.random.default_rng(0)
    problem = mt.SampleProblem(rng.integers(0, 2, (60, 5)), rng.integers(0, 2, 60))
    good = mt.good_trees(problem, 3)
    fresh = good._maker.counting()
    least = [int(error * 60) for error in good.optimal_errors]
    assert least[3] > 5
    with good._maker.running():
        for wanted in (frozenset(), frozenset([0]), frozenset([1, 4])):
            assert fresh._least_within(fresh.root, 3, wanted, 2) is None
            found = fresh._least_within(fresh.root, 3, wanted, 60)
            assert found == good._maker.counting()._least_within(fresh.root, 3, wanted, 60)
            assert found >= least[3]
            assert wanted or found == least[3]


@pytest.mark.parametrize("squared", [False, True])
def test_variables_of_deep_trees(squared):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 3, (9, 3)), rng.integers(0, 2 + squared, 9)
    problem = mt.SampleProblem(X.astype(float), y, loss="squared" if squared else None)
    costs = [[Fraction(1), Fraction(int(label))] for label in y]
    if not squared:
        costs = [[Fraction(int(label)), Fraction(1 - int(label))] for label in y]
    rows = Rowset(["number"] * 3, X.tolist(), costs, squared)
    _check_variables(mt.good_trees(problem, 4, 0.02), rows, 4, Fraction(9))


def test_shares_near_one_are_not_one():
    assert good_module._as_share(1 - Fraction(1, 10**40)) < 1
    assert good_module._as_share(Fraction(1, 10**400)) > 0
    assert good_module._as_share(Fraction(1)) == 1
    assert good_module._as_share(Fraction(1, 3)) == 1 / 3


def test_what_is_no_tree_to_be_counted():
    problem = mt.FormulaProblem("a & b", bias={"a": 0.5, "b": 0.5, "z": 0.5})
    good = mt.good_trees(problem, 3, 0.5)
    for nested, counted in (
        (("a", 0, ("b", 0, 1)), True),
        (("a", 0, ("b", 1, 0)), False),  # no majority labels
        (("a", ("z", 0, 0), ("b", 0, 1)), False),  # a pure leaf is split
        (("z", ("a", 0, ("b", 0, 1)), 0), True),
    ):
        assert good.contains(mt.Tree.build(problem.variables, nested)) == counted


def test_29_of_100_rows_are_29():
    X = [[int(row < 60)] for row in range(100)]
    y = [int(row < 29) for row in range(100)]
    # a lone leaf errs on 29 rows, the split on 29 too
    good = mt.good_trees(mt.SampleProblem(X, y), 1, 0.0)
    assert good.counts == (1, 1)
    flipped = mt.SampleProblem(X, [int(row < 60) for row in range(100)])
    assert mt.good_trees(flipped, 0, 0.29).counts == (1,)
    half = [int(row < 50) for row in range(100)]  # 50 errors of a leaf, 10 with the split
    assert mt.good_trees(mt.SampleProblem(X, half), 1, 0.29)._most == (50, 39)


@settings(max_examples=25, deadline=None)
@given(table=noisy_tables(), most=st.integers(0, 3), within=WITHIN)
def test_tables_under_squared_loss(table, most, within):
    problem = mt.TableProblem(table.labels, table.weights, table.names, loss="squared")
    good = mt.good_trees(problem, most, within)
    rows = table_rows(table)
    # a label of 1 and one of 0, each with its weight, at the same inputs
    parts = [
        (values, [weight, Fraction(label)])
        for values, costs in zip(rows.values, rows.costs, strict=True)
        for weight, label in ((costs[0], 1), (costs[1], 0))
        if weight
    ]
    twin = Rowset(rows.kinds, *map(list, zip(*parts, strict=True)), True)
    assert [sum(each.values()) for each in expected_noisy(twin, most, within)] == list(good.counts)


def expected_noisy(rows, most, within):
    """As ``expected``, but a leaf is pure where no split could lower its error."""
    from tests.reference import good_trees as reference

    def is_flat(table, inside):
        places = {tuple(table.values[row]) for row in inside}
        groups = [
            frozenset(row for row in inside if tuple(table.values[row]) == place)
            for place in places
        ]
        apart = sum((reference.leaf_cost(table, group) for group in groups), Fraction(0))
        return apart == reference.leaf_cost(table, inside)

    original = reference.is_settled
    reference.is_settled = is_flat
    try:
        return expected(rows, most, within)
    finally:
        reference.is_settled = original
