"""--categories of fit and data."""

import json
import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app

TOWNS = [f"town{number}" for number in range(12)]


def run(command, *arguments):
    return CliRunner().invoke(app, [command, *map(str, arguments)], catch_exceptions=True)


@pytest.fixture(scope="module")
def table():
    draws = np.random.default_rng(3)
    town = draws.choice(TOWNS, 300)
    late = np.where(np.isin(town, TOWNS[::2]) ^ (draws.random(300) < 0.1), "late", "early")
    return pl.DataFrame({"town": town, "age": draws.integers(18, 80, 300), "late": late})


@pytest.fixture
def file(table, tmp_path):
    table.write_csv(tmp_path / "a.csv")
    return tmp_path / "a.csv"


def test_fit_tests_sets_and_predict_warns_of_unknown_texts(file, table, tmp_path):
    model, page = tmp_path / "model.json", tmp_path / "page.html"
    done = run("fit", file, "--target", "late", "--categories", "subsets", "--max-size", 3,
               "--save", model, "--report", page, "--time-limit", 4)  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert "town in {" in done.stdout
    assert "tests on categories" in page.read_text()
    cell = re.search(r"│ 1 +│ (town in {[^}]*}) +│", done.stdout)
    assert cell, "the column of splits names a set"
    assert re.search(r", and \d more}", cell[1])  # as drawings do; the tree names all
    assert cell[1] in page.read_text()
    loaded = mt.load(model)
    assert loaded.score(table, table["late"]) > 0.85
    new = tmp_path / "new.csv"
    new.write_text("town,age\nnowhere,30\ntown0,30\n")
    told = run("predict", model, new)
    assert told.exit_code == 0
    assert "column town has texts that no training row had" in told.stderr


@pytest.mark.parametrize("rule", ["optimal", "bestfirst"])
def test_rules_of_fit_test_sets(file, rule):
    done = run("fit", file, "--target", "late", "--categories", "subsets", "--size", 1,
               "--rule", rule, "--json", "--time-limit", 5)  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert "town in {" in json.dumps(json.loads(done.stdout)["tree"])


def test_data_compares_on_sets(file):
    done = run("data", file, "--target", "late", "--categories", "subsets", "--max-size", 1,
               "--cv", 0, "--time-limit", 5)  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert "town in {" in done.stdout


def test_fit_reads_sets_from_many_files(table, tmp_path):
    for part in range(2):
        table[part::2].write_parquet(tmp_path / f"{part}.parquet")
    done = run("fit", str(tmp_path / "*.parquet"), "--target", "late", "--categories", "subsets",
               "--size", 1)  # fmt: skip
    assert done.exit_code == 0, done.exception
    assert "town in {" in done.stdout


@pytest.mark.parametrize("command", ["fit", "data"])
def test_unknown_ways_to_test_categories(command, file):
    done = run(command, file, "--target", "late", "--categories", "some")
    assert str(done.exception) == "--categories must be one of each, subsets; got 'some'"
