"""The tree of a Dask collection is the tree of the same rows on one machine, bit by bit."""

import pickle
from fractions import Fraction

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.columns.data import Data
from mictree.distributed.collections import Slots, distinct, is_frame
from tests.distributed.tables import Table, tables


class CautiousClassifier(mt.TopDownClassifier):
    """A rule of one's own."""

    class Cautious(mt.Grower):
        def priority(self, reach, gain, born):
            return reach * gain**2 + born / 100

    rule = Cautious


def skewed(rate):
    return rate * (1 - rate) * (1 + rate / 2)


LEARNERS = (
    mt.TopDownClassifier, mt.BestFirstClassifier, mt.ID3Classifier, CautiousClassifier,
)  # fmt: skip


@st.composite
def learners(draw):
    return draw(st.sampled_from(LEARNERS))(
        max_size=draw(st.sampled_from([0, 1, 5, 20, None])),
        criterion=draw(st.sampled_from(["entropy", "gini", "root", "minority", skewed])),
        ties=draw(st.sampled_from(["last", "first", "random", "heaviest", "lightest"])),
        min_samples_split=draw(st.sampled_from([2, 6])),
        min_samples_leaf=draw(st.sampled_from([1, 3])),
        max_depth=draw(st.sampled_from([None, 3])),
        min_weight_fraction_leaf=draw(st.sampled_from([0.0, 0.1])),
        min_gain=draw(st.sampled_from([0.0, 0.01])),
        class_weight=draw(st.sampled_from([None, "balanced"])),
        max_thresholds=draw(st.sampled_from([1, 2, 5, 255])),
        random_state=draw(st.integers(0, 5)),
        categories=draw(st.sampled_from(["each", "subsets"])),
    )


def assert_same(table: Table, learner) -> None:
    local = learner.fit(table.X, table.y, table.weights)
    X, y, weights = table.cut()
    far = type(learner)(**learner.get_params()).fit(X, y, weights)
    assert far.tree_ == local.tree_
    assert far.to_text(merge=False) == local.to_text(merge=False)
    for name in ("leaves", "literals", "thresholds", "gains", "rows", "masses"):
        one, other = (getattr(each._splitting, name) for each in (far, local))
        np.testing.assert_array_equal(one, other, err_msg=name)
    np.testing.assert_array_equal(far.growth_.errors, local.growth_.errors)
    np.testing.assert_array_equal(far.classes_, local.classes_)
    guess = far.predict(X)
    assert is_frame(guess) == is_frame(X)
    np.testing.assert_array_equal(np.asarray(guess.compute()), local.predict(table.X))
    given = np.ones(len(table.y)) if table.weights is None else table.weights
    masses = [Fraction(float(weight)) for weight in given]
    right = (local.predict(table.X) == table.y).tolist()
    held = sum((mass for mass, is_right in zip(masses, right, strict=True) if is_right), Fraction())
    assert far.score(X, y, weights) == float(held / sum(masses))


@settings(max_examples=40)
@given(tables(), learners())
def test_by_dasks_own_scheduler(table, learner):
    with dask.config.set(scheduler="sync"):
        assert_same(table, learner)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), learner=learners())
