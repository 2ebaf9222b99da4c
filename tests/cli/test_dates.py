"""Dates on the command line: their forms, rows in order of time, and parts of dates."""

import json
import random
import re
import shlex
import subprocess
import sys
from datetime import date, datetime, timedelta
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app
from mictree.columns.cells import Reading, doubt_dates, present_dates
from mictree.columns.text_tables import read_file
from tests.reference.dates import read_dates

DAY = date(2012, 1, 20)
CASES = json.loads(Path("tests/unit/date_cases.json").read_text("utf-8"))


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit | ValueError)
    return result


def rows_of(cells, labels=None):
    """A table of dates, with a number and a label each."""
    labels = labels or [n % 2 for n in range(len(cells))]
    lines = [
        f'"{cell}",{n % 5},{label}'
        for n, (cell, label) in enumerate(zip(cells, labels, strict=True))
    ]
    return "when,a,y\n" + "".join(f"{line}\n" for line in lines)


def days(form, count=40, first=DAY, step=1):
    return [(first + timedelta(days=step * n)).strftime(form) for n in range(count)]


def ranks(values):
    """The places of values among the different ones; None for a missing one."""
    known = sorted({value for value in values if value is not None})
    return [None if value is None else known.index(value) for value in values]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_columns_of_dates(save, case):
    """The explorer has the same cases: tests/browser/test_explorer_twin.py."""
    file = save("a.csv", rows_of(case["cells"]))
    if case["read"] == "refused":
        refused = str(read_file(file).refused["when"])
        assert "a column must hold dates of one form; when has" in refused
        return
    column = read_file(file).frame["when"]
    if case["read"] == "dates":
        assert ranks(column.to_physical().to_list()) == case["order"]
        assert column.to_list() == read_dates(case["cells"])
        return
    assert column.fill_null("").to_list() == case["cells"]
    assert read_dates(case["cells"]) is None
    assert bool(present_dates(column)[1]) == (case["read"] == "doubted")
    said = doubt_dates(column)
    assert said.startswith("looks like dates") == (case["read"] in ("doubted", "noted"))
    assert bool(said) == (case["read"] != "texts")


class TestNanoseconds:
    """Times of text files that differ by less than a microsecond."""

    @pytest.mark.parametrize("zone", ["", "Z"])
    @pytest.mark.parametrize(
        ("parts", "cut"), [((0, 250, 500, 750, 1000), 500), ((250, 1250), 750)]
    )
    def test_trees_models_and_exports_tell_them_apart(self, save, tmp_path, zone, parts, cut):
        cells = [f"2024-01-01 00:00:00.{part:09}{zone}" for part in parts] * 12
        labels = [int(part > 500) for part in parts] * 12
        file, model = save("a.csv", rows_of(cells, labels)), tmp_path / "m.json"
        words = ("fit", file, "--target", "y", "--drop", "a", "--size", 1, "--save", model)
        result = run(*words)
        shown = f"2024-01-01 00:00:00.{cut:09}"
        assert f"when > {shown}" in result.stdout
        assert run("predict", model, file).stdout.split()[1:] == [str(each) for each in labels]
        loaded = mt.load(model)
        assert shown in loaded.to_rules().to_sql()
        scope = {}
        exec(loaded.to_rules().to_python(), scope)
        times = [pd.Timestamp(cell) for cell in cells]
        answers = [scope["predict"]({"when": time, "a": 0}) for time in times]
        assert answers == labels

    @pytest.mark.parametrize(
        ("year", "digits", "said"),
        [
            (2024, "000001000", ""),
            (2024, "000000250", ""),
            (2024, "000000250000", ""),
            (
                2024,
                "0000002501",
                "has 2024-01-01 00:00:00.0000002501, and its times are cut to nano",
            ),
            (
                2300,
                "000000250",
                "has 2300-01-01 00:00:00.000000250, and its times are cut to micro",
            ),
            (1677, "0000002", "has 1677-01-01 00:00:00.0000002, and its times are cut to micro"),
            (2300, "000001000", ""),
        ],
    )
    def test_digits_that_are_lost_are_said(self, save, year, digits, said):
        cells = [f"{year}-01-01 00:00:00.{digits}", "2024-01-01 00:00:01"] * 4
        file = save("a.csv", rows_of(cells))
        found = read_file(file)
        assert found.frame["when"].dt.year().to_list() == [year, 2024] * 4
        assert [name for name, _ in found.remarks] == ["when"] * bool(said)
        result = run("fit", file, "--target", "y", "--size", 1, "--keep", "a")
        assert f"column when {said}" in result.stderr if said else "cut to" not in result.stderr
        kept = run("fit", file, "--target", "y", "--size", 1, "--keep", "when")
        assert "cut to" not in kept.stderr

    def test_a_spelling_of_missing_loses_nothing(self, save):
        end = "9999-12-31 23:59:59.9999999"
        file = save("a.csv", rows_of(["2024-01-01 00:00:00.5", f" {end} "] * 4))
        assert f"has {end}, and" in dict(read_file(file).remarks)["when"]
        assert not read_file(file, reading=Reading((end,))).remarks

    def test_the_unit_is_as_coarse_as_it_can_be(self, save):
        for digits, unit in (("123456", "us"), ("123456000", "us"), ("1234561", "ns")):
            cells = ["2024-01-01 00:00", f"2024-01-01 00:00:00.{digits}", ""]
            assert read_file(save("a.csv", rows_of(cells))).frame["when"].dtype == pl.Datetime(unit)


