"""The explorer's JavaScript twin against the package: the same growth, the same optimum.

Random problems go into the page as one batch, and its answers come back as another. Steps, labels,
trees and fractions must be equal; floats may differ in their last digits.
"""

import json
import math
import random
import re
from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import polars
import pytest

import mictree as mt
from mictree.columns.cells import Reading, doubt_dates, present_dates, read_cells
from mictree.functions.expression import Expression
from mictree.functions.read_once import postfix
from mictree.growers import rules
from mictree.impurity.criteria import divergence
from mictree.problems.distributions import product
from mictree.report.explorer import render as start
from mictree.report.explorer.render import render
from tests.cli.test_number_cells import CASES as NUMBER_CASES
from tests.cli.test_number_cells import expected, write_table
from tests.properties.test_dates import random_column, read_or_refuse

RULES = {
    "topdown": mt.TopDown,
    "bestfirst": mt.BestFirst,
    "id3": mt.ID3,
    "lookahead2": partial(mt.Lookahead, 2),
    "lookahead3": partial(mt.Lookahead, 3),
}
CRITERIA = ("entropy", "gini", "root", "minority")
TIES = ("last", "first", "random", "heaviest", "lightest")
OPERATORS = (
    "&", "and", "∧", "^", "xor", "⊕", "|", "or", "∨", "->", "implies", "→", "<->", "iff", "↔",
)  # fmt: skip
BIASES = ("1/2", "1/2", "0.5", "0.3", "7/10", "1/3", "0.01", "999/1000", ".123456", "0.000001")

SOLVE = """requests => JSON.stringify(JSON.parse(requests).map(request => {
  let found;
  try { found = answer(request); } catch (error) { return { refused: error.message }; }
  return {
    names: found.names, table: found.table,
    trees: [found.trees.greedy.at(-1), found.trees.optimal.at(-1)],
    steps: found.steps.map(step => [step.leaf, step.variable, step.gain, step.reach]),
    labels: found.leaves.map(leaf => leaf.label),
    errors: found.errors,
  };
}), (_, value) => typeof value === "bigint" ? String(value) : value)"""


@pytest.fixture(scope="module")
def page(screens, tmp_path_factory):
    """One for all tests, as they only call functions that change nothing."""
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    path.write_text(render(), encoding="utf-8")
    with screens.opener() as open_page:
        yield open_page(path)


def random_formula(draw, names):
    """A text with all names, in any spelling and with needless parentheses."""
    parts = [*names, *draw.choices([*names, "0", "1"], k=draw.randrange(len(names) + 2))]
    draw.shuffle(parts)
    while len(parts) > 1:
        place = draw.randrange(len(parts) - 1)
        left, right = parts[place : place + 2]
        text = f"{left} {draw.choice(OPERATORS)} {right}"
        if draw.random() < 0.3:
            text = draw.choice(("~", "not ", "¬ ")) + f"({text})"
        parts[place : place + 2] = [f"({text})" if draw.random() < 0.6 else text]
    return parts[0]


def random_request(draw, least, most):
    """A request as ``twin/answer.js`` takes it."""
    names = [f"x{place}" for place in range(draw.randint(least, most))]
    request = {
        "kind": draw.choices(("formula", "table", "data"), (10, 10, 1))[0],
        "rule": draw.choices(list(RULES), (4, 4, 4, 3, 1))[0],  # the last takes longest
        "criterion": draw.choice(CRITERIA),
        "ties": draw.choice(TIES),
        "seed": draw.randrange(2**31),
        "maxSize": draw.randint(1, 9),
        "bias": draw.choice(BIASES),
        "biases": {name: draw.choice(BIASES) for name in names if draw.random() < 0.3},
    }
    if request["kind"] == "formula":
        extra = names[-1:] if len(names) > 1 and draw.random() < 0.1 else []
        inside = names[: len(names) - len(extra)]
        return request | {"formula": random_formula(draw, inside), "extra": extra}
    if request["kind"] == "table":
        chance = draw.choice((0.1, 0.3, 0.5))
        table = "".join("01"[draw.random() < chance] for _ in range(2 ** len(names)))
        return request | {"table": table, "names": names}
    return request | random_data(draw, names)


