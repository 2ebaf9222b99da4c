"""The penalty path, and the optimum at a price, against every tree of every size."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.estimators.sizes import is_certified, penalty_path
from mictree.optimal import frontier, priced
from tests.datasets import monks, random_bits
from tests.reference.enumerate_samples import sample_least_errors
from tests.reference.ordered_samples import ordered_least_errors
from tests.reference.prices import least_cost

PRICES = [Fraction(1, 100), Fraction(1, 20), Fraction(1, 9), Fraction(1, 8), Fraction(1, 3), 2]


@st.composite
def samples(draw):
    rows = draw(st.integers(2, 8))
    cells = st.lists(st.integers(0, 1), min_size=3, max_size=3)
    X = draw(st.lists(cells, min_size=rows, max_size=rows))
    y = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    return np.array(X, dtype=np.uint8), np.array(y)


def best(least, price):
    """The least cost of any size, and the smallest size that has it."""
    return min((error + price * size, size) for size, error in enumerate(least))


@settings(max_examples=60)
@given(samples(), st.sampled_from(PRICES))
def test_the_optimum_over_all_sizes(sample, price):
    X, y = sample
    assume(len(set(y.tolist())) > 1)
    least = sample_least_errors(X.tolist(), y.tolist(), [1] * len(y), 7)  # of 3 columns
    cost, size = best(least, price)
    model = mt.OptimalTreeClassifier(penalty=float(price)).fit(X, y)
    assert model.proved_
    assert 1 - model.score(X, y) + float(price) * model.tree_.size == pytest.approx(float(cost))
    if price not in (Fraction(1, 9), Fraction(1, 3)):  # where floats are exact, ties are too
        assert model.tree_.size == size
    assert model.penalty_path().at(float(price)).size == model.tree_.size
    true = np.array([float(error) for error in least])[: len(model.frontier_)]
    assert (model.frontier_.lower[: len(true)] <= true + 1e-12).all()


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6), rows=st.integers(5, 60), columns=st.integers(3, 6),
    classes=st.integers(2, 4), weighted=st.booleans(),
    price=st.sampled_from([Fraction(1, 150), Fraction(1, 60), Fraction(3, 100)]),
)  # fmt: skip
def test_the_least_cost_of_larger_tables(seed, rows, columns, classes, weighted, price):
    """Trees of many splits, against every test at every node."""
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2, (rows, columns), dtype=np.uint8)
    y = draw.integers(0, classes, rows)
    weights = draw.integers(1, 5, rows) if weighted else np.ones(rows, dtype=int)
    whole = int(weights.sum())
    least = least_cost(X.tolist(), y.tolist(), weights.tolist(), price * whole) / whole
    model = mt.OptimalTreeClassifier(penalty=float(price)).fit(X, y, weights)
    assert model.proved_
    cost = 1 - model.score(X, y, weights) + float(price) * model.tree_.size
    assert cost == pytest.approx(float(least), abs=1e-12)
    assert (model.frontier_.lower <= model.frontier_.upper + 1e-12).all()


def test_rows_without_weight_leave_nothing_open():
    """Two rows count, so one split is all that a tree needs, however deep it may be."""
    X, y, weights = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 2, 3], [1, 0, 0, 1]
    model = mt.OptimalTreeClassifier(penalty=0.01, max_depth=0).fit(X, y, weights)
    assert (model.tree_.size, model.proved_) == (0, True)
    assert model.frontier_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("price", [1e300, 1e20, Fraction(10**30 + 1, 10**12)])
@pytest.mark.parametrize("weights", [None, [0.1, 1 / 3, 0.7, 2.5]])
def test_a_price_that_buys_nothing(price, weights):
    """Costs beyond 64 bits must not reach the search."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint8), [0, 1, 1, 0]
    model = mt.OptimalTreeClassifier(penalty=price).fit(X, y, weights)
    assert (model.tree_.size, model.proved_) == (0, True)


def test_the_least_cost_bounds_the_error_of_every_size(monkeypatch):
    """Without a search of single sizes: errors are at least the least cost less the price."""
    monkeypatch.setattr(frontier.Frontier, "_ask", lambda self, size, bound, quickly=False: False)
    X, y = monks(2)
    price, rows = Fraction(1, 50), len(y)
    least = least_cost(X.tolist(), y.tolist(), [1] * rows, price * rows)
    found = mt.OptimalTreeClassifier(penalty=float(price)).fit(X, y)
    sizes = np.arange(len(found.frontier_))
    known = [math.ceil(least - price * rows * size) / rows for size in sizes.tolist()]
    assert found.proved_
    assert (found.frontier_.lower >= np.array(known) - 1e-12).all()
    assert (found.frontier_.lower > 0).sum() > 3


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("price", [0.1, 0.14])
def test_the_least_cost_bounds_no_size_too_high(seed, price):
    """Three splits leave no error; whether they pay or not, their bound is 0."""
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2, (12, 4), dtype=np.uint8)
    y = X[:, 0] ^ X[:, 1]
    found = mt.OptimalTreeClassifier(penalty=price).fit(X, y).frontier_[:4]
    true = sample_least_errors(X.tolist(), y.tolist(), [1] * len(y), 3)
    assert (found.lower <= np.array(true[: len(found)], dtype=float) + 1e-12).all()