class TestNumbersThatAreDays:
    SAID = "column when looks like dates written as numbers, such as 20120120, and is read as"

    def test_they_are_said_to_look_like_dates(self, save):
        cells = days("%Y%m%d", 20)
        for more in ([], [""]):
            file = save("a.csv", rows_of(cells * 2 + more))
            result = run("fit", file, "--target", "y", "--size", 1)
            assert f"{self.SAID} numbers; write 2012-01-20; --drop when" in result.stderr
            assert result.stderr.count("column when") == 1
        assert "looks like" not in run("fit", file, "--target", "y", "--keep", "when").stderr

    @pytest.mark.parametrize(
        "cells",
        [
            days("%Y%m%d", 19),
            [*days("%Y%m%d", 40), "20120230"],
            [*days("%Y%m%d", 40), "20121301"],
            [*days("%Y%m%d", 40), "20120100"],
            [*days("%Y%m%d", 40), "18991231"],
            [*days("%Y%m%d", 40), "21010101"],
            [*days("%Y%m%d", 40), "0"],
            [*days("%Y%m%d", 40), "20120101.5"],
            [str(20120101 + n) for n in range(40)],
            [str(n) for n in range(1, 41)],
        ],
    )
    def test_other_numbers_are_not(self, save, cells):
        file = save("a.csv", rows_of(cells * 2))
        assert "looks like" not in run("fit", file, "--target", "y", "--size", 1).stderr


