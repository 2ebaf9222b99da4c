"""Sweeps over families of Boolean functions, and the sizes of greedy trees in every sweep."""

import math
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.families import FunctionFamily, sweep, table_growth
from mictree.families.growth import EXACT, Rule
from mictree.growers.choosing import RuleFunctions
from mictree.growers.rules import RULES, TIES
from mictree.impurity import CRITERIA
from tests import reference
from tests.properties.test_lookahead import lookahead_sizes
from tests.reference import functions as boolean
from tests.reference.lookahead import lookahead_splits
from tests.reference.table import positive_reach

HALF, SKEWED = Fraction(1, 2), Fraction(3, 10)


def every_function(variables: int, bias: Fraction = HALF) -> FunctionFamily:
    """All functions, each standing for itself."""
    tables = np.arange(2 ** (2**variables), dtype=np.uint64)
    counts = np.ones(len(tables), dtype=np.int64)
    return FunctionFamily("every function", variables, bias, tables, counts, False)


def excess_by_enumeration(family, member, rule, max_size, criterion="entropy", ties="last"):
    """MIC and the largest excess error, from all trees and the paper's loop."""
    labels = tuple(family.table(member).tolist())
    table = boolean.product_table(labels, (family.bias,) * family.variables)
    most = 2**family.variables - 1
    optimal = reference.least_errors(table, min(most, max_size))
    grown = reference.grow(table, reference.PRIORITIES[rule], max_size, criterion, ties)
    excess = [
        reference.tree_error(table, tree) - optimal[min(size, len(optimal) - 1)]
        for size, tree in enumerate(grown)
    ]
    return sum(excess[1:]) / max_size, max(excess)


@pytest.mark.parametrize("bias", [HALF, SKEWED])
@pytest.mark.parametrize("rule", ["topdown", "bestfirst", "id3"])
def test_all_functions_of_two_variables_by_enumeration(bias, rule):
    family = every_function(2, bias)
    for ties in ("last", "first"):
        for max_size in (1, 3, 5):
            frame = mt.sweep(family, max_size, [RULES[rule](ties=ties)])
            for member, mic, largest in frame["member", "mic", "largest_excess"].iter_rows():
                expected = excess_by_enumeration(family, member, rule, max_size, ties=ties)
                assert (mic, largest) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("rule", "bias"), [("topdown", HALF), ("bestfirst", SKEWED)])
def test_functions_of_three_variables_by_enumeration(rule, bias):
    family = every_function(3, bias)
    frame = mt.sweep(family, 7, [rule])
    for member in range(1, 256, 6):
        expected = excess_by_enumeration(family, member, rule, 7)
        assert frame["mic", "largest_excess"].row(member) == pytest.approx(expected, abs=1e-15)


FAMILIES = {
    "functions": mt.families.functions(4),
    "biased": mt.families.functions(4, bias=0.3),
    "threshold": mt.families.threshold(4, bias=Fraction(2, 3)),
    "monotone": mt.families.monotone(5),
    "monotone, biased": mt.families.monotone(6, bias=0.001),
}


@pytest.mark.parametrize(("depth", "bias"), [(2, HALF), (2, SKEWED), (3, HALF)])
def test_looking_ahead_by_every_subtree(depth, bias):
    """One of each 12 functions of three variables, against the plain learner."""
    family = every_function(3, bias)
    frame = mt.sweep(family, 7, [mt.Lookahead(depth, "gini")])
    for member in range(1, 256, 12):
        labels = tuple(family.table(member).tolist())
        table = boolean.product_table(labels, (bias,) * 3)
        optimal, leaves = reference.least_errors(table, 7), {()}
        excess = []
        for path, name, _ in islice(lookahead_splits(table, depth, "gini", "last"), 7):
            leaves = leaves - {path} | {(*path, (name, value)) for value in (0, 1)}
            excess.append(sum(map(partial(leaf_error, table), leaves)) - optimal[len(excess) + 1])
        row = frame.row(member, named=True)
        assert row["mic"] == pytest.approx(float(sum(excess)) / 7, abs=1e-15)
        assert row["largest_excess"] == pytest.approx(float(max(excess, default=0)), abs=1e-15)


def leaf_error(table, leaf):
    positive = positive_reach(table, dict(leaf))
    return min(positive, reference.reach(table, dict(leaf)) - positive)


