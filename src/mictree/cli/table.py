"""A file -> the columns to learn from and the labels, with complaints and warnings in words.

``read_table`` reads a file as the options say, and refuses names, labels and columns that no tree
can use. All complaints come together, those about names first, each with the option that helps:
a user should not repair a file one error at a time. What is only odd becomes a warning that --keep
silences: a column that gives the target away, numbers or dates that hide in texts, spellings of
missing, identifiers (``ODDITIES``, one function each). Rows without a label are left out.

Columns of dates may add their month, weekday and hour (--parts), and may order the rows (--after).
``load`` alone reads a file without a target, for ``predict``.
"""

import difflib
import glob
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mictree._support.checks import ColumnError, Complaints, caught, raise_all
from mictree._support.words import count_of, shell_word, show_name, show_text
from mictree.cli.options import FileFormat
from mictree.cli.tasks import (
    CLASSIFICATION,
    REGRESSION,
    Decision,
    TaskRequest,
    check_labels,
)
from mictree.cli.tasks import read_class_weight as read_class_weight

if TYPE_CHECKING:
    import polars


MANY_LABELS = 30  # a numeric target with more values is probably a quantity


@contextmanager
def naming_options(features: "polars.DataFrame | None" = None) -> Iterator[None]:
    """Name --drop in errors that would not occur without a column; complain about all features."""
    try:
        yield
    except ColumnError as error:
        found = [] if features is None else column_errors(features)
        raise_all(found or [_with_drop(error)])
    except Complaints as errors:
        raise_all([_with_drop(each) for each in errors.args])


def _with_drop(error: Exception) -> Exception:
    """The same error, with the options that help if it is about one column."""
    if not isinstance(error, ColumnError):
        return error
    column = shell_word(error.column)
    texts = f", or in a text file --text {column} to read categories" if error.or_texts else ""
    return ValueError(f"{error.problem}: add --drop {column}{texts}")


def column_errors(features: "polars.DataFrame") -> list[Exception]:
    """The complaints of a fit about each column alone."""
    import numpy as np

    from mictree.columns.data import Data
    from mictree.columns.literals import learn_column
    from mictree.columns.ordered import Scratch

    data, rows, errors = Data(features), np.arange(features.height), list[Exception]()
    for number, name in enumerate(features.columns):
        scratch = Scratch.of(features.height)
        errors += caught(learn_column, data, number, name, rows, None, None, scratch)
    return [_with_drop(each) for each in errors]


Finding = tuple[str, str]  # a column and what is odd about it


def is_streamed(file: Path) -> bool:
    """Whether Parquet files are to be read batch by batch: a pattern or a folder names them."""
    return not file.is_file() and (file.is_dir() or glob.has_magic(str(file)))


class Loaded(NamedTuple):
    """The table in a file, how it was read, in one line, and remarks on columns and header.

    ``cells`` are the columns as the file has them, if they were wanted.
    """

    frame: "polars.DataFrame"
    summary: str
    remarks: tuple[Finding, ...]
    doubt: str
    refused: dict[str, Exception]  # columns that the caller must not use, with the reason
    errors: list[Exception]  # other complaints, which the caller must raise
    orders: Mapping[str, str]
    cells: "polars.DataFrame | None" = None


class Table(NamedTuple):
    """Columns to learn from and labels, with what these are and how dates were read.

    dates : by column, what a saved model must know to read it again: ``order`` or ``part``
    moments : the values that order the rows, if the user has named them
    rising : a column of dates that rises or falls with the rows, if there is one
    """

    X: "polars.DataFrame"
    y: Any
    dates: Mapping[str, dict[str, Any]]
    moments: Any = None
    rising: str | None = None
    task: str = CLASSIFICATION