class TestForms:
    @pytest.mark.parametrize(
        "form", ["%Y/%m/%d", "%Y.%m.%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m.%d.%Y"]
    )
    def test_a_threshold_is_a_date(self, save, form):
        cells = days(form)
        file = save("a.csv", rows_of(cells, [int(n > 19) for n in range(40)]))
        result = run("fit", file, "--target", "y", "--size", 1)
        assert "when > 2012-02-08" in result.stdout
        assert "looks like" not in result.stderr

    @pytest.mark.parametrize(
        ("form", "shown"),
        [
            ("%Y-%m-%dT10:30Z", "when > 2012-02-08"), ("%d/%m/%Y 10:30:00", "when > 2012-02-08"),
            ("%Y/%m/%d 01:30+0200", "when > 2012-02-08"),
        ],
    )  # fmt: skip
    def test_times_and_zones(self, save, form, shown):
        file = save("a.csv", rows_of(days(form), [int(n > 19) for n in range(40)]))
        result = run("fit", file, "--target", "y", "--size", 1)
        assert shown in result.stdout
        assert (" UTC?" in result.stdout) == ("Z" in form or "+" in form)

    @pytest.mark.parametrize(
        ("cells", "said"),
        [
            (
                days("%m/%d/%Y", 10, date(2012, 3, 1)),
                "column when looks like dates, such as '03/01/2012', that may begin with the day "
                "or with the month, and is read as categories; write 2012-01-03 if with the day, "
                "or in a text file add --date when=dmy or --date when=mdy; --drop when",
            ),
            (
                [*days("%Y-%m-%d", 10), "2012-02-30"],
                "column when looks like dates, but there is no '2012-02-30', and is read as "
                "categories; correct it, or in a text file add --missing 2012-02-30",
            ),
            (
                [*days("%d.%m.%Y", 10), "31.02.2012"],
                "column when looks like dates, but there is no '31.02.2012', and is read",
            ),
            (
                ["13/05/2012", "05/13/2012", "01/01/2012"],
                "column when looks like dates, some with the day first, such as '13/05/2012', and "
                "some with the month first, such as '05/13/2012', and is read as categories",
            ),
            (
                ["2012-01-01 10:00Z", "2012-01-01 10:00", "2012-01-02 10:00"],
                "column when looks like dates with times, of which some have a time zone, such as "
                "'2012-01-01 10:00Z', and some have none, such as '2012-01-01 10:00', and is",
            ),
            (
                ["26-Jan-24", "27-Jan-24", "28-Jan-24", "unknown"],
                "column when looks like dates, such as '26-Jan-24', and is read as categories",
            ),
            (["1/2/12", "1/3/12", "1/4/12"], "looks like dates, such as '1/2/12', and is read as"),
        ],
        ids=["unclear", "no day", "no day with points", "both orders", "zones", "words", "short"],
    )
    def test_what_is_not_read_is_said_to_look_like_dates(self, save, cells, said):
        file = save("a.csv", rows_of(cells * 4))
        for command in ("fit", "data"):
            result = run(command, file, "--target", "y", "--max-size", 1)
            warnings = [line for line in result.stderr.splitlines() if "warning" in line]
            assert said in warnings[0]
            assert "when is" in result.stdout or "label" in result.stdout
        assert "looks like" not in run("fit", file, "--target", "y", "--keep", "when").stderr
        assert "looks like" not in run("fit", file, "--target", "y", "--text", "when").stderr

    @pytest.mark.parametrize(
        "form",
        [
            "%a, %d %b %Y 10:30:00 +0200", "%A %d %B %Y", "%A, %B %d, %Y", "%b %d %Y 10:30AM",
            "%d/%b/%Y:10:30:00", "%d.%b.%Y", "%a %b %d 10:30:00 %Y", "%d %b %Y 10:30", "%b-%d",
        ],
    )  # fmt: skip
    def test_names_of_weekdays_and_months(self, form):
        said = f"looks like dates, such as {days(form, 9)[0]!r}, and is read as categories"
        assert doubt_dates(pl.Series(days(form, 9))).startswith(said)

    @pytest.mark.parametrize("form", ["Mark {}", "Decent {:02}", "Main Road {} 1024", "May {}:30"])
    def test_other_texts_with_numbers_do_not_look_like_dates(self, form):
        assert not doubt_dates(pl.Series([form.format(n) for n in range(9)]))

    @pytest.mark.parametrize(
        "cells",
        [
            [f"{month:02}/{day:02}/{year}" for year in range(2000, 2010) for month in range(1, 13)
             for day in range(1, 13)],
            [*days("%Y-%m-%d", 1200), "2012-02-30"],
            days("%d-%b-%y", 1200),
            days("%a %d %b %Y 10:30:00 +0200", 1200),
        ],
        ids=["unclear", "no day", "words", "mail"],
    )  # fmt: skip
    @pytest.mark.parametrize("typed", [False, True])
    def test_dates_come_before_the_number_of_texts(self, save, tmp_path, cells, typed):
        file = save("a.csv", rows_of(cells))
        if typed:
            file = tmp_path / "a.parquet"
            labels = [n % 2 for n in range(len(cells))]
            pl.DataFrame({"when": cells, "y": labels}).write_parquet(file)
        result = run("fit", file, "--target", "y")
        error = str(result.exception)
        assert error.startswith("column when looks like dates, ")
        assert error.index("dates") < error.index("at most 1024 different ones")
        assert "--drop when" in error
        assert "warning" not in result.stderr
        asked = [] if typed else ["--text", "when"]
        if asked:
            error = str(run("fit", file, "--target", "y", *asked).exception)
            assert error.startswith("a column of texts may have at most 1024 different ones")

    def test_explore_takes_dates_that_may_begin_with_the_day_or_the_month(self, save, tmp_path):
        page = tmp_path / "page.html"
        for cells, held in (
            (["03/04/2012", "04/05/2012"], "03/04/2012"),
            (["03.04.2012"], "2012-04-03"),
        ):
            file = save(
                "a.csv", rows_of([*cells, *cells, cells[0], "05/06/2012".replace("/", cells[0][2])])
            )
            result = run("explore", "--data", file, "--target", "y", "--out", page)
            assert result.exit_code == 0, result.exception
            assert held in page.read_text("utf-8")

    def test_date_says_the_order(self, save):
        file = save("a.csv", rows_of(days("%m/%d/%Y", 10, date(2012, 3, 1)) * 3))
        for order, shown in (("dmy", "2012-0"), ("mdy", "2012-03-0")):
            given = ["fit", file, "--target", "y", "--size", 1, "--date", f"when={order}"]
            result = run(*given)
            assert f"when > {shown}" in result.stdout
            assert "looks like" not in result.stderr
        for wrong in ("when", "when=ymd", "=dmy", "when=DMY"):
            error = str(run("fit", file, "--target", "y", "--date", wrong).exception)
            assert f"got {wrong!r}" in error or "must have a column ''" in error
        error = str(run("fit", file, "--target", "y", "--date", "a=dmy").exception)
        assert error == "a column must hold dates of one form (--date a=dmy); a has '0'"
        last = save("b.csv", rows_of(["01/31/2012", "02/01/2012"]))
        error = str(run("fit", last, "--target", "y", "--date", "when=dmy").exception)
        assert "there is no '01/31/2012' with the day first" in error

    def test_versions_and_addresses_stay_texts(self, save):
        for cells in (["10.0.0.1", "10.0.0.2", "10.0.0.3"], ["1.2.2012", "1.3.2012", "2.0.2012"],
                      ["1.10.3", "1.2.14", "2.0.1"], ["2023.3.1", "2023.3.2"]):  # fmt: skip
            frame = read_file(save("a.csv", rows_of(cells * 5))).frame
            assert frame["when"].dtype == pl.String


