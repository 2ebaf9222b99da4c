"""Columns of a text file that could be read in another way, each with the option that does so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mictree._support.words import count_of, shell_word, shorten, show_name
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

NOT_ZERO = r"^[^eE]*[1-9]"  # a number with a digit other than 0 before its power of ten

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

    guessed = note.startswith(NOTES[","]) and reading.decimal is None
    for series in cells.select(polars.col(polars.String)):
        name = series.name
        if read[name].dtype == polars.String and not (reading.kind(name) or kinds.get(name)):
            yield from _on_codes(read[name])
        elif read[name].dtype.is_float():
            yield from _on_underflow(series, read[name])
            if guessed:
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


def _on_underflow(series: polars.Series, numbers: polars.Series) -> Iterator[Remark]:
    """Numbers so near to 0 that no 64-bit float but 0 is nearer."""
    small = series.filter((numbers == 0) & series.str.contains(NOT_ZERO))
    if not len(small):
        return
    yield (
        series.name,
        f"warning: column {show_name(series.name)} has {shorten(small[0].strip())}, nearer to 0 "
        f"than 64-bit floats can be, and read as 0 (in {count_of(len(small), 'row')}); "
        f"--keep {shell_word(series.name)} silences this line",
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
