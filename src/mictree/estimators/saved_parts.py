"""The parts of a saved model, read from JSON and checked.

Types and ranges are checked by a schema for each kind of part; then that every split has a leaf to
split, that counts add up, and that no name is unknown or occurs twice.
"""

import math
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mictree.columns.cells import FIRST, MOMENTS, NUMBERS
from mictree.columns.series import PARTS
from mictree.columns.written import KINDS, Column, Test, Tests
from mictree.growers.data_loop import Splitting

TYPES = r"bool|object|text|u?int(8|16|32|64)|float(16|32|64)"
CELLS = (bool, int, float, str)  # the kinds of categories and classes that JSON keeps apart

Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_part(value: Any) -> bool:
    """What, of which column of dates, and of which kind these are."""
    if not _is_list(value) or len(value) != 3 or not all(map(_is_text, value)):
        return False
    return value[0] in PARTS and value[2] in MOMENTS


MODEL: dict[str, Check] = {
    "format": _is_text,
    "estimator": lambda value: _is_text(value) and value.isidentifier() and len(value) < 200,
    "columns": _is_list,
    "width": lambda value: _is_count(value) and value < 2**31,
    "named": _is_bool,
    "classes": _is_object,
    "tests": _is_list,
    "max_size": lambda value: value is None or (_is_count(value) and value < 2**31),
    "prefixes": _is_bool,
    "trees": _is_list,
}
COLUMN: dict[str, Check] = {
    "name": _is_text,
    "position": _is_count,
    "kind": lambda value: _is_text(value) and value in KINDS,
    "levels": lambda value: (
        value is None or (_is_list(value) and all(isinstance(each, CELLS) for each in value))
    ),
    "seen": lambda value: value is None or (_is_list(value) and all(map(_is_text, value))),
    "order": lambda value: value is None or (_is_text(value) and value in FIRST),
    "part": lambda value: value is None or _is_part(value),
}
LATER = {"order": None, "part": None}  # of columns; models without dates do not have them
CLASSES: dict[str, Check] = {
    "type": lambda value: _is_text(value) and re.fullmatch(TYPES, value) is not None,
    "values": lambda value: _is_list(value) and len(value) > 0,
}
TEST: dict[str, Check] = {
    "column": _is_count,
    "relation": lambda value: _is_text(value) and value in ("above", "is", "missing"),
    "value": lambda value: value is None or isinstance(value, CELLS),
    "text": lambda value: _is_text(value) and bool(value.strip()),
    "negated": lambda value: _is_text(value) and bool(value.strip()),
}
TREE: dict[str, Check] = dict.fromkeys(("leaves", "tests", "gains", "rows", "masses"), _is_list)


class Record(dict[str, Any]):
    """A JSON object with exactly the keys of a schema, each of which its check accepts."""

    def __init__(self, content: Any, what: str, schema: dict[str, Check]) -> None:
        if not isinstance(content, dict):
            raise ValueError(f"{what} must be a JSON object; got {_short(content)}")
        if content.keys() != schema.keys():
            odd = sorted(content.keys() ^ schema.keys())[0]
            raise ValueError(f"{what} must have {', '.join(schema)}; {_short(odd)} is not right")
        for key, check in schema.items():
            if not check(content[key]):
                raise ValueError(f"{what} has a wrong {key}: {_short(content[key])}")
        super().__init__(content)


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, (*CELLS, type(None))) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_classes(content: Any) -> np.ndarray:
    """Different classes of one type, in order."""
    parts = Record(content, "classes", CLASSES)
    values, kind = parts["values"], parts["type"]
    if not all(isinstance(value, CELLS) for value in values):
        raise ValueError("classes must be texts or numbers; one is not")
    wanted = {"text": (str,), "object": CELLS, "bool": (bool,)}.get(kind)
    if wanted is None:
        wanted = (float,) if kind.startswith("float") else (int,)
    if any(type(value) not in wanted for value in values):
        raise ValueError(f"classes must all be of the type {kind}; one is not")
    try:
        classes = np.array(values, dtype=None if kind == "text" else kind)
        distinct = bool(np.all(classes[:-1] < classes[1:]))
    except (OverflowError, TypeError) as error:
        raise ValueError(f"classes must be of the type {kind} and have an order; {error}") from None
    if not distinct:
        raise ValueError("classes must be different and in order; they are not")
    return classes