def load(
    file: Path,
    file_format: FileFormat,
    kinds: dict[str, str] | None = None,
    unread: Sequence[str] = (),
    target: str | None = None,
    orders: Mapping[str, str] | None = None,
    as_written: bool = False,
) -> Loaded:
    """Read the table in a file; nothing in the columns that are ``unread`` is refused.

    ``orders`` of day and month are those of a saved model; the user's come first.
    """
    from mictree.columns.cells import Reading
    from mictree.columns.text_tables import Layout, read_file

    found = read_file(
        file,
        Layout(file_format.separator, file_format.encoding, not file_format.no_header),
        Reading(
            tuple(file_format.missing),
            file_format.decimal,
            (*file_format.text, *unread),
            tuple(file_format.number),
            None if file_format.only is None else tuple(file_format.only),
            tuple(file_format.options),
            target,
            tuple(({**(orders or {}), **read_orders(file_format.date)}).items()),
        ),
        kinds,
        as_written,
    )
    frame = found.frame
    errors = caught(refuse_options, file_format, file) if found.typed else []
    if not frame.height:
        hint = "" if found.typed else "; --no-header says that its first line is a row"
        errors.append(ValueError(f"the file must have a row beside its header; it has none{hint}"))
    size = f"{count_of(frame.height, 'row')}, {count_of(frame.width, 'column')}"
    summary = f"{found.description}: {size}"
    return Loaded(
        frame, summary, found.remarks, found.doubt, dict(found.refused), errors, found.orders,
        found.cells,
    )  # fmt: skip


def read_orders(given: Sequence[str]) -> dict[str, str]:
    """The columns that --date names, and their orders."""
    from mictree.columns.cells import FIRST

    orders = {}
    for each in given:
        name, sign, order = each.rpartition("=")
        if not sign or order not in FIRST:
            raise ValueError(f"--date must be COLUMN=dmy or COLUMN=mdy; got {each!r}")
        orders[name] = order
    return orders


def refuse_options(file_format: FileFormat, file: Path) -> None:
    """Refuse options about texts for a file whose columns have types."""
    for name, given in file_format._asdict().items():
        if given and name not in ("only", "options"):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(
                f"{option} must not be given with a Parquet or Feather file, whose columns have "
                f"types of their own; got it with {str(file)!r}"
            )


def read_table(
    file: Path,
    target: str,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    file_format: FileFormat = FileFormat(),  # noqa: B008  # immutable
    parts: Sequence[str] = (),
    after: str | None = None,
    untested: Sequence[str] = (),
    check: Callable[["polars.DataFrame"], list[Exception]] = lambda features: [],
    request: TaskRequest | None = None,
) -> Table:
    """Read a file into the columns to learn from and the labels; warn about what looks wrong.

    Columns may be dropped whose ``parts`` stay, and ``after`` is no column to learn from. All
    complaints come together, those about names first. Trees do not use the columns ``untested``;
    ``check`` may complain about them. The ``request`` decides whether the labels are classes or
    numbers to predict; without one they must be classes.
    """
    check_drop(target, drop)
    timed = [*parts, *([] if after is None else [after])]
    if target in timed:
        raise ValueError(f"--target must not be named by --parts or --after; got {target!r}")
    unread = [name for name in drop if name not in timed]
    named = [target, *drop, *keep, *timed, *untested, *file_format.text, *file_format.number]
    named += read_orders(file_format.date)
    loaded = _load_named(file, file_format, unread, named)
    frame = loaded.frame
    errors = [*caught(check_names, frame, named, loaded.doubt), *loaded.errors]
    if not errors and not loaded.refused:
        _say_remarks(loaded, keep)
    indices = [column.name for column in frame if is_row_index(column)]
    missing, decision = 0, None
    if target in frame.columns and frame.height:
        frame, missing = _with_labels(frame, target)
        if target not in loaded.refused:
            decision = _decide(frame[target], request, errors)
    errors += [] if request is None else request.complain(decision)
    unused = {target, *drop, after}
    features = frame.select(name for name in frame.columns if name not in unused)
    if not len({*features.columns} - {*untested}) and not parts:
        which = "to learn from" if untested else "beside the target"
        errors.append(ValueError(f"the file must have a column {which}; it has none"))
    errors += dict.fromkeys(loaded.refused.values())  # one about several columns comes once
    usable = features.drop([*loaded.refused, *untested], strict=False)
    if frame.height:
        errors += _check_columns(usable, file_format.text, complete=bool(errors))
    if {*untested} <= {*features.columns}.difference(loaded.refused):
        errors += check(features)
    errors += _check_times(frame.drop(loaded.refused, strict=False), parts, after)
    raise_all(errors)
    if missing:
        print_note(
            f"left out {count_of(missing, 'row')} without a label: {show_name(target)} is missing"
        )
    assert decision is not None  # else there are complaints
    if decision.line:
        print_note(decision.line)
    task = "" if request is None else decision.task
    labels = decision.labels
    for name, warning in find_warnings(features, labels, "", file_format.text, indices, task):
        if name not in (*keep, *untested):
            print_note(f"warning: {warning}")
    features, dates = add_parts(features, frame, parts, loaded.orders)
    moments = None if after is None else ordering_values(frame[after])
    rising = next((column.name for column in frame if in_order_of_time(column)), None)
    return Table(features, labels.to_numpy(), dates, moments, rising, decision.task)


