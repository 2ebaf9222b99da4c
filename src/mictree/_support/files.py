"""Files that are whole or absent, files with a checksum, and one writer at a time."""

import errno
import hashlib
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

UNFINISHED = ".unfinished"
DIGEST = hashlib.sha256
FULL = (errno.ENOSPC, errno.EDQUOT)


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
        if error.errno in FULL:
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
            if error.errno in FULL:
                raise
            # the file system cannot reserve; then writing tells whether there is room


def _seal(path: Path, key: str, content: Any) -> bytes:
    digest = DIGEST(f"{key}\0{path.name}\0".encode())
    digest.update(content)
    return digest.digest()


def _show(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"