@pytest.mark.parametrize("price", [1e-300, 5e-324])
def test_a_price_may_be_as_small_as_a_float_is(price):
    """An error over the price may be infinite."""
    X, y = np.array([[0, 0], [0, 1], [1, 0], *[[1, 1]] * 3]), np.array([0, 1, 1, 0, 0, 1])
    model = mt.OptimalTreeClassifier(penalty=price).fit(X, y)
    assert model.proved_
    assert model.tree_.size == 3
    assert model.score(X, y) == 5 / 6


@pytest.mark.parametrize("price", [0.02, 0.005])
def test_a_price_that_buys_many_splits(price, monkeypatch):
    """At 0.005 the best tree of monks-2 has 28 splits; both searches prove it."""
    X, y = monks(2)
    model = mt.OptimalTreeClassifier(penalty=price).fit(X, y)
    assert model.proved_
    monkeypatch.setattr(frontier, "LARGEST_COST", 0)  # size by size, as for ordered columns
    other = mt.OptimalTreeClassifier(penalty=price).fit(X, y)
    assert other.proved_
    costs = [1 - each.score(X, y) + price * each.tree_.size for each in (model, other)]
    assert costs[0] == pytest.approx(costs[1], abs=1e-12)


def test_a_search_for_the_least_cost_without_time(monkeypatch):
    """It certifies nothing; the sizes are searched as ever."""
    X, y = monks(2)
    monkeypatch.setattr(priced.PricedSearch, "run", lambda self: None)
    model = mt.OptimalTreeClassifier(penalty=0.02).fit(X, y)
    assert model.proved_
    assert 1 - model.score(X, y) + 0.02 * model.tree_.size == pytest.approx(142 / 432)


def test_a_price_is_certified_where_its_range_is_not():
    """Two splits cost no less than one exactly at the price 0.1; below it they may."""
    lower, upper = np.array([0.5, 0.2, 0.1]), np.array([0.5, 0.2, 0.2])
    assert is_certified(lower, upper, None, 0.1)
    assert not is_certified(lower, upper, None, 0.09)
    assert not is_certified(upper, upper, 0.0, 0.06)
    assert is_certified(upper, upper, 0.0, 0.1)


@settings(max_examples=60)
@given(samples(), st.integers(0, 3))
def test_a_certified_range_is_right_for_all_sizes(sample, searched):
    X, y = sample
    least = [float(e) for e in sample_least_errors(X.tolist(), y.tolist(), [1] * len(y), 7)]
    path = mt.OptimalTreeClassifier(max_size=searched).fit(X, y).penalty_path()
    check_ranges(path)
    for each in path:
        price = inside(each)
        cost = each.error + price * each.size
        assert each.error == pytest.approx(least[each.size])
        assert cost == pytest.approx(best(least[: searched + 1], price)[0])
        if each.certified:
            assert cost == pytest.approx(best(least, price)[0])
    assert path[0].certified  # at a high price one leaf is best, and everybody sees it
    if searched == 3 and least[3] == least[7]:
        assert all(each.certified for each in path)


@settings(max_examples=60)
@given(samples(), st.integers(0, 6))
def test_the_path_of_a_greedy_growth(sample, most):
    X, y = sample
    errors = mt.TopDownClassifier(max_size=None).fit(X, y).growth_.errors.tolist()
    path = mt.TopDownClassifier(max_size=most).fit(X, y).penalty_path()
    check_ranges(path)
    for each in path:
        price = inside(each)
        cost = each.error + price * each.size
        assert cost == pytest.approx(best(errors[: most + 1], price)[0])
        if each.certified:
            assert cost == pytest.approx(best(errors, price)[0])


def inside(each):
    return each.least + 1 if np.isinf(each.most) else (each.least + each.most) / 2


def check_ranges(path):
    """Ranges that follow each other from infinity to 0, of falling price and growing size."""
    assert path[0].most == np.inf
    assert path[-1].least == 0
    for one, other in pairwise(path):
        assert one.least == other.most > other.least
        assert one.size <= other.size
        assert (one.size, one.certified) != (other.size, other.certified)


