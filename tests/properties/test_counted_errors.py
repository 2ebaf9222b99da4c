"""Certified errors from counts of pairs: those of a slow twin, around the truth, on Dask too."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.distributed import counted
from tests.reference.free_rows import least_cost, number_tests, word_tests

CELLS = {
    "n": st.integers(0, 9),
    "g": st.one_of(st.none(), st.integers(0, 7)),
    "b": st.integers(0, 1),
    "m": st.one_of(st.none(), st.integers(0, 1)),
    "w": st.sampled_from(["u", "v", "w", "x"]),
    "o": st.one_of(st.none(), st.sampled_from(["u", "v"])),
}


@st.composite
def cases(draw):
    """A frame, and whether its rows have weights."""
    count = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=3))
    table = {
        f"{kind}{place}": draw(st.lists(CELLS[kind], min_size=count, max_size=count))
        for place, kind in enumerate(kinds)
    }
    table["y"] = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    if draw(st.booleans()):
        table["weight"] = draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    return pl.DataFrame(table, schema_overrides=types(table))


def types(table):
    kinds = {"n": pl.Float64, "g": pl.Float64, "b": pl.Int8, "m": pl.Float64}
    return {name: kinds.get(name[0], pl.String) for name in table if name not in ("y", "weight")}


def write(frame, folder):
    for path in folder.glob("*.parquet"):
        path.unlink()
    half = len(frame) // 2
    for number, part in enumerate((frame[:half], frame[half:])):
        part.write_parquet(folder / f"{number}.parquet")


def twin(frame, problem, splits, depth, within):
    """The least error by trying everything, with the cuts that the problem offers."""
    tests = []
    for column in problem.literals.columns:
        cells = frame[column.name].to_list()
        if column.categories is not None:
            tests += word_tests(cells)
        elif column.count:
            cuts = [(low + high) / 2 for low, high in zip(column.below, column.above, strict=True)]
            tests += number_tests(cells, cuts, within and column.binned)
    weights = frame["weight"].to_list() if "weight" in frame.columns else [1] * len(frame)
    everything = frozenset(range(len(frame)))
    labels = frame["y"].to_list()
    cost = least_cost(
        everything, labels, weights, tests, splits, splits if depth is None else depth
    )
    return float(cost / sum(weights))


def unlabelled(frame, leaves):
    """The share of the weight of all classes but the heaviest, one for each leaf."""
    weights = frame["weight"].to_list() if "weight" in frame.columns else [1] * len(frame)
    masses = sorted(np.bincount(frame["y"].to_list(), weights), reverse=True)
    return sum(masses[leaves:]) / sum(weights)


@given(cases(), st.sampled_from([1, 2, 3, 31]), st.sampled_from([None, None, 0, 1, 2, 3]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_counts_tell_what_trying_everything_does(tmp_path, frame, most, depth):
    write(frame, tmp_path)
    weight = "weight" if "weight" in frame.columns else None
    settings = {"sample_weight": weight, "max_thresholds": most}
    errors = mt.counted_errors(tmp_path, "y", 4, max_depth=depth, **settings)
    problem = mt.SampleProblem.from_parquet(tmp_path, "y", **settings)
    known = range(5) if depth is not None and depth <= 2 else range(3)
    for size in known:
        splits = min(size, 3)
        least = max(twin(frame, problem, splits, depth, True), unlabelled(frame, size + 1))
        assert errors.lower[size] == pytest.approx(least)
        assert errors.upper[size] == pytest.approx(twin(frame, problem, splits, depth, False))
    assert errors.certificate[0] == "proof"
    names = [name for name in frame.columns if name not in ("y", "weight")]
    weights = None if weight is None else frame[weight].to_numpy()
    whole = mt.SampleProblem(frame.select(names), frame["y"].to_numpy(), weights)
    truth = mt.optimal_errors(whole, 4, max_depth=depth)
    assert truth.proved.all()
    assert np.all(errors.lower <= truth.upper + 1e-12)
    assert np.all(truth.upper <= errors.upper + 1e-12)
    assert set(errors.certificate[~errors.proved]) <= {"relaxation", "search"}


@given(cases(), st.sampled_from([1, 2, 31]), st.integers(1, 3))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_collection_has_the_same_errors(tmp_path, frame, most, parts):
    dd = pytest.importorskip("dask.dataframe")
    write(frame, tmp_path)
    weighted = "weight" in frame.columns
    expected = mt.counted_errors(
        tmp_path, "y", 3, sample_weight="weight" if weighted else None, max_thresholds=most
    )
    table = pd.DataFrame(frame.to_dict(as_series=False))
    for name in table.columns:
        if name[0] in "ngm":
            table[name] = table[name].astype(float)
    far = dd.from_pandas(table, npartitions=min(parts, len(table)))
    X = far.drop(columns=["y", *(["weight"] if weighted else [])])
    errors = mt.counted_errors(
        X, far["y"], 3, sample_weight=far["weight"] if weighted else None, max_thresholds=most
    )
    assert errors.lower.tolist() == expected.lower.tolist()
    assert errors.upper.tolist() == expected.upper.tolist()
    assert errors.certificate.tolist() == expected.certificate.tolist()


@pytest.fixture
def noisy(tmp_path):
    random = np.random.default_rng(0)
    X = random.random((3000, 4))
    y = ((X[:, 0] > 0.4) & (X[:, 1] > 0.3)) ^ (random.random(3000) < 0.1)
    frame = pl.DataFrame(X, schema=list("abcd")).with_columns(y=pl.Series(y.astype(int)))
    write(frame, tmp_path)
    return tmp_path


def test_more_thresholds_make_intervals_narrower(noisy):
    gaps = []
    for most in (3, 15, 63):
        errors = mt.counted_errors(noisy, "y", 3, max_thresholds=most)
        gaps.append(errors.upper[2] - errors.lower[2])
        assert errors.certificate.tolist() == ["proof", "relaxation", "relaxation", "search"]
        assert errors.history["size"].to_list() == [0, 1, 2, 3]
    assert gaps[0] > gaps[1] > gaps[2] > 0
    shallow = mt.counted_errors(noisy, "y", 5, max_depth=2, max_thresholds=15)
    assert shallow.certificate.tolist() == ["proof"] + ["relaxation"] * 5
    assert shallow.lower[3] == shallow.lower[5] > errors.lower[3]


def test_what_does_not_fit_is_refused_with_what_would(noisy, monkeypatch):
    needed = 3 * 8 * 2 * ((4 * 64) ** 2 - 4 * 64**2) // 2 + 3 * 8 * 2 * 4 * 64
    mt.counted_errors(noisy, "y", max_thresholds=63, memory_limit=needed)
    monkeypatch.setattr(counted, "count_batches", None)  # before rows are counted
    with pytest.raises(ValueError, match=r"they need [\d.e-]+ GiB: max_thresholds=62 would fit"):
        mt.counted_errors(noisy, "y", max_thresholds=63, memory_limit=needed - 1)
    with pytest.raises(ValueError, match="name fewer columns"):
        mt.counted_errors(noisy, "y", memory_limit=100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_size": -1}, "size must be an integer"),
        ({"max_thresholds": 0}, "max_thresholds"),
        ({"max_depth": -1}, "max_depth"),
        ({"memory_limit": math.nan}, "memory_limit"),
        ({"columns": ["y"]}, "columns must not hold the target"),
        ({"sample_weight": "nobody"}, "nobody"),
    ],
)
def test_bad_settings(noisy, settings, message):
    with pytest.raises(ValueError, match=message):
        mt.counted_errors(noisy, "y", **settings)


def test_weights_that_would_be_rounded(tmp_path):
    frame = pl.DataFrame({"a": [1, 2, 3], "y": [0, 1, 0], "weight": [1 / 3, 1e-15, 2 / 7]})
    write(frame, tmp_path)
    with pytest.raises(ValueError, match="weights must have few decimal places to be counted"):
        mt.counted_errors(tmp_path, "y", sample_weight="weight")


def test_one_class_and_constant_columns(tmp_path):
    write(pl.DataFrame({"a": [1.0, 1.0, 1.0], "b": ["u", "u", "u"], "y": [0, 0, 0]}), tmp_path)
    assert mt.counted_errors(tmp_path, "y").tolist() == [0, 0, 0]
    write(pl.DataFrame({"a": [1.0, 1.0, 1.0], "y": [0, 1, 0]}), tmp_path)
    errors = mt.counted_errors(tmp_path, "y")
    assert errors.tolist() == pytest.approx([1 / 3] * 3)
    assert errors.proved[0]
