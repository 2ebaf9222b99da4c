"""Numbers, texts and names as people read them: in sentences, in commands and in notebooks.

Every message of the package shows numbers and column names through these functions, so that the
same value looks the same everywhere. Rounding noise is shown as 0, names that would be unclear get
quotes, and a text never breaks a line. In notebooks, values become HTML: every cell of a table is
escaped, and drawings become SVG.
"""

from __future__ import annotations

import io
import math
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LINE_BREAKS = ("Cc", "Zl", "Zp")  # control characters, separators of lines and of paragraphs
DIGITS = 4  # of numbers that are predicted, in texts
MOST_CHARACTERS = 40  # characters of a text in a message
MOST_WHOLE = 1e16  # from here on a float's last digits mean nothing, and powers of ten are shown
SQUARED = "mean squared error"  # the errors of a regression
MOST_OF_SET = 40  # characters between the braces of a test in a drawing
SET = re.compile(r"(?P<start>.* in \{)(?P<members>.*)\}(?P<end>\??| \(column \d+\)\??)", re.S)
MEMBER = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,]+)(?:, |$)")
HOVER = "hover-"  # begins the ids of texts in a drawing whose labels show up under the pointer
NOISE = 1e-12  # a float nearer to 0 is the rounding error of a difference


def show_spans(numbers: Iterable[int]) -> str:
    """Ascending whole numbers as a text: 1, 2, 3, 7 as "1-3, 7"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return ", ".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else str(s[0]) for s in spans)


def count_of(number: int, what: str, plural: str = "s") -> str:
    """A number of things: 1 row, 2,000 rows."""
    return f"{number:,} {what}{'' if number == 1 else plural}"


def merged_note(splits: int, option: str = "") -> str:
    """How many splits a tree lacks because their leaves agree, and the option to show them."""
    if not splits:
        return ""
    verb, them = ("is", "it") if splits == 1 else ("are", "them")
    shown_by = f"; {option} shows {them}" if option else ""
    return f"{count_of(splits, 'split')} whose leaves agree {verb} not shown{shown_by}"


def show_number(value: Any, digits: int = 6) -> str:
    """A number in so many digits; rounding noise is shown as 0, but no fraction is noise."""
    exact = isinstance(value, Fraction | int)
    return f"{0.0 if abs(value) <= NOISE and not exact else float(value):.{digits}g}"


def show_digits(value: float, digits: int) -> str:
    """A number in so many digits, and in all that it has before the point."""
    if not abs(value) < MOST_WHOLE:
        return f"{value:.{digits}g}"
    text = f"{value:.{max(digits, len(str(int(abs(value)))))}g}"
    return f"{float(text):.0f}" if "e+" in text else text  # 9999999.9 is 1e+07 in seven digits


def show_significant(value: float, digits: int = 4) -> str:
    """A measured number in so many significant digits, without a power of ten where it is short."""
    rounded = float(f"{value:.{digits}g}") + 0.0  # no -0.0
    if not 1e-4 <= abs(rounded) < 1e7:
        return f"{rounded:.{digits}g}"
    return f"{rounded:.12f}".rstrip("0").rstrip(".")


def measure_of(model: Any) -> str:
    """What a fitted tree's errors are: "error", "mean cost" or "mean squared error"."""
    return getattr(model, "judged_by", "") or "error"


def names_of_labels(model: Any) -> list[str] | None:
    """What the leaves of a fitted tree may predict, as texts; None for numbers."""
    if measure_of(model) == SQUARED:
        return None
    return [str(label) for label in getattr(model, "actions_", model.classes_)]


def of_one_kind(values: Sequence[Any]) -> list[Any]:
    """Values for a column: as they are, or as texts if their types differ, as those of actions."""
    return [*values] if len(set(map(type, values))) < 2 else [str(each) for each in values]


def root_of(squared: float) -> float:
    """The root of a mean squared error, in the unit of the target."""
    return math.sqrt(max(float(squared), 0.0))


def show_measured(value: Any, measure: str, digits: int = 6) -> str:
    """An error as a text; of squared errors in four digits, and beside it its root."""
    if measure != SQUARED:
        return show_number(value, digits)
    return f"{show_significant(value)} (root {show_significant(root_of(value))})"


def shorten(text: str) -> str:
    """A text, or the beginning of a long one, for a message."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def show_text(text: str) -> str:
    """A text on one line: line breaks and other control characters as Python writes them."""
    if text.isprintable():
        return text
    return "".join(
        repr(mark)[1:-1] if unicodedata.category(mark) in LINE_BREAKS else mark for mark in text
    )


def shell_word(text: str) -> str:
    """A text as one word of a command; bash and zsh read line breaks in $'...'."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{show_text(escaped)}'"


def show_name(name: str) -> str:
    """A column's name as it is, in quotes if it would be unclear without."""
    unclear = name != name.strip() or not name or any(mark in name for mark in ",;'\"\n\t")
    return repr(name) if unclear else name


def to_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table; every cell is escaped, floats have six digits."""
    lead = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_show(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table>{lead}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def to_text(text: str) -> str:
    """A text with its lines and spaces."""
    return f"<pre>{escape(text)}</pre>"


def to_svg(axes: Axes) -> str:
    """A drawing, whose figure is closed."""
    from matplotlib import pyplot

    figure = axes.get_figure(root=True)
    assert figure is not None
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None}, bbox_inches="tight")
    pyplot.close(figure)
    text = drawn.getvalue()
    text = text[text.index("<svg") :]
    for part in figure.findobj(lambda each: str(each.get_gid() or "").startswith(HOVER)):
        whole = f"<title>{escape(str(part.get_label()))}</title>"
        text = text.replace(f'<g id="{part.get_gid()}">', f"<g>{whole}")
    return text


def shorten_set(text: str) -> str:
    """A test for a long set, as ``town in {A, B, and 9 more}``; other tests as they are."""
    found = SET.fullmatch(text)
    members = [] if found is None else MEMBER.findall(found["members"])
    if found is None or len(found["members"]) <= MOST_OF_SET or len(members) <= 2:
        return text
    kept = 1
    while len(", ".join(members[: kept + 1])) <= MOST_OF_SET // 2:
        kept += 1
    shown = ", ".join(map(shorten, members[:kept]))
    return f"{found['start']}{shown}, and {len(members) - kept:,} more}}{found['end']}"


def _show(cell: Any) -> str:
    return show_number(cell) if isinstance(cell, float) else str(cell)
