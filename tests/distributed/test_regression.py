"""Numbers to predict: streamed files and Dask collections give the tree of the rows in memory."""

import json
import math
import os
import signal
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import dask
import dask.array as da
import numpy as np
import polars as pl
import pytest
from distributed import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import get_scorer
from typer.testing import CliRunner

import mictree as mt
from mictree._support.checks import as_fraction
from mictree.cli import app
from mictree.columns import parquet, streamed
from mictree.estimators.leaves import leaf_results
from mictree.problems import sample
from mictree.problems.sample import label_scale
from tests.distributed.tables import Table, tables
from tests.distributed.test_broken_clusters import after_round, cut, rows
from tests.distributed.test_parquet import assert_same, draw_frame, write
from tests.reference import held_out

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


SETTINGS = ("leaves", "literals", "thresholds", "gains", "rows", "masses", "labels", "costs")


def assert_same_tree(table: Table, learner) -> None:
    """Bit by bit, and predictions and R^2."""
    local = learner.fit(table.X, table.y, table.weights)
    X, y, weights = table.cut()
    far = type(learner)(**learner.get_params()).fit(X, y, weights)
    assert far.tree_ == local.tree_
    for name in SETTINGS:
        one, other = (getattr(each._splitting, name) for each in (far, local))
        np.testing.assert_array_equal(one, other, err_msg=name)
    np.testing.assert_array_equal(far.growth_.errors, local.growth_.errors)
    np.testing.assert_array_equal(np.asarray(far.predict(X).compute()), local.predict(table.X))
    expected = r2_by_fractions(local.predict(table.X), table.y, table.weights)
    assert far.score(X, y, weights) == pytest.approx(expected, abs=1e-12)


def r2_by_fractions(guesses, numbers, weights) -> float:
    masses = [1] * len(numbers) if weights is None else weights.tolist()
    rows = [
        (Fraction(weight), Fraction(number), Fraction(guess))
        for weight, number, guess in zip(masses, numbers.tolist(), guesses.tolist(), strict=True)
    ]
    mean = sum(w * y for w, y, _ in rows) / sum(w for w, *_ in rows)
    spread = sum(w * (y - mean) ** 2 for w, y, _ in rows)
    wrong = sum(w * (y - guess) ** 2 for w, y, guess in rows)
    return float(1 - wrong / spread) if spread else float(not wrong)


@st.composite
def number_tables(draw) -> Table:
    """Tables of the other tests, with numbers to predict."""
    table = draw(tables())
    rng = np.random.default_rng(len(table.y))
    rows, values = len(table.y), draw(st.sampled_from([*NUMBERS, None]))
    if values is None:
        scale = draw(st.sampled_from([1.0, 1e-7, 1e9]))
        numbers = scale * rng.normal(draw(st.sampled_from([0, 1000])), 3, rows)
    else:
        numbers = np.array(values, dtype=float)[rng.integers(0, len(values), rows)]
    return replace(table, y=numbers.round(draw(st.sampled_from([1, 2, 17]))))


@st.composite
def regressors(draw):
    kind = draw(st.sampled_from([mt.TopDownRegressor, mt.BestFirstRegressor]))
    return kind(
        max_size=draw(st.sampled_from([0, 1, 5, 20, None])),
        ties=draw(st.sampled_from(["last", "first", "random", "heaviest", "lightest"])),
        min_samples_split=draw(st.sampled_from([2, 6])),
        min_samples_leaf=draw(st.sampled_from([1, 3])),
        max_depth=draw(st.sampled_from([None, 3])),
        min_weight_fraction_leaf=draw(st.sampled_from([0.0, 0.1])),
        min_gain=draw(st.sampled_from([0.0, 0.01])),
        max_thresholds=draw(st.sampled_from([1, 2, 5, 255])),
        random_state=draw(st.integers(0, 5)),
    )


@settings(max_examples=40)
@given(number_tables(), regressors())
def test_by_dasks_own_scheduler(table, learner):
    with dask.config.set(scheduler="sync"):
        assert_same_tree(table, learner)


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=number_tables(), learner=regressors())
def test_on_two_processes(client, table, learner):
    assert_same_tree(table, learner)


