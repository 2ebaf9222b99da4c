"""Columns of a text file that could be read in another way, each with the option that does so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mictree._support.words import shell_word, show_name
from mictree.columns.cells import (
    MISSING_NUMBERS,
    NOTES,
    PADDED,
    POINTS,
    Reading,
    are_codes,
    have_points,
)

if TYPE_CHECKING:
    import polars

Remark = tuple[str, str]  # a column, and a line about it


def find_remarks(
    cells: polars.DataFrame,
    read: polars.DataFrame,
    note: str,
    reading: Reading,
    kinds: Mapping[str, str],
) -> Iterator[Remark]:
    """What ``read_cells`` decided by itself, from the cells before and after, and its note."""
    import polars

    guessed = note == NOTES[","] and reading.decimal is None
    for series in cells.select(polars.col(polars.String)):
        name = series.name
        if read[name].dtype == polars.String and not (reading.kind(name) or kinds.get(name)):
            yield from _on_codes(read[name])
        elif guessed and read[name].dtype.is_float():
            yield from _on_points(series)


def _on_codes(texts: polars.Series) -> Iterator[Remark]:
    """Numbers that stay texts because of a leading zero."""
    cells = texts.str.strip_chars()
    present = cells.filter(~cells.is_in(list(MISSING_NUMBERS))).drop_nulls()
    if not are_codes(present):
        return
    name, column = show_name(texts.name), shell_word(texts.name)
    example = present.filter(present.str.contains(PADDED))[0]
    yield (
        texts.name,
        f"column {name} has leading zeros, as in {example}, and is read as categories; "
        f"--number {column} reads numbers, --keep {column} silences this line",
    )


def _on_points(series: polars.Series) -> Iterator[Remark]:
    """Numbers with points in a file with decimal commas, where they may separate thousands."""
    cells = series.str.strip_chars()
    present = cells.filter(~cells.is_in(list(MISSING_NUMBERS))).drop_nulls()
    if present.str.contains(",").any() or not have_points(present):
        return
    example = present.filter(present.str.contains(POINTS))[0]
    yield (
        series.name,
        f"warning: column {show_name(series.name)} has {example}, read with a decimal point, in a "
        "file with decimal commas; if points separate thousands, add --decimal ,",
    )
