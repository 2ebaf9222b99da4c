"""Oddities of a column, in words: it gives the target away, or hides numbers or dates."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mictree._support.words import shell_word

if TYPE_CHECKING:
    import polars

FEW_ROWS = 10  # in so few rows it means nothing that every value is different
FEW_NUMBERS = 2  # categories and thresholds separate so few alike
FEW_AFFIXES = 2  # as (5) beside 5; more are no marks of one quantity
THOUSANDS = r"\d{1,3}(?:[ .,'’_\u00a0\u202f]\d{3})+|\d{1,2}(?:,\d{2})*,\d{3}"  # or 12,34,567
WITH_MARKS = rf"^([^\w]{{0,3}})(?:{THOUSANDS}|\d+)(?:[.,]\d+)?(\D{{0,12}})$"  # 5%, $5, 5 kg, 1 234
UNREAD = ("na", "n.a.", "n.a", "<na>", "n/a", "#n/a", "#na", "nan", "null", "nil")
NUMBERS_ROWS = "numbers the rows, as an index does"
TIME_OF_DAY = r"^\d{1,2}:\d{2}(:\d{2})?( ?(?i:[ap]m))?$"


def tells_all(column: "polars.Series", labels: "polars.Series") -> str:
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


def counts_rows(column: "polars.Series") -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ... in the rows of a file, as an index is."""
    import polars

    if len(column) < FEW_ROWS or not column.dtype.is_integer() or column[0] not in (0, 1):
        return False
    numbers = polars.int_range(len(column), eager=True) + column[0]
    return not column.null_count() and bool((column == numbers).all())


ODDITIES: tuple[Callable[..., str], ...] = (
    hides_dates, tells_all, hides_numbers, hides_missing, differs_little, is_identifier,
)  # fmt: skip