@pytest.mark.parametrize("digits", [1, 17])
@pytest.mark.parametrize("weights", [None, (1 / 3, 1 / 7, 5.0), (0.5, 3.0)])
def test_partitions_play_no_part(digits, weights):
    """Large trees on numbers with missing values; the rows in any order and number of parts."""
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(400, 3)), 1)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.normal(1e5, 1, 400).round(digits)
    given_weights = None if weights is None else rng.choice(weights, 400)
    with dask.config.set(scheduler="sync"):
        for ends in ((400,), (1, 399, 400), (*range(0, 400, 7), 400)):
            order = rng.permutation(400)
            mass = None if given_weights is None else given_weights[order]
            table = Table(X[order], y[order], mass, ends)
            assert_same_tree(table, mt.TopDownRegressor(60, max_thresholds=255))


def test_a_worker_that_dies_changes_nothing(own_cluster, monkeypatch):
    X, bits = rows()
    y = bits + np.random.default_rng(0).normal(size=len(bits))
    with Client(own_cluster) as client:
        workers = client.run(os.getpid)

        def kill() -> None:
            os.kill(next(iter(workers.values())), signal.SIGKILL)

        begun = after_round(monkeypatch, 6, kill)
        far = mt.TopDownRegressor(max_size=20).fit(*cut(X, y))
        client.wait_for_workers(2, timeout=60)
        assert set(client.run(os.getpid).values()) != set(workers.values())
    assert len(begun) > 8  # it was killed in the middle
    assert far.tree_ == mt.TopDownRegressor(max_size=20).fit(X, y).tree_


@pytest.mark.parametrize("criterion", ["entropy", "gini", "root"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("named", [False, True])
def test_cost_matrices_on_collections(criterion, class_weight, named):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (300, 3)).astype(float), rng.choice(["a", "b", "c"], 300)
    matrix: object = [[0.5, 1, 5], [2, 0, 3], [1, 4, 0]]
    if named:  # an action that is no class, and two classes that share their cheapest one
        rows_of = {"a": [0, 1, 0.5], "b": [0, 3, 0.5], "c": [3, 2, 0.25]}
        matrix = {label: dict(zip("abw", row, strict=True)) for label, row in rows_of.items()}
    options = {"cost_matrix": matrix, "criterion": criterion, "class_weight": class_weight}
    near = mt.TopDownClassifier(8, max_thresholds=255, **options).fit(X, y)
    table = Table(X, y, None, (100, 100, 300))
    with dask.config.set(scheduler="sync"):
        far = mt.TopDownClassifier(8, **options).fit(*table.cut()[:2])
        assert far.score(*table.cut()[:2]) == near.score(X, y)
    assert far.tree_ == near.tree_
    np.testing.assert_allclose(far.growth_.errors, near.growth_.errors, rtol=1e-14)
    assert far.actions_.tolist() == near.actions_.tolist()


def test_what_collections_refuse():
    X, y = da.ones((4, 1)), da.from_array(np.array([0, 1, 0, 1]))
    options = {"cost_matrix": [[0, 1], [1, 0]], "criterion": "minority"}
    with dask.config.set(scheduler="sync"):
        with pytest.raises(
            TypeError, match='criterion "minority" with a cost_matrix must be grown'
        ):
            mt.TopDownClassifier(1, **options).fit(X, y)
        for wrong, said in (
            (np.nan, "y must be finite; it has nan"),
            (1e300, "y must have squares that a 64-bit float can hold"),
        ):
            with pytest.raises(ValueError, match=said):
                mt.TopDownRegressor(1).fit(X, da.from_array(np.array([0, 1, wrong, 1])))
        with pytest.raises(ValueError, match="y must hold numbers; it holds 'a'"):
            mt.TopDownRegressor(1).fit(X, da.from_array(np.array(list("abab"))))
        with pytest.raises(ValueError, match="max_size must be a number on a Dask collection"):
            mt.TopDownRegressor("auto").fit(X, y)


@pytest.fixture
def rents(tmp_path):
    """A folder of files with a target of numbers, and their rows."""
    random = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "size": random.integers(20, 90, 500),
            "town": random.choice(["A", "B", "C"], 500),
            "w": random.choice([0.0, 0.5, 2.25], 500),
        }
    )
    rent = 8.0 * frame["size"] + 90.0 * (frame["town"] == "A").cast(pl.Float64)
    rent += pl.Series(random.normal(size=500))
    frame = frame.with_columns(rent=rent.round(2))
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", frame, [150, 150, 400])
    return tmp_path / "data", frame