def random_data(draw, names):
    rows = [[draw.randrange(2) for _ in names] for _ in range(draw.randint(2, 60))]
    rows[0], rows[1] = [0] * len(names), [1] * len(names)  # every column has two values
    noise = draw.choice((0, 0.1, 0.5))
    table = [draw.randrange(2) for _ in range(2 ** len(names))]
    label = [
        table[sum(bit << i for i, bit in enumerate(row))] ^ (draw.random() < noise) for row in rows
    ]
    label[:2] = [0, 1]
    lines = [",".join([*names, "label"])]
    lines += [",".join(map(str, [*row, y])) for row, y in zip(rows, label, strict=True)]
    return {"csv": "\n".join(lines), "target": "label", "positive": ""}


def problem_of(request, answer):
    """What the package makes of a request."""
    if request["kind"] == "data":
        names = [title.removesuffix(" = 1") for title in answer["names"]]
        header, *lines = (line.split(",") for line in request["csv"].splitlines())
        columns = [header.index(name) for name in names]
        matrix = np.array([[int(line[column]) for column in columns] for line in lines])
        return mt.SampleProblem(matrix, [int(line[-1]) for line in lines])
    names = answer["names"]
    bias = {name: Fraction(request["biases"].get(name, request["bias"])) for name in names}
    if request["kind"] == "table":
        return mt.TableProblem([*map(int, request["table"])], product(bias), names)
    assert names[: len(names) - len(request["extra"])] == [
        *Expression.parse(request["formula"]).variables
    ]
    return mt.TableProblem.from_formula(request["formula"], bias)


def nested(tree, node=0):
    """A tree as the twin writes it."""
    if tree.tests[node] < 0:
        return tree.labels[node]
    return [tree.tests[node], nested(tree, tree.low[node]), nested(tree, tree.high[node])]


def near(one, other):
    return np.abs(np.subtract(one, other)).max() < 1e-13


def as_fractions(pairs):
    return [Fraction(int(top), int(bottom)) for top, bottom in pairs]


def compare(request, answer):
    problem, size = problem_of(request, answer), request["maxSize"]
    if request["kind"] != "data":
        assert answer["table"] == problem.truth_table.tolist()
    rule = RULES[request["rule"]](request["criterion"], request["ties"], request["seed"])
    growth = rule.grow(problem, size)
    assert [step[:2] for step in answer["steps"]] == [[s.leaf, s.position] for s in growth.steps]
    for found, step in zip(answer["steps"], growth.steps, strict=True):
        assert math.isclose(found[2], step.gain, rel_tol=1e-11)
        assert math.isclose(found[3], step.reach, rel_tol=1e-13)
    assert answer["labels"] == list(growth.labels)
    assert answer["trees"][0] == nested(growth.tree(size))
    assert near(answer["errors"]["greedy"], growth.errors)
    compare_optimum(answer, problem, growth, size)


def compare_optimum(answer, problem, growth, size):
    exact = answer["errors"]["exact"]
    assert exact is not None or len(problem.variables) > 6
    solved = mt.optimal_trees(problem, size, exact=exact is not None)
    least = np.asarray(solved.errors, dtype=float)
    assert near(answer["errors"]["optimal"], least)
    assert near(answer["errors"]["mic"], (growth.errors - least)[1:].mean())
    if exact is None:
        return
    assert as_fractions(exact["optimal"]) == [Fraction(error) for error in solved.errors]
    assert as_fractions(exact["greedy"]) == growth.exact_errors
    excess = [a - b for a, b in zip(growth.exact_errors, solved.errors, strict=True)]
    assert as_fractions(exact["excess"]) == excess
    assert as_fractions([exact["mic"]]) == [Fraction(sum(excess[1:])) / size]
    if isinstance(problem, mt.TableProblem):
        assert answer["trees"][1] == nested(solved.tree(size))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "least", "most"), [(4_000, 1, 5), (200, 6, 10)])
def test_thousands_of_problems(page, count, least, most):
    draw = random.Random(count)
    requests = [random_request(draw, least, most) for _ in range(count)]
    answers = json.loads(page.evaluate(SOLVE, json.dumps(requests)))
    for request, answer in zip(requests, answers, strict=True):
        try:
            assert "refused" not in answer
            compare(request, answer)
        except AssertionError as error:
            raise AssertionError(f"{request}: {error}") from error


