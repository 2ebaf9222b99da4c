"""Cells that look like something else: quotes inside, digits of other alphabets, other dates."""

import math
import shutil
import subprocess

import polars as pl
import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree._support.words import shell_word
from mictree.cli import app
from mictree.columns.text_tables import read_file


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def split(file):
    frame = read_file(file).frame
    return frame.drop("y"), frame["y"]


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ('a,b,y\n5" pipe,1,0\n6,2,1\n', ['5" pipe', "6"]),
        ('a,b,y\n5",6",0\n"p, q",2,1\n', ['5"', "p, q"]),
        ('a,b,y\n5",1,0\n6",2,1\n', ['5"', '6"']),
        ('a,b,y\n"p ""q""",1,0\n"r\ns",2,1\n', ['p "q"', "r\ns"]),
    ],
)
def test_a_quote_inside_a_cell_is_part_of_it(content, cells, save):
    frame = read_file(save("a.csv", content)).frame
    assert frame["a"].to_list() == cells
    assert frame["y"].to_list() == [0, 1]


def test_digits_of_other_alphabets_are_texts(save, tmp_path):
    """polars has no numbers for them, and they would be missing."""
    lines = "".join(f"{digit},{number % 2}\n" for number, digit in enumerate("٠١٢٣٤٥٦٧٨٩"))
    frame = read_file(save("a.csv", f"a,y\n{lines}")).frame
    assert frame["a"].to_list() == list("٠١٢٣٤٥٦٧٨٩")
    fitted = save("plain.csv", "a,y\n" + "".join(f"{n},{n // 5}\n" for n in range(10)))
    model = mt.TopDownClassifier(max_size=1).fit(*split(fitted))
    model.save(tmp_path / "model.json")
    result = run("predict", tmp_path / "model.json", tmp_path / "a.csv")
    assert "a column must hold numbers" in str(result.exception)


@pytest.mark.parametrize(
    "day",
    [
        "2024/1/{}", "2024-01-{} 10:33:00 CET", "2024-01-{}T10:00+2", "{}/11/2024 9:37",
        "{}/9/24", "{}-Jan-24", "January {}, 2024",
    ],
)  # fmt: skip
def test_dates_that_are_not_read_are_warned_about(day, save):
    lines = "".join(f"{day.format(10 + number % 9)!r},{number % 2}\n" for number in range(40))
    file = save("a.csv", "d,y\n" + lines.replace("'", '"'))
    assert "column d looks like dates, such as" in run("fit", file, "--target", "y").stderr


def test_an_encoding_that_is_a_guess_is_said_to_be_one(tmp_path):
    file = tmp_path / "a.csv"
    lines = "".join(f"{'東京都' if n % 2 else '大阪府'},{n % 2}\n" for n in range(20))
    file.write_bytes(f"都市,y\n{lines}".encode("shift-jis"))
    assert "Latin-1, a guess (--encoding names another)" in run("fit", file, "--target", "y").stderr
    done = run("fit", file, "--target", "y", "--encoding", "shift-jis", "--keep", "都市")
    assert "label 0" in done.stdout
    assert "都市 is" in done.stdout


def test_an_infinite_number_names_the_options(save):
    lines = "".join(f"{n / 2 if n else 'inf'},{n % 2}\n" for n in range(20))
    file = save("a.csv", f"a b,y\n{lines}")
    error = str(run("fit", file, "--target", "y").exception)
    assert error == (
        "numbers must be finite, at most 1.8e+308; a b has an infinite or a larger one: add "
        "--drop 'a b', or in a text file --missing with its text, as in --missing inf"
    )
    assert run("fit", file, "--target", "y", "--missing", "inf").exit_code == 0


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_labels_of_a_parquet_file_that_are_no_numbers(tmp_path, odd):
    """NaN is missing, as a label that is not there at all."""
    labels = [odd if n == 3 else n % 2 for n in range(40)]
    rows = {"a": [n * 7 % 10 for n in range(40)], "my label": labels}
    pl.DataFrame(rows, schema_overrides={"my label": pl.Float64}).write_parquet(
        tmp_path / "a.parquet"
    )
    result = run("fit", tmp_path / "a.parquet", "--target", "my label", "--size", 1)
    if math.isnan(odd):
        assert result.exit_code == 0, result.exception
        assert "left out 1 row without a label: my label is missing" in result.stderr
    else:
        assert str(result.exception) == "labels must be finite; my label has an infinite number"


