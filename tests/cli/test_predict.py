"""mictree fit --save and mictree predict: the answers of the model that was shown."""

import io
import json

import polars as pl
import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app

ROWS = [
    {"age": age, "color": color, "vip": age % 3 == 0, "code": str(age % 4),
     "rich": "yes" if age > 40 and color == "red" else "no"}
    for age in range(20, 80) for color in ("red", "blue", None)
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "people.csv")
    done = run("fit", tmp_path / "people.csv", "--target", "rich", "--text", "code", "--save",
               tmp_path / "model.json", "--json")  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert f"mictree: wrote {tmp_path / 'model.json'}" in done.stderr
    return tmp_path, json.loads(done.stdout)


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, [*map(str, arguments)], input=stdin)


def predictions(*arguments, stdin=None):
    done = run("predict", *arguments, stdin=stdin)
    assert done.exit_code == 0, (done.stdout, done.exception)
    return pl.read_csv(io.StringIO(done.stdout))


def test_predictions_of_the_saved_tree(files):
    folder, fitted = files
    model = mt.load(folder / "model.json")
    assert model.tree_.size == fitted["size"] == 2
    assert model.to_text().count("label") == 3
    frame = pl.DataFrame(ROWS)
    found = predictions(folder / "model.json", folder / "people.csv")
    assert found.columns == ["prediction"]
    assert found["prediction"].to_list() == model.predict(frame).tolist()
    assert (found["prediction"] == frame["rich"]).mean() > 0.98


def test_a_file_of_another_layout(files):
    folder, _ = files
    lines = ["color;spare;age", "red;x;44,5", "NA;y;60,5", "red;z;unknown"]
    file = folder / "new.csv"
    file.write_bytes("\n".join(lines).encode("utf-16"))
    found = predictions(folder / "model.json", file, "--missing", "unknown", "--proba")
    assert found.columns == ["prediction", "probability of no", "probability of yes"]
    assert found["prediction"].to_list() == ["yes", "no", "no"]
    assert found["probability of yes"].to_list() == [1, 0, 0]
    from_stdin = predictions(folder / "model.json", "-", "--missing", "unknown",
                             stdin="\n".join(lines).encode())  # fmt: skip
    assert from_stdin["prediction"].to_list() == ["yes", "no", "no"]


def test_smaller_sizes_are_in_the_file(files):
    folder, _ = files
    found = predictions(folder / "model.json", folder / "people.csv", "--size", 0)
    assert set(found["prediction"]) == {"no"}


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_out(files, name):
    folder, _ = files
    done = run("predict", folder / "model.json", folder / "people.csv", "--out", folder / name)
    assert done.stdout == ""
    assert f"mictree: wrote {folder / name}" in done.stderr
    read = pl.read_csv if name.endswith("csv") else pl.read_parquet
    expected = mt.load(folder / "model.json").predict(pl.DataFrame(ROWS))
    assert read(folder / name)["prediction"].to_list() == expected.tolist()


@pytest.mark.parametrize(
    ("text", "options", "rule"),
    [
        (
            "Age,color\n1,red\n",
            [],
            "there is no 'age' (did you mean 'Age'?); it has 'Age', 'color'",
        ),
        ("age\n1\n", [], "there is no 'color'"),
        ("age,color\n1,red\nx,red\n", [], "age has 1 number and 1 text: 'x'"),
        ("age,color\n1,red\n", ["--size", "3"], "size must be at most the model's max_size, 2"),
        ("age,color\n1,red\n", ["--out", "a.txt"], "--out must end in .csv or .parquet"),
    ],
)
def test_what_is_refused(files, text, options, rule):
    folder, _ = files
    file = folder / "new.csv"
    file.write_text(text)
    done = run("predict", folder / "model.json", file, *options)
    assert isinstance(done.exception, ValueError)
    assert rule in str(done.exception)
    assert done.stdout == ""


def test_a_model_that_is_none(files):
    folder, _ = files
    done = run("predict", folder / "people.csv", folder / "people.csv")
    assert f"a model must be JSON; {folder / 'people.csv'} is not: " in str(done.exception)
    (folder / "other.json").write_text("{}")
    done = run("predict", folder / "other.json", folder / "people.csv")
    assert f"must say format 'mictree.model/2'; {folder / 'other.json'} does not" in str(
        done.exception
    )