CELLS = """tables => JSON.parse(tables).map(columns => {
  const shown = (order) => (cell) => cell === "" ? null : order ? String(order(cell)) : cell;
  try {
    const read = readColumns(columns.map((_, place) => "c" + place), columns);
    return read.map(({ order, cells }) => cells.map(shown(order)));
  } catch (error) { return error.message; }
})"""
WRITTEN = (
    ("1,5", "2,25", "-,5", "1e3", "1.234,5", "3,5e-2", "4"),
    ("1,5", "647.676", "1.234.567", "-1.000"),
    ("00501", "01234", "90210", "7"),
    ("1,234", "12,345.5", "1234", "0.5", "-7", "1,000,000"),
    ("1,234", "5", "6,789"),
    ("1", "-2.5", ".5", "7.", "inf", "-Infinity", "+3E2"),
    ("red", "blue", "1", "1.2.3", "0x10", "1,23,4", "1 000", "1_0"),
)  # fmt: skip
BLANKS = ("", "NA", "N/A", "nan", "null", "?", "-", ".", "none")


def random_columns(draw):
    """One to three columns of cells, mostly each in one way of writing."""
    columns = []
    for _ in range(draw.randint(1, 3)):
        pieces = [*draw.choice(WRITTEN), *draw.choice(((), BLANKS, draw.choice(WRITTEN)))]
        columns.append(draw.choices(pieces, k=4))
    return columns


def python_columns(columns):
    frame = polars.DataFrame({f"c{place}": cells for place, cells in enumerate(columns)})
    try:
        read, _ = read_cells(frame, Reading(), {})
    except ValueError as error:
        return str(error)
    return [column.to_list() for column in read]


@pytest.mark.slow
def test_cells_are_read_as_on_the_command_line(page):
    """Numbers are the same numbers, texts the same texts, and refusals give the same rule."""
    draw = random.Random(0)
    tables = [random_columns(draw) for _ in range(2000)]
    refused = Counter()
    for columns, found in zip(tables, page.evaluate(CELLS, json.dumps(tables)), strict=True):
        expected = python_columns(columns)
        if isinstance(expected, str):
            refused[expected.partition(";")[0]] += 1
            assert found.partition(";")[0] == expected.partition(";")[0], columns
            continue
        numeric = [[isinstance(cell, int | float) for cell in cells] for cells in expected]
        found = [
            [float(cell) if number else cell for cell, number in zip(*pair, strict=True)]
            for pair in zip(found, numeric, strict=True)
        ]
        assert found == expected, columns
    assert min(refused.values()) > 100
    assert len(refused) == 2


READ_DATES = """columns => JSON.parse(columns).map(column => {
  try {
    const [{ order, cells, doubt }] = readColumns(["a"], [column]);
    const shown = (cell) => cell === "" ? null : order ? String(order(cell)) : cell;
    return [cells.map(shown), doubt ?? ""];
  } catch (error) { return error.message; }
})"""
DATE_CASES = json.loads(Path("tests/unit/date_cases.json").read_text("utf-8"))
STRAYS = re.compile(r"has ([0-9]+)(?: dates?)? such as ('.*?') and ([0-9]+) other")


