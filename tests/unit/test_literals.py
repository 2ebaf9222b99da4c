"""What columns become, and that packing says the same as evaluating."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mictree.columns.data import Data
from mictree.columns.literals import MAX_CATEGORIES, encode
from mictree.columns.ordered import midpoint, midpoints, rank, round_midpoint
from mictree.problems.sample import SampleProblem

pandas = pytest.importorskip("pandas")


def names(X, **options):
    rows = len(X)
    order = np.full((rows + 63) // 64 * 64, -1)
    order[:rows] = np.arange(rows)
    return encode(Data(X), order, np.arange(rows), **options)[0].names


def choose_thresholds(values, weights, most):
    ranked = rank(values, weights, most)
    return midpoints(ranked.below, ranked.above)


def test_kinds_of_columns():
    frame = pl.DataFrame(
        {
            "bit": [0, 1, 1, 0],
            "age": [20.0, None, 45.0, 50.0],
            "color": ["red", "blue", None, "green"],
            "flag": [True, False, False, True],
            "two": ["a", "b", "a", "b"],
            "same": [7, 7, 7, 7],
            "seldom": ["x", None, "x", None],
        }
    )
    expected = (
        "bit", "age > 32.5", "age > 47.5", "age is missing", "color is blue", "color is green",
        "color is red", "color is missing", "flag is True", "two is b", "seldom is missing",
    )  # fmt: skip
    assert names(frame) == expected
    assert names(frame.to_pandas()) == expected


def test_nullable_pandas_types():
    frame = pandas.DataFrame(
        {
            "count": pandas.array([1, None, 3], dtype="Int64"),
            "flag": pandas.array([True, None, False], dtype="boolean"),
            "kind": pandas.Categorical(["b", None, "a"]),
            "text": pandas.array(["u", "v", None], dtype="string"),
        }
    )
    assert names(frame) == (
        "count > 2", "count is missing", "flag is True", "flag is missing",
        "kind is a", "kind is b", "kind is missing", "text is u", "text is v", "text is missing",
    )  # fmt: skip


def test_names_never_clash():
    frame = pl.DataFrame({"a": [1, 2, 3], "a > 1.5": [0, 1, 1]})
    assert names(frame) == ("a > 1.5 (column 0)", "a > 2.5", "a > 1.5 (column 1)")


def test_columns_in_another_order():
    frame = pl.DataFrame({"a": [0, 1, 2], "b": [5, 6, 7]})
    literals = SampleProblem(frame, [0, 1, 0]).literals
    rule = r"columns the literals were made from, in their order; column 0 is 'b', not 'a'"
    with pytest.raises(ValueError, match=rule):
        literals.transform(frame.select("b", "a"))
    # a matrix has no names to differ
    np.testing.assert_array_equal(
        literals.transform(frame.to_numpy()), literals.transform(frame.to_pandas())
    )
    unnamed = SampleProblem(frame.to_numpy(), [0, 1, 0]).literals
    np.testing.assert_array_equal(unnamed.transform(frame), literals.transform(frame))


def test_few_thresholds_lie_at_quantiles():
    values = np.random.default_rng(0).permutation(1000).astype(float)
    thresholds = choose_thresholds(values, None, 3)
    np.testing.assert_allclose(thresholds, [249.5, 499.5, 749.5], atol=1)


def test_weighted_quantiles_are_those_of_repeated_rows():
    random = np.random.default_rng(1)
    values, weights = random.standard_normal(500), random.integers(1, 5, 500)
    np.testing.assert_array_equal(
        choose_thresholds(values, weights.astype(float), 10),
        choose_thresholds(np.repeat(values, weights), None, 10),
    )


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.integers(1, 8),
)
def test_thresholds_separate_values(values, most):
    values = np.array(values)
    thresholds = choose_thresholds(values, None, most)
    assert len(thresholds) == min(most, len(np.unique(values)) - 1) or len(thresholds) < most + 1
    assert np.all(np.diff(thresholds) > 0)
    sides = values[:, None] > thresholds
    assert np.all(sides.any(axis=0))
    assert not np.any(sides.all(axis=0))


def test_thresholds_lie_halfway():
    assert choose_thresholds(np.array([1.0, 2.0, 4.0]), None, 8).tolist() == [1.5, 3.0]
    assert choose_thresholds(np.array([1e308, 1.5e308]), None, 8).tolist() == [1.25e308]


@given(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e308)))
@example((1e308, 5e307))
@example((1.0, 2**-52))
def test_one_midpoint_and_many(pair):
    below, above = pair[0], pair[0] + pair[1]
    assume(below < above < np.inf)
    middle = midpoint(below, above)
    assert below <= middle < above
    assert midpoints(np.array([below]), np.array([above])).tolist() == [middle]


@pytest.mark.parametrize("kind", ["M8[Y]", "m8[Y]"])
def test_times_that_would_wrap_around_are_refused(kind):
    times = np.array([[-300_000], [30], [300_000]]).astype(kind)
    with pytest.raises(ValueError, match=r"within 2\*\*63 microseconds, .* of 1970; got"):
        SampleProblem(times, [0, 0, 1])


def test_three_values_in_two_bins_are_not_binary():
    problem = SampleProblem(np.array([[0], [0], [0], [1], [1], [2]]), [0, 1] * 3, max_thresholds=1)
    assert problem.literals.names == ("x0 > 0.5",)


def test_a_value_at_the_threshold_is_not_above_it():
    literals = SampleProblem(pl.DataFrame({"a": [0.0, 2.0, 4.0]}), [0, 1, 0]).literals
    assert literals.names == ("a > 1", "a > 3")
    for table in (pl.DataFrame({"a": [1.0, 3.0]}), np.array([[1.0], [3.0]])):
        assert literals.transform(table).tolist() == [[0, 0], [1, 0]]


@given(st.data())
def test_bits_say_what_transform_says(data):
    count = data.draw(st.integers(1, 200))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    frame = pl.DataFrame(
        {
            "number": random.integers(0, data.draw(st.integers(1, 90)), count).astype(float),
            "gaps": np.where(random.random(count) < 0.3, np.nan, random.random(count)),
            "text": random.choice(["a", "b", "c"], count),
        }
    ).with_columns(pl.col("gaps").fill_nan(None))
    labels = random.integers(0, 3, count)
    problem = SampleProblem(frame, labels, max_thresholds=data.draw(st.integers(1, 150)))
    order = np.concatenate([np.flatnonzero(labels == code) for code in range(3)])
    slots = np.unpackbits(problem.valid.view(np.uint8), bitorder="little").astype(bool)
    words = problem.bits_of(np.arange(len(problem.literals)))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    np.testing.assert_array_equal(bits[:, slots].T, problem.literals.transform(frame)[order])
    assert not bits[:, ~slots].any()


@pytest.mark.parametrize("columns", [1, 5, 8, 9, 38])
@pytest.mark.parametrize("kind", [np.uint8, np.bool_, np.int64, np.float32])
def test_every_type_of_matrix_gives_the_same_bits(columns, kind):
    random = np.random.default_rng(columns)
    bits = random.integers(0, 2, (333, columns))
    labels = random.integers(0, 3, 333)
    expected = SampleProblem(bits.astype(float), labels)
    for matrix in (bits.astype(kind), np.asfortranarray(bits.astype(kind)), bits.astype(kind)[::1]):
        problem = SampleProblem(matrix, labels)
        np.testing.assert_array_equal(problem.bits, expected.bits)
        assert problem.variables == expected.variables


def test_bytes_that_are_not_binary():
    matrix = np.array([[0, 3], [1, 5], [1, 3], [0, 200]], dtype=np.uint8)
    assert SampleProblem(matrix, [0, 1, 1, 0]).variables == ("x0", "x1 > 4", "x1 > 102.5")


def test_bad_columns():
    with pytest.raises(ValueError, match="numbers or texts, not both; mixed"):
        names(pandas.DataFrame({"mixed": [1, "a", None]}))
    with pytest.raises(ValueError, match="texts, booleans, dates or times; parts has List"):
        names(pl.DataFrame({"parts": [[1, 2]]}))
    with pytest.raises(ValueError, match="infinity; x0"):
        names(np.array([[1.0], [math.inf]]))
    many = pl.DataFrame({"id": [str(number) for number in range(MAX_CATEGORIES + 1)]})
    with pytest.raises(ValueError, match=f"at most {MAX_CATEGORIES} categories; id has 1025"):
        names(many)
    with pytest.raises(ValueError, match="two dimensions"):
        Data(np.zeros(3))


def test_a_threshold_of_a_leaf_has_no_rounding_error():
    # 100.1 / 2 + 100.3 / 2 is 100.19999999999999, just below a value of another leaf
    values = np.array([100.1, 100.2, 100.3])
    order = np.full(64, -1)
    order[:3] = np.arange(3)
    column = encode(Data(pl.DataFrame({"height": values})), order, np.arange(3))[0].columns[0]
    position, threshold = column.between(0, 2)
    assert threshold == 100.2
    assert column.text(position, threshold)[0] == "height > 100.2"
    assert [column.between(low, low + 1)[0] for low in (0, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (4_791_464, 4_859_630, "4825547"),
        (-4_859_630, -4_791_464, "-4825547"),
        (9_999_999, 10_000_001, "10000000"),
        (9_999_998.5, 10_000_001.25, "10000000"),
        (1_000_000.25, 1_000_000.5, "1000000.4"),
        (4 * 10**15, 4 * 10**15 + 200, "4000000000000100"),
        (1e20, 3e20, "2e+20"),
        (0.500_000_001, 0.500_000_003, "0.500000002"),
        (1234.5678, 1234.7, "1234.63"),
    ],
)
def test_a_threshold_has_all_digits_before_the_point(low, high, shown):
    """4.82555e+06 is hard to read, and is another number."""
    (name,) = names(pl.DataFrame({"a": [low, high]}), max_thresholds=3)
    assert name == f"a > {shown}"


@given(st.floats(0, 200, width=32), st.floats(0, 200, width=32))
@example(130.09185791015625, 137.1083984375)  # 15 digits lie below their midpoint, a 32-bit float
def test_a_midpoint_that_is_a_32_bit_float_stays(low, high):
    """A new row may have that value; scikit-learn sends it to the low side."""
    assume(low < high)
    middle = midpoint(low, high)
    assume(float(np.float32(middle)) == middle)
    assert round_midpoint(low, high) == middle