ZIPS = ("01234", "00501", "90210", "10001")
ZIP_ROWS = "".join(f"{ZIPS[n % 4]},{n % 4 // 2}\n" for n in range(40))
REMARK = "mictree: column zip has leading zeros, as in 01234, and is read as categories; --number"


class TestLeadingZeros:
    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_codes_are_categories(self, save, command):
        file = save("a.csv", f"zip,y\n{ZIP_ROWS}")
        result = run(command, file, "--target", "y", "--max-size", 2)
        assert "zip is 01234" in result.stdout or "zip is 90210" in result.stdout
        assert REMARK in result.stderr
        assert "warning" not in result.stderr

    def test_the_options_that_decide(self, save):
        file = save("a.csv", f"zip,y\n{ZIP_ROWS}")
        numbers = run("fit", file, "--target", "y", "--number", "zip")
        assert "zip > 5617.5" in numbers.stdout
        for options in (["--number", "zip"], ["--text", "zip"], ["--keep", "zip"]):
            result = run("fit", file, "--target", "y", *options)
            assert len(result.stderr.splitlines()) == 1
        both = run("fit", file, "--target", "y", "--number", "zip", "--text", "zip")
        assert "must name different columns; both name 'zip'" in str(both.exception)
        unknown = run("fit", file, "--target", "y", "--number", "zap")
        assert "must have a column 'zap' (did you mean 'zip'?)" in str(unknown.exception)

    def test_a_dash_beside_them_does_not_hide_them(self, save):
        """As categories they stay whatever spells missing in numbers only; the line is the same."""
        rows = ZIP_ROWS.replace("10001", "-")
        result = run("fit", save("a.csv", f"zip,y\n{rows}"), "--target", "y", "--max-size", 1)
        assert REMARK in result.stderr

    def test_predict_reads_them_as_fit_did(self, save, tmp_path):
        """Also in a file in which no code begins with a zero."""
        file = save("a.csv", f"zip,y\n{ZIP_ROWS}")
        model = tmp_path / "model.json"
        rows = save("b.csv", "zip\n90210\n10001\n")
        for options in ([], ["--number", "zip"]):
            run("fit", file, "--target", "y", "--save", model, *options)
            assert run("predict", model, rows).stdout == "prediction\n1\n1\n"
            whole = run("predict", model, file)
            assert whole.stdout.split() == ["prediction", *"0011" * 10]
            assert "leading zeros" not in whole.stderr

    def test_a_tree_that_tests_only_what_is_missing(self, save, tmp_path):
        rows = "".join(f"{'' if n % 2 else ZIPS[n // 2 % 4]},{n % 2}\n" for n in range(40))
        file, model = save("a.csv", f"zip,y\n{rows}"), tmp_path / "model.json"
        assert "zip is missing" in run("fit", file, "--target", "y", "--save", model).stdout
        new = save("b.csv", "zip,z\n90210,1\n,2\n")
        assert run("predict", model, new).stdout == "prediction\n0\n1\n"

    def test_weights_must_be_numbers(self, save):
        rows = "".join(f"{n % 5},{n % 7:02},{n % 2}\n" for n in range(40))
        file = save("a.csv", f"a,w,y\n{rows}")
        given = ["data", file, "--target", "y", "--weights", "w", "--cv", 0, "--max-size", 1]
        assert "w has '00': add --number w" in str(run(*given).exception)
        assert run(*given, "--number", "w").exit_code == 0


