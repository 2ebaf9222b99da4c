"""Streamed fits on a part of the rows: the same as the same rows in memory, chosen one by one."""

import json
from fractions import Fraction
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import get_scorer
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app
from mictree.columns import parquet
from tests.distributed.test_parquet import assert_same, draw_frame, write
from tests.reference import held_out


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


def make_frame(rows: int, seed: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": random.integers(20, 60, rows),
            "size": random.normal(size=rows).round(2),
            "color": random.choice(["red", "green", "blue"], rows),
            "flag": random.integers(0, 2, rows).astype(np.int8),
            "w": random.choice([0.0, 0.5, 1.0, 2.25], rows),
        }
    )
    sure = ((frame["age"] > 40) ^ (frame["color"] == "red")) & (frame["size"] > -0.5)
    label = sure ^ pl.Series(random.random(rows) < 0.15)
    return frame.with_columns(pl.Series("label", np.where(label, "yes", "no")))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**64 - 1), st.integers(0, 10**15), st.data())
def test_places_are_those_of_the_reference(seed, start, data):
    low = data.draw(st.floats(0, 0.99))
    high = data.draw(st.floats(low, 1, exclude_min=True))
    share = parquet.Share.of((low, high), seed)
    rows = data.draw(st.integers(0, 60))
    expected = [held_out.place(row, seed) for row in range(rows)]
    assert [Fraction(each) for each in share.places(0, rows)] == expected
    chosen = held_out.rows_between(rows, low, high, seed)
    with mock.patch.object(parquet, "COUNTED_ROWS", data.draw(st.sampled_from([1, 7, 2**20]))):
        assert share.count(rows) == len(chosen)
    assert np.flatnonzero(share.holds(share.places(0, rows))).tolist() == chosen
    one, other = share.places(start, start + 9), share.places(start + 4, start + 9)
    np.testing.assert_array_equal(one[4:], other)


def test_places_are_spread_evenly_and_differ_by_seed():
    rows = 200_000
    places = [parquet.Share(0, 1, seed).places(0, rows) for seed in (0, 1, 2)]
    for each in places:
        counts = np.bincount((each * 20).astype(int), minlength=20)
        assert np.abs(counts - rows / 20).max() < 6 * np.sqrt(rows / 20)
        # neighbours tell nothing about one another
        assert abs(np.corrcoef(each[:-1], each[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(places[0], places[1])[0, 1]) < 0.01


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_a_part_is_learned_from_as_if_there_were_no_other_rows(folder, data):
    rows = data.draw(st.integers(1, 120))
    frame = draw_frame(data, rows)
    random = np.random.default_rng(rows)
    labels = data.draw(st.sampled_from([[0, 1], ["no", "yes", "maybe"], [True, False], [3, 1, 2]]))
    weights = np.where(random.random(rows) < 0.2, 0, random.choice([1, 0.5, 2], rows))
    frame = frame.with_columns(
        pl.Series("label", random.choice(labels, rows)), pl.Series("weight", weights)
    )
    seed = data.draw(st.integers(0, 99))
    low = data.draw(st.sampled_from([0.0, 0.3]))
    high = data.draw(st.sampled_from([0.6, 0.75, 1.0]))
    chosen = held_out.rows_between(rows, low, high, seed)
    pattern = write(folder, frame, data.draw(st.lists(st.integers(0, rows), max_size=4)))
    weighted = data.draw(st.booleans())
    options = {"rows": (low, high), "seed": seed}
    options |= {"sample_weight": "weight"} if weighted else {"drop": ["weight"]}
    if not chosen or (weighted and not weights[chosen].any()):
        with pytest.raises(ValueError, match=r"at least one row|positive for some row"):
            mt.SampleProblem.from_parquet(pattern, "label", **options)
        return
    with (
        mock.patch.object(parquet, "MOST_ROWS", data.draw(st.sampled_from([5, 40, 2**17]))),
        mock.patch.object(parquet, "FEWEST_ROWS", 1),
    ):
        problem = mt.SampleProblem.from_parquet(pattern, "label", **options)
    part = frame[chosen]
    at_once = mt.SampleProblem(
        part.drop("label", "weight"), part["label"].to_numpy(),
        part["weight"].to_numpy() if weighted else None, max_thresholds=255,
    )  # fmt: skip
    assert_same(problem, at_once)


def test_nothing_is_learned_from_other_rows(tmp_path):
    """They alone have the value 1 of a column, a category, a class, and the largest number."""
    inside = np.isin(np.arange(200), held_out.rows_between(200, 0, 0.6, 3))
    frame = pl.DataFrame(
        {
            "rare": np.where(inside, 0, 1).astype(np.int8),
            "flag": (np.arange(200) % 3 == 0).astype(np.int8),
            "text": np.where(inside, np.where(np.arange(200) % 5, "a", "b"), "c"),
            "number": np.where(inside, np.arange(200) % 7, 99.5),
            "label": np.where(inside, np.where(np.arange(200) % 2, "x", "y"), "z"),
        }
    )
    pattern = write(tmp_path, frame, [90])
    problem = mt.SampleProblem.from_parquet(pattern, "label", rows=(0, 0.6), seed=3)
    part = frame.filter(pl.Series(inside))
    assert problem.classes == ("x", "y")
    assert_same(problem, mt.SampleProblem(part.drop("label"), part["label"].to_numpy()))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 7}])
