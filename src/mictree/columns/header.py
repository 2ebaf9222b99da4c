"""The names of a table's columns, and whether the first line of a text file holds any."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from mictree._support.words import shorten, show_name
from mictree.columns.cells import ANY_DATE, IN_THOUSANDS, MISSING_NUMBERS, PLAIN, WITH_COMMA

if TYPE_CHECKING:
    import polars

MEASURED = "|".join((PLAIN, WITH_COMMA, IN_THOUSANDS, ANY_DATE))  # numbers and dates
SHOWN = 3  # names in a message


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


def numbered(width: int) -> list[str]:
    """Names for columns that have none."""
    return [f"column_{number}" for number in range(1, width + 1)]


def read_names(cells: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Names without the spaces around them; a column without a name gets the number of its place.

    Names that are ``known``, as those that a saved model tests, stay as they are.
    """
    names = [cell if cell in known else cell.strip() for cell in cells]
    for place, spare in enumerate(numbered(len(names))):
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
    shown = ", ".join(show_name(shorten(name)) for name in names[:SHOWN])
    more = ", ..." if len(names) > SHOWN else ""
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
    if present.str.contains(MEASURED).all():
        return re.search(MEASURED, name) is not None
    if (present == name).any():
        return True
    return False if present.n_unique() < len(present) else None


def _in_sequence(names: Sequence[str]) -> bool:
    """Whether names are whole numbers, two or more, each one more than the one before."""
    if len(names) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", name.strip()) for name in names):
        return False
    return all(int(name) == int(names[0]) + place for place, name in enumerate(names))