def test_a_gap_is_not_certified():
    path = penalty_path(np.array([0.5, 0.25, 0.0]), np.array([0.5, 0.25, 0.125]), None)
    assert path.at(0.3).certified
    assert not path.at(0.01).certified
    assert path.at(0.3).size == 0
    assert path.at(0.25).size == 0  # a tie goes to the smaller tree
    assert path.at(0.01).size == 2
    with pytest.raises(ValueError, match="a price must be at least 0; got -1"):
        path.at(-1)


def test_beyond_the_searched_sizes():
    """A third split could pay below a price of 0.1 only if it left less than 0.1."""
    curve = np.array([0.5, 0.2, 0.1])
    assert not penalty_path(curve, curve, 0.0).at(0.05).certified
    assert penalty_path(curve, curve, 0.1).at(0.05).certified
    assert penalty_path(curve, curve, None).at(0.05).certified
    assert penalty_path(curve, curve, 0.0).at(0.2).certified


def test_texts_and_frame():
    curve = np.array([0.5, 0.2, 0.1])
    path = penalty_path(curve, curve, 0.0)
    assert str(path).splitlines()[0] == "price from 0.3 on: 0 splits, error 0.5"
    assert str(path).splitlines()[-1].endswith("not certified")
    assert path.frame.columns == ["size", "error", "price_from", "price_to", "certified"]
    assert repr(path).startswith("PenaltyPath(")


def test_rows_alike_in_all_columns_limit_every_tree():
    X = pl.DataFrame({"a": ["x"] * 3 + [None] * 3, "b": [1.0] * 3 + [2.0] * 3})
    y = [0, 0, 1, 1, 1, 1]
    model = mt.OptimalTreeClassifier(penalty=0.01).fit(X, y)
    assert (model.tree_.size, model.proved_) == (1, True)
    path = mt.OptimalTreeClassifier(max_size=1).fit(X, y).penalty_path()
    assert all(each.certified for each in path)


def test_options():
    X, y = random_bits(60, 5, 1, noise=0.2)
    limited = mt.OptimalTreeClassifier(2, penalty=0.001).fit(X, y)
    assert limited.tree_.size <= 2
    assert limited.proved_
    large = mt.OptimalTreeClassifier(penalty=0.03, min_samples_leaf=5).fit(X, y)
    assert min(large.to_frame()["rows"]) >= 5
    assert len(mt.OptimalTreeClassifier().fit(X, y).frontier_) == 6
    for penalty in (0, -1, "much", True, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="penalty must be a positive number or None"):
            mt.OptimalTreeClassifier(penalty=penalty).fit(X, y)  # type: ignore[arg-type]


@st.composite
def tied_samples(draw):
    """Few rows and columns with ties, and a price at which different sizes often cost the same."""
    rows = draw(st.integers(2, 9))
    columns = [
        draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
        for _ in range(draw(st.integers(1, 2)))
    ]
    y = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    weights = draw(st.lists(st.sampled_from([1, 1, 2, 3]), min_size=rows, max_size=rows))
    share = Fraction(draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    return columns, y, weights, share / sum(weights)


@settings(max_examples=150)
@given(tied_samples())
def test_a_search_without_a_limit_is_always_proved(case):
    columns, y, weights, price = case
    least = ordered_least_errors(columns, y, weights, len(y))
    cost, _ = best([Fraction(error, sum(weights)) for error in least], price)
    model = mt.OptimalTreeClassifier(penalty=float(price), time_limit=None)
    model.fit(np.array(columns, dtype=float).T, y, weights)
    assert model.proved_
    wrong = 1 - model.score(np.array(columns, dtype=float).T, y, weights)
    assert wrong + float(price) * model.tree_.size == pytest.approx(float(cost), abs=1e-12)


def test_prices_at_which_ranges_meet():
    """Where a range that is certified ends, rounding must not lead into the next one."""
    lower = np.array([0.4, 0.36, 0.28, 0.28, 0.24, 0.2, 0.16, 0.16, 0.12, 0.12])
    upper = np.array([0.4, 0.36, 0.28, 0.28, 0.28, 0.2, 0.16, 0.16, 0.16, 0.16])
    path = penalty_path(lower, upper, 0.12)
    assert path.at(0.02).certified
    assert is_certified(lower, upper, 0.12, 0.02)
    assert not is_certified(lower, upper, 0.12, 0.019)
    # a lone leaf and two splits cost the same at 0.05; only smaller trees are ruled out below
    lower, upper = np.array([0.3, 0.25, 0.2]), np.array([0.3, 0.3, 0.2])
    assert penalty_path(lower, upper, 0.2).at(0.05).size == 0
    assert is_certified(lower, upper, 0.2, 0.05)
    for number in range(1, 200):  # whichever way the quotients are rounded
        errors = np.array([2 * number, number, 0]) / 401
        assert penalty_path(errors, errors, None).at(number / 401).size == 0