def _decide(
    labels: "polars.Series", request: TaskRequest | None, errors: list[Exception]
) -> Decision | None:
    """What the target is; what is wrong with it joins the other errors."""
    decided: list[Decision] = []

    def decide() -> None:
        if request is None:
            check_labels(labels)
            decided.append(Decision(CLASSIFICATION, labels))
        else:
            decided.append(request.decide(labels))

    errors += caught(decide)
    return decided[0] if decided else None


def _load_named(
    file: Path, file_format: FileFormat, unread: Sequence[str], named: Sequence[str]
) -> Loaded:
    """Read the table; complain about names, the target first, also if a row is too long."""
    import polars

    from mictree.columns.text_tables import LongRow

    try:
        return load(file, file_format, unread=unread, target=named[0])
    except LongRow as error:
        header = polars.DataFrame({name: [] for name in error.names})
        # a single name is rather a line above the table
        raise_all([*(caught(check_names, header, named) if header.width > 1 else []), error])
        raise


def _check_times(
    frame: "polars.DataFrame", parts: Sequence[str], after: str | None
) -> list[Exception]:
    """Complaints about columns that --parts and --after name, of those that the frame has."""
    names = [name for name in dict.fromkeys(parts) if name in frame.columns]
    errors = [
        each for name in names for each in caught(add_parts, frame.select(name), frame, [name], {})
    ]
    return errors + (caught(ordering_values, frame[after]) if after in frame.columns else [])


def add_parts(
    features: "polars.DataFrame", frame: "polars.DataFrame", parts: Sequence[str],
    orders: Mapping[str, str],
) -> tuple["polars.DataFrame", dict[str, dict[str, Any]]]:  # fmt: skip
    """The columns to learn from with parts of dates after them, and how dates were read."""
    import polars

    from mictree.columns.cells import MOMENTS
    from mictree.columns.data import PARTS, Data, part_of

    dates: dict[str, dict[str, Any]]
    dates = {name: {"order": order} for name, order in orders.items() if name in features.columns}
    for name in dict.fromkeys(parts):
        data = Data(frame.select(name))
        kind, moments = data.kind(0), data.column(0)
        if kind not in MOMENTS or isinstance(moments, list):
            raise ValueError(f"--parts must name a column of dates; {describe_values(frame[name])}")
        where = features.columns.index(name) + 1 if name in features.columns else features.width
        for what in PARTS:
            column = polars.Series(f"{name} {what}", part_of(moments, what)).fill_nan(None)
            if what == "hour" and column.n_unique() < 2:
                continue
            if column.name in frame.columns:
                raise ValueError(
                    f"--parts {name} must make new columns; there is a {column.name!r}"
                )
            whole = column.cast(polars.Int64)  # a frame without columns has no rows
            features = features.insert_column(where, whole) if features.width else whole.to_frame()
            where += 1
            dates[column.name] = {"order": orders.get(name), "part": (what, name, kind)}
    return features, dates


