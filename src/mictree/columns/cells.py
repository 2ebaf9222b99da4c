"""The texts of a table's cells as numbers, Booleans, dates and texts.

A column is numeric if all its present cells are numbers. If only most of them are, an error shows
the others, because as a column of categories it would be useless, and nobody would notice. The same
holds for dates, which must have one form: year, month and day, or the year last and then one order
of day and month; one mark between them; a time in all cells or in none, with a time zone in all or
in none. Times with a zone become instants of UTC. A column is read in nanoseconds if a time needs
them, else in microseconds. With points the day comes first where it can. No other order is guessed:
dates that could begin with the day or with the month stay texts, as do those with a day that no
month has. Whole numbers of which some have a leading zero are codes, such as zip codes, and stay
texts.

Every usual spelling counts as missing in a column of numbers. In a column of texts ``none``, ``-``
and ``.`` may mean something, so there only the spellings that mean nothing else count. Spaces
around a text are no part of it.

Whatever was decided without being asked for can be decided otherwise: ``find_remarks`` names such
columns, each with the option that does so, and errors name the options that help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from mictree._support.checks import raise_all
from mictree._support.words import count_of, shell_word, shorten, show_name

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
CLOCK = r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"
ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"
YEAR_FIRST, YEAR_LAST = "[0-9]{4}MARK[0-9]{2}MARK[0-9]{2}", "[0-9]{1,2}MARK[0-9]{1,2}MARK[0-9]{4}"
MARKS = ("-", "/", ".")  # between the parts of a date
ANY_DATE = "|".join(
    f"^{days.replace('MARK', re.escape(mark))}(?:{CLOCK}{ZONE}?)?$"
    for days in (YEAR_FIRST, YEAR_LAST)
    for mark in MARKS
)
ORDERS = {"ymd": "%Y{0}%m{0}%d", "dmy": "%d{0}%m{0}%Y", "mdy": "%m{0}%d{0}%Y"}
FIRST = {"dmy": "day", "mdy": "month"}  # what a date with the year last begins with
DAY = "(1[3-9]|[2-9][0-9])"  # no month
PROVES_ORDER = {"dmy": f"^{DAY}[-/.]", "mdy": f"^[0-9]{{1,2}}[-/.]{DAY}[-/.]"}  # dates of one order
MOMENTS = ("date", "datetime", "instant")  # kinds of columns
MONTH = (
    r"(?i:jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|"
    r"oct(ober)?|nov(ember)?|dec(ember)?)\.?"
)
WEEKDAY, CLOCKS = r"(\p{L}{2,9}[., ]+)?", r"([T:, ]+\d{1,2}:\d{2}.*)?"
OTHER_DATES = "|".join(  # than those that are read as dates
    (
        r"^\d{4}[-/]\d{1,2}$",  # 2024-01
        r"^\d{4}([-/.])\d{1,2}[-/.]\d{1,2}([T ]\d{1,2}:\d{2}.*)?$",  # 2024/1/26
        r"^\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})( \d{1,2}:\d{2}.*)?$",  # 26/01/24, 26.1.2024 9:30
        r"^\d{1,2}[- ]\p{L}{3,9}[-, ]+(\d{2}|\d{4})$",  # 26-Jan-24
        r"^\p{L}{3,9} \d{1,2},? \d{4}$",  # January 26, 2024
        rf"^{WEEKDAY}\d{{1,2}}[-/. ]+{MONTH}[-/., ]+(\d{{2}}|\d{{4}}){CLOCKS}$",  # Fri, 26 Jan 24
        rf"^{WEEKDAY}{MONTH} +\d{{1,2}},? \d{{4}}{CLOCKS}$",  # Friday, January 26, 2024 10:30
        rf"^{WEEKDAY}{MONTH} +\d{{1,2}} \d{{1,2}}:\d{{2}}.* \d{{4}}$",  # Fri Jan 26 10:30:00 2024
        rf"^{MONTH}[-/ ](\d{{2}}|\d{{4}})$",  # Jan-24
    )
)
FIRST_ROWS = 1000  # the first present cell is mostly among them
SHORTEST_NANOSECONDS = len("1/1/2024 10:30:00.0000001")  # bytes; shorter times have no nanoseconds
MOST_MICROSECONDS = (
    2**63 // 1000
)  # microseconds around 1970 that are 64 bits of nanoseconds: 292 years
FEW_DATES = 2  # categories and thresholds separate so few alike
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
    orders : the columns that must be dates, each with its order where the year is last: "dmy" or
        "mdy"
    """

    missing: tuple[str, ...] = ()
    decimal: str | None = None
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    options: tuple[str, ...] = ("--text", "--drop")
    target: str | None = None
    orders: tuple[tuple[str, str], ...] = ()

    def kind(self, name: str) -> str | None:
        """The kind that a column must have, if the user says so."""
        return TEXT if name in self.texts else "number" if name in self.numbers else None

    def matters(self, name: str) -> bool:
        """Whether a column matters."""
        return self.only is None or name in self.only

    def alternatives(self, name: str) -> list[str]:
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
    read, note, refused = read_acceptable(frame, reading, kinds)
    raise_all([*refused.values()])
    return read, note


