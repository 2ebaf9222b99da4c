"""Dates of any form are those of Python's datetime, and nothing else is a date."""

import random
from collections import Counter
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mictree.columns.cells import Reading, doubt_dates, find_orders, read_cells
from mictree.columns.data import PARTS, microseconds, part_of
from tests.reference.dates import form_of, read_dates

YEARS = ("0000", "0001", "1969", "2012", "2012", "2013", "2024", "9999")
ODD_CELLS = (
    "soon",
    "",
    "NA",
    "1.2.3",
    "10.0.0.1",
    "2012",
    "5",
    "2012-01",
    "1/2/12",
    "２０１２-01-01",
)


def random_cell(draw, form):
    """A date of a form, sometimes one that is in no calendar."""
    order, mark, timed, zoned, ends = form
    day, month = draw.randint(1, 12 + ends), draw.randint(1, 12)
    if draw.random() < 0.02:
        day, month = draw.choice([(0, 1), (31, 2), (29, 2), (13, 13), (31, 4), (1, 0), (99, 1)])
    short = order != "ymd" and draw.random() < 0.3
    parts = {
        "y": draw.choice(YEARS[2:7] if draw.random() < 0.97 else YEARS),
        "m": str(month) if short else f"{month:02}",
        "d": str(day) if short else f"{day:02}",
    }
    cell = mark.join(parts[part] for part in order)
    if timed:
        hour, minute = draw.randint(0, 23), draw.choice((0, 30, 59))
        second = draw.choice(("", ":00", ":59", ":07.5", ":00.123456", ":30.1234567891"))
        if draw.random() < 0.02:
            hour, second = draw.choice(((24, ":00"), (23, ":60"), (10, ":61")))
        cell += f"{draw.choice('T ')}{hour:02}:{minute:02}{second}"
    zones = ("Z", "+00:00", "-0330", "+14:00", "+0200", "+23:59")
    if zoned:
        cell += draw.choice(zones if draw.random() < 0.98 else ("+24:00", "+01:60", "-9900"))
    return f" {cell} " if draw.random() < 0.05 else cell


def random_column(draw):
    """Cells of mostly one form, sometimes with another, or with other texts."""

    def form():
        timed = draw.random() < 0.5
        order = draw.choice(("ymd", "dmy", "mdy"))
        zoned = timed and draw.random() < 0.5
        return order, draw.choice("-/."), timed, zoned, draw.choice((0, 0, 17))

    first, other = form(), form()
    cells = [random_cell(draw, first) for _ in range(draw.randint(1, 8))]
    if draw.random() < 0.1:
        cells.append(random_cell(draw, other))
    if draw.random() < 0.1:
        cells.append(random_cell(draw, (*first[:3], first[2] and not first[3], first[4])))
    if draw.random() < 0.3:
        cells.append(draw.choice(ODD_CELLS))
    draw.shuffle(cells)
    return cells


def read_or_refuse(cells, reading=Reading(), kinds=None):  # noqa: B008  # immutable
    """The column as it is read, or the error."""
    frame = pl.DataFrame({"a": cells})
    try:
        read, _ = read_cells(frame, reading, kinds or {})
    except ValueError as error:
        return str(error)
    find_orders(frame, read, reading)  # raises nothing
    return read["a"]


def test_thousands_of_columns():
    draw = random.Random(0)
    seen = Counter()
    for _ in range(1500):
        cells = random_column(draw)
        expected = read_dates(cells)
        read = read_or_refuse(cells)
        if isinstance(read, str):
            assert "dates of one form" in read or "numbers or texts" in read
            assert expected is None, cells
            seen["error"] += 1
            continue
        if expected is None:
            assert not read.dtype.is_temporal(), cells
            seen["text"] += 1
            continue
        assert read.to_list() == expected, cells
        kind = type(next(each for each in expected if each is not None)).__name__
        seen[kind + str(read.dtype).count("UTC") * " UTC"] += 1
    assert min(seen.values()) > 50
    assert seen.keys() == {"error", "text", "date", "datetime", "datetime UTC"}


def test_unread_columns_of_dates_are_doubted():
    """Every column of one form, zones aside, that is not read as dates gets a word about dates."""
    draw = random.Random(1)
    doubted = 0
    for _ in range(800):
        cells = random_column(draw)
        read = read_or_refuse(cells)
        if isinstance(read, str):
            continue
        forms = {form_of(cell.strip()) for cell in cells}
        shapes = {form and (*form[:2], form[2] != "") for form in forms}
        if read.dtype == pl.String and len(shapes) == 1 and None not in forms:
            said = doubt_dates(read)
            assert said.startswith("looks like dates"), cells
            assert ("time zone" in said) == (len(forms) == 2), cells
            assert any(repr(cell.strip()) in said for cell in cells)
            doubted += 1
    assert doubted > 100


DAYS = (
    "2024-05-10",
    "2024/02/30",
    "10.05.2024",
    "13/05/2024",
    "05-13-2024",
    "31.12.9999",
    "1.1.0001",
)
CLOCKS = ("", " 10:00", " 24:00", "T10:60", " 23:59:60", "T10:00:01.5", " 00:00:00." + "9" * 20)
ZONES = ("", "", "Z", "+02:00", "-0330", "+24:00", "-9999", "+01:60")
DATE_LIKE = st.text("0123456789-/.:TZ+ ", max_size=30) | st.tuples(
    *map(st.sampled_from, (DAYS, CLOCKS, ZONES))
).map("".join)


@given(
    st.lists(DATE_LIKE, min_size=1, max_size=4),
    st.sampled_from([(), (("a", "dmy"),), (("a", "mdy"),)]),
    st.sampled_from([{}, {"a": "date"}, {"a": "datetime"}, {"a": "instant"}, {"a": "number"}]),
)
@example(["2024-05-10 24:00"], (), {})
@example(["2024-05-10 10:60"], (), {})
def test_no_error_of_polars_appears(cells, orders, kinds):
    read = read_or_refuse(cells, Reading(orders=orders), kinds)
    if isinstance(read, str):
        assert " must " in read
    doubt_dates(pl.Series(cells))


@pytest.mark.parametrize("order", ["dmy", "mdy"])
def test_a_known_order_reads_what_is_unclear(order):
    cells = ["03/04/2012", "05/06/2012"]
    frame = pl.DataFrame({"a": cells})
    reading = Reading(orders=(("a", order),))
    form = {"dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y"}[order]
    read = read_cells(frame, reading, {})[0]
    assert read["a"].to_list() == [datetime.strptime(cell, form).date() for cell in cells]
    assert find_orders(frame, read, reading) == {"a": order}


@given(st.lists(st.none() | st.datetimes(datetime(1600, 1, 1), datetime(2200, 1, 1)), min_size=1))
def test_parts_are_those_of_python(moments):
    column = pl.Series(moments, dtype=pl.Datetime("us")).to_numpy()
    found = {part: part_of(microseconds(column), part) for part in PARTS}
    for row, moment in enumerate(moments):
        values = [found[part][row] for part in PARTS]
        if moment is None:
            assert np.isnan(values).all()
        else:
            assert values == [moment.month, moment.isoweekday(), moment.hour]
    assert part_of(microseconds(np.array([date(2024, 2, 29)], "M8[D]")), "weekday").tolist() == [4]
