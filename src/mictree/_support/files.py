"""Files that survive a crash: whole or absent, with a checksum, by one writer at a time.

``write_whole`` writes beside the old file and renames, so that no reader ever sees half a file.
``write_sealed`` adds a checksum of the content, of the file's name and of a key; ``read_sealed``
returns nothing where any bit differs. ``locked`` lets one process write.

On these stand the checkpoints of long work. ``resumable`` keeps finished blocks (``Partial``) or
rows of one array (``KeptRows``) in a folder beside the result until the result is written. A later
run with the same key continues there; whatever is damaged or belongs to other work is computed
again. ``code_version`` and ``library_versions`` are parts of such keys: a kept result depends on
them besides its parameters.

``scratch_floats`` is an array on a disk, for numbers that do not fit into memory. ``as_parquet``
writes a frame, also in a forked process.
"""

import errno
import hashlib
import io
import json
import os
import pickle
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mictree
from mictree._support.checks import TooLarge

if TYPE_CHECKING:
    import polars


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

UNFINISHED = ".unfinished"
DIGEST = hashlib.sha256
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def write_whole(path: Path, *parts: Any) -> None:
    """Write bytes to a temporary file beside ``path``, then rename it: never half a file.

    The file's space is reserved first. A full disk raises an OSError that says how much is needed.
    """
    views = [memoryview(part).cast("B") for part in parts]
    size = sum(view.nbytes for view in views)
    try:
        with unfinished(path) as temporary, temporary.open("xb") as file:
            reserve(file.fileno(), size)
            for view in views:
                file.write(view)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in DISK_FULL:
            raise no_space(path, size) from error
        raise


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; the file is renamed at the end, or removed on an error.

    The writer must have closed the file.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
            raise FileNotFoundError(f"cannot write {path}: its folder does not exist") from error
        if error.filename == str(temporary):  # a name that means nothing to the user
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with suppress(OSError):  # such as a folder that is gone
            temporary.unlink(missing_ok=True)


def no_space(path: Path, size: int | None = None) -> OSError:
    """The error for ``size`` bytes that do not fit on a disk; None if nobody knows how many."""
    needs = "more" if size is None else _show(size)
    error = OSError(f"no space left on the disk of {path.parent}: {path.name} needs {needs}")
    error.errno = errno.ENOSPC
    return error


