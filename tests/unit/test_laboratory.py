"""The examples in the pages that show a prompt are what the package prints."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "least"),
    [("laboratory.md", 10), ("findings.md", 10), ("atlas.md", 3), ("index.md", 3)],
)
def test_the_examples_of_the_page(page, least):
    results = doctest.testfile(str(DOCS / page), module_relative=False)
    assert results.attempted >= least
    assert results.failed == 0
