"""Every name in the glossary, docs/notation.md, exists in the package."""

import dataclasses
import importlib
import importlib.util
import inspect
import re
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mictree.optimal import rows, sweep_scan

NOTATION = Path(__file__).parents[2] / "docs" / "notation.md"
HEADER = "| paper | our name | meaning |\n|---|---|---|\n"
SEARCH = "| word | our name | meaning |\n|---|---|---|\n"
WORDS = (  # of the search, which its modules and docs/how-the-search-works.md use
    "question", "budget", "bound", "limit", "goal", "floor", "frame", "engine", "ask", "trace",
    "glance", "workers", "table of row sets", "frontier", "polish", "sweep", "pair counts", "price",
)  # fmt: skip
NAME = re.compile(r"(?P<path>mictree(\.\w+)+)(\((?P<parameter>\w+)=\))?")


def rows_of(text: str, header: str) -> list[str]:
    """The lines of a table."""
    _, found, body = text.partition(header)
    rows = list(takewhile(lambda line: line.startswith("|"), body.splitlines()))
    if not found or not rows:
        raise ValueError("the glossary must have a table with at least one row")
    return rows


def glossary(text: str, header: str = HEADER) -> list[str]:
    """The names in the second column of a table of the glossary."""
    names = []
    for row in rows_of(text, header):
        cells = row.strip("|").split("|")
        found = re.findall(r"`([^`]*)`", cells[1]) if len(cells) == 3 else []
        if not found:
            raise ValueError(f"a row must have three cells and a name in the second; got {row!r}")
        names += found
    return names


def exists(name: str) -> bool:
    """Whether a dotted name is a module, attribute or dataclass field, or has the parameter."""
    match = NAME.fullmatch(name)
    if match is None:
        return False
    first, *rest = match["path"].split(".")
    found: Any = importlib.import_module(first)
    for part in rest:
        if hasattr(found, part):
            found = getattr(found, part)
        elif is_field(found, part):
            found = None  # only an instance has its value
        elif is_submodule(found, part):
            found = importlib.import_module(f"{found.__name__}.{part}")
        else:
            return False
    parameter = match["parameter"]
    return parameter is None or (
        callable(found) and parameter in inspect.signature(found).parameters
    )


def is_field(owner: object, name: str) -> bool:
    return (
        inspect.isclass(owner)
        and dataclasses.is_dataclass(owner)
        and name in {field.name for field in dataclasses.fields(owner)}
    )


def is_submodule(owner: object, name: str) -> bool:
    return (
        isinstance(owner, ModuleType)
        and hasattr(owner, "__path__")
        and importlib.util.find_spec(f"{owner.__name__}.{name}") is not None
    )


def missing_names(text: str, header: str = HEADER) -> list[str]:
    return [name for name in glossary(text, header) if not exists(name)]


@pytest.mark.parametrize("header", [HEADER, SEARCH])
def test_every_name_in_the_glossary_exists(header):
    assert missing_names(NOTATION.read_text(encoding="utf-8"), header) == []


@pytest.mark.parametrize("header", [HEADER, SEARCH])
def test_no_name_is_listed_twice(header):
    text = NOTATION.read_text(encoding="utf-8")
    names = glossary(text, header)
    assert len(set(names)) == len(names)


def test_the_words_of_the_search_are_listed():
    found = rows_of(NOTATION.read_text(encoding="utf-8"), SEARCH)
    listed = {word.strip() for row in found for word in row.split("|")[1].split(",")}
    assert listed >= set(WORDS)
    for level in (rows.LEVEL, sweep_scan.LEVEL):
        assert {"budget", "bound", "limit", "goal", "floor"} <= set(level.names)


def test_a_renamed_entry_is_found():
    text = NOTATION.read_text(encoding="utf-8")
    wrong = text.replace("`mictree.Leaf.reach`", "`mictree.Leaf.probability`")
    assert missing_names(wrong) == ["mictree.Leaf.probability"]


@pytest.mark.parametrize(
    "text",
    ["", "# Notation\n", HEADER, HEADER + "\n| D | `mictree.Problem` | after a blank line |\n"],
)
def test_a_glossary_without_rows_is_refused(text):
    with pytest.raises(ValueError, match="at least one row"):
        glossary(text)


@pytest.mark.parametrize(
    "row", ["| D | Problem | no code |", "| D | | `mictree.Problem` |", "| D | `mictree.Problem` |"]
)
def test_a_row_without_a_name_is_refused(row):
    with pytest.raises(ValueError, match="a name in the second"):
        glossary(HEADER + row + "\n")


def test_a_row_may_have_several_names():
    table = HEADER + "| m | `mictree.mic`, `mictree.MicResult.mic` | `other` |\n\n| not a row |\n"
    assert glossary(table) == ["mictree.mic", "mictree.MicResult.mic"]


@pytest.mark.parametrize(
    "name",
    [
        "mictree.impurity",  # a module
        "mictree.impurity.entropy",  # a function in it
        "mictree.optimal.program.relax",  # a module that the package need not have imported
        "mictree.Problem.reach",  # a method of a protocol
        "mictree.Tree.size",  # a property
        "mictree.Leaf.reach",  # a field with a slot
        "mictree.MicResult.mic",  # a field without a slot or default
        "mictree.FormulaProblem(bias=)",  # a parameter
    ],
)
def test_every_kind_of_name_is_found(name):
    assert exists(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "mictree",
        "mictree.",
        "Tree.size",  # not importable as it stands
        "numpy.array",  # not ours
        "mictree.nothing",
        "mictree.nothing.entropy",
        "mictree.impurity.nothing",
        "mictree.Leaf.nothing",
        "mictree.MicResult.nothing",
        "mictree.MicResult.mic.nothing",
        "mictree.FormulaProblem.biases",  # set by __init__, unknown to the class
        "mictree.FormulaProblem(nothing=)",
        "mictree.MicResult.mic(bias=)",
        "mictree.Tree.size()",
    ],
)
def test_a_wrong_name_is_not_found(name):
    assert not exists(name)