def test_on_two_processes(client, table, learner):
    assert_same(table, learner)


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("ties", ["last", "random"])
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_large_trees_on_numbers_with_missing_values(kind, ties, share):
    """Their leaves have few of the values, some only missing ones and one other."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.round(rng.normal(size=(50, 3)), 1)
        X[rng.random(X.shape) < share] = np.nan
        table = Table(X, rng.integers(0, 3, 50), None, (10, 50))
        with dask.config.set(scheduler="sync"):
            assert_same(table, kind(20, ties=ties, max_thresholds=255, random_state=seed))


@settings(max_examples=60)
@given(
    codes=st.lists(st.integers(0, 2), min_size=1, max_size=150),
    column=st.sampled_from([np.uint8, np.float64, str]),
    seed=st.integers(0, 99),
)
def test_which_rows_hold_a_literal(codes, column, seed):
    """Of two values either may, or both or none; an empty slot holds nothing."""
    draw = np.random.default_rng(seed)
    cells = draw.integers(0, int(draw.integers(1, 4)), len(codes)).astype(column)
    frame = pd.DataFrame({"a": cells})
    kept = draw.random(len(codes)) < 0.8
    labels = np.array(codes, dtype=np.int32)
    slots = Slots.of(np.bincount(labels[kept], minlength=3))
    placement = slots.place(labels, kept)
    if not kept.any():
        return
    found = distinct(Data(frame), 0, slots, placement)
    order = np.full(64 * len(slots.valid), -1)  # the row in each slot
    order[placement.slots] = placement.rows
    for chosen in range(2 ** len(found.values)):
        holds = np.array([chosen >> place & 1 == 1 for place in range(len(found.values))])
        accepted = {value for value, held in zip(found.values, holds, strict=True) if held}
        words = found.where(holds, slots).tolist()
        for slot, row in enumerate(order.tolist()):
            wanted = row >= 0 and frame["a"][row] in accepted
            assert words[slot // 64] >> slot % 64 & 1 == wanted
    assert [found.values[place] for place in found.of_rows(slots)] == [
        frame["a"][row] for row in order.tolist() if row >= 0
    ]


def test_by_threads_and_without_a_client():
    X = np.arange(24, dtype=np.uint8).reshape(12, 2) % 2
    table = Table(X, X[:, 0], None, (5, 5, 12))
    assert_same(table, mt.TopDownClassifier(max_size=3))


def test_the_fitted_model_is_a_local_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 70, 200) * 1.0, "smoker": rng.integers(0, 2, 200)})
    y = np.where((X.age > 50) & (X.smoker == 1), "ill", "well")
    with dask.config.set(scheduler="sync"):
        far = mt.TopDownClassifier(max_size=5).fit(*Table(X, y, None, (80, 80, 200)).cut()[:2])
    again = pickle.loads(pickle.dumps(far))
    assert again.to_text(merge=False) == far.to_text(merge=False)
    np.testing.assert_array_equal(far.to_sklearn().predict(X), far.predict(X))
    assert far.draw() is not None
    assert list(far.feature_names_in_) == ["age", "smoker"]
    np.testing.assert_array_equal(again.predict(X), far.predict(X))
    shares = far.predict_proba(Table(X, y, None, (80, 200)).cut()[0]).compute()
    np.testing.assert_array_equal(shares, far.predict_proba(X))


def test_at_most_255_thresholds_unless_told_otherwise():
    values = np.random.default_rng(0).normal(size=(2000, 1))
    y = values[:, 0] > np.sort(values[:, 0])[1003]  # between two of the 255
    X = da.from_array(values, chunks=(700, 1))
    labels = da.from_array(y, chunks=700)
    with dask.config.set(scheduler="sync"):
        few = mt.TopDownClassifier(max_size=1).fit(X, labels)
        many = mt.TopDownClassifier(max_size=1, max_thresholds=5000).fit(X, labels)
    assert len(few.literals_) == 255
    assert len(many.literals_) == 1999
    assert many.growth_.errors[1] == 0 < few.growth_.errors[1]


def test_few_rounds_and_nothing_that_grows_with_rows():
    rng = np.random.default_rng(1)
    for rows in (2000, 8000):
        X = rng.integers(0, 2, (rows, 12), dtype=np.uint8)
        y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3] & X[:, 4]) | (rng.random(rows) < 0.1)
        with dask.config.set(scheduler="sync"):
            far = mt.TopDownClassifier(max_size=20).fit(
                da.from_array(X, chunks=(500, 12)), da.from_array(y, chunks=500)
            )
        rounds = far.rounds_
        assert len(far.growth_.steps) == 20
        assert rounds.growth <= far.get_depth() + 1 <= 20
        # literals and totals, two classes, 8 bytes, at most as many leaves as splits
        assert max(rounds.sent) <= (12 + 1) * 2 * 8 * 20


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows(rows):
    X = da.from_array(np.zeros((rows, 2), np.uint8))
    y = da.from_array(np.zeros(rows, np.int64))
    with dask.config.set(scheduler="sync"):
        if rows:
            assert mt.TopDownClassifier().fit(X, y).tree_.size == 0
        else:
            with pytest.raises(ValueError, match="at least one row; it has 0"):
                mt.TopDownClassifier().fit(X, y)


def test_a_frame_of_parquet_files(tmp_path):
    """Dask would fuse partitions of y, which has one column, but not those of X."""
    rng = np.random.default_rng(0)
    for number in range(4):
        frame = pd.DataFrame(rng.integers(0, 2, (50, 9)), columns=list("abcdefghy"))
        frame.to_parquet(tmp_path / f"{number}.parquet")
    whole, far = pd.read_parquet(tmp_path), dd.read_parquet(tmp_path)
    local = mt.TopDownClassifier(max_size=6).fit(whole[list("abcdefgh")], whole["y"])
    with dask.config.set(scheduler="sync"):
        fitted = mt.TopDownClassifier(max_size=6).fit(far[list("abcdefgh")], far["y"])
    assert fitted.tree_ == local.tree_


def test_only_the_columns_in_use_are_read():
    rng = np.random.default_rng(0)
    whole = pd.DataFrame(rng.integers(0, 2, (90, 9)), columns=list("abcdefghy"))
    asked: list[list[str]] = []

    def read(start, columns=None):
        asked.append(list(columns))
        return whole[columns].iloc[start : start + 30]

    far = dd.from_map(read, [0, 30, 60], meta=whole.iloc[:0], enforce_metadata=False)
    with dask.config.set(scheduler="sync"):
        fitted = mt.TopDownClassifier(max_size=3).fit(far[["b", "c"]], far["y"])
    assert [sorted(each) for each in asked] == [["b", "c", "y"]] * 3
    assert fitted.tree_ == mt.TopDownClassifier(max_size=3).fit(whole[["b", "c"]], whole["y"]).tree_


@pytest.mark.parametrize("weighted", [False, True])
def test_a_score_reads_every_partition_once(weighted):
    rng = np.random.default_rng(0)
    whole = pd.DataFrame(rng.integers(0, 2, (90, 5)), columns=list("abcdy"))
    whole["y"] = np.where(whole["y"] == 1, "yes", "no")
    model = mt.TopDownClassifier(max_size=2).fit(whole[["a", "b"]], whole["y"])
    asked: list[tuple[int, list[str]]] = []

    def read(start, columns=None):
        asked.append((start, sorted(columns)))
        return whole[columns].iloc[start : start + 30]

    far = dd.from_map(read, [0, 30, 60], meta=whole.iloc[:0], enforce_metadata=False)
    weights = far["c"] if weighted else None
    with dask.config.set(scheduler="sync"):
        found = model.score(far[["a", "b"]], far["y"], weights)
    wanted = ["a", "b", "c", "y"] if weighted else ["a", "b", "y"]
    assert sorted(asked) == [(start, wanted) for start in (0, 30, 60)]
    local = model.score(whole[["a", "b"]], whole["y"], whole["c"] if weighted else None)
    assert found == pytest.approx(local, abs=1e-15)


def test_scores_of_collections_beside_local_labels():
    X, y = np.arange(12.0)[:, None], np.array([0, 1, 1] * 4)
    model = mt.TopDownClassifier(max_size=3).fit(X, y)
    far, labels = da.from_array(X, chunks=(5, 1)), da.from_array(y, chunks=4)
    for rows in ((far, y), (X, labels), (far, labels)):
        assert model.score(*rows) == model.score(X, y)
        assert model.score(*rows, np.arange(12)) == pytest.approx(model.score(X, y, np.arange(12)))


def test_scores_that_cannot_be():
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 1] * 2)
    model = mt.TopDownClassifier(max_size=3).fit(X, y)
    far, labels = da.from_array(X, chunks=(3, 1)), da.from_array(y, chunks=3)
    with pytest.raises(ValueError, match="sample_weight must be positive for some row"):
        model.score(far, labels, da.zeros(6, chunks=3))
    with pytest.raises(
        ValueError, match="sample_weight must be finite and not negative; one is -1"
    ):
        model.score(far, labels, -da.ones(6, chunks=3))
    with pytest.raises(ValueError, match="y must not contain missing values"):
        model.score(far, da.from_array(np.where(y, np.nan, 0.0), chunks=3))
    names = pd.DataFrame({"y": pd.Series(["no", None, "yes"] * 2)})
    frame = dd.from_pandas(pd.DataFrame({"a": X[:, 0]}), npartitions=2)
    named = mt.TopDownClassifier(max_size=3).fit(pd.DataFrame({"a": X[:, 0]}), y.astype(str))
    with pytest.raises(ValueError, match="y must not contain missing values"):
        named.score(frame, dd.from_pandas(names, npartitions=2)["y"])
    parts = da.concatenate([labels[:3], labels[3:5]])
    with pytest.raises(ValueError, match="partition 1 has 3 and 2"):
        model.score(dask_without_lengths(far), dask_without_lengths(parts))


def dask_without_lengths(values):
    """The same chunks, of lengths that Dask does not know."""
    chunks = ((np.nan,) * len(values.chunks[0]), *values.chunks[1:])
    return da.Array(values.dask, values.name, chunks, meta=values._meta)


def test_lengths_of_chunks_that_dask_knows():
    frame = pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10.0) % 3})
    model = mt.TopDownClassifier(max_size=2).fit(frame, np.arange(10) % 3)
    far = dd.from_pandas(frame.assign(c=1), npartitions=3)
    for each in (far[["a", "b"]], far[["a", "b"]].fillna(0)):
        shares = model.predict_proba(each)
        assert shares.chunks == ((4, 3, 3), (3,))
        np.testing.assert_array_equal(shares.compute(), model.predict_proba(frame))
        np.testing.assert_array_equal(shares[7:, 1].compute(), model.predict_proba(frame)[7:, 1])
    turned = far.partitions[[2, 0, 1]][["a", "b"]]  # Dask itself says (4, 3, 3)
    some = far[far["b"] > 0][["a", "b"]]
    for part, rows in ((turned, 10), (turned.optimize(), 10), (some, 6)):
        assert np.isnan(model.predict_proba(part).chunks[0]).all()
        assert len(model.predict_proba(part).compute()) == rows


def test_partitions_of_two_frames_are_read_apart(tmp_path):
    """Dask fuses partitions of narrow frames: the two must not be optimized together."""
    rng = np.random.default_rng(0)
    whole = pd.DataFrame(rng.integers(0, 2, (200, 9)), columns=list("abcdefghy"))
    for name, columns in (("X", list("abcdefgh")), ("y", ["y"])):
        (tmp_path / name).mkdir()
        for number in range(4):
            part = whole[columns].iloc[50 * number : 50 * number + 50]
            part.to_parquet(tmp_path / name / f"{number}.parquet")
    X, y = (dd.read_parquet(tmp_path / name) for name in "Xy")
    with dask.config.set(scheduler="sync"):
        fitted = mt.TopDownClassifier(max_size=6).fit(X[list("abcdefg")], y["y"])
    local = mt.TopDownClassifier(max_size=6).fit(whole[list("abcdefg")], whole["y"])
    assert fitted.tree_ == local.tree_


@pytest.mark.parametrize("verified", [True, False])
def test_probabilities_of_delayed_frames(verified):
    """Dask itself cannot convert delayed frames to arrays unless it verifies their columns."""
    X = pd.DataFrame({"age": [1.0, 2, 3, 4]})
    model = mt.TopDownClassifier(max_size=1).fit(X, [0, 0, 1, 1])
    parts = [dask.delayed(X.iloc[:2]), dask.delayed(X.iloc[2:])]
    frame = dd.from_delayed(parts, meta=X.iloc[:0], verify_meta=verified)
    assert model.predict(frame).compute().tolist() == [0, 0, 1, 1]
    if verified:
        assert model.predict_proba(frame).compute().tolist() == [[1, 0]] * 2 + [[0, 1]] * 2
    else:
        with pytest.raises(ValueError, match=r"Dask makes no array of a frame .*verify_meta=True"):
            model.predict_proba(frame)


def test_labels_that_fit_no_signed_integer():
    X, y = np.arange(6.0)[:, None], np.array([2**64 - 1, 0, 0, 2**63, 0, 0], dtype=np.uint64)
    model = mt.TopDownClassifier(max_size=5)
    model.fit(da.from_array(X, chunks=(3, 1)), da.from_array(y, chunks=3))
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("kind", ["u1", "i8", "f8"])
def test_masked_chunks(kind):
    cells = np.ma.array([[0], [1], [1], [0]] * 3, dtype=kind, mask=[[0], [0], [1], [1]] * 3)
    y = np.array([0, 1, 2, 2] * 3)
    X = da.from_array(cells, chunks=(6, 1), asarray=False)
    far = mt.TopDownClassifier(max_size=2).fit(X, da.from_array(y, chunks=6))
    near = mt.TopDownClassifier(max_size=2).fit(cells, y)
    assert far.to_text(merge=False) == near.to_text(merge=False)
    assert far.predict(cells).tolist() == far.predict(X).compute().tolist() == y.tolist()
    masked = (y == 1) & (np.arange(12) < 6)  # in one partition: any may be read first
    hidden = da.from_array(np.ma.array(y, mask=masked), chunks=6, asarray=False)
    with pytest.raises(ValueError, match="y must not contain masked values; row 1 is masked"):
        mt.TopDownClassifier(max_size=2).fit(X, hidden)
    with pytest.raises(ValueError, match="sample_weight must not contain masked values"):
        mt.TopDownClassifier(max_size=2).fit(X, da.from_array(y, chunks=6), hidden)