class TestNumbersThatAreTexts:
    CODES = (11, 12, 21, 25, 30)

    def test_text_needs_no_warning(self, save):
        """Who asks for categories does not want to write numbers."""
        for form in ("{}", "{}%", "{}:30", "2024-01-26T{}:30Z", "1/2/20{}"):
            rows = "".join(f"{form.format(self.CODES[n % 5])},{n % 2}\n" for n in range(40))
            file = save("a.csv", f"code,y\n{rows}")
            result = run("fit", file, "--target", "y", "--text", "code", "--max-size", 1)
            assert "code is" in result.stdout
            assert len(result.stderr.splitlines()) == 1

    @pytest.mark.parametrize("streamed", [False, True])
    def test_parquet_files_have_no_marks_to_take_away(self, tmp_path, streamed):
        codes = [str(self.CODES[n % 5]) for n in range(40)]
        file = tmp_path / "a.parquet"
        pl.DataFrame({"code": codes, "y": [n % 2 for n in range(40)]}).write_parquet(file)
        given = ["fit", tmp_path if streamed else file, "--target", "y", "--max-size", 1]
        said = run(*given).stderr
        assert (
            "warning: column code has numbers stored as texts, such as '11', and is read as "
            "categories; store them as numbers"
        ) in said
        assert "marks" not in said


class TestLineBreaksInNames:
    @pytest.mark.skipif(shutil.which("bash") is None, reason="no bash to read the words")
    @pytest.mark.parametrize(
        "name", ["my\nid", "it's\ta \\ b\r\n", "\u2028", "plain", "a b", "", "$'"]
    )
    def test_a_shell_reads_the_word(self, name):
        command = f"printf %s {shell_word(name)}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=True,
                              env={"LC_ALL": "C.UTF-8"})  # fmt: skip
        assert done.stdout.decode() == name

    def test_options_can_be_typed_as_they_are_shown(self, save):
        rows = "".join(f"{n},{n % 3},{n % 2}\n" for n in range(20))
        file = save("a.csv", f'"my\nid",b,"the\ny"\n{rows}')
        said = run("fit", file, "--target", "the\ny", "--max-size", 1).stderr
        assert "--drop $'my\\nid' leaves it out, --keep $'my\\nid' silences this line" in said
        error = str(run("fit", file, "--target", "the y").exception)
        assert "(did you mean $'the\\ny'?)" in error


class TestPointsBetweenThousands:
    def table(self, *numbers):
        return "v;w;y\n" + "".join(f"{numbers[n % 3]};{n % 7},5;{n % 2}\n" for n in range(30))

    def test_points_that_could_be_either_get_a_warning(self, save):
        file = save("a.csv", self.table("647.676", "1.234", "12.345"))
        result = run("fit", file, "--target", "y")
        assert "column v has 647.676, read with a decimal point, in a file with" in result.stderr
        quiet = run("fit", file, "--target", "y", "--decimal", ",")
        assert len(quiet.stderr.splitlines()) == 1
        plain = run("fit", save("b.csv", self.table("647.676", "1.25", "12.345")), "--target", "y")
        assert len(plain.stderr.splitlines()) == 1

    @pytest.mark.parametrize(
        ("numbers", "said"),
        [
            (("4.647.676", "1.234.567", "1.2"), "--decimal"),  # no number of either form
            (("4.647.676", "1.234.567", "1.234"), "write them as plain numbers, or add --decimal"),
            (("4.647.676", "1.234", "12.345"), "--decimal , if points separate thousands"),
        ],
    )
    def test_the_way_out_is_named(self, save, numbers, said):
        result = run("fit", save("a.csv", self.table(*numbers)), "--target", "y")
        assert (said in f"{result.stderr}{result.exception}") == (numbers[2] != "1.2")