def remove_unfinished(folder: Path) -> None:
    """Remove the temporary files of processes that were killed; no process may be writing."""
    for path in folder.glob(f".*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def write_sealed(path: Path, key: str, content: Any) -> None:
    """Write bytes with a checksum of them, of the file's name and of ``key``."""
    write_whole(path, _seal(path, key, content), content)


def read_sealed(path: Path, key: str) -> memoryview | None:
    """What ``write_sealed`` wrote; None if there is no such file, or it differs in any bit."""
    try:
        written = memoryview(path.read_bytes())
    except OSError:
        return None
    length = DIGEST().digest_size
    seal, content = written[:length], written[length:]
    return content if seal == _seal(path, key, content) else None


@contextmanager
def locked(path: Path, output: Path) -> Iterator[None]:
    """Be the only writer of ``output``, or raise a ValueError; ``path`` is the lock's file.

    The operating system drops the lock when the process ends, however it ends. Where a file system
    has no locks, the lock is a file in the temporary folder, so it holds on this machine only.
    """
    descriptor = _open_locked(path, output)
    if descriptor is None:
        name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
        path = Path(tempfile.gettempdir(), f"mictree-{name}.lock")
        descriptor = _open_locked(path, output)
    try:
        yield
    finally:
        if descriptor is not None:
            # removed while still locked, so that no other process locks a file about to vanish
            with suppress(OSError):
                if _is_open_as(path, descriptor):
                    path.unlink()
            os.close(descriptor)


def _open_locked(path: Path, output: Path) -> int | None:
    """A descriptor of the locked file; None where files cannot be locked."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        kept = False
        try:
            _lock(descriptor)
            kept = _is_open_as(path, descriptor)  # else its last owner removed it: try again
        except (BlockingIOError, PermissionError):
            raise ValueError(
                f"only one process may write {output} at a time; another is writing it now"
            ) from None
        except OSError:
            path.unlink(missing_ok=True)
            return None
        finally:
            if not kept:
                os.close(descriptor)
        if kept:
            return descriptor


def _lock(descriptor: int) -> None:
    """Lock a file or raise an OSError; PermissionError or BlockingIOError if another holds it."""
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_open_as(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def reserve(descriptor: int, size: int) -> None:
    """Fail now rather than halfway if the disk is full."""
    if size and hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, size)
        except OSError as error:
            if error.errno in DISK_FULL:
                raise
            # the file system cannot reserve; then writing tells whether there is room


def _seal(path: Path, key: str, content: Any) -> bytes:
    digest = DIGEST(f"{key}\0{path.name}\0".encode())
    digest.update(content)
    return digest.digest()


def _show(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"


BLOCK_NUMBERS = 1 << 21  # in a block of rows; bounds the memory for copying them

FloatArray = np.typing.NDArray[np.float64]


class Partial:
    """Blocks of numbers in a folder; without a folder nothing is kept.

    A block is used only if its checksum matches, which covers its numbers, its name, the key and
    the state. Anything else in the folder is as good as absent.

    Attributes
    ----------
    state : small values that were fixed when the work began, such as random seeds
    """

    def __init__(self, folder: Path | None, key: Any, state: dict[str, Any]) -> None:
        self.folder = folder
        self.state = state
        if folder is None:
            return
        path = folder / "state"
        work = json.dumps([key, sys.byteorder], sort_keys=True)
        found = read_sealed(path, work)
        if found is None:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            write_sealed(path, work, json.dumps(state).encode())
        else:
            self.state = json.loads(bytes(found))
            remove_unfinished(folder)
        self._key = json.dumps([work, self.state], sort_keys=True)

    def read(self, name: str) -> FloatArray | None:
        """A block that an earlier run wrote, flat; None if there is none to trust."""
        found = None if self.folder is None else read_sealed(self.folder / name, self._key)
        return None if found is None else np.frombuffer(found, dtype=np.float64)

    def write(self, name: str, block: FloatArray) -> None:
        """Keep a block."""
        if self.folder is not None:
            write_sealed(self.folder / name, self._key, np.ascontiguousarray(block))

    def block(self, name: str, compute: Callable[[], FloatArray]) -> FloatArray:
        """A table of numbers: read if an earlier run has it, else computed and kept."""
        found = self.read(name)
        if found is not None:
            return found
        computed = compute()
        self.write(name, computed)
        return computed.ravel()

    def check_room(self, size: int) -> None:
        """Refuse blocks of ``size`` bytes, earlier ones included, that will not fit on the disk."""
        if self.folder is not None:
            kept = sum(path.stat().st_size for path in self.folder.iterdir())
            if size > kept + shutil.disk_usage(self.folder).free:
                raise no_space(self.folder, size)

    def finish(self, destination: Path, content: bytes) -> None:
        """Write the result and drop the folder."""
        assert self.folder is not None
        write_whole(self.folder / "result", content)
        (self.folder / "result").replace(destination)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def resumable(destination: Path | None, key: Any, state: dict[str, Any]) -> Iterator[Partial]:
    """Work that becomes a file, kept in ``<destination>.partial`` until then, by one process."""
    if destination is None:
        yield Partial(None, key, state)
        return
    with locked(destination.with_name(f".{destination.name}.lock"), destination):
        yield Partial(destination.with_name(f"{destination.name}.partial"), key, state)


class KeptRows:
    """Rows of one array that are filled in a given order, kept as blocks.

    ``start`` says where each row begins in ``values`` and where the last one ends. A block holds
    the rows at some places of ``order``, and is named after the first.
    """

    def __init__(
        self, partial: Partial, order: np.ndarray, start: np.ndarray, values: FloatArray
    ) -> None:
        self._partial, self._order, self._start, self._values = partial, order, start, values
        lengths = np.diff(start)[order]
        self._before = np.concatenate([[0], np.cumsum(lengths)])  # numbers in the rows before
        self.done = 0
        if partial.folder is not None:
            partial.check_room(values.nbytes)
            self._restore()

    def keep(self, stop: int) -> None:
        """Write the rows up to a place in the order that are not kept yet."""
        while self.done < stop and self._partial.folder is not None:
            most = self._before[self.done] + BLOCK_NUMBERS
            last = max(self.done + 1, int(np.searchsorted(self._before, most, side="right")) - 1)
            last = min(stop, last)
            self._partial.write(f"rows-{self.done}", self._values[self._places(last)])
            self.done = last

    def _restore(self) -> None:
        """Fill the rows that are kept, up to the first gap."""
        while self.done < len(self._order):
            found = self._partial.read(f"rows-{self.done}")
            if found is None:
                return
            reached = self._before[self.done] + len(found)
            last = int(np.searchsorted(self._before, reached))
            self._values[self._places(last)] = found
            self.done = last

    def _places(self, last: int) -> np.typing.NDArray[np.int64]:
        """Where the numbers of the rows ``order[done:last]`` lie in ``values``."""
        before = self._before[self.done : last + 1] - self._before[self.done]
        shift = self._start[self._order[self.done : last]] - before[:-1]
        return np.repeat(shift, np.diff(before)) + np.arange(before[-1])


def scratch_floats(folder: Path, count: int, what: str) -> np.typing.NDArray[np.float64]:
    """So many 64-bit floats in a file that is mapped into memory, all 0.

    The file has no name and vanishes with the array, or with the process, however that ends. Its
    space is reserved at once; a disk that is too small is refused with the size that is needed.
    """
    if not folder.is_dir():
        raise ValueError(f"scratch must be an existing folder; got {str(folder)!r}")
    size, free = 8 * count, shutil.disk_usage(folder).free
    if size > free:
        raise TooLarge(
            f"{what} must fit on the disk of {folder}, which has {free / 2**30:.3g} GiB left; they "
            f"need {size / 2**30:.3g} GiB"
        )
    with tempfile.TemporaryFile(dir=folder, prefix="mictree-") as file:
        reserve(file.fileno(), size)
        file.truncate(size)
        # the plain array keeps the mapping, and the mapping the file
        return np.asarray(np.memmap(file, dtype=np.float64, mode="r+", shape=(count,)))


_forks: list[int] = []  # not empty in a forked process
_WRITE_FRAME = """
import pickle, sys
frame, metadata = pickle.load(sys.stdin.buffer)
frame.write_parquet(sys.stdout.buffer, metadata=metadata)
"""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(os.getpid()))


def as_parquet(frame: "polars.DataFrame", metadata: dict[str, str]) -> bytes:
    """The content of a Parquet file with a frame and some texts about it.

    polars writes with a pool of threads. A fork does not copy threads, so a forked process would
    wait for them for ever; a fresh process writes in its place.
    """
    if not _forks:
        content = io.BytesIO()
        frame.write_parquet(content, metadata=metadata)
        return content.getvalue()
    command = [sys.executable, "-c", _WRITE_FRAME]
    given = pickle.dumps((frame, metadata))
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout


LIBRARIES = ("numba", "numpy", "scikit-learn")
ROOMS_THAT_SHOW = (
    "cli",
    "plotting",
    "report",
)  # they change how a result is shown, never the result


@cache
def code_version() -> str:
    """The release and a digest of the modules that compute, so that edits count too."""
    package = Path(mictree.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in ROOMS_THAT_SHOW:
            digest.update(path.read_bytes())
    return f"{mictree.__version__}+{digest.hexdigest()[:12]}"


@cache
def library_versions() -> dict[str, str]:
    """Releases of the libraries that results depend on."""
    return {name: version(name) for name in LIBRARIES}
