"""The house: few rooms, and every room is entered through its door."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mictree

PACKAGE = Path(mictree.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
NOT_ROOMS = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
MOST_ROOMS = 20


def _room(dotted: str) -> str:
    return dotted.split(".")[1] if "." in dotted else ""


def _imports(path: Path) -> Iterator[tuple[str, str]]:
    """The modules that a module imports from, and the names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from ((node.module or "", alias.name) for alias in node.names)


def test_there_are_few_rooms():
    rooms = [path.name for path in PACKAGE.iterdir() if path.name not in NOT_ROOMS]
    assert len(rooms) <= MOST_ROOMS, rooms


def test_there_are_few_layers():
    import tomllib

    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each["type"] == "layers")
    assert len(layers) <= MOST_ROOMS


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_other_rooms_are_entered_through_their_door(path):
    """No module imports another room's underscore names; ``_support`` is everyone's."""
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for module, name in _imports(path):
        if not module.startswith("mictree.") or _room(module) == own:
            continue
        inside = [*module.split(".")[1:], name]
        if inside[0] == "_support":
            inside = inside[1:]
        private = [part for part in inside if part.startswith("_") and not part.startswith("__")]
        assert not private, f"{path.relative_to(PACKAGE)} imports {module}.{name}"