def read_acceptable(frame: polars.DataFrame, reading: Reading, kinds: Mapping[str, str]) -> Read:
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
    alternatives = reading.alternatives(series.name) if kind is None else []
    order = dict(reading.orders).get(series.name)
    dates, doubt = _as_dates(cells, present, order)
    if dates is not None:
        return dates, False
    if order is not None or (doubt and kind in MOMENTS):
        raise ValueError(_refuse_dates(present, order, doubt))
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
        points, number_requested = have_points(present), series.name in reading.numbers
        raise ValueError(
            _explain_mixed_column(
                present, numeric, _Remedies(alternatives, number_requested, points)
            )
        )
    if not doubt and present.str.contains(ANY_DATE).sum() * 2 > len(present):
        dates = _are_of_commonest_form(present)
        if dates.any():
            raise ValueError(
                _explain_mixed_column(present, dates, _Remedies(alternatives), "dates")
            )
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


class DateForm(NamedTuple):
    """How dates are written: what comes first, the mark between, and what follows."""

    year_first: bool
    mark: str
    timed: bool
    zoned: bool

    @classmethod
    def of(cls, cell: str) -> DateForm | None:
        """The form of one cell; None if it is no date."""
        if re.fullmatch(ANY_DATE, cell) is None:
            return None
        mark = next(sign for sign in cell if sign in MARKS)
        return cls(
            cell.index(mark) == 4, mark, ":" in cell, re.search(f"{ZONE}$", cell[10:]) is not None
        )

    @property
    def shape(self) -> str:
        """The pattern of all cells of this form."""
        days = YEAR_FIRST if self.year_first else YEAR_LAST
        ends = (CLOCK if self.timed else "") + (ZONE if self.zoned else "")
        return f"^{days.replace('MARK', re.escape(self.mark))}{ends}$"

    def orders(self, present: polars.Series) -> tuple[str, ...]:
        """The orders that all cells allow, as far as numbers above 12 tell."""
        if self.year_first:
            return ("ymd",)
        other = {"dmy": "mdy", "mdy": "dmy"}
        return tuple(
            order for order in other if not present.str.contains(PROVES_ORDER[other[order]]).any()
        )

    def read(self, cells: polars.Series, order: str) -> polars.Series:
        """The dates, null where there is no such day or time."""
        import polars

        days = ORDERS[order].format(self.mark)
        if not self.timed:
            dates = cells.str.strptime(polars.Date, days, strict=False)
        else:
            dates = self._read_times(cells, days, "us")
            if (
                len(_finer_times(cells, 6))
                and (dates.to_physical().abs() < MOST_MICROSECONDS).all()
            ):
                dates = self._read_times(cells, days, "ns")
            dates = _null_unless(dates, ~cells.str.contains(":60", literal=True))  # the next minute
        return _null_unless(dates, dates.dt.year().is_between(1, 9999))

    def _read_times(
        self, cells: polars.Series, days: str, unit: Literal["us", "ns"]
    ) -> polars.Series:
        import polars

        zone = "%#z" if self.zoned else ""
        kind = polars.Datetime(unit, "UTC" if self.zoned else None)
        spaced = cells.str.replace("T", " ", literal=True)
        dates = spaced.str.strptime(kind, f"{days} %H:%M:%S%.f{zone}", strict=False)
        if dates.null_count() == cells.null_count():
            return dates
        return dates.fill_null(spaced.str.strptime(kind, f"{days} %H:%M{zone}", strict=False))


