"""Sweeps against mic() and the paper's recurrences, formula by formula."""

import random
import signal
import subprocess
import sys
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from mictree.families import graph as family_graph
from mictree.families.family import grid, up_to
from mictree.families.graph import member_terms
from mictree.families.sweep import formula_names, summarize
from mictree.growers.choosing import below, stream
from mictree.growers.rules import RULES, TIES
from mictree.impurity import CRITERIA
from mictree.optimal.program import Program, fill, perfect_sizes, row_starts
from tests.reference import any_bias_optimal, uniform_optimal

SMALL = [grid(3, 3), grid(3, 2, (0.3, 0.6)), up_to(9), up_to(6, (0.25, 0.5, 0.9))]


def multisets(family):
    """Every member of a family as a sorted tuple of terms, in the order of its numbers."""
    return [
        tuple(family.term_values[term] for term in family.row(n)) for n in range(1, len(family) + 1)
    ]


@pytest.mark.parametrize(
    ("family", "count"),
    [
        (grid(8, 8), 12_869),
        (grid(5, 5, (0.3, 0.7)), 53_129),
        (up_to(30), 28_628),
        (up_to(50), 1_295_970),
        (grid(1, 1), 1),
    ],
)
def test_known_sizes(family, count):
    assert len(family) == count


@pytest.mark.parametrize("family", SMALL, ids=repr)
def test_members_are_all_different_and_all_there(family):
    members = multisets(family)
    assert len(set(members)) == len(members)
    room = family.capacity
    cost = dict(zip(family.term_values, family.costs, strict=True))
    for member in members:  # closed: whatever is removed or shortened is a member too
        assert sum(cost[term] for term in member) <= room
        for term in set(member):
            rest = list(member)
            rest.remove(term)
            for value in set(term):
                shorter = list(term)
                shorter.remove(value)
                smaller = sorted([*rest, tuple(shorter)] if shorter else rest, reverse=True)
                key = tuple(sorted(smaller, key=lambda t: (len(t), t), reverse=True))
                assert not key or key in members


@pytest.mark.parametrize("family", SMALL, ids=repr)
def test_numbers_and_rows_are_inverse(family):
    for number in range(1, len(family) + 1):
        problem = family.problem(number)
        terms = [[problem.satisfaction[value] for value in term] for term in problem.terms]
        assert family.number(terms) == number
        assert sum(len(term) for term in terms) == len(problem.variables)


@pytest.mark.parametrize("family", SMALL, ids=repr)
def test_graph_is_the_restriction_graph(family):
    built = family_graph.build(family, 2**30)
    graph = built.graph
    for number in range(1, len(family) + 1):
        problem = family.problem(number)
        assert built.positive_rate[number] == problem.root().positive_rate
        assert graph.literals[number] == len(problem.variables)
        found = set()
        for edge in graph.edges(number):
            row = [family.term_values[term] for term in family.row(number)]
            tested = family.term_values[built.edge_term[edge]]
            rest = row.copy()
            rest.remove(tested)
            shorter = list(tested)
            shorter.remove(graph.value[edge])
            found.add((tested, int(graph.value[edge])))
            biases = [[family.biases[value] for value in term] for term in rest]
            last = [family.biases[value] for value in shorter]
            assert graph.low[edge] == (family.number(biases) if rest else 0)
            assert graph.high[edge] == (family.number([*biases, last]) if shorter else 0)
        assert found == {(term, value) for term in row for value in term}


@pytest.mark.parametrize("family", SMALL, ids=repr)
def test_optimal_errors_of_all_members(family):
    built = family_graph.build(family, 2**30)
    start = row_starts(np.minimum(perfect_sizes(built.graph), 6) + 1)
    errors = np.full(start[-1], np.inf)
    errors[start[:-1]] = np.minimum(built.positive_rate, 1 - built.positive_rate)
    program = Program.of_floats(family.biases, int(built.graph.literals.max()), start, errors)
    list(fill(built.graph, program))
    for number in random.Random(1).sample(range(1, len(family) + 1), min(12, len(family))):
        terms = tuple(
            tuple(sorted(family.biases[value] for value in family.term_values[term]))
            for term in family.row(number)
        )
        reference = [float(any_bias_optimal(terms, size)) for size in range(7)]
        row = program.row(number)
        computed = [row[min(size, len(row) - 1)] for size in range(7)]
        np.testing.assert_allclose(computed, reference, atol=1e-15)


