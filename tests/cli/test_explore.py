"""The command explore, and what its page starts with."""

import json
import re

import polars as pl
import pytest

import mictree as mt
from mictree.report.explorer.render import EXAMPLES, render
from tests.cli.test_formulas import run

MOST_BYTES = 300_000


def start_of(page):
    """The state that a page starts with."""
    found = re.search(r'id="explorer-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])["start"]


def test_without_arguments_it_shows_the_paper_s_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("explore")
    assert (done.stdout, done.stderr) == ("", "mictree: wrote explorer.html\n")
    page = (tmp_path / "explorer.html").read_text("utf-8")
    assert len(page.encode()) < MOST_BYTES
    assert start_of(page) == EXAMPLES[0].state


def test_a_formula(tmp_path):
    out = tmp_path / "page.html"
    run("explore", "a -> ~b", "--out", str(out))
    assert start_of(out.read_text("utf-8")) == {"formula": "a -> ~b", "maxSize": 3}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_data(tmp_path, ending):
    path, out = tmp_path / f"data.{ending}", tmp_path / "page.html"
    frame = pl.DataFrame(
        {"y": ["no", "yes", "no"], "size": [1.5, None, 2], "c, d": ["é", '"', "x"]}
    )
    getattr(frame, f"write_{ending}")(path)
    run("explore", "--data", str(path), "--target", "y", "--out", str(out))
    start = start_of(out.read_text("utf-8"))
    assert start["target"] == "y"
    assert start["csv"].splitlines()[0] == 'size,"c, d",y'
    assert (
        pl.read_csv(start["csv"].encode()).to_dicts()
        == frame.select("size", "c, d", "y").to_dicts()
    )


def test_the_largest_page_is_small_enough():
    assert len(render({"kind": "data", "csv": "x" * 60_000}).encode()) < MOST_BYTES


def test_no_text_ends_the_page_s_data():
    evil = "</script><img src=x onerror=alert(1)>"
    page = render({"formula": evil})
    assert evil not in page
    assert start_of(page) == {"formula": evil}


def test_commas_of_a_file_are_explained_by_an_option(tmp_path):
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    table.write_text("a;y\n1,234;0\n5,678;1\n")
    words = ["explore", "--data", str(table), "--target", "y", "--out", str(page)]
    assert "add --decimal ," in run(*words, status=2).stderr
    run(*words, "--decimal", ",")
    assert start_of(page.read_text("utf-8"))["csv"] == "a,y\n1.234,0\n5.678,1\n"


def test_the_line_about_codes_names_options_that_exist(tmp_path):
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    table.write_text("zip,y\n" + "01234,0\n90210,1\n" * 5)
    words = ["explore", "--data", str(table), "--target", "y", "--out", str(page)]
    assert "--number zip reads numbers, --keep zip silences this line" in run(*words).stderr
    assert len(run(*words, "--keep", "zip").stderr.splitlines()) == 2
    assert "zip has leading zeros" not in run(*words, "--number", "zip").stderr
    assert start_of(page.read_text("utf-8"))["csv"].startswith("zip,y\n1234,0\n90210,1\n")


def test_texts_that_the_page_would_refuse_are_refused(tmp_path):
    table = tmp_path / "table.parquet"
    pl.DataFrame({"a": ["1", "2", "x"], "y": [0, 1, 1]}).write_parquet(table)
    done = run("explore", "--data", str(table), "--target", "y", status=2)
    assert "a has 2 numbers and 1 text: 'x'" in done.stderr


@pytest.mark.parametrize(
    "cells", ["1 2 x", "2024-01-01 2024-02-01 x", "99999999999999999991 99999999999999999992 5"]
)
def test_errors_name_no_option_that_explore_lacks(tmp_path, cells):
    """The page reads all cells by itself, so that it can take no --text."""
    table, page = tmp_path / "table.csv", tmp_path / "page.html"
    table.write_text("\n".join(["a,b,y", *(f"{cell},{n},{n % 2}" for n, cell in
                                           enumerate(cells.split()))]))  # fmt: skip
    words = ["explore", "--data", str(table), "--target", "y", "--out", str(page)]
    error = run(*words, status=2).stderr
    assert "--text" not in error
    assert "--drop a" in error
    run(*words, "--drop", "a")


def test_an_error_is_one_line(tmp_path):
    table, wide = tmp_path / "table.csv", tmp_path / "wide.csv"
    pl.DataFrame({"a": range(201), "y": [0] * 201}).write_csv(table)
    pl.DataFrame({f"c{number}": [0, 1] for number in range(51)}).write_csv(wide)
    long = tmp_path / "long.csv"
    pl.DataFrame({"a": ["x" * 60_000, "y"], "y": [0, 1]}).write_csv(long)
    eleven = " | ".join(f"x{number}" for number in range(11))
    data = ["--data", str(table), "--target"]
    for words, message in [
        ([eleven], "takes at most 10 variables; this formula has 11; mictree mic takes it"),
        (["a & (b"], "'(' is never closed, at position 5"),
        ([""], "at least one term"),
        (["a", *data, "y"], "starts with a formula or with --data; both are given"),
        (["--data", str(table)], "--data and --target go together; only --data is given"),
        (["--target", "y"], "only --target is given"),
        ([*data, "z"], "must have a column 'z'"),
        ([*data, "y"], "takes at most 200 rows; the file has 201; mictree data takes it"),
        (["--data", str(wide), "--target", "c0"], "at most 50 columns; the file has 51"),
        (["--data", str(long), "--target", "y"], "at most 60,000 characters"),
        (["--data", "nothing.csv", "--target", "y"], "FILE must exist"),
        (["--out", "page.txt"], "--out must end in .html or .htm; got 'page.txt'"),
        (["--out", str(tmp_path / "no" / "page.html")], "existing folder"),
        (["a", "b"], "unexpected"),
    ]:
        done = run("explore", *words, status=2)
        error = done.stderr.splitlines()[-1]  # a file that was read is described above it
        assert message.lower() in error.lower(), words
        assert len(done.stderr.splitlines()) == 1 or "--data" in words
        assert not done.stdout


def problem_of(state):
    biases = dict.fromkeys(state.get("extra", []), 0.5)
    names = mt.TableProblem.from_formula(state["formula"]).variables
    return mt.TableProblem.from_formula(state["formula"], dict.fromkeys(names, 0.5) | biases)


def errors_of(example, **changes):
    """The errors of an example's rule, perhaps with other ties, and the least errors."""
    state = example.state | changes
    rules = {"topdown": mt.TopDown, "bestfirst": mt.BestFirst, "lookahead2": mt.Lookahead}
    rule = rules[state["rule"]](ties=state["ties"])
    result = mt.mic(rule, problem_of(state), state["maxSize"], exact=True)
    return result.greedy_errors, result.optimal_errors, result.mic


class TestExamplesSayWhatIsSo:
    def test_the_paper_s(self):
        greedy, optimal, _ = errors_of(EXAMPLES[0])
        assert [str(greedy[5]), str(optimal[5])] == ["1/16", "1/32"]
        assert errors_of(EXAMPLES[0], rule="topdown")[2] == 0

    def test_xor(self):
        problem = problem_of(EXAMPLES[1].state)
        growth = mt.TopDown().grow(problem, 3)
        assert growth.steps[0].gain == 0
        assert growth.errors[2] > growth.errors[3] == 0
        assert mt.Lookahead(2).grow(problem, 3).steps[0].gain == 1

    def test_an_irrelevant_variable(self):
        greedy, optimal, _ = errors_of(EXAMPLES[2])
        assert list(optimal).index(0) == 3
        assert list(greedy).index(0) == 7
        assert errors_of(EXAMPLES[2], ties="first")[2] == 0
        assert errors_of(EXAMPLES[2], rule="lookahead2")[2] == 0

    def test_where_best_first_fails_worst(self):
        family = mt.families.up_to(variables=10, biases=(0.5,))
        frame = mt.sweep(family, max_size=20, rules=[mt.BestFirst()]).sort("mic", descending=True)
        assert frame["formula"][0] == "2+2+2+3"
        best, top = errors_of(EXAMPLES[3])[2], errors_of(EXAMPLES[3], rule="topdown")[2]
        assert float(best) == pytest.approx(frame["mic"][0]) == pytest.approx(0.153, abs=5e-4)
        assert 10 * top < best

    def test_the_smallest_function_on_which_greed_never_wins(self):
        state = EXAMPLES[4].state
        for variables in (1, 2):
            family = mt.families.functions(variables=variables)
            sizes = mt.families.exact_sizes(family.tables, family.variables)
            assert (sizes.greedy_size_best == sizes.perfect_size).all()
        table = sum(int(bit) << row for row, bit in enumerate(problem_of(state).truth_table))
        for criterion in ("entropy", "gini", "root", "minority"):
            sizes = mt.families.exact_sizes([table], 3, criterion)
            assert (sizes.perfect_size[0], sizes.greedy_size_best[0]) == (3, 5)
        ahead = mt.Lookahead(2).grow(problem_of(state), 3)
        assert (ahead.steps[0].variable, ahead.errors[3]) == ("s", 0)