def ordering_values(column: "polars.Series") -> Any:
    """The values by which rows are ordered: dates, times or numbers, none of them missing."""
    from mictree.columns.cells import present_dates

    if str(column.dtype) == "String":  # of a file with types; and --text does not forbid an order
        dates = present_dates(column)[0]
        column = column if dates is None or len(dates) < len(column) else dates
    kind = column.dtype
    if kind.is_float():
        column = column.fill_nan(None)
    if not kind.is_temporal() and not (kind.is_numeric() and not str(kind).startswith("Decimal")):
        raise ValueError(
            f"--after must name a column of dates or numbers; {describe_values(column)}"
        )
    if column.null_count():
        rows = count_of(column.null_count(), "row")
        raise ValueError(
            f"--after must name a column that is known in every row; {show_name(column.name)} is "
            f"missing in {rows}"
        )
    return column.to_numpy()


def describe_values(column: "polars.Series") -> str:
    """What a column holds instead of dates."""
    from mictree.columns.cells import doubt_dates

    doubt = doubt_dates(column) if str(column.dtype) == "String" else ""
    name, present = show_name(column.name), column.drop_nulls()
    return f"column {name} {doubt}" if doubt else f"{name} has {present.first()!r}"


def warn_about_time_order(table: Table, keep: Sequence[str]) -> None:
    """Say that held-out rows drawn at random flatter the error, if rows are in order of time."""
    if table.rising is None or table.rising in keep:
        return
    column = shell_word(table.rising)
    print_note(
        f"warning: rows are in order of time, as column {show_name(table.rising)} tells, and rows "
        "held out at random flatter the error: new rows will be later than all rows of the file; "
        f"--after {column} tests on later rows than it grows on, --keep {column} silences this line"
    )


def complete_column(frame: "polars.DataFrame", name: str | None) -> Any:
    """The values of a column, which must not be missing."""
    if name is None:
        return None
    count = frame[name].null_count()
    if count:
        raise ValueError(
            "groups and weights must be known in every row; "
            f"{show_name(name)} is missing in {count}"
        )
    return frame[name].to_numpy()


def column_of_weights(frame: "polars.DataFrame", name: str | None) -> Any:
    """The values of a column of numbers."""
    from mictree.columns.cells import are_codes

    if name is not None and not frame[name].dtype.is_numeric():
        present = frame[name].drop_nulls()
        codes = str(present.dtype) == "String" and are_codes(present.str.strip_chars())
        advice = f": add --number {shell_word(name)}" if codes else ""
        raise ValueError(
            f"weights must be numbers; {show_name(name)} has {present.first()!r}{advice}"
        )
    return complete_column(frame, name)


def _with_labels(frame: "polars.DataFrame", target: str) -> tuple["polars.DataFrame", int]:
    """The rows that have a label, and the number of the others."""
    if frame[target].dtype.is_float():  # Parquet files may have NaN
        frame = frame.with_columns(frame[target].fill_nan(None))
    return frame.filter(frame[target].is_not_null()), frame[target].null_count()


def _check_columns(
    features: "polars.DataFrame", texts: Sequence[str], complete: bool
) -> list[Exception]:
    """Complaints about columns; ``complete`` adds those that a fit would find sooner or later."""
    found = {
        name: errors
        for name in features.columns
        if (errors := caught(check_feature, features[name], texts))
    }
    errors = [each for one in found.values() for each in one]
    return errors + (column_errors(features.drop(found)) if complete or errors else [])