@pytest.mark.parametrize("depth", [2, 3])
def test_greedy_sizes_of_looking_ahead(depth):
    family = every_function(3)
    frame = mt.sweep(family, 3, [mt.Lookahead(depth)])
    for member in range(0, 256, 15):
        table = boolean.product_table(tuple(family.table(member).tolist()), (HALF,) * 3)
        found = frame["greedy_size_best", "greedy_size_worst"].row(member)
        assert found == lookahead_sizes(table, (), depth)


GROWERS = {name: RULES[name] for name in ("topdown", "bestfirst", "id3")}
GROWERS |= {f"lookahead {depth}": partial(mt.Lookahead, depth) for depth in (2, 3)}


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(FAMILIES)),
    st.sampled_from(sorted(GROWERS)),
    st.sampled_from(sorted(CRITERIA)),
    st.sampled_from(TIES),
    st.sampled_from([1, 6, 15, 40]),
    st.data(),
)
def test_same_numbers_as_mic(name, rule, criterion, ties, max_size, data):
    """The second recurrence: the generic loop and the program for any table."""
    family = FAMILIES[name]
    chosen = data.draw(st.integers(0, len(family) - 1), label="member")
    one = FunctionFamily(
        name, family.variables, family.bias, family.tables[chosen:][:1], np.ones(1), False
    )
    grower = GROWERS[rule](criterion=criterion, ties=ties, seed=7)
    row = mt.sweep(one, max_size, [grower]).row(0, named=True)
    expected = mt.mic(grower, family.problem(chosen), max_size)
    assert row["mic"] == pytest.approx(expected.mic, abs=1e-14)
    assert row["largest_excess"] == pytest.approx(expected.excess_errors.max(), abs=1e-14)
    assert row["largest_excess_size"] == expected.worst_size
    steps = len(grower.grow(family.problem(chosen), 2**family.variables).steps)
    assert row["greedy_size_best"] <= steps <= row["greedy_size_worst"]


def test_all_functions_of_four_variables():
    family = FAMILIES["functions"]
    frame = mt.sweep(family, 15, ["topdown"])
    assert frame["count"].sum() == 2**16
    for row in frame[::9].iter_rows(named=True):
        problem = family.problem(row["member"])
        errors = mt.optimal_errors(problem, 15, exact=True)
        assert row["perfect_size"] == np.argmax(errors == 0)
        assert row["mic"] == pytest.approx(mt.mic("topdown", problem, 15).mic, abs=1e-15)
        labels = "".join(map(str, problem.truth_table[::-1].tolist()))
        assert int(row["function"], 16) == int(labels, 2)


class Lazy(mt.Grower):
    """A rule of one's own."""

    def priority(self, reach, gain, born):
        return -reach - gain


def cubic(rate):
    return rate * (1 - rate) * (1 + rate * (1 - rate))


def lopsided(rate):
    return rate * (1 - rate) * (1 + rate)


@pytest.mark.parametrize("family", [mt.families.functions(3), mt.families.threshold(3, bias=0.3)])
@pytest.mark.parametrize("rule", [Lazy(), mt.TopDown(cubic), Lazy(cubic, ties="lightest")])
def test_rules_of_ones_own(family, rule):
    frame = mt.sweep(family, 6, [rule])
    for member in family.members:
        expected = mt.mic(rule, family.problem(member), 6).mic
        assert frame["mic"][member] == pytest.approx(expected, abs=1e-14)


def test_criteria_that_treat_labels_differently():
    for family in (mt.families.functions(3), mt.families.threshold(2, bias=0.25)):
        with pytest.raises(ValueError, match="treat both labels alike; lopsided gives"):
            mt.sweep(family, 5, [mt.TopDown(lopsided)])
        with pytest.raises(ValueError, match="treat both labels alike"):
            mt.sweep.worst(family, mt.TopDown(lopsided), 5)
    family = mt.families.monotone(3)
    frame = mt.sweep(family, 5, [mt.TopDown(lopsided)])
    for member in family.members:
        expected = mt.mic(mt.TopDown(lopsided), family.problem(member), 5).mic
        assert frame["mic"][member] == pytest.approx(expected, abs=1e-14)


def test_a_criterion_may_differ_at_rates_that_never_occur():
    def even_at_quarters(rate):
        return rate * (1 - rate) + 1e-3 * (rate == 0.3)

    mt.sweep(mt.families.functions(2), 3, [mt.TopDown(even_at_quarters)])
    with pytest.raises(ValueError, match=r"positive rate 0\.3 "):
        mt.sweep(mt.families.functions(2, bias=0.3), 3, [mt.TopDown(even_at_quarters)])