def squared_error(model, part, size, weights) -> tuple[float, float]:
    """Of the rows of a frame, and its standard error, by Fractions."""
    guesses = model.predict(part.drop("rent", "w"), size).tolist()
    masses = [Fraction(each) for each in (part["w"].to_list() if weights else [1] * part.height)]
    errors = [(Fraction(y) - Fraction(g)) ** 2 for y, g in zip(part["rent"], guesses, strict=True)]
    total = sum(masses)
    mean = sum(w * e for w, e in zip(masses, errors, strict=True)) / total
    spread = sum(w**2 * (e - mean) ** 2 for w, e in zip(masses, errors, strict=True))
    return float(mean), math.sqrt(spread / total**2)


@pytest.mark.parametrize("weights", [None, "w"])
def test_scores_of_files_by_size(rents, monkeypatch, weights):
    folder, frame = rents
    features, mass = frame.drop("rent", "w"), None if weights is None else frame["w"].to_numpy()
    for model in (mt.TopDownRegressor(9), mt.BestFirstRegressor(9)):
        model.fit(features, frame["rent"].to_numpy())
        expected = model.staged_score(features, frame["rent"].to_numpy(), mass)
        for size in (7, 2**17):  # of a batch
            monkeypatch.setattr(parquet, "MOST_ROWS", size)
            monkeypatch.setattr(parquet, "FEWEST_ROWS", 1)
            found = model.staged_score_parquet(folder, "rent", sample_weight=weights)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_scores_of_labels_that_are_all_one(tmp_path):
    frame = pl.DataFrame({"flag": [0, 1, 1, 0], "label": [0.1, 0.7, 0.7, 0.1]})
    model = mt.TopDownRegressor(1).fit(frame.select("flag"), frame["label"].to_numpy())
    for flags, expected in (([1, 1], [0.0, 1.0]), ([0, 1], [0.0, 0.0])):
        pl.DataFrame({"flag": flags, "label": [0.7, 0.7]}).write_parquet(tmp_path / "0.parquet")
        assert model.staged_score_parquet(tmp_path, "label").tolist() == expected


