"""Requests too large for memory are refused at once, with their size and what would fit."""

import re
import subprocess
import sys
import tracemalloc
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from mictree.optimal import lattice
from tests.strategies import formula_cases

SIXTY_TERMS = mt.ReadOnceDNF.of_sizes([10] * 60)
BIASES = {
    "identical terms": [Fraction(k, 12) for _ in range(60) for k in range(1, 11)],
    "all distinct": [Fraction(k, 700) for k in range(1, 601)],
}
REFUSAL = r"memory_limit, .* GiB; there are at least [\d,.e+]+ states.*; .* would fit"


@pytest.mark.parametrize("kind", BIASES)
@pytest.mark.parametrize("exact", [False, True])
def test_sixty_terms_of_ten_distinct_biases(kind, exact, monkeypatch):
    """Refused after a look at no more restrictions than say what would fit."""
    problem = mt.FormulaProblem(SIXTY_TERMS, BIASES[kind])
    expand, made = lattice._Builder.expand, []

    def counting(self, memory_limit):
        done = expand(self, memory_limit)
        made.append(self.count)
        return done

    monkeypatch.setattr(lattice._Builder, "expand", counting)
    with pytest.raises(ValueError, match=REFUSAL) as refused:
        mt.optimal_errors(problem, 100, exact)
    assert len(made) == 1
    assert made[0] * lattice.BYTES_EACH <= lattice.LOOK_AHEAD
    assert suggested(refused.value) < 100


def test_every_door_refuses():
    problem = mt.FormulaProblem(SIXTY_TERMS, BIASES["identical terms"])
    for call in (
        lambda: mt.optimal_tree(problem, 100),
        lambda: mt.optimal_trees(problem, 100),
        lambda: mt.mic(mt.TopDown(), problem, 100),
    ):
        with pytest.raises(ValueError, match=REFUSAL):
            call()


def test_the_suggestion_for_sixty_terms_really_fits():
    problem = mt.FormulaProblem(SIXTY_TERMS, BIASES["identical terms"])
    with pytest.raises(ValueError, match=REFUSAL) as refused:
        mt.optimal_errors(problem, 100)
    errors = mt.optimal_errors(problem, suggested(refused.value))
    assert len(errors) == suggested(refused.value) + 1


def test_the_memory_limit_holds():
    """What a refused request took at most; twice the limit is still ok."""
    biases = [Fraction(k, 10007) for k in range(1, 1201)]
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([10] * 120), biases)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="would fit"):
            mt.optimal_errors(problem, 2, memory_limit=2**26)
        assert tracemalloc.get_traced_memory()[1] < 2 * 2**26
    finally:
        tracemalloc.stop()


def test_one_long_term_of_distinct_biases():
    biases = [Fraction(k, 50) for k in range(1, 41)]
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([40]), biases)
    with pytest.raises(ValueError, match=REFUSAL) as refused:
        mt.optimal_errors(problem, 40)
    assert suggested(refused.value) < 40


@pytest.mark.parametrize(
    "call",
    [
        "mt.optimal_errors(problem, 10**15)",
        "mt.optimal_errors(table, 10**15)",
        "mt.TopDown().grow(problem, 10**15)",
        "mt.optimal_errors(problem, 10**30)",
        "mt.optimal_errors(table, 10**30)",
        "mt.TopDown().grow(problem, 10**30)",
    ],
)
def test_curves_that_no_memory_holds(call):
    command = f"""
import mictree as mt
problem, table = mt.FormulaProblem("a & b | c"), mt.TableProblem([0, 1, 1, 0])
try:
    {call}
except ValueError:
    print("refused")
"""
    assert in_process(command).strip() == "refused"


def in_process(command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-300:]
    return done.stdout


def suggested(refusal: ValueError) -> int:
    found = re.search(r"max_size=(\d+) would fit", str(refusal))
    assert found, refusal
    return int(found[1])


@given(formula_cases(max_variables=6), st.integers(1, 20), st.integers(11, 16), st.booleans())
def test_what_is_said_to_fit_fits(case, max_size, log_limit, exact):
    try:
        mt.optimal_errors(case.problem, max_size, exact, memory_limit=2**log_limit)
    except ValueError as refused:
        fits = suggested(refused)
        assert fits < max_size
        if fits > 0:
            mt.optimal_errors(case.problem, fits, exact, memory_limit=2**log_limit)


def test_what_is_said_to_fit_fits_for_two_long_terms():
    biases = [Fraction(k, 10) for k in (1, 1, 1, 1, 2, 2, 1, 1, 1, 2, 3, 3)]
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([6, 6]), biases)
    with pytest.raises(ValueError, match=REFUSAL) as refused:
        mt.optimal_errors(problem, 9, memory_limit=2**13)
    fits = suggested(refused.value)
    assert len(mt.optimal_errors(problem, fits, memory_limit=2**13)) == fits + 1


def test_a_table_says_how_many_variables_would_fit():
    table = mt.TableProblem([row.bit_count() % 2 for row in range(2**10)])
    with pytest.raises(ValueError, match="59,049 states") as refused:
        mt.optimal_errors(table, 3, memory_limit=2**20)
    count = int(re.search(r"(\d+) variables would fit", str(refused.value))[1])
    for variables, fits in ((count, True), (count + 1, False)):
        smaller = mt.TableProblem([row.bit_count() % 2 for row in range(2**variables)])
        if fits:
            assert mt.optimal_errors(smaller, 1, memory_limit=2**20)[1] == 0.5
        else:
            with pytest.raises(ValueError, match="variables would fit"):
                mt.optimal_errors(smaller, 1, memory_limit=2**20)


def test_a_table_says_which_size_would_fit():
    table = mt.TableProblem([row.bit_count() % 2 for row in range(2**8)])
    limit = 3**8 * 60
    with pytest.raises(ValueError, match="6,561 states that need") as refused:
        mt.optimal_errors(table, 200, memory_limit=limit)
    fits = suggested(refused.value)
    assert 0 < fits < 200
    assert len(mt.optimal_errors(table, fits, memory_limit=limit)) == fits + 1
    with pytest.raises(ValueError, match=f"max_size={fits} would fit"):
        mt.optimal_errors(table, fits + 1, memory_limit=limit)