def _say_remarks(loaded: Loaded, keep: Sequence[str]) -> None:
    """Say how the file was read."""
    print_note(loaded.summary)
    first = loaded.frame.columns[0]
    if loaded.doubt and first not in keep:
        print_note(f"warning: {loaded.doubt}; --keep {shell_word(first)} silences this line")
    for name, remark in loaded.remarks:
        if name not in keep:
            print_note(remark)


def check_drop(target: str, drop: Sequence[str]) -> None:
    """Refuse to leave out the target."""
    if target in drop:
        raise ValueError(f"--target and --drop must name different columns; both name {target!r}")


def print_note(line: str) -> None:
    """One line on stderr."""
    print(f"mictree: {show_text(line)}", file=sys.stderr)


def check_names(frame: "polars.DataFrame", names: Sequence[str], doubt: str = "") -> None:
    """Refuse names that are no column's; show all names, the most similar one, and doubts."""
    errors = []
    for name in dict.fromkeys(names):
        if name in frame.columns:
            continue
        folded = {column.strip().casefold(): column for column in reversed(frame.columns)}
        near = difflib.get_close_matches(name.strip().casefold(), folded, 1)
        found = folded[near[0]] if near else ""
        typed = repr(found) if found.isprintable() else shell_word(found)
        hint = f" (did you mean {typed}?)" if near else ""
        rule = f"the file must have a column {name!r}{hint}"
        if not errors:  # the names of all columns, once
            one = "; --separator names the mark between columns" * (frame.width == 1)
            rule += f"; it has {', '.join(map(show_name, frame.columns))}{one}"
            rule += f"; {doubt}" if doubt else ""
        errors.append(ValueError(rule))
    raise_all(errors)


def check_feature(column: "polars.Series", texts: Sequence[str] = ()) -> None:
    """Refuse an infinite number, and a column of texts with more values than a tree can test.

    Those that the user reads as ``texts`` are not taken for dates.
    """
    from mictree.columns.cells import are_codes, doubt_dates
    from mictree.columns.literals import MAX_CATEGORIES

    quoted = shell_word(column.name)
    if column.dtype.is_float() and bool(column.is_infinite().any()):
        raise ValueError(
            f"numbers must be finite, at most {sys.float_info.max:.3g}; "
            f"{show_name(column.name)} has an infinite or a larger one: add --drop "
            f"{quoted}, or in a text file --missing with its text, as in --missing inf"
        )
    count = column.n_unique() if str(column.dtype) == "String" else 0
    if count <= MAX_CATEGORIES:
        return
    doubt = "" if column.name in texts else doubt_dates(column)
    if doubt:
        raise ValueError(
            f"column {show_name(column.name)} {doubt}, or --drop {quoted}: as texts it may "
            f"have at most {MAX_CATEGORIES} different ones, and it has {count}"
        )
    codes = are_codes(column.drop_nulls().str.strip_chars())
    numbers = f", or --number {quoted} to read numbers" if codes else ""
    raise ValueError(
        f"a column of texts may have at most {MAX_CATEGORIES} different ones; "
        f"{show_name(column.name)} has {count}: add --drop {quoted}{numbers}"
    )