class NoNumber(mt.Grower):
    """Gives no priority."""

    def priority(self, reach, gain, born):
        return math.nan


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mt.sweep(mt.families.functions(3), 0), "must be at least 1"),
        (lambda: mt.sweep(mt.families.functions(3), 3, [NoNumber()]), "priority must be a number"),
        (lambda: mt.sweep(mt.families.monotone(4), memory_limit=99), "must fit into memory_limit"),
        (lambda: mt.sweep(mt.families.monotone(6, bias=0.0001)), "is at most 1,290; got 1/10000"),
        (
            lambda: mt.sweep(mt.families.monotone(2), 3, [mt.TopDown(lambda rate: -rate)]),
            "an impurity must be a finite number",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_worst_cases_lead_back_to_their_problems():
    family = mt.families.functions(3)
    cases = mt.sweep.worst(family, mt.TopDown(), max_size=7, count=3)
    frame = mt.sweep(family, 7, [mt.TopDown()])
    swept = frame["mic"].sort(descending=True)[:3].to_list()
    assert [case.result.mic for case in cases] == pytest.approx(swept)
    for case in cases:
        assert case.problem.truth_table.tolist() == family.table(case.member).tolist()
        assert frame["mic"][case.member] == pytest.approx(case.result.mic)
    figure = cases[0].draw()
    assert f"member {cases[0].member}, 0x" in figure.get_suptitle()
    from matplotlib import pyplot

    pyplot.close(figure)


class Stop(Exception):
    """Ends a sweep."""


@pytest.mark.parametrize(
    "last", ["optimal errors", "greedy sizes, entropy", "bestfirst, ties random"]
)
def test_an_interrupted_sweep_continues(tmp_path, monkeypatch, last):
    monkeypatch.setattr(sweep, "BLOCK", 100)
    family = FAMILIES["functions"]
    path, rule = tmp_path / "mic.parquet", mt.BestFirst(ties="random")

    def stop(stage):
        if stage.what == last and stage.detail == "200/222 members":
            raise Stop

    with pytest.raises(Stop):
        mt.sweep(family, 9, [rule], out=path, progress=stop)
    calls = []
    kernel = sweep.Partial.write
    monkeypatch.setattr(
        sweep.Partial,
        "write",
        lambda self, name, block: (calls.append(name), kernel(self, name, block)),
    )
    frame = mt.sweep(family, 9, [rule], out=path)
    names = {"optimal errors": "optimal", "greedy sizes, entropy": "sizes-0"}
    assert calls[0].startswith(f"{names.get(last, 'rule-0')}-200-222")  # the rest is not done again
    metadata = pl.read_parquet_metadata(path)
    assert "all functions that it stands for" in metadata["mictree.symmetry"]
    seeded = mt.BestFirst(ties="random", seed=int(metadata["mictree.seeds"].strip("[]")))
    assert frame.equals(mt.sweep(family, 9, [seeded]))
    assert pl.read_parquet(path).equals(frame)
    assert list(tmp_path.iterdir()) == [path]


def test_families_of_other_functions_have_other_keys():
    one, other = every_function(2), every_function(2)
    assert one.key == other.key
    other.tables[3] = 5
    keys = {one.key, other.key, every_function(2, SKEWED).key, mt.families.functions(2).key}
    assert len(keys) == 4


def test_compiled_kernels_equal_their_twins():
    rule = mt.TopDown()
    functions = RuleFunctions(rule)
    kernel_rule = Rule(functions.priority.address, 0, np.uint64(0), np.zeros(2))
    tables = np.arange(0, 2**16, 9000, dtype=np.uint64)
    for bias in (HALF, SKEWED):
        cubes = table_growth.Subcubes.of(4, bias)
        gains = table_growth.CriterionGains("gini", cubes)
        optimal, out = np.zeros((2, 2, len(tables), 8)), np.zeros((2, 2, len(tables), 3))
        for number, plain in enumerate((lambda kernel: kernel, plain_of)):
            for place, only in enumerate((None, table_growth.BestOnly(gains.arrays, 2))):
                plain(table_growth.fill_optimal)(
                    0, len(tables), tables, cubes, only, optimal[number, place]
                )
            for depth in (1, 2):
                ahead = table_growth.CriterionGains("gini", cubes, depth)
                plain(table_growth.compare_tables)(
                    0, len(tables), 7, kernel_rule, tables, cubes, ahead.arrays,
                    optimal[0, 0], out[number, depth - 1],
                )  # fmt: skip
        np.testing.assert_array_equal(*optimal)
        np.testing.assert_array_equal(*out)


def plain_of(kernel):
    return getattr(kernel, "py_func", kernel)


# families of formulas


def labels_of(problem) -> tuple[int, ...]:
    names = problem.variables
    rows = np.arange(2 ** len(names))[:, None] >> np.arange(len(names)) & 1
    return tuple(problem.formula.evaluate(rows, names).tolist())


@pytest.mark.parametrize("criterion", ["entropy", "gini", "minority"])
@pytest.mark.parametrize(
    "family",
    [mt.families.up_to(5), mt.families.up_to(4, (0.3, 0.9)), mt.families.grid(2, 3, (0.1,))],
    ids=repr,
)
def test_greedy_sizes_of_formulas(family, criterion):
    """Also those of the minority, where tests of variables that no longer matter may tie."""
    frame = mt.sweep(family, 3, [mt.TopDown(criterion)])
    assert frame["member"].to_list() == list(family.members)
    for row in frame.iter_rows(named=True):
        problem = family.problem(row["member"])
        biases = tuple(problem.biases.values())
        expected = boolean.sizes(labels_of(problem), criterion, biases)
        computed = row["perfect_size"], row["greedy_size_best"], row["greedy_size_worst"]
        assert computed == expected


def test_greedy_sizes_of_large_formulas():
    """Without a gain a tree may test every variable on every path."""
    frame = mt.sweep(mt.families.grid(9, 9, (0.1,)), 1, [mt.TopDown("minority"), mt.TopDown()])
    lost = frame.filter(pl.col("greedy_size_worst").is_null())
    assert lost.height > 0
    assert (lost["criterion"] == "minority").all()
    assert (lost["greedy_size_best"] >= lost["perfect_size"]).all()
    kept = frame.filter(pl.col("greedy_size_worst").is_not_null())
    assert 2**40 < kept["greedy_size_worst"].max() < EXACT
    assert (kept["greedy_size_best"] <= kept["greedy_size_worst"]).all()


@pytest.mark.parametrize(
    "family",
    [
        mt.families.grid(3, 3),
        mt.families.grid(2, 3, (0.3,)),
        mt.families.up_to(5, (Fraction(1, 3), 0.5, 1e-7)),
    ],
    ids=repr,
)
def test_a_row_leads_back_to_its_formula(family):
    frame = mt.sweep(family, 2, ["topdown"])
    for member, text in frame["member", "formula"].iter_rows():
        problem = mt.FormulaProblem.from_sizes(text)
        expected = family.problem(member)
        assert problem.formula == expected.formula
        assert problem.biases == expected.biases


@pytest.mark.parametrize(
    "text",
    ["", "3+", "3,3", "x", "-1", "3.0", "0", "2*", "*0.3", "2*1/0", "2*x", "2*1.5", "9999999", 33,
     "1*0.3,2", "2**0.3"],
)  # fmt: skip
def test_texts_that_are_no_sizes(text):
    with pytest.raises(ValueError, match=r"sizes|strictly between|at least one literal"):
        mt.FormulaProblem.from_sizes(text)


def test_sizes_are_drawn_as_discs_of_all_functions():
    frame = mt.sweep(mt.families.functions(3), 7, [mt.TopDown()])
    ax = mt.sweep.plot(frame)
    best, few, worst, _ = ax.collections
    pairs = set(frame.select("perfect_size", "greedy_size_worst").iter_rows())
    assert {tuple(map(int, point)) for point in worst.get_offsets().tolist()} == pairs
    assert best.get_sizes().max() == worst.get_sizes().max()
    assert len(few.get_offsets()) == (best.get_sizes() < 4).sum()
    counts = dict.fromkeys(pairs, 0)
    for least, greedy, count in frame.select(
        "perfect_size", "greedy_size_worst", "count"
    ).iter_rows():
        counts[least, greedy] += count
    for point, area in zip(worst.get_offsets().tolist(), worst.get_sizes(), strict=True):
        share = counts[tuple(map(int, point))] / max(counts.values())
        assert area == pytest.approx(share * worst.get_sizes().max())
    with pytest.raises(ValueError, match="one rule is drawn at a time; the frame has 2"):
        mt.sweep.plot(mt.sweep(mt.families.functions(2), 3))
    with pytest.raises(ValueError, match="has the column count; this one has not"):
        mt.sweep.plot(frame.drop("count"))
