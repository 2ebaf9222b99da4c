"""Dates in a column of texts, read one by one by Python's own ``datetime``."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

MISSING = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "NaN",
    "nan",
    "NULL",
    "null",
    "?",
    "None",
    "none",
    "-",
    ".",
)

Moment = date | datetime


def read_dates(cells: list[str]) -> list[Moment | None] | None:
    """The dates of a column, None for missing cells; None if the column does not hold dates.

    All cells have one form. Where the year is last, day and month are in the only order that all
    cells allow, or both orders read the same. With points the day is first if all cells allow it.
    """
    stripped = [cell.strip() for cell in cells]
    present = [cell for cell in stripped if cell not in MISSING]
    if not present or len({form_of(cell) for cell in present}) > 1 or not form_of(present[0]):
        return None
    year, mark, _ = form_of(present[0])
    found = []
    for order in ("ymd",) if year == "year" else ("dmy", "mdy"):
        read = [None if cell in MISSING else read_date(cell, order) for cell in stripped]
        if read.count(None) == len(stripped) - len(present):
            found.append(read)
    clear = mark == "." or all(each == found[0] for each in found)
    return found[0] if found and clear else None


def form_of(cell: str) -> tuple[str, str, str] | None:
    """Where the year stands, the mark, and what follows the day; None if it is no date."""
    days, clock, zone = split(cell)
    found = None
    for mark in "-/.":
        parts = days.split(mark)
        lengths = [len(part) for part in parts if part.isascii() and part.isdigit()]
        if len(parts) == 3 == len(lengths) and lengths == [4, 2, 2]:
            found = ("year", mark)
        elif len(parts) == 3 == len(lengths) and lengths[2] == 4 and max(lengths[:2]) <= 2:
            found = ("day or month", mark)
    if found is None or clock is None:
        return None
    return (*found, "zone" if zone else "time" if clock else "")


def split(cell: str) -> tuple[str, str | None, str]:
    """The day, the time (None if it is none, nothing if there is none) and the zone of a cell."""
    end = re.search(r"[T ]", cell)
    if end is None:
        return cell, "", ""
    days, rest = cell[: end.start()], cell[end.end() :]
    clock = re.fullmatch(r"([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)(.*)", rest, re.DOTALL)
    if clock is None or not re.fullmatch(r"|Z|[+-][0-9]{2}:?[0-9]{2}", clock[2]):
        return days, None, ""
    return days, clock[1], clock[2]


def read_date(cell: str, order: str) -> Moment | None:
    """One date; None if there is no such day or time."""
    days, clock, zone = split(cell)
    numbers = dict(zip(order, map(int, re.split(r"[-/.]", days)), strict=True))
    try:
        day = date(numbers["y"], numbers["m"], numbers["d"])
        if not clock:
            return day
        hour, minute, second = (*clock.split(":"), "0")[:3]
        whole, _, fraction = second.partition(".")
        micro = int(fraction[:6].ljust(6, "0"))
        moment = datetime(day.year, day.month, day.day, int(hour), int(minute), int(whole), micro)
        return moment if not zone else moment.replace(tzinfo=offset(zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def offset(zone: str) -> timezone:
    """A time zone that is written as an offset from UTC."""
    if zone == "Z":
        return UTC
    sign = -1 if zone[0] == "-" else 1
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if minutes > 59:
        raise ValueError("an hour has 60 minutes")
    return timezone(sign * timedelta(hours=hours, minutes=minutes))
