"""The first line of a text file: names, or none; and the first column, which may be an index."""

import io
import json

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree.cli import app
from mictree.columns.text_tables import Layout, doubt_header, read_file, read_names

FLOWERS = "".join(f"{5 + n % 7 / 10},{n % 5}.5,{'ab'[n % 7 > 3]}\n" for n in range(40))


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def frame_of(*columns):
    return pl.DataFrame([pl.Series(f"c{place}", cells) for place, cells in enumerate(columns)])


class TestDoubt:
    @pytest.mark.parametrize(
        ("names", "columns", "doubted"),
        [
            (["5.1", "a"], (["4.9", "4.7", "5"], ["b", "a", "a"]), True),
            (["2024-01-26", "yes"], (["2024-01-27", "2024-02-01"], ["no", "yes"]), True),
            (["5.1", "Ann"], (["4.9", "4.7", "5"], ["Bob", "Cyd", "Dan"]), True),  # names of people
            (["5.1", ""], (["4.9", "4.7", "5"], ["b", "a", "a"]), True),  # a missing cell
            (["1,5", "a"], (["2,5", "3,5", "4"], ["a", "b", "a"]), True),
            (["age", "a"], (["4.9", "4.7", "5"], ["b", "a", "a"]), False),
            (["5.1", "kind"], (["4.9", "4.7", "5"], ["b", "a", "b"]), False),
            (["name", "city"], (["Ann", "Bob", "Cyd"], ["Rome", "Oslo", "Bonn"]), False),
            (["0", "1"], (["5", "6"], ["7", "8"]), False),  # positions as names
            (["2019", "2020"], (["5", "6"], ["7", "8"]), False),
            (["2019", "2021"], (["5", "6"], ["7", "8"]), True),
            (["7"], (["8", "9"],), True),
            (["a", "b"], (["", "NA"], [None, ""]), False),
        ],
    )
    def test_the_rule(self, names, columns, doubted):
        assert bool(doubt_header(names, frame_of(*columns))) == doubted

    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_a_row_as_header_is_warned_about(self, save, command):
        file, few = save("a.csv", FLOWERS), ["--max-size", 1]
        result = run(command, file, "--target", "a", *few)
        assert result.exit_code == 0
        assert (
            "mictree: warning: the first line (5.0, 0.5, a) looks like a row of data, as its cells "
            "are numbers, dates or texts of the columns below; --no-header reads it as a row, and "
            "names the columns column_1, column_2, ...; --keep 5.0 silences this line\n"
        ) in result.stderr
        quiet = run(command, file, "--target", "a", *few, "--keep", "5.0")
        assert len(quiet.stderr.splitlines()) == 1
        rows = run(command, file, "--target", "column_3", *few, "--no-header", "--json")
        assert len(rows.stderr.splitlines()) == 1
        assert ": 40 rows, 3 columns" in rows.stderr
        assert "column_1 > 5.35" in rows.stdout

    def test_errors_about_names_say_so_too(self, save):
        file = save("a.csv", FLOWERS)
        for words in (["--target", "kind"], ["--target", "a", "--text", "b"]):
            error = str(run("fit", file, *words).exception)
            assert "it has 5.0, 0.5, a; the first line (5.0, 0.5, a) looks like a row" in error
        twice = save("b.csv", "1,0,1,yes\n0,0,1,no\n1,1,1,yes\n")
        error = str(run("fit", twice, "--target", "yes").exception)
        assert "'1' occurs twice; the first line (1, 0, 1, ...) looks like a row of data" in error
        other = save("c.csv", "a,b,a\n0,0,1\n1,1,1\n")
        assert str(run("fit", other, "--target", "b").exception).endswith("'a' occurs twice")


class TestNoHeader:
    def test_predict_and_explore_read_it_too(self, save, tmp_path):
        file, model, page = save("a.csv", FLOWERS), tmp_path / "model.json", tmp_path / "page.html"
        words = ["--target", "column_3", "--no-header"]
        assert run("fit", file, *words, "--save", model).exit_code == 0
        done = run("predict", model, file, "--no-header")
        labels = pl.read_csv(io.StringIO(done.stdout))["prediction"]
        assert labels.to_list() == [line[-1] for line in FLOWERS.split()]
        error = str(run("predict", model, file).exception)
        assert "there is no 'column_1'" in error
        assert "looks like a row of data" in error
        assert run("explore", "--data", file, *words, "--out", page).exit_code == 0
        assert "column_1,column_2,column_3" in page.read_text("utf-8")

    @pytest.mark.parametrize("text", ["1;x;\n2;;\n", 'sep=;\n1;x\n"2";\n', "1;x\r\n\r\n2;\r\n"])
    def test_layouts(self, save, text):
        frame = read_file(save("a.csv", text), Layout(header=False)).frame
        assert frame.to_dict(as_series=False) == {"column_1": [1, 2], "column_2": ["x", None]}

    def test_files_with_names_of_their_own_refuse_it(self, tmp_path):
        pl.DataFrame({"a": [0, 1], "y": [0, 1]}).write_parquet(tmp_path / "a.parquet")
        for file in (tmp_path / "a.parquet", tmp_path):
            error = str(run("fit", file, "--target", "y", "--no-header").exception)
            assert "--no-header must not be given with a" in error