class TestModels:
    def fit(self, save, tmp_path, form, *options):
        labels = [int(n > 19) for n in range(40)]
        file = save("a.csv", rows_of(days(form), labels))
        done = run(
            "fit", file, "--target", "y", "--size", 1, "--save", tmp_path / "m.json", *options
        )
        assert done.exit_code == 0, done.exception
        return tmp_path / "m.json"

    @pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y"])
    def test_predict_reads_dates_in_the_order_of_training(self, save, tmp_path, form):
        """Alone, the new file would not show its order."""
        model = self.fit(save, tmp_path, form)
        new = [date(2012, 1, 3), date(2012, 3, 1), date(2012, 2, 3), date(2012, 12, 1)]
        for mark in "/.":
            file = save("b.csv", rows_of([day.strftime(form).replace("/", mark) for day in new]))
            assert run("predict", model, file).stdout.split()[1:] == ["0", "1", "0", "1"]
        iso = save("c.csv", rows_of([str(day) for day in new]))
        assert run("predict", model, iso).stdout.split()[1:] == ["0", "1", "0", "1"]
        other = {"%d/%m/%Y": "%m/%d/%Y", "%m/%d/%Y": "%d/%m/%Y"}[form]
        first = {"%d/%m/%Y": "day", "%m/%d/%Y": "month"}[form]
        file = save("d.csv", rows_of(days(other, 20)))
        assert f"with the {first} first" in str(run("predict", model, file).exception)
        order = "mdy" if first == "day" else "dmy"
        assert run("predict", model, file, "--date", f"when={order}").exit_code == 0
        mt.load(model).save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_text() == model.read_text()

    def test_with_points_the_day_comes_first(self, save, tmp_path):
        """Also in a model, whose new files need not have points."""
        cells = [f"0{day}.0{month}.2012" for month in range(1, 9) for day in range(1, 6)]
        file = save("a.csv", rows_of(cells, [int(n > 19) for n in range(40)]))
        model = tmp_path / "m.json"
        result = run("fit", file, "--target", "y", "--drop", "a", "--size", 1, "--save", model)
        assert "when > 2012-04-" in result.stdout
        assert "looks like" not in result.stderr
        [column] = json.loads(model.read_text())["columns"]
        assert column["order"] == "dmy"
        new = save("b.csv", rows_of(["01/04/2012", "01/05/2012", "03/11/2012", "11/03/2012"]))
        assert run("predict", model, new).stdout.split()[1:] == ["0", "1", "1", "0"]
        other = save("c.csv", rows_of(["05.13.2012", "05.14.2012"]))
        assert "'05.13.2012' with the day first" in str(run("predict", model, other).exception)
        given = ["fit", file, "--target", "y", "--size", 1, "--save", model, "--date", "when=mdy"]
        assert run(*given).exit_code == 0
        assert json.loads(model.read_text())["columns"][0]["order"] == "mdy"

    def test_dates_that_are_the_same_in_both_orders_have_none(self, save, tmp_path):
        cells = [f"0{n}.0{n}.2012" for n in range(1, 9)] * 5
        file = save("a.csv", rows_of(cells, [int(cell > "05") for cell in cells]))
        model = tmp_path / "m.json"
        assert run("fit", file, "--target", "y", "--size", 1, "--save", model).exit_code == 0
        assert "order" not in json.loads(model.read_text())["columns"][0]

    def test_a_missing_cell_shows_no_order(self, save):
        file = save("a.csv", rows_of(["05/05/2012", "06/06/2012", "31/12/9999"]))
        found = read_file(file, reading=Reading(missing=("31/12/9999",)))
        assert found.frame["when"].to_list() == [date(2012, 5, 5), date(2012, 6, 6), None]
        assert found.orders == {}

    def test_models_without_an_order(self, save, tmp_path):
        """They are as they were, and an order that does not show is an error."""
        model = self.fit(save, tmp_path, "%Y-%m-%d")
        [column] = json.loads(model.read_text())["columns"]
        assert column.keys() == {"name", "position", "kind", "levels", "seen"}
        file = save("b.csv", rows_of(["01/03/2012", "02/03/2012"]))
        error = str(run("predict", model, file).exception)
        assert "that may begin with the day or with the month" in error
        assert run("predict", model, file, "--date", "when=dmy").stdout.split()[1:] == ["1", "1"]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"order": "ymd"}, "wrong order"), ({"order": 1}, "wrong order"),
            ({"part": ["month", "when"]}, "wrong part"), ({"part": ["year", "d", "date"]}, "wrong"),
            ({"part": ["month", "when", "number"]}, "wrong part"),
            ({"part": ["month", "when", "date"]}, "must be a number"),
            ({"kind": "number", "order": "dmy"}, "only dates have an order"),
        ],
    )  # fmt: skip
    def test_damaged_models_are_refused(self, save, tmp_path, change, said):
        model = self.fit(save, tmp_path, "%d/%m/%Y")
        content = json.loads(model.read_text())
        content["columns"][0] |= change
        model.write_text(json.dumps(content))
        with pytest.raises(ValueError, match=said):
            mt.load(model)


def seasons(rows=600, first=datetime(2010, 1, 1, 5), seed=0):
    """Moments, and labels that depend on the month, the weekday or the hour."""
    draw = random.Random(seed)
    moments = [first + timedelta(hours=31 * n + draw.randint(0, 9)) for n in range(rows)]
    return moments, [int(each.month > 6) for each in moments]