def _finer_times(cells: polars.Series, digits: int) -> polars.Series:
    """The times with a digit other than 0 beyond so many of a second."""
    longest = cells.str.len_bytes().max()
    if not isinstance(longest, int) or longest < SHORTEST_NANOSECONDS:  # most columns end here
        return cells.clear()
    return cells.filter(cells.str.contains(rf"\.[0-9]{{{digits}}}[0-9]*[1-9]"))


def _null_unless(values: polars.Series, where: polars.Series) -> polars.Series:
    """The values, null where the condition does not hold."""
    import polars

    return polars.select(polars.when(where).then(values).alias(values.name)).to_series()


def _as_dates(
    cells: polars.Series, present: polars.Series, order: str | None = None
) -> tuple[polars.Series | None, str]:
    """Dates of one form and one order; else None, and what is wrong with dates that are there.

    Parameters
    ----------
    cells, present : all cells, null where missing, and those that are not
    order : "dmy" or "mdy" if that is known
    """
    form = DateForm.of(present[0])
    if form is None:  # most columns end here
        return None, ""
    if not present.str.contains(form.shape).all():
        return None, _explain_zones(present, form)
    orders = form.orders(present)
    if order in FIRST and not form.year_first:
        orders = (order,)
    read = [form.read(cells, each) for each in orders]
    good = [dates for dates in read if dates.null_count() == cells.null_count()]
    if not good:
        return None, _explain_days(cells, read, form, order)
    if len(good) == 2 and form.mark != "." and not good[0].equals(good[1]):
        day, option = good[0].drop_nulls()[0], f"--date {shell_word(cells.name)}"
        return None, (
            f"looks like dates, such as {present[0]!r}, that may begin with the day or with the "
            f"month; write {day:%Y-%m-%d} if with the day, or in a text file add {option}=dmy or "
            f"{option}=mdy"
        )
    return good[0], ""


def _explain_zones(present: polars.Series, form: DateForm) -> str:
    """What to say of times of which only some have a zone."""
    other = form._replace(zoned=not form.zoned)
    others = present.str.contains(other.shape)
    if not form.timed or not (others | present.str.contains(form.shape)).all():
        return ""
    pair = (present[0], present.filter(others)[0])
    zoned, plain = pair if form.zoned else pair[::-1]
    return (
        f"looks like dates with times, of which some have a time zone, such as {zoned!r}, and some "
        f"have none, such as {plain!r}; write all in one way"
    )


def _explain_days(
    cells: polars.Series, read: Sequence[polars.Series], form: DateForm, order: str | None
) -> str:
    """What to say of dates that cannot be; no order, or not the one that is known, reads all."""
    tried = read or [form.read(cells, order) for order in FIRST]
    wrong = [cells.filter(dates.is_null()).drop_nulls() for dates in tried]
    both = wrong[0].filter(wrong[0].is_in(wrong[-1].to_list()))
    if len(both):
        first = "" if order is None or form.year_first else f" with the {FIRST[order]} first"
        return (
            f"looks like dates, but there is no {both[0]!r}{first}; correct it, or in a text file "
            f"add --missing {shell_word(both[0])}"
        )
    return (
        f"looks like dates, some with the day first, such as {wrong[1][0]!r}, and some with the "
        f"month first, such as {wrong[0][0]!r}; write all in one order"
    )


