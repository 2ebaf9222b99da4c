"""Tables in files as people have them: text in any usual encoding, Parquet, Feather, Excel.

The content decides how a file is read, not its ending: ``.gz`` and ``.zst`` are decompressed,
Parquet, Feather and Excel files open with marks of their own, and everything else is text; files
that hold no table are refused. Text without a byte order mark is UTF-8 if it can be, UTF-16 if half
of its bytes are zero, else Windows-1252, which contains Latin-1's letters.

A text is split into cells at the separator that gives most lines as many cells as the header. Rows
with more cells are refused, those with fewer are noted, and a quote inside a cell is part of it.
Names of columns must differ. If the first line looks like a row, a note says so. All cells are
texts at first; ``mictree.columns.cells`` turns them into numbers and dates.
"""

from __future__ import annotations

import csv
import gzip
import io
import logging
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mictree._support.words import count_of, shorten, show_name
from mictree.columns.cells import (
    ANY_DATE,
    IN_THOUSANDS,
    MISSING_NUMBERS,
    PLAIN,
    WITH_COMMA,
    Reading,
    Remark,
    find_orders,
    find_remarks,
    read_acceptable,
)

if TYPE_CHECKING:
    import polars


ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".feather", ".arrow", ".xlsx")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
SEPARATOR_NAMES = {name: separator for separator, name in SEPARATORS.items()}
BYTE_ORDER_MARKS = (  # each with the encoding that it announces and the name we print
    (b"\xef\xbb\xbf", "utf-8-sig", "UTF-8"),
    (b"\xff\xfe\0\0", "utf-32", "UTF-32"),
    (b"\0\0\xfe\xff", "utf-32", "UTF-32"),
    (b"\xff\xfe", "utf-16", "UTF-16"),
    (b"\xfe\xff", "utf-16", "UTF-16"),
)
LINES_TO_JUDGE = 200  # lines from which the separator is found
SIGNATURES = {
    ".parquet": b"PAR1",
    ".feather": b"ARROW1",
    ".arrow": b"ARROW1",
    ".xlsx": b"PK\x03\x04",
}
END_PADDING = "\0\x1a"  # at the end: of a file on a disk that stores whole blocks, and of DOS


@dataclass(frozen=True)
class TableFile:
    """A table that was read from a file.

    Attributes
    ----------
    frame : the columns; numbers, Booleans, dates and texts, null where missing
    description : how the file was read, in one line: ``"UTF-8, separator semicolon"``
    remarks : columns that could be read in another way, each with a line about it
    typed : whether the file itself says what its columns hold
    doubt : a clause on a first line that looks like a row, see ``doubt_header``
    orders : the order of day and month in columns of dates, see ``find_orders``
    cells : on request, the columns as the file has them: of a text file, texts
    refused : the columns that must not be used, still texts, each with the reason
    """

    frame: polars.DataFrame
    description: str
    remarks: tuple[Remark, ...] = ()
    typed: bool = False
    doubt: str = ""
    orders: Mapping[str, str] = field(default_factory=dict)
    cells: polars.DataFrame | None = None
    refused: Mapping[str, Exception] = field(default_factory=dict)


class Layout(NamedTuple):
    """How a text file is laid out; None is found out.

    separator : one character, or "comma", "semicolon", "tab", "pipe"
    encoding : any name that Python knows
    header : whether the first line holds the names of the columns
    """

    separator: str | None = None
    encoding: str | None = None
    header: bool = True