class TestInOrder:
    SAID = "warning: rows are in order of time, as column when tells, and rows held out at random"

    def table(self, save, moments, labels, form="%Y-%m-%d"):
        return save("a.csv", rows_of([each.strftime(form) for each in moments], labels))

    @pytest.mark.parametrize("command", ["fit", "data"])
    @pytest.mark.parametrize("options", [[], ["--drop", "when"]])
    def test_it_is_said(self, save, command, options):
        moments, labels = seasons(60)
        for order in (moments, moments[::-1]):
            file = self.table(save, order, labels)
            given = [command, file, "--target", "y", "--max-size", 1, *options]
            said = run(*given).stderr
            assert said.count(self.SAID) == 1
            assert "--after when tests on later rows than it grows on, --keep when" in said
            for other in (["--keep", "when"], ["--after", "when"]):
                assert self.SAID not in run(*given, *other).stderr

    def test_other_rows_are_not_in_order(self, save):
        moments, labels = seasons(60)
        shuffled = random.Random(0).sample(moments, 60)
        few = [moments[n // 8] for n in range(60)]  # 8 different times
        for order in (shuffled, few, [moments[1], moments[0], *moments[2:]]):
            file = self.table(save, order, labels)
            assert self.SAID not in run("fit", file, "--target", "y", "--max-size", 1).stderr
        gaps = self.table(save, moments, labels).read_text().replace("2010-01-1", "NA")
        assert "NA" not in run("fit", save("b.csv", gaps), "--target", "y").stderr

    def test_parquet(self, tmp_path):
        moments, labels = seasons(60)
        file = tmp_path / "a.parquet"
        pl.DataFrame({"when": moments, "a": [n % 7 for n in range(60)], "y": labels}).write_parquet(
            file
        )
        assert self.SAID in run("fit", file, "--target", "y", "--max-size", 1).stderr

    def test_cross_validation_that_is_skipped_flatters_nobody(self, save):
        file = self.table(save, *seasons(60))
        given = ["data", file, "--target", "y", "--max-size", 1]
        assert self.SAID not in run(*given, "--cv", 0).stderr
        assert self.SAID not in run(*given, "--groups", "a", "--cv", 2).stderr


class TestAfter:
    def drifting(self, save, name="a.csv", form="{}"):
        """Labels that go with the time, so that earlier rows know nothing of later ones."""
        draw = random.Random(3)
        rows = [(n, n % 6, int(n // 10 % 2)) for n in range(200)]
        draw.shuffle(rows)
        lines = "".join(f"{form.format(n)},{a},{y}\n" for n, a, y in rows)
        return save(name, "n,a,y\n" + lines), rows

    @pytest.mark.parametrize(
        ("form", "shown"),
        [
            ("2012-01-01 {:02}:00:00", "2012-01-01 12:00"),
            ("2012-01-01 10:00:{:02}", "2012-01-01 10:00:12"),
            ("2012-01-01 10:00:00.{:02}", "2012-01-01 10:00:00.120000"),
            ("{}.0", "12"),
        ],
    )
    def test_the_first_time_held_out_has_no_needless_digits(self, save, form, shown):
        file = save("a.csv", rows_of([form.format(n) for n in range(16)]))
        given = ["fit", file, "--target", "y", "--size", 1, "--after", "when"]
        assert f"held out the last 4 rows by when: from {shown} on" in run(*given).stderr

    def test_the_last_rows_are_held_out(self, save):
        file, rows = self.drifting(save)
        result = run("fit", file, "--target", "y", "--after", "n", "--json")
        answer = json.loads(result.stdout)
        assert "held out the last 50 rows by n: from 150 on" in result.stderr
        assert (answer["train_rows"], answer["held_out_rows"]) == (150, 50)
        assert "n >" not in json.dumps(answer["tree"])
        known = sorted(rows)[:150]
        model = mt.TopDownClassifier(max_size=20).fit(
            pl.DataFrame({"a": [a for _, a, _ in known]}), [y for *_, y in known]
        )
        assert answer["train_errors"] == model.growth_.errors.tolist()

    def test_equal_times_stay_together(self, save):
        lines = "".join(f"{n // 30},{n % 7},{n % 2}\n" for n in range(120))
        file = save("a.csv", f"n,a,y\n{lines}")
        for share, held in ((0.25, 30), (0.3, 30), (0.45, 60), (0.01, 30), (0.99, 90)):
            given = ["--held-out", share, "--size", 1, "--json"]
            result = run("fit", file, "--target", "y", "--after", "n", *given)
            assert json.loads(result.stdout)["held_out_rows"] == held

    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_what_is_refused(self, save, command):
        def error(content, *options):
            given = ["--target", "y", "--after", "n", *options]
            return str(run(command, save("b.csv", content), *given).exception)

        def table(*cells):
            return "n,a,y\n" + "".join(f"{cells[n % len(cells)]},{n},{n % 2}\n" for n in range(40))

        assert "known in every row; n is missing in 20 rows" in error(table("1", ""))
        assert "--after must name a column of dates or numbers; n has 'x'" in error(table("x", "z"))
        unclear = table("01/02/2012", "03/04/2012")
        assert "dates or numbers; column n looks like dates, such as '01/02/2012'" in error(unclear)
        assert "same time" in error(table("1")) or "no number of folds" in error(table("1"))
        assert "different" in error(table("1", "2"), "--cv", 3)
        assert "must have a column 'n'" in error("m,y\n1,2\n")
        assert "--after" in error("n,y\n1,2\n", "--target", "n")

    def test_groups_and_after(self, save):
        file, _ = self.drifting(save)
        given = ["data", file, "--target", "y", "--after", "n", "--groups", "a"]
        assert str(run(*given).exception) == "--groups and --after must not both be given"

    def test_data_tests_on_later_rows(self, save):
        file, rows = self.drifting(save)
        given = ["data", file, "--target", "y", "--max-size", 2, "--json"]
        answer = json.loads(run(*given, "--after", "n", "--cv", 4).stdout)
        ordered = sorted(rows)
        X = pl.DataFrame({"a": [a for _, a, _ in ordered]})
        y, after = [y for *_, y in ordered], [n for n, *_ in ordered]
        expected = mt.compare("topdown", X, y, 2, after=after, cv=4)
        assert answer["results"] == expected.frame.to_dicts()
        shown = run(*given[:-1], "--after", "n", "--cv", 4).stdout
        assert "cross-validation in order of time, 4 folds" in shown

    def test_a_folder_takes_no_order(self, tmp_path):
        pl.DataFrame({"a": [1, 2], "y": [0, 1]}).write_parquet(tmp_path / "a.parquet")
        for option in (["--after", "a"], ["--parts", "a"], ["--date", "a=dmy"]):
            error = str(run("fit", tmp_path, "--target", "y", *option).exception)
            assert f"{option[0]} must not be given with a folder or a pattern" in error


class TestParts:
    @pytest.mark.parametrize(
        ("form", "zone"), [("%Y-%m-%d %H:%M", ""), ("%d/%m/%Y %H:%M", ""), ("%Y-%m-%d %H:%M", "Z")]
    )
    @pytest.mark.parametrize(
        ("label", "name"),
        [
            (lambda moment: moment.month > 6, "when month > 6.5"),
            (lambda moment: moment.isoweekday() > 5, "when weekday > 5.5"),
            (lambda moment: moment.hour > 11, "when hour > 11.5"),
        ],
    )
    def test_they_are_columns_that_predict_computes(self, save, tmp_path, form, zone, label, name):
        moments, _ = seasons()
        cells = [each.strftime(form) + zone for each in moments]
        labels = [int(label(each)) for each in moments]
        file, model = save("a.csv", rows_of(cells, labels)), tmp_path / "m.json"
        given = ["--target", "y", "--size", 1, "--parts", "when", "--save", model]
        result = run("fit", file, *given)
        assert name in result.stdout
        assert run("predict", model, file).stdout.split()[1:] == list(map(str, labels))
        assert "when is" not in result.stdout
        assert name not in run("fit", file, *given[:4]).stdout
        loaded = mt.load(model)
        frame = read_file(file).frame
        for table in (frame, frame.to_pandas(), frame.to_pandas().set_index("a"), frame.to_arrow()):
            assert loaded.predict(table).tolist() == labels
        assert loaded.predict(frame[5:50]).tolist() == labels[5:50]
        assert name.partition(" >")[0] in loaded.explain(frame.to_dicts()[0])
        scope = {}
        exec(loaded.to_rules().to_python(), scope)
        assert [scope["predict"](row) for row in frame.to_dicts()] == labels
        assert scope["predict"]({"when": None}) == loaded.predict(frame.clear(1))[0]
        with pytest.raises(ValueError, match=r"SQL has no expression for the .* of a date"):
            loaded.to_rules().to_sql()
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_text() == model.read_text()

    def test_predicting_files_batch_by_batch(self, save, tmp_path):
        moments, labels = seasons()
        frame = pl.DataFrame({"when": moments, "a": [0] * len(moments), "y": labels})
        file, out = tmp_path / "a.parquet", tmp_path / "out.parquet"
        frame.write_parquet(file)
        run(
            "fit",
            file,
            "--target",
            "y",
            "--size",
            1,
            "--parts",
            "when",
            "--save",
            tmp_path / "m.json",
        )
        (tmp_path / "new").mkdir()
        frame.drop("y").write_parquet(tmp_path / "new" / "a.parquet")
        done = run("predict", tmp_path / "m.json", tmp_path / "new", "--out", out)
        assert done.exit_code == 0, done.exception
        assert pl.read_parquet(out)["prediction"].to_list() == labels

    def test_the_date_itself_may_be_left_out(self, save):
        moments, labels = seasons()
        file = save("a.csv", rows_of([each.strftime("%Y-%m-%d") for each in moments], labels))
        for option in (
            ["--drop", "when"],
            ["--after", "when"],
            ["--drop", "when", "--after", "when"],
        ):
            given = ["--target", "y", "--max-size", 3, "--parts", "when", *option]
            for command in ("fit", "data"):
                shown = run(command, file, *given).stdout
                assert "when month > 6.5?" in shown
                assert "when > " not in shown
                assert "hour" not in shown

    @pytest.mark.parametrize("option", ["--after", "--drop"])
    def test_of_the_only_column(self, save, option):
        when = [DAY + timedelta(n) for n in range(60)]
        lines = [f"{day},{int(day.isoweekday() > 5)}\n" for day in when]
        file = save("a.csv", "".join(["when,y\n", *lines]))
        given = ("--target", "y", "--parts", "when", option, "when", "--size", 1)
        assert "when weekday > 5.5?" in run("fit", file, *given).stdout

    def test_the_same_hour_is_no_column(self, save):
        moments, labels = seasons(60)
        literals = []
        for form in ("%Y-%m-%d", "%Y-%m-%d 10:30"):
            file = save("a.csv", rows_of([each.strftime(form) for each in moments], labels))
            given = ["data", file, "--target", "y", "--parts", "when", "--cv", 0, "--json"]
            literals.append(json.loads(run(*given, "--max-size", 1).stdout)["literals"])
        assert literals[0] == literals[1]

    def test_what_is_refused(self, save, tmp_path):
        file = save("a.csv", rows_of(days("%Y-%m-%d")))
        error = str(run("fit", file, "--target", "y", "--parts", "a").exception)
        assert error == "--parts must name a column of dates; a has 0"
        error = str(run("fit", file, "--target", "y", "--parts", "y").exception)
        assert error == "--target must not be named by --parts or --after; got 'y'"
        twice = save("b.csv", file.read_text().replace("when,a,y", "when,when month,y"))
        error = str(run("fit", twice, "--target", "y", "--parts", "when").exception)
        assert "must make new columns; there is a 'when month'" in error
        model = tmp_path / "m.json"
        labels = [int(n > 19) for n in range(40)]
        file = save("c.csv", rows_of(days("%Y-%m-%d", step=9), labels))
        run("fit", file, "--target", "y", "--parts", "when", "--drop", "when", "--size", 1,
            "--save", model)  # fmt: skip
        loaded = mt.load(model)
        with pytest.raises(
            ValueError, match="there is no 'when', whose month it tests; it has 'a'"
        ):
            loaded.predict(pl.DataFrame({"a": [1]}))
        with pytest.raises(ValueError, match="stay what it was at fit; when held dates, now texts"):
            loaded.predict(pl.DataFrame({"when": ["x"]}))
        with pytest.raises(
            ValueError, match="stay what it was at fit; when held dates, now numbers"
        ):
            loaded.predict(pl.DataFrame({"when": [1.5]}))
        aware = pl.Series("when", [datetime(2020, 1, 1)]).dt.replace_time_zone("UTC")
        with pytest.raises(ValueError, match="times without a time zone, now times with"):
            loaded.predict(aware.to_frame())
        with pytest.raises(ValueError, match="it has no 'when'"):
            loaded.explain({"a": 1})
        assert loaded.predict(pl.DataFrame({"when": [None]})).shape == (1,)


class TestWeightsAndOptimalTrees:
    """Rows in order of time and parts of dates, with weights, scorings and optimal trees."""

    DATES = ("--after", "when", "--parts", "when")
    RARE = ("--weights", "w", "--class-weight", "yes=3")

    @pytest.fixture
    def visits(self, save):
        """A label that months explain, with the day first; some rows weigh nothing."""
        draw = np.random.default_rng(5)
        moments = [DAY + timedelta(days=2 * n) for n in range(400)]
        a = draw.integers(0, 4, 400)
        odd = np.array([each.month % 3 == 1 for each in moments]) & (a > 1)
        label = np.where(odd ^ (draw.random(400) < 0.05), "yes", "no")
        table = {
            "when": [f"{each:%d/%m/%Y}" for each in moments],
            "a": a,
            "w": draw.integers(0, 4, 400),
            "id": np.arange(400) * 7 + 1000,
            "y": label,
        }
        return save("visits.csv", pl.DataFrame(table).write_csv())

    def split(self, file):
        """The table as the command has it, and the numbers of rows to grow on and to test on."""
        frame = pl.read_csv(file)
        moments = frame["when"].str.to_date("%d/%m/%Y")
        X = frame.select(
            moments.dt.month().cast(int).alias("when month"),
            moments.dt.weekday().cast(int).alias("when weekday"),
            "a",
        )
        return X, frame["y"].to_numpy(), frame["w"].to_numpy(), moments.to_numpy()

    def new_rows(self, save, file):
        """Rows whose dates do not show which number is the day."""
        frame = pl.read_csv(file).filter(pl.col("when").str.slice(0, 2).cast(int) <= 12)
        return save("new.csv", frame.write_csv()), frame

    def expect(self, frame, best):
        months = frame["when"].str.to_date("%d/%m/%Y").dt
        columns = {"when month": months.month(), "when weekday": months.weekday(), "a": frame["a"]}
        return best.predict(pl.DataFrame(columns)).tolist()

    def test_an_optimal_tree_is_saved_with_its_dates(self, visits, save, tmp_path):
        model = tmp_path / "m.json"
        given = ("fit", visits, "--target", "y", "--drop", "id", *self.DATES, *self.RARE)
        done = run(*given, "--rule", "optimal", "--size", 3, "--json", "--save", model)
        answer = json.loads(done.stdout)
        X, y, w, _ = self.split(visits)
        best = mt.OptimalTreeClassifier(3, class_weight={"yes": 3.0}).fit(X[:300], y[:300], w[:300])
        assert answer["train_errors"] == pytest.approx(best.frontier_)
        masses = w[300:] * np.where(y[300:] == "yes", 3, 1)
        wrong = best.predict(X[300:]) != y[300:]
        assert answer["held_out_error"] == pytest.approx(masses[wrong].sum() / masses.sum())
        new, frame = self.new_rows(save, visits)
        told = run("predict", model, new, "--keep", "id", "--keep", "when").stdout
        assert told.splitlines()[0] == "when,id,prediction"
        expected = [
            f"{when},{number},{label}"
            for when, number, label in zip(
                frame["when"], frame["id"], self.expect(frame, best), strict=True
            )
        ]
        assert told.splitlines()[1:] == expected

    def test_data_saves_its_tree_with_its_dates(self, visits, save, tmp_path):
        model = tmp_path / "m.json"
        given = ("data", visits, "--target", "y", "--drop", "id", *self.DATES, *self.RARE)
        done = run(*given, "--max-size", 3, "--size", 3, "--cv", 0, "--save", model)
        assert done.exit_code == 0, done.exception
        X, y, w, _ = self.split(visits)
        best = mt.OptimalTreeClassifier(3, class_weight={"yes": 3.0}).fit(X, y, w)
        new, frame = self.new_rows(save, visits)
        told = run("predict", model, new).stdout.split()
        assert told == ["prediction", *self.expect(frame, best)]

    @pytest.mark.parametrize("rule", ["topdown", "optimal"])
    def test_folds_are_later_weighted_and_scored(self, visits, rule):
        given = ("fit", visits, "--target", "y", "--drop", "id", *self.DATES, "--max-size", 3)
        made = {"topdown": mt.TopDownClassifier, "optimal": mt.OptimalTreeClassifier}[rule]
        X, y, w, moments = self.split(visits)
        part = slice(300)
        for scoring in (None, "balanced_accuracy"):
            options = () if scoring is None else ("--scoring", scoring)
            done = run(*given, *self.RARE, *options, "--rule", rule, "--json")
            answer = json.loads(done.stdout)
            model = made(3, class_weight={"yes": 3.0})
            choice = mt.select_size(
                model, X[part], y[part], sample_weight=w[part], after=moments[part], scoring=scoring
            )
            assert answer["size"] == choice.size
            kind = "errors" if scoring is None else "scores"
            assert answer[f"cross_validated_{kind}"] == pytest.approx(choice.shown)
            results = model.fit(X[part], y[part], w[part]).class_results(
                X[300:], y[300:], w[300:], choice.size
            )
            assert answer["confusion"] == results.confusion.tolist()

    def test_data_on_later_rows_with_weights_of_classes(self, visits):
        given = ("data", visits, "--target", "y", "--drop", "id", *self.DATES, *self.RARE)
        answer = json.loads(run(*given, "--max-size", 2, "--json").stdout)
        X, y, w, moments = self.split(visits)
        found = mt.compare("topdown", X, y, 2, sample_weight=w, class_weight={"yes": 3.0},
                           after=moments)  # fmt: skip
        assert answer["results"] == found.frame.to_dicts()
        assert answer["confusion"] == found.class_results(answer["size"]).confusion.tolist()

    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_the_command_of_the_page_has_all_options(self, visits, tmp_path, monkeypatch, command):
        """The command, as a shell reads it, writes the better tree of the page."""
        monkeypatch.chdir(tmp_path)
        draw = np.random.default_rng(1)
        frame = pl.read_csv(visits)
        months = frame["when"].str.to_date("%d/%m/%Y").dt.month().to_numpy()
        early, a = months > 6, draw.integers(0, 2, 400)
        y = np.where(draw.random(400) < 0.05, early == a, early ^ a.astype(bool))
        frame.with_columns(a=a, b=np.where(draw.random(400) < 0.6, y, a), y=y).write_csv(visits)
        given = ("--target", "y", "--drop", "id", *self.DATES, "--weights", "w", "--class-weight",
                 "balanced", "--date", "when=dmy", "--max-size", 3, "--size", 3)  # fmt: skip
        done = run(command, visits, *given, "--no-merge", "--details", "--report", "page.html")
        assert done.exit_code == 0, done.exception
        page = (tmp_path / "page.html").read_text()
        (line,) = re.findall(r'<pre class="command"><code>(.*)</code></pre>', page)
        words = shlex.split(unescape(line))
        for option in (*self.DATES, "when=dmy", "--no-merge", "balanced", "w"):
            assert option in words
        assert "--details" not in words
        assert run(*words[1:]).exit_code == 0
        X, y, w, _ = self.split(visits)
        X = X.with_columns(pl.read_csv(visits)["b"])
        part = slice(300) if command == "fit" else slice(400)
        best = mt.OptimalTreeClassifier(3, class_weight="balanced").fit(X[part], y[part], w[part])
        saved = mt.load("model.json")
        guess = saved.predict(
            pl.read_csv(visits).with_columns(pl.col("when").str.to_date("%d/%m/%Y"))
        )
        factors = 1 / np.bincount(y[part])[y[part].astype(int)] * w[part]
        wrong = factors[guess[part] != y[part]].sum() / factors.sum()
        assert wrong == pytest.approx(best.frontier_[3])

    def test_one_column_is_not_for_both(self, visits):
        error = str(run("fit", visits, "--target", "y", "--after", "w", "--weights", "w").exception)
        assert error == "--weights and --after must name different columns; both name 'w'"

    @pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1_macro"])
    def test_classes_that_later_rows_lack(self, save, scoring):
        """A tree may predict a class that no row of a fold has; scikit-learn would warn."""
        rows = [(n, n * 7 % 10, "old" if n < 60 and n % 3 == 0 else n * 7 % 10 > 6) for n in
                range(200)]  # fmt: skip
        file = save("a.csv", "t,a,y\n" + "".join(f"{t},{a},{y}\n" for t, a, y in rows))
        command = [sys.executable, "-m", "mictree", "fit", file, "--target", "y", "--after", "t",
                   "--class-weight", "old=9", "--scoring", scoring, "--keep", "t", "--max-size",
                   "3"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"cross-validated {scoring}" in done.stdout
        assert [x for x in done.stderr.splitlines() if not x.startswith("mictree: ")] == []
