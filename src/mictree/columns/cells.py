"""The texts of a table's cells as numbers, Booleans, dates and texts.

A column is numeric if all its present cells are numbers. If only most of them are, the others are
shown in an error, because as a column of categories it would be useless, and nobody would notice.
The same holds for dates, which must have one form.
Whole numbers of which some have a leading zero are codes, such as zip codes, and stay texts.
Every usual spelling counts as missing in a column of numbers. In a column of texts ``none``, ``-``
and ``.`` may mean something, so there only the spellings that mean nothing else count. Spaces
around a text are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mictree._support.checks import raise_all
from mictree._support.words import shell_word
from mictree.columns.strays import Ways, tell_strays

if TYPE_CHECKING:
    import polars

MISSING_TEXTS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?")
MISSING_NUMBERS = (*MISSING_TEXTS, "None", "none", "-", ".")
NUMBERS = ("number", "binary", "boolean")  # kinds of columns
TEXT, SPACED = "text", "spaced text"  # kinds too; spaces around a spaced text are part of it
DECIMALS = {",": "comma", ".": "point"}
NOTES = {
    ",": "decimal commas",
    ".": "commas between thousands",
    " ": "spaces around texts left out",
}

# digits of other alphabets are texts: [0-9], as \d would match them
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
WITH_POINTS = r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$"  # the day first
WITH_SLASHES = r"^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$"  # the day or the month first
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?$"
ANY_DATE = "|".join((DATE, WITH_POINTS, WITH_SLASHES, TIME))
FORMS = (
    (DATE, "%Y-%m-%d"), (WITH_POINTS, "%d.%m.%Y"), (WITH_SLASHES, "%d/%m/%Y"),
    (WITH_SLASHES, "%m/%d/%Y"), (TIME, "%Y-%m-%d %H:%M"), (TIME, "%Y-%m-%d %H:%M:%S%.f"),
)  # fmt: skip
PLAIN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
INFINITE = r"^[+-]?(?i:inf|infinity)$"
WITH_COMMA = r"^[+-]?([0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+),[0-9]+([eE][+-]?[0-9]+)?$"  # 1.234,5
IN_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?$"  # 1,234.5
WHOLE = r"^[+-]?[0-9]+([eE][+-]?[0-9]+)?$"
POINTS = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+$"  # 1.234 beside 1.234,5
PADDED, DIGITS = r"^0[0-9]+$", r"^[0-9]+$"  # 00501
LONG = r"^[+-]?[1-9][0-9]{15,}$"  # a float has 15 to 17 digits
SHAPES = {",": f"{WITH_COMMA}|{WHOLE}|{POINTS}", ".": f"{IN_THOUSANDS}|{PLAIN}"}


class Reading(NamedTuple):
    """How texts are read.

    missing : more spellings of missing
    decimal : "," or "."; None finds out
    texts : the columns to read as texts, whatever they hold
    numbers : the columns to read as numbers, even if some have a leading zero
    only : the columns that matter, if not all: nothing in the others is refused
    options : the options of the command that act on one column, for errors to name
    target : the column of labels, which cannot be left out
    """

    missing: tuple[str, ...] = ()
    decimal: str | None = None
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    options: tuple[str, ...] = ("--text", "--drop")
    target: str | None = None

    def kind(self, name: str) -> str | None:
        """The kind that a column must have, if the user says so."""
        return TEXT if name in self.texts else "number" if name in self.numbers else None

    def matters(self, name: str) -> bool:
        """Whether a column matters."""
        return self.only is None or name in self.only

    def ways_out(self, name: str) -> list[str]:
        """The options that read a column otherwise, or not at all."""
        ends = {"--text": " to read all as categories"}
        options = [each for each in self.options if each != "--drop" or name != self.target]
        return [f"{option} {shell_word(name)}{ends.get(option, '')}" for option in options]


class Read(NamedTuple):
    """A frame whose columns of texts are read, and a note on commas and spaces.

    The columns that were refused, each with the reason, are still texts.
    """

    frame: polars.DataFrame
    note: str
    refused: dict[str, Exception]


def read_cells(
    frame: polars.DataFrame, reading: Reading, kinds: Mapping[str, str]
) -> tuple[polars.DataFrame, str]:
    """The frame with its columns of texts read, and a note; refuses all bad columns at once."""
    read, note, refused = read_some(frame, reading, kinds)
    raise_all([*refused.values()])
    return read, note


def read_some(frame: polars.DataFrame, reading: Reading, kinds: Mapping[str, str]) -> Read:
    """Read the columns of texts, except those that must be refused."""
    import polars

    _check(reading)
    columns = {series.name: series for series in frame}
    refused: dict[str, Exception] = {}
    commas: dict[str, polars.Series] = {}  # columns of numbers, some with a comma
    hints: list[polars.Series] = []  # such columns that do not matter
    for name, series in columns.items():
        if series.dtype != polars.String:
            continue
        try:
            kind = reading.kind(name) or kinds.get(name)
            cells, has_commas = _read_column(series, reading, kind)
        except ValueError as error:
            if reading.matters(name):
                refused[name] = error
            continue
        if has_commas and not reading.matters(name):
            hints.append(cells)
            continue
        columns[name] = cells
        if has_commas:
            commas[name] = cells
    notes = []
    if commas:
        try:
            decimal = reading.decimal or _find_decimal(commas, hints)
        except ValueError as error:
            refused |= dict.fromkeys(commas, error)
            commas, decimal = {}, "."
        notes.append(NOTES[decimal])
        for name, cells in commas.items():
            try:
                columns[name] = _to_numbers(_without_commas(cells, decimal), reading)
            except ValueError as error:
                refused[name] = error
    if any(_has_lost_spaces(columns[series.name], series) for series in frame):
        notes.append(NOTES[" "])
    return Read(frame.with_columns(*columns.values()), ", ".join(notes), refused)


def _has_lost_spaces(texts: polars.Series, cells: polars.Series) -> bool:
    import polars

    return texts.dtype == cells.dtype == polars.String and bool((texts != cells).any())


def _check(reading: Reading) -> None:
    if reading.decimal is not None and reading.decimal not in DECIMALS:
        raise ValueError(f"--decimal must be , or .; got {reading.decimal!r}")
    both = [name for name in reading.texts if name in reading.numbers]
    if both:
        raise ValueError(f"--text and --number must name different columns; both name {both[0]!r}")


def _read_column(
    series: polars.Series, reading: Reading, kind: str | None
) -> tuple[polars.Series, bool]:
    """One column, or its stripped texts and True if these are numbers with commas."""
    stripped = series.str.strip_chars()
    missing = [text.strip() for text in reading.missing]
    texts = series if kind == SPACED else stripped
    as_texts = _blank(texts, stripped, [*MISSING_TEXTS, *missing])
    if kind in (TEXT, SPACED):
        return as_texts, False
    cells = _blank(stripped, stripped, [*MISSING_NUMBERS, *missing])
    present = cells.drop_nulls()
    if not len(present):
        return as_texts, False
    if present.str.to_lowercase().is_in(["true", "false"]).all():
        return cells.str.to_lowercase() == "true", False
    ways_out = reading.ways_out(series.name) if kind is None else []
    dates = _as_dates(cells, present, ways_out)
    if dates is not None:
        return dates, False
    if kind is None and are_codes(present):
        return as_texts, False
    plain = present.str.contains(PLAIN) | present.str.contains(INFINITE)
    commas = present.str.contains(WITH_COMMA)
    numeric = plain | commas | present.str.contains(IN_THOUSANDS)
    if commas.any() or reading.decimal == ",":  # else 1.234.567 may be a version or an address
        numeric |= present.str.contains(POINTS)
    if numeric.all():
        points = reading.decimal == "," and have_points(present)
        return (_to_numbers(cells, reading), False) if plain.all() and not points else (cells, True)
    if kind in NUMBERS or numeric.sum() * 2 > len(numeric):
        points, asked = have_points(present), series.name in reading.numbers
        raise ValueError(tell_strays(present, numeric, Ways(ways_out, asked, points)))
    if present.str.contains(ANY_DATE).sum() * 2 > len(present):
        dates = _of_one_form(present)
        if dates.any():
            raise ValueError(tell_strays(present, dates, Ways(ways_out), "dates"))
    return as_texts, False


def are_codes(present: polars.Series) -> bool:
    """Whether cells are whole numbers, some with a leading zero, as zip codes are."""
    if not len(present) or re.search(DIGITS, present[0]) is None:  # most columns end here
        return False
    return bool(present.str.contains(PADDED).any() and present.str.contains(DIGITS).all())


def have_points(present: polars.Series) -> bool:
    """Whether points could separate thousands in all numbers that have one."""
    pointed = present.str.contains(POINTS)
    return bool(pointed.any()) and bool(present.str.contains(SHAPES[","]).all())


def _blank(
    values: polars.Series, stripped: polars.Series, spellings: Sequence[str]
) -> polars.Series:
    """The values, null where the cell is one of the spellings of missing."""
    import polars

    present = ~stripped.is_in(spellings)
    return polars.select(polars.when(present).then(values).alias(values.name)).to_series()


def _as_dates(
    cells: polars.Series, present: polars.Series, ways_out: Sequence[str]
) -> polars.Series | None:
    """Dates, in ISO's order with or without a time; None if a cell is something else."""
    import polars

    if present.str.contains(WITH_POINTS).all():
        return _parsed(cells, "%d.%m.%Y")
    if present.str.contains(WITH_SLASHES).all():
        both = [_parsed(cells, order) for order in ("%d/%m/%Y", "%m/%d/%Y")]
        if both[0] is not None and both[1] is not None and not both[0].equals(both[1]):
            raise ValueError(
                f"dates must show which number is the day; {cells.name} has {present[0]!r} "
                f"and none that tells: write {both[0].drop_nulls()[0]}"
                + (f", or add {', or '.join(ways_out)}" if ways_out else "")
            )
        return both[1] if both[0] is None else both[0]
    for dtype, shape in ((polars.Date, DATE), (polars.Datetime("us"), TIME)):
        if present.str.contains(shape).all():
            dates = cells.str.replace("T", " ").str.strptime(dtype, strict=False)
            return dates if dates.null_count() == cells.null_count() else None
    return None