def test_class_weights_and_weights_of_rows(tmp_path, weight, class_weight):
    """Classes are balanced by all rows, also those of weight 0, as in memory and on Dask."""
    frame = make_frame(300)
    frame = frame.with_columns(
        pl.when(pl.col("label") == "yes").then("w").otherwise(1.0).alias("w")
    )
    pattern = write(tmp_path, frame, [100])
    options = {"drop": ["w"]} if weight is None else {"sample_weight": "w"}
    problem = mt.SampleProblem.from_parquet(pattern, "label", **options)
    model = mt.TopDownClassifier(8, class_weight=class_weight)
    streamed = mt.TopDownClassifier(8, class_weight=class_weight).fit(problem)
    weights = None if weight is None else frame["w"].to_numpy()
    model.fit(frame.drop("label", "w"), frame["label"].to_numpy(), weights)
    assert streamed.tree_ == model.tree_
    np.testing.assert_array_equal(streamed.growth_.errors, model.growth_.errors)
    np.testing.assert_array_equal(streamed._splitting.masses, model._splitting.masses)
    at_once = mt.SampleProblem(frame.drop("label", "w"), frame["label"].to_numpy(), weights)
    again = mt.TopDownClassifier(8, class_weight=class_weight).fit(at_once)
    np.testing.assert_array_equal(again.growth_.errors, model.growth_.errors)


@pytest.mark.parametrize("class_weight", ["balanced", {"yes": 7}])
def test_class_weights_and_weights_of_rows_on_dask(class_weight):
    import dask
    import dask.dataframe as dd

    frame = make_frame(300).drop("color").to_pandas()
    far = dd.from_pandas(frame, npartitions=3)
    names = ["age", "size", "flag"]
    near = mt.TopDownClassifier(8, class_weight=class_weight)
    near.fit(frame[names], frame["label"], frame["w"])
    with dask.config.set(scheduler="sync"):
        model = mt.TopDownClassifier(8, class_weight=class_weight)
        model.fit(far[names], far["label"], far["w"])
    assert model.tree_ == near.tree_
    np.testing.assert_array_equal(model.growth_.errors, near.growth_.errors)


