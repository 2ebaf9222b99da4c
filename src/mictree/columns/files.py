"""Tables in files as people have them: text in any usual encoding, Parquet, Feather, Excel.

The content decides how a file is read, not its ending: ``.gz`` and ``.zst`` are unpacked, Parquet,
Feather and Excel files open with marks of their own, and everything else is text. Text without a
byte order mark is UTF-8 if it can be, UTF-16 if half of its bytes are zero, else Windows-1252,
which contains Latin-1's letters.
``mictree.columns.cells`` then turns the texts of cells into numbers.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mictree.columns.cells import Reading, find_orders, read_some
from mictree.columns.header import check_header
from mictree.columns.lines import read_lines
from mictree.columns.ragged import split_cells
from mictree.columns.remarks import Remark, find_remarks
from mictree.columns.sheets import read_sheet
from mictree.columns.unpacking import ZIP, unpack

if TYPE_CHECKING:
    import polars

ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".zst", ".parquet", ".feather", ".arrow", ".xlsx")
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
SEPARATOR_NAMES = {name: separator for separator, name in SEPARATORS.items()}
MARKS = (  # byte order marks; each with the encoding that it announces and the name we print
    (b"\xef\xbb\xbf", "utf-8-sig", "UTF-8"),
    (b"\xff\xfe\0\0", "utf-32", "UTF-32"),
    (b"\0\0\xfe\xff", "utf-32", "UTF-32"),
    (b"\xff\xfe", "utf-16", "UTF-16"),
    (b"\xfe\xff", "utf-16", "UTF-16"),
)
LINES_TO_JUDGE = 200  # lines from which the separator is found
MARKED = {".parquet": b"PAR1", ".feather": b"ARROW1", ".arrow": b"ARROW1", ".xlsx": b"PK\x03\x04"}
BEYOND = "\0\x1a"  # at the end: of a file on a disk that stores whole blocks, and of DOS


@dataclass(frozen=True)
class TableFile:
    """A table that was read from a file.

    Attributes
    ----------
    frame : the columns; numbers, Booleans, dates and texts, null where missing
    said : how the file was read, for one line on the screen: ``"UTF-8, separator semicolon"``
    remarks : columns that could be read in another way, each with a line about it
    typed : whether the file itself says what its columns hold
    doubt : a clause on a first line that looks like a row, see ``doubt_header``
    orders : the order of day and month in columns of dates, see ``find_orders``
    cells : on request, the columns as the file has them: of a text file, texts
    refused : the columns that must not be used, still texts, each with the reason
    """

    frame: polars.DataFrame
    said: str
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
    kind = MARKED.get(file.suffix.lower())
    if kind is not None and not raw.startswith(kind):
        raise ValueError(f"{file} cannot be read: it does not begin as a {file.suffix} file does")
    separator = _read_separator(layout.separator)
    try:
        layout = layout._replace(separator=separator)
        found = _read_raw(raw, layout, reading.only or ())
    except (polars.exceptions.PolarsError, OSError) as error:
        message = str(error).partition("\n\n")[0].replace("'Schema'", "the header")
        raise ValueError(f"{_shown(file)} cannot be read: {message}") from None
    if as_written:
        found = replace(found, cells=found.frame)
    if found.typed:
        return found
    read, note, refused = read_some(found.frame, reading, kinds or {})
    remarks = find_remarks(found.frame, read, note, reading, kinds or {})
    said = ", ".join(filter(None, [found.said, note]))
    orders = find_orders(found.frame, read, reading)
    return replace(
        found, frame=read, said=said, remarks=tuple(remarks), orders=orders, refused=refused
    )


def _shown(file: Path) -> str:
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
        check_header(_names(raw, "parquet"))
        return TableFile(polars.read_parquet(io.BytesIO(raw)), "Parquet", typed=True)
    if raw.startswith(b"ARROW1"):
        check_header(_names(raw, "ipc"))
        return TableFile(polars.read_ipc(io.BytesIO(raw)), "Feather", typed=True)
    if raw.startswith(ZIP):
        read = read_sheet(raw, layout.header, known)
        return TableFile(read.frame, "Excel, first sheet", doubt=read.doubt)
    text, encoding = decode(raw, layout.encoding)
    text = text.rstrip(BEYOND)
    first, _, rest = text.partition("\n")
    announced = re.fullmatch(r"sep=(.)\r?", first)  # Excel writes such a line
    if announced:
        text = rest
    separator = layout.separator or (announced[1] if announced else find_separator(text))
    said = f"{encoding}, separator {SEPARATORS.get(separator, repr(separator))}"
    read = read_lines(text, separator, layout.header, known)
    return TableFile(read.frame, ", ".join(filter(None, [said, read.note])), doubt=read.doubt)


def _names(raw: bytes, form: str) -> list[str]:
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
    for mark, codec, name in MARKS:
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
    reader = split_cells(text[: 2**20], separator)
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
