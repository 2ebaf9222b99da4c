"""Dates, durations, ordered categories, bad columns: how they read, and what trees do with them."""

import datetime as dt
import math
import pickle
import tracemalloc

import numpy as np
import polars as pl
import pytest

import mictree as mt
from mictree.estimators.saved import from_json, to_json
from mictree.optimal.ordered_rows import OrderedRows

pandas = pytest.importorskip("pandas")
DAYS = [dt.date(2024, 1, 1), dt.date(2024, 3, 1), dt.date(2024, 3, 2), None]
SIZES = ["small", "medium", "large", "small"]


def frame():
    hour = dt.timedelta(hours=1)
    return pl.DataFrame(
        {
            "signup": DAYS,
            "seen": [dt.datetime(2024, 1, 1, 3, 4, second) for second in (5, 8, 9, 9)],
            "size": pl.Series(SIZES, dtype=pl.Enum(["small", "medium", "large"])),
            "stay": [hour, 26 * hour, 27 * hour, None],
            "opens": [dt.time(1), dt.time(2), dt.time(2, 0, 1), None],
        }
    )


def test_times_and_ordered_categories_read_as_they_are():
    assert mt.SampleProblem(frame(), [0, 1, 0, 1]).variables == (
        "signup > 2024-01-31", "signup > 2024-03-01", "signup is missing",
        "seen > 2024-01-01 03:04:06", "seen > 2024-01-01 03:04:08",
        "size > small", "size > medium",
        "stay > 13:30", "stay > 1 day 02:30", "stay is missing",
        "opens > 01:30", "opens > 02:00", "opens is missing",
    )  # fmt: skip


def test_pandas_has_the_same_columns():
    ours = frame().drop("size", "opens")
    theirs = ours.to_pandas()
    theirs["size"] = pandas.Categorical(SIZES, ["small", "medium", "large"], ordered=True)
    names = mt.SampleProblem(theirs, [0, 1, 0, 1]).variables
    assert names == (
        *mt.SampleProblem(ours, [0, 1, 0, 1]).variables,
        "size > small",
        "size > medium",
    )
    times = ours["seen"].to_numpy()[:, None]
    assert mt.SampleProblem(times, [0, 1, 0, 1]).variables == (
        "x0 > 2024-01-01 03:04:06", "x0 > 2024-01-01 03:04:08",
    )  # fmt: skip


def test_new_rows_of_every_kind():
    X = frame()
    model = mt.TopDownClassifier(3).fit(X, [0, 1, 0, 1])
    assert model.predict(X).tolist() == [0, 1, 0, 1]
    size = mt.TopDownClassifier(2).fit(X.select("size"), [0, 1, 2, 0])
    order = pl.Enum(["large", "small", "medium"])  # another order: values count, not codes
    new = pl.DataFrame({"size": pl.Series(["medium", "large", None], dtype=order)})
    assert size.predict(new).tolist() == [1, 2, 0]
    unknown = pl.DataFrame({"size": pl.Series(["huge"], dtype=pl.Enum(["huge"]))})
    with pytest.raises(ValueError, match="one of small, medium, large; size has huge"):
        size.predict(unknown)


def test_times_that_floats_would_merge():
    X = np.array([[0], [1]], dtype="M8[ns]") + np.timedelta64(2**62, "ns")
    with pytest.raises(ValueError, match="must differ as 64-bit floats; x0 has 2116"):
        mt.SampleProblem(X, [0, 1])


def test_thresholds_lie_halfway_between_the_values_of_a_leaf():
    """The root splits x1; below it, x0 has the values 0 and 10, whatever lies between elsewhere."""
    X = [[0, 0], [10, 0], [4, 1], [5, 2], [6, 2]]
    growth = mt.TopDown().grow(mt.SampleProblem(X, [0, 1, 2, 2, 2]), 2)
    assert [step.variable for step in growth.steps] == ["x1 > 0.5", "x0 > 5"]
    assert growth.steps[1].threshold == 5
    tree = growth.tree(2)
    assert tree.variables == ("x0 > 5", "x1 > 0.5")
    assert tree.sources == ((0, 5.0), (1, 0.5))
    assert mt.Tree.from_json(tree.to_json()) == tree
    binned = mt.TopDown().grow(mt.SampleProblem(X, [0, 1, 2, 2, 2], max_thresholds=4), 2)
    assert binned.tree(2) == tree  # four thresholds are all


def test_thresholds_that_separate_alike_are_one_test():
    """At the leaf x1 <= 0.5 the column x0 offers one test and x2 one, not four and one."""
    X = [[0, 0, 1], [10, 0, 0], [4, 1, 0], [5, 1, 0], [6, 1, 1]]
    problem = mt.SampleProblem(X, [0, 1, 2, 2, 2])
    leaf = problem.leaf({"x1": 0})
    assert [problem.test(leaf, variable)[0] for variable in problem.splits(leaf).variables] == [
        "x0 > 5", "x2",
    ]  # fmt: skip


def test_a_wide_table_of_literals_is_refused_with_its_size():
    problem = mt.SampleProblem(np.arange(200.0)[:, None], np.arange(200) % 2)
    with pytest.raises(ValueError, match="200 rows and 199 literals need 39,800"):
        problem.literals.transform(np.zeros((200, 1)), memory_limit=10_000)


