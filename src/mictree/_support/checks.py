"""Checks of arguments, errors and docstrings that every room of the package shares.

Arguments are checked at the door, before any work begins; kernels check nothing. An error states
the rule and the value that breaks it. ``ColumnError`` names the column to blame, ``Complaints``
joins several errors, so that a user sees all of them at once, and ``TooLarge`` refuses work that
would not fit into memory.
"""

import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np

MOST_SPLITS = 10**7  # a curve of errors has one number per size


class ColumnError(ValueError):
    """An error that would not occur without one column.

    Parameters
    ----------
    problem : the rule and what the column has instead
    advice : what helps in Python; a command names its options instead
    or_texts : whether texts in place of the values help, too
    """

    def __init__(self, problem: str, column: str, advice: str = "", or_texts: bool = False) -> None:
        # all of them, for copies in other processes
        super().__init__(problem, column, advice, or_texts)
        self.problem, self.column, self.advice, self.or_texts = problem, column, advice, or_texts

    def __str__(self) -> str:
        texts = ", or give its values as texts" if self.or_texts else ""
        return f"{self.problem}: {self.advice}{texts}" if self.advice else self.problem


class Complaints(ValueError):
    """Several errors at once; the command line prints each on a line of its own."""

    @property
    def lines(self) -> list[str]:
        """One text for each error."""
        return [str(each) for each in self.args]

    def __str__(self) -> str:
        return "; also: ".join(self.lines)


def raise_all(errors: Sequence[Exception]) -> None:
    """Raise a single error as it is, and several together."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise Complaints(*errors)


def caught(work: Callable[..., object], *arguments: Any) -> list[Exception]:
    """The errors about values and files that some work raises, so that others can join them."""
    try:
        work(*arguments)
    except Complaints as errors:
        return list(errors.args)
    except (ValueError, OSError) as error:
        return [error]
    return []


def check_count(value: object, name: str, least: int = 0) -> int:
    """An integer, ``least`` or more."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # any object may come
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}")
    return number


def check_size(size: object, name: str = "max_size") -> int:
    """A number of splits."""
    number = check_count(size, name)
    if number > MOST_SPLITS:
        raise ValueError(f"{name} must be at most {MOST_SPLITS:,}; got {number:,}")
    return number


def check_seconds(value: object, name: str) -> float:
    """A length of time."""
    seconds = 0.0
    if isinstance(value, Real) and not isinstance(value, bool):
        seconds = float(value)
    if not seconds > 0:
        raise ValueError(f"{name} must be a positive number of seconds; got {value!r}")
    return seconds


def check_unmasked(values: Any, name: str) -> Any:
    """Values that need one for each place: of NumPy's masked arrays, only those that hide none."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = np.argwhere(np.ma.getmaskarray(values))
    if len(hidden):
        raise ValueError(
            f"{name} must not contain masked values; row {hidden[0][0] if values.ndim else 0} is "
            "masked"
        )
    return np.asarray(values.data)


MOST_POWER = 9999  # of ten, in a number as written: computing larger ones takes long


def as_fraction(number: object) -> Fraction:
    """A number exactly as written: the float 0.3 is read as 3/10, not as its binary neighbour."""
    if isinstance(number, Decimal) and number.is_finite() and abs(number.adjusted()) > MOST_POWER:
        raise ValueError(
            f"a decimal must have a power of ten from -{MOST_POWER} to {MOST_POWER}; got {number}"
        )
    if isinstance(number, Rational | Decimal):
        return Fraction(number)
    if isinstance(number, Real):
        return Fraction(repr(float(number)))
    raise ValueError(f"a probability must be a number; got {number!r}")


def show_fraction(number: Fraction) -> str:
    """A number so that it can be read back exactly: 0.3, or 1/3 where a float is another number."""
    text = repr(float(number))
    return text if Fraction(text) == number else str(number)


class TooLarge(ValueError):
    """A request that would not fit into memory, refused before it starts."""

    @classmethod
    def states(
        cls, count: int, memory_limit: int, fits: str, size: int | None = None
    ) -> "TooLarge":
        """Too many states (restrictions or subcubes) of a dynamic program."""
        shown = f"{count:,}" if count < 10**12 else f"{count:.1e}"
        needing = "" if size is None else f" that need {size / 2**30:.3g} GiB"
        return cls(
            f"optimal trees must fit into memory_limit, {memory_limit / 2**30:.3g} GiB; there are "
            f"at least {shown} states{needing}; {fits} would fit"
        )


EXAMPLES = "    Examples\n"


SECTIONS = ("Parameters", "Attributes")


def merge_sections(own: str, shared: str) -> str:
    """A docstring whose parameters and attributes are the shared ones, then its own."""
    lead, mark, examples = own.partition(EXAMPLES)
    opening, mine = _sections(lead)
    theirs = _sections(shared.partition(EXAMPLES)[0])[1]
    parts = [opening.rstrip()]
    for name in SECTIONS:
        body = "\n".join(filter(None, (theirs.get(name, ""), mine.get(name, ""))))
        if body:
            parts.append(f"    {name}\n    {'-' * len(name)}\n{body}")
    lines = "\n\n".join(parts)
    return f"{lines}\n\n{mark}{examples}".rstrip(" ")


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """What stands before parameters and attributes, and the lines of each of these."""
    found: dict[str, str] = {}
    for name in reversed(SECTIONS):
        text, mark, body = text.partition(f"    {name}\n    {'-' * len(name)}\n")
        if mark:
            found[name] = body.strip("\n").rstrip()
    return text, found


def insert_shared(own: str, shared: str) -> str:
    """A docstring with shared sections before its own examples; the shared ones bring none."""
    lead, mark, examples = own.partition(EXAMPLES)
    sections = shared.partition(EXAMPLES)[0]
    return f"{lead.rstrip()}\n\n{sections.strip(chr(10)).rstrip()}\n\n{mark}{examples}".rstrip(" ")


CATEGORIES = ("each", "subsets")  # ways to test categories


def check_categories(categories: Any) -> str:
    """Refuse what names no way to test categories."""
    if not isinstance(categories, str) or categories not in CATEGORIES:
        raise ValueError(f"categories must be one of {', '.join(CATEGORIES)}; got {categories!r}")
    return categories
