"""The package declares what it imports, and ships what users of its types need."""

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires, version
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numba
from numba.core import caching
from packaging.requirements import Requirement

import mictree
from mictree._support import jit

PACKAGE = Path(mictree.__file__).parent
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LISTS = ("requirements.txt", "requirements-tools.txt", "requirements-docs.txt")

# Others may change these without notice: run the tests with a new version before you widen a range.
# docs/upgrades.md says what we use them for, and which tests notice a change.
SKLEARN_RANGE = "scikit-learn>=1.6,<1.10"
PRIVATE = {
    "sklearn.tree._tree.Tree",
    "sklearn.utils._safe_indexing",
    "dask.dataframe.dask_expr._expr.Lengths",
    "dask.dataframe.dask_expr._expr.Literal",
    "dask.dataframe.dask_expr._expr.Partitions",
    "dask.dataframe.dask_expr._expr.are_co_aligned",
}
UPGRADES = ROOT / "docs" / "upgrades.md"


def _imported() -> Iterator[tuple[str, str]]:
    """The modules from which the package imports, and the names."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.module or "", alias.name) for alias in node.names)


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _names(requirements: list[str]) -> set[str]:
    return {_normal(re.split(r"[<>=!~\[; ]", each)[0]) for each in requirements}


def _declared() -> set[str]:
    return _names(PROJECT["dependencies"]) | _names(PROJECT["optional-dependencies"]["dask"])


def test_declared_is_imported():
    modules = {module.split(".")[0] for module, _ in _imported()}
    foreign = modules - set(sys.stdlib_module_names) - {"mictree"}
    provided_by = packages_distributions()
    imported = {_normal(provided_by[module][0]) for module in foreign}
    assert imported == _declared()


def _pinned(name: str) -> set[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return _names([line for line in lines if "==" in line])


def _needed(distribution: str, extras: set[str], found: set[str]) -> None:
    """Add what a distribution needs, and what that needs."""
    for text in requires(distribution) or ():
        each = Requirement(text)
        wanted = each.marker is None or any(
            each.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        )
        if wanted and str(each) not in found:
            found.add(str(each))
            _needed(each.name, each.extras, found)


def test_all_that_the_package_needs_is_pinned():
    """Also what its dependencies need: pip resolves nothing, and ``make reproduce`` has no more."""
    found: set[str] = set()
    _needed("mictree", {"dask"}, found)
    needed = _names(sorted(found))
    assert needed > _declared()
    assert needed <= _pinned("requirements.txt")


def test_no_package_is_pinned_twice():
    """make installs the lists at the same time."""
    for one, other in combinations(LISTS, 2):
        assert not _pinned(one) & _pinned(other)


def test_one_machine_needs_no_dask():
    """Dask is imported inside functions only, and by no command or fit on one machine."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            modules = [alias.name for alias in getattr(node, "names", ())]
            modules += [getattr(node, "module", None) or ""]
            imported = isinstance(node, ast.Import | ast.ImportFrom)
            roots = {module.split(".")[0] for module in modules}
            assert not (imported and roots & {"dask", "distributed"}), path
    code = (
        "import sys; sys.modules['dask'] = sys.modules['distributed'] = None; import mictree as mt;"
        "mt.TopDownClassifier().fit([[0], [1]], [0, 1]).predict([[1]])"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_private_names_of_others_are_known_and_exist():
    used = {
        f"{module}.{name}"
        for module, name in _imported()
        if module.split(".")[0] not in ("mictree", "__future__")
        and any(part.startswith("_") for part in [*module.split("."), name])
    }
    assert used == PRIVATE
    page = UPGRADES.read_text(encoding="utf-8")
    for dotted in PRIVATE:
        module, _, name = dotted.rpartition(".")
        assert hasattr(importlib.import_module(module), name), dotted
        assert module in page, dotted
        assert f"`{name}`" in page, dotted


def test_scikit_learn_is_of_the_versions_that_were_tried():
    assert SKLEARN_RANGE in PROJECT["dependencies"]
    lowest, below = re.findall(r"\d+\.\d+", SKLEARN_RANGE)
    installed = tuple(map(int, version("scikit-learn").split(".")[:2]))
    assert tuple(map(int, lowest.split("."))) <= installed < tuple(map(int, below.split(".")))


def test_names_of_numbas_compiler_exist():
    """Without them kernels are compiled all the same, but that takes nearly twice as long."""
    assert jit.INNER_CODE_IS_POSSIBLE


def _kernel(number):
    return number + 1


def test_numba_keeps_kernels_in_the_way_that_we_extend():
    """The attributes of numba's cache that ``_support.jit`` reads, replaces or overrides."""
    kept = caching.FunctionCache(_kernel)
    assert issubclass(caching.FunctionCache._impl_class, caching.CompileResultCacheImpl)
    assert isinstance(kept._cache_file, caching.IndexDataCacheFile)
    assert Path(kept._cache_path).name == "__pycache__" or "NUMBA_CACHE_DIR" in os.environ
    assert kept._impl.filename_base.startswith("test_dependencies._kernel")
    for owner, names in {
        caching.FunctionCache: ("load_overload", "save_overload"),
        caching.CompileResultCacheImpl: ("get_filename_base",),
        caching.IndexDataCacheFile: ("_open_for_write", "flush", "_save_data"),
    }.items():
        for name in names:
            assert callable(getattr(owner, name)), (owner, name)
    made = list(inspect.signature(caching.IndexDataCacheFile).parameters)
    assert made == ["cache_path", "filename_base", "source_stamp"]
    assert hasattr(numba.njit(_kernel), "_cache") or numba.config.DISABLE_JIT


def test_the_page_on_upgrades_names_tests_that_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?(?:::(\w+))?`", UPGRADES.read_text("utf-8"))
    assert len(named) > 10
    for file, *names in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        for name in filter(None, names):
            assert re.search(rf"^ *(def|class) {name}\b", source, re.M), (file, name)


def test_types_are_shipped():
    assert files("mictree").joinpath("py.typed").is_file()


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {mictree.__version__}\n" in citation
