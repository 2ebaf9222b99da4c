"""Requests too large for memory are refused at once, with their size and what would fit."""

import re
import subprocess
import sys
from fractions import Fraction
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from tests.strategies import formula_cases

SIXTY_TERMS = mt.ReadOnceDNF.of_sizes([10] * 60)
BIASES = {
    "identical terms": [Fraction(k, 12) for _ in range(60) for k in range(1, 11)],
    "all distinct": [Fraction(k, 700) for k in range(1, 601)],
}
SECONDS = 10
REFUSAL = r"memory_limit, .* GiB; there are at least [\d,.e+]+ states.*; .* would fit"


@pytest.mark.parametrize("kind", BIASES)
@pytest.mark.parametrize("exact", [False, True])
def test_sixty_terms_of_ten_distinct_biases(kind, exact):
    problem = mt.FormulaProblem(SIXTY_TERMS, BIASES[kind])
    for call in (
        lambda: mt.optimal_errors(problem, 100, exact),
        lambda: mt.optimal_tree(problem, 100),
        lambda: mt.mic(mt.TopDown(), problem, 100, exact),
    ):
        begin = perf_counter()
        with pytest.raises(ValueError, match=REFUSAL) as refused:
            call()
        assert perf_counter() - begin < SECONDS
        assert suggested(refused.value) < 100


def test_the_suggestion_for_sixty_terms_really_fits():
    problem = mt.FormulaProblem(SIXTY_TERMS, BIASES["identical terms"])
    with pytest.raises(ValueError, match=REFUSAL) as refused:
        mt.optimal_errors(problem, 100)
    errors = mt.optimal_errors(problem, suggested(refused.value))
    assert len(errors) == suggested(refused.value) + 1


@pytest.mark.parametrize("max_size", [3, 4, 20])
def test_no_more_memory_than_the_limit_is_used_before_the_refusal(max_size):
    """In its own process: what it took at most, beyond what the imports take."""
    command = f"""
import resource
from fractions import Fraction
import mictree as mt
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
biases = [Fraction(k, 700) for k in range(1, 601)]
mt.optimal_errors(mt.FormulaProblem("a & b | c"), 3)
problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([10] * 60), biases)
before = peak()
try:
    mt.optimal_errors(problem, {max_size}, memory_limit=2**27)
except ValueError as refused:
    assert "would fit" in str(refused)
print(peak() - before)
"""
    assert int(in_process(command)) < 128 + 32


@pytest.mark.parametrize(
    "call",
    [
        "mt.optimal_errors(problem, 10**15)",
        "mt.optimal_errors(table, 10**15)",
        "mt.TopDown().grow(problem, 10**15)",
        "mt.mic(mt.TopDown(), problem, 10**15)",
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


@pytest.mark.parametrize("size", [10**9, 10**15])
def test_a_tree_has_no_curve_and_any_size_will_do(size):
    command = f"""
import mictree as mt
print(mt.optimal_tree(mt.FormulaProblem("a & b | c"), {size}).size)
"""
    assert in_process(command).strip() == "3"


def in_process(command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 0, done.stderr[-300:]
    return done.stdout


def suggested(refusal: ValueError) -> int:
    found = re.search(r"max_size=(\d+) would fit", str(refusal))
    assert found, refusal
    return int(found[1])


@given(formula_cases(max_variables=6), st.integers(1, 20), st.integers(6, 16), st.booleans())
def test_what_is_said_to_fit_fits(case, max_size, log_limit, exact):
    try:
        mt.optimal_errors(case.problem, max_size, exact, memory_limit=2**log_limit)
    except ValueError as refused:
        fits = suggested(refused)
        assert fits < max_size
        if fits > 0:
            mt.optimal_errors(case.problem, fits, exact, memory_limit=2**log_limit)


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
