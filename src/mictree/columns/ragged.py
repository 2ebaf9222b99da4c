"""Rows of a text file that have more or fewer cells than its header, or quotes inside cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mictree._support.words import count_of, shorten

if TYPE_CHECKING:
    import polars


def split_cells(text: str, separator: str, strict: bool = False) -> Any:
    """Python's reader of the rows of a text; a quote may follow the spaces after a separator."""
    lines = io.StringIO(text, newline="")
    spaces = separator != " " and '"' in text
    return csv.reader(lines, delimiter=separator, skipinitialspace=spaces, strict=strict)


def has_inner_quotes(text: str, separator: str) -> bool:
    """Whether some cell that does not begin with a quote has one, as ``5" pipe``, or none ends."""
    if '"' not in text:
        return False
    mark = re.escape(separator)
    cell = rf'(?:"(?:[^"]|"")*+"|[^"{mark}\r\n]*+)'
    found = re.match(rf"(?:{cell}(?:{mark}|\r?\n|\r|\Z))*+", text)
    return found is None or found.end() < len(text)


def read_quoted(text: str, separator: str, width: int) -> polars.DataFrame:
    """The rows below the header of a text in which a quote inside a cell is part of the cell."""
    import polars

    reader = split_cells(text, separator, strict=True)
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


def check_rows(text: str, separator: str, width: int) -> None:
    """Refuse a row with more cells than the header."""
    _check_widths(_rows(text, separator), separator, width)


def _check_widths(rows: Iterable[tuple[int, list[str]]], separator: str, width: int) -> None:
    for number, row in rows:
        if len(row) > width:
            raise ValueError(
                f"every row must have at most {count_of(width, 'cell')}, as the first line has; "
                f"row {number} has {len(row)}: {_shown(row, separator)}. Does the file begin with "
                "a line above its table?"
            )


def note_short_rows(text: str, separator: str, width: int) -> str:
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
    return f"{rows} (the first is row {number}, {_shown(row, separator)})"


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows, the header being number 0, as far as they can be read."""
    reader = split_cells(text, separator)
    try:
        yield from enumerate(reader)
    except csv.Error:  # such as a field longer than the module allows
        return


def _shown(row: list[str], separator: str) -> str:
    return repr(shorten(separator.join(row)))
