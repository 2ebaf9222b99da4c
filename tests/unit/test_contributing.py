"""CONTRIBUTING.md shows the house as it is, and the decisions keep to their form."""

import json
import os
import random
import re
import subprocess
import sys
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


# Prints the modules of which a function is called; imports do not count.
TRACE = """
import json, sys, threading
import mictree as mt
from pathlib import Path
from mictree.cli.table import read_table

visited = {}
root = str(Path(mt.__file__).parent) + "/"

def visit(frame, event, _):
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(root) or code.co_name == "<module>":
        return
    outer = frame.f_back
    while outer is not None:
        if "importlib" in outer.f_code.co_filename:
            return
        outer = outer.f_back
    visited[code.co_filename.removeprefix(root).removesuffix(".py").replace("/", ".")] = None

def walk_formula():
    problem = mt.FormulaProblem("x1 & x2 | y1 & y2 & y3")
    mt.mic(mt.TopDown(), problem, max_size=8)

def walk_data(path):
    table = read_table(Path(path), "label")
    mt.optimal_trees(mt.SampleProblem(table.X, table.y), 6).tree(6)

threading.setprofile(visit)
sys.setprofile(visit)
walk_formula() if len(sys.argv) == 1 else walk_data(sys.argv[1])
sys.setprofile(None)
print(json.dumps([*visited]))
"""


def _visited(*arguments: str | Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRACE, *arguments],
        capture_output=True, text=True, check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    return {each for each in json.loads(done.stdout) if not each.startswith(("_", "cli._"))}


def _listed(title: str) -> set[str]:
    return set(re.findall(r"^\d+\. `([\w.]+)`", _section(title), re.M))


def test_the_walk_of_a_formula_visits_the_modules_that_are_listed():
    assert _visited() == _listed("From a formula to its MIC")


def test_the_walk_of_a_file_visits_the_modules_that_are_listed(tmp_path):
    draw = random.Random(3)
    lines = ["a,b,c,age,label"]
    for _ in range(60):
        a, b, c, age = (
            draw.randint(0, 1),
            draw.randint(0, 1),
            draw.choice("xyz"),
            draw.randint(1, 6),
        )
        likely = (a ^ b) or (c == "x" and age > 3)
        lines.append(
            f"{a},{b},{c},{age},{int(likely if draw.random() < 0.7 else draw.random() < 0.5)}"
        )
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    assert _visited(path) == _listed("From a CSV file to its optimal trees")


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
