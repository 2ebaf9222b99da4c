"""Cells that look like something else: quotes inside, digits of other alphabets, other dates."""

import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app
from mictree.columns.files import read_file


@pytest.fixture
def save(tmp_path):
    """A file with some text."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


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
        "2024/01/{}", "2024-01-{}T10:33:00Z", "2024-01-{}T10:00:00+02:00", "{}/11/2024 10:37",
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
        "numbers must be finite; a b has an infinite one: add --missing inf to read it as missing, "
        "or --drop 'a b'"
    )
    assert run("fit", file, "--target", "y", "--missing", "inf").exit_code == 0
