"""A small matrix of floats is read at once; the result is that of one column after another."""

import numpy as np
import pandas
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from mictree.columns.data import Data
from mictree.columns.literals import encode
from tests.reference.matrix import least_error_of_a_split, read_matrix

LARGEST, LEAST = np.finfo(float).max, np.finfo(float).smallest_subnormal
POOLS = [  # of the values of a column
    [0.0, -0.0, 1.0],
    [0.0, 1.0, np.nan],
    [-3.0, -2.0, -1.0, 0.0, -0.0, 1.0, 2.0, 3.0],
    [-2.0, -0.0, 7.0, np.nan],
    [2.5],
    [-0.0],
    [2.5, np.nan],
    [np.nan],
    [LEAST, -LEAST, 2 * LEAST, 3 * LEAST, 0.0, -0.0],
    [LARGEST, np.nextafter(LARGEST, 0), -LARGEST, np.nextafter(-LARGEST, 0), 1.0],
    [0.1, 0.2, 0.1 + 0.2, 0.3],
    [2.0**53, 2.0**53 - 1, 2.0**53 + 2, -(2.0**53)],
    [*(1 + np.arange(60) * 2.0**-52), np.nan],  # so near each other that quick sorting gives up
    [*(1 - np.arange(60) * 2.0**-53)],
]


KINDS = [st.floats(allow_infinity=False), *map(st.sampled_from, POOLS)]


@st.composite
def matrices(draw):
    """A matrix of 64 or 32 bits, in either order of memory, and labels."""
    count = draw(st.integers(1, 70))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    columns = [draw(st.lists(kind, min_size=count, max_size=count)) for kind in kinds]
    matrix = np.array(columns).T if draw(st.booleans()) else np.array(columns).T.copy()
    if draw(st.booleans()):
        most = np.finfo(np.float32).max
        matrix = matrix.clip(-most, most).astype(np.float32)
    labels = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    return matrix, labels


def as_frames(matrix):
    names = [f"x{number}" for number in range(matrix.shape[1])]
    columns = {name: matrix[:, number] for number, name in enumerate(names)}
    gaps = pl.DataFrame(columns).fill_nan(None)
    return [pandas.DataFrame(columns), pl.DataFrame(columns), gaps]


def check_columns(columns, readings):
    """The values on both sides of each threshold are the reference's, up to the sign of 0."""
    for column, reading in zip(columns, readings, strict=True):
        for found, side in ((column.below, 0), (column.above, 1)):
            expected = np.array([pair[side] for pair in reading.thresholds])
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
        assert column.missing == reading.missing
        assert not column.binned
        assert column.categories is None
        assert (column.style == "binary") == (reading.values == [0, 1])


def bits_of_rows(problem):
    """Whether each row, in the order of its slots, satisfies each literal."""
    slots = np.unpackbits(problem.valid.view(np.uint8), bitorder="little").astype(bool)
    words = problem.bits_of(np.arange(len(problem.literals)))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return bits[:, slots].T


@given(matrices())
def test_a_matrix_becomes_the_literals_of_its_columns(case):
    matrix, labels = case
    readings = read_matrix(matrix.tolist())
    truths = [truth for reading in readings for truth in reading.truths]
    order = np.argsort(labels, kind="stable")
    # with max_thresholds, one column is read after another
    for problem in (
        mt.SampleProblem(matrix, labels),
        mt.SampleProblem(matrix, labels, max_thresholds=99),
    ):
        check_columns(problem.literals.columns, readings)
        for number, ranks in zip(problem.literals.ordered, problem.ranks, strict=True):
            np.testing.assert_array_equal(ranks, np.array(readings[number].ranks)[order])
        expected = np.array(truths, dtype=bool).reshape(-1, len(labels)).T
        np.testing.assert_array_equal(bits_of_rows(problem), expected[order])
        np.testing.assert_array_equal(problem.literals.transform(matrix), expected)
        least = least_error_of_a_split(readings, labels) / len(labels)
        np.testing.assert_allclose(mt.optimal_errors(problem, 1)[1], least, rtol=1e-12)


@given(matrices(), st.data())
def test_rows_of_weight_0_are_not_read(case, data):
    matrix, labels = case
    kept = data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels)))
    kept[0] = True
    problem = mt.SampleProblem(matrix, labels, np.array(kept, dtype=float))
    check_columns(problem.literals.columns, read_matrix(matrix[kept].tolist()))


@given(matrices())
def test_a_matrix_is_read_as_a_frame(case):
    matrix, labels = case
    problem = mt.SampleProblem(matrix, labels)
    model = mt.TopDownClassifier(5, ties="first").fit(matrix, labels)
    for frame in as_frames(matrix):
        other = mt.SampleProblem(frame, labels)
        assert other.variables == problem.variables
        np.testing.assert_array_equal(other.bits, problem.bits)
        for ranks, mine in zip(other.ranks, problem.ranks, strict=True):
            np.testing.assert_array_equal(ranks, mine)
            assert ranks.dtype == mine.dtype
        twin = mt.TopDownClassifier(5, ties="first").fit(frame, labels)
        assert twin.tree_ == model.tree_
        np.testing.assert_array_equal(twin.growth_.errors, model.growth_.errors)
        np.testing.assert_array_equal(twin.predict_proba(frame), model.predict_proba(matrix))


@given(matrices())
def test_optimal_trees_of_a_matrix_and_of_a_frame(case):
    matrix, labels = case
    models = [
        mt.OptimalTreeClassifier(2, time_limit=None).fit(table, labels)
        for table in (matrix, as_frames(matrix)[1])
    ]
    assert models[0].tree_ == models[1].tree_
    assert models[0].score(matrix, labels) == models[1].score(as_frames(matrix)[1], labels)


def test_the_table_is_read_as_rows_in_any_order():
    """The slots of rows that are left out, and of those between classes, hold none."""
    matrix = np.array([[0.5, np.nan], [-0.0, 2.0], [0.0, 1.0], [9.0, 1.0]])
    order = np.full(64, -1)
    order[[3, 5, 40]] = [3, 0, 2]
    literals, _, ranks = encode(Data(matrix), order, np.array([3, 0, 2]))
    check_columns(literals.columns, read_matrix(matrix[[3, 0, 2]].tolist()))
    np.testing.assert_array_equal(ranks[0], [2, 1, 0])
