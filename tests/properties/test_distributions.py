"""Joint distributions: exact, summing to one, and equal to a product taken row by row."""

import math
from fractions import Fraction
from itertools import product as all_values

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from mictree import distributions
from tests.reference.distributions import joint

CHANCES = st.fractions(0, 1, max_denominator=12)
BIASES = st.fractions(Fraction(1, 12), Fraction(11, 12), max_denominator=12)


@given(st.lists(BIASES, max_size=5))
def test_product(biases):
    expected = [
        joint([[]] * len(biases), [{(): b} for b in biases], r) for r in range(2 ** len(biases))
    ]
    assert list(distributions.product(biases)) == expected
    assert list(distributions.product({f"v{i}": b for i, b in enumerate(biases)})) == expected
    assert sum(expected) == 1


@given(st.integers(1, 5), CHANCES, st.data())
def test_markov_chain(count, start, data):
    steps = st.one_of(CHANCES, st.lists(CHANCES, min_size=count - 1, max_size=count - 1))
    after_zero, after_one = data.draw(steps), data.draw(steps)
    listed = [
        each if isinstance(each, list) else [each] * (count - 1) for each in (after_zero, after_one)
    ]
    tables = [{(): start}] + [{(0,): zero, (1,): one} for zero, one in zip(*listed, strict=True)]
    parents = [[]] + [[variable] for variable in range(count - 1)]
    computed = distributions.markov_chain(count, start, after_zero, after_one)
    assert list(computed) == [joint(parents, tables, row) for row in range(2**count)]
    assert sum(computed) == 1


@given(st.integers(1, 4), st.data())
def test_bayes_net(count, data):
    order = data.draw(st.permutations(range(count)))  # parents come before their children in it
    parents, tables = [[] for _ in range(count)], [{} for _ in range(count)]
    for place, variable in enumerate(order):
        parents[variable] = (
            data.draw(st.lists(st.sampled_from(order[:place]), unique=True)) if place else []
        )
        tables[variable] = {
            values: data.draw(CHANCES)
            for values in all_values((0, 1), repeat=len(parents[variable]))
        }
    names = [f"v{variable}" for variable in range(count)]
    pairs = data.draw(st.booleans())
    network = {}
    for name, others, table in zip(names, parents, tables, strict=True):
        entries = {key: (1 - one, one) if pairs else one for key, one in table.items()}
        network[name] = ([names[other] for other in others], entries if others else entries[()])
    computed = distributions.bayes_net(network)
    assert list(computed) == [joint(parents, tables, row) for row in range(2**count)]
    assert sum(computed) == 1


@given(
    st.lists(st.tuples(st.integers(0, 5), BIASES, BIASES), min_size=1, max_size=4).filter(
        lambda parts: any(w for w, _, _ in parts)
    )
)
def test_mixture(parts):
    total = sum(weight for weight, _, _ in parts)
    weights = [Fraction(weight, total) for weight, _, _ in parts]
    computed = distributions.mixture(weights, [distributions.product([a, b]) for _, a, b in parts])
    for row in range(4):
        rows = [joint([[], []], [{(): a}, {(): b}], row) for _, a, b in parts]
        assert computed[row] == sum(w * p for w, p in zip(weights, rows, strict=True))
    assert sum(computed) == 1


def test_numbers_are_read_as_written_and_rounded_ones_are_scaled():
    assert distributions.product([0.1]) == (Fraction(9, 10), Fraction(1, 10))
    thirds = distributions.mixture([1 / 3] * 3, [[1, 0], [0, 1], [0.5, 0.5]])
    assert thirds == (Fraction(1, 2), Fraction(1, 2))


def test_a_network_in_a_table_problem_matches_simulation():
    network = {
        "wet": (("rain", "hose"), {(0, 0): 0.05, (1, 0): 0.8, (0, 1): 0.9, (1, 1): 1}),
        "rain": ((), 0.3),
        "hose": (("rain",), {0: (0.6, 0.4), 1: (0.99, 0.01)}),
    }
    chances = distributions.bayes_net(network)
    problem = mt.TableProblem([row & 1 for row in range(8)], chances, list(network))
    assert problem.positive_rate({"rain": 0, "hose": 1}, exact=True) == Fraction(9, 10)
    rng = np.random.default_rng(5)
    draws = 200_000
    rain = rng.random(draws) < 0.3
    hose = rng.random(draws) < np.where(rain, 0.01, 0.4)
    wet = rng.random(draws) < np.select([rain & hose, rain, hose], [1, 0.8, 0.9], default=0.05)
    seen = np.bincount(wet + 2 * rain + 4 * hose, minlength=8) / draws
    np.testing.assert_allclose(seen, [float(chance) for chance in chances], atol=0.005)