def read_file(
    file: Path,
    layout: Layout = Layout(),  # noqa: B008  # immutable
    reading: Reading = Reading(),  # noqa: B008
    kinds: Mapping[str, str] | None = None,
    as_written: bool = False,
) -> TableFile:
    """Read a table; the caller must raise what ``refused`` holds.

    Parameters
    ----------
    file : its path; ``-`` is standard input
    layout, reading : how a text file is laid out, and how texts become numbers
    kinds : the columns that must be of a known kind: ``NUMBERS``, ``TIMES``, ``TEXT``, ``SPACED``
    as_written : whether to return the columns as the file has them, too
    """
    import polars

    raw = unpack(_load(file))
    kind = SIGNATURES.get(file.suffix.lower())
    if kind is not None and not raw.startswith(kind):
        raise ValueError(f"{file} cannot be read: it does not begin as a {file.suffix} file does")
    separator = _read_separator(layout.separator)
    try:
        layout = layout._replace(separator=separator)
        found = _read_raw(raw, layout, reading.only or ())
    except (polars.exceptions.PolarsError, OSError) as error:
        message = str(error).partition("\n\n")[0].replace("'Schema'", "the header")
        raise ValueError(f"{_shown_file(file)} cannot be read: {message}") from None
    if as_written:
        found = replace(found, cells=found.frame)
    if found.typed:
        return found
    read, note, refused = read_acceptable(found.frame, reading, kinds or {})
    remarks = find_remarks(found.frame, read, note, reading, kinds or {})
    description = ", ".join(filter(None, [found.description, note]))
    orders = find_orders(found.frame, read, reading)
    return replace(
        found,
        frame=read,
        description=description,
        remarks=tuple(remarks),
        orders=orders,
        refused=refused,
    )


def _shown_file(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


def _load(file: Path) -> bytes:
    if str(file) == "-":
        return sys.stdin.buffer.read()
    if file.suffix.lower() not in ENDINGS:
        raise ValueError(f"FILE must be - or end in {', '.join(ENDINGS)}; got {str(file)!r}")
    if not file.is_file():
        raise ValueError(f"FILE must exist; there is no {str(file)!r}")
    return file.read_bytes()


def _read_raw(raw: bytes, layout: Layout, known: Collection[str]) -> TableFile:
    """The table with its cells as the file has them; ``known`` names stay as they are."""
    import polars

    if raw.startswith(b"PAR1"):
        check_header(_stored_names(raw, "parquet"))
        return TableFile(polars.read_parquet(io.BytesIO(raw)), "Parquet", typed=True)
    if raw.startswith(b"ARROW1"):
        check_header(_stored_names(raw, "ipc"))
        return TableFile(polars.read_ipc(io.BytesIO(raw)), "Feather", typed=True)
    if raw.startswith(ZIP):
        read = _read_sheet(raw, layout.header, known)
        return TableFile(read.frame, "Excel, first sheet", doubt=read.doubt)
    text, encoding = decode(raw, layout.encoding)
    text = text.rstrip(END_PADDING)
    first, _, rest = text.partition("\n")
    announced = re.fullmatch(r"sep=(.)\r?", first)  # Excel writes such a line
    if announced:
        text = rest
    separator = layout.separator or (announced[1] if announced else find_separator(text))
    description = f"{encoding}, separator {SEPARATORS.get(separator, repr(separator))}"
    read = _read_lines(text, separator, layout.header, known)
    return TableFile(
        read.frame, ", ".join(filter(None, [description, read.note])), doubt=read.doubt
    )


def _stored_names(raw: bytes, form: str) -> list[str]:
    """The names in a Parquet or Feather file; none if it is damaged, as polars will say."""
    import pyarrow
    from pyarrow import ipc, parquet

    try:
        if form == "parquet":
            return parquet.read_schema(pyarrow.BufferReader(raw)).names
        return ipc.open_file(pyarrow.BufferReader(raw)).schema.names
    except (pyarrow.ArrowException, OSError):
        return []


def decode(raw: bytes, encoding: str | None = None) -> tuple[str, str]:
    """A file's text, and the name of its encoding."""
    if encoding is not None:
        try:
            return raw.decode(encoding).removeprefix("\ufeff"), encoding
        except LookupError:
            raise ValueError(
                f"--encoding must be one that Python knows; got {encoding!r}"
            ) from None
        except UnicodeError as error:
            raise ValueError(f"the file is not in the encoding {encoding}: {error}") from None
    for mark, codec, name in BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return _decode_as(raw, codec), name
    start = raw[:400].rstrip(b"\0")  # without zeros that only fill a block
    for codec, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[0::2])):
        if zeros.count(0) > len(zeros) / 2:  # text of mostly Latin letters, without a mark
            return _decode_as(raw, codec), "UTF-16"
    try:
        return raw.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        # every byte is a character of Latin-1, and these are control characters
        return raw.decode("latin-1"), "Latin-1, a guess (--encoding names another)"


