"""Tables of data for the commands: the options that read a file, and warnings about columns."""

import csv
import difflib
import glob
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mictree._support.checks import ColumnError, Complaints, caught, raise_all
from mictree._support.words import count_of, shell_word, show_name, show_text
from mictree.cli.oddities import (
    FEW_ROWS,
    NUMBERS_ROWS,
    ODDITIES,
    counts_rows,
    differs_little,
    hides_dates,
    hides_numbers,
    in_order_of_time,
    is_identifier,
)

if TYPE_CHECKING:
    import polars

MANY_LABELS = 30  # a numeric target with more values is probably a quantity
ENDINGS = ".csv, .tsv, .txt, .parquet, .feather, .xlsx; also .gz, .zst"


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
    """What a fit would say about each column alone."""
    import numpy as np

    from mictree.columns.data import Data
    from mictree.columns.encode import learn_column
    from mictree.columns.scratch import Scratch

    data, rows, errors = Data(features), np.arange(features.height), list[Exception]()
    for number, name in enumerate(features.columns):
        scratch = Scratch.of(features.height)
        errors += caught(learn_column, data, number, name, rows, None, None, scratch)
    return [_with_drop(each) for each in errors]


Finding = tuple[str, str]  # a column and what is odd about it

DataFile = Annotated[
    Path, typer.Argument(help=f"A table ({ENDINGS}), or - for stdin.", show_default=False)
]
DataFiles = Annotated[
    Path,
    typer.Argument(
        help=f"A table ({ENDINGS}), or - for stdin; or a folder or a quoted pattern of Parquet "
        "files, which are read batch by batch.",
        show_default=False,
    ),
]
Target = Annotated[str, typer.Option(help="Column to predict.", show_default=False)]
Drop = Annotated[list[str], typer.Option(help="Column to leave out; repeatable.", metavar="COLUMN")]
Keep = Annotated[
    list[str], typer.Option(help="Column not to warn about; repeatable.", metavar="COLUMN")
]
Separator = Annotated[
    str | None,
    typer.Option(help="comma, semicolon, tab, pipe or a character.", show_default="found"),
]
DateOrder = Annotated[
    list[str],
    typer.Option(
        "--date",
        help="Column of dates and its order of day and month, as in when=dmy or when=mdy; "
        "repeatable.",
        metavar="COLUMN=ORDER",
    ),
]
Parts = Annotated[
    list[str],
    typer.Option(
        help="Column of dates whose month, weekday (1 is Monday) and, if times vary, hour become "
        "columns too; repeatable.",
        metavar="COLUMN",
    ),
]
After = Annotated[
    str | None,
    typer.Option(
        help="Column of dates or numbers by which rows are ordered: trees grow on earlier rows and "
        "are tested on later ones, and equal values stay together. Not used in trees, as a test of "
        "the time itself says nothing about later rows.",
        metavar="COLUMN",
        show_default=False,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header", help="The first line is a row; columns are column_1, column_2, ..."
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="utf-8, utf-16, latin-1, ...", show_default="found")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal mark: ',' or '.'.", show_default="found")
]
Missing = Annotated[
    list[str],
    typer.Option(help="One more spelling of missing; repeatable.", metavar="TEXT"),
]
Text = Annotated[
    list[str], typer.Option(help="Column to read as categories; repeatable.", metavar="COLUMN")
]
Number = Annotated[
    list[str],
    typer.Option(
        help="Column to read as numbers, even with leading zeros; repeatable.", metavar="COLUMN"
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        help="Column with the weight of each row; not used in trees.",
        metavar="COLUMN",
        show_default=False,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="Factors of the weights of classes: balanced, label=weight,... or a CSV file of "
        "lines label,weight. For rare classes; errors are then weighted, too.",
        metavar="WEIGHTS",
        show_default=False,
    ),
]


def is_streamed(file: Path) -> bool:
    """Whether Parquet files are to be read batch by batch: a pattern or a folder names them."""
    return not file.is_file() and (file.is_dir() or glob.has_magic(str(file)))


