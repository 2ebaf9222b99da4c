"""Every listed mutant can be made, and its tests exist."""

import ast
from functools import cache

import pytest

from tests.mutants.run import KILLED, NOT_RUN, ROOT, SURVIVED, Mutant, page, read

MUTANTS = read()  # refuses a mutant whose piece of source is not there exactly once


@cache
def names_in(file: str) -> set[str]:
    """The ids of a file's tests, without parameters."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            inside = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
            found |= {node.name, *(f"{node.name}::{name}" for name in inside)}
    return found


def test_listed_tests_exist():
    for mutant in MUTANTS:
        for test in mutant.tests:
            file, _, name = test.partition("::")
            assert (ROOT / file).is_file(), (mutant.name, test)
            assert not name or name.partition("[")[0] in names_in(file), (mutant.name, test)


@pytest.mark.parametrize("old", ["is not there", "e"])
def test_a_stale_piece_is_refused(old):
    with pytest.raises(ValueError, match=r"must occur once in a\.py; it does"):
        Mutant("room: it", "a.py", old, "", ("tests",)).mutate("some text, in which e occurs")


def test_the_table_has_every_mutant_and_its_verdict():
    one = Mutant("room: one", "a.py", "if a < b:", "if a <= b:", ("tests/unit/test_a.py::test_b",))
    other = Mutant("room: other", "a.py", "x\n", "", ("tests/unit",), survives="it is slower only")
    third = Mutant("room: third", "b.py", "x", "y", ("tests/unit",))
    text = page([one, other, third], {one.name: KILLED, other.name: SURVIVED})
    assert f"Of 3: 1 {KILLED}, 1 {SURVIVED}, 1 {NOT_RUN}." in text
    assert (
        "<tr><td>room: one<td>a.py<td>-if a &lt; b:\n+if a &lt;= b:"
        "<td>unit/test_a.py::test_b<td>killed\n"
    ) in text
    assert "<td>-x<td>unit<td>survived: it is slower only\n" in text
    assert "<td>-x\n+y<td>unit<td>not run\n" in text
