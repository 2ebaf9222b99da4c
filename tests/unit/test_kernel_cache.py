"""Kept kernels are used while their sources are what they were, and none need to be kept."""

import ast
import multiprocessing
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import mictree
from mictree._support import jit
from tests.properties import kernel_cases

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    pytest.skip("nothing is compiled", allow_module_level=True)

NOWHERE = f"{os.devnull}/nowhere"
INNER = """
from mictree._support.jit import jit
SCALE = 2

@jit
def inner(x):
    return SCALE * x
"""
OUTER = """
from mictree._support.jit import jit
from mictree._inner import (
    inner,
)

@jit
def outer(x):
    return inner(x) + 1
"""


def make_package(folder: Path) -> Path:
    """A copy of mictree with two more modules, of which one calls a kernel of the other."""
    copy = folder / "mictree"
    origin = Path(mictree.__file__).parent
    shutil.copytree(origin, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "_inner.py").write_text(INNER)
    (copy / "_outer.py").write_text(OUTER)
    return copy


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A package whose kernels are kept."""
    package = make_package(tmp_path_factory.mktemp("compiled"))
    done = run(package)
    assert done.stdout == "21\n"
    assert done.stderr == (
        "mictree: compiling: other kernels, about 2 s, once on this machine "
        "(mictree compile: everything at once)\n"
    )
    return package


@pytest.fixture
def package(tmp_path, compiled):
    """A copy of that package, kernels and all, in another place."""
    return shutil.copytree(compiled, tmp_path / "mictree")


def run(package: Path, code: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {name: text for name, text in os.environ.items() if not name.startswith("NUMBA_")}
    # without byte code, which Python does not renew when a source keeps its time and size
    fixed = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", f"{code}\nfrom mictree._outer import outer; print(outer(10))"],
        env={**keep, **fixed, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def kept(package: Path) -> list[str]:
    return sorted(path.name for path in (package / "__pycache__").glob("_outer.outer*.nb[ic]"))


def test_a_kept_kernel_is_used(package):
    again = run(package)
    assert (again.stdout, again.stderr) == ("21\n", "")


def test_a_change_in_another_module_is_noticed(package):
    path = package / "_inner.py"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    before = kept(package)
    path.write_text(INNER.replace("SCALE = 2", "SCALE = 3"))
    os.utime(path, ns=times)
    assert run(package).stdout == "31\n"
    assert len(kept(package)) == len(before) == 2  # the older ones are gone
    assert not {*kept(package)} & {*before}


def test_an_index_without_its_kernel_leads_to_no_older_one(package):
    """A process that dies, or finds the disk full, between the two files that numba writes."""
    (package / "_inner.py").write_text(INNER.replace("SCALE = 2", "SCALE = 3"))
    full = """
from numba.core.caching import IndexDataCacheFile
def fail(*_):
    raise OSError(28, "No space left on device")