def _refuse_dates(present: polars.Series, order: str | None, doubt: str) -> str:
    """The error about a column that must hold dates, and does not."""
    if doubt:
        return (
            f"a column must hold dates of one form and one order; {present.name} has what {doubt}"
        )
    form = re.fullmatch(ANY_DATE, present[0])
    wrong = present.filter(~present.str.contains(ANY_DATE)) if form else present
    shown = shorten((wrong if len(wrong) else present)[0])
    option = f" (--date {shell_word(present.name)}={order})" if order else ""
    return f"a column must hold dates of one form{option}; {present.name} has {shown!r}"


def present_dates(texts: polars.Series) -> tuple[polars.Series | None, str]:
    """The dates in a column of texts, without missing ones; else None, and what is wrong."""
    first = _present(texts.head(FIRST_ROWS))
    if len(first) and DateForm.of(first[0]) is None:  # most columns end here
        return None, ""
    present = _present(texts)
    return _as_dates(present, present) if len(present) else (None, "")


def _present(texts: polars.Series) -> polars.Series:
    """The cells that are not missing, without spaces around them."""
    cells = texts.str.strip_chars()
    return cells.filter(~cells.is_in(list(MISSING_NUMBERS))).drop_nulls()


def doubt_dates(texts: polars.Series) -> str:
    """What to say of a column of texts that looks like dates; nothing if it does not."""
    dates, doubt = present_dates(texts)
    categories = ", and is read as categories; "
    if doubt:
        return doubt.replace("; ", categories, 1)
    if dates is not None:
        example = f"such as {dates[0]}"
        return f"looks like dates stored as texts, {example}{categories}store them as dates"
    different = texts.drop_nulls().unique(maintain_order=True).str.strip_chars()
    like = different.str.contains(f"{OTHER_DATES}|{ANY_DATE}")
    if len(different) <= FEW_DATES or like.sum() * 2 <= len(different):
        return ""
    example = f"such as {shorten(different.filter(like)[0])!r}"
    return f"looks like dates, {example}{categories}write them as 2024-01-26 or 2024-01-26 10:30"


def _are_of_commonest_form(present: polars.Series) -> polars.Series:
    """Which cells are dates of the form and order that most of them have."""
    ends = ((False, False), (True, False), (True, True))
    forms = [
        DateForm(first, mark, *end) for first in (True, False) for mark in MARKS for end in ends
    ]
    read = [
        form.read(_null_unless(present, present.str.contains(form.shape)), order)
        for form in forms
        for order in (("ymd",) if form.year_first else FIRST)
    ]
    return max((dates.is_not_null() for dates in read), key=sum)


def find_orders(
    cells: polars.DataFrame, read: polars.DataFrame, reading: Reading
) -> dict[str, str]:
    """The order of day and month in the columns of dates that have the year last.

    A column whose dates are the same in both orders has none.
    """
    import polars

    found = {}
    for series in cells.select(polars.col(polars.String)):
        dates = read[series.name]
        if not dates.dtype.is_temporal():
            continue
        present = series.str.strip_chars().filter(dates.is_not_null())
        form = DateForm.of(present[0])
        if form is None or form.year_first:
            continue
        same = [order for order in FIRST if form.read(present, order).equals(dates.drop_nulls())]
        if len(same) == 1:
            found[series.name] = same[0]
    return dict(reading.orders) | found


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
        remedies = ", or ".join(reading.alternatives(cells.name))
        raise ValueError(
            f"different values must differ as 64-bit floats; {cells.name} has "
            f"{again[0, 'text']} and {again[1, 'text']}{': add ' if remedies else ''}{remedies}"
        )


def _find_decimal(columns: Mapping[str, polars.Series], hints: Iterable[polars.Series]) -> str:
    """The decimal mark that all columns of numbers with commas can have, if there is one.

    The hints decide only if that leaves a choice.
    """
    possible = set(DECIMALS)
    for cells in columns.values():
        possible &= _possible_marks(cells)
    for cells in hints:
        possible = possible & _possible_marks(cells) or possible
    if len(possible) == 1:
        return possible.pop()
    name, cells = next(iter(columns.items()))
    example = cells.drop_nulls().filter(cells.drop_nulls().str.contains(","))[0]
    raise ValueError(
        f"commas in numbers must have one meaning; {name} has {example!r}: add --decimal , if it "
        "begins the decimals, --decimal . if it separates thousands"
    )