RULE_GRID = [
    rule(criterion=criterion, ties=ties, seed=7)
    for rule in RULES.values()
    for criterion in CRITERIA
    for ties in TIES
]


@pytest.mark.parametrize("rule", RULE_GRID, ids=repr)
@pytest.mark.parametrize(
    ("family", "max_size"),
    [(grid(4, 4, (0.3, 0.7)), 25), (up_to(14), 30), (grid(3, 3, (0.4, 0.5, 0.6)), 12)],
    ids=["grid", "up_to", "three biases"],
)
def test_same_numbers_as_mic(family, max_size, rule):
    frame = mt.sweep(family, max_size, [rule])
    for number in random.Random(repr(rule)).sample(range(1, len(family) + 1), 3):
        reference = mt.mic(rule, family.problem(number), max_size)
        row = frame.row(number - 1, named=True)
        assert row["mic"] == pytest.approx(reference.mic, abs=1e-14)
        assert row["largest_excess"] == pytest.approx(reference.excess_errors.max(), abs=1e-14)
        assert row["largest_excess_size"] == reference.worst_size


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(1, 1000), max_size=5))
def test_draws_are_splitmix(seed, counts):
    """Steele's generator in Python's integers."""
    state, mask, now = stream(seed), 2**64 - 1, seed
    for count in counts:
        now = (now + 0x9E3779B97F4A7C15) & mask
        mixed = ((now ^ (now >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        assert below(state, count) == ((mixed ^ (mixed >> 31)) >> 1) % count


def test_frame_describes_the_formulas():
    frame = mt.sweep(grid(3, 3), 20)
    assert frame.height == 2 * 19
    first = frame.filter(pl.col("rule") == "topdown")
    assert first["formula"].to_list()[-1] == "3+3+3"
    row = first.row(by_predicate=pl.col("formula") == "1+2+3", named=True)
    assert (row["terms"], row["literals"]) == (3, 6)
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([1, 2, 3]))
    perfect = next(size for size in range(40) if uniform_optimal((1, 2, 3), size) == 0)
    assert row["perfect_size"] == perfect
    assert row["mic"] == pytest.approx(mt.mic(mt.TopDown(), problem, 20).mic)
    two = mt.sweep(grid(2, 2, (0.3, 0.7)), 5)
    assert "1*0.3 + 1*0.3,1*0.7" in two["formula"].to_list()


def test_formula_names_in_member_order():
    family = up_to(7, (0.2, 0.4))
    built = family_graph.build(family, 2**30)
    names = formula_names(family, built.terms)
    texts = family.term_names()
    flat = member_terms(family, built.terms)
    assert len(flat) == built.terms.sum()
    for number in range(1, len(family) + 1):
        assert names[number - 1] == " + ".join(texts[t] for t in reversed(family.row(number)))


@pytest.mark.slow
def test_float_errors_are_exact_to_rounding():
    family = grid(5, 5, (0.3, 0.7))
    worst = 0.0
    for number in random.Random(3).sample(range(1, len(family) + 1), 10):
        problem = family.problem(number)
        exact = mt.optimal_errors(problem, 15, exact=True)
        rounded = mt.optimal_errors(problem, 15)
        worst = max(
            worst, *(abs(float(e - Fraction(r))) for e, r in zip(exact, rounded, strict=True))
        )
    assert worst < 1e-13


def test_parquet_with_provenance(tmp_path):
    path = tmp_path / "mic.parquet"
    frame = mt.sweep(grid(3, 3), 10, [mt.TopDown()], out=path)
    assert pl.read_parquet(path).equals(frame)
    metadata = pl.read_parquet_metadata(path)
    assert metadata["mictree.version"] == mt.__version__
    assert metadata["mictree.family"] == repr(grid(3, 3))
    assert metadata["mictree.max_size"] == "10"
    assert "TopDown" in metadata["mictree.rules"]
    assert metadata["mictree.time"]
    assert list(tmp_path.iterdir()) == [path]


INTERRUPTED = """
import sys, time
import mictree as mt
import mictree.families.sweep
from mictree.optimal import program

program.BATCH_UPDATES = 1
sys.modules["mictree.families.sweep"].BLOCK = 50
def slow(stage):
    print(stage.what, flush=True)
    time.sleep(0.02)
mt.sweep(mt.families.grid(4, 4), 30, [mt.BestFirst(ties="random")], out=sys.argv[1], progress=slow)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("stage", ["optimal errors", "bestfirst"])
def test_a_killed_sweep_continues(tmp_path, kind, stage):
    path = tmp_path / "mic.parquet"
    command = [sys.executable, "-c", INTERRUPTED, str(path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        seen = 0
        while seen < 2:
            seen += run.stdout.readline().startswith(stage)
        run.send_signal(kind)
    assert run.returncode != 0
    partial = tmp_path / "mic.parquet.partial"
    assert partial.is_dir()
    assert not path.exists()
    visited = []
    rule = mt.BestFirst(ties="random")
    frame = mt.sweep(mt.families.grid(4, 4), 30, [rule], out=path, progress=visited.append)
    solving = [stage for stage in visited if stage.what == "optimal errors"]
    assert stage == "optimal errors" or not solving  # what was done is not done again
    seeds = pl.read_parquet_metadata(path)["mictree.seeds"]
    seed = int(seeds.strip("[]"))
    whole = mt.sweep(mt.families.grid(4, 4), 30, [mt.BestFirst(ties="random", seed=seed)])
    assert frame.equals(whole)
    assert not partial.exists()


def test_another_sweep_does_not_use_the_partial(tmp_path):
    path = tmp_path / "mic.parquet"

    def stop(stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mt.sweep(grid(3, 3), 10, [mt.TopDown()], out=path, progress=stop)
    frame = mt.sweep(grid(3, 3), 11, [mt.TopDown()], out=path)
    assert frame.equals(mt.sweep(grid(3, 3), 11, [mt.TopDown()]))


def test_summary():
    summary = summarize(mt.sweep(grid(4, 4), 20))
    assert summary["rule"].to_list() == ["topdown", "bestfirst"]
    assert (summary["mean"] <= summary["max"]).all()
    assert (summary["below_0.001"] <= summary["below_0.01"]).all()


def test_worst_cases():
    cases = mt.sweep.worst(grid(3, 3), mt.BestFirst(), max_size=15, count=3)
    frame = mt.sweep(grid(3, 3), 15, [mt.BestFirst()])
    assert [case.result.mic for case in cases] == pytest.approx(frame["mic"].sort()[-3:][::-1])
    figure = cases[0].draw()
    assert len(figure.axes) == 2
    assert "optimal" in figure.axes[1].get_title()
    from matplotlib import pyplot

    pyplot.close(figure)


@pytest.mark.parametrize("ties", TIES)
def test_worst_cases_are_about_one_growth(ties):
    family = grid(4, 4)
    cases = mt.sweep.worst(family, mt.BestFirst(ties=ties), max_size=25, count=5)
    swept = mt.sweep(family, 25, [cases[0].growth.rule])["mic"].sort(descending=True)
    for case, mic in zip(cases, swept, strict=False):
        np.testing.assert_array_equal(case.result.greedy_errors, case.growth.errors)
        assert case.result.mic == pytest.approx(mic, abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grid(0, 3), "max_terms must be an integer of at least 1; got 0"),
        (lambda: grid(3, 2.5), "max_literals"),
        (lambda: up_to(-1), "variables"),
        (lambda: grid(3, 3, (0.5, 1.0)), "strictly between 0 and 1; got 1.0"),
        (lambda: grid(3, 3, (0.5, 0.5)), "must differ"),
        (lambda: grid(3, 3, ()), "at least one"),
        (lambda: grid(3, 3, 0.5), "sequence"),
        (lambda: grid(3, 3).problem(20), "from 1 to 19; got 20"),
        (lambda: grid(3, 3).problem(0), "from 1 to 19; got 0"),
        (lambda: mt.sweep(grid(3, 3), 0), "at least 1"),
        (lambda: mt.sweep(grid(3, 3), 5, []), "at least one grower"),
        (lambda: mt.sweep(grid(3, 3), 5, out="x.csv"), ".parquet"),
        (lambda: mt.sweep(up_to(50), 100, memory_limit=10**8), "memory_limit"),
        (lambda: mt.sweep(up_to(40), 100, memory_limit=10**8), "max_size=[0-9]+ would fit"),
        (lambda: len(up_to(400)), "at most"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