def _of_one_form(present: polars.Series) -> polars.Series:
    """Which cells are dates of the form that most of them have."""
    import polars

    spaced = present.str.replace("T", " ")
    shapes = [present.str.contains(shape) for shape, _ in FORMS]
    parsed = [
        spaced.str.strptime(polars.Datetime("us"), order, strict=False).is_not_null()
        for _, order in FORMS
    ]
    return max((shape & day for shape, day in zip(shapes, parsed, strict=True)), key=sum)


def _parsed(cells: polars.Series, order: str) -> polars.Series | None:
    """Dates of a format; None if some cell is none."""
    import polars

    dates = cells.str.strptime(polars.Date, order, strict=False)
    return dates if dates.null_count() == cells.null_count() else None


def _to_numbers(cells: polars.Series, reading: Reading) -> polars.Series:
    """Integers if all are within 64 bits, else floats; decimals keep their value as floats."""
    import polars

    whole = cells.cast(polars.Int64, strict=False)
    if whole.null_count() == cells.null_count():
        return whole
    numbers = cells.cast(polars.Float64, strict=False)
    _check_long(cells, numbers, reading)
    return numbers


def _check_long(cells: polars.Series, numbers: polars.Series, reading: Reading) -> None:
    """Refuse long whole numbers, as identifiers are, that would become one float."""
    import polars

    long = cells.str.contains(LONG).fill_null(value=False)
    pairs = polars.DataFrame([cells.alias("text"), numbers.alias("number")]).filter(long).unique()
    again = pairs.filter(pairs["number"].is_duplicated()).sort("number", "text")
    if again.height:
        ways = ", or ".join(reading.ways_out(cells.name))
        raise ValueError(
            f"different values must differ as 64-bit floats; {cells.name} has "
            f"{again[0, 'text']} and {again[1, 'text']}{': add ' if ways else ''}{ways}"
        )


