"""Numbers and names in sentences."""

import shlex
import unicodedata
from fractions import Fraction
from typing import Any

BREAKING = ("Cc", "Zl", "Zp")  # control characters, separators of lines and of paragraphs
LONGEST = 40  # characters of a text in a message
MOST_WHOLE = 1e16  # from here on a float's last digits mean nothing, and powers of ten are shown
NOISE = 1e-12  # a float nearer to 0 is the rounding error of a difference


def count_of(number: int, what: str, plural: str = "s") -> str:
    """A number of things: 1 row, 2,000 rows."""
    return f"{number:,} {what}{'' if number == 1 else plural}"


def merged_note(splits: int, way: str = "") -> str:
    """How many splits a shown tree lacks because their leaves agree, and what shows them."""
    if not splits:
        return ""
    verb, them = ("is", "it") if splits == 1 else ("are", "them")
    seen = f"; {way} shows {them}" if way else ""
    return f"{count_of(splits, 'split')} whose leaves agree {verb} not shown{seen}"


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


def shorten(text: str) -> str:
    """A text, or the beginning of a long one, for a message."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def show_text(text: str) -> str:
    """A text on one line: line breaks and other control characters as Python writes them."""
    if text.isprintable():
        return text
    return "".join(
        repr(mark)[1:-1] if unicodedata.category(mark) in BREAKING else mark for mark in text
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