class Format(NamedTuple):
    """The options that say how a file is written."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: Sequence[str] = ()
    text: Sequence[str] = ()
    number: Sequence[str] = ()
    no_header: bool = False
    date: Sequence[str] = ()
    only: Sequence[str] | None = None  # the columns that matter
    options: Sequence[str] = ("--text", "--drop")  # that errors about one column may name


class Loaded(NamedTuple):
    """The table in a file, how it was read, in one line, and remarks on columns and header.

    ``cells`` are the columns as the file has them, if they were wanted.
    """

    frame: "polars.DataFrame"
    said: str
    remarks: tuple[Finding, ...]
    doubt: str
    refused: dict[str, Exception]  # columns that the caller must not use, with the reason
    errors: list[Exception]  # other complaints, which the caller must raise
    orders: Mapping[str, str]
    cells: "polars.DataFrame | None" = None


class Table(NamedTuple):
    """Columns to learn from and labels, with what dates have to say.

    dates : by column, what a saved model must know to read it again: ``order`` or ``part``
    moments : the values that order the rows, if the user has named them
    rising : a column of dates that rises or falls with the rows, if there is one
    """

    X: "polars.DataFrame"
    y: Any
    dates: Mapping[str, dict[str, Any]]
    moments: Any = None
    rising: str | None = None


def load(
    file: Path,
    written: Format,
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
    from mictree.columns.files import Layout, read_file

    found = read_file(
        file,
        Layout(written.separator, written.encoding, not written.no_header),
        Reading(
            tuple(written.missing),
            written.decimal,
            (*written.text, *unread),
            tuple(written.number),
            None if written.only is None else tuple(written.only),
            tuple(written.options),
            target,
            tuple(({**(orders or {}), **read_orders(written.date)}).items()),
        ),
        kinds,
        as_written,
    )
    frame = found.frame
    errors = caught(refuse_options, written, file) if found.typed else []
    if not frame.height:
        hint = "" if found.typed else "; --no-header says that its first line is a row"
        errors.append(ValueError(f"the file must have a row beside its header; it has none{hint}"))
    size = f"{count_of(frame.height, 'row')}, {count_of(frame.width, 'column')}"
    said = f"{found.said}: {size}"
    return Loaded(
        frame, said, found.remarks, found.doubt, dict(found.refused), errors, found.orders,
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


def refuse_options(written: Format, file: Path) -> None:
    """Refuse options about texts for a file whose columns have types."""
    for name, given in written._asdict().items():
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
    written: Format = Format(),  # noqa: B008  # immutable
    parts: Sequence[str] = (),
    after: str | None = None,
    apart: Sequence[str] = (),
    check: Callable[["polars.DataFrame"], list[Exception]] = lambda features: [],
) -> Table:
    """Read a file into the columns to learn from and the labels; warn about what looks wrong.

    Columns may be dropped whose ``parts`` stay, and ``after`` is no column to learn from. All
    complaints come together, those about names first. Trees do not use the columns ``apart``;
    ``check`` may complain about them.
    """
    check_drop(target, drop)
    timed = [*parts, *([] if after is None else [after])]
    if target in timed:
        raise ValueError(f"--target must not be named by --parts or --after; got {target!r}")
    unread = [name for name in drop if name not in timed]
    loaded = load(file, written, unread=unread, target=target)
    frame = loaded.frame
    named = [target, *drop, *keep, *timed, *apart, *written.text, *written.number]
    named += read_orders(written.date)
    errors = [*caught(check_names, frame, named, loaded.doubt), *loaded.errors]
    if not errors and not loaded.refused:
        _say_remarks(loaded, keep)
    indices = [column.name for column in frame if counts_rows(column)]
    missing = 0
    if target in frame.columns and frame.height:
        frame, missing = _with_labels(frame, target)
        errors += [] if target in loaded.refused else caught(check_labels, frame[target])
    unused = {target, *drop, after}
    features = frame.select(name for name in frame.columns if name not in unused)
    if not len({*features.columns} - {*apart}) and not parts:
        which = "to learn from" if apart else "beside the target"
        errors.append(ValueError(f"the file must have a column {which}; it has none"))
    errors += dict.fromkeys(loaded.refused.values())  # one about several columns comes once
    usable = features.drop([*loaded.refused, *apart], strict=False)
    if frame.height:
        errors += _check_columns(usable, written.text, complete=bool(errors))
    if {*apart} <= {*features.columns}.difference(loaded.refused):
        errors += check(features)
    raise_all(errors)
    if missing:
        say(f"left out {count_of(missing, 'row')} without a label: {show_name(target)} is missing")
    for name, warning in find_warnings(features, frame[target], "", written.text, indices):
        if name not in (*keep, *apart):
            say(f"warning: {warning}")
    features, dates = add_parts(features, frame, parts, loaded.orders)
    moments = None if after is None else known_moments(frame[after])
    rising = next((column.name for column in frame if in_order_of_time(column)), None)
    return Table(features, frame[target].to_numpy(), dates, moments, rising)


def add_parts(
    features: "polars.DataFrame", frame: "polars.DataFrame", parts: Sequence[str],
    orders: Mapping[str, str],
) -> tuple["polars.DataFrame", dict[str, dict[str, Any]]]:  # fmt: skip
    """The columns to learn from with parts of dates after them, and how dates were read."""
    import polars

    from mictree.columns.cells import MOMENTS
    from mictree.columns.data import Data
    from mictree.columns.series import PARTS, part_of

    dates: dict[str, dict[str, Any]]
    dates = {name: {"order": order} for name, order in orders.items() if name in features.columns}
    for name in dict.fromkeys(parts):
        data = Data(frame.select(name))
        kind, moments = data.kind(0), data.column(0)
        if kind not in MOMENTS or isinstance(moments, list):
            raise ValueError(f"--parts must name a column of dates; {tell_kind(frame[name])}")
        where = features.columns.index(name) + 1 if name in features.columns else features.width
        for what in PARTS:
            column = polars.Series(f"{name} {what}", part_of(moments, what)).fill_nan(None)
            if what == "hour" and column.n_unique() < 2:
                continue
            if column.name in frame.columns:
                raise ValueError(
                    f"--parts {name} must make new columns; there is a {column.name!r}"
                )
            features = features.insert_column(where, column.cast(polars.Int64))
            where += 1
            dates[column.name] = {"order": orders.get(name), "part": (what, name, kind)}
    return features, dates


def known_moments(column: "polars.Series") -> Any:
    """The values by which rows are ordered: dates, times or numbers, none of them missing."""
    from mictree.columns.cells import present_dates

    if str(column.dtype) == "String":  # of a file with types; and --text does not forbid an order
        dates = present_dates(column)[0]
        column = column if dates is None or len(dates) < len(column) else dates
    kind = column.dtype
    if kind.is_float():
        column = column.fill_nan(None)
    if not kind.is_temporal() and not (kind.is_numeric() and not str(kind).startswith("Decimal")):
        raise ValueError(f"--after must name a column of dates or numbers; {tell_kind(column)}")
    if column.null_count():
        rows = count_of(column.null_count(), "row")
        raise ValueError(
            f"--after must name a column that is known in every row; {show_name(column.name)} is "
            f"missing in {rows}"
        )
    return column.to_numpy()


def tell_kind(column: "polars.Series") -> str:
    """What a column holds instead of dates."""
    from mictree.columns.cells import doubt_dates

    doubt = doubt_dates(column) if str(column.dtype) == "String" else ""
    name, present = show_name(column.name), column.drop_nulls()
    return f"column {name} {doubt}" if doubt else f"{name} has {present.first()!r}"


def advise_after(table: Table, keep: Sequence[str]) -> None:
    """Say that held-out rows drawn at random flatter the error, if rows are in order of time."""
    if table.rising is None or table.rising in keep:
        return
    column = shell_word(table.rising)
    say(
        f"warning: rows are in order of time, as column {show_name(table.rising)} tells, and rows "
        "held out at random flatter the error: new rows will be later than all rows of the file; "
        f"--after {column} tests on later rows than it grows on, --keep {column} silences this line"
    )


def known_column(frame: "polars.DataFrame", name: str | None) -> Any:
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
    return known_column(frame, name)


def read_class_weight(text: str | None, classes: Sequence[Any] | None = None) -> Any:
    """The option --class-weight: None, "balanced", or a mapping of labels to weights.

    Without classes the labels are texts, so that a bad option is refused before a file is read.
    With classes they are those whose texts the option names; an unknown one is refused.
    """
    if text is None or text == "balanced":
        return text
    pairs = _weights_in_file(Path(text)) if Path(text).is_file() else _weights_in_text(text)
    found: dict[Any, float] = {}
    labels = None if classes is None else {str(label): label for label in classes}
    for label, weight in pairs:
        if label in found:
            raise ValueError(f"--class-weight must name each label once; {label!r} occurs twice")
        if labels is not None and label not in labels:
            known = ", ".join(map(repr, labels))
            raise ValueError(f"--class-weight must name classes; {label!r} is none of {known}")
        found[label] = _positive(label, weight)
    return found if labels is None else {labels[label]: each for label, each in found.items()}


def _weights_in_text(text: str) -> list[tuple[str, str]]:
    """The pairs of label=weight,label=weight."""
    pairs = []
    for part in text.split(","):
        label, mark, weight = part.rpartition("=")
        if not mark:
            raise ValueError(
                "--class-weight must be balanced, label=weight,label=weight or a CSV file of lines "
                f"label,weight; got {text!r}, and there is no such file"
            )
        pairs.append((label.strip(), weight))
    return pairs


def _weights_in_file(file: Path) -> list[tuple[str, str]]:
    """The pairs of a CSV file of labels and weights; it may begin with the line label,weight."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
    if rows and [cell.casefold() for cell in rows[0]] == ["label", "weight"]:
        del rows[0]
    if not rows:
        raise ValueError(f"--class-weight must have lines label,weight; {str(file)!r} has none")
    for row in rows:
        if len(row) != 2:
            raise ValueError(
                f"--class-weight must have lines label,weight; {str(file)!r} has {','.join(row)!r}"
            )
    return [(label, weight) for label, weight in rows]