def test_exact_thresholds_are_exported():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(400, 3)), random.integers(0, 3, 400)
    model = mt.TopDownClassifier(30).fit(X, y)
    thresholds = sorted(what for _, what in model.tree_.sources)
    theirs = model.to_sklearn()
    np.testing.assert_array_equal(
        np.unique(theirs.tree_.threshold[theirs.tree_.feature >= 0]), thresholds
    )
    new = random.normal(size=(500, 3)).astype(np.float32)
    np.testing.assert_array_equal(theirs.predict(new), model.predict(new))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert again.tree_ == model.tree_
    assert len(again.literals_) < len(model.literals_)


def test_bad_and_odd_columns():
    with pytest.raises(ValueError, match="infinity; x0"):
        mt.SampleProblem([[1.0], [math.inf], [2.0]], [0, 1, 0])
    with pytest.raises(ValueError, match="numbers or texts, not both; x0"):
        mt.SampleProblem(np.array([[1], ["a"], [2.5]], dtype=object), [0, 1, 0])
    assert mt.SampleProblem([[7.5]] * 3, [0, 1, 0]).variables == ()
    cells = np.array([[1.0], [None], [math.nan], [3.0], [5.0]], dtype=object)
    problem = mt.SampleProblem(cells, [0, 1, 1, 0, 1])
    assert problem.variables == ("x0 > 2", "x0 > 4", "x0 is missing")
    assert problem.reach({"x0 is missing": 1}) == 0.4


def test_names_are_made_only_when_asked_for():
    """Seventy thousand distinct values take the same way as ten million."""
    values = np.random.default_rng(0).permutation(70_000).astype(float)
    model = mt.TopDownClassifier(1).fit(values[:, None], values > 1234.5)
    assert model.tree_.variables == ("x0 > 1234.5",)
    literals, (ranks,) = model.literals_, model.growth_.problem.ranks
    assert (len(literals), ranks.dtype) == (69_999, np.uint32)
    assert not {"names", "_texts"} & set(vars(literals))


@pytest.mark.parametrize(
    ("fitted", "new", "words"),
    [
        (["2024-01-01", "2024-01-05"], [1.0, 5.0], "held datetimes, now numbers"),
        ([1.0, 5.0], ["2024-01-01", "2024-01-05"], "held numbers, now datetimes"),
        (["2024-01-01", "2024-01-05"], ["soon", "late"], "held datetimes, now texts"),
    ],
)
def test_a_column_must_stay_what_it_was(fitted, new, words):
    def frame(values):
        if isinstance(values[0], str) and values[0][0].isdigit():
            values = pandas.to_datetime(pandas.Series(values))
        return pandas.DataFrame({"when": values})

    model = mt.TopDownClassifier(1).fit(frame(fitted), [0, 1])
    with pytest.raises(ValueError, match=f"must stay what it was at fit; when {words}"):
        model.predict(frame(new))
    saved = from_json(to_json(model))
    with pytest.raises(ValueError, match=f"'?when'? {words}"):
        saved.predict(frame(new))
    assert model.predict(frame(fitted)).tolist() == [0, 1]


def test_durations_and_times_are_not_dates():
    lengths = pandas.DataFrame({"t": pandas.to_timedelta([1, 5, 9], unit="D")})
    model = mt.OptimalTreeClassifier(1).fit(lengths, [0, 0, 1])
    dates = pandas.DataFrame({"t": pandas.to_datetime(["2024-01-01"] * 3)})
    with pytest.raises(ValueError, match="t held durations, now datetimes"):
        model.predict(dates)
    nothing = pandas.DataFrame({"t": [math.nan] * 3})
    assert model.predict(nothing).tolist() == [0, 0, 0]  # missing fails every threshold


def allocated(work):
    """The most bytes of arrays at one time, beyond those there before; and the result."""
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def test_memory_by_cell_and_row():
    """Arrays made by numpy; what kernels make for themselves is a few numbers for each row."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 12))
    y = (X[:, 0] > random.normal(size=len(X))).astype(int)
    mt.TopDownClassifier(7).fit(X[:300], y[:300])
    OrderedRows.of(mt.SampleProblem(X[:300], y[:300]), False)  # compiles
    cells, rows = X.size, 100 * len(X)
    values_and_ranks, problem = allocated(lambda: mt.SampleProblem(X, y))
    assert 12 * cells <= values_and_ranks <= 12 * cells + 30 * len(X)
    growing, _ = allocated(lambda: mt.TopDown().grow(problem, 7))
    assert growing <= 4 * cells + 12 * len(X)
    searched, rows_of = allocated(lambda: OrderedRows.of(problem, False))
    assert searched <= 4 * cells + rows
    assert all(one is other for one, other in zip(rows_of.ranks, problem.ranks, strict=True))


@pytest.mark.slow
def test_ten_million_distinct_values():
    values = np.random.default_rng(0).permutation(10_000_000).astype(np.float64)
    model = mt.TopDownClassifier(1).fit(values[:, None], values > 1234.5)
    assert model.tree_.variables == ("x0 > 1234.5",)
    assert len(model.literals_) == 9_999_999