@pytest.mark.parametrize(
    "option",
    [("--decimal", ","), ("--separator", ";"), ("--encoding", "utf-8"), ("--missing", "x")],
)
def test_options_of_text_files_are_refused_for_a_folder(files, option):
    folder, _ = files
    (folder / "parts").mkdir()
    pl.DataFrame(ROWS).write_parquet(folder / "parts" / "a.parquet")
    given = ["predict", folder / "model.json", folder / "parts", "--out", folder / "o.parquet"]
    assert run(*given).exit_code == 0
    assert f"{option[0]} must not be given with a Parquet" in str(run(*given, *option).exception)


def test_help_has_examples():
    assert "mictree predict model.json new.csv" in run("predict", "--help").stdout


class TestKeep:
    """--keep: columns of the table beside the predictions, as the file has them."""

    TEXT = (
        "id;age;note; color;when\n007; 44,50 ;n/a;red;1/2/2024\n"
        '0012;60;"a;""b""";blue;x\n7e2;050;;red;2024-02-30\n'
    )

    def test_text_files_as_written(self, files):
        folder, _ = files
        (folder / "new.csv").write_text(self.TEXT)
        given = ("predict", folder / "model.json", folder / "new.csv")
        plain = run(*given).stdout.split()
        done = run(*given, "--keep", "note", "--keep", "id")
        assert done.exit_code == 0, done.exception
        assert done.stdout == ('id,note,prediction\n007,n/a,yes\n0012,"a;""b""",no\n7e2,,yes\n')
        assert plain == ["prediction", "yes", "no", "yes"]
        found = pl.read_csv(io.StringIO(run(*given, "--keep", "all").stdout), infer_schema=False)
        assert found.columns == ["id", "age", "note", "color", "when", "prediction"]
        assert found["age"].to_list() == [" 44,50 ", "60", "050"]
        assert found["when"].to_list() == ["1/2/2024", "x", "2024-02-30"]

    @pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
    def test_files_that_are_written(self, files, name):
        folder, _ = files
        (folder / "new.csv").write_text(self.TEXT)
        out = folder / name
        done = run("predict", folder / "model.json", folder / "new.csv", "--keep", "id", "--proba",
                   "--out", out)  # fmt: skip
        assert done.exit_code == 0, done.exception
        found = pl.read_csv(out, infer_schema=False) if "csv" in name else pl.read_parquet(out)
        assert found["id"].to_list() == ["007", "0012", "7e2"]
        shares = ["probability of no", "probability of yes"]
        assert found.columns == ["id", "prediction", *shares]

    def test_parquet_files_keep_their_types(self, files):
        folder, _ = files
        frame = pl.DataFrame(ROWS).with_columns(
            pl.Series("day", range(len(ROWS))).cast(pl.Date), pl.Series("bag", [[1]] * len(ROWS))
        )
        (folder / "parts").mkdir()
        for part, rows in enumerate((frame[:70], frame[70:])):
            rows.write_parquet(folder / "parts" / f"{part}.parquet")
        frame.write_parquet(folder / "one.parquet")
        expected = mt.load(folder / "model.json").predict(frame).tolist()
        for file in (folder / "parts", folder / "one.parquet"):
            given = ("predict", folder / "model.json", file, "--out", folder / "out.parquet")
            for keep, names in ((["all"], frame.columns), (["day", "age"], ["age", "day"])):
                options = [word for name in keep for word in ("--keep", name)]
                assert run(*given, *options).exit_code == 0
                found = pl.read_parquet(folder / "out.parquet")
                assert found.columns == [*names, "prediction"]
                assert found.drop("prediction").equals(frame.select(names))
                assert found["prediction"].to_list() == expected
        done = run("predict", folder / "model.json", folder / "one.parquet", "--keep", "all")
        assert "--keep must name columns of single values" in str(done.exception)
        assert "bag has List(Int64)" in str(done.exception)

    @pytest.mark.parametrize("streamed", [False, True])
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--keep", "agee"], "a column 'agee' (did you mean 'age'?)"),
            (["--keep", "all", "--keep", "ag"], "a column 'ag' (did you mean 'age'?)"),
            (["--keep", "prediction"], "must not be named as one that is written; 'prediction' is"),
            (["--keep", "all"], "must not be named as one that is written; 'prediction' is"),
            (["--keep", "probability of no", "--proba"], "'probability of no' is: rename it"),
        ],
    )
    def test_what_is_refused(self, files, streamed, options, said):
        folder, _ = files
        frame = pl.DataFrame(ROWS).with_columns(
            pl.lit(1).alias("prediction"), pl.lit(1).alias("probability of no")
        )
        (folder / "parts").mkdir()
        frame.write_parquet(folder / "parts" / "a.parquet")
        frame.write_csv(folder / "new.csv")
        file = folder / ("parts" if streamed else "new.csv")
        given = ("predict", folder / "model.json", file, "--out", folder / "out.parquet")
        done = run(*given, *options)
        assert isinstance(done.exception, ValueError)
        assert said in str(done.exception)
        assert not (folder / "out.parquet").exists()
        # a name that is not written is free
        assert run(*given, "--keep", "probability of no").exit_code == 0

    def test_in_python(self, files):
        folder, _ = files
        frame = pl.DataFrame(ROWS)
        frame.write_parquet(folder / "a.parquet")
        model, out = mt.load(folder / "model.json"), folder / "out.parquet"
        model.predict_parquet(folder / "a.parquet", out, keep=["code"])
        assert pl.read_parquet(out)["code"].to_list() == frame["code"].to_list()
        with pytest.raises(
            ValueError, match=r"keep must be a list of columns or \"all\"; got 'code'"
        ):
            model.predict_parquet(folder / "a.parquet", out, keep="code")

    def test_help_tells_it_from_the_option_of_fit(self):
        said = " ".join(run("predict", "--help").stdout.replace("│", " ").split())
        assert "fit --keep is another thing" in said