def test_predictions_of_files(rents):
    folder, frame = rents
    model = mt.TopDownRegressor(5).fit(frame.drop("rent", "w"), frame["rent"].to_numpy())
    out = folder.parent / "out.parquet"
    model.predict_parquet(folder, out, keep=["rent"])
    found = pl.read_parquet(out)
    assert found["prediction"].to_list() == model.predict(frame.drop("rent", "w")).tolist()
    assert found["rent"].to_list() == frame["rent"].to_list()
    with pytest.raises(ValueError, match="proba must be False for TopDownRegressor"):
        model.predict_parquet(folder, out, proba=True)


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("choose", ["least", "one-standard-error"])
def test_the_command_grows_chooses_and_tests(rents, weights, choose):
    folder, frame = rents
    column = ["--weights", "w"] if weights else ["--drop", "w"]
    model_file = folder.parent / "model.json"
    words = ("fit", folder, "--target", "rent", "--max-size", 6, "--held-out", 0.4, *column)
    done = run(*words, "--choose", choose, "--json", "--save", model_file)
    assert done.exit_code == 0, done.output
    assert "so this is a regression; --task classification makes each number" in done.stderr
    told = json.loads(done.stdout)
    grown, chosen, tested = (
        frame[held_out.rows_between(500, *bounds, 0)] for bounds in ((0, 0.6), (0.6, 0.8), (0.8, 1))
    )
    near = mt.TopDownRegressor(6, max_thresholds=255)
    mass = grown["w"].to_numpy() if weights else None
    near.fit(grown.drop("rent", "w"), grown["rent"].to_numpy(), mass)
    np.testing.assert_array_equal(told["train_errors"], near.growth_.errors)
    errors = [squared_error(near, chosen, size, weights) for size in range(7)]
    np.testing.assert_allclose(told["choosing_errors"], [error for error, _ in errors])
    np.testing.assert_allclose(told["standard_errors"], [error for _, error in errors])
    least = min(errors)
    slack = least[1] if choose == "one-standard-error" else 0
    assert told["size"] == [error <= least[0] + slack for error, _ in errors].index(True)
    expected, _ = squared_error(near, tested, told["size"], weights)
    assert told["held_out_error"] == pytest.approx(expected)
    mass = tested["w"].to_numpy() if weights else None
    features, truth = tested.drop("rent", "w"), tested["rent"].to_numpy()
    small = near.at_size(told["size"])
    assert told["held_out_r2"] == pytest.approx(small.score(features, truth, mass))
    for line, near_line in zip(
        told["leaf_results"], leaf_results(small, features, truth, mass).frame.to_dicts(),
        strict=True,
    ):  # fmt: skip
        assert line == {name: pytest.approx(each) for name, each in near_line.items()}
    loaded = mt.load(model_file)
    assert loaded.predict(features).tolist() == small.predict(features).tolist()


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error"])
def test_scorings_of_numbers(rents, scoring):
    folder, frame = rents
    words = ("fit", folder, "--target", "rent", "--drop", "w", "--max-size", 5, "--choose", "least")
    told = json.loads(run(*words, "--scoring", scoring, "--json").stdout)
    places = ((0, 0.75), (0.75, 0.875), (0.875, 1))
    grown, chosen, tested = (frame[held_out.rows_between(500, *each, 0)] for each in places)
    near = mt.TopDownRegressor(5, max_thresholds=255)
    near.fit(grown.drop("rent", "w"), grown["rent"].to_numpy())
    scorer = get_scorer(scoring)
    rows_of = {"choosing": chosen, "tested": tested}
    scores = {
        name: [
            scorer(near.at_size(size), part.drop("rent", "w"), part["rent"].to_numpy())
            for size in range(6)
        ]
        for name, part in rows_of.items()
    }
    np.testing.assert_allclose(told["choosing_scores"], scores["choosing"])
    assert told["size"] == int(np.argmax(scores["choosing"]))
    assert told["held_out_score"] == pytest.approx(scores["tested"][told["size"]])
    parts = [frame[held_out.rows_between(500, 0.75 + part / 80, 0.75 + (part + 1) / 80, 0)]
             for part in range(10)]  # fmt: skip
    for size, expected in enumerate(told["standard_errors"]):
        left_out = []
        for part in range(10):
            rest = pl.concat([*parts[:part], *parts[part + 1 :]])
            model, truth = near.at_size(size), rest["rent"].to_numpy()
            left_out.append(scorer(model, rest.drop("rent", "w"), truth))
        assert expected == pytest.approx(3 * np.std(left_out))
    refused = run(*words, "--scoring", "neg_max_error")
    assert "must be one of r2, neg_mean_squared_error" in str(refused.exception)


def test_costs_on_the_command_line(tmp_path):
    random = np.random.default_rng(1)
    size = random.normal(size=600).round(2)
    label = np.where(size + random.normal(size=600) > 0.8, "ill", "well")
    frame = pl.DataFrame({"size": size, "age": random.integers(0, 9, 600), "label": label})
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", frame, [200])
    (tmp_path / "costs.csv").write_text("class,keep,well,ill\nwell,0.5,0,2\nill,1,9,0\n")
    words = ("fit", tmp_path / "data", "--target", "label", "--max-size", 5, "--choose", "least")
    told = json.loads(run(*words, "--costs", tmp_path / "costs.csv", "--json").stdout)
    assert (told["measure"], told["actions"]) == ("mean cost", ["ill", "well", "keep"])
    costs = {"well": {"keep": 0.5, "well": 0, "ill": 2}, "ill": {"keep": 1, "well": 9, "ill": 0}}
    places = ((0, 0.75), (0.75, 0.875), (0.875, 1))
    grown, chosen, tested = (frame[held_out.rows_between(600, *each, 0)] for each in places)
    near = mt.TopDownClassifier(5, cost_matrix=costs, max_thresholds=255)
    near.fit(grown.drop("label"), grown["label"].to_numpy())

    def costs_of(part, splits):
        guesses = near.predict(part.drop("label"), splits).tolist()
        return [costs[y][guess] for y, guess in zip(part["label"], guesses, strict=True)]

    np.testing.assert_allclose(told["train_errors"], near.growth_.errors)
    means = [np.mean(costs_of(chosen, splits)) for splits in range(6)]
    np.testing.assert_allclose(told["choosing_errors"], means)
    spreads = [np.std(costs_of(chosen, splits)) / chosen.height**0.5 for splits in range(6)]
    np.testing.assert_allclose(told["standard_errors"], spreads)
    assert told["size"] == int(np.argmin(means))
    held = costs_of(tested, told["size"])
    assert told["held_out_error"] == pytest.approx(np.mean(held))
    assert sum(map(sum, told["actions_taken"])) == tested.height
    scored = near.staged_score_parquet(tmp_path / "data", "label")
    truth = frame["label"].to_numpy()
    np.testing.assert_allclose(scored, near.staged_score(frame.drop("label"), truth))


