"""Rows of a text file that have more or fewer cells than its header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from mictree._support.words import count_of

LONGEST = 40  # characters of a row in a message


def check_rows(text: str, separator: str, width: int) -> None:
    """Refuse a cell whose quote does not end, or a row with more cells than the header."""
    quotes = text.count('"')
    if quotes % 2:
        raise ValueError(
            f"a cell that begins with a quote must end with one; the file has {quotes} in all"
        )
    for number, row in _rows(text, separator):
        if len(row) > width:
            raise ValueError(
                f"every row must have at most {count_of(width, 'cell')}, as the first line has; "
                f"row {number} has {len(row)}: {_shown(row, separator)}. Does the file begin with "
                "its header?"
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
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        yield from enumerate(reader)
    except csv.Error:  # such as a field longer than the module allows
        return


def _shown(row: list[str], separator: str) -> str:
    line = separator.join(row)
    return repr(line if len(line) <= LONGEST else f"{line[:LONGEST]}…")