class TestColumnsThatNoTestReads:
    """Whatever they hold, the rows are predicted; fit would refuse them."""

    @pytest.fixture
    def model(self, tmp_path):
        X = pl.DataFrame({"a": [0, 1] * 20, "b": [n / 4 for n in range(40)]})
        fitted = mt.TopDownClassifier(1).fit(X, [n // 20 for n in range(40)])
        fitted.save(tmp_path / "model.json")
        return tmp_path / "model.json"

    @pytest.mark.parametrize(
        "cells",
        [
            ["1", "2", "x"],
            ["2024-01-01", "2024-01-02", "2024-31-02"],
            ["1/2/2024", "2/1/2024", "3/3/2024"],
            ["1,234", "5", "6"],
            ["99999999999999999991", "99999999999999999992", "5"],
            ["01", "02", "03"],
        ],
    )
    def test_are_not_refused(self, model, tmp_path, cells):
        rows = "".join(f"{cell};{row}\n" for row, cell in enumerate(cells, 4))
        (tmp_path / "new.csv").write_text(f"a;b\n{rows}")
        result = run("predict", model, tmp_path / "new.csv")
        assert result.stdout == "prediction\n0\n1\n1\n", result.exception
        assert len(result.stderr.splitlines()) == 1

    @pytest.mark.parametrize(("cell", "labels"), [("0,5", "0 1"), ("5,5.5", None), ("x", None)])
    def test_say_what_commas_mean_if_they_can(self, model, tmp_path, cell, labels):
        (tmp_path / "new.csv").write_text(f"a;b\n{cell};1,234\n{cell};5,125\n")
        result = run("predict", model, tmp_path / "new.csv")
        if labels is None:
            assert "commas in numbers must have one meaning; b has '1,234'" in str(result.exception)
        else:
            assert result.stdout.split()[1:] == labels.split()

    def test_errors_about_others_name_no_option_of_fit(self, tmp_path):
        days = pl.Series("d", range(20)).cast(pl.Date)
        mt.TopDownClassifier(1).fit(days.to_frame(), [0, 1] * 10).save(tmp_path / "model.json")
        for cells in ("2024-01-01 2024-01-02 x", "1/2/2024 2/1/2024 3/3/2024"):
            (tmp_path / "new.csv").write_text("\n".join(["d", *cells.split()]))
            error = str(run("predict", tmp_path / "model.json", tmp_path / "new.csv").exception)
            assert "; d has" in error
            assert "--text" not in error
            assert "--drop" not in error


class TestTextsThatNoTrainingRowHad:
    CODES = ("007", "012", "100", "205")

    @pytest.fixture
    def model(self, tmp_path):
        """A tree that tests size first, and code only below."""
        rows = [(n % 2, self.CODES[n // 2 % 4]) for n in range(80)]
        X = pl.DataFrame(rows, schema=["size", "code"], orient="row")
        y = ["yes" if size and code != "007" else "no" for size, code in rows]
        mt.TopDownClassifier(2).fit(X, y).save(tmp_path / "model.json")
        loaded = mt.load(tmp_path / "model.json")
        assert loaded.to_text().startswith("size?\n├─0─ label no\n└─1─ code is 007?")
        return tmp_path / "model.json"

    def test_are_counted_where_a_test_meets_them(self, model, tmp_path):
        (tmp_path / "new.csv").write_text("size,code\n1,7\n1,007\n1,12\n0,8\n1,\n1,100\n")
        done = run("predict", model, tmp_path / "new.csv")
        assert done.stdout.split() == ["prediction", "yes", "no", "yes", "no", "yes", "yes"]
        assert done.stderr.splitlines()[1:] == [
            "mictree: warning: column code has texts that no training row had, such as '7' (is it "
            "'007'?), in 2 rows that a test on it meets; the test takes them for none of the "
            "texts that it knows"
        ]
        root = run("predict", model, tmp_path / "new.csv", "--size", 0)
        assert len(root.stderr.splitlines()) == 1

    def test_other_spellings_are_shown_first(self, model, tmp_path):
        (tmp_path / "new.csv").write_text("size,code\n1,x\n1,100\n1,205\n")
        said = run("predict", model, tmp_path / "new.csv").stderr
        assert "such as 'x', in 1 row that a test on it meets" in said
        for code in ("12", "12.0", "0 12"):  # as pandas writes codes beside missing ones
            (tmp_path / "new.csv").write_text(f"size,code\n1,x\n1,{code}\n")
            said = run("predict", model, tmp_path / "new.csv").stderr
            assert f"such as '{code}' (is it '012'?), in 2 rows" in said

    def test_known_texts_that_no_test_names_are_none(self, model, tmp_path):
        (tmp_path / "new.csv").write_text("size,code\n1,012\n1,NA\n0,205\n")
        assert len(run("predict", model, tmp_path / "new.csv").stderr.splitlines()) == 1

    def test_the_batches_of_many_files(self, model, tmp_path):
        folder = tmp_path / "parts"
        folder.mkdir()
        for part in "ab":
            table = pl.DataFrame({"size": [1, 1, 0], "code": ["7", "100", "7"]})
            table.write_parquet(folder / f"{part}.parquet")
        done = run("predict", model, folder, "--out", tmp_path / "out.parquet")
        first, second = done.stderr.splitlines()
        assert "such as '7' (is it '007'?), in 2 rows that a test on it meets" in first
        assert second.endswith("out.parquet")

    def test_models_of_the_older_format_know_no_texts(self, model, tmp_path):
        content = json.loads(model.read_text("utf-8"))
        assert content["columns"][1]["seen"] == [*self.CODES]
        for column in content["columns"]:
            del column["seen"]
        content["format"] = "mictree.model/1"
        model.write_text(json.dumps(content), "utf-8")
        (tmp_path / "new.csv").write_text("size,code\n1,7\n1,007\n")
        done = run("predict", model, tmp_path / "new.csv")
        assert done.stdout == "prediction\nyes\nno\n"
        assert len(done.stderr.splitlines()) == 1

    @pytest.mark.parametrize("labels", ["ab", "a\0"])
    def test_of_two_categories_both_are_seen(self, tmp_path, labels):
        """Also of the one without a test of its own, and of one beside missing cells."""
        cells = [labels[0], labels[1].strip("\0") or None] * 9
        X = pl.DataFrame({"c": cells})
        mt.TopDownClassifier(1).fit(X, [0, 1] * 9).save(tmp_path / "model.json")
        X.write_csv(tmp_path / "new.csv")
        file = tmp_path / "new.csv"
        assert len(run("predict", tmp_path / "model.json", file).stderr.splitlines()) == 1
        file.write_text("c,d\nA,1\n")
        said = run("predict", tmp_path / "model.json", file).stderr
        assert "such as 'A' (is it 'a'?), in 1 row" in said
