"""Errors about a column or about few rows name the option, or the parameter, that helps."""

import math
import pickle
import re

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree._support.checks import ColumnError
from mictree.cli import app

ROWS = 1500
LABELS = [number % 2 for number in range(ROWS)]
TROUBLES = {
    "texts": [f"user {number}" for number in range(ROWS)],
    "categories": pl.Series([f"user {number}" for number in range(ROWS)]).cast(pl.Categorical),
    "infinity": [math.inf, *[0.0] * (ROWS - 1)],
    "long": [2**60 + number for number in range(ROWS)],
    "lists": [[1]] * ROWS,
}


def frame(trouble):
    return pl.DataFrame({"a": LABELS, "my id": TROUBLES[trouble], "y": LABELS})


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("trouble", TROUBLES)
class TestAColumnThatIsRefused:
    @pytest.mark.parametrize("streamed", [False, True])
    def test_the_command_names_drop(self, tmp_path, trouble, streamed):
        file = tmp_path / "a.parquet"
        frame(trouble).write_parquet(file)
        given = ["fit", tmp_path if streamed else file, "--target", "y", "--size", 1]
        given += ["--held-out", 0] if streamed else []  # else nobody reads an id that tests nothing
        error = str(run(*given).exception)
        assert "; my id has" in error or "; my id does" in error
        assert "add --drop 'my id'" in error
        assert "leave the column out" not in error
        assert run(*given, "--drop", "my id", "--keep", "a").exit_code == 0

    def test_so_does_data(self, tmp_path, trouble):
        frame(trouble).write_parquet(tmp_path / "a.parquet")
        result = run("data", tmp_path / "a.parquet", "--target", "y", "--cv", 0)
        assert "add --drop 'my id'" in str(result.exception)

    def test_python_says_to_leave_it_out(self, tmp_path, trouble):
        table = frame(trouble)
        with pytest.raises(ValueError, match=r"; my id (has|does)") as raised:
            mt.TopDownClassifier().fit(table.drop("y"), LABELS)
        table.write_parquet(tmp_path / "a.parquet")
        with pytest.raises(ValueError, match=r"; my id (has|does)") as streamed:
            mt.SampleProblem.from_parquet(tmp_path, "y")
        if trouble != "lists":  # whose error is also one of predict
            assert "leave the column out of X" in str(raised.value)
            assert "naming all others in columns=" in str(streamed.value)
        assert mt.SampleProblem.from_parquet(tmp_path, "y", columns=["a"]).variables == ("a",)


