"""All complaints about a file come together, each on a line, a wrong --target first."""

import math
import sys

import polars as pl
import pytest

import mictree as mt
from mictree._support.checks import ColumnError, Complaints
from mictree.cli import main

ROWS = 1100
LABELS = [number % 2 for number in range(ROWS)]
COLUMNS = {
    "a": LABELS,
    "user": [f"user {number}" for number in range(ROWS)],
    "ratio": [math.inf, *[0.5] * (ROWS - 1)],
    "long": [2**60 + number for number in range(ROWS)],
    "lists": [[1]] * ROWS,
    "species": LABELS,
}
NAMES = (
    "the file must have a column 'Spezies' (did you mean 'species'?); it has "
    "a, user, ratio, long, lists, species",
    "the file must have a column 'usr' (did you mean 'user'?)",
)
TEXTS = "a column of texts may have at most 1024 different ones; user has 1100: add --drop user"
INFINITE = (
    "numbers must be finite, at most 1.8e+308; ratio has an infinite or a larger one: add --drop "
    "ratio, or in a text file --missing with its text, as in --missing inf"
)
LONG = (
    "different values must differ as 64-bit floats; long has 1152921504606846976 and "
    "1152921504606846977: add --drop long, or in a text file --text long to read categories"
)
LISTS = (
    "a column must hold numbers, texts, booleans, dates or times; lists has List(Int64): "
    "add --drop lists"
)
WRONG = ("--target", "Spezies", "--drop", "usr")


