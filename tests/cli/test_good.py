"""mictree good: formulas and files, what it prints, writes and refuses."""

import json
import warnings
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app

PAPER = "x1 & x2 | y1 & y2 & y3"
TABLE = "size,colour,kind\n1,red,yes\n2,red,yes\n,blue,no\n4,red,no\n5,blue,no\n2,blue,no\n"


def run(*arguments):
    return CliRunner().invoke(app, ["good", *map(str, arguments)])


def error(*arguments):
    told = run(*arguments)
    assert told.exit_code != 0
    return str(told.exception)


def fields(*arguments):
    told = run(*arguments, "--json")
    assert told.exit_code == 0, told.stderr
    return json.loads(told.stdout)


@pytest.fixture
def table(save):
    return save("table.csv", TABLE)


def test_a_formula():
    told = run(PAPER, "--max-size", 3)
    assert told.exit_code == 0
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in told.stdout.splitlines()
        if line.startswith("│")
    ]
    assert rows[2:] == [["2", "0.09375", "2", "1", "x1, x2"], ["3", "0.09375", "14", "1", "x1, x2"]]


def test_a_formula_as_json():
    found = fields(PAPER, "--max-size", 2, "--rule", "topdown")
    assert found["counts"] == [1, 2, 2]
    assert found["ended"] == ["", "", ""]
    assert found["optimal_errors"] == [0.34375, 0.28125, 0.09375]
    assert found["errors"][2] == {"size": 2, "error": 0.09375, "count": 2}
    assert found["chances"] == [
        {"rule": "topdown", "chances": [1.0, 1.0, 1.0], "reached": [1, 2, 2], "runs": None}
    ]


def test_a_bias_and_noise():
    found = fields("a ^ b", "--noise", "0.1", "--bias", "a=1/3", "--max-size", 3)
    problem = mt.TableProblem.from_formula("a ^ b", {"a": Fraction(1, 3), "b": 0.5}, noise=0.1)
    assert found["counts"] == list(mt.good_trees(problem, 3).counts)


def test_a_file(table):
    found = fields(table, "--target", "kind", "--max-size", 2)
    assert found["optimal_errors"] == pytest.approx([1 / 3, 1 / 6, 0])
    assert found["file"] == str(table)
    every = [row for row in found["variables"] if row["size"] == 2]
    assert {row["variable"]: row["share"] for row in every} == {"size": 1.0, "colour": 1.0}


def test_within_is_read_as_typed(table):
    # 1/6 of six rows is exactly one error more; a sixth in decimals is less than one
    exactly = fields(table, "--target", "kind", "--max-size", 1, "--within", "1/6")
    below = fields(table, "--target", "kind", "--max-size", 1, "--within", "0.1666")
    assert exactly["counts"][1] > below["counts"][1]
    assert below["counts"] == fields(table, "--target", "kind", "--max-size", 1)["counts"]


@pytest.mark.parametrize("typed", ["-0.1", "nan", "inf", "", "1/0", "much"])
def test_within_that_is_no_share(typed):
    assert error(PAPER, f"--within={typed}") == (
        f"--within must be a number, not negative; got {typed!r}"
    )


def test_within_a_power_of_ten_that_would_take_long():
    assert error(PAPER, "--within=1e-99999999") == (
        "--within must have a power of ten from -9999 to 9999; got '1e-99999999'"
    )


def test_options_of_the_other_kind(table):
    assert error(PAPER, "--drop", "x1").startswith("--drop must not be given without --target")
    assert error(table, "--target", "kind", "--noise", "0.1").startswith(
        "--noise must not be given with --target"
    )


def test_a_file_without_a_target(table):
    assert error(table) == f"--target must name the column to predict: {table} is a file"


def test_wrong_rules_and_runs():
    assert error(PAPER, "--rule", "cart").startswith("--rule must be one of topdown, bestfirst")
    assert error(PAPER, "--runs", 0) == "--runs must be an integer of at least 1; got 0"


def test_more_trees_than_asked_for():
    found = fields(PAPER, "--max-size", 4, "--max-count", 20)
    assert found["ended"] == ["", "", "", "", "max_count"]
    assert 20 < found["counts"][4] <= 72
    assert "variables" not in found
    told = run(PAPER, "--max-size", 4, "--max-count", 20)
    assert "at least" in told.stdout
    assert "counting ended by max_count" in told.stdout


def test_files_need_all_trees(tmp_path):
    page = tmp_path / "page.html"
    why = error(PAPER, "--max-size", 4, "--max-count", 20, "--report", page)
    assert why == "--draw, --plot and --report need all good trees; counting ended by max_count"
    assert not page.exists()


def test_the_files(table, tmp_path):
    page, trees, shares = (tmp_path / name for name in ("page.html", "trees.svg", "shares.svg"))
    told = run(
        table, "--target", "kind", "--max-size", 2, "--report", page, "--draw", trees,
        "--plot", shares,
    )  # fmt: skip
    assert told.exit_code == 0, told.stderr
    assert "Good trees of table.csv" in page.read_text()
    assert all(each.read_text().rstrip().endswith("</svg>") for each in (trees, shares))


def test_leaves_alone(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = run("a & b", "--max-size", 0, "--plot", tmp_path / "shares.svg")
    assert told.exit_code == 0, told.exception


def test_no_tree_to_draw(tmp_path):
    trees = tmp_path / "trees.svg"
    assert error("a & b", "--max-size", 3, "--draw", trees) == (
        "there is no good tree of 3 splits to draw"
    )
    assert not trees.exists()


def test_numbers_and_costs(table, save):
    numbers = save("numbers.csv", "a,b,y\n1,0,0.5\n2,1,1.5\n3,0,2.5\n4,1,9.25\n")
    found = fields(numbers, "--target", "y", "--max-size", 1, "--task", "regression")
    assert found["counts"] == [1, 1]
    costs = save("costs.csv", "true,no,yes\nno,0,1\nyes,10,0\n")
    found = fields(table, "--target", "kind", "--max-size", 1, "--costs", costs)
    assert found["optimal_errors"] == pytest.approx([4 / 6, 1 / 6])