class TestSpaces:
    def test_names_and_texts_lose_the_spaces_around_them(self, save):
        rows = "".join(f'{n % 7}, "dark, red" ,{" yes" if n % 2 else " no"}\n' for n in range(9))
        found = read_file(save("a.csv", 'a, b , "c"\n' + rows.replace('" ,', '",')))
        assert found.frame.columns == ["a", "b", "c"]
        assert set(found.frame["b"]) == {"dark, red"}
        assert set(found.frame["c"]) == {"yes", "no"}
        spaced = read_file(save("a.csv", "a, y\n1, red\n2,red \n3, NA\n"))
        assert spaced.frame["y"].to_list() == ["red", "red", None]
        assert spaced.description == "UTF-8, separator comma, spaces around texts left out"

    def test_names_that_differ_in_spaces_only(self, save):
        error = str(run("fit", save("a.csv", "a,b, a\n1,2,3\n"), "--target", "b").exception)
        assert error == (
            "columns must have different names; 'a' occurs twice; spaces around names do not count"
        )

    def test_a_model_from_elsewhere_may_have_kept_them(self, save, tmp_path):
        """As pandas reads them: the columns and categories of a model are found as they are."""
        import mictree as mt

        X = pl.DataFrame({" a": [" x", " z", " x", " z"], "": [0, 1, 2, 3]})
        mt.TopDownClassifier(1).fit(X, [0, 1, 0, 1]).save(tmp_path / "model.json")
        new = save("a.csv", ",  b, a\n5,1, z\n6,2, x\n")
        done = run("predict", tmp_path / "model.json", new)
        assert done.stdout == "prediction\n1\n0\n"
        mt.TopDownClassifier(1).fit(X, [0, 0, 0, 1]).save(tmp_path / "model.json")
        assert mt.load(tmp_path / "model.json").tree_.variables == (" > 2.5",)
        assert run("predict", tmp_path / "model.json", new).stdout == "prediction\n1\n1\n"


def test_blank_lines_above_the_header_are_no_header(save):
    frame = read_file(save("a.csv", "\n  \n\r\n a,y\n1,2\n")).frame
    assert frame.to_dict(as_series=False) == {"a": [1], "y": [2]}


class TestUnnamedColumns:
    def test_they_get_the_number_of_their_place(self):
        assert read_names(["", "a", " ", "column_1"]) == ["column_1_", "a", "column_3", "column_1"]
        assert read_names(["", "a "], {""}) == ["", "a"]

    def test_an_index_is_said_to_be_one(self, save):
        for first in (0, 1):
            rows = "".join(
                f"{n + first},{n * 3 % 7},{'pq'[n % 2] if n % 5 else ''}\n" for n in range(30)
            )
            file = save("a.csv", f",a,y\n{rows}")
            said = run("fit", file, "--target", "y", "--max-size", 1).stderr
            assert (
                "warning: column column_1 numbers the rows, as an index does; --drop column_1 "
                "leaves it out, --keep column_1 silences this line"
            ) in said  # though rows without a label are left out
        quiet = run("fit", file, "--target", "y", "--max-size", 1, "--drop", "column_1").stderr
        assert "column_1" not in quiet

    def test_trees_show_the_name(self, save):
        rows = "".join(f"{n * 2},{n // 15}\n" for n in range(30))
        done = run("fit", save("a.csv", f",y\n{rows}"), "--target", "y", "--json")
        assert json.loads(done.stdout)["tree"]["variables"] == ["column_1 > 29"]


@pytest.mark.parametrize("command", ["fit", "data", "explore"])
def test_the_target_cannot_be_dropped(save, command, tmp_path):
    file = save("a.csv", "a,y\n" + "1,0\n2,1\n" * 9)
    words = ["--data", file] if command == "explore" else [file]
    error = str(run(command, *words, "--target", "y", "--drop", "y").exception)
    assert "must name different columns" in error
    folder = tmp_path / "parts"
    folder.mkdir()
    pl.DataFrame({"a": [0, 1], "y": [0, 1]}).write_parquet(folder / "a.parquet")
    error = str(run("fit", folder, "--target", "y", "--drop", "y").exception)
    assert error == "--target and --drop must name different columns; both name 'y'"