@pytest.mark.parametrize(
    ("labels", "given_words", "task", "said"),
    [
        (np.arange(40) % 20, (), "classification", ""),
        (np.arange(40) % 21, (), "regression", "label holds more than 20 different numbers"),
        (np.arange(40) * 1000 % 7000, (), "classification", ""),
        (np.arange(40) % 2, ("--task", "regression"), "regression", ""),
        (np.arange(40) % 25, ("--task", "classification"), "classification", ""),
        (np.arange(40) % 3 / 2, (), "regression", "label holds numbers with a fraction, such as"),
        ((np.arange(40) % 2).astype(bool), (), "classification", ""),
    ],
)
def test_the_task_is_decided_by_the_target(tmp_path, labels, given_words, task, said):
    frame = pl.DataFrame({"number": np.arange(40) % 11, "label": labels})
    write(tmp_path, frame, [30])
    done = run("fit", tmp_path, "--target", "label", "--size", 1, "--held-out", 0, "--json",
               *given_words)  # fmt: skip
    assert json.loads(done.stdout)["task"] == task
    line = f"mictree: {said}"
    assert done.stderr.startswith(line) if said else "so this is a regression" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "town", "--task", "regression"), "with --task regression; town has String"),
        (("--target", "rent", "--criterion", "gini"), "--criterion must not be given with a regr"),
        (("--target", "rent", "--rule", "id3"), "--rule id3 must not be given with a regression"),
        (("--target", "rent", "--class-weight", "balanced"), "it predicts numbers and has no cla"),
    ],
)
def test_what_the_command_refuses(rents, words, said):
    assert said in str(run("fit", rents[0], *words).exception)


@settings(max_examples=60)
@given(st.data())
def test_whole_labels_add_up_to_the_labels(data):
    """Exactly if they are decimals, else to the last digits; never beyond 62 bits."""
    count = data.draw(st.integers(1, 40))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    decimals = data.draw(st.booleans())
    scale = data.draw(st.sampled_from([1.0, 1e6, 1e-6]))
    labels = scale * random.normal(size=count)
    if decimals:
        labels = random.normal(data.draw(st.sampled_from([0, 50])), 1, count).round(2)
    weights = data.draw(st.sampled_from([None, 9, 2**40]))
    heavy = None if weights is None else random.integers(1, weights, count)
    found = label_scale(labels, heavy)
    with mock.patch.object(sample, "PART", data.draw(st.integers(1, 9))):
        assert label_scale(labels, heavy) == found
        order = random.permutation(count)
        assert label_scale(labels[order], None if heavy is None else heavy[order]) == found
        products = found.products(labels, heavy)
    np.testing.assert_array_equal(products, found.products(labels, heavy))
    assert sum(map(abs, products.tolist())) < 2**62
    masses = [1] * count if heavy is None else heavy.tolist()
    read = Fraction if found.digits is None else as_fraction
    unit = Fraction(10) ** -found.digits if found.digits is not None else Fraction(1)
    total = sum(w * read(y) for w, y in zip(masses, labels.tolist(), strict=True))
    centre = Fraction(found.centre) * unit
    summed = Fraction(sum(products.tolist())) * unit / Fraction(2) ** found.places
    summed += centre * sum(masses)
    if found.digits is not None:
        assert summed == total
    else:
        spread = sum(w * abs(Fraction(y) - centre) for w, y in zip(masses, labels, strict=True))
        assert abs(summed - total) <= spread * Fraction(count + 2, 2**52)