@pytest.mark.parametrize("weight", [None, "w"])
def test_scores_by_size(tmp_path, monkeypatch, weight):
    frame = make_frame(400)
    pattern = write(tmp_path, frame, [150, 150])
    features = frame.drop("label", "w")
    weights = None if weight is None else frame["w"].to_numpy()
    models = [mt.TopDownClassifier(9), mt.ID3Classifier(9), mt.OptimalTreeClassifier(2)]
    for model in models:
        model.fit(features, frame["label"].to_numpy())
        expected = model.staged_score(features, frame["label"].to_numpy(), weights)
        for rows in (7, 2**17):  # of a batch
            monkeypatch.setattr(parquet, "MOST_ROWS", rows)
            monkeypatch.setattr(parquet, "FEWEST_ROWS", 1)
            found = model.staged_score_parquet(pattern, "label", sample_weight=weight)
            np.testing.assert_allclose(found, expected, rtol=1e-14)
    chosen = held_out.rows_between(400, 0.4, 1, 5)
    part = frame[chosen]
    found = models[0].staged_score_parquet(pattern, "label", rows=(0.4, 1), seed=5)
    expected = models[0].staged_score(part.drop("label", "w"), part["label"].to_numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_labels_that_no_training_row_had_are_mistakes(tmp_path):
    table = pl.DataFrame({"flag": [0, 1, 0, 1], "label": ["a", "b", "c", "b"]})
    table.write_parquet(tmp_path / "0.parquet")
    model = mt.TopDownClassifier(1).fit(table[:2].select("flag"), table[:2]["label"].to_numpy())
    assert model.staged_score_parquet(tmp_path, "label").tolist() == [0.25, 0.75]


def test_columns_named_as_unnamed_ones_are(tmp_path):
    """The target stands before them: by position, the tree would test another column."""
    x = np.arange(40) % 2
    pl.DataFrame({"y": x, "x0": x[::-1] * 0, "x1": x}).write_parquet(tmp_path / "0.parquet")
    model = mt.TopDownClassifier(1).fit(mt.SampleProblem.from_parquet(tmp_path, "y"))
    assert model.staged_score_parquet(tmp_path, "y").tolist() == [0.5, 1]
    model.save(tmp_path / "model.json")
    assert mt.load(tmp_path / "model.json").staged_score_parquet(tmp_path, "y")[-1] == 1


def test_columns_to_drop(tmp_path):
    frame = make_frame(50)
    pattern = write(tmp_path, frame, [])
    problem = mt.SampleProblem.from_parquet(pattern, "label", drop=["w", "color"])
    rest = frame.drop("label", "w", "color")
    assert_same(problem, mt.SampleProblem(rest, frame["label"].to_numpy()))
    for options, said in (
        ({"drop": ["colour"]}, "a column 'colour' (did you mean 'color'?)"),
        ({"drop": ["w"], "columns": ["age"]}, "columns and drop must not both be given"),
        ({"drop": ["label"]}, "drop must not hold the target or the weights; got 'label'"),
        ({"drop": ["w"], "sample_weight": "w"}, "drop must not hold the target or the weights"),
        ({"rows": (0.5, 0.5)}, "0 <= low < high <= 1, or None for all; got (0.5, 0.5)"),
        ({"rows": 0.5}, "rows must be two numbers"),
        ({"rows": ("a", "b")}, "rows must be two numbers"),
        ({"rows": (0, 1), "seed": -1}, "seed must be an integer of at least 0; got -1"),
        ({"rows": (0, 1e-9)}, "a data set must have at least one row; rows=(0, 1e-09) has none of"),
    ):
        with pytest.raises(ValueError, match=r".") as error:
            mt.SampleProblem.from_parquet(pattern, "label", **options)
        assert said in str(error.value)


@settings(deadline=None, max_examples=12)
@given(st.data())
def test_the_command_splits_as_the_reference_does(folder, data):
    rows = data.draw(st.sampled_from([60, 200]))
    seed = data.draw(st.integers(0, 50))
    share = data.draw(st.sampled_from([0.25, 0.5]))
    rule = data.draw(st.sampled_from(["one-standard-error", "least"]))
    frame = make_frame(rows, seed).drop("w")
    write(folder, frame, data.draw(st.lists(st.integers(0, rows), max_size=3)))
    with (
        mock.patch.object(parquet, "MOST_ROWS", data.draw(st.sampled_from([11, 2**17]))),
        mock.patch.object(parquet, "FEWEST_ROWS", 1),
    ):
        done = run("fit", folder, "--target", "label", "--held-out", share, "--seed", seed,
                   "--choose", rule, "--max-size", 6, "--json")  # fmt: skip
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    grown, chosen, tested = (
        frame[held_out.rows_between(rows, low, high, seed)]
        for low, high in ((0, 1 - share), (1 - share, 1 - share / 2), (1 - share / 2, 1))
    )
    model = mt.TopDownClassifier(6, max_thresholds=255)
    model.fit(grown.drop("label"), grown["label"].to_numpy())
    errors = [errors_of(model, chosen, size) for size in range(7)]
    size = min(held_out.choose(errors, rule), model.tree_.size)
    assert (found["train_rows"], found["choosing_rows"], found["held_out_rows"]) == (
        grown.height, chosen.height, tested.height,
    )  # fmt: skip
    made = len(found["choosing_errors"])
    np.testing.assert_allclose(found["choosing_errors"], [float(e) for e, _ in errors][:made])
    np.testing.assert_allclose(found["standard_errors"], [d for _, d in errors][:made], atol=1e-15)
    assert found["size"] == size
    assert found["held_out_error"] == pytest.approx(float(errors_of(model, tested, size)[0]))
    assert found["tree"] == json.loads(model.growth_.tree(size).to_json())
    np.testing.assert_array_equal(found["train_errors"], model.growth_.errors)


def errors_of(model, frame, size):
    guesses = model.predict(frame.drop("label"), size).tolist()
    return held_out.error_and_deviation(guesses, frame["label"].to_list(), [1] * frame.height)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3}])