def test_sixteen_variables_are_the_most():
    assert len(distributions.markov_chain(16, 0.5, 0.1, 0.9)) == 2**16
    for refused in (
        lambda: distributions.product([0.5] * 17),
        lambda: distributions.markov_chain(17, 0.5, 0.1, 0.9),
    ):
        with pytest.raises(ValueError, match=r"at most 16 variables.*there are 17"):
            refused()


NETWORK = {"a": ((), 0.5), "b": (("a",), {(0,): 0.1, (1,): 0.2})}


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            {"a": (("b",), {0: 0.1, 1: 0.2}), "b": (("a",), {0: 0.1, 1: 0.2})},
            r"no cycle; it has (a -> b -> a|b -> a -> b)",
        ),
        ({"a": (("a",), {0: 0.1, 1: 0.2})}, "no cycle; it has a -> a"),
        (
            NETWORK | {"b": (("a",), {(0,): 0.1})},
            "table of b must have all rows; there is none for a=1",
        ),
        (
            NETWORK | {"b": (("a",), {0: 0.1, 1: 0.2, 2: 0.3})},
            r"only the values 0 and 1 of a; it has a row \(2,\)",
        ),
        (
            NETWORK | {"b": (("a",), {0: 0.1, 1: (0.2, 0.7)})},
            r"P\[b = 1\] given a=1 must be two numbers that sum to one; got \(0.2, 0.7\)",
        ),
        (NETWORK | {"b": (("a",), {0: 1.1, 1: 0.2})}, "from 0 to 1; b given a=0 has 1.1"),
        (NETWORK | {"a": ((), "x")}, "from 0 to 1; a has 'x'"),
        (NETWORK | {"a": ((), math.nan)}, "a has nan"),
        (NETWORK | {"b": (("c",), {0: 0.1, 1: 0.2})}, "a parent must be a variable; b has 'c'"),
        (NETWORK | {"b": (("a", "a"), {0: 0.1, 1: 0.2})}, "a is given twice"),
        (NETWORK | {"b": (("a",), 0.3)}, "table of b, which has parents, must map"),
    ],
)
def test_networks_that_are_none(network, message):
    with pytest.raises(ValueError, match=message):
        distributions.bayes_net(network)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: distributions.product([0.5, 1]), "strictly between 0 and 1; x2 has 1"),
        (lambda: distributions.product({"rain": 0}), "rain has 0"),
        (
            lambda: distributions.mixture([0.5, 0.4], [[1], [1]]),
            "weights must sum to one; they sum to 0.9",
        ),
        (
            lambda: distributions.mixture([1, -0.0, 1], [[1], [1]]),
            "each of the 2 distributions; it has 3",
        ),
        (lambda: distributions.mixture([], []), "each of the 0 distributions"),
        (
            lambda: distributions.mixture([1.5, -0.5], [[1], [1]]),
            "weights must be numbers, finite and not negative; got -0.5",
        ),
        (
            lambda: distributions.mixture([0.5, 0.5], [[1, 0], [0.5, 0.4]]),
            "probabilities of distribution 2 must sum to one",
        ),
        (
            lambda: distributions.mixture([0.5, 0.5], [[1, 0], [1]]),
            "distribution 2 must have one number for each of the 2 rows",
        ),
        (lambda: distributions.mixture([1], [[1, 0, 0]]), r"2\*\*n probabilities; the first has 3"),
        (lambda: distributions.markov_chain(0, 0.5, 0.5, 0.5), "at least one variable; got 0"),
        (
            lambda: distributions.markov_chain(3, 0.5, [0.5], 0.5),
            "after_zero must have one number for each of the 2 steps; it has 1",
        ),
        (lambda: distributions.markov_chain(3, 0.5, 0.5, 2), "after_one has 2"),
        (lambda: distributions.markov_chain(3, None, 0.5, 0.5), "start has None"),
    ],
)
def test_distributions_that_are_none(make, message):
    with pytest.raises(ValueError, match=message):
        make()
