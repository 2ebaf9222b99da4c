"""The vote of a forest, against asking each tree about each input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from tests.reference.forest import vote_error

BIASES = st.fractions(min_value=Fraction(1, 9), max_value=Fraction(8, 9), max_denominator=9)
RULES = st.sampled_from(["topdown", "bestfirst", mt.ID3(ties="random", seed=3)])


def asked(tree: mt.Tree):
    return lambda values: int(tree.predict(np.array([values]))[0])


def compare_with_reference(found: mt.ForestErrors, inputs) -> None:
    for size, error in enumerate(found.errors):
        trees = [asked(growth.tree(size)) for growth in found.growths]
        assert error == vote_error(inputs, trees)
        for growth, alone in zip(found.growths, found.tree_errors[:, size], strict=True):
            assert alone == pytest.approx(float(vote_error(inputs, [asked(growth.tree(size))])))


def bits(row: int, count: int) -> list[int]:
    return [row >> place & 1 for place in range(count)]


@given(
    labels=st.lists(st.sampled_from([0, 1, Fraction(1, 3)]), min_size=8, max_size=8),
    weights=st.lists(st.integers(1, 9), min_size=8, max_size=8),
    trees=st.integers(1, 5),
    features=st.integers(1, 4),
    seed=st.integers(0, 99),
    rule=RULES,
)
def test_tables(labels, weights, trees, features, seed, rule):
    chances = [Fraction(weight, sum(weights)) for weight in weights]
    found = mt.forest_errors(mt.TableProblem(labels, chances), rule, trees, 4, features, seed)
    inputs = [
        (bits(row, 3), (chance * (1 - label), chance * label))
        for row, (label, chance) in enumerate(zip(labels, chances, strict=True))
    ]
    compare_with_reference(found, inputs)


@given(biases=st.lists(BIASES, min_size=4, max_size=4), seed=st.integers(0, 99), rule=RULES)
def test_formulas_with_an_irrelevant_variable(biases, seed, rule):
    names = ["a", "b", "c", "z"]
    problem = mt.FormulaProblem("a & ~b | c", dict(zip(names, biases, strict=True)))
    found = mt.forest_errors(problem, rule, 3, 5, 2, seed)
    inputs = []
    for row in range(16):
        a, b, c, _ = values = bits(row, 4)
        chance = np.prod(
            [bias if value else 1 - bias for bias, value in zip(biases, values, strict=True)]
        )
        label = a & (1 - b) | c
        inputs.append((values, (chance * (1 - label), chance * label)))
    compare_with_reference(found, inputs)


@given(data=st.data(), classes=st.integers(1, 4), weighted=st.booleans(), rule=RULES)
def test_data(data, classes, weighted, rule):
    rows = data.draw(st.integers(1, 20))
    X = np.array(data.draw(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4),
                                    min_size=rows, max_size=rows)))  # fmt: skip
    y = data.draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    weights = data.draw(st.lists(st.sampled_from([0.25, 1.0, 3.5]), min_size=rows, max_size=rows))
    problem = mt.SampleProblem(X, y, weights if weighted else None)
    found = mt.forest_errors(problem, rule, 4, 3, 2, 7)
    shares = [Fraction(weight) if weighted else Fraction(1) for weight in weights]
    inputs = [
        (row, [share / sum(shares) if label == known else Fraction(0) for known in problem.classes])
        for row, label, share in zip(problem.literals.transform(X).tolist(), y, shares, strict=True)
    ]
    compare_with_reference(found, inputs)


def test_one_tree_with_all_features_is_the_grower():
    problem = mt.FormulaProblem("a & b | c & d & e", bias=0.4)
    found = mt.forest_errors(problem, mt.BestFirst(), 1, 9, max_features=5)
    grown = mt.BestFirst().grow(problem, 9)
    assert found.growths[0].steps == grown.steps
    assert found.errors.tolist() == grown.exact_errors
    assert found.optimal_errors.tolist() == mt.optimal_errors(problem, 9).tolist()


def test_the_best_trees_beside_it():
    problem = mt.TableProblem([0, 1, 1, 0, 1, 0, 0, 1])
    found = mt.forest_errors(problem, trees=3, max_size=2)
    best = mt.optimal_errors(problem, 6).tolist()
    assert found.optimal_errors.tolist() == best[:3]
    assert found.optimal_of_total.tolist() == best[::3]
    assert found.passes_at is None


def test_the_same_seed_draws_the_same_trees():
    problem = mt.FormulaProblem("a & b | c & d | e & f")
    rule = mt.TopDown(ties="random")
    first, again, other = (mt.forest_errors(problem, rule, 5, 4, 2, seed) for seed in (1, 1, 2))
    steps = [[growth.steps for growth in found.growths] for found in (first, again, other)]
    assert steps[0] == steps[1] != steps[2]
    assert len({str(one) for one in steps[0]}) > 1


def test_more_than_sixteen_variables_are_refused():
    names = [f"x{number}" for number in range(17)]
    problem = mt.FormulaProblem(" | ".join(names))
    with pytest.raises(ValueError, match=r"at most 16 variables .* there are 17"):
        mt.forest_errors(problem)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"trees": 0}, "trees must be at least 1; got 0"),
        ({"max_features": 0}, "max_features must be at least 1; got 0"),
        ({"max_size": -1}, "max_size"),
        ({"rule": "best"}, "a rule must be one of"),
    ],
)
def test_bad_input(wrong, said):
    with pytest.raises(ValueError, match=said):
        mt.forest_errors(mt.TableProblem([0, 1]), **wrong)