def _decode_as(raw: bytes, codec: str) -> str:
    try:
        return raw.decode(codec)
    except UnicodeDecodeError as error:
        raise ValueError(f"the file begins as {codec} but is not: {error}") from None


def _read_separator(separator: str | None) -> str | None:
    if separator is None:
        return None
    known = SEPARATOR_NAMES.get(separator, "\t" if separator == "\\t" else separator)
    if len(known) != 1 or not known.isascii() or known in '"\n\r':
        raise ValueError(
            f"--separator must be one character or one of {', '.join(SEPARATOR_NAMES)}; "
            f"got {separator!r}"
        )
    return known


def find_separator(text: str) -> str:
    """The separator that gives most lines as many cells as the header, and most cells."""
    best, found = (0.0, 1), ","
    for separator in SEPARATORS:
        rows = _first_rows(text, separator)
        width = len(rows[0]) if rows else 1
        alike = sum(len(row) == width for row in rows) / max(1, len(rows))
        if width > 1 and (alike, width) > best:
            best, found = (alike, width), separator
    return found


def _first_rows(text: str, separator: str) -> list[list[str]]:
    reader = _split_cells(text[: 2**20], separator)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == LINES_TO_JUDGE:
                break
    except csv.Error:  # such as a field longer than the module allows
        return rows
    return rows


GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
EXCEL_ENTRY = "[Content_Types].xml"  # in every Excel file, which is a zip archive
OTHER_FORMATS = {
    b"BZh": "it is packed by bzip2: unpack it",
    b"\xfd7zXZ\0": "it is packed by xz: unpack it",
    b"7z\xbc\xaf": "it is packed by 7-Zip: unpack it",
    b"\xd0\xcf\x11\xe0": "it is an old Excel file: save it as .xlsx or CSV",
    b"%PDF-": "it is a PDF",
    b"SQLite format 3": "it is a database: export the table as CSV",
}


def unpack(raw: bytes) -> bytes:
    """The content of a compressed file, else the bytes themselves."""
    if raw.startswith(GZIP):
        try:
            return gzip.decompress(raw)
        except (OSError, EOFError) as error:
            raise ValueError(f"the compressed file is damaged: {error}") from None
    if raw.startswith(ZSTD):
        import polars

        try:  # Python reads Zstandard from 3.14 on; polars always does, but only UTF-8
            lines = polars.read_lines(io.BytesIO(raw))
        except (polars.exceptions.PolarsError, OSError):
            raise ValueError("a .zst file must hold UTF-8 text; this one does not") from None
        return "\n".join(lines.to_series()).encode()
    _check_foreign(raw)
    return raw


def _check_foreign(raw: bytes) -> None:
    """Refuse files that are no tables; as text they would be read as nonsense."""
    for mark, what in OTHER_FORMATS.items():
        if raw.startswith(mark) and (b"\0" in raw or not raw.isascii()):
            raise ValueError(f"the file must hold a table; {what}")
    if not raw.startswith(ZIP):
        return
    try:
        names = zipfile.ZipFile(io.BytesIO(raw)).namelist()
    except zipfile.BadZipFile as error:
        raise ValueError(f"the file begins as an Excel file but is damaged: {error}") from None
    if EXCEL_ENTRY not in names:
        raise ValueError(
            f"the file must hold a table; it is a zip archive of {', '.join(names[:3])}: unpack it"
        )


