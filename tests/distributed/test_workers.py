"""What runs on workers: one thread, every kernel compiled once, rows that stay where they are."""

import pickle
import threading
from fractions import Fraction

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.sizeof import sizeof
from hypothesis import given
from hypothesis import strategies as st

import mictree as mt
from mictree._support import jit
from mictree._support.numbers import as_number, exact_sum, exact_sums
from mictree.columns.literals import Literals
from mictree.distributed import packed
from mictree.distributed.cluster import Cluster
from mictree.distributed.collections import Plan, digest

amounts = st.floats(0, 1e300, allow_subnormal=True) | st.sampled_from([1 / 3, 0.1, 1e-300, 5e-324])


@given(st.lists(st.tuples(amounts, st.integers(0, 2)), max_size=30))
def test_sums_are_exact(terms):
    values = np.array([value for value, _ in terms])
    groups = np.array([group for _, group in terms], dtype=np.int64)
    expected = [
        sum((Fraction(v) for v, g in terms if g == group), Fraction(0)) for group in range(3)
    ]
    assert [as_number(total) for total in exact_sums(values, groups, 3)] == expected
    assert exact_sum(values) == sum(expected)


def bits(rows: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).integers(0, 2, (rows, 6), dtype=np.uint8)
    return X, X[:, 0] & X[:, 1] | X[:, 2]


def _signatures() -> int:
    return len(packed._count_leaves.signatures)


def test_no_kernel_is_compiled_twice_on_a_worker(client):
    X, y = bits()
    for chunk in (1000, 700):
        X_cut, y_cut = da.from_array(X, chunks=(chunk, 6)), da.from_array(y, chunks=chunk)
        mt.TopDownClassifier(max_size=6).fit(X_cut, y_cut)
    # other tests on these workers may have counted ranks of two bytes, another type
    assert all(count <= 2 for count in client.run(_signatures).values())


def test_rows_from_another_worker_are_of_the_same_type():
    """Read-only arrays would be another type for numba."""
    X, y = bits(200)
    part = packed.pack(
        digest((X, y, None), 0), Plan(np.array([0, 1]), Literals.binary("abcdef"), None)
    )
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(part, protocol=5, buffer_callback=buffers.append)
    moved = pickle.loads(content, buffers=[bytes(each) for each in buffers])
    assert all(array.flags.writeable for array in moved.rows)
    leaves = [(), (packed.Test(0, 0, True),)]
    counted = [packed.count_leaves(part, leaves)]
    before = _signatures()
    counted.append(packed.count_leaves(moved, leaves))
    assert _signatures() == before > 0
    np.testing.assert_array_equal(counted[0].rows, counted[1].rows)
    assert counted[0].rows[0, -1].sum() == 200


def test_dask_sees_how_large_a_partition_is():
    X, y = bits(64_000)
    part = digest((X, y, None), 0)
    assert sizeof(part) > 64_000 * 6 / 8
    plan = Plan(np.array([0, 1]), Literals.binary("abcdef"), None)
    assert sizeof(packed.pack(part, plan)) > 64_000 * 6 / 8


def _threads_of_a_kernel(part: int) -> int:
    """How many threads work on a kernel that would use all cores elsewhere."""
    names: set[str] = set()

    def kernel(start: int, stop: int) -> None:
        names.add(threading.current_thread().name)

    jit.run(kernel, 1000, 1e9)
    return len(names)


def test_threads_do_not_multiply(client, monkeypatch):
    monkeypatch.setattr(jit, "CORES", 4)
    with dask.config.set(scheduler="sync"):
        assert Cluster().reduce(_threads_of_a_kernel, sum, [[0], [1]]) == 2
    assert Cluster().reduce(_threads_of_a_kernel, sum, [[0], [1]]) == 2
    with jit.one_core():
        assert _threads_of_a_kernel(0) == 1
    assert _threads_of_a_kernel(0) > 1


def test_a_round_has_a_task_for_each_thread(client, monkeypatch):
    tasks: list[int] = []
    calls = Cluster._calls

    def watched(*arguments):
        made = calls(*arguments)
        tasks.append(len(made))
        return made

    monkeypatch.setattr(Cluster, "_calls", watched)
    X, y = bits()
    far = mt.TopDownClassifier(max_size=6).fit(
        da.from_array(X, chunks=(100, 6)), da.from_array(y, chunks=100)
    )
    assert max(tasks) <= 2  # of 30 partitions
    local = mt.TopDownClassifier(max_size=6).fit(X, y)
    np.testing.assert_array_equal(far._splitting.rows, local._splitting.rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(20)}, "must all be Dask collections if one is; y is a ndarray"),
        ({"y": da.zeros((20, 2), chunks=10)}, "y must have one dimension"),
        (
            {"y": dd.from_pandas(pd.Series(range(20)), npartitions=3)},
            "as many partitions; .* 2 and 3",
        ),
        ({"sample_weight": np.ones(20)}, "sample_weight is a ndarray"),
        ({"sample_weight": da.zeros(20, chunks=10)}, "positive for some row; all are zero"),
        ({"sample_weight": -da.ones(20, chunks=10)}, "finite and not negative"),
        ({"X": da.zeros(20, chunks=10)}, "X must have two dimensions"),
        ({"X": da.full((20, 1), np.inf, chunks=10)}, "must not contain infinity; x0 does"),
    ],
)
def test_bad_collections(change, message):
    X, y = da.zeros((20, 2), chunks=10), da.from_array(np.arange(20) % 2, chunks=10)
    given = {"X": X, "y": y, "sample_weight": None} | change
    with dask.config.set(scheduler="sync"), pytest.raises((TypeError, ValueError), match=message):
        mt.TopDownClassifier().fit(**given)


def test_partitions_of_different_lengths_are_named():
    X = dd.concat([dd.from_pandas(pd.DataFrame({"a": range(n)}), npartitions=1) for n in (3, 4)])
    y = dd.concat([dd.from_pandas(pd.Series([0, 1] * 5)[:n], npartitions=1) for n in (3, 5)])
    with (
        dask.config.set(scheduler="sync"),
        pytest.raises(ValueError, match="partition 1 has 4 and 5"),
    ):
        mt.TopDownClassifier().fit(X, y)


def test_what_needs_one_machine_says_so():
    X, y = da.zeros((20, 2), chunks=10), da.from_array(np.arange(20) % 2, chunks=10)
    for learner in (mt.LookaheadClassifier(), mt.OptimalTreeClassifier()):
        with pytest.raises(TypeError, match="Dask collection"):
            learner.fit(X, y)
    with pytest.raises(ValueError, match="max_size must be a number on a Dask collection"):
        mt.TopDownClassifier(max_size="auto").fit(X, y)
    with pytest.raises(TypeError, match="select_size must have its rows on one machine"):
        mt.select_size(mt.TopDownClassifier(), X, y)


def test_a_column_of_numbers_here_and_of_texts_there():
    numbers, texts = (pd.Series(values, dtype=object) for values in ([1, 2], ["x", "y"]))
    parts = [pd.DataFrame({"a": values}) for values in (numbers, texts)]
    with dask.config.set({"scheduler": "sync", "dataframe.convert-string": False}):
        X = dd.from_map(lambda number: parts[number], [0, 1], meta=parts[0].iloc[:0])
        y = dd.from_map(lambda number: pd.Series([0, 1]), [0, 1], meta=pd.Series([0]))
        with pytest.raises(ValueError, match="numbers or texts, not both; a holds both"):
            mt.TopDownClassifier().fit(X, y)