def compare_dates(cells, found):
    """The same moments, the same texts with or without a note, or the same refusal."""
    read = read_or_refuse(cells)
    if isinstance(read, str):
        assert found.partition(";")[0] == read.partition(";")[0]
        assert STRAYS.search(found).groups() == STRAYS.search(read).groups()
        return "refused"
    values, doubt = found
    if not read.dtype.is_temporal():
        assert values == read.to_list()
        assert bool(doubt) == bool(doubt_dates(read))
        return "doubted" if present_dates(read)[1] else "noted" if doubt else "texts"
    unit = 1 if "'ns'" in str(read.dtype) else 1000  # nanoseconds; the page has all
    times = (read if unit == 1 else read.cast(polars.Datetime("us"))).cast(int).to_list()
    assert [None if value is None else int(value) // unit for value in values] == times
    assert doubt == ""
    return "dates"


@pytest.mark.parametrize("case", DATE_CASES, ids=lambda case: case["name"])
def test_columns_of_dates(page, case):
    """The command line has the same cases: tests/cli/test_dates.py."""
    (found,) = page.evaluate(READ_DATES, json.dumps([case["cells"]]))
    assert compare_dates(case["cells"], found) == case["read"]


@pytest.mark.slow
def test_dates_are_read_as_on_the_command_line(page):
    draw, seen = random.Random(3), Counter()
    columns = [[cell.strip() for cell in random_column(draw)] for _ in range(5000)]
    for cells, found in zip(columns, page.evaluate(READ_DATES, json.dumps(columns)), strict=True):
        try:
            seen[compare_dates(cells, found)] += 1
        except AssertionError as error:
            raise AssertionError(f"{cells}: {found}") from error
    assert min(seen[each] for each in ("dates", "texts", "doubted", "refused")) > 100


READ_NUMBERS = """texts => texts.map(text => {
  try {
    const [{ numeric, order, cells }] = readTable(text).columns;
    const shown = (cell) => cell === "" ? null : numeric ? String(order(cell)) : cell;
    return { numeric, cells: cells.map(shown) };
  } catch (error) { return error.message; }
})"""


@pytest.mark.parametrize("case", NUMBER_CASES, ids=lambda case: case["name"])
def test_columns_of_numbers(page, case):
    """The command line has the same cases: tests/cli/test_number_cells.py."""
    (found,) = page.evaluate(READ_NUMBERS, [write_table(case)])
    kind = case.get("page", case["read"])
    if kind in ("infinite", "refused"):
        rule = "a table must not contain infinity" if kind == "infinite" else case["rule"]
        assert found.partition(";")[0] == rule
        return
    assert found["numeric"] == (kind == "numbers")
    if kind == "numbers":
        found["cells"] = [None if cell is None else float(cell) for cell in found["cells"]]
    if "why" in case:
        assert len(set(found["cells"])) < len(case["cells"])  # what all reasons are about
        return
    wanted = expected(case)
    if kind == "Booleans":
        wanted = [value if value is None else str(value).lower() for value in wanted]
    assert found["cells"] == wanted


PARSE = """texts => texts.map(text => {
  try { return postfix(text); } catch (error) { return error.message; }
})"""
PIECES = (
    "x", "y1", "é", "ﬁ", "𝒳", "名", "_", "0", "1", "2", "01", "1x", "(", ")", "~", "not", "¬",
    *OPERATORS, "(", ")", "<", "-", "<-", "<>", ">", "$", "'", '"', "\\", "\n",
    "\t", " ", " ", "  ", "\x1c", "\x85", "\u2003", "\ufeff", "\u200b", "\x00", "\x7f",
    "\U0001f600", "\u0301", "·", "<b>", "&&",
)  # fmt: skip


def python_postfix(text):
    try:
        return [symbol.text for symbol in postfix(text)]
    except ValueError as error:
        return str(error)


def test_the_parser_reads_and_refuses_the_same_texts(page):
    draw = random.Random(0)
    texts = ["".join(draw.choices(PIECES, k=draw.randrange(12))) for _ in range(4000)]
    texts += [random_formula(draw, ["a", "b", "c"][: draw.randint(1, 3)]) for _ in range(500)]
    texts += [random_formula(draw, list("abcdef"))[: draw.randrange(30)] for _ in range(500)]
    found = page.evaluate(PARSE, texts)
    for text, symbols in zip(texts, found, strict=True):
        assert symbols == python_postfix(text), repr(text)
    assert 500 < sum(isinstance(symbols, list) for symbols in found) < 4000


def test_the_limits_are_python_s(page):
    names = ("MOST_VARIABLES", "MOST_ROWS", "MOST_COLUMNS", "MOST_TEXT")
    for name in names:
        assert page.evaluate(name) == getattr(start, name)
    assert page.evaluate("[TIES, CRITERIA, Object.keys(RULES), TIE_TOLERANCE]") == [
        list(rules.TIES), list(CRITERIA), list(RULES), rules.TIE_TOLERANCE,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["0", "1", "1.2", "-1/2", "a", "", "1/0", "3/2", ".", "nan"])
def test_bad_biases_are_refused(page, text):
    with pytest.raises(Exception, match="bias must"):
        page.evaluate("text => readBias('x', text)", text)


def test_large_fractions_divide_like_python_s(page):
    draw = random.Random(1)
    pairs = [
        (draw.getrandbits(draw.randint(1, 900)), draw.getrandbits(draw.randint(1, 900)) + 1)
        for _ in range(2000)
    ]
    found = page.evaluate(
        "pairs => pairs.map(([a, b]) => ratio(BigInt(a), BigInt(b)))",
        [[str(a), str(b)] for a, b in pairs],
    )
    np.testing.assert_allclose(
        [*map(float, found)], [a / b for a, b in pairs], rtol=1e-15, atol=5e-324
    )


def test_small_gains_have_a_small_relative_error(page):
    changes = [sign * x for x in np.geomspace(1e-12, 0.99, 60) for sign in (1, -1)] + [0.0, -1.0]
    found = page.evaluate("changes => changes.map(divergence)", changes)
    np.testing.assert_allclose(found, divergence(np.array(changes)), rtol=1e-14)