class LongRow(ValueError):
    """A row has more cells than the header, whose names are known."""

    def __init__(self, problem: str, names: Sequence[str] = ()) -> None:
        super().__init__(problem)
        self.names = names


def _split_cells(text: str, separator: str, strict: bool = False) -> Any:
    """Python's reader of the rows of a text; a quote may follow the spaces after a separator."""
    lines = io.StringIO(text, newline="")
    spaces = separator != " " and '"' in text
    return csv.reader(lines, delimiter=separator, skipinitialspace=spaces, strict=strict)


def _has_inner_quotes(text: str, separator: str) -> bool:
    """Whether some cell that does not begin with a quote has one, as ``5" pipe``, or none ends."""
    if '"' not in text:
        return False
    mark = re.escape(separator)
    cell = rf'(?:"(?:[^"]|"")*+"|[^"{mark}\r\n]*+)'
    found = re.match(rf"(?:{cell}(?:{mark}|\r?\n|\r|\Z))*+", text)
    return found is None or found.end() < len(text)


def _read_quoted(text: str, separator: str, width: int) -> polars.DataFrame:
    """The rows below the header of a text in which a quote inside a cell is part of the cell."""
    import polars

    reader = _split_cells(text, separator, strict=True)
    try:
        rows = list(reader)[1:]
    except csv.Error:
        raise ValueError(
            "a cell that begins with a quote must end with one, before the next separator; the one "
            f"open at line {reader.line_num} does not"
        ) from None
    _check_widths(enumerate(rows, 1), separator, width)
    columns = [[row[place] if place < len(row) else None for row in rows] for place in range(width)]
    return polars.DataFrame(
        {str(place): cells for place, cells in enumerate(columns)},
        dict.fromkeys(map(str, range(width)), polars.String),
    )


def _check_rows(text: str, separator: str, width: int) -> None:
    """Refuse a row with more cells than the header."""
    _check_widths(_rows(text, separator), separator, width)


def _check_widths(rows: Iterable[tuple[int, list[str]]], separator: str, width: int) -> None:
    for number, row in rows:
        if len(row) > width:
            raise LongRow(
                f"every row must have at most {count_of(width, 'cell')}, as the first line has; "
                f"row {number} has {len(row)}: {_shown_row(row, separator)}. Does the file begin "
                "with "
                "a line above its table?"
            )


