"""CONTRIBUTING.md shows the house as it is, and the decisions keep to their form."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "mictree"
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def _section(title: str) -> str:
    """The text from a heading to the next one."""
    _, heading, rest = TEXT.partition(f"# {title}\n")
    assert heading, f"CONTRIBUTING.md has no section {title!r}"
    return re.split(r"^#", rest, maxsplit=1, flags=re.M)[0]


def test_the_rooms_are_the_layers_in_order():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each["type"] == "layers")
    rooms = re.findall(r"^\| `(\w+)` \|", _section("The house"), re.M)
    assert [*rooms, "__main__"] == layers[::-1]


@pytest.mark.parametrize(
    "title", ["From a formula to its MIC", "From a CSV file to its optimal trees"]
)
def test_a_walk_visits_modules_that_exist_and_none_twice(title):
    modules = re.findall(r"^\d+\. `([\w.]+)`", _section(title), re.M)
    assert len(modules) > 10
    assert len(set(modules)) == len(modules)
    for module in modules:
        assert (PACKAGE / (module.replace(".", "/") + ".py")).is_file(), module


def test_decisions_have_different_numbers_and_the_number_in_their_title():
    numbers = [path.name[:4] for path in DECISIONS]
    assert len(set(numbers)) == len(numbers)
    for path, number in zip(DECISIONS, numbers, strict=True):
        assert path.read_text(encoding="utf-8").startswith(f"# {number}: "), path.name


@pytest.mark.parametrize("path", [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *DECISIONS],
                         ids=lambda path: path.name)  # fmt: skip
def test_links_to_files_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"