class TestLineBreaksInTexts:
    ROWS = '"x\ny","no\nway"\n"p\tq",yes\nr\u2028s,"may\rbe"\n' * 20

    @pytest.fixture
    def model(self, save, tmp_path):
        file = save("a.csv", f'"c\nd",y\n{self.ROWS}')
        result = run("fit", file, "--target", "y", "--save", tmp_path / "model.json")
        assert result.exit_code == 0
        return result, mt.load(tmp_path / "model.json")

    def test_tables_and_trees_show_them_escaped(self, model, tmp_path):
        result, _ = model
        assert r"│ c\nd is x\ny" in result.stdout
        assert r"─ label no\nway" in result.stdout
        assert len(result.stderr.splitlines()) == 3  # how it was read, a warning, the model
        compared = run("data", tmp_path / "a.csv", "--target", "y", "--cv", 0, "--max-size", 3)
        for said in (r"c\nd is x\ny?", r"label may\rbe", r"label no\nway"):
            assert said in compared.stdout

    def test_so_do_rules_and_reasons(self, model):
        _, found = model
        rules = str(found.to_rules()).splitlines()
        assert len(rules) == 3
        assert any(r"if c\nd is x\ny then no\nway  (15 rows" in rule for rule in rules)
        assert found.explain({"c\nd": "x\ny"}).splitlines() == [
            r"no\nway, because",
            r"  c\nd is x\ny (it is x\ny)",
            r"The 15 training rows like this: 100% no\nway.",
        ]

    def test_the_values_stay_as_they_are(self, model, tmp_path):
        _, found = model
        assert set(found.classes_) == {"no\nway", "yes", "may\rbe"}
        assert found.predict([["x\ny"], ["p\tq"]]).tolist() == ["no\nway", "yes"]
        scope = {}
        exec(found.to_rules().to_python(), scope)
        assert scope["predict"]({"c\nd": "x\ny"}) == "no\nway"


class TestNumbersBeyondFloats:
    def test_too_near_to_zero_is_read_as_zero_and_said(self, save, tmp_path):
        rows = "".join(f"{'1e-400' if n % 4 == 0 else n / 10},{int(n > 9)}\n" for n in range(20))
        file, model = save("a.csv", f"p,y\n{rows}"), tmp_path / "model.json"
        line = (
            "mictree: warning: column p has 1e-400, nearer to 0 than 64-bit floats can be, and "
            "read as 0 (in 5 rows); --keep p silences this line\n"
        )
        assert line in run("fit", file, "--target", "y", "--save", model).stderr
        assert "1e-400" not in run("fit", file, "--target", "y", "--keep", "p").stderr
        new = save("b.csv", "p;q\n-0,0000e-5;1\n0;2\n2,5e-400;3\n3e-310;4\n")
        said = run("predict", model, new).stderr
        assert "column p has 2,5e-400, nearer to 0" in said
        assert "(in 1 row)" in said

    def test_too_large_is_refused_as_infinity_is(self, save):
        rows = "".join(f"{n},{n % 2}\n" for n in range(20)) + "1e400,1\n"
        error = str(run("fit", save("a.csv", f"p,y\n{rows}"), "--target", "y").exception)
        assert "at most 1.8e+308; p has an infinite or a larger one: add --drop p" in error


class TestNumberOnTexts:
    def test_many_texts_get_no_option_each(self, save):
        rows = "".join(f"{'abcdefgh'[n % 8]},{n},{n % 2}\n" for n in range(40))
        file = save("a.csv", f"kind,b,y\n{rows}")
        error = str(run("fit", file, "--target", "y", "--number", "kind").exception)
        assert error == (
            "a column must hold numbers or texts, not both; kind has 0 numbers and 40 texts: "
            "'a', 'b', 'c', 'd', 'e' and 3 more. Correct them, or add --missing TEXT for each of "
            "them that means missing, or leave out --number kind"
        )

    def test_few_may_be_missing(self, save):
        rows = "".join(f"{n if n % 9 else 'none yet'},{n % 2}\n" for n in range(40))
        file = save("a.csv", f"b,y\n{rows}")
        error = str(run("fit", file, "--target", "y", "--number", "b").exception)
        assert error.endswith(
            "or add --missing 'none yet' to read them as missing, or leave out --number b"
        )
