"""Trees as others write them, nested tuples or JSON, checked and turned into splits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

LEAF = -1
# what a test of data reads: the number of a column, and a threshold or the position of a literal
Source = tuple[int, float | int]
JSON_FORMAT = "mictree.tree/2"
NAMED_FORMAT = "mictree.tree/1"  # as written before 0.2: tests by name


def read_nested(
    variables: Sequence[str], nested: Any
) -> tuple[tuple[str, ...], list[int], list[int], list[int]]:
    """The names, and for ``Tree.from_splits`` the leaves, tests and labels of nested tuples."""
    names = check_names(variables)
    position: dict[Any, int] = {name: index for index, name in enumerate(names)}
    leaves: list[int] = []
    tests: list[int] = []
    labels = [LEAF]
    waiting: list[tuple[Any, int]] = [(nested, 0)]  # subtree, leaf by order of creation
    while waiting:
        subtree, leaf = waiting.pop()
        if isinstance(subtree, tuple | list):
            test, low, high = _unpack(subtree)
            if _is_count(test) and test < len(names):
                tests.append(int(test))
            elif isinstance(test, str) and test in position:
                tests.append(position[test])
            else:
                raise ValueError(f"a test must be one of the variables; got {test!r}")
            leaves.append(leaf)
            waiting += [(high, len(labels) + 1), (low, len(labels))]
            labels += [LEAF, LEAF]
        elif _is_count(subtree):
            labels[leaf] = int(subtree)
        else:
            raise ValueError(f"a leaf's label must be 0, 1, ...; got {subtree!r}")
    return names, leaves, tests, labels


def parse_json(text: str) -> tuple[list[str], Any, tuple[Source, ...]]:
    """The variables, the nested form and the sources of what ``Tree.to_json`` wrote."""
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"a tree must be JSON; {error}") from None
    kinds = {JSON_FORMAT: int, NAMED_FORMAT: str}
    kind = content.get("format") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"a tree's JSON must say format {JSON_FORMAT!r}")
    variables, nodes = content.get("variables"), content.get("nodes")
    if not isinstance(variables, list) or not isinstance(nodes, list) or not nodes:
        raise ValueError("a tree's JSON must list its variables and at least one node")
    sources = _read_sources(content.get("sources", []), len(variables))
    return variables, _nest(nodes, kinds[kind]), sources


def _read_sources(listed: Any, count: int) -> tuple[Source, ...]:
    """A column and a number for each variable, or nothing at all."""
    rule = "a tree's sources must be a column and a number for each variable"
    if not isinstance(listed, list) or len(listed) not in (0, count):
        raise ValueError(f"{rule}; got {listed!r}")
    for pair in listed:
        if not isinstance(pair, list) or len(pair) != 2 or not _is_count(pair[0]):
            raise ValueError(f"{rule}; got {pair!r}")
        if isinstance(pair[1], bool) or not isinstance(pair[1], int | float):
            raise ValueError(f"{rule}; got {pair!r}")
    return tuple((column, what) for column, what in listed)


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Distinct texts: a test may be a literal of data such as ``age > 37.5``."""
    checked = tuple(names)
    for name in checked:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"a variable name must be a text that is not empty; got {name!r}")
    if len(set(checked)) < len(checked):
        twice = next(name for name in checked if checked.count(name) > 1)
        raise ValueError(f"variable names must differ; {twice} is given twice")
    return checked


def _is_count(value: Any) -> bool:
    """Whether a value is an integer of at least 0; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def _unpack(subtree: Sequence[Any]) -> Sequence[Any]:
    if len(subtree) != 3:
        raise ValueError(f"an internal node is (test, low, high); got {len(subtree)} parts")
    return subtree


def _nest(nodes: list[Any], kind: type) -> Any:
    """The nested form of JSON nodes, built from the last, as children follow their parents.

    Tests are of one kind, int for positions or str for names.
    """
    nested: dict[int, Any] = {}
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        if not isinstance(node, Mapping):
            raise ValueError(f"a node must be a JSON object; node {number} is not")
        if "test" not in node:
            label = node.get("label")
            if not _is_count(label):
                raise ValueError(f"a leaf's label must be 0, 1, ...; got {label!r}")
            nested[number] = label
            continue
        subtrees = []
        for child in (node.get("low"), node.get("high")):
            if not _is_count(child) or child not in nested:
                raise ValueError(f"a node's children must follow it, each once; node {number}")
            subtrees.append(nested.pop(child))
        if not isinstance(node["test"], kind):
            raise ValueError(
                f"a test must be of type {kind.__name__} in this format; got {node['test']!r}"
            )
        nested[number] = (node["test"], *subtrees)
    if list(nested) != [0]:
        raise ValueError(f"every node but the first must be a child; node {max(nested)} is not")
    return nested[0]