def _note_short_rows(text: str, separator: str, width: int) -> str:
    """How many rows have fewer cells than the header; what they lack counts as missing."""
    outside = text.split('"')[::2]  # cells in quotes may hold separators and line breaks
    lines = sum(part.count("\n") for part in outside) + (not text.endswith("\n"))
    if sum(part.count(separator) for part in outside) == lines * (width - 1):
        return ""
    short = [(number, row) for number, row in _rows(text, separator) if len(row) < width]
    if not short:
        return ""
    number, row = short[0]
    rows = f"{count_of(len(short), 'row')} with fewer cells than the header"
    return f"{rows} (the first is row {number}, {_shown_row(row, separator)})"


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows, the header being number 0, as far as they can be read."""
    reader = _split_cells(text, separator)
    try:
        yield from enumerate(reader)
    except csv.Error:  # such as a field longer than the module allows
        return


def _shown_row(row: list[str], separator: str) -> str:
    return repr(shorten(separator.join(row)))


class _RawTable(NamedTuple):
    """The cells of a text, a note on rows with too few, and a clause on a doubtful header."""

    frame: polars.DataFrame
    note: str
    doubt: str


def _read_lines(text: str, separator: str, header: bool, known: Collection[str] = ()) -> _RawTable:
    """Read all cells; empty lines, and unnamed last columns without a cell, are left out.

    Parameters
    ----------
    text, separator : the file, and the mark between its cells
    header : whether its first line holds names, else columns are _numbered
    known : names that stay as they are, see ``read_names``
    """
    if not text.strip():
        raise ValueError("the file must have a header; it is empty")
    text = _without_empty_lines(_with_usual_line_ends(text))
    first = next(_split_cells(text, separator))
    width, filled = len(first), _last_filled(first)
    if not header:
        first = _numbered(width)
        text = f"{separator.join(first)}\n{text}"
    try:
        frame = _read_cells(text, separator, width)
    except LongRow as error:
        raise LongRow(str(error), read_names(first, known)) from None
    unnamed_empty = [place for place in range(filled, width) if not frame[:, place].count()]
    frame = frame[:, [place for place in range(width) if place not in unnamed_empty]]
    cells = [cell for place, cell in enumerate(first) if place not in unnamed_empty]
    doubt = doubt_header(cells, frame) if header else ""
    _name_columns(frame, cells, known, doubt)
    return _RawTable(frame, _note_short_rows(text, separator, width), doubt)


def _read_cells(text: str, separator: str, width: int) -> polars.DataFrame:
    import polars

    if _has_inner_quotes(text, separator):
        return _read_quoted(text, separator, width)
    try:
        return polars.read_csv(text.encode(), separator=separator, infer_schema=False)
    except polars.exceptions.ComputeError:
        _check_rows(text, separator, width)
        raise


def _name_columns(
    frame: polars.DataFrame, cells: list[str], known: Collection[str], doubt: str
) -> None:
    """Name the columns of a frame by the cells of its header, or by what stands for one."""
    names = read_names(cells, known)
    check_header(names, doubt=doubt or _spaces_clause(cells))
    frame.columns = names


def _last_filled(cells: list[str]) -> int:
    """The number of cells up to the last one that is not blank: lines may end in separators."""
    return max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)


def _spaces_clause(cells: list[str]) -> str:
    """A clause on spaces around names, without which they would be different."""
    return "spaces around names do not count" if len(set(cells)) == len(cells) else ""


def _with_usual_line_ends(text: str) -> str:
    """The text with lines that end as in Windows or Unix, not in a lone CR as on old Macs."""
    if "\n" not in text:
        return text.replace("\r", "\n")
    if "\r" not in text or not re.search(r"\r(?!\n)", text):
        return text
    parts = text.split('"')
    parts[::2] = [re.sub(r"\r(?!\n)", "\n", part) for part in parts[::2]]
    return '"'.join(parts)


def _without_empty_lines(text: str) -> str:
    """The text without empty lines, but with those in quotes; a line of separators is a row."""
    text = re.sub(r"\A(?: *\r?\n)+", "", text)
    if "\n\n" not in text and "\n\r\n" not in text:
        return text
    parts = text.split('"')
    parts[::2] = [re.sub(r"(\r?\n){2,}", "\n", part) for part in parts[::2]]
    return '"'.join(parts)


NUMBER_OR_DATE = "|".join((PLAIN, WITH_COMMA, IN_THOUSANDS, ANY_DATE))  # numbers and dates
SHOWN_NAMES = 3  # names in a message


def check_header(names: Sequence[str], file: object = "", doubt: str = "") -> None:
    """Refuse duplicate names: a copy of the target would give the answer away."""
    for name, count in Counter(names).items():
        if count > 1:
            where = f" in {file}" if file else ""
            hint = f"; {doubt}" if doubt else ""
            raise ValueError(
                f"columns must have different names; {name!r} occurs {_times(count)}{where}{hint}"
            )


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _numbered(width: int) -> list[str]:
    """Names for columns that have none."""
    return [f"column_{number}" for number in range(1, width + 1)]


def read_names(cells: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Names without the spaces around them; a column without a name gets the number of its place.

    Names that are ``known``, as those that a saved model tests, stay as they are.
    """
    names = [cell if cell in known else cell.strip() for cell in cells]
    for place, spare in enumerate(_numbered(len(names))):
        if not names[place] and names[place] not in known:
            while spare in names:
                spare += "_"
            names[place] = spare
    return names


