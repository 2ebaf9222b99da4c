"""The lines of a text as a table whose cells are texts."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from mictree.columns.header import check_header, doubt_header, numbered, read_names
from mictree.columns.ragged import (
    check_rows,
    has_inner_quotes,
    note_short_rows,
    read_quoted,
    split_cells,
)

if TYPE_CHECKING:
    import polars


class Lines(NamedTuple):
    """The cells of a text, a note on rows with too few, and a clause on a doubtful header."""

    frame: polars.DataFrame
    note: str
    doubt: str


def read_lines(text: str, separator: str, header: bool, known: Collection[str] = ()) -> Lines:
    """Read all cells; empty lines, and unnamed last columns without a cell, are left out.

    Parameters
    ----------
    text, separator : the file, and the mark between its cells
    header : whether its first line holds names, else columns are numbered
    known : names that stay as they are, see ``read_names``
    """
    import polars

    if not text.strip():
        raise ValueError("the file must have a header; it is empty")
    text = _without_empty_lines(_with_ends(text))
    first = next(split_cells(text, separator))
    width, filled = len(first), _filled(first)
    if not header:
        first = numbered(width)
        text = f"{separator.join(first)}\n{text}"
    try:
        if has_inner_quotes(text, separator):
            frame = read_quoted(text, separator, width)
        else:
            frame = polars.read_csv(text.encode(), separator=separator, infer_schema=False)
    except polars.exceptions.ComputeError:
        check_rows(text, separator, width)
        raise
    beyond = [place for place in range(filled, width) if not frame[:, place].count()]
    frame = frame[:, [place for place in range(width) if place not in beyond]]
    cells = [cell for place, cell in enumerate(first) if place not in beyond]
    doubt = doubt_header(cells, frame) if header else ""
    name_columns(frame, cells, known, doubt)
    return Lines(frame, note_short_rows(text, separator, width), doubt)


def name_columns(
    frame: polars.DataFrame, cells: list[str], known: Collection[str], doubt: str
) -> None:
    """Name the columns of a frame by the cells of its header, or by what stands for one."""
    names = read_names(cells, known)
    check_header(names, doubt=doubt or _tell_spaces(cells))
    frame.columns = names


def _filled(cells: list[str]) -> int:
    """The number of cells up to the last one that is not blank: lines may end in separators."""
    return max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)


def _tell_spaces(cells: list[str]) -> str:
    """A clause on spaces around names, without which they would be different."""
    return "spaces around names do not count" if len(set(cells)) == len(cells) else ""


def _with_ends(text: str) -> str:
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