IndexDataCacheFile._save_data = fail
"""
    done = run(package, full)
    assert done.stdout == "31\n"
    assert done.stderr.splitlines()[1:] == [
        "mictree: compiled kernels cannot be kept: [Errno 28] No space left on device"
    ]
    assert run(package).stdout == "31\n"


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_is_replaced(package, ending):
    for path in (package / "__pycache__").glob(f"*.{ending}"):
        path.write_bytes(path.read_bytes()[:20])
    assert run(package).stdout == "21\n"
    again = run(package)
    assert (again.stdout, again.stderr) == ("21\n", "")


def test_ctrl_c_while_a_kernel_is_kept_leaves_no_temporary_file(package):
    (package / "_inner.py").write_text(INNER.replace("SCALE = 2", "SCALE = 3"))
    press = "import os\ndef press(*_):\n    raise KeyboardInterrupt\nos.replace = press"
    assert "KeyboardInterrupt" in run(package, press).stderr
    files = (package / "__pycache__").iterdir()
    assert [path.name for path in files if path.suffix not in (".nbi", ".nbc")] == []
    assert run(package).stdout == "31\n"


def test_a_kernel_for_other_types_is_not_used(package):
    """Two processes that keep one kernel at once may both write its first file."""
    assert run(package, "from mictree._outer import outer; outer(1.5)").stdout == "21\n"
    files = [package / "__pycache__" / name for name in kept(package) if name.endswith(".nbc")]
    assert len(files) == 2
    shutil.copy(files[1], files[0])
    assert run(package).stdout == "21\n"  # not 21.0
    again = run(package)
    assert (again.stdout, again.stderr) == ("21\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="the home is found in another way")
def test_without_a_writable_folder_it_runs_and_says_so(tmp_path):
    package = make_package(tmp_path)
    (package / "__pycache__").touch()  # a file, so even root cannot make the folder
    done = run(package, HOME=NOWHERE, XDG_CACHE_HOME=NOWHERE)
    assert done.stdout == "21\n"
    assert done.stderr == (
        "mictree: compiling: other kernels, about 2 s, in memory only: no folder can be written "
        "to; NUMBA_CACHE_DIR can name one\n"
    )
    assert run(package, HOME=NOWHERE, NUMBA_CACHE_DIR=str(package.parent / "kept")).stdout == "21\n"
    again = run(package, HOME=NOWHERE, NUMBA_CACHE_DIR=str(package.parent / "kept"))
    assert (again.stdout, again.stderr) == ("21\n", "")


def a_kernel(module: str) -> types.SimpleNamespace:
    """An event of numba's, before a kernel of this module is compiled."""
    kernel = types.SimpleNamespace(__module__=module, _cache=None)
    return types.SimpleNamespace(data={"dispatcher": kernel})


def test_workers_of_a_pool_do_not_announce(capsys, monkeypatch):
    process = multiprocessing.current_process()
    for name, lines in (("LokyProcess-1", 0), ("MainProcess", 1)):
        monkeypatch.setattr(process, "name", name)
        announcer = jit._Announcer()
        for _ in range(2):
            announcer.on_start(a_kernel("mictree.growers.data_loop"))
            announcer.on_end(None)
        assert capsys.readouterr().err.count("compiling: ") == lines


def test_each_group_is_announced_once(capsys):
    announcer = jit._Announcer()
    for module in ("growers.data_loop", "optimal.sweep_scan", "growers.data_gains"):
        announcer.on_start(a_kernel(f"mictree.{module}"))
        announcer.on_start(a_kernel("mictree.optimal.table"))  # a part of it
        announcer.on_end(None)
        announcer.on_end(None)
    assert capsys.readouterr().err.splitlines() == [
        "mictree: compiling: growth on data, about 17 s, once on this machine (mictree compile: "
        "everything at once)",
        "mictree: compiling: search on numbers, about 17 s, once on this machine",
    ]


def test_every_kernel_has_its_group():
    modules = {kernel.split(":")[0].removesuffix(".py") for kernel in kernel_cases.all_kernels()}
    own = {each for each in modules if not each.startswith("_support")}
    found = {jit.group_of("mictree." + each.replace("/", ".")) for each in own}
    assert found == {*jit.GROUPS}  # no others, and no group without a kernel


def test_a_kernel_that_is_kept_is_compiled_for_another_type(package):
    """The time of its whole group would be wrong."""
    done = run(package, "from mictree._outer import outer; outer(0.5)")
    assert done.stderr == (
        "mictree: compiling: other kernels, for another type of data, once on this machine "
        "(mictree compile: everything at once)\n"
    )


def kernels_with(name: str) -> list[str]:
    """The kernels in which an attribute of that name is used."""
    found = []
    for path in sorted(Path(mictree.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(each, ast.Name) and each.id.endswith("jit")
                for each in node.decorator_list
            ):
                used = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
                found += [node.name] if name in used else []
    return found


def test_no_kept_kernel_mistakes_one_way_of_sorting_for_another():
    """The inner functions of np.argsort and np.sort have one name in numba's machine code."""
    assert kernels_with("sort")
    assert not kernels_with("argsort")
