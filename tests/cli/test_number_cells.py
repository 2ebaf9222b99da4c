"""How the cells of a text file are read as numbers: the cases of tests/unit/number_cases.json.

The explorer has the same cases: tests/browser/test_explorer_twin.py.
"""

import json
from pathlib import Path

import pytest

import mictree as mt
from mictree.columns.text_tables import read_file

CASES = json.loads(Path("tests/unit/number_cases.json").read_text("utf-8"))
KINDS = {"numbers", "infinite", "Booleans", "texts", "refused"}


def write_table(case):
    """A table of the case's cells, of a column that decides on commas, and of labels."""
    beside = case.get("beside", ["x"] * len(case["cells"]))
    quoted = [f'"{cell}","{other}"' for cell, other in zip(case["cells"], beside, strict=True)]
    return "a,b,y\n" + "".join(f"{row},{number % 2}\n" for number, row in enumerate(quoted))


def expected(case):
    """The values of the cells; infinite numbers are written as texts, which JSON can hold."""
    values = case.get("values", case["cells"])
    if case["read"] not in ("numbers", "infinite"):
        return values
    return [float(value) if isinstance(value, str) else value for value in values]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_columns_of_numbers(save, case):
    file = read_file(save("a.csv", write_table(case)))
    if case["read"] == "refused":
        assert str(file.refused["a"]).startswith(f"{case['rule']}; ")
        return
    assert not file.refused
    column = file.frame["a"]
    assert column.to_list() == expected(case)
    if case["read"] == "infinite":
        with pytest.raises(ValueError, match="X must not contain infinity; a does"):
            mt.SampleProblem(file.frame.select("a"), file.frame["y"])
    kinds = {"Booleans": "Boolean", "texts": "String"}
    assert str(column.dtype) in (kinds.get(case["read"]), "Int64", "Float64")
    assert column.dtype.is_numeric() == (case["read"] in ("numbers", "infinite"))


def test_the_cases():
    """Every kind occurs, no name twice, and only what differs on the page has a reason."""
    assert {case["read"] for case in CASES} == KINDS
    assert len({case["name"] for case in CASES}) == len(CASES)
    for case in CASES:
        assert ("why" in case) == ("page" in case), case["name"]
        assert ("rule" in case) == (case["read"] == "refused"), case["name"]
        assert len(case.get("values", case["cells"])) == len(case["cells"]), case["name"]