def _possible_marks(cells: polars.Series) -> set[str]:
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
            yield from _remark_on_codes(read[name])
        elif str(read[name].dtype).startswith("Datetime"):
            yield from _remark_on_lost_digits(series, read[name])
        elif read[name].dtype.is_float():
            yield from _remark_on_underflow(series, read[name])
            if guessed:
                yield from _remark_on_points(series)


def _remark_on_codes(texts: polars.Series) -> Iterator[Remark]:
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


def _remark_on_underflow(series: polars.Series, numbers: polars.Series) -> Iterator[Remark]:
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


def _remark_on_lost_digits(series: polars.Series, times: polars.Series) -> Iterator[Remark]:
    """Times with more digits than nanoseconds have, or than microseconds if years need these."""
    fine = getattr(times.dtype, "time_unit", "") == "ns"
    digits = 9 if fine else 6
    if not len(_finer_times(series, digits)):  # most columns end here
        return
    lost = _finer_times(series.filter(times.is_not_null()), digits)
    if not len(lost):  # they are in a spelling of missing
        return
    room = "microseconds, as 64 bits of nanoseconds reach from 1677-09-22 to 2262-04-11 only"
    units, shown = "nanoseconds" if fine else room, shorten(lost[0].strip())
    yield (
        series.name,
        f"warning: column {show_name(series.name)} has {shown}, and its times are cut to "
        f"{units} (in {count_of(len(lost), 'row')}); "
        f"--keep {shell_word(series.name)} silences this line",
    )


def _remark_on_points(series: polars.Series) -> Iterator[Remark]:
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


SHOWN_TEXTS = 5  # texts
MOST_SPELLINGS = 3  # of missing to offer; more texts than that are hardly all gaps


class _Remedies(NamedTuple):
    """The options that can act on a column of mixed texts.

    options : those that read it in another way, or leave it out
    number_requested : the user asked for numbers by ``--number``
    points : its numbers may have points between thousands
    """

    options: Sequence[str] = ()
    number_requested: bool = False
    points: bool = False


def _explain_mixed_column(
    present: polars.Series, good: polars.Series, remedies: _Remedies, wanted: str = "numbers"
) -> str:
    """The rule, the texts that break it, and the options that act on them.

    Parameters
    ----------
    present, good : the cells that are not missing, and which of them are as wanted
    remedies : what the options of the command can do
    wanted : "numbers" or "dates"
    """
    name, column = present.name, shell_word(present.name)
    texts = present.filter(~good).value_counts(sort=True, name="rows")[name].to_list()
    listed = ", ".join(repr(shorten(text)) for text in texts[:SHOWN_TEXTS])
    more = f" and {len(texts) - SHOWN_TEXTS} more" if len(texts) > SHOWN_TEXTS else ""
    rows, right = int((~good).sum()), int(good.sum())
    found = wanted[:-1] if right == 1 else wanted
    rule, example, other = "numbers or texts, not both", "", "text"
    if wanted == "dates":
        rule, other = "dates of one form", "other text"
        example = f" such as {present.filter(good)[0]!r}"
    options = _missing_options(texts)
    if remedies.points:
        options.append("--decimal , if points separate thousands")
    options += remedies.options
    last = ", or " if len(options) > 1 else ""
    added = f", or add {', '.join(options[:-1])}{last}{options[-1]}" if options else ""
    left_out = f", or leave out --number {column}" if remedies.number_requested else ""
    return (
        f"a column must hold {rule}; {name} has {right} {found}{example} and {rows} "
        f"{other}{'' if rows == 1 else 's'}: {listed}{more}. Correct them{added}{left_out}"
    )


def _missing_options(texts: Sequence[str]) -> list[str]:
    """The options that read a few texts as missing."""
    if len(texts) > MOST_SPELLINGS:
        return ["--missing TEXT for each of them that means missing"]
    # only what can be typed
    typed = [f"--missing {shell_word(text)}" for text in texts if text == shorten(text)]
    return [f"{' '.join(typed)} to read them as missing"] if typed else []
