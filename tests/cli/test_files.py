"""Files as people have them: many ways to write one table give one tree, and errors that help."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import zipfile
from datetime import date
from xml.sax.saxutils import escape

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree.cli import app
from mictree.columns.cells import Reading, read_cells
from mictree.columns.text_tables import find_separator, read_file

pyarrow = pytest.importorskip("pyarrow")

HEADER = ("Größe", "color", "smoker", "visits", "rich")
ROWS = [
    (
        None if number % 13 == 5 else 150 + number * 7 % 60 + 0.5,
        ("rød", "blau", None)[number % 3],
        number % 4 == 1,
        number * 37 % 5,
        ("yes" if number * 7 % 60 > 25 and number % 3 else "no") if number % 29 else "maybe",
    )
    for number in range(120)
]
FRAME = pl.DataFrame(ROWS, schema=list(HEADER), orient="row")


def show(cell, missing="", decimal=".", boolean=str):
    if cell is None:
        return missing
    if isinstance(cell, bool):
        return boolean(cell)
    return str(cell).replace(".", decimal) if isinstance(cell, float) else str(cell)


def written(separator=",", quote="", end="\n", **options):
    """The table as a text."""
    lines = [HEADER, *(tuple(show(cell, **options) for cell in row) for row in ROWS)]
    return "".join(separator.join(f"{quote}{cell}{quote}" for cell in line) + end for line in lines)


def missing_in_numbers(spelling):
    """The table with a spelling of missing that counts in columns of numbers only."""
    lines = [HEADER, *((show(row[0], spelling), *map(show, row[1:])) for row in ROWS)]
    return "".join(",".join(line) + "\n" for line in lines)


def binary(write, **options):
    out = io.BytesIO()
    write(FRAME, out, **options)
    return out.getvalue()


def zst(text):
    return pyarrow.compress(text.encode(), codec="zstd", asbytes=True)


def xlsx(rows=(HEADER, *ROWS)):
    """A workbook with one sheet, by hand: no library that writes them is needed."""
    names = {int: "n", float: "n", str: "inlineStr", bool: "b"}

    def cell(value):
        if value is None:
            return "<c/>"
        kind = names[type(value)]
        if kind == "inlineStr":
            return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f'<c t="{kind}"><v>{value if kind == "n" else int(value)}</v></c>'

    rows = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'  # noqa: E501
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="people" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return out.getvalue()


def upper(value):
    return str(value).upper()


def lower(value):
    return str(value).lower()


SPELLINGS = ["N/A", "n/a", "NA", "NULL", "null", "#N/A", "nan", "NaN", "?", " ", " NA "]
IN_NUMBERS = ["None", "none", "-", "."]
BLANKS = written().replace("\n", "\n\n") + "\n\n"
VARIANTS = {
    "plain.csv": written(),
    "semicolons.csv": written(";"),
    "tabs.tsv": written("\t"),
    "tabs.csv": written("\t"),
    "pipes.txt": written("|"),
    "tabs.txt": written("\t"),
    "quoted.csv": written(quote='"'),
    "quoted-semicolons.csv": written(";", quote='"'),
    "windows-lines.csv": written(end="\r\n"),
    "old-mac-lines.csv": written(end="\r"),
    "no-last-line-end.csv": written().rstrip("\n"),
    "blank-lines.csv": BLANKS,
    "trailing-separators.csv": written(end=",\n"),
    "trailing-semicolons.csv": written(";", end=";\r\n"),
    "decimal-commas.csv": written(";", decimal=","),
    "decimal-commas.tsv": written("\t", decimal=","),
    "quoted-decimal-commas.csv": written(quote='"', decimal=","),
    "upper-booleans.csv": written(boolean=upper),
    "lower-booleans.csv": written(boolean=lower),
    "excel-hint.csv": "sep=;\r\n" + written(";", end="\r\n"),
    "mark.csv": written().encode("utf-8-sig"),
    "mark-semicolons.csv": written(";").encode("utf-8-sig"),
    "latin.csv": written().encode("latin-1"),
    "windows.csv": written(";", decimal=",", end="\r\n").encode("cp1252"),
    "utf16.csv": written().encode("utf-16"),
    "utf16-little.csv": written("\t").encode("utf-16-le"),
    "utf16-big.csv": b"\xfe\xff" + written("\t").encode("utf-16-be"),
    "utf16-big-without-mark.csv": written().encode("utf-16-be"),
    "packed.csv.gz": gzip.compress(written().encode()),
    "packed-latin.csv.gz": gzip.compress(written(";", decimal=",").encode("latin-1")),
    "packed-utf16.gz": gzip.compress(written("\t").encode("utf-16")),
    "packed.csv.zst": zst(written()),
    "packed.tsv.zst": zst(written("\t")),
    "binary.parquet": binary(pl.DataFrame.write_parquet),
    "binary.feather": binary(pl.DataFrame.write_ipc),
    "packed.feather": binary(pl.DataFrame.write_ipc, compression="zstd"),
    "binary.arrow": binary(pl.DataFrame.write_ipc),
    "binary.parquet.gz": gzip.compress(binary(pl.DataFrame.write_parquet)),
    "UPPER.CSV": written(),
    **{f"missing-{number}.csv": written(missing=text) for number, text in enumerate(SPELLINGS)},
    **{
        f"missing-number-{number}.csv": missing_in_numbers(text)
        for number, text in enumerate(IN_NUMBERS)
    },
}


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, ["fit", *map(str, arguments)], input=stdin)


def answer(file, *options, stdin=None):
    result = run(file, "--target", "rich", "--size", 4, "--json", *options, stdin=stdin)
    assert result.exit_code == 0, (result.output, result.exception)
    found = json.loads(result.stdout)
    del found["file"]
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    file = tmp_path_factory.mktemp("table") / "people.parquet"
    FRAME.write_parquet(file)
    found = answer(file)
    assert "Größe > " in str(found["tree"]["variables"])
    assert found["size"] > 1
    return found


def save(folder, name, content):
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_there_are_enough_variants():
    assert len(VARIANTS) >= 40


@pytest.mark.parametrize("name", VARIANTS)
def test_one_table_gives_one_tree(name, tmp_path, expected):
    assert answer(save(tmp_path, name, VARIANTS[name])) == expected


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("size, net, in cm;rich\n1;0\n2;1\n", ";"),  # the header has more commas
        ("a;b;c\n1,5;2,5;3,5\n2,5;3,5;4,5\n", ";"),
        ("a,b\n1,x;y;z\n2,u\n", ","),
        ("a;b,c,d\n1;2,3,4\n5;6,7,8\n", ","),  # both fit all lines: the one of more cells
    ],
)
def test_the_separator_that_fits_most_lines(text, separator):
    assert find_separator(text) == separator


@pytest.mark.parametrize("name", ["plain.csv", "windows.csv", "packed.csv.gz", "binary.parquet"])
def test_standard_input(name, expected):
    content = VARIANTS[name]
    raw = content.encode() if isinstance(content, str) else content
    assert answer("-", stdin=raw) == expected


def sheet(rows, has_header, read_options=None):
    """The frame that polars reads from a sheet by fastexcel, which has names of its own."""
    names = [f"column_{place}" for place in range(len(rows[0]))]
    header = [None if cell is None else str(cell) for cell in rows[0]]
    if read_options is not None:
        rows = [header]
    elif has_header:
        rows = rows[1:]
        for place, name in enumerate(header):
            twice = f"_{place}" if name in header[:place] else ""
            names[place] = f"__UNNAMED__{place}" if name is None else f"{name}{twice}"
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


@pytest.fixture(params=["fastexcel", "twin"])
def excel(request, tmp_path, monkeypatch):
    """Saves rows as an Excel file; a twin reads them where fastexcel is not installed."""
    if request.param == "fastexcel":
        pytest.importorskip("fastexcel")

    def write(rows):
        def read(source, drop_empty_cols, **options):
            return sheet(rows, **options)

        if request.param == "twin":
            monkeypatch.setattr(pl, "read_excel", read)
        return save(tmp_path, "people.xlsx", xlsx(rows))

    return write


def test_an_excel_file(excel, expected):
    assert answer(excel([HEADER, *ROWS])) == expected


def test_an_excel_file_without_a_header(excel, tmp_path):
    rows = [row for row in ROWS if None not in row and "maybe" not in row]
    lines = "".join(",".join(map(show, row)) + "\n" for row in rows)
    files, model = (excel(rows), save(tmp_path, "people.csv", lines)), tmp_path / "model.json"
    options = ["--target", "column_5", "--no-header"]
    for command in (
        ["data", "FILE", "--max-size", 2, *options],
        ["fit", "FILE", "--size", 4, *options, "--save", model],
        ["predict", model, "FILE", "--no-header"],
    ):
        words = [[str(file if word == "FILE" else word) for word in command] for file in files]
        sheet, text = (CliRunner().invoke(app, each) for each in words)
        assert sheet.exit_code == 0, sheet.exception
        assert sheet.stdout == text.stdout


def test_names_in_an_excel_file(excel):
    rows = [(number, number % 3, None, number % 2, str(number % 2)) for number in range(40)]
    result = run(excel([("a", "a", None, "b", "y"), *rows]), "--target", "y")
    assert str(result.exception) == "columns must have different names; 'a' occurs twice"
    result = run(excel([("a", " b ", None, None, "y"), *rows]), "--target", "z")
    assert str(result.exception) == "the file must have a column 'z'; it has a, b, column_3, y"
    result = run(excel(rows), "--target", "column_5")
    assert "the first line (0, 0, 0, ...) looks like a row of data" in str(result.exception)
    assert "--no-header reads it as a row" in str(result.exception)


def test_an_excel_file_without_its_reader(tmp_path, monkeypatch):
    def absent(source, **options):
        raise ModuleNotFoundError("fastexcel")

    monkeypatch.setattr(pl, "read_excel", absent)
    result = run(save(tmp_path, "people.xlsx", xlsx()), "--target", "rich")
    assert "pip install 'mictree[excel]'" in str(result.exception)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("pipes.txt", ["--separator", "|"]),
        ("pipes.txt", ["--separator", "pipe"]),
        ("tabs.txt", ["--separator", "tab"]),
        ("tabs.txt", ["--separator", r"\t"]),
        ("latin.csv", ["--encoding", "latin-1"]),
        ("windows.csv", ["--encoding", "cp1252", "--decimal", ",", "--separator", ";"]),
        ("mark.csv", ["--encoding", "utf-8"]),
    ],
)
def test_options_that_say_what_would_be_found(name, options, tmp_path, expected):
    assert answer(save(tmp_path, name, VARIANTS[name]), *options) == expected


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plain.csv", "mictree: UTF-8, separator comma: 120 rows, 5 columns\n"),
        ("windows.csv", "mictree: Windows-1252, separator semicolon, decimal commas: 120 rows"),
        ("utf16-big.csv", "mictree: UTF-16, separator tab: 120 rows"),
        ("binary.parquet", "mictree: Parquet: 120 rows"),
    ],
)
def test_one_line_says_how_the_file_was_read(name, said, tmp_path):
    result = run(save(tmp_path, name, VARIANTS[name]), "--target", "rich", "--size", 1)
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_more_spellings_of_missing(tmp_path, expected):
    text = written().replace("\n,", "\nunknown,")
    file = save(tmp_path, "people.csv", text)
    assert answer(file, "--missing", "unknown") == expected
    error = str(run(file, "--target", "rich").exception)
    assert "Größe has 111 numbers and 9 texts: 'unknown'" in error
    assert "--missing unknown" in error
    assert "--text 'Größe'" in error
    assert "--drop 'Größe'" in error


def test_empty_lines_are_no_rows_but_lines_of_separators_are(tmp_path):
    text = '\n\na,b\n\n1,x\n,\n\n\n2,"y\n\nz"\n\n'
    frame = read_file(save(tmp_path, "a.csv", text)).frame
    assert frame.rows() == [(1, "x"), (None, None), (2, "y\n\nz")]


TABLE = "a,b,y\n" + "".join(f"{n},{n % 3},{n % 2}\n" for n in range(20))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2", "2.5"], pl.Float64),
        (["1", "2", "-3"], pl.Int64),
        (["1", "9999999999999999999999"], pl.Float64),
        (["1e3", ".5", "5."], pl.Float64),
        (["none", "-", "A1", "1"], pl.String),  # a minority of numbers
        (["true", "FALSE", "NA"], pl.Boolean),
        (["", "NA", "-"], pl.String),
        (["2020-01-01", "x"], pl.String),
        (["01234", "90210", ""], pl.String),  # codes
        (["00", "1"], pl.String),
        (["0", "0.5", "-0"], pl.Float64),
        (["007.5", "012"], pl.Float64),  # a quantity
        (["-05", "03"], pl.Int64),
        (["0", "1", "10"], pl.Int64),
        (["1.234.567", "192.168.100.101"], pl.String),  # nothing says that these are numbers
    ],
)
def test_types_of_columns(cells, kind):
    frame, note = read_cells(pl.DataFrame({"a": cells}), Reading(), {})
    assert frame.schema["a"] == kind
    assert note == ""


@pytest.mark.parametrize(
    ("cells", "decimal", "numbers"),
    [
        (["1,5", "2,25", "3"], None, [1.5, 2.25, 3]),
        (["1.234,5", "1.234", "7"], None, [1234.5, 1234, 7]),
        (["1,234.5", "12"], None, [1234.5, 12]),
        (["1,234", "12,5"], None, [1.234, 12.5]),
        (["1.234.567,5", "1.234.567", "647.676"], None, [1234567.5, 1234567, 647676]),
        (["1,234", "1.234.567"], None, [1.234, 1234567]),
        (["1.234.567", "647.676", "3"], ",", [1234567, 647676, 3]),
        (["647.676", "1.234"], ",", [647676, 1234]),
        (["1,234,567", "2"], None, [1234567, 2]),
        (["0,125", "2"], None, [0.125, 2]),
        (["1,234", "2"], ",", [1.234, 2]),
        (["1,234", "2"], ".", [1234, 2]),
    ],
)
def test_commas_in_numbers(cells, decimal, numbers):
    frame, note = read_cells(pl.DataFrame({"a": cells}), Reading(decimal=decimal), {})
    assert frame["a"].to_list() == numbers
    assert note in ("decimal commas", "commas between thousands")


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["10.05.2024", "1.6.2024", "NA"], [date(2024, 5, 10), date(2024, 6, 1), None]),
        (["10.05.2024", "05.13.2024"], [date(2024, 10, 5), date(2024, 5, 13)]),
        (["10/05/2024", "13/05/2024"], [date(2024, 5, 10), date(2024, 5, 13)]),
        (["10/05/2024", "05/13/2024"], [date(2024, 10, 5), date(2024, 5, 13)]),
        (["05/05/2024", ""], [date(2024, 5, 5), None]),  # the same either way
        (["13/13/2024"], None),  # no day
    ],
)
def test_dates_with_the_day_or_the_month_first(cells, dates):
    frame, _ = read_cells(pl.DataFrame({"a": cells}), Reading(), {})
    texts = [None if cell == "NA" else cell for cell in cells]
    assert frame["a"].to_list() == (texts if dates is None else dates)


def test_one_clear_column_settles_the_others():
    frame, _ = read_cells(pl.DataFrame({"a": ["1,234", "2"], "b": ["1,5", "2"]}), Reading(), {})
    assert frame["a"].to_list() == [1.234, 2]


@pytest.mark.parametrize(
    ("cells", "options", "rule"),
    [
        (["1,234", "2"], [], "a has '1,234': add --decimal , if it begins the decimals"),
        (["1,5", "2.5"], [], "commas in numbers must have one meaning"),
        (["1,5", "2"], ["--decimal", "."], "decimal point; a has '1,5'"),
        (["1,5", "2"], ["--decimal", "x"], "--decimal must be , or ."),
        (["1", "2", "3", "x", "y"], [], "a has 3 numbers and 2 texts: 'x', 'y'"),
        (["1"] * 9 + list("uvwxyz"), [], "and 1 more"),
        (
            ["10.05.2024", "31.02.2024", "1.6.2024", "soon"],
            [],
            "dates of one form; a has 2 dates such as '10.05.2024' and 2 other texts: "
            "'31.02.2024', 'soon'",
        ),
        (
            ["2024-05-10", "2024-06-10", "1.6.2024"],
            [],
            "a has 2 dates such as '2024-05-10' and 1 other text: '1.6.2024'. Correct them, or add "
            "--missing 1.6.2024 to read them as missing, --text a",
        ),
        (
            ["2024-05-10 10:00", "2024-05-10T11:00", "soon"],
            [],
            "2 dates such as '2024-05-10 10:00'",
        ),
        (["2024-05-10 10:00:01", "2024-05-10 11:00:02.5", "?!"], [], "2 dates such as"),
        (["05/13/2024", "05/14/2024", "soon"], [], "a has 2 dates such as '05/13/2024'"),
        (
            ["10000000000000000000000000", "10000000000000000000000001", "1"],
            [],
            "a has 10000000000000000000000000 and 10000000000000000000000001: add --text a",
        ),
    ],
)
def test_columns_that_are_unclear(cells, options, rule, tmp_path):
    lines = [f"{cell};{number % 2}" for number, cell in enumerate(cells)]
    file = save(tmp_path, "a.csv", "a;y\n" + "\n".join(lines))
    assert rule in str(run(file, "--target", "y", *options).exception)


@pytest.mark.parametrize("cells", [["1", "2", "x"], ["2024-05-10", "2024-06-10", "soon"]])
def test_labels_that_are_unclear_cannot_be_dropped(cells, tmp_path):
    lines = [f"{cells[n % 3]},{n}\n" for n in range(30)]
    file = save(tmp_path, "a.csv", "y,a\n" + "".join(lines))
    said = str(run(file, "--target", "y").exception)
    assert "to read them as missing, or --text y to read all as categories" in said
    assert "--drop" not in said
    assert "--drop y" in str(run(file, "--target", "a").exception)


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "2", "3", "x"],
        ["13/04/2024", "4.5.2024"] * 2 + ["14/04/2024"],
        ["2024-05-10", "2024-06-10", "soon"],
    ],
)
def test_a_column_that_is_dropped_may_hold_anything(cells, tmp_path):
    """The errors about its cells name --drop, so --drop must help."""
    lines = [f"{cells[n % len(cells)]},{n % 3},{n % 3 > 1}\n" for n in range(40)]
    file = save(tmp_path, "a.csv", "a,b,y\n" + "".join(lines))
    assert isinstance(run(file, "--target", "y").exception, ValueError)
    result = run(file, "--target", "y", "--drop", "a")
    assert result.exit_code == 0, result.exception
    assert "b > 1.5?" in result.stdout


def test_long_whole_numbers_that_differ_as_floats_are_numbers():
    cells = ["10000000000000000000000000", "20000000000000000000000000", "1.5", "1.50"]
    frame, _ = read_cells(pl.DataFrame({"a": cells}), Reading(), {})
    assert frame["a"].to_list() == [1e25, 2e25, 1.5, 1.5]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            "1,2,yes\n3,4\n5\n",
            "2 rows with fewer cells than the header (the first is row 2, '3,4')",
        ),
        (
            '"1,5",2,yes\n3,4\n',
            "1 row with fewer cells than the header (the first is row 2, '3,4')",
        ),
        ('"1,5",2,yes\n"3\n,",4,no', ""),
        ("1,2,yes\n3,4,no", ""),
        ("1,2,yes\r\n3,4,no\r\n", ""),
    ],
)
def test_rows_with_too_few_cells_are_counted(rows, said, tmp_path):
    found = read_file(save(tmp_path, "a.csv", "a,b,y\n" + rows), reading=Reading(texts=("a",)))
    assert found.description == ", ".join(filter(None, ["UTF-8, separator comma", said]))
    assert found.frame["y"][0] == "yes"


def test_texts_on_request(tmp_path):
    file = save(tmp_path, "a.csv", "a;y\n" + "1;0\nx;1\n2;1\n" * 8)
    result = run(file, "--target", "y", "--text", "a")
    assert result.exit_code == 0, result.exception
    assert "a is 1?" in result.stdout


def test_rows_without_a_label_are_left_out_and_counted(tmp_path):
    file = save(tmp_path, "a.csv", TABLE + "21,1,\n22,1,NA\n")
    result = run(file, "--target", "y", "--keep", "a")
    assert result.exit_code == 0, result.exception
    assert "mictree: left out 2 rows without a label: y is missing\n" in result.stderr
    assert "15 rows to grow on, 5 held out" in result.stdout
    file = save(tmp_path, "b.csv", "a,y\n1,\n2,NA\n")
    assert "y is missing in all rows" in str(run(file, "--target", "y").exception)


def cycled(*rows):
    """A table of two columns that repeats some rows."""
    return "a;y\n" + "".join(f"{row}\n" for row in rows * 7 + rows[:1])


def hidden(cell):
    """A table whose column a has such cells."""
    return "a;y\n" + "".join(f"{cell.format(n=n % 7)};{n % 2}\n" for n in range(20))


FROM_ONE = range(1, 21)
WARNINGS = {
    "identifier": ("id,b,y\n" + "".join(f"n{n},{n % 3},{n % 2}\n" for n in range(20)), "id",
                   "column id is different in every row, as an identifier is; --drop id"),
    "whole identifier": ("a,b,y\n" + "".join(f"{n * 7},{n % 3},{n % 2}\n" for n in range(20)), "a",
                         "column a is different in every row"),
    "index": (TABLE, "a", "column a numbers the rows, as an index does; --drop a leaves it out"),
    "long identifier": ("id,b,y\n" + "".join(f"{n}{10**20},{n % 3},{n % 2}\n" for n in FROM_ONE),
                        "id", "column id is different in every row"),
    "copy": (TABLE.replace("a,b", "' a,b", 1).replace("0\n", "0\n"), "' a",
             "column \"' a\" numbers the rows"),
    "given away": ("a,b,y\n" + "".join(f"{n % 5}.5,{'NY'[n % 2]},{n % 2}\n" for n in range(20)),
                   "b", "column b gives the target away: it has one value for each label"),
    "unique target": ("a,y\n" + "".join(f"{n % 7},n{n}\n" for n in range(20)), "y",
                      "the target y is different in every row"),
    "percent": (hidden("{n}%"), "a",
                "column a has numbers with marks, such as '0%', and is read as categories"),
    "money": (hidden("$ {n}.50"), "a", "column a has numbers with marks, such as '$ 0.50'"),
    "unit": (hidden("{n},5 kg"), "a", "column a has numbers with marks, such as '0,5 kg'"),
    "thousands": (hidden("7 {n}00 000"), "a",
                  "column a has numbers with marks, such as '7 000 000'"),
    "times": (hidden("{n}:30"), "a", "column a has times of day, such as '0:30'"),
    "spellings": (cycled("dark red;0", "Dark  red ;1", "blue;1"), "a",
                  "column a has texts that differ only in case or spaces: 'dark red' and 'Dark  r"),
    "two labels": (cycled("1;yes", "2;no", "2;Yes"), "y",
                   "the target y has texts that differ only in case or spaces: 'yes' and 'Yes'"),
}  # fmt: skip


@pytest.mark.parametrize("what", WARNINGS)
def test_a_warning_names_the_option_that_acts(what, tmp_path):
    text, column, warning = WARNINGS[what]
    file = save(tmp_path, "a.csv", text)
    said = run(file, "--target", "y").stderr
    assert f"mictree: warning: {warning}" in said
    assert "--keep" in said
    assert len(said.splitlines()) == 2
    assert "warning" not in run(file, "--target", "y", "--keep", column).stderr
    if column != "y":
        assert "warning" not in run(file, "--target", "y", "--drop", column).stderr


@pytest.mark.parametrize(
    "cells",
    [
        ["36 months", "60 months"],  # two categories are as good as a threshold
        ["A1", "A2", "A3"],
        ["1st", "2nd", "3rd", "4th"],
        ["10-19", "20-29", "30-39"],
        ["1.2.3", "1.2.4", "2.0.0"],
        ["red", "blue", "dark red"],
    ],
)
def test_categories_with_digits_are_no_hidden_numbers(cells, tmp_path):
    lines = "".join(f"{cells[n % len(cells)]};{n % 7 % 2}\n" for n in range(40))
    assert "warning" not in run(save(tmp_path, "a.csv", f"a;y\n{lines}"), "--target", "y").stderr


def test_the_clean_table_has_no_warning(tmp_path):
    assert "warning" not in run(save(tmp_path, "a.csv", written()), "--target", "rich").stderr


def test_names_are_shown_exactly_and_completely(tmp_path):
    names = ["Age ", "color", *(f"c{number}" for number in range(29)), "a, b", "", "y"]
    cells = ",".join("1" * len(names))
    file = save(tmp_path, "a.csv", ",".join(names).replace("a, b", '"a, b"') + f"\n{cells}\n")
    error = str(run(file, "--target", "age").exception)
    assert "must have a column 'age' (did you mean 'Age'?); it has Age, color" in error
    assert "--separator" not in error
    assert "it has Age, color, c0, c1" in error
    assert "c28, 'a, b', column_33, y" in error
    assert "did you mean 'color'" in str(run(file, "--target", "y", "--drop", "colour").exception)
    assert "did you mean" not in str(run(file, "--target", "zzzzzz").exception)
    assert "column 'nothing'" in str(run(file, "--target", "y", "--keep", "nothing").exception)
    assert "column 'nothing'" in str(run(file, "--target", "y", "--text", "nothing").exception)


def test_a_file_of_one_column_may_have_another_separator(tmp_path):
    error = str(run(save(tmp_path, "a.csv", "a:y\n1:2\n3:4\n"), "--target", "y").exception)
    assert error.endswith("it has a:y; --separator names the mark between columns")


@pytest.mark.parametrize(
    ("name", "content", "options", "rule"),
    [
        ("a.csv", "", [], "the file must have a header; it is empty"),
        ("a.csv", "a,y\n1,2\n1,2,3\n", [], "at most 2 cells, as the first line has; row 2 has 3"),
        ("a.csv", f"Made in 2024\n\n{TABLE}", [], "row 1 has 3: 'a,b,y'. Does the file begin with"),
        ("a.csv", 'a,y\n"1,2\n3,4\n', [], "must end with one, before the next separator; the one "),
        ("a.csv", 'a,y\n"1"2,3\n4,5\n', [], "the one open at line 2 does not"),
        ("a.csv", "a,y,y\n1,2,3\n", [], "'y' occurs twice"),
        ("a.csv", "a,y\n", [], "a row beside its header; it has none; --no-header says"),
        ("a.gz", b"\x1f\x8b\x08\x00damaged", [], "the compressed file is damaged"),
        ("a.zst", b"\x28\xb5\x2f\xfddamaged", [], "a .zst file must hold UTF-8 text"),
        ("a.feather", b"FEA1" * 9, [], "does not begin as a .feather file does"),
        ("a.parquet", b"PAR1" * 9, [], "cannot be read"),
        ("a.json", "{}", [], "FILE must be - or end in .csv"),
        ("a.csv", b"\xff\xfea", [], "begins as utf-16 but is not"),
        ("a.csv", TABLE, ["--encoding", "klingon"], "--encoding must be one that Python knows"),
        ("a.csv", "ü,y\n1,2\n", ["--encoding", "ascii"], "not in the encoding ascii"),
        ("a.csv", TABLE, ["--separator", "commas"], "--separator must be one character or one of"),
        ("a.csv", TABLE, ["--separator", '"'], "--separator must be one character"),
    ],
)
def test_files_that_cannot_be_read(name, content, options, rule, tmp_path):
    result = run(save(tmp_path, name, content), "--target", "y", *options)
    assert isinstance(result.exception, ValueError), result.exception
    assert rule in str(result.exception)


def test_too_many_categories_name_the_option(tmp_path):
    lines = "".join(f"n{number % 1100},{number % 2}\n" for number in range(1200))
    error = str(run(save(tmp_path, "a.csv", f"a,y\n{lines}"), "--target", "y").exception)
    assert "at most 1024 different ones; a has 1100: add --drop a" in error


PLAIN_TABLE = "a,b,y\n" + "".join(f"{n % 3},{n},{n % 2}\n" for n in range(12))
ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize(
    "content",
    [
        PLAIN_TABLE.encode("utf-32"),
        codecs.BOM_UTF32_BE + PLAIN_TABLE.encode("utf-32-be"),
        "".join(line + ENDS[n % 3] for n, line in enumerate(PLAIN_TABLE.splitlines())).encode(),
        PLAIN_TABLE.encode() + b"\x1a",  # as DOS ended files
        PLAIN_TABLE.encode() + bytes(100),
    ],
    ids=["UTF-32", "UTF-32-BE", "mixed line ends", "Ctrl-Z", "NULs"],
)
def test_more_ways_to_write_one_table(tmp_path, content):
    plain = read_file(save(tmp_path, "plain.csv", PLAIN_TABLE)).frame
    assert read_file(save(tmp_path, "a.csv", content)).frame.equals(plain)


def test_a_lone_cr_in_quotes_is_no_line_end(tmp_path):
    frame = read_file(save(tmp_path, "a.csv", 'a,y\n"p\rq",1\rr,2\n')).frame
    assert frame.rows() == [("p\rq", 1), ("r", 2)]


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (zipped(table=PLAIN_TABLE), "it is a zip archive of table: unpack it"),
        (b"PK\x03\x04 and no more", "begins as an Excel file but is damaged"),
        (bz2.compress(PLAIN_TABLE.encode()), "it is packed by bzip2: unpack it"),
        (lzma.compress(PLAIN_TABLE.encode()), "it is packed by xz: unpack it"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(50), "an old Excel file: save it as .xlsx"),
    ],
    ids=["zip", "damaged zip", "bzip2", "xz", "xls"],
)
def test_files_of_other_kinds_are_named(tmp_path, content, what):
    with pytest.raises(ValueError, match=what):
        read_file(save(tmp_path, "a.csv", content))


def test_a_text_that_begins_as_a_packed_file_is_a_text(tmp_path):
    frame = read_file(save(tmp_path, "a.csv", "BZh,y\n1,2\n")).frame
    assert frame.columns == ["BZh", "y"]


def test_long_texts_are_cut_in_errors(tmp_path):
    rows = "".join(f"{n},{n % 2}\n" for n in range(9))
    file = save(tmp_path, "a.csv", f"a,y\n{rows}{'x' * 10**5},0\n")
    error = str(run(file, "--target", "y").exception)
    assert error.endswith(
        f": '{'x' * 40}…'. Correct them, or add --text a to read all as categories, or --drop a"
    )


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("1,00,000", "12,34,567", "2,00,000"), "has numbers with marks, such as '1,00,000'"),
        (("1_000", "2_000", "30_000"), "has numbers with marks, such as '1_000'"),
        (("1", "(2)", "(4)"), "has numbers with marks, such as '(2)'"),
        (("2024-01", "2024-02", "2024-11"), "looks like dates, such as '2024-01'"),
        (("na", "x", "z"), "has the text 'na', and it is read as a category; in a text file"),
        (("x", " N.A. ", "z"), "--missing N.A. reads it as missing"),
    ],
)
def test_more_texts_that_may_mean_something_else(tmp_path, cells, said):
    rows = "".join(f"{cells[n % 3]};{n % 2}\n" for n in range(30))
    assert said in run(save(tmp_path, "a.csv", f"a;y\n{rows}"), "--target", "y").stderr