def doubt_header(names: Sequence[str], cells: polars.DataFrame) -> str:
    """A clause about a first line that looks like a row of the columns below it, else nothing.

    A column of numbers or dates must be named by a number or a date, and a column of texts by one
    of its texts. Columns of texts that never repeat, and missing cells, say nothing. Numbers in
    sequence may be names: a table without any is often written with its positions.
    """
    alike = [_is_cell(name.strip(), cells[:, place]) for place, name in enumerate(names)]
    if False in alike or True not in alike or _in_sequence(names):
        return ""
    shown = ", ".join(show_name(shorten(name)) for name in names[:SHOWN_NAMES])
    more = ", ..." if len(names) > SHOWN_NAMES else ""
    return (
        f"the first line ({shown}{more}) looks like a row of data, as its cells are numbers, dates "
        "or texts of the columns below; --no-header reads it as a row, and names the columns "
        "column_1, column_2, ..."
    )


def _is_cell(name: str, cells: polars.Series) -> bool | None:
    """Whether a name could be a cell of its column; None if that cannot be told."""
    present = cells.str.strip_chars()
    present = present.filter(~present.is_in(list(MISSING_NUMBERS))).drop_nulls()
    if name in MISSING_NUMBERS or not len(present):
        return None
    if present.str.contains(NUMBER_OR_DATE).all():
        return re.search(NUMBER_OR_DATE, name) is not None
    if (present == name).any():
        return True
    return False if present.n_unique() < len(present) else None


def _in_sequence(names: Sequence[str]) -> bool:
    """Whether names are whole numbers, two or more, each one more than the one before."""
    if len(names) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", name.strip()) for name in names):
        return False
    return all(int(name) == int(names[0]) + place for place, name in enumerate(names))


def _read_sheet(raw: bytes, header: bool, known: Collection[str] = ()) -> _RawTable:
    """Read all cells, numbers as numbers; unnamed columns without a cell are left out.

    Parameters
    ----------
    raw : the content of the file
    header : whether its first row holds names, else columns are _numbered
    known : names that stay as they are, see ``read_names``
    """
    frame = _read_excel(raw, has_header=header)
    if not header:
        _name_columns(frame, _numbered(frame.width), known, "")
        return _RawTable(frame, "", "")
    # names are read on their own: where two are the same, the frame has another one
    top = _read_excel(raw, has_header=False, read_options={"n_rows": 1, "dtypes": "string"})
    cells = [cell or "" for cell in top.row(0)]
    used = [place for place, cell in enumerate(cells) if cell.strip() or frame[:, place].count()]
    frame, cells = frame[:, used], [cells[place] for place in used]
    doubt = doubt_header(cells, _as_texts(frame))
    _name_columns(frame, cells, known, doubt)
    return _RawTable(frame, "", doubt)


def _as_texts(frame: polars.DataFrame) -> polars.DataFrame:
    import polars
    from polars import selectors

    return frame.with_columns(selectors.duration().dt.to_string()).cast(polars.String)


def _read_excel(raw: bytes, **options: Any) -> polars.DataFrame:
    import polars

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns about empty columns
    try:
        return polars.read_excel(io.BytesIO(raw), drop_empty_cols=False, **options)
    except ModuleNotFoundError:
        raise ValueError(
            "an Excel file needs the package fastexcel; pip install 'mictree[excel]', "
            "or save the sheet as CSV"
        ) from None
    except polars.exceptions.NoDataError:
        raise ValueError("the first sheet of the Excel file must have a row; it is empty") from None
    except Exception as error:  # fastexcel has errors of its own
        raise ValueError(f"the Excel file cannot be read: {error}") from None
