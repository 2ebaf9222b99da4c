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

NOTATION = Path(__file__).parents[2] / "docs" / "notation.md"
HEADER = "| paper | our name | meaning |\n|---|---|---|\n"
NAME = re.compile(r"(?P<path>mictree(\.\w+)+)(\((?P<parameter>\w+)=\))?")


def glossary(text: str) -> list[str]:
    """The names in the second column of the glossary's table."""
    _, header, body = text.partition(HEADER)
    rows = list(takewhile(lambda line: line.startswith("|"), body.splitlines()))
    if not header or not rows:
        raise ValueError("the glossary must have a table with at least one row")
    names = []
    for row in rows:
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


def missing_names(text: str) -> list[str]:
    return [name for name in glossary(text) if not exists(name)]


def test_every_name_in_the_glossary_exists():
    assert missing_names(NOTATION.read_text(encoding="utf-8")) == []


def test_no_name_is_listed_twice():
    text = NOTATION.read_text(encoding="utf-8")
    names = glossary(text)
    assert len(set(names)) == len(names)


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
        "mictree.optimal.dynamic.minplus.relax",  # a module that the package need not have imported
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