def find_warnings(
    features: "polars.DataFrame",
    labels: "polars.Series",
    part: str = "",
    texts: Sequence[str] = (),
    indices: Sequence[str] = (),
    task: str = "",
) -> Iterator[Finding]:
    """What is odd about the columns, each with the option that acts on it; in a part of the rows.

    Few files are sorted by chance: that a part has one label says nothing. The columns that the
    user reads as ``texts`` hide no numbers. ``indices`` count the rows of the whole file. Labels
    are classes unless a ``task`` is named; many different numbers are odd if nobody decided.
    """
    rows, classes = len(labels), labels.n_unique()
    name, shown, quoted = labels.name, show_name(labels.name), shell_word(labels.name)
    if classes == 1 and not part:
        yield (
            name,
            (
                f"the target {shown} is {labels[0]} in every row, so there is nothing to learn; "
                f"choose another --target, or --keep {quoted}"
            ),
        )
    elif classes == rows >= FEW_ROWS and task != REGRESSION:
        yield (
            name,
            (
                f"the target {shown} is different in every row{part}, so nothing can be learned; "
                f"choose another --target, or --keep {quoted}"
            ),
        )
    elif labels.dtype.is_numeric() and classes > MANY_LABELS and not task:
        yield (
            name,
            (
                f"the target {shown} has {classes} different numbers{part}, each of which is a "
                f"class; --keep {quoted} silences this line"
            ),
        )
    spellings = differs_little(labels, labels)
    if spellings:
        yield (
            name,
            (
                f"the target {shown} {spellings}, so these are different classes{part}; "
                f"--keep {quoted} silences this line"
            ),
        )
    for column in features:
        for odd in ODDITIES:
            asked = odd in (hides_dates, hides_numbers) and column.name in texts
            what = "" if asked else odd(column, labels)
            if odd is is_identifier and column.name in indices:
                what = NUMBERS_ROWS
            if what:
                quoted = shell_word(column.name)
                yield (
                    column.name,
                    (
                        f"column {show_name(column.name)} {what}{part}; --drop {quoted} leaves it "
                        f"out, --keep {quoted} silences this line"
                    ),
                )
                break


FEW_ROWS = 10  # in so few rows it means nothing that every value is different
FEW_NUMBERS = 2  # categories and thresholds separate so few alike
FEW_AFFIXES = 2  # as (5) beside 5; more are no marks of one quantity
THOUSANDS = r"\d{1,3}(?:[ .,'’_\u00a0\u202f]\d{3})+|\d{1,2}(?:,\d{2})*,\d{3}"  # or 12,34,567
WITH_MARKS = rf"^([^\w]{{0,3}})(?:{THOUSANDS}|\d+)(?:[.,]\d+)?(\D{{0,12}})$"  # 5%, $5, 5 kg, 1 234
UNREAD = ("na", "n.a.", "n.a", "<na>", "n/a", "#n/a", "#na", "nan", "null", "nil")
NUMBERS_ROWS = "numbers the rows, as an index does"
MANY_DAYS = 20  # different numbers; so many are not days of the calendar by chance
FIRST_DAY, LAST_DAY = 19000101, 21001231
TIME_OF_DAY = r"^\d{1,2}:\d{2}(:\d{2})?( ?(?i:[ap]m))?$"


def determines_target(column: "polars.Series", labels: "polars.Series") -> str:
    """Whether each value goes with one label, and each label with one value."""
    import polars

    classes = labels.n_unique()
    if classes < 2 or column.null_count() or column.n_unique() != classes or classes == len(labels):
        return ""
    pairs = polars.DataFrame([column.alias("value"), labels.alias("label")]).unique()
    return "gives the target away: it has one value for each label" * (pairs.height == classes)


def hides_dates(column: "polars.Series", labels: "polars.Series") -> str:
    """Whether the texts look like dates, all or most of them."""
    from mictree.columns.cells import doubt_dates

    return doubt_dates(column) if str(column.dtype) == "String" else ""


def numbers_days(column: "polars.Series", labels: "polars.Series") -> str:
    """Whether all whole numbers are days of the calendar without marks, as 20120131."""
    import polars

    if not column.dtype.is_integer() or column.null_count() == len(column):
        return ""
    # not compared by polars, whose small integers hold no days
    if int(column.min()) < FIRST_DAY or int(column.max()) > LAST_DAY:  # type: ignore[arg-type]
        return ""
    numbers = column.drop_nulls().unique(maintain_order=True)
    if len(numbers) < MANY_DAYS:
        return ""
    days = numbers.cast(polars.String).str.strptime(polars.Date, "%Y%m%d", strict=False)
    if days.null_count():
        return ""
    example = f"such as {numbers[0]}, and is read as numbers"
    return f"looks like dates written as numbers, {example}; write {days[0]}"


