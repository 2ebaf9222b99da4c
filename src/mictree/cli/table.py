"""Tables of data for the commands: the options that read a file, and warnings about columns."""

import difflib
import glob
import sys
from collections.abc import Callable, Iterator, Sequence
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
    hides_numbers,
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
    only: Sequence[str] | None = None  # the columns that matter
    options: Sequence[str] = ("--text", "--drop")  # that errors about one column may name


class Loaded(NamedTuple):
    """The table in a file, how it was read, in one line, and remarks on columns and header."""

    frame: "polars.DataFrame"
    said: str
    remarks: tuple[Finding, ...]
    doubt: str
    refused: dict[str, Exception]  # columns that the caller must not use, with the reason
    errors: list[Exception]  # other complaints, which the caller must raise


def load(
    file: Path,
    written: Format,
    kinds: dict[str, str] | None = None,
    unread: Sequence[str] = (),
    target: str | None = None,
) -> Loaded:
    """Read the table in a file; nothing in the columns that are ``unread`` is refused."""
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
        ),
        kinds,
    )
    frame = found.frame
    errors = caught(refuse_options, written, file) if found.typed else []
    if not frame.height:
        hint = "" if found.typed else "; --no-header says that its first line is a row"
        errors.append(ValueError(f"the file must have a row beside its header; it has none{hint}"))
    size = f"{count_of(frame.height, 'row')}, {count_of(frame.width, 'column')}"
    said = f"{found.said}: {size}"
    return Loaded(frame, said, found.remarks, found.doubt, dict(found.refused), errors)


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
    apart: Sequence[str] = (),
    check: Callable[["polars.DataFrame"], list[Exception]] = lambda features: [],
) -> tuple["polars.DataFrame", Any]:
    """Read a file into the columns to learn from and the labels; warn about what looks wrong.

    All complaints come together, those about names first. Trees do not use the columns ``apart``;
    ``check`` may complain about them.
    """
    check_drop(target, drop)
    loaded = load(file, written, unread=drop, target=target)
    frame = loaded.frame
    named = [target, *drop, *keep, *apart, *written.text, *written.number]
    errors = [*caught(check_names, frame, named, loaded.doubt), *loaded.errors]
    if not errors and not loaded.refused:
        _say_remarks(loaded, keep)
    indices = [column.name for column in frame if counts_rows(column)]
    missing = 0
    if target in frame.columns and frame.height:
        frame, missing = _with_labels(frame, target)
        errors += [] if target in loaded.refused else caught(check_labels, frame[target])
    features = frame.select(name for name in frame.columns if name not in (target, *drop))
    if not len({*features.columns} - {*apart}):
        which = "to learn from" if apart else "beside the target"
        errors.append(ValueError(f"the file must have a column {which}; it has none"))
    errors += dict.fromkeys(loaded.refused.values())  # one about several columns comes once
    usable = features.drop([*loaded.refused, *apart], strict=False)
    errors += _check_columns(usable, complete=bool(errors)) if frame.height else []
    if {*apart} <= {*features.columns}.difference(loaded.refused):
        errors += check(features)
    raise_all(errors)
    if missing:
        say(f"left out {count_of(missing, 'row')} without a label: {show_name(target)} is missing")
    for name, warning in find_warnings(features, frame[target], "", written.text, indices):
        if name not in (*keep, *apart):
            say(f"warning: {warning}")
    return features, frame[target].to_numpy()


def _with_labels(frame: "polars.DataFrame", target: str) -> tuple["polars.DataFrame", int]:
    """The rows that have a label, and the number of the others."""
    if frame[target].dtype.is_float():  # Parquet files may have NaN
        frame = frame.with_columns(frame[target].fill_nan(None))
    return frame.filter(frame[target].is_not_null()), frame[target].null_count()


def _check_columns(features: "polars.DataFrame", complete: bool) -> list[Exception]:
    """Complaints about columns; ``complete`` adds those that a fit would find sooner or later."""
    found = {
        name: errors
        for name in features.columns
        if (errors := caught(check_feature, features[name]))
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


def check_feature(column: "polars.Series") -> None:
    """Refuse an infinite number, and a column of texts with more values than a tree can test."""
    from mictree.columns.cells import are_codes
    from mictree.columns.encode import MAX_CATEGORIES

    quoted = shell_word(column.name)
    if column.dtype.is_float() and bool(column.is_infinite().any()):
        raise ValueError(
            f"numbers must be finite, at most {sys.float_info.max:.3g}; "
            f"{show_name(column.name)} has an infinite or a larger one: add --drop "
            f"{quoted}, or in a text file --missing with its text, as in --missing inf"
        )
    count = column.n_unique() if str(column.dtype) == "String" else 0
    if count > MAX_CATEGORIES:
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
            asked = odd is hides_numbers and column.name in texts
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