@pytest.mark.parametrize("weights", [None, "w"])
def test_held_out_errors_are_weighted_as_training_errors_are(tmp_path, class_weight, weights):
    frame = make_frame(300, 4)
    write(tmp_path, frame, [100])
    words = ["fit", tmp_path, "--target", "label", "--max-size", 5, "--held-out", 0.4, "--seed", 1]
    words += ["--choose", "least", "--json", *(["--weights", "w"] if weights else ["--drop", "w"])]
    if class_weight is not None:
        words += ["--class-weight", "yes=3" if isinstance(class_weight, dict) else class_weight]
    done = run(*words, "--save", tmp_path / "model.json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    size = found["size"]
    grown, chosen, tested = (
        frame[held_out.rows_between(300, *bounds, 1)] for bounds in ((0, 0.6), (0.6, 0.8), (0.8, 1))
    )
    near = mt.TopDownClassifier(5, class_weight=class_weight, max_thresholds=255)
    given = grown["w"].to_numpy() if weights else None
    near.fit(grown.drop("label", "w"), grown["label"].to_numpy(), given)
    np.testing.assert_array_equal(found["train_errors"], near.growth_.errors)
    counts = {label: (grown["label"] == label).sum() for label in ("no", "yes")}
    factors = {"no": 1.0, "yes": 3.0 if isinstance(class_weight, dict) else 1.0}
    if class_weight == "balanced":
        factors = {label: grown.height / (2 * count) for label, count in counts.items()}

    def error_of(part, splits):
        masses = [
            Fraction(factors[label]) * Fraction(weight if weights else 1)
            for label, weight in part.select("label", "w").iter_rows()
        ]
        guesses = near.predict(part.drop("label", "w"), splits).tolist()
        return held_out.error_and_deviation(guesses, part["label"].to_list(), masses)

    errors = [error_of(chosen, splits) for splits in range(6)]
    assert found["size"] == size == held_out.choose(errors, "least")
    np.testing.assert_allclose(found["choosing_errors"], [float(each) for each, _ in errors])
    np.testing.assert_allclose(found["standard_errors"], [each for _, each in errors])
    assert found["held_out_error"] == pytest.approx(float(error_of(tested, size)[0]))


class TestTheCommand:
    """The options of mictree fit on files that are read batch by batch."""

    @pytest.fixture
    def files(self, tmp_path):
        frame = make_frame(400)
        (tmp_path / "data").mkdir()
        write(tmp_path / "data", frame, [100, 300])
        return tmp_path, frame

    def test_whole_files_test(self, files):
        folder, frame = files
        pattern, last = folder / "data" / "*.parquet", folder / "data" / "2.parquet"
        given = ("fit", pattern, "--target", "label", "--drop", "w", "--max-size", 6)
        found = json.loads(run(*given, "--test", last, "--json").stdout)
        grown = frame[held_out.rows_between(300, 0, 0.75, 0)].drop("w")
        model = mt.TopDownClassifier(6, max_thresholds=255)
        model.fit(grown.drop("label"), grown["label"].to_numpy())
        np.testing.assert_array_equal(found["train_errors"], model.growth_.errors)
        assert found["choosing_rows"] + found["train_rows"] == 300
        assert found["held_out_rows"] == 100
        error = errors_of(model, frame[300:].drop("w"), found["size"])[0]
        assert found["held_out_error"] == pytest.approx(float(error))
        said = run(*given, "--test", last).stdout
        assert f"{grown.height} rows of 2 files to grow on, {300 - grown.height} to choose" in said
        assert "the size, 100 rows of 1 file to test on" in said
        # with a size, all rows of the other files grow the tree
        found = json.loads(
            run(
                *given, "--size", 3, "--test", last, "--test", folder / "data" / "0*", "--json"
            ).stdout
        )
        middle = frame[100:300].drop("w")
        model.fit(middle.drop("label"), middle["label"].to_numpy())
        np.testing.assert_array_equal(found["train_errors"], model.growth_.errors)
        assert (found["train_rows"], found["held_out_rows"], found["size"]) == (200, 200, 3)
        assert "choosing_rows" not in found

    def test_a_file_that_tests_by_another_name(self, files, monkeypatch):
        folder, _ = files
        monkeypatch.chdir(folder)
        last = folder / "data" / ".." / "data" / "2.parquet"
        given = ("fit", "data", "--target", "label", "--size", 2, "--test", last, "--json")
        found = json.loads(run(*given).stdout)
        assert (found["train_rows"], found["held_out_rows"]) == (300, 100)

    def test_a_size_needs_no_rows_to_choose_it(self, files):
        folder, frame = files
        given = ("fit", folder / "data", "--target", "label", "--drop", "w", "--max-size", 6)
        done = run(*given, "--size", 2, "--json", "--save", folder / "model.json")
        found = json.loads(done.stdout)
        grown, tested = (
            frame[held_out.rows_between(400, *bounds, 0)].drop("w")
            for bounds in ((0, 0.75), (0.75, 1))
        )
        model = mt.TopDownClassifier(6, max_thresholds=255)
        model.fit(grown.drop("label"), grown["label"].to_numpy())
        assert found["held_out_rows"] == tested.height
        assert found["held_out_error"] == pytest.approx(float(errors_of(model, tested, 2)[0]))
        assert mt.load(folder / "model.json").tree_.to_text() == model.growth_.tree(2).to_text()
        # the same rows grow the tree where they also choose its size
        chosen = json.loads(run(*given, "--json").stdout)
        assert chosen["train_errors"] == found["train_errors"]
        assert chosen["choosing_rows"] + chosen["held_out_rows"] == tested.height

    def test_the_saved_model_has_the_chosen_size(self, files):
        folder, _ = files
        done = run("fit", folder / "data", "--target", "label", "--save", folder / "model.json")
        assert done.exit_code == 0, done.exception
        size = mt.load(folder / "model.json").tree_.size
        line = done.stdout.splitlines()[-1]
        assert line.startswith(f"size {size}, training error ")
        assert ", held-out error " in line
        assert "error of rows that choose" in done.stdout

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--test", "data/*.parquet"), "--test must leave a file to grow on; it names all 3"),
            (("--test", "data/9*"), "'data/9*' matches none"),
            (("--test", "other.parquet"), "has no 'color', which"),
            (
                ("--size", "1", "--test", "data/0.parquet", "--held-out", "0.2"),
                "--held-out must not",
            ),
            (("--size", "1", "--choose", "least"), "--choose must not be given with --size"),
            (("--held-out", "0"), "--held-out must be above 0 for its rows to choose a size"),
            (("--held-out", "1"), "--held-out must lie strictly between 0 and 1; got 1"),
            (("--held-out", "0.0001"), "--held-out 0.0001 and --test leave 0 and"),
            (("--cv", "3"), "--cv must not be given with a folder or a pattern"),
            (("--report", "a.html"), "which need the rows in memory"),
            (
                ("--held-out", "0", "--size", "1", "--details"),
                "--details must not be given with --held-out 0, as no row tests",
            ),
            (
                ("--held-out", "0", "--size", "1", "--scoring", "f1_macro"),
                "--scoring must not be given with --held-out 0, as no row tests",
            ),
        ],
    )
    def test_bad_options(self, files, monkeypatch, options, said):
        folder, frame = files
        monkeypatch.chdir(folder)
        frame.drop("color").write_parquet("other.parquet")
        done = run("fit", "data", "--target", "label", *options)
        assert done.exit_code != 0
        assert said in str(done.exception)

    def test_no_test_files_for_a_file_in_memory(self, files, monkeypatch):
        folder, _ = files
        monkeypatch.chdir(folder)
        done = run("fit", "data/0.parquet", "--target", "label", "--test", "data/1.parquet")
        assert "--test must be given with a folder or a pattern of Parquet" in str(done.exception)

    def test_what_a_tree_lacks_is_said(self, files):
        """As for files that are read at once: a class weight or a scoring helps."""
        folder, frame = files
        rare = (pl.Series(range(400)) % 20 == 0) & (frame["age"] > 30)
        frame = frame.with_columns(label=pl.when(rare).then(pl.lit("yes")).otherwise(pl.lit("no")))
        write(folder / "data", frame, [100, 300])
        given = ("fit", folder / "data", "--target", "label", "--drop", "w", "--max-size", 4)
        for options in ((), ("--size", 2), ("--test", folder / "data" / "0.parquet")):
            remarks = json.loads(run(*given, *options, "--json").stdout)["remarks"]
            scoring = "--scoring balanced_accuracy chooses the size by the mean recall of classes"
            assert remarks[-1] == (
                "warning: the tree never predicts 'yes'; --class-weight balanced makes rare "
                "classes count as much as others" + ("" if "--size" in options else f"; {scoring}")
            )
            assert run(*given, *options).stdout.endswith("\n" + "\n".join(remarks) + "\n")
        told = run(*given, "--size", 4, "--class-weight", "balanced").stdout
        assert "warning" not in told
        assert "\nerrors are weighted by class\n" in told

    def test_weights_of_classes_that_only_other_rows_have(self, files):
        """A row that does not grow the tree has a class of its own, and weighs 1 there."""
        folder, frame = files
        (row, *_) = held_out.rows_between(400, 0.875, 1, 0)
        labels = frame["label"].to_list()
        labels[row] = "odd"
        write(folder / "data", frame.with_columns(label=pl.Series(labels)), [100, 300])
        given = ("fit", folder / "data", "--target", "label", "--drop", "w", "--json")
        plain, named, other = (
            json.loads(run(*given, "--class-weight", each).stdout)
            for each in ("yes=3", "yes=3,odd=7", "odd=7")
        )
        assert plain["classes"] == ["no", "yes"]
        assert named == plain
        assert other == json.loads(run(*given).stdout)
        error = str(run(*given, "--class-weight", "even=2").exception)
        assert error == "--class-weight must name classes; 'even' is none of 'no', 'odd', 'yes'"

    @pytest.mark.parametrize("row", [0, 399])
    def test_measured_numbers_are_a_regression(self, files, row):
        """As for files that are read at once; also if only the last rows show it."""
        folder, frame = files
        labels = pl.Series([float(n % 2) for n in range(400)])
        labels[row] = 0.5
        write(folder / "data", frame.with_columns(label=labels), [100, 300])
        given = ("fit", folder / "data", "--target", "label", "--drop", "w", "--json")
        given = (*given, "--held-out", 0, "--size", 1)
        done = run(*given)
        assert json.loads(done.stdout)["task"] == "regression"
        assert done.stderr.startswith(
            "mictree: label holds numbers with a fraction, such as 0.5, so this is a regression; "
            "--task classification makes each number a class\n"
        )
        told = json.loads(run(*given, "--task", "classification").stdout)
        assert told["classes"] == ["0.0", "0.5", "1.0"]


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss", "roc_auc"])
@pytest.mark.parametrize("weights", [(), ("--weights", "w")])
def test_a_scoring_chooses_and_judges_as_in_memory(tmp_path, scoring, weights):
    frame = make_frame(1500, seed=3)
    frame.write_parquet(tmp_path / "all.parquet")
    words = ("fit", tmp_path / "*.parquet", "--target", "label", "--max-size", 6, "--held-out", 0.4,
             "--choose", "least", "--scoring", scoring, "--drop", "w", *weights)  # fmt: skip
    words = words if not weights else (*words[:-4], *weights)
    done = run(*words, "--json", "--save", tmp_path / "model.json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    model = mt.load(tmp_path / "model.json")
    scorer = get_scorer(scoring)

    def score(low, high, size):
        rows = frame[held_out.rows_between(len(frame), low, high, 0)]
        options = {"sample_weight": rows["w"].to_numpy()} if weights else {}
        return scorer(model.at_size(size), rows, rows["label"].to_numpy(), **options)

    sizes = range(len(told["choosing_scores"]))
    expected = [score(0.6, 0.8, size) for size in sizes]
    np.testing.assert_allclose(told["choosing_scores"], expected, rtol=1e-9)
    assert told["size"] == int(np.argmax(np.array(expected) >= max(expected) - 1e-12))
    assert told["held_out_score"] == pytest.approx(score(0.8, 1.0, told["size"]))
    assert told["standard_errors"][-1] > 0
    tested = frame[held_out.rows_between(len(frame), 0.8, 1.0, 0)]
    weight = tested["w"].to_numpy() if weights else None
    results = model.at_size(told["size"]).class_results(tested, tested["label"].to_numpy(), weight)
    np.testing.assert_allclose(told["confusion"], results.confusion)
    assert np.array(told["confusion"]).dtype == results.confusion.dtype  # whole numbers of rows
    assert f"held-out {scoring}" in " ".join(run(*words).stdout.split())


def test_details_show_a_class_that_only_held_out_rows_have(tmp_path):
    frame = make_frame(600)
    frame.write_parquet(tmp_path / "grow.parquet")
    frame[:50].with_columns(label=pl.lit("maybe")).write_parquet(tmp_path / "test.parquet")
    words = ("fit", tmp_path / "*.parquet", "--target", "label", "--drop", "w", "--size", 2,
             "--test", tmp_path / "test.parquet", "--details")  # fmt: skip
    told = run(*words)
    assert told.exit_code == 0, told.output
    assert "(other)" in told.stdout
    refused = run(*words, "--scoring", "balanced_accuracy")
    assert refused.exit_code != 0
    assert "needs labels that rows to grow on have" in str(refused.exception)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc"])
@pytest.mark.parametrize(("rare", "fails"), [((0.62, 0.95), False), ((0.62,), True)])
def test_a_scoring_of_a_class_with_a_single_row(tmp_path, scoring, rare, fails):
    """Standard errors leave parts of rows out; without the only row of a class, none is defined."""
    frame, places = (
        make_frame(1500),
        np.array([float(held_out.place(row, 0)) for row in range(1500)]),
    )
    numbers = [int(np.argmin(np.abs(places - place))) for place in rare]
    grown = np.flatnonzero(places < 0.3)
    labels = np.where(np.isin(np.arange(1500), [*numbers, *grown]), "yes", "no")
    frame.with_columns(label=labels).write_parquet(tmp_path / "all.parquet")
    done = run("fit", tmp_path / "*.parquet", "--target", "label", "--drop", "w", "--held-out", 0.4,
               "--max-size", 3, "--scoring", scoring, "--json")  # fmt: skip
    if fails:
        assert f"{scoring} is not, as all are 'no'" in str(done.exception)
    else:
        assert done.exit_code == 0, done.exception
        assert np.isfinite(json.loads(done.stdout)["standard_errors"]).all()