def hides_numbers(column: "polars.Series", labels: "polars.Series") -> str:
    """Whether the texts are times of day, or numbers with the same marks around all."""
    from mictree.columns.cells import PLAIN, are_codes, have_points

    if str(column.dtype) != "String":
        return ""
    texts = column.drop_nulls().unique(maintain_order=True)
    stripped = texts.str.strip_chars()
    if len(texts) <= FEW_NUMBERS:
        return ""
    marked = texts.filter(~stripped.str.contains(PLAIN))  # the others may stand beside them
    example = f"such as {(marked if len(marked) else texts)[0]!r}, and is read as categories"
    shown = f"{example}; write them as plain numbers"
    if stripped.str.contains(TIME_OF_DAY).all():
        return f"has times of day, {shown}"
    if not stripped.str.contains(WITH_MARKS).all() or are_codes(stripped):
        return ""
    if stripped.str.contains(PLAIN).all():  # a text file has them as numbers
        return f"has numbers stored as texts, {example}; store them as numbers"
    affixes = stripped.str.replace(WITH_MARKS, "$1 $2").n_unique()
    way_out = ", or add --decimal ," if have_points(stripped) else ""
    return f"has numbers with marks, {shown}{way_out}" if affixes <= FEW_AFFIXES else ""


def differs_little(column: "polars.Series", labels: "polars.Series") -> str:
    """Whether two texts are the same but for case and spaces."""
    if str(column.dtype) != "String":
        return ""
    texts = column.drop_nulls().unique(maintain_order=True)
    plain = texts.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    again = plain.is_duplicated()
    if not again.any():
        return ""
    one, other, *_ = texts.filter(plain == plain.filter(again)[0])
    return f"has texts that differ only in case or spaces: {one!r} and {other!r}"


def hides_missing(column: "polars.Series", labels: "polars.Series") -> str:
    """Whether a text is a spelling of missing that is not read so."""
    if str(column.dtype) != "String":
        return ""
    texts = column.drop_nulls().unique(maintain_order=True)
    found = texts.filter(texts.str.strip_chars().str.to_lowercase().is_in(UNREAD))
    if not len(found):
        return ""
    return (
        f"has the text {found[0]!r}, and it is read as a category; in a text file --missing "
        f"{shell_word(found[0].strip())} reads it as missing"
    )


def is_identifier(column: "polars.Series", labels: "polars.Series") -> str:
    """Whether texts or whole numbers never repeat."""
    text, whole = str(column.dtype) == "String", column.dtype.is_integer()
    if column.dtype.is_float():  # as numbers beyond 64 bits become
        whole = bool((column == column.round()).all())
    if len(column) < FEW_ROWS or not (text or whole):
        return ""
    return "is different in every row, as an identifier is" * (column.n_unique() == len(column))


def in_order_of_time(column: "polars.Series") -> bool:
    """Whether dates rise, or fall, with the rows: no neighbours the other way, 10 different ones.

    Missing dates are passed over. Columns that nobody reads may have them as texts.
    """
    from mictree.columns.cells import present_dates

    found = present_dates(column)[0] if str(column.dtype) == "String" else column
    if found is None or not str(found.dtype).startswith("Date"):  # Date or Datetime
        return False
    dates = found.drop_nulls()
    if not dates.is_sorted() and not dates.is_sorted(descending=True):
        return False
    return dates.n_unique() >= FEW_ROWS


def is_row_index(column: "polars.Series") -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ... in the rows of a file, as an index is."""
    import polars

    if len(column) < FEW_ROWS or not column.dtype.is_integer() or column[0] not in (0, 1):
        return False
    numbers = polars.int_range(len(column), eager=True) + column[0]
    return not column.null_count() and bool((column == numbers).all())


ODDITIES: tuple[Callable[..., str], ...] = (
    hides_dates, numbers_days, determines_target, hides_numbers, hides_missing, differs_little,
    is_identifier,
)  # fmt: skip
