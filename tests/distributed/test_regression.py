"""Numbers to predict: streamed files and Dask collections give the tree of the rows in memory."""

import math
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.columns import parquet, streamed
from tests.distributed.test_parquet import assert_same, draw_frame, write

NUMBERS = ([0, 1], [-3, 2, 7, 40], [0.1, 0.25, -7.5], [1 / 3, math.pi, -2.0, 1e6], [5])
WEIGHTS = (None, [0, 1, 2], [0.5, 1.25, 0], [math.pi, 1 / 3, 1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("numbers")


def draw_numbers(data, rows: int) -> np.ndarray:
    """A few values, which tie, or many."""
    random = np.random.default_rng(rows)
    values = data.draw(st.sampled_from([*NUMBERS, None]))
    if values is not None:
        return random.choice(values, rows)
    return random.normal(1000, 3, rows).round(data.draw(st.sampled_from([1, 3, 12])))


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_streamed_numbers_are_those_of_the_rows_at_once(folder, data):
    rows = data.draw(st.integers(1, 120))
    numbers = draw_numbers(data, rows)
    frame = draw_frame(data, rows).with_columns(pl.Series("label", numbers))
    weights, random = data.draw(st.sampled_from(WEIGHTS)), np.random.default_rng(rows)
    if weights is not None:
        weights = random.choice(weights, rows)
        weights[0] = 1
        frame = frame.with_columns(pl.Series("weight", weights))
    pattern = write(folder, frame, data.draw(st.lists(st.integers(0, rows), max_size=5)))
    with (
        mock.patch.object(parquet, "MOST_ROWS", data.draw(st.sampled_from([7, 50, 2**17]))),
        mock.patch.object(parquet, "FEWEST_ROWS", 1),
        mock.patch.object(streamed, "COUNT_BYTES", data.draw(st.sampled_from([1, 2**26]))),
    ):
        problem = mt.SampleProblem.from_parquet(
            pattern, "label", loss="squared", max_thresholds=9,
            sample_weight=None if weights is None else "weight",
        )  # fmt: skip
    features = frame.drop("label", "weight", strict=False)
    at_once = mt.SampleProblem(features, numbers, weights, loss="squared", max_thresholds=9)
    assert_same(problem, at_once)
    np.testing.assert_array_equal(problem.targets, at_once.targets)
    np.testing.assert_array_equal(problem.all_class_rows, at_once.all_class_rows)
    for rule in (mt.TopDown(), mt.BestFirst(), mt.ID3()):
        one, other = (rule.grow(each, 4) for each in (problem, at_once))
        np.testing.assert_array_equal(one.errors, other.errors)
        assert one.tree(4) == other.tree(4)


def test_streamed_costs_are_those_of_the_rows_at_once(tmp_path):
    random = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": random.integers(0, 30, 200),
            "color": random.choice(["red", "green", "blue"], 200),
            "label": random.choice(["a", "b", "c"], 200),
        }
    )
    pattern = write(tmp_path, frame, [50, 120])
    matrix = [[0, 1, 5], [2, 0.5, 3], [1, 4, 0]]
    named = {
        label: dict(zip("abc", row, strict=True)) for label, row in zip("abc", matrix, strict=True)
    }
    features, labels = frame.drop("label"), frame["label"].to_numpy()
    at_once = mt.SampleProblem(features, labels, cost_matrix=matrix)
    for given_costs in (matrix, named):
        problem = mt.SampleProblem.from_parquet(pattern, "label", cost_matrix=given_costs)
        assert_same(problem, at_once)
        for criterion in ("entropy", "minority"):
            rule = mt.TopDown(criterion=criterion)
            one, other = (rule.grow(each, 4) for each in (problem, at_once))
            np.testing.assert_array_equal(one.errors, other.errors)
            assert one.tree(4) == other.tree(4)
    with pytest.raises(ValueError, match="cost_matrix and loss exclude each other; got both"):
        mt.SampleProblem.from_parquet(pattern, "age", cost_matrix=matrix, loss="squared")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([1.0, None], "y must not contain missing values; label does, in"),
        ([1.0, math.nan], "y must be finite; label has nan in"),
        ([1.0, -math.inf], "y must be finite; label has -inf in"),
        ([1.0, 1e300], "y must have squares that a 64-bit float can hold; label has 1e+300 in"),
        (["1", "2"], "y must hold numbers; label has String"),
        ([[1], [2]], "y must hold numbers; label has List(Int64)"),
    ],
)
def test_labels_that_are_no_numbers_are_refused(tmp_path, labels, said):
    pl.DataFrame({"flag": [0, 1], "label": labels}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="y must") as error:
        mt.SampleProblem.from_parquet(tmp_path, "label", loss="squared")
    assert said in str(error.value)
    if said.endswith("in"):
        assert str(error.value).endswith(str(tmp_path / "a.parquet"))


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Float32, pl.Boolean, pl.Decimal(9, 2)])
def test_numbers_of_all_types(tmp_path, kind):
    frame = pl.DataFrame({"flag": [0, 1, 2], "label": [1, 0, 1]})
    frame = frame.with_columns(pl.col("label").cast(kind))
    frame.write_parquet(tmp_path / "a.parquet")
    problem = mt.SampleProblem.from_parquet(tmp_path, "label", loss="squared")
    assert problem.targets.tolist() == [1.0, 0.0, 1.0]
    assert problem.targets.dtype == np.float64
