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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core import caching, event

FILES = "mictree:kernel files"  # the kind of numba's events while one is read or written
_PACKAGE = Path(__file__).parents[1]
_FILES = frozenset(_PACKAGE.rglob("*.py"))
_IMPORT = re.compile(
    # only at the start of a line: what a function imports is no constant of a kernel
    r"^(?:from\s+mictree([\w.]*)\s+import\s+(\([^)]*\)|.*)|import\s+mictree([\w.]*))",
    re.M,
)


class _Announcer(event.Listener):
    """Says once per process that kernels are being compiled; loading them from disk is silent."""

    def __init__(self) -> None:
        self.said: set[str] = set()
        self.kept = True

    def on_start(self, event: object) -> None:
        """Numba starts to compile."""
        kept = "once on this machine, up to two minutes in all ..."
        lost = (
            "in memory only: no folder can be written to; NUMBA_CACHE_DIR can name one to keep them"
        )
        self.say(f"compiling kernels, {kept if self.kept else lost}")

    def on_end(self, event: object) -> None:
        """Numba is done."""

    def say(self, text: str) -> None:
        """Print a line on stderr, but none twice, and none from a worker of a pool."""
        worker = multiprocessing.current_process().name != "MainProcess"
        if text not in self.said and not worker:
            self.said.add(text)
            print(f"mictree: {text}", file=sys.stderr)


_announcer = _Announcer()
event.register("numba:compile", _announcer)


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

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A kept kernel, or None; whatever a damaged file raises, the kernel is compiled again."""
        with event.trigger_event(FILES):
            try:
                return super().load_overload(sig, target_context)
            except Exception:
                with contextlib.suppress(OSError):
                    self._cache_file.flush()
                return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel, and none made from older sources; the disk may be full."""
        with event.trigger_event(FILES):
            try:
                super().save_overload(sig, data)
                for path in Path(self._cache_path).glob(f"{self._impl.filename_base}.*.nb[ic]"):
                    if not path.name.startswith(self._name_now):
                        path.unlink(missing_ok=True)
            except OSError as error:
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