@pytest.fixture
def complain(monkeypatch, capsys, tmp_path):
    """The complaints of a command, one line each."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["mictree", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        lines = [line for line in capsys.readouterr().err.splitlines() if "compiling" not in line]
        assert all(line.startswith("mictree: ") for line in lines)
        return [line.removeprefix("mictree: ") for line in lines]

    return run


@pytest.fixture
def parquet(tmp_path):
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "a.parquet")


@pytest.mark.usefixtures("parquet")
class TestOfColumnsWithTypes:
    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_names_come_first_and_columns_follow(self, complain, command):
        found = complain(command, "a.parquet", *WRONG)
        assert found == [*NAMES, TEXTS, INFINITE, LONG, LISTS]

    def test_columns_alone(self, complain):
        found = complain("fit", "a.parquet", "--target", "species", "--size", "1")
        assert found == ["Parquet: 1,100 rows, 6 columns", TEXTS, INFINITE, LONG, LISTS]

    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_columns_that_only_the_fit_refuses(self, complain, command):
        words = ("--target", "species", "--drop", "user", "--drop", "ratio", "--keep", "a")
        assert complain(command, "a.parquet", *words, "--keep", "long")[1:] == [LONG, LISTS]

    def test_the_labels_and_a_column(self, complain):
        found = complain("fit", "a.parquet", "--target", "lists", "--drop", "long")
        label = "labels must be numbers, texts or booleans; lists has List(Int64)"
        assert found[1:] == [label, TEXTS, INFINITE]

    def test_every_name_of_an_option(self, complain):
        words = (
            "--target",
            "x1",
            "--drop",
            "x2",
            "--keep",
            "x3",
            "--groups",
            "x4",
            "--weights",
            "x5",
        )
        found = complain("data", "a.parquet", *words)
        names = [line.split("'")[1] for line in found if "must have a column" in line]
        assert names == ["x1", "x2", "x3", "x4", "x5"]
        assert found[0].count("a, user, ratio") == 1
        assert not any("it has" in line for line in found[1:])

    def test_options_of_text_files(self, complain):
        found = complain("fit", "a.parquet", "--target", "x1", "--text", "a", "--drop", "ratio")
        assert found[0].startswith("the file must have a column 'x1'")
        assert found[1].startswith("--text must not be given with a Parquet or Feather file")
        assert found[2:] == [TEXTS, LONG, LISTS]


def test_streamed_files(complain, tmp_path):
    (tmp_path / "parts").mkdir()
    frame = pl.DataFrame(COLUMNS).with_columns(more=pl.col("lists"))
    frame.write_parquet(tmp_path / "parts" / "a.parquet")
    found = complain("fit", "parts", *WRONG)
    assert [line.split(";")[0] for line in found[:2]] == [
        "every file must have a column 'Spezies' (did you mean 'species'?)",
        "every file must have a column 'usr' (did you mean 'user'?)",
    ]
    assert found[2:] == [LISTS, LISTS.replace("lists", "more")]
    words = ("--target", "species", "--drop", "lists", "--drop", "more", "--keep", "a")
    words += ("--held-out", 0, "--size", 1)  # so that all rows are read
    values = complain("fit", "parts", *words, "--keep", "user", "--keep", "long")
    assert [line.partition(": add --drop ")[2] for line in values] == ["user", "ratio", "long"]


class TestOfTexts:
    TEXT = "a,b,c,d,y\n" + "".join(
        f"{'x' if row == 3 else row},{'?!' if row == 4 else row},"
        f"{'2024-01-01' if row else 'never'},u{row},{row % 2}\n"
        for row in range(ROWS)
    )

    def test_cells_names_and_columns(self, complain, tmp_path):
        (tmp_path / "a.csv").write_text(self.TEXT)
        found = complain("fit", "a.csv", "--target", "z", "--text", "w", "--number", "v")
        rules = [line.split(";")[0] for line in found]
        assert rules == [
            "the file must have a column 'z'",
            "the file must have a column 'w'",
            "the file must have a column 'v'",
            "a column must hold numbers or texts, not both",
            "a column must hold numbers or texts, not both",
            "a column must hold dates of one form",
            "a column of texts may have at most 1024 different ones",
        ]
        right = ("--target", "y", "--text", "c", "--drop", "d", "--missing", "x", "--missing", "?!")
        assert complain("fit", "a.csv", *right, "--save", "no/m.json")[0].startswith("--save must")

    @pytest.mark.parametrize("cell", ["1", '5" pipe'])
    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_names_and_a_row_that_is_too_long(self, complain, tmp_path, command, cell):
        (tmp_path / "a.csv").write_text(f"a,b,y\n1,2,0\n{cell},2,1,7\n1,3,0\n")
        found = complain(command, "a.csv", "--target", "z", "--drop", "c")
        assert [line.split(";")[0] for line in found] == [
            "the file must have a column 'z'",
            "the file must have a column 'c'",
            "every row must have at most 3 cells, as the first line has",
        ]
        assert "it has a, b, y" in found[0]
        assert len(complain(command, "a.csv", "--target", "y")) == 1

    def test_a_line_above_the_table_is_one_complaint(self, complain, tmp_path):
        (tmp_path / "a.csv").write_text("Report\na,y\n1,0\n2,1\n")
        (found,) = complain("fit", "a.csv", "--target", "y")
        assert "Does the file begin with a line above its table?" in found

    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_labels_of_class_weights(self, complain, tmp_path, command):
        text = "a,b,y\n" + "".join(f"{n},u{n},{'yes' if n % 2 else 'no'}\n" for n in range(ROWS))
        (tmp_path / "a.csv").write_text(text)
        words = (command, "a.csv", "--target", "y", "--class-weight", "maybe=2")
        classes = "--class-weight must name classes; 'maybe' is none of 'no', 'yes'"
        texts = "a column of texts may have at most 1024 different ones; b has 1100: add --drop b"
        assert complain(*words)[1:] == [classes, texts]
        assert classes in complain(*words, "--drop", "c")
        assert classes not in complain(command, "a.csv", "--target", "z", *words[4:])

    def test_groups_and_weights(self, complain, tmp_path):
        text = "a,g,w,y\n" + "".join(f"{n % 3},{n if n else ''},w{n},{n % 2}\n" for n in range(40))
        (tmp_path / "a.csv").write_text(text)
        words = ("data", "a.csv", "--target", "y", "--groups", "g", "--weights", "w")
        assert complain(*words)[1:] == [
            "groups and weights must be known in every row; g is missing in 1",
            "--weights must be numbers; w has 'w0'",
        ]

    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_parts_and_after(self, complain, tmp_path, command):
        text = "a,when,n,y\n" + "".join(f"u{n},Jan-{n % 9:02},{n},{n % 2}\n" for n in range(ROWS))
        (tmp_path / "a.csv").write_text(text)
        words = ("--target", "y", "--drop", "z", "--parts", "n", "--parts", "w", "--after", "when")
        assert [line.split(";")[0] for line in complain(command, "a.csv", *words)] == [
            "the file must have a column 'z'",
            "the file must have a column 'w'",
            "a column of texts may have at most 1024 different ones",
            "--parts must name a column of dates",
            "--after must name a column of dates or numbers",
        ]

    def test_groups_may_be_many_texts(self, tmp_path, monkeypatch, capsys):
        """Trees do not use them."""
        text = "a,g,y\n" + "".join(f"{n % 3},patient {n},{n % 2}\n" for n in range(ROWS))
        (tmp_path / "a.csv").write_text(text)
        words = ["data", str(tmp_path / "a.csv"), "--target", "y", "--groups", "g"]
        monkeypatch.setattr(
            sys, "argv", ["mictree", *words, "--max-size", "1", "--cv", "2", "--repeats", "1"]
        )
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0, capsys.readouterr().err

    def test_commas_that_may_mean_two_things_come_once(self, complain, tmp_path):
        text = 'a,b,c,y\n"1,234","5,678",x1,0\n"1,235","5,679",2,1\n3,4,3,0\n4,5,4,1\n'
        (tmp_path / "a.csv").write_text(text)
        found = complain("fit", "a.csv", "--target", "z")
        assert [line.split(";")[0] for line in found] == [
            "the file must have a column 'z'",
            "a column must hold numbers or texts, not both",
            "commas in numbers must have one meaning",
        ]

    def test_predict_names_missing_columns_and_bad_cells(self, complain, tmp_path):
        X = pl.DataFrame({"a": [0, 1, 2, 3] * 5, "b": [0, 0, 0, 0, 1, 1, 1, 1] * 2 + [0] * 4})
        y = [int(a > 1 and b > 0) for a, b in X.rows()]
        mt.TopDownClassifier().fit(X, y).save(tmp_path / "m.json")
        (tmp_path / "b.csv").write_text("A,b\n1,1\n2,0\n2,1\n3,x\n")
        found = complain("predict", "m.json", "b.csv")
        assert [line.split(";")[0] for line in found] == [
            "the file must have a column 'a' (did you mean 'A'?)",
            "a column must hold numbers or texts, not both",
        ]


def test_a_lone_complaint_is_one_line(complain, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    assert complain("fit", "a.csv", "--target", "z") == [
        "the file must have a column 'z'; it has a, y"
    ]


class TestInPython:
    def test_streamed_files_complain_about_all_columns(self, tmp_path):
        pl.DataFrame(COLUMNS).drop("lists").write_parquet(tmp_path / "a.parquet")
        with pytest.raises(Complaints, match=r"user has more.*; also: .*ratio does") as raised:
            mt.SampleProblem.from_parquet(tmp_path, "species")
        assert [each.column for each in raised.value.args] == ["user", "ratio", "long"]
        with pytest.raises(ColumnError):
            mt.SampleProblem.from_parquet(tmp_path, "species", columns=["a", "ratio"])
