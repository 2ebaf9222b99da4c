"""Keeps compiled kernels on disk, and notices when a kept one is out of date.

numba compares a kept kernel with the file of its source. But the kernels that it calls and the
constants that it reads are compiled into it, and they may come from other files. So a kept kernel
counts only while its module and all modules of mictree that this one imports, directly or through
others, are what they were.
"""

import contextlib
import functools
import hashlib
import multiprocessing
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from numba.core import caching, event

FILES = "mictree:kernel files"  # the kind of numba's events while one is read or written
_PACKAGE = Path(__file__).parents[1]
_FILES = frozenset(_PACKAGE.rglob("*.py"))
_IMPORT = re.compile(
    # only at the start of a line: what a function imports is no constant of a kernel
    r"^(?:from\s+mictree([\w.]*)\s+import\s+(\([^)]*\)|.*)|import\s+mictree([\w.]*))",
    re.M,
)


class Group(NamedTuple):
    """Kernels that one use of the package needs, by the beginnings of their modules' names.

    seconds : about what compiling all of them takes, measured on a machine of 2024
    """

    name: str
    seconds: int
    modules: tuple[str, ...]


GROUPS = (  # of a module's name, the first group that has its beginning counts
    Group("growth on formulas", 2, ("growers.ties", "impurity")),
    Group("optimal trees of formulas", 12, ("optimal.dynamic",)),
    Group("growth on streamed data", 3, ("columns.placement", "distributed")),
    Group("growth on data", 17, ("columns", "problems", "growers")),
    Group("search at a price", 4, ("optimal.search.priced", "optimal.search.nested")),
    Group("search on numbers", 17, ("optimal.search.sweep", "optimal.search.ordered")),
    Group("search on 0/1 columns", 8, ("optimal.search",)),
    Group(
        "families of functions", 5,
        ("families.symmetry", "families.table", "families.subcubes", "families.sizes"),
    ),
    Group("families of formulas", 9, ("families",)),
)  # fmt: skip
OTHERS = Group("other kernels", 2, ("",))


def group_of(module: str) -> Group:
    """The group of the kernels in a module."""
    name = module.removeprefix("mictree.")
    return next((group for group in GROUPS if name.startswith(group.modules)), OTHERS)


class _Announcer(event.Listener):
    """Says which kernels are being compiled; loading them from disk is silent.

    Kernels that are compiled for another one count as a part of it.
    """

    def __init__(self) -> None:
        self.said: set[str] = set()
        self.kept = True
        self.tell: Callable[[], None] | None = None  # called instead for each kernel
        self._depth = 0

    def on_start(self, event: Any) -> None:
        """Numba starts to compile."""
        self._depth += 1
        if self._depth > 1:
            return
        if self.tell is not None:
            self.tell()
            return
        kernel = (event.data or {}).get("dispatcher")
        group = group_of(getattr(kernel, "__module__", ""))
        if group.name not in self.said:
            self.say(self._line(group, kernel))
            self.said.add(group.name)

    def on_end(self, event: Any) -> None:
        """Numba is done."""
        self._depth -= 1

    def _line(self, group: Group, kernel: Any) -> str:
        cache = getattr(kernel, "_cache", None)
        other = isinstance(cache, _Cache) and cache.has_types()
        time = "for another type of data" if other else f"about {group.seconds} s"
        kept = "once on this machine"
        if not self.kept:
            kept = "in memory only: no folder can be written to; NUMBA_CACHE_DIR can name one"
        elif not self.said:
            kept += " (mictree compile: everything at once)"
        return f"compiling: {group.name}, {time}, {kept}"

    def say(self, text: str) -> None:
        """Print a line on stderr, but none twice, and none from a worker of a pool."""
        worker = multiprocessing.current_process().name != "MainProcess"
        if text not in self.said and not worker:
            self.said.add(text)
            print(f"mictree: {text}", file=sys.stderr)


_announcer = _Announcer()
event.register("numba:compile", _announcer)


@contextmanager
def telling(tell: Callable[[], None]) -> Iterator[None]:
    """Within it, ``tell`` is called before a kernel is compiled, and nothing is announced."""
    _announcer.tell = tell
    try:
        yield
    finally:
        _announcer.tell = None


def are_kept() -> bool:
    """Whether all kernels that were compiled so far could be kept on disk."""
    return _announcer.kept


def make_cache(function: Any) -> Any:
    """A kernel's cache; it keeps nothing where no folder can be written to."""
    try:
        return _Cache(function)
    except RuntimeError:  # numba's, after it has tried every folder
        _announcer.kept = False
        return caching.NullCache()


class _Implementation(caching.CompileResultCacheImpl):
    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Without the line number, by which numba tells kernels of one name apart."""
        return f"{fullname}.py{sys.version_info.major}{sys.version_info.minor}{abiflags}"


class _Cache(caching.FunctionCache):
    _impl_class = _Implementation

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = digest(Path(function.__code__.co_filename))
        # in the names too: if writing fails half way, a new index must not lead to an older kernel
        self._name_now = f"{self._impl.filename_base}.{stamp[:16]}"
        self._cache_file = caching.IndexDataCacheFile(self._cache_path, self._name_now, stamp)

    def has_types(self) -> bool:
        """Whether the kernel is kept for some types."""
        return Path(self._cache_path, f"{self._name_now}.nbi").exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A kept kernel, or None; whatever a damaged file raises, the kernel is compiled again."""
        with event.trigger_event(FILES, data=self._name_now):
            try:
                return super().load_overload(sig, target_context)
            except Exception:
                with contextlib.suppress(OSError):
                    self._cache_file.flush()
                return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel, and none made from older sources; the disk may be full."""
        with event.trigger_event(FILES, data=self._name_now):
            try:
                super().save_overload(sig, data)
                for path in Path(self._cache_path).glob(f"{self._impl.filename_base}.*.nb[ic]"):
                    if not path.name.startswith(self._name_now):
                        path.unlink(missing_ok=True)
            except OSError as error:
                _announcer.kept = False
                _announcer.say(f"compiled kernels cannot be kept: {error}")


def digest(source: Path) -> str:
    """A hash of a module and of all modules of mictree that it imports."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _read(path)[1]
    hashes = (_read(path)[0] for path in sorted(seen))
    return hashlib.sha256(b"".join(hashes)).hexdigest()


@functools.cache
def _read(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """The hash of a file and the files that it imports."""
    content = path.read_bytes()
    return hashlib.sha256(content).digest(), tuple(_imports(content.decode()))


def _imports(source: str) -> Iterator[Path]:
    for module, names, plain in _IMPORT.findall(source):
        folder = _PACKAGE.joinpath(*(module or plain).split("."))
        # what is imported may be a module, or a name in one
        for path in (folder, *(folder / name for name in re.findall(r"\w+", names))):
            for candidate in (path.with_suffix(".py"), path / "__init__.py"):
                if candidate in _FILES:
                    yield candidate
