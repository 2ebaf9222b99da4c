"""Thresholds on dates, times and durations as code: texts in ISO 8601, which sort as times do.

Columns of times are read as microseconds: since 1970, since midnight, or of a duration. Code
compares with the last time that is not above the threshold: a whole number of microseconds or,
where rows differ by less, of nanoseconds. Python's own types would silently drop these, so Python
code with nanoseconds takes pandas' types only and fails with others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from mictree.columns.series import last_tick
from mictree.columns.written import Column, Test

DAY = 86_400 * 10**9  # nanoseconds
# what Python code compares with the texts; aware datetimes as UTC
PYTHON_KEYS = {
    "date": "{0}.isoformat()[:10]",
    "datetime": "{0}.isoformat()",
    "instant": "({0}.replace(tzinfo=None) - {0}.utcoffset()).isoformat()",
    "time": "{0}.isoformat()",
    "duration": "({0}.days * 86400000000000 + {0}.seconds * 1000000000 + {0}.microseconds * 1000"
    " + getattr({0}, 'nanoseconds', 0))",
}
FINE_KEYS = {
    "datetime": "{0}.isoformat(timespec='nanoseconds')",
    "instant": "({0}.replace(tzinfo=None) - {0}.utcoffset()).isoformat(timespec='nanoseconds')",
    "duration": "({0}.days * 86400000000000 + {0}.seconds * 1000000000 + {0}.microseconds * 1000"
    " + {0}.nanoseconds)",
}


PYTHON_PARTS = {
    "month": "value.month", "weekday": "value.isoweekday()", "hour": "getattr(value, 'hour', 0)",
}  # fmt: skip


def to_python_value(column: Column) -> str:
    """What Python code reads from a row: a column, or a part of its dates."""
    if column.part is None:
        return f"row[{column.name!r}]"
    what, dates, kind = column.part
    found = PYTHON_PARTS[what]
    if kind == "instant":
        found = found.replace("value", "(value - value.utcoffset())")
    return f"(lambda value: None if value is None or value != value else {found})(row[{dates!r}])"


def is_fine(column: Column, tests: Sequence[Test]) -> bool:
    """Whether thresholds tell times apart that differ by less than a microsecond."""
    return column.kind != "date" and any(test.value % 1 for test in tests)


def to_python_key(column: Column, variable: str, fine: bool) -> str:
    """What Python code compares with thresholds."""
    if fine and column.kind not in FINE_KEYS:
        raise ValueError(
            f"Python's times of the day have microseconds; {column.name} is tested for "
            "nanoseconds: use to_sql, or save the model and load it with mictree.load"
        )
    return (FINE_KEYS if fine else PYTHON_KEYS)[column.kind].format(variable)


def to_python_time(column: Column, test: Test, fine: bool) -> str:
    """A threshold as the text, or for durations the number, that Python code compares with."""
    last = _last(column, test)
    if column.kind == "duration":
        return repr(last)
    # without a fraction where it is 0: "12:00:00" sorts before "12:00:00.000001"
    return repr(_iso(column, last, "T", "nanoseconds" if fine else "auto"))


def to_sql_time(column: Column, test: Test) -> str:
    """A threshold as an SQL literal, with nine digits where it needs them."""
    if column.kind == "duration":
        raise ValueError(
            f"SQL has no literal for durations that all databases read; {column.name} is one"
        )
    zone = "+00:00" if column.kind == "instant" else ""  # or a database would take its own zone
    last = _last(column, test)
    digits = "nanoseconds" if last % 1000 else "microseconds"
    return f"'{_iso(column, last, ' ', digits)}{zone}'"


def _last(column: Column, test: Test) -> int:
    """The last nanosecond that is not above the threshold."""
    if not math.isfinite(test.value):
        raise ValueError(f"a time must be finite; {column.name} is tested for {test.value}")
    return last_tick(test.value)


def _iso(column: Column, last: int, between: str, digits: str) -> str:
    """A time to the second, the micro- or the nanosecond; "auto" as ``datetime.isoformat``."""
    whole, rest = divmod(last, 1000)
    try:
        if column.kind == "date":
            return (date(1970, 1, 1) + timedelta(days=last // DAY)).isoformat()
        moment = datetime(1970, 1, 1) + timedelta(microseconds=whole)  # no zone
    except OverflowError:
        raise ValueError(
            f"code can test the years 1 to 9999; {column.name} is tested for {whole} microseconds"
        ) from None
    finer = f"{rest:03d}" if digits == "nanoseconds" else ""
    spec = "microseconds" if finer else digits
    if column.kind == "time":
        return moment.time().isoformat(timespec=spec) + finer
    return moment.isoformat(between, timespec=spec) + finer