def _positive(label: str, text: str) -> float:
    """A weight, positive and finite."""
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise ValueError(
            f"--class-weight must be positive, finite numbers; {label!r} has {text.strip()!r}"
        )
    return weight


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
    say(loaded.said)
    first = loaded.frame.columns[0]
    if loaded.doubt and first not in keep:
        say(f"warning: {loaded.doubt}; --keep {shell_word(first)} silences this line")
    for name, remark in loaded.remarks:
        if name not in keep:
            say(remark)


def check_drop(target: str, drop: Sequence[str]) -> None:
    """Refuse to leave out the target."""
    if target in drop:
        raise ValueError(f"--target and --drop must name different columns; both name {target!r}")


def say(line: str) -> None:
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


def check_labels(labels: "polars.Series") -> None:
    """Refuse labels that are no classes: lists, dates, and measured numbers; or none at all."""
    kind, name = labels.dtype, show_name(labels.name)
    if not len(labels):
        raise ValueError(f"some row must have a label; {name} is missing in all rows")
    if not (kind.is_integer() or kind.is_float() or str(kind) in ("String", "Boolean")) and not str(
        kind
    ).startswith(("Categorical", "Enum")):
        raise ValueError(f"labels must be numbers, texts or booleans; {name} has {kind}")
    if kind.is_float() and bool(labels.is_infinite().any()):
        raise ValueError(f"labels must be classes; {name} has an infinite number")
    if kind.is_float() and bool((labels != labels.round()).any()):
        raise ValueError(
            f"labels must be classes; {name} holds measured numbers such as {labels[0]}. "
            "Mictree does not do regression; use scikit-learn's DecisionTreeRegressor, or make "
            "classes of the numbers"
        )


def check_feature(column: "polars.Series", texts: Sequence[str] = ()) -> None:
    """Refuse an infinite number, and a column of texts with more values than a tree can test.

    Those that the user reads as ``texts`` are not taken for dates.
    """
    from mictree.columns.cells import are_codes, doubt_dates
    from mictree.columns.encode import MAX_CATEGORIES

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
) -> Iterator[Finding]:
    """What is odd about the columns, each with the option that acts on it; in a part of the rows.

    Few files are sorted by chance: that a part has one label says nothing. The columns that the
    user reads as ``texts`` hide no numbers. ``indices`` count the rows of the whole file.
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
    elif classes == rows >= FEW_ROWS:
        yield (
            name,
            (
                f"the target {shown} is different in every row{part}, so nothing can be learned; "
                f"choose another --target, or --keep {quoted}"
            ),
        )
    elif labels.dtype.is_numeric() and classes > MANY_LABELS:
        yield (
            name,
            (
                f"the target {shown} has {classes} different numbers{part}, each of which is a "
                "class; for regression use scikit-learn's DecisionTreeRegressor. "
                f"--keep {quoted} silences this line"
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
