"""The examples in docs/laboratory.md are what the package prints."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "laboratory.md"


def test_the_examples_of_the_page():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted > 10
    assert results.failed == 0