def read_tests(parts: Record) -> Tests:
    """Tests that fit their columns."""
    records = [
        Record(LATER | each if isinstance(each, dict) else each, f"column {number}", COLUMN)
        for number, each in enumerate(parts["columns"])
    ]
    for record in records:
        levels = record["levels"]
        if (levels is not None) != (record["kind"] == "enum") or len(set(levels or ())) < len(
            levels or ()
        ):
            raise ValueError("ordered categories must have levels, all different; others have none")
        if record["seen"] is not None and record["kind"] != "category":
            raise ValueError("only columns of categories have seen any; another one has")
        if record["part"] is not None and record["kind"] not in NUMBERS:
            raise ValueError("a part of a date must be a number; another column is one")
        if record["order"] and record["part"] is None and record["kind"] not in MOMENTS:
            raise ValueError("only dates have an order of day and month; another column has one")
    columns = [
        Column(
            r["name"],
            r["position"],
            r["kind"],
            _as_tuple(r["levels"]),
            _as_tuple(r["seen"]),
            r["order"],
            _as_tuple(r["part"]),
        )
        for r in records
    ]
    for what in ("name", "position"):
        if len({getattr(column, what) for column in columns}) < len(columns):
            raise ValueError(f"columns must have different {what}s; two have the same")
    if any(column.position >= parts["width"] for column in columns):
        raise ValueError(f"a column's position must be below the width, {parts['width']}")
    tests = [
        Test(**Record(each, f"test {number}", TEST)) for number, each in enumerate(parts["tests"])
    ]
    for number, test in enumerate(tests):
        if test.column >= len(columns):
            raise ValueError(f"test {number} must name one of {len(columns)} columns")
        category = columns[test.column].kind == "category"
        fits = {
            "above": not category and _is_number(test.value),
            "is": category and test.value is not None,
            "missing": test.value is None,
        }
        seen = columns[test.column].seen
        unseen = test.relation == "is" and seen is not None and test.value not in seen
        if not fits[test.relation] or unseen:
            raise ValueError(f"test {number} does not fit its column; value {_short(test.value)}")
    if len({text for test in tests for text in (test.text, test.negated)}) < 2 * len(tests):
        raise ValueError("tests must have different texts; two have the same")
    return Tests(columns, tests, parts["named"])


def _as_tuple(content: list[Any] | None) -> tuple[Any, ...] | None:
    return None if content is None else tuple(content)


def read_tree(content: Any, what: str, tests: Tests, classes: int) -> Splitting:
    """Splits whose leaves exist, and counts that add up."""
    parts = Record(content, what, TREE)
    size = len(parts["leaves"])
    for key, length in (("tests", size), ("gains", size), ("rows", 2 * size + 1)):
        if len(parts[key]) != length:
            raise ValueError(f"{what} must have {length} {key}; it has {len(parts[key])}")
    open_leaves = {0}
    for split, leaf in enumerate(parts["leaves"]):
        if not _is_count(leaf) or leaf not in open_leaves:
            raise ValueError(f"{what} must split leaves that it has; split {split} does not")
        open_leaves.remove(leaf)
        open_leaves |= {2 * split + 1, 2 * split + 2}
    count = len(tests)
    if not all(_is_count(test) and test < count for test in parts["tests"]):
        raise ValueError(f"{what} must make the {count} tests of the model; one is not among them")
    if not all(_is_number(gain) and gain >= 0 for gain in parts["gains"]):
        raise ValueError(f"{what} must have gains of at least 0; one is not")
    rows = _table(parts["rows"], f"{what}'s rows", classes, _is_count)
    masses = _table(parts["masses"], f"{what}'s masses", classes, _is_number)
    if len(masses) != len(rows) or any(
        min(each) < 0 or not 0 < sum(each) < math.inf for each in masses
    ):
        raise ValueError(f"{what} must have weight at every node; a node has none")
    for split, leaf in enumerate(parts["leaves"]):
        sides = zip(rows[2 * split + 1], rows[2 * split + 2], strict=True)
        if rows[leaf] != [low + high for low, high in sides]:
            raise ValueError(f"{what} must keep its rows; split {split} does not")
    return Splitting(
        np.array(parts["leaves"], dtype=np.int64), np.array(parts["tests"], dtype=np.int64),
        np.array([tests.threshold(test) for test in parts["tests"]], dtype=float),
        np.array(parts["gains"], dtype=float), np.array(rows, dtype=np.int64),
        np.array(masses, dtype=float),
    )  # fmt: skip


def _table(content: list[Any], what: str, width: int, check: Check) -> list[list[Any]]:
    for row in content:
        if not isinstance(row, list) or len(row) != width or not all(map(check, row)):
            raise ValueError(f"{what} must be {width} numbers a node; {_short(row)} is not")
    return content