def test_codes_have_two_ways_out(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("c,y\n" + "".join(f"{number:05},{number % 2}\n" for number in range(ROWS)))
    error = str(run("fit", file, "--target", "y").exception)
    assert error.endswith("c has 1500: add --drop c, or --number c to read numbers")


def test_an_error_about_a_column_survives_other_processes():
    error = pickle.loads(pickle.dumps(ColumnError("rule; c has 1", "c", "leave it out")))
    assert (str(error), error.column) == ("rule; c has 1: leave it out", "c")


def table(tmp_path, *labels):
    file = tmp_path / "a.csv"
    file.write_text("a,y\n" + "".join(f"{row},{label}\n" for row, label in enumerate(labels)))
    return file


class TestFewRows:
    """Each error, the options that it names, and that these do help."""

    @pytest.mark.parametrize(
        ("labels", "error", "options"),
        [
            ("x", "cv must be 0 if a class has a single row, as 'x' has; got 5", ["--cv", 0]),
            ("xz", "cv must be 0 if a class has a single row, as 'x' has; got 5", ["--cv", 0]),
            ("xzx", "cv must be 0 if a class has a single row, as 'z' has; got 5", ["--cv", 0]),
            ("xzxzz", "number of rows of the rarest class; 'x' has 2; got 5", ["--cv", 2]),
        ],
    )
    def test_of_data(self, tmp_path, labels, error, options):
        given = ["data", table(tmp_path, *labels), "--target", "y", "--max-size", 1]
        assert error in str(run(*given).exception)
        assert run(*given, *options).exit_code == 0

    @pytest.mark.parametrize(
        ("labels", "given", "error", "options"),
        [
            ("xz", [], "of 2 rows is 0: --held-out 0.5 does", ["--held-out", 0.5, "--size", 1]),
            ("xz", ["--held-out", 0.5], "1 row to grow on, of 2 in all: name a", ["--size", 1]),
            ("xzw", [], "are 2 rows to grow on, of 3 in all, each with another", ["--size", 1]),
            ("xzxzx", [], "--cv must be at most 2, the number of rows with the", ["--cv", 2]),
            ("xzxzx", [], "(4 rows to grow on, of 5 in all); got 5; a --size", ["--size", 1]),
        ],
    )
    def test_of_fit(self, tmp_path, labels, given, error, options):
        given = ["fit", table(tmp_path, *labels), "--target", "y", *given]
        assert error in str(run(*given).exception)
        assert run(*given, *options).exit_code == 0

    def test_one_row_is_too_few_to_fit(self, tmp_path):
        result = run("fit", table(tmp_path, "x", ""), "--target", "y")
        assert "at least 2 rows with a label, 1 to grow on and 1 to hold" in str(result.exception)

    @pytest.mark.parametrize(
        ("labels", "groups", "error"),
        [
            ("x", None, "chosen by 2 rows or more; there is 1"),
            ("xzxz", "gggg", "chosen by 2 groups or more; there is 1"),
            ("xzw", None, "some label occurs twice; all 3 rows have different ones"),
            ("xxzz", "gggh", "cv must be from 2 to the number of groups, 2; got 3"),
        ],
    )
    def test_of_select_size(self, labels, groups, error):
        X, y = [[row] for row in range(len(labels))], list(labels)
        members = None if groups is None else list(groups)
        with pytest.raises(ValueError, match=error):
            mt.select_size(mt.TopDownClassifier(max_size=1), X, y, cv=3, groups=members)


class TestTwoColumnsOfOneName:
    TABLE = pa.table([[0, 1] * 20, [1, 2] * 20, [0, 1] * 20], names=["a", "a", "y"])
    RULE = "columns must have different names; 'a' occurs twice"

    @pytest.mark.parametrize("command", ["fit", "data"])
    @pytest.mark.parametrize("kind", ["parquet", "feather"])
    def test_in_one_file(self, tmp_path, command, kind):
        file = tmp_path / f"a.{kind}"
        if kind == "parquet":
            pq.write_table(self.TABLE, file)
        else:
            with pa.ipc.new_file(file, self.TABLE.schema) as out:
                out.write_table(self.TABLE)
        assert str(run(command, file, "--target", "y").exception) == self.RULE

    def test_in_files_that_are_streamed(self, tmp_path):
        file = tmp_path / "b.parquet"
        pl.DataFrame({"a": [0, 1], "y": [0, 1]}).write_parquet(tmp_path / "a.parquet")
        pq.write_table(self.TABLE, file)
        said = f"{self.RULE} in {file}"
        assert str(run("fit", tmp_path, "--target", "y").exception) == said
        with pytest.raises(ValueError, match=re.escape(said)):
            mt.SampleProblem.from_parquet(tmp_path, "y")
        model = mt.TopDownClassifier().fit(pl.DataFrame({"a": [0, 1]}), [0, 1])
        with pytest.raises(ValueError, match=re.escape(said)):
            model.predict_parquet(tmp_path, tmp_path.parent / "out.parquet")


def test_long_numbers_of_a_text_file_may_be_categories(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a,y\n" + "".join(f"{2**53 + n % 2},{n % 2}\n" for n in range(40)))
    error = str(run("fit", file, "--target", "y").exception)
    assert error.endswith(": add --drop a, or in a text file --text a to read categories")
    assert run("fit", file, "--target", "y", "--text", "a").exit_code == 0


class TestOptionsOfTextFiles:
    @pytest.mark.parametrize(
        "given",
        [
            ["--text", "a"], ["--number", "a"], ["--missing", "x"], ["--decimal", ","],
            ["--separator", ";"], ["--encoding", "latin-1"],
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("kind", ["parquet", "feather"])
    def test_are_refused_for_files_with_types(self, tmp_path, kind, given):
        file = tmp_path / f"a.{kind}"
        table = pl.DataFrame({"a": [0, 1] * 20, "b": LABELS[:40], "y": LABELS[:40]})
        table.write_parquet(file) if kind == "parquet" else table.write_ipc(file)
        error = str(run("fit", file, "--target", "y", *given).exception)
        assert error.startswith(f"{given[0]} must not be given with a Parquet or Feather file")
        assert run("fit", file, "--target", "y", "--drop", "b").exit_code == 0
