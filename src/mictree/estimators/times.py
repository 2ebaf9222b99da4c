"""Thresholds on dates, times and durations as code: texts in ISO 8601, which sort as times do.

Columns of times are read as microseconds: since 1970, since midnight, or of a duration. A value is
a whole number of them, so it is above a threshold if it is above the whole number at or below it.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta

from mictree.columns.written import Column, Test

DAY = 86_400_000_000  # microseconds
# what Python code compares with the texts; aware datetimes as UTC
PYTHON_KEYS = {
    "date": "{0}.isoformat()[:10]",
    "datetime": "{0}.isoformat(timespec='microseconds')[:26]",
    "instant": "({0} - {0}.utcoffset()).isoformat(timespec='microseconds')[:26]",
    "time": "{0}.isoformat(timespec='microseconds')[:15]",
    "duration": "({0}.days * 86400000000 + {0}.seconds * 1000000 + {0}.microseconds)",
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


def to_python_time(column: Column, test: Test) -> str:
    """A threshold as the text, or for durations the number, that Python code compares with."""
    whole = _whole(column, test)
    return repr(whole) if column.kind == "duration" else repr(_iso(column, whole, "T"))


def to_sql_time(column: Column, test: Test) -> str:
    """A threshold as an SQL literal."""
    if column.kind == "duration":
        raise ValueError(
            f"SQL has no literal for durations that all databases read; {column.name} is one"
        )
    zone = "+00:00" if column.kind == "instant" else ""  # or a database would take its own zone
    return f"'{_iso(column, _whole(column, test), ' ')}{zone}'"


def _whole(column: Column, test: Test) -> int:
    if not math.isfinite(test.value):
        raise ValueError(f"a time must be finite; {column.name} is tested for {test.value}")
    return math.floor(test.value)


def _iso(column: Column, whole: int, between: str) -> str:
    try:
        if column.kind == "date":
            return (date(1970, 1, 1) + timedelta(days=whole // DAY)).isoformat()
        moment = datetime(1970, 1, 1) + timedelta(microseconds=whole)  # no zone
    except OverflowError:
        raise ValueError(
            f"code can test the years 1 to 9999; {column.name} is tested for {whole} microseconds"
        ) from None
    if column.kind == "time":
        return moment.time().isoformat(timespec="microseconds")
    return moment.isoformat(between, timespec="microseconds")