def _find_decimal(columns: Mapping[str, polars.Series], hints: Iterable[polars.Series]) -> str:
    """The decimal mark that all columns of numbers with commas can have, if there is one.

    The hints decide only if that leaves a choice.
    """
    possible = set(DECIMALS)
    for cells in columns.values():
        possible &= _marks(cells)
    for cells in hints:
        possible = possible & _marks(cells) or possible
    if len(possible) == 1:
        return possible.pop()
    name, cells = next(iter(columns.items()))
    example = cells.drop_nulls().filter(cells.drop_nulls().str.contains(","))[0]
    raise ValueError(
        f"commas in numbers must have one meaning; {name} has {example!r}: add --decimal , if it "
        "begins the decimals, --decimal . if it separates thousands"
    )


def _marks(cells: polars.Series) -> set[str]:
    """The decimal marks that a column can have."""
    present = cells.drop_nulls()
    return {mark for mark in DECIMALS if present.str.contains(SHAPES[mark]).all()}


def _without_commas(cells: polars.Series, decimal: str) -> polars.Series:
    """Numbers with a decimal point, and nothing between thousands."""
    wrong = cells.drop_nulls().filter(~cells.drop_nulls().str.contains(SHAPES[decimal]))
    if len(wrong):
        raise ValueError(
            f"numbers must be written with a decimal {DECIMALS[decimal]}; "
            f"{cells.name} has {wrong[0]!r}"
        )
    if decimal == ",":
        return cells.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return cells.str.replace_all(",", "", literal=True)
